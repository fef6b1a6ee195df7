"""C08: one Q^T K can do all four jobs without a trade-off."""

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
    unmeasured,
)
from analysis.claims.contest import DIVERGED, GLUE_RULE, LOSS_RULE, RULE, contest, decided, queries, undecided
from analysis.claims.published_evidence import averages, pairs
from analysis.claims.spaces import ABOVE, BELOW, LIKE, MAKE, evidence, geometry, standing
from analysis.claims.trainings import BETTER, OPEN, SAME, WORSE
from analysis.core.formatting import plural

TUPE = "ke2021tupe"
SAYS = {
    "word_without_position": "Share of a head's word term lost with the directions that hold 90 % of its position term",
    "position_without_word": "Share of a head's position term lost with the directions that hold 90 % of its word term",
    "word_position": "Overlap of what word and position use of a head's singular directions",
}
QUERIES = {
    "loss_of_a_term": geometry("g.measure = 'head_loss' AND g.layer = 0"),
    "overlap_in_heads": geometry("g.measure = 'head_overlap' AND g.layer = 0"),
    "tupe_table_1": pairs(TUPE, "Table 1", "BERT-A^d", "BERT-A"),
}


def judge(results: QueryResults) -> Verdict:
    """What sharing costs in training, and whether a head keeps the two on directions of their own."""
    own = contest(results, "bert_a_d")
    rows = own.evidence({BETTER: AGAINST, SAME: FOR, WORSE: FOR})
    rows += averages(results["tupe_table_1"], "tupe_table_1", {BETTER: AGAINST, SAME: FOR, WORSE: FOR})
    sides = {ABOVE: AGAINST, LIKE: FOR, BELOW: FOR}
    for name in ("loss_of_a_term", "overlap_in_heads"):
        rows += [evidence(row, name, SAYS[row["subject"]], sides, unit="fraction") for row in results[name]]
    by_model: dict[str, list[bool]] = {}
    for row in results["loss_of_a_term"]:
        if one := standing(row):
            by_model.setdefault(row["model"], []).append(one != ABOVE)
    sentences = [one for own in by_model.values() for one in own]
    apart = sum(sentences)
    keeps = [sum(own) > len(own) / 2 for own in by_model.values()]
    text = (
        f"In {apart} of {plural(len(sentences), 'case')} (a head and term each, layer 0) removing the directions "
        "that the "
        "one term uses costs the other no more than removing random directions; so in most cases of "
        f"{sum(keeps)} of {plural(len(keeps), 'model')}."
        if sentences
        else ""
    )
    if own.loss is None and not sentences:
        return unmeasured("training with projections of their own for positions, nor geometry of heads", MAKE, rows)
    if own.blocking_reason:
        return undecided(own, rows, also=text)
    if not sentences:
        return undecided(own, rows, why="the geometry of heads is not measured")
    assert own.loss is not None
    cost = own.loss.standing
    resolved = (BETTER, SAME, WORSE)
    glue = own.glue_standing
    if cost in resolved and glue in resolved and (cost == BETTER) != (glue == BETTER):
        word = MIXED
    elif cost == OPEN:
        word = INCONCLUSIVE
    elif cost == BETTER:
        word = MIXED if any(keeps) else CONTRADICTED
    else:
        word = SUPPORTED if all(keeps) else MIXED
    return decided(own, word, f"{own.summary()}. {text}", rows)


register(
    Claim(
        id="C08",
        title="One matrix does all four jobs",
        question="attention",
        statement="A single product of query and key projections can serve all four questions without a trade-off.",
        documents=("002", "003"),
        asks="Our own training with projections of their own for positions (BERT-A^d) against shared ones, TUPE's "
        "table of the same pair, and in trained heads: how much of one term is lost with the directions that the "
        "other uses.",
        rule=f"{RULE} {LOSS_RULE} {GLUE_RULE} A trade-off would show twice: projections of their own would train "
        "better, and taking away the directions of one term would hurt the other more than taking away random ones "
        "(above 95 % of draws) in most heads and terms of layer 0 of a model. Supported if neither shows, the second "
        "in no model; contradicted if both do, the second in every model; mixed if one does, models disagree, or GLUE "
        "says otherwise than the loss; inconclusive while one is open.",
        queries={**queries("bert_a_d", "bert_a"), **QUERIES},
        judge=judge,
        views=(
            views.training("curves", "bert_a", "bert_a_d"),
            views.geometry("heads"),
            views.published(f"{TUPE}|Table 1", "TUPE, Table 1"),
        ),
        changed=(
            *DIVERGED,
            "2026-11-22: Heads are counted a model at a time, where they had been pooled: a model of many heads would "
            "have hidden small ones that say the contrary.",
        ),
    )
)
