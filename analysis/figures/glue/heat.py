"""Maps of scores: variants down, tasks across, a number in every cell; differences to a baseline, or the scores."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from analysis.core.formatting import signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme, colour_scale
from analysis.figures.glue.panels import (
    DIFFERENCE_TIPS,
    SCORE_TIPS,
    TIPS,
    OwnAndPublished,
    by_task,
    heading,
    interval_text,
    kinds,
)
from analysis.figures.glue.study_rows import PUBLISHED
from analysis.glue_comparison import AVERAGE
from analysis.store.files import IMPORTED

SIGNS = {"different": "*", "equivalent": "="}
"""The sign beside a number, by verdict; a difference that is not resolved has none."""
OPEN = ("not resolved", "no interval")
"""Kinds of differences that have no colour: nothing follows from them."""
QUANTILE = 0.95
"""Colours span the differences up to this quantile; those beyond have the colour of the end."""
NARROW, LETTER = 40, 7
"""Pixels of a column in which a number stands upright, and those that a letter of a heading takes."""
ROW, TALL = 30, 40
"""Pixels of a row, at least; and of one in which numbers may stand upright."""
FEW = 6
"""Columns in which numbers lie flat on a phone, too."""
LABEL = 24
"""Letters in a line of a variant's name."""
REMARKS = ("not learnt", "not GLUE")
"""Remarks that stand beside a task's name; the caption says which were trained on a part of their data."""
SLANT = 5.2
"""Pixels of height that a letter of a slanting name takes."""
MAJORITY = "Majority class"
PALE = 3
"""Stops of the scale that scores take, on which the ink is read everywhere."""
HIGHEST = 100.0
"""The score at the end of the colours, in points."""


def colour_limit(rows: pd.DataFrame, own_tasks: set[str]) -> float:
    """The difference at the ends of the colours. own_tasks: those outside GLUE, which may be of another size."""
    sizes = rows.difference[~rows.task.isin(own_tasks)].abs()
    return max(1.0, float(sizes.quantile(QUANTILE))) if len(sizes) else 1.0


def differences(content: OwnAndPublished, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with what stands in their cells: task heading, number, sign, and intervals in words."""
    found = kinds(rows, relative=True)
    signs = found.map(SIGNS).fillna("")
    return rows.assign(
        column=rows.task.map(_headings(content, rows)),
        sign=signs,
        open=found.isin(OPEN),
        written=[signed(value, 1) for value in rows.difference],
        text=[f"{signed(value, 1)}{sign}" for value, sign in zip(rows.difference, signs, strict=True)],
        interval=interval_text(rows.difference_low, rows.difference_high),
        over_examples=interval_text(rows.examples_low, rows.examples_high),
    )


def scores(content: OwnAndPublished, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with what stands in their cells; below ours, those of the most frequent answer, where it is known."""
    found = rows[rows.value.notna()].assign(open=False)
    known = found[found.majority.notna()].drop_duplicates("task")
    level = known[["task", "task_title", "source", "majority"]].rename(columns={"majority": "value"})
    found = pd.concat([found, level.assign(title=MAJORITY, variant=MAJORITY, open=True)], ignore_index=True)
    return found.assign(
        column=found.task.map(_headings(content, rows)),
        sign="",
        written=[f"{value:.2f}" for value in found.value],
        text=[f"{value:.1f}" for value in found.value],
        interval=interval_text(found.low, found.high, relative=False),
        over_examples="",
    )


def _headings(content: OwnAndPublished, rows: pd.DataFrame) -> dict[str, str]:
    """Task -> its heading, with its remarks."""
    return {
        task: name + "".join(f" ({remark})" for remark in below.split(", ") if remark in REMARKS)
        for task, group in by_task(content, rows)
        for name, below in [heading(content, task, group)]
    }


def _ordered_titles(rows: pd.DataFrame, column: str) -> list[str]:
    """Variants by their average, the highest first; those without one, below, by the mean of their tasks."""
    means = rows.groupby("title")[column].mean()
    averages = rows[rows.task == AVERAGE].set_index("title")[column].dropna()
    return sorted(means.index, key=lambda title: (title not in averages.index, -averages.get(title, means[title])))


def _sides(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Our rows and those of a published table, as far as there are any."""
    published = rows.verdict == PUBLISHED
    return [group for group in (rows[~published], rows[published]) if len(group)]


def draw_differences(content: OwnAndPublished, rows: pd.DataFrame, theme: Theme) -> list[Chart]:
    """A map of our own rows and, below it, one of a published table; their colours are the same."""
    limit = colour_limit(rows, set(content.study.tasks) - set(content.study.glue))
    key = marks.colour_bar([f"points, minus {content.baseline}", "grey: not resolved"], length=150)
    panels = []
    for group in _sides(rows):
        colour = alt.Color("difference:Q", scale=theme.gains(limit), legend=None if panels else key)
        strong = f"!datum.open && abs(datum.difference) > {theme.strong * limit}"
        cells, tooltip = differences(content, group), (*TIPS, *DIFFERENCE_TIPS, "note")
        panels.append(
            _map(
                cells,
                _columns(content, group, cells),
                _ordered_titles(group, "difference"),
                colour,
                strong,
                tooltip,
                theme,
            )
        )
    return panels


def draw_scores(content: OwnAndPublished, rows: pd.DataFrame, theme: Theme) -> list[Chart]:
    """A map of our own scores, with those of the most frequent answer last, and one of a published table."""
    key = marks.colour_bar(["points", "grey: the most frequent answer"], length=150)
    panels = []
    for group in _sides(rows):
        colour = alt.Color(
            "value:Q", scale=colour_scale(theme.sequential[:PALE], (0.0, HIGHEST)), legend=None if panels else key
        )
        cells, tooltip = scores(content, group), (*TIPS, *SCORE_TIPS, "note")
        titles = _ordered_titles(cells[~cells.open], "value") + ([MAJORITY] if cells.open.any() else [])
        panels.append(_map(cells, _columns(content, group, cells), titles, colour, "false", tooltip, theme))
    return panels


def _columns(content: OwnAndPublished, rows: pd.DataFrame, cells: pd.DataFrame) -> list[str]:
    """The headings of the cells, the average first."""
    headings = _headings(content, rows)
    return [headings[task] for task, _ in by_task(content, rows) if headings[task] in set(cells.column)]


def _map(
    cells: pd.DataFrame,
    columns: Sequence[str],
    titles: Sequence[str],
    colour: alt.Color,
    strong: str,
    tooltip: Sequence[marks.Tip],
    theme: Theme,
) -> Chart:
    """One map. strong: the test of a cell whose digits take the ground's colour; cells that are `open` are grey."""
    labels = marks.wrapped_labels(list(titles), LABEL)
    used = [(tip if isinstance(tip, str) else tip[0]).split(":")[0] for tip in tooltip]
    used += ["column", "label", "text", "sign", "open", "difference", "value"]
    frame = cells.assign(label=cells.title.map(labels))[list(dict.fromkeys(used))]
    x, count = marks.columns_across("column", columns), len(columns)
    # Names lie flat where they have room; where columns are narrow they stand, since slanting ones would overlap.
    longest = max(map(len, columns))
    flat, narrow = f"width / {count} > {LETTER * longest}", f"width / {count} < {NARROW}"
    x["axis"].labelAngle = alt.expr(f"{flat} ? 0 : {narrow} ? -90 : -55")
    x["axis"].labelAlign = alt.expr(f"{flat} ? 'center' : 'left'")
    x["axis"].labelBaseline = alt.expr(f"{flat} ? 'bottom' : 'middle'")
    base = alt.Chart(frame).encode(
        x=x, y=marks.labelled_rows(list(labels.values()), gap=0), tooltip=marks.tips(*tooltip)
    )
    text = base.mark_text(
        fontSize=marks.TEXT,
        fontWeight=alt.expr("datum.sign === '*' ? 'bold' : 'normal'"),
        baseline="middle",
        angle=alt.expr(f"width > 0 && {narrow} ? 270 : 0"),
    )
    row = TALL if theme.screen and count > FEW else ROW
    return marks.panel(
        base.mark_rect(stroke=theme.ground, strokeWidth=2).encode(
            color=alt.condition("datum.open", alt.value(theme.grid), colour)
        ),
        text.encode(text="text:N", color=theme.ink_on_cells(strong)),
        theme=theme,
        width=marks.WIDE,
        # On screen the slanting names take their room from the height.
        height=marks.row_height(list(labels.values()), row) * len(labels)
        + (round(SLANT * longest) if theme.screen else 0),
        title=side_title(str(cells.source.iloc[0])),
    )


def side_title(source: str) -> str:
    """The name of our own or imported rows above their map; that of a published table as it is."""
    return source.replace(f"{IMPORTED}, ", "◆ imported, ").replace("own, preset", "Our own models, preset")
