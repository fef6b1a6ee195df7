"""The encoder as transformers models: base, masked or causal language model, classifier.

Parameters carry BERT's names, so that with nothing special switched on the weights are BERT's. Shapes:
B batch, L length, E hidden size, V vocabulary, N labels, M predicted tokens.
"""

import zlib
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
)
from transformers.activations import ACT2FN
from transformers.modeling_outputs import (
    BaseModelOutputWithPooling,
    CausalLMOutput,
    MaskedLMOutput,
    SequenceClassifierOutput,
)
from transformers.modeling_utils import PreTrainedModel
from transformers.models.bert.modeling_bert import BertIntermediate, BertOutput, BertPooler, BertSelfOutput
from transformers.utils.output_capturing import capture_outputs

from analysis.ablation.corpus import IGNORED
from analysis.ablation.encoder.attention import PassTensors, Phases, RotaryAngles, SelfAttention
from analysis.ablation.encoder.config import MODEL_TYPE, AddendConfig
from analysis.ablation.encoder.inputs import Inputs, PositionTable
from analysis.ablation.encoder.scores import PositionScores


class Attention(nn.Module):
    """Self-attention and what follows it, as BERT nests them."""

    def __init__(self, config: AddendConfig, scores: PositionScores) -> None:
        super().__init__()
        self.self = SelfAttention(config, scores)
        self.output = BertSelfOutput(config)


class EncoderLayer(nn.Module):
    """One layer; the norm comes after each residual sum, or before each part of the layer."""

    def __init__(self, config: AddendConfig, scores: PositionScores) -> None:
        super().__init__()
        self.pre_norm = config.norm == "pre"
        self.told_hidden = config.told_to == "hidden"
        self.attention = Attention(config, scores)
        self.intermediate = BertIntermediate(config)
        self.output = BertOutput(config)
        if config.blocked:
            # One normalisation per part, or the sum would mix their statistics.
            self.attention.output.add_module("LayerNorm", PartNorm(config))
            self.output.add_module("LayerNorm", PartNorm(config))

    def forward(
        self, hidden: Float[Tensor, "B L E"], shared: PassTensors, indices: Int64[Tensor, " M"] | None = None
    ) -> Float[Tensor, "B L E"] | Float[Tensor, "M E"]:
        """The hidden states after the layer: of every token, or of those at `indices` alone."""
        attention_output, output = self.attention.output, self.output
        if shared.told is not None and self.told_hidden:
            hidden = hidden + shared.told
        attended = self.attention.self(attention_output.LayerNorm(hidden) if self.pre_norm else hidden, shared)[0]
        if indices is not None:
            # Past the attention, tokens no longer meet: only the requested ones are computed.
            hidden, attended = (rows.flatten(0, 1).index_select(0, indices) for rows in (hidden, attended))
        if not self.pre_norm:
            attended = attention_output(attended, hidden)
            return output(self.intermediate(attended), attended)
        hidden = hidden + attention_output.dropout(attention_output.dense(attended))
        return hidden + output.dropout(output.dense(self.intermediate(output.LayerNorm(hidden))))


class PartNorm(nn.Module):
    """A LayerNorm for the word part and one for the position part."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        self.widths = [config.word_dim, config.position_dim]
        self.word, self.position = (nn.LayerNorm(width, eps=config.layer_norm_eps) for width in self.widths)

    def forward(self, hidden: Float[Tensor, "... E"]) -> Float[Tensor, "... E"]:
        """Both parts normalised."""
        words, positions = hidden.split(self.widths, -1)
        return torch.cat([self.word(words), self.position(positions)], -1)


class Encoder(nn.Module):
    """The stack of layers, and the position scores they share."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        self.config = config
        self.position_scores = PositionScores(config)
        self.layer = nn.ModuleList(
            [EncoderLayer(config, self.position_scores) for _ in range(config.num_hidden_layers)]
        )
        if config.norm == "pre":
            self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        if config.rotary:
            self.rotation = RotaryAngles(config)
        if config.polar:
            self.phases = Phases(config)
        if config.disentangled:
            self.relative = nn.Embedding(2 * config.disentangled, config.hidden_size)

    def forward(
        self,
        hidden: Float[Tensor, "B L E"],
        mask: Int64[Tensor, "B L"] | None,
        indices: Int64[Tensor, " M"] | None = None,
    ) -> Float[Tensor, "B L E"] | Float[Tensor, "M E"]:
        """The last layer's hidden states: of every token, or of those at `indices` of the flattened batch alone."""
        shared = self.shared(hidden, mask)
        untold = replace(shared, added=None, told=None)
        limit = self.config.told_layers or len(self.layer)
        *earlier, last = self.layer
        for number, layer in enumerate(earlier):
            hidden = layer(hidden, shared if number < limit else untold)
        hidden = last(hidden, shared if len(earlier) < limit else untold, indices)
        return self.LayerNorm(hidden) if self.config.norm == "pre" else hidden

    def shared(self, hidden: Tensor, mask: Tensor | None) -> PassTensors:
        """The tensors that all layers use, computed once for each forward pass."""
        config, length = self.config, hidden.shape[1]
        return PassTensors(
            bias=self.position_scores(length),
            mask=self.additive_mask(mask, length, hidden),
            added=self.position_scores.queries_and_keys(length) if config.untied == "added" else None,
            told=self.position_scores.normed(length) if config.untied == "shared" else None,
            angles=self.rotation(length, hidden) if config.rotary else None,
            phases=self.phases(length, hidden) if config.polar else None,
            position_rows=self.position_scores.normed(length) if config.untied == "word" else None,
            relative=self.relative.weight if config.disentangled else None,
        )

    def additive_mask(self, mask: Tensor | None, length: int, reference: Tensor) -> Float[Tensor, "B 1 L L"] | None:
        """0 where a query may attend, the least number where not; None where it may everywhere."""
        config = self.config
        visible: Tensor | None = None
        if mask is not None and not bool(mask.all()):
            visible = mask[:, None, None].bool()
        if config.causal or config.window:
            positions = torch.arange(length, device=reference.device)
            offset = positions[None] - positions[:, None]
            allowed = torch.ones(length, length, dtype=torch.bool, device=reference.device)
            if config.window:
                allowed &= (offset.abs() <= config.window) | (positions[None] == 0) | (positions[:, None] == 0)
            if config.causal:
                allowed &= offset <= 0
            visible = allowed[None, None] if visible is None else visible & allowed
        if visible is None:
            return None
        return torch.zeros(visible.shape, dtype=reference.dtype, device=reference.device).masked_fill(
            ~visible, torch.finfo(reference.dtype).min
        )


class AddendPreTrainedModel(PreTrainedModel):
    """The facts about the architecture that transformers needs: its config, its name and its attention interface."""

    config_class = AddendConfig
    config: AddendConfig
    base_model_prefix = MODEL_TYPE
    _supports_sdpa = True
    _supports_attention_backend = True
    _can_record_outputs = {"hidden_states": EncoderLayer, "attentions": SelfAttention}  # noqa: RUF012

    @classmethod
    def _can_set_attn_implementation(cls) -> bool:
        return True  # transformers looks for the interface in this file; it is called in attention.py

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if isinstance(module, PositionTable):
            module.initialise(torch.Generator().manual_seed(torch.initial_seed() % 2**32))
        elif isinstance(module, PositionScores):
            module.initialise()


class AddendModel(AddendPreTrainedModel):
    """Hidden states of the last layer, and a pooled first token."""

    def __init__(self, config: AddendConfig, add_pooling_layer: bool = True) -> None:
        super().__init__(config)
        self.embeddings = Inputs(config)
        self.encoder = Encoder(config)
        self.pooler = BertPooler(config) if add_pooling_layer else None
        self.embeddings.word_embeddings.weight.requires_grad_(not config.freeze_words)
        self.post_init()

    def get_input_embeddings(self) -> nn.Module:
        """The word table."""
        return self.embeddings.word_embeddings

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Replaces the word table."""
        self.embeddings.word_embeddings = value  # pyright: ignore[reportAttributeAccessIssue]

    def hidden(
        self,
        ids: Int64[Tensor, "B L"],
        mask: Int64[Tensor, "B L"] | None = None,
        segments: Int64[Tensor, "B L"] | None = None,
        indices: Int64[Tensor, " M"] | None = None,
    ) -> Float[Tensor, "B L E"] | Float[Tensor, "M E"]:
        """The last layer's hidden states, nothing recorded: what training calls.

        indices: of tokens in the flattened batch; past its attention, the last layer computes these alone.
        """
        maximum = self.config.max_position_embeddings
        if ids.shape[1] > maximum:
            raise ValueError(f"The text has {ids.shape[1]} tokens and the model {maximum} positions; shorten it.")
        return self.encoder(self.embeddings(ids, segments, mask), mask, indices)

    @capture_outputs
    def forward(
        self,
        input_ids: Int64[Tensor, "B L"],
        attention_mask: Int64[Tensor, "B L"] | None = None,
        token_type_ids: Int64[Tensor, "B L"] | None = None,
        **_: Any,
    ) -> BaseModelOutputWithPooling:
        """Runs the encoder, with the arguments and results of BertModel."""
        hidden = self.hidden(input_ids, attention_mask, token_type_ids)
        return BaseModelOutputWithPooling(
            last_hidden_state=hidden, pooler_output=None if self.pooler is None else self.pooler(hidden)
        )


class PredictionHead(nn.Module):
    """BERT's prediction head; the transform ends in the word table's width."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        self.transform = Transform(config)
        if config.full_head and config.word_dim < config.hidden_size:
            self.projection = nn.Linear(config.hidden_size, config.word_dim)
        self.decoder = nn.Linear(config.word_dim, config.vocab_size)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, hidden: Float[Tensor, "... E"]) -> Float[Tensor, "... V"]:
        """Logits."""
        transformed = self.transform(hidden)
        return self.decoder(self.projection(transformed) if hasattr(self, "projection") else transformed)


class Transform(nn.Module):
    """Dense, activation, LayerNorm."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        width = config.hidden_size if config.full_head else config.word_dim
        self.dense = nn.Linear(config.hidden_size, width)
        self.activation = ACT2FN[config.hidden_act]
        self.LayerNorm = nn.LayerNorm(width, eps=config.layer_norm_eps)

    def forward(self, hidden: Float[Tensor, "... E"]) -> Float[Tensor, "... W"]:
        """Ready for the word table."""
        return self.LayerNorm(self.activation(self.dense(hidden)))


class PredictionModule(nn.Module):
    """Holds the head where BERT has it."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__()
        self.predictions = PredictionHead(config)


class AddendForMaskedLM(AddendPreTrainedModel):
    """Predicts masked tokens."""

    output: type[MaskedLMOutput | CausalLMOutput] = MaskedLMOutput
    _tied_weights_keys = {  # noqa: RUF012  transformers' own form
        "cls.predictions.decoder.weight": "addend.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    }

    def __init__(self, config: AddendConfig) -> None:
        super().__init__(config)
        self.addend = AddendModel(config, add_pooling_layer=False)
        self.cls = PredictionModule(config)
        self.post_init()

    def get_output_embeddings(self) -> nn.Module:
        """The decoder."""
        return self.cls.predictions.decoder

    def set_output_embeddings(self, new_embeddings: nn.Module) -> None:
        """Replaces the decoder."""
        self.cls.predictions.decoder = new_embeddings  # pyright: ignore[reportAttributeAccessIssue]

    def losses(
        self, ids: Int64[Tensor, "B L"], segments: Int64[Tensor, "B L"], indices: Int64[Tensor, " M"], labels: Tensor
    ) -> Float[Tensor, " M"]:
        """Cross-entropy in nats of the predicted tokens, the only ones that the head computes.

        indices: of the predicted tokens in the flattened batch, so that shapes are known beforehand. labels: (M,).
        """
        logits = self.cls.predictions(self.addend.hidden(ids, None, segments, indices))
        return nn.functional.cross_entropy(logits.float(), labels, reduction="none")

    def forward(
        self,
        input_ids: Int64[Tensor, "B L"],
        attention_mask: Int64[Tensor, "B L"] | None = None,
        token_type_ids: Int64[Tensor, "B L"] | None = None,
        labels: Int64[Tensor, "B L"] | None = None,
        **options: Any,
    ) -> MaskedLMOutput | CausalLMOutput:
        """Runs the model, with the arguments and results of BertForMaskedLM."""
        output = self.addend(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids, **options
        )
        logits = self.cls.predictions(output.last_hidden_state)
        loss = None if labels is None else self.compute_loss(logits, labels)
        return self.output(loss=loss, logits=logits, hidden_states=output.hidden_states, attentions=output.attentions)

    def compute_loss(self, logits: Float[Tensor, "B L V"], labels: Int64[Tensor, "B L"]) -> Float[Tensor, ""]:
        """Mean cross-entropy; the label of a token is at its position."""
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)


class AddendForCausalLM(AddendForMaskedLM):
    """Predicts the next token; for a config with `causal`."""

    output = CausalLMOutput

    def compute_loss(self, logits: Float[Tensor, "B L V"], labels: Int64[Tensor, "B L"]) -> Float[Tensor, ""]:
        """Mean cross-entropy as in GPT2LMHeadModel: labels are the tokens themselves, and are shifted here."""
        return self.loss_function(logits, labels, self.config.vocab_size)


class AddendForSequenceClassification(AddendPreTrainedModel):
    """A label, or a number, for a text or a pair; reads the first token, a causal model the last one."""

    def __init__(self, config: AddendConfig) -> None:
        super().__init__(config)
        self.num_labels = int(config.num_labels or 2)
        self.addend = AddendModel(config)
        self.dropout = nn.Dropout(
            config.hidden_dropout_prob if config.classifier_dropout is None else config.classifier_dropout
        )
        self.classifier = nn.Linear(config.hidden_size, self.num_labels)
        self.post_init()

    def forward(
        self,
        input_ids: Int64[Tensor, "B L"],
        attention_mask: Int64[Tensor, "B L"] | None = None,
        token_type_ids: Int64[Tensor, "B L"] | None = None,
        **_: Any,
    ) -> SequenceClassifierOutput:
        """Logits (B, N)."""
        count, length = input_ids.shape
        indices = torch.arange(count, device=input_ids.device) * length
        if self.config.causal:
            indices = indices + (length if attention_mask is None else attention_mask.sum(1)) - 1
        hidden = self.addend.hidden(input_ids, attention_mask, token_type_ids, indices)[:, None]
        assert self.addend.pooler is not None
        logits: Float[Tensor, "B N"] = self.classifier(self.dropout(self.addend.pooler(hidden)))
        return SequenceClassifierOutput(logits=logits)


@torch.no_grad()
def draw_weights(model: AddendPreTrainedModel, seed: int) -> None:
    """Draws every weight anew from (seed, its name): variants share what they have in common.

    Drawn weights are normal with the config's deviation; fixed tables, norms and biases stay as they are. Positions
    that a norm would follow and does not are drawn with the deviation 1 that it would give them. Where the config says
    so, each block of the projection at the input is the identity instead.
    """
    identity = model.config.projection_start == "identity"
    tables = {name: module for name, module in model.named_modules() if isinstance(module, PositionTable)}
    table_weights = {f"{name}.weight" for name in tables}
    for name, weight in model.named_parameters():
        generator = torch.Generator().manual_seed(zlib.crc32(f"{seed} {name}".encode()))
        if name in table_weights:
            tables[name.removesuffix(".weight")].initialise(generator)
        elif identity and name.endswith("embeddings.projection.weight"):
            width, read = weight.shape
            weight.copy_(torch.eye(width).repeat(1, read // width))
        elif weight.ndim > 1 and ".recurrent." not in name:
            unnormed = name.endswith("position_scores.positions.weight") and not model.config.told_norm
            weight.normal_(0.0, 1.0 if unnormed else model.config.initializer_range, generator=generator)
    padding = model.config.pad_token_id
    if padding is not None:
        model.get_input_embeddings().weight[padding] = 0.0  # pyright: ignore[reportIndexIssue]


AutoConfig.register(MODEL_TYPE, AddendConfig, exist_ok=True)
AutoModel.register(AddendConfig, AddendModel, exist_ok=True)
AutoModelForMaskedLM.register(AddendConfig, AddendForMaskedLM, exist_ok=True)
AutoModelForCausalLM.register(AddendConfig, AddendForCausalLM, exist_ok=True)
AutoModelForSequenceClassification.register(AddendConfig, AddendForSequenceClassification, exist_ok=True)
