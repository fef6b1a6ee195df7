"""A test for causal models: does a token's state change when a later token does?"""

import torch
from transformers import PreTrainedModel

from analysis.models.submodules import last_states, run_model

TOKENS = 8
FIRST = 5
"""Vocabularies begin with special tokens."""
NEGLIGIBLE = 1e-5
"""Of the change at the token itself: rounding."""


def is_causal(model: PreTrainedModel) -> bool:
    """True where no token's state depends on a later token, as the model's config has it set.

    It is seen in a pass of two sequences that differ in their last token. A config names it in many ways, or not at
    all (`is_decoder`, `use_bidirectional_attention`, the class of its head); the pass follows whatever it says.
    """
    if model.main_input_name != "input_ids":
        return False
    vocabulary = int(model.config.get_text_config().vocab_size)
    ids = (torch.arange(TOKENS) + FIRST).remainder(vocabulary).expand(2, -1).clone()
    ids[1, -1] = (FIRST - 1) % vocabulary
    ids = ids.to(model.device)
    base = model.base_model
    assert isinstance(base, PreTrainedModel)
    with torch.inference_mode():
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        states = last_states(base, run_model(base, inputs)).float()
    change = (states[0] - states[1]).abs().amax(-1)
    return bool(change[:-1].max() <= NEGLIGIBLE * change[-1])
