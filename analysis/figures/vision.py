"""Figures of models of images: stored results over the drawn images, and one image taken apart."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis import image_probes, random_vit
from analysis.errors import LinkError, NoResults
from analysis.figures.base import Figure, Params, figure
from analysis.figures.one_run import cancelled, facts, head_of
from analysis.figures.term_maps import GROUPS
from analysis.figures.terms import MEASURES, ORDER, measure_of, one_of, reading, spoken
from analysis.figures.words import begun, number, signed
from analysis.images import CORPUS, IMAGES
from analysis.provenance import model_options
from analysis.store import read
from analysis.terms.picture import ImageDecomposition, similarity
from analysis.terms.result import FOUR, TERMS

CITE = ("dosovitskiy2021vit",)
CITE_STORED = (*CITE, "oquab2024dinov2")
MOST_SMALL_MAPS = 16
"""Rows, and columns, of small maps in the picture of positions: more would be too small to read."""
SOURCES_ARE = (
    "Word is what a patch shows and, for [CLS], its learned vector; bias holds every constant, that of the patch "
    "projection included."
)


def _stored(sql: str, model: str) -> Any:
    found = read.query(sql, [model])
    if found.empty:
        raise NoResults(
            f"Nothing is stored yet of {model!r} over the drawn images. "
            f"Run: python -m analysis measure-images {model_options(model)}"
        )
    return found


def _run(row: Any) -> dict[str, str]:
    return {
        "model": f"{row.model} ({row.revision})",
        "images": f"{CORPUS}: {', '.join(IMAGES)}",
        "run": f"{row.run_id}, {row.created}, code {row.git_sha}",
        "device": f"{row.device}, {row['dtype']}",
        "versions": row.versions,
    }


def placed(grid: Sequence[int], trained: Sequence[int]) -> str:
    """How a model comes by the positions of a grid. Both are rows and columns of patches."""
    table = f"{trained[0]} by {trained[1]}"
    if tuple(grid) == tuple(trained):
        return f"Positions are the model's own table of {table} patches."
    return f"Positions are interpolated (bicubic) to {grid[0]} by {grid[1]} patches from a table of {table}."


def _interpolation(config: str) -> str:
    about = json.loads(config)
    return placed((about["rows"], about["columns"]), about.get("trained") or [about["trained_side"]] * 2)


@figure("vision_layers")
def vision_layers(params: Params) -> Figure:
    """Every layer and head of a model, over the drawn images."""
    measure = measure_of(params)
    terms = GROUPS[one_of(params, "group", GROUPS)]
    found = _stored(f"SELECT * FROM newest_terms WHERE model = ? AND corpus = '{CORPUS}'", str(params["stored"]))
    heads, means = (found[found.aggregation == kind] for kind in ("head", "mean_over_heads"))
    maps = {}
    for term in terms:
        table = heads[heads.term == term].pivot(index="layer", columns="head", values=measure).sort_index()
        if table.to_numpy().any():
            maps[term] = table.to_numpy()
    first = found.iloc[0]
    over = means[means.term == FOUR[-1]].set_index("layer")
    deep = over[measure].idxmax()
    top = over.loc[deep]
    told = (
        f"Mean over heads, {spoken(FOUR[-1])} is largest in layer {deep}: {top[measure]:.3f} "
        f"[{top[f'{measure}_low']:.3f} to {top[f'{measure}_high']:.3f}]."
    )
    columns = ["layer", "head", "term", measure, f"{measure}_low", f"{measure}_high", "texts", "queries"]
    shown = heads[heads.term.isin(list(maps))].sort_values(["term", "layer", "head"])[columns]
    return Figure(
        name="vision_layers",
        title=f"Every layer and head of {first.model}",
        frame=lambda: shown.rename(columns={"texts": "images"}),
        caption=(
            f"{begun(MEASURES[measure])}, {first.model}, {first.texts} images drawn for Addend, "
            f"{first.queries:,} queries pooled. {told} Brackets: 95 % bootstrap interval over these "
            f"images; it says nothing about others. {reading(measure)} {_interpolation(first.config)} {SOURCES_ARE} "
            "Layer 0 is exact; deeper, patterns, norms and gates are held at their true values (frozen). Terms add up "
            f"to the model's own scores to {found.max_error.max():.1e} ({found.relative_error.max():.1e} of their "
            f"range), at worst ({first['dtype']}, {first.device})."
        ),
        alt=f"{len(maps)} heat maps, {len(over)} layers by {heads['head'].nunique()} heads. {told}",
        command=(
            f'{first.command}\npython -m analysis query "SELECT layer, head, term, {measure} FROM newest_terms '
            f"WHERE model = '{first.model}' AND corpus = '{CORPUS}' AND aggregation = 'head'\" --csv"
        ),
        provenance=_run(first),
        citation_keys=CITE_STORED,
        content={"maps": maps, "measure": measure, "label": MEASURES[measure]},
    )


def mosaic(cosines: np.ndarray, rows: int, columns: int) -> tuple[np.ndarray, list[int], list[int]]:
    """A small map a patch, laid out as the patches are, with a seam of NaN between; and which rows and columns.

    Every n-th patch where there are more than `MOST_SMALL_MAPS` rows or columns of them.
    """
    step = -(-max(rows, columns) // MOST_SMALL_MAPS)
    down, across = list(range(step // 2, rows, step)), list(range(step // 2, columns, step))
    picture = np.full((len(down) * (rows + 1) - 1, len(across) * (columns + 1) - 1), np.nan)
    for i, r in enumerate(down):
        for j, c in enumerate(across):
            top, left = i * (rows + 1), j * (columns + 1)
            picture[top : top + rows, left : left + columns] = cosines[r * columns + c].reshape(rows, columns)
    return picture, down, across


def _positions(name: str, title: str, cosines: np.ndarray, grid: tuple[int, int], **more: Any) -> Figure:
    """Cosine of every patch's position with all others, as in Dosovitskiy et al. (2021), Figure 7."""
    rows, columns = grid
    picture, down, across = mosaic(cosines, rows, columns)
    patch = np.arange(rows * columns)
    row, column = patch // columns, patch % columns
    apart = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
    near, far = cosines[apart == 1].mean(), cosines[apart == apart.max()].mean()
    lined = (row[:, None] == row) ^ (column[:, None] == column)
    same = cosines[lined & (apart > 2)]
    other = cosines[~lined & (apart > 2)]
    told = f"Next to each other {number(near)} on average, in opposite corners {number(far)}"
    if len(same) and len(other):
        told += f"; over two steps apart {number(same.mean())} in one row or column, {number(other.mean())} elsewhere"
    if np.isnan(cosines).all():
        told = "Its positions are all zero, so there is nothing to compare: weights as they are before training"
    every = "" if len(down) * len(across) == len(patch) else f", shown for {len(down)} by {len(across)} of the patches"
    caption = more.pop("caption")
    return Figure(
        name=name,
        title=title,
        frame=lambda: pd.DataFrame(
            {
                "patch": np.repeat(patch, len(patch)),
                "other": np.tile(patch, len(patch)),
                "cosine": np.round(cosines.ravel(), 6),
            }
        ),
        caption=(
            f"Cosine of a patch's position with every patch's{every}: one small map a patch, at the patch's place. "
            f"{told}. {caption}"
        ),
        alt=f"A grid of {len(down)} by {len(across)} small maps. {told}.",
        citation_keys=CITE,
        content={"picture": picture, "down": down, "across": across, "grid": grid},
        **more,
    )


@figure("vision_positions")
def vision_positions(params: Params) -> Figure:
    """How alike the positions of a model's patches are, as stored."""
    model = str(params["stored"])
    found = _stored("SELECT * FROM newest_patch_positions WHERE model = ? ORDER BY patch", model)
    first = found.iloc[0]
    about = json.loads(first.config)
    return _positions(
        "vision_positions",
        f"How alike the positions of {first.model} are",
        np.stack([np.asarray(row, dtype=float) for row in found.similarity]),
        (about["rows"], about["columns"]),
        caption=f"{first.model}. {_interpolation(first.config)}",
        command=(
            f'{first.command}\npython -m analysis query "SELECT patch, similarity FROM newest_patch_positions '
            f"WHERE model = '{first.model}'\" --csv"
        ),
        provenance=_run(first),
    )


# Figures of one image


def called(model: str) -> str:
    """A model's name; of the one with random weights, what it is."""
    return random_vit.TITLE if model == random_vit.NAME else model


def _where(made: ImageDecomposition) -> str:
    rows, columns = made.grid
    hidden = rows * columns - len(made.kept)
    left = f", of which {hidden} are hidden from the model" if hidden else ""
    return (
        f"{called(made.provenance.model)}, layer {made.layer} ({made.method}), image {made.provenance.text!r}, "
        f"{rows} by {columns} patches{left}"
    )


def _errors(made: ImageDecomposition) -> str:
    about = made.provenance
    return (
        f"Sum of the terms against the model's own scores: {made.max_error:.1e} at most ({made.relative_error:.1e} of "
        f"their range; {about.dtype} on {about.device}). {cancelled(made.cancellation)}"
    )


@figure("vision_heads", live=image_probes.obtain)
def vision_heads(params: Params, made: ImageDecomposition) -> Figure:
    """Every head's terms on one image."""
    measure = measure_of(params)
    by_term = made.shares() if measure == "share" else made.effects()
    table = pd.DataFrame(by_term)[[term for term in ORDER if term in made.present]]
    table.index.name = "head"
    long = table.reset_index().melt("head", var_name="term", value_name=measure)
    return Figure(
        name="vision_heads",
        title="Every head on this image",
        frame=lambda: long,
        caption=f"{begun(MEASURES[measure])}, {_where(made)}. {reading(measure)} {SOURCES_ARE} {_errors(made)}",
        alt=f"Heat map of {made.heads} heads by {len(table.columns)} terms on one image.",
        command=image_probes.command(made),
        provenance=facts(made.provenance, "image"),
        citation_keys=CITE,
        content={"table": table, "measure": measure, "label": MEASURES[measure]},
    )


@figure("vision_maps", live=image_probes.obtain)
def vision_maps(params: Params, made: ImageDecomposition) -> Figure:
    """What one patch's query scores every patch's key, term by term, laid out as the image is."""
    head, query = head_of(params, made.heads), int(params["patch"])
    if not 0 <= query < len(made.tokens):
        raise LinkError(f"The link says patch={query}; this image gives tokens 0 to {len(made.tokens) - 1}.")
    centred = bool(params["centred"])
    terms = [term for term in GROUPS[one_of(params, "group", GROUPS)] if term in made.present]
    rows = {"total": made.scores[head, query], **{term: made.terms_of(term, head)[query] for term in terms}}
    if centred:
        rows = {name: row - row.mean() for name, row in rows.items()}
    maps = {name: made.on_grid(row) for name, row in rows.items()}
    reach = float(max(np.nanmax(np.abs(row)) for row in rows.values())) or 1.0
    largest = max(terms, key=lambda term: float(np.abs(rows[term]).max()))
    special = "; ".join(f"{spoken(name)} {signed(row[0])}" for name, row in rows.items() if len(rows) <= len(FOUR) + 1)
    rest = "" if len(terms) == len([t for t in TERMS if t in made.present]) else " The total holds the others too."
    token = made.token_info[query]
    columns = made.grid[1]

    def frame() -> pd.DataFrame:
        at = np.indices(made.grid).reshape(2, -1)
        return pd.concat(
            [pd.DataFrame({"map": n, "row": at[0], "column": at[1], "value": m.ravel()}) for n, m in maps.items()],
            ignore_index=True,
        )

    return Figure(
        name="vision_maps",
        title=f"Head {head}: what patch {token.text} asks of every patch",
        frame=frame,
        caption=(
            f"Pre-softmax scores of the query at {token.text} (row and column, from 0) with the key of every patch, "
            f"{_where(made)}, head {head}; {'less their mean over all keys' if centred else 'as they are'}; one scale "
            f"for all maps.{rest} {f'[CLS] as key: {special}. ' if special else ''}"
            f"{placed(made.grid, made.trained)} {_errors(made)}"
        ),
        alt=(
            f"The image, and {len(maps)} maps of {made.grid[0]} by {columns} patches; of the terms shown the largest "
            f"values are in {spoken(largest)}."
        ),
        command=image_probes.command(made),
        provenance=facts(made.provenance, "image"),
        citation_keys=CITE,
        content={
            "pixels": made.pixels,
            "maps": maps,
            "grid": made.grid,
            "reach": reach,
            "query": None if token.special else divmod(int(made.kept[query - made.specials]), columns),
            "share": {term: float(made.shares()[term][head]) for term in terms},
            "effect": {term: float(made.effects()[term][head]) for term in terms},
        },
    )


@figure("vision_table", live=image_probes.obtain)
def vision_table(params: Params, made: ImageDecomposition) -> Figure:
    """How alike the positions of the picked model's patches are."""
    about = made.provenance
    return _positions(
        "vision_table",
        "How alike its positions are",
        similarity(made.positions),
        made.grid,
        caption=f"{called(about.model)}. {placed(made.grid, made.trained)}",
        command=image_probes.command(made),
        provenance=facts(made.provenance, "image"),
    )
