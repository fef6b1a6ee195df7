"""The cost of giving positions dimensions of their own beside words of full width, by formula for a real model."""

from typing import Annotated

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
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, whole_number
from analysis.figures.reading.arithmetic import command
from analysis.store import read

EXTRA = (1, 2, 4, 8, 14, 16, 32, 64, 96, 128)
"""Dimensions for positions that the tour offers; 14 is the number that the surgery finds enough."""
MOST = EXTRA[-1]
MEASURES = {"arithmetic": "arithmetic in the layers", "parameters": "parameters"}
"""Column of the frame -> its name in the picture."""
ROOM_BELOW = 0.12
"""Growth below the lowest point, where a number stands."""
ASIDE = 70
"""Units of the drawing to scale between the two matrices."""
ABOVE = 44
"""Those above the larger one, for its name."""


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
            f"Squares: one of the layers' matrices, to scale. Lines: by formula, for {row.layers} layers of "
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
        proportions=(_height_of_drawing(width), 0.5),
    )


def _height_of_drawing(width: int) -> float:
    """The height of the drawing to scale as a share of its width, the same for every number of dimensions.

    With a single dimension for positions, the squares and their names fill it.
    """
    return (width + 1 + ABOVE) / (width + ASIDE + width + 1)


def _ends(width: int, extra: int) -> tuple[float, float]:
    """The ends of both axes of the drawing to scale, in dimensions: the larger square fills the height."""
    up = width + extra + ABOVE
    return up / _height_of_drawing(width), up


def _matrix(extra: int, width: int, theme: Theme) -> Chart:
    """One matrix of a layer, drawn to scale: shared by words and positions, and with a strip of its own for these."""
    left, wider = width + ASIDE, width + extra
    areas = pd.DataFrame(
        [
            {"part": "shared", "x": 0, "x2": width, "y": 0, "y2": width},
            # As in [word ; position], the positions come last: at the right and at the bottom.
            {"part": "words", "x": left, "x2": left + width, "y": extra, "y2": wider},
            {"part": "positions", "x": left + width, "x2": left + wider, "y": 0, "y2": wider},
            {"part": "positions", "x": left, "x2": left + width, "y": 0, "y2": extra},
        ]
    )
    across, up = _ends(width, extra)
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, across], nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, up], nice=False), axis=None)
    hues = {part: theme.colour(TERMS[term]) for part, term in (("words", "word"), ("positions", "position"))}
    squares = alt.Chart(areas).mark_rect(opacity=0.55)
    more = percent(wider**2 / width**2 - 1, 1)
    names = pd.DataFrame(
        [
            {"x": 0, "y": width, "name": "added"},
            {"x": left, "y": wider, "name": f"concatenated: +{more}"},
            {"x": width / 2, "y": width / 2, "name": f"{width} × {width}"},
            {"x": left + width / 2, "y": extra + width / 2, "name": f"{wider} × {wider}\n{extra} for positions"},
        ]
    ).assign(inside=[False, False, True, True])
    texts = alt.Chart(names).encode(x=x, y=y, text="name:N")
    style = {"fontSize": marks.PANEL_TITLE, "color": theme.ink, "lineBreak": "\n"}
    return marks.panel(
        squares.encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=marks.hues("part", {"shared": GREY, **hues})),
        texts.transform_filter("datum.inside").mark_text(**style),
        texts.transform_filter("!datum.inside").mark_text(align="left", dy=-8, **style),
        theme=theme,
        width=marks.WIDE,
        height=round(marks.WIDE * up / across),
        title="A layer's matrix, to scale",
        below=["blue: words, orange: positions, grey: both"],
    )


def _growth(frame: pd.DataFrame, extra: int, theme: Theme) -> Chart:
    """Two lines, each with its name, and dots at the chosen number of dimensions with their numbers."""
    long = frame.melt("extra", list(MEASURES), var_name="measure", value_name="more")
    long = long.assign(line=long.measure.map(MEASURES))
    x = marks.number(alt.X, "extra", "dimensions for positions", domain=(0, MOST), values=range(0, MOST + 1, MOST // 4))
    # A few dimensions save parameters: their table is as narrow, and the layers grow less than it shrinks.
    # Below zero, a number has room beneath a dot on the axis.
    domain = (min(0.0, float(long.more.min())) - ROOM_BELOW, 1.1 * float(long.more.max()))
    y = marks.number(alt.Y, "more", "more than adding needs", form="%", domain=domain, values=[0, 0.2, 0.4, 0.6, 0.8])
    color = marks.hues("line", dict(zip(MEASURES.values(), theme.many(2), strict=True)))
    tooltip: tuple[marks.Tip, ...] = (("line", "measure"), ("extra:Q", "dimensions"), ("more", "more", ".1%"))
    lines = marks.line_plot(long, x=x, y=y, theme=theme, color=color, width=3, dots=0, tooltip=tooltip)
    here = long[long.extra == extra].assign(
        written=[signed_percent(more, 1) for more in long[long.extra == extra].more]
    )
    # The upper line has its name and number at its left, the lower one at its right, each name far from the
    # number; near an end of the axis a number keeps within it.
    inner = {"arithmetic": "left" if extra < MOST / 12 else "right", "parameters": "right" if extra == MOST else "left"}
    at = {"arithmetic": MOST * 7 // 8, "parameters": MOST * 5 // 16 if extra > MOST / 2 else MOST * 11 // 16}
    texts = []
    for measure, align, sign in (("arithmetic", "right", -1), ("parameters", "left", 1)):
        own, side = here[here.measure == measure], inner[measure]
        name = long[(long.measure == measure) & (long.extra == at[measure])]
        for rows, field, place in (
            (name, "line", {"align": align, "dx": 14 * sign, "dy": 12 * sign - 4}),
            (
                own,
                "written",
                {"align": side, "dx": -6 if side == "right" else 6, "dy": (28 if align != side else 16) * sign},
            ),
        ):
            text = alt.Chart(rows).encode(x=x, y=y, color=color, text=f"{field}:N")
            texts.append(text.mark_text(fontSize=marks.PANEL_TITLE, **place))
    base = alt.Chart(here).encode(x=x, y=y, color=color)
    dots = base.mark_point(filled=True, size=2 * marks.LARGE_DOT, opacity=1)
    return marks.panel(
        marks.rule(theme, y=0), *lines, dots, *texts, theme=theme, width=marks.WIDE, height=260,
    )  # fmt: skip
