"""Figures of interventions: what a model does on one text before and after, the permutation test, and over a corpus."""

import json
from collections.abc import Sequence
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import NoResults
from analysis.figures.base import Figure, Params, figure
from analysis.figures.one_run import facts, head_of, map_frame
from analysis.figures.words import signed
from analysis.interventions.request import PermutationRequest, Request
from analysis.interventions.result import Intervened, PermutationTest
from analysis.provenance import model_options
from analysis.store import read
from analysis.terms.result import Provenance

CITE = ("ke2021tupe", "reimers2019sbert")
OUTCOMES = {
    "attention_kl": "attention: KL(before ‖ after), nats",
    "drift": "output: 1 − cosine",
    "loss_change": "loss: change, nats a token",
}
"""What the stored figure shows, where a model has it."""


def run(params: Params) -> Intervened:
    """The run that a link asks for."""
    return Request.of(params).run()


def permuted(params: Params) -> PermutationTest:
    """The permutation test that a link asks for."""
    return PermutationRequest.of(params).run()


def _command(about: Provenance, options: Sequence[str]) -> str:
    parts = ["python -m analysis intervene", model_options(about.model, about.revision), f"--text {quote(about.text)}"]
    if about.text_pair:
        parts.append(f"--pair {quote(about.text_pair)}")
    if about.truncated_from:
        parts.append("--truncate")
    return " ".join([*parts, *options])


def _did(made: Intervened) -> str:
    # With nothing to do the command would do something, so it is told to drop no term.
    return _command(made.provenance, [f"--do {quote(spec)}" for spec in made.interventions or ("drop_terms",)])


def _where(made: Intervened | PermutationTest) -> str:
    about = made.provenance
    cut = f", cut from {about.truncated_from}" if about.truncated_from else ""
    return f"{about.model}, one text of {len(made.token_info)} tokens{cut} ({about.dtype}, {about.device})"


@figure("intervention_tokens", live=run)
def intervention_tokens(params: Params, made: Intervened) -> Figure:
    """The outcome: losses of predicted tokens where there is a head, else how far each output moved."""
    frame = pd.DataFrame({"place": range(len(made.tokens)), "token": made.tokens, "cosine": made.cosine})
    mean = f"mean cosine of the output hidden states before and after {made.cosine.mean():.4f}"
    told = made.predictions
    if told:
        predicted = pd.DataFrame(
            {
                "place": told.places,
                "likeliest_before": told.likeliest_before,
                "likeliest_after": told.likeliest_after,
                "probability_before": np.exp(-told.before),
                "probability_after": np.exp(-told.after),
                "loss_before": told.before,
                "loss_after": told.after,
            }
        )
        frame = frame.merge(predicted, on="place", how="inner")
        before, after = told.losses
        how, of = {
            "masked": ("each token masked alone and predicted", "pseudo-perplexity"),
            "next": ("each token predicted from those before it", "perplexity"),
        }[told.kind]
        summary = (
            f"Cross-entropy in nats, {how}: mean {before:.3f} before, {after:.3f} after ({of} {np.exp(before):.1f} and "
            f"{np.exp(after):.1f}); {mean}"
        )
    else:
        summary = (
            "Cosine of each token's output hidden state before and after, as this checkpoint has no head that predicts "
            f"tokens; {mean}"
        )
    return Figure(
        name="intervention_tokens",
        title="What the model then predicts" if told else "How far the output moves",
        frame=lambda: frame,
        caption=f"{summary}. Done: {made.words}. {_where(made)}.",
        alt=f"A mark for each of {len(frame)} tokens. {summary}.",
        command=_did(made),
        provenance=facts(made.provenance),
        citation_keys=CITE,
        content={"losses": told is not None, "labels": list(frame.token)},
    )


@figure("intervention_kl", live=run)
def intervention_kl(params: Params, made: Intervened) -> Figure:
    """Every head's attention, before against after."""
    layer, head = np.unravel_index(int(made.kl.argmax()), made.kl.shape)
    frame = pd.DataFrame([(i, j, made.kl[i, j]) for i, j in np.ndindex(made.kl.shape)], columns=["layer", "head", "kl"])
    return Figure(
        name="intervention_kl",
        title="Whose attention changes",
        frame=lambda: frame,
        caption=(
            f"KL(pattern before ‖ after) in nats, mean over queries; mean over all heads {made.kl.mean():.3f}, largest "
            f"{made.kl.max():.3f} (layer {layer}, head {head}). From layer 1 on a head also changes because its input "
            f"did. Done: {made.words}. {_where(made)}."
        ),
        alt=f"Heat map of {made.layers} layers by {made.heads} heads; the largest is at layer {layer}, head {head}.",
        command=_did(made),
        provenance=facts(made.provenance),
        citation_keys=CITE,
        content={"kl": made.kl},
    )


@figure("intervention_maps", live=run)
def intervention_maps(params: Params, made: Intervened) -> Figure:
    """One head's pattern before and after, and the difference, on one scale."""
    head = head_of(params, made.heads)
    before, after = made.before[head], made.after[head]
    maps = {"before": before, "after": after, "after − before": after - before}
    query, key = np.unravel_index(int(np.abs(after - before).argmax()), before.shape)
    moved = f"from “{made.tokens[query]}” to “{made.tokens[key]}”, {signed(float((after - before)[query, key]))}"
    return Figure(
        name="intervention_maps",
        title=f"Layer {made.layer}, head {head}",
        frame=lambda: map_frame(maps, made.tokens),
        caption=(
            f"Attention probabilities, on one scale; rows ask (query), columns answer (key). The largest change is "
            f"{moved}; KL {made.kl[made.layer, head]:.3f} nats. Done: {made.words}. {_where(made)}."
        ),
        alt=f"Three maps, {len(made.tokens)} tokens a side; attention changes most {moved}.",
        command=_did(made),
        provenance=facts(made.provenance),
        citation_keys=CITE,
        content={"maps": maps, "labels": made.tokens, "reach": float(max(before.max(), after.max()))},
    )


@figure("intervention_permutation", live=permuted)
def intervention_permutation(params: Params, made: PermutationTest) -> Figure:
    """Whether the order of tokens shows in the output, positions off and on."""
    off, on = float(made.off.max()), float(made.on.max())
    tokens = [made.token_info[index].text for index in made.order]
    frame = pd.DataFrame({"place": range(len(tokens)), "token": tokens, "off": made.off, "on": made.on})
    if made.holds:
        verdict = "Positions off, permuting the tokens permutes the output and does nothing else, but for rounding"
    elif made.causal:
        verdict = "Positions off, the order still shows: the causal mask alone tells tokens where they are"
    else:
        verdict = "Positions off, the order still shows"
    return Figure(
        name="intervention_permutation",
        title="The permutation test",
        frame=lambda: frame,
        caption=(
            f"{verdict}: largest difference {off:.1e}. Positions on: {on:.2g}. Both are |output of the permuted text − "
            f"permuted output|, where the largest output is {made.reach:.2g}; tokens, segments and mask are permuted "
            f"together (seed {int(params['seed'])}). {_where(made)}."
        ),
        alt=f"Two marks for each of {len(tokens)} tokens, on a log scale. {verdict}: {off:.1e} against {on:.2g}.",
        command=_command(made.provenance, [f"--permute {int(params['seed'])}"]),
        provenance=facts(made.provenance),
        citation_keys=CITE,
        content={"labels": tokens},
    )


def _left_out(spec: str, why: str, measured: Any, texts: int) -> str:
    """What is said of an intervention that some texts, or all, could not take."""
    found = measured[measured.intervention == spec]
    return f" {why}" if found.empty else f" {found.texts.iloc[0]} of {texts} texts leave room for {found.done.iloc[0]}."


@figure("intervention_effects")
def intervention_effects(params: Params) -> Figure:
    """The effect of every intervention over a corpus."""
    model = str(params["model"])
    found = read.query(
        "SELECT * FROM newest_interventions WHERE model = ? AND layer IS NULL AND intervention <> '' "
        "ORDER BY created DESC, run_id, texts DESC",
        [model],
    )
    if found.empty:
        raise NoResults(
            f"No interventions on the model {model!r} are stored yet. Run: python -m analysis intervene --model "
            f"{quote(model)}"
        )
    newest: Any = found[found.run_id == found.run_id.iloc[0]]
    first: Any = newest.iloc[0]
    config = json.loads(first.config)
    # A cosine near 1 is a small effect: shown as what is missing to 1, so that all outcomes grow with the effect.
    cosine = newest.outcome == "cosine"
    drift = newest[cosine].assign(outcome="drift", value=1 - newest.value, low=1 - newest.high, high=1 - newest.low)
    long: Any = pd.concat([newest[~cosine], drift])[
        ["intervention", "outcome", "value", "low", "high", "texts", "tokens"]
    ]
    long = long.assign(done=long.intervention.map(config["said"]))
    kl = long[long.outcome == "attention_kl"].sort_values("value", ascending=False)
    told = f"most: {kl.done.iloc[0]}, {kl.value.iloc[0]:.2f} nats; least: {kl.done.iloc[-1]}, {kl.value.iloc[-1]:.3f}"
    losses = long[long.outcome == "loss_change"]
    masked = f" Losses are of {losses.tokens.max():,} of the tokens" if len(losses) else ""
    if masked and config["head"] == "masked":
        many = config.get("most_masked", "as many as the code of its time took,")
        masked += f", each masked alone: of every text all but special ones, or {many} evenly spaced"
    masked += "." if masked else ""
    left_out = "".join(_left_out(spec, why, kl, first.texts) for spec, why in config["left_out"].items())
    return Figure(
        name="intervention_effects",
        title=f"Every intervention over the {first.corpus.replace('_', ' ')}",
        frame=lambda: long,
        caption=(
            f"{first.model}, each intervention alone on {first.texts} texts, {first.tokens:,} tokens. Attention "
            f"(mean over layers and heads) changes {told}. Dropped terms are dropped at every layer. Lines: 95 % "
            f"bootstrap intervals, {config['resamples']:,} resamples of {config['clusters']} groups of texts that "
            f"share no passage; they say nothing about other texts or models.{masked}{left_out}"
        ),
        alt=f"Dot plots of {kl.shape[0]} interventions. Attention changes {told}.",
        command=(
            f'{first.command}\npython -m analysis query "SELECT * FROM intervention_effects WHERE model = '
            f"'{first.model}'\" --csv"
        ),
        provenance={
            "model": f"{first.model} ({first.revision})",
            "corpus": f"{first.corpus}, {first.texts} texts, {first.tokens:,} tokens",
            "run": f"{first.run_id}, {first.created}, code {first.git_sha}",
            "device": f"{first.device}, {first['dtype']}",
            "versions": first.versions,
        },
        citation_keys=CITE,
        content={
            "order": list(kl.done),
            "outcomes": {name: label for name, label in OUTCOMES.items() if (long.outcome == name).any()},
        },
    )
