"""A separated sum run as the concatenation that it is: a first layer that takes [word part ; position part].

Let B = [B_word, B_position] be orthonormal, B_position the K directions that positions vary in. A separated sum is
u = w + p, where w varies outside B_position alone and p inside it alone. In the coordinates x = u B the words' part and
the positions' part stand side by side, each with a constant: x = [w B_word + c_word ; p B_position + c_position].

The first LayerNorm is not rotation invariant, but it is a function of x all the same: with c = 1 B (the vector of ones
in the new coordinates), mean(u) = x . c / E and var(u) = |x|^2 / E - mean(u)^2, since a rotation keeps lengths. So
LayerNorm(u) = ((x - mean(u) c) / sd(u)) B^T diag(gamma) + beta, and the first layer's projections take x through
B^T diag(gamma) W in place of diag(gamma) W. Nothing is approximated.

Shapes: B batch, T token, V vocabulary, L positions, E hidden size, K directions.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from transformers import PreTrainedModel

from analysis.measurements.surgery.tables import directions, separated, tables
from analysis.models.submodules import attribute_number, submodule_list


class ConcatenatedInput(nn.Module):
    """The input of a BERT-like model and its first layer's projections, over a concatenation. In float64."""

    words: Tensor
    positions: Tensor

    def __init__(self, model: PreTrainedModel, rank: int) -> None:
        super().__init__()
        of = tables(model)
        base = model.base_model
        first = submodule_list(base, "encoder.layer")[0].get_submodule("attention.self")
        width = of.words.shape[1]
        basis_position = directions(of.positions, rank)
        # The rest of an orthonormal basis: the left singular vectors that the first ones leave over.
        basis_word = torch.linalg.svd(basis_position, full_matrices=True)[0][:, rank:]
        apart = separated(of, basis_position)
        segment = base.get_parameter("embeddings.token_type_embeddings.weight")[0].detach().double()
        inside, outside = apart.positions.mean(0) + segment, apart.words.mean(0)
        # Constants go where they belong: what positions share outside their directions to the words, and the reverse.
        self.register_buffer("words", apart.words @ basis_word + inside @ basis_word)
        self.register_buffer("positions", (apart.positions + segment) @ basis_position + outside @ basis_position)
        self.rotation = torch.cat([basis_word, basis_position], 1)
        self.ones = torch.ones(width, dtype=torch.float64) @ self.rotation
        norm = base.get_submodule("embeddings.LayerNorm")
        self.eps, self.beta = attribute_number(norm, "eps"), norm.get_parameter("bias").detach().double()
        self.back = self.rotation.T * norm.get_parameter("weight").detach().double()
        """B^T diag(gamma), (E, E): what every linear map after the first LayerNorm is multiplied with."""
        self.projections = {
            name: (
                self.back @ first.get_parameter(f"{name}.weight").detach().double().T,
                self.beta @ first.get_parameter(f"{name}.weight").detach().double().T
                + first.get_parameter(f"{name}.bias").detach().double(),
            )
            for name in ("query", "key", "value")
        }

    def concatenate(self, ids: Int64[Tensor, "B T"]) -> Float[Tensor, "B T E"]:
        """[word part ; position part], of E - K and K dimensions."""
        words = self.words[ids]
        positions = self.positions[: ids.shape[1]].expand(len(ids), -1, -1)
        return torch.cat([words, positions], -1)

    def normalised(self, x: Float[Tensor, "B T E"]) -> Float[Tensor, "B T E"]:
        """The first LayerNorm before its gain and bias, in the coordinates of the concatenation."""
        width = x.shape[-1]
        mean = x @ self.ones / width
        variance = (x**2).sum(-1) / width - mean**2
        return (x - mean[..., None] * self.ones) / (variance + self.eps).sqrt()[..., None]

    def forward(self, ids: Int64[Tensor, "B T"]) -> dict[str, Float[Tensor, "B T E"]]:
        """Queries, keys and values of the first layer, and the residual that goes around its attention."""
        x = self.normalised(self.concatenate(ids))
        entries = {name: x @ weight + bias for name, (weight, bias) in self.projections.items()}
        return entries | {"residual": x @ self.back + self.beta}


@torch.inference_mode()
def concatenated_states(
    model: PreTrainedModel, rank: int, ids: Int64[Tensor, "B T"], mask: Int64[Tensor, "B T"]
) -> Float[Tensor, "B T E"]:
    """The last hidden states of a BERT-like model in float64 whose first layer takes the concatenation."""
    first, *rest = submodule_list(model.base_model, "encoder.layer")
    parts = ConcatenatedInput(model, rank)(ids)
    heads = model.config.num_attention_heads
    query, key, value = (parts[name].unflatten(-1, (heads, -1)).transpose(1, 2) for name in ("query", "key", "value"))
    scores = query @ key.mT / query.shape[-1] ** 0.5
    scores = scores.masked_fill(~mask[:, None, None].bool(), float("-inf"))
    attended = (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)
    hidden = first.get_submodule("attention.output")(attended, parts["residual"])
    hidden = first.get_submodule("output")(first.get_submodule("intermediate")(hidden), hidden)
    hidden_keys = torch.zeros_like(mask, dtype=hidden.dtype).masked_fill(~mask.bool(), float("-inf"))[:, None, None]
    for layer in rest:
        output = layer(hidden, hidden_keys)
        hidden = output[0] if isinstance(output, tuple) else output
    return hidden
