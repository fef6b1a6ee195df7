"""The picture of what an import would add, as Experiments would draw it: the template, or a reader's own files."""

import io

import altair as alt
import pandas as pd

from analysis.core import colours
from analysis.core.formatting import plural, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart
from analysis.figures.experiments.board_rows import BASELINE
from analysis.imports.plan import Plan
from analysis.statistics import difference
from dashboard.widgets import show

MOST_VARIANTS = 8
"""The variants that are drawn beside the baseline; a file with more of them shows the first ones."""
LETTERS = 24
"""Letters in a line of a variant's name."""
LOSS = "validation_loss"


def of_template(template: str) -> Chart:
    """The template for scores, a CSV, as a picture."""
    return _scores(pd.read_csv(io.StringIO(template)))


def of_plan(plan: Plan) -> Chart | None:
    """The scores on the first task, or the last losses, of what would be added.

    None without runs of the baseline and of another variant, and where a seed has several scores, since only the
    stored results say which of them counts.
    """
    losses = _of_kind(plan, "curves")
    if not losses.empty:
        last = losses[losses.metric == LOSS].sort_values("step").groupby(["preset", "variant", "seed"]).tail(1)
        if (first := _first_compared(last, ["preset"])) is not None:
            return _losses(first)
    scores = _of_kind(plan, "scores")
    first = None if scores.empty else _first_compared(scores, ["preset", "task", "metric"])
    return None if first is None else _scores(first)


def _of_kind(plan: Plan, kind: str) -> pd.DataFrame:
    return pd.DataFrame([row for run in plan.runs if run.kind == kind for row in run.rows])


def _first_compared(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame | None:
    """The first group by these columns with one row a seed of the baseline and of another variant."""
    for _, group in rows.groupby(keys, sort=False):
        names = set(group.variant)
        if BASELINE in names and len(names) > 1 and not group.duplicated(["variant", "seed"]).any():
            return group
    return None


def _scores(rows: pd.DataFrame) -> Chart:
    """Scores of one task, which are fractions, in per cent."""
    task = f"{rows.task.iloc[0].upper()}, {rows.metric.iloc[0]} (%)"
    return _chart(rows.assign(value=100 * rows.value), task, "points", 1)


def _losses(rows: pd.DataFrame) -> Chart:
    """The last validation loss of each run."""
    return _chart(rows, "last validation loss (lower is better)", "", 2)


def _chart(rows: pd.DataFrame, axis: str, unit: str, decimals: int) -> Chart:
    """A row a variant: a dot a seed, their mean, and the difference from the baseline, paired by seed."""
    theme = show.theme()
    others = [name for name in dict.fromkeys(rows.variant) if name != BASELINE][:MOST_VARIANTS]
    rows = rows[rows.variant.isin([BASELINE, *others])]
    by_seed = {name: group.set_index("seed").value.to_dict() for name, group in rows.groupby("variant")}
    gaps = {name: difference(by_seed[name], by_seed[BASELINE]) for name in others}
    written = {BASELINE: "baseline"} | {
        name: f"{signed(gap.mean, decimals)} {unit}".rstrip()
        + ("\ndifferent" if gap.low > 0 or gap.high < 0 else "\nopen")
        for name, gap in gaps.items()
        if gap.n
    }
    labels = marks.wrapped_labels([BASELINE, *others], LETTERS)
    rows = rows.assign(label=rows.variant.map(labels))
    room = 0.1 * float(rows.value.max() - rows.value.min()) or 1.0
    x = marks.number(alt.X, "value", axis, ticks=4, domain=(rows.value.min() - room, rows.value.max() + room))
    y = marks.labelled_rows([*labels.values()])
    of_means = rows.groupby("label", sort=False).value.mean().reset_index()
    texts = pd.DataFrame({"label": [labels[name] for name in written], "written": [*written.values()]})
    seeds = plural(int(rows.groupby("variant").seed.nunique().min()), "seed")
    return marks.panel(
        *marks.row_plot(rows, x=x, y=y, theme=theme, ends=None, size=marks.SEED, color=theme.colour(colours.SOFT)),
        *marks.row_plot(of_means, x=x, y=y, theme=theme, ends=None, size=marks.LARGE_DOT, color=theme.ink),
        marks.texts_beside(texts, y, theme),
        theme=theme,
        width=marks.HALF,
        height=60 * len(labels),
        title="Yours, against your baseline",
        below=[f"large: mean; small: one seed, {seeds} or more each"],
    )
