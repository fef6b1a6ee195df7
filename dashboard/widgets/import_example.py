"""The picture of what comes out of the template for scores, beside the template on the page Bring your own."""

import io

import altair as alt
import pandas as pd

from analysis.core import colours
from analysis.core.formatting import plural
from analysis.figures import marks
from analysis.figures.drawing import Chart
from analysis.figures.experiments.board_rows import BASELINE
from analysis.statistics import difference
from dashboard.widgets import show


def chart(template: str) -> Chart:
    """The template's variants as Experiments would draw them: a dot a seed, their means, and the difference."""
    rows = pd.read_csv(io.StringIO(template)).assign(value=lambda rows: 100 * rows.value)
    means = rows.groupby("variant", sort=False).value.mean()
    own = next(name for name in means.index if name != BASELINE)
    names = {BASELINE: f"{BASELINE} (yours, the baseline)", own: f"{own} (yours)"}
    points = means[own] - means[BASELINE]
    task = f"{rows.task.iloc[0].upper()}, {rows.metric.iloc[0]} (%)"
    rows, theme = rows.assign(label=rows.variant.map(names)), show.theme()
    x = marks.number(alt.X, "value", task, form="d", ticks=4, domain=(rows.value.min() - 1, rows.value.max() + 1))
    y = marks.rows_down("label", [*names.values()], grid=False)
    of_means = pd.DataFrame({"label": [names[name] for name in means.index], "value": means.to_numpy()})
    few = plural(int(rows.groupby("variant").seed.nunique().min()), "seed")
    gap = difference(*(rows[rows.variant == name].set_index("seed").value.to_dict() for name in (own, BASELINE)))
    undecided = "" if gap.low > 0 or gap.high < 0 else f" (open: {few})"
    return marks.panel(
        *marks.row_plot(rows, x=x, y=y, theme=theme, ends=None, size=marks.SEED, color=theme.colour(colours.SOFT)),
        *marks.row_plot(of_means, x=x, y=y, theme=theme, ends=None, size=marks.LARGE_DOT, color=theme.ink),
        theme=theme,
        width=marks.HALF,
        height=260,
        title=f"{own}: {abs(points):.1f} points {'below' if points < 0 else 'above'} {BASELINE}{undecided}",
        below=[f"large: mean; small: {few} each"],
    )
