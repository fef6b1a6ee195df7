"""The page Claims as data: every claim in one line, with all that its line opens to; ready to be sent as JSON."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from analysis.claims.statements import stored
from analysis.claims.statements.changes import statement_names
from analysis.claims.statements.comparison import interval_alone
from analysis.claims.statements.deciding import AGAINST, FOR, RULE, TYPICAL, bearing, bearings, typical
from analysis.claims.statements.judgement import (
    COMPARED_WITH,
    CONTRADICTED,
    FAILS,
    HOLDS,
    MIXED,
    OPEN,
    SUPPORTED,
    Change,
    Document,
    Judgement,
    Region,
    hours_in_words,
)
from analysis.claims.statements.rows import source_with_ties, tally
from analysis.claims.statements.stored import Heading
from analysis.core.formatting import capitalised, join_names, plural, significant, with_interval
from analysis.figures.claims.size import size
from analysis.figures.claims.strip import SEVERAL, as_told, strip
from analysis.store import read
from analysis.store.paths import cached_until_store_changes

TRAINED = ("final_loss", "loss_4x", "steps_to_leave", "difference_of_differences", "tuned")
"""The kinds of statements that trainings of our own decide."""
FIRST_ENTRIES = 4
"""Entries of the page's log above its fold."""
IN_PART = "in part"
"""The standing of a claim of which some statements hold and others fail."""


class StandingInWords(NamedTuple):
    """The standing of a claim in words: of one claim, of several, as a heading over all that have it, and in a row."""

    one: str
    several: str
    heading: str
    row: str


STANDINGS = {
    FOR: StandingInWords("holds", "hold", "Claims that hold so far", "holds so far"),
    AGAINST: StandingInWords("fails", "fail", "Claims that fail", "fails"),
    IN_PART: StandingInWords(
        "holds in some of its statements and fails in others",
        "hold in some statements and fail in others",
        "Claims that hold in some statements and fail in others",
        "holds in part",
    ),
    MIXED: StandingInWords("has mixed evidence", "have mixed evidence", "Claims with mixed evidence", "mixed"),
    OPEN: StandingInWords(
        "has no decided statement yet",
        "have no decided statement yet",
        "Claims of which nothing is decided yet",
        "nothing decided",
    ),
}
CLEAREST = "Clearest"
NEAREST = {HOLDS: "Closest to the line", FAILS: "Clearest failure", OPEN: "Furthest from holding"}
"""The standing of the reading that a verdict hangs on -> words before its name."""
EVIDENCE = {
    "trainings": "Our own trainings decide",
    "command": "Open, and one command away",
    "changed": "Changed last",
}
"""The kinds of statements that claims can be narrowed to: the value in the link, and its name."""


MEASURES = {
    "final_loss": "final loss",
    "steps_to_leave": "speed of learning word order",
    "loss_4x": "loss on texts of four times the length",
}
"""Kinds of statements whose measure has a name in a claim's first sentence."""
TOUR = {"C10d": "cut"}
"""Statements whose curve a step of the tour shows -> the step."""


@dataclass(frozen=True)
class ClaimsBoard:
    """content: the board as JSON can hold it. pages: those of the dashboard that show a statement's evidence."""

    content: Mapping[str, Any]
    pages: tuple[str, ...]


@cached_until_store_changes()
def board() -> ClaimsBoard:
    """Everything that the page shows before something is pressed, and all claims as they open."""
    headings = stored.headings()
    documents = stored.documents()
    changes = stored.changes()
    last, quoted = changes[0].day if changes else "", _quoted_on_home()
    groups = [
        _group(title, [heading for heading in headings if heading.question == key], documents, last, quoted)
        for key, title in stored.questions().items()
    ]
    content = {
        "groups": [group for group in groups if group["claims"]],
        "standings": {side: {"heading": one.heading, "row": one.row} for side, one in STANDINGS.items()},
        "counts": stored.counts(),
        "documents": {key: document.title for key, document in documents.items()},
        "evidence": EVIDENCE | {"changed": f"Changed on {_day(last)}"} if last else EVIDENCE,
        "signs": "A square is a statement: ✓ speaks for its claim, ✗ against it, ≈ mixed, ○ open; a small one takes no "
        "side.",
        "key": {
            "Standing": "A claim holds if no decided statement of it speaks against it, and fails if none speaks for "
            "it. It holds in part if some speak for it and others against it. “5 : 1” counts both.",
            "Statement shown": f"{RULE} What says the opposite of its claim speaks against it where it is supported.",
            "Underlined": f"{capitalised(TYPICAL)} The strip and the number are those of this statement.",
            "Strip": "The line of the statement’s rule is in the middle, and the green side speaks for the claim, up "
            "to a second line where two bounds support a statement. Every strip has a scale of its own.",
            "Bar": "The 95 % confidence interval of the number. A dotted line ends at a number without an interval.",
            "Small dots": "Other readings that the same line judges: green for the claim, red against it, rings open.",
            "“10 of 12 hold”": "The number of readings of which the statement holds. The number before it is that of "
            "the reading that decides.",
        },
        "log": {
            "words": "Corrections, rules and the trainings that decided a statement, by day. Verdicts are computed "
            "again whenever data or rules change.",
            "entries": [_entry(group, headings) for group in _grouped(changes)],
            "first": FIRST_ENTRIES,
        },
    }
    pages = dict.fromkeys(part.page for heading in headings for part in heading.parts if part.page)
    return ClaimsBoard(content=content, pages=tuple(pages))


def _quoted_on_home() -> frozenset[str]:
    """The statements that the answer rests on."""
    rows = read.query("SELECT json_extract_string(parameters, '$.statement') AS id FROM answers")
    return frozenset(rows.id.dropna())


def _group(
    title: str, headings: Sequence[Heading], documents: Mapping[str, Document], last: str, quoted: Set[str]
) -> dict[str, Any]:
    """The claims of one question, with the counts of their statements by side."""
    parts = [part for heading in headings for part in heading.parts]
    return {
        "title": title,
        "sides": _sides(parts),
        "claims": [_claim(heading, documents, last, quoted) for heading in headings],
    }


def _sides(parts: Iterable[Judgement]) -> str:
    """The numbers of statements for a claim and against it: `5 : 1`; "" where none is decided that takes a side."""
    count = bearings(parts)
    return f"{count[FOR]} : {count[AGAINST]}" if count[FOR] or count[AGAINST] else ""


def _claim(heading: Heading, documents: Mapping[str, Document], last: str, quoted: Set[str]) -> dict[str, Any]:
    changed = {change.statement for change in heading.changes if change.day == last and change.before != change.after}
    shown = typical(heading.parts, quoted)
    return {
        "id": heading.id,
        "title": heading.title,
        "statement": heading.statement,
        "documents": heading.documents,
        "lean": heading.lean,
        "decided": _decided(heading),
        "more": _more(heading, quoted),
        "standing": _standing(heading.parts),
        "note": _note(heading.parts),
        "sides": _sides(heading.parts),
        "statements": [
            _statement(part, changed=part.id in changed, quoted=part.id in quoted) | {"typical": part is shown}
            for part in heading.parts
        ],
        "quotations": [
            {
                "words": one.words,
                "place": one.place,
                "document": one.document,
                "title": documents[one.document].title,
                "url": documents[one.document].url,
            }
            for one in heading.quotations
        ],
        "findings": [vars(one) for one in heading.findings],
        "changes": [_entry([change], [heading]) for change in heading.changes],
        "pages": list(dict.fromkeys(part.page for part in heading.parts if part.page)),
    }


def _by_measure(heading: Heading) -> str:
    """The measures by which a claim holds, and those by which it fails; "" where one measure says both.

    Statements that stand for a part of the claim alone, and those that take no side, say nothing on the whole of it.
    """
    whole = [part for part in heading.parts if not part.aside and not part.part and bearing(part) in (FOR, AGAINST)]
    holding, failing = ([part for part in whole if bearing(part) == side] for side in (FOR, AGAINST))
    kinds = [{part.kind for part in parts} for parts in (holding, failing)]
    if not all(kinds) or kinds[0] & kinds[1] or not kinds[0] | kinds[1] <= MEASURES.keys():
        return ""
    true, false = (join_names(sorted(MEASURES[kind] for kind in found)) for found in kinds)
    ids = join_names([part.id for part in failing])
    return f"{capitalised(true)}: true. {capitalised(false)}: false ({ids}), so that the claim holds in part."


def _decided(heading: Heading) -> str:
    """The measures that decide a claim, or the statement that does, in a sentence."""
    (decides,) = [part for part in heading.parts if part.decides]
    supporting = bearings(heading.parts)[FOR]
    words = {
        AGAINST: f"The claim holds in part: {plural(supporting, 'statement')} "
        f"{'speaks' if supporting == 1 else 'speak'} for it, but {decides.id} speaks against it as it is worded."
        if supporting
        else f"As it is worded, the claim fails with {decides.id}: one statement against it is enough.",
        MIXED: f"No statement speaks against it, but {decides.id} is mixed.",
        FOR: f"Nothing that is decided speaks against it{_takes_no_side(heading)}.",
        OPEN: "Nothing about it is decided yet.",
    }[bearing(decides)]
    return _by_measure(heading) or words


def _takes_no_side(heading: Heading) -> str:
    """A clause on contradicted statements that speak neither for nor against a claim; empty without any."""
    names = [part.id for part in heading.parts if part.aside and part.verdict == CONTRADICTED]
    if not names:
        return ""
    are, take = ("is", "takes") if len(names) == 1 else ("are", "take")
    return f": {join_names(names)} {are} contradicted, and {take} no side"


def _more(heading: Heading, quoted: Set[str]) -> str:
    """The statements of a claim that falls on which the first page rests."""
    (decides,) = [part for part in heading.parts if part.decides]
    standing = [part for part in heading.parts if part.id in quoted and bearing(part) == FOR]
    if standing and bearing(decides) == AGAINST:
        names = join_names([f"the opposite of {part.id}" if part.opposes else part.id for part in standing])
        return f"The first page rests on {names}, which {'holds' if len(standing) == 1 else 'hold'}."
    return ""


def standings() -> str:
    """The finding of the whole page: the number of claims of each standing, the decided ones first."""
    counts = Counter(_standing(heading.parts) for heading in stored.headings())
    said = (f"{counts[side]} {forms[counts[side] != 1]}" for side, forms in STANDINGS.items() if counts[side])
    return join_names(said)


def _standing(parts: Sequence[Judgement]) -> str:
    """The side of the statement that decides a claim; or `in part` where there are decided ones on both sides."""
    count = bearings(parts)
    if count[FOR] and count[AGAINST]:
        return IN_PART
    return next(bearing(part) for part in parts if part.decides)


def _note(parts: Sequence[Judgement]) -> str:
    """Words beside a claim whose squares or counts alone would say otherwise than its standing; "" for most claims."""
    if _standing(parts) == MIXED:
        return f"as worded by {next(part.id for part in parts if part.decides)}"
    against = [one.id for one in parts if not one.aside and _leans_against(one)]
    return f"open, but measured against it: {join_names(against)}" if _standing(parts) == FOR and against else ""


def _leans_against(part: Judgement) -> bool:
    """True for an open statement whose interval by itself lies wholly against the claim."""
    if part.lower is None and part.upper is None:
        return False
    alone = interval_alone(part, Region(lower=part.lower, upper=part.upper))
    return alone == (SUPPORTED if part.opposes else CONTRADICTED)


def _statement(part: Judgement, *, changed: bool, quoted: bool) -> dict[str, Any]:
    part = as_told(part)
    places, printed, held = strip(part), size(part), _held(part)
    kinds = {
        "trainings": part.kind in TRAINED,
        "command": part.verdict == OPEN and bool(part.command),
        "changed": changed,
    }
    return {
        "id": part.id,
        "verdict": part.verdict,
        "text": part.statement,
        "scope": f"{part.scope}, {plural(part.seeds, 'seed')}" if part.seeds else part.scope,
        "would_decide": part.would_decide,
        "hours": part.hours if part.verdict == OPEN else None,
        "price": hours_in_words(part.hours) if part.verdict == OPEN and part.hours is not None else "",
        "opposes": part.opposes,
        "aside": part.aside,
        "part": part.part,
        "decides": part.decides,
        "quoted": quoted,
        "bearing": bearing(part),
        "found": _found(part),
        # Numbers alone say little without the statement that they decide.
        "plain": bool(part.answer),
        "number": printed.number,
        "rounded": printed.rounded,
        "short_unit": printed.short_unit,
        "readings": _readings(part),
        "unit": printed.unit,
        "sides": _compared_sides(part),
        "interval": f"95 % interval {printed.interval}" if printed.interval else "",
        "line": printed.line_in_words,
        "tour": TOUR.get(part.id, ""),
        "held": held,
        "needs": _needs(part) if held else "",
        "strip": vars(places) if places else None,
        "place": _place_in_words(part),
        "evidence": [key for key, holds in kinds.items() if holds],
        "behind": _behind(part),
    }


def _found(part: Judgement) -> str:
    """The finding in plain words; of several readings those that hold, and the one that a verdict hangs on.

    Its number, interval and line stand beside the strip.
    """
    if part.verdict == OPEN:
        return ""
    deciding = next((reading for reading in part.readings if reading.value == part.effect), None)
    if part.answer or part.kind not in SEVERAL or len(part.readings) < 2 or deciding is None:
        return part.answer or part.sentence
    name = CLEAREST if part.quantifier == "some" else NEAREST.get(deciding.standing, NEAREST[OPEN])
    if part.kind == "published":  # Each figure has a line of its own, and the one that is shown is the largest.
        name = "Largest difference"
    return f"{tally(part.readings)}. {name}: {source_with_ties(deciding, part.readings)}."


def _compared_sides(part: Judgement) -> str:
    """The two encoders whose numbers are compared, in the order in which they are: `No position, minus Added once`."""
    first, between, second = part.pair.partition(COMPARED_WITH)
    names = [re.sub(r" \([^()]*\)$", "", name) for name in (first, second)]
    return f"{names[0]}{', over ' if part.unit.startswith('times') else ', minus '}{names[1]}" if between else ""


def _readings(part: Judgement) -> str:
    """The basis of a number in few letters: `10 of 12` readings hold, or the seeds of a training."""
    if part.kind in SEVERAL and len(part.readings) > 1:
        return f"{_holding(part)} of {len(part.readings)}"
    return plural(part.seeds, "seed") if part.seeds and part.effect is not None else ""


def _holding(part: Judgement) -> int:
    return sum(reading.standing == "holds" for reading in part.readings)


def _needs(part: Judgement) -> str:
    """The rule of a statement whose readings mostly point the other way, in a word; empty for any other."""
    if part.verdict == CONTRADICTED and part.quantifier == "every" and _holding(part):
        return "all must"
    return "one suffices" if part.verdict == SUPPORTED and part.quantifier == "some" else ""


def _held(part: Judgement) -> str:
    """The number of readings that hold, of a statement that rests on several, and the model that alone fails it.

    "" for other statements.
    """
    if part.kind not in SEVERAL or len(part.readings) < 2:
        return ""
    holding = _holding(part)
    failing = [reading.source for reading in part.readings if reading.standing == "fails"]
    alone = part.kind == "rows" and len(failing) == 1 and holding == len(part.readings) - 1
    return f"{holding} of {len(part.readings)} hold{f', not {failing[0]}' if alone else ''}"


def _place_in_words(part: Judgement) -> str:
    """The strip for readers who cannot see it: the number, its interval, and the values that support the statement."""
    if part.effect is None or part.region is None:
        return ""
    number = with_interval(part.effect, part.low, part.high)
    return f"{number} {part.unit}; supports the statement: {part.region.words}"


def _behind(part: Judgement) -> str:
    """The name of what lies behind a statement, with its number."""
    if not part.readings:
        return "rule"
    if part.kind in TRAINED:
        return f"rule and {plural(len(part.readings), 'run')}"
    return f"rule and {plural(len(part.readings), 'figure' if part.kind == 'published' else 'reading')}"


def _grouped(changes: Iterable[Change]) -> list[list[Change]]:
    """Changes of one claim on one day for one reason, with one outcome, together."""
    groups: dict[tuple[str, ...], list[Change]] = {}
    for change in changes:
        key = (change.day, change.claim, change.kind, change.before, change.after, change.words)
        groups.setdefault(key, []).append(change)
    return list(groups.values())


def _entry(changes: Sequence[Change], headings: Sequence[Heading]) -> dict[str, Any]:
    change = changes[0]
    ids = [one.statement for one in changes if one.statement]
    title = next((heading.title for heading in headings if heading.id == change.claim), change.claim)
    return {
        "day": change.day,
        "claim": change.claim,
        "title": title,
        "ids": ids,
        "statements": statement_names(ids),
        "before": change.before,
        "after": change.after,
        "words": change.words,
        "said": change.said if change.kind != "rule" and len(changes) == 1 else "",
    }


def _day(text: str) -> str:
    day = date.fromisoformat(text)
    return f"{day.day} {day:%B}"


def details(claim: str) -> dict[str, Any]:
    """The finding, the rule, the readings, the command and the query of each statement of a claim."""
    return {part.id: _detail(part) for part in stored.parts(claim)}


def _detail(part: Judgement) -> dict[str, Any]:
    version = f"Version {part.rules_version} of the rules (SHA-256 {part.rules_sha[:12]})"
    timing = "was written when most of these data were known" if part.exploratory else "was frozen before these runs"
    number = f"Shown: the {part.shown.lower()} of {plural(len(part.readings), 'reading')}. " if part.shown else ""
    return {
        "sentence": part.sentence,
        "rule": part.rule,
        "version": f"{number}{version}, which {timing}.",
        "readings": [
            [
                reading.source,
                reading.standing,
                _number(reading.value),
                f"{_number(reading.low)} to {_number(reading.high)}" if reading.low is not None else "",
                _number(reading.line),
                reading.note,
            ]
            for reading in part.readings
        ],
        "command": part.command,
        "query": part.query,
    }


def _number(value: float | None) -> str:
    return "" if value is None else significant(value, 4)
