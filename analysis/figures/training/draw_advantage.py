"""The drawing of an advantage against the length of training: differences in loss, and shares of steps."""

from collections.abc import Sequence

import altair as alt

from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.training.advantage import AdvantageContent
from analysis.figures.training.draw_gaps import VARIANT

HEIGHT = 240
DOTTED = [2, 4]
"""The dash of a fitted line beyond what was trained."""
STEPS: marks.Tip = ("steps", "", ",")


def _steps(trained: Sequence[float], end: float) -> alt.X:
    """Steps on a log scale, marked where something was trained and where the axis ends."""
    values = sorted({*trained, round(end)})
    domain = (0.9 * min(trained), 1.1 * end)
    return marks.number(alt.X, "steps", "steps of training", domain=domain, log=10, values=values, form=",", grid=False)


@drawing("training_advantage", columns=2)
def advantage(figure: Figure[AdvantageContent], theme: Theme) -> list[Chart]:
    """Two charts: the difference in final loss with its fitted line, and the share of the baseline's steps."""
    table, content = figure.frame(), figure.content
    names = list(dict.fromkeys(table.title))
    title_colours = marks.series("title", names, theme, marks.legend())
    color = title_colours if len(names) > 1 else alt.Undefined
    trained = table.steps.tolist()
    x = _steps(trained, max([*trained, *content.lines.steps]))
    y = marks.number(alt.Y, "size", f"final loss minus {content.baseline}'s (nats)", zero=True)
    beyond = content.lines.beyond.astype(bool)
    lines = content.lines.assign(
        low=content.lines.low.mask(beyond),
        high=content.lines.high.mask(beyond),
        part=beyond.map({False: "trained", True: "beyond"}),
    )
    fitted = marks.line_plot(
        lines, x=x, y=y, theme=theme, color=color, ends=("low", "high"), band=True, detail="title:N", dots=0,
        dash=marks.dashes("part", {"trained": [1, 0], "beyond": DOTTED}),
    )  # fmt: skip
    pairs = content.pairs[["title", "steps", "seed", "gap", "run_id"]]
    losses = marks.row_plot(
        pairs, x=x, y=marks.same_axis(y, "gap"), theme=theme, ends=None, color=color, size=marks.SEED, opacity=0.8,
        tooltip=(VARIANT, STEPS, "seed", ("gap", "difference (nats)", "+.3f"), "run_id"),
    )  # fmt: skip
    top = max(1.1, 1.05 * float(table[["ratio", "ratio_high"]].max().max()))
    ratios = marks.line_plot(
        table, x=_steps(trained, max(trained)), theme=theme, color=color, ends=("ratio_low", "ratio_high"), width=0,
        y=marks.number(alt.Y, "ratio", f"steps to reach {content.baseline}'s final loss (share)", domain=(0, top)),
        shape="diamond", dots=marks.LARGE_DOT, tooltip=(VARIANT, STEPS, "seeds", ("ratio", "", ".3f")),
    )  # fmt: skip
    return [
        marks.panel(
            marks.rule(theme, y=0),
            *fitted,
            *losses,
            theme=theme,
            width=marks.HALF,
            height=HEIGHT,
            title="Difference in final loss",
        ),
        marks.panel(
            marks.rule(theme, y=1), *ratios, theme=theme, width=marks.HALF, height=HEIGHT, title="Share of steps"
        ),
    ]
