"""The board: a row per way of telling positions, with its final loss, its rank, its steps, widths and costs."""

from typing import Annotated, Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import WAYS
from analysis.core import colours
from analysis.core.formatting import join_names, plural, sentences, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import BASELINE, ExperimentsBoard, VariantRow, board
from analysis.figures.figure import Figure, Parameters, figure, one_of
from analysis.figures.training.data import title, training_commands

ORDERS = {"way": "by how positions are told", "loss": "by loss"}
OUTLIER = 3
"""A difference is beyond the axis if it is so many times as large as the largest of the others."""


class BoardParameters(Parameters):
    """The preset whose trainings are shown, and the order of the rows."""

    preset: str
    order: Annotated[str, one_of(ORDERS)] = "way"


def ordered(shown: ExperimentsBoard, order: str) -> list[VariantRow]:
    """The rows in the order of a link."""
    return list(shown.rows) if order == "way" else sorted(shown.rows, key=lambda row: row.place)


def axis_range(shown: ExperimentsBoard) -> tuple[float, float]:
    """The ends of the axis of differences: every interval and seed but those of outliers, beyond which it breaks."""
    sizes = sorted(abs(row.gap.value) for row in shown.rows if row.gap)
    while len(sizes) > 2 and sizes[-1] > OUTLIER * sizes[-2]:
        sizes.pop()
    limit = 2 * sizes[-1] if sizes else 1.0
    values = [0.0]
    for row in shown.rows:
        if row.gap and abs(row.gap.value) <= limit:
            ends = row.gap.value, *row.differences.values(), row.gap.low, row.gap.high
            # An interval of two seeds may be many times as long as all differences; it is cut at the edge.
            values += [float(np.clip(end, -limit, limit)) for end in ends if end == end]
    low, high = min(values), max(values)
    room = 0.04 * (high - low or 1)
    return low - room, high + room


@figure("experiments_board", BoardParameters)
def experiments_board(params: BoardParameters) -> Figure:
    """Every measure of every variant that one was taken of.

    Raises NoResults where nothing was measured, AddendError for a preset that is not offered.
    """
    shown = board(params.preset)
    rows = ordered(shown, params.order)
    table = pd.DataFrame([record for row in (*rows, *shown.others) for record in _records(row)])
    trainings = shown.trainings
    return Figure(
        title="All experiments on one board",
        finding=shown.finding,
        frame=lambda: table,
        caption=caption(shown),
        alt=f"A table of {plural(len(rows), 'variant')}, each with a dot for its final loss less that of "
        f"{title(BASELINE)}. {shown.finding}. " + " ".join(filter(None, map(_sentence, rows))),
        command="\n".join(training_commands(params.preset, trainings.runs)) if trainings else "",
        provenance={
            "trainings": f"preset {params.preset}",
            "costs": f"preset {shown.cost_preset}",
            "refitted encoder": "preset surgery",
            **(trainings.provenance() if trainings else {}),
        },
        summary=(lambda: table[table.measure == "loss"]) if (table.measure == "loss").any() else None,
        draw=lambda theme: _draw(shown, rows, theme),
        columns=2,
    )


def caption(shown: ExperimentsBoard) -> str:
    """The measure, its data and its uncertainty, in sentences."""
    count = len(shown.judged)
    return sentences(
        f"Final loss on held-out text less that of {title(BASELINE)}, in nats per masked word; left is better. "
        "Bars are 95 % t intervals over pairs of one seed; small dots are the seeds."
        if shown.trainings
        else f"No training of preset {shown.preset} is stored.",
        f"A ring stands for a row with fewer than {shown.needed} seeds, which is not judged."
        if any(row.outcome == "few" for row in shown.rows)
        else "",
        f"Ranks: the places that each of {count + 1} may have. Every pair is compared by paired t tests in both "
        f"directions, {shown.ranks.tests} in all, with Holm's correction (Mogstad et al. 2024): all intervals hold "
        f"together with a probability of 95 %. Not told apart: {_ties(shown.ranks.ties)}."
        if shown.ranks
        else "",
        shown.widths_note,
        "Steps: until the validation loss is clearly below that of a model without positions.",
        f"Similarity and CoLA: {plural(3, 'fine-tuning')} of all-MiniLM-L6-v2 after its positions were changed.",
        f"Parameters and time are multiples of {title(BASELINE)}'s, measured with preset {shown.cost_preset}"
        + (", whose sizes are not matched." if shown.cost_preset != shown.preset else "."),
        trainings.description() if (trainings := shown.trainings) else "",
    )


def _ties(ties: tuple[tuple[str, ...], ...]) -> str:
    """The largest groups in which no two rows are told apart, in words."""
    groups = [join_names(map(title, names)) for names in ties if len(names) > 1]
    return "; ".join(groups) or "no two rows"


def _records(row: VariantRow) -> list[dict[str, Any]]:
    """The row's numbers, one a line, with interval, seeds and verdict."""
    facts = {"variant": row.variant, "title": row.title, "way": row.way}
    records = []

    def add(measure: str, value: float, low: float = np.nan, high: float = np.nan, seeds: int = 0, word: str = ""):
        records.append(
            {
                **facts,
                "measure": measure,
                "value": value,
                "low": low,
                "high": high,
                "seeds": seeds or None,
                "word": word,
            }
        )

    if row.gap:
        add("loss", row.gap.value, row.gap.low, row.gap.high, row.gap.seeds, row.standing or row.outcome)
    if row.rank:
        add("rank", np.nan, *row.rank, word=f"tied with {', '.join(row.tied)}" if row.tied else "")
    if row.steps and not np.isnan(row.steps.value):
        add("plateau", row.steps.value, row.steps.low, row.steps.high, len(row.losses), row.steps.text)
    for width, gap in row.widths.items():
        add(f"width{width}", gap.value, gap.low, gap.high, gap.seeds, "" if gap.judged else "too few seeds")
    for measure, score in row.refitted.items():
        add(measure, score.value, score.low, score.high, score.seeds)
    for measure, ratio in (("parameters", row.parameters), ("time", row.time)):
        if ratio is not None:
            add(measure, ratio)
    return records


def _sentence(row: VariantRow) -> str:
    if not row.gap:
        return ""
    interval = f" ({signed(row.gap.low)} to {signed(row.gap.high)})" if row.gap.low == row.gap.low else ""
    return f"{row.title} {signed(row.gap.value)}{interval}."


def _draw(shown: ExperimentsBoard, rows: list[VariantRow], theme: Theme) -> list[Chart]:
    """The losses with their intervals, and the steps to leave the plateau; one row a variant."""
    low, high = axis_range(shown)
    trained = [row for row in rows if row.trained]
    if not trained:
        return [_refitted_panel(rows, theme)]
    titles = [row.title for row in trained]
    frame = pd.DataFrame(
        {
            "title": row.title,
            "group": WAYS[row.way].title,
            "value": float(np.clip(row.place, low, high)),
            "low": row.gap.low if row.gap and row.gap.value <= high else np.nan,
            "high": row.gap.high if row.gap and row.gap.value <= high else np.nan,
            "seeds": row.gap.seeds if row.gap else len(row.losses),
            "rank": places(row),
            "judged": row.outcome != "few",
            "written": written(row, high),
        }
        for row in trained
        if row.place < np.inf
    )
    colour = {WAYS[way].title: theme.colour(WAY_COLOURS[way]) for way in WAYS if any(row.way == way for row in trained)}
    x = marks.number(alt.X, "value", "final loss less the baseline's (nats)", domain=(low, high), ticks=6)
    y = marks.rows_down("title", titles)
    tooltip = (("title", "variant"), ("written", "difference"), *marks.interval_tips("+.3f"), "rank", "seeds:Q")
    layers: list[Chart] = [marks.rule(theme, x=0)]
    for judged, group in frame.groupby("judged"):
        hue = marks.hues("group", colour, marks.legend(columns=2))
        layers += marks.row_plot(group, x=x, y=y, theme=theme, color=hue, filled=bool(judged), tooltip=tooltip)
    seeds = pd.DataFrame(
        {"title": row.title, "value": value}
        for row in trained
        for value in row.differences.values()
        if low <= value <= high
    )
    if len(seeds):
        layers += marks.row_plot(seeds, x=x, y=y, theme=theme, ends=None, color=theme.faint, size=12, below=7)
    text = alt.Chart(frame).mark_text(align="left", dx=8, fontSize=marks.TEXT, color=theme.ink)
    layers.append(text.encode(y=y, x=alt.value("width"), text="written:N"))
    height = marks.ROW * len(titles)
    heading = "Final loss, the printed difference, and the places it may have"
    panels = [marks.panel(*layers, theme=theme, width=marks.HALF, height=height, title=heading)]
    steps = pd.DataFrame(
        {"title": row.title, "group": WAYS[row.way].title, "value": step.value, "low": step.low, "high": step.high,
         "written": step.text}
        for row in trained if (step := row.steps) and not step.never
    )  # fmt: skip
    if len(steps):
        x = marks.number(
            alt.X, "value", "steps (logarithmic)", log=2, form=",d", domain=shown.steps_range or alt.Undefined
        )
        dots = marks.row_plot(
            steps, x=x, y=y, theme=theme, color=marks.hues("group", colour), tooltip=("title", "written")
        )
        panels.append(
            marks.panel(*dots, theme=theme, width=marks.HALF, height=height, title="Steps to leave the plateau")
        )
    return panels


WAY_COLOURS = {
    "relative": colours.WAYS["relative"],
    "apart": colours.WAYS["apart"],
    "layers": colours.SOURCES["own"],
    "added": colours.WAYS["adding"],
    "multiplied": colours.WAYS["none"],
    "concatenated": colours.WAYS["concatenating"],
    "none": colours.WAYS["none"],
}
"""The colour of each way in an exported picture, where rows stand under no headings."""


def written(row: VariantRow, high: float = np.inf) -> str:
    """The printed number of a row: its difference, with an arrow where it lies beyond the axis; the baseline's loss."""
    if row.outcome == "baseline" and row.loss is not None:
        return f"{row.loss:.2f}, the baseline"
    if not row.gap:
        return ""
    rank = places(row)
    return signed(row.gap.value) + (" →" if row.gap.value > high else "") + (f", rank {rank}" if rank else "")


def places(row: VariantRow) -> str:
    """The places that a row may have: `3` or `1–4`; empty for a row that is not judged."""
    if not row.rank:
        return ""
    first, last = row.rank
    return str(first) if first == last else f"{first}–{last}"


def _refitted_panel(rows: list[VariantRow], theme: Theme) -> Chart:
    """The similarity of the refitted encoder, where no training of the preset is stored."""
    frame = pd.DataFrame(
        {"title": row.title, "value": score.value, "low": score.low, "high": score.high}
        for row in rows
        if (score := row.refitted.get("similarity"))
    )
    x = marks.number(alt.X, "value", "Spearman's correlation on STS-B")
    dots = marks.row_plot(frame, x=x, y=marks.rows_down("title", list(frame.title)), theme=theme)
    return marks.panel(*dots, theme=theme, width=marks.HALF, height=marks.ROW * len(frame), title="MiniLM refitted")
