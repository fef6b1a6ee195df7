"""Figures of attention's terms over a corpus: stored statistics, per head and over heads."""

import json
from dataclasses import dataclass
from shlex import quote
from typing import Annotated, Any

import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.errors import LinkError
from analysis.core.formatting import capitalised, join_names, percent, plural, ranges
from analysis.core.provenance import model_options
from analysis.core.term_names import ADDED_TERMS, FOUR, TERMS
from analysis.figures.figure import Figure, Parameters, figure, one_of
from analysis.figures.one_run import stored_facts
from analysis.store import read

NEGLIGIBLE = 0.005
"""A share or an effect below this is printed as 0.00."""
ORDER = (*FOUR, *(term for term in TERMS if term not in FOUR))
"""The four terms that the question is about, then the other twelve."""
MEASURES = {"share": "share of the key-centred scores", "effect": "effect on the pattern (KL, nats)"}
AGGREGATIONS = {"mean_over_heads": "mean over heads", "pooled_over_heads": "pooled over heads"}
CITATION_KEYS = ("ke2021tupe", "reimers2019sbert")


def term_label(term: str) -> str:
    """word_to_position as "word → position": query first."""
    return term.replace("_to_", " → ").replace("_", " ")


class MeasureParameters(Parameters):
    """measure: a term's share of the scores or its effect on the pattern."""

    measure: Annotated[str, one_of(MEASURES)]


class StoredTermsParameters(MeasureParameters):
    """The model and the corpus that terms were measured over, and one layer."""

    model: str
    corpus: str
    layer: int = 0


@dataclass(frozen=True)
class TermTable:
    """table: a row a head (or layer), a column a term, the values of a measure. label: the measure's name."""

    table: pd.DataFrame
    measure: str
    label: str


@dataclass(frozen=True)
class AggregatesContent:
    """rows: term, aggregation, value and interval, of the terms in `order`. two: whether both aggregations differ."""

    label: str
    rows: pd.DataFrame
    order: list[str]
    two: bool


def stored_terms(model: str, corpus: str, layer: int | None, aggregations: tuple[str, ...]) -> pd.DataFrame:
    """Rows of the newest measurement of a model over a corpus, under some aggregations; of one revision.

    layer: None for all. Raises LinkError where the store has none.
    """
    marks = read.placeholders(aggregations)
    rows = read.query(
        f"SELECT * FROM newest_terms WHERE model = ? AND corpus = ? AND layer = coalesce(?, layer) "
        f"AND aggregation IN ({marks}) ORDER BY layer, head, term, aggregation",
        [model, corpus, layer, *aggregations],
    )
    if rows.empty:
        raise LinkError(
            f"The store has no terms of the model {model!r}{'' if layer is None else f' at layer {layer}'} "
            f"over {corpus!r}. "
            f"Run: python -m analysis measure terms {model_options(model)} --corpus {quote(corpus)}"
        )
    return rows[rows.run_id == rows.sort_values("created").run_id.iloc[-1]]


def provenance(row: pd.Series) -> dict[str, str]:
    """The provenance of stored statistics, with the corpus that they were computed on."""
    return stored_facts(row, corpus=f"{row.corpus}, {row.texts} texts, {row.queries:,} queries")


def visible_terms(result: pd.DataFrame) -> list[str]:
    """The terms that the model has, the four first; those of a source that it lacks are zero everywhere."""
    present = set(result.term[result.rms > 0])
    return [term for term in (*ORDER, *ADDED_TERMS) if term in present]


FREEZE_LABELS = {"activation": "activation", "other": "other factor", "half": "mean of both ways"}


def assumption_note(layer: int, freeze: str) -> str:
    """A sentence on the assumptions made at a layer. freeze: a key of FREEZE_LABELS; empty if there are no gates."""
    if layer == 0:
        return "Layer 0 is exact: only the statistics of norms before its scores are held."
    gates = f", of gated units the {FREEZE_LABELS[freeze]}" if freeze else ""
    return (
        f"Method frozen: patterns, norms' statistics and gates{gates} are held at the values they have in the model; "
        "what position "
        "does through the patterns is not credited to it."
    )


def _assumption(row: pd.Series) -> str:
    return assumption_note(int(row.layer), json.loads(row.config).get("freeze") or "")


def _corpus_description(row: pd.Series) -> str:
    """The size of a corpus in texts and pairs, and the share of the queries that comes from its longest tenth."""
    result = read.query(
        "SELECT count(*) FILTER (text_pair IS NULL) AS texts, count(text_pair) AS pairs FROM corpora WHERE corpus = ?",
        [row.corpus],
    ).iloc[0]
    config = json.loads(row.config)
    length = f"{config['tokens']} tokens" if config.get("tokens") else "the model's length"
    cut = f", {config['truncated_texts']} of them cut to {length}" if config.get("truncated_texts") else ""
    return (
        f"{result.texts} texts and {result.pairs} pairs written for Addend{cut}, {row.queries:,} queries pooled "
        f"(the longest tenth of the texts gives {percent(config['longest_tenth'])} of them)"
    )


def _error_note(row: pd.Series) -> str:
    return (
        f"The terms add up to the model's own scores to {row.max_error:.1e} ({row.relative_error:.1e} of their range) "
        f"and its pattern to {row.pattern_error:.1e}, at worst over all texts ({row['dtype']}, {row.device})."
    )


@figure("terms_heads", StoredTermsParameters)
def terms_heads(params: StoredTermsParameters) -> Figure[TermTable]:
    """Every head's sixteen terms, over a corpus."""
    measure = params.measure
    result = stored_terms(params.model, params.corpus, params.layer, ("head",))
    order = visible_terms(result)
    table: Any = result.pivot(index="head", columns="term", values=measure)[order].sort_index()
    first = result.iloc[0]
    lead = table[[term for term in FOUR if term in order]].idxmax(axis=1).value_counts()
    leading = "; ".join(f"{term_label(str(term))} in {count}" for term, count in lead.items())
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
        title=f"Every head at layer {first.layer}",
        finding=lead_finding(lead, len(table)),
        frame=lambda: result.sort_values(["head", "term"])[columns],
        caption=(
            f"{capitalised(MEASURES[measure])}, per head, {readable(first.model)}, layer {first.layer}, "
            f"{_corpus_description(first)}. {measure_note(measure)} {negligible_note(table)}{_assumption(first)} "
            f"{_error_note(first)}"
        ),
        alt=f"Heat map of {len(table)} heads by {len(order)} terms. Of the four word and position terms the largest is "
        f"{leading} of {len(table)} heads.",
        command=(
            f"{first.command}\n"
            f"python -m analysis query \"SELECT * FROM term_stats WHERE model = '{first.model}' "
            f"AND corpus = '{first.corpus}' AND layer = {first.layer}\" --csv"
        ),
        provenance=provenance(first),
        citation_keys=CITATION_KEYS,
        content=TermTable(table=without_negligible(table), measure=measure, label=MEASURES[measure]),
    )


def measure_note(measure: str, *, coloured: bool = True) -> str:
    """A sentence that explains how to read a measure. coloured: whether colours show its values."""
    if measure == "share":
        adds = "orange adds" if coloured else "a positive one adds"
        return f"Shares of a head sum to 1 and may be negative; {adds} to the scores' variance along keys."
    return "Mean over queries of KL(pattern ‖ pattern without the term); effects do not add up over terms."


@figure("terms_aggregates", StoredTermsParameters)
def terms_aggregates(params: StoredTermsParameters) -> Figure[AggregatesContent]:
    """The same, over heads: the mean over heads beside the pooled value."""
    measure = params.measure
    # Every head has the same queries, so a mean over heads of effects is the pooled one: show it once.
    aggregations = tuple(AGGREGATIONS) if measure == "share" else ("mean_over_heads",)
    result = stored_terms(params.model, params.corpus, params.layer, aggregations)
    sizes = result.assign(size=result[measure].abs()).groupby("term")["size"].max()
    present = visible_terms(result)
    # The four are drawn always; of the others those that are printed as more than 0.00.
    order = [term for term in present if term in FOUR or sizes[term] >= NEGLIGIBLE]
    frame = result[["term", "aggregation", measure, f"{measure}_low", f"{measure}_high", "texts", "queries"]].rename(
        columns={measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
    )
    frame = frame.assign(term_label=frame.term.map(term_label), over=frame.aggregation.map(AGGREGATIONS))
    first = result.iloc[0]
    value = result.set_index(["aggregation", "term"])[measure]
    named = [term for term in ("position_to_position", "word_to_word") if term in order]
    text = "; ".join(
        f"{name}: " + ", ".join(f"{term_label(term)} {value[key, term]:.3f}" for term in named)
        for key, name in AGGREGATIONS.items()
        if key in aggregations
    )
    note = " A head with large scores weighs more when heads are pooled." if measure == "share" else ""
    return Figure(
        title="Over all heads, two ways" if measure == "share" else "Over all heads",
        finding=_aggregates_finding(value, aggregations, named, measure),
        frame=lambda: frame,
        caption=(
            f"{capitalised(MEASURES[measure])}, {readable(first.model)}, layer {first.layer}, "
            f"{_corpus_description(first)}. {text[0].upper()}{text[1:]}.{note} "
            f"{_undrawn_note(len(present) - len(order))}Lines at the dots: 95 % bootstrap intervals, 2,000 resamples "
            f"of {json.loads(first.config)['clusters']} groups of texts that share no passage; they say nothing about "
            "other texts or models."
        ),
        alt=f"Dot plot of {len(order)} terms. {text}.",
        command=(
            f'{first.command}\npython -m analysis query "SELECT term, aggregation, {measure}, {measure}_low, '
            f"{measure}_high FROM newest_terms WHERE model = '{first.model}' AND corpus = '{first.corpus}' "
            f"AND layer = {first.layer} AND aggregation <> 'head'\" --csv"
        ),
        provenance=provenance(first),
        citation_keys=CITATION_KEYS,
        content=AggregatesContent(
            label=MEASURES[measure],
            rows=frame[frame.term.isin(order)],
            order=[term_label(term) for term in order],
            two=len(aggregations) == 2,
        ),
    )


def _undrawn_note(count: int) -> str:
    if not count:
        return ""
    return f"{plural(count, 'term')} below {NEGLIGIBLE} {'is' if count == 1 else 'are'} not drawn; the data have them. "


def _aggregates_finding(value: Any, aggregations: tuple[str, ...], named: list[str], measure: str) -> str:
    """The leading term by the mean over heads and, where there are two aggregations, pooled."""
    if not named:
        return ""
    term = max(named, key=lambda one: value["mean_over_heads", one])
    if measure != "share":
        return f"Leaving out {term_label(term)} changes attention most, by {value['mean_over_heads', term]:.2f} nats"
    text = (
        f"{capitalised(term_label(term))} makes up {percent(value['mean_over_heads', term])} of the variance of scores"
    )
    pooled = [one for one in aggregations if one != "mean_over_heads"]
    if not pooled:
        return text
    return (
        f"{text} in an average head, and {percent(value[pooled[0], term])} of that of all "
        "heads together (heads with large scores count for more)"
    )


def lead_finding(lead: pd.Series, heads: int) -> str:
    """A sentence naming the term, of the four, that is the largest in the most heads.

    lead: the number of heads in which each term is the largest, in descending order.
    """
    if lead.empty:
        return ""
    name = capitalised(term_label(str(lead.index[0])))
    return f"{name} is the largest of the four terms in {lead.iloc[0]} of {heads} heads"


def leading_by_layer(lead: pd.DataFrame) -> str:
    """A sentence that names the largest term at each layer. lead: layers by labels of terms."""
    largest = lead.idxmax(axis=1)
    parts = [
        f"{label} at {'layer' if (largest == label).sum() == 1 else 'layers'} {ranges(largest.index[largest == label])}"
        for label in dict.fromkeys(largest)
    ]
    return f"Of the terms of word and position, the largest is {join_names(parts)}"


def without_negligible(table: pd.DataFrame) -> pd.DataFrame:
    """A table of heads by terms without the terms that round to 0.00 in every head; the four always stay."""
    return table[[term for term in table if term in FOUR or table[term].abs().max() >= NEGLIGIBLE]]


def negligible_note(table: pd.DataFrame) -> str:
    """A sentence on the number of terms that are not drawn, followed by a space; empty if all are drawn."""
    count = table.shape[1] - without_negligible(table).shape[1]
    return f"Not drawn, but in the data: {plural(count, 'term')} below {NEGLIGIBLE:g} in every head. " if count else ""


def leading_term(table: pd.DataFrame) -> str:
    """A sentence naming the term, of the four, that is the largest in the most heads. table: heads by terms."""
    four = table[[term for term in FOUR if term in table]].dropna()
    return lead_finding(four.idxmax(axis=1).value_counts(), len(table)) if four.shape[1] > 1 else ""
