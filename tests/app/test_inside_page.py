"""Look inside: one form, its tabs, and the state that its controls show after an error and for every kind of model."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from transformers import LlamaConfig, LlamaModel

from tests.app.shown import figures, opened
from tests.unit.specimens import tiny_tokenizer

TABS = {
    "layers": ["Against depth"],
    "positions": ["What each layer's scores depend on"],
    "change": ["How far the output moves"],
}


def board(app: AppTest) -> dict[str, Any]:
    """The numbers that the tab Scores sends to the browser."""
    for element in app.get("bidi_component"):
        if element.proto.component_name.endswith("score_maps"):
            return json.loads(json.loads(element.proto.json)["json"])
    raise AssertionError("no maps of scores on this page")


def tiny_llama(folder: Path) -> Path:
    """A model that rotates queries and keys."""
    sizes = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 24}
    LlamaModel(LlamaConfig(vocab_size=25, max_position_embeddings=64, **sizes)).eval().save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder


def complaints(app: AppTest) -> list[str]:
    return [box.value for box in (*app.exception, *app.error, *app.warning)]


@pytest.mark.parametrize("tab", TABS)
def test_a_tab_of_a_link_shows_its_first_figure(tab: str) -> None:
    app = opened("inside", tab=tab)
    assert complaints(app) == []
    assert figures(app) == TABS[tab]
    assert app.query_params["tab"] == [tab]


def test_it_opens_on_the_head_that_goes_most_by_position() -> None:
    app = opened("inside")
    assert complaints(app) == []
    data = board(app)
    assert (data["layer"], data["head"]) == (0, 2)
    shares = data["shares"][3]
    assert shares[2] == max(shares)
    assert dict(app.query_params) == {}
