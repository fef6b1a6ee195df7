"""Figures of two decompositions side by side: two models, texts, layers, heads or methods, and their difference."""

from collections.abc import Iterable, Sequence
from functools import partial

import altair as alt
import numpy as np
import pandas as pd
from numpy import ndarray

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.colours import of_term
from analysis.core.errors import LinkError
from analysis.core.formatting import UNDEFINED, capitalised, percent, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import STRONGEST, Figure, LiveRun, figure
from analysis.figures.heatmap import outlined
from analysis.figures.one_run import LiveResult
from analysis.figures.terms.cell import selected_cell
from analysis.figures.terms.maps import REST, ViewParameters, four, method_assumption, viewed_head, visible_terms
from analysis.figures.terms.measures import (
    CITATION_KEYS,
    MEASURES,
    NEGLIGIBLE,
    TERM,
    MeasureParameters,
    measure_note,
    term_label,
)
from analysis.figures.terms.token_maps import pattern_map, token_map
from analysis.measurements.terms.result import Decomposition
from analysis.measurements.terms.token_view import TokenView
from analysis.probes import text_probe

Pair = tuple[Decomposition, Decomposition]
SIDES = ("left", "right")
ARROW = " → "
"""Stands between the words of the two sides where a place has another word on each."""
PALE = 4
"""Times by which the largest score of one side exceeds the other's from which each has a scale of its own."""

SIDE_OF_A_MAP = {2: 420, 3: 290}
"""Pixels of a map's side, by how many stand in a row."""
HEIGHT_OF_A_MAP = {2: 460, 3: 430}
"""Pixels of a map with its names and its legend, by how many stand in a row."""
PIXELS_OF_A_LETTER = 8
"""Pixels that a letter of a map's heading takes at most."""
MOST_OF_NAMES = 120
"""The most pixels of the names of rows and columns."""
MOST_OF_A_MAP = 0.5
"""The share of a map's squared scores from which one cell leaves the rest of the map nearly empty."""


class CompareParameters(ViewParameters):
    """The arrangement of the maps on both sides.

    head2: the right side's head, if it differs from the left one's. own_scale: whether each map has its own scale.
    one_scale: whether both have one scale even where one side is pale on it.
    look: the figure that stands below the maps; the cell that it takes apart is outlined in them.
    """

    head2: int = -1
    own_scale: bool = False
    one_scale: bool = False
    look: str = ""

    @property
    def takes_cell_apart(self) -> bool:
        """True if one cell stands below the maps: where a link says so, or names a cell and nothing else to look at."""
        return self.look == "cell" or (not self.look and (self.query, self.key) != (STRONGEST, STRONGEST))

    def sides(self) -> tuple[ViewParameters, ViewParameters]:
        """The parameters of the left and of the right side."""
        head = self.head if self.head2 == text_probe.FOLLOWING["head2"] else self.head2
        return self, self.model_copy(update={"head": head})


def _side(decomposition: Decomposition, head: int | None = None) -> str:
    head_text = "" if head is None else f", head {head}"
    provenance = decomposition.provenance
    truncation = f", cut from {provenance.truncated_from}" if provenance.truncated_from else ""
    return (
        f"{readable(provenance.model)} ({provenance.revision}), layer {decomposition.layer}{head_text}, "
        f"{decomposition.method}, {len(decomposition.tokens)} tokens{truncation}"
    )


def pair_facts(pair: tuple[LiveResult, LiveResult]) -> dict[str, str]:
    """The facts that the numbers of both sides trace to, by name."""
    entries = {}
    for side, result in zip(SIDES, pair, strict=True):
        provenance = result.provenance
        text = provenance.text if not provenance.text_pair else f"{provenance.text} | {provenance.text_pair}"
        entries[side] = (
            f"{provenance.model} ({provenance.revision}), {text}, {provenance.created}, {provenance.device}, "
            f"{provenance.dtype}"
        )
    return entries | {"code": pair[0].provenance.git_sha, "versions": pair[0].provenance.versions}


def _commands(pair: Pair) -> str:
    return "\n".join(dict.fromkeys(text_probe.command(decomposition) for decomposition in pair))


PAIR = LiveRun(
    obtain=partial(text_probe.obtain_both, text_probe.TermsRequest),
    provenance=pair_facts,
    command=_commands,
    citation_keys=CITATION_KEYS,
)


def _assumptions(pair: Pair) -> str:
    errors = " and ".join(f"{decomposition.relative_error:.1e}" for decomposition in pair)
    text = " ".join(dict.fromkeys(method_assumption(one) for one in pair))
    return f"{text} Terms add up to the model's own scores within {errors} of their range."


def side_names(pair: Sequence[LiveResult], places: Sequence[str]) -> tuple[str, str]:
    """Phrases for the two sides: by model and place, or else by side alone, where they are the same in both.

    places: such as "layer 0, head 2"; empty where a side has no one place.
    """
    models = [readable(one.provenance.model) for one in pair]
    names = list(places)
    if models[0] != models[1]:
        names = [", ".join(filter(None, parts)) for parts in zip(models, places, strict=True)]
    if names[0] == names[1]:
        return "on the left", "on the right"
    return f"in {names[0]} (left)", f"in {names[1]} (right)"


def sized(value: float, measure: str) -> str:
    """A share as a percentage, an effect in nats; in words where it is undefined."""
    if np.isnan(value):
        return "an undefined part" if measure == "share" else "an undefined effect"
    return percent(value) if measure == "share" else f"{value:.2f} nats"


def all_terms(pair: Pair) -> list[str]:
    """The terms that either side has, the four first."""
    return list(dict.fromkeys(term for decomposition in pair for term in visible_terms(decomposition)))


def common_terms(pair: Pair) -> list[str]:
    """The terms that both sides have a map of, the four first."""
    return [term for term in all_terms(pair) if all(term in decomposition.names for decomposition in pair)]


def _fold_terms(table: pd.DataFrame, pair: Pair, *, add_up: bool) -> pd.DataFrame:
    """The table with the terms of word and position alone, and the others together where their values add up."""
    retained = [
        term for term in table.index if term == "total" or any(term in four(decomposition) for decomposition in pair)
    ]
    others = table.drop(index=retained)
    if add_up and len(others):
        table = pd.concat([table, others.sum(min_count=1).to_frame(REST).T]).rename_axis("term")
        retained.insert(len(retained) - ("total" in retained), REST)
    elif len(others):
        retained += list(others.index[(others[list(SIDES)].abs() >= NEGLIGIBLE).any(axis=1)])
    return table.loc[retained]


@figure("compare_terms", MeasureParameters, live=PAIR)
def compare_terms(params: MeasureParameters, pair: Pair) -> Figure:
    """Every term of both sides, mean over heads, and the difference."""
    measure = params.measure
    columns = {}
    for side, decomposition in zip(SIDES, pair, strict=True):
        values = decomposition.shares() if measure == "share" else decomposition.effects()
        columns[side] = {
            term: float(np.nanmean(values[term])) for term in visible_terms(decomposition) if term in values
        }
    table = pd.DataFrame(columns).reindex(all_terms(pair))
    table["difference"] = table.right - table.left
    table.index.name = "term"
    magnitudes = table.difference.abs()
    names = side_names(pair, [f"layer {one.layer}" for one in pair])
    largest = finding = "No term is defined on both sides."
    if magnitudes.notna().any():
        most = str(magnitudes.idxmax())
        largest = f"The largest difference is in {term_label(most)}: {signed(float(table.difference[most]), 3)}."
        left, right = (sized(float(table[side][most]), measure) for side in SIDES)
        finding = f"Mean over heads, {term_label(most)} differs most: {left} {names[0]} and {right} {names[1]}"
        if not magnitudes[most]:
            finding = "Mean over heads, no term differs between the sides"
    return Figure(
        title="Term by term, mean over heads",
        finding=finding.removesuffix("."),
        frame=lambda: table.reset_index(),
        caption=(
            f"{capitalised(MEASURES[measure])}, mean over heads. Left: {_side(pair[0])}. Right: "
            f"{_side(pair[1])}. Difference: right minus left, on the same scale. {largest} "
            f"{measure_note(measure, coloured=False)} {_assumptions(pair)}"
        ),
        alt=f"Dots for {len(table)} terms on two sides. {largest}",
        draw=lambda theme: _draw_sides(
            _fold_terms(table, pair, add_up=measure == "share"), MEASURES[measure], _key(names), theme
        ),
    )


def _places(pair: Pair, heads: Sequence[int]) -> list[str]:
    """The head of each side, in words, and its layer where the two have not the same."""
    if len({(one.provenance.model, one.layer) for one in pair}) == 1:
        return [f"head {head}" for head in heads]
    return [f"layer {one.layer}, head {head}" for one, head in zip(pair, heads, strict=True)]


SIGNS = {"left": "●", "right": "○"}
"""The dot of each side, in words: a full one and a ring, both in the colour of their term."""


def _key(names: Sequence[str]) -> str:
    """A line that says which dot is whose. names: the phrases of `side_names`."""
    sides = {
        side: f"{side}: {name.removeprefix('in ').removesuffix(f' ({side})')}" if name.startswith("in ") else side
        for side, name in zip(SIDES, names, strict=True)
    }
    return "\u2003".join(f"{SIGNS[side]} {name}" for side, name in sides.items())


def _draw_sides(table: pd.DataFrame, label: str, key: str, theme: Theme) -> list[Chart]:
    """The two sides as a dot and a ring, joined by a line, and the difference printed at the right of each row.

    key: the line above that says which is whose.
    """
    order = [term_label(term) for term in table.index]
    written = [UNDEFINED if pd.isna(value) else signed(float(value)) for value in table.difference]
    wide = table.reset_index().assign(label=order, written=written)
    values = wide[[*SIDES]]
    domain = (min(0.0, float(values.min().min())), max(0.0, float(values.max().max())))
    x = marks.number(alt.X, "value", label, domain=domain, nice=True, ticks=6)
    y = marks.rows_down("label", order, title=TERM, grid=False)
    inks = {"total": theme.ink, REST: theme.colour(of_term("bias"))}
    hues = {term_label(term): inks.get(term) or theme.colour(of_term(term)) for term in table.index}
    long = wide.melt(["term", "label"], list(SIDES), "side", "value").dropna()
    lines = alt.Chart(wide).mark_rule(color=theme.faint, strokeWidth=marks.LINE)
    dots = [
        layer
        for side in SIDES
        for layer in marks.row_plot(
            long[long.side == side], x=x, y=y, theme=theme, ends=None, filled=side == "left",
            size=marks.LARGE_DOT, color=marks.hues("label", hues),
            tooltip=(("label", "term"), "side", ("value", "", ".4f")),
        )
    ]  # fmt: skip
    beside = alt.Chart(wide).encode(x=alt.value("width"))
    style = {"align": "right", "dx": 66, "fontSize": marks.TEXT, "color": theme.ink}
    differences = beside.mark_text(**style).encode(
        y=y, text="written:N", tooltip=marks.tips(("difference", "", "+.4f"))
    )
    above = (
        alt.Chart(wide.head(1)).mark_text(**style, text="right − left").encode(x=alt.value("width"), y=alt.value(-10))
    )
    joined = lines.encode(y=y, x=marks.same_axis(x, "left"), x2=alt.X2("right:Q"))
    layers = marks.rule(theme, x=0), joined, *dots, differences, above
    return [marks.panel(*layers, theme=theme, width=marks.WIDE, height=1.2 * marks.ROW * len(order), title=key)]


def _shared_cell(params: CompareParameters, views: Sequence[TokenView]) -> tuple[int, int]:
    """The query and the key that both sides have, and that the link asks for; where its term is largest on a side.

    Raises LinkError for one that a side has not.
    """
    size = min(len(view.labels) for view in views)
    view = views[_side_of_cell(params, views)].part(0, size - 1)
    return selected_cell(params, view, view.terms.get(params.term))


def _side_of_cell(params: CompareParameters, views: Sequence[TokenView]) -> int:
    """The side whose largest cell is taken apart: the left one; of maps with scales of their own the weaker one.

    The stronger side has something to say in almost every cell, the weaker one in few.
    """
    if any(params.term not in view.terms for view in views):
        return 0
    sizes = [_largest(view.terms[params.term]) for view in views]
    return int(np.argmin(sizes)) if params.own_scale or _pale(params, sizes) else 0


def _pale(params: CompareParameters, sizes: Sequence[float]) -> bool:
    """True if one map would be pale on one scale, and no link asks for that. sizes: the largest score of each."""
    return _differ_much(sizes) and not params.one_scale


@figure("compare_cell", CompareParameters, live=PAIR)
def compare_cell(params: CompareParameters, pair: Pair) -> Figure:
    """The score of one query on one key, by their places, as the sum of its terms: both sides, and the difference."""
    matches = [
        viewed_head(side, decomposition, visible_terms(decomposition))
        for side, decomposition in zip(params.sides(), pair, strict=True)
    ]
    heads, views = zip(*matches, strict=True)
    query, key = _shared_cell(params, views)
    columns = {
        side: {term: float(values[query, key]) for term, values in view.terms.items()}
        | {"total": float(view.total[query, key])}
        for side, view in zip(SIDES, views, strict=True)
    }
    table = pd.DataFrame(columns).reindex([*all_terms(pair), "total"])
    table["difference"] = table.right - table.left
    table.index.name = "term"
    pairs = [f"“{view.labels[query]}” on “{view.labels[key]}”" for view in views]
    pairs_text = pairs[0] if pairs[0] == pairs[1] else f"{pairs[0]} (left) and {pairs[1]} (right)"
    kind = "key-centred score" if params.centred else "score before centring"
    totals = table.loc[["total"], [*SIDES, "difference"]].to_numpy(dtype=float)
    left, right, _ = (signed(float(value)) for value in totals[0])
    finding = text = f"The score of {pairs_text} is {left} on the left and {right} on the right"
    if all(params.term in values for values in columns.values()):
        of_left, of_right = (signed(values[params.term]) for values in columns.values())
        text += f"; {term_label(params.term)} adds {of_left} to the left one and {of_right} to the right one"
        term = f"{term_label(params.term)} adds {of_left} on the left and {of_right} on the right"
        finding = f"In the score of {pairs_text}, {term}"
    text += "."
    return Figure(
        title=f"Query {query} on key {key}, term by term",
        finding=finding,
        frame=lambda: table.reset_index(),
        caption=(
            f"What each term adds to the {kind} of one query on one key. Left: {_side(pair[0], heads[0])}. Right: "
            f"{_side(pair[1], heads[1])}. {_assumptions(pair)}"
        ),
        alt=f"Dots for {len(table)} terms on two sides. {text}",
        draw=lambda theme: _draw_sides(
            _fold_terms(table, pair, add_up=True), kind, _key(side_names(pair, _places(pair, heads))), theme
        ),
    )


def _texts(pair: Pair, letters: int) -> tuple[str, str]:
    """The text of each side, shortened to so many letters; empty where both sides have the same."""
    texts = [" | ".join(filter(None, (one.provenance.text, one.provenance.text_pair))) for one in pair]
    if texts[0] == texts[1]:
        return "", ""
    left, right = (f"“{text if len(text) <= letters else text[: letters - 1].rstrip() + '…'}”" for text in texts)
    return left, right


def _methods(pair: Pair) -> list[str]:
    """The method of each side, where a reader chose it; else its layer alone decides that, and it is not said."""
    chosen = "mean" in {one.method for one in pair}
    return [f", method {one.method}" if chosen else "" for one in pair]


def _round_factor(ratio: float) -> int:
    """The largest whole number of one digit and zeros that a ratio contains: 8 of 8.6, 20 of 27."""
    power = 10 ** int(np.log10(ratio))
    return int(ratio // power) * power


def _viewed(params: CompareParameters, pair: Pair) -> tuple[tuple[int, ...], tuple[TokenView, ...]]:
    """The head of each side that is drawn, and its maps."""
    matches = [viewed_head(side, one, [params.term]) for side, one in zip(params.sides(), pair, strict=True)]
    heads, views = zip(*matches, strict=True)
    return heads, views


def _largest(values: ndarray) -> float:
    return float(np.abs(values).max()) or 1.0


def _differ_much(largest: Sequence[float]) -> bool:
    """True if the side with the smaller of these largest scores would be pale on the other's scale."""
    return max(largest) > PALE * min(largest)


def _nearly_empty(side: str, values: ndarray, labels: Sequence[str]) -> str:
    """A clause on a map in which one cell stands out so far that the others are pale; empty for another map."""
    squares = np.square(values)
    total = float(squares.sum())
    share = float(squares.max()) / total if total else 0.0
    if share <= MOST_OF_A_MAP:
        return ""
    query, key = divmod(int(squares.argmax()), squares.shape[1])
    return (
        f"; the {side} map is nearly empty because one cell, “{labels[query]}” on “{labels[key]}”, has "
        f"{percent(share)} of the sum of its squared scores"
    )


def side_of_cell(params: CompareParameters, pair: Pair) -> str:
    """The side whose largest cell is taken apart where a link names none."""
    return SIDES[_side_of_cell(params, _viewed(params, pair)[1])]


def far_apart(params: CompareParameters, pair: Pair) -> bool:
    """True where one side would be pale on the other's scale, so that each has its own."""
    _, views = _viewed(params, pair)
    return _differ_much([_largest(view.terms[params.term]) for view in views])


def _pixels_of_names(maps: Iterable[Sequence[str]]) -> int:
    """The pixels that the names of rows take in every one of some maps. maps: their names."""
    longest = max(len(label) for labels in maps for label in labels)
    return min(MOST_OF_NAMES, round(marks.LABEL_LETTER * longest))


def _largest_difference(term: str, views: Sequence[TokenView]) -> str:
    """A sentence on the cell of two maps of one size in which a term differs most."""
    left, right = (view.terms[term] for view in views)
    if not (right - left).any():
        return f"{capitalised(term_label(term))} is the same on both sides"
    query, key = np.unravel_index(int(np.abs(right - left).argmax()), left.shape)
    tokens = [[view.labels[place] for view in views] for place in (query, key)]
    of_query, of_key = (f"“{a}”" if a == b else f"“{a}” (right: “{b}”)" for a, b in tokens)
    of_key = "itself" if key == query else of_key
    size = signed(float((right - left)[query, key]))
    return (
        f"{capitalised(term_label(term))} differs most where {of_query} looks at {of_key}: by {size}, right minus left"
    )


def _name_by_left(difference: Chart) -> None:
    """Leaves the left words alone beside the map of a difference, so that it is as large as those of the two sides."""
    if isinstance(difference, alt.Chart):
        for axis in (difference.encoding.x["axis"], difference.encoding.y["axis"]):
            axis["labelExpr"] = f"split({axis['labelExpr']}, '{ARROW}')[0]"


@figure("compare_maps", CompareParameters, live=PAIR)
def compare_maps(params: CompareParameters, pair: Pair) -> Figure:
    """One term of both sides on one scale and, where they have as many tokens, the difference on a scale of its own.

    Where one side is so weak that it would be pale on the scale of both, each has its own, unless a link asks for one,
    and the caption says how much weaker it is. The difference would then show the stronger side again, and is not
    drawn.
    """
    term = params.term
    for side, decomposition in zip(SIDES, pair, strict=True):
        if term not in decomposition.names:
            raise LinkError(
                f"The {side} side has no term {term_label(term)}; "
                f"it has: {', '.join(map(term_label, visible_terms(decomposition)))}."
            )
    heads, views = _viewed(params, pair)
    maps = {side: (view.terms[term], view.labels) for side, view in zip(SIDES, views, strict=True)}
    left, right = (view.terms[term] for view in views)
    if left.shape == right.shape:
        tokens = zip(*(view.labels for view in views), strict=True)
        maps["difference"] = (right - left, [a if a == b else f"{a}{ARROW}{b}" for a, b in tokens])
        text = f"Largest difference: {float(np.abs(right - left).max()):.2f}."
    else:
        text = f"{len(left)} and {len(right)} tokens: the maps cannot be subtracted."
    limits = {name: _largest(values) for name, (values, _) in maps.items()}
    weaker, stronger = sorted(SIDES, key=lambda side: limits[side])
    pale = _pale(params, [limits[side] for side in SIDES])
    shown = [name for name in maps if name != "difference" or not pale]
    if pale and "difference" in maps:
        text += (
            f" The {weaker} side is so weak beside the {stronger} one that the map of the difference would show the "
            f"{stronger} one again; only the data hold it."
        )
    own_scales = params.own_scale or pale
    scales = "each map has its own scale, so that one colour means another score in each" if own_scales else ""
    if pale:
        factor = _round_factor(limits[stronger] / limits[weaker])
        scales += f": the largest score of the {weaker} side is over {factor} times smaller"
    elif not own_scales:
        scales = "one scale for both sides"
        limits |= dict.fromkeys(SIDES, limits[stronger])
    scales += "".join(_nearly_empty(side, *maps[side]) for side in SIDES)
    models = [readable(one.provenance.model) for one in pair]
    places = [
        f"{'' if len(set(models)) == 1 else f'{model}, '}layer {one.layer}, head {head}{method}"
        for one, head, model, method in zip(pair, heads, models, _methods(pair), strict=True)
    ]
    letters = SIDE_OF_A_MAP[len(shown)] // PIXELS_OF_A_LETTER
    said = _texts(pair, letters)
    same_words = views[0].labels == views[1].labels
    titles = {"difference": f"right minus left{'' if same_words else ', in words of the left'}"} | {
        side: text or f"{side}: {place}" for side, text, place in zip(SIDES, said, places, strict=True)
    }
    follows = params.head2 == text_probe.FOLLOWING["head2"]
    rule = "Each side shows its head whose scores vary most by the term. " if params.head == -1 and follows else ""
    shares = {
        side: sized(float(one.shares()[term][head]), "share")
        for side, one, head in zip(SIDES, pair, heads, strict=True)
    }
    below = {
        side: f"{f'{place}; ' if text else ''}{shares[side]} of what varies"
        for side, text, place in zip(SIDES, said, places, strict=True)
    }
    below["difference"] = "a scale of its own"
    if "difference" in limits and (factor := round(limits[stronger] / limits["difference"])) > 1:
        below["difference"] += f", colours {factor} times as strong"
    if "difference" in shown:
        finding = _largest_difference(term, views)
    else:
        same = shares["left"] == shares["right"]
        where = "on both sides" if same else f"on the left and {shares['right']} on the right"
        finding = f"{capitalised(term_label(term))} makes up {shares['left']} of what varies {where}"
    centring = "key-centred" if params.centred else "as they are, before centring"

    def frame() -> pd.DataFrame:
        parts = {
            name: frames.cells(values, "value", query=labels, key=labels) for name, (values, labels) in maps.items()
        }
        return frames.stacked(parts, "map")

    names = _pixels_of_names(maps[side][1] for side in SIDES)

    def draw(theme: Theme) -> list[Chart]:
        drawn = [
            token_map(
                values, labels, limits[name], theme, title=[titles[name]], below=[below[name]],
                legend=own_scales or name != "right", side=SIDE_OF_A_MAP[len(shown)],
                height=HEIGHT_OF_A_MAP[len(shown)], names=names,
                value="difference" if name == "difference" else "score, own scale" if own_scales else "score",
            )
            for name, (values, labels) in ((name, maps[name]) for name in shown)
        ]  # fmt: skip
        if "difference" in shown:
            _name_by_left(drawn[-1])
        if not params.takes_cell_apart:
            return drawn
        return [outlined(one, *_shared_cell(params, views), theme) for one in drawn]

    return Figure(
        title=f"{term_label(term)}, side by side",
        finding=finding,
        frame=frame,
        caption=(
            f"Pre-softmax scores of {term_label(term)}, {centring}; {scales}. {rule}Left: {_side(pair[0], heads[0])}. "
            f"Right: {_side(pair[1], heads[1])}. Rows are queries, columns are keys. {text} {_assumptions(pair)}"
        ),
        alt=f"{len(shown)} maps of {term_label(term)}. {text}",
        draw=draw,
        columns=len(shown),
    )


@figure("compare_attention", CompareParameters, live=PAIR)
def compare_attention(params: CompareParameters, pair: Pair) -> Figure:
    """The attention of both sides after softmax, on one scale."""
    heads, views = _viewed(params, pair)
    patterns = {side: (view.pattern, view.labels) for side, view in zip(SIDES, views, strict=True)}
    names = side_names(pair, ("", ""))  # Layer and head stand above the maps.
    largest = [float(view.pattern.max(axis=1).mean()) for view in views]
    both = [percent(one) for one in largest]
    of_sides = f"{both[0]} of its attention {names[0]} and {both[1]} {names[1]}"
    if both[0] == both[1]:
        of_sides = f"{both[0]} of its attention on both sides"
    text = f"On average, the key that a token attends to most has {of_sides}"
    places = _places(pair, heads)
    return Figure(
        title="Attention of both sides",
        finding=text,
        frame=lambda: frames.stacked(
            {
                side: frames.cells(values, "value", query=labels, key=labels)
                for side, (values, labels) in patterns.items()
            },
            "map",
        ),
        caption=(
            f"Attention after softmax, on one scale: all terms of a score together decide it. Left: "
            f"{_side(pair[0], heads[0])}. Right: {_side(pair[1], heads[1])}. Rows are queries, columns are keys."
        ),
        alt=f"Two maps of attention. {text}.",
        draw=lambda theme: [
            pattern_map(
                values,
                labels,
                theme,
                1.0,
                title=f"{side}: {place}",
                legend=side == SIDES[0],
                side=SIDE_OF_A_MAP[2],
                height=HEIGHT_OF_A_MAP[2],
                names=_pixels_of_names(view.labels for view in views),
            )
            for (side, (values, labels)), place in zip(patterns.items(), places, strict=True)
        ],
        columns=2,
    )
