"""What a reader asks of a model: a text and interventions, or the permutation test. Imports no torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from analysis.measurements.interventions.kinds import INTERVENTIONS
from analysis.measurements.interventions.result import InterventionResult, PermutationTest
from analysis.probes import text_probe

ORDER = (
    "zero_positions",
    "one_position",
    "shuffle_positions",
    "shift_positions",
    "scale_positions",
    "swap_positions",
    "turn_all",
    "scale_base",
    "swap_bands",
    "drop_positions",
    "freeze_distance",
    "zero_segment",
    "drop_terms",
)
"""In which interventions of a link apply."""
STRENGTHS = {
    "one_position": "position",
    "shuffle_positions": "seed",
    "shift_positions": "by",
    "scale_positions": "scale",
    "swap_positions": "encoding",
    "turn_all": "angle",
    "scale_base": "base",
    "swap_bands": "bands",
    "drop_positions": "without",
    "freeze_distance": "apart",
}
"""Which field of a link holds an intervention's strength."""


def specs(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The interventions that a link asks for. Raises UnknownName for one that no file registers."""
    request = [str(name) for name in params["do"]]
    for name in request:
        INTERVENTIONS[name]
    return tuple(_spec(name, params) for name in sorted(set(request), key=[*ORDER, *request].index))


def _spec(name: str, params: Mapping[str, Any]) -> str:
    if name == "drop_terms":
        parts: Sequence[Sequence[str]] = [params[part] for part in ("terms", "layers", "heads")]
        return f"{name}:" + "/".join("+".join(part) for part in parts).rstrip("/")
    return f"{name}:{params[STRENGTHS[name]]}" if name in STRENGTHS else name


@dataclass(frozen=True, kw_only=True)
class Request(text_probe.Request):
    """A text under interventions."""

    interventions: tuple[str, ...] = ()
    head: ClassVar[bool] = True
    terms: ClassVar[bool] = False

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Self:
        """What the parameters of a link ask."""
        request = text_probe.Request.of(params)
        return cls(**vars(request), interventions=specs(params))

    def run(self, loaded: Any = None) -> InterventionResult:
        """Runs the text before and after."""
        from analysis.measurements.interventions.run import intervene

        return intervene(
            loaded or self.load(), self.text, self.pair, self.interventions, self.layer, truncate=self.truncate
        )


@dataclass(frozen=True, kw_only=True)
class PermutationRequest(text_probe.Request):
    """The permutation test of a text."""

    seed: int = 0
    head: ClassVar[bool] = True
    terms: ClassVar[bool] = False

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Self:
        """What the parameters of a link ask. The layer makes no difference, nor do interventions."""
        request = text_probe.Request.of({**params, "layer": 0})
        return cls(**vars(request), seed=int(params["seed"]))

    def run(self, loaded: Any = None) -> PermutationTest:
        """Permutes the text, positions off and on."""
        from analysis.measurements.interventions.run import permutation_test

        return permutation_test(loaded or self.load(), self.text, self.pair, self.seed, truncate=self.truncate)
