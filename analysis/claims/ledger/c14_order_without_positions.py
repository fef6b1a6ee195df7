"""C14: without positions a transformer cannot tell order; with a causal mask or stacked layers it can."""

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
    Rows,
    Verdict,
    register,
    unmeasured,
)
from analysis.claims.contest import training
from analysis.claims.multiple_testing import p_above, significant_after_holm
from analysis.claims.published_evidence import evidence as printed
from analysis.claims.published_evidence import pairs
from analysis.claims.trainings import BETTER, SAME, WORSE
from analysis.core.formatting import interval_text, join_names, percent, significant

NEAR_CHANCE = 0.05
ROUNDING = 1e-5
"""Of the equivariance error: some models compute in float32 inside whatever they are given."""
ORDER = (
    "SELECT d.model, d.layer, d.value, d.low, d.high, d.chance, d.windows, d.tokens FROM newest_decoding d "
    "JOIN measured_models m USING (model) WHERE m.variant = '{}' AND d.target = 'order' AND d.measure = 'accuracy' "
    "AND isfinite(d.value) ORDER BY d.model, d.layer"
)
ERROR = (
    "SELECT e.model, e.layer, e.value, e.low, e.high, e.windows FROM newest_equivariance e "
    "JOIN measured_models m USING (model) WHERE {} AND e.tokens = 'moved' AND isfinite(e.value) "
    "ORDER BY e.model, e.layer"
)
OWN = "m.variant = '{}' AND e.positions = 'as trained'"
QUERIES = {
    "encoders": ORDER.format("no_position"),
    "causal": ORDER.format("causal_no_position"),
    "encoders_error": ERROR.format(OWN.format("no_position")),
    "causal_error": ERROR.format(OWN.format("causal_no_position")),
    "positions_off": ERROR.format("e.positions = 'off'"),
    "masked_published": pairs("haviv2022nopos", "Table 4", "NoPos", "Learned"),
    "causal_published": pairs("haviv2022nopos", "Table 1", "NoPos", "Learned"),
}
MAKE = "{}, then python -m analysis decode and python -m analysis measure-order on its checkpoint"


def _rows(rows: Rows, query: str, *, tells: bool) -> list[Evidence]:
    """tells: whether the claim says that order can be read here."""
    return [
        Evidence(
            side=FOR if shows == tells else AGAINST,
            description=f"Which of two tokens comes first, read from the states entering layer {row['layer']}, no "
            "positions "
            f"given; chance {percent(row['chance'] or 0.5)}",
            value=row["value"],
            low=row["low"],
            high=row["high"],
            unit="accuracy",
            query=query,
            source=row["model"],
            view=views.depth("decoding", models=(row["model"],)),
        )
        for row, shows in zip(rows, _read(rows), strict=True)
    ]


def _errors(rows: Rows, query: str, *, tells: bool | None) -> list[Evidence]:
    """tells: as of `_rows`; None where it bears on no part of the claim alone."""
    return [
        Evidence(
            side=NEUTRAL if tells is None else FOR if _broken(row) == tells else AGAINST,
            description="How far permuting the words does more than permute the states entering layer "
            f"{row['layer']}, no positions given; 1 is how far two words are apart",
            value=row["value"],
            low=row["low"],
            high=row["high"],
            unit="of the distance of two words",
            query=query,
            source=row["model"],
            view=views.depth("order", models=(row["model"],)),
        )
        for row in rows
    ]


def _read(rows: Rows) -> tuple[bool, ...]:
    """Where order is read better than chance and what is near to it, after correction for all that were tried."""
    return significant_after_holm([p_above(row, (row["chance"] or 0.5) + NEAR_CHANCE) for row in rows])


def _broken(row: Row) -> bool:
    """Whether permuting the input does more than permute the states."""
    return row["value"] > ROUNDING


def _part(read: Rows, errors: Rows) -> bool | None:
    """Whether order shows in any of these; None where the two measurements disagree, or one is not there."""
    if not read or not errors:
        return None
    shows = any(_read(read))
    return shows if shows == any(_broken(row) for row in errors) else None


def judge(results: QueryResults) -> Verdict:
    """One layer is blind; more layers; a causal mask."""
    first, deeper = ([row for row in results["encoders"] if (row["layer"] > 1) == deep] for deep in (False, True))
    exact, stacked = (
        [row for row in results["encoders_error"] if (row["layer"] > 1) == deep] for deep in (False, True)
    )
    masked = [row for row in results["causal"] if row["layer"] > 0]
    broken = [row for row in results["causal_error"] if row["layer"] > 0]
    evidence = [
        *_rows(first, "encoders", tells=False),
        *_errors(exact, "encoders_error", tells=False),
        *_rows(deeper, "encoders", tells=True),
        *_errors(stacked, "encoders_error", tells=True),
        *_rows(masked, "causal", tells=True),
        *_errors(broken, "causal_error", tells=True),
        *_errors(results["positions_off"], "positions_off", tells=None),
        *printed(results["masked_published"], "masked_published", {WORSE: FOR, SAME: AGAINST, BETTER: AGAINST}),
        *printed(results["causal_published"], "causal_published", {}),
    ]
    if not first or not deeper:
        return unmeasured(
            "order decoded from an encoder without positions, through at least two layers",
            MAKE.format(training("no_position")),
            evidence,
        )
    parts = {"one layer": _part(first, exact), "more layers": _part(deeper, stacked), "a mask": _part(masked, broken)}
    open_parts = [name for name, shows in parts.items() if shows is None]
    holds = [parts["one layer"] is False, parts["more layers"] is True, parts["a mask"] is True]
    word = INCONCLUSIVE if open_parts else SUPPORTED if all(holds) else CONTRADICTED if not any(holds) else MIXED
    last = max(deeper, key=lambda row: row["value"])
    reads, stack_tells = (any(_read(rows)) for rows in (first, deeper))
    tried = f", of {len(deeper)} tried" if len(deeper) > 1 else ""
    text = (
        f"An encoder without positions reads order {'above' if reads else 'at'} chance after one layer and "
        f"{'above' if stack_tells else 'still at'} chance after more (best {percent(last['value'], 1)}"
        f"{interval_text(last['low'], last['high'], '.3f')}, layer {last['layer']}{tried}), "
        f"and permuting its words {_permuted([*exact, *stacked])}; "
    )
    if masked:
        best = max(masked, key=lambda row: row["value"])
        text += f"a causal one reads it with {percent(best['value'], 1)}"
        text += f"{interval_text(best['low'], best['high'], '.3f')}, and permuting its words {_permuted(broken)}."
    else:
        text += "no causal model without positions has been decoded here."
    if masked and open_parts:
        text += f" Open, as the two measurements disagree or one is lacking: {join_names(open_parts)}."
    lacking = [what for what, rows in (("encoder", exact), ("causal model", masked and broken)) if not rows]
    return Verdict(
        word=word,
        sentence=text,
        effect=last["value"],
        low=last["low"],
        high=last["high"],
        unit="accuracy",
        measured="order read from an encoder without positions after two layers or more, where it is read best",
        threshold=0.5 + NEAR_CHANCE,
        models=tuple(dict.fromkeys(row["model"] for row in (*results["encoders"], *masked, *broken))),
        samples=max(int(row["windows"] or 0) for row in results["encoders"]),
        sample_unit="window",
        missing=f"order decoded and equivariance error of the {join_names(lacking)} without positions"
        if lacking
        else "",
        command=MAKE.format(training(*(_VARIANTS[one] for one in lacking))) if lacking else "",
        evidence=tuple(evidence),
    )


_VARIANTS = {"encoder": "no_position", "causal model": "causal_no_position"}


def _permuted(errors: Rows) -> str:
    if not errors:
        return "has not been tried"
    most = max(errors, key=lambda row: row["value"])
    if not _broken(most):
        return f"permutes its states and does no more (error {significant(most['value'])}, rounding)"
    return (
        f"moves its states by up to {significant(most['value'])} of the distance of two words"
        f"{interval_text(most['low'], most['high'], '.3f')}, layer {most['layer']}"
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
        "were never told positions; how far the states of permuted words are from their permuted states (equivariance "
        "error), layer by layer, of both; published models without positions.",
        rule="Three things are said, and each is put to two measurements. One encoder layer is blind: order is read no "
        f"better than {percent(NEAR_CHANCE)} above chance from states entering layers 0 and 1 (words at the ends of a "
        "text differ a little from others, which no theorem forbids to use), and permuting the words of a text "
        f"permutes those states but for rounding (in float64; {significant(ROUNDING)} of the distance of two words "
        "at most, "
        "since some models keep float32 inside). Stacking heals it: order is read better than that deeper in the "
        "encoder, and permuting does more than that there. A causal mask heals it: the same two of a causal model. "
        "Each part is tried on several layers and checkpoints, so order counts as read where it is so after Holm's "
        "correction over all readings of that part (one-sided, 2.5 %); errors are rounding or not, and need none. "
        "Supported if all three hold, contradicted if none does, mixed otherwise; inconclusive while the two "
        "measurements of a part disagree or one of them is lacking. Trained models with their positions set to zero "
        "stand beside; published losses of models without positions stand beside or, for masked models, on their side.",
        queries=QUERIES,
        judge=judge,
        views=(
            views.depth("decoding"),
            views.depth("order"),
            views.published("haviv2022nopos|Table 4", "Masked models without positions"),
            views.interventions("zero_positions", permute=True),
        ),
        changed=(
            "2026-11-22: Order counts as read after Holm's correction over the readings of its part. Of several layers "
            "and checkpoints one lies above the line by chance more often than one alone.",
        ),
    )
)
