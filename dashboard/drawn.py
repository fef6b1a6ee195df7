"""Panels as Vega-Lite, made once a figure: building and checking a chart takes longer than showing it."""

from typing import Any
from weakref import WeakKeyDictionary

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode

from analysis.figures import Figure
from dashboard import charts

FRAME_PIXELS = 130
"""What Streamlit takes of a panel's height for axes, title and legend: it fits them into the height given."""

Specification = dict[str, Any]

_drawn: WeakKeyDictionary[Figure, dict[charts.Look, list[Specification]]] = WeakKeyDictionary()


def specifications(figure: Figure, look: charts.Look) -> list[Specification]:
    """The panels of a figure, with their frames under `datasets`. Kept for as long as the figure is."""
    looks = _drawn.setdefault(figure, {})
    if look not in looks:
        # Altair would hold every part against its schema, which takes most of the time; the tests of charts do that.
        with debug_mode(False):
            looks[look] = [_specification(panel, look) for panel in charts.panels(figure, look)]
    return looks[look]


def _specification(panel: Any, look: charts.Look) -> Specification:
    frames: dict[str, pd.DataFrame] = {}

    def name(frame: pd.DataFrame) -> alt.NamedData:
        known = next((key for key, other in frames.items() if other is frame), f"data{len(frames)}")
        frames[known] = frame
        return alt.NamedData(name=known)

    if isinstance(panel.height, int):
        panel.height += FRAME_PIXELS  # `properties` would copy the whole panel.
    charts.replace_data(panel, name)
    made = panel.to_dict(validate=False)
    # Altair's default size would keep Streamlit from fitting the width. Of Streamlit's looks these are mended: grey
    # text, names cut at 100 pixels, and the first and last name of an axis moved off their rows.
    ink = {"labelColor": look.ink, "titleColor": look.ink}
    made["config"] = {"axis": {**ink, "labelLimit": 180, "labelFlush": False}, "legend": {**ink, "titleLimit": 400}}
    return {**made, "datasets": {**made.get("datasets", {}), **frames}}
