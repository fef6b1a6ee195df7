"""Every claim put to a store: its queries asked, its rule applied, the outcome as rows of the store's tables."""

import json
import math
from collections.abc import Callable
from typing import Any

from analysis.claims.base import CLAIMS, INCONCLUSIVE, Claim, Rows, Verdict, View

Ask = Callable[[str], list[dict[str, Any]]]
"""A SELECT -> its rows."""


def judged(claim: Claim, ask: Ask) -> Verdict:
    """The verdict on one claim. A rule that stumbles over odd data says so and stops nothing else."""
    entries: dict[str, Rows] = {name: ask(sql) for name, sql in claim.queries.items()}
    try:
        return claim.judge(entries)
    except (ArithmeticError, LookupError, TypeError, ValueError) as odd:
        return Verdict(
            word=INCONCLUSIVE,
            sentence=f"Inconclusive: the rule could not be applied to what is stored ({type(odd).__name__}: {odd}).",
        )


def verdicts(ask: Ask) -> dict[str, list[dict[str, Any]]]:
    """Rows of the tables `verdicts`, `evidence` and `claim_views`, from a store that holds everything else."""
    known: dict[str, list[dict[str, Any]]] = {}

    def once(sql: str) -> list[dict[str, Any]]:
        if sql not in known:
            known[sql] = ask(sql)
        return known[sql]

    rows: dict[str, list[dict[str, Any]]] = {"verdicts": [], "evidence": [], "claim_views": []}
    for _, claim in sorted(CLAIMS.items()):
        verdict = judged(claim, once)
        rows["verdicts"].append(_verdict(claim, verdict))
        rows["evidence"] += [_evidence(claim, number, one) for number, one in enumerate(verdict.evidence)]
        rows["claim_views"] += [
            {"id": claim.id, "number": number, "label": view.label, **_address(view)}
            for number, view in enumerate(claim.views)
        ]
    return rows


def _verdict(claim: Claim, verdict: Verdict) -> dict[str, Any]:
    return {
        "id": claim.id,
        "verdict": verdict.word,
        "sentence": verdict.sentence,
        "effect": _real(verdict.effect),
        "low": _real(verdict.low),
        "high": _real(verdict.high),
        "unit": verdict.unit,
        "measured": verdict.measured,
        "threshold": _real(verdict.threshold),
        "models": list(dict.fromkeys(verdict.models)),
        "samples": verdict.samples,
        "sample_unit": verdict.sample_unit,
        "missing": verdict.missing,
        "command": verdict.command,
    }


def _evidence(claim: Claim, number: int, one: Any) -> dict[str, Any]:
    return {
        "id": claim.id,
        "number": number,
        "side": one.side,
        "says": one.description,
        "value": _real(one.value),
        "low": _real(one.low),
        "high": _real(one.high),
        "unit": one.unit,
        "source": one.source,
        "citation": one.citation,
        "published": one.published,
        "caveat": one.caveat,
        "query": one.query,
        **_address(one.view),
    }


def _address(view: View | None) -> dict[str, str | None]:
    if view is None:
        return {"page": None, "parameters": None}
    return {"page": view.page, "parameters": json.dumps(view.values)}


def _real(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
