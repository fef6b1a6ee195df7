"""Probes that readers saved: each a results file of its own, read straight by its id.

Where ADDEND_PROBES names a place, they lie there and nowhere else: not in the store, not where SQL or a download of
the results reaches. Else they lie under `probes/` in the data folder, and the next sync puts them into the store too.
An id is a keyed hash of what was run: the same probe has the same id, so that it is stored once however often it is
saved. The key is random and lies with the probes: who has the link has the probe, and whoever guesses a text cannot
compute its id.
"""

import hmac
import json
import re
import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.core import frames, settings
from analysis.core.atomic_write import atomic_write
from analysis.core.errors import StoreError
from analysis.core.term_names import MEAN_SOURCES, SCORE_BIAS, SOURCES
from analysis.measurements.terms.masks import ALL
from analysis.measurements.terms.result import Decomposition, Provenance, TokenInfo
from analysis.store import files
from analysis.store.paths import data_folder

EXAMPLE = "example-"
"""The beginning of the ids of the saved probes that come with Addend."""
ID = re.compile(r"[\w-]{1,64}")
KEY = "key"
"""The file that holds the key. It is no probe: those are Parquet files."""
KEY_BYTES, ID_DIGITS = 32, 32
SUFFIX = ".parquet"
MB = 1_000_000

saving = threading.Lock()
"""Held while a probe is written, so that the room that was found is there."""


def write(
    decomposition: Decomposition,
    command: str,
    title: str = "",
    *,
    name: str | None = None,
) -> str:
    """Writes a probe as a results file and returns its id, which is `name` or that of the same probe saved before.

    Raises StoreError where there is no room.
    """
    provenance = decomposition.provenance
    if name is None:
        about = (provenance.device, provenance.dtype, provenance.git_sha, provenance.versions)
        run_id = id_of_run([command, title, provenance.revision, *about])
    else:
        run_id = name
    if name is None and is_stored(run_id):
        return run_id
    run = files.Run(
        kind="probe",
        command=command,
        model=provenance.model,
        revision=provenance.revision,
        device=provenance.device,
        dtype=provenance.dtype,
        seconds=provenance.seconds,
        created=provenance.created,
        git_sha=provenance.git_sha,
        versions=provenance.versions,
        run_id=run_id,
        config={
            "title": title or (name or "saved probe"),
            "layer": decomposition.layer,
            "text": provenance.text,
            "text_pair": provenance.text_pair,
            "tokens": [[token.text, token.word, token.segment] for token in decomposition.token_info],
            "token_count": len(decomposition.token_info),
            "scale": decomposition.scale,
            "max_error": decomposition.max_error,
            "pattern_error": decomposition.pattern_error,
            "attends": decomposition.attends,
            "held": decomposition.freeze,
            "method": decomposition.method,
            "reference": decomposition.reference,
            "added": list(decomposition.added),
            "frozen_gap": None if np.isnan(decomposition.frozen_gap) else decomposition.frozen_gap,
            "truncated_from": provenance.truncated_from,
            "cancellation": frames.nested(decomposition.cancellation),
        },
    )

    def by_head(measure: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        return list(np.stack(list(measure.values()), -1).astype(np.float32))

    columns = {
        "head": range(decomposition.heads),
        "query": [decomposition.query[:, head].astype(np.float32).ravel() for head in range(decomposition.heads)],
        "key": [decomposition.key[:, head].astype(np.float32).ravel() for head in range(decomposition.heads)],
        "share": by_head(decomposition.shares()),
        "effect": by_head(decomposition.effects()),
        "top1": by_head(decomposition.top1_agreement()),
        "rms": by_head(decomposition.raw_rms()),
        "score_bias": [
            np.asarray([added[head] for added in decomposition.added.values()], dtype=np.float32).ravel()
            for head in range(decomposition.heads)
        ],
    }
    with saving:
        check_room(sum(np.asarray(array).nbytes for column in columns.values() for array in column))
        files.write("probe", columns, run, folder=folder())
    return run.run_id


def read(probe_id: str) -> Decomposition:
    """A probe that was saved. Raises StoreError for an id that there is none of. Needs no torch."""
    if not ID.fullmatch(probe_id):
        raise _unknown_probe(probe_id)
    own, bundled = (place / f"{probe_id}.parquet" for place in (folder(), data_folder() / files.KINDS["probe"].folder))
    return _read(own if own.is_file() else bundled, probe_id)


def _array(numbers: Sequence[object]) -> np.ndarray:
    """The array of nested lists, NaN where they hold None."""
    return np.asarray(numbers, dtype=float)


def _unknown_probe(probe_id: str) -> StoreError:
    return StoreError(
        f"There is no saved probe {probe_id!r} here. It may have been saved on another machine; run the text again on "
        "the page Look inside."
    )


def _read(path: Path, probe_id: str) -> Decomposition:
    if not path.is_file():
        raise _unknown_probe(probe_id)
    kind, table, run = files.read(path)
    try:
        return _decomposition(table.to_pandas().sort_values("head"), run, run["config"], probe_id)
    except (LookupError, TypeError, ValueError) as wrong:
        raise StoreError(
            f"{path.name}, of kind {kind!r}, is not a saved probe as it should be ({wrong!r}). Restore or remove it."
        ) from None


def _decomposition(
    heads: pd.DataFrame, run: Mapping[str, Any], config: Mapping[str, Any], probe_id: str
) -> Decomposition:
    tokens = tuple(TokenInfo(text, tuple(word) if word else None, segment) for text, word, segment in config["tokens"])

    def factors(column: str) -> np.ndarray:
        return np.stack([np.asarray(flat).reshape(len(SOURCES), len(tokens), -1) for flat in heads[column]], 1)

    query, key = factors("query"), factors("key")
    scale = float(config["scale"])
    scores = scale * (query.sum(0) @ key.sum(0).swapaxes(-1, -2))
    names = config.get("added") or ([SCORE_BIAS] if len(heads.score_bias.iloc[0]) else [])
    maps = [np.asarray(flat).reshape(len(names), *scores.shape[1:]) for flat in heads.score_bias]
    added = dict(zip(names, np.stack(maps, 1), strict=True))
    for bias in added.values():
        scores = scores + bias
    return Decomposition(
        query=query,
        key=key,
        scale=scale,
        added=added,
        layer=int(config["layer"]),
        freeze=config.get("held") or "",
        sources=MEAN_SOURCES if config.get("method") == "mean" else SOURCES,
        reference=config.get("reference") or "",
        frozen_gap=np.nan if config.get("frozen_gap") is None else float(config["frozen_gap"]),
        token_info=tokens,
        scores=scores,
        max_error=float(config["max_error"]),
        pattern_error=float(config["pattern_error"]),
        provenance=Provenance.of_run(run, config["text"], config.get("text_pair"), config.get("truncated_from")),
        probe_id=probe_id,
        attends=config.get("attends") or ALL,
        _measured={
            **{name: np.stack(list(heads[name])).T for name in ("share", "effect", "top1", "rms")},
            # Files of before do not hold it.
            "cancellation": _array(config.get("cancellation") or [None] * len(heads)),
        },
    )


def folder() -> Path:
    """The folder of saved probes."""
    return Path(settings.text("ADDEND_PROBES") or data_folder() / files.KINDS["probe"].folder)


def id_of_run(identity: Sequence[object]) -> str:
    """The id of the probe that these values tell from others: 128 bits in hexadecimal digits."""
    message = json.dumps(list(identity)).encode()
    return hmac.new(_key(), message, "sha256").hexdigest()[:ID_DIGITS]


def is_stored(name: str) -> bool:
    """True if there is a probe of this id."""
    return (folder() / (name + SUFFIX)).is_file()


def check_room(size: int) -> None:
    """Raises StoreError where a probe of so many bytes is more than all may take together (ADDEND_PROBES_MB)."""
    limit = settings.number("ADDEND_PROBES_MB")
    if not limit:
        return
    sizes = [path.stat().st_size for path in folder().glob(f"*{SUFFIX}")]
    if sum(sizes) + size > limit * MB:
        raise StoreError(
            f"This probe takes about {size / MB:,.1f} MB, and those that are saved {sum(sizes) / MB:,.1f} MB; at most "
            f"{limit:,} MB are kept (ADDEND_PROBES_MB). Copy the link to the text instead, or run Addend yourself."
        )


def _key() -> bytes:
    """The key, which is made when there is none."""
    path = folder() / KEY
    try:
        if not path.is_file():
            with atomic_write(path) as partial:
                partial.write_bytes(secrets.token_bytes(KEY_BYTES))
            path.chmod(0o600)
        return path.read_bytes()
    except OSError as error:
        raise StoreError(
            f"The probe could not be saved ({error.strerror or error}). Make the folder of saved probes writable."
        ) from None
