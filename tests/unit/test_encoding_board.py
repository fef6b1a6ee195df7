"""Proves the board of Which encoding?: its numbers by the store, its order by needs, its sentence by its rows."""

import importlib
import itertools
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from drawn_values import valid_panels

from analysis.claims.statements.judgement import REFUSED
from analysis.claims.statements.stored import statements
from analysis.core.errors import LinkError
from analysis.encodings import ENCODINGS
from analysis.figures import FIGURES, drawing
from analysis.figures.encodings.overview import ENCODING_OF, direction_shares, directions_with_most
from analysis.figures.training.final_loss import OPEN, compared_losses, seeds_needed
from analysis.figures.training.later_runs import later_runs
from analysis.narrative.choosing import METHODS, NEEDS, board, evidence
from analysis.narrative.choosing.settings import IN_CODE, IN_USE, USED
from analysis.narrative.choosing.sizes import ModelSize
from analysis.rules import encoder_contests, training_rules
from analysis.store import read
from dashboard.widgets.encoding_board import differing_needs, time_axis

JUDGED = training_rules().preset
ASKED = [needs for count in range(4) for needs in itertools.combinations(NEEDS, count)]
OF_ENCODERS = [needs for needs in ASKED if "causal" not in needs]
"""The needs for which the losses of encoders are shown."""


def rows(needs: tuple[str, ...] = (), size: ModelSize | None = None) -> list[board.EncodingRow]:
    return board.rows(board.usual_recipe(needs), needs, size or ModelSize())


def test_nine_ways_are_in_use_beside_two_to_compare_and_the_others_are_folded(store: Path) -> None:
    assert board.count(rows()) == len(IN_USE) == 11
    assert len({*USED, *IN_CODE} & set(IN_USE)) == 9
    assert {row.method for row in rows()} == set(IN_USE)
    assert sorted(row.name for row in rows()) == sorted(board.VARIANT_NAMES)
    assert {method.variant for method in board.studied()} == {method.variant for method in METHODS} - set(IN_USE)
    assert set(ENCODING_OF) == set(board.VARIANT_NAMES)
    assert set(USED) | set(IN_CODE) <= set(IN_USE)


@pytest.mark.parametrize("needs", ASKED, ids="-".join)
def test_what_lacks_a_need_moves_down_and_nothing_else_moves(store: Path, needs: tuple[str, ...]) -> None:
    found, order = rows(needs), [row.name for row in rows(("causal",) if "causal" in needs else ())]
    lacking = [bool(row.lacks) for row in found]
    assert lacking == sorted(lacking)
    for group in (True, False):
        names = [row.name for row, lacks in zip(found, lacking, strict=True) if lacks is group]
        if group and "causal" in needs:
            continue  # Those that no decoder can use stand last in the order, too.
        assert names == [name for name in order if name in names]
    by_name = {method.variant: method for method in METHODS}
    for row in found:
        assert row.ticks == tuple(need.met(by_name[row.method]) for need in NEEDS.values())
        assert row.lacks == tuple(need for need in needs if not NEEDS[need].met(by_name[row.method]))


@pytest.mark.parametrize("needs", ASKED, ids="-".join)
def test_the_lowest_loss_stands_first_and_what_has_none_last(store: Path, needs: tuple[str, ...]) -> None:
    found = rows(needs)
    for able in (True, False):
        group = [row for row in found if bool(row.lacks) is not able]
        losses = [
            0.0 if row.baseline else row.loss.value if row.loss and not row.loss.elsewhere else math.inf
            for row in group
        ]
        assert losses == sorted(losses)


@pytest.mark.parametrize("needs", OF_ENCODERS, ids="-".join)
def test_the_headline_names_the_method_that_learns_best_of_those_that_can(store: Path, needs: tuple[str, ...]) -> None:
    found = rows(needs)
    able = [row for row in found if not row.lacks]
    said = board.headline(found)
    assert len(said) <= 175
    learned = [row for row in able if row.baseline or (row.loss and row.loss.judged)]
    if not able:
        assert said.startswith("None of the 11")
        return
    if able[0].form and board.count(able) == 1:
        assert said.startswith(f"{IN_USE[able[0].method].name} alone can do it: “{able[0].form}” ends lowest")
        rises = {row.form: row.longer.value for row in learned if row.longer and not row.worse}
        best = min(rises, key=lambda form: rises[form])
        assert (f"“{best}” has the lowest loss on longer texts" in said) == (best != able[0].form)
        return
    if len(learned) < 2 and len(able) < 3:
        quoted = " and ".join(f"“{row.title[0].lower()}{row.title[1:]}”" for row in able)
        assert said.lower().startswith(f"{quoted.lower()}{' alone' * (len(able) == 1)} can do it")
        for row in able:
            above = row.loss is not None and (row.loss.low if row.loss.low is not None else row.loss.value) > 0
            assert (f"+{row.loss.value:.2f}" in said if row.loss else False) == above
        return
    if len(learned) < 2:
        assert ("alone has all its seeds" if learned else "we trained none") in said
        return
    best = learned[0]
    added = next(row for row in found if row.baseline)
    assert added.longer
    if best.longer and best.longer.value > added.longer.value and best.loss and best.loss.high is not None:
        others = [row for row in learned if row is not best and row.longer and row.loss and row.loss.low is not None]
        level = [row for row in others if board._level(row, best) and row.longer.value <= added.longer.value]
        if level:
            steadier = min(level, key=lambda row: row.longer.value)
            assert best.method == steadier.method == "sinusoidal"
            assert said.endswith(
                f"as “{best.form}” it ends lowest, as “{steadier.form}” it has a lower loss on longer texts"
            )
            return
    some_cannot = board.count(able) < board.count(found)
    before, _, named = said.partition(" that can do it, " if some_cannot else "In our small encoders, ")
    assert before == (f"Of the {board.count(able)}" if some_cannot else ""), "it says of how many where some cannot"
    assert named.removeprefix("“").lower().startswith(best.title.lower())
    assert not re.search(r"\d\.\d", said), "the losses stand in the rows, each beside its own name"
    reaching = [row for row in learned if row.baseline or (row.loss and (row.loss.low or 0) <= 0)]
    compared = [row for row in reaching if row.longer and row.longer.judged]
    rises = [row.longer.value for row in able if row.longer and not row.longer.elsewhere]
    furthest = min(compared, key=lambda row: row.longer.value if row.longer else math.inf, default=None)
    told = (
        len(compared) > 1
        and furthest is not None
        and furthest.longer is not None
        and furthest.longer.value == min(rises)
    )
    above = best.longer is not None and best.longer.value > added.longer.value
    assert ("but on longer texts it is above added positions" in said) == above
    last = " is lowest there" if above else " has the lowest loss"
    assert (last in said) == told, "nothing is best of one, or beside a smaller number"
    if not told or furthest is None:
        return
    lowest_there = said.split(last)[0]
    assert lowest_there.endswith(" and") if furthest is best else lowest_there.rstrip("”").endswith(furthest.title[1:])
    times = best.times
    if times and not best.baseline and "%" in said:
        shares = sorted(abs(time - 1) for time in times)
        assert shares[0] >= board.WORTH_SAYING
        assert f"takes {100 * shares[0]:.0f} % to {100 * shares[-1]:.0f} %" in said, "from the least to the most"
        assert (" longer on a CPU" if min(times) > 1 else " less on a CPU") in said


def test_the_price_is_of_all_that_was_measured_of_the_method(store: Path) -> None:
    """In models whose layers are equally wide, and in those that were trained, whose parameters are matched."""
    sql = """
    SELECT v.value / b.value AS ratio FROM costs v JOIN costs b USING (run_id, preset, measure)
    WHERE measure = 'step_ratio' AND v.variant = 'rotary' AND b.variant = 'bert_a' AND preset IN ('cpu', 'width128')
    """
    measured = read.query(sql).ratio
    row = next(row for row in rows() if row.name == "rotary")
    assert len(row.times) == 4
    assert all(any(math.isclose(time, ratio) for ratio in measured) for time in row.times)
    shares = [100 * (min(row.times) - 1), 100 * (max(row.times) - 1)]
    assert [f"{share:.0f}" for share in shares] == re.findall(r"(\d+) %", board.headline(rows()))


def test_where_the_recipe_has_no_run_those_of_a_later_file_stand_in_its_place(store: Path) -> None:
    judged = {one.id: one for one in statements()}
    found = {row.name: row for row in rows()}
    for name, statement in (("relative_only", "C22f"), ("sinusoidal", "C15e")):
        loss, longer = found[name].loss, found[name].longer
        assert loss is not None
        assert longer is not None
        assert (loss.statement, loss.preset, loss.few, loss.recipe) == (statement, "width128", "", "")
        assert (loss.value, loss.low, loss.high) == pytest.approx(
            (judged[statement].effect, judged[statement].low, judged[statement].high)
        )
        assert loss.undecided == (judged[statement].verdict == "open")
        assert longer.preset == "width128"
        assert f"(statement {statement})" in board.seeds_of_their_own(rows())
    assert board.seeds_of_their_own(rows(("causal",))) == ""


def test_the_baseline_and_its_equals_learn_as_well_as_any() -> None:
    def row(name: str, value: float, low: float) -> board.EncodingRow:
        number = board.Number(value=value, low=low, high=value + 0.1)
        return board.EncodingRow(
            name=name, method=name, form="", title=name, users="", ticks=(), partly=(), lacks=(), baseline=False,
            loss=number, longer=number, parameters=1, products=1,
        )  # fmt: skip

    def said(*rows: board.EncodingRow) -> str:
        return board.headline(rows).removeprefix("In our small encoders, ")

    assert said(row("A", -0.3, -0.4), row("B", -0.1, -0.15)).startswith("a learns best")
    assert said(row("A", -0.3, -0.4), row("B", -0.2, -0.35)).startswith("a learns as well as any")
    overlapping = said(row("A", -0.3, -0.4), row("B", -0.1, -0.25))
    assert overlapping.startswith("a learns as well as any"), "the intervals overlap, though no mean is in the other's"


def test_a_method_that_loses_more_on_longer_texts_than_added_positions_is_said_to(store: Path) -> None:
    """Without the form that is lower on longer texts, which the headline names in place of that."""
    found = [row for row in rows(("attention",)) if row.form != "16 leading dimensions"]
    best, added = found[0], next(row for row in found if row.baseline)
    assert best.longer is not None
    assert added.longer is not None
    assert best.longer.value > added.longer.value
    assert board.headline(found).endswith(
        "but on longer texts it is above added positions; “learned, added” is lowest there"
    )


def test_a_need_has_a_column_where_the_methods_differ_in_it(store: Path) -> None:
    found = rows()
    by_need = {name: {row.ticks[index] for row in found} for index, name in enumerate(NEEDS)}
    assert differing_needs(found) == [name for name, ticks in by_need.items() if ticks == {True, False}]
    assert differing_needs(found[:1]) == [], "one row differs from none"


@pytest.mark.parametrize("needs", ASKED, ids="-".join)
def test_the_sentence_counts_methods_and_not_their_strengths(store: Path, needs: tuple[str, ...]) -> None:
    found = rows(needs)
    able = {row.method for row in found if not row.lacks}
    said = board.summary(found, needs)
    if needs:
        assert said.startswith(f"{len(able)} of 11 methods can" if able else "None of the 11")
    else:
        said = board.rows_in_words(found)
        assert f"The {len(found)} rows are 11 methods, " in said
    drawn = [row for row in found if not row.lacks and row.loss and not row.loss.elsewhere]
    shown = [row for row in drawn if row.loss and (row.loss.judged or row.loss.causal)]
    trained = {row.method for row in (*shown, *(row for row in found if row.baseline and not row.lacks))}
    assert f"e trained {len(trained) or 'none'} of them" in said or not able
    for row in found:
        if row.lacks:
            told = said + board.longer_texts(found, needs)
            assert f"“{row.title[0].lower()}{row.title[1:]}”" not in told, "what lacks a need is no answer"


@pytest.mark.parametrize("need", [need for need in NEEDS if need != "causal"])
def test_a_need_says_what_one_gives_up(store: Path, need: str) -> None:
    """Its two losses are those that the rows print, so that a reader can check them there."""

    def lowest(methods: list[board.EncodingRow]) -> tuple[float, str]:
        judged = [(row.loss.value, row.title) for row in methods if row.loss and row.loss.judged]
        return min([*judged, *((0.0, row.title) for row in methods if row.baseline)])

    found = rows((need,))
    (before, first), (after, second) = lowest(found), lowest([row for row in found if not row.lacks])
    said = board.given_up(found, (need,))[need]
    if after == before:
        assert said.startswith("gives up nothing in training")
        return
    printed = [f"{value:.2f}".replace("-", "−") for value in (before, after)]
    assert re.findall(r"−?\d\.\d\d(?= nats)", said) == printed
    assert said.lower().index(first.lower()) < said.lower().index(second.lower())


def test_those_that_the_rules_do_not_tell_from_the_lowest_are_tied_with_it(store: Path) -> None:
    shown = rows()
    tied = [row for row in shown if row.tied]
    assert shown[0] in tied
    assert len(tied) > 1
    lowest = shown[0].loss
    assert lowest is not None
    for row in shown[1:]:
        judged = row.loss is not None and row.loss.judged and not row.baseline
        assert row.tied == (judged and (row.loss.low or 0.0) <= lowest.value), row.title


def test_without_a_need_the_lowest_loss_of_each_is_named(store: Path) -> None:
    shown, decoders = rows(), rows(("causal",))
    said = board.lowest_by_need(shown, decoders)
    assert list(said) == board.deciding_needs()
    assert said.pop("causal") == f"{board.headline(decoders)[0].lower()}{board.headline(decoders)[1:]}"
    added = next(row.longer for row in shown if row.baseline)
    for need, words in said.items():
        able = [row for row in shown if row.ticks[list(NEEDS).index(need)] and row.loss and row.loss.judged]
        best = min(able, key=lambda row: row.loss.value if row.loss else math.inf)
        assert words.startswith(f"“{best.title[0].lower()}{best.title[1:]}” ends lowest (−")
        assert ("tied first" in words) == best.tied
        assert best.longer is not None
        assert added is not None
        assert ("above adding on longer texts" in words) == (best.longer.value > added.value)


def test_longer_texts_are_told_where_a_need_asks_for_them(store: Path) -> None:
    assert board.longer_texts(rows(), ()) == ""
    assert "Of our decoders" in board.longer_texts(rows(("causal",)), ("causal",))
    assert "As published" in board.longer_texts(rows(("longer",)), ("longer",))


def test_only_numbers_of_judged_recipes_of_one_size_have_a_place_on_the_axis(store: Path) -> None:
    for row in rows():
        longer = read.query(
            "SELECT avg(v.value - b.value) AS longer FROM curves v JOIN curves b USING (preset, seed) "
            "WHERE v.variant = ? AND v.preset = ? AND v.metric = 'final_loss_4x' AND b.variant = 'bert_a' "
            "AND b.metric = 'final_loss_1x'",
            [row.name, JUDGED],
        )
        for number in (row.loss, row.longer):
            if number is not None:
                assert bool(number.elsewhere) == (not re.search(f"preset ({JUDGED}|width128), masked", number.note))
                count, _, unit = number.note.rpartition(", ")[2].partition(" ")
                preset = re.search(r"preset (\w+)", number.note)[1]
                needed = len(encoder_contests()[number.statement][1].seeds) if number.statement else 0
                assert number.elsewhere or bool(number.few) == (int(count) < (needed or seeds_needed(preset))), unit
        trained = read.query(
            "SELECT count(*) AS n FROM pretrainings WHERE variant = ? AND preset = ?", [row.name, JUDGED]
        )
        if row.loss and trained.n[0] and not row.name.startswith("causal_"):
            assert not row.loss.elsewhere, "the judged recipe comes first, however few its seeds"
        if row.longer and JUDGED in row.longer.note and not row.longer.elsewhere:
            assert row.longer.value == pytest.approx(longer.longer[0])
        if row.baseline:
            assert row.loss is None
        elif row.loss and row.loss.judged:
            assert row.loss.low is not None
            assert row.loss.low <= row.loss.value <= (row.loss.high or math.nan)


def test_each_form_of_sinusoids_has_a_loss_and_a_rise_of_its_own(store: Path) -> None:
    """Both differences are taken again from the store, over the seeds that a form and adding have in common."""
    found = {row.name: row for row in rows() if row.method == "sinusoidal"}
    recipes = dict.fromkeys(("sinusoidal_strong", "sinusoidal_lead", "sinusoidal"), "width128")
    for variant, preset in recipes.items():
        row = found[variant]
        losses = read.query(
            "SELECT seed, variant, final_loss FROM pretrainings WHERE preset = ? AND variant IN (?, 'bert_a')",
            [preset, variant],
        ).pivot(index="seed", columns="variant", values="final_loss")
        later = {"sinusoidal": encoder_contests()["C15e"][1].seeds}
        gaps = (losses[variant] - losses.bert_a).dropna()
        gaps = gaps[gaps.index.isin(later.get(variant, gaps.index))]
        assert row.loss
        assert row.longer
        assert row.loss.value == pytest.approx(gaps.mean())
        assert f"{len(gaps)} seed" in row.loss.note
        assert preset in row.longer.note, "the rise is of the same runs as the loss"
        assert row.loss.judged == (len(gaps) >= len(later.get(variant, range(seeds_needed(preset)))))
    assert found.keys() == recipes.keys()
    assert len({row.ticks for row in found.values()}) == 1


def test_no_column_is_empty_as_a_whole(store: Path) -> None:
    found = rows()
    assert any(row.loss for row in found)
    assert any(row.longer for row in found)
    times = (
        read.query(
            "SELECT variant, value FROM newest_costs WHERE measure = 'step_ratio' AND preset = ?",
            [board.EQUAL_SIZES],
        )
        .set_index("variant")
        .value
    )
    assert {row.name: row.times[0] for row in found if row.times and row.name == row.method} == {
        name: pytest.approx(times[name] / times["bert_a"])
        for name in IN_USE
        if name in times.index and not name.startswith("causal")
    }
    assert sum(bool(row.times) for row in found) >= 8
    decoders = {row.name: row.times[0] for row in rows(("causal",)) if row.times}
    timed = [f"causal_{name.removeprefix('causal_')}" for name in board.VARIANT_NAMES]
    assert decoders == {
        name: pytest.approx(times[causal] / times["causal_bert_a"])
        for name, causal in zip(board.VARIANT_NAMES, timed, strict=True)
        if causal in times.index
    }, "who needs a decoder sees the times of decoders"


@pytest.mark.parametrize(
    "size", [ModelSize(), ModelSize(width=4096, layers=32, heads=32, length=8192), ModelSize(64, 2, 1, 64)]
)
def test_costs_are_against_added_positions_and_times_stay_on_the_axis(store: Path, size: ModelSize) -> None:
    found = rows(size=size)
    axis = time_axis(found)
    for row in found:
        if row.baseline:
            assert (row.parameters, row.products, set(row.times)) == (1.0, 1.0, {1.0})
        for time in row.times:
            assert axis["low"] <= time <= axis["high"]
    assert next(row for row in found if row.name == "rotary").parameters < 1, "it needs no table"


@pytest.mark.parametrize("needs", [("causal",), ("longer", "causal"), ("causal", "order", "longer")])
def test_who_needs_a_decoder_is_told_of_decoders(store: Path, needs: tuple[str, ...]) -> None:
    """Every loss and rise on the axis is that of causal trainings, against SQL; other trainings have words alone."""
    able = [row for row in rows(needs) if not row.lacks]
    finals = read.query(
        "SELECT replace(v.variant, 'causal_', '') AS way, avg(v.final_loss - b.final_loss) AS gap FROM pretrainings v "
        "JOIN pretrainings b USING (preset, seed) WHERE b.variant = 'causal_bert_a' AND preset = ? "
        "AND v.variant LIKE 'causal_%' GROUP BY way",
        [JUDGED],
    )
    gaps = dict(zip(finals.way, finals.gap, strict=True))
    drawn = {row.name.removeprefix("causal_"): row for row in able if row.loss and not row.loss.elsewhere}
    assert {"rotary", "partial_25"} <= set(drawn) <= set(gaps)
    for name, row in drawn.items():
        assert row.loss is not None
        assert row.loss.value == pytest.approx(gaps[name])
        assert row.longer is None or row.longer.elsewhere or "causal" in row.longer.note
    assert {row.loss.elsewhere for row in able if row.loss and row.name not in drawn} >= {board.ENCODER_ONLY}
    said = board.headline(able)
    baseline = any(row.baseline for row in able)
    assert f"Of the {board.count(drawn.values()) + baseline} that we trained as small decoders" in said
    assert said.endswith(
        "“rotary, some dimensions” and “rotary” end lowest; “polar” has the lowest loss on longer texts"
    )
    assert "“Rotary, some dimensions, a tenth”, which ends lowest, is the worst on longer" in board.summary(able, needs)
    paired = read.query(
        "SELECT v.final_loss - b.final_loss AS gap FROM pretrainings v JOIN pretrainings b USING (preset, seed) "
        "WHERE preset = ? AND v.variant = 'causal_partial_25' AND b.variant = 'causal_partial_10'",
        [JUDGED],
    ).gap
    assert scipy.stats.ttest_1samp(paired, 0).confidence_interval().low > 0, "a quarter is told apart from a tenth"
    assert len(said) <= 175
    assert board.given_up(able, needs) == {}, "no loss of decoders is judged, so none is given up"
    few = rows(("causal", "attention"))
    assert all(row.tied or row.baseline for row in few if row.drawn and not row.lacks)
    assert "that we trained as small decoders, none ends clearly lowest" in board.headline(few)
    assert "as small decoders" in board.summary(able, needs)


def test_an_unknown_need_is_said(store: Path) -> None:
    with pytest.raises(LinkError, match=r"needs='speed'; expected one of: longer"):
        rows(("speed",))


@pytest.mark.parametrize("variant", IN_CODE)
def test_the_code_that_is_named_is_in_transformers(variant: str) -> None:
    module, _, name = IN_CODE[variant].defined.rpartition(".")
    assert hasattr(importlib.import_module(module), name)


@pytest.mark.parametrize("variant", IN_USE)
def test_a_row_opens_three_pictures_of_its_encoding(variant: str) -> None:
    figure = FIGURES["encoding_overview"].of({"row": variant})
    encoding = ENCODINGS[ENCODING_OF[variant]]
    for dark in (False, True):
        panels = valid_panels(figure, drawing.Theme(dark=dark, screen=True))
        assert len(panels) == drawing.columns(figure) == 3
    assert encoding.title in figure.finding
    assert figure.frame().encoding.unique().tolist() in ([encoding.name], [])


def test_directions_are_counted_by_their_shares() -> None:
    table = ENCODINGS["rotary"].table(64, 64)
    centred = table - table.mean(0)
    values = sorted((abs(v) for v in np.linalg.eigvalsh(centred.T @ centred)), reverse=True)
    total, held, count = sum(values), 0.0, 0
    while held < 0.9 * total:
        held += values[count]
        count += 1
    assert directions_with_most(direction_shares(table)) == count
    assert f"{count} of 64 directions" in FIGURES["encoding_overview"].of({"row": "rotary"}).finding
    assert directions_with_most(direction_shares(ENCODINGS["none"].table(64, 64))) == 0


def test_a_need_is_offered_if_it_excludes_a_method(store: Path) -> None:
    by_name = {method.variant: method for method in METHODS}
    excluding = [name for name, need in NEEDS.items() if not all(need.met(by_name[way]) for way in IN_USE)]
    assert board.deciding_needs() == excluding == differing_needs(rows())


def test_names_of_methods_have_no_raw_superscript() -> None:
    names = [board.trained_title(method) for method in METHODS]
    assert not [name for name in names if "^" in name]
    assert any("BERT-A, " in name for name in names)


def test_what_experiments_leave_open_is_open_here_too(store: Path) -> None:
    """A loss is a ring exactly where the page Experiments calls it open, and names the recipe that is another."""
    outcomes: dict[str, dict[Any, Any]] = {}
    for row in rows():
        if row.loss is None or row.loss.elsewhere or row.loss.few or row.loss.statement:
            continue
        if row.loss.preset not in outcomes:
            trained = evidence.own_trainings(row.loss.preset)
            assert trained is not None
            table, _ = compared_losses(trained)
            outcomes[row.loss.preset] = table.set_index("variant").outcome.to_dict()
        assert row.loss.undecided == (outcomes[row.loss.preset][row.name] == OPEN), row.title
        assert bool(row.loss.recipe) == (row.loss.preset != board.usual_recipe(())), row.title


def test_what_is_open_of_a_loss_is_said_as_the_rules_have_it(store: Path) -> None:
    """An interval that lies below zero and reaches into the margin: its side is told, and its size is open."""
    whys = {row.name: row.loss.why for row in rows() if row.loss}
    reaching = next(row.loss for row in rows() if row.name == "sinusoidal_strong")
    assert reaching
    assert reaching.high
    assert -training_rules().margin < reaching.high < 0
    assert reaching.why == "lower, size open"
    assert whys["sinusoidal"] == "", "C15e asks for the loss after so many steps, whatever the plateau"
    later = later_runs("sinusoidal")
    assert later
    refused = replace(later.judgement, verdict="open", open_by=REFUSED, would_decide="more runs")
    assert board._why_open(later.trained, "sinusoidal", refused) == board.PLATEAU
    assert all(bool(row.loss.why) == row.loss.undecided for row in rows() if row.loss)


def test_a_strength_has_the_time_of_its_own(store: Path) -> None:
    sql = "SELECT variant, value FROM newest_costs WHERE preset = ? AND measure = 'step_ratio'"
    stored = read.query(sql, [board.EQUAL_SIZES])
    times = stored.set_index("variant").value
    found = {row.name: row.times[0] for row in rows() if row.times}
    for name in ("sinusoidal", "sinusoidal_strong"):
        assert found[name] == times[name] / times["bert_a"]
