"""Figures of models of images over the drawn images: their terms in every layer and head, and their positions."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised, percent, uncapitalised
from analysis.core.provenance import model_options
from analysis.figures import marks
from analysis.figures.depth import terms as depth_terms
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import STRONGEST, Figure, Parameters, figure, one_of
from analysis.figures.heatmap import heatmap, outlined
from analysis.figures.one_run import stored_facts
from analysis.figures.terms.maps import GROUPS
from analysis.figures.terms.measured_colours import measured_domain
from analysis.figures.terms.measures import MEASURES, MeasureParameters, measure_note, term_label
from analysis.figures.vision.positions import CITATION_KEYS, position_source, positions_figure
from analysis.measurements.terms.result import FOUR
from analysis.probes.drawn_images import CORPUS, IMAGES
from analysis.store import read

STORED_CITATION_KEYS = (*CITATION_KEYS, "oquab2024dinov2")
SOURCES_NOTE = (
    "Word is what a patch shows and, for [CLS], its learned vector; bias holds every constant, that of the patch "
    "projection included."
)


class StoredModelParameters(Parameters):
    """stored: the model whose results are shown."""

    stored: str


class StoredHeadParameters(StoredModelParameters, MeasureParameters):
    """One head of one layer; -1: where position → position is largest."""

    at_layer: int = STRONGEST
    at_head: int = STRONGEST


class StoredVisionParameters(StoredHeadParameters):
    """group: whether the four terms of word and position are shown, or all. The head is outlined."""

    group: Annotated[str, one_of(GROUPS)]


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


def _interpolation(text: str) -> str:
    grid = json.loads(text)
    return position_source((grid["rows"], grid["columns"]), grid.get("trained") or [grid["trained_side"]] * 2)


@figure("vision_layers", StoredVisionParameters)
def vision_layers(params: StoredVisionParameters) -> Figure:
    """Every layer and head of a model, over the drawn images."""
    measure = params.measure
    terms = GROUPS[params.group]
    result = _stored_rows(
        f"SELECT * FROM newest_terms WHERE model = ? AND corpus = '{CORPUS}' ORDER BY ALL", params.stored
    )
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
    at = (params.at_layer, params.at_head)
    if STRONGEST in at:
        peak = heads[heads.term == FOUR[-1]].nlargest(1, measure).iloc[0]
        at = int(peak.layer), int(peak["head"])
    columns = ["layer", "head", "term", measure, f"{measure}_low", f"{measure}_high", "texts", "queries"]
    shown = heads[heads.term.isin(list(maps))].sort_values(["term", "layer", "head"])[columns]
    return Figure(
        title=f"Every layer and head of {first.model}",
        finding=_leading(heads, measure, str(first.model)),
        frame=lambda: shown.rename(columns={"texts": "images"}),
        caption=(
            f"{capitalised(MEASURES[measure])}, {first.model}, {first.texts} images drawn for Addend; outlined: layer "
            f"{at[0]}, head {at[1]}. Queries are pooled, {first.queries:,} in all. {text} Brackets: 95 % bootstrap "
            "interval over these images; it says nothing about others. "
            f"{measure_note(measure)} {_interpolation(first.config)} "
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
        draw=lambda theme: _layers(maps, measure, at, theme),
        columns=len(FOUR) if len(maps) <= len(FOUR) else 3,
    )


@figure("vision_head", StoredHeadParameters)
def vision_head(params: StoredHeadParameters) -> Figure:
    """Every term of one layer and head, over the drawn images."""
    link_fields = params.values("measure", "at_layer", "at_head")
    cell = depth_terms.cell(
        depth_terms.DepthCellParameters.of({**link_fields, "model": params.stored, "corpus": CORPUS, "term": FOUR[-1]})
    )
    finding = cell.finding.replace("In layer", f"In {params.stored}, layer", 1)
    return replace(cell, finding=finding, citation_keys=STORED_CITATION_KEYS)


@figure("vision_positions", StoredModelParameters)
def vision_positions(params: StoredModelParameters) -> Figure:
    """The stored similarity of the positions of a model's patches."""
    model = params.stored
    result = _stored_rows("SELECT * FROM newest_patch_positions WHERE model = ? ORDER BY patch", model)
    first = result.iloc[0]
    config = json.loads(first.config)
    result_figure = positions_figure(
        f"How alike the positions of {first.model} are",
        np.stack([np.asarray(row, dtype=float) for row in result.similarity]),
        (config["rows"], config["columns"]),
        caption=f"{first.model}. {_interpolation(first.config)}",
    )
    return replace(
        result_figure,
        finding=f"In {first.model}, {uncapitalised(result_figure.finding)}",
        command=(
            f'{first.command}\npython -m analysis query "SELECT patch, similarity FROM newest_patch_positions '
            f"WHERE model = '{first.model}'\" --csv"
        ),
        provenance=_provenance(first),
    )


def _leading(heads: Any, measure: str, model: str) -> str:
    """A sentence on the two terms, of the four, that lead in the most heads, and on the head where position leads most.

    heads: rows of every layer and head.
    """
    four = heads[heads.term.isin(FOUR)].pivot(index=["layer", "head"], columns="term", values=measure).dropna()
    counts = four.idxmax(axis=1).value_counts()
    leading = [f"{term_label(str(term))} leads in {count}" for term, count in counts.head(2).items()]
    first = f"In {model}, {leading[0]} of {len(four)} heads"
    layer, head = four[FOUR[-1]].idxmax()
    peak = float(four[FOUR[-1]].max())
    size = f"{percent(peak)} of what varies" if measure == "share" else f"{peak:.2f} nats"
    if list(counts.index[1:2]) == [FOUR[-1]]:
        return f"{first} and {term_label(FOUR[-1])} in {counts.iloc[1]}, with up to {size} (layer {layer}, head {head})"
    second = "".join(f" and {other}" for other in leading[1:])
    return f"{first}{second}; {term_label(FOUR[-1])} reaches {size} in layer {layer}, head {head}"


def _range(values: np.ndarray, measure: str) -> str:
    """The smallest and the largest value of a map, in words: an even map says how small its values are."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return f"{percent(low)} to {percent(high)}" if measure == "share" else f"{low:.2f} to {high:.2f} nats"


def _layers(maps: Mapping[str, np.ndarray], measure: str, at: tuple[int, int], theme: Theme) -> list[Chart]:
    """Layers by heads, a map a term, on one scale, with the frame of one head."""
    share = measure == "share"
    every = np.stack(list(maps.values()))
    charts = [
        heatmap(
            values, domain=measured_domain(every, measure), row_title="layer", column_title="head",
            value_title=f"{'share' if share else 'effect (nats)'}, one scale for all maps",
            title=(term_label(term), _range(values, measure)), diverging=share, form=".0%" if share else ".3~g",
            legend=index == len(maps) - 1,
            side=marks.THIRD,
            height=22 * len(values), theme=theme,
        )
        for index, (term, values) in enumerate(maps.items())
    ]  # fmt: skip
    inside = 0 <= at[0] < every.shape[1] and 0 <= at[1] < every.shape[2]
    return [outlined(chart, *at, theme) for chart in charts] if inside else charts
