"""Term statistics over a corpus: pooled over its queries, with intervals over its independent texts."""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from shlex import quote

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from analysis.core.errors import TextError
from analysis.core.term_names import TERMS
from analysis.measurements.terms import measures
from analysis.measurements.terms.run import checked_family, encode, error_of, sum_of_terms
from analysis.models.families import Family
from analysis.models.load import Loaded
from analysis.models.trace_sources import Layer, trace_sources
from analysis.statistics.resampling import INTERVAL, RESAMPLES, bootstrap
from analysis.store import files
from analysis.store.unfinished import PartialResults

SEED = 0
PASSAGE = 40
"""Texts that share a passage of at least so many characters are not independent of one another."""


def measure_corpus(
    loaded: Loaded,
    texts: Sequence[tuple[str, str | None]],
    corpus: str,
    *,
    freeze: str = "activation",
    tokens: int | None = None,
    given: bool = False,
    called: str | None = None,
    name: str | None = None,
    each: Iterable[int] | None = None,
) -> Path:
    """Shares and effects at every layer over all texts, written as one results file; returns its path.

    Per head, shares pool the queries of all texts (summed numerators over summed denominators) and
    effects average over them. Over heads, both aggregations are kept, since they may tell opposite
    stories: the mean over heads, and pooled over heads, where a head weighs as the variance of its
    scores. Intervals: percentile bootstrap, 2,000 resamples of groups of texts that share no passage.
    called: the model's name in the results, instead of its folder's. tokens: the most that are taken of a text, where
    training reached fewer positions than the model has. given: whether the texts come from a file of the caller's and
    not from the store; the run then holds their SHA-256.
    Raises TextError for a corpus without texts, or of texts of one token alone.
    """
    if not texts:
        raise TextError(f"The corpus {corpus!r} holds no text; expected one that the store's table corpora lists.")
    started = time.perf_counter()
    family = checked_family(loaded.model, loaded.source.name)
    measured: list[list[InputMeasures]] = []
    cut = 0
    unfinished = PartialResults(kind="terms", **loaded.facts(), texts=list(texts), freeze=freeze, tokens=tokens)
    for index in each if each is not None else range(len(texts)):
        inputs, _, cut_from = encode(loaded.tokenizer, *texts[index], loaded.model, truncate=True, tokens=tokens)
        measured.append(measure_layers(loaded, family, inputs, freeze, unfinished, index))
        cut += cut_from is not None
    if not any(text[0].queries for text in measured):
        raise TextError(
            f"Every text of the corpus {corpus!r} is one token long for this model, which then attends to nothing "
            "else; expected one of two tokens or more."
        )
    groups = groups_of(texts)
    draws, bias_terms = draws_of(groups), family.bias_terms(loaded.model.config)
    rows = [
        row
        for layer in range(len(measured[0]))
        for row in rows_of([text[layer] for text in measured], layer, draws, bias_terms)
    ]
    queries = np.sort([text[0].queries for text in measured])
    cached = f" --freeze {freeze}" if family.gated(loaded.model.config) else ""
    run = files.Run(
        kind="terms",
        command=(
            f"{loaded.command('measure terms', called)}{' --texts TEXT' * given} --corpus {quote(corpus)}{cached}"
            f"{f' --tokens {tokens}' if tokens else ''}"
        ),
        **loaded.facts(called),
        seed=SEED,
        config={
            "resamples": RESAMPLES,
            "interval_percent": INTERVAL[1] - INTERVAL[0],
            "clusters": len(np.unique(groups)),
            "longest_tenth": float(queries[-max(1, len(queries) // 10) :].sum() / queries.sum()),
            "truncated_texts": cut,
            "tokens": tokens,
            "freeze": freeze if cached else None,
            "layers": len(measured[0]),
            "resumed": unfinished.resumed,
            **({"texts_sha256": hashlib.sha256(json.dumps(texts).encode()).hexdigest()} if given else {}),
        },
        seconds=time.perf_counter() - started,
    )
    path = files.write_rows(rows, run, name=name, shared={"corpus": corpus})
    unfinished.discard()
    return path


@dataclass(frozen=True)
class InputMeasures:
    """One layer on one text or image. Arrays are (term, head) but power, (head,)."""

    parts: Float[ndarray, "term head"]
    power: Float[ndarray, " head"]
    effect: Float[ndarray, "term head"]
    agreement: Float[ndarray, "term head"]
    square: Float[ndarray, "term head"]
    centred: Float[ndarray, "term head"]
    pairs: int
    queries: int
    errors: tuple[float, float, float]


def measure_layers(
    loaded: Loaded, family: Family, inputs: Mapping[str, object], freeze: str, unfinished: PartialResults, index: int
) -> list[InputMeasures]:
    """Every layer of one text or image: as an unfinished measurement has it under `index`, else measured and kept."""
    names = [field.name for field in fields(InputMeasures)]
    if stored := unfinished.get(index):
        return [InputMeasures(*layer) for layer in zip(*(stored[name] for name in names), strict=True)]
    items: list[InputMeasures] = []
    trace_sources(loaded.model, family, inputs, lambda traced: items.append(measure_input(traced)), freeze=freeze)
    unfinished.save(index, {name: np.stack([getattr(layer, name) for layer in items]) for name in names})
    return items


def measure_input(layer: Layer) -> InputMeasures:
    """Measures of one layer on one text, in a form that can be pooled over texts."""
    factors, mask = layer.factors(), layer.attended()
    arguments = (factors.query, factors.key, factors.scale, mask, factors.bias)
    part, power = measures.share_parts(*arguments)
    effect, agreement = measures.effects(*arguments)
    scores, total = layer.call.scores[0], sum_of_terms(factors)
    hidden = torch.zeros_like(scores[0], dtype=torch.bool) if mask is None else ~mask
    pattern = total.masked_fill(hidden, -torch.inf).softmax(-1)
    length = scores.shape[-1]
    return InputMeasures(
        parts=part.cpu().numpy(),
        power=power.cpu().numpy(),
        effect=effect.cpu().numpy(),
        agreement=agreement.cpu().numpy(),
        square=measures.raw_rms(*arguments).cpu().numpy() ** 2,
        centred=measures.centred_squares(*arguments).cpu().numpy(),
        pairs=length**2 if mask is None else int(mask.sum()),
        # A query that sees one key alone adds nothing; of a text, at most the first one does.
        queries=length * (length > 1) if mask is None else int((mask.sum(1) > 1).sum()),
        errors=(*error_of(total, scores), float((pattern - layer.pattern[0]).abs().max())),
    )


def rows_of(
    measured: Sequence[InputMeasures], layer: int, draws: ndarray, bias_terms: Sequence[str]
) -> Iterator[dict[str, object]]:
    """The rows of one layer, (term, head) by (term, head), with intervals over the draws (resample, text).

    bias_terms: the terms that the model's score bias is, where it has one: `Family.bias_terms`.
    """
    n = np.asarray([text.queries for text in measured], dtype=float)
    pairs = np.asarray([text.pairs for text in measured], dtype=float)
    part, power, square, centred = (
        np.asarray([getattr(text, name) for text in measured], dtype=float)
        for name in ("parts", "power", "square", "centred")
    )
    withheld = _cancels(centred.sum(0), power.sum(0))
    withheld_pooled = _cancels(centred.sum((0, 2))[:, None], power.sum()[None])
    effect, agreement = (
        np.nan_to_num([getattr(text, name) for text in measured]) * n[:, None, None] for name in ("effect", "agreement")
    )
    worst = np.max([text.errors for text in measured], axis=0)

    def summaries(weights: ndarray) -> dict[str, tuple[ndarray, ndarray, ndarray]]:
        """share, effect and agreement (resample, term, head or 1) under weights on texts."""
        parts, powers, effects, agreements = (
            np.tensordot(weights, x, axes=1) for x in (part, power, effect, agreement)
        )
        count = (weights @ n)[:, None, None]
        share = np.where(withheld, np.nan, _over(parts, powers[:, None]))
        mean_effect, mean_agreement = effects / count, agreements / count
        pooled = _over(parts.sum(-1, keepdims=True), powers.sum(-1)[:, None, None])
        pooled = np.where(withheld_pooled, np.nan, pooled)
        over_heads = (mean_effect.mean(-1, keepdims=True), mean_agreement.mean(-1, keepdims=True))
        return {
            "head": (share, mean_effect, mean_agreement),
            "mean_over_heads": (share.mean(-1, keepdims=True), *over_heads),
            "pooled_over_heads": (pooled, *over_heads),
        }

    entries, resampled = summaries(np.ones((1, len(measured)))), summaries(draws)
    mean_square = np.tensordot(pairs, square, axes=1) / pairs.sum()
    rms_of = {
        "head": np.sqrt(mean_square),
        "mean_over_heads": np.sqrt(mean_square).mean(-1, keepdims=True),
        "pooled_over_heads": np.sqrt(mean_square.mean(-1, keepdims=True)),
    }
    for aggregation, (share, mean_effect, mean_agreement) in entries.items():
        share_ends, effect_ends = (np.percentile(x, INTERVAL, axis=0) for x in resampled[aggregation][:2])
        for head in range(share.shape[-1]):
            for number, term in enumerate((*TERMS, *bias_terms)[: len(mean_square)]):
                at = (number, head)
                yield {
                    "method": "exact" if layer == 0 else "frozen",
                    "corpus": "",
                    "layer": layer,
                    "aggregation": aggregation,
                    "head": head if aggregation == "head" else None,
                    "term": term,
                    "share": share[0][at],
                    "share_low": share_ends[0][at],
                    "share_high": share_ends[1][at],
                    "effect": mean_effect[0][at],
                    "effect_low": effect_ends[0][at],
                    "effect_high": effect_ends[1][at],
                    "top1_agreement": mean_agreement[0][at],
                    "rms": rms_of[aggregation][at],
                    "texts": len(measured),
                    "queries": int(n.sum()),
                    "max_error": worst[0],
                    "relative_error": worst[1],
                    "pattern_error": worst[2],
                }


def _over(part: ndarray, power: ndarray) -> ndarray:
    """Shares; not a number where there is nothing to share out: a head that is constant in every text drawn."""
    return np.divide(part, power, out=np.full(part.shape, np.nan), where=power > 0)


def _cancels(squares: Float[ndarray, "term head"], power: Float[ndarray, " head"]) -> Bool[ndarray, " head"]:
    """True for a head whose terms cancel too far for shares to say anything: see `measures.MAX_CANCELLATION`."""
    return np.sqrt(squares).sum(0) > measures.MAX_CANCELLATION * np.sqrt(power)


def draws_of(groups: Int[ndarray, " text"]) -> Float[ndarray, "resample text"]:
    """The number of times that each text counts in each resample of whole groups, drawn with a fixed seed."""
    return bootstrap(int(groups.max()) + 1, SEED)[:, groups]


def groups_of(texts: Sequence[tuple[str, str | None]]) -> ndarray:
    """The group of each text, numbered from 0: texts of different groups share no passage.

    Two texts share one where a part of the one (its text or its second text), if long enough, stands in
    a part of the other.
    """
    parts = [(index, part) for index, pair in enumerate(texts) for part in pair if part]
    group = list(range(len(texts)))

    def root(index: int) -> int:
        while group[index] != index:
            index = group[index]
        return index

    for a, passage in parts:
        if len(passage) >= PASSAGE:
            for b, other in parts:
                if a != b and passage in other:
                    group[max(root(a), root(b))] = min(root(a), root(b))
    return np.unique([root(index) for index in range(len(texts))], return_inverse=True)[1]
