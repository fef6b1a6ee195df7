"""Content of the front page: the answer in sentences, and the cards. Kept in a file, so that it is shown at once.

The file is committed. It is used as long as the results files are those that it was made from; the store, which is
built meanwhile, then takes its place. This module imports neither pandas nor DuckDB.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from analysis.core.atomic_write import atomic_write
from analysis.store.paths import data_folder

FILE = Path(__file__).with_suffix(".json")
RULES = Path(__file__).resolve().parents[1] / "rules"
RESULTS = ("results", "published", "probe_set", "imported")
"""The folders of data whose files the answer follows from."""


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A statement that points another way than a sentence of the answer, or limits it; sentence: what was found."""

    id: str
    claim: str
    verdict: str
    statement: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """One sentence of the answer, with its number, the claim it rests on, and the page that shows its evidence.

    part: its place on Home, as `analysis.narrative.answer.base` has it. heading: its point in a few words.
    """

    place: int
    name: str
    part: str
    heading: str
    sentence: str
    bold: str
    against: bool
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
class Curve:
    """Sentence similarity of the default model by the number of directions that positions keep.

    kept, values: the numbers and what was measured at each; marked: the number that stands out. random: pairs of a
    number of random directions and the mean over draws. trained, without: the model as it is, and with no positions.
    """

    kept: tuple[int, ...]
    values: tuple[float, ...]
    marked: int
    random: tuple[tuple[int, float], ...]
    trained: float
    without: float

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Curve":
        """The curve as JSON holds it: with lists."""
        lists = {name: tuple(stored[name]) for name in ("kept", "values")}
        return cls(**{**stored, **lists, "random": tuple((rank, value) for rank, value in stored["random"])})


@dataclass(frozen=True, kw_only=True)
class Card:
    """One kind of knowledge. kind: certain, measured or open. page, values: where all of it is shown."""

    kind: str
    sentence: str
    link: str
    page: str
    values: Mapping[str, Any] = field(default_factory=dict)
    bars: tuple[Bar, ...] = ()
    curve: Curve | None = None


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
class FrontPage:
    """Everything on Home. apart: None where that surgery is not stored. minutes: the time of the guided tour."""

    steps: tuple[Step, ...]
    cards: tuple[Card, ...]
    apart: Separated | None
    minutes: int


def fingerprint() -> str:
    """Changes when a results file comes, goes or has another size, and with the rules; the same on every machine."""
    folder = data_folder()
    files = sorted(path for name in RESULTS for path in (folder / name).rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
    for path in sorted(RULES.glob("*.toml")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def load_saved() -> FrontPage | None:
    """The front page of the file; None where there is none, or where it was made from other results."""
    try:
        stored = json.loads(FILE.read_text(encoding="utf-8"))
        if stored["fingerprint"] != fingerprint():
            return None
        return FrontPage(
            steps=tuple(
                Step(**{**step, "tempered_by": tuple(Limit(**limit) for limit in step["tempered_by"])})
                for step in stored["steps"]
            ),
            cards=tuple(
                Card(
                    **{
                        **card,
                        "bars": tuple(Bar(**bar) for bar in card["bars"]),
                        "curve": Curve.of(card["curve"]) if card["curve"] else None,
                    }
                )
                for card in stored["cards"]
            ),
            apart=Separated(**stored["apart"]) if stored["apart"] else None,
            minutes=int(stored["minutes"]),
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None


def save(page: FrontPage) -> None:
    """Writes the file anew."""
    with atomic_write(FILE) as partial:
        partial.write_text(
            json.dumps({"fingerprint": fingerprint(), **asdict(page)}, indent=1, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )
