"""The trainings on the page Experiments, and the page Runs: every part, and what a link may get wrong is said."""

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from analysis.figures.training.verdict import verdict_of
from analysis.links import VIEWS
from analysis.store import read
from tests import trainings
from tests.app.shown import figures, opened, shown

HEADINGS = {
    "curves": ["Learning curves"],
    "gap": ["Final loss, and its difference from adding"],
    "parts": ["What lies between adding and “Apart, own matrix”"],
    "convergence": ["Steps until order is used"],
    "length": ["Longer texts than in training"],
    "scores": ["The spread of the scores through training"],
    "costs": ["What each variant costs"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADDEND_DATA", str(folder))
        ends = {**trainings.ENDS, "tupe_a_unscaled": 3.8, "causal_bert_a": 4.2, "causal_no_position": 4.3}
        ends |= {"bert_a_norm": 4.4, "bert_a_d": 3.9, "tupe_a_tie_cls": 3.8}
        trainings.sweep(ends, range(2))
        trainings.sweep({"bert_a": 4.9}, [0], norm="pre")
        trainings.costs()
    return folder


@pytest.fixture
def results(made, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(made))
    monkeypatch.delenv("ADDEND_STORE", raising=False)


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    monkeypatch.delenv("ADDEND_STORE", raising=False)


def popovers(app: AppTest) -> list[str]:
    """The labels of the popovers of a page."""
    blocks = [app.main]
    for block in blocks:
        blocks += [child for child in block.children.values() if isinstance(child, Block)]
    found = [getattr(block.proto, "popover", None) for block in blocks]
    return [popover.label for popover in found if popover is not None]


def fine(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize("part", HEADINGS)
def test_every_part(results, part):
    app = opened("experiments", part=part, preset="cpu")
    fine(app)
    assert not app.info
    assert figures(app) == HEADINGS[part]
    judged = any("Final validation loss in nats" in text.value for text in app.markdown)
    assert judged == (part != "costs")


def test_the_second_figure_of_convergence_is_one_press_away(results):
    app = opened("experiments", part="convergence", preset="cpu")
    app.session_state["experiments.training_convergence.fold"] = True
    app.run()
    fine(app)
    assert figures(app) == [*HEADINGS["convergence"], "How soon adding's final loss is reached"]


def test_pickers_change_what_is_shown(results):
    app = opened("experiments", part="curves", preset="cpu")
    assert "Preset cpu (the preset's own settings)" in " ".join(shown(text.value) for text in app.caption)
    app.multiselect(key="experiments.variants.several").set_value(["bert_a", "tupe_a_unscaled"])
    app.segmented_control(key="experiments.axis").set_value("seconds")
    app.run()
    fine(app)
    captions = " ".join(shown(caption.value) for caption in app.caption)
    assert "Reached by “Apart, own matrix, unscaled” at" in captions
    assert "seconds of training" in captions
    # Rotary is chosen by default, was not run here, and stays chosen for other presets.
    assert app.query_params["variants"] == ["bert_a", "rotary", "tupe_a_unscaled"]
    app.selectbox(key="experiments.objective").select("causal")
    app.run()
    fine(app)
    assert "the end of causal adding's mean curve" in " ".join(shown(caption.value) for caption in app.caption)


def test_the_verdict_is_on_the_page(results):
    app = opened("experiments", part="curves", preset="cpu")
    assert any("Positions are used" in label for label in popovers(app))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"preset": "tpu"}, "'tpu'"),
        ({"objective": "prefix"}, "'prefix'"),
        ({"recipe": "abcdef"}, "'abcdef'"),
        ({"rate": "7"}, "'7'"),
        ({"axis": "epochs"}, "'epochs'"),
        ({"variants": "bert_z"}, "'bert_z'"),
    ],
)
def test_a_bad_link_is_said_and_falls_back(results, parameters, said):
    app = opened("experiments", **{"part": "curves", "preset": "cpu"} | parameters)
    assert not app.exception
    assert not app.error
    assert [said in shown(warning.value) for warning in app.warning] == [True]
    assert figures(app) == HEADINGS["curves"]


@pytest.mark.parametrize("part", ["curves", "costs"])
def test_without_results_the_page_says_how_to_make_them(nothing, part):
    app = opened("experiments", part=part, preset="cpu")
    fine(app)
    assert any("No pre-training of our own" in note.value for note in app.info)
    assert any("python -m analysis ablate --preset cpu" in code.value for code in app.code)


def test_without_costs_the_rest_is_shown(tmp_path, nothing):
    trainings.sweep({"bert_a": 5.2}, [0])
    app = opened("experiments", part="costs", preset="cpu")
    fine(app)
    assert [shown(note.value) for note in app.info] == ["Nothing of this kind is stored yet."]
    assert any("No costs are stored yet" in shown(text.value) for text in app.markdown), "folded below it"
    app = opened("experiments", part="convergence", preset="cpu")
    fine(app)
    assert len(app.info) == 1
    assert any("Inconclusive: no run of" in label for label in popovers(app))


def test_a_view_without_results_shows_those_of_a_preset_that_has_them(committed_store):
    """Those of the data that come with Addend: the costs of cpu2 were never measured."""
    app = opened("experiments", preset="cpu2", part="costs")
    fine(app)
    assert not app.info, "what was measured is shown, and its caption names the preset"
    assert any("a variant of recipe width128" in shown(text.value) for text in app.caption), "the judged recipe first"
    measured = set(read.query("SELECT DISTINCT preset FROM newest_costs").preset)
    (box,) = [box for box in app.selectbox if box.key and "preset" in box.key]
    assert len(box.options) == len(measured) > 1, "the presets that have costs are offered"
    assert not any("ablate" in code.value for code in app.code)
    assert app.session_state["experiments.preset"] == "cpu2", "the other views stay with the chosen preset"
    assert figures(app) == ["Final loss against arithmetic"]


def test_the_verdict_is_of_the_recipe_that_is_drawn(committed_store):
    """The splits are of preset cpu where the chosen recipe has none, and the picker says so."""
    result = verdict_of(VIEWS["experiments"].defaults() | {"preset": "cpu"})
    assert result is not None
    app = opened("experiments", preset="cpu2", part="parts")
    assert [label for label in popovers(app) if "Positions are used" in label] == []
    assert any(result.word in label for label in popovers(app))
    assert not app.info
    (box,) = [box for box in app.selectbox if box.key and "preset" in box.key]
    assert box.value == "cpu"
    assert not any("(cpu2)" in option for option in box.options)


# ---- Runs ----


def test_runs_can_be_filtered_and_one_is_shown_in_full(results):
    app = opened("runs", kind="curves", variant="bert_a", preset="cpu")
    fine(app)
    (table, config, stored) = (frame.value for frame in app.dataframe)
    assert len(table) == 3
    assert set(table.kind) == {"pre-training"}
    assert "status" not in table, "every run is finished"
    assert {"step", "metric", "value"} <= set(stored)
    assert {"learning_rate", "norm", "corpus", "steps"} <= set(config.setting)
    assert any("--variants bert_a" in code.value for code in app.code)
    (made_by,) = (table.value for table in app.table)
    assert {"made", "code", "versions", "file"} <= set(made_by.index)
    assert "python" in shown(made_by.loc["versions"].item())
    assert figures(app)[0].startswith("Added once, seed")
    total = next(text.value.split(" of ")[1].split()[0] for text in app.caption if "Click at the left" in text.value)
    (held,) = [text.value for text in app.markdown if "The store holds" in text.value]
    assert held.startswith(f"The store holds {int(total):,} runs, made ")


def test_a_run_without_a_curve_has_none(results):
    app = opened("runs", kind="costs")
    fine(app)
    assert figures(app) == []
    assert any("No setting is stored" in caption.value for caption in app.caption)


def test_runs_open_on_a_chart_of_one_preset_with_the_table_folded(results):
    app = opened("runs")
    fine(app)
    strip, curve = figures(app)
    assert strip == "Final losses by recipe cpu"
    run = read.query("SELECT * FROM pretrainings WHERE run_id = ?", [app.session_state["runs.run"]]).iloc[0]
    assert curve.endswith(f", seed {run.seed}")
    assert len(next(frame.value for frame in app.dataframe if "kind" in frame.value)) > 7, "every kind is in the table"
    assert len(figures(opened("runs", variant="bert_a"))) == 1, "one variant has a table in its place"


def test_a_filter_forgets_the_run_that_it_hides(results):
    app = opened("runs")
    run = app.selectbox(key="runs.run").options[-1]
    app.selectbox(key="runs.run").select_index(len(app.selectbox(key="runs.run").options) - 1).run()
    app.selectbox(key="runs.kind").select("costs").run()
    fine(app)
    assert run not in app.selectbox(key="runs.run").options


@pytest.mark.parametrize("parameters", [{"run": "![](http://x)"}, {"kind": "nobody"}, {"variant": "bert_z"}])
def test_a_run_that_is_not_there_is_said(results, parameters):
    app = opened("runs", **parameters)
    assert not app.exception
    assert len(app.warning) == 1
    assert "](http" not in app.warning[0].value


def test_without_runs_the_page_says_so(nothing):
    app = opened("runs")
    fine(app)
    assert any("python -m analysis ablate" in shown(text.value) for text in (*app.caption, *app.info))


def test_a_recipe_that_is_not_there_is_said_under_costs_too():
    app = opened("experiments", part="costs", preset="xyz")
    assert not app.exception
    (said,) = [text for one in app.warning if "'xyz'" in (text := shown(one.value))]
    shown_recipe = app.session_state["experiments.preset"]
    assert said.endswith(f"'{shown_recipe}' is shown.")
    assert not opened("experiments", part="costs", preset=shown_recipe).warning


def test_a_row_that_another_recipe_has_is_led_to_and_an_unknown_one_is_named():
    app = opened("experiments", part="board", preset="cpu2", row="every_layer_attention")
    [led] = [button for button in app.button if "was not trained by this recipe" in button.label]
    assert "width128" in led.label
    there = led.click().run()
    assert there.query_params["preset"] == "width128"
    unknown = opened("experiments", part="board", preset="cpu2", row="no_such_variant")
    assert any("has no row “no_such_variant”" in shown(one.value) for one in unknown.warning)
    assert not unknown.error
    near = opened("experiments", part="board", preset="width128", row="apart_one")
    (said,) = [text for one in near.warning if "has no row" in (text := shown(one.value))]
    assert said.partition("nearest names: ")[2].startswith("“Apart, one matrix"), "by the names on the board"


@pytest.mark.parametrize(("row", "statement"), [("relative_only", "C22f"), ("sinusoidal", "C15e")])
def test_a_row_that_later_rules_trained_with_seeds_of_their_own_is_said_to_be_so(row: str, statement: str) -> None:
    app = opened("experiments", part="board", preset="width128", row=row)
    fine(app)
    assert not [button for button in app.button if "was not trained by this recipe" in button.label]
    links = [link.proto.label for link in app.get("page_link") if statement in link.proto.label]
    assert len(links) == 1
    assert "5 seeds of its own" in links[0]
    (apart,) = [text for one in app.caption if "not ranked" in (text := shown(one.value))]
    assert f"({statement}, " in apart


def test_a_recipe_that_there_is_none_of_gives_way_to_the_judged_one() -> None:
    app = opened("experiments", part="curves", preset="nonsense")
    assert ["'width128' is shown" in warning.value for warning in app.warning] == [True]
    assert app.selectbox(key="experiments.preset").value == "width128"


def test_the_link_to_the_other_recipe_s_board_is_in_the_address_and_holds_after_a_reload() -> None:
    app = opened("experiments", preset="width128")
    [other] = [button for button in app.button if button.label.startswith("In recipe cpu2")]
    there = other.click().run()
    assert there.session_state["experiments.preset"] == "cpu2"
    assert there.query_params["preset"] == "cpu2"
    assert opened("experiments", preset="cpu2").session_state["experiments.preset"] == "cpu2"
