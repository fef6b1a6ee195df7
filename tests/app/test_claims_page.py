"""The claims pages: the ledger with its filters, one claim in full, and stores without results."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from analysis.claims import CLAIMS, WORDS
from dashboard.links import VIEWS
from tests.app.shown import shown

ROOT = Path(__file__).parents[2]
APP = ROOT / "dashboard" / "app.py"


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path_factory.getbasetemp() / "claims.duckdb"))


def opened(page: str = "claims", **parameters) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=300)
    app.switch_page(f"views/{page}.py")
    for name, value in parameters.items():
        app.query_params[name] = value
    return app.run()


def told(app: AppTest) -> str:
    return " ".join(shown(text.value) for text in (*app.markdown, *app.caption))


def named(app: AppTest) -> set[str]:
    """The claims that have a card."""
    return {id for id in CLAIMS if f"**{id}. " in told(app)}


def silent(app: AppTest) -> bool:
    return not (app.exception or app.error or app.warning)


def test_the_ledger_has_all_claims_and_filters_them():
    app = opened()
    assert silent(app), (app.exception, app.error, app.warning)
    assert named(app) == set(CLAIMS)
    text = told(app)
    assert all(word in text for word in WORDS), "a verdict without its word"
    app.selectbox(key="claims.document").select("004").run()
    assert silent(app)
    assert named(app) == {id for id in CLAIMS if "004" in CLAIMS[id].documents}
    assert "004" in app.query_params["document"]
    app.segmented_control(key="claims.by").set_value("verdict").run()
    assert silent(app)
    assert {heading.value.lower() for heading in app.subheader} & set(WORDS)
    app.selectbox(key="claims.verdict").select("mixed").run()
    assert named(app) < {id for id in CLAIMS if "004" in CLAIMS[id].documents}


@pytest.mark.parametrize("claim", ["C09", "C17", "C24"])
def test_a_claim_is_shown_in_full(claim):
    app = opened(claim=claim)
    assert silent(app), (app.exception, app.error, app.warning)
    text = told(app)
    one = CLAIMS[claim]
    assert one.rule in text
    assert one.statement in text
    headings = [heading.value for heading in app.subheader]
    assert ("The rule, written before looking" in headings) == (not one.changed)
    assert all(changed in text for changed in one.changed)
    assert any(heading.startswith("Speaks for it") for heading in headings)
    assert any(heading.startswith("Speaks against it") for heading in headings), (
        "contrary evidence is always looked for"
    )
    boxes = [box.label for box in app.expander if not box.label.endswith(" more")]
    assert boxes == [*(name.replace("_", " ") for name in one.queries), "How to cite this claim and its verdict"]


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


def test_home_counts_the_verdicts_and_leads_to_them():
    app = opened("home")
    assert silent(app), (app.exception, app.error, app.warning)
    assert "28 claims" in told(app)
    changed = sum(bool(claim.changed) for _, claim in CLAIMS.items())
    assert f"{changed} of the rules were changed since" in told(app)
    labels = [link.proto.label for link in app.get("page_link")]
    missing = [view.title for page, view in VIEWS.items() if page and f"**{view.title}.**" not in " ".join(labels)]
    assert not missing, f"home leads nowhere near {missing}"


def test_without_results_everything_is_not_yet_measured(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ADDEND_STORE", raising=False)
    app = opened()
    assert silent(app), (app.exception, app.error, app.warning)
    assert "28 not yet measured" in told(app)
    app = opened(claim="C05")
    assert not app.exception
    assert "python -m analysis measure-geometry" in [code.value for code in app.code]
