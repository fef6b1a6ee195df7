"""Proves that the measures of geometry find what is known: scipy, brute force, golden values, tables made to order."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import linalg, spatial, special, stats
from specimens import embedded_loaded
from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

import analysis.measurements.geometry.measures
import analysis.measurements.geometry.run
from analysis.measurements.geometry import random
from analysis.measurements.geometry.measure import MEASURES, NEEDS, Options
from analysis.measurements.geometry.measures import (
    collisions,
    cosines,
    heads,
    nearest,
    order,
    shifts,
    spectra,
    subspaces,
)
from analysis.measurements.geometry.model_vectors import LayerProjections, ModelVectors, States, axes

DEBUG = Options.debug()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def held(rng, vocabulary=60, positions=48, dim=24, **changes):
    """Everything a measure may need, drawn at random."""
    word, position = rng.normal(size=(vocabulary, dim)), 0.3 * rng.normal(size=(positions, dim))
    layer = LayerProjections(
        layer=0,
        query=rng.normal(size=(2, dim, 6)),
        key=rng.normal(size=(2, dim, 6)),
        word=word,
        position=position[rng.integers(positions, size=vocabulary)],
    )
    whole = ModelVectors(
        word=word,
        tokens=[f"w{i}" for i in range(vocabulary)],
        position=position,
        added=True,
        word_position_range=(1, positions - 1),
        states=[States(layer=2, position=position, rest=word)],
        heads=[layer],
    )
    return replace(whole, **changes)


# The contract ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_gives_what_it_says_and_is_documented(name, rng):
    entry = MEASURES[name]
    found = entry.run(held(rng), DEBUG)
    assert {row.measure for row in found.rows} == set(entry.gives)
    for row in found.rows:
        assert f"- {row.measure} [" in analysis.measurements.geometry.__doc__
        assert np.isfinite(row.value)
        for low, middle, high in ((row.low, row.value, row.high), (row.baseline_low, row.baseline, row.baseline_high)):
            if low is not None:
                assert low - 1e-9 <= middle <= high + 1e-9, row
    keys = [(row.measure, row.subject, row.layer, row.head, row.along) for row in found.rows]
    assert len(keys) == len(set(keys)), "one number a place"
    again = entry.run(held(np.random.default_rng(0)), DEBUG)
    assert [row.value for row in again.rows] == pytest.approx([row.value for row in found.rows])
    assert set(entry.needs) <= set(NEEDS)


def test_what_a_model_lacks_is_said_measure_by_measure(rng):
    found, missing = analysis.measurements.geometry.run.measure_geometry(
        held(rng, position=None, heads=[], states=[]), DEBUG
    )
    assert missing["subspaces"] == NEEDS["sum"]
    assert missing["order"] == NEEDS["position"]
    assert missing["heads"] == NEEDS["heads"]
    assert {row.subject for row in found.rows} == {"word", "word_centred", "random"}


def value(found, measure, subject=None, along=None, layer=None):
    rows = [r for r in found.rows if r.measure == measure and subject in (None, r.subject)]
    rows = [r for r in rows if along in (None, r.along) and layer in (None, r.layer)]
    assert len(rows) == 1, rows
    return rows[0]


# Random vectors --------------------------------------------------------------------------------------


def test_gaussian_energies_are_those_of_drawn_tables(rng):
    ours = random.gaussian_energies(300, 12, 1.0, 400, rng)
    drawn = [linalg.svdvals(rng.normal(size=(300, 12))) ** 2 for _ in range(400)]
    theirs = np.asarray([d / d.sum() for d in drawn])
    np.testing.assert_allclose(ours.sum(1), 1)
    np.testing.assert_allclose(ours.mean(0), theirs.mean(0), rtol=0.02)
    assert stats.ks_2samp(ours[:, 0], theirs[:, 0]).pvalue > 1e-3


def test_expected_cosine_is_methods_formula_and_its_distributions_mean():
    assert random.expected_abs_cosine(2) == pytest.approx(2 / np.pi)
    assert random.expected_abs_cosine(3) == pytest.approx(0.5)
    exact = special.gamma(8) / (np.sqrt(np.pi) * special.gamma(8.5))
    assert random.expected_abs_cosine(16) == pytest.approx(exact)
    assert np.sqrt(2 / (np.pi * 384)) / random.expected_abs_cosine(384) == pytest.approx(1 - 0.0006, abs=1e-4)
    edges = np.linspace(-1, 1, 20_001)
    assert np.abs((edges[1:] + edges[:-1]) / 2) @ random.cosine_shares(edges, 16) == pytest.approx(exact, rel=1e-4)
    assert random.cosine_shares(np.array([-1, 0, 1.0]), 7) == pytest.approx([0.5, 0.5])


def test_directions_keep_lengths_and_rotations_distances(rng):
    np.testing.assert_allclose(np.linalg.norm(random.directions(np.array([1.0, 3.0]), 9, rng), axis=1), [1, 3])
    turn = random.rotation(9, rng)
    np.testing.assert_allclose(turn @ turn.T, np.eye(9), atol=1e-12)


# Shifts ----------------------------------------------------------------------------------------------


def test_a_shift_of_sinusoids_is_linear_and_of_shuffled_rows_it_is_not():
    weights = torch.zeros(128, 32)
    create_sinusoidal_embeddings(n_pos=128, dim=32, out=weights)
    table = weights.double().numpy()
    for row in shifts.shifts(ModelVectors(position=table), DEBUG).rows:
        assert row.value == pytest.approx(1, abs=1e-6)
        assert row.baseline_high is not None
        assert row.baseline_high < 0.2
        assert row.samples == 128 - row.along
    assert not shifts.shifts(ModelVectors(position=np.ones((128, 32))), DEBUG).rows
    assert [row.along for row in shifts.shifts(ModelVectors(position=table[:12]), DEBUG).rows] == [1]


# Spectra ---------------------------------------------------------------------------------------------


def test_golden_ranks_of_the_embedded_model():
    """Method, section 7: effective rank 276 and 14; the top 20 directions hold 20 % and 98 %."""
    tables = embedded_loaded().model.embeddings
    for table, rank, top in ((tables.word_embeddings, 276, 0.20), (tables.position_embeddings, 14, 0.98)):
        weight = table.weight.detach().double().numpy()
        energies = axes(weight - weight.mean(0))[0]
        assert spectra.effective_rank(energies) == pytest.approx(rank, abs=0.5)
        assert energies[:20].sum() / energies.sum() == pytest.approx(top, abs=0.005)


def test_ranks_of_known_spectra(rng):
    for rank in spectra.RANKS.values():
        assert rank(np.array([2.0, 2, 2, 0, 0])) == pytest.approx(3)
        assert rank(np.array([5.0, 0, 0])) == pytest.approx(1)
    assert spectra.effective_rank(np.array([3.0, 1, 1])) == pytest.approx(np.exp(stats.entropy([3, 1, 1])))
    table = rng.normal(size=(30, 9))
    found = spectra.spectra(ModelVectors(position=table), DEBUG)
    own = [row.value for row in found.rows if row.measure == "singular_value" and row.subject == "position"]
    np.testing.assert_allclose(own, linalg.svdvals(table), rtol=1e-7)
    assert value(found, "stable_rank", "position").value == pytest.approx(
        linalg.norm(table) ** 2 / linalg.norm(table, 2) ** 2
    )


# Subspaces -------------------------------------------------------------------------------------------


def test_principal_angles_are_scipys(rng):
    a, b = (linalg.orth(rng.normal(size=(24, 5))) for _ in range(2))
    ours = np.arccos(subspaces.cosines(a, b))
    np.testing.assert_allclose(ours, np.sort(linalg.subspace_angles(a, b)), atol=1e-9)
    whole = held(rng)
    found = subspaces.subspaces(whole, DEBUG)
    word, position = (axes(t - t.mean(0))[1][:, :5] for t in (whole.word, whole.position[1:-1]))
    theirs = linalg.subspace_angles(word, position)
    assert value(found, "smallest_angle", "centred", 5).value == pytest.approx(np.degrees(theirs.min()))
    assert value(found, "subspace_overlap", "centred", 5).value == pytest.approx((np.cos(theirs) ** 2).mean())


def test_tables_on_axes_of_their_own_are_orthogonal_and_one_table_is_not(rng):
    word, position = np.zeros((60, 24)), np.zeros((48, 24))
    word[:, :12], position[:, 12:] = rng.normal(size=(60, 12)), rng.normal(size=(48, 12))
    apart = subspaces.subspaces(held(rng, word=word, position=position), DEBUG)
    assert value(apart, "word_energy_in_position", "raw", 10).value == pytest.approx(0, abs=1e-12)
    assert value(apart, "smallest_angle", "raw", 10).value == pytest.approx(90)
    same = subspaces.subspaces(held(rng, position=word[:48] + 0, word_position_range=(0, 48)), DEBUG)
    assert value(same, "word_energy_in_position", "raw", 10).baseline == pytest.approx(10 / 24, abs=0.1)
    only = ModelVectors(word=word, position=word, added=True, word_position_range=(0, 60))
    both = subspaces.subspaces(only, DEBUG)
    assert value(both, "subspace_overlap", "raw", 5).value == pytest.approx(1)
    assert value(both, "smallest_angle", "raw", 5).value == pytest.approx(0, abs=1e-5)


def test_a_vocabulary_of_few_words_is_measured_at_every_rank_of_the_positions(rng):
    """Eight words span seven directions; their energy in 20 of the positions' is NumPy's projection all the same."""
    word, position = rng.normal(size=(8, 60)), rng.normal(size=(48, 60))
    found = subspaces.subspaces(held(rng, word=word, position=position), DEBUG)
    about, along = (table - table.mean(0) for table in (word, position[1:-1]))
    basis = np.linalg.svd(along, full_matrices=False)[2][:20]
    expected = np.linalg.norm(about @ basis.T) ** 2 / np.linalg.norm(about) ** 2
    assert value(found, "word_energy_in_position", "centred", 20).value == pytest.approx(expected)
    ranks = {name: {row.along for row in found.rows if row.measure == name} for name in subspaces.GIVES}
    assert max(ranks["position_energy_in_word"]) == max(ranks["subspace_overlap"]) == 5


def test_words_kept_out_of_positions_dimensions_are_anticorrelated(rng):
    strength = np.linspace(0.1, 2, 24)
    word, position = rng.normal(size=(500, 24)) * strength, rng.normal(size=(500, 24)) * strength[::-1]
    found = MEASURES["dimensions"].run(
        ModelVectors(word=word, position=position, added=True, word_position_range=(0, 500)), DEBUG
    )
    row = value(found, "dimension_correlation", "centred")
    expected = stats.spearmanr(((word - word.mean(0)) ** 2).sum(0), ((position - position.mean(0)) ** 2).sum(0))
    assert row.value == pytest.approx(expected.statistic)
    assert row.high < row.baseline_low < 0 < row.baseline_high


def test_cosines_are_scipys(rng):
    whole = held(rng)
    found = cosines.cosines(whole, DEBUG)
    expected = 1 - spatial.distance.cdist(whole.word, whole.position[1:-1], "cosine")
    assert value(found, "abs_cosine", "word_position", 24).value == pytest.approx(np.abs(expected).mean())
    shares = [row.value for row in found.rows if row.measure == "cosine_histogram" and row.subject == "word_position"]
    np.testing.assert_allclose(shares, np.histogram(expected, cosines.EDGES)[0] / expected.size)


# Heads -----------------------------------------------------------------------------------------------


def test_directions_are_the_singular_value_decomposition(rng):
    query, key = rng.normal(size=(2, 24, 6))
    a, s, b = heads.directions(query, key)
    np.testing.assert_allclose(a * s @ b.T, query @ key.T, atol=1e-10)
    np.testing.assert_allclose(s, linalg.svdvals(query @ key.T)[:6])


def test_power_and_loss_are_those_of_scores_computed_one_by_one(rng):
    query, key = rng.normal(size=(2, 24, 6))
    inputs = rng.normal(size=(40, 24)) + 1
    a, s, b = heads.directions(query, key)
    use = heads.Use(a, s, b, heads.moments(inputs))
    scores = inputs @ query @ key.T @ (inputs - inputs.mean(0)).T
    assert use.power(np.ones(6, dtype=bool)) == pytest.approx((scores**2).mean())
    removed = np.array([True, False, True, False, False, False])
    left = inputs @ (a[:, ~removed] * s[~removed]) @ b[:, ~removed].T @ (inputs - inputs.mean(0)).T
    assert use.lost(removed) == pytest.approx(1 - (left**2).mean() / (scores**2).mean())


def test_a_head_whose_directions_are_divided_has_no_overlap_and_loses_nothing(rng):
    word, position = np.zeros((2, 80, 12))
    word[:, :6], position[:, 6:] = rng.normal(size=(80, 6)), rng.normal(size=(80, 6))
    word, position = word - word.mean(0), position - position.mean(0)
    whole = LayerProjections(
        layer=0, query=np.eye(12)[None], key=np.diag(np.arange(1.0, 13))[None], word=word, position=position
    )
    apart = heads.heads(ModelVectors(heads=[whole]), DEBUG)
    assert value(apart, "head_overlap").value == pytest.approx(0, abs=1e-12)
    assert value(apart, "head_loss", "word_without_position").value == pytest.approx(0, abs=1e-12)
    assert value(apart, "head_overlap").baseline_low > 0.3
    shared = heads.heads(ModelVectors(heads=[replace(whole, position=word)]), DEBUG)
    assert value(shared, "head_overlap").value == pytest.approx(1)
    assert value(shared, "head_loss", "position_without_word").value > 0.85


# Words -----------------------------------------------------------------------------------------------


def test_a_word_becomes_another_where_it_should():
    """river (0, 0) and bank (1, 0): a position of 0.6 along their line turns one into the other; 0.4 does not."""
    word = np.array([[0.0, 0], [1, 0], [0, 9]])
    position = np.array([[0.0, 0.1], [0.4, 0], [0.6, 0], [-0.6, 0]])
    whole = ModelVectors(
        word=word, tokens=["river", "bank", "far"], position=position, added=True, word_position_range=(0, 4)
    )
    found = nearest.nearest(whole, DEBUG)
    kept = [row.value for row in found.rows if row.measure == "word_kept" and row.subject == "raw"]
    assert kept == pytest.approx([1, 1, 2 / 3, 2 / 3])
    assert value(found, "word_kept_everywhere", "raw").value == pytest.approx(1 / 3)
    changed = {(c.word, c.position, c.other_word): c for c in found.cases if c.measure == "changed_word"}
    assert set(changed) == {("river", 2, "bank"), ("bank", 3, "river")}
    case = changed["river", 2, "bank"]
    assert (case.distance, case.margin) == pytest.approx((0.4, -0.2))
    closest = {c.word: c.position for c in found.cases if c.measure == "nearest_word"}
    assert closest["river"] == 2


def test_nearest_words_are_those_of_a_tree(rng):
    whole = held(rng, position=3 * rng.normal(size=(48, 24)))
    found = nearest.nearest(whole, replace(DEBUG, words=60))
    tree = spatial.KDTree(whole.word)
    for place in (0, 5, 47):
        told = tree.query(whole.word + whole.position[place])[1]
        kept = (told == np.arange(60)).mean()
        assert 0 < kept < 1
        assert value(found, "word_kept", "raw", place).value == pytest.approx(kept)


def test_collisions_are_those_of_brute_force(rng):
    words, positions = rng.normal(size=(9, 4)), rng.normal(size=(7, 4))
    every = [
        (np.linalg.norm(words[a] + positions[i] - words[b] - positions[j]), a, i, b, j)
        for a, b in itertools.combinations(range(9), 2)
        for i, j in itertools.permutations(range(7), 2)
    ]
    best: dict = {}
    for distance, a, i, b, j in sorted(every):
        best.setdefault((a, b), (distance, i, j))
    pairs = collisions.nearest_pairs(words, np.arange(9), 36)
    assert len(pairs.a) == 36
    found = collisions.nearest_sums(words, positions, pairs, 10)
    assert [(c.a, c.b) for c in found] == list(best)[:10]
    for c in found:
        assert (c.distance, c.i, c.j) == pytest.approx(best[c.a, c.b])


def test_nearest_pairs_are_the_nearest(rng):
    words = rng.normal(size=(50, 6))
    apart = np.sort(spatial.distance.pdist(words))[:20]
    np.testing.assert_allclose(collisions.nearest_pairs(words, np.arange(50), 20).distance, apart)
    few = collisions.nearest_pairs(words, np.array([3, 7]), 5)
    theirs = np.sort(spatial.distance.cdist(words[[3, 7]], words).ravel())
    assert few.distance[0] == pytest.approx(theirs[2]), "the first two are the words themselves"


def test_no_pair_that_may_come_near_is_left_out(rng):
    """Far words meet where positions are far apart along few directions: the nearest pairs of words miss them."""
    words = rng.normal(size=(120, 24))
    positions = 6 * rng.normal(size=(16, 3)) @ rng.normal(size=(3, 24)) + 0.05 * rng.normal(size=(16, 24))
    best = {}
    for a, b in itertools.combinations(range(120), 2):
        sums = spatial.distance.cdist(words[a] + positions, words[b] + positions)
        np.fill_diagonal(sums, np.inf)
        best[a, b] = sums.min()
    order = sorted(best, key=best.get)
    first = np.arange(120)
    few = collisions.nearest_pairs(words, first, 200)
    options = replace(DEBUG, pairs=200)
    found, count, complete = collisions.search_nearest_sums(words, positions, first, few, options)
    assert complete
    assert 200 < count < len(best)
    assert [(c.a, c.b) for c in found] == order[: len(found)]
    alone = collisions.nearest_sums(words, positions, few, 5)
    assert alone[0].distance > found[0].distance, "the nearest pairs of words alone do not hold the answer"
    _, count, complete = collisions.search_nearest_sums(
        words, positions, first, few, replace(options, work=16**2 * 210)
    )
    assert (count, complete) == (200, False)


def test_a_planted_collision_is_found(rng):
    whole = held(rng)
    position = whole.position.copy()
    position[5] = position[9] + whole.word[11] - whole.word[4] + 1e-3
    found = collisions.collisions(replace(whole, position=position), replace(DEBUG, words=60, pairs=2_000))
    case = found.cases[0]
    assert {(case.word, case.position), (case.other_word, case.other_position)} == {("w4", 5), ("w11", 9)}
    assert case.distance == pytest.approx(1e-3 * 24**0.5)
    assert case.margin > 0.1


# Position tables -------------------------------------------------------------------------------------


def test_probes_read_what_is_there_and_nothing_from_noise(rng):
    line = np.outer(np.arange(60.0), rng.normal(size=8)) + 0.1 * rng.normal(size=(60, 8))
    assert order.absolute(line, 0).value < 1
    assert order.relative(line, 0).value > 0.95
    noise = rng.normal(size=(60, 8))
    assert order.absolute(noise, 0).value > 10
    assert order.relative(noise, 0).value < 0.75


def test_folds_never_meet():
    folds = order._folds(53, 0)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(53))
    for train, test in folds:
        assert not set(train) & set(test)
        assert len(train) + len(test) == 53


def test_the_sum_of_tables_far_apart_is_read_back(rng):
    word, position = np.zeros((60, 24)), np.zeros((48, 24))
    word[:, :12], position[:, 12:] = 10 * rng.normal(size=(60, 12)), 10 * rng.normal(size=(48, 12))
    found = MEASURES["decoded"].run(held(rng, word=word, position=position), DEBUG)
    assert value(found, "decoded", "word_nearest_top1").value > 0.9
    blind = MEASURES["decoded"].run(held(rng, word=word, position=0 * position), DEBUG)
    row = value(blind, "decoded", "position_nearest_exact")
    assert row.value < 5 * row.baseline
