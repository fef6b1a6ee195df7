"""Step 7: what attention then asks, all at once: in one sentence and one head, and over all heads."""

from analysis.ablation.variants import readable
from analysis.core import default_model
from analysis.core.errors import NoResults
from analysis.core.formatting import percent, sentences, signed_percent
from analysis.core.term_names import FOUR
from analysis.figures.terms.corpus import stored_terms
from analysis.figures.terms.measures import term_label
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register
from analysis.store import read

CORPUS = "probe_set"
CROSS = ("word_to_position", "position_to_word")
HEADS = range(12)
LAYERS = "layers"
"""The name of the second picture."""
ALL_HEADS = "All heads, many texts"
"""The words on the button that shows it."""


def layers() -> list[int]:
    """The layers of the embedded model whose terms are stored."""
    rows = read.query("SELECT DISTINCT layer FROM newest_terms WHERE model = ? ORDER BY layer", [default_model.NAME])
    return [int(layer) for layer in rows.layer]


def says(values: Values) -> str:
    """The four shares of the chosen head over the probe set; or the cross terms of every stored model at a layer."""
    return all_heads(int(values["layer"])) if values["part"] == LAYERS else one_head(int(values["head"]))


def one_head(head: int) -> str:
    """The shares of one head of the first layer, over the texts of the probe set."""
    result = stored_terms(default_model.NAME, CORPUS, 0, ("head",))
    rows = result[result["head"] == head].set_index("term")
    values = {term: float(rows.share[term]) for term in FOUR}
    shares = ", ".join(f"{term_label(term)} {percent(share, 1)}" for term, share in values.items())
    negative = (
        "A share below zero belongs to a term that works against the others: without it the scores would vary more."
        if any(share < 0 for share in values.values())
        else ""
    )
    return sentences(
        f"This sentence is only an example. Over all {int(rows.texts.iloc[0])} texts that these measurements use, the "
        f"four terms make up the following shares of what varies in the scores of head {head}: {shares}. The rest "
        "comes from segments and biases.",
        negative,
    )


def all_heads(layer: int) -> str:
    """The cross terms of every stored model that adds positions to words.

    Raises NoResults where no terms are stored at the layer.
    """
    result = read.query(
        "SELECT model, sum(share) AS share FROM newest_terms WHERE layer = ? AND aggregation = 'mean_over_heads' "
        "AND corpus = 'probe_set' AND term IN (?, ?) AND isfinite(share) GROUP BY model HAVING min(rms) > 0",
        [layer, *CROSS],
    )
    if result.empty:
        raise NoResults(f"No terms are stored yet at layer {layer}. Run: python -m analysis measure terms")
    assumption = ", with attention patterns and norms held as in the model" if layer else ""
    if len(result) == 1:
        only = result.iloc[0]
        return (
            f"In {readable(only.model)}, the only stored model that has cross terms at layer {layer}, the two together "
            f"make up {signed_percent(only.share, 1)} of the variance of the scores, averaged over heads{assumption}."
        )
    low, high = result.iloc[result.share.argmin()], result.iloc[result.share.argmax()]
    return (
        f"In the {len(result)} stored models that have cross terms, the two together make up between "
        f"{signed_percent(low.share, 1)} ({readable(low.model)}) and {signed_percent(high.share, 1)} "
        f"({readable(high.model)}) of the variance of the scores at layer {layer}, averaged over heads{assumption}. "
        "That is how much they vary, not what the model needs them for."
    )


def maps_of(values: Values) -> dict:
    """The maps of a saved probe."""
    return {"probe": "example-agreement", "head": int(values["head"])}


def layer_of(values: Values) -> dict[str, object]:
    """The embedded model at a layer."""
    return {"layer": int(values["layer"])}


register(
    Step(
        place=7,
        name="questions",
        title="Four questions at once",
        text=(
            "Attention multiplies a query by a key, and a product of two sums is four products. So with positions "
            "added, as an answer on Stack Exchange points out, every score asks four questions:\n\n"
            "- **word to word**: does this word want that word?\n"
            "- **word to position**: does this word want whatever stands at that place?\n"
            "- **position to word**: does this place want that word?\n"
            "- **position to position**: does this place want that place?\n\n"
            "Added parts share two matrices for all four questions. Concatenated parts would have four: a query and a "
            "key matrix each for word and position. In the picture a row asks (the query) and a column is asked (the "
            "key). The largest term is drawn large. Heads, counted from 0, differ: try some.\n\n"
            f"Press **{ALL_HEADS}** to see the same four measured over many texts. Ke et al. (2021) argued, from "
            "pictures of one trained model, that the middle two, the **cross terms**, contribute little, and took them "
            "out."
        ),
        documents=("002", "004"),
        claims=("C07", "C08", "C09"),
        citations=("ke2021tupe",),
        pictures=(
            Picture(
                label="One sentence, one head",
                figure="probe_maps",
                page="terms",
                params=maps_of,
                controls=(Control(field="head", label="Head of the first layer", options=lambda: list(HEADS)),),
            ),
            Picture(
                name=LAYERS,
                label=ALL_HEADS,
                figure="terms_aggregates",
                page="terms",
                params=layer_of,
                controls=(Control(field="layer", label="Layer", options=layers),),
            ),
        ),
        says=says,
        more=Destination(page="terms", says="All heads, all sixteen terms", values=maps_of),
    )
)
