"""Own and published GLUE results as one table of text: a row per variant and source, a column per task."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.core import frames
from analysis.core.formatting import join_names, signed
from analysis.figures.glue.study_rows import PUBLISHED, averaged_tasks, comparison_rows, name_of, order, source
from analysis.glue_comparison import AVERAGE, PublishedComparison, Study

UP, DOWN, SAME, TIE, OPEN, NOT_LEARNT = "▲", "▼", "≈", "=", "?", "†"
NOT_AVERAGED, PARTIAL, NOT_GLUE = "not averaged", "partial data", "not GLUE"


@dataclass(frozen=True, kw_only=True)
class GlueTable:
    """The table, and the notes under it."""

    cells: pd.DataFrame
    own_source: str
    """The entry of our own rows in the column `from`."""
    notes: tuple[str, ...]
    signs: str
    """An explanation of the signs in the cells; empty if there are no runs of ours."""


WITHOUT_ENCODER = {
    "word_overlap": "Word overlap, logistic regression",
    "tf_idf": "TF-IDF, logistic regression",
    "bag_of_vectors": "Mean of word vectors, logistic regression",
}
"""Baselines that need no encoder, as they are named in tables; of STS-B, which is a regression, ridge."""


def table(study: Study, published: PublishedComparison | None, *, relative: bool) -> GlueTable:
    """Values x100 with half the width of their t interval, or differences to the baseline; marked where they differ."""
    results = comparison_rows(study, published)
    tasks = list(dict.fromkeys([AVERAGE, *study.tasks, *(published.tasks if published else ())]))
    # Own tasks that are no GLUE stand last, beyond what any paper prints.
    tasks.sort(key=lambda task: task in study.tasks and task not in study.glue)
    column_titles = {task: _column_title(task, study, published) for task in tasks}
    sources = {False: source(study), True: published.table.title if published else ""}
    lines_by_row: dict[tuple[bool, str], dict[str, str]] = {}
    for row in frames.rows(results):
        is_published = row.verdict == PUBLISHED
        line = lines_by_row.setdefault(
            (is_published, row.variant), {"variant": row.title, "from": sources[is_published]}
        )
        if row.task in column_titles:
            line[column_titles[row.task]] = _cell(row, relative)
    lines = []
    ranked = order(study, results)
    for is_published in sources:
        lines += [lines_by_row[is_published, name] for name in ranked if (is_published, name) in lines_by_row]
        if study and not is_published and not relative:
            levels = {AVERAGE: study.majority_average, **study.results.majority}
            known = {
                column_titles[t]: f"{value:.1f}" for t, value in levels.items() if t in column_titles and value == value
            }
            lines.append({"variant": "Majority class", "from": "no model", **known})
            for name, values in study.results.without_encoder.items():
                known = {column_titles[t]: f"{value:.1f}" for t, value in values.items() if t in column_titles}
                lines.append({"variant": WITHOUT_ENCODER.get(name, name), "from": "no encoder", **known})
    cells = pd.DataFrame(lines, columns=["variant", "from", *column_titles.values()])
    return GlueTable(
        cells=cells.astype(object).fillna(""),
        own_source=source(study),
        notes=tuple(_notes(study, published, relative)),
        signs=_signs(study),
    )


def _column_title(task: str, study: Study, published: PublishedComparison | None) -> str:
    if task == AVERAGE:
        return f"Average of {len(averaged_tasks(study, published))}"
    sentences = []
    if study and task in study.tasks:
        sentences += [NOT_GLUE] if task not in study.glue else []
        sentences += ["not learnt"] if task in study.not_learnt else []
        sentences += [NOT_AVERAGED] if task in study.glue and task not in study.averaged_tasks else []
        sentences += [PARTIAL] if study.results.tasks.partial[task] else []
    elif task not in averaged_tasks(study, published):
        sentences = [NOT_AVERAGED]
    name = study.title(task) if task in study.tasks or published is None else published.tasks[task]
    return f"{name} ({', '.join(sentences)})" if sentences else name


def _cell(row: Any, relative: bool) -> str:
    value, low, high = (
        (row.difference, row.difference_low, row.difference_high) if relative else (row.value, row.low, row.high)
    )
    if pd.isna(value):
        return ""
    if row.verdict == PUBLISHED:
        return signed(value) if relative else f"{value:.2f}"
    text = signed(value, 1) if relative else f"{value:.1f}"
    text += "" if pd.isna(low) else f" ±{(high - low) / 2:.1f}"
    return " ".join(part for part in (text, _mark(row), NOT_LEARNT if row.learnt == "not learnt" else "") if part)


def _mark(row: Any) -> str:
    """The mark of how the value compares with the baseline's; empty where there is no baseline or no interval."""
    if row.verdict == "different":
        return UP if row.difference > 0 else DOWN
    if isinstance(row.verdict, str) and row.verdict.startswith("equivalent"):
        return SAME
    if row.tie is True:
        return TIE
    return OPEN if row.verdict == "open" else ""


def _signs(study: Study) -> str:
    if not study:
        return ""
    margin = f"{study.margin:g} point{'' if study.margin == 1 else 's'}"
    return (
        f"Compared with {name_of(study)}: {UP} {DOWN} better or worse, after Holm's correction; {SAME} equivalent "
        f"within {margin}; {TIE} a difference smaller than these seeds can resolve; {OPEN} a larger one that is not "
        f"significant. {NOT_LEARNT} not learnt: the interval reaches the majority class."
    )


def _notes(study: Study, published: PublishedComparison | None, relative: bool) -> list[str]:
    if not study:
        return []
    sentences = [
        "All values are multiplied by 100."
        + (
            f" Differences to {name_of(study)}" + (f", published ones to {published.baseline}." if published else ".")
            if relative
            else ""
        )
        + " ± is half the 95 % t interval over pre-training seeds; published rows have none.",
    ]
    partial = {study.title(str(task)): rows for task, rows in study.results.tasks.partial.items() if rows}
    sentences += [f"Partial data, {name}: {frame}." for name, frame in partial.items()]
    sentences += [
        f"No average: {study.results.titles[variant]} lacks {join_names([study.title(task) for task in tasks])}."
        for variant, tasks in study.missing_scores.items()
    ]
    return sentences
