"""Proves each variant's forward pass against something nobody here wrote: transformers' BERT, RoFormer, DeBERTa, T5 and
BLOOM where there is one, and otherwise the formula written out in NumPy and float64.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from bert_export import to_bert
from scipy.special import erf
from torch import nn
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    DebertaConfig,
    DebertaModel,
    RobertaPreLayerNormConfig,
    RobertaPreLayerNormForMaskedLM,
    RoFormerConfig,
    RoFormerModel,
    T5Config,
)
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb, create_sinusoidal_positions
from transformers.models.t5.modeling_t5 import T5Attention

from analysis.ablation.encoder import (
    AddendConfig,
    AddendForCausalLM,
    AddendForMaskedLM,
    AddendForSequenceClassification,
    AddendModel,
    draw_weights,
)
from analysis.ablation.variants import VARIANTS
from analysis.core.errors import AddendError

SHAPE = {
    "vocab_size": 60,
    "hidden_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 80,
    "max_position_embeddings": 24,
    "initializer_range": 0.3,
}
LENGTH = 11


def config(name: str, **more: Any) -> AddendConfig:
    fields = VARIANTS[name].fields(hidden_size=SHAPE["hidden_size"], heads=SHAPE["num_attention_heads"])
    if fields.get("disentangled"):
        fields["disentangled"] = 6  # shorter than the text, so that distances are clipped
    if fields.get("window"):
        fields["window"] = 2
    return AddendConfig(**{**SHAPE, **fields, **more})


def predicts(name: str) -> type[AddendForMaskedLM]:
    """The class of a variant with its head."""
    return AddendForCausalLM if name.startswith("causal") else AddendForMaskedLM


def made(name: str, **more: Any) -> AddendForMaskedLM:
    """A variant in float64 with every weight drawn, norms and biases included."""
    model = predicts(name)(config(name, **more)).double().eval()
    draw_weights(model, 0)
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 1:
                weight.copy_(torch.from_numpy(rng.normal(0.5, 0.5, weight.shape)))
        table = getattr(model.addend.embeddings, "position_embeddings", None)
        if table is not None and table.weight.requires_grad:
            table.weight.copy_(torch.from_numpy(rng.normal(0, 0.7, table.weight.shape)))
    return model


@pytest.fixture
def text() -> dict[str, torch.Tensor]:
    rng = np.random.default_rng(2)
    ids = torch.from_numpy(rng.integers(5, SHAPE["vocab_size"], (3, LENGTH)))
    segments = (torch.arange(LENGTH) > 5).long().expand(3, -1)
    mask = torch.ones(3, LENGTH, dtype=torch.long)
    mask[1, 8:] = 0
    mask[2, 4:] = 0
    return {"input_ids": ids, "token_type_ids": segments, "attention_mask": mask}


# The formulas, in NumPy.


class Written:
    """The encoder written out: one text, no padding, float64; `scores` and `inputs` are what variants differ in."""

    def __init__(self, model: AddendForMaskedLM) -> None:
        self.c = model.config
        self.w = {name: value.numpy() for name, value in model.state_dict().items()}
        self.heads = self.c.num_attention_heads

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        middle = x - x.mean(-1, keepdims=True)
        scaled = middle / np.sqrt((middle**2).mean(-1, keepdims=True) + self.c.layer_norm_eps)
        return scaled * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        bias = self.w.get(f"{name}.bias")
        return x @ self.w[f"{name}.weight"].T + (0 if bias is None else bias)

    def split(self, x: np.ndarray) -> np.ndarray:
        return x.reshape(len(x), self.heads, -1).transpose(1, 0, 2)

    def projected(self, x: np.ndarray, name: str) -> np.ndarray:
        return self.split(self.linear(x, name))

    def run(self, ids: np.ndarray, segments: np.ndarray, inputs: Callable, scores: Callable) -> np.ndarray:
        x = inputs(self, ids, segments)
        for layer in range(self.c.num_hidden_layers):
            at = f"addend.encoder.layer.{layer}"
            if self.c.told_to == "hidden":
                x = x + told(self, len(x))
            s = scores(self, x, f"{at}.attention.self")
            pattern = np.exp(s - s.max(-1, keepdims=True))
            pattern /= pattern.sum(-1, keepdims=True)
            read = x + told(self, len(x)) if self.c.told_to == "values" else x
            mixed = (
                (pattern @ self.projected(read, f"{at}.attention.self.value")).transpose(1, 0, 2).reshape(len(x), -1)
            )
            x = self.after(x + self.linear(mixed, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
            inner = self.linear(x, f"{at}.intermediate.dense")
            inner = inner * 0.5 * (1 + erf(inner / np.sqrt(2)))
            x = self.after(x + self.linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        return x

    def after(self, x: np.ndarray, name: str) -> np.ndarray:
        if not self.c.blocked:
            return self.norm(x, name)
        w = self.c.word_dim
        return np.concatenate([self.norm(x[:, :w], f"{name}.word"), self.norm(x[:, w:], f"{name}.position")], -1)


EMBED = "addend.embeddings"


def words(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    return r.w[f"{EMBED}.word_embeddings.weight"][ids] + r.w[f"{EMBED}.token_type_embeddings.weight"][segments]


def positions(r: Written, n: int) -> np.ndarray:
    return r.w[f"{EMBED}.position_embeddings.weight"][:n]


def absent(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    return r.norm(words(r, ids, segments), f"{EMBED}.LayerNorm")


def added(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    return r.norm(words(r, ids, segments) + positions(r, len(ids)), f"{EMBED}.LayerNorm")


def without_segments(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    return r.norm(r.w[f"{EMBED}.word_embeddings.weight"][ids] + positions(r, len(ids)), f"{EMBED}.LayerNorm")


def fixed(table: Callable[[Written, int], np.ndarray]) -> Callable:
    """Words times the root of the width, plus a table that is no parameter."""

    def inputs(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
        scaled = r.w[f"{EMBED}.word_embeddings.weight"][ids] * np.sqrt(r.c.hidden_size)
        whole = scaled + r.w[f"{EMBED}.token_type_embeddings.weight"][segments] + table(r, len(ids))
        return r.norm(whole, f"{EMBED}.LayerNorm")

    return inputs


def sines(r: Written, n: int) -> np.ndarray:
    d = r.c.hidden_size
    table = np.zeros((n, d))
    for position in range(n):
        for i in range(d // 2):
            table[position, 2 * i] = np.sin(position / 10000 ** (2 * i / d))
            table[position, 2 * i + 1] = np.cos(position / 10000 ** (2 * i / d))
    return table


def normed(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    return absent(r, ids, segments) + r.norm(positions(r, len(ids)), f"{EMBED}.position_LayerNorm")


def multiplied(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    return r.norm(words(r, ids, segments) * positions(r, len(ids)), f"{EMBED}.LayerNorm")


def concatenated(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    return r.norm(np.concatenate([words(r, ids, segments), positions(r, len(ids))], -1), f"{EMBED}.LayerNorm")


def blocked(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    own = r.norm(positions(r, len(ids)), f"{EMBED}.position_LayerNorm")
    return np.concatenate([absent(r, ids, segments), own], -1)


def recurrent(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    """A GRU each way (Cho et al. 2014, with torch's placing of the reset gate)."""
    x = absent(r, ids, segments)
    halves = []
    for end, order in (("", range(len(x))), ("_reverse", range(len(x) - 1, -1, -1))):
        wi, wh, bi, bh = (
            r.w[f"{EMBED}.recurrent.{part}_l0{end}"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        h = np.zeros(wh.shape[1])
        out = np.zeros((len(x), wh.shape[1]))
        for t in order:
            (ri, zi, ni), (rh, zh, nh) = np.split(wi @ x[t] + bi, 3), np.split(wh @ h + bh, 3)
            z = 1 / (1 + np.exp(-(zi + zh)))
            n = np.tanh(ni + 1 / (1 + np.exp(-(ri + rh))) * nh)
            h = (1 - z) * n + z * h
            out[t] = h
        halves.append(out)
    return np.concatenate(halves, -1)


def plain(r: Written, x: np.ndarray, at: str) -> np.ndarray:
    q, k = r.projected(x, f"{at}.query"), r.projected(x, f"{at}.key")
    return q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])


POS = "addend.encoder.position_scores"


def own_positions(r: Written, x: np.ndarray, scale: float, reset: bool, query: str, key: str) -> np.ndarray:
    """TUPE's second term, entry by entry: token i uses row i + 1; theta_1 over row 0, theta_2 over column 0."""
    p = r.norm(r.w[f"{POS}.positions.weight"], f"{POS}.LayerNorm")
    q, k = r.projected(p, query), r.projected(p, key)
    n = len(x)
    out = np.zeros((r.heads, n, n))
    for h in range(r.heads):
        for i in range(n):
            for j in range(n):
                if reset and i == 0:
                    a, b = 0, 0
                elif reset and j == 0:
                    a, b = 1, 1
                else:
                    a, b = i + 1, j + 1
                out[h, i, j] = q[h, a] @ k[h, b] / scale
    return out


def tupe(terms: int, reset: bool) -> Callable:
    def scores(r: Written, x: np.ndarray, at: str) -> np.ndarray:
        q, k = r.projected(x, f"{at}.query"), r.projected(x, f"{at}.key")
        scale = np.sqrt(terms * q.shape[-1])
        own = own_positions(r, x, scale, reset, f"{POS}.query", f"{POS}.key")
        return q @ k.transpose(0, 2, 1) / scale + own

    return scores


def t5(r: Written, x: np.ndarray, reset: bool, one_sided: bool = False) -> np.ndarray:
    """transformers' own buckets, of decoders if one-sided; with `reset` those of [CLS] as TUPE's code has them."""
    at = torch.arange(len(x))
    found = T5Attention._relative_position_bucket(
        at[None] - at[:, None], bidirectional=not one_sided, num_buckets=32, max_distance=128
    ).numpy()
    if reset:
        found[:, 0] = 32
        found[0, :] = 16
    return r.w[f"{POS}.relative.weight"][found].transpose(2, 0, 1)


def no_cross(terms: int) -> Callable:
    def scores(r: Written, x: np.ndarray, at: str) -> np.ndarray:
        q, k = r.projected(x, f"{at}.query"), r.projected(x, f"{at}.key")
        scale = np.sqrt(terms * q.shape[-1])
        return q @ k.transpose(0, 2, 1) / scale + own_positions(r, x, scale, False, f"{at}.query", f"{at}.key")

    return scores


def all_four(terms: int, layers: int = 99) -> Callable:
    """The four products one by one (Ke et al. 2021, section 3.1 and the ablation BERT-A^d), in the first layers."""

    def scores(r: Written, x: np.ndarray, at: str) -> np.ndarray:
        wq, wk = r.projected(x, f"{at}.query"), r.projected(x, f"{at}.key")
        scale = np.sqrt(terms * wq.shape[-1])
        if layer_number(at) >= layers:
            return wq @ wk.transpose(0, 2, 1) / scale
        p = told(r, len(x))
        pq, pk = r.projected(p, f"{POS}.query"), r.projected(p, f"{POS}.key")
        return sum(a @ b.transpose(0, 2, 1) for a in (wq, pq) for b in (wk, pk)) / scale

    return scores


def layer_number(at: str) -> int:
    return int(at.split(".")[3])


def told(r: Written, n: int) -> np.ndarray:
    """The positions that layers are told, one row a token."""
    table = r.w[f"{POS}.positions.weight"][:n]
    return r.norm(table, f"{POS}.LayerNorm") if r.c.told_norm else table


def one_matrix(layers: int = 99) -> Callable:
    """Four products, each with the words' own projections; the bias of a projection goes with the words."""

    def scores(r: Written, x: np.ndarray, at: str) -> np.ndarray:
        words = [r.projected(x, f"{at}.{name}") for name in ("query", "key")]
        scale = np.sqrt(words[0].shape[-1])
        if layer_number(at) >= layers:
            return words[0] @ words[1].transpose(0, 2, 1) / scale
        rows = [r.split(told(r, len(x)) @ r.w[f"{at}.{name}.weight"].T) for name in ("query", "key")]
        return sum(a @ b.transpose(0, 2, 1) for a in (words[0], rows[0]) for b in (words[1], rows[1])) / scale

    return scores


def narrow(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    """Positions at full width; words are added to the first dimensions alone."""
    total = positions(r, len(ids)).copy()
    total[:, : r.c.word_dim] += words(r, ids, segments)
    return r.norm(total, f"{EMBED}.LayerNorm")


def projected_sum(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    """By algebra a concatenation that a matrix follows is a sum of two projections, each by a half of it."""
    left, right = np.split(r.w[f"{EMBED}.projection.weight"], 2, axis=1)
    total = words(r, ids, segments) @ left.T + positions(r, len(ids)) @ right.T + r.w[f"{EMBED}.projection.bias"]
    return r.norm(total, f"{EMBED}.LayerNorm")


def sum_projected(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    total = (words(r, ids, segments) + positions(r, len(ids))) @ r.w[f"{EMBED}.projection.weight"].T
    return r.norm(total + r.w[f"{EMBED}.projection.bias"], f"{EMBED}.LayerNorm")


def strong_sines(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    return r.norm(words(r, ids, segments) + sines(r, len(ids)) * 0.1 * np.sqrt(2), f"{EMBED}.LayerNorm")


def added_leading_sines(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    code = sines(r, len(ids)) * 0.1 * np.sqrt(2)
    code[:, 16:] = 0
    return r.norm(words(r, ids, segments) + code, f"{EMBED}.LayerNorm")


def leading_sines(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
    code = sines(r, len(ids))[:, :16] * 0.1 * np.sqrt(2)
    return r.norm(np.concatenate([words(r, ids, segments), code], -1), f"{EMBED}.LayerNorm")


def blocks(r: Written, x: np.ndarray, at: str) -> np.ndarray:
    """Words with words and positions with positions, head by head: no product of one with the other."""
    w, width = r.c.word_dim, r.c.head_dim
    total = 0
    for part, of in (("word", x[:, :w]), ("position", x[:, w:])):
        q, k = r.projected(of, f"{at}.query.{part}"), r.projected(of, f"{at}.key.{part}")
        total = total + q @ k.transpose(0, 2, 1) / np.sqrt(width)
    return np.asarray(total)


def windowed(r: Written, x: np.ndarray, at: str) -> np.ndarray:
    s = plain(r, x, at)
    for i in range(len(x)):
        for j in range(len(x)):
            if i and j and abs(i - j) > r.c.window:
                s[:, i, j] = -np.inf
    return s


def causal(r: Written, x: np.ndarray, at: str) -> np.ndarray:
    return np.where(np.tril(np.ones((len(x), len(x)))), plain(r, x, at), -np.inf)


def turned(share: float) -> Callable:
    """Causal scores of queries and keys that GPT-J's own functions have turned in the first part of each head."""

    def scores(r: Written, x: np.ndarray, at: str) -> np.ndarray:
        query, key = (
            torch.from_numpy(r.projected(x, f"{at}.{name}")).transpose(0, 1)[None] for name in ("query", "key")
        )
        width = query.shape[-1]
        part = max(2, 2 * round(share * width / 2))
        sin, cos = create_sinusoidal_positions(len(x), part).double()[None].split(part // 2, dim=-1)
        query, key = (
            torch.cat([apply_rotary_pos_emb(one[..., :part], sin, cos), one[..., part:]], -1)[0].transpose(0, 1).numpy()
            for one in (query, key)
        )
        products = query @ key.transpose(0, 2, 1) / np.sqrt(width)
        return np.where(np.tril(np.ones((len(x), len(x)))), products, -np.inf)

    return scores


def one_turned_key(r: Written, x: np.ndarray, at: str) -> np.ndarray:
    """Every head's key is made whole by hand: the shared rows of the matrix, then the head's own."""
    shared, content = r.w[f"{at}.key.turned.weight"], r.w[f"{at}.key.content.weight"]
    biases = r.w[f"{at}.key.turned.bias"], r.w[f"{at}.key.content.bias"]
    own = len(content) // r.heads
    rows = [np.concatenate([shared, content[own * h : own * (h + 1)]]) for h in range(r.heads)]
    offsets = [np.concatenate([biases[0], biases[1][own * h : own * (h + 1)]]) for h in range(r.heads)]
    r.w |= {f"{at}.key.weight": np.concatenate(rows), f"{at}.key.bias": np.concatenate(offsets)}
    return turned(0.25)(r, x, at)


def polar(r: Written, x: np.ndarray, at: str) -> np.ndarray:
    """Equation by equation: lengths by softplus, one frequency a dimension, a phase of the keys between -2 pi and 0."""
    query, key = (np.logaddexp(0, r.projected(x, f"{at}.{name}")) for name in ("query", "key"))
    width = query.shape[-1]
    frequency = 10_000.0 ** (-np.arange(width) / width)
    phase = np.clip(r.w[f"{at}.phase"], -2 * np.pi, 0).reshape(r.heads, width)
    scores = np.full((r.heads, len(x), len(x)), -np.inf)
    for h, i in np.ndindex(r.heads, len(x)):
        for j in range(i + 1):
            scores[h, i, j] = (query[h, i] * key[h, j] * np.cos((j - i) * frequency + phase[h])).sum()
    return scores / np.sqrt(width)


def alibi(r: Written, x: np.ndarray, at: str) -> np.ndarray:
    """BLOOM's slopes, laid on both sides."""
    slopes = build_alibi_tensor(torch.ones(1, 2), r.heads, torch.float64)[:, 0, 1].double().numpy()
    at_ = np.arange(len(x))
    return plain(r, x, at) - slopes[:, None, None] * np.abs(at_[:, None] - at_[None])


def masked(biased: Callable) -> Callable:
    """The same scores, of keys up to the query alone."""
    return lambda r, x, at: biased(r, x, at) + np.where(np.isfinite(causal(r, x, at)), 0, -np.inf)


WRITTEN: dict[str, tuple[Callable, Callable]] = {
    "sinusoidal": (fixed(sines), plain),
    "random_fixed": (fixed(lambda r, n: positions(r, n)), plain),
    "no_position": (absent, plain),
    "frozen_word": (added, plain),
    "frozen_own_word": (added, plain),
    "bert_a_smooth": (added, plain),
    "bert_a_wide_table": (added, plain),
    "one_segment": (lambda r, ids, segments: added(r, ids, np.zeros_like(segments)), plain),
    "concat_50": (concatenated, plain),
    "concat_20": (concatenated, plain),
    "concat_05": (concatenated, plain),
    "concat_wide": (concatenated, plain),
    "concat_blocked": (blocked, blocks),
    "multiply": (multiplied, plain),
    "alibi": (absent, alibi),
    "bert_r": (added, lambda r, x, at: plain(r, x, at) + t5(r, x, False)),
    "relative_only": (absent, lambda r, x, at: plain(r, x, at) + t5(r, x, False)),
    "tupe_a": (absent, tupe(2, True)),
    "tupe_r": (absent, lambda r, x, at: tupe(2, True)(r, x, at) + t5(r, x, True)),
    "tupe_a_tie_cls": (absent, tupe(2, False)),
    "tupe_a_tie_cls_extra": (absent, tupe(2, False)),
    "tupe_a_unscaled": (absent, tupe(1, True)),
    "bert_a_norm": (normed, plain),
    "bert_a_d": (absent, all_four(4)),
    "bert_a_d_unscaled": (absent, all_four(1)),
    "bert_a_d_unscaled_extra": (absent, all_four(1)),
    "first_layer_own": (absent, all_four(1, layers=1)),
    "first_layer_own_extra": (absent, all_four(1, layers=1)),
    "every_layer_attention": (absent, one_matrix()),
    "every_layer_unnormed": (absent, one_matrix()),
    "every_layer_values": (absent, one_matrix()),
    "every_layer_hidden": (absent, plain),
    "first_layer_attention": (absent, one_matrix(layers=1)),
    "bert_a_narrow_80": (narrow, plain),
    "bert_a_narrow_50": (narrow, plain),
    "concat_wide_matched": (concatenated, plain),
    "bert_a_wide": (added, plain),
    "bert_a_wide_narrow": (narrow, plain),
    "concat_lead": (leading_sines, plain),
    "sinusoidal_lead": (added_leading_sines, plain),
    "sinusoidal_strong": (strong_sines, plain),
    "add_project_extra": (sum_projected, plain),
    "add_project_identity": (sum_projected, plain),
    "concat_project": (projected_sum, plain),
    "concat_project_extra": (projected_sum, plain),
    "concat_project_identity": (projected_sum, plain),
    "no_cross": (absent, no_cross(2)),
    "no_cross_unscaled": (absent, no_cross(1)),
    "no_segment": (without_segments, plain),
    "window": (absent, windowed),
    "recurrent": (recurrent, plain),
    "causal_no_position": (absent, causal),
    "causal_bert_a": (added, causal),
    "causal_alibi": (absent, masked(alibi)),
    "causal_relative_only": (absent, masked(lambda r, x, at: plain(r, x, at) + t5(r, x, False, one_sided=True))),
    "causal_sinusoidal_lead": (added_leading_sines, causal),
    "causal_drope": (absent, causal),
    "causal_rotary": (absent, turned(1)),
    "causal_partial_25": (absent, turned(0.25)),
    "causal_partial_10": (absent, turned(0.1)),
    "causal_one_turned_key": (absent, one_turned_key),
    "causal_polar": (absent, polar),
}
SINGLE = {
    "concat_lead": 2e-6,
    "sinusoidal_lead": 2e-6,
    "sinusoidal_strong": 2e-6,
    "alibi": 2e-6,
    "causal_alibi": 2e-6,
    "causal_sinusoidal_lead": 2e-6,
    "causal_rotary": 2e-6,
    "causal_partial_25": 2e-6,
    "causal_partial_10": 2e-6,
    "causal_one_turned_key": 2e-6,
}
"""How near the reference is whose own numbers are in float32: slopes, sines."""
LIBRARY = {"bert_a", "rotary", "deberta"}
"""Variants that transformers has a model of; tested against it below."""


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
@pytest.mark.parametrize("name", WRITTEN)
def test_a_variant_is_its_formula(name: str, implementation: str, text: dict[str, torch.Tensor]) -> None:
    model = made(name)
    model.set_attn_implementation(implementation)
    with torch.no_grad():
        got = model.addend(**text).last_hidden_state
    r = Written(model)
    inputs, scores = WRITTEN[name]
    for row, length in enumerate(text["attention_mask"].sum(1).tolist()):
        ids, segments = (text[part][row, :length].numpy() for part in ("input_ids", "token_type_ids"))
        want = r.run(ids, segments, inputs, scores)
        np.testing.assert_allclose(got[row, :length].numpy(), want, rtol=0, atol=SINGLE.get(name, 1e-9))


def test_adding_in_the_first_layer_alone_is_adding_at_the_input(text: dict[str, torch.Tensor]) -> None:
    """BERT-A, normalised, told by the code that tells every layer: the two sides of C34e differ in the layers alone."""
    once = made("bert_a_norm")
    told = AddendForMaskedLM(config("every_layer_hidden", told_layers=1)).double().eval()
    renamed = {
        "addend.embeddings.position_embeddings.weight": "addend.encoder.position_scores.positions.weight",
        "addend.embeddings.position_LayerNorm.weight": "addend.encoder.position_scores.LayerNorm.weight",
        "addend.embeddings.position_LayerNorm.bias": "addend.encoder.position_scores.LayerNorm.bias",
    }
    told.load_state_dict({renamed.get(name, name): weight for name, weight in once.state_dict().items()})
    with torch.no_grad():
        want, got = (model.addend(**text).last_hidden_state for model in (once, told))
    torch.testing.assert_close(got, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["add_project_identity", "concat_project_identity"])
def test_a_projection_that_starts_as_the_identity_starts_as_adding(name: str, text: dict[str, torch.Tensor]) -> None:
    """As a training starts: biases are zero, and every other weight is drawn from its name."""
    adding, projected = (AddendForMaskedLM(config(variant)).double().eval() for variant in ("bert_a", name))
    for model in (adding, projected):
        draw_weights(model, seed=3)
    with torch.no_grad():
        want, got = (model.addend(**text).last_hidden_state for model in (adding, projected))
    torch.testing.assert_close(got, want, rtol=0, atol=1e-12)


def test_every_variant_has_a_reference() -> None:
    assert set(WRITTEN) | LIBRARY == set(VARIANTS)


def bert(model: AddendForMaskedLM) -> BertForMaskedLM:
    return to_bert(model).double().eval()


def test_bert_a_is_transformers_bert(text: dict[str, torch.Tensor]) -> None:
    ours = made("bert_a")
    theirs = bert(ours)
    with torch.no_grad():
        a, b = ours(**text, output_hidden_states=True), theirs(**text, output_hidden_states=True)
        single = (ours.float()(**text).logits - theirs.float()(**text).logits).abs().max()
    real = text["attention_mask"].bool()
    assert (a.logits - b.logits)[real].abs().max() < 1e-10
    assert len(a.hidden_states) == len(b.hidden_states) == SHAPE["num_hidden_layers"] + 1
    for x, y in zip(a.hidden_states, b.hidden_states, strict=True):
        assert (x - y)[real].abs().max() < 1e-10
    assert single < 1e-4


def test_bert_weights_come_back_from_disk_as_bert(tmp_path: Path, text: dict[str, torch.Tensor]) -> None:
    ours = made("bert_a").float()
    to_bert(ours).save_pretrained(tmp_path)
    theirs = AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
    assert type(theirs) is BertForMaskedLM
    with torch.no_grad():
        assert (ours(**text).logits - theirs(**text).logits).abs().max() < 1e-4


SPECIAL_CASES_OF_BERT = {
    "bert_a",
    "frozen_word",
    "frozen_own_word",
    "bert_a_smooth",
    "bert_a_wide",
    "bert_a_wide_table",
}


@pytest.mark.parametrize("name", sorted(set(VARIANTS) - SPECIAL_CASES_OF_BERT))
def test_what_is_not_bert_does_not_export_as_bert(name: str) -> None:
    with pytest.raises(AddendError, match=re.escape(name)):
        to_bert(made(name))


def test_rotary_is_roformers(text: dict[str, torch.Tensor]) -> None:
    ours = made("rotary").addend
    theirs = RoFormerModel(RoFormerConfig(**SHAPE, embedding_size=SHAPE["hidden_size"], hidden_dropout_prob=0.0))
    theirs = theirs.double().eval()
    told = theirs.load_state_dict(ours.state_dict(), strict=False)
    assert all(key.startswith("pooler") for key in told.unexpected_keys), told
    assert all("embed_positions" in key or key.startswith("pooler") for key in told.missing_keys), told
    theirs.encoder.embed_positions.weight.data = theirs.encoder.embed_positions.weight.data.double()
    real = text["attention_mask"].bool()
    with torch.no_grad():
        a, b = ours(**text).last_hidden_state, theirs(**text).last_hidden_state
    # RoFormer keeps its sines in float32.
    assert (a - b)[real].abs().max() < 2e-5
    assert (a - made("no_position").addend(**text).last_hidden_state)[real].abs().max() > 0.1


def test_deberta_is_transformers(text: dict[str, torch.Tensor]) -> None:
    ours = made("deberta").addend
    span = ours.config.disentangled
    theirs = DebertaModel(
        DebertaConfig(
            **SHAPE,
            type_vocab_size=2,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            layer_norm_eps=ours.config.layer_norm_eps,
            relative_attention=True,
            max_relative_positions=span,
            pos_att_type=["c2p", "p2c"],
            position_biased_input=False,
        )
    )
    theirs = theirs.double().eval()
    state = ours.state_dict()
    told = {name: state[name] for name in state if name in theirs.state_dict()}
    d = SHAPE["hidden_size"]
    heads = SHAPE["num_attention_heads"]
    with torch.no_grad():
        for layer in range(SHAPE["num_hidden_layers"]):
            at = f"encoder.layer.{layer}.attention.self"
            # DeBERTa has no key bias: it would be constant along keys but for p2c, so ours is put to zero.
            ours.encoder.layer[layer].attention.self.key.bias.zero_()
            parts = [state[f"{at}.{name}.weight"].view(heads, -1, d) for name in ("query", "key", "value")]
            told[f"{at}.in_proj.weight"] = torch.cat(parts, 1).reshape(3 * d, d)
            told[f"{at}.q_bias"] = state[f"{at}.query.bias"]
            told[f"{at}.v_bias"] = state[f"{at}.value.bias"]
            told[f"{at}.pos_proj.weight"] = state[f"{at}.pos_key.weight"]
            told[f"{at}.pos_q_proj.weight"] = state[f"{at}.pos_query.weight"]
            told[f"{at}.pos_q_proj.bias"] = state[f"{at}.pos_query.bias"]
    told["encoder.rel_embeddings.weight"] = state["encoder.relative.weight"]
    missing = theirs.load_state_dict(told, strict=False).missing_keys
    assert not [key for key in missing if not key.startswith("pooler")], missing
    real = text["attention_mask"].bool()
    with torch.no_grad():
        a, b = ours(**text).last_hidden_state, theirs(**text).last_hidden_state
    assert (a - b)[real].abs().max() < 1e-6  # DeBERTa takes its root in float32.


def test_with_the_norm_before_bert_a_is_roberta_prelayernorm(text: dict[str, torch.Tensor]) -> None:
    ours = made("bert_a", norm="pre")
    shape = {**SHAPE, "type_vocab_size": 2, "layer_norm_eps": ours.config.layer_norm_eps}
    theirs = RobertaPreLayerNormForMaskedLM(RobertaPreLayerNormConfig(**shape)).double().eval()
    renamed = (
        (r"^addend\.encoder\.LayerNorm", "roberta_prelayernorm.LayerNorm"),
        (r"^addend\.", "roberta_prelayernorm."),
        (r"attention\.output\.LayerNorm", "attention.LayerNorm"),
        (r"(layer\.\d+)\.output\.LayerNorm", r"\1.intermediate.LayerNorm"),
        (r"^cls\.predictions\.transform\.LayerNorm", "lm_head.layer_norm"),
        (r"^cls\.predictions\.(transform\.)?", "lm_head."),
    )
    state = {}
    for name, value in ours.state_dict().items():
        for old, new in renamed:
            name = re.sub(old, new, name)
        state[name] = value
    told = theirs.load_state_dict(state, strict=False)
    assert not told.missing_keys, told
    assert not told.unexpected_keys, told
    # RoBERTa counts positions from its padding token's number on.
    places = torch.arange(LENGTH).expand(3, -1)
    real = text["attention_mask"].bool()
    with torch.no_grad():
        a, b = ours(**text).logits, theirs(**text, position_ids=places).logits
        post = made("bert_a")(**text).logits
    assert (a - b)[real].abs().max() < 1e-10
    assert (a - post)[real].abs().max() > 0.1


def test_the_relative_bias_is_t5s() -> None:
    model = made("relative_only")
    t5_attention = T5Attention(
        T5Config(d_model=40, num_heads=4, relative_attention_num_buckets=32), has_relative_attention_bias=True
    ).double()
    table = model.addend.encoder.position_scores.relative.weight
    t5_attention.relative_attention_bias.weight.data = table.data
    with torch.no_grad():
        theirs = t5_attention.compute_bias(24, 24)
        ours = model.addend.encoder.position_scores(24)
    assert (theirs - ours).abs().max() == 0


# What every variant must be.


@pytest.fixture(params=list(VARIANTS))
def variant(request: pytest.FixtureRequest) -> str:
    return request.param


def test_a_checkpoint_opens_with_the_auto_classes(variant: str, tmp_path: Path, text: dict[str, torch.Tensor]) -> None:
    model = made(variant).float()
    model.save_pretrained(tmp_path)
    loader = AutoModelForCausalLM if model.config.causal else AutoModelForMaskedLM
    again = loader.from_pretrained(tmp_path).eval()
    base = AutoModel.from_pretrained(tmp_path).eval()
    assert type(again) is predicts(variant)
    assert type(base) is AddendModel
    with torch.no_grad():
        want = model(**text)
        assert (again(**text).logits - want.logits).abs().max() < 1e-4
        hidden = model.addend(**text).last_hidden_state
        assert (base(**text).last_hidden_state - hidden).abs().max() < 1e-4
    assert again.config.variant == variant


def test_a_causal_models_labels_are_its_own_tokens(text: dict[str, torch.Tensor]) -> None:
    """As every causal model of transformers takes them: each is predicted from those before it."""
    labels = text["input_ids"].masked_fill(text["attention_mask"] == 0, -100)
    with torch.no_grad():
        found = made("causal_bert_a")(**text, labels=labels)
    want = nn.functional.cross_entropy(found.logits[:, :-1].transpose(1, 2), labels[:, 1:])
    assert found.loss == pytest.approx(want.item(), abs=1e-5)


def test_padding_changes_nothing(variant: str, text: dict[str, torch.Tensor]) -> None:
    model = made(variant)
    with torch.no_grad():
        padded = model(**text).logits
        for row, length in enumerate(text["attention_mask"].sum(1).tolist()):
            alone = model(**{name: x[row : row + 1, :length] for name, x in text.items()}).logits
            assert (padded[row, :length] - alone[0]).abs().max() < 1e-9


ORDERLESS = {"no_position"}
MASKS = ("causal", "window")
"""The settings that hide tokens from each other by where they stand."""


def test_positions_are_told_where_the_variant_says(variant: str) -> None:
    """With one word everywhere, a place is told positions exactly if what it computes differs from place to place."""
    said, model = VARIANTS[variant], made(variant, attn_implementation="eager").base_model
    entered: list[torch.Tensor] = []
    patterns: dict[int, torch.Tensor] = {}
    model.embeddings.register_forward_hook(lambda _, __, out: entered.append(out))
    for number, layer in enumerate(model.encoder.layer):
        layer.register_forward_pre_hook(lambda _, given: (given[0][:, :1].expand_as(given[0]), *given[1:]))
        layer.attention.self.register_forward_hook(lambda _, __, out, n=number: patterns.update({n: out[1]}))
    with torch.no_grad():
        model(torch.full((1, LENGTH), 7))
    differs = (entered[0] - entered[0][:, :1]).abs().max().item() > 1e-9
    assert differs == (said.told_at_input or bool(said.settings.get("recurrent")))
    if any(said.settings.get(name) for name in MASKS):
        return  # What a token may see differs from place to place, so that no pattern is even.
    told = [(pattern - 1 / LENGTH).abs().max().item() > 1e-6 for _, pattern in sorted(patterns.items())]
    count = len(told) if said.told_layers is None else said.told_layers
    assert told == [number < count for number in range(len(told))]


def test_order_counts_where_there_are_positions(variant: str, text: dict[str, torch.Tensor]) -> None:
    """Without positions an encoder is permutation equivariant; everything else here tells order somehow."""
    model = made(variant)
    ids = text["input_ids"][:1]
    order = torch.tensor([0, 3, 1, 2, *range(4, LENGTH)])
    with torch.no_grad():
        there = model(ids).logits[:, order]
        moved = model(ids[:, order]).logits
    same = bool((there - moved).abs().max() < 1e-9)
    assert same == (variant in ORDERLESS)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_losses_are_the_forward_passes(variant: str, norm: str, text: dict[str, torch.Tensor]) -> None:
    """Training leaves out of the last layer what nobody predicts; neither loss nor gradient knows."""
    model = made(variant, norm=norm)
    labels = torch.where(torch.rand(3, LENGTH, generator=torch.Generator().manual_seed(0)) < 0.4, 7, -100)
    # What transformers calls a causal model's labels are the tokens; `losses` is told what each predicts.
    given = labels.roll(1, dims=1) if model.config.causal else labels
    if model.config.causal:
        labels[:, -1] = given[:, 0] = -100
    whole = model(text["input_ids"], token_type_ids=text["token_type_ids"], labels=given).loss
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    expected = torch.autograd.grad(whole, trained)
    where = (labels != -100).flatten().nonzero().squeeze(1)
    picked = model.losses(text["input_ids"], text["token_type_ids"], where, labels.flatten()[where])
    assert len(picked) == int((labels != -100).sum())
    assert picked.double().mean().item() == pytest.approx(whole.item(), abs=3e-6)  # six units of float32 there
    for ours, theirs in zip(torch.autograd.grad(picked.double().mean(), trained), expected, strict=True):
        assert (ours - theirs).abs().max() < 1e-5  # the loss is taken in float32


def test_every_trained_weight_gets_a_gradient(variant: str, text: dict[str, torch.Tensor]) -> None:
    model = made(variant)
    everywhere = torch.arange(text["input_ids"].numel())
    model.losses(text["input_ids"], text["token_type_ids"], everywhere, text["input_ids"].flatten()).mean().backward()
    idle = [name for name, p in model.named_parameters() if p.requires_grad and p.grad is None]
    assert not idle, idle


def test_the_same_seed_draws_the_same_and_shared_weights_agree(variant: str) -> None:
    one, two, bert_a = AddendForMaskedLM(config(variant)), AddendForMaskedLM(config(variant)), None
    torch.manual_seed(3)
    draw_weights(one, 7)
    torch.manual_seed(4)
    draw_weights(two, 7)
    skip = ".recurrent."  # torch's own initialisation
    for (name, a), (_, b) in zip(one.state_dict().items(), two.state_dict().items(), strict=True):
        assert skip in name or torch.equal(a, b), name
    bert_a = AddendForMaskedLM(config("bert_a"))
    draw_weights(bert_a, 7)
    theirs = bert_a.state_dict()
    shared = "addend.encoder.layer.0.output.dense.weight"
    if theirs[shared].shape == one.state_dict()[shared].shape:
        assert torch.equal(theirs[shared], one.state_dict()[shared])
    draw_weights(two, 8)
    assert not torch.equal(two.state_dict()[shared], one.state_dict()[shared])


def test_a_classifier_reads_what_the_variant_can_see(variant: str, tmp_path: Path, text: dict[str, Any]) -> None:
    made(variant).float().save_pretrained(tmp_path)
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path, num_labels=3).eval()
    assert type(model) is AddendForSequenceClassification
    with torch.no_grad():
        logits = model(**text).logits
        alone = model(**{name: x[1:2, :8] for name, x in text.items()}).logits
        assert (alone - logits[1:2]).abs().max() < 1e-4
        changed = text["input_ids"].clone()
        changed[0, 6] = (changed[0, 6] + 1 - 5) % (SHAPE["vocab_size"] - 5) + 5
        moved = model(**{**text, "input_ids": changed}).logits
    assert logits.shape == (3, 3)
    assert (moved[0] - logits[0]).abs().max() > 1e-6, "the classifier is blind to a word"


def test_a_classifier_of_bert_a_is_berts(text: dict[str, torch.Tensor]) -> None:
    ours = AddendForSequenceClassification(config("bert_a", num_labels=3)).double().eval()
    theirs = BertForSequenceClassification(BertConfig(**SHAPE, num_labels=3)).double().eval()
    state = {name.replace("addend.", "bert.", 1): value for name, value in ours.state_dict().items()}
    state = {name: value for name, value in state.items() if "position_scores" not in name}
    theirs.load_state_dict(state)
    with torch.no_grad():
        assert (ours(**text).logits - theirs(**text).logits).abs().max() < 1e-10


def test_concatenated_widths_are_the_shares_said() -> None:
    for name, share in (("concat_50", 0.5), ("concat_20", 0.2), ("concat_05", 0.05)):
        fields = VARIANTS[name].fields(hidden_size=768, heads=12)
        assert fields["position_dim"] / 768 == pytest.approx(share, abs=0.002)
        assert "hidden_size" not in fields
    wide = VARIANTS["concat_wide"].fields(hidden_size=128, heads=4)
    assert (wide["hidden_size"], wide["position_dim"], wide["intermediate_size"]) == (160, 32, 640)


def parameters(name: str) -> int:
    return sum(p.numel() for p in AddendForMaskedLM(config(name)).parameters() if p.requires_grad)


def test_a_size_that_differs_is_said(variant: str) -> None:
    """More or fewer trained parameters than bert_a's, and the registry says which; silence means within 0.1 %."""
    ours, theirs = parameters(variant), parameters("bert_a")
    said = VARIANTS[variant].size
    if not said:
        assert abs(ours - theirs) / theirs < 0.001
    else:
        assert ours != theirs
        assert ("ewer" in said) == (ours < theirs), (ours, theirs, said)


def test_a_text_too_long_is_said() -> None:
    with pytest.raises(ValueError, match="25 tokens and the model 24 positions"):
        made("bert_a")(torch.full((1, 25), 6))


def test_dropout_is_there_when_asked(text: dict[str, torch.Tensor]) -> None:
    model = made("tupe_a", hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.3).train()
    assert isinstance(model.addend.embeddings.dropout, nn.Dropout)
    torch.manual_seed(0)
    one = model(**text).logits
    two = model(**text).logits
    assert (one - two).abs().max() > 0.01
