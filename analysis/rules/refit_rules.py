"""The rules of refitting, read: `analysis/rules/refits.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.rules import FOLDER, not_begun_under, rule_file

REFITS = FOLDER / "refits.toml"
JUDGED, PILOT = "judged", "pilot"


@dataclass(frozen=True, kw_only=True)
class RefitStatement:
    """A statement about two arms. end: `missed`, `order_error` or `half_tokens`. expect: a word of `margin_test`.

    family: the statements over which its p-values are corrected. supported, contradicted: the sentence about it in each
    case, with {size} for the effect.
    """

    id: str
    statement: str
    end: str
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
class Purpose:
    """One kind of run. evaluations: the shares of its tokens after which held-out texts are looked at."""

    arms: tuple[str, ...]
    seeds: tuple[int, ...]
    tokens: int
    evaluations: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class RefitRules:
    """Everything that `refits.toml` says.

    rates: those that the pilots of each arm try.
    """

    version: int
    frozen: str
    sha256: str
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
    statements: tuple[RefitStatement, ...]

    def manifest(self) -> dict[str, object]:
        """The part of a run's manifest that names the rules it was begun under."""
        return {"version": self.version, "sha256": self.sha256}

    def refusal(self, config: Mapping[str, object]) -> str:
        """The reason why a run with this manifest decides nothing under these rules; empty if it may."""
        return not_begun_under(self.sha256, self.frozen, config)


def refit_rules() -> RefitRules:
    """The rules of `refits.toml`."""
    file = rule_file(REFITS)
    content = file.content
    recipe, analysis = content["recipe"], content["analysis"]
    return RefitRules(
        version=content["version"],
        frozen=content["frozen"],
        sha256=file.sha256,
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
        statements=tuple(RefitStatement(**statement) for statement in content["statement"]),
    )
