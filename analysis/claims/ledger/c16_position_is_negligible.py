"""C16: position information makes no or a negligible difference."""

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
from analysis.claims.contest import GLUE_RULE, LOSS_RULE, OPEN_RULE, contest, decided, queries, undecided
from analysis.claims.published_evidence import MARGINS_SAID, evidence, gains, pairs, without_repeats
from analysis.claims.trainings import BETTER, FEWEST, OPEN, SAME, WORSE
from analysis.core.formatting import plural

HAVIV, SHAW = "haviv2022nopos", "shaw2018relative"
CONVS2S = "ConvS2S (source+target learned position, added)"
SHAW_ROW = "aV={0}, aK={0} (no/no = no position information)"
SIDES = {SAME: FOR, WORSE: AGAINST, BETTER: AGAINST}
PRINTED = {
    "convs2s_table_4": pairs("gehring2017convs2s", "Table 4", "- source & target position", CONVS2S),
    "haviv_causal": pairs(HAVIV, "Table 1", "NoPos", "Learned"),
    "haviv_masked": pairs(HAVIV, "Table 4", "NoPos", "Learned"),
    "shaw_table_3": pairs(SHAW, "Table 3", SHAW_ROW.format("no"), SHAW_ROW.format("yes")),
    "le_scao": pairs("lescao2022what", "text sec 4", "NoPos", "Learned"),
}


def judge(results: QueryResults) -> Verdict:
    """Our own encoder without positions, and every published pair with and without."""
    own = contest(results, "no_position")
    printed = without_repeats(results, PRINTED)
    published = [one for name in PRINTED for one in gains(printed[name])]
    same = sum(one.standing == SAME for one in published)
    apart = len(published) - same
    worse = sum(one.standing == WORSE for one in published)
    rows = [*own.evidence(SIDES), *(one for name in PRINTED for one in evidence(printed[name], name, SIDES))]
    text = (
        f"Of {plural(len(published), 'published figure')} without position {worse} are worse by more than "
        f"{MARGINS_SAID}, {apart - worse} better and {same} neither."
        if published
        else ""
    )
    if own.loss is None or own.loss.standing in ("too few seeds", OPEN):
        return undecided(own, rows, also=text)
    standings = {own.loss.standing, own.glue_standing}
    if SAME not in standings:
        word = MIXED if same else CONTRADICTED
    elif standings <= {SAME, OPEN}:
        word = MIXED if apart else SUPPORTED if published and OPEN not in standings else INCONCLUSIVE
    else:
        word = MIXED
    return decided(own, word, f"{own.summary()}.{own.missing_glue} {text}".strip(), rows)


register(
    Claim(
        id="C16",
        title="Position makes no difference",
        question="order",
        statement="Whether a model is given positions at all makes no, or a negligible, difference.",
        documents=("003",),
        asks="Our own encoder without positions against the one that adds them, and published models with and without: "
        "convolutional, causal and masked.",
        rule=f"Of our own trainings, {FEWEST} shared seeds are asked for. {LOSS_RULE} {GLUE_RULE} A published figure "
        f"differs without position if it is worse or better by more than {MARGINS_SAID}. Supported if our own are the "
        "same and no published figure differs; contradicted if our own differ and so does every published figure; "
        "mixed if the two disagree or published figures do among themselves; inconclusive if our own tie and nothing "
        "published is there, since a training that is too short ties as well, or if GLUE is open while the loss ties. "
        f"An open GLUE stands in no one's way where the loss differs. {OPEN_RULE}",
        queries={**queries("no_position", "bert_a"), **PRINTED},
        judge=judge,
        views=(
            views.training("curves", "bert_a", "no_position"),
            views.training("gap"),
            views.published("gehring2017convs2s|Table 4", "ConvS2S without positions"),
            views.published(f"{HAVIV}|Table 4", "Masked models without positions"),
        ),
        changed=(
            "2026-11-22: A result that is better without positions differs, where it had counted as no difference.",
        ),
    )
)
