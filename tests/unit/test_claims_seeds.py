"""Proves that claims on training turn as seeds come in: too few decide nothing, three and five decide, a variant that
is not there is named, and every sentence reads as one. Losses are made up; what papers print is as committed.
"""

import re

import pytest

from analysis.claims import Verdict
from analysis.store import fill
from tests.claims_store import Made, own

LOSSES = {
    "bert_a": 5.0, "no_position": 6.2, "sinusoidal": 5.0, "concat_50": 4.9, "concat_20": 4.4, "concat_05": 4.8,
    "no_cross": 3.8, "tupe_a": 3.7, "tupe_a_tie_cls": 3.7, "tupe_a_unscaled": 4.1, "relative_only": 4.4, "rotary": 3.7,
    "multiply": 5.1, "bert_a_d": 4.4, "frozen_word": 5.6, "random_fixed": 5.3, "no_segment": 5.0,
}  # fmt: skip
POINTS = dict.fromkeys(LOSSES, 60.0) | {"no_position": 55.0, "tupe_a": 63.0, "bert_a_d": 57.0}
FALL = {name: (7, 6, 5.5, (5 + end) / 2 if end < 5 else end + 0.1, end) for name, end in LOSSES.items()}
CLAIMS = ("C15", "C16", "C17", "C18", "C19", "C20", "C21", "C22", "C23", "C24", "C25", "C27")
WITH_SEEDS = {
    "C15": "mixed",  # the same here; of the published pairs some differ
    "C16": "mixed",  # worse here; of the published pairs some are not
    "C17": "mixed",  # an uneven split wins here; published pairs are worse
    "C18": "supported",
    "C19": "mixed",  # better here; TUPE's is by less than a point without CoLA
    "C20": "supported",
    "C21": "mixed",  # better and nearer here; TUPE's is by less than a point
    "C22": "supported",
    "C23": "mixed",  # better than none, worse than adapting
    "C24": "contradicted",
    "C25": "supported",
    "C27": "supported",
}
NEEDS = {
    "C15": "sinusoidal", "C16": "no_position", "C17": "concat_05", "C18": "bert_a_d", "C19": "bert_a_d",
    "C20": "tupe_a_unscaled", "C21": "tupe_a_tie_cls", "C22": "relative_only", "C23": "frozen_word",
    "C24": "random_fixed", "C25": "multiply", "C27": "no_segment",
}  # fmt: skip


def swept(seeds: int, *, without: str = "", tied: bool = False) -> Made:
    """Every variant from so many seeds. tied: all losses and points alike but for what seeds add."""
    made = Made()
    fill.published(made.connection, [])
    losses = {name: 5.0 if tied else loss for name, loss in LOSSES.items() if name != without}
    start = {"bert_a": 1.0, "tupe_a": 1.0, "tupe_a_unscaled": 2.0}
    made.trained(range(seeds), start=start, curves=None if tied else FALL, **losses)
    made.tuned(range(seeds), **{name: 60.0 if tied else POINTS[name] for name in losses})
    for seed in range(seeds):
        for name, reach in (("tupe_a", 1.0), ("tupe_a_tie_cls", 0.6)):
            if name in losses:
                made.attending(own(name, seed), reach * (1 + 0.01 * seed), reach)
    made.terms("m", {"word_to_segment": 0.3}).moved("m", shift=0.2, shuffle=2.0)
    return made


@pytest.fixture(scope="module", params=[2, 3, 5])
def store(request: pytest.FixtureRequest) -> tuple[int, Made]:
    return request.param, swept(request.param)


def reads(verdict: Verdict) -> None:
    """A sentence, or several, of numbers that are there."""
    assert "could not be applied" not in verdict.sentence, verdict.sentence
    assert verdict.sentence == " ".join(verdict.sentence.split())
    assert verdict.sentence.endswith(".")
    assert not re.search(r"\bnan\b|\binf\b|None|\.\.|\+−|[ (],", verdict.sentence), verdict.sentence
    for one in verdict.evidence:
        assert not re.search(r"\bnan\b|None", one.description), one.description


@pytest.mark.parametrize("claim", CLAIMS)
def test_two_seeds_decide_nothing_and_three_and_five_do(store: tuple[int, Made], claim: str) -> None:
    seeds, made = store
    verdict = made.verdict(claim)
    reads(verdict)
    if seeds < 3:
        assert verdict.word == "inconclusive"
        assert "only 2 seeds" in verdict.sentence, verdict.sentence
        assert all(one.side == "beside" for one in verdict.evidence if one.source.startswith("own "))
    else:
        assert verdict.word == WITH_SEEDS[claim], verdict.sentence
        assert verdict.samples == seeds
        assert verdict.low is not None
        assert verdict.effect is not None
        assert verdict.high is not None
        assert verdict.low < verdict.effect < verdict.high


@pytest.fixture(scope="module")
def ties() -> Made:
    return swept(3, tied=True)


@pytest.mark.parametrize("claim", CLAIMS)
def test_ties_are_of_a_recipe_that_is_too_short(ties: Made, claim: str) -> None:
    """Where positions gain nothing either, no tie decides but that of positions themselves (C16), and not alone."""
    verdict = ties.verdict(claim)
    reads(verdict)
    assert verdict.word == ("mixed" if claim == "C16" else "inconclusive")
    assert claim == "C16" or "not shown to train long enough" in verdict.sentence


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_variant_that_is_not_there_is_asked_for(claim: str) -> None:
    lacking = NEEDS[claim]
    verdict = swept(3, without=lacking).verdict(claim)
    reads(verdict)
    assert verdict.word in ("inconclusive", "not yet measured")
    assert re.search(rf"--variants [a-z0-9_,]*\b{lacking}\b", verdict.command), verdict.command
    assert verdict.missing
    if claim not in ("C17", "C25"):  # These ask for more than one.
        assert all(one.side == "beside" for one in verdict.evidence if one.source.startswith("own trainings"))


def test_splits_that_share_too_few_seeds_leave_the_best_split_open() -> None:
    """Each split has its three seeds with adding, and one with the other: which split is best is not known."""
    made = Made()
    made.trained(range(5), bert_a=5.0, no_position=6.2)
    made.trained(range(3), concat_50=5.5)
    made.trained(range(2, 5), concat_20=5.6, concat_05=5.7)
    verdict = made.verdict("C17")
    reads(verdict)
    assert verdict.word == "inconclusive"
    made.trained((3, 4), concat_50=5.5)
    assert made.verdict("C17").word == "contradicted"


def test_only_models_with_absolute_positions_are_shifted() -> None:
    """Rotary is the same under a shift by construction, which says nothing of what models attend to."""
    made = swept(3)
    name = own("rotary")
    made.moved(name, shift=0.0, shuffle=1.0).terms(name)
    verdict = made.verdict("C22")
    assert "In 1 of 1 trained model" in verdict.sentence
    assert name not in {one.source for one in verdict.evidence}
