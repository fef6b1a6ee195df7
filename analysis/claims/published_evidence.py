"""Two rows of a published table held against each other. Papers print no spread to test, so margins decide."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from analysis.claims.base import NEUTRAL, Evidence, QueryResults, Row, Rows, View
from analysis.claims.trainings import BETTER, LOSS_MARGIN, SAME, WORSE
from analysis.core.formatting import signed
from analysis.literature.tables import POINTS

MARGINS = {"points": 1.0, "BLEU": 0.5, "nats": LOSS_MARGIN}
"""The least difference that matters: GLUE points as on the GLUE page; BLEU; perplexity by its logarithm, 5 %."""
MARGINS_SAID = "1 point, 0.5 BLEU or 5 % of perplexity"
ROUNDING = 1e-9
"""Of floating point: figures that differ by exactly the margin do not differ by more than it."""
LOGARITHMIC = ("perplexity", "validation_loss", "training_loss")


def pairs(citation: str, table: str, variant: str, baseline: str, *, same_steps: bool = True) -> str:
    """SQL: a row of a published table beside another, one row a task and metric, as many steps unless told."""
    texts = [text.replace("'", "''") for text in (citation, table, variant, baseline)]
    steps = " AND steps IS NOT DISTINCT FROM baseline_steps" if same_steps else ""
    return (
        "SELECT short, citation, table_name, setting, task, task_title, metric, glue, variant, baseline, value, "
        "baseline_value, steps, baseline_steps, "
        "higher_is_better, caveat FROM published_pairs "
        f"WHERE citation = '{texts[0]}' AND table_name = '{texts[1]}' AND variant = '{texts[2]}' "
        f"AND baseline = '{texts[3]}'{steps} ORDER BY task, metric, setting"
    )


@dataclass(frozen=True, kw_only=True)
class PublishedGain:
    """What one figure gains over another; above 0 is better. unit: points, BLEU, or nats (the log of perplexity)."""

    gain: float
    unit: str
    row: Row

    @property
    def standing(self) -> str:
        """Better, worse or the same, by the margin of its unit."""
        if abs(self.gain) <= MARGINS.get(self.unit, math.inf) + ROUNDING:
            return SAME
        return BETTER if self.gain > 0 else WORSE


def without_repeats(results: QueryResults, names: Iterable[str]) -> dict[str, Rows]:
    """The rows of these queries, without figures that a paper prints again: same task, metric and two values."""
    seen: set[tuple[object, ...]] = set()
    kept: dict[str, Rows] = {}
    for name in names:
        fresh = []
        for row in results[name]:
            key = tuple(row[column] for column in ("citation", "task", "metric", "value", "baseline_value"))
            if key not in seen:
                fresh.append(row)
            seen.add(key)
        kept[name] = fresh
    return kept


def gains(rows: Rows) -> list[PublishedGain]:
    """What the variant of every pair gains. Figures in units without a margin are left out."""
    items = []
    for row in rows:
        metric, value, baseline = row["metric"], row["value"], row["baseline_value"]
        if metric in LOGARITHMIC and value > 0 and baseline > 0:
            items.append(PublishedGain(gain=math.log(baseline / value), unit="nats", row=row))
        elif metric in POINTS or metric == "mean":
            items.append(PublishedGain(gain=value - baseline, unit="points", row=row))
        elif metric in ("bleu", "sacrebleu"):
            items.append(PublishedGain(gain=value - baseline, unit="BLEU", row=row))
    return items


def average(rows: Rows, without: tuple[str, ...] = ()) -> float | None:
    """Mean gain in points over the GLUE tasks of a pair, the paper's own average not among them; None for no task."""
    kept = [one.gain for one in gains(rows) if one.row["glue"] and one.row["task"] not in without]
    return sum(kept) / len(kept) if kept else None


def averages(rows: Rows, query: str, sides: dict[str, str]) -> list[Evidence]:
    """The gain averaged over the GLUE tasks of a pair, with all of them and without CoLA; see `evidence`."""
    items = []
    for without, name in (((), "all its GLUE columns"), (("cola",), "without CoLA")):
        gain = average(rows, without)
        if gain is None:
            continue
        row = rows[0]
        steps = ""
        if row["steps"] != row["baseline_steps"]:
            steps = f" ({row['steps']} steps against {row['baseline_steps']})"
        standing = PublishedGain(gain=gain, unit="points", row=row).standing
        items.append(
            Evidence(
                side=sides.get(standing, NEUTRAL),
                description=f"{row['variant']} less {row['baseline']}{steps}: mean over {name}: {signed(gain)} points, "
                f"{standing}; no spread is printed",
                value=gain,
                unit="points",
                query=query,
                source=f"{row['short']}, {row['table_name']}",
                citation=row["citation"],
                caveat=row["caveat"] or "",
                view=View(
                    label="As published",
                    page="published",
                    values={"table": f"{row['citation']}|{row['table_name']}", "without": without},
                ),
            )
        )
    return items


def evidence(rows: Rows, query: str, sides: dict[str, str]) -> list[Evidence]:
    """Evidence of published pairs. sides: standing -> for, against or beside; beside where it is not named."""
    items = []
    for one in gains(rows):
        row = one.row
        what = row["task_title"] if row["task_title"] == row["metric"] else f"{row['task_title']}, {row['metric']}"
        setting = f" ({row['setting']})" if row["setting"] else ""
        if row["steps"] != row["baseline_steps"]:
            setting += f" ({row['steps']} against {row['baseline_steps']})"
        items.append(
            Evidence(
                side=sides.get(one.standing, NEUTRAL),
                description=f"{row['variant']} less {row['baseline']}: {what}{setting}: {signed(one.gain)} {one.unit}, "
                f"{one.standing}; no spread is printed",
                value=one.gain,
                unit=one.unit,
                query=query,
                source=f"{row['short']}, {row['table_name']}",
                citation=row["citation"],
                caveat=row["caveat"] or "",
                view=View(
                    label="As published", page="published", values={"table": f"{row['citation']}|{row['table_name']}"}
                ),
            )
        )
    return items
