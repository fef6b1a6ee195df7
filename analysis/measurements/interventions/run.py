"""A text through a model as it is and under interventions: what the outcome was and what it became."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from analysis.core.errors import NoFamily, TextError
from analysis.measurements.interventions.forward import Chosen, check, forward
from analysis.measurements.interventions.kinds import parse
from analysis.measurements.interventions.measures import cosines, pattern_kl
from analysis.measurements.interventions.result import InterventionResult, PermutationTest, Predictions
from analysis.measurements.terms.run import check_layer, checked_family, encode, provenance
from analysis.models.families import Family
from analysis.models.inferred_family import infer_family
from analysis.models.load import Loaded
from analysis.models.trace_sources import Layer

BATCH_TOKENS = 8_192
"""The number of tokens of masked copies that are run at once."""


@dataclass(frozen=True)
class PassAttention:
    """The attention of one pass over one text."""

    patterns: list[Tensor]
    """One a layer, (head, query, key)."""
    masks: list[Tensor | None]
    hidden: Tensor
    logits: Tensor | None
    biased: bool
    """True if any layer adds a bias to its scores."""


def forward_text(
    model: PreTrainedModel, family: Family, inputs: Mapping[str, object], chosen: Chosen = ()
) -> PassAttention:
    """One text's patterns, hidden states (token, width) and logits under interventions."""
    layers: list[Layer] = []
    passed = forward(model, family, inputs, chosen, layers.append)
    return PassAttention(
        patterns=[layer.pattern[0] for layer in layers],
        masks=[layer.attended() for layer in layers],
        hidden=passed.hidden[0],
        logits=None if passed.logits is None else passed.logits[0],
        biased=any(layer.call.bias is not None for layer in layers),
    )


def kind_of_head(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> str:
    """The kind of prediction of the model's head: "next", "masked", or "" without a head or without a mask token."""
    if model.get_output_embeddings() is None:
        return ""
    if getattr(model.config, "causal", False) or type(model).__name__.endswith(("ForCausalLM", "LMHeadModel")):
        return "next"
    return "" if tokenizer.mask_token_id is None else "masked"


def intervene(
    loaded: Loaded,
    text: str,
    pair: str | None = None,
    specs: Sequence[str] = (),
    layer: int = 0,
    *,
    truncate: bool = False,
) -> InterventionResult:
    """A text (or pair) through a model, as it is and under interventions that apply together, in order.

    specs: as `analysis.measurements.interventions.kinds.parse` takes them. layer: whose patterns are kept, before and
    after. loaded: with its head where outcomes are to be predictions (`load(..., head=True)`).
    Raises InterventionError for what does not apply to the model, TextError and ModelError as `decompose` does.
    """
    model, tokenizer = loaded.model, loaded.tokenizer
    chosen = [parse(spec) for spec in specs]
    inputs, tokens, cut_from = encode(tokenizer, text, pair, model, truncate)
    family = family_for(loaded, inputs)
    check_layer(model, family, layer)
    started = time.perf_counter()
    with torch.inference_mode():
        before, after, kl = compare(loaded, family, inputs, chosen)
        special = [token.special for token in tokens]
        predictions = None
        match kind_of_head(model, tokenizer):
            case "masked":
                places = [index for index, is_special in enumerate(special) if not is_special]
                first = masked_losses(model, family, tokenizer, inputs, places, ())
                second = masked_losses(model, family, tokenizer, inputs, places, chosen)
                predictions = _predictions("masked", tokenizer, places, first, second)
            case "next":
                assert before.logits is not None
                assert after.logits is not None
                places = list(range(1, len(tokens)))
                first, second = (next_losses(x, inputs["input_ids"][0]) for x in (before.logits, after.logits))
                predictions = _predictions("next", tokenizer, places, first, second)
    return InterventionResult(
        interventions=tuple(intervention.spec for intervention in chosen),
        descriptions=tuple(intervention.description for intervention in chosen),
        token_info=tokens,
        cosine=cosines(before.hidden, after.hidden).float().cpu().numpy(),
        kl=kl,
        layer=layer,
        before=before.patterns[layer].float().cpu().numpy(),
        after=after.patterns[layer].float().cpu().numpy(),
        predictions=predictions,
        provenance=provenance(loaded, text, started, pair, cut_from),
    )


def family_for(loaded: Loaded, inputs: Mapping[str, Tensor]) -> Family:
    """The model's family or, where no file describes its architecture, what is seen of it on this text.

    Raises ModelError where its attention cannot be seen either, or it reads no text.
    """
    try:
        return checked_family(loaded.model, loaded.source.name)
    except NoFamily:
        return infer_family(loaded.model, inputs)


def compare(
    loaded: Loaded, family: Family, inputs: Mapping[str, object], chosen: Chosen
) -> tuple[PassAttention, PassAttention, Float[ndarray, "layer head"]]:
    """The model as it is, under interventions, and KL(pattern before || after) of every head, in nats."""
    model = loaded.model
    before = forward_text(model, family, inputs)
    check(model, family, chosen, biased=before.biased, name=loaded.source.name)
    after = forward_text(model, family, inputs, chosen)
    kl = [pattern_kl(a, b, mask) for a, b, mask in zip(before.patterns, after.patterns, before.masks, strict=True)]
    return before, after, torch.stack(kl).float().cpu().numpy()


def masked_losses(
    model: PreTrainedModel,
    family: Family,
    tokenizer: PreTrainedTokenizerFast,
    inputs: Mapping[str, Tensor],
    places: Sequence[int],
    chosen: Chosen,
) -> tuple[Tensor, Tensor]:
    """Each of these tokens masked alone: the true token's cross-entropy, and the likeliest token. (M,) each.

    Salazar et al. 2020, Masked Language Model Scoring; the mean is the logarithm of the pseudo-perplexity.
    """
    ids, mask = inputs["input_ids"], tokenizer.mask_token_id
    assert isinstance(mask, int)
    batch_limit = max(1, BATCH_TOKENS // ids.shape[1])
    losses, likeliest = [ids.new_zeros(0, dtype=torch.float32)], [ids.new_zeros(0)]
    for start in range(0, len(places), batch_limit):
        at = torch.tensor(places[start : start + batch_limit], device=ids.device)
        rows = torch.arange(len(at), device=ids.device)
        copies = {key: x.repeat(len(at), 1) for key, x in inputs.items()}
        copies["input_ids"][rows, at] = mask
        # The head sees the masked tokens alone: over a whole text its logits would be gigabytes.
        passed = forward(model, family, copies, chosen, keep=lambda hidden, r=rows, a=at: hidden[r, a][:, None])
        assert passed.logits is not None
        losses.append(_losses(passed.logits[:, 0], ids[0, at]))
        likeliest.append(passed.logits[:, 0].argmax(-1))
    return torch.cat(losses), torch.cat(likeliest)


def next_losses(logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Each token after the first, from those before it: its cross-entropy, and the likeliest token. (T - 1,) each.

    logits: (T, vocabulary); ids: (T,).
    """
    return _losses(logits[:-1], ids[1:]), logits[:-1].argmax(-1)


def _losses(logits: Tensor, true: Tensor) -> Tensor:
    return functional.cross_entropy(logits.float(), true, reduction="none")


def _predictions(
    kind: str,
    tokenizer: PreTrainedTokenizerFast,
    places: Sequence[int],
    first: tuple[Tensor, Tensor],
    second: tuple[Tensor, Tensor],
) -> Predictions | None:
    if not places:
        return None
    (before, likeliest_before), (after, likeliest_after) = first, second
    return Predictions(
        kind=kind,
        places=np.asarray(places),
        before=before.cpu().numpy(),
        after=after.cpu().numpy(),
        likeliest_before=tuple(tokenizer.convert_ids_to_tokens(likeliest_before.tolist())),
        likeliest_after=tuple(tokenizer.convert_ids_to_tokens(likeliest_after.tolist())),
    )


def permutation_test(
    loaded: Loaded, text: str, pair: str | None = None, seed: int = 0, *, truncate: bool = False
) -> PermutationTest:
    """Permutes the tokens of a text, segments and mask along, and compares outputs, positions off and on.

    Without positions an encoder is equivariant to permutation, whatever its depth; a causal mask breaks it.
    Raises TextError for a text with too few tokens to permute, and as `intervene` does.
    """
    model = loaded.model
    inputs, tokens, cut_from = encode(loaded.tokenizer, text, pair, model, truncate)
    family = family_for(loaded, inputs)
    if len(tokens) < 2:
        raise TextError("One token alone cannot be permuted; type at least two words.")
    started = time.perf_counter()
    order = np.random.default_rng(seed).permutation(len(tokens))
    at = torch.from_numpy(order).to(model.device)
    permuted = {key: x[:, at] for key, x in inputs.items()}
    zero = [parse("zero_positions")]
    with torch.inference_mode():
        observed = forward_text(model, family, inputs)
        check(model, family, zero, biased=observed.biased, name=loaded.source.name)
        off = forward(model, family, inputs, zero).hidden[0]
        errors = [
            (forward(model, family, permuted, chosen).hidden[0] - hidden[at]).abs().amax(-1)
            for chosen, hidden in ((zero, off), ((), observed.hidden))
        ]
    mask = observed.masks[0]
    return PermutationTest(
        order=order,
        token_info=tokens,
        off=errors[0].double().cpu().numpy(),
        on=errors[1].double().cpu().numpy(),
        reach=float(off.abs().max()),
        causal=mask is not None and not bool(mask.triu(1).any()),
        provenance=provenance(loaded, text, started, pair, cut_from),
    )
