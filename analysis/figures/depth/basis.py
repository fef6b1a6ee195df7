"""Figure of the position basis against depth, with the published numbers of Song & Zhong."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.formatting import percent
from analysis.figures import marks
from analysis.figures.depth.models import (
    DEPTH,
    HEIGHT,
    TIPS,
    ModelsParameters,
    colour,
    join_models,
    run_descriptions,
    stored_models,
    titled,
    windows,
)
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.store import read

MEASURES = {
    "rank": "Rank estimate (at most 20)",
    "stable_rank": "Stable rank",
    "relative_norm": "Relative norm",
    "position_share": "Position's share of energy",
    "context_share": "Context's share of energy",
    "cosine_to_next": "Cosine to the next layer's basis",
}
BELOW = {
    "rank": "directions that stand out of the noise",
    "stable_rank": "all squares over the largest one",
    "relative_norm": "position's over that of the states",
    "position_share": "dashed: what sampling alone would give",
    "context_share": "what a text has at every position",
    "cosine_to_next": "1: the same directions in both",
}
"""The line under each panel's title; every panel has one, since the plots of a row begin at one height."""
PUBLISHED_MEASURES = {
    "rank estimate of positional basis (ScreeNOT, cap 20)": "rank",
    "stable rank of positional basis": "stable_rank",
    "relative norm ||pos||2/||mu+pos+ctx||2": "relative_norm",
}
"""Printed measures that we have too, by the same formula."""
CITATION, SETTING = "song2023geometry", "WikiText"
PUBLISHED_MODELS = {"BERT": "BERT (published)", "GPT2": "GPT-2 (published)"}


def published() -> pd.DataFrame:
    """Song & Zhong's figures for BERT and GPT-2 on WikiText: model, layer, depth, measure, value, caveat."""
    marks = read.placeholders(PUBLISHED_MEASURES)
    rows = read.query(
        "SELECT variant, printed_task, printed_metric, printed_value AS value, caveat FROM published_rows "
        f"WHERE citation = ? AND setting = ? AND variant IN (?, ?) AND printed_metric IN ({marks})",
        [CITATION, SETTING, *PUBLISHED_MODELS, *PUBLISHED_MEASURES],
    )
    layer = rows.printed_task.str.removeprefix("Layer ").astype(int)
    return pd.DataFrame(
        {
            "model": rows.variant.map(PUBLISHED_MODELS),
            "layer": layer,
            "depth": layer / layer.max(),
            "measure": rows.printed_metric.map(PUBLISHED_MEASURES),
            "value": rows.value,
            "caveat": rows.caveat,
        }
    ).sort_values(["model", "measure", "layer"], ignore_index=True)


@figure("depth_basis", ModelsParameters)
def basis(params: ModelsParameters) -> Figure:
    """Six numbers of the position basis, by depth."""
    frame, models = stored_models(params.models, "newest_means", "measure means --texts FILE")
    measured = frame.melt(["model", "layer", "depth", "noise_share"], list(MEASURES), "measure").dropna(subset="value")
    measured = measured.assign(noise=measured.noise_share.where(measured.measure == "position_share")).drop(
        columns="noise_share"
    )
    reference = published()
    rows = pd.concat([measured.assign(caveat=None), reference], ignore_index=True)
    first = frame[frame.model == models[0]].sort_values("layer")
    start = first.iloc[0]
    gap = ""
    if not np.isnan(start.frozen_gap):
        expected = np.sqrt(start.noise_share / start.position_share)
        gap = (
            f" At layer 0 its positions differ by {percent(start.frozen_gap)} from those of method frozen, which hold "
            f"no word; sampling this many windows would alone make them differ by {percent(expected)}."
        )
    last = first.iloc[-1]
    sentence = (
        f"{readable(models[0])}: position holds {percent(start.position_share, 1)} of the energy where the first "
        f"layer begins and {percent(last.position_share, 1)} where the last one ends; sampling alone would give "
        f"{percent(last.noise_share, 1)}."
    )
    distinct = dict.fromkeys(reference.caveat.dropna())
    caveats = " ".join(text for text in distinct if not any(text != other and text in other for other in distinct))
    return Figure(
        title="The position basis",
        finding=(
            f"Position holds {percent(start.position_share, 1)} of the hidden states' energy where the first layer "
            f"begins, {percent(last.position_share, 1)} where the last one ends"
        ),
        frame=lambda: rows,
        caption=(
            f"{sentence}{gap} Method mean: hidden state = mean + position + context + residual, over "
            f"{windows(frame)}, the first token and separators left out. "
            "Energy: the sum of squares of the hidden states, of which the four parts' shares sum to 1; dashed: what "
            f"sampling alone would give. Grey: Song & Zhong 2023, by the same formulas, for other models, over "
            f"{SETTING}; the defaults of their script are 6,400 windows of 512 tokens without special tokens, the "
            f"first left out. {caveats}"
        ),
        alt=f"{len(MEASURES)} panels of measures against depth for {join_models(models)}, and for BERT and GPT-2 as "
        f"published. {sentence}",
        command="\n".join(dict.fromkeys(frame.command)),
        provenance=run_descriptions(frame),
        citation_keys=(CITATION,),
        draw=lambda theme: _draw(titled(rows), [readable(model) for model in models], theme),
        columns=3,
    )


def _draw(measured: pd.DataFrame, models: list[str], theme: Theme) -> list[Chart]:
    """Measures of the position basis; published models are grey, told apart by their marks."""
    published = list(PUBLISHED_MODELS.values())
    shapes = dict.fromkeys(models, "circle") | dict(zip(published, ("square", "triangle-up"), strict=True))
    y = marks.number(alt.Y, "value", None, zero=True, ticks=5)
    charts = []
    for index, (name, title) in enumerate(MEASURES.items()):
        rows = measured[measured.measure == name]
        named = len(shapes) if index >= len(MEASURES) - 3 else 0
        hue = colour(models, theme, named=named, grey=published)
        dashed = alt.Chart(rows.loc[rows.noise.notna(), ["model", "depth", "noise"]])
        noise = dashed.mark_line(strokeDash=marks.DASH, opacity=0.8).encode(
            x=DEPTH, y=marks.same_axis(y, "noise"), color=hue
        )
        lines = marks.line_plot(
            rows[["model", "layer", "depth", "value"]],
            x=DEPTH,
            y=y,
            theme=theme,
            color=hue,
            dots=marks.SEED,
            shape=marks.shapes("model", shapes, marks.legend() if named else None),
            tooltip=(*TIPS, ("value", "", ".4~g")),
        )
        charts.append(
            marks.panel(noise, *lines, theme=theme, width=marks.THIRD, height=HEIGHT, title=title, below=[BELOW[name]])
        )
    return charts
