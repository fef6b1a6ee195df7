"""Figures: their parameters, rows, captions, sources and drawings.

A figure is one function in one file, registered under the figure's name. It turns typed `Parameters`, which are values
of a link, into a `Figure`: rows, words and drawing. The dashboard and the command line make the same one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, ParamSpec, Self, TypeVar

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from analysis.core.errors import LinkError
from analysis.core.registry import Registry
from analysis.links import Values

if TYPE_CHECKING:
    from analysis.figures.drawing import Chart, Theme

STRONGEST = -1
"""The index in a link that stands for the strongest layer, head, token or source of what is shown."""


class Parameters(BaseModel):
    """The parameters of one figure: some of the fields of the link of a page that shows it.

    A subclass names its fields with their types; `Annotated[str, one_of(KNOWN)]` is a field that may say one of those.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    topic: ClassVar[str] = ""
    """The word before a field's name in the link of a page whose other figures use that name too: `glue_preset`."""

    @classmethod
    def of(cls, values: Values) -> Self:
        """The parameters that a link's values give; fields of other figures are passed over.

        Raises LinkError, naming the field, its value and what was expected.
        """
        try:
            return cls.model_validate(cls.declared(values))
        except ValidationError as invalid:
            raise LinkError(" ".join(_explain(error) for error in invalid.errors())) from None

    @classmethod
    def declared(cls, values: Values) -> dict[str, Any]:
        """The entries of a link's values that this class declares, by their names without the topic.

        >>> GlueParameters.declared({"preset": "cpu2", "glue_preset": "surgery", "protocol": "mean"})
        {'preset': 'surgery', 'protocol': 'mean'}
        """
        fields = cls.fields(values)
        return {name: values[field] for name, field in fields.items() if field in values}

    @classmethod
    def fields(cls, known: Collection[str]) -> dict[str, str]:
        """The name of each parameter -> the field of a link that gives it: its own, or that with the topic before it.

        known: the names of the link's fields.
        """
        names = [info.alias or name for name, info in cls.model_fields.items()]
        return {name: f"{cls.topic}_{name}" if f"{cls.topic}_{name}" in known else name for name in names}

    def values(self, *names: str) -> dict[str, Any]:
        """Some of the fields with their values, as a link has them; all where none is named."""
        return {name: getattr(self, name) for name in names or type(self).model_fields}


def one_of(known: Collection[str]) -> AfterValidator:
    """Restricts a field to known values: `measure: Annotated[str, one_of(MEASURES)]`."""

    def check(value: str) -> str:
        if value not in known:
            raise PydanticCustomError("one_of", "expected one of: {expected}", {"expected": ", ".join(known)})
        return value

    return AfterValidator(check)


def whole_number(minimum: int, maximum: int) -> AfterValidator:
    """Restricts a field to a range, both ends included: `angle: Annotated[int, whole_number(0, 90)]`."""

    def check(value: int) -> int:
        if not minimum <= value <= maximum:
            limits = {"least": minimum, "most": maximum}
            raise PydanticCustomError("whole_number", "expected a whole number from {least} to {most}", limits)
        return value

    return AfterValidator(check)


def _explain(error: Mapping[str, Any]) -> str:
    """One problem that pydantic has with a link's value, as a sentence."""
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"The link says nothing of {name}, which this figure needs."
    return f"The link says {name}={error['input']!r}; {error['msg'][0].lower()}{error['msg'][1:]}."


@dataclass(frozen=True, kw_only=True, eq=False)
class Figure:
    """One figure's content. Two figures are equal when they are the same one.

    name: the one it is registered under; the registration sets it.
    title: names the quantity that is drawn. finding: the result with its numbers, as one sentence without a full stop;
    it is the heading if there is one. frame: the tidy data behind the chart, made on demand, since a large map has many
    rows. caption: the measure, its data, the number of samples and the uncertainty. alt: describes the figure to
    readers who cannot see it.
    command: reproduces the numbers from a checkout. provenance: the origin of the numbers, by name. A live figure
    without these two takes them from its `LiveRun`.
    sentences: shown above the figure as a list, besides the finding.
    summary: the rows that a table in a paper would have, where the frame has more of them than a reader can use.
    draw: the panels on a light or dark ground, in the order in which they stand. columns: the panels side by side.
    """

    title: str
    frame: Callable[[], pd.DataFrame]
    caption: str
    alt: str
    draw: "Callable[[Theme], Sequence[Chart]]"
    summary: Callable[[], pd.DataFrame] | None = None
    name: str = ""
    command: str = ""
    provenance: Mapping[str, str] = field(default_factory=dict)
    citation_keys: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    finding: str = ""
    columns: int = 1

    @property
    def heading(self) -> str:
        """The heading above the figure: its finding or, if there is none, its title."""
        return self.finding or self.title


RunT = TypeVar("RunT")


@dataclass(frozen=True, kw_only=True)
class LiveRun(Generic[RunT]):
    """A kind of run of a model, with the facts that all figures of such a run share.

    obtain: makes the run that a link's values ask for. provenance: the origin of its numbers. command: makes the run
    again. A figure without a command or citation_keys takes those given here.
    """

    obtain: Callable[[Values], RunT]
    provenance: Callable[[RunT], Mapping[str, str]]
    command: Callable[[RunT], str] = lambda run: ""
    citation_keys: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FigureSpec:
    """The recipe for one figure.

    parameters: the class of its parameters. build: makes the figure from its parameters and, if `live` is given, from a
    run of a model.
    """

    parameters: type[Parameters]
    build: Callable[..., Figure]
    live: LiveRun[Any] | None = None

    def of(self, values: Values, *run: object) -> Figure:
        """The figure that a link's values ask for; of a live one, of the run that is given.

        Raises LinkError where a value is none that the figure knows, and what building raises.
        """
        return self.build(self.parameters.of(values), *run)

    def make(self, values: Values) -> Figure:
        """The figure, its run included. Raises the errors of `of` and of the run."""
        return self.of(values, self.live.obtain(values)) if self.live else self.of(values)


FIGURES: Registry[FigureSpec] = Registry("figure")

ParametersT = TypeVar("ParametersT", bound=Parameters)
RunP = ParamSpec("RunP")
Build = Callable[Concatenate[ParametersT, RunP], Figure]


def figure(
    name: str, parameters: type[ParametersT], *, live: LiveRun[Any] | None = None
) -> Callable[[Build[ParametersT, RunP]], Build[ParametersT, RunP]]:
    """Registers a function (parameters) -> Figure, or (parameters, run) -> Figure where `live` gives the run.

    The figure gets the name and, if it is live, the provenance, command and citation keys that `live` gives.
    """

    def register(build: Build[ParametersT, RunP]) -> Build[ParametersT, RunP]:
        @wraps(build)
        def complete(params: ParametersT, *run: RunP.args, **kwargs: RunP.kwargs) -> Figure:
            result = replace(build(params, *run, **kwargs), name=name)
            if live is None:
                return result
            return replace(
                result,
                command=result.command or live.command(run[0]),
                provenance=result.provenance or live.provenance(run[0]),
                citation_keys=result.citation_keys or live.citation_keys,
            )

        FIGURES.add(name, FigureSpec(parameters=parameters, build=complete, live=live))
        return complete

    return register
