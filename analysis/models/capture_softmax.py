"""Captures the scores of attention modules whose own code ignores transformers' interface, at their softmax.

While such a module runs, every torch function that it calls is intercepted. The first matrix product is queries by
keys; the scores are what the mask is applied to, or else the input of the softmax; the softmax gives the pattern.
The listener gets the same Call as from `capture.attend`, and may replace the scores.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from analysis.core.errors import ModelError
from analysis.models.capture import Call, DistanceLookup, Listener, current_listener
from analysis.models.families import Family
from analysis.streams.tensor import TorchFunction, total

PRODUCTS = ("matmul", "bmm", "__matmul__", "baddbmm")
SUMS = ("add", "__add__", "__radd__", "__iadd__", "add_")


class _AttentionWatch(TorchFunctionMode):
    """One call of one attention module."""

    def __init__(self, module: nn.Module, family: Family, arguments: Mapping[str, object], listener: Listener) -> None:
        super().__init__()
        self.module, self.family, self.arguments, self.listener = module, family, arguments, listener
        self.factors: tuple[Tensor, Tensor] | None = None
        self.call: Call | None = None

    def __torch_function__(
        self,
        func: TorchFunction,
        types: Iterable[type],
        args: Sequence[Tensor] = (),
        kwargs: Mapping[str, Tensor] | None = None,
    ) -> object:
        """Runs `func`, on the listener's scores where it masks scores or takes their softmax."""
        name, keywords = getattr(func, "__name__", ""), kwargs or {}
        if name in PRODUCTS and self.factors is None:
            first, second = _factors(name, args, keywords)
            self.factors = first, second.transpose(-1, -2)
        elif self.factors is not None and self.call is None:
            if name in ("masked_fill", "masked_fill_"):
                scores, hidden, value = args
                edited = self._edited_scores(scores, hidden.to(scores.dtype) * value)
                return func(edited, hidden, value, **keywords)
            mask = self.arguments.get("attention_mask")
            assert mask is None or isinstance(mask, Tensor)
            if name == "where":  # where(visible, scores, minimum): masks by position, before padding
                visible, scores, minimum = args
                hidden = (~visible).to(scores.dtype) * minimum
                edited = self._edited_scores(scores, hidden if mask is None else hidden + mask)
                return func(visible, edited, minimum, **keywords)
            if name in SUMS and mask is not None and args[1] is mask:
                return func(self._edited_scores(args[0], mask), mask, **keywords)
        if name in ("softmax", "_softmax") and self.factors is not None:
            scores, *rest = args
            if self.call is None:
                scores = self._edited_scores(scores, None)
            pattern = func(total(scores), *rest, **keywords)
            assert self.call is not None
            self.listener.pattern(self.call, pattern)
            return pattern
        return func(*args, **keywords)

    def _edited_scores(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """The scores with which the pass continues, from the listener."""
        assert self.factors is not None
        scores = total(scores)
        query, key = (x.reshape(*scores.shape[:2], *x.shape[-2:]) for x in self.factors)
        scale = self.family.scale(self.module)

        def added_terms(**changed: Tensor) -> Sequence[Tensor]:
            return self.family.added(self.module, {**self.arguments, **changed}, total(query), total(key))

        parts, name, lookup = added_terms(), self.family.distances, None
        added = functools.reduce(torch.add, parts) if parts else None
        if name and parts:
            distances = self.arguments[name]
            assert isinstance(distances, Tensor)
            lookup = DistanceLookup(distances, lambda x: functools.reduce(torch.add, added_terms(**{name: x})))
        self.call = Call(self.module, query, key, scale, added, scores, mask, lookup, parts)
        return self.listener.scores(self.call)


def _factors(name: str, args: Sequence[Tensor], keywords: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """The factors of a product; of baddbmm(input, batch1, batch2), the batches."""
    if name != "baddbmm":
        return args[0], args[1]
    factors = dict(zip(("input", "batch1", "batch2"), args, strict=False)) | dict(keywords)
    return factors["batch1"], factors["batch2"]


@contextmanager
def capture_attention(modules: Iterable[nn.Module], family: Family) -> Iterator[None]:
    """Within, the current listener is called for the attention of these modules.

    Raises ModelError where the forward of one has been replaced already.
    """
    with ExitStack() as stack:
        for module in dict.fromkeys(modules):
            if "forward" in vars(module):
                raise ModelError(
                    f"{type(module).__name__} has had its forward replaced, so its own scores cannot be read. Load "
                    "the model again."
                )
            vars(module)["forward"] = _forward(module, family)
            stack.callback(vars(module).pop, "forward")
        yield


def _forward(module: nn.Module, family: Family) -> Callable[..., object]:
    forward = module.forward
    signature = inspect.signature(forward)

    def run(*args: object, **kwargs: object) -> object:
        listener = current_listener()
        if listener is None:
            return forward(*args, **kwargs)
        with _AttentionWatch(module, family, signature.bind(*args, **kwargs).arguments, listener):
            return forward(*args, **kwargs)

    return run
