"""The cost of giving positions dimensions of their own beside words of full width, by formula for a real model."""

from typing import Annotated, Literal

import altair as alt
import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from analysis.core import default_model, frames
from analysis.core.colours import TERMS
from analysis.core.errors import NoResults
from analysis.core.formatting import percent, plural, signed_percent
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, whole_number
from analysis.figures.reading.arithmetic import command
from analysis.store import read

EXTRA = (1, 2, 4, 8, 14, 16, 32, 64, 96, 128)
"""Dimensions for positions that the tour offers; 14 is the number that the surgery finds enough."""
MOST = EXTRA[-1]
MEASURES = {"arithmetic": "arithmetic", "parameters": "parameters"}
"""Column of the frame -> its name in the picture."""
SIDE = 250
"""The height of both panels in pixels, which is the width of one on a page of two columns: so the matrix is square."""


def more_arithmetic(extra: Float[ndarray, " n"], width: int) -> Float[ndarray, " n"]:
    """The growth of a layer's products, (1 + p/d)² − 1: every matrix becomes wider on both sides."""
    return (1 + extra / width) ** 2 - 1


def more_parameters(
    extra: Float[ndarray, " n"], *, width: int, layers: int, positions: int, parameters: int
) -> Float[ndarray, " n"]:
    """The growth of a BERT's parameters, as a share of them.

    A layer has 12 d² of them in matrices and 13 d in biases and norms. The table of positions becomes p wide instead of
    d; that of words stays.
    """
    layer = 12 * ((width + extra) ** 2 - width**2) + 13 * extra
    return (layers * layer - positions * (width - extra)) / parameters


class ExtraParameters(Parameters):
    """The dimensions that positions get beside the words'."""

    extra: Annotated[int, whole_number(1, MOST)]


@figure("reading_saving", ExtraParameters)
def reading_saving(params: ExtraParameters) -> Figure:
    """The growth of arithmetic and parameters of the embedded model. Raises NoResults without its sizes."""
    extra = params.extra
    sizes = read.query(
        "SELECT layers, hidden_size, positions, parameters FROM models WHERE model = ?", [default_model.NAME]
    )
    if sizes.empty:
        raise NoResults("The store does not hold the model's sizes. Run: python -m analysis sync --rebuild")
    row = next(iter(frames.rows(sizes)))
    width = int(row.hidden_size)
    counts = np.arange(1, MOST + 1)
    frame = pd.DataFrame(
        {
            "extra": counts,
            "arithmetic": more_arithmetic(counts, width),
            "parameters": more_parameters(
                counts, width=width, layers=row.layers, positions=row.positions, parameters=row.parameters
            ),
        }
    )
    here = frame[frame.extra == extra].iloc[0]
    arithmetic, parameters = percent(abs(here.arithmetic), 1), percent(abs(here.parameters), 1)
    saved = f"and save {parameters} of its parameters" if here.parameters < 0 else f"and {parameters} more parameters"
    text = (
        f"{plural(extra, 'dimension')} for positions beside {width} for words would cost {default_model.NAME} "
        f"{arithmetic} more arithmetic in its layers {saved}"
    )
    return Figure(
        title="Cost of concatenating to words of full width",
        finding=text,
        frame=lambda: frame,
        caption=(
            f"Square: one of the layers' matrices, to scale. Lines: by formula, for {row.layers} layers of "
            f"width {width}, {row.positions} positions and {row.parameters / 1e6:.1f} million parameters; adding is at "
            "zero. Arithmetic: the products of a token with a layer's matrices. Taken from the words' dimensions "
            "instead, positions would cost nothing, and words would be narrower. Our own encoders were counted as "
            "well: see what the evidence says."
        ),
        alt=f"Two rising lines over the number of dimensions for positions, from 1 to {MOST}. {text}.",
        command=command("reading_saving", extra=extra),
        provenance={
            "sizes": f"{default_model.NAME} ({default_model.REVISION})",
            "computed": "by formula, here and now",
        },
        citation_keys=default_model.CITATION_KEYS,
        draw=lambda theme: [_matrix(extra, width, theme), _growth(frame, extra, theme)],
        columns=2,
    )


def _matrix(extra: int, width: int, theme: Theme) -> Chart:
    """One matrix of a layer, drawn to scale: the square that words need, and the strip that positions add to it."""
    end = width + extra
    areas = pd.DataFrame(
        [
            {"part": "words", "x": 0, "x2": width, "y": 0, "y2": width},
            {"part": "positions", "x": width, "x2": end, "y": 0, "y2": end},
            {"part": "positions", "x": 0, "x2": width, "y": width, "y2": end},
        ]
    )
    scale = alt.Scale(domain=[0, width + MOST], nice=False)
    x = alt.X("x:Q", scale=scale, axis=None)
    y = alt.Y("y:Q", scale=scale, axis=None)
    hues = {part: theme.colour(TERMS[term]) for part, term in (("words", "word"), ("positions", "position"))}
    squares = alt.Chart(areas).mark_rect(opacity=0.55, stroke=theme.ground, strokeWidth=0.5)
    names = pd.DataFrame(
        [
            {"x": width / 2, "y": width / 2, "name": f"words: {width} × {width}"},
            {"x": width / 2, "y": end, "name": f"+ {extra} for positions, both ways"},
        ]
    )
    texts = alt.Chart(names).encode(x=x, y=y, text="name:N")
    return marks.panel(
        squares.encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=marks.hues("part", hues)),
        texts.transform_filter(f"datum.y < {width}").mark_text(fontSize=marks.PANEL_TITLE, color=theme.ink),
        texts.transform_filter(f"datum.y >= {width}").mark_text(
            fontSize=marks.PANEL_TITLE, color=theme.ink, dy=-10, stroke=theme.ground, strokeWidth=4
        ),
        texts.transform_filter(f"datum.y >= {width}").mark_text(fontSize=marks.PANEL_TITLE, color=theme.ink, dy=-10),
        theme=theme,
        width=SIDE,
        height=SIDE,
        title="a layer's matrix",
    )


def _growth(frame: pd.DataFrame, extra: int, theme: Theme) -> Chart:
    """Two lines, each with its name, and dots with their numbers at the chosen number of dimensions."""
    long = frame.melt("extra", list(MEASURES), var_name="measure", value_name="more")
    long = long.assign(line=long.measure.map(MEASURES))
    x = marks.number(
        alt.X, "extra", "dimensions for positions", domain=(0, 1.12 * MOST), values=range(0, MOST + 1, MOST // 4)
    )
    # Room below for the number under the lower dot.
    domain = (-0.13 * float(long.more.max()), 1.1 * float(long.more.max()))
    y = marks.number(alt.Y, "more", "more than adding needs", form="%", domain=domain, values=[0, 0.2, 0.4, 0.6, 0.8])
    color = marks.hues("line", dict(zip(MEASURES.values(), theme.many(2), strict=True)))
    tooltip: tuple[marks.Tip, ...] = (("line", "measure"), ("extra:Q", "dimensions"), ("more", "more", ".1%"))
    lines = marks.line_plot(long, x=x, y=y, theme=theme, color=color, width=3, dots=0, tooltip=tooltip)
    here = long[long.extra == extra]
    here = here.assign(text=[signed_percent(more, 1) for more in here.more], above=here.measure == "arithmetic")
    named = long[long.extra == frame.extra.iloc[len(frame) * 5 // 8]].assign(
        above=lambda rows: rows.measure == "arithmetic"
    )
    base = alt.Chart(here).encode(x=x, y=y, color=color)
    texts: list[Chart] = []
    for above, dy in ((True, -18), (False, 20)):
        numbers = base.transform_filter(f"datum.above === {str(above).lower()}").encode(text="text:N")
        texts += [
            numbers.mark_text(dy=dy, fontSize=marks.PANEL_TITLE, fontWeight="bold", stroke=theme.ground, strokeWidth=4),
            numbers.mark_text(dy=dy, fontSize=marks.PANEL_TITLE, fontWeight="bold"),
        ]
    # The upper line's name stands left of it, the lower one's right of it.
    sides: tuple[tuple[str, Literal["left", "right"], int], ...] = (("true", "right", -8), ("false", "left", 8))
    for above, align, dx in sides:
        name = (
            alt.Chart(named).transform_filter(f"datum.above === {above}").encode(x=x, y=y, color=color, text="line:N")
        )
        texts.append(name.mark_text(align=align, dx=dx, dy=8 if align == "left" else 0, fontSize=marks.PANEL_TITLE))
    dots = base.mark_point(filled=True, size=2 * marks.LARGE_DOT, opacity=1)
    return marks.panel(
        marks.rule(theme, y=0), *lines, dots, *texts, theme=theme, width=SIDE, height=SIDE, title="what it costs"
    )
