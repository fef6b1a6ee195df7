"""A text corpus as token ids: trained tokenizer, packed windows of two segments, masks drawn anew at every step.

A corpus is a UTF-8 text file with an empty line between articles and one paragraph per line. Prepared, it is a
folder with `tokenizer.json`, `train.npy`, `valid.npy` (uint16 ids, articles joined by [SEP]) and
`corpus.json`, which says what they were made from. Nothing here needs more than numpy and tokenizers.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Int64, UInt16

from analysis.core.atomic_write import atomic_write
from analysis.core.default_model import file_sha256
from analysis.core.errors import AddendError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(len(SPECIALS))
IGNORED = -100
"""A label that no loss counts."""
MASKED_SHARE, TO_MASK = 0.15, 0.8
"""Devlin et al. 2019, section 3.1: 15 % are predicted; of these 80 % show [MASK], half of the rest a random word."""
LINES_PER_BATCH = 2_000
ALPHABET = 128
"""Characters that the vocabulary holds, the most frequent ones."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A prepared corpus."""

    folder: Path
    train: UInt16[np.ndarray, " tokens"]
    valid: UInt16[np.ndarray, " tokens"]
    vocabulary: int
    digest: str
    """SHA-256 over the tokenizer and both token files."""


@dataclass(frozen=True)
class Batch:
    """One step's input. Labels are IGNORED wherever nothing is to be predicted."""

    ids: Int64[np.ndarray, "batch length"]
    segments: Int64[np.ndarray, "batch length"]
    labels: Int64[np.ndarray, "batch length"]


def paragraphs(path: Path) -> Iterator[str]:
    """Lines of a text file, empty ones included. Raises AddendError where it is missing or not UTF-8."""
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\n")
    except FileNotFoundError:
        raise AddendError(
            f"There is no corpus file {path}; expected a UTF-8 text, with an empty line between articles. "
            "Name one with --corpus."
        ) from None
    except UnicodeDecodeError as error:
        raise AddendError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); unpack it first."
        ) from None


def prepare(
    train: Path, valid: Path, folder: Path, *, vocabulary: int, limit: int | None = None, tokenizer: Path | None = None
) -> Corpus:
    """Trains the tokenizer on the training text and writes both texts as ids; `limit` caps training characters.

    tokenizer: the tokenizer.json of a checkpoint, used as it is. The library numbers single characters in another
    order each time it trains, so only with the tokenizer of other runs does a corpus get the digest of theirs.
    Raises AddendError where its vocabulary is of another size.
    """
    encoder = (
        _train_tokenizer(train, limit, vocabulary) if tokenizer is None else _load_tokenizer(tokenizer, vocabulary)
    )
    folder.mkdir(parents=True, exist_ok=True)
    encoder.save(str(folder / "tokenizer.json"))
    for name, path, cap in (("train", train, limit), ("valid", valid, None)):
        chunks = [np.array([SEP], np.uint16)]
        lines = _limited(paragraphs(path), cap)
        while batch := list(islice(lines, LINES_PER_BATCH)):
            for line, encoded in zip(batch, encoder.encode_batch_fast(batch), strict=True):
                chunks.append(np.array(encoded.ids if line else [SEP], np.uint16))
        with atomic_write(folder / f"{name}.npy") as partial, partial.open("wb") as file:
            np.save(file, np.concatenate(chunks))
    description = {
        "train": train.name,
        "valid": valid.name,
        "train_sha256": file_sha256(train),
        "valid_sha256": file_sha256(valid),
        "limit": limit,
        "vocabulary": encoder.get_vocab_size(),
    }
    (folder / "corpus.json").write_text(json.dumps(description, indent=1), encoding="utf-8")
    return load(folder)


def _train_tokenizer(train: Path, limit: int | None, vocabulary: int) -> "Tokenizer":
    """WordPiece of the training text, in lower case."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIALS[UNK]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    # Rare characters become [UNK]: a small vocabulary has better uses than one entry each.
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=list(SPECIALS), limit_alphabet=ALPHABET, show_progress=False
    )
    tokenizer.train_from_iterator(_limited(paragraphs(train), limit), trainer)
    return tokenizer


def _load_tokenizer(file: Path, vocabulary: int) -> "Tokenizer":
    """A checkpoint's tokenizer without the special tokens that it sets around a text."""
    from tokenizers import Tokenizer

    if not file.is_file():
        raise AddendError(f"There is no tokenizer {file}; name the tokenizer.json of a checkpoint with --tokenizer.")
    tokenizer = Tokenizer.from_file(str(file))
    if (entries := tokenizer.get_vocab_size()) != vocabulary:
        raise AddendError(
            f"The vocabulary of {file} has {entries:,} entries and the preset's {vocabulary:,}; name the tokenizer of "
            "a run of this preset, or leave --tokenizer out."
        )
    stripped = json.loads(tokenizer.to_str()) | {"post_processor": None}
    return Tokenizer.from_str(json.dumps(stripped))


def load(folder: Path) -> Corpus:
    """A prepared corpus, its tokens mapped from disk."""
    files = [folder / name for name in ("tokenizer.json", "train.npy", "valid.npy")]
    if missing := [file.name for file in (*files, folder / "corpus.json") if not file.is_file()]:
        raise AddendError(
            f"{folder} is no prepared corpus: it lacks {missing[0]}. Prepare it again with --corpus FILE."
        )
    description = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256("".join(file_sha256(file) for file in files).encode()).hexdigest()[:16]
    train, valid = (np.load(file, mmap_mode="r") for file in files[1:])
    return Corpus(folder=folder, train=train, valid=valid, vocabulary=description["vocabulary"], digest=digest)


def _limited(lines: Iterator[str], limit: int | None) -> Iterator[str]:
    characters = 0
    for line in lines:
        characters += len(line) + 1
        if limit is not None and characters > limit:
            return
        yield line


@dataclass(frozen=True, kw_only=True)
class PackedWindows:
    """Packed windows over a token stream: no padding, so no token of a batch is wasted.

    A window is [CLS] A [SEP] B [SEP] of exactly `length` tokens, A and B being consecutive text cut at
    the stop nearest the middle, segments 0 and 1. Which windows a step takes, and which tokens it masks,
    depends on (seed, step) alone: every variant sees the same.
    """

    tokens: UInt16[np.ndarray, " tokens"]
    length: int
    vocabulary: int
    stop: int
    """The id of the full stop."""

    @property
    def count(self) -> int:
        """Windows in the stream."""
        return len(self.tokens) // (self.length - 3)

    def packed(self, indices: Int64[np.ndarray, " batch"]) -> tuple[np.ndarray, np.ndarray]:
        """Ids and segments (batch, length) of the chosen windows."""
        body = self.length - 3
        windows = np.stack([self.tokens[i * body : (i + 1) * body] for i in indices]).astype(np.int64)
        distance = np.where(windows[:, :-1] == self.stop, np.abs(np.arange(body - 1) - body // 2), body)
        # One past the stop; the middle where there is none.
        first_length = np.where(distance.min(1) < body, distance.argmin(1) + 1, body // 2)
        columns = np.arange(self.length)
        second_segment = columns[None] > first_length[:, None] + 1  # after the first [SEP]
        source = columns[None] - 1 - second_segment
        ids = np.take_along_axis(windows, source.clip(0, body - 1), axis=1)
        ids[:, 0] = CLS
        ids[np.arange(len(ids)), first_length + 1] = SEP
        ids[:, -1] = SEP
        return ids, second_segment.astype(np.int64)

    def masked(
        self,
        indices: Int64[np.ndarray, " batch"],
        rng: np.random.Generator,
        *,
        share: float = MASKED_SHARE,
        to_mask: float = TO_MASK,
    ) -> Batch:
        """A batch for masked-language modelling.

        share: the fraction of a window's tokens that is predicted. to_mask: of these, the fraction that shows [MASK];
        half of the rest shows a random word, the other half is left as it is.
        """
        ids, segments = self.packed(indices)
        words: Bool[np.ndarray, "batch length"] = ids >= len(SPECIALS)
        # The same number in every window, so that every step predicts equally many.
        count = max(1, round(share * (self.length - 3)))
        order = np.where(words, rng.random(ids.shape), 2.0)
        selected = np.argpartition(order, count, axis=1)[:, :count]
        labels = np.full_like(ids, IGNORED)
        np.put_along_axis(labels, selected, np.take_along_axis(np.where(words, ids, IGNORED), selected, 1), axis=1)
        draws = rng.random(ids.shape)
        random_ids = rng.integers(len(SPECIALS), self.vocabulary, ids.shape)
        shown = np.where(draws < to_mask, MASK, np.where(draws < (1 + to_mask) / 2, random_ids, ids))
        return Batch(np.where(labels != IGNORED, shown, ids), segments, labels)

    def causal(self, indices: Int64[np.ndarray, " batch"]) -> Batch:
        """A batch for next-token prediction: a token's label is the one after it; special tokens are not predicted."""
        ids, segments = self.packed(indices)
        labels = np.full_like(ids, IGNORED)
        labels[:, :-1] = np.where(ids[:, 1:] >= len(SPECIALS), ids[:, 1:], IGNORED)
        return Batch(ids, segments, labels)

    def step(
        self, step: int, size: int, seed: int, *, causal: bool, share: float = MASKED_SHARE, to_mask: float = TO_MASK
    ) -> Batch:
        """The batch of a step (from 0): windows in an order shuffled anew each time through the corpus.

        share, to_mask: as `masked` takes them.
        """
        per_pass = self.count // size
        if not per_pass:
            raise AddendError(
                f"The corpus has {self.count} windows of {self.length} tokens and a batch takes {size}; "
                "give it more text or a smaller batch."
            )
        order = _order(self.count, seed, step // per_pass)
        start = step % per_pass * size
        indices = order[start : start + size]
        if causal:
            return self.causal(indices)
        return self.masked(indices, np.random.default_rng([seed, 1, step]), share=share, to_mask=to_mask)


@lru_cache(maxsize=1)
def _order(count: int, seed: int, epoch: int) -> np.ndarray:
    return np.random.default_rng([seed, 0, epoch]).permutation(count)


def describe(corpus: Corpus) -> dict[str, object]:
    """The description of a corpus that the settings of a run record: its source, digest and numbers of tokens."""
    description = json.loads((corpus.folder / "corpus.json").read_text(encoding="utf-8"))
    return {
        **description,
        "digest": corpus.digest,
        "train_tokens": len(corpus.train),
        "valid_tokens": len(corpus.valid),
    }
