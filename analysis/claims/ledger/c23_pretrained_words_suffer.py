"""C23: adding positions to pre-trained word vectors would throw attention off."""

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    CONTRADICTED,
    FOR,
    INCONCLUSIVE,
    MIXED,
    SUPPORTED,
    Claim,
    QueryResults,
    Verdict,
    register,
)
from analysis.claims.contest import LOSS_RULE, RULE, contest, decided, queries, undecided
from analysis.claims.trainings import BETTER, OPEN, SAME, WORSE


def judge(results: QueryResults) -> Verdict:
    """Frozen words with positions added, against words that may adapt, and against no positions at all."""
    adapting = contest(results, "frozen_word")
    orderless = contest(results, "frozen_word", "no_position")
    rows = [
        *adapting.evidence({WORSE: FOR, SAME: AGAINST, BETTER: AGAINST}),
        *orderless.evidence({WORSE: FOR, SAME: FOR, BETTER: AGAINST}),
    ]
    for outcome in (adapting, orderless):
        if outcome.blocking_reason:
            return undecided(outcome, rows)
    assert adapting.loss is not None
    assert orderless.loss is not None
    against_adapting, against_none = adapting.loss.standing, orderless.loss.standing
    if OPEN in (against_adapting, against_none):
        word = INCONCLUSIVE
    elif against_none != BETTER:
        word = SUPPORTED
    elif against_adapting == WORSE:
        word = MIXED
    else:
        word = CONTRADICTED
    return decided(adapting, word, f"{adapting.summary()}. {orderless.summary()}.", rows)


register(
    Claim(
        id="C23",
        title="Pre-trained word vectors would suffer",
        question="training",
        statement="Adding positions to word vectors that were trained without them would throw attention off.",
        documents=("003",),
        asks="Our own training of positions added to a frozen word table, taken from a model without positions, "
        "against words that may adapt and against no positions.",
        rule=f"{RULE} {LOSS_RULE} Thrown off is a model that does no better than one without positions: supported. "
        "Contradicted if it does better than that one and no worse than BERT-A, whose words adapt; mixed if it does "
        "better than no positions but worse than BERT-A; inconclusive where a difference is not resolved. The words "
        "are our own small model's, not word2vec's, and frozen: what freezing alone costs is not set apart.",
        queries=queries("frozen_word", "bert_a", "no_position"),
        judge=judge,
        views=(views.training("curves", "bert_a", "frozen_word", "no_position"), views.training("gap")),
    )
)
