"""Drawings against depth: a line a model, a panel a measure."""

from collections.abc import Sequence

import altair as alt

from analysis.figures import Figure, marks
from analysis.figures.depth.basis import BasisContent
from analysis.figures.depth.data import DecodingContent
from analysis.figures.drawing import GREY, Chart, Theme, drawing

HEIGHT = 190
DEPTH = marks.number(
    alt.X, "depth", "depth (0: first layer begins, 1: last ends)", domain=(0, 1), padding=8, ticks=5, grid=False
)
TIPS: tuple[marks.Tip, ...] = ("model", ("layer:Q", "hidden states entering layer"))


def colour(models: Sequence[str], theme: Theme, *, named: int, grey: Sequence[str] = ()) -> alt.Color:
    """One hue a model; published ones are grey. named: how many names the panel's legend has."""
    hue = dict(zip(models, theme.many(len(models)), strict=True)) | dict.fromkeys(grey, GREY)
    return marks.hues("model", hue, marks.legend() if named else None)


@drawing("depth_decoding", columns=3)
def decoding(figure: Figure[DecodingContent], theme: Theme) -> list[Chart]:
    """Scores of the decoders with intervals, and chance as a dashed line."""
    models, panels = figure.content.models, figure.content.panels
    charts = []
    for index, title in enumerate(panels):
        rows = figure.content.rows[figure.content.rows.panel == title]
        named = len(models) if index >= len(panels) - 3 and len(models) > 1 else 0
        hue = colour(models, theme, named=named)
        y = marks.number(alt.Y, "value", None, domain=(min(0.0, float(rows.low.min())), 1), padding=6)
        dashed = alt.Chart(rows).mark_line(strokeDash=marks.DASH, opacity=0.8)
        chance = dashed.encode(x=DEPTH, y=marks.same_axis(y, "chance"), color=hue)
        lines = marks.line_plot(
            rows,
            x=DEPTH,
            y=y,
            theme=theme,
            color=hue,
            ends=("low", "high"),
            dots=marks.SEED,
            tooltip=(*TIPS, ("value", "", ".4~g"), *marks.interval_tips(".4~g"), ("chance", "", ".3~g")),
        )
        panel = marks.panel(
            chance,
            *lines,
            theme=theme,
            width=marks.THIRD,
            height=HEIGHT,
            title=title,
            below=["dashed: chance"],
        )
        charts.append(panel)
    return charts


@drawing("depth_basis", columns=3)
def basis(figure: Figure[BasisContent], theme: Theme) -> list[Chart]:
    """Measures of the position basis; published models are grey, told apart by their marks."""
    models, panels, published = figure.content.models, figure.content.panels, figure.content.published
    shapes = dict.fromkeys(models, "circle") | dict(zip(published, ("square", "triangle-up"), strict=True))
    y = marks.number(alt.Y, "value", None, zero=True)
    charts = []
    for index, (name, title) in enumerate(panels.items()):
        rows = figure.content.rows[figure.content.rows.measure == name]
        named = len(shapes) if index >= len(panels) - 3 else 0
        hue = colour(models, theme, named=named, grey=published)
        dashed = alt.Chart(rows.loc[rows.noise.notna(), ["model", "depth", "noise"]])
        noise = dashed.mark_line(strokeDash=marks.DASH, opacity=0.8).encode(
            x=DEPTH, y=marks.same_axis(y, "noise"), color=hue
        )
        lines = marks.line_plot(
            rows[["model", "layer", "depth", "value"]],
            x=DEPTH,
            y=y,
            theme=theme,
            color=hue,
            dots=marks.SEED,
            shape=marks.shapes("model", shapes, marks.legend() if named else None),
            tooltip=(*TIPS, ("value", "", ".4~g")),
        )
        below = ["dashed: what noise alone would give"] if rows.noise.notna().any() else []
        charts.append(
            marks.panel(noise, *lines, theme=theme, width=marks.THIRD, height=HEIGHT, title=title, below=below)
        )
    return charts
