"""Proves that interventions on images do to a model what changing its own weights does, hidden patches included.

The reference is transformers alone: a copy of the model whose position table holds other numbers.
"""

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from family_specimens import SPECIMENS
from scipy.special import rel_entr
from test_images import SIZE, picture, processor

from analysis.core.errors import InterventionError
from analysis.figures import FIGURES
from analysis.figures.drawing import panels
from analysis.links import VIEWS
from analysis.measurements.interventions.images import intervene_image
from analysis.measurements.terms.images import prepare
from analysis.models.families import FAMILIES
from analysis.models.load import Loaded
from analysis.models.source import Source
from analysis.probes.intervention_probe import ImageInterventionRequest

TABLES = {
    "vit": "embeddings.position_embeddings",
    "deit": "embeddings.position_embeddings",
    "dinov2": "embeddings.position_embeddings",
    "vit_mae": "embeddings.position_embeddings",
    "vit_mae masked": "embeddings.position_embeddings",
    "clip_vision_model": "embeddings.position_embedding.weight",
}


def loaded_of(name: str) -> Loaded:
    source = Source(name, "r1", Path(), {"model_type": name.split()[0]})
    return Loaded(SPECIMENS[name].build().double(), processor(SIZE), source, "cpu")


def passed(loaded: Loaded, masked: bool, model: Any) -> Any:
    """transformers' own eager pass of a model on the image."""
    family: Any = FAMILIES[loaded.source.family]
    model.set_attn_implementation("eager")
    with torch.no_grad(), family.showing(model, masked=masked):
        return model(**prepare(model, family, loaded.tokenizer, picture()).inputs, output_attentions=True)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("spec", "factor"), [("zero_positions", 0.0), ("scale_positions:2", 2.0)])
def test_positions_are_changed_as_in_a_copy_with_another_table(name: str, spec: str, factor: float) -> None:
    loaded, masked = loaded_of(name), name.endswith("masked")
    changed: Any = copy.deepcopy(loaded.model)
    table = changed.get_parameter(TABLES[name])
    with torch.no_grad():
        table.mul_(factor)
    made = intervene_image(loaded, picture(), [spec], layer=1, masked=masked)
    own, other = passed(loaded, masked, copy.deepcopy(loaded.model)), passed(loaded, masked, changed)
    np.testing.assert_allclose(made.before, own.attentions[1][0], atol=1e-6)
    np.testing.assert_allclose(made.after, other.attentions[1][0], atol=1e-6)
    expected = torch.cosine_similarity(own.last_hidden_state[0], other.last_hidden_state[0], dim=-1)
    np.testing.assert_allclose(made.cosine, expected, atol=1e-6)
    kl = rel_entr(own.attentions[1][0].numpy(), other.attentions[1][0].numpy()).sum(-1).mean(-1)
    np.testing.assert_allclose(made.kl[1], kl, rtol=1e-4, atol=1e-7)
    assert made.kl.max() > 1e-4
    assert len(made.kept) == len(made.token_info) - len([t for t in made.token_info if t.special])
    assert (len(made.kept) < 9) == masked


def test_nothing_done_changes_nothing_and_a_shift_is_refused() -> None:
    loaded = loaded_of("vit")
    made = intervene_image(loaded, picture())
    np.testing.assert_array_equal(made.before, made.after)
    assert made.kl.max() < 1e-12
    with pytest.raises(InterventionError, match="cannot be shifted"):
        intervene_image(loaded, picture(), ["shift_positions:2"])


def test_figures_show_the_patches_where_they_stand() -> None:
    values = {**VIEWS["vision"].defaults(), "do": ("shuffle_positions",), "seed": 3}
    request = ImageInterventionRequest.of(values)
    assert request.interventions == ("shuffle_positions:3",)
    run = request.run()
    moved, kl = (FIGURES[name].of(values, run) for name in ("vision_moved", "vision_kl"))
    rows, columns = run.grid
    cells: Any = panels(moved)[0].data
    assert len(cells) == rows * columns
    cosine = float(run.cosine[1 + 2 * columns + 5])
    assert cells.value.tolist()[2 * columns + 5] == pytest.approx(math.degrees(math.acos(cosine)))
    assert moved.frame().cosine.tolist() == run.cosine.tolist()
    assert "--image scene --do shuffle_positions:3" in moved.command == kl.command
    assert "one image of" in kl.caption
    assert all(len(panels(figure)) == 1 for figure in (moved, kl))
