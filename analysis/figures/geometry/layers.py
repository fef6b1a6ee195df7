"""Overlap of the subspaces of words and positions in the states that enter every layer."""

from analysis.ablation.variants import readable
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import BAND, GeometryParameters, geometry_figure, run_settings, stored_rows
from analysis.figures.geometry.subspaces import OVERLAP, RANK, SHARED


@figure("geometry_layers", GeometryParameters)
def layers(params: GeometryParameters) -> Figure:
    """The overlap in the hidden states that enter every layer, at one rank.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, OVERLAP)
    rows = rows[rows.subject == "states"]
    if rows.empty:
        stored_rows(model, "states")
    rank = min(set(rows.along), key=lambda rank: abs(rank - RANK))
    rows = rows[rows.along == rank].sort_values("layer").assign(series="hidden states", along=lambda rows: rows.layer)
    first, last = rows.iloc[0], rows.iloc[-1]
    highest = rows.loc[rows.value.idxmax()]
    text = (
        f"Without their means, {rank:.0f} directions of words and of positions overlap by {percent(first.value, 1)} "
        f"before the first layer, {percent(highest.value, 1)} at layer {highest.layer} and {percent(last.value, 1)} "
        f"after the last; random ones by {percent(first.baseline, 1)}."
    )
    return geometry_figure(
        "Shared directions from layer to layer",
        rows,
        caption=(
            f"{text} {readable(model)}. Positions: the basis of method mean, over windows of a reference text; words: "
            f"the hidden states of the probe set, put together into windows ({first.samples:,} tokens), with mean and "
            "position subtracted, which leaves word and context. Here a word counts as often as a text has it, and in "
            "the tables once, so that the overlap before the first layer is not that of the tables. "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='subspaces of the same rank and dimension')}"
        ),
        alt=text,
        finding=text.removesuffix("."),
        draw=lambda theme: [
            panels.curves_over_chance(
                rows, theme, marks.WIDE, title=f"Overlap of {rank:.0f} directions", value=SHARED, along="layer entered",
                below=["grey: random subspaces"],
            )
        ],
    )  # fmt: skip
