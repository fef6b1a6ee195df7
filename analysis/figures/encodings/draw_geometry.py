"""Drawings of how an encoding's rows lie to each other: similarity, shifts."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.encodings.data import Sized
from analysis.figures.encodings.draw import WIDE, colours, empty, name
from analysis.figures.encodings.geometry import Likeness, ShiftContent, SimilarityContent, related
from analysis.figures.encodings.measures import in_words
from analysis.figures.heatmap import heatmap


@drawing("encoding_similarity", columns=2)
def similarity(figure: Figure[SimilarityContent], look: Look) -> list[Chart]:
    """Mean and spread against distance, then position by position; one column an encoding."""
    shown, likes = figure.content.shown, figure.content.likeness
    cosines = [like.profile for like in likes if like.kind.startswith("cosine") and like.profile.distance.size]
    floor = min((float((result.mean - result.sd).min()) for result in cosines), default=0.0)
    lines, maps = [], []
    for one, like, reach, colour in zip(shown, likes, figure.content.reach, colours(look), strict=False):
        if not like.profile.distance.size:
            lines.append(empty(one, "Every row is zero:", "there is nothing to compare.", look=look))
            maps.append(empty(one, "", look=look))
            continue
        lines.append(_profile(one, like, colour, min(floor, 0.0) if like.kind.startswith("cosine") else None, look))
        places = [str(place) for place in range(one.length)]
        maps.append(
            heatmap(
                like.values,
                places,
                places,
                domain=(-reach, reach),
                row_title="query position",
                column_title="key position",
                value_title=like.kind,
                side=WIDE,
                height=WIDE,
                look=look,
            ).properties(title=name(one, look=look))
        )
    return lines + maps if any(like.profile.distance.size for like in likes) else lines


def _profile(one: Sized, like: Likeness, colour: str, floor: float | None, look: Look) -> Chart:
    result = like.profile
    frame = pd.DataFrame(result._asdict()).assign(low=result.mean - result.sd, high=result.mean + result.sd)
    scale = alt.Scale(zero=False) if floor is None else alt.Scale(domain=[floor, 1.0])
    x = alt.X("distance:Q", title="distance, key minus query (tokens)", scale=alt.Scale(nice=False))
    tooltip = [
        alt.Tooltip("distance:Q", title="distance (tokens)"),
        alt.Tooltip("mean:Q", format=".4~g"),
        alt.Tooltip("sd:Q", title="standard deviation", format=".3~g"),
        alt.Tooltip("pairs:Q", format=","),
    ]
    base = alt.Chart(frame)
    y = alt.Y("low:Q", title=like.kind, scale=scale)
    layers = [
        base.mark_area(color=colour, opacity=0.28).encode(x=x, y=y, y2="high"),
        base.mark_line(color=colour, strokeWidth=2).encode(x=x, y=alt.Y("mean:Q", scale=scale), tooltip=tooltip),
    ]
    rise = like.numbers["first_rise"]
    below = ["band: one standard deviation over the pairs"]
    if np.isfinite(rise):
        mark = pd.DataFrame({"distance": [rise]})
        layers.insert(0, alt.Chart(mark).mark_rule(color=look.faint, strokeDash=[4, 3]).encode(x="distance:Q"))
        below.append(f"dashed: the mean first rises again, at {in_words('first_rise', rise)}")
    return alt.layer(*layers).properties(width=WIDE, height=240, title=name(one, *below, look=look))


@drawing("encoding_shift", columns=2)
def shift(figure: Figure[ShiftContent], look: Look) -> list[Chart]:
    """The shift matrix where there is a closed form; else in words how well one matrix would do."""
    k, panels = figure.content.k, []
    height = WIDE if any(result.matrix is not None for result in figure.content.found) else 160
    for one, result in zip(figure.content.shown, figure.content.found, strict=True):
        if result.why:
            panels.append(empty(one, *(result.why[0].upper() + result.why[1:]).split("; "), look=look, height=height))
        elif result.matrix is None:
            panels.append(
                empty(
                    one,
                    "held-out R² of the best single linear map",
                    "(1: shifting is linear; 0: no better than the mean row)",
                    "There is no closed form.",
                    look=look,
                    height=height,
                    number=f"{result.r2:.3f}",
                )
            )
        else:
            kept = related(result.matrix)
            names = [str(dimension) for dimension in kept]
            panels.append(
                heatmap(
                    result.matrix[np.ix_(kept, kept)],
                    names,
                    names,
                    domain=(-1.0, 1.0),
                    row_title=f"dimension at position + {k}",
                    column_title="dimension at position",
                    value_title="weight",
                    side=WIDE,
                    height=WIDE,
                    look=look,
                ).properties(title=name(one, f"closed form; largest error {result.residual:.0e}", look=look))
            )
    return panels
