"""Figures of interventions: a model on one text before and after, the permutation test, and effects over a corpus."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd
from numpy import ndarray

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised, signed
from analysis.figures.figure import STRONGEST, Figure, LiveRun, Parameters, figure
from analysis.figures.one_run import checked_head, map_frame, run_facts, stored_facts
from analysis.figures.terms.maps import HeadParameters
from analysis.measurements.interventions.result import InterventionResult, PermutationTest
from analysis.probes import intervention_probe
from analysis.probes.intervention_probe import InterventionRequest, PermutationRequest
from analysis.store import read

CITATION_KEYS = ("ke2021tupe", "reimers2019sbert")
OUTCOMES = {
    "attention_kl": "attention: KL(before ‖ after), nats",
    "drift": "output: 1 − cosine",
    "loss_change": "loss: change, nats per token",
}
"""Outcomes that the stored figure shows, each only for models that have it."""


class PermutationParameters(Parameters):
    """The seed of the permutation."""

    seed: int


class EffectsParameters(Parameters):
    """The model that was intervened on."""

    model: str


@dataclass(frozen=True)
class TokensContent:
    """losses: whether the model predicts tokens, so that there are losses. labels: the tokens."""

    losses: bool
    labels: list[str]


@dataclass(frozen=True)
class PatternChangeContent:
    """kl: (layer, head), how far the attention pattern changes, in nats."""

    kl: ndarray


@dataclass(frozen=True)
class PatternsContent:
    """maps: name -> attention (query, key) of the tokens in `labels`, on a scale up to `limit`."""

    maps: dict[str, ndarray]
    labels: Sequence[str]
    limit: float


@dataclass(frozen=True)
class PermutationContent:
    """labels: the tokens, as they were permuted."""

    labels: list[str]


@dataclass(frozen=True)
class EffectsContent:
    """order: the interventions, that of the largest effect first. outcomes: those measured, name -> title."""

    order: list[str]
    outcomes: dict[str, str]


RUN = LiveRun(
    obtain=InterventionRequest.obtain,
    provenance=run_facts,
    command=intervention_probe.command,
    citation_keys=CITATION_KEYS,
)
PERMUTATION = LiveRun(obtain=PermutationRequest.obtain, provenance=run_facts, citation_keys=CITATION_KEYS)


def _description(outcome: InterventionResult | PermutationTest) -> str:
    provenance = outcome.provenance
    cut = f", cut from {provenance.truncated_from}" if provenance.truncated_from else ""
    return (
        f"{readable(provenance.model)}, one text of {len(outcome.token_info)} tokens{cut} "
        f"({provenance.dtype}, {provenance.device})"
    )


@figure("intervention_tokens", Parameters, live=RUN)
def intervention_tokens(params: Parameters, outcome: InterventionResult) -> Figure[TokensContent]:
    """The outcome: losses of predicted tokens where there is a head, else how far each output moved."""
    frame = pd.DataFrame({"place": range(len(outcome.tokens)), "token": outcome.tokens, "cosine": outcome.cosine})
    mean = f"mean cosine of the output hidden states before and after {outcome.cosine.mean():.4f}"
    predictions = outcome.predictions
    if predictions:
        predicted = pd.DataFrame(
            {
                "place": predictions.places,
                "likeliest_before": predictions.likeliest_before,
                "likeliest_after": predictions.likeliest_after,
                "probability_before": np.exp(-predictions.before),
                "probability_after": np.exp(-predictions.after),
                "loss_before": predictions.before,
                "loss_after": predictions.after,
            }
        )
        frame = frame.merge(predicted, on="place", how="inner")
        before, after = predictions.losses
        task, measure = {
            "masked": ("each token masked alone and predicted", "pseudo-perplexity"),
            "next": ("each token predicted from those before it", "perplexity"),
        }[predictions.kind]
        summary = (
            f"Cross-entropy in nats, {task}: mean {before:.3f} before, {after:.3f} after ({measure} "
            f"{np.exp(before):.1f} and {np.exp(after):.1f}); {mean}"
        )
    else:
        summary = (
            "Cosine of each token's output hidden state before and after, as this checkpoint has no head that predicts "
            f"tokens; {mean}"
        )
    return Figure(
        title="What the model then predicts" if predictions else "How far the output moves",
        finding=_outcome_finding(outcome),
        frame=lambda: frame,
        caption=f"{summary}. Intervention: {outcome.words}. {_description(outcome)}.",
        alt=f"A mark for each of {len(frame)} tokens. {summary}.",
        content=TokensContent(losses=predictions is not None, labels=list(frame.token)),
    )


@figure("intervention_kl", Parameters, live=RUN)
def intervention_kl(_: Parameters, outcome: InterventionResult) -> Figure[PatternChangeContent]:
    """Every head's attention, before against after."""
    return pattern_change(outcome)


def pattern_change(outcome: InterventionResult) -> Figure[PatternChangeContent]:
    """The change in the attention of every head, for a text or an image."""
    layer, head = np.unravel_index(int(outcome.kl.argmax()), outcome.kl.shape)
    frame = frames.cells(outcome.kl, "kl", layer=None, head=None)
    return Figure(
        title="Which heads change their attention",
        finding=f"Attention changes most in layer {layer}, head {head}, by {outcome.kl.max():.2f} nats",
        frame=lambda: frame,
        caption=(
            f"KL(pattern before ‖ after) in nats, mean over queries; mean over all heads {outcome.kl.mean():.3f}, "
            f"largest {outcome.kl.max():.3f} (layer {layer}, head {head}). From layer 1 on a head also changes "
            f"because its input did. Intervention: {outcome.words}. {_description(outcome)}."
        ),
        alt=f"Heat map of {outcome.layers} layers by {outcome.heads} heads; the largest is at layer {layer}, head "
        f"{head}.",
        content=PatternChangeContent(kl=outcome.kl),
    )


@figure("intervention_maps", HeadParameters, live=RUN)
def intervention_maps(params: HeadParameters, outcome: InterventionResult) -> Figure[PatternsContent]:
    """One head's pattern before and after, and the difference, on one scale."""
    strongest = int(outcome.kl[outcome.layer].argmax())
    head = strongest if params.head == STRONGEST else checked_head(params.head, outcome.heads)
    before, after = outcome.before[head], outcome.after[head]
    maps = {"before": before, "after": after, "after − before": after - before}
    query, key = np.unravel_index(int(np.abs(after - before).argmax()), before.shape)
    change = f"from “{outcome.tokens[query]}” to “{outcome.tokens[key]}”, {signed(float((after - before)[query, key]))}"
    return Figure(
        title=f"Layer {outcome.layer}, head {head}",
        finding=f"In layer {outcome.layer}, head {head}, attention changes most {change}",
        frame=lambda: map_frame(maps, outcome.tokens),
        caption=(
            "Attention probabilities, on one scale; rows are queries, columns are keys. The largest change is "
            f"{change}; KL {outcome.kl[outcome.layer, head]:.3f} nats. Intervention: {outcome.words}. "
            f"{_description(outcome)}."
        ),
        alt=f"Three maps, {len(outcome.tokens)} tokens a side; attention changes most {change}.",
        content=PatternsContent(maps=maps, labels=outcome.tokens, limit=float(max(before.max(), after.max()))),
    )


@figure("intervention_permutation", PermutationParameters, live=PERMUTATION)
def intervention_permutation(params: PermutationParameters, outcome: PermutationTest) -> Figure[PermutationContent]:
    """A test of the output's dependence on the order of tokens, with positions switched off and on."""
    off, on = float(outcome.off.max()), float(outcome.on.max())
    tokens = [outcome.token_info[index].text for index in outcome.order]
    frame = pd.DataFrame({"place": range(len(tokens)), "token": tokens, "off": outcome.off, "on": outcome.on})
    if outcome.holds:
        verdict = "Without positions, permuting the tokens permutes the output and does nothing else, up to rounding"
    elif outcome.causal:
        verdict = "Without positions, the order still shows: the causal mask alone tells tokens where they are"
    else:
        verdict = "Without positions, the order still shows"
    return Figure(
        title="The permutation test",
        finding=verdict,
        frame=lambda: frame,
        caption=(
            f"{verdict}: largest difference {off:.1e}. With positions it is {on:.2g}. Both are |output of the "
            f"permuted text − permuted output|, where the largest output is {outcome.reach:.2g}; tokens, segments and "
            f"mask are permuted together (seed {params.seed}). {_description(outcome)}."
        ),
        alt=f"Two marks for each of {len(tokens)} tokens, on a log scale. {verdict}: {off:.1e} against {on:.2g}.",
        command=intervention_probe.permutation_command(outcome, params.seed),
        content=PermutationContent(labels=tokens),
    )


def _left_out(spec: str, reason: str, rows: Any, texts: int) -> str:
    """The sentence on an intervention that some texts, or all, were too long for."""
    result = rows[rows.intervention == spec]
    if result.empty:
        return f" {reason}"
    return f" {result.texts.iloc[0]} of {texts} texts leave room for {result.done.iloc[0]}."


@figure("intervention_effects", EffectsParameters)
def intervention_effects(params: EffectsParameters) -> Figure[EffectsContent]:
    """The effect of every intervention over a corpus."""
    model = params.model
    rows = read.query(
        "SELECT * FROM newest_interventions WHERE model = ? AND layer IS NULL AND intervention <> '' "
        "ORDER BY created DESC, run_id, texts DESC",
        [model],
    )
    if rows.empty:
        raise NoResults(
            f"No interventions on {readable(model)} are stored yet. Run: python -m analysis intervene --model "
            f"{quote(model)}"
        )
    newest: Any = rows[rows.run_id == rows.run_id.iloc[0]]
    first: Any = newest.iloc[0]
    config = json.loads(first.config)
    # A cosine near 1 is a small effect: shown as what is missing to 1, so that all outcomes grow with the effect.
    cosine = newest.outcome == "cosine"
    drift = newest[cosine].assign(outcome="drift", value=1 - newest.value, low=1 - newest.high, high=1 - newest.low)
    long = pd.concat([newest[~cosine], drift])[["intervention", "outcome", "value", "low", "high", "texts", "tokens"]]
    long = long.assign(done=long.intervention.map(config["said"]))
    kl = long[long.outcome == "attention_kl"].sort_values("value", ascending=False)
    text = f"most: {kl.done.iloc[0]}, {kl.value.iloc[0]:.2f} nats; least: {kl.done.iloc[-1]}, {kl.value.iloc[-1]:.3f}"
    losses = long[long.outcome == "loss_change"]
    loss_note = f" Losses are over {losses.tokens.max():,} of the tokens" if len(losses) else ""
    if loss_note and config["head"] == "masked":
        maximum = config.get("most_masked", "as many as the code then took,")
        loss_note += f", each masked alone: all tokens of a text but the special ones, or {maximum} evenly spaced"
    loss_note += "." if loss_note else ""
    left_out = "".join(_left_out(spec, why, kl, first.texts) for spec, why in config["left_out"].items())
    return Figure(
        title=f"Every intervention over the {first.corpus.replace('_', ' ')}",
        finding=(
            f"“{capitalised(kl.done.iloc[0])}” changes attention most, by {kl.value.iloc[0]:.2f} nats; "
            f"“{kl.done.iloc[-1]}” least, by {kl.value.iloc[-1]:.3f}"
        ),
        frame=lambda: long,
        caption=(
            f"{readable(first.model)}, each intervention alone on {first.texts} texts, {first.tokens:,} tokens. "
            f"Attention (mean over layers and heads) changes {text}. Dropped terms are dropped at every layer. Lines: "
            f"95 % bootstrap intervals, {config['resamples']:,} resamples of {config['clusters']} groups of texts "
            f"that share no passage; they say nothing about other texts or models.{loss_note}{left_out}"
        ),
        alt=f"Dot plots of {kl.shape[0]} interventions. Attention changes {text}.",
        command=(
            f'{first.command}\npython -m analysis query "SELECT * FROM intervention_effects WHERE model = '
            f"'{first.model}'\" --csv"
        ),
        provenance=stored_facts(first, corpus=f"{first.corpus}, {first.texts} texts, {first.tokens:,} tokens"),
        citation_keys=CITATION_KEYS,
        content=EffectsContent(
            order=list(kl.done),
            outcomes={name: label for name, label in OUTCOMES.items() if (long.outcome == name).any()},
        ),
    )


def _outcome_finding(outcome: InterventionResult) -> str:
    """A sentence on the effect on the predictions or, if the model has no head that predicts, on the outputs."""
    if outcome.predictions:
        before, after = outcome.predictions.losses
        return f"The loss goes from {before:.2f} to {after:.2f} nats per token"
    return f"The outputs before and after have a mean cosine of {outcome.cosine.mean():.2f}"
