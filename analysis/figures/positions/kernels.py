"""The kernels of rotary bands: the mean score of each band at every distance, in one head."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.errors import LinkError, NoResults
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import STRONGEST, Figure, Parameters, figure
from analysis.figures.one_run import checked_head
from analysis.figures.positions.run import DISTANCE, MAP_RUN
from analysis.measurements.positions.result import PositionMap


class LayerHeadParameters(Parameters):
    """One head of one layer."""

    layer: int
    head: int


@figure("position_kernels", LayerHeadParameters, live=MAP_RUN)
def position_kernels(params: LayerHeadParameters, run: tuple[PositionMap, PositionMap | None]) -> Figure:
    """The mean score of each band at every distance, in one head: what the head would do with average content."""
    result = run[0]
    if result.kernels is None:
        raise NoResults(
            f"{readable(result.provenance.model)} does not rotate queries and keys, so it has no bands and no kernels."
        )
    layers, bands, heads, _ = result.kernels.shape
    layer = params.layer
    if not 0 <= layer < layers:
        raise LinkError(f"The link says layer={layer}; this model has layers 0 to {layers - 1}.")
    varied = np.ptp(result.kernels[layer], axis=-1).max(0)
    head = int(varied.argmax()) if params.head == STRONGEST else checked_head(params.head, heads)
    kernels = result.kernels[layer, :, head]
    distances = np.arange(-(result.tokens - 1), result.tokens)
    causal = not result.looks_ahead
    visible = distances <= 0 if causal else np.ones_like(distances, bool)
    extent = np.ptp(kernels[:, visible], axis=-1)
    rotating = [band for band in range(bands - 1) if extent[band] > 0]
    rows = [
        (result.sources[band], int(distance), float(value - kernels[band, visible].mean()))
        for band in rotating
        for distance, value in zip(distances[visible], kernels[band, visible], strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["band", "distance", "score"])
    if frame.empty:
        text = f"Layer {layer} rotates nothing"
    else:
        strongest = result.sources[rotating[int(np.argmax(extent[rotating]))]]
        summed = frame.groupby("distance").score.sum()
        farthest = abs(summed.index.tolist()[summed.argmax()])
        text = (
            f"Head {head} of layer {layer}: average content scores highest {farthest} tokens away; the band of "
            f"{strongest} tokens varies most"
        )
    return Figure(
        title="The mean score at each distance",
        finding=text,
        frame=lambda: frame,
        caption=(
            "A band's mean score at each distance over all queries and keys of the text, minus its mean over "
            "distances: what distance does by itself. Bands are named by their wavelengths in tokens. "
            f"{readable(result.provenance.model)}, layer {layer}, head {head}, one text of {result.tokens} tokens."
        ),
        alt=f"Lines against distance, one a band. {text}.",
        draw=lambda theme: [_draw(frame, [result.sources[band] for band in rotating], theme)],
    )


def _draw(frame: pd.DataFrame, bands: list[str], theme: Theme) -> Chart:
    """A line a band."""
    key = marks.legend("wavelength (tokens)", "right", lines=True)
    lines = marks.line_plot(
        frame,
        x=marks.whole_numbers(alt.X, "distance", DISTANCE),
        y=marks.number(alt.Y, "score", "mean score minus its mean over distances"),
        theme=theme,
        color=marks.sequential_hues("band", bands, theme, key),
        dots=0,
        tooltip=(("band", "wavelength (tokens)"), "distance", ("score", "", ".4f")),
    )
    return marks.panel(marks.rule(theme, y=0), *lines, theme=theme, width=marks.WIDE, height=280)
