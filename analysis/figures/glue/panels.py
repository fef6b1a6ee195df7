"""Panels of GLUE scores: dots with interval bars, variants down, ours beside published ones."""

from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import SOURCES, Colour
from analysis.core.formatting import signed
from analysis.figures import marks
from analysis.figures.drawing import GREEN, GREY, Chart, Theme
from analysis.figures.glue.study_rows import PUBLISHED
from analysis.glue_comparison import AVERAGE, PublishedComparison, Study


@dataclass(frozen=True)
class OwnAndPublished:
    """Our own runs beside a published table, as panels show them.

    order: variants from the best average down. own_source: the name of our own rows. baseline: the title of the variant
    that others are compared with.
    """

    order: list[str]
    study: Study
    published: PublishedComparison | None
    own_source: str
    baseline: str


STYLES = {
    "own": (SOURCES["own"], "circle"),
    "different": (SOURCES["own"], "circle"),
    "equivalent": (Colour(GREEN, GREEN), "square"),
    "open": (Colour(GREY, GREY), "circle"),
    "no interval": (Colour(GREY, GREY), "cross"),
    PUBLISHED: (SOURCES["published"], "diamond"),
}
"""Colour and shape of each kind of mark, told apart by shape or lightness too."""
ROW_OFFSET = 7
"""Offset in pixels from the middle of a row: of a published mark above, of the interval over examples below."""
IN_WORDS = {"different": "teal", "equivalent": "square", "open": "grey", "no interval": "cross"}
"""Kind of difference -> the word for how it is drawn, where no legend says it."""
BELOW = 60
"""Letters in a line under a panel's title."""
LABEL = 34
"""Letters in a line of a variant's name."""
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
CHART_COLUMNS = (
    "label", "kind", "value", "low", "high", "difference", "difference_low", "difference_high", "examples_low",
    "examples_high", "title", "source", "written", "interval", "over_examples", "seeds", "verdict", "p_corrected",
    "smallest_detectable", "probability_better", "learnt", "learning_rate", "data", "note",
)  # fmt: skip
"""Columns that a chart uses."""


def by_task(content: OwnAndPublished, rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The average first, then our tasks in their order, then those that only a paper has."""
    order = [AVERAGE, *content.study.tasks, *rows.task]
    return [(task, rows[rows.task == task]) for task in dict.fromkeys(order) if task in set(rows.task)]


def heading(content: OwnAndPublished, task: str, rows: pd.DataFrame) -> tuple[str, str]:
    """The task, and the remarks on it."""
    study, below = content.study, list[str]()
    if (rows.verdict != PUBLISHED).any() and task != AVERAGE:
        below += ["not learnt"] if task in study.not_learnt else []
        below += ["partial data"] if study.results.tasks.partial.get(task) else []
        below += ["not GLUE"] if task not in study.glue else []
    return str(rows.task_title.iloc[0]), ", ".join(below)


def majority(rows: pd.DataFrame) -> str:
    """The level of the most frequent answer, where it is known."""
    known = rows.majority.dropna()
    return f"majority class {known.iloc[0]:.1f}" if len(known) else ""


def kinds(rows: pd.DataFrame, *, relative: bool) -> pd.Series:
    """The kind of each mark, as a name in LOOKS: a verdict, or the side it belongs to, own or published."""
    if relative:
        return rows.verdict.fillna("no interval").str.split(" within").str[0]
    return rows.verdict.where(rows.verdict == PUBLISHED, "own")


def _kind_titles(content: OwnAndPublished) -> dict[str, str]:
    """The legend's labels for kinds whose names do not explain themselves."""
    margin = f"{content.study.margin:g} point{'' if content.study.margin == 1 else 's'}"
    return {
        "own": content.own_source,
        "equivalent": f"equivalent within {margin}",
        PUBLISHED: content.published.table.title if content.published else "",
    }


def _order(content: OwnAndPublished, rows: pd.DataFrame, column: str) -> list[str]:
    """Variants by the value drawn, the largest first: our own, then those that only a paper has."""
    known = [variant for variant in content.order if variant in set(rows.variant)]
    own_rows = rows[rows.verdict != PUBLISHED]
    own, printed = (group.groupby("variant")[column].mean() for group in (own_rows, rows[rows.verdict == PUBLISHED]))
    drawn = {**printed, **own}
    return sorted(known, key=lambda variant: (variant not in own.index, -np.nan_to_num(drawn[variant], nan=-np.inf)))


def variants_panel(
    content: OwnAndPublished,
    rows: pd.DataFrame,
    column: str,
    titles: tuple[str, str],
    theme: Theme,
) -> Chart:
    """Values or differences, variants down. titles: the panel's, and the line below it."""
    relative = column == "difference"
    low, high = ("difference_low", "difference_high") if relative else ("low", "high")
    order = _order(content, rows, column)
    row_kinds = kinds(rows, relative=relative)
    names = {kind: _kind_titles(content).get(kind, kind) for kind in STYLES if kind in set(row_kinds)}
    frame = rows.assign(
        label=_labels(rows, order),
        kind=row_kinds.map(names),
        written=[signed(value) if relative else f"{value:.2f}" for value in rows[column]],
        interval=interval_text(rows[low], rows[high], relative=relative),
        over_examples=interval_text(rows.examples_low, rows.examples_high),
    )
    labels = list(dict.fromkeys(frame.set_index("variant").label[order])) if order else []
    unit = f"points, minus {content.baseline}" if relative else "points"
    x = marks.number(
        alt.X,
        column,
        marks.wrap_lines(unit, 40),
        nice=False,
        padding=14,
        ticks=5,
    )
    y = marks.labelled_rows(labels, gap=0.05)
    layers: list[Chart] = [marks.rule(theme, x=0)] if relative else []
    if relative and frame.examples_low.notna().any():
        thin = alt.Chart(frame[list(CHART_COLUMNS)]).transform_filter("isValid(datum.examples_low)")
        bars = thin.mark_rule(strokeWidth=marks.THIN_LINE, color=theme.ink, yOffset=ROW_OFFSET, clip=True)
        layers.append(bars.encode(x=marks.same_axis(x, "examples_low"), x2=alt.X2("examples_high:Q"), y=y))
    key = marks.legend(place="top") if PUBLISHED in names else None
    tooltip = (*TIPS, *(DIFFERENCE_TIPS if relative else SCORE_TIPS), "note")
    if relative and frame.probability_better.notna().any():
        tooltip = (*tooltip[:-1], ("probability_better", "probability of improvement", ".2f"), "note")
    # A published mark does not hide ours in the same row.
    overlapping = (rows.verdict == PUBLISHED) & rows.variant.isin(set(rows.variant[rows.verdict != PUBLISHED]))
    for group, offset in ((frame[~overlapping], 0), (frame[overlapping], -ROW_OFFSET)):
        if len(group):
            layers += marks.row_plot(
                group[list(CHART_COLUMNS)], x=x, y=y, theme=theme, ends=(low, high), below=offset, tooltip=tooltip,
                color=marks.hues("kind", {name: theme.colour(STYLES[kind][0]) for kind, name in names.items()}, key),
                shape=marks.shapes("kind", {name: STYLES[kind][1] for kind, name in names.items()}, key),
            )  # fmt: skip
    title, below = titles
    if relative and key is None:
        below = "; ".join(f"{IN_WORDS[kind]}: {name}" for kind, name in names.items())
    return marks.panel(
        *layers,
        theme=theme,
        width=marks.HALF,
        height=len(labels) * marks.row_height(labels, marks.ROW),
        title=title,
        # A blank one keeps panels without a line level with those that have one.
        below=marks.wrap_lines(below, BELOW) if below else [" "],
    )


def _labels(rows: pd.DataFrame, order: list[str]) -> list[str]:
    """A variant's title with our seeds, the same for our row and the published one."""
    own_rows = rows[rows.verdict != PUBLISHED].drop_duplicates("variant").set_index("variant")
    titles = {
        variant: str(variant_title) for variant, variant_title in zip(rows.variant, rows.title, strict=True)
    } | own_rows.title.to_dict()
    counts = own_rows.seeds.to_dict()
    broken = {
        variant: marks.wrap_label(titles[variant] + (f" (n={counts[variant]:.0f})" if variant in counts else ""), LABEL)
        for variant in order
    }
    level = marks.level_labels(list(broken.values()))
    return [level[broken[variant]] for variant in rows.variant]


def interval_text(low: pd.Series, high: pd.Series, *, relative: bool = True) -> list[str]:
    """Intervals in words, `+0.10 to +0.42`; empty where there is none. relative: whether numbers have a sign."""
    form = signed if relative else "{:.2f}".format
    return ["" if pd.isna(a) or pd.isna(b) else f"{form(a)} to {form(b)}" for a, b in zip(low, high, strict=True)]
