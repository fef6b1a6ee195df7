"""The code of a model as its library published it, beside the code that runs.

Libraries that make models faster replace functions of transformers while a program runs, and so do people. The files of
the library are read anew, under other names, so that what was replaced is not. A layer can then be asked what the
published code makes of its weights and of its config.
"""

import copy
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import torch
from torch import nn
from transformers import PreTrainedModel

PUBLISHED = "transformers."
PREFIX = "published_"
PLAIN = (bool, int, float, str, type(None))
"""Kinds of attributes by which a config tells a module what to do."""


def published_module(name: str) -> ModuleType | None:
    """A module of the library, read anew from its file, once a process; None where there is no such file."""
    package, _, stem = name.rpartition(".")
    other_name = f"{package}.{PREFIX}{stem}"
    if read_before := sys.modules.get(other_name):
        return read_before
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None or not Path(found.origin).is_file():
        return None
    spec = importlib.util.spec_from_file_location(other_name, found.origin)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[other_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[other_name]
        raise
    return module


def published_class(kind: type) -> type | None:
    """The class as it was published, or the nearest of its bases that was; None where none of them was."""
    for base in kind.__mro__:
        if base.__module__.startswith(f"{PUBLISHED}models."):
            module = published_module(base.__module__)
            return None if module is None else getattr(module, base.__name__, None)
    return None


def published_model(model: PreTrainedModel) -> PreTrainedModel | None:
    """The model that the published code makes of its config, without weights; None where it is not of the library."""
    kind = published_class(type(model))
    if kind is None or not issubclass(kind, PreTrainedModel):
        return None
    with torch.device("meta"):
        return kind._from_config(copy.deepcopy(model.config))


@contextmanager
def as_published(module: nn.Module, fresh: nn.Module) -> Iterator[None]:
    """A context in which a module and those inside it are of the published classes, with its config's attributes.

    fresh: the same module of `published_model`. The weights stay as they are.
    """
    kept: list[tuple[nn.Module, type, dict[str, object]]] = []
    try:
        others = dict(fresh.named_modules())
        for path, part in module.named_modules():
            other = others.get(path)
            kind = published_class(type(part)) if other is None else type(other)
            if kind is None:
                continue
            kept.append((part, type(part), dict(vars(part))))
            if kind is not type(part):
                part.__class__ = kind
            vars(part).pop("forward", None)
            if other is not None:
                plain = {key: value for key, value in vars(other).items() if _plain(key, value)}
                vars(part).update(plain)
        yield
    finally:
        for part, kind, attributes in kept:
            part.__class__ = kind
            vars(part).clear()
            vars(part).update(attributes)


def _plain(key: str, value: object) -> bool:
    return not key.startswith("_") and key != "training" and isinstance(value, PLAIN)
