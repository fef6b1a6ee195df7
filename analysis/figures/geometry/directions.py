"""The first directions of the position table, with what they hold of positions and of words."""

from dataclasses import dataclass

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import colours
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import (
    RAW,
    Estimate,
    GeometryParameters,
    estimate,
    geometry_figure,
    run_settings,
    stored_rows,
)
from analysis.store import read

MOST = 0.9
"""The share of the positions of which the caption says how many directions hold it."""
WORTH = 0.01
"""The least that positions give a model's sentence similarity for shares of it to be drawn: the line of C10d."""


FALLS = 0.01
"""The least share by which the line of a cut falls after its highest point for the caption to say why."""


@dataclass(frozen=True)
class Held:
    """The shares of positions and of words, of all that varies in each, in the first `rank` of `width` directions.

    rank: the effective rank of the positions, where `words` settles what so many directions hold of the words; else
    `measured`. words: their share in the first `measured` directions, and that in as many random ones as its baseline.
    effective: the effective rank, rounded. curves: the stored rows of both.
    """

    rank: int
    measured: int
    effective: int
    width: int
    positions: float
    words: Estimate
    curves: pd.DataFrame


def held(model: str) -> Held:
    """The shares in as many directions as the positions' effective rank. Raises NoResults.

    Words were measured at a few ranks. The next one at or above the effective rank bounds what fewer directions hold;
    where that bound is not below what as many random directions hold, it is the next rank that is told.
    """
    words = stored_rows(model, "word_energy_in_position")
    words = words[words.subject == "centred"]
    if words.empty:
        stored_rows(model, "abs_cosine")  # Says why, where words and positions are no summands.
    width = int(stored_rows(model, "dimension_energy").along.max()) + 1
    positions = stored_rows(model, "energy_in_top")
    positions = positions[positions.subject == "position_centred"]
    by_rank = positions.set_index("along").value
    ranks = sorted(rank for rank in words.along if rank in by_rank.index)
    effective = round(estimate(stored_rows(model, "effective_rank"), "effective_rank", "position_centred").value)
    measured = next((rank for rank in ranks if rank >= effective), ranks[-1])
    row = words[words.along == measured].iloc[0]
    settled = effective < measured and row.value < row.baseline_low * effective / measured
    rank = effective if settled and effective in by_rank.index else int(measured)
    return Held(
        rank=rank,
        measured=int(measured),
        effective=effective,
        width=width,
        positions=float(by_rank[rank]),
        words=Estimate(row.value, row.low, row.high, row.baseline, row.baseline_low, row.baseline_high, row.samples),
        curves=pd.concat([positions.assign(series="positions"), words.assign(series="words")], ignore_index=True),
    )


@dataclass(frozen=True)
class CutApart:
    """The sentence similarity of a model whose sum is cut apart: words kept out of directions, positions inside them.

    rows: one a number of directions, `along`, with the correlation, and `value`: how much is left of what positions
    give, 0 being the mean position everywhere and 1 the model as trained. Empty where it was not measured.
    """

    intact: float
    without: float
    rows: pd.DataFrame

    @property
    def worth(self) -> float:
        """The part of the similarity that positions give."""
        return self.intact - self.without

    def at(self, rank: int) -> float | None:
        """The share that is left with so many directions; None where it was not measured or hardly any can be lost."""
        found = self.rows.value[self.rows.along == rank]
        return None if found.empty or self.worth < WORTH else float(found.iloc[0])


def cut_apart(model: str) -> CutApart | None:
    """The newest surgery that cuts a model apart along its positions' directions; None where there is none."""
    found = read.query(
        "SELECT operation, rank::DOUBLE AS along, value AS correlation, low, high FROM newest_surgery WHERE model = ? "
        "AND operation IN ('intact', 'mean_position', 'separated') ORDER BY rank",
        [model],
    )
    by_operation = dict(list(found.groupby("operation")))
    if len(by_operation) < 3:
        return None
    intact, without = (float(by_operation[name].correlation.iloc[0]) for name in ("intact", "mean_position"))
    rows = by_operation["separated"].assign(value=lambda x: (x.correlation - without) / (intact - without))
    return CutApart(intact, without, rows.reset_index(drop=True))


@figure("geometry_directions", GeometryParameters)
def directions(params: GeometryParameters) -> Figure:
    """Share of positions and of words in the first k directions of the position table.

    Raises NoResults where none is stored of the model.
    """
    found, cut = held(params.model), cut_apart(params.model)
    words = found.words
    hold = f"{found.rank} of {found.width} directions hold {percent(found.positions)} of what varies in positions"
    also = f"{percent(words.value, 1)} of what varies in words"
    by_chance = f"{found.measured} random directions hold {percent(words.baseline, 1)}"
    together = found.rank == found.measured
    of_words = f"words were measured in {found.measured}, which hold {also}"
    text = f"{hold} and {also}; {by_chance}" if together else f"{hold}; {of_words}; {by_chance}"
    left = cut.at(found.rank) if cut else None
    kept = f"with words kept out of them, the model keeps {percent(left)} of what positions give it" if left else ""
    positions = found.curves[found.curves.series == "positions"]
    most = positions.along[positions.value >= MOST].min()
    return geometry_figure(
        "Do words and positions use directions of their own?",
        found.curves,
        caption=(
            "Share of what varies in each table that lies in the first k directions of the position table, strongest "
            f"first. Both tables of {readable(params.model)} have their mean row subtracted: as they stand, words and "
            f"positions also share the directions of their means. {RAW} {text}. Blue dots: the numbers of directions "
            f"in which words were measured. {most:.0f} directions hold {percent(MOST)} of the positions. Grey: k of "
            f"{found.width} random directions hold k/{found.width} of anything on average; "
            f"{run_settings(found.curves)['draws']} random draws of {found.measured} directions held "
            f"{percent(words.baseline_low, 1)} to {percent(words.baseline_high, 1)} of the words. {_of_the_cut(cut)}"
        ).rstrip(),
        alt=f"{text}.",
        finding=f"{hold}; {kept}" if kept else text,
        draw=lambda theme: [_curves(found, cut if left else None, theme)],
    )


def _of_the_cut(cut: CutApart | None) -> str:
    """Sentences on the black line, or on why there is none; empty where no model was cut apart."""
    if cut is None:
        return ""
    ends = f"{cut.intact:.3f} as trained, {cut.without:.3f} with the mean position everywhere"
    if cut.worth < WORTH:
        return f"Sentence similarity (STS-B) is {ends}: too little for shares of what positions give it."
    rows = cut.rows.sort_values("along")
    best = rows.iloc[int(rows.value.argmax())]
    later = rows[rows.along > best.along]
    falls = (
        f" After {best.along:.0f} directions it falls again: each further direction that positions keep is one that "
        "words lose."
    )
    return (
        "Black: how much is left of what positions give sentence similarity (STS-B) when words are kept out of the "
        f"first k directions and positions inside them: {ends}."
        + falls
        * bool(len(later) and best.value - later.value.min() > FALLS)
    )


def _curves(found: Held, cut: CutApart | None, theme: Theme) -> Chart:
    """Shares against the number of directions, on a logarithmic axis; names and numbers stand at the curves.

    cut: of which the share that is left of what positions give is drawn, too.
    """
    blue, brown, soft = (
        theme.colour(colour) for colour in (colours.TERMS["word"], colours.TERMS["position"], colours.SOFT)
    )
    rows = panels.chart_rows(found.curves)
    ends = pd.DataFrame({"along": [float(found.width)], "value": [1.0], "series": ["positions"]})
    rows = pd.concat([rows[["along", "value", "series"]], ends], ignore_index=True)
    words = rows[rows.series == "words"]
    random = pd.DataFrame({"along": range(1, found.width + 1)}).assign(value=lambda frame: frame.along / found.width)
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tick <= found.width]
    x = marks.number(
        alt.X, "along", "directions of the position table, strongest first", domain=(1, found.width), log=10,
        values=ticks, form="d", grid=False,
    )  # fmt: skip
    y = marks.number(
        alt.Y,
        "value",
        "share" if cut else "share of what varies",
        domain=(0, 1),
        form="%",
        ticks=5,
    )
    tooltip: tuple[marks.Tip, ...] = ("of", ("along:Q", "directions"), ("value", "share", ".1%"))
    lines = marks.line_plot(
        rows.assign(of=rows.series), x=x, y=y, theme=theme, dots=0, tooltip=tooltip,
        color=marks.hues("series", {"positions": brown, "words": blue}),
    )  # fmt: skip
    # Near the right edge names stand at the left of their dots, where that of random directions must leave them room.
    late = found.rank > found.width / 4
    low = 0.2 if late else 0.42
    # Left of the dot a name is clear of the black line, which lies below the positions at the dot's right.
    left, dx, dy = (True, -40, 8) if cut else (True, -12, 24) if late else (False, 12, 28)
    name = f"{percent(found.positions)} of what\nvaries in positions"
    which = "" if found.rank == found.measured else ",\nnext measured,"
    others = (
        f"{found.measured} directions{which} hold\n{percent(found.words.value, 1)} of words,\n"
        f"random ones {percent(found.words.baseline, 1)}"
    )
    named = pd.DataFrame(
        [
            {"along": found.rank, "value": found.positions, "hue": brown, "align": "right" if left else "left",
             "dx": dx, "dy": dy, "name": name},
            {"along": found.rank, "value": found.words.value, "hue": blue, "align": "right", "dx": -10,
             "dy": -16 - 14 * others.count("\n"),
             "name": others},
            {"along": found.width * low, "value": low, "hue": soft, "align": "right", "dx": -10, "dy": -6,
             "name": "random"},
            {"along": words.along.max(), "value": words.value.iloc[int(words.along.argmax())], "hue": blue,
             "align": "left", "dx": 8, "dy": 0, "name": f"measured\nup to {words.along.max():.0f}"},
        ]
    )  # fmt: skip
    at_rank = named.head(2).assign(along=[found.rank, found.measured])
    score = _score(cut, found.rank, x, y, theme) if cut else []
    return marks.panel(
        marks.rule(theme, x=found.rank, dash=marks.DASH),
        alt.Chart(random).mark_line(color=soft, strokeWidth=1.5).encode(x=x, y=y),
        *lines,
        *marks.line_plot(words, x=x, y=y, theme=theme, color=blue, width=0, dots=marks.SEED),
        alt.Chart(at_rank)
        .mark_point(filled=True, opacity=1, size=marks.LARGE_DOT)
        .encode(x=x, y=y, color=alt.Color("hue:N", scale=None)),
        *score,
        *panels.names_at(named, x, y, theme),
        theme=theme,
        width=marks.WIDE,
        height=340,
    )


def _score(cut: CutApart, rank: int, x: alt.X, y: alt.Y, theme: Theme) -> list[Chart]:
    """The share that is left of what positions give when the sum is cut apart, with its number at `rank`."""
    left = f"sentence similarity:\n{percent(cut.at(rank) or 0.0)} left of what\npositions give it"
    name = {"along": rank, "value": cut.at(rank), "hue": theme.ink, "align": "left", "dx": 12, "dy": 40,
            "name": left}  # fmt: skip
    lines = marks.line_plot(
        cut.rows, x=x, y=y, theme=theme, color=theme.ink, dots=marks.SEED,
        tooltip=(("along:Q", "directions for positions"), ("value", "left", ".0%"), ("correlation", "", ".3f"),
                 *marks.interval_tips(".3f")),
    )  # fmt: skip
    return [*lines, *panels.names_at(pd.DataFrame([name]), x, y, theme)]
