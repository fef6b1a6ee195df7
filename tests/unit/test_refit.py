"""Refitting: its texts, its losses, its training, the probe for exchanged words, and a run from the start to the store.

The references are numpy's formulas in float64 and transformers' own attention; a run is held to one that is not broken.
"""

import copy
import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from specimens import tiny_bert
from transformers import BertConfig, BertModel

from analysis.core.errors import TextError
from analysis.measurements.refit import distil, job, word_order
from analysis.measurements.refit.rates import best_rates
from analysis.measurements.refit.texts import LONGEST, Texts, read_texts, states_of
from analysis.measurements.surgery import attention
from analysis.measurements.surgery.apply_arm import operate
from analysis.measurements.surgery.arms import ARMS
from analysis.measurements.surgery.finetuned import intact_encoder
from analysis.rules.refit_rules import REFITS, refit_rules
from analysis.store import files

WORDS = [
    "river",
    "city",
    "castle",
    "bridge",
    "winter",
    "summer",
    "market",
    "garden",
    "stone",
    "mountain",
    "forest",
    "teacher",
    "letter",
    "music",
    "paper",
    "window",
    "silver",
    "golden",
    "quiet",
    "ancient",
    "narrow",
    "early",
    "famous",
    "little",
    "northern",
    "walks",
    "builds",
    "carries",
    "follows",
    "remembers",
    "crosses",
]


def article(rng: np.random.Generator, paragraphs: int) -> str:
    return "\n".join(" ".join(rng.permutation(WORDS)[: rng.integers(8, 30)]) + "." for _ in range(paragraphs))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n\n".join(f"A heading.\n{article(rng, 5)}" for _ in range(30)), encoding="utf-8")
    return path


def test_texts_are_cut_paragraphs_of_known_length(text: Path) -> None:
    loaded = intact_encoder()
    texts = read_texts(text, loaded, 1_500)
    assert 1_500 <= len(texts.ids) < 1_500 + LONGEST
    first, last = loaded.tokenizer.cls_token_id, loaded.tokenizer.sep_token_id
    assert (texts.ids[texts.starts[:-1]] == first).all()
    assert (texts.ids[texts.starts[1:] - 1] == last).all()
    assert texts.lengths.max() <= LONGEST
    assert len(set(texts.lengths.tolist())) > 5
    assert texts.digest == read_texts(text, loaded, 1_500).digest
    rows = np.array([3, 0, 7])
    ids, real = texts.rows(rows)
    assert (ids[real] == texts.ids[texts.at(rows)]).all()
    assert not ids[~real].any()
    with pytest.raises(
        TextError, match=r"holds [\d,]+ tokens in paragraphs of 8 words and more; expected at least 9,000"
    ):
        read_texts(text, loaded, 9_000)


def test_losses_are_the_formulas() -> None:
    rng = np.random.default_rng(1)
    found, target = rng.normal(size=(2, 4, 6)), rng.normal(size=(2, 4, 6))
    lengths = [4, 2]
    real = torch.tensor([[True] * 4, [True, True, False, False]])
    unexplained, pooled = distil.losses(torch.tensor(found), real, torch.tensor(target).float()[real], variance=0.5)
    for row, length in enumerate(lengths):
        one, other = found[row, :length], target[row, :length]
        assert unexplained[row].item() == pytest.approx(((one - other) ** 2).mean() / 0.5, rel=1e-5)
        a, b = one.mean(0), other.mean(0)
        assert pooled[row].item() == pytest.approx(1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-5)


def test_every_step_reads_other_texts_until_the_budget_is_read() -> None:
    lengths = np.random.default_rng(2).integers(16, 128, 500)
    texts = Texts(np.zeros(lengths.sum(), np.int64), np.concatenate([[0], np.cumsum(lengths)]))
    steps = distil.batches(texts, 20_000, 16, seed=0)
    read = np.concatenate(steps)
    assert len(set(read.tolist())) == len(read)
    assert 20_000 <= texts.lengths[read].sum() < 20_000 + 128
    assert not np.array_equal(read, np.concatenate(distil.batches(texts, 20_000, 16, seed=1)))
    assert sum(len(step) == 16 for step in steps) >= len(steps) - 1


def small_targets(model: BertModel) -> distil.Targets:
    rng = np.random.default_rng(3)
    lengths = rng.integers(8, 14, 40)
    texts = Texts(rng.integers(4, 12, lengths.sum()), np.concatenate([[0], np.cumsum(lengths)]))
    states = np.zeros((len(texts.ids), model.config.hidden_size), np.float16)
    for row in range(len(texts)):
        ids, real = texts.rows(np.array([row]))
        with torch.no_grad():
            states[texts.at(np.array([row]))] = states_of(model, torch.tensor(ids), torch.tensor(real))[0]
    return distil.Targets(texts, states, distil.variance_of(states))


def test_an_arm_learns_what_the_intact_encoder_gives_and_goes_on_after_a_stop() -> None:
    model: Any = tiny_bert(num_hidden_layers=2)
    targets = small_targets(model)
    settings = distil.RefitSettings(tokens=380, learning_rate=3e-3, batch_size=4, half=False)

    def student() -> distil.Distillation:
        changed = copy.deepcopy(model)
        operate(changed, ARMS["minilm_permuted"], [torch.zeros(40, 32)] * 2)
        return distil.Distillation(changed, targets, settings, seed=0)

    assert distil.held_out(model, targets)["loss"] < 1e-5
    whole = student()
    before = distil.held_out(whole.model, targets)
    whole.train(10**9)
    after = distil.held_out(whole.model, targets)
    assert after["loss"] < 0.8 * before["loss"]
    assert after["loss"] == pytest.approx(after["unexplained"] + after["pooled"])
    first, second = student(), student()
    first.train(150)
    second.load(copy.deepcopy(first.state()))
    second.train(10**9)
    assert second.tokens == whole.tokens
    for name, weight in second.model.state_dict().items():
        assert torch.equal(weight, whole.model.state_dict()[name]), name


def by_head(x: torch.Tensor) -> torch.Tensor:
    return x.unflatten(-1, (4, -1)).transpose(-3, -2)


@pytest.mark.parametrize("own", [False, True])
def test_positions_told_in_every_layer_are_added_before_the_projections(own: bool) -> None:
    model: Any = tiny_bert().double()
    module = model.encoder.layer[0].attention.self
    generator = torch.Generator().manual_seed(5)
    hidden, positions = (torch.randn(*shape, 32, generator=generator, dtype=torch.float64) for shape in ((2, 7), (40,)))
    change = attention.EveryLayer(positions, module, own=own)
    with torch.no_grad():
        query, key = by_head(module.query(hidden)), by_head(module.key(hidden))
        found = change(module, query, key)
        expected = by_head(module.query(hidden + positions[:7])), by_head(module.key(hidden + positions[:7]))
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other)
        module.query.weight.zero_()
        moved = not torch.allclose(change(module, query, key)[0], found[0])
    assert moved is not own, "its own projections are its own"


def test_a_relative_bias_is_added_to_the_scores_of_transformers() -> None:
    """Held to transformers' own attention, to which the same numbers are given as a mask."""
    config = BertConfig(vocab_size=30, hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=16)
    torch.manual_seed(6)
    model: Any = BertModel(config).eval()
    changed = copy.deepcopy(model)
    operate(changed, replace(ARMS["minilm_relative_bias"], tables=""), [torch.zeros(40, 32)])
    change = changed.encoder.layer[0].attention.self.surgery
    ids = torch.arange(4, 13)[None]
    with torch.no_grad():
        torch.testing.assert_close(changed(ids).last_hidden_state, model(ids).last_hidden_state, msg="it starts at 0")
        change.table.normal_()
        distance = torch.arange(9) - torch.arange(9)[:, None]
        mask = change.table[:, distance + 39][None]
        layer = model.encoder.layer[0]
        expected = layer(model.embeddings(ids), attention_mask=mask)
        torch.testing.assert_close(
            changed(ids).last_hidden_state, expected[0] if isinstance(expected, tuple) else expected
        )


def test_exchanged_words_are_two_of_a_sentence(text: Path) -> None:
    found = word_order.read_exchanges(text, 60)
    for original, copied, far in zip(found.originals, found.copies, found.far, strict=True):
        before, after = original.split(), copied.split()
        places = [place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
        assert Counter(before) == Counter(after)
        assert len(places) == 2
        assert 0 < places[0] < places[1] < len(before) - 1
        assert places[1] - places[0] >= word_order.FAR if far else places[1] - places[0] == 1
    with pytest.raises(TextError, match="expected at least 9,000"):
        word_order.read_exchanges(text, 9_000)


def test_the_decoder_finds_what_can_be_found_and_guesses_what_cannot() -> None:
    rng = np.random.default_rng(4)
    copies = rng.normal(size=(600, 12))
    far = np.arange(600) % 2 == 1
    nothing = word_order.accuracy(copies, copies, far)
    assert nothing == {"all": 0.5, "near": 0.5, "far": 0.5}
    shifted = copies + np.eye(12)[0]
    assert word_order.accuracy(shifted, copies, far)["all"] == 1.0
    unrelated = word_order.accuracy(rng.normal(size=(600, 12)), copies, far)
    assert abs(unrelated["all"] - 0.5) < 3 * np.sqrt(0.25 / 180)
    half = np.where(far[:, None], shifted, copies)
    assert word_order.accuracy(half, copies, far) == {"all": 0.75, "near": 0.5, "far": 1.0}


def test_rules_name_arms_that_exist_and_their_hash_is_that_of_the_file() -> None:
    rules = refit_rules()
    assert rules.sha256 == hashlib.sha256(REFITS.read_bytes()).hexdigest()
    judged = rules.purposes["judged"]
    for purpose in rules.purposes.values():
        assert set(purpose.arms) <= set(ARMS)
        assert list(purpose.evaluations) == sorted(set(purpose.evaluations))
        assert purpose.evaluations[-1] == 1
    for one in rules.statements:
        assert {one.arm, one.baseline, rules.control, rules.floor} <= set(judged.arms)
        assert one.end in rules.margins
    assert set(rules.purposes["pilot"].arms) >= set(judged.arms)
    assert not set(rules.purposes["pilot"].seeds) & set(judged.seeds)


def test_the_rate_is_that_of_the_lowest_loss_once_all_are_there() -> None:
    config = f'{{"rules": {{"sha256": "{refit_rules().sha256}"}}, "began": "2999-01-01T00:00:00Z"}}'
    losses = dict(zip(refit_rules().rates, (0.3, 0.1, 0.2), strict=True))
    rows = [{"arm": "a", "learning_rate": rate, "loss": loss, "config": config} for rate, loss in losses.items()]
    assert best_rates(rows) == {"a": refit_rules().rates[1]}
    assert best_rates(rows[1:]) == {}
    assert best_rates([row | {"config": "{}"} for row in rows]) == {}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, data: Path, text: Path, tmp_path: Path) -> job.RefitFiles:
    """Rules with little to read, a model of no training, and files to read."""
    rules = refit_rules()
    purposes = {"judged": replace(rules.purposes["judged"], tokens=600, evaluations=(0.0, 0.5, 1.0))}
    few = replace(rules, held_out_tokens=300, sentences=40, purposes=purposes)
    monkeypatch.setattr(job, "refit_rules", lambda: few)
    stsb = tmp_path / "dev.tsv"
    pairs = [f"{i % 6}\t{' '.join(WORDS[i : i + 4])}\t{' '.join(WORDS[i + 1 : i + 5])}" for i in range(12)]
    stsb.write_text("\n".join(["label\tsentence1\tsentence2", *pairs]), encoding="utf-8")
    loaded = intact_encoder()
    model: Any = tiny_bert(num_hidden_layers=2, vocab_size=loaded.model.config.vocab_size, max_position_embeddings=512)
    tiny = replace(loaded, model=model)
    monkeypatch.setattr(job, "intact_encoder", lambda: tiny)
    monkeypatch.setattr(job, "mean_positions", lambda: [torch.randn(512, 32)] * 2)
    return job.RefitFiles(texts=text, held_out=text, stsb=stsb, out=tmp_path / "runs")


def test_a_run_is_measured_and_stored_and_one_that_was_stopped_gives_the_same(
    small: job.RefitFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,) = job.jobs("judged", ["minilm_permuted"], [0], {"minilm_permuted": (1e-3,)}, small)
    assert not run.finished
    stops = SimpleNamespace(left=2)
    real = job.held_out

    def stopped(*args: Any) -> dict[str, float]:
        stops.left -= 1
        if stops.left < 0:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(job, "held_out", stopped)
    with pytest.raises(KeyboardInterrupt):
        run.run()
    assert not run.finished
    monkeypatch.setattr(job, "held_out", real)
    run.run()
    assert run.finished
    stored = files.read(next(files_of(run)))[1].to_pylist()
    # With the same targets: a matrix product's last digit may differ with where its memory lies.
    next(files_of(run)).unlink()
    assert not (run.data.out / run.run_id / "state.pt").exists(), "it begins anew"
    run.run()
    assert files.read(next(files_of(run)))[1].to_pylist() == stored
    measures = Counter(row["measure"] for row in stored)
    assert measures["loss"] == measures["unexplained"] == 3
    assert set(measures) == {"loss", "unexplained", "pooled", "stsb", "order", "order_near", "order_far"}
    assert run.weights.is_file()


def files_of(run: job.RefitJob) -> Any:
    return (job.data_folder() / "results/refits").glob(f"{run.name}.parquet")


def test_without_positions_no_exchange_is_found(small: job.RefitFiles) -> None:
    (run,) = job.jobs("judged", ["minilm_no_position"], [0], {"minilm_no_position": (1e-3,)}, small)
    run.run()
    stored = {row["measure"]: row["value"] for row in files.read(next(files_of(run)))[1].to_pylist()}
    assert stored["order"] == stored["order_near"] == stored["order_far"] == 0.5


def test_weights_that_are_gone_are_made_again_and_stored_results_stay(small: job.RefitFiles) -> None:
    rates = {"minilm_no_position": (1e-3,)}
    (run,) = job.jobs("judged", ["minilm_no_position"], [0], rates, small)
    run.run()
    written = next(files_of(run)).read_bytes()
    kept = torch.load(run.weights, weights_only=True)
    run.weights.unlink()
    assert run.finished, "results are all that is asked for"
    (again,) = job.jobs("judged", ["minilm_no_position"], [0], rates, small, with_weights=True)
    assert again.run_id == run.run_id
    assert not again.finished
    again.run()
    assert again.finished
    assert next(files_of(run)).read_bytes() == written
    made = torch.load(run.weights, weights_only=True)
    assert all(torch.allclose(made[name], kept[name], atol=1e-6) for name in kept)
