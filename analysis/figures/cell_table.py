"""A table of numbers as a picture: names down, columns across, a number in each cell, on a colour that says its size.

Cells from which nothing follows are grey. Numbers stand in the cells at every width: upright where columns are narrow.
"""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme

ROW, TALL = 30, 40
"""Pixels of a row, at least; and of one in which numbers may stand upright."""
FEW = 6
"""Columns in which numbers lie flat on a phone, too."""
LABEL, HEADING = 24, 13
"""Letters in a line of a name; and of a column's."""


def cell_table(
    cells: pd.DataFrame,
    *,
    columns: Sequence[str],
    titles: Sequence[str],
    value: str,
    scale: alt.Scale,
    key: alt.Legend | None,
    strong: str,
    framed: str = "",
    tooltip: Sequence[marks.Tip],
    theme: Theme,
    heading: str = "",
    below: Sequence[str] = (),
    number: int = marks.NARROW,
) -> Chart:
    """One table. cells: `title`, `column`, `text`, `open` and `bold` of each, its value, and what the tooltip reads.

    columns, titles: from left to right and from top to bottom. value: the column that has the colours of a scale, with
    its key, if it is drawn here. strong: Vega's test of a cell whose digits take the ground's colour. framed: the
    column of truth values that says which cells have a frame; empty for none. Cells that are `open` are grey, and keep
    the ink. A text may have several lines. below: lines under the heading. number: the pixels of the widest number; in
    narrower columns numbers stand upright.
    """
    labels = marks.wrapped_labels(list(titles), LABEL)
    used = [(tip if isinstance(tip, str) else tip[0]).split(":")[0] for tip in tooltip]
    used += ["column", "label", "text", "open", "bold", value, *filter(None, [framed])]
    broken = {name: marks.wrap_label(name, HEADING) for name in columns}
    frame = cells.assign(label=cells.title.map(labels), column=cells.column.map(broken))
    frame = frame[list(dict.fromkeys(used))]
    count = len(columns)
    base = alt.Chart(frame).encode(
        x=marks.columns_across("column", list(broken.values()), level=True),
        y=marks.labelled_rows(list(labels.values()), gap=0),
        tooltip=marks.tips(*tooltip),
    )
    text = base.mark_text(
        fontSize=marks.TEXT,
        fontWeight=alt.expr("datum.bold ? 'bold' : 'normal'"),
        baseline="middle",
        lineBreak="\n",
        lineHeight=marks.LABEL_LINE,
        # The middle is that of the first line.
        dy=alt.expr(f"{-marks.LABEL_LINE / 2} * (length(split(datum.text, '\\n')) - 1)"),
        angle=alt.expr(f"width > 0 && width / {count} < {number} ? 270 : 0"),
    )
    row = TALL if theme.screen and count > FEW and number == marks.NARROW else ROW
    row = max(row, ROW + marks.LABEL_LINE * int(cells.text.str.count("\n").max()))
    return marks.panel(
        base.mark_rect(stroke=theme.ground, strokeWidth=2).encode(
            color=alt.condition("datum.open", alt.value(theme.grid), alt.Color(f"{value}:Q", scale=scale, legend=key))
        ),
        base.transform_filter(f"datum.{framed}" if framed else "false").mark_rect(
            fillOpacity=0, stroke=theme.faint, strokeWidth=1.5
        ),
        text.encode(text="text:N", color=theme.ink_on_cells(f"!datum.open && ({strong})")),
        theme=theme,
        width=marks.WIDE,
        # On screen the names of columns take their room from the height.
        height=marks.row_height(list(labels.values()), row) * len(labels)
        + (marks.slant_height(columns) if theme.screen else 0),
        title=heading,
        below=below,
    )
