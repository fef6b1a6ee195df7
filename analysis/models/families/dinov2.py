"""DINOv2: a ViT with LayerScale, in its larger sizes with a SwiGLU feed-forward (Oquab et al. 2023)."""

from math import isqrt

from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from analysis.core.errors import ImageError
from analysis.models.families import FAMILIES
from analysis.models.families.patches import Grid, ImageInputs, Patches


class Dinov2(Patches):
    """`transformers` Dinov2Model and whatever wraps it. Its class and mask tokens are word.

    Its table of positions is that of 518 pixels (37 by 37 patches) in the published checkpoints; for any other
    size the model interpolates it unasked.
    """

    title = "DINOv2"
    asks_to_interpolate = False
    layer_list = "encoder.layer"

    def trained_grid(self, model: PreTrainedModel) -> tuple[int, int]:
        """A square, for which its own code takes any table."""
        count = len(self.table(model)) - len(self.specials)
        return isqrt(count), isqrt(count)

    def inputs(self, model: PreTrainedModel, pixels: Float[Tensor, "1 3 height width"]) -> tuple[ImageInputs, Grid]:
        """Whatever the size, as long as its code can make a square of its table. Raises ImageError where it cannot."""
        arguments, grid = super().inputs(model, pixels)
        rows, columns = self.trained_grid(model)
        count = len(self.table(model)) - len(self.specials)
        if rows * columns != count and (grid.rows * grid.columns != count or pixels.shape[-2] != pixels.shape[-1]):
            raise ImageError(
                f"This model's {count} positions form no square grid, which transformers' code for DINOv2 expects, so "
                "the model itself fails on this image. Choose another model."
            )
        return arguments, grid

    def gated(self, config: PreTrainedConfig) -> bool:
        """The giant size has SwiGLU."""
        return bool(config.use_swiglu_ffn)


FAMILIES.add("dinov2", Dinov2())
