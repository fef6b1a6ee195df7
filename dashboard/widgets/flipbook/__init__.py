"""A chart with a slider: a picture for each of its values, drawn beforehand and shown by the browser."""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, field

import streamlit as st

from analysis.core.formatting import unbroken
from analysis.figures import Figure, drawing
from analysis.figures.drawing import Theme
from analysis.figures.export import panel_svgs, prefix_ids
from analysis.store.paths import cached_until_store_changes
from dashboard.widgets.moving_pictures import show_component

TAG, DESCRIPTION = re.compile(r"<[^>]+>"), re.compile(r' (?:role|aria-\w+)="[^"]*"')
SCALE = 1.08
"""The browser shows pictures larger than they are drawn by this, so that letters of 12 pixels become 13."""
GAP = 16
"""Pixels between two panels, as flipbook.css has it."""
LEAST = 250
"""Pixels below which two panels stand one above the other."""
WIDE, NARROW = 600, 340
"""Widths of the first picture, in pixels, until the browser has reported that of its place: on a screen, on a phone."""
ENOUGH = 520
"""Pixels from which the wider one of the two is shown."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The chart at one value of the slider. label: the value. panels: SVG elements; empty until they are drawn.

    columns: the number of panels that stand side by side.
    """

    label: str
    heading: str = ""
    columns: int = 1
    panels: tuple[str, ...] = ()


def _without_descriptions(svg: str) -> str:
    """The SVG without roles and descriptions of its marks: the page describes the picture as one."""
    return TAG.sub(lambda tag: DESCRIPTION.sub("", tag[0]), svg)


def columns_in(figure: Figure, width: int) -> int:
    """The number of panels side by side, in a place of so many pixels."""
    columns = drawing.columns(figure)
    return columns if (width - GAP * (columns - 1)) / columns >= LEAST else 1


def draw_frame(label: str, figure: Figure, width: int, *, dark: bool = False) -> Frame:
    """The frame of one figure, for a place of so many pixels."""
    columns = columns_in(figure, width)
    svgs = panel_svgs(figure, Theme(dark=dark), int((width - GAP * (columns - 1)) / columns / SCALE))
    panels = tuple(prefix_ids(_without_descriptions(svg), f"{figure.name}-{number}") for number, svg in enumerate(svgs))
    return Frame(label=label, heading=unbroken(figure.heading), columns=columns, panels=panels)


@dataclass(frozen=True)
class Requested:
    """A figure that is made only where no frame of it is kept. key: all that the figure depends on."""

    key: Hashable
    make: Callable[[], Figure] = field(compare=False)


@cached_until_store_changes(512)
def _drawn_frame(requested: Requested, label: str, width: int, *, dark: bool) -> Frame:
    return draw_frame(label, requested.make(), width, dark=dark)


@st.fragment
def show_flipbook(
    key: str,
    name: str,
    labels: Sequence[str],
    index: int,
    make: Callable[[int], Figure],
    on_change: Callable[[int], None],
    *,
    request: Hashable,
    dark: bool,
) -> None:
    """A slider over pictures, one for each label. index: the picture that the link names.

    make: makes the figure of a picture; all but the first are drawn once the browser has reported its width, while the
    rest of the page stands. on_change: called with the index of another picture once the slider is released; the page
    is then drawn again. request: what the figures depend on besides the slider. The first picture is drawn for a phone
    too, and the browser shows the one that has room, so that its letters are never small.
    """
    turned = f"{key}.turned"
    if st.session_state.pop(turned, False):
        st.rerun()
    reported = st.session_state.get(key, {}).get("width")

    def frame(number: int, label: str) -> Frame:
        if reported is None and number != index:
            return Frame(label=label)
        return drawn(number, label, WIDE if reported is None else int(reported))

    def drawn(number: int, label: str, width: int) -> Frame:
        return _drawn_frame(Requested(key=(request, number), make=lambda: make(number)), label, width, dark=dark)

    def report_index() -> None:
        on_change(int(st.session_state[key]["at"]))
        st.session_state[turned] = True

    frames = [asdict(frame(number, label)) for number, label in enumerate(labels)]
    narrow = asdict(drawn(index, labels[index], NARROW)) if reported is None else None
    widths = {"width": reported, "enough": ENOUGH, "scale": SCALE}
    show_component(
        "flipbook",
        key,
        {"label": name, "at": index, **widths, "frames": frames, "narrow": narrow},
        dark=dark,
        package="dashboard.widgets",
        on_at_change=report_index,
        on_width_change=lambda: None,
    )
