"""The costs of each variant: parameters, arithmetic, speed and memory."""

from shlex import quote
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import VARIANTS
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, sentences, signed_percent
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.training.data import CAUSAL, MASKED, title, usual_baseline
from analysis.figures.training.row_marks import VARIANT, row_texts
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
DRAWN = ("step_ratio", "flops_per_token", "parameters")
"""The measures that differ between variants enough to be drawn; the others stand in the table."""
WORDS = {"parameters": "parameters", "flops_per_token": "arithmetic", "step_ratio": "time a step"}
"""The measures of the finding, and what follows the number of each."""
PANEL = 190
"""Pixels of a panel, beside which the numbers stand."""
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
            f"Preset {preset}, each variant compared with the one that adds learned positions; causal models, which "
            "predict every token, with the causal one. Arithmetic: one forward and one backward pass.",
            f"The time of a step depends on the machine ({', '.join(devices)}) and was measured beside that of adding "
            "in the same run."
            if devices
            else "",
            _memory(wide),
        ),
        alt=_alt(wide),
        command=runs.command.iloc[0],
        provenance={
            row.run_id: f"{row.device}, {row.created}, code {row.git_sha}: {row.command}" for row in frames.rows(runs)
        },
        draw=lambda theme: _draw(wide, theme),
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
    return f"Bars, one row per variant, one panel per measure. {' '.join(parts)}"


def _largest_model(wide: pd.DataFrame) -> str:
    """A sentence on the variant with the most parameters, compared with BERT-A; empty if it cannot be told."""
    if "parameters" not in wide or "bert_a" not in wide.index or wide.parameters.isna().all():
        return ""
    largest = str(wide.parameters.idxmax())
    shares = {name: _share(wide, largest, name) for name in WORDS if name in wide}
    parts = [f"{_percent(share)} {WORDS[name]}" for name, share in shares.items() if share == share]
    return f"{title(largest)} is the largest model: {join_names(parts)}, compared with {title('bert_a')}"


def _share(wide: pd.DataFrame, variant: str, measure: str) -> float:
    """A cost of a variant less that of adding, as a share of it."""
    values = wide[measure].to_dict()
    return float(values[variant] / values["bert_a"] - 1)


def compared(wide: pd.DataFrame) -> pd.DataFrame:
    """Each variant's costs less those of adding, as shares of these; a causal model is compared with a causal one.

    wide: variant by measure. The rows stand in the order of what a step takes, the longest first.
    """
    parts = []
    for objective in (CAUSAL, MASKED):
        part = wide[wide.index.str.startswith("causal") == (objective == CAUSAL)]
        baseline = usual_baseline(objective, set(part.index))
        if baseline in part.index:
            parts.append(part / part.loc[baseline] - 1)
    if not parts:
        return wide.iloc[:0]
    return pd.concat(parts).sort_values(
        [name for name in ("step_ratio", "parameters") if name in wide], ascending=False
    )


def _memory(wide: pd.DataFrame) -> str:
    """A sentence on the peak memory of all variants; empty if none was measured."""
    if "peak_memory_mib" not in wide or wide.peak_memory_mib.isna().all():
        return ""
    low, high = wide.peak_memory_mib.min(), wide.peak_memory_mib.max()
    return f"Peak memory is from {low:,.0f} to {high:,.0f} MiB; the table has it, and the trained parameters."


def _draw(wide: pd.DataFrame, theme: Theme) -> list[Chart]:
    """One panel a measure, in per cent more or less than adding, on one scale; a phone shows them one below another."""
    shares = compared(wide)
    order = [title(str(name)) for name in shares.index]
    y, panels = marks.rows_down("title", order), []
    drawn = [name for name in DRAWN if name in shares and shares[name].notna().any()]
    low, high = (float(f(100 * shares[drawn].to_numpy())) for f in (np.nanmin, np.nanmax)) if drawn else (0.0, 0.0)
    for name in drawn:
        values = shares[name].dropna()
        frame = pd.DataFrame(
            {
                "title": [title(str(variant)) for variant in values.index],
                "share": 100 * values.to_numpy(),
                "written": [_percent(share) for share in values],
                "value": wide.loc[values.index, name].to_numpy(),
            }
        )
        x = marks.number(alt.X, "share", "% more or less than adding", ticks=4, domain=(min(low, 0.0), max(high, 0.0)))
        tooltip = (VARIANT, ("value", COSTS[name].title, COSTS[name].format), ("written", "compared with adding"))
        layers: list[Chart] = [
            marks.rule(theme, x=0),
            *marks.row_plot(frame, x=x, y=y, theme=theme, ends=None, tooltip=tooltip, bars=True),
            row_texts(frame, y, theme),
        ]
        panels.append(
            marks.panel(*layers, theme=theme, width=PANEL, height=marks.ROW * len(order), title=COSTS[name].title)
        )
    return panels
