"""Figures of attention's terms: stored statistics over a corpus, and the maps of one text."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis import probes
from analysis.errors import LinkError
from analysis.figures.base import Figure, Params, figure
from analysis.store import read
from analysis.terms.arrange import Arranged, arrange
from analysis.terms.result import FOUR, SOURCES, TERMS, Decomposition

ORDER = (*FOUR, *(term for term in TERMS if term not in FOUR))
"""The four terms that the question is about, then the other twelve."""
MEASURES = {
    "share": "share of the key-centred scores",
    "effect": "effect on the pattern (KL, nats)",
}
GROUPS = {"four": FOUR, "all": TERMS}
AGGREGATIONS = {"mean_over_heads": "mean over heads", "pooled_over_heads": "pooled over heads"}
CITE = ("ke2021tupe", "reimers2019sbert")


def spoken(term: str) -> str:
    """word_to_position as "word → position": query first."""
    return term.replace("_to_", " → ")


def _measure(params: Params) -> str:
    return _one_of(params, "measure", MEASURES)


def _one_of(params: Params, name: str, known: Mapping[str, Any]) -> str:
    value = str(params[name])
    if value not in known:
        raise LinkError(f"The link says {name}={value!r}; expected one of: {', '.join(known)}.")
    return value


def stored_terms(params: Params, aggregations: tuple[str, ...]) -> Any:
    """Rows of the newest measurement of a model over a corpus, under some aggregations."""
    marks = ", ".join("?" for _ in aggregations)
    found = read.query(
        f"SELECT * FROM newest_terms WHERE model = ? AND corpus = ? AND aggregation IN ({marks})",
        [str(params["model"]), str(params["corpus"]), *aggregations],
    )
    if found.empty:
        raise LinkError(
            f"The store has no terms of the model {params['model']!r} over {params['corpus']!r}. "
            f"Run: python -m analysis measure --model {params['model']} --corpus {params['corpus']}"
        )
    return found


def _provenance(row: Any) -> dict[str, str]:
    return {
        "model": f"{row.model} ({row.revision})",
        "corpus": f"{row.corpus}, {row.texts} texts, {row.queries:,} queries",
        "run": f"{row.run_id}, {row.created}, code {row.git_sha}",
        "device": f"{row.device}, {row['dtype']}",
        "versions": row.versions,
    }


def _errors(row: Any) -> str:
    return (
        f"The terms add up to the model's own scores to {row.max_error:.1e} ({row.relative_error:.1e} of their range) "
        f"and its pattern to {row.pattern_error:.1e}, at worst over all texts ({row['dtype']}, {row.device})."
    )


@figure("terms_heads")
def terms_heads(params: Params) -> Figure:
    """Every head's sixteen terms, over a corpus."""
    measure = _measure(params)
    found = stored_terms(params, ("head",))
    table: Any = found.pivot(index="head", columns="term", values=measure)[list(ORDER)].sort_index()
    first = found.iloc[0]
    lead = table[list(FOUR)].idxmax(axis=1).value_counts()
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
        title="Every head at layer 0",
        frame=lambda: found.sort_values(["head", "term"])[columns],
        caption=(
            f"{MEASURES[measure].capitalize()}, per head, {first.model}, layer 0, {first.texts} texts, "
            f"{first.queries:,} queries pooled. {_reading(measure)} {_errors(first)}"
        ),
        alt=f"Heat map of {len(table)} heads by 16 terms. Of the four word and position terms the largest is {leading} "
        f"of {len(table)} heads.",
        command=(
            f"{first.command}\n"
            f"python -m analysis query \"SELECT * FROM term_stats WHERE model = '{first.model}'\" --csv"
        ),
        provenance=_provenance(first),
        citation_keys=CITE,
        content={"table": table, "measure": measure, "label": MEASURES[measure]},
    )


def _reading(measure: str) -> str:
    if measure == "share":
        return "Shares of a head sum to 1 and may be negative; orange adds to the scores' variance along keys."
    return "Mean over queries of KL(pattern ‖ pattern without the term); effects do not add up over terms."


@figure("terms_aggregates")
def terms_aggregates(params: Params) -> Figure:
    """The same, over heads: the mean over heads beside the pooled value."""
    measure = _measure(params)
    # Every head has the same queries, so a mean over heads of effects is the pooled one: show it once.
    wanted = tuple(AGGREGATIONS) if measure == "share" else ("mean_over_heads",)
    found = stored_terms(params, wanted)
    frame = found[["term", "aggregation", measure, f"{measure}_low", f"{measure}_high", "texts", "queries"]].rename(
        columns={measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
    )
    frame = frame.assign(term_label=frame.term.map(spoken), over=frame.aggregation.map(AGGREGATIONS))
    first = found.iloc[0]
    value = found.set_index(["aggregation", "term"])[measure]
    told = "; ".join(
        f"{name}: {spoken('position_to_position')} {value[key, 'position_to_position']:.3f}, "
        f"{spoken('word_to_word')} {value[key, 'word_to_word']:.3f}"
        for key, name in AGGREGATIONS.items()
        if key in wanted
    )
    why = " A head with large scores weighs more when heads are pooled." if measure == "share" else ""
    return Figure(
        name="terms_aggregates",
        title="Over all heads, two ways" if measure == "share" else "Over all heads",
        frame=lambda: frame,
        caption=(
            f"{MEASURES[measure].capitalize()}, {first.model}, layer 0, {first.texts} texts. "
            f"{told[0].upper()}{told[1:]}.{why} Lines at the dots: 95 % bootstrap intervals over texts, "
            "2,000 resamples; they say nothing about other models."
        ),
        alt=f"Dot plot of 16 terms. {told}.",
        command=str(first.command),
        provenance=_provenance(first),
        citation_keys=CITE,
        content={"label": MEASURES[measure], "order": [spoken(term) for term in ORDER], "two": len(wanted) == 2},
    )


def _about(made: Decomposition) -> dict[str, str]:
    about = made.provenance
    return {
        "model": f"{about.model} ({about.revision})",
        "text": about.text,
        **({"second text": about.text_pair} if about.text_pair else {}),
        "run": f"{about.created}, code {about.git_sha}, {about.seconds:.2f} s",
        "device": f"{about.device}, {about.dtype}",
        "versions": about.versions,
    }


def _live_errors(made: Decomposition) -> str:
    about = made.provenance
    return (
        f"Sum of the sixteen terms against the model's own scores: {made.max_error:.1e} at most "
        f"({made.relative_error:.1e} of their range); patterns: {made.pattern_error:.1e} "
        f"({about.dtype} on {about.device})."
    )


def _where(made: Decomposition, head: int | None = None) -> str:
    cut = f", cut from {made.provenance.truncated_from}" if made.provenance.truncated_from else ""
    which = f", head {head}" if head is not None else f", {made.heads} heads"
    return f"{made.provenance.model}, layer {made.layer}{which}, one text of {len(made.tokens)} tokens{cut}"


@figure("probe_heads", live=True)
def probe_heads(params: Params, made: Decomposition) -> Figure:
    """Every head's sixteen terms, on one text."""
    measure = _measure(params)
    by_term = made.shares() if measure == "share" else made.effects()
    table = pd.DataFrame(by_term)[list(ORDER)]
    table.index.name = "head"
    long = table.reset_index().melt("head", var_name="term", value_name=measure)
    return Figure(
        name="probe_heads",
        title="Every head on this text",
        frame=lambda: long,
        caption=f"{MEASURES[measure].capitalize()}, {_where(made)}. {_reading(measure)} {_live_errors(made)}",
        alt=f"Heat map of {made.heads} heads by 16 terms on one text of {len(made.tokens)} tokens.",
        command=probes.command(made),
        provenance=_about(made),
        citation_keys=CITE,
        content={"table": table, "measure": measure, "label": MEASURES[measure]},
    )


def _arranged(params: Params, made: Decomposition) -> tuple[int, Arranged]:
    head = int(params["head"])
    if not 0 <= head < made.heads:
        raise LinkError(f"The link says head={head}; this model has heads 0 to {made.heads - 1}.")
    terms = GROUPS[_one_of(params, "group", GROUPS)]
    view = arrange(
        made,
        head,
        terms,
        words=bool(params["words"]),
        specials=bool(params["specials"]),
        centred=bool(params["centred"]),
    )
    if not view.labels:
        raise LinkError("Nothing is left to show: the text has special tokens only. Show the special tokens.")
    return head, view


def _reach(view: Arranged) -> float:
    """One scale for every map of a head: terms, rest and total, so that they can be compared."""
    return float(max(np.abs(x).max() for x in (*view.terms.values(), view.rest, view.total))) or 1.0


def _map_frame(maps: Mapping[str, np.ndarray], labels: list[str]) -> pd.DataFrame:
    names = np.asarray(labels, dtype=object)
    parts = []
    for name, values in maps.items():
        query, key = np.indices(values.shape)
        parts.append(
            pd.DataFrame(
                {
                    "map": name,
                    "query": query.ravel(),
                    "key": key.ravel(),
                    "query_token": names[query.ravel()],
                    "key_token": names[key.ravel()],
                    "value": values.ravel(),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _drawn(params: Params) -> str:
    said = ["key-centred (each row less its mean)" if params["centred"] else "as they are, before centring"]
    if params["words"]:
        said.append("word pieces averaged to words")
    if not params["specials"]:
        said.append("special tokens hidden")
    return ", ".join(said)


@figure("probe_maps", live=True)
def probe_maps(params: Params, made: Decomposition) -> Figure:
    """The terms of one head, side by side on one scale."""
    head, view = _arranged(params, made)
    maps = view.terms
    largest = max(maps, key=lambda term: float(np.abs(maps[term]).max()))
    share = {term: float(made.shares()[term][head]) for term in maps}
    effect = {term: float(made.effects()[term][head]) for term in maps}
    return Figure(
        name="probe_maps",
        title=f"Head {head}, term by term",
        frame=lambda: _map_frame(maps, view.labels),
        caption=(
            f"Pre-softmax scores, {_where(made, head)}; {_drawn(params)}. Rows ask (query), columns answer (key); "
            f"one scale for all maps of this head. {_live_errors(made)}"
        ),
        alt=f"{len(maps)} maps, {len(view.labels)} tokens a side; the largest values are in {spoken(largest)}.",
        command=probes.command(made),
        provenance=_about(made),
        citation_keys=CITE,
        content={
            "maps": maps,
            "labels": view.labels,
            "reach": _reach(view),
            "share": share,
            "effect": effect,
            "columns": 2 if len(maps) == len(FOUR) else len(SOURCES),
        },
    )


@figure("probe_total", live=True)
def probe_total(params: Params, made: Decomposition) -> Figure:
    """What the terms add up to: the rest, the total, and the pattern after softmax."""
    head, view = _arranged(params, made)
    rest = {"the other terms": view.rest} if len(view.terms) < len(TERMS) else {}
    maps = {**rest, "total": view.total, "pattern": view.pattern}
    query, key = np.unravel_index(int(view.pattern.argmax()), view.pattern.shape)
    return Figure(
        name="probe_total",
        title=f"Head {head}, added up",
        frame=lambda: _map_frame(maps, view.labels),
        caption=(
            "The total is the model's own score, on the scale of the maps above; the pattern is its softmax over keys, "
            f"from 0 to {view.pattern.max():.2f}. {_where(made, head)}; {_drawn(params)}."
        ),
        alt=f"The strongest attention is from {view.labels[query]} to {view.labels[key]}, {view.pattern.max():.2f}.",
        command=probes.command(made),
        provenance=_about(made),
        citation_keys=CITE,
        content={
            "scores": {**rest, "total": view.total},
            "pattern": view.pattern,
            "labels": view.labels,
            "reach": _reach(view),
        },
    )
