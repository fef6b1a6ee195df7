"""Cancels a forward pass by a function that is called before each module and may raise."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch.nn.modules.module import register_module_forward_pre_hook


@contextmanager
def cancellable(check: Callable[[], None]) -> Iterator[None]:
    """Calls `check` before each module that this thread runs inside the block; what it raises ends the pass."""
    thread = threading.get_ident()

    def check_in_thread(_: object, __: object) -> None:
        if threading.get_ident() == thread:
            check()

    hook = register_module_forward_pre_hook(check_in_thread)
    try:
        yield
    finally:
        hook.remove()
