"""The self-check's right answers are those of the store, of the ledger's verdicts and of transformers' own layers."""

from pathlib import Path

import pytest
import torch
from judged import statement
from scipy import stats

from analysis.narrative.reading import STEPS
from analysis.narrative.self_check import Check, checks
from analysis.store import read


@pytest.fixture
def asked(store: Path) -> dict[str, Check]:
    return {check.step: check for check in checks()}


def answer(check: Check) -> str:
    return check.options[check.right]


def test_six_questions_follow_the_steps_and_have_one_answer_each(asked: dict[str, Check]) -> None:
    places = [STEPS[step].place for step in asked]
    assert len(places) == 6
    assert places == sorted(places)
    for check in asked.values():
        assert check.question.endswith("?")
        assert check.because.endswith(".")
        assert len(set(check.options)) == len(check.options) >= 3


def test_the_least_room_is_the_first_number_whose_whole_interval_is_within_the_margin(asked: dict[str, Check]) -> None:
    least = read.query(
        "SELECT min(rank) AS least FROM newest_surgery WHERE operation = 'separated' AND difference_low > -0.01 "
        "AND model = 'all-MiniLM-L6-v2'"
    ).least[0]
    assert int(answer(asked["cut"])) == least
    fewer = read.query(
        f"SELECT max(difference_low) AS best FROM newest_surgery WHERE operation = 'separated' AND rank < {least} "
        "AND model = 'all-MiniLM-L6-v2'"
    )
    assert fewer.best[0] < -0.01, "with fewer of those tried it does not"


def test_the_cost_is_the_ledgers(asked: dict[str, Check]) -> None:
    effect = statement("C01b").effect
    assert effect is not None
    assert answer(asked["saving"]) == f"{100 * effect:.0f} %"


def test_a_shuffle_leaves_the_last_word_of_an_encoder_without_positions_as_it_was(asked: dict[str, Check]) -> None:
    """By torch's own encoder of as many layers as the question names."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True, dtype=torch.float64)
    encoder = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).eval()
    words = torch.randn(1, 6, 16, dtype=torch.float64)
    with torch.no_grad():
        same = torch.allclose(encoder(words)[0, -1], encoder(words[:, [3, 0, 4, 2, 1, 5]])[0, -1])
    assert "6 layers" in asked["order"].question
    assert (answer(asked["order"]) == "It stays the same") == same


def test_the_loss_with_a_matrix_for_positions_is_the_stored_trainings(asked: dict[str, Check]) -> None:
    """The mean difference over the eight seeds, taken from the trainings and not from the verdict."""
    finals = read.query(
        "SELECT variant, seed, final_loss FROM pretrainings WHERE preset = 'width128' AND seed BETWEEN 20 AND 27 "
        "AND variant IN ('every_layer_attention', 'bert_a_d_unscaled')"
    ).pivot(index="seed", columns="variant", values="final_loss")
    gap = (finals.bert_a_d_unscaled - finals.every_layer_attention).mean()
    same = abs(gap) < 0.05
    assert len(finals) == 8
    assert answer(asked["told"]) == (
        "Within 0.05 nats of the first" if same else asked["told"].options[2 if gap > 0 else 0]
    )
    assert f"{abs(gap):.2f} nats" in asked["told"].because


def test_a_concatenation_that_ends_lower_is_the_stored_trainings(asked: dict[str, Check]) -> None:
    """The option that every concatenation ends higher is false by the trainings, whose interval scipy computes."""
    finals = read.query(
        "SELECT variant, seed, final_loss FROM pretrainings WHERE preset = 'width128' AND seed BETWEEN 20 AND 27 "
        "AND variant IN ('concat_wide_matched', 'bert_a')"
    ).pivot(index="seed", columns="variant", values="final_loss")
    gaps = finals.concat_wide_matched - finals.bert_a
    assert stats.ttest_1samp(gaps, 0).confidence_interval(0.95).high < 0
    assert f"ends {-gaps.mean():.2f} nats lower than adding" in asked["open"].because
    assert "all-MiniLM-L6-v2" in answer(asked["open"]), "it is measured of no other model"


def test_a_concatenation_is_told_with_its_controls(asked: dict[str, Check]) -> None:
    """What its shape gains without concatenating, and what narrower words cost, by the trainings."""
    finals = read.query(
        "SELECT variant, seed, final_loss FROM pretrainings WHERE preset = 'width128' AND seed BETWEEN 30 AND 45 "
        "AND variant IN ('concat_wide_matched', 'bert_a_wide')"
    ).pivot(index="seed", columns="variant", values="final_loss")
    assert len(finals) == statement("C36m").seeds == 16
    gap = (finals.concat_wide_matched - finals.bert_a_wide).mean()
    assert f"adding in that shape ends {gap:.2f} lower still" in asked["open"].because
    assert f"words narrower by a fifth cost {statement('C36c').effect:.2f}" in asked["open"].because


def test_fewer_directions_that_are_enough_for_some_positions_are_named(asked: dict[str, Check]) -> None:
    """The right answer is not the fewest where only the positions that the sentences read are counted."""
    assert statement("C10j").verdict == "supported"
    fewest = read.query(
        "SELECT min(rank) AS least FROM newest_surgery WHERE operation = 'separated_along_read' "
        "AND difference_low > -0.01 AND model = 'all-MiniLM-L6-v2'"
    ).least[0]
    assert fewest < int(answer(asked["cut"]))
    assert f"positions that these sentences read, {fewest} are enough" in asked["cut"].because
    assert "whole table" in asked["cut"].question


def test_both_sides_of_the_question_on_the_matrix_have_equally_many_parameters(asked: dict[str, Check]) -> None:
    """Within a hundredth, and by other feed-forward widths: so the question has to say it."""
    sides = read.query(
        "SELECT variant, any_value((config::JSON->>'$.trained_parameters')::INT) AS parameters, "
        "any_value((config::JSON->'$.model'->>'$.intermediate_size')::INT) AS width FROM pretrainings "
        "WHERE preset = 'width128' AND variant IN ('every_layer_attention', 'bert_a_d_unscaled') GROUP BY variant"
    )
    assert sides.width.nunique() == 2
    assert sides.parameters.max() / sides.parameters.min() < 1.01
    assert "equally many parameters" in asked["told"].question
