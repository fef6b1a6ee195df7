"""C20: the 1/sqrt(2d) scale is needed to keep the magnitude of the scores."""

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    BESIDE,
    CONTRADICTED,
    FOR,
    INCONCLUSIVE,
    MIXED,
    SUPPORTED,
    Claim,
    Evidence,
    Found,
    Verdict,
    register,
)
from analysis.claims.contest import LOSS_RULE, RULE, contest, decided, queries, title, undecided
from analysis.claims.said import number
from analysis.claims.trainings import BETTER, OPEN, OURS, SAME, WORSE

KEPT = 1.5
VARIANTS = ("bert_a", "tupe_a", "tupe_a_unscaled")
QUERIES = {
    "variance_at_start": "SELECT variant, preset, metric, avg(value) AS variance, count(DISTINCT seed) AS seeds "
    "FROM curves WHERE metric LIKE 'score_variance_%' AND step = 0 "
    f"AND variant IN ('bert_a', 'tupe_a', 'tupe_a_unscaled') AND {OURS} GROUP BY ALL ORDER BY preset, variant, metric",
    "variance_at_end": "SELECT variant, preset, metric, avg(value) AS variance, count(DISTINCT seed) AS seeds FROM ("
    "SELECT *, max(step) OVER (PARTITION BY run_id, metric) AS last FROM curves "
    f"WHERE metric LIKE 'score_variance_%' AND {OURS} AND variant IN ('bert_a', 'tupe_a', 'tupe_a_unscaled')"
    ") WHERE step = last GROUP BY ALL ORDER BY preset, variant, metric",
}


def spread(found: Found, query: str, variant: str) -> float | None:
    """Variance of the scores, mean over layers and seeds, at the cpu preset or the first there is."""
    presets = sorted({row["preset"] for row in found[query]}, key=lambda name: (name != "cpu", str(name)))
    rows = [row for row in found[query] if row["variant"] == variant and row["preset"] == presets[0]]
    return sum(row["variance"] for row in rows) / len(rows) if rows else None


def judge(found: Found) -> Verdict:
    """Magnitude at the start, and whether the model trains worse without the scale."""
    own = contest(found, "tupe_a_unscaled", "tupe_a")
    rows = own.evidence({WORSE: FOR, SAME: AGAINST, BETTER: AGAINST})
    for query, when in (("variance_at_start", "before training"), ("variance_at_end", "after training")):
        base = spread(found, query, "bert_a")
        for variant in VARIANTS:
            value = spread(found, query, variant)
            if value is None:
                continue
            keeps = base is not None and base > 0 and 1 / KEPT <= value / base <= KEPT
            decides = variant != "bert_a" and base is not None and when == "before training"
            rows.append(
                Evidence(
                    side=(FOR if keeps == (variant == "tupe_a") else AGAINST) if decides else BESIDE,
                    says=f"Variance of {title(variant)}'s scores {when}, mean over layers and seeds",
                    value=value,
                    unit="variance of scores",
                    query=query,
                    source=title(variant),
                    view=views.training("scores"),
                )
            )
    if own.why_not:
        return undecided(own, rows)
    base, with_, without = (spread(found, "variance_at_start", name) for name in VARIANTS)
    if not base or not with_ or not without:
        return undecided(own, rows, why="the variance of the scores before training is not stored of all three")
    keeps = 1 / KEPT <= with_ / base <= KEPT
    breaks = not 1 / KEPT <= without / base <= KEPT
    assert own.loss is not None
    hurts = own.loss.standing
    if keeps and breaks and hurts == WORSE:
        word = SUPPORTED
    elif hurts == OPEN:
        word = INCONCLUSIVE
    elif hurts != WORSE and not (keeps and breaks):
        word = CONTRADICTED
    else:
        word = MIXED
    return decided(
        own,
        word,
        f"Before training the variance of the scores is {number(with_ / base)} times BERT-A's with the scale and "
        f"{number(without / base)} times without; {own.told()}.",
        rows,
    )


register(
    Claim(
        id="C20",
        title="The scale keeps the scores' magnitude",
        question="training",
        statement="With word and position scores summed apart, dividing by the square root of 2d is needed, to keep "
        "the "
        "magnitude of the scores.",
        documents=("004",),
        asks="Variance of the scores before training with and without the scale, beside BERT-A's; final loss with and "
        "without.",
        rule=f"{RULE} {LOSS_RULE} Kept is a variance within a factor of {KEPT} of BERT-A's before training (two equal "
        "parts summed without the scale double it). Needed is a final loss that is worse without. Supported if the "
        "scale "
        "keeps the variance, leaving it out does not, and training is worse for it; contradicted if training is no "
        "worse "
        "and the variance does not behave so either; mixed if the magnitude is as said and training is no worse, or "
        "the "
        "reverse; inconclusive if the losses are not resolved.",
        queries={**queries("tupe_a_unscaled", "tupe_a"), **QUERIES},
        judge=judge,
        views=(views.training("scores"), views.training("gap")),
    )
)
