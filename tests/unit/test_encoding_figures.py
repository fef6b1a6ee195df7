"""Proves that the figures of encodings show what they say: against sums done another way, at every encoding."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from drawn_values import valid_panels

from analysis import links, store_build
from analysis.commands.measure.encodings import encodings as measure_encodings
from analysis.core.errors import AddendError
from analysis.core.formatting import percent
from analysis.encodings import ENCODINGS, encode, measures
from analysis.figures import FIGURES, drawing
from analysis.figures.encodings import measures as of_all
from analysis.figures.encodings.compared_rows import VISIBLE, RowSimilarityParameters, compare_rows
from analysis.figures.encodings.heat import from_the_fastest
from analysis.figures.encodings.measures import CHANCE, DRAWN, HEADINGS, MEASURES, SAYS, in_words
from analysis.figures.encodings.shift import shift_result, shifts, shown_dimensions
from analysis.figures.encodings.similarity import NUMBERS, _others, first_rise
from analysis.figures.encodings.sized import colour_limit, sized
from analysis.store import files, read

NAMES = links.VIEWS["encodings"].figures
OF_ALL = {"encoding_measures": "translation_invariance", "encoding_other_measures": "visible_rise"}
"""The figures of all encodings at once, with the measure of which their headings count the encodings."""
CITED = set(
    re.findall(
        r"^@\w+\{([^,]+),",
        (Path(__file__).parents[2] / "data" / "published" / "citations.bib").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)


@pytest.fixture(scope="module", autouse=True)
def committed_store(built):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADDEND_STORE", str(built))
        yield


@pytest.fixture(scope="module", autouse=True)
def measured_once():
    """The figures of all encodings differ in the one that they mark: the measures of each are taken once."""
    taken, measure = {}, of_all._values

    def once(entry, *setting):
        key = (entry.name, entry.length, entry.dim, *setting)
        if key not in taken:
            taken[key] = measure(entry, *setting)
        return taken[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_all, "_values", once)
        yield


def made(name: str, **changed):
    return FIGURES[name].of({**links.VIEWS["encodings"].defaults(), **changed})


def drawn_rows(figure, column: str) -> list[dict]:
    """The rows of the one frame of a drawing that has a column, those of names at lines left out."""
    frames = {name: rows for p in drawing.panels(figure) for name, rows in p.to_dict()["datasets"].items()}
    (found,) = [rows for rows in frames.values() if rows and column in rows[0] and "hue" not in rows[0]]
    return found


def axes_of_movement(figure) -> set[tuple[float, ...]]:
    """The domains of the axes on which the movement of columns is drawn."""
    layers = [layer for p in drawing.panels(figure) for layer in p.to_dict()["layer"]]
    axes = [layer["encoding"]["y"] for layer in layers if layer["encoding"].get("y", {}).get("field") == "movement"]
    return {tuple(axis["scale"]["domain"]) for axis in axes}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_figure_of_every_encoding_is_drawn_and_described(name, encoding):
    figure = made(name, encoding=encoding, other="sinusoidal", length=64, dim=48)
    assert valid_panels(figure, drawing.Theme(dark=True))
    assert len(figure.frame()) > 0
    assert figure.caption.endswith(".")
    assert ENCODINGS[encoding].title in figure.alt or name in OF_ALL
    assert "nan" not in (figure.caption + figure.alt).replace("not a number", "").split()
    assert set(figure.citation_keys) <= CITED
    assert "" not in figure.citation_keys


@pytest.mark.parametrize("name", NAMES)
def test_one_encoding_alone(name):
    for other in ("", "sinusoidal"):
        figure = made(name, other=other)
        drawing.compose(figure).to_dict()
        if name not in OF_ALL:
            assert set(figure.frame().encoding) == {"sinusoidal"}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_ALL])
def test_its_command_makes_the_same_figure(name):
    asked = {"encoding": "rotary", "other": "alibi", "length": 32, "dim": 16, "compare": "dot", "shift": 4}
    figure = made(name, **asked)
    shown = [sized(encoding, 32, 16) for encoding in ("rotary", "alibi")]
    if name == "encoding_heat":
        for line, one in zip(figure.command.splitlines(), shown, strict=True):
            assert shlex.split(line)[3:] == ["encode", one.name, "--length", "32", "--dim", str(one.dim), "--csv"]
        return
    words = shlex.split(figure.command)
    assert words[words.index("--figure") + 1] == name
    _, values = links.parse(words[4])
    again = FIGURES[name].of(values)
    assert again.frame().equals(figure.frame())
    assert again.caption == figure.caption


def test_a_scale_is_cut_only_for_outliers_and_says_how_many_cells():
    table = encode("learned", length=128, dim=384)
    scale, beyond = colour_limit(table)
    assert beyond == (np.abs(table) > scale).sum() > 0
    assert scale == np.quantile(np.abs(table), 0.99)
    figure = made("encoding_heat")
    assert f"{beyond:,} of {table.size:,} cells" in figure.caption
    assert f"{(np.abs(table[0]) > scale).sum()} of them in row 0" in figure.caption
    assert colour_limit(encode("sinusoidal", length=128, dim=384)) == (1.0, 0)
    assert colour_limit(np.zeros((3, 3))) == (1.0, 0)


@pytest.mark.parametrize(
    ("name", "drawn"), [("sinusoidal", 192), ("tensor2tensor", 192), ("rotary", 192), ("random_fixed", 384)]
)
def test_of_a_sine_and_its_cosine_one_is_drawn(name, drawn):
    """Neighbouring columns of a map then differ little, so that a narrow map shows no stripes of its own."""
    figure = made("encoding_heat", encoding=name, other="")
    (x,) = {
        tuple(layer["encoding"]["x"]["scale"]["domain"])
        for p in drawing.panels(figure)
        for layer in p.to_dict()["layer"]
        if "scale" in layer["encoding"].get("x", {})
    }
    assert x == (-0.5, drawn - 0.5)
    assert len(figure.frame()) == 128 * 384
    assert ("alone are drawn, and the data hold both" in figure.caption) == (drawn == 192)


def test_columns_in_no_order_are_drawn_by_how_fast_they_vary():
    """Sinusoids that were shuffled come back in the order of their frequencies."""
    angles = np.outer(np.arange(64), 2 * np.pi * np.arange(1, 20) / 64)
    shuffled = np.random.default_rng(0).permutation(19)
    assert list(shuffled[from_the_fastest(np.sin(angles)[:, shuffled])]) == list(range(18, -1, -1))
    figure = made("encoding_heat", encoding="learned", other="", length=16, dim=384)
    assert "which have no order; those that vary fastest are drawn first" in figure.caption
    own = figure.frame().pivot(index="row", columns="column", values="value")
    assert np.array_equal(own, encode("learned", length=16, dim=384)), "the data keep the model's order"


def test_heat_data_are_the_table():
    frame = made("encoding_heat", length=16, dim=16, other="alibi").frame()
    for name, dim in (("sinusoidal", 16), ("alibi", 8)):
        own = frame[frame.encoding == name].pivot(index="row", columns="column", values="value")
        assert np.array_equal(own, encode(name, length=16, dim=dim))


def test_movement_numbers():
    """The dimensions that move and the variance of the top half, done again with plain NumPy (method, section 7)."""
    figure = made("encoding_movement", encoding="tensor2tensor", dim=512, other="")
    table = encode("tensor2tensor", length=128, dim=512)
    frame = figure.frame()
    assert np.allclose(frame["range"], table.max(0) - table.min(0))
    assert np.allclose(frame["sd"], table.std(0))
    assert (frame["range"] > 0.5).sum() == 286
    assert "286 of 512 dimensions (55.9 %)" in figure.caption
    assert "the 256 most variable hold 98.4 % of the variance" in figure.caption
    held = drawn_rows(figure, "variance")
    variance = np.sort(table.var(0))[::-1]
    assert held[256]["variance"] == pytest.approx(variance[:256].sum() / variance.sum())
    assert [held[0]["variance"], held[-1]["variance"]] == pytest.approx([0, 1])


@pytest.mark.parametrize("dim", [8, 100, 384])
def test_bars_are_the_means_of_all_columns_each_counted_once(dim):
    figure = made("encoding_movement", encoding="tensor2tensor", dim=dim, other="")
    bars = drawn_rows(figure, "end")
    assert [bar["first"] for bar in bars] == [0, *(bar["end"] for bar in bars[:-1])]
    assert bars[-1]["end"] == dim
    table = encode("tensor2tensor", length=128, dim=dim)
    for bar in bars:
        columns = table[:, bar["first"] : bar["end"]]
        assert bar["range"] == pytest.approx(np.ptp(columns, axis=0).mean())
        assert bar["sd"] == pytest.approx(columns.std(0).mean())


@pytest.mark.parametrize("other", ["fairseq", "learned", "alibi"])
def test_movement_is_on_one_scale_whatever_the_values(other):
    figure = made("encoding_movement", other=other)
    assert len(axes_of_movement(figure)) == 1
    ((_, high),) = axes_of_movement(figure)
    datasets = [rows for panel in drawing.panels(figure) for rows in panel.to_dict()["datasets"].values()]
    top = max(row["movement"] for rows in datasets for row in rows if "movement" in row)
    assert top <= high < 1.1 * top


def test_an_average_dimension_moves_by_one():
    figure = made("encoding_movement", encoding="tensor2tensor", dim=32, other="")
    bars = drawn_rows(figure, "movement")
    assert np.mean([bar["movement"] ** 2 for bar in bars]) == pytest.approx(1)


@pytest.mark.parametrize("compare", ["cosine", "dot"])
def test_similarity_against_distance(compare):
    frame = made("encoding_similarity", compare=compare, length=32).frame()
    table = encode("learned", length=32, dim=384)
    if compare == "cosine":
        table = table / np.linalg.norm(table, axis=1, keepdims=True)
    own = frame[frame.encoding == "learned"].set_index("distance")
    for distance in (-31, -3, 0, 7):
        pairs = [table[i] @ table[i + distance] for i in range(32) if 0 <= i + distance < 32]
        assert own.loc[distance, "mean"] == pytest.approx(np.mean(pairs))
        assert own.loc[distance, "sd"] == pytest.approx(np.std(pairs), abs=1e-7)
        assert own.loc[distance, "pairs"] == len(pairs)


def test_every_other_encoding_of_the_same_measure_stands_behind():
    """Biases have scores of their own, which share no axis with cosines; the chosen ones are not drawn again."""
    params = RowSimilarityParameters(encoding="sinusoidal", other="random_fixed", length=32, dim=64, compare="cosine")
    titles = set(_others(params, {"cosine similarity"}).title)
    assert ENCODINGS["tensor2tensor"].title in titles
    assert not titles & {ENCODINGS[name].title for name in ("sinusoidal", "random_fixed", "alibi", "t5_bias")}
    assert set(_others(params, {"score"}).title) >= {ENCODINGS["alibi"].title}


def test_similarity_numbers_are_those_of_the_map_shown():
    like = compare_rows(sized("sinusoidal", 128, 512), "dot")
    assert like.numbers["visible_rise"] == np.inf, "it rises at 44 for the first time, and by less than can be seen"
    assert like.numbers["symmetry"] == 1
    assert like.numbers["monotonicity"] == measures.monotonicity(ENCODINGS["sinusoidal"].similarity(128, 512))
    (own_map,) = drawing.panels(made("encoding_pairs", compare="dot", dim=512, other=""))
    below = " ".join(own_map.to_dict()["title"]["subtitle"])
    assert "by distance alone 1.00" in below
    assert f"nearer is more alike {like.numbers['monotonicity']:.2f}" in below
    assert "symmetric 1.00; rises again: never" in below
    caption = made("encoding_similarity", compare="dot", dim=512, other="").caption
    assert all(f"{MEASURES[name].title}: {MEASURES[name].definition}" in caption for name in NUMBERS)


def test_a_dashed_line_stands_where_the_mean_visibly_rises_again_and_the_caption_says_so():
    figure = made("encoding_similarity")
    (panel,) = drawing.panels(figure)
    rises = [row for rows in panel.to_dict()["datasets"].values() for row in rows if "height" in row]
    # The sinusoids' mean rises at 25 for the first time, by a thousandth, which nobody sees.
    assert {row["name"]: row["distance"] for row in rises} == {"Learned\nrises again at 4": 4}
    means = figure.frame().query("encoding == 'learned' and distance >= 0").set_index("distance")["mean"]
    assert means[5] - means[3] >= VISIBLE * (means.max() - means.min()) > 0
    assert "dashed: where the line first climbs by 5 % of its height or more" in figure.caption.split(". ")[0]
    assert "dashed" not in made("encoding_similarity", other="").caption
    for name, said in (
        ("sinusoidal", f"nowhere climbs by {percent(VISIBLE)} of its height with distance"),
        ("learned", f"first climbs by {percent(VISIBLE)} of its height 4 tokens away"),
    ):
        entry = sized(name, 128, 384)
        assert first_rise(entry, compare_rows(entry, "cosine")).endswith(said), "in words as in the picture"


def test_two_lines_that_rise_again_are_named_one_below_the_other():
    (panel,) = drawing.panels(made("encoding_similarity", dim=64))
    rises = [row for rows in panel.to_dict()["datasets"].values() for row in rows if "height" in row]
    assert len({row["hue"] for row in rises}) == len({row["height"] for row in rises}) == 2


@pytest.mark.parametrize(("compare", "length", "k"), [("cosine", 128, 8), ("dot", 64, 4)])
def test_distances_and_measures_have_the_same_number_of_the_same_thing(compare, length, k):
    asked = {"compare": compare, "length": length, "shift": k}
    measured = made("encoding_measures", **asked).frame().set_index(["encoding", "measure"]).value
    for name in ("sinusoidal", "learned"):
        compared = compare_rows(sized(name, length, 384), compare)
        for measure in NUMBERS:
            assert measured[name, measure] == compared.numbers[measure]
        shifted = shift_result(sized(name, length, 384), k)
        assert measured[name, "shift_r2"] == (shifted.r2 if shifted.matrix is None else 1)
    setting = f"{compare.replace('dot', 'dot product')} of {length} positions"
    assert setting in made("encoding_measures", **asked).finding
    assert setting in made("encoding_similarity", **asked).finding


def test_an_encoding_with_a_score_of_its_own_keeps_it():
    for compare in ("cosine", "dot"):
        like = compare_rows(sized("alibi", 128, 384), compare)
        assert np.array_equal(like.values, ENCODINGS["alibi"].similarity(128, 8), equal_nan=True)
    with pytest.raises(AddendError, match="euclid"):
        made("encoding_similarity", compare="euclid")


def test_shift_matrix_shifts():
    figure = made("encoding_shift", shift=16, other="tensor2tensor", length=64, dim=64)
    frame = figure.frame()
    for name in ("sinusoidal", "tensor2tensor"):
        own = frame[frame.encoding == name]
        matrix = np.zeros((64, 64))
        matrix[own.row.astype(int), own.column.astype(int)] = own.value
        table = encode(name, length=64, dim=64)
        error = np.abs(table[:-16] @ matrix.T - table[16:]).max()
        assert error < 1e-12
        assert own.residual.iloc[0] == pytest.approx(error, abs=1e-13)


def test_where_there_is_no_closed_form_the_held_out_r2_is_said():
    figure = made("encoding_shift", shift=8)
    r2 = measures.shift_r2(encode("learned", length=128, dim=384), k=8)
    assert shift_result(sized("learned", 128, 384), 8).matrix is None
    assert f"R² {r2:.3f}" in figure.caption
    assert {row["title"]: row["r2"] for row in drawn_rows(figure, "r2")} == {
        "Sinusoidal": 1.0,
        "Learned": pytest.approx(r2),
    }
    assert "no closed form" in figure.caption


@pytest.mark.parametrize(("encoding", "mirrored"), [("sinusoidal", True), ("learned", True), ("shaw_relative", False)])
def test_likeness_that_is_the_same_before_as_after_is_drawn_once(encoding, mirrored):
    figure = made("encoding_similarity", encoding=encoding, other="", length=32)
    (panel,) = drawing.panels(figure)
    rows = next(rows for rows in panel.to_dict()["datasets"].values() if "sd" in rows[0])
    assert (min(row["distance"] for row in rows) == 0) == mirrored
    assert figure.frame().distance.min() < 0, "the data have both halves"


@pytest.mark.parametrize(("encoding", "why"), [("alibi", "distances"), ("none", "the same")])
def test_where_nothing_can_be_shifted_the_reason_is_said(encoding, why):
    assert why in made("encoding_shift", encoding=encoding).finding


@pytest.mark.parametrize("length", [16, 32, 512])
def test_shifts_on_offer_are_possible(length):
    assert shifts(length)[0] == 1
    for k in shifts(length):
        assert np.isfinite(measures.shift_r2(encode("random_fixed", length=length, dim=4), k=k))


@pytest.mark.parametrize("k", [0, -3, 500])
def test_a_shift_that_is_impossible_is_refused(k):
    with pytest.raises(AddendError, match=str(k)):
        made("encoding_shift", shift=k)


def test_drawn_dimensions_are_whole_pairs():
    """Whatever the order of the columns, no dimension is drawn without the one it turns with."""
    for name in ("sinusoidal", "tensor2tensor", "rotary"):
        matrix = ENCODINGS[name].shift(8, 384)
        kept = shown_dimensions(matrix)
        assert 8 < len(kept) <= 16
        left_out = np.setdiff1d(np.arange(384), kept)
        assert not matrix[np.ix_(kept, left_out)].any()
    assert np.array_equal(shown_dimensions(np.eye(16)), np.arange(16))


def test_spectrum_finds_the_wave():
    """At 64 positions the fastest pair makes one radian a position: 10.2 cycles."""
    frame = made("encoding_spectrum", length=64, other="").frame()
    first = frame[frame.column == 0].set_index("cycles_per_row").share
    assert first.sum() == pytest.approx(1)
    assert first.idxmax() == 10 / 64
    assert "Constant" in str([p.to_dict() for p in drawing.panels(made("encoding_spectrum", encoding="none"))])


def test_sizes_that_are_not_the_ones_asked_for_are_said():
    assert sized("sinusoidal", 128, 384).adapted == ""
    for name, words in (("learned", "384 dimensions"), ("sincos_2d", "121 positions"), ("t5_bias", "8 heads")):
        one = sized(name, 128, 512)
        assert words in one.adapted
        assert one.lines == [one.size]


# The measures of all encodings ---------------------------------------------------------------------


def stored():
    return read.query("SELECT * FROM newest_encoding_measures")


def test_committed_measures_cover_every_encoding_and_follow_from_the_code():
    rows = stored()
    assert set(rows.encoding) == set(ENCODINGS)
    assert set(rows.measure) == set(measures.summary("none", length=16, dim=16))
    for name, length, dim in (("sinusoidal", 128, 512), ("learned", 128, 384), ("alibi", 512, 8)):
        numbers = measures.summary(name, length=length, dim=dim)
        own = rows[(rows.encoding == name) & (rows.length == length) & (rows.dim == dim)].set_index("measure").value
        for measure, value in numbers.items():
            assert own[measure] == pytest.approx(value, rel=1e-6, abs=1e-9, nan_ok=True), (name, measure)


def test_the_measures_on_screen_are_those_that_a_summary_of_an_encoding_has():
    frame = made("encoding_measures", compare="dot").frame()
    assert set(MEASURES) == set(frame.measure)
    for name, dim in (("sinusoidal", 384), ("learned", 384), ("alibi", 8)):
        numbers = measures.summary(name, length=128, dim=dim)
        numbers["shift_r2"] = numbers["shift_r2_8"]
        variance = np.sort(np.var(encode(name, length=128, dim=dim), axis=0))[::-1]
        most = [held for held in variance.cumsum() if held < 0.99 * variance.sum()]
        numbers["moving_share"] = (len(most) + 1) / dim
        del numbers["first_rise"]
        own = frame[(frame.encoding == name) & (frame.measure != "visible_rise")]
        for measure, value in own[["measure", "value"]].itertuples(index=False):
            assert value == pytest.approx(numbers[measure], abs=1e-6, nan_ok=True), (name, measure)


def test_every_measure_is_drawn_or_in_the_table_and_has_a_meaning_in_plain_words():
    # Of rows that are compared with each other, symmetry is an identity: it stands beside a map alone.
    assert {*DRAWN, *HEADINGS} == set(MEASURES) - {"symmetry"}
    assert not set(DRAWN) & set(HEADINGS)
    assert set(CHANCE) == set(DRAWN)
    assert set(SAYS) == {*DRAWN, *HEADINGS}
    table = made("encoding_other_measures")
    assert set(table.frame().measure) == set(HEADINGS)
    assert all(f"{heading}: {SAYS[name]}" in table.caption for name, heading in HEADINGS.items())


def test_the_picture_in_words_is_of_the_encodings_that_are_drawn():
    for other in ("", "t5_bias"):
        figure = made("encoding_measures", encoding="rotary", other=other)
        (panel,) = drawing.panels(figure)
        rows = max((rows for rows in panel.to_dict()["datasets"].values() if "hue" in rows[0]), key=len)
        drawn = {row["title"] for row in rows}
        assert figure.alt.startswith(f"{len(drawn)} encodings by each measure")
        assert (ENCODINGS["t5_bias"].title in drawn) == bool(other)
        assert all(f"{heading}: lowest" in figure.alt for heading in DRAWN.values())


@pytest.mark.parametrize(
    ("profile", "rise"),
    [
        ([1.0, 0.8, 0.6, 0.4], np.inf),
        ([1.0, 0.5, 0.0, 0.04, 0.0], np.inf),
        ([1.0, 0.5, 0.0, 0.03, 0.06], 3),
        ([1.0, 0.5, 0.0, 0.03, 0.0, 0.5], 5),
        ([1.0, 1.0, 1.0], np.nan),
    ],
)
def test_likeness_rises_again_where_it_climbs_by_a_visible_part_of_its_height(profile: list[float], rise: float):
    away = np.abs(np.subtract.outer(range(len(profile)), range(len(profile))))
    assert measures.visible_rise(np.array(profile)[away], 0.05) == pytest.approx(rise, nan_ok=True)


def test_a_random_table_lies_at_chance_and_sinusoids_at_the_good_end():
    """Chance is what a measure finds where nothing connects positions that are near."""
    frame = made("encoding_measures").frame()
    values = frame.set_index(["encoding", "measure"]).value
    for name, chance in CHANCE.items():
        assert values["random_fixed", name] == pytest.approx(chance, abs=0.05)
        assert values["sinusoidal", name] > 0.9


@pytest.mark.parametrize("other", ["", "learned", "t5_bias"])
def test_the_picked_encodings_are_black_and_an_untrained_one_is_drawn_hollow_where_it_is_picked(other):
    picked = {ENCODINGS[name].title for name in ("rotary", other) if name}
    untrained = {ENCODINGS[name].title for name in {"tupe_untied", "shaw_relative", "t5_bias"} & {other}}
    (panel,) = drawing.panels(made("encoding_measures", encoding="rotary", other=other))
    drawn = panel.to_dict()
    data = drawn["datasets"]
    rows = max((rows for rows in data.values() if "hue" in rows[0]), key=len)
    assert {row["title"] for row in rows if row["bold"]} == picked
    black, soft = ({row["hue"] for row in rows if row["bold"] == bold} for bold in (True, False))
    assert len(black) == len(soft) == 1
    assert black != soft
    hollow = [layer for layer in drawn["layer"] if layer.get("mark", {}).get("filled") is False]
    assert {row["title"] for layer in hollow for row in data[layer["data"]["name"]]} == untrained


def test_every_count_of_encodings_is_of_all_that_have_a_value():
    for name, measure in OF_ALL.items():
        rows = made(name).frame()
        # A likeness that never rises again is infinitely far from doing so, and counts among all.
        rows = rows[(rows.measure == measure) & rows.value.notna()]
        known = [one for one in rows.encoding if not (ENCODINGS[one].learned and "seed" in ENCODINGS[one].options)]
        assert "absent" not in {ENCODINGS[one].enters for one in known}
        assert f" of {len(known)} computed or trained encodings (cosine of 128 positions)" in made(name).finding


def test_what_distance_alone_decides_stands_first():
    (panel,) = drawing.panels(made("encoding_measures"))
    rows = max((rows for rows in panel.to_dict()["datasets"].values() if "hue" in rows[0]), key=len)
    values = [row["value"] for row in rows if row["start"] == 0 and not row["label"].startswith("\u200b")]
    known = [value for value in values if value is not None]
    assert [round(value, 6) for value in known] == sorted((round(value, 6) for value in known), reverse=True)
    assert sum(round(value, 6) == 1 for value in known) > 1


def test_the_newest_of_two_runs_of_the_command_is_read(tmp_path, monkeypatch):
    """Two runs of the same day: the newest is read."""
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "addend.duckdb"))
    monkeypatch.setattr("analysis.commands.measure.encodings.SIZES", ((16, 16),))
    measure_encodings(name="new")
    kind, rows, run = files.read(tmp_path / "results" / "encodings" / "new.parquet")
    assert kind == run["kind"] == "encoding_measures"
    assert run["command"] == "python -m analysis measure encodings"
    old = files.Run(kind=kind, command="an older run", created="2001-01-01T00:00:00Z")
    columns = rows.to_pydict()
    files.write(kind, {**columns, "value": [-1.0] * len(rows)}, old, name="old")
    store_build.refresh()
    found = stored()
    assert len(found) == len(rows)
    assert not (found.value == -1).any()
    assert set(found.encoding) == set(ENCODINGS)


def test_words_for_numbers():
    assert in_words("visible_rise", np.inf) == "never"
    assert in_words("visible_rise", 1.0) == "1 token"
    assert in_words("visible_rise", 44.0) == "44 tokens"
    assert in_words("symmetry", np.nan) == "undefined"
    assert in_words("shift_r2_8", -0.001) == "0.00"


def test_rows_that_hold_most_of_the_outliers_are_named_and_pointed_at():
    """Sentence encoders end their texts at 128 tokens: there and at the beginning the learned table is large."""
    figure = made("encoding_heat")
    table = np.abs(encode("learned", length=128, dim=384))
    beyond = (table > np.quantile(table, 0.99)).sum(axis=1)
    assert set(np.argsort(-beyond)[:2]) == {0, 127}
    assert "in Learned, positions 0 and 127 stand out" in figure.finding
    layers = [layer for panel in drawing.panels(figure) for layer in panel.to_dict()["layer"]]
    datasets = {name: rows for panel in drawing.panels(figure) for name, rows in panel.to_dict()["datasets"].items()}
    pointers = [layer for layer in layers if layer["mark"].get("shape") == "triangle-right"]
    rows = [[row["y"] for row in datasets[layer["data"]["name"]]] for layer in pointers]
    assert sorted(filter(None, rows)) == [[0, 127]]
    assert "outliers" in figure.caption
    assert "Triangle" in figure.caption


def test_the_finding_counts_the_columns_that_hold_nearly_all_that_varies():
    figure = made("encoding_movement", other="")
    variance = np.sort(encode("sinusoidal", length=128, dim=384).var(0))[::-1].cumsum()
    still = 100 * (1 - (int((variance < 0.99 * variance[-1]).sum()) + 1) / 384)
    assert figure.finding.startswith(f"{still:.0f} % of the dimensions of Sinusoidal ")
    assert "s of ALiBi " in made("encoding_movement", other="alibi").finding
