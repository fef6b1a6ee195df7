"""What an intervention is: what it does to each of the places where a model's positions, segments or terms are.

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
"""Where an intervention can act, in words."""


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
    """Where it acts, of `PLACES`; a model that has none of them is refused."""
    instead: ClassVar[str] = "Choose another intervention"
    """What there is for a model that it does not apply to."""

    @classmethod
    def of(cls, strength: str) -> Self:
        """From what stands after the colon of its spec; nothing there means the default.

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
        """What stands after the colon of its spec; empty where there is nothing to say."""
        return "".join(format(getattr(self, field.name), "") for field in fields(self))

    @property
    def spec(self) -> str:
        """How it stands in links and commands."""
        return f"{self.name}:{self.strength}" if self.strength else self.name

    @property
    def description(self) -> str:
        """What is done, in a few words."""
        return self.title.lower()

    @property
    def offset(self) -> int:
        """How many positions further on every token reads the model's own table."""
        return 0

    @property
    def sources(self) -> bool:
        """Whether it needs the sources followed through the pass."""
        return False

    @property
    def apart(self) -> int | None:
        """How far every query stands from every key, whatever their positions; None where positions say it."""
        return None

    @property
    def base(self) -> float:
        """By what the base of rotary wavelengths is multiplied; `turns` does it where the table alone is known."""
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
        """What the model has for the positions of query and key: a bias, or how far apart they are."""
        return pairs

    def bias(self, bias: Float[Tensor, "B H T T"]) -> Float[Tensor, "B H T T"]:
        """What is added to the scores, for the positions that `pairs` gives."""
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
