"""Proves that decoders read what was planted, read nothing where nothing is, and count as scikit-learn and scipy do."""

from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from scipy.spatial.distance import cdist
from sklearn.metrics import mean_absolute_error, r2_score
from specimens import LONG, save_tiny

from analysis import store_build
from analysis.measurements.decoding.linear import DecoderAccuracy, hits, logistic, ridge
from analysis.measurements.decoding.measure import decode, held_out_windows, states_of
from analysis.measurements.decoding.position import NEAR, _pairs, read_order, read_position
from analysis.measurements.decoding.word import OFTEN, read_word
from analysis.measurements.means.windows import FramedWindows, windows
from analysis.models.load import load
from analysis.models.source import resolve
from analysis.store import read

SLOTS, DIM, WORDS = 12, 16, 6
RNG = np.random.default_rng


def states(count: int, seed: int, *, planted: bool = True, noise: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Windows whose states hold the slot along one direction and the word in others, and their words."""
    rng, table = RNG(seed), RNG(99).normal(size=(WORDS, DIM))
    words = rng.integers(WORDS, size=(count, SLOTS))
    hidden = noise * rng.normal(size=(count, SLOTS, DIM))
    if planted:
        hidden = hidden + table[words] + np.arange(SLOTS)[:, None] * RNG(98).normal(size=DIM)
    return hidden, words


def by_name(readings) -> dict[tuple[str, str], DecoderAccuracy]:
    return {(reading.decoder, reading.measure): reading for reading in readings}


def test_what_was_planted_is_read() -> None:
    (train, words), (test, test_words) = states(60, 1), states(20, 2)
    found = by_name(read_position(train, test))
    assert found["ridge", "r2"].value > 0.99
    assert found["ridge", "mean_absolute_error"].value < 0.3
    assert found["nearest", "exact"].value > 0.8
    assert next(read_order(train, test, 0)).value > 0.97
    table = RNG(97).normal(size=(WORDS, 8))
    # Position would move a word's mean too far: without it the nearest mean is the word.
    flat, flat_test = (x - np.arange(SLOTS)[:, None] * RNG(98).normal(size=DIM) for x in (train, test))
    for reading in read_word(flat, words, flat_test, test_words, table):
        assert reading.value == 1
    assert by_name(read_word(train, words, test, test_words, table))["ridge", "top1"].value > 0.95


def test_where_nothing_is_nothing_is_read() -> None:
    """Every score is what its chance says, within four standard errors of held-out examples."""
    (train, words), (test, test_words) = states(200, 3, planted=False), states(100, 4, planted=False)
    position = by_name(read_position(train, test))
    assert abs(position["ridge", "r2"].value) < 0.03
    error = position["ridge", "mean_absolute_error"]
    assert error.value == pytest.approx(error.chance, rel=0.03)
    order = next(read_order(train, test, 0))
    readings = [position["nearest", "exact"], position["nearest", f"within_{NEAR}"], order]
    readings += list(read_word(train, words, test, test_words, RNG(5).normal(size=(WORDS, 8))))
    for reading in readings:
        p, n = max(reading.chance, 1 / WORDS if reading.target == "word" else 0), len(reading.part)
        assert abs(reading.value - reading.chance) < 4 * np.sqrt(p * (1 - p) / n) + 0.02, reading.measure


def test_position_is_counted_as_scikit_learn_counts() -> None:
    (train, _), (test, _) = states(40, 6, noise=2.0), states(15, 7, noise=2.0)
    x, y = train.reshape(-1, DIM), np.tile(np.arange(SLOTS), len(train)).astype(float)
    told, truth = ridge(x, y).predict(test.reshape(-1, DIM)), np.tile(np.arange(SLOTS), len(test))
    found = by_name(read_position(train, test))
    assert found["ridge", "r2"].value == pytest.approx(r2_score(truth, told))
    assert found["ridge", "mean_absolute_error"].value == pytest.approx(mean_absolute_error(truth, told))
    nearest = cdist(test.reshape(-1, DIM), train.mean(0)).argmin(1)
    assert found["nearest", "exact"].value == pytest.approx((nearest == truth).mean())
    assert found["nearest", f"within_{NEAR}"].value == pytest.approx((abs(nearest - truth) <= NEAR).mean())
    guesses = RNG(0).integers(SLOTS, size=(2, 200_000))
    within = (abs(guesses[0] - guesses[1]) <= NEAR).mean()
    assert found["nearest", f"within_{NEAR}"].chance == pytest.approx(within, abs=0.005)
    middle = abs(np.arange(SLOTS) - (SLOTS - 1) / 2).mean()
    assert found["ridge", "mean_absolute_error"].chance == pytest.approx(middle)


def test_discriminants_are_as_right_as_they_can_be_where_the_nearest_mean_is_not() -> None:
    """Two slots whose states differ by little along a quiet direction, beside a loud one: the chances are known.

    With a common covariance S and means D apart, discriminants are right with the chance Phi(sqrt(D' S^-1 D) / 2), and
    the nearest mean with Phi(D'D / (2 sqrt(D' S D))).
    """
    covariance = np.diag([25.0, 0.04, 1.0])
    apart = np.array([0.6, 0.6, 0.0])
    rng = RNG(11)
    noise = rng.multivariate_normal(np.zeros(3), covariance, size=(6_000, 2))
    hidden = noise + np.array([0, 1])[None, :, None] * apart
    found = by_name(read_position(hidden[:4_000], hidden[4_000:]))
    phi = scipy.stats.norm.cdf
    best = phi(np.sqrt(apart @ np.linalg.inv(covariance) @ apart) / 2)
    plain = phi(apart @ apart / (2 * np.sqrt(apart @ covariance @ apart)))
    assert best > 0.9 > 0.6 > plain
    error = 4 * np.sqrt(0.25 / 4_000)
    assert found["discriminant", "exact"].value == pytest.approx(best, abs=error)
    assert found["nearest", "exact"].value == pytest.approx(plain, abs=error)
    # The covariance of all states holds the distance of the means too, along which it is larger: no harm for two slots.
    assert found["whitened", "exact"].value == pytest.approx(best, abs=error)


def test_whitening_measures_distances_by_the_covariance_of_all_states() -> None:
    (train, _), (test, _) = states(40, 6, noise=2.0), states(15, 7, noise=2.0)
    x = train.reshape(-1, DIM)
    inverse = np.linalg.inv(np.cov(x, rowvar=False))
    nearest = cdist(test.reshape(-1, DIM), train.mean(0), "mahalanobis", VI=inverse).argmin(1)
    found = by_name(read_position(train, test))
    truth = np.tile(np.arange(SLOTS), len(test))
    assert found["whitened", "exact"].value == pytest.approx((nearest == truth).mean())


def test_words_are_those_seen_often_and_chance_is_the_most_frequent() -> None:
    (train, words), (test, test_words) = states(30, 8), states(10, 9)
    words[words == 5] = 0
    words[0, : OFTEN - 1] = 5  # Seen, but not often enough to be a candidate.
    found = by_name(read_word(train, words, test, test_words, np.eye(WORDS)))
    asked = test_words.ravel()[test_words.ravel() != 5]
    for reading in found.values():
        assert len(reading.part) == len(asked)
        assert reading.chance == pytest.approx((asked == 0).mean())
    means = np.stack([train[words == word].mean(0) for word in range(5)])
    expected = cdist(test[test_words != 5], means).argmin(1) == test_words[test_words != 5]
    assert found["nearest", "top1"].value == pytest.approx(expected.mean())


def test_pairs_are_of_two_tokens_of_one_window_in_either_order() -> None:
    marked = np.zeros((3, SLOTS, 2))
    marked[..., 0], marked[..., 1] = np.arange(3)[:, None], np.arange(SLOTS)
    differences, first, window = _pairs(marked, RNG(0))
    assert not differences[:, 0].any()
    assert differences[:, 1].all()
    assert np.array_equal(first, differences[:, 1] < 0)
    assert 0.4 < first.mean() < 0.6
    assert set(window) == {0, 1, 2}


def test_swapping_two_tokens_swaps_the_answer() -> None:
    x = RNG(0).normal(size=(200, 4))
    decoder = logistic(x, x[:, 0] < 0)
    assert np.array_equal(decoder.predict(x), ~decoder.predict(-x))


def test_intervals_are_scipys_over_windows() -> None:
    rng = RNG(11)
    window = np.repeat(np.arange(30), 8)
    reading = hits("t", "d", "m", rng.random(240) < rng.random(30)[window], window, 0.0)
    part = np.bincount(window, reading.part)
    expected = scipy.stats.bootstrap(
        (part, np.full(30, 8)), lambda a, b, axis: a.sum(axis) / b.sum(axis),
        paired=True, vectorized=True, method="percentile", n_resamples=20_000, rng=0,
    ).confidence_interval  # fmt: skip
    assert reading.interval(0) == pytest.approx((expected.low, expected.high), abs=0.01)
    # A bootstrap over tokens would be too sure.
    tokens = 1.96 * np.sqrt(reading.value * (1 - reading.value) / 240)
    assert reading.interval(0)[1] - reading.interval(0)[0] > 2 * tokens


def test_no_article_is_on_both_sides() -> None:
    article = RNG(0).integers(9, size=60)
    out = held_out_windows(FramedWindows(np.zeros((60, 4), dtype=np.int64), article, np.ones(4, dtype=bool)))
    assert set(article[out]).isdisjoint(article[~out])
    assert len(set(article[out])) == 3


def test_a_model_is_decoded_at_every_depth_and_stored(data: Path, tmp_path: Path) -> None:
    loaded = load(resolve(str(save_tiny(tmp_path / "model"))), device="cpu")
    texts = [LONG[start : start + 300] for start in range(0, 1200, 300)]
    cut = windows(loaded.tokenizer, texts, 12, 18)
    found = states_of(loaded, cut)
    assert [layer.shape for layer in found] == [(18, 10, 32)] * 3
    decode(loaded, cut, "made up", found, called="tiny")
    store_build.refresh()
    rows = read.query("SELECT * FROM newest_decoding")
    assert set(rows.model) == {"tiny"}
    assert set(rows.layer) == {0, 1, 2}
    assert len(rows) == 3 * 11
    assert (rows.low <= rows.value).all()
    assert (rows.value <= rows.high).all()
    assert "FOLDER" in rows.command[0]
    assert str(tmp_path) not in rows.command[0]
