"""Reads what a figure draws back from its Vega-Lite, as the browser gets it."""

from collections.abc import Iterator
from typing import Any

import altair as alt
import pandas as pd

from analysis.figures import Figure, drawing
from analysis.figures.drawing import Theme
from dashboard.widgets.vega_specs import vega_specs


def valid_panels(figure: Figure, theme: Theme | None = None) -> list[dict[str, Any]]:
    """The panels of a figure as Vega-Lite that Altair holds against its schema, with their frames as they are.

    Altair would write a frame's rows out for every layer that draws it, which takes longer than all the rest.
    """
    panels = []
    for panel in drawing.panels(figure, theme):
        frames: list[pd.DataFrame] = []
        drawing.replace_data(panel, lambda frame, frames=frames: frames.append(frame) or alt.NamedData(name="rows"))
        panels.append({**panel.to_dict(), "datasets": frames})
    return panels


def drawn_rows(figure: Figure, *columns: str) -> list[pd.DataFrame]:
    """For each panel of a figure, the first frame behind it that has these columns."""
    panels = vega_specs(figure, Theme(screen=True))
    return [next(frame for frame in panel["datasets"].values() if set(columns) <= set(frame)) for panel in panels]


def bars(figure: Figure) -> dict[str, float]:
    """The bars of a cell: the terms, by name, and the total."""
    rows = drawn_rows(figure, "part", "value")[0]
    return dict(zip(rows.part, rows.value, strict=True))


def drawn_maps(figure: Figure) -> list[pd.DataFrame]:
    """The map of each panel, (query, key)."""
    cells = drawn_rows(figure, "row", "column", "value")
    return [frame.pivot(index="row", columns="column", values="value") for frame in cells]


def colour_limits(figure: Figure) -> list[float]:
    """The value at which each panel's scale of colours ends."""
    panels = vega_specs(figure, Theme(screen=True))
    return [next(one["scale"]["domain"][-1] for one in _colours(panel) if "scale" in one) for panel in panels]


def _colours(part: Any) -> Iterator[dict[str, Any]]:
    yield part.get("encoding", {}).get("color", {})
    for layer in part.get("layer", []):
        yield from _colours(layer)
