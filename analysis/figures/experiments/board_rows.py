"""The rows of the board: what is stored of every variant of one recipe, each compared with adding."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS, WAYS, named
from analysis.core import frames
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import join_names, plural
from analysis.figures.training.final_loss import compared_losses, is_imported, margin_of, seeds_needed
from analysis.figures.training.plateau import plateau_exits
from analysis.figures.training.timing import earlier_ratios, measured_preset
from analysis.figures.training.trainings import (
    BASELINES,
    MASKED,
    ORDERLESS,
    Trained,
    TrainingParameters,
    compared_by_rules,
    index,
    select_trainings,
    title,
)
from analysis.rules import judged_encoder_presets, training_rules
from analysis.statistics import Ranks, difference, ranks
from analysis.store import read
from analysis.store.paths import cached_until_store_changes

BASELINE = BASELINES[MASKED]
WIDTHS = {64: "width64", 128: "width128", 256: "width256"}
"""Width of a model -> the preset with which it is trained; these presets differ in little else."""
NAN = float("nan")
_STANDS = {"same": "ends as adding does", "higher": "ends higher", "unresolved": "is open", "few": "has too few seeds"}
"""Outcome of a row that does not end lower than adding -> its words after a name."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A difference of final losses from the baseline's, in nats, paired by seed. seeds: pairs; needed: for a verdict.

    low, high: the ends of the 95 % interval; NaN where there is none. differences: by seed.
    """

    value: float
    low: float
    high: float
    seeds: int
    needed: int
    differences: Mapping[Hashable, float] = field(default_factory=dict)

    @property
    def judged(self) -> bool:
        """There are as many seeds as a verdict needs."""
        return self.seeds >= self.needed


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Steps until the plateau is left: the mean over seeds with its 95 % interval. text: as it is printed.

    left: the seeds that leave it, of so many. Where not all do, the value is a lower bound. by_seed: of those that do.
    """

    value: float
    low: float
    high: float
    text: str
    left: int
    seeds: int
    by_seed: Mapping[Hashable, float] = field(default_factory=dict)

    @property
    def never(self) -> bool:
        """No seed leaves the plateau."""
        return not self.left

    @property
    def always(self) -> bool:
        """Every seed leaves the plateau, so that there is a mean."""
        return self.left == self.seeds

    @property
    def some(self) -> str:
        """The number of seeds that leave the plateau: `in 1 of 3 seeds`."""
        return f"in {self.left} of {plural(self.seeds, 'seed')}"


@dataclass(frozen=True, kw_only=True)
class VariantRow:
    """Everything stored of one variant; None for what is not.

    loss: the mean final loss in nats; losses: by seed. gap: its difference to the baseline's; differences: by seed.
    outcome: `baseline`; `lower` or `higher` by more than the margin of the rules; `same` within it; `unresolved`; `few`
    for too few seeds; or `` for a row that was not trained.
    standing: the word of the frozen rules. rank: the places that it may have; tied: variants it is not told apart from.
    widths: by width. parameters, time: as multiples of the baseline's; earlier: the time by the measurement before.
    """

    variant: str
    title: str
    way: str
    summary: str
    outcome: str = ""
    standing: str = ""
    loss: float | None = None
    losses: Mapping[Hashable, float] = field(default_factory=dict)
    gap: Gap | None = None
    differences: Mapping[Hashable, float] = field(default_factory=dict)
    rank: tuple[int, int] | None = None
    tied: tuple[str, ...] = ()
    steps: Steps | None = None
    widths: Mapping[int, Gap] = field(default_factory=dict)
    parameters: float | None = None
    time: float | None = None
    earlier: float | None = None

    @property
    def trained(self) -> bool:
        """It was trained by the recipe of the board."""
        return self.loss is not None

    @property
    def tells_all_attention(self) -> bool:
        """It tells positions to what attention compares in every layer, and neither to the input nor to its states."""
        if self.variant not in VARIANTS:
            return False
        variant = VARIANTS[self.variant]
        return variant.tells_all_attention and not variant.told_at_input

    @property
    def undecided(self) -> bool:
        """True where the row is neither lower, higher nor the same; such a row is drawn hollow."""
        return self.outcome in ("unresolved", "few")

    @property
    def place(self) -> float:
        """The difference that orders the rows: 0 of the baseline; infinite where there is none."""
        return 0.0 if self.outcome == "baseline" else self.gap.value if self.gap else math.inf


@dataclass(frozen=True, kw_only=True)
class ExperimentsBoard:
    """rows: by way, the one with the lowest mean loss first, in each the lowest loss first.

    others: variants that were not trained by this recipe, of which other things are stored.
    ranks: of the rows that are judged, None where there are fewer than two. needed: seeds that a verdict needs.
    recipe: the settings in words; trainings: None where nothing was trained with the preset.
    """

    preset: str
    rows: tuple[VariantRow, ...]
    others: tuple[VariantRow, ...]
    ranks: Ranks | None
    needed: int
    cost_preset: str
    trainings: Trained | None

    @property
    def imported(self) -> bool:
        """A reader imported the rows; no rule of ours judges them."""
        return is_imported(self.preset)

    @property
    def margin(self) -> float:
        """The difference in nats below which the rules count none; 0 for imported rows, which none judges."""
        return margin_of(self.preset)

    @property
    def judged(self) -> tuple[VariantRow, ...]:
        """Rows with a verdict, the baseline left out."""
        return tuple(row for row in self.rows if row.outcome in ("lower", "higher", "same", "unresolved"))

    @property
    def concatenating(self) -> tuple[VariantRow, ...]:
        """The judged rows that concatenate, the lowest loss first."""
        return tuple(sorted((row for row in self.judged if row.way == "concatenated"), key=lambda row: row.place))

    @property
    def of_the_question(self) -> tuple[VariantRow, ...]:
        """Adding, and of the rows that concatenate the lowest and the highest; empty where there is none of either."""
        adding = tuple(row for row in self.rows if row.outcome == "baseline")
        beside = self.concatenating
        if self.imported or not adding or not beside:
            return ()
        return (*adding, beside[0], *beside[1:][-1:])

    def concatenating_differs(self, other: "ExperimentsBoard") -> str:
        """A sentence on what another recipe finds of concatenating; empty where in both some row beats adding, or none.

        It names the rows that do, and how each stands in the recipe in which none does.
        """
        ours, theirs = ([row for row in board.concatenating if row.outcome == "lower"] for board in (self, other))
        if not self.concatenating or not other.concatenating or bool(ours) == bool(theirs):
            return ""
        winners, where, without = (ours, "there", other) if ours else (theirs, "here", self)
        outcomes = {row.variant: row.outcome for row in without.rows}
        unlike = [
            f"{named(row.variant)} {_STANDS[outcomes[row.variant]] if row.variant in outcomes else 'was not trained'} "
            f"{where}"
            for row in winners
        ]
        return (
            f"In recipe {other.preset}, {len(theirs) or 'none'} of {len(other.concatenating)} variants that "
            f"concatenate {'beat' if len(theirs) > 1 else 'beats'} adding; {join_names(unlike)}"
        )

    def row(self, variant: str) -> VariantRow:
        """The row of a variant or an arm; of an empty name, the first. Raises AddendError where the board has none."""
        if not variant and self.rows:
            return self.rows[0]
        for row in (*self.rows, *self.others):
            if row.variant == variant:
                return row
        known = ", ".join(row.variant for row in self.rows)
        raise AddendError(f"The board of preset {self.preset} has no row {variant!r}; it has: {known}.")

    @property
    def widths_note(self) -> str:
        """A sentence on the widths that are not stored yet of the rows of this board; empty where none is missing."""
        stored = {
            width: {row.variant: row.widths[width] for row in (*self.rows, *self.others) if width in row.widths}
            for width in WIDTHS
        }
        judged = {width: sum(gap.judged for gap in found.values()) for width, found in stored.items()}
        if all(judged.values()):
            return ""
        parts = []
        for width, found in stored.items():
            if judged[width]:
                parts.append(f"at width {width}, {plural(judged[width], 'variant')} can be judged")
            elif found:
                most = max(gap.seeds for gap in found.values())
                parts.append(
                    f"at width {width}, {plural(len(found), 'variant')} {'has' if len(found) == 1 else 'have'} at most "
                    f"{most} of {plural(next(iter(found.values())).needed, 'seed')}"
                )
        missing = [str(width) for width, found in stored.items() if not found]
        if missing:
            parts.append(f"at width {join_names(missing)}, none of these variants is trained yet")
        return f"Other widths, trained by recipes of their own: {'; '.join(parts)}."

    @property
    def steps_range(self) -> tuple[float, float] | None:
        """The ends of a logarithmic axis of all steps; None where no row leaves the plateau."""
        steps = [row.steps for row in self.rows if row.steps and row.steps.always]
        ends = [end for step in steps for end in (step.value, step.low, step.high) if end == end and end > 0]
        return (0.85 * min(ends), 1.15 * max(ends)) if ends else None

    @property
    def finding(self) -> str:
        """The number of variants that end lower than adding, by whether they tell every layer's attention alone."""
        if self.imported:
            needed = plural(self.needed, "seed")
            if not self.judged:
                return f"No imported variant has the {needed} that a comparison with {named(BASELINE)} needs"
            lower = sum(row.outcome == "lower" for row in self.rows)
            count = plural(len(self.judged), "imported variant")
            ends = "ends" if lower == 1 else "end"
            return f"Of {count} with at least {needed}, {lower} {ends} below {named(BASELINE)}"
        if not self.judged:
            counts = [row.gap.seeds for row in self.rows if row.gap]
            if not counts:
                return "Nothing was trained by this recipe that can be compared with adding"
            most = max(counts)
            return (
                f"Too few seeds to judge: of {plural(len(counts), 'variant')} none has more than {most} of "
                f"{plural(self.needed, 'seed')}"
            )
        everywhere = [row for row in self.judged if row.tells_all_attention]
        others = [row for row in self.judged if not row.tells_all_attention]
        beside = [row for row in others if row.way == "concatenated"]
        if not everywhere:
            return f"{_lower(others)} variants beat adding{_by_concatenating(others, beside)}"
        where = "only to attention, in every layer,"
        told = f"{_lower(everywhere)} variants that tell positions {where} beat adding"
        if len(everywhere) == 1:
            beats = "beats" if everywhere[0].outcome == "lower" else "does not beat"
            told = f"The one variant that tells positions {where} {beats} adding"
        if not others:
            return told
        lower = sum(row.outcome == "lower" for row in others)
        do = "does" if lower == 1 else "do"
        return f"{told}; {lower or 'none'} of {plural(len(others), 'other')} {do}{_by_concatenating(others, beside)}"


def _lower(rows: Sequence[VariantRow]) -> str:
    """The number of some rows that end lower than adding: `All 8`, `None of 4` or `2 of 6`."""
    lower = sum(row.outcome == "lower" for row in rows)
    return f"All {lower}" if lower == len(rows) > 1 else f"{lower or 'None'} of {len(rows)}"


def _by_concatenating(rows: Sequence[VariantRow], beside: Sequence[VariantRow]) -> str:
    """A clause on how many of the rows that beat adding concatenate. beside: the rows that do; empty without any."""
    if not beside:
        return ""
    if all(row.outcome != "lower" for row in rows):
        return ", those that concatenate included"
    lower = sum(row.outcome == "lower" for row in beside)
    return f", {'one' if lower == 1 else lower or 'none'} of them concatenating"


def judged_presets() -> tuple[str, ...]:
    """The presets that frozen rules judge, the newest rules first."""
    return (*judged_encoder_presets(), training_rules().preset)


def default_preset() -> str:
    """The judged preset in which most variants have all of their seeds; of equals, the one with the newest rules."""

    def complete(preset: str) -> int:
        trainings = _trainings(preset)
        if trainings is None:
            return 0
        # As many as its board judges; the boards of all presets together would take longer than the page.
        runs = trainings.runs
        others = runs[runs.seed.isin(runs.seed[runs.variant == BASELINE]) & (runs.variant != BASELINE)]
        return int((others.groupby("variant").seed.nunique() >= seeds_needed(preset)).sum())

    return max(judged_presets(), key=complete)


@cached_until_store_changes(12)
def board(preset: str) -> ExperimentsBoard:
    """The board of a preset. Raises NoResults where nothing at all is stored, AddendError for an unknown preset."""
    trainings = _trainings(preset)
    needed = seeds_needed(preset)
    trained = _trained_rows(trainings, needed) if trainings is not None else {}
    trained, order = _with_ranks(trained)
    if is_imported(preset):
        # What was measured of variants of ours with the same names was not measured of these.
        return ExperimentsBoard(
            preset=preset, rows=_by_way(list(trained.values())), others=(), ranks=order, needed=needed,
            cost_preset=preset, trainings=trainings,
        )  # fmt: skip
    cost_preset, costs = _costs(preset)
    sizes = _trained_sizes(trainings) if trainings is not None and cost_preset == preset else {}
    widths = _widths()
    rows = [
        replace(
            row,
            widths={width: gaps[name] for width, gaps in widths.items() if name in gaps},
            parameters=costs.get(name, {}).get("parameters", sizes.get(name)),
            time=costs.get(name, {}).get("time"),
            earlier=costs.get(name, {}).get("earlier"),
        )
        for name, row in trained.items()
    ]
    others = [
        VariantRow(
            variant=name,
            title=title(name),
            way=VARIANTS[name].way,
            summary=VARIANTS[name].summary,
            widths={width: gaps[name] for width, gaps in widths.items() if name in gaps},
            parameters=costs.get(name, {}).get("parameters"),
            time=costs.get(name, {}).get("time"),
            earlier=costs.get(name, {}).get("earlier"),
        )
        for name in VARIANTS
        if name not in trained and (name in costs or any(name in gaps for gaps in widths.values()))
    ]
    if not rows and not others:
        raise NoResults("No experiment of our own is stored yet. Run: python -m analysis ablate --preset debug")
    return ExperimentsBoard(
        preset=preset,
        rows=_by_way(rows),
        others=tuple(others),
        ranks=order,
        needed=needed,
        cost_preset=cost_preset,
        trainings=trainings,
    )


def _trainings(preset: str) -> Trained | None:
    """The trainings that the board compares; None where the preset has no training of masked words that is judged."""
    known = index()
    if preset not in set(known.preset) | set(PRESETS):
        raise AddendError(f"There is no preset {preset!r}; there are: {', '.join(PRESETS)}.")
    try:
        trainings = select_trainings(TrainingParameters(preset=preset, objective=MASKED))
    except NoResults:
        return None
    # Until a judged seed is trained there are pilots, which are compared with one another alone.
    judged = preset not in judged_encoder_presets() or compared_by_rules(trainings.runs, preset, MASKED).all()
    return trainings if judged else None


def _trained_rows(trainings: Trained, needed: int) -> dict[str, VariantRow]:
    """Variant -> its row, of what was trained by the recipe."""
    try:
        compared = {str(found.variant): found for found in frames.rows(compared_losses(trainings)[0])}
    except NoResults:
        compared = {}
    exits = _exits(trainings)
    baseline = trainings.finals(BASELINE)
    rows = {}
    for name in trainings.variants:
        losses = trainings.finals(name)
        gap = _gap(losses, baseline, needed) if name != BASELINE else None
        outcome, standing = "baseline" if name == BASELINE else "few", ""
        if gap and gap.judged and name in compared:
            found = compared[name]
            standing = str(found.standing)
            outcome = str(found.outcome)
        rows[name] = VariantRow(
            variant=name,
            title=title(name),
            way=VARIANTS[name].way if name in VARIANTS else "added",
            summary=VARIANTS[name].summary if name in VARIANTS else "",
            outcome=outcome,
            standing=standing,
            loss=sum(losses.values()) / len(losses),
            losses=losses,
            gap=gap,
            differences={seed: loss - baseline[seed] for seed, loss in losses.items() if seed in baseline and gap},
            steps=exits.get(name),
        )
    return rows


def _gap(losses: Mapping[Hashable, float], baseline: Mapping[Hashable, float], needed: int) -> Gap | None:
    """The difference to the baseline; None where they have no seed in common."""
    result = difference(losses, baseline)
    if not result.n:
        return None
    differences = {seed: loss - baseline[seed] for seed, loss in losses.items() if seed in baseline}
    return Gap(
        value=result.mean,
        low=result.low,
        high=result.high,
        seeds=result.n,
        needed=needed,
        differences=differences,
    )


def _exits(trainings: Trained) -> dict[str, Steps]:
    """Variant -> the steps until its runs leave the plateau."""
    try:
        exits = plateau_exits(trainings)
    except NoResults:
        return {}
    left = exits.seeds[~exits.seeds.censored]
    by_seed = {name: dict(zip(rows.seed, rows.step, strict=True)) for name, rows in left.groupby("variant")}
    steps = {
        str(row.variant): Steps(
            value=row.mean, low=row.low, high=row.high, text=row.told, left=row.n - row.censored, seeds=row.n,
            by_seed=by_seed.get(row.variant, {}),
        )
        for row in frames.rows(exits.table)
    }  # fmt: skip
    # The plateau is where a model without position ends, so that it never leaves it.
    never = Steps(value=NAN, low=NAN, high=NAN, text="never", left=0, seeds=exits.orderless_runs)
    return steps | {ORDERLESS[MASKED]: never}


def _with_ranks(rows: dict[str, VariantRow]) -> tuple[dict[str, VariantRow], Ranks | None]:
    """The rows with their ranks, among those that are judged and the baseline."""
    judged = {name: row.losses for name, row in rows.items() if row.outcome not in ("few", "")}
    if len(judged) < 2:
        return rows, None
    found = ranks(judged)
    ranked = {
        name: replace(row, rank=found.interval(name), tied=found.tied(name)) if name in judged else row
        for name, row in rows.items()
    }
    return ranked, found


def _by_way(rows: Sequence[VariantRow]) -> tuple[VariantRow, ...]:
    """Rows by way, the way with the lowest mean loss first, and in each the lowest loss first."""
    order = list(WAYS)

    def mean_place(way: str) -> float:
        places = [row.place for row in rows if row.way == way and row.place < math.inf]
        return sum(places) / len(places) if places else math.inf

    means = {row.way: mean_place(row.way) for row in rows}
    return tuple(sorted(rows, key=lambda row: (means[row.way], order.index(row.way), row.place)))


def _costs(preset: str) -> tuple[str, dict[str, dict[str, float]]]:
    """The preset whose costs are shown; and variant -> its parameters and both its times, over the baseline's."""
    shown = measured_preset(preset)
    rows = read.query(
        "SELECT variant, measure, value FROM newest_costs WHERE preset = ? AND measure IN ('parameters', 'step_ratio')",
        [shown],
    )
    table = rows.pivot(index="variant", columns="measure", values="value")
    if BASELINE not in table.index:
        return shown, {}
    ratios = (table / table.loc[BASELINE]).rename(columns={"step_ratio": "time"})
    ratios = ratios.assign(earlier=pd.Series(earlier_ratios(shown, BASELINE), dtype=float))
    return shown, {
        str(name): {str(measure): float(value) for measure, value in row.items() if value == value}
        for name, row in ratios.iterrows()
    }


def _trained_sizes(trainings: Trained) -> dict[str, float]:
    """Variant -> the parameters that its trainings counted, over the baseline's; empty where none of these did."""
    rows = read.query(
        "SELECT variant, max(CAST(config ->> 'parameters' AS DOUBLE)) AS parameters FROM pretrainings "
        f"WHERE run_id IN ({read.placeholders(trainings.runs.run_id)}) GROUP BY variant",
        list(trainings.runs.run_id),
    )
    counts = rows.dropna().set_index("variant").parameters
    return (counts / counts[BASELINE]).to_dict() if BASELINE in counts.index else {}


def _widths() -> dict[int, dict[str, Gap]]:
    """Width -> variant -> its difference to the baseline, of what was trained at that width."""
    gaps: dict[int, dict[str, Gap]] = {}
    for width, preset in WIDTHS.items():
        trainings = _trainings(preset)
        if trainings is None:
            continue
        baseline = trainings.finals(BASELINE)
        found = {
            name: _gap(trainings.finals(name), baseline, seeds_needed(preset))
            for name in trainings.variants
            if name != BASELINE
        }
        gaps[width] = {name: gap for name, gap in found.items() if gap}
    return gaps
