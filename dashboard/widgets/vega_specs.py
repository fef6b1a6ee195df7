"""Panels as Vega-Lite, made once a figure: building a chart takes longer than showing it."""

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import altair as alt
import pandas as pd

from analysis.figures import Figure, drawing

FRAME_PIXELS = 130
"""Pixels for axes and a title of one line, which Streamlit fits into the given height."""
TITLE_LINE = 15
"""Pixels of each further line of a title."""
LEGEND_ROW, LEGEND_GAP = 30, 24
"""Pixels of a row of a legend above or below the plot, and between the two."""

Specification = dict[str, Any]

_specifications: WeakKeyDictionary[Figure, dict[drawing.Theme, list[Specification]]] = WeakKeyDictionary()


def vega_specs(figure: Figure, theme: drawing.Theme) -> list[Specification]:
    """The panels of a figure, with their frames under `datasets`. Cached for as long as the figure exists."""
    by_theme = _specifications.setdefault(figure, {})
    if theme not in by_theme:
        by_theme[theme] = [panel_spec(panel, theme) for panel in drawing.panels(figure, theme)]
    return by_theme[theme]


def panel_spec(panel: Any, theme: drawing.Theme) -> Specification:
    """One panel as Streamlit shows it, with its frames under `datasets`."""
    frames: dict[str, pd.DataFrame] = {}

    def name(frame: pd.DataFrame) -> alt.NamedData:
        key = next((key for key, other in frames.items() if other is frame), f"data{len(frames)}")
        frames[key] = frame
        return alt.NamedData(name=key)

    drawing.replace_data(panel, name)
    # Validating it would take most of the time; the tests of charts do that.
    result = panel.to_dict(validate=False)
    if isinstance(result.get("height"), int | float):
        result["height"] += FRAME_PIXELS + _title_pixels(result) + _legend_pixels(result)
    # Altair's default size would keep Streamlit from fitting the width. Of Streamlit's theme this is corrected: grey
    # text, names cut at 100 pixels, and the first and last name of an axis moved off their rows.
    ink = {"labelColor": theme.ink, "titleColor": theme.ink}
    result["config"] = {
        "locale": drawing.LOCALE,
        "axis": {**ink, "labelLimit": 180, "labelFlush": False, "labelFontSize": 12},
        "legend": {**ink, "titleLimit": 400, "labelFontSize": 12},
        "text": {"fontSize": 12},
        "rule": {"aria": False},  # Screen readers would hear of "rule mark container", and nothing more.
    }
    return {**result, "datasets": {**result.get("datasets", {}), **frames}}


def _title_pixels(panel: Specification) -> int:
    """The height of the lines of a title below its first, and of its subtitle."""
    title = panel.get("title", {})
    lines = [line for part in ("text", "subtitle") for line in _as_list(title.get(part, []))]
    return TITLE_LINE * max(0, len(lines) - 1)


def _legend_pixels(panel: Specification) -> int:
    """The height of the legends above and below the plot: those of one side are next to each other.

    Of a scale of colours, that of the lines of its title after the first, for which there is room as it is.
    """
    rows = {"top": 0, "bottom": 0}
    lines = 0
    for encoding in _encodings(panel):
        for channel in encoding.values():
            legend = channel.get("legend") if isinstance(channel, dict) else None
            names = _as_list(channel.get("scale", {}).get("domain", [])) if legend else []
            if legend and legend.get("orient") in rows and channel.get("type") in ("nominal", "ordinal"):
                columns = legend.get("columns", 1)
                # A number that depends on the width: a phone has two abreast.
                columns = columns if isinstance(columns, int) else 2
                needed = -(-len(names) // columns) + bool(legend.get("title"))
                rows[legend["orient"]] = max(rows[legend["orient"]], needed)
            elif legend and legend.get("orient") in rows:
                lines = max(lines, len(_as_list(legend.get("title"))) - 1)
    return TITLE_LINE * lines + sum(LEGEND_ROW * count + LEGEND_GAP for count in rows.values() if count)


def _encodings(panel: Specification) -> Iterator[Specification]:
    """The encodings of a panel and of its layers."""
    yield panel.get("encoding", {})
    for layer in panel.get("layer", []):
        yield from _encodings(layer)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
