"""C27: segment embeddings, too, can simply be added."""

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
from analysis.claims.contest import (
    DIVERGED,
    GLUE_RULE,
    LOSS_RULE,
    OPEN_RULE,
    RULE,
    contest,
    decided,
    queries,
    undecided,
)
from analysis.claims.trainings import BETTER, OPEN, SAME, WORSE
from analysis.core.formatting import plural, significant

MOVES = 0.01
PAIR_TASKS = ("mnli", "mnli_mismatched", "mrpc", "qnli", "qqp", "rte", "stsb")
QUERIES = {
    "segment_terms": "SELECT t.model, t.corpus, t.layer, t.term, max(t.effect) AS effect, arg_max(t.head, t.effect) AS "
    "head, max(t.texts) AS texts FROM newest_terms t JOIN measured_models m USING (model) WHERE m.adds_positions "
    "AND NOT m.images AND t.aggregation = 'head' AND t.layer = 0 AND t.term LIKE '%segment%' "
    "AND isfinite(t.effect) GROUP BY ALL ORDER BY t.model, effect DESC",
    "without_segments": "SELECT model, corpus, outcome, value, low, high, texts FROM intervention_effects "
    "WHERE intervention = 'zero_segment' AND layer IS NULL AND isfinite(value) ORDER BY model, outcome",
}


def judge(results: QueryResults) -> Verdict:
    """Whether adding segments harms, and whether the model uses them."""
    own = contest(results, "bert_a", "no_segment", only=PAIR_TASKS)
    rows = own.evidence({SAME: FOR, BETTER: FOR, WORSE: AGAINST})
    loudest = {}
    for row in results["segment_terms"]:
        loudest.setdefault(row["model"], row)
    rows += [
        Evidence(
            side=FOR if row["effect"] >= MOVES else AGAINST,
            description=f"Effect of {row['term'].replace('_', ' ')} at layer 0, in the head where a segment term is "
            "largest "
            f"(head {row['head']}), {plural(int(row['texts'] or 0), 'text')}, pairs among them",
            value=row["effect"],
            unit="nats",
            query="segment_terms",
            source=row["model"],
            view=views.terms(model=row["model"], corpus=row["corpus"], group="all", measure="effect"),
        )
        for row in loudest.values()
    ]
    rows += [
        Evidence(
            side=NEUTRAL,
            description=f"Segments zeroed: {str(row['outcome']).replace('_', ' ')}",
            value=row["value"],
            low=row["low"],
            high=row["high"],
            unit="nats" if row["outcome"] == "attention_kl" else str(row["outcome"]),
            query="without_segments",
            source=row["model"],
            view=views.interventions("zero_segment", model=row["model"]),
        )
        for row in results["without_segments"]
    ]
    used = [row["effect"] >= MOVES for row in loudest.values()]
    text = ""
    if used:
        most = max(loudest.values(), key=lambda row: row["effect"])
        text = (
            f"{sum(used)} of {plural(len(used), 'model')} use their segments at layer 0 (the largest effect is "
            f"{significant(most['effect'])} nats, {most['model']})."
        )
    if own.blocking_reason:
        return undecided(own, rows, also=text)
    assert own.loss is not None
    standings = {own.loss.standing, own.glue_standing}
    if WORSE in standings:
        word = CONTRADICTED if standings <= {WORSE, OPEN} else MIXED
    elif OPEN in standings or not used:
        word = INCONCLUSIVE
    else:
        word = SUPPORTED if all(used) else MIXED
    return decided(own, word, f"{own.summary()}.{own.missing_glue} {text}".strip(), rows)


register(
    Claim(
        id="C27",
        title="Segments can be added too",
        question="beyond",
        statement="Segment embeddings can simply be added as well, three things in one vector.",
        documents=("000", "004"),
        asks="Our own training with and without segments, its GLUE scores on tasks of sentence pairs, and the effects "
        "of segment terms in models that add them.",
        rule=f"{RULE} {LOSS_RULE} {GLUE_RULE} Can simply be added is read as: adding them does no harm, and what was "
        "added is used. Supported if BERT-A is no worse than without segments, in loss and on tasks of pairs, and in "
        f"every model measured some segment term moves a head's pattern at layer 0 by {MOVES} nats or more; "
        "contradicted if BERT-A is worse and in nothing the same or better; mixed if loss and GLUE disagree or some "
        f"model leaves its segments unused; inconclusive while a difference is open and none is worse. {OPEN_RULE}",
        queries={**queries("bert_a", "no_segment"), **QUERIES},
        judge=judge,
        views=(
            views.terms(group="all", measure="effect"),
            views.interventions("zero_segment"),
            views.training("curves", "bert_a", "no_segment"),
        ),
        changed=DIVERGED,
    )
)
