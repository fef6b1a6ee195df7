"""Proves that the parts of the method stand apart, and that each leads to the view that shows it."""

import numpy as np
import pytest
from specimens import TEXT, embedded_loaded

from analysis import links
from analysis.figures import FIGURES
from analysis.narrative.method import PARTS
from analysis.probes.text_probe import TermsRequest


def test_every_part_has_an_anchor_of_its_own_and_links_to_a_view_that_is_known() -> None:
    assert len({part.anchor for part in PARTS}) == len(PARTS)
    for part in PARTS:
        view, values = links.parse(links.link(part.page, part.values))
        assert view.page == part.page
        assert {name: values[name] for name in part.values} == dict(part.values)
        assert part.text.endswith(":") == bool(part.formula), "a formula follows the sentence that announces it"
    looks = {part.values["look"] for part in PARTS if part.page == "inside" and "look" in part.values}
    assert all(any(name.endswith(f"_{look}") for name in FIGURES) for look in looks)


def test_the_formulas_of_share_and_effect_give_the_numbers_that_are_shown() -> None:
    made = TermsRequest(model="all-MiniLM-L6-v2", text=TEXT).run(embedded_loaded())
    centred = {term: made.terms_of(term) - made.terms_of(term).mean(-1, keepdims=True) for term in made.names}
    total = np.sum(list(centred.values()), axis=0)
    pattern = made.pattern
    for term in ("position_to_position", "word_to_word"):
        share = (centred[term] * total).sum((1, 2)) / (total**2).sum((1, 2))
        np.testing.assert_allclose(made.shares()[term], share, atol=1e-4)
        without = np.exp(made.scores - made.terms_of(term))
        without /= without.sum(-1, keepdims=True)
        divergence = (pattern * np.log(pattern / without)).sum(-1).mean(-1)
        np.testing.assert_allclose(made.effects()[term], divergence, rtol=1e-2, atol=1e-3)
    lengths = np.sum([np.sqrt((one**2).sum((1, 2))) for one in centred.values()], axis=0)
    lengths /= np.sqrt((total**2).sum((1, 2)))
    assert made.cancellation == pytest.approx(lengths, rel=1e-3)
