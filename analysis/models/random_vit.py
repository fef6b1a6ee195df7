"""A tiny ViT with random weights, for trying the page where no model is at hand. It has learned nothing.

Importing this needs no torch.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.models.load import Loaded
    from analysis.models.source import Source

NAME = "tiny-random-vit"
TITLE = "tiny ViT with random weights (it has learned nothing)"
SEED = 0
SHAPE: dict[str, Any] = {
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "intermediate_size": 128,
    "image_size": 96,
    "patch_size": 12,
}
GAIN = 1.5
"""Of a layer's outputs over its inputs: attention is then far from uniform."""


def source() -> "Source":
    """The source of the model, which lies in no folder."""
    from transformers import ViTConfig

    from analysis.models.source import Source

    config = ViTConfig(**SHAPE)
    return Source(NAME, f"seed {SEED}", Path(), {**config.to_dict(), "model_type": config.model_type})


def random_vit() -> "Loaded":
    """The model, the same on every machine."""
    import torch
    from transformers import ViTConfig, ViTModel
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    from analysis.models.load import Loaded, best_device
    from analysis.models.submodules import move_model

    model = ViTModel(ViTConfig(**SHAPE), add_pooling_layer=False)
    rng = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "weight" in name and weight.ndim > 1:
                weight.normal_(0, GAIN / weight[0].numel() ** 0.5, generator=rng)
            elif weight.ndim > 1:  # The class token and the positions.
                weight.normal_(0, 1, generator=rng)
            elif name.endswith("bias"):
                weight.normal_(0, 0.02, generator=rng)
    processor = ViTImageProcessorPil(size={"height": SHAPE["image_size"], "width": SHAPE["image_size"]})
    device = best_device()
    return Loaded(move_model(model.eval(), device), processor, source(), device)
