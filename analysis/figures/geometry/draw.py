"""Drawings of geometry: lines and dots with what random vectors give, in grey, behind them."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import Figure, marks
from analysis.figures.drawing import GREY, VERMILION, Chart, Theme, drawing
from analysis.figures.geometry.cosines import PAIRS, RANDOM_PAIRS, CosinesContent, DimensionContent
from analysis.figures.geometry.data import Panel, PanelsContent
from analysis.figures.geometry.tables import EnergiesContent
from analysis.figures.geometry.words import NAMED, CallsContent

HEIGHT, TALL = 210, 300
LINE_HEIGHT = 15
CLEAR = 75
"""Pixels right of the lowest margins: there, a name stands below the dots that rise."""
MAX_DOTS = 100
"""The most values of a line that are drawn with dots."""
LOG_DIMENSIONS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
LOG_COSINES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]
RANDOM: tuple[marks.Tip, ...] = (
    ("value", "", ".4~g"),
    ("baseline", "random vectors", ".4~g"),
    ("baseline_low", "random vectors, from", ".4~g"),
    ("baseline_high", "to", ".4~g"),
)
NUMBERS = ["along", "value", "low", "high", "baseline", "baseline_low", "baseline_high"]


def _chart_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of stored rows that a chart needs; a column without any known value still has a numeric type."""
    return rows.reindex(columns=[*NUMBERS, "series", "layer", "head"]).astype(dict.fromkeys(NUMBERS, float))


def _series(rows: pd.DataFrame, theme: Theme) -> alt.Color:
    """A hue for each series, and a legend where there are several."""
    names = list(dict.fromkeys(rows.series))
    key = marks.legend(lines=True) if len(names) > 1 else None
    # A pair of words or positions has one hue in every chart of the page.
    pairs = [*PAIRS.values(), RANDOM_PAIRS]
    ordered = pairs if set(names) <= set(pairs) else names
    colour = dict(zip(ordered, theme.many(len(ordered)), strict=True)) | {RANDOM_PAIRS: GREY}
    return marks.hues("series", {name: colour[name] for name in names}, key)


def _lines(content: Panel, theme: Theme, width: int) -> Chart:
    """Value along an axis; the baseline's range as a band and its mean dashed.

    Lines after the first have gaps, through which one that it lies on is seen.
    """
    rows = _chart_rows(content.rows)
    names = list(dict.fromkeys(rows.series))
    x = marks.number(
        alt.X, "along", content.along, log=10 if content.log else alt.Undefined, nice=False, grid=False, ticks=6,
        padding=alt.Undefined if content.log else 6,
    )  # fmt: skip
    y = marks.number(alt.Y, "value", content.value, domain=content.domain or alt.Undefined, zero=content.domain is None)
    random = alt.Chart(rows).encode(x=x, detail=alt.Detail("series:N"))
    lines = marks.line_plot(
        rows, x=x, y=y, theme=theme, ends=("low", "high"), band=True,
        color=_series(rows, theme),
        dash=marks.dashes("series", {name: [9, 9 * index] if index else [1, 0] for index, name in enumerate(names)}),
        dots=marks.SEED if len(rows) <= MAX_DOTS else 0,
        tooltip=(("series", "of"), ("along:Q", content.along), *RANDOM),
    )  # fmt: skip
    return marks.panel(
        random.mark_area(opacity=0.3, color=GREY).encode(
            y=marks.same_axis(y, "baseline_low"), y2=alt.Y2("baseline_high:Q")
        ),
        random.mark_line(strokeDash=marks.DASH, strokeWidth=marks.LINE, color=GREY).encode(
            y=marks.same_axis(y, "baseline")
        ),
        *lines,
        theme=theme,
        width=width,
        height=HEIGHT,
        title=content.title,
    )


def _dots(content: Panel, theme: Theme, width: int) -> Chart:
    """One row a series, its value and interval; the baseline as a grey tick with its range."""
    rows = _chart_rows(content.rows)
    names = list(dict.fromkeys(rows.series))
    x = marks.number(
        alt.X, "value", content.value, domain=content.domain or alt.Undefined, zero=content.domain is None, ticks=5
    )
    y = marks.rows_down("series", names)
    random = alt.Chart(rows).encode(y=y)
    dots = marks.row_plot(rows, x=x, y=y, theme=theme, tooltip=(("series", "of"), *RANDOM))
    return marks.panel(
        random.mark_rule(strokeWidth=7, opacity=0.4, color=GREY).encode(
            x=marks.same_axis(x, "baseline_low"), x2=alt.X2("baseline_high:Q")
        ),
        random.mark_tick(thickness=3, size=15, color=GREY).encode(x=marks.same_axis(x, "baseline")),
        *dots,
        theme=theme,
        width=width,
        height=marks.ROW * len(names),
        title=content.title,
    )


@drawing("geometry_kept", "geometry_collisions")
def wide_lines(figure: Figure[PanelsContent], theme: Theme) -> list[Chart]:
    """Panels of lines below one another."""
    return [_lines(content, theme, marks.WIDE) for content in figure.content.panels]


@drawing("geometry_spectra", "geometry_subspaces", columns=2)
def lines(figure: Figure[PanelsContent], theme: Theme) -> list[Chart]:
    """Panels of lines, two abreast."""
    return [_lines(content, theme, marks.HALF) for content in figure.content.panels]


@drawing("geometry_layers", columns=3)
def layers(figure: Figure[PanelsContent], theme: Theme) -> list[Chart]:
    """Panels of lines, three abreast."""
    return [_lines(content, theme, marks.THIRD) for content in figure.content.panels]


@drawing("geometry_decoded")
def wide_dots(figure: Figure[PanelsContent], theme: Theme) -> list[Chart]:
    """Panels of dots below one another."""
    return [_dots(content, theme, marks.WIDE) for content in figure.content.panels]


@drawing("geometry_ranks", "geometry_order", columns=2)
def dots(figure: Figure[PanelsContent], theme: Theme) -> list[Chart]:
    """Panels of dots, two abreast."""
    return [_dots(content, theme, marks.HALF) for content in figure.content.panels]


@drawing("geometry_heads", columns=3)
def heads(figure: Figure[PanelsContent], theme: Theme) -> list[Chart]:
    """A dot a head, layer by layer; random heads as grey bars beside them."""
    return [_heads(content, theme) for content in figure.content.panels]


def _heads(content: Panel, theme: Theme) -> Chart:
    # From zero, and below it: what is removed may have worked against the rest.
    y = marks.number(alt.Y, "value", content.value, zero=True)
    base = alt.Chart(_chart_rows(content.rows)).encode(
        x=marks.categories(alt.X, "layer", "layer"), xOffset=alt.XOffset("head:O")
    )
    random = base.mark_rule(strokeWidth=4, opacity=0.45, color=GREY)
    points = base.mark_point(filled=True, size=marks.SEED, opacity=1, color=theme.series)
    return marks.panel(
        random.encode(y=marks.same_axis(y, "baseline_low"), y2=alt.Y2("baseline_high:Q")),
        points.encode(y=y, tooltip=marks.tips("layer:O", "head:O", *RANDOM)),
        theme=theme,
        width=marks.THIRD,
        height=HEIGHT,
        title=content.title,
    )


@drawing("geometry_energies")
def energies(figure: Figure[EnergiesContent], theme: Theme) -> list[Chart]:
    """A dot a dimension, both axes logarithmic; the share of a random table's dimensions dashed."""
    dots, chance = figure.content.dots, figure.content.chance
    points = marks.line_plot(
        dots[(dots.word > 0) & (dots.position > 0)],
        x=marks.number(alt.X, "position", "share of the positions' variance", log=10, ticks=5),
        y=marks.number(alt.Y, "word", "share of the words' variance", log=10, ticks=5),
        theme=theme,
        width=0,
        dots=marks.SEED,
        tooltip=("dimension:Q", ("position", "", ".3~g"), ("word", "", ".3~g")),
    )
    chance_rules = (marks.rule(theme, x=chance, dash=marks.DASH), marks.rule(theme, y=chance, dash=marks.DASH))
    return [marks.panel(*chance_rules, *points, theme=theme, width=marks.WIDE, height=TALL)]


@drawing("geometry_cosines")
def cosines(figure: Figure[CosinesContent], theme: Theme) -> list[Chart]:
    """Shares of pairs by cosine: random ones as a grey area, the model's as lines."""
    content = figure.content
    rows = _chart_rows(content.rows)
    x = marks.number(alt.X, "along", "cosine", domain=(-1, 1))
    y = marks.number(alt.Y, "value", "share of pairs, bins of 0.02", zero=True)
    area = alt.Chart(content.random).mark_area(opacity=0.45, color=GREY)
    tooltip: tuple[marks.Tip, ...] = ("series", ("value", "", ".3~g"))
    return [
        marks.panel(
            area.encode(x=x, y=y, tooltip=marks.tips(*tooltip)),
            *marks.line_plot(rows, x=x, y=y, theme=theme, color=_series(rows, theme), dots=0, tooltip=tooltip),
            theme=theme,
            width=marks.WIDE,
            height=TALL,
            title=f"Grey: {content.random_name}",
        )
    ]


@drawing("geometry_dimension")
def dimension(figure: Figure[DimensionContent], theme: Theme) -> list[Chart]:
    """Mean |cosine| against dimension, both logarithmic; the exact formula in grey, the slider upright."""
    rows = _chart_rows(figure.content.rows)
    x = marks.number(alt.X, "along", "dimension", domain=(2, 1024), log=10, values=LOG_DIMENSIONS)
    y = marks.number(alt.Y, "value", "mean |cosine|", log=10, values=LOG_COSINES)
    exact = alt.Chart(rows[rows.series == "random, measured"]).mark_line(strokeWidth=5, opacity=0.5, color=GREY)
    means = marks.line_plot(
        rows, x=x, y=y, theme=theme, ends=("low", "high"), color=_series(rows, theme), dots=marks.SEED,
        tooltip=(("series", "of"), ("along:Q", "dimension"), *RANDOM[:2]),
    )  # fmt: skip
    return [
        marks.panel(
            marks.rule(theme, x=figure.content.dim, dash=marks.DASH),
            exact.encode(x=x, y=marks.same_axis(y, "baseline")),
            *means,
            theme=theme,
            width=marks.WIDE,
            height=TALL,
            title=f"Grey: random vectors; dashed: {figure.content.dim} dimensions",
        )
    ]


@drawing("geometry_calls")
def calls(figure: Figure[CallsContent], theme: Theme) -> list[Chart]:
    """Every word's margin in order, the picked one and the lowest named; below the line a word is lost."""
    rows = figure.frame().assign(label=lambda row: row.word + " → " + row.other_word)
    selected = rows[rows.word == figure.content.selected]
    named = pd.concat([selected, rows.nsmallest(NAMED, "rank")]).drop_duplicates("rank")
    x = marks.number(alt.X, "rank", "words, from the smallest margin to the largest", nice=False, padding=8)
    y = marks.number(alt.Y, "margin", "margin (0: as near to another word)", zero=True)
    tooltip: tuple[marks.Tip, ...] = ("word", "position:Q", ("other_word", "nearest other"), ("margin", "", ".3~g"))
    # The label reaches into the chart, not over an axis.
    left = bool((selected["rank"] < rows["rank"].median()).all())
    label = alt.Chart(selected).mark_text(
        align="left" if left else "right",
        dx=(CLEAR if (selected["rank"] <= NAMED).all() else 12) if left else -12,
        fontSize=marks.PANEL_TITLE,
        fontWeight="bold",
        color=theme.ink,
    )
    # The lowest lie side by side: their names stand above one another.
    others = named[~named.word.isin(selected.word)].assign(up=lambda row: -LINE_HEIGHT * (1 + np.arange(len(row))))
    other_labels = alt.Chart(others).mark_text(
        align="left", dx=CLEAR, dy=alt.expr("datum.up"), fontSize=marks.TEXT, color=theme.ink
    )
    return [
        marks.panel(
            marks.rule(theme, y=0, dash=marks.DASH),
            *marks.line_plot(rows, x=x, y=y, theme=theme, width=0, dots=marks.SEED, tooltip=tooltip),
            *marks.line_plot(
                selected, x=x, y=y, theme=theme, width=0, dots=marks.LARGE_DOT, color=VERMILION, tooltip=tooltip
            ),
            label.encode(x=x, y=y, text=alt.Text("label:N")),
            other_labels.encode(x=x, y=y, text=alt.Text("label:N")),
            theme=theme,
            width=marks.WIDE,
            height=HEIGHT,
        )
    ]
