"""Figures of an encoding's columns: how much each moves over the rows, and how fast."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import percent, sentences
from analysis.encodings import measures
from analysis.figures.encodings.data import PairParameters, Sized, export_command, keys, origins, pair
from analysis.figures.figure import Figure, figure

THRESHOLD = 0.5


@dataclass(frozen=True)
class MovementContent:
    """highest: where the axis of each encoding ends. held: the variance that the most variable columns hold."""

    shown: list[Sized]
    highest: list[float]
    held: pd.DataFrame


@dataclass(frozen=True)
class SpectrumContent:
    """power: (frequency, column) of each encoding. mean: over its columns. top: where the colour scale ends."""

    shown: list[Sized]
    power: list[np.ndarray]
    mean: pd.DataFrame
    top: float


@figure("encoding_movement", PairParameters)
def movement(params: PairParameters) -> Figure[MovementContent]:
    """Range and standard deviation of every column over the rows, and how few columns hold the variance (claim C02)."""
    shown = pair(params)
    moved = [measures.movement(one.table()) for one in shown]
    together = len({one.unit for one in shown}) == 1

    def frame() -> pd.DataFrame:
        return pd.concat(
            pd.DataFrame(
                {"encoding": one.name, "title": one.title, "column": np.arange(one.dim), "range": m.range, "sd": m.sd}
            )
            for one, m in zip(shown, moved, strict=True)
        ).reset_index(drop=True)

    scale = "Both are on one scale." if together else "The scales differ, because the values differ in kind."
    return Figure(
        title="How much each dimension moves",
        finding="Half of the variance lies in "
        + " and ".join(
            f"{_half(m)} of {one.dim} {one.column}s ({one.title})"
            for one, m in zip(shown, moved, strict=True)
            if m.sd.any()
        )
        if any(m.sd.any() for m in moved)
        else "",
        frame=frame,
        caption=sentences(
            "Range (largest minus smallest value) and standard deviation of every column over the rows; at the right, "
            "the share of all variance that the most variable columns hold.",
            scale if len(shown) > 1 else "",
            *(_moved(one, m) for one, m in zip(shown, moved, strict=True)),
            "Exact: nothing is sampled.",
        ),
        alt=" ".join(_moved_alt(one, m) for one, m in zip(shown, moved, strict=True)),
        command=export_command("encoding_movement", params),
        provenance=origins(shown),
        citation_keys=keys(shown),
        columns=len(shown) + 1,
        content=MovementContent(
            shown=shown,
            highest=[max(float(m.range.max()) for m in moved) if together else float(m.range.max()) for m in moved],
            held=_held(shown, moved),
        ),
    )


def _held(shown: list[Sized], moved: list[measures.Movement]) -> pd.DataFrame:
    """Cumulative share of variance over columns, the most variable first; nothing where nothing varies."""
    parts = [pd.DataFrame({"title": [], "columns": [], "variance": []})]
    for one, m in zip(shown, moved, strict=True):
        variance = np.sort(m.sd**2)[::-1]
        if variance.sum() > 0:
            held = np.concatenate([[0], variance.cumsum() / variance.sum()])
            parts.append(
                pd.DataFrame({"title": one.title, "columns": np.arange(one.dim + 1) / one.dim, "variance": held})
            )
    return pd.concat(parts[1:] or parts, ignore_index=True)


def _moved(one: Sized, m: measures.Movement) -> str:
    if not m.sd.any():
        return f"{one.title}: no column moves."
    half, count = (one.dim + 1) // 2, m.moving(THRESHOLD)
    return (
        f"{one.title}: {count} of {one.dim} {one.column}s ({percent(count / one.dim, 1)}) range over more than "
        f"{THRESHOLD}; the {half} most variable hold {percent(m.top_share(half), 1)} of the variance; the first half "
        f"of the columns ranges over {m.range[:half].mean():.3g} on average, the last over "
        f"{m.range[one.dim // 2 :].mean():.3g}."
    )


def _moved_alt(one: Sized, m: measures.Movement) -> str:
    return (
        f"{one.title}: the range is largest, {m.range.max():.3g}, in {one.column} {m.range.argmax()} and smallest, "
        f"{m.range.min():.3g}, in {one.column} {m.range.argmin()}; the first {one.column} ranges over "
        f"{m.range[0]:.3g}, the last over {m.range[-1]:.3g}."
    )


@figure("encoding_spectrum", PairParameters)
def spectrum(params: PairParameters) -> Figure[SpectrumContent]:
    """How fast each column turns: the share of its variance at each frequency."""
    shown = pair(params)
    spectra = [measures.spectrum(one.table()) for one in shown]

    def frame() -> pd.DataFrame:
        parts = [
            frames.cells(result.power, "share", cycles_per_row=result.frequency, column=None).assign(encoding=one.name)
            for one, result in zip(shown, spectra, strict=True)
        ]
        return pd.concat(parts, ignore_index=True)[["encoding", "cycles_per_row", "column", "share"]]

    mean = pd.concat(
        pd.DataFrame({"title": one.title, "frequency": found.frequency, "share": found.mean()})
        for one, found in zip(shown, spectra, strict=True)
    ).reset_index(drop=True)
    known = np.concatenate([outcome.power[~np.isnan(outcome.power)] for outcome in spectra])
    return Figure(
        title="How fast the dimensions vary",
        finding="The mean frequency is "
        + "; ".join(_frequency(one, result) for one, result in zip(shown, spectra, strict=True)),
        frame=frame,
        caption=sentences(
            "Power spectrum over the rows, each column's mean removed and no window used: the share of the column's "
            "variance at each frequency, in cycles per token. Lines: the mean over the columns that vary. Maps: every "
            "column, on one colour scale that ends at the 98th percentile of all cells.",
            *(_speed(one, found) for one, found in zip(shown, spectra, strict=True)),
            "Waves slower than the length leak into the lowest frequencies.",
        ),
        alt=" ".join(_speed_alt(one, found) for one, found in zip(shown, spectra, strict=True)),
        command=export_command("encoding_spectrum", params),
        provenance=origins(shown),
        citation_keys=keys(shown),
        columns=len(shown) + 1,
        content=SpectrumContent(
            shown=shown,
            power=[match.power for match in spectra],
            mean=mean,
            top=float(np.quantile(known, 0.98)) if known.size else 1.0,
        ),
    )


def _frequency(one: Sized, result: measures.Spectrum) -> str:
    mean = result.mean()
    if np.isnan(mean).all():
        return f"none for {one.title}, which is constant"
    return f"{result.frequency @ mean:.3f} cycles per token for {one.title}"


def _speed(one: Sized, result: measures.Spectrum) -> str:
    constant = int(np.isnan(result.power).any(axis=0).sum())
    if constant == one.dim:
        return f"{one.title}: constant, so it has no frequencies."
    left_out = f" ({constant} of {one.dim} columns are constant and left out)" if constant else ""
    return f"{one.title}: {result.frequency @ result.mean():.3f} cycles per token on average{left_out}."


def _speed_alt(one: Sized, result: measures.Spectrum) -> str:
    mean = result.mean()
    if np.isnan(mean).all():
        return f"{one.title} is constant: its panels are empty."
    top = int(mean.argmax())
    return (
        f"{one.title}: the mean spectrum is highest, {percent(mean[top], 1)}, at {result.frequency[top]:.3g} cycles "
        "per "
        f"token and holds {percent(mean[-1], 2)} at the highest frequency, {result.frequency[-1]:.3g}."
    )


def _half(moved: measures.Movement) -> int:
    """How many columns, the most variable first, hold half of the variance."""
    variance = np.sort(moved.sd**2)[::-1]
    return int(np.searchsorted(variance.cumsum(), variance.sum() / 2) + 1)
