"""The ledger at a glance: every claim of the documents, with its verdict."""

from typing import Any

import pandas as pd

from analysis.claims import QUESTIONS, WORDS, stored
from analysis.errors import NoResults
from analysis.figures.base import Figure, Params, figure
from analysis.figures.terms import one_of

ALL = "all"


@figure("reading_open")
def reading_open(params: Params) -> Figure:
    """One tile a claim, by the question it belongs to; those of one verdict stand out."""
    chosen = one_of(params, "verdict", (ALL, *WORDS))
    entries = stored.ledger()
    if not entries:
        raise NoResults("The store has no claims. Run: python -m analysis sync --rebuild")
    frame: Any = pd.DataFrame(
        [
            {
                "id": entry.id,
                "title": entry.title,
                "question": QUESTIONS[entry.question],
                "verdict": entry.verdict,
                "sentence": entry.sentence,
            }
            for entry in entries
        ]
    )
    frame = frame.assign(
        place=frame.groupby("question").cumcount() + 1, shown=[chosen in (ALL, verdict) for verdict in frame.verdict]
    )
    counts = stored.counts()
    told = ", ".join(f"{count} {word}" for word, count in counts.items())
    listed = "; ".join(f"{row.id} {row.title}" for row in frame[frame.shown].itertuples()) or "none"
    return Figure(
        name="reading_open",
        title="Every claim and its verdict" if chosen == ALL else f"The claims that are {chosen}",
        frame=lambda: frame[["id", "title", "question", "verdict", "sentence"]],
        caption=(
            f"{len(frame)} claims of {len(stored.documents())} documents: {told}. One tile a claim, by question; its "
            "rule was written down before the store was asked, and its verdict is computed when the store is built."
            + (f" {chosen[0].upper()}{chosen[1:]}: {listed}." if chosen != ALL else "")
        ),
        alt=f"Tiles, one a claim, coloured by verdict: {told}.",
        command='python -m analysis query "SELECT * FROM claims" --csv',
        provenance={"verdicts": "computed from the store by the rules of analysis/claims/ledger"},
        content={"frame": frame, "questions": list(QUESTIONS.values()), "verdicts": list(WORDS)},
    )
