"""The rules by which claims are decided: files that were frozen before the data they judge.

`trainings.toml` holds version 2's rules for our own pre-trainings, `decoders.toml` those for causal models with rotary
positions, and `encoders.toml` version 3's rules for encoders of three widths. A run carries its file's SHA-256 in its
manifest, so that the store can tell which runs were begun under which rules. Reading this package needs neither torch
nor the store.
"""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
TRAININGS = FOLDER / "trainings.toml"
DECODERS = FOLDER / "decoders.toml"
TRAINING_FILES = (
    TRAININGS,
    DECODERS,
    FOLDER / "one_turned_key.toml",
    FOLDER / "decoders_2.toml",
    FOLDER / "decoders_3.toml",
)
"""The files that judge trainings as version 2 does."""
ENCODERS = FOLDER / "encoders.toml"
ENCODER_FILES = (
    ENCODERS,
    FOLDER / "wider.toml",
    FOLDER / "leading.toml",
    FOLDER / "repeated.toml",
    FOLDER / "repeated_2.toml",
    FOLDER / "equal_layers.toml",
    FOLDER / "longer.toml",
    FOLDER / "methods.toml",
    FOLDER / "methods_2.toml",
    FOLDER / "trainings_2.toml",
    FOLDER / "trainings_3.toml",
    FOLDER / "trainings_4.toml",
    FOLDER / "small_differences.toml",
    FOLDER / "one_block.toml",
    FOLDER / "longer_texts.toml",
    FOLDER / "one_block_2.toml",
    FOLDER / "start_as_adding.toml",
)
"""The files that judge encoders against a margin, the oldest first."""
MEASUREMENTS = FOLDER / "measurements.toml"
SURGERIES = FOLDER / "surgeries.toml"
CORRECTIONS = FOLDER / "corrections.toml"
DOCUMENTS = FOLDER / "documents.toml"


def claim_of(statement: str) -> str:
    """The claim that a statement is a part of.

    >>> claim_of("C34b")
    'C34'
    """
    return statement[:3]


def by_claim_and_letter(statement: str) -> tuple[str, int, str]:
    """The key that sorts statements by their claims, and those of one claim by their letters, z before aa.

    >>> sorted(["C34aa", "C34z", "C17b"], key=by_claim_and_letter)
    ['C17b', 'C34z', 'C34aa']
    """
    return claim_of(statement), len(statement), statement


@dataclass(frozen=True, kw_only=True)
class RuleFile:
    """A file of rules, read. measured: whether its statements are about measurements, and not about trainings."""

    path: Path
    content: Mapping[str, Any]
    sha256: str

    @property
    def version(self) -> int:
        """The version of the rules that it belongs to; 0 for a file that has none."""
        return int(self.content.get("version", 0))

    @property
    def header(self) -> dict[str, Any]:
        """The fields that every `FrozenRules` has."""
        return {"version": self.content["version"], "frozen": self.content["frozen"], "sha256": self.sha256}

    @property
    def measured(self) -> bool:
        """A file that judges trainings names their recipe."""
        return "statement" in self.content and "recipe" not in self.content


def rule_files() -> tuple[RuleFile, ...]:
    """Every file of rules, by its name."""
    return _read().files


def fact_checks() -> tuple[RuleFile, ...]:
    """The files that correct scopes and sentences after all printed numbers were computed again, in order of time."""
    return _fact_checks(rule_files())


def _fact_checks(files: Sequence[RuleFile]) -> tuple[RuleFile, ...]:
    return tuple(file for file in files if file.path.stem.startswith("fact_check"))


def retold(statement: Mapping[str, Any], checks: Sequence[RuleFile]) -> dict[str, Any]:
    """A statement of a frozen file, with the sentences that `checks` (files of `fact_checks`) tell instead."""
    entries = [entry for file in checks for entry in file.content.get("told", ()) if entry["id"] == statement["id"]]
    told = entries[-1] if entries else {}
    return {**statement, **{name: told[name] for name in ("supported", "contradicted") if name in told}}


@dataclass(frozen=True, kw_only=True)
class Contest:
    """A statement about two variants of our own trainings, as `trainings.toml` and `decoders.toml` have it.

    kind: `final_loss`, `loss_4x` (the same at four times the training length) or `steps_to_leave` (the plateau).
    expect: the standing that the statement claims. family: the name of the statements with which its p-value is
    corrected for multiple tests; empty for none. plateau: whether the two sides have a plateau that they must have
    left. asks_again: the statement of an earlier file on the same two variants whose place it takes once it is trained.
    """

    id: str
    statement: str
    kind: str
    variant: str
    baseline: str
    expect: str
    seeds: tuple[int, ...]
    family: str = ""
    plateau: bool = True
    asks_again: str = ""

    @property
    def parent(self) -> str:
        """The claim of the documents that it is a part of."""
        return claim_of(self.id)


def not_begun_under(sha256: str, frozen: str, config: Mapping[str, object]) -> str:
    """The reason why a run was not begun under the rules of a file after they were frozen; empty if it was."""
    rules, began = config.get("rules"), config.get("began")
    if not isinstance(rules, Mapping) or not began:
        return "its manifest names no rules: it was begun before they were frozen"
    if rules.get("sha256") != sha256:
        return f"it was begun under other rules ({str(rules.get('sha256'))[:12]}, not {sha256[:12]})"
    if str(began) < frozen:
        return f"it began at {began}, before the rules were frozen at {frozen}"
    return ""


@dataclass(frozen=True, kw_only=True)
class FrozenRules:
    """A file of rules that judges trainings, which name it in their manifests. frozen: a time in UTC."""

    version: int
    frozen: str
    sha256: str

    def manifest(self) -> dict[str, object]:
        """The part of a run's manifest that names the rules it was begun under."""
        return {"version": self.version, "sha256": self.sha256}

    def refusal(self, config: Mapping[str, object]) -> str:
        """The reason why a run with this manifest decides nothing under these rules; empty if it may.

        config: the settings of the run as its results file has them, with `rules` and `began`.
        """
        return not_begun_under(self.sha256, self.frozen, config)


@dataclass(frozen=True, kw_only=True)
class TrainingRules(FrozenRules):
    """Everything that a file of version 2's rules for trainings says. Losses and margins in nats per predicted token.

    steps_of: the steps of variants that take others than the recipe's. begun_under: the file of rules, by its name,
    under which a variant's runs were begun, where it is another one with the same recipe.
    """

    preset: str
    steps: int
    learning_rate: float
    margin: float
    plateau: float
    by_half: float
    spread: float
    earlier: float
    orderless: tuple[str, ...]
    statements: tuple[Contest, ...]
    steps_of: Mapping[str, int] = field(default_factory=dict)
    begun_under: Mapping[str, str] = field(default_factory=dict)

    @property
    def planned(self) -> dict[str, tuple[int, ...]]:
        """The seeds of every variant that some statement needs, in order."""
        seeds_by_variant: dict[str, set[int]] = {}
        for statement in self.statements:
            for variant in (statement.variant, statement.baseline):
                seeds_by_variant.setdefault(variant, set()).update(statement.seeds)
        return {variant: tuple(sorted(seeds)) for variant, seeds in seeds_by_variant.items()}

    def refusal(self, config: Mapping[str, object]) -> str:
        """The reason why a run with this manifest decides nothing under these rules; empty if it may.

        config: the settings of the run as its results file has them, with `rules` and `began`.
        """
        if config.get("preset") != self.preset:
            return f"its preset is {config.get('preset')}, not {self.preset}"
        if name := self.begun_under.get(str(config.get("variant"))):
            return _read().trainings[FOLDER / name].refusal(config)
        if reason := super().refusal(config):
            return reason
        steps = self.steps_of.get(str(config.get("variant")), self.steps)
        for name, expected in (("steps", steps), ("learning_rate", self.learning_rate)):
            if config.get(name) != expected:
                return f"its {name.replace('_', ' ')} is {config.get(name)}, not {expected}"
        return ""


def training_rules() -> TrainingRules:
    """The rules of `trainings.toml`."""
    return _read().trainings[TRAININGS]


def decoder_rules() -> TrainingRules:
    """The rules of `decoders.toml`."""
    return _read().trainings[DECODERS]


@dataclass(frozen=True, kw_only=True)
class EncoderContest:
    """A statement about two variants, as `encoders.toml` and the files after it have it.

    kind: `final_loss`, `loss_4x` (the same at four times the training length), `steps_to_leave` (the plateau) or
    `difference_of_differences` (of final losses between `preset` and `against_preset`). expect: the word whose test
    supports the statement. margin: in nats per predicted token. family: the statements over which its p-values are
    corrected. supported, contradicted: the sentence about it in each case, with {size} for the difference in nats
    without its sign and {ratio} for the ratio of steps. spread: `any` where the rules' limit on the spread of paired
    differences does not hold for it; plateau: `any` where a side may have left it late or not at all. asks_again: the
    statement of an earlier file on the same two variants whose place it takes once it is trained.
    """

    id: str
    statement: str
    kind: str
    variant: str
    baseline: str
    expect: str
    preset: str
    family: str
    margin: float
    supported: str
    contradicted: str
    against_preset: str = ""
    spread: str = ""
    plateau: str = ""
    asks_again: str = ""

    @property
    def parent(self) -> str:
        """The claim that it is a part of."""
        return claim_of(self.id)

    @property
    def presets(self) -> tuple[str, ...]:
        """The presets whose runs it compares."""
        return tuple(filter(None, (self.preset, self.against_preset)))


@dataclass(frozen=True, kw_only=True)
class EncoderRecipe:
    """The steps and the peak learning rate that a preset's runs must have; None for a rate that pilots choose."""

    steps: int
    learning_rate: float | None = None


@dataclass(frozen=True, kw_only=True)
class Pilots:
    """Runs that choose a learning rate: which rates, variants and seeds are tried."""

    rates: tuple[float, ...]
    variants: tuple[str, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class PlateauRule:
    """The plateau of a preset: the mean final loss of a variant's runs of these seeds, less `below` nats."""

    variant: str
    seeds: tuple[int, ...]
    below: float


@dataclass(frozen=True, kw_only=True)
class EncoderRules(FrozenRules):
    """Everything that `encoders.toml` or a file after it says. Losses and margins in nats per predicted token.

    begun_under: the file of rules, by its name, under which a variant's runs were begun, where it is another one with
    the same recipe. preset_begun_under: the same of all variants of a preset.
    """

    recipes: Mapping[str, EncoderRecipe]
    pilots: Pilots
    plateau: PlateauRule
    by_half: float
    paired_spread: float
    earlier: float
    seeds: tuple[int, ...]
    statements: tuple[EncoderContest, ...]
    begun_under: Mapping[str, str] = field(default_factory=dict)
    preset_begun_under: Mapping[str, str] = field(default_factory=dict)

    def planned(self, preset: str) -> tuple[str, ...]:
        """The variants of a preset that some statement needs, in the order of the statements."""
        needed = (one for one in self.statements if preset in one.presets)
        return tuple(dict.fromkeys(name for one in needed for name in (one.variant, one.baseline)))

    def begun_elsewhere(self, preset: str, variant: str) -> str:
        """The other file of rules, by its name, under which these runs were begun; empty if it was this one."""
        return self.preset_begun_under.get(preset) or self.begun_under.get(variant, "")

    def refusal(self, config: Mapping[str, object]) -> str:
        """The reason why a run with this manifest decides nothing under these rules; empty if it may.

        The learning rate is not checked here. config: the settings in the run's results file, with `rules` and `began`.
        """
        preset = str(config.get("preset"))
        if preset not in self.recipes:
            return f"its preset is {preset}, not one of {', '.join(self.recipes)}"
        if name := self.begun_elsewhere(preset, str(config.get("variant"))):
            return _read().encoders[FOLDER / name].refusal(config)
        if reason := super().refusal(config):
            return reason
        if config.get("steps") != self.recipes[preset].steps:
            return f"its steps are {config.get('steps')}, not {self.recipes[preset].steps}"
        return ""


def encoder_rules() -> EncoderRules:
    """The rules of `encoders.toml`."""
    return _read().encoders[ENCODERS]


def all_encoder_rules() -> tuple[EncoderRules, ...]:
    """Every file of rules for encoders whose contrasts are judged against a margin, the oldest first."""
    return tuple(_read().encoders.values())


def judged_encoder_presets() -> tuple[str, ...]:
    """The presets of encoders whose contrasts are judged against a margin, those of the oldest file first."""
    return tuple(dict.fromkeys(preset for rules in all_encoder_rules() for preset in rules.recipes))


def rules_of_preset(preset: str) -> EncoderRules | None:
    """The file of rules for encoders under which a preset's runs were begun first; None for a preset of other rules."""
    return next(iter(_begun_here(preset)), None)


def _begun_here(preset: str) -> tuple[EncoderRules, ...]:
    return tuple(one for one in all_encoder_rules() if preset in one.recipes and preset not in one.preset_begun_under)


class RepeatingContest(NamedTuple):
    """A statement that asks an earlier one about the same two variants again, with the new seeds of its file."""

    id: str
    asks_again: str
    variant: str
    baseline: str
    kind: str
    preset: str
    seeds: tuple[int, ...]


def repeating_contests() -> tuple[RepeatingContest, ...]:
    """The statements of all files that name an earlier one whose place they take once they are trained."""
    return tuple(
        RepeatingContest(one.id, one.asks_again, one.variant, one.baseline, one.kind, preset, seeds)
        for one, preset, seeds in (
            *((one, one.preset, rules.seeds) for one, rules in encoder_contests().values()),
            *((one, rules.preset, one.seeds) for rules in version_2_rules() for one in rules.statements),
        )
        if one.asks_again
    )


def encoder_contests() -> Mapping[str, tuple[EncoderContest, EncoderRules]]:
    """Statement of the rules for encoders -> what it compares, and the file that judges it."""
    return {one.id: (one, rules) for rules in all_encoder_rules() for one in rules.statements}


def _encoder_rules_of(file: RuleFile, checks: Sequence[RuleFile]) -> EncoderRules:
    content = file.content
    analysis, pilots, plateau = content["analysis"], content["pilots"], content["plateau"]
    return EncoderRules(
        **file.header,
        recipes={name: EncoderRecipe(**recipe) for name, recipe in content["recipe"].items()},
        pilots=Pilots(**{name: tuple(values) for name, values in pilots.items()}),
        plateau=PlateauRule(variant=plateau["variant"], seeds=tuple(plateau["seeds"]), below=plateau["below"]),
        **{name: analysis[name] for name in ("by_half", "paired_spread", "earlier")},
        seeds=tuple(content["seeds"]["judged"]),
        statements=tuple(
            EncoderContest(**{"margin": analysis["margin"], **retold(statement, checks)})
            for statement in content["statement"]
        ),
        begun_under=content.get("begun_under", {}),
        preset_begun_under=content.get("preset_begun_under", {}),
    )


def manifest_of(preset: str, variant: str, seed: int) -> dict[str, object] | None:
    """The part of a new run's manifest that names the rules it begins under; None if no rules judge its preset."""
    if first := rules_of_preset(preset):
        further = (one for one in _begun_here(preset)[1:] if seed in one.seeds and variant in one.planned(preset))
        return next((one for one in further if variant not in one.begun_under), first).manifest()
    rules = rules_for(variant)
    return rules.manifest() if preset == rules.preset else None


def version_2_rules() -> tuple[TrainingRules, ...]:
    """Every file of rules for trainings that judges as version 2 does."""
    return tuple(_read().trainings.values())


def rules_for(variant: str) -> TrainingRules:
    """Version 2's rules under which a variant's trainings are begun: `trainings.toml` where no other file names it."""
    others = (rules for rules in version_2_rules()[1:] if variant in rules.planned and variant not in rules.begun_under)
    return next(others, training_rules())


def rule_file(path: Path) -> RuleFile:
    """A file of rules, by its path."""
    return next(file for file in rule_files() if file.path == path)


def _training_rules_of(file: RuleFile) -> TrainingRules:
    content = file.content
    recipe, analysis, seeds = content["recipe"], content["analysis"], content["seeds"]
    return TrainingRules(
        **file.header,
        **{name: recipe[name] for name in ("preset", "steps", "learning_rate")},
        **{name: analysis[name] for name in ("margin", "plateau", "by_half", "spread", "earlier")},
        orderless=tuple(analysis["orderless"]),
        statements=tuple(
            Contest(
                **statement | {"seeds": tuple(seeds[statement["seeds"]]), "plateau": statement.get("plateau") != "none"}
            )
            for statement in content["statement"]
        ),
        steps_of=recipe.get("steps_of", {}),
        begun_under=recipe.get("begun_under", {}),
    )


class _Read(NamedTuple):
    """Every file of rules, and the rules for trainings and for encoders among them by their paths."""

    files: tuple[RuleFile, ...]
    trainings: Mapping[Path, TrainingRules]
    encoders: Mapping[Path, EncoderRules]


@cache
def _read() -> _Read:
    sources = {path: path.read_bytes() for path in sorted(FOLDER.glob("*.toml"))}
    files = {
        path: RuleFile(path=path, content=tomllib.loads(source.decode()), sha256=hashlib.sha256(source).hexdigest())
        for path, source in sources.items()
    }
    checks = _fact_checks(tuple(files.values()))
    return _Read(
        files=tuple(files.values()),
        trainings={path: _training_rules_of(files[path]) for path in TRAINING_FILES},
        encoders={path: _encoder_rules_of(files[path], checks) for path in ENCODER_FILES},
    )


@dataclass(frozen=True, kw_only=True)
class ArmStatement:
    """A statement about two arms of one encoder."""

    id: str
    statement: str
    arm: str
    baseline: str
    expect: str

    @property
    def parent(self) -> str:
        """The claim of the documents that it is a part of."""
        return claim_of(self.id)


@dataclass(frozen=True, kw_only=True)
class RefitStatement(ArmStatement):
    """A statement about two arms of a refitted encoder. expect: a word of `margin_test`.

    family: the statements over which its p-values are corrected. supported, contradicted: the sentence about it in each
    case, with {size} for the effect.
    """

    family: str
    supported: str
    contradicted: str

    @property
    def arms(self) -> tuple[str, str]:
        """The two arms that it compares."""
        return self.arm, self.baseline

    def told(self, verdict: str, size: str) -> str:
        """The sentence that was fixed for a verdict, with the effect in it; empty for an open one."""
        return {"supported": self.supported, "contradicted": self.contradicted}.get(verdict, "").format(size=size)


class TunedStatement(ArmStatement):
    """A statement about two arms of fine-tuned surgery; expect: `worse`, `the same` or what contests know else."""


@dataclass(frozen=True, kw_only=True)
class SurgeryRules(FrozenRules):
    """Everything that `surgeries.toml` says. margin: points of the average over the tasks."""

    settings: Mapping[str, Any]
    changes: Mapping[str, Mapping[str, Any]]
    """Settings that are others for a task."""
    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    margin: float
    able: Mapping[str, float]
    statements: tuple[TunedStatement, ...]

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that some statement names, in order."""
        return tuple(dict.fromkeys(name for one in self.statements for name in (one.baseline, one.arm)))

    def task_settings(self, task: str) -> dict[str, Any]:
        """The settings, for `FinetuneSettings`, with which every arm is fine-tuned on a task."""
        return {**self.settings, **self.changes.get(task, {})}


def surgery_rules() -> SurgeryRules:
    """The rules of `surgeries.toml`."""
    file = rule_file(SURGERIES)
    content = file.content
    recipe, analysis = content["recipe"], content["analysis"]
    return SurgeryRules(
        **file.header,
        settings=recipe["settings"],
        changes=recipe.get("changes", {}),
        tasks=tuple(recipe["tasks"]),
        seeds=tuple(recipe["seeds"]),
        margin=analysis["margin"],
        able=analysis["able"],
        statements=tuple(TunedStatement(**statement) for statement in content["statement"]),
    )
