"""Hours of one core that a run takes, by the runs of its kind that are stored."""

from collections.abc import Mapping

from analysis.claims.statements.judgement import Ask

MEDIANS = (
    "SELECT preset, median(seconds) / 3600 AS hours FROM runs WHERE kind = '{kind}' AND device = 'cpu' "
    "AND coalesce(config ->> '$.purpose', 'judged') = 'judged' GROUP BY preset HAVING hours > 0"
)
"""The median hours of the runs of each preset but for pilots, which are shorter. Those of a training are processor time
of its steps, without the evaluations between them; those of a fine-tuning or a refit passed on the clock."""
TIMES_OF_ANOTHER = {"width256": ("width128", 2.5)}
"""Presets of which no run is stored -> another one, and how many times as long a step takes
(`tests/benchmarks/widths.py`, table of 30 November 2026)."""

TRAININGS, REFITS, FINE_TUNINGS = "curves", "refits", "scores"
"""Kinds of results whose runs are timed."""


def hours_by_preset(ask: Ask, kind: str) -> Mapping[str, float]:
    """Preset -> median hours of one of its runs; those without any are missing. kind: of the runs' results."""
    hours = {str(row["preset"]): float(row["hours"]) for row in ask(MEDIANS.format(kind=kind))}
    estimated = {
        preset: times * hours[other]
        for preset, (other, times) in TIMES_OF_ANOTHER.items()
        if kind == TRAININGS and other in hours
    }
    return {**estimated, **hours}
