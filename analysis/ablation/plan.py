"""Plans a sweep: the variants and seeds to pre-train, and the tasks, rates and seeds to fine-tune them on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from analysis.ablation.presets import Pretraining, identify, preset
from analysis.ablation.variants import VARIANTS
from analysis.core.errors import AddendError

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Finetuning:
    """A plan to fine-tune every checkpoint of a preset: each task at each rate with each seed.

    settings: fields of FinetuneSettings, but for the learning rate.
    """

    tasks: tuple[str, ...] = ()
    learning_rates: tuple[float, ...] = (3e-4, 1e-3)
    seeds: tuple[int, ...] = (0,)
    settings: dict[str, Any] = field(default_factory=dict)
    predicted: int = 2_000
    """Examples of the swapped-neighbours task for dev; four times as many for train."""


GLUE = ("cola", "sst2", "mrpc", "stsb", "qqp", "mnli", "qnli", "rte", "wnli")
TASKS = (*GLUE, "swapped_neighbours")

FINETUNING = {
    "debug": Finetuning(
        tasks=("rte", "swapped_neighbours"),
        learning_rates=(1e-3,),
        settings={"epochs": 1, "batch_size": 16, "max_length": 32, "max_train": 64, "max_dev": 32},
        predicted=40,
    ),
    "cpu": Finetuning(
        tasks=TASKS, settings={"epochs": 2, "batch_size": 32, "max_length": 64, "max_train": 4_000, "max_dev": 2_000}
    ),
    "cpu2": Finetuning(),
    "pilot": Finetuning(),
    "width64": Finetuning(),
    "width128": Finetuning(),
    "width256": Finetuning(),
    "width128_twice": Finetuning(),
    "gpu": Finetuning(
        tasks=TASKS,
        learning_rates=(5e-5, 1e-4, 3e-4),
        seeds=(0, 1, 2),
        settings={"epochs": 3, "batch_size": 32, "max_length": 128},
    ),
}


def jobs(name: str, variants: Sequence[str], seeds: Iterable[int], **changes: Any) -> list[Pretraining]:
    """The pre-trainings of a sweep, seed by seed; what a variant needs comes before it, even when not asked for.

    Raises UnknownName for an unknown preset or variant.
    """
    requested = list(VARIANTS) if list(variants) == [ALL] else list(dict.fromkeys(variants))
    ordered: list[str] = []
    for variant in requested:
        parent = VARIANTS[variant].needs
        ordered += [v for v in (parent, variant) if v and v not in ordered]
    recipe = preset(name, **changes)
    seed_list = list(dict.fromkeys(seeds))
    if not ordered or not seed_list:
        raise AddendError("There is nothing to run: name at least one variant and one seed.")
    return [replace(training(recipe, variant), seed=seed) for seed in seed_list for variant in ordered]


def training(recipe: Pretraining, variant: str) -> Pretraining:
    """A variant's pre-training by a recipe, with as many steps as the variant takes of it."""
    return replace(recipe, variant=variant, steps=max(1, round(recipe.steps * VARIANTS[variant].share_of_steps)))


def scores_id(pretraining: str, finetuning: Finetuning, corpus: str) -> str:
    """The name that the scores of a pre-training under this plan always have."""
    return identify({"pretraining": pretraining, "corpus": corpus, **vars(finetuning)})
