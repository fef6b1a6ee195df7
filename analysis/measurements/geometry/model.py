"""Reads the vectors of a model with its family's seeds: tables, states of a text less their positions, heads."""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from analysis.core.errors import NoResults, TextError
from analysis.core.term_names import SOURCES
from analysis.measurements.geometry.model_vectors import LayerProjections, ModelVectors, States
from analysis.measurements.means.split import Basis
from analysis.measurements.means.states import hidden_states, split_entering
from analysis.measurements.means.stored_bases import stored_basis
from analysis.measurements.means.windows import FramedWindows, windows
from analysis.models.families import Family, family_of
from analysis.models.foreign_errors import as_tokenizer_errors
from analysis.models.load import Loaded
from analysis.models.source_inputs import OutputSource, WeightSource
from analysis.models.trace_sources import trace_sources
from analysis.streams.tensor import stacked

BATCH = 8
MAX_WINDOWS = 64
UNUSED = re.compile(r"\[unused\d+\]|<unused\d+>|madeupword\d+")
"""Rows of a vocabulary that no text ever named."""
ADDED = ("added", "disentangled")
"""Kinds of positions whose table, if there is one, is a summand of the input."""
APART = (("query", "key"), ("q_proj", "k_proj"), ("q_lin", "k_lin"), ("q", "k"))
"""Names of the query and key projections in models where they are separate modules, weights (out, in)."""
TOGETHER = "c_attn"
"""The name of the one weight (in, 3 out) that holds query, key and value in GPT-2."""


def read_vectors(
    loaded: Loaded, texts: Sequence[str], *, positions: int | None = None, each: Callable[[str], None] = lambda _: None
) -> ModelVectors:
    """Everything that measures may need; what is missing is left out, and no error.

    texts: for hidden states and heads, cut into windows as long as the stored position basis of the model.
    positions: the first so many rows of the table alone, where training reached no further. each: told what is read.
    """
    family = family_of(loaded.source.config, loaded.source.name)
    each("tables")
    word, tokens = _words(loaded, family)
    position = _positions(loaded, family)
    position = position if position is None else position[:positions]
    combined = getattr(loaded.model.config, "combine", "add")
    word_position_range = (0, 0)
    states: list[States] = []
    heads: list[LayerProjections] = []
    if position is not None:
        word_position_range = (
            (0, len(position)) if family.reads == "image" else _word_position_range(loaded.tokenizer, len(position))
        )
    if family.reads == "text":
        bases = _bases(loaded, family)
        cut = _cut(loaded, texts, len(bases[0].position) if bases else 128)
        if bases and cut is not None:
            each("hidden states")
            states = _states(loaded, family, cut, bases)
        if cut is not None:
            heads = _heads(loaded, family, cut, bases, each)
    same = word is not None and position is not None and word.shape[1] == position.shape[1]
    return ModelVectors(
        word=word,
        tokens=tokens,
        position=position,
        added=same and combined == "add" and family.position_kind(loaded.model.config) in ADDED,
        word_position_range=word_position_range,
        states=states,
        heads=heads,
    )


def _table(model: PreTrainedModel, family: Family, source: str) -> Float[ndarray, "row dim"] | None:
    """The one table of a source among the family's seeds."""
    for seed in family.source_inputs(model):
        weight = None
        if seed.source == source and isinstance(seed, OutputSource):
            weight = getattr(seed.module, "weight", None)
            # A norm's weight is a vector: what it normalises is no table of the input.
            weight = weight if weight is not None and weight.ndim == 2 else None
        elif seed.source == source and isinstance(seed, WeightSource):
            weight = getattr(seed.module, seed.name)
        if weight is not None and weight.shape[-2:].numel() > weight.shape[-1]:
            return weight.detach().double().cpu().numpy().reshape(-1, weight.shape[-1])
    return None


def _words(loaded: Loaded, family: Family) -> tuple[Float[ndarray, "V D"] | None, tuple[str, ...]]:
    """Rows of words, without special and unused tokens; a scale that the model gives words is theirs."""
    table = _table(loaded.model, family, "word") if family.reads == "text" else None
    if table is None:
        return None, ()
    tokenizer = loaded.tokenizer
    names = tokenizer.convert_ids_to_tokens(list(range(min(len(table), len(tokenizer)))))
    special = set(tokenizer.all_special_tokens)
    kept = [
        i for i, name in enumerate(names) if name is not None and name not in special and not UNUSED.fullmatch(name)
    ]
    if getattr(loaded.model.config, "scale_words", False):
        table = table * loaded.model.config.hidden_size**0.5
    return table[kept], tuple(names[i] for i in kept)


def _positions(loaded: Loaded, family: Family) -> Float[ndarray, "P D"] | None:
    """Rows of positions that a token can hold: tables may begin with spare ones."""
    table = _table(loaded.model, family, "position")
    limit = family.longest(loaded.model.config)
    return table if table is None or family.reads == "image" or limit is None else table[-limit:]


def _word_position_range(tokenizer: PreTrainedTokenizerFast, length: int) -> tuple[int, int]:
    """Positions that a word can hold: not those of the special tokens that frame every text."""
    with as_tokenizer_errors():
        encoded = tokenizer("a", return_special_tokens_mask=True)["special_tokens_mask"]
    inner = [place for place, special in enumerate(encoded) if not special]
    return inner[0], length - (len(encoded) - 1 - inner[-1])


def _bases(loaded: Loaded, family: Family) -> list[Basis]:
    """The stored position basis of every depth; none where the store lacks one."""
    source, count = loaded.source, len(family.layers(loaded.model)) + 1
    try:
        return [stored_basis(source.name, source.revision, layer).basis for layer in range(count)]
    except NoResults:
        return []


def _cut(loaded: Loaded, texts: Sequence[str], length: int) -> FramedWindows | None:
    """Windows of the texts put together; None where they are too few."""
    limit = getattr(loaded.model.config, "max_position_embeddings", None) or length
    whole = " ".join(texts)
    with as_tokenizer_errors():
        room = len(loaded.tokenizer(whole, add_special_tokens=False, verbose=False)["input_ids"]) // length
    if room < 2:
        return None
    try:
        return windows(loaded.tokenizer, [whole], min(length, limit), min(room, MAX_WINDOWS))
    except TextError:
        return None


def _batches(cut: FramedWindows) -> list[Tensor]:
    return [torch.from_numpy(cut.ids[start : start + BATCH]) for start in range(0, len(cut.ids), BATCH)]


def _states(loaded: Loaded, family: Family, cut: FramedWindows, bases: Sequence[Basis]) -> list[States]:
    rest: list[list[ndarray]] = [[] for _ in bases]
    for ids in _batches(cut):
        for layer, hidden in enumerate(hidden_states(loaded.model, family, ids)):
            left = hidden.double().cpu().numpy() - bases[layer].mean - bases[layer].position
            rest[layer].append(left[:, cut.counted].reshape(-1, left.shape[-1]))
    return [
        States(layer=layer, position=basis.position[cut.counted].astype(np.float64), rest=np.concatenate(rest[layer]))
        for layer, basis in enumerate(bases)
    ]


def _heads(
    loaded: Loaded, family: Family, cut: FramedWindows, bases: Sequence[Basis], each: Callable[[str], None]
) -> list[LayerProjections]:
    """The heads of every layer whose projections are known and whose inputs have a position that varies."""
    model: PreTrainedModel = loaded.model
    items: list[LayerProjections] = []
    attentions = family.attentions(model)
    if family.custom_attention:
        return []
    for layer, attention in enumerate(attentions[: len(attentions) if bases else 1]):
        each(f"heads of layer {layer}")
        known = projections(attention, model.config.num_attention_heads)
        if known is None:
            return items
        reads, query, key = known
        inputs = [_inputs(model, family, layer, reads, ids, bases[layer] if layer else None) for ids in _batches(cut)]
        parts = torch.cat(inputs, 1)[:, :, torch.from_numpy(cut.counted)].flatten(1, 2).double().cpu().numpy()
        word, position = parts[0], parts[SOURCES.index("position")]
        if np.ptp(position, axis=0).max() > 0:
            items.append(
                LayerProjections(layer=layer, query=query.numpy(), key=key.numpy(), word=word, position=position)
            )
    return items


def _inputs(
    model: PreTrainedModel, family: Family, layer: int, reads: nn.Module, ids: Tensor, basis: Basis | None
) -> Float[Tensor, "source batch token dim"]:
    """The input of a layer's projections, part by part: sources of `frozen`, or of a basis (rest first)."""
    seen: list[Tensor] = []

    def listen(_module: nn.Module, args: tuple[Tensor, ...]) -> None:
        seen.append(stacked(args[0], len(SOURCES)))

    hook = reads.register_forward_pre_hook(listen)
    inputs: Mapping[str, Tensor] = {"input_ids": ids.to(model.device)}
    try:
        if basis is None:
            trace_sources(model, family, inputs, last=layer)
        else:
            mean, position = (torch.from_numpy(x).to(model.device, model.dtype) for x in (basis.mean, basis.position))

            def split(hidden: Tensor) -> Tensor:
                none = torch.zeros_like(hidden)
                placed = position.expand_as(hidden)
                return torch.stack([hidden - mean - placed, placed, none, mean.expand_as(hidden)])

            with split_entering(model, family, layer, split):
                trace_sources(model, family, inputs, last=layer, sources=False)
    finally:
        hook.remove()
    # Of the layer asked for, which is the last; some project tables of positions by the same weights.
    return [parts for parts in seen if parts.shape[1:3] == ids.shape][-1]


def projections(
    attention: nn.Module, heads: int
) -> tuple[nn.Module, Float[Tensor, "H D K"], Float[Tensor, "H D K"]] | None:
    """The module whose input the projections read, and the query and key projections of each head.

    None where query and key cannot be told apart. Keys that serve several queries' heads are repeated for each.
    """
    for query, key in APART:
        first, second = getattr(attention, query, None), getattr(attention, key, None)
        if isinstance(first, nn.Linear) and isinstance(second, nn.Linear):
            q, k = (_split(module.weight.T, heads) for module in (first, second))
            width = q.shape[-1]
            k = k.transpose(0, 1).flatten(1).unflatten(1, (-1, width)).transpose(0, 1)
            return first, q, k.repeat_interleave(heads // len(k), 0)
    fused = getattr(attention, TOGETHER, None)
    if fused is None:
        return None
    q, k, _ = (_split(part, heads) for part in fused.weight.chunk(3, dim=1))
    return fused, q, k


def _split(weight: Float[Tensor, "D out"], heads: int) -> Float[Tensor, "H D K"]:
    return weight.detach().unflatten(1, (heads, -1)).transpose(0, 1).to(torch.float64).cpu()
