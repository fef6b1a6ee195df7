"""Tables of heads by terms: their drawing, and the sentences on them."""

import altair as alt
import pandas as pd

from analysis.core.formatting import capitalised, fixed, percent, plural
from analysis.core.term_names import FOUR
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.terms.measured_colours import measured_colours
from analysis.figures.terms.measures import MEASURES, TERM, term_label

LEADS = 2
"""Terms that the sentence on the largest ones names: as many as a reader can keep."""


def leading_terms(table: pd.DataFrame) -> str:
    """A sentence that names the terms that are the largest in the most heads. table: heads by terms.

    Empty where no head is told apart or the model has one term.
    """
    defined = table.dropna()
    if defined.empty or table.shape[1] < 2:
        return ""
    lead = defined.idxmax(axis=1).value_counts()
    labels, rest = [term_label(str(term)) for term in lead.index], lead.iloc[LEADS:].sum()
    parts = [f"{labels[0]} is the largest term in {lead.iloc[0]} of {len(table)} heads"]
    parts += [f"{label} in {count}" for label, count in zip(labels[1:LEADS], lead.iloc[1:LEADS], strict=True)]
    return capitalised(", ".join([*parts, f"others in {rest}"] if rest else parts))


NUMBER = 36
"""Pixels of a column that has room for its numbers."""
FAINT = 0.05
"""A term that is smaller than this in every head has no column."""


def without_negligible(table: pd.DataFrame) -> pd.DataFrame:
    """A table of heads by terms without the terms that are faint in every head; the four always stay."""
    return table[[term for term in table if term in FOUR or table[term].abs().max() >= FAINT]]


def sorted_by_largest(table: pd.DataFrame) -> pd.DataFrame:
    """A table of heads by terms with the heads of one largest term together, in the order of the terms; larger first.

    Heads that are not told apart stand last.
    """
    known = table.dropna()
    place = known.to_numpy().argmax(axis=1)
    largest = pd.DataFrame({"place": place, "size": -known.max(axis=1)}, index=known.index)
    return table.loc[[*largest.sort_values(["place", "size"]).index, *table.index.difference(known.index)]]


def beside_note(table: pd.DataFrame) -> str:
    """A sentence on the terms right of the four, followed by a space; empty where none is drawn."""
    names = [name for name in MEANINGS if any(name in str(term).split("_to_") for term in without_negligible(table))]
    said = " or ".join(f"{name} ({MEANINGS[name]})" for name in names)
    return f"Right of the line stand the terms with {said}. " if said else ""


MEANINGS = {"segment": "which text of a pair a token is of", "bias": "of projections and norms"}
"""The sources besides word and position that a column of the table may have -> their meaning."""


def negligible_note(table: pd.DataFrame) -> str:
    """A sentence on the number of terms that are not drawn, followed by a space; empty if all are drawn."""
    count = table.shape[1] - without_negligible(table).shape[1]
    return f"Not drawn, but in the data: {plural(count, 'term')} below {FAINT:g} in every head. " if count else ""


def draw_heads(table: pd.DataFrame, measure: str, theme: Theme) -> Chart:
    """Heads by terms, in the table's order, the number in every cell."""
    label = MEASURES[measure]
    color, ink = measured_colours(table.to_numpy(), measure, label, theme)
    frame = table.reset_index().melt("head", var_name="term", value_name="value")
    write = percent if measure == "share" else fixed
    frame = frame.assign(
        label=frame.term.map(term_label), written=["–" if value != value else write(value) for value in frame.value]
    )
    x = marks.columns_across("label", [term_label(term) for term in table.columns], level=True)
    base = alt.Chart(frame).encode(
        x=x,
        y=marks.categories(alt.Y, "head", "head", list(table.index)),
        tooltip=marks.tips("head", ("label", TERM), ("value", label, ".4f")),
    )
    # In narrower columns the numbers would run into one another; tooltips and the data table still give them.
    room_for_numbers = alt.expr(f"width < {NUMBER * table.shape[1]} ? 0 : 1")
    numbers = base.mark_text(fontSize=marks.TEXT, opacity=room_for_numbers)
    # The last name slants beyond the columns: unseen letters keep its room.
    last = term_label(str(table.columns[-1]))
    room = alt.Chart(frame.head(1)).mark_text(text=last[: len(last) // 2], align="left", opacity=0)
    layers = (
        base.mark_rect().encode(color=color),
        numbers.encode(text=alt.Text("written:N"), color=ink),
        room.encode(x=alt.value("width"), y=alt.value(0)),
    )
    four = alt.Chart(frame[frame.term == FOUR[-1]]).mark_rule(color=theme.ink, strokeWidth=1.5)
    end = x.copy()
    end["bandPosition"] = 1
    # On screen the slanted names take their room from the height given, which few heads have none to spare of.
    names_height = 60 if theme.screen and len(table) < 8 else 0
    height = 26 * len(table) + names_height
    return marks.panel(*layers, four.encode(x=end), theme=theme, width=marks.WIDE, height=height)
