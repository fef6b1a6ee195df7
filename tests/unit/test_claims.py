"""Claims as data, the documents' own words, and the first verdicts as they were closed."""

import hashlib
import html
import re
from pathlib import Path

import duckdb
import pytest

from analysis import store_build
from analysis.claims import CLAIMS, DOCUMENTS, QUESTIONS, quotations, tables
from analysis.claims.statements import published, stored as statements
from analysis.core.formatting import interval_text, join_names, plural, significant
from analysis.core.provenance import ROOT
from analysis.rules import FOLDER
from analysis.store import fill, read
from analysis.store.sync import fingerprint, schema_statements

FIRST = [f"C{number:02}" for number in range(1, 29)]
"""The claims that version 1 of the rules judged: those that documents make."""
WITHDRAWN = ("C33",)
"""Claims whose statements were all withdrawn; they stand in the log alone."""
SEEDS = ROOT.parent / "shared" / "seeds"
"""The documents, where a checkout has them beside it."""
MOST_WORDS = 25


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_says_what_it_is(claim: str) -> None:
    one = CLAIMS[claim]
    assert one.title
    assert not one.title.endswith(".")
    assert one.question in QUESTIONS
    assert set(one.documents) <= set(DOCUMENTS)
    assert bool(one.documents) == bool(one.statement)
    assert one.documents or claim not in FIRST, "version 1 judged claims of documents alone"
    assert one.statement == "" or one.statement.endswith(".")


def test_no_claim_has_two_headings() -> None:
    written = re.findall(
        r'^\[\[heading\]\]\nid = "(C\d\d)"', "\n".join(path.read_text() for path in FOLDER.glob("*.toml")), re.MULTILINE
    )
    assert sorted(written) == list(CLAIMS)


def test_documents_are_all_used() -> None:
    assert {key for claim in CLAIMS.values() for key in claim.documents} == set(DOCUMENTS)


def test_the_store_has_the_claims_as_their_files_have_them(store: Path) -> None:
    assert statements.questions() == QUESTIONS
    assert statements.documents() == DOCUMENTS
    assert [(one.id, one.title, one.question, one.statement, one.documents) for one in statements.headings()] == [
        (one.id, one.title, one.question, one.statement, one.documents)
        for one in CLAIMS.values()
        if one.id not in WITHDRAWN
    ]
    assert not any(statements.parts(claim) for claim in WITHDRAWN)
    assert [one for heading in statements.headings() for one in heading.quotations] == list(quotations())


# ---- The documents' own words ----


@pytest.mark.parametrize("one", quotations(), ids=lambda one: f"{one.claim}-{one.document}")
def test_a_quotation_is_a_short_span_of_a_document_that_makes_the_claim(one) -> None:
    assert one.document in CLAIMS[one.claim].documents
    assert 0 < len(one.words.split()) <= MOST_WORDS
    assert one.place
    assert hashlib.sha256(one.words.encode()).hexdigest() == one.sha256
    if SEEDS.is_dir():  # Elsewhere the checksum says that nobody changed what was found.
        (path,) = SEEDS.glob(f"{one.document}_*.txt")
        assert one.words in path.read_text(encoding="utf-8")


def test_every_claim_of_a_document_is_quoted_and_stands_in_order() -> None:
    quoted = [one.claim for one in quotations()]
    assert set(quoted) == {claim.id for claim in CLAIMS.values() if claim.documents}
    assert quoted == sorted(quoted)
    assert {one.document for one in quotations()} == set(DOCUMENTS)


# ---- The first verdicts, as the committed results file has them ----


def test_the_first_verdicts_are_in_the_store_and_stay(store: Path) -> None:
    rows = read.query("SELECT * FROM first_verdicts ORDER BY id")
    assert rows.id.tolist() == FIRST
    view = read.query("SELECT id, verdict FROM claims WHERE rules_version = 1")
    assert (view.id.tolist(), view.verdict.tolist()) == (rows.id.tolist(), rows.verdict.tolist())
    logged = [one for one in statements.changes() if not one.statement and one.kind == "verdict"]
    assert {one.claim: one.after for one in logged} == dict(zip(rows.id, rows.verdict, strict=True))
    assert {one.day for one in logged} == {"2026-11-24"}


TITLES_THEN = {"C05": "Random vectors are nearly orthogonal"}
"""Claims whose title is another one today."""


def test_their_page_has_all_that_the_results_file_has(store: Path) -> None:
    """The page was made once; nothing makes it again, so it is held to the file that it shows."""
    text = html.unescape((ROOT / "data" / "first_verdicts.html").read_text(encoding="utf-8"))
    assert text.count('<details class="claim"') == len(FIRST)
    file = ROOT / "data" / "results" / "first_verdicts" / "version-1.parquet"
    assert hashlib.sha256(file.read_bytes()).hexdigest()[:12] in text
    parts = re.split(r'<details class="claim" id="(C\d\d)">', text)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    for row in read.query(
        "SELECT f.*, h.title, h.statement FROM first_verdicts f JOIN headings h USING (id)"
    ).itertuples():
        section = sections[row.id]
        for words in (
            TITLES_THEN.get(row.id, row.title),
            row.statement,
            row.verdict,
            row.sentence,
            row.rule,
            row.asks,
            row.missing,
            *row.changed,
        ):
            assert words in section, (row.id, words)
        for query in row.queries:
            assert query["sql"] in section
        for line in row.evidence:
            cells = [line["says"], line["source"], line["caveat"], line["unit"]]
            cells += [significant(line[name]) for name in ("value", "low", "high") if line[name] is not None]
            assert all(cell in section for cell in cells), (row.id, cells)
        assert section.count("<tr><td>") == len(row.evidence)
    assert not re.search(r"<script|<img|<link|@import|src=", text), "the page asks nobody for anything"


def test_they_say_when_and_by_which_code_they_were_closed(store: Path) -> None:
    run = read.query("SELECT created, git_sha, command FROM runs WHERE kind = 'first_verdicts'").iloc[0]
    assert re.fullmatch("[0-9a-f]{12}", run.git_sha), "a commit, and nothing that was changed beside it"
    assert run.git_sha in run.command
    assert run.git_sha in statements.first_verdicts_note()
    assert "closed on 24 November 2026" in statements.first_verdicts_note()
    assert run.created.startswith("2026-11-24T")


def test_without_their_file_there_are_none_and_statements_stay(data: Path) -> None:
    store_build.refresh()
    assert read.query("SELECT * FROM first_verdicts").empty
    assert statements.first_verdicts_note() == ""
    headings = statements.headings()
    assert [heading.id for heading in headings] == [claim for claim in CLAIMS if claim not in WITHDRAWN]
    assert all(heading.parts for heading in headings)


def test_a_changed_rule_makes_the_store_out_of_date(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(tables())
    assert fingerprint(tables()) == before
    monkeypatch.setattr("analysis.claims._code", lambda: "another")
    assert fingerprint(tables()) != before


# ---- What judges ----


def test_exactly_the_margin_is_not_more_than_it() -> None:
    for gain, unit in ((27.3 - 27.8, "BLEU"), (80.1 - 81.1, "points"), (0.5, "BLEU")):
        assert published.Gain(gain=gain, unit=unit, row={}).standing == "the same"
    assert published.Gain(gain=-0.51, unit="BLEU", row={}).standing == "worse"
    assert published.Gain(gain=1.01, unit="points", row={}).standing == "better"


def test_asking_leaves_no_table_behind() -> None:
    connection = duckdb.connect()
    for sql in schema_statements():
        connection.execute(sql)
    names = connection.execute("SHOW TABLES").fetchall()
    with fill.query_function(connection) as ask:
        assert ask("SELECT 'nan'::DOUBLE AS x, NULL AS y, 1 AS z") == [{"x": None, "y": None, "z": 1}]
        assert ask("SELECT * FROM published_pairs") == []
    assert connection.execute("SHOW TABLES").fetchall() == names


def test_numbers_in_sentences() -> None:
    assert significant(-0.00012) == "−1.2e−04"
    assert significant(0.12345) == "0.123"
    assert significant(1234567) == "1.2e+06"
    assert significant(12345) == "12,345"
    assert interval_text(None, 1) == ""
    assert interval_text(-1.0, 1.0) == " (95 % interval −1.00 to 1.00)"
    assert join_names(["a", "b", "c"]) == "a, b and c"
    assert join_names(["a, x", "b"]) == "a, x; b"


def test_of_two_parts_of_a_name_the_first_is_many() -> None:
    assert [plural(1, "seed"), plural(2, "seed")] == ["1 seed", "2 seeds"]
    assert plural(10, "pair of tables") == "10 pairs of tables"
    assert plural(1, "pair of tables") == "1 pair of tables"
