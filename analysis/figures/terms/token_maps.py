"""Drawings of scores and attention of tokens on tokens, and what stands above them."""

from collections.abc import Iterable, Sequence
from typing import Any

from numpy import ndarray

from analysis.core.formatting import UNDEFINED, percent
from analysis.figures.drawing import Chart, Theme
from analysis.figures.heatmap import heatmap

MAP_SIDE = 330


def token_map(
    values: ndarray,
    labels: Sequence[str],
    limit: float,
    theme: Theme,
    *,
    value: str = "score",
    around_zero: bool = True,
    side: int = MAP_SIDE,
    **options: Any,
) -> Chart:
    """Scores of tokens on tokens, queries down and keys across, on a scale around zero or from it."""
    return heatmap(
        values, labels, labels, domain=(-limit if around_zero else 0, limit), row_title="query", column_title="key",
        value_title=value, side=side, theme=theme, **options,
    )  # fmt: skip


def pattern_map(
    pattern: ndarray, labels: Sequence[str], theme: Theme, limit: float | None = None, **options: Any
) -> Chart:
    """Attention probabilities of tokens for tokens. limit: where their scale ends; by default their maximum."""
    maximum = float(pattern.max()) if limit is None else limit
    return token_map(pattern, labels, maximum, theme, value="attention probability", around_zero=False, **options)


def share_in_words(share: float) -> str:
    """A term's share of what varies in one head's scores: `96 % of what varies`."""
    return f"{UNDEFINED if share != share else percent(share)} of what varies"


def negative_shares_note(shares: Iterable[float]) -> str:
    """A sentence on what a share below zero says, where one of these is printed as such; else empty."""
    if not any(percent(share).startswith("−") for share in shares if share == share):
        return ""
    return "A share below zero belongs to a term that works against the others."
