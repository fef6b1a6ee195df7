"""The statements as the store has them: version 2's verdicts as plain objects, by the claim that they are part of."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from analysis.claims import stored as first
from analysis.claims.stored import records
from analysis.errors import UnknownName
from analysis.rules import training_rules
from analysis.statements import contests
from analysis.statements.base import CONTRADICTED, MIXED, OPEN, SUPPORTED, WORDS, Judgement, Reading
from analysis.statements.contests import Standing
from analysis.store import read
from analysis.store.paths import version


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A claim and its parts. first: version 1's verdict on the whole; None for a claim that came after it."""

    id: str
    title: str
    question: str
    first: str | None
    parts: tuple[Judgement, ...]

    @property
    def lean(self) -> str:
        """How its parts stand, in words: `4 of 6 supported, 1 contradicted, 1 open`."""
        counts = Counter(part.verdict for part in self.parts)
        said = [f"{counts[word]} {word}" for word in WORDS if counts[word]]
        if not said:
            return "no statement yet"
        if len(counts) == 1 and len(self.parts) > 1:
            return f"all {len(self.parts)} {self.parts[0].verdict}"
        head, *rest = said
        count, word = head.split(" ", 1)
        return ", ".join([f"{count} of {len(self.parts)} {word}", *rest])


def statements() -> tuple[Judgement, ...]:
    """Every statement of the store with its verdict, in order of id."""
    return _statements(version())


def statement(id: str) -> Judgement:
    """One statement. Raises UnknownName for an id that the store does not have."""
    found = {one.id: one for one in statements()}
    if id not in found:
        raise UnknownName(f"There is no statement named {id!r}. Known: {', '.join(found) or 'none yet'}.")
    return found[id]


def parts(claim: str) -> tuple[Judgement, ...]:
    """The statements that a claim makes."""
    return tuple(one for one in statements() if one.parent == claim)


def counts() -> dict[str, int]:
    """Verdict -> how many statements have it; every word, in the order of WORDS."""
    words = [one.verdict for one in statements()]
    return {word: words.count(word) for word in WORDS}


def standing(variant: str, baseline: str) -> Standing | None:
    """How a variant stands against another by the frozen rules, in final loss; None where no statement is about them.

    What the ledger, the Training page and the guided reading say of two variants of one preset is this.
    """
    return _standings(version()).get((variant, baseline))


@lru_cache(maxsize=4)
def _standings(version: tuple[str, int, int]) -> dict[tuple[str, str], Standing]:
    del version  # Only tells one store from another.
    rules = training_rules()

    def ask(sql: str) -> list[dict[str, Any]]:
        return records(read.query(sql))

    found = contests.stored(
        ask(contests.PRETRAININGS.format(preset=rules.preset)),
        ask(contests.LEFT.format(preset=rules.preset, plateau=rules.plateau)),
        rules,
    )
    corrected = contests.corrected(rules.statements, found, rules)
    return {
        (one.variant, one.baseline): contests.standing(one, found, rules, corrected.get(one.id))
        for one in rules.statements
        if one.kind == "final_loss"
    }


def headings() -> tuple[Heading, ...]:
    """Every claim with its statements, in order of id; claims of our own have a title in the rules."""
    from analysis.statements import headings as own

    known = {entry.id: (entry.title, entry.question, entry.verdict) for entry in first.ledger()}
    known |= {id: (title, question, None) for id, (title, question) in own().items()}
    wanted = dict.fromkeys([*known, *(one.parent for one in statements())])
    return tuple(
        Heading(id=id, title=title, question=question, first=verdict, parts=parts(id))
        for id, (title, question, verdict) in ((id, known.get(id, (id, "", None))) for id in sorted(wanted))
    )


@lru_cache(maxsize=4)
def _statements(version: tuple[str, int, int]) -> tuple[Judgement, ...]:
    del version  # Only tells one store from another.
    grouped: dict[str, list[Reading]] = {}
    for row in records(read.query("SELECT * FROM readings ORDER BY id, number")):
        grouped.setdefault(row["id"], []).append(Reading(**{name: row[name] for name in Reading.__dataclass_fields__}))
    rows: list[dict[str, Any]] = records(read.query("SELECT * FROM statements ORDER BY id"))
    return tuple(Judgement(**row, readings=tuple(grouped.get(row["id"], ()))) for row in rows)


__all__ = ["CONTRADICTED", "MIXED", "OPEN", "SUPPORTED", "WORDS", "Heading", "counts", "headings", "parts", "statement"]
