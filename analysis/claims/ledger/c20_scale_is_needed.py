"""C20: the 1/sqrt(2d) scale is needed to keep the magnitude of the scores."""

import math
from typing import Any

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    CONTRADICTED,
    FOR,
    INCONCLUSIVE,
    MIXED,
    NEUTRAL,
    SUPPORTED,
    Claim,
    Evidence,
    QueryResults,
    Verdict,
    register,
)
from analysis.claims.contest import LOSS_RULE, RULE, contest, decided, queries, title, undecided
from analysis.claims.trainings import BETTER, OPEN, OURS, SAME, WORSE
from analysis.core.formatting import plural, significant
from analysis.statistics import mean_interval

KEPT = 1.5
VARIANTS = ("bert_a", "tupe_a", "tupe_a_unscaled")
QUERIES = {
    "variance_at_start": "SELECT run_id, variant, preset, seed, avg(value) AS variance, count(*) AS layers "
    "FROM curves WHERE metric LIKE 'score_variance_%' AND step = 0 AND isfinite(value) "
    f"AND variant IN ('bert_a', 'tupe_a', 'tupe_a_unscaled') AND {OURS} GROUP BY ALL ORDER BY preset, variant, seed, "
    "run_id",
    "variance_at_end": "SELECT run_id, variant, preset, seed, avg(value) AS variance, count(*) AS layers FROM ("
    "SELECT *, max(step) OVER (PARTITION BY run_id, metric) AS last FROM curves "
    f"WHERE metric LIKE 'score_variance_%' AND {OURS} AND variant IN ('bert_a', 'tupe_a', 'tupe_a_unscaled')"
    ") WHERE step = last AND isfinite(value) GROUP BY ALL ORDER BY preset, variant, seed, run_id",
}


def spread(results: QueryResults, query: str, variant: str, runs: frozenset[str]) -> dict[Any, float]:
    """Seed -> variance of the scores, mean over layers, of these runs alone."""
    return {
        row["seed"]: row["variance"]
        for row in results[query]
        if row["variant"] == variant and row["run_id"] in runs and row["variance"]
    }


def within(variance: dict[Any, float], base: dict[Any, float]) -> bool | None:
    """Whether the variance is within a factor of KEPT of BERT-A's, paired by seed; None where the interval straddles.

    Seeds without spread (models are drawn alike) are as sure as can be: then the ratio itself decides.
    """
    logs = {seed: math.log(variance[seed] / base[seed]) for seed in variance.keys() & base.keys()}
    if not logs:
        return None
    result = mean_interval(logs)
    low, high = (result.mean, result.mean) if result.note and result.n > 1 else (result.low, result.high)
    if -math.log(KEPT) <= low and high <= math.log(KEPT):
        return True
    return False if low > math.log(KEPT) or high < -math.log(KEPT) else None


def ratio(variance: dict[Any, float], base: dict[Any, float]) -> float:
    """Geometric mean over the seeds that both have."""
    shared = variance.keys() & base.keys()
    return math.exp(sum(math.log(variance[seed] / base[seed]) for seed in shared) / len(shared))


def judge(results: QueryResults) -> Verdict:
    """Magnitude at the start, and whether the model trains worse without the scale."""
    own = contest(results, "tupe_a_unscaled", "tupe_a")
    rows = own.evidence({WORSE: FOR, SAME: AGAINST, BETTER: AGAINST})
    runs = frozenset[str]().union(*(result.runs for result in (own.loss, own.gate) if result is not None))
    for query, when in (("variance_at_start", "before training"), ("variance_at_end", "after training")):
        base = spread(results, query, "bert_a", runs)
        for variant in VARIANTS:
            values = spread(results, query, variant, runs)
            if not values:
                continue
            keeps = None if variant == "bert_a" or when != "before training" else within(values, base)
            rows.append(
                Evidence(
                    side=NEUTRAL if keeps is None else FOR if keeps == (variant == "tupe_a") else AGAINST,
                    description=f"Variance of {title(variant)}'s scores {when}, mean over layers and "
                    f"{plural(len(values), 'seed')}",
                    value=sum(values.values()) / len(values),
                    unit="variance of scores",
                    query=query,
                    source=title(variant),
                    view=views.training("scores"),
                )
            )
    if own.blocking_reason:
        return undecided(own, rows)
    base, with_, without = (spread(results, "variance_at_start", name, runs) for name in VARIANTS)
    if not base.keys() & with_.keys() or not base.keys() & without.keys():
        return undecided(own, rows, why="the variance of the scores before training is not stored of all three")
    keeps, stays = within(with_, base), within(without, base)
    assert own.loss is not None
    hurts = own.loss.standing
    if hurts == OPEN or None in (keeps, stays):
        word = INCONCLUSIVE
    elif keeps and not stays and hurts == WORSE:
        word = SUPPORTED
    elif hurts != WORSE and (stays or not keeps):
        word = CONTRADICTED
    else:
        word = MIXED
    return decided(
        own,
        word,
        f"Before training the variance of the scores is {significant(ratio(with_, base))} times BERT-A's with the "
        "scale "
        f"and {significant(ratio(without, base))} times without; {own.summary()}.",
        rows,
    )


register(
    Claim(
        id="C20",
        title="The scale keeps the scores' magnitude",
        question="training",
        statement="With word and position scores summed apart, dividing by the square root of 2d is needed, to keep "
        "the magnitude of the scores.",
        documents=("004",),
        asks="Variance of the scores before training with and without the scale, beside BERT-A's; final loss with and "
        "without.",
        rule=f"{RULE} {LOSS_RULE} Kept is a variance within a factor of {KEPT} of BERT-A's before training (two equal "
        "parts summed without the scale double it), of the runs of this contest alone, paired by seed, the 95 % "
        "interval on one side of it. Needed is a final loss that is worse without. Supported if the scale keeps the "
        "variance, leaving it out does not, and training is worse for it; contradicted if training is no worse and the "
        "variance does not behave so either; mixed if the magnitude is as said and training is no worse, or the "
        "reverse; inconclusive if the losses are not resolved, or an interval of the variance straddles the factor.",
        queries={**queries("tupe_a_unscaled", "tupe_a"), **QUERIES},
        judge=judge,
        views=(views.training("scores"), views.training("gap")),
    )
)
