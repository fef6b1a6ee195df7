"""Proves that a stranger's small file cannot take a hosted server's memory or time, and that good ones are read."""

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.core.errors import ImportProblem
from analysis.imports import plan_process as process
from analysis.imports.limits import MAX_MIB, MAX_ROWS
from analysis.imports.plan import gather, plan
from analysis.imports.plan_process import plan_in_child
from analysis.imports.reader import UserMetadata

CSV = b"variant,task,metric,seed,learning_rate,value\nmine,rte,accuracy,0,2e-5,0.61\nmine,rte,accuracy,1,2e-5,x\n"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))


def parquet(**columns: list) -> bytes:
    written = io.BytesIO()
    pq.write_table(pa.table(columns), written, compression="zstd", use_dictionary=False, write_statistics=False)
    return written.getvalue()


@pytest.mark.parametrize("content", [CSV, CSV.replace(b"x", b"0.63")])
def test_the_plan_is_the_same_as_without(content):
    files = {"a/scores.csv": content, "strange.txt": b""}
    assert plan_in_child(files, UserMetadata(preset="mine")) == plan(files, UserMetadata(preset="mine"))
    files.pop("strange.txt")
    assert plan_in_child(files, UserMetadata()) == plan(files, UserMetadata())


def full_table(rows: int) -> bytes:
    """A table with every column of scores, one run a row: what takes the most of a row."""
    header = "variant,preset,metric,seed,value,task,finetune_seed,learning_rate,pretraining,data,train_examples,"
    header += "dev_examples,seconds"
    lines = (
        f"v{n // 4000},mine,accuracy,{n % 4000},{0.5 + n % 1000 / 2500:.4f},rte,3,2e-5,p-{n},GLUE 1.0,2490,277,12.5"
        for n in range(rows)
    )
    return "\n".join([header, *lines]).encode()


def test_an_import_of_the_stated_size_is_read():
    """The process has its limits of time and memory; 190,000 rows were refused."""
    table = full_table(MAX_ROWS)
    assert len(table) < MAX_MIB << 20
    assert plan_in_child({"full.csv": table}, UserMetadata()).rows == MAX_ROWS


def test_two_imports_are_read_at_once(monkeypatch):
    """One that takes long leaves a place to somebody else."""
    monkeypatch.setattr(process, "SECONDS", 20)
    with process._places:
        assert plan_in_child({"scores.csv": CSV}, UserMetadata()).bad
        with process._places:
            monkeypatch.setattr(process, "SECONDS", 0.1)
            with pytest.raises(ImportProblem, match="Files of other readers are being read"):
                plan_in_child({"scores.csv": CSV}, UserMetadata())


def wide(columns: int, rows: int) -> bytes:
    header = "run_id,metrics.a," + ",".join(map(str, range(columns)))
    return (header + "\n" + ("1" + "," * (columns + 1) + "\n") * rows).encode()


def test_what_unfolds_beyond_the_limit_is_refused(monkeypatch):
    """A long text that is repeated."""
    monkeypatch.setattr(process, "MEMORY_MIB", 64)
    bomb = parquet(variant=["x" * 50_000_000])
    assert len(bomb) < 100_000
    with pytest.raises(ImportProblem, match="takes more than 20 s or 64 MiB"):
        plan_in_child({"bomb.parquet": bomb}, UserMetadata())


def test_rows_that_leave_most_of_their_cells_out_are_bad_rows(monkeypatch):
    """Filled up, each would take ten thousand cells; the rows of a wide table that has them take one at a time."""
    monkeypatch.setattr(process, "MEMORY_MIB", 64)
    made = plan_in_child({"bomb.csv": wide(10_000, 500).replace(b"," * 10_001, b"")}, UserMetadata())
    assert str(made.bad[0]) == "bomb.csv, line 2: has 1 cells; expected 10002, as the header has."
    assert plan_in_child({"wide.csv": wide(10_000, 100)}, UserMetadata()).bad == []


def test_a_link_out_of_a_folder_is_not_followed(tmp_path: Path):
    run = tmp_path / "mlruns" / "0" / "run"
    (run / "params").mkdir(parents=True)
    (run / "meta.yaml").write_text("run_id: run\n")
    (tmp_path / "secret").write_text("a key")
    (run / "params" / "note").symlink_to(tmp_path / "secret")
    with pytest.raises(ImportProblem, match="note' is a link that leads out of its folder"):
        gather([tmp_path / "mlruns"])
