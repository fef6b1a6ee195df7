"""Proves what the GLUE page says of made-up results whose averages, intervals and verdicts are computed by hand here.

Three seeds of five variants: one better, one worse, one the same, one too noisy to tell; a task that nobody learnt,
one on partial data, and one of our own that is not GLUE.
"""

import re
import shutil
from copy import copy
from pathlib import Path
from statistics import fmean, median, stdev

import pandas as pd
import pytest
from drawn_values import valid_panels
from scipy import stats

from analysis import glue_comparison, store_build
from analysis.ablation.variants import quote
from analysis.core.errors import LinkError
from analysis.core.formatting import signed
from analysis.figures import FIGURES, drawing
from analysis.figures.drawing import Theme
from analysis.figures.glue import heat
from analysis.figures.glue.headline import headline, ranks
from analysis.figures.glue.study_rows import GlueParameters, study_and_table, study_of
from analysis.figures.glue.table import table
from analysis.glue_comparison import AVERAGE
from analysis.links import VIEWS
from dashboard.widgets.experiments.glue import default_preset
from tests import own_results
from tests.own_results import BASE, SHIFTS, write_losses, write_scores

T_975_2 = 4.302652729911275
"""Student's t at 97.5 % on two degrees of freedom, from a printed table."""
FIGURE_NAMES = ("glue_average", "glue_difference", "glue_scores")
ROOT = Path(__file__).parents[2]


def beside_published(folder, write=lambda: None):
    """A folder of data with the published tables, what `write` adds to them, and the store of both."""
    shutil.copytree(ROOT / "data" / "published", folder / "published")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADDEND_DATA", str(folder))
        patch.delenv("ADDEND_STORE", raising=False)
        write()
        assert store_build.refresh().problems == []
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The small world, with the published tables beside it."""
    return beside_published(tmp_path_factory.mktemp("own") / "data", own_results.world)


@pytest.fixture
def world(made, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(made))
    monkeypatch.delenv("ADDEND_STORE", raising=False)


def study(**more):
    return study_of(GlueParameters(preset="cpu", **more))


def averages(variant):
    """Of CoLA and RTE, a value a seed."""
    return [fmean(BASE[task][seed] + SHIFTS[variant][seed] for task in BASE) for seed in range(3)]


def row(frame, variant, task=AVERAGE, **more):
    found = frame[(frame.variant == variant) & (frame.task == task)]
    for name, value in more.items():
        found = found[found[name] == value]
    assert len(found) == 1
    return found.iloc[0]


# ---- Numbers ----


@pytest.mark.parametrize("variant", SHIFTS)
def test_an_average_and_its_interval_are_over_seeds(world, variant):
    found, values = row(study().cells, variant), averages(variant)
    assert found.value == pytest.approx(fmean(values))
    half = T_975_2 * stdev(values) / 3**0.5
    assert (found.low, found.high) == pytest.approx((fmean(values) - half, fmean(values) + half))
    assert found.seeds == 3


@pytest.mark.parametrize("variant", [v for v in SHIFTS if v != "bert_a"])
def test_a_difference_is_paired_by_seed(world, variant):
    found, shift = row(study().contrasts, variant), SHIFTS[variant]
    half = T_975_2 * stdev(shift) / 3**0.5
    assert found.difference == pytest.approx(fmean(shift))
    assert (found.low, found.high) == pytest.approx((fmean(shift) - half, fmean(shift) + half))


def test_verdicts(world):
    found = study().contrasts
    verdicts = {variant: row(found, variant).verdict for variant in SHIFTS if variant != "bert_a"}
    assert verdicts == {
        "tupe_a": "different",
        "no_position": "different",
        "rotary": "equivalent within 1",
        "alibi": "open",
    }
    assert row(found, "alibi").tie, "a third of a point is less than such noise can resolve"
    assert row(found, "alibi").smallest_detectable > 5
    assert not row(found, "tupe_a").tie


def test_holm_is_over_variants_for_averages_and_over_tasks_for_tasks(world):
    found = study().contrasts
    means = found[found.task == AVERAGE]
    assert set(means.tests) == {4}
    smallest = means.loc[means.p.idxmin()]
    assert smallest.p_corrected == pytest.approx(4 * smallest.p)
    tasks = found[(found.variant == "tupe_a") & (found.task != AVERAGE)]
    # WNLI is the same at every seed: no test can be made, and none is counted.
    assert len(tasks) == 4
    assert row(found, "tupe_a", "wnli").verdict == "no interval"
    assert set(tasks.tests) == {int(tasks.p.notna().sum())}


def test_the_interval_over_examples_holds_the_seeds_fixed(world):
    """The replicates of all runs rise together, so their difference is the same in every resample."""
    found = row(study().comparisons, "tupe_a")
    assert (found.examples_low, found.examples_high) == pytest.approx((2.0, 2.0), abs=1e-4)
    assert found.resamples == 50
    assert found.probability_better == 1
    assert row(study().comparisons, "tupe_a", "swapped_neighbours").resamples == 0, "no replicates were stored"


def test_medians_as_tupe_takes_them(world):
    found = row(study(protocol="median").cells, "alibi")
    by_task = [median(BASE[task][seed] + SHIFTS["alibi"][seed] for seed in range(3)) for task in BASE]
    assert found.value == pytest.approx(fmean(by_task))
    against = row(study(protocol="median").contrasts, "alibi")
    assert against.difference == pytest.approx(fmean(by_task) - fmean(median(BASE[task]) for task in BASE))


# ---- Which tasks count ----


def test_a_task_that_nobody_learnt_is_out_unless_ticked(world):
    assert study().not_learnt == ["wnli"]
    assert study().averaged_tasks == ["cola", "rte"]
    assert study(including=("wnli",)).averaged_tasks == ["cola", "rte", "wnli"]
    assert study(without=("cola",)).averaged_tasks == ["rte"]


def test_our_own_task_is_shown_and_never_averaged(world):
    found = study(including=("swapped_neighbours",))
    assert "swapped_neighbours" not in found.averaged_tasks
    assert row(found.cells, "bert_a", "swapped_neighbours").value == pytest.approx(90.1)
    # A dead model cannot do it: that is what it is there for.
    assert row(found.contrasts, "no_position", "swapped_neighbours").verdict == "different"


def test_any_variant_can_be_the_baseline(world):
    found = row(study(baseline="tupe_a").contrasts, "bert_a")
    assert found.difference == pytest.approx(-2.0)
    with pytest.raises(LinkError, match="has no variant 'gpt'"):
        study(baseline="gpt")
    with pytest.raises(LinkError, match="no results of the preset 'huge'"):
        study_of(GlueParameters(preset="huge"))


# ---- The sentence ----


def test_the_headline_says_who_differs_how_and_by_how_many_seeds(world):
    first, *more = headline(study())
    assert first.startswith("On the average of 2 GLUE tasks, 2 of 4 variants differ from adding after correction")
    assert "above it “Apart, own matrix” (+2.00 points, +1.75 to +2.25, 3 seeds)" in first
    assert "below it No position (−3.00 points, −3.50 to −2.50, 3 seeds)" in first
    told = " ".join(more)
    assert "Equivalent within 1 point: Rotary." in told
    assert "Open: Symmetric ALiBi" in told
    assert "four times out of five" in told


@pytest.fixture
def anew(data, monkeypatch):
    """Results of the test's own, read after they are written."""

    def read(**more):
        assert store_build.refresh().problems == []
        return study_of(GlueParameters(preset="cpu", **more))

    return read


SCORES = [(v, "rte", s, 60.0 + s + shift) for v, shift in (("bert_a", 0), ("tupe_a", 1)) for s in range(3)]


def test_a_recipe_that_did_not_teach_positions_is_inconclusive(anew):
    ids = write_losses({"bert_a": (6.20, 6.25, 6.15), "no_position": (6.22, 6.22, 6.22), "tupe_a": (6.2, 6.2, 6.2)})
    write_scores([*SCORES, *[("no_position", "rte", s, 59.0 + s) for s in range(3)]], ids=ids)
    first, why = headline(anew())
    assert first == "Inconclusive: under-trained."
    assert "adding at 6.20 (3 seeds, spread 0.10) and No position at 6.22" in why


def test_a_recipe_of_which_no_loss_is_known_is_inconclusive(anew):
    write_scores(SCORES)
    first, why = headline(anew())
    assert first == "Inconclusive: not known whether positions are used."
    assert "No curves" in why


def test_a_recipe_without_a_run_without_position_is_inconclusive(anew):
    losses = own_results.LOSSES
    write_scores(SCORES, ids=write_losses({name: losses[name] for name in ("bert_a", "tupe_a")}))
    first, why = headline(anew())
    assert first == "Inconclusive: no run of No position."
    assert "judged once there are runs of No position" in why


@pytest.fixture
def taught():
    """Ids of pre-trainings that learnt what positions are for, and the scores of the one that has none."""
    losses = own_results.LOSSES
    return lambda: write_losses({name: losses[name] for name in ("bert_a", "tupe_a", "no_position")})


ORDERLESS = [("no_position", "rte", s, 55.0 + 1.1 * s) for s in range(3)]


def test_too_few_seeds_are_inconclusive(anew, taught):
    write_scores([score for score in [*SCORES, *ORDERLESS] if score[2] < 2], ids=taught())
    first, why = headline(anew())
    assert first == "Inconclusive: too few seeds."
    assert "adding has 2" in why


def test_a_changed_model_of_which_few_seeds_are_stored_cannot_be_ranked(store):
    whole = study_of(GlueParameters(preset="surgery"))
    assert ranks(whole)[0]
    few = copy(whole)
    object.__setattr__(few, "contrasts", whole.contrasts.assign(seeds=1))
    can, why = ranks(few)
    assert not can
    assert why == "Inconclusive: too few seeds. No change has more than 1 seed so far; at least 3 are needed."


def test_a_single_seed_is_too_few_and_said_once(anew, taught):
    """As while a sweep runs: the recipe and the scores both lack seeds, and neither is called under-trained."""
    first = [score for score in [*SCORES, *ORDERLESS] if score[2] < 1]
    write_scores(first, ids={key: id for key, id in taught().items() if key[1] < 1})
    finding, *why = headline(anew())
    assert finding == "Inconclusive: too few seeds."
    assert "No position at 6.20 (1 seed)" in why[0]
    assert "adding has 1" in why[1]


def test_every_reason_is_named(anew):
    ids = write_losses({"bert_a": (6.20, 6.25), "no_position": (6.22, 6.22), "tupe_a": (6.2, 6.2)})
    write_scores([score for score in [*SCORES, *ORDERLESS] if score[2] < 2], ids=ids)
    assert headline(anew())[0] == "Inconclusive: under-trained; too few seeds."


def test_a_baseline_without_an_average_is_inconclusive(anew, taught):
    write_scores([*SCORES, *ORDERLESS, ("tupe_a", "cola", 0, 50.0)], ids=taught())
    first, why = headline(anew())
    assert first == "Inconclusive: the baseline has no average."
    assert why == "Adding has no scores of CoLA."


def test_differences_without_a_spread_are_no_finding(anew, taught):
    """One above at every seed exactly: no interval can be made of that, and none is claimed."""
    write_scores([*SCORES, *ORDERLESS], ids=taught())
    told = " ".join(headline(anew()))
    assert "1 of 1 variant differs from adding" in told
    assert "Not counted, because they have fewer than 3 seeds with a spread: “Apart, own matrix”." in told


def test_that_none_differs_is_said_with_the_tests_that_were_made(anew, taught):
    """Three seeds of one variant, two of another: the second is tested, and is not counted."""
    orderless = [("no_position", "rte", s, 60.0 + s + noise) for s, noise in enumerate((0.3, -0.4, 0.2))]
    untied = [("tupe_a", "rte", s, 60.0 + s + shift) for s, shift in enumerate((1.0, 1.5))]
    write_scores([*SCORES[:3], *orderless, *untied], ids=taught())
    first, *more = headline(anew())
    assert "none of 1 variant differs from adding after correction (Holm's, over 2 tests, including variants" in first
    assert any(said.startswith("Not counted") and "Apart" in said for said in more)


# ---- What is read ----


def test_the_best_rate_counts_and_of_two_runs_the_newest(anew):
    write_scores([("bert_a", "rte", s, 60.0) for s in range(2)])
    write_scores([("bert_a", "rte", s, 70.0 + s) for s in range(2)], rate=3e-4, created="2025-01-01T00:00:00Z")
    write_scores([("bert_a", "rte", s, 65.0 + s) for s in range(2)], rate=3e-4, created="2026-02-01T00:00:00Z")
    found = row(anew().cells, "bert_a", "rte")
    assert (found.value, found.learning_rate, found.rates_tried) == (pytest.approx(65.5), 3e-4, 2)


def test_a_variant_that_lacks_a_task_has_no_average_and_that_is_said(anew):
    write_scores([*SCORES, *[("bert_a", "cola", s, 10.0 + s) for s in range(3)]])
    found = anew()
    assert set(found.averages) == {"bert_a"}
    assert any("Apart, own matrix lacks CoLA" in note for note in table(found, None, relative=False).notes)


def test_one_recipe_counts_and_what_is_left_out_is_said(anew):
    """Controls at another depth stand under the same preset: their scores must not be mixed in, however new."""
    main = write_losses({"bert_a": (5.2, 5.2, 5.2)})
    control = write_losses({"bert_a": (5.0,)}, layers=9)
    write_scores([("bert_a", "rte", s, 60.0 + s) for s in range(3)], ids=main)
    write_scores([("bert_a", "rte", 0, 99.0)], ids=control, created="2026-03-01T00:00:00Z")
    found = anew()
    assert row(found.cells, "bert_a", "rte").value == pytest.approx(61.0)
    figure = FIGURES["glue_scores"].of({**VIEWS["glue"].defaults(), "table": ""})
    assert "Pre-trainings at other settings, left out: 1." in figure.caption


def test_one_rate_of_pre_training_counts_for_a_variant(anew):
    """That of most seeds."""
    most = write_losses({"bert_a": (5.2, 5.2, 5.2)}, learning_rate=2e-3)
    fewer = write_losses({"bert_a": (4.0, 4.0)}, learning_rate=1e-3)
    write_scores([("bert_a", "rte", s, 60.0 + s) for s in range(3)], ids=most)
    write_scores([("bert_a", "rte", s, 99.0) for s in range(2)], ids=fewer, created="2026-03-01T00:00:00Z")
    assert row(anew().cells, "bert_a", "rte").value == pytest.approx(61.0)


# ---- The table and the figures ----


def test_own_and_published_stand_in_one_table(world):
    values = VIEWS["glue"].defaults()
    found = table(*study_and_table(GlueParameters.of(values)), relative=False)
    assert set(found.cells["from"]) == {"own, preset cpu", "no model", "Ke et al. 2021 (TUPE), Table 1"}
    ours = found.cells[found.cells["from"] == "own, preset cpu"].set_index("variant")
    assert ours["Average of 2"]["Apart, own matrix"] == f"{fmean(averages('tupe_a')):.1f} ±{_half('tupe_a'):.1f} ▲"
    assert ours["Average of 2"]["Rotary"].endswith("≈")
    assert ours["Average of 2"]["Symmetric ALiBi"].endswith("=")
    assert {"RTE (partial data)", "WNLI (not learnt, not averaged)", "Swapped neighbours (not GLUE)"} <= set(ours)
    assert ours["WNLI (not learnt, not averaged)"]["Added once"].endswith("†")
    paper = found.cells[found.cells["from"].str.startswith("Ke")].set_index("variant")
    assert paper["CoLA"]["BERT-A"] == "55.19"
    assert paper["Average of 2"]["BERT-A"] == f"{(55.19 + 68.61) / 2:.2f}"
    assert found.cells[found.cells["from"] == "no model"]["RTE (partial data)"].tolist() == ["52.7"]
    assert any("100 of 2490 train examples" in note for note in found.notes)


def _half(variant):
    return T_975_2 * stdev(averages(variant)) / 3**0.5


def test_the_table_of_differences(world):
    found = table(*study_and_table(GlueParameters(baseline="tupe_a")), relative=True)
    ours = found.cells[found.cells["from"] == "own, preset cpu"].set_index("variant")
    assert ours["Average of 2"]["Added once"] == "−2.0 ±0.2 ▼"
    paper = found.cells[found.cells["from"].str.startswith("Ke")].set_index("variant")
    assert paper["CoLA"]["BERT-A"] == "−7.90", "the published baseline is the same variant where the paper has it"


@pytest.mark.parametrize("name", FIGURE_NAMES)
@pytest.mark.parametrize(
    "asked_for",
    [
        {},
        {"table": ""},
        {"table": "chen2021diet|Table 2"},
        {"protocol": "median", "margin": "2"},
        {"baseline": "alibi"},
        {"without": ("rte",), "including": ("wnli",)},
    ],
    ids=str,
)
def test_every_figure_says_what_it_rests_on_and_is_drawn(world, name, asked_for):
    figure = FIGURES[name].of({**VIEWS["glue"].defaults(), **asked_for})
    frame = figure.frame()
    assert len(frame)
    assert set(frame.source) >= {"own, preset cpu"}
    for text in ("5 variants", "3 pre-training seeds", "best learning rate", "Partial data: RTE"):
        assert text in figure.caption, text
    assert "without WNLI" in figure.caption or "including" in asked_for
    assert figure.alt
    assert drawing.compose(figure)
    for theme in (Theme(), Theme(dark=True, screen=True)):
        assert valid_panels(figure, theme)


def test_the_frame_of_a_figure_holds_what_is_drawn(world):
    frame = FIGURES["glue_average"].of(VIEWS["glue"].defaults()).frame()
    ours = row(frame, "tupe_a", source="own, preset cpu")
    assert (ours.difference, ours.seeds, ours.verdict) == (pytest.approx(2.0), 3, "different")
    assert (ours.difference_low, ours.difference_high) == pytest.approx((2 - 0.2484, 2 + 0.2484), abs=1e-3)
    paper = row(frame, "tupe_a", verdict="published")
    assert paper.difference == pytest.approx((63.09 + 71.61) / 2 - (55.19 + 68.61) / 2)


def test_an_average_of_nothing_is_said(world):
    with pytest.raises(LinkError, match="tick one"):
        FIGURES["glue_average"].of({**VIEWS["glue"].defaults(), "without": ("cola", "rte")})
    assert headline(study(without=("cola", "rte")))[0] == "Inconclusive: no task is averaged."


@pytest.fixture(scope="module")
def made_published_alone(tmp_path_factory):
    return beside_published(tmp_path_factory.mktemp("published") / "data")


@pytest.fixture
def published_alone(made_published_alone, monkeypatch):
    """The published tables, and nothing of our own."""
    monkeypatch.setenv("ADDEND_DATA", str(made_published_alone))
    monkeypatch.delenv("ADDEND_STORE", raising=False)


@pytest.mark.parametrize("name", FIGURE_NAMES)
def test_without_results_of_our_own_the_published_side_stands_alone(published_alone, name):
    figure = FIGURES[name].of(VIEWS["glue"].defaults())
    assert set(figure.frame().source) == {"Ke et al. 2021 (TUPE), Table 1"}
    assert "python -m analysis ablate --preset cpu" in figure.caption
    assert drawing.compose(figure).to_dict()


@pytest.mark.parametrize("figure", ["glue_average", "glue_difference", "glue_scores"])
def test_a_table_without_glue_is_refused_in_a_sentence(store: Path, figure: str) -> None:
    with pytest.raises(
        LinkError,
        match=r"'shaw2018relative\|Table 1' has no GLUE scores; expected one of: "
        ".*ke2021tupe",
    ):
        FIGURES[figure].of(VIEWS["glue"].defaults() | {"table": "shaw2018relative|Table 1"})


def test_the_map_of_differences_holds_every_number_and_signs_what_is_resolved(world):
    figure = FIGURES["glue_difference"].make({**VIEWS["glue"].defaults(), "preset": "cpu"})
    panels = [chart.to_dict() for chart in drawing.panels(figure, Theme())]
    assert len(panels) == 2, "ours, and the published table's"
    drawn = [row for panel in panels for row in next(iter(panel["datasets"].values()))]
    frame = figure.frame()
    assert len(drawn) == len(frame) > 20
    assert sorted(row["difference"] for row in drawn) == pytest.approx(sorted(frame.difference))
    signs = {"different": "*", "equivalent": "=", "open": ""}
    assert {row["text"].partition("\n")[0][-1] for row in drawn} >= {"*"}
    for row in drawn:
        sign = signs.get(str(row["verdict"]).split(" within")[0], "")
        number, _, interval = row["text"].partition("\n")
        clear = 2 in (row["interval"].count("+"), row["interval"].count("−"))
        said = heat.CORRECTED if row["open"] and interval and clear else sign
        assert number == f"{row['written']} {said}".rstrip()
        assert row["open"] == (sign == "" and row["verdict"] != "published"), "grey says: open"
        assert float(row["written"].replace("−", "-")) == pytest.approx(row["difference"], abs=0.0501)
    for panel in panels:
        assert {layer["mark"]["type"] for layer in panel["layer"]} == {"rect", "text"}
        titles = panel["layer"][0]["encoding"]["y"]["sort"]
        rows = next(iter(panel["datasets"].values()))
        averages = {row["label"]: row["difference"] for row in rows if row["column"].startswith("Average")}
        ordered = [averages[title] for title in titles if title in averages]
        assert ordered == sorted(ordered, reverse=True)


def test_the_map_of_scores_holds_every_score_in_one_order(world):
    """Ours with the majority class last, then those of a published table; both by their averages."""
    figure = FIGURES["glue_scores"].make({**VIEWS["glue"].defaults(), "preset": "cpu"})
    frame, drawn = figure.frame(), []
    panels = [chart.to_dict() for chart in drawing.panels(figure, Theme())]
    for panel in panels:
        rows = next(iter(panel["datasets"].values()))
        drawn += [row["value"] for row in rows if not row["open"]]
        majority = {row["value"] for row in rows if row["open"]}
        assert majority <= set(frame.majority)
        order = panel["layer"][0]["encoding"]["y"]["sort"]
        averages = {
            row["label"]: row["value"] for row in rows if row["column"].startswith("Average") and not row["open"]
        }
        ordered = [averages[title] for title in order if title in averages]
        assert len(ordered) > 1
        assert ordered == sorted(ordered, reverse=True)
    assert sorted(drawn) == pytest.approx(sorted(frame.value.dropna()))
    assert len(panels) == 2


def test_variants_stand_in_the_order_of_what_is_drawn_of_them(world):
    """And of those that only a paper has, below ours."""
    figure = FIGURES["glue_average"].make({**VIEWS["glue"].defaults(), "preset": "cpu"})
    compared = 0
    for panel in (chart.to_dict() for chart in drawing.panels(figure, Theme())):
        layer = next(
            layer for layer in panel["layer"] if layer["mark"]["type"] == "point" and "tooltip" in layer["encoding"]
        )
        column, labels = layer["encoding"]["x"]["field"], layer["encoding"]["y"]["sort"]
        rows = panel["datasets"][(layer.get("data") or panel["data"])["name"]]
        own = {row["label"]: row[column] for row in rows if row["verdict"] != "published"}
        drawn = [own[label] for label in labels if own.get(label) is not None]
        compared += len(drawn) > 1
        assert drawn == sorted(drawn, reverse=True)
    assert compared >= 2


def test_what_cannot_be_ranked_is_not_said_to_be(anew, taught):
    """Where the headline of the page says that nothing follows, the chart's heading is no other."""
    first = [score for score in [*SCORES, *ORDERLESS] if score[2] < 1]
    write_scores(first, ids={key: id for key, id in taught().items() if key[1] < 1})
    assert headline(anew())[0].startswith("Inconclusive")
    finding = FIGURES["glue_difference"].make({**VIEWS["glue"].defaults(), "table": ""}).finding
    assert finding.startswith("Not a ranking: on the average of ")


MADE_UP_SETTINGS = [
    {}, {"baseline": "alibi"}, {"baseline": "tupe_a"}, {"baseline": "no_position"}, {"protocol": "median"},
    {"without": ("rte",)}, {"margin": "2"},
]  # fmt: skip


@pytest.mark.parametrize("asked_for", MADE_UP_SETTINGS, ids=str)
def test_the_heading_names_what_differs_on_the_average_and_counts_the_rest(world, asked_for):
    """Every variant is named or counted once, by the verdict of its own row; the numbers named are those drawn."""
    figure = FIGURES["glue_difference"].make({**VIEWS["glue"].defaults(), "table": "", **asked_for})
    rows = figure.frame()
    rows = rows[rows.task == AVERAGE]
    kind = rows.verdict.str.split(" within").str[0]
    finding = figure.finding
    different = rows[kind == "different"]
    counted = {word: (kind == word).sum() for word in ("equivalent", "open")}
    for word, count in counted.items():
        assert (f"{count} {'is' if count == 1 else 'are'} {word}" in finding) == bool(count), finding
    if different.empty:
        assert f"none of {len(rows)} variants is shown to differ" in finding
    elif len(different) > 2:
        assert f"{len(different)} of {len(rows)} variants differ" in finding
    else:
        for row in different.itertuples():
            assert f"{quote(row.title)} ({signed(row.difference, 1)})" in finding
        assert sum(title in finding for title in rows.title) == len(different)


def test_the_colours_end_where_the_legend_says(world):
    figure = FIGURES["glue_difference"].make({**VIEWS["glue"].defaults(), "table": ""})
    (panel,) = (chart.to_dict() for chart in drawing.panels(figure, Theme()))
    colour = next(layer for layer in panel["layer"] if layer["mark"]["type"] == "rect")["encoding"]["color"]["field"]
    assert colour == "difference"
    legend = panel["layer"][0]["encoding"]["color"]
    low, *_, high = legend["scale"]["domain"]
    sizes = figure.frame().difference
    if ((sizes < low - 1e-9) | (sizes > high + 1e-9)).any():
        limit = max(-low, high)
        beyond = [side for side, found in (("below", sizes.min() < low), ("above", sizes.max() > high)) if found]
        (said,) = legend["legend"]["title"][1:]
        assert said.endswith(f"{limit:g} or more {beyond[0]}" if len(beyond) == 1 else f"{limit:g} or more")
        assert ("ends" in said) == (len(beyond) == 2), "a scale may have one end"
        assert limit in heat.LIMITS
    else:
        assert legend["legend"]["title"][1:] == []
        assert (low, high) == pytest.approx((min(0, sizes.min()), max(0, sizes.max()))), "no half that no cell has"
    key = " ".join(panel["title"]["subtitle"])
    cells = pd.concat([pd.DataFrame(rows) for rows in panel["datasets"].values()])
    assert ("grey: open" in key) == bool(cells.open.any()), "the signs are said once, above the cells"
    assert ("* different" in key) == bool(cells.text.str.contains("*", regex=False).any())
    equal = cells.text.str.contains("=", regex=False).any()
    told = "= equal, outlined: the 90 % interval lies within" in key.replace("\N{NO-BREAK SPACE}", " ")
    assert told == bool(equal), "the interval printed is wider"
    (frame,) = [layer for layer in panel["layer"] if layer["mark"].get("fillOpacity") == 0]
    assert frame["transform"] == [{"filter": "datum.equal"}]
    assert (cells.equal == cells.text.str.contains("=", regex=False)).all(), "a frame says that two are equal"


@pytest.mark.parametrize("dark", [False, True])
def test_the_ends_of_the_colours_are_the_strongest_on_either_ground(dark):
    """The key calls them so: farther from the ground in lightness than any other colour of the scale."""
    theme = drawing.Theme(dark=dark)
    first, *rest, last = [abs(_lightness(colour) - _lightness(theme.ground)) for colour in theme.diverging]
    assert max(rest) < min(first, last)
    assert rest[len(rest) // 2] == min(rest)


def _lightness(colour: str) -> float:
    """The relative luminance of a colour by WCAG's weights, without their gamma."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_runs_can_be_ranked_where_the_headline_concludes_something(store):
    """The committed data: a trained model that was changed can be, our own encoders cannot, and it is said why."""
    for preset in glue_comparison.presets():
        found, _ = study_and_table(GlueParameters(preset=preset, table=""))
        assert found is not None
        can, sentence = ranks(found)
        assert can == (not headline(found)[0].startswith("Inconclusive"))
        assert re.search(r"\d", sentence)
        assert can or headline(found)[0] in sentence


def test_an_equality_is_one_of_the_interval_that_the_key_names(store):
    """The committed data: a 90 % t interval within one point, by scipy, where the map prints the one of 95 %."""
    for preset in ("surgery", "refitted"):
        found, _ = study_and_table(GlueParameters(preset=preset, table=""))
        assert found is not None
        equal = found.contrasts[found.contrasts.verdict == "equivalent within 1"]
        assert len(equal)
        for row in equal.itertuples():
            low, high = stats.t.interval(0.9, row.seeds - 1, row.difference, row.sd / row.seeds**0.5)
            assert -1 < low < high < 1
        assert len(set(headline(found))) == len(headline(found))
        text = " ".join(headline(found))
        for sentence in headline(found)[0].split(". ")[1:]:
            assert text.count(sentence) == 1, "a verdict is told once"


def test_a_changed_model_is_not_held_against_papers(store):
    """The committed data: the tab's own preset has no published map, and says what fine-tuning does not repair."""
    for name in FIGURE_NAMES:
        figure = FIGURES[name].make(VIEWS["experiments"].defaults())
        assert "published" not in set(figure.frame().verdict)
        assert len(figure.finding) <= 175
        refitted = FIGURES[name].make(VIEWS["experiments"].defaults() | {"glue_preset": "refitted"})
        assert len(refitted.finding) <= 175
        assert name == "glue_scores" or "the frozen rules leave" in refitted.finding
    figure = FIGURES["glue_difference"].make(VIEWS["experiments"].defaults())
    averages = figure.frame().query("task == @AVERAGE")
    worst = averages.loc[averages.difference.idxmin()]
    assert figure.finding.startswith("Fine-tuned, MiniLM stays lower with ")
    assert worst.title.removeprefix("MiniLM, ") in figure.finding
    assert signed(worst.difference, 1) in figure.finding


@pytest.mark.parametrize(
    ("stored", "opened"),
    [(("cpu", "surgery"), "surgery"), (("cpu", "refitted", "surgery"), "refitted"), ((), "surgery")],
)
def test_the_tab_opens_on_the_refitted_model_once_there_is_one(stored, opened):
    assert default_preset(stored) == opened


def test_a_map_says_whose_models_its_rows_are_of():
    assert heat.side_title("own, preset surgery") == "A trained MiniLM, changed and fine-tuned (surgery)"
    assert heat.side_title("own, preset cpu") == "Our own small encoders (cpu)"
    assert heat.side_title("imported, preset imported mine") == "◆ imported, preset imported mine"
    assert heat.side_title("Ke et al. 2021 (TUPE), Table 1") == "Ke et al. 2021 (TUPE), Table 1"
