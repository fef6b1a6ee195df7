"""Step 10: order without positions."""

from analysis.core.formatting import signed
from analysis.figures.reading.order import DEPTHS
from analysis.literature import tables as published
from analysis.narrative.reading.base import Step, Touch, Values, Way, register

TABLE = "haviv2022nopos|Table 1"
MASKED_TABLE = "haviv2022nopos|Table 4"


def says(values: Values) -> str:
    """What positions are worth to causal and to masked models, as published."""
    sentences = []
    for table, kind in ((TABLE, "causal"), (MASKED_TABLE, "masked")):
        rows = published.load(table).scores
        pairs = rows[rows.row.isin(("NoPos", "Learned"))].pivot(index="column", columns="row", values="value")
        gaps = (pairs.NoPos - pairs.Learned).dropna()
        sentences.append(f"{' and '.join(signed(gap) for gap in gaps)} for {kind} language models")
    return (
        f"Without positions, Haviv et al. (2022) print a perplexity that differs from that with learned positions by "
        f"{', and by '.join(sentences)} (one figure a model and corpus)."
    )


register(
    Step(
        place=10,
        name="order",
        title="Order without positions",
        text=(
            "Is a position needed at all? Attention alone treats a text as a bag: shuffle the words and every word "
            "gets the same answer as before, document 003 says. Stacking layers does not change that. A **causal "
            "mask** does: where a word sees only those before it, what it sees depends on where it stands. In the "
            "chart, all words but the last are shuffled, in a random network without positions. Watch the last word: "
            "under one causal layer it is still blind to the order of the others, from two on it is not."
        ),
        documents=("003",),
        claims=("C14", "C16"),
        citations=("haviv2022nopos",),
        figure="reading_order",
        touches=(Touch(field="depth", label="Layers", options=lambda: list(DEPTHS)),),
        says=says,
        more=Way(
            page="interventions",
            says="The same test on a real model",
            values=lambda values: {"permute": True},
        ),
    )
)
