"""Proves that all variants see the same masked text, that training resumes to the same curve, and that it learns."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from laboratory import write_text
from tokenizers import Tokenizer
from torch.optim.lr_scheduler import LinearLR, SequentialLR
from transformers import AutoTokenizer, DataCollatorForLanguageModeling

from analysis.ablation import corpus as corpora, pretrain as module
from analysis.ablation.corpus import CLS, IGNORED, MASK, SEP, SPECIALS, Corpus, PackedWindows, prepare
from analysis.ablation.encoder import AddendForMaskedLM
from analysis.ablation.job import Job, SweepSettings, save
from analysis.ablation.plan import jobs
from analysis.ablation.presets import Pretraining, preset
from analysis.ablation.pretrain import WORDS, build, pretrain, rate, validation_loss, windows
from analysis.core.errors import AddendError, UnknownName


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    train, valid = write_text(folder / "train.txt", 400, 0), write_text(folder / "valid.txt", 60, 1)
    return prepare(train, valid, folder / "prepared", vocabulary=256)


@pytest.fixture(scope="module")
def train(corpus: Corpus) -> PackedWindows:
    return windows(corpus.train, corpus, 32)


def text_of(corpus: Corpus, name: str = "train") -> str:
    lines = (corpus.folder.parent / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    return " [SEP] ".join(" ".join(article.split("\n")) for article in "\n".join(lines).split("\n\n"))


def test_a_prepared_corpus_is_the_text(corpus: Corpus) -> None:
    """Decoded, the ids are the text again: articles in order, [SEP] between them."""
    tokenizer = Tokenizer.from_file(str(corpus.folder / "tokenizer.json"))
    decoded = tokenizer.decode(corpus.train.tolist(), skip_special_tokens=False)
    wanted = text_of(corpus).lower().replace(" [sep] ", " [SEP] ").replace(".", " .").split()
    got = decoded.replace(".", " .").split()
    assert got[0] == "[SEP]"
    assert [word for word in got if word != "[SEP]"] == [word for word in wanted if word != "[SEP]"]
    assert corpus.vocabulary == tokenizer.get_vocab_size() <= 256
    assert [tokenizer.id_to_token(i) for i in range(5)] == list(SPECIALS)


def test_with_a_checkpoints_tokenizer_a_corpus_gets_the_same_digest(corpus: Corpus, tmp_path: Path) -> None:
    model = build(preset("debug", vocabulary=corpus.vocabulary))
    save(model, corpus.folder, tmp_path / "model")
    text = [corpus.folder.parent / f"{name}.txt" for name in ("train", "valid")]
    taken = tmp_path / "model" / "tokenizer.json"
    again = prepare(*text, tmp_path / "again", vocabulary=corpus.vocabulary, tokenizer=taken)
    assert again.digest == corpus.digest
    with pytest.raises(AddendError, match=r"has 256 entries and the preset's 300; name the tokenizer of a run"):
        prepare(*text, tmp_path / "other", vocabulary=300, tokenizer=taken)
    with pytest.raises(AddendError, match=r"There is no tokenizer .*nowhere"):
        prepare(*text, tmp_path / "other", vocabulary=300, tokenizer=tmp_path / "nowhere")


def test_a_window_is_two_texts_that_follow_each_other(train: PackedWindows) -> None:
    chosen = np.arange(train.count)
    ids, segments = train.packed(chosen)
    assert ids.shape == segments.shape == (train.count, 32)
    assert (ids[:, 0] == CLS).all()
    assert (ids[:, -1] == SEP).all()
    for window, (row, segment) in enumerate(zip(ids, segments, strict=True)):
        body = train.tokens[window * 29 : (window + 1) * 29].tolist()
        cut = int(np.argmax(segment)) - 1  # the [SEP] that ends segment 0
        assert row[cut] == SEP
        assert row[1:cut].tolist() + row[cut + 1 : -1].tolist() == body
        assert segment.tolist() == [0] * (cut + 1) + [1] * (31 - cut)
        stops = [i for i, token in enumerate(body[:-1]) if token == train.stop]
        if stops:
            nearest = min(abs(i - 14) for i in stops)
            assert body[cut - 2] == train.stop
            assert abs((cut - 2) - 14) == nearest


def test_masking_is_berts(train: PackedWindows) -> None:
    """15 % of the words; of these 80 % [MASK], 10 % random, 10 % unchanged (within four standard errors)."""
    chosen = np.arange(train.count)
    plain, _ = train.packed(chosen)
    batch = train.masked(chosen, np.random.default_rng(0))
    picked = batch.labels != IGNORED
    assert (batch.labels[picked] == plain[picked]).all()
    assert (batch.ids[~picked] == plain[~picked]).all()
    assert (plain[picked] >= len(SPECIALS)).all(), "a special token is predicted"
    assert (picked.sum(1) == round(0.15 * 29)).all()
    total = picked.sum()
    kept = picked & (batch.ids == plain)
    masked = picked & (batch.ids == MASK)
    random = picked & ~kept & ~masked
    for share, wanted in ((masked, 0.8), (kept, 0.1), (random, 0.1)):
        # A random word is now and then the word itself.
        assert share.sum() / total == pytest.approx(wanted, abs=4 * np.sqrt(wanted * (1 - wanted) / total) + 0.001)
    assert (batch.ids[random] >= len(SPECIALS)).all()
    positions = Counter(np.nonzero(picked)[1].tolist())
    assert set(positions) == set(range(1, 31)), "some place is never predicted"


def test_masking_agrees_with_transformers_on_how_much(corpus: Corpus, train: PackedWindows, tmp_path: Path) -> None:
    """transformers' own collator, over the same windows: the same shares of each fate."""
    save(build(preset("debug")), corpus.folder, tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    collate = DataCollatorForLanguageModeling(tokenizer, mlm_probability=4 / 29, seed=0)
    plain, _ = train.packed(np.arange(train.count))
    theirs = collate([{"input_ids": torch.from_numpy(row)} for row in plain])
    shares = []
    ours = train.masked(np.arange(train.count), np.random.default_rng(3))
    for ids, labels in ((theirs["input_ids"].numpy(), theirs["labels"].numpy()), (ours.ids, ours.labels)):
        picked = labels != IGNORED
        shares.append([picked.mean(), (ids[picked] == MASK).mean(), (ids[picked] == labels[picked]).mean()])
    np.testing.assert_allclose(shares[0], shares[1], atol=0.02)


def test_next_tokens_are_the_labels_of_a_causal_batch(train: PackedWindows) -> None:
    batch = train.causal(np.arange(8))
    for ids, labels in zip(batch.ids, batch.labels, strict=True):
        for place in range(31):
            following = ids[place + 1]
            assert labels[place] == (following if following >= len(SPECIALS) else IGNORED)
        assert labels[-1] == IGNORED


def test_a_step_depends_on_seed_and_number_alone(train: PackedWindows) -> None:
    def same(a: Any, b: Any) -> bool:
        return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("ids", "segments", "labels"))

    assert same(train.step(3, 8, 0, causal=False), train.step(3, 8, 0, causal=False))
    assert not same(train.step(3, 8, 0, causal=False), train.step(4, 8, 0, causal=False))
    assert not same(train.step(3, 8, 0, causal=False), train.step(3, 8, 1, causal=False))


def test_a_pass_takes_every_window_once(train: PackedWindows) -> None:
    marked = replace(train, tokens=np.repeat(np.arange(5, 45, dtype=np.uint16), 29))
    steps = marked.count // 8
    first = [marked.step(step, 8, 0, causal=True).ids[:, 1] for step in range(steps)]
    second = [marked.step(step, 8, 0, causal=True).ids[:, 1] for step in range(steps, 2 * steps)]
    assert sorted(np.concatenate(first)) == sorted(np.concatenate(second)) == list(range(5, 45))
    assert not np.array_equal(first, second)


def test_too_little_text_is_said(train: PackedWindows) -> None:
    with pytest.raises(AddendError, match=r"has 2 windows of 32 tokens and a batch takes 8; give it more text"):
        replace(train, tokens=train.tokens[:60]).step(0, 8, 0, causal=False)


def test_what_is_no_corpus_is_said(tmp_path: Path) -> None:
    with pytest.raises(AddendError, match=r"no prepared corpus: it lacks tokenizer\.json"):
        corpora.load(tmp_path)
    with pytest.raises(AddendError, match=r"There is no corpus file .*missing\.txt"):
        prepare(tmp_path / "missing.txt", tmp_path / "missing.txt", tmp_path / "x", vocabulary=100)
    (tmp_path / "packed.zst").write_bytes(b"\x28\xb5\x2f\xfd\xff\xfe")
    with pytest.raises(AddendError, match=r"is not UTF-8 text .*unpack it first"):
        list(corpora.paragraphs(tmp_path / "packed.zst"))


def test_the_rate_is_torchs_warm_up_stay_and_decay() -> None:
    settings = preset("debug", steps=100, warmup=0.1, decay=0.3)
    weight = torch.nn.Parameter(torch.zeros(1))
    sgd = torch.optim.SGD([weight], lr=1.0)
    parts = [LinearLR(sgd, 0.1, 1.0, 9), LinearLR(sgd, 1.0, 1.0, 61), LinearLR(sgd, 1.0, 1 / 30, 29)]
    schedule = SequentialLR(sgd, parts, [9, 70])
    for step in range(100):
        assert rate(settings, step) == pytest.approx(sgd.param_groups[0]["lr"], abs=1e-9), step
        sgd.step()
        schedule.step()


def curve(rows: list[Any]) -> list[tuple[str, int, int, float]]:
    return [(metric, step, tokens, value) for metric, step, tokens, _, value in rows]


SHORT = {"steps": 24, "evaluate_every": 4, "valid_windows": 8, "final_windows": 8, "dropout": 0.1}


class Killed(Exception):
    pass


@pytest.mark.parametrize("variant", ["bert_a", "tupe_r", "causal_no_position"])
def test_a_killed_training_resumes_to_the_same_curve(
    variant: str, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAVE_SECONDS", 0.0)
    settings = preset("debug", variant=variant, **SHORT)
    model, whole = pretrain(settings, corpus, tmp_path / "whole")

    def die(step: int, steps: int, loss: float) -> None:
        if step == 14:
            raise Killed

    with pytest.raises(Killed):
        pretrain(settings, corpus, tmp_path / "killed", on_step=die)
    seen: list[int] = []
    again, resumed = pretrain(settings, corpus, tmp_path / "killed", on_step=lambda step, *_: seen.append(step))
    assert seen[0] == 13, "it began again rather than from the last save"
    assert curve(resumed.rows) == curve(whole.rows)
    for one, two in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, two)


def test_a_save_cut_short_leaves_the_one_before(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAVE_SECONDS", 0.0)
    settings = preset("debug", **SHORT)
    real = torch.save
    calls = []

    def torn(state: Any, file: Any) -> None:
        calls.append(state["step"])
        if len(calls) == 3:
            file.write(b"half")
            raise OSError("No space left on device")
        real(state, file)

    monkeypatch.setattr(module.torch, "save", torn)
    with pytest.raises(OSError, match="No space"):
        pretrain(settings, corpus, tmp_path)
    monkeypatch.setattr(module.torch, "save", real)
    seen: list[int] = []
    pretrain(settings, corpus, tmp_path, on_step=lambda step, *_: seen.append(step))
    assert seen[0] == calls[1] + 1


def test_another_runs_folder_is_refused(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAVE_SECONDS", 0.0)
    pretrain(preset("debug", **SHORT), corpus, tmp_path)
    with pytest.raises(AddendError, match="holds a run with other settings"):
        pretrain(preset("debug", **SHORT, seed=1), corpus, tmp_path)


def test_training_learns_what_the_text_says(corpus: Corpus, tmp_path: Path) -> None:
    """Words of a made-up grammar: below the loss of the best guess that looks at no context, the unigram entropy."""
    settings = preset("debug", variant="tupe_a", steps=500, evaluate_every=500, final_windows=32, learning_rate=3e-3)
    model, progress = pretrain(settings, corpus, tmp_path)
    valid = windows(corpus.valid, corpus, 32)
    labels = valid.masked(np.arange(valid.count), np.random.default_rng(0)).labels
    counts = np.bincount(labels[labels != IGNORED])
    p = counts[counts > 0] / counts.sum()
    entropy = -(p * np.log(p)).sum()
    final = next(row[-1] for row in progress.rows if row[0] == "final_loss_1x")
    assert final < entropy - 0.05
    assert final == pytest.approx(validation_loss(model, valid, 32, "cpu"))


def test_the_validation_loss_is_transformers_own(corpus: Corpus) -> None:
    model = build(preset("debug", variant="bert_a")).eval()
    valid = windows(corpus.valid, corpus, 32)
    chosen = np.linspace(0, valid.count - 1, 16).astype(np.int64)
    batch = valid.masked(chosen, np.random.default_rng([module.EVALUATION_SEED, 32, 0]))
    with torch.no_grad():
        want = model(
            torch.from_numpy(batch.ids),
            token_type_ids=torch.from_numpy(batch.segments),
            labels=torch.from_numpy(batch.labels),
        ).loss.item()
    assert validation_loss(model, valid, 16, "cpu") == pytest.approx(want, abs=1e-5)


def test_frozen_words_stay_as_they_were(corpus: Corpus, tmp_path: Path) -> None:
    settings = preset("debug", variant="frozen_word", **SHORT)
    words = torch.randn(256, 32)
    with pytest.raises(AddendError, match="starts from the model of 'no_position', and none was given"):
        pretrain(settings, corpus, tmp_path)
    with pytest.raises(AddendError, match=r"the shape \(3, 32\); expected \(256, 32\)"):
        pretrain(settings, corpus, tmp_path, inherited={WORDS: words[:3]})
    model, _ = pretrain(settings, corpus, tmp_path, inherited={WORDS: words})
    assert torch.equal(model.get_input_embeddings().weight, words)
    assert torch.equal(model.get_output_embeddings().weight, words)


def test_a_model_whose_positions_are_dropped_starts_as_the_rotary_one(corpus: Corpus, tmp_path: Path) -> None:
    (rotary, dropped) = jobs("debug", ["causal_drope"], [3], steps=20)
    assert (rotary.variant, rotary.steps, dropped.variant, dropped.steps) == ("causal_rotary", 20, "causal_drope", 2)
    trained, _ = pretrain(replace(rotary, vocabulary=256), corpus, tmp_path / "rotary")
    model = build(replace(dropped, vocabulary=256), trained.state_dict())
    assert model.state_dict().keys() == trained.state_dict().keys()
    assert all(torch.equal(weight, trained.state_dict()[name]) for name, weight in model.state_dict().items())
    assert trained.config.rotary
    assert not model.config.rotary
    shared = {"corpus": tmp_path, "out": tmp_path}
    job = Job(pretraining=dropped, finetuning=None, sweep=SweepSettings(**shared), corpus_digest="x")
    assert job.needed is not None
    assert job.needed.pretraining == rotary


def test_score_variance_is_that_of_the_models_scores(corpus: Corpus) -> None:
    """Against scores recomputed from the projections; and TUPE unscaled has twice TUPE's variance at step 0."""
    from analysis.ablation.pretrain import VARIANCE_WINDOWS, score_variance

    valid = windows(corpus.valid, corpus, 32)
    ids, segments = valid.packed(np.linspace(0, valid.count - 1, VARIANCE_WINDOWS).astype(np.int64))
    found = {}
    for variant in ("no_position", "tupe_a", "tupe_a_unscaled"):
        model = build(preset("debug", variant=variant))
        found[variant] = score_variance(model, valid, "cpu")
        assert len(found[variant]) == 2
    plain: AddendForMaskedLM = build(preset("debug", variant="no_position"))
    with torch.no_grad():
        hidden = plain.addend.embeddings(torch.from_numpy(ids), torch.from_numpy(segments), None)
        attention = plain.addend.encoder.layer[0].attention.self
        q, k = attention.heads(attention.query(hidden)), attention.heads(attention.key(hidden))
        scores = q @ k.transpose(2, 3) / np.sqrt(16)
        want = scores.var(-1, unbiased=False).mean().item()
    assert found["no_position"][0] == pytest.approx(want, rel=1e-4)
    assert found["tupe_a_unscaled"][0] / found["tupe_a"][0] == pytest.approx(2, rel=1e-3)


def test_settings_name_a_run() -> None:
    one = preset("cpu", variant="bert_a", seed=0)
    assert one.run_id("x") == preset("cpu", variant="bert_a", seed=0).run_id("x")
    others = [preset("cpu", variant="bert_a", seed=1), replace(one, learning_rate=2e-3), replace(one, norm="pre")]
    assert len({one.run_id("x"), one.run_id("y"), *(other.run_id("x") for other in others)}) == 5
    with pytest.raises(UnknownName, match=r"no preset named 'tpu'\. Known: debug, cpu, cpu2, pilot, width64, "):
        preset("tpu")
    assert isinstance(one, Pretraining)
