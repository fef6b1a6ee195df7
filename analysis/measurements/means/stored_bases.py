"""The bases of method `mean` that the store holds."""

from dataclasses import dataclass

import numpy as np

from analysis.core.errors import NoResults
from analysis.core.provenance import model_options
from analysis.measurements.means.split import Basis
from analysis.store import read


@dataclass(frozen=True)
class StoredBasis:
    """A basis and what it was measured over."""

    basis: Basis
    corpus: str
    windows: int
    frozen_gap: float
    """The distance of its positions at layer 0 from those of `frozen`, over the size of those; NaN at deeper layers."""


def stored_basis(model: str, revision: str, layer: int) -> StoredBasis:
    """The newest basis of what enters a layer of a model, the longest where there are several.

    Raises NoResults, with the command that makes one, where the store holds none of this model's very weights.
    """
    rows = read.query(
        "SELECT n.*, m.mean, m.position FROM newest_means n JOIN means m USING (run_id, layer) "
        "WHERE n.revision = ? AND layer = ? ORDER BY n.length DESC, n.created DESC LIMIT 1",
        [revision, layer],
    )
    if rows.empty:
        raise NoResults(
            f"Method mean needs the position means of {model} over a reference text, and the store has none for "
            f"revision {revision}. Run: python -m analysis measure means {model_options(model, revision)} --texts FILE"
        )
    row = rows.iloc[0]
    mean = np.asarray(row["mean"], dtype=np.float32)
    return StoredBasis(
        basis=Basis(mean, np.asarray(row.position, dtype=np.float32).reshape(int(row.length), len(mean))),
        corpus=row.corpus,
        windows=int(row.windows),
        frozen_gap=float(row.frozen_gap),
    )
