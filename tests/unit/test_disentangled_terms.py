"""DeBERTa's content-to-distance and distance-to-content scores as terms of their own.

The reference is the formula of He et al. 2021, written here in float64 from the model's weights; which embedding
belongs to which pair is as transformers has it.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from family_specimens import _tiny
from specimens import TEXT, tiny_tokenizer
from torch import Tensor

from analysis.core.errors import InterventionError
from analysis.core.term_names import DISENTANGLED
from analysis.measurements.interventions import parse
from analysis.measurements.interventions.forward import forward
from analysis.measurements.terms import decompose, measures
from analysis.models.families import FAMILIES
from analysis.models.load import Loaded
from analysis.models.trace_sources import Layer, trace_sources
from analysis.probes import saved_probes
from analysis.probes.text_probe import LayersRequest
from analysis.store import read
from analysis.store.sync import sync

FURTHEST = 4
BOTH: dict[str, Any] = {"relative_attention": True, "position_biased_input": False, "pos_att_type": ["p2c", "c2p"]}
NEAR: dict[str, Any] = {"max_relative_positions": FURTHEST, "type_vocab_size": 2}
MODELS = {
    "version 1": _tiny("Deberta", **BOTH, **NEAR),
    "version 2": _tiny("DebertaV2", **BOTH, **NEAR),
    "version 3": _tiny("DebertaV2", share_att_key=True, norm_rel_ebd="layer_norm", **BOTH, **NEAR),
}


def by_formula(model: Any, tokens: int) -> tuple[Tensor, Tensor]:
    """c2p and p2c of layer 0, (head, query, key), for the text of the test."""
    model = model.double()
    module = model.encoder.layer[0].attention.self
    heads = module.num_attention_heads
    encoded = tiny_tokenizer()(TEXT, return_tensors="pt")

    def by_head(x: Tensor) -> Tensor:
        return x.unflatten(-1, (heads, -1)).transpose(-3, -2)

    with torch.no_grad():
        hidden = model.embeddings(encoded["input_ids"], encoded.get("token_type_ids"))[0]
        distances = model.encoder.get_rel_embedding()
        if hasattr(module, "in_proj"):
            query, key, _ = by_head(hidden @ module.in_proj.weight.T).chunk(3, -1)
            query = query + module.q_bias.view(heads, 1, -1)
            far_key, far_query = by_head(module.pos_proj(distances)), by_head(module.pos_q_proj(distances))
        else:
            query, key = by_head(module.query_proj(hidden)), by_head(module.key_proj(hidden))
            keys, queries = (
                (module.key_proj, module.query_proj)
                if module.share_att_key
                else (module.pos_key_proj, module.pos_query_proj)
            )
            far_key, far_query = by_head(keys(distances)), by_head(queries(distances))
    place = torch.arange(tokens)
    row = (place[:, None] - place + FURTHEST).clamp(0, 2 * FURTHEST - 1)
    size = (3 * query.shape[-1]) ** 0.5
    c2p = torch.einsum("hid,hijd->hij", query, far_key[:, row]) / size
    p2c = torch.einsum("hjd,hijd->hij", key, far_query[:, row]) / size
    return c2p, p2c


@pytest.mark.parametrize("name", MODELS)
def test_each_is_the_formula(name: str) -> None:
    made = decompose(MODELS[name](), tiny_tokenizer(), TEXT)
    assert made.names[-2:] == DISENTANGLED
    assert len(made.tokens) > FURTHEST + 2, "no distance here is beyond the furthest"
    for term, expected in zip(DISENTANGLED, by_formula(MODELS[name](), len(made.tokens)), strict=True):
        np.testing.assert_allclose(made.terms[term], expected.numpy(), atol=1e-5 * float(expected.abs().max()))
    np.testing.assert_allclose(made.total(), made.scores, atol=1e-5 * np.ptp(made.scores))
    np.testing.assert_allclose(sum(made.shares().values()), 1, atol=1e-4)


@pytest.mark.parametrize(("kind", "term"), list(zip(("c2p", "p2c"), DISENTANGLED, strict=True)))
@pytest.mark.parametrize("version", ["Deberta", "DebertaV2"])
def test_a_model_with_one_of_them_has_that_term_alone(version: str, kind: str, term: str) -> None:
    model = _tiny(version, **(BOTH | NEAR | {"pos_att_type": [kind]}))()
    assert decompose(model, tiny_tokenizer(), TEXT).names[16:] == (term,)
    assert LayersRequest(model="", text=TEXT).run(Loaded.of(model, tiny_tokenizer())).terms[16:] == (term,)


@pytest.mark.parametrize("name", MODELS)
def test_dropping_one_takes_its_map_from_the_scores(name: str) -> None:
    model = MODELS[name]()
    inputs = dict(tiny_tokenizer()(TEXT, return_tensors="pt"))
    family = FAMILIES[model.config.model_type]
    whole: list[Layer] = []
    dropped: list[Layer] = []
    trace_sources(model, family, inputs, whole.append)
    forward(model, family, inputs, (parse("drop_terms:content_to_distance/0"),), dropped.append)
    c2p, _ = by_formula(MODELS[name](), whole[0].call.scores.shape[-1])
    expected = (whole[0].call.scores[0].double() - c2p).softmax(-1)
    torch.testing.assert_close(dropped[0].pattern[0].double(), expected, atol=1e-5, rtol=0)


def test_what_a_model_does_not_add_cannot_be_dropped() -> None:
    model = MODELS["version 1"]()
    inputs = dict(tiny_tokenizer()(TEXT, return_tensors="pt"))
    with pytest.raises(InterventionError, match=r"no score bias .* It adds content_to_distance, distance_to_content"):
        forward(model, FAMILIES[model.config.model_type], inputs, (parse("drop_terms:score_bias"),))


def test_both_come_back_in_a_saved_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_PROBES", str(tmp_path))
    made = decompose(MODELS["version 3"](), tiny_tokenizer(), TEXT)
    back = saved_probes.read(saved_probes.write(made, "a test"))
    assert list(back.added) == list(DISENTANGLED)
    for term in DISENTANGLED:
        np.testing.assert_allclose(back.added[term], made.added[term], rtol=1e-6)
    np.testing.assert_allclose(back.scores, made.scores, atol=1e-4 * np.ptp(made.scores))


def test_two_added_terms_measure_as_one_of_them_does_beside_the_other_s_map() -> None:
    """With one of two maps zero, every measure of the other is what it is alone."""
    generator = torch.Generator().manual_seed(0)
    query, key = (torch.randn(4, 2, 5, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    bias = torch.randn(1, 2, 5, 5, generator=generator, dtype=torch.float64)
    two = torch.cat([torch.zeros_like(bias), bias])
    for measure in (measures.shares, measures.raw_rms, lambda *given: measures.effects(*given)[0]):
        alone, beside = measure(query, key, 0.5, None, bias), measure(query, key, 0.5, None, two)
        torch.testing.assert_close(beside[-1], alone[-1])
        torch.testing.assert_close(beside[:16], alone[:16])
        torch.testing.assert_close(beside[16], torch.zeros(2, dtype=torch.float64))


def test_the_store_takes_in_a_probe_with_added_terms(data: Path) -> None:
    made = decompose(MODELS["version 3"](), tiny_tokenizer(), TEXT)
    saved_probes.write(made, "a test")
    assert sync({}).problems == []
    row = read.query("SELECT p.added, len(h.score_bias) AS numbers FROM probes p JOIN probe_heads h USING (probe_id)")
    assert list(row.added[0]) == list(DISENTANGLED)
    assert row.numbers[0] == 2 * len(made.tokens) ** 2
