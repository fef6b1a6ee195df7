"""Figures of one text: the maps of its terms, and every head's shares and effects on it."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
import pandas as pd
from numpy import ndarray
from pydantic import Field

from analysis.ablation.variants import readable
from analysis.core.errors import LinkError
from analysis.core.formatting import capitalised, percent, sentences, signed_percent, uncapitalised
from analysis.core.term_names import ADDED_TERMS, TERMS
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import STRONGEST, Figure, LiveRun, Parameters, figure, one_of
from analysis.figures.heatmap import is_image
from analysis.figures.one_run import cancellation_note, checked_head, map_frame, run_facts, unknown_tokens_note
from analysis.figures.terms.heads import draw_heads, leading_terms, negligible_note, without_negligible
from analysis.figures.terms.measures import (
    CITATION_KEYS,
    MEASURES,
    ORDER,
    MeasureParameters,
    assumption_note,
    measure_note,
    term_label,
)
from analysis.figures.terms.token_maps import (
    MAP_SIDE,
    negative_shares_note,
    own_limit,
    pattern_map,
    share_in_words,
    short_share,
    small_maps,
    times_as_strong,
    token_map,
)
from analysis.links import SECOND_HEAD
from analysis.measurements.terms.result import FOUR, SOURCES, Decomposition
from analysis.measurements.terms.token_view import TokenView, token_view
from analysis.probes import text_probe

LEAST_ROWS = 4
"""Rows of a map below which a place that most of them share says nothing."""
GROUPS = {"four": FOUR, "all": TERMS}
NO_CHOICE = "Undefined here: no query has two keys to choose between that differ."


NO_SOURCE = {
    "rotated": "This model rotates its queries and keys by position: position multiplies, so no summand of its hidden "
    "states is position, and it sits inside every term. Scores against distance show it; so do interventions.",
    "score_bias": "This model adds a bias for the distance to its scores: no summand of its hidden states is position. "
    "The term score_bias holds it.",
    "disentangled": "This model compares content with embeddings of the distance in its scores: the terms content to "
    "distance and distance to content hold those comparisons.",
}
"""The way in which positions enter a model -> the reason why position is not among its sources."""


class HeadParameters(Parameters):
    """One head."""

    head: int


class TermHeadParameters(HeadParameters):
    """One head; STRONGEST: the one in which the scores vary most by `term`; SECOND_HEAD: the next."""

    term: str = "position_to_position"


class ViewParameters(TermHeadParameters):
    """The arrangement of a head's maps, and the rows of them that are shown.

    words: whether pieces are averaged to words. specials: whether special tokens are shown. centred: whether each row
    is shown minus its mean. first_row, last_row: indices of the rows shown first and last; -1 is the last row of all.
    query, key: the index of one cell of the maps; -1 is the cell where attention is strongest.
    """

    words: bool = False
    specials: bool = True
    centred: bool = True
    first_row: int = Field(0, alias="from")
    last_row: int = Field(-1, alias="to")
    query: int = -1
    key: int = -1


class MapParameters(ViewParameters):
    """group: whether the four terms of word and position are shown, or all."""

    group: Annotated[str, one_of(GROUPS)] = "four"


TERMS_RUN = LiveRun(
    obtain=text_probe.obtain, provenance=run_facts, command=text_probe.command, citation_keys=CITATION_KEYS
)


def _error_note(decomposition: Decomposition) -> str:
    provenance = decomposition.provenance
    return (
        f"Sum of the terms against the model's own scores: {decomposition.max_error:.1e} at most "
        f"({decomposition.relative_error:.1e} of their range); patterns: {decomposition.pattern_error:.1e} "
        f"({provenance.dtype} on {provenance.device}). {cancellation_note(decomposition.cancellation)}"
    )


def description(decomposition: Decomposition, head: int | None = None) -> str:
    """The model, the layer, the head and the length of the text of a figure."""
    cut = f", cut from {decomposition.provenance.truncated_from}" if decomposition.provenance.truncated_from else ""
    heads = f", head {head}" if head is not None else f", {decomposition.heads} heads"
    text = f" ({unknown_tokens_note(decomposition)})" if unknown_tokens_note(decomposition) else ""
    return (
        f"{readable(decomposition.provenance.model)}, layer {decomposition.layer}{heads}, one text of "
        f"{len(decomposition.tokens)} tokens{cut}{text}"
    )


def visible_terms(decomposition: Decomposition) -> tuple[str, ...]:
    """The terms that this model has here: those of word and position (of context and position, by means) first."""
    order = (*ORDER, *ADDED_TERMS, *decomposition.names)
    return tuple(
        dict.fromkeys(
            sorted(decomposition.present, key=lambda term: (term not in four(decomposition), order.index(term)))
        )
    )


def four(decomposition: Decomposition) -> tuple[str, ...]:
    """The terms that the question is about, under the method's own names; and the score bias."""
    terms = FOUR if decomposition.method != "mean" else tuple(term.replace("word", "context") for term in FOUR)
    return (*terms, *ADDED_TERMS)


REST = "all_others"
SMALL_SHARE = 0.15
"""The share of what varies below which a term with strong scores is explained."""
SQUARE = 0.74
"""Height of a map over the width of its place, at which cells are nearly square beside the names of rows."""


def with_rest(decomposition: Decomposition, values: Mapping[str, float]) -> dict[str, float]:
    """The values of the four main terms, and the sum of all others under `REST`."""
    main = {term: value for term, value in values.items() if term in four(decomposition)}
    others = [value for term, value in values.items() if term not in main]
    return main | ({REST: float(sum(others))} if others else {})


def method_assumption(decomposition: Decomposition) -> str:
    """A sentence on the quantities that the method holds fixed or estimates."""
    if decomposition.method != "mean":
        return assumption_note(decomposition.layer, decomposition.freeze)
    return (
        "Method mean: hidden states split into mean, position, context and residual, estimated over "
        f"{decomposition.reference}; "
        "a position's part holds also the average word that stands there."
    )


def heads_by_terms(
    decomposition: Decomposition, terms: Sequence[str], measure: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A measure of some terms: a row a head and a column a term, and the same with a row for each number."""
    by_term = decomposition.shares() if measure == "share" else decomposition.effects()
    table = pd.DataFrame(by_term)[list(terms)].rename_axis("head")
    return table, table.reset_index().melt("head", var_name="term", value_name=measure)


@figure("probe_heads", MeasureParameters, live=TERMS_RUN)
def probe_heads(params: MeasureParameters, decomposition: Decomposition) -> Figure:
    """Every head's terms, on one text."""
    measure = params.measure
    table, long = heads_by_terms(decomposition, visible_terms(decomposition), measure)
    constant = "" if table.notna().to_numpy().any() else f"{NO_CHOICE} "
    leading = leading_terms(table)
    return Figure(
        title="Every head on this text",
        finding=f"At layer {decomposition.layer}, {uncapitalised(leading)}" if leading else "",
        frame=lambda: long,
        caption=(
            f"{capitalised(MEASURES[measure])}, {description(decomposition)}. {constant}{measure_note(measure)} "
            f"{negligible_note(table)}{method_assumption(decomposition)} {_error_note(decomposition)}"
        ),
        alt=f"Heat map of {decomposition.heads} heads by {table.shape[1]} terms on one text of "
        f"{len(decomposition.tokens)} tokens.",
        draw=lambda theme: [draw_heads(without_negligible(table), measure, theme)],
    )


def leading_term(decomposition: Decomposition, head: int) -> str:
    """The term with the largest share of what varies in the scores of a head; the first one where none is defined."""
    shares = decomposition.shares()
    return max(visible_terms(decomposition), key=lambda term: float(np.nan_to_num(shares[term][head], nan=-np.inf)))


def mapped_terms(params: MapParameters, decomposition: Decomposition, heads: Sequence[int]) -> list[str]:
    """The terms with a map of their own: the four, or all, and what leads one of the heads, whichever term that is."""
    visible = visible_terms(decomposition)
    leads = {leading_term(decomposition, head) for head in heads}
    return [term for term in visible if params.group == "all" or term in four(decomposition) or term in leads]


def place_note(name: str, values: ndarray) -> str:
    """A sentence on the place, relative to its own, to which most rows of a square map give their largest score.

    Empty where no place has most rows.

    >>> place_note("position → position", np.eye(6, k=-1))
    'In 5 of 6 rows of position → position the largest score is at the token one place back.'
    """
    count = len(values)
    places, rows = np.unique(values.argmax(axis=1) - np.arange(count), return_counts=True)
    most, place = int(rows.max()), int(places[rows.argmax()])
    if 2 * most <= count or count < LEAST_ROWS:
        return ""
    far = "one place" if abs(place) == 1 else f"{abs(place)} places"
    where = "itself" if place == 0 else f"{far} {'back' if place < 0 else 'ahead'}"
    return f"In {most} of {count} rows of {name} the largest score is at the token {where}."


def strong_row_note(decomposition: Decomposition, head: int, terms: Sequence[str]) -> str:
    """A sentence on a term with a small share whose map is strong in one row, and on the rows that outweigh that."""
    names = visible_terms(decomposition)
    view = token_view(decomposition, head, names, words=False, specials=True, centred=True)
    whole = float((view.total**2).sum())
    limit, shares = score_limit(view), decomposition.shares()
    strong = {
        term: view.terms[term]
        for term in terms
        if abs(float(shares[term][head])) < SMALL_SHARE and np.abs(view.terms[term]).max() > limit / 2
    }
    if not strong or not whole:
        return ""
    term = max(strong, key=lambda name: float(np.abs(strong[name]).max()))
    squares = (strong[term] ** 2).sum(-1)
    row = int(squares.argmax())
    if squares[row] < squares.sum() / 2:
        return ""
    parts = (strong[term] * view.total).sum(-1) / whole
    return (
        f"{capitalised(term_label(term))} is strong in the row of “{view.labels[row]}”: "
        f"{signed_percent(float(parts[row]))} there and {signed_percent(float(parts.sum() - parts[row]))} in all other "
        f"rows make its {percent(float(shares[term][head]))}."
    )


def _head_view(params: MapParameters, decomposition: Decomposition) -> tuple[int, TokenView, float]:
    """The head, its maps of the rows that the link asks for, and the scale of all its rows: parts of a map compare."""
    terms = mapped_terms(params, decomposition, [shown_head(params, decomposition)])
    head, view = viewed_head(params, decomposition, terms)
    return head, view.part(*row_range(params, len(view.labels))), score_limit(view)


def shown_head(params: TermHeadParameters, decomposition: Decomposition) -> int:
    """The head that a link asks for. Raises LinkError where the model has none of that number."""
    if params.head == STRONGEST:
        return strongest_head(decomposition, params.term)
    if params.head == SECOND_HEAD:
        return second_head(decomposition, params.term)
    return checked_head(params.head, decomposition.heads)


def strongest_head(decomposition: Decomposition, term: str) -> int:
    """The head with the largest share of a term; of the first term that the model has, where it has not this one."""
    return _heads_by_share(decomposition, term)[0]


def second_head(decomposition: Decomposition, term: str) -> int:
    """The head with the largest share of a term after the strongest; that one, where the layer has no other."""
    return _heads_by_share(decomposition, term)[:2][-1]


def _heads_by_share(decomposition: Decomposition, term: str) -> list[int]:
    named = next((name for name in (term, *visible_terms(decomposition)) if name in decomposition.present), "")
    shares = np.nan_to_num(decomposition.shares()[named]) if named else np.zeros(decomposition.heads)
    return np.argsort(-shares, kind="stable").tolist()


def row_range(params: ViewParameters, rows: int) -> tuple[int, int]:
    """The first and the last row that a link asks for, of so many. Raises LinkError where there are no such rows."""
    first, last = params.first_row, rows - 1 if params.last_row == -1 else params.last_row
    if not 0 <= first <= last < rows:
        raise LinkError(f"The link says from={first} and to={last}; this map has the rows 0 to {rows - 1}.")
    return first, last


def viewed_head(params: ViewParameters, decomposition: Decomposition, terms: Sequence[str]) -> tuple[int, TokenView]:
    """The head that a link asks for, and its maps of some terms, arranged as the link says."""
    head = shown_head(params, decomposition)
    view = token_view(decomposition, head, terms, words=params.words, specials=params.specials, centred=params.centred)
    if not view.labels:
        raise LinkError("Nothing is left to show: the text has special tokens only. Show the special tokens.")
    return head, view


def score_limit(view: TokenView) -> float:
    """One scale for every map of a head: terms, rest and total, so that they can be compared."""
    return float(max(np.abs(x).max() for x in (*view.terms.values(), view.rest, view.total))) or 1.0


def _view_description(params: ViewParameters, view: TokenView) -> str:
    sentences = ["key-centred (each row minus its mean)" if params.centred else "as they are, before centring"]
    if params.words:
        sentences.append("word pieces averaged to words")
    if not params.specials:
        sentences.append("special tokens hidden")
    if (params.first_row, params.last_row) != (0, -1):
        sentences.append(f"rows and columns {view.first} to {view.first + len(view.labels) - 1}")
    return ", ".join(sentences)


def _shares_notes(decomposition: Decomposition, head: int, mapped: Sequence[str]) -> list[str]:
    """Lines on the shares that have no map of their own, and on those below zero."""
    shares = {term: float(values[head]) for term, values in decomposition.shares().items()}
    rest = [shares[term] for term in decomposition.present if term not in mapped]
    others = f"The rest, segments and biases: {percent(float(sum(rest)))}" if rest else ""
    negative = any(percent(shares[term]).startswith("−") for term in mapped)
    return [line for line in (others, "Below 0 %: works against the other terms" if negative else "") if line]


@figure("probe_maps", MapParameters, live=TERMS_RUN)
def probe_maps(params: MapParameters, decomposition: Decomposition) -> Figure:
    """The terms of one head, side by side on one scale."""
    head, view, limit = _head_view(params, decomposition)
    maps = view.terms
    shares = {term: share_in_words(float(decomposition.shares()[term][head])) for term in maps}
    lead = leading_term(decomposition, head)
    small = {term: values for term, values in maps.items() if term != lead}
    columns = 2 if len(maps) <= len(FOUR) + 1 else len(SOURCES)
    # Of a long text every map needs all of its pixels, and of all terms each its own names.
    together = columns == 2 and not is_image(view.total)
    own = own_limit(small.values(), limit)
    notes = _shares_notes(decomposition, head, list(maps))

    def draw(theme: Theme) -> list[Chart]:
        if together and small:
            title = [term_label(lead), shares[lead]]
            shares_of_head = decomposition.shares()
            names = {
                term: f"{short_share(float(shares_of_head[term][head]))}\n" + term_label(term).replace("→ ", "→\n")
                for term in small
            }
            return [
                token_map(
                    maps[lead],
                    view.labels,
                    limit,
                    theme,
                    title=title,
                    legend=own is not None,
                    first=view.first,
                ),
                small_maps(small, names, view.labels, limit, theme, below=notes),
            ]
        return [
            token_map(
                values, view.labels, limit, theme,
                title=[term_label(term), shares[term]],
                # A legend above one map would push it below the other of its row.
                legend=index >= len(maps) - columns, side=MAP_SIDE if columns == 2 else 260, first=view.first,
            )
            for index, (term, values) in enumerate(maps.items())
        ]  # fmt: skip

    return Figure(
        title=f"Head {head}, term by term",
        finding=f"Head {head}: {term_label(lead)} makes up {shares[lead]}",
        frame=lambda: map_frame(maps, view.labels, view.first),
        caption=sentences(
            place_note(term_label(lead), maps[lead]) if not is_image(view.total) else "",
            strong_row_note(decomposition, head, list(maps)),
            f"Pre-softmax scores, {description(decomposition, head)}; {_view_description(params, view)}"
            f"{negative_shares_note(float(decomposition.shares()[term][head]) for term in maps)}. Rows are queries, "
            "columns are keys; "
            + (
                f"the small maps' colours are {times_as_strong(limit, own)} as the large one's."
                if together and own
                else "one scale for all maps of this head."
            ),
            method_assumption(decomposition),
            _error_note(decomposition),
        ),
        alt=f"{len(maps)} maps, {len(view.labels)} tokens a side; the largest share is that of {term_label(lead)}.",
        draw=draw,
        columns=1 if together else columns,
        proportions=(SQUARE, SQUARE / 2) if together else (SQUARE,) * len(maps) if columns == 2 else (),
    )


@figure("probe_total", MapParameters, live=TERMS_RUN)
def probe_total(params: MapParameters, decomposition: Decomposition) -> Figure:
    """The sum of the terms: the terms that are not shown, the total, and the pattern after softmax."""
    head, view, limit = _head_view(params, decomposition)
    rest = {"the other terms": view.rest} if len(view.terms) < len(decomposition.present) else {}
    maps = {**rest, "total": view.total, "pattern": view.pattern}
    source = (
        f"rebuilt from the saved terms, within {decomposition.max_error:.1e} of the model's own score"
        if decomposition.probe_id
        else "the model's own score"
    )
    query, key = np.unravel_index(int(view.pattern.argmax()), view.pattern.shape)

    def draw(theme: Theme) -> list[Chart]:
        scores = {**rest, "total": view.total}
        title = "pattern (softmax of the total)"
        return [
            *(
                token_map(values, view.labels, limit, theme, title=name, first=view.first)
                for name, values in scores.items()
            ),
            pattern_map(view.pattern, view.labels, theme, title=title, first=view.first),
        ]

    return Figure(
        title=f"Head {head}, added up",
        finding=(
            f"Head {head} attends most from “{view.labels[query]}” to “{view.labels[key]}”, with probability "
            f"{view.pattern.max():.2f}"
        ),
        frame=lambda: map_frame(maps, view.labels, view.first),
        caption=(
            f"The total is {source}, on the scale of the maps above; the pattern is its softmax over keys, "
            f"from 0 to {view.pattern.max():.2f}. {description(decomposition, head)}; "
            f"{_view_description(params, view)}."
        ),
        alt=f"The strongest attention is from {view.labels[query]} to {view.labels[key]}, {view.pattern.max():.2f}.",
        draw=draw,
        columns=3,
    )
