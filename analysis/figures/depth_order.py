"""Figures against depth: what permuting the words does to hidden states, and how far tokens attend."""

from typing import Any

import numpy as np

from analysis.claims.said import number
from analysis.figures.base import Figure, Params, figure
from analysis.figures.depth import models_of, told_runs, windows
from analysis.published import Frame

MAKE = "measure-order --texts FILE"
TOKENS = {"moved": "Words, each where it was moved to", "last": "The last token, which stays where it is"}
QUERIES = {"cls": "[CLS]", "word": "Words"}
BINS = "every bin is twice as wide as the one before"


@figure("depth_equivariance")
def equivariance(params: Params) -> Figure:
    """Equivariance error by depth, positions as trained and off."""
    found, models = models_of(params, "newest_equivariance", MAKE)
    table = found[["model", "positions", "tokens", "layer", "depth", "value", "low", "high", "largest", "windows"]]
    told = " ".join(_strayed(found[found.model == model], model) for model in models[:2])
    panels = {tokens: title for tokens, title in TOKENS.items() if (found.tokens == tokens).any()}
    return Figure(
        name="depth_equivariance",
        title="What permuting the words does to the hidden states",
        frame=lambda: table,
        caption=(
            f"{told} The words of each window are put in another order, and its states are compared with the permuted "
            "states of the window as it was: 0 where order makes no difference but that of place, 1 where the two are "
            f"as far apart as two words of a window. Over {windows(found)}, special tokens left in place, in float64. "
            "Dashed: the same model with its positions switched off. Without positions an encoder stays at 0 at any "
            "depth; a causal mask does not, though after one layer its last token is still blind to the order before "
            "it. Bars: 95 % bootstrap intervals over windows."
        ),
        alt=f"{len(panels)} panels of equivariance error against depth for {', '.join(models)}. {told}",
        command="\n".join(dict.fromkeys(found.command)),
        provenance=told_runs(found),
        content={"rows": table, "models": models, "panels": panels},
    )


def _strayed(found: Frame, model: str) -> str:
    ends: Any = found[(found.tokens == "moved") & (found.depth == 1)].set_index("positions").sort_index()
    said = [f"{number(row.value)} with positions {positions}" for positions, row in ends.iterrows()]
    return f"{model}: what leaves the last layer moves by {' and '.join(said)}."


@figure("depth_locality")
def locality(params: Params) -> Figure:
    """How far [CLS] and words attend: by depth, and against distance."""
    found, models = models_of(params, "newest_locality", MAKE)
    found = found.assign(ratio=found.value / found.even, ratio_low=found.low / found.even)
    found = found.assign(ratio_high=found.high / found.even)
    columns = ["model", "layer", "head", "query", "measure", "distance", "value", "low", "high", "even", "windows"]
    whole = found["head"].isna()
    reach = found[whole & (found.measure == "mean_distance")]
    at = _binned(found[whole & (found.measure == "attention")])
    told = " ".join(_reach(found[found.model == model], model) for model in models[:2])
    return Figure(
        name="depth_locality",
        title="How far [CLS] and words attend",
        frame=lambda: found[columns],
        caption=(
            f"{told} Attention over the other words of a window alone, made to sum to 1 (what goes to the token itself "
            "and to separators is left out, for attention that has nothing to fetch rests there; what goes to itself "
            "is in the data), all heads alike. Above: the mean distance over "
            "that of attention that is the same for every word (dashed, 1): below 1 is nearer. Below: attention "
            f"at a distance over even attention there, mean over layers; {BINS}. Over {windows(found)}. Bars: 95 % "
            "bootstrap intervals over windows, which say nothing about other trainings. A causal model's [CLS] sees "
            "itself alone and is not shown."
        ),
        alt=f"Panels of how far [CLS] and words attend, by depth and against distance, for {', '.join(models)}. {told}",
        command="\n".join(dict.fromkeys(found.command)),
        provenance=told_runs(found),
        content={
            "reach": reach[["model", "layer", "depth", "query", "ratio", "ratio_low", "ratio_high", "value"]],
            "at": at,
            "models": models,
            "queries": {query: title for query, title in QUERIES.items() if (found["query"] == query).any()},
        },
    )


def _binned(rows: Frame) -> Frame:
    """Attention over even attention in bins of distance 1, 2 to 3, 4 to 7 and so on, mean over layers."""
    rows = rows.assign(bin=np.floor(np.log2(rows.distance.astype(float))))
    sums = rows.groupby(["model", "query", "layer", "bin"], sort=False)[["value", "even"]].sum()
    ratio = (sums.value / sums.even).rename("ratio").reset_index()
    found = ratio.groupby(["model", "query", "bin"], sort=False).ratio.mean().reset_index()
    first = (2**found.bin).astype(int)
    longest = found.merge(rows.groupby(["model", "query"]).distance.max().reset_index()).distance.astype(int)
    last = np.minimum(2 * first - 1, longest)
    return found.assign(distance=np.sqrt(first * last), first=first, last=last)


def _reach(found: Frame, model: str) -> str:
    rows: Any = found[(found.measure == "mean_distance") & found["head"].isna()]
    said = []
    for query, title in QUERIES.items():
        of = rows[rows["query"] == query].sort_values("layer")
        if len(of):
            mean = (of.value / of.even).mean()
            low, high = (of.value / of.even).min(), (of.value / of.even).max()
            said.append(f"{title} {number(mean)} ({number(low)} to {number(high)})")
    return f"{model}, mean over layers (and least to most): {', '.join(said)} of the distance of even attention."
