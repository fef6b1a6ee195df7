"""What the figures of one run of a model share: where it comes from, which head is meant, and maps as rows."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy import ndarray

from analysis.errors import LinkError
from analysis.figures.base import Params
from analysis.terms.result import Provenance


def facts(about: Provenance, given: str = "text") -> dict[str, str]:
    """What the numbers trace to. given: what the model was given, a text or an image."""
    return {
        "model": f"{about.model} ({about.revision})",
        given: about.text,
        **({"second text": about.text_pair} if about.text_pair else {}),
        "run": f"{about.created}, code {about.git_sha}, {about.seconds:.2f} s",
        "device": f"{about.device}, {about.dtype}",
        "versions": about.versions,
    }


def head_of(params: Params, heads: int) -> int:
    """The head that a link asks for. Raises LinkError where the model has none of that number."""
    head = int(params["head"])
    if not 0 <= head < heads:
        raise LinkError(f"The link says head={head}; this model has heads 0 to {heads - 1}.")
    return head


def map_frame(maps: Mapping[str, ndarray], labels: Sequence[str], first: int = 0) -> pd.DataFrame:
    """Maps of tokens by tokens, one row a cell. first: the index of the first query and key."""
    names = np.asarray(labels, dtype=object)
    parts = []
    for name, values in maps.items():
        query, key = (index.ravel() for index in np.indices(values.shape))
        parts.append(
            pd.DataFrame(
                {
                    "map": name,
                    "query": query + first,
                    "key": key + first,
                    "query_token": names[query],
                    "key_token": names[key],
                    "value": values.ravel(),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)
