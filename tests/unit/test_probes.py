"""Proves that a saved probe is the probe that was run, that reading it needs no torch, and that views of it add up."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from specimens import LONG, PAIR, TEXT, embedded_loaded, tiny_bert, tiny_tokenizer

from analysis import store_build
from analysis.core.errors import StoreError
from analysis.core.provenance import ROOT
from analysis.measurements.terms import FOUR, TERMS, Decomposition
from analysis.measurements.terms.token_view import TokenView, token_view
from analysis.models.load import Loaded
from analysis.models.source import Source
from analysis.probes import saved_probes, text_probe
from analysis.store import files

MEASURES = ("shares", "effects", "top1_agreement", "raw_rms")


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "store.duckdb"))
    return tmp_path


def run(text: str = TEXT, pair: str | None = None, **options: Any) -> Decomposition:
    source = Source("tiny", "r1", Path(), {"model_type": "bert"})
    loaded = Loaded(tiny_bert(), tiny_tokenizer(), source, "cpu")
    return text_probe.TermsRequest(model="tiny", text=text, pair=pair, **options).run(loaded)


def saved_again(made: Decomposition, title: str = "", name: str | None = None) -> Decomposition:
    probe_id = text_probe.save(made, title, name=name)
    store_build.refresh()
    return saved_probes.read(probe_id)


def assert_same(back: Decomposition, made: Decomposition) -> None:
    assert back.provenance == made.provenance
    assert back.token_info == made.token_info
    assert (back.layer, back.scale, back.heads) == (made.layer, made.scale, made.heads)
    assert (back.max_error, back.pattern_error) == (made.max_error, made.pattern_error)
    assert back.relative_error == pytest.approx(made.relative_error, rel=1e-4)
    np.testing.assert_array_equal(back.query, made.query)
    np.testing.assert_array_equal(back.key, made.key)
    for term in TERMS:
        np.testing.assert_array_equal(back.terms[term], made.terms[term])
        for measure in MEASURES:
            stored, fresh = getattr(back, measure)()[term], getattr(made, measure)()[term]
            np.testing.assert_array_equal(stored, fresh, err_msg=f"{measure} {term}")
    # Scores are rebuilt from the terms: they agree as well as the terms sum to the model's own.
    np.testing.assert_allclose(back.scores, made.scores, rtol=0, atol=1e-5 * np.ptp(made.scores))
    np.testing.assert_allclose(back.pattern, made.pattern, rtol=0, atol=1e-5)


# Saving --------------------------------------------------------------------------------------------------


def test_a_saved_probe_is_the_probe_that_was_run():
    made = run()
    back = saved_again(made)
    assert_same(back, made)
    assert back.probe_id


def test_a_pair_that_was_cut_comes_back_as_it_was():
    made = run(LONG, "a quote ' and \" and 数学\n;", truncate=True)
    back = saved_again(made)
    assert_same(back, made)
    assert back.provenance.truncated_from == made.provenance.truncated_from == 652
    assert back.provenance.text_pair == made.provenance.text_pair
    assert {token.segment for token in back.token_info} == {0, 1}


def test_a_probe_of_the_embedded_model_comes_back_as_it_was():
    loaded = embedded_loaded()
    made = text_probe.TermsRequest(
        model="all-MiniLM-L6-v2", text="Dogs chase cats.", pair="Cats chase dogs, unhappily."
    ).run(loaded)
    assert_same(saved_again(made), made)


def test_a_head_without_shares_comes_back_without_shares():
    model = tiny_bert()
    with torch.no_grad():
        model.encoder.layer[0].attention.self.key.weight[:8] = 0
    source = Source("tiny", "r1", Path(), {"model_type": "bert"})
    made = text_probe.TermsRequest(model="tiny", text=TEXT).run(Loaded(model, tiny_tokenizer(), source, "cpu"))
    back = saved_again(made)
    assert np.isnan(back.shares()["word_to_word"][0])
    assert_same(back, made)


def test_many_probes_and_their_heads_are_not_mixed_up():
    first, second = run(TEXT), run(*PAIR)
    ids = [text_probe.save(first), text_probe.save(second), text_probe.save(first, "named", name="my-probe")]
    store_build.refresh()
    assert ids[2] == "my-probe"
    assert len(set(ids)) == 3
    for probe_id, made in zip(ids, (first, second, first), strict=True):
        assert_same(saved_probes.read(probe_id), made)
    obtained = text_probe.obtain({"probe": "my-probe"})
    assert obtained.probe_id == "my-probe"


def test_nothing_is_written_into_the_checkout(own_store):
    text_probe.save(run())
    assert len(list((own_store / "data" / "probes").glob("*.parquet"))) == 1


def test_the_command_makes_the_probe_again():
    made = run('it\'s $5 "quoted"', "and; a pair", truncate=True)
    assert text_probe.command(made) == (
        """python -m analysis probe --model tiny --text 'it'"'"'s $5 "quoted"' --pair 'and; a pair' --layer 0 --json"""
    )
    assert "--truncate" in text_probe.command(run(LONG, truncate=True))
    text_probe.save(made)
    path = files.results_files()[0]
    assert files.read(path)[2]["command"] == text_probe.command(made)


def test_an_unknown_probe_is_told_in_a_sentence():
    store_build.refresh()
    with pytest.raises(StoreError) as told:
        saved_probes.read("nowhere")
    assert str(told.value).startswith("There is no saved probe 'nowhere' here.")
    assert "run the text again on the page Look inside." in str(told.value)


def test_a_saved_probe_is_shown_without_torch():
    made = run()
    probe_id = text_probe.save(made)
    store_build.refresh()
    script = (
        "import json, sys\n"
        "from analysis.probes import saved_probes, text_probe\n"
        "from analysis.measurements.terms.token_view import token_view\n"
        f"made = saved_probes.read({probe_id!r})\n"
        "found = [made.shares(), made.effects(), made.top1_agreement(), made.raw_rms()]\n"
        "made.pattern, made.total(), made.relative_error, text_probe.command(made)\n"
        "token_view(made, 0, ['word_to_word'], words=True, specials=False, centred=True)\n"
        "heavy = [name for name in ('torch', 'transformers', 'tokenizers') if name in sys.modules]\n"
        "print(json.dumps([heavy, found[0]['word_to_word'].tolist()]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy, share = json.loads(done.stdout)
    assert heavy == []
    np.testing.assert_allclose(share, made.shares()["word_to_word"], rtol=1e-6)


def test_committed_examples_read_and_their_measures_follow_from_their_maps(monkeypatch, built):
    monkeypatch.setenv("ADDEND_DATA", str(ROOT / "data"))
    monkeypatch.setenv("ADDEND_STORE", str(built))
    examples = sorted((ROOT / "data" / "probes").glob("*.parquet"))
    assert len(examples) >= 5
    for path in examples:
        made = saved_probes.read(path.stem)
        assert made.relative_error < 1e-5
        again = Decomposition(**{**vars(made), "_measured": {}})
        for measure in MEASURES:
            for term in FOUR:
                stored, fresh = getattr(made, measure)()[term], getattr(again, measure)()[term]
                np.testing.assert_allclose(stored, fresh, rtol=1e-3, atol=1e-4, err_msg=f"{path.stem} {measure} {term}")


# Arranging -----------------------------------------------------------------------------------------------


def shown(made: Decomposition, head: int = 0, **options: Any) -> TokenView:
    return token_view(made, head, FOUR, **({"words": False, "specials": True, "centred": False} | options))


def test_arranged_plainly_nothing_changes():
    made = run(*PAIR)
    for head in range(made.heads):
        view = shown(made, head)
        assert view.labels == made.tokens
        assert list(view.terms) == list(FOUR)
        for term in FOUR:
            np.testing.assert_allclose(view.terms[term], made.terms[term][head], atol=1e-5)
        np.testing.assert_allclose(view.total, made.scores[head], atol=1e-5)
        np.testing.assert_allclose(view.pattern, made.pattern[head], atol=1e-6)
        others = sum(made.terms[term][head] for term in TERMS if term not in FOUR)
        np.testing.assert_allclose(view.rest, others, rtol=0, atol=1e-5 * np.ptp(made.scores))


def test_pieces_of_a_word_are_merged():
    """[CLS] the un ##happi ##ness ran [SEP]: scores are averaged, attention is summed over keys."""
    made = run("the unhappiness ran")
    view = shown(made, 2, words=True)
    assert view.labels == ["[CLS]", "the", "unhappiness", "ran", "[SEP]"]
    pieces = [[0], [1], [2, 3, 4], [5], [6]]
    for name, scores in {**{term: made.terms[term][2] for term in FOUR}, "total": made.scores[2]}.items():
        expected = [[scores[np.ix_(i, j)].mean() for j in pieces] for i in pieces]
        np.testing.assert_allclose(view.total if name == "total" else view.terms[name], expected, atol=1e-4)
    pattern = made.pattern[2]
    expected = [[pattern[np.ix_(i, j)].sum(1).mean() for j in pieces] for i in pieces]
    np.testing.assert_allclose(view.pattern, expected, atol=1e-6)
    np.testing.assert_allclose(view.pattern.sum(1), 1, atol=1e-6)


def test_words_that_only_look_alike_are_kept_apart():
    """The last word of one text and the first of the next; the same word twice; two unknown words."""
    view = shown(run("cat cat zebra zebra", "cat"), words=True)
    assert view.labels == ["[CLS]", "cat", "cat", "[UNK]", "[UNK]", "[SEP]", "cat", "[SEP]"]
    assert shown(run("cat", "cat"), words=True, specials=False).labels == ["cat", "cat"]


def test_special_tokens_can_be_hidden():
    made = run(*PAIR)
    view, whole = shown(made, 1, specials=False), shown(made, 1)
    kept = [index for index, token in enumerate(made.tokens) if token not in ("[CLS]", "[SEP]")]
    assert view.labels == [made.tokens[index] for index in kept]
    for part in ("total", "rest", "pattern"):
        np.testing.assert_allclose(getattr(view, part), getattr(whole, part)[np.ix_(kept, kept)], atol=1e-5)
    assert (view.pattern.sum(1) < 1).all()


@pytest.mark.parametrize("words", [False, True])
def test_centred_rows_have_a_mean_of_zero_over_all_keys_and_hide_nothing_of_the_pattern(words):
    made = run("the unhappiness ran on , unhappiness !")
    plain, centred = shown(made, words=words), shown(made, words=words, centred=True)
    sizes = np.array(
        [3 if label == "unhappiness" else 1 for label in centred.labels] if words else [1] * len(made.tokens)
    )
    for scores in [*centred.terms.values(), centred.total, centred.rest]:
        np.testing.assert_allclose(scores @ sizes / sizes.sum(), 0, atol=1e-5)
    np.testing.assert_array_equal(centred.pattern, plain.pattern)
    # What is subtracted is one number a row, also where special tokens are hidden.
    hidden = shown(made, words=words, specials=False, centred=True)
    inner = slice(1, -1)
    np.testing.assert_allclose(hidden.total, centred.total[inner, inner], atol=1e-5)
    np.testing.assert_allclose(np.ptp(plain.total - centred.total, axis=1), 0, atol=1e-4)
