"""Passes the parts of a tensor through each function that a transformer applies to its hidden states.

A rule takes `func` and the arguments that `func` was called with, and is run with torch's own dispatch: it computes
the whole with `func` and the parts besides. A function that is neither here nor in FROZEN is refused, so that
nothing is credited to the bias for want of a rule.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Concatenate, NoReturn

import torch
from torch import Tensor
from torch.nn import functional

from analysis.core.errors import ModelError
from analysis.streams import gates
from analysis.streams.tensor import (
    FROZEN,
    RULES,
    DecomposedTensor,
    Part,
    Rule,
    TorchFunction,
    decomposed,
    materialize,
    total,
)

Operand = Tensor | float
"""An operand of an addition, a product or a quotient."""
FREEZE: ContextVar[str] = ContextVar("freeze", default="activation")
"""The factor that is held fixed in a gated unit, act(gate) * up: "activation", "other" (up), or "half" of each."""

_STATISTICS = """
pow __pow__ square sqrt rsqrt exp softmax log_softmax tanh sigmoid var std abs norm reciprocal __rtruediv__
eq ne lt le gt ge __eq__ __ne__ __lt__ __le__ __gt__ __ge__ isnan isinf isfinite any all
max min amax amin argmax item tolist __bool__ __len__ __format__ __repr__ __float__ __int__
"""
_WHAT_A_TENSOR_IS = """
shape dtype device ndim requires_grad is_cuda is_cpu is_mps is_xpu layout is_leaf is_sparse is_quantized is_meta
is_nested itemsize nbytes size dim ndimension numel nelement stride is_contiguous is_floating_point get_device
element_size data_ptr
new_zeros new_ones new_full ones_like empty_like full_like is_complex is_inference
"""
FROZEN.update((_STATISTICS + _WHAT_A_TENSOR_IS).split())
_LINEAR = """
view reshape transpose permute unsqueeze squeeze flatten unflatten expand expand_as repeat repeat_interleave
split split_with_sizes chunk unbind select narrow index_select __getitem__ to float double half bfloat16 type type_as
sum mean neg __neg__ roll movedim swapaxes swapdims T mT t pad interpolate clone view_as reshape_as tile
take_along_dim gather view_as_complex view_as_real
"""
"""Linear in the first argument alone."""


def _each(func: TorchFunction, first: Tensor, /, *args: object, **kwargs: object) -> Tensor | Sequence[Tensor]:
    """Whatever is linear in its first argument alone: reshaping, slicing, casting, sums."""
    rest = [total(arg) for arg in args]
    whole = func(total(first), *rest, **kwargs)
    if not isinstance(first, DecomposedTensor):  # a constant made like a hidden state
        return whole
    # A part may lie in memory otherwise than the whole, so that a view of it cannot be had.
    on_parts: TorchFunction = {"view": Tensor.reshape, "view_as_complex": _as_complex}.get(func.__name__, func)
    results = [None if p is None else on_parts(materialize(p, first), *rest, **kwargs) for p in first.parts]
    if isinstance(whole, tuple | list):
        return type(whole)(
            decomposed(w, [None if result is None else result[index] for result in results])
            for index, w in enumerate(whole)
        )
    return decomposed(whole, results, activated=first.activated)


def _as_complex(part: Tensor) -> Tensor:
    """Pairs of numbers as complex ones; they need to lie next to one another, which an expanded part's do not."""
    return torch.view_as_complex(part.contiguous())


def _zeros_like(func: TorchFunction, x: Tensor, /, **kwargs: object) -> Tensor:
    """A sum to begin with, such as that of a mixture's experts: no source gives anything to it yet."""
    whole = func(total(x), **kwargs)
    return decomposed(whole, [None] * len(x.parts)) if isinstance(x, DecomposedTensor) else whole


def _new_empty(func: TorchFunction, x: DecomposedTensor, /, *args: object, **kwargs: object) -> Tensor:
    """Memory to copy into, part by part: a slice of it is a slice of each of its parts."""
    whole = func(total(x), *args, **kwargs)
    return decomposed(whole, [torch.zeros_like(whole) for _ in x.parts]) if whole.is_floating_point() else whole


def _copied(func: TorchFunction, target: Tensor, source: Tensor, /, *_: object) -> Tensor:
    """Parts are copied where they lie, since the target may be a slice of a larger tensor."""
    if not isinstance(target, DecomposedTensor) or any(part is None for part in target.parts):
        raise ModelError(
            "The model copies hidden states into a tensor of its own, where no rule says what the sources give. Choose "
            "a model of a supported architecture."
        )
    for part, value in zip(target.parts, _parts_of(source, target), strict=True):
        assert part is not None
        part.copy_(torch.zeros_like(part) if value is None else value)
    total(target).copy_(total(source))
    return target


def _index_add(func: TorchFunction, target: Tensor, dim: int, index: Tensor, source: Tensor, /) -> Tensor:
    """Rows of experts' outputs, added to the rows of their tokens."""
    if not isinstance(target, DecomposedTensor):
        raise ModelError(
            "The model adds hidden states to a tensor of its own, where no rule says what the sources give. Choose a "
            "model of a supported architecture."
        )
    added = [None if value is None else materialize(value, total(source)) for value in _parts_of(source, target)]
    whole = total(target)
    target.parts = tuple(
        part if value is None else materialize(part, whole).clone().index_add_(dim, index, value)
        for part, value in zip(target.parts, added, strict=True)
    )
    whole.index_add_(dim, index, total(source))
    return target


def _same(func: TorchFunction, x: Tensor, /, *_: object, training: bool = False, **__: object) -> Tensor:
    """Dropout of a model at rest, and the like: nothing happens to the values."""
    if training:
        _refuse(func)
    return x


def _refuse(func: TorchFunction) -> NoReturn:
    raise ModelError(f"{func.__name__} is active, so the forward pass is random; call model.eval() first.")


def _contiguous(func: TorchFunction, x: DecomposedTensor, /, **kwargs: object) -> DecomposedTensor:
    """A later view of the whole needs it; parts are reshaped instead."""
    return decomposed(func(total(x), **kwargs), x.parts, activated=x.activated)


def _added(a: Part, b: Part) -> Part:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _parts_of(tensor: Operand, reference: DecomposedTensor) -> tuple[Part, ...]:
    """A summand's parts; one without parts is all bias."""
    if isinstance(tensor, DecomposedTensor):
        return tensor.parts
    zero = not isinstance(tensor, Tensor) and tensor == 0
    constant = None if zero else torch.as_tensor(tensor, dtype=reference.dtype, device=reference.device)
    return (None,) * (len(reference.parts) - 1) + (constant,)


def _one_with_parts(a: Operand, b: Operand) -> DecomposedTensor:
    """The first of two operands that has parts."""
    result = a if isinstance(a, DecomposedTensor) else b
    assert isinstance(result, DecomposedTensor)
    return result


def _add(func: TorchFunction, a: Operand, b: Operand, /, *, alpha: float = 1) -> DecomposedTensor:
    reference = _one_with_parts(a, b)
    whole = torch.add(total(a), total(b), alpha=alpha) if isinstance(a, Tensor) else total(reference) + a
    right = [p if p is None or alpha == 1 else p * alpha for p in _parts_of(b, reference)]
    return decomposed(whole, [_added(p, q) for p, q in zip(_parts_of(a, reference), right, strict=True)])


def _sub(func: TorchFunction, a: Operand, b: Operand, /) -> DecomposedTensor:
    if "rsub" in func.__name__:
        a, b = b, a
    reference = _one_with_parts(a, b)
    whole = total(a) - total(b)
    assert isinstance(whole, Tensor)
    right = [None if p is None else -p for p in _parts_of(b, reference)]
    return decomposed(whole, [_added(p, q) for p, q in zip(_parts_of(a, reference), right, strict=True)])


def _mul(func: TorchFunction, a: Operand, b: Operand, /) -> DecomposedTensor:
    if isinstance(a, DecomposedTensor) and isinstance(b, DecomposedTensor):
        return _gated(a, b)
    reference = _one_with_parts(a, b)
    other = b if reference is a else a
    return decomposed(total(reference) * other, [None if p is None else p * other for p in reference.parts])


def _gated(a: DecomposedTensor, b: DecomposedTensor) -> DecomposedTensor:
    """A product of two hidden states: a gated unit. Bilinear, so one factor is held, or half of each."""
    if a.activated == b.activated:
        raise ModelError(
            "The model multiplies two hidden states, neither of which is a gate, so their product is no sum over "
            "sources. Choose a model of a supported architecture."
        )
    gate, up = (a, b) if a.activated else (b, a)
    frozen_factor = FREEZE.get()
    by_up = [None if p is None else p * total(gate) for p in up.parts]
    by_gate = [None if p is None else p * total(up) for p in gate.parts]
    if frozen_factor == "half":
        parts: list[Part] = [
            None if (combined := _added(p, q)) is None else combined / 2 for p, q in zip(by_up, by_gate, strict=True)
        ]
    else:
        parts = by_up if frozen_factor == "activation" else by_gate
    return decomposed(total(a) * total(b), parts)


def _div(func: TorchFunction, a: Operand, b: Operand, /) -> Tensor:
    whole = total(a) / total(b)
    assert isinstance(whole, Tensor)
    if not isinstance(a, DecomposedTensor):
        return whole  # by a hidden state: held
    return decomposed(whole, [None if p is None else p / total(b) for p in a.parts])


def _in_place(rule: Callable[Concatenate[TorchFunction, ...], Tensor]) -> Rule:
    """`x += y` and the like: the tensor that is changed keeps its memory, and takes the new parts."""

    def changed(func: TorchFunction, target: Tensor, /, *args: object, **kwargs: object) -> Tensor:
        result = rule(func, target, *args, **kwargs)
        total(target).copy_(total(result))
        if not isinstance(target, DecomposedTensor):
            return result
        assert isinstance(result, DecomposedTensor)
        target.parts, target.activated = result.parts, result.activated
        return target

    return changed


def _matmul(func: TorchFunction, a: Tensor, b: Tensor, /) -> Tensor:
    if isinstance(a, DecomposedTensor):
        if isinstance(b, DecomposedTensor):
            return total(a) @ total(b)  # queries by keys: scores
        return decomposed(total(a) @ b, [None if p is None else materialize(p, a) @ b for p in a.parts])
    assert isinstance(b, DecomposedTensor)
    # Patterns times values: all sources side by side, so that the pattern is read once.
    whole = total(b)
    present = [whole, *(materialize(p, whole) for p in b.parts if p is not None)]
    mixed = iter((a @ torch.cat(present, -1)).split(whole.shape[-1], -1))
    first = next(mixed)
    return decomposed(first, [None if p is None else next(mixed) for p in b.parts])


def _projected(parts: Sequence[Part], whole: Tensor, through: Callable[[Tensor], Tensor], bias: Part) -> list[Part]:
    """Parts through a linear map: those of the whole's shape side by side, so that the weights are read once."""
    wide = [p for p in parts if p is not None and p.shape == whole.shape]
    mapped = iter(through(torch.stack(wide)).unbind() if len(wide) > 1 else [through(p) for p in wide])
    results = [None if p is None else next(mapped) if p.shape == whole.shape else through(p) for p in parts]
    return [*results[:-1], _added(results[-1], bias)]


def _linear(
    func: TorchFunction, input: DecomposedTensor, weight: Tensor, bias: Tensor | None = None
) -> DecomposedTensor:
    whole = total(input)
    results = _projected(input.parts, whole, lambda part: functional.linear(part, weight), bias)
    return decomposed(functional.linear(whole, weight, bias), results)


def _addmm(func: TorchFunction, bias: Tensor, x: DecomposedTensor, weight: Tensor, /) -> DecomposedTensor:
    results = _projected(x.parts, total(x), lambda part: part @ weight, bias)
    return decomposed(torch.addmm(bias, total(x), weight), results)


def _baddbmm(func: TorchFunction, /, *args: object, **kwargs: object) -> Tensor:
    """Scores as BLOOM makes them: alibi + query @ key."""
    return func(*(total(arg) for arg in args), **{key: total(value) for key, value in kwargs.items()})


def _conv2d(
    func: TorchFunction,
    x: DecomposedTensor,
    weight: Tensor,
    bias: Tensor | None = None,
    /,
    *args: object,
    **kwargs: object,
) -> DecomposedTensor:
    whole = func(total(x), weight, bias, *args, **kwargs)
    results = [None if p is None else func(materialize(p, x), weight, None, *args, **kwargs) for p in x.parts]
    results[-1] = _added(results[-1], None if bias is None else bias[:, None, None])
    return decomposed(whole, results)


def _embedding(
    func: TorchFunction, places: Tensor, table: DecomposedTensor, /, *args: object, **kwargs: object
) -> DecomposedTensor:
    """Rows of a table that has sources of its own."""
    return decomposed(
        func(places, total(table), *args, **kwargs),
        [None if p is None else func(places, materialize(p, table), *args, **kwargs) for p in table.parts],
    )


def _layer_norm(
    func: TorchFunction,
    input: DecomposedTensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float | None = None,
) -> DecomposedTensor:
    """gamma * (x - mean(x)) / sigma(whole): only with sigma taken on the whole do the parts add up."""
    whole, shape, eps = total(input), list(normalized_shape), 1e-5 if eps is None else eps
    dims = tuple(range(-len(shape), 0))
    scale = (whole.var(dims, unbiased=False, keepdim=True) + eps).rsqrt()
    if weight is not None:
        scale = scale * weight
    results = [None if p is None else (p - p.mean(dims, keepdim=True)) * scale for p in input.parts]
    results[-1] = _added(results[-1], bias)
    return decomposed(functional.layer_norm(whole, shape, weight, bias, eps), results)


def _rms_norm(
    func: TorchFunction,
    input: DecomposedTensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> DecomposedTensor:
    whole, shape = total(input), list(normalized_shape)
    floor = torch.finfo(whole.dtype).eps if eps is None else eps
    scale = (whole.square().mean(tuple(range(-len(shape), 0)), keepdim=True) + floor).rsqrt()
    if weight is not None:
        scale = scale * weight
    return decomposed(
        functional.rms_norm(whole, shape, weight, eps), [None if p is None else p * scale for p in input.parts]
    )


def activation(x: DecomposedTensor, whole: Tensor, gate: gates.Gate) -> DecomposedTensor:
    """act(x), given its value on the whole and the gate that goes with it."""
    gate_value = gate(total(x))
    return decomposed(whole, [None if p is None else p * gate_value for p in x.parts], activated=True)


def _gelu(func: TorchFunction, x: DecomposedTensor, /, *, approximate: str = "none") -> DecomposedTensor:
    gate = gates.gelu if approximate == "none" else gates.gelu_tanh
    return activation(x, functional.gelu(total(x), approximate=approximate), gate)


def _activation_rule(gate: gates.Gate) -> Rule:
    def rule(func: TorchFunction, x: DecomposedTensor, /, *_: object, **__: object) -> DecomposedTensor:
        return activation(x, func(total(x)), gate)

    return rule


def _joined(func: TorchFunction, tensors: Sequence[Tensor], *args: object, **kwargs: object) -> DecomposedTensor:
    """cat and stack: what has no parts is all bias."""
    wholes = [total(tensor) for tensor in tensors]
    reference = next(t for t in tensors if isinstance(t, DecomposedTensor))
    results: list[Part] = []
    for parts in zip(*(_parts_of(t, reference) for t in tensors), strict=True):
        nothing = all(p is None for p in parts)
        results.append(
            None if nothing else func([materialize(p, w) for p, w in zip(parts, wholes, strict=True)], *args, **kwargs)
        )
    return decomposed(func(wholes, *args, **kwargs), results)


def _masked_fill(func: TorchFunction, x: Tensor, mask: Tensor, value: float | Tensor) -> Tensor | Sequence[Tensor]:
    if value != 0:
        raise ModelError(f"The model fills hidden states with {value}; only 0 is a sum over sources.")
    return _each(func, x, mask, value)


RULES |= {
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
    "zeros_like": _zeros_like,
    "new_empty": _new_empty,
    "copy_": _copied,
    "index_add_": _index_add,
    "contiguous": _contiguous,
    "linear": _linear,
    "addmm": _addmm,
    "baddbmm": _baddbmm,
    "conv2d": _conv2d,
    "embedding": _embedding,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "gelu": _gelu,
    "silu": _activation_rule(torch.sigmoid),
    "relu": _activation_rule(gates.relu),
    "masked_fill": _masked_fill,
}
