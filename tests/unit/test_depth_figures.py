"""Proves that figures against depth show what is stored, and stand beside what Song & Zhong printed."""

import csv
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import store_build
from analysis.core.errors import LinkError, NoResults
from analysis.core.formatting import percent
from analysis.core.term_names import FOUR, TERMS
from analysis.figures import FIGURES, Figure, drawing
from analysis.figures.depth import measured
from analysis.figures.depth.basis import MEASURES
from analysis.figures.depth.decoding import READINGS, TOGETHER
from analysis.figures.drawing import Theme
from analysis.figures.terms.term_marks import draw_bars
from analysis.links import VIEWS
from analysis.measurements.decoding.measure import HELD_BACK
from analysis.narrative import geometry
from analysis.store import files, read
from analysis.store.paths import data_folder

SHARES = {"position": 0.2, "context": 0.1, "residual": 0.6, "mean": 0.1, "noise": 0.002, "left_out": 0.3}


def made(name: str, **changed: Any) -> Figure:
    return FIGURES[name].of({**VIEWS["depth"].defaults(), **changed})


def run(kind: str, model: str, config: dict[str, Any], **more: Any) -> files.Run:
    return files.Run(kind=kind, command=f"make {kind} of {model}", model=model, revision="r", config=config, **more)


def write_means(model: str, layers: int = 3, **changes: Any) -> None:
    rows = [
        {
            "corpus": "c", "layer": layer, "windows": 50, "length": 128, "counted": 126, "rank": 10 - layer,
            "stable_rank": 5.0 + layer, "effective_rank": 9.0, "relative_norm": 0.5,
            **{f"{part}_share": share for part, share in SHARES.items()},
            "cosine_to_next": 0.9 if layer < layers - 1 else None, "frozen_gap": 0.25 if layer == 0 else None,
            "mean": [0.0], "position": [0.0],
        }
        for layer in range(layers)
    ]  # fmt: skip
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    files.write("means", columns, run("means", model, {"windows": 50, "length": 128}, **changes))


def write_decoding(model: str, layers: int = 3, value: float = 0.5) -> None:
    keys = [*READINGS, ("position", "discriminant", "within_3"), ("position", "ridge", "mean_absolute_error")]
    rows = [
        {
            "corpus": "c", "layer": layer, "target": target, "decoder": decoder, "measure": measure,
            "value": value + 0.1 * layer, "low": value, "high": 0.9, "chance": 0.05, "windows": 9, "tokens": 99,
        }
        for layer in range(layers)
        for target, decoder, measure in keys
    ]  # fmt: skip
    config = {"windows": 27, "held_out_windows": 9, "length": 128, "candidate_words_occur": HELD_BACK}
    files.write("decoding", {name: [row[name] for row in rows] for name in rows[0]}, run("decoding", model, config))


def write_terms(layers: int = 2, heads: int = 3) -> None:
    """Shares that are 1 / (1 + layer) / (1 + head) for position to position, and 0.01 else."""
    rows = []
    for layer in range(layers):
        for aggregation in ("head", "mean_over_heads", "pooled_over_heads"):
            for head in range(heads) if aggregation == "head" else [None]:
                for term in TERMS:
                    share = 1 / (1 + layer) / (1 + (head or 0)) if term == "position_to_position" else 0.01
                    rows.append(
                        {
                            "method": "exact" if layer == 0 else "frozen", "corpus": "probe_set", "layer": layer,
                            "aggregation": aggregation, "head": head, "term": term, "share": share,
                            "share_low": share - 0.1, "share_high": share + 0.1, "effect": 2 * share,
                            "effect_low": share, "effect_high": 3 * share, "top1_agreement": 0.5, "rms": 1.0,
                            "texts": 4, "queries": 40, "max_error": 0.0, "relative_error": 0.0, "pattern_error": 0.0,
                        }
                    )  # fmt: skip
    config = {"longest_tenth": 0.1, "clusters": 4}
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    files.write("terms", columns, run("terms", "all-MiniLM-L6-v2", config))


def drawn(panel: Any, column: str) -> pd.DataFrame:
    """The rows that a panel draws by a column; none where no layer of it has that column."""
    layers = (*getattr(panel, "layer", ()), panel)
    frames = [layer.data for layer in layers if isinstance(layer.data, pd.DataFrame)]
    return next((frame for frame in frames if column in frame), pd.DataFrame())


def test_decoding_shows_the_newest_of_the_models_asked_for(data: Any) -> None:
    for model, layers in (("one", 3), ("two", 5), ("three", 2)):
        write_decoding(model, layers)
    store_build.refresh()
    figure = made("depth_decoding", models=("two", "one", "not there"))
    rows = figure.frame()
    assert list(dict.fromkeys(rows.model)) == ["two", "one"]
    by_panel = [drawn(panel, "chance") for panel in drawing.panels(figure)]
    assert [len(panel) for panel in by_panel] == [3 + 5] * len(READINGS)
    titles = [panel.to_dict(validate=False)["title"]["text"] for panel in drawing.panels(figure)]
    assert [title if isinstance(title, str) else " ".join(title) for title in titles] == list(READINGS.values())
    # Depth runs from 0 to 1 whatever the number of layers.
    assert sorted(set(rows.depth[rows.model == "two"])) == [0, 0.25, 0.5, 0.75, 1]
    assert sorted(set(rows.depth[rows.model == "one"])) == [0, 0.5, 1]
    assert "two: ridge regression reads the position to within 0.5 tokens" in figure.caption
    assert "and 0.9 after the last" in figure.caption
    assert figure.command == "make decoding of two\nmake decoding of one"
    for theme in (Theme(), Theme(dark=True, screen=True)):
        assert len(drawing.panels(figure, theme)) == len(READINGS)


def test_a_models_decoders_stand_together_and_the_headline_is_that_of_one_of_them(data: Any) -> None:
    write_decoding("one", 3)
    store_build.refresh()
    figure = made("depth_decoding", models=("one",))
    rows = figure.frame()
    read = rows[(rows.target == "position") & (rows.measure == "exact") & (rows.decoder == "discriminant")]
    exact = read.set_index("layer").value
    assert f"exact place can be read in {percent(exact[2])} of cases" in figure.finding
    together = [drawn(panel, "chance") for panel in drawing.panels(figure)]
    assert [len(panel) for panel in together] == [3 * len(names) for names in TOGETHER.values()]
    keys = {
        (target, decoder or "discriminant", measure)
        for names in TOGETHER.values()
        for target, decoder, measure in names
    }
    # Places are told by one decoder throughout, that of the exact place.
    of_another = {("position", "ridge", "r2"), ("position", "nearest", "within_3")}
    assert keys == set(READINGS) - of_another | {("position", "discriminant", "within_3")}


def test_the_headline_is_the_number_of_the_page_geometry(store: Any) -> None:
    for model in measured.models("decoding"):
        finding = made("depth_decoding", models=(model,)).finding
        numbers = geometry.answer("states", model).numbers
        *_, last_word, last_place = re.findall(r"(\d+) %", numbers)
        assert re.findall(r"(\d+) %", finding) == [last_place, last_word]


def test_what_is_not_stored_is_said_with_its_command(data: Any) -> None:
    store_build.refresh()
    with pytest.raises(NoResults, match=r"for one\. Run: python -m analysis measure decoding"):
        made("depth_decoding", models=("one",))
    with pytest.raises(NoResults, match=r"No model is chosen\. Choose one or several above"):
        made("depth_basis", models=())


def write_order(model: str, layers: int = 3) -> None:
    """Errors of 0.1 a layer, none with positions off; [CLS] attends at half the distance of even attention."""
    config = {"windows": 9, "length": 12}
    rows = [
        {
            "corpus": "c", "layer": layer, "positions": positions, "tokens": tokens, "windows": 9,
            **dict.fromkeys(("value", "low", "high", "largest"), 0.1 * layer if positions == "as trained" else 0.0),
        }
        for layer in range(layers)
        for positions in ("as trained", "off")
        for tokens in ("moved", "last")
    ]  # fmt: skip
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    files.write("equivariance", columns, run("equivariance", model, config))
    rows = [
        {
            "corpus": "c", "layer": layer, "head": head, "query": query, "measure": measure, "distance": distance,
            "value": value, "low": value, "high": value, "even": even, "windows": 9,
        }
        for layer in range(layers - 1)
        for query, times in (("cls", 0.5), ("word", 1.0))
        for measure, head, distance, value, even in (
            *(("mean_distance", head, None, 4 * times, 4.0) for head in (None, 0, 1)),
            *(("attention", None, distance, 0.1 * times, 0.1) for distance in range(1, 11)),
        )
    ]  # fmt: skip
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    files.write("locality", columns, run("locality", model, config))


def test_order_and_distance_are_held_against_their_baselines(data: Any) -> None:
    write_order("one")
    write_order("two", 5)
    store_build.refresh()
    figure = made("depth_equivariance", models=("one", "two"))
    assert "one: the last layer's output moves by 0.2 with positions as trained and 0 with positions off" in (
        figure.caption
    )
    assert "two: the last layer's output moves by 0.4" in figure.caption
    assert [len(drawing.panels(figure, theme)) for theme in (Theme(), Theme(dark=True, screen=True))] == [2, 2]
    figure = made("depth_locality", models=("one", "two"))
    assert "one, mean over layers (smallest to largest): [CLS] 0.5 (0.5 to 0.5), Words 1 (1 to 1)" in figure.caption
    panels = drawing.panels(figure)
    bins = drawn(panels[2], "first").query("model == 'one' and query == 'cls'")
    assert list(zip(bins["first"], bins["last"], strict=True)) == [(1, 1), (2, 3), (4, 7), (8, 10)]
    assert bins.ratio.tolist() == pytest.approx([0.5] * 4)
    assert sorted(set(drawn(panels[0], "depth").depth)) == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert len(drawing.panels(figure)) == 4
    with pytest.raises(NoResults, match=r"for three\. Run: python -m analysis measure order --texts FILE"):
        made("depth_locality", models=("three",))


def printed(model: str, metric: str) -> list[float]:
    """Song & Zhong's figures by layer, read from the file they were transcribed to."""
    with (data_folder() / "published/figures/geometry_song_zhong.csv").open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if r["variant"] == model and r["setting"] == "WikiText"]
    of = {int(r["task"].split()[1]): float(r["value"]) for r in rows if r["metric"].startswith(metric)}
    return [of[layer] for layer in range(13)]


def test_the_published_basis_is_as_printed(store: Any) -> None:
    figure = made("depth_basis")
    frame = figure.frame()
    for model, ours in (("BERT", "BERT (published)"), ("GPT2", "GPT-2 (published)")):
        for metric, measure in (("rank", "rank"), ("stable", "stable_rank"), ("relative", "relative_norm")):
            shown = frame[(frame.model == ours) & (frame.measure == measure)].sort_values("layer")
            assert shown.value.tolist() == printed(model, metric)
            assert shown.depth.tolist() == pytest.approx(np.linspace(0, 1, 13))
    assert "not checked against the printed paper" in figure.caption
    assert figure.caption.count("not checked against the printed paper") == 1
    assert figure.citation_keys == ("song2023geometry",)


def test_the_basis_says_what_sampling_alone_would_give(data: Any) -> None:
    write_means("one")
    store_build.refresh()
    figure = made("depth_basis", models=("one",))
    assert "positions differ by 25 % from those of method frozen" in figure.caption
    assert "sampling this many windows would alone make them differ by 10 %" in figure.caption  # sqrt(0.002 / 0.2)
    rows = figure.frame()
    assert len(rows[rows.measure == "cosine_to_next"]) == 2
    noise = {name: drawn(panel, "noise") for name, panel in zip(MEASURES, drawing.panels(figure), strict=True)}
    assert noise.pop("position_share").noise.tolist() == [0.002] * 3
    assert all(panel.empty for panel in noise.values())
    assert len(drawing.panels(figure, Theme())) == len(MEASURES)


def test_every_layer_and_head_has_its_cell(data: Any) -> None:
    write_terms()
    store_build.refresh()
    figure = made("depth_heads")
    table = figure.frame().pivot(index="layer", columns="head", values="share")
    np.testing.assert_allclose(table, [[1, 1 / 2, 1 / 3], [1 / 2, 1 / 4, 1 / 6]])
    assert "largest in layer 0, head 0: 100 % of what varies" in figure.caption
    assert "frozen" in figure.caption
    effects = made("depth_heads", measure="effect").frame().pivot(index="layer", columns="head", values="effect")
    assert effects.iloc[1, 1] == pytest.approx(0.5)
    assert sorted(drawn(drawing.panels(figure)[0], "value").value) == pytest.approx(sorted(table.to_numpy().ravel()))
    assert len(drawing.panels(figure, Theme())) == 1


@pytest.mark.parametrize("values", [[0.98, 0.004, 0.002], [0.4, 0.3, 0.02], [0.03, -0.01, 0.01], [1.3, -0.3, 0.0]])
def test_bars_of_shares_have_no_plus_and_an_axis_that_ends_at_the_tick_beyond_the_longest(values: list[float]) -> None:
    bars = draw_bars(pd.DataFrame({"part": FOUR[:3], "value": values}), "share", Theme(), share=True).to_dict()
    written = [row["written"] for rows in bars["datasets"].values() for row in rows if "written" in row]
    assert written
    assert not [text for text in written if text.startswith("+")]
    (ticks,) = {
        tuple(layer["encoding"]["x"]["axis"]["values"])
        for layer in bars["layer"]
        if "values" in (layer["encoding"].get("x", {}).get("axis") or {})
    }
    assert len(ticks) > 1
    assert ticks[-2] < max(values) <= ticks[-1] + 1e-9


def test_shares_against_depth_come_in_both_aggregations_and_effects_in_one(data: Any) -> None:
    write_terms()
    store_build.refresh()
    figure = made("depth_terms")
    assert sorted(set(figure.frame().aggregation)) == ["mean_over_heads", "pooled_over_heads"]
    assert len(figure.frame()) == 2 * 2 * 4
    assert "layer 0: position → position; layer 1: position → position" in figure.caption
    assert len(drawing.panels(figure, Theme())) == 2
    assert len(drawing.panels(made("depth_terms", measure="effect"), Theme(dark=True))) == 1


@pytest.mark.parametrize("measure", ["share", "effect"])
def test_every_measured_model_has_its_figures_over_many_texts(store: Any, measure: str) -> None:
    """Also where terms cancel, so that shares are withheld: no number lacks in a sentence, and a note says why."""
    cancelling = read.query("SELECT DISTINCT model, layer FROM term_stats WHERE share IS NULL")
    assert set(cancelling.model) == {"all-mpnet-base-v2"}, "a model of which shares are withheld is among the stored"
    for model, corpus in measured.models_and_corpora().drop_duplicates("model").itertuples(index=False):
        layers = [0, 8] if model in set(cancelling.model) else [0]
        for layer in layers:
            fields = {"model": model, "corpus": corpus, "measure": measure, "layer": layer}
            for name in ("terms_heads", "terms_aggregates", "depth_heads", "depth_cell", "depth_terms"):
                values = {**VIEWS["depth"].defaults(), **VIEWS["terms"].defaults(), **fields}
                if layer and name == "terms_aggregates" and measure == "share":
                    with pytest.raises(NoResults, match="the terms cancel"):
                        FIGURES[name].of(values)
                    continue
                figure = FIGURES[name].of(values)
                assert not re.search(r"\bnan\b", f"{figure.finding} {figure.caption} {figure.alt}")
                list(drawing.panels(figure, Theme()))
                if layer and name != "depth_cell":
                    assert "the terms cancel" in figure.caption.split(". ")[0]


def test_an_unknown_term_or_measure_is_said(data: Any) -> None:
    write_terms()
    store_build.refresh()
    with pytest.raises(LinkError, match="term='x'"):
        made("depth_heads", term="x")
    with pytest.raises(LinkError, match="has no term 'score_bias'"):
        made("depth_heads", term="score_bias")
    with pytest.raises(LinkError, match="measure='x'"):
        made("depth_terms", measure="x")
