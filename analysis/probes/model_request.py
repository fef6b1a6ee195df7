"""The base of every probe of a model: a model as a reader named it, and a run of it. Imports no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from analysis.core.arguments import validated
from analysis.links import Values

if TYPE_CHECKING:
    from analysis.models.load import Loaded
    from analysis.models.source import Source

ResultT = TypeVar("ResultT")


def silent(message: str) -> None:
    """Takes a message of progress that nobody reads."""


@dataclass(frozen=True, kw_only=True)
class ModelRequest(ABC, Generic[ResultT]):
    """A model and what is asked of it. Two requests are equal where the same is asked of the same model.

    model: as `analysis.models.source.resolve` takes it. revision: a branch, tag or commit on a hub.
    """

    model: str
    revision: str | None = None
    head: ClassVar[bool] = False
    """True if the probe needs the head that predicts tokens, of a model that has one."""
    terms: ClassVar[bool] = True
    """True if the probe takes only models whose terms are known."""

    @classmethod
    def of(cls, values: Values, **arguments: Any) -> Self:
        """The request that the values of a link make: each field is that of the link by the same name, unless it is
        given.

        An empty value stands for None where that is the field's default. Raises LinkError for a value that a field
        does not take.
        """
        link_values: dict[str, Any] = {
            field.name: None if field.default is None and values[field.name] == "" else values[field.name]
            for field in fields(cls)
            if field.name in values
        }
        return validated(cls, link_values | arguments)

    @classmethod
    def obtain(cls, values: Values) -> ResultT:
        """The result that the values of a link ask for, run now."""
        return cls.of(values).run()

    def place(self) -> Hashable:
        """The model as it was asked for."""
        return self.model.strip(), self.revision, self.terms

    def find(self, progress: Callable[[str], None] = silent, *, fetch: bool = True) -> Source:
        """The source of the model's files. fetch: true if they may be downloaded.

        Raises ModelError where there is no such model, or none that can be probed.
        """
        from analysis.models.source import resolve

        return resolve(self.model, self.revision, progress, terms=self.terms, fetch=fetch)

    def load(self, progress: Callable[[str], None] = silent, result: Source | None = None) -> Loaded:
        """The model; `result` is where its files are, where the caller knows it already. Raises ModelError."""
        from analysis.models.load import load

        return load(result or self.find(progress), progress=progress, head=self.head)

    @abstractmethod
    def run(self, loaded: Loaded | None = None) -> ResultT:
        """The result; `loaded` is the model, where the caller holds it already."""
