"""The rules of fine-tuning refitted encoders, read: `analysis/rules/refitted_glue.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.rules import FOLDER, FrozenRules, RefitStatement, rule_file

REFITTED_GLUE = FOLDER / "refitted_glue.toml"


@dataclass(frozen=True, kw_only=True)
class TaskStatement(RefitStatement):
    """A statement about one task."""

    task: str


@dataclass(frozen=True, kw_only=True)
class FineTunings:
    """The fine-tunings of one purpose: each arm on each task with each seed."""

    tasks: tuple[str, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class RefittedGlueRules(FrozenRules):
    """Everything that `refitted_glue.toml` says. rates: those that the pilots of each arm try."""

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
    statements: tuple[TaskStatement, ...]


def refitted_glue_rules() -> RefittedGlueRules:
    """The rules of `refitted_glue.toml`."""
    file = rule_file(REFITTED_GLUE)
    content = file.content
    recipe, analysis = content["recipe"], content["analysis"]
    return RefittedGlueRules(
        **file.header,
        settings=recipe["settings"],
        rates=tuple(recipe["rates"]),
        arms=tuple(recipe["arms"]),
        purposes={
            name: FineTunings(tasks=tuple(one["tasks"]), seeds=tuple(one["seeds"]))
            for name, one in content["purpose"].items()
        },
        **{name: analysis[name] for name in ("control", "floor", "metric", "margin", "spread", "sensitive")},
        statements=tuple(TaskStatement(**statement) for statement in content["statement"]),
    )
