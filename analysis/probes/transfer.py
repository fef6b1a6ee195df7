"""Results as bytes, for taking them from a process that is not trusted: reading them makes data and runs no code.

JSON says how a result is built, of numbers, texts, tuples, lists, mappings and the dataclasses of `RESULTS`; the bytes
of its arrays follow.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from analysis.measurements.interventions.result import (
    ImageInterventionResult,
    InterventionResult,
    PermutationTest,
    Predictions,
)
from analysis.measurements.positions.result import LayerRotation, PositionMap, Unturned
from analysis.measurements.similarity.result import Similarity
from analysis.measurements.terms.image_result import ImageDecomposition
from analysis.measurements.terms.result import Curves, Decomposition, Layers, Patterns, Provenance, TokenInfo

RESULTS: Mapping[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(Decomposition, ImageDecomposition, Curves, Layers, Patterns, Provenance, TokenInfo),
        *(InterventionResult, ImageInterventionResult, PermutationTest, Predictions),
        *(LayerRotation, PositionMap, Unturned, Similarity),
    )
}
"""The classes that a result may be made of."""
DTYPE = re.compile(r"[<>|]?(b1|[iu][1248]|f[248])")
"""Numbers and truth values; an array of objects would be code."""
ALIGNMENT = 8
LENGTH_BYTES = 8


def pack(value: object) -> bytes:
    """A value as bytes. Raises TypeError for what `RESULTS` and the types above do not cover."""
    arrays: list[np.ndarray] = []
    tree = _padded(json.dumps(_tree(value, arrays)).encode(), b" ")
    return b"".join(
        [len(tree).to_bytes(LENGTH_BYTES, "little"), tree, *(_padded(array.tobytes(), b"\0") for array in arrays)]
    )


def unpack(data: bytes) -> Any:
    """The value that was packed; its arrays are read-only. Raises ValueError for anything else."""
    try:
        end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
        return _Reader(data, end).value(json.loads(data[LENGTH_BYTES:end]))
    except (ValueError, TypeError, LookupError, OverflowError, AttributeError, RecursionError) as error:
        raise ValueError(f"these bytes hold no result ({type(error).__name__})") from None


def _padded(data: bytes, filler: bytes) -> bytes:
    return data + filler * (-len(data) % ALIGNMENT)


def _tree(value: object, arrays: list[np.ndarray]) -> object:
    """The JSON of a value, whose arrays are added to `arrays`."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": [value.dtype.str, value.shape]}
    if isinstance(value, tuple | list):
        return {type(value).__name__: [_tree(item, arrays) for item in value]}
    if isinstance(value, Mapping):
        return {"mapping": [[_tree(key, arrays), _tree(item, arrays)] for key, item in value.items()]}
    name = type(value).__name__
    if RESULTS.get(name) is not type(value):
        raise TypeError(f"a result holds {name}, which cannot be sent; add it to RESULTS")
    return {name: {field.name: _tree(getattr(value, field.name), arrays) for field in fields(RESULTS[name])}}


class _Reader:
    """Builds values from JSON, and their arrays from the bytes that begin at `offset`."""

    def __init__(self, data: bytes, offset: int) -> None:
        self._data, self._offset = data, offset

    def value(self, tree: Any) -> Any:
        """The value of a part of the JSON."""
        if not isinstance(tree, dict):
            if isinstance(tree, list):
                raise ValueError("a list without its type")
            return tree
        ((name, content),) = tree.items()
        match name:
            case "array":
                return self._array(*content)
            case "tuple":
                return tuple(map(self.value, content))
            case "list":
                return list(map(self.value, content))
            case "mapping":
                return {self.value(key): self.value(item) for key, item in content}
        return RESULTS[name](**{field: self.value(item) for field, item in content.items()})

    def _array(self, dtype: str, shape: list[int]) -> np.ndarray:
        if not DTYPE.fullmatch(dtype) or any(type(size) is not int or size < 0 for size in shape):
            raise ValueError("an array of something other than numbers, or of no size")
        result = np.ndarray(tuple(shape), dtype, self._data, self._offset)
        self._offset += result.nbytes + -result.nbytes % ALIGNMENT
        return result
