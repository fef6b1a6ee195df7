"""C18: removing the word-position cross terms speeds up pre-training."""

from typing import Any

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
    Rows,
    Verdict,
    register,
)
from analysis.claims.contest import RULE, contest, queries, title, undecided
from analysis.claims.printed import averages, pairs
from analysis.claims.said import plural
from analysis.claims.trainings import BETTER, FEWEST, OURS, SAME, WORSE
from analysis.statistics import Curve, StepsRatio, steps_ratio

FASTER = 0.95
WITHOUT = ("no_cross", "tupe_a")
TUPE = "ke2021tupe"
CURVES = (
    "SELECT run_id, variant, seed, step, value FROM curves WHERE metric = 'validation_loss' "
    f"AND variant IN ('bert_a', 'no_cross', 'tupe_a') AND {OURS} AND isfinite(value) "
    "ORDER BY variant, seed, run_id, step"
)


def ratio(found: Found, variant: str) -> StepsRatio | None:
    """Steps of the variant over steps of BERT-A to BERT-A's final loss; None where there is no such pair."""
    made = contest(found, variant)
    if made.loss is None:
        return None
    sides = [_curves(found["curves"], name, made.loss.runs) for name in (variant, "bert_a")]
    return steps_ratio(*sides) if all(sides) else None


def _curves(rows: Rows, variant: str, runs: frozenset[str]) -> dict[Any, Curve]:
    points: dict[Any, list[tuple[float, float]]] = {}
    for row in rows:
        if row["variant"] == variant and row["run_id"] in runs:
            points.setdefault(row["seed"], []).append((row["step"], row["value"]))
    return {seed: Curve(*zip(*line, strict=True)) for seed, line in points.items()}


def standing(found: StepsRatio) -> str:
    """Faster, not faster, or open."""
    if found.n < FEWEST:
        return "open"
    if found.is_lower_bound:
        return "not faster" if found.ratio > FASTER else "open"
    if found.high < 1 and found.ratio <= FASTER:
        return "faster"
    return "not faster" if found.low > FASTER else "open"


def judge(found: Found) -> Verdict:
    """Both ways of removing the cross terms."""
    ratios = {name: one for name in WITHOUT if (one := ratio(found, name)) is not None and one.n}
    contests = {name: contest(found, name) for name in WITHOUT}
    waiting = [name for name in WITHOUT if contests[name].why_not]
    evidence = [
        Evidence(
            side=BESIDE
            if contests[name].why_not
            else {"faster": FOR, "not faster": AGAINST}.get(standing(one), BESIDE),
            says=f"Steps of {title(name)} to BERT-A's final validation loss, as a ratio to BERT-A's own, "
            f"{plural(one.n, 'seed')}{', at least' if one.is_lower_bound else ''}"
            + (f" ({one.note})" if one.note else ""),
            value=one.ratio,
            low=one.low,
            high=one.high,
            unit="times BERT-A's steps",
            query="curves",
            source=f"own trainings, {plural(one.n, 'seed')}",
            view=views.training("convergence"),
        )
        for name, one in ratios.items()
    ]
    evidence += averages(found["tupe_mid"], "tupe_mid", {BETTER: FOR, SAME: FOR, WORSE: AGAINST})
    if waiting:
        return undecided(contests[waiting[0]], evidence, also=_published(evidence))
    if len(ratios) < len(WITHOUT):
        return undecided(contests[WITHOUT[0]], evidence, also="Their curves hold no validation loss.")
    said = [standing(one) for one in ratios.values()]
    word = (
        SUPPORTED
        if set(said) == {"faster"}
        else CONTRADICTED
        if set(said) == {"not faster"}
        else MIXED
        if {"faster", "not faster"} <= set(said)
        else INCONCLUSIVE
    )
    shown = ratios["no_cross"]
    told = "; ".join(
        f"{title(name)} needs {'at least ' if one.is_lower_bound else ''}{one.ratio:.2f} times BERT-A's steps to "
        "BERT-A's "
        f"final loss" + (f" (95 % interval {one.low:.2f} to {one.high:.2f})" if one.low == one.low else "")
        for name, one in ratios.items()
    )
    return Verdict(
        word=word,
        sentence=f"{told}; {plural(shown.n, 'seed')}.",
        effect=shown.ratio,
        low=shown.low,
        high=shown.high,
        unit="times BERT-A's steps",
        measured="steps to BERT-A's final loss without the cross terms",
        threshold=1.0,
        models=("BERT-A", *(title(name) for name in WITHOUT)),
        samples=shown.n,
        sample_unit="seed",
        evidence=tuple(evidence),
    )


def _published(evidence: list[Evidence]) -> str:
    if not any(one.published for one in evidence):
        return ""
    return "The paper prints GLUE scores at 30 % of the steps, not a loss curve: see the evidence."


register(
    Claim(
        id="C18",
        title="Untying speeds up pre-training",
        question="training",
        statement="Without the word-position cross terms a model learns faster in pre-training.",
        documents=("004",),
        asks="Steps that models without cross terms need to reach the additive model's final validation loss, over the "
        "steps it needs itself; what the paper prints of an early checkpoint.",
        rule=f"{RULE} Two trainings lack the cross terms: BERT-A's own projections without them, and TUPE-A, which "
        "changes "
        f"more. Faster is a ratio of steps whose 95 % interval lies below 1 and that is at most {FASTER} (a twentieth "
        "of "
        f"the training saved); not faster is an interval above {FASTER}, or a target never reached. Supported if both "
        "are "
        "faster, contradicted if neither is, mixed if one is and the other is not, else inconclusive. Steps, not "
        "seconds: "
        "the costs page has those. The paper's GLUE average of a checkpoint at 30 % of the steps is evidence, but of "
        "fine-tuning, not of the loss.",
        queries={
            **queries(*WITHOUT, "bert_a"),
            "curves": CURVES,
            "tupe_mid": pairs(TUPE, "Table 1", "TUPE-A^mid", "BERT-A", same_steps=False),
        },
        judge=judge,
        views=(
            views.training("convergence"),
            views.training("parts"),
            views.training("curves", "bert_a", *WITHOUT),
            views.published(f"{TUPE}|Table 1", "TUPE, Table 1"),
        ),
    )
)
