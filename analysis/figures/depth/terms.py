"""Figures of a term against depth: every layer and head, and over heads, from stored statistics."""

from typing import Any

from analysis.core.errors import LinkError
from analysis.core.formatting import capitalised
from analysis.core.term_names import ADDED_TERMS, FOUR, TERMS
from analysis.figures.figure import Figure, Params, figure
from analysis.figures.terms.data import (
    AGGREGATIONS,
    MEASURES,
    leading_by_layer,
    measure_of,
    provenance,
    stored_terms,
    term_label,
)
from analysis.literature.tables import Frame

HOW = (
    "Layer 0 is exact; deeper, method frozen: attention patterns, normalisation statistics and gates are held at their "
    "true values, so nothing is credited to what position does through the patterns."
)


def _where(row: Any, rows: Frame) -> str:
    layers = rows.layer.nunique()
    return (
        f"{row.model}, {layers} {'layer' if layers == 1 else 'layers'}, {row.texts} texts of "
        f"{row.corpus.replace('_', ' ')}, {row.queries:,} queries a head"
    )


@figure("depth_heads")
def heads(params: Params) -> Figure:
    """One term in every layer and head."""
    measure, term = measure_of(params), str(params["term"])
    if term not in (*TERMS, *ADDED_TERMS):
        raise LinkError(f"The link says term={term!r}; expected one of: {', '.join((*TERMS, *ADDED_TERMS))}.")
    result = stored_terms(params, ("head",), every_layer=True)
    result = result[result.term == term]
    if result.empty:
        raise LinkError(f"{params['model']} has no term {term!r}; choose another.")
    table: Any = result.pivot(index="layer", columns="head", values=measure).sort_index()
    first = result.iloc[0]
    at = result.loc[result[measure].idxmax()]
    text = f"{term_label(term)} is largest in layer {at.layer}, head {int(at['head'])}: {at[measure]:.2f}."
    columns = ["layer", "head", "term", measure, f"{measure}_low", f"{measure}_high", "top1_agreement", "method"]
    return Figure(
        name="depth_heads",
        title=f"{term_label(term)} in every head",
        finding=capitalised(text.removesuffix(".")),
        frame=lambda: result.sort_values(["layer", "head"])[columns],
        caption=f"{capitalised(MEASURES[measure])} of {term_label(term)}, {_where(first, result)}. {text} {HOW}",
        alt=f"Heat map of {len(table)} layers by {len(table.columns)} heads. {text}",
        command=first.command,
        provenance=provenance(first),
        citation_keys=("ke2021tupe",),
        content={"table": table, "measure": measure, "label": MEASURES[measure]},
    )


@figure("depth_terms")
def terms(params: Params) -> Figure:
    """The four terms of word and position over heads, by layer; both aggregations of shares."""
    measure = measure_of(params)
    # Every head has the same queries, so a mean over heads of effects is the pooled one: show it once.
    wanted = tuple(AGGREGATIONS) if measure == "share" else ("mean_over_heads",)
    result = stored_terms(params, wanted, every_layer=True)
    shown = result[result.term.isin(FOUR)]
    frame = shown[["layer", "term", "aggregation", measure, f"{measure}_low", f"{measure}_high", "method"]].rename(
        columns={measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
    )
    frame = frame.assign(label=frame.term.map(term_label)).sort_values(
        ["aggregation", "term", "layer"], ignore_index=True
    )
    first = result.iloc[0]
    lead = frame[frame.aggregation == "mean_over_heads"].pivot(index="layer", columns="label", values="value")
    text = "; ".join(f"layer {layer}: {name}" for layer, name in lead.idxmax(axis=1).items())
    why = " A head with large scores weighs more when heads are pooled." if len(wanted) == 2 else ""
    return Figure(
        name="depth_terms",
        title="The four terms against depth",
        finding=leading_by_layer(lead),
        frame=lambda: frame,
        caption=(
            f"{capitalised(MEASURES[measure])}, {_where(first, result)}. Largest of the four, mean over heads: {text}."
            f"{why} The other terms, with segment or bias, are not drawn. Bars: 95 % bootstrap intervals over groups "
            f"of texts that share no passage. {HOW}"
        ),
        alt=f"Lines of four terms against layers. Largest, mean over heads: {text}.",
        command=first.command,
        provenance=provenance(first),
        citation_keys=("ke2021tupe",),
        content={
            "rows": frame,
            "label": MEASURES[measure],
            "order": [term_label(term) for term in FOUR],
            "panels": {name: AGGREGATIONS[name] for name in wanted},
        },
    )
