"""Figures of a term against depth: every layer and head, and over heads, from stored statistics."""

import math
from typing import Annotated, Any

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.errors import LinkError, NoResults
from analysis.core.formatting import capitalised, fixed, percent
from analysis.core.term_names import ADDED_TERMS, FOUR, TERMS
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import STRONGEST, Figure, figure, one_of
from analysis.figures.terms.corpus import provenance, stored_terms, withheld_note
from analysis.figures.terms.maps import REST
from analysis.figures.terms.measured_colours import measured_colours
from analysis.figures.terms.measures import (
    AGGREGATIONS,
    MEASURES,
    TERM,
    MeasureParameters,
    leading_by_layer,
    term_label,
)
from analysis.figures.terms.term_marks import draw_bars, line_names, series_hues
from analysis.probes.drawn_images import CORPUS

TALL = 300
CELL, NUMBER = 30, 34
"""Pixels: the height of a row, and the width that a number takes."""
METHOD_NOTE = (
    "Layer 0 is exact; deeper layers use method frozen: attention patterns, normalisation statistics and gates are "
    "held at the values that they have in the model, so nothing is credited to what position does through the "
    "patterns."
)


def _description(row: Any, rows: pd.DataFrame) -> str:
    layers, corpus = rows.layer.nunique(), row.corpus.replace("_", " ").replace("probe set", "the probe set")
    inputs = f"{row.texts} {corpus}" if row.corpus == CORPUS else f"{row.texts} texts of {corpus}"
    return (
        f"{readable(row.model)}, {layers} {'layer' if layers == 1 else 'layers'}, {inputs}. Of each head "
        f"{row.queries:,} queries are pooled"
    )


class TermsParameters(MeasureParameters):
    """The model and the corpus that terms were measured over."""

    model: str
    corpus: str


class TermParameters(TermsParameters):
    """One term."""

    term: Annotated[str, one_of((*TERMS, *ADDED_TERMS))]


class DepthCellParameters(TermParameters):
    """One head of one layer; -1: where the term is largest."""

    at_layer: int = STRONGEST
    at_head: int = STRONGEST


@figure("depth_heads", TermParameters)
def heads(params: TermParameters) -> Figure:
    """One term in every layer and head."""
    measure, term = params.measure, params.term
    result = stored_terms(params.model, params.corpus, None, ("head",))
    result = result[result.term == term]
    if result.empty:
        raise LinkError(f"{readable(params.model)} has no term {term!r}; choose another.")
    table: Any = result.pivot(index="layer", columns="head", values=measure).sort_index()
    first = result.iloc[0]
    if result[measure].isna().all():
        raise NoResults(f"No share of {term_label(term)} is given. {withheld_note(result).rstrip()}")
    peak = result.nlargest(1, measure).iloc[0]
    size = f"{percent(peak[measure])} of what varies" if measure == "share" else f"{fixed(peak[measure])} nats"
    given = int(result[measure].notna().sum())
    among = f"Among the {given} of {len(result)} heads whose terms do not cancel, " if given < len(result) else ""
    text = f"{among}{term_label(term)} is largest in layer {peak.layer}, head {int(peak['head'])}: {size}."
    columns = ["layer", "head", "term", measure, f"{measure}_low", f"{measure}_high", "top1_agreement", "method"]
    return Figure(
        title=f"{term_label(term)} in every head",
        finding=capitalised(text.removesuffix(".")),
        frame=lambda: result.sort_values(["layer", "head"])[columns],
        caption=f"{withheld_note(result)}{capitalised(MEASURES[measure])} of {term_label(term)}, "
        f"{_description(first, result)}. {text} {METHOD_NOTE}",
        alt=f"Heat map of {len(table)} layers by {len(table.columns)} heads. {text}",
        command=first.command,
        provenance=provenance(first),
        citation_keys=("ke2021tupe",),
        draw=lambda theme: [_draw_heads(table, measure, theme)],
    )


@figure("depth_cell", DepthCellParameters)
def cell(params: DepthCellParameters) -> Figure:
    """Every term of one layer and head: those of word and position, and the others together."""
    measure, term = params.measure, params.term
    result = stored_terms(params.model, params.corpus, None, ("head",))
    layer, head = params.at_layer, params.at_head
    if STRONGEST in (layer, head):
        peak = result[result.term == term].nlargest(1, measure).iloc[0]
        layer, head = int(peak.layer), int(peak["head"])
    head_rows = result[(result.layer == layer) & (result["head"] == head)].set_index("term")
    if head_rows.empty:
        raise LinkError(
            f"The link says layer {layer}, head {head}; {readable(params.model)} has layers 0 to {result.layer.max()} "
            f"and heads 0 to {int(result['head'].max())}."
        )
    if head_rows[measure].isna().all():
        raise NoResults(f"No share is given in layer {layer}, head {head}. {withheld_note(head_rows).rstrip()}")
    shown: Any = head_rows.reindex(
        [name for name in (*FOUR, *ADDED_TERMS) if name in head_rows.index and head_rows.rms[name] > 0]
    )
    parts = {name: float(value) for name, value in shown[measure].items()}
    # Shares add up to 1, so that the others have a sum; effects do not add up.
    if measure == "share" and not math.isnan(total := float(head_rows[measure].sum())):
        parts[REST] = total - sum(parts.values())
    frame = pd.DataFrame({"part": list(parts), "value": list(parts.values())}).assign(layer=layer, head=head)
    largest = max(FOUR, key=lambda name: parts.get(name, -math.inf))
    text = f"In layer {layer}, head {head}, the largest of the four terms is {term_label(largest)}: "
    text += f"{percent(parts[largest])} of what varies." if measure == "share" else f"{fixed(parts[largest])} nats."
    first = head_rows.iloc[0]
    return Figure(
        title=f"Layer {layer}, head {head}: its terms",
        finding=text.removesuffix("."),
        frame=lambda: frame,
        caption=f"{capitalised(MEASURES[measure])}, {_description(first, result)}. {text} {METHOD_NOTE}",
        alt=f"Bars, one a term. {text}",
        command=first.command,
        provenance=provenance(first),
        citation_keys=("ke2021tupe",),
        draw=lambda theme: [draw_bars(frame, MEASURES[measure], theme, decimals=2, share=measure == "share")],
    )


@figure("depth_terms", TermsParameters)
def terms(params: TermsParameters) -> Figure:
    """The four terms of word and position over heads, by layer; both aggregations of shares."""
    measure = params.measure
    # Every head has the same queries, so a mean over heads of effects is the pooled one: show it once.
    aggregations = tuple(AGGREGATIONS) if measure == "share" else ("mean_over_heads",)
    result = stored_terms(params.model, params.corpus, None, aggregations)
    shown = result[result.term.isin(FOUR)]
    frame = shown[["layer", "term", "aggregation", measure, f"{measure}_low", f"{measure}_high", "method"]].rename(
        columns={measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
    )
    frame = frame.assign(label=frame.term.map(term_label)).sort_values(
        ["aggregation", "term", "layer"], ignore_index=True
    )
    first = result.iloc[0]
    lead = frame[frame.aggregation == "mean_over_heads"].pivot(index="layer", columns="label", values="value")
    lead = lead.dropna(how="all")
    if lead.empty:
        raise NoResults(f"No share over heads is given at any layer. {withheld_note(result).rstrip()}")
    text = "; ".join(f"layer {layer}: {name}" for layer, name in lead.idxmax(axis=1).items())
    note = " A head with large scores weighs more when heads are pooled." if len(aggregations) == 2 else ""
    return Figure(
        title="The four terms against depth",
        finding=leading_by_layer(lead),
        frame=lambda: frame,
        caption=(
            f"{withheld_note(result)}{capitalised(MEASURES[measure])}, {_description(first, result)}. Largest of the "
            f"four, mean over heads: {text}.{note} The other terms, with segment or bias, are not drawn. Bars: 95 % "
            f"bootstrap intervals over groups of texts that share no passage. {METHOD_NOTE}"
        ),
        alt=f"Lines of four terms against layers. Largest, mean over heads: {text}.",
        command=first.command,
        provenance=provenance(first),
        citation_keys=("ke2021tupe",),
        draw=lambda theme: _draw_terms(frame, {name: AGGREGATIONS[name] for name in aggregations}, measure, theme),
        columns=2,
    )


def _draw_heads(table: pd.DataFrame, measure: str, theme: Theme) -> Chart:
    """Layers down, heads across, the number in every cell."""
    label = MEASURES[measure]
    colour, ink = measured_colours(table.to_numpy(dtype=float), measure, label, theme)
    base = alt.Chart(table.reset_index().melt("layer", var_name="head", value_name="value")).encode(
        x=marks.categories(alt.X, "head", "head", place="top"),
        y=marks.categories(alt.Y, "layer", "layer"),
        tooltip=marks.tips("layer", "head", ("value", label, ".4f")),
    )
    # Where there is no room for them tooltips and the data table still give the numbers.
    visibility = alt.expr(f"width < {NUMBER * len(table.columns)} ? 0 : 1")
    form = ".0%" if measure == "share" else ".2f"
    numbers = base.mark_text(fontSize=marks.TEXT, opacity=visibility).encode(color=ink)
    numbers["mark"]["text"] = alt.expr(f"isValid(datum.value) ? format(datum.value, '{form}') : '–'")
    cells = base.mark_rect().encode(color=colour)
    return marks.panel(cells, numbers, theme=theme, width=marks.WIDE, height=CELL * len(table))


def _draw_terms(rows: pd.DataFrame, panels: dict[str, str], measure: str, theme: Theme) -> list[Chart]:
    """A line a term; one panel an aggregation, all on one scale."""
    order = [term_label(term) for term in FOUR]
    low, high = min(0.0, float(rows.low.min())), float(rows.high.max())
    form = ".0%" if measure == "share" else alt.Undefined
    y = marks.number(alt.Y, "value", MEASURES[measure], domain=(low, high), padding=6, form=form)
    rows = rows.rename(columns={"label": "series"}).dropna(subset="value")
    charts = []
    for name, title in panels.items():
        own = rows[rows.aggregation == name]
        lines = marks.line_plot(
            own, x=marks.categories(alt.X, "layer", "layer"), y=y, theme=theme, color=series_hues(order, theme),
            ends=("low", "high"),
            tooltip=(
                ("series", TERM), "layer", ("value", "", ".4f"), *marks.interval_tips(".4f"), "method",
            ),
        )  # fmt: skip
        layers = marks.rule(theme, y=0), *lines, *line_names(own, order, y, theme, height=TALL)
        charts.append(marks.panel(*layers, theme=theme, width=marks.HALF, height=TALL, title=title))
    return charts
