"""Models that tests take apart: the embedded one, read anew, and tiny BERTs with random weights made here."""

from functools import cache
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertModel, BertTokenizer

from analysis.core import default_model
from analysis.models import load, source

WORDS = ["the", "a", "cat", "dog", "mat", "sat", "ran", "on", "un", "##happi", "##ness", "##ly", ".", ",", "!"]
WORDS += ["and", "not", "never", "saw", "hill"]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXT = "the cat sat on the mat , unhappiness and a dog ran ."
PAIR = ("the dog saw a cat .", "a cat never ran on the hill !")
LONG = " ".join(WORDS[:8] * 80)
"""More words than any model here has positions."""


@cache
def embedded_loaded() -> load.Loaded:
    """The embedded model as the product loads it, on the CPU."""
    return load.load(source.resolve(), device="cpu")


@cache
def embedded_eager(dtype: torch.dtype = torch.float32) -> BertModel:
    """The embedded model as transformers alone loads it: the reference that owes nothing to our code."""
    model: Any = BertModel.from_pretrained(default_model.folder(), attn_implementation="eager", dtype=torch.float32)
    return model.eval().to(dtype)


def tiny_tokenizer() -> BertTokenizer:
    """A WordPiece tokenizer of 25 pieces."""
    return BertTokenizer(vocab={piece: number for number, piece in enumerate([*SPECIALS, *WORDS])})


def tiny_config(**changes: Any) -> BertConfig:
    """Two layers, 32 dimensions, 4 heads, 40 positions."""
    sizes: dict[str, Any] = {
        "vocab_size": len(SPECIALS) + len(WORDS),
        "hidden_size": 32,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 40,
        "initializer_range": 0.4,
    }
    return BertConfig(**(sizes | changes))


def tiny_bert(kind: Any = BertModel, norm_scale: float = 1.0, seed: int = 0, **changes: Any) -> Any:
    """A BERT with random weights, random biases, and a LayerNorm whose gain has that scale and either sign."""
    torch.manual_seed(seed)
    model = kind(tiny_config(**changes)).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("LayerNorm.weight"):
                weight.normal_(0, norm_scale)
            elif name.endswith("bias"):
                weight.normal_(0, 0.5)
    return model


def save_tiny(folder: Path, **changes: Any) -> Path:
    """A folder as save_pretrained writes it: config, tokenizer and safetensors of a tiny BERT."""
    tiny_bert(**changes).save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder
