"""Proves that a large map is light on the wire, exact in its exports, and can be read cell by cell and in part."""

import base64
import io
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_values import colour_limits
from PIL import Image
from specimens import embedded_loaded

from analysis.core.errors import LinkError
from analysis.figures import FIGURES, Figure, export
from analysis.figures.drawing import Theme
from analysis.figures.heatmap import MAX_NAMES
from analysis.links import VIEWS
from analysis.measurements.terms import FOUR, Decomposition
from analysis.probes import text_probe
from dashboard.widgets.vega_specs import vega_specs

TOKENS = 512
MAX_BYTES = 1_000_000


@lru_cache(maxsize=1)
def long() -> Decomposition:
    """The embedded model on as many tokens as it takes: words of no order, which compress worse than prose."""
    words = [word for word in embedded_loaded().tokenizer.get_vocab() if word.isalpha() and len(word) > 3]
    text = " ".join(np.random.default_rng(0).permutation(sorted(words))[:600])
    return text_probe.TermsRequest(model="all-MiniLM-L6-v2", text=text, truncate=True).run(embedded_loaded())


def built(name: str, **asked: Any) -> Figure:
    return FIGURES[name].of({**VIEWS["probe"].defaults(), **asked}, long())


def sent(panel: Mapping[str, Any]) -> int:
    """Bytes of a panel with its data as JSON, which is more than what Streamlit sends."""
    own = {key: value for key, value in panel.items() if key != "datasets"}
    frames = (json.loads(frame.to_json(orient="records")) for frame in panel["datasets"].values())
    return len(json.dumps([own, *frames]).encode())


@pytest.mark.parametrize("head", range(12))
def test_four_terms_of_512_tokens_stay_under_a_megabyte(head: int) -> None:
    assert len(long().tokens) == TOKENS
    panels = vega_specs(built("probe_maps", head=head), Theme(screen=True))
    assert len(panels) >= len(FOUR)
    assert sum(map(sent, panels)) < MAX_BYTES


def pictures(svg: str) -> list[np.ndarray]:
    found = re.findall(r"data:image/png;base64,([A-Za-z0-9+/=]+)", svg)
    # Each stands twice, under the old and the new name of the attribute.
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(one)))) for one in dict.fromkeys(found)]


def test_exports_hold_every_cell() -> None:
    """Of a part of the rows and columns, which is drawn as the whole is: a pixel a cell."""
    side = 320
    figure, made = built("probe_maps", centred=False, **{"from": 0, "to": side - 1}), long()
    frame = pd.read_csv(io.BytesIO(export.render(figure, "csv", "link")), keep_default_na=False)
    maps = frame["map"].nunique()
    assert maps >= len(FOUR)
    assert len(frame) == maps * side**2
    query, key = (vectors[0, 0, :side].astype(float) for vectors in (made.query, made.key))
    scores = made.scale * np.einsum("qd,kd->qk", query, key)
    one = frame[frame["map"] == "word_to_word"].value.to_numpy().reshape(side, side)
    np.testing.assert_allclose(one, scores, rtol=0, atol=1e-4 * np.abs(scores).max())
    # The picture has a pixel a cell, and every cell its own of 255 colours of the scale.
    svg = export.render(figure, "svg", "link").decode()
    rasters = pictures(svg)
    assert [raster.shape for raster in rasters] == [(side, side)] * maps
    reach = colour_limits(figure)[0]
    expected = np.rint((np.clip(one / reach, -1, 1) + 1) / 2 * 254)
    assert np.abs(rasters[0].astype(int) - expected).max() <= 1
    png = Image.open(io.BytesIO(export.render(figure, "png", "link")))
    assert min(png.size) > side


def test_a_part_is_the_same_cells_on_the_same_scale() -> None:
    whole, part = built("probe_maps"), built("probe_maps", **{"from": 100, "to": 163})
    (limit,) = set(colour_limits(whole))
    assert set(colour_limits(part)) == {limit}
    rows = whole.frame()
    within = rows[rows["query"].between(100, 163) & rows.key.between(100, 163)]
    pd.testing.assert_frame_equal(part.frame().reset_index(drop=True), within.reset_index(drop=True))
    assert (part.frame()["query"].min(), part.frame()["query"].max()) == (100, 163)
    assert "rows and columns 100 to 163" in part.caption
    assert "rows and columns" not in whole.caption
    # So few have names, and tooltips with the value.
    assert MAX_NAMES == 64
    panel = vega_specs(part, Theme(screen=True))[0]
    assert "tooltip" in json.dumps({key: value for key, value in panel.items() if key != "datasets"})


def test_a_part_too_large_for_names_counts_from_its_first_row() -> None:
    panel = vega_specs(built("probe_maps", **{"from": 200, "to": 399}), Theme(screen=True))[0]
    frame = next(frame for frame in panel["datasets"].values() if "url" in frame)
    assert frame[["x", "x2", "y", "y2"]].to_numpy().tolist() == [[199.5, 399.5, 199.5, 399.5]]


@pytest.mark.parametrize("asked", [{"from": 512}, {"from": 5, "to": 4}, {"from": -1}, {"to": 512}])
def test_rows_that_are_not_there(asked: dict[str, int]) -> None:
    for name in ("probe_maps", "probe_total", "probe_cell"):
        with pytest.raises(LinkError, match="rows 0 to 511"):
            built(name, **asked)


def test_one_cell_is_the_sum_of_its_terms_and_the_models_own_score() -> None:
    made = long()
    frame = built("probe_cell", query=300, key=17, head=3, centred=False).frame().set_index("part").value
    terms = frame.drop(["total", "pattern"])
    assert frame.total == pytest.approx(made.scores[3, 300, 17], rel=1e-5)
    assert terms.sum() == pytest.approx(frame.total, abs=1e-3)
    row = made.scores[3, 300].astype(float)
    assert frame.pattern == pytest.approx(np.exp(row[17] - row.max()) / np.exp(row - row.max()).sum(), rel=1e-4)


def test_without_a_choice_the_cell_is_where_attention_is_strongest() -> None:
    made = long()
    pattern = made.pattern_of(0)
    frame = built("probe_cell").frame()
    assert (frame["query"][0], frame.key[0]) == np.unravel_index(pattern.argmax(), pattern.shape)
    within = built("probe_cell", **{"from": 100, "to": 163, "query": 120}).frame()
    assert (within["query"][0], within.key[0]) == (120, 100 + pattern[120, 100:164].argmax())
    with pytest.raises(LinkError, match="query=5; the rows shown are 100 to 163"):
        built("probe_cell", **{"from": 100, "to": 163, "query": 5})
