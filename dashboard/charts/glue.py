"""Drawings of our own GLUE scores beside published ones: dots with interval bars, variants down."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import Figure
from analysis.figures.words import signed
from analysis.own import AVERAGE
from analysis.published import Frame
from dashboard.charts.base import BLUE, GREEN, GREY, ORANGE, Chart, Look, drawing
from dashboard.charts.published import down, levelled, lines, step, zero

ROW = 20
LOOKS = {
    "different": (BLUE, "circle"),
    "equivalent": (GREEN, "square"),
    "not resolved": (GREY, "circle"),
    "no interval": (GREY, "cross"),
    "published": (ORANGE, "diamond"),
}
"""Colour and shape of what a mark says, told apart by shape or lightness too."""
REACH = 1.6
"""Panels reach to this many times the largest difference; longer bars run off, so that one wide bar hides no other."""


@drawing("glue_average", columns=2)
def average(figure: Figure, look: Look) -> list[Chart]:
    """Differences of averages, and the averages themselves: ours, or the published ones where there are none of ours."""
    rows = figure.content["rows"]
    against = rows[rows.variant != rows.baseline]
    ours = rows[rows.verdict != "published"]
    wide = [_panel(figure, against, "difference", f"Difference to {figure.content['baseline']}", look, wide=True)]
    # The averages of another model on other data would press ours together on a shared axis; the table has both.
    shown = ours if len(ours) else rows
    return [*wide, _panel(figure, shown, "value", "Average" + (", own" if len(ours) else ""), look, wide=True)]


@drawing("glue_difference", columns=3)
def difference(figure: Figure, look: Look) -> list[Chart]:
    """A panel a task, all on one axis."""
    rows = figure.content["rows"]
    reach = _reach(rows)
    return [
        _panel(figure, found, "difference", _heading(figure, str(task), found), look, reach=reach)
        for task, found in _by_task(figure, rows)
    ]


@drawing("glue_scores", columns=3)
def scores(figure: Figure, look: Look) -> list[Chart]:
    """A panel a task and source; every panel of a source spans as many points, so that bars can be compared."""
    panels = []
    for published in (False, True):
        rows = figure.content["rows"]
        rows = rows[(rows.verdict == "published") == published]
        tasks = _by_task(figure, rows)
        ends = {task: (_least(found), _most(found)) for task, found in tasks}
        span = max((high - low for low, high in ends.values()), default=0) * 1.08 or 1.0
        for task, found in tasks:
            middle = sum(ends[task]) / 2
            name = str(found.source.iloc[0]) if published else ""
            heading = _heading(figure, str(task), found, name)
            panels.append(
                _panel(figure, found, "value", heading, look, reach=(middle - span / 2, middle + span / 2))
            )
    return panels


def _by_task(figure: Figure, rows: Frame) -> list[tuple[Any, Frame]]:
    """The average first, then our tasks in their order, then those that only a paper has."""
    study = figure.content["study"]
    order = [AVERAGE, *study.tasks, *dict.fromkeys(rows.task)]
    found = dict(list(rows.groupby("task", sort=False)))
    return [(task, found[task]) for task in dict.fromkeys(order) if task in found]


def _heading(figure: Figure, task: str, found: Frame, name: str = "") -> str:
    """The task and what must be said of it."""
    study = figure.content["study"]
    said = [name] if name else []
    ours = found[found.verdict != "published"]
    if len(ours) and task != AVERAGE:
        if task in study.not_learnt:
            said.append("not learnt")
        if study.results.tasks.partial.get(task):
            said.append("partial data")
        if task not in study.glue:
            said.append("not GLUE")
    return "\n".join([str(found.task_title.iloc[0]), ", ".join(said)])


def _least(found: Frame) -> float:
    return float(np.nanmin(found[["value", "low", "majority"]].to_numpy(dtype=float)))


def _most(found: Frame) -> float:
    return float(np.nanmax(found[["value", "high", "majority"]].to_numpy(dtype=float)))


def _reach(rows: Frame) -> tuple[float, float]:
    """One axis for all panels: every dot, and bars up to REACH times the furthest."""
    far = float(rows.difference.abs().max()) or 1.0
    bars = rows[["difference", "difference_low", "difference_high"]].to_numpy(dtype=float)
    low, high = float(np.nanmin(bars)), float(np.nanmax(bars))
    return max(min(low, 0.0), -REACH * far), min(max(high, 0.0), REACH * far)


def _kinds(figure: Figure, rows: Frame, column: str) -> tuple[Frame, list[str], list[tuple[str, str]]]:
    """Rows with `kind`, what a legend says of them, and the kinds' names and looks."""
    study, beside = figure.content["study"], figure.content["beside"]
    margin = f"{study.margin:g} point{'' if study.margin == 1 else 's'}"
    names = {"equivalent": f"equivalent within {margin}", "published": beside.table.title if beside else ""}
    plain = rows.verdict.where(rows.verdict == "published", "own")
    said = plain if column == "value" else rows.verdict.fillna("no interval").str.split(" within").str[0]
    looks = {**LOOKS, "own": (BLUE, "circle")}
    kinds = [kind for kind in looks if kind in set(said)]
    titles = {kind: names.get(kind, figure.content["own"] if kind == "own" else kind) for kind in kinds}
    return rows.assign(kind=said.map(titles)), list(titles.values()), [looks[kind] for kind in kinds]


def _panel(
    figure: Figure,
    rows: Frame,
    column: str,
    heading: str,
    look: Look,
    *,
    reach: tuple[float, float] | None = None,
    wide: bool = False,
) -> Chart:
    relative = column == "difference"
    order = [variant for variant in figure.content["order"] if variant in set(rows.variant)]
    rows, kinds, looks = _kinds(figure, rows, column)
    ends = ("difference_low", "difference_high") if relative else ("low", "high")
    frame = rows.assign(
        label=_labels(rows, order, seeds=wide),
        x=rows[column],
        start=rows[ends[0]],
        end=rows[ends[1]],
        written=[signed(x) if relative else f"{x:.2f}" for x in rows[column]],
        interval=[_interval(a, b, relative) for a, b in zip(rows[ends[0]], rows[ends[1]], strict=True)],
        over_examples=[_interval(a, b, True) for a, b in zip(rows.examples_low, rows.examples_high, strict=True)],
    )
    labels = list(dict.fromkeys(frame.set_index("variant").label[order])) if len(order) else []
    y = down(labels, gap=0.05)
    unit = f"points, minus {figure.content['baseline']}" if relative else "points"
    scale = alt.Scale(domain=list(reach), nice=False) if reach else alt.Scale(zero=False, nice=False, padding=14)
    x = alt.X("x:Q", scale=scale, axis=alt.Axis(title=lines(unit, 40).split("\n"), tickCount=5, grid=True))
    color = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=[hue for hue, _ in looks]),
        legend=alt.Legend(title=None, orient="top", columns=1, labelLimit=300, symbolOpacity=1) if wide else None,
    )
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=[sign for _, sign in looks]))
    base = alt.Chart(_tidy(frame)).encode(y=y)
    layers: list[Chart] = []
    if relative:
        layers.append(zero(look))
    elif rows.majority.notna().any():
        level = pd.DataFrame({"x": [float(rows.majority.dropna().iloc[0])], "told": ["majority class"]})
        rule = alt.Chart(level).mark_rule(color=look.ink, strokeDash=[4, 3])
        layers.append(rule.encode(x=alt.X("x:Q"), tooltip=[alt.Tooltip("told:N", title=" "), alt.Tooltip("x:Q")]))
    if frame.start.notna().any():
        bars = base.transform_filter("isValid(datum.start)").mark_rule(strokeWidth=2.5, opacity=0.75, clip=True)
        layers.append(bars.encode(x=alt.X("start:Q", scale=scale), x2="end:Q", color=color))
    if relative and frame.examples_low.notna().any():
        thin = base.transform_filter("isValid(datum.examples_low)").mark_rule(
            strokeWidth=1, color=look.ink, yOffset=6, clip=True
        )
        layers.append(thin.encode(x=alt.X("examples_low:Q", scale=scale), x2="examples_high:Q"))
    points = base.mark_point(filled=True, size=62 if wide else 46, opacity=1, stroke=look.ground, strokeWidth=0.6)
    layers.append(points.encode(x=x, color=color, shape=shape, tooltip=_tips(frame, relative)))
    title, *more = heading.split("\n")
    named = alt.TitleParams(title, subtitle=lines(more[0], 44).split("\n") if more and more[0] else "",
        fontSize=13, anchor="start", subtitleColor=look.ink, subtitleFontSize=11, color=look.ink)  # fmt: skip
    height = len(labels) * (step(labels, 24) if wide else step(labels, ROW))
    # Streamlit takes the legend's room from the marks.
    return alt.layer(*layers).properties(width=330 if wide else 200, height=height + (18 * len(kinds) if wide else 0), title=named)


TIDY = (
    "label", "variant", "source", "kind", "x", "start", "end", "written", "interval", "over_examples", "examples_low",
    "examples_high", "seeds", "runs", "p_corrected", "verdict", "note", "learnt", "learning_rate", "data",
    "smallest_detectable", "probability_better", "title",
)  # fmt: skip


def _tidy(frame: Frame) -> Frame:
    return frame[[name for name in TIDY if name in frame]].reset_index(drop=True)


def _labels(rows: Frame, order: list[str], *, seeds: bool) -> list[str]:
    """A variant's title, the same for our row and the published one; with our seeds where there is room."""
    own = rows[rows.verdict != "published"].drop_duplicates("variant").set_index("variant")
    titles = {v: str(t) for v, t in zip(rows.variant, rows.title, strict=True)} | own.title.to_dict()
    wide = 34 if seeds else 22
    counts = own.seeds.to_dict() if seeds else {}
    broken = {
        v: lines(titles[v] + (f" (n={counts[v]:.0f})" if v in counts else ""), wide) for v in order
    }
    level = levelled(list(broken.values()))
    return [level[broken[v]] for v in rows.variant]


def _interval(low: float, high: float, relative: bool) -> str:
    if pd.isna(low) or pd.isna(high):
        return ""
    return f"{signed(low)} to {signed(high)}" if relative else f"{low:.2f} to {high:.2f}"


def _tips(frame: Frame, relative: bool) -> list[alt.Tooltip]:
    tips = [
        alt.Tooltip("title:N", title="variant"),
        alt.Tooltip("source:N"),
        alt.Tooltip("written:N", title="points"),
        alt.Tooltip("interval:N", title="95 %, over seeds"),
        alt.Tooltip("seeds:Q", title="pre-training seeds"),
    ]
    if relative:
        tips += [
            alt.Tooltip("over_examples:N", title="95 %, over dev examples"),
            alt.Tooltip("verdict:N"),
            alt.Tooltip("p_corrected:Q", title="p, corrected", format=".3f"),
            alt.Tooltip("smallest_detectable:Q", title="found with 80 % power", format=".2f"),
        ]
        if "probability_better" in frame and frame.probability_better.notna().any():
            tips.append(alt.Tooltip("probability_better:Q", title="probability of improvement", format=".2f"))
    else:
        tips += [
            alt.Tooltip("learnt:N"),
            alt.Tooltip("learning_rate:Q", title="learning rate", format=".0e"),
            alt.Tooltip("data:N"),
        ]
    return [*tips, alt.Tooltip("note:N")]
