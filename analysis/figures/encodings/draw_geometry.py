"""Drawings of how an encoding's rows lie to each other: similarity, shifts."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.encodings.data import SizedEncoding
from analysis.figures.encodings.draw import HEIGHT, colours, empty_panel
from analysis.figures.encodings.geometry import Comparison, ShiftContent, SimilarityContent, shown_dimensions
from analysis.figures.encodings.measures import in_words
from analysis.figures.heatmap import heatmap


@drawing("encoding_similarity", columns=2)
def similarity(figure: Figure[SimilarityContent], theme: Theme) -> list[Chart]:
    """Mean and spread against distance, then position by position; one column an encoding."""
    shown, comparisons = figure.content.shown, figure.content.comparisons
    cosines = [
        comparison.profile
        for comparison in comparisons
        if comparison.kind.startswith("cosine") and comparison.profile.distance.size
    ]
    floor = min((float((profile.mean - profile.sd).min()) for profile in cosines), default=0.0)
    lines, maps = [], []
    for entry, comparison, limit, colour in zip(
        shown, comparisons, figure.content.limits, colours(theme), strict=False
    ):
        if not comparison.profile.distance.size:
            lines.append(empty_panel(entry, "Every row is zero:", "there is nothing to compare.", theme=theme))
            maps.append(empty_panel(entry, "", theme=theme))
            continue
        lines.append(
            _profile(
                entry, comparison, colour, min(floor, 0.0) if comparison.kind.startswith("cosine") else None, theme
            )
        )
        maps.append(
            heatmap(
                comparison.values, domain=(-limit, limit), row_title="query position", column_title="key position",
                value_title=comparison.kind, title=entry.title, below=entry.lines, side=marks.HALF, theme=theme,
            )
        )  # fmt: skip
    return lines + maps if any(comparison.profile.distance.size for comparison in comparisons) else lines


def _profile(entry: SizedEncoding, comparison: Comparison, colour: str, floor: float | None, theme: Theme) -> Chart:
    profile = comparison.profile
    frame = pd.DataFrame(profile._asdict()).assign(low=profile.mean - profile.sd, high=profile.mean + profile.sd)
    domain = alt.Undefined if floor is None else (floor, 1.0)
    layers = marks.line_plot(
        frame, theme=theme, color=colour, dots=0, ends=("low", "high"), band=True,
        x=marks.number(alt.X, "distance", "distance, key minus query (tokens)", nice=False),
        y=marks.number(alt.Y, "mean", comparison.kind, domain=domain),
        tooltip=(
            ("distance:Q", "distance (tokens)"), ("mean", "", ".4~g"), ("sd", "standard deviation", ".3~g"),
            ("pairs", "", ","),
        ),
    )  # fmt: skip
    rise = comparison.numbers["first_rise"]
    below = [*entry.lines, "band: one standard deviation over the pairs"]
    if np.isfinite(rise):
        layers.insert(0, marks.rule(theme, x=rise, dash=marks.DASH))
        below.append(f"dashed: the mean first rises again, at {in_words('first_rise', rise)}")
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=HEIGHT, title=entry.title, below=below)


@drawing("encoding_shift", columns=2)
def shift(figure: Figure[ShiftContent], theme: Theme) -> list[Chart]:
    """The shift matrix where there is a closed form; else in words how well one matrix would do."""
    k, panels = figure.content.k, []
    height = marks.HALF if any(result.matrix is not None for result in figure.content.results) else 160
    for entry, result in zip(figure.content.shown, figure.content.results, strict=True):
        if result.reason:
            panels.append(
                empty_panel(
                    entry, *(result.reason[0].upper() + result.reason[1:]).split("; "), theme=theme, height=height
                )
            )
        elif result.matrix is None:
            panels.append(
                empty_panel(
                    entry, "held-out R² of the best single linear map",
                    "(1: shifting is linear; 0: no better than the mean row)", "There is no closed form.", theme=theme,
                    height=height, number=f"{result.r2:.3f}",
                )
            )  # fmt: skip
        else:
            dimensions = shown_dimensions(result.matrix)
            names = [str(dimension) for dimension in dimensions]
            panels.append(
                heatmap(
                    result.matrix[np.ix_(dimensions, dimensions)], names, names, domain=(-1.0, 1.0),
                    row_title=f"dimension at position + {k}", column_title="dimension at position",
                    value_title="weight", title=entry.title,
                    below=(*entry.lines, f"closed form; largest error {result.residual:.0e}"),
                    side=marks.HALF, theme=theme,
                )
            )  # fmt: skip
    return panels
