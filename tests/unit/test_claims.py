"""Claims as data, and the first verdicts as they were closed: what they say, where it leads, and what keeps them."""

import re
from pathlib import Path

import duckdb
import pytest

from analysis import store_build
from analysis.claims import CLAIMS, DOCUMENTS, QUESTIONS, WORDS, stored, tables
from analysis.claims.statements import published
from analysis.claims.statements import stored as statements
from analysis.core.errors import UnknownName
from analysis.core.formatting import interval_text, join_names, plural, significant
from analysis.links import VIEWS, link, parse
from analysis.rules import FOLDER
from analysis.store import fill, read
from analysis.store.sync import fingerprint, schema_statements

FIRST = [f"C{number:02}" for number in range(1, 29)]
"""The claims that version 1 of the rules judged."""


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_says_what_it_is(claim: str) -> None:
    one = CLAIMS[claim]
    assert one.title
    assert not one.title.endswith(".")
    assert one.question in QUESTIONS
    assert set(one.documents) <= set(DOCUMENTS)
    assert bool(one.documents) == bool(one.statement) == (claim in FIRST)
    assert one.statement == "" or one.statement.endswith(".")


def test_no_claim_has_two_headings() -> None:
    written = re.findall(
        r'^\[\[heading\]\]\nid = "(C\d\d)"', "\n".join(path.read_text() for path in FOLDER.glob("*.toml")), re.MULTILINE
    )
    assert sorted(written) == list(CLAIMS)


def test_documents_are_all_used() -> None:
    assert {key for claim in CLAIMS.values() for key in claim.documents} == set(DOCUMENTS)


# ---- The first verdicts, as the committed results file has them ----


def test_the_first_verdicts_are_complete(store: Path) -> None:
    entries = stored.ledger()
    assert [entry.id for entry in entries] == FIRST
    assert list(stored.counts()) == list(WORDS)
    assert sum(stored.counts().values()) == len(FIRST)
    view = read.query("SELECT id, verdict FROM claims WHERE rules_version = 1")
    assert view.id.tolist() == FIRST
    assert view.verdict.tolist() == [entry.verdict for entry in entries]
    for entry in entries:
        assert entry.verdict in WORDS
        assert len(entry.rule) > 150, "a rule names its thresholds and why"
        assert entry.asks
        assert entry.queries
        assert entry.views
        assert all(re.fullmatch(r"20\d\d-\d\d-\d\d: [A-Z].+\.", one) for one in entry.changed)
        assert {line.side for line in entry.evidence} <= {"for", "against", "beside"}
        assert {line.query for line in entry.evidence} <= set(entry.queries)
        assert (entry.command != "") == (entry.missing != "")


def test_they_say_when_and_by_which_code_they_were_closed(store: Path) -> None:
    run = read.query("SELECT created, git_sha, command FROM runs WHERE kind = 'first_verdicts'").iloc[0]
    assert re.fullmatch("[0-9a-f]{12}", run.git_sha), "a commit, and nothing that was changed beside it"
    assert run.git_sha in run.command
    assert run.git_sha in stored.first_verdicts_note()
    assert "closed on 24 November 2026" in stored.first_verdicts_note()
    assert run.created.startswith("2026-11-24T")


def test_what_they_show_can_be_opened(store: Path) -> None:
    for entry in stored.ledger():
        lines = [(line.page, line.values) for line in entry.evidence if line.page]
        for page, values in [*lines, *((view.page, view.values) for view in entry.views)]:
            found, read_back = parse(link(page, values))
            assert found is VIEWS[page]
            assert {**read_back, **values} == read_back


def test_every_query_behind_them_runs_as_readers_run_it(store: Path) -> None:
    for entry in stored.ledger():
        for sql in entry.queries.values():
            assert sql.startswith(("SELECT", "WITH"))
            assert '"' not in sql, "it could not stand between double quotes on a command line"
            read.query(sql)


def test_without_their_file_there_are_none_and_statements_stay(data: Path) -> None:
    store_build.refresh()
    assert stored.ledger() == ()
    assert stored.first_verdicts_note() == ""
    headings = statements.headings()
    assert [heading.id for heading in headings] == list(CLAIMS)
    assert {heading.first for heading in headings} == {None}
    assert all(heading.parts for heading in headings)
    with pytest.raises(UnknownName, match="Known: none yet"):
        stored.claim("C01")


def test_an_unknown_claim_is_answered_with_the_known_ones(store: Path) -> None:
    with pytest.raises(UnknownName, match=r"There is no claim named 'C99'\. Known: C01, C02"):
        stored.claim("C99")


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
