"""The learning curves of one row of the board, with those of adding and of two other ways for reference."""

import math

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import VARIANTS, full_title, named, quote
from analysis.core import colours
from analysis.core.errors import NoResults
from analysis.core.formatting import fixed, percent, plural, sentences
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import BASELINE, ExperimentsBoard, Steps, VariantRow, board
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.training.line_marks import pixels_down, spread_names
from analysis.figures.training.run_curves import means, thinned
from analysis.figures.training.trainings import MASKED, ORDERLESS, UNIT, title, training_commands
from analysis.rules import training_rules
from analysis.statistics import PLATEAU_MARGIN, difference
from analysis.store import read

REFERENCES = ("no_position", "concat_20")
"""Variants that are drawn besides the row's and the baseline's, where they were trained."""
HEIGHT = 300
LABEL_HEIGHT = 16
"""Pixels between two names at the ends of lines."""
LOSSES = {
    "lower": "ends {nats} nats lower than adding",
    "higher": "ends {nats} nats higher than adding",
    "same": "ends at the same loss as adding",
}
"""Outcome of the rules for a row -> its final loss in words; one that is open has the words of its sign."""
TALLEST = 6.5
"""The top of the plot in nats: all curves fall through it within the first evaluations."""


class RowCurvesParameters(Parameters):
    """The preset whose trainings are shown, and the row of the board."""

    preset: str
    row: str


@figure("experiments_curves", RowCurvesParameters)
def row_curves(params: RowCurvesParameters) -> Figure:
    """Validation loss against steps: the mean over seeds, the range of the seeds, and the final loss at the end.

    Raises NoResults where the row was not trained with the preset, and what `board` raises.
    """
    shown = board(params.preset)
    row, trainings = shown.row(params.row), shown.trainings
    if trainings is None or not row.trained:
        raise NoResults(f"{quote(row.title)} was not trained with preset {params.preset}, so it has no curve here.")
    variants = [name for name in dict.fromkeys([row.variant, BASELINE, *REFERENCES]) if name in trainings.variants]
    losses = trainings.curves("validation_loss", variants=variants)
    mean = means(losses)
    spread = losses.groupby(["variant", "step"]).value.agg(["min", "max"]).reset_index()
    lines = mean.merge(spread, on=["variant", "step"]).assign(title=lambda frame: frame.variant.map(title))
    rows = {name: shown.row(name) for name in variants}
    ends = pd.DataFrame(
        {"variant": name, "title": title(name), "step": int(mean.step.max()), "value": rows[name].loss}
        for name in variants
    )
    seeds = trainings.runs[trainings.runs.variant.isin(variants)].groupby("variant").seed.nunique()
    return Figure(
        title=f"Learning curves of {quote(row.title)}",
        finding=_finding(row, shown),
        frame=lambda: losses[["variant", "seed", "step", "value", "run_id"]],
        caption=sentences(
            f"Loss on held-out text, in {UNIT} ({trainings.conditions(variants)}); bands: from the lowest seed to the "
            "highest; dotted: the step at which word order begins to help.",
            f"Line: the mean over seeds; dot and number: the final loss on {trainings.sample}.",
            f"Seeds: {'; '.join(f'{title(name)} {seeds[name]}' for name in variants)}.",
            "Dotted: the step after which a variant has left the plateau.",
            _rules_note(row, shown),
        ),
        alt="Lines of validation loss against steps: "
        + "; ".join(f"{rows[name].title} ends at {fixed(rows[name].loss or np.nan)}" for name in variants)
        + ".",
        command="\n".join(training_commands(params.preset, trainings.runs[trainings.runs.variant.isin(variants)])),
        provenance=trainings.provenance(variants),
        draw=lambda theme: [_draw(row, thinned(lines), ends, rows, theme)],
        columns=1,
    )


def _finding(row: VariantRow, shown: ExperimentsBoard) -> str:
    """The final loss minus the baseline's, and the steps until the row uses the order of words."""
    if row.outcome == "baseline" and row.steps and row.steps.always:
        return f"Adding needs {row.steps.text} steps before the order of words helps it"
    said = [*filter(None, (_loss(row), _order(row, shown)))] or [f"ends at {fixed(row.loss or np.nan)} nats"]
    return f"{quote(row.title)} {' and '.join(said)}"


def _loss(row: VariantRow) -> str:
    """The final loss minus the baseline's, by the rules; empty where they do not judge it."""
    if row.gap is None or row.outcome in ("baseline", "few"):
        return ""
    sign = "lower" if row.gap.value < 0 else "higher"
    left_open = " (open)" if row.outcome == "unresolved" else ""
    return LOSSES.get(row.outcome, LOSSES[sign]).format(nats=fixed(abs(row.gap.value))) + left_open


def _order(row: VariantRow, shown: ExperimentsBoard) -> str:
    """The steps until the row uses the order of words, and the baseline's."""
    baseline = shown.row(BASELINE)
    if not row.steps:
        return ""
    if row.steps.never:
        return "does not begin to use word order"
    if not row.steps.always:
        return f"begins to use word order {row.steps.some}"
    few = f" ({plural(row.gap.seeds, 'seed')})" if row.outcome == "few" and row.gap else ""
    # A model that sees distances without their sign knows no order, and still leaves the plateau.
    begins = f"begins to use {'positions' if _sees_no_sides(row.variant) else 'word order'}"
    if baseline.steps is None or not baseline.steps.always:
        return f"{begins} after {row.steps.text} steps{few}"
    if not _told_apart(row.steps, baseline.steps):
        return f"{begins} after {row.steps.text} steps, which is not told apart from adding’s {baseline.steps.text}"
    return f"{begins} after {row.steps.text} steps{few}, adding after {baseline.steps.text}"


def _sees_no_sides(variant: str) -> bool:
    """True of an encoder that sees how far words are apart, and not which comes first."""
    settings = VARIANTS[variant].settings if variant in VARIANTS else {}
    return bool(settings.get("alibi")) and not settings.get("causal")


def _told_apart(steps: Steps, others: Steps) -> bool:
    """True if the 95 % interval of their ratio leaves out 1: Student's t over the seeds of both, on logarithms."""
    ratio = difference(*({seed: math.log(value) for seed, value in one.by_seed.items()} for one in (steps, others)))
    return ratio.low > 0 or ratio.high < 0


def judged_share(row: VariantRow, preset: str) -> tuple[float, str] | None:
    """The share of adding's steps that a statement of the frozen rules gives, and its id; None where there is none."""
    if preset != training_rules().preset:
        return None
    rows = read.query(
        "SELECT effect, id FROM statements WHERE unit = 'times the baseline''s steps' AND pair = ? AND scope LIKE ? "
        "AND effect IS NOT NULL ORDER BY rules_version DESC, id",
        [f"{full_title(row.variant)} compared with {full_title(BASELINE)}", f"% preset {preset}"],
    )
    return (float(rows.effect.iloc[0]), str(rows.id.iloc[0])) if len(rows) else None


def _rules_note(row: VariantRow, shown: ExperimentsBoard) -> str:
    """Sentences on the share that the frozen rules count, where they have one of this row; else empty."""
    judged, baseline = judged_share(row, shown.preset), shown.row(BASELINE)
    if judged is None:
        return ""
    drawn = ""
    if row.steps and baseline.steps and row.steps.always and baseline.steps.always:
        drawn = f", and gives {percent(row.steps.value / baseline.steps.value)}"
    share, statement = judged
    return (
        f"The frozen rules give its share of adding’s steps as {percent(share)} ({statement}): they count to a loss "
        f"below {training_rules().plateau:g} nats, and take the mean ratio of pairs on logarithms. The picture "
        f"interpolates between evaluations to a level {PLATEAU_MARGIN:g} nats below the end of "
        f"{named(ORDERLESS[MASKED])}{drawn}."
    )


def _draw(row: VariantRow, lines: pd.DataFrame, ends: pd.DataFrame, rows: dict[str, VariantRow], theme: Theme) -> Chart:
    """The curves with their names and final losses at the right."""
    strong = (row.variant, BASELINE)
    colour = {name: theme.colour(colours.of_way(rows[name].way)) for name in ends.variant}
    hue = marks.hues("variant", colour)
    # A way of one colour with the row's is told apart by its dash.
    dash = marks.dashes(
        "variant",
        {name: [6, 3] if name != row.variant and rows[name].way == row.way else [1, 0] for name in colour},
    )
    low = float(min(lines["min"].min(), ends.value.min()))
    domain = (low - 0.1, TALLEST)
    x = marks.number(alt.X, "step", "training steps", domain=(0, int(lines.step.max())), ticks=5, form=",d", grid=False)
    y = marks.number(alt.Y, "value", f"loss ({UNIT})", domain=domain, ticks=4)
    band = alt.Chart(lines).mark_area(opacity=0.15, clip=True).encode(
        x=x, y=marks.same_axis(y, "min"), y2=alt.Y2("max:Q"), color=hue
    )  # fmt: skip
    tooltip = (("title", "variant"), ("step", "steps", ","), ("value", "mean loss", ".3f"), "seeds:Q")
    curves: list[Chart] = []
    for width, group in lines.groupby(lines.variant.isin(strong).map({False: 1.4, True: 2.6})):
        line = {"theme": theme, "color": hue, "dash": dash, "dots": 0, "width": float(str(width)), "clip": True}
        curves += marks.line_plot(group, x=x, y=y, tooltip=tooltip, **line)
    dots = alt.Chart(ends).mark_point(filled=True, size=marks.DOT, opacity=1).encode(x=x, y=y, color=hue)
    layers: list[Chart] = [band, *curves, dots]
    exits = pd.DataFrame(
        {"variant": name, "step": step.value, "text": step.text}
        for name in (row.variant, BASELINE)
        if (step := rows[name].steps if name in rows else None) and step.always
    )
    if len(exits):
        exits = exits.drop_duplicates("variant")
        layers.append(alt.Chart(exits).mark_rule(strokeDash=[2, 3]).encode(x=x, color=hue))
        # At the foot no curve runs so early. The earlier one stands left of its line, so that the later line does not
        # cross it.
        for place, number in enumerate(exits.sort_values("step").variant):
            left = place == 0 and len(exits) > 1
            text = alt.Chart(exits[exits.variant == number]).mark_text(
                align="right" if left else "left", dx=-4 if left else 4, fontSize=marks.TEXT
            )
            layers.append(text.encode(x=x, y=alt.value(HEIGHT - 8), text="text:N", color=hue))
    sizes = np.full(len(ends), float(LABEL_HEIGHT))
    labels = ends.assign(
        place=spread_names(ends.value.to_numpy(dtype=float), sizes, domain, HEIGHT),
        label=[f"{name} {value:.2f}" for name, value in zip(ends.title, ends.value, strict=True)],
    )
    names = (
        alt.Chart(labels)
        .mark_text(align="left", dx=9, baseline="middle", fontSize=marks.PANEL_TITLE, lineBreak="\n")
        .encode(
            x=alt.value("width"),
            y=pixels_down(HEIGHT),
            text="label:N",
            color=hue,
        )
    )
    panel = marks.panel(alt.layer(*layers), names, theme=theme, width=500, height=HEIGHT)
    return panel.resolve_scale(y="independent")
