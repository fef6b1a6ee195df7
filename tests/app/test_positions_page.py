"""The page Position map: the map, its baseline, kernels where a model turns, and what cannot be mapped in a
sentence."""

from functools import partial

from tests.app import shown as reader
from tests.app.shown import shown

opened = partial(reader.opened, "positions")


def test_a_map_is_shown_and_a_baseline_beside_it():
    app = opened()
    assert not app.exception
    assert app.header[0].value.startswith("At layer 0, ")
    assert ", stored 20" in app.status[0].label
    app = opened(baseline="shuffled")
    assert not app.exception
    assert any(
        "the same words in another order" in one.value.lower() or "another order" in one.value for one in app.caption
    )


def test_a_button_shows_what_is_stored_and_a_cell_of_it():
    app = opened()
    app.pills(key="positions.stored").set_value("SmolLM2-135M-Instruct (de-quantised 4-bit)").run()
    assert not app.exception
    assert ", stored 20" in app.status[0].label
    assert app.header[0].value.startswith("At layer 11, ")
    app = opened(model="SmolLM2-135M-Instruct (de-quantised 4-bit)", layer="13", band="2", head="5", baseline="random")
    assert not app.exception
    assert "on one text only" in app.error[0].value
    assert app.header[1].value.startswith("Layer 13, wavelengths 32 to 128 tokens")


def test_what_cannot_be_mapped_is_said():
    app = opened(model="no/such-model-anywhere")
    assert not app.exception
    assert app.error or app.info
    app = opened(baseline="nothing")
    assert not app.exception
    assert "asks for baseline 'nothing', which is not offered here" in shown(app.warning[0].value)
