"""Proves that the guided reading's steps hang together, and that its charts show what arithmetic gives.

Each chart of its own is held against something that nobody here wrote: transformers' own tables, torch's attention and
linear layer, scipy's integrals, sums of whole numbers. Every sentence has a number from the store in it.
"""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import integrate
from scipy.spatial import distance
from transformers import AutoTokenizer, BertModel

from analysis.claims import CLAIMS, DOCUMENTS
from analysis.core import default_model
from analysis.core.errors import LinkError, NoResults
from analysis.figures import FIGURES
from analysis.figures.reading import order, shift
from analysis.figures.reading.orthogonal import BINS, cosine_cdf, mean_abs_cosine
from analysis.figures.reading.sum import summands
from analysis.links import VIEWS
from analysis.narrative.reading import STEPS, Step, ordered
from analysis.narrative.shift import picture

VALUES = VIEWS["read"].defaults()
STEP_NAMES = [step.name for step in ordered()]


@pytest.mark.parametrize("name", STEP_NAMES)
def test_a_step_names_what_exists(name: str) -> None:
    step = STEPS[name]
    assert step.figure in VIEWS[step.page].figures
    assert set(step.documents) <= set(DOCUMENTS)
    assert set(step.claims) <= set(CLAIMS)
    assert step.controls, "every step has something to touch"
    fields = {field.name for field in VIEWS["read"].fields}
    assert {touch.field for touch in step.controls} <= fields
    assert set(step.params(VALUES)) <= {field.name for field in VIEWS[step.page].fields}
    assert set(step.more.values(VALUES)) <= {field.name for field in VIEWS[step.more.page].fields}
    assert "$" not in step.text, "no formula without a picture beside it"
    assert step.text.count("\n\n") == 0, "one paragraph"


def test_steps_are_numbered_without_a_gap_and_the_first_is_the_default() -> None:
    assert [step.place for step in ordered()] == list(range(1, len(STEPS) + 1))
    assert VALUES["step"] == STEP_NAMES[0]
    assert len(STEPS) >= 9


def test_every_document_is_named_by_a_step() -> None:
    assert {number for step in ordered() for number in step.documents} == set(DOCUMENTS)


@pytest.mark.parametrize("name", STEP_NAMES)
def test_what_is_picked_at_first_is_among_the_options(store: Path, name: str) -> None:
    for touch in STEPS[name].controls:
        assert VALUES[touch.field] in list(touch.options())


@pytest.mark.parametrize("name", STEP_NAMES)
def test_every_option_of_a_step_draws_and_says_a_number(store: Path, name: str) -> None:
    step: Step = STEPS[name]
    said, lacking = [], []
    for touch in step.controls:
        options = list(touch.options())
        for option in dict.fromkeys((options[0], options[-1])):
            values = {**VALUES, touch.field: option}
            if not FIGURES[step.figure].live:
                asked = {**VIEWS[step.page].defaults(), **step.params(values)}
                assert len(FIGURES[step.figure].make(asked).frame())
            try:
                said.append(step.says(values))
            except NoResults as missing:
                lacking.append(str(missing))
    assert all(re.search(r"\d", sentence) and sentence.endswith(".") for sentence in said), said
    assert all("Run: " in sentence for sentence in lacking), lacking


def test_a_sentence_changes_with_what_it_is_about(store: Path) -> None:
    heads = {STEPS["questions"].says({**VALUES, "head": head}) for head in range(12)}
    assert len(heads) == 12
    assert len({STEPS["untying"].says({**VALUES, "leave": task}) for task in ("", "cola", "rte")}) == 3


def test_an_empty_store_is_told_as_such(data: Path) -> None:
    from analysis import store_build

    store_build.refresh()
    for name in ("objection", "sum", "orthogonal", "models", "training"):
        with pytest.raises(NoResults, match=r"[Rr]un: python -m analysis|with: python -m analysis"):
            STEPS[name].says(VALUES)


# ---- The charts ----


def test_on_one_axis_sums_of_whole_numbers_collide_and_on_two_none_does() -> None:
    flat = FIGURES["reading_plane"].make({"angle": 0})
    pairs = list(itertools.product(range(1, 9), repeat=2))
    totals = [word + position for word, position in pairs]
    frame = flat.frame()
    assert [totals.count(word + position) for word, position in pairs] == frame.pairs.tolist()
    assert f"{len(set(totals))} different sums" in flat.caption
    square = FIGURES["reading_plane"].make({"angle": 90})
    np.testing.assert_allclose(square.frame()[["x", "y"]], pairs, atol=1e-8)
    assert set(square.frame().pairs) == {1}


@pytest.mark.parametrize("by", [0, 7, 100])
def test_the_moved_sentence_is_what_transformers_own_model_attends_to(by: int) -> None:
    tokens = AutoTokenizer.from_pretrained(default_model.folder())(" ".join(shift.SENTENCE[1:-1]), return_tensors="pt")
    assert tuple(AutoTokenizer.from_pretrained(default_model.folder()).convert_ids_to_tokens(tokens.input_ids[0])) == (
        shift.SENTENCE
    )
    model = BertModel.from_pretrained(default_model.folder(), attn_implementation="eager").double().eval()
    positions = torch.arange(len(shift.SENTENCE))[None] + by
    with torch.no_grad():
        expected = model(**tokens, position_ids=positions, output_attentions=True).attentions[0][0]
        first = model(**tokens, output_attentions=True).attentions[0][0]
    np.testing.assert_allclose(shift.patterns()[by], expected, atol=1e-9)
    variation = (expected - first).abs().sum(-1).mean(-1) / 2
    np.testing.assert_allclose(shift.changes()[by], variation, atol=1e-9)


def test_the_moving_picture_draws_these_patterns() -> None:
    drawn = picture(3)
    assert len(drawn["patterns"]) == len(drawn["changes"]) == len(drawn["shifts"])
    np.testing.assert_allclose(np.array(drawn["patterns"][40]) / 1000, shift.patterns()[40, 3].ravel(), atol=5e-4)


@pytest.mark.parametrize("split", [1, 4, 7])
def test_a_linear_layer_on_a_concatenation_is_the_sum_of_two(split: int) -> None:
    figure = FIGURES["reading_concatenation"].make({"split": split})
    made, frame = figure.content.example, figure.frame()
    with torch.no_grad():
        layer = torch.nn.Linear(*made.matrix.shape, bias=False).double()
        layer.weight.copy_(torch.from_numpy(made.matrix.T))
        whole = layer(torch.cat([torch.from_numpy(made.word), torch.from_numpy(made.position)]))
    assert len(made.position) == split
    np.testing.assert_allclose(frame.concatenated, whole, atol=1e-12)
    np.testing.assert_allclose(frame.word_part + frame.position_part, whole, atol=1e-12)
    assert np.abs(frame.position_part).max() > 0.1


def test_the_sum_is_what_transformers_adds() -> None:
    folder = default_model.folder()
    model = BertModel.from_pretrained(folder, add_pooling_layer=False).double()
    ids = torch.tensor([AutoTokenizer.from_pretrained(folder).convert_tokens_to_ids(["dog"] * 20)])
    taken = []
    model.embeddings.LayerNorm.register_forward_pre_hook(lambda _, given: taken.append(given[0]))
    with torch.no_grad():
        model(ids)
    figure = FIGURES["reading_sum"].make({"word": "dog", "position": 14})
    np.testing.assert_allclose(figure.content.values[3], taken[0][0, 14], atol=1e-7)


@pytest.mark.parametrize("word", ["king", "the", "river"])
def test_where_the_sum_points_is_said_as_its_cosine_has_it(word: str) -> None:
    """At every position of the slider; scipy's cosine of the model's own vectors decides what may be said."""
    phrases = ("still points where the word does", "is turned away from the word by", "is as much position as word")
    seen = set()
    for position in range(0, 512, 7):
        parts = summands(word, position)
        cosine = 1 - distance.cosine(parts[0], parts.sum(0))
        expected = phrases[0] if cosine > 0.8 else phrases[1] if cosine >= 0.5 else phrases[2]
        figure = FIGURES["reading_sum"].make({"word": word, "position": position})
        assert [phrase in figure.finding for phrase in phrases] == [phrase == expected for phrase in phrases]
        assert ("only [CLS] stood there" in figure.caption) == (position == 0)
        if expected == phrases[1]:
            assert f"{np.degrees(np.arccos(cosine)):.0f}°" in figure.finding
        seen.add(expected)
    assert len(seen) > 1


def test_one_model_is_not_told_as_several(store: Path) -> None:
    """At the deepest layer a single stored model has cross terms."""
    values = VIEWS["read"].defaults()
    only = STEPS["models"].says({**values, "layer": 5})
    assert "the only stored model that has cross terms at layer 5" in only
    assert "with attention patterns and norms held as in the model" in only
    several = STEPS["models"].says({**values, "layer": 0})
    assert "stored models that have cross terms" in several
    assert "held as in the model" not in several


@pytest.mark.parametrize("dim", [2, 3, 16, 384])
def test_the_cosine_is_distributed_as_drawn_vectors_are(dim: int) -> None:
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 40_000, dim))
    cosine = (first * second).sum(1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    figure = FIGURES["reading_orthogonal"].make({"dim": dim})
    drawn, _ = np.histogram(cosine, bins=np.linspace(-1, 1, BINS + 1))
    share = figure.frame().share.to_numpy()
    assert share.sum() == pytest.approx(1)
    assert np.abs(drawn / len(cosine) - share).max() < 5 * np.sqrt(share.max() / len(cosine))
    exact, _ = integrate.quad(lambda c: 1 - (cosine_cdf(np.array([c]), dim) - cosine_cdf(np.array([-c]), dim))[0], 0, 1)
    assert mean_abs_cosine(dim) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("causal", [False, True])
def test_the_network_is_torchs_attention(causal: bool) -> None:
    rng = np.random.default_rng(3)
    words, weights = rng.standard_normal((6, 16)), rng.standard_normal((3, 3, 16, 16)) / 4
    hidden = torch.from_numpy(words)
    for layer in torch.from_numpy(weights):
        query, key, value = (hidden @ matrix for matrix in layer)
        attended = torch.nn.functional.scaled_dot_product_attention(
            query[None], key[None], value[None], is_causal=causal
        )
        hidden = hidden + attended[0]
    np.testing.assert_allclose(order.network(words, weights, causal=causal), hidden, atol=1e-10)


def test_only_a_causal_mask_and_two_layers_tell_the_last_word_the_order() -> None:
    for depth in order.DEPTHS:
        every, before = order.changes(depth)
        assert every.max() < 1e-12, "without positions an encoder is blind to order, however deep"
        assert before[:, 0].min() > 1e-3, "a word that moves sees other words"
        assert (before[:, -1].max() < 1e-12) == (depth == 1)


@pytest.mark.parametrize(
    ("figure", "values"),
    [
        ("reading_plane", {"angle": 91}),
        ("reading_concatenation", {"split": 8}),
        ("reading_sum", {"word": "dog", "position": 512}),
        ("reading_sum", {"word": "<b>", "position": 1}),
        ("reading_orthogonal", {"dim": 1}),
        ("reading_order", {"depth": 7}),
        ("reading_shift", {"head": 12}),
        ("reading_open", {"verdict": "true"}),
    ],
)
def test_what_no_chart_takes_is_said(figure: str, values: dict) -> None:
    with pytest.raises(LinkError, match=r"The link says .*; expected"):
        FIGURES[figure].make(values)
