"""Made-up stores for claims: in memory, with the product's own schema, filled a line a fact.

Numbers are chosen so that a rule's answer can be read off them by eye.
"""

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import duckdb

from analysis import store_build
from analysis.ablation.presets import preset
from analysis.claims import CLAIMS, Verdict
from analysis.claims.judging import judged
from analysis.store import fill
from analysis.store.sync import SCHEMA

SEEDS = (0, 1, 2)
WILD = (0.9, -1.1, 0.4)
"""What seeds add where nothing is to be resolved."""
CREATED = "2026-11-21T10:00:00Z"
Span = float | tuple[float, float | None, float | None]
"""A value, or a value with the ends of its interval, None where it has none."""


def own(variant: str, seed: int = 0) -> str:
    """The name of a checkpoint of ours."""
    return f"cpu-{variant}-{seed}"


def wobbling(variant: str, seed: int) -> float:
    """What a seed adds to a variant's loss: little, and never alike for two variants."""
    return random.Random(f"{variant} {seed}").uniform(-0.004, 0.004)


class Made:
    """A store in memory."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        for migration in sorted(SCHEMA.glob("*.sql")):
            self.connection.execute(migration.read_text(encoding="utf-8"))
        for table in ("encodings", "variants", "tasks"):
            fill.insert(self.connection, table, store_build.dimension_tables()[table])
        self.runs: set[str] = set()

    def verdict(self, claim: str) -> Verdict:
        """What a claim's rule makes of the store."""
        fill.fine_tunings(self.connection)
        fill.pretrainings(self.connection)
        with fill.query_function(self.connection) as ask:
            return judged(CLAIMS[claim], ask)

    def _add(self, table: str, rows: Sequence[Mapping[str, Any]], **run: Any) -> None:
        run = {"run_id": f"run{len(self.runs)}", "kind": table, "created": CREATED, **run}
        if run["run_id"] not in self.runs:
            self.runs.add(run["run_id"])
            fill.insert(self.connection, "runs", [run])
        fill.insert(self.connection, table, [{**row, "run_id": run["run_id"]} for row in rows])

    # ---- Measurements of models ----

    def terms(
        self,
        model: str,
        share: Mapping[str, Span] | float = 0.05,
        *,
        heads: float | None = None,
        effect: float = 0.1,
        error: float | None = 1e-6,
        images: bool = False,
    ) -> "Made":
        """Terms of one model at layer 0, two heads: shares by term or of every term; heads: their shares."""
        rows = []
        for term in ("word_to_word", "word_to_position", "position_to_word", "position_to_position", "word_to_segment"):
            value, low, high = _span(share.get(term, 0.05) if isinstance(share, Mapping) else share)
            for head in (None, 0, 1):
                single = heads if heads is not None and head is not None else None
                rows.append(
                    {
                        "method": "exact", "corpus": "drawn_images" if images else "probe_set", "layer": 0,
                        "aggregation": "mean_over_heads" if head is None else "head", "head": head, "term": term,
                        "share": value if single is None else single,
                        "share_low": low if single is None else single - 0.001,
                        "share_high": high if single is None else single + 0.001,
                        "effect": effect, "rms": 1.0, "texts": 10, "queries": 100, "relative_error": error,
                        "max_error": error,
                    }
                )  # fmt: skip
        self._add("terms", rows, model=model, revision="r")
        return self

    def decoded(self, model: str, *layers: Mapping[str, Span]) -> "Made":
        """Accuracies by target, a mapping a layer from 0 on: position, word or order."""
        measures = {"position": ("nearest", "exact"), "word": ("ridge", "top1"), "order": ("logistic", "accuracy")}
        rows = [
            {
                "corpus": "made_up", "layer": layer, "target": target, "decoder": measures[target][0],
                "measure": measures[target][1], "value": _span(value)[0], "low": _span(value)[1],
                "high": _span(value)[2], "chance": 0.5 if target == "order" else 0.01, "windows": 100, "tokens": 1000,
            }
            for layer, found in enumerate(layers)
            for target, value in found.items()
        ]  # fmt: skip
        self._add("decoding", rows, model=model, revision="r")
        return self

    def permuted(self, model: str, *errors: float, positions: str = "as trained") -> "Made":
        """Equivariance errors, a number a layer from 0 on."""
        rows = [
            {
                "corpus": "made_up", "layer": layer, "positions": positions, "tokens": tokens, "value": value,
                "low": value, "high": value, "largest": value, "windows": 100,
            }
            for layer, value in enumerate(errors)
            for tokens in ("moved", "last")
        ]  # fmt: skip
        self._add("equivariance", rows, model=model, revision="r")
        return self

    def attending(self, model: str, *heads: float) -> "Made":
        """How far [CLS] attends, a number a head of layer 0, over the 20 tokens of even attention; words as even."""
        rows = [
            {
                "corpus": "made_up", "layer": 0, "head": head, "query": query, "measure": "mean_distance",
                "value": 20 * value if query == "cls" else 20, "even": 20, "windows": 100,
            }
            for query in ("cls", "word")
            for head, value in [(None, sum(heads) / len(heads)), *enumerate(heads)]
        ]  # fmt: skip
        self._add("locality", rows, model=model, revision="r")
        return self

    def geometry(
        self,
        model: str | None,
        measure: str,
        subject: str,
        value: float,
        *,
        draws: tuple[float | None, ...] | None = (0.5, 0.4, 0.6),
        along: float | None = None,
        layer: int | None = None,
        head: int | None = None,
    ) -> "Made":
        """One number; draws: its baseline with the ends of 95 % of draws."""
        baseline = dict(zip(("baseline", "baseline_low", "baseline_high"), draws or (None,) * 3, strict=True))
        row = {"measure": measure, "subject": subject, "along": along, "layer": layer, "head": head, "value": value}
        self._add(
            "geometry", [{**row, **baseline, "samples": 100}], model=model, revision="r", run_id=f"geometry-{model}"
        )
        return self

    def moved(self, model: str, **kl: Span) -> "Made":
        """KL of the attention after interventions: shift, shuffle, segment."""
        names = {"shift": "shift_positions:8", "shuffle": "shuffle_positions:0", "segment": "zero_segment"}
        rows = [
            {
                "corpus": "probe_set", "intervention": names[name], "outcome": "attention_kl", "layer": None,
                "value": _span(value)[0], "low": _span(value)[1], "high": _span(value)[2], "texts": 10, "tokens": 100,
            }
            for name, value in kl.items()
        ]  # fmt: skip
        self._add("interventions", rows, model=model, revision="r")
        return self

    def encoding(self, name: str, *, length: int = 128, dim: int = 512, **measures: float) -> "Made":
        """Measures of one encoding."""
        rows = [
            {"encoding": name, "length": length, "dim": dim, "measure": measure, "value": value}
            for measure, value in measures.items()
        ]
        self._add("encoding_measures", rows)
        return self

    def costs(self, variants: Mapping[str, float], measures: Sequence[str]) -> "Made":
        """Costs as multiples of BERT-A's, the same in every measure."""
        rows = [
            {"variant": variant, "preset": "cpu", "measure": measure, "value": 100 * times}
            for variant, times in {"bert_a": 1.0, **variants}.items()
            for measure in measures
        ]
        self._add("costs", rows, preset="cpu")
        return self

    # ---- Our own trainings ----

    def trained(
        self,
        seeds: Sequence[int] = SEEDS,
        *,
        wild: Sequence[str] = (),
        start: Mapping[str, float] | None = None,
        curves: Mapping[str, Sequence[float]] | None = None,
        diverged: Mapping[str, Sequence[int]] | None = None,
        changed: Mapping[str, Any] | None = None,
        **losses: float,
    ) -> "Made":
        """Final losses by variant. wild: those whose seeds differ widely. start: variance of their scores at step 0.

        curves: validation losses at steps 0, 100, 200 and so on; else a straight fall from 7 to the final loss.
        diverged: seeds at which a variant's training loss is lost after its curve, so that it has no final one.
        changed: settings that are not the preset's.
        """
        for variant, loss in losses.items():
            for seed in seeds:
                wobble = WILD[seed] if variant in wild else wobbling(variant, seed)
                settings = preset("cpu", variant=variant, seed=seed, **(changed or {}))
                line = (curves or {}).get(variant) or (7.0, loss)
                rows = [("final_loss_1x", 10_000, loss + wobble)]
                rows += [("validation_loss", 100 * at, value + wobble * (at > 0)) for at, value in enumerate(line)]
                rows += [("score_variance_0", 0, value) for value in [(start or {}).get(variant)] if value is not None]
                if seed in (diverged or {}).get(variant, ()):
                    rows = [*rows[1:], ("training_loss", 100 * len(line), math.nan)]
                shared = {"variant": variant, "preset": "cpu", "seed": seed}
                self._add(
                    "curves",
                    [{"metric": metric, "step": step, "value": value, **shared} for metric, step, value in rows],
                    run_id="-".join([variant, str(seed), *map(str, (changed or {}).values())]),
                    config=json.dumps({**asdict(settings), "corpus": "made_up"}),
                    **shared,
                )
        return self

    def tuned(self, seeds: Sequence[int] = SEEDS, *, wild: Sequence[str] = (), **points: float) -> "Made":
        """GLUE points by variant, the same on two tasks of pairs, of the checkpoints that `trained` made."""
        rows = []
        for variant, value in points.items():
            for seed in seeds:
                wobble = (4.0, -5.0, 2.0)[seed] if variant in wild else 20 * wobbling(variant, seed)
                for task in ("rte", "qnli"):
                    rows.append(
                        {
                            "variant": variant, "preset": "cpu", "task": task, "metric": "accuracy", "seed": seed,
                            "finetune_seed": 0, "learning_rate": 1e-4, "data": "official",
                            "pretraining": f"{variant}-{seed}", "value": (value + wobble) / 100,
                        }
                    )  # fmt: skip
        majority = [
            {
                "variant": "majority",
                "preset": "cpu",
                "task": task,
                "metric": "accuracy",
                "value": 0.5,
                "data": "official",
            }
            for task in ("rte", "qnli")
        ]
        self._add("scores", rows)
        self._add("scores", majority)
        return self

    # ---- The literature ----

    def table(self, citation: str, table: str, rows: Mapping[str, float], metric: str = "accuracy") -> "Made":
        """A published table of one task: value by variant."""
        task = {"accuracy": "rte", "bleu": "wmt", "perplexity": "lm"}[metric]
        known = self.connection.execute("SELECT count(*) FROM papers WHERE paper = ?", [citation]).fetchall()[0][0]
        if not known:
            fill.insert(self.connection, "papers", [{"paper": citation, "citation_key": citation, "short": citation}])
            about = {"printed_task": task, "printed_metric": metric, "citation_key": citation, "task": task}
            more = {"metric": metric, "scale": 1.0, "glue": metric == "accuracy", "task_title": task}
            better = {"higher_is_better": metric != "perplexity", "metric_title": metric}
            fill.insert(self.connection, "metrics", [{**about, **more, **better}])
        number = self.connection.execute("SELECT count(*) FROM published").fetchall()[0][0]
        fill.insert(
            self.connection,
            "published",
            [
                {
                    "row_number": number + at, "file": "made_up.csv", "paper": citation, "table_name": table,
                    "variant": variant, "task": task, "metric": metric, "value": value, "printed": str(value),
                }
                for at, (variant, value) in enumerate(rows.items())
            ],
        )  # fmt: skip
        return self


def _span(value: Span) -> tuple[float, float | None, float | None]:
    """A value with narrow ends where none are given."""
    return value if isinstance(value, tuple) else (value, value - 0.001, value + 0.001)
