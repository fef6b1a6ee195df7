"""Proves that fine-tuning learns what can be learnt and nothing else, and gives the same every time."""

import dataclasses
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

from analysis.ablation.glue import TASKS, Split, TaskData, metrics
from analysis.ablation.glue.finetune import FinetuneSettings, FineTuningDiverged, Outcome, finetune
from analysis.ablation.glue.tokens import tokenise
from analysis.ablation.optimise import groups, warm_up_and_decay
from analysis.core.errors import AddendError

WORDS = ["apple", "brick", "cloud", "drum", "eagle", "fern", "glass", "horn", "kite", "lamp", "moss", "oak"]
QUICK = FinetuneSettings(epochs=4, batch_size=16, learning_rate=2e-3, max_length=32)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def bert_tokenizer() -> Tokenizer:
    """WordPiece with BERT's template. Not trained: training numbers its pieces anew in each process."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    tokenizer = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", tokenizer.token_to_id("[SEP]")), ("[CLS]", tokenizer.token_to_id("[CLS]"))
    )
    return tokenizer


def tiny(outputs: int) -> BertForSequenceClassification:
    config = BertConfig(
        vocab_size=20,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        num_labels=outputs,
        initializer_range=0.1,
    )
    return BertForSequenceClassification(config)


def sentences(rows: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS[1:], random.integers(4, 12))) for _ in range(rows)]


def rule(rows: int, seed: int = 0) -> Split:
    """1 where the word apple stands in the sentence."""
    texts, labels = sentences(rows, seed), np.arange(rows) % 2
    texts = [f"{text} apple" if label else text for text, label in zip(texts, labels, strict=True)]
    return Split(texts=texts, pairs=None, labels=labels)


def trivial(task: str = "sst2", train: int = 320, dev: int = 160) -> TaskData:
    return TaskData(task=task, train=rule(train), dev={task: rule(dev, seed=1)}, data="official")


def tuned(data: TaskData, settings: FinetuneSettings = QUICK, seed: int = 0, **more: Any) -> Outcome:
    return finetune(tiny, bert_tokenizer(), TASKS[data.task], data, settings, seed, **more)


# What is learnt --------------------------------------------------------------------------------------


def test_a_trivial_rule_is_learnt_and_the_outcome_is_whole() -> None:
    data = trivial()
    outcome = tuned(data)
    assert outcome.metrics["sst2"]["accuracy"] > 0.95
    predicted, labels = outcome.predictions["sst2"], data.dev["sst2"].labels
    assert predicted.dtype == np.int64
    assert outcome.metrics["sst2"].pop("roc_auc") > 0.95
    assert outcome.metrics["sst2"] == metrics.score(TASKS["sst2"], labels, predicted)
    assert np.array_equal(outcome.replicates["sst2"], metrics.replicates(TASKS["sst2"], labels, predicted))
    assert outcome.steps == 4 * 320 / 16
    assert outcome.train_examples == 320
    assert outcome.dev_examples == {"sst2": 160}
    assert outcome.truncated == {"train": 0, "sst2": 0}
    assert outcome.data == "official"
    assert outcome.settings == dataclasses.asdict(QUICK)
    assert (outcome.task, outcome.seed) == ("sst2", 0)
    assert outcome.seconds > 0


def test_random_labels_teach_nothing() -> None:
    def guess(rows: int, seed: int) -> Split:
        return Split(
            texts=sentences(rows, seed), pairs=None, labels=np.random.default_rng(seed + 9).permutation(rows) % 2
        )

    data = TaskData(task="cola", train=guess(320, 0), dev={"cola": guess(400, 1)}, data="official")
    assert abs(tuned(data).metrics["cola"]["matthews_correlation"]) < 4 / np.sqrt(400)


def test_a_regression_is_learnt() -> None:
    def counted(rows: int, seed: int) -> Split:
        random = np.random.default_rng(seed)
        counts = random.integers(0, 6, rows)
        texts = [" ".join(random.permutation(["apple"] * n + ["brick"] * (6 - n))) for n in counts]
        return Split(texts=texts, pairs=["oak"] * rows, labels=counts.astype(float))

    data = TaskData(task="stsb", train=counted(320, 0), dev={"stsb": counted(80, 1)}, data="official")
    outcome = tuned(data, dataclasses.replace(QUICK, epochs=10))
    assert outcome.predictions["stsb"].dtype == np.float64
    assert outcome.metrics["stsb"]["pearson"] > 0.9
    assert set(outcome.metrics["stsb"]) == {"pearson", "spearmanr"}


def test_segments_tell_the_texts_of_a_pair_apart() -> None:
    """Entailed where apple stands in the second text, in neutral ones in the first, else in neither."""

    def pairs(rows: int, seed: int) -> Split:
        labels = np.arange(rows) % 3
        first, second = sentences(rows, seed), sentences(rows, seed + 50)
        return Split(
            texts=[f"{text} apple" if label == 1 else text for text, label in zip(first, labels, strict=True)],
            pairs=[f"{text} apple" if label == 0 else text for text, label in zip(second, labels, strict=True)],
            labels=labels,
        )

    dev = {"mnli": pairs(90, 1), "mnli_mismatched": pairs(60, 2)}
    data = TaskData(task="mnli", train=pairs(480, 0), dev=dev, data="partial train")
    outcome = tuned(data, dataclasses.replace(QUICK, epochs=6, learning_rate=4e-3))
    assert {name: len(predicted) for name, predicted in outcome.predictions.items()} == {
        "mnli": 90,
        "mnli_mismatched": 60,
    }
    assert outcome.metrics["mnli"]["accuracy"] > 0.9
    assert outcome.metrics["mnli_mismatched"]["accuracy"] > 0.9
    assert outcome.data == "partial train"


# The same every time ---------------------------------------------------------------------------------


def test_a_seed_gives_the_same_predictions_and_leaves_torch_as_it_was() -> None:
    data = trivial("stsb", train=64, dev=32)
    data = dataclasses.replace(data, train=dataclasses.replace(data.train, labels=data.train.labels.astype(float)))
    losses: dict[str, list[float]] = {"first": [], "second": [], "other": []}
    torch.manual_seed(7)
    before = torch.get_rng_state()

    def outcome(name: str, seed: int) -> np.ndarray:
        settings = dataclasses.replace(QUICK, epochs=1)
        keep = losses[name]
        return tuned(data, settings, seed, each_step=lambda _, __, loss: keep.append(loss.item())).predictions["stsb"]

    first = outcome("first", 0)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(8)
    assert np.array_equal(first, outcome("second", 0)), "bit for bit"
    assert not np.array_equal(first, outcome("other", 1))
    assert losses["first"] == losses["second"] != losses["other"]


def test_every_step_is_told() -> None:
    told: list[tuple[int, int]] = []
    tuned(trivial(train=40, dev=10), each_step=lambda step, steps, _: told.append((step, steps)))
    assert told == [(step, 12) for step in range(1, 13)]


def test_a_subsample_is_taken_and_said() -> None:
    outcome = tuned(trivial(), FinetuneSettings.debug())
    assert outcome.data == "64 of 320 train, 32 of 160 dev"
    assert (outcome.train_examples, outcome.dev_examples) == (64, {"sst2": 32})
    assert len(outcome.predictions["sst2"]) == 32


def test_predictions_stand_in_the_order_of_the_file() -> None:
    data = trivial(train=320, dev=150)
    order = np.random.default_rng(0).permutation(150)
    moved = dataclasses.replace(data, dev={"sst2": data.dev["sst2"].take(order)})
    assert np.array_equal(tuned(data).predictions["sst2"][order], tuned(moved).predictions["sst2"])


# Tokens and batches ----------------------------------------------------------------------------------


def test_a_pair_has_segments_and_what_is_cut_is_counted() -> None:
    tokenizer = bert_tokenizer()
    split = Split(texts=["apple brick", "oak " * 9], pairs=["drum", "fern"], labels=np.array([0, 1]))
    tokens = tokenise(tokenizer, split, max_length=8)
    batch = tokens.batch(np.array([0, 1]), torch.device("cpu"))
    names = [[tokenizer.id_to_token(number) for number in row] for row in batch.input_ids.tolist()]
    assert names[0] == ["[CLS]", "apple", "brick", "[SEP]", "drum", "[SEP]", "[PAD]", "[PAD]"]
    assert names[1] == ["[CLS]", *["oak"] * 4, "[SEP]", "fern", "[SEP]"]
    assert batch.token_type_ids.tolist() == [[0, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1, 1]]
    assert batch.attention_mask.tolist() == [[1] * 6 + [0] * 2, [1] * 8]
    assert tokens.truncated == 1
    assert tokenizer.truncation is tokenizer.padding is None, "the caller's tokenizer stays as it was"


def test_a_tokenizer_of_transformers_gives_the_same_tokens() -> None:
    inner = bert_tokenizer()
    theirs = BertTokenizer(vocab=inner.get_vocab(), do_lower_case=False)
    split = Split(texts=["apple brick", "oak"], pairs=["drum", "fern kite"], labels=np.array([0, 1]))
    ours, same = tokenise(inner, split, 16), tokenise(theirs, split, 16)
    assert np.array_equal(ours.ids, same.ids)
    assert np.array_equal(ours.segments, same.segments)
    expected = theirs(split.texts, split.pairs)
    assert ours.ids.tolist() == list(chain(*expected["input_ids"]))
    assert ours.segments.tolist() == list(chain(*expected["token_type_ids"]))


def test_batches_hold_every_example_once_and_little_padding() -> None:
    tokens = tokenise(bert_tokenizer(), rule(1000), 32)
    batches = tokens.shuffled(16, np.random.RandomState(0))
    assert sorted(np.concatenate(batches)) == list(range(1000))
    assert len(batches) == 63
    lengths = tokens.lengths
    padded = sum(len(rows) * lengths[rows].max() for rows in batches)
    assert padded < 1.05 * lengths.sum()
    again = tokens.shuffled(16, np.random.RandomState(0))
    assert all(np.array_equal(a, b) for a, b in zip(batches, again, strict=True))
    other = tokens.shuffled(16, np.random.RandomState(1))
    assert not np.array_equal(np.concatenate(batches), np.concatenate(other))
    assert sorted(np.concatenate(list(tokens.sorted(64)))) == list(range(1000))


# Settings --------------------------------------------------------------------------------------------


def test_the_rate_rises_and_falls_and_is_never_nought() -> None:
    factor = warm_up_and_decay(20, 0.2)
    factors = [factor(step) for step in range(20)]
    assert factors[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1])
    assert np.diff(factors[4:]) == pytest.approx(-1 / 16)
    assert min(factors) > 0
    assert warm_up_and_decay(1, 0.1)(0) == 1
    assert warm_up_and_decay(4, 0.0)(0) == 1


def test_biases_and_norms_do_not_decay() -> None:
    model = tiny(2)
    decayed, kept = groups(model, 0.01)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    assert (decayed["weight_decay"], kept["weight_decay"]) == (0.01, 0)
    assert {name for name in (names[id(p)] for p in kept["params"])} == {
        name for name in names.values() if name.endswith("bias") or "LayerNorm" in name
    }
    assert len(decayed["params"]) + len(kept["params"]) == len(names)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("epochs", 0, "The epochs 0 is not a whole number from 1 up; leave it out"),
        ("batch_size", 1.5, r"The batch_size 1\.5 is not a whole number from 1 up"),
        ("max_length", 4, "The max_length 4 is not a whole number from 8 up"),
        ("learning_rate", 0, "The learning_rate 0 is not above 0"),
        ("clip_norm", float("nan"), "The clip_norm nan is not above 0"),
        ("warmup_share", 1.0, r"The warmup_share 1\.0 is not from 0 to below 1; choose for example 0\.1"),
        ("weight_decay", -1, r"The weight_decay -1 is below 0; choose for example 0\.01"),
    ],
)
def test_bad_settings_are_said(name: str, value: Any, said: str) -> None:
    with pytest.raises(AddendError, match=said):
        FinetuneSettings(**{name: value})


def test_what_cannot_be_trained_is_said() -> None:
    data = trivial(train=32, dev=8)
    with pytest.raises(AddendError, match="The data is of sst2, the task is cola; read the data of cola"):
        finetune(tiny, bert_tokenizer(), TASKS["cola"], data, QUICK, 0)
    with pytest.raises(AddendError, match=r"The tokenizer is a str; expected a tokenizers\.Tokenizer"):
        finetune(tiny, "bert", TASKS["sst2"], data, QUICK, 0)
    bare = bert_tokenizer()
    bare.post_processor = processors.Sequence([])
    with pytest.raises(
        AddendError, match="The tokenizer adds no special tokens, but a text is classified by its first"
    ):
        finetune(tiny, bare, TASKS["sst2"], data, QUICK, 0)
    with pytest.raises(ValueError, match=r"the logits are \(16, 3\), expected \(16, 2\)"):
        finetune(lambda outputs: tiny(outputs + 1), bert_tokenizer(), TASKS["sst2"], data, QUICK, 0)


def test_a_lost_loss_is_said() -> None:
    def broken(outputs: int) -> torch.nn.Module:
        model = tiny(outputs)
        torch.nn.init.constant_(model.classifier.bias, float("inf"))
        return model

    with pytest.raises(
        FineTuningDiverged, match=r"The loss of sst2 is nan at step 8 of 8; lower the learning rate, which is 0\.002"
    ):
        finetune(broken, bert_tokenizer(), TASKS["sst2"], trivial(train=32, dev=8), QUICK, 0)
