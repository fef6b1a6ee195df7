"""C15: learned and sinusoidal encodings score the same."""

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
from analysis.claims.contest import DIVERGED, GLUE_RULE, LOSS_RULE, OPEN_RULE, RULE, contest, queries, undecided
from analysis.claims.published_evidence import MARGINS_SAID, evidence, gains, pairs, without_repeats
from analysis.claims.trainings import BETTER, LOSS_MARGIN, OPEN, SAME, UNIT, WORSE

VASWANI, HAVIV, HALLAM = "vaswani2017attention", "haviv2022nopos", "hallam2026fusion"
SIDES = {SAME: FOR, BETTER: AGAINST, WORSE: AGAINST}
PRINTED = {
    "vaswani_table_3": pairs(
        VASWANI, "Table 3", "(E) learned positional embedding instead of sinusoids", "base (sinusoidal, added)"
    ),
    "haviv_table_1": pairs(HAVIV, "Table 1", "Learned", "Sinusoidal"),
    "haviv_table_2": pairs(HAVIV, "Table 2", "Learned", "Sinusoidal"),
    "haviv_table_3": pairs(HAVIV, "Table 3", "Learned", "Sinusoidal"),
    "haviv_table_4": pairs(HAVIV, "Table 4", "Learned", "Sinusoidal"),
    "hallam_table_3": pairs(HALLAM, "Table 3", "Learned Absolute: Add", "Sinusoidal: Add"),
}


def judge(results: QueryResults) -> Verdict:
    """Sameness by two one-sided tests on our own trainings; published pairs by their size."""
    own = contest(results, "sinusoidal")
    printed = without_repeats(results, PRINTED)
    published = [one for name in PRINTED for one in evidence(printed[name], name, SIDES)]
    all_gains = [one for name in PRINTED for one in gains(printed[name])]
    same = sum(one.standing == SAME for one in all_gains)
    text = (
        f"Of {len(all_gains)} published figures {same} differ by no more than {MARGINS_SAID}, which proves no sameness."
        if all_gains
        else ""
    )
    rows = [*own.evidence(SIDES), *published]
    if own.blocking_reason:
        return undecided(own, rows, also=text)
    assert own.loss is not None
    standings = {own.loss.standing, own.glue_standing}
    if {BETTER, WORSE} & standings:
        word = MIXED if SAME in standings or same else CONTRADICTED
    elif OPEN in standings:
        word = INCONCLUSIVE
    else:
        word = SUPPORTED if same == len(all_gains) else MIXED
    return Verdict(
        word=word,
        sentence=f"{own.summary()}.{own.missing_glue} {text}".strip(),
        effect=own.loss.found.mean,
        low=own.loss.found.low,
        high=own.loss.found.high,
        unit=UNIT,
        measured="final loss, sinusoidal less learned",
        threshold=LOSS_MARGIN,
        models=own.names,
        samples=own.seeds,
        sample_unit="seed",
        evidence=tuple(rows),
    )


register(
    Claim(
        id="C15",
        title="Learned and sinusoidal score the same",
        question="order",
        statement="It makes no difference whether position codes are learned or fixed sinusoids.",
        documents=("003",),
        asks="Our own pre-trainings with learned and with sinusoidal positions, their GLUE scores, and published "
        "tables that have both.",
        rule=f"{RULE} {LOSS_RULE} {GLUE_RULE} A test that finds no difference shows no sameness. Supported if loss and "
        f"GLUE are both the same and every published figure differs by no more than {MARGINS_SAID}; contradicted if "
        "one differs, neither is the same, and so does every published figure; mixed if they disagree, or a published "
        "figure does; else inconclusive. A figure that a paper prints "
        f"twice counts once. {OPEN_RULE}",
        queries={**queries("sinusoidal", "bert_a"), **PRINTED},
        judge=judge,
        views=(views.training("gap"), views.glue(), views.published(f"{VASWANI}|Table 3", "Vaswani et al., Table 3")),
        changed=(
            *DIVERGED,
            "2026-11-22: Our own difference alone does not contradict where published figures are the same: the rule "
            "had them make it mixed, and the program had not.",
        ),
    )
)
