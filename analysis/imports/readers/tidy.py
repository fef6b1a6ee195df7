"""The tidy form: CSV with a header, JSON lines, or Parquet; one row per number."""

import csv
import io
import json
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.core.errors import AddendError
from analysis.imports.base import READERS, BadRow, Files, Reader, Reading, Row, UserMetadata
from analysis.imports.limits import MAX_BAD, MAX_ROWS
from analysis.imports.rows import COLUMNS, MAX_NAME_LENGTH

SUFFIXES = (".csv", ".jsonl", ".parquet")


def read(files: Files, metadata: UserMetadata) -> Reading:
    """Reads every file with one of the `SUFFIXES`."""
    reading = Reading()
    for path, content in files.items():
        if not path.lower().endswith(SUFFIXES):
            continue
        reading.used.add(path)
        lines = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}["." + path.lower().rpartition(".")[2]]
        try:
            for line, row in lines(content):
                if len(reading.bad) > MAX_BAD:
                    break
                if isinstance(row, str):
                    reading.bad.append(BadRow(path, line, row))
                else:
                    reading.rows.append(Row(path, line, _with_metadata(row, metadata)))
        except MemoryError:  # Arrow's own is an ArrowException as well
            raise
        except (csv.Error, UnicodeDecodeError, pa.ArrowException, OSError, AddendError) as error:
            reading.bad.append(BadRow(path, None, f"could not be read ({' '.join(str(error).split())[:200]})"))
    return reading


def _with_metadata(row: dict[str, object], metadata: UserMetadata) -> dict[str, object]:
    """The row with the user's metadata in its empty columns."""
    defaults = {name: value for name, value in vars(metadata).items() if value is not None}
    if row.get("step") not in (None, ""):
        defaults = {name: value for name, value in defaults.items() if name not in ("task", "learning_rate")}
    return {**row, **{name: value for name, value in defaults.items() if row.get(name) in (None, "")}}


def _unknown_column(names: Iterable[object]) -> str | None:
    unknown = sorted(str(name)[:40] for name in set(names) - set(COLUMNS))
    return f"the column {unknown[0]!r} is not known; expected of: {', '.join(COLUMNS)}" if unknown else None


def _csv(content: bytes) -> Iterator[tuple[int, dict[str, object] | str]]:
    table = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    header = [name.strip() for name in next(table, [])]
    if not header or len(set(header)) < len(header):
        raise AddendError("expected a header row that names each column once")
    if problem := _unknown_column(header):
        raise AddendError(problem)
    for cells in table:
        if len(cells) == len(header):
            yield table.line_num, {name: cell.strip() or None for name, cell in zip(header, cells, strict=True)}
        elif cells:
            yield table.line_num, f"has {len(cells)} cells; expected {len(header)}, as the header has"


def _jsonl(content: bytes) -> Iterator[tuple[int, dict[str, object] | str]]:
    for line, text in enumerate(content.decode("utf-8-sig").split("\n"), start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            yield line, "is no JSON; expected one object a line"
            continue
        if not isinstance(row, dict):
            yield line, "is no JSON object; expected one a line"
        elif problem := _unknown_column(row):
            yield line, problem
        else:
            yield line, row


def _parquet(content: bytes) -> Iterator[tuple[int, dict[str, object] | str]]:
    schema = pq.read_schema(pa.BufferReader(content))
    names = schema.names
    if problem := _unknown_column(names):
        raise AddendError(problem)
    if any(pa.types.is_nested(column.type) for column in schema):
        raise AddendError("has a column of lists or structures; expected plain numbers and texts")
    # Dictionaries stay encoded: a small file can hold the same long text a million times.
    file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=names)
    if file.metadata.num_rows > MAX_ROWS:
        raise AddendError(f"has {file.metadata.num_rows:,} rows; expected at most {MAX_ROWS:,}")
    line = 0
    for batch in file.iter_batches(batch_size=1_024):
        for column in batch.columns:
            values = column.dictionary if pa.types.is_dictionary(column.type) else column
            if values.nbytes > 64 * MAX_NAME_LENGTH * 1_024:
                raise AddendError("has texts that are too long for names")
        for row in batch.to_pylist():
            line += 1
            yield line, row


READERS.add(
    "tidy",
    Reader(
        title="Tidy table (CSV, JSONL, Parquet)",
        expects=f"one row per number, with columns of: {', '.join(COLUMNS)}",
        read=read,
        last=True,
    ),
)
