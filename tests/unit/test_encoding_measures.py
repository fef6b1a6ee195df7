"""Proves that the measures find what is known: golden values, matrices made to order, scipy, brute force."""

import numpy as np
import pytest
from scipy import linalg, signal, stats

from analysis.core.errors import AddendError
from analysis.encodings import ENCODINGS, encode, measures

LENGTH = 40
DISTANCE = np.arange(LENGTH)[None, :] - np.arange(LENGTH)[:, None]
WITH_SHIFT = [name for name in ENCODINGS if ENCODINGS[name].make_shift]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# Movement --------------------------------------------------------------------------------------------


def test_golden_movement_of_the_timing_signal():
    """Method, section 7: 286 of 512 dimensions range over more than 0.5; the top 256 hold 98.4 % of the variance."""
    moved = measures.movement(encode("tensor2tensor", length=128, dim=512))
    assert moved.moving() == 286
    assert moved.top_share(256) == pytest.approx(0.984, abs=5e-4)
    assert measures.movement(encode("sinusoidal", length=128, dim=512)).moving() == 287  # the paper's form differs


def test_movement_of_known_columns():
    moved = measures.movement(np.array([[0.0, 5.0, 1.0], [2.0, 5.0, 1.5], [4.0, 5.0, 1.0]]))
    np.testing.assert_allclose(moved.range, [4, 0, 0.5])
    np.testing.assert_allclose(moved.sd, [np.sqrt(8 / 3), 0, np.sqrt(1 / 18)])
    assert (moved.moving(), moved.moving(0.4)) == (1, 2)
    assert moved.top_share(1) == pytest.approx(48 / 49)
    assert moved.top_share(3) == 1


# Similarity against distance -------------------------------------------------------------------------


def test_golden_first_rise_is_at_distance_44():
    assert measures.first_rise(ENCODINGS["sinusoidal"].similarity(128, 512)) == 44


def test_by_distance_reads_the_diagonals(rng):
    matrix = rng.normal(size=(LENGTH, LENGTH))
    profile = measures.by_distance(matrix)
    np.testing.assert_array_equal(profile.distance, np.arange(1 - LENGTH, LENGTH))
    for k, mean, sd, pairs in zip(*profile, strict=True):
        diagonal = np.diagonal(matrix, k)
        assert pairs == len(diagonal)
        np.testing.assert_allclose((mean, sd), (diagonal.mean(), diagonal.std()), atol=1e-12)
    folded = measures.by_distance(matrix, folded=True)
    both = np.concatenate([np.diagonal(matrix, 3), np.diagonal(matrix, -3)])
    assert (folded.distance[3], folded.pairs[3]) == (3, len(both))
    np.testing.assert_allclose((folded.mean[3], folded.sd[3]), (both.mean(), both.std()))


def test_by_distance_leaves_hidden_keys_out():
    profile = measures.by_distance(ENCODINGS["alibi"].similarity(LENGTH, 8))
    np.testing.assert_array_equal(profile.distance, np.arange(1 - LENGTH, 1))
    np.testing.assert_allclose(profile.mean, profile.distance / 2)
    np.testing.assert_allclose(profile.sd, 0, atol=1e-12)


def test_cosine_is_scaled_dot_product_and_undefined_for_zero_rows(rng):
    table = rng.normal(size=(6, 4))
    table[2] = 0
    cosines = measures.cosine(table)
    assert np.isnan(cosines[2]).all()
    assert np.isnan(cosines[:, 2]).all()
    expected = table[0] @ table[1] / np.sqrt((table[0] ** 2).sum() * (table[1] ** 2).sum())
    assert cosines[0, 1] == pytest.approx(expected, abs=1e-14)
    np.testing.assert_allclose(np.delete(np.diagonal(cosines), 2), 1)


# The three properties --------------------------------------------------------------------------------


def test_translation_invariance_of_matrices_made_to_order(rng):
    toeplitz = linalg.toeplitz(rng.normal(size=LENGTH), rng.normal(size=LENGTH))
    assert measures.translation_invariance(toeplitz) == pytest.approx(1)
    assert measures.translation_invariance(toeplitz + np.diag(rng.normal(size=LENGTH))) == pytest.approx(1)
    noise = np.mean([measures.translation_invariance(rng.normal(size=(LENGTH, LENGTH))) for _ in range(50)])
    assert noise == pytest.approx(2 / LENGTH, rel=0.1)
    # one-way analysis of variance gives the same share: F = (eta2 / between) / ((1 - eta2) / within)
    mixed = toeplitz + rng.normal(size=(LENGTH, LENGTH))
    groups = [np.diagonal(mixed, k) for k in range(1 - LENGTH, LENGTH) if k]
    between, within = len(groups) - 1, LENGTH * (LENGTH - 1) - len(groups)
    f = stats.f_oneway(*groups).statistic * between / within
    assert measures.translation_invariance(mixed) == pytest.approx(f / (1 + f))


def test_monotonicity_of_matrices_made_to_order(rng):
    away = np.abs(DISTANCE).astype(float)
    assert measures.monotonicity(-away) == 1
    assert measures.monotonicity(away) == 0
    assert measures.monotonicity(np.where(away > 0, 0.0, 1.0) + np.where(DISTANCE > 0, -away, away)) == 0.5
    assert measures.monotonicity(rng.normal(size=(200, 200))) == pytest.approx(0.5, abs=0.03)


def test_monotonicity_is_somers_d_of_each_side(rng):
    matrix = np.round(-np.abs(DISTANCE) + 8 * rng.normal(size=(LENGTH, LENGTH)))  # rounded: with ties
    balance = comparisons = 0.0
    for query in range(LENGTH):
        for side in (matrix[query, :query][::-1], matrix[query, query + 1 :]):
            pairs = len(side) * (len(side) - 1) / 2
            if pairs:  # Somers' d, similarity given nearness: concordant less discordant; NaN if all are tied
                balance += pairs * np.nan_to_num(stats.somersd(-np.arange(len(side)), side).statistic)
                comparisons += pairs
    assert measures.monotonicity(matrix) == pytest.approx(0.5 + 0.5 * balance / comparisons)


def test_monotonicity_of_long_texts_looks_at_fewer_queries():
    assert measures.monotonicity(ENCODINGS["alibi"].similarity(300, 8)) == 1


def test_first_rise_of_matrices_made_to_order():
    away = np.abs(DISTANCE)
    assert measures.first_rise(-away.astype(float)) == np.inf
    assert measures.first_rise(away.astype(float)) == 1
    assert measures.first_rise(np.cos(2 * np.pi * away / 16)) == 9
    assert measures.first_rise(-np.minimum(away, 5.0)) == np.inf, "level is not rising"


def test_symmetry_of_matrices_made_to_order(rng):
    noise = rng.normal(size=(LENGTH, LENGTH))
    assert measures.symmetry(noise + noise.T) == pytest.approx(1)
    assert measures.symmetry(noise - noise.T + 3 + 50 * np.eye(LENGTH)) == pytest.approx(0, abs=1e-12)
    assert measures.symmetry(noise) == pytest.approx(0.5, abs=0.05)
    assert np.isnan(measures.symmetry(ENCODINGS["alibi"].similarity(LENGTH, 8)))
    assert measures.symmetry(ENCODINGS["alibi"].similarity(LENGTH, 8, symmetric=True)) == 1


# Shifts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITH_SHIFT)
@pytest.mark.parametrize("k", [1, 17])
def test_golden_shift_residual(name, k):
    """Method, section 5: 5e-14. A matrix that is off anywhere is off by far more."""
    assert 0 < measures.shift_residual(ENCODINGS[name], length=512, dim=512, k=k) < 1e-13


@pytest.mark.parametrize("name", WITH_SHIFT)
def test_shift_matrices_are_rotations_that_compose(name):
    encoding = ENCODINGS[name]
    three, back = encoding.shift(3, 32), encoding.shift(-3, 32)
    np.testing.assert_allclose(three @ back, np.eye(32), atol=1e-14)
    np.testing.assert_allclose(np.linalg.matrix_power(encoding.shift(1, 32), 3), three, atol=1e-14)
    assert np.abs(three - np.eye(32)).max() > 0.5


def test_shift_blocks_are_those_of_the_method():
    cos, sin = np.cos(5.0), np.sin(5.0)  # the fastest pair turns by one radian a position
    np.testing.assert_allclose(ENCODINGS["sinusoidal"].shift(5, 8)[:2, :2], [[cos, sin], [-sin, cos]])
    np.testing.assert_allclose(ENCODINGS["tensor2tensor"].shift(5, 8)[::4, ::4], [[cos, sin], [-sin, cos]])


def test_no_closed_form_says_what_to_do_instead():
    with pytest.raises(AddendError, match="no closed-form shift matrix for learned"):
        ENCODINGS["learned"].shift(1, 384)
    assert np.isnan(measures.shift_residual(ENCODINGS["learned"], length=8, dim=384))
    with pytest.raises(AddendError, match="k=8 is not from 1 to 7"):
        measures.shift_residual(ENCODINGS["sinusoidal"], length=8, dim=4, k=8)


def test_shift_r2_finds_linear_codes_and_no_others():
    turn = stats.ortho_group.rvs(12, random_state=0)
    orbit = np.array([np.linalg.matrix_power(turn, p) @ np.ones(12) for p in range(60)])
    assert measures.shift_r2(orbit) > 0.9999
    assert measures.shift_r2(encode("sinusoidal", length=128, dim=512), k=8) > 0.9999
    assert measures.shift_r2(encode("random_fixed", length=128, dim=100)) < 0.02


def test_shift_r2_is_not_fooled_by_interpolation():
    """Method, section 7: a map fitted on about as many positions as dimensions fits random vectors, too."""
    table = encode("random_fixed", length=128, dim=100)
    fitted = linalg.lstsq(table[:-1], table[1:])[0]
    error = ((table[:-1] @ fitted - table[1:]) ** 2).sum() / ((table[1:] - table[1:].mean(0)) ** 2).sum()
    assert 1 - error > 0.7
    assert measures.shift_r2(table) < 0.02


def test_a_trained_table_shifts_less_linearly_than_waves():
    table = encode("learned", length=128, dim=384)
    near, far = measures.shift_r2(table, k=1), measures.shift_r2(table, k=8)
    assert 0.4 < far < near < 0.95


def test_ridge_map_is_the_best_of_its_penalties_by_brute_force(rng):
    x, noise = rng.normal(size=(20, 6)), rng.normal(size=(20, 3))
    y = x @ rng.normal(size=(6, 3)) + noise
    penalties = (linalg.svdvals(x) ** 2).mean() * measures.PENALTIES

    def fit(rows, penalty):
        return linalg.solve(x[rows].T @ x[rows] + penalty * np.eye(6), x[rows].T @ y[rows])

    def left_out_error(penalty):
        rest = [np.delete(np.arange(20), i) for i in range(20)]
        return sum(((y[i] - x[i] @ fit(rows, penalty)) ** 2).sum() for i, rows in enumerate(rest))

    best = min(penalties, key=left_out_error)
    assert penalties[0] < best < penalties[-1], "neither end: the choice is exercised"
    np.testing.assert_allclose(measures._ridge_map(x, y), fit(np.arange(20), best), atol=1e-10)


@pytest.mark.parametrize(("length", "k"), [(10, 1), (40, 31), (40, 0), (40, -1)])
def test_shift_r2_refuses_too_few_pairs(length, k):
    with pytest.raises(AddendError, match=rf"k={k} at length {length}"):
        measures.shift_r2(np.ones((length, 4)), k=k)


# Frequencies -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [31, 32, 2, 3])
def test_spectrum_is_scipys_periodogram(length, rng):
    table = rng.normal(size=(length, 5)) + 10
    frequency, power = signal.periodogram(table, axis=0, detrend="constant")
    found = measures.spectrum(table)
    np.testing.assert_allclose(found.frequency, frequency[1:])
    np.testing.assert_allclose(found.power, power[1:] / power[1:].sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.mean(), found.power.mean(axis=1))


def test_spectrum_finds_a_wave():
    table = np.stack([np.cos(2 * np.pi * 5 * np.arange(64) / 64), np.full(64, 0.1)], axis=1)
    found = measures.spectrum(table)
    assert found.frequency[found.power[:, 0].argmax()] == 5 / 64
    assert found.power[:, 0].max() == pytest.approx(1)
    assert np.isnan(found.power[:, 1]).all(), "a constant has no frequencies"
    np.testing.assert_allclose(found.mean(), found.power[:, 0])


def test_spectrum_of_one_row_is_refused():
    with pytest.raises(AddendError, match="length 1 has no frequencies"):
        measures.spectrum(np.ones((1, 4)))


# Summary ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENCODINGS)
def test_summary_has_the_same_numbers_for_every_encoding(name):
    encoding = ENCODINGS[name]
    numbers = measures.summary(name, length=64, dim=encoding.nearest(64, 384)[1])
    assert numbers.keys() == measures.summary("none", length=1, dim=1).keys()
    assert all(type(value) is float for value in numbers.values())
    for share in ("top_half_share", "translation_invariance", "monotonicity", "symmetry"):
        assert np.isnan(numbers[share]) or -1e-12 <= numbers[share] <= 1 + 1e-12
    assert np.isnan(numbers["cosine_next"]) == (encoding.rows == "distance" or name == "none")
    assert np.isnan(numbers["shift_residual"]) == (name not in WITH_SHIFT)


def test_summary_of_no_positions_is_undefined_not_perfect():
    numbers = measures.summary("none", length=64, dim=8)
    defined = {name for name, value in numbers.items() if not np.isnan(value)}
    assert defined == {"range_mean", "range_largest", "sd_mean", "moving_dims"}
    assert all(numbers[name] == 0 for name in defined)


def test_summary_tells_order_from_chance():
    waves = measures.summary("sinusoidal", length=128, dim=512)
    chance = measures.summary("random_fixed", length=128, dim=512)
    assert waves["translation_invariance"] == pytest.approx(1)
    assert chance["translation_invariance"] == pytest.approx(2 / 128, rel=0.3)
    assert waves["monotonicity"] > 0.99
    assert chance["monotonicity"] == pytest.approx(0.5, abs=0.02)
    assert waves["cosine_next"] > 0.9 > 0.5 > waves["cosine_far"] > 0.4 > 0.1 > abs(chance["cosine_next"])
    assert waves["symmetry"] == pytest.approx(1)
    assert chance["symmetry"] == pytest.approx(1)
    assert waves["shift_r2_8"] > 0.9999
    assert chance["frequency_mean"] == pytest.approx(0.25, abs=0.01), "white noise"
