"""The board: a row per way of telling positions, with its final loss, its rank, its steps, widths and costs."""

from typing import Annotated, Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import WAYS, named
from analysis.core import colours
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, plural, sentences, signed_or_zero, span
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import BASELINE, ExperimentsBoard, VariantRow, board
from analysis.figures.figure import Figure, Parameters, figure, one_of
from analysis.figures.outliers import largest_near
from analysis.figures.training.plateau import judged_level
from analysis.figures.training.trainings import Trained, title, training_commands

ORDERS = {"way": "by how positions are told", "loss": "by loss"}
FEW_TICKS = 5
"""Steps between the numbers of an axis, and how many of these fit in one column of a paper."""
BREAK = 0.16
"""The room beyond the break of an axis, as a share of its length."""
TIED = "Under the pointer, a row marks the rows that it is not told apart from; a press on it names them."


class BoardParameters(Parameters):
    """The preset whose trainings are shown, and the order of the rows."""

    preset: str
    order: Annotated[str, one_of(ORDERS)] = "way"


def ordered(shown: ExperimentsBoard, order: str) -> list[VariantRow]:
    """The rows in the order of a link; by way, those of the question itself stand first."""
    if order != "way":
        return sorted(shown.rows, key=lambda row: row.place)
    first = shown.of_the_question
    return [*first, *(row for row in shown.rows if row not in first)]


def axis_range(shown: ExperimentsBoard) -> tuple[float, float]:
    """The ends of the axis of differences: those of the judged rows' intervals; before outliers it breaks."""
    gaps = [row.gap.value for row in shown.rows if row.gap]
    limit = 2 * largest_near(gaps) if gaps else 1.0
    values = [0.0]
    for row in shown.rows:
        if row.gap and abs(row.gap.value) <= limit:
            # Of few seeds, one or their interval may lie many times as far off as all differences: it is cut.
            spread = (*row.differences.values(), row.gap.low, row.gap.high) if row.gap.judged else ()
            ends = row.gap.value, *spread
            values += [float(np.clip(end, -limit, limit)) for end in ends if end == end]
    low, high = min(values), max(values)
    room = 0.04 * (high - low or 1)
    return low - room, high + room


@figure("experiments_board", BoardParameters)
def experiments_board(params: BoardParameters) -> Figure:
    """Every measure of every variant that one was taken of.

    Raises NoResults where no variant was trained, AddendError for a preset that is not offered.
    """
    shown = board(params.preset)
    trainings = shown.trainings
    if trainings is None:
        raise NoResults(
            f"No training of preset {params.preset} that predicts masked words is stored. Run: python -m analysis "
            f"ablate --preset {params.preset}"
        )
    rows = ordered(shown, params.order)
    table = pd.DataFrame([record for row in (*rows, *shown.others) for record in _records(row)])
    return Figure(
        title="All experiments on one board",
        finding=shown.finding,
        frame=lambda: table,
        caption=caption(shown, trainings),
        alt=f"A table of {plural(len(rows), 'variant')}, each with a dot for its final loss minus that of "
        f"{named(BASELINE)}. {shown.finding}. " + " ".join(filter(None, map(_sentence, rows))),
        command="\n".join(training_commands(params.preset, trainings.runs)),
        provenance={
            "trainings": f"preset {params.preset}",
            "costs": f"preset {shown.cost_preset}",
            **trainings.provenance(),
        },
        summary=(lambda: _summary(table, shown)) if (table.measure == "loss").any() else None,
        quantity=f"Final loss \N{MINUS SIGN} {title(BASELINE)} (nats)",
        draw=lambda theme: [_draw(shown, rows, theme)],
    )


def _summary(table: pd.DataFrame, shown: ExperimentsBoard) -> pd.DataFrame:
    """The differences of the losses, and the baseline's own line, which says its loss."""
    losses = table[table.measure == "loss"].drop(columns=["way", "measure", "word"])
    baseline = next((row for row in shown.rows if row.outcome == "baseline"), None)
    if baseline is None or baseline.loss is None:
        return losses
    own = {"variant": baseline.variant, "title": f"{baseline.title} (final loss {baseline.loss:.2f})", "value": 0.0}
    return pd.concat([pd.DataFrame([own | {"seeds": len(baseline.losses)}]), losses], ignore_index=True)


def caption(shown: ExperimentsBoard, trainings: Trained) -> str:
    """The measure, its data and its uncertainty, of what the picture holds."""
    beyond = [row.title for row in shown.rows if row.gap and row.gap.value > axis_range(shown)[1]]
    return sentences(
        f"Final loss on held-out text minus that of {named(BASELINE)}, in nats per masked word; left is better"
        + (", and beyond // the axis is broken" if beyond else "")
        + f" (recipe {shown.preset}, {_seeds(shown)}).",
        "Bars are 95 % t intervals over pairs of one seed; small dots are the seeds.",
        f"A row ends lower or higher where its whole interval lies beyond the grey band, ±{shown.margin:g} nats, "
        "within which the rules count a difference as none."
        if shown.margin
        else "",
        "Where the dot is hollow, these seeds do not decide." if any(row.undecided for row in shown.rows) else "",
        f"With fewer than {shown.needed} seeds a row is not judged, and what of it lies beyond the axis is cut."
        if any(row.outcome == "few" for row in shown.rows)
        else "",
        f"Printed: the difference and its rank, the places that it may have among {len(shown.judged) + 1}, where "
        f"every pair is compared by paired t tests in both directions, {shown.ranks.tests} in all, with Holm's "
        "correction (Mogstad et al. 2024), so that all hold together with a probability of 95 %."
        if shown.ranks
        else "Printed: the difference.",
        f"The axis is broken for {join_names(beyond)}." if beyond else "",
        trainings.description(),
    )


def _seeds(shown: ExperimentsBoard) -> str:
    """The fewest and the most pairs of seeds of the rows that are compared: 3 to 5 seeds."""
    counts = span([row.gap.seeds for row in shown.rows if row.gap] or [shown.needed])
    return f"{counts} seed{'' if counts == '1' else 's'}"


def columns_note(shown: ExperimentsBoard) -> str:
    """Sentences on the columns that the board on the page has besides the losses."""
    steps = sentences(
        "Steps until order is used: until the validation loss is clearly below that of a model without positions.",
        "“>”: not every seed gets there, so that the mean is at least so high."
        if any(row.steps and row.steps.left and not row.steps.always for row in shown.rows)
        else "",
        judged_level(shown.preset),
    )
    if shown.imported:
        return sentences(steps, TIED if shown.ranks else "")
    return sentences(
        "Told at: the first square is the input, the others are the layers. Full: positions are read by the matrices "
        "that read words. Ring: by matrices or terms of their own. Half: positions have dimensions beside those of "
        "words.",
        steps,
        f"Size and time are multiples of {named(BASELINE)}'s, measured with preset {shown.cost_preset}"
        + ("." if PRESETS[shown.cost_preset].matched else ", whose sizes are not matched."),
        "Two times are two measurements, which tell how far one can be relied on. Bold: more than 1.1 times adding's "
        "by each; grey: within 5 % of it."
        if any(row.earlier is not None for row in shown.rows)
        else "",
        TIED if shown.ranks else "",
        shown.widths_note,
    )


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
    if row.parameters is not None:
        add("parameters", row.parameters)
    if row.time is not None:
        low, high = (np.nan, np.nan) if row.earlier is None else sorted((row.time, row.earlier))
        add("time", row.time, low, high)
    return records


def _sentence(row: VariantRow) -> str:
    if not row.gap:
        return ""
    # With two decimals, an end of an interval would lose its sign.
    value, low, high = (signed_or_zero(number, 3) for number in (row.gap.value, row.gap.low, row.gap.high))
    return f"{row.title} {value}{f' ({low} to {high})' if row.gap.low == row.gap.low else ''}."


def _draw(shown: ExperimentsBoard, rows: list[VariantRow], theme: Theme) -> Chart:
    """The losses with their intervals; one row a variant. The axis breaks before those that lie far beyond the rest."""
    low, high = axis_range(shown)
    trained = [row for row in rows if row.trained and row.place < np.inf]
    beyond = [row for row in trained if row.place > high]
    end = high + (BREAK * (high - low) if beyond else 0)
    titles = [row.title for row in trained]
    frame = pd.DataFrame(
        {
            "title": row.title,
            "group": WAYS[row.way].title,
            "value": end if row in beyond else row.place,
            "low": max(low, row.gap.low) if row.gap and row not in beyond else np.nan,
            "high": min(high, row.gap.high) if row.gap and row not in beyond else np.nan,
            "seeds": row.gap.seeds if row.gap else len(row.losses),
            "rank": places(row),
            "undecided": row.undecided,
            "written": written(row),
        }
        for row in trained
    )
    colour = {
        WAYS[way].title: theme.colour(colours.of_way(way)) for way in WAYS if any(row.way == way for row in trained)
    }
    x = marks.number(
        alt.X, "value", f"final loss \N{MINUS SIGN} {title(BASELINE)} (nats)", domain=(low, end),
        values=marks.round_ticks(low, high, FEW_TICKS), form="~f",
    )  # fmt: skip
    y = marks.rows_down("title", titles)
    tooltip = (("title", "variant"), ("written", "difference"), *marks.interval_tips("+.3f"), "rank", "seeds:Q")
    layers: list[Chart] = [marks.rule(theme, x=0)]
    if shown.margin:
        band = alt.Chart(pd.DataFrame({"from": [-shown.margin], "to": [shown.margin]})).mark_rect(color=theme.grid)
        layers.insert(0, band.encode(x=marks.same_axis(x, "from"), x2="to:Q"))
    if beyond:
        parts = frame[frame.value == end].assign(start=0.0, cut=high + 0.3 * (end - high), on=end)
        lead = alt.Chart(parts).mark_rule(strokeDash=[2, 3], color=theme.colour(colours.SOFT))
        layers.append(lead.encode(x=marks.same_axis(x, "start"), x2="on:Q", y=y))
        cut = alt.Chart(parts).mark_text(text="//", fontSize=marks.PANEL_TITLE, color=theme.ink)
        layers.append(cut.encode(x=marks.same_axis(x, "cut"), y=y))
    for undecided, group in frame.groupby("undecided"):
        hue = marks.hues("group", colour, marks.legend(columns=2))
        layers += marks.row_plot(group, x=x, y=y, theme=theme, color=hue, filled=not undecided, tooltip=tooltip)
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
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=marks.ROW * len(titles))


def written(row: VariantRow) -> str:
    """The printed numbers of a row: its difference with the places that it may have; of the baseline, its loss."""
    if row.outcome == "baseline" and row.loss is not None:
        number = f"loss {row.loss:.2f}"
    else:
        number = signed_or_zero(row.gap.value) if row.gap else ""
    return f"{number} ({rank})" if (rank := places(row)) else number


def places(row: VariantRow) -> str:
    """The places that a row may have: `3` or `1 to 4`; empty for a row that is not judged."""
    if not row.rank:
        return ""
    first, last = row.rank
    return str(first) if first == last else f"{first} to {last}"
