"""The table that a paper prints of a figure: one line for each thing measured, its value, interval and sample size.

Every figure whose rows have intervals or seeds gets one from here. A figure whose rows have several values gives those
that it shows as its `summary`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.ablation.variants import VARIANTS
from analysis.figures.figure import Figure
from analysis.statistics import mean_interval

VALUES = ("gap", "value", "effect", "ratio", "share", "difference", "mean", "recovered")
"""Columns that hold what a figure shows, the first that is there."""
SAMPLES = ("n", "seeds", "pairs", "texts", "windows", "samples", "images")
"""Columns that hold the number of samples behind a value, the first that is there."""
COORDINATES = ("layer", "head", "rank", "draw", "width", "along", "distance", "times", "depth", "query")
"""Columns of numbers that say where something was measured."""
RENAMED = {"title": "variant", "term_label": "term", "label": "name", "task_title": "task"}
"""Columns of names for readers, with the column of ids that they stand for."""
NO_LABELS = ("seed", "run_id", "step", "tokens", "seconds", "note", "sentence", "done", "word", "written", "told")
LONGEST_LABEL = 60
ENCLOSED = 0.9
"""The least share of intervals that hold their value: else the two columns are the ends of something else."""
MOST_ROWS, MOST_PLACES = 80, 7
"""Lines of a table, and places along an axis, to which longer ones are thinned."""
SIGNIFICANT = 2
"""Digits of half an interval that are printed; without intervals, one more of the values."""


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """A table of values. rows: its labels, then `mean`, `low`, `high` and `n`, of which some may be missing.

    left_out: the number of rows of the data that are not in the table, since it would be too long. quantity: what the
    values are, with their unit; empty where the figure does not say. samples: what `n` counts.
    """

    rows: pd.DataFrame
    left_out: int = 0
    quantity: str = ""
    samples: str = "n"

    @property
    def labels(self) -> list[str]:
        """The columns that say what was measured."""
        return [str(name) for name in self.rows.columns if name not in ("mean", "low", "high", "n")]

    @property
    def decimals(self) -> int:
        """Digits after the point, the same in all lines."""
        half = (self.rows.high - self.rows.low).abs() / 2 if "low" in self.rows else self.rows["mean"].abs() / 10
        half = half[(half > 0) & np.isfinite(half)]
        return int(np.clip(SIGNIFICANT - 1 - math.floor(math.log10(half.median())), 0, 4)) if len(half) else 2

    def cells(self, number: "Written") -> list[list[str]]:
        """The lines of the table as text; the first holds the headings."""
        numbers = [name for name in ("mean", "low", "n") if name in self.rows]
        told = {"mean": self.quantity or "mean", "low": "95 % CI" if self.quantity else "interval", "n": self.samples}
        head = [*self.labels, *(told[name] for name in numbers)]
        lines = [head]
        for row in self.rows.to_dict("records"):
            line = [number.label(row[name]) for name in self.labels]
            line.append(number.value(row["mean"], self.decimals))
            if "low" in row:
                line.append(number.interval(row["low"], row["high"], self.decimals))
            if "n" in row:
                line.append("" if pd.isna(row["n"]) else f"{row['n']:.0f}")
            lines.append(line)
        return lines


def _rounded(value: float, decimals: int) -> str:
    """A number with its decimals, never a negative zero."""
    return f"{round(float(value), decimals) + 0.0:.{decimals}f}"


class Written:
    """Numbers as Markdown has them."""

    def label(self, value: Any) -> str:
        """A label, in which a bar would end the cell."""
        return ("" if pd.isna(value) else f"{value:g}" if isinstance(value, float) else str(value)).replace("|", r"\|")

    def value(self, value: float, decimals: int) -> str:
        """A value, empty where it is not known."""
        return "" if pd.isna(value) else _rounded(value, decimals).replace("-", "\N{MINUS SIGN}")

    def interval(self, low: float, high: float, decimals: int) -> str:
        """An interval, empty where there is none."""
        return "" if pd.isna(low) or pd.isna(high) else f"{self.value(low, decimals)} to {self.value(high, decimals)}"


LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\N{MINUS SIGN}": "$-$",
}
"""Characters that mean something to LaTeX, or that it may not have, as it prints them."""


class WrittenForLatex(Written):
    """Numbers for siunitx, which aligns them by their points."""

    def label(self, value: Any) -> str:
        """A label without characters that LaTeX would read as commands."""
        text = "" if pd.isna(value) else f"{value:g}" if isinstance(value, float) else str(value)
        return "".join(LATEX.get(character, character) for character in text)

    def value(self, value: float, decimals: int) -> str:
        """A value in a column S; braces keep an empty cell from being read as a number."""
        return "{}" if pd.isna(value) else _rounded(value, decimals)

    def interval(self, low: float, high: float, decimals: int) -> str:
        """An interval of two numbers."""
        if pd.isna(low) or pd.isna(high):
            return ""
        return rf"[\num{{{_rounded(low, decimals)}}}, \num{{{_rounded(high, decimals)}}}]"


def markdown(table: PaperTable) -> str:
    """The table in Markdown, numbers at the right."""
    head, *lines = table.cells(Written())
    align = ["---"] * len(table.labels) + ["---:"] * (len(head) - len(table.labels))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, align, *lines))


def latex(table: PaperTable) -> str:
    """The table in LaTeX, by booktabs and siunitx."""
    head, *lines = table.cells(WrittenForLatex())
    values = table.rows["mean"].dropna()
    whole = max((len(f"{abs(value):.0f}") for value in values), default=1)
    sign = "-" if (values < 0).any() else ""
    columns = "l" * len(table.labels) + f"S[table-format={sign}{whole}.{table.decimals}]"
    columns += "".join(form for name, form in (("low", "l"), ("n", "r")) if name in table.rows)
    heads = [f"{{{WrittenForLatex().label(name)}}}" for name in head]
    body = [f"{' & '.join(cells)} \\\\" for cells in (heads, *lines)]
    begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return "\n".join([begin, r"\toprule", body[0], r"\midrule", *body[1:], r"\bottomrule", end])


def paper_table(frame: pd.DataFrame) -> PaperTable | None:
    """The table of a figure's rows; None where they have neither intervals nor seeds."""
    frame = _with_titles(frame)
    found = _means_of_seeds(frame) if _over_seeds(frame) else _with_intervals(frame)
    if found is None or found.empty:
        return None
    samples = next((column for column in SAMPLES if column in frame), "seeds" if _over_seeds(frame) else "n")
    return PaperTable(rows=(thinned := _thinned(found)), left_out=len(found) - len(thinned), samples=samples)


def of_figure(figure: Figure) -> PaperTable | None:
    """The table of a figure: of its summary where it has one, else of all of its rows."""
    found = paper_table(figure.summary() if figure.summary else figure.frame())
    return replace(found, quantity=figure.quantity) if found else None


def _interval_columns(frame: pd.DataFrame) -> tuple[str, str, str] | None:
    """The columns of a value and of its interval; None where there are none."""
    for name in VALUES:
        for low, high in ((f"{name}_low", f"{name}_high"), ("low", "high")):
            if {name, low, high} <= set(frame.columns):
                known = frame[[name, low, high]].astype(float).dropna()
                enclosed = known[name].between(known[low], known[high])
                if not len(known) or enclosed.mean() >= ENCLOSED:
                    return name, low, high
    return None


def _with_intervals(frame: pd.DataFrame) -> pd.DataFrame | None:
    columns = _interval_columns(frame)
    if columns is None:
        return None
    name, low, high = columns
    rows = frame[frame[name].notna()] if frame[name].notna().any() else frame
    labels = _labels(rows, [name, low, high])
    result = rows[labels].rename(columns=RENAMED)
    result = result.assign(mean=rows[name].astype(float), low=rows[low].astype(float), high=rows[high].astype(float))
    samples = next((column for column in SAMPLES if column in rows), None)
    return (result.assign(n=rows[samples]) if samples else result).reset_index(drop=True)


def _over_seeds(frame: pd.DataFrame) -> bool:
    """The rows hold one value a seed, and no interval."""
    return ("seed" in frame and "value" in frame) or {"seed", "step", "censored"} <= set(frame.columns)


def _means_of_seeds(frame: pd.DataFrame) -> pd.DataFrame:
    """The mean over seeds with its 95 % t interval; of curves, at their last step.

    Where a value is only known to be larger than what is stored, no mean is given.
    """
    value = "value" if "value" in frame else "step"
    labels = _labels(frame, [value])
    rows = []
    for key, group in frame.groupby(labels, sort=False, dropna=False):
        last = group.sort_values("step").groupby("seed").tail(1) if value == "value" and "step" in group else group
        known = dict(zip(last.seed, last[value].astype(float), strict=True))
        mean = mean_interval(known)
        numbers = (mean.mean, mean.low, mean.high)
        if "censored" in last and last.censored.astype(bool).any():
            numbers = (math.nan,) * 3
        rows.append((*(key if isinstance(key, tuple) else (key,)), *numbers, len(known)))
    return pd.DataFrame(rows, columns=[*(RENAMED.get(name, name) for name in labels), "mean", "low", "high", "n"])


def _labels(frame: pd.DataFrame, numbers: Sequence[str]) -> list[str]:
    """The columns that say what a row is about: short texts and coordinates that differ between rows."""
    named = {RENAMED[name] for name in RENAMED if name in frame}
    candidates = [
        str(name)
        for name in frame.columns
        if name not in (*numbers, *named, *NO_LABELS, *SAMPLES) and _is_label(frame[name], str(name))
    ]
    candidates.sort(key=lambda name: name not in RENAMED)
    # A text that one label already tells apart, such as the verdict on it, says nothing of what a row is about.
    chosen: list[str] = []
    groups = 1
    for name in candidates:
        count = len(frame.drop_duplicates([*chosen, name]))
        if count > groups:
            chosen.append(name)
            groups = count
    return chosen or candidates[:1] or [str(frame.columns[0])]


def _is_label(column: pd.Series, name: str) -> bool:
    if name in COORDINATES:
        return True
    texts = column.dropna()
    return bool(len(texts)) and all(isinstance(text, str) and len(text) <= LONGEST_LABEL for text in texts)


def _thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows at some places along each axis of numbers, both ends among them, where there are too many for a table."""
    while len(rows) > MOST_ROWS:
        axes = {
            name: places
            for name in rows.columns
            if name in COORDINATES and len(places := sorted(rows[name].dropna().unique())) > MOST_PLACES
        }
        if not axes:
            break
        name = max(axes, key=lambda axis: len(axes[axis]))
        kept = {axes[name][round(index)] for index in np.linspace(0, len(axes[name]) - 1, MOST_PLACES)}
        rows = rows[rows[name].isin(kept)].reset_index(drop=True)
    return rows


def _with_titles(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with the titles of our variants in place of their names."""
    if "variant" not in frame or "title" in frame:
        return frame
    return frame.assign(variant=[VARIANTS[name].title if name in VARIANTS else name for name in frame.variant])
