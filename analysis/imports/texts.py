"""Files as text: UTF-8, or a sentence that says what the file is instead and what to do."""

import re

from analysis.core.errors import AddendError

ARCHIVE = "unpack it"
AS_CSV = "open it there and save the sheet as CSV UTF-8"
SIGNATURES = (
    (b"\x1f\x8b", "a gzip archive", ARCHIVE),
    (b"BZh", "a bzip2 archive", ARCHIVE),
    (b"\xfd7zXZ\0", "an xz archive", ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", ARCHIVE),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", ARCHIVE),
    (b"Rar!", "a RAR archive", ARCHIVE),
    (b"\xd0\xcf\x11\xe0", "a workbook of an older Excel (.xls)", AS_CSV),
    (b"PAR1", "a Parquet file", "name it .parquet"),
    (b"SQLite format 3\0", "an SQLite database", "name it .db"),
    (b"ARROW1", "an Arrow (Feather) file", "save it as Parquet or CSV"),
    (b"\x89HDF", "an HDF5 file", "save it as Parquet or CSV"),
    (b"\x93NUMPY", "an array of NumPy", "save it as CSV"),
    (b"%PDF", "a PDF", "save its table as CSV UTF-8"),
    (b"{\\rtf", "a rich-text document", "save it as plain text, UTF-8"),
)
"""The first bytes of a file, what it is, and what to do."""
UTF_8 = "save it as UTF-8 (in Excel: CSV UTF-8; in PowerShell: Out-File -Encoding utf8)"


class UnreadableFile(AddendError):
    """A file that is not the text, or the table, that its name says; the sentence has no subject."""


def text(content: bytes) -> str:
    """The text of a file, without a byte-order mark. Raises UnreadableFile where it is no UTF-8 text."""
    if problem := disguise(content):
        raise UnreadableFile(problem)
    try:
        decoded = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableFile(
            f"is no UTF-8 text: its line {line} has the byte 0x{content[error.start]:02x}, as Windows-1252, Latin-1 "
            f"and other older encodings write; {UTF_8}"
        ) from None
    if "\0" in decoded:
        raise UnreadableFile(f"holds NUL characters, as no text does; expected UTF-8 text: {UTF_8}")
    return decoded


def disguise(content: bytes) -> str | None:
    """Names a file that is no UTF-8 text, and what to do with it, as the end of a sentence; None if unknown."""
    if encoding := _wide_encoding(content):
        return f"is {encoding} text, as Excel's Unicode text and PowerShell's > are; {UTF_8}"
    if content.startswith(b"PK\x03\x04"):
        if b"xl/" in content:
            return f"is an Excel workbook (.xlsx); {AS_CSV}"
        if b"opendocument.spreadsheet" in content[:200]:
            return f"is an OpenDocument spreadsheet (.ods); {AS_CSV}"
        return f"is a zip archive; {ARCHIVE}"
    found = next(((kind, remedy) for mark, kind, remedy in SIGNATURES if content.startswith(mark)), None)
    if found:
        return f"is {found[0]}; {found[1]}"
    if re.match(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)", content[:200], re.IGNORECASE):
        return "is a web page (HTML), such as one that asks to log in; download the file itself"
    return None


def _wide_encoding(content: bytes) -> str | None:
    """UTF-16 or UTF-32, told by its byte-order mark, or without one by where the NUL bytes of ASCII letters are."""
    for mark, name in (
        (b"\xff\xfe\0\0", "UTF-32"),
        (b"\0\0\xfe\xff", "UTF-32"),
        (b"\xff\xfe", "UTF-16"),
        (b"\xfe\xff", "UTF-16"),
    ):
        if content.startswith(mark):
            return name
    start = content[:2_000]
    start = start[: len(start) // 4 * 4]
    if not start or 0 not in start:
        return None
    empty = [start[place::4].count(0) / (len(start) / 4) for place in range(4)]
    if min(empty[1:]) > 0.9 or min(empty[:3]) > 0.9:
        return "UTF-32"
    odd, even = (empty[1] + empty[3]) / 2, (empty[0] + empty[2]) / 2
    return "UTF-16" if max(odd, even) > 0.5 and min(odd, even) < 0.1 else None
