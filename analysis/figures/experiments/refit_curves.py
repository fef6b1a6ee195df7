"""The loss of refitted sentence encoders while they are trained on."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.formatting import fixed, plural, sentences, significant, uncapitalised
from analysis.figures import marks
from analysis.figures.drawing import SERIES, Chart, Theme
from analysis.figures.experiments.refit import COMMAND, listed, origin, stored_runs, way
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.training.line_marks import DASHES, NAME_HEIGHT, NAME_LINE, pixels_down, spread_names
from analysis.rules.refit_rules import refit_rules

END_CHARACTERS = 18
"""Letters in a line of a name at the end of its curve."""


@figure("refit_curves", Parameters)
def refit_curves(_: Parameters) -> Figure:
    """The loss on held-out texts against the tokens read, of every way of telling positions.

    Raises NoResults where no encoder was refitted.
    """
    runs = stored_runs(refit_rules())
    frame = pd.DataFrame(
        {"way": way(arm), "arm": arm, "seed": seed, "tokens": tokens, "loss": loss, "run_id": run.run_id}
        for arm, of in runs.items()
        for seed, run in of.items()
        for tokens, loss in sorted(run.losses.items())
    )
    # Seeds read texts in another order, so that the tokens of one evaluation differ a little.
    evaluation = frame.groupby(["way", "seed"]).cumcount().rename("evaluation")
    lines = frame.groupby(["way", evaluation], sort=False)[["tokens", "loss"]].mean().round({"tokens": 0}).reset_index()
    ends = lines.sort_values("tokens").groupby("way").loss.last().sort_values()
    last = {str(way): float(loss) for way, loss in ends.items()}
    return Figure(
        title="The loss of refitted encoders while they are trained on",
        finding=f"{ends.index[0]} ends lowest, at {ends.iloc[0]:.3f}, and {uncapitalised(str(ends.index[-1]))} "
        f"highest, at {ends.iloc[-1]:.3f}",
        frame=lambda: frame,
        caption=sentences(
            "The share of the variance of the intact encoder's last states that the refitted one misses, and one less "
            "the cosine of their pooled vectors, summed: 0 is the intact encoder itself. Mean over texts that were not "
            f"trained on, and over {plural(int(frame.seed.nunique()), 'seed')}.",
            _control_moves(lines[(lines.way == way(refit_rules().control)) & (lines.tokens > 0)].loss),
            "The rate rises over the first twentieth of the tokens and "
            "then falls to zero. Tokens are on a logarithmic axis; the point before any training is left out.",
        ),
        alt=f"Lines of loss against tokens, which end so: {listed(last, '{:.3f}'.format)}.",
        command=COMMAND,
        provenance=origin(),
        draw=lambda theme: [_curves(lines[lines.tokens > 0], list(ends.index), theme)],
    )


def _control_moves(own: "pd.Series[float]") -> str:
    """The highest loss of the intact encoder on its way: training moves it, too, though nothing of it was changed.

    own: its mean over seeds at every evaluation.
    """
    if own.empty or own.max() <= own.iloc[-1]:
        return ""
    return (
        f"Training moves the intact encoder, too: its loss rises to {significant(own.max(), 2)} while the rate is "
        f"high, and ends at {significant(own.iloc[-1], 2)}."
    )


def _curves(lines: pd.DataFrame, order: list[str], theme: Theme) -> Chart:
    """A line a way, with its name and its end at the right; black for those that the others are measured by."""
    rules = refit_rules()
    measured_by = [way(arm) for arm in (rules.floor, rules.control) if way(arm) in order]
    others = [way for way in order if way not in measured_by]
    hues = dict(zip(others, theme.many(len(others) + 1)[1:], strict=True)) | dict.fromkeys(measured_by, theme.ink)
    color = marks.hues("way", hues)
    patterns = {way: DASHES[index // len(SERIES)] for index, way in enumerate(others)}
    dash = marks.dashes("way", patterns | dict(zip(measured_by, DASHES[1::-1], strict=False)))
    ends = lines.sort_values("tokens").groupby("way").loss.last()[order]
    names = [marks.wrap_label(f"{way} {fixed(loss, 3)}", END_CHARACTERS) for way, loss in ends.items()]
    sizes = np.array([NAME_HEIGHT + NAME_LINE * name.count("\n") for name in names], dtype=float)
    height = max(300, int(sizes.sum()) + 20)
    domain = (0.0, 1.05 * float(lines.loss.max()))
    labels = alt.Chart(
        pd.DataFrame(
            {
                "way": order,
                "name": names,
                "place": spread_names(ends.to_numpy(dtype=float), sizes, domain, height),
                "up": [-NAME_LINE / 2 * name.count("\n") for name in names],
            }
        )
    ).encode(
        x=alt.value("width"),
        y=pixels_down(height),
        color=color,
    )
    text = labels.mark_text(
        align="left", baseline="middle", dx=26, dy=alt.expr("datum.up"), lineBreak="\n", lineHeight=NAME_LINE,
        fontSize=marks.TEXT,
    )  # fmt: skip
    keys = labels.mark_rule(strokeWidth=marks.LINE, xOffset=5, x2Offset=21)
    drawn = marks.line_plot(
        lines,
        x=marks.number(alt.X, "tokens", "tokens read", log=10, nice=False, form="~s"),
        y=marks.number(alt.Y, "loss", "loss on held-out texts", domain=domain),
        theme=theme,
        color=color,
        dash=dash,
        tooltip=(("way", "told"), ("tokens", "tokens", ","), ("loss", "loss", ".3f")),
        dots=marks.SEED,
    )
    plot = alt.layer(*drawn)
    beside = alt.layer(
        keys.encode(x2=alt.value("width"), strokeDash=dash),
        text.encode(text=alt.Text("name:N"), color=alt.value(theme.ink)),
    )
    return marks.panel(plot, beside, theme=theme, width=marks.WIDE, height=height).resolve_scale(y="independent")
