"""What a figure shows, before anything is drawn: its data, its caption, and where the numbers come from.

A figure is built from the parameters of a link, so that the dashboard and the command line make the
same one. Its drawing is registered under the same name in analysis/figures/drawings.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from analysis.core.registry import Registry

Params = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Figure:
    """One figure's content. Two figures are equal when they are the same one.

    title: what is drawn. finding: what it shows, as one sentence without its full stop, with its numbers; the heading
    where there is one. frame: the data behind the chart, tidy, made when asked for (a large map has many rows).
    caption: what, on what, how many, how sure. alt: what a reader who cannot see it should be told.
    command: reproduces the numbers from a checkout. provenance: what the numbers trace to.
    content: whatever the drawing needs besides the frame (arrays of a map, domains).
    """

    name: str
    title: str
    frame: Callable[[], pd.DataFrame]
    caption: str
    alt: str
    command: str
    provenance: Mapping[str, str] = field(default_factory=dict)
    citation_keys: tuple[str, ...] = ()
    content: Mapping[str, Any] = field(default_factory=dict)
    finding: str = ""

    @property
    def heading(self) -> str:
        """What stands above the figure: its finding, or where there is none what is drawn."""
        return self.finding or self.title


@dataclass(frozen=True, kw_only=True)
class Builder:
    """How a figure is made. Live ones need besides the parameters what `live` makes of them: a model's run."""

    build: Callable[..., Figure]
    live: Callable[[Params], Any] | None = None

    def make(self, params: Params) -> Figure:
        """The figure, its run included."""
        return self.build(params, self.live(params)) if self.live else self.build(params)


FIGURES: Registry[Builder] = Registry("figure")


def figure(
    name: str, *, live: Callable[[Params], Any] | None = None
) -> Callable[[Callable[..., Figure]], Callable[..., Figure]]:
    """Registers a function (params) -> Figure, or (params, run) -> Figure where `live` gives the run."""

    def register(build: Callable[..., Figure]) -> Callable[..., Figure]:
        FIGURES.add(name, Builder(build=build, live=live))
        return build

    return register
