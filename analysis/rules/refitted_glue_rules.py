"""The rules of fine-tuning refitted encoders, read: `analysis/rules/refitted_glue.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.rules import FOLDER, not_begun_under, rule_file

REFITTED_GLUE = FOLDER / "refitted_glue.toml"


@dataclass(frozen=True, kw_only=True)
class RefittedGlueStatement:
    """A statement about two refitted arms on one task. expect: a word of `margin_test`.

    family: the statements over which its p-values are corrected. supported, contradicted: the sentence about it in each
    case, with {size} for the effect.
    """

    id: str
    statement: str
    task: str
    arm: str
    baseline: str
    expect: str
    family: str
    supported: str
    contradicted: str

    @property
    def parent(self) -> str:
        """The claim that it is a part of."""
        return self.id[:3]


@dataclass(frozen=True, kw_only=True)
class FineTunings:
    """The fine-tunings of one purpose: each arm on each task with each seed."""

    tasks: tuple[str, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class RefittedGlueRules:
    """Everything that `refitted_glue.toml` says. rates: those that the pilots of each arm try."""

    version: int
    frozen: str
    sha256: str
    settings: Mapping[str, Any]
    rates: tuple[float, ...]
    arms: tuple[str, ...]
    purposes: Mapping[str, FineTunings]
    control: str
    floor: str
    metric: Mapping[str, str]
    margin: Mapping[str, float]
    spread: float
    sensitive: float
    statements: tuple[RefittedGlueStatement, ...]

    def manifest(self) -> dict[str, object]:
        """The part of a run's manifest that names the rules it was begun under."""
        return {"version": self.version, "sha256": self.sha256}

    def refusal(self, config: Mapping[str, object]) -> str:
        """The reason why a run with this manifest decides nothing under these rules; empty if it may."""
        return not_begun_under(self.sha256, self.frozen, config)


def refitted_glue_rules() -> RefittedGlueRules:
    """The rules of `refitted_glue.toml`."""
    file = rule_file(REFITTED_GLUE)
    content = file.content
    recipe, analysis = content["recipe"], content["analysis"]
    return RefittedGlueRules(
        version=content["version"],
        frozen=content["frozen"],
        sha256=file.sha256,
        settings=recipe["settings"],
        rates=tuple(recipe["rates"]),
        arms=tuple(recipe["arms"]),
        purposes={
            name: FineTunings(tasks=tuple(one["tasks"]), seeds=tuple(one["seeds"]))
            for name, one in content["purpose"].items()
        },
        **{name: analysis[name] for name in ("control", "floor", "metric", "margin", "spread", "sensitive")},
        statements=tuple(RefittedGlueStatement(**statement) for statement in content["statement"]),
    )
