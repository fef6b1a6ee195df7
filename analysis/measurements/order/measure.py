"""Locality and equivariance error of a model, layer by layer over windows of a text, into two results files."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor
from transformers import PreTrainedModel

from analysis.core.errors import InterventionError
from analysis.measurements.interventions.forward import check, forward
from analysis.measurements.interventions.kinds import parse
from analysis.measurements.interventions.kinds.intervention import Intervention
from analysis.measurements.means.states import hidden_states
from analysis.measurements.means.windows import BATCH, SEED, FramedWindows, batches, command
from analysis.measurements.order.equivariance import LAST, MOVED, EquivarianceError, equivariance_error, permutations
from analysis.measurements.order.locality import AttentionDistance, locality
from analysis.models.families import Family, family_of
from analysis.models.load import Loaded
from analysis.models.submodules import move_model
from analysis.models.trace_sources import Layer
from analysis.statistics.resampling import INTERVAL, RESAMPLES, bootstrap
from analysis.store import files

TRAINED, OFF = "as trained", "off"

Row = dict[str, Any]


def measure_order(
    loaded: Loaded,
    cut: FramedWindows,
    corpus: str,
    *,
    called: str | None = None,
    name: str | None = None,
    each: Callable[[str, range], Iterable[int]] = lambda _, starts: starts,
) -> list[Path]:
    """Measures a model and writes its results files; returns their paths.

    each: told what begins and the first window of every batch, for whoever shows progress.
    """
    paths = []
    for kind, rows_of in (("locality", locality_rows), ("equivariance", equivariance_rows)):
        started, facts = time.perf_counter(), loaded.facts(called)
        rows = list(rows_of(loaded, cut, each(kind, batches(cut))))
        count, length = cut.ids.shape
        run = files.Run(
            kind=kind,
            command=command("measure order", loaded, cut, corpus, called),
            **(facts if kind == "locality" else {**facts, "dtype": "float64"}),
            seed=SEED,
            config={"corpus": corpus, "length": length, "windows": count, "resamples": RESAMPLES},
            seconds=time.perf_counter() - started,
        )
        paths.append(files.write_rows(rows, run, name=name, shared={"corpus": corpus, "windows": count}))
    return paths


def locality_rows(loaded: Loaded, cut: FramedWindows, starts: Iterable[int]) -> Iterator[Row]:
    """Rows of the table `locality`."""
    cls = loaded.tokenizer.cls_token_id is not None and bool((cut.ids[:, 0] == loaded.tokenizer.cls_token_id).all())
    entries: dict[tuple[int, str], list[AttentionDistance]] = {}

    def collect(layer: Layer) -> None:
        attended = layer.attended()
        length = layer.pattern.shape[-1]
        attention_mask = np.ones((length, length), bool) if attended is None else attended.cpu().numpy()
        for local in locality(layer.pattern.float().cpu().numpy(), attention_mask, cut.counted, cls=cls):
            entries.setdefault((layer.index, local.query), []).append(local)

    family = family_of(loaded.source.config, loaded.source.name)
    for start in starts:
        with torch.inference_mode():
            forward(loaded.model, family, {"input_ids": _ids(loaded, cut.ids[start : start + BATCH])}, (), collect)
    for (layer, query), parts in sorted(entries.items()):
        combined = replace(
            parts[0],
            at=np.concatenate([part.at for part in parts]),
            itself=np.concatenate([part.itself for part in parts]),
        )
        key = {"layer": layer, "query": query}
        heads = [(None, slice(None)), *((head, slice(head, head + 1)) for head in range(combined.at.shape[1]))]
        for head, at in heads:
            means = {"mean_distance": (combined.mean_distance, combined.even_distance)}
            means["to_itself"] = (combined.itself, combined.even_itself)
            for measure, (values, even) in means.items():
                yield {**key, "head": head, "measure": measure, **_mean(values[:, at].mean(1)), "even": even}
        for index, distance in enumerate(combined.distances):
            if combined.even[index]:
                mean = _mean(combined.at[:, :, index].mean(1))
                yield {**key, "measure": "attention", "distance": distance, **mean, "even": combined.even[index]}


def equivariance_rows(loaded: Loaded, cut: FramedWindows, starts: Iterable[int]) -> Iterator[Row]:
    """Rows of the table `equivariance`. The model computes in float64 meanwhile."""
    words = np.flatnonzero(cut.counted)
    order = permutations(len(cut.ids), words, cut.ids.shape[1], SEED)
    permuted = np.take_along_axis(cut.ids, order, 1)
    kinds = {MOVED: words}
    if not cut.counted[-1]:
        kinds[LAST] = np.asarray([cut.ids.shape[1] - 1])
    entries: dict[tuple[str, str, int], list[EquivarianceError]] = {}
    dtype = loaded.model.dtype
    model: PreTrainedModel = loaded.model.double()
    try:
        family = family_of(loaded.source.config, loaded.source.name)
        ways = {TRAINED: ()} | ({OFF: off} if (off := _off(loaded, family, cut)) else {})
        for start in starts:
            rows = slice(start, start + BATCH)
            for positions, chosen in ways.items():
                before, after = (_states(loaded, family, ids[rows], chosen) for ids in (cut.ids, permuted))
                for layer, pair in enumerate(zip(before, after, strict=True)):
                    for tokens, places in kinds.items():
                        error = equivariance_error(*pair, order[rows], words, places)
                        entries.setdefault((positions, tokens, layer), []).append(error)
    finally:
        move_model(model, dtype=dtype)
    for (positions, tokens, layer), parts in sorted(entries.items()):
        combined = EquivarianceError(
            np.concatenate([part.error for part in parts]),
            np.concatenate([part.apart for part in parts]),
            max(part.largest for part in parts),
        )
        yield {
            "layer": layer, "positions": positions, "tokens": tokens, **_root(combined), "largest": combined.largest
        }  # fmt: skip


def _ids(loaded: Loaded, ids: ndarray) -> Tensor:
    return torch.from_numpy(ids).to(loaded.device)


def _off(loaded: Loaded, family: Family, cut: FramedWindows) -> tuple[Intervention, ...]:
    """The interventions that switch positions off; none for a model without positions to switch off."""
    zero, biases = parse("zero_positions"), []
    with torch.inference_mode():
        forward(
            loaded.model,
            family,
            {"input_ids": _ids(loaded, cut.ids[:1])},
            (),
            lambda layer: biases.append(layer.call.bias is not None),
        )
    try:
        check(loaded.model, family, [zero], biased=any(biases), name=loaded.source.name)
    except InterventionError:
        return ()
    return (zero,)


def _states(
    loaded: Loaded, family: Family, ids: ndarray, chosen: tuple[Intervention, ...]
) -> list[Float[ndarray, "window token dim"]]:
    states = hidden_states(
        loaded.model, family, _ids(loaded, ids), lambda inputs: forward(loaded.model, family, inputs, chosen)
    )
    return [hidden.double().cpu().numpy() for hidden in states]


@lru_cache(maxsize=4)
def _draws(windows: int) -> Float[ndarray, "resample window"]:
    return bootstrap(windows, SEED)


def _mean(values: Float[ndarray, " window"]) -> Row:
    """Mean over the windows that have one, with its interval."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return {"value": np.nan, "low": np.nan, "high": np.nan}
    low, high = np.percentile(_draws(len(finite)) @ finite / len(finite), INTERVAL)
    return {"value": float(finite.mean()), "low": float(low), "high": float(high)}


def _root(errors: EquivarianceError) -> Row:
    """The error with its interval, windows resampled with what they are compared with."""
    draws = _draws(len(errors.error))
    low, high = np.percentile(np.sqrt((draws @ errors.error) / (draws @ errors.apart)), INTERVAL)
    return {"value": errors.value, "low": float(low), "high": float(high)}
