"""Our own pre-trainings: which runs may be compared, which of them a link asks for, and how captions describe them.

Compared are runs of one preset, one objective and one recipe: the same settings in all but variant, seed and peak
learning rate. Causal and masked models are never compared: their losses are of different tasks.
"""

import json
from collections.abc import Collection, Hashable, Sequence, Sized
from dataclasses import dataclass
from urllib.parse import urlencode

import pandas as pd

from analysis.ablation.presets import OPTIONS, PRESETS, ablate, changed_settings, describe_changes, identify, recipe_of
from analysis.ablation.variants import VARIANTS, title
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import span
from analysis.figures.figure import Parameters
from analysis.store import read

COMMAND = "python -m analysis ablate --preset cpu"
MASKED, CAUSAL = "masked", "causal"
OBJECTIVES = {MASKED: "Masked words", CAUSAL: "Next word (causal)"}
BASELINES = {MASKED: "bert_a", CAUSAL: "causal_bert_a"}
STAND_INS = {CAUSAL: "causal_rotary"}
"""What the others are compared with where nothing that adds learned positions was run."""
ORDERLESS = {MASKED: "no_position", CAUSAL: "causal_no_position"}
"""The variants that are told nothing of position."""
APART = (
    "Causal and masked models never share an axis: a causal model predicts every next token from those before it, a "
    "masked one predicts only masked tokens, from both sides. Their losses measure different tasks."
)
UNIT = "nats per predicted token"
UNLIKE_PACE = 1.2
"""From here on, how much longer one run of a variant took a step than another is said."""

INDEX = """
SELECT p.* EXCLUDE (created), r.device, r.created, r.git_sha
FROM pretrainings p JOIN runs r USING (run_id)
WHERE (p.last_loss IS NOT NULL OR p.diverged) AND {} ORDER BY r.created, p.run_id
"""


class SettingsParameters(Parameters):
    """Our own trainings at any settings, of one preset and objective. baseline: empty for the usual one."""

    preset: str
    objective: str
    baseline: str = ""


class TrainingParameters(SettingsParameters):
    """Our own trainings of one recipe and peak learning rate. Empty: the usual recipe; each variant's own rate."""

    recipe: str = ""
    rate: str = ""


class VariantsParameters(TrainingParameters):
    """Our own trainings of some variants."""

    variants: tuple[str, ...]


def objective(variant: str) -> str:
    """What a variant is trained to predict."""
    causal = VARIANTS[variant].settings.get("causal") if variant in VARIANTS else variant.startswith("causal_")
    return CAUSAL if causal else MASKED


def index(among: Collection[str] | None = None) -> pd.DataFrame:
    """One row per stored pre-training, with its recipe and learning rate; of those run ids, if given."""
    if among is None:
        rows = read.query(INDEX.format("true"))
    else:
        rows = read.query(INDEX.format("p.run_id IN (SELECT unnest(?))"), [list(among)])
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
    told: str
    runs: pd.DataFrame
    sample: str
    """What `final` was measured on."""
    left_out: str
    """Sentences on runs at other learning rates and on those that diverged; empty where there are none."""
    baseline: str
    """The variant that the others are compared with."""

    @property
    def variants(self) -> list[str]:
        """Those that were run, the baseline first, then in the registry's order."""
        ran = set(self.runs.variant)
        known = [name for name in VARIANTS if name in ran]
        return sorted([*known, *sorted(ran - set(known))], key=lambda name: name != self.baseline)

    def picked(self, variants: Collection[str]) -> list[str]:
        """Those of the link that were run; all, where it names none that was."""
        return [name for name in self.variants if name in variants] or self.variants

    def finals(self, variant: str) -> dict[Hashable, float]:
        """Seed -> final validation loss."""
        own = self.runs[self.runs.variant == variant]
        return dict(zip(own.seed, own.final, strict=True))

    def curves(self, *metrics: str, variants: list[str] | None = None) -> pd.DataFrame:
        """Rows of these runs' curves: variant, seed, metric, step, tokens, seconds, value; in order of step."""
        runs = self.runs if variants is None else self.runs[self.runs.variant.isin(variants)]
        rows = read.query(
            "SELECT run_id, variant, seed, metric, step, tokens, seconds, value FROM curves "
            f"WHERE metric IN ({_marks(metrics)}) AND run_id IN ({_marks(runs.run_id)}) ORDER BY step",
            [*metrics, *runs.run_id],
        )
        return rows

    def need_baseline(self) -> None:
        """Raises NoResults where nothing can be compared with the baseline."""
        if self.baseline not in self.variants:
            raise NoResults(
                f"There is no run of {title(self.baseline)} with these settings, so there is nothing to compare with. "
                f"Run: {ablate(self.preset, [self.baseline])}"
            )

    def about(self, variants: list[str] | None = None) -> str:
        """What was run: preset, recipe, seeds and learning rates, in a sentence."""
        runs = self.runs[self.runs.variant.isin(variants or self.variants)]
        seeds = runs.groupby("variant").seed.nunique()
        spread = span(seeds)
        rates = runs.groupby("rate", sort=False).variant.agg(lambda result: sorted(set(result)))
        if len(rates) == 1:
            at = f"peak learning rate {rates.index[0]}"
        else:
            at = "peak learning rates " + "; ".join(
                f"{rate}: {', '.join(map(title, names))}" for rate, names in rates.items()
            )
        text = f"Preset {self.preset} ({self.told}), {spread} seed{'' if spread == '1' else 's'} per variant, {at}."
        return f"{text} {self.left_out}".strip()

    def pace(self, variants: list[str] | None = None) -> str:
        """Where one variant's runs took unlike times a step, the sentence that says how far seconds can be compared."""
        rows = self.curves("validation_loss", variants=variants)
        rows = rows[(rows.step > 0) & (rows.seconds > 0)]
        ends = rows.drop_duplicates("run_id", keep="last")
        took = (1000 * ends.seconds / ends.step).groupby(ends.variant).agg(["min", "max"])
        apart = took["max"] / took["min"]
        if not (apart > UNLIKE_PACE).any():
            return ""
        name = apart.idxmax()
        return (
            f"Seconds also depend on the machine and the code: {title(str(name))} took {took['min'][name]:.0f} ms per "
            f"step in one run and {took['max'][name]:.0f} in another. Steps are the better comparison; step times "
            "that were measured in turns are under Costs."
        )

    def provenance(self, variants: list[str] | None = None) -> dict[str, str]:
        """Where each variant's numbers come from."""
        return {
            title(name): "; ".join(
                f"seed {row.seed}: run {row.run_id}, {row.device}, {row.created}, code {row.git_sha}"
                for row in self.runs[self.runs.variant == name].sort_values("seed").itertuples()
            )
            for name in variants or self.variants
        }


def candidates(params: SettingsParameters, among: Collection[str] | None = None) -> pd.DataFrame:
    """The index of what was run with the preset and the objective of a link, at any settings.

    Raises NoResults where nothing was, AddendError for a preset or an objective that is not offered.
    """
    every = index(among)
    if every.empty:
        raise NoResults(f"No pre-training of our own is stored yet. Make some with: {COMMAND}")
    rows = _only(every, "preset", params.preset, "There is no pre-training of the preset")
    return _only(rows, "objective", params.objective, "There is no pre-training with the objective")


def newest(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """One run a variant, seed, settings and rate, with its `final` loss; and on what that was measured."""
    # Run twice with the same settings (another commit, another corpus of the same name): the newest counts.
    kept = rows.sort_values(["created", "run_id"])
    kept = kept.drop_duplicates(["variant", "seed", "recipe", "rate"], keep="last").reset_index(drop=True)
    if kept.final_loss.notna().all():
        return kept.assign(final=kept.final_loss), "the larger validation sample taken after the last step"
    return kept.assign(final=kept.last_loss), "the last evaluation"


def diverged_sentence(lost: pd.DataFrame, *columns: str) -> str:
    """The sentence on runs that diverged; columns: what else it says of each."""
    sentences = []
    for row in lost.to_dict("records"):
        more = [f"seed {row['seed']}", *(str(row[column]) for column in columns), f"rate {row['rate']}"]
        sentences.append(f"{title(str(row['variant']))} ({', '.join(more)})")
    return f"Diverged, and not shown: {', '.join(sentences)}."


def select_trainings(params: TrainingParameters, among: Collection[str] | None = None) -> Trained:
    """The runs that a link asks for. Raises NoResults where there are none, AddendError for what is not offered.

    among: run ids; no others are considered. Of a variant run at several peak learning rates one is taken: that with
    most seeds; if several have as many, the one with the lowest mean loss.
    """
    rows = candidates(params, among)
    rows = _only(rows, "recipe", params.recipe or usual_recipe(rows), "There is no pre-training with the settings")
    lost = rows[rows.diverged]
    rows = rows[~rows.diverged]
    if rows.empty:
        raise NoResults("Every pre-training with these settings diverged: their losses are no longer numbers.")
    left_out = ""
    if params.rate:
        rows = _only(rows, "rate", params.rate, "There is no pre-training at the learning rate")
    elif rows.groupby("variant").rate.nunique().max() > 1:
        scores = rows.groupby(["variant", "rate"]).agg(seeds=("seed", "nunique"), loss=("last_loss", "mean"))
        best = scores.reset_index().sort_values(["seeds", "loss"], ascending=[False, True]).drop_duplicates("variant")
        rows = rows.merge(best[["variant", "rate"]])
        left_out = (
            "Where a variant was run at several learning rates, the rate with the most seeds is shown; if several have "
            "as many, the one with the lowest mean loss."
        )
    if len(lost):
        left_out = f"{left_out} {diverged_sentence(lost)}".strip()
    runs, sample = newest(rows)
    return Trained(
        preset=params.preset,
        objective=params.objective,
        told=str(runs.told.iloc[0]),
        runs=runs,
        sample=sample,
        left_out=left_out,
        baseline=params.baseline or usual_baseline(params.objective, set(runs.variant)),
    )


def usual_baseline(objective: str, ran: Collection[str]) -> str:
    """What the others are compared with unless a link says otherwise. ran: the variants that there are runs of."""
    usual = BASELINES[objective]
    stand_in = STAND_INS.get(objective, usual)
    return stand_in if stand_in in ran and usual not in ran else usual


def usual_recipe(rows: pd.DataFrame) -> str:
    """The recipe with most runs, of equals the newest."""
    counts = rows.groupby("recipe").agg(runs=("run_id", "size"), created=("created", "max"))
    return str(counts.sort_values(["runs", "created"]).index[-1])


def _only(rows: pd.DataFrame, column: str, value: str, lacking: str) -> pd.DataFrame:
    kept = rows[rows[column] == value]
    if kept.empty:
        known = ", ".join(dict.fromkeys(rows[column]))
        raise (NoResults if value in (*PRESETS, *OBJECTIVES) else AddendError)(
            f"{lacking} {value!r}; there are: {known}. Make some with: {COMMAND}"
        )
    return kept


def _marks(values: Sized) -> str:
    return ", ".join("?" * len(values))


def training_commands(preset: str, runs: pd.DataFrame) -> list[str]:
    """The commands that train these runs, one for each recipe and peak learning rate, as far as options reach."""
    lines = []
    usual = _rate(PRESETS[preset].learning_rate) if preset in PRESETS else ""
    for (_, rate), one in runs.groupby(["recipe", "rate"], sort=False):
        other: dict[str, object] = {"learning_rate": rate} if rate not in ("", usual) else {}
        other |= {name: value for name, value in one.changed.iloc[0].items() if name in OPTIONS}
        lines.append(ablate(preset, dict.fromkeys(one.variant), sorted(set(one.seed)), **other))
    return lines


def command(name: str, params: TrainingParameters, trainings: Trained, variants: Sequence[str], *more: str) -> str:
    """The commands that train what a figure shows, and that make its numbers anew from the store.

    more: the fields of the figure's link besides those that say which trainings.
    """
    fields = params.values("preset", "objective", "recipe", "rate", *more)
    request = {field: value for field, value in fields.items() if value}
    runs = trainings.runs[trainings.runs.variant.isin(variants)]
    export = f"python -m analysis export '/training?{urlencode(request, doseq=True)}' --figure {name} -o {name}.csv"
    return "\n".join([*training_commands(trainings.preset, runs), export])
