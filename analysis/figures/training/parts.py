"""The difference between adding and untying, split into single changes by variants between the two."""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise

import altair as alt
import pandas as pd

from analysis.ablation.presets import ablate
from analysis.ablation.variants import named
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, plural, signed, span
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.training.row_marks import differences
from analysis.figures.training.trainings import (
    MASKED,
    UNIT,
    Trained,
    TrainingParameters,
    command,
    select_trainings,
)
from analysis.statistics import Difference, difference, holm

FIRST, LAST = "bert_a", "tupe_a"
ALL_CHANGES = "all changes together"
SIGNIFICANT = " *"
"""Behind a difference: it is significantly different from zero."""


@dataclass(frozen=True)
class PartChange:
    """A change from one variant to the next."""

    after: str
    description: str


NORMALISED = PartChange("bert_a_norm", "positions normalised before they are added")
CLS_SEPARATE = PartChange(LAST, "[CLS] treated separately")
WAYS: dict[str, tuple[PartChange, ...]] = {
    "One thing at a time": (
        NORMALISED,
        PartChange("every_layer_hidden", "added again to the hidden states of every layer"),
        PartChange("every_layer_values", "kept out of the residual stream"),
        PartChange("every_layer_attention", "kept out of the values"),
        PartChange("no_cross_unscaled", "the two cross terms dropped"),
        PartChange("no_cross", "scores divided by the root of 2d instead of d"),
        PartChange("tupe_a_tie_cls", "projections of their own for positions"),
    ),
    "Cross terms dropped last": (
        NORMALISED,
        PartChange("bert_a_d", "separate projections in every layer, positions not in the values"),
        PartChange("tupe_a_tie_cls", "the two cross terms dropped"),
        CLS_SEPARATE,
    ),
    "Separate projections last": (
        NORMALISED,
        PartChange("no_cross", "position scores in every layer, no cross terms, positions not in the values"),
        PartChange("tupe_a_tie_cls", "separate projections for positions"),
        CLS_SEPARATE,
    ),
}
"""Ways from BERT-A to TUPE-A. The effect of a change may depend on the changes before it, so one way is not enough.

On the first way each change is one; on the others, whose variants were trained before, some changes come together.
BERT-A^d and TUPE divide by the root of 4d and 2d, so that each keeps the scale that its number of terms asks for.
"""

TIPS: tuple[marks.Tip, ...] = (
    "before",
    "after",
    ("gap", "difference", "+.3f"),
    *marks.interval_tips("+.3f"),
    ("n", "seeds"),
    ("p", "", ".2~g"),
    ("p_holm", "p, Holm", ".2~g"),
)


@figure("training_parts", TrainingParameters)
def parts(params: TrainingParameters) -> Figure:
    """The difference between BERT-A and TUPE-A in final loss, change by change, along two ways.

    Raises what `select_trainings` raises, and NoResults where no path is complete or the models are causal.
    """
    trainings = select_trainings(params)
    if trainings.objective != MASKED:
        raise NoResults(
            "The paths from adding once to TUPE-A consist of models that predict masked words; choose those."
        )
    table = pd.concat([_way(trainings, name) for name in WAYS], ignore_index=True)
    if table.empty:
        variants = [FIRST, *(change.after for change in WAYS["Cross terms dropped last"])]
        raise NoResults(
            f"No path from {named(FIRST)} to {named(LAST)} has been run completely with these settings. Run: "
            f"{ablate(trainings.preset, variants)}"
        )
    table = _corrected(table)
    used = [name for name in trainings.variants if name in {*table.before, *table.after}]
    sentences = [_sentence(table[table.way == way]) for way in dict.fromkeys(table.way)]
    listed_ends = join_names(dict.fromkeys(named(WAYS[way][-1].after) for way in dict.fromkeys(table.way)))
    return Figure(
        title=f"What lies between {named(FIRST)} and {listed_ends}",
        finding=_finding(table),
        frame=lambda: table,
        caption=(
            f"Each row: the final validation loss with that change, minus the loss just before it, in {UNIT} "
            f"({trainings.conditions()}); below 0 is better. "
            f"{SIGNIFICANT.strip()}: significantly different from 0 after Holm's correction over the changes, which a "
            "change whose interval is clear of 0 may fail. Whether a change lies beyond what counts as the same, "
            "Step by step says, by the rules. "
            f"Measured on {trainings.sample}. Diamonds: means over the seeds that all variants of one path "
            "share "
            f"({span(table.n)}), so that the changes add up to the last row; bars: 95 % t intervals, each by itself. "
            "Each change is measured on top "
            "of "
            f"those above it; in another order it may give another number. {trainings.description(used)}"
        ),
        alt=f"Diamonds, one row per change. {' '.join(sentences)}",
        command=command("training_parts", params, trainings, used),
        provenance=trainings.provenance(used),
        citation_keys=("ke2021tupe",),
        sentences=tuple(sentences),
        draw=lambda theme: _draw(table, list(dict.fromkeys(table.way)), theme),
        columns=min(2, table.way.nunique()),
    )


def _way(trainings: Trained, way: str) -> pd.DataFrame:
    """The changes of one way and, last, all of them together; empty if its variants have no seed in common."""
    names = [FIRST, *(change.after for change in WAYS[way])]
    losses = {name: trainings.finals(name) for name in names}
    shared: set[Hashable] = set.intersection(*(set(by_seed) for by_seed in losses.values()))
    shared_losses = {name: {seed: by_seed[seed] for seed in shared} for name, by_seed in losses.items()}
    pairs = [*pairwise(names), (FIRST, names[-1])]
    descriptions = [*(change.description for change in WAYS[way]), ALL_CHANGES]
    if not shared:
        return pd.DataFrame()
    return pd.DataFrame(
        [
            _row(way, description, before, after, difference(shared_losses[after], shared_losses[before]))
            for description, (before, after) in zip(descriptions, pairs, strict=True)
        ]
    )


def _row(way: str, description: str, before: str, after: str, gap: Difference) -> dict[str, object]:
    return {
        "way": way,
        "change": description,
        "before": before,
        "after": after,
        "n": gap.n,
        "gap": gap.mean,
        "low": gap.low,
        "high": gap.high,
        "p": gap.p,
        "note": gap.note,
    }


def _corrected(table: pd.DataFrame) -> pd.DataFrame:
    """The table with Holm's correction over its changes.

    A change that both ways share, over the same seeds, counts once.
    """
    tested = table[table.change != ALL_CHANGES].drop_duplicates(["before", "after", "n", "p"])
    correction = holm(tested.p.tolist(), alpha=0.05)
    adjusted = {
        (row.before, row.after, row.n): value
        for row, value in zip(frames.rows(tested), correction.adjusted, strict=True)
    }
    keys = [(row.before, row.after, row.n) for row in frames.rows(table)]
    corrected = [adjusted.get(key, float("nan")) for key in keys]
    is_total = table.change == ALL_CHANGES
    return table.assign(p_holm=corrected, told_apart=[value < 0.05 for value in table.p.where(is_total, corrected)])


def _sentence(rows: pd.DataFrame) -> str:
    """The effect of each change along a path, and whether it is significantly different from 0."""
    total = rows[rows.change == ALL_CHANGES].iloc[0]
    sentences = [
        f"{row.change} {signed(row.gap)}{'' if row.told_apart else ' (open)'}"
        for row in frames.rows(rows[rows.change != ALL_CHANGES])
    ]
    return (
        f"{total.way} ({plural(int(total.n), 'seed')}), {signed(total.gap)} nats from {named(FIRST)} to "
        f"{named(total.after)}: "
        f"{', '.join(sentences)}."
    )


def _finding(table: pd.DataFrame) -> str:
    """A sentence on the total change in loss, and on the single changes that are told apart from zero."""
    parts, total = table[table.change != ALL_CHANGES], table[table.change == ALL_CHANGES]
    resolved = parts[parts.told_apart].drop_duplicates(["before", "after"])
    resolved = resolved.reindex(resolved.gap.abs().sort_values(ascending=False).index)
    largest = [f"“{row.change}” ({signed(row.gap)})" for row in frames.rows(resolved.head(1))]
    single = len(parts.drop_duplicates(["before", "after"]))
    return f"All changes together: {signed(total.gap.mean())} nats{'' if total.told_apart.any() else ' (open)'}; " + (
        f"{len(resolved)} of {plural(single, 'single change')} {'differs' if len(resolved) == 1 else 'differ'} from 0, "
        f"{'' if len(resolved) == 1 else 'most of all '}{largest[0]}"
        if largest
        else "no single change is told apart from 0"
    )


def _draw(table: pd.DataFrame, ways: list[str], theme: Theme) -> list[Chart]:
    """Differences with their intervals, on one scale for both ways."""
    values = [0.0, *table[["gap", "low", "high"]].clip(-_axis_limit(table), _axis_limit(table)).stack()]
    x = marks.number(
        alt.X, "gap", "change in final loss (nats)", domain=(min(values), max(values)), nice=True, padding=8, ticks=5
    )
    wrapped = {way: list(marks.wrapped_labels(table.change[table.way == way].tolist()).values()) for way in ways}
    # Rows of one height: those of the two panels stand level.
    height = marks.row_height([label for labels in wrapped.values() for label in labels])
    width = marks.HALF if len(ways) > 1 else marks.WIDE
    panels = []
    for way, labels in wrapped.items():
        rows = table[table.way == way].drop(columns=["way", "note"])
        rows = rows.assign(
            label=labels,
            written=[f"{signed(row.gap)}{SIGNIFICANT * row.told_apart}" for row in frames.rows(rows)],
            told_apart=True,  # All are filled: hollow ones are, elsewhere, those that the rules leave open.
        )
        layers = differences(rows, x, marks.labelled_rows(labels, grid=True), theme, TIPS)
        panels.append(
            marks.panel(
                *layers, theme=theme, width=width, height=len(rows) * height, title=way,
                below=[
                    f"{SIGNIFICANT.strip()} differs from 0; Step by step says",
                    "which exceed what counts as the same",
                ],
            )
        )  # fmt: skip
    return panels


def _axis_limit(table: pd.DataFrame) -> float:
    """Half the width of the axis, set by the differences: an interval of two seeds may be ten times as wide."""
    return 1.6 * float(table.gap.abs().max()) or 1.0
