"""Defines an intervention by its change of each place where a model has positions, segments or terms.

Nothing here imports torch: pickers and links ask for titles and strengths. Shapes: T token, W width,
D head dimension (or the turned part of it), B batch, H head.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from analysis.core.errors import InterventionError
from analysis.core.registry import Registry

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from analysis.models.trace_sources import Layer

ROWS, TURNS, LAYER_TURNS, BIAS, SEGMENTS = "rows", "turns", "layer_turns", "bias", "segments"
PLACES = {
    ROWS: "positions that are added to its words",
    TURNS: "positions that rotate its queries and keys",
    LAYER_TURNS: "positions by which every layer is told to rotate its queries and keys",
    BIAS: "positions that are added to its scores",
    SEGMENTS: "segment embeddings",
}
"""The places where an intervention can act, in words."""


@dataclass(frozen=True)
class Intervention:
    """One thing that is done to a model's forward pass. Each method gets what is there and gives what goes on instead.

    A subclass has at most one field, its strength. `spec` is how it stands in links and commands: its name, and its
    strength after a colon.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    places: ClassVar[tuple[str, ...]]
    """The keys of `PLACES` at which the intervention acts; a model that has none of them is refused."""
    instead: ClassVar[str] = "Choose another intervention"
    """The advice to a reader whose model the intervention does not apply to."""

    @classmethod
    def of(cls, strength: str) -> Self:
        """The intervention of the strength in the part of its spec after the colon; an empty one means the default.

        Raises InterventionError for a strength that it does not take.
        """
        (field,) = fields(cls) or (None,)
        if not strength:
            return cls()
        if field is None:
            raise InterventionError(f"{cls.name!r} takes no strength, and {strength!r} was given; leave it out.")
        kind = type(field.default)
        try:
            return cls(**{field.name: kind(strength)})
        except ValueError:
            wanted = {int: "a whole number", float: "a number"}.get(kind, "a name")
            raise InterventionError(
                f"{cls.name}:{strength} was asked for; expected {wanted} after the colon, such as "
                f"{cls.name}:{field.default}."
            ) from None

    @property
    def strength(self) -> str:
        """The part of the spec after the colon; empty for an intervention without a strength."""
        return "".join(format(getattr(self, field.name), "") for field in fields(self))

    @property
    def spec(self) -> str:
        """The intervention's text in links and commands: its name, and its strength after a colon."""
        return f"{self.name}:{self.strength}" if self.strength else self.name

    @property
    def description(self) -> str:
        """The change in a few words."""
        return self.title.lower()

    @property
    def offset(self) -> int:
        """The number of positions by which every token reads further on in the model's own table."""
        return 0

    @property
    def sources(self) -> bool:
        """True if the intervention needs the sources followed through the pass."""
        return False

    @property
    def apart(self) -> int | None:
        """The distance of every query from every key, whatever their positions; None keeps those of the text."""
        return None

    @property
    def base(self) -> float:
        """The factor of the base of rotary wavelengths; `turns` applies it where only the table is known."""
        return 1.0

    def turns_in(
        self, layer: int, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
    ) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
        """The cosines and sines by which one layer turns its queries and keys."""
        return cos, sin

    def rows(self, rows: Float[Tensor, "... T W"]) -> Float[Tensor, "... T W"]:
        """The position rows that are added."""
        return rows

    def turns(
        self, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
    ) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
        """The cosines and sines by which queries and keys are turned."""
        return cos, sin

    def pairs(self, pairs: Float[Tensor, "... T T"]) -> Float[Tensor, "... T T"]:
        """A table over the positions of query and key, changed: the model's bias, or their distances."""
        return pairs

    def bias(self, bias: Float[Tensor, "B H T T"]) -> Float[Tensor, "B H T T"]:
        """The bias that is added to the scores, given the bias for the positions that `pairs` returns."""
        return bias

    def segments(self, rows: Float[Tensor, "... T W"]) -> Float[Tensor, "... T W"]:
        """The segment rows that are added."""
        return rows

    def scores(self, layer: Layer) -> Float[Tensor, "B H T T"]:
        """The scores that a layer goes on with; `layer` is of the pass as the earlier interventions left it."""
        return layer.call.scores


INTERVENTIONS: Registry[type[Intervention]] = Registry("intervention")
Kind = TypeVar("Kind", bound=type[Intervention])


def intervention(kind: Kind) -> Kind:
    """Registers a class under its own name."""
    INTERVENTIONS.add(kind.name, kind)
    return kind


def within(position: int, length: int) -> int:
    """A position that the text has. Raises InterventionError for one beyond it."""
    if not 0 <= position < length:
        raise InterventionError(f"There is no position {position} in a text of {length} tokens: 0 to {length - 1}.")
    return position
