"""The best linear map from the row of a position to that of a position further on."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.formatting import fixed, power_of_ten, sentences
from analysis.encodings import ENCODINGS, measures
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.encodings.sized import (
    EncodingPairParameters,
    SizedEncoding,
    citation_keys,
    empty_panel,
    export_command,
    origins,
    pair,
    title_colours,
)
from analysis.figures.figure import Figure, figure
from analysis.figures.heatmap import heatmap

SHIFTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PAIRS_SHOWN = 8
MAX_FULL_SIZE = 32
TALL = 300
"""Pixels of a matrix's height, with its axis and legend."""


def shifts(length: int) -> list[int]:
    """The shifts that leave enough pairs of positions to fit a map on and to hold out."""
    return [k for k in SHIFTS if k <= min(length // 2, length - 2 * measures.FOLDS)] or [1]


class ShiftResult(NamedTuple):
    """A shift by k: its matrix and residual, or the held-out R² of the best linear map, or the reason for neither."""

    matrix: np.ndarray | None = None
    residual: float = np.nan
    r2: float = np.nan
    reason: str = ""


def shift_result(entry: SizedEncoding, k: int) -> ShiftResult:
    """The closed form where there is one, else the best linear map, else the reason why not."""
    return _shift_result(entry.name, entry.length, entry.dim, k)


def _shift_result(name: str, length: int, dim: int, k: int) -> ShiftResult:
    encoding = ENCODINGS[name]
    if encoding.rows == "distance":
        return ShiftResult(reason="its rows are distances; no shift of both positions changes them.")
    if encoding.make_shift is not None:
        residual = measures.shift_residual(encoding, length=length, dim=dim, k=k)
        return ShiftResult(matrix=encoding.shift(k, dim), residual=residual)
    r2 = measures.shift_r2(encoding.table(length, dim), k=k)
    if np.isnan(r2):
        return ShiftResult(reason="every row is the same; a shift changes nothing.")
    return ShiftResult(r2=r2)


def shown_dimensions(matrix: np.ndarray) -> np.ndarray:
    """The dimensions to show of a large shift matrix: evenly spaced ones, each with those it mixes with."""
    if len(matrix) <= MAX_FULL_SIZE:
        return np.arange(len(matrix))
    # With i go all the dimensions that its row takes from: its own pair, whatever the column order.
    groups = {tuple(np.flatnonzero(row)) for row in matrix} - {()}
    largest = sorted(group for group in groups if len(group) == max(map(len, groups)))
    selected = np.linspace(0, len(largest) - 1, min(PAIRS_SHOWN, len(largest))).round().astype(int)
    return np.unique(np.concatenate([largest[index] for index in selected]))


class EncodingShiftParameters(EncodingPairParameters):
    """The number of positions that encodings are shifted by."""

    shift: int


@figure("encoding_shift", EncodingShiftParameters)
def shift(params: EncodingShiftParameters) -> Figure:
    """The best linear map from the row of a position to that of the position k further on (claim C03)."""
    shown, k = pair(params), params.shift
    results = [shift_result(entry, k) for entry in shown]

    def frame() -> pd.DataFrame:
        parts = []
        for entry, result in zip(shown, results, strict=True):
            fields = {"encoding": entry.name, "k": k, "residual": result.residual, "held_out_r2": result.r2}
            if result.matrix is None:
                parts.append(pd.DataFrame([fields]))
            else:
                row, column = np.nonzero(result.matrix)
                parts.append(
                    pd.DataFrame({**fields, "row": row, "column": column, "value": result.matrix[row, column]})
                )
        return pd.concat(parts, ignore_index=True).reindex(
            columns=["encoding", "k", "residual", "held_out_r2", "row", "column", "value"]
        )

    return Figure(
        title=f"From a position to the one {k} further on",
        finding="; ".join(_linear(entry, result, k) for entry, result in zip(shown, results, strict=True)),
        frame=frame,
        caption=sentences(*(_shift_sentence(entry, result, k) for entry, result in zip(shown, results, strict=True))),
        alt=" ".join(_shift_sentence(entry, result, k) for entry, result in zip(shown, results, strict=True)),
        command=export_command("encoding_shift", params, "shift"),
        provenance=origins(shown),
        citation_keys=citation_keys(shown),
        draw=lambda theme: _panels(shown, results, k, theme),
        columns=1 + sum(result.matrix is not None or bool(result.reason) for result in results),
    )


def _linear(entry: SizedEncoding, result: ShiftResult, k: int) -> str:
    """A few words that say if one matrix shifts every position by k, and how nearly it does."""
    if result.reason:
        return f"{entry.title}: {result.reason.split(';')[0].removesuffix('.')}"
    if result.matrix is None:
        return (
            f"{entry.title}: the best single matrix shifts by {k} with R² {fixed(result.r2)} over {entry.length} "
            "positions"
        )
    return f"{entry.title}: one matrix shifts every position by {k}, to within {power_of_ten(result.residual)}"


def _shift_sentence(entry: SizedEncoding, result: ShiftResult, k: int) -> str:
    if result.reason:
        return f"{entry.title}: {result.reason}"
    if result.matrix is None:
        return (
            f"{entry.title}: no closed form. The best single linear map, fitted on four fifths of the "
            f"{entry.length - k} pairs of positions and tested on the rest, five times in turn, predicts the rows "
            f"with R² {result.r2:.3f}: 1 would be a linear shift, 0 is no better than the mean row. Ridge regression "
            "without intercept."
        )
    count = len(shown_dimensions(result.matrix))
    part = f"{count} of its {entry.dim} dimensions are drawn; the data hold every entry that is not zero." * (
        count < entry.dim
    )
    return sentences(
        f"{entry.title}: one matrix for every position, a rotation of each pair of dimensions; the largest difference "
        f"|M row(pos) − row(pos + {k})| over {entry.length - k} positions is {power_of_ten(result.residual)}.",
        part,
    )


def _panels(shown: Sequence[SizedEncoding], results: Sequence[ShiftResult], k: int, theme: Theme) -> list[Chart]:
    """The share of the rows that one matrix foretells in each encoding; then every matrix that has a closed form."""
    compared = list(zip(shown, results, strict=True))
    panels = (
        [_shares([pair for pair in compared if not pair[1].reason], k, theme)]
        if any(not result.reason for result in results)
        else []
    )
    for entry, result in compared:
        if result.reason:
            words = (result.reason[0].upper() + result.reason[1:]).split("; ")
            panels.append(empty_panel(entry, *words, theme=theme, height=160))
        elif result.matrix is not None:
            dimensions = shown_dimensions(result.matrix)
            names = [str(dimension) for dimension in dimensions]
            panels.append(
                heatmap(
                    result.matrix[np.ix_(dimensions, dimensions)], names, names, domain=(-1.0, 1.0),
                    row_title=f"dimension at position + {k}", column_title="dimension at position",
                    value_title="weight", title=f"{entry.title}: the matrix", below=entry.lines,
                    side=marks.HALF, height=TALL, theme=theme,
                )
            )  # fmt: skip
    return panels


def _shares(compared: Sequence[tuple[SizedEncoding, ShiftResult]], k: int, theme: Theme) -> Chart:
    """R squared of the best single matrix, a row an encoding: 1 where there is a closed form."""
    frame = pd.DataFrame(
        {
            "title": [entry.title for entry, _ in compared],
            "r2": [1.0 if result.matrix is not None else result.r2 for _, result in compared],
            "found": ["closed form" if result.matrix is not None else "fitted" for _, result in compared],
            "text": ["1, exactly" if result.matrix is not None else fixed(result.r2) for _, result in compared],
        }
    )
    low = min(0.0, float(frame.r2.min()))
    x = marks.number(alt.X, "r2", "R² (1: linear; 0: no better than the mean row)", domain=(low, 1.0), ticks=5)
    y = marks.rows_down("title", list(frame.title))
    tooltip = (("title", "encoding"), ("r2", "R²", ".3f"), ("found", "the matrix is"))
    layers = marks.row_plot(
        frame, x=x, y=y, theme=theme, color=title_colours([entry for entry, _ in compared], theme, key=False),
        ends=None, bars=True, tooltip=tooltip,
    )  # fmt: skip
    words = alt.Chart(frame).mark_text(align="right", dx=-9, dy=-12, fontSize=marks.TEXT, color=theme.ink)
    return marks.panel(
        *layers,
        words.encode(x=x, y=y, text="text:N"),
        theme=theme,
        width=marks.HALF,
        height=46 * len(frame),
        title=f"How well one matrix shifts by {k}",
    )
