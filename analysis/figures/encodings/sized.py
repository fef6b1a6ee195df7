"""Encodings at a size that they take, computed here and now, and what their figures share."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import altair as alt
import numpy as np
import pandas as pd

from analysis.core import default_model
from analysis.encodings import ENCODINGS, Encoding
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Parameters

HEIGHT = 240
CLIP_QUANTILE = 0.99
CLIP_FROM = 2.0  # a scale is cut only where the largest value is more than this many times that quantile


@dataclass(frozen=True)
class SizedEncoding:
    """An encoding at a size that it takes, and in one sentence why that is not the size asked for."""

    encoding: Encoding
    length: int
    dim: int
    adapted: str = ""

    @property
    def name(self) -> str:
        """Its id."""
        return self.encoding.name

    @property
    def title(self) -> str:
        """Its name on screen."""
        return self.encoding.title

    @property
    def source(self) -> str:
        """Its name, with the model whose table it is where it is a trained one: "Learned (all-MiniLM-L6-v2)"."""
        return f"{self.title} ({default_model.NAME})" if self.name == "learned" else self.title

    @property
    def lines(self) -> list[str]:
        """Lines to print under its name: its size, if that differs from the size that was asked for."""
        return [self.size] if self.adapted else []

    @property
    def row(self) -> str:
        """The unit of the table's rows: a position, or a distance in tokens."""
        return "position" if self.encoding.rows == "position" else "distance (tokens)"

    @property
    def column(self) -> str:
        """The unit of the table's columns: a head or a dimension."""
        return "head" if self.encoding.columns == "heads" else "dimension"

    @property
    def unit(self) -> str:
        """The name of the table's values: score biases, or plain values."""
        return "score bias" if self.encoding.columns == "heads" else "value"

    @property
    def size(self) -> str:
        """Rows and columns in words."""
        return f"{self.length} {self.encoding.rows}s × {self.dim} {self.column}s"

    def table(self) -> np.ndarray:
        """The table, shared: not to be written to."""
        return _table(self.name, self.length, self.dim)


def sized(name: str, length: int, dim: int) -> SizedEncoding:
    """An encoding at the size nearest to the one asked for."""
    encoding = ENCODINGS[name]
    result = SizedEncoding(encoding, *encoding.nearest(length, dim))
    if (result.length, result.dim) == (length, dim):
        return result
    if result.column == "head":
        reason = (
            f"{result.title} has one column for each head, not for each dimension: {result.dim} heads here. Distances "
            "are those of the first."
        )
        return SizedEncoding(encoding, result.length, result.dim, reason)
    reason = (
        f"{result.title} is not available at {length} positions × {dim} dimensions; the nearest size, {result.size}, "
        "is shown."
    )
    return SizedEncoding(encoding, result.length, result.dim, reason)


def untrained() -> list[str]:
    """The encodings that a model learns and that are random here, by name."""
    return [name for name, encoding in ENCODINGS.items() if "seed" in encoding.options and encoding.learned]


def _table(name: str, length: int, dim: int) -> np.ndarray:
    table = ENCODINGS[name].table(length, dim)
    table.setflags(write=False)
    return table


class EncodingPairParameters(Parameters):
    """An encoding, the one that it is compared with (empty for none), and the size of both."""

    topic = "encoding"
    encoding: str
    other: str
    length: int
    dim: int


def pair(params: EncodingPairParameters) -> list[SizedEncoding]:
    """The encodings to show: the chosen one and, unless it is the same or "", the one it is compared with."""
    names = dict.fromkeys((params.encoding, params.other))
    return [sized(name, params.length, params.dim) for name in names if name]


def colour_limit(values: np.ndarray) -> tuple[float, int]:
    """Half the width of a symmetric colour scale, and how many values lie beyond it.

    The largest magnitude, unless a few outliers would wash the map out: then the 99th percentile.
    """
    magnitudes = np.abs(values[~np.isnan(values)])
    if not magnitudes.size or not magnitudes.max():
        return 1.0, 0
    quantile = float(np.quantile(magnitudes, CLIP_QUANTILE))
    limit = quantile if 0 < quantile * CLIP_FROM < magnitudes.max() else float(magnitudes.max())
    return limit, int((magnitudes > limit).sum())


def export_command(name: str, params: EncodingPairParameters, *more: str) -> str:
    """The command that makes one of these figures' numbers anew, with the fields that it rests on."""
    link = urlencode(params.values("encoding", "other", "length", "dim", *more))
    return f"python -m analysis export '/encodings?{link}' --figure {name} -o {name}.csv"


def citation_keys(shown: list[SizedEncoding], *more: str) -> tuple[str, ...]:
    """Citation keys of the encodings' papers, and of other works, each once."""
    return tuple(dict.fromkeys(key for key in (*(entry.encoding.key for entry in shown), *more) if key))


def origins(shown: list[SizedEncoding]) -> dict[str, str]:
    """The source of each encoding's values, by the encoding's title."""
    return {entry.title: entry.encoding.note for entry in shown}


def empty_panel(
    entry: SizedEncoding, *lines: str, theme: Theme, height: int = HEIGHT, width: int = marks.HALF
) -> Chart:
    """An encoding's panel that says in words why there is nothing to draw."""
    frame = pd.DataFrame({"x": [0.5], "words": ["\n".join(lines)]})
    base = alt.Chart(frame).encode(x=alt.X("x:Q", scale=alt.Scale(domain=[0, 1]), axis=None), y=alt.value(height / 2))
    words = base.mark_text(color=theme.ink, fontSize=marks.PANEL_TITLE, lineBreak="\n", dy=14, baseline="top")
    panel = words.encode(text=alt.Text("words:N"))
    return marks.panel(panel, theme=theme, width=width, height=height, title=entry.title, below=entry.lines)


def hues_of(shown: Sequence[SizedEncoding], theme: Theme) -> dict[str, str]:
    """The colour of each encoding by its title."""
    return dict(zip([entry.title for entry in shown], theme.many(len(shown)), strict=True))


def title_colours(shown: Sequence[SizedEncoding], theme: Theme, *, key: bool = True) -> alt.Color:
    """The colours of encodings by their titles. key: whether a legend names them."""
    return marks.hues("title", hues_of(shown, theme), marks.legend(lines=True) if key else None)
