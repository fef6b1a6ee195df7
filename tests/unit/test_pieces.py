"""Pieces of words against whole words: told apart as the tokenizers library groups tokens into words, and compared so
that a cost which only the frequency of a token explains leaves no difference.

The references are tokenizers' own word numbers, transformers' models run by hand, and costs of a known form.
"""

from copy import deepcopy

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from analysis.core import default_model
from analysis.core.errors import InterventionError, TextError
from analysis.measurements.means.windows import FramedWindows
from analysis.measurements.pieces.comparison import (
    AS_FREQUENT,
    PIECES,
    WORDS,
    TokenClasses,
    compared,
    token_classes,
)
from analysis.measurements.pieces.measure import LOSS, loss_rises, measure_pieces, state_changes
from analysis.measurements.surgery.masked_words import masked_places
from analysis.models.load import load
from analysis.models.source import resolve
from analysis.store import files

TEXTS = (
    "Glaciers retreat upwards; meltwater undercuts moraines, and unbelievably old permafrost thaws in 1998.",
    "The photographer's daguerreotypes were microscopically sharp, which astonished the academicians of Paris.",
)


@pytest.fixture(scope="module")
def minilm():
    return load(resolve(default_model.NAME, None))


@pytest.fixture(scope="module")
def encoder():
    return load(resolve("cpu-bert_a-0"), head=True)


def framed(tokenizer, length=20) -> FramedWindows:
    """The texts cut to one length, special tokens at both ends."""
    ids = np.asarray([tokenizer(text, truncation=True, max_length=length)["input_ids"] for text in TEXTS])
    counted = np.ones(length, dtype=bool)
    counted[[0, -1]] = False
    return FramedWindows(ids, np.arange(len(ids)), counted)


def test_pieces_and_whole_words_are_those_of_the_tokenizers_library(minilm):
    tokenizer = minilm.tokenizer
    cut = framed(tokenizer)
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    classes = token_classes(cut.ids, cut.counted, names)
    seen = {PIECES: 0, WORDS: 0}
    for row, text in enumerate(TEXTS):
        numbers = tokenizer(text).word_ids()
        for place in range(1, cut.ids.shape[1] - 1):
            letters = names[cut.ids[row, place]].removeprefix("##").isalpha()
            later = numbers[place] == numbers[place - 1]
            alone = not later and numbers[place] != numbers[place + 1]
            assert classes.pieces[row, place] == (later and letters), (row, place)
            if place < cut.ids.shape[1] - 2:
                assert classes.words[row, place] == (alone and letters), (row, place)
            seen[PIECES] += later
            seen[WORDS] += alone
        assert not classes.words[row, -2]  # The token after it is cut off.
    assert min(seen.values()) > 5


def test_a_vocabulary_without_marks_and_windows_without_pieces_are_refused():
    counted, ids = np.ones(3, dtype=bool), np.asarray([[0, 1, 1]])
    with pytest.raises(TextError, match="No token of this vocabulary begins with ##"):
        token_classes(ids, counted, ["a", "b"])
    with pytest.raises(TextError, match="hold no pieces of words"):
        token_classes(ids, counted, ["a", "b", "##c"])


def made_up(windows=40, length=60):
    """Windows of tokens with frequencies of a power law: even ids are whole words, odd ones pieces, which are rarer."""
    random = np.random.default_rng(5)
    share = 1 / np.arange(1, 81) * np.where(np.arange(80) % 2, 0.3, 1.0)
    ids = random.choice(80, (windows, length), p=share / share.sum())
    return ids, TokenClasses(pieces=ids % 2 == 1, words=ids % 2 == 0)


def test_a_cost_that_frequency_explains_leaves_no_difference_between_tokens_as_frequent():
    ids, classes = made_up()
    of_frequency = -np.floor(np.log2(np.bincount(ids.ravel())))[ids]
    rows = {row["tokens"]: row for row in compared(of_frequency, classes, ids, 0)}
    assert rows[WORDS]["difference_low"] > 0.5
    for name in ("difference", "difference_low", "difference_high"):
        assert rows[AS_FREQUENT][name] == pytest.approx(0, abs=1e-12)
    assert rows[PIECES]["difference"] is None
    more = {row["tokens"]: row for row in compared(of_frequency + 0.25 * classes.pieces, classes, ids, 0)}
    assert more[AS_FREQUENT]["difference"] == pytest.approx(0.25)
    assert more[PIECES]["value"] == pytest.approx(of_frequency[classes.pieces].mean() + 0.25)
    assert more[WORDS]["value"] == pytest.approx(of_frequency[classes.words].mean())


def test_tokens_that_were_not_measured_count_nowhere():
    ids, classes = made_up()
    random = np.random.default_rng(6)
    costs = random.normal(size=ids.shape)
    known = random.random(ids.shape) < 0.3
    rows = {row["tokens"]: row for row in compared(np.where(known, costs, np.nan), classes, ids, 0)}
    assert rows[PIECES]["count"] == (known & classes.pieces).sum()
    assert rows[WORDS]["value"] == pytest.approx(costs[known & classes.words].mean())
    assert rows[WORDS]["low"] < rows[WORDS]["value"] < rows[WORDS]["high"]


def without_positions(model):
    """A copy whose every position is the mean of the rows of its table."""
    changed = deepcopy(model)
    table = changed.base_model.embeddings.position_embeddings.weight
    with torch.no_grad():
        table[:] = table.double().mean(0).to(table.dtype)
    return changed


def test_changes_of_states_are_those_of_transformers_bert(minilm):
    cut = framed(minilm.tokenizer)
    ids = torch.from_numpy(cut.ids)
    with torch.no_grad():
        trained, changed = (
            model.base_model(input_ids=ids).last_hidden_state.double().numpy()
            for model in (minilm.model, without_positions(minilm.model))
        )
    states = trained[:, cut.counted].reshape(-1, trained.shape[-1])
    variation = ((states - states.mean(0)) ** 2).sum(1).mean()
    expected = ((trained - changed) ** 2).sum(-1) / variation
    assert state_changes(minilm, cut) == pytest.approx(expected, rel=1e-3)
    assert expected[:, cut.counted].min() > 0.01


def test_rises_of_the_loss_are_those_of_the_model_run_by_hand(encoder):
    cut = framed(encoder.tokenizer)
    places = masked_places(cut)
    ids = torch.from_numpy(cut.ids)
    masked = ids.clone()
    masked[np.arange(len(ids))[:, None], places] = encoder.tokenizer.mask_token_id
    with torch.no_grad():
        intact, without = (
            cross_entropy(model(input_ids=masked).logits.double().mT, ids, reduction="none").numpy()
            for model in (encoder.model, without_positions(encoder.model))
        )
    rises = loss_rises(encoder, cut)
    at = np.zeros(ids.shape, dtype=bool)
    np.put_along_axis(at, places, True, 1)
    assert rises[at] == pytest.approx((without - intact)[at], abs=1e-4)
    assert np.isnan(rises[~at]).all()


def test_a_results_file_has_both_measures_and_a_model_without_tables_is_refused(encoder, tmp_path, monkeypatch):
    beside = load(resolve("cpu-concat_20-0"), head=True)
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    _, table, run = files.read(measure_pieces(encoder, framed(encoder.tokenizer), "two texts", called="a name"))
    columns = table.to_pydict()
    assert columns["tokens"] == [PIECES, WORDS, AS_FREQUENT] * 2
    assert set(columns["measure"]) == {"state", LOSS}
    assert run["command"] == (
        "python -m analysis measure pieces --model FOLDER --called 'a name' --texts TEXT --corpus 'two texts' "
        "--length 20 --windows 2"
    )
    with pytest.raises(InterventionError, match="does not add a table of positions"):
        measure_pieces(beside, framed(beside.tokenizer), "two texts")
