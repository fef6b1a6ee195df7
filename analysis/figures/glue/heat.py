"""The differences to a baseline as one map: variants down, tasks across, and a sign on what survives the correction."""

import altair as alt
import pandas as pd

from analysis.core.formatting import signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.glue.panels import DIFFERENCE_TIPS, TIPS, OwnAndPublished, by_task, heading, interval_text, kinds
from analysis.figures.glue.study_rows import PUBLISHED
from analysis.glue_comparison import AVERAGE
from analysis.store.files import IMPORTED

SIGNS = {"different": "*", "equivalent": "="}
"""The sign beside a number, by verdict; a difference that is not resolved has none."""
QUANTILE = 0.95
"""Colours span the differences up to this quantile; those beyond have the colour of the end."""
NUMBERS_FROM = 520
"""Pixels of a panel from which there is room for numbers; below, cells show their signs alone."""
ROW = 30
"""Pixels of a row of the map, at least."""
LABEL = 24
"""Letters in a line of a variant's name."""
REMARKS = ("not learnt", "not GLUE")
"""Remarks that stand beside a task's name; the caption says which were trained on a part of their data."""
SLANT = 5.2
"""Pixels of height that a letter of a slanting name takes."""


def colour_limit(rows: pd.DataFrame, own_tasks: set[str]) -> float:
    """The difference at the ends of the colours. own_tasks: those outside GLUE, which may be of another size."""
    sizes = rows.difference[~rows.task.isin(own_tasks)].abs()
    return max(1.0, float(sizes.quantile(QUANTILE))) if len(sizes) else 1.0


def cells(content: OwnAndPublished, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with what stands in their cells: task heading, number, sign, and intervals in words."""
    headings = {
        task: name + "".join(f" ({remark})" for remark in below.split(", ") if remark in REMARKS)
        for task, group in by_task(content, rows)
        for name, below in [heading(content, task, group)]
    }
    signs = kinds(rows, relative=True).map(SIGNS).fillna("")
    return rows.assign(
        column=rows.task.map(headings),
        sign=signs,
        written=[signed(value, 1) for value in rows.difference],
        text=[f"{signed(value, 1)}{sign}" for value, sign in zip(rows.difference, signs, strict=True)],
        interval=interval_text(rows.difference_low, rows.difference_high),
        over_examples=interval_text(rows.examples_low, rows.examples_high),
    )


def _ordered_titles(rows: pd.DataFrame) -> list[str]:
    """Variants by their average, the highest first; those without one, below, by the mean of their tasks."""
    means = rows.groupby("title").difference.mean()
    averages = rows[rows.task == AVERAGE].set_index("title").difference
    return sorted(means.index, key=lambda title: (title not in averages.index, -averages.get(title, means[title])))


def draw(content: OwnAndPublished, rows: pd.DataFrame, theme: Theme) -> list[Chart]:
    """A map of our own rows and, below it, one of a published table; their columns and colours are the same."""
    limit = colour_limit(rows, set(content.study.tasks) - set(content.study.glue))
    published = rows.verdict == PUBLISHED
    groups = [group for group in (rows[~published], rows[published]) if len(group)]
    return [_map(content, group, limit, theme, keyed=not number) for number, group in enumerate(groups)]


def _map(content: OwnAndPublished, rows: pd.DataFrame, limit: float, theme: Theme, *, keyed: bool) -> Chart:
    """One map. keyed: whether the bar of colours stands under it."""
    columns = [str(group.column.iloc[0]) for _, group in by_task(content, cells(content, rows))]
    labels = marks.wrapped_labels(_ordered_titles(rows), LABEL)
    rows = cells(content, rows).assign(label=rows.title.map(labels))
    used = ["column", "label", "text", "sign", "difference", *(tip if isinstance(tip, str) else tip[0] for tip in TIPS)]
    used += [tip if isinstance(tip, str) else tip[0] for tip in DIFFERENCE_TIPS]
    frame = rows[list(dict.fromkeys([*(name.split(":")[0] for name in used), "note"]))]
    strong = f"abs(datum.difference) > {theme.strong * limit}"
    bar = marks.colour_bar(f"points, minus {content.baseline}", length=150) if keyed else None
    x = marks.columns_across("column", columns)
    # Where columns are narrow, names stand upright, since slanting ones would cover each other.
    x["axis"].labelAngle = alt.expr(f"width < {NUMBERS_FROM} ? -90 : -55")
    x["axis"].labelAlign, x["axis"].labelBaseline = "left", "middle"
    base = alt.Chart(frame).encode(
        x=x,
        y=marks.labelled_rows(list(labels.values()), gap=0),
        tooltip=marks.tips(*TIPS, *DIFFERENCE_TIPS, "note"),
    )
    letters = {"fontSize": marks.TEXT, "fontWeight": alt.expr("datum.sign === '*' ? 'bold' : 'normal'")}
    wide, narrow = (alt.expr(f"width {sign} {NUMBERS_FROM} ? 1 : 0") for sign in (">=", "<"))
    ink = theme.ink_on_cells(strong)
    return marks.panel(
        base.mark_rect(stroke=theme.ground, strokeWidth=2).encode(
            color=alt.Color("difference:Q", scale=theme.around_zero(limit), legend=bar)
        ),
        base.mark_text(**letters, opacity=wide).encode(text="text:N", color=ink),
        base.mark_text(**letters, opacity=narrow).encode(text="sign:N", color=ink),
        theme=theme,
        width=marks.WIDE,
        # On screen the slanting names take their room from the height.
        height=marks.row_height(list(labels.values()), ROW) * len(labels)
        + (round(SLANT * max(map(len, columns))) if theme.screen else 0),
        title=str(rows.source.iloc[0]).replace(f"{IMPORTED}, ", "◆ yours, "),
    )
