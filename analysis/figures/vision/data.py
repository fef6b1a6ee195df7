"""Figures of models of images: stored results over the drawn images, and one image taken apart."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pandas as pd

from analysis.core import frames
from analysis.core.errors import LinkError, NoResults
from analysis.core.formatting import capitalised, fixed, percent, signed
from analysis.core.provenance import model_options
from analysis.figures.depth import terms as depth_terms
from analysis.figures.figure import STRONGEST, Figure, LiveRun, Parameters, figure, one_of
from analysis.figures.one_run import cancellation_note, checked_head, image_facts, stored_facts
from analysis.figures.terms.draw import CellContent, TermTable
from analysis.figures.terms.heads import leading_term
from analysis.figures.terms.maps import GROUPS, HeadParameters, heads_by_terms, with_rest
from analysis.figures.terms.measures import (
    MEASURES,
    ORDER,
    MeasureParameters,
    measure_note,
    term_label,
)
from analysis.measurements.terms.image_result import ImageDecomposition, similarity
from analysis.measurements.terms.result import FOUR, TERMS
from analysis.models import random_vit_name as random_vit
from analysis.probes import image_probe
from analysis.probes.drawn_images import CORPUS, IMAGES
from analysis.store import read

CITATION_KEYS = ("dosovitskiy2021vit",)
STORED_CITATION_KEYS = (*CITATION_KEYS, "oquab2024dinov2")
SIMILAR = 0.1
"""The least difference in similarity, of neighbours minus opposite corners, that a heading mentions."""
MAX_SMALL_MAPS = 16
"""Rows, and columns, of small maps in the picture of positions: more would be too small to read."""
SOURCES_NOTE = (
    "Word is what a patch shows and, for [CLS], its learned vector; bias holds every constant, that of the patch "
    "projection included."
)


class StoredModelParameters(Parameters):
    """stored: the model whose results are shown."""

    stored: str


class StoredVisionParameters(StoredModelParameters, MeasureParameters):
    """group: whether the four terms of word and position are shown, or all."""

    group: Annotated[str, one_of(GROUPS)]


class StoredHeadParameters(StoredModelParameters, MeasureParameters):
    """One head of one layer; -1: where the term is largest."""

    at_layer: int = STRONGEST
    at_head: int = STRONGEST


class PatchParameters(HeadParameters):
    """patch: the token of the query. key: the token of the key, -1 for the one with the highest score.

    centred: whether scores are shown minus their mean over keys. group: which terms are shown.
    """

    patch: int
    key: int = STRONGEST
    centred: bool
    group: Annotated[str, one_of(GROUPS)]


@dataclass(frozen=True)
class LayersContent:
    """maps: term -> values of a measure, (layer, head)."""

    maps: dict[str, np.ndarray]
    measure: str
    label: str


@dataclass(frozen=True)
class PositionsContent:
    """picture: small maps of cosines, one a patch, with seams of NaN; down, across: the rows and columns of patches
    that have one, of a grid of rows and columns.
    """

    picture: np.ndarray
    down: list[int]
    across: list[int]
    grid: tuple[int, int]


@dataclass(frozen=True)
class VisionMapsContent:
    """maps: name -> scores of every patch as a key, (row, column), on a scale from -limit to limit.

    pixels: the image, (height, width, 3). query: row and column of the query's patch, None for a special token.
    share, effect: of each term in this head.
    """

    pixels: np.ndarray
    maps: dict[str, np.ndarray]
    grid: tuple[int, int]
    limit: float
    query: tuple[int, int] | None
    share: dict[str, float]
    effect: dict[str, float]


def _stored_rows(sql: str, model: str) -> Any:
    rows = read.query(sql, [model])
    if rows.empty:
        raise NoResults(
            f"Nothing is stored yet of {model!r} over the drawn images. "
            f"Run: python -m analysis measure images {model_options(model)}"
        )
    return rows


def _provenance(row: Any) -> dict[str, str]:
    return stored_facts(row, images=f"{CORPUS}: {', '.join(IMAGES)}")


def position_source(grid: Sequence[int], trained: Sequence[int]) -> str:
    """A sentence on the source of a grid's positions. Both grids are (rows, columns) of patches."""
    table = f"{trained[0]} by {trained[1]}"
    if tuple(grid) == tuple(trained):
        return f"Positions are the model's own table of {table} patches."
    return f"Positions are interpolated (bicubic) to {grid[0]} by {grid[1]} patches from a table of {table}."


def _interpolation(text: str) -> str:
    grid = json.loads(text)
    return position_source((grid["rows"], grid["columns"]), grid.get("trained") or [grid["trained_side"]] * 2)


@figure("vision_layers", StoredVisionParameters)
def vision_layers(params: StoredVisionParameters) -> Figure[LayersContent]:
    """Every layer and head of a model, over the drawn images."""
    measure = params.measure
    terms = GROUPS[params.group]
    result = _stored_rows(f"SELECT * FROM newest_terms WHERE model = ? AND corpus = '{CORPUS}'", params.stored)
    heads, means = (result[result.aggregation == kind] for kind in ("head", "mean_over_heads"))
    maps = {}
    for term in terms:
        table = heads[heads.term == term].pivot(index="layer", columns="head", values=measure).sort_index()
        if table.to_numpy().any():
            maps[term] = table.to_numpy()
    first = result.iloc[0]
    position_means = means[means.term == FOUR[-1]].set_index("layer")
    top_layer = position_means[measure].idxmax()
    top = position_means.loc[top_layer]
    text = (
        f"Mean over heads, {term_label(FOUR[-1])} is largest in layer {top_layer}: {top[measure]:.3f} "
        f"[{top[f'{measure}_low']:.3f} to {top[f'{measure}_high']:.3f}]."
    )
    columns = ["layer", "head", "term", measure, f"{measure}_low", f"{measure}_high", "texts", "queries"]
    shown = heads[heads.term.isin(list(maps))].sort_values(["term", "layer", "head"])[columns]
    return Figure(
        title=f"Every layer and head of {first.model}",
        finding=(
            f"{capitalised(term_label(FOUR[-1]))} is largest in layer {top_layer}: {percent(top[measure])} of the "
            "variance of scores"
            if measure == "share"
            else text.split(" [")[0]
        ),
        frame=lambda: shown.rename(columns={"texts": "images"}),
        caption=(
            f"{capitalised(MEASURES[measure])}, {first.model}, {first.texts} images drawn for Addend, "
            f"{first.queries:,} queries pooled. {text} Brackets: 95 % bootstrap interval over these "
            f"images; it says nothing about others. {measure_note(measure)} {_interpolation(first.config)} "
            f"{SOURCES_NOTE} Layer 0 is exact; deeper, patterns, norms and gates are held at the values they have in "
            "the model (frozen). Terms add up "
            f"to the model's own scores to {result.max_error.max():.1e} ({result.relative_error.max():.1e} of their "
            f"range), at worst ({first['dtype']}, {first.device})."
        ),
        alt=f"{len(maps)} heat maps, {len(position_means)} layers by {heads['head'].nunique()} heads. {text}",
        command=(
            f'{first.command}\npython -m analysis query "SELECT layer, head, term, {measure} FROM newest_terms '
            f"WHERE model = '{first.model}' AND corpus = '{CORPUS}' AND aggregation = 'head'\" --csv"
        ),
        provenance=_provenance(first),
        citation_keys=STORED_CITATION_KEYS,
        content=LayersContent(maps=maps, measure=measure, label=MEASURES[measure]),
    )


def mosaic(cosines: np.ndarray, rows: int, columns: int) -> tuple[np.ndarray, list[int], list[int]]:
    """A small map a patch, laid out as the patches are, with a seam of NaN between; and which rows and columns.

    Every n-th patch where there are more than `MAX_SMALL_MAPS` rows or columns of them.
    """
    step = -(-max(rows, columns) // MAX_SMALL_MAPS)
    down, across = list(range(step // 2, rows, step)), list(range(step // 2, columns, step))
    picture = np.full((len(down) * (rows + 1) - 1, len(across) * (columns + 1) - 1), np.nan)
    for i, row in enumerate(down):
        for j, column in enumerate(across):
            top, left = i * (rows + 1), j * (columns + 1)
            picture[top : top + rows, left : left + columns] = cosines[row * columns + column].reshape(rows, columns)
    return picture, down, across


def _positions(title: str, cosines: np.ndarray, grid: tuple[int, int], *, caption: str) -> Figure[PositionsContent]:
    """Cosine of every patch's position with all others, as in Dosovitskiy et al. (2021), Figure 7."""
    rows, columns = grid
    picture, down, across = mosaic(cosines, rows, columns)
    patch = np.arange(rows * columns)
    row, column = patch // columns, patch % columns
    steps = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
    near, far = cosines[steps == 1].mean(), cosines[steps == steps.max()].mean()
    aligned = (row[:, None] == row) ^ (column[:, None] == column)
    same = cosines[aligned & (steps > 2)]
    other = cosines[~aligned & (steps > 2)]
    text = f"Next to each other {fixed(near)} on average, in opposite corners {fixed(far)}"
    if len(same) and len(other):
        text += f"; over two steps apart {fixed(same.mean())} in one row or column, {fixed(other.mean())} elsewhere"
    if np.isnan(cosines).all():
        text = "Its positions are all zero, so there is nothing to compare: weights as they are before training"
    finding = (
        f"Positions of neighbouring patches are alike (cosine {fixed(near)}), those of opposite corners less so "
        f"({fixed(far)})"
        if near - far > SIMILAR
        else f"Positions of neighbouring patches (cosine {fixed(near)}) are no more alike than those of opposite "
        f"corners ({fixed(far)})"
    )
    if np.isnan(cosines).all():
        finding = "The positions are all zero, as before training"
    subset = "" if len(down) * len(across) == len(patch) else f", shown for {len(down)} by {len(across)} of the patches"
    return Figure(
        title=title,
        finding=finding,
        frame=lambda: frames.cells(np.round(cosines, 6), "cosine", patch=None, other=None),
        caption=(
            f"Cosine of a patch's position with every patch's{subset}: one small map a patch, at the patch's place. "
            f"{text}. {caption}"
        ),
        alt=f"A grid of {len(down)} by {len(across)} small maps. {text}.",
        citation_keys=CITATION_KEYS,
        content=PositionsContent(picture=picture, down=down, across=across, grid=grid),
    )


@figure("vision_head", StoredHeadParameters)
def vision_head(params: StoredHeadParameters) -> Figure:
    """Every term of one layer and head, over the drawn images."""
    link_fields = params.values("measure", "at_layer", "at_head")
    cell = depth_terms.cell(
        depth_terms.CellParameters.of({**link_fields, "model": params.stored, "corpus": CORPUS, "term": FOUR[-1]})
    )
    return replace(cell, citation_keys=STORED_CITATION_KEYS)


@figure("vision_positions", StoredModelParameters)
def vision_positions(params: StoredModelParameters) -> Figure[PositionsContent]:
    """The stored similarity of the positions of a model's patches."""
    model = params.stored
    result = _stored_rows("SELECT * FROM newest_patch_positions WHERE model = ? ORDER BY patch", model)
    first = result.iloc[0]
    config = json.loads(first.config)
    result_figure = _positions(
        f"How alike the positions of {first.model} are",
        np.stack([np.asarray(row, dtype=float) for row in result.similarity]),
        (config["rows"], config["columns"]),
        caption=f"{first.model}. {_interpolation(first.config)}",
    )
    return replace(
        result_figure,
        command=(
            f'{first.command}\npython -m analysis query "SELECT patch, similarity FROM newest_patch_positions '
            f"WHERE model = '{first.model}'\" --csv"
        ),
        provenance=_provenance(first),
    )


# Figures of one image

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
    return f"With random weights, {finding[0].lower()}{finding[1:]}" if model == random_vit.NAME else finding


def _description(decomposition: ImageDecomposition) -> str:
    rows, columns = decomposition.grid
    hidden = rows * columns - len(decomposition.kept)
    left = f", of which {hidden} are hidden from the model" if hidden else ""
    return (
        f"{model_title(decomposition.provenance.model)}, layer {decomposition.layer} ({decomposition.method}), image "
        f"{decomposition.provenance.text!r}, "
        f"{rows} by {columns} patches{left}"
    )


def _error_note(decomposition: ImageDecomposition) -> str:
    provenance = decomposition.provenance
    return (
        f"Sum of the terms against the model's own scores: {decomposition.max_error:.1e} at most "
        f"({decomposition.relative_error:.1e} of "
        f"their range; {provenance.dtype} on {provenance.device}). {cancellation_note(decomposition.cancellation)}"
    )


@figure("vision_heads", MeasureParameters, live=IMAGE_RUN)
def vision_heads(params: MeasureParameters, decomposition: ImageDecomposition) -> Figure[TermTable]:
    """Every head's terms on one image."""
    measure = params.measure
    terms = [term for term in ORDER if term in decomposition.present]
    table, long = heads_by_terms(decomposition, terms, measure)
    return Figure(
        title="Every head on this image",
        finding=with_random_weights(leading_term(table), decomposition.provenance.model),
        frame=lambda: long,
        caption=f"{capitalised(MEASURES[measure])}, {_description(decomposition)}. {measure_note(measure)} "
        f"{SOURCES_NOTE} {_error_note(decomposition)}",
        alt=f"Heat map of {decomposition.heads} heads by {len(table.columns)} terms on one image.",
        content=TermTable(table=table, measure=measure),
    )


@figure("vision_maps", PatchParameters, live=IMAGE_RUN)
def vision_maps(params: PatchParameters, decomposition: ImageDecomposition) -> Figure[VisionMapsContent]:
    """The scores of one patch's query with every patch's key, term by term, laid out like the image."""
    head, query = checked_head(params.head, decomposition.heads), params.patch
    if not 0 <= query < len(decomposition.tokens):
        raise LinkError(f"The link says patch={query}; this image gives tokens 0 to {len(decomposition.tokens) - 1}.")
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
    complete = len(terms) == len([term for term in TERMS if term in decomposition.present])
    rest = "" if complete else " The total holds the others too."
    token = decomposition.token_info[query]
    columns = decomposition.grid[1]

    def frame() -> pd.DataFrame:
        parts = {name: frames.cells(values, "value", row=None, column=None) for name, values in maps.items()}
        return frames.stacked(parts, "map")

    return Figure(
        title=f"Head {head}: what patch {token.text} asks of every patch",
        finding=with_random_weights(
            f"In head {head}, patch {token.text} scores others mostly by {term_label(largest)}",
            decomposition.provenance.model,
        ),
        frame=frame,
        caption=(
            f"Pre-softmax scores of the query at {token.text} (row and column, from 0) with the key of every patch, "
            f"{_description(decomposition)}, head {head}; "
            f"{'minus their mean over all keys' if centred else 'as they are'}; one scale "
            f"for all maps.{rest} {f'[CLS] as key: {special}. ' if special else ''}"
            f"{position_source(decomposition.grid, decomposition.trained)} {_error_note(decomposition)}"
        ),
        alt=(
            f"The image, and {len(maps)} maps of {decomposition.grid[0]} by {columns} patches; of the terms shown "
            "the largest "
            f"values are in {term_label(largest)}."
        ),
        content=VisionMapsContent(
            pixels=decomposition.pixels,
            maps=maps,
            grid=decomposition.grid,
            limit=limit,
            query=None if token.special else divmod(int(decomposition.kept[query - decomposition.specials]), columns),
            share={term: float(decomposition.shares()[term][head]) for term in terms},
            effect={term: float(decomposition.effects()[term][head]) for term in terms},
        ),
    )


@figure("vision_cell", PatchParameters, live=IMAGE_RUN)
def vision_cell(params: PatchParameters, decomposition: ImageDecomposition) -> Figure[CellContent]:
    """The score of one patch's query on one patch's key as the sum of its terms."""
    head, query, key = checked_head(params.head, decomposition.heads), params.patch, params.key
    last = len(decomposition.tokens) - 1
    if not 0 <= query <= last or not STRONGEST <= key <= last:
        raise LinkError(f"The link says patch={query} and key={key}; this image gives tokens 0 to {last}.")
    if key == STRONGEST:
        key = int(decomposition.scores[head, query].argmax())
    rows = {term: decomposition.terms_of(term, head)[query] for term in ORDER if term in decomposition.present}
    rows["total"] = decomposition.scores[head, query]
    centred = params.centred
    values = {name: float(row[key] - centred * row.mean()) for name, row in rows.items()}
    frame = pd.DataFrame({"part": list(values), "value": list(values.values())}).assign(query=query, key=key)
    parts = {part: value for part, value in values.items() if part != "total"}
    bars = {**with_rest(decomposition, parts), "total": values["total"]}
    rows_of_bars = pd.DataFrame({"part": list(bars), "value": list(bars.values())})
    query_token, key_token = (decomposition.tokens[index] for index in (query, key))
    largest = max(parts, key=lambda part: abs(parts[part]))
    text = (
        f"Patch {query_token} scores patch {key_token} {signed(values['total'])}; the largest term is "
        f"{term_label(largest)}, {signed(values[largest])}."
    )
    return Figure(
        title=f"Head {head}, query {query_token} on key {key_token}",
        finding=with_random_weights(text.removesuffix("."), decomposition.provenance.model),
        frame=lambda: frame,
        caption=(
            f"What each term adds to the {'key-centred score' if centred else 'score before centring'} of one query "
            f"on one key; {_description(decomposition)}. {_error_note(decomposition)}"
        ),
        alt=f"Bars, one a term. {text}",
        content=CellContent(rows=rows_of_bars, kind="score"),
    )


@figure("vision_table", Parameters, live=IMAGE_RUN)
def vision_table(params: Parameters, decomposition: ImageDecomposition) -> Figure[PositionsContent]:
    """The similarity of the positions of the selected model's patches."""
    provenance, grid = decomposition.provenance, decomposition.grid
    caption = f"{model_title(provenance.model)}. {position_source(grid, decomposition.trained)}"
    result = _positions("How alike its positions are", similarity(decomposition.positions), grid, caption=caption)
    return replace(result, finding=with_random_weights(result.finding, provenance.model))
