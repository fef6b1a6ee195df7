"""One run of refitting: an arm at one rate and seed, trained on and measured, written as one results file.

A run that is stopped goes on from its last evaluation. Its results file appears at the end, under a name that depends
on its settings alone.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from analysis.ablation.optimise import keep_freed_memory
from analysis.ablation.presets import identify
from analysis.core import default_model
from analysis.core.atomic_write import atomic_write
from analysis.core.provenance import now
from analysis.engine.task import Report
from analysis.measurements.refit.distil import Distillation, RefitSettings, Targets, held_out, variance_of
from analysis.measurements.refit.texts import Texts, read_texts, write_states
from analysis.measurements.refit.word_order import accuracy, read_exchanges
from analysis.measurements.surgery.apply_arm import operate
from analysis.measurements.surgery.arms import ARMS
from analysis.measurements.surgery.finetuned import intact_encoder, mean_positions
from analysis.measurements.surgery.operations import Operation
from analysis.measurements.surgery.similarity import embed, read_pairs, similarities, spearman
from analysis.rules.refit_rules import PILOT, Purpose, refit_rules
from analysis.store.files import Run, write_rows
from analysis.store.kinds import KINDS
from analysis.store.paths import data_folder

if TYPE_CHECKING:
    from analysis.models.load import Loaded

AS_IT_IS = Operation(name="intact", description="nothing")


@dataclass(frozen=True, kw_only=True)
class RefitFiles:
    """The files that every run reads. texts, held_out: UTF-8, an empty line between articles. stsb: a TSV file."""

    texts: Path
    held_out: Path
    stsb: Path
    out: Path

    def targets(self, tokens: int) -> Targets:
        """The training texts, with the states that a student is to give."""
        return prepared(self.texts, tokens, self.out)

    def held_out_targets(self) -> Targets:
        """The same of the held-out texts."""
        return prepared(self.held_out, refit_rules().held_out_tokens, self.out)


@dataclass(frozen=True, kw_only=True)
class RefitJob:
    """An arm, trained on at one rate with one seed.

    purpose: as the rules name it. digest: of the texts. with_weights: also run where the results are stored and the
    weights are not in the folder of `data`; the stored results then stay as they are.
    """

    arm: str
    purpose: str
    seed: int
    learning_rate: float
    tokens: int
    data: RefitFiles
    digest: str
    with_weights: bool = False
    threads: int = 1

    @property
    def settings(self) -> RefitSettings:
        """The settings of its training."""
        return RefitSettings(tokens=self.tokens, learning_rate=self.learning_rate, **refit_rules().settings)

    @property
    def _plan(self) -> Purpose:
        return refit_rules().purposes[self.purpose]

    @property
    def config(self) -> dict[str, object]:
        """Everything that its numbers depend on, but for the code."""
        return {
            "arm": self.arm,
            "purpose": self.purpose,
            "settings": asdict(self.settings),
            "evaluations": list(self._plan.evaluations),
            "held_out_tokens": refit_rules().held_out_tokens,
            "sentences": refit_rules().sentences,
            "texts": self.digest,
        }

    @property
    def run_id(self) -> str:
        """The name that a run with these settings always has."""
        about = {"model": default_model.NAME, "revision": default_model.REVISION, "seed": self.seed}
        return identify({**about, **self.config, "rules": refit_rules().sha256})

    @property
    def key(self) -> str:
        """Its name among the tasks of a sweep."""
        return self.run_id

    @property
    def label(self) -> str:
        """Its name on screen."""
        return f"{self.arm} at {self.learning_rate:g}, seed {self.seed}"

    needs = None
    device = "cpu"

    @property
    def name(self) -> str:
        """The name of its results file, without its ending."""
        return f"{self.purpose}-{self.arm}-{self.learning_rate:g}-{self.seed}-{self.run_id}"

    @property
    def finished(self) -> bool:
        """True if its results are stored, and its weights are there where they are asked for."""
        return self._stored and (not self.with_weights or self.weights.is_file())

    @property
    def _stored(self) -> bool:
        return (data_folder() / KINDS["refits"].folder / f"{self.name}.parquet").is_file()

    @property
    def weights(self) -> Path:
        """The weights of the refitted encoder, for fine-tuning."""
        return self.data.out / self.run_id / "weights.pt"

    def run(self, report: Report = lambda what, done: None) -> None:
        """Trains what is not trained of it, measures it, and stores the results."""
        torch.set_num_threads(self.threads)
        keep_freed_memory()
        loaded = intact_encoder()
        held = self.data.held_out_targets()
        targets = replace(self.data.targets(self.tokens), variance=held.variance)  # one unit for both losses
        student = copy.deepcopy(loaded.model)
        operate(student, ARMS[self.arm], mean_positions())
        training = Distillation(student, targets, self.settings, self.seed)
        file = self.data.out / self.run_id / "state.pt"
        began = now()
        kept: dict[str, Any] = {"rows": [], "done": 0, "seconds": 0.0, "began": began}
        if file.is_file():
            kept = torch.load(file, weights_only=True)
            training.load(kept.pop("training"))
        for share in self._plan.evaluations[kept["done"] :]:
            started = time.perf_counter()
            report("training", share)
            training.train(round(share * self.tokens))
            losses = held_out(student, held)
            kept["rows"] += [{"measure": name, "tokens": training.tokens, "value": losses[name]} for name in losses]
            kept["done"] += 1
            kept["seconds"] += time.perf_counter() - started
            with atomic_write(file) as partial:
                torch.save({**kept, "training": training.state()}, partial)
        report("measuring", 1.0)
        if self.purpose != PILOT:
            kept["rows"] += [
                {"measure": name, "tokens": training.tokens, "value": value}
                for name, value in self._measured(replace(loaded, model=student)).items()
            ]
            with atomic_write(self.weights) as partial:
                torch.save(student.state_dict(), partial)
        if not self._stored:
            self._store(kept)
        file.unlink()

    def _measured(self, loaded: Loaded) -> dict[str, float]:
        """Sentence similarity and the order of words, without fine-tuning."""
        pairs = read_pairs(self.data.stsb)
        exchanges = read_exchanges(self.data.held_out, refit_rules().sentences)
        originals, copies = (
            embed(loaded, sides, AS_IT_IS).numpy() for sides in (exchanges.originals, exchanges.copies)
        )
        found = accuracy(originals, copies, exchanges.far)
        return {
            "stsb": spearman(similarities(loaded, pairs, AS_IT_IS), pairs.label),
            "order": found["all"],
            "order_near": found["near"],
            "order_far": found["far"],
        }

    def _store(self, kept: Mapping[str, Any]) -> None:
        shared = {
            "arm": self.arm,
            "purpose": self.purpose,
            "seed": self.seed,
            "learning_rate": self.learning_rate,
        }
        run = Run(
            kind="refits",
            run_id=self.run_id,
            command="python -m analysis refit --texts TEXT --held-out TEXT --stsb TSV "
            f"--purpose {self.purpose} --arms {self.arm} --seeds {self.seed}",
            model=default_model.NAME,
            revision=default_model.REVISION,
            device="cpu",
            dtype="bfloat16 autocast" if self.settings.half else "float32",
            seed=self.seed,
            variant=self.arm,
            preset="refit",
            seconds=kept["seconds"],
            config={**self.config, "began": kept["began"], "rules": refit_rules().manifest()},
        )
        write_rows([{**shared, **row} for row in kept["rows"]], run, name=self.name)


def jobs(
    purpose: str,
    arms: Sequence[str],
    seeds: Sequence[int],
    rates: Mapping[str, Sequence[float]],
    data: RefitFiles,
    *,
    with_weights: bool = False,
) -> list[RefitJob]:
    """The runs of a purpose. rates: of each arm. with_weights: as in `RefitJob`.

    Prepares the texts and what the intact encoder gives for them.
    """
    tokens = refit_rules().purposes[purpose].tokens
    digest = data.targets(tokens).texts.digest
    data.held_out_targets()
    return [
        RefitJob(
            arm=arm,
            purpose=purpose,
            seed=seed,
            learning_rate=rate,
            tokens=tokens,
            data=data,
            digest=digest,
            with_weights=with_weights,
        )
        for seed in seeds
        for arm in arms
        for rate in rates[arm]
    ]


def prepared(path: Path, tokens: int, out: Path) -> Targets:
    """Texts with the states that the intact encoder gives; these are computed once and kept in a file."""
    loaded = intact_encoder()
    texts = _read(path, tokens, out)
    states = out / f"states-{texts.digest}.npy"
    write_states(texts, loaded, states)
    mapped = np.load(states, mmap_mode="r")
    return Targets(texts, mapped, variance_of(mapped))


def _read(path: Path, tokens: int, out: Path) -> Texts:
    file = out / f"texts-{path.stem}-{tokens}.npz"
    if not file.is_file():
        texts = read_texts(path, intact_encoder(), tokens)
        with atomic_write(file) as partial, partial.open("wb") as stream:
            np.savez(stream, ids=texts.ids, starts=texts.starts)
    kept = np.load(file)
    return Texts(kept["ids"], kept["starts"])
