"""DINOv2: a ViT with LayerScale, in its larger sizes with a SwiGLU feed-forward (Oquab et al. 2023)."""

from collections.abc import Sequence
from typing import Any

from analysis.models.families import FAMILIES
from analysis.models.families.patches import Patches


class Dinov2(Patches):
    """`transformers` Dinov2Model and whatever wraps it. Its class and mask tokens are word.

    Its table of positions is that of 518 pixels (37 by 37 patches) in the published checkpoints; for any other
    size the model interpolates it unasked.
    """

    title = "DINOv2"
    asks_to_interpolate = False

    def layers(self, model: Any) -> Sequence[Any]:
        """Dinov2Layer."""
        return list(model.base_model.encoder.layer)

    def gated(self, config: Any) -> bool:
        """The giant size has SwiGLU."""
        return bool(config.use_swiglu_ffn)


FAMILIES.add("dinov2", Dinov2())
