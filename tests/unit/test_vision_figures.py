"""Proves that the figures of images show what is stored and what one decomposition holds, where it belongs.

Stored numbers are compared with the results file as pandas reads it, small maps with the table they are cut from,
and the words of captions with numbers computed here.
"""

import dataclasses
import re
from pathlib import Path
from typing import Any, cast

import altair as alt
import numpy as np
import pandas as pd
import pytest
from drawn_values import colour_limits

from analysis.core.errors import LinkError, NoResults
from analysis.figures import FIGURES, Figure, drawing
from analysis.figures.vision.one_image import QUERY, strongest_query
from analysis.figures.vision.positions import by_distance, landmarks, position_source
from analysis.links import VIEWS
from analysis.measurements.terms.image_result import ImageDecomposition
from analysis.models import random_vit
from analysis.probes.image_probe import ImageRequest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "data/results"
FILE = "dinov2-small-drawn_images.parquet"


def params(**changes: Any) -> dict[str, Any]:
    return {**VIEWS["vision"].defaults(), **changes}


@pytest.fixture(scope="module")
def made() -> ImageDecomposition:
    return ImageRequest(model=random_vit.NAME, image="scene", layer=1).run()


def build(name: str, *given: Any, **changes: Any) -> Figure:
    return FIGURES[name].of(params(**changes), *given)


def grids(frame: pd.DataFrame, name: str, down: str, across: str, value: str) -> dict[str, np.ndarray]:
    """The maps of a figure's frame, which names them in one of its columns."""
    return {
        str(key): rows.pivot(index=down, columns=across, values=value).to_numpy()
        for key, rows in frame.groupby(name, sort=False)
    }


def score_grids(figure: Figure) -> dict[str, np.ndarray]:
    return grids(figure.frame(), "map", "row", "column", "value")


def _is_outline(data: Any) -> bool:
    return isinstance(data, pd.DataFrame) and set(data) == {"x", "x2", "y", "y2"}


def outlined(figure: Figure, stroke: str = QUERY) -> tuple[int, int] | None:
    """Row and column of the patch that is outlined on each panel with outlines in a colour; None where none is."""
    frames: list[list[Any]] = [
        [layer.data for layer in panel.layer if _is_outline(layer.data) and layer.mark.stroke == stroke]
        for panel in cast("list[Any]", drawing.panels(figure))
    ]
    if not any(frames):
        return None
    places = {(frame.y.item() + 0.5, frame.x.item() + 0.5) for (frame,) in filter(None, frames)}
    (place,) = places
    return int(place[0]), int(place[1])


# Stored


@pytest.mark.parametrize("measure", ["share", "effect"])
def test_layers_and_heads_are_those_of_the_file(store: Path, measure: str) -> None:
    rows = pd.read_parquet(RESULTS / "terms" / FILE)
    figure = build("vision_layers", measure=measure)
    maps = grids(figure.frame(), "term", "layer", "head", measure)
    assert set(maps) == {"word_to_word", "word_to_position", "position_to_word", "position_to_position"}
    assert len(drawing.panels(figure)) == len(maps)
    for term, values in maps.items():
        assert values.shape == (12, 6)
        for layer, head in ((0, 0), (3, 1), (11, 5)):
            own = rows[
                (rows.aggregation == "head") & (rows.term == term) & (rows.layer == layer) & (rows["head"] == head)
            ]
            assert values[layer, head] == own[measure].item()
    heads = rows[(rows.aggregation == "head") & rows.term.isin(list(maps))]
    table = heads.pivot(index=["layer", "head"], columns="term", values=measure)
    for term, count in table.idxmax(axis=1).value_counts().head(2).items():
        assert re.search(rf"{str(term).replace('_to_', ' → ')} (leads )?in {count}\b", figure.finding)
    at: Any = table["position_to_position"].idxmax()
    layer, head = at
    assert re.search(rf"layer {layer}, head {int(head)}\b", figure.finding)
    assert f"outlined: layer {layer}, head {int(head)}" in figure.caption
    assert figure.finding.startswith("In dinov2-small, ")
    limits = colour_limits(figure)
    assert limits == pytest.approx([table.to_numpy().max()] * len(maps))
    mean = rows[(rows.aggregation == "mean_over_heads") & (rows.term == "position_to_position")]
    best: Any = mean.sort_values(measure).iloc[-1]
    assert f"is largest in layer {best.layer}: {best[measure]:.3f}" in figure.caption
    assert "from a table of 37 by 37" in figure.caption
    assert "/" not in figure.command.split("\n")[0].removeprefix("python -m"), "no path of the machine that measured"


def test_absent_sources_have_no_map(store: Path) -> None:
    """Of the sixteen, those of segments are none of this model's."""
    figure = build("vision_layers", group="all")
    terms = set(figure.frame().term)
    assert len(terms) == len(drawing.panels(figure)) == 9
    assert not any("segment" in term for term in terms)


def test_a_model_that_is_not_stored_is_said_with_the_command(store: Path) -> None:
    for name in ("vision_layers", "vision_positions"):
        with pytest.raises(NoResults, match="python -m analysis measure images --model deit-tiny"):
            build(name, stored="deit-tiny")


def test_stored_cosines_are_cosines(store: Path) -> None:
    rows = pd.read_parquet(RESULTS / "patch_positions" / FILE)
    table = np.stack(rows.similarity.to_list())
    assert table.shape == (256, 256)
    np.testing.assert_allclose(table, table.T, atol=1e-6)
    np.testing.assert_allclose(np.diag(table), 1, atol=1e-6)
    assert np.linalg.eigvalsh(table.astype(float)).min() > -1e-3, "a matrix of cosines has no negative direction"
    figure = build("vision_positions")
    frame = figure.frame()
    at = frame[(frame.patch == 17) & (frame.other == 200)].cosine.item()
    assert at == pytest.approx(table[17, 200], abs=1e-6)
    beside = [table[p, p + 1] for p in range(256) if p % 16 < 15] + [table[p, p + 16] for p in range(240)]
    assert f"Next to each other {np.mean(beside):.2f} on average" in figure.caption
    row, column = np.divmod(np.arange(256), 16)
    apart = np.hypot(row[:, None] - row, column[:, None] - column).round() == 21
    assert f"21 patches apart {table[apart].mean():.2f}" in figure.caption, "as far as two patches can be"


# The picture of positions


def test_the_maps_of_landmarks_are_rows_of_the_table(store: Path) -> None:
    rows = pd.read_parquet(RESULTS / "patch_positions" / FILE).sort_values("patch")
    table = np.stack(rows.similarity.to_list())
    *maps, curve = cast("list[Any]", drawing.panels(build("vision_positions")))
    assert list(landmarks(16, 16).values()) == [0, 15, 8 * 16 + 8, 240, 255]
    for patch, panel in zip(landmarks(16, 16).values(), maps, strict=True):
        drawn = panel.data.sort_values(["row", "column"]).value.to_numpy()
        np.testing.assert_allclose(drawn, table[patch], atol=1e-6)
    assert len(curve.layer) >= 2


def test_the_mean_at_a_distance_is_that_of_its_pairs() -> None:
    rows, columns = 3, 4
    cosines = np.random.default_rng(0).normal(size=(12, 12))
    cosines += cosines.T
    means = by_distance(cosines, rows, columns)
    assert means.pairs.sum() == 12 * 11 // 2
    places = [(row, column) for row in range(rows) for column in range(columns)]
    for line in means.itertuples():
        own = [
            cosines[i, j]
            for i, (r, c) in enumerate(places)
            for j, (s, d) in enumerate(places[:i])
            if round(((r - s) ** 2 + (c - d) ** 2) ** 0.5) == line.distance
            and (r == s or c == d) == (line.lie == "in one row or column")
        ]
        assert (len(own), np.mean(own)) == (line.pairs, pytest.approx(line.cosine))


def test_whether_positions_are_interpolated_is_said() -> None:
    assert position_source((14, 14), (14, 14)) == "Positions are the model's own table of 14 by 14 patches."
    assert position_source((16, 20), (37, 37)) == (
        "Positions are interpolated (bicubic) to 16 by 20 patches from a table of 37 by 37."
    )


# One image


def test_maps_are_the_querys_scores_laid_out_as_the_image_is(made: ImageDecomposition) -> None:
    figure = build("vision_maps", made, head=2, patch=12, centred=False)
    assert outlined(figure) == (1, 3), "token 12 is patch 11, after [CLS]"
    assert outlined(build("vision_maps", made, head=2, patch=12, key=19), drawing.Theme().ink) == (2, 2)
    highest = int(made.scores[2, 12].argmax())
    expected = None if not highest else divmod(highest - 1, 8)
    assert outlined(figure, drawing.Theme().ink) == expected, "by default the key with the highest score"
    assert made.tokens[12] == "r1 c3"
    for term, values in score_grids(figure).items():
        own = made.scores[2, 12] if term == "total" else made.terms[term][2, 12]
        np.testing.assert_allclose(values, own[1:].reshape(8, 8), rtol=1e-6)
    whole = score_grids(build("vision_maps", made, head=2, patch=12, centred=False, group="all"))
    summed = sum(values for name, values in whole.items() if name != "total")
    np.testing.assert_allclose(summed, whole["total"], atol=1e-4)
    assert "row 1, column 3" in figure.title


def test_centring_takes_the_mean_over_every_key_the_class_token_included(made: ImageDecomposition) -> None:
    maps = score_grids(build("vision_maps", made, patch=5))
    row = made.terms["position_to_position"][0, 5]
    np.testing.assert_allclose(maps["position_to_position"], (row - row.mean())[1:].reshape(8, 8), rtol=1e-5)


def test_a_special_token_asks_too_and_has_no_place(made: ImageDecomposition) -> None:
    figure = build("vision_maps", made, patch=0)
    assert outlined(figure) is None
    assert "[CLS]" in figure.title
    assert drawing.panels(figure)


def test_it_opens_on_the_head_and_the_patch_that_matter(made: ImageDecomposition) -> None:
    shares = made.shares()["position_to_position"]
    figure = build("vision_maps", made, head=-1, patch=-1)
    assert figure.title.startswith(f"Head {shares.argmax()}: ")
    pattern = made.pattern[int(shares.argmax())]
    query = strongest_query(made, int(shares.argmax()))
    others = [pattern[i, j] for i in range(1, 65) for j in range(1, 65) if i != j]
    assert max(np.delete(pattern[query, 1:], query - 1)) == max(others)
    assert "row {}, column {}".format(*divmod(query - 1, 8)) in figure.title


@pytest.mark.parametrize(("field", "value"), [("head", 4), ("head", -3), ("patch", 65), ("patch", -2)])
def test_what_does_not_exist_is_said(made: ImageDecomposition, field: str, value: int) -> None:
    with pytest.raises(LinkError, match=f"The link says {field}={value}; this"):
        build("vision_maps", made, **{field: value})


def test_hidden_patches_leave_holes(made: ImageDecomposition) -> None:
    kept = np.arange(0, 64, 2)
    tokens = np.concatenate([[0], kept + 1])
    part = dataclasses.replace(
        made,
        kept=kept,
        token_info=tuple(made.token_info[t] for t in tokens),
        query=made.query[:, :, tokens],
        key=made.key[:, :, tokens],
        scores=made.scores[:, tokens][:, :, tokens],
        _measured={},
    )
    figure = build("vision_maps", part, patch=3)
    assert outlined(figure) == (0, 4)
    assert all(np.isnan(values[:, 1::2]).all() for values in score_grids(figure).values())
    assert "of which 32 are hidden from the model" in figure.caption
    drawn = cast("Any", drawing.panels(figure)[1])
    assert len(drawn.layer[0].data) == 32


def test_the_model_with_random_weights_is_never_shown_without_saying_so(made: ImageDecomposition) -> None:
    for name in ("vision_maps", "vision_heads", "vision_table"):
        figure = build(name, made)
        assert "random weights" in figure.caption
        assert "it has learned nothing" in figure.caption


def test_every_figure_is_drawn_on_one_scale_around_zero(made: ImageDecomposition) -> None:
    figure = build("vision_maps", made)
    panels = drawing.panels(figure)
    assert len(panels) == 6, "the image, the total, and each of the four terms"
    domains = [panel.to_dict()["layer"][0]["encoding"]["color"]["scale"]["domain"] for panel in panels[1:]]
    assert all(domain == domains[0] for domain in domains)
    assert domains[0][0] == -domains[0][-1]
    largest = max(np.abs(values).max() for values in score_grids(figure).values())
    assert domains[0][-1] >= largest
    assert isinstance(panels[0], alt.LayerChart)


def test_positions_of_zeros_are_said_to_be_that(made: ImageDecomposition) -> None:
    """ViT-MAE as transformers makes it from a config: its sine-cosine table is filled by checkpoints only."""
    figure = build("vision_table", dataclasses.replace(made, positions=np.zeros_like(made.positions)))
    assert "Its positions are all zero" in figure.caption
    assert "nan" not in figure.caption
    assert drawing.panels(figure)
