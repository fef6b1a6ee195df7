"""The drawing of final losses at several settings: one row a variant, one panel a setting, all on one scale."""

import altair as alt

from analysis.core import frames
from analysis.core.formatting import signed
from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.training.draw_curves import padded_range
from analysis.figures.training.draw_gaps import VARIANT, mean_ticks, row_texts
from analysis.figures.training.settings import SettingsContent

TIPS: tuple[marks.Tip, ...] = (VARIANT, ("rate", "peak learning rate"))


@drawing("training_settings", columns=3)
def settings(figure: Figure[SettingsContent], theme: Theme) -> list[Chart]:
    """Dots are seeds, bars means; the line is the mean of the baseline there, the numbers are differences to it."""
    table, runs = figure.frame(), figure.content.runs
    titles = dict(zip(table.variant, table.title, strict=True))
    x = marks.number(alt.X, "final", "final validation loss (nats)", domain=padded_range(runs.final), ticks=4)
    panels = []
    for setting in figure.content.settings:
        means = table[table.setting == setting]
        means = means.assign(written=[_difference(row) for row in frames.rows(means)])
        order = [title for title in dict.fromkeys(table.title) if title in set(means.title)]
        y = marks.rows_down("title", order)
        baseline = means["mean"][means.variant == figure.content.baseline]
        setting_runs = runs[runs.setting == setting].assign(title=lambda result: result.variant.map(titles))
        layers = [
            *(marks.rule(theme, x=mean, dash=marks.DASH) for mean in baseline),
            *marks.row_plot(
                setting_runs.drop(columns=["variant", "setting"]), x=x, y=y, theme=theme, ends=None,
                size=marks.SEED, opacity=0.75,
                tooltip=(*TIPS, "seed", ("final", "loss", ".3f"), "run_id"),
            ),
            mean_ticks(
                means[["title", "mean", "seeds", "gap", "rate"]], x, y, theme,
                (*TIPS, "seeds", ("mean", "mean loss", ".3f"), ("gap", "difference from the baseline", "+.3f")),
            ),
            row_texts(means[["title", "written"]], y, theme),
        ]  # fmt: skip
        panels.append(
            marks.panel(*layers, theme=theme, width=marks.THIRD, height=marks.ROW * len(order), title=setting)
        )
    return panels


def _difference(row) -> str:
    """The difference to the baseline, and of how many seeds where of several."""
    return (signed(row.gap) + (f" (n = {row.n})" if row.n > 1 else "")) if row.n else ""
