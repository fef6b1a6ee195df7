"""C25: combining by multiplication, a matrix a position, is possible."""

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
from analysis.claims.contest import DIVERGED, LOSS_RULE, RULE, contest, costs, decided, queries, step_times, undecided
from analysis.claims.trainings import BETTER, OPEN, SAME, WORSE

WAYS = ("multiply", "rotary")


def judge(results: QueryResults) -> Verdict:
    """Each way of multiplying against no positions; against adding beside."""
    outcome = {name: contest(results, name, "no_position") for name in WAYS}
    beside = {name: contest(results, name) for name in WAYS}
    rows = [one for each in outcome.values() for one in each.evidence({BETTER: FOR, SAME: AGAINST, WORSE: AGAINST})]
    rows += [one for each in beside.values() for one in each.evidence({})]
    rows += costs(results)
    waiting = [one for one in outcome.values() if one.blocking_reason]
    if waiting:
        ready = [one for one in outcome.values() if one.loss]
        # Where one way has been trained and the other has not, it is no longer true that nothing is measured.
        return undecided(ready[0] if ready and ready[0].blocking_reason else waiting[0], rows)
    sentences = [each.loss.standing for each in outcome.values() if each.loss]
    if all(one == BETTER for one in sentences):
        word = SUPPORTED
    elif BETTER in sentences:
        word = MIXED
    else:
        word = INCONCLUSIVE if OPEN in sentences else CONTRADICTED
    text = " ".join(f"{each.summary()}." for each in (*outcome.values(), *beside.values()) if each.loss)
    return decided(outcome["multiply"], word, text, rows)


register(
    Claim(
        id="C25",
        title="Multiplying is possible",
        question="training",
        statement="Position can also be combined with words by multiplying, a matrix for each position.",
        documents=("003",),
        asks="Our own trainings that multiply: a learned diagonal matrix a position, and rotations (rotary); what they "
        "cost.",
        rule=f"{RULE} {LOSS_RULE} Possible is a loss better than without positions. Supported if both ways of "
        "multiplying are, contradicted if neither is and nothing is open, mixed if one is, else inconclusive. Against "
        "adding, and in time a step, they stand beside. A full matrix for each position is not trained: both ways "
        "here are cheap ones.",
        queries={**queries(*WAYS, "bert_a", "no_position"), "costs": step_times(*WAYS)},
        judge=judge,
        views=(
            views.training("curves", "bert_a", *WAYS, "no_position"),
            views.training("gap"),
            views.encodings("rotary", "values"),
        ),
        changed=DIVERGED,
    )
)
