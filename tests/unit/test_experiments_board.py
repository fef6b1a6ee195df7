"""The board repeats what other figures and the store say; it computes nothing of its own."""

import numpy as np
import pytest

from analysis.ablation.variants import VARIANTS
from analysis.core.errors import AddendError, NoResults
from analysis.figures import FIGURES
from analysis.figures.experiments.data import BASELINE, COST_PRESET, MEASURES
from analysis.figures.figure import FigureSpec, Parameters
from analysis.store import read

pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def board(store):
    return FIGURES["experiments_board"].make({"preset": "cpu2"})


def test_losses_are_differences_of_means_over_seeds_in_common(board):
    long = board.frame()
    finals = (
        read.query("SELECT variant, seed, final_loss FROM pretrainings WHERE preset = 'cpu2'")
        .pivot_table(index="seed", columns="variant", values="final_loss")
        .dropna(subset=["tupe_a", "bert_a"])
    )
    shown = long[(long.measure == "loss") & (long.variant == "tupe_a")].iloc[0]
    assert shown.value == pytest.approx((finals.tupe_a - finals.bert_a).mean(), abs=1e-9)
    assert shown.seeds == len(finals)


def test_costs_are_over_the_baselines(board):
    long = board.frame().set_index(["measure", "variant"]).value
    costs = (
        read.query("SELECT variant, value FROM newest_costs WHERE preset = ? AND measure = 'parameters'", [COST_PRESET])
        .set_index("variant")
        .value
    )
    for variant in ("no_position", "concat_wide"):
        assert long["parameters", variant] == pytest.approx(costs[variant] / costs[BASELINE])
    assert long["parameters", BASELINE] == 1


def test_each_variant_has_one_row_and_every_number_is_in_the_data(board):
    table, long = board.content.table, board.frame()
    assert table.Variant.is_unique
    assert set(long.measure) <= set(MEASURES)
    assert set(long.variant) <= set(VARIANTS)
    assert not long.duplicated(["variant", "measure"]).any()
    numbers = table.select_dtypes("number")
    assert int(np.isfinite(numbers).to_numpy().sum()) == len(long)


def test_a_preset_without_trainings_leaves_costs_and_papers(monkeypatch):
    def nothing(params):
        raise NoResults("nothing yet")

    monkeypatch.setitem(FIGURES._entries, "training_gap", FigureSpec(parameters=Parameters, build=nothing))
    monkeypatch.setitem(FIGURES._entries, "training_plateau", FigureSpec(parameters=Parameters, build=nothing))
    board = FIGURES["experiments_board"].make({"preset": "cpu2"})
    assert not {"loss", "plateau"} & set(board.frame().measure)
    assert board.finding == ""
    assert "No training of preset cpu2 is stored." in board.caption


def test_an_unknown_preset_is_said():
    with pytest.raises(AddendError, match="no pre-training of the preset 'nobody'"):
        FIGURES["experiments_board"].make({"preset": "nobody"})
