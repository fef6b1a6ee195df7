"""An encoding in three small pictures: its table, how many directions it uses, and how alike near positions are."""

from collections.abc import Sequence
from typing import Annotated

import altair as alt
import numpy as np
import pandas as pd

from analysis.core import colours
from analysis.core.formatting import percent, sentences, significant
from analysis.encodings import ENCODINGS
from analysis.figures import marks, panels
from analysis.figures.drawing import Chart, Theme
from analysis.figures.encodings.compared_rows import VISIBLE, RowSimilarities, compare_rows
from analysis.figures.encodings.heat import table_map
from analysis.figures.encodings.similarity import first_rise
from analysis.figures.encodings.sized import SizedEncoding, citation_keys, colour_limit, empty_panel, origins, sized
from analysis.figures.figure import Figure, Parameters, figure, one_of

ENCODING_OF = {
    "rotary": "rotary",
    "causal_partial_25": "none",
    "causal_partial_10": "none",
    "hybrid": "rotary",
    "bert_a": "learned",
    "relative_only": "t5_bias",
    "alibi": "alibi",
    "sinusoidal": "sinusoidal",
    "sinusoidal_strong": "sinusoidal",
    "sinusoidal_lead": "sinusoidal",
    "deberta": "shaw_relative",
    "no_position": "none",
    "causal_polar": "none",
    "tupe_a": "tupe_untied",
}
"""Variant -> the registered encoding whose pictures show it; `none` where no encoding does."""


def has_pictures(variant: str) -> bool:
    """True if a method's table can be drawn: there is one, and it is not learned, or a trained model's is at hand."""
    name = ENCODING_OF.get(variant, "none")
    return name != "none" and (name == "learned" or not ENCODINGS[name].learned)


LENGTH, DIM = 64, 64
HELD = 0.9
HEIGHT = 220
FLOOR = 1e-4
"""The smallest share of what varies that is drawn."""


class OverviewParameters(Parameters):
    """The way to tell a position whose pictures are drawn, by its variant; the first one where none is named."""

    row: Annotated[str, one_of(["", *ENCODING_OF])]


def direction_shares(table: np.ndarray) -> np.ndarray:
    """The share of what varies in a table along each of its directions, strongest first; empty where nothing varies."""
    squares = np.linalg.svd(table - table.mean(axis=0), compute_uv=False) ** 2
    return squares / squares.sum() if squares.sum() > 1e-18 * table.size else np.array([])


@figure("encoding_overview", OverviewParameters)
def overview(params: OverviewParameters) -> Figure:
    """The table of an encoding, the share of its directions in what varies, and similarity against distance."""
    variant = params.row or next(iter(ENCODING_OF))
    entry = sized(ENCODING_OF[variant], LENGTH, DIM)
    shares = direction_shares(entry.table())
    random = direction_shares(np.random.default_rng(0).normal(size=entry.table().shape))
    # An encoder sees both sides; a score whose paper has decoders alone is drawn as an encoder uses it.
    both_sides = {"symmetric": True} if "symmetric" in entry.encoding.options else {}
    comparison = compare_rows(entry, "cosine", **both_sides)
    count = directions_with_most(shares)
    held = (
        f"{count} of {len(shares)} directions hold{'s' * (count == 1)} {percent(HELD)} of what varies in the table"
        if count
        else "nothing varies"
    )
    if entry.encoding.learned and entry.name != "learned":
        held = f"as drawn at random before training, {held}"
    rise = first_rise(entry, comparison).partition(": ")[2]

    def frame() -> pd.DataFrame:
        spectrum = pd.DataFrame({"picture": "directions", "at": np.arange(1, len(shares) + 1), "value": shares})
        profile = pd.DataFrame(
            {"picture": "similarity", "at": comparison.profile.distance, "value": comparison.profile.mean}
        )
        return pd.concat([spectrum, profile], ignore_index=True).assign(encoding=entry.name)

    return Figure(
        title=f"{entry.source} in pictures",
        finding=f"{entry.title}: {held}" + (f"; {rise}" if rise else ""),
        frame=frame,
        caption=sentences(
            "The table itself; the share of what varies in it along each of its directions, beside that of a random "
            "table; and the similarity of two positions against their distance.",
            f"{entry.title}, {entry.size}. {entry.encoding.note}",
            "Directions: squared singular values of the table without its mean row, as shares of their sum; grey: a "
            "Gaussian table of the same size, seed 0.",
            f"Similarity: {comparison.kind}, the mean over all pairs of positions at a distance"
            + (", on both sides, as an encoder uses it." if both_sides else "."),
            "Exact: nothing is sampled.",
        ),
        alt=f"{entry.title}: {held}{'; ' if rise else ''}{rise}.",
        command=(
            f"python -m analysis export '/choose?row={variant}' --figure encoding_overview -o encoding-overview.csv"
        ),
        provenance=origins([entry]),
        citation_keys=citation_keys([entry]),
        draw=lambda theme: _panels(entry, shares, random, comparison, theme),
        columns=3,
    )


def directions_with_most(shares: Sequence[float] | np.ndarray) -> int:
    """The fewest directions that together hold nine tenths of what varies; 0 where nothing varies."""
    return int(np.searchsorted(np.cumsum(shares), HELD - 1e-12) + 1) if len(shares) else 0


def _panels(
    entry: SizedEncoding, shares: np.ndarray, random: np.ndarray, comparison: RowSimilarities, theme: Theme
) -> list[Chart]:
    limit = colour_limit(entry.table())[0]
    table = table_map(entry, limit, theme, marks.THIRD, HEIGHT, legend=False)
    scale = f"violet −{significant(limit)}, green +{significant(limit)}"
    return [
        table.properties(title=marks.heading("The table", scale, *entry.lines, theme=theme)),
        _directions(entry, shares, random, theme),
        _similarity(entry, comparison, theme),
    ]


def _directions(entry: SizedEncoding, shares: np.ndarray, random: np.ndarray, theme: Theme) -> Chart:
    """The share of every direction, on a logarithmic axis; a random table's in grey."""
    if not len(shares):
        return _empty(entry, "What varies, by direction", "Nothing varies.", theme)
    brown, soft = theme.colour(colours.TERMS["position"]), theme.colour(colours.SOFT)
    rows = pd.concat(
        pd.DataFrame({"direction": np.arange(1, len(values) + 1), "share": values, "of": name})
        for name, values in (("random", random), (entry.title, shares))
    )
    rows = rows[rows.share > FLOOR]
    count = directions_with_most(shares)
    x = marks.number(alt.X, "direction", "direction", domain=(1, len(shares)), form="d", grid=False, ticks=5)
    y = marks.number(alt.Y, "share", "share of what varies", log=10, nice=False, form="~%", ticks=4)
    own, other = (rows[rows.of == name] for name in (entry.title, "random"))
    middle = other.iloc[len(other) // 2]
    held = f"{count} hold{'s' * (count == 1)} {percent(HELD)}"
    names = pd.DataFrame(
        [
            {"direction": count, "share": float(own.share.max()), "name": held, "dx": 6, "dy": 4,
             "align": "left" if count < 0.6 * len(shares) else "right", "hue": theme.ink},
            {"direction": float(middle.direction), "share": float(middle.share), "name": "random",
             "dx": 4, "dy": -12, "align": "left", "hue": soft},
        ]
    )  # fmt: skip
    names.loc[0, "dx"] = 6 if names["align"][0] == "left" else -6
    tooltip: tuple[marks.Tip, ...] = (("of", "table"), ("direction:Q", "direction"), ("share", "share", ".2~%"))
    return marks.panel(
        marks.rule(theme, x=count, dash=marks.DASH),
        *marks.line_plot(other, x=x, y=y, theme=theme, dots=0, color=soft, tooltip=tooltip),
        # One direction is no line.
        *marks.line_plot(
            own, x=x, y=y, theme=theme, dots=marks.LARGE_DOT if len(own) == 1 else 0, color=brown, tooltip=tooltip
        ),
        *panels.names_at(names, x, y, theme),
        theme=theme,
        width=marks.THIRD,
        height=HEIGHT,
        title="What varies, by direction",
    )  # fmt: skip


def _similarity(entry: SizedEncoding, comparison: RowSimilarities, theme: Theme) -> Chart:
    """Mean similarity against the signed distance."""
    profile = comparison.profile
    if not profile.distance.size:
        return _empty(entry, "Similarity against distance", "Every row is zero: there is nothing to compare.", theme)
    frame = pd.DataFrame({"distance": profile.distance, "mean": profile.mean})
    lines = marks.line_plot(
        frame, theme=theme, color=theme.colour(colours.TERMS["position"]), dots=0,
        x=marks.number(alt.X, "distance", "key minus query, tokens", nice=False, grid=False, ticks=5),
        y=marks.number(alt.Y, "mean", comparison.kind, ticks=5),
        tooltip=(("distance:Q", "distance (tokens)"), ("mean", "", ".4~g")),
    )  # fmt: skip
    rise = comparison.numbers["visible_rise"]
    rules = [marks.rule(theme, x=side * rise, dash=marks.DASH) for side in (-1, 1)] if np.isfinite(rise) else []
    return marks.panel(
        *rules, *lines, theme=theme, width=marks.THIRD, height=HEIGHT, title="Similarity against distance",
        below=[f"dashed: it climbs again, by {percent(VISIBLE)} or more"] if rules else (),
    )  # fmt: skip


def _empty(entry: SizedEncoding, title: str, words: str, theme: Theme) -> Chart:
    """A panel that says why there is nothing to draw."""
    panel = empty_panel(entry, words, theme=theme, height=HEIGHT, width=marks.THIRD)
    return panel.properties(title=marks.heading(title, theme=theme))
