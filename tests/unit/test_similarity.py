"""The parts of a cosine add up to the model's own, for encoders of many families, and positions are what is removed."""

import copy
import json
from typing import Any

import numpy as np
import pytest
import torch
from family_specimens import SPECIMENS
from specimens import PAIR, TEXT, embedded_eager, embedded_loaded, tiny_tokenizer
from torch.nn.functional import cosine_similarity

from analysis.core.errors import LinkError, ModelError, TextError, UnknownName
from analysis.core.term_names import SOURCES
from analysis.figures import FIGURES
from analysis.links import VIEWS
from analysis.measurements.similarity.measure import cosine, split_cosine, without
from analysis.measurements.similarity.result import GROUPS, POOLINGS
from analysis.models.load import Loaded
from analysis.probes.similarity_probe import SimilarityRequest, command

READS_TEXT = [name for name, specimen in SPECIMENS.items() if specimen.inputs is None]


def own_vector(model: Any, text: str, pooling: str) -> torch.Tensor:
    """The vector of a text by transformers alone."""
    inputs = dict(tiny_tokenizer()(text, return_tensors="pt"))
    if not int(getattr(model.config, "type_vocab_size", 0) or 0):
        inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        states = model(**inputs).last_hidden_state[0].double()
    return {"mean": states.mean(0), "first": states[0], "last": states[-1]}[pooling]


@pytest.mark.parametrize("name", READS_TEXT)
def test_the_parts_add_up_to_the_models_own_cosine(name: str) -> None:
    model = SPECIMENS[name].build()
    first, second = PAIR
    for pooling in POOLINGS:
        result = SimilarityRequest(model="", text=first, pair=second, pooling=pooling).run(
            Loaded.of(model, tiny_tokenizer())
        )
        own = float(cosine_similarity(own_vector(model, first, pooling), own_vector(model, second, pooling), dim=0))
        assert result.cosine == pytest.approx(own, abs=1e-5)
        size = float(np.abs(result.by_source).sum())
        for parts in (result.by_source, result.by_pair):
            assert parts.sum() == pytest.approx(own, abs=2e-5 * size)
        assert sum(result.by_group().values()) == pytest.approx(float(result.by_source.sum()), rel=1e-9)
        for group, part in zip(result.by_group().values(), result.by_pair, strict=True):
            assert part.sum() == pytest.approx(group, abs=1e-9 * size)
        assert result.by_pair.shape == (len(GROUPS), len(result.first), len(result.second))


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5 gated", "deberta-v2", "mpnet", "modernbert", "llama", "albert"])
def test_in_float64_they_add_up_to_rounding(name: str) -> None:
    result = SimilarityRequest(model="", text=PAIR[0], pair=PAIR[1]).run(
        Loaded.of(SPECIMENS[name].build().double(), tiny_tokenizer())
    )
    size = float(np.abs(result.by_source).sum())
    assert result.error < 1e-11 * size
    assert abs(float(result.pairs().sum()) - result.cosine) < 1e-11 * size
    assert result.provenance.dtype == "float64"


def test_a_split_cosine_is_that_of_the_sums() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(len(SOURCES), 5, 7)), rng.normal(size=(len(SOURCES), 3, 7))
    for pooling in POOLINGS:
        by_source, by_pair = split_cosine(first, second, pooling)
        left, right = (torch.from_numpy(parts.sum(0)) for parts in (first, second))
        pooled = {"mean": (left.mean(0), right.mean(0)), "first": (left[0], right[0]), "last": (left[-1], right[-1])}
        expected = float(cosine_similarity(*pooled[pooling], dim=0))
        assert by_source.sum() == pytest.approx(expected, abs=1e-12)
        assert by_pair.sum() == pytest.approx(expected, abs=1e-12)
        assert cosine(left.numpy(), right.numpy(), pooling) == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(without(first, "position"), first[[0, 2, 3]].sum(0))
    only = np.zeros_like(first)
    only[1] = first[1]
    by_source, _ = split_cosine(only, second, "mean")
    assert not by_source[[0, 2, 3]].any(), "a source that contributes nothing has no part"


def test_without_positions_is_the_model_with_a_table_of_zeros() -> None:
    """Of the embedded model, by transformers alone."""
    loaded = embedded_loaded()
    result = SimilarityRequest(model="", text="The dog chased the cat.", pair="The cat chased the dog.").run(loaded)
    model = copy.deepcopy(embedded_eager())
    with torch.no_grad():
        model.embeddings.position_embeddings.weight.zero_()
    vectors = []
    for text in (result.provenance.text, result.provenance.text_pair):
        with torch.inference_mode():
            states = model(**loaded.tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        vectors.append(states.mean(0))
    assert result.without_positions == pytest.approx(float(cosine_similarity(*vectors, dim=0)), abs=1e-5)
    assert result.without_positions == pytest.approx(1, abs=1e-5), "without positions the order of words is lost"
    assert result.cosine < 0.9999


def test_what_cannot_be_compared_is_said() -> None:
    model, tokenizer = SPECIMENS["bert"].build(), tiny_tokenizer()
    with pytest.raises(TextError, match="the second is missing"):
        SimilarityRequest(model="", text="the cat", pair=" ").run(Loaded.of(model, tokenizer))
    with pytest.raises(UnknownName, match="mean, first, last"):
        SimilarityRequest(model="", text="the cat", pair="a dog", pooling="max").run(Loaded.of(model, tokenizer))
    with pytest.raises(LinkError, match="pooling='max'"):
        SimilarityRequest.of({**VIEWS["inside"].defaults(), "pair": "a dog", "pooling": "max"})
    with pytest.raises(ModelError, match="reads images, not text"):
        SimilarityRequest(model="", text="the cat", pair="a dog").run(Loaded.of(SPECIMENS["vit"].build(), tokenizer))


def test_the_figures_hold_every_part_and_say_which_pair_is_outlined() -> None:
    values = {**VIEWS["inside"].defaults(), "text": TEXT, "pair": PAIR[0]}
    result = SimilarityRequest.of(values).run(embedded_loaded())
    sources = FIGURES["similarity_sources"].of(values, result)
    frame = sources.frame()
    parts = frame[frame.source_of_first != ""]
    assert parts.value.sum() == pytest.approx(result.cosine, abs=1e-5)
    assert frame.set_index("part").value["cosine of the two texts"] == result.cosine
    pairs = FIGURES["similarity_pairs"].of(values | {"query": 2, "key": 1}, result)
    cells = pairs.frame()
    assert cells.value.sum() == pytest.approx(result.cosine, abs=1e-5)
    names = [name.replace(" ", "_") for name in GROUPS]
    np.testing.assert_allclose(cells[names].sum(axis=1), cells.value, atol=1e-12)
    chosen = cells[(cells["query"] == 2) & (cells["key"] == 1)].iloc[0]
    assert f"Outlined: “{chosen.token_of_first}” with “{chosen.token_of_second}”" in pairs.caption
    strongest = FIGURES["similarity_pairs"].of(values, result)
    top = cells.iloc[cells.value.argmax()]
    assert f"Outlined: “{top.token_of_first}” with “{top.token_of_second}”" in strongest.caption
    with pytest.raises(LinkError, match="query=99; the tokens of this text are 0 to"):
        FIGURES["similarity_pairs"].of(values | {"query": 99}, result)
    for figure in (sources, pairs):
        assert figure.draw is not None


def test_the_command_that_a_figure_names_gives_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    import shlex

    from typer.testing import CliRunner

    from analysis.commands import app

    values = {**VIEWS["inside"].defaults(), "text": "The dog's cat.", "pair": "A cat; its dog.", "pooling": "first"}
    result = SimilarityRequest.of(values).run(embedded_loaded())
    arguments = shlex.split(command(result).removeprefix("python -m analysis "))
    answer = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert answer["cosine"] == pytest.approx(result.cosine, abs=1e-6)
    np.testing.assert_allclose(answer["by_pair"], result.pairs(), atol=1e-6)
    assert list(answer["by_group"].values()) == pytest.approx(list(result.by_group().values()), abs=1e-6)
