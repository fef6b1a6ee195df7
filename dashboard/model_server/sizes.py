"""Bytes of results and models, and read-only results, since sessions share them."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

TOKEN_BYTES = 1_000
"""The bytes of a tokenizer for each entry of its vocabulary: 330 measured of the embedded one, and merges take more."""


def _arrays(value: object, seen: set[int]) -> Iterator[np.ndarray | str | bytes]:
    """Every array and text in a value, through its fields, mappings and sequences."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray | str | bytes):
        yield value
        return
    if isinstance(value, Mapping):
        children: Any = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        children = value
    else:
        children = getattr(value, "__dict__", {}).values()
    for item in children:
        yield from _arrays(item, seen)


def bytes_of(result: object) -> int:
    """Bytes of a result's arrays and texts."""
    return sum(x.nbytes if isinstance(x, np.ndarray) else sys.getsizeof(x) for x in _arrays(result, set()))


def freeze(result: object) -> None:
    """Makes every array of a result read-only: what one session is shown cannot be changed by another."""
    for array in _arrays(result, set()):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False


def model_bytes(loaded: Any) -> int:
    """Bytes of a model's weights and buffers, shared ones once, and about those of its tokenizer."""
    tensors = {tensor.data_ptr(): tensor for tensor in (*loaded.model.parameters(), *loaded.model.buffers())}
    vocabulary_size = len(loaded.tokenizer) if hasattr(loaded.tokenizer, "__len__") else 0
    return sum(tensor.nbytes for tensor in tensors.values()) + vocabulary_size * TOKEN_BYTES
