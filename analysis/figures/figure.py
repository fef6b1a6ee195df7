"""Figures: their parameters, rows, captions, sources and drawings.

A figure is one function in one file, registered under the figure's name. It turns typed `Parameters`, which are values
of a link, into a `Figure`: rows, words and drawing. The dashboard and the command line make the same one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

import pandas as pd

from analysis.core.arguments import Parameters, one_of, whole_number
from analysis.core.registry import Registry
from analysis.links import Values
from analysis.store.paths import cached_until_store_changes

if TYPE_CHECKING:
    from analysis.figures.drawing import Chart, Theme

__all__ = [
    "FIGURES",
    "STRONGEST",
    "Figure",
    "FigureSpec",
    "LiveRun",
    "Parameters",
    "figure",
    "one_of",
    "stored_figure",
    "whole_number",
]

LONGEST_HEADING = 175
"""Letters of the longest heading, which takes two lines on a wide screen."""
STRONGEST = -1
"""The index in a link that stands for the strongest layer, head, token or source of what is shown."""


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
    sentences: a list of its numbers in words, which a page folds under the figure.
    summary: the rows that a table in a paper would have, where the frame has more of them than a reader can use.
    quantity: what that table's values are, with their unit, as its heading; its intervals are then 95 % intervals.
    draw: the panels on a light or dark ground, in the order in which they stand. columns: the panels side by side.
    proportions: the height of each panel as a share of the width of its place, where it follows that.
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
    quantity: str = ""
    columns: int = 1
    proportions: tuple[float, ...] = ()

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


def stored_figure(name: str, values: Values) -> Figure:
    """A figure of stored results. It is made once for the values that its parameters declare, until the store changes.

    Raises what `FigureSpec.of` does.
    """
    return _stored_figure(name, FIGURES[name].parameters.of(values))


@cached_until_store_changes(128)
def _stored_figure(name: str, parameters: Parameters) -> Figure:
    return FIGURES[name].build(parameters)


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
