"""Figures of attention's terms over a corpus: stored statistics, per head and over heads."""

import json
from shlex import quote
from typing import Any

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.errors import LinkError, NoResults
from analysis.core.formatting import capitalised, percent, plural
from analysis.core.provenance import model_options
from analysis.core.term_names import ADDED_TERMS, FOUR
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.one_run import stored_facts
from analysis.figures.terms.heads import (
    beside_note,
    draw_heads,
    leading_terms,
    negligible_note,
    sorted_by_largest,
    without_negligible,
)
from analysis.figures.terms.measures import (
    AGGREGATIONS,
    CITATION_KEYS,
    MEASURES,
    NEGLIGIBLE,
    ORDER,
    TERM,
    MeasureParameters,
    assumption_note,
    measure_note,
    term_label,
)
from analysis.measurements.terms.result import MAX_CANCELLATION
from analysis.store import read


class StoredTermsParameters(MeasureParameters):
    """The model and the corpus that terms were measured over, and one layer."""

    model: str
    corpus: str
    layer: int = 0


def stored_terms(model: str, corpus: str, layer: int | None, aggregations: tuple[str, ...]) -> pd.DataFrame:
    """Rows of the newest measurement of a model over a corpus, under some aggregations; of one revision.

    layer: None for all. Raises LinkError where the store has none.
    """
    placeholders = read.placeholders(aggregations)
    rows = read.query(
        f"SELECT * FROM newest_terms WHERE model = ? AND corpus = ? AND layer = coalesce(?, layer) "
        f"AND aggregation IN ({placeholders}) ORDER BY layer, head, term, aggregation",
        [model, corpus, layer, *aggregations],
    )
    if rows.empty:
        raise LinkError(
            f"The store has no terms of the model {model!r}{'' if layer is None else f' at layer {layer}'} "
            f"over {corpus!r}. "
            f"Run: python -m analysis measure terms {model_options(model)} --corpus {quote(corpus)}"
        )
    return rows[rows.run_id == rows.sort_values("created").run_id.iloc[-1]]


def over_texts(model: str, revision: str) -> pd.DataFrame:
    """The newest terms of every layer and head over our own texts, of one revision of a model; empty where none are.

    A text can be taken apart without a store, and then has none beside it. Columns: layer, head, term, share, effect
    and texts, their number.
    """
    columns = ("layer", "head", "term", "share", "effect", "texts")
    return read.query_if_stored(
        f"SELECT {', '.join(columns)} FROM newest_terms "
        "WHERE model = ? AND revision = ? AND corpus = ? AND aggregation = 'head' ORDER BY layer, head, term",
        [model, revision, TEXTS],
        columns,
    )


TEXTS = "probe_set"
"""The corpus of our own texts."""


def provenance(row: pd.Series) -> dict[str, str]:
    """The provenance of stored statistics, with the corpus that they were computed on."""
    return stored_facts(row, corpus=f"{row.corpus}, {row.texts} texts, {row.queries:,} queries")


def withheld_note(result: pd.DataFrame) -> str:
    """A sentence, followed by a space, on the heads whose terms cancel; empty where there are none.

    result: rows of `stored_terms`; without rows of single heads, the layers are counted.
    """
    heads = result[result.aggregation == "head"]
    rows, kind = (heads, "head") if len(heads) else (result, "layer")
    every = rows.groupby(["layer", "head"] if kind == "head" else "layer").share.apply(lambda share: share.isna().any())
    count, total = int(every.sum()), len(every)
    if not count:
        return ""
    where = f"In {count} of {plural(total, kind)}" if total > 1 else "Here"
    return (
        f"{where} the terms cancel: together they are more than {MAX_CANCELLATION:.0f} times as large as the scores "
        "that they add up to, so that shares are withheld, and the effect of leaving one out says little (see Method "
        "and data). "
    )


def visible_terms(result: pd.DataFrame) -> list[str]:
    """The terms that the model has, the four first; those of a source that it lacks are zero everywhere."""
    present = set(result.term[result.rms > 0])
    return [term for term in (*ORDER, *ADDED_TERMS) if term in present]


def _assumption(row: pd.Series) -> str:
    return assumption_note(int(row.layer), json.loads(row.config).get("freeze") or "")


def _corpus_description(row: pd.Series) -> str:
    """The size of a corpus in texts and pairs; and a sentence on its queries, and on those of its longest tenth."""
    result = read.query(
        "SELECT count(*) FILTER (text_pair IS NULL) AS texts, count(text_pair) AS pairs FROM corpora WHERE corpus = ?",
        [row.corpus],
    ).iloc[0]
    config = json.loads(row.config)
    length = f"{config['tokens']} tokens" if config.get("tokens") else "the model's length"
    cut = f", {config['truncated_texts']} of them cut to {length}" if config.get("truncated_texts") else ""
    return (
        f"{result.texts} texts and {result.pairs} pairs written for Addend{cut}. Queries are pooled, "
        f"{row.queries:,} in all; the longest tenth of the texts gives {percent(config['longest_tenth'])} of them"
    )


def _error_note(row: pd.Series) -> str:
    return (
        f"The terms add up to the model's own scores to {row.max_error:.1e} ({row.relative_error:.1e} of their range) "
        f"and its pattern to {row.pattern_error:.1e}, at worst over all texts ({row['dtype']}, {row.device})."
    )


@figure("terms_heads", StoredTermsParameters)
def terms_heads(params: StoredTermsParameters) -> Figure:
    """Every head's sixteen terms, over a corpus."""
    measure = params.measure
    result = stored_terms(params.model, params.corpus, params.layer, ("head",))
    order = visible_terms(result)
    table: Any = sorted_by_largest(result.pivot(index="head", columns="term", values=measure)[order].sort_index())
    first = result.iloc[0]
    leading = leading_terms(table)
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
        title=f"Every head at layer {first.layer}, over {first.texts:,} texts",
        finding=leading and f"At layer {first.layer}, {leading[0].lower()}{leading[1:]}",
        frame=lambda: result.sort_values(["head", "term"])[columns],
        caption=(
            f"{withheld_note(result)}{beside_note(table)}{capitalised(MEASURES[measure])}, per head, "
            f"{readable(first.model)}, layer {first.layer}, {_corpus_description(first)}. Heads stand by their largest "
            f"term. {measure_note(measure)} {negligible_note(table)}{_assumption(first)} {_error_note(first)}"
        ),
        alt=f"Heat map of {len(table)} heads by {len(order)} terms. {leading}.",
        command=(
            f"{first.command}\n"
            f"python -m analysis query \"SELECT * FROM term_stats WHERE model = '{first.model}' "
            f"AND corpus = '{first.corpus}' AND layer = {first.layer}\" --csv"
        ),
        provenance=provenance(first),
        citation_keys=CITATION_KEYS,
        draw=lambda theme: [draw_heads(without_negligible(table), measure, theme)],
    )


@figure("terms_aggregates", StoredTermsParameters)
def terms_aggregates(params: StoredTermsParameters) -> Figure:
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
    if frame.value.isna().all():
        raise NoResults(f"At layer {first.layer} no share over heads is given. {withheld_note(result).rstrip()}")
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
        finding=_aggregates_finding(value, aggregations, named, measure, int(first.layer)),
        frame=lambda: frame,
        caption=(
            f"{withheld_note(result)}{capitalised(MEASURES[measure])}, {readable(first.model)}, layer {first.layer}, "
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
        draw=lambda theme: [_draw_aggregates(frame, order, MEASURES[measure], theme)],
    )


def _undrawn_note(count: int) -> str:
    if not count:
        return ""
    return f"{plural(count, 'term')} below {NEGLIGIBLE} {'is' if count == 1 else 'are'} not drawn; the data have them. "


def _aggregates_finding(value: Any, aggregations: tuple[str, ...], named: list[str], measure: str, layer: int) -> str:
    """A term by the mean over heads and, where there are two aggregations, pooled.

    Of effects that is the largest of all terms; of shares the larger of those in `named`.
    """
    if not named:
        return ""
    at = f"At layer {layer}, "
    if measure != "share":
        most, effect = value["mean_over_heads"].idxmax(), value["mean_over_heads"].max()
        return f"{at}leaving out {term_label(most)} changes attention most, by {effect:.2f} nats"
    term = max(named, key=lambda one: value["mean_over_heads", one])
    text = f"{at}{term_label(term)} makes up {percent(value['mean_over_heads', term])} of the variance of scores"
    pooled = [one for one in aggregations if one != "mean_over_heads"]
    if not pooled:
        return text
    return (
        f"{text} in a head on average, and {percent(value[pooled[0], term])} of that of all "
        "heads together (heads with large scores count for more)"
    )


def _draw_aggregates(frame: pd.DataFrame, terms: list[str], label: str, theme: Theme) -> Chart:
    """A dot and an interval for each term; the two aggregations in two colours and two shapes."""
    rows, order = frame[frame.term.isin(terms)], [term_label(term) for term in terms]
    names, two = list(AGGREGATIONS.values()), frame.over.nunique() == len(AGGREGATIONS)
    key = marks.legend(place="top") if two else None
    form = ".0%" if label == MEASURES["share"] else alt.Undefined
    dots = marks.row_plot(
        rows, x=marks.number(alt.X, "value", label, zero=True, ticks=5, form=form),
        y=marks.rows_down("term_label", order, title=TERM, grid=False), theme=theme,
        color=marks.series("over", names, theme, key), shape=marks.shapes("over", names, key),
        offset=alt.YOffset("over:N", sort=names) if two else alt.Undefined, bars=True,
        tooltip=(("term_label", "term"), ("over", "aggregation"), ("value", label, ".4f"), *marks.interval_tips(".4f")),
    )  # fmt: skip
    height = (34 if two else marks.ROW) * len(order)
    return marks.panel(marks.rule(theme, x=0), *dots, theme=theme, width=620, height=height)
