"""How the parts of a tensor pass through each function that a transformer applies to its hidden states.

A rule takes (func, args, kwargs) and is run with torch's own dispatch: it computes the whole with `func`
and the parts besides. A function that is neither here nor in FROZEN is refused, so that nothing is
credited to the bias for want of a rule.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from analysis.errors import ModelError
from analysis.streams import gates
from analysis.streams.tensor import Part, Streams, full, plain, streams

Rule = Callable[[Callable[..., Any], Sequence[Any], dict[str, Any]], Any]

FREEZE: ContextVar[str] = ContextVar("freeze", default="activation")
"""What is held of a gated unit, act(gate) * up: "activation", "other" (up), or "half" of each."""

_STATISTICS = """
pow __pow__ square sqrt rsqrt exp softmax log_softmax tanh sigmoid var std abs norm reciprocal __rtruediv__
eq ne lt le gt ge __eq__ __ne__ __lt__ __le__ __gt__ __ge__ isnan isinf isfinite any all
max min amax amin argmax item tolist __bool__ __len__ __format__ __repr__ __float__ __int__
"""
_WHAT_A_TENSOR_IS = """
shape dtype device ndim requires_grad is_cuda is_cpu is_mps is_xpu layout is_leaf is_sparse is_quantized is_meta
is_nested itemsize nbytes size dim ndimension numel nelement stride is_contiguous is_floating_point get_device
element_size data_ptr
new_zeros new_ones new_full new_empty zeros_like ones_like empty_like full_like is_complex is_inference
"""
FROZEN = frozenset((_STATISTICS + _WHAT_A_TENSOR_IS).split())
"""What is held at the value of the whole, or does not concern values."""
_LINEAR = """
view reshape transpose permute unsqueeze squeeze flatten unflatten expand expand_as repeat repeat_interleave
split split_with_sizes chunk unbind select narrow index_select __getitem__ to float double half bfloat16 type type_as
sum mean neg __neg__ roll movedim swapaxes swapdims T mT t pad interpolate clone view_as reshape_as tile
take_along_dim gather
"""
"""Linear in the first argument alone."""


def _wholes(args: Sequence[Any]) -> list[Any]:
    return [plain(arg) for arg in args]


def _each(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Whatever is linear in its first argument alone: reshaping, slicing, casting, sums."""
    first, *rest = args
    rest = _wholes(rest)
    whole = func(plain(first), *rest, **kwargs)
    if not isinstance(first, Streams):  # a constant made like a hidden state
        return whole
    # A part may lie in memory otherwise than the whole, so that a view of it cannot be had.
    on_parts = Tensor.reshape if func.__name__ == "view" else func
    made = [None if p is None else on_parts(full(p, first), *rest, **kwargs) for p in first.parts]
    if isinstance(whole, tuple | list):
        return type(whole)(
            streams(w, [None if found is None else found[index] for found in made]) for index, w in enumerate(whole)
        )
    return streams(whole, made, activated=first.activated)


def _same(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Dropout of a model at rest, and the like: nothing happens to the values."""
    return args[0] if func.__name__ != "dropout" or not kwargs.get("training") else _refused(func)


def _contiguous(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    """A later view of the whole needs it; parts are reshaped instead."""
    return streams(func(plain(args[0]), **kwargs), args[0].parts, activated=args[0].activated)


def _refused(func: Callable[..., Any]) -> Any:
    raise ModelError(f"{func.__name__} is active, so the forward pass is random; call model.eval() first.")


def _added(a: Part, b: Part) -> Part:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _parts_of(tensor: Any, like: Streams) -> tuple[Part, ...]:
    """A summand's parts; one without parts is all bias."""
    if isinstance(tensor, Streams):
        return tensor.parts
    constant = torch.as_tensor(tensor, dtype=like.dtype, device=like.device) if not _zero(tensor) else None
    return (None,) * (len(like.parts) - 1) + (constant,)


def _zero(tensor: Any) -> bool:
    return not isinstance(tensor, Tensor) and tensor == 0


def _add(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    a, b = args
    like = a if isinstance(a, Streams) else b
    whole = torch.add(plain(a), plain(b), **kwargs) if isinstance(a, Tensor) else plain(b) + a
    scale = kwargs.get("alpha", 1)
    right = [p if p is None or scale == 1 else p * scale for p in _parts_of(b, like)]
    return streams(whole, [_added(p, q) for p, q in zip(_parts_of(a, like), right, strict=True)])


def _sub(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    a, b = args if "rsub" not in func.__name__ else args[::-1]
    like = a if isinstance(a, Streams) else b
    right = [None if p is None else -p for p in _parts_of(b, like)]
    return streams(plain(a) - plain(b), [_added(p, q) for p, q in zip(_parts_of(a, like), right, strict=True)])


def _mul(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    a, b = args
    if isinstance(a, Streams) and isinstance(b, Streams):
        return _gated(a, b)
    if not isinstance(a, Streams):
        a, b = b, a
    return streams(plain(a) * b, [None if p is None else p * b for p in a.parts])


def _gated(a: Streams, b: Streams) -> Streams:
    """A product of two hidden states: a gated unit. Bilinear, so one factor is held, or half of each."""
    if a.activated == b.activated:
        raise ModelError(
            "The model multiplies two hidden states of which neither is a gate, so that their product is no sum over "
            "sources. Choose a model of a supported architecture."
        )
    gate, up = (a, b) if a.activated else (b, a)
    held = FREEZE.get()
    by_up = [None if p is None else p * plain(gate) for p in up.parts]
    by_gate = [None if p is None else p * plain(up) for p in gate.parts]
    if held == "half":
        parts: list[Part] = [
            None if (both := _added(p, q)) is None else both / 2 for p, q in zip(by_up, by_gate, strict=True)
        ]
    else:
        parts = by_up if held == "activation" else by_gate
    return streams(plain(a) * plain(b), parts)


def _div(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    a, b = args
    if not isinstance(a, Streams):
        return plain(a) / plain(b)  # by a hidden state: held
    return streams(plain(a) / plain(b), [None if p is None else p / plain(b) for p in a.parts])


def _in_place(rule: Rule) -> Rule:
    """`x += y` and the like: the tensor that is changed keeps its memory, and takes the new parts."""

    def changed(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        made, own = rule(func, args, kwargs), args[0]
        plain(own).copy_(plain(made))
        if not isinstance(own, Streams):
            return made
        own.parts, own.activated = made.parts, made.activated
        return own

    return changed


def _matmul(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Tensor:
    a, b = args
    if isinstance(a, Streams) and isinstance(b, Streams):
        return plain(a) @ plain(b)  # queries by keys: scores
    if isinstance(a, Streams):
        return streams(plain(a) @ b, [None if p is None else full(p, a) @ b for p in a.parts])
    # Patterns times values: all sources side by side, so that the pattern is read once.
    whole = plain(b)
    present = [whole, *(full(p, whole) for p in b.parts if p is not None)]
    mixed = iter((a @ torch.cat(present, -1)).split(whole.shape[-1], -1))
    first = next(mixed)
    return streams(first, [None if p is None else next(mixed) for p in b.parts])


def _projected(parts: Sequence[Part], whole: Tensor, through: Callable[[Tensor], Tensor], bias: Part) -> list[Part]:
    """Parts through a linear map: those of the whole's shape side by side, so that the weights are read once."""
    wide = [p for p in parts if p is not None and p.shape == whole.shape]
    mapped = iter(through(torch.stack(wide)).unbind() if len(wide) > 1 else [through(p) for p in wide])
    made = [None if p is None else next(mapped) if p.shape == whole.shape else through(p) for p in parts]
    return [*made[:-1], _added(made[-1], bias)]


def _linear(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    x, weight, bias = _named(args, kwargs, "input weight bias")
    whole = plain(x)
    made = _projected(x.parts, whole, lambda part: functional.linear(part, weight), bias)
    return streams(functional.linear(whole, weight, bias), made)


def _addmm(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    bias, x, weight = args
    made = _projected(x.parts, plain(x), lambda part: part @ weight, bias)
    return streams(torch.addmm(bias, plain(x), weight), made)


def _baddbmm(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Tensor:
    """Scores as BLOOM makes them: alibi + query @ key."""
    return func(*_wholes(args), **{key: plain(value) for key, value in kwargs.items()})


def _conv2d(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    x, weight, bias, *rest = args
    whole = func(plain(x), weight, bias, *rest, **kwargs)
    made = [None if p is None else func(full(p, x), weight, None, *rest, **kwargs) for p in x.parts]
    made[-1] = _added(made[-1], None if bias is None else bias[:, None, None])
    return streams(whole, made)


def _named(args: Sequence[Any], kwargs: dict[str, Any], names: str) -> list[Any]:
    """Arguments by position or by name, in the order of `names`; None where one is not given."""
    return [args[at] if at < len(args) else kwargs.get(name) for at, name in enumerate(names.split())]


def _embedding(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    """Rows of a table that has sources of its own."""
    places, table, *rest = args
    return streams(
        func(places, plain(table), *rest, **kwargs),
        [None if p is None else func(places, full(p, table), *rest, **kwargs) for p in table.parts],
    )


def _layer_norm(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    """gamma * (x - mean(x)) / sigma(whole): only with sigma taken on the whole do the parts add up."""
    x, shape, weight, bias, eps = _named(args, kwargs, "input normalized_shape weight bias eps")
    whole = plain(x)
    dims = tuple(range(-len(shape), 0))
    scale = (whole.var(dims, unbiased=False, keepdim=True) + (1e-5 if eps is None else eps)).rsqrt()
    if weight is not None:
        scale = scale * weight
    made = [None if p is None else (p - p.mean(dims, keepdim=True)) * scale for p in x.parts]
    made[-1] = _added(made[-1], bias)
    return streams(functional.layer_norm(whole, shape, weight, bias, 1e-5 if eps is None else eps), made)


def _rms_norm(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    x, shape, weight, eps = _named(args, kwargs, "input normalized_shape weight eps")
    whole = plain(x)
    floor = torch.finfo(whole.dtype).eps if eps is None else eps
    scale = (whole.square().mean(tuple(range(-len(shape), 0)), keepdim=True) + floor).rsqrt()
    if weight is not None:
        scale = scale * weight
    return streams(functional.rms_norm(whole, shape, weight, eps), [None if p is None else p * scale for p in x.parts])


def activation(x: Streams, whole: Tensor, gate: gates.Gate) -> Streams:
    """act(x), given its value on the whole and the gate that goes with it."""
    held = gate(plain(x))
    return streams(whole, [None if p is None else p * held for p in x.parts], activated=True)


def _gelu(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    x = args[0]
    kind = kwargs.get("approximate", "none")
    return activation(x, functional.gelu(plain(x), approximate=kind), gates.gelu if kind == "none" else gates.gelu_tanh)


def _simple(gate: gates.Gate) -> Rule:
    return lambda func, args, kwargs: activation(args[0], func(plain(args[0])), gate)


def _joined(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    """cat and stack: what has no parts is all bias."""
    tensors = args[0] if args else kwargs["tensors"]
    rest, kwargs = args[1:], {key: value for key, value in kwargs.items() if key != "tensors"}
    wholes = _wholes(tensors)
    like = next(t for t in tensors if isinstance(t, Streams))
    made: list[Part] = []
    for given in zip(*(_parts_of(t, like) for t in tensors), strict=True):
        nothing = all(p is None for p in given)
        made.append(
            None if nothing else func([full(p, w) for p, w in zip(given, wholes, strict=True)], *rest, **kwargs)
        )
    return streams(func(wholes, *rest, **kwargs), made)


def _masked_fill(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Streams:
    value = args[2] if len(args) > 2 else kwargs["value"]
    if value != 0:
        raise ModelError(f"The model fills hidden states with {value}; only 0 is a sum over sources.")
    return _each(func, args, kwargs)


RULES: dict[str, Rule] = {
    **dict.fromkeys(_LINEAR.split(), _each),
    **dict.fromkeys(("dropout", "detach", "requires_grad_"), _same),
    **dict.fromkeys(("add", "__add__", "__radd__"), _add),
    **dict.fromkeys(("sub", "__sub__", "__rsub__", "rsub"), _sub),
    **dict.fromkeys(("mul", "__mul__", "__rmul__", "multiply"), _mul),
    **dict.fromkeys(("div", "__truediv__", "true_divide"), _div),
    **dict.fromkeys(("matmul", "bmm", "__matmul__"), _matmul),
    **dict.fromkeys(("cat", "stack", "concat", "concatenate"), _joined),
    **dict.fromkeys(("add_", "__iadd__"), _in_place(_add)),
    **dict.fromkeys(("sub_", "__isub__"), _in_place(_sub)),
    **dict.fromkeys(("mul_", "__imul__"), _in_place(_mul)),
    **dict.fromkeys(("div_", "__itruediv__"), _in_place(_div)),
    "contiguous": _contiguous,
    "linear": _linear,
    "addmm": _addmm,
    "baddbmm": _baddbmm,
    "conv2d": _conv2d,
    "embedding": _embedding,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "gelu": _gelu,
    "silu": _simple(torch.sigmoid),
    "relu": _simple(gates.relu),
    "masked_fill": _masked_fill,
}
