"""The claims pages: the ledger with its filters, one claim in full, and stores without results."""

from functools import partial
from html import escape

import pytest
from streamlit.testing.v1 import AppTest

from analysis.claims import CLAIMS
from analysis.claims.statements.stored import WORDS as STATEMENT_WORDS
from analysis.claims.statements.stored import statements as judgements
from analysis.claims.stored import claim as first
from analysis.claims.stored import first_verdicts_note, ledger
from tests.app import shown as reader
from tests.app.shown import shown

opened = partial(reader.opened, "claims")


def told(app: AppTest) -> str:
    return " ".join(shown(text.value) for text in (*app.markdown, *app.caption))


def named(app: AppTest) -> set[str]:
    """The claims that have a heading or, of the first verdicts, a card."""
    return {id for id in CLAIMS if f"**{id}. " in told(app)}


def statements(app: AppTest) -> str:
    """The rows of statements on the page, as HTML."""
    return " ".join(block.value for block in app.get("html"))


def silent(app: AppTest) -> bool:
    return not (app.exception or app.error or app.warning)


def test_the_ledger_has_all_claims_and_filters_them():
    app = opened()
    assert silent(app), (app.exception, app.error, app.warning)
    assert named(app) == set(CLAIMS)
    rows = statements(app)
    assert rows.count('<td class="verdict"') == len(judgements())
    assert all(f"</span> {one.verdict}<" in rows for one in judgements()), "a verdict without its word"
    assert all(escape(one.statement) in rows for one in judgements())
    app.selectbox(key="claims.document").select("004").run()
    assert silent(app)
    assert named(app) == {id for id in CLAIMS if "004" in CLAIMS[id].documents}
    assert "004" in app.query_params["document"]
    app.segmented_control(key="claims.by").set_value("verdict").run()
    assert silent(app)
    assert {heading.value.lower() for heading in app.header} & set(STATEMENT_WORDS)
    app.selectbox(key="claims.verdict").select("contradicted").run()
    assert named(app) < {id for id in CLAIMS if "004" in CLAIMS[id].documents}
    assert "</span> contradicted<" in statements(app)
    assert "</span> supported<" not in statements(app)


def test_the_first_verdicts_are_shown_as_they_were():
    app = opened(rules="1")
    assert silent(app), (app.exception, app.error, app.warning)
    assert named(app) == {entry.id for entry in ledger()}
    assert shown(first_verdicts_note()) in told(app)
    app = opened(verdict="inconclusive")
    assert silent(app), "a link from before version 2 opens what it opened"
    assert named(app) == {entry.id for entry in ledger() if entry.verdict == "inconclusive"}


@pytest.mark.parametrize("claim", ["C09", "C17", "C24"])
def test_a_claim_is_shown_in_full(claim):
    app = opened(claim=claim)
    assert silent(app), (app.exception, app.error, app.warning)
    text = told(app)
    one = first(claim)
    assert one.rule in text
    assert one.statement in text
    headings = [heading.value for heading in app.subheader]
    assert "The first verdict, on the claim as a whole" in headings
    assert ("Changed after its verdict was known" in text) == bool(one.changed)
    parts = [part for part in judgements() if part.parent == claim]
    assert parts
    rows = statements(app)
    assert all(escape(part.statement) in rows for part in parts)
    assert all(shown(part.sentence) in shown(text) for part in parts)
    assert all(changed in text for changed in one.changed)
    assert any(heading.startswith("Speaks for it") for heading in headings)
    assert any(heading.startswith("Speaks against it") for heading in headings), (
        "contrary evidence is always looked for"
    )
    boxes = [box.label for box in app.expander if not box.label.endswith(" more")]
    assert [box.split(":")[0] for box in boxes[: len(parts)]] == [f"Behind {part.id}" for part in parts]
    assert boxes[len(parts) :] == [
        *(name.replace("_", " ") for name in one.queries),
        "How to cite this claim and its verdicts",
    ]


def test_a_caveat_is_said_once_and_then_named():
    app = opened(claim="C01")
    assert silent(app), (app.exception, app.error, app.warning)
    evidence = "\n".join(shown(block.value) for block in app.markdown)
    assert evidence.count("It cannot be credited to concatenation") == 1
    assert evidence.count("Caveat: see 17.") == 5


def test_an_unknown_claim_is_said_and_the_ledger_shown():
    app = opened(claim="C99")
    assert not app.exception
    assert any("C99" in shown(warning.value) for warning in app.warning)
    assert named(app) == set(CLAIMS)


def test_without_results_everything_is_not_yet_measured(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ADDEND_STORE", raising=False)
    app = opened()
    assert silent(app), (app.exception, app.error, app.warning)
    by_dimensions = {"C01a", "C01b"}  # computed from the sizes of a model that comes with Addend
    undecided = [one for one in judgements() if one.id not in by_dimensions]
    assert {one.verdict for one in undecided} == {"open"}, "nothing is measured, so nothing is decided"
    assert f"{len(undecided)} open" in told(app)
    app = opened(claim="C05")
    assert silent(app), (app.exception, app.error, app.warning)
    assert "The first verdict, on the claim as a whole" not in [heading.value for heading in app.subheader]
    app = opened(rules="1")
    assert not app.exception
    assert "data/results/first_verdicts" in " ".join(shown(one.value) for one in (*app.info, *app.warning, *app.error))
