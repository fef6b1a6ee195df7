"""Figures of an encoding's columns: how much each moves over the rows, and how fast."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import percent, sentences
from analysis.encodings import measures
from analysis.figures.encodings.data import PairParameters, SizedEncoding, citation_keys, export_command, origins, pair
from analysis.figures.figure import Figure, figure

THRESHOLD = 0.5


@dataclass(frozen=True)
class MovementContent:
    """highest: where the axis of each encoding ends. cumulative: the variance that the most variable columns hold."""

    shown: list[SizedEncoding]
    highest: list[float]
    cumulative: pd.DataFrame


@dataclass(frozen=True)
class SpectrumContent:
    """power: (frequency, column) of each encoding. mean: over its columns. top: where the colour scale ends."""

    shown: list[SizedEncoding]
    power: list[np.ndarray]
    mean: pd.DataFrame
    top: float


@figure("encoding_movement", PairParameters)
def movement(params: PairParameters) -> Figure[MovementContent]:
    """Range and standard deviation of every column over the rows, and how few columns hold the variance (claim C02)."""
    shown = pair(params)
    movements = [measures.movement(entry.table()) for entry in shown]
    same_unit = len({entry.unit for entry in shown}) == 1

    def frame() -> pd.DataFrame:
        return pd.concat(
            pd.DataFrame(
                {
                    "encoding": entry.name,
                    "title": entry.title,
                    "column": np.arange(entry.dim),
                    "range": m.range,
                    "sd": m.sd,
                }
            )
            for entry, m in zip(shown, movements, strict=True)
        ).reset_index(drop=True)

    scale = "Both are on one scale." if same_unit else "The scales differ, because the values differ in kind."
    return Figure(
        title="How much each dimension moves",
        finding="Half of the variance lies in "
        + " and ".join(
            f"{_columns_with_half(m)} of {entry.dim} {entry.column}s ({entry.title})"
            for entry, m in zip(shown, movements, strict=True)
            if m.sd.any()
        )
        if any(m.sd.any() for m in movements)
        else "",
        frame=frame,
        caption=sentences(
            "Range (largest minus smallest value) and standard deviation of every column over the rows; at the right, "
            "the share of all variance that the most variable columns hold.",
            scale if len(shown) > 1 else "",
            *(_movement_sentence(entry, m) for entry, m in zip(shown, movements, strict=True)),
            "Exact: nothing is sampled.",
        ),
        alt=" ".join(_movement_alt(entry, m) for entry, m in zip(shown, movements, strict=True)),
        command=export_command("encoding_movement", params),
        provenance=origins(shown),
        citation_keys=citation_keys(shown),
        columns=len(shown) + 1,
        content=MovementContent(
            shown=shown,
            highest=[
                max(float(m.range.max()) for m in movements) if same_unit else float(m.range.max()) for m in movements
            ],
            cumulative=_cumulative_variance(shown, movements),
        ),
    )


def _cumulative_variance(shown: list[SizedEncoding], movements: list[measures.Movement]) -> pd.DataFrame:
    """Cumulative share of variance over columns, the most variable first; nothing where nothing varies."""
    parts = [pd.DataFrame({"title": [], "columns": [], "variance": []})]
    for entry, m in zip(shown, movements, strict=True):
        variance = np.sort(m.sd**2)[::-1]
        if variance.sum() > 0:
            cumulative = np.concatenate([[0], variance.cumsum() / variance.sum()])
            parts.append(
                pd.DataFrame(
                    {"title": entry.title, "columns": np.arange(entry.dim + 1) / entry.dim, "variance": cumulative}
                )
            )
    return pd.concat(parts[1:] or parts, ignore_index=True)


def _movement_sentence(entry: SizedEncoding, m: measures.Movement) -> str:
    if not m.sd.any():
        return f"{entry.title}: no column moves."
    half, count = (entry.dim + 1) // 2, m.moving(THRESHOLD)
    return (
        f"{entry.title}: {count} of {entry.dim} {entry.column}s ({percent(count / entry.dim, 1)}) range over more than "
        f"{THRESHOLD}; the {half} most variable hold {percent(m.top_share(half), 1)} of the variance; the first half "
        f"of the columns ranges over {m.range[:half].mean():.3g} on average, the last over "
        f"{m.range[entry.dim // 2 :].mean():.3g}."
    )


def _movement_alt(entry: SizedEncoding, m: measures.Movement) -> str:
    return (
        f"{entry.title}: the range is largest, {m.range.max():.3g}, in {entry.column} {m.range.argmax()} and smallest, "
        f"{m.range.min():.3g}, in {entry.column} {m.range.argmin()}; the first {entry.column} ranges over "
        f"{m.range[0]:.3g}, the last over {m.range[-1]:.3g}."
    )


@figure("encoding_spectrum", PairParameters)
def spectrum(params: PairParameters) -> Figure[SpectrumContent]:
    """The spectrum of each column: the share of its variance at each frequency."""
    shown = pair(params)
    spectra = [measures.spectrum(entry.table()) for entry in shown]

    def frame() -> pd.DataFrame:
        parts = [
            frames.cells(result.power, "share", cycles_per_row=result.frequency, column=None).assign(
                encoding=entry.name
            )
            for entry, result in zip(shown, spectra, strict=True)
        ]
        return pd.concat(parts, ignore_index=True)[["encoding", "cycles_per_row", "column", "share"]]

    mean = pd.concat(
        pd.DataFrame({"title": entry.title, "frequency": result.frequency, "share": result.mean()})
        for entry, result in zip(shown, spectra, strict=True)
    ).reset_index(drop=True)
    known = np.concatenate([result.power[~np.isnan(result.power)] for result in spectra])
    return Figure(
        title="How fast the dimensions vary",
        finding="The mean frequency is "
        + "; ".join(_mean_frequency(entry, result) for entry, result in zip(shown, spectra, strict=True)),
        frame=frame,
        caption=sentences(
            "Power spectrum over the rows, each column's mean removed and no window used: the share of the column's "
            "variance at each frequency, in cycles per token. Lines: the mean over the columns that vary. Maps: every "
            "column, on one colour scale that ends at the 98th percentile of all cells.",
            *(_frequency_sentence(entry, result) for entry, result in zip(shown, spectra, strict=True)),
            "Waves slower than the length leak into the lowest frequencies.",
        ),
        alt=" ".join(_spectrum_alt(entry, result) for entry, result in zip(shown, spectra, strict=True)),
        command=export_command("encoding_spectrum", params),
        provenance=origins(shown),
        citation_keys=citation_keys(shown),
        columns=len(shown) + 1,
        content=SpectrumContent(
            shown=shown,
            power=[spectrum_.power for spectrum_ in spectra],
            mean=mean,
            top=float(np.quantile(known, 0.98)) if known.size else 1.0,
        ),
    )


def _mean_frequency(entry: SizedEncoding, result: measures.Spectrum) -> str:
    mean = result.mean()
    if np.isnan(mean).all():
        return f"none for {entry.title}, which is constant"
    return f"{result.frequency @ mean:.3f} cycles per token for {entry.title}"


def _frequency_sentence(entry: SizedEncoding, result: measures.Spectrum) -> str:
    constant = int(np.isnan(result.power).any(axis=0).sum())
    if constant == entry.dim:
        return f"{entry.title}: constant, so it has no frequencies."
    left_out = f" ({constant} of {entry.dim} columns are constant and left out)" if constant else ""
    return f"{entry.title}: {result.frequency @ result.mean():.3f} cycles per token on average{left_out}."


def _spectrum_alt(entry: SizedEncoding, result: measures.Spectrum) -> str:
    mean = result.mean()
    if np.isnan(mean).all():
        return f"{entry.title} is constant: its panels are empty."
    top = int(mean.argmax())
    return (
        f"{entry.title}: the mean spectrum is highest, {percent(mean[top], 1)}, at {result.frequency[top]:.3g} cycles "
        "per "
        f"token and holds {percent(mean[-1], 2)} at the highest frequency, {result.frequency[-1]:.3g}."
    )


def _columns_with_half(moved: measures.Movement) -> int:
    """The number of columns, counted from the most variable, that together hold half of the variance."""
    variance = np.sort(moved.sd**2)[::-1]
    return int(np.searchsorted(variance.cumsum(), variance.sum() / 2) + 1)
