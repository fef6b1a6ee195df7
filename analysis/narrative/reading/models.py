"""Step 6: what real models do with the four questions."""

from analysis.core import default_model
from analysis.core.errors import NoResults
from analysis.core.formatting import signed_percent
from analysis.narrative.reading.base import Step, Touch, Values, Way, register
from analysis.store import read

CROSS = ("word_to_position", "position_to_word")


def layers() -> list[int]:
    """Those of the embedded model that are stored."""
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
    low, high = result.iloc[result.share.argmin()], result.iloc[result.share.argmax()]
    return (
        f"At layer {layer}, the two cross terms together make up {signed_percent(low.share, 1)} ({low.model}) to "
        f"{signed_percent(high.share, 1)} ({high.model}) of the variance of the scores, as a mean over heads, in the "
        f"{len(result)} stored models that have them."
    )


def params(values: Values) -> dict[str, object]:
    """The embedded model at a layer."""
    return {"layer": int(values["layer"])}


register(
    Step(
        place=6,
        name="models",
        title="What real models do with them",
        text=(
            "Do models use all four questions? Document 004 reports, after Ke et al. (2021), that the two **cross "
            "terms**, word asking position and position asking word, contribute little. That can be measured: here is "
            "the share of each term in the variance of a real model's scores, layer by layer. Two ways of "
            "averaging over heads stand side by side because they tell different stories, and deeper layers need an "
            "assumption, which the caption names. Small on average does not mean small in every head or every model."
        ),
        documents=("004",),
        claims=("C09",),
        citations=("ke2021tupe",),
        figure="terms_aggregates",
        page="terms",
        params=params,
        touches=(Touch(field="layer", label="Layer", options=layers),),
        says=says,
        more=Way(page="depth", says="The same against depth, in every head", values=lambda values: {"part": "terms"}),
    )
)
