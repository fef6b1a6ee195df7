"""A masked language model's own task under every operation: its loss on masked words, with no training.

Shapes: P windows, M masked tokens of each, T tokens of a window.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

import numpy as np
import torch
from jaxtyping import Float, Int64
from numpy import ndarray

from analysis.core.errors import ModelError
from analysis.measurements.interventions.forward import forward
from analysis.measurements.interventions.kinds import parse
from analysis.measurements.interventions.kinds.intervention import Intervention
from analysis.measurements.interventions.run import family_for, kind_of_head
from analysis.measurements.means.windows import FramedWindows, windows_of
from analysis.measurements.surgery.operations import Operation
from analysis.measurements.surgery.tables import change_tables, first_row
from analysis.models.load import Loaded
from analysis.models.submodules import run_model

SHARE = 0.15
"""The share of a window's tokens that is masked (Devlin et al. 2019), whatever share the model was trained with."""
BATCH = 64
SEED = 0


@dataclass(frozen=True)
class MaskedWords:
    """Windows of text, the same tokens of each masked under every operation; a task of `measure_surgery`."""

    windows: FramedWindows
    places: Int64[ndarray, "P M"]
    option: str
    name: str = field(default="masked_words", init=False)
    measure: str = field(default="nats a masked token", init=False)
    unit: str = field(default="windows of text", init=False)

    @property
    def count(self) -> int:
        """The number of windows."""
        return len(self.places)

    def positions_read(self, loaded: Loaded) -> int:
        """The length of the windows, and the rows before a text's first position that some tables begin with."""
        return first_row(loaded.model) + self.windows.ids.shape[1]

    def values(self, loaded: Loaded, operation: Operation) -> Float[ndarray, " P"]:
        """Each window's mean cross-entropy over its masked tokens, in nats."""
        specs = [parse(f"drop_terms:{operation.terms}")] if operation.terms else []
        with change_tables(loaded.model, operation.change):
            return token_losses(loaded, self.windows.ids, self.places, specs).mean(1)

    def summary(self, values: ndarray) -> float:
        """The mean over windows, which all have as many masked tokens."""
        return float(values.mean())

    def resampled(self, values: ndarray, draws: Int64[ndarray, "R P"]) -> Float[ndarray, " R"]:
        """The mean on each resample of the windows."""
        return values[draws].mean(1)


def masked_words(loaded: Loaded, texts: Path, *, length: int, count: int, corpus: str | None = None) -> MaskedWords:
    """Windows of a text with a fixed choice of masked tokens, special tokens left alone. corpus: what to call the text.

    Raises ModelError where the model is no masked language model, TextError where the text holds too few windows.
    """
    if kind_of_head(loaded.model, loaded.tokenizer) != "masked":
        raise ModelError(
            f"{loaded.source.name} has no head that predicts masked words, so it has no loss on them. Choose a masked "
            "language model, such as an encoder that ablate trained, or measure sentence similarity with --stsb."
        )
    windows = windows_of(loaded, texts, length, count)
    option = f"--texts {quote(corpus or texts.stem)} --length {length} --windows {count}"
    return MaskedWords(windows, masked_places(windows), option)


def masked_places(windows: FramedWindows) -> Int64[ndarray, "P M"]:
    """A fixed choice of the tokens of each window that are masked, special tokens left alone."""
    free = np.flatnonzero(windows.counted)
    rng = np.random.default_rng(SEED)
    many = max(1, round(SHARE * len(free)))
    return np.stack([np.sort(rng.choice(free, many, replace=False)) for _ in windows.ids])


@torch.inference_mode()
def token_losses(
    loaded: Loaded, token_ids: Int64[ndarray, "P T"], at: Int64[ndarray, "P M"], specs: Sequence[Intervention] = ()
) -> Float[ndarray, "P M"]:
    """The cross-entropy of each masked token, in nats. specs: interventions on the terms of the scores."""
    ids, places = (torch.from_numpy(array).to(loaded.device) for array in (token_ids, at))
    masked = ids.scatter(1, places, loaded.tokenizer.mask_token_id)
    family = family_for(loaded, {"input_ids": masked[:1]}) if specs else None
    losses = []
    for start in range(0, len(ids), BATCH):
        batch = slice(start, start + BATCH)
        inputs = {"input_ids": masked[batch], "attention_mask": torch.ones_like(masked[batch])}
        logits = (
            run_model(loaded.model, inputs).logits
            if family is None
            else forward(loaded.model, family, inputs, specs).logits
        )
        assert logits is not None  # whoever calls saw the head
        chosen = logits.float().gather(1, places[batch][..., None].expand(-1, -1, logits.shape[-1]))
        true = ids[batch].gather(1, places[batch])
        losses.append(torch.nn.functional.cross_entropy(chosen.mT, true, reduction="none").cpu())
    return torch.cat(losses).double().numpy()
