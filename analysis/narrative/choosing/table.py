"""The cells of the page Which encoding?: for each method and column, the known fact and its source."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.ablation.variants import VARIANTS
from analysis.core.errors import LinkError
from analysis.core.formatting import capitalised, uncapitalised
from analysis.figures.experiments.board_rows import judged_presets
from analysis.figures.training.later_runs import later_runs
from analysis.figures.training.trainings import CAUSAL, MASKED, Trained, objective
from analysis.narrative.choosing import evidence
from analysis.narrative.choosing.evidence import AGAINST, FOR, OPEN, Finding
from analysis.narrative.choosing.facts import NEEDS, changes_attention, limit, requirements
from analysis.narrative.choosing.methods import COUNTERPARTS, METHODS, Method, forms
from analysis.narrative.choosing.settings import IN_USE
from analysis.store.paths import cached_until_store_changes

__all__ = ["NEEDS", "NOT_MEASURED", "PARTS", "Cell", "MethodRow", "lines"]

NOT_MEASURED = Finding("not measured", "")
NONE_COMPARED = Finding("none of the comparisons stored here came out on this side", "")
THE_BASELINE = Finding(
    "none of its own: it is the baseline, so whatever is against another method in comparison with it is for this one",
    "",
)
NO_USERS = Finding("no model named here", "")
PARTS: dict[str, dict[str, str]] = {
    "needs": {
        "needs": "What it needs",
        "attention": "Attention code",
        "limit": "Longest text",
        "users": "Used by",
    },
    "cost": {
        "parameters": "Parameters (compared with adding)",
        "flops_per_token": "FLOPs per token (compared with adding)",
        "step_ratio": "Step time (× adding)",
        "peak_memory_mib": "Peak memory, MiB (compared with adding)",
    },
    "length": {"limit": "Longest text", "longer": "Beyond the training length"},
    "evidence": {FOR: "For", AGAINST: "Against", OPEN: "Open, and verdicts on claims"},
}
"""Part of the page -> column -> its heading."""


@dataclass(frozen=True)
class Cell:
    """The findings in one cell; never empty."""

    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class MethodRow:
    """One method: its name, title and summary, the paper's key, and its cells by column."""

    name: str
    title: str
    summary: str
    key: str | None
    cells: Mapping[str, Cell]


@cached_until_store_changes(64)
def lines(part: str, preset: str, needs: tuple[str, ...] = ()) -> list[MethodRow]:
    """The methods that meet every need, each with the cells of a part. Raises LinkError for an unknown part or need."""
    if part not in PARTS:
        raise LinkError(f"The link says part={part!r}; expected one of: {', '.join(PARTS)}.")
    if unknown := [need for need in needs if need not in NEEDS]:
        raise LinkError(f"The link says needs={unknown[0]!r}; expected one of: {', '.join(NEEDS)}.")
    methods = [method for method in METHODS if all(NEEDS[need].met(method) for need in needs)]
    builder = {"needs": _needs, "cost": _cost, "length": _length, "evidence": _evidence}[part]
    return [
        MethodRow(
            name=method.variant,
            title=_title(method),
            summary=method.setup.summary,
            key=method.setup.key,
            cells={column: Cell(tuple(findings) or (NOT_MEASURED,)) for column, findings in results.items()},
        )
        for method, results in zip(methods, builder(methods, preset, causal="causal" in needs), strict=True)
    ]


def _title(method: Method) -> str:
    """The name on the board, and in brackets that of our trainings where it is another one."""
    if method.variant not in IN_USE:
        return method.setup.title
    name, other = IN_USE[method.variant].name, method.setup.title
    return name if name == other or "(" in name else f"{name} ({uncapitalised(other)})"


CellRows = list[dict[str, Any]]


def _settings(method: Method) -> str:
    known = method.variant in VARIANTS
    return f"our training settings of {VARIANTS[method.variant].title}" if known else "what it is"


def _needs(methods: list[Method], preset: str, *, causal: bool) -> CellRows:
    del preset, causal  # What a method needs does not depend on a model.
    return [
        {
            "needs": [Finding(capitalised("; ".join(requirements(method))), _settings(method))],
            "attention": [
                Finding("changed" if changes_attention(method.setup.settings) else "unchanged", _settings(method))
            ],
            "limit": [Finding(capitalised(limit(method)), _settings(method))],
            "users": evidence.users(method) or [NO_USERS],
        }
        for method in methods
    ]


def _cost(methods: list[Method], preset: str, *, causal: bool) -> CellRows:
    results = []
    for method in methods:
        entries = evidence.costs(_trained_as(method, causal=causal), preset)
        results.append({column: [entries[column]] if column in entries else [] for column in PARTS["cost"]})
    return results


def _trained_as(method: Method, *, causal: bool) -> str:
    """The variant of our trainings that is this method: of decoders, where a decoder is asked for and there is one."""
    return COUNTERPARTS.get(method.variant, method.variant) if causal else method.variant


def _trainings(preset: str) -> dict[str, Trained | None]:
    """Our own trainings by objective."""
    return {objective: evidence.own_trainings(preset, objective) for objective in (MASKED, CAUSAL)}


def _length(methods: list[Method], preset: str, *, causal: bool) -> CellRows:
    trainings, results = _trainings(preset), []
    for method in methods:
        variant = _trained_as(method, causal=causal)
        runs = trainings[objective(variant)]
        found = _longer_of_forms(method, runs) if variant == method.variant else evidence.longer(runs, variant)
        results.append(
            {
                "limit": [Finding(capitalised(limit(method)), _settings(method))],
                "longer": [*found, *evidence.longer_as_published(method)],
            }
        )
    return results


def _longer_of_forms(method: Method, runs: Trained | None) -> list[Finding]:
    """The losses of a method on longer texts, of each of its forms; by a judged recipe where the preset has none."""
    found = []
    for variant, (form, *_) in forms(method.variant).items():
        judged = [evidence.own_trainings(preset, objective(variant)) for preset in judged_presets()]
        again = later_runs(variant)
        every = (runs, *([again.trained] if again else []), *judged)
        if finding := next(filter(None, (evidence.longer(one, variant) for one in every)), []):
            found += [one._replace(text=f"{form}: {one.text}" if form else one.text) for one in finding]
    return found


def _losses(method: Method, runs: Trained | None) -> list[Finding]:
    """The loss of a method; of one that was trained in several forms, of each, by a judged recipe where need be."""
    found = []
    for variant, (form, *_) in forms(method.variant).items():
        judged = [evidence.own_trainings(preset) for preset in judged_presets()] if form else []
        every = (evidence.loss(method, one, variant) for one in (runs, *judged) if one)
        if finding := next(filter(None, every), None):
            found.append(finding._replace(text=f"{form}: {finding.text}" if form else finding.text))
    return found


def _evidence(methods: list[Method], preset: str, *, causal: bool) -> CellRows:
    trainings = _trainings(preset)
    results = []
    for method in methods:
        variant = _trained_as(method, causal=causal)
        runs = trainings[objective(variant)]
        as_decoder = evidence.loss(method, runs, variant) if runs and variant != method.variant else None
        sentences = [as_decoder] if as_decoder else _losses(method, trainings[objective(method.variant)])
        sentences += [item for pair in method.pairs for item in evidence.compared(pair)]
        sentences += evidence.verdicts(method.claims)
        by_side = {side: [item for item in sentences if item.side == side] for side in (FOR, AGAINST, OPEN)}
        if by_side[FOR] or by_side[AGAINST]:
            placeholder = THE_BASELINE if method.variant == "bert_a" else NONE_COMPARED
            by_side = {side: findings or [placeholder] for side, findings in by_side.items()}
        results.append(by_side)
    return results
