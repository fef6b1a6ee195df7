"""A flipped bit is noticed: in the pages of a results file, in its footer, and in any committed file."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from analysis.core.errors import StoreError
from analysis.core.provenance import ROOT
from analysis.store import checksums, files

DATA = ROOT / "data"
KINDS = ("surgery", "curves", "terms", "costs", "decoding", "predictions", "geometry")
FLIPS = 150


def smallest(kind: str) -> Path:
    return min((DATA / "results" / kind).glob("*.parquet"), key=lambda path: path.stat().st_size)


@pytest.fixture(params=KINDS)
def copy(request, tmp_path) -> Path:
    return Path(shutil.copy(smallest(request.param), tmp_path / "one.parquet"))


def test_a_flipped_bit_never_gives_another_number(copy):
    kind, table, run = files.read(copy)
    whole = copy.read_bytes()
    rng, noticed = np.random.default_rng(7), 0
    for place in rng.integers(0, 8 * len(whole), FLIPS):
        broken = bytearray(whole)
        broken[place // 8] ^= 1 << (place % 8)
        copy.write_bytes(broken)
        try:
            found = files.read(copy)
        except StoreError:
            noticed += 1
            continue
        assert found[0] == kind
        assert found[1].equals(table), f"bit {place} of {len(whole)} bytes changed a number silently"
        assert found[2] == run, f"bit {place} changed the run silently"
    assert noticed > FLIPS / 2


def test_every_results_file_has_checksums_of_its_pages():
    """Arrow does not say whether there are any, so one page is damaged: without a checksum, some read back changed."""
    without = [
        path.relative_to(DATA).as_posix()
        for path in sorted((DATA / "results").rglob("*.parquet"))
        if b"addend.check" not in (pq.read_schema(path).metadata or {})
    ]
    assert not without, f"{len(without)} files, such as {without[0]}; run python -m analysis checksums"


def test_every_committed_file_is_as_listed():
    stated, found = checksums.listed_sums(DATA), checksums.computed_sums(DATA)
    assert stated, "run python -m analysis checksums"
    differ = sorted(path for path in stated if found.get(path) != stated[path])
    assert not differ, f"{len(differ)} files are not what was committed, such as {differ[0]}"
    unlisted = sorted(found.keys() - stated.keys())
    assert not unlisted, (
        f"{len(unlisted)} files are not listed, such as {unlisted[0]}; run python -m analysis checksums"
    )


def test_sums_are_those_of_sha256sum(tmp_path, monkeypatch):
    """And the command says which file was changed, and which is gone."""
    from typer import Exit

    from analysis.commands.checksums import checksums as command

    folder = tmp_path / "data" / "results" / "surgery"
    folder.mkdir(parents=True)
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    path = Path(shutil.copy(smallest("surgery"), folder / "a.parquet"))
    table = pq.read_table(path)
    about = {key: value for key, value in table.schema.metadata.items() if key != b"addend.check"}
    pq.write_table(table.replace_schema_metadata(about), path)  # as it was written before there were checksums
    before = files.read(path)
    assert checksums.renew(tmp_path / "data") == (1, 1)
    after = files.read(path)
    assert (after[0], after[2]) == (before[0], before[2])
    assert after[1].equals(before[1])
    assert checksums.renew(tmp_path / "data") == (1, 0)
    with pytest.raises(Exit) as fine:
        command(check=True)
    assert fine.value.exit_code == 0
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(Exit) as changed:
        command(check=True)
    assert changed.value.exit_code == 1
