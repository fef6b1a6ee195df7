"""The cells of the page Choosing: for each method and column, what is known and where from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.choosing import evidence
from analysis.choosing.evidence import AGAINST, FOR, OPEN, Said
from analysis.choosing.facts import NEEDS, changes_attention, limit, needed
from analysis.choosing.methods import METHODS, Method
from analysis.errors import LinkError
from analysis.figures.words import begun

__all__ = ["NEEDS", "NOT_MEASURED", "PARTS", "Cell", "Line", "lines"]

NOT_MEASURED = Said("not measured", "")
NONE_COMPARED = Said("none of what was compared", "")
PARTS: dict[str, dict[str, str]] = {
    "needs": {"needs": "What it needs", "attention": "Attention code", "limit": "Longest text"},
    "cost": {
        "parameters": "Parameters (against BERT-A)",
        "flops_per_token": "FLOPs a token (against BERT-A)",
        "step_ratio": "Step time (× BERT-A)",
        "peak_memory_mib": "Peak memory, MiB (against BERT-A)",
    },
    "length": {"limit": "Longest text", "longer": "Beyond the training length"},
    "evidence": {FOR: "For", AGAINST: "Against", OPEN: "Not resolved, and what the ledger says"},
}
"""Part of the page -> column -> its heading."""


@dataclass(frozen=True)
class Cell:
    """What is said in one cell; never empty."""

    said: tuple[Said, ...]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One method: its name, what it is, the paper's key, and its cells by column."""

    name: str
    title: str
    summary: str
    key: str | None
    cells: Mapping[str, Cell]


def lines(part: str, preset: str, needs: Sequence[str] = ()) -> list[Line]:
    """The methods that meet every need, each with the cells of a part. LinkError for what is not offered."""
    if part not in PARTS:
        raise LinkError(f"The link says part={part!r}; expected one of: {', '.join(PARTS)}.")
    if unknown := [need for need in needs if need not in NEEDS]:
        raise LinkError(f"The link says needs={unknown[0]!r}; expected one of: {', '.join(NEEDS)}.")
    kept = [method for method in METHODS if all(NEEDS[need].met(method) for need in needs)]
    make = {"needs": _needs, "cost": _cost, "length": _length, "evidence": _evidence}[part]
    return [
        Line(
            name=method.variant,
            title=method.setup.title,
            summary=method.setup.summary,
            key=method.setup.key,
            cells={column: Cell(tuple(said) or (NOT_MEASURED,)) for column, said in made.items()},
        )
        for method, made in zip(kept, make(kept, preset), strict=True)
    ]


Made = list[dict[str, Any]]


def _settings(method: Method) -> str:
    return f"settings of the variant {method.variant}"


def _needs(methods: list[Method], preset: str) -> Made:
    del preset  # What a method needs does not depend on its size.
    return [
        {
            "needs": [Said(begun("; ".join(needed(method))), _settings(method))],
            "attention": [
                Said("changed" if changes_attention(method.setup.settings) else "unchanged", _settings(method))
            ],
            "limit": [Said(begun(limit(method)), _settings(method))],
        }
        for method in methods
    ]


def _cost(methods: list[Method], preset: str) -> Made:
    made = []
    for method in methods:
        found = evidence.costs(method, preset)
        made.append({column: [found[column]] if column in found else [] for column in PARTS["cost"]})
    return made


def _length(methods: list[Method], preset: str) -> Made:
    found = evidence.ours(preset)
    return [
        {"limit": [Said(begun(limit(method)), _settings(method))], "longer": evidence.longer(method, found)}
        for method in methods
    ]


def _evidence(methods: list[Method], preset: str) -> Made:
    found = evidence.ours(preset)
    made = []
    for method in methods:
        own = evidence.loss(method, found) if found else None
        said = [own] if own else []
        said += [one for pair in method.pairs for one in evidence.compared(pair)]
        said += evidence.verdicts(method.claims)
        by_side = {side: [one for one in said if one.side == side] for side in (FOR, AGAINST, OPEN)}
        if by_side[FOR] or by_side[AGAINST]:
            by_side = {side: found_here or [NONE_COMPARED] for side, found_here in by_side.items()}
        made.append(by_side)
    return made
