"""The rules by which sources pass through a model, against formulas written out in NumPy, and against torch's own."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from scipy.special import expit, ndtr, softmax
from specimens import TEXT, tiny_bert, tiny_tokenizer
from torch import Tensor, nn
from torch.nn import functional

from analysis.core.errors import ModelError
from analysis.core.term_names import SOURCES
from analysis.measurements.terms import decompose
from analysis.models.families import FAMILIES
from analysis.models.families.t5 import T5
from analysis.models.trace_sources import FREEZES, Layer, trace_sources
from analysis.streams import gates
from analysis.streams.rules import RULES
from analysis.streams.tensor import DecomposedTensor, decomposed, stacked, total

BIAS = len(SOURCES) - 1


def heads(x: np.ndarray, count: int) -> np.ndarray:
    """(..., token, width) as (..., head, token, dim)."""
    return x.reshape(*x.shape[:-1], count, -1).swapaxes(-2, -3)


def linear(x: np.ndarray, weights: dict[str, np.ndarray], name: str) -> np.ndarray:
    """All sources (source, token, width); the bias goes to the last."""
    made = x @ weights[f"{name}.weight"].T
    if f"{name}.bias" in weights:
        made[BIAS] += weights[f"{name}.bias"]
    return made


def numbers(model: Any) -> dict[str, np.ndarray]:
    return {name: weight.detach().numpy() for name, weight in model.state_dict().items()}


def terms_of(layer: Layer) -> np.ndarray:
    """(query source, key source, head, query, key)."""
    made = layer.factors()
    return (torch.einsum("ahqd,bhkd->abhqk", made.query, made.key) * made.scale).numpy()


def test_a_post_norm_model_is_the_frozen_network_written_out() -> None:
    model = tiny_bert().double()
    ids = torch.tensor([[2, 7, 9, 12, 3, 8, 3]])
    kinds = torch.tensor([[0, 0, 0, 0, 0, 1, 1]])
    told: list[Layer] = []
    states: list[Tensor] = []
    inputs = {"input_ids": ids, "token_type_ids": kinds}
    trace_sources(model, FAMILIES["bert"], inputs, told.append, states=lambda _, hidden: states.append(hidden))
    w = numbers(model)

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        sigma = np.sqrt(x.sum(0).var(-1, keepdims=True) + 1e-12)
        made = w[f"{name}.weight"] * (x - x.mean(-1, keepdims=True)) / sigma
        made[BIAS] += w[f"{name}.bias"]
        return made

    tables = [w[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")]
    word, position, segment = tables[0][ids[0]], tables[1][: ids.shape[1]], tables[2][kinds[0]]
    x = norm(np.stack([word, position, segment, np.zeros_like(word)]), "embeddings.LayerNorm")
    for index in range(2):
        at = f"encoder.layer.{index}"
        q, k, v = (heads(linear(x, w, f"{at}.attention.self.{name}"), 4) for name in ("query", "key", "value"))
        terms = np.einsum("ahqd,bhkd->abhqk", q, k) / np.sqrt(q.shape[-1])
        np.testing.assert_allclose(terms_of(told[index]), terms, rtol=0, atol=1e-11)
        pattern = softmax(terms.sum((0, 1)), -1)
        mixed = (pattern @ v).swapaxes(-2, -3).reshape(x.shape)
        a = norm(x + linear(mixed, w, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        inner = linear(a, w, f"{at}.intermediate.dense")
        inner = inner * ndtr(inner.sum(0))
        x = norm(a + linear(inner, w, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        np.testing.assert_allclose(stacked(states[index], len(SOURCES))[:, 0].numpy(), x, rtol=0, atol=1e-11)


class Summed(T5):
    """T5's encoder given embeddings that are a sum already, so that its one model has several sources."""

    def source_inputs(self, model: Any) -> tuple[()]:
        return ()


@pytest.mark.parametrize("freeze", FREEZES)
def test_a_pre_norm_gated_model_is_the_frozen_network_written_out(freeze: str) -> None:
    sizes: dict[str, Any] = {"vocab_size": 25, "d_model": 32, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_heads": 4}
    config = transformers.T5Config(**sizes, feed_forward_proj="gated-silu")
    torch.manual_seed(0)
    model: Any = transformers.T5EncoderModel(config).eval().double()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(0.2, 0.3)
        model.encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight.zero_()
    parts = torch.randn(len(SOURCES), 1, 6, 32, dtype=torch.float64)
    told: list[Layer] = []
    states: list[Tensor] = []
    given = {"inputs_embeds": decomposed(parts.sum(0), list(parts))}
    trace_sources(model, Summed(), given, told.append, states=lambda _, hidden: states.append(hidden), freeze=freeze)
    w = numbers(model)

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        return w[f"{name}.weight"] * x / np.sqrt((x.sum(0) ** 2).mean(-1, keepdims=True) + 1e-6)

    x = parts[:, 0].numpy()
    for index in range(2):
        at = f"encoder.block.{index}.layer"
        normed = norm(x, f"{at}.0.layer_norm")
        q, k, v = (heads(linear(normed, w, f"{at}.0.SelfAttention.{name}"), 4) for name in "qkv")
        terms = np.einsum("ahqd,bhkd->abhqk", q, k)
        # Its norm takes the mean square in float32 whatever the weights are, hence no closer.
        np.testing.assert_allclose(terms_of(told[index]), terms, rtol=0, atol=1e-5 * np.abs(terms).max())
        mixed = (softmax(terms.sum((0, 1)), -1) @ v).swapaxes(-2, -3).reshape(x.shape)
        x = x + linear(mixed, w, f"{at}.0.SelfAttention.o")
        normed = norm(x, f"{at}.1.layer_norm")
        gate, up = (linear(normed, w, f"{at}.1.DenseReluDense.{name}") for name in ("wi_0", "wi_1"))
        held = expit(gate.sum(0))
        by_up, by_gate = up * held * gate.sum(0), gate * held * up.sum(0)
        inner = {"activation": by_up, "other": by_gate, "half": (by_up + by_gate) / 2}[freeze]
        x = x + linear(inner, w, f"{at}.1.DenseReluDense.wo")
        made = stacked(states[index], len(SOURCES))[:, 0].numpy()
        np.testing.assert_allclose(made, x, rtol=0, atol=1e-5 * np.abs(x).max())


@pytest.mark.parametrize("name", gates.MODULES)
def test_a_gate_gives_its_activation_back(name: str) -> None:
    from transformers import activations
    from transformers.models.bloom import modeling_bloom

    found = next(getattr(place, name) for place in (activations, nn, modeling_bloom) if hasattr(place, name))
    tiny = torch.tensor([0.0, 1e-300, -1e-300, 1e-30, -1e-30, 1e-8, -1e-8, 1e-4, -1e-4], dtype=torch.float64)
    z = torch.cat([torch.linspace(-30, 30, 6001, dtype=torch.float64), tiny])
    activation = found()
    assert float(activation(torch.zeros(1, dtype=torch.float64))) == 0
    close = 1e-7 if name == "BloomGelu" else 1e-9  # BLOOM writes the root of 2 / pi with eight digits
    torch.testing.assert_close(z * gates.MODULES[name](z), activation(z), rtol=close, atol=1e-14)


def test_what_has_no_rule_is_refused_by_name() -> None:
    x = sample((2, 3, 4))
    for refused in (torch.cumsum, torch.cumprod):
        with pytest.raises(ModelError, match=f"applies {refused.__name__} to its hidden states"):
            refused(x, -1)


def sample(shape: tuple[int, ...], seed: int = 0, activated: bool = False) -> DecomposedTensor:
    """A random sum over sources, of which the third gives nothing."""
    rng = torch.Generator().manual_seed(seed)
    parts: list[Any] = list(torch.randn(len(SOURCES), *shape, generator=rng, dtype=torch.float64))
    whole = torch.stack(parts).sum(0) - parts[2]
    parts[2] = None
    return decomposed(whole, parts, activated=activated)


X, Y, ONE = (2, 3, 4), (2, 4, 3), torch.ones(4, dtype=torch.float64)
W = torch.arange(20, dtype=torch.float64).reshape(5, 4) / 7 - 1
CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    **{name: ((6, 4), {}) for name in ("view", "reshape")},
    **{name: ((1, 2), {}) for name in ("transpose", "flatten", "swapaxes", "swapdims")},
    **{name: ((0,), {}) for name in ("unsqueeze", "unbind", "squeeze")},
    **{name: ((), {}) for name in (["to", "float", "double", "half", "bfloat16"])},
    **{
        name: ((), {})
        for name in ["neg", "__neg__", "clone", "contiguous", "dropout", "detach", "gelu", "silu", "relu"]
    },
    **{name: ((-1,), {}) for name in ("sum", "mean")},
    **{
        name: ((ONE,), {})
        for name in ["add", "__add__", "__radd__", "add_", "__iadd__", "sub", "__sub__", "__rsub__", "rsub"]
    },
    **{
        name: ((ONE * 3,), {})
        for name in ["sub_", "__isub__", "mul", "__mul__", "__rmul__", "mul_", "__imul__", "multiply"]
    },
    **{name: ((ONE * 3,), {}) for name in ["div", "__truediv__", "div_", "__itruediv__", "true_divide"]},
    **{name: ((W.T,), {}) for name in ("matmul", "__matmul__")},
    "to": ((torch.float64,), {}),
    "type": ((torch.float64,), {}),
    "type_as": ((ONE,), {}),
    "permute": ((2, 0, 1), {}),
    "unflatten": ((-1, (2, 2)), {}),
    "expand": ((5, 2, 3, 4), {}),
    "expand_as": ((torch.ones(5, 2, 3, 4),), {}),
    "repeat": ((2, 1, 1), {}),
    "tile": (((2, 1, 1),), {}),
    "repeat_interleave": ((2, 1), {}),
    "split": ((2, -1), {}),
    "split_with_sizes": (([1, 3], -1), {}),
    "chunk": ((2, -1), {}),
    "select": ((1, 2), {}),
    "narrow": ((1, 0, 2), {}),
    "index_select": ((1, torch.tensor([2, 0])), {}),
    "__getitem__": (((slice(None), 1),), {}),
    "roll": ((1, 1), {}),
    "movedim": ((0, 2), {}),
    "pad": (((1, 1),), {}),
    "interpolate": ((), {"scale_factor": 2, "mode": "linear"}),
    "view_as": ((torch.ones(6, 4),), {}),
    "reshape_as": ((torch.ones(6, 4),), {}),
    "take_along_dim": ((torch.zeros(2, 3, 1, dtype=torch.long), -1), {}),
    "gather": ((-1, torch.zeros(2, 3, 1, dtype=torch.long)), {}),
    "requires_grad_": ((False,), {}),
    "bmm": ((W.T.expand(2, 4, 5),), {}),
    "linear": ((W, torch.ones(5, dtype=torch.float64)), {}),
    "layer_norm": (((4,), ONE * 2, ONE, 1e-6), {}),
    "rms_norm": (((4,), ONE * 2, 1e-6), {}),
    "masked_fill": ((torch.tensor([True, False, False, True]), 0), {}),
}
"""What follows a hidden state (2, 3, 4) in a call; only what does not take one first is tested apart."""
APART = {"T", "mT", "t", "cat", "stack", "concat", "concatenate", "addmm", "baddbmm", "conv2d"} | {"embedding"}
APART |= {"zeros_like", "new_empty", "copy_", "index_add_", "view_as_complex", "view_as_real"}


def function(name: str) -> Any:
    return next(getattr(place, name) for place in (functional, torch.Tensor, torch) if hasattr(place, name))


def assert_sums(made: Any, expected: Any) -> None:
    pairs = zip(made, expected, strict=True) if isinstance(made, tuple | list) else [(made, expected)]
    for one, own in pairs:
        assert isinstance(one, DecomposedTensor)
        torch.testing.assert_close(total(one), own, rtol=0, atol=0)
        close = 1e-12 if own.dtype == torch.float64 else 3e-2
        torch.testing.assert_close(stacked(one, len(SOURCES)).sum(0).double(), own.double(), rtol=close, atol=close)


@pytest.mark.parametrize("name", [name for name in RULES if name in CASES])
def test_a_rule_keeps_the_sum(name: str) -> None:
    rest, kwargs = CASES[name]
    if name == "dropout":
        kwargs = {"training": False}
    expected = function(name)(total(sample(X)).clone(), *rest, **kwargs)
    with torch._C.DisableTorchFunctionSubclass():
        made = RULES[name](function(name), sample(X), *rest, **kwargs)
    assert_sums(made, expected)


def test_rules_of_other_shapes_keep_the_sum() -> None:
    x, flat, image = sample(X), sample((3, 4)), sample((2, 3, 6, 6), seed=2)
    kernel, bias = torch.randn(5, 3, 2, 2, dtype=torch.float64), torch.randn(5, dtype=torch.float64)
    assert_sums(x.mT, total(x).mT)
    assert_sums(flat.T, total(flat).T)
    assert_sums(flat.t(), total(flat).t())
    pattern = torch.rand(2, 7, 3, dtype=torch.float64)
    torch.testing.assert_close(stacked(pattern @ x, 4).sum(0), pattern @ total(x), rtol=0, atol=1e-12)
    for joined in (torch.cat, torch.concat, torch.concatenate, torch.stack):
        assert_sums(joined([x, torch.ones(X, dtype=torch.float64)]), joined([total(x), torch.ones(X).double()]))
    assert_sums(torch.addmm(bias, flat, W.T), torch.addmm(bias, total(flat), W.T))
    assert_sums(functional.conv2d(image, kernel, bias), functional.conv2d(total(image), kernel, bias))
    table, places = sample((6, 4)), torch.tensor([[0, 5, 5]])
    assert_sums(functional.embedding(places, table), functional.embedding(places, total(table)))
    a, b = sample(X), sample(Y, seed=1)
    torch.testing.assert_close(a @ b, total(a) @ total(b))
    alibi = torch.ones(2, 1, 3, dtype=torch.float64)
    torch.testing.assert_close(alibi.baddbmm(a, b), alibi.baddbmm(total(a), total(b)))


def test_what_is_copied_into_slices_of_new_memory_keeps_its_parts() -> None:
    """As DeepSeek joins the two parts of a key; the parts are those of the concatenation."""
    left, right = sample((2, 3, 4)), sample((2, 3, 2), seed=1)
    made = left.new_empty(2, 3, 6)
    made[..., :4].copy_(left)
    made[..., 4:].copy_(right)
    expected = torch.cat([left, right], -1)
    assert_sums(made, total(expected))
    torch.testing.assert_close(stacked(made, 4), stacked(expected, 4), rtol=0, atol=0)
    with pytest.raises(ModelError, match="copies hidden states into a tensor of its own"):
        torch.zeros(2, 3, 4, dtype=torch.float64).copy_(left)


def test_what_experts_give_is_added_row_by_row() -> None:
    """As mixtures of experts sum: the parts are those of the same sum by a matrix."""
    x, rows = sample((4, 5)), torch.tensor([0, 2, 2, 1])
    made = torch.zeros_like(sample((3, 5)))
    made.index_add_(0, rows, x)
    matrix = functional.one_hot(rows, 3).double().T
    assert_sums(made, matrix @ total(x))
    torch.testing.assert_close(stacked(made, 4), matrix @ stacked(x, 4), rtol=0, atol=1e-12)
    with pytest.raises(ModelError, match="adds hidden states to a tensor of its own"):
        torch.zeros(3, 5, dtype=torch.float64).index_add_(0, rows, x)


def test_a_turn_by_complex_numbers_keeps_the_sum() -> None:
    """As Llama 4 and DeepSeek-V2 turn pairs of dimensions, also where a part is the same for every token."""
    x, turn = sample((2, 3, 4)), torch.polar(torch.ones(3, 2), torch.rand(3, 2)).to(torch.complex128)
    turned = torch.view_as_real(torch.view_as_complex(x.reshape(2, 3, 2, 2)) * turn).flatten(2)
    own = torch.view_as_real(torch.view_as_complex(total(x).reshape(2, 3, 2, 2)) * turn).flatten(2)
    assert_sums(turned, own)


def test_every_rule_is_tested() -> None:
    assert set(RULES) <= set(CASES) | APART


def test_what_is_changed_in_place_keeps_its_parts_elsewhere() -> None:
    x = sample(X)
    same = x
    x += sample(X, seed=1)
    assert same is x
    torch.testing.assert_close(stacked(same, 4).sum(0), total(same), rtol=0, atol=1e-12)


def test_two_hidden_states_of_which_neither_is_a_gate_are_not_multiplied() -> None:
    with pytest.raises(ModelError, match="neither of which is a gate"):
        _ = sample(X) * sample(X, seed=1)


def test_an_activation_without_a_gate_is_refused_by_name() -> None:
    """Its output would have no parts, and all of it would be credited to the bias without a word."""
    loaded = tiny_bert(hidden_act="sigmoid")
    with pytest.raises(ModelError, match="activation Sigmoid has no gate"):
        decompose(loaded, tiny_tokenizer(), TEXT)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in loaded.modules())
    assert decompose(tiny_bert(hidden_act="relu2"), tiny_tokenizer(), TEXT, layer=1).relative_error < 1e-5
