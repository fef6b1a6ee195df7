"""Defines a position encoding: a description, a table, a similarity, and for some a shift matrix."""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeGuard

import numpy as np
from jaxtyping import Float64

from analysis.core.errors import AddendError
from analysis.core.registry import Registry

MAX_CELLS = 2**22  # 32 MiB of float64: what one picture may cost a hosted page
MAX_DIM = 2**11  # so that a (dim, dim) matrix, too, stays within MAX_CELLS

Table = Float64[np.ndarray, "length dim"]
Scores = Float64[np.ndarray, "query key"]
Shift = Float64[np.ndarray, "dim dim"]


@dataclass(frozen=True, kw_only=True)
class Option:
    """One setting of an encoding. The type of the default is the type expected; a default of None takes a path."""

    default: int | bool | None
    meaning: str
    least: int = 0
    most: int = MAX_DIM

    def check(self, encoding: str, name: str, value: object) -> object:
        """The value, if it is one this option takes. AddendError otherwise."""
        if self.default is None:
            fits, expected = value is None or isinstance(value, str | os.PathLike), "a path"
        elif isinstance(self.default, bool):
            fits, expected = isinstance(value, bool | np.bool_), "True or False"
        else:
            fits = is_integer(value) and self.least <= value <= self.most
            expected = f"a whole number from {self.least} to {self.most}"
        if fits:
            return value
        raise AddendError(
            f"The option {name}={value!r} of {encoding} is not {expected}; leave it out to use {self.default!r}."
        )


def seed_option() -> Option:
    """The option shared by every encoding that is drawn at random."""
    return Option(default=0, meaning="seed of the random values", most=2**32 - 1)


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """A way to tell a transformer where a token stands.

    The `make_*` functions are written by the encoding's own file and take checked input; call `table`,
    `similarity`, `shift` and `nearest` instead, which check it, fill in the options and pass to each
    function those that it names. `key` is that of the paper in data/published/citations.bib; "" for our own.
    """

    name: str
    title: str
    summary: str
    enters: Literal["added", "rotates", "biases scores", "untied", "absent"]
    paper: str
    key: str
    learned: bool
    rows: Literal["position", "distance"]
    columns: str
    note: str
    make_table: Callable[..., Table]
    make_similarity: Callable[..., Scores] | None = None
    make_shift: Callable[..., Shift] | None = None
    make_nearest: Callable[[int, int], tuple[int, int]] | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    dim_multiple: int = 1

    def nearest(self, length: int, dim: int) -> tuple[int, int]:
        """The size nearest to (length, dim) that this encoding takes. AddendError for what is no size at all."""
        _check_whole(length, dim)
        if self.make_nearest is not None:
            length, dim = self.make_nearest(length, dim)
        return length, max(1, round(dim / self.dim_multiple)) * self.dim_multiple

    def table(self, length: int, dim: int, **options: object) -> Table:
        """The vectors of an encoding, one row for each position (or distance, see `rows`). AddendError on bad input."""
        self._check_size(length, dim)
        return self._call(self.make_table, length, dim, options)

    def similarity(self, length: int, dim: int, **options: object) -> Scores:
        """The part of a pre-softmax score of a query and a key that depends on their positions alone.

        NaN where the key may not be attended to. An encoding without a rule of its own gives the dot products of the
        table's rows, unscaled and without projections. AddendError on bad input.
        """
        self._check_size(length, dim)
        if length * length > MAX_CELLS:
            raise AddendError(
                f"The length {length} gives {length * length:,} pairs of positions, more than {MAX_CELLS:,}; "
                f"choose a length up to {int(MAX_CELLS**0.5)}."
            )
        if self.make_similarity is None:
            table = self._call(self.make_table, length, dim, options)
            return table @ table.T
        return self._call(self.make_similarity, length, dim, options)

    def shift(self, k: int, dim: int, **options: object) -> Shift:
        """M_k with row(pos + k) = M_k row(pos) for every pos (columns on the right). AddendError if there is none."""
        if self.make_shift is None:
            raise AddendError(f"There is no closed-form shift matrix for {self.name}; fit one with measures.shift_r2.")
        self._check_size(1, dim)
        return self._call(self.make_shift, k, dim, options)

    def _call(
        self, function: Callable[..., np.ndarray], size: int, dim: int, arguments: Mapping[str, object]
    ) -> np.ndarray:
        unknown = sorted(set(arguments) - set(self.options))
        if unknown:
            available = ", ".join(self.options) or "none"
            raise AddendError(
                f"There is no option {unknown[0]!r} of the encoding {self.name}; it takes: {available}. Leave it out."
            )
        values = {
            name: option.check(self.name, name, arguments.get(name, option.default))
            for name, option in self.options.items()
        }
        parameters = inspect.signature(function).parameters
        return function(size, dim, **{name: value for name, value in values.items() if name in parameters})

    def _check_size(self, length: int, dim: int) -> None:
        _check_whole(length, dim)
        if dim > MAX_DIM:
            raise AddendError(f"The dim {dim} is above {MAX_DIM}, the most that is drawn; choose a smaller one.")
        if length * dim > MAX_CELLS:
            raise AddendError(
                f"The length {length} times the dim {dim} is more than {MAX_CELLS:,} cells; "
                f"choose a length up to {MAX_CELLS // dim}."
            )
        if dim % self.dim_multiple:
            raise AddendError(
                f"The dim {dim} does not suit {self.name}, which needs a multiple of {self.dim_multiple}; "
                f"choose for example {(dim // self.dim_multiple + 1) * self.dim_multiple}."
            )


def _check_whole(length: int, dim: int) -> None:
    for what, value in (("length", length), ("dim", dim)):
        if not is_integer(value) or value < 1:
            raise AddendError(f"The {what} {value!r} is not a whole number from 1 up; choose for example 128.")


def is_integer(value: object) -> TypeGuard[int]:
    """True of Python's and NumPy's integers, not of booleans."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def relative_positions(length: int) -> np.ndarray:
    """Key position minus query position: integers (query, key), below 0 for keys before the query."""
    positions = np.arange(length)
    return positions[None, :] - positions[:, None]


ENCODINGS: Registry[Encoding] = Registry("encoding")


def register(encoding: Encoding) -> Encoding:
    """Adds an encoding under its own name."""
    return ENCODINGS.add(encoding.name, encoding)
