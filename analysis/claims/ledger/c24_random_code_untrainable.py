"""C24: a fixed, noisy code over all dimensions could not be trained with."""

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
    QueryResults,
    Verdict,
    register,
)
from analysis.claims.contest import LOSS_RULE, RULE, contest, decided, queries, undecided
from analysis.claims.trainings import BETTER, OPEN, SAME, WORSE


def judge(results: QueryResults) -> Verdict:
    """Random codes against none; against learned ones beside."""
    none = contest(results, "random_fixed", "no_position")
    learned = contest(results, "random_fixed")
    rows = [*none.evidence({BETTER: AGAINST, SAME: NEUTRAL, WORSE: FOR}), *learned.evidence({})]
    if none.blocking_reason:
        return undecided(none, rows)
    assert none.loss is not None
    word = {BETTER: CONTRADICTED, SAME: MIXED, WORSE: SUPPORTED, OPEN: INCONCLUSIVE}[none.loss.standing]
    beside = f" Against learned positions: {learned.summary()}." if learned.loss else ""
    return decided(none, word, f"{none.summary()}.{beside}", rows)


register(
    Claim(
        id="C24",
        title="A random fixed code cannot be trained with",
        question="training",
        statement="Were the code of positions fixed and noisy over all dimensions, words could not be trained beside "
        "it.",
        documents=("003",),
        asks="Our own training with random vectors as positions, never trained, against no positions and against "
        "learned ones.",
        rule=f"{RULE} {LOSS_RULE} Could not be trained beside it is a loss worse than without positions, or one that "
        "diverges: supported. Contradicted if the loss is better than without: then words are learnt, and positions "
        "read off the noise. Mixed if the two are the same: then words are learnt as well as without the noise, and "
        "positions are not. Inconclusive if the two are not resolved. How it does against learned positions stands "
        "beside.",
        queries=queries("random_fixed", "bert_a", "no_position"),
        judge=judge,
        views=(
            views.training("curves", "bert_a", "random_fixed", "sinusoidal", "no_position"),
            views.training("gap"),
            views.encodings("random_fixed", "values"),
        ),
    )
)
