"""Our own pre-trainings: which runs may be compared, which of them a link asks for, and how captions describe them.

Compared are runs of one preset, one objective and one recipe: the same settings in all but variant, seed and peak
learning rate. Causal and masked models are never compared: their losses are of different tasks.
"""

import json
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import pandas as pd

from analysis.ablation.presets import OPTIONS, PRESETS, ablate, changed_settings, describe_changes, identify, recipe_of
from analysis.ablation.variants import VARIANTS, named, title
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import span
from analysis.figures.figure import Parameters
from analysis.rules import encoder_rules, training_rules
from analysis.store import read
from analysis.store.paths import cached_until_store_changes

COMMAND = "python -m analysis ablate --preset cpu"
MASKED, CAUSAL = "masked", "causal"
OBJECTIVES = {MASKED: "Masked words", CAUSAL: "Next word (causal)"}
BASELINES = {MASKED: "bert_a", CAUSAL: "causal_bert_a"}
FALLBACK_BASELINES = {CAUSAL: "causal_rotary"}
"""Baselines where no variant with added learned positions was run."""
ORDERLESS = {MASKED: "no_position", CAUSAL: "causal_no_position"}
"""The variants without position information."""
OBJECTIVES_NOTE = (
    "Causal and masked models never share an axis: a causal model predicts every next token from those before it, a "
    "masked one predicts only masked tokens, from both sides. Their losses measure different tasks."
)
UNIT = "nats per predicted token"
NOTABLE_PACE_RATIO = 1.2
"""Step times of a variant's runs are mentioned if the slowest is more than so many times the fastest."""

INDEX = """
SELECT p.* EXCLUDE (created), r.device, r.created, r.git_sha
FROM pretrainings p JOIN runs r USING (run_id)
WHERE p.last_loss IS NOT NULL OR p.diverged ORDER BY r.created, p.run_id
"""


class SettingsParameters(Parameters):
    """Our own trainings at any settings, of one preset and objective. baseline: empty for the usual one."""

    preset: str
    objective: str
    baseline: str = ""


class TrainingParameters(Parameters):
    """Our own trainings of one recipe and peak learning rate. Empty: the usual recipe; each variant's own rate."""

    preset: str
    objective: str
    recipe: str = ""
    rate: str = ""


class ComparedParameters(TrainingParameters):
    """Our own trainings of one recipe, compared with those of a baseline. Empty: the usual one."""

    baseline: str = ""


class VariantsParameters(TrainingParameters):
    """Our own trainings of some variants."""

    variants: tuple[str, ...]


def objective(variant: str) -> str:
    """The training objective of a variant."""
    causal = VARIANTS[variant].settings.get("causal") if variant in VARIANTS else variant.startswith("causal_")
    return CAUSAL if causal else MASKED


def stored_presets() -> list[str]:
    """Presets that something was trained or measured with."""
    rows = read.query("SELECT preset FROM curves UNION SELECT preset FROM costs ORDER BY preset")
    return rows.preset.tolist()


def index(run_ids: Collection[str] | None = None) -> pd.DataFrame:
    """One row per stored pre-training (or per one of `run_ids`), with its recipe and learning rate."""
    rows = _index()
    return rows.copy(deep=False) if run_ids is None else rows[rows.run_id.isin(run_ids)].reset_index(drop=True)


@cached_until_store_changes()
def _index() -> pd.DataFrame:
    rows = read.query(INDEX)
    configs = [json.loads(text) for text in rows.config]
    recipes = [recipe_of(config) for config in configs]
    keys = [(identify(recipe)[:6], preset) for recipe, preset in zip(recipes, rows.preset, strict=True)]
    # Thousands of runs follow a handful of recipes.
    changes = {key: changed_settings(recipe, key[1]) for key, recipe in dict(zip(keys, recipes, strict=True)).items()}
    return rows.drop(columns="config").assign(
        objective=[objective(variant) for variant in rows.variant],
        rate=[_rate(config.get("learning_rate")) for config in configs],
        recipe=[key[0] for key in keys],
        changed=pd.Series([changes[key] for key in keys], index=rows.index, dtype=object),
        told=[describe_changes(changes[key], key[1]) for key in keys],
    )


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


@dataclass(frozen=True, eq=False)
class Trained:
    """The pre-trainings that a figure compares: one a variant and seed.

    runs: run_id, variant, seed, rate, final (validation loss after the last step), steps, device, created, git_sha.
    """

    preset: str
    objective: str
    changes: str
    """The differences from the preset's settings, in words."""
    runs: pd.DataFrame
    sample: str
    """The data that `final` was measured on."""
    left_out: str
    """Sentences on runs at other learning rates and on those that diverged; empty where there are none."""
    baseline: str
    """The variant that the others are compared with."""

    @property
    def variants(self) -> list[str]:
        """The variants that were run, the baseline first, then in the registry's order."""
        ran = set(self.runs.variant)
        known = [name for name in VARIANTS if name in ran]
        return sorted([*known, *sorted(ran - set(known))], key=lambda name: name != self.baseline)

    def selected(self, variants: Collection[str]) -> list[str]:
        """The requested variants that were run, or all if none of them was."""
        return [name for name in self.variants if name in variants] or self.variants

    def finals(self, variant: str) -> dict[Hashable, float]:
        """Seed -> final validation loss."""
        runs = self.runs[self.runs.variant == variant]
        return dict(zip(runs.seed, runs.final, strict=True))

    def curves(self, *metrics: str, variants: list[str] | None = None) -> pd.DataFrame:
        """Rows of these runs' curves: variant, seed, metric, step, tokens, seconds, value; in order of step."""
        runs = self.runs if variants is None else self.runs[self.runs.variant.isin(variants)]
        rows = read.query(
            "SELECT run_id, variant, seed, metric, step, tokens, seconds, value FROM curves "
            f"WHERE metric IN ({read.placeholders(metrics)}) AND run_id IN ({read.placeholders(runs.run_id)}) "
            "ORDER BY step",
            [*metrics, *runs.run_id],
        )
        return rows

    def require_baseline(self) -> None:
        """Raises NoResults where nothing can be compared with the baseline."""
        if self.baseline not in self.variants:
            raise NoResults(
                f"There is no run of {named(self.baseline)} with these settings, so there is nothing to compare with. "
                f"Run: {ablate(self.preset, [self.baseline])}"
            )

    def description(self, variants: list[str] | None = None) -> str:
        """A sentence on preset, recipe, seeds and learning rates."""
        runs = self.runs[self.runs.variant.isin(variants or self.variants)]
        seeds = runs.groupby("variant").seed.nunique()
        seed_range = span(seeds)
        rates = runs.groupby("rate", sort=False).variant.agg(lambda result: sorted(set(result)))
        if len(rates) == 1:
            rates_sentence = f"peak learning rate {rates.index[0]}"
        else:
            rates_sentence = "peak learning rates " + "; ".join(
                f"{rate}: {', '.join(map(named, names))}" for rate, names in rates.items()
            )
        text = (
            f"Preset {self.preset} ({self.changes}), {seed_range} seed{'' if seed_range == '1' else 's'} per variant, "
            f"{rates_sentence}."
        )
        return f"{text} {self.left_out}".strip()

    def conditions(self, variants: Sequence[str] | None = None) -> str:
        """The recipe and how many seeds each variant has, for the line under a heading: recipe cpu2, 3 to 5 seeds."""
        runs = self.runs[self.runs.variant.isin(list(variants or self.variants))]
        seeds = span(runs.groupby("variant").seed.nunique())
        return f"recipe {self.preset}, {seeds} seed{'' if seeds == '1' else 's'}"

    def pace_note(self, variants: list[str] | None = None) -> str:
        """A caveat on comparing seconds, where the runs of one variant differ in time per step; else empty."""
        rows = self.curves("validation_loss", variants=variants)
        rows = rows[(rows.step > 0) & (rows.seconds > 0)]
        last_rows = rows.drop_duplicates("run_id", keep="last")
        times = (1000 * last_rows.seconds / last_rows.step).groupby(last_rows.variant).agg(["min", "max"])
        ratios = times["max"] / times["min"]
        if not (ratios > NOTABLE_PACE_RATIO).any():
            return ""
        name = ratios.idxmax()
        return (
            f"Seconds also depend on the machine and the code: {named(str(name))} took {times['min'][name]:.0f} ms per "
            f"step in one run and {times['max'][name]:.0f} in another. Steps are the better comparison; step times "
            "that were measured in turns are under Costs."
        )

    def provenance(self, variants: list[str] | None = None) -> dict[str, str]:
        """The runs behind each variant's numbers: seed, run, device, moment and code."""
        return {
            title(name): "; ".join(
                f"seed {row.seed}: run {row.run_id}, {row.device}, {row.created}, code {row.git_sha}"
                for row in self.runs[self.runs.variant == name].sort_values("seed").itertuples()
            )
            for name in variants or self.variants
        }


def candidates(params: SettingsParameters | TrainingParameters, run_ids: Collection[str] | None = None) -> pd.DataFrame:
    """The index of the runs with the preset and the objective of a link, at any settings.

    Raises NoResults if there are none, AddendError for a preset or an objective that is not offered.
    """
    runs = index(run_ids)
    if runs.empty:
        raise NoResults(f"No pre-training of our own is stored yet. Make some with: {COMMAND}")
    rows = _require(runs, "preset", params.preset, "There is no pre-training of the preset")
    return _require(rows, "objective", params.objective, "There is no pre-training with the objective")


def newest(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """One run per variant, seed, recipe and rate, with its `final` loss; and the data that it was measured on."""
    # Run twice with the same settings (another commit, another corpus of the same name): the newest counts.
    latest = rows.sort_values(["created", "run_id"])
    latest = latest.drop_duplicates(["variant", "seed", "recipe", "rate"], keep="last").reset_index(drop=True)
    if latest.final_loss.notna().all():
        return latest.assign(final=latest.final_loss), "the larger validation sample taken after the last step"
    return latest.assign(final=latest.last_loss), "the last evaluation"


def diverged_sentence(diverged: pd.DataFrame, *columns: str) -> str:
    """The sentence on runs that diverged; columns: further details of each."""
    sentences = []
    for row in diverged.to_dict("records"):
        details = [f"seed {row['seed']}", *(str(row[column]) for column in columns), f"rate {row['rate']}"]
        sentences.append(f"{named(str(row['variant']))} ({', '.join(details)})")
    return f"Diverged, and not shown: {', '.join(sentences)}."


def select_trainings(
    params: TrainingParameters, *, baseline: str = "", run_ids: Collection[str] | None = None
) -> Trained:
    """The runs that a link asks for. Raises NoResults if there are none, AddendError for a value that is not offered.

    baseline: empty for the usual one. run_ids: if given, these runs are considered, and no others. Of a variant run at
    several peak learning rates, the one with the most seeds is selected; among equals, the one with the lowest mean
    loss. Of a preset that rules judge, the runs are those with the seeds that all variants share.
    """
    asked = TrainingParameters(preset=params.preset, objective=params.objective, recipe=params.recipe, rate=params.rate)
    found = _selected(asked, None if run_ids is None else tuple(run_ids))
    return replace(found, baseline=baseline) if baseline else found


@cached_until_store_changes(32)
def _selected(params: TrainingParameters, run_ids: tuple[str, ...] | None) -> Trained:
    """The runs of `select_trainings`, with the usual baseline. Pages ask for the same ones dozens of times."""
    rows = candidates(params, run_ids)
    rows = _require(rows, "recipe", params.recipe or usual_recipe(rows), "There is no pre-training with the settings")
    diverged = rows[rows.diverged]
    rows = rows[~rows.diverged]
    if rows.empty:
        raise NoResults("Every pre-training with these settings diverged: their losses are no longer numbers.")
    left_out = ""
    if params.rate:
        rows = _require(rows, "rate", params.rate, "There is no pre-training at the learning rate")
    elif rows.groupby("variant").rate.nunique().max() > 1:
        scores = rows.groupby(["variant", "rate"]).agg(seeds=("seed", "nunique"), loss=("last_loss", "mean"))
        best = scores.reset_index().sort_values(["seeds", "loss"], ascending=[False, True]).drop_duplicates("variant")
        rows = rows.merge(best[["variant", "rate"]])
        left_out = (
            "Where a variant was run at several learning rates, the rate with the most seeds is shown; if several have "
            "as many, the one with the lowest mean loss."
        )
    if len(diverged):
        left_out = f"{left_out} {diverged_sentence(diverged)}".strip()
    if run_ids is None:
        rows, repeated = _with_shared_seeds(rows, params)
        left_out = f"{left_out} {repeated}".strip()
    runs, sample = newest(rows)
    return Trained(
        preset=params.preset,
        objective=params.objective,
        changes=str(runs.told.iloc[0]),
        runs=runs,
        sample=sample,
        left_out=left_out,
        baseline=usual_baseline(params.objective, set(runs.variant)),
    )


def _with_shared_seeds(rows: pd.DataFrame, params: TrainingParameters) -> tuple[pd.DataFrame, str]:
    """The runs with the seeds by which a judged preset compares all variants, and a sentence on those left out.

    The model without positions sets the plateau with seeds of its own, and stays. Runs that repeat a few comparisons
    with more seeds would give their variants other means than Home has. All stay where none has a shared seed.
    """
    kept = compared_by_rules(rows, params.preset, params.objective)
    seeds = sorted(set(rows.seed[~kept]))
    if not seeds or not kept[rows.variant != ORDERLESS.get(params.objective)].any():
        return rows, ""
    return rows[kept], (
        f"Runs with other seeds ({seeds[0]} to {seeds[-1]}) are not counted here: they are pilots of a learning rate, "
        "or repeat single comparisons by rules of their own."
    )


def compared_by_rules(runs: pd.DataFrame, preset: str, objective: str) -> "pd.Series[bool]":
    """True for each run of a preset that its first rules compare with all others, or that sets their plateau."""
    encoders, first = encoder_rules(), training_rules()
    if preset in encoders.recipes:
        sets_plateau = (runs.variant == ORDERLESS.get(objective)) & runs.seed.isin(encoders.plateau.seeds)
        return runs.seed.isin(encoders.seeds) | sets_plateau
    shared = set().union(*first.planned.values()) if preset == first.preset else ()
    return runs.seed.isin(shared)


def usual_baseline(objective: str, variants: Collection[str]) -> str:
    """The variant that others are compared with unless a link says otherwise. variants: those that have runs."""
    usual = BASELINES[objective]
    fallback = FALLBACK_BASELINES.get(objective, usual)
    return fallback if fallback in variants and usual not in variants else usual


def usual_recipe(rows: pd.DataFrame) -> str:
    """The recipe with most runs, of equals the newest."""
    counts = rows.groupby("recipe").agg(runs=("run_id", "size"), created=("created", "max"))
    return str(counts.sort_values(["runs", "created"]).index[-1])


def _require(rows: pd.DataFrame, column: str, value: str, message: str) -> pd.DataFrame:
    matches = rows[rows[column] == value]
    if matches.empty:
        known = ", ".join(dict.fromkeys(rows[column]))
        raise (NoResults if value in (*PRESETS, *OBJECTIVES) else AddendError)(
            f"{message} {value!r}; there are: {known}. Make some with: {COMMAND}"
        )
    return matches


def training_commands(preset: str, runs: pd.DataFrame) -> list[str]:
    """The commands that train these runs, one for each recipe and peak learning rate."""
    lines = []
    usual = _rate(PRESETS[preset].learning_rate) if preset in PRESETS else ""
    for (_, rate), group in runs.groupby(["recipe", "rate"], sort=False):
        overrides: dict[str, object] = {"learning_rate": rate} if rate not in ("", usual) else {}
        overrides |= {name: value for name, value in group.changed.iloc[0].items() if name in OPTIONS}
        lines.append(ablate(preset, dict.fromkeys(group.variant), sorted(set(group.seed)), **overrides))
    return lines


def command(
    name: str, params: TrainingParameters, trainings: Trained, variants: Sequence[str], *extra_fields: str
) -> str:
    """The commands that train a figure's runs, and the one that exports its numbers from the store.

    extra_fields: fields of the figure's link besides those that select the trainings.
    """
    fields = params.values("preset", "objective", "recipe", "rate", *extra_fields)
    link_fields = {field: value for field, value in fields.items() if value}
    runs = trainings.runs[trainings.runs.variant.isin(variants)]
    export = f"python -m analysis export '/training?{urlencode(link_fields, doseq=True)}' --figure {name} -o {name}.csv"
    return "\n".join([*training_commands(trainings.preset, runs), export])
