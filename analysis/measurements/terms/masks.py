"""Masks of attention (the keys of each query): as an array, and as the few words that a saved probe keeps."""

import re

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

ALL = "all"


def attended_keys(attends: str, length: int) -> Bool[ndarray, "query key"] | None:
    """The keys that each query attends to; None where that is every one.

    attends: "all"; "causal" (none after it); "near 8" (eight on each side); "causal near 8"; "window 8" (eight
    on each side, and the first token by all and to all); or "keys " and the array's bits in hexadecimal.
    """
    if attends == ALL:
        return None
    if attends.startswith("keys "):
        bits = np.frombuffer(bytes.fromhex(attends.removeprefix("keys ")), dtype=np.uint8)
        return np.unpackbits(bits, count=length * length).reshape(length, length).astype(bool)
    ahead = np.arange(length)[None] - np.arange(length)[:, None]
    attended = ahead <= 0 if "causal" in attends else np.ones((length, length), dtype=bool)
    if size := re.search(r"\d+", attends):
        attended &= np.abs(ahead) <= int(size[0])
    if attends.startswith("window"):
        attended[0, :] = attended[:, 0] = True
    return attended


def describe_mask(attended: Bool[ndarray, "query key"] | None) -> str:
    """The words for an array of attended keys, such that `attended_keys` gives it again."""
    if attended is None or attended.all():
        return ALL
    length = len(attended)
    # A window's size is how far some query sees, the first token apart.
    sizes = {int(np.abs(np.flatnonzero(row[1:]) + 1 - at).max(initial=0)) for at, row in enumerate(attended) if at}
    known = ["causal", *(f"{kind} {size}" for size in sorted(sizes) for kind in ("near", "causal near", "window"))]
    for words in known:
        if np.all(attended_keys(words, length) == attended):
            return words
    return f"keys {np.packbits(attended).tobytes().hex()}"
