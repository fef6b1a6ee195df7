"""Sentence similarity, a sentence encoder's own task, under every operation: Spearman's correlation with no training.

Shapes: N sentences, E hidden size, P pairs, R resamples.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import numpy as np
import torch
from jaxtyping import Float, Int64
from numpy import ndarray
from scipy.stats import rankdata
from torch import Tensor
from transformers import PreTrainedModel

from analysis.core.errors import TextError
from analysis.measurements.interventions.forward import forward
from analysis.measurements.interventions.kinds import parse
from analysis.measurements.interventions.run import family_for
from analysis.measurements.surgery.operations import Operation
from analysis.measurements.surgery.tables import change_tables, first_row
from analysis.models.foreign_errors import as_tokenizer_errors
from analysis.models.load import Loaded
from analysis.models.submodules import last_states, run_model

BATCH = 64


@dataclass(frozen=True)
class SentencePairs:
    """Pairs of sentences with the similarity that people gave them; a task of `measure_surgery`."""

    first: list[str]
    second: list[str]
    label: Float[ndarray, " P"]

    name = "stsb"
    measure = "Spearman"
    unit = "pairs of sentences"
    option = f"--stsb {quote('STS-B/dev.tsv')}"

    @property
    def count(self) -> int:
        """The number of pairs."""
        return len(self.label)

    def positions_read(self, loaded: Loaded) -> int:
        """The tokens of the longest sentence, special ones included, and the rows that some tables begin with."""
        with as_tokenizer_errors():
            encoded = loaded.tokenizer([*self.first, *self.second], truncation=True)["input_ids"]
        return first_row(loaded.model) + max(map(len, encoded))

    def values(self, loaded: Loaded, operation: Operation) -> Float[ndarray, " P"]:
        """The cosine of the two sentences of each pair."""
        return similarities(loaded, self, operation)

    def summary(self, values: ndarray) -> float:
        """Spearman's correlation of the cosines with what people said."""
        return spearman(values, self.label)

    def resampled(self, values: ndarray, draws: Int64[ndarray, "R P"]) -> Float[ndarray, " R"]:
        """Spearman's correlation on each resample of the pairs."""
        return np.array([spearman(values[draw], self.label[draw]) for draw in draws])


def read_pairs(path: Path) -> SentencePairs:
    """STS-B as a TSV file with the columns label, sentence1 and sentence2. Raises TextError where it is not one."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except FileNotFoundError:
        raise TextError(
            f"There is no file {path}; expected the dev set of STS-B as tab-separated text with the columns label, "
            "sentence1 and sentence2. Name it with --stsb."
        ) from None
    missing = {"label", "sentence1", "sentence2"} - set(rows[0] if rows else ())
    if missing:
        raise TextError(f"{path} has no column {sorted(missing)[0]!r}; expected label, sentence1 and sentence2.")
    try:
        labels = np.array([float(row["label"]) for row in rows])
    except (TypeError, ValueError) as wrong:
        raise TextError(
            f"A label of {path} is not a number ({wrong}); expected one from 0 to 5 in every row."
        ) from None
    return SentencePairs([row["sentence1"] for row in rows], [row["sentence2"] for row in rows], labels)


@torch.inference_mode()
def embed(loaded: Loaded, sentences: Sequence[str], operation: Operation) -> Float[Tensor, "N E"]:
    """Mean-pooled, normalised last hidden states, as sentence-transformers computes them, under an operation."""
    model = loaded.model.base_model
    assert isinstance(model, PreTrainedModel)
    specs = [parse(f"drop_terms:{operation.terms}")] if operation.terms else []
    result = torch.empty(len(sentences), model.config.hidden_size)
    with change_tables(model, operation.change):
        for batch, inputs in _batches(loaded, sentences):
            hidden = (
                forward(model, family_for(loaded, inputs), inputs, specs).hidden
                if specs
                else last_states(model, run_model(model, inputs))
            )
            mask = inputs["attention_mask"][..., None].to(hidden.dtype)
            pooled = (hidden * mask).sum(1) / mask.sum(1)
            result[batch] = torch.nn.functional.normalize(pooled, dim=-1).float().cpu()
    return result


def _batches(loaded: Loaded, sentences: Sequence[str]) -> Iterator[tuple[list[int], dict[str, Tensor]]]:
    """Sentences of about one length together, so that little is padding."""
    limit = int(loaded.model.config.max_position_embeddings)
    with as_tokenizer_errors():
        ids = loaded.tokenizer(list(sentences), truncation=True, max_length=min(limit, 256))["input_ids"]
    order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
    for start in range(0, len(order), BATCH):
        indices = order[start : start + BATCH]
        padded = loaded.tokenizer.pad({"input_ids": [ids[index] for index in indices]}, return_tensors="pt")
        yield indices, {name: padded[name].to(loaded.device) for name in ("input_ids", "attention_mask")}


def similarities(loaded: Loaded, pairs: SentencePairs, operation: Operation) -> Float[ndarray, " P"]:
    """The cosine of the two sentences of each pair; each sentence is encoded once."""
    sentences = list(dict.fromkeys([*pairs.first, *pairs.second]))
    place = {sentence: at for at, sentence in enumerate(sentences)}
    vectors = embed(loaded, sentences, operation).double()
    first, second = ([place[text] for text in side] for side in (pairs.first, pairs.second))
    return (vectors[first] * vectors[second]).sum(-1).numpy()


def spearman(a: ndarray, b: ndarray) -> float:
    """Spearman's rank correlation, ties at their mean rank."""
    x, y = (rankdata(values) - (len(values) + 1) / 2 for values in (a, b))
    return float((x @ y) / np.sqrt((x @ x) * (y @ y)))
