"""Proves that an intervention is what it says: the same model with other weights, other position ids, other scores.

The references are transformers' own: a copy of the model whose tables are changed, its position_ids argument, its
eager pass, its logits. None of them goes through our hooks or our attention.
"""

import contextlib
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from family_specimens import SPECIMENS, ids
from scipy.special import log_softmax, rel_entr, softmax
from specimens import PAIR, TEXT, embedded_eager, embedded_loaded, tiny_bert, tiny_tokenizer
from transformers import BertForMaskedLM

from analysis.ablation.encoder import AddendConfig, AddendForMaskedLM, draw_weights
from analysis.ablation.variants import VARIANTS
from analysis.core.errors import InterventionError, ModelError, UnknownName
from analysis.core.term_names import TERMS
from analysis.encodings import encode
from analysis.measurements.interventions import INTERVENTIONS, parse
from analysis.measurements.interventions.forward import forward
from analysis.measurements.interventions.measures import cosines, pattern_kl
from analysis.measurements.interventions.run import forward_text, intervene, permutation_test
from analysis.measurements.terms import decompose
from analysis.models.families import FAMILIES
from analysis.models.load import Loaded, load
from analysis.models.source import Source, resolve
from analysis.probes.intervention_probe import MOVERS

TOKENIZER = tiny_tokenizer()


def batch(texts: tuple[str, str | None] = PAIR) -> dict[str, torch.Tensor]:
    return dict(TOKENIZER(*texts, return_tensors="pt"))


def loaded(model: Any, name: str = "tiny") -> Loaded:
    return Loaded(model, TOKENIZER, Source(name, "made up", Path("."), model.config.to_dict()), "cpu")


def addend(variant: str, **more: Any) -> Any:
    fields = VARIANTS[variant].fields(hidden_size=40, heads=4)
    shape = {"vocab_size": 25, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 16}
    model = AddendForMaskedLM(
        AddendConfig(**{**shape, "initializer_range": 0.4, "max_position_embeddings": 40, **fields, **more})
    )
    draw_weights(model, 0)
    return model.double().eval()


def output(model: Any, specs: tuple[str, ...] = (), inputs: Any = None) -> torch.Tensor:
    family = FAMILIES[model.config.model_type]
    return forward(model, family, inputs or batch(), [parse(spec) for spec in specs]).hidden


def eager(model: Any, **more: Any) -> Any:
    model.set_attn_implementation("eager")
    with torch.no_grad():
        return model(**{**batch(), **more}, output_attentions=True)


def changed(change: Callable[[torch.Tensor], torch.Tensor], table: str = "position_embeddings") -> torch.Tensor:
    """The output of a copy of the model whose table is changed."""
    model = copy.deepcopy(tiny_bert().double())
    weight = getattr(model.embeddings, table).weight
    length = batch()["input_ids"].shape[1]
    with torch.no_grad():
        weight[:length] = change(weight[:length].clone())
    return eager(model).last_hidden_state


def equal_rms(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
    def swap(rows: torch.Tensor) -> torch.Tensor:
        new = encode(name, length=len(rows), dim=rows.shape[1])
        return torch.from_numpy(new * np.sqrt((rows.numpy() ** 2).mean() / (new**2).mean()))

    return swap


@pytest.mark.parametrize(
    ("spec", "change"),
    [
        ("zero_positions", torch.zeros_like),
        ("one_position:3", lambda rows: rows[3].expand_as(rows)),
        ("shuffle_positions:5", lambda rows: rows[np.random.default_rng(5).permutation(len(rows))]),
        ("scale_positions:0.5", lambda rows: rows / 2),
        ("scale_positions:-2", lambda rows: -2 * rows),
        ("swap_positions", equal_rms("sinusoidal")),
        ("swap_positions:random_fixed", equal_rms("random_fixed")),
    ],
)
def test_it_is_the_model_with_another_table(spec: str, change: Any) -> None:
    model = tiny_bert().double()
    got, expected = output(model, (spec,)), changed(change)
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)
    assert float((got - output(model)).abs().max()) > 0.01, "it changes something"


def test_zero_segment_is_the_model_with_another_table() -> None:
    got = output(tiny_bert().double(), ("zero_segment",))
    torch.testing.assert_close(got, changed(torch.zeros_like, "token_type_embeddings"), rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", [0, 1, 7])
def test_a_shift_is_other_position_ids(k: int) -> None:
    model = tiny_bert().double()
    got = output(model, (f"shift_positions:{k}",))
    places = torch.arange(k, k + got.shape[1])[None]
    torch.testing.assert_close(got, eager(model, position_ids=places).last_hidden_state, rtol=0, atol=1e-12)


def test_interventions_apply_together() -> None:
    model = tiny_bert().double()
    got = output(model, ("shift_positions:3", "scale_positions:0.5", "zero_segment"))
    reference = copy.deepcopy(model)
    with torch.no_grad():
        reference.embeddings.position_embeddings.weight.mul_(0.5)
        reference.embeddings.token_type_embeddings.weight.zero_()
    places = torch.arange(3, 3 + got.shape[1])[None]
    torch.testing.assert_close(got, eager(reference, position_ids=places).last_hidden_state, rtol=0, atol=1e-12)


def test_they_apply_in_order() -> None:
    """Row 3 of shuffled rows is not the row that a shuffle of row 3 leaves: the latter is row 3 itself."""
    model = tiny_bert().double()
    order = np.random.default_rng(1).permutation(batch()["input_ids"].shape[1])
    assert order[3] != 3
    got = output(model, ("shuffle_positions:1", "one_position:3"))
    torch.testing.assert_close(got, output(model, (f"one_position:{order[3]}",)), rtol=0, atol=0)
    other = output(model, ("one_position:3", "shuffle_positions:1"))
    torch.testing.assert_close(other, output(model, ("one_position:3",)), rtol=0, atol=0)
    assert float((got - other).abs().max()) > 0.01


@pytest.mark.parametrize("name", SPECIMENS)
def test_nothing_chosen_changes_nothing(name: str) -> None:
    """Bit for bit, in every family, and so do interventions that leave everything as it was."""
    model = SPECIMENS[name].build()
    inputs = dict((SPECIMENS[name].inputs or ids)(model))
    family = FAMILIES[name.split()[0]]
    with torch.inference_mode():
        own = forward(model, family, inputs).hidden
        assert torch.equal(own, forward(model, family, inputs, [parse("drop_terms")]).hidden)
        assert torch.equal(own, forward(model, family, inputs, [parse("shift_positions:0")]).hidden)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_all_terms_but_one_dropped_leave_the_softmax_of_that_one() -> None:
    """The one is computed from the weights by hand, in NumPy, at layer 0 of a tiny BERT."""
    model = tiny_bert().double()
    inputs = batch()
    rest = "+".join(term for term in TERMS if term != "word_to_word")
    with torch.inference_mode():
        got = forward_text(model, FAMILIES["bert"], inputs, [parse(f"drop_terms:{rest}/0")])
    e = model.embeddings
    state = {name: weight.detach().numpy() for name, weight in model.state_dict().items()}
    word = state["embeddings.word_embeddings.weight"][inputs["input_ids"][0]]
    length = len(word)
    whole = (
        word
        + state["embeddings.position_embeddings.weight"][:length]
        + state["embeddings.token_type_embeddings.weight"][inputs["token_type_ids"][0]]
    )
    sigma = np.sqrt(whole.var(-1, keepdims=True) + e.LayerNorm.eps)
    normed = (word - word.mean(-1, keepdims=True)) / sigma * state["embeddings.LayerNorm.weight"]
    own = "encoder.layer.0.attention.self"
    query, key = (
        (normed @ state[f"{own}.{part}.weight"].T).reshape(length, 4, 8).swapaxes(0, 1) for part in ("query", "key")
    )
    expected = softmax(query @ key.swapaxes(1, 2) / np.sqrt(8), axis=-1)
    np.testing.assert_allclose(got.patterns[0], expected, rtol=0, atol=1e-12)


def test_terms_are_dropped_where_they_are_asked_to_be() -> None:
    model = tiny_bert().double()
    got = intervene(loaded(model), *PAIR, ["drop_terms:word_to_word+bias_to_word/1/2"], 1)
    assert got.kl[0].max() < 1e-12
    assert np.flatnonzero(got.kl[1] > 1e-6).tolist() == [2]
    terms = decompose(model, TOKENIZER, *PAIR, layer=1)
    left = terms.scores - terms.terms["word_to_word"] - terms.terms["bias_to_word"]
    np.testing.assert_allclose(got.after[2], softmax(left[2], axis=-1), rtol=0, atol=1e-6)
    np.testing.assert_allclose(got.after[0], terms.pattern[0], rtol=0, atol=1e-6)


def test_dropped_terms_are_those_of_the_same_intervened_pass() -> None:
    """With positions off, terms of positions are 0 and dropping them does nothing."""
    model = tiny_bert().double()
    gone = "drop_terms:position_to_position+word_to_position+position_to_word"
    off, both = output(model, ("zero_positions",)), output(model, ("zero_positions", gone))
    torch.testing.assert_close(both, off, rtol=0, atol=1e-12)
    assert float((output(model, (gone,)) - output(model)).abs().max()) > 0.01


ROTARY_OR_BIASED = ["rotary", "alibi", "relative_only"]


@pytest.mark.parametrize("variant", [*ROTARY_OR_BIASED, "bert_r", "tupe_a", "bert_a_d"])
def test_zero_positions_leaves_no_position_however_it_enters(variant: str) -> None:
    """Then permuting the tokens does no more than permute the output; with positions on it does more."""
    test = permutation_test(loaded(addend(variant)), *PAIR)
    assert test.off.max() < 1e-12
    assert test.holds
    assert test.on.max() > 0.01


@pytest.mark.parametrize("variant", ROTARY_OR_BIASED)
def test_what_depends_on_distance_alone_does_not_feel_a_shift(variant: str) -> None:
    model = addend(variant)
    torch.testing.assert_close(output(model, ("shift_positions:9",)), output(model), rtol=0, atol=1e-12)
    assert float((output(model, ("shuffle_positions:2",)) - output(model)).abs().max()) > 0.01


def test_rotary_without_turns_is_the_model_without_positions() -> None:
    """The same weights, in a model whose config has no rotary."""
    model = addend("rotary")
    bare = addend("no_position")
    bare.load_state_dict(model.state_dict())
    with torch.no_grad():
        expected = bare.addend(**batch()).last_hidden_state
    for spec in ("zero_positions", "one_position:4"):
        torch.testing.assert_close(output(model, (spec,)), expected, rtol=0, atol=1e-12)


def test_tupes_shift_reads_further_rows() -> None:
    """The same model with its table moved up by three rows; the row of [CLS] as a query stays out of use."""
    model = addend("tupe_a", untie_cls=False)
    moved = copy.deepcopy(model)
    table = moved.addend.encoder.position_scores.positions.weight
    with torch.no_grad():
        table[:-3] = table[3:].clone()
    expected = output(moved)
    torch.testing.assert_close(output(model, ("shift_positions:3",)), expected, rtol=0, atol=1e-12)
    assert float((expected - output(model)).abs().max()) > 1e-3


def test_a_bias_is_scaled_by_scaling_its_slopes() -> None:
    model = addend("alibi")
    steeper = copy.deepcopy(model)
    with torch.no_grad():
        steeper.addend.encoder.position_scores.slopes.mul_(3)
    torch.testing.assert_close(output(model, ("scale_positions:3",)), output(steeper), rtol=0, atol=1e-12)


def test_a_bias_dropped_as_a_term_is_a_bias_set_to_zero() -> None:
    model = addend("alibi")
    dropped, off = output(model, ("drop_terms:score_bias",)), output(model, ("zero_positions",))
    torch.testing.assert_close(dropped, off, rtol=0, atol=1e-12)


DECODERS = [name for name, s in SPECIMENS.items() if s.causal and not s.score_bias and not name.startswith("addend")]
"""Those that take position ids."""


def decoder(name: str) -> tuple[Any, dict[str, torch.Tensor]]:
    """A tiny decoder in float64 and one text without padding."""
    model = SPECIMENS[name].build().double()
    return model, {key: x[:1] for key, x in ids(model).items()}


def at_positions(model: Any, inputs: dict[str, torch.Tensor], places: Any) -> torch.Tensor:
    """transformers' own pass with these position ids."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        return model(**inputs, position_ids=torch.as_tensor(places)[None]).last_hidden_state


@pytest.mark.parametrize("name", ["bert", "llama", "addend alibi", "addend tupe_a", "mpnet"])
def test_no_change_of_positions_acts_where_they_are_zero(name: str) -> None:
    """As the form says of each of them."""
    model, inputs = decoder(name)
    zero = output(model, ("zero_positions",), inputs)
    tried = 0
    for mover in MOVERS:
        with contextlib.suppress(KeyError):  # A model that is told its rotation in one place has no others.
            both = output(model, ("zero_positions", mover), inputs)
            torch.testing.assert_close(both, zero, rtol=0, atol=1e-6, msg=mover)
            tried += 1
    assert tried >= 5


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoders_positions_are_moved_as_by_its_position_ids(name: str) -> None:
    """Shifted, shuffled, or one for all: added or rotated, the reference is transformers' own argument."""
    model, inputs = decoder(name)
    length = inputs["input_ids"].shape[1]
    order = np.random.default_rng(2).permutation(length)
    # Their rotations and norms keep some float32 inside, whatever the weights are.
    spread = float(at_positions(model, inputs, np.arange(length)).abs().max())
    for spec, places in (
        ("shift_positions:4", np.arange(4, length + 4)),
        ("shuffle_positions:2", order),
        ("one_position:3", np.full(length, 3)),
    ):
        expected = at_positions(model, inputs, places)
        torch.testing.assert_close(output(model, (spec,), inputs), expected, rtol=0, atol=1e-5 * spread)
    if FAMILIES[model.config.model_type].rotations(model):
        off, own = output(model, ("zero_positions",), inputs), output(model, (), inputs)
        torch.testing.assert_close(off, at_positions(model, inputs, [0] * length), rtol=0, atol=1e-5 * spread)
        torch.testing.assert_close(output(model, ("shift_positions:4",), inputs), own, rtol=0, atol=1e-4 * spread)
        assert float((off - own).abs().max()) > 1e-3 * spread


# The permutation test


@pytest.mark.parametrize("pair", [(TEXT, None), PAIR], ids=["text", "pair"])
def test_an_encoder_without_positions_is_equivariant(pair: tuple[str, str | None]) -> None:
    test = permutation_test(loaded(tiny_bert().double()), *pair)
    assert test.off.max() < 1e-13
    assert test.on.max() > 0.1
    assert test.holds
    assert not test.causal
    assert sorted(test.order) == list(range(len(test.token_info)))
    assert list(test.order) != sorted(test.order)


def test_the_embedded_model_too_in_float64_and_in_float32() -> None:
    own = embedded_loaded()
    double = Loaded(embedded_eager(torch.float64), own.tokenizer, own.source, "cpu")
    text = "The keys to the old cabinet are on the table."
    exact, single = permutation_test(double, text), permutation_test(own, text)
    assert exact.off.max() < 1e-13
    assert exact.holds
    assert single.off.max() < 1e-5
    assert single.holds
    assert exact.on.max() == pytest.approx(single.on.max(), rel=1e-4)
    assert exact.on.max() > 1


def test_a_causal_mask_breaks_it() -> None:
    broken = permutation_test(loaded(addend("causal_bert_a")), TEXT)
    assert broken.causal
    assert not broken.holds
    assert broken.off.max() > 0.01


# Outcomes


def test_kl_and_cosine_are_scipys_and_numpys() -> None:
    rng = np.random.default_rng(0)
    before, after = (softmax(3 * rng.normal(size=(2, 5, 7)), axis=-1) for _ in range(2))
    got = pattern_kl(torch.from_numpy(before), torch.from_numpy(after))
    np.testing.assert_allclose(got, rel_entr(before, after).sum(-1).mean(-1), rtol=1e-12)
    a, b = rng.normal(size=(2, 6, 9))
    expected = (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
    np.testing.assert_allclose(cosines(torch.from_numpy(a), torch.from_numpy(b)), expected, rtol=1e-12)


def test_a_query_with_one_key_is_no_evidence() -> None:
    before = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    after = torch.tensor([[[1.0, 0.0], [0.9, 0.1]]])
    mask = torch.ones(2, 2, dtype=torch.bool).tril()
    expected = float(rel_entr([0.5, 0.5], [0.9, 0.1]).sum())
    assert float(pattern_kl(before, after, mask)[0]) == pytest.approx(expected, rel=1e-6)


def test_masked_predictions_are_those_of_the_model_with_one_token_masked() -> None:
    model = tiny_bert(BertForMaskedLM).double()
    got = intervene(loaded(model), TEXT, None, ["zero_positions"]).predictions
    assert got is not None
    assert got.kind == "masked"
    off = copy.deepcopy(model)
    with torch.no_grad():
        off.bert.embeddings.position_embeddings.weight.zero_()
    inputs = dict(TOKENIZER(TEXT, return_tensors="pt"))
    for whose, losses, likeliest in (
        (model, got.before, got.likeliest_before),
        (off, got.after, got.likeliest_after),
    ):
        whose.set_attn_implementation("eager")
        for place, loss, word in zip(got.places, losses, likeliest, strict=True):
            masked = inputs["input_ids"].clone()
            masked[0, place] = TOKENIZER.mask_token_id
            with torch.no_grad():
                logits = whose(**{**inputs, "input_ids": masked}).logits[0, place].numpy()
            assert loss == pytest.approx(-log_softmax(logits)[inputs["input_ids"][0, place]], abs=1e-5)
            assert word == TOKENIZER.convert_ids_to_tokens(int(logits.argmax()))
    assert got.losses == pytest.approx((got.before.mean(), got.after.mean()))
    special = [place for place, token in enumerate(inputs["input_ids"][0]) if int(token) in TOKENIZER.all_special_ids]
    assert not set(special) & set(got.places.tolist())


def test_next_token_losses_are_the_causal_models_own() -> None:
    model = addend("causal_bert_a")
    got = intervene(loaded(model), TEXT, None, ["zero_positions"]).predictions
    assert got is not None
    assert got.kind == "next"
    inputs = TOKENIZER(TEXT, return_tensors="pt")
    labels = torch.cat([inputs["input_ids"][:, 1:], torch.tensor([[-100]])], 1)
    with torch.no_grad():
        own = model(**inputs, labels=labels).loss
        model.addend.embeddings.position_embeddings.weight.zero_()
        off = model(**inputs, labels=labels).loss
    assert got.losses == pytest.approx((float(own), float(off)), abs=1e-5)


def test_without_a_head_there_are_no_predictions() -> None:
    assert intervene(loaded(tiny_bert()), TEXT, None, ["zero_positions"]).predictions is None


def test_patterns_before_are_transformers_own() -> None:
    model = tiny_bert().double()
    got = intervene(loaded(model), *PAIR, ["zero_positions"], 1)
    own = eager(model)
    np.testing.assert_allclose(got.before, own.attentions[1][0], rtol=0, atol=1e-6)
    off = copy.deepcopy(model)
    with torch.no_grad():
        off.embeddings.position_embeddings.weight.zero_()
    for layer, (a, b) in enumerate(zip(own.attentions, eager(off).attentions, strict=True)):
        np.testing.assert_allclose(
            got.kl[layer], rel_entr(a[0].numpy(), b[0].numpy()).sum(-1).mean(-1), rtol=1e-4, atol=1e-7
        )


# The head of a checkpoint


@pytest.mark.parametrize("make", [lambda: tiny_bert(BertForMaskedLM), lambda: addend("bert_a").float()])
def test_a_checkpoint_is_loaded_with_its_head_when_asked(make: Any, tmp_path: Path) -> None:
    model = make()
    model.save_pretrained(tmp_path)
    TOKENIZER.save_pretrained(tmp_path)
    source = resolve(str(tmp_path))
    whole, bare = load(source, "cpu", head=True), load(source, "cpu")
    assert type(whole.model) is type(model)
    assert bare.model.get_output_embeddings() is None
    model.set_attn_implementation("eager")
    with torch.no_grad():
        torch.testing.assert_close(whole.model(**batch()).logits, model(**batch()).logits)
    a, b = (intervene(one, TEXT, None, ["zero_positions"]) for one in (whole, bare))
    np.testing.assert_array_equal(a.kl, b.kl)
    assert a.predictions is not None
    assert b.predictions is None


def test_a_checkpoint_without_a_head_is_loaded_without() -> None:
    assert load(resolve(), "cpu", head=True).model.get_output_embeddings() is None


# What makes no sense


def test_every_intervention_reads_its_own_spec() -> None:
    assert len(INTERVENTIONS) >= 8
    for name, kind in INTERVENTIONS.items():
        one = parse(name)
        assert type(one) is kind
        assert parse(one.spec) == one
        assert one.description
        assert one.title
        assert one.summary.endswith(".")
    for spec in (
        "one_position:7",
        "scale_positions:2.5",
        "swap_positions:random_fixed",
        "drop_terms:word_to_word//3+1",
    ):
        assert parse(spec).spec == spec


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("shift_positions:-1", "Positions can be shifted by 0 or more, not by -1"),
        ("shift_positions:far", "expected a whole number after the colon, such as shift_positions:8"),
        ("scale_positions:nan", "cannot be multiplied by nan"),
        ("swap_positions:rotary", "expected one of: sinusoidal, random_fixed"),
        ("zero_positions:3", "takes no strength, and '3' was given"),
        ("drop_terms:nothing", "There is no term 'nothing'"),
        ("drop_terms:word_to_word/x", "expected terms, layers and heads"),
        ("drop_terms:word_to_word/1/1/1", "expected terms, layers and heads"),
    ],
)
def test_a_strength_that_cannot_be_taken_is_said(spec: str, said: str) -> None:
    with pytest.raises(InterventionError, match=said.replace("(", r"\(")):
        parse(spec)


def test_an_unknown_intervention_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="zero_positions"):
        parse("frobnicate")


@pytest.mark.parametrize(
    ("model", "spec", "said"),
    [
        (
            lambda: addend("rotary"),
            "scale_positions:2",
            "positions that rotate its queries and keys. A rotation has no size",
        ),
        (lambda: addend("alibi"), "swap_positions", "It adds no position rows that others could replace"),
        (lambda: addend("no_position"), "zero_positions", "this model has no positions"),
        (lambda: addend("no_segment"), "zero_segment", "it acts on segment embeddings"),
        (tiny_bert, "shift_positions:500", r"has \d+ tokens and the model 40 positions, .* Shift by \d+ at most"),
        (tiny_bert, "one_position:30", "There is no position 30 in a text of"),
        (tiny_bert, "drop_terms:word_to_word/9", "There is no layer 9: tiny has layers 0 to 1"),
        (tiny_bert, "drop_terms:word_to_word/0/4", "There is no head 4: tiny has heads 0 to 3"),
        (tiny_bert, "drop_terms:score_bias", "adds no score bias to its scores"),
    ],
)
def test_what_makes_no_sense_for_a_model_is_refused_with_the_reason(model: Any, spec: str, said: str) -> None:
    made = model()
    with pytest.raises(InterventionError, match=said):
        intervene(loaded(made), TEXT, None, [spec])
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in made.modules()), "it is left as it was"


def test_a_layer_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ModelError, match="There is no layer 7"):
        intervene(loaded(tiny_bert()), TEXT, None, ["zero_positions"], 7)
