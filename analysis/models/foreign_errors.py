"""Errors that a model's own code raises, as sentences: the class of the error and where it arose, never its text.

A model of transformers may refuse what every other one takes: CANINE has no table of words, and Funnel takes no text
as short as ours. Its text is a library's and written for programmers; the class and the place can be looked up.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

import torch

from analysis.core.errors import AddendError, ModelError, StopForward

OWN = ("analysis", "dashboard")
"""Packages whose errors are passed on: those who ask for a pass may end it by an exception of theirs."""
ROOT = Path(__file__).parents[2]
INSTALLED = {Path(prefix) for prefix in (sys.prefix, sys.base_prefix)}
"""The folders of Python's own code and of installed packages."""
LIBRARIES = ("transformers", "tokenizers", "safetensors")
"""Packages that are named as the place of an error: the innermost of their frames is."""


def place(error: BaseException) -> str:
    """The class of an error and where it arose: NotImplementedError in modeling_canine.py, get_input_embeddings."""
    frames = extract_tb(error.__traceback__)
    inside = [frame for frame in frames if _package(frame.filename) in LIBRARIES]
    if not inside:
        return type(error).__name__
    model = [frame for frame in inside if "models" in Path(frame.filename).parts]
    frame = (model or inside)[-1]
    return f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}, {frame.name}"


def from_library(error: BaseException) -> bool:
    """True if an error is one of a library's code, and no sentence, no end of a pass and no lack of room.

    A model calls our attention and our rules; what fails there is our fault, unless tensors do not fit one another. It
    also calls hooks, of whoever uses this package from a script of their own: their errors are theirs.
    """
    if isinstance(error, AddendError | StopForward | MemoryError | torch.OutOfMemoryError):
        return False
    if type(error).__module__.split(".")[0] in OWN:
        return False
    frames = extract_tb(error.__traceback__)
    if not any(_package(frame.filename) in LIBRARIES for frame in frames):
        return False
    origin = Path(frames[-1].filename)
    if any(ROOT / package in origin.parents for package in OWN):
        return isinstance(error, RuntimeError)
    return origin.name.startswith("<") or any(prefix in origin.parents for prefix in INSTALLED)


@contextmanager
def as_model_errors(name: str, doing: str = "on this input") -> Iterator[None]:
    """Within, and in a function that it decorates, an error of a model's own code is a ModelError with its place.

    name: what the model is called. doing: at what its code failed.
    """
    try:
        yield
    except Exception as error:
        if not from_library(error):
            raise
        raise ModelError(
            f"{name} cannot be read: its own code in transformers failed {doing} ({place(error)}). "
            "Choose another input, or a model of another architecture."
        ) from error


@contextmanager
def as_tokenizer_errors() -> Iterator[None]:
    """Within, an error of a tokenizer's own code is a ModelError with its class: tokenizers raise plain Exception."""
    try:
        yield
    except Exception as error:
        if not from_library(error):
            raise
        raise ModelError(
            f"The tokenizer of this model fails on this text ({place(error)}). Save the model again together with its "
            "tokenizer, or choose another text or model."
        ) from error


def _package(file: str) -> str:
    """The installed package that a file belongs to; empty for one of Python's own or of this project."""
    parts = Path(file).parts
    return parts[parts.index("site-packages") + 1] if "site-packages" in parts[:-1] else ""
