"""C19: removing the word-position cross terms raises the GLUE average."""

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
from analysis.claims.contest import DIVERGED, GLUE_RULE, RULE, contest, decided, queries, title, undecided
from analysis.claims.published_evidence import MARGINS, average, averages, evidence, pairs
from analysis.claims.trainings import BETTER, FEWEST, OPEN, SAME, WORSE
from analysis.core.formatting import signed

WITHOUT, WITH = "tupe_a_tie_cls", "bert_a_d"
"""The pair that differs in the cross terms alone, and in the root that keeps the scale of as many terms."""
TUPE, DIET, DEBERTA = "ke2021tupe", "chen2021diet", "he2021deberta"
SIDES = {BETTER: FOR, SAME: AGAINST, WORSE: AGAINST}
PRINTED = {
    "tupe_a": pairs(TUPE, "Table 1", "TUPE-A", "BERT-A"),
    "tupe_tie_cls_against_bert_a_d": pairs(TUPE, "Table 1", "TUPE-A^tie-cls", "BERT-A^d"),
    "diet_replication": pairs(
        DIET, "Table 2", "Ke 2020 TUPE (per-head, seg input)", "Devlin 2018 (pos input, seg input)"
    ),
}
DEBERTA_PAIRS = {
    "deberta_without_c2p": pairs(DEBERTA, "Table 4", "-C2P", "DeBERTa-base"),
    "deberta_without_p2c": pairs(DEBERTA, "Table 4", "-P2C", "DeBERTa-base"),
}


def judge(results: QueryResults) -> Verdict:
    """Our own GLUE average of the pair that differs least, and the published ones with and without CoLA."""
    own, bundle = contest(results, WITHOUT, WITH), contest(results, "tupe_a")
    means = {name: (average(results[name]), average(results[name], ("cola",))) for name in PRINTED}
    known = {name: (a, b) for name, (a, b) in means.items() if a is not None and b is not None}
    rows = own.evidence({**SIDES, OPEN: NEUTRAL}) + bundle.evidence({})
    rows += [one for name in PRINTED for one in averages(results[name], name, SIDES)]
    rows += [one for name in DEBERTA_PAIRS for one in evidence(results[name], name, {WORSE: AGAINST})]
    clear = [min(a, b) >= MARGINS["points"] for a, b in known.values()]
    text = (
        "Published, with CoLA and without: "
        + "; ".join(
            f"{results[name][0]['variant']} less {results[name][0]['baseline']} {signed(a)} and {signed(b)} points"
            for name, (a, b) in known.items()
        )
        + "."
        if known
        else ""
    )
    if bundle.glue is not None:
        text = f"Beside it, with more changed than the cross terms: {bundle.summary()}. {text}".strip()
    if own.glue is None or own.glue_blocking_reason:
        return undecided(own, rows, also=text, why=own.glue_blocking_reason)
    if own.glue.standing == BETTER:
        word = SUPPORTED if known and all(clear) else MIXED
    elif own.glue.standing in (SAME, WORSE):
        word = MIXED if any(clear) else CONTRADICTED
    else:
        word = INCONCLUSIVE
    return decided(own, word, f"{own.summary()}. {text}".strip(), rows, glue=True)


register(
    Claim(
        id="C19",
        title="Untying raises the GLUE average",
        question="training",
        statement="Without the word-position cross terms a model scores higher on GLUE.",
        documents=("004",),
        asks="Our own GLUE average of the pair that differs in the cross terms alone, TUPE's table with CoLA and "
        "without, the replication that DIET prints, and DeBERTa's ablation of its cross terms.",
        rule=f"{RULE} {GLUE_RULE} Fine-tunings must have {FEWEST} seeds too. Published averages are taken over the "
        "paper's GLUE columns, with CoLA and without, since CoLA moves most between variants. Supported if our own "
        "average is better and every published one is so by a point, both with and without CoLA; contradicted if our "
        "own is the same or worse and no published one passes so; mixed if they disagree; else inconclusive. Of our "
        f"own the pair that differs least decides ({title(WITHOUT)}, {title(WITH)}); TUPE-A against BERT-A, which "
        "changes more, stands beside it. Of the published pairs both count. DeBERTa's terms are relative, so what it "
        "loses without them only speaks against, by more than a point.",
        queries={**queries(WITHOUT, WITH, "tupe_a", "bert_a"), **PRINTED, **DEBERTA_PAIRS},
        judge=judge,
        views=(
            views.glue("average"),
            views.glue("difference", against=WITH),
            views.published(f"{TUPE}|Table 1", "TUPE, Table 1"),
            views.published(f"{DIET}|Table 2", "DIET, Table 2"),
        ),
        changed=(
            *DIVERGED,
            "2026-11-22: Until then TUPE-A against BERT-A decided of our own; it changes more than the cross terms. "
            "The verdict was inconclusive, for too few seeds.",
        ),
    )
)
