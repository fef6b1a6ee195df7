"""The arms of surgery: changes of the sentence encoder before it is refitted or fine-tuned, one object an arm.

The embedding tables are not trained in any arm, so that an arm stays what it is called: words and positions that are
kept apart before training are kept apart after it. What the changes do is in `apply_arm.py`; this needs no torch.
"""

from dataclasses import dataclass

RANK = 14
"""Directions that positions are given where they are kept apart: the effective rank of MiniLM's position table."""
FEWER = 8
READ = 128
"""The rows of the position table that the texts of refitting read: no text is longer."""


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
        Arm(
            name="minilm_separated_read",
            title=f"MiniLM, words and positions apart ({RANK} directions of the first {READ} positions)",
            combines="concatenated",
            summary=f"As with {RANK} directions, but those in which the first {READ} positions vary most: no text of "
            "refitting is longer.",
            tables="separated_read",
        ),
        Arm(
            name="minilm_separated_read_fewer",
            title=f"MiniLM, words and positions apart ({FEWER} directions of the first {READ} positions)",
            combines="concatenated",
            summary=f"The same with the first {FEWER} of these directions.",
            tables="separated_read_fewer",
        ),
        Arm(
            name="minilm_permuted",
            title="MiniLM, positions exchanged",
            combines="added",
            summary="The rows of the position table in another order: the same way of telling positions, which has to "
            "be learned anew.",
            tables="permuted",
        ),
        Arm(
            name="minilm_sinusoidal",
            title="MiniLM, sinusoids in place of the table",
            combines="added",
            summary="Sinusoids that vary as much as the table, around its mean, are added.",
            tables="sinusoidal",
            variant="sinusoidal",
        ),
        Arm(
            name="minilm_every_layer_attention",
            title="MiniLM, positions told again in every layer",
            combines="added",
            summary="Every position is the mean of the table; each layer's queries and keys read the mean positions of "
            "what entered it, through the words' own projections.",
            tables="mean_position",
            attention="every_layer",
            variant="every_layer_attention",
        ),
        Arm(
            name="minilm_two_matrices",
            title="MiniLM, positions in every layer through projections of their own",
            combines="added",
            summary="The same through separate projections, which start as the words' own; all four terms stay.",
            tables="mean_position",
            attention="two_matrices",
            variant="bert_a_d_unscaled",
        ),
        Arm(
            name="minilm_relative_bias",
            title="MiniLM, a learned number for each distance",
            combines="biased",
            summary="Every position is the mean of the table; each head adds a number for each distance to its scores, "
            "which starts at zero.",
            tables="mean_position",
            attention="relative_bias",
            variant="relative_only",
        ),
    )
}
