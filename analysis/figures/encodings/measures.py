"""The scalar measures of all encodings side by side, as stored by `python -m analysis measure encodings`.

Three of them are drawn as dots; the others stand in a table.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from analysis.core import colours
from analysis.core.errors import AddendError
from analysis.core.formatting import sentences
from analysis.encodings import ENCODINGS
from analysis.figures import marks
from analysis.figures.cell_table import cell_table
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.store import read

COMMAND = "python -m analysis measure encodings"
GROUPS = ("added", "rotates", "untied", "biases scores", "absent")
DRAWN = {
    "translation_invariance": "Distance alone decides",
    "monotonicity": "Nearer is more alike",
    "shift_r2_8": "A shift by 8 is one matrix",
}
"""The measures that are drawn, from left to right -> their headings. Of each, 1 is the most there can be."""
ENDS = {
    "translation_invariance": ("0 not at all", "1 alone"),
    "monotonicity": ("0 never", "1 always"),
    "shift_r2_8": ("0 not at all", "1 exactly"),
}
"""The words at the ends of the axis of each drawn measure."""
CHANCE = {"translation_invariance": 0.0, "monotonicity": 0.5, "shift_r2_8": 0.0}
"""The value of each drawn measure where nothing connects positions that are near."""
HEADINGS = {
    "first_rise": "First rises again, tokens",
    "symmetry": "Before is as after",
    "cosine_next": "Neighbours alike, cosine",
    "moving_share": "Columns that move",
    "top_half_share": "Variance in half of them",
    "frequency_mean": "Cycles a token",
}
"""The columns of the table, from left to right -> their headings."""
GOOD = {
    "first_rise": ("late", "late: until then, farther positions are less alike"),
    "symmetry": ("< 1", "below 1: else products of rows cannot tell before from after"),
    "cosine_next": ("high", "high, but below 1: neighbours are alike and can be told apart"),
    "moving_share": ("high", "high: few columns are spent on what hardly changes"),
    "top_half_share": (".5", ".5: every column carries as much"),
    "frequency_mean": ("low", "low: what changes slowly reaches far"),
}
"""A good value of each measure of the table, in a cell and in words; good for reading distances off products of rows.
"""
SAYS = {
    "translation_invariance": "the part of how alike positions are that their distance alone decides",
    "monotonicity": "how often, of two keys, the nearer is the more alike",
    "shift_r2_8": "how well one matrix, fitted on some positions, finds the one 8 further on from others (R²)",
    "first_rise": "the distance from which farther positions are more alike again",
    "symmetry": "the part of their likeness that is the same before as after; at 1, products do not tell which it is",
    "cosine_next": "how alike two neighbours are; at 1 they could not be told apart",
    "moving_share": "the part of the columns whose values move by more than 0.5 over all positions",
    "top_half_share": "the part of all variance that the more variable half of the columns holds",
    "frequency_mean": "how often an average column swings up and down per token",
}
"""The meaning of each measure in plain words."""
LINE = 54
"""Letters in a line under the heading of a picture."""
END = 12
"""Letters in a line of the words at an end of an axis."""
FIXED, RANDOM = "Computed or trained", "Random here: a model trains them"
"""The groups of rows: encodings whose values are what a model uses, and those that are random until a model trains."""
GOOD_ROW = "Good is"
SHORT = 15
"""Pixels of a number such as .71."""
LABEL = 20
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
        "Moving dimensions",
        "those ranging over more than 0.5",
        "share of columns",
        "The share of the columns whose values range over more than 0.5 (largest minus smallest, over the rows).",
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
    "first_rise": DescribedMeasure(
        "First rise",
        "where similarity first rises again",
        "distance (tokens)",
        "The first distance at which the mean similarity, over both sides, is higher than at one token less.",
        None,
    ),
    "cosine_next": DescribedMeasure(
        "Cosine of neighbours",
        "mean over adjacent positions",
        "cosine similarity",
        "The mean cosine similarity of the rows of adjacent positions. Undefined where rows are distances.",
    ),
    "shift_r2_8": DescribedMeasure(
        "Shift by 8 is linear",
        "held out, best single linear map",
        "R²",
        "R squared, on positions held out, of the best single linear map from a row to the one 8 positions on. "
        "Undefined where rows are distances.",
    ),
}


def in_words(name: str, value: float) -> str:
    """A measure's value in words."""
    if np.isnan(value):
        return "undefined"
    if np.isinf(value):
        return "never"
    if name == "first_rise":
        return f"{value:.0f} {'token' if value == 1 else 'tokens'}"
    return f"{round(value, 2) + 0.0:.2f}"


def stored() -> pd.DataFrame:
    """The newest stored value of every measure of every encoding at every size. AddendError where there is none."""
    rows = read.query(
        """
        SELECT m.encoding, m.length, m.dim, m.measure, m.value, r.created, r.git_sha, r.run_id
        FROM encoding_measures m JOIN runs r USING (run_id)
        QUALIFY row_number() OVER (
            PARTITION BY m.encoding, m.length, m.dim, m.measure ORDER BY r.created DESC, r.run_id
        ) = 1
        """
    )
    selected = rows.loc[rows.encoding.isin(list(ENCODINGS))]
    if selected.empty:
        raise AddendError(f"No measures of encodings are stored; make them with: {COMMAND}")
    return selected


class ShadedParameters(Parameters):
    """The two encodings whose rows are shaded."""

    encoding: str
    other: str


@figure("encoding_measures", ShadedParameters)
def scalar_measures(params: ShadedParameters) -> Figure:
    """Every registered encoding by every scalar measure; three of them are drawn."""
    rows = stored()
    table = _table(rows)
    return Figure(
        **_shared(rows, table, DRAWN),
        title="All encodings, by what attention can read off their products",
        finding=_invariant(table),
        caption=sentences(
            "At the right of each picture is what lets products of two positions' rows tell their distance; dashed is "
            "chance. A model can learn to use an encoding that lies at the left.",
            f"All at about {table.about.max()} positions, compared by dot product. The view Distances compares another "
            "number of them, by cosine, and so has other numbers of the same encoding. A dash: undefined. Bold and in "
            "black: the encodings that are picked.",
            *_about(rows, DRAWN),
        ),
        draw=lambda theme: [_dots(table, name, (params.encoding, params.other), theme) for name in DRAWN],
        columns=3,
    )


@figure("encoding_other_measures", ShadedParameters)
def other_measures(params: ShadedParameters) -> Figure:
    """The measures of every encoding that are not drawn, in a table, with what a good value is."""
    rows = stored()
    table = _table(rows)
    table = table[table.measure.isin(list(HEADINGS))]
    return Figure(
        **_shared(rows, table, HEADINGS),
        title="The other measures of all encodings",
        finding=_symmetric(table),
        caption=sentences(
            f"The same encodings at about {table.about.max()} positions, compared by dot product; tinted: those that "
            "are picked. Good, in the "
            f"first row, is said of one measure at a time: {'; '.join(_good(name) for name in HEADINGS)}.",
            *_about(rows, HEADINGS),
            "A dash stands where a measure is undefined, or where what it measures never happens; the first rise is "
            "counted in tokens.",
        ),
        draw=lambda theme: [_cells(table, (params.encoding, params.other), theme)],
    )


def _shared(rows: pd.DataFrame, table: pd.DataFrame, names: Iterable[str]) -> dict[str, Any]:
    """The fields of a figure of these measures that follow from its table."""
    return {
        "frame": lambda: table.loc[:, COLUMNS].reset_index(drop=True),
        "alt": _alt(table, names),
        "command": COMMAND,
        "provenance": _provenance(rows),
        "citation_keys": ("wang2021position",),
    }


COLUMNS = ["encoding", "title", "length", "dim", "measure", "value"]


def _table(rows: pd.DataFrame) -> pd.DataFrame:
    """The stored values and what follows from them, in the order in which encodings are shown."""
    moving = rows.loc[rows.measure == "moving_dims"].assign(measure="moving_share")
    moving["value"] = moving.value / moving.dim
    names = sorted(ENCODINGS, key=lambda name: (GROUPS.index(ENCODINGS[name].enters), ENCODINGS[name].title))
    ranks = {name: rank for rank, name in enumerate(names)}
    table = pd.concat([rows, moving], ignore_index=True)
    return table.assign(
        title=[ENCODINGS[name].title for name in table.encoding],
        about=_nearest_power(table.length),
        place=table.encoding.map(ranks),
        untrained=lambda rows: rows.title.isin(_untrained()),
    ).sort_values(["place", "measure", "length"], kind="stable", ignore_index=True)


def _good(name: str) -> str:
    return f"{HEADINGS[name]}, {GOOD[name][1]}"


def _untrained() -> list[str]:
    """The encodings that a model learns and that are random here."""
    return [encoding.title for _, encoding in ENCODINGS.items() if "seed" in encoding.options and encoding.learned]


def _about(rows: pd.DataFrame, shown: Mapping[str, str]) -> list[str]:
    """Sentences of both figures on the measures that they show and of the tables that were measured."""
    untrained = _untrained()
    missing = [encoding.title for name, encoding in ENCODINGS.items() if name not in set(rows.encoding)]
    return [
        " ".join(f"{heading}: {MEASURES[name].definition}" for name, heading in shown.items()),
        f"Rows stand by {next(iter(MEASURES[name].title for name in DRAWN)).lower()}, and those that are random last.",
        f"Rows × columns of the tables that were measured: {_sizes(rows)}; the data hold all of them.",
        "Similarity is the dot product of rows, or the encoding's own score.",
        f"{', '.join(untrained)}: learned in a model, here random at initialisation (seed 0); once trained they would "
        "have other numbers, so the headings do not count them."
        if untrained
        else "",
        f"Not measured yet: {', '.join(missing)}." if missing else "",
        "Exact for the tables shown; one seed where values are random.",
    ]


def _provenance(rows: pd.DataFrame) -> dict[str, str]:
    """The runs that measured, each with its code."""
    runs = rows.drop_duplicates("run_id")
    return {
        run: f"measured {created} with the code at {sha}"
        for run, created, sha in zip(runs.run_id, runs.created, runs.git_sha, strict=True)
    }


def _nearest_power(length: pd.Series) -> pd.Series:
    """The power of two nearest to a length: 121 patches are about 128 positions."""
    return pd.Series(2 ** np.log2(length.to_numpy()).round(), index=length.index).astype(int)


def _sizes(rows: pd.DataFrame) -> str:
    """The usual size of each length, then the encodings that come at another one."""
    sizes = rows.drop_duplicates(["encoding", "length", "dim"]).assign(about=lambda frame: _nearest_power(frame.length))
    sizes["size"] = [f"{length} × {dim}" for length, dim in zip(sizes.length, sizes.dim, strict=True)]
    usual = sizes.groupby("about")["size"].agg(lambda result: result.mode()[0])
    unusual = sizes.loc[sizes["size"] != sizes.about.map(usual)].sort_values(["encoding", "length"])
    sizes_by_encoding = unusual.groupby("encoding", sort=False)["size"].agg(" and ".join)
    return "; ".join(
        [" and ".join(usual), *(f"{ENCODINGS[str(name)].title} {size}" for name, size in sizes_by_encoding.items())]
    )


def _invariant(table: pd.DataFrame) -> str:
    """A sentence on the number of encodings that compare positions by distance alone, at the longest length."""
    longest = _longest(table[~table.untrained], "translation_invariance")
    invariant = int((longest.value.round(2) == 1).sum())
    return f"Distance alone decides how alike two positions are in {_of_all(invariant, table)}"


def _symmetric(table: pd.DataFrame) -> str:
    """A sentence on the encodings whose products say nothing of direction, at the longest length."""
    longest = _longest(table[~table.untrained], "symmetry")
    symmetric = int((longest.value.round(2) == 1).sum())
    return (
        f"A position before is as alike as one after in {_of_all(symmetric, table)}: their products do not tell which "
        "it is"
    )


def _of_all(count: int, table: pd.DataFrame) -> str:
    """The count of all encodings, with the conditions of its measure, and how many it says nothing of."""
    untrained = table.title[table.untrained].nunique()
    random = f"; {untrained} are random here" if untrained else ""
    return f"{count} of {table.title.nunique()} encodings (dot product of {table.about.max()} positions{random})"


def _longest(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The known values of one measure at the longest length."""
    return table[(table.measure == name) & (table.about == table.about.max()) & np.isfinite(table.value)]


def _alt(table: pd.DataFrame, shown: Iterable[str]) -> str:
    """The ends of measures at the longest length."""
    parts = []
    for name in shown:
        last = _longest(table, name)
        if len(last):
            parts.append(
                f"{MEASURES[name].title}: lowest {_value_with_names(last, name, last.value.min())}, "
                f"highest {_value_with_names(last, name, last.value.max())}."
            )
    return f"Every encoding by each measure, at about {table.about.max()} positions. {' '.join(parts)}"


def _value_with_names(longest: pd.DataFrame, name: str, value: float) -> str:
    """A value and the encodings that have it, at the digits shown."""
    words = in_words(name, value)
    titles = longest.title[[in_words(name, other) == words for other in longest.value]]
    return f"{words} ({titles.iloc[0] if len(titles) == 1 else f'{len(titles)} encodings'})"


def _short(name: str, value: float) -> str:
    """A measure's value as a cell of a phone has room for it: .71, 1, 25; a dash where there is no number."""
    if not np.isfinite(value):
        return "–"
    if name == "first_rise":
        return f"{value:.0f}"
    return f"{round(value, 2) + 0.0:.2f}".removesuffix(".00").replace("0.", ".")


def _rows_at_longest(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows of some measures at the longest length, one for each encoding and measure, in words, too.

    Those that are random here stand last; of the others, those of which distance alone decides most stand first.
    """
    longest = table[table.about == table.about.max()].drop_duplicates(["encoding", "measure"])
    first = longest[longest.measure == next(iter(DRAWN))].set_index("encoding").value.fillna(-1)
    longest = longest[longest.measure.isin(names)].assign(rank=lambda rows: -rows.encoding.map(first).fillna(-1))
    longest = longest.sort_values(["untrained", "rank"], kind="stable", ignore_index=True)
    return longest.assign(
        group=longest.untrained.map({False: FIXED, True: RANDOM}),
        meaning=[in_words(name, value) for name, value in zip(longest.measure, longest.value, strict=True)],
        text=[_short(name, value) for name, value in zip(longest.measure, longest.value, strict=True)],
        short=longest.measure.map(lambda name: MEASURES[name].short),
    )


def _picked(selected: Sequence[str]) -> list[str]:
    """The titles of the picked encodings."""
    return [ENCODINGS[name].title for name in selected if name in ENCODINGS]


def _dots(table: pd.DataFrame, name: str, selected: Sequence[str], theme: Theme) -> Chart:
    """One measure: a row an encoding, with its dot and its number; the picked ones in black, the random ones hollow."""
    rows = _rows_at_longest(table, [name])
    labels, y, titles, height = marks.grouped_rows(rows.title.tolist(), rows.group.tolist(), theme, LABEL, marks.ROW)
    rows = rows.assign(label=labels, bold=rows.title.isin(_picked(selected)))
    # Both are soft but for the picked ones, so that these can be found.
    rows["hue"] = rows.bold.map({True: theme.ink, False: theme.colour(colours.SOFT)})
    test = " || ".join(f"datum.label === {json.dumps(label)}" for label in rows.label[rows.bold]) or "false"
    y["axis"]["labelFontWeight"] = {"condition": {"test": test, "value": "bold"}, "value": "normal"}
    chance = CHANCE[name]
    x = marks.number(alt.X, "value", None, domain=(-0.05, 1.05), values=sorted({0, chance, 1}))
    x["axis"]["labelExpr"] = _end_words(name)
    base = alt.Chart(rows[["title", "label", "value", "meaning", "short", "text", "hue", "bold", "length", "dim"]])
    numbers = base.mark_text(
        align="left", dx=6, fontSize=marks.TEXT, fontWeight=alt.expr("datum.bold ? 'bold' : 'normal'")
    )
    hue = alt.Color("hue:N", scale=None)
    tooltip = (("title", "encoding"), ("short", "is"), "meaning", ("length:Q", "rows"), ("dim:Q", "columns"))
    layers: list[Chart] = [marks.rule(theme, x=chance, dash=marks.DASH), titles]
    for untrained, group in rows[np.isfinite(rows.value)].groupby("untrained"):
        layers += marks.row_plot(
            group[base.data.columns], x=x, y=y, theme=theme, ends=None, color=hue, filled=not untrained,
            size=marks.LARGE_DOT, tooltip=tooltip,
        )  # fmt: skip
    layers.append(numbers.encode(x=alt.value("width"), y=y, text="text:N", color=hue))
    return marks.panel(
        *layers, theme=theme, width=marks.THIRD, height=height, title=DRAWN[name], below=_says_in_lines(name)
    )


def _end_words(name: str) -> str:
    """Vega's expression of the words at the ends of a measure's axis, and where chance lies between them."""
    # Of as many lines as in any other picture, so that rows stand level.
    words = {0.0: ENDS[name][0], 1.0: ENDS[name][1]}
    if CHANCE[name] not in words:
        words[CHANCE[name]] = f"{CHANCE[name]} by chance"
    lines = {value: json.dumps([*marks.wrap_lines(text, END), " "][:2]) for value, text in words.items()}
    return " : ".join(f"datum.value === {value} ? {text}" for value, text in lines.items()) + " : ''"


def _says_in_lines(name: str) -> list[str]:
    """The meaning of a measure in as many lines as that of any other that is drawn, so that pictures stand level."""
    lines = {drawn: marks.wrap_lines(SAYS[drawn], LINE) for drawn in DRAWN}
    return [*lines[name], *[" "] * (max(map(len, lines.values())) - len(lines[name]))]


def _cells(table: pd.DataFrame, selected: Sequence[str], theme: Theme) -> Chart:
    """One table: a row an encoding, a column a measure; the picked ones tinted, and what is good in the first row."""
    cells = _rows_at_longest(table, list(HEADINGS))
    picked = cells.title.isin(_picked(selected))
    cells = cells.assign(
        column=cells.measure.map(HEADINGS), tint=picked.astype(float), bold=picked, open=False,
        title=[f"{title}, random" if untrained else title for title, untrained in
               zip(cells.title, cells.untrained, strict=True)],
    )  # fmt: skip
    good = pd.DataFrame(
        [
            {"title": GOOD_ROW, "column": heading, "text": GOOD[name][0], "meaning": GOOD[name][1],
             "short": MEASURES[name].short, "tint": 0.0, "bold": True, "open": False}
            for name, heading in HEADINGS.items()
        ]
    )  # fmt: skip
    return cell_table(
        pd.concat([good, cells], ignore_index=True),
        columns=list(HEADINGS.values()),
        titles=[GOOD_ROW, *dict.fromkeys(cells.title)],
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
