"""Sentence similarity of a real model whose sum is cut apart, by the number of directions that positions keep."""

from collections.abc import Mapping
from typing import Annotated

import altair as alt
import pandas as pd

from analysis.core import default_model
from analysis.core.colours import TERMS
from analysis.core.errors import NoResults
from analysis.core.formatting import percent, plural, ranges, signed
from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, whole_number
from analysis.figures.one_run import stored_facts
from analysis.store import read

OWN, RANDOM = "separated", "separated_at_random"
"""The operations: along the positions' own directions, and along directions drawn at random."""
REFERENCES = {"intact": "as trained", "mean_position": "every position\nthe mean"}
"""Operations that keep no number of directions -> their names. The second gives every token the mean position."""
MOST = 64
ROOM = 0.006
"""Correlation between the outermost marks and the ends of the axis."""


def _rows() -> pd.DataFrame:
    return read.query(
        "SELECT * FROM newest_surgery WHERE model = ? AND operation IN (?, ?, ?, ?) ORDER BY operation, rank, draw",
        [default_model.NAME, OWN, RANDOM, *REFERENCES],
    )


def kept_directions() -> list[int]:
    """The numbers of directions, along the positions' own, that were measured; none where no surgery is stored."""
    rows = _rows()
    return [int(rank) for rank in rows[rows.operation == OWN]["rank"]]


def past_the_best() -> str:
    """A sentence on the agreement that is lost again with the most directions; empty where the most are the best."""
    rows = _rows()
    own = rows[rows.operation == OWN].sort_values("rank")
    if own.empty:
        return ""
    best, last = own.iloc[int(own.value.argmax())], own.iloc[-1]
    if f"{best.value:.3f}" == f"{last.value:.3f}":
        return ""
    return (
        f"The curve is highest with {best['rank']:.0f} directions ({best.value:.3f}) and then falls to "
        f"{last.value:.3f} with {last['rank']:.0f}: each direction that positions keep is one that words lose."
    )


def loss(row: pd.Series) -> str:
    """The difference of a cut model from the model as trained, over the same pairs, with its interval."""
    interval = f"95 % interval {signed(row.difference_low, 4)} to {signed(row.difference_high, 4)}"
    return f"{signed(row.difference, 4)} against the model as trained ({interval}, the same pairs)"


class KeptParameters(Parameters):
    """The number of directions that positions keep."""

    kept: Annotated[int, whole_number(1, MOST)]


def finding(kept: int, width: int, part: float) -> str:
    """A sentence on the part that is left of what positions give. part: 1 for all of it; at most 0 for none."""
    start = f"With {plural(kept, 'direction')} for positions and {width - kept} for words, the model keeps"
    left = "nothing" if round(100 * part) <= 0 else percent(min(part, 1)) if part < 1 else "all"
    return f"{start} {left} of what positions give it"


@figure("reading_cut", KeptParameters)
def reading_cut(params: KeptParameters) -> Figure:
    """Spearman's correlation on STS-B, separated along the positions' own directions and along random ones.

    Raises NoResults where the surgery is not stored, or not with this number of directions.
    """
    kept = params.kept
    rows = _rows()
    width = read.query("SELECT hidden_size FROM models WHERE model = ?", [default_model.NAME])
    if rows.empty or width.empty:
        raise NoResults(
            f"No surgery on {default_model.NAME} is stored yet. Run: python -m analysis measure surgery --help"
        )
    own, random = rows[rows.operation == OWN], rows[rows.operation == RANDOM]
    here = own[own["rank"] == kept]
    if here.empty:
        raise NoResults(
            f"The model was not cut with {plural(kept, 'direction')} for positions; measured: "
            f"{ranges(own['rank'].astype(int))}. Run: python -m analysis measure surgery --help"
        )
    references = {name: float(rows[rows.operation == key].value.mean()) for key, name in REFERENCES.items()}
    intact, without = references.values()
    row = here.iloc[0]
    value, hidden = float(row.value), int(width.hidden_size.iloc[0])
    at_random = random[random["rank"] == kept]
    beside = (
        f"Along {plural(kept, 'direction')} drawn at random it is {at_random.value.mean():.3f} on average over "
        f"{plural(len(at_random), 'draw')}."
        if len(at_random)
        else f"Random directions were tried in numbers of {ranges(random['rank'].astype(int).unique())}."
    )
    text = f"Similarity is {value:.3f}: {loss(row)}; {without:.3f} with every position the mean. {beside}"
    frame = rows[["operation", "rank", "draw", "value", "low", "high"]].assign(
        paired_low=intact + rows.difference_low, paired_high=intact + rows.difference_high
    )
    return Figure(
        title="Sentence similarity when words and positions have directions of their own",
        finding=finding(kept, hidden, (value - without) / (intact - without)),
        frame=lambda: frame,
        caption=(
            f"{text} Rank correlation with people's ratings of {row.pairs:,} pairs of sentences (STS-B's dev set; 1 "
            f"is the best). What positions give is the difference between {default_model.NAME} as trained and the same "
            "model with every position the mean. The positions' directions are the leading ones of their "
            "table, strongest first. Band: 95 % interval of the difference from the model as trained, over the same "
            "pairs; grey dots: single draws of random directions."
        ),
        alt=(
            "A line of sentence similarity over the number of directions kept for positions, grey dots of random "
            f"directions below it. {text}"
        ),
        command=f"{row.command}\npython -m analysis export '/read?kept={kept}' --figure reading_cut -o reading_cut.csv",
        provenance=stored_facts(row, task=f"{row.task}, dev set, {row.pairs:,} pairs"),
        citation_keys=("reimers2019sbert", "cer2017stsb"),
        draw=lambda theme: [_draw(frame, kept, value, int(row.pairs), references, theme)],
        proportions=(0.85,),
    )


def _draw(
    frame: pd.DataFrame, kept: int, value: float, pairs: int, references: Mapping[str, float], theme: Theme
) -> Chart:
    """The curve of the positions' own directions, dots of random ones, and the model with all and with none."""
    rows = frame[frame["rank"].notna()]
    own, random = rows[rows.operation == OWN], rows[rows.operation == RANDOM]
    x = marks.number(alt.X, "rank", "directions kept for positions", log=2, values=(1, 2, 4, 8, 16, 32, 64))
    lowest = min(float(rows.value.min()), float(own.paired_low.min())) - 2 * ROOM  # A name stands below the dots.
    highest = max(float(own.paired_high.max()), *references.values()) + ROOM
    name = ["agreement with people's ratings", f"(rank correlation, {pairs:,} pairs of STS-B)"]
    y = marks.number(alt.Y, "value", name, domain=(lowest, highest), ticks=6)
    ends = ("paired_low", "paired_high")
    tooltip: tuple[marks.Tip, ...] = (
        ("rank:Q", "directions"), ("value", "correlation", ".4f"), *marks.interval_tips(".4f", *ends),
    )  # fmt: skip
    colour = theme.colour(TERMS["position"])
    line = marks.line_plot(own, x=x, y=y, theme=theme, color=colour, ends=ends, band=True, width=3, tooltip=tooltip)
    draws = alt.Chart(random).mark_point(filled=True, size=marks.SEED, opacity=0.9, color=GREY)
    draws = draws.encode(x=x, y=y, tooltip=marks.tips(("rank:Q", "random directions"), ("value", "", ".4f")))
    here = pd.DataFrame({"rank": [kept], "value": [value], "text": [f"{value:.3f}"]})
    chosen = alt.Chart(here).encode(x=x, y=y)
    dot = chosen.mark_point(filled=True, size=2.5 * marks.LARGE_DOT, color=colour, opacity=1)
    first, last = own["rank"].min(), own["rank"].max()
    # Above the dot; at the first one the line goes up there, and near the upper reference there is no room.
    crowded = abs(value - max(references.values())) < ROOM and value < own.value.max()
    number = chosen.mark_text(
        align="left" if kept == first else "right" if kept == last else "center",
        dx=14 if kept == first else 0, dy=4 if kept == first else 22 if crowded else -18,
        fontSize=marks.PANEL_TITLE, fontWeight="bold", color=theme.ink,
    )  # fmt: skip
    above, below = (
        alt.Chart(pd.DataFrame({"value": [level], "rank": [first], "text": [f"{name}: {level:.3f}"]}))
        for name, level in references.items()
    )
    style = {"align": "left", "fontSize": marks.TEXT, "color": theme.ink, "lineBreak": "\n", "baseline": "top"}
    words = [above.mark_text(dx=4, dy=-16, **style), below.mark_text(dx=2, dy=5, **style)]
    grey = random[random["rank"] == random["rank"].median()].nsmallest(1, "value").assign(text="random directions")
    label = alt.Chart(grey).mark_text(align="center", dy=16, fontSize=marks.TEXT, color=theme.ink)
    layers = [
        *(marks.rule(theme, y=level, dash=marks.DASH) for level in references.values()),
        draws,
        *line,
        dot,
        number.encode(text=alt.Text("text:N")),
        *(word.encode(x=x, y=y, text="text:N") for word in words),
        label.encode(x=x, y=y, text=alt.Text("text:N")),
    ]
    return marks.panel(
        *layers, theme=theme, width=marks.WIDE, height=330, title="Sentence similarity of the model after the cut",
        below=[
            "line: along the positions' own directions",
            "band: 95 % interval of what the cut costs",
            f"the axis begins at {lowest:.2f}, not at 0",
        ],
    )  # fmt: skip
