"""The board of experiments as a component: its numbers as JSON, the words that are read aloud, and the pressed row."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import streamlit as st

from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS, WAYS
from analysis.core import settings
from analysis.core.colours import of_way
from analysis.core.formatting import capitalised, join_names, plural, signed, signed_or_zero
from analysis.figures import marks
from analysis.figures.experiments.board import axis_range, places
from analysis.figures.experiments.board_rows import WIDTHS, ExperimentsBoard, Gap, VariantRow
from analysis.figures.published.table_parts import spelled
from analysis.figures.training.final_loss import HIGHER, LOWER, SAME
from analysis.figures.training.timing import ratio_range
from dashboard.widgets.moving_pictures import show_component

STEP_TICKS = (100, 200, 500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000)
MOST_TICKS = 9
NOT_MEASURED = "not measured"
LADDERS = 8
"""Rows that must be judged at several widths before the column of widths is drawn."""
SPOKEN = 3
"""Decimals of differences that are read aloud: with two, an end of an interval would lose its sign."""
QUESTION = "Add or concatenate"
"""The heading of the first rows, which is no way of telling positions."""
CLOSE = "close"
"""The name that a press on the opened row reports."""


def show_board(
    board: ExperimentsBoard,
    rows: Sequence[VariantRow],
    key: str,
    *,
    opened: str,
    on_press: Callable[[str], None],
    panel: Callable[[VariantRow], None],
    dark: bool,
    grouped: bool = True,
) -> None:
    """Draws the rows, and under the opened one its panel.

    on_press: called with the row to open, or with an empty name to close the open one. grouped: whether headings say
    how positions are told.
    """
    heads = {row.variant: QUESTION if row in board.of_the_question else row.way for row in rows} if grouped else {}
    names = [row.variant for row in rows]
    cut = names.index(opened) + 1 if opened in names else len(rows)
    parts = (rows[:cut], rows[cut:])
    for number, part in enumerate(parts):
        if not part:
            continue
        if number == 1:
            with st.container(key=f"{key}.panel"):
                panel(rows[cut - 1])
        before = heads.get(names[cut - 1], "") if number else ""
        _draw(board, part, heads, before, f"{key}.{number}", opened, on_press, dark)
    if opened in names and cut == len(rows):
        with st.container(key=f"{key}.panel"):
            panel(rows[-1])


def _draw(
    board: ExperimentsBoard,
    rows: Sequence[VariantRow],
    heads: Mapping[str, str],
    head_before: str,
    key: str,
    opened: str,
    on_press: Callable[[str], None],
    dark: bool,
) -> None:
    """Draws some rows under their headings. heads: variant -> the key of its heading; head_before: of the row above."""

    def report() -> None:
        if name := st.session_state[key]["row"]:
            on_press("" if name == CLOSE else str(name))

    groups: list[dict[str, Any]] = []
    for head, members in groupby(rows, key=lambda row: heads.get(row.variant, "")):
        headed = head and (groups or head != head_before)
        title, summary = _heading(head, board) if headed else ("", "")
        groups.append(
            {
                "title": title,
                "summary": summary,
                "rows": [{**row_data(row, board, opened), "colour": of_way(row.way).on(dark=dark)} for row in members],
            }
        )
    mark = f"◆ {whose()}" if board.imported else ""
    data = {**board_data(board), "first": key.endswith(".0"), "groups": groups, "mark": mark}
    show_component(
        "experiments_board", key, data, dark=dark, package="dashboard.widgets", on_row_change=report
    )  # fmt: skip


def _heading(head: str, board: ExperimentsBoard) -> tuple[str, str]:
    """The title of a group of rows, and what they have in common."""
    if head != QUESTION:
        return WAYS[head].title, WAYS[head].summary
    count = len(board.concatenating)
    beside = f"the lowest and the highest of {count} variants that concatenate" if count > 2 else "what concatenates"
    return QUESTION, f"adding, and {beside}"


def whose() -> str:
    """The word for rows that were imported: on a server that many share, they may be somebody else's."""
    return "imported" if settings.hosted() else "yours"


def board_data(board: ExperimentsBoard) -> dict[str, Any]:
    """The axes and headings that all rows share."""
    low, high = axis_range(board)
    loss_ticks = marks.round_ticks(low, high, MOST_TICKS)
    decimals = 1 if all(round(tick, 1) == tick for tick in loss_ticks) else 2
    beyond = [row.gap.value for row in board.rows if row.gap and row.gap.value > high]
    steps_range = board.steps_range
    step_ticks = [tick for tick in STEP_TICKS if steps_range and steps_range[0] <= tick <= steps_range[1]]
    judged = sum(sum(gap.judged for gap in row.widths.values()) > 1 for row in board.rows)
    ladder = [gap.value for row in board.rows for gap in row.widths.values() if abs(gap.value) <= high - low]
    return {
        "loss": {
            "low": low,
            "high": high,
            "ticks": loss_ticks,
            "labels": [signed(tick, decimals) if tick else "0" for tick in loss_ticks],
            "outliers": f"> {signed(high, 1)}" if beyond else "",
            "margin": board.margin,
        },
        "ranked": len(board.ranks.order) if board.ranks else 0,
        "steps": {
            "range": steps_range,
            "labels": [[tick, f"{tick / 1000:g}k" if tick >= 1000 else str(tick)] for tick in step_ticks],
        }
        if steps_range
        else None,
        "widths": list(WIDTHS) if judged >= LADDERS else [],
        "ladder": {"low": min([*ladder, -0.1]), "high": max([*ladder, 0.1])},
        "heads": {
            "loss": "Final loss minus adding’s, nats",
            "told": ["Told at", "input | layers", "ring: own terms", "half: beside words"],
            "margin": (f"grey: ±{board.margin:g}, the same; " if board.margin else "") + "hollow: not decided",
            "numbers": [
                ["parameters", "Size", "parameters"],
                [
                    "time",
                    "Time",
                    "of a step, two measurements"
                    if any(row.earlier is not None for row in board.rows)
                    else "of a step",
                ],
            ],
        },
    }


def row_data(row: VariantRow, board: ExperimentsBoard, opened: str = "") -> dict[str, Any]:
    """The numbers and words of one row; a number that is not stored is None, and is said to be missing."""
    few = f"{row.gap.seeds} of {plural(board.needed, 'seed')}" if row.gap else "not judged"
    return {
        "variant": row.variant,
        "title": row.title,
        "known_as": spelled(VARIANTS[row.variant].known_as) if row.variant in VARIANTS and not board.imported else "",
        "told": told(row, board),
        # On a phone, which has no column of steps.
        "told_at": ""
        if board.imported
        else capitalised("; ".join(filter(None, (_told_in_words(row).removeprefix("positions "), _order(row))))),
        "outcome": row.outcome,
        "open": row.variant == opened,
        "judged": row.outcome != "few",
        "decided": row.outcome in (LOWER, HIGHER, SAME),
        "undecided": row.undecided,
        "gap": _gap_data(row.gap),
        "value": "0" if row.outcome == "baseline" else _signed(row.gap),
        # A loss is no difference: it stands in the strip, in words.
        "own": "" if row.gap else _own_loss(row, board),
        "seeds": list(row.differences.values()),
        "rank": row.rank,
        "places": places(row),
        "tied": [row.variant, *row.tied] if row.tied else [],
        "few": few if row.outcome == "few" else "",
        "steps": {
            "value": _finite(row.steps.value),
            "low": _finite(row.steps.low),
            "high": _finite(row.steps.high),
            "text": row.steps.text,
            "bound": not row.steps.always,
        }
        if row.steps
        else None,
        "widths": {width: _gap_data(gap) for width, gap in row.widths.items()},
        "numbers": [_ratio("parameters", row.parameters), _ratio("time", row.time, row.earlier)],
        "spoken": spoken(row, board, few),
    }


def told(row: VariantRow, board: ExperimentsBoard) -> dict[str, Any] | None:
    """The places at which positions enter, for the glyph of a row; None for a variant that was imported.

    input: `whole` where they are part of all dimensions, `beside` where they have some of their own, else empty.
    layers: of each layer, `shared` where the words' matrices read positions, `own` where matrices or terms of their own
    do, else empty.
    """
    if board.imported or row.variant not in VARIANTS:
        return None
    variant, count = VARIANTS[row.variant], PRESETS[board.preset].layers
    here = count if variant.told_layers is None else variant.told_layers
    beside = variant.settings.get("combine") == "concat"
    return {
        "input": ("beside" if beside else "whole") if variant.told_at_input else "",
        "layers": [("own" if variant.own_terms else "shared") if layer < here else "" for layer in range(count)],
    }


def _own_loss(row: VariantRow, board: ExperimentsBoard) -> str:
    """The loss of a row without a pair of seeds, with its distance from adding's mean, which no rule judges."""
    if row.loss is None:
        return ""
    if row.outcome == "baseline":
        return f"loss {row.loss:.2f}"
    adding = next((one.loss for one in board.rows if one.outcome == "baseline"), None)
    apart = f" ({signed_or_zero(row.loss - adding)})" if adding is not None else ""
    return f"loss {row.loss:.2f}{apart}, by other seeds"


def _told_in_words(row: VariantRow) -> str:
    """The places at which positions enter, in words; empty for a variant that is not known."""
    if row.variant not in VARIANTS:
        return ""
    variant = VARIANTS[row.variant]
    beside = ", beside the words" if variant.settings.get("combine") == "concat" else ""
    places = [f"the input{beside}"] if variant.told_at_input else []
    if (count := variant.told_layers) != 0:
        which = "every layer" if count is None else "the first layer" if count == 1 else f"the first {count} layers"
        places.append(f"{which}{', by terms of their own' if variant.own_terms else ''}")
    return f"positions told at {join_names(places)}" if places else "no positions told"


def spoken(row: VariantRow, board: ExperimentsBoard, few: str) -> str:
    """The row as one sentence after another, for a reader who cannot see it."""
    parts = [f"{row.title}, {whose()}" if board.imported else row.title]
    if not board.imported and (places_told := _told_in_words(row)):
        parts.append(places_told)
    if row.outcome == "baseline" and row.loss is not None:
        parts.append(f"the baseline, final loss {row.loss:.2f} nats")
    elif row.gap:
        interval = (
            f", 95 % interval {signed_or_zero(row.gap.low, SPOKEN)} to {signed_or_zero(row.gap.high, SPOKEN)}"
            if row.gap.low == row.gap.low
            else ""
        )
        parts.append(
            f"final loss {signed_or_zero(row.gap.value, SPOKEN)} nats from adding’s{interval}, "
            f"{plural(row.gap.seeds, 'seed')}"
        )
    elif row.loss is not None:
        parts.append(f"final {_own_loss(row, board)}")
    if row.outcome == "few":
        parts.append(f"too few seeds to judge: {few}")
    if row.rank:
        parts.append(f"rank {places(row)} of {len(board.ranks.order) if board.ranks else 0}")
    if row.steps:
        parts.append(
            "never uses word order" if row.steps.never
            else f"uses word order after {row.steps.text} steps" if row.steps.always
            else f"uses word order {row.steps.some}"
        )  # fmt: skip
    for width, gap in row.widths.items():
        parts.append(f"at width {width} {signed_or_zero(gap.value, SPOKEN)} nats, {plural(gap.seeds, 'seed')}")
    if row.parameters is not None:
        parts.append(f"{row.parameters:.2f} times the parameters")
    if row.time is not None:
        times = ratio_range(row.time, row.earlier).replace("\N{EN DASH}", " to ")
        parts.append(f"{times} times the time of a step")
    return ". ".join(parts) + "."


def _order(row: VariantRow) -> str:
    """The step from which a row uses the order of words, in words; empty where it is not known."""
    if not row.steps:
        return ""
    if row.steps.never:
        return "order never used"
    return f"order used after {row.steps.text} steps" if row.steps.always else f"order used {row.steps.some}"


def _ratio(name: str, ratio: float | None, earlier: float | None = None) -> dict[str, str]:
    """A cost over adding's, by both measurements where there are two; bold where all say that it is much more."""
    if ratio is None:
        return {"name": name, "text": NOT_MEASURED, "weight": "weak"}
    both = [ratio, earlier] if earlier is not None else [ratio]
    return {
        "name": name,
        "text": f"× {ratio_range(ratio, earlier)}",
        "weight": "strong" if min(both) > 1.1 else "weak" if all(abs(one - 1) < 0.055 for one in both) else "",
    }


def _gap_data(gap: Gap | None) -> dict[str, Any] | None:
    if gap is None:
        return None
    return {
        "value": gap.value,
        "low": _finite(gap.low),
        "high": _finite(gap.high),
        "judged": gap.judged,
        "text": _signed(gap),
    }


def _signed(gap: Gap | None) -> str:
    return signed_or_zero(gap.value) if gap else ""


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
