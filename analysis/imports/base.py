"""What readers of results are given, what they give back, and their registry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from analysis.core.registry import Registry

Files = Mapping[str, bytes]
"""Path as the reader gave it, with forward slashes -> content."""


@dataclass(frozen=True, kw_only=True)
class StatedByReader:
    """What a reader says of results that do not say it themselves; None where the files must."""

    variant: str | None = None
    task: str | None = None
    seed: int | None = None
    learning_rate: float | None = None
    preset: str | None = None


@dataclass(frozen=True)
class BadRow:
    """Something that cannot be taken: where it stands, and what was expected. line: None for a whole file."""

    file: str
    line: int | None
    problem: str

    def __str__(self) -> str:
        return f"{self.file}{'' if self.line is None else f', line {self.line}'}: {self.problem}"


@dataclass(frozen=True)
class Row:
    """One number as it was found, not yet checked. values: column of the tidy form -> value, None where not said."""

    file: str
    line: int | None
    values: Mapping[str, object]


@dataclass(kw_only=True)
class Reading:
    """What a reader made of files.

    used: the files that are of its form. left: numbers that it found and does not take, with why. settings: what
    the files say of a run, by the file that its rows name.
    """

    used: set[str] = field(default_factory=set)
    rows: list[Row] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    settings: dict[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """One form of results. read: takes what is of its form from the files, and leaves the rest.

    last: asked when the others have taken theirs; the tidy form takes every table that is left.
    """

    title: str
    expects: str
    read: Callable[[Files, StatedByReader], Reading]
    last: bool = False


READERS: Registry[Reader] = Registry("form of results")


def folders(files: Files) -> dict[str, dict[str, bytes]]:
    """Folder -> name -> content."""
    entries: dict[str, dict[str, bytes]] = {}
    for path, content in files.items():
        folder, _, name = path.rpartition("/")
        entries.setdefault(folder, {})[name] = content
    return entries


def joined(folder: str, name: str) -> str:
    """The path of a file in a folder; "" is where the reader stood."""
    return f"{folder}/{name}" if folder else name


def names(values: Sequence[str]) -> str:
    """A list in a sentence, cut where it is long."""
    shown = ", ".join(values[:8])
    return f"{shown} and {len(values) - 8} more" if len(values) > 8 else shown
