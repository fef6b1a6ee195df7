"""The position basis of every layer of a model, measured over windows of a text, into a results file."""

import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from analysis.core.term_names import SOURCES
from analysis.measurements.means.rank import CAP, effective_rank, rank_estimate, stable_rank
from analysis.measurements.means.split import Basis, Sums
from analysis.measurements.means.states import hidden_states, parts_entering
from analysis.measurements.means.windows import BATCH, SEED, FramedWindows, batches, command
from analysis.models.families import family_of
from analysis.models.load import Loaded
from analysis.store import files
from analysis.streams.tensor import stacked

BITS = 11
"""The bits kept of a stored mean, as many as half precision has; their error is far below that of sampling."""
POSITION = SOURCES.index("position")


def measure_means(
    loaded: Loaded,
    cut: FramedWindows,
    corpus: str,
    *,
    called: str | None = None,
    name: str | None = None,
    each: Iterable[int] | None = None,
) -> Path:
    """Mean, positions and their measures for the hidden states at every depth, written as one results file.

    each: the first windows of the batches, for whoever shows progress; see `batches`. called: the model's name in the
    results, where that of its folder would say nothing.
    """
    started = time.perf_counter()
    family = family_of(loaded.source.config, loaded.source.name)
    sums: list[Sums] = []
    frozen: Sums | None = None
    for start in each if each is not None else batches(cut):
        ids = torch.from_numpy(cut.ids[start : start + BATCH])
        states = hidden_states(loaded.model, family, ids)
        sums = sums or [Sums(cut.counted, hidden.shape[-1]) for hidden in states]
        for layer, hidden in zip(sums, states, strict=True):
            layer.add(hidden.float().cpu().numpy())
        with torch.inference_mode():
            parts = parts_entering(loaded.model, family, {"input_ids": ids.to(loaded.device)}, 0)
            position = stacked(parts, len(SOURCES))[POSITION]
        frozen = frozen or Sums(cut.counted, position.shape[-1])
        frozen.add(position.float().cpu().numpy())
    assert frozen is not None
    bases = [layer.basis() for layer in sums]
    rows = [_row(cut, number, sums[number], bases) for number in range(len(sums))]
    rows[0]["frozen_gap"] = gap(bases[0].position[cut.counted], frozen.basis().position[cut.counted])
    count, length = cut.ids.shape
    run = files.Run(
        kind="means",
        command=command("measure means", loaded, cut, corpus, called),
        **loaded.facts(called),
        seed=SEED,
        config={
            "corpus": corpus,
            "windows": count,
            "articles": len(np.unique(cut.article)),
            "length": length,
            "left_out": np.flatnonzero(~cut.counted).tolist(),
            "rank_cap": CAP,
        },
        seconds=time.perf_counter() - started,
    )
    return files.write_rows(rows, run, name=name, shared={"corpus": corpus})


def gap(ours: Float[ndarray, "slot dim"], other: Float[ndarray, "slot dim"]) -> float:
    """The distance of one basis from another, over the size of the other; NaN where that size is 0."""
    size = float(np.linalg.norm(other))
    return float(np.linalg.norm(ours - other)) / size if size else np.nan


def _row(cut: FramedWindows, number: int, sums: Sums, bases: list[Basis]) -> dict[str, object]:
    position, counted = bases[number].position, cut.counted
    counted_positions, shares = position[counted], sums.shares()
    # A basis of few slots or dimensions has too few singular values for an estimate.
    enough = min(counted_positions.shape) > 2 * CAP + 1
    energy = (position**2).sum(1)
    return {
        "layer": number,
        "windows": sums.windows,
        "length": len(counted),
        "counted": int(counted.sum()),
        "rank": rank_estimate(counted_positions) if enough else None,
        "stable_rank": stable_rank(counted_positions),
        "effective_rank": effective_rank(counted_positions),
        "relative_norm": sums.relative_norm(),
        **{f"{part}_share": share for part, share in shares.items()},
        "left_out_share": float(energy[~counted].sum() / energy.sum()),
        "cosine_to_next": _cosine(counted_positions, bases[number + 1].position[counted])
        if number + 1 < len(bases)
        else None,
        "frozen_gap": None,
        "mean": _short(bases[number].mean),
        "position": _short(position).ravel(),
    }


def _short(values: Float[ndarray, "..."]) -> Float[ndarray, "..."]:
    """The values in float32 with 11 bits kept: the file is half as large, and a split still sums exactly."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(fraction * 2**BITS) / 2**BITS, exponent).astype(np.float32)


def _cosine(a: Float[ndarray, "slot dim"], b: Float[ndarray, "slot dim"]) -> float | None:
    """The cosine over all entries at once; None where the layers differ in width or a basis is all zeros."""
    sizes = np.linalg.norm(a) * np.linalg.norm(b)
    return float((a * b).sum() / sizes) if a.shape == b.shape and sizes else None
