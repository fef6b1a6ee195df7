"""The moving picture of the tour: a sentence is dragged to later positions, and a head's attention follows."""

from pathlib import Path

from analysis.figures.reading.shift import SENTENCE, SHIFTS, ShiftParameters, changes, patterns

HERE = Path(__file__).parent


def picture(head: int) -> dict[str, object]:
    """The data of the picture: the tokens, and for every shift the pattern in thousandths and its change from shift 0.

    Raises LinkError for a head that the model does not have.
    """
    ShiftParameters.of({"head": head})
    return {
        "head": head,
        "tokens": list(SENTENCE),
        "shifts": list(SHIFTS),
        "patterns": (patterns()[:, head] * 1000).round().astype(int).reshape(len(SHIFTS), -1).tolist(),
        "changes": changes()[:, head].round(4).tolist(),
    }


def asset(name: str) -> str:
    """The text of `shift.html`, `shift.css` or `shift.js`."""
    return (HERE / name).read_text(encoding="utf-8")
