"""Panels as Vega-Lite, made once a figure: building and checking a chart takes longer than showing it."""

from typing import Any
from weakref import WeakKeyDictionary

import altair as alt
import pandas as pd

from analysis.figures import Figure, drawings

FRAME_PIXELS = 130
"""What Streamlit takes of a panel's height for axes, title and legend: it fits them into the height given."""

Specification = dict[str, Any]

_drawn: WeakKeyDictionary[Figure, dict[drawings.Look, list[Specification]]] = WeakKeyDictionary()


def vega_specs(figure: Figure, look: drawings.Look) -> list[Specification]:
    """The panels of a figure, with their frames under `datasets`. Kept for as long as the figure is."""
    looks = _drawn.setdefault(figure, {})
    if look not in looks:
        looks[look] = [_specification(panel, look) for panel in drawings.panels(figure, look)]
    return looks[look]


def _specification(panel: Any, look: drawings.Look) -> Specification:
    frames: dict[str, pd.DataFrame] = {}

    def name(frame: pd.DataFrame) -> alt.NamedData:
        known = next((key for key, other in frames.items() if other is frame), f"data{len(frames)}")
        frames[known] = frame
        return alt.NamedData(name=known)

    if isinstance(panel.height, int):
        panel.height += FRAME_PIXELS  # `properties` would copy the whole panel.
    drawings.replace_data(panel, name)
    # Holding it against its schema would take most of the time; the tests of charts do that.
    result = panel.to_dict(validate=False)
    # Altair's default size would keep Streamlit from fitting the width. Of Streamlit's looks these are mended: grey
    # text, names cut at 100 pixels, and the first and last name of an axis moved off their rows.
    ink = {"labelColor": look.ink, "titleColor": look.ink}
    result["config"] = {
        "axis": {**ink, "labelLimit": 180, "labelFlush": False, "labelFontSize": 12},
        "legend": {**ink, "titleLimit": 400, "labelFontSize": 12},
        "text": {"fontSize": 12},
        "rule": {"aria": False},  # Screen readers would hear of "rule mark container", and nothing more.
    }
    return {**result, "datasets": {**result.get("datasets", {}), **frames}}
