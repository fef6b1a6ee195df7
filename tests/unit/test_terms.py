"""Proves that the sixteen terms are the model's own scores taken apart, and that the model is left as it was.

The reference is transformers alone: the outputs of its query and key projections, read with hooks, and
the attention probabilities that its eager pass returns. Neither passes through our attention function.
"""

import copy
import xml.etree.ElementTree as ET
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from specimens import LONG, PAIR, TEXT, embedded_eager, embedded_loaded, tiny_bert, tiny_tokenizer
from torch import nn
from transformers import BertForMaskedLM, BertForSequenceClassification, BertModel

from analysis.core.errors import ModelError
from analysis.measurements.terms import SOURCES, TERMS, decompose
from analysis.models.capture import IMPLEMENTATION
from analysis.models.families import FAMILIES
from analysis.streams import rules
from analysis.streams.tensor import decomposed, stacked

TINY = {
    "plain": {},
    "one segment, dimensions of 4": {
        "hidden_size": 12,
        "num_attention_heads": 3,
        "type_vocab_size": 1,
        "layer_norm_eps": 1e-3,
    },
    "one head, gain of 20": {"hidden_size": 64, "num_attention_heads": 1, "type_vocab_size": 3, "norm_scale": 20.0},
    "eight heads of 1, gain of 0.001": {"hidden_size": 8, "num_attention_heads": 8, "norm_scale": 1e-3},
    "layers 1": {"num_hidden_layers": 1, "hidden_size": 48, "num_attention_heads": 2, "seed": 1},
}
WITH_SEGMENTS = [name for name in TINY if TINY[name].get("type_vocab_size") != 1]
EMBEDDED_TEXTS = {
    "sentence": ("The box of old postcards is on the top shelf.", None),
    "pair": ("A man is playing a guitar.", "Nobody plays the guitar, unhappily."),
    "one word": ("Hello", None),
    "not Latin": ("Ωμέγα 数学 🙂 naïve", None),
    "512 tokens": ("Every word stands somewhere, and somewhere else it would be another. " * 60, None),
}


def reference(model: Any, inputs: dict[str, torch.Tensor]) -> tuple[np.ndarray, np.ndarray]:
    """Scores and pattern of layer 0 (head, query, key), from transformers' own eager pass."""
    eager = model if model.config._attn_implementation == "eager" else copy.deepcopy(model)
    eager.set_attn_implementation("eager")
    attention = eager.base_model.encoder.layer[0].attention.self
    seen: dict[str, torch.Tensor] = {}
    hooks = [
        getattr(attention, name).register_forward_hook(lambda _m, _i, out, name=name: seen.update({name: out[0]}))
        for name in ("query", "key")
    ]
    with torch.no_grad():
        told = eager(**inputs, output_attentions=True)
    for hook in hooks:
        hook.remove()
    query, key = (
        seen[name].double().numpy().reshape(len(seen[name]), eager.config.num_attention_heads, -1).swapaxes(0, 1)
        for name in ("query", "key")
    )
    scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])
    return scores, told.attentions[0][0].double().numpy()


def inputs_of(tokenizer: Any, text: str, pair: str | None = None) -> dict[str, torch.Tensor]:
    return dict(tokenizer(text, pair, return_tensors="pt", truncation=True, max_length=512))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["fp32", "fp64"])
@pytest.mark.parametrize(("name", "texts"), [*((n, (TEXT, None)) for n in TINY), *((n, PAIR) for n in WITH_SEGMENTS)])
def test_terms_of_tiny_models_sum_to_their_scores(name, texts, dtype):
    model = tiny_bert(**TINY[name]).to(dtype)
    made = decompose(model, tiny_tokenizer(), *texts)
    scores, pattern = reference(model, inputs_of(tiny_tokenizer(), *texts))
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    within = partial(np.testing.assert_allclose, rtol=0, atol=tolerance * np.ptp(scores))
    within(made.scores, scores)
    within(sum(made.terms.values()), scores)
    within(made.total(), scores)
    np.testing.assert_allclose(made.pattern, pattern, rtol=0, atol=max(tolerance, 1e-12))
    assert made.terms["word_to_word"].dtype == made.scores.dtype == np.dtype(str(dtype).removeprefix("torch."))


@pytest.mark.parametrize("name", EMBEDDED_TEXTS)
def test_terms_of_the_embedded_model_sum_to_its_scores(name):
    loaded = embedded_loaded()
    made = decompose(loaded.model, loaded.tokenizer, *EMBEDDED_TEXTS[name], truncate=True)
    inputs = inputs_of(loaded.tokenizer, *EMBEDDED_TEXTS[name])
    assert len(made.tokens) == inputs["input_ids"].shape[1] == (512 if name == "512 tokens" else len(made.tokens))
    scores, pattern = reference(embedded_eager(), inputs)
    spread = np.ptp(scores)
    np.testing.assert_allclose(made.total(), scores, rtol=0, atol=1e-5 * spread)
    np.testing.assert_allclose(made.scores, scores, rtol=0, atol=1e-5 * spread)
    np.testing.assert_allclose(made.pattern, pattern, rtol=0, atol=1e-5)
    np.testing.assert_allclose(made.pattern.sum(-1), 1, rtol=0, atol=1e-5)
    # A softmax's logarithm is the score up to a constant of its row.
    seen = pattern > 1e-30  # a float32 exponential is coarse, then 0, below
    assert seen.mean() > 0.8
    below = made.scores - made.scores.max(-1, keepdims=True)
    logs = np.log(np.where(seen, pattern, 1)) - np.log(pattern.max(-1, keepdims=True))
    np.testing.assert_allclose(below[seen], logs[seen], rtol=0, atol=1e-5 * spread)
    assert made.relative_error < 1e-5
    assert made.pattern_error < 1e-5


def test_terms_of_the_embedded_model_in_float64():
    model, tokenizer = embedded_eager(torch.float64), embedded_loaded().tokenizer
    made = decompose(model, tokenizer, *EMBEDDED_TEXTS["pair"])
    scores, pattern = reference(model, inputs_of(tokenizer, *EMBEDDED_TEXTS["pair"]))
    np.testing.assert_allclose(made.total(), scores, rtol=0, atol=1e-12 * np.ptp(scores))
    np.testing.assert_allclose(made.pattern, pattern, rtol=0, atol=1e-12)
    assert made.max_error < 1e-12 * np.ptp(scores)


# What each term is ---------------------------------------------------------------------------------------


def written_out(model: Any, inputs: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """The sixteen terms in float64, from the weights by name and the formula of the method."""
    weights = {name: tensor.double().numpy() for name, tensor in model.state_dict().items()}
    table = {part: weights[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")}
    ids = inputs["input_ids"][0].numpy()
    sources = [table["word"][ids], table["position"][: len(ids)], table["token_type"][inputs["token_type_ids"][0]]]
    whole = np.sum(sources, axis=0)
    sigma = np.sqrt(whole.var(-1, keepdims=True) + model.config.layer_norm_eps)
    gamma, beta = weights["embeddings.LayerNorm.weight"], weights["embeddings.LayerNorm.bias"]
    normed = [gamma * (x - x.mean(-1, keepdims=True)) / sigma for x in sources] + [np.broadcast_to(beta, whole.shape)]
    size = model.config.hidden_size // model.config.num_attention_heads
    projected = {}
    for side in ("query", "key"):
        where = f"encoder.layer.0.attention.self.{side}"
        mapped = [x @ weights[f"{where}.weight"].T for x in normed]
        mapped[3] = mapped[3] + weights[f"{where}.bias"]
        projected[side] = dict(zip(SOURCES, mapped, strict=True))
    heads = [slice(h * size, (h + 1) * size) for h in range(model.config.num_attention_heads)]
    return {
        f"{a}_to_{b}": np.stack([projected["query"][a][:, h] @ projected["key"][b][:, h].T for h in heads]) / size**0.5
        for a in SOURCES
        for b in SOURCES
    }


def test_each_term_of_the_embedded_model_is_what_the_formula_says():
    model, tokenizer = embedded_eager(torch.float64), embedded_loaded().tokenizer
    made = decompose(model, tokenizer, *EMBEDDED_TEXTS["pair"])
    expected = written_out(model, inputs_of(tokenizer, *EMBEDDED_TEXTS["pair"]))
    assert list(made.terms) == list(TERMS) == list(expected)
    for term, scores in expected.items():
        np.testing.assert_allclose(made.terms[term], scores, rtol=0, atol=1e-12 * np.ptp(made.scores), err_msg=term)
        np.testing.assert_array_equal(made.terms[term][3], made.terms_of(term, 3))


@pytest.mark.parametrize("name", WITH_SEGMENTS)
def test_each_term_of_a_tiny_model_is_what_the_formula_says(name):
    model = tiny_bert(**TINY[name]).double()
    made = decompose(model, tiny_tokenizer(), *PAIR)
    for term, scores in written_out(model, inputs_of(tiny_tokenizer(), *PAIR)).items():
        np.testing.assert_allclose(made.terms[term], scores, rtol=0, atol=1e-12 * np.ptp(made.scores), err_msg=term)


def test_what_has_a_bias_as_its_key_moves_no_attention():
    loaded = embedded_loaded()
    made = decompose(loaded.model, loaded.tokenizer, *EMBEDDED_TEXTS["sentence"])
    for source in SOURCES:
        term = f"{source}_to_bias"
        assert (np.ptp(made.terms[term], axis=-1) <= 1e-6 * np.abs(made.terms[term]).max()).all()
        assert np.abs(made.shares()[term]).max() < 1e-6
        np.testing.assert_array_equal(made.effects()[term], 0)
        np.testing.assert_array_equal(made.top1_agreement()[term], 1)
    assert np.abs(made.terms["word_to_bias"]).max() > 0.1  # it is not small: it is constant
    key = made.key[SOURCES.index("bias")]
    np.testing.assert_array_equal(key, np.broadcast_to(key[:, :1], key.shape))


def normalise_each_alone(_func: Any, x: Any, shape: Any, weight: Any, bias: Any, eps: Any) -> Any:
    """The mistake of a published script: every part through the LayerNorm with statistics of its own."""
    alone = [None if p is None else nn.functional.layer_norm(p, shape, weight, bias, eps) for p in x.parts]
    return decomposed(nn.functional.layer_norm(x.as_subclass(torch.Tensor), shape, weight, bias, eps), alone)


def test_normalising_each_part_alone_is_off_by_everything(monkeypatch):
    """The tests above can fail, and the error shown beside a map tells the truth."""
    loaded = embedded_loaded()
    text = EMBEDDED_TEXTS["sentence"]
    right = decompose(loaded.model, loaded.tokenizer, *text)
    monkeypatch.setitem(rules.RULES, "layer_norm", normalise_each_alone)
    wrong = decompose(loaded.model, loaded.tokenizer, *text)
    scores, pattern = reference(embedded_eager(), inputs_of(loaded.tokenizer, *text))
    off = np.abs(wrong.total() - scores).max()
    assert off / np.ptp(scores) > 0.9
    assert wrong.max_error == pytest.approx(off, rel=1e-4)
    assert wrong.relative_error == pytest.approx(off / np.ptp(scores), rel=1e-4)
    assert wrong.pattern_error > 0.5
    assert right.relative_error < 1e-5
    np.testing.assert_allclose(wrong.pattern, pattern, atol=1e-5)  # the pattern is the model's own all the same


def test_layer_norm_statistics_are_those_of_the_whole():
    torch.manual_seed(0)
    norm = nn.LayerNorm(16, eps=0.1, dtype=torch.float64)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    parts = torch.randn(3, 5, 16, dtype=torch.float64) * torch.tensor([1.0, 30.0, 0.01])[:, None, None]
    with torch.no_grad():
        split = stacked(norm(decomposed(parts.sum(0), [*parts, None])), 4)
        torch.testing.assert_close(split.sum(0), norm(parts.sum(0)), rtol=0, atol=1e-13)
        torch.testing.assert_close(split[-1], norm.bias.expand(5, 16))


# The model is left as it was -----------------------------------------------------------------------------


@pytest.mark.parametrize("implementation", ["eager", "sdpa", IMPLEMENTATION])
@pytest.mark.parametrize("kind", [BertModel, BertForMaskedLM, BertForSequenceClassification])
def test_the_model_computes_afterwards_what_it_computed_before(kind, implementation):
    model: Any = tiny_bert(kind)
    model.set_attn_implementation(implementation)
    inputs = inputs_of(tiny_tokenizer(), *PAIR)
    with torch.no_grad():
        before = model(**inputs)[0]
    made = decompose(model, tiny_tokenizer(), *PAIR)
    assert model.config._attn_implementation == implementation
    assert model.base_model.config._attn_implementation == implementation
    with torch.no_grad():
        torch.testing.assert_close(model(**inputs)[0], before, rtol=0, atol=0)
    scores, _ = reference(model, inputs)
    np.testing.assert_allclose(made.total(), scores, rtol=0, atol=1e-5 * np.ptp(scores))


def test_a_wrapped_model_has_the_terms_of_what_it_wraps():
    wrapped: Any = tiny_bert(BertForMaskedLM)
    made, bare = (decompose(model, tiny_tokenizer(), *PAIR) for model in (wrapped, wrapped.bert))
    np.testing.assert_array_equal(made.query, bare.query)
    np.testing.assert_array_equal(made.scores, bare.scores)


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_an_error_in_the_forward_pass_leaves_the_model_as_it_was(implementation):
    model: Any = tiny_bert()
    model.set_attn_implementation(implementation)

    def fail(*_: object) -> None:
        raise RuntimeError("the lights went out")

    hook = model.encoder.layer[0].attention.self.key.register_forward_hook(fail)
    with pytest.raises(RuntimeError, match="the lights went out"):
        decompose(model, tiny_tokenizer(), TEXT)
    assert model.config._attn_implementation == implementation
    hook.remove()
    assert decompose(model, tiny_tokenizer(), TEXT).relative_error < 1e-5


def test_attention_that_bypasses_the_interface_is_refused_in_a_sentence(monkeypatch):
    model: Any = tiny_bert()
    monkeypatch.setattr(FAMILIES["bert"], "attentions", lambda _model: [nn.Identity()])
    with pytest.raises(ModelError, match=r"BertModel has 1 layers and 0 calls of .* Choose a model"):
        decompose(model, tiny_tokenizer(), TEXT)
    assert model.config._attn_implementation == "sdpa"


def test_a_model_in_training_mode_is_refused_since_dropout_would_change_its_scores():
    model: Any = tiny_bert().train()
    with pytest.raises(ModelError, match=r"training mode.*model\.eval\(\)"):
        decompose(model, tiny_tokenizer(), TEXT)


def test_half_precision_models_are_taken_apart_in_float32():
    model = tiny_bert().to(torch.bfloat16)
    made = decompose(model, tiny_tokenizer(), TEXT)
    assert made.provenance.dtype == "bfloat16"
    assert made.query.dtype == made.scores.dtype == np.float32
    # The error is that of the model's own rounding, and is shown.
    assert 1e-6 < made.relative_error < 0.05


# What is said of the tokens ------------------------------------------------------------------------------


def test_tokens_know_their_words_and_segments():
    made = decompose(tiny_bert(), tiny_tokenizer(), "unhappiness ran", "a cat")
    assert made.tokens == ["[CLS]", "un", "##happi", "##ness", "ran", "[SEP]", "a", "cat", "[SEP]"]
    assert [token.word for token in made.token_info] == [
        None, (0, 0), (0, 0), (0, 0), (0, 1), None, (1, 0), (1, 1), None,
    ]  # fmt: skip
    assert [token.segment for token in made.token_info] == [0, 0, 0, 0, 0, 0, 1, 1, 1]
    assert [token.special for token in made.token_info] == [token in ("[CLS]", "[SEP]") for token in made.tokens]


def test_provenance_and_truncation():
    model = tiny_bert()
    made = decompose(model, tiny_tokenizer(), LONG, truncate=True)
    assert len(made.tokens) == 40
    assert made.tokens[-1] == "[SEP]"
    assert made.provenance.truncated_from == 642
    assert (made.provenance.device, made.provenance.dtype) == ("cpu", "float32")
    short = decompose(model, tiny_tokenizer(), TEXT, truncate=True)
    assert short.provenance.truncated_from is None
    assert short.provenance.text == TEXT
    with pytest.raises(KeyError, match="there is no term 'word_to_wrod'; the terms are word_to_word"):
        short.terms["word_to_wrod"]


def test_a_notebook_shows_the_shares_and_escapes_the_text():
    loaded = embedded_loaded()
    result = decompose(loaded.model, loaded.tokenizer, "a <b>bold</b> claim", layer=0)
    page = ET.fromstring(f"<div>{result._repr_html_()}</div>")
    rows = [[cell.text or "" for cell in row] for row in page.iter("tr")]
    shares = result.shares()
    assert rows[0] == ["head", *(term.replace("_to_", " → ") for term in shares)]
    shown = np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])
    np.testing.assert_allclose(shown, np.array(list(shares.values())).T, atol=0.00501)
    assert "a <b>bold</b> claim" in "".join(page[0].itertext()), "as text, not as markup"
