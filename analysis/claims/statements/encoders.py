"""Encoders compared with each other against a margin, by `analysis/rules/encoders.toml` and the files after it."""

import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from analysis.ablation.presets import LONGER, PRESETS, ablate
from analysis.ablation.variants import named, title
from analysis.claims.statements import margin_contests
from analysis.claims.statements.hours import TRAININGS, hours_by_preset
from analysis.claims.statements.judgement import (
    DECIDED,
    OPEN,
    SUPPORTED,
    Ask,
    Judgement,
    NextExperiment,
    runs_to_come,
)
from analysis.claims.statements.margin_contests import (
    EXITS,
    STEPS,
    ComparabilityLimits,
    FamilyVerdict,
    MarginComparison,
    TrainedRun,
)
from analysis.core.formatting import capitalised, interval_text, join_names, plural
from analysis.rules import EncoderContest, EncoderRules, all_encoder_rules, encoder_rules
from analysis.statistics import difference
from analysis.statistics.margins import NOT_TESTED, less_between_groups

RUNS = """
SELECT run_id, variant, seed, final_loss, diverged, config FROM pretrainings WHERE preset = '{preset}'
ORDER BY variant, seed, created
"""
LONGER_TEXTS = "SELECT run_id, value FROM curves WHERE preset = '{preset}' AND metric = 'final_loss_4x'"
"""The loss of each run on texts four times as long as those of its training."""


@dataclass(frozen=True, kw_only=True)
class PresetRuns:
    """The judged runs of a preset: variant -> seed -> run. plateau: in nats. problem: why none can be judged yet.

    longer: run -> its loss in nats at four times the training length.
    """

    runs: Mapping[str, Mapping[int, TrainedRun]]
    plateau: float | None = None
    problem: str = ""
    longer: Mapping[str, float] = field(default_factory=dict)

    def of(self, variant: str, kind: str) -> dict[int, TrainedRun]:
        """The runs of a variant by seed, with the loss that statements of a kind compare."""
        runs = dict(self.runs.get(variant, {}))
        if kind != "loss_4x":
            return runs
        return {seed: replace(run, loss=self.longer.get(run.run_id)) for seed, run in runs.items()}


Rows = Sequence[Mapping[str, Any]]


def load_runs(ask: Ask, rules: EncoderRules, preset: str) -> PresetRuns:
    """The runs of a preset in the store that the rules may judge, each variant at the rate that they choose."""
    rows: list[Mapping[str, Any]] = []
    for row in ask(RUNS.format(preset=preset)):
        config = json.loads(row["config"] or "{}")
        if not rules.refusal(config):
            rows.append({**row, "learning_rate": config["learning_rate"], "corpus": _digest(config)})
    rows = _of_one_corpus(rows)
    rates = chosen_rates(rows, rules, preset)
    if rates is None:
        return PresetRuns(runs={}, problem="the pilots that choose its learning rate are still to be run")
    usual = rates[rules.pilots.variants[0]]
    rows = [row for row in rows if row["learning_rate"] == rates.get(row["variant"], usual)]
    plateau = plateau_of(rows, rules)
    exits = [] if plateau is None else ask(EXITS.format(preset=preset, plateau=plateau))
    exit_steps = {row["run_id"]: row["left"] for row in exits}
    runs: dict[str, dict[int, TrainedRun]] = {}
    for row in rows:
        runs.setdefault(row["variant"], {})[row["seed"]] = TrainedRun(
            run_id=row["run_id"],
            loss=row["final_loss"],
            diverged=bool(row["diverged"]),
            plateau_exit=exit_steps.get(row["run_id"]),
        )
    problem = "" if plateau is not None else f"its plateau is not known until {named(rules.plateau.variant)} is trained"
    longer = {row["run_id"]: row["value"] for row in ask(LONGER_TEXTS.format(preset=preset))}
    return PresetRuns(runs=runs, plateau=plateau, problem=problem, longer=longer)


def _digest(config: Mapping[str, Any]) -> str:
    """The digest of a run's corpus, which its tokenizer is a part of; empty where its settings name none."""
    return str((config.get("corpus") or {}).get("digest", ""))


def _of_one_corpus(rows: Rows) -> list[Mapping[str, Any]]:
    """The runs on the corpus that most of them read: with another tokenizer, equal seeds are no pairs."""
    usual = Counter(row["corpus"] for row in rows).most_common(1)
    return [row for row in rows if row["corpus"] == usual[0][0]]


def chosen_rates(rows: Rows, rules: EncoderRules, preset: str) -> Mapping[str, float] | None:
    """Variant -> its learning rate, by the recipe or by the pilots; None as long as pilots are missing."""
    first, *_ = rules.pilots.variants
    if (fixed := rules.recipes[preset].learning_rate) is not None:
        return {first: fixed}
    rates: dict[str, float] = {}
    for variant in rules.pilots.variants:
        losses = {
            rate: [
                row["final_loss"]
                for row in rows
                if (row["variant"], row["learning_rate"]) == (variant, rate) and row["seed"] in rules.pilots.seeds
            ]
            for rate in rules.pilots.rates
        }
        if any(len(values) < len(rules.pilots.seeds) for values in losses.values()):
            return None
        # A run that diverged has no final loss, and its rate is not chosen.
        finite = {rate: fmean(values) for rate, values in losses.items() if None not in values}
        rates[variant] = min(finite, key=lambda rate: finite[rate])
    return rates


def plateau_of(rows: Rows, rules: EncoderRules) -> float | None:
    """The plateau of a preset in nats; None as long as its runs without positions are missing."""
    losses = {
        row["seed"]: row["final_loss"]
        for row in rows
        if row["variant"] == rules.plateau.variant and row["seed"] in rules.plateau.seeds
    }
    if set(losses) != set(rules.plateau.seeds) or None in losses.values():
        return None
    return fmean(losses.values()) - rules.plateau.below


def compare(contest: EncoderContest, presets: Mapping[str, PresetRuns], rules: EncoderRules) -> MarginComparison:
    """The comparison that a statement makes, with its test where every run is there and none speaks against it."""
    if contest.kind == "difference_of_differences":
        return _compare_presets(contest, presets, rules)
    here = presets[contest.preset]
    anywhere = contest.plateau == "any"
    return margin_contests.compare_sides(
        (contest.variant, contest.baseline),
        (here.of(contest.variant, contest.kind), here.of(contest.baseline, contest.kind)),
        rules.seeds,
        kind=contest.kind,
        expect=contest.expect,
        margin=contest.margin,
        limits=ComparabilityLimits(
            half=None if anywhere else rules.by_half * rules.recipes[contest.preset].steps,
            paired_spread=None if contest.spread == "any" else rules.paired_spread,
            earlier=rules.earlier,
        ),
        # A plateau that a side may stand on need not be known; without a learning rate there are no runs at all.
        problem="" if anywhere and here.runs else here.problem,
    )


def _compare_presets(
    contest: EncoderContest, presets: Mapping[str, PresetRuns], rules: EncoderRules
) -> MarginComparison:
    """The difference at one width less that at another, unpaired (Welch)."""
    groups: list[dict[Hashable, float]] = []
    missing = 0
    for preset in contest.presets:
        variant, baseline = (presets[preset].runs.get(name, {}) for name in (contest.variant, contest.baseline))
        missing += sum(seed not in side for side in (variant, baseline) for seed in rules.seeds)
        differences: dict[Hashable, float] = {}
        for seed in rules.seeds:
            losses = [side[seed].loss for side in (variant, baseline) if seed in side]
            if len(losses) == 2 and losses[0] is not None and losses[1] is not None:
                differences[seed] = losses[0] - losses[1]
        groups.append(differences)
    result = difference(groups[0], groups[1], paired=False) if all(groups) else None
    problem = next((presets[preset].problem for preset in contest.presets if presets[preset].problem), "")
    if missing or problem or result is None:
        return MarginComparison(found=result, test=NOT_TESTED, missing=missing, reason=problem)
    return MarginComparison(found=result, test=less_between_groups(result, contest.margin))


def judge(ask: Ask) -> list[Judgement]:
    """Every statement of `encoders.toml` and the files after it with its verdict."""
    hours = hours_by_preset(ask, TRAININGS)
    first = encoder_rules()
    plateaus = {preset: load_runs(ask, first, preset).plateau for preset in first.recipes}
    return [judgement for rules in all_encoder_rules() for judgement in _judge(ask, rules, hours, plateaus)]


def _judge(
    ask: Ask, rules: EncoderRules, hours: Mapping[str, float], plateaus: Mapping[str, float | None]
) -> list[Judgement]:
    presets = {preset: load_runs(ask, rules, preset) for preset in rules.recipes}
    comparisons = {contest.id: compare(contest, presets, rules) for contest in rules.statements}
    families = {contest.id: contest.family for contest in rules.statements}
    decided = margin_contests.family_verdicts(families, comparisons)
    cautions = cautions_of(families, comparisons)
    judgements = []
    for contest in rules.statements:
        judged = _judgement(contest, decided[contest.id], presets, rules, hours)
        limits = f"{_waiting(contest, rules, presets, plateaus)}{cautions[contest.id]}"
        judgements.append(replace(judged, sentence=f"{judged.sentence}{limits}"))
    return judgements


def _waiting(
    contest: EncoderContest,
    rules: EncoderRules,
    presets: Mapping[str, PresetRuns],
    plateaus: Mapping[str, float | None],
) -> str:
    """A sentence on the trainings of a statement that ended before they used order, where it compares such losses, too.

    A difference from them says when that begins rather than what it is worth. plateaus: of each preset, in nats.
    """
    plateau = plateaus.get(contest.preset)
    if contest.plateau != "any" or contest.kind != "final_loss" or plateau is None:
        return ""
    counts = {
        name: sum((side[seed].loss or 0.0) > plateau for seed in rules.seeds if seed in side)
        for name in (contest.variant, contest.baseline)
        if (side := presets[contest.preset].runs.get(name))
    }
    waiting = [f"{count} of {len(rules.seeds)} of {named(name)}" for name, count in counts.items() if count]
    if not waiting:
        return ""
    return f" Trainings that did not yet use order when they ended: {join_names(waiting)}."


def cautions_of(families: Mapping[str, str], comparisons: Mapping[str, MarginComparison]) -> dict[str, str]:
    """Statement -> a sentence where its verdict depends on which statements are tested together; else "".

    families: statement -> the family over which its file corrects it. Some families are small, and a reader may ask for
    one over all statements of the file.
    """
    decided = margin_contests.family_verdicts(families, comparisons)
    together = margin_contests.family_verdicts(dict.fromkeys(families, "the file"), comparisons)
    members = Counter(families.values())
    cautions = dict.fromkeys(families, "")
    for name, family in families.items():
        if decided[name].verdict != OPEN and together[name].verdict == OPEN:
            others = plural(members[family] - 1, "other statement") if members[family] > 1 else "no other"
            cautions[name] = (
                f" Its test is corrected for {others}; corrected for all {len(families)} statements of its file, it "
                "would be open."
            )
    return cautions


def _judgement(
    contest: EncoderContest,
    decided: FamilyVerdict,
    presets: Mapping[str, PresetRuns],
    rules: EncoderRules,
    hours: Mapping[str, float],
) -> Judgement:
    comparison, verdict = decided.comparison, decided.verdict
    values = margin_contests.numbers(comparison.found, logarithm=contest.kind == margin_contests.STEPS)
    seeds = comparison.found.n if comparison.found else 0
    names = (contest.variant, contest.baseline)
    found = margin_contests.finding(names, contest.kind, values, seeds)
    if contest.kind == "difference_of_differences":
        found = _between_presets(contest, values, seeds)
    experiment = _next_experiment(contest, comparison, rules, decided.waiting, hours) if verdict == OPEN else DECIDED
    recipe = PRESETS[contest.preset]
    widths = join_names(dict.fromkeys(str(PRESETS[preset].hidden_size) for preset in contest.presets))
    longer = f", {recipe.steps:,} steps" if contest.preset in LONGER.values() else ""
    return margin_contests.judgement(contest.kind, decided, found)(
        id=contest.id,
        parent=contest.parent,
        statement=contest.statement,
        scope=f"our own encoders, {plural(recipe.layers, 'layer')}, width {widths}{longer}",
        line=rules.earlier if contest.kind == STEPS else contest.margin,
        would_decide=experiment.words,
        hours=experiment.hours,
        command=ablate(contest.preset, names, rules.seeds),
        query=RUNS.format(preset=contest.preset).strip(),
        rules_version=rules.version,
        rules_sha=rules.sha256,
        exploratory=False,
        answer=_answer(contest, values[0], verdict),
        readings=tuple(
            margin_contests.reading(
                f"{title(name)}, {_place(preset, contest)}, seed {seed}",
                f"{preset} {name}",
                run,
                contest.kind,
            )
            for preset in contest.presets
            for name in names
            for seed, run in sorted(presets[preset].of(name, contest.kind).items())
            if seed in rules.seeds
        ),
    )


def _place(preset: str, contest: EncoderContest) -> str:
    """The setting by which the presets of a statement differ: `width 256`, or `20,000 steps`."""
    recipe = PRESETS[preset]
    return f"{recipe.steps:,} steps" if set(LONGER.values()) & set(contest.presets) else f"width {recipe.hidden_size}"


def _between_presets(contest: EncoderContest, values: margin_contests.Numbers, seeds: int) -> str:
    """The finding on a difference between two presets, in words; empty if no effect was measured."""
    effect, low, high = values
    if effect is None:
        return ""
    at = "after" if set(LONGER.values()) & set(contest.presets) else "at"
    return (
        f"{capitalised(named(contest.variant))} ends {abs(effect):.3f} nats "
        f"{'further above' if effect > 0 else 'nearer to'} {named(contest.baseline)} {at} "
        f"{_place(contest.preset, contest)} than {at} {_place(contest.against_preset, contest)}"
        f"{interval_text(low, high, '+.3f')}, {plural(seeds, 'seed')} each"
    )


def _answer(contest: EncoderContest, effect: float | None, verdict: str) -> str:
    """The sentence that the rules say will be told of this verdict; empty for an open one."""
    if effect is None or verdict == OPEN:
        return ""
    text = contest.supported if verdict == SUPPORTED else contest.contradicted
    return text.format(size=f"{abs(effect):.2f}", ratio=f"{effect:.2f}")


def repetition(contest: EncoderContest, rules: EncoderRules) -> tuple[EncoderContest, EncoderRules] | None:
    """The statement of a later file that compares the same two variants on seeds of its own; None if none does."""
    asked = (contest.variant, contest.baseline, contest.kind, contest.presets)
    for later in all_encoder_rules():
        for other in later.statements:
            same = (other.variant, other.baseline, other.kind, other.presets) == asked
            if same and later.version > rules.version and not set(later.seeds) & set(rules.seeds):
                return other, later
    return None


def _next_experiment(
    contest: EncoderContest,
    comparison: MarginComparison,
    rules: EncoderRules,
    waiting: int,
    hours: Mapping[str, float],
) -> NextExperiment:
    """The trainings that would settle an open statement. hours: of one of each preset."""
    names = f"{named(contest.variant)} and {named(contest.baseline)}"
    if comparison.missing:
        each = max((hours[preset] for preset in contest.presets if preset in hours), default=None)
        runs = f"{plural(len(rules.seeds), 'seed')} of {names}: {plural(comparison.missing, 'training')} more"
        return runs_to_come(runs, comparison.missing, each)
    if waiting and not comparison.reason and margin_contests.decided_alone(comparison):
        return NextExperiment(
            f"the trainings that {plural(waiting, 'other statement')} of its family still lack: all are tested "
            "together, by Holm's correction"
        )
    if again := repetition(contest, rules):
        other, later = again
        return NextExperiment(f"{other.id}, which compares the same two on {plural(len(later.seeds), 'new seed')}")
    if comparison.reason:
        compared = f"by which {names} can be compared: {comparison.reason}"
        return NextExperiment(f"a recipe, or a next version of the rules, {compared}")
    return margin_contests.new_seeds(
        comparison.found,
        (contest.variant, contest.baseline),
        expect=contest.expect,
        line=margin_contests.line_of(contest.kind, contest.margin, rules.earlier),
        each=hours.get(contest.preset),
    )
