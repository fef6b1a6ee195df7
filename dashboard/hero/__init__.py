"""The moving picture of Home: concatenating becomes adding, in five stages. It runs in the browser alone."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Stage:
    """One stage. label: on its button. formula: what the query is. note: under the query; `=` or `≠` the last one's."""

    name: str
    label: str
    formula: str
    says: str
    note: str


STAGES = (
    Stage(
        "Concatenate",
        "Concatenate",
        "W · [word ; position]",
        "Word and position stand one above the other. One wide matrix turns them into a query: 6 × 12 = 72 weights.",
        "",
    ),
    Stage(
        "Split the matrix",
        "Split",
        "W₁ · word + W₂ · position",
        "Cut the matrix where the two meet. Nothing changes, to the last digit: concatenation was a sum all along.",
        "= the same query",
    ),
    Stage(
        "Tie the blocks",
        "Tie",
        "W · word + W · position",
        "Use one block for both. This is the only step that gives something up: position loses a matrix of its own.",
        "≠ another query",
    ),
    Stage(
        "Add",
        "Add",
        "W · (word + position)",
        "Take the block out of the bracket. Nothing changes: this is the addition that BERT makes, with 6 × 8 = 48 "
        "weights.",
        "= the same query",
    ),
)


def _asset(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


_hero = component("addend_hero", html=_asset("hero.html"), css=_asset("hero.css"), js=_asset("hero.js"))


def shown(last: Stage, *, dark: bool) -> None:
    """The picture. last: the fifth stage, which says what was measured."""
    data: dict[str, Any] = {"dark": dark, "stages": [asdict(stage) for stage in (*STAGES, last)]}
    _hero(key="home.hero", data=data)
