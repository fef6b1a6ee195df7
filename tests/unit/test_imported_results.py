"""Proves that results made elsewhere are taken as they are, or refused by file and line with nothing written.

The files are laid out as the tools document and write them: run_glue.py of transformers (all_results.json,
trainer_state.json, the model card), MLflow's file store and runs table, W&B's runs table and API export.
"""

import io
import json
import os
import random
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import figures, glue_comparison, store_build
from analysis.core.errors import AddendError, ImportProblem, NoResults
from analysis.figures import drawing
from analysis.figures.runs import all_runs as runs
from analysis.figures.training import trainings as training
from analysis.imports.limits import MAX_BAD
from analysis.imports.plan import execute, gather, plan
from analysis.imports.reader import READERS, UserMetadata
from analysis.store import read

HEADER = "variant,task,metric,seed,learning_rate,value\n"
CSV = HEADER + "mine,rte,accuracy,0,2e-5,0.61\nmine,rte,accuracy,1,2e-5,0.63\nbert_a,rte,accuracy,0,2e-5,0.5\n"
CARD = """---
library_name: transformers
license: apache-2.0
base_model: google-bert/bert-base-cased
tags:
- generated_from_trainer
datasets:
- glue
model-index:
- name: mrpc
  results:
  - task:
      name: Text Classification
      type: text-classification
    dataset:
      name: GLUE MRPC
      type: glue
      args: mrpc
---

# mrpc

### Training hyperparameters

The following hyperparameters were used during training:
- learning_rate: 2e-05
- train_batch_size: 32
- eval_batch_size: 8
- seed: 42
- num_epochs: 3.0
"""
RESULTS = {
    "epoch": 3.0,
    "eval_accuracy": 0.8431372549019608,
    "eval_combined_score": 0.8643,
    "eval_f1": 0.8885017421602788,
    "eval_loss": 0.3806,
    "eval_runtime": 1.2,
    "eval_samples": 408,
    "train_loss": 0.31,
    "train_runtime": 61.5,
    "train_samples": 3668,
}
STATE = {
    "best_metric": None,
    "epoch": 3.0,
    "global_step": 345,
    "log_history": [
        {"epoch": 1.0, "grad_norm": 5.1, "learning_rate": 1.3e-05, "loss": 0.52, "step": 115},
        {"epoch": 1.0, "eval_accuracy": 0.80, "eval_loss": 0.42, "eval_runtime": 1.2, "step": 115},
        {"epoch": 2.0, "loss": 0.31, "step": 230},
        {"epoch": 3.0, "eval_accuracy": 0.84, "eval_loss": 0.38, "step": 345},
        {"epoch": 3.0, "train_loss": 0.31, "train_runtime": 61.5, "step": 345},
    ],
    "train_batch_size": 32,
}
GLUE = {
    "out/mrpc/all_results.json": json.dumps(RESULTS).encode(),
    "out/mrpc/trainer_state.json": json.dumps(STATE).encode(),
    "out/mrpc/README.md": CARD.encode(),
    "out/mrpc/checkpoint-345/trainer_state.json": json.dumps(STATE).encode(),
}
META = "artifact_uri: mlruns/1/ab12/artifacts\nend_time: 1700000100000\nexperiment_id: '1'\nlifecycle_stage: active\n"
MLFLOW = {
    "mlruns/1/meta.yaml": b"artifact_location: mlruns/1\nexperiment_id: '1'\nname: glue\n",
    "mlruns/1/ab12/meta.yaml": (META + "run_id: ab12\nrun_name: calm-fox\nstart_time: 1700000000000\n").encode(),
    "mlruns/1/ab12/metrics/eval_accuracy": b"1700000050000 0.6 100\n1700000060000 0.66 200\n",
    "mlruns/1/ab12/metrics/eval_loss": b"1700000050000 0.7 100\n1700000060000 0.65 200\n",
    "mlruns/1/ab12/metrics/gpu_power": b"1700000050000 200 1\n",
    "mlruns/1/ab12/params/task_name": b"RTE",
    "mlruns/1/ab12/params/seed": b"3",
    "mlruns/1/ab12/params/learning_rate": b"3e-05",
    "mlruns/1/ab12/params/model_name_or_path": b"bert-tiny",
    "mlruns/1/ab12/tags/mlflow.runName": b"calm-fox",
}
MLFLOW_CSV = (
    "run_id,experiment_id,status,artifact_uri,start_time,end_time,metrics.eval_accuracy,metrics.eval_loss,"
    "params.task_name,params.seed,params.learning_rate,params.variant,tags.mlflow.runName\n"
    "ab12,1,FINISHED,x,2026-01-01,2026-01-01,0.66,0.65,rte,3,3e-05,sum,calm-fox\n"
    "cd34,1,FINISHED,x,2026-01-01,2026-01-01,0.71,0.6,rte,4,3e-05,sum,wild-hen\n"
)
WANDB_CSV = (
    '"Name","State","Notes","User","Tags","Created","Runtime","Sweep","seed","variant","learning_rate","eval/loss",'
    '"rte/accuracy","cola/matthews_correlation"\n'
    '"fresh-sea-1","finished","-","me","","2026-01-01T00:00:00.000Z","61","","0","sum","0.0001","0.6","0.61","0.31"\n'
)
WANDB_JSON = [
    {
        "name": "fresh-sea-1",
        "config": {"variant": {"value": "sum", "desc": None}, "seed": {"value": 0}},
        "summary": {"_step": 200, "train/loss": 6.0, "eval/loss": 5.9},
        "history": [
            {"_step": 100, "_runtime": 10.5, "train/loss": 6.5, "eval/loss": 6.4},
            {"_step": 200, "_runtime": 20.5, "train/loss": 6.0, "eval/loss": 5.9},
        ],
    }
]


def text(content: str, name: str = "a.csv") -> dict[str, bytes]:
    return {name: content.encode()}


def stored(sql: str) -> list[tuple]:
    store_build.refresh()
    return list(read.query(sql).itertuples(index=False, name=None))


def nothing_written(data: Path) -> bool:
    return not list((data / "imported").rglob("*")) if (data / "imported").exists() else True


# What is taken


def test_a_tidy_table_is_in_every_table_and_statistic(data):
    made = plan(text(CSV))
    assert (made.bad, made.rows, len(made.runs), made.known) == ([], 3, 3, 0)
    assert nothing_written(data), "a plan is a dry run"
    execute(made)
    assert stored("SELECT variant, seed, value, preset FROM own_scores ORDER BY ALL") == [
        ("bert_a", 0, 0.5, "imported"),
        ("mine", 0, 0.61, "imported"),
        ("mine", 1, 0.63, "imported"),
    ]
    assert stored("SELECT title, combines FROM variants WHERE variant = 'mine'") == [("mine", "imported")]
    study = glue_comparison.study("imported")
    cell = study.cells.set_index(["variant", "task"]).loc[("mine", "rte")]
    assert cell.value == pytest.approx(62.0)
    assert set(runs.all_runs().status) == {"imported"}


def test_the_same_twice_adds_nothing_twice_in_whatever_file_it_comes(data):
    execute(plan(text(CSV)))
    again = plan(text(CSV, "other.csv"))
    assert (again.runs, again.known) == ([], 3)
    assert execute(again) is None
    more = plan(text(CSV + "mine,rte,accuracy,2,2e-5,0.7\n"))
    assert (more.rows, more.known) == (1, 3)
    execute(more)
    assert stored("SELECT count(*) FROM scores") == [(4,)]


def test_all_tidy_forms_give_the_same(data, tmp_path):
    rows = [
        {"variant": "mine", "task": "rte", "metric": "accuracy", "seed": s, "learning_rate": 2e-5, "value": v}
        for s, v in ((0, 0.61), (1, 0.63))
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    forms = [
        text(HEADER + "mine,rte,accuracy,0,2e-5,0.61\nmine,rte,accuracy,1,2e-5,0.63\n"),
        text(
            "\ufeff" + HEADER.replace("\n", "\r\n") + "mine,rte,accuracy,0,2e-5,0.61\r\nmine,rte,accuracy,1,2e-5,0.63"
        ),
        text("\n".join(map(json.dumps, rows)), "a.jsonl"),
        {"a.parquet": (tmp_path / "a.parquet").read_bytes()},
    ]
    ids = {tuple(run.run_id for run in plan(form).runs) for form in forms}
    assert len(ids) == 1
    assert len(ids.pop()) == 2


def test_curves_stand_with_the_trainings(data):
    lines = "".join(
        f"{v},validation_loss,0,{s},{end}\n" for v, end in (("bert_a", 6.2), ("mine", 5.1)) for s in (0, 100)
    )
    execute(plan(text("variant,metric,seed,step,value\n" + lines), UserMetadata(preset="theirs")))
    store_build.refresh()
    found = training.index()
    assert found.preset.tolist() == ["imported-theirs"] * 2
    assert set(found.variant) == {"bert_a", "mine"}
    assert set(found.told) == {"settings not recorded"}


@pytest.mark.parametrize("seconds", [None, 5.0])
def test_curves_that_do_not_say_their_seconds_are_compared_by_their_steps_alone(data, seconds):
    rows = [
        {"variant": name, "metric": "validation_loss", "seed": seed, "step": step, "value": end + 100 / step}
        for name, end in (("bert_a", 5.0), ("mine", 4.5), ("tupe_a", 4.0))
        for seed in (0, 1)
        for step in (100, 200, 300)
    ]
    execute(plan(text("\n".join(json.dumps(row | {"seconds": seconds}) for row in rows), "a.jsonl")))
    store_build.refresh()
    params = {"preset": "imported", "objective": "masked", "recipe": "", "rate": "", "baseline": "bert_a"}
    asked = params | {"variants": ("mine",)}
    if seconds is None:
        for axis in ("seconds", "tokens"):
            with pytest.raises(NoResults, match=axis):
                figures.FIGURES["training_curves"].of(asked | {"axis": axis})
    else:
        curves = figures.FIGURES["training_curves"].of(asked | {"axis": "seconds"})
        assert "Reached by" not in curves.caption
        assert len(curves.frame()) == 6
        drawing.compose(curves).to_dict()
    with pytest.raises(NoResults, match="variance"):
        figures.FIGURES["training_scores"].of(asked | {"baseline": "bert_a"})
    soon = figures.FIGURES["training_convergence"].of(params)
    assert soon.frame().groupby("axis").n.max().to_dict() == {"step": 2, "seconds": 0}
    drawing.compose(soon).to_dict()


INJECTED = ("; touch ran;", "$(touch ran)", "`touch ran`", "'; touch ran #", '"; touch ran #')


@pytest.mark.parametrize("name", INJECTED)
def test_a_command_that_names_what_was_brought_runs_nothing_else(data, tmp_path, name):
    """Bash reads the commands that pages show to be copied; python does nothing in it."""
    row = {"variant": name, "preset": name, "metric": "validation_loss", "seed": 0, "value": 6.0}
    execute(plan(text("\n".join(json.dumps(row | {"step": step}) for step in (100, 200)), f"{name}.jsonl")))
    ((made,),) = stored("SELECT command FROM runs")
    preset = f"imported-{name}"
    params = {"preset": preset, "objective": "masked", "recipe": "", "rate": "", "variants": (name,), "axis": "step"}
    shown = [made, figures.FIGURES["training_curves"].of(params | {"baseline": ""}).command]
    for kind, asked in (
        ("training_scores", params),
        ("training_gap", params),
        ("training_costs", params),
        ("terms_heads", {"model": name, "corpus": name, "measure": "share", "layer": 0}),
        ("vision_layers", {"stored": name, "measure": "share", "group": "four"}),
    ):
        with pytest.raises(AddendError, match="python -m analysis") as told:
            figures.FIGURES[kind].of(asked)
        shown.append("python" + str(told.value).rpartition("python")[2])
    for command in shown:
        subprocess.run(["bash", "-c", f"python() {{ :; }}\n{command}"], cwd=tmp_path, capture_output=True, check=False)
        assert not (tmp_path / "ran").exists(), command


def test_a_folder_of_run_glue(data):
    made = plan(GLUE)
    assert made.bad == []
    execute(made)
    assert stored("SELECT variant, task, metric, value, seed, finetune_seed, learning_rate, train_examples, "
                  "dev_examples, pretraining FROM scores ORDER BY metric") == [
        ("google-bert/bert-base-cased", "mrpc", "accuracy", 0.8431372549019608, 0, 42, 2e-5, 3668, 408,
         "google-bert/bert-base-cased"),
        ("google-bert/bert-base-cased", "mrpc", "f1", 0.8885017421602788, 0, 42, 2e-5, 3668, 408,
         "google-bert/bert-base-cased"),
    ]  # fmt: skip
    assert stored("SELECT metric, step, value FROM curves ORDER BY ALL") == [
        ("finetuning_training_loss", 115, 0.52),
        ("finetuning_training_loss", 230, 0.31),
        ("finetuning_validation_loss", 115, 0.42),
        ("finetuning_validation_loss", 345, 0.38),
    ]
    assert training.index().empty, "a fine-tuning is no pre-training"
    (run,) = stored("SELECT run_id FROM runs WHERE kind = 'curves'")
    assert "imported run" in figures.FIGURES["runs_curve"].of({"run": run[0]}).caption


def test_a_folder_of_run_glue_without_a_card_needs_to_be_told(data):
    bare = {"mrpc/all_results.json": GLUE["out/mrpc/all_results.json"]}
    assert [str(bad) for bad in plan(bare).bad] == [
        "mrpc/all_results.json: does not say which model it is; give the variant"
    ]
    assert "says no learning_rate" in str(plan(bare, UserMetadata(variant="mine")).bad[0])
    made = plan(bare, UserMetadata(variant="mine", learning_rate=2e-5))
    assert made.bad == []
    assert {row["task"] for run in made.runs for row in run.rows} == {"mrpc"}
    elsewhere = {"x/all_results.json": GLUE["out/mrpc/all_results.json"]}
    assert "does not say its task" in str(plan(elsewhere, UserMetadata(variant="mine")).bad[0])


def test_mnli_of_run_glue_has_two_dev_sets(data):
    results = {"eval_accuracy": 0.83, "eval_accuracy_mm": 0.84, "eval_samples": 9815}
    made = plan({"mnli/all_results.json": json.dumps(results).encode()}, UserMetadata(variant="v", learning_rate=1e-5))
    rows = [(row["task"], row["value"]) for run in made.runs for row in run.rows]
    assert sorted(rows) == [("mnli", 0.83), ("mnli_mismatched", 0.84)]


def test_the_file_store_of_mlflow(data):
    made = plan(MLFLOW)
    assert made.bad == []
    assert made.left == ["mlruns/1/ab12/meta.yaml: calm-fox: eval_accuracy before its last value, gpu_power"]
    execute(made)
    assert stored("SELECT variant, task, value, seed, finetune_seed, learning_rate FROM scores") == [
        ("bert-tiny", "rte", 0.66, 0, 3, 3e-5)
    ]
    assert stored("SELECT metric, step, seconds, value FROM curves ORDER BY step") == [
        ("finetuning_validation_loss", 100, 50.0, 0.7),
        ("finetuning_validation_loss", 200, 60.0, 0.65),
    ]


def test_the_runs_table_of_mlflow(data):
    made = plan(text(MLFLOW_CSV))
    assert made.bad == []
    assert [(row["variant"], row["finetune_seed"], row["value"]) for run in made.runs for row in run.rows] == [
        ("sum", 3, 0.66),
        ("sum", 4, 0.71),
    ]


def test_the_runs_table_of_wandb(data):
    made = plan(text(WANDB_CSV))
    assert made.bad == []
    rows = [(row["task"], row["metric"], row["value"]) for run in made.runs for row in run.rows]
    assert rows == [("rte", "accuracy", 0.61), ("cola", "matthews_correlation", 0.31)]


def test_runs_of_wandb_with_their_history(data):
    made = plan({"runs.json": json.dumps(WANDB_JSON).encode()})
    assert made.bad == []
    execute(made)
    assert stored("SELECT variant, metric, step, seconds, value FROM curves ORDER BY ALL") == [
        ("sum", "training_loss", 100, 10.5, 6.5),
        ("sum", "training_loss", 200, 20.5, 6.0),
        ("sum", "validation_loss", 100, 10.5, 6.4),
        ("sum", "validation_loss", 200, 20.5, 5.9),
    ]
    assert training.index().variant.tolist() == ["sum"]


# What is not


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("mine,rte,accuracy,0,2e-5,61", "value is 61; expected a fraction from 0 to 1, so 0.843 rather than 84.3."),
        ("mine,rte,accuracy,0,2e-5,-0.1", "value is -0.1; expected a fraction from 0 to 1"),
        ("mine,rte,accuracy,0,2e-5,nan", "value is 'nan'; expected a finite number."),
        ("mine,rte,accuracy,0,2e-5,", "says no value; expected variant, task, metric, seed, learning_rate, value."),
        ("mine,rte,accuracy,x,2e-5,0.5", "seed is 'x'; expected a whole number from 0."),
        ("mine,rte,accuracy,1.5,2e-5,0.5", "seed is '1.5'; expected a whole number from 0."),
        ("mine,rte,accuracy,9e99,2e-5,0.5", "seed is '9e99'; expected a whole number from 0."),
        ("mine,rte,perplexity,0,2e-5,0.5", "metric is 'perplexity'; expected one of accuracy, f1,"),
        (",rte,accuracy,0,2e-5,0.5", "says no variant;"),
        ("mine,,accuracy,0,2e-5,0.5", "the row says neither task nor step; expected one of them."),
        ("majority,rte,accuracy,0,2e-5,0.5", "variant is 'majority'"),
        ("a\u202eb,rte,accuracy,0,2e-5,0.5", "expected a name of 1 to 80 visible characters."),
        (f"{'x' * 81},rte,accuracy,0,2e-5,0.5", "expected a name of 1 to 80 visible characters."),
        ("mine,rte,accuracy,0,2e-5", "has 5 cells; expected 6, as the header has"),
        ("ok,rte,accuracy,0,2e-5,0.6", "gives 0.6 where a.csv, line 2 gives 0.5 for the same run."),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_by_its_line_and_nothing_is_written(data, row, said):
    made = plan(text(f"{HEADER}ok,rte,accuracy,0,2e-5,0.5\n{row}\n"))
    assert len(made.bad) == 1
    assert str(made.bad[0]).startswith("a.csv, line 3: ")
    assert said in str(made.bad[0])
    assert made.runs == []
    with pytest.raises(ImportProblem, match=r"Nothing was imported: 1 bad row"):
        execute(made)
    assert nothing_written(data)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (text(""), "expected a header row"),
        (text("a,b\n1,2\n"), "the columns 'a' and 'b' are not known"),
        (text("a,variant\n1,2\n"), "the column 'a' is not known"),
        (text("variant,variant\n"), "a header row that names each column once"),
        ({"a.csv": b"\xff\xfe\x00variant"}, "could not be read"),
        (text('variant,task\n"unclosed'), "could not be read"),
        (text("{}\n", "a.jsonl"), "neither task nor step"),
        (text("[1]\n", "a.jsonl"), "is no JSON object"),
        (text("{\n", "a.jsonl"), "is no JSON;"),
        (text("[" * 100_000, "a.jsonl"), "is no JSON;"),
        (text('{"variant": 1e999}', "a.jsonl"), "neither task nor step"),
        ({"a.parquet": b"PAR1"}, "could not be read"),
        (text("{}", "a.json"), "is of no known form; expected"),
        (text("hello", "a.txt"), "is of no known form; expected"),
        ({"x/all_results.json": b"[1]"}, "is no JSON object; expected what run_glue.py writes"),
        ({**MLFLOW, "mlruns/1/ab12/metrics/eval_loss": b"one two\n"}, "expected milliseconds, value and step"),
    ],
)
def test_a_file_that_cannot_be_taken_is_named(data, files, said):
    made = plan(files)
    assert made.bad
    assert said in str(made.bad[0])
    assert made.runs == []


def test_a_parquet_of_another_schema_is_named(data, tmp_path):
    pq.write_table(pa.table({"variant": [["a"]], "task": ["rte"]}), tmp_path / "a.parquet")
    assert "lists or structures" in str(plan({"a.parquet": (tmp_path / "a.parquet").read_bytes()}).bad[0])


def test_another_value_for_what_is_stored_is_refused(data):
    execute(plan(text(CSV)))
    made = plan(text(CSV.replace("0.63", "0.64")))
    assert [str(bad) for bad in made.bad] == ["a.csv, line 3: is stored already with the value 0.63, here 0.64."]


def test_a_good_file_waits_for_a_bad_one(data):
    made = plan({**text(CSV), **text(HEADER + "mine,rte,accuracy,0,2e-5,7\n", "b.csv")})
    assert made.runs == []
    assert made.bad[0].file == "b.csv"


def test_an_import_that_fails_half_way_leaves_nothing(data, monkeypatch):
    from analysis.store import files

    made, original, count = plan(text(CSV)), files.write, []

    def fails(*given, **more):
        count.append(1)
        if len(count) == 2:
            raise OSError(28, "No space left on device")
        return original(*given, **more)

    monkeypatch.setattr(files, "write", fails)
    with pytest.raises(AddendError, match="No space left on device"):
        execute(made)
    assert nothing_written(data)


def test_paths_are_gathered_with_their_folders_and_without_weights(tmp_path):
    for name, content in GLUE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "out/mrpc/training_args.bin").write_bytes(b"a pickle")
    (tmp_path / "out/mrpc/model.safetensors").write_bytes(b"weights")
    assert gather([tmp_path / "out"]) == GLUE
    with pytest.raises(ImportProblem, match="There is no file or folder"):
        gather([tmp_path / "nowhere"])


def test_every_form_says_what_it_expects():
    assert list(READERS) == ["mlflow", "run_glue", "tidy", "trackio", "wandb"]
    for name in READERS:
        assert READERS[name].expects


# ---- Files that mean harm, or are broken beyond use ----


HEAD = "variant,metric,seed,step,value\n"


def planned(content: bytes, name: str = "a.csv"):
    return plan({name: content})


def test_nothing_more_is_read_after_some_hundred_bad_rows(data):
    """3.4 kB of empty rows kept a server busy for a minute."""
    made = planned((HEAD + ",,,,\n" * 150_000).encode())
    assert MAX_BAD < len(made.bad) < 2 * MAX_BAD
    assert any("the rest was not read" in bad.problem for bad in made.bad)
    table = pa.table({name: pa.nulls(150_000, pa.float64()) for name in HEAD.strip().split(",")})
    stream = io.BytesIO()
    pq.write_table(table, stream)
    assert len(stream.getvalue()) < 10_000
    again = planned(stream.getvalue(), "a.parquet")
    assert MAX_BAD < len(again.bad) < 2 * MAX_BAD


@pytest.mark.parametrize("name", [["a", "b"], {"a": 1}, True, []])
def test_lists_and_objects_are_no_names(data, name):
    row = {"variant": name, "metric": "validation_loss", "seed": 0, "step": 1, "value": 2.0}
    made = planned(json.dumps(row).encode(), "a.jsonl")
    assert "variant is" in made.bad[0].problem or "says no variant" in made.bad[0].problem


@pytest.mark.parametrize("digits", [400, 4_000, 10_000])
@pytest.mark.parametrize("column", ["seed", "step", "value"])
def test_a_number_of_thousands_of_digits_is_a_bad_row(data, digits, column):
    row = {"variant": "a", "metric": "validation_loss", "seed": 0, "step": 1, "value": 2.0}
    text = json.dumps(row | {column: "HERE"}).replace('"HERE"', "9" * digits)
    made = planned(text.encode(), "a.jsonl")
    assert len(made.bad) == 1
    assert made.bad[0].line == 1
    assert len(made.bad[0].problem) < 200


def test_all_imports_together_are_bounded(data, monkeypatch):
    monkeypatch.setenv("ADDEND_IMPORTED_MB", "1")
    rows = "".join(f"{random.Random(n).random()},validation_loss,0,1,{n}\n" for n in range(100))
    assert execute(planned((HEAD + rows).encode())) is not None
    monkeypatch.setattr("analysis.imports.plan.max_stored_bytes", lambda: 1_000)
    more = planned((HEAD + "another,validation_loss,0,1,2.5\n").encode())
    with pytest.raises(ImportProblem, match="ADDEND_IMPORTED_MB"):
        execute(more)
    assert not [path for path in (data / "imported").iterdir() if path.name.startswith(".")]


def test_what_a_killed_import_left_is_cleared(data):
    left = data / "imported" / ".killed"
    left.mkdir(parents=True)
    fresh = data / "imported" / ".running"
    fresh.mkdir()
    os.utime(left, (0, 0))
    assert execute(planned((HEAD + "a,validation_loss,0,1,2.5\n").encode())) is not None
    assert not left.exists()
    assert fresh.exists(), "another process may be writing there"


def test_problems_name_no_folder_of_this_machine(data):
    broken = data / "results" / "curves" / "broken.parquet"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"PAR1 not really PAR1")
    store_build.refresh()
    told = read.query("SELECT problem FROM problems").problem.tolist()
    assert told
    assert not any(str(data) in problem or str(data.parent) in problem for problem in told), told
