"""The effect of every intervention over a corpus, with intervals over its independent texts."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import quote

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor

from analysis.core.errors import InterventionError, TextError
from analysis.core.term_names import FOUR
from analysis.measurements.interventions.forward import check
from analysis.measurements.interventions.kinds import Intervention, parse
from analysis.measurements.interventions.measures import cosines, pattern_kl
from analysis.measurements.interventions.run import (
    PassAttention,
    family_for,
    forward_text,
    kind_of_head,
    masked_losses,
    next_losses,
)
from analysis.measurements.terms.corpus import SEED, draws_of, groups_of
from analysis.measurements.terms.result import TokenInfo
from analysis.measurements.terms.run import encode
from analysis.models.families import Family, known_family
from analysis.models.load import Loaded
from analysis.statistics.resampling import INTERVAL, RESAMPLES
from analysis.store import files
from analysis.store.unfinished import PartialResults

STANDARD = (
    "zero_positions",
    "one_position:0",
    "shuffle_positions:0",
    "shift_positions:8",
    "scale_positions:0.5",
    "scale_positions:2.0",
    "swap_positions:sinusoidal",
    "swap_positions:random_fixed",
    "zero_segment",
    *(f"drop_terms:{term}" for term in FOUR),
)
"""The interventions measured on every model that has the parts they act on."""
ROTARY = ("turn_all:1.0", "scale_base:4.0", "swap_bands:1+2", "drop_positions:0", "freeze_distance:1")
"""The interventions measured besides on a model that rotates its queries and keys."""
MAX_MASKED = 32
"""Tokens masked of a text, evenly spaced: a long one has as many forward passes as these."""

Sums = dict[tuple[str, int | None], tuple[float, float]]
"""(outcome, layer) -> what a text adds, and its weight: tokens."""


def standard(loaded: Loaded) -> tuple[str, ...]:
    """The interventions measured on a model if no others are asked for."""
    family = known_family(loaded.source.config, loaded.source.name)
    return STANDARD + (ROTARY if family is None or family.rotations(loaded.model) else ())


def intervene_corpus(
    loaded: Loaded,
    texts: Sequence[tuple[str, str | None]],
    corpus: str,
    *,
    specs: Sequence[str] = STANDARD,
    name: str | None = None,
    each: Iterable[int] | None = None,
) -> Path:
    """Every intervention alone, over all texts, written as one results file; returns its path.

    Outcomes are pooled over the tokens of all texts. Intervals: percentile bootstrap of 95 %, 2,000 resamples of
    groups of texts that share no passage. Interventions that make no sense for the model are left out, and the run
    says why; a text that cannot take one (too long to be shifted) is left out of that one.
    Raises TextError for a corpus without texts.
    """
    if not texts:
        raise TextError(f"The corpus {corpus!r} holds no text; expected one that the store's table corpora lists.")
    started = time.perf_counter()
    model = loaded.model
    family = family_for(loaded, encode(loaded.tokenizer, *texts[0], model, truncate=True)[0])
    chosen = [parse(spec) for spec in specs]
    measured: dict[str, list[Sums | None]] = {"": [], **{intervention.spec: [] for intervention in chosen}}
    left_out: dict[str, str] = {}
    about = {"texts": list(texts), "specs": list(measured), "head": kind_of_head(model, loaded.tokenizer)}
    unfinished = PartialResults(kind="interventions", **loaded.facts(), **about)
    with torch.inference_mode():
        for index in each if each is not None else range(len(texts)):
            if stored := unfinished.get(index):
                entries, refused = _unpacked(stored)
            else:
                inputs, tokens, _ = encode(loaded.tokenizer, *texts[index], model, truncate=True)
                entries, refused = _all_interventions(loaded, family, inputs, tokens, chosen)
                unfinished.save(index, _packed(entries, refused))
            left_out = refused | left_out
            for spec, of_texts in measured.items():
                of_texts.append(entries[spec])
    groups = groups_of(texts)
    draws = draws_of(groups)
    rows = [row for spec, of_texts in measured.items() for row in _rows(spec, of_texts, draws)]
    run = files.Run(
        kind="interventions",
        command=(
            f"{loaded.command('intervene')} --corpus {quote(corpus)}"
            + ("" if tuple(specs) == STANDARD else "".join(f" --do {quote(spec)}" for spec in specs))
        ),
        **loaded.facts(),
        seed=SEED,
        config={
            "resamples": RESAMPLES,
            "interval_percent": INTERVAL[1] - INTERVAL[0],
            "clusters": len(np.unique(groups)),
            "left_out": left_out,
            "said": {intervention.spec: intervention.description for intervention in chosen},
            "head": about["head"],
            "most_masked": MAX_MASKED,
            "resumed": unfinished.resumed,
        },
        seconds=time.perf_counter() - started,
    )
    path = files.write_rows(rows, run, name=name, shared={"corpus": corpus})
    unfinished.discard()
    return path


def _all_interventions(
    loaded: Loaded,
    family: Family,
    inputs: Mapping[str, Tensor],
    tokens: Sequence[TokenInfo],
    chosen: Sequence[Intervention],
) -> tuple[dict[str, Sums | None], dict[str, str]]:
    """One text's sums under every intervention, and under none (""); and reasons why some do not apply to the model."""
    before = forward_text(loaded.model, family, inputs)
    places = _masked_tokens([token.special for token in tokens])
    losses = _losses(loaded, family, inputs, before, places, ())
    entries: dict[str, Sums | None] = {
        "": {} if losses is None else {("loss", None): (float(losses.sum()), len(losses))}
    }
    refused: dict[str, str] = {}
    for intervention in chosen:
        try:
            check(loaded.model, family, [intervention], biased=before.biased, name=loaded.source.name)
            entries[intervention.spec] = _text_outcomes(loaded, family, inputs, before, losses, places, intervention)
        except InterventionError as why:
            entries[intervention.spec], refused[intervention.spec] = None, str(why)
    return entries, refused


def _packed(entries: Mapping[str, Sums | None], refused: Mapping[str, str]) -> dict[str, ndarray]:
    """One text's outcomes as arrays: JSON keeps a float to the last bit."""
    plain = {spec: None if sums is None else [[*key, *sums[key]] for key in sums] for spec, sums in entries.items()}
    return {"json": np.asarray(json.dumps([plain, dict(refused)]))}


def _unpacked(stored: Mapping[str, ndarray]) -> tuple[dict[str, Sums | None], dict[str, str]]:
    plain, refused = json.loads(str(stored["json"]))
    entries = {
        spec: None if rows is None else {(outcome, layer): (value, weight) for outcome, layer, value, weight in rows}
        for spec, rows in plain.items()
    }
    return entries, refused


def _masked_tokens(special: Sequence[bool]) -> list[int]:
    """The tokens that are masked, one at a time."""
    places = np.flatnonzero(~np.asarray(special))
    spaced = np.linspace(0, len(places) - 1, min(len(places), MAX_MASKED)).round().astype(int)
    return places[spaced].tolist()


def _losses(
    loaded: Loaded,
    family: Family,
    inputs: Mapping[str, Tensor],
    passed: PassAttention,
    places: Sequence[int],
    chosen: Sequence[Intervention],
) -> Tensor | None:
    """Cross-entropies of the predicted tokens; None where nothing predicts any."""
    match kind_of_head(loaded.model, loaded.tokenizer):
        case "masked" if places:
            return masked_losses(loaded.model, family, loaded.tokenizer, inputs, places, chosen)[0]
        case "next" if passed.logits is not None and len(passed.logits) > 1:
            return next_losses(passed.logits, inputs["input_ids"][0])[0]
    return None


def _text_outcomes(
    loaded: Loaded,
    family: Family,
    inputs: Mapping[str, Tensor],
    before: PassAttention,
    losses: Tensor | None,
    places: Sequence[int],
    intervention: Intervention,
) -> Sums:
    after = forward_text(loaded.model, family, inputs, [intervention])
    tokens = len(before.hidden)
    result: Sums = {("cosine", None): (float(cosines(before.hidden, after.hidden).sum()), tokens)}
    kl = [
        float(pattern_kl(a, b, mask).mean())
        for a, b, mask in zip(before.patterns, after.patterns, before.masks, strict=True)
    ]
    result["attention_kl", None] = (float(np.mean(kl)) * tokens, tokens)
    result.update({("attention_kl", layer): (value * tokens, tokens) for layer, value in enumerate(kl)})
    if losses is not None:
        changed_losses = _losses(loaded, family, inputs, after, places, [intervention])
        assert changed_losses is not None
        result["loss_change", None] = (float((changed_losses - losses).sum()), len(losses))
    return result


def _rows(spec: str, of_texts: Sequence[Sums | None], draws: ndarray) -> list[dict[str, object]]:
    """One row an outcome and layer: the mean over tokens, and its interval over the draws (resample, text)."""
    outcomes = list(dict.fromkeys(key for sums in of_texts for key in sums or ()))
    rows = []
    for outcome, layer in outcomes:
        pairs = np.asarray([(sums or {}).get((outcome, layer), (0.0, 0.0)) for sums in of_texts])
        totals, weights = draws @ pairs[:, 0], draws @ pairs[:, 1]
        low, high = np.percentile(totals[weights > 0] / weights[weights > 0], INTERVAL)
        rows.append(
            {
                "intervention": spec,
                "outcome": outcome,
                "layer": layer,
                "value": pairs[:, 0].sum() / pairs[:, 1].sum(),
                "low": low,
                "high": high,
                "texts": int((pairs[:, 1] > 0).sum()),
                "tokens": int(pairs[:, 1].sum()),
            }
        )
    return rows
