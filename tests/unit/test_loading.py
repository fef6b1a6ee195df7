"""A checkpoint is read whole or refused by the names of its tensors, whatever its family; errors become sentences."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from family_specimens import SPECIMENS, randomised
from safetensors.torch import load_file, save_file
from specimens import tiny_tokenizer
from tiny_tokenizers import byte_level

from analysis.core.errors import ModelError, NoFamily
from analysis.models.checkpoint_weights import left_over
from analysis.models.families import FAMILIES
from analysis.models.foreign_errors import as_model_errors
from analysis.models.load import load
from analysis.models.source import resolve
from analysis.probes.intervention_probe import InterventionRequest
from analysis.probes.text_probe import PatternsRequest, TermsRequest
from analysis.probes.without_terms import remaining

TEXT = "the cat sat on the mat"
TEXTS = [name for name, specimen in SPECIMENS.items() if specimen.inputs is None and name in FAMILIES]
"""One specimen of each family that reads text."""


def saved(model: Any, folder: Path, tokenizer: Any = None) -> Path:
    model.save_pretrained(folder)
    (tokenizer or tiny_tokenizer()).save_pretrained(folder)
    return folder


def with_tensors(folder: Path, change: Any) -> Path:
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, metadata={"format": "pt"})
    return folder


def opened(folder: Path, head: bool = False) -> Any:
    return load(resolve(str(folder), terms=False), device="cpu", head=head)


@pytest.fixture(params=TEXTS)
def family_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return saved(SPECIMENS[request.param].build(), tmp_path)


def weight_inside(tensors: dict[str, torch.Tensor]) -> str:
    """The name of a matrix inside a layer."""
    return next(key for key in sorted(tensors) if ".0." in key and key.endswith("weight") and tensors[key].ndim == 2)


def first_number(key: str) -> str:
    """The number of the layer that a tensor belongs to; empty of one outside all layers."""
    return next((part for part in key.split(".") if part.isdigit()), "")


@pytest.mark.parametrize("suffix", ["weight_scale", "weight_scale_inv", "scales", "lora_A.weight", "SCB", "zero_point"])
def test_what_belongs_to_a_weight_is_never_left_over_in_silence(family_folder: Path, suffix: str) -> None:
    added = ""

    def change(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        nonlocal added
        added = weight_inside(tensors).removesuffix("weight") + suffix
        return tensors | {added: torch.ones(4)}

    with_tensors(family_folder, change)
    with pytest.raises(ModelError, match="has no place for") as caught:
        opened(family_folder)
    assert added.split(".", 1)[1] in str(caught.value)


def test_a_layer_too_many_is_named(family_folder: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        more = {key.replace(".0.", ".97.", 1): x.clone() for key, x in tensors.items() if first_number(key) == "0"}
        return tensors | more

    with_tensors(family_folder, change)
    with pytest.raises(ModelError, match=r"\.97\."):
        opened(family_folder)


def test_a_table_of_another_length_is_named_with_both_sizes(family_folder: Path) -> None:
    name, rows = "", 0

    def change(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        nonlocal name, rows
        matrices = [key for key in tensors if tensors[key].ndim == 2]
        name = max(matrices, key=lambda key: ("embed" in key, tensors[key].shape[0]))
        rows = tensors[name].shape[0]
        return tensors | {name: tensors[name][:-3].clone()}

    with_tensors(family_folder, change)
    with pytest.raises(ModelError) as caught:
        opened(family_folder)
    message = str(caught.value)
    assert f"as {rows - 3} by" in message
    assert f"it is {rows} by" in message
    assert name.rsplit(".", 2)[-2] in message
    assert "report" not in message


HEADS = {
    "bert": ("ForPreTraining", "ForMaskedLM", "ForSequenceClassification", "ForQuestionAnswering"),
    "gpt2": ("LMHeadModel", "DoubleHeadsModel", "ForTokenClassification"),
    "llama": ("ForCausalLM", "ForSequenceClassification"),
    "distilbert": ("ForMaskedLM", "ForQuestionAnswering"),
    "electra": ("ForPreTraining", "ForMaskedLM"),
    "roberta": ("ForMaskedLM", "ForSequenceClassification"),
}


@pytest.mark.parametrize(("name", "task"), [(name, task) for name, tasks in HEADS.items() for task in tasks])
def test_heads_of_every_task_are_left_over_without_harm(name: str, task: str, tmp_path: Path) -> None:
    base = SPECIMENS[name].build()
    kind = getattr(transformers, type(base).__name__.removesuffix("Model") + task)
    headed = randomised(kind(base.config))
    folder = saved(headed, tmp_path)
    assert opened(folder).model.config.model_type == name
    assert opened(folder, head=True).model.config.model_type == name


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_buffers_of_older_versions_are_left_over_without_harm(name: str) -> None:
    model = SPECIMENS[name].build()
    buffers = ["embeddings.position_ids", "layers.0.self_attn.rotary_emb.inv_freq", "h.0.attn.masked_bias"]
    assert left_over(model, buffers) == []
    assert left_over(model, ["layers.0.self_attn.q_proj.bias"]) == ["layers.0.self_attn.q_proj.bias"]
    assert left_over(model, ["lm_head.weight_scale"]) == ["lm_head.weight_scale"]


ENCODERS = {
    "T5": {"d_model": 32, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_heads": 4},
    "MT5": {"d_model": 32, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_heads": 4},
    "UMT5": {"d_model": 32, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_heads": 4},
}


@pytest.mark.parametrize("kind", ENCODERS)
def test_an_encoder_alone_is_read_as_one(kind: str, tmp_path: Path) -> None:
    config = getattr(transformers, f"{kind}Config")(vocab_size=25, **ENCODERS[kind])
    saved(randomised(getattr(transformers, f"{kind}EncoderModel")(config)), tmp_path)
    made = TermsRequest(model=str(tmp_path), text=TEXT, layer=1).run()
    assert made.relative_error < 1e-5


def test_an_encoder_of_an_architecture_that_is_read_whole_is_said_to_be_one(tmp_path: Path) -> None:
    config = transformers.BartConfig(
        vocab_size=25, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=40,
    )  # fmt: skip
    whole = randomised(transformers.BartModel(config))
    saved(whole, tmp_path)
    encoder = {key: x.clone() for key, x in whole.state_dict().items() if not key.startswith("decoder")}
    with_tensors(tmp_path, lambda _: encoder)
    with pytest.raises(ModelError, match="encoder of an encoder-decoder model") as caught:
        opened(tmp_path)
    assert "lacks" not in str(caught.value)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"architectures": ["BartEncoder"]}))
    with pytest.raises(ModelError, match="encoder of an encoder-decoder model"):
        opened(tmp_path)


# What a model's own code raises ------------------------------------------------------------------------------


def test_an_error_of_a_models_code_is_a_sentence_with_its_class_and_place() -> None:
    model = transformers.CanineModel(
        transformers.CanineConfig(
            hidden_size=32, num_attention_heads=4, num_hidden_layers=1, intermediate_size=16, num_hash_buckets=16
        )
    )
    with pytest.raises(ModelError, match=r"NotImplementedError in \w+\.py, line \d+, \w+"), as_model_errors("canine"):
        model.get_input_embeddings()


def test_an_error_of_ours_stays_one() -> None:
    with pytest.raises(NameError), as_model_errors("a model"):
        raise NameError("ours")


# What is promised --------------------------------------------------------------------------------------------

PROMISED = {
    "GPTJ": {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 60},
    "Phi": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 16},
    "XLNet": {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 16},
    "Falcon": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4},
    "Mpt": {"d_model": 32, "n_heads": 4, "n_layers": 2},
    "Gemma": {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
        "intermediate_size": 16,
    },
    "Longformer": {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 16,
        "attention_window": 8, "max_position_embeddings": 60,
    },
}  # fmt: skip


def outcome(request: Any) -> str:
    try:
        request.run()
    except ModelError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("kind", PROMISED)
def test_what_is_promised_of_a_model_without_terms_is_what_there_is(kind: str, tmp_path: Path) -> None:
    tokenizer = byte_level()
    config = getattr(transformers, f"{kind}Config")(vocab_size=len(tokenizer), pad_token_id=0, **PROMISED[kind])
    saved(randomised(getattr(transformers, f"{kind}Model")(config)), tmp_path, tokenizer)
    request = TermsRequest(model=str(tmp_path), text=TEXT)
    with pytest.raises(NoFamily):
        request.run()
    sentence = remaining(request)
    patterns = outcome(PatternsRequest(model=str(tmp_path), text=TEXT))
    effects = outcome(InterventionRequest(model=str(tmp_path), text=TEXT, interventions=("zero_positions",)))
    assert ("attention patterns" in sentence and "still available" in sentence) == (not patterns)
    assert ("effects of interventions" in sentence) == (not patterns and not effects)
    if patterns:
        assert patterns in sentence
