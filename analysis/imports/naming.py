"""Our names for the tasks, metrics, curves and variants that files spell in many ways: one set of functions for all.

Case, spaces and punctuation do not count: SST-2, sst2 and glue/SST_2 are one task.
"""

import re
import unicodedata

from analysis.ablation.glue.tasks import METRICS, TASKS
from analysis.ablation.variants import VARIANTS

PREFIX = re.compile(r"^(eval|evaluation|dev|val|valid|validation|test|final|best|summary|metrics)[/_. -]")
"""The evaluation that a key is of."""


def normalised(name: str) -> str:
    """A name in lower case, letters and digits only."""
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKC", name).lower())


TASK_NAMES = {normalised(text): name for name in TASKS for text in (name, TASKS[name].title)} | {
    "mnlim": "mnli",
    "mnlimm": "mnli_mismatched",
    "mnlivalidationmatched": "mnli",
    "mnlivalidationmismatched": "mnli_mismatched",
    "stsbenchmark": "stsb",
    "swappedneighbors": "swapped_neighbours",
}
"""A task's normalised name -> ours."""
METRIC_NAMES = {normalised(name): name for name in METRICS} | {
    "acc": "accuracy",
    "f1score": "f1",
    "mcc": "matthews_correlation",
    "matthews": "matthews_correlation",
    "matthewscorr": "matthews_correlation",
    "matthewscorrcoef": "matthews_correlation",
    "pearsonr": "pearson",
    "pearsoncorr": "pearson",
    "spearman": "spearmanr",
    "spearmancorr": "spearmanr",
}
"""A metric's normalised name -> ours."""
CURVES = {
    "validation_loss": "loss of a pre-training on held-out text, nats per predicted token",
    "training_loss": "its loss on the texts it learns from",
    "finetuning_validation_loss": "loss of a fine-tuning on its dev set, as its tool logged it",
    "finetuning_training_loss": "its loss on the training set",
}
"""The metrics of curves."""
CURVE_NAMES = {normalised(name): name for name in CURVES}
LOSSES = {name: "training_loss" for name in ("loss", "trainloss", "trainingloss")} | {
    f"{set_}loss": "validation_loss" for set_ in ("eval", "evaluation", "val", "valid", "validation", "dev")
}
"""A tool's normalised key -> the curve, of a pre-training or of a fine-tuning."""
VARIANT_NAMES = {normalised(name): name for name in VARIANTS}


def task_name(text: str) -> str | None:
    """Our name for a task; None where it is none of ours."""
    found = normalised(text)
    return TASK_NAMES.get(found) or TASK_NAMES.get(found.removeprefix("glue"))


def metric_name(text: str) -> str | None:
    """Our name for a score's metric, which may say that it is of an evaluation; None where it is none of ours."""
    return METRIC_NAMES.get(normalised(PREFIX.sub("", text.lower().strip())))


def curve_name(text: str) -> str | None:
    """Our name for a curve's metric; None where it is none of ours."""
    return CURVE_NAMES.get(normalised(text))


def variant_name(text: str) -> str:
    """A variant's name: ours where it is spelled in another way, else as it is, composed and with single spaces."""
    return VARIANT_NAMES.get(normalised(text)) or " ".join(unicodedata.normalize("NFC", text).split())


def score_key(key: str) -> tuple[str | None, str] | None:
    """The task (None: not in the key) and the metric that a tool's key names; None where it names no metric of ours."""
    rest = PREFIX.sub("", key.lower().strip())
    mismatched = rest.endswith("_mm")
    rest = rest.removesuffix("_mm")
    starts = [0, *(match.end() for match in re.finditer(r"[/_. -]+", rest))]
    found = next(
        ((at, METRIC_NAMES[normalised(rest[at:])]) for at in starts if normalised(rest[at:]) in METRIC_NAMES), None
    )
    if found is None:
        return None
    prefix = PREFIX.sub("", rest[: found[0]].rstrip("/_. -"))
    prefix = re.sub(r"(^|[/_. -])(eval|evaluation|dev|val|valid|validation|test)$", "", prefix)
    task = task_name(prefix) if prefix else None
    if prefix and task is None:
        return None
    return ("mnli_mismatched" if mismatched and task in (None, "mnli") else task), found[1]
