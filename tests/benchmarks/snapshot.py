"""Takes down everything that the product says, so that a redesign can prove that it changed nothing.

    python tests/benchmarks/snapshot.py take before.json                  # at one commit
    python tests/benchmarks/snapshot.py take after.json                   # at another
    python tests/benchmarks/snapshot.py compare before.json after.json    # what differs
    python tests/benchmarks/snapshot.py take after.json training runs     # figures of these names alone
    python tests/benchmarks/snapshot.py compare before.json after.json training runs

Taken down are the rows of every table and view of the store, and for many states of every page the data, caption,
description and drawing of each of its figures. Live figures are made once, at their page's defaults.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import altair as alt  # noqa: E402

from analysis import links  # noqa: E402
from analysis.figures import FIGURES, drawing  # noqa: E402
from analysis.literature import tables as published  # noqa: E402
from analysis.store import read  # noqa: E402

COLUMNS_OF_A_BUILD = {"git_sha", "code", "built", "judged_at", "mtime", "path"}
"""Columns that say when or where a store was built."""


def digest(text: str) -> str:
    """A short hash."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tables() -> dict[str, str]:
    """Every table and view of the store: the hash of its rows, in any order."""
    names = read.query("SELECT table_name FROM information_schema.tables ORDER BY 1").table_name
    result = {}
    for name in names:
        frame = read.query(f'SELECT * FROM "{name}"')
        frame = frame[[column for column in sorted(frame.columns) if column not in COLUMNS_OF_A_BUILD]]
        rows = sorted(frame.to_csv(index=False, header=False).splitlines())
        result[f"table {name}"] = f"{len(frame)} rows {digest(','.join(frame.columns) + chr(10).join(rows))}"
    return result


def values_of(view: Any) -> Iterator[dict[str, Any]]:
    """States of a page: its defaults, and each field at every value that the store knows."""
    column = {
        name: list(read.query(sql).iloc[:, 0])
        for name, sql in {
            "preset": "SELECT DISTINCT preset FROM pretrainings ORDER BY 1",
            "claim": "SELECT DISTINCT parent FROM claims ORDER BY 1",
            "model": "SELECT DISTINCT model FROM term_stats ORDER BY 1",
        }.items()
    }
    column["table"] = list(published.index().id)
    column["stored"] = column["model"]
    column["variants"] = [("tupe_a", "rotary", "concat_50"), ("no_cross", "bert_a_d")]
    column["baseline"] = ["bert_a", "tupe_a"]
    column["measure"] = ["share", "effect"]
    column["group"] = ["four", "all", "content", "segments"]
    column["axis"] = ["step", "tokens", "seconds"]
    column["objective"] = ["masked", "causal"]
    column["protocol"] = ["mean", "best", "median"]
    column["encoding"] = ["sinusoidal", "rotary", "alibi", "learned", "t5_bias", "tupe_untied"]
    column["term"] = ["word_to_position", "word_to_word"]
    column["by"] = ["question", "verdict", "document"]
    column["shift"] = [1, 16]
    column["dim"] = [64, 128]
    column["layer"] = [1, 3]
    column["verdict"] = ["all", "supported", "open"]
    column["depth"] = [1, 2]
    column["leave"] = ["cola", "sst2"]
    names = {field.name for field in view.fields}
    yield view.defaults()
    for name in sorted(names & set(column)):
        for value in column[name]:
            yield view.defaults() | {name: value}
            if name != "preset" and "preset" in names:
                yield view.defaults() | {"preset": "cpu2", name: value}


def figures(prefixes: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Every figure in every state of its page: what it holds and how it is drawn, or the sentence it ends in.

    prefixes: what the names of the wanted figures begin with.
    """
    for view in links.VIEWS.values():
        for number, values in enumerate(values_of(view)):
            address = links.link(view.page, values)
            for name in view.figures:
                if not name.startswith(prefixes):
                    continue
                builder = FIGURES[name]
                if builder.live and number:
                    continue
                yield f"{name} {address}", figure(builder, values)


def figure(builder: Any, values: dict[str, Any]) -> dict[str, str]:
    """One figure, hashed part by part."""
    try:
        made = builder.make(values)
        drawn = [panel.to_dict(format="vega-lite") for panel in _without_rows(drawing.panels(made))]
    except Exception as problem:  # noqa: BLE001  a fault is a part of what is taken down
        return {"problem": f"{type(problem).__name__}: {problem}"[:300]}
    return {
        "frame": digest(made.frame().to_csv(index=False, float_format="%.6g")),
        "caption": made.caption,
        "alt": made.alt,
        "title": made.title,
        "drawing": digest(json.dumps(drawn, sort_keys=True, default=str)),
    }


def _without_rows(panels: list[Any]) -> list[Any]:
    """Panels with the hash of their rows in place of the rows."""
    for panel in panels:
        drawing.replace_data(panel, lambda rows: alt.UrlData(digest(rows.to_csv(index=False, float_format="%.6g"))))
    return panels


def main(arguments: list[str]) -> int:
    """Takes a snapshot, or compares two."""
    command, *paths = arguments
    if command == "take":
        path, *names = paths
        taken: dict[str, Any] = {} if names else tables()
        taken |= dict(figures(tuple(names) or ("",)))
        Path(path).write_text(json.dumps(taken, indent=1, sort_keys=True), encoding="utf-8")
        sys.stdout.write(f"{len(taken)} entries\n")
        return 0
    before, after = (json.loads(Path(path).read_text(encoding="utf-8")) for path in paths[:2])
    prefixes = tuple(paths[2:]) or ("",)
    different = 0
    for key in sorted(key for key in set(before) | set(after) if key.startswith(prefixes)):
        one, other = before.get(key), after.get(key)
        if one == other:
            continue
        different += 1
        if isinstance(one, dict) and isinstance(other, dict):
            parts = [part for part in sorted({*one, *other}) if one.get(part) != other.get(part)]
            sys.stdout.write(f"{key}\n")
            for part in parts:
                sys.stdout.write(
                    f"    {part}: {str(one.get(part))[:300]!r}\n        -> {str(other.get(part))[:300]!r}\n"
                )
        else:
            sys.stdout.write(f"{key}\n    {str(one)[:200]}\n    {str(other)[:200]}\n")
    sys.stdout.write(f"{different} of {len(set(before) | set(after))} entries differ\n")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
