"""The final losses of every pre-training of a preset: a row a variant, a dot a run."""

from shlex import quote

import altair as alt
import pandas as pd

from analysis.ablation.presets import PRESETS
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import fixed, plural, sentences
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.outliers import largest_near
from analysis.figures.runs.all_runs import all_runs
from analysis.figures.training.line_marks import padded_range
from analysis.figures.training.row_marks import TRIANGLE, VARIANT, way_hues, ways
from analysis.figures.training.trainings import COMMAND, UNIT, objective
from analysis.store import read

ROW, DOT, RING = 15, 65, 210
"""Pixels of a row, and the areas of a run's dot and of the ring around the chosen one, in square pixels."""
FAINT = 0.35
"""The opacity of a run that changed a setting of its preset."""
BESIDE = 0.45
"""The room right of the dots for words on the losses beyond the axis, as a part of its length."""
ROOMY = 300
"""The pixels of a plot from which the range of the losses beyond the axis has room."""
LITTLE = 0.1
"""The part of the axis by which a loss may lie beyond it and still extend it."""


class StripParameters(Parameters):
    """preset: empty for that of the run or, without one, for that of most runs. run: the one that is marked."""

    preset: str
    run: str


@figure("runs_strip", StripParameters)
def strip(params: StripParameters) -> Figure:
    """The final validation losses of one preset's runs. Raises NoResults where there is none."""
    losses = read.query("SELECT run_id, last_loss AS loss FROM pretrainings WHERE last_loss IS NOT NULL")
    runs = all_runs().merge(losses, on="run_id")
    if runs.empty:
        raise NoResults(f"No pre-training is stored yet. Make some with: {COMMAND}")
    runs = runs.assign(task=[objective(variant) for variant in runs.variant])
    chosen = runs[runs.run_id == params.run]
    preset = params.preset or str((chosen if len(chosen) else runs).preset.mode().iloc[0])
    of_preset, chosen = runs[runs.preset == preset], chosen[chosen.preset == preset]
    if of_preset.empty:
        raise NoResults(f"No pre-training with the preset {preset!r} is stored. Make some with: {COMMAND}")
    # Losses of two tasks do not share an axis.
    task = str((chosen if len(chosen) else of_preset).task.mode().iloc[0])
    rows = of_preset[of_preset.task == task].assign(pale=lambda found: found.changed != "")
    middle = rows.loss.median()
    limit = middle + largest_near(rows.loss - middle)
    # One that lies only a little beyond the axis is drawn, instead of a number on the dots of its row.
    reach = limit + LITTLE * (limit - rows.loss.min())
    limit = float(rows.loss[rows.loss <= reach].max())
    rows = rows.assign(far=rows.loss > limit)
    usual = rows[~rows.pale].groupby("title").loss.agg(["count", "mean", "min", "max"])
    far = int((usual["mean"] > limit).sum())
    apart = (usual["max"] - usual["min"])[usual["count"] > 1]
    order = rows.groupby("title").loss.mean().sort_values().index.tolist()
    columns = ["run_id", "variant", "title", "preset", "changed", "seed", "loss", "steps", "created", "device"]
    counted = f"{plural(len(rows), 'run')} of {plural(len(order), 'variant')}"
    return Figure(
        title=f"Final losses by recipe {preset}",
        finding=_finding(preset, apart.median(), usual["mean"], limit) or f"{counted} by recipe {preset}",
        frame=lambda: rows[columns],
        caption=sentences(
            f"A dot is one of {plural(len(rows), 'run')} by "
            f"{'this recipe' if params.preset else 'the recipe with most runs'}: its validation loss after the last "
            f"step{_sample(preset)}, in {UNIT}.",
            "Seeds differ by the distance from the best to the worst of a variant; the heading has the median.",
            f"Beyond the axis, and not in the heading: {plural(far, 'variant')}." if far else "",
            "Press one to see it in full.",
            "Pale: a run that changed a setting of its recipe, which the heading does not count."
            if rows.pale.any()
            else "",
            f"A triangle stands for the losses beyond {fixed(limit)}, with their number and, but on a phone, range."
            if rows.far.any()
            else "",
        ),
        alt=f"Dots, one row per variant: {counted}, with losses from {fixed(rows.loss.min())} to "
        f"{fixed(rows.loss.max())}.",
        command="python -m analysis query "
        + quote(f"SELECT run_id, variant, seed, last_loss FROM pretrainings WHERE preset = '{preset}'")
        + " --csv",
        provenance={"runs": f"{len(rows)} runs, made from {rows.created.min()} to {rows.created.max()}"},
        draw=lambda theme: [_draw(rows, order, params.run, limit, theme)],
    )


def _sample(preset: str) -> str:
    """A clause on how many windows of text a loss is over here, and on the board, where the two are known to differ."""
    known = PRESETS.get(preset)
    if known is None or known.valid_windows == known.final_windows:
        return ""
    return f" on {known.valid_windows:,} windows of text (on the board, of {known.final_windows:,})"


def _finding(preset: str, seeds: float, means: pd.Series, limit: float) -> str:
    """The span of the means within the axis beside the median one of a variant's seeds; empty where one is unknown."""
    near = means[means <= limit]
    variants = float(near.max() - near.min())
    if not seeds > 0 or not variants > 0:
        return ""
    counted = plural(len(means), "variant")
    beyond = [f"{title}, {fixed(float(mean), 1)}" for title, mean in means[means > limit].sort_values().items()]
    outside = ""
    if beyond:
        counted = f"{len(near)} of {counted}"
        lie = "lies outside" if len(beyond) == 1 else "lie outside"
        outside = f" ({beyond[0]}, {lie})" if len(beyond) == 1 else f" ({len(beyond)} {lie})"
    return (
        f"By recipe {preset}, the mean losses of {counted} span {fixed(variants)} nats{outside}; seeds of one "
        f"variant differ by {fixed(seeds)} in the median"
    )


def _range(least: float, most: float) -> str:
    """Two losses as a range; one number where they print alike."""
    return fixed(least) if fixed(least) == fixed(most) else f"{fixed(least)} to {fixed(most)}"


def _draw(runs: pd.DataFrame, order: list[str], chosen: str, limit: float, theme: Theme) -> Chart:
    rows = runs.assign(
        at=runs.loss.clip(upper=limit),
        sign=["far" if far else "near" for far in runs.far],
        way=ways(runs.variant),
        made=runs.created.str.slice(0, 10),
        written=[f"{loss:.3f}" for loss in runs.loss],
    )[["run_id", "title", "at", "sign", "way", "pale", "seed", "changed", "written", "made"]]
    low, high = padded_range(rows["at"], 0.04)
    # What is written of the losses beyond has a place of its own, right of all dots.
    room = BESIDE * (high - low) if runs.far.any() else 0.0
    x = marks.number(
        alt.X, "at", "final loss, nats", domain=(low, high + room), values=marks.round_ticks(low, high, 6), place="top"
    )
    y = marks.rows_down("title", order, limit=200)
    dots = (
        alt.Chart(rows)
        .mark_point(filled=True, size=DOT)
        .encode(
            x=x,
            y=y,
            color=way_hues(rows.way, theme, columns=3),
            shape=marks.shapes("sign", {"near": "circle", "far": TRIANGLE}),
            opacity=alt.condition("datum.pale", alt.value(FAINT), alt.value(0.8)),
            tooltip=marks.tips(
                VARIANT, "seed", ("written", "final loss"), ("changed", "changed"), "made", ("run_id", "run")
            ),
        )
    )
    marked = rows[rows.run_id == chosen][["title", "at"]]
    ring = alt.Chart(marked).mark_point(filled=False, size=RING, color=theme.ink, strokeWidth=marks.LINE)
    beyond = runs[runs.far].groupby("title", as_index=False).loss.agg(["size", "min", "max"])
    beyond = beyond.assign(at=limit, counted=[plural(size, "run") for size in beyond["size"]])
    beyond["written"] = [f"{row.counted}, {_range(row.min, row.max)}" for row in frames.rows(beyond)]
    far = []
    # On a phone there is room for their number alone. A text that is not seen has letters of no size.
    for field, seen in (("written", f"width >= {ROOMY}"), ("counted", f"width < {ROOMY}")):
        size = alt.expr(f"{seen} ? {marks.TEXT} : 0")
        texts = alt.Chart(beyond).mark_text(align="left", dx=9, fontSize=size, color=theme.ink)
        far += [texts.encode(x=x, y=y, text=f"{field}:N")] if len(beyond) else []
    layers = [dots, *far, *([ring.encode(x=x, y=y)] if len(marked) else [])]
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=ROW * len(order))
