"""Claims, the statements that they are split into, and the verdicts that rules give on these.

Numbers are in `unit`; None for a missing one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from analysis.core.formatting import significant

SUPPORTED, CONTRADICTED, MIXED, OPEN = "supported", "contradicted", "mixed", "open"
WORDS = (SUPPORTED, CONTRADICTED, MIXED, OPEN)
COMPARED_WITH = " compared with "
"""The words between the two encoders in the name of a pair."""
SIGNS = {SUPPORTED: "✓", CONTRADICTED: "✗", MIXED: "≈", OPEN: "○"}
"""Verdict -> the sign that says it without its colour."""
HOLDS, FAILS = "holds", "fails"
MISSING, REFUSED, UNEVEN, CORRECTED, UNSETTLED = "missing", "refused", "uneven", "corrected", "unsettled"
"""The reasons why a comparison with a margin is open: runs are still to come; its sides cannot be compared; the
differences of paired seeds lie too far apart; its test holds by itself, but not corrected over its family; its interval
settles nothing."""

Ask = Callable[[str], list[dict[str, Any]]]
"""A SELECT -> its rows; what is missing or not a number is None."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A document that makes claims. site: its origin, as named in the copy that we read. url: its address, if known."""

    title: str
    kind: str
    site: str
    url: str | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A heading of the ledger. question: key of QUESTIONS. statement: the claim in our own words.

    documents: keys of DOCUMENTS; none for a claim of our own or of the later literature, which has no statement either.
    """

    id: str
    title: str
    question: str
    statement: str = ""
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StandingRow:
    """The standing of a variant against a baseline in final loss, under version 2 of the rules.

    word: better, worse, the same or open. reason: why it is open; on_plateau: whether a side left the plateau too late.
    missing: trainings still to be run. effect: variant less baseline in nats; None where no seed has both.
    """

    variant: str
    baseline: str
    word: str
    reason: str
    on_plateau: bool
    missing: int
    effect: float | None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One row that bears on a statement: a model, a pair of variants at one seed, a row of a published table.

    standing: `holds`, `fails` or `open`. line: the number that the value is compared with. citation: the key of the
    paper that prints it; None for our own.
    """

    source: str
    standing: str
    value: float | None
    low: float | None = None
    high: float | None = None
    line: float | None = None
    family: str = ""
    citation: str | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One entry of the log of a claim. day: as 2026-11-25. statement: its id; empty for the claim as a whole.

    kind: `verdict`, `rule` or `reading`, which is how a statement is worded, or that it is asked. before, after:
    verdicts, or `withdrawn`; empty for none. said: the words of the statement before. words: the reason.
    """

    day: str
    claim: str
    kind: str
    words: str
    statement: str = ""
    before: str = ""
    after: str = ""
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class Quotation:
    """A span of a document in which a claim is made. document: its key. place: where in it. sha256: of the words."""

    claim: str
    document: str
    place: str
    words: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class PublishedFinding:
    """A finding of later work, in words, that bears on a claim. side: for, against or neither.

    short: the work's short name. transcribed_from: what was read of it, such as its abstract.
    """

    claim: str
    short: str
    url: str
    side: str
    finding: str
    caveat: str
    transcribed_from: str


@dataclass(frozen=True, kw_only=True)
class Region:
    """The values that support a statement: those between `lower` and `upper`; None for an end without a bound."""

    lower: float | None
    upper: float | None

    @property
    def words(self) -> str:
        """The region in words: `below −0.05`."""
        if self.lower is None:
            return f"below {significant(self.upper or 0.0)}"
        if self.upper is None:
            return f"above {significant(self.lower)}"
        return f"between {significant(self.lower)} and {significant(self.upper)}"


@dataclass(frozen=True)
class NextExperiment:
    """The experiment that would decide an open statement, in words. hours: of one core; None if they are not known."""

    words: str
    hours: float | None = None


DECIDED = NextExperiment("")
"""The next experiment of a statement that is not open."""


def hours_in_words(hours: float) -> str:
    """Hours of work as a sentence has them: `0.5 hours`, `31 hours`."""
    return f"{hours:.0f} hours" if hours >= 10 else f"{hours:.1f} hours"


def runs_to_come(runs: str, count: int, each: float | None) -> NextExperiment:
    """The experiment of so many runs, told with its hours of one core.

    runs: `3 trainings more`. each: hours of one; None where none of its kind is stored, and none are told.
    """
    if each is None:
        return NextExperiment(runs)
    return NextExperiment(f"{runs}, about {hours_in_words(count * each)} of one core", count * each)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The verdict on one statement, with the readings it rests on.

    effect, low, high: the number that decides most. sentence: the finding in words. reason: of a statement on our
    own encoders, or on models that were fine-tuned after refitting, why it is open; open_by: the same in a word,
    one of MISSING to UNSETTLED. would_decide: for an open statement, the experiment that would decide it. hours: of
    one core that it takes, where they are known. missing: the runs that its rule asks for and the store does not
    hold yet; an open statement that lacks none was run as planned, and came out undecided. asked_again_by: the
    statement of a later file that compares the same two on new seeds; planned: its runs that are still to come. answer:
    the sentence that the rules said beforehand would be told of this verdict; empty where they said none.

    What the rule compares, as `comparison.described` reads it from the files of rules: holds, expect, quantifier: its
    own words. lower, upper: the values that support the statement. rule: the rule in words. pair: the two variants
    of a statement about trainings. shown: the word for the reading whose number is shown. opposes: the reason why the
    statement says the opposite of its claim; empty where it does not. aside: the reason why its claim may hold or fail
    whichever way it comes out; empty where it speaks for or against the claim. part: the part of its claim that it
    says, where its words alone do not tell. decides: whether it decides its claim.
    """

    id: str
    parent: str
    statement: str
    scope: str
    kind: str
    verdict: str
    sentence: str
    reason: str = ""
    open_by: str = ""
    unit: str
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    line: float | None = None
    seeds: int | None = None
    would_decide: str = ""
    hours: float | None = None
    missing: int = 0
    planned: int = 0
    asked_again_by: str = ""
    command: str = ""
    page: str = ""
    query: str = ""
    rules_version: int
    rules_sha: str
    exploratory: bool
    answer: str = ""
    holds: str = ""
    expect: str = ""
    quantifier: str = ""
    lower: float | None = None
    upper: float | None = None
    rule: str = ""
    pair: str = ""
    shown: str = ""
    opposes: str = ""
    aside: str = ""
    part: str = ""
    decides: bool = False
    readings: tuple[Reading, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.verdict not in WORDS:
            raise ValueError(f"{self.verdict!r} is not a verdict; expected one of: {', '.join(WORDS)}.")
        if self.verdict == OPEN and not self.would_decide:
            raise ValueError(f"{self.id} is open and does not say what would decide it.")

    @property
    def region(self) -> Region | None:
        """The values that support the statement; None if its rule compares no value with a line."""
        if self.lower is None and self.upper is None:
            return None
        return Region(lower=self.lower, upper=self.upper)
