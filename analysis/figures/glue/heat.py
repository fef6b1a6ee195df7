"""Maps of scores: variants down, tasks across, a number in every cell; differences to a baseline, or the scores."""

import pandas as pd

from analysis.core.formatting import fixed, percent, signed
from analysis.figures import marks
from analysis.figures.cell_table import cell_table
from analysis.figures.drawing import Chart, Theme, colour_scale, part_around_zero
from analysis.figures.glue.headline import CHANGED_MODELS
from analysis.figures.glue.panels import (
    DIFFERENCE_TIPS,
    SCORE_TIPS,
    TIPS,
    OwnAndPublished,
    by_task,
    heading,
    interval_text,
    kinds,
)
from analysis.figures.glue.study_rows import PUBLISHED, correlations
from analysis.glue_comparison import AVERAGE
from analysis.glue_comparison.study import ALPHA
from analysis.store.files import IMPORTED

SIGNS = {"different": "*", "equivalent": "="}
"""The sign beside a number, by verdict; a difference that is open has none."""
OPEN = ("open", "no interval")
"""Kinds of differences that have no colour: nothing follows from them."""
QUANTILE = 0.95
"""Colours span the differences up to this quantile; those beyond have the colour of the end."""
LIMITS = (1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0)
"""Differences that the colours may end at, in points."""
REMARKS = ("not learnt", "not GLUE")
"""Remarks that stand beside a task's name; the caption says which were trained on a part of their data."""
KEY = 32
"""Letters in a line of the legend, which begins beside the names of variants: as many as a phone has room for."""
KEY_LETTERS = 60
"""Letters in a line of the key of signs above the cells."""
MAJORITY = "Majority class"
FEW = 6
"""The most rows of a table whose cells have room for their interval."""
PALE = 3
"""Stops of the scale that scores take, on which the ink is read everywhere."""
CORRECTED = "†"
"""The sign of a difference that is open after Holm's correction alone: the interval below it is without zero."""
HIGHEST = 100.0
"""The score at the end of the colours, in points."""


def colour_limit(rows: pd.DataFrame, own_tasks: set[str]) -> float:
    """The difference at the ends of the colours. own_tasks: those outside GLUE, which may be of another size."""
    sizes = rows.difference[~rows.task.isin(own_tasks)].abs()
    size = float(sizes.quantile(QUANTILE)) if len(sizes) else 1.0
    return next((limit for limit in LIMITS if limit >= size), HIGHEST)


def differences(content: OwnAndPublished, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with what stands in their cells: task heading, number with its sign, and intervals in words."""
    found = kinds(rows, relative=True)
    signs = found.map(SIGNS).fillna("")
    half = (rows.difference_high - rows.difference_low) / 2
    wide = half.notna() & (rows.title.nunique() <= FEW)
    # Such an interval says by itself that the difference is decided; the corrected test does not.
    corrected = wide & found.isin(OPEN) & ((rows.difference_low > 0) | (rows.difference_high < 0))
    signs = signs.mask(corrected, CORRECTED)
    below = pd.Series([f"± {fixed(size, 1)}" for size in half], index=half.index).where(wide, "")
    return rows.assign(
        column=rows.task.map(_headings(content, rows)),
        open=found.isin(OPEN),
        equal=found == "equivalent",
        bold=found == "different",
        written=[signed(value, 1) for value in rows.difference],
        text=[
            "\n".join(filter(None, (f"{signed(value, 1)} {sign}".rstrip(), below)))
            for value, sign, below in zip(rows.difference, signs, below, strict=True)
        ],
        interval=interval_text(rows.difference_low, rows.difference_high),
        over_examples=interval_text(rows.examples_low, rows.examples_high),
    )


def scores(content: OwnAndPublished, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with what stands in their cells; below ours, those of the most frequent answer, where it is known."""
    found = rows[rows.value.notna()].assign(open=False)
    known = found[found.majority.notna()].drop_duplicates("task")
    level = known[["task", "task_title", "source", "majority"]].rename(columns={"majority": "value"})
    found = pd.concat([found, level.assign(title=MAJORITY, variant=MAJORITY, open=True)], ignore_index=True)
    return found.assign(
        column=found.task.map(_headings(content, rows)),
        bold=False,
        written=[f"{value:.2f}" for value in found.value],
        text=[f"{value:.1f}" for value in found.value],
        interval=interval_text(found.low, found.high, relative=False),
        over_examples="",
    )


def _headings(content: OwnAndPublished, rows: pd.DataFrame) -> dict[str, str]:
    """Task -> its heading, with its remarks; of the average, over how many tasks it is."""
    averaged = len(set(rows.task) & set(content.study.averaged_tasks))
    names = {
        task: name + "".join(f" ({remark})" for remark in below.split(", ") if remark in REMARKS)
        for task, group in by_task(content, rows)
        for name, below in [heading(content, task, group)]
    }
    if AVERAGE in names and averaged:
        names[AVERAGE] += f" of {averaged}"
    return names


def _correlations(rows: pd.DataFrame) -> list[str]:
    """A line on the tasks of ours whose scores are correlations; none for a published table."""
    if (rows.verdict == PUBLISHED).all():
        return []
    titles = dict(zip(rows.task, rows.task_title, strict=True))
    named = [f"{titles[task]}: {name} correlation" for task, name in correlations().items() if task in titles]
    return ["; ".join(named)] if named else []


def _signs(cells: pd.DataFrame, margin: float) -> list[str]:
    """The signs in the cells in words; nothing where there are none. margin: within which scores are equal."""
    signs = {
        "*": "* different",
        "=": f"= equal, outlined: the {percent(1 - 2 * ALPHA)} interval lies within {margin:g} "
        f"point{'' if margin == 1 else 's'}",
        "": "grey: open",
        CORRECTED: f"{CORRECTED} open only after correcting for the number of comparisons",
    }
    drawn = " ".join(cells.text).split()
    found = {sign: words for sign, words in signs.items() if (sign in drawn if sign else cells.open.any())}
    corrected = found.pop(CORRECTED, "")
    return [
        line
        for words in ("; ".join(found.values()), corrected)
        if words
        for line in marks.wrap_lines(words, KEY_LETTERS)
    ]


def _ordered_titles(rows: pd.DataFrame, column: str) -> list[str]:
    """Variants by their average, the highest first; those without one, below, by the mean of their tasks."""
    means = rows.groupby("title")[column].mean()
    averages = rows[rows.task == AVERAGE].set_index("title")[column].dropna()
    return sorted(means.index, key=lambda title: (title not in averages.index, -averages.get(title, means[title])))


def _sides(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Our rows and those of a published table, as far as there are any."""
    published = rows.verdict == PUBLISHED
    return [group for group in (rows[~published], rows[published]) if len(group)]


def _beyond(differences: pd.Series, limit: float) -> list[str]:
    """A line on the ends of the colours, where a difference is beyond one or both."""
    sides = {"below": (differences < -limit).any(), "above": (differences > limit).any()}
    beyond = [side for side, found in sides.items() if found]
    if not beyond:
        return []
    return [
        f"at the ends: {limit:g} or more" if len(beyond) > 1 else f"strongest colour: {limit:g} or more {beyond[0]}"
    ]


def draw_differences(content: OwnAndPublished, rows: pd.DataFrame, theme: Theme) -> list[Chart]:
    """A map of our own rows and, below it, one of a published table; their colours are the same."""
    limit = colour_limit(rows, set(content.study.tasks) - set(content.study.glue))
    key = marks.colour_bar(
        [
            *marks.wrap_lines(f"points more or fewer than {content.baseline}", KEY),
            *_beyond(rows.difference, limit),
            *([] if content.study else ["as printed, without a test"]),
        ],
        length=150,
    )
    # Half a legend that no cell has would say that something could have gained.
    ends = (max(-limit, float(rows.difference.min())), min(limit, float(rows.difference.max())))
    groups = _sides(rows)
    return [
        cell_table(
            cells := differences(content, group),
            columns=_columns(content, group, cells),
            titles=_ordered_titles(group, "difference"),
            value="difference",
            scale=part_around_zero(theme.diverging, *ends),
            key=key if group is groups[0] else None,
            strong=f"abs(datum.difference) > {theme.strong * max(map(abs, ends))}",
            framed="equal",
            tooltip=(*TIPS, *DIFFERENCE_TIPS, "note"),
            theme=theme,
            heading=side_title(str(group.source.iloc[0])),
            below=[*_signs(cells, content.study.margin if content.study else 0.0), *_correlations(group)],
        )
        for group in groups
    ]


def draw_scores(content: OwnAndPublished, rows: pd.DataFrame, theme: Theme) -> list[Chart]:
    """A map of our own scores, with those of the most frequent answer last, and one of a published table."""
    key = marks.colour_bar(["points", "grey: the most frequent answer"], length=150)
    groups = _sides(rows)
    return [
        cell_table(
            cells := scores(content, group),
            columns=_columns(content, group, cells),
            titles=_ordered_titles(cells[~cells.open], "value") + ([MAJORITY] if cells.open.any() else []),
            value="value",
            scale=colour_scale(theme.sequential[:PALE], (0.0, HIGHEST)),
            key=key if group is groups[0] else None,
            strong="false",
            tooltip=(*TIPS, *SCORE_TIPS, "note"),
            theme=theme,
            heading=side_title(str(group.source.iloc[0])),
            below=_correlations(group),
        )
        for group in groups
    ]


def _columns(content: OwnAndPublished, rows: pd.DataFrame, cells: pd.DataFrame) -> list[str]:
    """The headings of the cells, the average first."""
    headings = _headings(content, rows)
    return [headings[task] for task, _ in by_task(content, rows) if headings[task] in set(cells.column)]


def side_title(source: str) -> str:
    """The models of our own or imported rows, above their map; the name of a published table as it is."""
    owner, _, preset = source.partition(", preset ")
    if owner == IMPORTED:
        return f"◆ {source}"
    return CHANGED_MODELS.get(preset, f"Our own small encoders ({preset})") if owner == "own" else source
