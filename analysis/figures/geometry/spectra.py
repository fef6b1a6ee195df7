"""The singular values of the tables of words and of positions, with the number of directions that each uses."""

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import colours
from analysis.figures import marks, panels
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import (
    BAND,
    RAW,
    Estimate,
    GeometryParameters,
    estimate,
    geometry_figure,
    run_settings,
    stored_rows,
)

SUBJECTS = {"position_centred": "positions", "word_centred": "words"}


@figure("geometry_spectra", GeometryParameters)
def spectra(params: GeometryParameters) -> Figure:
    """The singular values of both tables, each over its largest, and both effective ranks.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "singular_value", "effective_rank")
    rows = rows[rows.subject.isin(SUBJECTS)].assign(series=lambda rows: rows.subject.map(SUBJECTS))
    values = rows[rows.measure == "singular_value"]
    largest = values.groupby("series").value.transform("max")
    values = values.assign(**{name: values[name] / largest for name in ("value", "baseline")})
    ranks = {name: estimate(rows, "effective_rank", subject) for subject, name in SUBJECTS.items()}
    position, word = ranks["positions"], ranks["words"]
    text = (
        f"Positions spread over about {position.value:.0f} of {values.along.max():.0f} directions, words over about "
        f"{word.value:.0f}; random tables of the same shapes would spread over {position.baseline:.0f} and "
        f"{word.baseline:.0f}."
    )
    return geometry_figure(
        "How many directions words and positions use",
        rows,
        caption=(
            f"{text} Lines: the singular values of each table over its largest, which say how far its rows spread "
            "along each direction, and in grey those of random tables over the same "
            "number; dashed: the effective rank, which counts weak directions less. It is the "
            "exponential of the entropy of the squared singular values, divided by their sum. "
            f"{readable(model)}, {run_settings(rows)['vocabulary']:,} words and {run_settings(rows)['positions']} "
            f"positions, with each table's mean row subtracted. {RAW} Every row is used, so there is no interval. "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='Gaussian tables of the same shape and norm')}"
        ),
        alt=text,
        finding=text.removesuffix("."),
        draw=lambda theme: [_curves(values, ranks, theme)],
    )


def _curves(values: pd.DataFrame, ranks: dict[str, Estimate], theme: Theme) -> Chart:
    """Both spectra on a logarithmic axis, each with its effective rank as a dashed line."""
    hues = {name: theme.colour(colours.TERMS[name.removesuffix("s")]) for name in ranks}
    rows = panels.chart_rows(values)
    last = float(rows.along.max())
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tick <= last]
    x = marks.number(
        alt.X, "along", "direction of each table, strongest first", domain=(1, last), log=10, values=ticks, form="d",
        grid=False,
    )  # fmt: skip
    y = marks.number(alt.Y, "value", "singular value over the largest", domain=(0, 1), form="%", ticks=5)
    named = pd.DataFrame(
        [
            {"along": rank.value, "value": 0.97 - 0.1 * index, "hue": hues[name],
             "align": "right" if index else "left", "dx": -8 if index else 8, "dy": 0,
             "name": f"{name}:\neffective rank {rank.value:.0f}"}
            for index, (name, rank) in enumerate(ranks.items())
        ]
    )  # fmt: skip
    first = rows[rows.along == rows.along.min()]
    random_names = first.assign(value=first.baseline, name="random " + first.series, hue=theme.colour(colours.SOFT),
                                align="left", dx=4, dy=-12)  # fmt: skip
    named = pd.concat([named, random_names])
    color = marks.hues("series", hues)
    random = alt.Chart(rows).mark_line(strokeDash=marks.DASH, strokeWidth=1.5, color=GREY)
    return marks.panel(
        random.encode(x=x, y=marks.same_axis(y, "baseline"), detail="series:N"),
        alt.Chart(named.head(len(ranks)))
        .mark_rule(strokeDash=marks.DASH, strokeWidth=1.5)
        .encode(x=x, color=alt.Color("hue:N", scale=None)),
        *marks.line_plot(
            rows, x=x, y=y, theme=theme, color=color, dots=0,
            tooltip=(("series", "of"), ("along:Q", "direction"), ("value", "over the largest", ".1%"),
                     ("baseline", "random table", ".1%")),
        ),
        *panels.names_at(named, x, y, theme),
        theme=theme,
        width=marks.WIDE,
        height=320,
    )  # fmt: skip
