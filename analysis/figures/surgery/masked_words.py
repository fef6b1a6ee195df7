"""Masked words: the loss of our own encoders under every operation on their positions and terms."""

import json

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import default_model, frames
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.surgery.sentence_similarity import LABEL_CHARACTERS, RANK, ROWS
from analysis.store import read

JUDGED = "cpu2-"
"""The beginning of the names of encoders of the judged recipe: the title is of one of them, where one was measured."""


@figure("masked_surgery", Parameters)
def masked_surgery(_: Parameters) -> Figure:
    """The loss on masked words of every stored encoder of ours under every operation, minus the intact encoder's.

    Raises NoResults if no surgery on masked words is stored.
    """
    result = read.query("SELECT * FROM newest_masked_surgery ORDER BY model, operation, rank, draw")
    if result.empty:
        raise NoResults(
            "No surgery on a masked language model is stored. Measure it on a text of your own: python -m analysis "
            "measure surgery --help"
        )
    shown = result[result["rank"].isna() | (result["rank"] == RANK)]
    shown = shown.assign(done=shown.operation.map(ROWS), encoder=shown.model.map(readable))
    columns = ["encoder", "operation", "done", "rank", "draw", "value", "difference", "difference_low"]
    frame = shown[[*columns, "difference_high", "pairs"]]
    named = max(shown.model, key=lambda model: (model.startswith(JUDGED), model))
    costs = shown[shown.model == named].groupby("operation").difference.mean()
    encoders = sorted(frame.encoder.unique())
    first = shown.iloc[0]
    runs = list(frames.rows(shown.drop_duplicates("run_id")))
    resamples = json.loads(runs[0].config)["resamples"]
    text = (
        f"in {readable(named)} {signed(costs['separated'])} nats with words and positions in separate directions "
        f"({RANK} for positions), "
        f"{signed(costs['separated_at_random'])} with random directions, {signed(costs['no_cross'])} without the "
        f"cross terms, {signed(costs['mean_position'])} with every position the mean"
    )
    return Figure(
        title="Loss on masked words after every operation",
        finding=(
            f"In {readable(named)}, words and positions in separate directions cost {signed(costs['separated'])} nats, "
            f"and the mean position at every place costs {signed(costs['mean_position'])}"
        ),
        frame=lambda: frame,
        caption=(
            f"Difference in loss from the same encoder as trained; right is worse. {join_names(encoders)}; "
            f"{first.pairs:,} windows of held-out text, 15 % of the tokens masked, no training: {text}. Operations as "
            f"above, with {RANK} directions where they have a number of them, as many as the effective rank of "
            f"{default_model.NAME}'s centred position table; dots of one row are encoders and random "
            f"draws. Lines: 95 % bootstrap intervals, paired, {resamples:,} resamples of the windows."
        ),
        alt=f"Dot plot of the change in loss under {frame.operation.nunique()} operations: {text}.",
        command="\n".join(
            [*(run.command for run in runs), 'python -m analysis query "SELECT * FROM masked_surgery_effects" --csv']
        ),
        provenance={
            "models": join_names(f"{run.model} ({run.revision})" for run in runs),
            "runs": join_names(f"{run.run_id}, {run.created}, code {run.git_sha}" for run in runs),
            "device": f"{first.device}, {first['dtype']}",
            "versions": first.versions,
        },
        citation_keys=("devlin2019bert",),
        draw=lambda theme: [_operations(frame, theme)],
    )


def _operations(frame: pd.DataFrame, theme: Theme) -> Chart:
    """A row for each operation: the change in loss of every encoder, from the one as trained at zero."""
    order = [done for name, done in ROWS.items() if name != "intact" and done in set(frame.done)]
    encoders = sorted(frame.encoder.unique())
    labels = marks.wrapped_labels(order, LABEL_CHARACTERS)
    dots = marks.row_plot(
        frame[frame.operation != "intact"].assign(label=lambda rows: rows.done.map(labels)),
        x=marks.number(alt.X, "difference", "change in loss (nats)"),
        y=marks.labelled_rows(list(labels.values()), grid=True),
        theme=theme,
        ends=("difference_low", "difference_high"),
        color=marks.series("encoder", encoders, theme, marks.legend()),
        size=marks.SEED,
        opacity=0.75,
        tooltip=(
            "encoder",
            ("done", "operation"),
            "draw",
            ("value", "loss, nats", ".3f"),
            ("difference", "change, nats", "+.3f"),
            *marks.interval_tips("+.3f", "difference_low", "difference_high"),
        ),
    )
    height = marks.row_height(list(labels.values()), marks.ROW) * len(order)
    return marks.panel(marks.rule(theme, x=0), *dots, theme=theme, width=430, height=height)
