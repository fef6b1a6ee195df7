"""Drawing of what papers report, one panel a question."""

import altair as alt
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import signed
from analysis.figures import Figure
from analysis.figures.drawing import GREY, Chart, Look, drawing
from analysis.figures.marks import labelled_rows, level_labels, row_height, rule, values_beside, wrap_label

CHARACTERS = 33
ALL, REST = "mean of the columns", "mean without CoLA"


@drawing("published_literature", columns=2)
def literature(figure: Figure, look: Look) -> list[Chart]:
    """Comparisons down; small marks are columns, large ones their mean. Panels of one unit share their axis."""
    rows, means = figure.content["rows"], figure.content["means"]
    reach = {unit: (min(0.0, result.gain.min()), max(0.0, result.gain.max())) for unit, result in rows.groupby("unit")}
    return [
        _panel(name, rows[rows.panel == name], means[means.panel == name], reach, look)
        for name in figure.content["panels"]
    ]


def _panel(name: str, rows: pd.DataFrame, means: pd.DataFrame, reach: dict, look: Look) -> Chart:
    unit = str(means.unit.iloc[0])
    wrapped = {row.comparison: _label(row.comparison, row.paper, row.read_in) for row in frames.rows(means)}
    level = level_labels(list(wrapped.values()))
    names = {comparison: level[text] for comparison, text in wrapped.items()}
    labels = list(names.values())
    place = alt.X(
        "gain:Q",
        scale=alt.Scale(domain=reach[unit], nice=False, padding=44),
        axis=alt.Axis(title=["worse ← 0 → better", unit], tickCount=5),
    )
    several = set(means.comparison[means.columns_compared > 1])
    small = rows[rows.comparison.isin(several)].drop(columns=["caveat", "transcribed_from"])
    small = small.assign(label=small.comparison.map(names), difference=[signed(gain, 3) for gain in small.gain])
    large = _marks(means, unit).assign(label=lambda result: result.comparison.map(names))
    tips = [
        alt.Tooltip("paper:N"),
        alt.Tooltip("table_name:N", title="table"),
        alt.Tooltip("variant:N"),
        alt.Tooltip("baseline:N"),
        alt.Tooltip("column:N"),
        alt.Tooltip("difference:N", title=f"gain, {unit}"),
        alt.Tooltip("tip:N", title="printed"),
        alt.Tooltip("read_in:N", title="read in"),
    ]
    y = labelled_rows(labels)
    base = alt.Chart(large).encode(y=y)
    layers: list[Chart] = [rule(look, x=0)]
    if len(small):
        dots = alt.Chart(small).mark_point(filled=True, size=34, opacity=0.65, color=GREY, yOffset=-9)
        layers.append(dots.encode(x=place, y=y, tooltip=tips))
    kinds = list(dict.fromkeys(large.which))
    legend = alt.Legend(title=None, orient="top", columns=1, symbolOpacity=1) if len(kinds) > 1 else None
    layers.append(
        base.mark_point(filled=True, size=100, opacity=1, shape="diamond", yOffset=6).encode(
            x=place,
            color=alt.Color("which:N", scale=alt.Scale(domain=kinds, range=look.many(2)), legend=legend),
            tooltip=["comparison:N", alt.Tooltip("which:N", title="mean of"), alt.Tooltip("written:N", title=unit)],
        )
    )
    layers += values_beside(base, look, "left", place, dy=6)
    heading = alt.TitleParams(name, fontSize=13, anchor="start")
    return alt.layer(*layers).properties(width=300, height=len(labels) * row_height(labels, 44), title=heading)


def _label(comparison: str, paper: str, read_in: str) -> str:
    """The comparison and, below it, whose it is and what that was read in, kept in one piece."""
    whole = f"{paper}; {read_in}".replace(read_in, read_in.replace(" ", "\u00a0"))
    return f"{wrap_label(comparison, CHARACTERS)}\n{wrap_label(whole, CHARACTERS)}"


def _marks(means: pd.DataFrame, unit: str) -> pd.DataFrame:
    """A row a mark: the mean and, where it is known, the mean without CoLA, each labelled on its outer side."""
    mean = means[["comparison", "gain"]].assign(which=ALL)
    rest = means[["comparison", "gain_without_cola"]].set_axis(["comparison", "gain"], axis=1)
    marks = pd.concat([mean, rest.assign(which=REST).dropna(subset="gain")], ignore_index=True)
    groups = marks.groupby("comparison").gain
    alone = groups.transform("size") == 1
    left = marks.gain.where(alone, marks.gain - groups.transform("mean")) < 0
    return marks.assign(left=left, written=[_written(gain, unit) for gain in marks.gain])


def _written(gain: float, unit: str) -> str:
    return signed(gain, 3 if unit == "nats per token" and abs(gain) < 0.1 else 2)
