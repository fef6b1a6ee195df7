"""Drawings of how an encoding's rows lie to each other: similarity, shifts."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.encodings.data import Sized
from analysis.figures.encodings.draw import HEIGHT, colours, empty
from analysis.figures.encodings.geometry import Likeness, ShiftContent, SimilarityContent, related
from analysis.figures.encodings.measures import in_words
from analysis.figures.heatmap import heatmap


@drawing("encoding_similarity", columns=2)
def similarity(figure: Figure[SimilarityContent], theme: Theme) -> list[Chart]:
    """Mean and spread against distance, then position by position; one column an encoding."""
    shown, likes = figure.content.shown, figure.content.likeness
    cosines = [like.profile for like in likes if like.kind.startswith("cosine") and like.profile.distance.size]
    floor = min((float((result.mean - result.sd).min()) for result in cosines), default=0.0)
    lines, maps = [], []
    for one, like, reach, colour in zip(shown, likes, figure.content.reach, colours(theme), strict=False):
        if not like.profile.distance.size:
            lines.append(empty(one, "Every row is zero:", "there is nothing to compare.", theme=theme))
            maps.append(empty(one, "", theme=theme))
            continue
        lines.append(_profile(one, like, colour, min(floor, 0.0) if like.kind.startswith("cosine") else None, theme))
        maps.append(
            heatmap(
                like.values, domain=(-reach, reach), row_title="query position", column_title="key position",
                value_title=like.kind, title=one.title, below=one.lines, side=marks.HALF, theme=theme,
            )
        )  # fmt: skip
    return lines + maps if any(like.profile.distance.size for like in likes) else lines


def _profile(one: Sized, like: Likeness, colour: str, floor: float | None, theme: Theme) -> Chart:
    result = like.profile
    frame = pd.DataFrame(result._asdict()).assign(low=result.mean - result.sd, high=result.mean + result.sd)
    domain = alt.Undefined if floor is None else (floor, 1.0)
    layers = marks.line_plot(
        frame, theme=theme, color=colour, dots=0, ends=("low", "high"), band=True,
        x=marks.number(alt.X, "distance", "distance, key minus query (tokens)", nice=False),
        y=marks.number(alt.Y, "mean", like.kind, domain=domain),
        tooltip=(
            ("distance:Q", "distance (tokens)"), ("mean", "", ".4~g"), ("sd", "standard deviation", ".3~g"),
            ("pairs", "", ","),
        ),
    )  # fmt: skip
    rise = like.numbers["first_rise"]
    below = [*one.lines, "band: one standard deviation over the pairs"]
    if np.isfinite(rise):
        layers.insert(0, marks.rule(theme, x=rise, dash=marks.DASH))
        below.append(f"dashed: the mean first rises again, at {in_words('first_rise', rise)}")
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=HEIGHT, title=one.title, below=below)


@drawing("encoding_shift", columns=2)
def shift(figure: Figure[ShiftContent], theme: Theme) -> list[Chart]:
    """The shift matrix where there is a closed form; else in words how well one matrix would do."""
    k, panels = figure.content.k, []
    height = marks.HALF if any(result.matrix is not None for result in figure.content.found) else 160
    for one, result in zip(figure.content.shown, figure.content.found, strict=True):
        if result.why:
            panels.append(empty(one, *(result.why[0].upper() + result.why[1:]).split("; "), theme=theme, height=height))
        elif result.matrix is None:
            panels.append(
                empty(
                    one, "held-out R² of the best single linear map",
                    "(1: shifting is linear; 0: no better than the mean row)", "There is no closed form.", theme=theme,
                    height=height, number=f"{result.r2:.3f}",
                )
            )  # fmt: skip
        else:
            kept = related(result.matrix)
            names = [str(dimension) for dimension in kept]
            panels.append(
                heatmap(
                    result.matrix[np.ix_(kept, kept)], names, names, domain=(-1.0, 1.0),
                    row_title=f"dimension at position + {k}", column_title="dimension at position",
                    value_title="weight", title=one.title,
                    below=(*one.lines, f"closed form; largest error {result.residual:.0e}"),
                    side=marks.HALF, theme=theme,
                )
            )  # fmt: skip
    return panels
