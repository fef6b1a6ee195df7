"""A checkpoint is read whole or refused by the names of its tensors, whatever its family; errors become sentences."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import rotary_architectures
import tokenizers
import torch
import transformers
from family_specimens import SPECIMENS, randomised
from safetensors.torch import load_file, save_file
from specimens import tiny_tokenizer
from tiny_tokenizers import byte_level
from transformers.utils.generic import ModelOutput

from analysis.core.errors import ModelError, NoFamily, NoResults
from analysis.measurements.means.states import hidden_states
from analysis.measurements.terms.run import encode
from analysis.models.capture import no_cache
from analysis.models.checkpoint_weights import left_over
from analysis.models.families import FAMILIES
from analysis.models.foreign_errors import as_model_errors
from analysis.models.load import is_causal, load
from analysis.models.source import resolve
from analysis.models.submodules import last_states, run_model
from analysis.probes.intervention_probe import InterventionRequest
from analysis.probes.position_probe import PositionRequest
from analysis.probes.text_probe import PatternsRequest, TermsRequest
from analysis.probes.without_terms import remaining

ROOT = Path(__file__).parents[2]
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


@pytest.fixture(scope="module", params=TEXTS)
def saved_family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(SPECIMENS[request.param].build(), tmp_path_factory.mktemp("family"))


@pytest.fixture
def family_folder(saved_family: Path, tmp_path: Path) -> Path:
    """A copy of a model of each family, which a test may change."""
    return shutil.copytree(saved_family, tmp_path, dirs_exist_ok=True)


def weight_inside(tensors: dict[str, torch.Tensor]) -> str:
    """The name of a matrix inside a layer."""
    return next(key for key in sorted(tensors) if ".0." in key and key.endswith("weight") and tensors[key].ndim == 2)


def first_number(key: str) -> str:
    """The number of the layer that a tensor belongs to; empty of one outside all layers."""
    return next((part for part in key.split(".") if part.isdigit()), "")


SCALES = [("weight_scale", "weight_scale_inv", "scales"), ("lora_A.weight", "SCB", "zero_point")]
"""Ends of names of what belongs to a weight, three at a time: as many tensors as a refusal names."""


@pytest.mark.parametrize("suffixes", SCALES, ids=["scales", "others"])
def test_what_belongs_to_a_weight_is_never_left_over_in_silence(family_folder: Path, suffixes: tuple[str, ...]) -> None:
    added: list[str] = []

    def change(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        added.extend(weight_inside(tensors).removesuffix("weight") + suffix for suffix in suffixes)
        return tensors | {name: torch.ones(4) for name in added}

    with_tensors(family_folder, change)
    with pytest.raises(ModelError, match=r"holds 3 tensors .* has no place for") as caught:
        opened(family_folder)
    named = re.search(r"holds 3 tensors \((.*?)\)", str(caught.value))
    assert named
    assert [name.split(".", 1)[1] for name in sorted(added)] == [name.split(".", 1)[1] for name in named[1].split(", ")]


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


@pytest.mark.parametrize("family", ["bert", "roberta", "modernbert", "gpt2"])
def test_a_pass_that_a_models_code_ends_is_a_sentence_wherever_it_is_made(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = SPECIMENS[family].build()
    ids = torch.arange(5, 12)[None]
    broken = {"input_ids": ids + 100_000}
    with pytest.raises(ModelError, match=r"own code in transformers failed on this input \(\w+ in \w+\.py, line \d+"):
        run_model(model, broken)

    def fail(**_: object) -> Any:
        return transformers.CanineModel.get_input_embeddings(model)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(type(model), "__call__", lambda _self, **given: fail(**given))
    for made in (
        lambda: hidden_states(model, FAMILIES[model.config.model_type], ids),
        lambda: is_causal(model),
        lambda: run_model(model, {"input_ids": ids}),
    ):
        with pytest.raises(ModelError, match="NotImplementedError in"):
            made()


def test_no_pass_of_a_model_is_made_where_its_errors_are_not_sentences() -> None:
    """Every direct call of a model in the code that runs models of others is by `run_model` or under its guard."""
    direct = re.compile(r"\b(?:loaded\.)?model(?:\.base_model)?\((?:\*\*|input_ids)|\.get_input_embeddings\(")
    own = {"submodules.py", "capture.py"}
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for package in ("analysis", "dashboard")
        for path in sorted((ROOT / package).rglob("*.py"))
        if path.name not in own and "ablation" not in path.parts
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if direct.search(line)
    ]
    assert not found


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_infinities_as_transformers_writes_them_are_read(value: float, tmp_path: Path) -> None:
    tokenizer = byte_level()
    config = transformers.Mamba2Config(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_heads=4, head_dim=16, state_size=8,
        n_groups=1, time_step_limit=(0.0 if value > 0 else value, abs(value)),
    )  # fmt: skip
    saved(transformers.Mamba2Model(config), tmp_path, tokenizer)
    assert "__float__" in (tmp_path / "config.json").read_text()
    assert tuple(opened(tmp_path).model.config.time_step_limit) == tuple(config.time_step_limit)


def test_a_whole_checkpoint_is_refused_for_tensors_of_the_part_that_is_read(tmp_path: Path) -> None:
    sizes = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 1, "intermediate_size": 16}
    config = transformers.CLIPConfig(
        vision_config={**sizes, "image_size": 12, "patch_size": 4}, text_config={**sizes, "vocab_size": 25}
    )
    transformers.CLIPModel(config).save_pretrained(tmp_path)
    transformers.ViTImageProcessor(size={"height": 12, "width": 12}).save_pretrained(tmp_path)
    assert type(opened(tmp_path).model).__name__ == "CLIPVisionModel"
    for name in ("vision_model.encoder.layers.0.self_attn.q_proj.weight_scale", "vision_model.encoder.layers.7.bias",
                 "audio_model.bias"):  # fmt: skip
        with_tensors(tmp_path, lambda tensors, added=name: tensors | {added: torch.ones(2)})
        with pytest.raises(ModelError, match="has no place for"):
            opened(tmp_path)
        with_tensors(tmp_path, lambda tensors, added=name: {key: x for key, x in tensors.items() if key != added})


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


HYBRIDS = {
    "minimax": "linear_attention", "qwen3_next": "linear_attention", "lfm2": "conv", "olmo_hybrid": "linear_attention",
}  # fmt: skip
"""The type, in configs, of layers without attention."""


@pytest.mark.parametrize("name", HYBRIDS)
def test_of_a_model_with_attention_in_some_layers_the_map_is_promised_where_there_is_one(
    name: str, tmp_path: Path
) -> None:
    tokenizer = byte_level()
    config_class: Any = transformers.CONFIG_MAPPING[name]
    layers = [HYBRIDS[name], "full_attention"]
    model = rotary_architectures.built(config_class, layer_types=layers, num_hidden_layers=2, vocab_size=len(tokenizer))
    saved(model, tmp_path, tokenizer)
    request = TermsRequest(model=str(tmp_path), text=TEXT)
    sentence, refused = remaining(request), outcome(PatternsRequest(model=str(tmp_path), text=TEXT))
    assert "has attention in 1 of its 2 layers" in refused
    assert refused in sentence
    mapped = outcome(PositionRequest(model=str(tmp_path), text=TEXT))
    assert ("analysis positions" in sentence) == (not mapped)
    assert not mapped


def test_a_text_that_a_tokenizer_fails_on_is_a_sentence() -> None:
    model = SPECIMENS["gpt2"].build()
    broken = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(tokenizers.models.WordLevel({"the": 0}, unk_token="<unk>"))
    )
    with pytest.raises(ModelError, match=r"tokenizer of this model fails on this text \(Exception in"):
        encode(broken, "another", None, model, truncate=False)


@pytest.mark.parametrize("nested", [True, False])
def test_no_part_of_a_model_keeps_keys_and_values_while_it_is_read(nested: bool) -> None:
    composite: Any = transformers.LlavaConfig
    config = composite(
        text_config={"model_type": "llama", "vocab_size": 30, "hidden_size": 32, "num_hidden_layers": 1,
                     "num_attention_heads": 4, "intermediate_size": 16},
        vision_config={"model_type": "clip_vision_model", "hidden_size": 32, "num_hidden_layers": 1,
                       "num_attention_heads": 4, "intermediate_size": 16, "image_size": 12, "patch_size": 4},
        image_token_id=29,
    )  # fmt: skip
    model = transformers.LlavaModel(config).eval()
    if not nested:
        model = model.language_model
    with no_cache(model), torch.inference_mode():
        assert model(input_ids=torch.arange(3, 9)[None]).past_key_values is None
    with torch.inference_mode():
        assert model(input_ids=torch.arange(3, 9)[None]).past_key_values is not None


def test_a_model_whose_output_has_no_states_is_refused_by_a_sentence() -> None:
    model = SPECIMENS["bert"].build()
    with pytest.raises(ModelError, match="gives no final hidden states for a text alone"):
        last_states(model, ModelOutput(logits=torch.zeros(1)))


def test_a_model_that_cannot_be_read_is_the_reason_with_and_without_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent() -> dict[str, Any]:
        raise NoResults("There is no store.")

    monkeypatch.setattr("analysis.probes.position_probe.stored_models", absent)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match="not valid JSON"):
        PositionRequest(model=str(tmp_path), text=TEXT).find()
