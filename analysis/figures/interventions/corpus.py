"""Effects of every intervention on a model over a corpus."""

import json
from shlex import quote
from typing import Any

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.errors import NotMeasured
from analysis.core.formatting import capitalised, fixed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.interventions.one_text import CITATION_KEYS, angle
from analysis.figures.one_run import stored_facts
from analysis.store import read

OUTCOMES = {
    "attention_kl": "attention: KL(before ‖ after), nats",
    "drift": "output: turn, degrees",
    "loss_change": "loss: change, nats per token",
}
"""Outcomes that the figure shows, each only for models that have it.

The output is stored as 1 less the mean cosine, and drawn as the angle of that cosine: the turn of one text is in
degrees, too.
"""


class EffectsParameters(Parameters):
    """The model that was intervened on."""

    model: str


def _left_out(spec: str, reason: str, rows: Any, texts: int) -> str:
    """The sentence on an intervention that some texts, or all, were too long for."""
    result = rows[rows.intervention == spec]
    if result.empty:
        return f" {reason}"
    return f" {result.texts.iloc[0]} of {texts} texts leave room for {result.done.iloc[0]}."


@figure("intervention_effects", EffectsParameters)
def intervention_effects(params: EffectsParameters) -> Figure:
    """The effect of every intervention over a corpus."""
    model = params.model
    rows = read.query(
        "SELECT * FROM newest_interventions WHERE model = ? AND layer IS NULL AND intervention <> '' "
        "ORDER BY created DESC, run_id, texts DESC",
        [model],
    )
    if rows.empty:
        raise NotMeasured(
            f"The changes to {readable(model)} were not measured over many texts.",
            read.query("SELECT DISTINCT model FROM newest_interventions WHERE layer IS NULL ORDER BY model").model,
            f"python -m analysis intervene --model {quote(model)}",
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
        finding=_finding(long),
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
        draw=lambda theme: _effects(long, list(kl.done), theme),
        columns=2,
    )


def _finding(long: pd.DataFrame) -> str:
    """The intervention that changes attention most, and the one that changes the output most; one may do both."""
    attention, output = (
        rows.sort_values("value").iloc[-1] if len(rows := long[long.outcome == outcome]) else None
        for outcome in ("attention_kl", "drift")
    )
    if attention is None:
        return ""
    said = f"“{capitalised(attention.done)}” changes attention most, by {attention.value:.2f} nats"
    if output is None:
        return said
    if output.done == attention.done:
        return f"{said}, and turns the output most, by {angle(1 - output.value):.0f}°"
    return f"{said}; “{output.done}” turns the output most, by {angle(1 - output.value):.0f}°"


def _effects(frame: pd.DataFrame, order: list[str], theme: Theme) -> list[Chart]:
    """One panel an outcome, of those measured: a dot and an interval for each intervention, in the order given."""
    y = marks.rows_down("done", order, grid=False)
    panels = []
    for outcome, label in OUTCOMES.items():
        shown = frame[frame.outcome == outcome]
        if shown.empty:
            continue
        if degrees := outcome == "drift":
            shown = shown.assign(**{name: angle(1 - shown[name]) for name in ("value", "low", "high")})
        texts = [f"{value:.0f}°" if degrees else fixed(value) for value in shown.value]
        # A title of two lines: a narrow screen has no room for both side by side under the bars.
        x = marks.number(alt.X, "value", label.split(": "), zero=True, ticks=5)
        tooltip = ("done", ("value", label, ".4g"), *marks.interval_tips(".4g"), "texts:Q")
        dots = marks.row_plot(shown, x=x, y=y, theme=theme, bars=True, tooltip=tooltip)
        written = marks.texts_beside(shown.assign(written=texts), y, theme)
        panels.append(marks.panel(*dots, written, theme=theme, width=marks.HALF, height=marks.ROW * len(order)))
    return panels
