"""The word and the position that decoders read from the sum, and from the state that enters every layer after it."""

import json
from dataclasses import dataclass

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import colours
from analysis.core.errors import NotMeasured
from analysis.core.formatting import consecutive, join_names, percent
from analysis.core.provenance import model_options
from analysis.figures import marks, panels
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, provenance
from analysis.store import read

WORD, EXACT, NEAR = "word", "exact place", "within 3 places"
DECODERS = {
    "discriminant": "discriminants",
    "nearest": "the nearest mean",
    "whitened": "the nearest mean in whitened states",
    "ridge": "a straight line through the places (ridge)",
}
READABLE = 0.9
"""The share of right answers from which something counts as read: the line of the statements C13a and C13b."""
MOSTLY = 0.5
"""The share of right answers from which something that does not count as read is said to be read mostly."""
COLUMNS = ["layer", "target", "decoder", "measure", "value", "low", "high", "chance", "windows", "tokens"]


@dataclass(frozen=True)
class Decoded:
    """Words and positions as read from the states of a model.

    curves: a row a layer and `series`, of the decoder that is right most often there. all: every decoder's stored rows.
    decoders: those of the position of which the best is taken. adds: whether the model adds positions to words, so
    that a sum enters its first layer.
    """

    curves: pd.DataFrame
    all: pd.DataFrame
    decoders: tuple[str, ...]
    adds: bool

    @property
    def decoder(self) -> str:
        """The decoder that reads the exact place in the first state best."""
        rows = self.curves[self.curves.series == EXACT]
        return str(rows[rows.layer == 0].decoder.iloc[0])

    @property
    def begins(self) -> str:
        """The state that enters the first layer, in words."""
        return "the sum" if self.adds else "the first state"

    def at(self, series: str, *, last: bool = False) -> float:
        """The share of right answers in the sum, or in the last state."""
        rows = self.curves[self.curves.series == series]
        return float(rows[rows.layer == (rows.layer.max() if last else 0)].value.iloc[0])


def decoded_states(model: str) -> Decoded:
    """The newest decodings of a model's states. Raises NoResults where there are none of both word and position."""
    rows = read.query(
        "SELECT * FROM newest_decoding WHERE model = ? AND corpus = (SELECT min(corpus) FROM newest_decoding "
        "WHERE model = ?) ORDER BY target, decoder, measure, layer",
        [model, model],
    )
    places = rows[(rows.target == "position") & rows.measure.isin(("exact", "within_3")) & rows.value.notna()]
    stored = set(places.decoder)
    words = rows[(rows.target == "word") & (rows.measure == "top1") & rows.value.notna()]
    if places.empty or words.empty:
        raise NotMeasured(
            f"The states of {readable(model)} were not decoded.",
            read.query("SELECT DISTINCT model FROM newest_decoding ORDER BY model").model,
            f"python -m analysis measure decoding {model_options(model)}",
        )
    parts = {
        WORD: best_at_each_layer(words),
        EXACT: best_at_each_layer(places[places.measure == "exact"]),
        NEAR: best_at_each_layer(places[places.measure == "within_3"]),
    }
    curves = pd.concat([part.assign(series=name) for name, part in parts.items()], ignore_index=True)
    adds = read.query("SELECT adds_positions FROM measured_models WHERE model = ?", [model]).adds_positions
    decoders = tuple(name for name in DECODERS if name in stored)
    return Decoded(curves=curves, all=rows, decoders=decoders, adds=bool(adds.any()))


def best_at_each_layer(rows: pd.DataFrame) -> pd.DataFrame:
    """The row of the decoder that is right most often, of each layer; of equals, the first in `DECODERS`."""
    order = rows.decoder.map({name: place for place, name in enumerate(DECODERS)})
    ordered = rows.assign(order=order).sort_values(["layer", "value", "order"], ascending=[True, False, True])
    return ordered.drop_duplicates("layer").drop(columns="order")


def _counted(curves: pd.DataFrame) -> str:
    """The tokens that each line counts: words that occur often are fewer than positions."""
    counts = curves.drop_duplicates("series").set_index("series").tokens
    words, places = int(counts[WORD]), int(counts[EXACT])
    return (
        f"{words:,} tokens" if words == places else f"{words:,} words (those that occur often) and {places:,} positions"
    )


def read_sentence(word: float, place: float, begins: str) -> str:
    """A sentence, without its full stop, on what is read from the first state, true for every pair of shares."""
    shares = f"the word in {percent(word)} of cases, the exact place in {percent(place)}"
    if min(word, place) >= READABLE:
        return f"Both can be read from {begins}: {shares}"
    if max(word, place) < READABLE:
        return f"Neither can always be read from {begins}: {shares}"
    read, other = ("word", "exact place") if word >= place else ("exact place", "word")
    if min(word, place) >= MOSTLY:
        return f"The {read} can be read from {begins}, the {other} mostly: {shares}"
    return f"The {read} alone can be read from {begins}: {shares}"


@figure("geometry_states", GeometryParameters)
def states(params: GeometryParameters) -> Figure:
    """The share of right answers of a simple decoder, on word and position, from the state entering each layer.

    Raises NoResults where none is stored of the model.
    """
    found = decoded_states(params.model)
    row = found.curves.iloc[0]
    sentence = read_sentence(found.at(WORD), found.at(EXACT), found.begins)
    after = (
        f"after the last layer, the word in {percent(found.at(WORD, last=True))} and the exact place in "
        f"{percent(found.at(EXACT, last=True))}"
    )
    at_the_end = (
        f"after the last layer, in {percent(found.at(WORD, last=True))} and {percent(found.at(EXACT, last=True))}"
    )
    table = found.all[COLUMNS].reset_index(drop=True)
    chance = {name: float(rows.chance.iloc[0]) for name, rows in found.curves.groupby("series")}
    return Figure(
        title="Can word and position be read from every state?",
        finding=f"{sentence}; {at_the_end}",
        frame=lambda: table,
        caption=(
            f"How often a simple decoder is right on {row.windows:,} held-out windows, {_counted(found.curves)}; "
            f"bars are 95 % intervals over windows, dotted is chance. {sentence}; {after}. "
            f"{readable(params.model)}, from the state that enters each layer; texts of {row.corpus}. "
            f"{_which(found)}, fitted on other windows. By chance the word is right "
            f"in {percent(chance[WORD], 1)}, the exact place in {percent(chance[EXACT], 1)} and one within 3 of it in "
            f"{percent(chance[NEAR], 1)}. Intervals are by bootstrap. {other_decoders(found)}"
        ),
        alt=f"{sentence}; {after}.",
        command="\n".join(dict.fromkeys(found.all.command)),
        provenance=_provenance(found.all),
        draw=lambda theme: [_curves(found, theme)],
        columns=1,
    )


def spans(layers: list[int]) -> str:
    """Layers in ascending order, those in a row as one span.

    >>> spans([0, 1, 2, 5])
    '0 to 2 and 5'
    """
    in_rows = consecutive(layers, lambda before, after: after == before + 1)
    return join_names([f"{row[0]} to {row[-1]}" if len(row) > 1 else str(row[0]) for row in in_rows])


def _which(found: Decoded) -> str:
    """A clause on the decoders of which each point takes the best, and on those that it takes for the exact place."""
    if len(found.decoders) == 1:
        return f"Position: {DECODERS[found.decoders[0]]}"
    exact = found.curves[found.curves.series == EXACT].sort_values("layer")
    taken = {str(name): [int(at) for at in rows.layer] for name, rows in exact.groupby("decoder", sort=False)}
    by = [f"{DECODERS[name]}{f' (layers passed: {spans(at)})' * (len(taken) > 1)}" for name, at in taken.items()]
    return (
        f"Each point is of the better of the stored decoders, {len(found.decoders)} of position, as in statement C13b; "
        f"the exact place by {join_names(by)}"
    )


def other_decoders(found: Decoded) -> str:
    """Sentences that give what the other decoders of position read from the sum, and why they differ; or nothing."""
    sums = found.all[(found.all.layer == 0) & (found.all.target == "position")]
    exact = sums[(sums.measure == "exact") & (sums.decoder != found.decoder) & sums.value.notna()]
    said = [f"{DECODERS.get(row.decoder, row.decoder)} {percent(row.value)}" for _, row in exact.iterrows()]
    error = sums[(sums.decoder == "ridge") & (sums.measure == "mean_absolute_error") & sums.value.notna()]
    parts = []
    if said:
        parts.append(
            f"From the same sums other decoders name the exact place as often as they can: {join_names(said)}."
        )
    if len(error):
        parts.append(
            f"{DECODERS['ridge'][0].upper()}{DECODERS['ridge'][1:]} misses it by {error.value.iloc[0]:.1f} places on "
            "average: it must find one direction along which places lie evenly, and positions lie on a bent curve."
        )
    if {"whitened"} <= set(exact.decoder) and found.decoder == "discriminant":
        parts.append(
            "Whitening divides every direction by how much all states vary along it, and so takes from positions what "
            "sets them apart; discriminants divide by what varies within one place."
        )
    return " ".join(parts)


def _provenance(rows: pd.DataFrame) -> dict[str, str]:
    """The provenance of decodings, whose runs name a seed where they have one."""
    configs = [json.loads(config) for config in rows.config.dropna()]
    if configs and "seed" in configs[-1]:
        return provenance(rows)
    return provenance(rows.assign(config=json.dumps({"seed": "none"})))


def _curves(found: Decoded, theme: Theme) -> Chart:
    """One curve each for the word, the exact place and a place within three, named at their ends; chance dotted."""
    blue, brown = theme.colour(colours.TERMS["word"]), theme.colour(colours.TERMS["position"])
    hues = {WORD: blue, EXACT: brown, NEAR: brown}
    curves = found.curves
    last = int(curves.layer.max())
    rows = curves[["layer", "series", "value", "low", "high", "chance"]].assign(of=curves.series)
    x = marks.number(
        alt.X, "layer", f"layers passed (0: {found.begins})", domain=(0, last), values=list(range(last + 1)), form="d",
        grid=False, padding=8,
    )  # fmt: skip
    # The names need the same pixels on every screen.
    x["scale"]["domain"], x["scale"]["domainMin"] = alt.Undefined, 0
    x["scale"]["domainMax"] = alt.expr(f"{last} * width / (width - {NAMES})")
    y = marks.number(alt.Y, "value", "right on held-out text", domain=(0, 1), form="%", ticks=5)
    lines = marks.line_plot(
        rows, x=x, y=y, theme=theme, ends=("low", "high"), dots=marks.SEED, color=marks.hues("series", hues),
        dash=marks.dashes("series", {WORD: [1, 0], EXACT: [1, 0], NEAR: [4, 3]}),
        tooltip=("of", ("layer:Q", "state entering layer"), ("value", "right", ".1%"), ("chance", "by chance", ".1%")),
    )  # fmt: skip
    dotted = alt.Chart(rows).mark_line(strokeDash=[1, 4], strokeWidth=marks.LINE, strokeCap="round")
    by_chance = dotted.encode(x=x, y=marks.same_axis(y, "chance"), color=marks.hues("series", hues), detail="series:N")
    return marks.panel(
        by_chance,
        *lines,
        *panels.names_at(_names(rows, hues, last), x, y, theme),
        theme=theme,
        width=marks.WIDE,
        height=340,
    )


NAMES = 132
"""Pixels of the names at the right of the curves."""
GAP = 0.1
"""The least distance between the names of two curves, as a part of the axis."""


def _names(rows: pd.DataFrame, hues: dict[str, str], last: int) -> pd.DataFrame:
    """The curves' names beside their ends, moved apart where two end at nearly the same height."""
    ends = rows[rows.layer == last].sort_values("value", ignore_index=True)
    heights: list[float] = []
    for value in ends.value:
        heights.append(max(float(value), heights[-1] + GAP if heights else 0.0))
    overflow = max(0.0, heights[-1] - 1.0)
    heights = [height - overflow for height in heights]
    return pd.DataFrame(
        [
            {"layer": last, "value": height, "hue": hues[row.series], "align": "left", "dx": 10, "dy": 0,
             "name": f"{row.series}: {percent(row.value)}\n(by chance {percent(row.chance, 1)})"}
            for height, (_, row) in zip(heights, ends.iterrows(), strict=True)
        ]
    )  # fmt: skip
