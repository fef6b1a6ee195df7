"""The interventions, one small file each."""

from analysis.core.registry import import_all
from analysis.measurements.interventions.kinds.intervention import INTERVENTIONS, PLACES, Intervention

__all__ = ["INTERVENTIONS", "PLACES", "Intervention", "parse"]


def parse(spec: str) -> Intervention:
    """The intervention of a spec: "zero_positions", "shift_positions:8", "drop_terms:word_to_word/0/3".

    Raises UnknownName for a name that no file registers, InterventionError for a strength it does not take.
    """
    name, _, strength = spec.partition(":")
    return INTERVENTIONS[name].of(strength)


import_all(__name__)
