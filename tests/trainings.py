"""Made-up pre-trainings, written as a sweep writes them: pages and figures are held against known numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from analysis.ablation.presets import preset
from analysis.ablation.variants import VARIANTS
from analysis.store import files

ENDS = {"bert_a": 5.2, "no_position": 6.2, "tupe_a": 3.7, "concat_20": 4.9}
Rows = list[tuple[str, int, float, float]]
"""metric, step, seconds, value"""


def write(variant: str, seed: int, rows: Rows, *, created: str = "2026-11-21T10:00:00Z", **changes: Any) -> str:
    """One results file of curves with these rows, at the cpu preset's settings but for the changes; its run's id."""
    changes = {"preset": "cpu", **changes}
    device, corpus = changes.pop("device", "cpu"), changes.pop("corpus", "made up")
    settings = preset(changes.pop("preset"), variant=variant, seed=seed, **changes)
    metric, step, seconds, value = zip(*rows, strict=True)
    columns = {
        "metric": metric,
        "step": step,
        "tokens": [one * settings.batch * settings.length for one in step],
        "seconds": seconds,
        "value": value,
        "variant": [variant] * len(rows),
        "preset": [settings.preset] * len(rows),
        "seed": [seed] * len(rows),
    }
    run = files.Run(
        kind="curves",
        command=f"python -m analysis ablate --preset {settings.preset} --variants {variant} --seeds {seed}",
        variant=variant,
        preset=settings.preset,
        seed=seed,
        device=device,
        dtype="float32",
        seconds=seconds[-1],
        config={**asdict(settings), "corpus": corpus, "model": settings.config(), "parameters": 1_000},
        run_id=settings.run_id(str(corpus)),
        created=created,
    )
    files.write("curves", columns, run)
    return run.run_id


def line(steps: Iterable[int], losses: Iterable[float], *, speed: float = 10.0, final: float | None = None) -> Rows:
    """A validation curve, `speed` steps a second; final: its loss on the larger sample, at 1, 2 and 4 times."""
    steps = list(steps)
    rows = [("validation_loss", step, step / speed, loss) for step, loss in zip(steps, losses, strict=True)]
    if final is not None:
        rows += [(f"final_loss_{times}x", steps[-1], steps[-1] / speed, final * times**0.3) for times in (1, 2, 4)]
    return rows


def plausible(variant: str, seed: int, *, end: float, steps: int = preset("cpu").steps, every: int = 250) -> Rows:
    """What a run of a small encoder looks like: a fall, a plateau, a second fall, with noise; and its scores."""
    random = np.random.default_rng([seed, len(variant), sum(map(ord, variant))])
    end += random.normal(0, 0.05)
    at = np.arange(0, steps + 1, every)
    speed = 14 * (1 + 0.1 * random.random())
    turn = steps * (0.02 + 0.1 * (end - 3) + 0.02 * random.random())
    loss = 6.3 + 1.35 * np.exp(-at / 150) + random.normal(0, 0.012, len(at))
    loss -= (6.3 - end) * np.clip((1 - np.exp(-np.clip(at - turn, 0, None) / 1_200)) * 1.06, 0, 1)
    rows = line(at.tolist(), loss.tolist(), speed=speed)
    rows += [("training_loss", step, step / speed, value + 0.03) for step, value in zip(at[1:], loss[1:], strict=True)]
    scale = 2.0 if variant == "tupe_a_unscaled" else 1.0
    for layer in range(4):
        variance = scale * (0.02 + (layer + 1) * 0.9 * (1 - np.exp(-at / 2_000))) * random.lognormal(0, 0.1, len(at))
        name = f"score_variance_{layer}"
        rows += [(name, step, step / speed, value) for step, value in zip(at.tolist(), variance.tolist(), strict=True)]
    for times in (1, 2, 4):
        value = loss[-1] + random.normal(0, 0.01) + (0.4 * (times - 1) if "a" in variant else 0.03)
        rows.append((f"final_loss_{times}x", steps, steps / speed, value))
    return rows


def sweep(variants: Mapping[str, float] = ENDS, seeds: Iterable[int] = (0, 1, 2), **changes: Any) -> None:
    """Runs of every variant and seed."""
    for variant, end in variants.items():
        for seed in seeds:
            write(variant, seed, plausible(variant, seed, end=end), **changes)


def costs(variants: Iterable[str] = ENDS, *, preset: str = "cpu", created: str = "2026-11-21T11:00:00Z") -> None:
    """A cost measurement of these variants."""
    rows = []
    for place, variant in enumerate(variants):
        more = 1 + 0.05 * place
        held = 1_100_000 if VARIANTS[variant].size.startswith("Fewer") else 1_200_000
        values = {
            "parameters": held,
            "trained_parameters": held - (262_144 if variant == "frozen_word" else 0),
            "flops_per_token": 6.2e6 * more,
            "tokens_per_second": 15_000 / more,
            "step_ratio": more,
            "peak_memory_mib": 900 * more,
        }
        rows += [(variant, measure, value) for measure, value in values.items()]
    names, measures, values = zip(*rows, strict=True)
    columns = {"variant": names, "measure": measures, "value": values, "preset": [preset] * len(rows)}
    run = files.Run(
        kind="costs", command="python -m analysis measure costs", preset=preset, created=created, dtype="float32"
    )
    files.write("costs", columns, run)
