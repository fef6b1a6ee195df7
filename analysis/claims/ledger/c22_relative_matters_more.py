"""C22: relative position matters more than absolute."""

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
    Row,
    Verdict,
    register,
)
from analysis.claims.contest import DIVERGED, LOSS_RULE, RULE, contest, decided, queries, undecided
from analysis.claims.published_evidence import averages, evidence, pairs
from analysis.claims.trainings import BETTER, OPEN, SAME, WORSE
from analysis.core.formatting import plural, significant

LESS = 0.5
SIDES = {BETTER: FOR, SAME: NEUTRAL, WORSE: AGAINST}
PRINTED = {
    "shaw_base": pairs("shaw2018relative", "Table 1", "base: relative (k=16)", "base: absolute sinusoidal"),
    "shaw_big": pairs("shaw2018relative", "Table 1", "big: relative (k=8)", "big: absolute sinusoidal"),
    "roformer": pairs("su2021roformer", "Table 1", "RoFormer", "Transformer-base"),
    "huang": pairs(
        "huang2020relative", "README", "relative_key_query, base, len 384", "absolute bert-base-uncased (len 384)"
    ),
}
DIET = pairs(
    "chen2021diet", "Table 2", "Raffel 2020 T5 bias (per-head, seg input)", "Devlin 2018 (pos input, seg input)"
)
MOVED = (
    "SELECT model, corpus, intervention, outcome, value, low, high, texts FROM intervention_effects "
    "JOIN measured_models m USING (model) WHERE m.adds_positions AND NOT m.images AND layer IS NULL "
    "AND outcome = 'attention_kl' AND (intervention LIKE 'shift_positions:%' "
    "OR intervention LIKE 'shuffle_positions:%') AND isfinite(value) ORDER BY model, corpus, intervention"
)
SAYS = {"shift": "every position shifted, distances kept", "shuffle": "positions shuffled, distances lost"}


def judge(results: QueryResults) -> Verdict:
    """What trained models react to, and what trains better."""
    own = contest(results, "relative_only")
    rows = own.evidence({**SIDES, OPEN: NEUTRAL})
    by_model: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in results["moved"]:
        if row["low"] is None or row["high"] is None:
            continue
        kind = str(row["intervention"]).split("_")[0]
        by_model.setdefault((row["model"], row["corpus"]), {}).setdefault(kind, []).append(row)
    both = {key: one for key, one in by_model.items() if {"shift", "shuffle"} <= one.keys()}
    reacts, hardest = [], []
    for one in both.values():
        shift = max(one["shift"], key=lambda row: row["value"])
        shuffle = min(one["shuffle"], key=lambda row: row["value"])
        hardest.append((shift, shuffle))
        less = shift["value"] < LESS * shuffle["value"] and shift["high"] < shuffle["low"]
        reacts.append(less)
        for kind, row in ((kind, row) for kind, own_rows in one.items() for row in own_rows):
            rows.append(
                Evidence(
                    side=FOR if less else AGAINST,
                    description=f"KL of the attention of all layers, {SAYS[kind]} ({row['intervention']}), "
                    f"{plural(int(row['texts'] or 0), 'text')}",
                    value=row["value"],
                    low=row["low"],
                    high=row["high"],
                    unit="nats",
                    query="moved",
                    source=row["model"],
                    view=views.interventions(f"{kind}_positions", model=row["model"]),
                )
            )
    rows += [one for name in PRINTED for one in evidence(results[name], name, SIDES)]
    rows += averages(results["diet_t5_bias"], "diet_t5_bias", SIDES)
    text = ""
    if both:
        models = {model for model, _ in both}
        on = "" if len(models) == len(both) else f" and corpora ({plural(len(models), 'model')})"
        shift, shuffle = max(hardest, key=lambda one: one[0]["value"] / one[1]["value"])
        text = (
            f"In {sum(reacts)} of {plural(len(both), 'trained model')}{on} a shift of all positions moves attention "
            f"less than half as much as shuffling them ({shift['model']}: {significant(shift['value'])} against "
            f"{significant(shuffle['value'])} nats)."
        )
    if own.blocking_reason:
        return undecided(own, rows, also=text)
    assert own.loss is not None
    trains = own.loss.standing
    react = bool(reacts) and all(reacts)
    if not reacts or trains == OPEN:
        word = INCONCLUSIVE
    elif react and trains == BETTER:
        word = SUPPORTED
    elif not any(reacts) and trains != BETTER:
        word = CONTRADICTED
    else:
        word = MIXED
    return decided(own, word, f"{text} {own.summary()}.".strip(), rows)


register(
    Claim(
        id="C22",
        title="Relative position matters more than absolute",
        question="order",
        statement="How far apart two words are matters more than where in the text they stand.",
        documents=("004",),
        asks="What shifting all positions (distances kept) and shuffling them (distances lost) do to the attention of "
        "trained models; our own training with relative positions only against absolute ones; published tables.",
        rule=f"{RULE} {LOSS_RULE} Two things are asked. Do models trained with absolute positions react to distance: "
        "a shift moves attention less than half as much as shuffling, and the 95 % intervals are apart (of several, "
        "the shift that moves most against the shuffle that moves least). Do models do better with relative positions "
        "only: their loss ends better than BERT-A's. Supported if both hold, contradicted if neither does, mixed if "
        "one does, inconclusive while one is open. Published pairs stand on their side and decide nothing: they "
        "change more than the kind of position.",
        queries={**queries("relative_only", "bert_a"), "moved": MOVED, **PRINTED, "diet_t5_bias": DIET},
        judge=judge,
        views=(
            views.interventions("shift_positions"),
            views.interventions("shuffle_positions"),
            views.training("curves", "bert_a", "relative_only", "rotary"),
            views.published("shaw2018relative|Table 1", "Shaw et al., Table 1"),
        ),
        changed=DIVERGED,
    )
)
