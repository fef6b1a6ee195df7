"""Proves that every encoding is the published one: each table is held against code or figures that we did not write."""

import inspect
import math
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from scipy import stats
from transformers import BertModel, LlamaConfig, ViTMAEConfig
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.roformer.modeling_roformer import RoFormerSelfAttention, RoFormerSinusoidalPositionalEmbedding
from transformers.models.t5.configuration_t5 import T5Config
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.vit_mae.modeling_vit_mae import ViTMAEEmbeddings
from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import _apply_relative_key_position_encoding

from analysis import encodings
from analysis.core import default_model
from analysis.core.errors import AddendError, ModelError, UnknownName
from analysis.encodings import ENCODINGS, encode, shaw_relative, t5_bias, tupe_untied
from analysis.encodings.encoding import MAX_DIM

FLOAT32 = 2e-5  # the others compute angles in float32; at position 200 they are off by up to this much


# Every registered name -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENCODINGS)
def test_contract(name):
    encoding = ENCODINGS[name]
    length, dim = encoding.nearest(128, 384)
    table, similarity = encode(name, length=length, dim=dim), encoding.similarity(length, dim)
    assert table.shape == (length, dim)
    assert similarity.shape == (length, length)
    assert table.dtype == similarity.dtype == np.float64
    assert np.isfinite(table).all()
    keys_before = np.tri(length, dtype=bool)
    assert np.isfinite(similarity[keys_before]).all()
    after = np.isnan(similarity[~keys_before])
    assert after.all() or not after.any(), "either all keys after the query are hidden, or none is"
    assert np.array_equal(table, encode(name, length=length, dim=dim))
    assert np.array_equal(similarity, encoding.similarity(length, dim), equal_nan=True)


@pytest.mark.parametrize("name", ENCODINGS)
def test_is_described(name):
    encoding = ENCODINGS[name]
    assert encoding.name == name
    for text in (encoding.title, encoding.summary, encoding.paper, encoding.columns, encoding.note):
        assert text.strip() == text != ""
    assert encoding.summary.endswith(".")
    assert encoding.note.endswith(".")
    assert encoding.enters in ("added", "rotates", "biases scores", "untied", "absent")
    assert encoding.rows in ("position", "distance")
    assert all(option.meaning for option in encoding.options.values())
    if "seed" in encoding.options:
        assert "andom" in encoding.note, "the reader is told that the values are random"


def test_papers_are_in_the_bibliography():
    """Every key names an entry, and what is shown of the paper says the entry's year and first author."""
    text = (Path(__file__).parents[2] / "data" / "published" / "citations.bib").read_text(encoding="utf-8")
    entries = {re.match(r"@\w+\{([^,]+),", entry)[1]: entry for entry in re.split(r"\n(?=@)", text) if "@" in entry}
    ours = [name for name, encoding in ENCODINGS.items() if not encoding.key]
    assert ours == ["random_fixed"]
    for name, encoding in ENCODINGS.items():
        if encoding.key:
            assert encoding.key in entries, name
            surname, year = re.match(r"(\S+) et al\. (\d{4})", encoding.paper).groups()
            assert re.search(rf"year\s*=\s*\{{{year}\}}", entries[encoding.key]), name
            assert re.search(rf"author\s*=\s*\{{{surname}\b", entries[encoding.key]), name


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(("length", "dim"), [(1, 1), (16, 17), (128, 384), (500, 64), (512, 512)])
def test_nearest_size_is_one_it_takes(name, length, dim):
    encoding = ENCODINGS[name]
    nearest = encoding.nearest(length, dim)
    assert encoding.table(*nearest).shape == nearest
    assert encoding.similarity(*nearest).shape == (nearest[0], nearest[0])
    assert encoding.nearest(*nearest) == nearest, "a size that it takes is the nearest to itself"


@pytest.mark.parametrize("name", ENCODINGS)
def test_nearest_leaves_alone_what_suits(name):
    encoding = ENCODINGS[name]
    usual = encoding.nearest(128, 384)
    assert encoding.nearest(*usual) == usual
    with pytest.raises(AddendError, match="not a whole number"):
        encoding.nearest(0, 384)


@pytest.mark.parametrize(
    ("name", "asked", "nearest"),
    [
        ("learned", (600, 512), (512, 384)),
        ("sincos_2d", (128, 384), (121, 384)),
        ("sincos_2d", (512, 18), (529, 16)),
        ("tupe_untied", (128, 512), (128, 516)),
        ("sinusoidal", (128, 7), (128, 8)),
        ("alibi", (128, 384), (128, 8)),
        ("alibi", (128, 4), (128, 4)),
    ],
)
def test_nearest_sizes(name, asked, nearest):
    assert ENCODINGS[name].nearest(*asked) == nearest


@pytest.mark.parametrize("name", ENCODINGS)
def test_options_are_those_the_functions_take(name):
    encoding = ENCODINGS[name]
    functions = [f for f in (encoding.make_table, encoding.make_similarity, encoding.make_shift) if f]
    taken = {p.name for f in functions for p in inspect.signature(f).parameters.values() if p.kind is p.KEYWORD_ONLY}
    assert taken == set(encoding.options)


@pytest.mark.parametrize("name", ENCODINGS)
def test_bad_input_is_answered_in_a_sentence(name):
    encoding = ENCODINGS[name]
    length, dim = encoding.nearest(128, 384)
    bad = [
        (0, dim, {}, "0"),
        (-3, dim, {}, "-3"),
        (2.5, dim, {}, "2.5"),
        (True, dim, {}, "True"),
        (length, 0, {}, "0"),
        (length, MAX_DIM * 2, {}, str(MAX_DIM * 2)),
        (10**12, dim, {}, str(10**12)),
        (length, dim, {"no_such_option": 1}, "no_such_option"),
    ]
    for option, described in encoding.options.items():
        bad.append((length, dim, {option: 1.5}, "1.5"))
        if not isinstance(described.default, bool) and described.default is not None:
            bad.append((length, dim, {option: described.least - 1}, str(described.least - 1)))
            bad.append((length, dim, {option: True}, "True"))
    for rows, columns, options, value in bad:
        for call in (encoding.table, encoding.similarity):
            with pytest.raises(AddendError) as caught:
                call(rows, columns, **options)
            assert value in str(caught.value)
            assert str(caught.value).endswith(".")
            assert "choose" in str(caught.value).lower() or "leave it out" in str(caught.value).lower()


@pytest.mark.parametrize("name", [name for name in ENCODINGS if ENCODINGS[name].dim_multiple > 1])
def test_a_dim_that_does_not_suit_is_refused(name):
    encoding = ENCODINGS[name]
    with pytest.raises(AddendError, match=rf"multiple of {encoding.dim_multiple}; choose for example 64"):
        encode(name, length=4, dim=63)


def test_similarity_of_too_many_pairs_is_refused():
    with pytest.raises(AddendError, match="choose a length up to 2048"):
        ENCODINGS["none"].similarity(2049, 2)


def test_one_file_per_name():
    folder = Path(encodings.__file__).parent
    assert set(ENCODINGS) == {p.stem for p in folder.glob("*.py")} - {"__init__", "encoding", "measures"}


def test_unknown_name_lists_the_known():
    with pytest.raises(UnknownName, match="sinusoidal"):
        encode("sinus", length=4, dim=4)


def test_import_is_light():
    code = "import sys, analysis.encodings as e; e.encode('none', length=2, dim=2); print(*sys.modules)"
    root = Path(encodings.__file__).parents[2]
    ran = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    loaded = ran.stdout.split()
    assert not {"torch", "streamlit", "altair", "duckdb"} & set(loaded)


# Timing signals --------------------------------------------------------------------------------------


def test_sinusoidal_is_the_formula_of_the_paper():
    table = encode("sinusoidal", length=50, dim=6)
    for pos in range(50):
        for i in range(3):
            assert table[pos, 2 * i] == pytest.approx(math.sin(pos / 10000 ** (2 * i / 6)), abs=1e-14)
            assert table[pos, 2 * i + 1] == pytest.approx(math.cos(pos / 10000 ** (2 * i / 6)), abs=1e-14)


def test_sinusoidal_is_roformers_in_another_order():
    theirs = RoFormerSinusoidalPositionalEmbedding(128, 64).create_weight().numpy()
    ours = encode("sinusoidal", length=128, dim=64)
    np.testing.assert_allclose(np.concatenate([ours[:, 0::2], ours[:, 1::2]], axis=1), theirs, atol=1e-7)


@pytest.mark.parametrize(
    ("dim", "column", "printed"),
    [
        (128, -1, (1.0, 0.99998015, 0.99991935)),
        (512, -1, (1.0, 0.99998015, 0.99991935)),
        (128, -16, (1.0, 0.9984067, 0.9935305)),
        (512, -16, (1.0, 0.99994135, 0.99976169)),
    ],
)
def test_tensor2tensor_golden_values(dim, column, printed):
    """Printed by tensor2tensor in float32, at positions 0, 63 and 127."""
    signal = encode("tensor2tensor", length=128, dim=dim)
    np.testing.assert_allclose(signal[[0, 63, 127], column], printed, rtol=0, atol=6e-8)


def test_tensor2tensor_is_no_permutation_of_the_paper():
    paper, code = (np.sort(encode(n, length=128, dim=64)[100]) for n in ("sinusoidal", "tensor2tensor"))
    assert np.abs(paper - code).max() > 0.01


@pytest.mark.parametrize("dim", [4, 64, 512])
def test_tensor2tensor_is_what_its_heirs_compute(dim):
    theirs = M2M100SinusoidalPositionalEmbedding.get_embedding(200, dim).numpy()
    np.testing.assert_allclose(encode("tensor2tensor", length=200, dim=dim), theirs, atol=FLOAT32)


@pytest.mark.parametrize("padding_idx", [0, 1, 7])
def test_fairseq_counts_and_pads_as_fairseq_does(padding_idx):
    module = M2M100SinusoidalPositionalEmbedding(100, 32, padding_idx)
    tokens = torch.full((1, 40), padding_idx + 1)
    tokens[0, 33:] = padding_idx
    ours = encode("fairseq", length=40, dim=32, padding_idx=padding_idx, padded=7)
    np.testing.assert_allclose(ours, module(tokens)[0].numpy(), atol=FLOAT32)
    assert not ours[33:].any()
    assert ours[32].any()


def test_fairseq_starts_at_position_two():
    expected = encode("tensor2tensor", length=12, dim=16)[2:]
    np.testing.assert_array_equal(encode("fairseq", length=10, dim=16), expected)


def test_fairseq_refuses_more_padding_than_tokens():
    with pytest.raises(AddendError, match="padded=11 is more than the length 10"):
        encode("fairseq", length=10, dim=16, padded=11)


@pytest.mark.parametrize("grid", [3, 14])
def test_sincos_2d_is_vit_maes(grid):
    module = ViTMAEEmbeddings(ViTMAEConfig(image_size=grid * 4, patch_size=4, hidden_size=48, num_attention_heads=4))
    module.initialize_weights()
    theirs = module.position_embeddings[0].detach().numpy()
    assert not theirs[0].any()  # the class token
    np.testing.assert_allclose(encode("sincos_2d", length=grid * grid, dim=48), theirs[1:], atol=FLOAT32)


def test_sincos_2d_refuses_a_length_without_a_grid():
    with pytest.raises(AddendError, match=r"128 is not a square.*choose 121 or 144"):
        encode("sincos_2d", length=128, dim=48)


# Rotary ----------------------------------------------------------------------------------------------


def test_rotary_angles_are_llamas():
    module = LlamaRotaryEmbedding(LlamaConfig(hidden_size=64, num_attention_heads=2))
    cos, sin = module(torch.zeros(1, 1), torch.arange(128)[None])
    theirs = torch.cat([cos[0, :, :16], sin[0, :, :16]], dim=1).numpy()
    np.testing.assert_allclose(encode("rotary", length=128, dim=32), theirs, atol=FLOAT32)


def test_rotary_similarity_is_the_score_after_llamas_rotation():
    cos, sin = LlamaRotaryEmbedding(LlamaConfig(hidden_size=64, num_attention_heads=2))(
        torch.zeros(1, 1), torch.arange(100)[None]
    )
    alike = torch.cat([torch.ones(16), torch.zeros(16)]).expand(1, 1, 100, 32)  # (1, 0) in each pair
    query, key = apply_rotary_pos_emb(alike, alike, cos, sin)
    np.testing.assert_allclose(ENCODINGS["rotary"].similarity(100, 32), (query @ key.mT)[0, 0].numpy(), atol=5e-4)


def test_rotary_similarity_is_roformers_too():
    weight = RoFormerSinusoidalPositionalEmbedding(60, 32).create_weight()[None, None]
    alike = torch.tensor([1.0, 0.0]).repeat(16).expand(1, 1, 60, 32)
    query, key = RoFormerSelfAttention.apply_rotary_position_embeddings(weight, alike, alike)
    np.testing.assert_allclose(ENCODINGS["rotary"].similarity(60, 32), (query @ key.mT)[0, 0].numpy(), atol=1e-5)


# Biases on the scores --------------------------------------------------------------------------------


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "max_distance"), [(32, 128), (32, 64), (64, 1000), (8, 20)])
def test_t5_buckets_are_t5s(bidirectional, buckets, max_distance):
    relative = np.arange(-1500, 1501)
    theirs = T5Attention._relative_position_bucket(torch.tensor(relative), bidirectional, buckets, max_distance)
    ours = t5_bias.bucket(relative, bidirectional=bidirectional, buckets=buckets, max_distance=max_distance)
    np.testing.assert_array_equal(ours, theirs.numpy())


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5_similarity_is_the_bias_of_its_attention(bidirectional):
    config = T5Config(num_heads=4, d_model=32, d_kv=8, is_decoder=not bidirectional)
    attention = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    with torch.no_grad():
        attention.relative_attention_bias.weight.copy_(torch.tensor(t5_bias.biases(4, seed=3, buckets=32)))
        theirs = attention.compute_bias(200, 200)[0, 2].double().numpy()
    ours = ENCODINGS["t5_bias"].similarity(200, 4, seed=3, head=2, bidirectional=bidirectional)
    attended = ~np.isnan(ours)
    assert attended.sum() == (200 * 200 if bidirectional else 200 * 201 / 2)
    np.testing.assert_allclose(ours[attended], theirs[attended], atol=1e-8)


def test_t5_table_holds_both_sides_of_its_similarity():
    similarity = ENCODINGS["t5_bias"].similarity(300, 4, head=1)
    np.testing.assert_array_equal(encode("t5_bias", length=300, dim=4)[:, 1], similarity[299, ::-1])
    np.testing.assert_array_equal(encode("t5_bias", length=300, dim=4, after=True)[:, 1], similarity[0])


@pytest.mark.parametrize("options", [{"buckets": 2}, {"max_distance": 8}, {"bidirectional": False, "after": True}])
def test_t5_refuses_what_has_no_buckets(options):
    with pytest.raises(AddendError, match=next(reversed(options))):
        encode("t5_bias", length=4, dim=2, **options)


@pytest.mark.parametrize("name", ["t5_bias", "alibi", "tupe_untied"])
def test_a_head_that_is_not_there_is_refused(name):
    with pytest.raises(AddendError, match="head=12 is not one of 12 heads; choose 0 to 11"):
        ENCODINGS[name].similarity(4, 12, head=12)


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 6, 8, 12, 16, 20])
def test_alibi_is_blooms(heads):
    """BLOOM adds slope x key position, which differs from the paper by a constant along each query's keys."""
    theirs = build_alibi_tensor(torch.ones(1, 30), heads, torch.float32).numpy()[:, 0]
    for head in range(heads):
        ours = ENCODINGS["alibi"].similarity(30, heads, head=head)
        np.testing.assert_allclose(ours[-1] - ours[-1, 0], theirs[head], rtol=1e-6)
        assert np.isnan(ours[np.triu_indices(30, 1)]).all()
        both = ENCODINGS["alibi"].similarity(30, heads, head=head, symmetric=True)
        np.testing.assert_array_equal(both, np.where(np.isnan(ours), ours.T, ours))


def test_alibi_slopes_are_those_printed_in_the_paper():
    """Press et al. 2022: 8 heads have slopes 1/2, 1/4 ... 1/256; 16 heads interpolate by 1/sqrt(2)."""
    np.testing.assert_allclose(-encode("alibi", length=2, dim=8)[1], 0.5 ** np.arange(1, 9))
    np.testing.assert_allclose(-encode("alibi", length=2, dim=16)[1], 0.5 ** np.arange(0.5, 8.5, 0.5))


def test_shaw_similarity_is_the_relative_key_score():
    """Held against the relative_key attention of Wav2Vec2-BERT, which implements Shaw's equation 5."""
    vectors = torch.tensor(shaw_relative.vectors(64, seed=2, clip=5))
    module = SimpleNamespace(
        left_max_position_embeddings=5,
        right_max_position_embeddings=5,
        distance_embedding=torch.nn.Embedding.from_pretrained(vectors),
        scaling=64**-0.5,
    )
    query = torch.tensor(np.random.default_rng([2, 1]).standard_normal(64)).expand(1, 1, 40, 64)
    theirs = _apply_relative_key_position_encoding(module, query, query)[1][0, 0]
    ours = ENCODINGS["shaw_relative"].similarity(40, 64, seed=2, clip=5)
    np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-12)


def test_shaw_distances_share_a_vector_beyond_the_clip():
    before = encode("shaw_relative", length=40, dim=8, clip=5)
    after = encode("shaw_relative", length=40, dim=8, clip=5, after=True)
    assert len(np.unique(before, axis=0)) == len(np.unique(after, axis=0)) == 6
    np.testing.assert_array_equal(before[5:], np.repeat(before[5:6], 35, axis=0))
    np.testing.assert_array_equal(before[0], after[0])
    assert (before[1:] != after[1:]).all()


# TUPE ------------------------------------------------------------------------------------------------


def tupe_by_the_book(length, dim, heads, head, seed):
    """Method, section 4, pair by pair with torch's own layers: n + 1 rows, theta_1 from p_0, theta_2 from p_1."""
    w = tupe_untied.weights(length, dim, seed)
    p = torch.nn.functional.layer_norm(torch.tensor(w.positions), (dim,))
    q = torch.nn.functional.linear(p, torch.tensor(w.query.T), torch.tensor(w.query_bias)).view(-1, heads, dim // heads)
    k = torch.nn.functional.linear(p, torch.tensor(w.key.T), torch.tensor(w.key_bias)).view(-1, heads, dim // heads)

    def score(a, b):
        return float(q[a, head] @ k[b, head]) / math.sqrt(2 * dim / heads)

    theta_1, theta_2 = score(0, 0), score(1, 1)
    return np.array(
        [
            [theta_1 if i == 0 else theta_2 if j == 0 else score(i + 1, j + 1) for j in range(length)]
            for i in range(length)
        ]
    )


@pytest.mark.parametrize("head", [0, 3])
def test_tupe_is_the_book_pair_by_pair(head):
    ours = ENCODINGS["tupe_untied"].similarity(9, 32, heads=4, head=head, seed=5)
    np.testing.assert_allclose(ours, tupe_by_the_book(9, 32, heads=4, head=head, seed=5), rtol=1e-10)


def test_tupe_unties_cls_and_nothing_else():
    encoding = ENCODINGS["tupe_untied"]
    untied, tied = encoding.similarity(9, 24), encoding.similarity(9, 24, untie_cls=False)
    assert len(np.unique(untied[0])) == 1, "the [CLS] row is constant, its corner too"
    assert len(np.unique(untied[1:, 0])) == 1
    assert untied[0, 0] != untied[1, 0]
    assert untied[1, 0] == tied[0, 0], "theta_2 is token 0 against itself: both are p_1"
    np.testing.assert_array_equal(untied[1:, 1:], tied[1:, 1:])
    assert len(np.unique(tied)) == 81


def test_tupe_table_is_layer_normalised_and_leaves_p0_out():
    table = encode("tupe_untied", length=9, dim=24)
    expected = torch.nn.functional.layer_norm(torch.tensor(tupe_untied.weights(9, 24, 0).positions), (24,))
    np.testing.assert_allclose(table, expected[1:].numpy(), atol=1e-12)


def test_tupe_heads_must_share_the_dim():
    with pytest.raises(AddendError, match="dim 32 cannot be shared among 12 heads"):
        ENCODINGS["tupe_untied"].similarity(4, 32)


# Learned, random, none -------------------------------------------------------------------------------


def test_learned_is_the_table_of_the_loaded_model():
    theirs = BertModel.from_pretrained(default_model.folder()).embeddings.position_embeddings.weight.detach().numpy()
    np.testing.assert_array_equal(encode("learned", length=512, dim=384), theirs)
    np.testing.assert_array_equal(encode("learned", length=7, dim=384, folder=default_model.folder()), theirs[:7])


def test_learned_refuses_what_the_table_does_not_hold():
    with pytest.raises(AddendError, match="length 513 is beyond this model's 512 positions; choose 512"):
        encode("learned", length=513, dim=384)
    for dim in (383, 385):
        with pytest.raises(AddendError, match=rf"dim {dim} is not the width of this model's table, 384; choose 384"):
            encode("learned", length=8, dim=dim)


def test_learned_reads_another_folder(tmp_path):
    table = torch.randn(6, 4)
    save_file({"bert.embeddings.position_embeddings.weight": table}, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(encode("learned", length=5, dim=4, folder=str(tmp_path)), table[:5].numpy())


def test_learned_says_what_is_wrong_with_a_folder(tmp_path):
    def refusal():
        with pytest.raises(ModelError) as caught:
            encode("learned", length=2, dim=4, folder=tmp_path)
        return str(caught.value)

    assert "There is no file" in refusal()
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"not weights")
    assert "cannot be read" in refusal()
    save_file({"embeddings.word_embeddings.weight": torch.zeros(2, 4)}, path)
    assert "holds 0 tensors" in refusal()
    save_file({"embeddings.position_embeddings.weight": torch.zeros(2, 4, dtype=torch.bfloat16)}, path)
    assert "float32" in refusal()


def test_random_fixed_is_normal_and_as_long_as_sinusoidal():
    table = encode("random_fixed", length=256, dim=512, seed=1)
    assert stats.kstest(table.ravel()[:20000] * math.sqrt(2), "norm").pvalue > 0.01
    lengths = np.linalg.norm(table, axis=1).mean(), np.linalg.norm(encode("sinusoidal", length=256, dim=512), axis=1)
    np.testing.assert_allclose(lengths[0], lengths[1], rtol=0.01)


@pytest.mark.parametrize("name", [name for name in ENCODINGS if "seed" in ENCODINGS[name].options])
def test_seeds_change_values_and_length_does_not(name):
    encoding = ENCODINGS[name]
    dim = encoding.nearest(128, 384)[1]
    seeds = [encoding.table(16, dim, seed=seed) for seed in (0, 1)]
    assert (seeds[0] != seeds[1]).all()
    np.testing.assert_array_equal(encoding.table(20, dim)[:16], seeds[0])


def test_none_is_zero():
    assert not encode("none", length=5, dim=7).any()
    assert not ENCODINGS["none"].similarity(5, 7).any()
