"""Proves that scores of an image that the store holds are those of the run that they were kept from."""

from pathlib import Path

import numpy as np
import pytest
from family_specimens import SPECIMENS
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from analysis import store_build
from analysis.figures import FIGURES
from analysis.links import VIEWS
from analysis.measurements.terms import stored_image
from analysis.measurements.terms.images import decompose_image
from analysis.models.load import Loaded
from analysis.probes.drawn_images import IMAGES
from analysis.probes.image_probe import ImageRequest
from analysis.store import read


def test_what_is_read_back_is_what_was_run_within_half_precision(data: Path) -> None:
    loaded = Loaded.of(SPECIMENS["dinov2"].build(), ViTImageProcessorPil(size={"height": 16, "width": 12}))
    made = decompose_image(loaded, IMAGES["scene"].draw(), 1, title="scene")
    stored_image.write(made, "a command", called="mine", name="mine-scene-1")
    store_build.refresh()
    assert stored_image.stored_layers("mine") == {"scene": [1]}
    kept = stored_image.stored_image("mine", "scene", 1)
    assert kept is not None
    assert (kept.token_info, kept.grid, kept.trained) == (made.token_info, made.grid, made.trained)
    assert (kept.layers, kept.specials) == (made.layers, made.specials)
    np.testing.assert_array_equal(kept.pixels, made.pixels)
    for term in made.names:
        np.testing.assert_allclose(kept.terms_of(term), made.terms_of(term), atol=2e-3 * np.abs(made.scores).max())
    assert np.abs(kept.total() - made.scores).max() == pytest.approx(kept.max_error, rel=1e-2)
    assert np.abs(kept.pattern - made.pattern).max() == pytest.approx(kept.pattern_error, rel=1e-2)
    for measure in ("shares", "effects"):
        for term, values in getattr(made, measure)().items():
            np.testing.assert_allclose(getattr(kept, measure)()[term], values, atol=0.01)
    request = ImageRequest.of({"model": "mine", "revision": "", "image": "scene", "layer": 1, "masked": False})
    assert request.stored() is not None
    for changes in ({"layer": 0}, {"image": "circles"}, {"model": "other"}, {"masked": True}, {"revision": "main"}):
        values = {"model": "mine", "revision": "", "image": "scene", "layer": 1, "masked": False} | changes
        assert ImageRequest.of(values).stored() is None
    assert ImageRequest.of({**VIEWS["vision"].defaults(), "model": "mine"}, ("a.png", b"")).stored() is None


def test_the_committed_scores_are_of_the_weights_whose_positions_are_committed(store: Path) -> None:
    measured = read.query("SELECT DISTINCT revision FROM newest_patch_positions WHERE model = 'dinov2-small'")
    ((image, layers),) = stored_image.stored_layers("dinov2-small").items()
    for layer in layers:
        kept = stored_image.stored_image("dinov2-small", image, layer)
        assert kept is not None
        assert [kept.provenance.revision] == list(measured.revision)
        assert kept.relative_error < 1e-3
        np.testing.assert_allclose(np.sum(list(kept.shares().values()), axis=0), 1, atol=1e-3)
        values = {**VIEWS["inside"].defaults(), "image": image, "layer": layer, "head": 0}
        maps = FIGURES["vision_maps"].of(values, kept).frame()
        assert maps.groupby("map").value.count().eq(kept.grid[0] * kept.grid[1]).all()
