"""Figures of one text: the maps of its terms, and every head's shares and effects on it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis import probes
from analysis.errors import LinkError
from analysis.figures.base import Figure, Params, figure
from analysis.figures.one_run import cancelled, facts, head_of, map_frame, unknown
from analysis.figures.terms import CITE, MEASURES, ORDER, held, measure_of, one_of, reading, spoken
from analysis.figures.words import begun, number, signed
from analysis.sources import ADDED_TERMS, TERMS
from analysis.terms.arrange import Arranged, arrange
from analysis.terms.result import FOUR, SOURCES, Decomposition

GROUPS = {"four": FOUR, "all": TERMS}
NO_CHOICE = "Undefined here: no query has two keys to choose between that differ."


NO_SOURCE = {
    "rotated": "This model turns its queries and keys by position: position multiplies, so no summand of its hidden "
    "states is position, and it sits inside every term. Scores against distance show it; so do interventions.",
    "score_bias": "This model adds a bias for the distance to its scores: no summand of its hidden states is position. "
    "The term score_bias holds it.",
    "disentangled": "This model compares content with embeddings of the distance in its scores: the terms content to "
    "distance and distance to content hold those comparisons.",
}
"""Why there is no position among the sources, by how positions enter."""


@figure("probe_distance", live=probes.obtain)
def probe_distance(params: Params, made: Decomposition) -> Figure:
    """The scores of one head against how far the key stands from the query."""
    head = head_of(params, made.heads)
    seen = np.ones(made.scores.shape[1:], dtype=bool) if made.attended is None else made.attended
    query, key = np.nonzero(seen)
    distance = key - query
    aways, place, pairs = np.unique(distance, return_inverse=True, return_counts=True)
    rows = []
    for name in ("total", *(term for term in four(made) if term in made.present)):
        scores = made.scores[head] if name == "total" else made.terms_of(name, head)
        kept = np.where(seen, scores, 0)
        values = (scores - kept.sum(-1, keepdims=True) / seen.sum(-1, keepdims=True))[query, key]
        mean = np.bincount(place, values) / pairs
        sd = np.sqrt(np.bincount(place, (values - mean[place]) ** 2) / pairs)
        rows.append(pd.DataFrame({"term": name, "distance": aways, "mean": mean, "sd": sd, "pairs": pairs}))
    frame = pd.concat(rows, ignore_index=True)
    total = rows[0]["mean"].to_numpy()
    high, low = (signed(float(aways[at]), 0) for at in (total.argmax(), total.argmin()))
    told = f"The total is highest {high} tokens away ({number(float(total.max()))}), lowest {low} away."
    why = NO_SOURCE.get(made.position_kind, "")
    return Figure(
        name="probe_distance",
        title=f"Head {head}, scores against distance",
        frame=lambda: frame,
        caption=(
            "Key-centred scores, mean over the pairs of tokens at each distance, key less query (negative: before), of "
            f"the total and of each term; {_where(made, head)}. {told} Far distances have few pairs (see the data). "
            f"{assumed(made)} {why}"
        ),
        alt=f"Lines against distance from {int(distance.min())} to {int(distance.max())}. {told}",
        command=probes.command(made),
        provenance=facts(made.provenance),
        citation_keys=CITE,
        content={
            "frame": frame.assign(series=frame.term.map(spoken)),
            "order": [spoken(x) for x in frame.term.unique()],
        },
    )


def _live_errors(made: Decomposition) -> str:
    about = made.provenance
    return (
        f"Sum of the terms against the model's own scores: {made.max_error:.1e} at most "
        f"({made.relative_error:.1e} of their range); patterns: {made.pattern_error:.1e} "
        f"({about.dtype} on {about.device}). {cancelled(made.cancellation)}"
    )


def _where(made: Decomposition, head: int | None = None) -> str:
    cut = f", cut from {made.provenance.truncated_from}" if made.provenance.truncated_from else ""
    which = f", head {head}" if head is not None else f", {made.heads} heads"
    told = f" ({unknown(made)})" if unknown(made) else ""
    return f"{made.provenance.model}, layer {made.layer}{which}, one text of {len(made.tokens)} tokens{cut}{told}"


def shown(made: Decomposition) -> tuple[str, ...]:
    """The terms that this model has here: those of word and position (of context and position, by means) first."""
    order = (*ORDER, *ADDED_TERMS, *made.names)
    return tuple(dict.fromkeys(sorted(made.present, key=lambda term: (term not in four(made), order.index(term)))))


def four(made: Decomposition) -> tuple[str, ...]:
    """The terms that the question is about, under the method's own names; and the score bias."""
    own = FOUR if made.method != "mean" else tuple(term.replace("word", "context") for term in FOUR)
    return (*own, *ADDED_TERMS)


def assumed(made: Decomposition) -> str:
    """What the method holds or estimates, in a sentence."""
    if made.method != "mean":
        return held(made.layer, made.freeze)
    return (
        f"Method mean: hidden states split into mean, position, context and residual, estimated over {made.reference}; "
        "a position's part holds also the average word that stands there."
    )


@figure("probe_heads", live=probes.obtain)
def probe_heads(params: Params, made: Decomposition) -> Figure:
    """Every head's terms, on one text."""
    measure = measure_of(params)
    by_term = made.shares() if measure == "share" else made.effects()
    table = pd.DataFrame(by_term)[list(shown(made))]
    table.index.name = "head"
    constant = "" if table.notna().to_numpy().any() else f"{NO_CHOICE} "
    long = table.reset_index().melt("head", var_name="term", value_name=measure)
    return Figure(
        name="probe_heads",
        title="Every head on this text",
        frame=lambda: long,
        caption=(
            f"{begun(MEASURES[measure])}, {_where(made)}. {constant}{reading(measure)} "
            f"{assumed(made)} {_live_errors(made)}"
        ),
        alt=f"Heat map of {made.heads} heads by {table.shape[1]} terms on one text of {len(made.tokens)} tokens.",
        command=probes.command(made),
        provenance=facts(made.provenance),
        citation_keys=CITE,
        content={"table": table, "measure": measure, "label": MEASURES[measure]},
    )


def _arranged(params: Params, made: Decomposition) -> tuple[int, Arranged, float]:
    """The head, its maps of the rows that the link asks for, and the scale of all its rows: parts of a map compare."""
    every = shown(made)
    terms = every if one_of(params, "group", GROUPS) == "all" else [term for term in four(made) if term in every]
    head, view = arranged(params, made, terms)
    return head, view.part(*rows_of(params, len(view.labels))), _reach(view)


def rows_of(params: Params, rows: int) -> tuple[int, int]:
    """The first and the last row that a link asks for, of so many. Raises LinkError where there are no such rows."""
    first, last = int(params.get("from", 0)), int(params.get("to", -1))
    last = rows - 1 if last == -1 else last
    if not 0 <= first <= last < rows:
        raise LinkError(f"The link says from={first} and to={last}; this map has the rows 0 to {rows - 1}.")
    return first, last


def arranged(params: Params, made: Decomposition, terms: Sequence[str]) -> tuple[int, Arranged]:
    """The head that a link asks for, and its maps of some terms, arranged as the link says."""
    head = head_of(params, made.heads)
    ways = {name: bool(params[name]) for name in ("words", "specials", "centred")}
    view = arrange(made, head, terms, **ways)
    if not view.labels:
        raise LinkError("Nothing is left to show: the text has special tokens only. Show the special tokens.")
    return head, view


def _reach(view: Arranged) -> float:
    """One scale for every map of a head: terms, rest and total, so that they can be compared."""
    return float(max(np.abs(x).max() for x in (*view.terms.values(), view.rest, view.total))) or 1.0


def _drawn(params: Params, view: Arranged) -> str:
    said = ["key-centred (each row less its mean)" if params["centred"] else "as they are, before centring"]
    if params["words"]:
        said.append("word pieces averaged to words")
    if not params["specials"]:
        said.append("special tokens hidden")
    if params.get("from", 0) or params.get("to", -1) != -1:
        said.append(f"rows and columns {view.first} to {view.first + len(view.labels) - 1}")
    return ", ".join(said)


@figure("probe_maps", live=probes.obtain)
def probe_maps(params: Params, made: Decomposition) -> Figure:
    """The terms of one head, side by side on one scale."""
    head, view, reach = _arranged(params, made)
    maps = view.terms
    largest = max(maps, key=lambda term: float(np.abs(maps[term]).max()))
    share = {term: float(made.shares()[term][head]) for term in maps}
    effect = {term: float(made.effects()[term][head]) for term in maps}
    return Figure(
        name="probe_maps",
        title=f"Head {head}, term by term",
        frame=lambda: map_frame(maps, view.labels, view.first),
        caption=(
            f"Pre-softmax scores, {_where(made, head)}; {_drawn(params, view)}. Rows ask (query), columns answer "
            f"(key); one scale for all maps of this head. {assumed(made)} {_live_errors(made)}"
        ),
        alt=f"{len(maps)} maps, {len(view.labels)} tokens a side; the largest values are in {spoken(largest)}.",
        command=probes.command(made),
        provenance=facts(made.provenance),
        citation_keys=CITE,
        content={
            "maps": maps,
            "labels": view.labels,
            "first": view.first,
            "reach": reach,
            "share": share,
            "effect": effect,
            "columns": 2 if len(maps) <= len(FOUR) + 1 else len(SOURCES),
        },
    )


@figure("probe_total", live=probes.obtain)
def probe_total(params: Params, made: Decomposition) -> Figure:
    """What the terms add up to: the rest, the total, and the pattern after softmax."""
    head, view, reach = _arranged(params, made)
    rest = {"the other terms": view.rest} if len(view.terms) < len(made.present) else {}
    maps = {**rest, "total": view.total, "pattern": view.pattern}
    own = (
        f"rebuilt from the saved terms, within {made.max_error:.1e} of the model's own score"
        if made.probe_id
        else "the model's own score"
    )
    query, key = np.unravel_index(int(view.pattern.argmax()), view.pattern.shape)
    return Figure(
        name="probe_total",
        title=f"Head {head}, added up",
        frame=lambda: map_frame(maps, view.labels, view.first),
        caption=(
            f"The total is {own}, on the scale of the maps above; the pattern is its softmax over keys, "
            f"from 0 to {view.pattern.max():.2f}. {_where(made, head)}; {_drawn(params, view)}."
        ),
        alt=f"The strongest attention is from {view.labels[query]} to {view.labels[key]}, {view.pattern.max():.2f}.",
        command=probes.command(made),
        provenance=facts(made.provenance),
        citation_keys=CITE,
        content={
            "scores": {**rest, "total": view.total},
            "pattern": view.pattern,
            "labels": view.labels,
            "first": view.first,
            "reach": reach,
        },
    )
