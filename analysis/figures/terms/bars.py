"""Drawing of one score, or of one head's measure, as bars of its terms."""

import altair as alt
import pandas as pd

from analysis.core.colours import of_term
from analysis.core.formatting import signed, signed_percent
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.terms.maps import REST
from analysis.figures.terms.measures import TERM, term_label


def draw_bars(rows: pd.DataFrame, kind: str, theme: Theme, decimals: int = 4, *, share: bool = False) -> Chart:
    """One bar a term and one for the total, with its number beside it.

    rows: part and value. kind: names what the values are. decimals: of the numbers beside the bars.
    share: whether the values are parts of a whole, which are written in per cent.
    """
    frame = rows.assign(
        label=rows.part.map(term_label),
        written=[signed_percent(value) if share else signed(value, decimals) for value in rows.value],
        below=rows.value < 0,
    )
    low, high = min(0.0, float(frame.value.min())), max(0.0, float(frame.value.max()))
    # Room for the numbers beside the bars, on a phone too.
    room = 0.5 * ((high - low) or 1.0)
    ends = (low - (room if low < 0 else 0.05 * room), high + room)
    x = marks.number(alt.X, "value", kind, domain=ends, ticks=6, form=".0%" if share else alt.Undefined)
    inks = {"total": theme.ink, REST: theme.faint}
    hues = {part: inks.get(part) or theme.colour(of_term(part)) for part in frame.part}
    base = alt.Chart(frame).encode(y=marks.rows_down("label", frame.label.tolist(), title=TERM, grid=False))
    bars = base.mark_bar(height=marks.BAR).encode(
        x=x, color=marks.hues("part", hues), tooltip=marks.tips(("label", "term"), ("value", "", ".6~g"))
    )
    layers = (bars, *marks.values_beside(base, theme, "below", x), marks.rule(theme, x=0))
    return marks.panel(*layers, theme=theme, width=620, height=marks.ROW * len(frame))
