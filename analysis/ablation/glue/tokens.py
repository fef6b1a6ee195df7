"""Texts as token ids, tokenised once, and batches of about equal length, padded to their own longest."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Tokenizer

from analysis.ablation.glue.examples import Split
from analysis.core.errors import AddendError

POOL = 50
"""The number of batches sorted by length together: enough to save padding, few enough to keep the order random."""
PADDINGS = ("[PAD]", "<pad>", "<|pad|>")
CHUNK = 4096
"""Texts tokenised at a time."""


@dataclass(frozen=True, kw_only=True)
class ExampleBatch:
    """Some examples: int64 (example, token) each, and their rows in the split they come from."""

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    token_type_ids: torch.Tensor
    rows: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """A tokenised split. The examples lie end to end: example i is at starts[i] .. starts[i + 1]."""

    ids: np.ndarray
    segments: np.ndarray
    """0 for the first text, 1 for the second."""
    starts: np.ndarray
    padding: int
    truncated: int
    """Examples that lost tokens to `max_length`."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each example."""
        return np.diff(self.starts)

    def batch(self, rows: np.ndarray, device: torch.device) -> ExampleBatch:
        """The examples of some rows, padded to the longest among them."""
        lengths = self.lengths[rows]
        mask = np.arange(int(lengths.max())) < lengths[:, None]  # (example, token)
        token_indices = np.concatenate([np.arange(int(self.starts[row]), int(self.starts[row + 1])) for row in rows])
        ids, segments = np.full(mask.shape, self.padding, np.int64), np.zeros(mask.shape, np.int64)
        ids[mask], segments[mask] = self.ids[token_indices], self.segments[token_indices]
        arrays = {"input_ids": ids, "attention_mask": mask.astype(np.int64), "token_type_ids": segments}
        tensors = {name: torch.from_numpy(array).to(device, non_blocking=True) for name, array in arrays.items()}
        return ExampleBatch(**tensors, rows=rows)

    def shuffled(self, size: int, random: np.random.RandomState) -> list[np.ndarray]:
        """Rows of every batch of one epoch: random examples of about equal length, in random order."""
        order = random.permutation(len(self))
        batches = []
        for start in range(0, len(order), POOL * size):
            pool = order[start : start + POOL * size]
            pool = pool[np.argsort(self.lengths[pool], kind="stable")]
            batches += [pool[offset : offset + size] for offset in range(0, len(pool), size)]
        return [batches[index] for index in random.permutation(len(batches))]

    def sorted(self, size: int) -> Iterator[np.ndarray]:
        """Rows of batches for evaluation, the longest first."""
        order = np.argsort(-self.lengths, kind="stable")
        for start in range(0, len(order), size):
            yield order[start : start + size]


def tokenise(tokenizer: object, split: Split, max_length: int) -> Tokens:
    """The split's token ids, with the special tokens of the tokenizer's own template.

    tokenizer: a `tokenizers.Tokenizer`, or one of transformers that has one inside. It is copied, not changed.
    Of a pair that is too long, the longer text loses tokens first. AddendError for a tokenizer without either.
    """
    backend = backend_copy(tokenizer)
    backend.no_padding()
    backend.enable_truncation(max_length, strategy="longest_first")
    ids: list[np.ndarray] = []
    segments: list[np.ndarray] = []
    truncated = 0
    items = split.texts if split.pairs is None else split.items()
    for start in range(0, len(items), CHUNK):
        for encoding in backend.encode_batch(items[start : start + CHUNK]):
            ids.append(np.array(encoding.ids, np.int32))
            segments.append(np.array(encoding.type_ids, np.int8))
            truncated += bool(encoding.overflowing)
    starts = np.concatenate([[0], np.cumsum([len(example) for example in ids])])
    return Tokens(
        ids=np.concatenate(ids),
        segments=np.concatenate(segments),
        starts=starts,
        padding=_padding(backend),
        truncated=truncated,
    )


def backend_copy(tokenizer: object) -> Tokenizer:
    """A copy of the Rust tokenizer at the heart of any, which adds special tokens. AddendError otherwise."""
    backend = tokenizer if isinstance(tokenizer, Tokenizer) else getattr(tokenizer, "backend_tokenizer", None)
    if not isinstance(backend, Tokenizer):
        raise AddendError(
            f"The tokenizer is a {type(tokenizer).__name__}; expected a tokenizers.Tokenizer, or a tokenizer of "
            "transformers that is built on one."
        )
    if not backend.num_special_tokens_to_add(is_pair=False):
        raise AddendError(
            "The tokenizer adds no special tokens, but a text is classified by its first; give it a post-processor, "
            "such as tokenizers.processors.BertProcessing."
        )
    return Tokenizer.from_str(backend.to_str())


def _padding(tokenizer: Tokenizer) -> int:
    """The id that fills up a batch. Without one any will do, since the attention mask hides it."""
    ids = (tokenizer.token_to_id(name) for name in PADDINGS)
    return next((id for id in ids if id is not None), 0)
