"""The figure of a model without terms: what its attention is, one layer and head at a time."""

import numpy as np

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.figures.figure import Figure, LiveRun, Parameters, figure
from analysis.figures.one_run import run_facts
from analysis.figures.terms.token_maps import pattern_map
from analysis.measurements.terms.result import Patterns
from analysis.probes.text_probe import PatternsRequest


class PatternParameters(Parameters):
    """One head of one layer."""

    layer: int
    head: int


PATTERNS_RUN = LiveRun(obtain=PatternsRequest.obtain, provenance=run_facts)


@figure("probe_patterns", PatternParameters, live=PATTERNS_RUN)
def probe_patterns(params: PatternParameters, run: Patterns) -> Figure:
    """The attention probabilities of one head, (query, key)."""
    layer, head = params.layer, params.head
    layers, heads = run.patterns.shape[:2]
    if not (0 <= layer < layers and 0 <= head < heads):
        raise LinkError(
            f"The link says layer={layer} and head={head}; this model has layers 0 to {layers - 1} and heads 0 to "
            f"{heads - 1}."
        )
    pattern, labels = run.patterns[layer, head], [token.text for token in run.token_info]
    frame = frames.cells(pattern, "probability", query=labels, key=labels)
    peak = np.unravel_index(int(pattern.argmax()), pattern.shape)
    provenance = run.provenance
    return Figure(
        title=f"Layer {layer}, head {head}: where it attends",
        finding=(
            f"Head {head} of layer {layer} attends most from “{labels[peak[0]]}” to “{labels[peak[1]]}”, with "
            f"probability {pattern.max():.2f}"
        ),
        frame=lambda: frame,
        caption=(
            f"Attention probabilities of {readable(provenance.model)}, layer {layer}, head {head}, one text of "
            f"{len(labels)} tokens, from its own forward pass ({provenance.dtype}, {provenance.device}). Rows are "
            "queries, columns are keys. There are no terms: which of its hidden states "
            "come from position is not known for this architecture."
        ),
        alt=f"Heat map, {len(labels)} tokens a side; the largest probability is {pattern.max():.2f}.",
        command="python -m analysis export LINK --figure probe_patterns -o pattern.csv  # LINK: Copy link on the page",
        draw=lambda theme: [pattern_map(pattern, labels, theme, side=520, height=460)],
    )
