"""The texts of refitting, and the states that the intact encoder gives them, which every arm learns to give.

Shapes: N texts, T tokens of all texts together, E hidden size.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from numpy import ndarray
from torch import Tensor
from transformers import PreTrainedModel

from analysis.core.atomic_write import atomic_write
from analysis.core.errors import TextError
from analysis.measurements.means.windows import articles
from analysis.models.foreign_errors import as_tokenizer_errors
from analysis.models.load import Loaded
from analysis.models.submodules import last_states, run_model

SHORTEST, LONGEST = 16, 128
"""Tokens of a text, special ones included: each paragraph is cut to a length that is drawn evenly between these."""
FEWEST_WORDS = 8
"""Shorter paragraphs are headings."""
SEED = 0
BATCH = 32


@dataclass(frozen=True)
class Texts:
    """Texts of several lengths. ids: of all of them in a row. starts: where each begins, and the end of the last."""

    ids: Int64[ndarray, " T"]
    starts: Int64[ndarray, " N_and_1"]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Int64[ndarray, " N"]:
        """The tokens of each text."""
        return np.diff(self.starts)

    @property
    def digest(self) -> str:
        """The SHA-256 of its tokens and lengths, 16 digits of it."""
        return hashlib.sha256(self.ids.tobytes() + self.starts.tobytes()).hexdigest()[:16]

    def rows(self, texts: Int64[ndarray, " batch"]) -> tuple[Int64[ndarray, "batch token"], ndarray]:
        """The ids of some texts, filled up with zeros, and where they are real."""
        lengths = self.lengths[texts]
        real = np.arange(lengths.max()) < lengths[:, None]
        ids = np.zeros(real.shape, np.int64)
        ids[real] = np.concatenate([self.ids[self.starts[text] : self.starts[text + 1]] for text in texts])
        return ids, real

    def at(self, texts: Int64[ndarray, " batch"]) -> Int64[ndarray, " token"]:
        """The places of the tokens of some texts among those of all."""
        return np.concatenate([np.arange(int(self.starts[text]), int(self.starts[text + 1])) for text in texts])


def read_texts(path: Path, loaded: Loaded, tokens: int) -> Texts:
    """The first paragraphs of a text's articles, each cut to a drawn length, until they have so many tokens.

    path: UTF-8 text with an empty line between articles. Raises TextError where it holds fewer tokens.
    """
    rng = np.random.default_rng(SEED)
    kept: list[list[int]] = []
    total = 0
    paragraphs = _paragraphs(path)
    while total < tokens:
        chunk = [paragraph for paragraph, _ in zip(paragraphs, range(1_000), strict=False)]
        if not chunk:
            raise TextError(
                f"{path} holds {total:,} tokens in paragraphs of {FEWEST_WORDS} words and more; expected at least "
                f"{tokens:,}. Give a longer text."
            )
        with as_tokenizer_errors():
            encoded = loaded.tokenizer(chunk, truncation=True, max_length=LONGEST)["input_ids"]
        for ids, length in zip(encoded, rng.integers(SHORTEST, LONGEST + 1, len(encoded)), strict=True):
            if total < tokens:
                kept.append(ids if len(ids) <= length else [*ids[: length - 1], ids[-1]])
                total += len(kept[-1])
    lengths = [len(ids) for ids in kept]
    return Texts(np.concatenate(kept).astype(np.int64), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def _paragraphs(path: Path) -> Iterator[str]:
    for article in articles(path):
        for line in article.splitlines():
            if len(line.split()) >= FEWEST_WORDS:
                yield line


@torch.inference_mode()
def write_states(texts: Texts, loaded: Loaded, path: Path) -> None:
    """Writes the last hidden states of every token of the texts, float16, as an array that can be mapped."""
    if path.is_file():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    order = np.argsort(texts.lengths, kind="stable")
    with atomic_write(path) as partial:
        shape = (len(texts.ids), int(loaded.model.config.hidden_size))
        states = np.lib.format.open_memmap(partial, "w+", np.float16, shape)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            ids, real = texts.rows(batch)
            hidden = states_of(loaded.model, torch.from_numpy(ids), torch.from_numpy(real))
            states[texts.at(batch)] = hidden[torch.from_numpy(real)].half().numpy()
        states.flush()
        del states


def states_of(
    model: PreTrainedModel, ids: Int64[Tensor, "batch token"], real: Bool[Tensor, "batch token"]
) -> Float[Tensor, "batch token E"]:
    """The last hidden states of a batch."""
    return last_states(model, run_model(model, {"input_ids": ids, "attention_mask": real.long()}))
