"""The input and output of readers of results, and their registry."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import SupportsFloat

from analysis.core.errors import AddendError
from analysis.core.registry import Registry

NUMERAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""A number as text, for every reader: a sign, ASCII digits with a point, an exponent. Python's float() takes more."""
NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
"""As Python, JSON, W&B and Trackio write what is no finite number."""


def parsed(text: str) -> float | None:
    """The number that a text is, infinite and NaN among them; None where it is none."""
    bare = text.strip(" \t\r\n")
    return float(bare) if NUMERAL.fullmatch(bare) or NOT_FINITE.fullmatch(bare) else None


def number(cell: object) -> object:
    """A cell of a table as a number if it is one, else unchanged."""
    if isinstance(cell, str):
        value = parsed(cell)
        return cell if value is None else value
    return cell


def as_float(value: object) -> float:
    """A value as a number; NaN if it is none."""
    if isinstance(value, bytes):
        value = value.decode("ascii", "replace")
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, float):  # asked before the protocol, which takes twenty times as long
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | SupportsFloat):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def ends_a_curve(value: object) -> bool:
    """True of a value that is NaN or infinite, as a diverged training logs it; False of what is no number at all."""
    if isinstance(value, str):
        return NOT_FINITE.fullmatch(value.strip(" \t\r\n")) is not None
    return isinstance(value, SupportsFloat) and not isinstance(value, int) and not math.isfinite(as_float(value))


Files = Mapping[str, bytes]
"""Path as the reader gave it, with forward slashes -> content."""


@dataclass(frozen=True, kw_only=True)
class UserMetadata:
    """Facts that the user states about results whose files do not state them; None to take them from the files."""

    variant: str | None = None
    task: str | None = None
    seed: int | None = None
    learning_rate: float | None = None
    preset: str | None = None


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be imported: its position, and what was expected. line: None for a whole file."""

    file: str
    line: int | None
    problem: str

    def __str__(self) -> str:
        return f"{self.file}{'' if self.line is None else f', line {self.line}'}: {self.problem}"


class InvalidValue(AddendError):
    """A value that is not what was expected."""


@dataclass(frozen=True)
class UncheckedRow:
    """One number before it is checked. values: column of the tidy form -> value, None if missing.

    file, line: those of its run. label: the tool's name of the number, with its step, where a line does not say it.
    place: the file that the number itself is in, where that is not `file`.
    """

    file: str
    line: int | None
    values: Mapping[str, object]
    label: str = ""
    place: str = ""

    def bad(self, problem: str) -> BadRow:
        """The row as one that cannot be imported."""
        line = None if self.place else self.line
        return BadRow(self.place or self.file, line, f"{self.label}: {problem}" if self.label else problem)

    @property
    def where(self) -> str:
        """The place of the number, as a sentence names it."""
        return f"{self.unlabelled} ({self.label})" if self.label else self.unlabelled

    @property
    def unlabelled(self) -> str:
        """The file of the number, with its line."""
        return self.place or (self.file if self.line is None else f"{self.file}, line {self.line}")


@dataclass(kw_only=True)
class ExtractedRows:
    """Everything that a reader extracted from files.

    used: the files that are of its form. left: numbers that it found and ignores, with the reason. notes: what was
    done to numbers that are taken. settings: those of a run, by the file that its rows name.
    """

    used: set[str] = field(default_factory=set)
    rows: list[UncheckedRow] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    settings: dict[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """One form of results. read: takes what is of its form from the files, and leaves the rest.

    last: called after the others; the tidy form takes every table that is left.
    """

    title: str
    expects: str
    read: Callable[[Files, UserMetadata], ExtractedRows]
    last: bool = False


READERS: Registry[Reader] = Registry("form of results")


def folders(files: Files) -> dict[str, dict[str, bytes]]:
    """Folder -> name -> content."""
    by_folder: dict[str, dict[str, bytes]] = {}
    for path, content in files.items():
        folder, _, name = path.rpartition("/")
        by_folder.setdefault(folder, {})[name] = content
    return by_folder


def joined(folder: str, name: str) -> str:
    """The path of a file in a folder; "" is the top folder."""
    return f"{folder}/{name}" if folder else name


def names(values: Sequence[str]) -> str:
    """A list in a sentence, cut where it is long."""
    shown = ", ".join(values[:8])
    return f"{shown} and {len(values) - 8} more" if len(values) > 8 else shown
