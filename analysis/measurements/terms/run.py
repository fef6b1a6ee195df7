"""Runs a model on a text and takes the scores of a layer apart."""

import copy
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from analysis.core import settings
from analysis.core.errors import ModelError, TextError, TextTooLong, UnknownName
from analysis.core.provenance import git_sha, library_versions, now
from analysis.core.term_names import MEAN_SOURCES
from analysis.measurements.means.split import Basis, split
from analysis.measurements.means.states import split_entering
from analysis.measurements.means.stored_bases import StoredBasis, stored_basis
from analysis.measurements.terms import measures
from analysis.measurements.terms.masks import describe_mask
from analysis.measurements.terms.result import PRECISE_FROM, Decomposition, Provenance, TokenInfo
from analysis.measurements.terms.tokens import tokens_of, unknown_cause
from analysis.models.families import Family, family_of, longest
from analysis.models.foreign_errors import as_tokenizer_errors
from analysis.models.load import Loaded
from analysis.models.submodules import word_table
from analysis.models.trace_sources import Factors, Layer, trace_sources

HALF = (torch.float16, torch.bfloat16)

PRECISE_BYTES = 2_000_000_000
"""The largest size of a model's weights in float64 for computing again: larger ones would leave no room for others."""

METHODS = ("frozen", "mean")
"""The ways to split hidden states into sources; see analysis/models/trace_sources.py and
analysis/measurements/means/split.py."""


class AskedText(Protocol):
    """A request for a result on a text; those of `analysis.probes.text_probe` are such."""

    @property
    def text(self) -> str:
        """The text, or the first of a pair."""
        ...

    @property
    def pair(self) -> str | None:
        """The second text of a pair."""
        ...

    @property
    def truncate(self) -> bool:
        """True if a text that is too long is cut."""
        ...


class FollowedText(AskedText, Protocol):
    """A request for which the sources of a text are followed through the layers."""

    @property
    def freeze(self) -> str:
        """The part of gated units that is held fixed."""
        ...


class LayerRequest(FollowedText, Protocol):
    """A request for the terms of one layer on a text."""

    @property
    def layer(self) -> int:
        """The layer, from 0."""
        ...

    @property
    def method(self) -> str:
        """One of `METHODS`: `frozen` is exact at layer 0."""
        ...


@dataclass(frozen=True, kw_only=True)
class LayerPass:
    """A pass of a model whose scores in one layer are taken apart."""

    model: PreTrainedModel
    family: Family
    inputs: Mapping[str, object]
    layer: int
    freeze: str
    """The part of gated units that is held fixed."""
    stored: torch.dtype | None = None
    """The precision that the weights were stored in, where they were read as float32: half gives scores of its own."""
    parts: Callable[[Tensor], Tensor] | None = None
    """Splits the input of the layer, under method `mean`; None follows the sources from the input of the model."""
    alone: Mapping[str, object] | None = None
    """The inputs where the model does as it does by itself: the scores, and so the errors, are then of that pass, and
    the terms of the one with `inputs`."""


def decompose(loaded: Loaded, asked: LayerRequest, basis: StoredBasis | None = None) -> Decomposition:
    """The scores of one layer as a sum of terms; see `analysis.measurements.terms.decompose`.

    basis: the means that method `mean` splits by; the store's for this revision where none is given. Where the weights
    were stored in half precision, the scores are those of the model at its own, and so are the errors.
    Raises UnknownName for another method, TextError and ModelError as that does.
    """
    if asked.method not in METHODS:
        raise UnknownName(f"There is no method {asked.method!r}; known: {', '.join(METHODS)}.")
    model, tokenizer, name = loaded.model, loaded.tokenizer, loaded.source.name
    family = checked_family(model, name)
    check_layer(model, family, asked.layer)
    texts = asked.text, asked.pair or None
    inputs, tokens, cut_from = encode(tokenizer, *texts, model, asked.truncate)
    if asked.method == "frozen":
        basis = None
    elif basis is None:
        basis = stored_basis(name or model.name_or_path or "", loaded.source.revision or "unknown", asked.layer)
    started = time.perf_counter()
    passed = LayerPass(
        model=model,
        family=family,
        inputs=inputs,
        layer=asked.layer,
        freeze=asked.freeze,
        stored=loaded.dtype,
        parts=None if basis is None else partial(_parts, basis=basis.basis, counted=_counted(tokens)),
    )
    measured, dtype = decompose_layer(Decomposition, passed)
    about = provenance(loaded, asked.text, started, asked.pair, cut_from, dtype=dtype)
    result = measured(token_info=tokens, provenance=about)
    if result.unknown:
        because = unknown_cause(tokenizer, tokenizer(*texts, verbose=False), texts)
        result = replace(result, unknown_because=because)
    if basis is None:
        return result
    return replace(
        result,
        freeze="",
        sources=MEAN_SOURCES,
        reference=f"{basis.corpus}, {basis.windows} windows of {len(basis.basis.position)} tokens",
        frozen_gap=basis.frozen_gap,
    )


DecompositionT = TypeVar("DecompositionT", bound=Decomposition)


def decompose_layer(of: type[DecompositionT], passed: LayerPass) -> tuple[partial[DecompositionT], str]:
    """A decomposition that lacks what depends on the kind of input, and the precision of its scores."""
    model, family = passed.model, passed.family
    with torch.inference_mode():
        seen, factors = _run_layer(passed)
        own, total = seen.call.scores[0], sum_of_terms(factors)
        attended = seen.attended()
        hidden = torch.zeros_like(own[0], dtype=torch.bool) if attended is None else ~attended
        max_error = (total - own).abs().max()
        pattern_error = (total.masked_fill(hidden, -torch.inf).softmax(-1) - seen.pattern[0]).abs().max()
    query, key, scores = (x.cpu().numpy() for x in (factors.query, factors.key, own.to(factors.query.dtype)))
    result = partial(
        of,
        query=query,
        key=key,
        scale=factors.scale,
        added={} if factors.bias is None else dict(zip(factors.bias_terms, factors.bias.cpu().numpy(), strict=True)),
        layer=passed.layer,
        layers=len(family.attentions(model)),
        position_kind=family.position_kind(model.config),
        freeze=passed.freeze if family.gated(model.config) else "",
        scores=scores,
        max_error=float(max_error),
        pattern_error=float(pattern_error),
        attends=describe_mask(None if attended is None else attended.cpu().numpy()),
    )
    return result, str(seen.call.query.dtype).removeprefix("torch.")


def provenance(
    loaded: Loaded,
    text: str,
    started: float,
    text_pair: str | None = None,
    truncated_from: int | None = None,
    *,
    dtype: str = "",
) -> Provenance:
    """The provenance of a result that is finished now; `text` is the input of the model, in words.

    started: by time.perf_counter. dtype: the precision of its numbers, if not the model's.
    """
    model, source = loaded.model, loaded.source
    return Provenance(
        model=source.name or model.name_or_path or type(model).__name__,
        revision=source.revision or "unknown",
        device=str(model.device),
        dtype=dtype or str(model.dtype).removeprefix("torch."),
        seconds=time.perf_counter() - started,
        text=text,
        text_pair=text_pair or None,
        created=now(),
        git_sha=git_sha(),
        versions=library_versions(),
        truncated_from=truncated_from,
    )


def _counted(tokens: Sequence[TokenInfo]) -> Bool[np.ndarray, " token"]:
    """The tokens over which a text's context is averaged: neither the first nor special; all where that is none."""
    counted = np.asarray([index > 0 and not token.special for index, token in enumerate(tokens)])
    return counted if counted.any() else ~counted


def _parts(
    hidden: Float[Tensor, "one token dim"], basis: Basis, counted: Bool[np.ndarray, " token"]
) -> Float[Tensor, "source one token dim"]:
    """A layer's input, split by a basis. Raises TextTooLong for a text with more tokens than the basis has slots."""
    slots = len(basis.position)
    if hidden.shape[1] > slots:
        raise TextTooLong(
            f"The text has {hidden.shape[1]} tokens, but the means of method mean were measured over windows of "
            f"{slots}. Shorten it, or measure over longer windows: python -m analysis measure means --texts FILE "
            "--length N"
        )
    items = split(hidden[0].float().cpu().numpy(), basis, counted)
    return torch.from_numpy(items).to(hidden.device, hidden.dtype)[:, None]


def _run_layer(passed: LayerPass) -> tuple[Layer, Factors]:
    """The layer as the model ran it, at its own precision, and the sources of its scores, in float32 at least."""
    model, family, inputs, layer, parts = passed.model, passed.family, passed.inputs, passed.layer, passed.parts
    items: list[Layer] = []

    def take(traced: Layer) -> None:
        if traced.index == layer:
            items.append(traced)

    stored_precision, single = model, model
    if model.dtype in HALF:
        single = _converted(model, torch.float32).float()
    elif passed.stored in HALF:
        stored_precision = _converted(model, passed.stored)
    if stored_precision is not single or passed.alone is not None:
        own_inputs = _cast(passed.alone or inputs, stored_precision.dtype)
        trace_sources(stored_precision, family, own_inputs, take, last=layer, sources=False)
    single_inputs = _cast(inputs, torch.float32) if stored_precision is not single else inputs
    with nullcontext() if parts is None else split_entering(single, family, layer, parts):
        trace_sources(single, family, single_inputs, take, last=layer, freeze=passed.freeze, sources=parts is None)
    if parts is None and single.dtype == torch.float32 and _cancels(items[-1]) and _fits(single):
        precise = _converted(single, torch.float64).double()
        trace_sources(precise, family, _cast(inputs, torch.float64), take, last=layer, freeze=passed.freeze)
    return items[0], items[-1].factors()


def _cancels(layer: Layer) -> bool:
    """True if the terms of some head are so large beside their sum that float32 would round it."""
    factors, mask = layer.factors(), layer.attended()
    arguments = (factors.query, factors.key, factors.scale, mask, factors.bias)
    _, power = measures.share_parts(*arguments)
    result = measures.cancellation(measures.centred_squares(*arguments), power)
    return bool((result > PRECISE_FROM).any())


def _fits(model: PreTrainedModel) -> bool:
    return 8 * sum(weights.numel() for weights in model.parameters()) <= PRECISE_BYTES


def _cast(inputs: Mapping[str, object], dtype: torch.dtype) -> dict[str, object]:
    """Pixels at a precision; ids stay, and what is no tensor."""
    floating = {name: x.to(dtype) for name, x in inputs.items() if isinstance(x, Tensor) and x.is_floating_point()}
    return {**inputs, **floating}


def _converted(model: PreTrainedModel, dtype: torch.dtype) -> PreTrainedModel:
    """The model at another precision, as transformers loads it: parameters alone, not the angles of rotations."""
    converted = {id(w): nn.Parameter(w.detach().to(dtype), requires_grad=False) for w in model.parameters()}
    return copy.deepcopy(model, converted)


def sum_of_terms(factors: Factors) -> Float[Tensor, "head query key"]:
    """All terms, each added on its own as a reader would: products of summed sources prove nothing."""
    _, heads, tokens, _ = factors.query.shape
    total = factors.query.new_zeros(heads, tokens, factors.key.shape[2])
    for query in factors.query:
        for key in factors.key:
            total.baddbmm_(query, key.transpose(-1, -2), alpha=factors.scale)
    return total if factors.bias is None else total + factors.bias.sum(0)


def error_of(total: Float[Tensor, "head query key"], scores: Float[Tensor, "head query key"]) -> tuple[float, float]:
    """The largest difference of a sum of terms to the model's own scores, and the same over the scores' range."""
    error, extent = float((total - scores).abs().max()), float(scores.max() - scores.min()) or float(scores.abs().max())
    return error, error / extent if extent else 0.0


READS = {
    "text": "reads images, not text. Choose Image in the form of Look inside, or measure it with: "
    "python -m analysis measure images",
    "image": "reads text, not images. Choose Text in the form of Look inside",
}
"""The rest of a message about a model that does not read text, or images."""


def checked_family(model: PreTrainedModel, name: str | None, reads: str = "text") -> Family:
    """The family of a model that is ready. Raises ModelError where there is none, or the model is training."""
    config = model.config.to_dict() | {"model_type": model.config.model_type}
    family = family_of(config, name or "The model")
    if family.reads != reads:
        raise ModelError(f"{name or 'The model'} ({family.title}) {READS[reads]}.")
    if model.training:
        raise ModelError("The model is in training mode, where dropout changes its scores; call model.eval() first.")
    return family


def check_layer(model: PreTrainedModel, family: Family, layer: int) -> None:
    """Raises ModelError for a layer that the model does not have."""
    layers = len(family.attentions(model))
    if not 0 <= layer < layers:
        raise ModelError(f"There is no layer {layer}: this model has layers 0 to {layers - 1}.")


def encode(
    tokenizer: PreTrainedTokenizerFast,
    text: str,
    text_pair: str | None,
    model: PreTrainedModel,
    truncate: bool,
    tokens: int | None = None,
) -> tuple[Mapping[str, Tensor], tuple[TokenInfo, ...], int | None]:
    """Model inputs on the model's device, what each token is, and the length before truncation if any was cut.

    tokens: the most that are accepted, where that is fewer than the model has positions for.
    Raises TextError for an empty text or one of too many bytes, TextTooLong for too many tokens that are not to be cut,
    and ModelError where tokenizer and model do not belong together.
    """
    if model.main_input_name == "pixel_values":
        raise ModelError(f"{type(model).__name__} {READS['text']}.")
    if not text.strip():
        raise TextError("The text is empty; type at least one word.")
    if text_pair is not None and not text_pair.strip():
        raise TextError("The second text is blank; type at least one word, or leave it out.")
    try:
        kilobytes, most = len(f"{text}{text_pair or ''}".encode()) / 1000, settings.number("ADDEND_TEXT_KB")
    except UnicodeEncodeError:
        raise TextError("The text holds half of a character (a lone surrogate); type it again.") from None
    if kilobytes > most:  # before it is made into tokens, which takes its time
        raise TextError(
            f"The text has {kilobytes:,.0f} kB; at most {most} kB are accepted (ADDEND_TEXT_KB). Shorten it."
        )
    # Whatever the model takes: every head's scores are this squared.
    positions = longest(model.config) or sys.maxsize
    most = min(tokens or sys.maxsize, settings.number("ADDEND_TOKENS"))
    limit, limit_text = (
        (positions, f"the model {positions} positions") if positions <= most else (most, f"at most {most} are accepted")
    )
    with as_tokenizer_errors():
        encoded = tokenizer(text, text_pair, return_tensors="pt", verbose=False)
    result, cut_from = encoded["input_ids"].shape[1], None
    if result > limit:
        if not truncate:
            raise TextTooLong(f"The text has {result} tokens and {limit_text}. Shorten it, or have it cut to {limit}.")
        cut_from = result
        with as_tokenizer_errors():
            encoded = tokenizer(text, text_pair, return_tensors="pt", truncation=True, max_length=limit)
    ids = encoded["input_ids"]
    vocabulary = word_table(model).num_embeddings
    if int(ids.max()) >= vocabulary:
        raise ModelError(
            f"The tokenizer gives token {int(ids.max())} but the model's vocabulary has {vocabulary} entries; they do "
            "not belong together. Load both from one checkpoint."
        )
    kinds = int(getattr(model.config, "type_vocab_size", 0) or 0)
    types = encoded.get("token_type_ids", torch.zeros_like(ids))[0].tolist() if kinds else [0] * ids.shape[1]
    if kinds and max(types) >= kinds:
        raise ModelError(
            f"The tokenizer marks segment {max(types)} and the model has segments 0 to {kinds - 1}; "
            "give one text, or choose a model that takes pairs."
        )
    token_info = tokens_of(tokenizer, encoded, (text, text_pair), types)
    inputs = {key: value.to(model.device) for key, value in encoded.items() if isinstance(value, Tensor)}
    if not kinds:  # GPT-2, for one, would look them up among its words
        inputs.pop("token_type_ids", None)
    return inputs, token_info, cut_from
