"""Tables of one row of the board: its seeds, its scores after fine-tuning, its costs, and what papers print of it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from analysis import glue_comparison
from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS, named, quote
from analysis.core import frames
from analysis.core.formatting import join_names, plural, signed, uncapitalised
from analysis.figures.experiments.board_rows import BASELINE, ExperimentsBoard, VariantRow
from analysis.figures.glue.headline import headline
from analysis.figures.glue.study_rows import CORRELATIONS, GlueParameters, study_of
from analysis.figures.training.costs import COSTS
from analysis.figures.training.trainings import title
from analysis.glue_comparison import AVERAGE
from analysis.measurements.surgery.arms import ARMS
from analysis.rules import surgery_rules
from analysis.store import read

ADDING = ("BERT-A", "Learned", "Sinusoidal", "APE (sinusoidal)")
"""Rows of published tables that add positions to words, in the order in which they serve as a baseline."""
PRINTED = {"no_position": ("NoPos", "NoPE", "No position")}
"""Names in papers of our variants, where they are others than our titles."""


class RowTable(NamedTuple):
    """A table with the sentence above it that says what it shows; no rows where nothing is stored.

    sources: the ids of the published tables that it quotes, each with its name on screen.
    """

    sentence: str
    table: pd.DataFrame
    sources: Mapping[str, str] = MappingProxyType({})


def seeds(row: VariantRow, board: ExperimentsBoard) -> RowTable:
    """The final losses of every seed, with those of adding; and the rows that this one is not told apart from."""
    baseline = board.row(BASELINE)
    table = pd.DataFrame(
        {
            "Seed": seed,
            "Final loss": loss,
            **(
                {}
                if row.variant == BASELINE
                else {title(BASELINE): baseline.losses.get(seed), "Difference": row.differences.get(seed)}
            ),
        }
        for seed, loss in sorted(row.losses.items(), key=lambda item: str(item[0]))
    )
    if not row.losses:
        return RowTable(f"{quote(row.title)} was not trained with preset {board.preset}.", table)
    parts = [f"{plural(len(row.losses), 'seed')}, mean final loss {row.loss:.3f} nats."]
    if row.gap and row.gap.low == row.gap.low:
        parts.append(
            f"Difference from adding {signed(row.gap.value, 3)} (95 % interval {signed(row.gap.low, 3)} to "
            f"{signed(row.gap.high, 3)}, {plural(row.gap.seeds, 'pair')})."
        )
    if row.outcome == "few":
        parts.append(f"Too few to judge: {board.needed} are needed.")
    if row.standing:
        parts.append(f"The verdict of the frozen rules: {row.standing}.")
    if row.rank:
        tied = join_names(named(name) for name in row.tied)
        parts.append(f"Not told apart from {tied}." if row.tied else "Told apart from every other row.")
    return RowTable(" ".join(parts), table)


def costs(row: VariantRow, board: ExperimentsBoard) -> RowTable:
    """Every stored cost of the variant beside the baseline's, of the preset whose costs the board has."""
    preset = board.cost_preset
    rows = read.query(
        "SELECT variant, measure, value FROM newest_costs WHERE preset = ? AND variant IN (?, ?)",
        [preset, row.variant, BASELINE],
    )
    wide = rows.pivot(index="measure", columns="variant", values="value")
    if row.variant not in wide or BASELINE not in wide:
        counted = f" It has {row.parameters:.2f} times adding's parameters." if row.parameters is not None else ""
        return RowTable(f"The costs of {quote(row.title)} are not measured yet.{counted}", pd.DataFrame())
    records = []
    for measure, cost in COSTS.items():
        if measure in wide.index:
            value, reference = float(wide[row.variant][measure]), float(wide[BASELINE][measure])
            records.append(
                {
                    "Cost": f"{cost.title} ({cost.unit})",
                    row.title: format(value, cost.format),
                    title(BASELINE): format(reference, cost.format),
                    "Ratio": f"× {value / reference:.2f}",
                }
            )
    table = pd.DataFrame(records).T.drop_duplicates().T if row.variant == BASELINE else pd.DataFrame(records)
    size = VARIANTS[row.variant].size if row.variant in VARIANTS else ""
    if PRESETS[preset].matched:
        sizes = "whose sizes are matched by the width of the feed-forward layers"
        size = f"Before that: {uncapitalised(size)}" if size else ""
    else:
        sizes = "whose sizes are not matched"
    return RowTable(f"Measured with preset {preset}, {sizes}. {size}".strip(), table)


def refitted(row: VariantRow) -> RowTable:
    """The scores of MiniLM with its positions changed as in this row and then fine-tuned, beside the intact model's."""
    arm = next((arm for arm in ARMS.values() if row.variant in (arm.variant, arm.name)), None)
    means = _arm_means()
    if arm is None:
        return RowTable(f"No change of MiniLM corresponds to {quote(row.title)}.", pd.DataFrame())
    if arm.name not in means:
        return RowTable(
            f"MiniLM changed as {quote(row.title)} was not fine-tuned at once. Where it was trained on first, its loss "
            "stands under Refit, and its scores under GLUE.",
            pd.DataFrame(),
        )
    intact = means.get("minilm_intact", {})
    table = pd.DataFrame(
        {
            "Task": task,
            arm.title: f"{100 * score:.1f}",
            "MiniLM, intact": f"{100 * intact[task]:.1f}",
            "Difference (points)": signed(100 * (score - intact[task]), 1),
        }
        for task, score in means[arm.name].items()
        if task in intact
    )
    seeds_count = len(surgery_rules().seeds)
    return RowTable(
        f"A trained MiniLM, changed and fine-tuned: means of {seeds_count} seeds. {arm.summary}",
        table.iloc[:, [0, 1]] if arm.name == "minilm_intact" else table,
    )


def _arm_means() -> dict[str, dict[str, float]]:
    """Arm -> title of the task, with its correlation -> the mean of its main metric; under the frozen rules."""
    rows = read.query(
        "SELECT s.variant, t.title AS task, t.metric, avg(s.value) AS score FROM scores s JOIN runs r USING (run_id) "
        "JOIN tasks t ON t.task = s.task AND t.metric = s.metric WHERE s.preset = 'surgery' "
        "AND json_extract_string(r.config, '$.rules.sha256') = ? GROUP BY ALL ORDER BY ALL",
        [surgery_rules().sha256],
    )
    named = [
        f"{task} ({CORRELATIONS[metric]})" if metric in CORRELATIONS else task
        for task, metric in zip(rows.task, rows.metric, strict=True)
    ]
    groups = rows.assign(task=named).groupby("variant")
    return {str(arm): dict(zip(group.task, group.score, strict=True)) for arm, group in groups}


def own_glue(row: VariantRow) -> RowTable:
    """Differences to adding of our own models, fine-tuned on GLUE; above them the sentence that says what they show."""
    study = study_of(GlueParameters(preset=glue_comparison.DEFAULT_PRESET, baseline=BASELINE))
    if not study or row.variant not in study.results.variants:
        return RowTable(f"{quote(row.title)} was not fine-tuned on GLUE.", pd.DataFrame())
    sentence = headline(study)[0]
    rows = study.contrasts[study.contrasts.variant == row.variant]
    order = [*study.tasks, AVERAGE]
    table = pd.DataFrame(
        {
            "Task": found.task_title,
            "Difference (points)": signed(found.difference, 1),
            "95 % interval": f"{signed(found.low, 1)} to {signed(found.high, 1)}" if found.low == found.low else "",
            "Seeds": found.seeds,
            "Verdict": found.verdict,
        }
        for found in sorted(frames.rows(rows), key=lambda found: order.index(found.task))
    )
    return RowTable(sentence, table)


def papers(row: VariantRow) -> RowTable:
    """Numbers that papers print of a variant of this name, beside the row of the same table that adds positions."""
    known = VARIANTS[row.variant].known_as if row.variant in VARIANTS else ""
    names = PRINTED.get(row.variant, (row.title, known) if known else (row.title,))
    rows = read.query(
        "SELECT citation, table_name, short, setting, task_title, metric_title, higher_is_better, variant, baseline, "
        "value, baseline_value FROM published_pairs WHERE variant IN (SELECT unnest(?)) AND baseline IN "
        "(SELECT unnest(?)) AND steps IS NOT DISTINCT FROM baseline_steps ORDER BY ALL",
        [list(names), list(ADDING)],
    )
    if rows.empty:
        return RowTable(
            f"No table that we cite compares {quote(row.title)} with added positions under a name that we know.",
            rows,
        )
    rank = rows.baseline.map(ADDING.index)
    first = rank.groupby([rows.citation, rows.table_name]).transform("min")
    rows = rows[rank == first]
    better = int(((rows.value > rows.baseline_value) == rows.higher_is_better)[rows.value != rows.baseline_value].sum())
    table = pd.DataFrame(
        {
            "Paper": found.short,
            "Table": found.table_name,
            "Measure": _measure(found._asdict()),
            found.variant: found.value,
            "Added": found.baseline_value,
            "Setting": found.setting or "",
        }
        for found in frames.rows(rows)
    )
    return RowTable(
        f"{better} of {plural(len(rows), 'printed number')} {'is' if better == 1 else 'are'} better than those of the "
        "row that adds positions in the same table; papers print no test of them.",
        table,
        {f"{found.citation}|{found.table_name}": f"{found.short}, {found.table_name}" for found in frames.rows(rows)},
    )


def _measure(row: Mapping[str, object]) -> str:
    return f"{row['task_title']}, {str(row['metric_title']).lower()}"
