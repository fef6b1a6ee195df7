"""Drawings of our own GLUE scores beside published ones: dots with interval bars, variants down."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import SOURCES, Colour
from analysis.core.formatting import signed
from analysis.figures import Figure, marks
from analysis.figures.drawing import GREEN, GREY, Chart, Theme, drawing
from analysis.figures.glue.data import PUBLISHED, GlueContent
from analysis.glue_comparison import AVERAGE

LOOKS = {
    "own": (SOURCES["own"], "circle"),
    "different": (SOURCES["own"], "circle"),
    "equivalent": (Colour(GREEN, GREEN), "square"),
    "not resolved": (Colour(GREY, GREY), "circle"),
    "no interval": (Colour(GREY, GREY), "cross"),
    PUBLISHED: (SOURCES["published"], "diamond"),
}
"""Colour and shape of what a mark says, told apart by shape or lightness too."""
REACH = 1.6
"""Panels reach to this many times the largest difference; longer bars run off, so that one wide bar hides no other."""
APART = 7
"""Pixels by which a published mark stands above, and the interval over examples below, the middle of a row."""
TIPS: tuple[marks.Tip, ...] = (
    ("title", "variant"),
    "source",
    ("written", "points"),
    ("interval", "95 %, over seeds"),
    ("seeds:Q", "pre-training seeds"),
)
DIFFERENCE_TIPS: tuple[marks.Tip, ...] = (
    ("over_examples", "95 %, over dev examples"),
    "verdict",
    ("p_corrected", "p, corrected", ".3f"),
    ("smallest_detectable", "smallest difference found with 80 % power", ".2f"),
)
SCORE_TIPS: tuple[marks.Tip, ...] = ("learnt", ("learning_rate", "learning rate", ".0e"), "data")
USED = (
    "label", "kind", "value", "low", "high", "difference", "difference_low", "difference_high", "examples_low",
    "examples_high", "title", "source", "written", "interval", "over_examples", "seeds", "verdict", "p_corrected",
    "smallest_detectable", "probability_better", "learnt", "learning_rate", "data", "note",
)  # fmt: skip
"""What a chart carries of a row."""


@drawing("glue_average", columns=2)
def average(figure: Figure[GlueContent], theme: Theme) -> list[Chart]:
    """Differences of averages, and the averages: ours, or where there are none of ours the published ones."""
    rows, content = figure.frame(), figure.content
    against = rows[rows.difference.notna() & (rows.variant != rows.baseline)]
    ours = rows[rows.verdict != PUBLISHED]
    # The averages of another model on other data would press ours together on a shared axis; the table has both.
    shown = ours if len(ours) else rows
    title = "Our average" if len(ours) else "Published average"
    return [
        _panel(content, against, "difference", (f"Difference to {content.baseline}", ""), theme, wide=True),
        _panel(content, shown, "value", (title, _majority(shown)), theme, wide=True),
    ]


@drawing("glue_difference", columns=3)
def difference(figure: Figure[GlueContent], theme: Theme) -> list[Chart]:
    """A panel a task. Those of GLUE share one axis; our own task, of another size altogether, has its own."""
    rows, content = figure.frame(), figure.content
    own_tasks = set(content.study.tasks) - set(content.study.glue)
    shared = _reach(rows[~rows.task.isin(own_tasks)])
    return [
        _panel(
            content,
            frame,
            "difference",
            _heading(content, task, frame),
            theme,
            reach=_reach(frame) if task in own_tasks else shared,
            keyed=not place and not theme.screen,  # On screen there is no room; the caption says it.
        )
        for place, (task, frame) in enumerate(_by_task(content, rows))
    ]


@drawing("glue_scores", columns=3)
def scores(figure: Figure[GlueContent], theme: Theme) -> list[Chart]:
    """A panel a task and source; those of GLUE span as many points each, so that bars can be compared."""
    panels = []
    every, content = figure.frame(), figure.content
    own_tasks = set(content.study.tasks) - set(content.study.glue)
    for published in (False, True):
        tasks = _by_task(content, every[(every.verdict == PUBLISHED) == published])
        ends = {task: _ends(rows) for task, rows in tasks}
        shared = max((high - low for task, (low, high) in ends.items() if task not in own_tasks), default=0.0)
        for task, rows in tasks:
            low, high = ends[task]
            half = 0.54 * ((high - low if task in own_tasks else shared) or 1.0)
            name = str(rows.source.iloc[0]) if published else _majority(rows)
            reach = ((low + high) / 2 - half, (low + high) / 2 + half)
            panels.append(_panel(content, rows, "value", _heading(content, task, rows, name), theme, reach=reach))
    return panels


def _by_task(content: GlueContent, rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The average first, then our tasks in their order, then those that only a paper has."""
    order = [AVERAGE, *content.study.tasks, *rows.task]
    return [(task, rows[rows.task == task]) for task in dict.fromkeys(order) if task in set(rows.task)]


def _heading(content: GlueContent, task: str, rows: pd.DataFrame, name: str = "") -> tuple[str, str]:
    """The task and, below it, what must be said of it."""
    study, below = content.study, [name]
    if (rows.verdict != PUBLISHED).any() and task != AVERAGE:
        below += ["not learnt"] if task in study.not_learnt else []
        below += ["partial data"] if study.results.tasks.partial.get(task) else []
        below += ["not GLUE"] if task not in study.glue else []
    return str(rows.task_title.iloc[0]), ", ".join(filter(None, below))


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
    ends = ["difference", "difference_low", "difference_high", "examples_low", "examples_high"]
    bars = rows[ends].to_numpy(dtype=float)
    low, high = max(min(float(np.nanmin(bars)), 0.0), -REACH * far), min(max(float(np.nanmax(bars)), 0.0), REACH * far)
    room = 0.03 * (high - low)  # A mark at the end is not cut in two.
    return low - room, high + room


def _kinds(rows: pd.DataFrame, *, relative: bool) -> pd.Series:
    """What each mark says, by its name in LOOKS: a verdict, or whose it is."""
    if relative:
        return rows.verdict.fillna("no interval").str.split(" within").str[0]
    return rows.verdict.where(rows.verdict == PUBLISHED, "own")


def _kind_titles(content: GlueContent) -> dict[str, str]:
    """What a legend says of the kinds, where it is more than their names."""
    margin = f"{content.study.margin:g} point{'' if content.study.margin == 1 else 's'}"
    return {
        "own": content.own,
        "equivalent": f"equivalent within {margin}",
        PUBLISHED: content.beside.table.title if content.beside else "",
    }


def _panel(
    content: GlueContent,
    rows: pd.DataFrame,
    column: str,
    titles: tuple[str, str],
    theme: Theme,
    *,
    reach: tuple[float, float] | None = None,
    wide: bool = False,
    keyed: bool = False,
) -> Chart:
    """Values or differences, variants down. titles: the panel's, and the line below it."""
    relative, keyed = column == "difference", keyed or wide
    low, high = ("difference_low", "difference_high") if relative else ("low", "high")
    order = [variant for variant in content.order if variant in set(rows.variant)]
    kinds = _kinds(rows, relative=relative)
    named = {kind: _kind_titles(content).get(kind, kind) for kind in LOOKS if kind in set(kinds)}
    frame = rows.assign(
        label=_labels(rows, order, seeds=wide),
        kind=kinds.map(named),
        written=[signed(value) if relative else f"{value:.2f}" for value in rows[column]],
        interval=[_interval(a, b, relative) for a, b in zip(rows[low], rows[high], strict=True)],
        over_examples=[_interval(a, b, True) for a, b in zip(rows.examples_low, rows.examples_high, strict=True)],
    )
    labels = list(dict.fromkeys(frame.set_index("variant").label[order])) if order else []
    unit = f"points, minus {content.baseline}" if relative else "points"
    x = marks.number(
        alt.X,
        column,
        marks.wrap_lines(unit, 40),
        domain=reach or alt.Undefined,
        nice=False,
        padding=alt.Undefined if reach else 14,
        ticks=5,
    )
    y = marks.labelled_rows(labels, gap=0.05)
    layers: list[Chart] = [marks.rule(theme, x=0)] if relative else []
    if not relative and reach and (known := [at for at in rows.majority.dropna() if reach[0] <= at <= reach[1]]):
        layers.append(marks.rule(theme, x=known[0], dash=marks.DASH))
    if relative and frame.examples_low.notna().any():
        thin = alt.Chart(frame[list(USED)]).transform_filter("isValid(datum.examples_low)")
        bars = thin.mark_rule(strokeWidth=marks.THIN_LINE, color=theme.ink, yOffset=APART, clip=True)
        layers.append(bars.encode(x=marks.same_axis(x, "examples_low"), x2=alt.X2("examples_high:Q"), y=y))
    key = marks.legend(place="top") if keyed else None
    tooltip = (*TIPS, *(DIFFERENCE_TIPS if relative else SCORE_TIPS), "note")
    if relative and frame.probability_better.notna().any():
        tooltip = (*tooltip[:-1], ("probability_better", "probability of improvement", ".2f"), "note")
    # A published mark does not hide ours in the same row.
    above = (rows.verdict == PUBLISHED) & rows.variant.isin(set(rows.variant[rows.verdict != PUBLISHED]))
    for some, offset in ((frame[~above], 0), (frame[above], -APART)):
        if len(some):
            layers += marks.row_plot(
                some[list(USED)], x=x, y=y, theme=theme, ends=(low, high), below=offset, tooltip=tooltip,
                color=marks.hues("kind", {title: theme.colour(LOOKS[kind][0]) for kind, title in named.items()}, key),
                shape=marks.shapes("kind", {title: LOOKS[kind][1] for kind, title in named.items()}, key),
            )  # fmt: skip
    title, below = titles
    return marks.panel(
        *layers,
        theme=theme,
        width=marks.HALF if wide else marks.THIRD,
        height=len(labels) * marks.row_height(labels, marks.ROW),
        title=title,
        # A blank one keeps panels without a line level with those that have one.
        below=marks.wrap_lines(below, 44) if below else [" "],
    )


def _labels(rows: pd.DataFrame, order: list[str], *, seeds: bool) -> list[str]:
    """A variant's title, the same for our row and the published one; with our seeds where there is room."""
    own = rows[rows.verdict != PUBLISHED].drop_duplicates("variant").set_index("variant")
    titles = {v: str(t) for v, t in zip(rows.variant, rows.title, strict=True)} | own.title.to_dict()
    wide = 34 if seeds else 22
    counts = own.seeds.to_dict() if seeds else {}
    broken = {v: marks.wrap_label(titles[v] + (f" (n={counts[v]:.0f})" if v in counts else ""), wide) for v in order}
    level = marks.level_labels(list(broken.values()))
    return [level[broken[v]] for v in rows.variant]


def _interval(low: float, high: float, relative: bool) -> str:
    if pd.isna(low) or pd.isna(high):
        return ""
    return f"{signed(low)} to {signed(high)}" if relative else f"{low:.2f} to {high:.2f}"
