"""The name of the tiny ViT with random weights; importing this needs no torch."""

NAME = "tiny-random-vit"
TITLE = "tiny ViT with random weights (it has learned nothing)"
SEED = 0
