"""Proves that every reader takes one and the same run alike, and that a fault planted into its files is named alike.

The run is written in each form as its tool lays it out. Trackio's tables are those of its 0.43, which writes JSON as
bytes (trackio/sqlite_storage.py, init_db and bulk_log); MLflow's latest value is that of its FileStore.
"""

import gzip
import io
import json
import math
import sqlite3
import zipfile
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.ablation.glue.tasks import TASKS
from analysis.imports.naming import score_key, task_name
from analysis.imports.plan import Plan, plan
from analysis.imports.reader import READERS, InvalidValue, UserMetadata, parsed
from analysis.imports.rows import CheckedTexts, check_row

Files = dict[str, bytes]
SETTINGS = {"task_name": "rte", "seed": 3, "learning_rate": 3e-05, "variant": "mine"}
LOSSES = [(100, 0.7), (200, 0.65), (300, 0.6)]


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))


def tidy_rows(settings: dict[str, Any], score: Any, losses: list, size: Any) -> list[dict[str, Any]]:
    shared = {"variant": settings["variant"], "seed": settings["seed"]}
    scored = {"task": settings["task_name"], "metric": "accuracy", "learning_rate": settings["learning_rate"]}
    first = shared | scored | {"value": score} | ({} if size is None else {"dev_examples": size})
    return [first] + [
        shared | {"metric": "finetuning_validation_loss", "step": step, "value": value} for step, value in losses
    ]


def tidy_csv(settings: dict, score: Any, losses: list, size: Any = None) -> Files:
    columns = ["variant", "task", "metric", "seed", "learning_rate", "value", "step", "dev_examples"]
    lines = [",".join(str(row.get(name, "")) for name in columns) for row in tidy_rows(settings, score, losses, size)]
    return {"a.csv": "\n".join([",".join(columns), *lines]).encode()}


def tidy_jsonl(settings: dict, score: Any, losses: list, size: Any = None) -> Files:
    return {"a.jsonl": "\n".join(map(json.dumps, tidy_rows(settings, score, losses, size))).encode()}


def parquet(rows: list[dict]) -> bytes:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{name: row.get(name) for name in columns} for row in rows]), stream)
    return stream.getvalue()


def tidy_parquet(settings: dict, score: Any, losses: list, size: Any = None) -> Files:
    return {"a.parquet": parquet(tidy_rows(settings, score, losses, size))}


def run_glue(settings: dict, score: Any, losses: list, size: Any = None) -> Files:
    card = (
        f"---\nbase_model: {settings['variant']}\nmodel-index:\n- results:\n  - dataset:\n"
        f"      name: GLUE {settings['task_name']}\n---\n"
        f"- learning_rate: {settings['learning_rate']}\n- seed: {settings['seed']}\n"
    )
    results = {"eval_accuracy": score} | ({} if size is None else {"eval_samples": size})
    state = {"log_history": [{"eval_loss": value, "step": step} for step, value in losses]}
    return {
        "r/all_results.json": json.dumps(results).encode(),
        "r/trainer_state.json": json.dumps(state).encode(),
        "r/README.md": card.encode(),
    }


def mlflow(settings: dict, score: Any, losses: list, size: Any = None) -> Files:
    run = "mlruns/1/ab12"
    lines = "".join(f"{1_700_000_000_000 + 1_000 * at} {value} {step}\n" for at, (step, value) in enumerate(losses))
    files = {
        "mlruns/1/meta.yaml": "experiment_id: '1'\nlifecycle_stage: active\n",
        f"{run}/meta.yaml": "run_id: ab12\nlifecycle_stage: active\nstart_time: 1700000000000\n",
        f"{run}/metrics/eval_accuracy": f"1700000090000 {score} 300\n",
        f"{run}/metrics/eval_loss": lines,
        **{f"{run}/params/{key}": str(value) for key, value in settings.items()},
    }
    if size is not None:
        files[f"{run}/params/eval_samples"] = str(size)
    return {path: content.encode() for path, content in files.items()}


def mlflow_csv(settings: dict, score: Any, losses: list, size: Any = None) -> Files:
    row = {"run_id": "ab12", "metrics.eval_accuracy": score} | {f"params.{k}": v for k, v in settings.items()}
    row |= {} if size is None else {"params.eval_samples": size}
    return {"runs.csv": (",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n").encode()}


def wandb_csv(settings: dict, score: Any, losses: list, size: Any = None) -> Files:
    row = {"Name": "calm-fox", "State": "finished", "Created": "x", "eval/accuracy": score, **settings}
    row |= {} if size is None else {"eval_samples": size}
    return {"runs.csv": (",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n").encode()}


def wandb_json(settings: dict, score: Any, losses: list, size: Any = None) -> Files:
    config = {key: {"value": value} for key, value in settings.items()}
    config |= {} if size is None else {"eval_samples": {"value": size}}
    history = [{"_step": n, "train/global_step": step, "eval/loss": value} for n, (step, value) in enumerate(losses)]
    run = {"name": "calm-fox", "config": config, "summary": {"eval/accuracy": score}, "history": history}
    return {"runs.json": json.dumps([run]).encode()}


def trackio_rows(score: Any, losses: list) -> list[dict]:
    logged = [{"eval/loss": value, "train/global_step": step} for step, value in losses]
    return [*logged, {"eval/accuracy": score, "train/global_step": 300}]


def as_trackio(value: Any) -> Any:
    """trackio.utils.serialize_values."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def trackio_db(settings: dict, score: Any, losses: list, size: Any = None, run_ids: bool = True) -> Files:
    connection = sqlite3.connect(":memory:")
    run_id, named = ("run_id TEXT NOT NULL, ", ["id-1"]) if run_ids else ("", [])
    connection.execute(
        f"CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, {run_id}timestamp TEXT NOT NULL, "
        "run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL)"
    )
    connection.execute(
        f"CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, {run_id}run_name TEXT NOT NULL, "
        "config TEXT NOT NULL, created_at TEXT NOT NULL)"
    )
    places = ", ".join("?" * (4 + len(named)))
    for step, row in enumerate(trackio_rows(score, losses)):
        written = json.dumps({key: as_trackio(value) for key, value in row.items()}).encode()
        values = [None, *named, f"2026-01-01T00:00:{step:02}+00:00", "calm-fox", step, written]
        connection.execute(f"INSERT INTO metrics VALUES (?, {places})", values)
    config = settings | ({} if size is None else {"eval_samples": size}) | {"_Username": "me"}
    values = [None, *named, "calm-fox", json.dumps(config).encode(), "2026-01-01T00:00:00+00:00"]
    connection.execute(f"INSERT INTO configs VALUES (?, {', '.join('?' * (3 + len(named)))})", values)
    connection.commit()
    content = bytearray(connection.serialize())
    content[18:20] = b"\2\2"  # as its PRAGMA journal_mode = WAL leaves it
    return {"trackio/glue.db": bytes(content)}


def trackio_parquet(settings: dict, score: Any, losses: list, size: Any = None) -> Files:
    shared = {"run_id": "id-1", "run_name": "calm-fox"}
    rows = [
        {"id": step, **shared, "timestamp": f"2026-01-01T00:00:{step:02}+00:00", "step": step, **row}
        for step, row in enumerate(trackio_rows(score, losses))
    ]
    config = settings | ({} if size is None else {"eval_samples": size})
    configs = [{"id": 1, **shared, "created_at": "2026-01-01T00:00:00+00:00", **config}]
    return {"trackio/glue.parquet": parquet(rows), "trackio/glue_configs.parquet": parquet(configs)}


Form = Callable[..., Files]
FORMS: dict[str, Form] = {
    form.__name__: form
    for form in (tidy_csv, tidy_jsonl, tidy_parquet, run_glue, mlflow, mlflow_csv, wandb_csv, wandb_json, trackio_db,
                 trackio_parquet)
}  # fmt: skip
WITH_CURVES = [name for name in FORMS if name not in ("mlflow_csv", "wandb_csv")]
TYPED = ["tidy_jsonl", "tidy_parquet", "run_glue", "wandb_json", "trackio_db", "trackio_parquet"]
every_form = pytest.mark.parametrize("form", FORMS)


def rows_of(made: Plan) -> list[dict[str, Any]]:
    return [row for run in made.runs for row in run.rows]


def scores(made: Plan) -> list[tuple]:
    return sorted((row["task"], row["metric"], row["value"]) for row in rows_of(made) if "task" in row)


def curve(made: Plan) -> list[tuple]:
    return sorted((row["step"], row["value"]) for row in rows_of(made) if "step" in row)


def test_every_reader_is_covered() -> None:
    assert {name.partition("_")[0] for name in FORMS} == {name.partition("_")[0] for name in READERS}


@every_form
def test_one_run_is_the_same_in_every_form(form: str) -> None:
    made = plan(FORMS[form](SETTINGS, 0.61, LOSSES))
    assert [str(bad) for bad in made.bad] == []
    assert made.left == made.notes == []
    assert scores(made) == [("rte", "accuracy", 0.61)]
    assert curve(made) == (LOSSES if form in WITH_CURVES else [])
    assert {row["variant"] for row in rows_of(made)} == {"mine"}


# C9: what is not finite ends its curve, and nothing else


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("form", WITH_CURVES)
def test_a_value_that_is_not_finite_ends_its_curve_and_nothing_else(form: str, value: float) -> None:
    files = FORMS[form](SETTINGS, 0.61, [*LOSSES[:1], (200, value), *LOSSES[2:]])
    made = plan(files)
    assert made.bad == []
    assert scores(made) == [("rte", "accuracy", 0.61)]
    assert curve(made) == LOSSES[:1]
    assert len(made.left) == 1
    place = {"run_glue": "r/trainer_state.json", "mlflow": "mlruns/1/ab12/metrics/eval_loss"}.get(
        form, next(iter(files))
    )
    assert made.left[0].startswith(place)
    assert "loss at step 200: the value is " in made.left[0]
    assert made.left[0].endswith("where the curve ends; this point and 1 after it")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_named(form: str, value: float) -> None:
    made = plan(FORMS[form](SETTINGS, value, []))
    assert made.runs == []
    said = str(made.bad[0])
    assert "expected a finite number" in said or "expected a fraction" in said
    assert "accuracy" in said or form.startswith("tidy")


# C11: names


SPELLINGS = {"sst2": ["SST-2", "SST2", "sst_2", "glue/sst2", "Sst 2"], "mnli": ["MNLI", "MNLI-m", "mnli_matched"],
             "mnli_mismatched": ["MNLI-mm", "mnli-mismatched", "MNLI mismatched"], "stsb": ["STS-B", "stsb"],
             "cola": ["CoLA", "COLA"]}  # fmt: skip


@pytest.mark.parametrize(("ours", "spelled"), [(ours, one) for ours, all_ in SPELLINGS.items() for one in all_])
def test_a_task_has_one_name_however_it_is_spelled(ours: str, spelled: str) -> None:
    for name, form in FORMS.items():
        if name == "run_glue":
            continue  # Its card and folder name tasks by one word; below.
        size = {"mnli": 9815, "mnli_mismatched": 9832}.get(ours)
        made = plan(form({**SETTINGS, "task_name": spelled}, 0.61, [], size))
        assert [row[0] for row in scores(made)] == [ours], name
    results = json.dumps({"eval_accuracy": 0.61, "eval_samples": TASKS[ours].dev_rows}).encode()
    made = plan({"r/all_results.json": results}, UserMetadata(variant="v", learning_rate=1e-5, task=spelled))
    assert [row[0] for row in scores(made)] == [ours]


@every_form
@pytest.mark.parametrize("unknown", ["sst", "SQuAD", "mnli2"])
def test_a_task_that_is_not_ours_is_refused_with_those_that_are(form: str, unknown: str) -> None:
    made = plan(FORMS[form]({**SETTINGS, "task_name": unknown}, 0.61, []))
    assert f"task is {unknown!r}; expected one of cola, mnli," in str(made.bad[0])


def test_every_task_is_known_by_its_name_and_its_title() -> None:
    for name in TASKS:
        assert task_name(name) == task_name(TASKS[name].title) == name


@pytest.mark.parametrize(
    ("key", "target"),
    [
        ("eval/Accuracy", (None, "accuracy")),
        ("eval_acc", (None, "accuracy")),
        ("eval/matthews_corrcoef", (None, "matthews_correlation")),
        ("SST-2/accuracy", ("sst2", "accuracy")),
        ("eval_accuracy_mm", ("mnli_mismatched", "accuracy")),
        ("mnli-mm/acc", ("mnli_mismatched", "accuracy")),
        ("train/accuracy", None),
        ("train_accuracy", None),
        ("macro_f1", None),
        ("eval_loss", None),
        ("inaccuracy", None),
    ],
)
def test_keys_of_tools_name_tasks_and_metrics(key: str, target: tuple | None) -> None:
    assert score_key(key) == target


@pytest.mark.parametrize(
    ("spelled", "ours"), [("Accuracy", "accuracy"), ("eval_accuracy", "accuracy"), ("acc", "accuracy")]
)
def test_the_tidy_form_knows_the_same_metrics(spelled: str, ours: str) -> None:
    content = tidy_csv(SETTINGS, 0.61, [])["a.csv"].replace(b"accuracy", spelled.encode())
    assert [row[1] for row in scores(plan({"a.csv": content}))] == [ours]
    bad = plan({"a.csv": content.replace(spelled.encode(), b"train_accuracy")}).bad
    assert "metric is 'train_accuracy'; expected one of accuracy" in str(bad[0])


# C13: numbers


@pytest.mark.parametrize("lax", ["1_0", "0x1f", "\u0663", "\uff11\uff10", "1,5", "1e", "1 0", "+-1", "\u00bd", "1d0"])
def test_what_python_alone_takes_for_a_number_is_none(lax: str) -> None:
    assert parsed(lax) is None
    for name, form in FORMS.items():
        if "," in lax and name.endswith("csv"):
            continue  # A comma divides cells.
        for key in ("seed", "learning_rate"):
            made = plan(form({**SETTINGS, key: lax}, 0.61, []))
            assert made.runs == [], (name, key)
            assert lax in str(made.bad[0]), (name, key)


@pytest.mark.parametrize("lax", ["0_6", "0x1", "\u0660.\u0666", "0.6.1"])
@pytest.mark.parametrize("form", ["tidy_csv", "mlflow", "mlflow_csv", "wandb_csv"])
def test_values_are_read_by_the_same_grammar(form: str, lax: str) -> None:
    made = plan(FORMS[form](SETTINGS, lax, []))
    assert made.runs == []
    assert lax in str(made.bad[0])
    if form in WITH_CURVES:
        steps = plan(FORMS[form](SETTINGS, 0.61, [(lax, 0.5)]))
        assert lax in str(steps.bad[0])


@pytest.mark.parametrize("written", ["42", "42.0", "4.2e1", "+42", " 42 ", ".5", "5.", "1E-3", "-0"])
def test_numbers_are_taken_as_tools_write_them(written: str) -> None:
    assert parsed(written) == float(written)


# C12: scores that are no numbers


@pytest.mark.parametrize("form", TYPED)
def test_a_score_given_as_a_text_is_a_bad_row(form: str) -> None:
    made = plan(FORMS[form](SETTINGS, "0.61", []))
    assert made.runs == []
    assert "the text '0.61'" in str(made.bad[0])


@pytest.mark.parametrize("form", ["tidy_jsonl", "run_glue", "wandb_json", "trackio_db"])
def test_a_score_given_as_null_is_a_bad_row(form: str) -> None:
    made = plan(FORMS[form](SETTINGS, None, []))
    assert made.runs == []
    assert "null" in str(made.bad[0]) or "says no value" in str(made.bad[0])


@pytest.mark.parametrize("form", ["run_glue", "trackio_db"])
@pytest.mark.parametrize("value", [None, "high", True])
def test_a_point_of_a_curve_that_is_no_number_is_named_with_its_step(form: str, value: Any) -> None:
    made = plan(FORMS[form](SETTINGS, 0.61, [(100, 0.7), (200, value)]))
    assert "loss at step 200: value is " in str(made.bad[0])


# C7: the evidence beside a number


@every_form
def test_the_size_of_a_dev_set_tells_which_of_mnli_it_is(form: str) -> None:
    settings = {**SETTINGS, "task_name": "mnli"}
    assert [row[0] for row in scores(plan(FORMS[form](settings, 0.8, [], 9815)))] == ["mnli"]
    made = plan(FORMS[form](settings, 0.8, [], 9832))
    if form.startswith("tidy"):
        assert "dev_examples 9832, the size of mnli_mismatched" in str(made.bad[0])
    else:
        assert [(row["task"], row["dev_examples"]) for row in rows_of(made)] == [("mnli_mismatched", 9832)]
    contradiction = plan(FORMS[form]({**SETTINGS, "task_name": "mnli_mismatched"}, 0.8, [], 9815))
    assert "dev_examples 9815, the size of mnli;" in str(contradiction.bad[0])


def test_run_glue_of_old_versions_is_told_by_its_state_or_asked() -> None:
    told = UserMetadata(variant="v", learning_rate=1e-5, seed=0)
    results = {"mnli/all_results.json": json.dumps({"eval_accuracy": 0.845}).encode()}
    history = [{"eval_accuracy": value, "eval_loss": 0.3, "step": 30} for value in (0.84, 0.845)]
    state = {"mnli/trainer_state.json": json.dumps({"log_history": history}).encode()}
    found = plan({**results, **state}, told)
    assert scores(found) == [("mnli", "accuracy", 0.84), ("mnli_mismatched", "accuracy", 0.845)]
    assert "matched dev set (eval_samples 9,815) or its mismatched one" in str(plan(results, told).bad[0])
    answered = plan(results, UserMetadata(variant="v", learning_rate=1e-5, task="MNLI-mm"))
    assert scores(answered) == [("mnli_mismatched", "accuracy", 0.845)]


def test_files_of_two_runs_in_one_folder_are_named() -> None:
    files = run_glue(SETTINGS, 0.61, LOSSES)
    other = json.dumps({"eval_accuracy": 0.7}).encode()
    assert "eval_accuracy is 0.7, but 0.61 in all_results.json" in str(
        plan({**files, "r/eval_results.json": other}).bad[0]
    )
    files["r/all_results.json"] = json.dumps({"eval_accuracy": 0.61, "epoch": 3.0}).encode()
    files["r/trainer_state.json"] = json.dumps({"epoch": 5.0, "log_history": []}).encode()
    assert "is of epoch 5, but all_results.json of epoch 3" in str(plan(files).bad[0])


# C8, C9: MLflow's lifecycle and steps


@pytest.mark.parametrize("stage", ["deleted", "'deleted'", '"deleted"'])
@pytest.mark.parametrize("meta", ["mlruns/1/meta.yaml", "mlruns/1/ab12/meta.yaml"])
def test_what_was_deleted_in_mlflow_is_left_out_and_said(meta: str, stage: str) -> None:
    files = mlflow(SETTINGS, 0.61, LOSSES)
    files[meta] = files[meta].replace(b"active", stage.encode())
    made = plan(files)
    assert (made.runs, made.bad) == ([], [])
    assert made.left == ["mlruns/1/ab12: the run, or its experiment, was deleted in MLflow"]
    trash = {path.replace("mlruns/", "mlruns/.trash/"): c for path, c in mlflow(SETTINGS, 0.61, LOSSES).items()}
    assert plan(trash).runs == []


def test_steps_that_are_all_0_keep_their_order_and_are_said() -> None:
    files = mlflow(SETTINGS, 0.61, [(0, 0.9), (0, 0.5), (0, 0.7)])
    made = plan(files)
    assert made.bad == made.left == []
    assert curve(made) == [(0, 0.9), (1, 0.5), (2, 0.7)]
    assert "metrics/eval_loss" in made.notes[0]
    assert "steps are all 0" in made.notes[0]
    old = plan({**files, "mlruns/1/ab12/metrics/eval_loss": b"1700000001000 0.9\n1700000002000 0.5\n"})
    assert curve(old) == [(0, 0.9), (1, 0.5)]


def test_mlflow_is_read_by_step_and_time_and_not_by_the_order_of_its_lines() -> None:
    files = mlflow(SETTINGS, 0.61, [])
    folder = "mlruns/1/ab12/metrics"
    files[f"{folder}/eval_accuracy"] = b"1700000005000 0.7 300\n1700000009000 0.6 200\n1700000004000 0.65 300\n"
    files[f"{folder}/eval_loss"] = b"1700000003000 0.5 20\n1700000001000 0.9 10\n1700000004000 0.4 20 glue d1\n"
    made = plan(files)
    assert scores(made) == [("rte", "accuracy", 0.7)]
    assert curve(made) == [(10, 0.9), (20, 0.4)]
    assert any("eval_loss: other values at step 20, of which the last is taken" in left for left in made.left)


# C10: what is left out


@pytest.mark.parametrize("form", ["mlflow", "wandb_json", "trackio_db", "run_glue"])
def test_what_is_left_out_is_what_is_not_taken(form: str) -> None:
    files = FORMS[form](SETTINGS, 0.61, LOSSES)
    assert plan(files).left == []
    if form == "mlflow":
        files["mlruns/1/ab12/metrics/gpu_power"] = b"1700000000000 nan 1\n"
    elif form == "wandb_json":
        (run,) = json.loads(files["runs.json"])
        run["summary"] |= {"gpu_power": 200, "eval/loss": 0.6, "nested": {"gpu_power": 3}}
        files["runs.json"] = json.dumps([run]).encode()
    elif form == "trackio_db":
        files = trackio_db(SETTINGS, 0.61, LOSSES)
        connection = sqlite3.connect(":memory:")
        content = bytearray(files["trackio/glue.db"])
        content[18:20] = b"\1\1"
        connection.deserialize(bytes(content))
        connection.execute(
            "UPDATE metrics SET metrics = json_set(CAST(metrics AS TEXT), '$.gpu_power', 3) WHERE id = 1"
        )
        connection.commit()
        files["trackio/glue.db"] = connection.serialize()
    else:
        results = json.loads(files["r/all_results.json"])
        files["r/all_results.json"] = json.dumps(results | {"eval_gpu_power": 3.0, "eval_loss": 0.6}).encode()
    made = plan(files)
    assert made.bad == []
    assert curve(made) == LOSSES
    assert len(made.left) == 1
    assert "gpu_power" in made.left[0]
    assert "loss" not in made.left[0]


@pytest.mark.parametrize("form", ["wandb_csv", "mlflow_csv"])
def test_settings_that_are_used_are_not_left_out(form: str) -> None:
    assert plan(FORMS[form](SETTINGS, 0.61, [], 277)).left == []


# C14: two that could be the score


@pytest.mark.parametrize("second", ["accuracy", "test/accuracy", "best_accuracy", "eval/acc", "rte/accuracy"])
def test_two_metrics_that_could_be_the_score_are_asked_about(second: str) -> None:
    header, row = wandb_csv(SETTINGS, 0.61, [])["runs.csv"].decode().split("\n")[:2]
    made = plan({"runs.csv": f"{header},{second}\n{row},0.7\n".encode()})
    assert made.runs == []
    assert f"eval/accuracy (0.61) and {second} (0.7) could both be the accuracy of rte; keep one" in str(made.bad[0])
    (run,) = json.loads(wandb_json(SETTINGS, 0.61, [])["runs.json"])
    run["summary"][second] = 0.7
    assert "could both be" in str(plan({"runs.json": json.dumps([run]).encode()}).bad[0])
    twice = plan({"runs.csv": f"{header},eval/accuracy\n{row},0.7\n".encode()})
    assert "has two columns 'eval/accuracy'" in " ".join(map(str, twice.bad))


# C15: files that are something else


def workbook() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return stream.getvalue()


DISGUISES: dict[str, Callable[[bytes], bytes]] = {
    "is UTF-16 text": lambda content: content.decode().encode("utf-16"),
    "is UTF-16 text,": lambda content: content.decode().encode("utf-16-le"),
    "is UTF-16 text, as": lambda content: content.decode().encode("utf-16-be"),
    "is UTF-32 text": lambda content: content.decode().encode("utf-32"),
    "is an Excel workbook": lambda content: workbook(),
    "is a gzip archive; unpack it": gzip.compress,
    "is no UTF-8 text: its line": lambda content: content + "\ncaf\u00e9\n".encode("latin-1"),
    "holds NUL characters": lambda content: content + b"\0",
}
TEXTS = [
    (name, path)
    for name, form in FORMS.items()
    for path in form(SETTINGS, 0.61, LOSSES)
    if not path.endswith((".parquet", ".db"))
]


@pytest.mark.parametrize("said", DISGUISES)
@pytest.mark.parametrize(("form", "path"), TEXTS)
def test_a_file_of_another_encoding_is_named_with_what_to_do(form: str, path: str, said: str) -> None:
    files = FORMS[form](SETTINGS, 0.61, LOSSES)
    if "/params/" in path and said.startswith("is UTF-16 text,"):
        return  # A single word or digit without a mark may be any encoding; the NUL in it is named, below.
    files[path] = DISGUISES[said](files[path])
    made = plan(files)
    assert made.runs == []
    told = [str(bad) for bad in made.bad if bad.file == path]
    assert len(told) == 1
    assert said in told[0]
    assert "codec" not in told[0]


def test_a_word_of_utf_16_without_a_mark_is_named_too() -> None:
    files = mlflow(SETTINGS, 0.61, LOSSES)
    path = "mlruns/1/ab12/params/seed"
    files[path] = "3".encode("utf-16-le")
    assert "NUL characters" in str(plan(files).bad[0])


OTHER_CONTENTS = {
    "nothing": b"",
    "text": b"run_name,step\n",
    "gzip archive": gzip.compress(b"x"),
    "workbook": workbook(),
    "damaged Parquet": b"PAR1 damaged",
}


@pytest.mark.parametrize("name", ["a.parquet", "a.db", "t/glue.db"])
@pytest.mark.parametrize("content", OTHER_CONTENTS)  # By name: archives hold the time at which they were made.
def test_a_table_that_is_something_else_is_named(name: str, content: str) -> None:
    (bad,) = plan({name: OTHER_CONTENTS[content]}).bad
    assert bad.file == name
    assert "Arrow" not in bad.problem
    assert "sqlite3." not in bad.problem


# Trackio


def test_a_database_of_before_run_ids_and_one_that_is_still_written() -> None:
    old = plan(trackio_db(SETTINGS, 0.61, LOSSES, run_ids=False))
    assert (old.bad, scores(old), curve(old)) == ([], [("rte", "accuracy", 0.61)], LOSSES)
    files = trackio_db(SETTINGS, 0.61, LOSSES)
    writing = plan({**files, "trackio/glue.db-wal": b"frames"})
    assert "wal_checkpoint(TRUNCATE)" in str(writing.bad[0])
    assert plan({**files, "trackio/glue.db-wal": b""}).bad == []


def test_an_export_beside_its_database_is_left() -> None:
    made = plan({**trackio_db(SETTINGS, 0.61, LOSSES), **trackio_parquet(SETTINGS, 0.5, LOSSES)})
    assert (made.bad, scores(made)) == ([], [("rte", "accuracy", 0.61)])
    assert made.left == ["trackio/glue.parquet: an export of glue.db, which is read itself"]


def test_a_static_page_of_trackio() -> None:
    metrics, configs = trackio_parquet(SETTINGS, 0.61, LOSSES).values()
    system = parquet([{"id": 1, "run_id": "id-1", "timestamp": "x", "run_name": "calm-fox", "gpu": 3.0}])
    files = {"p/metrics.parquet": metrics, "p/aux/configs.parquet": configs, "p/aux/system_metrics.parquet": system,
             "p/runs.json": b"[]", "p/settings.json": b"{}"}  # fmt: skip
    made = plan(files)
    assert (made.bad, scores(made), curve(made)) == ([], [("rte", "accuracy", 0.61)], LOSSES)
    assert made.left == ["p/aux/system_metrics.parquet: Trackio's system_metrics, which are no results"]


def test_a_database_of_another_program_is_named() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE experiments (id INTEGER)")
    (bad,) = plan({"mlflow.db": connection.serialize()}).bad
    assert (
        str(bad) == "mlflow.db: is an SQLite database without Trackio's table metrics; expected a project of Trackio."
    )


def test_a_row_names_all_of_its_faults_at_once() -> None:
    row = {"variant": "mine", "task": "rte", "metric": "accuracy", "seed": -1, "value": "high", "sead": 3, "lr": 1e-4}
    with pytest.raises(InvalidValue) as fault:
        check_row(row)
    said = str(fault.value)
    for part in ("the columns 'lr' and 'sead' are not known", "says no learning_rate", "seed is -1", "value is 'high'"):
        assert part in said


def test_what_earlier_rows_said_changes_no_row() -> None:
    """A text may be good in one column and bad in another, or of one kind of row and not of the other."""
    score = {"variant": "rte", "task": "rte", "metric": "accuracy", "seed": "3", "learning_rate": "2e-5", "value": ".5"}
    point = {"variant": "rte", "metric": "validation_loss", "seed": "3", "step": "3", "value": "3"}
    bad = {**score, "task": "3", "seed": "rte"}
    wrong_metric = {**point, "metric": "accuracy"}
    rows = [score, point, bad, wrong_metric, {**score, "value": 0.5}, {**score, "seed": True}, score, bad, point]
    checked: CheckedTexts = {}
    for row in rows:
        try:
            alone: Any = check_row(row)
        except InvalidValue as fault:
            alone = str(fault)
        try:
            after_others: Any = check_row(row, checked)
        except InvalidValue as fault:
            after_others = str(fault)
        assert after_others == alone, row
    assert len(checked) == 11, "the good texts of both kinds, each once"
