"""Proves what a hosted server takes of models: what it allows, checked before a download, and nothing that leads out.

The hub is the local server of test_hub; folders are made here, as an attacker would make them.
"""

import io
import json
import logging
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from specimens import TEXT, save_tiny
from test_hub import OLD_SHA, SHA, Hub, cache, hub, tiny_files  # noqa: F401  fixtures
from transformers import BertForMaskedLM

from analysis.core.errors import ModelError, ModelNotDownloaded, TextError, TextTooLong
from analysis.measurements.terms import decompose
from analysis.models.cancellation import cancellable
from analysis.models.load import load
from analysis.models.source import resolve
from analysis.probes import text_probe
from dashboard.model_server.sizes import model_bytes


@pytest.fixture
def hosted(monkeypatch):
    monkeypatch.setenv("ADDEND_HOSTED", "1")
    monkeypatch.setenv("ADDEND_MODELS", "owner/*")


def refused(said: str, model: str = "owner/tiny", revision: str | None = None, kind: type = ModelError) -> str:
    with pytest.raises(kind) as caught:
        resolve(model, revision)
    assert said in str(caught.value), str(caught.value)
    assert str(caught.value).endswith(".")
    return str(caught.value)


# Which models ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    ["/etc", "/etc/passwd", "~", "~root", ".", "..", "./data", "../..", "/proc/self/root", "~/.cache/huggingface"],
)
def test_no_folder_is_opened_and_whether_it_exists_is_not_said(hosted, model):
    assert refused("opens no folders", model) == refused("opens no folders", "/nowhere/at/all")


@pytest.mark.parametrize(
    "model",
    ["other/model", "owner", "tests", "dashboard", "ownerx/tiny", "evil/owner/tiny", "OWNER/tiny", "*", "owner/../x/y"],
)
def test_only_what_the_server_allows_is_asked_for(hosted, hub: Hub, model):  # noqa: F811
    with pytest.raises(ModelError):
        resolve(model)
    assert hub.seen == []


@pytest.mark.parametrize(
    "revision", ["../../etc", "a/../../b", ".hidden", "a b", "x" * 101, "/abs", "a//b", "a\n", "é?"]
)
def test_a_revision_that_is_a_path_is_refused_before_anything_is_asked(hub: Hub, revision):  # noqa: F811
    refused("is not a revision", revision=revision)
    assert hub.seen == []


@pytest.mark.parametrize("allowed", ["owner/tiny", "owner/*", "owner/tiny@v1"])
@pytest.mark.parametrize("revision", ["refs/pr/1", "0123456789abcdef0123456789abcdef01234567", "v2"])
def test_a_trusted_name_is_not_lent_to_a_strangers_revision(hosted, hub: Hub, monkeypatch, allowed, revision):  # noqa: F811
    monkeypatch.setenv("ADDEND_MODELS", allowed)
    refused("This server ", revision=revision)
    assert hub.seen == []


def test_the_default_revision_and_those_the_owner_names_are_taken(hosted, hub: Hub, monkeypatch):  # noqa: F811
    hub.repositories["owner/tiny"].refs["v1"] = SHA
    assert resolve("owner/tiny").revision == resolve("owner/tiny", "main").revision == SHA
    refused("default revision only, not at 'v1'", revision="v1")
    monkeypatch.setenv("ADDEND_MODELS", "owner/tiny@v1")
    assert resolve("owner/tiny", "v1").revision == SHA
    refused("does not open 'owner/tiny'")


def test_a_download_waits_for_a_press_and_then_serves_the_link(hosted, hub: Hub):  # noqa: F811
    with pytest.raises(ModelNotDownloaded, match="when you press Download"):
        resolve("owner/tiny", fetch=False)
    assert hub.seen == []
    assert resolve("owner/tiny", fetch=True).revision == SHA
    hub.seen.clear()
    assert resolve("owner/tiny", fetch=False).revision == SHA
    assert hub.seen == []


def test_a_model_over_the_limit_is_refused_before_it_is_downloaded(hosted, hub: Hub, monkeypatch):  # noqa: F811
    monkeypatch.setenv("ADDEND_MODEL_MB", "1")
    hub.repositories["owner/tiny"].files[SHA]["second.safetensors"] = b"0" * 2_000_000
    refused("MB of files; this server takes models of up to 1 MB")
    assert not hub.asked_for("safetensors")


def test_what_was_checked_is_what_is_downloaded(hosted, hub: Hub, monkeypatch):  # noqa: F811
    """The owner of a repository may push between the look at its sizes and the download."""
    repository = hub.repositories["owner/tiny"]

    def push(*_: Any) -> None:
        repository.files[OLD_SHA] = {**repository.files[SHA], "second.safetensors": b"0" * 2_000_000}
        repository.refs["main"] = OLD_SHA

    monkeypatch.setattr("analysis.models.file_checks.check_download", push)
    assert resolve("owner/tiny").revision == SHA
    assert not hub.asked_for("second.safetensors")
    assert resolve("owner/tiny", fetch=False).revision == SHA


def test_a_huge_tokenizer_is_refused_before_it_is_downloaded(hub: Hub, monkeypatch):  # noqa: F811
    monkeypatch.setattr("analysis.models.file_checks.MAX_TOKENIZER_BYTES", 1000)
    hub.repositories["owner/tiny"].files[SHA]["tokenizer.json"] = b" " * 2000
    refused("holds a tokenizer.json of")
    assert not hub.asked_for("tokenizer.json")


def test_a_text_is_refused_that_would_take_all_memory_as_it_is_read(hub: Hub, monkeypatch):  # noqa: F811
    monkeypatch.setattr("analysis.models.file_checks.MAX_TEXT_FILE_BYTES", 10_000)
    files = hub.repositories["owner/tiny"].files[SHA]
    files["tokenizer.json"] += b" " * 20_000  # which a child process tries
    assert resolve("owner/tiny").revision == SHA
    hub.repositories["owner/tiny"].files[OLD_SHA] = files | {"config.json": files["config.json"] + b" " * 20_000}
    hub.seen.clear()
    refused("holds a config.json of 0 MB; at most 0 MB are accepted for it", revision=OLD_SHA)
    assert not hub.asked_for("config.json")


def test_a_full_disk_is_said_before_anything_is_downloaded(hub: Hub, monkeypatch):  # noqa: F811
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    refused("GB of disk are free")
    assert not hub.asked_for("safetensors")


def test_the_owners_token_is_not_lent_to_strangers(hosted, hub: Hub, monkeypatch, tmp_path):  # noqa: F811
    seen: list[str | None] = []
    from http.server import BaseHTTPRequestHandler

    send = BaseHTTPRequestHandler.send_response
    monkeypatch.setattr(
        BaseHTTPRequestHandler,
        "send_response",
        lambda self, *given: (seen.append(self.headers.get("Authorization")), send(self, *given))[1],
    )
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    resolve("owner/tiny")
    assert seen
    assert set(seen) == {None}
    monkeypatch.setenv("ADDEND_HOSTED", "0")
    seen.clear()
    resolve("owner/tiny")
    assert "Bearer hf_secret" in seen


# What lies in a folder ---------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_tiny(tmp_path / "model")


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_link_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path, name):
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    refused(f"{name} of", str(folder))


def test_links_within_the_hubs_cache_are_its_own_and_others_are_not(hub: Hub, tmp_path):  # noqa: F811
    folder = resolve("owner/tiny").folder
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to(secret)
    with pytest.raises(ModelError, match="leads out of its folder"):
        resolve("owner/tiny", fetch=False)


@pytest.mark.parametrize("shard", ["../model.safetensors", "/etc/passwd", "a/b.safetensors", "..\\x.safetensors"])
def test_shards_outside_of_the_folder_are_refused(folder: Path, shard):
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": shard}}))
    refused("does not lie in its folder", str(folder))


@pytest.mark.parametrize("content", ["[" * 100_000, "null", "[]", '{"model_type": ["bert"]}', "{" + '"a":{' * 50_000])
def test_a_config_that_is_no_config(folder: Path, content):
    (folder / "config.json").write_text(content)
    with pytest.raises(ModelError):
        resolve(str(folder))


def test_an_adapter_names_another_model_and_is_refused(folder: Path):
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "/etc"}))
    refused("is an adapter", str(folder))


@pytest.mark.parametrize("key", ["vocab_file", "tokenizer_file", "name_or_path"])
def test_a_tokenizer_config_cannot_name_a_file_of_the_server(folder: Path, tmp_path: Path, key):
    secret = tmp_path / "secret.txt"
    secret.write_text("\n".join(f"secret{number}" for number in range(25)))
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: str(secret)}))
    vocabulary = load(resolve(str(folder)), device="cpu").tokenizer.get_vocab()
    assert not any("secret" in word for word in vocabulary)


@pytest.mark.parametrize(
    ("where", "key"),
    [
        ("tokenizer_config.json", "vocab"),
        ("tokenizer_config.json", "merges_file"),
        ("tokenizer_config.json", "gguf_file"),
        ("tokenizer_config.json", "fast_tokenizer_files"),
        ("tokenizer_config.json", "init_inputs"),
        ("special_tokens_map.json", "vocab"),
        ("special_tokens_map.json", "vocab_file"),
    ],
)
def test_a_file_of_the_server_is_not_read_in_the_place_of_a_vocabulary(folder: Path, tmp_path: Path, where, key):
    """Without tokenizer.json, BertTokenizer opens what `vocab` names; the lines of that file were then its tokens."""
    secret = tmp_path / "secret.txt"
    secret.write_text("\n".join(f"secret{number}" for number in range(25)))
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("[UNK]\n")
    (folder / where).write_text(json.dumps({"tokenizer_class": "BertTokenizer", key: str(secret)}))
    if where != "tokenizer_config.json":
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
        (folder / where).write_text(json.dumps({key: str(secret)}))
    said = refused(f"{key!r}, which could have another file opened", str(folder))
    assert str(secret) not in said


@pytest.mark.parametrize("name", ["preprocessor_config.json", "processor_config.json"])
@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({"image_processor_type": "OneFormerImageProcessor", "repo_path": "/", "class_info_file": "x"}, "expected"),
        ({"feature_extractor_type": "DetrFeatureExtractor"}, "expected that of ViT"),
        ({"size": {"height": 32, "width": 20_000}}, "to 20,000 pixels"),
        ({"size": 20_000}, "to 20,000 pixels"),
        ({"crop_size": [32, 1e9]}, "to 1,000,000,000.0 pixels"),
        ({"image_processor": {"size": {"shortest_edge": 4096}}}, "to 4,096 pixels"),
    ],
)  # fmt: skip
def test_an_image_processor_opens_no_file_and_makes_no_enormous_image(folder: Path, name, held, said):
    (folder / name).write_text(json.dumps(held))
    refused(said, str(folder))


def test_an_image_processors_config_is_read_in_a_moment_however_deep_it_is(folder: Path):
    """Each size was looked through for each size that it is part of: 40 kB took a minute, and more took hours."""
    (folder / "preprocessor_config.json").write_text('{"size":' * 200 + f"[{'1,' * 20_000}1]" + "}" * 200)
    started = time.process_time()
    resolve(str(folder))
    assert time.process_time() - started < 5


@pytest.mark.parametrize("where", ["config.json", "tokenizer_config.json"])
def test_code_that_comes_with_a_model_is_never_run(folder: Path, tmp_path: Path, where):
    ran = tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w').close()\nclass Own: pass\n")
    path = folder / where
    auto = {"AutoModel": "own.Own", "AutoConfig": "own.Own", "AutoTokenizer": ["own.Own", "own.Own"]}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"auto_map": auto}))
    with suppress(ModelError):  # some of it transformers refuses, some it leaves aside
        load(resolve(str(folder)), device="cpu")
    assert not ran.exists()


def test_a_pickle_in_the_place_of_weights_is_never_opened(folder: Path, tmp_path: Path):
    ran = tmp_path / "ran"

    class Bomb:
        def __reduce__(self):
            return (open, (str(ran), "w"))

    torch.save(Bomb(), folder / "model.safetensors")  # a pickle under a good name
    with pytest.raises(ModelError, match="could not be loaded"):
        load(resolve(str(folder)), device="cpu")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    refused("reads only safetensors", str(folder))
    assert not ran.exists()


def weigh(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes what a folder's weights file says it holds."""
    data = (folder / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    held = json.loads(data[8 : 8 + length])
    change(held)
    header = json.dumps(held).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data[8 + length :])


def test_a_header_of_very_many_weights_is_refused_before_it_is_read(folder: Path, monkeypatch):
    monkeypatch.setattr("analysis.models.file_checks.MAX_HEADER_BYTES", 100_000)
    resolve(str(folder))
    weigh(folder, lambda held: held.update({f"x{n}": held["pooler.dense.bias"] for n in range(2_000)}))
    refused("have headers of 0 MB; at most 0 MB are accepted", str(folder))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shape", [2**62, 4]),
        ("shape", [2**40]),
        ("shape", [-32]),
        ("data_offsets", [0, 128]),
        ("data_offsets", [2**62, 2**62 + 128]),
        ("data_offsets", [-128, 0]),
        ("dtype", "F4"),
        ("dtype", "../x"),
    ],
)
def test_a_header_that_lies_about_its_weights(folder: Path, name, value):
    weigh(folder, lambda held: held["pooler.dense.bias"].update({name: value}))
    with pytest.raises(ModelError, match="could not be loaded"):
        load(resolve(str(folder)), device="cpu")


@pytest.mark.parametrize("length", [2**60, 2**64 - 1, 10**8])
def test_a_header_longer_than_its_file(folder: Path, length):
    (folder / "model.safetensors").write_bytes(length.to_bytes(8, "little") + b"{}")
    with pytest.raises(ModelError, match="could not be loaded"):
        load(resolve(str(folder)), device="cpu")


def test_what_a_stranger_calls_weights_is_no_line_of_the_log(folder: Path):
    stream = io.StringIO()
    logger = logging.getLogger("transformers")
    logger.addHandler(handler := logging.StreamHandler(stream))
    forged = 'x\n{"event": "forged"}'
    weigh(folder, lambda held: held.update({forged: {"dtype": "F32", "shape": [0], "data_offsets": [size(held)] * 2}}))
    try:
        with pytest.raises(ModelError, match="has no place for") as refusal:
            load(resolve(str(folder)), device="cpu")
    finally:
        logger.removeHandler(handler)
    assert "forged" not in stream.getvalue()
    assert "\n" not in str(refusal.value)


def size(held: dict[str, Any]) -> int:
    """Bytes of all weights that a header says."""
    return max(one["data_offsets"][1] for name, one in held.items() if name != "__metadata__")


@pytest.mark.parametrize(
    "changes",
    [
        {"vocab_size": 10**9},
        {"max_position_embeddings": 10**10},
        {"hidden_size": 2**20, "intermediate_size": 2**20},
        {"num_hidden_layers": 10**9},
        {"num_hidden_layers": 999, "intermediate_size": 10**6},
        {"num_labels": 10**9},
        {"model_type": "qwen2", "num_hidden_layers": 10**9},
        {"model_type": "albert", "num_hidden_groups": 10**9},
        {"model_type": "albert", "inner_group_num": 10**9},
    ],
)
def test_a_config_that_asks_for_more_than_is_stored_makes_nothing_up(folder: Path, changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ModelError, match=r"do not belong together|at most|could not be loaded"):
        load(resolve(str(folder)), device="cpu")


def test_a_model_of_too_many_parts_is_refused_while_it_is_made(folder: Path, monkeypatch):
    monkeypatch.setattr("analysis.models.load.MAX_MODULES", 20)
    with pytest.raises(ModelError, match="more than 20 parts; at most that many are accepted"):
        load(resolve(str(folder)), device="cpu")


# Texts and passes ----------------------------------------------------------------------------------------------------


def test_texts_over_the_servers_limits_are_refused_or_cut(folder: Path, monkeypatch):
    loaded = load(resolve(str(folder)), device="cpu")
    monkeypatch.setenv("ADDEND_TOKENS", "10")
    ask = {"model": str(folder), "text": "the cat " * 10}
    with pytest.raises(TextTooLong, match="The text has 22 tokens and at most 10 are accepted"):
        text_probe.TermsRequest(**ask).run(loaded)
    assert len(text_probe.TermsRequest(**ask, truncate=True).run(loaded).tokens) == 10
    monkeypatch.setenv("ADDEND_TEXT_KB", "1")
    for more in ({"truncate": True, "text": "x" * 1001}, {"text": "é" * 501}, {"text": "a", "pair": "b" * 1001}):
        with pytest.raises(TextError, match="at most 1 kB are accepted"):
            text_probe.TermsRequest(**(ask | more)).run(loaded)


def test_half_a_character_is_refused(folder: Path):
    loaded = load(resolve(str(folder)), device="cpu")
    with pytest.raises(TextError, match="lone surrogate"):
        text_probe.TermsRequest(model=str(folder), text="the cat \ud800").run(loaded)


def test_a_pass_stops_at_the_next_module(folder: Path):
    loaded = load(resolve(str(folder)), device="cpu")
    calls: list[int] = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 5:
            raise TimeoutError

    with pytest.raises(TimeoutError), cancellable(check):
        decompose(loaded.model, loaded.tokenizer, TEXT)
    assert len(calls) == 5
    decompose(loaded.model, loaded.tokenizer, TEXT)  # the model is as it was, and nobody asks any more
    assert len(calls) == 5


def test_a_model_without_its_head_is_the_same_model(tmp_path: Path):
    """Interventions want the head; probes of the same model then use its body, and give the same to the last bit."""
    folder = save_tiny(tmp_path / "masked", kind=BertForMaskedLM)
    headed = load(resolve(str(folder)), device="cpu", head=True)
    bare, own = headed.with_head(False), load(resolve(str(folder)), device="cpu")
    assert bare.model.get_output_embeddings() is None
    assert headed.with_head(True) is headed
    for layer in range(2):
        ours = decompose(bare.model, bare.tokenizer, TEXT, layer=layer)
        theirs = decompose(own.model, own.tokenizer, TEXT, layer=layer)
        assert (ours.query == theirs.query).all()
        assert (ours.scores == theirs.scores).all()


def test_bytes_of_a_model_are_those_of_its_weights_shared_ones_once(tmp_path: Path):
    folder = save_tiny(tmp_path / "masked", kind=BertForMaskedLM)
    loaded = load(resolve(str(folder)), device="cpu", head=True)  # whose decoder shares the word table
    weights = sum(tensor.nbytes for tensor in loaded.model.parameters())  # which lists a shared one once
    assert weights <= model_bytes(loaded) < weights + 30_000
