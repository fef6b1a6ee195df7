"""Proves that every layout of a task's files is read alike, and that what is missing or malformed is named.

The rows are made up here; none is GLUE's.
"""

import dataclasses
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from analysis.ablation.glue import TASKS, GlueTask, Split, TaskData, read_task
from analysis.ablation.glue.examples import subsample
from analysis.ablation.glue.hub import HubError
from analysis.ablation.glue.read import DataError
from analysis.core.errors import AddendError

READ = [name for name, task in TASKS.items() if task.glue and not task.trained_on]
A = ["the cat sat", 'a "dog" ran', "", "café — no"]
B = ["on a mat", '"up the hill', "and back", "that's it"]


def labels(task: GlueTask) -> list[str]:
    """Four labels as the files spell them."""
    return ["0", "1.25", "5.000", "3"] if task.regression else [task.labels[i % len(task.labels)] for i in range(4)]


def values(task: GlueTask) -> list[float]:
    """The same four as the reader gives them."""
    return [0, 1.25, 5, 3] if task.regression else [i % len(task.labels) for i in range(4)]


def write(path: Path, rows: list[list[str]], *, bom: bool = False, end: str = "\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join("\t".join(row) + end for row in rows)
    path.write_bytes(text.encode("utf-8-sig" if bom else "utf-8"))


def plain(task: GlueTask) -> list[list[str]]:
    """Header row, label first, a column to ignore at the end."""
    texts = [A, B][: len(task.texts)]
    rows = [[label, *parts, "ignored"] for label, *parts in zip(labels(task), *texts, strict=True)]
    return [["label", *task.texts, "sid"], *rows]


def official(task: GlueTask) -> list[list[str]]:
    """Columns in the order of GLUE's zip files: the label last, or CoLA's file without a header row."""
    if task.official_columns:
        return [["gj04", label, "*", a] for label, a in zip(labels(task), A, strict=True)]
    texts = [A, B][: len(task.texts)]
    rows = [[str(i), *parts] for i, parts in enumerate(zip(*texts, labels(task), strict=True))]
    return [["index", *task.official_texts, task.official_label], *rows]


def folder(tmp_path: Path, task: GlueTask, rows: list[list[str]], **how: Any) -> Path:
    write(tmp_path / task.folder / "train.tsv", rows, **how)
    write(tmp_path / task.folder / task.dev_file, rows, **how)
    return tmp_path


def assert_read(task: GlueTask, data: TaskData) -> None:
    assert data.task == task.name
    assert list(data.dev) == [task.name]
    for split in (data.train, data.dev[task.name]):
        assert split.texts == A
        assert split.pairs == (B if len(task.texts) == 2 else None)
        assert split.labels.tolist() == values(task)
        assert split.labels.dtype == (np.float64 if task.regression else np.int64)
    assert data.data == "partial train, held-out dev"
    assert data.shared() == {task.name: 4}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [False, True])
@pytest.mark.parametrize("layout", [plain, official])
@pytest.mark.parametrize("name", READ)
def test_every_layout_is_read_alike(name: str, layout: Any, bom: bool, end: str, tmp_path: Path) -> None:
    task = TASKS[name]
    root = folder(tmp_path, task, layout(task), bom=bom, end=end)
    assert_read(task, read_task(task, root))
    assert_read(task, read_task(task, str(root / task.folder)))


def test_a_part_is_found_by_its_name(tmp_path: Path) -> None:
    task = TASKS["qqp"]
    write(tmp_path / "QQP" / "train-partial.tsv", plain(task))
    write(tmp_path / "QQP" / "dev-heldout.tsv", plain(task))
    assert_read(task, read_task(task, tmp_path))
    write(tmp_path / "QQP" / "train-other.tsv", plain(task))
    with pytest.raises(DataError, match=r"QQP holds train-other\.tsv and train-partial\.tsv; expected one of them\."):
        read_task(task, tmp_path)
    write(tmp_path / "QQP" / "train.tsv", plain(task))
    assert_read(task, read_task(task, tmp_path))


def test_mnli_has_two_dev_sets_and_one_training(tmp_path: Path) -> None:
    task = TASKS["mnli"]
    folder(tmp_path, task, plain(task))
    write(tmp_path / "MNLI" / "dev_mismatched.tsv", official(task)[:3])
    data = read_task(task, tmp_path)
    assert {name: len(split) for name, split in data.dev.items()} == {"mnli": 4, "mnli_mismatched": 2}
    with pytest.raises(DataError, match="mnli_mismatched is scored by the model that mnli trains; read mnli"):
        read_task(TASKS["mnli_mismatched"], tmp_path)


def test_our_own_task_has_no_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There are no files of swapped_neighbours; make its data with"):
        read_task(TASKS["swapped_neighbours"], tmp_path)


# The original distribution of MRPC, and torn rows of QQP ---------------------------------------------


def test_mrpc_is_split_by_the_list_of_dev_rows(tmp_path: Path) -> None:
    task = TASKS["mrpc"]
    rows = [["1", "10", "11", A[0], B[0]], ["0", "20", "21", A[1], B[1]], ["1", "30", "31", A[3], B[3]]]
    path = tmp_path / "MRPC" / "msr_paraphrase_train.txt"
    write(path, [["Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"], *rows], bom=True, end="\r\n")
    with pytest.raises(DataError, match=r"holds msr_paraphrase_train\.txt but no mrpc_dev_ids\.tsv, which says"):
        read_task(task, tmp_path)
    write(tmp_path / "MRPC" / "mrpc_dev_ids.tsv", [["20", "21"]])
    data = read_task(task, tmp_path)
    assert data.train.texts == [A[0], A[3]]
    assert data.dev["mrpc"].items() == [(A[1], B[1])]
    assert data.dev["mrpc"].labels.tolist() == [0]
    write(tmp_path / "MRPC" / "mrpc_dev_ids.tsv", [["21", "20"]])
    with pytest.raises(DataError, match=r"mrpc_dev_ids\.tsv lists none of the rows of msr_paraphrase_train\.txt"):
        read_task(task, tmp_path)
    write(path, [["Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"], *rows, ["1", "5"]])
    with pytest.raises(DataError, match=r"train\.txt, line 5: found 2 columns, expected at least 5 \(Quality, #1 ID"):
        read_task(task, tmp_path)
    write(path, [["Quality", "#1 String", "#2 String"], ["1", "a", "b"]])
    with pytest.raises(DataError, match=r"line 1: lacks the column '#1 ID'; expected #1 ID, #2 ID"):
        read_task(task, tmp_path)


def test_the_torn_rows_of_the_official_qqp_are_left_out_and_counted(tmp_path: Path) -> None:
    task = TASKS["qqp"]
    rows = official(task)
    folder(tmp_path, task, rows)
    write(tmp_path / "QQP" / "train.tsv", [*rows, *[["9", "torn"]] * 3])
    data = read_task(task, tmp_path)
    assert (len(data.train), data.skipped) == (4, 3)
    write(tmp_path / "QQP" / "train.tsv", [*rows, *[["9", "torn"]] * 4])
    with pytest.raises(DataError, match=r"train\.tsv, line 9: found 2 columns, expected at least 4"):
        read_task(task, tmp_path)
    write(tmp_path / "QQP" / "train.tsv", [*plain(task), ["1", "torn"]])
    with pytest.raises(DataError, match=r"train\.tsv, line 6: found 2 columns, expected at least 3"):
        read_task(task, tmp_path)


# What is said of bad files ---------------------------------------------------------------------------


def test_missing_files_are_named(tmp_path: Path) -> None:
    task = TASKS["rte"]
    with pytest.raises(DataError, match=r"nowhere is no folder; expected the one that holds RTE/"):
        read_task(task, tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"holds no train set of rte; expected RTE/train\.tsv, or train-NAME\.tsv"):
        read_task(task, tmp_path)
    write(tmp_path / "RTE" / "train.tsv", plain(task))
    with pytest.raises(DataError, match=r"holds no dev set of rte; expected RTE/dev\.tsv next to train\.tsv"):
        read_task(task, tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "rte",
            b"",
            r"train\.tsv is empty; expected rows with a header row with label, sentence1, sentence2\. Copy the",
        ),
        ("rte", b"label\tsentence1\tsentence2\n", r"train\.tsv holds no rows; expected"),
        ("rte", b"label\tsentence\n", r"line 1: found the columns 'label, sentence'; expected a header row with label"),
        ("cola", b"gj04\t2\t\tfine\n", r"line 1: found .* or no header row and source, label, star, sentence"),
        (
            "rte",
            b"label\tsentence1\tsentence2\nentailment\ta\n",
            r"line 2: found 2 columns, expected at least 3 \(label",
        ),
        ("rte", b"label\tsentence1\tsentence2\nentailment\ta\tb\n\nentailment\ta\tb\n", r"line 3: found 1 columns"),
        (
            "rte",
            b"label\tsentence1\tsentence2\nentailed\ta\tb\n",
            r"line 2: the label 'entailed' is not one of entailment, not_entailment\. Correct the line",
        ),
        ("stsb", b"label\tsentence1\tsentence2\n5.1\ta\tb\n", r"line 2: the label '5\.1' is not a number from 0 to 5"),
        ("stsb", b"label\tsentence1\tsentence2\nhigh\ta\tb\n", r"the label 'high' is not a number from 0 to 5"),
        ("stsb", b"label\tsentence1\tsentence2\nnan\ta\tb\n", r"the label 'nan' is not a number from 0 to 5"),
        ("mnli", b"label\tsentence1\tsentence2\n-\ta\tb\n", r"'-' is not one of entailment, neutral, contradiction"),
        ("sst2", b"sentence\tlabel\nfine\t1\nbad \xff\t0\n", r"line 3: byte 26 is not UTF-8; save the file as UTF-8"),
    ],
)
def test_malformed_files_are_named_with_their_line(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    task = TASKS[name]
    folder(tmp_path, task, plain(task))
    (tmp_path / task.folder / "train.tsv").write_bytes(content)
    with pytest.raises(DataError, match=said) as told:
        read_task(task, tmp_path)
    assert str(tmp_path / task.folder / "train.tsv") in str(told.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = TASKS["rte"]
    folder(tmp_path, task, plain(task))

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(DataError, match=r"train\.tsv could not be read \(Permission denied\)"):
        read_task(task, tmp_path)


# Which data it is ------------------------------------------------------------------------------------


def data_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, train_rows: tuple[int, ...], dev_rows: int) -> TaskData:
    """Four rows of RTE, held against other official sizes."""
    task = dataclasses.replace(TASKS["rte"], train_rows=train_rows, dev_rows=dev_rows)
    monkeypatch.setitem(TASKS._entries, "rte", task)
    return read_task(task, folder(tmp_path, task, plain(task)))


@pytest.mark.parametrize(
    ("train_rows", "dev_rows", "said"),
    [
        ((4,), 4, "official"),
        ((9, 4), 4, "official"),
        ((5,), 4, "partial train"),
        ((4,), 5, "held-out dev"),
        ((3,), 4, "enlarged train"),
        ((5,), 3, "partial train, held-out dev"),
    ],
)
def test_sizes_say_which_data_it_is(
    train_rows: tuple[int, ...], dev_rows: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data_of(tmp_path, monkeypatch, train_rows, dev_rows).data == said


def test_of_two_dev_sets_the_one_that_is_not_official_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = dataclasses.replace(TASKS["mnli"], train_rows=(4,), dev_rows=4)
    monkeypatch.setitem(TASKS._entries, "mnli", task)
    folder(tmp_path, task, plain(task))
    write(tmp_path / "MNLI" / "dev_mismatched.tsv", plain(task))
    assert read_task(task, tmp_path).data == "held-out dev (mnli_mismatched)"


def numbered(rows: int) -> Split:
    return Split(texts=[f"text {i}" for i in range(rows)], pairs=None, labels=np.arange(rows) % 2)


def test_a_subsample_depends_on_the_task_alone_and_says_its_size() -> None:
    data = TaskData(task="sst2", train=numbered(3000), dev={"sst2": numbered(500)}, data="official")
    assert subsample(data) is subsample(data, max_train=3000, max_dev=9999) is data
    part = subsample(data, max_train=1000, max_dev=50)
    assert part.data == "1,000 of 3,000 train, 50 of 500 dev"
    assert part.train.texts == subsample(data, max_train=1000).train.texts
    rows = [int(text.split()[1]) for text in part.train.texts]
    assert rows == sorted(set(rows)), "in the order of the file, each once"
    assert part.train.labels.tolist() == [row % 2 for row in rows]
    assert rows[:3] == [5, 6, 14], "a stream that never changes: old runs are compared with new ones"
    other = TaskData(task="cola", train=numbered(3000), dev={"cola": numbered(500)}, data="partial train")
    assert subsample(other, max_train=1000).train.texts != part.train.texts
    assert subsample(other, max_train=1000).data == "partial train, 1,000 of 3,000 train"
    with pytest.raises(AddendError, match="The max_dev 0 is not a whole number from 1 up; leave it out"):
        subsample(data, max_dev=0)


def test_shared_items_are_counted_whatever_their_label() -> None:
    train = Split(texts=["a", "b"], pairs=["x", "y"], labels=np.array([0, 1]))
    dev = Split(texts=["a", "a", "b"], pairs=["x", "y", "y"], labels=np.array([1, 0, 1]))
    assert TaskData(task="rte", train=train, dev={"rte": dev}, data="official").shared() == {"rte": 2}


# The hub ---------------------------------------------------------------------------------------------


class Table(dict[str, list[Any]]):
    """As much of a `datasets.Dataset` as is used."""

    @property
    def column_names(self) -> list[str]:
        return list(self)


def hub(monkeypatch: pytest.MonkeyPatch, load: Any) -> None:
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load))


@pytest.mark.parametrize("name", READ)
def test_without_a_folder_the_hub_is_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task, asked = TASKS[name], []

    def load(repository: str, config: str, *, split: str) -> Table:
        asked.append((repository, config, split))
        return Table(zip(("label", *task.hub_texts), (values(task), A, B), strict=False))

    hub(monkeypatch, load)
    data = read_task(task, None)
    splits = ["train", "validation"]
    if name == "mnli":
        splits = ["train", "validation_matched", "validation_mismatched"]
        data = dataclasses.replace(data, dev={"mnli": data.dev["mnli"]})
    assert asked == [("nyu-mll/glue", task.hub, split) for split in splits]
    assert_read(task, data)


def test_a_hub_that_cannot_be_reached_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(
        HubError, match=r"No folder was given for rte, and the library datasets, .*pip install datasets"
    ):
        read_task(TASKS["rte"])

    def offline(*_: Any, **__: Any) -> None:
        raise ConnectionError("no route")

    hub(monkeypatch, offline)
    with pytest.raises(HubError, match=r"nyu-mll/glue, rte, train could not be read from the hub \(no route\); check"):
        read_task(TASKS["rte"])


def test_a_hub_of_another_make_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    hub(monkeypatch, lambda *_, **__: Table(label=[0], premise=["a"]))
    with pytest.raises(HubError, match="has no column 'sentence1'; expected label, sentence1, sentence2"):
        read_task(TASKS["rte"])
    hub(monkeypatch, lambda *_, **__: Table(label=[0, -1], sentence1=["a", "b"], sentence2=["a", "b"]))
    with pytest.raises(HubError, match="rte, train, row 1: the label -1 is not from 0 to 1"):
        read_task(TASKS["rte"])
