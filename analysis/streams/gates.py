"""Activations with their gates held: act(z) = z * gate(z) + act(0), which is linear in z once gate(z) stands.

Never act(z) / z, which loses its digits near 0. Formulas: Hendrycks & Gimpel 2016 (GELU and its
approximations), Ramachandran et al. 2017 (SiLU).
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

Gate = Callable[[Tensor], Tensor]


def gelu(z: Tensor) -> Tensor:
    """Phi(z), by erfc: erf gives exactly 0 below -5.5 in float32."""
    return 0.5 * torch.erfc(-z * 0.5**0.5)


def gelu_tanh(z: Tensor) -> Tensor:
    """The tanh approximation."""
    return 0.5 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (z + 0.044715 * z**3)))


def quick_gelu(z: Tensor) -> Tensor:
    """The sigmoid approximation."""
    return torch.sigmoid(1.702 * z)


def relu(z: Tensor) -> Tensor:
    """1 where z is positive."""
    return (z > 0).to(z.dtype)


def tanh(z: Tensor) -> Tensor:
    """tanh(z) / z, and 1 at 0."""
    safe = torch.where(z == 0, 1, z)
    return torch.where(z == 0, 1, torch.tanh(safe) / safe)


MODULES: dict[str, Gate] = {
    "GELUActivation": gelu,
    "GELU": gelu,
    "NewGELUActivation": gelu_tanh,
    "GELUTanh": gelu_tanh,
    "FastGELUActivation": gelu_tanh,
    "AccurateGELUActivation": gelu_tanh,
    "BloomGelu": gelu_tanh,
    "QuickGELUActivation": quick_gelu,
    "SiLUActivation": torch.sigmoid,
    "SiLU": torch.sigmoid,
    "ReLU": relu,
    "Tanh": tanh,
    "ReLUSquaredActivation": functional.relu,
}
"""The gate of each activation by its class's name in transformers and torch. All activations are 0 at 0."""
PIECEWISE = (
    "LinearActivation",
    "Identity",
    "ReLU6",
    "LeakyReLU",
    "PReLU",
    "RReLU",
    "Hardtanh",
    "Hardshrink",
    "Hardswish",
)
"""Linear between a few points, and 0 at 0 (Hardswish: quadratic between). Their gate is what they did: act(z) / z."""
HOMES = ("transformers.activations", "torch.nn.modules.activation")
"""Modules of Python whose classes are activations; one that is not in `MODULES` is refused."""
NO_GATE = ("Softmax", "LogSoftmax", "MultiheadAttention")
"""Found there, and no activation of a hidden state."""
