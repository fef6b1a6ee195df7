"""Hidden states as a sum of four: what all share, what the slot gives, what the window gives, and the rest.

`h_{c,t} = mu + pos_t + ctx_c + resid_{c,t}`, the two-way analysis of variance of a balanced table of windows c by
slots t: Song & Zhong 2023, "Uncovering hidden geometry in Transformers", equation 1. It sums exactly, its residual
being a part. pos_t is a mean over windows: it also carries the average word at that slot.

Slots that hold the same token in every window (the first one, separators) are left out of mu and ctx; they still have
a pos_t of their own, which none of the measures counts.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray


@dataclass(frozen=True)
class Basis:
    """The mean of one layer's hidden states and the mean of each slot around it, in the units of the hidden states."""

    mean: Float[ndarray, " dim"]
    position: Float[ndarray, "slot dim"]
    """Sums to 0 over the slots that count."""


def split(
    hidden: Float[ndarray, "token dim"], basis: Basis, counted: Bool[ndarray, " token"]
) -> Float[ndarray, "source token dim"]:
    """One text's hidden states, split by a basis of at least as many slots.

    Sources in the order of `analysis.core.term_names.MEAN_SOURCES`. counted: the tokens over which the text's context
    is averaged, all but the first and separators; at least one.
    """
    position = basis.position[: len(hidden)]
    rest = hidden - basis.mean - position
    context = rest[counted].mean(0)
    return np.stack(
        [np.broadcast_to(context, hidden.shape), position, rest - context, np.broadcast_to(basis.mean, hidden.shape)]
    )


class Sums:
    """Sums over one layer's hidden states from which a basis and its shares follow, batch by batch in float64."""

    def __init__(self, counted: Bool[ndarray, " slot"], dim: int) -> None:
        self.counted = counted
        self.windows = 0
        self._slots = np.zeros((len(counted), dim))
        self._context_energy = 0.0  # of the windows' means, about the origin
        self._gram = np.zeros((dim, dim))

    def add(self, hidden: Float[ndarray, "window slot dim"]) -> None:
        """Takes in some windows."""
        hidden = hidden.astype(np.float64)
        states = hidden[:, self.counted]
        self.windows += len(hidden)
        self._slots += hidden.sum(0)
        self._context_energy += float((states.mean(1) ** 2).sum())
        flat = states.reshape(-1, states.shape[-1])
        self._gram += flat.T @ flat

    def basis(self) -> Basis:
        """mu and pos_t."""
        means = self._slots / self.windows
        mean = means[self.counted].mean(0)
        return Basis(mean, means - mean)

    def shares(self) -> dict[str, float]:
        """Each part's share of the sum of squares of the hidden states that count; the four sum to 1.

        `noise` is what of position's share is to be expected from the residual alone, over so many windows:
        residual / (windows - 1).
        """
        basis, slots = self.basis(), int(self.counted.sum())
        total = float(np.trace(self._gram))
        mean = self.windows * slots * float(basis.mean @ basis.mean)
        position = self.windows * float((basis.position[self.counted] ** 2).sum())
        context = slots * self._context_energy - mean
        parts = {"mean": mean, "position": position, "context": context}
        parts["residual"] = total - sum(parts.values())
        parts["noise"] = parts["residual"] / (self.windows - 1)
        return {name: part / total for name, part in parts.items()}

    def relative_norm(self) -> float:
        """Operator norm of the positions, repeated for every window, over that of the centred hidden states.

        As Song & Zhong measure it: both matrices have one row per window and slot.
        """
        basis, rows = self.basis(), self.windows * int(self.counted.sum())
        centred = self._gram - rows * np.outer(basis.mean, basis.mean)
        return float(
            np.sqrt(self.windows / np.linalg.eigvalsh(centred)[-1]) * np.linalg.norm(basis.position[self.counted], 2)
        )
