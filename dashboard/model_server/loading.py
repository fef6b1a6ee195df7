"""Loads models and runs requests on them: strangers' models in processes of their own, all others in this one."""

import gc
from collections.abc import Callable
from importlib import import_module
from typing import Any

from analysis.core import settings
from dashboard.model_server.foreign_models import ForeignModel
from dashboard.model_server.server import LiveRequest
from dashboard.model_server.sizes import model_bytes


def is_foreign(source: Any) -> bool:
    """True if a model is a stranger's. Only a hosted server has any: at home, the reader is its owner."""
    return settings.hosted() and source.from_hub


def load(request: LiveRequest, source: Any, check: Callable[[], None]) -> Any:
    """The model of a request. check: raises when the work is to end."""
    if is_foreign(source):
        return ForeignModel(request, source, settings.number("ADDEND_SECONDS"), check)
    freeze_libraries()
    return request.load(lambda _: check(), source)


def run(request: LiveRequest, loaded: Any, check: Callable[[], None]) -> Any:
    """The result of a request. check: raises when the work is to end."""
    if isinstance(loaded, ForeignModel):
        return loaded.run(request, check)
    from analysis.models.cancellation import cancellable

    with cancellable(check):
        return request.run(loaded)


def size(loaded: Any) -> int:
    """Bytes of a model: those of its process, where it has one of its own."""
    return loaded.bytes if isinstance(loaded, ForeignModel) else model_bytes(loaded)


def freeze_libraries() -> None:
    """Keeps the garbage collector from scanning PyTorch whenever a model makes room: that takes longer than loading a
    small model. Does so once, before any model is loaded, since what exists by then is never collected.
    """
    if gc.get_freeze_count():
        return
    import_module("torch")
    import_module("transformers")
    gc.collect()
    gc.freeze()
