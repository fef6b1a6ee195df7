"""Step 10: order without positions."""

from analysis.core.formatting import signed
from analysis.figures.reading.order import DEPTHS
from analysis.literature import tables as published
from analysis.narrative.reading.base import Control, Destination, Step, Values, register

TABLE = "haviv2022nopos|Table 1"
MASKED_TABLE = "haviv2022nopos|Table 4"


def says(values: Values) -> str:
    """The published gain in perplexity that positions give to causal and to masked models."""
    sentences = []
    for table, kind in ((TABLE, "causal"), (MASKED_TABLE, "masked")):
        rows = published.load(table).scores
        pairs = rows[rows.row.isin(("NoPos", "Learned"))].pivot(index="column", columns="row", values="value")
        gaps = (pairs.NoPos - pairs.Learned).dropna()
        sentences.append(f"{' and '.join(signed(gap) for gap in gaps)} for {kind} language models")
    return (
        "Haviv et al. (2022) report that the perplexity of models without positions differs from that of models with "
        f"learned positions by {', and by '.join(sentences)} (one number per model and corpus; above zero, positions "
        "help)."
    )


register(
    Step(
        place=10,
        name="order",
        title="Order without positions",
        text=(
            "Does a model need positions at all? Attention alone treats a text as a bag of words: shuffle them, and "
            "every word gets the same result as before, as an answer on Stack Exchange points out. Stacking layers "
            "does not change that. A **causal mask** does: where a word sees only the words before it, what it sees "
            "depends on where it stands. In the chart, a random network without positions reads a text in which all "
            "words but the last are shuffled. Watch the last word: with one causal layer it is still blind to the "
            "order of the others; with two or more it is not."
        ),
        documents=("003",),
        claims=("C14", "C16"),
        citations=("haviv2022nopos",),
        figure="reading_order",
        controls=(Control(field="depth", label="Layers", options=lambda: list(DEPTHS)),),
        says=says,
        more=Destination(
            page="interventions",
            says="The same test on a real model",
            values=lambda values: {"permute": True},
        ),
    )
)
