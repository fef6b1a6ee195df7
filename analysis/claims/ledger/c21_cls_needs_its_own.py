"""C21: [CLS] needs its own position handling, or it becomes too local."""

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    CONTRADICTED,
    FOR,
    INCONCLUSIVE,
    MIXED,
    SUPPORTED,
    Claim,
    Found,
    Verdict,
    register,
)
from analysis.claims.contest import GLUE_RULE, RULE, contest, decided, queries, undecided
from analysis.claims.printed import MARGINS, average, averages, pairs
from analysis.claims.said import signed
from analysis.claims.trainings import BETTER, FEWEST, SAME, WORSE

TUPE = "ke2021tupe"
SIDES = {BETTER: FOR, SAME: AGAINST, WORSE: AGAINST}


def judge(found: Found) -> Verdict:
    """GLUE with [CLS] untied and tied, own and published."""
    own = contest(found, "tupe_a", "tupe_a_tie_cls")
    rows = [*own.evidence(SIDES), *averages(found["tupe_table_1"], "tupe_table_1", SIDES)]
    means = [average(found["tupe_table_1"], without) for without in ((), ("cola",))]
    known = [one for one in means if one is not None]
    told = (
        f"TUPE's table has {signed(known[0])} points for untying [CLS], {signed(known[-1])} without CoLA."
        if known
        else ""
    )
    told = f"{told} How local [CLS] attends is not measured.".strip()
    if own.glue is None or own.glue_why_not:
        return undecided(own, rows, also=told if own.loss or known else "", why=own.glue_why_not)
    clear = bool(known) and min(known) >= MARGINS["points"]
    if own.glue.standing == BETTER:
        word = SUPPORTED if clear else MIXED
    elif own.glue.standing in (SAME, WORSE):
        word = MIXED if clear else CONTRADICTED
    else:
        word = INCONCLUSIVE
    return decided(own, word, f"{own.told()}. {told}", rows, glue=True)


register(
    Claim(
        id="C21",
        title="[CLS] needs a position of its own",
        question="training",
        statement="[CLS] has to be treated apart from other positions, or its attention becomes too local to stand for "
        "the sentence.",
        documents=("004",),
        asks="Our own GLUE average of TUPE-A with [CLS] untied against tied, and TUPE's table. How near [CLS] attends "
        "is "
        "not stored, so of this claim only the consequence is judged.",
        rule=f"{RULE} {GLUE_RULE} Fine-tunings must have {FEWEST} seeds too. Supported if our own average is better "
        "untied "
        "and TUPE's is by a point or more, with CoLA and without; contradicted if our own is the same or worse and "
        "TUPE's "
        "does not pass so; mixed if the two disagree; else inconclusive.",
        queries={
            **queries("tupe_a", "tupe_a_tie_cls"),
            "tupe_table_1": pairs(TUPE, "Table 1", "TUPE-A", "TUPE-A^tie-cls"),
        },
        judge=judge,
        views=(
            views.glue("difference"),
            views.training("curves", "tupe_a", "tupe_a_tie_cls"),
            views.published(f"{TUPE}|Table 1", "TUPE, Table 1"),
        ),
    )
)
