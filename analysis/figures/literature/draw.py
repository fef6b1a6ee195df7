"""Drawing of published results, one panel per question."""

import altair as alt
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import signed
from analysis.figures import Figure, marks
from analysis.figures.drawing import GREY, Chart, Theme, drawing
from analysis.figures.literature.data import LiteratureContent

LABEL_WIDTH = 33
ALL_COLUMNS, WITHOUT_COLA = "mean of the columns", "mean without CoLA"
COLUMN_OFFSET, MEAN_OFFSET = -9, 6
"""Pixels from the middle of a row at which columns and means stand."""


@drawing("published_literature", columns=2)
def literature(figure: Figure[LiteratureContent], theme: Theme) -> list[Chart]:
    """Comparisons down; small marks are columns, large ones their mean. Panels of one unit share their axis."""
    content = figure.content
    rows, means = content.rows, content.means
    extents = {
        str(unit): (min(0.0, float(group.gain.min())), max(0.0, float(group.gain.max())))
        for unit, group in rows.groupby("unit")
    }
    return [
        _panel(name, rows[rows.panel == name], means[means.panel == name], extents, theme) for name in content.panels
    ]


def _panel(
    name: str, rows: pd.DataFrame, means: pd.DataFrame, extents: dict[str, tuple[float, float]], theme: Theme
) -> Chart:
    unit = str(means.unit.iloc[0])
    wrapped = {row.comparison: _label(row.comparison, row.paper, row.read_in) for row in frames.rows(means)}
    leveled = marks.level_labels(list(wrapped.values()))
    names = {comparison: leveled[text] for comparison, text in wrapped.items()}
    labels = list(names.values())
    x = marks.number(alt.X, "gain", ["worse ← 0 → better", unit], domain=extents[unit], padding=44, ticks=5)
    multiple = set(means.comparison[means.columns_compared > 1])
    singles = rows[rows.comparison.isin(multiple)].drop(columns=["caveat", "transcribed_from"])
    singles = singles.assign(label=singles.comparison.map(names), difference=[signed(gain, 3) for gain in singles.gain])
    diamonds = _marks(means, unit).assign(label=lambda result: result.comparison.map(names))
    y = marks.labelled_rows(labels)
    layers: list[Chart] = [marks.rule(theme, x=0)]
    if len(singles):
        layers += marks.row_plot(
            singles, x=x, y=y, theme=theme, ends=None, color=GREY, size=marks.SEED, opacity=0.65, below=COLUMN_OFFSET,
            tooltip=(
                "paper", ("table_name", "table"), "variant", "baseline", "column", ("difference", f"gain, {unit}"),
                ("tip", "printed"), "read_in",
            ),
        )  # fmt: skip
    kinds = list(dict.fromkeys(diamonds.which))
    key = marks.legend(place="top") if len(kinds) > 1 else None
    layers += marks.row_plot(
        diamonds, x=x, y=y, theme=theme, ends=None, shape="diamond", size=marks.LARGE_DOT, below=MEAN_OFFSET,
        color=marks.series("which", kinds, theme, key),
        tooltip=("comparison", ("which", "mean of"), ("written", unit)),
    )  # fmt: skip
    layers += marks.values_beside(alt.Chart(diamonds).encode(y=y), theme, "left", x, dy=MEAN_OFFSET)
    height = len(labels) * marks.row_height(labels, 44)
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=height, title=name)


def _label(comparison: str, paper: str, read_in: str) -> str:
    """The comparison and, below it, its paper and the kind of text it was read in, which is kept on one line."""
    source = f"{paper}; {read_in}".replace(read_in, read_in.replace(" ", "\u00a0"))
    return f"{marks.wrap_label(comparison, LABEL_WIDTH)}\n{marks.wrap_label(source, LABEL_WIDTH)}"


def _marks(means: pd.DataFrame, unit: str) -> pd.DataFrame:
    """A row a mark: the mean and, where it is known, the mean without CoLA, each labelled on its outer side."""
    mean = means[["comparison", "gain"]].assign(which=ALL_COLUMNS)
    without_cola = means[["comparison", "gain_without_cola"]].set_axis(["comparison", "gain"], axis=1)
    dots = pd.concat([mean, without_cola.assign(which=WITHOUT_COLA).dropna(subset="gain")], ignore_index=True)
    groups = dots.groupby("comparison").gain
    single = groups.transform("size") == 1
    left = dots.gain.where(single, dots.gain - groups.transform("mean")) < 0
    return dots.assign(left=left, written=[_written(gain, unit) for gain in dots.gain])


def _written(gain: float, unit: str) -> str:
    return signed(gain, 3 if unit == "nats per token" and abs(gain) < 0.1 else 2)
