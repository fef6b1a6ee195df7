"""Corrections of statements: what takes whose place, and that nothing is lost of what was said before."""

from dataclasses import replace
from pathlib import Path

import pytest
from judged import behind_another, statement
from scipy import stats

from analysis.claims.statements import corrections
from analysis.claims.statements.by_id import StatementsById
from analysis.claims.statements.encoders import repetition
from analysis.claims.statements.judgement import CONTRADICTED, OPEN, SUPPORTED
from analysis.claims.statements.stored import linked_statements, statements
from analysis.rules import MEASUREMENTS, SURGERIES, TRAININGS, encoder_contests, repeating_contests, rule_files
from analysis.store import read

CONTENT = corrections.corrections_file().content


def test_every_correction_says_why() -> None:
    for kind in ("withdrawn", "reworded", "contest", "statement"):
        assert all(entry["changed"].endswith(".") for entry in CONTENT[kind]), kind


def test_what_is_corrected_stays_in_the_log_with_its_verdict(store: Path) -> None:
    log = read.query("SELECT * FROM superseded").set_index("id")
    current = {one.id for one in statements()}
    withdrawn = {entry["id"] for file in corrections.correcting_files() for entry in file.content.get("withdrawn", ())}
    assert not withdrawn & current
    repeated = {
        name for name, (contest, rules) in encoder_contests().items()
        if name not in withdrawn and (again := repetition(contest, rules))
        and again[0].id not in behind_another() and not statement(again[0].id).missing
    }  # fmt: skip
    assert {"C34c", "C34d"} <= repeated
    asked_again = {
        contest.asks_again: contest for contest in repeating_contests()
        if contest.id not in withdrawn and contest.id not in behind_another()
        and (contest.id not in current or not statement(contest.id).missing)
    }  # fmt: skip
    assert {"C15a", "C15c", "C22b", "C24a", "C24b", "C25a", "C27a"} <= set(asked_again)
    for name, again in asked_again.items():
        reasons = " ".join(log[log.index == name].changed)
        assert f" on {len(again.seeds)} new seeds" in reasons
        first = encoder_contests().get(name)
        before = first[0].preset if first else "cpu2"
        assert ("by recipe width128," in reasons) == (again.preset != before)
    assert not (repeated | set(asked_again)) & current
    for name in repeated:
        later = repetition(*encoder_contests()[name])
        assert later
        assert f"{len(later[1].seeds)} new seeds" in log.changed[name]
    assert set(log[log.replaced_by == "withdrawn"].index) == withdrawn
    made_again = log[(log.replaced_by != "withdrawn") & (log.replaced_by != log.index)]
    assert set(made_again.index) == repeated | set(asked_again)
    encoders = {id: (one.variant, one.baseline, one.kind) for id, (one, _) in encoder_contests().items()}
    trained = {
        one["id"]: (one["variant"], one["baseline"], one["kind"])
        for file in rule_files() for kind in ("statement", "contest") for one in file.content.get(kind, ())
        if "variant" in one
    }  # fmt: skip
    for name, later in made_again.replaced_by.items():
        assert later in current | set(made_again.index), "the statement in its place is judged, or was asked again, too"
        sides = [{**trained, **encoders}[id] for id in (name, later)]
        assert sides[0] == sides[1], "the same difference, and no reverse of it, where a sentence names the first"
        now = statement(str(name))
        assert now == statement(str(later))
        assert linked_statements()[str(name)] == (now.parent, now.id), "a link to the first opens the one in its place"
    assert set(log[log.replaced_by == log.index].index) <= current | set(made_again.index) | withdrawn
    assert (log.changed.str.len() > 20).all()
    assert log.loc["C25c", "verdict"] == CONTRADICTED
    assert log.loc["C32c", "verdict"] == CONTRADICTED
    before = {one["id"] for file in rule_files() if file.path in (TRAININGS, MEASUREMENTS, SURGERIES)
              for one in file.content["statement"]}  # fmt: skip
    assert before <= current | set(log.index), "a statement of version 2 is neither judged nor in the log"


def test_a_statement_is_found_by_the_ids_that_its_question_had(store: Path) -> None:
    first, last = (replace(statement("C16a"), id=id) for id in ("C16a", "C16z"))
    judged = StatementsById([last], {"C16a": "C16b", "C16b": "C16z", "C16y": "C16x"})
    assert judged["C16a"] is judged["C16b"] is judged["C16z"] is last
    assert list(judged.values()) == [last], "a question stands once"
    assert judged.get("C16y") is None
    assert "C16y" not in judged
    both = StatementsById([first, last], {"C16a": "C16z"})
    assert both["C16a"] is first, "a statement that is judged stands for itself"


def test_a_rewording_keeps_verdict_and_number(store: Path) -> None:
    log = read.query("SELECT * FROM superseded").set_index("id")
    made_again = log[log.replaced_by != log.index]
    assert "C17d" in made_again.index, "a statement may be reworded first, and made again later"
    for entry in CONTENT["reworded"]:
        before = log[log.index == entry.get("of", entry["id"])]
        old = before.iloc[(before.replaced_by != before.index).to_numpy().argsort(kind="stable")[0]]
        new = made_again.loc[entry["id"]] if entry["id"] in made_again.index else statement(entry["id"])
        assert (new.verdict, new.effect) == (old.verdict, old.effect)
        assert new.statement != old.statement


@pytest.mark.parametrize(
    ("id", "verdict"),
    [("C16a", SUPPORTED), ("C32c", OPEN), ("C30d", CONTRADICTED), ("C34q", SUPPORTED), ("C34r", SUPPORTED),
     ("C17f", CONTRADICTED), ("C17h", OPEN), ("C17i", SUPPORTED)],
)  # fmt: skip
def test_stored_trainings_by_the_tests_against_a_margin(store: Path, id: str, verdict: str) -> None:
    """The verdicts of the committed runs, each with scipy's interval of the paired differences."""
    one = statement(id)
    assert one.verdict == verdict
    values: dict[str, dict[str, float]] = {}
    for reading in one.readings:
        values.setdefault(reading.family, {})[reading.source.rsplit(" ", 1)[1]] = reading.value or 0.0
    variant, baseline = values.values()
    if one.kind == "steps_to_leave":
        return
    interval = stats.ttest_1samp([variant[seed] - baseline[seed] for seed in baseline], 0).confidence_interval()
    assert (one.low, one.high) == pytest.approx(tuple(interval))


def test_costs_by_dimensions_are_transformers_own(store: Path) -> None:
    """Parameters of BERT's own layers at width 384 and at 398, with the table of words as it was."""
    from transformers import BertConfig, BertModel

    def parameters(width: int) -> dict[str, int]:
        config = BertConfig(hidden_size=width, num_hidden_layers=1, num_attention_heads=1, intermediate_size=4 * width)
        model = BertModel(config, add_pooling_layer=False)
        return {name: weight.numel() for name, weight in model.named_parameters() if "encoder" in name}

    row = read.query("SELECT * FROM models WHERE model = 'all-MiniLM-L6-v2'").iloc[0]
    width = int(row.hidden_size)
    layer = sum(parameters(width + 14).values()) - sum(parameters(width).values())
    more = int(row.layers) * layer - int(row.positions) * (width - 14)
    assert statement("C01a").effect == pytest.approx(more / row.parameters)
    assert statement("C01b").effect == pytest.approx(((width + 14) / width) ** 2 - 1)
