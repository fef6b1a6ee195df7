"""The arms of fine-tuned surgery: changes of the sentence encoder before it is fine-tuned, one object an arm.

The embedding tables are not trained in any arm, so that an arm stays what it is called: words and positions that are
kept apart before fine-tuning are kept apart after it. What the changes do is in `apply_arm.py`; this needs no torch.
"""

from dataclasses import dataclass

RANK = 14
"""Directions that positions are given where they are kept apart: the effective rank of MiniLM's position table."""


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One starting point. tables, attention: names of changes in `apply_arm.py`; empty: nothing is changed there.

    variant: the variant of our own trainings that treats positions in the same way; empty where none does.
    """

    name: str
    title: str
    combines: str
    summary: str
    tables: str = ""
    attention: str = ""
    variant: str = ""


ARMS = {
    arm.name: arm
    for arm in (
        Arm(
            name="minilm_intact",
            title="MiniLM, intact",
            combines="added",
            summary="As it is: positions are added.",
            variant="bert_a",
        ),
        Arm(
            name="minilm_separated",
            title=f"MiniLM, words and positions apart ({RANK} directions)",
            combines="concatenated",
            summary=f"Words kept out of the positions' first {RANK} directions and positions kept inside them: up to "
            f"a rotation, {384 - RANK} dimensions of words next to {RANK} of positions.",
            tables="separated",
        ),
        Arm(
            name="minilm_no_position",
            title="MiniLM, no position",
            combines="absent",
            summary="Every position is the mean of the table, so that none differs.",
            tables="mean_position",
            variant="no_position",
        ),
        Arm(
            name="minilm_no_cross",
            title="MiniLM, no cross terms",
            combines="added",
            summary="At every layer, the products of a mean position with the rest are taken out of the scores.",
            attention="no_cross",
            variant="no_cross",
        ),
        Arm(
            name="minilm_rotary",
            title="MiniLM, rotary in place of the table",
            combines="rotated",
            summary="Every position is the mean of the table; queries and keys are rotated by their position.",
            tables="mean_position",
            attention="rotary",
            variant="rotary",
        ),
        Arm(
            name="minilm_untied",
            title="MiniLM, TUPE's untied positions",
            combines="untied",
            summary="Every position is the mean of the table; each layer adds position scores with separate "
            "projections, which start from the model's mean positions.",
            tables="mean_position",
            attention="untied",
            variant="tupe_a",
        ),
        Arm(
            name="minilm_separated_at_random",
            title=f"MiniLM, words and positions apart ({RANK} random directions)",
            combines="concatenated",
            summary=f"Words kept out of {RANK} random directions and positions kept inside them: the control for "
            "separating them along the positions' own directions.",
            tables="separated_at_random",
        ),
    )
}
