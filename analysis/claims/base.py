"""What a claim is: who says it, which measurements decide it, the rule, and the verdict that the rule gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.core.registry import Registry

SUPPORTED, CONTRADICTED, MIXED = "supported", "contradicted", "mixed"
INCONCLUSIVE, UNMEASURED = "inconclusive", "not yet measured"
WORDS = (SUPPORTED, CONTRADICTED, MIXED, INCONCLUSIVE, UNMEASURED)
FOR, AGAINST, NEUTRAL = "for", "against", "beside"

QUESTIONS = {
    "cost": "What does concatenating cost?",
    "codes": "What are the codes of positions like?",
    "apart": "Do word and position stay apart in one space?",
    "attention": "What does attention ask of the sum?",
    "training": "What does training say?",
    "order": "Is position needed, and which kind?",
    "beyond": "Does it hold beyond words and positions?",
}
"""What the claims are grouped by on the page: id -> a question."""

Row = Mapping[str, Any]
Rows = Sequence[Row]
"""What a query gave. Missing values, and values that are not a number, are None."""
QueryResults = Mapping[str, Rows]
"""The rows of every query of a claim, by its name."""


@dataclass(frozen=True, kw_only=True)
class View:
    """A page in a state: `values` are fields of that page's link."""

    label: str
    page: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One thing that bears on a claim.

    says: what was compared, in words. value, low, high: in `unit`, NaN or None where there is none.
    source: model, variant or paper. query: the query of the claim that the row is from.
    """

    side: str
    description: str
    value: float | None
    query: str
    source: str
    low: float | None = None
    high: float | None = None
    unit: str = ""
    citation: str | None = None
    caveat: str = ""
    view: View | None = None

    @property
    def published(self) -> bool:
        """Whether a paper prints it, rather than a run of ours."""
        return self.citation is not None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a rule makes of the rows.

    effect, low, high: the one number that decides most, in `unit`, which `measured` says in words; threshold: what the
    rule holds it against. samples: how many, of `sample_unit`. missing, command: what the store lacks, and what makes
    it.
    """

    word: str
    sentence: str
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    measured: str = ""
    threshold: float | None = None
    models: tuple[str, ...] = ()
    samples: int = 0
    sample_unit: str = ""
    missing: str = ""
    command: str = ""
    evidence: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        if self.word not in WORDS:
            raise ValueError(f"{self.word!r} is no verdict; expected one of: {', '.join(WORDS)}.")
        if self.word == UNMEASURED and not (self.missing and self.command):
            raise ValueError("A claim that is not yet measured must say what is missing and which command makes it.")


Judge = Callable[[QueryResults], Verdict]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim of the documents.

    statement: in our own words. documents: keys of DOCUMENTS. question: key of QUESTIONS. asks: which measurements
    decide. rule: how, in the words that readers see, thresholds with their reasons. queries: name -> SQL over the
    store. judge: a pure function from their rows to a verdict. views: the exact views that show the evidence. changed:
    what was changed in the rule after its verdict was known, a sentence or more each that begins with the date and
    gives the reason, which is never the verdict.
    """

    id: str
    title: str
    question: str
    statement: str
    documents: tuple[str, ...]
    asks: str
    rule: str
    queries: Mapping[str, str]
    judge: Judge
    views: tuple[View, ...]
    changed: tuple[str, ...] = ()


CLAIMS: Registry[Claim] = Registry("claim")


def register(claim: Claim) -> Claim:
    """Adds a claim under its id."""
    return CLAIMS.add(claim.id, claim)


def unmeasured(missing: str, command: str, evidence: Sequence[Evidence] = ()) -> Verdict:
    """The verdict where the store lacks what decides."""
    return Verdict(
        word=UNMEASURED,
        sentence=f"Not yet measured: the store holds no {missing}.",
        missing=missing,
        command=command,
        evidence=tuple(evidence),
    )
