"""Content of the front page: the answer in sentences, and the cards. Kept in a file, so that it is shown at once.

The file is committed. It is used as long as the committed results files are those that it was made from, by the list
of their checksums; the store, which is built meanwhile, then takes its place. This module imports neither pandas nor
DuckDB.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from analysis.core.atomic_write import atomic_write
from analysis.store.paths import CHECKSUMS, data_folder

FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A statement that points another way than a sentence of the answer, or limits it; words: what it takes from it."""

    id: str
    claim: str
    words: str


@dataclass(frozen=True, kw_only=True)
class AnswerStep:
    """One sentence of the answer, with its number, the claim it rests on, and the page that shows its evidence.

    part: its place on Home, as `analysis.narrative.answer.computed_sentence` has it. heading: its point in a few words.
    further: what limits it or says it more exactly, a sentence a line, one press away.
    """

    place: int
    name: str
    part: str
    heading: str
    sentence: str
    bold: str
    against: bool
    further: str
    claim: str
    value: float | None
    query: str
    link: str
    page: str
    values: Mapping[str, Any]
    tempered_by: tuple[Limit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One number. strong: drawn in the ink of the page, because the card is about it."""

    name: str
    value: float
    text: str
    strong: bool = False


@dataclass(frozen=True, kw_only=True)
class SimilarityCurve:
    """Sentence similarity of the default model by the number of directions that positions keep.

    kept, values: the numbers and what was measured at each; marked: the number that stands out. random: pairs of a
    number of random directions and the mean over draws. trained, without: the model as it is, and with every position
    the mean.
    """

    kept: tuple[int, ...]
    values: tuple[float, ...]
    marked: int
    random: tuple[tuple[int, float], ...]
    trained: float
    without: float


@dataclass(frozen=True, kw_only=True)
class Card:
    """One kind of knowledge. kind: certain, measured or open. page, values: where all of it is shown."""

    kind: str
    sentence: str
    link: str
    page: str
    values: Mapping[str, Any] = field(default_factory=dict)
    bars: tuple[Bar, ...] = ()
    curve: SimilarityCurve | None = None


@dataclass(frozen=True, kw_only=True)
class Separated:
    """The default model intact, and with its words kept out of `rank` of `width` directions and its positions inside.

    Both numbers are sentence similarity: Spearman's correlation on the dev set of STS-B.
    """

    rank: int
    width: int
    intact: float
    separated: float


@dataclass(frozen=True, kw_only=True)
class LastChange:
    """The effect of one change on the final loss, as the rules judge it. difference: in nats. seeds: of that contrast.

    standing: `lower`, `higher` or `same`, `slightly` before one of the first two, or what is decided of these; `open`
    where nothing is.
    """

    difference: float
    standing: str
    seeds: int


@dataclass(frozen=True, kw_only=True)
class WayOfTelling:
    """A way of telling positions, compared with adding them once. difference: of the final loss, in nats.

    changes: the number of single changes that lead to it from adding; the last of them changes the nearest way before
    it that has one fewer.

    quoted: whether a sentence on Home compares it. low, high: its 95 % interval; both are the difference where it is
    adding itself. steps: the mean number of training steps until an encoder leaves the plateau, where it does not use
    the order of words yet. method: whether it is a method as models use it, which differs from adding in several things
    at once. undecided: whether the rules leave its difference from adding open. last_change: its last change alone;
    None where no rule judges it. remarks: the sentences of the answer that are about it. margin: in nats, within which
    the rules call two losses the same.
    """

    name: str
    changes: int
    quoted: bool
    difference: float
    low: float
    high: float
    seeds: int
    steps: int
    method: bool = False
    undecided: bool = False
    last_change: LastChange | None = None
    remarks: tuple[str, ...] = ()
    margin: float = 0.0


@dataclass(frozen=True, kw_only=True)
class FrontPage:
    """Everything on Home. apart: None where that surgery is not stored. minutes: the time of the guided tour.

    ways: adding first, then other ways of telling positions, each with one change from one of those before it; at the
    end a whole method.
    """

    steps: tuple[AnswerStep, ...]
    ways: tuple[WayOfTelling, ...]
    cards: tuple[Card, ...]
    apart: Separated | None
    minutes: int


PAGE = TypeAdapter(FrontPage)


def load_saved() -> FrontPage | None:
    """The front page of the file; None where there is none, or where it was made from other committed results."""
    try:
        stored = json.loads(FILE.read_text(encoding="utf-8"))
        return PAGE.validate_python(stored) if stored["checksums"] == _checksums() else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def save(page: FrontPage) -> None:
    """Writes the file anew."""
    content = {"checksums": _checksums(), **PAGE.dump_python(page, mode="json")}
    with atomic_write(FILE) as partial:
        partial.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _checksums() -> str:
    """The digest of the list of checksums of the committed files, which changes with any of them."""
    return hashlib.sha256((data_folder() / CHECKSUMS).read_bytes()).hexdigest()
