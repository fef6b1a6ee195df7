"""ViT-MAE's encoder: fixed 2-D sine-cosine positions, added before patches are hidden (He et al. 2022)."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from analysis.models.families import FAMILIES
from analysis.models.families.patches import Grid, ImageInputs, Patches

SEED = 0


class ViTMAE(Patches):
    """`transformers` ViTMAEModel. Its class token is word, and its position is a row of zeros.

    The share of patches to hide is the config's `mask_ratio`. Which ones are hidden is drawn with a fixed seed, and
    those that stay keep the order of the image. `showing` says how many are hidden while an image is read.
    """

    title = "ViT-MAE"
    contents = ("cls_token",)
    hides = True

    def inputs(self, model: PreTrainedModel, pixels: Float[Tensor, "1 3 height width"]) -> tuple[ImageInputs, Grid]:
        """With the noise by whose order the model keeps patches."""
        arguments, grid = super().inputs(model, pixels)
        patches = grid.rows * grid.columns
        count = int(patches * (1 - model.config.mask_ratio))
        visible = np.sort(np.random.default_rng(SEED).permutation(patches)[:count])
        noise = torch.ones(1, patches)
        noise[0, torch.from_numpy(visible)] = torch.arange(count) / patches
        arguments["noise"] = noise
        return arguments, Grid(grid.rows, grid.columns, visible)

    @contextmanager
    def showing(self, model: PreTrainedModel, *, masked: bool) -> Iterator[None]:
        """Within, the model hides as many patches as it did in training, or none."""
        before = model.config.mask_ratio
        model.config.mask_ratio = before if masked else 0.0
        try:
            yield
        finally:
            model.config.mask_ratio = before


FAMILIES.add("vit_mae", ViTMAE())
