"""C14: without positions a transformer cannot tell order; with a causal mask or stacked layers it can."""

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    CONTRADICTED,
    FOR,
    INCONCLUSIVE,
    MIXED,
    SUPPORTED,
    Claim,
    Evidence,
    Found,
    Row,
    Rows,
    Verdict,
    register,
    unmeasured,
)
from analysis.claims.contest import ablate
from analysis.claims.printed import evidence as printed
from analysis.claims.printed import pairs
from analysis.claims.said import between, percent
from analysis.claims.trainings import BETTER, SAME, WORSE

NEAR_CHANCE = 0.05
ORDER = (
    "SELECT d.model, d.layer, d.value, d.low, d.high, d.chance, d.windows, d.tokens FROM newest_decoding d "
    "JOIN measured_models m USING (model) WHERE m.variant = '{}' AND d.target = 'order' AND d.measure = 'accuracy' "
    "AND isfinite(d.value) ORDER BY d.model, d.layer"
)
QUERIES = {
    "encoders": ORDER.format("no_position"),
    "causal": ORDER.format("causal_no_position"),
    "masked_published": pairs("haviv2022nopos", "Table 4", "NoPos", "Learned"),
    "causal_published": pairs("haviv2022nopos", "Table 1", "NoPos", "Learned"),
}
MAKE = f"{ablate('causal_no_position')}, then python -m analysis decode on its checkpoint"


def _rows(rows: Rows, query: str, *, tells: bool) -> list[Evidence]:
    """tells: whether the claim says that order can be read here."""
    return [
        Evidence(
            side=FOR if (_above(row) > 0) == tells else AGAINST,
            says=f"Which of two tokens comes first, read from the states entering layer {row['layer']}, no positions "
            f"given; chance {percent(row['chance'] or 0.5)}",
            value=row["value"],
            low=row["low"],
            high=row["high"],
            unit="accuracy",
            query=query,
            source=row["model"],
            view=views.depth("decoding", models=(row["model"],)),
        )
        for row in rows
    ]


def _above(row: Row) -> float:
    """By how much the lower end of the interval exceeds chance and what is near to it."""
    low = row["low"] if row["low"] is not None else row["value"]
    return low - (row["chance"] or 0.5) - NEAR_CHANCE


def judge(found: Found) -> Verdict:
    """One layer is blind; more layers; a causal mask."""
    input_layer = [row for row in found["encoders"] if row["layer"] <= 1]
    stacked = [row for row in found["encoders"] if row["layer"] > 1]
    evidence = [
        *_rows(input_layer, "encoders", tells=False),
        *_rows(stacked, "encoders", tells=True),
        *_rows([row for row in found["causal"] if row["layer"] > 0], "causal", tells=True),
        *printed(found["masked_published"], "masked_published", {WORSE: FOR, SAME: AGAINST, BETTER: AGAINST}),
        *printed(found["causal_published"], "causal_published", {}),
    ]
    if not input_layer or not stacked:
        return unmeasured(
            "order decoded from an encoder without positions, through at least two layers",
            f"{ablate('no_position')}, then python -m analysis decode on its checkpoint",
            evidence,
        )
    blind = all(_above(row) <= 0 for row in input_layer)
    stack_tells = any(_above(row) > 0 for row in stacked)
    deep = [row for row in found["causal"] if row["layer"] > 0]
    causal_tells = any(_above(row) > 0 for row in deep) if deep else None
    last = max(stacked, key=lambda row: row["value"])
    told = (
        f"An encoder without positions reads order {'at chance' if blind else 'above chance'} after one layer and "
        f"{'above' if stack_tells else 'still at'} chance after more (best {percent(last['value'], 1)}"
        f"{between(last['low'], last['high'], '.3f')}, layer {last['layer']})"
    )
    if causal_tells is None:
        word = INCONCLUSIVE
        told += "; no causal model without positions has been decoded here."
    else:
        best = max(deep, key=lambda row: row["value"])
        told += f"; a causal one reads it with {percent(best['value'], 1)}{between(best['low'], best['high'], '.3f')}."
        parts = [blind, stack_tells, causal_tells]
        word = SUPPORTED if all(parts) else CONTRADICTED if not any(parts) else MIXED
    models = tuple(dict.fromkeys(row["model"] for row in (*found["encoders"], *deep)))
    return Verdict(
        word=word,
        sentence=told,
        effect=last["value"],
        low=last["low"],
        high=last["high"],
        unit="accuracy",
        measured="order read from an encoder without positions after two layers or more, where it is read best",
        threshold=0.5 + NEAR_CHANCE,
        models=models,
        samples=max(int(row["windows"] or 0) for row in found["encoders"]),
        sample_unit="window",
        missing="" if deep else "order decoded from a causal model without positions",
        command="" if deep else MAKE,
        evidence=tuple(evidence),
    )


register(
    Claim(
        id="C14",
        title="Without positions order is lost, unless masked or stacked",
        question="order",
        statement="Without positions a transformer cannot tell order; with a causal mask, or with enough layers, it "
        "can.",
        documents=("003",),
        asks="Which of two tokens comes first, decoded layer by layer from an encoder and from a causal model that "
        "were "
        "never told positions; published models without positions.",
        rule=f"Three things are said. One encoder layer is blind: order is read no better than "
        f"{percent(NEAR_CHANCE)} above chance from states entering layers 0 and 1 (words at the ends of a text differ "
        "a "
        "little from others, which no theorem forbids to use). Stacking heals it: order is read better than that, at "
        "the "
        "lower end of the 95 % interval, deeper in the encoder. A causal mask heals it: the same of a causal model. "
        "Supported if all three hold, contradicted if none does, mixed otherwise; while no causal model is decoded, "
        f"inconclusive, for one part of three is open. Published losses of models without positions stand "
        "beside or, for masked models, on their side.",
        queries=QUERIES,
        judge=judge,
        views=(
            views.depth("decoding"),
            views.published("haviv2022nopos|Table 4", "Masked models without positions"),
            views.interventions("zero_positions", permute=True),
        ),
    )
)
