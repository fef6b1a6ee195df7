"""Drawings of terms that are registered for the figures of images, with the content that those hand over."""

from dataclasses import dataclass

import pandas as pd

from analysis.figures import Figure
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.terms.bars import draw_bars
from analysis.figures.terms.heads import draw_heads
from analysis.figures.terms.token_maps import pattern_map, share_and_effect, token_map

__all__ = ["CellContent", "TermTable", "pattern_map", "share_and_effect", "token_map"]


@dataclass(frozen=True)
class TermTable:
    """table: a row a head, a column a term, the values of a measure."""

    table: pd.DataFrame
    measure: str


@dataclass(frozen=True)
class CellContent:
    """rows: part and value, the contributions of the terms to one score, and the total. kind: names the score."""

    rows: pd.DataFrame
    kind: str


@drawing("vision_heads")
def _heads(figure: Figure[TermTable], theme: Theme) -> list[Chart]:
    """Heads by terms, the number in every cell."""
    return [draw_heads(figure.content.table, figure.content.measure, theme)]


@drawing("vision_cell")
def _cell(figure: Figure[CellContent], theme: Theme) -> list[Chart]:
    """One bar a term and one for the total, with its number beside it."""
    return [draw_bars(figure.content.rows, figure.content.kind, theme)]
