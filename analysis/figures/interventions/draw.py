"""Drawings of interventions."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.heatmap import heatmap, token_axis
from analysis.figures.interventions.data import (
    EffectsContent,
    PatternChangeContent,
    PatternsContent,
    PermutationContent,
    TokensContent,
)
from analysis.figures.terms.token_maps import pattern_map, token_map
from analysis.figures.vision.interventions import MovedContent

STAGES = ("before", "after")
POSITIONS = ("off", "on")
HEIGHT = 240


def _token_axis(labels: list[str]) -> alt.X:
    """Tokens across, by their order: a token may come twice."""
    return alt.X("order:O", axis=token_axis(labels, "token", angle=-60))


def _dots(
    frame: pd.DataFrame, x: alt.X, y: alt.Y, kinds: tuple[str, ...], theme: Theme, *tooltip: marks.Tip, title: str = ""
) -> list[Chart]:
    """Dots over tokens, two a token, whose `kind` has a colour and a shape. title: of the legend."""
    key = marks.legend(title or None, place="top", columns=2)
    color, shape = marks.series("kind", kinds, theme, key), marks.shapes("kind", kinds, key)
    return marks.line_plot(frame, x=x, y=y, theme=theme, color=color, shape=shape, width=0, tooltip=tooltip)


@drawing("intervention_tokens")
def tokens(figure: Figure[TokensContent], theme: Theme) -> list[Chart]:
    """Losses before and after joined by a line; or a cosine's distance from 1."""
    frame, x = figure.frame(), _token_axis(figure.content.labels)
    frame = frame.assign(order=range(len(frame)))
    lines = alt.Chart(frame).mark_rule(strokeWidth=marks.LINE, color=theme.faint)
    if figure.content.losses:
        both = pd.concat([frame.assign(kind=stage, loss=frame[f"loss_{stage}"]) for stage in STAGES])
        y = marks.number(alt.Y, "loss", "cross-entropy (nats)", zero=True)
        dots = _dots(
            both, x, y, STAGES, theme, "token", ("likeliest_before", "most likely token before"),
            ("likeliest_after", "most likely token after"), ("loss_before", "", ".3f"), ("loss_after", "", ".3f"),
        )  # fmt: skip
        spans = lines.encode(x=x, y=marks.same_axis(y, "loss_before"), y2=alt.Y2("loss_after:Q"))
    else:
        y = marks.number(alt.Y, "cosine", "cosine, before and after", domain=(min(0.0, float(frame.cosine.min())), 1))
        dots = marks.line_plot(frame, x=x, y=y, theme=theme, width=0, tooltip=("token", ("cosine", "", ".4f")))
        spans = lines.encode(x=x, y=y, y2=alt.datum(1))
    return [marks.panel(spans, *dots, theme=theme, width=marks.WIDE, height=HEIGHT)]


@drawing("intervention_kl", "vision_kl")
def kl(figure: Figure[PatternChangeContent], theme: Theme) -> list[Chart]:
    """Layers down, heads across."""
    values = figure.content.kl
    return [
        heatmap(
            values, domain=(0, float(values.max()) or 1.0), row_title="layer", column_title="head",
            value_title="KL (nats)", side=600, height=max(120, 26 * len(values)), theme=theme,
        )
    ]  # fmt: skip


@drawing("vision_moved")
def moved(figure: Figure[MovedContent], theme: Theme) -> list[Chart]:
    """Patches where they stand; those that were hidden are left out."""
    values = figure.content.values
    return [
        heatmap(
            values, domain=(min(0.0, float(np.nanmin(values))), 1), row_title="row of the patch",
            column_title="column of the patch", value_title="cosine, before and after", diverging=False, side=380,
            height=360, theme=theme,
        )
    ]  # fmt: skip


@drawing("intervention_maps", columns=3)
def maps(figure: Figure[PatternsContent], theme: Theme) -> list[Chart]:
    """Maps of the patterns before and after, and of their difference. One scale; the difference's has both signs."""
    labels, limit = figure.content.labels, figure.content.limit
    return [
        token_map(values, labels, limit, theme, value="difference", title=name)
        if "−" in name
        else pattern_map(values, labels, theme, limit, title=name)
        for name, values in figure.content.maps.items()
    ]


@drawing("intervention_permutation")
def permutation(figure: Figure[PermutationContent], theme: Theme) -> list[Chart]:
    """Each token's error, positions off and on, on a logarithmic scale."""
    wide = figure.frame()
    frame = wide.assign(order=range(len(wide))).melt(["order", "token"], list(POSITIONS), "kind", "error")
    # A logarithm has no place for an error of exactly 0: it is drawn at the smallest one that there is.
    smallest = float(frame.error[frame.error > 0].min()) if (frame.error > 0).any() else 1e-17
    y = marks.number(alt.Y, "drawn", "largest difference of the output", log=10, form=".0e", ticks=8)
    dots = _dots(
        frame.assign(drawn=np.maximum(frame.error, smallest)), _token_axis(figure.content.labels), y, POSITIONS, theme,
        "token", ("kind", "positions"), ("error", "difference", ".2e"), title="positions",
    )  # fmt: skip
    return [marks.panel(*dots, theme=theme, width=marks.WIDE, height=HEIGHT)]


@drawing("intervention_effects", columns=2)
def effects(figure: Figure[EffectsContent], theme: Theme) -> list[Chart]:
    """One panel an outcome: a dot and an interval for each intervention."""
    frame, order = figure.frame(), figure.content.order
    y = marks.rows_down("done", order, grid=False)
    panels = []
    for outcome, label in figure.content.outcomes.items():
        # A title of two lines: a narrow screen has no room for both side by side under the bars.
        x = marks.number(alt.X, "value", label.split(": "), zero=True, ticks=5)
        tooltip = ("done", ("value", label, ".4f"), *marks.interval_tips(".4f"), "texts:Q")
        dots = marks.row_plot(frame[frame.outcome == outcome], x=x, y=y, theme=theme, bars=True, tooltip=tooltip)
        panels.append(marks.panel(*dots, theme=theme, width=marks.HALF, height=marks.ROW * len(order)))
    return panels
