"""Full windows of equal length, cut from a text: what hidden states are averaged over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import numpy as np
from jaxtyping import Bool, Int64
from numpy import ndarray
from transformers import PreTrainedTokenizerFast

from analysis.core.errors import TextError, TextTooLong
from analysis.models.families import longest
from analysis.models.foreign_errors import as_tokenizer_errors
from analysis.models.load import Loaded

SEED = 0
BATCH = 8


@dataclass(frozen=True)
class FramedWindows:
    """Token ids, each row a special-token frame around a passage; and which slots hold the passage."""

    ids: Int64[ndarray, "window slot"]
    article: Int64[ndarray, " window"]
    counted: Bool[ndarray, " slot"]
    """Neither the first slot nor one whose token is the same in every window."""


def articles(path: Path) -> Iterator[str]:
    """The articles of a UTF-8 text, with empty lines between them. Raises TextError where it cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TextError(
            f"The text {path} cannot be read ({getattr(error, 'strerror', None) or 'it is not UTF-8'}); "
            "expected UTF-8 text, with an empty line between articles."
        ) from None
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield "\n".join(block)
            block = []


def command(verb: str, loaded: Loaded, cut: FramedWindows, corpus: str, called: str | None) -> str:
    """The command that measures a model over these windows again."""
    count, length = cut.ids.shape
    over = f"--texts TEXT --corpus {quote(corpus)} --length {length} --windows {count}"
    return f"{loaded.command(verb, called)} {over}"


def windows_of(loaded: Loaded, file: Path, length: int, count: int) -> FramedWindows:
    """The windows of a text for a loaded model; see `articles` and `windows`."""
    return windows(loaded.tokenizer, list(articles(file)), length, count, longest(loaded.model.config))


def windows(
    tokenizer: PreTrainedTokenizerFast, texts: Sequence[str], length: int, count: int, limit: int | None = None
) -> FramedWindows:
    """`count` windows of `length` tokens, special ones included, drawn with a fixed seed.

    Every text long enough gives one, from a random place, before any gives a second; none overlap.
    limit: the model's positions. Raises TextTooLong beyond them, TextError where the texts hold too few windows.
    """
    if limit is not None and length > limit:
        raise TextTooLong(
            f"Windows of {length} tokens were asked for, but the model has {limit} positions. Ask for less."
        )
    before, after = _frame(tokenizer)
    room = length - len(before) - len(after)
    if room < 2:
        raise TextError(f"A window of {length} tokens has no room besides special tokens; ask for at least 8.")
    rng = np.random.default_rng(SEED)
    first: list[tuple[int, list[int]]] = []
    later: list[tuple[int, list[int]]] = []
    for number in rng.permutation(len(texts)):
        with as_tokenizer_errors():
            ids = tokenizer(texts[int(number)], add_special_tokens=False, verbose=False)["input_ids"]
        passage_count = len(ids) // room
        if not passage_count:
            continue
        start = int(rng.integers(len(ids) - passage_count * room + 1))
        starts = start + room * rng.permutation(passage_count)
        passages = [(int(number), ids[position : position + room]) for position in starts]
        first.append(passages[0])
        later.extend(passages[1:])
        if len(first) == count:
            break
    if len(first) < count:
        chosen = rng.permutation(len(later))[: count - len(first)]
        first += [later[index] for index in chosen]
    if len(first) < count:
        raise TextError(
            f"The texts hold {len(first)} windows of {length} tokens, but {count} were asked for. Give a longer text, "
            "or ask for fewer."
        )
    counted = np.ones(length, dtype=bool)
    counted[: max(1, len(before))] = False
    counted[length - len(after) :] = False
    return FramedWindows(
        np.asarray([[*before, *passage, *after] for _, passage in first], dtype=np.int64),
        np.asarray([number for number, _ in first], dtype=np.int64),
        counted,
    )


def _frame(tokenizer: PreTrainedTokenizerFast) -> tuple[list[int], list[int]]:
    """The special tokens that the tokenizer puts before and after a text."""
    with as_tokenizer_errors():
        encoded = tokenizer("a", return_special_tokens_mask=True)
    ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
    inner = [index for index, mark in enumerate(special) if not mark]
    return ids[: inner[0]], ids[inner[-1] + 1 :]


def batches(cut: FramedWindows) -> range:
    """The first window of every batch."""
    return range(0, len(cut.ids), BATCH)
