"""Scores of attention that runs code of its own and ignores transformers' interface, taken as they go into its softmax.

While such a module runs, every torch function it calls is seen. The first product of two factors is queries by
keys; what the mask is put on, or else what the softmax is given, are the scores; the softmax gives the pattern.
The same listener is told of the same Call as by `capture.attend`, and may put other scores in their place.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from analysis.core.errors import ModelError
from analysis.models.capture import Call, DistanceLookup, Listener, listening
from analysis.streams.tensor import TorchFunction, total

PRODUCTS = ("matmul", "bmm", "__matmul__", "baddbmm")
SUMS = ("add", "__add__", "__radd__", "__iadd__", "add_")


class OwnAttention(Protocol):
    """What a family says of attention that runs code of its own: see the members of `Family` of these names."""

    distances: str

    def scale(self, module: nn.Module) -> float:
        """What the product of the two factors is multiplied by."""
        ...

    def added(self, module: nn.Module, given: Mapping[str, object], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """What is added to the scores, term by term, from what the module was given or its own methods."""
        ...


class _Watch(TorchFunctionMode):
    """One call of one attention module."""

    def __init__(self, module: nn.Module, own: OwnAttention, given: Mapping[str, object], listener: Listener) -> None:
        super().__init__()
        self.module, self.own, self.given, self.listener = module, own, given, listener
        self.factors: tuple[Tensor, Tensor] | None = None
        self.call: Call | None = None

    def __torch_function__(
        self,
        func: TorchFunction,
        types: Iterable[type],
        args: Sequence[Tensor] = (),
        kwargs: Mapping[str, Tensor] | None = None,
    ) -> object:
        """Runs `func` as ever, but on the listener's scores where it masks scores or takes their softmax."""
        name, named = getattr(func, "__name__", ""), kwargs or {}
        if name in PRODUCTS and self.factors is None:
            first, second = _factors(name, args, named)
            self.factors = first, second.transpose(-1, -2)
        elif self.factors is not None and self.call is None:
            if name in ("masked_fill", "masked_fill_"):
                scores, hidden, value = args
                shown = self._told(scores, hidden.to(scores.dtype) * value)
                return func(shown, hidden, value, **named)
            mask = self.given.get("attention_mask")
            assert mask is None or isinstance(mask, Tensor)
            if name == "where":  # where(seen, scores, least): what is masked by place, before padding is
                seen, scores, least = args
                hidden = (~seen).to(scores.dtype) * least
                shown = self._told(scores, hidden if mask is None else hidden + mask)
                return func(seen, shown, least, **named)
            if name in SUMS and mask is not None and args[1] is mask:
                return func(self._told(args[0], mask), mask, **named)
        if name in ("softmax", "_softmax") and self.factors is not None:
            scores, *rest = args
            if self.call is None:
                scores = self._told(scores, None)
            pattern = func(total(scores), *rest, **named)
            assert self.call is not None
            self.listener.pattern(self.call, pattern)
            return pattern
        return func(*args, **named)

    def _told(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """The scores to go on with."""
        assert self.factors is not None
        scores = total(scores)
        query, key = (x.reshape(*scores.shape[:2], *x.shape[-2:]) for x in self.factors)
        scale = self.own.scale(self.module)

        def at(**instead: Tensor) -> Sequence[Tensor]:
            return self.own.added(self.module, {**self.given, **instead}, total(query), total(key))

        parts, name, looked = at(), self.own.distances, None
        added = functools.reduce(torch.add, parts) if parts else None
        if name and parts:
            distances = self.given[name]
            assert isinstance(distances, Tensor)
            looked = DistanceLookup(distances, lambda other: functools.reduce(torch.add, at(**{name: other})))
        self.call = Call(self.module, query, key, scale, added, scores, mask, looked, parts)
        return self.listener.scores(self.call)


def _factors(name: str, args: Sequence[Tensor], named: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Of a product; of baddbmm(input, batch1, batch2), the batches."""
    if name != "baddbmm":
        return args[0], args[1]
    entries = dict(zip(("input", "batch1", "batch2"), args, strict=False)) | dict(named)
    return entries["batch1"], entries["batch2"]


@contextmanager
def capture_attention(modules: Iterable[nn.Module], own: OwnAttention) -> Iterator[None]:
    """Within, whoever listens is told of the attention of these modules.

    Raises ModelError where the forward of one has been replaced already.
    """
    with ExitStack() as undo:
        for module in dict.fromkeys(modules):
            if "forward" in vars(module):
                raise ModelError(
                    f"{type(module).__name__} has had its forward replaced, so its own scores cannot be read. Load "
                    "the model again."
                )
            vars(module)["forward"] = _forward(module, own)
            undo.callback(vars(module).pop, "forward")
        yield


def _forward(module: nn.Module, own: OwnAttention) -> Callable[..., object]:
    forward = module.forward
    signature = inspect.signature(forward)

    def run(*args: object, **kwargs: object) -> object:
        listener = listening()
        if listener is None:
            return forward(*args, **kwargs)
        with _Watch(module, own, signature.bind(*args, **kwargs).arguments, listener):
            return forward(*args, **kwargs)

    return run
