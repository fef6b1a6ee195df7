"""What several steps ask of the store."""

from typing import Any

from analysis.errors import NoResults
from analysis.published import Frame
from analysis.store import read


def decoded(model: str) -> Frame:
    """What decoders read from the hidden states of a model: layer, target, decoder, measure, value, low, high, chance.

    A row a layer and measure, of its newest run. model: a name, or a pattern as SQL's LIKE takes it.
    """
    found: Any = read.query("SELECT * FROM newest_decoding WHERE model LIKE ? ORDER BY created, layer", [model])
    if found.empty:
        raise NoResults(f"Nothing is stored yet of decoding {model}. Run: python -m analysis decode --texts TEXT")
    return found[found.run_id == found.run_id.iloc[-1]]


def reading(found: Frame, layer: int, target: str, decoder: str, measure: str) -> Any:
    """One of those rows."""
    rows = found[
        (found.layer == layer) & (found.target == target) & (found.decoder == decoder) & (found.measure == measure)
    ]
    if rows.empty:
        raise NoResults(
            f"No {measure} of {target} by {decoder} is stored yet at layer {layer}. "
            "Run: python -m analysis decode --texts TEXT"
        )
    return rows.iloc[0]
