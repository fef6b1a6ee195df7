"""The cost of giving positions dimensions of their own beside words of full width, by formula for a real model."""

from typing import Annotated

import altair as alt
import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from analysis.core import default_model, frames
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
MEASURES = {"arithmetic": "arithmetic of the layers", "parameters": "parameters"}
"""Column of the frame -> its name in the picture."""


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
            f"{text}. By formula, for {row.layers} layers of width {width}, {row.positions} positions and "
            f"{row.parameters / 1e6:.1f} million parameters; adding is at zero. Arithmetic: the products of a token "
            "with a layer's matrices. Taken from the words' dimensions instead, positions would cost nothing, and "
            "words would be narrower. Our own encoders were counted as well: see the evidence beside the picture."
        ),
        alt=f"Two rising lines over the number of dimensions for positions, from 1 to {MOST}. {text}.",
        command=command("reading_saving", extra=extra),
        provenance={
            "sizes": f"{default_model.NAME} ({default_model.REVISION})",
            "computed": "by formula, here and now",
        },
        citation_keys=default_model.CITATION_KEYS,
        draw=lambda theme: [_draw(frame, extra, theme)],
    )


def _draw(frame: pd.DataFrame, extra: int, theme: Theme) -> Chart:
    """Two lines, each named at its end, with dots at the chosen number of dimensions."""
    long = frame.melt("extra", list(MEASURES), var_name="measure", value_name="more")
    long = long.assign(line=long.measure.map(MEASURES))
    x = marks.number(alt.X, "extra", "dimensions for positions, beside the words'", nice=False)
    y = marks.number(
        alt.Y,
        "more",
        "more than adding needs",
        form="%",
        domain=(float(long.more.min()), 1.06 * float(long.more.max())),
    )
    color = marks.hues("line", dict(zip(MEASURES.values(), theme.many(2), strict=True)))
    tooltip: tuple[marks.Tip, ...] = (("line", "measure"), ("extra:Q", "dimensions"), ("more", "more", ".1%"))
    lines = marks.line_plot(long, x=x, y=y, theme=theme, color=color, width=3, dots=0, tooltip=tooltip)
    here = long[long.extra == extra]
    here = here.assign(text=[signed_percent(more, 1) for more in here.more], above=here.measure == "arithmetic")
    ends = long[long.extra == frame.extra.iloc[len(frame) * 3 // 4]]
    names = alt.Chart(ends).mark_text(align="right", dx=-10, dy=-10, fontSize=marks.PANEL_TITLE, fontWeight="bold")
    dots = alt.Chart(here).mark_point(filled=True, size=2 * marks.LARGE_DOT, opacity=1)
    numbers = alt.Chart(here).mark_text(
        dy=alt.expr("datum.above ? -18 : 20"), fontSize=marks.PANEL_TITLE, fontWeight="bold"
    )
    layers = [
        marks.rule(theme, y=0),
        *lines,
        dots.encode(x=x, y=y, color=color),
        names.encode(x=x, y=y, color=color, text=alt.Text("line:N")),
        numbers.encode(x=x, y=y, color=color, text=alt.Text("text:N")),
    ]
    return marks.panel(*layers, theme=theme, width=marks.WIDE, height=320)
