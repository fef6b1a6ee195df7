"""The training of an arm: it learns to give the states that the intact encoder gives.

The loss of a text has two parts. `unexplained` is the share of the variance of the intact encoder's last hidden states
that the arm's miss: 0 where they are equal, 1 where they are no better than the mean state. `pooled` is one less the
cosine of the two mean-pooled vectors. Both count the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from numpy import ndarray
from torch import Tensor
from torch.nn.functional import cosine_similarity
from transformers import PreTrainedModel

from analysis.ablation.optimise import groups, train_step, warm_up_and_decay
from analysis.measurements.refit.texts import Texts, states_of

SORTED_BATCHES = 50
"""Batches among which texts are sorted by length, so that little is padding; then they are shuffled."""


@dataclass(frozen=True, kw_only=True)
class RefitSettings:
    """Settings of a training. tokens: how many are read, padding left out."""

    tokens: int
    learning_rate: float
    batch_size: int = 16
    warmup_share: float = 0.05
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    half: bool = True
    """True if matrix products run in bfloat16; weights and optimiser stay in float32."""


@dataclass(frozen=True)
class Targets:
    """Texts with the intact encoder's last hidden states of every token."""

    texts: Texts
    states: Float[ndarray, "T E"]
    variance: float
    """The mean over dimensions of the variance of those states over tokens."""

    def batch(self, rows: Int64[ndarray, " batch"]) -> tuple[Tensor, Tensor, Tensor]:
        """Ids and where they are real, (batch, token), and the states of the real ones, (real token, hidden)."""
        ids, real = self.texts.rows(rows)
        states = torch.from_numpy(np.asarray(self.states[self.texts.at(rows)], np.float32))
        return torch.from_numpy(ids), torch.from_numpy(real), states


def variance_of(states: Float[ndarray, "T E"], most: int = 100_000) -> float:
    """The variance of `Targets`, over the first tokens."""
    return float(np.asarray(states[:most], np.float64).var(0).mean())


def losses(
    found: Float[Tensor, "batch token E"],
    real: Bool[Tensor, "batch token"],
    target: Float[Tensor, "real E"],
    variance: float,
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """The two parts of each text's loss: unexplained, pooled."""
    expected = torch.zeros_like(found, dtype=torch.float32)
    expected[real] = target
    weight = real[..., None].float()
    count = weight.sum(1)
    missed = ((found.float() - expected) ** 2).mean(-1, keepdim=True)
    unexplained = (missed * weight).sum(1)[:, 0] / count[:, 0] / variance
    means = [(states.float() * weight).sum(1) / count for states in (found, expected)]
    return unexplained, 1 - cosine_similarity(*means, dim=-1)


def batches(texts: Texts, tokens: int, size: int, seed: int) -> list[Int64[ndarray, " batch"]]:
    """The texts of each step, drawn without replacement until they have so many tokens."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(texts))
    order = order[: np.searchsorted(np.cumsum(texts.lengths[order]), tokens) + 1]
    result = []
    for start in range(0, len(order), size * SORTED_BATCHES):
        part = order[start : start + size * SORTED_BATCHES]
        part = part[np.argsort(texts.lengths[part], kind="stable")]
        pieces = [part[at : at + size] for at in range(0, len(part), size)]
        result += [pieces[index] for index in rng.permutation(len(pieces))]
    return result


@torch.no_grad()
def held_out(model: PreTrainedModel, targets: Targets, size: int = 32) -> dict[str, float]:
    """The mean over texts of both parts of the loss, and of their sum, in float32."""
    order = np.argsort(targets.texts.lengths, kind="stable")
    parts = []
    for start in range(0, len(order), size):
        ids, real, states = targets.batch(order[start : start + size])
        parts.append(torch.stack(losses(states_of(model, ids, real), real, states, targets.variance)))
    unexplained, pooled = torch.cat(parts, 1).double().mean(1).tolist()
    return {"loss": unexplained + pooled, "unexplained": unexplained, "pooled": pooled}


class Distillation:
    """The training of one student, step by step: a kept state goes on where it was."""

    def __init__(self, model: PreTrainedModel, targets: Targets, settings: RefitSettings, seed: int) -> None:
        self.model, self.targets, self.settings = model, targets, settings
        self.batches = batches(targets.texts, settings.tokens, settings.batch_size, seed)
        self.optimizer = torch.optim.AdamW(groups(model, settings.weight_decay), lr=settings.learning_rate, fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, warm_up_and_decay(len(self.batches), settings.warmup_share)
        )
        self.step = 0
        self.tokens = 0

    def train(self, until: int) -> None:
        """Steps until so many tokens are read, or no batch is left."""
        while self.step < len(self.batches) and self.tokens < until:
            rows = self.batches[self.step]
            train_step(
                self.model,
                self._losses,
                self.targets.batch(rows),
                self.optimizer,
                self.settings.clip_norm,
                "cpu",
                self.settings.half,
            )
            self.schedule.step()
            self.step += 1
            self.tokens += int(self.targets.texts.lengths[rows].sum())

    def _losses(self, ids: Tensor, real: Tensor, states: Tensor) -> Tensor:
        unexplained, pooled = losses(states_of(self.model, ids, real), real, states, self.targets.variance)
        return unexplained + pooled

    def state(self) -> dict[str, object]:
        """Everything that a later process needs to go on."""
        parts = {"model": self.model, "optimizer": self.optimizer, "schedule": self.schedule}
        kept = {name: part.state_dict() for name, part in parts.items()}
        return {**kept, "step": self.step, "tokens": self.tokens}

    def load(self, state: Mapping[str, object]) -> None:
        """Goes on from a kept state."""
        for name in ("model", "optimizer", "schedule"):
            getattr(self, name).load_state_dict(state[name])
        self.step, self.tokens = int(state["step"]), int(state["tokens"])  # pyright: ignore[reportArgumentType]
