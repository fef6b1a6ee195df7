"""Output folders of Hugging Face's run_glue.py: all_results.json (or eval_results.json) and trainer_state.json.

Neither says task, model, seed or learning rate. The model card that the script writes (README.md) does; where there
is none, the folder's name may be a task, and the reader says the rest. `training_args.bin` is a pickle: never opened.
"""

import json
import re
from collections.abc import Mapping

from analysis.ablation.glue.tasks import TASKS
from analysis.imports.curves import Point
from analysis.imports.naming import score_key, task_name
from analysis.imports.reader import READERS, BadRow, ExtractedRows, Files, Reader, UserMetadata, folders, joined, names
from analysis.imports.texts import UnreadableFile, text
from analysis.imports.tracking_logs import LoggedRun, add_run, is_number

RESULTS = ("all_results.json", "eval_results.json")
STATE = "trainer_state.json"
CARD = "README.md"
RECOGNISED = (*RESULTS, STATE, CARD, "train_results.json", "config.json")
COUNTS = ("train_samples", "eval_samples", "eval_samples_mm", "train_runtime")


def read(files: Files, metadata: UserMetadata) -> ExtractedRows:
    """Every folder with results or a trainer's state is one run; its checkpoints' folders are left."""
    reading = ExtractedRows()
    for folder, contents in folders(files).items():
        name = folder.rpartition("/")[2]
        if not {*RESULTS, STATE} & set(contents):
            continue
        recognised = [file for file in RECOGNISED if file in contents]
        reading.used.update(joined(folder, file) for file in recognised)
        if re.fullmatch(r"checkpoint-\d+", name):
            reading.left.append(f"{folder}: a checkpoint's own state; the run's is beside it")
            continue
        errors_before = len(reading.bad)
        jsons = (file for file in recognised if file.endswith(".json"))
        parsed = {file: _json(reading, joined(folder, file), contents[file]) for file in jsons}
        card = _card(_text(reading, joined(folder, CARD), contents.get(CARD, b"")))
        _check_same_run(reading, folder, parsed)
        if len(reading.bad) > errors_before:
            continue
        results = next((parsed[file] for file in RESULTS if file in parsed), {})
        state = parsed.get(STATE, {})
        counts = {key: results[key] for key in COUNTS if key in results}
        base = {"_name_or_path": parsed["config.json"].get("_name_or_path")} if "config.json" in parsed else {}
        settings = {**counts, **base, **card}
        task = metadata.task or settings.get("task") or task_name(name)
        path = joined(folder, next(file for file in (*RESULTS, STATE) if file in contents))
        if task is None:
            reading.bad.append(BadRow(path, None, "does not say its task, nor does its folder's name; give the task"))
            continue
        if not (metadata.variant or settings.get("base_model") or settings.get("_name_or_path")):
            reading.bad.append(BadRow(path, None, "does not say which model it is; give the variant"))
            continue
        series = _series(state, results)
        if metadata.task is None and task_name(str(task)) == "mnli" and (problem := _either_dev_set(results, series)):
            reading.bad.append(BadRow(path, None, problem))
            continue
        run = LoggedRun(
            file=path,
            line=None,
            name=name or path,
            settings={**settings, "task": task},
            scalars={key: value for key, value in results.items() if key.startswith("eval_") and key not in COUNTS},
            series=series,
            earliest=True,
            places={key: joined(folder, STATE) for key in series if key not in results or score_key(key) is None},
        )
        others = [key for key, value in results.items() if not key.startswith("eval_") and is_number(value)]
        if others := sorted(key for key in others if key not in COUNTS and score_key(key.removeprefix("predict_"))):
            reading.left.append(f"{path}: {name or path}: {names(others)}; scores begin with eval_")
        add_run(run, metadata, reading)
    return reading


def _text(reading: ExtractedRows, file: str, content: bytes) -> str:
    try:
        return text(content)
    except UnreadableFile as error:
        reading.bad.append(BadRow(file, None, f"could not be read: it {error}."))
        return ""


def _json(reading: ExtractedRows, file: str, content: bytes) -> dict[str, object]:
    try:
        parsed = json.loads(text(content))
    except UnreadableFile as error:
        reading.bad.append(BadRow(file, None, f"could not be read: it {error}."))
        return {}
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        reading.bad.append(BadRow(file, None, "is no JSON object; expected what run_glue.py writes"))
        return {}
    return parsed


def _check_same_run(reading: ExtractedRows, folder: str, parsed: Mapping[str, Mapping[str, object]]) -> None:
    """Says where two files of one folder give different scores, or are of trainings of different lengths."""
    whole, evaluated = (parsed.get(name, {}) for name in RESULTS)
    for key, value in evaluated.items():
        if key.startswith("eval_") and score_key(key) and key in whole and whole[key] != value:
            problem = f"{key} is {value}, but {whole[key]} in {RESULTS[0]}; keep the file of the evaluation you mean."
            reading.bad.append(BadRow(joined(folder, RESULTS[1]), None, problem))
    epochs = [parsed.get(name, {}).get("epoch") for name in (RESULTS[0], STATE)]
    first, second = (float(epoch) if isinstance(epoch, int | float) else 0.0 for epoch in epochs)
    if min(first, second) > 0 and abs(first - second) > 0.01:
        problem = f"is of epoch {second:g}, but {RESULTS[0]} of epoch {first:g}; keep the files of one training."
        reading.bad.append(BadRow(joined(folder, STATE), None, problem))


def _either_dev_set(results: Mapping[str, object], series: Mapping[str, list[Point]]) -> str | None:
    """The question that is left where nothing tells which of MNLI's dev sets a score is of."""
    sizes = {TASKS[name].dev_rows for name in ("mnli", "mnli_mismatched")}
    points = series.get("eval_accuracy", [])
    twice = len([point for point in points if point.step == points[-1].step]) > 1
    if "eval_accuracy" not in results or "eval_accuracy_mm" in results or twice or results.get("eval_samples") in sizes:
        return None
    return (
        "does not say whether eval_accuracy is of MNLI's matched dev set (eval_samples 9,815) or its mismatched one "
        "(9,832), which older versions of run_glue.py keep; give the task, mnli or mnli_mismatched."
    )


def _card(text: str) -> dict[str, object]:
    """The statements of the model card: base_model and the task in its head, settings in its list."""
    settings: dict[str, object] = {}
    head = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    front_matter = head[1] if head else ""
    if base_model := re.search(r"^base_model: *[\"']?([^\s\"']+)", front_matter, re.MULTILINE):
        settings["base_model"] = base_model[1]
    for pattern in (r"^ +args: *[\"']?(\w+)", r"^ +name: *[\"']?GLUE (\w+)"):
        if "task" not in settings and (task := re.search(pattern, front_matter, re.MULTILINE)):
            settings["task"] = task[1]
    for key in ("learning_rate", "train_batch_size", "seed", "num_epochs"):
        if setting := re.search(rf"^- {key}: *(\S.*?)\s*$", text, re.MULTILINE):
            settings[key] = setting[1]
    return settings


def _series(state: Mapping[str, object], results: Mapping[str, object]) -> dict[str, list[Point]]:
    """The losses that the trainer logged, and the scores that are in the results too; other values have no place."""
    series: dict[str, list[Point]] = {}
    history = state.get("log_history")
    for entry in history if isinstance(history, list) else []:
        for key, value in entry.items() if isinstance(entry, dict) else ():
            if key in ("loss", "eval_loss") or (key in results and score_key(key)):
                series.setdefault(key, []).append(Point(entry.get("step"), value))
    return series


READERS.add(
    "run_glue",
    Reader(
        title="Output folder of Hugging Face's run_glue.py",
        expects="all_results.json or eval_results.json, trainer_state.json, and README.md, in a folder of their own",
        read=read,
    ),
)
