"""The vision page: what is stored is shown with no model at hand, and what cannot be probed gets a sentence.

An upload that is no image, is too large or too small, and a link that asks for what is not there, leave the rest of
the page standing.
"""

import io

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from tests.app.shown import figures, opened, shown


def png(width: int, height: int) -> bytes:
    buffer = io.BytesIO()
    noise = np.random.default_rng(2).integers(0, 255, (height, width, 3), dtype=np.uint8)
    Image.fromarray(noise).save(buffer, "PNG")
    return buffer.getvalue()


def captions(app: AppTest) -> str:
    return "\n".join(shown(caption.value) for caption in app.caption)


def told(boxes) -> list[str]:
    return [shown(box.value) for box in boxes]


def uploaded(name: str, data: bytes) -> AppTest:
    app = opened("vision")
    app.file_uploader[0].upload(name, data, "image/png")
    next(button for button in app.button if button.label == "Take it apart").click()
    return app.run()


def test_positions_are_taken_away_from_an_image_and_what_cannot_be_done_is_said():
    app = opened("vision")
    assert "Cosine of each patch's output hidden state before and after" in captions(app)
    assert "zero" in captions(app)
    app = opened("vision", do="shift_positions")
    assert any("cannot be shifted" in said for said in told(app.error))
    assert any("Every head" in title for title in figures(app))


def test_the_stored_model_is_shown_and_its_positions_are_said_to_be_interpolated():
    said = captions(opened("vision"))
    assert "dinov2-small, 6 images drawn for Addend" in said
    assert "interpolated (bicubic) to 16 by 16 patches from a table of 37 by 37" in said


def test_the_model_with_random_weights_is_called_that():
    app = opened("vision")
    assert any("random weights" in note.value for note in app.info)
    assert captions(app).count("it has learned nothing") >= 3


def test_a_link_says_image_layer_head_and_patch():
    app = opened("vision", image="checkerboard", layer="2", head="1", patch="10", group="all", measure="effect")
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert any("Head 1: what patch r1 c1 asks" in title for title in figures(app))
    assert "layer 2 (frozen), image 'checkerboard'" in captions(app)
    assert "effect on the pattern" in captions(app).lower()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"layer": "9"}, "There is no layer 9"),
        ({"model": "/nowhere/at/all"}, "There is no folder"),
        ({"model": "all-MiniLM-L6-v2"}, "reads text, not images"),
    ],
)
def test_what_cannot_be_probed_is_said_and_what_is_stored_still_shown(parameters, said):
    app = opened("vision", **parameters)
    assert not app.exception
    assert any(said in error for error in told(app.error)), told(app.error)
    assert "dinov2-small, 6 images" in captions(app)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [({"image": "cat"}, "not among the drawn ones"), ({"patch": "400"}, "patch 400"), ({"stored": "x"}, "stored 'x'")],
)
def test_a_link_that_asks_for_what_is_not_there_is_told_so(parameters, said):
    app = opened("vision", **parameters)
    assert not app.exception
    assert not app.error
    assert any(said in warning for warning in told(app.warning)), told(app.warning)


def test_an_uploaded_image_is_probed_and_is_in_no_link():
    app = uploaded("my cat.png", png(50, 40))
    assert not app.exception
    assert not app.error
    assert "image 'uploaded my cat.png'" in captions(app)
    assert any("No link contains an uploaded image" in note.value for note in app.info)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"no image at all", "is no image that can be read"),
        (png(12, 12), "at least 16 on each side"),
        (bytes(10_400_000), "at most 10 MB"),
    ],
)
def test_an_upload_that_is_no_image_to_probe_is_said(data, said):
    app = uploaded("my cat.png", data)
    assert not app.exception
    assert any(error.startswith("my cat.png") and said in error for error in told(app.error)), told(app.error)
    assert "dinov2-small, 6 images" in captions(app)
