"""Proves that the figures of our own trainings show what was trained: against numbers worked out by hand."""

import math
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn_values import valid_panels
from scipy.stats import ttest_1samp, ttest_rel

from analysis import links, store_build
from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import quote
from analysis.claims.statements import stored
from analysis.claims.statements.contests import NOT_RESOLVED
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import plural, signed
from analysis.figures import FIGURES, drawing
from analysis.figures.experiments.board_rows import board
from analysis.figures.runs.all_runs import all_runs, newest_of_each_first, settings
from analysis.figures.training import costs as training_costs
from analysis.figures.training.final_loss import seeds_needed
from analysis.figures.training.line_marks import DASH_ORDER, NAME_HEIGHT, covering_curves, spread_names
from analysis.figures.training.loss_against_cost import AXES as AXES_OF_COSTS
from analysis.figures.training.parts import ALL_CHANGES
from analysis.figures.training.settings import BEST, STUCK
from analysis.figures.training.trainings import (
    Trained,
    TrainingParameters,
    index,
    select_trainings as select,
    title,
    usual_baseline,
)
from analysis.figures.training.verdict import verdict
from analysis.statistics import smallest_detectable
from analysis.store.read import query
from tests import trainings

STEPS = (0, 100, 200, 300, 400)
OWN_MATRIX = title("tupe_a")
ADDED = (8.0, 7.0, 6.0, 5.2, 5.0)
COSTLY = ("training_loss_and_cost", "training_costs_others")
NAMES = tuple(name for name in links.VIEWS["training"].figures if name not in COSTLY)
"""Figures of every store; what needs variants on the board, or off it, is drawn from the committed one."""


def made(name: str, **changed):
    page = "runs" if name.startswith("runs") else "training"
    return FIGURES[name].of({**links.VIEWS[page].defaults(), **changed})


def drawn(figure, *columns: str) -> list[pd.DataFrame]:
    """The data of the drawn marks that have these columns, one frame a mark's data."""
    specs = [panel.to_dict() for panel in drawing.panels(figure)]
    frames = [pd.DataFrame(rows) for spec in specs for rows in spec["datasets"].values()]
    return [frame for frame in frames if set(columns) <= set(frame.columns)]


def all_drawn(figure, *columns: str) -> pd.DataFrame:
    """The rows of the one panel that have these columns, each once: filled and hollow marks have a frame each."""
    (panel,) = valid_panels(figure)
    frames = {id(frame): frame for frame in panel["datasets"] if set(columns) <= set(frame)}
    rows = pd.concat(list(frames.values()))
    return rows[~rows.index.duplicated()].sort_index()


def _scales(spec, channel: str) -> list[dict]:
    """The scales of a channel, wherever they are in a spec."""
    if isinstance(spec, list):
        return [found for part in spec for found in _scales(part, channel)]
    if not isinstance(spec, dict):
        return []
    own = [spec[channel]["scale"]] if "scale" in spec.get(channel, {}) else []
    return own + [found for name, part in spec.items() if name != "datasets" for found in _scales(part, channel)]


def panel_titles(figure) -> list[str]:
    """The titles of the panels, in their order."""
    return [panel.to_dict()["title"]["text"] for panel in drawing.panels(figure)]


def select_trainings(values):
    return select(TrainingParameters.of(values))


def run(variant: str, seed: int, losses, final: float | None = None, **changes) -> str:
    rows = trainings.line(STEPS, losses, final=losses[-1] if final is None else final)
    return trainings.write(variant, seed, rows, **changes)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Gives a test's own folder results and their store."""
    made: dict[str, Path] = {}

    def copied(write, data: Path) -> None:
        """Results as `write` leaves them, and their store, in a test's own folder: each is made once."""
        if write.__name__ not in made:
            folder = tmp_path_factory.mktemp(write.__name__) / "data"
            folder.mkdir()
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("ADDEND_DATA", str(folder))
                patch.delenv("ADDEND_STORE", raising=False)
                write()
                store_build.refresh()
            made[write.__name__] = folder
        shutil.copytree(made[write.__name__], data, dirs_exist_ok=True)  # keeps the times, so the store is current

    return copied


def _nothing():
    pass


def _three():
    for seed in range(3):
        run("bert_a", seed, ADDED, 5.0 + 0.01 * seed)
        run("no_position", seed, (8.0, 7.0, 7.0, 7.0, 7.0), 7.0)
        run("tupe_a", seed, (8.0, 6.0, 4.0, 3.9, 3.8), 3.8 + (0.02, 0.01, 0.03)[seed])


def _whole():
    trainings.sweep({**trainings.ENDS, "tupe_a_unscaled": 3.8, "causal_bert_a": 4.2, "causal_no_position": 4.3})
    trainings.sweep({"bert_a_norm": 4.4, "bert_a_d": 3.9, "tupe_a_tie_cls": 3.8})
    for variant in ("bert_a", "tupe_a", "causal_bert_a", "causal_no_position"):
        run(variant, 0, ADDED, learning_rate=5e-4)
        run(variant, 0, ADDED, 4.0 if variant.endswith("bert_a") else 3.9, steps=800)
    trainings.costs()


@pytest.fixture
def nothing(data, stores):
    """A store without results."""
    stores(_nothing, data)


@pytest.fixture
def three(data, stores):
    """Three seeds each: BERT-A ends at 5; TUPE-A is there after 150 steps; without position there is a plateau at 7."""
    stores(_three, data)


@pytest.fixture
def whole(data, stores):
    """What a sweep leaves behind: many variants, causal ones, scores and costs."""
    stores(_whole, data)


# ---- Which runs ----


def test_a_run_is_found_by_its_settings(three):
    found = select_trainings(links.VIEWS["training"].defaults())
    assert found.variants == ["bert_a", "no_position", "tupe_a"]
    assert found.finals("bert_a") == pytest.approx({0: 5.0, 1: 5.01, 2: 5.02})
    assert found.changes == "the preset's own settings"
    assert "larger" in found.sample


def test_runs_with_other_settings_are_another_recipe(three):
    for seed in range(2):
        run("bert_a", seed, (8, 6, 4, 3, 2), norm="pre", steps=400)
    store_build.refresh()
    told = index().groupby("told").size()
    assert told.to_dict() == {"the preset's own settings": 9, "steps 400, norms first (pre-norm)": 2}
    defaults = links.VIEWS["training"].defaults()
    assert len(select_trainings(defaults).runs) == 9, "by default the recipe with most runs"
    recipe = index().query('told != "the preset\'s own settings"').recipe.iloc[0]
    assert select_trainings({**defaults, "recipe": recipe}).finals("bert_a") == {0: 2, 1: 2}


def test_a_corpus_is_known_by_its_digest_wherever_it_lay(data):
    for seed, folder in enumerate(("here", "there")):
        run("bert_a", seed, ADDED, corpus={"folder": folder, "digest": "abc"})
    run("bert_a", 2, ADDED, corpus={"folder": "here", "digest": "other"})
    store_build.refresh()
    assert index().recipe.value_counts().tolist() == [2, 1]


def test_of_learning_rates_the_one_with_most_seeds_then_the_best(three):
    run("bert_a", 0, (8, 5, 3, 2, 1), learning_rate=5e-4)
    for seed in range(3):
        run("tupe_a", seed, (8, 5, 3, 2.5, 2.5), learning_rate=2e-3)
    store_build.refresh()
    defaults = links.VIEWS["training"].defaults()
    found = select_trainings(defaults)
    assert found.runs.groupby("variant").rate.unique().map(list).to_dict() == {
        "bert_a": ["0.001"],
        "no_position": ["0.001"],
        "tupe_a": ["0.002"],
    }
    assert "most seeds" in made("training_gap").caption
    assert "0.002: “Apart, own matrix”" in made("training_gap").caption
    assert select_trainings({**defaults, "rate": "0.0005"}).variants == ["bert_a"]


def test_a_run_made_again_counts_once(three):
    run("bert_a", 0, (8, 7, 6, 5, 4), corpus="made up")
    with pytest.raises(AddendError, match="reach"):
        select_trainings({**links.VIEWS["training"].defaults(), "rate": "reach"})
    store_build.refresh()
    assert select_trainings(links.VIEWS["training"].defaults()).finals("bert_a")[0] == 4


def test_causal_and_masked_never_share_an_axis(whole):
    for name in NAMES:
        if name not in ("training_costs", "training_parts", "training_plateau"):
            for objective, causal in (("masked", False), ("causal", True)):
                figure = made(name, objective=objective)
                found = set(figure.frame().variant)
                assert found, name
                assert all(variant.startswith("causal_") == causal for variant in found), name
    with pytest.raises(NoResults, match="A causal model can tell order without positions"):
        made("training_plateau", objective="causal")
    assert "never share an axis" in made("training_curves", objective="causal").caption
    assert "causal" not in made("training_curves").caption.lower(), "none is drawn"


# ---- Learning curves ----


def test_a_crossing_is_where_a_mean_curve_first_reaches_the_baselines_end(three):
    """TUPE-A goes from 6 at step 100 to 4 at step 200, so it is at 5 at step 150, of 1,024 tokens each, 15 seconds."""
    for axis, at in (("step", 150), ("tokens", 150 * 1_024), ("seconds", 15)):
        (crossings,) = drawn(made("training_curves", axis=axis), "at", "variant", axis)
        assert crossings.variant.tolist() == ["tupe_a"], "no position never reaches it"
        assert crossings[axis].tolist() == pytest.approx([at])
        assert crossings.value.tolist() == [5.0]
        (named,) = {*pd.concat(drawn(made("training_curves", axis=axis), "written", axis)).written}
        assert named == "“Apart, own matrix” after 38 %", "150 of 400 steps"
    caption = made("training_curves").caption
    assert "Reached by “Apart, own matrix” at 150 steps." in caption
    assert "Not reached by No position (> 400)." in caption


def test_a_curve_that_lies_on_another_has_gaps():
    steps = range(0, 100, 10)
    mean = pd.DataFrame(
        [(name, step, base - step / 100) for name, base in (("a", 5.0), ("b", 5.005), ("c", 4.0)) for step in steps],
        columns=["variant", "step", "value"],
    )
    assert covering_curves(mean, ["a", "b", "c"], (3.0, 5.0)) == ["b"]
    assert covering_curves(mean, ["b", "c", "a"], (3.0, 5.0)) == ["a"], "the later one"
    assert covering_curves(mean, ["a", "b", "c"], (3.0, 3.1)) == [], "on an axis that shows the difference"


def test_the_mean_is_over_seeds(data):
    for seed, end in enumerate((4.0, 5.0, 6.0)):
        run("bert_a", seed, (8, 7, 6, 6, end))
    store_build.refresh()
    (mean,) = drawn(made("training_curves"), "seeds", "value", "title")
    assert mean.value.tolist() == [8, 7, 6, 6, 5]
    assert set(mean.seeds) == {3}


def test_long_curves_are_thinned_and_keep_their_ends(data):
    steps = range(0, 3_010, 10)
    trainings.write("bert_a", 0, trainings.line(steps, [8 - step / 1_000 for step in steps]))
    store_build.refresh()
    figure = made("training_curves")
    for rows in drawn(figure, "variant", "step", "value"):
        assert len(rows) <= 60
        assert rows.step.max() == 3_000
    assert min(rows.step.min() for rows in drawn(figure, "variant", "step", "value")) == 0
    assert len(figure.frame()) == 301, "the data keep every evaluation"


def test_the_lowest_loss_names_whom_it_is_not_told_apart_from(store):
    """The committed runs, by scipy's paired t test: rotary and TUPE-A end alike, and adding does not."""
    asked = {"preset": "cpu2", "variants": ("bert_a", "rotary", "tupe_a")}
    finding = made("training_curves", **asked).finding
    losses = {
        name: pd.Series(select_trainings({**links.VIEWS["training"].defaults(), **asked}).finals(name)).sort_index()
        for name in asked["variants"]
    }
    assert ttest_rel(losses["rotary"], losses["tupe_a"]).pvalue > 0.05
    assert ttest_rel(losses["rotary"], losses["bert_a"]).pvalue < 0.01
    assert "tied with “Apart, own matrix”; adding ends at" in finding
    assert "Tied: " in made("training_curves", **asked).caption
    one = made("training_curves", preset="cpu2", variants=("bert_a", "no_position", "concat_20")).finding
    assert one.startswith("Of these 3, adding ends with the lowest loss"), "more were trained than are drawn"
    assert "tied" not in one


def test_only_variants_with_all_their_seeds_are_ranked(store, monkeypatch):
    """One with fewer seeds is named after them where it lies lower, and ties with none."""
    all_seeds = Trained.finals

    def two_of_rotary(trainings, name):
        losses = all_seeds(trainings, name)
        return dict(list(losses.items())[:2]) if name == "rotary" else losses

    monkeypatch.setattr(Trained, "finals", two_of_rotary)
    finding = made("training_curves", preset="width128", variants=("bert_a", "concat_20", "rotary")).finding
    assert finding.startswith("Of these 3, adding ends with the lowest loss")
    assert re.search(r"Rotary at 3\.\d\d so far \(2 of 8 seeds\)$", finding)
    assert "tied" not in finding


def test_the_last_part_is_enlarged_without_what_ends_far_above(data):
    """Curves of five evaluations: the last fifth of 400 steps begins at the one at 320."""
    for name, ends in {
        "bert_a": (5.2, 5.0),
        "tupe_a": (4.9, 4.8),
        "rotary": (5.0, 4.9),
        "no_position": (7.9, 7.8),
    }.items():
        trainings.write(name, 0, trainings.line(range(0, 401, 80), (8, 7.5, 7, 6.5, *ends)))
    store_build.refresh()
    figure = made("training_curves", variants=("bert_a", "tupe_a", "rotary", "no_position"))
    whole, end = valid_panels(figure)
    assert figure.columns == 2
    assert "last 20 %, in which No position would lie far above" in figure.caption
    steps = [
        set(pd.concat([f for f in panel["datasets"] if {"seed", "step", "value"} <= {*f}]).step)
        for panel in (whole, end)
    ]
    assert steps == [{0, 80, 160, 240, 320, 400}, {320, 400}]
    assert not any("no_position" in set(f.get("variant", ())) for f in end["datasets"])


def test_one_curve_alone_is_not_enlarged(data):
    run("bert_a", 0, (8, 7, 6, 6, 5))
    run("no_position", 0, (8, 8, 8, 8, 8))
    store_build.refresh()
    assert made("training_curves", variants=("bert_a",)).columns == 1


def test_an_unknown_axis_is_refused(three):
    with pytest.raises(AddendError, match="'epochs'"):
        made("training_curves", axis="epochs")


# ---- Differences ----


def test_the_gap_is_paired_by_seed(three):
    """Differences -1.18, -1.20, -1.19: mean -1.19, sd 0.01, t(2) at 97.5 % is 4.3027."""
    row = made("training_gap").frame().set_index("variant").loc["tupe_a"]
    assert row.gap == pytest.approx(-1.19)
    half = 4.302653 * 0.01 / math.sqrt(3)
    assert (row.low, row.high) == pytest.approx((-1.19 - half, -1.19 + half), abs=1e-6)
    assert row.n == 3
    assert row.told_apart
    assert row.detectable == pytest.approx(smallest_detectable(0.01, 3))
    base = made("training_gap").frame().set_index("variant").loc["bert_a"]
    assert base.note == "the baseline"
    assert math.isnan(base.gap)


def test_one_seed_has_no_interval_and_says_so(data):
    run("bert_a", 0, ADDED)
    run("tupe_a", 0, (8, 6, 4, 3.9, 3.8))
    run("sinusoidal", 7, (8, 6, 4, 3.9, 3.8))
    store_build.refresh()
    figure = made("training_gap")
    rows = figure.frame().set_index("variant")
    assert rows.loc["tupe_a"].gap == pytest.approx(-1.2)
    assert math.isnan(rows.loc["tupe_a"].low)
    assert "one pair" in rows.loc["tupe_a"].note
    assert rows.loc["sinusoidal"].note == "no seed in common"
    assert "nothing can be resolved" in figure.caption
    drawing.compose(figure).to_dict()
    drawing.compose(made("training_convergence")).to_dict()


BETWEEN = {"bert_a": 5.0, "bert_a_norm": 4.4, "bert_a_d": 3.9, "no_cross": 3.85, "tupe_a_tie_cls": 3.8, "tupe_a": 3.79}


def between(without: tuple[str, ...] = ()) -> None:
    """Three seeds of every variant from BERT-A to TUPE-A: seed 1 is worse by 0.03 with the cross terms."""
    for name, final in BETWEEN.items():
        for seed in range(3):
            if name not in without:
                run(name, seed, ADDED, final + (0.03 if name == "bert_a_d" and seed == 1 else 0.0))
    store_build.refresh()


def test_a_run_that_diverged_is_named_and_not_shown(data):
    """Its last finite loss would be the best of all."""
    for seed in range(2):
        run("bert_a", seed, ADDED)
    rows = [*trainings.line((0, 100), (8.0, 1.0)), ("training_loss", 200, 20.0, math.nan)]
    trainings.write("random_fixed", 1, rows)
    store_build.refresh()
    found = select_trainings(links.VIEWS["training"].defaults())
    assert found.variants == ["bert_a"]
    assert found.description().endswith("Diverged, and not shown: Fixed random (seed 1, rate 0.001).")


def test_changes_add_up_to_the_difference_between_the_ends(data):
    """The cross terms: -0.10, -0.13, -0.10, mean -0.11, sd 0.0173; t(2) = -11, p 0.0082 (scipy.stats.ttest_1samp)."""
    between()
    rows = made("training_parts").frame()
    for _, way in rows.groupby("way"):
        assert way.gap.iloc[:-1].sum() == pytest.approx(way.gap.iloc[-1]) == pytest.approx(-1.21)
        assert set(way.n) == {3}
    last = rows[rows.way == "Cross terms dropped last"].set_index("after")
    crossed = last.loc["tupe_a_tie_cls"]
    assert (crossed.before, crossed.gap) == ("bert_a_d", pytest.approx(-0.11))
    assert crossed.p == pytest.approx(ttest_1samp([-0.10, -0.13, -0.10], 0).pvalue)
    assert crossed.p_holm >= crossed.p
    told = rows[rows.told_apart & (rows.change != ALL_CHANGES)].drop_duplicates(["before", "after"])
    largest = told.loc[told.gap.abs().idxmax()]
    assert f"“{largest.change}” ({signed(largest.gap)})" in made("training_parts").finding
    assert f"{len(told)} of " in made("training_parts").finding
    assert ("no single change is told apart from 0" in made("training_parts").finding) == told.empty
    sentence, other = made("training_parts").sentences
    assert sentence.startswith(
        "Cross terms dropped last (3 seeds), −1.21 nats from adding to “Apart, own matrix”: positions norm"
    )
    assert other.startswith("Separate projections last (3 seeds), −1.21 nats")


def test_a_way_with_a_variant_that_was_not_run_is_left_out(data):
    between(without=("no_cross",))
    assert panel_titles(made("training_parts")) == ["Cross terms dropped last"]
    run("no_cross", 7, ADDED)
    store_build.refresh()
    assert panel_titles(made("training_parts")) == ["Cross terms dropped last"], "no seed in common"


def test_the_ways_are_of_masked_models(whole):
    with pytest.raises(NoResults, match="predict masked words"):
        made("training_parts", objective="causal")


def test_without_a_whole_way_the_command_for_one_is_said(three):
    with pytest.raises(NoResults, match="--variants bert_a,bert_a_norm,bert_a_d,tupe_a_tie_cls,tupe_a"):
        made("training_parts")


def test_a_difference_is_shown_at_every_setting_that_both_were_run_at(three):
    """At 0.001: 3.8 - 5.0 = -1.2, -1.2, -1.19. At the best of each one's rates, from seed 0: 3.82 - 4.0 = -0.18."""
    run("bert_a", 0, ADDED, 4.0, learning_rate=2e-3)
    run("tupe_a", 0, ADDED, 3.9, learning_rate=2e-3)
    run("tupe_a", 0, ADDED, 3.7, learning_rate=5e-4)
    for name, loss in (("bert_a", 3.5), ("tupe_a", 3.58), ("sinusoidal", 3.4)):
        run(name, 0, ADDED, loss, norm="pre")
    run("bert_a", 1, (8, math.nan, math.nan, math.nan, math.nan), math.nan, learning_rate=2e-3)
    store_build.refresh()
    figure = made("training_settings")
    rows = figure.frame().set_index(["setting", "variant"])
    (panel,) = drawing.panels(figure)
    text = str(panel.to_dict())
    differences = all_drawn(figure, "gap", "setting").set_index("setting")
    own, twice, pre, best = differences.index
    assert differences.told_apart[own]
    assert not differences.told_apart[twice], "one seed has no interval, so nothing is resolved"
    assert differences.written[twice] == "−0.10, 1 seed"
    assert "Peak rate 0.002: adding ends at 4.00 (1 seed)" in text
    lower = "In 3 of 4 comparisons, “Apart, own matrix” ends lower than adding"
    assert figure.finding == f"{lower}; 1 is beyond chance, and 3 have one seed"
    assert (own, twice, pre, best) == ("peak rate 0.001", "peak rate 0.002", "norms first (pre-norm)", BEST)
    assert rows.loc[(own, "tupe_a"), "gap"] == pytest.approx((3.82 - 5.0 + 3.81 - 5.01 + 3.83 - 5.02) / 3)
    paired = ttest_1samp([3.82 - 5.0, 3.81 - 5.01, 3.83 - 5.02], 0).confidence_interval()
    assert rows.loc[(own, "tupe_a"), ["low", "high"]].tolist() == pytest.approx(list(paired))
    assert rows.loc[(twice, "tupe_a"), "gap"] == pytest.approx(-0.1)
    assert rows.loc[(best, "bert_a"), "rate"] == "0.002"
    assert rows.loc[(best, "tupe_a"), "rate"] == "0.001", "BERT-A was not run at the rate that is better"
    assert rows.loc[(best, "tupe_a"), "gap"] == pytest.approx(3.82 - 4.0)
    assert rows.loc[(pre, "tupe_a"), "gap"] == pytest.approx(0.08)
    assert "sinusoidal" not in set(figure.frame().variant), "it was run at one setting alone"
    assert figure.sentences == (
        "“Apart, own matrix” minus adding: −1.19 to +0.08 at 3 settings, nearest 0 at norms first (pre-norm).",
    )
    assert "Diverged, and not shown: adding (seed 1, the preset's own settings, rate 0.002)." in figure.caption
    assert "--variants bert_a,tupe_a --seeds 0 --norm pre\n" in figure.command
    assert "--variants bert_a,tupe_a --seeds 0 --learning-rate 0.002\n" in figure.command


def test_an_advantage_is_shown_at_every_length_in_both_units(three):
    """The figure's numbers against the values written, and scipy's paired t test."""
    gaps = {400: [3.82 - 5.0, 3.81 - 5.01, 3.83 - 5.02]}
    for steps, losses in ((20_000, ((4.0, 3.7), (4.1, 3.74))), (40_000, ((3.6, 3.5),))):
        gaps[steps] = [two - one for one, two in losses]
        for seed, (bert_a, tupe_a) in enumerate(losses):
            for variant, end, more in (
                ("bert_a", bert_a, {}),
                ("tupe_a", tupe_a, {}),
                ("tupe_a", 1.0, {"norm": "pre"}),
            ):
                rows = trainings.line((0, steps), (8.0, end), final=end)
                trainings.write(variant, seed, rows, steps=steps, **more)
    store_build.refresh()
    figure = made("training_advantage")
    assert "Hollow" not in figure.caption, "the judged recipe is not stored here"
    table = figure.frame().set_index("steps")
    assert table.index.tolist() == [400, 20_000, 40_000]
    for steps, own in gaps.items():
        assert table.gap[steps] == pytest.approx(sum(own) / len(own))
        assert table.seeds[steps] == len(own)
    assert table.loc[400, ["gap_low", "gap_high"]].tolist() == pytest.approx(
        list(ttest_1samp(gaps[400], 0).confidence_interval())
    )
    assert math.isnan(table.gap_low[40_000])
    # A straight line from 8.0 to its end meets the baseline's end at this share of the steps.
    shares = [(8.0 - one) / (8.0 - two) for one, two in ((4.0, 3.7), (4.1, 3.74))]
    assert table.ratio[20_000] == pytest.approx(math.sqrt(shares[0] * shares[1]), rel=1e-3)
    (told,) = figure.sentences
    assert told.startswith(
        "“Apart, own matrix” after 400, 20,000, 40,000 steps (3 seeds, 2 seeds, 1 seed): its final loss "
        "differs from that of adding by −1.19, −0.33, −0.10 nats"
    )
    means = pd.concat(drawn(figure, "gap", "gap_high", "ratio_high")).drop_duplicates("steps").set_index("steps")
    assert means.gap.sort_index().tolist() == pytest.approx(table.gap.tolist())
    drawing.compose(figure).to_dict()


def test_the_judged_recipe_stands_where_the_exploratory_one_has_predicted_as_many_words(store):
    """10,000 steps that hide 40 % of the words predict as many as 26,667 that hide 15 %."""
    figure = made("training_advantage", preset="cpu")
    sure = figure.frame().query("variant == 'tupe_a' and seeds >= 3")
    assert "exploratory" in figure.finding
    assert all(f"{-gap:.2f}" in figure.finding for gap in (sure.gap.iloc[0], sure.gap.iloc[-1]))
    assert f"({sure.seeds.iloc[0]} seeds)" in figure.finding
    assert figure.finding.endswith(f"({sure.seeds.iloc[-1]})")
    first, second = PRESETS["cpu"], PRESETS["cpu2"]
    steps = round(second.steps * second.masked_share / first.masked_share)
    assert f"predict as many words as {steps:,} steps here" in figure.caption
    hollow = drawn(figure, "own_steps", "gap")[0].iloc[0]
    assert (hollow.steps, hollow.own_steps) == (steps, second.steps)
    one, other = (
        select(TrainingParameters(preset="cpu2", objective="masked")).finals(name) for name in ("tupe_a", "bert_a")
    )
    assert hollow.gap == pytest.approx(np.mean([one[seed] - other[seed] for seed in other if seed in one]), abs=1e-9)


def test_the_judged_recipe_is_shown_after_twice_as_many_steps(store):
    """Its trainings of 20,000 steps have a preset of their own, which differs in nothing else."""
    figure = made("training_advantage", preset="width128")
    frame = figure.frame()
    assert sorted(set(frame.steps)) == [10_000, 20_000]
    rows = frame.query("variant == 'every_layer_attention'").set_index("steps")
    for steps, statement_id in ((10_000, "C34b"), (20_000, "C41a")):
        judged = next(one for one in stored.statements() if one.id == statement_id)
        assert (rows.gap[steps], rows.seeds[steps]) == (pytest.approx(judged.effect), judged.seeds)
        assert f"{-judged.effect:.2f}" in figure.finding
    # What ends above adding never reaches its loss: a bound, drawn as a triangle that no line joins.
    above = frame.query("variant == 'concat_20'")
    assert above.at_least.all()
    marked = [layer for panel in valid_panels(figure) for layer in panel["layer"] if layer["mark"]["type"] == "point"]
    assert any(layer["mark"].get("shape") == "triangle-up" for layer in marked)
    assert "≥" in str(drawn(figure, "ratio", "name")[0].name.tolist())


def test_the_heading_of_other_settings_holds_with_every_baseline(store):
    """The committed runs: it counts what is drawn and not on the plateau, and its direction is that of all of it."""
    whole_direction = 0
    for base in ("", "bert_a_d", "tupe_a", "no_cross", "tupe_a_tie_cls"):
        figure = made("training_settings", preset="cpu", baseline=base)
        compared = all_drawn(figure, "gap", "setting")
        assert STUCK not in set(compared.written)
        assert f"{compared.told_apart.sum() or 'none'} " in figure.finding.rpartition("; ")[2].partition("beyond")[0]
        assert f"{len(compared)} comparisons" in figure.finding
        assert len(figure.finding) <= 175
        assert not [setting for setting in compared.setting if setting.startswith("steps")], "they have a figure"
        if figure.finding.startswith("In all "):
            whole_direction += 1
            assert ((compared.gap < 0) == ("lower" in figure.finding)).all()
    assert whole_direction


@pytest.mark.parametrize("preset", ["cpu2", "width128"])
def test_final_losses_and_the_board_count_the_same_variants(store, preset):
    """The committed runs: every row of the figure, and the counts of its heading, are those of the board."""
    figure = made("training_gap", preset=preset)
    outcomes = figure.frame().set_index("variant").outcome.to_dict()
    shown = board(preset)
    assert outcomes == {row.variant: row.outcome for row in shown.rows}
    counts = {name: sum(row.outcome == name for row in shown.rows) for name in ("lower", "higher", "few", "unresolved")}
    assert figure.finding.startswith(f"{counts['lower']} of {len(shown.judged)} judged variants end at a lower loss")
    assert len(shown.judged) == sum(row.outcome not in ("baseline", "few") for row in shown.rows)
    assert re.search(rf"; {counts['higher']} ends? higher$", figure.finding)
    for name, words in (("few", "{} ha(s|ve) too few seeds"), ("unresolved", "{} (is|are) open")):
        assert not counts[name] or re.search(words.format(counts[name]), figure.caption)
    gaps = figure.frame().gap.fillna(0)
    assert gaps.is_monotonic_increasing or (figure.frame().n == 0).sum() > 1


def test_a_difference_says_its_verdict_or_how_many_seeds_it_lacks_and_why_it_is_open(store):
    figure = made("training_gap", preset="cpu2")
    written = pd.concat(drawn(figure, "written")).set_index("title").written
    table = figure.frame()
    needed = seeds_needed("cpu2")
    for row in table.itertuples():
        text = written[row.title]
        assert (
            (f"of {plural(row.n, 'seed')} ({needed} asked)" in text) == (row.outcome == "few") == (0 < row.n < needed)
        )
        told = [one for one in figure.caption.split("Open, since ")[1:] if quote(row.title) in one.partition(". ")[0]]
        assert bool(told) == (row.outcome == "unresolved"), "whatever is open says why"
        found = stored.standing(row.variant, "bert_a")
        if found is None:
            continue
        unresolved = found.word == NOT_RESOLVED and not found.missing and row.outcome == "unresolved"
        reason = found.reason.replace(row.variant, "it").partition(" (it ")[0]
        assert not unresolved or told[0].startswith(reason)
    assert "never left" not in figure.caption, "Convergence says which seeds leave the plateau, by a stricter measure"
    assert "not 5" not in figure.caption, "the seeds that are asked for are said once, as on the board"


def test_claims_decide_of_no_final_loss_that_the_page_leaves_open(store):
    """The committed runs: where an interval excludes zero and reaches into the margin, both say that it is open."""
    table = made("training_gap", preset="cpu2").frame().set_index("variant")
    sql = "SELECT id, verdict FROM {} WHERE id IN ('C22b', 'C29b')"
    verdicts = {
        row.id: row.verdict for name in ("superseded", "statements") for row in query(sql.format(name)).itertuples()
        if row.verdict == "open"
    }  # fmt: skip
    # C22b was open until C22f, of another recipe and new seeds, took its place.
    for variant, statement in (("relative_only", "C22b"), ("bert_a_smooth", "C29b")):
        assert table.outcome[variant] == "unresolved"
        assert table.high[variant] < 0
        assert verdicts[statement] == "open"


def test_a_recipe_whose_rules_count_evaluations_says_so(store):
    """The frozen rules of cpu2 have a line of their own; those of the recipes of widths take another sample."""
    cpu2, width128, other = (made("training_plateau", preset=name).caption for name in ("cpu2", "width128", "cpu"))
    assert "a line of their own, 5.69 nats, most of them to the first evaluation below it" in cpu2
    assert "0.1 nats below the final loss of No position on the larger sample" in width128
    assert "on Claims" not in other


def test_the_axis_of_settings_holds_every_difference_on_both_sides_of_zero(store):
    """The committed runs, against every baseline."""
    for base in ("", "bert_a_d", "tupe_a"):
        figure = made("training_settings", preset="cpu", baseline=base)
        rows = all_drawn(figure, "gap", "setting")
        (panel,) = drawing.panels(figure)
        domains = [layer["encoding"]["x"]["scale"]["domain"] for layer in panel.to_dict()["layer"]
                   if "scale" in layer.get("encoding", {}).get("x", {})]  # fmt: skip
        assert len({tuple(domain) for domain in domains}) == 1
        low, high = domains[0]
        assert low < 0 < high
        assert rows.gap.between(low, high).all()


def test_what_is_stuck_in_a_setting_has_one_row(store):
    """The committed runs: at twice the usual rate several variants and adding end on the plateau."""
    rows = all_drawn(made("training_settings", preset="cpu"), "written", "label").drop_duplicates("label")
    stuck = rows[rows.written == STUCK]
    assert len(stuck) == 1
    assert "others" in stuck.label.iloc[0]


def test_final_losses_lie_on_the_band_that_the_board_counts_as_none(store):
    """The committed runs; differences far above the axis have a panel of their own, on a wider scale."""
    figure = made("training_gap", preset="cpu2")
    table, shown = figure.frame(), []
    for panel in drawing.panels(figure):
        datasets = [rows for rows in panel.to_dict()["datasets"].values() if rows]
        assert [rows[0] for rows in datasets if "from" in rows[0]] == [{"from": -0.05, "to": 0.05}]
        rows = {row["title"] for rows in datasets if "written" in rows[0] for row in rows}
        seeds = [row["title"] for rows in datasets if "seed" in rows[0] for row in rows]
        assert set(seeds) <= rows, "no dot without a row"
        ends = [row for rows in datasets if "edge" in rows[0] for row in rows]
        assert all(row["low"] < row["edge"] < row["high"] for row in ends), "triangles are of intervals alone"
        shown.append(rows)
    near, far = shown
    assert near | far == set(table.title), "every variant has a row"
    assert not near & far
    gaps = table.set_index("title").gap.fillna(0)
    assert gaps[list(far)].min() > gaps[list(near)].max()
    assert all(quote(title) in figure.caption for title in far)


def test_every_seed_lies_on_the_axis_of_its_row_and_the_numbers_stand_above_it(store):
    """The committed runs of every preset that has a baseline, against the stored losses."""
    drawn_presets = []
    for preset in sorted(set(index().preset)):
        try:
            figure = made("training_gap", preset=preset)
        except NoResults:
            continue
        drawn_presets.append(preset)
        runs = select(TrainingParameters.of({**links.VIEWS["training"].defaults(), "preset": preset})).runs
        final = runs.set_index(["variant", "seed"]).final
        expected = {
            (title(name), seed): loss - final["bert_a", seed]
            for (name, seed), loss in final.items()
            if name != "bert_a" and ("bert_a", seed) in final
        }
        found: dict[tuple[str, int], float] = {}
        for panel in drawing.panels(figure):
            spec = panel.to_dict()
            xs = [
                layer["encoding"]["x"] for layer in spec["layer"] if "scale" in layer.get("encoding", {}).get("x", {})
            ]
            (domain,) = {tuple(x["scale"]["domain"]) for x in xs}
            assert {x["axis"]["orient"] for x in xs} == {"top"}
            seeds = {
                (row["title"], row["seed"]): row["gap"]
                for rows in spec["datasets"].values()
                for row in rows
                if "seed" in row
            }
            assert all(domain[0] <= gap <= domain[1] for gap in seeds.values()), preset
            found |= seeds
        assert found == pytest.approx(expected), preset
    assert {"cpu2", "width64", "width128"} <= set(drawn_presets)


def test_the_lowest_of_those_with_no_more_arithmetic_is_called_the_lowest_of_these(store):
    """The committed runs: variants with more arithmetic end lower."""
    figure = FIGURES["training_loss_and_cost"].make({"preset": "width128", "cost": "arithmetic"})
    rows = figure.frame().query("outcome == 'lower'").sort_values("gap")
    free = rows[rows.cost < 0.001]
    assert rows.title.iloc[0] != free.title.iloc[0]
    assert f"; of these, {quote(free.title.iloc[0])} ends lowest, by {-free.gap.iloc[0]:.2f} nats" in figure.finding
    assert figure.finding.startswith(f"{len(free)} of ")


def test_a_setting_at_which_nothing_is_learnt_is_named(three):
    """No position ends at 7.0, so that what ends above 6.9 has not left the plateau."""
    run("bert_a", 0, ADDED, 6.95, learning_rate=2e-3)
    run("tupe_a", 0, ADDED, 6.85, learning_rate=2e-3)
    store_build.refresh()
    one, told = made("training_settings").sentences
    assert one == "“Apart, own matrix” minus adding: −1.19 to −0.10 at 2 settings, nearest 0 at peak rate 0.002."
    assert told == (
        "Still on the plateau at the end, with a loss above 6.90 (0.1 nats below where No position ends), so that a "
        "tie says nothing: "
        "peak rate 0.002: Added once."
    )
    run("bert_a", 0, ADDED, 6.97, norm="pre")
    run("tupe_a", 0, ADDED, 6.98, norm="pre")
    store_build.refresh()
    figure = made("training_settings")
    assert figure.sentences[0].endswith("nearest 0 at peak rate 0.002; both on the plateau at 1 setting.")
    drawing.compose(figure).to_dict()


def test_without_a_second_setting_the_command_for_one_is_said(three):
    with pytest.raises(NoResults, match=r"--variants bert_a,tupe_a --learning-rate 0\.0005"):
        made("training_settings")


@pytest.mark.parametrize("preset", ["cpu2", "width128"])
def test_the_heading_of_convergence_counts_who_misses_the_loss_at_any_seed(store, preset):
    figure = made("training_convergence", preset=preset)
    steps = figure.frame().query("axis == 'step' and n > 0")
    missing = sum(bool(count) for count in steps.censored)
    assert missing > (steps.censored == 1).sum(), "some miss it at two seeds, or the count could be read wrongly"
    assert figure.finding.endswith(f"{missing} of {len(steps)} variants did not reach it at every seed")


def test_convergence_is_a_share_of_the_baselines_own_steps(three):
    """TUPE-A crosses at step 150 and BERT-A at 400: 0.375 at every seed, so there is no spread."""
    figure = made("training_convergence")
    rows = figure.frame().set_index(["axis", "variant"])
    assert rows.loc["step", "tupe_a"].ratio == pytest.approx(0.375)
    assert rows.loc["seconds", "tupe_a"].ratio == pytest.approx(0.375)
    censored = rows.loc["step", "no_position"]
    assert censored.censored == 3
    assert censored.took == "> 400"
    assert math.isnan(censored.low)
    (claim,) = figure.sentences
    assert "30 %" in claim
    assert "38 % of adding's steps" in claim


def test_runs_of_unlike_pace_are_said_wherever_seconds_are_compared(three):
    assert "Seconds tell" not in made("training_convergence").caption
    trainings.write("bert_a", 3, trainings.line(STEPS, ADDED, speed=5.0, final=5.0))
    trainings.write("tupe_a", 3, trainings.line(STEPS, ADDED, speed=8.0, final=5.0))
    store_build.refresh()
    said = "adding took 100 ms per step in one run and 200 in another"
    assert said in made("training_convergence").caption
    assert said in made("training_curves", axis="seconds").caption
    assert said not in made("training_curves", axis="step").caption


def test_convergence_in_seconds_is_steps_times_what_a_step_costs(three):
    """Whatever the runs recorded: a step of TUPE-A is measured at 1.05 times BERT-A's; no_position was not measured."""
    trainings.write("tupe_a", 0, trainings.line(STEPS, (8.0, 6.0, 4.0, 3.9, 3.8), speed=0.1, final=3.82))
    trainings.costs(["bert_a", "tupe_a"])
    store_build.refresh()
    figure = made("training_convergence")
    rows = figure.frame().set_index(["axis", "variant"])
    assert rows.loc["seconds", "tupe_a"].ratio == pytest.approx(1.05 * 0.375)
    assert ("seconds", "no_position") not in rows.index, "what its run took tells of its hour, too"
    assert figure.provenance["Step times"].startswith("run ")
    assert "No seconds for No position: the time of a step was not measured." in figure.caption
    assert "not measured" in str(valid_panels(figure)[1])
    drawing.compose(figure).to_dict()
    against = made("training_convergence", baseline="tupe_a").frame().set_index(["axis", "variant"])
    steps = against.loc["step", "bert_a"].ratio
    assert against.loc["seconds", "bert_a"].ratio == pytest.approx(steps / 1.05)


def test_any_variant_may_be_held_against(three):
    """TUPE-A's final loss is beyond BERT-A, and no claim of the paper is about it; itself it is not compared with."""
    figure = made("training_convergence", baseline="tupe_a")
    rows = figure.frame().set_index(["axis", "variant"])
    assert rows.loc["step", "bert_a"].censored == 3
    assert ("step", "tupe_a") not in rows.index
    assert not figure.sentences
    assert not any(0.3 in rows["at"].tolist() for rows in drawn(figure, "at") if "variant" not in rows)
    assert "baseline=tupe_a" in figure.command
    gap = made("training_gap", baseline="tupe_a").frame().set_index("variant").gap
    assert gap["bert_a"] == pytest.approx(5.01 - 3.82)
    with pytest.raises(NoResults, match="no run of Rotary"):
        made("training_gap", baseline="rotary")


@pytest.mark.parametrize(
    ("crossings", "words"), [((60, 70, 80), "fewer steps than claimed"), ((100, 120, 140), "lies within the interval")]
)
def test_tupes_claim_is_held_against_the_interval(data, crossings, words):
    """BERT-A takes 400 steps; TUPE-A falls from 8 to 2 in twice the steps at which it is at 5."""
    for seed, at in enumerate(crossings):
        run("bert_a", seed, ADDED)
        rows = trainings.line((0, 2 * at, 400), (8.0, 2.0, 2.0))
        trainings.write("tupe_a", seed, rows)
    store_build.refresh()
    assert words in made("training_convergence").sentences[0]


def test_the_plateau_is_left_below_what_no_position_ends_at(three):
    """Level 7, margin 0.1: BERT-A goes from 7 at step 100 to 6 at 200, so it is at 6.9 at step 110; TUPE-A 1.1 / 2."""
    rows = made("training_plateau").frame().groupby("variant").step.first()
    assert rows.to_dict() == pytest.approx({"bert_a": 110, "tupe_a": 55})


def test_a_plateau_that_is_never_left_is_said(data):
    run("bert_a", 0, (8, 7, 7, 7, 7))
    run("no_position", 0, (8, 7, 7, 7, 7))
    store_build.refresh()
    figure = made("training_plateau")
    assert [text for rows in drawn(figure, "written") for text in rows.written] == [
        "1 of 1 seed stayed\nmedian not reached",
        "never",
    ]
    assert "did not use order when their training ended" in figure.caption
    drawing.compose(figure).to_dict()


# ---- The recipe ----


def judged(*, added, orderless, early=True):
    for seed, end in enumerate(added):
        run("bert_a", seed, (8, 7, min(end + 0.2, 7), min(end + 0.1, 7), end) if early else (8, 7, 7, 7, end))
    for seed, end in enumerate(orderless):
        run("no_position", seed, (8, 7, 7, 7, end))
    store_build.refresh()
    return verdict(select_trainings(links.VIEWS["training"].defaults()))


@pytest.mark.parametrize(
    ("added", "orderless", "word"),
    [
        ((5.0, 5.1, 5.2), (6.2, 6.3, 6.2), "Positions are used"),
        ((6.1, 6.2, 6.3), (6.2, 6.3, 6.4), "Inconclusive: under-trained"),
        ((6.4, 6.4, 6.5), (6.2, 6.3, 6.2), "Inconclusive: under-trained"),
        ((5.0,), (6.2,), "Inconclusive: too few seeds"),
        ((5.0, 5.1), (), "Inconclusive: no run of No position"),
    ],
)
def test_the_recipe_is_judged_by_the_spread_over_seeds(data, added, orderless, word):
    found = judged(added=added, orderless=orderless)
    assert found is not None
    assert found.word == word
    assert found.holds == (word == "Positions are used")


def test_a_contest_inside_the_transition_is_not_decided(data):
    """By the frozen rules: the ledger leaves it open, so no page calls it anything else."""
    found = judged(added=(5.0, 5.1, 5.2), orderless=(6.2, 6.3, 6.2), early=False)
    assert found is not None
    assert found.word == "Inconclusive: too few steps past the plateau"
    assert "still on the plateau after half of the steps in 3 of 3 seeds (it left by step 400)" in found.sentence


def test_causal_models_are_not_judged(whole):
    assert verdict(select_trainings({**links.VIEWS["training"].defaults(), "objective": "causal"})) is None


# ---- Length, scores, costs ----


def test_longer_texts_say_which_tables_have_untrained_rows(whole):
    figure = made("training_length")
    assert set(figure.frame().times) == {1, 2, 4}
    untrained = re.search(r"what untrained rows do: (.+?)\. ", figure.caption)
    assert untrained
    assert "adding" in untrained[1].split("; ")
    assert not {"No position", "Rotary"} & set(untrained[1].split("; "))


LENGTHS = {
    "no_position": {1: (6.0, 6.2), 2: (6.1, 6.3), 4: (6.2, 6.4)},  # means 6.1, 6.2, 6.3
    "rotary": {1: (4.0, 4.2), 2: (4.2, 4.5), 4: (4.5, 4.8)},
    "bert_a": {1: (5.0, 5.1), 2: (5.6, 5.7), 4: (6.2, 6.3)},
    "bert_a_d": {1: (5.0, 5.1), 2: (6.0, 6.1), 4: (6.900, 6.901)},
    "multiply": {1: (6.05, 6.08), 2: (6.2, 6.2), 4: (6.3, 6.3)},  # gains less than 0.1 nats in training
}
"""Variant -> length -> the loss of two seeds."""


def test_the_share_of_the_gain_that_is_kept_on_longer_texts(data):
    """By hand, seed by seed: how far below the control's mean on long texts, over how far in training."""
    for variant, losses in LENGTHS.items():
        for seed in range(2):
            rows = trainings.line(STEPS, ADDED)
            rows += [(f"final_loss_{times}x", 400, 40.0, both[seed]) for times, both in losses.items()]
            trainings.write(variant, seed, rows)
    store_build.refresh()
    figure = made("training_length")
    left, right = (panel.to_dict() for panel in drawing.panels(figure))
    shares = {
        (row["variant"], row["times"]): row["share"]
        for rows in right["datasets"].values()
        for row in rows
        if row.get("share") is not None and "times" in row
    }
    for variant in ("rotary", "bert_a", "bert_a_d"):
        for times, level in ((2, 6.2), (4, 6.3)):
            by_seed = [
                100 * (level - LENGTHS[variant][times][seed]) / (6.1 - LENGTHS[variant][1][seed]) for seed in range(2)
            ]
            assert shares[variant, times] == pytest.approx(sum(by_seed) / 2)
    assert not [key for key in shares if key[0] in ("multiply", "no_position")], "too little to keep; and the control"
    named = {row["name"] for rows in left["datasets"].values() for row in rows if "place" in row and "up" in row}
    assert {name.replace("\n", " ") for name in named} == {
        "Rotary 4.65",
        "Added once 6.25",
        "No position 6.30",
        "Every layer, own matrix, scaled 6.90",
    }, "those that keep most, adding, the control and the one that ends highest"
    axes = [layer["encoding"]["y"] for layer in right["layer"] if "y" in layer["encoding"]]
    assert [" ".join(label.split()) for label in axes[0]["sort"]] == [
        "Rotary",
        "Added once",
        "Every layer, own matrix, scaled",
    ], "what keeps most stands first, and what has nothing to keep has no row"
    gainless = re.search(r"no gain of [0-9.]+ nats in every seed: (.+?)\. ", figure.caption)
    assert gainless
    assert gainless[1].casefold() == title("multiply").casefold(), "the control has none by its nature"
    kept = round((1.8 / 2.1 + 1.5 / 1.9) / 2 * 100)
    assert figure.finding == (
        f"On texts 4 times as long as in training, Rotary keeps {kept} % of what positions save; any other at most 5 %"
    )
    texts = {
        " ".join(row["label"].split()): row["written"]
        for rows in right["datasets"].values()
        for row in rows
        if "written" in row
    }
    assert [name for name, text in texts.items() if "worse" in text] == ["Every layer, own matrix, scaled"]


@pytest.mark.parametrize("objective", ["masked", "causal"])
def test_the_heading_of_longer_texts_holds_at_every_preset(store, objective):
    """The committed runs: what it says of the best, of all others and of those that end worse is what is drawn."""
    told = set()
    for preset in sorted(set(index().preset)):
        try:
            figure = made("training_length", preset=preset, objective=objective)
        except NoResults:
            continue
        means = figure.frame().groupby(["variant", "times"]).value.mean().unstack()
        control = "causal_no_position" if objective == "causal" else "no_position"
        finding = figure.finding
        assert len(finding) <= 175
        if "of what positions save" not in finding:
            lowest = means[means.columns[-1]].idxmin()
            assert not finding or title(lowest) in finding
            continue
        shares = (means.loc[control, 4] - means[4]) / (means.loc[control, 1] - means[1])
        seeds = figure.frame().groupby("variant").seed.nunique()
        ranked = seeds >= min(seeds_needed(preset), seeds.max())
        learnt = (means.loc[control, 1] - means[1] > 0.15) & ranked
        best = shares[learnt].drop(control, errors="ignore").max()
        if "no variant keeps anything" in finding:
            assert best <= 0.005
        else:
            first = int(re.search(r"(\d+) %", finding)[1])
            assert first == pytest.approx(100 * best, abs=2.5)
        if "end worse" in finding or "ends worse" in finding:
            assert (means[4] > means.loc[control, 4]).any()
        told.add(preset)
    assert objective == "causal" or {"cpu", "cpu2", "width128"} <= told


def test_the_board_s_costs_and_the_others_are_all_that_is_measured(store):
    """No variant is left out, none stands twice, and the range in the heading is that of what is drawn."""
    first, others = made("training_costs", preset="cpu"), made("training_costs_others", preset="cpu")
    measured = {*first.frame().variant, *others.frame().variant}
    stored = query("SELECT DISTINCT variant FROM costs WHERE preset = 'cpu'").variant
    assert measured == set(stored)
    assert not set(first.frame().variant) & set(others.frame().variant)
    trained = {row.variant for row in board("cpu2").rows if row.trained}
    assert set(first.frame().variant) == trained & measured
    sql = "SELECT variant, value FROM newest_costs WHERE preset = 'cpu' AND measure = 'step_ratio'"
    costs_of_adding = query(sql).set_index("variant").value
    for figure in (first, others):
        times = figure.frame().query("measure == 'step_ratio'").set_index("variant").value
        base = times.get("bert_a", 1.0)
        causal = costs_of_adding["causal_bert_a"]
        slow = [name for name, time in times.items() if time / (causal if name.startswith("causal") else base) > 1.1]
        for name in slow if len(slow) <= 2 else []:
            assert title(name) in figure.finding
        (panel,) = drawing.panels(figure)
        cells = [row for rows in panel.to_dict()["datasets"].values() for row in rows if "end" in row]
        written = {(row["title"], row["column"]): row["written"] for row in cells}
        for name, value in times.items():
            if not name.startswith("causal"):
                assert written[title(name), "step_ratio"] == training_costs.percent_of(
                    value / times.get("bert_a", 1.0) - 1
                )
        assert "preset cpu" in figure.caption
        assert "loss" not in {column for _, column in written}, "the board beside it is of encoders of matched sizes"


def test_the_loss_stands_beside_the_costs_of_encoders_of_the_same_sizes(store):
    figure = made("training_costs", preset="width128")
    (panel,) = drawing.panels(figure)
    cells = [row for rows in panel.to_dict()["datasets"].values() for row in rows if "end" in row]
    losses = {row["title"]: row["written"] for row in cells if row["column"] == "loss"}
    known = {name for name, text in losses.items() if text != training_costs.UNJUDGED}
    judged = {row.title for row in board("width128").judged if row.variant in set(figure.frame().variant)}
    assert known - {title("bert_a")} == judged


@pytest.mark.parametrize("cost", AXES_OF_COSTS)
def test_loss_is_drawn_against_a_cost_and_the_line_joins_what_none_beats_in_both(store, cost):
    """Each share and each gap is the stored one; a variant off the line has another that costs and loses no more."""
    figure = FIGURES["training_loss_and_cost"].of(
        {**links.VIEWS["experiments"].defaults(), "preset": "width128", "cost": cost}
    )
    measure = AXES_OF_COSTS[cost].measure
    stored = (
        query("SELECT variant, value FROM newest_costs WHERE preset = 'width128' AND measure = ?", [measure])
        .set_index("variant")
        .value
    )
    gaps = {row.variant: row.gap.value for row in board("width128").judged} | {"bert_a": 0.0}
    rows = figure.frame()
    assert set(rows[rows.gap.notna()].variant) == set(gaps) & set(stored.index)
    for row in rows.itertuples():
        assert row.cost == pytest.approx(stored[row.variant] / stored["bert_a"] - 1)
        assert row.gap == pytest.approx(gaps[row.variant]) if row.variant in gaps else row.gap != row.gap
    drawn_rows = rows[rows.gap.notna()]
    if measure in training_costs.MACHINE:
        assert not rows.best.any(), "a difference of a few percent of measured time is noise"
    else:
        ends = drawn_rows.assign(low=drawn_rows.low.fillna(drawn_rows.gap), high=drawn_rows.high.fillna(drawn_rows.gap))
        for row in ends[ends.best].itertuples():
            cheaper = ends[(ends.cost <= row.cost) & (ends.variant != row.variant)]
            assert (cheaper.gap > row.gap).all(), "only itself costs and loses as little"
            assert (cheaper[cheaper.best].low > row.high).all(), "what costs more is lower beyond both intervals"
        assert ends.best.any()
        free = drawn_rows[(drawn_rows.outcome == "lower") & (drawn_rows.cost < 0.001)]
        assert figure.finding.startswith(f"{len(free)} of {len(drawn_rows) - 1} variants end lower"), "0.1 % is none"
    assert valid_panels(figure)
    lowest = drawn_rows.loc[drawn_rows.gap.idxmin(), "title"]
    on_the_line = set(drawn_rows[drawn_rows.best].title)
    names = pd.concat(drawn(figure, "down"))
    told = names.name.str.replace("\n", " ").str.replace("\N{NO-BREAK SPACE}", " ")
    # What lies beyond the axis stands at its end, with its number.
    far = drawn_rows.gap > training_costs.MOST_LOSS
    known = drawn_rows.title.where(~far, [f"{row.title} {signed(row.gap)}" for row in drawn_rows.itertuples()])
    known = known.str.replace("\N{NO-BREAK SPACE}", " ")
    named_here = {title("bert_a"), title("every_layer_attention"), lowest, *on_the_line, *known[far]}
    assert set(told[names.named.astype(bool)]) == named_here, "these have names on a phone too"
    assert set(told) == set(known), "every point has its name where there is room"
    highest = max(drawn_rows[~far].high.max(), drawn_rows[~far].gap.max())
    places = dict(zip(known, zip(100 * drawn_rows.cost, drawn_rows.gap, strict=True), strict=True))
    for name, x, y in zip(told, names.x, names.y, strict=True):
        if name in set(known[far]):
            assert x == pytest.approx(places[name][0])
            assert highest < y < places[name][1], "at the end of the axis, above all that is on it"
            continue
        assert (x, y) == pytest.approx(places[name]), "which stands at its own point"
    assert ("processor's time of the process" in figure.caption) == (cost == "time")
    assert "clock on the wall" in FIGURES["training_costs"].of({"preset": "cpu"}).caption


def test_no_position_is_said_to_do_more_arithmetic_only_where_sizes_are_matched(store):
    rows = training_costs.stored("width128")
    assert training_costs.more_without_positions(rows, "width128").startswith("No position does 1.4 % more arithmetic")
    assert not training_costs.more_without_positions(training_costs.stored("cpu"), "cpu"), "sizes are not matched there"


def test_matrices_of_their_own_are_said_to_take_less_arithmetic_only_where_sizes_are_matched(store):
    rows = training_costs.stored("width128")
    said = training_costs.less_with_own_matrices(rows, "width128")
    assert said.startswith("Where positions have matrices of their own, there is 4.8 % to 4.9 % less arithmetic")
    assert not training_costs.less_with_own_matrices(training_costs.stored("cpu"), "cpu")
    narrower = training_costs.more_with_narrower_words(rows, "width128")
    counted = rows[rows.measure == "flops_per_token"].set_index("variant").value
    for name in ("bert_a_narrow_50", "concat_20"):
        share = 100 * (counted[name] / counted["bert_a"] - 1)
        least, most = map(float, re.findall(r"[\d.]+(?= %)", narrower))
        assert least - 0.06 <= share <= most + 0.06
    assert not training_costs.more_with_narrower_words(training_costs.stored("cpu"), "cpu")
    others = training_costs.more_of_other_causes(rows, "width128")
    assert "Concatenated and projected does 4.2 % more" in others
    assert "“Apart, one matrix” and “Apart, one matrix, unscaled” do 1.5 % more" in others
    assert not training_costs.more_of_other_causes(training_costs.stored("cpu"), "cpu")
    table = training_costs.cost_table(rows, "width128")
    assert training_costs.BEFORE_MATCHING in table
    assert training_costs.UNMATCHED not in table


def test_what_has_matrices_of_its_own_has_narrower_feed_forward_layers():
    widths = {
        name: replace(PRESETS["width128"], variant=name).config()["intermediate_size"]
        for name in ("bert_a", "first_layer_own", "bert_a_d_unscaled", "tupe_a")
    }
    assert all(width < widths["bert_a"] for name, width in widths.items() if name != "bert_a")


def test_score_variance_is_compared_at_the_start_and_the_end(data):
    for seed in range(2):
        for variant, scale in (("bert_a", 1.0), ("tupe_a", 1.0), ("tupe_a_unscaled", 2.0)):
            rows = trainings.line(STEPS, ADDED)
            for layer in range(2):
                rows += [
                    (f"score_variance_{layer}", step, step / 10, (0.1 + step) * (scale if step < 300 else 1.5 * scale))
                    for step in STEPS
                ]
            trainings.write(variant, seed, rows)
    store_build.refresh()
    figure = made("training_scores")
    assert "2.0 times as large before training and 2.0 times as large after" in figure.caption
    assert sorted(set(figure.frame().layer)) == [0, 1]
    (panel,) = drawing.panels(figure)
    (names,) = (rows for rows in panel.to_dict()["datasets"].values() if "up" in rows[0])
    ends = {row["name"].replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ").partition(":")[0] for row in names}
    assert ends == {
        "Added once, layer 0", "Added once, layer 1", f"{OWN_MATRIX}, both layers",
        f"{OWN_MATRIX}, unscaled, both layers",
    }  # fmt: skip
    assert "at most 0 % apart" in figure.caption
    # Here both variants have the same variance at every step, in every layer.
    own = "In layer 0, “Apart, own matrix” attends as sharply as adding throughout: its scores spread 1 times as far"
    assert figure.finding.startswith(own)
    (dashes,) = {
        str(dict(zip(found["domain"], found["range"], strict=True))) for found in _scales(panel.to_dict(), "strokeDash")
    }
    assert dashes.count("[1, 0]") == 3, "a dash tells variants of one colour apart, and never layers of one variant"
    assert "spread as far as adding's times 1 (layer 0) and 1 (layer 1)" in figure.caption
    assert figure.frame().step.min() == 0


def test_one_seed_of_huge_scores_does_not_decide_how_far_they_spread(data):
    """Variances of 1, 1 and 1,000,000 have a geometric mean of 100, so a standard deviation of 10."""
    for seed, size in enumerate((1.0, 1.0, 1e6)):
        for variant, variance in (("bert_a", size), ("tupe_a", 1.0)):
            rows = [*trainings.line(STEPS, ADDED), *(("score_variance_0", step, step / 10, variance) for step in STEPS)]
            trainings.write(variant, seed, rows)
    store_build.refresh()
    assert (
        "In layer 0, “Apart, own matrix” attends less sharply than adding throughout: its scores spread 0.1 times"
        in made("training_scores").finding
    )


@pytest.mark.parametrize("preset", ["cpu2", "cpu"])
def test_the_heading_on_scores_is_of_the_layer_that_it_names(store, preset):
    """The committed runs: layer 1 ends the other way round, which the caption says."""
    figure = made("training_scores", preset=preset)
    rows = figure.frame()
    logs = rows.assign(log=np.log(rows.value) / 2).groupby(["variant", "layer", "step"]).log.mean()
    ratio = np.exp(logs["tupe_a"] - logs["bert_a"])
    first, last = ratio[0][1_000], ratio[0].iloc[-1]
    assert figure.finding == (
        "In layer 0, “Apart, own matrix” attends more sharply than adding early on and less sharply at the end: its "
        f"scores spread {first:.2g} times as far after 1,000 steps, then {last:.2g} times"
    )
    assert ratio[1].iloc[-1] > 1 > last
    assert f"{ratio[1].iloc[-1]:.2g} (layer 1)" in figure.caption
    assert len(figure.finding) <= 175


def test_costs_carry_what_the_registry_says_of_sizes(whole):
    trainings.costs(["bert_a"], created="2020-01-01T00:00:00Z")
    store_build.refresh()
    figure = made("training_costs")
    frame = figure.frame()
    assert len(frame) == 6 * len(trainings.ENDS), "the newest measurement only"
    table = training_costs.cost_table(frame, "cpu").set_index("Variant")
    assert table.loc["No position", "Why its size differs"].startswith("Fewer parameters")
    assert table.loc["Added once", "Why its size differs"] == ""
    assert table.loc["No position", "Against adding"] == "−8.3 %"


@pytest.mark.parametrize(
    ("share", "written"),
    [(0, "0 %"), (0.00036, "+0.04 %"), (-0.00036, "−0.04 %"), (-0.046, "−4.6 %"), (0.372, "+37 %")],
)
def test_a_small_difference_in_size_is_not_printed_as_none(share, written):
    assert training_costs.percent_of(share) == written


# ---- All of them ----


@pytest.mark.parametrize("name", [*NAMES, "runs_curve", "runs_strip"])
def test_every_figure_is_drawn_described_and_made_again_by_its_command(whole, name):
    figure = made(name)
    for theme in (drawing.Theme(), drawing.Theme(dark=True, screen=True)):
        assert valid_panels(figure, theme)
    rows = sum(
        len(panel["datasets"][key]) for panel in [drawing.compose(figure).to_dict()] for key in panel["datasets"]
    )
    assert rows < 5_000
    assert figure.caption.endswith(".")
    assert figure.alt
    assert "nan" not in (figure.caption + figure.alt).replace("nano", "").split()
    assert figure.provenance
    export = [line for line in figure.command.splitlines() if " export " in line]
    for words in map(shlex.split, export):
        _, values = links.parse(words[4])
        again = FIGURES[name].of(values)
        assert again.caption == figure.caption
        assert again.frame().equals(figure.frame())


@pytest.mark.parametrize("name", [*NAMES, "runs_curve", "runs_strip"])
def test_with_no_results_a_sentence_says_how_to_make_them(nothing, name):
    with pytest.raises(NoResults, match=r"python -m analysis (ablate|measure costs)"):
        made(name)


def test_a_preset_that_was_not_run_is_said_with_those_that_were(three):
    with pytest.raises(NoResults, match=r"'gpu'; there are: cpu"):
        made("training_curves", preset="gpu")


def test_names_do_not_cover_each_other():

    for values in ([5.0, 5.0, 5.0], [1.0, 9.0], [2.0] * 20):
        places = np.sort(spread_names(np.array(values), np.full(len(values), NAME_HEIGHT), (1.0, 9.0), 380))
        assert (np.diff(places) >= NAME_HEIGHT - 0.5).all()
        assert places[0] >= 0
        assert places[-1] <= 380


def test_a_name_of_two_lines_has_room_for_both():

    places = spread_names(np.array([5.0, 5.1, 4.9]), np.array([30.0, 10.0, 20.0]), (1.0, 9.0), 400)
    # From the top: 5.1, 5.0, 4.9; they touch, in the middle of where they want to be (195, 200 and 205).
    assert np.diff(places[[1, 0, 2]]) == pytest.approx([20.0, 25.0])
    assert places.mean() == pytest.approx(200.0)


def test_every_variant_has_a_look_of_its_own():
    from analysis.ablation.variants import VARIANTS

    # Variants that came after this order was fixed follow it by name.
    assert len(set(DASH_ORDER)) == len(DASH_ORDER)
    assert set(DASH_ORDER) <= set(VARIANTS) - {"bert_a", "causal_bert_a"}


# ---- Runs ----


def test_runs_are_listed_with_their_status(data):
    whole_run = run("bert_a", 0, ADDED, steps=400)
    cut = run("tupe_a", 0, ADDED, steps=6_500)
    usual = run("tupe_a", 1, ADDED)
    other = run("tupe_a", 2, ADDED, norm="pre", learning_rate=5e-4)
    trainings.costs(["bert_a"])
    (data / "results" / "curves" / "broken.parquet").write_bytes(b"not Parquet")
    store_build.refresh()
    found = all_runs().set_index("run_id")
    assert found.loc[whole_run].status == "finished"
    assert found.loc[cut].status == "stopped early"
    assert found.loc["results/curves/broken.parquet"].status == "unreadable"
    assert sorted(found.kind) == ["costs", *["curves"] * 4, "unreadable"]
    changed = {name: found.changed[name] for name in (whole_run, cut, usual, other)}
    assert list(changed.values()) == ["steps 400", "steps 6,500", "", "learning rate 0.0005, norms first (pre-norm)"]
    assert set(found.changed[~found.index.isin(changed)]) == {""}
    first = newest_of_each_first(all_runs())
    assert sorted(first.run_id) == sorted(found.index)
    named = list(zip(first.kind, first.variant, strict=True))
    assert len(set(named[:4])) == 4, "the second and third run of a variant stand below the first of all"
    assert named[4:] == [("curves", "tupe_a")] * 2


def test_every_setting_of_a_run_is_laid_out():
    frame = settings('{"a": 1, "b": {"c": [1, 2], "d": {"e": "text"}}, "f": null, "g": {}}')
    assert dict(zip(frame.setting, frame.value, strict=True)) == {
        "a": "1",
        "b.c": "[1, 2]",
        "b.d.e": "text",
        "f": "null",
        "g": "{}",
    }


def test_the_curve_of_one_run(three):
    run_id = select_trainings(links.VIEWS["training"].defaults()).runs.run_id.iloc[0]
    assert set(made("runs_curve", run=run_id).frame().run_id) == {run_id}
    with pytest.raises(NoResults, match="'nobody' has no curve"):
        made("runs_curve", run="nobody")


def test_the_strip_has_a_dot_for_each_run_of_one_preset_and_task(whole):
    """The runs of the preset of the chosen one, of its task; the far ones at the edge, the chosen one in a ring."""
    known = query("SELECT run_id, variant, last_loss AS loss FROM pretrainings WHERE last_loss IS NOT NULL")
    for task in ("masked", "causal"):
        of_task = known[known.variant.str.startswith("causal_") == (task == "causal")]
        chosen = of_task.run_id.iloc[0]
        figure = made("runs_strip", run=chosen)
        frame = figure.frame().set_index("run_id")
        assert set(frame.index) == set(of_task.run_id)
        assert frame.loss.to_dict() == pytest.approx(of_task.set_index("run_id").loss.to_dict())
        dots, *_ = drawn(figure, "run_id", "at")
        means = frame[frame.changed == ""].groupby("title").loss.mean()
        means = means[means <= dots["at"].max()]
        if "seeds of one variant" in figure.finding:  # Of the variants on the axis.
            usual = frame[frame.changed == ""].groupby("title").loss
            far = int((usual.mean() > dots["at"].max()).sum())
            counted = f"{len(means)} of {len(means) + far}" if far else f"{len(means)}"
            assert f"the mean losses of {counted} variants span " in figure.finding
            assert f" span {means.max() - means.min():.2f} nats" in figure.finding
            assert ("outside)" in figure.finding) == (far > 0), "what is not counted is said"
            assert (f"{far} variant" in figure.caption) == (far > 0)
            spread = (usual.max() - usual.min())[usual.count() > 1].median()
            assert f"seeds of one variant differ by {spread:.2f} in the median" in figure.finding
        assert (dots["at"] <= dots.run_id.map(frame.loss) + 1e-9).all()
        assert set(dots[dots.sign == "near"].run_id) == {
            run for run in frame.index if frame.loss[run] <= dots["at"].max()
        }
        (ring,) = [found for found in drawn(figure, "title", "at") if "run_id" not in found]
        assert ring.title.tolist() == [frame.title[chosen]]
    with pytest.raises(NoResults, match="'nobody' is stored"):
        made("runs_strip", preset="nobody")


def test_causal_models_are_held_against_rotary_where_none_adds_positions() -> None:
    assert usual_baseline("causal", {"causal_rotary", "causal_polar"}) == "causal_rotary"
    assert usual_baseline("causal", {"causal_rotary", "causal_bert_a"}) == "causal_bert_a"
    assert usual_baseline("causal", {"causal_polar"}) == "causal_bert_a"
    assert usual_baseline("masked", {"rotary"}) == "bert_a"
