"""The cosines of pairs of a word and a position, beside those of random vectors."""

import altair as alt
import numpy as np
import pandas as pd
from numpy import ndarray

from analysis.ablation.variants import readable
from analysis.core import colours
from analysis.core.errors import NoResults
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, find_estimate, geometry_figure, stored_rows
from analysis.figures.name_places import NamedCurve, Plot, name_places
from analysis.measurements.geometry.random import cosine_shares, expected_abs_cosine

OWN_WIDTH = 0
"""The slider's value that stands for the model's own width."""
DIMENSIONS = (OWN_WIDTH, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
"""The dimensions that the slider offers."""
CENTRED = "word_position_centred"
SERIES = {"word_position": "as they are", CENTRED: "means subtracted"}
"""The pairs of a word and a position that are drawn, by their subject in the store."""
AT_CURVE = 12
"""Letters in a line of the name at a curve: longer ones would not fit a phone."""
HEIGHT, PLOT_WIDTHS = 300, (270, 620, marks.WIDE)
"""The height of the plot, and its widths on a phone, on the page and in a file, in pixels."""
HEADROOM = 1.06
"""Times the highest share up to which the axis goes."""
NEAR = 0.1
"""The part of the value of random vectors by which another one differs at least to be told from it. The mean over as
many random pairs as any model has lies within 0.03 of it in 95 of 100 draws."""
STANDS = {-1: ("nearer", "to", "than"), 0: ("as near", "to", "as"), 1: ("farther", "from", "than")}
"""The words for a mean absolute cosine, by `beside_chance`."""
OUTSIDE = 0.002
"""The share of pairs that may lie beyond the ends of the axis."""


class CosineParameters(GeometryParameters):
    """A model, and the dimension of the random vectors that it is compared with; `OWN_WIDTH` for the model's own."""

    dim: int

    def compared_dimension(self) -> int:
        """The dimension of the random vectors. Raises NoResults where none is stored of the model."""
        return self.dim or _own_width(self.model)


def _own_width(model: str) -> int:
    """The dimension of a model's vectors. Raises NoResults where none is stored of it."""
    return int(stored_rows(model, "abs_cosine").along.max())


def width_of(model: str) -> int:
    """The dimension of a model's vectors; 0 where none is stored of it."""
    try:
        return _own_width(model)
    except NoResults:
        return 0


@figure("geometry_cosines", CosineParameters)
def cosines(params: CosineParameters) -> Figure:
    """The distributions of cosines: the model's, and those of random vectors of the dimension that the slider gives.

    Raises NoResults where none is stored of the model.
    """
    model, dim = params.model, params.compared_dimension()
    rows = stored_rows(model, "cosine_histogram")
    model_rows = rows[rows.subject.isin(list(SERIES))]
    model_rows = model_rows.assign(series=model_rows.subject.map(SERIES))
    edges = np.linspace(-1, 1, model_rows.along.nunique() + 1)
    random = random_shares(float(edges[1] - edges[0]), dim)
    means = mean_cosines(model)
    text = (
        f"Two random vectors of {dim} dimensions have an absolute cosine of {expected_abs_cosine(dim):.3f} on average, "
        f"an angle of {np.degrees(np.arccos(expected_abs_cosine(dim))):.0f} degrees."
    )
    return geometry_figure(
        "How nearly orthogonal?",
        model_rows,
        caption=(
            f"How the cosines of pairs of a word and a position are distributed; 0 is a right angle. "
            f"{tilt(model_rows)} {text} Lines: "
            f"{model_rows.samples.iloc[0]:,} pairs of {readable(model)}, from a sample of words and every position "
            "that a word can hold, in bins of 0.02, each a step, as they are and with the mean word and the mean "
            "position subtracted. Numbers at the lines: the mean absolute cosine. Random vectors follow the exact "
            f"distribution, (cos + 1)/2 ~ Beta((d-1)/2, (d-1)/2). Less than {100 * OUTSIDE:.1f} % of the pairs lie "
            "beyond the ends of the axis."
        ),
        alt=text,
        finding=_angle(model, dim, means),
        draw=lambda theme: [_distributions(model_rows, random, means, dim, theme)],
    )


def random_shares(width: float, dim: int) -> pd.DataFrame:
    """The exact share of random pairs in each bin of this width, by the middle of the bin."""
    edges = np.linspace(-1, 1, round(2 / width) + 1)
    return pd.DataFrame({"along": (edges[1:] + edges[:-1]) / 2, "value": cosine_shares(edges, dim)})


def mean_cosines(model: str) -> dict[str, float]:
    """The mean absolute cosine of all pairs of a word and a position by subject: {"word_position": 0.034, ...}."""
    rows = stored_rows(model, "abs_cosine")
    found = {subject: find_estimate(rows, "abs_cosine", subject, rows.along.max()) for subject in SERIES}
    return {subject: estimate.value for subject, estimate in found.items() if estimate is not None}


def beside_chance(value: float, random: float) -> int:
    """-1 for a value below that of random vectors, 1 for one above it, 0 for one that differs by less than `NEAR`."""
    return 0 if abs(value - random) < NEAR * random else -1 if value < random else 1


def _angle(model: str, dim: int, means: dict[str, float]) -> str:
    """A sentence that compares words and positions with random vectors, without its full stop; empty if not stored.

    Beside random vectors of another dimension it names both dimensions.
    """
    if "word_position" not in means:
        return ""
    value, own = means["word_position"], _own_width(model)
    random = {width: expected_abs_cosine(width) for width in (dim, own)}
    near, to, than = STANDS[beside_chance(value, random[dim])]
    stand = f"Words and positions stand {near} {to} right angles {than} random vectors"
    if dim == own:
        return f"{stand}: mean absolute cosine {value:.3f}, random {random[own]:.3f}"
    near, _, than = STANDS[beside_chance(value, random[own])]
    return (
        f"{stand} of {dim:,} dimensions, and {near} {than} those of their own {own}: mean absolute cosine {value:.3f}, "
        f"random {random[dim]:.3f} and {random[own]:.3f}"
    )


def tilt(rows: pd.DataFrame) -> str:
    """A sentence on the side of zero on which most cosines lie, before and after the means are subtracted."""
    above = {
        subject: percent(shares.value[shares.along > 0].sum())
        for subject, shares in rows[rows.subject.isin(SERIES)].groupby("subject")
    }
    if len(above) < len(SERIES):
        return ""
    return (
        f"As they are, {above['word_position']} of the pairs have a cosine above zero; with the means subtracted, "
        f"{above[CENTRED]}."
    )


def axis_limit(*distributions: pd.DataFrame) -> float:
    """The smallest multiple of 0.05 beyond which no distribution has more than a few of its pairs."""
    for limit in np.arange(0.1, 1, 0.05):
        if all(float(shares.value[shares.along.abs() > limit].sum()) < OUTSIDE for shares in distributions):
            return round(float(limit), 2)
    return 1.0


def _steps(shares: pd.DataFrame) -> tuple[ndarray, ndarray]:
    """The middles of the bins of a distribution in order, and its shares."""
    shares = shares.sort_values("along")
    return shares.along.to_numpy(dtype=float), shares.value.to_numpy(dtype=float)


def _distributions(
    model_rows: pd.DataFrame, random: pd.DataFrame, means: dict[str, float], dim: int, theme: Theme
) -> Chart:
    """Shares of pairs by cosine: random ones as a grey area, the model's as lines that carry their names."""
    dashes = dict(zip(SERIES.values(), ([1, 0], [6, 3]), strict=True))
    by_subject = {subject: model_rows[model_rows.subject == subject] for subject in SERIES}
    limit = axis_limit(random, *by_subject.values())
    inside = panels.chart_rows(model_rows[model_rows.along.abs() <= limit])
    shown_random = random[random.along.abs() <= limit]
    top = HEADROOM * max(float(shares.value.max()) for shares in (shown_random, *by_subject.values()) if len(shares))
    x = marks.number(alt.X, "along", "cosine of a word and a position", domain=(-limit, limit), grid=False, ticks=7)
    y = marks.number(alt.Y, "value", "share of pairs, bins of 0.02", domain=(0, top), form="%", ticks=5)
    texts = {
        subject: marks.wrap_label(f"{SERIES[subject]}: {means[subject]:.3f}", AT_CURVE)
        for subject, shares in by_subject.items()
        if len(shares) and subject in means
    }
    curves = [
        NamedCurve(f"random: {expected_abs_cosine(dim):.3f}", *_steps(random), filled=True),
        *(NamedCurve(text, *_steps(by_subject[subject])) for subject, text in texts.items()),
    ]
    places = name_places(curves, Plot(-limit, limit, top, PLOT_WIDTHS, HEIGHT), uprights=[0.0])
    hues = [theme.colour(colours.SOFT), *(theme.ink for _ in texts)]
    names = [
        {"name": curve.name, "hue": hue, **vars(place)} for curve, hue, place in zip(curves, hues, places, strict=True)
    ]
    tooltip: tuple[marks.Tip, ...] = (("along", "cosine", ".2f"), ("value", "share of pairs", ".3~%"))
    lines = marks.line_plot(
        inside.assign(of=inside.series), x=x, y=y, theme=theme, dots=0, tooltip=("of", *tooltip),
        dash=marks.dashes("series", dashes), interpolate="step",
    )  # fmt: skip
    area = alt.Chart(shown_random).mark_area(opacity=0.4, color=GREY, interpolate="step")
    return marks.panel(
        area.encode(x=x, y=y, tooltip=marks.tips(*tooltip)),
        marks.rule(theme, x=0, dash=marks.DASH),
        *lines,
        *panels.names_at(pd.DataFrame(names), x, y, theme),
        theme=theme,
        width=marks.WIDE,
        height=HEIGHT,
    )
