"""Rows of CSV and Parquet files, each refused as a whole or by line where it is not what its header says."""

import csv
import io
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.core.errors import AddendError
from analysis.imports.limits import MAX_ROWS
from analysis.imports.texts import UnreadableFile, disguise, text

LONGEST_BATCH = 5_000_000
"""Bytes of the texts in a column of 1,024 rows; names are short."""
NO_TABLE = "is no Parquet file that can be read, or a damaged one; write it again"


def csv_header(content: bytes) -> list[str]:
    """The first row of a CSV. Raises UnreadableFile where the file is no text."""
    try:
        return next(csv.reader(io.StringIO(text(content), newline="")), [])
    except csv.Error:
        return []


def csv_rows(content: bytes) -> Iterator[tuple[int, dict[str, str] | str]]:
    """Lines with their cells by column, or with what is wrong with them. Raises UnreadableFile for what is no text."""
    table = csv.reader(io.StringIO(text(content), newline=""))
    header = next(table, [])
    if doubled := [name for name, count in Counter(header).items() if count > 1 and name]:
        yield 1, f"has two columns {doubled[0]!r}; keep one of them."
        return
    try:
        for cells in table:
            if len(cells) == len(header):
                yield table.line_num, dict(zip(header, cells, strict=True))
            elif cells:
                yield table.line_num, f"has {len(cells)} cells; expected {len(header)}, as the header has."
    except csv.Error:
        yield table.line_num, "is no row of a CSV; expected closed quotes and cells of less than 131,072 characters."


def parquet_schema(content: bytes) -> pa.Schema:
    """The columns of a Parquet file. Raises UnreadableFile where it is none."""
    if not content.startswith(b"PAR1"):
        raise UnreadableFile(disguise(content) or NO_TABLE)
    try:
        return pq.read_schema(pa.BufferReader(content))
    except MemoryError:  # Arrow's own is an ArrowException as well
        raise
    except (pa.ArrowException, OSError):
        raise UnreadableFile(NO_TABLE) from None


def parquet_rows(content: bytes) -> Iterator[dict[str, object]]:
    """Rows of plain numbers and texts. Raises AddendError where there are too many."""
    schema = parquet_schema(content)
    if len(set(schema.names)) < len(schema.names):
        raise AddendError("names a column twice; expected each once")
    try:
        # Dictionaries stay encoded: a small file can hold the same long text a million times.
        file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=schema.names)
        if file.metadata.num_rows > MAX_ROWS:
            raise AddendError(f"has {file.metadata.num_rows:,} rows; expected at most {MAX_ROWS:,}")
        for batch in file.iter_batches(batch_size=1_024):
            for column in batch.columns:
                values = column.dictionary if pa.types.is_dictionary(column.type) else column
                if values.nbytes > LONGEST_BATCH:
                    raise AddendError("has texts that are too long for names")
            yield from batch.to_pylist()
    except MemoryError:
        raise
    except (pa.ArrowException, OSError):
        raise UnreadableFile(NO_TABLE) from None
