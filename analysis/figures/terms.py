"""Figures of attention's terms over a corpus: stored statistics, per head and over heads."""

import json
from collections.abc import Collection
from shlex import quote
from typing import Any

from analysis.errors import LinkError
from analysis.figures.base import Figure, Params, figure
from analysis.figures.words import begun, percent
from analysis.provenance import model_options
from analysis.sources import ADDED_TERMS, FOUR, TERMS
from analysis.store import read

ORDER = (*FOUR, *(term for term in TERMS if term not in FOUR))
"""The four terms that the question is about, then the other twelve."""
MEASURES = {
    "share": "share of the key-centred scores",
    "effect": "effect on the pattern (KL, nats)",
}
AGGREGATIONS = {"mean_over_heads": "mean over heads", "pooled_over_heads": "pooled over heads"}
CITE = ("ke2021tupe", "reimers2019sbert")


def spoken(term: str) -> str:
    """word_to_position as "word → position": query first."""
    return term.replace("_to_", " → ").replace("_", " ")


def measure_of(params: Params) -> str:
    """The measure that a link asks for."""
    return one_of(params, "measure", MEASURES)


def one_of(params: Params, name: str, known: Collection[str]) -> str:
    """A link's value, if it is a known one. Raises LinkError otherwise."""
    value = str(params[name])
    if value not in known:
        raise LinkError(f"The link says {name}={value!r}; expected one of: {', '.join(known)}.")
    return value


def stored_terms(params: Params, aggregations: tuple[str, ...], *, every_layer: bool = False) -> Any:
    """Rows of the newest measurement of a model over a corpus, under some aggregations; of one revision.

    Of the link's layer alone, unless every one is asked for.
    """
    layer = None if every_layer else int(params.get("layer", 0))
    marks = ", ".join("?" for _ in aggregations)
    found = read.query(
        f"SELECT * FROM newest_terms WHERE model = ? AND corpus = ? AND layer = coalesce(?, layer) "
        f"AND aggregation IN ({marks})",
        [str(params["model"]), str(params["corpus"]), layer, *aggregations],
    )
    if found.empty:
        raise LinkError(
            f"The store has no terms of the model {params['model']!r}{'' if layer is None else f' at layer {layer}'} "
            f"over {params['corpus']!r}. "
            f"Run: python -m analysis measure {model_options(str(params['model']))} "
            f"--corpus {quote(str(params['corpus']))}"
        )
    return found[found.run_id == found.sort_values("created").run_id.iloc[-1]]


def provenance(row: Any) -> dict[str, str]:
    """What stored statistics trace to."""
    return {
        "model": f"{row.model} ({row.revision})",
        "corpus": f"{row.corpus}, {row.texts} texts, {row.queries:,} queries",
        "run": f"{row.run_id}, {row.created}, code {row.git_sha}",
        "device": f"{row.device}, {row['dtype']}",
        "versions": row.versions,
    }


def shown(found: Any) -> list[str]:
    """The terms that the model has, the four first; those of a source that it lacks are zero everywhere."""
    there = set(found.term[found.rms > 0])
    return [term for term in (*ORDER, *ADDED_TERMS) if term in there]


HELD = {"activation": "activation", "other": "other factor", "half": "mean of both ways"}


def held(layer: int, freeze: str) -> str:
    """What is assumed at a layer, in a sentence."""
    if layer == 0:
        return "Layer 0 is exact: only the statistics of norms before its scores are held."
    gates = f", of gated units the {HELD[freeze]}" if freeze else ""
    return (
        f"Method frozen: patterns, norms' statistics and gates{gates} are held at their true values; what position "
        "does through the patterns is not credited to it."
    )


def _held(row: Any) -> str:
    return held(int(row.layer), json.loads(row.config).get("freeze") or "")


def _texts(row: Any) -> str:
    """What a corpus is: how many texts and pairs, and how far a few long ones decide."""
    found = read.query(
        "SELECT count(*) FILTER (text_pair IS NULL) AS texts, count(text_pair) AS pairs FROM corpora WHERE corpus = ?",
        [row.corpus],
    ).iloc[0]
    about = json.loads(row.config)
    length = f"{about['tokens']} tokens" if about.get("tokens") else "the model's length"
    cut = f", {about['truncated_texts']} of them cut to {length}" if about.get("truncated_texts") else ""
    return (
        f"{found.texts} texts and {found.pairs} pairs written for Addend{cut}, {row.queries:,} queries pooled "
        f"(the longest tenth of the texts gives {percent(about['longest_tenth'])} of them)"
    )


def _errors(row: Any) -> str:
    return (
        f"The terms add up to the model's own scores to {row.max_error:.1e} ({row.relative_error:.1e} of their range) "
        f"and its pattern to {row.pattern_error:.1e}, at worst over all texts ({row['dtype']}, {row.device})."
    )


@figure("terms_heads")
def terms_heads(params: Params) -> Figure:
    """Every head's sixteen terms, over a corpus."""
    measure = measure_of(params)
    found = stored_terms(params, ("head",))
    order = shown(found)
    table: Any = found.pivot(index="head", columns="term", values=measure)[order].sort_index()
    first = found.iloc[0]
    lead = table[[term for term in FOUR if term in order]].idxmax(axis=1).value_counts()
    leading = "; ".join(f"{spoken(str(term))} in {count}" for term, count in lead.items())
    columns = [
        "head",
        "term",
        measure,
        f"{measure}_low",
        f"{measure}_high",
        "top1_agreement",
        "rms",
        "texts",
        "queries",
    ]
    return Figure(
        name="terms_heads",
        title=f"Every head at layer {first.layer}",
        frame=lambda: found.sort_values(["head", "term"])[columns],
        caption=(
            f"{begun(MEASURES[measure])}, per head, {first.model}, layer {first.layer}, {_texts(first)}. "
            f"{reading(measure)} {_held(first)} {_errors(first)}"
        ),
        alt=f"Heat map of {len(table)} heads by {len(order)} terms. Of the four word and position terms the largest is "
        f"{leading} of {len(table)} heads.",
        command=(
            f"{first.command}\n"
            f"python -m analysis query \"SELECT * FROM term_stats WHERE model = '{first.model}' "
            f"AND corpus = '{first.corpus}' AND layer = {first.layer}\" --csv"
        ),
        provenance=provenance(first),
        citation_keys=CITE,
        content={"table": table, "measure": measure, "label": MEASURES[measure]},
    )


def reading(measure: str, *, coloured: bool = True) -> str:
    """How to read a measure, in a sentence. coloured: whether colours are its values."""
    if measure == "share":
        adds = "orange adds" if coloured else "a positive one adds"
        return f"Shares of a head sum to 1 and may be negative; {adds} to the scores' variance along keys."
    return "Mean over queries of KL(pattern ‖ pattern without the term); effects do not add up over terms."


@figure("terms_aggregates")
def terms_aggregates(params: Params) -> Figure:
    """The same, over heads: the mean over heads beside the pooled value."""
    measure = measure_of(params)
    # Every head has the same queries, so a mean over heads of effects is the pooled one: show it once.
    wanted = tuple(AGGREGATIONS) if measure == "share" else ("mean_over_heads",)
    found = stored_terms(params, wanted)
    order = shown(found)
    found = found[found.term.isin(order)]
    frame = found[["term", "aggregation", measure, f"{measure}_low", f"{measure}_high", "texts", "queries"]].rename(
        columns={measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
    )
    frame = frame.assign(term_label=frame.term.map(spoken), over=frame.aggregation.map(AGGREGATIONS))
    first = found.iloc[0]
    value = found.set_index(["aggregation", "term"])[measure]
    named = [term for term in ("position_to_position", "word_to_word") if term in order]
    told = "; ".join(
        f"{name}: " + ", ".join(f"{spoken(term)} {value[key, term]:.3f}" for term in named)
        for key, name in AGGREGATIONS.items()
        if key in wanted
    )
    why = " A head with large scores weighs more when heads are pooled." if measure == "share" else ""
    return Figure(
        name="terms_aggregates",
        title="Over all heads, two ways" if measure == "share" else "Over all heads",
        frame=lambda: frame,
        caption=(
            f"{begun(MEASURES[measure])}, {first.model}, layer {first.layer}, {_texts(first)}. "
            f"{told[0].upper()}{told[1:]}.{why} Lines at the dots: 95 % bootstrap intervals, 2,000 resamples of "
            f"{json.loads(first.config)['clusters']} groups of texts that share no passage; they say nothing about "
            "other texts or models."
        ),
        alt=f"Dot plot of {len(order)} terms. {told}.",
        command=(
            f'{first.command}\npython -m analysis query "SELECT term, aggregation, {measure}, {measure}_low, '
            f"{measure}_high FROM newest_terms WHERE model = '{first.model}' AND corpus = '{first.corpus}' "
            f"AND layer = {first.layer} AND aggregation <> 'head'\" --csv"
        ),
        provenance=provenance(first),
        citation_keys=CITE,
        content={
            "label": MEASURES[measure],
            "order": [spoken(term) for term in order],
            "two": len(wanted) == 2,
            "told": told,
        },
    )
