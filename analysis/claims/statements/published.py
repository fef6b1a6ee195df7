"""Rows of published tables held against each other: statements of kind `published`."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.claims.published_evidence import MARGINS, ROUNDING, average, gains
from analysis.claims.statements.base import FAILS, HOLDS, Ask, Reading
from analysis.claims.statements.contests import ALLOWED, BETTER, SAME, WORSE

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


def readings(ask: Ask, pairs: Sequence[Sequence[str]], expect: str, *, mean: bool = False) -> list[Reading]:
    """One reading a printed figure, or with `mean` one a pair: the average over its GLUE columns.

    value: the variant less the baseline, in points, BLEU or nats (the logarithm of perplexity, where less is better).
    """
    items: list[Reading] = []
    for pair in pairs:
        rows = ask(query([pair]))
        if mean:
            gain = average(rows)
            if gain is not None:
                items.append(_reading(rows[0], "mean of its GLUE columns", gain, "points", expect))
            continue
        items += [_reading(one.row, _what(one.row), one.gain, one.unit, expect) for one in gains(rows)]
    return items


def _what(row: Mapping[str, Any]) -> str:
    return row["task_title"] if row["task_title"] == row["metric"] else f"{row['task_title']}, {row['metric']}"


def _reading(row: Mapping[str, Any], what: str, gain: float, unit: str, expect: str) -> Reading:
    margin = MARGINS[unit]
    word = SAME if abs(gain) <= margin + ROUNDING else BETTER if gain > 0 else WORSE
    # Gains are signed so that more is better; what is shown is the difference itself, and less is better for nats.
    difference = -gain if unit == "nats" else gain
    return Reading(
        source=f"{row['short']}, {row['table_name']}: {what}",
        family=row["citation"],
        standing=HOLDS if word in ALLOWED[expect] else FAILS,
        value=difference,
        line=-margin if unit == "nats" else margin,
        citation=row["citation"],
        note=f"{difference:+.2f} {unit}, {word}".replace("-", "−"),
    )
