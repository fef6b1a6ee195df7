"""What cannot be done, or says little, is said in a sentence that names it and the way out."""

import json
from pathlib import Path

import pytest
import torch
from specimens import TEXT, save_tiny, tiny_config, tiny_tokenizer
from transformers import BertModel, PhiConfig, PhiModel
from transformers.activations import ACT2FN

from analysis.commands.probe import probe
from analysis.core.errors import ModelError, NoFamily
from analysis.figures.one_run import unknown_tokens_note
from analysis.measurements.terms import decompose
from analysis.models import file_checks
from analysis.models.source import MAX_LABELS, resolve
from analysis.streams import gates


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_tiny(tmp_path / "tiny")


def changed(folder: Path, file: str = "config.json", **changes) -> Path:
    path = folder / file
    held = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(held | changes))
    return folder


def refused(model: Path, *said: str) -> None:
    with pytest.raises(ModelError) as caught:
        resolve(str(model))
    for part in said:
        assert part in str(caught.value), str(caught.value)
    assert str(caught.value).endswith(".")


# ---- What is no model's folder ----


def test_a_gguf_file_is_called_a_file(tmp_path):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    refused(file, "is a file, and a model is a folder", "gguf_file", "save_pretrained")


def test_weights_alone_are_called_a_file(folder):
    refused(folder / "model.safetensors", "is a file", "Name the folder that holds it")


def test_a_config_without_model_type_says_what_to_do(folder):
    config = json.loads((folder / "config.json").read_text())
    del config["model_type"]
    (folder / "config.json").write_text(json.dumps(config))
    refused(folder, "names no model_type", "save_pretrained", "subfolders")


# ---- Numbers that are none ----


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_config_with_what_is_no_number(folder, number):
    changed(folder, layer_norm_eps=float(number.replace("Infinity", "inf")))
    assert number in (folder / "config.json").read_text()
    refused(folder, f"holds {number}", "no number that a model can have")


@pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"])
@pytest.mark.parametrize("value", [-1, 0, -3.5])
def test_sizes_that_are_none(folder, key, value):
    refused(changed(folder, **{key: value}), f"says {key}: {value}", "from 1 on")


def test_a_size_inside_a_part_of_a_config(folder):
    refused(changed(folder, text_config={"hidden_size": -8}), "says hidden_size: -8")


def test_very_many_labels_are_refused_before_they_are_kept(folder):
    refused(changed(folder, id2label={str(n): "x" for n in range(MAX_LABELS + 1)}), "labels", "Remove id2label")


def test_very_many_added_tokens_are_refused_before_they_are_kept(folder):
    added = {str(n): {"content": f"t{n}"} for n in range(file_checks.MAX_ADDED_TOKENS + 1)}
    refused(changed(folder, "tokenizer_config.json", added_tokens_decoder=added), "adds 20,001 tokens")


# ---- A model without terms ----


def test_the_command_line_says_what_there_is_in_place_of_terms(folder):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    PhiModel(PhiConfig(vocab_size=len(tiny_tokenizer()), pad_token_id=0, **sizes)).save_pretrained(folder)
    with pytest.raises(NoFamily, match=r"attention patterns.*are still available.*analysis intervene --model"):
        probe(text=TEXT, model=str(folder))


def test_the_command_line_promises_nothing_of_a_folder_that_holds_no_such_model(folder):
    changed(folder, model_type="xlnet")
    with pytest.raises(NoFamily, match=r"attention patterns cannot be shown either: "):
        probe(text=TEXT, model=str(folder))


# ---- Activations ----


ACTIVATIONS = [
    name for name in ("linear", "relu6", "leaky_relu", "prelu", "hardtanh", "relu", "gelu", "silu") if name in ACT2FN
]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_what_is_linear_piece_by_piece_adds_up(name):
    """Against the model's own scores, deeper than the activation; a linear one is exact and credits nothing to bias."""
    torch.manual_seed(1)
    model = BertModel._from_config(tiny_config(hidden_act=name), attn_implementation="eager").eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(0, 0.3)
    made = decompose(model, tiny_tokenizer(), TEXT, layer=1)
    assert made.relative_error < 1e-5


def test_the_piecewise_ones_are_among_those_tried():
    tried = {type(ACT2FN[name]).__name__ for name in ACTIVATIONS}
    assert len(tried & set(gates.PIECEWISE)) >= 3, tried


# ---- Texts that a model cannot read ----


def test_a_text_of_unknown_tokens_is_said_to_be_one():
    torch.manual_seed(1)
    model = BertModel._from_config(tiny_config(), attn_implementation="eager").eval()
    protein = decompose(model, tiny_tokenizer(), "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ", layer=0)
    assert "1 of the 1 tokens of this text are unknown" in unknown_tokens_note(protein)
    known = decompose(model, tiny_tokenizer(), TEXT, layer=0)
    assert unknown_tokens_note(known) == ""
    some = decompose(model, tiny_tokenizer(), "the cat xyzzy sat", layer=0)
    assert some.unknown == 1
    assert unknown_tokens_note(some) == "", "a word that is not known among others is ordinary"
