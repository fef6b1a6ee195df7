"""The moving picture of the answer: concatenating becomes adding, in five stages. It runs in the browser alone."""

from dataclasses import dataclass
from pathlib import Path

from analysis.narrative.front_page import Separated

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Stage:
    """One stage. label: on its button. formula: of its query. note: under the query; `=` or `≠` the last one's."""

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
        "The word is stacked on the position. One wide matrix turns the two into a query: 6 × 12 = 72 weights.",
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
        "Use one block for both, with positions as long as words. Only this step gives something up: one position "
        "vector must now suit every matrix of words.",
        "≠ another query",
    ),
    Stage(
        "Add",
        "Add",
        "W · (word + position)",
        "Factor the block out. Nothing changes: this is the addition that BERT performs, with 6 × 8 = 48 weights.",
        "= the same query",
    ),
)


def after_training(separated: Separated | None) -> Stage:
    """The fifth stage: what was measured of a trained model; in words alone where nothing is stored."""
    return Stage(
        "Trained, cut apart",
        "After training",
        "W · [word ; position]",
        f"In a trained MiniLM, keep words out of the {separated.rank} strongest of the positions’ {separated.width} "
        "directions and positions inside them, then rotate: the sum is a concatenation."
        if separated
        else "Training gives positions few directions; where words keep out of them, the sum is a concatenation again.",
        f"similarity score: {separated.intact:.3f} → {separated.separated:.3f}" if separated else "",
    )


def asset(name: str) -> str:
    """The text of `hero.html`, `hero.css` or `hero.js`."""
    return (HERE / name).read_text(encoding="utf-8")
