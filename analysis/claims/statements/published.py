"""Rows of published tables compared with each other: statements of kind `published`.

Papers print no spread to test, so margins decide.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.claims.statements.contests import ALLOWED, BETTER, SAME, WORSE
from analysis.claims.statements.judgement import FAILS, HOLDS, Ask, Reading
from analysis.literature.tables import POINTS

MARGINS = {"points": 1.0, "BLEU": 0.5, "nats": 0.05}
"""The least difference that matters: GLUE points as on the GLUE page; BLEU; perplexity by its logarithm, 5 %."""
ROUNDING = 1e-9
"""Tolerance for floating-point error: figures that differ by exactly the margin do not differ by more than it."""
LOGARITHMIC = ("perplexity", "validation_loss", "training_loss")
Rows = Sequence[Mapping[str, Any]]
PAIR = (
    "SELECT short, citation, table_name, setting, task, task_title, metric, glue, variant, baseline, value, "
    "baseline_value, steps, baseline_steps, higher_is_better, caveat FROM published_pairs "
    "WHERE citation = '{0}' AND table_name = '{1}' AND variant = '{2}' AND baseline = '{3}' "
    "AND steps IS NOT DISTINCT FROM baseline_steps ORDER BY task, metric, setting"
)


def query(pairs: Sequence[Sequence[str]]) -> str:
    """The SQL that selects every pair: citation, table, variant, baseline."""
    return "\nUNION ALL BY NAME\n".join(
        f"({PAIR.format(*(part.replace(chr(39), chr(39) * 2) for part in pair))})" for pair in pairs
    )


@dataclass(frozen=True, kw_only=True)
class Gain:
    """The gain of one figure over another; above 0 is better. unit: points, BLEU, or nats (the log of perplexity)."""

    gain: float
    unit: str
    row: Mapping[str, Any]

    @property
    def standing(self) -> str:
        """Better, worse or the same, by the margin of its unit."""
        if abs(self.gain) <= MARGINS[self.unit] + ROUNDING:
            return SAME
        return BETTER if self.gain > 0 else WORSE


def gains(rows: Rows) -> list[Gain]:
    """The gain of each pair's variant over its baseline. Figures in units without a margin are left out."""
    results = []
    for row in rows:
        metric, value, baseline = row["metric"], row["value"], row["baseline_value"]
        if metric in LOGARITHMIC and value > 0 and baseline > 0:
            results.append(Gain(gain=math.log(baseline / value), unit="nats", row=row))
        elif metric in POINTS or metric == "mean":
            results.append(Gain(gain=value - baseline, unit="points", row=row))
        elif metric in ("bleu", "sacrebleu"):
            results.append(Gain(gain=value - baseline, unit="BLEU", row=row))
    return results


def average(rows: Rows) -> Gain | None:
    """Mean gain over the GLUE tasks of a pair, the paper's own average not among them; None for no task."""
    points = [gain.gain for gain in gains(rows) if gain.row["glue"]]
    return Gain(gain=sum(points) / len(points), unit="points", row=rows[0]) if points else None


def readings(ask: Ask, pairs: Sequence[Sequence[str]], expect: str, *, mean: bool = False) -> list[Reading]:
    """One reading a printed figure, or with `mean` one a pair: the average over its GLUE columns.

    The value of a reading is the variant less the baseline, in points, BLEU or nats (the logarithm of perplexity, where
    less is better).
    """
    results: list[Reading] = []
    for pair in pairs:
        rows = ask(query([pair]))
        if mean:
            if (gain := average(rows)) is not None:
                results.append(_reading(gain, "mean of its GLUE columns", expect))
            continue
        results += [_reading(gain, _metric_label(gain.row), expect) for gain in gains(rows)]
    return results


def _metric_label(row: Mapping[str, object]) -> str:
    title, metric = str(row["task_title"]), str(row["metric"])
    return title if title == metric else f"{title}, {metric}"


def _reading(gain: Gain, label: str, expect: str) -> Reading:
    # Gains are signed so that more is better; what is shown is the difference itself, and less is better for nats.
    sign = -1 if gain.unit == "nats" else 1
    difference = sign * gain.gain
    return Reading(
        source=f"{gain.row['short']}, {gain.row['table_name']}: {label}",
        family=gain.row["citation"],
        standing=HOLDS if gain.standing in ALLOWED[expect] else FAILS,
        value=difference,
        line=sign * MARGINS[gain.unit],
        citation=gain.row["citation"],
        note=f"{difference:+.2f} {gain.unit}, {gain.standing}".replace("-", "−"),
    )
