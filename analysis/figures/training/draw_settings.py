"""The drawing of final losses at several settings: one row a variant, one panel a setting, all on one scale."""

import altair as alt

from analysis.core.formatting import signed
from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.marks import heading, same_axis
from analysis.figures.training.draw_curves import reach
from analysis.figures.training.draw_gaps import ROW, blue, down, words

WIDE = 190


@drawing("training_settings", columns=3)
def settings(figure: Figure, look: Look) -> list[Chart]:
    """Dots are seeds, bars means; the line is the mean of the baseline there, the numbers are differences to it."""
    table, runs, base = (figure.content[name] for name in ("table", "runs", "baseline"))
    titles = dict(zip(table.variant, table.title, strict=True))
    order = list(dict.fromkeys(table.title))
    x = alt.X(
        "final:Q", title="final validation loss (nats)", axis=alt.Axis(tickCount=4, labelOverlap=False),
        scale=alt.Scale(domain=list(reach(runs.final)), nice=False),
    )  # fmt: skip
    panels = []
    for setting in figure.content["settings"]:
        mean = table[table.setting == setting]
        mean = mean.assign(written=[_difference(row) for row in mean.itertuples()])
        rows = [name for name in order if name in set(mean.title)]
        y = down(rows)
        own = runs[runs.setting == setting].assign(title=lambda result: result.variant.map(titles))
        tips = [alt.Tooltip("title:N", title="variant"), alt.Tooltip("rate:N", title="peak learning rate")]
        dots = alt.Chart(own[["title", "seed", "final", "rate", "run_id"]]).mark_point(
            filled=True, size=38, opacity=0.75
        )
        bars = alt.Chart(mean[["title", "mean", "seeds", "gap", "rate"]]).mark_tick(thickness=2.5, size=17)
        panels.append(
            alt.layer(
                alt.Chart(mean[["mean"]][mean.variant == base])
                .mark_rule(color=look.ink, strokeDash=[4, 3], opacity=0.8)
                .encode(x=same_axis(x, "mean")),
                dots.encode(
                    x=x,
                    y=y,
                    color=alt.value(blue(look)),
                    tooltip=[*tips, "seed:Q", alt.Tooltip("final:Q", title="loss", format=".3f"), "run_id:N"],
                ),
                bars.encode(
                    x=same_axis(x, "mean"),
                    y=y,
                    color=alt.value(look.ink),
                    tooltip=[
                        *tips,
                        "seeds:Q",
                        alt.Tooltip("mean:Q", title="mean loss", format=".3f"),
                        alt.Tooltip("gap:Q", title="less the baseline", format="+.3f"),
                    ],
                ),
                words(mean, "written", y, look),
            ).properties(width=WIDE, height=ROW * len(rows), title=heading(setting, look=look))
        )
    return panels


def _difference(row) -> str:
    """The difference to the baseline, and of how many seeds where of several."""
    return (signed(row.gap) + (f" (n = {row.n})" if row.n > 1 else "")) if row.n else ""
