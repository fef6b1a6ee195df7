"""The board: a row per way of combining word and position; what training, GLUE, costs and papers say of it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.ablation.variants import VARIANTS
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import fixed, plural, sentences
from analysis.figures.figure import FIGURES, Figure, Parameters, figure
from analysis.figures.glue.data import GlueParameters, rows, study_and_table
from analysis.figures.training.data import MASKED, title
from analysis.figures.training.gaps import count_outcomes
from analysis.glue_comparison import AVERAGE
from analysis.store import read

BASELINE = "bert_a"
COST_PRESET = "cpu"
"""The preset whose costs were measured for every variant."""
GLUE_PRESET = "cpu"
"""The preset whose models were fine-tuned on GLUE."""
MEASURES = {
    "loss": "Final loss difference (nats)",
    "plateau": "Steps to leave the plateau",
    "glue": "GLUE average difference (points)",
    "published": "Published GLUE average difference (points)",
    "time": "Time per step (× the baseline)",
    "parameters": "Parameters (× the baseline)",
}
"""Measures that the board shows of each variant; every difference is taken from the baseline."""


class BoardParameters(Parameters):
    """The preset whose trainings are shown."""

    preset: str


@dataclass(frozen=True)
class BoardContent:
    """titles: of the variants, in the order of the rows. table: a row per variant, a column per measure.

    origins: measure -> the preset, or the paper, that its numbers are from.
    """

    titles: list[str]
    table: pd.DataFrame
    origins: dict[str, str]


@figure("experiments_board", BoardParameters)
def board(params: BoardParameters) -> Figure[BoardContent]:
    """Every measure of every variant that one was taken of, as a table and as panels of dots.

    Raises NoResults where nothing was measured, AddendError for a preset that is not offered.
    """
    preset = params.preset
    gap_figure, plateau_figure = (_training(name, preset) for name in ("training_gap", "training_plateau"))
    gap = gap_figure.frame() if gap_figure else None
    plateau = plateau_figure.content.table if plateau_figure else None
    frames = [
        _measure("loss", gap, value="gap", low="low", high="high", seeds="n", word="standing"),
        _measure("plateau", plateau, value="mean", low="low", high="high", seeds="n", word="told"),
        *_glue(),
        *_costs(),
    ]
    long = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    long = long[long.variant.isin(list(VARIANTS))]
    if long.empty:
        raise NoResults("No experiment of our own is stored yet. Run: python -m analysis ablate --preset debug")
    long = long.assign(title=long.variant.map(title), combines=[VARIANTS[name].combines for name in long.variant])
    order = _order(long)
    return Figure(
        title="All experiments on one board",
        finding=count_outcomes(gap, BASELINE) if gap is not None else "",
        frame=lambda: long,
        caption=sentences(
            f"{plural(len(order), 'variant')}, each compared with {title(BASELINE)}; bars are 95 % confidence "
            "intervals over seeds, paired where differences are shown.",
            "Losses and steps to leave the plateau come from models that predict masked words, trained with preset "
            f"{preset} at its own settings."
            if gap is not None
            else f"No training of preset {preset} is stored.",
            f"GLUE scores come from models of preset {GLUE_PRESET}, which are too small for GLUE to rank them.",
            "Published scores come from Ke et al. 2021 (TUPE), Table 1: other models on other data, with no spread "
            "printed.",
            f"Time and size are those of preset {COST_PRESET}; time was measured in turns on one machine. A row "
            "without a dot was not measured.",
        ),
        alt=f"Dots, one row for each of {plural(len(order), 'variant')}, one panel per measure."
        + (f" {count_outcomes(gap, BASELINE)}." if gap is not None else ""),
        command="python -m analysis export '/experiments' --figure experiments_board -o board.csv",
        provenance={"trainings": f"preset {preset}", "GLUE": f"preset {GLUE_PRESET}", "costs": f"preset {COST_PRESET}"},
        citation_keys=("ke2021tupe",),
        content=BoardContent(
            [title(name) for name in order],
            table=_table(long, order),
            origins={
                "loss": f"preset {preset}",
                "plateau": f"preset {preset}",
                "glue": f"preset {GLUE_PRESET}",
                "published": "Ke et al. 2021",
                "time": f"preset {COST_PRESET}",
                "parameters": f"preset {COST_PRESET}",
            },
        ),
    )


def _training(name: str, preset: str) -> Figure | None:
    """A figure of the trainings; None where there is nothing to show."""
    try:
        return FIGURES[name].make({"preset": preset, "objective": MASKED, "baseline": BASELINE})
    except NoResults:
        return None


def _measure(
    measure: str, table: pd.DataFrame | None, *, value: str, low: str, high: str, seeds: str, word: str
) -> pd.DataFrame:
    if table is None:
        return pd.DataFrame()
    names = {value: "value", low: "low", high: "high", seeds: "seeds", word: "word"}
    selected = table[["variant", *names]].rename(columns=names).assign(measure=measure)
    return selected[selected.value.notna() & ~((selected.variant == BASELINE) & (measure == "loss"))]


def _glue() -> list[pd.DataFrame]:
    """Differences of averages to the baseline's, our own and the published ones."""
    try:
        table = rows(*study_and_table(GlueParameters(preset=GLUE_PRESET, baseline=BASELINE)))
    except NoResults:
        return []
    means = table[(table.task == AVERAGE) & table.difference.notna() & (table.variant != BASELINE)]
    renamed = means.rename(columns={"difference_low": "lower", "difference_high": "upper", "verdict": "word"})
    renamed = renamed.assign(
        measure=np.where(renamed.word == "published", "published", "glue"),
        value=renamed.difference,
        low=renamed.lower,
        high=renamed.upper,
    )
    return [renamed[["variant", "value", "low", "high", "seeds", "word", "measure"]]]


def _costs() -> list[pd.DataFrame]:
    """Parameters and the time of a step, over the baseline's."""
    costs = read.query(
        "SELECT variant, measure, value FROM newest_costs WHERE preset = ? AND measure IN ('parameters', 'step_ratio')",
        [COST_PRESET],
    ).pivot(index="variant", columns="measure", values="value")
    frames = []
    for measure, column in (("time", "step_ratio"), ("parameters", "parameters")):
        if column in costs and BASELINE in costs.index:
            ratio = (costs[column] / costs[column][BASELINE]).dropna()
            frames.append(pd.DataFrame({"variant": ratio.index, "value": ratio.to_numpy(), "measure": measure}))
    return frames


def _order(long: pd.DataFrame) -> list[str]:
    """Variants by final loss, the lowest first; variants without one come last, in the registry's order."""
    loss = long[long.measure == "loss"].set_index("variant").value.to_dict() | {BASELINE: 0.0}
    variants = set(long.variant)
    return sorted(variants, key=lambda name: (loss.get(name, np.inf), list(VARIANTS).index(name)))


def _table(long: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """The table that readers sort: a row per variant, a column per measure, each with its interval."""
    wide = long.pivot(index="variant", columns="measure", values="value").reindex(index=order)
    table = pd.DataFrame({"Variant": [title(name) for name in order]})
    table["Position is"] = [VARIANTS[name].combines for name in order]
    for measure, name in MEASURES.items():
        if measure not in wide:
            continue
        decimals = 0 if measure == "plateau" else 2
        table[name] = wide[measure].round(decimals).to_numpy()
        ends = long[long.measure == measure].set_index("variant").reindex(order)[["low", "high"]]
        if ends.notna().any(axis=None):
            short = name.partition(",")[0].partition(" (")[0].lower()
            table[f"95 % interval: {short}"] = [
                f"{fixed(row.low, decimals)} to {fixed(row.high, decimals)}" if row.low == row.low else ""
                for row in frames.rows(ends)
            ]
    return table
