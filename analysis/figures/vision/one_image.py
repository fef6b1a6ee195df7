"""Figures of one image taken apart: the scores between its patches, and the positions of its model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.core.formatting import capitalised, percent, signed, uncapitalised
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import STRONGEST, Figure, LiveRun, Parameters, figure, one_of
from analysis.figures.heatmap import index_axes, picture, png_address
from analysis.figures.one_run import cancellation_note, image_facts
from analysis.figures.terms.heads import draw_heads, leading_terms
from analysis.figures.terms.maps import GROUPS, TermHeadParameters, heads_by_terms, shown_head, with_rest
from analysis.figures.terms.measures import MEASURES, ORDER, MeasureParameters, measure_note, term_label
from analysis.figures.terms.term_marks import draw_bars
from analysis.figures.terms.token_maps import own_limit, share_in_words, short_share, times_as_strong
from analysis.figures.vision.drawn_images import SOURCES_NOTE
from analysis.figures.vision.positions import CITATION_KEYS, position_source, positions_figure
from analysis.measurements.terms.image_result import ImageDecomposition, similarity
from analysis.measurements.terms.result import FOUR, TERMS
from analysis.models import random_vit
from analysis.probes import image_probe

SIDE = 270
"""Pixels of a panel that is laid out as the image is, the longer way."""
SPARE, LEGEND = 140, 85
"""Pixels of the room for axes and legends that a page adds, and of these those of a legend."""
LEAST = 0.005
"""The share of the terms that have no map from which it is said."""
QUERY = "#d6007f"
"""The outline of the query's patch, a colour on none of our scales; that of the key's is ink."""


class PatchParameters(TermHeadParameters):
    """patch: the token of the query; -1: the patch that attends to another one most. key: the token of the key; -1: the
    one with the highest score.

    centred: whether scores are shown minus their mean over keys. group: which terms are shown.
    """

    patch: int = STRONGEST
    key: int = STRONGEST
    centred: bool
    group: Annotated[str, one_of(GROUPS)]


IMAGE_RUN = LiveRun(
    obtain=image_probe.ImageRequest.obtain,
    provenance=image_facts,
    command=image_probe.command,
    citation_keys=CITATION_KEYS,
)


def model_title(model: str) -> str:
    """A model's name, or a description for the model with random weights."""
    return random_vit.TITLE if model == random_vit.NAME else model


def with_random_weights(finding: str, model: str) -> str:
    """A finding on a model; one on random weights says so first, because nothing of it was learned."""
    return f"With random weights, {uncapitalised(finding)}" if model == random_vit.NAME else finding


def _description(decomposition: ImageDecomposition) -> str:
    rows, columns = decomposition.grid
    hidden = rows * columns - len(decomposition.kept)
    left = f", of which {hidden} are hidden from the model" if hidden else ""
    return (
        f"{model_title(decomposition.provenance.model)}, layer {decomposition.layer}, image "
        f"{decomposition.provenance.text!r}, "
        f"{rows} by {columns} patches{left}"
    )


def _error_note(decomposition: ImageDecomposition) -> str:
    provenance = decomposition.provenance
    return (
        f"Sources are followed by the method {decomposition.method!r}. "
        f"Sum of the terms against the model's own scores: {decomposition.max_error:.1e} at most "
        f"({decomposition.relative_error:.1e} of "
        f"their range; {provenance.dtype} on {provenance.device}). {cancellation_note(decomposition.cancellation)}"
    )


def strongest_query(decomposition: ImageDecomposition, head: int) -> int:
    """The patch that attends to another patch most, in one head; the special tokens before the patches are left out."""
    pattern = decomposition.pattern_of(head)[decomposition.specials :, decomposition.specials :].copy()
    np.fill_diagonal(pattern, 0)
    return decomposition.specials + int(np.unravel_index(int(pattern.argmax()), pattern.shape)[0])


@figure("vision_heads", MeasureParameters, live=IMAGE_RUN)
def vision_heads(params: MeasureParameters, decomposition: ImageDecomposition) -> Figure:
    """Every head's terms on one image."""
    measure = params.measure
    terms = [term for term in ORDER if term in decomposition.present]
    table, long = heads_by_terms(decomposition, terms, measure)
    return Figure(
        title="Every head on this image",
        finding=with_random_weights(leading_terms(table), decomposition.provenance.model),
        frame=lambda: long,
        caption=f"{capitalised(MEASURES[measure])}, {_description(decomposition)}. {measure_note(measure)} "
        f"{SOURCES_NOTE} {_error_note(decomposition)}",
        alt=f"Heat map of {decomposition.heads} heads by {len(table.columns)} terms on one image.",
        draw=lambda theme: [draw_heads(table, measure, theme)],
    )


@figure("vision_maps", PatchParameters, live=IMAGE_RUN)
def vision_maps(params: PatchParameters, decomposition: ImageDecomposition) -> Figure:
    """The scores of one patch's query with every patch's key, term by term, laid out like the image."""
    head, query = shown_head(params, decomposition), params.patch
    last = len(decomposition.tokens) - 1
    if not STRONGEST <= query <= last:
        raise LinkError(f"The link says patch={query}; this image gives tokens 0 to {last}.")
    query = strongest_query(decomposition, head) if query == STRONGEST else query
    centred = params.centred
    terms = [term for term in GROUPS[params.group] if term in decomposition.present]
    rows = {
        "total": decomposition.scores[head, query],
        **{term: decomposition.terms_of(term, head)[query] for term in terms},
    }
    if centred:
        rows = {name: row - row.mean() for name, row in rows.items()}
    maps = {name: decomposition.on_grid(row) for name, row in rows.items()}
    limit = float(max(np.nanmax(np.abs(row)) for row in rows.values())) or 1.0
    largest = max(terms, key=lambda term: float(np.abs(rows[term]).max()))
    special = "; ".join(
        f"{term_label(name)} {signed(row[0])}" for name, row in rows.items() if len(rows) <= len(FOUR) + 1
    )
    special = f"[CLS] as key: {special}." if special else ""
    complete = len(terms) == len([term for term in TERMS if term in decomposition.present])
    rest = "" if complete else " The total holds the others too."
    key = _shown_key(params, decomposition, head, query)

    def frame() -> pd.DataFrame:
        parts = {name: frames.cells(values, "value", row=None, column=None) for name, values in maps.items()}
        return frames.stacked(parts, "map")

    return Figure(
        title=f"Head {head}: what {_patch(decomposition, query)} asks of every patch",
        finding=with_random_weights(
            f"In layer {decomposition.layer}, head {head}, {_patch(decomposition, query)} scores the others mostly by "
            f"{term_label(largest)}",
            decomposition.provenance.model,
        ),
        frame=frame,
        caption=(
            f"A patch is here what a word is in a text. Scores before softmax of its query with every patch's key, "
            f"{'minus their mean over all keys' if centred else 'as they are'}{_scales(maps, largest, limit)}. "
            f"Rows and columns count from 0. {capitalised(_description(decomposition))}, head {head}.{rest} {special} "
            f"{position_source(decomposition.grid, decomposition.trained)} {_error_note(decomposition)}"
        ),
        alt=(
            f"The image, and {len(maps)} maps of {decomposition.grid[0]} by {decomposition.grid[1]} "
            "patches; of the terms shown "
            "the largest "
            f"values are in {term_label(largest)}."
        ),
        draw=lambda theme: _maps(decomposition, head, maps, largest, limit, (query, key), theme),
        columns=3,
    )


def _faint(maps: Mapping[str, np.ndarray], largest: str, limit: float) -> float | None:
    """The end of the scale of the terms other than the largest, where they need one of their own; else None."""
    return own_limit((values for name, values in maps.items() if name not in ("total", largest)), limit)


def _scales(maps: Mapping[str, np.ndarray], largest: str, limit: float) -> str:
    """A clause on the scales of the maps."""
    own = _faint(maps, largest, limit)
    if own is None:
        return ", on one scale"
    return f"; colours of the other terms are {times_as_strong(limit, own)} as those of the total and its largest term"


def _shown_key(params: PatchParameters, decomposition: ImageDecomposition, head: int, query: int) -> int:
    """The token of the key that a link asks for; by default the one with the highest score."""
    return int(decomposition.scores[head, query].argmax()) if params.key == STRONGEST else params.key


def _place(decomposition: ImageDecomposition, token: int) -> tuple[int, int] | None:
    """The row and the column of a patch; None for a special token."""
    if decomposition.token_info[token].special:
        return None
    row, column = divmod(int(decomposition.kept[token - decomposition.specials]), decomposition.grid[1])
    return row, column


def _patch(decomposition: ImageDecomposition, token: int) -> str:
    """A patch in words, by its row and column."""
    place = _place(decomposition, token)
    return decomposition.tokens[token] if place is None else f"the patch in row {place[0]}, column {place[1]}"


@figure("vision_cell", PatchParameters, live=IMAGE_RUN)
def vision_cell(params: PatchParameters, decomposition: ImageDecomposition) -> Figure:
    """The score of one patch's query on one patch's key as the sum of its terms."""
    head, query, key = shown_head(params, decomposition), params.patch, params.key
    last = len(decomposition.tokens) - 1
    if not STRONGEST <= query <= last or not STRONGEST <= key <= last:
        raise LinkError(f"The link says patch={query} and key={key}; this image gives tokens 0 to {last}.")
    query = strongest_query(decomposition, head) if query == STRONGEST else query
    key = _shown_key(params, decomposition, head, query)
    rows = {term: decomposition.terms_of(term, head)[query] for term in ORDER if term in decomposition.present}
    rows["total"] = decomposition.scores[head, query]
    centred = params.centred
    values = {name: float(row[key] - centred * row.mean()) for name, row in rows.items()}
    frame = pd.DataFrame({"part": list(values), "value": list(values.values())}).assign(query=query, key=key)
    parts = {part: value for part, value in values.items() if part != "total"}
    shown = {**with_rest(decomposition, parts), "total": values["total"]}
    bars = pd.DataFrame({"part": list(shown), "value": list(shown.values())})
    largest = max(parts, key=lambda part: abs(parts[part]))
    text = (
        f"{capitalised(_patch(decomposition, key))} scores {signed(values['total'])}; the largest term is "
        f"{term_label(largest)}, {signed(values[largest])}."
    )
    return Figure(
        title=f"Head {head}: {_patch(decomposition, query)} asks {_patch(decomposition, key)}",
        finding=with_random_weights(text.removesuffix("."), decomposition.provenance.model),
        frame=lambda: frame,
        caption=(
            f"What each term adds to the {'key-centred score' if centred else 'score before centring'} of one query "
            f"on one key; {_description(decomposition)}. {_error_note(decomposition)}"
        ),
        alt=f"Bars, one a term. {text}",
        draw=lambda theme: [draw_bars(bars, "score", theme, decimals=2)],
    )


@figure("vision_table", Parameters, live=IMAGE_RUN)
def vision_table(params: Parameters, decomposition: ImageDecomposition) -> Figure:
    """The similarity of the positions of the selected model's patches."""
    provenance, grid = decomposition.provenance, decomposition.grid
    if decomposition.positions is None:
        raise LinkError(
            f"The stored scores of {provenance.model} leave its positions out; the figure vision_positions has them."
        )
    caption = f"{model_title(provenance.model)}. {position_source(grid, decomposition.trained)}"
    result = positions_figure("How alike its positions are", similarity(decomposition.positions), grid, caption=caption)
    return replace(result, finding=with_random_weights(result.finding, provenance.model))


def _outline(place: tuple[int, int] | None, colour: str, axes: tuple[alt.X, alt.Y]) -> list[Chart]:
    """A patch, on axes that count patches from their middles."""
    if place is None:
        return []
    row, column = place
    frame = pd.DataFrame({"x": [column - 0.5], "x2": [column + 0.5], "y": [row - 0.5], "y2": [row + 0.5]})
    mark = alt.Chart(frame).mark_rect(fill=None, stroke=colour, strokeWidth=2.5)
    return [mark.encode(x=axes[0], x2=alt.X2("x2"), y=axes[1], y2=alt.Y2("y2"))]


def _square_axes(grid: tuple[int, int]) -> tuple[alt.X, alt.Y]:
    """Axes on which a patch is as wide as high, however a page stretches the panel."""
    rows, columns = grid
    x, y = index_axes((1, 1), "", "")
    patch = f"min(width / {columns}, height / {rows})"
    for axis, count in ((x, columns), (y, rows)):
        axis["scale"] = alt.Scale(
            domain=[-0.5, count - 0.5], nice=False, zero=False, range=[0, alt.expr(f"{count} * {patch}")]
        )
        axis["axis"]["title"] = None  # An empty one would take a line between the map and its name.
    x["axis"]["orient"] = "top"  # Beside the image, however much higher a page makes the panel.
    return x, y


def _image(pixels: np.ndarray, grid: tuple[int, int]) -> list[Chart]:
    """The image, and lines between its patches."""
    rows, columns = grid
    across = alt.Chart(pd.DataFrame({"y": np.arange(1, rows) - 0.5, "x": -0.5, "x2": columns - 0.5}))
    down = alt.Chart(pd.DataFrame({"x": np.arange(1, columns) - 0.5, "y": -0.5, "y2": rows - 0.5}))
    style = {"color": "white", "opacity": 0.45, "strokeWidth": 0.7}
    return [
        picture(png_address(Image.fromarray(pixels)), grid, *_square_axes(grid)),
        across.mark_rule(**style).encode(y=alt.Y("y:Q"), x=alt.X("x:Q"), x2="x2"),
        down.mark_rule(**style).encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), y2="y2"),
    ]


def _places(values: np.ndarray) -> pd.DataFrame:
    """The scores of one term with the corners of their keys' patches."""
    row, column = (indices.ravel() for indices in np.indices(values.shape))
    frame = pd.DataFrame({"row": row, "column": column, "score": values.ravel()}).dropna()
    x, y = frame.column, frame.row
    return frame.assign(x=x - 0.5, x2=x + 0.5, y=y - 0.5, y2=y + 0.5)


def _cells(values: np.ndarray, grid: tuple[int, int], scale: alt.Scale, key: alt.Legend | None) -> Chart:
    """Scores at the places of their keys: cells to read by pointing."""
    x, y = _square_axes(grid)
    cells, tooltip = alt.Chart(_places(values)).mark_rect(), marks.tips("row", "column", ("score", "", ".4~g"))
    color = alt.Color("score:Q", scale=scale, legend=key)
    return cells.encode(x=x, x2=alt.X2("x2"), y=y, y2=alt.Y2("y2"), color=color, tooltip=tooltip)


def _maps(
    decomposition: ImageDecomposition,
    head: int,
    maps: Mapping[str, np.ndarray],
    largest: str,
    limit: float,
    pair: tuple[int, int],
    theme: Theme,
) -> list[Chart]:
    """The image, the total, and the terms, the largest first, on one scale from -limit to limit.

    The other terms have a scale of their own where they are too faint. The last map has the key.

    maps: name -> scores of every patch as a key, (row, column). pair: the tokens of the query and of the key, which are
    outlined where they are patches.
    """
    grid = rows, columns = decomposition.grid
    query, key = (_place(decomposition, token) for token in pair)
    shares = decomposition.shares()
    own = _faint(maps, largest, limit)
    titles = {
        name: (
            term_label(name),
            share_in_words(share)
            if own is None or name == largest
            else f"{short_share(share)}; colours × {limit / own:.0f}",
        )
        for name, share in ((name, float(shares[name][head])) for name in maps if name != "total")
    }
    rest = 1 - sum(float(shares[name][head]) for name in titles)
    undrawn = f"all terms; {percent(rest)} of it not drawn" if abs(rest) >= LEAST else "all terms together"

    bar = marks.colour_bar("score, one scale for all maps", length=120, form=".2~g")
    bar["values"] = [-limit, 0, limit]
    if own is not None:
        # The last map has the other scale, of the same colours: the numbers are those of the first one.
        bar["title"] = ["score; in the other terms,", f"colours {times_as_strong(limit, own)}"]
        bar["values"] = [-own, 0, own]
        bar["labelExpr"] = f"format(datum.value * {limit / own}, '.2~g')"

    # For patches as square as they are.
    width, height = round(SIDE * min(1, columns / rows)), round(SIDE * min(1, rows / columns))
    height -= SPARE * theme.screen
    ink = "white" if theme.dark else "black"

    def panel(layers: list[Chart], title: tuple[str, str], more: float = 0) -> Chart:
        return marks.panel(*layers, theme=theme, width=width, height=height + more * theme.screen, title=title)

    def outlined(*layers: Chart) -> list[Chart]:
        axes = _square_axes(grid)
        return [*layers, *_outline(key, theme.ink, axes), *_outline(query, QUERY, axes)]

    panels = [
        panel(outlined(*_image(decomposition.pixels, grid)), ("the image", f"query pink, key {ink}")),
        panel(outlined(_cells(maps["total"], grid, theme.around_zero(limit), None)), ("total", undrawn)),
    ]
    names = [largest, *(name for name in titles if name != largest)]
    for name in names:
        end = limit if own is None or name == largest else own
        legend = bar if name == names[-1] else None
        cells = outlined(_cells(maps[name], grid, theme.around_zero(end), legend))
        panels.append(panel(cells, titles[name], 0 if legend is None else LEGEND))
    return panels
