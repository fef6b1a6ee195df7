"""Proves that a model of a hub is fetched safely, pinned to a commit, and that every failure is told within seconds.

The hub is a small server of our own on this machine, which speaks as Hugging Face's does (paths, status
codes and the X-Error-Code header of its API) and remembers what it was asked.
"""

import hashlib
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants
from specimens import TEXT, save_tiny

from analysis.core.errors import ModelError
from analysis.core.provenance import ROOT
from analysis.models.load import load
from analysis.models.source import HUB_SECONDS, resolve
from analysis.probes import text_probe

SHA, OLD_SHA = "c" * 40, "d" * 40
SECONDS = 5.0
"""How long a reader waits, at most, to be told that a hub cannot be reached: a promise of the product."""


@dataclass
class Repository:
    """What the hub holds under one name: files by commit, and what branches and tags mean."""

    files: dict[str, dict[str, bytes]]
    refs: dict[str, str] = field(default_factory=lambda: {"main": SHA})
    gated_files: bool = False


@dataclass
class Hub:
    """Repositories, the requests seen, and how it is broken at the moment."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    cut_after: int | None = None
    """Bytes of a weights file after which the connection is dropped."""
    answer: tuple[int, dict[str, str], bytes] | None = None
    """Given to every question, whatever it is."""
    headers: dict[str, str] = field(default_factory=dict)
    """Said of every file in place of its own."""
    sha: str | None = None
    """The commit that descriptions name, in place of the true one."""
    endless: str = ""
    """The end of the paths whose answers never end: one byte every 10 ms."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when whoever read an endless answer hangs up."""
    url: str = ""
    moved: dict[str, str] = field(default_factory=dict)
    """Ends of paths, and where they are answered instead (a redirect)."""
    tokens: list[tuple[str, str]] = field(default_factory=list)
    """Path and token of every request that carried one."""

    def asked_for(self, name: str) -> bool:
        """Whether the content of a file of that name was asked for."""
        return any(request.startswith("GET") and "/resolve/" in request and name in request for request in self.seen)


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            hub.seen.append(f"{self.command} {self.path}")
            if token := self.headers.get("Authorization"):
                hub.tokens.append((self.path, token))
            for end, elsewhere in hub.moved.items():
                if self.path.split("?")[0].endswith(end):
                    return self.reply(302, {"Location": elsewhere} | self.described(end))
            if hub.answer:
                return self.reply(*hub.answer)
            parts = self.path.split("?")[0].strip("/").split("/")
            is_api = parts[:2] == ["api", "models"]
            name = "/".join(parts[2:4] if is_api else parts[:2])
            if name not in hub.repositories:
                return self.reply(404 if not is_api else 401, {"X-Error-Code": "RepoNotFound"}, b"{}")
            repository = hub.repositories[name]
            rest = parts[4:] if is_api else parts[2:]
            revision = rest[1] if len(rest) > 1 else "main"
            commit = repository.refs.get(revision, revision)
            if commit not in repository.files:
                return self.reply(404, {"X-Error-Code": "RevisionNotFound"}, b"{}")
            files = repository.files[commit]
            if not is_api:
                return self.file(repository, commit, "/".join(rest[2:]))
            listing = [(path, len(data), hashlib.sha1(data).hexdigest()) for path, data in files.items()]
            if rest[:1] == ["tree"]:
                tree = [{"type": "file", "path": path, "size": size, "oid": oid} for path, size, oid in listing]
                return self.json(tree)
            siblings = [{"rfilename": path, "size": size, "blobId": oid} for path, size, oid in listing]
            return self.json(
                {"id": name, "modelId": name, "sha": hub.sha or commit, "siblings": siblings, "private": False}
            )

        def file(self, repository: Repository, commit: str, path: str) -> None:
            if repository.gated_files:
                return self.reply(403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted."})
            if path not in repository.files[commit]:
                return self.reply(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
            data = repository.files[commit][path]
            etag = hashlib.sha1(data).hexdigest()
            own = {"ETag": f'"{etag}"', "X-Repo-Commit": commit, "X-Linked-Size": str(len(data))}
            self.reply(200, own | hub.headers, data)

        def described(self, path: str) -> dict[str, str]:
            """What a hub says of a file that lies elsewhere."""
            data = next(iter(hub.repositories["owner/tiny"].files.values())).get(path.strip("/"), b"")
            return {
                "X-Linked-ETag": f'"{hashlib.sha256(data).hexdigest()}"',
                "X-Linked-Size": str(len(data)),
                "X-Repo-Commit": SHA,
            }

        def json(self, content: Any) -> None:
            self.reply(200, {"Content-Type": "application/json"}, json.dumps(content).encode())

        def reply(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            endless = bool(hub.endless and self.path.split("?")[0].endswith(hub.endless))
            self.send_header("Content-Length", str(10**9 if endless else len(body)))
            self.end_headers()
            if self.command == "HEAD":
                return
            if hub.endless and self.path.split("?")[0].endswith(hub.endless):
                return self.drip()
            if hub.cut_after is not None and self.path.endswith(".safetensors"):
                self.wfile.write(body[: hub.cut_after])
                self.close_connection = True
                return
            self.wfile.write(body)

        def drip(self) -> None:
            try:
                while True:
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(0.01)
            except OSError:
                hub.ended.set()

    return Handler


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def tiny_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return files_of(save_tiny(tmp_path_factory.mktemp("tiny")))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test, and no token. The client reads HF_HOME once, on import."""
    folder = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
    return folder


@pytest.fixture
def hub(tiny_files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    made = Hub({"owner/tiny": Repository({SHA: dict(tiny_files)})})
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(made))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", made.url)
    yield made
    server.shutdown()
    server.server_close()


def refused(*said: str, model: str = "owner/tiny", revision: str | None = None) -> None:
    """Resolving ends in one sentence that says these things."""
    with pytest.raises(ModelError) as caught:
        resolve(model, revision)
    sentence = str(caught.value)
    for part in (model, *said):
        assert part in sentence, sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


# Success -------------------------------------------------------------------------------------------------


def test_a_model_is_fetched_pinned_and_taken_apart(hub, tiny_files, tmp_path):
    told: list[str] = []
    source = resolve("owner/tiny", progress=told.append)
    assert (source.name, source.revision, source.folder.name) == ("owner/tiny", SHA, SHA)
    assert files_of(source.folder) == tiny_files
    assert list(dict.fromkeys(told)) == [f"Asking {hub.url} about owner/tiny", "Downloading owner/tiny, 0 MB"]
    assert all(f"/resolve/{SHA}/" in request for request in hub.seen if "/resolve/" in request)
    made = text_probe.TermsRequest(model="owner/tiny", text=TEXT).run(load(source, device="cpu"))
    assert made.relative_error < 1e-5
    assert text_probe.command(made).startswith(
        f"python -m analysis probe --model owner/tiny --revision {SHA} --text 'the"
    )
    assert resolve("owner/tiny", made.provenance.revision).folder == source.folder  # what was stored finds it again


def test_a_branch_a_tag_and_a_commit_are_each_pinned(hub, tiny_files):
    repository = hub.repositories["owner/tiny"]
    repository.files[OLD_SHA] = dict(tiny_files)
    repository.refs["v1"] = OLD_SHA
    assert resolve("owner/tiny", "v1").revision == OLD_SHA
    assert resolve("owner/tiny", OLD_SHA).revision == OLD_SHA
    assert resolve("owner/tiny", "main").revision == resolve("owner/tiny", "").revision == SHA


def test_a_new_commit_is_noticed(hub, tiny_files):
    assert resolve("owner/tiny").revision == SHA
    repository = hub.repositories["owner/tiny"]
    repository.files[OLD_SHA] = dict(tiny_files)
    repository.refs["main"] = OLD_SHA
    assert resolve("owner/tiny").revision == OLD_SHA


def test_only_what_is_needed_is_downloaded(hub):
    files = hub.repositories["owner/tiny"].files[SHA]
    unwanted = ("pytorch_model.bin", "checkpoint-1/model.safetensors", "onnx/model.onnx", "modeling_own.py", "a.gguf")
    unwanted += ("consolidated.safetensors", "trainer_state.json")
    files |= dict.fromkeys(unwanted, b"x" * 1000)
    folder = resolve("owner/tiny").folder
    assert not any(hub.asked_for(name) for name in unwanted)
    assert sorted(path.name for path in folder.rglob("*")) == sorted(set(files) - set(unwanted))


# Refused before the weights come -------------------------------------------------------------------------


def test_no_safetensors(hub):
    files = hub.repositories["owner/tiny"].files[SHA]
    files["pytorch_model.bin"] = files.pop("model.safetensors")
    refused("holds only pytorch_model.bin", "reads only safetensors", "save_pretrained")
    assert not hub.asked_for("pytorch_model.bin")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "xlnet"}, "architecture 'xlnet'; terms exist for: addend, "),
        ({"position_embedding_type": "relative_key"}, "'relative_key'"),
    ],
)
def test_what_cannot_be_taken_apart(hub, changes, said):
    files = hub.repositories["owner/tiny"].files[SHA]
    files["config.json"] = json.dumps(json.loads(files["config.json"]) | changes).encode()
    refused(said)
    assert hub.asked_for("config.json")
    assert not hub.asked_for("model.safetensors")


def test_no_config(hub):
    del hub.repositories["owner/tiny"].files[SHA]["config.json"]
    refused("holds no config.json", "save_pretrained")
    assert not hub.asked_for("")


def test_not_enough_memory(hub, monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("Memory", (), {"available": 1000}))
    refused("GiB of memory", "Choose a smaller model")
    assert not hub.asked_for("model.safetensors")


# What a hub may say --------------------------------------------------------------------------------------


def test_an_unknown_repository(hub):
    refused("There is no model 'owner/none'", hub.url, "private", "spelling", model="owner/none")
    assert not hub.asked_for("")


def test_an_unknown_revision(hub):
    refused("has no revision 'v9'", "a branch, a tag or a commit", revision="v9")
    assert not hub.asked_for("")


def test_a_gated_repository(hub):
    hub.answer = (403, {"X-Error-Code": "GatedRepo"}, b"")
    refused("is gated", "HF_TOKEN")


def test_a_repository_that_shows_its_page_but_not_its_files(hub):
    """How gated models answer in fact: the listing is public, the files are not."""
    hub.repositories["owner/tiny"].gated_files = True
    refused("is gated", "HF_TOKEN")
    assert not hub.asked_for("model.safetensors")


@pytest.mark.parametrize("status", [500, 503, 429, 418])
def test_a_hub_in_trouble(hub, status):
    hub.answer = (status, {}, b"")
    started = time.monotonic()
    refused(hub.url)
    assert time.monotonic() - started < SECONDS


def test_a_hub_that_answers_with_an_error_is_quoted(hub):
    hub.answer = (500, {}, b"")
    refused("answers with HTTP 500", "Check the network", "all-MiniLM-L6-v2")


@pytest.mark.parametrize("body", [b"<html>Sign in to the hotel's network</html>", b"", b"{}", b"[]"])
def test_what_answers_is_no_hub(hub, body):
    hub.answer = (200, {"Content-Type": "text/html"}, body)
    refused(hub.url, "Check the network")


def test_a_download_that_breaks_off(hub, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)  # the client waits between its attempts
    hub.cut_after = 1000
    refused("The download of", hub.url, "broke off", "try again")
    hub.cut_after = None
    assert resolve("owner/tiny").revision == SHA


# A hub that means harm -------------------------------------------------------------------------------------


def everything_under(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("header", ["ETag", "X-Linked-ETag", "X-Repo-Commit"])
@pytest.mark.parametrize("value", ["../../../../escaped", '"../escaped"', "..", "a/b", "a..b", ".hidden", "x" * 300])
def test_a_header_that_would_name_a_file_elsewhere(hub, tmp_path, header, value):
    hub.headers = {header: value}
    before = everything_under(tmp_path)
    refused(header.lower(), "outside the cache")
    assert not [path for path in everything_under(tmp_path) - before if "escaped" in path]
    hub.headers = {}
    assert resolve("owner/tiny").revision == SHA


@pytest.mark.parametrize("sha", ["../../../../escaped", "main", "c" * 39, ".." + "c" * 38])
def test_a_commit_that_is_none(hub, sha):
    hub.sha = sha
    refused("expected 40 hexadecimal digits")
    assert not hub.asked_for("")


def test_a_description_without_end_is_given_up_and_its_thread_ends(hub, monkeypatch):
    from analysis.models import hub_client

    monkeypatch.setattr(hub_client, "DESCRIPTION_SECONDS", 0.3)
    hub.endless = "/api/models/owner/tiny"
    with pytest.raises(ModelError, match="takes more than 0 s"):
        resolve("owner/tiny")
    assert hub.ended.wait(SECONDS), "the connection is still open"


def test_a_description_of_many_megabytes_is_given_up(hub, monkeypatch):
    from analysis.models import hub_client

    monkeypatch.setattr(hub_client, "DESCRIPTION_BYTES", 20)
    refused("sends more than 0 MB")


def test_a_config_without_end_is_given_up(hub, monkeypatch):
    from analysis.models import hub_client

    monkeypatch.setattr(hub_client, "TEXT_BYTES", 30)
    hub.endless = "/config.json"
    refused("sends more than 0 MB")
    assert hub.ended.wait(SECONDS)


def test_a_download_ends_when_its_reader_has_left(hub):
    """`progress` is where a reader may leave; it is told at every piece that arrives."""
    hub.endless = "/model.safetensors"
    told: list[str] = []

    class HasLeft(Exception):
        pass

    def tell(message: str) -> None:
        told.append(message)
        if len(told) > 20:
            raise HasLeft

    with pytest.raises(HasLeft):
        resolve("owner/tiny", progress=tell)
    assert hub.ended.wait(SECONDS), "the download goes on though nobody waits for it"
    hub.endless = ""
    assert resolve("owner/tiny").revision == SHA


def test_a_download_that_takes_too_long_ends(hub, monkeypatch):
    monkeypatch.setenv("ADDEND_DOWNLOAD_SECONDS", "1")
    hub.endless = "/model.safetensors"
    with pytest.raises(ModelError, match=r"took more than 1 s.*ADDEND_DOWNLOAD_SECONDS|takes more than 1 s"):
        resolve("owner/tiny")
    assert hub.ended.wait(SECONDS)


# Redirects ------------------------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(hub, tiny_files) -> Iterator[Hub]:
    """Another host, to which hubs send readers for large files."""
    made = Hub({"owner/tiny": Repository({SHA: dict(tiny_files)})})
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(made))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    made.url = f"http://localhost:{server.server_port}"
    yield made
    server.shutdown()
    server.server_close()


def test_weights_that_lie_on_another_host_come_from_there_without_the_token(hub, elsewhere, tiny_files, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_owner")
    path = f"/owner/tiny/resolve/{SHA}/model.safetensors"
    hub.moved = {"/model.safetensors": elsewhere.url + path}
    source = resolve("owner/tiny")
    assert files_of(source.folder) == tiny_files
    assert elsewhere.asked_for("model.safetensors")
    assert hub.tokens, "the hub itself is shown the token"
    assert not elsewhere.tokens, "the token went to another host"


@pytest.mark.parametrize("path", ["/model.safetensors", "/config.json", "/api/models/owner/tiny"])
def test_redirects_in_a_circle_end_in_a_sentence(hub, path):
    hub.moved = {path: f"{hub.url}/again{path}"}
    refused()
    assert len(hub.seen) < 200


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://", "//", "data:text/plain,x"])
@pytest.mark.parametrize("path", ["/model.safetensors", "/config.json", "/api/models/owner/tiny"])
def test_redirects_to_what_is_no_web_address_open_nothing(hub, tmp_path, path, to):
    hub.moved = {path: to}
    refused()
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"root:" in file.read_bytes()]


def test_what_another_host_sends_is_bounded_too(hub, elsewhere, monkeypatch):
    monkeypatch.setenv("ADDEND_DOWNLOAD_SECONDS", "1")
    hub.moved = {"/model.safetensors": f"{elsewhere.url}/owner/tiny/resolve/{SHA}/model.safetensors"}
    elsewhere.endless = "/model.safetensors"
    with pytest.raises(ModelError, match=r"took more than 1 s|takes more than 1 s"):
        resolve("owner/tiny")
    assert elsewhere.ended.wait(SECONDS)


# No network ----------------------------------------------------------------------------------------------


def closed_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


def silent_server(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A server that takes connections and never says a word."""
    listener = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{listener.getsockname()[1]}")
    return listener.close


def black_hole(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that no packet comes back from (reserved for documentation, RFC 5737)."""
    monkeypatch.setenv("HF_ENDPOINT", "http://192.0.2.1")


def nonsense_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://[nonsense")


def offline_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


@pytest.mark.parametrize("trouble", [closed_port, silent_server, black_hole, nonsense_address, offline_mode])
def test_no_network_is_told_within_seconds_and_a_fetched_model_still_works(trouble, hub, monkeypatch):
    hub.repositories["owner/tiny"].files[SHA]["README.md"] = b"not fetched, and not missed"
    fetched = resolve("owner/tiny")
    undo = trouble(monkeypatch)
    started = time.monotonic()
    refused("cannot be reached", "'v1'", "Check the network", "all-MiniLM-L6-v2", model="owner/other", revision="v1")
    assert time.monotonic() - started < SECONDS
    monkeypatch.setattr("analysis.models.source.HUB_SECONDS", 0.3)  # the bound is proven; what follows needs no wait
    again = resolve("owner/tiny")
    assert (again.folder, again.revision) == (fetched.folder, fetched.revision)
    assert load(again, device="cpu").model.config.hidden_size == 32
    if undo:
        undo()


def test_a_model_whose_weights_never_came_is_not_on_this_machine(hub, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    hub.cut_after = 1000
    refused("broke off")
    closed_port(monkeypatch)
    refused("cannot be reached", "owner/tiny is not on this machine")


def test_a_model_refused_before_its_weights_came_is_not_on_this_machine(hub, monkeypatch):
    files = hub.repositories["owner/tiny"].files[SHA]
    files["pytorch_model.bin"] = files.pop("model.safetensors")
    refused("reads only safetensors")
    closed_port(monkeypatch)
    refused("is not on this machine")


def test_a_look_up_that_hangs_does_not_keep_the_process_from_ending(tmp_path):
    """In a process of its own: a name look-up of 20 s, a sentence soon after the time that a hub has, and out."""
    script = (
        "import socket, time\n"
        "from analysis.models import source\n"
        "from analysis.models.source import resolve\n"
        "source.HUB_SECONDS = 1.0\n"
        "from analysis.core.errors import ModelError\n"
        "import huggingface_hub.hf_api\n"
        "socket.getaddrinfo = lambda *_, **__: time.sleep(20)\n"
        "started = time.monotonic()\n"
        "try:\n"
        "    resolve('owner/tiny')\n"
        "except ModelError as told:\n"
        "    print(time.monotonic() - started, told)\n"
        "print('ended', time.time())\n"
    )
    environment = {"HF_HOME": str(tmp_path), "HF_ENDPOINT": "http://hub.invalid", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    exited = time.time()
    told, ended = done.stdout.splitlines()
    seconds, sentence = told.split(" ", 1)
    assert float(seconds) < 1 + (SECONDS - HUB_SECONDS)
    assert sentence.startswith("The model hub (http://hub.invalid) cannot be reached, and owner/tiny is not on this")
    assert exited - float(ended.split()[1]) < SECONDS
