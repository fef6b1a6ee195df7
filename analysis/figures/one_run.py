"""What the figures of one run of a model share: where it comes from, which head is meant, and maps as rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from analysis.claims.statements.rows import readable
from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.measurements.terms.result import MOST_CANCELLATION, Decomposition, Provenance

NAMED = 6
"""Heads whose withheld shares are named one by one."""


class LiveResult(Protocol):
    """What a run of a model gives, whatever was measured."""

    @property
    def provenance(self) -> Provenance:
        """Where it comes from."""
        ...


def run_facts(run: LiveResult, given: str = "text") -> dict[str, str]:
    """What the numbers of a run trace to. given: what the model was given, a text or an image."""
    about = run.provenance
    return {
        "model": f"{about.model} ({about.revision})",
        given: about.text,
        **({"second text": about.text_pair} if about.text_pair else {}),
        "run": f"{about.created}, code {about.git_sha}, {about.seconds:.2f} s",
        "device": f"{about.device}, {about.dtype}",
        "versions": about.versions,
    }


def image_facts(run: LiveResult) -> dict[str, str]:
    """What the numbers of a run on an image trace to."""
    return run_facts(run, "image")


def stored_facts(row: Any, **over: str) -> dict[str, str]:
    """What the numbers of a stored run of a model trace to. over: what it was measured over, by name."""
    return {
        "model": f"{row.model} ({row.revision})",
        **over,
        "run": f"{row.run_id}, {row.created}, code {row.git_sha}",
        "device": f"{row.device}, {row['dtype']}",
        "versions": row.versions,
    }


def cancellation_note(factors: Float[ndarray, "... head"]) -> str:
    """How far the terms of the heads cancel, and whose shares are therefore withheld; empty where that is not known.

    factors: `Decomposition.cancellation` of one layer, or a row of it for each layer.
    """
    known = factors[np.isfinite(factors)]
    if not known.size:
        return ""
    low, high = float(known.min()), float(known.max())
    sizes = f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:,.1f}"
    text = f"Together, the terms of a head are {sizes} times as large as the scores that they add up to."
    far = [tuple(place) for place in np.argwhere(factors > MOST_CANCELLATION).tolist()]
    if not far:
        return text
    places = [f"{place[-1]}" if len(place) == 1 else f"{place[-1]} of layer {place[0]}" for place in far]
    named = ", ".join(places[:NAMED]) + (f" and {len(places) - NAMED} more" if len(places) > NAMED else "")
    return (
        f"{text} Where that is over {MOST_CANCELLATION:g} times, shares are withheld, since they would only show how "
        f"large numbers cancel and not what a term contributes: head{'s' * (len(places) > 1)} {named}."
    )


def unknown_tokens_note(decomposition: Decomposition) -> str:
    """What to say of a text that is mostly unknown to the tokenizer; empty of any other."""
    words = sum(not token.special for token in decomposition.token_info)
    if not decomposition.unknown > words / 2:
        return ""
    return (
        f"{decomposition.unknown} of the {words} tokens of this text are unknown to the tokenizer of "
        f"{readable(decomposition.provenance.model)}: "
        "the model sees the same word for each of them. Choose a model that was trained on such text, or put spaces "
        "between its parts if that is how the model reads it."
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
