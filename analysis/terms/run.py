"""Runs a model on a text and takes the scores of a layer apart."""

import time
from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.errors import ModelError, TextError, TextTooLong
from analysis.models.capture import Captured, capture
from analysis.models.expand import Factors
from analysis.models.families import family_of
from analysis.provenance import git_sha, library_versions, now
from analysis.terms.result import Decomposition, Provenance, TokenInfo, attended_keys


def decompose(
    model: Any,
    tokenizer: Any,
    text: str,
    text_pair: str | None = None,
    layer: int = 0,
    *,
    truncate: bool = False,
    name: str | None = None,
    revision: str | None = None,
) -> Decomposition:
    """See `analysis.terms.decompose`; `name` and `revision` say what the model is to be called."""
    config = model.config.to_dict() | {"model_type": model.config.model_type}
    family = family_of(config, name or "The model")
    if model.training:
        raise ModelError("The model is in training mode, where dropout changes its scores; call model.eval() first.")
    check_layer(model, layer)
    inputs, tokens, cut_from = encode(tokenizer, text, text_pair or None, model, truncate)
    started = time.perf_counter()
    with torch.inference_mode():
        captured = capture(model, inputs, family.attention(model, layer))
        factors = family.expand(model, inputs)
        own, total = captured.scores[0], _sum_of_terms(factors)
        max_error = (total - own).abs().max()
        attends = family.attends(model.config)
        seen = _attended(attends, captured)
        pattern_error = (total.masked_fill(~seen, -torch.inf).softmax(-1) - captured.pattern[0]).abs().max()
    query, key, scores = (x.cpu().numpy() for x in (factors.query, factors.key, own.to(factors.query.dtype)))
    return Decomposition(
        query=query,
        key=key,
        scale=factors.scale,
        layer=layer,
        token_info=tokens,
        scores=scores,
        max_error=float(max_error),
        pattern_error=float(pattern_error),
        attends=attends,
        provenance=Provenance(
            model=name or model.name_or_path or type(model).__name__,
            revision=revision or "unknown",
            device=str(model.device),
            dtype=str(model.dtype).removeprefix("torch."),
            seconds=time.perf_counter() - started,
            text=text,
            text_pair=text_pair or None,
            created=now(),
            git_sha=git_sha(),
            versions=library_versions(),
            truncated_from=cut_from,
        ),
    )


def _attended(attends: str, captured: Captured) -> Bool[Tensor, "query key"]:
    """The keys that the family says are attended to, once they are found to be those of the forward pass."""
    length = captured.scores.shape[-1]
    said = attended_keys(attends, length)
    everywhere = torch.ones(length, length, dtype=torch.bool, device=captured.scores.device)
    mask = everywhere if said is None else torch.from_numpy(said).to(everywhere.device)
    own = everywhere if captured.attended is None else captured.attended[0]
    if not torch.equal(mask, own):
        raise ModelError(
            f"The model masks other keys than its family says ({attends}), so its shares would be of other queries. "
            "Choose another model, or mend the family."
        )
    return mask


def _sum_of_terms(factors: Factors) -> Float[Tensor, "head query key"]:
    """The sixteen terms, each added on its own as a reader would: products of summed sources prove nothing."""
    _, heads, tokens, _ = factors.query.shape
    total = factors.query.new_zeros(heads, tokens, tokens)
    for query in factors.query:
        for key in factors.key:
            total.baddbmm_(query, key.transpose(-1, -2), alpha=factors.scale)
    return total


def check_layer(model: Any, layer: int) -> None:
    """Refuses a layer that does not exist, or that the exact expansion does not reach."""
    layers = model.config.num_hidden_layers
    if not 0 <= layer < layers:
        raise ModelError(f"There is no layer {layer}: this model has layers 0 to {layers - 1}.")
    if layer > 0:
        raise ModelError(
            f"Layer {layer} was asked for; the exact terms exist at layer 0 alone, before attention has mixed the "
            "sources. Choose layer 0."
        )


def encode(
    tokenizer: Any, text: str, text_pair: str | None, model: Any, truncate: bool
) -> tuple[Mapping[str, Tensor], tuple[TokenInfo, ...], int | None]:
    """Model inputs on the model's device, what each token is, and the length before truncation if any was cut."""
    if not text.strip():
        raise TextError("The text is empty; type at least one word.")
    if text_pair is not None and not text_pair.strip():
        raise TextError("The second text is blank; type at least one word, or leave it out.")
    limit = model.config.max_position_embeddings
    encoded = tokenizer(text, text_pair, return_tensors="pt", verbose=False)
    found, cut_from = encoded["input_ids"].shape[1], None
    if found > limit:
        if not truncate:
            raise TextTooLong(
                f"The text has {found} tokens and the model {limit} positions. Shorten it, or have it cut to {limit}."
            )
        cut_from = found
        encoded = tokenizer(text, text_pair, return_tensors="pt", truncation=True, max_length=limit)
    ids = encoded["input_ids"]
    vocabulary = model.get_input_embeddings().num_embeddings
    if int(ids.max()) >= vocabulary:
        raise ModelError(
            f"The tokenizer gives token {int(ids.max())} and the model's vocabulary has {vocabulary}; "
            "they do not belong together. Load both from one checkpoint."
        )
    types = encoded.get("token_type_ids", torch.zeros_like(ids))[0].tolist()
    kinds = int(model.config.type_vocab_size)
    if max(types) >= kinds:
        raise ModelError(
            f"The tokenizer marks segment {max(types)} and the model has segments 0 to {kinds - 1}; "
            "give one text, or choose a model that takes pairs."
        )
    words, segments = encoded.word_ids(0), encoded.sequence_ids(0)
    names = tokenizer.convert_ids_to_tokens(ids[0].tolist())
    tokens = tuple(
        TokenInfo(name, None if word is None else (segment, word), kind)
        for name, word, segment, kind in zip(names, words, segments, types, strict=True)
    )
    inputs = {key: value.to(model.device) for key, value in encoded.items() if isinstance(value, Tensor)}
    return inputs, tokens, cut_from
