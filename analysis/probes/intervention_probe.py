"""Interventions on a text or an image, and the permutation test, as a reader asks for them. Imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar, Self

from analysis.links import Values
from analysis.measurements.interventions.kinds import INTERVENTIONS
from analysis.measurements.interventions.kinds.intervention import SEGMENTS
from analysis.measurements.interventions.result import ImageInterventionResult, InterventionResult, PermutationTest
from analysis.probes.image_probe import PictureRequest, image_command
from analysis.probes.text_probe import TextRequest, text_command

if TYPE_CHECKING:
    from analysis.models.load import Loaded

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
"""The order in which the interventions of a link apply."""
ZERO = "zero_positions"
MOVERS = tuple(
    name for name in ORDER if name != ZERO and (places := INTERVENTIONS[name].places) and SEGMENTS not in places
)
"""The changes of positions, which have no effect where positions are zero."""
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
"""The field of a link that holds an intervention's strength, by the intervention's name."""


def specs(values: Values) -> tuple[str, ...]:
    """The interventions that a link asks for. Raises UnknownName for one that no file registers."""
    names = [str(name) for name in values["do"]]
    for name in names:
        INTERVENTIONS[name]
    return tuple(_spec(name, values) for name in sorted(set(names), key=[*ORDER, *names].index))


def _spec(name: str, values: Values) -> str:
    if name == "drop_terms":
        parts: Sequence[Sequence[str]] = [values[part] for part in ("terms", "layers", "heads")]
        return f"{name}:" + "/".join("+".join(part) for part in parts).rstrip("/")
    return f"{name}:{values[STRENGTHS[name]]}" if name in STRENGTHS else name


@dataclass(frozen=True, kw_only=True)
class InterventionRequest(TextRequest[InterventionResult]):
    """A text under interventions; layer: whose patterns are kept."""

    interventions: tuple[str, ...] = ()
    layer: int = 0
    head: ClassVar[bool] = True
    terms: ClassVar[bool] = False

    @classmethod
    def of(cls, values: Values, **arguments: Any) -> Self:
        """The request that the values of a link make. Raises UnknownName for an intervention that no file registers."""
        return super().of(values, interventions=specs(values), **arguments)

    def run(self, loaded: Loaded | None = None) -> InterventionResult:
        """Runs the text before and after. Raises InterventionError, ModelError and TextError."""
        from analysis.measurements.interventions.run import intervene

        loaded = loaded or self.load()
        return intervene(loaded, self.text, self.pair, self.interventions, self.layer, truncate=self.truncate)


@dataclass(frozen=True, kw_only=True)
class ImageInterventionRequest(PictureRequest[ImageInterventionResult]):
    """An image under interventions."""

    interventions: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Values, uploaded: tuple[str, bytes] | None = None, **arguments: Any) -> Self:
        """The request of a link's values, on an uploaded file if one is given; see `InterventionRequest.of`."""
        return super().of(values, uploaded, interventions=specs(values), **arguments)

    def run(self, loaded: Loaded | None = None) -> ImageInterventionResult:
        """Runs the image before and after. Raises InterventionError, ModelError and ImageError."""
        picture = self.picture()
        from analysis.measurements.interventions.images import intervene_image

        loaded = loaded or self.load()
        return intervene_image(loaded, picture, self.interventions, self.layer, masked=self.masked, title=self.title)


@dataclass(frozen=True, kw_only=True)
class PermutationRequest(TextRequest[PermutationTest]):
    """The permutation test of a text, with positions off and on; no layer and no interventions make a difference."""

    seed: int = 0
    head: ClassVar[bool] = True
    terms: ClassVar[bool] = False

    def run(self, loaded: Loaded | None = None) -> PermutationTest:
        """Permutes the text. Raises ModelError and TextError."""
        from analysis.measurements.interventions.run import permutation_test

        return permutation_test(loaded or self.load(), self.text, self.pair, self.seed, truncate=self.truncate)


def command(outcome: InterventionResult | ImageInterventionResult) -> str:
    """The command that intervenes again. With nothing to do it would do something, so it is told to drop no term."""
    do = [f"--do {quote(spec)}" for spec in outcome.interventions or ("drop_terms",)]
    if isinstance(outcome, ImageInterventionResult):
        return image_command("intervene", outcome.provenance, *do, masked=outcome.masked)
    return text_command("intervene", outcome.provenance, *do)


def permutation_command(outcome: PermutationTest, seed: int) -> str:
    """The command that makes a permutation test again."""
    return text_command("intervene", outcome.provenance, f"--permute {seed}")
