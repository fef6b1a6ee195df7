"""No positions at all: the control that shows what order is worth."""

import numpy as np

from analysis.encodings.encoding import Encoding, Table, register


def table(length: int, dim: int) -> Table:
    """Zeros."""
    return np.zeros((length, dim))


register(
    Encoding(
        name="none",
        title="No positions",
        summary="Nothing tells the model where a token stands, unless a causal mask does.",
        enters="absent",
        paper="Haviv et al. 2022, Transformer Language Models without Positional Encodings Still Learn Positional "
        "Information, Findings of EMNLP",
        key="haviv2022nopos",
        learned=False,
        rows="position",
        columns="zeros",
        note="A control. Measures of shape are undefined here, not perfect.",
        make_table=table,
    )
)
