"""Causal models are told from encoders by what they do, and not by what we call them: `measured_models.causal`."""

from pathlib import Path
from typing import Any

import pytest
from family_specimens import SPECIMENS, randomised
from specimens import tiny_bert, tiny_config
from tiny_tokenizers import byte_level
from transformers import BertModel, Gemma2Config, Gemma2Model, GPT2Config, GPT2Model, Qwen3Config, Qwen3Model

from analysis.measurements.positions.measure import position_map
from analysis.measurements.positions.stored_maps import write
from analysis.measurements.terms.corpus import measure_corpus
from analysis.models.load import Loaded, is_causal
from analysis.models.source import Source
from analysis.store import files, read
from analysis.store.sync import sync

TEXTS = [("The dog chased the cat.", None), ("The cat sat on a mat.", None)]
SMALL: Any = {"vocab_size": 25, "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2}
GATED: Any = SMALL | {"intermediate_size": 16, "num_key_value_heads": 2, "head_dim": 8}


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_model_of_every_family_is_causal_as_its_architecture_is(name: str) -> None:
    assert is_causal(SPECIMENS[name].build()) == SPECIMENS[name].causal


@pytest.mark.parametrize(
    ("build", "causal"),
    [
        (lambda: BertModel(tiny_config(is_decoder=True)), True),
        (lambda: Gemma2Model(Gemma2Config(**GATED)), True),
        (lambda: Qwen3Model(Qwen3Config(**GATED)), True),
        (lambda: Qwen3Model(Qwen3Config(**GATED | {"is_causal": False})), False),
    ],
)
def test_what_the_config_sets_decides_and_not_the_architecture(build: Any, causal: bool) -> None:
    assert is_causal(randomised(build()).eval()) == causal


def gpt2() -> Any:
    return randomised(GPT2Model(GPT2Config(**SMALL | {"vocab_size": 300, "n_positions": 64})))


def loaded(model: Any, name: str) -> Loaded:
    config = model.config.to_dict()
    return Loaded(model.eval(), byte_level(), Source(name=name, revision="r", folder=Path(), config=config), "cpu")


def models() -> dict[Any, Any]:
    return {row.model: row for row in read.query("SELECT * FROM measured_models").itertuples()}


def test_a_measured_gpt_2_counts_as_causal_and_a_bert_does_not(data: Path) -> None:
    """By the conditions that rules are to have: neither is one of ours, so that no name says it."""
    measure_corpus(loaded(gpt2(), "somebody's decoder"), TEXTS, "made_up", name="decoder")
    bert = tiny_bert(vocab_size=300, max_position_embeddings=64)
    measure_corpus(loaded(bert, "somebody's encoder"), TEXTS, "made_up", name="encoder")
    sync({})
    assert {name: (row.causal, row.adds_positions) for name, row in models().items()} == {
        "somebody's decoder": (True, True),
        "somebody's encoder": (False, True),
    }
    runs = read.query("SELECT model, architecture, causal FROM runs ORDER BY model").to_numpy().tolist()
    assert runs == [["somebody's decoder", "gpt2", True], ["somebody's encoder", "bert", False]]
    for condition, names in (("m.causal", ["somebody's decoder"]), ("NOT m.causal", ["somebody's encoder"])):
        rows = read.query(
            "SELECT DISTINCT t.model FROM newest_terms t JOIN measured_models m USING (model) "
            f"WHERE m.adds_positions AND NOT m.images AND {condition} AND t.aggregation = 'head' AND t.layer = 0"
        )
        assert rows.model.tolist() == names


def test_a_file_that_does_not_say_it_is_completed_by_the_models_position_map(data: Path) -> None:
    """Files from before 25 November 2026 lack the field."""
    model = gpt2()
    for position, name in enumerate(("mapped", "never mapped")):
        row = {name: [0.0] for name in files.KINDS["means"].schema.names}
        whole = {"layer": 0, "windows": 1, "length": 1, "counted": 1, "rank": 1}
        lists = {"corpus": ["made_up"], "mean": [[0.0]], "position": [[0.0]]}
        columns = row | {key: [value] for key, value in whole.items()} | lists
        run = files.Run(kind="means", command="x", model=name, created=f"2026-11-0{position + 1}")
        files.write("means", columns, run)
    source = Source("mapped", "r", Path(), {})
    measured = position_map(Loaded(model, byte_level(), source, "cpu"), "The dog chased the cat.")
    write(measured, "made_up", "s1", opened="mapped", name="map")
    sync({})
    assert models()["mapped"].causal
    assert read.query("SELECT causal FROM measured_models WHERE model = 'never mapped'").causal.isna().all()


def test_our_own_models_are_causal_as_their_settings_say(store: Path) -> None:
    """Their files say nothing of it: they are older."""
    found = models()
    assert found["cpu-causal_no_position-0"].causal
    assert not found["cpu-bert_a-0"].causal
    assert not found["dinov2-small"].causal
    assert read.query("SELECT model FROM measured_models WHERE causal IS NULL").empty
