"""Swapped neighbours: a task that only word order can solve, made from plain text.

Sentences of 6 to 40 words; in half of them one pair of neighbouring, differing words is swapped. Which half is
drawn by lot, and a swap changes neither the words of a sentence nor where its punctuation and capitals stand:
a model that cannot tell positions apart is right half of the time. A reader is not always right either: some swaps
leave good English.

Text is given a line at a time: an article's paragraphs, then an empty line. Lines that end without a full stop,
such as titles, are in no sentence.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from analysis.ablation.glue.examples import Split, TaskData
from analysis.core.errors import AddendError

TASK = "swapped_neighbours"
MIN_WORDS, MAX_WORDS = 6, 40
OVERSAMPLING = 4
"""Reading stops at this many times the requested sentences: enough to sample from, and no more in memory."""

_BOUNDARY = re.compile(r"(?<=[.!?])(?<!\b[A-Za-z]\.)(?<!\b(?:Dr|Mr|Ms|St|Jr|vs|No)\.)(?<!\b(?:Mrs|etc)\.)\s+(?=[A-Z])")
"""The space between one sentence and the next; not after an initial or a usual abbreviation."""
_SENTENCE = re.compile(r"[A-Z][^{}|<>_\t\n]*[.!?]")
"""A sentence from its capital to its full stop, without residues of markup."""
_WORD = re.compile(r"[a-z]+(?:[-'’][a-z]+)*")
"""A word that may be swapped: in lower case, without punctuation, so that the swap shows in nothing but the order."""


@dataclass
class _Part:
    """The sentences of train, or of dev, so far; `size` is how many it needs."""

    size: int
    sentences: list[list[str]] = field(default_factory=list)


def make(text: str | Path | Iterable[str], *, train: int = 8000, dev: int = 2000, seed: int = 0) -> TaskData:
    """The task's data: `train` and `dev` sentences, from different articles, each sentence once.

    text: the path of a text file, or its lines (see above); a path may be a string or a Path.
    The same text, sizes and seed give the same data. AddendError when the text has too few sentences or articles.
    """
    for name, size in (("train", train), ("dev", dev)):
        if size < 2:
            raise AddendError(f"The {name} size {size!r} is not a whole number from 2 up; choose for example 2000.")
    random = np.random.RandomState(seed)  # its stream never changes, which default_rng's may
    articles = _collect(_lines(text), OVERSAMPLING * (train + dev))
    parts = {"train": _Part(train), "dev": _Part(dev)}
    for index in random.permutation(len(articles)):
        # Whole articles, each to the part that is further from its size.
        part = min(parts.values(), key=lambda part: len(part.sentences) / part.size)
        part.sentences.extend(articles[index])
    for name, part in parts.items():
        if len(part.sentences) < part.size:
            raise AddendError(
                f"The text's {len(articles):,} articles give {len(part.sentences):,} sentences for {name}, expected "
                f"{part.size:,} of {MIN_WORDS} to {MAX_WORDS} words; give more text, with an empty line after each "
                "article, or ask for fewer."
            )
    splits = {name: _labelled(part, random) for name, part in parts.items()}
    return TaskData(task=TASK, train=splits["train"], dev={TASK: splits["dev"]}, data=f"made from text, seed {seed}")


def sentences(paragraph: str) -> Iterator[list[str]]:
    """The words of each sentence of a paragraph that the task can use."""
    for sentence in _BOUNDARY.split(paragraph.strip()):
        words = sentence.split()
        if MIN_WORDS <= len(words) <= MAX_WORDS and _SENTENCE.fullmatch(sentence) and len(swaps(words)):
            yield words


def swaps(words: list[str]) -> list[int]:
    """The numbers of the words that may be swapped with the next one, which has to be a different word."""
    swappable = [_WORD.fullmatch(word) is not None for word in words]
    return [i for i in range(len(words) - 1) if swappable[i] and swappable[i + 1] and words[i] != words[i + 1]]


def _lines(text: str | Path | Iterable[str]) -> Iterator[str]:
    if not isinstance(text, str | Path):
        yield from text
        return
    try:
        with open(text, encoding="utf-8-sig") as file:
            yield from file
    except OSError as error:
        raise AddendError(
            f"{text} could not be read ({error.strerror or error}); expected the path of a text file."
        ) from None
    except UnicodeDecodeError:
        raise AddendError(f"{text} is not a text file in UTF-8; unpack it, or save it as UTF-8.") from None


def _collect(lines: Iterable[str], limit: int) -> list[list[list[str]]]:
    """The usable sentences of each article, none twice, until there are enough."""
    articles: list[list[list[str]]] = [[]]
    seen: set[str] = set()
    for line in lines:
        if not line.strip():
            if len(seen) >= limit:
                break
            if articles[-1]:
                articles.append([])
            continue
        for words in sentences(line):
            sentence = " ".join(words)
            if sentence not in seen:
                seen.add(sentence)
                articles[-1].append(words)
    return [article for article in articles if article]


def _labelled(part: _Part, random: np.random.RandomState) -> Split:
    """`size` sentences of the part at random; half of them are swapped."""
    chosen = [part.sentences[index] for index in random.permutation(len(part.sentences))[: part.size]]
    labels = random.permutation(np.arange(part.size) % 2)
    texts = []
    for words, swapped in zip(chosen, labels, strict=True):
        if swapped:
            starts = swaps(words)
            start = starts[random.randint(len(starts))]
            words = [*words[:start], words[start + 1], words[start], *words[start + 2 :]]
        texts.append(" ".join(words))
    return Split(texts=texts, pairs=None, labels=labels.astype(np.int64))
