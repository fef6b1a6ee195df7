"""The run that the figures of every layer share, and what is said of it."""

import numpy as np

from analysis.core.term_names import ADDED_TERMS
from analysis.figures.figure import LiveRun
from analysis.figures.one_run import cancellation_note, run_facts
from analysis.figures.terms.measures import CITATION_KEYS, FREEZE_LABELS, ORDER
from analysis.measurements.terms.result import Layers
from analysis.probes import text_probe

LAYERS = LiveRun(
    obtain=text_probe.obtain_layers,
    provenance=run_facts,
    command=text_probe.layers_command,
    citation_keys=CITATION_KEYS,
)


def method_note(run: Layers) -> str:
    """Sentences on what the method holds fixed, and on its errors."""
    gates = f" (of gated units the {FREEZE_LABELS[run.freeze]})" if run.freeze else ""
    return (
        f"Method frozen, exact at layer 0: patterns, norms' statistics and gates{gates} held at the values they have "
        "in the model. "
        f"The terms add up to the model's own scores to {run.errors[:, 0].max():.1e} "
        f"({run.errors[:, 1].max():.1e} of their range) at worst over layers, the sources to its hidden states to "
        f"{run.state_error:.1e} of theirs ({run.provenance.dtype}, {run.provenance.device}). "
        f"{cancellation_note(run.cancellation)}"
    )


def present(run: Layers) -> list[str]:
    """The terms that are not zero everywhere, the four first."""
    nonzero = [term for index, term in enumerate(run.terms) if np.nan_to_num(run.values[:, index]).any()]
    return [term for term in (*ORDER, *ADDED_TERMS) if term in nonzero]
