"""Registries of named objects, each registered by the file that defines it."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Generic, TypeVar

from analysis.core.errors import UnknownName

T = TypeVar("T")


class Registry(Generic[T]):
    """Named objects of one kind, in order of registration.

    >>> shapes = Registry[int]("shape")
    >>> shapes.add("square", 4)
    4
    >>> shapes["square"]
    4
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T) -> T:
        """Registers `entry` under `name`. A name may be registered once: ValueError."""
        if name in self._entries:
            raise ValueError(f"the {self.kind} {name!r} is registered already; give the new one another name")
        self._entries[name] = entry
        return entry

    def register(self, name: str) -> Callable[[T], T]:
        """`add` as a decorator."""
        return lambda entry: self.add(name, entry)

    def __getitem__(self, name: str) -> T:
        try:
            return self._entries[name]
        except KeyError:
            known = ", ".join(self._entries) or "none yet"
            raise UnknownName(f"There is no {self.kind} named {name!r}. Known: {known}.") from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> Iterator[tuple[str, T]]:
        """Names with their objects."""
        return iter(self._entries.items())


def import_all(package: ModuleType | str) -> None:
    """Imports every module of a package, so that what its files register is registered."""
    module = importlib.import_module(package) if isinstance(package, str) else package
    for info in sorted(pkgutil.iter_modules(module.__path__), key=lambda m: m.name):
        importlib.import_module(f"{module.__name__}.{info.name}")


def subpackages(package: ModuleType | str) -> list[str]:
    """The dotted names of the packages directly inside a package, in alphabetical order."""
    module = importlib.import_module(package) if isinstance(package, str) else package
    return sorted(f"{module.__name__}.{info.name}" for info in pkgutil.iter_modules(module.__path__) if info.ispkg)
