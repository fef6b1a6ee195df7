"""The costs of each variant: parameters, arithmetic, speed and memory."""

from shlex import quote
from typing import NamedTuple

import altair as alt
import pandas as pd

from analysis.ablation.variants import VARIANTS
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import sentences, signed_percent
from analysis.figures import marks
from analysis.figures.drawing import VERMILION, Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.training.data import title
from analysis.figures.training.row_marks import RING, VARIANT
from analysis.store import read

UNMATCHED = "Why its size differs"
"""The column that says why."""


class Cost(NamedTuple):
    """One measure of cost. format: of its numbers in a table. column: the heading of its column there."""

    title: str
    unit: str
    format: str
    column: str


COSTS = {
    "parameters": Cost("Parameters", "parameters", ",.0f", "Parameters"),
    "trained_parameters": Cost("Trained parameters", "parameters", ",.0f", "Trained parameters"),
    "flops_per_token": Cost("Arithmetic", "FLOPs per token of training", ",.0f", "FLOPs per token"),
    "tokens_per_second": Cost("Speed", "tokens per second", ",.0f", "Tokens per second"),
    "step_ratio": Cost("Step time", "times the baseline's", ".2f", "Step time (× baseline)"),
    "peak_memory_mib": Cost("Peak memory", "MiB", ",.0f", "Peak memory (MiB)"),
}
MACHINE = ("tokens_per_second", "step_ratio", "peak_memory_mib")
"""Costs that depend on the machine; the others depend on the model alone."""


class CostsParameters(Parameters):
    """The preset at whose size the costs were measured."""

    preset: str


@figure("training_costs", CostsParameters)
def costs(params: CostsParameters) -> Figure:
    """Every variant by every measure of cost; the newest measurement of each.

    Raises NoResults where none was measured at the preset.
    """
    preset = params.preset
    rows = read.query(
        """
        SELECT c.variant, c.measure, c.value, c.run_id, r.device, r.created, r.git_sha, r.command
        FROM costs c JOIN runs r USING (run_id) WHERE c.preset = ?
        QUALIFY row_number() OVER (PARTITION BY c.variant, c.measure ORDER BY r.created DESC, c.run_id) = 1
        """,
        [preset],
    )
    rows = rows[rows.measure.isin(list(COSTS))]
    if rows.empty:
        raise NoResults(
            f"No costs are stored yet for the preset {preset!r}. Measure them with: "
            f"python -m analysis measure costs --preset {quote(preset)}"
        )
    measured = set(rows.variant)
    order = [name for name in VARIANTS if name in measured] + sorted(measured - set(VARIANTS))
    order.sort(key=lambda name: name != "bert_a")
    rows = rows.assign(title=[title(name) for name in rows.variant], place=rows.variant.map(order.index))
    rows = rows.sort_values(["place", "measure"], ignore_index=True)
    runs = rows.drop_duplicates("run_id")
    devices = sorted(set(rows.device[rows.measure.isin(MACHINE)].dropna()))
    wide = rows.pivot(index="variant", columns="measure", values="value").reindex(order)
    return Figure(
        title="What each variant costs",
        finding=_largest_model(wide),
        frame=lambda: rows[["variant", "title", "measure", "value", "run_id", "device", "created"]],
        caption=sentences(
            f"Preset {preset}. Parameters: filled dots count all of them, hollow dots only the trained ones. "
            "Arithmetic: one forward and one backward pass; only predicted tokens go past the last layer's "
            "attention, so a causal model, which predicts every token, costs more.",
            f"Speed, step time and memory depend on the machine ({', '.join(devices)}); step time is a multiple of "
            "the baseline's, measured in the same run."
            if devices
            else "",
            "Speed and memory come from runs on different occasions, so compare variants by step time."
            if rows[rows.measure.isin(MACHINE)].run_id.nunique() > 1
            else "",
        ),
        alt=_alt(wide),
        command=runs.command.iloc[0],
        provenance={
            row.run_id: f"{row.device}, {row.created}, code {row.git_sha}: {row.command}" for row in frames.rows(runs)
        },
        draw=lambda theme: _draw(rows, theme),
        columns=3,
    )


def cost_table(rows: pd.DataFrame) -> pd.DataFrame:
    """The figure's rows as readers see them: a line a variant, with the reason if its size differs from BERT-A's."""
    wide = rows.pivot(index="variant", columns="measure", values="value").reindex(list(dict.fromkeys(rows.variant)))
    names = [str(name) for name in wide.index]
    written = {
        name: ["" if pd.isna(value) else format(value, cost.format) for value in wide[name]]
        for name, cost in COSTS.items()
        if name in wide
    }
    table = {"Variant": [title(name) for name in names]}
    if "parameters" in wide:
        table["Parameters"] = written.pop("parameters")
        if "bert_a" in wide.index:
            shares = wide.parameters / wide.parameters["bert_a"] - 1
            table["Against BERT-A"] = ["" if pd.isna(share) else _percent(share) for share in shares]
    table[UNMATCHED] = [VARIANTS[name].size if name in VARIANTS else "" for name in names]
    table |= {COSTS[name].column: values for name, values in written.items()}
    return pd.DataFrame(table)


def _percent(share: float) -> str:
    """A difference in size; a small one is not printed as none."""
    return "0 %" if share == 0 else signed_percent(share, 1 if abs(share) >= 0.0005 else 2)


def _alt(wide: pd.DataFrame) -> str:
    parts = []
    for name, cost in COSTS.items():
        if name in wide and wide[name].notna().any():
            values = wide[name].dropna()
            extremes = (
                f"{format(values.iloc[index], cost.format)} ({title(str(values.index.tolist()[index]))})"
                for index in (values.argmin(), values.argmax())
            )
            parts.append(f"{cost.title}: from {' to '.join(extremes)} {cost.unit}.")
    return f"Dots, one row per variant, one panel per measure. {' '.join(parts)}"


def _largest_model(wide: pd.DataFrame) -> str:
    """A sentence on the variant with the most parameters, compared with BERT-A; empty if it cannot be told."""
    if "parameters" not in wide or "bert_a" not in wide.index or wide.parameters.isna().all():
        return ""
    largest = str(wide.parameters.idxmax())
    share = wide.parameters[largest] / wide.parameters["bert_a"] - 1
    return f"{title(largest)} has the most parameters, {_percent(share)} compared with BERT-A"


def _draw(rows: pd.DataFrame, theme: Theme) -> list[Chart]:
    """One panel a measure, from 0; trained parameters are drawn over all of them."""
    order = list(dict.fromkeys(rows.title))
    y, panels = marks.rows_down("title", order), []
    trained = rows.loc[rows.measure == "trained_parameters", ["title", "value"]]
    for name, cost in COSTS.items():
        values = rows.loc[rows.measure == name, ["title", "value"]]
        if values.empty or name == "trained_parameters":
            continue
        form = "~s" if values.value.max() >= 10_000 else ",~r"
        x = marks.number(alt.X, "value", cost.unit, zero=True, ticks=4, form=form)
        tooltip = (VARIANT, ("value", cost.title, cost.format))
        layers: list[Chart] = [marks.rule(theme, x=1, dash=marks.DASH)] if name == "step_ratio" else []
        layers.append(alt.Chart(values).mark_rule(color=theme.faint).encode(x=x, x2=alt.datum(0), y=y))
        # A line below every title keeps the panels of a row level.
        below = "filled: all, hollow: trained" if name == "parameters" else " "
        if name == "parameters":
            layers += marks.row_plot(
                trained,
                x=x,
                y=y,
                theme=theme,
                ends=None,
                color=VERMILION,
                size=RING,
                filled=False,
                tooltip=tooltip,
            )
        layers += marks.row_plot(values, x=x, y=y, theme=theme, ends=None, tooltip=tooltip)
        panels.append(
            marks.panel(
                *layers, theme=theme, width=marks.THIRD, height=marks.ROW * len(order), title=cost.title, below=[below]
            )
        )
    return panels
