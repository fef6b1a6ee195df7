"""The scalar measures of all encodings side by side, as stored by `python -m analysis measure encodings`."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.errors import AddendError
from analysis.core.formatting import sentences
from analysis.encodings import ENCODINGS
from analysis.figures.cell_table import cell_table
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.store import read

COMMAND = "python -m analysis measure encodings"
GROUPS = ("added", "rotates", "untied", "biases scores", "absent")
HEADINGS = {
    "translation_invariance": "Distance alone decides",
    "monotonicity": "Nearer is more alike",
    "first_rise": "First rises again, tokens",
    "symmetry": "Before is as after",
    "cosine_next": "Neighbours alike, cosine",
    "shift_r2_8": "Shift by 8 is one matrix",
    "moving_share": "Columns that move",
    "top_half_share": "Variance in half of them",
    "frequency_mean": "Cycles a token",
}
"""The columns of the table, from left to right -> their headings."""
SHORT = 15
"""Pixels of a number such as .71."""


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
    """Every registered encoding by every scalar measure."""
    rows = stored()
    moving = rows.loc[rows.measure == "moving_dims"].assign(measure="moving_share")
    moving["value"] = moving.value / moving.dim
    names = sorted(ENCODINGS, key=lambda name: (GROUPS.index(ENCODINGS[name].enters), ENCODINGS[name].title))
    ranks = {name: rank for rank, name in enumerate(names)}
    table = pd.concat([rows, moving], ignore_index=True)
    table = table.assign(
        title=[ENCODINGS[name].title for name in table.encoding],
        about=_nearest_power(table.length),
        place=table.encoding.map(ranks),
    ).sort_values(["place", "measure", "length"], kind="stable", ignore_index=True)
    columns = ["encoding", "title", "length", "dim", "measure", "value"]
    untrained = [encoding.title for _, encoding in ENCODINGS.items() if "seed" in encoding.options and encoding.learned]
    missing = [encoding.title for name, encoding in ENCODINGS.items() if name not in set(rows.encoding)]
    runs = rows.drop_duplicates("run_id")
    return Figure(
        title="All encodings, measure by measure",
        finding=_invariant(table),
        frame=lambda: table.loc[:, columns].reset_index(drop=True),
        caption=sentences(
            f"{rows.encoding.nunique()} encodings at about {table.about.max()} positions, compared by dot product; "
            f"Distance and shifts compares another number of them, by cosine, and so has other numbers. The darker a "
            "cell, the nearer its number comes to the largest that the measure can take. Rows stand by how positions "
            "enter: added to the words, rotating queries and keys, compared separately, biasing the scores, absent. "
            "Bold: the two encodings that the other views show.",
            " ".join(f"{HEADINGS[name]}: {MEASURES[name].definition}" for name in HEADINGS),
            f"Rows × columns of the tables that were measured: {_sizes(rows)}; the data hold all of them.",
            "A dash stands where a measure is undefined, or where what it measures never happens; the first rise is "
            "counted in tokens.",
            "Similarity is the dot product of rows, or the encoding's own score.",
            f"{', '.join(untrained)}: learned in a model, here random at initialisation (seed 0), so only the "
            "structure counts."
            if untrained
            else "",
            f"Not measured yet: {', '.join(missing)}." if missing else "",
            "Exact for the tables shown; one seed where values are random.",
        ),
        alt=_alt(table),
        command=COMMAND,
        provenance={
            run: f"measured {created} with the code at {sha}"
            for run, created, sha in zip(runs.run_id, runs.created, runs.git_sha, strict=True)
        },
        citation_keys=("wang2021position",),
        draw=lambda theme: [
            _draw(table, [ENCODINGS[name].title for name in names], (params.encoding, params.other), theme)
        ],
    )


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
    longest = table[
        (table.measure == "translation_invariance") & (table.about == table.about.max()) & table.value.notna()
    ]
    invariant = int((longest.value.round(2) == 1).sum())
    return (
        f"In {invariant} of {len(longest)} encodings of about {table.about.max()} positions, how alike two of them are "
        "depends on their distance alone"
    )


def _alt(table: pd.DataFrame) -> str:
    """The ends of every measure at the longest length."""
    parts = []
    for name, measure in MEASURES.items():
        last = table.loc[(table.measure == name) & (table.about == table.about.max()) & np.isfinite(table.value)]
        if len(last):
            parts.append(
                f"{measure.title}: lowest {_value_with_names(last, name, last.value.min())}, "
                f"highest {_value_with_names(last, name, last.value.max())}."
            )
    return f"A table, one column per measure, at about {table.about.max()} positions. {' '.join(parts)}"


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


def _draw(rows: pd.DataFrame, order: list[str], selected: Sequence[str], theme: Theme) -> Chart:
    """One table at the longest size: a row an encoding, a column a measure, with the number in each cell.

    A cell is the darker the nearer its number comes to the largest that its measure can take; the numbers of the picked
    encodings are bold.
    """
    longest = rows[rows.about == rows.about.max()]
    longest = longest[longest.measure.isin(list(MEASURES))].drop_duplicates(["encoding", "measure"])
    tops = longest.measure.map(lambda name: MEASURES[name].top or np.nan)
    cells = longest.assign(
        column=longest.measure.map(HEADINGS),
        meaning=[in_words(name, value) for name, value in zip(longest.measure, longest.value, strict=True)],
        text=[_short(name, value) for name, value in zip(longest.measure, longest.value, strict=True)],
        shade=(longest.value.where(np.isfinite(longest.value)) / tops).clip(0, 1).fillna(0.0),
        short=longest.measure.map(lambda name: MEASURES[name].short),
    )
    picked = set(rows[rows.encoding.isin(selected)].title)
    return cell_table(
        cells.assign(open=False, bold=cells.title.isin(picked)),
        columns=[heading for name, heading in HEADINGS.items() if name in set(cells.measure)],
        titles=[title for title in order if title in set(cells.title)],
        value="shade",
        scale=alt.Scale(domain=[0, 1], range=[theme.ground, theme.faint], interpolate="rgb"),
        key=None,
        strong="false",
        number=SHORT,
        tooltip=(
            ("title", "encoding"), ("column", "measure"), ("short", "is"), "meaning", ("length:Q", "rows"),
            ("dim:Q", "columns"),
        ),
        theme=theme,
    )  # fmt: skip
