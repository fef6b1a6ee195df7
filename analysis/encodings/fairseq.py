"""The tensor2tensor signal as fairseq counts positions: after the padding index, and padding gets zero."""

import numpy as np

from analysis.core.errors import AddendError
from analysis.encodings.encoding import Encoding, Option, Shift, Table, register
from analysis.encodings.tensor2tensor import shift as tensor2tensor_shift, signal


def table(length: int, dim: int, *, padding_idx: int, padded: int) -> Table:
    """Token i has position padding_idx + 1 + i; each of the last `padded` tokens is padding and has the zero row."""
    if padded > length:
        raise AddendError(f"The option padded={padded} is more than the length {length}; choose at most {length}.")
    rows = signal(np.arange(length) + padding_idx + 1, dim)
    rows[length - padded :] = 0
    return rows


def shift(k: int, dim: int) -> Shift:
    """The shift matrix of tensor2tensor; it holds between tokens that are not padding."""
    return tensor2tensor_shift(k, dim)


register(
    Encoding(
        name="fairseq",
        title="Sinusoidal, fairseq",
        summary="The tensor2tensor signal, counted over real tokens from the padding index plus one.",
        enters="added",
        paper="Ott et al. 2019, fairseq: A Fast, Extensible Toolkit for Sequence Modeling, NAACL (demonstrations)",
        key="ott2019fairseq",
        learned=False,
        rows="position",
        columns="sines from the fastest to the slowest, then their cosines",
        note="With the usual padding index 1 the first token has position 2. Padding has the zero row, not a position.",
        make_table=table,
        make_shift=shift,
        options={
            "padding_idx": Option(default=1, meaning="vocabulary index of the padding token"),
            "padded": Option(default=0, meaning="tokens at the end that are padding"),
        },
        dim_multiple=2,
    )
)
