"""Look inside with an image: patches for tokens, a trained model beside one of random weights, and files of readers.

An upload that is no image, is too large or too small, and a link that asks for what is not there, get a sentence.
"""

import io

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from analysis.models import random_vit
from tests.app.shown import figures, opened, press, shown, uploaded


def png(width: int, height: int) -> bytes:
    buffer = io.BytesIO()
    noise = np.random.default_rng(2).integers(0, 255, (height, width, 3), dtype=np.uint8)
    Image.fromarray(noise).save(buffer, "PNG")
    return buffer.getvalue()


def captions(app: AppTest) -> str:
    return "\n".join(shown(caption.value) for caption in app.caption)


def told(boxes) -> list[str]:
    return [shown(box.value) for box in boxes]


def image(**link: str) -> AppTest:
    """The page with a drawn image and the model of random weights, unless the link says otherwise."""
    return opened("inside", **{"image": "scene", "model": random_vit.NAME, **link})


def test_positions_are_taken_away_from_an_image_and_what_cannot_be_done_is_said():
    app = image(tab="change")
    assert figures(app) == ["How far the output of each patch moves", "Which heads change their attention"]
    assert "The angle between each patch's output hidden state before and after" in captions(app)
    assert "zero" in captions(app)
    app = image(tab="change", do="shift_positions")
    assert any("cannot be shifted" in said for said in told(app.error))


def test_a_trained_model_is_shown_and_its_positions_are_said_to_be_interpolated():
    app = image(tab="layers")
    assert figures(app) == ["Every layer and head of dinov2-small", "Layer 2, head 3: its terms"]
    assert all("dinov2-small" in shown(header.value) for header in app.header), "each figure names its model"
    assert "is the content of a patch" in captions(app)
    assert "plays no part" not in captions(app), "nobody chose the other model"
    assert any("dinov2-small**, a trained model" in said for said in told(app.markdown)), "in place of the form"
    assert app.text_input == [] or all(box.label != "Model" for box in app.text_input), "the form is no part of it"
    assert told(app.info) == []
    assert "dinov2-small, 6 images drawn for Addend" in captions(app)
    app = image(tab="positions")
    assert figures(app) == ["How alike the positions of dinov2-small are"]
    assert "interpolated (bicubic) to 16 by 16 patches from a table of 37 by 37" in captions(app)


def test_the_model_with_random_weights_is_called_that():
    app = image()
    assert captions(app).count("it has learned nothing") >= 3
    assert all("With random weights" in header.value for header in app.header)
    (above,) = told(app.info)
    assert above.startswith("The weights of this model are random: it has learned nothing")
    press(app, "Show dinov2-small, a trained model, on the scene")
    assert told(app.info) == []
    assert app.session_state["inside.model"] == "dinov2-small"
    assert not any("random" in header.value for header in app.header)


def test_a_link_says_image_layer_head_and_patch():
    app = image(image="checkerboard", layer="2", head="1", patch="10", group="all", measure="effect", look="heads")
    assert [*app.exception, *app.error] == []
    assert figures(app)[0].startswith("Head 1: what the patch in row 1, column 1 asks")
    assert "Every head on this image" in figures(app)
    assert "layer 2, image 'checkerboard'" in captions(app)
    assert "effect on the pattern" in captions(app).lower()


def test_the_form_turns_to_an_image_and_back_and_keeps_each_model():
    app = opened("inside", model="cpu-bert_a-0", text="the old dog sat .")
    app.segmented_control(key="inside.input.chosen").set_value("image").run()
    assert [*app.exception, *app.error, *app.warning] == []
    assert app.session_state["inside.model"] == "dinov2-small"
    assert figures(app) == ["How alike the positions of dinov2-small are"]
    assert "random" not in captions(app)
    press(app, "Take an image apart")
    assert figures(app)[0].startswith("Head 3: what the patch in row ")
    app.pills(key="inside.images").set_value("circles").run()
    assert figures(app) == []
    assert any("needs the weights of dinov2-small, which are not on this server" in said for said in told(app.info))
    press(app, "Take apart")
    assert app.session_state["inside.model"] == "dinov2-small", "random weights are never put in its place silently"
    press(app, "Use random weights instead")
    assert figures(app)[0].startswith("Head ")
    assert all(header.value.startswith("With random weights") for header in app.header)
    assert "image 'circles'" in captions(app)
    app.segmented_control(key="inside.input.chosen").set_value("text").run()
    assert [*app.exception, *app.error, *app.warning] == []
    assert app.session_state["inside.model"] == "cpu-bert_a-0"
    assert app.session_state["inside.image"] == ""


def test_an_image_without_a_model_opens_on_the_scores_of_the_trained_one():
    app = opened("inside", image="scene")
    assert [*app.exception, *app.error, *app.warning, *app.info] == []
    assert figures(app)[0].startswith("Head 3: what the patch in row ")
    assert "Dinov2-small, layer 2, image 'scene'" in captions(app)
    assert next(box for box in app.select_slider if box.key == "inside.layer").options == ["2", "11"]
    app.segmented_control(key="inside.tab.chosen").set_value("layers").run()
    assert figures(app)[0] == "Every layer and head of dinov2-small"
    press(app, "Take an image apart")
    assert app.session_state["inside.model"] == "dinov2-small"
    assert figures(app)[0].startswith("Head 3: what the patch in row ")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"layer": "9"}, "There is no layer 9"),
        ({"model": "/nowhere/at/all"}, "There is no folder"),
        ({"model": "cpu-bert_a-0"}, "reads text, not images"),
    ],
)
def test_what_cannot_be_probed_is_said_and_the_tabs_stay(parameters, said):
    app = image(**parameters)
    assert not app.exception
    assert any(said in error for error in told(app.error)), told(app.error)
    app.segmented_control(key="inside.tab.chosen").set_value("layers").run()
    assert not app.error
    assert "dinov2-small, 6 images" in captions(app)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"image": "cat"}, "not among the drawn ones"),
        ({"patch": "400"}, "patch 400"),
        ({"tab": "layers", "stored": "x"}, "stored 'x'"),
    ],
)
def test_a_link_that_asks_for_what_is_not_there_is_told_so(parameters, said):
    app = image(**parameters)
    assert not app.exception
    assert not app.error
    assert any(said in warning for warning in told(app.warning)), told(app.warning)


def test_an_uploaded_image_is_probed_and_is_in_no_link():
    app = uploaded(image(), "my cat.png", png(50, 40))
    assert not app.exception
    assert not app.error
    assert "image 'uploaded my cat.png'" in captions(app)
    assert any("No link contains an uploaded image" in note.value for note in app.info)
    assert app.pills(key="inside.images").value is None
    app.pills(key="inside.images").set_value("blank").run()
    assert "image 'blank'" in captions(app)


def test_an_upload_that_is_no_image_to_probe_is_said():
    app = image()
    refused = [
        (b"no image at all", "is no image that can be read"),
        (png(12, 12), "at least 16 on each side"),
        (bytes(10_400_000), "at most 10 MB"),
    ]
    for data, said in refused:
        uploaded(app, "my cat.png", data)
        assert not app.exception
        assert any(error.startswith("my cat.png") and said in error for error in told(app.error)), told(app.error)
