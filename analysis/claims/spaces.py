"""Geometry against its random baseline: what a claim asks of it, and what a row of it says."""

import math

from analysis.claims import views
from analysis.claims.base import NEUTRAL, Evidence, Row, Rows
from analysis.claims.multiple_testing import NAN, Z, p_above_zero, significant_after_holm
from analysis.core.formatting import significant

ABOVE, BELOW, LIKE = "more than chance", "less than chance", "like chance"
MAKE = "python -m analysis measure-geometry"
COLUMNS = (
    "model, measure, subject, layer, head, along, value, low, high, baseline, baseline_low, baseline_high, samples"
)


def geometry(where: str) -> str:
    """SQL: geometry of the tables and states of models that add positions, where more holds."""
    return (
        f"SELECT {', '.join(f'g.{name.strip()}' for name in COLUMNS.split(','))} FROM newest_geometry g "
        f"JOIN measured_models m USING (model) WHERE m.adds_positions AND isfinite(g.value) AND {where} "
        "ORDER BY g.model, g.measure, g.subject, g.layer, g.head, g.along"
    )


def standing(row: Row) -> str | None:
    """Where a value lies beside what 95 % of random draws give; None where there is no such span.

    A value of a sample counts as above or below only if its own interval does.
    """
    low, high = row["baseline_low"], row["baseline_high"]
    if low is None or high is None or row["value"] is None:
        return None
    least = row["value"] if row["low"] is None else row["low"]
    most = row["value"] if row["high"] is None else row["high"]
    return ABOVE if least > high else BELOW if most < low else LIKE


CORRECTED = (
    "2026-11-22: Above and below chance are so after Holm's correction over the values judged. Of many values of "
    "random tables some lie outside 95 % of draws, so that the rule could hardly ever say that none does.",
)
"""What was changed in rules that judge by `standings`, after their verdicts were known."""


def standings(rows: Rows) -> list[str | None]:
    """As `standing`, after Holm's correction over all the rows: of many values some lie outside by chance.

    Draws and samples are taken as normal, and the span of draws as 1.96 of their standard deviations either way.
    """
    p: list[float] = []
    for row in rows:
        if standing(row) is None:
            p.append(NAN)
            continue
        high = row["value"] > row["baseline"]
        draws = abs(row["baseline_high" if high else "baseline_low"] - row["baseline"])
        own = row["low" if high else "high"]
        sample = 0.0 if own is None else abs(row["value"] - own)
        p.append(p_above_zero(abs(row["value"] - row["baseline"]), math.hypot(draws, sample) / Z))
    side = [
        None if one != one else ABOVE if row["value"] > row["baseline"] else BELOW
        for row, one in zip(rows, p, strict=True)
    ]
    return [one and (one if held else LIKE) for one, held in zip(side, significant_after_holm(p), strict=True)]


PARTS = {"head_overlap": "heads", "head_loss": "heads", "effective_rank": "ranks", "dimension_participation": "ranks"}
PARTS |= {"dimension_correlation": "ranks", "word_kept_everywhere": "words", "collision_ratio": "collisions"}
PARTS |= {"abs_cosine": "angles"}
"""Where a measure is shown, if not among the subspaces."""


def evidence(
    row: Row, query: str, says: str, sides: dict[str, str], *, unit: str, result: str | None = None
) -> Evidence:
    """A row of geometry with its baseline in words. sides: standing -> side; beside where it is not named.

    result: its standing among others; None: its own.
    """
    result = result or standing(row)
    chance = ""
    if row["baseline"] is not None:
        span = (
            f", 95 % of draws {significant(row['baseline_low'])} to {significant(row['baseline_high'])}"
            if row["baseline_low"] is not None and row["baseline_high"] is not None
            else ""
        )
        chance = f"; at random {significant(row['baseline'])}{span}"
    where = "" if row["layer"] is None else f", layer {int(row['layer'])}"
    where += "" if row["head"] is None else f", head {int(row['head'])}"
    return Evidence(
        side=sides.get(result or "", NEUTRAL),
        description=f"{says}{where}{chance}",
        value=row["value"],
        low=row["low"],
        high=row["high"],
        unit=unit,
        query=query,
        source=row["model"] or "random vectors",
        view=views.geometry(
            PARTS.get(row["measure"], "subspaces"), **({"model": row["model"]} if row["model"] else {})
        ),
    )


def models_of(rows: list[Row]) -> tuple[str, ...]:
    """The models that rows are of, in order."""
    return tuple(dict.fromkeys(row["model"] for row in rows if row["model"]))
