"""Changes of a model's embedding tables, undone afterwards: for models that add word and position vectors.

Shapes: V vocabulary, L positions, E hidden size, K directions.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from analysis.core.errors import InterventionError
from analysis.encodings import encode


@dataclass(frozen=True)
class Tables:
    """The word and position tables of a model, in float64."""

    words: Float[Tensor, "V E"]
    positions: Float[Tensor, "L E"]


def weights(model: PreTrainedModel) -> tuple[Tensor, Tensor]:
    """The model's own word and position tables.

    Raises InterventionError where the model does not add such tables: they are of different widths or none, or our own
    encoder puts them beside each other or multiplies them.
    """
    embeddings = getattr(model.base_model, "embeddings", None)
    words, positions = (
        getattr(getattr(embeddings, name, None), "weight", None) for name in ("word_embeddings", "position_embeddings")
    )
    if (
        not isinstance(words, Tensor)
        or not isinstance(positions, Tensor)
        or words.shape[1:] != positions.shape[1:]
        or getattr(model.config, "combine", "add") != "add"
    ):
        raise InterventionError(
            f"{type(model).__name__} does not add a table of positions to a table of words of the same width, so there "
            "is nothing to operate on. Choose a model such as BERT, RoBERTa or MiniLM."
        )
    return words, positions


def first_row(model: PreTrainedModel) -> int:
    """The row of the position table that the first token reads: 0, or the one after the padding's as in RoBERTa."""
    table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return 0 if padding is None else int(padding) + 1


def tables(model: PreTrainedModel) -> Tables:
    """Copies of both tables."""
    return Tables(*(weight.detach().double() for weight in weights(model)))


@contextmanager
def with_tables(model: PreTrainedModel, new: Tables) -> Iterator[None]:
    """A context in which the model has these tables."""
    pairs = list(zip(weights(model), (new.words, new.positions), strict=True))
    kept = [weight.data for weight, _ in pairs]
    try:
        for weight, table in pairs:
            weight.data = table.to(weight.dtype)
        yield
    finally:
        for (weight, _), data in zip(pairs, kept, strict=True):
            weight.data = data


def change_tables(model: PreTrainedModel, change: Callable[[Tables], Tables] | None) -> AbstractContextManager[None]:
    """A context in which the model's tables are changed; without a change they stay as they are."""
    return with_tables(model, change(tables(model))) if change else nullcontext()


def directions(table: Float[Tensor, "rows E"], count: int) -> Float[Tensor, "E K"]:
    """The orthonormal directions in which a table varies most: right singular vectors of the centred table.

    Raises InterventionError for a count below 1 or above the width.
    """
    if not 1 <= count <= table.shape[1]:
        raise InterventionError(
            f"{count} directions were asked for; expected 1 to {table.shape[1]}, the model's width."
        )
    _, _, right = torch.linalg.svd(table - table.mean(0), full_matrices=False)
    return right[:count].T


def random_directions(width: int, count: int, seed: int) -> Float[Tensor, "E K"]:
    """Orthonormal directions drawn at random: the Q of a matrix of normal numbers."""
    random_vectors = np.random.default_rng([seed, count]).normal(size=(width, count))
    return torch.from_numpy(np.linalg.qr(random_vectors)[0])


def remove_subspace(table: Float[Tensor, "rows E"], basis: Float[Tensor, "E K"]) -> Float[Tensor, "rows E"]:
    """The table with no variation inside a subspace: there, every row has the mean row's part."""
    return table - (table - table.mean(0)) @ basis @ basis.T


def project_onto_subspace(table: Float[Tensor, "rows E"], basis: Float[Tensor, "E K"]) -> Float[Tensor, "rows E"]:
    """The table with variation inside a subspace alone: outside, every row has the mean row's part."""
    mean = table.mean(0)
    return mean + (table - mean) @ basis @ basis.T


def separated(of: Tables, basis: Float[Tensor, "E K"]) -> Tables:
    """Words kept out of a subspace, and positions kept inside it.

    Up to a rotation this sum is a concatenation: E - K dimensions of words beside K of positions, each with a constant.
    """
    return Tables(remove_subspace(of.words, basis), project_onto_subspace(of.positions, basis))


def words_kept_out(of: Tables, basis: Float[Tensor, "E K"]) -> Tables:
    """Words kept out of a subspace, positions as they are."""
    return Tables(remove_subspace(of.words, basis), of.positions)


def mean_position(of: Tables) -> Tables:
    """Every position the mean of the table."""
    return Tables(of.words, of.positions.mean(0).expand_as(of.positions).clone())


def no_position(of: Tables) -> Tables:
    """Every position zero."""
    return Tables(of.words, torch.zeros_like(of.positions))


def permuted(of: Tables, seed: int) -> Tables:
    """The rows of the position table in another order."""
    order = np.random.default_rng(seed).permutation(len(of.positions))
    return Tables(of.words, of.positions[torch.from_numpy(order)])


def sinusoidal(of: Tables) -> Tables:
    """Sinusoids in place of the learned table: centred, scaled to its variation, around its mean."""
    length, width = of.positions.shape
    waves = torch.from_numpy(encode("sinusoidal", length=length, dim=width))
    mean = of.positions.mean(0)
    waves = waves - waves.mean(0)
    scale = (of.positions - mean).norm() / waves.norm()
    return Tables(of.words, mean + waves * scale)
