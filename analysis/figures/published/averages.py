"""Averages of one published table, with and without columns, and their differences to a baseline."""

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import join_names, signed
from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.published.table_parts import (
    AverageParameters,
    caveats,
    in_words,
    labelled,
    other_steps,
    provenance,
    query_command,
    quoted,
    spans,
    spelled,
    spread,
    where,
    wrapped_title,
)
from analysis.literature import tables as published
from analysis.literature.tables import Table, average


@figure("published_average", AverageParameters)
def averages(params: AverageParameters) -> Figure:
    """Average over every GLUE column and over the ticked ones, side by side, and the differences to a baseline.

    Raises LinkError for a table or a baseline that is not there, and where nothing is left to be averaged.
    """
    table = published.load(params.table)
    baseline = table.baseline(params.baseline)
    without = params.without
    means = average(table, without).assign(baseline=baseline)
    baseline_row = means[means.variant == baseline].iloc[0]
    means["difference_all"] = means.all_columns - baseline_row.all_columns
    means["difference_ticked"] = means.ticked - baseline_row.ticked
    means["difference_printed"] = means.printed - baseline_row.printed
    columns = dict(table.glue_columns)
    left_out = [column for task, column in columns.items() if task in without]
    retained = [column for task, column in columns.items() if task not in without]
    names = {"all": f"all {len(columns)} columns", "ticked": f"without {join_names(left_out)}" if left_out else ""}
    missing = [c for c in dict.fromkeys(table.scores.column[table.scores.glue]) if c not in columns.values()]
    others = means[means.variant != baseline]
    texts = _sentences(table, others, baseline, left_out)
    printed = means.dropna(subset="printed")
    largest_error = (printed.printed - printed.all_columns).abs().max()
    return Figure(
        title=f"{table.title}: average "
        f"{f'with and without {join_names(left_out)}' if left_out else 'of all GLUE columns'}",
        finding=_best_gain(others, baseline, left_out),
        frame=lambda: means.assign(columns=", ".join(columns.values()), columns_ticked=", ".join(retained)),
        caption=(
            f"Mean of {len(columns)} GLUE columns ({', '.join(columns.values())})"
            + (f" and of the {len(retained)} without {join_names(left_out)}" if left_out else "")
            + f", {len(means)} variants, computed from the printed scores ({table.kinds}); points minus {baseline}. "
            + (f"Not averaged, because not every variant has it: {join_names(missing)}. " if missing else "")
            + (
                f"The paper's printed averages differ from ours by at most {largest_error:.3f}, so a difference of "
                "printed averages may differ from ours in its last digit. "
                if len(printed)
                else "The paper prints no average. "
            )
            + spread(table.scores[table.scores.glue])
            + caveats(table)
        ),
        alt=" ".join(
            [f"Averages of {table.title} and their differences to {baseline}.", *_average_texts(others, names)]
        ),
        command=query_command(_average_sql(table, list(columns), [t for t in columns if t not in without])),
        provenance=provenance(table),
        citation_keys=(table.citation,),
        draw=lambda theme: [_dumbbells(means, names, baseline, other_steps(table, baseline), theme)],
        sentences=tuple(texts),
    )


def _average_sql(table: Table, tasks: list[str], retained: list[str]) -> str:
    ticked = f" FILTER (task IN ({', '.join(map(quoted, retained))}))" if retained != tasks else ""
    return (
        f"SELECT variant, 100 * avg(value) AS all_columns, 100 * avg(value){ticked} AS ticked FROM published_scores "
        f"WHERE {where(table)} AND task IN ({', '.join(map(quoted, tasks))}) GROUP BY variant"
    )


def _average_texts(others: pd.DataFrame, names: dict[str, str]) -> list[str]:
    return [
        f"{row.variant}: {signed(row.difference_all)} over {names['all']}"
        + (f", {signed(row.difference_ticked)} {names['ticked']}." if names["ticked"] else ".")
        for row in frames.rows(others)
    ]


def _sentences(table: Table, others: pd.DataFrame, baseline: str, left_out: Sequence[str]) -> list[str]:
    """The effect of leaving columns out: every variant whose sign changes, and the one of the rest that moves most."""
    if not left_out or others.empty:
        return []
    sign_changes = others.difference_all.round(2) * others.difference_ticked.round(2) < 0
    moves = (others.difference_ticked - others.difference_all).abs()[~sign_changes]
    single = len(left_out) == 1 and len(table.glue_columns) > 2
    alternatives = _one_at_a_time(table, baseline, left_out[0]) if single else None
    sentences = []
    shown = pd.concat([others[sign_changes], others.loc[moves.nlargest(1).index]])
    for row in frames.rows(shown):
        text = (
            f"Without {join_names(left_out)}, {row.variant} minus {baseline} goes from {signed(row.difference_all)} "
            f"to {signed(row.difference_ticked)} points."
        )
        if sign_changes[row.Index]:
            text = text.removesuffix(".") + ": the sign changes."
        if alternatives is not None:
            low, high = alternatives[row.variant].min(), alternatives[row.variant].max()
            text += f" Leaving out any other one column instead, it lies between {signed(low)} and {signed(high)}."
        sentences.append(text)
    return sentences


def _one_at_a_time(table: Table, baseline: str, column: str) -> pd.DataFrame:
    """Differences of averages to the baseline when one column other than `column` is left out: a row per column."""
    means = [
        average(table, (task,)).set_index("variant").ticked.rename(name)
        for task, name in table.glue_columns
        if name != column
    ]
    return pd.DataFrame(means).pipe(lambda rows: rows.sub(rows[baseline], axis=0))


def _best_gain(others: pd.DataFrame, baseline: str, left_out: Sequence[str]) -> str:
    """The variant with the highest average, against the baseline, with and without the columns left out."""
    if others.empty:
        return ""
    best = others.iloc[others.difference_all.argmax()]
    text = f"{spelled(best.variant)} gains most over {baseline}: {signed(best.difference_all)} points"
    if not left_out:
        return text
    gains = others[others.difference_all > 0]
    mostly = int((gains.difference_ticked <= gains.difference_all / 2).sum())
    text += f", {signed(best.difference_ticked)} without {join_names(left_out)}"
    if len(gains) < 2 or not mostly:
        return text
    make = "makes" if len(left_out) == 1 else "make"
    rows = f"{mostly} of {len(gains)} rows"
    if best.difference_ticked > best.difference_all / 2:
        rows = f"{mostly} of the {len(gains) - 1} other rows"
    return f"{text}. {join_names(left_out)} {make} up half or more of the gain in {rows}"


def in_order(means: pd.DataFrame, steps: Mapping[str, str]) -> pd.DataFrame:
    """The averages, the highest first; last those of variants in `steps`, which were trained for another length."""
    other = means.variant.isin(list(steps))
    return means.assign(other=other).sort_values(["other", "all_columns"], ascending=[True, False], kind="stable")


def _dumbbells(
    means: pd.DataFrame, names: dict[str, str], baseline: str, steps: Mapping[str, str], theme: Theme
) -> Chart:
    """Averages over all columns and over the ticked ones, minus the baseline's, joined; at the right, the averages.

    The variant that gains most over all columns stands first. steps: those of variants that were trained for another
    length than the baseline, which stand apart below the others.
    """
    kinds = {name: f"difference_{kind}" for kind, name in names.items() if name}
    shown = means[means.variant != baseline] if len(means) > 1 else means
    shown = in_order(shown, steps)
    parts = [shown[["variant", "all_columns"]].assign(set=name, value=shown[column]) for name, column in kinds.items()]
    frame = pd.concat(parts, ignore_index=True)
    groups = [
        f"Trained for {steps[name]} steps" if name in steps else f"Trained as long as {baseline}"
        for name in shown.variant
    ]
    known = in_words(shown.variant, {})
    apart = len(set(groups)) > 1
    grouped, y, titles, height = marks.grouped_rows(known.tolist(), groups, theme)
    frame, labels = labelled(
        frame.assign(
            written=[signed(value) for value in frame.value],
            left=frame.value < frame.groupby("variant").value.transform("mean") - 1e-9,
            average=[f"{value:.2f}" for value in frame.all_columns],
        ),
        in_words(frame.variant, steps),
    )
    if apart:
        frame = frame.assign(label=frame.variant.map(dict(zip(shown.variant, grouped, strict=True))))
    x = marks.number(
        alt.X, "value", marks.wrap_lines(f"points, average minus that of {baseline}", 40), nice=False, padding=46,
        ticks=5,
    )  # fmt: skip
    if not apart:
        y, height = marks.labelled_rows(labels, grid=True), len(labels) * marks.row_height(labels, 30)
    beside = alt.Chart(frame.drop_duplicates("variant")[["label", "average"]]).mark_text(
        align="left", dx=8, fontSize=marks.TEXT, color=theme.ink
    )
    own = means.all_columns[means.variant == baseline].iloc[0]
    return marks.panel(
        marks.rule(theme, x=0),
        spans(frame, x, y, theme),
        *marks.row_plot(
            frame, x=x, y=y, theme=theme, ends=None, size=marks.LARGE_DOT,
            color=marks.hues("set", dict(zip(kinds, (theme.ink, GREY), strict=False)), marks.legend(place="top")),
            tooltip=("variant", ("set", "average over"), ("written", "points"), ("average", "average over all")),
        ),
        *marks.values_beside(alt.Chart(frame).encode(y=y), theme, "left", x),
        beside.encode(x=alt.value("width"), y=y, text=alt.Text("average:N")),
        *([titles] if apart else []),
        theme=theme,
        width=marks.WIDE,
        height=height,
        title=wrapped_title(f"Difference from {baseline}"),
        below=marks.wrap_lines(f"right: average of {names['all']}; {baseline} has {own:.2f}", 56),
    )  # fmt: skip
