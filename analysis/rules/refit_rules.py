"""The rules of refitting, read: `analysis/rules/refits.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.rules import FOLDER, FrozenRules, RefitStatement, fact_checks, retold, rule_file

REFITS = FOLDER / "refits.toml"
JUDGED, PILOT, DOSE = "judged", "pilot", "dose"


@dataclass(frozen=True, kw_only=True)
class EndStatement(RefitStatement):
    """A statement about an end point: `missed`, `order_error` or `half_tokens`."""

    end: str


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """One kind of run. evaluations: the shares of its tokens after which held-out texts are looked at."""

    arms: tuple[str, ...]
    seeds: tuple[int, ...]
    tokens: int
    evaluations: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class RefitRules(FrozenRules):
    """Everything that `refits.toml` says.

    rates: those that the pilots of each arm try.
    """

    settings: Mapping[str, Any]
    purposes: Mapping[str, Purpose]
    rates: tuple[float, ...]
    held_out_tokens: int
    sentences: int
    control: str
    floor: str
    margins: Mapping[str, float]
    sensitive: float
    levelled: float
    statements: tuple[EndStatement, ...]


def refit_rules() -> RefitRules:
    """The rules of `refits.toml`."""
    file = rule_file(REFITS)
    content = file.content
    recipe, analysis = content["recipe"], content["analysis"]
    return RefitRules(
        **file.header,
        settings=recipe["settings"],
        purposes={
            name: Purpose(tokens=one["tokens"], **{key: tuple(one[key]) for key in ("arms", "seeds", "evaluations")})
            for name, one in content["purpose"].items()
        },
        rates=tuple(recipe["rates"]),
        held_out_tokens=recipe["held_out_tokens"],
        sentences=recipe["sentences"],
        margins=analysis["margin"],
        **{name: analysis[name] for name in ("control", "floor", "sensitive", "levelled")},
        statements=tuple(EndStatement(**retold(statement, fact_checks())) for statement in content["statement"]),
    )
