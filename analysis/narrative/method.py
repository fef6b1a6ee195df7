"""The method in parts: what each number means, its formula, and the view that shows it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from analysis.links import Value
from analysis.measurements.terms.result import MAX_CANCELLATION, PRECISE_FROM
from analysis.narrative import worked_example


@dataclass(frozen=True, kw_only=True)
class MethodPart:
    """One idea of the method. formula: in TeX; none where words say all. where: what its symbols mean.

    example: puts the numbers of one stored text into the formula; None where none is stored. page, values, see: the
    view that shows it, and the words of the link.
    """

    anchor: str
    title: str
    text: str
    formula: str = ""
    where: str = ""
    example: Callable[[], worked_example.Example | None] | None = None
    page: str = "inside"
    values: Mapping[str, Value] = field(default_factory=dict)
    see: str = ""


def _lines(*lines: str) -> str:
    """A formula in lines, so that it fits a phone."""
    return r"\begin{gathered} " + r" \\ ".join(lines) + r" \end{gathered}"


PARTS = (
    MethodPart(
        anchor="sum",
        title="A token enters as a sum",
        text="A BERT-style encoder adds three vectors and passes the sum through a LayerNorm:",
        formula=r"u_i = w_i + p_i + s_i",
        where="Token $i$ has the vector $w_i$ of its word, $p_i$ of its position and $s_i$ of its segment. The "
        "squared length of the sum is that of each part and twice the product of each pair of parts. Vectors at right "
        "angles have a product of zero, so that only the squares add up.",
        example=worked_example.entering,
        page="read",
        values={"step": "sum"},
        see="The tour adds them up for a word of your choice",
    ),
    MethodPart(
        anchor="terms",
        title="So a score is a sum of terms",
        text="LayerNorm divides by a number that depends on $u_i$. With that number held at its true value the layer "
        "is a linear map, so every source can be followed alone into queries and keys, and a score before softmax "
        "falls apart into sixteen terms:",
        formula=_lines(
            r"\text{score}_{ij} = \sum_{a}\sum_{b} t^{ab}_{ij}",
            r"\text{with}\quad t^{ab}_{ij} = \frac{q_i^a \cdot k_j^b}{\sqrt{d_\text{head}}}",
        ),
        where="$a$ and $b$ go over word, position, segment and bias. Bias is what none of the other three owns: the "
        "LayerNorm's $\\beta$ and the biases of the projections. At layer 0 this is exact. *How measured*, under every "
        "map, states the largest difference between the sum of the terms and the score that the model itself computed.",
        example=worked_example.score,
        see="Look inside draws the terms of a sentence and adds up the cell that you press",
    ),
    MethodPart(
        anchor="frozen",
        title="Deeper layers, first method: frozen",
        text="Above layer 0 a state has passed through attention and activations, which are not linear. Method "
        "*frozen* holds attention patterns, LayerNorm statistics and activation gates at the values that they have in "
        "the model, and follows the four sources through what is then linear. The terms still add up to the model's "
        "own scores. What position does by changing the patterns is not credited to position.",
        example=worked_example.carried,
        values={"tab": "layers"},
        see="The tab Layers follows the sources of a sentence from layer to layer",
    ),
    MethodPart(
        anchor="mean",
        title="Deeper layers, second method: mean",
        text="Method *mean* is statistical. Over a corpus of windows of one length, it splits a hidden state into "
        "three averages and what they leave over:",
        formula=r"h_{c,t} = \mu + \text{pos}_t + \text{ctx}_c + \text{resid}_{c,t}",
        where="$\\mu$ is the mean of all states, $\\text{pos}_t$ what slot $t$ adds on average over windows, "
        "$\\text{ctx}_c$ what window $c$ adds on average over slots (Song & Zhong 2023). It adds up as well, since the "
        "residual is a part. Its position also carries the average word at a slot, so the two methods differ even at "
        "layer 0, by a number that is stored with the means. A view says which method it shows.",
        values={"tab": "layers", "over": "corpus", "look": "basis"},
        see="Mean states, over many texts",
    ),
    MethodPart(
        anchor="centred",
        title="Key-centred: what softmax can see",
        text="Softmax ignores whatever is constant along the keys of one query. So terms are compared after that mean "
        "is taken away:",
        formula=r"c^{ab}_{ij} = t^{ab}_{ij} - \frac{1}{n}\sum_{j'} t^{ab}_{ij'}",
        where="A term can be large and change nothing: all four terms whose key is the bias do so at layer 0.",
        example=worked_example.centred,
        values={"group": "all"},
        see="All terms of a head; Options switches the centring off",
    ),
    MethodPart(
        anchor="share",
        title="Share: a term's part of what varies",
        text="The share of a term in a head is its part of the variance of the centred scores $c_{ij}$ along keys:",
        formula=_lines(
            r"\text{share}^{ab} = \frac{\sum_{ij} c^{ab}_{ij}\, c_{ij}}{\sum_{ij} c_{ij}^2}",
            r"\text{with}\quad c_{ij} = \sum_{ab} c^{ab}_{ij}",
        ),
        where="Shares of a head add up to 1. A share is negative where the term works against the others.",
        example=worked_example.share,
        values={"tab": "layers", "over": "corpus"},
        see="The share of one term in every head, over many texts",
    ),
    MethodPart(
        anchor="cancellation",
        title="Cancellation: when shares mean nothing",
        text="Large terms may cancel. How large they are together, as a multiple of the scores, bounds every share:",
        formula=r"\text{cancellation} = \frac{\sum_{ab} \lVert c^{ab} \rVert}{\lVert c \rVert}",
        where=f"Where it is over {MAX_CANCELLATION:.0f}, shares are withheld; where it is over {PRECISE_FROM:.0f}, "
        "terms are computed in float64.",
        example=worked_example.cancelled,
    ),
    MethodPart(
        anchor="effect",
        title="Effect: what a term does to attention",
        text="The effect of a term is the change of the attention pattern when the term is taken out of the scores "
        "$S$, in nats, as a mean over queries:",
        formula=r"\text{effect}^{ab} = \text{KL}\bigl(A \,\|\, \text{softmax}(S - t^{ab})\bigr)",
        where="$A$ is the pattern itself, $\\text{softmax}(S)$. Effects do not add up, and may rank terms in "
        "another order than shares do.",
        example=worked_example.effect,
        values={"look": "heads", "measure": "effect"},
        see="Every head's terms by effect",
    ),
    MethodPart(
        anchor="heads",
        title="Over heads: two averages, two stories",
        text="The mean over heads gives every head the same weight. The value pooled over heads adds up numerators and "
        "denominators first, so that one head with large scores can decide it. Both are shown, and heads come first.",
        example=worked_example.over_heads,
        values={"tab": "layers", "over": "corpus", "look": "terms"},
        see="The four terms by layer, averaged in both ways",
    ),
)
