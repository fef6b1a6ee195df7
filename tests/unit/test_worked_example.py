"""The worked example of the page Method and data: its numbers are those that the model's own weights give."""

import re
from itertools import combinations

import numpy as np
import pytest
import torch
from specimens import embedded_loaded

from analysis.core.term_names import FOUR, SOURCES
from analysis.narrative import method, worked_example
from analysis.probes import saved_probes

HEAD = worked_example.HEAD


def there(example: worked_example.Example | None) -> worked_example.Example:
    assert example is not None
    return example


def numbers(example: worked_example.Example | None) -> list[float]:
    """Every number of an example that has at least two decimals or a percent sign, in order."""
    text = " ".join(there(example)).replace(r"\,\%", " %").replace("−", "-")
    return [float(number) for number in re.findall(r"-?\d+\.\d\d+|-?\d+(?= %)", text)]


@pytest.fixture(scope="module")
def kept():
    return saved_probes.read("example-agreement")


@pytest.fixture(scope="module")
def all_terms(kept) -> list[dict[str, np.ndarray]]:
    """The sixteen terms of each head of the first layer, from the model's weights alone."""
    heads = embedded_loaded().model.config.num_attention_heads
    return [terms_of_head(kept.provenance.text, head) for head in range(heads)]


@pytest.fixture(scope="module")
def terms(all_terms) -> dict[str, np.ndarray]:
    """Those of the head of the example."""
    return all_terms[HEAD]


def test_lengths_are_those_of_the_vectors_that_the_model_looks_up(kept) -> None:
    loaded = embedded_loaded()
    ids = loaded.tokenizer(kept.provenance.text, return_tensors="pt")["input_ids"][0]
    place, _ = worked_example.strongest_pair(kept)
    embeddings = loaded.model.embeddings
    tables = embeddings.word_embeddings, embeddings.position_embeddings, embeddings.token_type_embeddings
    indices = ids[place], torch.tensor(place), torch.tensor(0)
    with torch.no_grad():
        parts = [table(index).double() for table, index in zip(tables, indices, strict=True)]
    *lengths, total = [float(part.norm()) for part in (*parts, sum(parts))]
    squares = [length**2 for length in lengths]
    products = sum(2 * float(a @ b) for a, b in combinations(parts, 2))
    expected = [number for length in lengths for number in (length, length**2)]
    expected += [products, total, total**2, sum(squares) ** 0.5]
    assert numbers(worked_example.entering()) == pytest.approx(expected, abs=0.0006)


def terms_of_head(text: str, head: int) -> dict[str, np.ndarray]:
    """The sixteen terms of a head; their sum is the score of the model's own projections."""
    loaded = embedded_loaded()
    tokens = loaded.tokenizer(text, return_tensors="pt")
    embeddings, layer = loaded.model.embeddings, loaded.model.encoder.layer[0].attention.self
    size = layer.attention_head_size
    heads = slice(head * size, (head + 1) * size)
    with torch.no_grad():
        hidden = embeddings(tokens["input_ids"])[0]
        ids = tokens["input_ids"][0]
        added = {
            "word": embeddings.word_embeddings(ids),
            "position": embeddings.position_embeddings(torch.arange(len(ids))),
            "segment": embeddings.token_type_embeddings(torch.zeros_like(ids)),
        }
        total, norm = torch.stack(list(added.values())).sum(0), embeddings.LayerNorm
        spread = torch.sqrt(total.var(-1, unbiased=False, keepdim=True) + norm.eps)
        states = {name: norm.weight * (part - part.mean(-1, keepdim=True)) / spread for name, part in added.items()}
        states["bias"] = norm.bias.expand_as(hidden)
        sides = []
        for projection in (layer.query, layer.key):
            side = {name: state @ projection.weight[heads].T for name, state in states.items()}
            side["bias"] = side["bias"] + projection.bias[heads]
            sides.append(side)
        parts = {f"{a}_to_{b}": sides[0][a] @ sides[1][b].T / size**0.5 for a in SOURCES for b in SOURCES}
        score = layer.query(hidden)[:, heads] @ layer.key(hidden)[:, heads].T / size**0.5
    assert torch.allclose(torch.stack(list(parts.values())).sum(0), score, atol=1e-4)
    return {name: part.double().numpy() for name, part in parts.items()}


def test_the_score_is_the_sum_of_its_parts(kept, terms) -> None:
    example = there(worked_example.score())
    query, key = worked_example.strongest_pair(kept)
    *parts, total = numbers(example)
    assert f"“{kept.tokens[query]}” for “{kept.tokens[key]}”" in example.text
    assert total == pytest.approx(sum(term[query, key] for term in terms.values()), abs=0.006)
    assert parts[:4] == pytest.approx([terms[name][query, key] for name in FOUR], abs=0.006)
    assert sum(parts) == pytest.approx(total, abs=0.03)


def test_a_centred_term_is_the_term_less_its_mean_over_keys(kept, terms) -> None:
    query, key = worked_example.strongest_pair(kept)
    row = terms["word_to_word"][query]
    assert numbers(worked_example.centred()) == pytest.approx([row[key], row.mean(), row[key] - row.mean()], abs=0.006)


def centre(terms: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The terms less their mean over the keys."""
    return {name: term - term.mean(-1, keepdims=True) for name, term in terms.items()}


def test_the_mean_over_heads_and_the_pooled_share_are_of_all_heads(all_terms) -> None:
    found = [(centre(terms), np.sum(list(centre(terms).values()), axis=0)) for terms in all_terms]
    parts = np.array([(centred["word_to_word"] * whole).sum() for centred, whole in found])
    wholes = np.array([(whole**2).sum() for _, whole in found])
    first, last, *averages = numbers(worked_example.over_heads())
    assert [first, last] == pytest.approx([(parts / wholes)[0], (parts / wholes)[-1]], abs=0.006)
    assert averages == pytest.approx([100 * (parts / wholes).mean(), 100 * parts.sum() / wholes.sum()], abs=0.51)
    assert rf"\frac{{{parts.sum():.0f}}}{{{wholes.sum():.0f}}}" in there(worked_example.over_heads()).formula


def test_shares_are_parts_of_what_varies_and_add_up(terms) -> None:
    centred = centre(terms)
    whole = np.sum(list(centred.values()), axis=0)
    printed = numbers(worked_example.share())
    shares = [100 * float((centred[name] * whole).sum() / (whole**2).sum()) for name in FOUR]
    above, below = (centred[FOUR[0]] * whole).sum(), (whole**2).sum()
    assert rf"\frac{{{above:.1f}}}{{{below:.1f}}}" in there(worked_example.share()).formula
    assert printed == pytest.approx([*shares, 100 - sum(shares)], abs=0.51)


def test_an_effect_is_the_divergence_from_the_pattern_without_a_term(terms) -> None:
    scores = torch.tensor(np.sum(list(terms.values()), axis=0))
    pattern = scores.softmax(-1)
    effects = [
        float((pattern * (pattern.log() - (scores - torch.tensor(terms[name])).log_softmax(-1))).sum(-1).mean())
        for name in FOUR
    ]
    assert numbers(worked_example.effect()) == pytest.approx(effects, abs=0.006)


def test_cancellation_is_the_size_of_the_terms_over_that_of_the_scores(terms) -> None:
    centred = centre(terms)
    sizes = sum(float(np.linalg.norm(term)) for term in centred.values())
    whole = float(np.linalg.norm(np.sum(list(centred.values()), axis=0)))
    assert there(worked_example.cancelled()).formula == rf"\frac{{{sizes:.1f}}}{{{whole:.1f}}} = {sizes / whole:.1f}"


def test_without_a_stored_probe_no_part_prints_an_example(monkeypatch) -> None:
    monkeypatch.setattr(worked_example.opening_results, "stored_result", lambda request: None)
    assert {part.example() for part in method.PARTS if part.example} == {None}
