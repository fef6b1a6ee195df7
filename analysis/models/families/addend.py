"""Our own encoder: every variant whose hidden states are a sum over sources."""

from collections.abc import Mapping, Sequence

from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

import analysis.ablation.encoder  # noqa: F401  registers the architecture with transformers
from analysis.core.term_names import SCORE_BIAS
from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput

REFUSED = {
    "disentangled": "compares words with relative positions in its scores, which are no source of the input",
    "polar": "takes the softplus of its queries and keys, so that its scores are no sum over what they are made of",
    "recurrent": "passes the words through a GRU before the first layer, which is not linear",
}


class Addend(Family):
    """Models trained by `python -m analysis ablate`."""

    title = "Addend's encoder"
    layer_list = "encoder.layer"
    attention = "attention.self"

    def refusal(self, config: Mapping[str, object]) -> str | None:
        """Variants whose hidden states or scores are no sum over word, position, segment, bias and score bias."""
        for field, reason in REFUSED.items():
            if config.get(field):
                return f"the variant {config.get('variant')!r} {reason}. Choose another variant"
        if config.get("combine") == "multiply":
            return "it multiplies words by positions, so the two are no summands. Choose another variant"
        if config.get("untied") in ("own", "word") and (config.get("relative_buckets") or config.get("alibi")):
            return (
                f"the variant {config.get('variant')!r} sums position scores and a bias for the distance before they "
                "can be told apart. Choose another variant"
            )
        return None

    def source_inputs(self, model: PreTrainedModel) -> Sequence[SourceInput]:
        """The tables of the input, and the rows of positions that layers are told as a part of what they read."""
        config, encoder = model.config, model.base_model
        paths = [("word", "embeddings.word_embeddings")]
        if config.combine != "none":
            paths.append(("position", "embeddings.position_embeddings"))
        if config.segments:
            paths.append(("segment", "embeddings.token_type_embeddings"))
        if config.untied in ("added", "shared"):
            paths.append(("position", "encoder.position_scores.LayerNorm"))
        return [OutputSource(source, encoder.get_submodule(path)) for source, path in paths]

    def rotations(self, model: PreTrainedModel) -> Sequence[nn.Module]:
        """The angles of the rotary variant."""
        return [model.base_model.get_submodule("encoder.rotation")] if model.config.rotary else []

    def position_kind(self, config: PreTrainedConfig) -> str:
        """By variant: rotated, a score bias alone, or added in one way or another."""
        if config.rotary:
            return "rotated"
        biased = config.alibi or config.relative_buckets
        return "score_bias" if biased and config.combine == "none" and not config.untied else self.positions

    def bias_terms(self, config: PreTrainedConfig) -> tuple[str, ...]:
        """TUPE's position scores are position_to_position; a bias for the distance is none of the sixteen."""
        return ("position_to_position",) if config.untied in ("own", "word") else (SCORE_BIAS,)


FAMILIES.add("addend", Addend())
