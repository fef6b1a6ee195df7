"""The counts of what a training step costs, held to formulas."""

from dataclasses import replace

import pytest

from analysis.ablation.costs import sizes
from analysis.ablation.presets import PRESETS


@pytest.mark.torch
def test_products_of_the_table_of_positions_are_counted_once_a_step():
    """Texts share them: twice as many texts in a step halve their part of a token's arithmetic."""
    settings = replace(PRESETS["width128"], layers=1)
    extra = {}
    for batch in (4, 8, 16):
        told = replace(settings, batch=batch)
        apart, added = (sizes(replace(told, variant=name))["flops_per_token"] for name in ("no_cross", "bert_a_norm"))
        extra[batch] = apart - added
    assert extra[4] > 0
    assert extra[4] == pytest.approx(2 * extra[8], rel=0.05)
    assert extra[8] == pytest.approx(2 * extra[16], rel=0.05)
