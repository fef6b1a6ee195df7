"""The store's dimension tables, made from the registries, and the store built from them."""

import json
import math
import time
from pathlib import Path

from analysis.store.fill import Ask
from analysis.store.paths import data_folder, store_path
from analysis.store.sync import Report, Rows, fingerprint, stored_fingerprint, sync


def dimension_tables() -> dict[str, Rows]:
    """Rows of the tables that no results file holds: encodings, models, variants, tasks, claims. Imports no torch."""
    from analysis.claims import tables

    registered = {"encodings": _encodings(), "models": _models(), "variants": _variants(), "tasks": _tasks()}
    return {**registered, **tables()}


def _encodings() -> list[dict[str, object]]:
    from analysis.encodings import ENCODINGS

    return [
        {
            "encoding": name,
            "title": encoding.title,
            "summary": encoding.summary,
            "enters": encoding.enters,
            "learned": encoding.learned,
            "citation_key": encoding.key,
            "note": encoding.note,
        }
        for name, encoding in ENCODINGS.items()
    ]


def _models() -> list[dict[str, object]]:
    from safetensors import safe_open

    from analysis.core import default_model

    if not default_model.is_installed():  # stored results are shown without it, too
        return []
    folder = default_model.folder()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    with safe_open(folder / "model.safetensors", framework="numpy") as weights:
        shapes = [weights.get_slice(name).get_shape() for name in weights.keys()]  # noqa: SIM118
    return [
        {
            "model": default_model.NAME,
            "revision": default_model.REVISION,
            "title": default_model.TITLE,
            "family": config["model_type"],
            "layers": config["num_hidden_layers"],
            "heads": config["num_attention_heads"],
            "hidden_size": config["hidden_size"],
            "positions": config["max_position_embeddings"],
            "parameters": sum(map(math.prod, shapes)),
            "citation_keys": ",".join(default_model.CITATION_KEYS),
        }
    ]


def _variants() -> list[dict[str, object]]:
    """Our variants and the arms of surgery; variants of papers alone are in data/published/variants.csv."""
    from analysis.ablation.variants import VARIANTS
    from analysis.measurements.surgery.arms import ARMS

    citations = {**dict.fromkeys(ARMS), **{name: variant.key for name, variant in VARIANTS.items()}}
    return [
        {
            "variant": name,
            "title": variant.title,
            "known_as": VARIANTS[name].known_as or None if name in VARIANTS else None,
            "combines": variant.combines,
            "summary": variant.summary,
            "citation_key": citations[name],
            "causal": bool(VARIANTS[name].settings.get("causal")) if name in VARIANTS else None,
        }
        for name, variant in (*ARMS.items(), *VARIANTS.items())
    ]


def _tasks() -> list[dict[str, object]]:
    """The tasks that we fine-tune on; the published metrics add the others."""
    from analysis.ablation.glue.tasks import TASKS

    return [
        {"task": name, "title": task.title, "glue": task.glue, "metric": task.metrics[0], "summary": task.summary}
        for name, task in TASKS.items()
    ]


CHECK_INTERVAL = 50
"""The files are checked again after so many times the duration of the last check."""
_last_check: tuple[Path, float, str] | None = None
"""The data folder of the last check, when the check expires, and the fingerprint."""


def is_current() -> bool:
    """True if the store exists and agrees with the files as last checked. This is cheap, since every page calls it."""
    return store_path().is_file() and stored_fingerprint() == _current_fingerprint()


def _current_fingerprint() -> str:
    global _last_check
    folder, now = data_folder(), time.monotonic()
    if _last_check is None or _last_check[0] != folder or now > _last_check[1]:
        current, seconds = fingerprint(dimension_tables()), time.monotonic() - now
        _last_check = (folder, now + (1 + CHECK_INTERVAL) * seconds, current)
    return _last_check[2]


def refresh(*, rebuild: bool = False) -> Report:
    """Builds the store where it is missing, older than the files, or unreadable."""
    global _last_check
    _last_check = None
    return sync(dimension_tables(), judge=judged_tables, rebuild=rebuild)


def judged_tables(ask: Ask) -> dict[str, Rows]:
    """Rows of every table that follows from the rest of the store: the verdicts on statements, and the answer."""
    from analysis.claims.statements import judge
    from analysis.narrative import answer

    judged = judge.judge(ask)
    return {**judge.tables(judged), **answer.tables(judged.by_id, ask)}
