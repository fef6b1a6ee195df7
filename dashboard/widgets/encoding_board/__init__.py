"""The board of ways to tell a position: a row a method, each a button, drawn in the browser."""

from collections.abc import Callable, Sequence

import streamlit as st

from analysis.core.colours import VERDICTS
from analysis.core.formatting import plural
from analysis.figures.training.timing import ratio_range
from analysis.narrative.choosing.board import SHORT_NEEDS, EncodingRow
from analysis.narrative.choosing.facts import NEEDS
from analysis.narrative.choosing.sizes import ModelSize
from dashboard.widgets.moving_pictures import show_component

ENCODERS = {
    "loss": {"low": -0.62, "high": 0.42, "ticks": [-0.4, 0, 0.4], "digits": 1},
    "longer": {"low": -0.3, "high": 3.2, "ticks": [0, 1, 2, 3], "digits": 0},
}
DECODERS = {
    "loss": {"low": -0.19, "high": 0.28, "ticks": [-0.1, 0, 0.1], "digits": 1},
    "longer": {"low": -0.2, "high": 1.3, "ticks": [0, 1], "digits": 0},
}
"""The axes of both columns of losses, in nats, with the digits of their ticks."""
NICE = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
"""The ends that the axis of times may have."""


def time_axis(rows: Sequence[EncodingRow]) -> dict[str, float | list[float]]:
    """The ends and ticks of the axis of times, which holds every row: {"low": 0.9, "high": 1.5, "ticks": [1, 1.5]}."""
    times = [1.0, *(time for row in rows for time in row.times)]
    high = next((end for end in NICE if max(times) <= end), max(times))
    low = min(0.9, min(times) - 0.02)
    return {"low": low, "high": high, "ticks": [1, high]}


def differing_needs(rows: Sequence[EncodingRow]) -> list[str]:
    """The needs that some methods of the board meet and others do not: a column of what all do would tell nothing."""
    met = zip(*(row.ticks for row in rows), strict=True)
    return [name for name, ticks in zip(NEEDS, met, strict=True) if len(set(ticks)) > 1]


def show_rows(
    key: str,
    rows: Sequence[EncodingRow],
    asked: Sequence[str],
    opened: str,
    on_press: Callable[[str], None],
    *,
    columns: Sequence[str],
    time: dict[str, float | list[float]],
    size: ModelSize,
    timed_width: int,
    trained: str,
    length: int,
    decoders: bool,
    heading: bool,
    dark: bool,
    lacking_above: bool = False,
) -> None:
    """A part of the board. opened: the row whose content stands below this part.

    columns: the needs that have a column. on_press: called with the row that a press opens, or an empty text where it
    closes one. heading: whether the names of the columns stand above. time: as `time_axis` gives it for the whole
    board. size: that of the model whose parameters and arithmetic are given. timed_width: that of the encoder whose
    time was measured. trained: the models of the losses, in words. length: of their texts in training, in tokens.
    decoders: whether the losses of the board are of decoders, which have axes of their own. lacking_above: whether rows
    that lack something stand in an earlier part, so that their heading is there.
    """

    def report() -> None:
        on_press(str(st.session_state[key]["row"] or ""))

    shown = [list(NEEDS).index(name) for name in columns]
    lacking = next((index for index, row in enumerate(rows) if row.lacks), None)
    show_component(
        "encoding_board",
        key,
        {
            "rows": [
                row.json()
                | {name: [getattr(row, name)[index] for index in shown] for name in ("ticks", "partly")}
                | {"timed": _times(row)}
                for row in rows
            ],
            "needs": [{"name": name, "short": SHORT_NEEDS[name], "title": NEEDS[name].title} for name in columns],
            "asked": list(asked),
            "open": opened,
            "heading": heading,
            "lacking": None if lacking_above else lacking,
            "time": time,
            "trained": trained,
            "longer": f"{length} → {4 * length} tokens",
            "zero": f"0: added at {length}",
            "axes": DECODERS if decoders else ENCODERS,
            "timed": f"on a CPU, {timed_width} wide",
            "size": f"{size.width:,} wide, {plural(size.layers, 'layer')}, {plural(size.length, 'token')}",
            "contradicted": VERDICTS["contradicted"].on(dark=dark),
        },
        dark=dark,
        package="dashboard.widgets",
        on_row_change=report,
    )


def _times(row: EncodingRow) -> str:
    """The measurements of a row's time in words, from the shortest to the longest; empty where there is none."""
    return ratio_range(min(row.times), max(row.times)) if row.times else ""
