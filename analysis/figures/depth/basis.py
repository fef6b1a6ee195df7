"""Figure of the position basis against depth, with the published numbers of Song & Zhong."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.formatting import percent
from analysis.figures.depth.data import (
    ModelsParameters,
    join_models,
    run_descriptions,
    stored_models,
    titled,
    windows,
)
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


@dataclass(frozen=True)
class BasisContent:
    """rows: a row per model, layer and measure. panels: measure -> title. published: those of `models` in a paper."""

    rows: pd.DataFrame
    models: list[str]
    panels: dict[str, str]
    published: list[str]


@figure("depth_basis", ModelsParameters)
def basis(params: ModelsParameters) -> Figure[BasisContent]:
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
        content=BasisContent(
            rows=titled(rows),
            models=[readable(model) for model in models],
            panels=MEASURES,
            published=list(PUBLISHED_MODELS.values()),
        ),
    )
