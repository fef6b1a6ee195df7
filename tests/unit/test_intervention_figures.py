"""Proves that the figures of interventions show the model's own numbers, that a link says all that a run needs, and
that a corpus run pools what single texts give.

Numbers are compared with `intervene` on one text and with NumPy; the stored figure with the committed results file.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_values import drawn_rows
from specimens import PAIR, TEXT, tiny_bert, tiny_tokenizer
from transformers import BertForMaskedLM

from analysis.core import default_model
from analysis.core.errors import InterventionError, LinkError, NoResults, UnknownName
from analysis.figures import FIGURES, drawing
from analysis.figures.interventions.one_text import APART
from analysis.links import VIEWS, link, parse as parse_link
from analysis.measurements.interventions.corpus import ROTARY, STANDARD, intervene_corpus
from analysis.measurements.interventions.kinds import INTERVENTIONS, parse
from analysis.measurements.interventions.run import intervene, permutation_test
from analysis.models.load import Loaded
from analysis.models.source import Source
from analysis.probes.intervention_probe import ORDER, STRENGTHS, InterventionRequest, PermutationRequest
from analysis.store import files, read
from analysis.store.sync import sync

DEFAULTS = VIEWS["interventions"].defaults()


def loaded(model: Any = None) -> Loaded:
    model = model or tiny_bert()
    return Loaded(model, tiny_tokenizer(), Source("tiny", "made up", Path("."), model.config.to_dict()), "cpu")


def figure(name: str, made: Any, **params: Any) -> Any:
    built = FIGURES[name].of({**DEFAULTS, "head": 0, **params}, made)
    assert drawing.panels(built), "it can be drawn"
    return built


# Links


def test_a_link_knows_every_intervention_and_the_strength_of_each() -> None:
    assert set(ORDER) == set(INTERVENTIONS)
    for name, kind in INTERVENTIONS.items():
        has = bool(fields(kind))
        assert has == (name in STRENGTHS or name == "drop_terms")
    assert {parse(spec).name for spec in (*STANDARD, *ROTARY)} == set(INTERVENTIONS)


def test_a_link_carries_the_whole_run() -> None:
    state: Mapping[str, Any] = {
        **DEFAULTS,
        "do": ("drop_terms", "shift_positions", "scale_positions"),
        "by": 3,
        "scale": "0.25",
        "terms": ("word_to_word", "bias_to_word"),
        "layers": ("0", "1"),
        "layer": 1,
        "text": TEXT,
    }
    request = InterventionRequest.of(parse_link(link("interventions", state))[1])
    assert request == InterventionRequest.of(state)
    assert request.interventions == (
        "shift_positions:3",
        "scale_positions:0.25",
        "drop_terms:word_to_word+bias_to_word/0+1",
    )
    assert request.layer == 1
    assert [parse(spec).name for spec in request.interventions] == ["shift_positions", "scale_positions", "drop_terms"]
    assert InterventionRequest.head, "outcomes are predictions where there is a head"


def test_nonsense_in_a_link_is_said() -> None:
    with pytest.raises(UnknownName, match="There is no intervention named 'teleport'"):
        InterventionRequest.of({**DEFAULTS, "do": ("teleport",)})
    asked = InterventionRequest.of({**DEFAULTS, "do": ("scale_positions",), "scale": "much", "text": TEXT})
    with pytest.raises(InterventionError, match="expected a number after the colon"):
        asked.run(loaded())


# One text


def test_the_heat_map_and_the_maps_show_the_runs_numbers() -> None:
    made = intervene(loaded(), *PAIR, ["zero_positions"], 1)
    kl = figure("intervention_kl", made)
    assert kl.frame().pivot(index="layer", columns="head", values="kl").to_numpy().tolist() == made.kl.tolist()
    maps = figure("intervention_maps", made, head=3)
    frame = maps.frame().pivot(index=["map", "query"], columns="key", values="value")
    np.testing.assert_array_equal(frame.loc["before"], made.before[3])
    np.testing.assert_array_equal(frame.loc["after"], made.after[3])
    np.testing.assert_allclose(frame.loc["after − before"], made.after[3] - made.before[3])
    before, _, difference = (drawn.to_dict()["encoding"]["color"] for drawn in drawing.panels(maps))
    limit = max(made.before[3].max(), made.after[3].max())
    assert (before["scale"]["domain"][0], before["scale"]["domain"][-1]) == (0, limit)
    assert (difference["scale"]["domain"][0], difference["scale"]["domain"][-1]) == (-limit, limit)
    with pytest.raises(LinkError, match="this model has heads 0 to 3"):
        figure("intervention_maps", made, head=4)


def test_without_a_head_the_outcome_is_the_cosine() -> None:
    made = intervene(loaded(), TEXT, None, ["zero_positions"])
    shown = figure("intervention_tokens", made)
    assert shown.frame().cosine.tolist() == made.cosine.tolist()
    assert "no head that predicts tokens" in shown.caption
    assert "zero positions" in shown.caption


def test_a_turn_stands_beside_those_of_other_changes_over_a_corpus() -> None:
    """Of the embedded model they are stored: the angle of the mean cosine; near one another one line has a name."""
    made = InterventionRequest(model=default_model.NAME, text=TEXT, interventions=("zero_positions",)).run()
    shown = figure("intervention_tokens", made)
    effects = FIGURES["intervention_effects"].make({**VIEWS["inside"].defaults(), "model": default_model.NAME}).frame()
    drift = effects[effects.outcome == "drift"].set_index("intervention").value
    for spec in ("shuffle_positions:0", "scale_positions:0.5", "one_position:0"):
        assert f": {np.degrees(np.arccos(1 - drift[spec])):.0f}°" in shown.caption
    datasets = drawing.panels(shown)[0].to_dict()["datasets"].values()
    (turns,) = [sorted(row["turn"] for row in rows) for rows in datasets if set(rows[0]) == {"turn", "written"}]
    assert len(turns) > 2, "the mean, what is unrelated, and a change over a corpus"
    assert (np.diff(turns) >= APART).all()
    assert not figure("intervention_tokens", intervene(loaded(), TEXT, None, ["zero_positions"])).caption.startswith(
        "Over"
    )


@pytest.mark.parametrize("spec", ["zero_positions", "shuffle_positions:3", "shift_positions:0"])
def test_the_title_says_by_how_much_the_outputs_turn(spec: str) -> None:
    made = intervene(loaded(), TEXT, None, [spec])
    shown = figure("intervention_tokens", made)
    angles = np.degrees(np.arccos(np.clip(made.cosine.astype(float), -1, 1)))
    drawn = next(frame for frame in drawn_rows(shown, "turn", "cosine"))
    np.testing.assert_allclose(drawn.turn, angles)
    assert list(drawn.token) == list(made.tokens), "in the order of the text"
    assert shown.finding.startswith("Without positions" if spec == "zero_positions" else f"After “{made.words}”")
    if spec == "shift_positions:0":
        assert shown.finding.endswith("stay where they were, up to rounding")
        return
    assert f"by {angles.mean():.0f}° on average" in shown.finding
    assert shown.finding.endswith(f"“{made.tokens[angles.argmax()]}”: {angles.max():.0f}°")


def test_with_a_head_the_outcome_is_what_it_predicts() -> None:
    made = intervene(loaded(tiny_bert(BertForMaskedLM)), TEXT, None, ["shuffle_positions:3"])
    assert made.predictions is not None
    shown = figure("intervention_tokens", made)
    frame = shown.frame()
    assert frame.loss_before.tolist() == made.predictions.before.tolist()
    np.testing.assert_allclose(frame.probability_after, np.exp(-made.predictions.after))
    assert f"mean {made.predictions.before.mean():.3f} before" in shown.caption
    assert "--do shuffle_positions:3" in shown.command


def test_the_permutation_figure_says_what_was_found() -> None:
    made = permutation_test(loaded(tiny_bert().double()), *PAIR, 2)
    shown = figure("intervention_permutation", made, seed=2)
    assert shown.frame().off.tolist() == made.off.tolist()
    assert "does nothing else, up to rounding" in shown.caption
    assert f"{made.off.max():.1e}" in shown.caption
    assert "--permute 2" in shown.command
    assert PermutationRequest.of({**DEFAULTS, "seed": 2}).seed == 2


# A corpus

TEXTS = [(TEXT, None), PAIR, ("the cat .", None), ("a dog ran on the hill .", None)]


def corpus_run(data: Path, model: Any, specs: tuple[str, ...] = STANDARD) -> tuple[pd.DataFrame, dict[str, Any]]:
    _, table, run = files.read(intervene_corpus(loaded(model), TEXTS, "made_up", specs=specs))
    return table.to_pandas(), run


def test_a_corpus_pools_the_tokens_of_its_texts(data: Path) -> None:
    model = tiny_bert()
    rows, run = corpus_run(data, model)
    alone = [intervene(loaded(model), *pair, ["swap_positions:sinusoidal"]) for pair in TEXTS]
    found = rows[rows.intervention == "swap_positions:sinusoidal"].set_index(["outcome", "layer"])
    cosine = np.concatenate([made.cosine for made in alone])
    assert found.loc[("cosine", slice(None)), "value"].item() == pytest.approx(cosine.mean(), abs=1e-6)
    lengths = [len(made.tokens) for made in alone]
    for layer in range(2):
        expected = np.average([made.kl[layer].mean() for made in alone], weights=lengths)
        assert found.loc[("attention_kl", layer), "value"] == pytest.approx(expected, rel=1e-5)
    assert (found.tokens == sum(lengths)).all()
    assert (found.texts == len(TEXTS)).all()
    assert set(rows.outcome) == {"cosine", "attention_kl"}
    assert (rows.low <= rows.value + 1e-9).all()
    assert (rows.value <= rows.high + 1e-9).all()
    assert set(rows.intervention) == set(STANDARD)
    assert run["config"]["left_out"] == {}
    assert run["command"] == "python -m analysis intervene --model tiny --corpus made_up"


def test_a_corpus_of_a_model_with_a_head_has_losses(data: Path) -> None:
    model = tiny_bert(BertForMaskedLM)
    rows, _ = corpus_run(data, model, ("zero_positions",))
    alone = [intervene(loaded(model), *pair, ["zero_positions"]).predictions for pair in TEXTS]
    before, after = (np.concatenate([getattr(p, name) for p in alone if p]) for name in ("before", "after"))
    values = rows[rows.layer.isna()].set_index(["intervention", "outcome"]).value
    assert values["", "loss"] == pytest.approx(before.mean(), abs=1e-5)
    assert values["zero_positions", "loss_change"] == pytest.approx((after - before).mean(), abs=1e-5)


def test_what_a_text_cannot_take_leaves_the_others_in(data: Path) -> None:
    """Of 40 positions, a shift by 20 leaves room for the short texts alone."""
    rows, run = corpus_run(data, tiny_bert(), ("shift_positions:30", "zero_positions"))
    texts = rows[rows.layer.isna() & (rows.outcome == "cosine")].set_index("intervention").texts
    assert texts["zero_positions"] == 4
    assert 0 < texts["shift_positions:30"] < 4
    assert "cannot be shifted by 30" in run["config"]["left_out"]["shift_positions:30"]


def test_the_stored_figure_takes_the_newest_run_and_says_how_to_make_one(data: Path) -> None:
    sync({})
    with pytest.raises(NoResults, match="python -m analysis intervene --model tiny"):
        FIGURES["intervention_effects"].of({**DEFAULTS, "model": "tiny"})
    rows, run = corpus_run(data, tiny_bert())
    sync({})
    shown = FIGURES["intervention_effects"].of({**DEFAULTS, "model": "tiny"})
    assert drawing.panels(shown)
    got = shown.frame().set_index(["intervention", "outcome"])
    expected = rows[rows.layer.isna()].set_index(["intervention", "outcome"])
    for spec in STANDARD:
        assert got.value[spec, "attention_kl"] == expected.value[spec, "attention_kl"]
        assert got.value[spec, "drift"] == pytest.approx(1 - expected.value[spec, "cosine"])
        assert got.low[spec, "drift"] == pytest.approx(1 - expected.high[spec, "cosine"])
        assert got.done[spec, "drift"] == run["config"]["said"][spec]
    assert json.loads(json.dumps(shown.provenance))["run"].startswith(run["run_id"])


def test_the_committed_effects_are_whole(store: Path) -> None:
    found = read.query("SELECT * FROM intervention_effects WHERE model = ?", [default_model.NAME])
    assert set(found.intervention) == set(STANDARD)
    assert ((found.low <= found.value + 1e-12) & (found.value <= found.high + 1e-12)).all()
    layers = found[found.outcome == "attention_kl"].groupby("intervention").layer.nunique()
    assert (layers == 6).all()
    values = found[found.layer.isna()].set_index(["intervention", "outcome"]).value
    assert values["zero_positions", "attention_kl"] > values["scale_positions:0.5", "attention_kl"] > 0
    assert values["zero_positions", "cosine"] < values["scale_positions:0.5", "cosine"] < 1
