"""Term statistics over a corpus: pooled over its queries, with intervals over its independent texts."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote

import numpy as np
import torch
from numpy import ndarray

from analysis.errors import TextError
from analysis.models.load import Loaded
from analysis.provenance import model_options
from analysis.store import files
from analysis.terms import measures
from analysis.terms.result import TERMS, term_pair
from analysis.terms.run import decompose

SEED = 0
RESAMPLES = 2_000
INTERVAL = (2.5, 97.5)
"""Percentiles of the bootstrap: a 95 % interval."""
PASSAGE = 40
"""Texts that share a passage of at least so many characters are not independent of one another."""


def measure_corpus(
    loaded: Loaded,
    texts: Sequence[tuple[str, str | None]],
    corpus: str,
    *,
    name: str | None = None,
    each: Iterable[int] | None = None,
) -> Path:
    """Shares and effects at layer 0 over all texts, written as one results file; returns its path.

    Per head, shares pool the queries of all texts (summed numerators over summed denominators) and
    effects average over them. Over heads, both aggregations are kept, since they may tell opposite
    stories: the mean over heads, and pooled over heads, where a head weighs as the variance of its
    scores. Intervals: percentile bootstrap, 2,000 resamples of groups of texts that share no passage.
    """
    if not texts:
        raise TextError(f"The corpus {corpus!r} holds no text; expected one that the store's table corpora lists.")
    started = time.perf_counter()
    parts, powers, effects, agreements, squares, pairs, queries, errors = [], [], [], [], [], [], [], []
    cut = 0
    for index in each if each is not None else range(len(texts)):
        text, pair = texts[index]
        made = decompose(loaded.model, loaded.tokenizer, text, pair, truncate=True)
        query, key = torch.from_numpy(made.query).to(loaded.device), torch.from_numpy(made.key).to(loaded.device)
        with torch.inference_mode():
            mask = None if made.attended is None else torch.from_numpy(made.attended).to(loaded.device)
            part, power = measures.share_parts(query, key, made.scale, mask)
            effect, agreement = measures.effects(query, key, made.scale, mask)
            rms = measures.raw_rms(query, key, made.scale, mask)
        keys = np.full(len(made.tokens), len(made.tokens)) if made.attended is None else made.attended.sum(1)
        # A query that sees one key alone adds nothing; of a text, at most the first one does.
        count = int((keys > 1).sum())
        pairs.append(int(keys.sum()))
        parts.append(part.cpu().numpy())
        powers.append(power.cpu().numpy())
        effects.append(effect.cpu().numpy() * count)
        agreements.append(agreement.cpu().numpy() * count)
        squares.append(rms.cpu().numpy() ** 2 * pairs[-1])
        queries.append(count)
        cut += made.provenance.truncated_from is not None
        errors.append((made.max_error, made.relative_error, made.pattern_error))

    n = np.asarray(queries, dtype=float)
    stack = [np.asarray(x, dtype=float) for x in (parts, powers, effects, agreements)]
    heads = stack[1].shape[1]
    worst = np.max(errors, axis=0)
    rng = np.random.default_rng(SEED)
    groups = groups_of(texts)
    count = int(groups.max()) + 1
    draws = rng.multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(float)[:, groups]
    whole = np.ones((1, len(texts)))

    def summaries(weights: ndarray) -> dict[str, tuple[ndarray, ndarray, ndarray]]:
        """share, effect and agreement (resample, source, source, head or 1) under weights on texts."""
        part, power, effect, agreement = (np.tensordot(weights, x, axes=1) for x in stack)
        count = (weights @ n)[:, None, None, None]
        share = _over(part, power[:, None, None, :])
        mean_effect, mean_agreement = effect / count, agreement / count
        pooled = _over(part.sum(-1, keepdims=True), power.sum(-1)[:, None, None, None])
        over_heads = (mean_effect.mean(-1, keepdims=True), mean_agreement.mean(-1, keepdims=True))
        return {
            "head": (share, mean_effect, mean_agreement),
            "mean_over_heads": (share.mean(-1, keepdims=True), *over_heads),
            "pooled_over_heads": (pooled, *over_heads),
        }

    found, resampled = summaries(whole), summaries(draws)
    square = np.sum(squares, axis=0) / np.sum(pairs)
    rms_of = {"head": np.sqrt(square), "mean_over_heads": np.sqrt(square).mean(-1, keepdims=True)}
    rms_of["pooled_over_heads"] = np.sqrt(square.mean(-1, keepdims=True))

    rows: list[dict[str, object]] = []
    for aggregation, (share, effect, agreement) in found.items():
        share_ends, effect_ends = (np.percentile(x, INTERVAL, axis=0) for x in resampled[aggregation][:2])
        for head in range(heads if aggregation == "head" else 1):
            for term in TERMS:
                at = (*term_pair(term), head)
                rows.append(
                    {
                        "method": "exact",
                        "corpus": corpus,
                        "layer": 0,
                        "aggregation": aggregation,
                        "head": head if aggregation == "head" else None,
                        "term": term,
                        "share": share[0][at],
                        "share_low": share_ends[0][at],
                        "share_high": share_ends[1][at],
                        "effect": effect[0][at],
                        "effect_low": effect_ends[0][at],
                        "effect_high": effect_ends[1][at],
                        "top1_agreement": agreement[0][at],
                        "rms": rms_of[aggregation][at],
                        "texts": len(texts),
                        "queries": int(n.sum()),
                        "max_error": worst[0],
                        "relative_error": worst[1],
                        "pattern_error": worst[2],
                    }
                )
    source = loaded.source
    run = files.Run(
        kind="terms",
        command=f"python -m analysis measure {model_options(source.name, source.revision)} --corpus {quote(corpus)}",
        model=source.name,
        revision=source.revision,
        device=loaded.device,
        dtype=str(loaded.model.dtype).removeprefix("torch."),
        seed=SEED,
        config={
            "resamples": RESAMPLES,
            "interval_percent": INTERVAL[1] - INTERVAL[0],
            "clusters": count,
            "longest_tenth": float(np.sort(n)[-max(1, len(n) // 10) :].sum() / n.sum()),
            "truncated_texts": cut,
        },
        seconds=time.perf_counter() - started,
    )
    columns = {column: [row[column] for row in rows] for column in rows[0]}
    return files.write("terms", columns, run, name=name)


def _over(part: ndarray, power: ndarray) -> ndarray:
    """Shares; not a number where there is nothing to share out: a head that is constant in every text drawn."""
    return np.divide(part, power, out=np.full(part.shape, np.nan), where=power > 0)


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
