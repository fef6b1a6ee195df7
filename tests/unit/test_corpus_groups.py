"""Texts that share a passage are resampled together; texts that do not are resampled on their own."""

from analysis.measurements.terms.corpus import PASSAGE, groups_of

LONG = "A passage that is long enough to be recognised wherever it stands again."
assert len(LONG) >= PASSAGE


def test_texts_that_share_no_passage_stand_alone():
    assert list(groups_of([("one", None), ("two", None), ("three", "four")])) == [0, 1, 2]


def test_a_short_text_inside_another_binds_nothing():
    assert list(groups_of([("yes", None), ("yes, and more", None)])) == [0, 1]


def test_a_passage_binds_every_text_that_holds_it_and_what_these_hold():
    other = "Another passage, which the last pair repeats word for word, at some length."
    texts = [(LONG, None), ("alone", None), (f"Before. {LONG}", other), ("also alone", None), ("short", other)]
    assert list(groups_of(texts)) == [0, 1, 0, 2, 0]


def test_a_passage_in_the_second_text_counts():
    assert list(groups_of([("a", LONG), ("b", LONG)])) == [0, 0]
