"""Interventions on architectures that no family knows do what the same change does to transformers' own pass."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from family_specimens import UNKNOWN_SHAPE as SHAPE, randomised
from specimens import TEXT, tiny_tokenizer
from tiny_tokenizers import byte_level
from transformers import (
    BioGptConfig,
    BioGptForCausalLM,
    ErnieConfig,
    ErnieModel,
    JinaEmbeddingsV3Config,
    JinaEmbeddingsV3Model,
    PhiConfig,
    PhiForCausalLM,
    XLNetConfig,
    XLNetModel,
)

from analysis.core.errors import InterventionError, ModelError
from analysis.measurements.interventions.corpus import intervene_corpus
from analysis.measurements.interventions.run import intervene, permutation_test
from analysis.models.families import FAMILIES
from analysis.models.inferred_family import infer_family
from analysis.models.load import Loaded
from analysis.models.source import Source
from analysis.probes.intervention_probe import InterventionRequest, PermutationRequest
from analysis.store import files


def loaded(model: Any) -> Loaded:
    kind = model.config.model_type
    assert kind not in FAMILIES
    return Loaded(
        randomised(model).double(), tiny_tokenizer(), Source("new", "r1", Path(), {"model_type": kind}), "cpu"
    )


def own(model: Any, **more: Any) -> Any:
    """transformers' own eager pass of the text."""
    model.set_attn_implementation("eager")
    inputs = dict(tiny_tokenizer()(TEXT, return_tensors="pt")) | more
    if "token_type_ids" in inputs and model.config.model_type != "ernie":
        del inputs["token_type_ids"]
    with torch.no_grad():
        return model(**inputs, output_attentions=True, output_hidden_states=True)


def changed(model: Any, name: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A copy whose table is another."""
    other = copy.deepcopy(model)
    table = other.get_parameter(name)
    with torch.no_grad():
        table.copy_(change(table.clone()))
    return other


def ernie() -> Any:
    return ErnieModel(ErnieConfig(**SHAPE, type_vocab_size=2))


def test_positions_that_are_added_are_found_and_zeroed() -> None:
    given = loaded(ernie())
    made = intervene(given, TEXT, specs=["zero_positions"], layer=1)
    model: Any = given.model
    expected = own(changed(model, "embeddings.position_embeddings.weight", torch.zeros_like))
    before = own(model)
    np.testing.assert_allclose(made.before, before.attentions[1][0], atol=1e-10)
    np.testing.assert_allclose(made.after, expected.attentions[1][0], atol=1e-10)
    cosine = torch.cosine_similarity(before.last_hidden_state[0], expected.last_hidden_state[0], dim=-1)
    np.testing.assert_allclose(made.cosine, cosine, atol=1e-6)


def test_segments_are_found_and_zeroed() -> None:
    given = loaded(ernie())
    made = intervene(given, TEXT, specs=["zero_segment"], layer=2)
    expected = own(changed(given.model, "embeddings.token_type_embeddings.weight", torch.zeros_like))
    np.testing.assert_allclose(made.after, expected.attentions[2][0], atol=1e-10)


def test_positions_are_shifted_in_a_table_that_begins_elsewhere() -> None:
    """BioGPT's rows are two further on than its positions, and its table is a class of its own."""
    given = loaded(BioGptForCausalLM(BioGptConfig(**SHAPE, max_position_embeddings=64)))
    made = intervene(given, TEXT, specs=["shift_positions:3"], layer=2)
    expected = own(changed(given.model, "biogpt.embed_positions.weight", lambda table: table.roll(-3, 0)))
    np.testing.assert_allclose(made.after, expected.attentions[2][0], atol=1e-10)
    assert made.predictions is not None
    assert made.predictions.kind == "next"


def test_positions_that_turn_queries_and_keys_are_found() -> None:
    given = loaded(PhiForCausalLM(PhiConfig(**SHAPE)))
    made = intervene(given, TEXT, specs=["one_position:2"], layer=1)
    length = len(made.token_info)
    expected = own(given.model, position_ids=torch.full((1, length), 2))
    np.testing.assert_allclose(made.after, expected.attentions[1][0], atol=1e-6)  # Phi turns in float32
    assert np.abs(made.after - made.before).max() > 1e-3


def test_without_positions_an_unknown_encoder_is_equivariant_too() -> None:
    test = permutation_test(loaded(ernie()), TEXT, seed=1)
    assert test.off.max() < 1e-10
    assert test.on.max() > 1e-3


def test_numbers_of_words_that_follow_one_another_are_no_positions() -> None:
    model = randomised(ernie())
    found = infer_family(model, {"input_ids": torch.arange(5, 15)[None]})
    assert {(seed.source, seed.module) for seed in found.source_inputs(model)} == {
        ("position", model.embeddings.position_embeddings),
        ("segment", model.embeddings.token_type_embeddings),
    }


def test_a_model_with_one_kind_of_segment_can_be_watched() -> None:
    config = JinaEmbeddingsV3Config(**SHAPE | {"pad_token_id": 1}, type_vocab_size=1)
    model = randomised(JinaEmbeddingsV3Model(config))
    found = infer_family(model, {"input_ids": torch.arange(5, 15)[None]})
    assert len(found.rotations(model)) == 1


def test_what_needs_terms_or_was_not_seen_is_refused() -> None:
    given = loaded(ernie())
    with pytest.raises(InterventionError, match="needs terms, and new has none"):
        intervene(given, TEXT, specs=["drop_terms:word_to_word"])
    phi = loaded(PhiForCausalLM(PhiConfig(**SHAPE)))
    with pytest.raises(InterventionError, match=r"acts on .*saw none there, only positions that rotate"):
        intervene(phi, TEXT, specs=["zero_segment"])


def test_a_model_whose_attention_cannot_be_seen_is_refused() -> None:
    model = XLNetModel(XLNetConfig(vocab_size=300, d_model=32, n_layer=3, n_head=4, d_inner=24)).eval()
    given = Loaded(model, tiny_tokenizer(), Source("xlnet", "r1", Path(), {"model_type": "xlnet"}), "cpu")
    with pytest.raises(ModelError, match="interface 0 times"):
        intervene(given, TEXT, specs=["zero_positions"])


def test_a_corpus_leaves_out_what_an_unknown_model_has_no_place_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    specs = ("zero_positions", "drop_terms:word_to_word")
    _, table, run = files.read(intervene_corpus(loaded(ernie()), [(TEXT, None)], "one", specs=specs))
    assert {row["intervention"] for row in table.to_pylist()} == {"zero_positions"}
    assert "needs terms" in run["config"]["left_out"]["drop_terms:word_to_word"]


def test_a_link_to_a_folder_of_an_unknown_architecture_opens(tmp_path: Path) -> None:
    randomised(PhiForCausalLM(PhiConfig(**SHAPE))).save_pretrained(tmp_path)
    byte_level().save_pretrained(tmp_path)
    asked = {"model": str(tmp_path), "revision": "", "text": TEXT, "pair": "", "layer": 2, "truncate": False}
    made = InterventionRequest.of({**asked, "do": ("shuffle_positions",), "seed": 1}).run()
    assert made.interventions == ("shuffle_positions:1",)
    assert made.kl.max() > 1e-4
    assert PermutationRequest.of({**asked, "do": (), "seed": 1}).run().causal
