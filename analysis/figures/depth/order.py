"""Figures against depth: what permuting the words does to hidden states, and how far tokens attend."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.formatting import significant
from analysis.figures import marks
from analysis.figures.depth.models import (
    HEIGHT,
    TIPS,
    ModelsParameters,
    along_layers,
    colour,
    join_models,
    run_descriptions,
    stored_models,
    titled,
    windows,
)
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure

COMMAND = "measure order --texts FILE"
TOKENS = {"moved": "Words, each where it was moved to", "last": "The last token, which stays where it is"}
QUERIES = {"cls": "[CLS]", "word": "Words"}
ROUNDING = 1e-9
"""A change below this, in distances between two words, is rounding in float64."""
BINS = "every bin is twice as wide as the one before"


@figure("depth_equivariance", ModelsParameters)
def equivariance(params: ModelsParameters) -> Figure:
    """Equivariance error by depth, positions as trained and off."""
    rows, models = stored_models(params.models, "newest_equivariance", COMMAND)
    table = rows[["model", "positions", "tokens", "layer", "depth", "value", "low", "high", "largest", "windows"]]
    text = " ".join(_output_change(rows[rows.model == model], model) for model in models[:2])
    panels = {tokens: title for tokens, title in TOKENS.items() if (rows.tokens == tokens).any()}
    return Figure(
        title="What permuting the words does to the hidden states",
        finding=_permutation_finding(rows[rows.model == models[0]]),
        frame=lambda: table,
        caption=(
            f"{text} The words of each window are put in another order. The hidden states are then compared with "
            "those of the original window, put in the same order: 0 means that order changes nothing else, and 1 "
            f"that the two are as far apart as two words of a window. Over {windows(rows)}; special tokens stay in "
            "place; in float64. Dashed: the same model with its positions switched off. Without positions an encoder "
            "stays at 0 at any depth. A causal model does not, though after one layer its last token still cannot "
            "see the order of the tokens before it. Bars: 95 % bootstrap intervals over windows."
        ),
        alt=f"{len(panels)} panels of equivariance error against depth for {join_models(models)}. {text}",
        command="\n".join(dict.fromkeys(rows.command)),
        provenance=run_descriptions(rows),
        draw=lambda theme: _draw_equivariance(titled(table), [readable(model) for model in models], panels, theme),
        columns=2,
    )


def _output_change(rows: pd.DataFrame, model: str) -> str:
    ends: Any = rows[(rows.tokens == "moved") & (rows.depth == 1)].set_index("positions").sort_index()
    sentences = [f"{significant(row.value)} with positions {positions}" for positions, row in ends.iterrows()]
    return f"{readable(model)}: the last layer's output moves by {' and '.join(sentences)}."


@figure("depth_locality", ModelsParameters)
def locality(params: ModelsParameters) -> Figure:
    """The distances over which [CLS] and words attend: mean distance by depth, and attention against distance."""
    rows, models = stored_models(params.models, "newest_locality", COMMAND)
    rows = rows.assign(ratio=rows.value / rows.even, ratio_low=rows.low / rows.even)
    rows = rows.assign(ratio_high=rows.high / rows.even)
    columns = ["model", "layer", "head", "query", "measure", "distance", "value", "low", "high", "even", "windows"]
    all_heads = rows["head"].isna()
    by_layer = rows[all_heads & (rows.measure == "mean_distance")]
    by_distance = _binned(rows[all_heads & (rows.measure == "attention")])
    text = " ".join(_attention_distance(rows[rows.model == model], model) for model in models[:2])
    return Figure(
        title="How far [CLS] and words attend",
        finding=_distance_finding(rows[rows.model == models[0]]),
        frame=lambda: rows[columns],
        caption=(
            f"{text} Only attention to the other words of a window counts, rescaled to sum to 1: attention to the "
            "token itself and to separators is left out, because heads that look for nothing rest there (attention to "
            "the token itself is in the data). All heads count alike. Above: the mean distance divided by that of even "
            "attention, which gives every word the same (dashed, 1); below 1 is nearer. Below: attention at each "
            f"distance divided by even attention there, mean over layers; {BINS}. Over {windows(rows)}. Bars: 95 % "
            "bootstrap intervals over windows, which say nothing about other trainings. A causal model's [CLS] sees "
            "itself alone and is not shown."
        ),
        alt=f"Panels of how far [CLS] and words attend, by depth and against distance, for {join_models(models)}. "
        f"{text}",
        command="\n".join(dict.fromkeys(rows.command)),
        provenance=run_descriptions(rows),
        draw=lambda theme: _draw_locality(
            titled(by_layer[["model", "layer", "depth", "query", "ratio", "ratio_low", "ratio_high", "value"]]),
            titled(by_distance),
            [readable(model) for model in models],
            {query: title for query, title in QUERIES.items() if (rows["query"] == query).any()},
            theme,
        ),
        columns=2,
    )


def _binned(rows: pd.DataFrame) -> pd.DataFrame:
    """Attention over even attention in bins of distance 1, 2 to 3, 4 to 7 and so on, mean over layers."""
    rows = rows.assign(bin=np.floor(np.log2(rows.distance.astype(float))))
    sums = rows.groupby(["model", "query", "layer", "bin"], sort=False)[["value", "even"]].sum()
    ratio = (sums.value / sums.even).rename("ratio").reset_index()
    result = ratio.groupby(["model", "query", "bin"], sort=False).ratio.mean().reset_index()
    first = (2**result.bin).astype(int)
    longest = result.merge(rows.groupby(["model", "query"]).distance.max().reset_index()).distance.astype(int)
    last = np.minimum(2 * first - 1, longest)
    return result.assign(distance=np.sqrt(first * last), first=first, last=last)


def _attention_distance(frame: pd.DataFrame, model: str) -> str:
    rows = frame[(frame.measure == "mean_distance") & frame["head"].isna()]
    sentences = []
    for query, title in QUERIES.items():
        query_rows = rows[rows["query"] == query].sort_values("layer")
        if len(query_rows):
            mean = (query_rows.value / query_rows.even).mean()
            low, high = (query_rows.value / query_rows.even).min(), (query_rows.value / query_rows.even).max()
            sentences.append(f"{title} {significant(mean)} ({significant(low)} to {significant(high)})")
    return (
        f"{readable(model)}, mean over layers (smallest to largest): {', '.join(sentences)} times the distance of "
        "even attention."
    )


def _permutation_finding(rows: pd.DataFrame) -> str:
    """A sentence on the movement of one model's output when its words are permuted, with positions and without."""
    ends: Any = rows[(rows.tokens == "moved") & (rows.depth == 1)].set_index("positions").value
    if not {"as trained", "off"} <= set(ends.index):
        return ""
    off = significant(ends["off"]) if ends["off"] > ROUNDING else "nothing but rounding"
    return (
        f"Permuting the words moves the output by {significant(ends['as trained'])} of the distance between two words; "
        f"with positions switched off, by {off}"
    )


def _distance_finding(rows: pd.DataFrame) -> str:
    """A sentence on the distance over which words attend, as a multiple of even attention's; mean over layers."""
    distances = rows[(rows["query"] == "word") & (rows.measure == "mean_distance") & rows["head"].isna()]
    if distances.empty:
        return ""
    times = significant((distances.value / distances.even).mean())
    return f"Mean over layers, words attend at {times} times the distance of even attention"


def _draw_equivariance(rows: pd.DataFrame, models: list[str], panels: dict[str, str], theme: Theme) -> list[Chart]:
    """Errors with intervals; positions off dashed."""
    y = marks.number(alt.Y, "value", None, domain=(0, max(1.0, float(rows.high.max()))), padding=6)
    charts = []
    for index, (tokens, title) in enumerate(panels.items()):
        named = len(models) if index == len(panels) - 1 and len(models) > 1 else 0
        lines = marks.line_plot(
            rows[rows.tokens == tokens],
            x=along_layers(models),
            y=y,
            theme=theme,
            color=colour(models, theme, named=named),
            ends=("low", "high"),
            dash=marks.dashes("positions", {"as trained": [1, 0], "off": marks.DASH}),
            dots=marks.SEED,
            tooltip=(
                *TIPS,
                "positions",
                ("value", "change, in distances between two words", ".3~g"),
                *marks.interval_tips(".3~g"),
                ("largest", "largest change of one number", ".2~g"),
            ),
        )
        below = ["dashed: positions switched off"]
        charts.append(marks.panel(*lines, theme=theme, width=marks.HALF, height=HEIGHT, title=title, below=below))
    return charts


def _draw_locality(
    by_layer: pd.DataFrame, by_distance: pd.DataFrame, models: list[str], queries: dict[str, str], theme: Theme
) -> list[Chart]:
    """Mean distance by layer above, attention against distance below; a column a kind of query."""
    titles = list(queries.items())
    even = marks.rule(theme, y=1, dash=marks.DASH)
    in_layers = marks.number(
        alt.X, "depth", "layer (0: first, 1: last)", domain=(0, 1), padding=8, ticks=5, grid=False
    )  # fmt: skip
    upper, lower = [], []
    for index, (query, title) in enumerate(titles):
        lines = marks.line_plot(
            by_layer[by_layer["query"] == query],
            x=marks.categories(alt.X, "layer", "layer") if len(models) == 1 else in_layers,
            y=marks.number(alt.Y, "ratio", None),
            theme=theme,
            color=colour(models, theme, named=0),
            ends=("ratio_low", "ratio_high"),
            dots=marks.SEED,
            tooltip=(
                "model",
                "layer",
                ("ratio", "relative to even attention", ".3~g"),
                ("value", "mean distance, tokens", ".3~g"),
                *marks.interval_tips(".3~g", "ratio_low", "ratio_high"),
            ),
        )
        above = f"{title}: mean distance relative to even attention"
        upper.append(marks.panel(even, *lines, theme=theme, width=marks.HALF, height=HEIGHT, title=above))
        named = len(models) if index == len(titles) - 1 and len(models) > 1 else 0
        lines = marks.line_plot(
            by_distance[by_distance["query"] == query],
            x=marks.number(alt.X, "distance", "distance, tokens", log=2, nice=False, padding=8, ticks=6, grid=False),
            # By ratio: ten times as much and a tenth are as far from even.
            y=marks.number(alt.Y, "ratio", None, log=2, ticks=6),
            theme=theme,
            color=colour(models, theme, named=named),
            dots=marks.SEED,
            tooltip=(
                "model",
                ("first", "distance from"),
                ("last", "to"),
                ("ratio", "relative to even attention", ".3~g"),
            ),
        )
        below = f"{title}: attention at each distance, relative to even"
        lower.append(marks.panel(even, *lines, theme=theme, width=marks.HALF, height=HEIGHT, title=below))
    # A column each; where there is but one kind, its two panels stand abreast.
    return upper + lower
