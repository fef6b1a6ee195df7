"""Proves that our own checkpoints open in the live probe: terms add up to their scores, variant by variant, and a
variant without cross terms has none.

The reference is the pattern of the model's own eager pass, which does not go through the capture.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from bert_export import to_bert
from specimens import PAIR, TEXT, tiny_tokenizer
from transformers import BertModel

from analysis.ablation.encoder import AddendConfig, AddendForMaskedLM, AddendModel, draw_weights
from analysis.ablation.variants import VARIANTS
from analysis.core.errors import ModelError
from analysis.measurements.terms import TERMS, decompose
from analysis.models.families import FAMILIES
from analysis.models.load import load
from analysis.models.source import resolve

SHAPE = {"vocab_size": 25, "hidden_size": 40, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 16}
TAKEN = [
    name for name, v in VARIANTS.items() if FAMILIES["addend"].refusal(AddendConfig(**v.settings).to_dict()) is None
]
REFUSED = sorted(set(VARIANTS) - set(TAKEN))


def made(name: str, **more: Any) -> AddendModel:
    fields = VARIANTS[name].fields(hidden_size=40, heads=4)
    if fields.get("window"):
        fields["window"] = 2
    model = AddendForMaskedLM(
        AddendConfig(**{**SHAPE, "initializer_range": 0.4, "max_position_embeddings": 40, **fields, **more})
    )
    draw_weights(model, 0)
    rng = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 1:
                weight.normal_(0.3, 0.5, generator=rng)
    return model.addend.eval()


def eager_pattern(model: AddendModel, texts: tuple[str, str | None]) -> np.ndarray:
    inputs = tiny_tokenizer()(*texts, return_tensors="pt")
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        pattern = model(**inputs, output_attentions=True).attentions[0][0]
    model.set_attn_implementation(before)
    return pattern.numpy()


def test_which_variants_are_taken_is_what_is_promised() -> None:
    assert REFUSED == [
        "causal_polar", "deberta", "multiply", "recurrent", "tupe_r"
    ]  # fmt: skip


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("texts", [(TEXT, None), PAIR], ids=["text", "pair"])
@pytest.mark.parametrize("name", TAKEN)
def test_the_terms_add_up(name: str, texts: tuple[str, str | None], norm: str) -> None:
    model = made(name, norm=norm).double()
    got = decompose(model, tiny_tokenizer(), *texts)
    np.testing.assert_allclose(got.pattern, eager_pattern(model, texts), rtol=0, atol=1e-12)
    assert got.max_error < 1e-12 * np.ptp(got.scores)
    assert got.pattern_error < 1e-12
    shares = np.stack(list(got.shares().values()))
    np.testing.assert_allclose(shares.sum(0), 1, atol=1e-9)


CROSS = ("word_to_position", "position_to_word")


@pytest.mark.parametrize("name", TAKEN)
def test_cross_terms_are_there_or_not_as_the_variant_says(name: str) -> None:
    got = decompose(made(name).double(), tiny_tokenizer(), TEXT)
    cross = max(np.abs(got.terms[term]).max() for term in CROSS)
    own = np.abs(got.terms["position_to_position"]).max()
    if VARIANTS[name].settings.get("untied") in ("own", "word") or name == "concat_blocked":
        assert cross < 1e-12, "a cross term"
        assert own > 0.1
    elif "position" in VARIANTS[name].settings or VARIANTS[name].settings.get("untied"):
        assert cross > 0.01
        assert own > 0.01
    else:
        assert cross == own == 0


def test_bert_a_has_berts_terms() -> None:
    ours = AddendForMaskedLM(AddendConfig(**SHAPE, **VARIANTS["bert_a"].settings, variant="bert_a"))
    draw_weights(ours, 3)
    theirs = to_bert(ours).base_model.eval()
    assert isinstance(theirs, BertModel)
    a, b = (decompose(model, tiny_tokenizer(), *PAIR) for model in (ours.addend.eval(), theirs))
    for term in TERMS:
        np.testing.assert_allclose(a.terms[term], b.terms[term], atol=1e-6)


def test_a_causal_model_looks_back_alone() -> None:
    got = decompose(made("causal_bert_a").double(), tiny_tokenizer(), TEXT)
    assert got.attended is not None
    assert (got.pattern[:, ~got.attended] == 0).all()
    assert np.triu(got.pattern, 1).max() == 0
    windowed = decompose(made("window").double(), tiny_tokenizer(), TEXT)
    assert (windowed.pattern[:, 5, [1, 2, 8, 9]] == 0).all()
    assert (windowed.pattern[:, 5, [0, 3, 7]] > 0).all()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_sum_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(ModelError, match=r"is refused: .*\. Choose another variant\."):
        decompose(made(name), tiny_tokenizer(), TEXT)


@pytest.mark.parametrize("name", ["tupe_a", "causal_no_position", "concat_20"])
def test_a_checkpoint_in_a_folder_opens(name: str, tmp_path: Path) -> None:
    model = made(name)
    whole = AddendForMaskedLM(model.config)
    whole.addend.load_state_dict({k: v for k, v in model.state_dict().items() if "pooler" not in k}, strict=False)
    whole.half().save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    loaded = load(resolve(str(tmp_path)), device="cpu")
    got = decompose(loaded.model, loaded.tokenizer, TEXT)
    assert got.relative_error < 1e-5
    assert got.attends == ("causal" if name.startswith("causal") else "all")
