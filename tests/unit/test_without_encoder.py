"""Baselines that need no encoder: they learn what is there to be learnt without order, and nothing else."""

import numpy as np
import pytest

from analysis.ablation.glue.examples import Split, TaskData
from analysis.ablation.without_encoder import baselines, mean_word_vectors
from tests import own_results

WORDS = [f"w{n}" for n in range(40)]


def pairs(rows: int, seed: int) -> Split:
    """Pairs that share all of their words or none, labelled so (rte); in any order."""
    rng = np.random.default_rng(seed)
    texts, others, labels = [], [], []
    for row in range(rows):
        words = rng.choice(WORDS, 8, replace=False)
        same = row % 2
        texts.append(" ".join(words[:4]))
        others.append(" ".join(rng.permutation(words[:4] if same else words[4:])))
        labels.append(same)
    return Split(texts=texts, pairs=others, labels=np.asarray(labels))


def singles(rows: int, seed: int, *, order: bool) -> Split:
    """Texts whose label is which word they hold (sst2); or, of the same two words, which of them comes first."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for row in range(rows):
        label = row % 2
        rest = list(rng.choice(WORDS, 6))
        if order:
            texts.append(" ".join(["bad", *rest, "good"] if label else ["good", *rest, "bad"]))
        else:
            texts.append(" ".join(rng.permutation([*rest, "good" if label else "bad"])))
        labels.append(label)
    return Split(texts=texts, pairs=None, labels=np.asarray(labels))


def data(task: str, train: Split, dev: Split) -> TaskData:
    return TaskData(task=task, train=train, dev={task: dev}, data="made up")


def test_overlap_is_all_that_such_pairs_ask_for():
    found = baselines(data("rte", pairs(200, 0), pairs(100, 1)))
    assert found["word_overlap"]["rte"]["accuracy"] == 1.0
    assert found.keys() == {"word_overlap", "tf_idf"}


def test_a_word_is_enough_where_it_says_the_label_and_order_is_not_seen():
    told = baselines(data("sst2", singles(300, 0, order=False), singles(200, 1, order=False)))
    assert told["tf_idf"]["sst2"]["accuracy"] > 0.95
    assert "word_overlap" not in told, "there is nothing to overlap with"
    table = np.random.default_rng(3).normal(size=(len(WORDS) + 2, 30))
    index = {word: n for n, word in enumerate([*WORDS, "good", "bad"])}

    def tokenizer(texts, add_special_tokens):
        assert not add_special_tokens
        return {"input_ids": [[index[word] for word in text.split()] for text in texts]}

    order = data("sst2", singles(300, 0, order=True), singles(200, 1, order=True))
    bag = baselines(order, mean_word_vectors(tokenizer, table))["bag_of_vectors"]["sst2"]["accuracy"]
    assert abs(bag - 0.5) < 0.12, "a mean has no order"
    shown = baselines(
        data("sst2", singles(300, 0, order=False), singles(200, 1, order=False)), mean_word_vectors(tokenizer, table)
    )
    assert shown["bag_of_vectors"]["sst2"]["accuracy"] > 0.9


def test_a_text_without_words_has_the_zero_vector():
    embed = mean_word_vectors(
        lambda texts, add_special_tokens: {"input_ids": [[], [1, 2]]}, np.arange(6.0).reshape(3, 2)
    )
    np.testing.assert_array_equal(embed(["", "b c"]), [[0.0, 0.0], [3.0, 4.0]])


# ---- What the page makes of them ----


@pytest.fixture
def study(tmp_path, monkeypatch):
    """BERT-A at 60 and 80 in cola and rte, beside baselines at given points; see tests/own_results.py."""
    from analysis import glue_comparison, store_build

    def made(**points: float):
        monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
        monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "store.duckdb"))
        own_results.world()
        rows = [
            {"variant": "tf_idf", "preset": "cpu", "task": task, "metric": metric, "value": points[task] / 100}
            for task, metric in (("cola", "matthews_correlation"), ("rte", "accuracy"))
            if task in points
        ]
        own_results._write("scores", rows, "cpu")
        store_build.refresh()
        return glue_comparison.study("cpu")

    return made


def test_below_baselines_nothing_is_ranked(study):
    from analysis.figures.glue.headline import headline
    from analysis.figures.glue.table import table

    found = study(cola=70.0, rte=85.0)
    first, why, *_ = headline(found)
    assert first.startswith("Inconclusive: models of this size cannot be ranked by GLUE")
    assert "none of 2 tasks" in why
    assert "CoLA (60.0 against 70.0)" in why
    cells = table(found, None, relative=False).cells
    assert "70.0" in cells[cells.variant == "TF-IDF, logistic regression"].to_numpy().ravel().tolist()


def test_without_baselines_nothing_is_said_of_them(study):
    from analysis.figures.glue.headline import headline

    assert "cannot be ranked by GLUE" not in headline(study())[0]
