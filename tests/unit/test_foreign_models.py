"""Proves that a stranger's model has a process of its own on a hosted server: it gives what it gives elsewhere, and is
ended at its deadline and when its reader leaves; neither what it takes nor what it answers harms the server.

The hub is the local server of test_hub; its models are made here, as an attacker would make them.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from specimens import TEXT, embedded_loaded, save_tiny
from test_hub import SHA, Hub, Repository, cache, files_of, hub, tiny_files  # noqa: F401  fixtures
from test_service import Reader, until
from transformers import BertForMaskedLM, ViTConfig, ViTModel
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from analysis.core.errors import AddendError, ModelError, ProbeTimeout, TextTooLong
from analysis.core.provenance import ROOT
from analysis.models import file_checks
from analysis.models.source import resolve
from analysis.probes.image_probe import ImageRequest
from analysis.probes.intervention_probe import ImageInterventionRequest, InterventionRequest, PermutationRequest
from analysis.probes.model_request import ModelRequest
from analysis.probes.position_probe import PositionRequest, UnturnRequest
from analysis.probes.similarity_probe import SimilarityRequest
from analysis.probes.text_probe import CurvesRequest, LayersRequest, PatternsRequest, TermsRequest
from analysis.probes.transfer import LENGTH_BYTES, RESULTS, pack, unpack
from dashboard.model_server import ModelServer, foreign_models, loading
from dashboard.model_server.foreign_models import TEMPLATE, ForeignModel

MODEL = "owner/tiny"


@pytest.fixture(autouse=True)
def hosted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ADDEND_HOSTED", "1")
    monkeypatch.setenv("ADDEND_MODELS", "*")
    yield
    for process in processes():  # pytest keeps the frames of exceptions, and with them models
        TEMPLATE.end(process.pid)


@pytest.fixture(scope="module", autouse=True)
def template() -> Iterator[None]:
    """The template, which has imported its modules when a first copy answers; that takes longer than some deadlines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_TOKEN", "hf_secret")
        patch.setenv("ADDEND_HOSTED", "1")
        connection, number = TEMPLATE.copy(lambda: None)
        connection.close()
        TEMPLATE.end(number)
    yield
    TEMPLATE._stop()


def service(seconds: int = 60, models_mb: int = 2_000) -> ModelServer:
    return ModelServer(
        models_mb=lambda: models_mb,
        results_mb=lambda: 100,
        seconds=lambda: seconds,
        max_jobs=lambda: 20,
        load=loading.load,
        run=loading.run,
        is_foreign=loading.is_foreign,
        model_size=loading.size,
    )


def processes() -> list[psutil.Process]:
    """The processes of models that run now."""
    assert TEMPLATE._process
    return [one for one in psutil.Process(TEMPLATE._process.pid).children() if runs(one)]


def runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it ended after it was listed
        return False


# What it gives --------------------------------------------------------------------------------------------------------

IMAGE = {"model": "owner/vit", "image": "scene"}
REQUESTS: list[ModelRequest[Any]] = [
    TermsRequest(model=MODEL, text=TEXT, pair="a cat .", layer=1),
    LayersRequest(model=MODEL, text=TEXT, measure="effect"),
    PatternsRequest(model=MODEL, text=TEXT),
    CurvesRequest(model=MODEL, text=TEXT, pair="a cat ."),
    SimilarityRequest(model=MODEL, text=TEXT, pair="a cat ."),
    PositionRequest(model=MODEL, text=TEXT),
    PositionRequest(model=MODEL, text=TEXT, baseline="random"),
    InterventionRequest(model=MODEL, text=TEXT, interventions=("shift_positions:3",), layer=1),
    PermutationRequest(model=MODEL, text=TEXT),
    UnturnRequest(model="owner/rotary", text=TEXT),
    ImageRequest(**IMAGE, layer=1),
    ImageInterventionRequest(**IMAGE, interventions=("shuffle_positions:1",)),
]


def kinds(base: type[Any] = ModelRequest) -> Iterator[type[Any]]:
    """Every kind of request that can be made."""
    for kind in base.__subclasses__():
        yield from kinds(kind)
        if not kind.__abstractmethods__ and kind.__module__.startswith("analysis."):
            yield kind


def test_every_kind_of_request_is_among_those_that_are_compared() -> None:
    assert {type(request) for request in REQUESTS} == set(kinds())


@pytest.fixture
def strangers(hub: Hub, tmp_path: Path) -> Hub:  # noqa: F811
    """A hub with a text model that predicts tokens, one that rotates, and one of images."""
    from specimens import tiny_tokenizer
    from transformers import LlamaConfig, LlamaForCausalLM

    hub.repositories[MODEL] = Repository({SHA: files_of(save_tiny(tmp_path / "masked", kind=BertForMaskedLM))})
    rotary = LlamaConfig(
        vocab_size=25, hidden_size=32, intermediate_size=16, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=40,
    )  # fmt: skip
    LlamaForCausalLM(rotary).save_pretrained(tmp_path / "rotary")
    tiny_tokenizer().save_pretrained(tmp_path / "rotary")
    hub.repositories["owner/rotary"] = Repository({SHA: files_of(tmp_path / "rotary")})
    shape = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 16}
    ViTModel(ViTConfig(**shape, image_size=32, patch_size=8)).save_pretrained(tmp_path / "vit")
    ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(tmp_path / "vit")
    hub.repositories["owner/vit"] = Repository({SHA: files_of(tmp_path / "vit")})
    return hub


def assert_same(ours: Any, theirs: Any, path: str = "result") -> None:
    """Two results are the same, to the precision of float32, but for the seconds and the time of their run."""
    assert type(ours) is type(theirs), path
    if is_dataclass(ours):
        for field in fields(ours):
            if field.name not in ("seconds", "created", "_measured"):
                assert_same(getattr(ours, field.name), getattr(theirs, field.name), f"{path}.{field.name}")
    elif isinstance(ours, np.ndarray):
        assert ours.dtype == theirs.dtype, path
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=path)
    elif isinstance(ours, tuple | list):
        assert len(ours) == len(theirs), path
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(one, other, f"{path}[{number}]")
    elif isinstance(ours, dict):
        assert_same(list(ours.items()), list(theirs.items()), path)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-5, nan_ok=True), path
    else:
        assert ours == theirs, path


def test_every_request_gives_what_it_gives_in_this_process(strangers: Hub) -> None:
    ours = service()
    for request in REQUESTS:
        source = request.find()
        assert loading.is_foreign(source)
        assert_same(ours.ask(request), request.run(request.load(result=source)), type(request).__name__)
        key = (source.name, source.revision)
        assert dict(ours.models.contents())[key] > 0
        assert isinstance(ours.models.get(key), ForeignModel)


REFUSED = [
    TermsRequest(model=MODEL, text=TEXT * 200),
    TermsRequest(model=MODEL, text=""),
    TermsRequest(model=MODEL, text=TEXT, layer=9),
    TermsRequest(model=MODEL, text=TEXT, method="mean"),
    TermsRequest(model=MODEL, text="the \ud800"),
    InterventionRequest(model=MODEL, text=TEXT, interventions=("scale_base:3",)),
    ImageRequest(model="owner/vit", image="nothing"),
    ImageRequest(model="owner/vit", image="x.png", uploaded=b"no image"),
]


def test_every_refusal_is_the_same_as_in_this_process(strangers: Hub) -> None:
    ours = service()
    for number, request in enumerate(REFUSED):
        with pytest.raises(AddendError) as here:
            request.run()
        with pytest.raises(AddendError) as there:
            ours.ask(request)
        assert (type(there.value), str(there.value)) == (type(here.value), str(here.value)), number
        model = ours.models.get((request.model, SHA))
        assert isinstance(model, ForeignModel), number
        assert model.serves(request.head), "it serves the next request"


def test_a_process_serves_its_model_until_that_makes_room(strangers: Hub) -> None:
    ours = service(models_mb=1)
    for text in ("the cat", "the dog", "the mat"):
        ours.ask(TermsRequest(model=MODEL, text=text))
    (first,) = processes()
    with pytest.raises(TextTooLong, match="3002 tokens"):
        ours.ask(TermsRequest(model=MODEL, text=TEXT * 200))
    assert processes() == [first], "a refusal ends nothing"
    ours.ask(ImageRequest(**IMAGE))
    until(lambda: not first.is_running())
    assert len(processes()) == 1
    ours.models.clear()
    until(lambda: not processes())


def test_a_model_is_loaded_in_this_process_at_home_and_where_it_is_ours(strangers: Hub, monkeypatch) -> None:
    own = service()
    own.ask(TermsRequest(model="", text="the cat"))
    monkeypatch.setenv("ADDEND_HOSTED", "0")
    home = service()
    home.ask(TermsRequest(model=MODEL, text="the cat"))
    assert not processes()


def test_the_process_knows_no_token(strangers: Hub) -> None:
    ours = service()
    ours.ask(TermsRequest(model=MODEL, text="the cat"))
    (process,) = processes()
    environment = process.environ()
    assert environment["ADDEND_HOSTED"] == "1"
    assert "hf_secret" not in environment.values()
    assert environment["HF_HUB_OFFLINE"] == "1"


# What is tried --------------------------------------------------------------------------------------------------------


def growing(times: int, size: int = 50, letter: str = "q") -> dict[str, Any]:
    step = {"type": "Replace", "pattern": {"String": letter}, "content": letter * size}
    return {"type": "Sequence", "normalizers": [step] * times}


def breathing(rounds: int, size: int = 300) -> dict[str, Any]:
    """Grows and shrinks: it takes time, not memory."""
    grow = {"type": "Replace", "pattern": {"String": "q"}, "content": "q" * size}
    shrink = {"type": "Replace", "pattern": {"Regex": "q+"}, "content": "q"}
    return {"type": "Sequence", "normalizers": [grow, grow, shrink] * rounds}


Files = dict[str, bytes]


def change(files: Files, name: str, **values: Any) -> None:
    files[name] = json.dumps(json.loads(files.get(name, b"{}")) | values).encode()


MANY = [f"<|{number}|>" for number in range(300_000)]
ADDED = {"lstrip": False, "normalized": True, "rstrip": False, "single_word": False, "special": False}


def added_in_tokenizer(files: Files) -> None:
    held = json.loads(files["tokenizer.json"])["added_tokens"]
    more = [{"id": 100 + number, "content": text, **ADDED} for number, text in enumerate(MANY)]
    change(files, "tokenizer.json", added_tokens=held + more)


def grow_when_loaded(files: Files) -> None:
    change(files, "tokenizer.json", normalizer=growing(6))
    decoder = json.loads(files["tokenizer_config.json"]).get("added_tokens_decoder", {})
    decoder["1208"] = {"content": "q", **ADDED}
    change(files, "tokenizer_config.json", added_tokens_decoder=decoder)


def stand_still_when_loaded(files: Files) -> None:
    grow_when_loaded(files)
    change(files, "tokenizer.json", normalizer=breathing(5_000))


ATTACKS: dict[str, Callable[[Files], None]] = {
    "grows as it is loaded": grow_when_loaded,
    "stands still as it is loaded": stand_still_when_loaded,
    "grows on a text": lambda files: change(files, "tokenizer.json", normalizer=growing(6)),
    "stands still on a text": lambda files: change(files, "tokenizer.json", normalizer=breathing(5_000)),
    "panics on a text": lambda files: change(
        files, "tokenizer.json", normalizer={"type": "Replace", "pattern": {"Regex": "^(q|q|qq)+$"}, "content": ""}
    ),
    "grows as tokens are read back": lambda files: change(
        files, "tokenizer.json", decoder={"type": "Sequence", "decoders": growing(6, letter="a")["normalizers"]}
    ),
    "many tokens in tokenizer.json": added_in_tokenizer,
    "many tokens in added_tokens.json": lambda files: change(
        files, "added_tokens.json", **{text: 100 + number for number, text in enumerate(MANY)}
    ),
    "many extra special tokens": lambda files: change(files, "tokenizer_config.json", extra_special_tokens=MANY),
    "many additional special tokens": lambda files: change(
        files, "tokenizer_config.json", additional_special_tokens=MANY
    ),
    "many special tokens in their map": lambda files: change(
        files, "special_tokens_map.json", additional_special_tokens=MANY
    ),
}
MANY_TOKENS = [attack for attack in ATTACKS if attack.startswith("many")]
WHILE_LOADED = {*MANY_TOKENS, "grows as it is loaded", "stands still as it is loaded"}


@pytest.mark.parametrize("attack", MANY_TOKENS)
def test_very_many_added_tokens_are_refused_wherever_they_stand(hub: Hub, attack: str) -> None:  # noqa: F811
    ATTACKS[attack](hub.repositories[MODEL].files[SHA])
    with pytest.raises(ModelError, match=r"adds 300,\d{3} tokens to its vocabulary; at most 20,000"):
        resolve(MODEL)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_model_harms_nobody_but_whoever_asks_for_it(hub: Hub, attack: str, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setattr(file_checks, "MAX_ADDED_TOKENS", 10**9)  # its process is what ends it here
    files = hub.repositories[MODEL].files[SHA]
    change(files, "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    ATTACKS[attack](files)
    # What strikes while it is loaded needs no time to be loaded first.
    ours, own = service(seconds=1 if attack in WHILE_LOADED else 2), resolve()
    ours.models.put((own.name, own.revision), embedded_loaded())
    attacker = Reader(ours, TermsRequest(model=MODEL, text="q" * 100 + "! a cat"))
    until(lambda: attacker.told)
    assert ours.ask(TermsRequest(model="", text=f"meanwhile {attack}")).tokens
    attacker.join(60)
    assert not attacker.is_alive()
    assert isinstance(attacker.error, AddendError), attacker.error
    assert str(attacker.error).endswith(".")
    until(lambda: not processes())
    assert ours.ask(TermsRequest(model="", text=f"afterwards {attack}")).tokens


@pytest.mark.parametrize(
    ("attack", "begun"),
    [("stands still as it is loaded", f"Loading {MODEL}"), ("stands still on a text", "Taking the attention apart")],
)
def test_who_leaves_ends_the_process_at_once_whatever_it_does(hub: Hub, attack: str, begun: str) -> None:  # noqa: F811
    files = hub.repositories[MODEL].files[SHA]
    change(files, "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    ATTACKS[attack](files)
    ours = service()
    reader = Reader(ours, TermsRequest(model=MODEL, text="q" * 100 + "! a cat"))
    until(lambda: processes() and begun in reader.told)  # a model that is loaded, and not at work yet, would be kept
    (process,) = processes()
    assert process.is_running()
    reader.leave.set()
    reader.ends()
    until(lambda: not process.is_running())
    until(lambda: ours.queue_lengths() == (0, 0))


def test_a_model_that_is_over_its_time_says_so(hub: Hub) -> None:  # noqa: F811
    files = hub.repositories[MODEL].files[SHA]
    change(files, "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    ATTACKS["stands still on a text"](files)
    with pytest.raises(ProbeTimeout, match="more than 2 s"):
        service(seconds=2).ask(TermsRequest(model=MODEL, text="q" * 100))


def test_memory_is_limited_to_what_the_weights_need_and_a_spare(hub: Hub, monkeypatch) -> None:  # noqa: F811
    request = TermsRequest(model=MODEL, text="the cat")
    service().ask(request)
    monkeypatch.setattr(foreign_models, "SPARE_MIB", 0)
    with pytest.raises(ModelError, match=r"MiB|could not be loaded|fails on this input"):
        service().ask(replace(request, text="the dog"))
    until(lambda: not processes())


def test_processes_end_with_the_server() -> None:
    """Killed, the server can end nobody itself. Its copy waits for an order, as one does whose model is loaded."""
    code = """
import time
from dashboard.model_server.foreign_models import TEMPLATE
connection, number = TEMPLATE.copy(lambda: None)
print(number, TEMPLATE._process.pid, flush=True)
time.sleep(600)
"""
    server = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    numbers = [psutil.Process(int(number)) for number in server.stdout.readline().split()]
    assert len(numbers) == 2
    server.kill()
    server.wait()
    until(lambda: not any(runs(process) for process in numbers))


# What it answers ------------------------------------------------------------------------------------------------------


def test_values_are_read_back_as_they_were_packed() -> None:
    value = {
        "a": (1, 2.5, None, True, "é\ud800", float("inf")),
        3: [np.arange(6, dtype=np.int64).reshape(2, 3), np.zeros((0, 4), np.float32), np.float64(0.5)],
        "b": np.array(True),
    }
    back = unpack(pack(value))
    assert back["a"] == value["a"]
    assert list(back) == ["a", 3, "b"]
    np.testing.assert_array_equal(back[3][0], value[3][0])
    assert (back[3][1].shape, back[3][1].dtype, back[3][2]) == ((0, 4), np.float32, 0.5)
    assert back["b"].shape == ()
    assert not back[3][0].flags.writeable


@pytest.mark.parametrize("value", [object(), threading.Lock(), {1, 2}, np.array([object()]), Path("/"), b"bytes"])
def test_what_is_no_result_is_not_sent(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        unpack(pack([value]))


def packed(tree: object, data: bytes = b"") -> bytes:
    text = json.dumps(tree).encode()
    return len(text).to_bytes(LENGTH_BYTES, "little") + text + data


HOSTILE = [
    packed({"Popen": {"args": "id"}}),
    packed({"os.system": {"command": "id"}}),
    packed({"Provenance": {"__class__": "x"}}),
    packed({"array": ["O", [1]]}, bytes(8)),
    packed({"array": ["|O8", [1]]}, bytes(8)),
    packed({"array": ["V8", [1]]}, bytes(8)),
    packed({"array": [[["a", "O"]], [1]]}, bytes(8)),
    packed({"array": ["<f8", [2**62]]}, bytes(8)),
    packed({"array": ["<f8", [-1]]}, bytes(8)),
    packed({"array": ["<f8", [2]]}, bytes(8)),
    packed({"array": ["<f8", ["1"]]}, bytes(8)),
    packed({"mapping": [[{"list": []}, 1]]}),
    packed({"tuple": 3}),
    packed({}),
    packed([1]),
    packed({"list": [], "tuple": []}),
    b"",
    b"\xff" * 40,
    b"cos\nsystem\n(S'id'\ntR.",
    (100_000 * 9).to_bytes(LENGTH_BYTES, "little") + b'{"list":[' * 100_000,
]


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_bytes_that_hold_no_result_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="these bytes hold no result"):
        unpack(data)


def test_damaged_answers_give_data_or_a_refusal() -> None:
    """Of 2,000 answers with damaged bytes, each is refused or holds nothing but data."""
    good = pack({"result": [(1, "two"), np.arange(4.0)], "more": {"a": None}})
    chance = np.random.default_rng(0)
    refused = 0
    for _ in range(2_000):
        data = bytearray(good)
        for place in chance.integers(len(data), size=3):
            data[place] = chance.integers(256)
        try:
            found = unpack(bytes(data))
        except ValueError:
            refused += 1
            continue
        pack(found)  # which takes data alone
    assert refused > 100


def test_only_classes_of_results_can_be_made() -> None:
    assert all(is_dataclass(kind) and kind.__module__.endswith("result") for kind in RESULTS.values())
    assert not any(hasattr(kind, "__post_init__") for kind in RESULTS.values()), "nothing runs as one is made"


@pytest.mark.parametrize(
    "answer",
    [b"", b"\x01", (5).to_bytes(8, "little") + b"hello", (2**40).to_bytes(8, "little"), pack("text")],
    ids=["hangs up", "half a length", "no result", "too long", "another value"],
)
def test_a_process_that_was_taken_over_is_refused(answer: bytes, monkeypatch) -> None:
    """Whatever it sends, the reader is told a sentence and the process is ended."""
    ended: list[int] = []
    monkeypatch.setattr(TEMPLATE, "end", ended.append)

    def copy(_: object) -> tuple[socket.socket, int]:
        ours, theirs = socket.socketpair()
        ours.settimeout(0.05)
        if answer == pack("text"):
            theirs.sendall(len(answer).to_bytes(LENGTH_BYTES, "little"))
        theirs.sendall(answer)
        theirs.shutdown(socket.SHUT_WR)
        return ours, 12345

    monkeypatch.setattr(TEMPLATE, "copy", copy)
    with pytest.raises(ModelError, match=r"The process of .* ended"):
        ForeignModel(TermsRequest(model="", text="the cat"), resolve(), 60, lambda: None)
    assert ended == [12345]


def test_a_process_that_stalls_half_way_is_ended_at_the_deadline(monkeypatch) -> None:
    kept: list[socket.socket] = []

    def copy(_: object) -> tuple[socket.socket, int]:
        ours, theirs = socket.socketpair()
        ours.settimeout(0.05)
        theirs.sendall((100).to_bytes(LENGTH_BYTES, "little") + b"half")
        kept.append(theirs)
        return ours, os.getpid() + 1_000_000

    def check() -> None:
        if kept and time.monotonic() > end:
            raise ProbeTimeout("over.")

    end = time.monotonic() + 0.3
    monkeypatch.setattr(TEMPLATE, "copy", copy)
    with pytest.raises(ProbeTimeout):
        ForeignModel(TermsRequest(model="", text="the cat"), resolve(), 60, check)
