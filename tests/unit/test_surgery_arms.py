"""The arms of fine-tuned surgery, held against transformers' own models, the formulas, and the frozen rules."""

import copy
import hashlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from specimens import tiny_bert
from torch import Tensor, nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from analysis.measurements.surgery import apply_arm, attention, finetuned
from analysis.measurements.surgery.arms import ARMS, Arm
from analysis.measurements.surgery.tables import directions, tables
from analysis.rules import SURGERIES, surgery_rules

IDS = torch.tensor([[2, 5, 7, 9, 11, 6, 3], [2, 8, 5, 3, 0, 0, 0]])
MASK = (IDS != 0).long()


def encoder(**changes: Any) -> Any:
    model = tiny_bert(num_hidden_layers=3, **changes).double()
    with torch.no_grad():
        model.embeddings.position_embeddings.weight.normal_(std=0.3)
    return model


def mean_positions(model: Any) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    shape = (40, model.config.hidden_size)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for _ in model.encoder.layer]


def operated(name: str) -> tuple[Any, Any]:
    model = encoder()
    changed = copy.deepcopy(model)
    apply_arm.operate(changed, ARMS[name], mean_positions(model))
    return model, changed


def states(model: Any, ids: Tensor = IDS) -> Tensor:
    with torch.no_grad():
        return model(input_ids=ids, attention_mask=MASK[:, : ids.shape[1]]).last_hidden_state


def test_the_intact_arm_is_transformers_own_model() -> None:
    model, changed = operated("minilm_intact")
    torch.testing.assert_close(states(changed)[MASK.bool()], states(model)[MASK.bool()], atol=1e-10, rtol=0)


@pytest.mark.parametrize("name", ["minilm_no_position"])
def test_without_positions_the_order_of_tokens_changes_nothing(name: str) -> None:
    _, changed = operated(name)
    order = torch.tensor([0, 3, 2, 1, 5, 4, 6])
    with torch.no_grad():
        one = changed(input_ids=IDS[:1]).last_hidden_state[:, order]
        other = changed(input_ids=IDS[:1, order]).last_hidden_state
    torch.testing.assert_close(one, other, atol=1e-10, rtol=0)


@pytest.mark.parametrize("name", ["minilm_rotary", "minilm_untied", "minilm_separated", "minilm_no_cross"])
def test_the_others_know_the_order(name: str) -> None:
    _, changed = operated(name)
    order = torch.tensor([0, 3, 2, 1, 5, 4, 6])
    with torch.no_grad():
        one = changed(input_ids=IDS[:1]).last_hidden_state[:, order]
        other = changed(input_ids=IDS[:1, order]).last_hidden_state
    assert float((one - other).abs().max()) > 1e-3


def test_words_and_positions_stay_in_subspaces_of_their_own() -> None:
    model, changed = operated("minilm_separated")
    basis = directions(tables(model).positions, 14)
    found = tables(changed)
    words, positions = (table - table.mean(0) for table in (found.words, found.positions))
    assert float((words @ basis).abs().max()) < 1e-6
    assert float((positions - positions @ basis @ basis.T).abs().max()) < 1e-6


def test_rotary_turns_as_transformers_does() -> None:
    config = LlamaConfig(hidden_size=32, num_attention_heads=4, rope_theta=attention.BASE)
    generator = torch.Generator().manual_seed(2)
    query, key = (torch.randn(2, 4, 9, 8, generator=generator) for _ in range(2))
    cos, sin = LlamaRotaryEmbedding(config)(query, torch.arange(9)[None])
    expected = apply_rotary_pos_emb(query, key, cos, sin)
    found = attention.Rotary(40, 8)(None, query, key)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


def scores_of(change: Any, module: Any, query: Tensor, key: Tensor) -> Tensor:
    new_query, new_key = change(module, query, key)
    return new_query @ new_key.mT


def by_head(x: Tensor) -> Tensor:
    return x.unflatten(-1, (4, -1)).transpose(-3, -2)


def test_no_cross_leaves_the_products_of_like_with_like() -> None:
    """q k' less (content of q)(position of k)' less (position of q)(content of k)', from the projections' weights."""
    model = encoder()
    module, positions = model.encoder.layer[1].attention.self, mean_positions(model)[1]
    hidden = torch.randn(2, 7, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        query, key = by_head(module.query(hidden)), by_head(module.key(hidden))
        far_query, far_key = (by_head(positions[:7] @ part.weight.T) for part in (module.query, module.key))
        cross = (query - far_query) @ far_key.mT + far_query @ (key - far_key).mT
        found = scores_of(attention.NoCross(positions), module, query, key)
    torch.testing.assert_close(found, query @ key.mT - cross)


def test_untied_adds_the_positions_scores_and_trains_projections_of_their_own() -> None:
    model = encoder()
    module, positions = model.encoder.layer[0].attention.self, mean_positions(model)[0]
    change = attention.Untied(positions, module)
    hidden = torch.randn(2, 7, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        query, key = by_head(module.query(hidden)), by_head(module.key(hidden))
        far_query, far_key = (by_head(positions[:7] @ part.weight.T) for part in (module.query, module.key))
        before = scores_of(change, module, query, key)
        torch.testing.assert_close(before, query @ key.mT + far_query @ far_key.mT)
        module.query.weight.zero_()
        torch.testing.assert_close(scores_of(change, module, query, key), before)
        change.query.zero_()
        torch.testing.assert_close(scores_of(change, module, query, key), query @ key.mT)


@pytest.mark.parametrize("name", ARMS)
def test_fine_tuning_leaves_the_tables_and_moves_the_rest(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = encoder().float()
    positions = [one.float() for one in mean_positions(model)]
    monkeypatch.setattr(finetuned, "intact_encoder", lambda: SimpleNamespace(model=model))
    monkeypatch.setattr(finetuned, "mean_positions", lambda: positions)
    torch.manual_seed(0)
    classifier = finetuned.build_classifier(name, 2)
    before = {path: weight.clone() for path, weight in classifier.state_dict().items()}
    trained = [weight for weight in classifier.parameters() if weight.requires_grad]
    adam = torch.optim.AdamW(trained, lr=1e-3)
    for _ in range(3):
        logits = classifier(IDS, MASK, torch.zeros_like(IDS)).logits
        nn.functional.cross_entropy(logits, torch.tensor([0, 1])).backward()
        adam.step()
        adam.zero_grad()
    moved = {path for path, weight in classifier.state_dict().items() if not torch.equal(weight, before[path])}
    still = {path for path in before if "embeddings" in path and path.endswith("embeddings.weight")}
    assert not still & moved
    assert len(still) == 3
    for path in ("head.weight", "encoder.encoder.layer.2.attention.self.value.weight"):
        assert path in moved
    if ARMS[name].attention == "untied":
        assert "encoder.encoder.layer.0.attention.self.surgery.query" in moved
    assert model.encoder.layer[0].attention.self.query.weight.equal(
        encoder().float().encoder.layer[0].attention.self.query.weight
    ), "the model that was copied is not the one that is trained"


def test_pooling_ignores_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    model = encoder().float()
    monkeypatch.setattr(finetuned, "intact_encoder", lambda: SimpleNamespace(model=model))
    monkeypatch.setattr(finetuned, "mean_positions", lambda: [])
    torch.manual_seed(0)
    classifier = finetuned.build_classifier("minilm_intact", 3).eval()
    with torch.no_grad():
        padded = classifier(IDS, MASK, torch.zeros_like(IDS)).logits[1]
        alone = classifier(IDS[1:, :4], MASK[1:, :4], torch.zeros_like(IDS[1:, :4])).logits[0]
    torch.testing.assert_close(padded, alone, atol=1e-5, rtol=0)


def test_rules_name_what_exists_and_their_hash_is_that_of_the_file() -> None:
    rules = surgery_rules()
    assert rules.sha256 == hashlib.sha256(SURGERIES.read_bytes()).hexdigest()
    for one in rules.statements:
        assert {one.arm, one.baseline} <= set(ARMS)
    assert len(rules.seeds) >= 3
    assert len(rules.tasks) >= 4
    assert all(isinstance(arm, Arm) and name == arm.name for name, arm in ARMS.items())
    assert set(rules.able) <= set(rules.tasks)
    assert np.isfinite(rules.margin)
