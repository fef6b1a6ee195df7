"""The spectrum of each column of an encoding: the share of its variance at each frequency."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import percent, sentences
from analysis.encodings import measures
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.encodings.sized import (
    HEIGHT,
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

FREQUENCIES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@figure("encoding_spectrum", EncodingPairParameters)
def spectrum(params: EncodingPairParameters) -> Figure:
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
    top = float(np.quantile(known, 0.98)) if known.size else 1.0
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
        draw=lambda theme: _panels(shown, [result.power for result in spectra], mean.dropna(), top, theme),
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


def _panels(
    shown: Sequence[SizedEncoding], powers: Sequence[np.ndarray], mean: pd.DataFrame, top: float, theme: Theme
) -> list[Chart]:
    """Every column's spectrum, one map an encoding on one scale; then the mean spectra on one pair of axes."""
    panels = []
    for entry, power in zip(shown, powers, strict=True):
        if np.isnan(power).all():
            panels.append(empty_panel(entry, "Constant: it has no frequencies.", theme=theme))
            continue
        # A row for frequency 0, the mean that was removed, so that row numbers are numbers of cycles.
        panels.append(
            heatmap(
                np.vstack([np.zeros(power.shape[1]), np.nan_to_num(power)]), domain=(0, top),
                row_title=f"cycles in {entry.length} tokens", column_title=entry.column,
                value_title="share of the column's variance", title=entry.title, below=entry.lines, side=marks.THIRD,
                height=HEIGHT, theme=theme,
            )
        )  # fmt: skip
    return [*panels, _mean_panel(mean, shown, theme)] if len(mean) else panels


def _mean_panel(mean: pd.DataFrame, shown: Sequence[SizedEncoding], theme: Theme) -> Chart:
    positive = mean[mean.share > 0]
    domain = (float(positive.frequency.min()), 0.5)
    lines = marks.line_plot(
        positive, theme=theme, color=title_colours(shown, theme), dots=0,
        x=marks.number(alt.X, "frequency", "cycles per token", domain=domain, log=10, form="~g", values=FREQUENCIES),
        y=marks.number(alt.Y, "share", "mean share of variance", log=10, nice=False, form="~%", ticks=4),
        tooltip=(
            ("title", "encoding"), ("frequency", "cycles per token", ".3~g"), ("share", "mean share", ".2~%"),
        ),
    )  # fmt: skip
    return marks.panel(*lines, theme=theme, width=marks.THIRD, height=HEIGHT, title="Mean over the columns")
