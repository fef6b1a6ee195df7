"""The scalar measures of all encodings side by side, at the setting that the view Distances compares rows at.

Three of them are drawn as dots; the others stand in a table.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from analysis.core import colours, default_model
from analysis.core.formatting import percent, sentences
from analysis.encodings import ENCODINGS, measures
from analysis.figures import marks
from analysis.figures.cell_table import cell_table
from analysis.figures.drawing import Chart, Theme
from analysis.figures.encodings.compared_rows import (
    VISIBLE,
    RowSimilarityParameters,
    compare_rows,
    setting,
    which_similarity,
)
from analysis.figures.encodings.movement import MOST
from analysis.figures.encodings.shift import ShiftResult, shift_result
from analysis.figures.encodings.sized import SizedEncoding, citation_keys, export_command, origins, sized, untrained
from analysis.figures.figure import Figure, figure

GROUPS = ("added", "rotates", "untied", "biases scores", "absent")
DRAWN = {
    "translation_invariance": "Distance alone decides",
    "monotonicity": "Nearer is more alike",
    "shift_r2": "A shift is one matrix",
}
"""The measures that are drawn, from left to right -> their headings. Of each, 1 is the most there can be."""
ENDS = {
    "translation_invariance": ("0 no part", "1 all"),
    "monotonicity": ("0 never", "1 always"),
    "shift_r2": ("0 no", "1 exactly"),
}
"""The words at the ends of the axis of each drawn measure."""
CHANCE = {"translation_invariance": 0.0, "monotonicity": 0.5, "shift_r2": 0.0}
"""The value of each drawn measure where nothing connects positions that are near."""
HEADINGS = {
    "visible_rise": "Rises again, tokens",
    "cosine_next": "Neighbours alike, cosine",
    "moving_share": "Columns that vary",
    "top_half_share": "Variance in half of them",
    "frequency_mean": "Cycles a token",
}
"""The columns of the table, from left to right -> their headings."""
SAYS = {
    "translation_invariance": "the part of how alike positions are that their distance alone decides",
    "monotonicity": "how often, of two keys, the nearer is the more alike",
    "shift_r2": "how well one matrix, fitted on some positions, finds the one so far further on from others (R²)",
    "visible_rise": f"the distance from which likeness climbs again by {percent(VISIBLE)} of its height",
    "cosine_next": "how alike two neighbours are; at 1 they could not be told apart",
    "moving_share": f"the part of the columns that hold {percent(MOST)} of what varies over all positions",
    "top_half_share": "the part of all variance that the more variable half of the columns holds",
    "frequency_mean": "how often an average column swings up and down per token",
}
"""The meaning of each measure in plain words."""
PITCH = 1.8
"""From the beginning of one column of dots to that of the next, where a column is 1 wide."""
COLUMN_TITLE, FITTING = 12, 540
"""Letters in a line of a column's heading, and the pixels of a plot from which it stands in one line."""
FIXED, RANDOM = "Computed or trained", "Random here: a model trains them"
"""The groups of rows: encodings whose values are what a model uses, and those that are random until a model trains."""
SHORT = 15
"""Pixels of a number such as .71."""
LABEL = 16
"""Letters in a line of a name."""


class DescribedMeasure(NamedTuple):
    """A number that describes an encoding. short: its meaning in a few words. definition: the exact one.

    top: the largest value that it can take; None if there is none.
    """

    title: str
    short: str
    unit: str
    definition: str
    top: float | None = 1.0


MEASURES = {
    "moving_share": DescribedMeasure(
        "Varying columns",
        f"those with {percent(MOST)} of the variance",
        "share of columns",
        f"The smallest share of the columns that together hold {percent(MOST)} of the variance over the rows.",
    ),
    "top_half_share": DescribedMeasure(
        "Variance in the top half",
        "held by the more variable half",
        "share of variance",
        "The share of all variance over the rows that the more variable half of the columns holds.",
    ),
    "frequency_mean": DescribedMeasure(
        "Mean frequency",
        "mean over the columns that vary",
        "cycles per token",
        "The mean frequency of the power spectrum over the rows, each column that varies counting the same.",
        0.5,
    ),
    "translation_invariance": DescribedMeasure(
        "Translation invariance",
        "accounted for by distance alone",
        "share of variance",
        "The share of the similarity's variance, over all pairs of different positions, that the signed distance "
        "accounts for. 1 if it depends on the distance alone; by chance about 2 / length.",
    ),
    "monotonicity": DescribedMeasure(
        "Monotonicity",
        "the nearer key is more similar",
        "probability",
        "The probability that, of two keys on the same side of a query, the nearer is the more similar; ties count "
        "half. 0.5 by chance. At most 128 evenly spaced queries.",
    ),
    "symmetry": DescribedMeasure(
        "Symmetry",
        "in the symmetric part",
        "share of variance",
        "The share of the similarity's variance, over all pairs of different positions, in its symmetric part. 1 if "
        "order does not matter, as for every product of a table with itself; 0.5 by chance.",
    ),
    "visible_rise": DescribedMeasure(
        "Rise",
        f"where similarity climbs again by {percent(VISIBLE)}",
        "distance (tokens)",
        "The first distance from which the mean similarity, over both sides, climbs without falling by "
        f"{percent(VISIBLE)} of its height.",
        None,
    ),
    "cosine_next": DescribedMeasure(
        "Cosine of neighbours",
        "mean over adjacent positions",
        "cosine similarity",
        "The mean cosine similarity of the rows of adjacent positions. Undefined where rows are distances.",
    ),
    "shift_r2": DescribedMeasure(
        "Shift is linear",
        "held out, best single linear map",
        "R²",
        "R squared, on positions held out, of the best single linear map from a row to the shifted one; 1 where there "
        "is a closed form. Undefined where rows are distances.",
    ),
}


def in_words(name: str, value: float) -> str:
    """A measure's value in words."""
    if np.isnan(value):
        return "undefined"
    if np.isinf(value):
        return "never"
    if name == "visible_rise":
        return f"{value:.0f} {'token' if value == 1 else 'tokens'}"
    return f"{round(value, 2) + 0.0:.2f}"


class MeasuresParameters(RowSimilarityParameters):
    """The two encodings that are marked, and the setting at which all of them are compared."""

    shift: int


TITLE = (
    "The further right an encoding's dots stand, the easier attention reads distances off it; losses need not follow"
)


@figure("encoding_measures", MeasuresParameters)
def scalar_measures(params: MeasuresParameters) -> Figure:
    """Every registered encoding by every scalar measure; three of them are drawn."""
    entries, table = _measured(params)
    seen = _drawn_rows(table, params)
    return Figure(
        **_shared("encoding_measures", params, entries, table, seen, DRAWN),
        title=TITLE,
        finding=_invariant(table, setting(params)),
        caption=sentences(
            f"{seen.encoding.nunique()} of {len(ENCODINGS)} encodings: those whose tables are "
            "computed or trained, and those picked. Such measures foretell no loss; losses stand under Methods.",
            "A grey stroke marks chance; a dash (–) says that nothing can be measured, since the encoding has no row "
            "for each position, or the same row for all. At the right, products of two positions' rows tell their "
            "distance; a model can learn to use an encoding that lies at the left.",
            " ".join(f"{heading}: {SAYS[name]}." for name, heading in DRAWN.items()),
            f"The shift is by {params.shift}. The view Distances has the same numbers at the same setting.",
            "Bold and in black: the encodings that are picked. Encodings that a model has yet to train are drawn where "
            "they are picked; the table below has all.",
            which_similarity(params),
            *_about(entries, DRAWN),
        ),
        draw=lambda theme: [_dots(table, (params.encoding, params.other), params.shift, theme)],
    )


@figure("encoding_other_measures", MeasuresParameters)
def other_measures(params: MeasuresParameters) -> Figure:
    """The measures of every encoding that are not drawn, in a table."""
    entries, table = _measured(params)
    table = table[table.measure.isin(list(HEADINGS))]
    return Figure(
        **_shared("encoding_other_measures", params, entries, table, table, HEADINGS),
        title="The other measures of all encodings",
        finding=_rising(table, setting(params)),
        caption=sentences(
            "The same encodings at the same setting; tinted: those that are picked. They foretell no loss of a trained "
            "model.",
            " ".join(f"{heading}: {SAYS[name]}." for name, heading in HEADINGS.items()),
            which_similarity(params),
            *_about(entries, HEADINGS),
            "A dash stands where a measure is undefined, or where what it measures never happens; the rise is counted "
            "in tokens.",
        ),
        draw=lambda theme: [_cells(table, (params.encoding, params.other), theme)],
    )


def _shared(
    name: str,
    params: MeasuresParameters,
    entries: list[SizedEncoding],
    table: pd.DataFrame,
    seen: pd.DataFrame,
    headings: Mapping[str, str],
) -> dict[str, Any]:
    """The fields of a figure of these measures that follow from its table. seen: the rows that stand in the picture."""
    return {
        "frame": lambda: table.loc[:, COLUMNS].reset_index(drop=True),
        "alt": f"{seen.encoding.nunique()} encodings by each measure, {setting(params)}. {_alt(seen, headings)}",
        "command": export_command(name, params, "compare", "shift"),
        "provenance": origins(entries),
        "citation_keys": citation_keys(entries, "wang2021position"),
    }


COLUMNS = ["encoding", "title", "length", "dim", "measure", "value"]


def _measured(params: MeasuresParameters) -> tuple[list[SizedEncoding], pd.DataFrame]:
    """Every encoding that can be made here with its measures, in the order in which encodings are shown.

    Raises what comparing raises where the setting is none.
    """
    names = sorted(ENCODINGS, key=lambda name: (GROUPS.index(ENCODINGS[name].enters), ENCODINGS[name].title))
    installed = [name for name in names if name != "learned" or default_model.is_installed()]
    entries = [sized(name, params.length, params.dim) for name in installed]
    values = {entry.name: _values(entry, params.compare, params.shift) for entry in entries}
    table = pd.DataFrame(
        [
            {"encoding": entry.name, "title": entry.title, "length": entry.length, "dim": entry.dim,
             "measure": measure, "value": value, "untrained": entry.name in untrained()}
            for entry in entries
            for measure, value in values[entry.name].items()
        ]
    )  # fmt: skip
    return entries, table


def _values(entry: SizedEncoding, compare: str, shift: int) -> dict[str, float]:
    """The measures of one encoding by name; NaN where one is undefined, or the length too short for it."""
    moved, spectral = measures.movement(entry.table()), measures.spectrum(entry.table())
    shifted = shift_result(entry, shift) if shift <= entry.length - 2 * measures.FOLDS else ShiftResult()
    positions = entry.encoding.rows == "position"
    return {
        **compare_rows(entry, compare).numbers,
        "shift_r2": shifted.r2 if shifted.matrix is None else 1.0,
        "cosine_next": float(measures.cosine(entry.table()).diagonal(1).mean()) if positions else np.nan,
        "moving_share": moved.columns_with(MOST) / entry.dim,
        "top_half_share": moved.top_share((entry.dim + 1) // 2),
        "frequency_mean": float(spectral.frequency @ spectral.mean()),
    }


def _about(entries: Sequence[SizedEncoding], shown: Mapping[str, str]) -> list[str]:
    """Sentences of both figures on the measures that they show and on the tables that were measured."""
    random = [ENCODINGS[name].title for name in untrained()]
    names = {entry.name for entry in entries}
    missing = [encoding.title for name, encoding in ENCODINGS.items() if name not in names]
    other_sizes = [f"{entry.title} {entry.size}" for entry in entries if entry.adapted]
    return [
        " ".join(f"{MEASURES[name].title}: {MEASURES[name].definition}" for name in shown),
        f"Rows stand by {next(iter(MEASURES[name].title for name in DRAWN)).lower()}, and those that are random last.",
        f"Measured at another size: {'; '.join(other_sizes)}." if other_sizes else "",
        f"{', '.join(random)}: learned in a model, here random at initialisation (seed 0); once trained they would "
        "have other numbers, so the headings do not count them."
        if random
        else "",
        f"Left out, because its model is not installed: {', '.join(missing)}." if missing else "",
        "Exact for the tables shown; one seed where values are random.",
    ]


def _invariant(table: pd.DataFrame, condition: str) -> str:
    """A sentence on the number of encodings that compare positions by distance alone."""
    known = _known(table[~table.untrained], "translation_invariance")
    invariant = int((known.value.round(2) == 1).sum())
    return f"Distance alone decides how alike two positions are in {_of_all(invariant, known, table, condition)}"


def _rising(table: pd.DataFrame, condition: str) -> str:
    """A sentence on the encodings in which some farther positions are visibly more alike than nearer ones."""
    rows = table[(table.measure == "visible_rise") & ~table.untrained & table.value.notna()]
    rising = int(np.isfinite(rows.value).sum())
    return (
        f"With distance, likeness climbs again by {percent(VISIBLE)} of its height in "
        f"{_of_all(rising, rows, table, condition)}"
    )


def _of_all(count: int, known: pd.DataFrame, table: pd.DataFrame, condition: str) -> str:
    """The count of all encodings that have a value and are not random here, with the conditions of its measure."""
    which = "computed or trained encodings" if table.untrained.any() else "encodings"
    return f"{count} of {known.title.nunique()} {which} ({condition})"


def _known(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The known values of one measure."""
    return table[(table.measure == name) & np.isfinite(table.value)]


def _drawn_rows(table: pd.DataFrame, params: MeasuresParameters) -> pd.DataFrame:
    """The rows with a dot: those that are random here have one where they are picked."""
    return table[~table.untrained | table.encoding.isin([params.encoding, params.other])]


def _alt(table: pd.DataFrame, headings: Mapping[str, str]) -> str:
    """The ends of measures."""
    parts = []
    for name, heading in headings.items():
        known = _known(table, name)
        if len(known):
            parts.append(
                f"{heading}: lowest {_value_with_names(known, name, known.value.min())}, "
                f"highest {_value_with_names(known, name, known.value.max())}."
            )
    return " ".join(parts)


def _value_with_names(known: pd.DataFrame, name: str, value: float) -> str:
    """A value and the encodings that have it, at the digits shown."""
    words = in_words(name, value)
    titles = known.title[[in_words(name, other) == words for other in known.value]]
    return f"{words} ({titles.iloc[0] if len(titles) == 1 else f'{len(titles)} encodings'})"


def _short(name: str, value: float) -> str:
    """A measure's value as a cell of a phone has room for it: .71, 1, 25; a dash where there is no number."""
    if not np.isfinite(value):
        return "–"
    if name == "visible_rise":
        return f"{value:.0f}"
    return f"{round(value, 2) + 0.0:.2f}".removesuffix(".00").replace("0.", ".")


def _shown_rows(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows of some measures, one for each encoding and measure, in words, too.

    Those that are random here stand last; of the others, those of which distance alone decides most stand first.
    """
    first = table[table.measure == next(iter(DRAWN))].set_index("encoding").value.fillna(-1)
    rows = table[table.measure.isin(names)].assign(rank=lambda rows: -rows.encoding.map(first).fillna(-1).round(6))
    rows = rows.sort_values(["untrained", "rank"], kind="stable", ignore_index=True)
    return rows.assign(
        group=rows.untrained.map({False: FIXED, True: RANDOM}),
        meaning=[in_words(name, value) for name, value in zip(rows.measure, rows.value, strict=True)],
        text=[_short(name, value) for name, value in zip(rows.measure, rows.value, strict=True)],
        short=[MEASURES[name].short for name in rows.measure],
    )


def _picked(selected: Sequence[str]) -> list[str]:
    """The titles of the picked encodings."""
    return [ENCODINGS[name].title for name in selected if name in ENCODINGS]


def _dots(table: pd.DataFrame, selected: Sequence[str], shift: int, theme: Theme) -> Chart:
    """A row an encoding, named once, and a column a measure, on an axis of its own from 0 to 1.

    The picked encodings are black. Those that are random here are drawn where one is picked, and hollow.
    """
    rows = _shown_rows(table, list(DRAWN))
    rows = rows[~rows.untrained | rows.encoding.isin(selected)]
    names = rows.drop_duplicates("encoding")
    # The title of the only group would tell nothing apart.
    groups = names.group.tolist() if names.group.nunique() > 1 else [""] * len(names)
    labels, y, titles, height = marks.grouped_rows(names.title.tolist(), groups, theme, LABEL, marks.ROW)
    start = {name: column * PITCH for column, name in enumerate(DRAWN)}
    rows = rows.assign(
        label=rows.encoding.map(dict(zip(names.encoding, labels, strict=True))),
        bold=rows.title.isin(_picked(selected)),
        start=rows.measure.map(start),
        at=lambda rows: rows.start + rows.value,
        end=lambda rows: rows.start + 1,
        chance=lambda rows: rows.start + rows.measure.map(CHANCE),
        written=rows.meaning.where(np.isfinite(rows.value), rows.text),
    )
    # Both are soft but for the picked ones, so that these can be found.
    rows["hue"] = rows.bold.map({True: theme.ink, False: theme.colour(colours.SOFT)})
    test = " || ".join(f"datum.label === {json.dumps(label)}" for label in set(rows.label[rows.bold])) or "false"
    y["axis"]["labelFontWeight"] = {"condition": {"test": test, "value": "bold"}, "value": "normal"}
    y["axis"]["grid"] = False
    x = marks.number(
        alt.X, "at", None, domain=(-0.06, PITCH * len(DRAWN) + 0.1), grid=False,
        values=[first + at for name, first in start.items() for at in sorted({0.0, CHANCE[name], 1.0})],
    )  # fmt: skip
    x["axis"]["labelExpr"] = _end_words(start)
    x["axis"]["domain"] = x["axis"]["ticks"] = x["axis"]["labelOverlap"] = False
    columns = [
        *("title", "label", "at", "start", "end", "chance", "value", "meaning", "short", "written", "hue"),
        *("bold", "length", "dim"),
    ]
    base = alt.Chart(rows[columns])
    hue = alt.Color("hue:N", scale=None)
    tooltip = (("title", "encoding"), ("short", "is"), "meaning", ("length:Q", "rows"), ("dim:Q", "columns"))
    grey = theme.colour(colours.SOFT)
    layers: list[Chart] = [
        base.mark_rule(color=theme.grid).encode(x=marks.same_axis(x, "start"), x2=alt.X2("end:Q"), y=y),
        base.mark_tick(color=grey, size=11, thickness=1.5).encode(x=marks.same_axis(x, "chance"), y=y),
        titles,
        *_column_titles(start, shift, x, theme),
    ]
    for is_random, group in rows[np.isfinite(rows.value)].groupby("untrained"):
        layers += marks.row_plot(
            group[columns], x=x, y=y, theme=theme, ends=None, color=hue, filled=not is_random,
            size=marks.LARGE_DOT, tooltip=tooltip,
        )  # fmt: skip
    numbers = base.mark_text(
        align="left", dx=8, fontSize=marks.TEXT, fontWeight=alt.expr("datum.bold ? 'bold' : 'normal'")
    )
    layers.append(numbers.encode(x=marks.same_axis(x, "end"), y=y, text="written:N", color=hue))
    return marks.panel(*layers, theme=theme, width=marks.WIDE, height=height)


def _column_titles(start: Mapping[str, float], shift: int, x: alt.X, theme: Theme) -> list[Chart]:
    """The headings of the columns, over the first row, which is the title of a group; in lines where there is no room.

    Those that are not seen have letters of no size, so that they take no room.
    """
    headings = {name: DRAWN[name].replace("A shift", f"A shift by {shift}") for name in start}
    titles = pd.DataFrame(
        [
            {"at": at, "line": headings[name], "lines": marks.wrap_label(headings[name], COLUMN_TITLE)}
            for name, at in start.items()
        ]
    )
    narrow, size = f"width < {FITTING}", marks.PANEL_TITLE
    style = {"align": "left", "baseline": "bottom", "fontWeight": 600, "color": theme.ink}
    layers = []
    for field, shown in (("line", f"{narrow} ? 0 : {size}"), ("lines", f"{narrow} ? {size} : 0")):
        text = alt.Chart(titles).mark_text(
            **style, lineBreak="\n", lineHeight=alt.expr(f"({shown}) ? {marks.LABEL_LINE + 2} : 0"),
            fontSize=alt.expr(shown), dy=alt.expr(f"-15 * (length(split(datum.{field}, '\\n')) - 1)"),
        )  # fmt: skip
        layers.append(text.encode(x=x, y=alt.value(4), text=alt.Text(f"{field}:N")))
    return layers


def _end_words(start: Mapping[str, float]) -> str:
    """Vega's expression of the words at the ends of every column and, where there is room, at chance between them."""
    words = {
        at + CHANCE[name]: f"width < {FITTING} ? '' : {json.dumps([f'{CHANCE[name]:g}', 'chance'])}"
        for name, at in start.items()
    }
    words |= {at + end: json.dumps(ENDS[name][end].split(" ", 1)) for name, at in start.items() for end in (0, 1)}
    near = (f"abs(datum.value - {value:g}) < 0.01 ? ({text})" for value, text in words.items())
    return " : ".join(near) + " : ''"


def _cells(table: pd.DataFrame, selected: Sequence[str], theme: Theme) -> Chart:
    """One table: a row an encoding, a column a measure; the picked ones tinted."""
    cells = _shown_rows(table, list(HEADINGS))
    picked = cells.title.isin(_picked(selected))
    cells = cells.assign(
        column=cells.measure.map(HEADINGS), tint=picked.astype(float), bold=picked, open=False,
        title=[f"{title}, random" if is_random else title for title, is_random in
               zip(cells.title, cells.untrained, strict=True)],
    )  # fmt: skip
    return cell_table(
        cells,
        columns=list(HEADINGS.values()),
        titles=list(dict.fromkeys(cells.title)),
        value="tint",
        scale=alt.Scale(domain=[0, 1], range=[theme.ground, theme.grid], interpolate="rgb"),
        key=None,
        strong="false",
        number=SHORT,
        tooltip=(
            ("title", "encoding"), ("column", "measure"), ("short", "is"), "meaning", ("length:Q", "rows"),
            ("dim:Q", "columns"),
        ),
        theme=theme,
    )  # fmt: skip
