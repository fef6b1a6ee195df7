"""Proves that swapped neighbours are a fair task: made as it says, from text given, and open to word order alone."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from analysis.ablation.glue import TaskData, swapped_neighbours
from analysis.core.errors import AddendError

NOUNS = ["cat", "dog", "hill", "river", "farmer", "garden", "letter", "window", "bridge", "market", "teacher", "engine"]
VERBS = ["saw", "found", "left", "built", "crossed", "painted", "followed", "opened", "carried", "mended"]
KINDS = ["old", "green", "quiet", "heavy", "narrow", "bright", "broken", "early", "distant", "gentle"]


def article(number: int) -> list[str]:
    """A title, two paragraphs of five sentences each, and an empty line. Some sentences are of no use."""
    draw = random.Random(number)
    lines = [f"Made-up article {number}"]
    for _ in range(2):
        parts = []
        for _ in range(5):
            kinds, nouns = draw.sample(KINDS, 3), draw.sample(NOUNS, 3)
            parts.append(
                f"In {draw.randint(1000, 9999)} the {kinds[0]} {nouns[0]} {draw.choice(VERBS)} the {kinds[1]} "
                f"{nouns[1]}, and the {nouns[2]} was {kinds[2]}."
            )
        lines.append(" ".join([*parts, "Too short.", "A residue like formula_3 is left out of it all."]))
    return [*lines, ""]


def text(articles: int = 100) -> list[str]:
    return [line for number in range(articles) for line in article(number)]


def made(**sizes: int) -> TaskData:
    return swapped_neighbours.make(text(), **({"train": 200, "dev": 50} | sizes))


def undone(words: list[str], original: set[str]) -> list[int]:
    """Where swapping back gives a sentence of the text."""
    back = []
    for i in range(len(words) - 1):
        if " ".join([*words[:i], words[i + 1], words[i], *words[i + 2 :]]) in original:
            back.append(i)
    return back


def test_half_are_swapped_once_and_half_are_as_written() -> None:
    original = {" ".join(words) for line in text() for words in swapped_neighbours.sentences(line)}
    data = made()
    for split, size in ((data.train, 200), (data.dev["swapped_neighbours"], 50)):
        assert len(split) == len(set(split.texts)) == size
        assert split.labels.sum() == size / 2
        assert split.pairs is None
        for sentence, label in zip(split.texts, split.labels, strict=True):
            words = sentence.split()
            assert 6 <= len(words) <= 40
            assert (sentence in original) == (label == 0)
            if label:
                (at,) = undone(words, original)
                assert words[at] != words[at + 1]
                assert words[at].isalpha()
                assert words[at + 1].islower()
    assert data.task == "swapped_neighbours"
    assert data.data == "made from text, seed 0"
    assert data.shared() == {"swapped_neighbours": 0}


def test_only_order_tells() -> None:
    """No sentence loses its capital, its full stop or a comma to a swap, and none is fit for one label only."""
    data = made()
    for sentence in data.train.texts:
        assert re.fullmatch(r"In \d+ [a-z ]+, [a-z ]+\.", sentence)
    bags = Counter(" ".join(sorted(text.split())) for text in data.train.texts)
    assert max(bags.values()) == 1, "the same words never come in both orders"
    for words in swapped_neighbours.sentences(" ".join(text(1)[1:])):
        assert swapped_neighbours.swaps(words)


def test_train_and_dev_are_of_different_articles() -> None:
    home = {
        " ".join(sorted(words)): n
        for n in range(100)
        for line in article(n)
        for words in swapped_neighbours.sentences(line)
    }
    data = made()
    train, dev = (
        {home[" ".join(sorted(sentence.split()))] for sentence in split.texts}
        for split in (data.train, data.dev["swapped_neighbours"])
    )
    assert train.isdisjoint(dev)
    assert len(train) > 10 < len(dev)


def test_the_seed_decides(tmp_path: Path) -> None:
    first, second, other = made(), made(), made(seed=1)
    assert first.train.texts == second.train.texts
    assert first.train.labels.tolist() == second.train.labels.tolist()
    assert first.train.texts != other.train.texts
    path = tmp_path / "text.txt"
    path.write_text("".join(f"{line}\n" for line in text()), encoding="utf-8")
    for given in (path, str(path)):
        assert swapped_neighbours.make(given, train=200, dev=50).train.texts == first.train.texts


def test_reading_stops_when_there_is_enough() -> None:
    lines = iter(text())
    swapped_neighbours.make(lines, train=20, dev=10)
    left = len(list(lines))
    assert 100 * 4 - left == 4 * 12, "12 articles of 10 sentences: four times as many as are needed"


@pytest.mark.parametrize(
    ("paragraph", "found"),
    [
        ("The dog ran up the hill. The cat sat on the mat!", 2),
        ("The work of Dr. Brown and J. Smith was soon forgotten here.", 1),
        ("One Two Three Four Five Six.", 0),
        ("A title of six words or more", 0),
        ("no capital stands at the start of this.", 0),
        ("Too few to use.", 0),
        ("There is | a table in this sentence.", 0),
        (" ".join(["Word", *["word next"] * 20]) + ".", 0),
        (" ".join(["Word", *["word next"] * 19]) + ".", 1),
        ("", 0),
    ],
)
def test_what_a_sentence_is(paragraph: str, found: int) -> None:
    assert len(list(swapped_neighbours.sentences(paragraph))) == found


def test_equal_neighbours_are_not_swapped() -> None:
    assert swapped_neighbours.swaps(["He", "said", "that", "that,", "that", "that", "was", "so", "good", "it."]) == [
        1,
        5,
        6,
        7,
    ]


def test_what_cannot_be_made_is_said(tmp_path: Path) -> None:
    with pytest.raises(
        AddendError, match=r"100 articles give \d\d\d sentences for train, expected 950 of 6 to 40 words"
    ):
        made(train=950, dev=100)
    with pytest.raises(
        AddendError, match="1 articles give 0 sentences for dev, expected 2 of 6 to 40 words; give more"
    ):
        swapped_neighbours.make(article(1), train=2, dev=2)
    with pytest.raises(AddendError, match="The dev size 1 is not a whole number from 2 up; choose for example 2000"):
        made(dev=1)
    with pytest.raises(AddendError, match=r"nowhere\.txt could not be read \(No such file or directory\)"):
        swapped_neighbours.make(tmp_path / "nowhere.txt")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(AddendError, match=r"latin\.txt is not a text file in UTF-8; unpack it"):
        swapped_neighbours.make(tmp_path / "latin.txt")
