"""The costs of each variant: what a step takes, which is measured, and arithmetic and parameters, which are counted.

One figure has the variants of the board of experiments, the other the rest.
"""

from shlex import quote
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import VARIANTS, named
from analysis.core import colours, frames
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import join_names, percent, plural, sentences, signed_percent
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import board, default_preset
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.training.data import BASELINES, CAUSAL, MASKED, objective, title, usual_baseline
from analysis.figures.training.row_marks import VARIANT
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
PANEL = 190
"""Pixels of a panel, beside which the numbers stand."""
MACHINE = ("tokens_per_second", "step_ratio", "peak_memory_mib")
"""Costs that are measured and depend on the machine; the others are counted, and depend on the model alone."""
HEADINGS = {"step_ratio": "Time of a step", "flops_per_token": "Arithmetic", "parameters": "Parameters"}
"""The headings of the panels."""
NOTABLE = 0.1
"""The share of time beyond which the heading names a variant."""
NAMED = 2
"""The most variants that it names."""


class CostsParameters(Parameters):
    """The preset at whose size the costs were measured."""

    preset: str


@figure("training_costs", CostsParameters)
def costs(params: CostsParameters) -> Figure:
    """Every measure of cost of the variants on the board; the newest measurement of each.

    Raises NoResults where none was measured at the preset.
    """
    rows = _stored(params.preset)
    known = on_board(set(rows.variant))
    return _figure("What each variant costs", params.preset, rows, known, "on the board")


@figure("training_costs_others", CostsParameters)
def others(params: CostsParameters) -> Figure:
    """The same of the variants that are not on the board. Raises NoResults where none was measured."""
    rows = _stored(params.preset)
    rest = set(rows.variant) - on_board(set(rows.variant))
    if not rest:
        raise NoResults(
            "Every variant whose costs are stored is on the board. Measure others with: python -m analysis measure "
            f"costs --preset {quote(params.preset)}"
        )
    return _figure("What the other variants cost", params.preset, rows, rest, "not on the board")


def on_board(measured: set[str]) -> set[str]:
    """The measured variants that the board of experiments compares; all of them where it compares none."""
    try:
        compared = {row.variant for row in board(default_preset()).rows if row.trained}
    except AddendError:
        return measured
    return measured & compared or measured


def _stored(preset: str) -> pd.DataFrame:
    """The newest measurement of each cost of each variant, adding first. Raises NoResults where there is none."""
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
    order.sort(key=lambda name: name != BASELINES[MASKED])
    rows = rows.assign(title=[title(name) for name in rows.variant], place=rows.variant.map(order.index))
    return rows.sort_values(["place", "measure"], ignore_index=True)


def _figure(heading: str, preset: str, rows: pd.DataFrame, variants: set[str], where: str) -> Figure:
    """One figure of some variants. rows: of all variants, among which are their baselines."""
    runs = rows.drop_duplicates("run_id")
    devices = sorted(set(rows.device[rows.measure.isin(MACHINE)].dropna()))
    wide = rows.pivot(index="variant", columns="measure", values="value").reindex(list(dict.fromkeys(rows.variant)))
    shares = compared(wide)
    shares = shares[shares.index.isin(variants)]
    shown = rows[rows.variant.isin(variants)]
    own = wide[wide.index.isin(variants)]
    machine = f"device: {join_names(devices)}" if devices else "on a machine that was not recorded"
    causal = any(objective(name) == CAUSAL for name in variants)
    return Figure(
        title=heading,
        finding=_finding(shares, where),
        frame=lambda: shown[["variant", "title", "measure", "value", "run_id", "device", "created"]],
        caption=sentences(
            f"Cost of training at the size of preset {preset}, less {named(BASELINES[MASKED])}'s, as a share of it; "
            "the longest step stands first.",
            f"Time is measured ({machine}): the median of steps in turns with those of {named(BASELINES[MASKED])}, "
            "of which no interval is stored. Arithmetic, that of one forward and one backward pass, and parameters "
            "are counted.",
            "Causal models, which predict every token, are compared with the causal one." if causal else "",
            _memory(own),
        ),
        alt=_alt(own),
        command=runs.command.iloc[0],
        provenance={
            row.run_id: f"{row.device}, {row.created}, code {row.git_sha}: {row.command}" for row in frames.rows(runs)
        },
        draw=lambda theme: _draw(shares, wide, theme),
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
            table["Against adding"] = ["" if pd.isna(share) else _percent(share) for share in shares]
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
                f"{format(values.iloc[index], cost.format)} ({named(str(values.index.tolist()[index]))})"
                for index in (values.argmin(), values.argmax())
            )
            parts.append(f"{cost.title}: from {' to '.join(extremes)} {cost.unit}.")
    return f"Bars, one row per variant, one panel per measure. {' '.join(parts)}"


def _finding(shares: pd.DataFrame, where: str) -> str:
    """A sentence on the variants whose steps take notably longer than adding's, and on the range of the others."""
    if "step_ratio" not in shares:
        return ""
    times = shares.step_ratio[~shares.index.isin(list(BASELINES.values()))].dropna()
    if times.empty:
        return ""
    base, slow = named(BASELINES[MASKED]), times[times > NOTABLE].sort_values(ascending=False)
    rest = times.drop(slow.index)
    extremes = list(dict.fromkeys(signed_percent(share) for share in (rest.min(), rest.max()))) if len(rest) else []
    between = f"between {' and '.join(extremes)}" if len(extremes) > 1 else f"at {''.join(extremes)}"
    longer, count = f"over {percent(NOTABLE)} longer a step than {base}", plural(len(times), "variant")
    if slow.empty:
        return f"None of {count} {where} takes {longer}: they lie {between}"
    if len(slow) <= NAMED:
        which = join_names(f"{named(str(name))} ({signed_percent(share)})" for name, share in slow.items())
        takes = "takes" if len(slow) == 1 else "take"
        said = f"Of {count} {where}, {'only ' if len(rest) else ''}{which} {takes}"
    else:
        which = f"{named(str(slow.index[0]))} most, {signed_percent(slow.iloc[0])}"
        said = f"Of {count} {where}, {len(slow)} ({which}) take"
    said += f" {longer}"
    return f"{said}; {'the other lies' if len(rest) == 1 else 'the others lie'} {between}" if len(rest) else said


def compared(wide: pd.DataFrame) -> pd.DataFrame:
    """Each variant's costs less those of adding, as shares of these; a causal model is compared with a causal one.

    wide: variant by measure. The rows stand in the order of what a step takes, the longest first.
    """
    parts = []
    for task in (CAUSAL, MASKED):
        part = wide[wide.index.str.startswith("causal") == (task == CAUSAL)]
        baseline = usual_baseline(task, set(part.index))
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


def _draw(shares: pd.DataFrame, wide: pd.DataFrame, theme: Theme) -> list[Chart]:
    """One panel a measure, in per cent more or less than adding, on one scale; a phone shows them one below another."""
    order = [title(str(name)) for name in shares.index]
    y, panels = marks.rows_down("title", order), []
    drawn = [name for name in DRAWN if name in shares and shares[name].notna().any()]
    low, high = (float(f(100 * shares[drawn].to_numpy())) for f in (np.nanmin, np.nanmax)) if drawn else (0.0, 0.0)
    for name in drawn:
        measured, values = name in MACHINE, shares[name].dropna()
        frame = pd.DataFrame(
            {
                "title": [title(str(variant)) for variant in values.index],
                "share": 100 * values.to_numpy(),
                "written": [_percent(share) for share in values],
                "value": wide.loc[values.index, name].to_numpy(),
            }
        )
        x = marks.number(
            alt.X, "share", f"% more or less than {named(BASELINES[MASKED])}", ticks=4,
            domain=(min(low, 0.0), max(high, 0.0)), nice=True,
        )  # fmt: skip
        tooltip = (VARIANT, ("value", COSTS[name].title, COSTS[name].format), ("written", "compared with adding"))
        rows = marks.row_plot(
            frame, x=x, y=y, theme=theme, ends=None, tooltip=tooltip, bars=True,
            color=theme.series if measured else theme.colour(colours.SOFT),
            shape="circle" if measured else "square",
        )  # fmt: skip
        panels.append(
            marks.panel(
                marks.rule(theme, x=0),
                *rows,
                marks.texts_beside(frame, y, theme),
                theme=theme,
                width=PANEL,
                height=marks.ROW * len(order),
                title=HEADINGS[name],
                below=["measured" if measured else "counted"],
            )
        )
    return panels
