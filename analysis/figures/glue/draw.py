"""Drawings of our own GLUE scores beside published ones: dots with interval bars, variants down."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import SOURCES, Colour
from analysis.core.formatting import signed
from analysis.figures import Figure
from analysis.figures.drawing import GREEN, GREY, Chart, Look, drawing
from analysis.figures.marks import labelled_rows, level_labels, row_height, rule, wrap_label
from analysis.glue_comparison import AVERAGE

ROW = 20
LOOKS = {
    "different": (SOURCES["own"], "circle"),
    "equivalent": (Colour(GREEN, GREEN), "square"),
    "not resolved": (Colour(GREY, GREY), "circle"),
    "no interval": (Colour(GREY, GREY), "cross"),
    "published": (SOURCES["published"], "diamond"),
}
"""Colour and shape of what a mark says, told apart by shape or lightness too."""
REACH = 1.6
"""Panels reach to this many times the largest difference; longer bars run off, so that one wide bar hides no other."""


@drawing("glue_average", columns=2)
def average(figure: Figure, look: Look) -> list[Chart]:
    """Differences of averages, and the averages: ours, or where there are none of ours the published ones."""
    rows = figure.content["rows"]
    against = rows[rows.difference.notna() & (rows.variant != rows.baseline)]
    ours = rows[rows.verdict != "published"]
    # The averages of another model on other data would press ours together on a shared axis; the table has both.
    shown = ours if len(ours) else rows
    heading = "Average, own" if len(ours) else "Average, as published"
    return [
        _panel(figure, against, "difference", f"Difference to {figure.content['baseline']}", look, wide=True),
        _panel(figure, shown, "value", f"{heading}\n{_majority(shown)}", look, wide=True),
    ]


@drawing("glue_difference", columns=3)
def difference(figure: Figure, look: Look) -> list[Chart]:
    """A panel a task. Those of GLUE share one axis; our own task, of another size altogether, has its own."""
    rows, study = figure.content["rows"], figure.content["study"]
    shared = _reach(rows[~rows.task.isin(set(study.tasks) - set(study.glue))])
    return [
        _panel(
            figure,
            frame,
            "difference",
            _heading(figure, task, frame),
            look,
            reach=shared if task not in study.tasks or task in study.glue else _reach(frame),
            legend=not number and not look.screen,  # On screen there is no room; the caption says it.
        )
        for number, (task, frame) in enumerate(_by_task(figure, rows))
    ]


@drawing("glue_scores", columns=3)
def scores(figure: Figure, look: Look) -> list[Chart]:
    """A panel a task and source; those of GLUE span as many points each, so that bars can be compared."""
    panels = []
    every, study = figure.content["rows"], figure.content["study"]
    own_task = set(study.tasks) - set(study.glue)
    for published in (False, True):
        rows = every[(every.verdict == "published") == published]
        tasks = _by_task(figure, rows)
        ends = {task: _ends(table) for task, table in tasks}
        shared = max((high - low for task, (low, high) in ends.items() if task not in own_task), default=0.0)
        for task, frame in tasks:
            low, high = ends[task]
            half = 0.54 * ((high - low if task in own_task else shared) or 1.0)
            name = str(frame.source.iloc[0]) if published else _majority(frame)
            reach = ((low + high) / 2 - half, (low + high) / 2 + half)
            panels.append(_panel(figure, frame, "value", _heading(figure, task, frame, name), look, reach=reach))
    return panels


def _by_task(figure: Figure, rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The average first, then our tasks in their order, then those that only a paper has."""
    study = figure.content["study"]
    order = [AVERAGE, *study.tasks, *dict.fromkeys(rows.task)]
    entries = dict(list(rows.groupby("task", sort=False)))
    return [(task, entries[task]) for task in dict.fromkeys(order) if task in entries]


def _heading(figure: Figure, task: str, rows: pd.DataFrame, name: str = "") -> str:
    """The task and what must be said of it."""
    study = figure.content["study"]
    sentences = []
    ours = rows[rows.verdict != "published"]
    if len(ours) and task != AVERAGE:
        if task in study.not_learnt:
            sentences.append("not learnt")
        if study.results.tasks.partial.get(task):
            sentences.append("partial data")
        if task not in study.glue:
            sentences.append("not GLUE")
    return "\n".join([str(rows.task_title.iloc[0]), ", ".join(filter(None, [name, *sentences]))])


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    values = rows[["value", "low", "high"]].to_numpy(dtype=float)
    return float(np.nanmin(values)), float(np.nanmax(values))


def _majority(rows: pd.DataFrame) -> str:
    """The level of the most frequent answer, where it is known."""
    known = rows.majority.dropna()
    return f"majority class {known.iloc[0]:.1f}" if len(known) else ""


def _reach(rows: pd.DataFrame) -> tuple[float, float]:
    """One axis for all panels: every dot, and bars up to REACH times the furthest."""
    far = float(rows.difference.abs().max()) or 1.0
    ends = [name for name in ("difference_low", "difference_high", "examples_low", "examples_high") if name in rows]
    bars = rows[["difference", *ends]].to_numpy(dtype=float)
    low, high = max(min(float(np.nanmin(bars)), 0.0), -REACH * far), min(max(float(np.nanmax(bars)), 0.0), REACH * far)
    room = 0.03 * (high - low)  # A mark at the end is not cut in two.
    return low - room, high + room


def _kinds(figure: Figure, rows: pd.DataFrame, column: str) -> tuple[pd.DataFrame, list[str], list[tuple[Colour, str]]]:
    """Rows with `kind`, what a legend says of them, and the kinds' names and looks."""
    study, beside = figure.content["study"], figure.content["beside"]
    margin = f"{study.margin:g} point{'' if study.margin == 1 else 's'}"
    names = {"equivalent": f"equivalent within {margin}", "published": beside.table.title if beside else ""}
    plain = rows.verdict.where(rows.verdict == "published", "own")
    frame = plain if column == "value" else rows.verdict.fillna("no interval").str.split(" within").str[0]
    looks = {**LOOKS, "own": (SOURCES["own"], "circle")}
    kinds = [kind for kind in looks if kind in set(frame)]
    titles = {kind: names.get(kind, figure.content["own"] if kind == "own" else kind) for kind in kinds}
    return rows.assign(kind=frame.map(titles)), list(titles.values()), [looks[kind] for kind in kinds]


def _panel(
    figure: Figure,
    rows: pd.DataFrame,
    column: str,
    heading: str,
    look: Look,
    *,
    reach: tuple[float, float] | None = None,
    wide: bool = False,
    legend: bool = False,
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
        # A published mark does not hide ours in the same row.
        above=(rows.verdict == "published") & rows.variant.isin(set(rows.variant[rows.verdict != "published"])),
        written=[signed(x) if relative else f"{x:.2f}" for x in rows[column]],
        interval=[_interval(a, b, relative) for a, b in zip(rows[ends[0]], rows[ends[1]], strict=True)],
        over_examples=[_interval(a, b, True) for a, b in zip(rows.examples_low, rows.examples_high, strict=True)],
    )
    labels = list(dict.fromkeys(frame.set_index("variant").label[order])) if len(order) else []
    y = labelled_rows(labels, gap=0.05)
    unit = f"points, minus {figure.content['baseline']}" if relative else "points"
    scale = alt.Scale(domain=list(reach), nice=False) if reach else alt.Scale(zero=False, nice=False, padding=14)
    x = alt.X("x:Q", scale=scale, axis=alt.Axis(title=wrap_label(unit, 40).split("\n"), tickCount=5, grid=True))
    keyed = wide or legend
    key = alt.Legend(title=None, orient="top", columns=1, labelLimit=300, symbolOpacity=1) if keyed else None
    color = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=[look.colour(hue) for hue, _ in looks]),
        legend=key,
    )
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=[sign for _, sign in looks]), legend=key)
    base = alt.Chart(_tidy(frame)).encode(y=y)
    layers: list[Chart] = []
    if relative:
        layers.append(rule(look, x=0))
    elif reach and (known := [level for level in rows.majority.dropna() if reach[0] <= level <= reach[1]]):
        level = pd.DataFrame({"x": known[:1], "told": ["majority class"]})
        majority = alt.Chart(level).mark_rule(color=look.ink, strokeDash=[4, 3])
        layers.append(
            majority.encode(x=alt.X("x:Q", scale=scale), tooltip=[alt.Tooltip("told:N", title=" "), alt.Tooltip("x:Q")])
        )
    if frame.start.notna().any():
        bars = base.transform_filter("isValid(datum.start)").mark_rule(strokeWidth=2.5, opacity=0.75, clip=True)
        layers.append(bars.encode(x=alt.X("start:Q", scale=scale), x2="end:Q", color=color))
    if relative and frame.examples_low.notna().any():
        thin = base.transform_filter("isValid(datum.examples_low)").mark_rule(
            strokeWidth=1, color=look.ink, yOffset=6, clip=True
        )
        layers.append(thin.encode(x=alt.X("examples_low:Q", scale=scale), x2="examples_high:Q"))
    for above in (False, True):
        if (frame.above == above).any():
            points = base.transform_filter(f"datum.above === {str(above).lower()}").mark_point(
                filled=True, size=62 if wide else 46, opacity=1, yOffset=-7 * above
            )
            layers.append(points.encode(x=x, color=color, shape=shape, tooltip=_tips(frame, relative)))
    title, *more = heading.split("\n")
    # A blank one keeps panels without a subtitle level with those that have one.
    subtitle = wrap_label(more[0], 44).split("\n") if more and more[0] else " "
    named = alt.TitleParams(title, subtitle=subtitle,
        fontSize=13, anchor="start", subtitleColor=look.ink, subtitleFontSize=12, color=look.ink)  # fmt: skip
    height = len(labels) * (row_height(labels, 24) if wide else row_height(labels, ROW))
    # Streamlit takes the room of legend and subtitle from the marks.
    # Properties given afterwards would copy the whole chart.
    return alt.layer(
        *layers, width=330 if wide else 200, height=height + (24 + 20 * len(kinds) if keyed else 0), title=named
    )


TIDY = (
    "label", "above", "variant", "source", "kind", "x", "start", "end", "written", "interval", "over_examples",
    "examples_low", "examples_high", "seeds", "runs", "p_corrected", "verdict", "note", "learnt", "learning_rate",
    "data", "smallest_detectable", "probability_better", "title",
)  # fmt: skip


def _tidy(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[[name for name in TIDY if name in frame]].reset_index(drop=True)


def _labels(rows: pd.DataFrame, order: list[str], *, seeds: bool) -> list[str]:
    """A variant's title, the same for our row and the published one; with our seeds where there is room."""
    own = rows[rows.verdict != "published"].drop_duplicates("variant").set_index("variant")
    titles = {v: str(t) for v, t in zip(rows.variant, rows.title, strict=True)} | own.title.to_dict()
    wide = 34 if seeds else 22
    counts = own.seeds.to_dict() if seeds else {}
    broken = {v: wrap_label(titles[v] + (f" (n={counts[v]:.0f})" if v in counts else ""), wide) for v in order}
    level = level_labels(list(broken.values()))
    return [level[broken[v]] for v in rows.variant]


def _interval(low: float, high: float, relative: bool) -> str:
    if pd.isna(low) or pd.isna(high):
        return ""
    return f"{signed(low)} to {signed(high)}" if relative else f"{low:.2f} to {high:.2f}"


def _tips(frame: pd.DataFrame, relative: bool) -> list[alt.Tooltip]:
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
