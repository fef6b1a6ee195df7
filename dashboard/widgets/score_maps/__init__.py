"""The scores of a layer taken apart, as a component that answers presses in the browser."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from analysis.core.colours import DIVERGING, SEQUENTIAL, of_term
from analysis.core.term_names import ADDED_TERMS
from analysis.figures.terms.maps import REST, MapParameters
from analysis.figures.terms.score_maps import score_maps
from analysis.measurements.terms.result import Decomposition, Layers
from dashboard.widgets.moving_pictures import show_component
from dashboard.widgets.pickers import Pickers

KEY = "inside.score_maps"


def show_score_maps(
    pickers: Pickers, values: Mapping[str, Any], decomposition: Decomposition, layers: Layers | None, *, dark: bool
) -> None:
    """Draws the component; what is pressed in it goes into the fields of the link.

    layers: the shares of every layer, where they were measured. Raises LinkError for a head or rows that there are not.
    """
    params = MapParameters.of(values)
    colours = {name: of_term(name).on(dark=dark) for name in (*decomposition.names, *ADDED_TERMS, REST)}
    measure = str(values["measure"])
    data: dict[str, Any] = score_maps(params, decomposition, measure=measure, layers=layers, colours=colours)
    if values["look"] == "cell":  # The figure below shows the strongest attention where a link names no cell.
        for one in data["maps"].values():
            del one["open"]
    at = {
        "layer": data["layer"],
        "head": data["head"],
        "query": params.query,
        "key": params.key,
        "term": values["term"],
        "group": params.group,
        "also": [int(row) for row in values["also"] if row.isdecimal()],
    }

    def report() -> None:
        pressed = st.session_state[KEY]["cell"]
        for name in ("layer", "head", "query", "key", "term", "group", "measure", "from"):
            if name in pressed:
                pickers.set(name, pressed[name])
        pickers.set("also", tuple(str(row) for row in pressed["also"]))

    scales = {"stops": DIVERGING[dark], "scale": SEQUENTIAL[dark]}
    show_component(
        "score_maps", KEY, data | scales | {"at": at}, dark=dark, package="dashboard.widgets", on_cell_change=report
    )
