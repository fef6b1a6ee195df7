"""A dated log of what changed in each claim: verdicts, rules, and how its statements read.

Everything in it follows from committed files: the frozen dates of the files of rules, the corrections with what they
replaced, the first verdicts with the changes of their rules, and the dates of the trainings that decided a statement.
"""

import re
from collections.abc import Iterator, Sequence
from functools import reduce

from analysis.claims.statements.corrections import (
    WITHDRAWN,
    Ledger,
    correcting_files,
    corrections_file,
    run_days,
    training_days,
)
from analysis.claims.statements.judgement import CONTRADICTED, OPEN, SUPPORTED, Ask, Change, Judgement
from analysis.core.formatting import consecutive, join_names, plural
from analysis.rules import RuleFile, claim_of, fact_checks, rule_files

FIRST = "SELECT f.id, f.verdict, f.changed, r.created FROM first_verdicts f JOIN runs r USING (run_id) ORDER BY f.id"
DATED = re.compile(r"(?P<day>\d{4}-\d\d-\d\d): (?P<words>.+)", re.DOTALL)


def log(ledger: Ledger, ask: Ask) -> tuple[Change, ...]:
    """Every change, the newest first."""
    corrected = [*_corrections(ledger), *_fact_check(ledger)]
    entries = [*_first_verdicts(ask), *_frozen_rules(), *corrected, *_decided(ledger.current, ask)]
    return tuple(sorted(sorted(entries, key=lambda one: (one.claim, one.statement)), key=_newest_first))


def _newest_first(change: Change) -> tuple[int, int]:
    """Newer days come first; of one day, verdicts before rules, and rules before words."""
    return -int(change.day.replace("-", "")), ("verdict", "rule", "reading").index(change.kind)


def _first_verdicts(ask: Ask) -> Iterator[Change]:
    """The verdict on each claim as a whole, and what was changed in its rule once it was known."""
    for row in ask(FIRST):
        words = "The first verdict, on the claim as a whole, is closed."
        yield Change(
            day=str(row["created"])[:10], claim=row["id"], kind="verdict", before="", after=row["verdict"], words=words
        )
        for text in () if row["changed"] is None else row["changed"]:
            if found := DATED.fullmatch(text):
                yield Change(day=found["day"], claim=row["id"], kind="rule", words=f"First rule: {found['words']}")


def _frozen_rules() -> Iterator[Change]:
    """The statements of each claim that a file of rules brought, on the day on which the file was frozen."""
    for file in rule_files():
        if file == corrections_file():
            continue
        claims: dict[str, list[str]] = {}
        for statement in file.content.get("statement", ()):
            if "changed" in statement:
                continue  # in place of an older one, which the log says of its own
            claims.setdefault(claim_of(statement["id"]), []).append(statement["id"])
        for claim, ids in claims.items():
            words = f"{_rules(file)} for {statement_names(ids)}, frozen with {file.path.name}."
            yield Change(day=_day(file), claim=claim, kind="rule", words=words)


def statement_names(ids: Sequence[str]) -> str:
    """Ids in few letters: three or more that follow each other are one range.

    >>> statement_names(["C34a", "C34b", "C34c", "C34f"])
    'C34a to C34c and C34f'
    """
    in_rows = consecutive(
        ids, lambda before, after: claim_of(before) == claim_of(after) and _place(before) + 1 == _place(after)
    )
    names = [[f"{row[0]} to {row[-1]}"] if len(row) > 2 else row for row in in_rows]
    return join_names(name for row in names for name in row) if names else ""


def _place(statement: str) -> int:
    """The place of a statement in its claim by its letters: 1 for a, 26 for z, 27 for aa."""
    return reduce(lambda place, letter: 26 * place + ord(letter) - ord("a") + 1, statement[3:], 0)


def _rules(file: RuleFile) -> str:
    return f"Rules of version {file.version}"


def _day(file: RuleFile) -> str:
    return str(file.content["frozen"])[:10]


def _corrections(ledger: Ledger) -> Iterator[Change]:
    """The changes that the corrections made in statements, and the statements that they added."""
    # A statement may have been replaced by one of its name, and that one withdrawn or asked again later.
    last = {one.judgement.id: one.judgement for one in ledger.superseded if one.by != one.judgement.id}
    current = last | {judgement.id: judgement for judgement in ledger.current}
    reworded = {entry["id"] for entry in corrections_file().content["reworded"]}
    replaced = set()
    for one in ledger.superseded:
        before, now = one.judgement, current.get(one.by)
        replaced.add(before.id)
        if one.by == WITHDRAWN or now is None:
            after, kind = WITHDRAWN, "reading"
        else:
            after = now.verdict
            kind = "verdict" if after != before.verdict else "reading" if before.id in reworded else "rule"
        yield Change(
            day=one.date,
            claim=before.parent,
            statement=before.id,
            kind=kind,
            before=before.verdict,
            after=after,
            said=before.statement,
            words=one.changed,
        )
    for file in correcting_files():
        kinds = ("reworded", "contest", "statement")
        for entry in (entry for kind in kinds for entry in file.content.get(kind, ())):
            if entry["id"] not in replaced and entry["id"] in current:
                yield Change(
                    day=_day(file),
                    claim=claim_of(entry["id"]),
                    statement=entry["id"],
                    kind="rule",
                    after=current[entry["id"]].verdict,
                    words=entry["changed"] if entry["changed"].startswith("New") else f"New. {entry['changed']}",
                )


def _fact_check(ledger: Ledger) -> Iterator[Change]:
    """The scopes, and the sentences that are told of a verdict, that were corrected without a verdict being moved."""
    current = {judgement.id: judgement for judgement in ledger.current}
    entries = (
        (file, entry)
        for file in fact_checks()
        for entry in (*file.content.get("scope", ()), *file.content.get("told", ()))
    )
    for file, entry in entries:
        if entry["id"] not in current:  # It waits for its runs, and the statement that it asks again stands for both.
            continue
        verdict = current[entry["id"]].verdict
        if "scope" in entry or verdict in entry:
            yield Change(
                day=_day(file),
                claim=claim_of(entry["id"]),
                statement=entry["id"],
                kind="reading",
                before=verdict,
                after=verdict,
                words=entry["changed"],
            )


def _decided(current: Sequence[Judgement], ask: Ask) -> Iterator[Change]:
    """The statements about trainings that a frozen rule decided, on the day of the last training that they needed."""
    created = run_days(ask)
    frozen = {file.sha256: _day(file) for file in rule_files() if "frozen" in file.content}
    for judgement in current:
        days = training_days(judgement, created)
        if judgement.verdict not in (SUPPORTED, CONTRADICTED) or judgement.exploratory or not days:
            continue
        if max(days) >= frozen[judgement.rules_sha]:
            yield Change(
                day=max(days),
                claim=judgement.parent,
                statement=judgement.id,
                kind="verdict",
                before=OPEN,
                after=judgement.verdict,
                words=f"The last of {plural(len(days), 'training')} that its rule asks for was stored.",
            )
