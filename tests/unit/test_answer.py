"""The answer: every sentence is computed from the store, leads to its evidence, and turns when verdicts do."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.claims.statements import stored as statements
from analysis.claims.statements.base import CONTRADICTED, OPEN, SUPPORTED
from analysis.links import link, parse
from analysis.narrative.answer import SENTENCES, stored, tables
from analysis.narrative.answer.cards import cards
from analysis.narrative.answer.sentences.algebra import error_bound, largest_error
from analysis.store import read


def facts(**changed: str) -> list:
    """The stored statements, some with another verdict."""
    return [
        replace(one, verdict=changed.get(one.id, one.verdict), would_decide=one.would_decide or "a look at it")
        for one in statements.statements()
    ]


def ask(sql: str) -> list[dict]:
    return read.query(sql).to_dict("records")


def told(**changed: str) -> dict[str, str]:
    return {row["name"]: row["sentence"] for row in tables(facts(**changed), ask)["answers"]}


def test_every_sentence_is_told_and_leads_to_its_evidence(store: Path) -> None:
    steps = stored.answer()
    assert {step.name for step in steps} == {name for name, _ in SENTENCES.items()}
    assert [step.place for step in steps] == list(range(len(steps)))
    known = {one.parent for one in statements.statements()}
    for step in steps:
        assert step.bold in step.sentence
        assert step.sentence.endswith(".")
        assert step.claim in known | {""}
        assert not step.page or parse(link(step.page, step.values))
        assert not read.query(step.query).empty, "the query behind it gives something"
    view = read.query('SELECT * FROM answer ORDER BY "order"')
    assert list(view.sentence) == [step.sentence for step in steps]
    for card in cards():
        assert parse(link(card.page, card.values))


def test_the_answer_turns_when_verdicts_do(store: Path) -> None:
    better = {f"C17{part}": SUPPORTED for part in "abc"}
    none = dict.fromkeys(better, CONTRADICTED)
    undecided = dict.fromkeys(better, OPEN)
    assert "learns more with 3 of 3 layouts" in told(**better)["concatenated"]
    assert "some concatenations of the same width do better" in told(**better)["lead"]
    assert "does not learn more" in told(**none)["concatenated"]
    assert "none of the 3 concatenations of the same width that we trained does better" in told(**none)["lead"]
    assert "was ahead (−0.53 nats)" in told(**none)["concatenated"], "contrary evidence stands beside it"
    assert "was ahead" not in told(**better)["concatenated"]
    assert "is open for 3 of 3 layouts" in told(**undecided)["concatenated"]
    assert "hurts our own narrow encoders" in told(C10h=CONTRADICTED)["room"]
    assert "our own narrow encoders" not in told(C10h=SUPPORTED)["room"]
    assert "being measured" in told(**undecided)["lead"]
    assert "cheaper" in told(C01b=SUPPORTED)["lead"]
    assert "not much cheaper" in told(C01b=CONTRADICTED)["lead"]
    assert "sharing the matrix costs something" in told(C18c=SUPPORTED)["late"]
    assert "does not delay the learning of word order" in told(C18c=CONTRADICTED)["late"]
    assert "all four terms kept" in told(C08a=CONTRADICTED)["late"]
    assert "all four terms" not in told(C08a=OPEN)["late"]
    assert "falls from" in told(C10d=CONTRADICTED)["room"]
    assert "changes only from" in told(C10d=SUPPORTED)["room"]
    assert "the best way known" not in told(C18d=CONTRADICTED, C22c=OPEN)["lead"]
    assert "It is not the best way known" in told(C18d=SUPPORTED)["lead"]
    assert "All" in told(**{one.id: SUPPORTED for one in statements.statements()})["still_open"]


def test_the_identity_is_checked_to_rounding() -> None:
    """Against numpy in long double: the error that is printed is that of float64, not that of a wrong identity."""
    error = largest_error()
    assert 0 < error < error_bound() <= 1e-12
    assert error_bound() < 10 * error
    rng = np.random.default_rng(1)
    w, p = rng.normal(size=(8, 5)).astype(np.longdouble), rng.normal(size=(8, 3)).astype(np.longdouble)
    matrix = rng.normal(size=(8, 4)).astype(np.longdouble)
    assert np.abs(np.concatenate([w, p], -1) @ matrix - (w @ matrix[:5] + p @ matrix[5:])).max() < 1e-17


def test_the_command_prints_it(store: Path, capsys) -> None:
    from analysis.commands.answer import answer

    answer(as_json=False)
    words = " ".join(capsys.readouterr().out.split())
    for step in stored.answer():
        assert step.sentence in words.replace("all- MiniLM", "all-MiniLM"), step.name
    answer(as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert [row["sentence"] for row in rows] == [step.sentence for step in stored.answer()]


@pytest.mark.parametrize("kind", ["certain", "measured", "open"])
def test_every_kind_of_card_is_there(store: Path, kind: str) -> None:
    [card] = [card for card in cards() if card.kind == kind]
    assert card.sentence
    assert card.link
