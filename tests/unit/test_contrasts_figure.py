"""Proves the words of the contrasts against the statements that the rules decided, and that none is left out."""

import pytest

from analysis.figures import stored_figure
from analysis.figures.drawing import Theme, panels
from analysis.figures.experiments.contrasts import PARENTS, standing
from analysis.rules import encoder_rules
from analysis.store.read import query

MARGIN = 0.05


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.005, 0.036, "same"),  # clear of zero, and within the margin
        (-0.05, 0.05, "same"),
        (-0.28, -0.23, "lower"),
        (0.06, 0.2, "higher"),
        (-0.02, 0.2, "not lower"),
        (-0.2, 0.02, "not higher"),
    ],
)
def test_a_word_is_where_the_whole_interval_lies(low: float, high: float, word: str) -> None:
    assert standing("supported", low, high, MARGIN) == standing("contradicted", low, high, MARGIN) == word
    assert standing("open", low, high, MARGIN) == "open"


def test_every_contrast_is_drawn_or_said_to_be_waiting(store) -> None:
    """The committed data: a row each, the statements of the rules in `nats per predicted token`."""
    figure = stored_figure("experiments_contrasts", {})
    rows = figure.frame()
    asked = query(
        f"SELECT pair FROM statements WHERE parent IN {PARENTS} AND unit LIKE 'nats%' AND rules_sha = ?",
        (encoder_rules().sha256,),
    )
    waiting = [sentence.removesuffix(".") for sentence in figure.sentences]
    assert sorted([*rows.pair, *waiting]) == sorted(asked.pair)
    assert waiting
    (panel,) = panels(figure)
    drawn = str(panel.to_dict())
    assert drawn.count("minus ") >= len(rows)
    decided = rows[rows.verdict != "open"]
    assert figure.finding.startswith(f"{len(decided)} of {len(asked)} contrasts")
    assert Theme().grid in drawn, "the band of what the rules call the same"
