"""Stopping a pass anywhere leaves the model as it was: what it gives afterwards is what it gave before."""

import random

import pytest
import torch
from family_specimens import SPECIMENS, ids
from torch import Tensor
from torch.nn.modules import module as torch_modules

from analysis.measurements.interventions.forward import forward
from analysis.measurements.interventions.kinds import parse
from analysis.models.cancellation import cancellable
from analysis.models.families import FAMILIES
from analysis.models.trace_sources import Layer, trace_sources


class PressedStop(Exception):
    pass


def inputs_of(name: str, model):
    made = SPECIMENS[name].inputs
    return made(model) if made else ids(model)


def calls_of(work) -> int:
    """How many modules a pass runs."""
    counted: list[None] = []
    with cancellable(lambda: counted.append(None)):
        work()
    return len(counted)


def stopped_at(call: int, work) -> None:
    """Runs `work`, and stops it before its module number `call`."""
    left = [call]

    def check() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise PressedStop

    with pytest.raises(PressedStop), cancellable(check):
        work()


def moments(calls: int, seed: str) -> list[int]:
    """The first module, the last, and three between."""
    return sorted({0, calls - 1, *random.Random(seed).sample(range(calls), min(3, calls))})


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_pass_that_was_stopped_changes_no_later_one(name: str) -> None:
    model = SPECIMENS[name].build()
    family, inputs = FAMILIES[model.config.model_type], inputs_of(name, model)

    def scores() -> list[Tensor]:
        seen: list[Layer] = []
        trace_sources(model, family, inputs, seen.append)
        return [layer.call.scores for layer in seen]

    before, attention = scores(), model.config._attn_implementation
    methods = {path: set(vars(part)) for path, part in model.named_modules()}
    for call in moments(calls_of(scores), name):
        stopped_at(call, scores)
        assert model.config._attn_implementation == attention
        assert {path: set(vars(part)) for path, part in model.named_modules()} == methods, "something stayed in place"
        assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
        for one, other in zip(before, scores(), strict=True):
            assert torch.equal(one, other)
    assert not torch_modules._global_forward_pre_hooks


@pytest.mark.parametrize("spec", ["zero_positions", "shuffle_positions:3", "one_position:2", "drop_terms:word_to_word"])
@pytest.mark.parametrize("name", ["bert", "gpt2", "addend", "distilbert"])
def test_an_intervention_that_was_stopped_leaves_the_weights_as_they_were(name: str, spec: str) -> None:
    model = SPECIMENS[name].build()
    family, inputs = FAMILIES[model.config.model_type], inputs_of(name, model)
    weights = {path: weight.clone() for path, weight in model.state_dict().items()}

    def intervene() -> None:
        forward(model, family, inputs, (parse(spec),))

    for call in moments(calls_of(intervene), name + spec):
        stopped_at(call, intervene)
        for path, weight in model.state_dict().items():
            assert torch.equal(weight, weights[path]), path
        assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
