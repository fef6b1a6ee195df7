"""What a variant is: a name, and what it sets in the encoder's config. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from analysis.core.registry import Registry

Setting = str | int | float | bool
"""What a field of a config is set to."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way of combining word and position.

    settings: fields of AddendConfig that differ from its defaults. position_share: with concat, the share
    of the width that positions take; wider: the share by which the width grows beyond bert_a's.
    needs: the variant whose run of the same seed must be there first; inherits: what of that run's model
    this one starts from, its words or all of it. share_of_steps: how long this one is trained, as a share
    of the recipe's steps. size: how its parameters compare with bert_a's where they cannot be matched, in a
    sentence.
    """

    name: str
    title: str
    combines: str
    summary: str
    key: str | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)
    position_share: float = 0.0
    wider: float = 0.0
    needs: str | None = None
    inherits: Literal["words", "model"] = "words"
    share_of_steps: float = 1.0
    size: str = ""

    def fields(self, *, hidden_size: int, heads: int, matched: bool = False) -> dict[str, Setting]:
        """Everything this variant sets, for a model that is this wide. matched: as `Pretraining` says."""
        fields: dict[str, Setting] = {"variant": self.name, **self.settings}
        if self.wider:
            width = round(hidden_size * (1 + self.wider) / heads) * heads
            fields |= {"hidden_size": width, "intermediate_size": 4 * width, "position_dim": width - hidden_size}
        elif self.position_share:
            # Even, and of a width that heads can share where each head has its block.
            unit = heads if self.settings.get("blocked") else 2
            fields["position_dim"] = max(unit, round(hidden_size * self.position_share / unit) * unit)
        if matched:
            fields.pop("scale_words", None)
            if fields.get("position") in ("sinusoidal", "random_fixed") or fields.get("combine") == "multiply":
                fields["matched_scales"] = True
            if fields.get("combine") == "concat":
                fields["full_head"] = True
        return fields


VARIANTS: Registry[Variant] = Registry("variant")


def register(variant: Variant) -> Variant:
    """Adds a variant under its own name."""
    return VARIANTS.add(variant.name, variant)
