"""Step 3: what attention then asks, all at once."""

from analysis.core import default_model
from analysis.core.formatting import signed_percent
from analysis.core.term_names import FOUR
from analysis.figures.terms.data import stored_terms, term_label
from analysis.narrative.reading.base import Control, Destination, Step, Values, register

CORPUS = "probe_set"
HEADS = range(12)


def says(values: Values) -> str:
    """The four shares of the chosen head over the probe set."""
    head = int(values["head"])
    result = stored_terms(default_model.NAME, CORPUS, 0, ("head",))
    rows = result[result["head"] == head].set_index("term")
    shares = ", ".join(f"{term_label(term)} {signed_percent(rows.share[term])}" for term in FOUR)
    return (
        f"Over all {int(rows.texts.iloc[0])} texts of the probe set, these terms make up the variance of the scores "
        f"of head {head}: {shares}. The rest comes from segments and biases."
    )


def params(values: Values) -> dict:
    """The maps of a saved probe."""
    return {"probe": "example-agreement", "head": int(values["head"])}


register(
    Step(
        place=3,
        name="questions",
        title="Four questions at once",
        text=(
            "Attention compares a query with a key by multiplying them, and a product of two sums is four products. "
            "So with positions added, as an answer on Stack Exchange points out, every score asks four questions at "
            "once: how much this **word** wants that **word**, this word that position, this position that word, and "
            "this position that position. All four go through the same two matrices. Below they are shown one by one "
            "for one sentence: each row is a query, each column a key, and the four (with segments and biases, which "
            "are not drawn) add up to the model's own score. Heads differ: try some."
        ),
        documents=("002",),
        claims=("C07", "C08"),
        citations=("ke2021tupe",),
        figure="probe_maps",
        page="terms",
        params=params,
        controls=(Control(field="head", label="Head", options=lambda: list(HEADS)),),
        says=says,
        more=Destination(page="terms", says="All heads, all sixteen terms", values=params),
    )
)
