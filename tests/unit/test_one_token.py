"""A text of one token has no share and no effect: its figures say so, and are drawn all the same."""

import json
from typing import Any

import pytest
from family_specimens import randomised
from tiny_tokenizers import byte_level
from transformers import GPT2Config, GPT2Model

from analysis.figures import FIGURES
from analysis.figures.drawing import compose
from analysis.links import VIEWS
from analysis.measurements.terms import Decomposition, decompose


@pytest.fixture(scope="module")
def made() -> Decomposition:
    sizes: dict[str, Any] = {"vocab_size": 300, "n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 40}
    return decompose(randomised(GPT2Model(GPT2Config(**sizes))), byte_level(), "The", layer=1)


@pytest.mark.parametrize("measure", ["share", "effect"])
@pytest.mark.parametrize("name", ["probe_heads", "probe_maps", "probe_total"])
def test_its_figures_are_drawn_and_say_what_is_undefined(made: Decomposition, name: str, measure: str) -> None:
    figure = FIGURES[name].of({**VIEWS["probe"].defaults(), "measure": measure}, made)
    drawn = json.dumps(compose(figure).to_dict(), ensure_ascii=False)
    assert "NaN" not in drawn
    assert "nan" not in figure.caption + figure.alt
    if name == "probe_heads":
        assert "Undefined here: no query has two keys to choose between" in figure.caption
        assert '"written": "–"' in drawn
    if name == "probe_maps":
        assert "undefined of what varies" in drawn
