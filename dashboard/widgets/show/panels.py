"""The panels of a figure as charts, whose cells answer to a press where a page asks for that."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from analysis.core.colours import Colour
from analysis.figures import Figure, drawing
from dashboard.session.page_address import is_dark
from dashboard.widgets.vega_specs import vega_specs

SHADE = Colour("#e6e8ec", "#2b313d")
CELL = "cell"
"""The name of the selection of a map's cells."""
PRESSED = ("rect", "point")
"""The kinds of marks that can answer to a press."""
ROW_AND_COLUMN = ("row", "column")


def theme() -> drawing.Theme:
    """Light or dark, as the reader's browser has it."""
    return drawing.Theme(dark=is_dark(), screen=True)


def shade() -> str:
    """The style of a table's cell that is marked: as clear on a dark ground as on a light one."""
    return f"background-color: {SHADE.on(dark=is_dark())}"


def charts(
    figure: Figure,
    page: str,
    *,
    on_cell: Callable[..., None] | None = None,
    cell: tuple[str, ...] = ROW_AND_COLUMN,
) -> None:
    """The panels of a figure, in its columns."""
    panels = vega_specs(figure, theme())
    columns = drawing.columns(figure)
    for start in range(0, len(panels), columns):
        row = panels[start : start + columns]
        places = [st.container()] if columns == 1 else st.columns(columns)
        for number, (placeholder, panel) in enumerate(zip(places, row, strict=False), start):
            key = f"{page}.{figure.name}.{number}"
            pressable: dict[str, Any] = {}
            if on_cell and (clickable := _clickable(panel, cell)):
                panel = clickable
                pressable = {"on_select": partial(_on_press, key, on_cell, cell), "selection_mode": CELL}
            placeholder.vega_lite_chart(panel, width="stretch", alt=_alt(panel, figure), key=key, **pressable)


def _clickable(panel: Mapping[str, Any], cell: tuple[str, ...]) -> dict[str, Any]:
    """The panel with cells or dots that answer to a press; empty where it has none whose data have these columns."""
    layers = [dict(layer) for layer in panel.get("layer", [])]
    for part in layers or [dict(panel)]:
        frame = panel["datasets"].get(part.get("data", panel.get("data", {})).get("name"))
        mark = part.get("mark")
        if (
            frame is None
            or not isinstance(mark, dict)
            or mark.get("type") not in PRESSED
            or not set(cell) <= set(frame)
        ):
            continue
        part |= {"name": "cells", "mark": {**mark, "cursor": "pointer"}}
        # A finger is wider than a dot.
        nearest = mark["type"] == "point"
        select = {"type": "point", "fields": list(cell), "clear": "dblclick", **({"nearest": True} if nearest else {})}
        param = {"name": CELL, "select": select, **({"views": ["cells"]} if layers else {})}
        return {**panel, **({"layer": layers} if layers else part), "params": [param]}
    return {}


def _on_press(key: str, on_cell: Callable[..., None], cell: tuple[str, ...]) -> None:
    if cells := st.session_state[key]["selection"][CELL]:
        on_cell(*(int(value) if isinstance(value, int | float) else value for value in map(cells[0].get, cell)))


def _alt(panel: Mapping[str, Any], figure: Figure) -> str:
    """The alternative text of a panel: which one it is, and what the figure shows."""
    heading = panel.get("title")
    title = heading.get("text", "") if isinstance(heading, dict) else heading or ""
    panel_name = ", ".join(title) if isinstance(title, list) else str(title)
    return f"{panel_name}. {figure.alt}" if panel_name else figure.alt
