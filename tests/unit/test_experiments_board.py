"""The board says what the store holds of each variant: every number is computed again here by SQL, numpy or scipy."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import store_build
from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS, WAYS, full_title
from analysis.core.errors import AddendError, LinkError, NoResults
from analysis.core.formatting import join_names, signed
from analysis.figures import FIGURES, drawing, paper_table
from analysis.figures.experiments import board_rows, ladder, row_tables
from analysis.figures.experiments.board import axis_range, caption, ordered
from analysis.figures.experiments.board_rows import BASELINE, WIDTHS, ExperimentsBoard, Gap, VariantRow
from analysis.figures.experiments.imported_rows import imported_boards
from analysis.figures.training.plateau import plateau_exits
from analysis.imports.plan import execute, plan
from analysis.imports.reader import UserMetadata
from analysis.narrative.choosing import board as choosing_board
from analysis.narrative.choosing.sizes import ModelSize
from analysis.rules import encoder_rules
from analysis.store import read
from dashboard.widgets.experiments_board import LADDERS, board_data, row_data, spoken, told
from tests import trainings

pytestmark = pytest.mark.usefixtures("store")
JUDGED = "cpu2"


@pytest.fixture(params=["cpu2", "cpu", "width128"])
def board(request, store) -> ExperimentsBoard:
    return board_rows.board(request.param)


def finals(preset):
    """Variant -> seed -> the final loss in the store, of recipes at the preset's settings."""
    rows = read.query(
        "SELECT variant, seed, final_loss FROM pretrainings WHERE preset = ? AND NOT diverged "
        "QUALIFY row_number() OVER (PARTITION BY variant, seed ORDER BY created DESC) = 1",
        [preset],
    )
    return {name: dict(zip(group.seed, group.final_loss, strict=True)) for name, group in rows.groupby("variant")}


def test_every_number_of_the_judged_board_is_the_stores(store):
    stored, shown = finals(JUDGED), board_rows.board(JUDGED)
    costs = read.query("SELECT variant, measure, value FROM newest_costs WHERE preset = ?", [shown.cost_preset])
    costs = {(row.variant, row.measure): row.value for row in costs.itertuples()}
    trained = [row for row in shown.rows if row.trained]
    assert {row.variant for row in trained} == {name for name in stored if not name.startswith("causal_")}
    for row in trained:
        assert row.losses == pytest.approx(stored[row.variant])
        assert row.loss == pytest.approx(np.mean(list(stored[row.variant].values())))
        if row.variant != BASELINE:
            seeds = sorted(set(stored[row.variant]) & set(stored[BASELINE]))
            differences = np.array([stored[row.variant][seed] - stored[BASELINE][seed] for seed in seeds])
            interval = stats.t.interval(0.95, len(seeds) - 1, differences.mean(), stats.sem(differences))
            assert row.gap is not None
            assert row.gap.seeds == len(seeds)
            assert (row.gap.value, row.gap.low, row.gap.high) == pytest.approx(
                (differences.mean(), *interval), nan_ok=True
            ), "one seed has no interval"
            assert [row.differences[seed] for seed in seeds] == pytest.approx(differences)
        for measure, name in (("parameters", "parameters"), ("time", "step_ratio")):
            known = costs.get((row.variant, name))
            ratio = getattr(row, measure)
            assert (ratio is None) == (known is None)
            assert known is None or ratio == pytest.approx(known / costs[BASELINE, name])


def test_the_glyph_says_where_positions_enter(store):
    """Of the recipe with two layers; that the variants are told there is proved on their models in test_variants."""
    shown = board_rows.board("width128")
    glyphs = {row.variant: told(row, shown) for row in shown.rows}
    assert glyphs["bert_a"] == {"input": "whole", "layers": ["", ""]}
    assert glyphs["concat_20"] == {"input": "beside", "layers": ["", ""]}
    assert glyphs["no_position"] == {"input": "", "layers": ["", ""]}
    assert glyphs["first_layer_attention"] == {"input": "", "layers": ["shared", ""]}
    assert glyphs["every_layer_hidden"] == {"input": "", "layers": ["shared", "shared"]}
    assert glyphs["bert_a_d_unscaled"] == {"input": "", "layers": ["own", "own"]}
    assert "positions told at every layer, by terms of their own" in spoken(shown.row("bert_a_d_unscaled"), shown, "")
    assert "positions told at the first layer." in spoken(shown.row("first_layer_attention"), shown, "")
    lines = {row.variant: row_data(row, shown)["told_at"] for row in shown.rows}
    places = {name: line.partition("; ")[0] for name, line in lines.items()}
    assert places["bert_a"] == "Told at the input"
    assert places["concat_20"] == "Told at the input, beside the words"
    for row in shown.rows:
        if row.steps and row.steps.always:
            assert lines[row.variant].endswith(f"; order used after {row.steps.text} steps")
    assert places["no_position"] == "No positions told"
    assert places["bert_a_d_unscaled"] == "Told at every layer, by terms of their own"
    assert set(lines) == set(glyphs), "every row says it"


def test_never_is_said_only_where_no_seed_uses_order(board):
    """By the seeds of Convergence; a row of which some do says how many, and stands without a mean."""
    assert board.trainings is not None
    exits = plateau_exits(board.trainings).seeds
    left = (~exits.censored.astype(bool)).groupby(exits.variant).agg(["sum", "size"])
    for row in board.rows:
        if row.steps is None or row.variant == "no_position":
            continue
        of, seeds = left.loc[row.variant]
        told_aloud, drawn = spoken(row, board, ""), row_data(row, board)
        assert ("never uses word order" in told_aloud) == ("order never used" in drawn["told_at"]) == (of == 0)
        some = f"in {of} of {seeds} seeds"
        assert (some in told_aloud) == (some in drawn["told_at"]) == (0 < of < seeds)
        assert drawn["steps"]["bound"] == (of < seeds)
        assert drawn["steps"]["text"].startswith("> ") == (of < seeds)
    if board.preset == JUDGED:
        assert "uses word order in 1 of 3 seeds" in spoken(board.row("one_segment"), board, "")
        figure = FIGURES["experiments_curves"].make({"preset": JUDGED, "row": "one_segment"})
        assert figure.finding.endswith("begins to use word order in 1 of 3 seeds")


def test_a_small_difference_keeps_its_sign_where_it_is_read_aloud(board):
    figure = FIGURES["experiments_board"].make({"preset": board.preset})
    for row in board.rows:
        if row.gap and row.gap.low == row.gap.low:
            value, low, high = (
                re.sub(r"^[+-]0\.000$", "0.000", f"{number:+.3f}").replace("-", "−")
                for number in (row.gap.value, row.gap.low, row.gap.high)
            )
            assert f"{row.title} {value} ({low} to {high})." in figure.alt
            aloud = f"final loss {value} nats from adding’s, 95 % interval {low} to {high}, "
            assert aloud in spoken(row, board, "")


def test_the_caption_says_how_many_seeds_the_rows_have(board):
    counts = sorted({row.gap.seeds for row in board.rows if row.gap})
    seeds = f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"
    assert f"(recipe {board.preset}, {seeds})." in caption(board, board.trainings)


def test_what_is_drawn_is_what_the_rows_hold(board):
    data = board_data(board)
    low, high = axis_range(board)
    for row in board.rows:
        drawn = row_data(row, board)
        assert (drawn["gap"] or {}).get("value") == (row.gap.value if row.gap else None)
        assert drawn["seeds"] == list(row.differences.values())
        assert drawn["rank"] == row.rank
        if row.gap and low <= row.gap.value <= high:
            assert drawn["value"].replace("−", "-") == printed(row.gap.value)
        if row.gap and row.gap.value > high:
            assert data["loss"]["outliers"], "what lies beyond the axis is printed at its end"
    assert low < 0 < high


def test_a_row_with_too_few_seeds_has_a_ring_and_no_verdict(board):
    for row in board.rows:
        few = row.gap is not None and row.gap.seeds < board.needed
        if few:
            assert row.outcome == "few"
            assert row.rank is None
            assert not row_data(row, board)["judged"]
        if row.gap or row.outcome == "baseline":
            verdict = row.outcome in ("lower", "higher", "same", "baseline")
            assert row_data(row, board)["undecided"] == (not verdict), "hollow is what is not decided"
        if row.outcome in ("lower", "higher", "same", "unresolved"):
            assert row.gap is not None
            assert row.gap.seeds >= board.needed


def test_lower_and_higher_are_by_more_than_the_margin_of_the_rules(board):
    """One rule here and in the tab of contrasts: the whole interval lies beyond what the rules count as none."""
    assert board_data(board)["loss"]["margin"] == board.margin == 0.05
    beyond = {row.variant for row in board.judged if row.gap.high < -0.05 or row.gap.low > 0.05}
    assert {row.variant for row in board.judged if row.outcome in ("lower", "higher")} <= beyond
    for row in board.judged:
        assert (row.outcome == "same") == (row.gap.low >= -0.05 and row.gap.high <= 0.05)
        assert row.outcome != "lower" or row.gap.value < 0


def test_no_loss_stands_in_the_column_of_differences(board):
    for row in board.rows:
        drawn = row_data(row, board)
        assert drawn["value"] == (
            "0" if row.outcome == "baseline" else printed(row.gap.value).replace("-", "−") if row.gap else ""
        )
        assert (f"{row.loss:.2f}" in drawn["own"]) == (row.gap is None)


def test_of_the_recipes_of_three_widths_only_seeds_that_the_rules_judge_are_compared(store):
    judged = set(encoder_rules().seeds)
    for preset in WIDTHS.values():
        for row in board_rows.board(preset).rows:
            assert set(row.differences) <= judged


def test_the_page_opens_with_the_preset_whose_board_judges_most(store):
    """The default is chosen without drawing up the boards, and is what these say."""

    def judged(preset: str) -> int:
        try:
            return len(board_rows.board(preset).judged)
        except NoResults:
            return 0

    counts = {preset: judged(preset) for preset in board_rows.judged_presets()}
    assert len([count for count in counts.values() if count]) >= 3
    assert board_rows.default_preset() == max(counts, key=counts.__getitem__)


def test_rows_stand_by_way_and_in_each_by_loss(board):
    ways = [row.way for row in board.rows]
    assert sorted(dict.fromkeys(ways), key=ways.index) == list(dict.fromkeys(ways))
    assert len(list(dict.fromkeys(ways))) == sum(a != b for a, b in zip(["", *ways], ways, strict=False))
    for way in set(ways):
        places = [row.place for row in board.rows if row.way == way]
        assert places == sorted(places)
    means = [
        np.mean(places)
        for way in dict.fromkeys(ways)
        if (places := [row.place for row in board.rows if row.way == way and math.isfinite(row.place)])
    ]
    assert means == sorted(means)


def test_the_first_rows_are_adding_and_the_ends_of_what_concatenates(board):
    """By way; each row stands once, and by loss none is pinned."""
    shown, ranked = ordered(board, "way"), ordered(board, "loss")
    assert sorted(row.variant for row in shown) == sorted(row.variant for row in ranked)
    beside = {
        row.variant: row.gap.value for row in board.judged if VARIANTS[row.variant].settings.get("combine") == "concat"
    }
    first = [row.variant for row in shown[:3]]
    assert first == [BASELINE, min(beside, key=beside.get), max(beside, key=beside.get)]
    assert shown[3:] == [row for row in board.rows if row.variant not in first]
    assert [row.place for row in ranked] == sorted(row.place for row in ranked)


def test_two_recipes_that_differ_on_concatenating_say_so_on_both_boards(store):
    """By the outcomes of the rows that concatenate; a recipe does not differ from itself."""
    cpu2, width128 = map(board_rows.board, ("cpu2", "width128"))
    lower = {
        one.preset: [row for row in one.judged if row.way == "concatenated" and row.outcome == "lower"]
        for one in (cpu2, width128)
    }
    assert not lower["cpu2"]
    (winner,) = lower["width128"]
    assert winner.variant not in {row.variant for row in cpu2.rows}
    count = {one.preset: sum(row.way == "concatenated" for row in one.judged) for one in (cpu2, width128)}
    name = f"“{winner.title}” was not trained"
    assert width128.concatenating_differs(cpu2) == (
        f"In recipe cpu2, none of {count['cpu2']} variants that concatenate beats adding; {name} there"
    )
    assert cpu2.concatenating_differs(width128) == (
        f"In recipe width128, 1 of {count['width128']} variants that concatenate beats adding; {name} here"
    )
    assert cpu2.concatenating_differs(cpu2) == width128.concatenating_differs(width128) == ""


def test_a_size_that_was_not_measured_is_the_one_that_the_trainings_counted(store):
    """Where both are known they are one number; the trainings of other seeds count the same."""
    shown = board_rows.board("width128")
    counts = read.query(
        "SELECT variant, min(CAST(config ->> 'parameters' AS INTEGER)) AS low, "
        "max(CAST(config ->> 'parameters' AS INTEGER)) AS high FROM pretrainings WHERE preset = 'width128' AND "
        "variant NOT LIKE 'causal%' GROUP BY variant"
    ).set_index("variant")
    assert (counts.low == counts.high).all()
    for row in shown.rows:
        assert row.parameters == pytest.approx(counts.low[row.variant] / counts.low[BASELINE]), row.variant
    extra = shown.row("bert_a_d_unscaled_extra")
    assert row_data(extra, shown)["numbers"][0]["text"] == f"× {counts.low[extra.variant] / counts.low[BASELINE]:.2f}"


def test_a_row_of_other_seeds_says_its_distance_and_that_no_seed_is_shared(store):
    shown = board_rows.board("width128")
    apart = [row for row in shown.rows if row.gap is None and row.outcome != "baseline"]
    assert [row.variant for row in apart] == ["no_position"]
    losses, adding = (np.mean(list(shown.row(name).losses.values())) for name in ("no_position", BASELINE))
    words = f"loss {losses:.2f} (+{losses - adding:.2f}), by other seeds"
    drawn = row_data(apart[0], shown)
    assert (drawn["own"], drawn["few"]) == (words, "not judged")
    assert f"final {words}." in spoken(apart[0], shown, "")


def row(variant, way, outcome):
    gap = None if outcome == "baseline" else Gap(value=0.1, low=0.0, high=0.2, seeds=5, needed=5)
    return VariantRow(variant=variant, title=variant, way=way, summary="", outcome=outcome, loss=3.0, gap=gap)


def test_what_a_later_file_decides_on_new_seeds_is_open_no_more(store) -> None:
    """C42b was open, since the first seeds lie too far apart; C42f asks the same of new seeds, and decides."""
    assert read.query("SELECT verdict FROM superseded WHERE id = 'C42b'").verdict.tolist() == ["open"]
    assert read.query("SELECT verdict FROM statements WHERE id = 'C42f'").verdict.tolist() == ["supported"]
    assert next(one.outcome for one in board_rows.board("width128").rows if one.variant == "alibi") == "higher"


@pytest.mark.parametrize(
    ("outcomes", "finding"),
    [
        (
            {"rotary": "lower", "tupe_a": "lower", "concat_20": "higher"},
            "All 2 variants that tell positions only to attention, in every layer, beat adding; none of 1 other "
            "do, those that concatenate included",
        ),
        (
            {"tupe_a": "lower", "no_cross": "same", "first_layer_attention": "lower", "concat_20": "lower"},
            "1 of 2 variants that tell positions only to attention, in every layer, beat adding; 2 of 2 others do, "
            "one of them concatenating",
        ),
        (
            {"rotary": "higher"},
            "The one variant that tells positions only to attention, in every layer, does not beat adding",
        ),
        (
            {"bert_r": "lower", "every_layer_hidden": "lower", "rotary": "higher", "tupe_a": "lower"},
            "1 of 2 variants that tell positions only to attention, in every layer, beat adding; 2 of 2 others do",
        ),
        ({"every_layer_hidden": "lower", "no_position": "higher"}, "1 of 2 variants beat adding"),
        (
            {"rotary": "few", "no_position": "few", "tupe_a": "few"},
            "Too few seeds to judge: of 3 variants none has more than 5 of 8 seeds",
        ),
    ],
)
def test_the_title_says_how_many_beat_adding_and_what_they_have_in_common(outcomes, finding):
    rows = [row(name, VARIANTS[name].way, word) for name, word in outcomes.items()]
    shown = ExperimentsBoard(
        preset="made up", rows=(*rows, row(BASELINE, "added", "baseline")), others=(), ranks=None, needed=8,
        cost_preset="cpu", trainings=None,
    )  # fmt: skip
    assert shown.finding == finding


def test_the_figures_data_hold_every_number_of_the_board(board):
    figure = FIGURES["experiments_board"].make({"preset": board.preset})
    long = figure.frame()
    assert not long.duplicated(["variant", "measure"]).any()
    losses = long[long.measure == "loss"].set_index("variant").value.to_dict()
    assert losses == {row.variant: row.gap.value for row in board.rows if row.gap}
    ranks = long[long.measure == "rank"].set_index("variant")[["low", "high"]]
    assert {name: tuple(ends) for name, ends in zip(ranks.index, ranks.to_numpy(), strict=True)} == {
        row.variant: row.rank for row in board.rows if row.rank
    }


def printed(value: float) -> str:
    """A difference with its sign, and none where it rounds to zero."""
    return f"{value:+.2f}".replace("+0.00", "0.00").replace("-0.00", "0.00")


def test_a_paper_gets_every_row_and_the_baselines_loss(board):
    """One picture of the losses, with a caption of nothing else, and a table with its unit."""
    figure = FIGURES["experiments_board"].make({"preset": board.preset})
    (panel,) = drawing.panels(figure)
    trained = {row.title: row for row in board.rows if row.place < math.inf}
    texts = {
        row["title"]: row["written"] for rows in panel.to_dict()["datasets"].values() for row in rows if "rank" in row
    }
    assert texts.keys() == trained.keys()
    for name, row in trained.items():
        assert texts[name].startswith(printed(row.gap.value).replace("-", "−") if row.gap else f"loss {row.loss:.2f}")
    assert not re.search("CoLA|similarity|plateau|a step", figure.caption)
    table = paper_table.of_figure(figure)
    head, *lines = table.cells(paper_table.Written())
    assert head == ["variant", "Final loss − Added once (nats)", "95 % CI", "seeds"]
    (own,) = [line for line in lines if line[0].startswith("Added once (final loss")]
    assert own[0].endswith(f"{board.row(BASELINE).loss:.2f})")
    assert own[1:] == [f"{0:.{table.decimals}f}", "", str(len(board.row(BASELINE).losses))]


def test_curves_end_at_the_boards_losses(store):
    shown = board_rows.board(JUDGED)
    for variant in (row.variant for row in shown.rows if row.trained):
        figure = FIGURES["experiments_curves"].make({"preset": JUDGED, "row": variant})
        loss = shown.row(variant).loss
        assert f"{shown.row(variant).title} ends at {loss:.2f}" in figure.alt


def test_a_share_of_steps_is_that_of_the_rules_where_they_have_one(store):
    """The rules of version 2 count whole evaluations: the heading has the board's steps, the caption both shares."""
    shown = board_rows.board(JUDGED)
    stated = read.query(
        "SELECT pair, effect FROM statements WHERE unit LIKE '%steps' AND scope LIKE '%preset cpu2' AND effect IS NOT "
        "NULL AND pair LIKE '% compared with Added once (BERT-A)'"
    )
    named = 0
    for pair, effect in zip(stated.pair, stated.effect, strict=True):
        variant = pair.removesuffix(" compared with Added once (BERT-A)")
        row = next(row for row in shown.rows if full_title(row.variant) == variant)
        figure = FIGURES["experiments_curves"].make({"preset": JUDGED, "row": row.variant})
        shares = [f"{100 * effect:.0f} %", f"{100 * row.steps.value / shown.row(BASELINE).steps.value:.0f} %"]
        if "adding after" in figure.finding:
            assert f"after {row.steps.text} steps" in figure.finding
            assert figure.finding.endswith(f"adding after {shown.row(BASELINE).steps.text}")
            assert all(share in figure.caption for share in shares)
            named += shares[0] != shares[1]
    assert named >= 3


def test_a_width_is_told_with_its_seeds_and_never_judged_by_too_few(board):
    for row in (*board.rows, *board.others):
        if not row.widths:
            continue
        figure = FIGURES["experiments_widths"].make({"preset": board.preset, "row": row.variant})
        table = figure.frame().set_index("width")
        assert set(table.index) == set(row.widths)
        for width, gap in row.widths.items():
            stored = finals(WIDTHS[width])
            seeds = set(stored[row.variant]) & set(stored[BASELINE]) & set(encoder_rules().seeds)
            expected = np.mean([stored[row.variant][seed] - stored[BASELINE][seed] for seed in seeds])
            assert gap.value == pytest.approx(expected)
            assert gap.seeds == len(seeds)
        if sum(gap.judged for gap in row.widths.values()) == 0:
            assert figure.finding.startswith("No width can be judged yet")


def test_the_tables_of_a_row_are_sentences_with_what_is_stored(board):
    for row in board.rows:
        made = (make(row) for make in (row_tables.refitted, row_tables.own_glue, row_tables.papers))
        for found in (*made, row_tables.costs(row, board)):
            assert found.sentence.endswith((".", ":")), found.sentence
        table = row_tables.seeds(row, board).table
        assert len(table) == len(row.losses)


def test_every_way_has_words_and_every_variant_a_way():
    assert {VARIANTS[name].way for name in VARIANTS} == set(WAYS)


def test_a_preset_without_trainings_has_no_figure(store):
    for preset in PRESETS:
        if board_rows.board(preset).trainings is None:
            with pytest.raises(NoResults, match=f"--preset {preset}"):
                FIGURES["experiments_board"].make({"preset": preset})


def test_an_unknown_preset_row_or_order_is_said(store):
    with pytest.raises(AddendError, match="no preset 'nobody'"):
        FIGURES["experiments_board"].make({"preset": "nobody"})
    with pytest.raises(AddendError, match="no row 'nobody'"):
        FIGURES["experiments_curves"].make({"preset": JUDGED, "row": "nobody"})
    with pytest.raises(LinkError, match="order"):
        FIGURES["experiments_board"].make({"preset": JUDGED, "order": "nobody"})


def test_imported_rows_are_ranked_apart_and_change_nothing_of_ours(tmp_path, monkeypatch):
    """A reader's losses, of settings that the file does not say: compared among themselves, paired by seed."""
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ADDEND_STORE")
    trainings.sweep({"bert_a": 4.9, "tupe_a": 4.1}, range(3))
    store_build.refresh()
    ours = board_rows.board("cpu")
    losses = {"bert_a": (4.10, 4.16, 4.08), "my_concat": (4.21, 4.30, 4.18)}
    rows = [(name, seed, loss) for name, values in losses.items() for seed, loss in enumerate(values)]
    lines = [
        "variant,metric,seed,step,value",
        *(f"{name},validation_loss,{seed},9,{loss}" for name, seed, loss in rows),
    ]
    execute(plan({"mine.csv": "\n".join(lines).encode()}, UserMetadata()))
    store_build.refresh()
    (mine,) = imported_boards()
    assert [row.variant for row in mine.board.rows] == ["bert_a", "my_concat"]
    gap = mine.board.row("my_concat").gap
    assert gap is not None
    differences = np.subtract(losses["my_concat"], losses["bert_a"])
    assert (gap.value, gap.low, gap.high) == pytest.approx(
        (differences.mean(), *stats.t.interval(0.95, 2, differences.mean(), stats.sem(differences)))
    )
    assert "does not say with which settings" in mine.sentence
    assert "4.11 nats" in mine.sentence
    assert mine.key("my_concat") == "imported/my_concat"
    after = board_rows.board("cpu")
    assert [(row.variant, row.rank, row.loss) for row in after.rows] == [
        (row.variant, row.rank, row.loss) for row in ours.rows
    ]
    assert all("yours" in spoken(row, mine.board, "") for row in mine.board.rows)
    assert not any("yours" in spoken(row, ours, "") for row in ours.rows)
    assert board_rows.board("imported").finding == "Of 1 imported variant with at least 3 seeds, 0 end below adding"
    monkeypatch.setenv("ADDEND_HOSTED", "1")
    assert not any("yours" in spoken(row, mine.board, "") for row in mine.board.rows), "they may be somebody else's"


def test_without_enough_seeds_the_title_says_how_many_there_must_be():
    few = ExperimentsBoard(
        preset="imported", rows=(row(BASELINE, "added", "baseline"), row("mine", "added", "few")), others=(),
        ranks=None, needed=3, cost_preset="imported", trainings=None,
    )  # fmt: skip
    assert few.finding == "No imported variant has the 3 seeds that a comparison with adding needs"


def test_a_line_breaks_its_axis_where_the_head_says_so(board):
    """The head names the end of the axis beyond which rows stand, and the caption the sign of the break."""
    data = board_data(board)["loss"]
    beyond = [row for row in board.rows if row.gap and row.gap.value > data["high"]]
    assert bool(data["outliers"]) == ("beyond // the axis is broken" in caption(board, board.trainings)) == bool(beyond)
    if beyond:
        assert float(data["outliers"].removeprefix("> +")) <= min(row.gap.value for row in beyond)


def test_only_the_runs_that_the_rules_name_set_the_plateau_of_the_board(store):
    """Runs without positions of a later file have seeds of their own, and would move every step of every row."""
    runs = board_rows.board("width128").trainings.runs
    seeds = set(runs[runs.variant == "no_position"].seed)
    stored = read.query("SELECT seed FROM pretrainings WHERE preset = 'width128' AND variant = 'no_position'").seed
    assert seeds == set(encoder_rules().plateau.seeds) < set(stored)


def test_which_encoding_names_the_times_that_the_board_shows(store):
    """The board's are of the trained models; Which encoding? has them after those of equally wide ones."""
    chosen = {row.name: row.times for row in choosing_board.rows("cpu2", (), ModelSize())}
    shown = {row.variant: row for row in board_rows.board("width128").rows}
    for name in ("rotary", "deberta", "alibi"):
        text = row_data(shown[name], board_rows.board("width128"))["numbers"][1]["text"]
        ends = [float(end) for end in text.removeprefix("× ").split("\N{EN DASH}")]
        assert ends == sorted({round(time, 2) for time in (shown[name].time, shown[name].earlier)})
        assert chosen[name][2:] == (shown[name].time, shown[name].earlier)
        assert name != "rotary" or f"{text} for rotary in encoders" in choosing_board.times_of_trained_models()
    sql = "SELECT value FROM newest_costs WHERE variant = 'rotary' AND preset = 'cpu' AND measure = 'step_ratio'"
    assert chosen["rotary"][0] == read.query(sql).value[0]


def test_a_cost_that_was_not_measured_is_said_in_words(board):
    row = replace(board.rows[0], time=None, earlier=None)
    assert row_data(row, board)["numbers"][1]["text"] == "not measured"


def test_the_column_of_widths_waits_for_judged_rows(board):
    judged = [row for row in board.rows if sum(gap.judged for gap in row.widths.values()) > 1]
    assert bool(board_data(board)["widths"]) == (len(judged) >= LADDERS)


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        (
            {"a": (0.1, 0.2), "b": (-0.1, -0.3)},
            "grow",
        ),
        (
            {"a": (0.2, 0.1), "b": (-0.3, -0.1)},
            "shrink",
        ),
        ({"a": (0.1, -0.2), "b": (-0.1, 0.3)}, ""),
        ({"a": (0.1, 0.2), "b": (-0.3, -0.1)}, ""),
        ({"a": (0.1, 0.2)}, ""),
    ],
)
def test_the_ladder_says_of_all_what_holds_for_each(differences: dict[str, tuple[float, float]], said: str) -> None:
    rows = [(name, 64 * 2**place, value) for name, both in differences.items() for place, value in enumerate(both)]
    table = pd.DataFrame(rows, columns=["variant", "width", "value"]).assign(judged=True)
    table = table.assign(change_low=-1.0, change_high=1.0)
    finding = ladder._finding(table.assign(title=table.variant))
    assert (f"{said} with the width" in finding) == bool(said)
    changes = {name: abs(wide - narrow) for name, (narrow, wide) in differences.items()}
    if said:
        which = "both" if len(changes) == 2 else f"all {len(changes)}"
        assert f"in {which} comparisons by {min(changes.values()):.2f} to {max(changes.values()):.2f}" in finding
    else:
        most = max(changes, key=changes.__getitem__)
        narrow, wide = differences[most]
        assert f"most for {most}: from {signed(narrow)} to {signed(wide)} nats" in finding


def test_the_ladder_counts_the_differences_that_surely_grow():
    rows = [("a", 64, 0.1), ("a", 128, 0.2), ("b", 64, -0.1), ("b", 128, -0.3), ("c", 64, -0.1), ("c", 128, 0.0)]
    table = pd.DataFrame(rows, columns=["variant", "width", "value"]).assign(
        judged=True, title=lambda made: made.variant, decided=lambda made: (made.variant != "a") | (made.width != 64)
    )
    sure = table.assign(
        change_low=table.variant.map({"a": 0.05, "b": -0.3, "c": -0.1}),
        change_high=table.variant.map({"a": 0.15, "b": -0.1, "c": 0.3}),
    )
    assert ladder._finding(sure) == (
        "From width 64 to 128 the gain of b over adding grows from 0.10 to 0.30 nats, and what a costs from 0.10 "
        "(open) to 0.20"
    )
    assert ladder._unsure(sure) == "1 of 3 differences is not told from no change."
    assert len(FIGURES["experiments_ladder"].make({}).finding) <= 175


def test_the_ladder_has_every_difference_at_every_width(store):
    """Of the variants that are trained at two widths, by SQL and numpy; a ring where the rules ask for more seeds."""
    figure = FIGURES["experiments_ladder"].make({})
    table = figure.frame()
    by_width = {width: finals(preset) for width, preset in WIDTHS.items()}
    seeds = {width: set(found.get(BASELINE, ())) & set(encoder_rules().seeds) for width, found in by_width.items()}
    paired = {
        (name, width): sorted(seeds[width] & set(losses))
        for width, found in by_width.items()
        for name, losses in found.items()
        if name != BASELINE and seeds[width] & set(losses)
    }
    several = {name for name, _ in paired if sum(other == name for other, _ in paired) > 1}
    assert several, "some variant is trained at two widths"
    assert set(zip(table.variant, table.width, strict=True)) == {key for key in paired if key[0] in several}
    for row in table.itertuples():
        shared = paired[row.variant, row.width]
        found = by_width[row.width]
        expected = np.mean([found[row.variant][seed] - found[BASELINE][seed] for seed in shared])
        assert row.value == pytest.approx(expected)
        assert (row.seeds, row.judged) == (len(shared), len(shared) == len(encoder_rules().seeds))
    judged = table[table.judged].groupby("variant").width.nunique()
    several = judged[judged > 1].index
    assert figure.finding.startswith("Of ") != bool(len(several))
    if re.search("(grow|shrink) with the width", figure.finding):
        values = table[table.judged & table.variant.isin(several)].pivot(
            index="variant", columns="width", values="value"
        )
        smaller, larger = (int(width) for width in re.findall(r"from (\d+) to (\d+)$", figure.finding)[0])
        smaller, larger = (smaller, larger) if "grow" in figure.finding else (larger, smaller)
        assert (values[larger] * values[smaller] > 0).all()
        assert (values[larger].abs() > values[smaller].abs()).all()
    assert len(figure.finding) <= 175
    for variant, rows in table[table.variant.isin(several) & table.judged].groupby("variant"):
        sides = [
            [by_width[width][variant][seed] - by_width[width][BASELINE][seed] for seed in paired[variant, width]]
            for width in (rows.width.max(), rows.width.min())
        ]
        welch = stats.ttest_ind(*sides, equal_var=False)
        interval = welch.confidence_interval(0.95)
        assert rows.change.unique() == pytest.approx([np.mean(sides[0]) - np.mean(sides[1])])
        assert rows.change_low.unique() == pytest.approx([interval.low])
        assert rows.change_high.unique() == pytest.approx([interval.high])


def test_a_width_that_is_planned_is_named(store):
    """The committed rules ask for width 256, at which nothing is trained."""
    figure = FIGURES["experiments_ladder"].make({})
    planned = ladder._planned(figure.frame())
    first, second = (panel.to_dict() for panel in drawing.panels(figure))
    words = " ".join(first["title"]["subtitle"])
    assert (f"width {join_names(map(str, planned))} is planned" in words) == bool(planned)
    assert {row["variant"] for rows in second["datasets"].values() for row in rows if "change" in row} == set(
        figure.frame().variant[figure.frame().change.notna()]
    )
