"""Common parts of the figures that show one run of a model: its provenance, the selected head, and maps as rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.measurements.terms.result import MAX_CANCELLATION, Decomposition, Provenance

MAX_NAMED = 6
"""Heads whose withheld shares are named one by one."""


class LiveResult(Protocol):
    """The result of any measurement on one run of a model."""

    @property
    def provenance(self) -> Provenance:
        """The model, device, code and moment that the result comes from."""
        ...


def run_facts(run: LiveResult, input_name: str = "text") -> dict[str, str]:
    """The facts that the numbers of a run trace to, by name. input_name: `text`, or `image` for a model of images."""
    provenance = run.provenance
    return {
        "model": f"{provenance.model} ({provenance.revision})",
        input_name: provenance.text,
        **({"second text": provenance.text_pair} if provenance.text_pair else {}),
        "run": f"{provenance.created}, code {provenance.git_sha}, {provenance.seconds:.2f} s",
        "device": f"{provenance.device}, {provenance.dtype}",
        "versions": provenance.versions,
    }


def image_facts(run: LiveResult) -> dict[str, str]:
    """The facts that the numbers of a run on an image trace to, by name."""
    return run_facts(run, "image")


def stored_facts(row: Any, **sources: str) -> dict[str, str]:
    """The facts that the numbers of a stored run trace to, by name. sources: what it was measured over."""
    return {
        "model": f"{row.model} ({row.revision})",
        **sources,
        "run": f"{row.run_id}, {row.created}, code {row.git_sha}",
        "device": f"{row.device}, {row['dtype']}",
        "versions": row.versions,
    }


def cancellation_note(factors: Float[ndarray, "... head"]) -> str:
    """A note on the cancellation of terms within heads, and on the shares withheld for it; empty if it is not known.

    factors: `Decomposition.cancellation` of one layer, or a row of it for each layer.
    """
    known = factors[np.isfinite(factors)]
    if not known.size:
        return ""
    low, high = float(known.min()), float(known.max())
    sizes = f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:,.1f}"
    text = f"Together, the terms of a head are {sizes} times as large as the scores that they add up to."
    excessive = [tuple(index) for index in np.argwhere(factors > MAX_CANCELLATION).tolist()]
    if not excessive:
        return text
    labels = [f"{index[-1]}" if len(index) == 1 else f"{index[-1]} of layer {index[0]}" for index in excessive]
    listing = ", ".join(labels[:MAX_NAMED]) + (
        f" and {len(labels) - MAX_NAMED} more" if len(labels) > MAX_NAMED else ""
    )
    return (
        f"{text} Where that is over {MAX_CANCELLATION:g} times, shares are withheld, since they would only show how "
        f"large numbers cancel and not what a term contributes: head{'s' * (len(labels) > 1)} {listing}."
    )


def unknown_tokens_note(decomposition: Decomposition) -> str:
    """A warning about a text that is mostly unknown to the tokenizer; empty for any other text."""
    words = sum(not token.special for token in decomposition.token_info)
    if not decomposition.unknown > words / 2:
        return ""
    return (
        f"{decomposition.unknown} of the {words} tokens of this text are unknown to the tokenizer of "
        f"{readable(decomposition.provenance.model)}: "
        "the model sees the same word for each of them. "
        + (decomposition.unknown_because or "Choose a model that was trained on such text.")
    )


def checked_head(head: int, heads: int) -> int:
    """The head that a link asks for. Raises LinkError where the model has none of that number."""
    if not 0 <= head < heads:
        raise LinkError(f"The link says head={head}; this model has heads 0 to {heads - 1}.")
    return head


def map_frame(maps: Mapping[str, ndarray], labels: Sequence[str], first: int = 0) -> pd.DataFrame:
    """Maps of tokens by tokens, one row per cell. first: the index of the first query and key."""
    names = np.asarray(labels, dtype=object)
    index = np.arange(first, first + len(names))
    parts = {name: frames.cells(values, "value", query=index, key=index) for name, values in maps.items()}
    cells = frames.stacked(parts, "map")
    tokens = {f"{side}_token": names[cells[side] - first] for side in ("query", "key")}
    return cells.assign(**tokens)[["map", "query", "key", *tokens, "value"]]
