"""Output folders of Hugging Face's run_glue.py: all_results.json (or eval_results.json) and trainer_state.json.

Neither says task, model, seed or learning rate. The model card that the script writes (README.md) does; where there
is none, the folder's name may be a task, and the reader says the rest. `training_args.bin` is a pickle: never opened.
"""

import json
import re
from collections.abc import Mapping

from analysis.imports.base import READERS, BadRow, Files, Reader, Reading, UserMetadata, folders, joined
from analysis.imports.tracking_logs import TASK_NAMES, LoggedRun, Point, add_run, known_task, normalised

RESULTS = ("all_results.json", "eval_results.json")
STATE = "trainer_state.json"
CARD = "README.md"
RECOGNISED = (*RESULTS, STATE, CARD, "train_results.json", "config.json")
COUNTS = ("train_samples", "eval_samples", "train_runtime")


def read(files: Files, metadata: UserMetadata) -> Reading:
    """Every folder with results or a trainer's state is one run; its checkpoints' folders are left."""
    reading = Reading()
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
        if len(reading.bad) > errors_before:
            continue
        results = next((parsed[file] for file in RESULTS if file in parsed), {})
        counts = {key: results[key] for key in COUNTS if isinstance(results.get(key), int | float)}
        base = {"_name_or_path": parsed["config.json"].get("_name_or_path")} if "config.json" in parsed else {}
        settings = {**counts, **base, **_card(contents.get(CARD, b"").decode("utf-8", "replace"))}
        task = metadata.task or settings.get("task") or TASK_NAMES.get(normalised(name))
        path = joined(folder, next(file for file in (*RESULTS, STATE) if file in contents))
        if task is None:
            reading.bad.append(BadRow(path, None, "does not say its task, nor does its folder's name; give the task"))
            continue
        if not (metadata.variant or settings.get("base_model") or settings.get("_name_or_path")):
            reading.bad.append(BadRow(path, None, "does not say which model it is; give the variant"))
            continue
        run = LoggedRun(
            file=path,
            line=None,
            name=name or path,
            settings={**settings, "task": known_task(task)},
            scalars={key: value for key, value in results.items() if key.startswith("eval_")},
            series=_series(parsed.get(STATE, {})),
        )
        add_run(run, metadata, reading)
    return reading


def _json(reading: Reading, file: str, content: bytes) -> dict[str, object]:
    try:
        parsed = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        reading.bad.append(BadRow(file, None, "is no JSON object; expected what run_glue.py writes"))
        return {}
    return parsed


def _card(text: str) -> dict[str, object]:
    """What the model card says: base_model and the task in its head, settings in its list."""
    settings: dict[str, object] = {}
    head = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    front_matter = head[1] if head else ""
    if base_model := re.search(r"^base_model: *[\"']?([^\s\"']+)", front_matter, re.MULTILINE):
        settings["base_model"] = base_model[1]
    for pattern in (r"^ +args: *[\"']?(\w+)", r"^ +name: *[\"']?GLUE (\w+)"):
        if "task" not in settings and (task := re.search(pattern, front_matter, re.MULTILINE)):
            settings["task"] = task[1]
    for key in ("learning_rate", "train_batch_size", "seed", "num_epochs"):
        if setting := re.search(rf"^- {key}: *([-+.\deE]+)\s*$", text, re.MULTILINE):
            settings[key] = setting[1]
    return settings


def _series(state: Mapping[str, object]) -> dict[str, list[Point]]:
    """The losses that the trainer logged; other values have no place in a curve."""
    series: dict[str, list[Point]] = {}
    history = state.get("log_history")
    for entry in history if isinstance(history, list) else []:
        if isinstance(entry, dict) and "step" in entry:
            for key in ("loss", "eval_loss"):
                # MNLI is evaluated twice at the end of a run; the first is its own dev set.
                if key in entry and not any(step == entry["step"] for step, _, _ in series.get(key, [])):
                    series.setdefault(key, []).append((entry["step"], entry[key], None))
    return series


READERS.add(
    "run_glue",
    Reader(
        title="Output folder of Hugging Face's run_glue.py",
        expects="all_results.json or eval_results.json, trainer_state.json, and README.md, in a folder of their own",
        read=read,
    ),
)
