"""Step 6: what real models do with the four questions."""

from analysis.ablation.variants import readable
from analysis.core import default_model
from analysis.core.errors import NoResults
from analysis.core.formatting import signed_percent
from analysis.narrative.reading.base import Control, Destination, Step, Values, register
from analysis.store import read

CROSS = ("word_to_position", "position_to_word")


def layers() -> list[int]:
    """The layers of the embedded model whose terms are stored."""
    rows = read.query("SELECT DISTINCT layer FROM newest_terms WHERE model = ? ORDER BY layer", [default_model.NAME])
    return [int(layer) for layer in rows.layer]


def says(values: Values) -> str:
    """The cross terms of every stored model that adds positions to words.

    Raises NoResults where no terms are stored at the layer.
    """
    layer = int(values["layer"])
    result = read.query(
        "SELECT model, sum(share) AS share FROM newest_terms WHERE layer = ? AND aggregation = 'mean_over_heads' "
        "AND corpus = 'probe_set' AND term IN (?, ?) GROUP BY model HAVING min(rms) > 0",
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
        f"({readable(high.model)}) of the variance of the scores at layer {layer}, averaged over heads{assumption}."
    )


def params(values: Values) -> dict[str, object]:
    """The embedded model at a layer."""
    return {"layer": int(values["layer"])}


register(
    Step(
        place=6,
        name="models",
        title="What real models do with the four questions",
        text=(
            "Do models use all four questions? The article from Baobao Algorithm Notes reports, after Ke et al. "
            "(2021), that the two **cross terms**, in which a word asks about a position or a position about a word, "
            "contribute little. That can be measured: here is each term's share of the variance of a real model's "
            "scores, layer by layer. Two ways of averaging over heads stand side by side because they tell different "
            "stories, and deeper layers need an assumption, which the caption names. A term that is small on average "
            "need not be small in every head or in every model."
        ),
        documents=("004",),
        claims=("C09",),
        citations=("ke2021tupe",),
        figure="terms_aggregates",
        page="terms",
        params=params,
        controls=(Control(field="layer", label="Layer", options=layers),),
        says=says,
        more=Destination(
            page="depth", says="The same for every layer and every head", values=lambda values: {"part": "terms"}
        ),
    )
)
