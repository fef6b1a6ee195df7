"""Two variants of our own pre-trainings held against each other: final loss, paired by seed, against a margin."""

import json
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from analysis.ablation.presets import changed_settings, describe_changes, identify, recipe_of
from analysis.ablation.variants import title
from analysis.claims.base import Row, Rows
from analysis.core.formatting import join_names
from analysis.rules import training_rules
from analysis.statistics import Difference, Equivalence, difference, equivalence
from analysis.store.files import IMPORTED

OURS = f"NOT starts_with(preset, '{IMPORTED}') AND preset NOT IN ('{training_rules().preset}', 'pilot', 'surgery')"
"""SQL: leaves out imported runs, which nobody here made, and runs that only version 2 of the rules may judge."""
FEWEST = 3
"""Seeds in common, below which no training decides: of two seeds a t interval is 12.7 standard errors wide."""
LOSS_MARGIN = 0.05
"""Nats a predicted token: 5 % of perplexity."""
BETTER, WORSE, SAME, OPEN, FEW = "better", "worse", "the same within the margin", "not resolved", "too few seeds"
UNIT = "nats a predicted token"
Group = tuple[str, str]
"""Preset, and a digest of the settings that variants share: what may be compared."""


def finals(*variants: str) -> str:
    """SQL: every pre-training of our own of these variants with its final validation loss and settings."""
    names = ", ".join(f"'{name}'" for name in variants)
    return (
        "SELECT variant, preset, seed, final_loss, last_loss, diverged, steps, created, run_id, config "
        f"FROM pretrainings WHERE variant IN ({names}) AND {OURS} ORDER BY variant, seed, created, run_id"
    )


@dataclass(frozen=True, kw_only=True)
class LossComparison:
    """A variant less the baseline, in final loss (nats a predicted token; below 0 is better).

    found: over the seeds at which both end. variant_lost, baseline_lost: seeds at which it diverged and the other ends.
    """

    variant: str
    baseline: str
    preset: str
    found: Difference
    variant_lost: int
    baseline_lost: int
    against_margin: Equivalence
    group: Group
    runs: frozenset[str]
    """Run ids of both sides."""

    @property
    def seeds(self) -> int:
        """Seeds that both sides share, those at which one diverged included."""
        return self.found.n + self.variant_lost + self.baseline_lost

    @property
    def standing(self) -> str:
        """Better or worse by more than nothing and not shown to lie within the margin; the same; or why neither.

        A loss that is no number is worse than any, but has no mean: it decides only where it is so at every seed.
        """
        if self.seeds < FEWEST:
            return FEW
        if self.variant_lost or self.baseline_lost:
            lost = {self.variant_lost: WORSE, self.baseline_lost: BETTER}
            return lost.get(self.seeds, OPEN)
        if self.against_margin.within_margin:
            return SAME
        if self.against_margin.verdict == "different":
            return BETTER if self.found.mean < 0 else WORSE
        return OPEN


def groups(rows: Rows) -> dict[Group, list[Row]]:
    """Runs that may be compared: of one preset and the same settings in all but variant, seed and learning rate."""
    entries: dict[Group, list[Row]] = {}
    for row in rows:
        recipe = identify(recipe_of(json.loads(row["config"] or "{}")))
        entries.setdefault((str(row["preset"]), recipe), []).append(row)
    return entries


def at_one_rate(rows: Iterable[Row]) -> list[Row]:
    """One run a seed, at the learning rate with most seeds that end, then with most seeds, of equals the best.

    Of repeated runs the newest.
    """
    rates: dict[float, dict[Hashable, Row]] = {}

    def ended(by: dict[Hashable, Row]) -> list[float]:
        return [row["last_loss"] for row in by.values() if row["last_loss"] is not None]

    for row in sorted(rows, key=lambda row: (str(row["created"]), str(row["run_id"]))):
        rates.setdefault(_rate(row), {})[row["seed"]] = row
    if not rates:
        return []
    best = max(rates.values(), key=lambda by: (len(ended(by)), len(by), -sum(ended(by)) / (len(ended(by)) or 1)))
    return list(best.values())


def compare_losses(
    rows: Rows, variant: str, baseline: str, margin: float = LOSS_MARGIN, *, group: Group | None = None
) -> LossComparison | None:
    """The comparison with most seeds in common, of equals the longest; None where no two runs may be compared.

    group: the only one to look in; None: any.
    """
    best: LossComparison | None = None
    most = (0, 0)
    for key, runs in groups(rows).items():
        if group not in (None, key):
            continue
        variants, baselines = (
            at_one_rate(row for row in runs if row["variant"] == name) for name in (variant, baseline)
        )
        result = _held(variants, baselines, key, margin)
        size = (result.seeds, max(int(row["steps"] or 0) for row in (*variants, *baselines))) if result else (0, 0)
        if size > most:
            best, most = result, size
    return best


def at_other_settings(rows: Rows, held: LossComparison) -> list[tuple[str, LossComparison]]:
    """The same two held against each other at every other setting that both were run at, each with it in words.

    A setting is a preset, what was changed of it, and the peak learning rate; its words say how it differs.
    """
    usual = {_rate(row) for row in rows if row["run_id"] in held.runs}
    matches: list[tuple[str, LossComparison]] = []
    for (preset, digest), runs in groups(rows).items():
        by_rate: dict[float, list[Row]] = {}
        for row in runs:
            by_rate.setdefault(_rate(row), []).append(row)
        for rate, tried in sorted(by_rate.items(), key=lambda one: one[0]):
            variants, baselines = (
                at_one_rate(row for row in tried if row["variant"] == name) for name in (held.variant, held.baseline)
            )
            result = _held(variants, baselines, (preset, digest), held.against_margin.margin)
            if result is not None and not result.runs <= held.runs:
                changes = changed_settings(recipe_of(json.loads(runs[0]["config"] or "{}")), preset)
                differs = (
                    f"preset {preset}" if preset != held.preset else "",
                    describe_changes(changes, preset) if changes else "",
                    f"peak rate {rate:g}" if {rate} != usual else "",
                )
                matches.append((", ".join(filter(None, differs)) or "other data", result))
    return matches


def _rate(row: Row) -> float:
    return json.loads(row["config"] or "{}").get("learning_rate") or 0.0


def _held(variants: list[Row], baselines: list[Row], group: Group, margin: float) -> LossComparison | None:
    """Runs of one variant against runs of another; None where they share no seed."""
    sides = (variants, baselines)
    whole = all(row["final_loss"] is not None for side in sides for row in side if not row["diverged"])
    column = "final_loss" if whole else "last_loss"
    values = [{row["seed"]: row[column] for row in side if row[column] is not None} for side in sides]
    lost = [{row["seed"] for row in side if row["diverged"]} for side in sides]
    worse, better = lost[0] & values[1].keys(), lost[1] & values[0].keys()
    if not (values[0].keys() & values[1].keys()) | worse | better:
        return None
    result = difference(*values)
    return LossComparison(
        variant=str(variants[0]["variant"]),
        baseline=str(baselines[0]["variant"]),
        preset=group[0],
        found=result,
        variant_lost=len(worse),
        baseline_lost=len(better),
        against_margin=equivalence(result, margin),
        group=group,
        runs=frozenset(str(row["run_id"]) for side in sides for row in side),
    )


def seeds_among(rows: Rows) -> str:
    """(2 of them seeds of BERT-A): which models are one variant's, or nothing where all differ. Needs `variant`."""
    variants = Counter({row["model"]: row["variant"] for row in rows if row["variant"]}.values())
    sentences = [f"{count} of them seeds of {title(variant)}" for variant, count in variants.items() if count > 1]
    return f" ({join_names(sentences)})" if sentences else ""
