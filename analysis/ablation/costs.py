"""Measures the cost of each variant: parameters, FLOPs, speed and memory, all at one preset on one machine.

Speed is measured in turns, so that a busy machine slows every variant alike; what counts is the ratio to
bert_a's step. On a processor it is the time that the process computes, less what others on the machine take of it.
Memory is the peak of a process of its own that does nothing else.
"""

import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from multiprocessing.queues import Queue
from statistics import median

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from analysis.ablation.corpus import SPECIALS, PackedWindows
from analysis.ablation.encoder import AddendForMaskedLM
from analysis.ablation.optimise import to_device, train_step
from analysis.ablation.presets import Pretraining
from analysis.ablation.pretrain import build, half_precision, optimiser, tensors
from analysis.ablation.variants import VARIANTS
from analysis.core.peak_memory import peak_mib

BASELINE = "bert_a"
WARM_UP, ROUNDS = 3, 60


def random_batch(settings: Pretraining) -> PackedWindows:
    """Random tokens: costs do not depend on what the text says."""
    count = 64 * (settings.length - 3)
    tokens = np.random.default_rng(0).integers(len(SPECIALS), settings.vocabulary, count, dtype=np.uint16)
    return PackedWindows(tokens=tokens, length=settings.length, vocabulary=settings.vocabulary, stop=len(SPECIALS))


def texts_of_a_step(settings: Pretraining) -> int:
    """The texts of a measured step: those of the training's own, at most 64."""
    return min(settings.batch, 64)


def _build_model(settings: Pretraining, device: str) -> AddendForMaskedLM:
    parent = VARIANTS[settings.variant].needs
    inherited = None if parent is None else build(replace(settings, variant=parent)).state_dict()
    return to_device(build(settings, inherited), device).train()


def stepper(settings: Pretraining, device: str, *, compiled: bool = False) -> Callable[[], None]:
    """A function that makes one training step as `pretrain` does."""
    model = _build_model(settings, device)
    optimizer = optimiser(model, settings, device)
    causal = model.config.causal
    batch = tensors(random_batch(settings).step(0, texts_of_a_step(settings), 0, causal=causal), device)
    losses = torch.compile(model.losses) if compiled else model.losses
    use_bfloat16 = half_precision(settings, device)

    def step() -> None:
        train_step(model, losses, batch, optimizer, settings.clip, device, use_bfloat16)
        if device == "cuda":
            torch.cuda.synchronize()

    return step


def sizes(settings: Pretraining) -> dict[str, float]:
    """Parameters (all, and trained), and FLOPs a token of one forward and backward pass.

    torch's counter: matrix products and attention alone, a multiply and an add being two; the head,
    and the last layer past its attention, see the predicted tokens only. The batch is the training's, of at most
    64 texts: matrices that multiply the table of positions do so once a step, for all of its texts.
    """
    model = _build_model(settings, "cpu")
    texts = texts_of_a_step(settings)
    batch = tensors(random_batch(settings).step(0, texts, 0, causal=model.config.causal), "cpu")
    with FlopCounterMode(display=False) as counter:
        model.losses(*batch).mean().backward()
    return {
        "parameters": float(sum(p.numel() for p in model.parameters())),
        "trained_parameters": float(sum(p.numel() for p in model.parameters() if p.requires_grad)),
        "flops_per_token": counter.get_total_flops() / (texts * settings.length),
    }


def _measure_peak(settings: Pretraining, device: str, results: "Queue[float]") -> None:
    torch.set_num_threads(1)
    step = stepper(settings, device)
    for _ in range(WARM_UP):
        step()
    results.put(torch.cuda.max_memory_allocated() / 2**20 if device == "cuda" else peak_mib())


def peak_memory(settings: Pretraining, device: str) -> float:
    """MiB: the accelerator's peak, or the whole process's on a processor (libraries included)."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_measure_peak, args=(settings, device, results))
    process.start()
    peak = results.get(timeout=600)
    process.join()
    return peak


def clock_of(device: str) -> Callable[[], float]:
    """The function that times a step: an accelerator's work is no time of the process that waits for it."""
    return time.perf_counter if device == "cuda" else time.process_time


def _step_seconds(settings: Mapping[str, Pretraining], device: str) -> dict[str, list[float]]:
    """The seconds of ROUNDS steps of each variant, all variants in turns."""
    steps = {name: stepper(settings[name], device, compiled=device == "cuda") for name in settings}
    return seconds_in_turns(steps, ROUNDS, clock_of(device))


def seconds_in_turns(
    steps: Mapping[str, Callable[[], None]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, list[float]]:
    """Name -> the seconds of so many calls of its step, all steps in turns; WARM_UP calls before are not counted."""
    for step in steps.values():
        for _ in range(WARM_UP):
            step()
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            started = clock()
            step()
            seconds[name].append(clock() - started)
    return seconds


def measure(
    settings: Pretraining, variants: Sequence[str], device: str, *, memory: bool, timed: bool = True
) -> list[dict[str, str | float]]:
    """Rows (variant, preset, measure, value) of every variant; bert_a is measured along with them.

    memory: whether the peak memory is among the measures; it takes a process a variant. timed: whether steps are timed.
    """
    variant_names = list(dict.fromkeys([BASELINE, *variants]))
    variant_settings = {name: replace(settings, variant=name) for name in variant_names}
    measures = {name: sizes(variant_settings[name]) for name in variant_names}
    if timed:
        seconds = _step_seconds(variant_settings, device)
        for name in variant_names:
            ratios = [a / b for a, b in zip(seconds[name], seconds[BASELINE], strict=True)]
            measures[name]["step_ratio"] = median(ratios)
            measures[name]["tokens_per_second"] = texts_of_a_step(settings) * settings.length / median(seconds[name])
    if memory:
        for name in variant_names:
            measures[name]["peak_memory_mib"] = peak_memory(variant_settings[name], device)
    return [
        {"variant": name, "preset": settings.preset, "measure": measure, "value": value}
        for name, values in measures.items()
        for measure, value in values.items()
    ]
