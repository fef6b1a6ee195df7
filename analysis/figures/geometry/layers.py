"""Overlap and energies of the subspaces of words and positions in the states that enter every layer."""

from analysis.ablation.variants import readable
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import BAND, GeometryParameters, geometry_figure, run_settings, stored_rows
from analysis.figures.geometry.subspaces import SUBSPACES


@figure("geometry_layers", GeometryParameters)
def layers(params: GeometryParameters) -> Figure:
    """The same of the hidden states that enter every layer, at one rank.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, *list(SUBSPACES)[1:])
    rows = rows[rows.subject == "states"]
    if rows.empty:
        stored_rows(model, "states")
    ranks = sorted(set(rows.along))
    rank = min(ranks, key=lambda r: abs(r - 20))
    rows = rows[rows.along == rank].assign(series="hidden states")
    rows = rows.assign(along=rows.layer)
    overlap = rows[rows.measure == "word_energy_in_position"].sort_values("layer")
    first, last = overlap.iloc[0], overlap.iloc[-1]
    text = (
        f"The {rank:.0f} leading directions of the position basis hold {percent(first.value, 1)} of the words' energy "
        f"before the first layer and {percent(last.value, 1)} after the last; random directions hold "
        f"{percent(first.baseline, 1)}."
    )
    return geometry_figure(
        "Shared directions from layer to layer",
        rows,
        caption=(
            f"{text} {readable(model)}, subspaces of rank {rank:.0f}. Positions: the basis of method mean, over "
            "windows of a reference text; words: the hidden states of the probe set, put together into windows "
            f"({first.samples:,} tokens), with mean and position subtracted, which leaves word and context. "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='subspaces of the same rank and dimension')}"
        ),
        alt=text,
        columns=3,
        draw=lambda theme: [
            panels.curves_over_chance(
                rows[rows.measure == name],
                theme,
                marks.THIRD,
                title=title,
                value=value,
                along="layer entered",
            )
            for name, (title, _, value) in list(SUBSPACES.items())[1:]
        ],
    )
