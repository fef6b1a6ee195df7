"""Proves that the four answers of the page Geometry are true of every stored model, by counting again in the store."""

import contextlib
import math
import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln

from analysis import links
from analysis.claims.statements import stored
from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised
from analysis.figures import FIGURES, drawing
from analysis.figures.geometry.directions import cut_apart
from analysis.figures.geometry.heads import PANELS
from analysis.figures.geometry.states import read_sentence
from analysis.narrative.answer.sentences import read_back
from analysis.narrative.geometry import FURTHER_PARTS, QUESTIONS, cards, models_in_words
from analysis.store import read

LACKING = ("Not asked", "Not measured")


def models() -> list[str]:
    return list(read.query("SELECT DISTINCT model FROM newest_geometry WHERE model IS NOT NULL ORDER BY 1").model)


def value(sql: str, *parameters: object) -> float | None:
    rows = read.query(sql, list(parameters))
    return None if rows.empty or rows.iloc[0, 0] != rows.iloc[0, 0] else float(rows.iloc[0, 0])


def mean_abs_cosine(dim: float) -> float:
    """Of two random directions: Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2))."""
    return math.exp(gammaln(dim / 2) - gammaln((dim + 1) / 2)) / math.sqrt(math.pi)


def test_right_angles_are_those_of_the_store(store: Path) -> None:
    answered = set()
    for model in models():
        answer = QUESTIONS["angles"].of(model)
        rows = read.query(
            "SELECT subject, value, along FROM newest_geometry WHERE model = ? AND measure = 'abs_cosine' AND subject "
            "LIKE 'word_position%' QUALIFY along = max(along) OVER ()",
            [model],
        ).set_index("subject")
        assert (answer.answer in LACKING) == rows.empty, model
        if rows.empty:
            continue
        own, centred = rows.value["word_position"], rows.value["word_position_centred"]
        random = mean_abs_cosine(rows.along.iloc[0])
        expected = (
            "Yes, nearer than chance"
            if own <= 0.9 * random
            else "As near as chance"
            if own < 1.1 * random
            else "Only without their means"
            if centred <= 0.9 * random
            else "As chance without their means"
            if centred < 1.1 * random
            else "No nearer than chance"
        )
        assert answer.answer == expected, model
        assert "10 % of the random one counts as chance" in answer.note, "the margin is stated"
        assert f"{own:.3f}; random {random:.3f}" in answer.numbers
        figure = FIGURES["geometry_cosines"].of({"model": model, "dim": 0}).finding
        said = {"Yes, nearer than chance": "nearer to", "As near as chance": "as near to"}.get(expected, "farther from")
        assert f"stand {said} right angles" in figure, model
        answered.add(expected)
    assert len(answered) > 2, "an answer that never changes is none"


def test_the_margin_of_a_chance_value_is_wider_than_chance_itself(store: Path) -> None:
    """The mean of so many random pairs lies within half of the margin in 95 of 100 draws, for every stored model."""
    rows = read.query(
        "SELECT model, max(along) AS along, arg_max(samples, along) AS pairs FROM newest_geometry WHERE measure = "
        "'abs_cosine' AND subject LIKE 'word_position%' GROUP BY model"
    )
    for dim, pairs in zip(rows.along, rows.pairs, strict=True):
        mean = mean_abs_cosine(dim)
        deviation = math.sqrt(1 / dim - mean**2)  # The mean square of a cosine of random vectors is 1/d.
        assert 1.96 * deviation / math.sqrt(pairs) < 0.05 * mean


@pytest.mark.parametrize("dim", [2, 1024])
def test_a_heading_names_the_dimension_of_other_random_vectors(store: Path, dim: int) -> None:
    finding = FIGURES["geometry_cosines"].of({"model": "all-MiniLM-L6-v2", "dim": dim}).finding
    stand = "nearer to right angles than" if dim == 2 else "farther from right angles than"
    assert f"{stand} random vectors of {dim:,} dimensions, and nearer than those of their own 384" in finding
    assert f"random {mean_abs_cosine(dim):.3f} and {mean_abs_cosine(384):.3f}" in finding


def test_directions_hold_what_the_card_says(store: Path) -> None:
    answered = set()
    for model in models():
        answer = QUESTIONS["directions"].of(model)
        words = read.query(
            "SELECT along, value, baseline, baseline_low, baseline_high FROM newest_geometry WHERE model = ? AND "
            "subject = 'centred' AND measure = 'word_energy_in_position' ORDER BY along",
            [model],
        )
        assert (answer.answer in LACKING) == words.empty, model
        if words.empty:
            continue
        rank, width = (int(number) for number in re.findall(r"(\d+) of (\d+)", answer.answer)[0])
        effective = value(
            "SELECT value FROM newest_geometry WHERE model = ? AND measure = 'effective_rank' AND subject = "
            "'position_centred'",
            model,
        )
        assert effective is not None
        above = words[words.along >= round(effective)]
        row = above.iloc[0] if len(above) else words.iloc[-1]
        bounded = bool(rank != row.along)
        if bounded:
            assert rank == round(effective)
            assert row.value < rank / width, "the bound itself is less than random directions hold"
            assert answer.answer.startswith("Yes")
        positions = value(
            "SELECT value FROM newest_geometry WHERE model = ? AND measure = 'energy_in_top' AND subject = "
            "'position_centred' AND along = ?",
            model,
            float(rank),
        )
        assert positions is not None
        assert width == value(
            "SELECT max(along) FROM newest_geometry WHERE model = ? AND measure = 'abs_cosine'", model
        ), "the widest vectors compared are whole ones"
        yes = row.value < row.baseline_low and row.value <= 0.9 * row.baseline
        no = row.value > row.baseline_high and row.value >= 1.1 * row.baseline
        assert answer.answer.startswith("Yes") == yes, model
        assert answer.answer.startswith("No:") == no, model
        assert answer.answer.endswith("shared as by chance") == (not yes and not no), model
        words = f"{100 * row.value:.1f} % of that in words; random {100 * row.baseline:.1f} %"
        joined = f"; {row.along:.0f} hold " if bounded else ", "
        cut = cut_apart(model)
        left = cut.at(rank) if cut else None
        kept = f"; with words kept out of them {100 * (left or 0):.0f} % of what positions give is left"
        end = kept if left else f"{joined}{words}"
        assert answer.numbers == f"hold {100 * positions:.0f} % of what varies in positions{end}"
        assert f"{rank} is " in answer.note
        assert len(re.findall(r"\d+ of \d+|\b\d+ is", answer.note + answer.answer)) == 2, "one count, not three"
        answered.add(answer.answer.partition(":")[0])
    assert len(answered) > 1


def test_the_cut_is_told_where_positions_are_worth_something(store: Path) -> None:
    """The share that is left is counted again from the correlations; without a measure of its worth none is drawn."""
    model = "all-MiniLM-L6-v2"
    figure = FIGURES["geometry_directions"].of({"model": model})
    sql = "SELECT value FROM newest_surgery WHERE model = ? AND operation = ? AND coalesce(rank, 14) = 14"
    apart, intact, mean = (value(sql, model, name) for name in ("separated", "intact", "mean_position"))
    assert apart is not None
    assert intact is not None
    assert mean is not None
    assert figure.finding.startswith("14 of 384")
    assert f"keeps {100 * (apart - mean) / (intact - mean):.0f} % of what positions give it" in figure.finding
    assert "measured in 20" in figure.caption, "words were not measured in 14"
    drawn = {name: FIGURES["geometry_directions"].of({"model": name}) for name in (model, "all-mpnet-base-v2")}
    black = {name: "Black: " in figure.caption for name, figure in drawn.items()}
    assert black == {model: True, "all-mpnet-base-v2": False}
    assert "too little" in drawn["all-mpnet-base-v2"].caption


def test_what_is_read_back_is_what_decoders_read(store: Path) -> None:
    answered = set()
    for model in models():
        answer = QUESTIONS["states"].of(model)
        rows = read.query(
            "SELECT target, decoder, value FROM newest_decoding WHERE model = ? AND layer = 0 AND measure IN "
            "('top1', 'exact')",
            [model],
        )
        assert (answer.answer in LACKING) == rows.empty, model
        if rows.empty:
            continue
        decoders = rows[rows.target == "position"].set_index("decoder").value
        place = decoders.max()
        assert ("the better of the decoders" in answer.numbers) == (len(decoders) > 1), model
        word = rows[rows.target == "word"].value.max()
        assert f"word {100 * word:.0f} %, exact place {100 * place:.0f} %" in answer.numbers, model
        assert answer.answer.startswith("Yes") == (min(word, place) >= 0.9), model
        answered.add(answer.answer)
    assert len(answered) > 1


def test_one_number_says_everywhere_if_the_position_can_be_read(store: Path) -> None:
    """The card, its figure and Home quote the same decoder."""
    at_home = {row["target"]: row["value"] for row in read.query(read_back.QUERY).to_dict("records")}
    figure = FIGURES["geometry_states"].of({"model": "all-MiniLM-L6-v2"})
    said = f"the exact place in {100 * at_home['position']:.0f} %"
    assert said in figure.finding
    assert f"exact place {100 * at_home['position']:.0f} %" in QUESTIONS["states"].of("all-MiniLM-L6-v2").numbers
    assert "ridge" in figure.caption, "the figure says why other decoders differ"
    last = read.query(
        "SELECT max(value) AS value FROM newest_decoding WHERE model = 'all-MiniLM-L6-v2' AND measure = 'exact' "
        "AND target = 'position' AND layer = 6"
    ).value[0]
    assert figure.finding.endswith(f" and {100 * last:.0f} %"), "the best of the decoders, as in statement C13b"
    decoded = FIGURES["depth_decoding"].of({"models": ["all-MiniLM-L6-v2"]}).finding
    assert f"After the last layer, a word's exact place can be read in {100 * last:.0f} %" in decoded


@pytest.mark.parametrize(("word", "place"), [(1.0, 1.0), (1.0, 0.1), (0.2, 0.95), (0.3, 0.4)])
def test_the_sentence_on_reading_fits_every_pair_of_shares(word: float, place: float) -> None:
    sentence = read_sentence(word, place, "the sum")
    assert sentence.startswith("Both") == (min(word, place) >= 0.9)
    assert ("word alone" in sentence) == (word >= 0.9 > place)
    assert ("exact place alone" in sentence) == (place >= 0.9 > word)


def test_lost_words_are_counted_again(store: Path) -> None:
    answered = set()
    for model in models():
        answer = QUESTIONS["words"].of(model)
        rows = read.query(
            "SELECT count(*) AS all_words, count(*) FILTER (margin < 0) AS lost, max(position) FILTER (margin < 0) AS "
            "furthest FROM newest_neighbours WHERE model = ? AND measure = 'nearest_word'",
            [model],
        ).iloc[0]
        assert (answer.answer in LACKING) == (rows.all_words == 0), model
        if not rows.all_words:
            continue
        assert answer.answer.startswith("No") == (rows.lost == 0), model
        assert ("One lost word is enough" in answer.note) == answer.answer.startswith("Hardly"), model
        assert re.findall(r"\d+", answer.answer) == [str(n) for n in (rows.lost, rows.all_words) if n], model
        if rows.lost:
            assert str(int(rows.furthest)) in answer.numbers
        answered.add(answer.answer)
    assert len(answered) > 1


@pytest.mark.parametrize("source", ["all-MiniLM-L6-v2", "all-mpnet-base-v2", "nobody"])
def test_a_statement_says_in_how_many_models_it_holds_and_if_it_does_here(store: Path, source: str) -> None:
    parts = {part: question.statements for part, question in QUESTIONS.items()}
    parts |= {part: further.statements for part, further in FURTHER_PARTS.items()}
    for part, ids in parts.items():
        verdicts = QUESTIONS.get(part, QUESTIONS["directions"]).verdicts(part, source)
        for statement in (one for one in stored.statements() if one.id in ids):
            said = models_in_words(statement, source)
            standings = {reading.source: reading.standing for reading in statement.readings}
            for standing, verb in (("holds", "holds"), ("fails", "fails"), ("open", "is open")):
                count = list(standings.values()).count(standing)
                match = re.search(rf"{verb} (here)?(?: and )?(?:in (\d+))?", said)
                assert (match is None) == (count == 0), said
                if match:
                    here, others = match.groups()
                    assert (here is not None) == (standings.get(source) == standing)
                    assert int(others or 0) + (here is not None) == count
                    rest = [name for name, one in standings.items() if one == standing and name != source]
                    named = not here and len(rest) <= 3
                    assert all(name in said for name in rest) or not named, "few models are named"
            assert ("One model suffices" in said) == (statement.quantifier == "some")
            assert ("Most models decide it" in said) == (statement.quantifier == "most")
            every = statement.quantifier == "every" and statement.verdict == "contradicted"
            assert ("One failure contradicts it" in said) == (every and "fails" in standings.values())
            assert verdicts[statement.id].endswith(f"{capitalised(statement.verdict)}. {said}")
        assert set(verdicts) == set(ids)


def test_pictures_stay_in_their_frame(store: Path) -> None:
    for model in models():
        for card in cards(model):
            assert bool(card["curves"]) == (card["answer"] not in LACKING)
            for curve in card["curves"]:
                assert len(curve["points"]) > 2
                assert all(-1e-9 <= number <= 1 + 1e-9 for point in curve["points"] for number in point), model


def test_the_heads_of_a_layer_are_drawn_by_their_median_and_middle_half(store: Path) -> None:
    values = {**links.VIEWS["geometry"].defaults(), "model": "all-MiniLM-L6-v2"}
    figure = FIGURES["geometry_heads"].of(values)
    stored_rows = figure.frame()
    for subject, panel in zip(PANELS, drawing.panels(figure), strict=True):
        drawn = {
            row["layer"]: row
            for rows in panel.to_dict()["datasets"].values()
            for row in rows
            if "median" in row and "low" in row
        }
        assert len(drawn) == 6
        for layer, row in drawn.items():
            own = stored_rows[(stored_rows.subject == subject) & (stored_rows.layer == layer)].value.to_numpy(
                dtype=float
            )
            assert len(own) == row["heads"] == 12
            assert [row["low"], row["median"], row["high"]] == pytest.approx(np.percentile(own, [25, 50, 75]))


def test_the_lowest_words_and_the_lowest_of_plain_letters_are_named_in_the_picture(store: Path) -> None:
    values = {**links.VIEWS["geometry"].defaults(), "model": "all-MiniLM-L6-v2"}
    figure = FIGURES["geometry_calls"].of(values)
    rows = figure.frame()
    plain = rows[rows.word.str.fullmatch("[A-Za-z]{3,}")]
    lowest = [*rows.nsmallest(2, "margin").word, *plain.nsmallest(5, "margin").word]
    drawn = str([panel.to_dict() for panel in drawing.panels(figure)])
    names = {word: unicodedata.name(word.removeprefix("##"), "") for word in lowest if not word.isascii()}
    codes = {word: name.removeprefix("CJK UNIFIED IDEOGRAPH-") for word, name in names.items() if "CJK" in name}
    named = [
        f"“{word}” →" if word.isascii() else f"U+{codes[word]} →" if word in codes else f"{names[word].capitalize()} →"
        for word in lowest
    ]
    assert [name for name in named if name not in drawn] == []
    places = [drawn.index(name) for name in named]
    assert places == sorted(places), "the smallest of all come first, those of plain words after them"
    assert named[0].removesuffix(" →") in figure.finding


def test_no_label_of_a_word_is_cut(store: Path) -> None:
    """At some 5.6 pixels a letter, each has the room that the axis gives it, in every stored model."""
    for model in models():
        with contextlib.suppress(NoResults):
            figure = FIGURES["geometry_calls"].of({"model": model, "word": ""})
            panel = drawing.panels(figure)[1].to_dict()
            axes = [layer["encoding"]["y"] for layer in panel["layer"] if "y" in layer.get("encoding", {})]
            limit, labels = axes[0]["axis"]["labelLimit"], axes[0]["scale"]["domain"]
            assert max(5.6 * len(label) for label in labels) < limit, model


@pytest.mark.parametrize("dim", [2, 64, 1024])
def test_the_axis_of_cosines_holds_nearly_all_pairs(store: Path, dim: int) -> None:
    for model in ("all-MiniLM-L6-v2", "cpu-sinusoidal-0"):
        figure = FIGURES["geometry_cosines"].of({"model": model, "dim": dim})
        layer = next(
            layer for layer in drawing.panels(figure)[0].to_dict()["layer"] if layer["mark"].get("type") == "area"
        )
        low, high = layer["encoding"]["x"]["scale"]["domain"]
        assert -low == high <= 1
        rows = figure.frame()
        rows = rows[rows.subject.isin(["word_position", "word_position_centred"]) & (rows.along.abs() > high)]
        assert (rows.groupby("subject").value.sum() < 0.002).all()


def test_headings_say_what_their_cards_do_not(store: Path) -> None:
    model = "all-MiniLM-L6-v2"
    own, width = read.query(
        "SELECT value, along FROM newest_geometry WHERE model = ? AND measure = 'abs_cosine' AND subject = "
        "'word_position' ORDER BY along DESC LIMIT 1",
        [model],
    ).iloc[0]
    heading = FIGURES["geometry_cosines"].of({"model": model, "dim": 0}).finding
    assert f"{own:.3f}, random {mean_abs_cosine(width):.3f}" in heading, "both numbers that it compares"
    last = re.search(r"after the last layer (\d+ % and \d+ %)", QUESTIONS["states"].of(model).numbers)
    assert last is not None
    assert FIGURES["geometry_states"].of({"model": model}).finding.endswith(f"after the last layer, in {last[1]}")


def test_the_name_of_the_middle_word_stands_right_of_it_below_the_curve_or_left_above_it(store: Path) -> None:
    sides = set()
    for model in models():
        with contextlib.suppress(NoResults):
            figure = FIGURES["geometry_calls"].of({"model": model, "word": ""})
            margins = figure.frame().margin
            panel = drawing.panels(figure)[0].to_dict()
            (name,) = {
                (row["name"], row["margin"], row["align"], row["dy"] > 0)
                for rows in panel["datasets"].values()
                for row in rows
                if "name" in row and row["rank"] > 1  # the chosen word is the first
            }
            assert (name[0] == "") == (name[1] <= 0)
            assert name[1] == pytest.approx(margins.iloc[(len(margins) - 1) // 2])
            assert (name[2] == "left") == name[3]
            sides.add(name[2])
    assert sides
