"""What a matched preset changes of a variant: its size, its first scales, its output head, its masks."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.ablation.corpus import MASK, SPECIALS, PackedWindows
from analysis.ablation.encoder import AddendConfig, AddendForCausalLM, AddendForMaskedLM, draw_weights
from analysis.ablation.presets import PRESETS, preset
from analysis.ablation.sizes import parameters
from analysis.ablation.variants import VARIANTS
from analysis.encodings import encode
from tests.unit.test_variants import WRITTEN, Written, fixed, multiplied, positions, words


def size(model: torch.nn.Module) -> int:
    """The number of a model's weights."""
    return sum(weight.numel() for weight in model.parameters())


@pytest.fixture(scope="module")
def added_once() -> int:
    """The size of the variant that all others are matched to, counted on the real model."""
    return size(matched("bert_a"))


def matched(name: str, seed: int = 0) -> AddendForMaskedLM:
    """A variant as the preset cpu2 begins to train it, in float64."""
    config = AddendConfig(**preset("cpu2", variant=name).config())
    model = (AddendForCausalLM if config.causal else AddendForMaskedLM)(config).double().eval()
    draw_weights(model, seed)
    return model


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_sizes_are_matched_to_within_one_percent(name: str, added_once: int) -> None:
    """All but the concatenation whose point is that it is wider; counted on the real model."""
    ours, theirs = size(matched(name)), added_once
    assert parameters(preset("cpu2", variant=name).config()) == ours
    if not VARIANTS[name].match:
        assert ours > (1.2 if VARIANTS[name].wider else 1.01) * theirs
    else:
        assert abs(ours / theirs - 1) < 0.01


@pytest.mark.parametrize("width", [64, 128, 256])
def test_sizes_that_training_reaches_are_matched_to_within_one_percent(width: int) -> None:
    """Counted on the real models: no rows of positions beyond the windows' length, no fixed tables."""

    def reached(variant: str) -> int:
        settings = preset(f"width{width}", variant=variant)
        config = AddendConfig(**settings.config())
        model = (AddendForCausalLM if config.causal else AddendForMaskedLM)(config)
        rows = (config.max_position_embeddings, config.max_position_embeddings + 1)
        beyond = rows[0] - settings.length
        total = 0
        for part, weight in model.named_parameters():
            table = part.endswith(("position_embeddings.weight", "position_scores.positions.weight"))
            if table and not weight.requires_grad:
                continue
            total += weight.numel() - (beyond * weight.shape[1] if table and weight.shape[0] in rows else 0)
        return total

    base = reached("bert_a")
    ratios = {name: reached(name) / base for name, variant in VARIANTS.items() if variant.match}
    assert {name: ratio for name, ratio in ratios.items() if abs(ratio - 1) >= 0.01} == {}


@pytest.mark.parametrize(
    ("extra", "control"),
    [("bert_a_d_unscaled_extra", "every_layer_attention"), ("first_layer_own_extra", "first_layer_attention"),
     ("tupe_a_tie_cls_extra", "no_cross"), ("concat_project_extra", "bert_a"),
     ("add_project_extra", "bert_a"), ("add_project_identity", "bert_a"), ("concat_project_identity", "bert_a")],
)  # fmt: skip
def test_extra_matrices_come_on_top_of_everything_that_their_control_has(extra: str, control: str) -> None:
    """By name and shape: nothing of the control is missing, and projections of positions are added."""

    def shapes(variant: str) -> dict[str, tuple[int, ...]]:
        model = AddendForMaskedLM(AddendConfig(**preset("width128", variant=variant).config()))
        return {name: tuple(weight.shape) for name, weight in model.named_parameters()}

    ours, theirs = shapes(extra), shapes(control)
    assert theirs.items() < ours.items()
    assert all("position_scores" in name or "projection" in name for name in ours.keys() - theirs.keys())


def test_a_narrow_words_control_has_the_words_of_the_concatenation() -> None:
    for width in (64, 128, 256):
        for narrow, concatenated in (("bert_a_narrow_80", "concat_20"), ("bert_a_narrow_50", "concat_50")):
            ours, theirs = (
                AddendConfig(**preset(f"width{width}", variant=name).config()) for name in (narrow, concatenated)
            )
            assert ours.word_dim == theirs.word_dim < width == ours.hidden_size == theirs.hidden_size


def test_positions_without_a_norm_start_as_the_norm_would_give_them() -> None:
    unnormed, normed = matched("every_layer_unnormed"), matched("every_layer_attention")
    rows = [model.addend.encoder.position_scores.normed(64).detach() for model in (unnormed, normed)]
    assert rows[0].std() == pytest.approx(1, abs=0.02)
    assert torch.corrcoef(torch.stack([row.flatten() for row in rows]))[0, 1] > 0.99


def test_early_evaluations_are_closer_together() -> None:
    settings = preset("width128")
    steps = [step for step in range(1, settings.steps + 1) if settings.evaluated_at(step)]
    assert steps[:3] == [50, 100, 150]
    assert steps[79:82] == [4000, 4200, 4400]
    assert steps[-1] == 10_000
    assert [step for step in range(1, 1_001) if preset("cpu2").evaluated_at(step)] == [200, 400, 600, 800, 1_000]


def test_other_presets_are_as_they_were() -> None:
    """Names of runs are made of their settings: those stored before must keep theirs."""
    assert preset("cpu", variant="bert_a").run_id("d8593525c97a4dd6") == "7acb9cc95ea5"
    assert preset("cpu", variant="concat_20").config()["intermediate_size"] == 512
    for name in ("debug", "cpu", "gpu"):
        assert not {"masked_share", "to_mask", "matched", "precision"} & PRESETS[name].recorded_settings().keys()


@pytest.mark.parametrize("name", ["sinusoidal", "random_fixed", "multiply", "bert_a", "concat_20"])
def test_positions_start_as_strong_as_words(name: str) -> None:
    """Mean square of positions over that of words: one where both are drawn alike, half for sinusoids (Vaswani's)."""
    model = matched(name)
    r = Written(model)
    length = 64
    if name == "multiply":
        factors = 1 + positions(r, length) / model.config.initializer_range
        ratio = (factors.std() / abs(factors.mean())) ** 2
        assert 0.8 < ratio < 1.2
        return
    drawn = r.w["addend.embeddings.word_embeddings.weight"][100:]
    ratio = (positions(r, length) ** 2).mean() / (drawn**2).mean()
    assert ratio == pytest.approx(0.5 if VARIANTS[name].settings["position"] != "learned" else 1, rel=0.05)


def test_the_sinusoids_are_scaled_and_nothing_else() -> None:
    model = matched("sinusoidal")
    want = encode("sinusoidal", length=256, dim=128) * model.config.initializer_range
    np.testing.assert_allclose(model.addend.embeddings.position_embeddings.weight.detach().numpy(), want, atol=1e-6)


def test_a_smooth_start_is_sinusoids_of_the_deviation_said() -> None:
    table = matched("bert_a_smooth").addend.embeddings.position_embeddings.weight.detach().numpy()
    assert (table**2).mean() ** 0.5 == pytest.approx(0.1, rel=1e-6)
    want = encode("sinusoidal", length=256, dim=128)
    np.testing.assert_allclose(table / table[0, 1], want / want[0, 1], atol=1e-6)
    wide = matched("bert_a_wide_table").addend.embeddings.position_embeddings.weight.detach().numpy()
    assert wide.std() == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize("name", ["multiply", "sinusoidal", "random_fixed"])
def test_a_matched_variant_is_its_formula(name: str) -> None:
    def rescaled(r: Written, ids: np.ndarray, segments: np.ndarray) -> np.ndarray:
        embed = "addend.embeddings"
        if name == "multiply":
            factors = 1 + positions(r, len(ids)) / r.c.initializer_range
            return r.norm(words(r, ids, segments) * factors, f"{embed}.LayerNorm")
        return r.norm(words(r, ids, segments) + positions(r, len(ids)), f"{embed}.LayerNorm")

    assert WRITTEN[name][0] is multiplied or WRITTEN[name][0].__qualname__ == fixed(positions).__qualname__
    model = matched(name)
    ids, segments = np.arange(200, 220), np.repeat([0, 1], 10)
    with torch.no_grad():
        got = model.addend(torch.from_numpy(ids)[None], token_type_ids=torch.from_numpy(segments)[None])
    want = Written(model).run(ids, segments, rescaled, WRITTEN[name][1])
    np.testing.assert_allclose(got.last_hidden_state[0].numpy(), want, rtol=0, atol=1e-9)


def test_a_full_head_reads_all_of_the_width() -> None:
    """Dense at full width, gelu, norm, then a projection to the words' width, then the word table."""
    model = matched("concat_20")
    head, hidden = model.cls.predictions, torch.randn(5, 128, dtype=torch.float64)
    with torch.no_grad():
        x = torch.nn.functional.gelu(hidden @ head.transform.dense.weight.T + head.transform.dense.bias)
        x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-12).sqrt()
        x = x @ head.projection.weight.T + head.projection.bias
        want = x @ model.get_input_embeddings().weight.T
        assert (head(hidden) - want).abs().max() < 1e-10
    assert head.transform.dense.weight.shape == (128, 128)
    assert not hasattr(matched("bert_a").cls.predictions, "projection")


def test_masks_follow_the_settings() -> None:
    rng = np.random.default_rng(0)
    windows = PackedWindows(tokens=rng.integers(5, 300, 6_000).astype(np.uint16), length=64, vocabulary=300, stop=7)
    chosen = np.arange(windows.count)
    for share, to_mask in ((0.15, 0.8), (0.4, 0.8), (0.4, 1.0), (0.5, 0.5)):
        batch = windows.masked(chosen, np.random.default_rng(1), share=share, to_mask=to_mask)
        predicted = batch.labels >= len(SPECIALS)
        assert predicted.sum(1).tolist() == [round(share * 61)] * len(chosen)
        assert (batch.ids == MASK)[predicted].mean() == pytest.approx(to_mask, abs=0.04)
        kept = (batch.ids == batch.labels)[predicted].mean()
        assert kept == pytest.approx((1 - to_mask) / 2, abs=0.03)
    usual = windows.step(3, 8, 5, causal=False)
    assert np.array_equal(usual.ids, windows.step(3, 8, 5, causal=False, share=0.15, to_mask=0.8).ids)


def test_changed_settings_are_another_run() -> None:
    base = preset("cpu2", variant="bert_a")
    others = [replace(base, masked_share=0.3), replace(base, to_mask=1.0), replace(base, precision="float32")]
    assert len({one.run_id("x") for one in [base, *others]}) == 4
