"""Surgery on a sentence encoder: its tables changed, its separated sum run as a concatenation, the table of results.

The references are transformers' own BERT in float64, scipy, and linear algebra done by numpy.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from concatenated_bert import ConcatenatedInput, concatenated_states
from scipy.special import logsumexp
from scipy.stats import spearmanr
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

from analysis.core import default_model
from analysis.core.errors import InterventionError, ModelError, TextError
from analysis.measurements.surgery import tables as surgery
from analysis.measurements.surgery.masked_words import masked_words
from analysis.measurements.surgery.measure import measure_surgery
from analysis.measurements.surgery.operations import operations
from analysis.measurements.surgery.similarity import SentencePairs, read_pairs, similarities, spearman
from analysis.models.load import load
from analysis.models.source import resolve
from analysis.store import files

WIDTH, RANK = 24, 5


@pytest.fixture(scope="module")
def bert() -> BertModel:
    """A BERT of random weights in float64; its norms have gains and offsets, so that nothing holds by their absence."""
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=50,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=32,
        max_position_embeddings=20,
    )
    model = BertModel(config).double().eval()
    with torch.no_grad():
        for value in model.parameters():
            value.add_(0.3 * torch.randn_like(value))
    return model


@pytest.fixture(scope="module")
def batch() -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(0, 50, (3, 9), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1, 6:] = 0
    return ids, mask


@pytest.mark.parametrize("rank", [1, RANK, 12])
def test_the_separated_sum_is_a_concatenation(bert, batch, rank):
    ids, mask = batch
    before = surgery.tables(bert)
    apart = surgery.separated(before, surgery.directions(before.positions, rank))
    with surgery.with_tables(bert, apart), torch.no_grad():
        expected = bert(input_ids=ids, attention_mask=mask).last_hidden_state
    got = concatenated_states(bert, rank, ids, mask)
    seen = mask.bool()
    assert (got - expected)[seen].abs().max() < 1e-10
    with torch.no_grad():
        own = bert(input_ids=ids, attention_mask=mask).last_hidden_state
    assert (got - own)[seen].abs().max() > 1e-3, "the surgery changes something"


def test_the_two_parts_of_the_concatenation_are_apart(bert, batch):
    """The first E - K dimensions are those of the word alone, the last K those of the position alone."""
    ids, _ = batch
    x = ConcatenatedInput(bert, RANK).concatenate(ids)
    assert x.shape == (*ids.shape, WIDTH)
    word, position = x[..., :-RANK], x[..., -RANK:]
    assert torch.equal(position, position[:1].expand_as(position))
    other = ConcatenatedInput(bert, RANK).concatenate(ids.flip(1))
    assert torch.equal(other[..., :-RANK], word.flip(1))
    assert position.std(1).min() > 0
    assert word.flatten(0, 1).std(0).min() > 0


def test_tables_come_back(bert):
    before = surgery.tables(bert)
    seen = []

    def fails() -> None:
        with surgery.with_tables(bert, surgery.no_position(before)):
            seen.append(bool(bert.embeddings.position_embeddings.weight.any()))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fails()
    assert seen == [False]
    after = surgery.tables(bert)
    assert torch.equal(after.positions, before.positions)
    assert torch.equal(after.words, before.words)


def test_what_the_changes_of_tables_are(bert):
    of = surgery.tables(bert)
    basis = surgery.directions(of.positions, RANK)
    _, _, right = np.linalg.svd((of.positions - of.positions.mean(0)).numpy(), full_matrices=False)
    torch.testing.assert_close(basis @ basis.T, torch.from_numpy(right[:RANK].T @ right[:RANK]))
    apart = surgery.separated(of, basis)
    words, positions = (table - table.mean(0) for table in (apart.words, apart.positions))
    assert (words @ basis).abs().max() < 1e-12
    assert (positions - positions @ basis @ basis.T).abs().max() < 1e-12
    for new, old in ((apart.words, of.words), (apart.positions, of.positions)):
        torch.testing.assert_close(new.mean(0), old.mean(0))
    alone = surgery.words_kept_out(of, basis)
    assert torch.equal(alone.words, apart.words)
    assert torch.equal(alone.positions, of.positions)
    waves = surgery.sinusoidal(of).positions
    torch.testing.assert_close((waves - waves.mean(0)).norm(), (of.positions - of.positions.mean(0)).norm())
    torch.testing.assert_close(waves.mean(0), of.positions.mean(0))
    moved = surgery.permuted(of, 4).positions
    assert not torch.equal(moved, of.positions)
    assert {tuple(row) for row in moved.tolist()} == {tuple(row) for row in of.positions.tolist()}
    drawn = surgery.random_directions(WIDTH, RANK, 0)
    torch.testing.assert_close(drawn.T @ drawn, torch.eye(RANK, dtype=torch.float64))
    assert not torch.allclose(drawn, surgery.random_directions(WIDTH, RANK, 1))


@pytest.mark.parametrize("count", [0, WIDTH + 1])
def test_directions_that_there_are_not(bert, count):
    with pytest.raises(InterventionError, match=f"{count} directions were asked for; expected 1 to {WIDTH}"):
        surgery.directions(surgery.tables(bert).positions, count)


def test_a_model_without_a_table_is_refused():
    from transformers import T5Config, T5EncoderModel

    model = T5EncoderModel(T5Config(vocab_size=20, d_model=16, d_kv=4, d_ff=8, num_layers=1, num_heads=4))
    with pytest.raises(InterventionError, match="T5EncoderModel does not add a table of positions"):
        surgery.tables(model)


def test_spearman_is_scipys():
    drawn = np.random.default_rng(0)
    a, b = drawn.normal(size=200), drawn.integers(0, 6, 200).astype(float)
    assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-14)


LONDON = "the city of london is on the river and was founded by the romans in the first century"
FIRST = ["A cat sat on the mat.", "Rain.", "The market fell sharply on Monday.", "Two dogs run across a field."]
SECOND = ["A cat is sitting.", "It is raining heavily today, as it was.", "Shares dropped.", "A man eats soup."]
# Every sentence of the first with every one of the second, as alike as they share words: labels of some kind.
PAIRS = SentencePairs(
    [one for one in FIRST for _ in SECOND],
    SECOND * len(FIRST),
    np.array([float(len(set(a.split()) & set(b.split()))) + 0.1 * i for i, a in enumerate(FIRST) for b in SECOND]),
)


@pytest.fixture(scope="module")
def minilm():
    return load(resolve(default_model.NAME, None))


def test_similarities_are_the_models_own(minilm):
    """As its card computes them: the mean of the last hidden states of the tokens, normalised; their cosine."""
    model = minilm.model.base_model
    vectors = []
    for sentence in FIRST + SECOND:
        with torch.no_grad():
            states = model(**minilm.tokenizer(sentence, return_tensors="pt")).last_hidden_state
        vectors.append(torch.nn.functional.normalize(states.mean(1)[0], dim=0))
    expected = [float(vectors[a] @ vectors[4 + b]) for a in range(4) for b in range(4)]
    assert similarities(minilm, PAIRS, operations()[0]) == pytest.approx(expected, abs=2e-5)


def test_a_table_of_results(minilm, tmp_path, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    wanted = [one for one in operations(ranks=(14,), controls=(5, 14), draws=1) if one.name != "permuted"]
    path = measure_surgery(minilm, PAIRS, chosen=wanted)
    _, table, run = files.read(path)
    columns = table.to_pydict()
    by = {(name, rank): at for at, (name, rank) in enumerate(zip(columns["operation"], columns["rank"], strict=True))}
    assert len(by) == len(wanted)
    intact = by["intact", None]
    assert columns["difference"][intact] == columns["difference_low"][intact] == columns["difference_high"][intact] == 0
    for at, value in enumerate(columns["value"]):
        assert columns["low"][at] <= value <= columns["high"][at]
        assert columns["difference"][at] == pytest.approx(value - columns["value"][intact])
    assert run["model"] == default_model.NAME
    assert run["revision"] == default_model.REVISION
    few = SentencePairs(PAIRS.first[:9], PAIRS.second[:9], PAIRS.label[:9])
    with pytest.raises(TextError, match="9 pairs of sentences were given; expected at least 10"):
        measure_surgery(minilm, few, chosen=wanted)
    with pytest.raises(ValueError, match="intact model must come first"):
        measure_surgery(minilm, PAIRS, chosen=wanted[1:])


@pytest.fixture(scope="module")
def encoder():
    return load(resolve("cpu-bert_a-0"), head=True)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    words = LONDON.split()
    random = np.random.default_rng(2)
    file = tmp_path_factory.mktemp("text") / "articles.txt"
    file.write_text("\n\n".join(" ".join(random.choice(words, 90)) for _ in range(14)), encoding="utf-8")
    return file


def test_losses_on_masked_words_are_the_models_own(encoder, text):
    task = masked_words(encoder, text, length=24, count=12)
    ids, expected = torch.from_numpy(task.windows.ids), []
    for window, places in zip(ids, task.places, strict=True):
        masked = window.clone()
        masked[places] = encoder.tokenizer.mask_token_id
        with torch.no_grad():
            logits = encoder.model(input_ids=masked[None]).logits[0].double().numpy()
        true = window.numpy()[places]
        expected.append(np.mean(logsumexp(logits[places], axis=1) - logits[places, true]))
    intact = operations()[0]
    values = task.values(encoder, intact)
    assert values == pytest.approx(expected, abs=1e-4)
    assert task.summary(values) == pytest.approx(np.mean(expected), abs=1e-4)
    frame = {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}
    assert not frame & set(np.take_along_axis(task.windows.ids, task.places, 1).ravel().tolist())


def test_a_table_of_losses(encoder, text, tmp_path, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    task = masked_words(encoder, text, length=24, count=12, corpus="romans")
    wanted = [one for one in operations(ranks=(14,), controls=(14,), draws=1) if one.name != "permuted"]
    _, table, run = files.read(measure_surgery(encoder, task, chosen=wanted, called="a name"))
    columns = table.to_pydict()
    assert set(columns["task"]) == {"masked_words"}
    assert run["command"] == (
        "python -m analysis measure surgery --model FOLDER --called 'a name' --texts romans --length 24 --windows 12"
    )
    by = dict(zip(columns["operation"], columns["value"], strict=True))
    assert by["no_position"] != by["intact"]
    assert by["no_cross"] != by["intact"]


def test_what_has_no_such_task_or_tables_is_refused(minilm, text):
    with pytest.raises(ModelError, match="has no head that predicts masked words"):
        masked_words(minilm, text, length=24, count=12)
    beside = load(resolve("cpu-concat_20-0"), head=True)
    with pytest.raises(InterventionError, match="does not add a table of positions"):
        masked_words(beside, text, length=24, count=12).values(beside, operations()[1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sentence1\tsentence2\na\tb\n", "has no column 'label'"),
        ("label\tsentence1\tsentence2\nhigh\ta\tb\n", "A label of .* is not a number .*high"),
        ("", "has no column"),
    ],
)
def test_a_file_that_is_no_stsb_is_refused(tmp_path: Path, text, said):
    path = tmp_path / "dev.tsv"
    path.write_text(text)
    with pytest.raises(TextError, match=said):
        read_pairs(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(TextError, match=r"There is no file .*dev\.tsv"):
        read_pairs(tmp_path / "dev.tsv")
    path = tmp_path / "quotes.tsv"
    path.write_text('label\tsentence1\tsentence2\n5.0\t"Yes" he said\tHe said "yes\n', encoding="utf-8")
    assert read_pairs(path).first == ['"Yes" he said']


def test_directions_that_texts_read_are_those_of_the_first_rows() -> None:
    """Rows that no text reads change nothing: words keep out of the subspace that SVD finds for the others."""
    rng = np.random.default_rng(0)
    words, read_rows = (torch.from_numpy(rng.normal(size=(count, 16))) for count in (40, 6))
    unread = torch.from_numpy(rng.normal(size=(30, 16)) * 50)
    operation = next(
        one for one in operations(ranks=(3,), read=6) if one.name == "separated_along_read" and one.rank == 3
    )
    assert operation.change is not None
    changed = operation.change(surgery.Tables(words, torch.cat([read_rows, unread])))
    basis = np.linalg.svd((read_rows - read_rows.mean(0)).numpy())[2][:3]
    inside = (changed.words - changed.words.mean(0)).numpy() @ basis.T
    np.testing.assert_allclose(inside, 0, atol=1e-12)


def test_positions_that_texts_read_are_counted_with_the_rows_before_them() -> None:
    """BERT's table begins with position 0, RoBERTa's with the row after its padding."""
    shape = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "intermediate_size": 8,
        "vocab_size": 9,
    }
    assert surgery.first_row(BertModel(BertConfig(**shape))) == 0
    assert surgery.first_row(RobertaModel(RobertaConfig(**shape, pad_token_id=1))) == 2
