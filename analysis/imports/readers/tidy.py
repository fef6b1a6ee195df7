"""The tidy form: CSV with a header, JSON lines, or Parquet; one row per number."""

import csv
import io
import json
from collections.abc import Iterable, Iterator

import pyarrow as pa

from analysis.core.errors import AddendError
from analysis.core.formatting import join_names
from analysis.imports.limits import MAX_BAD, MAX_LISTED
from analysis.imports.reader import (
    READERS,
    BadRow,
    ExtractedRows,
    Files,
    Reader,
    UncheckedRow,
    UserMetadata,
    ends_a_curve,
)
from analysis.imports.rows import COLUMNS
from analysis.imports.tables import parquet_rows, parquet_schema
from analysis.imports.texts import UnreadableFile, text

SUFFIXES = (".csv", ".jsonl", ".parquet")


def read(files: Files, metadata: UserMetadata) -> ExtractedRows:
    """Reads every file with one of the `SUFFIXES`."""
    reading = ExtractedRows()
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
                    reading.rows.append(UncheckedRow(path, line, _with_metadata(row, metadata)))
        except UnreadableFile as error:
            reading.bad.append(BadRow(path, None, f"could not be read: it {error}."))
        except AddendError as error:
            reading.bad.append(BadRow(path, None, f"could not be read ({error})"))
    return reading


def _with_metadata(row: dict[str, object], metadata: UserMetadata) -> dict[str, object]:
    """The row with the user's metadata in its empty columns."""
    defaults = {name: value for name, value in vars(metadata).items() if value is not None}
    if row.get("step") not in (None, ""):
        defaults = {name: value for name, value in defaults.items() if name not in ("task", "learning_rate")}
    return {**row, **{name: value for name, value in defaults.items() if row.get(name) in (None, "")}}


def _unknown_column(names: Iterable[object]) -> str | None:
    unknown = sorted(repr(str(name)[:40]) for name in set(names) - set(COLUMNS))
    if not unknown:
        return None
    listed = join_names(unknown[:MAX_LISTED])
    columns = f"column {listed} is" if len(unknown) == 1 else f"columns {listed} are"
    return f"the {columns} not known; expected of: {', '.join(COLUMNS)}"


def _csv(content: bytes) -> Iterator[tuple[int, dict[str, object] | str]]:
    table = csv.reader(io.StringIO(text(content), newline=""), strict=True)
    try:
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
    except csv.Error:
        raise AddendError(
            f"line {table.line_num} is no row of a CSV; expected quotes that are closed, and doubled inside a cell"
        ) from None


def _jsonl(content: bytes) -> Iterator[tuple[int, dict[str, object] | str]]:
    for line, written in enumerate(text(content).split("\n"), start=1):
        if not written.strip():
            continue
        try:
            row = json.loads(written)
        except (ValueError, RecursionError):
            yield line, "is no JSON; expected one object a line"
            continue
        if not isinstance(row, dict):
            yield line, "is no JSON object; expected one a line"
        else:
            yield line, _unknown_column(row) or _text_for_a_number(row) or row


def _parquet(content: bytes) -> Iterator[tuple[int, dict[str, object] | str]]:
    schema = parquet_schema(content)
    if problem := _unknown_column(schema.names):
        raise AddendError(problem)
    if any(pa.types.is_nested(column.type) for column in schema):
        raise AddendError("has a column of lists or structures; expected plain numbers and texts")
    for line, row in enumerate(parquet_rows(content), start=1):
        yield line, _text_for_a_number(row) or row


def _text_for_a_number(row: dict[str, object]) -> str | None:
    """The problem of a value that is a text where the form has numbers."""
    value = row.get("value")
    if not isinstance(value, str) or not value or ends_a_curve(value):
        return None
    return f"value is the text {value[:40]!r}; expected a number without quotes"


READERS.add(
    "tidy",
    Reader(
        title="Tidy table (CSV, JSONL, Parquet)",
        expects=f"one row per number, with columns of: {', '.join(COLUMNS)}",
        read=read,
        last=True,
    ),
)
