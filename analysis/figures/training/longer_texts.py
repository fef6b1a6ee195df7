"""The loss of trained models on texts longer than in training."""

import altair as alt
import pandas as pd

from analysis.ablation.variants import VARIANTS
from analysis.core.errors import NoResults
from analysis.core.formatting import sentences, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.training.data import (
    UNIT,
    VariantsParameters,
    command,
    select_trainings,
    title,
)
from analysis.figures.training.line_marks import LOSS, lines, names, padded_range, plot_height

LENGTHS = (1, 2, 4)


def learned_table(variant: str) -> bool:
    """True for a variant with a learned table of one row per position; training reaches only the first rows."""
    settings = VARIANTS[variant].settings if variant in VARIANTS else {}
    return settings.get("position") == "learned" or settings.get("untied", "none") != "none"


@figure("training_length", VariantsParameters)
def longer(params: VariantsParameters) -> Figure:
    """The trained models' loss at one, two and four times the length they were trained on.

    Raises NoResults where these runs were not evaluated on longer texts, and what `select_trainings` raises.
    """
    trainings = select_trainings(params)
    variants = trainings.selected(params.variants)
    rows = trainings.curves(*(f"final_loss_{times}x" for times in LENGTHS), variants=variants)
    if rows.empty:
        raise NoResults("These runs were not evaluated on texts longer than in training; run them again.")
    rows = rows.assign(times=rows.metric.str.extract(r"(\d+)x$")[0].astype(int))
    variants = [name for name in variants if name in set(rows.variant)]
    mean = rows.groupby(["variant", "times"]).value.mean().reset_index()
    untrained = [title(name) for name in variants if learned_table(name)]
    summaries = []
    for name in variants:
        losses = mean[mean.variant == name].set_index("times").value
        summaries.append(f"{title(name)} {', '.join(f'{losses[times]:.2f} at {times}x' for times in losses.index)}")
    return Figure(
        title="Longer texts than in training",
        finding=_length_finding(mean),
        frame=lambda: rows[["variant", "seed", "times", "value", "run_id"]].reset_index(drop=True),
        caption=sentences(
            f"Validation loss in {UNIT} after the last step, at 1, 2 and 4 times the training length; the windows "
            "differ from length to length, so compare variants at one length. Thin: one seed; thick: the mean.",
            f"Learned tables have rows for the longer texts that no training step reached, so their loss there says "
            f"what untrained rows do: {'; '.join(untrained)}."
            if untrained
            else "",
            trainings.description(variants),
        ),
        alt=f"Lines of validation loss against text length: {'; '.join(summaries)}.",
        command=command("training_length", params, trainings, variants, "variants"),
        provenance=trainings.provenance(variants),
        draw=lambda theme: _draw(
            rows[["variant", "seed", "times", "value"]], mean, variants, trainings.baseline, theme
        ),
        columns=1,
    )


def _length_finding(mean: pd.DataFrame) -> str:
    """The variant with the lowest loss at the longest texts, and the smallest and the largest change of the loss."""
    table = mean.pivot(index="variant", columns="times", values="value").dropna()
    if table.empty or table.shape[1] < 2:
        return ""
    growth = (table.iloc[:, -1] - table.iloc[:, 0]).sort_values()
    smallest, largest, best = str(growth.index[0]), str(growth.index[-1]), str(table.iloc[:, -1].idxmin())
    changes = f"{signed(growth.iloc[0])} nats ({title(smallest)})"
    if smallest != largest:
        changes += f" to {signed(growth.iloc[-1])} ({title(largest)})"
    ends = f"{title(best)} ends lowest, and the" if len(table) > 1 else "the"
    return f"On texts of {table.columns[-1]} times the training length {ends} loss changes by {changes}"


def _draw(rows: pd.DataFrame, mean: pd.DataFrame, variants: list[str], baseline: str, theme: Theme) -> list[Chart]:
    """Loss at one, two and four times the training length."""
    domain = padded_range(rows.value)
    x = marks.number(
        alt.X, "times", "length of the texts (times the training length)", domain=(0.94, 4.1), log=2,
        values=sorted(set(rows.times)), form="d",
    )  # fmt: skip
    y = marks.number(alt.Y, "value", LOSS, domain=domain)
    tooltip = (("times:Q", "times the training length"), ("value", "mean validation loss", ".3f"))
    curves = lines(rows, mean, variants, baseline, theme, x=x, y=y, tooltip=tooltip, dots=marks.SEED)
    last = mean[mean.times == mean.times.max()]
    height = plot_height(last, 320)
    labels = names(last, variants, baseline, theme, domain=domain, height=height)
    panel = marks.panel(curves, labels, theme=theme, width=marks.WIDE, height=height)
    return [panel.resolve_scale(y="independent")]
