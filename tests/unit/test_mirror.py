"""Proves that replicas which share results on object storage agree, lose nothing, and go on while it is away.

The storage is moto's S3 server, spoken to over HTTP; what any storage must do is tried in a folder too.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest
import s3fs
from moto.server import ThreadedMotoServer

from analysis.core.errors import NotInstalled, SettingError, StorageUnavailable
from analysis.imports.base import UserMetadata
from analysis.imports.plan import execute, plan
from analysis.store import files, mirror, read
from analysis.store.paths import data_folder
from analysis.store.storage import Storage
from analysis.store.sync import sync

KEY = "AKIDNOTTOBESEEN"
Replica = Callable[[str], Path]


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadedMotoServer]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with pytest.MonkeyPatch.context() as patch:
        started = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        started.start()
        host, port = started.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ACCESS_KEY_ID", KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
        s3fs.S3FileSystem.clear_instance_cache()
        yield started
        started.stop()


@pytest.fixture
def bucket(server: ThreadedMotoServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket of this test's own, which ADDEND_DATA names."""
    name = f"s3://b{uuid.uuid4().hex[:12]}/some/results"
    fsspec.filesystem("s3").mkdir(name.split("/")[2])
    monkeypatch.setenv("ADDEND_DATA", name)
    return name


@pytest.fixture(params=["s3", "file"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An address of each kind."""
    if request.param == "s3":
        return request.getfixturevalue("bucket")
    monkeypatch.setenv("ADDEND_DATA", f"file://{tmp_path}/bucket")
    return f"file://{tmp_path}/bucket"


@pytest.fixture
def replica(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Replica:
    """Makes this process one of several replicas, by name; returns its data folder."""

    def become(name: str) -> Path:
        monkeypatch.setenv("ADDEND_MIRROR", str(tmp_path / name))
        monkeypatch.delenv("ADDEND_STORE", raising=False)
        return data_folder()

    return become


def write(value: float, name: str) -> Path:
    columns = {"variant": ["bert_a"], "preset": ["cpu"], "measure": ["parameters"], "value": [value]}
    return files.write("costs", columns, files.Run(kind="costs", command="made up", run_id=name), name=name)


def held() -> list[float]:
    """What this replica holds after an exchange."""
    mirror.exchange()
    return sorted(files.read(path)[1].column("value")[0].as_py() for path in files.results_files())


def stored() -> list[float]:
    """What its store then holds."""
    sync({})
    return sorted(read.query("SELECT value FROM costs").value)


def storage(address: str) -> tuple[fsspec.AbstractFileSystem, str]:
    return fsspec.url_to_fs(address, use_listings_cache=False)


# What one does, the others see


def test_what_one_writes_the_others_see(address: str, replica: Replica) -> None:
    replica("one")
    write(1.0, "a")
    assert held() == [1.0]
    replica("two")
    assert held() == [1.0]
    write(2.0, "b")
    assert mirror.state() == mirror.State(fetched=mirror.state().fetched, waiting=0, problem="")  # type: ignore
    replica("one")
    assert held() == stored() == [1.0, 2.0]
    mirror.exchange()
    assert not sync({}).rebuilt, "nothing changed since"


def test_what_was_written_anew_replaces_the_old_everywhere(address: str, replica: Replica) -> None:
    replica("one")
    write(1.0, "a")
    replica("two")
    held()
    write(3.0, "a")
    assert held() == [3.0]
    replica("one")
    assert held() == [3.0]


def test_what_is_removed_there_vanishes_everywhere_and_is_not_brought_back(address: str, replica: Replica) -> None:
    system, root = storage(address)
    for name in ("one", "two"):
        replica(name)
        mirror.exchange()
    write(1.0, "a")
    write(2.0, "b")
    replica("one")
    assert held() == [1.0, 2.0]
    system.rm_file(f"{root}/results/costs/a.parquet")
    for name in ("two", "one", "two"):
        folder = replica(name)
        assert held() == [2.0]
        assert [path.name for path in folder.rglob("*.parquet")] == ["b.parquet"]


def test_only_what_changed_is_fetched(bucket: str, replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    replica("one")
    for place in range(5):
        write(float(place), f"r{place}")
    replica("two")
    mirror.exchange()
    fetched: list[str] = []
    real = Storage.get
    monkeypatch.setattr(Storage, "get", lambda self, name, path: fetched.append(name) or real(self, name, path))
    mirror.exchange()
    replica("one")
    write(9.0, "new")
    mirror.exchange()
    assert fetched == [], "what was sent from here need not be fetched"
    replica("two")
    mirror.exchange()
    assert fetched == ["results/costs/new.parquet"]


def test_an_import_reaches_the_others(bucket: str, replica: Replica) -> None:
    replica("one")
    rows = "variant,task,metric,seed,learning_rate,value\nmine,rte,accuracy,0,1e-4,0.5\nyours,rte,accuracy,0,1e-4,0.6"
    execute(plan({"mine.csv": rows.encode()}, UserMetadata()))
    replica("two")
    assert held() == [0.5, 0.6]


# What is broken does no harm


def test_half_an_object_is_named_and_the_rest_served_until_it_is_whole(bucket: str, replica: Replica) -> None:
    system, root = storage(bucket)
    replica("one")
    whole = write(1.0, "a").read_bytes()
    write(2.0, "b")
    system.pipe_file(f"{root}/results/costs/a.parquet", whole[: len(whole) // 2])
    replica("two")
    mirror.exchange()
    assert [file for file, _ in sync({}).problems] == ["results/costs/a.parquet"]
    assert stored() == [2.0]
    system.pipe_file(f"{root}/results/costs/a.parquet", whole)
    assert held() == stored() == [1.0, 2.0]


def test_a_fetch_that_is_cut_short_changes_nothing(
    bucket: str, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    replica("one")
    write(1.0, "a")
    two = replica("two")
    assert held() == [1.0]
    before = (two / "results/costs/a.parquet").read_bytes()
    replica("one")
    write(4.0, "a")
    replica("two")
    real = Storage.get

    def cut(self: Storage, name: str, path: Path) -> None:
        real(self, name, path)
        path.write_bytes(path.read_bytes()[:100])

    with monkeypatch.context() as patch:
        patch.setattr(Storage, "get", cut)
        with pytest.raises(
            StorageUnavailable, match=r"results/costs/a\.parquet changed while it was fetched, or arrived incomplete"
        ):
            mirror.exchange()
    assert (two / "results/costs/a.parquet").read_bytes() == before
    assert not list(two.rglob("*.partial"))
    assert held() == [4.0]


def test_what_half_an_exchange_left_is_not_sent_as_if_it_were_ours(bucket: str, replica: Replica) -> None:
    """As a kill leaves it: the file is here, and it was said before that it would be fetched."""
    replica("one")
    path, other = write(1.0, "a"), write(2.0, "b")
    two = replica("two")
    mirror.exchange()
    known = mirror._read(two)
    known["files"]["results/costs/a.parquet"] = [None, None]
    mirror._write(two, known)
    system, root = storage(bucket)
    system.rm_file(f"{root}/results/costs/a.parquet")
    assert held() == [2.0]
    assert path.exists()
    assert other.exists()


def test_objects_that_lead_out_of_the_folder_or_are_none_of_ours_stay_there(
    bucket: str, replica: Replica, tmp_path: Path
) -> None:
    system, root = storage(bucket)
    replica("one")
    write(1.0, "a")
    odd = ("results/../../../../evil.parquet", "results//costs/x.parquet", "results/.hidden/x.parquet")
    for name in (*odd, "store/addend.duckdb", ".mirror.json", "stray.parquet", "results/costs/x.partial"):
        system.call_s3("put_object", Bucket=root.split("/")[0], Key=f"some/results/{name}", Body=b"evil")
    two = replica("two")
    mirror.exchange()
    found = [path for path in tmp_path.rglob("*") if path.is_file() and path.read_bytes() == b"evil"]
    assert found == []
    assert [path.relative_to(two).as_posix() for path in two.rglob("*.parquet")] == ["results/costs/a.parquet"]


# The storage is away


def test_while_the_storage_is_away_all_goes_on_and_nothing_is_lost(
    server: ThreadedMotoServer, bucket: str, replica: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    replica("one")
    write(1.0, "a")
    assert held() == [1.0]
    host, port = server.get_host_and_port()
    server.stop()
    try:
        with pytest.raises(
            StorageUnavailable, match=r"The storage that ADDEND_DATA names could not be reached \(.*\)\. Try"
        ):
            mirror.exchange()
        write(2.0, "b")
        assert "is kept here and sent by a later sync" in caplog.text
        started = time.monotonic()
        mirror.keep_current()
        assert time.monotonic() - started < 1, "no page waits for it"
        assert stored() == [1.0, 2.0]
        state = mirror.state()
        assert state
        assert state.waiting == 1
        assert "could not be reached" in state.problem
        for told in (state.problem, caplog.text):
            assert KEY not in told
            assert str(port) not in told
    finally:
        server.__init__(ip_address=host, port=port)
        server.start()
    mirror.exchange()
    assert mirror.state() == mirror.State(fetched=mirror.state().fetched, waiting=0, problem="")  # type: ignore
    replica("two")
    assert held() == [1.0, 2.0]


def test_where_nothing_was_ever_fetched_the_reason_is_said(
    server: ThreadedMotoServer, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADDEND_DATA", "s3://no-such-bucket/results")
    replica("one")
    for _ in range(2):
        with pytest.raises(StorageUnavailable, match="The storage that ADDEND_DATA names is not there"):
            mirror.keep_current()
    with pytest.raises(StorageUnavailable):
        mirror.start()


def test_an_empty_bucket_removes_nothing(address: str, replica: Replica) -> None:
    """As when a disk is not mounted, or a prefix is misspelt in a new mirror's place."""
    system, root = storage(address)
    replica("one")
    write(1.0, "a")
    assert held() == [1.0]
    system.rm(root, recursive=True)
    with pytest.raises(StorageUnavailable, match=r"is empty, but 1 of its files are here|is not there"):
        mirror.exchange()
    assert (data_folder() / "results/costs/a.parquet").is_file()


def test_who_may_not_write_can_still_fetch(bucket: str, replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    replica("one")
    write(1.0, "a")
    replica("two")
    mirror.exchange()
    replica("one")
    write(2.0, "b")
    replica("two")

    def refused(*_: object) -> None:
        raise PermissionError("Forbidden")

    monkeypatch.setattr(Storage("ADDEND_DATA", bucket)._system, "put_file", refused)  # it is one for all
    write(3.0, "mine")
    with pytest.raises(StorageUnavailable, match="refused access"):
        mirror.exchange()
    assert sorted(path.stem for path in files.results_files()) == ["a", "b", "mine"]


def test_pages_look_now_and_then_and_never_wait(bucket: str, replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    replica("one")
    mirror.keep_current()
    looked, go_on = [], threading.Event()
    monkeypatch.setattr(mirror, "_exchange", lambda folder: looked.append(folder) or go_on.wait(10))
    mirror.keep_current()
    assert looked == [], "it was fetched a moment ago"
    monkeypatch.setattr(mirror, "REFRESH_SECONDS", 0.0)
    for _ in range(3):
        mirror.keep_current()
    assert len(looked) == 1, "one at a time"
    go_on.set()
    deadline = time.monotonic() + 10
    while not mirror._exchange_lock.acquire(blocking=False):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    mirror._exchange_lock.release()


# What is needed for it


def test_a_missing_package_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: object, **__: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec, "url_to_fs", absent)
    with pytest.raises(NotInstalled, match=r"s3://, which needs a package.*pip install -r requirements-s3\.txt"):
        Storage("ADDEND_DATA", "s3://bucket/folder")


def test_an_unknown_kind_of_storage_is_told() -> None:
    with pytest.raises(SettingError, match="nosuch://, which fsspec does not know"):
        Storage("ADDEND_DATA", "nosuch://bucket/folder")


def test_a_folder_is_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    assert data_folder() == tmp_path / "data"
    assert mirror.state() is None
    mirror.exchange()
    mirror.keep_current()
    write(1.0, "a")
    assert not list(tmp_path.rglob(".mirror*"))
