"""The costs of concatenating: computed for the dimensions of a real model, and measured on our own small one."""

import numpy as np

from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS
from analysis.claims.statements.judgement import CONTRADICTED, SUPPORTED, Ask
from analysis.core import default_model
from analysis.core.formatting import percent
from analysis.figures.reading.saving import more_arithmetic
from analysis.measurements.surgery.arms import RANK
from analysis.narrative.answer.computed_sentence import ComputedSentence, Facts, Sentence, register

HEADINGS = {SUPPORTED: "It is a little cheaper", CONTRADICTED: "It is cheaper than a wider state"}
"""By the verdict on the statement that the arithmetic grows by less than its line."""
PRESET, WIDER = "width128", "concat_wide"
"""The preset whose costs are counted, that of Home's table, and the variant that concatenates beside full words."""
WORDS = PRESETS[PRESET].hidden_size
PLACED = round(WORDS * VARIANTS[WIDER].wider)
"""The dimensions of words, and those of positions beside them."""
MEASURED = (
    "SELECT c.measure, c.value / b.value - 1 AS more FROM newest_costs c JOIN newest_costs b USING (preset, measure) "
    f"WHERE b.variant = 'bert_a' AND c.variant = '{WIDER}' AND preset = '{PRESET}' "
    "AND measure IN ('parameters', 'flops_per_token')"
)


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """The room that positions take beside words of full width, where it is small and where it is a quarter."""
    size, arithmetic = facts["C01a"], facts["C01b"]
    if size.effect is None or arithmetic.effect is None:
        return None
    bold = f"{percent(arithmetic.effect, 1)} more arithmetic"
    sentence = (
        f"Adding needs no wider state: {RANK} further directions for positions, carried through every layer, would "
        f"cost the layers of {default_model.NAME} {bold}."
    )
    further = [f"The same {RANK} directions would cost {default_model.NAME} {percent(size.effect, 1)} more parameters."]
    further += among_heads(ask)
    measured = {row["measure"]: row["more"] for row in ask(MEASURED)}
    if measured.keys() == {"parameters", "flops_per_token"}:
        sentence += " Where positions take more room, it saves more."
        further.append(
            f"In our own small encoder, {PLACED} dimensions for positions beside the {WORDS} of words cost "
            f"{percent(measured['parameters'])} more parameters and {percent(measured['flops_per_token'])} more "
            f"arithmetic ({percent((1 + PLACED / WORDS) ** 2 - 1)} in the layers)."
        )
    return ComputedSentence(
        sentence=sentence,
        bold=bold,
        heading=HEADINGS.get(arithmetic.verdict, "It is cheaper"),
        value=arithmetic.effect,
        query=arithmetic.query,
        against=arithmetic.verdict == SUPPORTED,
        further="\n".join(further),
    )


def among_heads(ask: Ask) -> list[str]:
    """A sentence on the widths nearest to that of the answer that the model's heads can share; none if it is one."""
    shapes = ask(f"SELECT hidden_size, heads FROM models WHERE model = '{default_model.NAME}'")
    if not shapes or (shapes[0]["hidden_size"] + RANK) % shapes[0]["heads"] == 0:
        return []
    width, heads = int(shapes[0]["hidden_size"]), int(shapes[0]["heads"])
    wider = width + RANK
    near = np.array([wider - wider % heads, wider - wider % heads + heads])
    low, high = (percent(more, 1) for more in more_arithmetic(near - width, width))
    return [
        f"The {heads} heads of {default_model.NAME} can split {near[0]} dimensions evenly ({low}), or {near[1]} "
        f"({high}), but not {wider}."
    ]


register(
    Sentence(
        name="cost",
        order=20,
        claim="C01",
        link="How costs are counted",
        page="claims",
        values={"claim": "C01", "statement": "C01b"},
        tell=tell,
        part="reason",
    )
)
