"""Energy in the leading directions of words and of positions, and the singular values of both tables."""

from analysis.ablation.variants import readable
from analysis.core.colours import TERMS
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.drawing import Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import (
    BAND,
    RAW,
    GeometryParameters,
    find_estimate,
    geometry_figure,
    run_settings,
    stored_rows,
)


def hues(theme: Theme) -> dict[str, str]:
    """The colours of words and positions, by the names of their curves."""
    return {name: theme.colour(TERMS[name.removesuffix("s")]) for name in ("positions", "words")}


@figure("geometry_spectra", GeometryParameters)
def spectra(params: GeometryParameters) -> Figure:
    """Share of the energy in the leading directions, and the singular values, of both tables.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "energy_in_top", "singular_value")
    selected = rows[rows.subject.isin(["word_centred", "position_centred"])]
    selected = selected.assign(series=selected.subject.map({"word_centred": "words", "position_centred": "positions"}))
    shares, values = (selected[selected.measure == measure] for measure in ("energy_in_top", "singular_value"))
    largest = values.groupby("series").value.transform("max")
    values = values.assign(
        **{column: values[column] / largest for column in ("value", "baseline", "baseline_low", "baseline_high")}
    )
    text = " ".join(
        f"The {name}' top 20 directions hold {percent(row.value)} of their energy (in a random table, "
        f"{percent(row.baseline)})."
        for name, subject in (("words", "word_centred"), ("positions", "position_centred"))
        if (row := find_estimate(rows, "energy_in_top", subject, 20)) is not None
    )
    return geometry_figure(
        "How many directions words and positions use",
        rows,
        caption=(
            f"{text} {readable(model)}, {run_settings(rows)['vocabulary']:,} words and "
            f"{run_settings(rows)['positions']} positions, with each table's mean row subtracted. {RAW} "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='Gaussian tables of the same shape and norm')}"
        ),
        alt=text,
        columns=2,
        draw=lambda theme: [
            panels.curves_over_chance(
                shares,
                theme,
                marks.HALF,
                title="Energy in the leading directions",
                value="share of energy",
                along="directions",
                domain=(0, 1),
                log=True,
                colours=hues(theme),
            ),
            panels.curves_over_chance(
                values,
                theme,
                marks.HALF,
                title="Singular values",
                value="over the largest",
                along="number of the direction",
                log=True,
                colours=hues(theme),
            ),
        ],
    )
