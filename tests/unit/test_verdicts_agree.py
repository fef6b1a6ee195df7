"""Every page that says how two trained variants compare says what the ledger says.

The ledger's word is that of `contests.standing`; the pages are held to it by the words and numbers that they show.
"""

import re
from pathlib import Path

import pytest
from judged import statement

from analysis import links
from analysis.claims.statements import contests, stored
from analysis.claims.statements.corrections import correcting_files
from analysis.claims.statements.stored import statements
from analysis.core.formatting import fixed
from analysis.figures import FIGURES
from analysis.figures.training import trainings as training
from analysis.narrative.answer import stored_answer as answer
from analysis.narrative.reading import told
from analysis.rules import repeating_contests, training_rules

RULES = training_rules()
FINAL = [one for one in RULES.statements if one.kind == "final_loss"]


@pytest.fixture
def decided(store: Path) -> list[contests.Contest]:
    """Contests whose every training is stored, but for those whose place a later file has taken."""
    replaced = {contest.asks_again for contest in repeating_contests()} - {one.id for one in statements()}
    asked = [one for one in FINAL if one.id not in replaced]
    found = [one for one in asked if (made := stored.standing(one.variant, one.baseline)) and not made.missing]
    assert len(found) >= 8, "the committed data decide the core contest"
    return found


def test_the_ledger_says_the_standing(decided) -> None:
    for one in decided:
        made, said = stored.standing(one.variant, one.baseline), statement(one.id)
        assert made is not None
        assert said.effect == pytest.approx(made.effect)
        if said.rules_sha in {file.sha256 for file in correcting_files()}:
            continue  # judged by other tests since: test_corrections.py
        if made.word == contests.NOT_RESOLVED:
            assert said.verdict == "open"
        else:
            assert said.sentence.endswith(f": {made.word}.")
            assert (said.verdict == "supported") == (made.word in contests.ALLOWED[one.expect])


def test_the_training_page_says_the_same(decided) -> None:
    for base in {one.baseline for one in decided}:
        objective = training.objective(base)
        params = links.VIEWS["training"].defaults() | {"preset": RULES.preset, "part": "gap", "objective": objective}
        usual = base == training.BASELINES[objective]
        table = FIGURES["training_gap"].of(params | {"baseline": "" if usual else base}).frame().set_index("variant")
        for one in decided:
            if one.baseline == base and one.variant in table.index:
                made, row = stored.standing(one.variant, base), table.loc[one.variant]
                assert row.standing == made.word
                if row.seeds == len(one.seeds):
                    assert row.gap == pytest.approx(made.effect)
                else:
                    assert row.gap * made.effect > 0, "more seeds were trained since, for another statement"
                assert row.told_apart == (made.word in (contests.BETTER, contests.WORSE))


def test_the_guided_reading_says_the_same(decided) -> None:
    for one in decided:
        if one.baseline == "bert_a" and not one.variant.startswith("causal"):
            made, said = stored.standing(one.variant, one.baseline), told.compared(one.variant, RULES.preset)
            assert f"The verdict is “{made.word}”, by rules that were frozen" in said
            side = "below" if made.effect < 0 else "above"
            assert f"{fixed(abs(made.effect))} nats per predicted token {side}" in said


def test_what_no_rule_judges_is_called_exploratory(store: Path) -> None:
    exploratory = [name for name in told.variants() if told._preset(name) == told.EXPLORATORY]
    assert exploratory
    for name in exploratory:
        assert "decide nothing" in told.compared(name)


def test_home_says_the_same_of_concatenation(store: Path) -> None:
    (sentence,) = [step.sentence for step in answer.answer() if step.name == "concatenated"]
    splits = {f"C17{part}": statement(f"C17{part}") for part in "abc"}
    won = [id for id, one in splits.items() if one.verdict == "supported"]
    assert ("ends lower with" in sentence) == bool(won)
    if not won and all(one.verdict == "contradicted" for one in splits.values()):
        assert "ends higher than adding" in sentence
        sizes = [float(size) for size in re.findall(r"\d\.\d\d", sentence.split("nats")[0])]
        assert sizes == pytest.approx(sorted([f(one.effect for one in splits.values()) for f in (min, max)]), abs=0.005)
