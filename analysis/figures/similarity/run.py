"""Common parts of the figures of similarity: the run, and a sentence on the method."""

from analysis.ablation.variants import readable
from analysis.core.formatting import at_most, fixed
from analysis.figures.figure import LiveRun
from analysis.figures.one_run import run_facts
from analysis.measurements.similarity.result import Similarity
from analysis.probes import similarity_probe

SIMILARITY_RUN = LiveRun(
    obtain=similarity_probe.SimilarityRequest.obtain,
    provenance=run_facts,
    command=similarity_probe.command,
    citation_keys=("reimers2019sbert",),
)
POOLING_TITLES = {"mean": "the mean over all tokens", "first": "the first token", "last": "the last token"}


def method_note(result: Similarity) -> str:
    """A sentence on the vectors that are compared, what is held fixed, and the error."""
    return (
        f"{readable(result.provenance.model)}, each text read by itself, {len(result.first)} and {len(result.second)} "
        f"tokens; the vector of a text is {POOLING_TITLES[result.pooling]} of the final states, and layers that a "
        "package adds after it are not run. Word, position, segment and bias are followed to the final states with "
        "attention patterns, norms' statistics and gates held at the values they have in the model: what position "
        "does through the patterns is not credited to it. The parts add up to the model's own cosine, "
        f"{fixed(result.cosine, 4)}, off by at most {at_most(result.error)} ({result.provenance.dtype}, "
        f"{result.provenance.device})."
    )
