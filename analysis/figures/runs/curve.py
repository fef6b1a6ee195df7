"""The losses of one stored run."""

import json

import altair as alt
import pandas as pd

from analysis.ablation.corpus import MASKED_SHARE
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import percent
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.runs.all_runs import IMPORTED
from analysis.figures.training.run_curves import thinned
from analysis.figures.training.trainings import COMMAND, MASKED, UNIT, objective, title
from analysis.store import read

LOSSES = {
    "validation_loss": "validation",
    "training_loss": "training",
    "finetuning_validation_loss": "fine-tuning, dev set",
    "finetuning_training_loss": "fine-tuning, training set",
}
EVALUATION = 18
"""The area of a dot, in square pixels: so small that the lines below one another are seen."""


class RunParameters(Parameters):
    """run: the id of a pre-training; empty for the newest."""

    run: str


@figure("runs_curve", RunParameters)
def run_curve(params: RunParameters) -> Figure:
    """The losses of one pre-training; of the newest where the link names none.

    Raises NoResults where it has no curve or none is stored, AddendError where its file holds no losses.
    """
    run_id = params.run
    known = read.query(
        "SELECT r.* FROM runs r WHERE r.kind = 'curves' AND (? = '' OR r.run_id = ?) "
        "ORDER BY r.created DESC, r.run_id LIMIT 1",
        [run_id, run_id],
    )
    if known.empty:
        raise NoResults(
            f"The run {run_id!r} has no curve."
            if run_id
            else f"No run with a curve is stored yet. Make one with: {COMMAND}"
        )
    run = known.iloc[0]
    rows = read.query(
        "SELECT variant, seed, metric, step, tokens, seconds, value, run_id FROM curves "
        f"WHERE run_id = ? AND metric IN ({', '.join('?' for _ in LOSSES)}) ORDER BY step",
        [run.run_id, *LOSSES],
    )
    if rows.empty:
        raise AddendError(f"The run {run.run_id!r} holds no losses; its file is {run.file}.")
    last = rows.groupby("metric").value.last()
    final_losses = "; ".join(f"{LOSSES[name]} {last[name]:.2f}" for name in LOSSES if name in last)
    variant = str(rows.variant.iloc[0])
    named = f"{title(variant)}, seed {rows.seed.iloc[0]}"
    finding = f"{named}: {final_losses}"
    if "validation_loss" in last:
        finding = (
            f"{named} ({run.preset}), ends with a validation loss of {last['validation_loss']:.2f} after "
            f"{rows.step.max():,} steps"
        )
    task = "every masked word" if objective(variant) == MASKED else "every next token"
    label = f"loss ({UNIT})"
    hidden = float(json.loads(run.config).get("masked_share", MASKED_SHARE))
    description = (
        f"Loss in {UNIT}, of {task}{_hides_more(hidden) if objective(variant) == MASKED else ''}. The training loss is "
        "the mean since the previous evaluation, on other texts than the validation loss."
    )
    if str(run.preset).startswith(IMPORTED):
        label = "loss (as logged)"
        description = f"An imported run: its losses as {json.loads(run.config)['imported_from']} logged them."
    drawn = thinned(rows).assign(loss=lambda result: result.metric.map(LOSSES))[["step", "value", "loss"]]
    return Figure(
        title=named,
        finding=finding,
        frame=lambda: rows,
        caption=f"{description} In the end: {final_losses}.",
        alt=f"Lines of loss against steps, up to step {rows.step.max():,}. In the end: {final_losses}.",
        command=run.command,
        provenance={
            run.run_id: f"{run.file}, {run.device}, {run.created}, code {run.git_sha}",
            "versions": run.versions,
        },
        draw=lambda theme: [_curve(drawn, label, theme)],
    )


def _hides_more(share: float) -> str:
    """A clause on why the training loss lies higher, where training hides more words than the validation."""
    if share <= MASKED_SHARE:
        return ""
    return (
        f"; the training loss lies higher because training hides {percent(share)} of the words and validation "
        f"{percent(MASKED_SHARE)}"
    )


def _curve(rows: pd.DataFrame, label: str, theme: Theme) -> Chart:
    """Validation and training loss of one run; what was measured on training texts is dashed."""
    kinds = [name for name in LOSSES.values() if name in set(rows.loss)]
    colour = dict(zip(kinds, theme.many(len(kinds)), strict=True))
    dash = {name: [1, 0] if index % 2 == 0 else [5, 3] for index, name in enumerate(kinds)}
    lines = marks.line_plot(
        rows, theme=theme, dots=EVALUATION,
        x=marks.number(alt.X, "step", "steps", form=",d", nice=False),
        y=marks.number(alt.Y, "value", label),
        color=marks.hues("loss", colour, marks.legend(place="top", columns=2, lines=True)),
        dash=marks.dashes("loss", dash),
        tooltip=("loss", ("step", "", ","), ("value", "", ".3f")),
    )  # fmt: skip
    return marks.panel(*lines, theme=theme, width=marks.WIDE, height=280)
