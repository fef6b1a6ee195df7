"""Products in bfloat16 that are computed in float32 and rounded, beside PyTorch's own and beside float64."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from analysis.ablation.costs import random_batch
from analysis.ablation.presets import preset
from analysis.ablation.pretrain import build, tensors
from analysis.ablation.rounded_products import RoundedProducts, fast_bfloat16
from analysis.ablation.variants import VARIANTS

SHAPES = {"mm": ((33, 65), (65, 17)), "bmm": ((3, 33, 65), (3, 65, 17))}
EPSILON = torch.finfo(torch.bfloat16).eps


def factors(name: str) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator).bfloat16() for shape in SHAPES[name]]


@pytest.mark.parametrize("name", SHAPES)
def test_a_product_is_that_of_float64_rounded(name: str) -> None:
    """A sum in float32 is off by less than half of a step of bfloat16, so that rounding may move it by one step."""
    left, right = factors(name)
    with RoundedProducts():
        product = getattr(torch, name)(left, right)
    exact = left.double() @ right.double()
    assert product.dtype == torch.bfloat16
    torch.testing.assert_close(product.double(), exact, rtol=EPSILON, atol=1e-5)
    assert (product == exact.to(torch.bfloat16)).double().mean() > 0.99


@pytest.mark.parametrize("name", SHAPES)
def test_a_product_is_pytorch_s_own(name: str) -> None:
    left, right = factors(name)
    with RoundedProducts():
        product = getattr(torch, name)(left, right)
    torch.testing.assert_close(product, getattr(torch, name)(left, right), rtol=EPSILON, atol=1e-5)


def test_a_step_under_autocast_has_pytorch_s_own_loss_and_gradients() -> None:
    """A layer with a bias and one without, an attention between them, forward and backward."""

    def step() -> tuple[float, list[torch.Tensor]]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(24, 32), torch.nn.LayerNorm(32), torch.nn.Linear(32, 8, bias=False))
        inputs = torch.randn(4, 10, 24)
        with torch.autocast("cpu", torch.bfloat16):
            hidden = model(inputs)
            loss = (torch.softmax(hidden @ hidden.transpose(1, 2), -1) @ hidden).float().square().mean()
        loss.backward()
        return loss.item(), [parameter.grad for parameter in model.parameters() if parameter.grad is not None]

    own_loss, own = step()
    with RoundedProducts():
        loss, gradients = step()
    assert loss == pytest.approx(own_loss, rel=0.01)
    assert len(gradients) == len(own) == 5
    for gradient, other in zip(gradients, own, strict=True):
        assert gradient.dtype == torch.float32
        torch.testing.assert_close(gradient, other, rtol=0.1, atol=0.02 * float(other.abs().max()))


class InBfloat16(TorchDispatchMode):
    """Notes the products that PyTorch itself computes in bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.__name__.split(".")[0]
        if name in ("mm", "addmm", "bmm", "baddbmm", "linear", "matmul") and args[0].dtype == torch.bfloat16:
            self.found.append(name)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad, torch.enable_grad])
def test_every_product_of_a_forward_pass_is_rounded(mode: Any) -> None:
    """Those of layers with and without a bias, and of batches, in each way to run a model."""
    torch.manual_seed(0)
    with_bias, without = torch.nn.Linear(24, 32), torch.nn.Linear(32, 8, bias=False)
    inputs = torch.randn(4, 10, 24)
    with mode(), torch.autocast("cpu", torch.bfloat16):
        with InBfloat16() as own_products:
            own = without(with_bias(inputs))
            own @ own.transpose(1, 2)
        with RoundedProducts(), InBfloat16() as products:
            hidden = without(with_bias(inputs))
            scores = hidden @ hidden.transpose(1, 2)
    assert len(own_products.found) >= 3
    assert products.found == []
    assert hidden.dtype == scores.dtype == torch.bfloat16
    torch.testing.assert_close(hidden, own, rtol=2 * EPSILON, atol=0.01)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_step_has_no_product_in_bfloat16_but_in_a_recurrent_layer(variant: str) -> None:
    settings = preset("width128", variant=variant, layers=2, length=16, batch=2)
    parent = VARIANTS[variant].needs
    inherited = None if parent is None else build(replace(settings, variant=parent)).state_dict()
    model = build(settings, inherited)
    batch = tensors(random_batch(settings).step(0, 2, 0, causal=model.config.causal), "cpu")
    with RoundedProducts(), InBfloat16() as products:
        with torch.autocast("cpu", torch.bfloat16):
            loss = model.losses(*batch).mean()
        loss.backward()
    assert bool(products.found) == (variant == "recurrent")
    assert torch.isfinite(loss)


def test_a_factor_that_is_given_by_its_name_is_rounded_too() -> None:
    left, right = torch.randn(5, 65), torch.randn(65, 7)
    with torch.autocast("cpu", torch.bfloat16), RoundedProducts():
        products = left @ right, torch.matmul(left, other=right), torch.matmul(input=left, other=right), left.mm(right)
        sums = [torch.nn.functional.linear(left, right.mT, bias) for bias in (right[0], right[0].bfloat16())]
        sums.append(torch.nn.functional.linear(left, weight=right.mT, bias=right[0]))
    for given in (products, sums):
        assert all(torch.equal(given[0], other) for other in given)
        assert given[0].dtype == torch.bfloat16


def test_other_types_and_other_operations_are_left_alone() -> None:
    left, right = (one.float() for one in factors("mm"))
    with RoundedProducts():
        assert torch.equal(left @ right, torch.mm(left, right))
        assert (left @ right).dtype == torch.float32
        assert (left.bfloat16() + left.bfloat16()).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("device", "capability", "rounded"),
    [("cpu", "AVX2", True), ("cpu", "DEFAULT", True), ("cpu", "AVX512", False), ("cuda", "AVX2", False)],
)
def test_only_processors_without_bfloat16_round(
    monkeypatch: pytest.MonkeyPatch, device: str, capability: str, rounded: bool
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    assert isinstance(fast_bfloat16(device), RoundedProducts) == rounded
