"""Results files: what kinds there are, how one is written, and how one is read back and checked.

A Parquet results file holds the rows of one run and, in its metadata, the run itself (who, what, when,
on which device). It is written once and never changed. Files of an older version are upgraded as they
are read; the store knows the newest version only.
"""

import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.core.atomic_write import atomic_write
from analysis.core.errors import StoreError
from analysis.core.provenance import git_sha, library_versions, now
from analysis.store import mirror
from analysis.store.paths import data_folder

Upgrade = Callable[[pa.Table], pa.Table]
IMPORTED = "imported"
"""The folder of imports under data/, and how the preset of every imported run begins."""
RUN_NEEDS = {"run_id", "kind", "command", "created", "config"}
"""What a file must say of its run. The rest may be missing: older files lack what later ones say."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of results file: its folder under data/, its version and its columns."""

    name: str
    folder: str
    version: int
    schema: pa.Schema
    upgrades: Mapping[int, Upgrade] = field(default_factory=dict)
    """From a version to the next one."""


def new_run_id() -> str:
    """A name for a run that no other has."""
    return uuid.uuid4().hex[:12]


@dataclass(frozen=True, kw_only=True)
class Run:
    """The provenance that every row of a results file shares."""

    kind: str
    command: str
    model: str | None = None
    revision: str | None = None
    device: str = "cpu"
    dtype: str = "float64"
    seed: int | None = None
    variant: str | None = None
    preset: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    run_id: str = field(default_factory=new_run_id)
    created: str = field(default_factory=now)
    git_sha: str = field(default_factory=git_sha)
    versions: str = field(default_factory=library_versions)


def _columns(**types: pa.DataType) -> pa.Schema:
    return pa.schema(list(types.items()))


def _structs(**types: pa.DataType) -> pa.DataType:
    return pa.list_(pa.struct(list(types.items())))


_text, _whole, _real = pa.string(), pa.int32(), pa.float64()
_vector, _wholes = pa.list_(pa.float32()), pa.list_(pa.int32())
_finetuning = {
    "pretraining": _text,
    "variant": _text,
    "preset": _text,
    "task": _text,
    "metric": _text,
    "seed": _whole,
    "finetune_seed": _whole,
    "learning_rate": _real,
}
"""What tells one fine-tuning's row from another's."""


def _without_score_bias(table: pa.Table) -> pa.Table:
    """Probes of version 1 had no models that add to their scores."""
    return table.append_column("score_bias", pa.array([[] for _ in range(len(table))], type=_vector))


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            name="terms",
            folder="results/terms",
            version=1,
            schema=_columns(
                method=_text,
                corpus=_text,
                layer=_whole,
                aggregation=_text,
                head=_whole,
                term=_text,
                share=_real,
                share_low=_real,
                share_high=_real,
                effect=_real,
                effect_low=_real,
                effect_high=_real,
                top1_agreement=_real,
                rms=_real,
                texts=_whole,
                queries=_whole,
                max_error=_real,
                relative_error=_real,
                pattern_error=_real,
            ),
        ),
        Kind(
            name="patch_positions",
            folder="results/patch_positions",
            version=1,
            schema=_columns(patch=_whole, similarity=_vector),
        ),
        Kind(
            name="means",
            folder="results/means",
            version=1,
            schema=_columns(
                corpus=_text,
                layer=_whole,
                windows=_whole,
                length=_whole,
                counted=_whole,
                rank=_whole,
                stable_rank=_real,
                effective_rank=_real,
                relative_norm=_real,
                position_share=_real,
                context_share=_real,
                residual_share=_real,
                mean_share=_real,
                noise_share=_real,
                left_out_share=_real,
                cosine_to_next=_real,
                frozen_gap=_real,
                mean=_vector,
                position=_vector,
            ),
        ),
        Kind(
            name="decoding",
            folder="results/decoding",
            version=1,
            schema=_columns(
                corpus=_text,
                layer=_whole,
                target=_text,
                decoder=_text,
                measure=_text,
                value=_real,
                low=_real,
                high=_real,
                chance=_real,
                windows=_whole,
                tokens=_whole,
            ),
        ),
        Kind(
            name="locality",
            folder="results/locality",
            version=1,
            schema=_columns(
                corpus=_text,
                layer=_whole,
                head=_whole,
                query=_text,
                measure=_text,
                distance=_whole,
                value=_real,
                low=_real,
                high=_real,
                even=_real,
                windows=_whole,
            ),
        ),
        Kind(
            name="equivariance",
            folder="results/equivariance",
            version=1,
            schema=_columns(
                corpus=_text,
                layer=_whole,
                positions=_text,
                tokens=_text,
                value=_real,
                low=_real,
                high=_real,
                largest=_real,
                windows=_whole,
            ),
        ),
        Kind(
            name="geometry",
            folder="results/geometry",
            version=1,
            schema=_columns(
                measure=_text,
                subject=_text,
                layer=_whole,
                head=_whole,
                along=_real,
                value=_real,
                low=_real,
                high=_real,
                baseline=_real,
                baseline_low=_real,
                baseline_high=_real,
                samples=_whole,
            ),
        ),
        Kind(
            name="neighbours",
            folder="results/neighbours",
            version=1,
            schema=_columns(
                measure=_text,
                word=_text,
                position=_whole,
                other_word=_text,
                other_position=_whole,
                distance=_real,
                margin=_real,
            ),
        ),
        Kind(
            name="encoding_measures",
            folder="results/encodings",
            version=1,
            schema=_columns(encoding=_text, length=_whole, dim=_whole, measure=_text, value=_real),
        ),
        Kind(
            name="scores",
            folder="results/scores",
            version=1,
            schema=_columns(
                **_finetuning,
                data=_text,
                train_examples=_whole,
                dev_examples=_whole,
                seconds=_real,
                value=_real,
            ),
        ),
        Kind(
            name="predictions",
            folder="results/predictions",
            version=1,
            schema=_columns(
                **_finetuning,
                prediction=_vector,
                replicates=_vector,
            ),
        ),
        Kind(
            name="curves",
            folder="results/curves",
            version=1,
            schema=_columns(
                variant=_text,
                preset=_text,
                seed=_whole,
                metric=_text,
                step=pa.int64(),
                tokens=pa.int64(),
                seconds=_real,
                value=_real,
            ),
        ),
        Kind(
            name="costs",
            folder="results/costs",
            version=1,
            schema=_columns(variant=_text, preset=_text, measure=_text, value=_real),
        ),
        Kind(
            name="interventions",
            folder="results/interventions",
            version=1,
            schema=_columns(
                corpus=_text,
                intervention=_text,
                outcome=_text,
                layer=_whole,
                value=_real,
                low=_real,
                high=_real,
                texts=_whole,
                tokens=_whole,
            ),
        ),
        Kind(
            name="positions",
            folder="results/positions",
            version=1,
            schema=_columns(
                layer=_whole,
                source=_text,
                head=_whole,
                content=_real,
                position=_real,
                both=_real,
                power=_real,
                kernel=_vector,
                joined_query=_wholes,
                joined_key=_wholes,
                joined_score=_vector,
            ),
        ),
        Kind(
            name="surgery",
            folder="results/surgery",
            version=1,
            schema=_columns(
                task=_text,
                operation=_text,
                said=_text,
                rank=_whole,
                draw=_whole,
                value=_real,
                low=_real,
                high=_real,
                difference=_real,
                difference_low=_real,
                difference_high=_real,
                pairs=_whole,
            ),
        ),
        Kind(
            name="first_verdicts",
            folder="results/first_verdicts",
            version=1,
            schema=_columns(
                id=_text,
                asks=_text,
                rule=_text,
                changed=pa.list_(_text),
                verdict=_text,
                sentence=_text,
                effect=_real,
                low=_real,
                high=_real,
                unit=_text,
                measured=_text,
                threshold=_real,
                models=pa.list_(_text),
                samples=_whole,
                sample_unit=_text,
                missing=_text,
                command=_text,
                evidence=_structs(
                    side=_text,
                    says=_text,
                    value=_real,
                    low=_real,
                    high=_real,
                    unit=_text,
                    source=_text,
                    citation=_text,
                    caveat=_text,
                    query=_text,
                    page=_text,
                    parameters=_text,
                ),
                queries=_structs(name=_text, sql=_text),
                views=_structs(label=_text, page=_text, parameters=_text),
            ),
        ),
        Kind(
            name="probe",
            folder="probes",
            version=2,
            schema=_columns(
                head=_whole,
                query=_vector,
                key=_vector,
                share=_vector,
                effect=_vector,
                top1=_vector,
                rms=_vector,
                score_bias=_vector,
            ),
            upgrades={1: _without_score_bias},
        ),
    )
}


def write(
    kind: str, columns: Mapping[str, Iterable[object]], run: Run, *, name: str | None = None, folder: Path | None = None
) -> Path:
    """Writes one results file, whole or not at all, and returns its path.

    columns: column name -> values, as `KINDS[kind].schema` lists them. folder: where, if not in the kind's own.
    Raises StoreError when the folder cannot be written or the columns are not those of the kind.
    """
    entry = KINDS[kind]
    if wrong := sorted(set(columns) ^ set(entry.schema.names)):
        raise StoreError(
            f"A {kind!r} file {'has no' if wrong[0] in columns else 'lacks the'} column {wrong[0]!r}; "
            f"expected: {', '.join(entry.schema.names)}."
        )
    try:
        # Cast after the fact: told the type at once, Arrow would cut 1.5 to 1 without a word.
        arrays = [pa.array(columns[column.name]).cast(column.type) for column in entry.schema]
        table = pa.Table.from_arrays(arrays, schema=entry.schema)
    except (pa.ArrowException, TypeError) as wrong:
        raise StoreError(
            f"The columns of a {kind!r} file could not be taken ({wrong}); expected equally many values in each, "
            "of the types that analysis/store/files.py lists."
        ) from None
    about = {"addend.kind": kind, "addend.version": str(entry.version), "addend.run": json.dumps(asdict(run))}
    about["addend.check"] = footer_checksum(about, table)
    folder = folder or data_folder() / entry.folder
    target = folder / f"{name or run.run_id}.parquet"
    try:
        with atomic_write(target) as partial:
            write_table(table.replace_schema_metadata(about), partial)
    except OSError as refused:
        raise StoreError(
            f"{target} could not be written ({refused.strerror or refused}). Free space or make the "
            "folder writable, or set ADDEND_DATA to one that is."
        ) from None
    if target.parent == data_folder() / entry.folder:
        mirror.send()
    return target


def read(path: Path) -> tuple[str, pa.Table, dict[str, Any]]:
    """A results file's kind, its rows in the newest version, and its run.

    Raises StoreError when it is truncated, of no known kind, of a newer version, of one that cannot be
    upgraded, lacks a column, or does not say which run it holds.
    """
    try:
        table = pq.read_table(path, page_checksum_verification=True)
        list(table.schema.names)  # a damaged name is no UTF-8, which shows when it is asked for
    except (OSError, pa.ArrowException, UnicodeDecodeError) as broken:
        raise StoreError(f"{path.name} is not a readable Parquet file ({broken}). Restore or remove it.") from None
    about = {key: value.decode(errors="replace") for key, value in (table.schema.metadata or {}).items()}
    kind = KINDS.get(about.get(b"addend.kind", ""))
    if kind is None:
        raise StoreError(f"{path.name} is not a results file of ours: it names no known kind. Remove it from data/.")
    if (stated := about.get(b"addend.check")) is not None and stated != footer_checksum(
        {name.decode(errors="replace"): value for name, value in about.items()}, table
    ):
        raise StoreError(
            f"{path.name} is damaged: its content is not what was written. Restore it from a copy, or remove it."
        )
    stated = about.get(b"addend.version", "")
    if not stated.isdecimal():
        raise StoreError(f"{path.name} is of version {stated!r}; expected a whole number. Restore or remove it.")
    table = _upgraded(path, table, kind, int(stated))
    run = _run(path, about.get(b"addend.run", ""))
    missing = [name for name in kind.schema.names if name not in table.column_names]
    if missing:
        raise StoreError(f"{path.name} lacks the column {missing[0]!r} of kind {kind.name!r}. Restore or remove it.")
    try:
        table = table.select(kind.schema.names).cast(kind.schema)
    except (pa.ArrowException, ValueError) as broken:
        raise StoreError(
            f"{path.name} has a column of another type than expected ({broken}). Restore or remove it."
        ) from None
    return kind.name, table.replace_schema_metadata(None), run


def write_table(table: pa.Table, path: Path) -> None:
    """One Parquet file whose pages carry checksums, which `read` verifies."""
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def footer_checksum(about: Mapping[str, str], table: pa.Table) -> str:
    """What stands in the footer besides the pages, as a SHA-256: kind, version, run, columns and number of rows.

    Parquet has checksums of pages alone; a flipped bit in the footer would give another run or fewer rows silently.
    """
    # What stands inside a list is called item in memory and element in a file.
    types = [f"list<{t.value_type}>" if pa.types.is_list(t) else str(t) for t in table.schema.types]
    columns = list(zip(table.schema.names, types, strict=True))
    sentences = [about.get(f"addend.{name}", "") for name in ("kind", "version", "run")]
    return hashlib.sha256(json.dumps([sentences, columns, table.num_rows]).encode()).hexdigest()


def _upgraded(path: Path, table: pa.Table, kind: Kind, version: int) -> pa.Table:
    if version > kind.version:
        raise StoreError(
            f"{path.name} is of version {version} and this Addend reads up to {kind.version}. Update Addend."
        )
    for step in range(version, kind.version):
        if step not in kind.upgrades:
            raise StoreError(
                f"{path.name} is of version {step}, which cannot be brought to {kind.version}. "
                "Measure it again, or read it with the Addend that wrote it."
            )
        try:
            table = kind.upgrades[step](table)
        except (pa.ArrowException, LookupError, TypeError, ValueError) as wrong:
            raise StoreError(
                f"{path.name} could not be brought from version {step} to {step + 1} ({wrong}). Restore or remove it."
            ) from None
    return table


def _run(path: Path, stated: str) -> dict[str, Any]:
    try:
        run = json.loads(stated)
    except (json.JSONDecodeError, RecursionError):
        run = None
    if not isinstance(run, dict) or not run.keys() >= RUN_NEEDS or not isinstance(run["config"], dict):
        raise StoreError(
            f"{path.name} does not describe its run; expected at least {', '.join(sorted(RUN_NEEDS))}. "
            "Restore or remove it."
        )
    return run


def results_files() -> list[Path]:
    """Every Parquet results file under the data folder, sorted."""
    folder = data_folder()
    own = sorted(path for kind in KINDS.values() for path in (folder / kind.folder).glob("*.parquet"))
    return [*own, *imported_files()]


def imported_files() -> list[Path]:
    """Results that readers brought: a folder an import. One that begins with a dot is not finished, or never was."""
    return sorted((data_folder() / IMPORTED).glob("[!.]*/*.parquet"))
