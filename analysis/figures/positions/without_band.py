"""The loss of a model when one band of wavelengths of one layer is not rotated."""

import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.wavelengths import BANDS
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.heatmap import heatmap
from analysis.figures.positions.run import UNROTATED_RUN
from analysis.measurements.positions.result import Unturned

ALL_BANDS = "all of them"


@figure("position_unturned", Parameters, live=UNROTATED_RUN)
def position_unturned(params: Parameters, run: Unturned) -> Figure:
    """Layer by band: how the model's output changes without the rotation of that band in that layer."""
    names = [*BANDS, ALL_BANDS]
    frame = frames.cells(run.values, "outcome", layer=None, band=names).assign(loss_difference=run.losses.ravel())
    frame = frame.dropna(subset="outcome")
    if frame.empty:
        raise NoResults(f"{readable(run.provenance.model)} has no layer with a rotation that could be switched off.")
    single = frame[frame.band != ALL_BANDS]
    top = single.iloc[single.outcome.argmax()]
    finding = (
        f"The model loses most without the rotation at wavelengths {top.band} tokens in layer {top.layer}: "
        f"{top.outcome:.2g}"
    )
    loss = ""
    if run.loss == run.loss:
        largest = frame.iloc[frame.loss_difference.argmax()]
        loss = (
            f" The loss on the text is {run.loss:.2f} nats per token; it rises most, by {largest.loss_difference:.2f}, "
            "without "
            f"{'any rotation' if largest.band == ALL_BANDS else f'wavelengths {largest.band} tokens'} in layer "
            f"{largest.layer}."
        )
    return Figure(
        title="What the model loses when one band is not rotated",
        finding=finding,
        frame=lambda: frame,
        caption=(
            f"{run.measure[0].upper()}{run.measure[1:]}, between the model as it is and the model in which one layer "
            f"does not rotate one band of wavelengths (tokens), or any of them; each cell is one forward pass.{loss} "
            f"{readable(run.provenance.model)}, one text of {run.tokens} tokens."
        ),
        alt=f"Heat map of {len(run.values)} layers by {frame.band.nunique()} bands. {finding}.",
        draw=lambda theme: [_draw(frame, [name for name in names if (frame.band == name).any()], run.measure, theme)],
    )


def _draw(frame: pd.DataFrame, bands: list[str], label: str, theme: Theme) -> Chart:
    """Layers down, bands across; empty where a layer has none."""
    layers = int(frame.layer.max()) + 1
    table = frame.pivot(index="layer", columns="band", values="outcome").reindex(index=range(layers), columns=bands)
    return heatmap(
        table.to_numpy(float),
        [str(layer) for layer in range(layers)],
        bands,
        domain=(0, max(float(frame.outcome.max()), 1e-6)),
        row_title="layer",
        column_title="wavelengths that are not rotated (tokens)",
        value_title=label,
        diverging=False,
        level=True,
        side=marks.WIDE,
        height=max(160, 24 * layers),
        theme=theme,
    )
