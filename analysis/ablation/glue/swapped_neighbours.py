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

from analysis.ablation.glue.examples import Data, Split
from analysis.core.errors import AddendError

TASK = "swapped_neighbours"
LEAST_WORDS, MOST_WORDS = 6, 40
SPARE = 4
"""Reading stops at this many times as many sentences as are asked for: enough to draw from, and no more in memory."""

_ENDS = re.compile(r"(?<=[.!?])(?<!\b[A-Za-z]\.)(?<!\b(?:Dr|Mr|Ms|St|Jr|vs|No)\.)(?<!\b(?:Mrs|etc)\.)\s+(?=[A-Z])")
"""Where a sentence ends and one begins; not after an initial or a usual abbreviation."""
_SENTENCE = re.compile(r"[A-Z][^{}|<>_\t\n]*[.!?]")
"""A sentence from its capital to its full stop, without residues of markup."""
_WORD = re.compile(r"[a-z]+(?:[-'’][a-z]+)*")
"""What may be swapped: a lower-case word without punctuation, so that the swap shows in nothing but the order."""


@dataclass
class _Half:
    """What train, or dev, has so far: sentences and how many it needs."""

    needs: int
    sentences: list[list[str]] = field(default_factory=list)


def make(text: str | Path | Iterable[str], *, train: int = 8000, dev: int = 2000, seed: int = 0) -> Data:
    """The task's data: `train` and `dev` sentences, from different articles, each sentence once.

    text: the path of a text file, or its lines (see above); a path may be a string or a Path.
    The same text, sizes and seed give the same data. AddendError when the text has too few sentences or articles.
    """
    for what, size in (("train", train), ("dev", dev)):
        if size < 2:
            raise AddendError(f"The {what} size {size!r} is not a whole number from 2 up; choose for example 2000.")
    random = np.random.RandomState(seed)  # its stream never changes, which default_rng's may
    matches = _collect(_lines(text), SPARE * (train + dev))
    halves = {"train": _Half(train), "dev": _Half(dev)}
    for number in random.permutation(len(matches)):
        # Whole articles, each to the half that is further from what it needs.
        half = min(halves.values(), key=lambda half: len(half.sentences) / half.needs)
        half.sentences.extend(matches[number])
    for what, half in halves.items():
        if len(half.sentences) < half.needs:
            raise AddendError(
                f"The text's {len(matches):,} articles give {len(half.sentences):,} sentences for {what}, expected "
                f"{half.needs:,} of {LEAST_WORDS} to {MOST_WORDS} words; give more text, with an empty line after each "
                "article, or ask for fewer."
            )
    splits = {what: _labelled(half, random) for what, half in halves.items()}
    return Data(task=TASK, train=splits["train"], dev={TASK: splits["dev"]}, data=f"made from text, seed {seed}")


def sentences(paragraph: str) -> Iterator[list[str]]:
    """The words of each sentence of a paragraph that the task can use."""
    for sentence in _ENDS.split(paragraph.strip()):
        words = sentence.split()
        if LEAST_WORDS <= len(words) <= MOST_WORDS and _SENTENCE.fullmatch(sentence) and len(swaps(words)):
            yield words


def swaps(words: list[str]) -> list[int]:
    """Where a swap may start: the numbers of words that may be swapped with the next one, which differs."""
    fit = [_WORD.fullmatch(word) is not None for word in words]
    return [i for i in range(len(words) - 1) if fit[i] and fit[i + 1] and words[i] != words[i + 1]]


def _lines(text: str | Path | Iterable[str]) -> Iterator[str]:
    if not isinstance(text, str | Path):
        yield from text
        return
    try:
        with open(text, encoding="utf-8-sig") as file:
            yield from file
    except OSError as refused:
        raise AddendError(
            f"{text} could not be read ({refused.strerror or refused}); expected the path of a text file."
        ) from None
    except UnicodeDecodeError:
        raise AddendError(f"{text} is not a text file in UTF-8; unpack it, or save it as UTF-8.") from None


def _collect(lines: Iterable[str], enough: int) -> list[list[list[str]]]:
    """The usable sentences of each article, none twice, until there are enough."""
    articles: list[list[list[str]]] = [[]]
    seen: set[str] = set()
    for line in lines:
        if not line.strip():
            if len(seen) >= enough:
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


def _labelled(half: _Half, random: np.random.RandomState) -> Split:
    """So many sentences as the half needs, drawn by lot; every other one of them is swapped."""
    chosen = [half.sentences[number] for number in random.permutation(len(half.sentences))[: half.needs]]
    labels = random.permutation(np.arange(half.needs) % 2)
    texts = []
    for words, swapped in zip(chosen, labels, strict=True):
        if swapped:
            places = swaps(words)
            at = places[random.randint(len(places))]
            words = [*words[:at], words[at + 1], words[at], *words[at + 2 :]]
        texts.append(" ".join(words))
    return Split(texts=texts, pairs=None, labels=labels.astype(np.int64))
