"""The one statement of each claim that decides it, by a rule that reads verdicts alone."""

import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.claims.statements.judgement import CONTRADICTED, MIXED, OPEN, SUPPORTED, Judgement

SIDES = Path(__file__).with_name("sides.toml")
"""The statements that say the opposite of the claim that they belong to, and those that take no side."""
RULE = (
    "Of its statements, the first that speaks against a claim decides. Where none does, the first that is "
    "mixed decides, then the first that speaks for it, and an open one only where nothing is decided yet."
)
"""The rule in words, as the page says it."""
AGAINST, FOR, ASIDE = "against", "for", "aside"
RANKS = (AGAINST, MIXED, FOR, OPEN)
TYPICAL = (
    "Of the side that has more of the claim's statements, one whose words alone say a part of the claim: the one that "
    "the first page quotes, or the first. Where both sides have as many, the one that decides."
)
"""The rule by which one statement stands for its claim in a row, as the page says it."""


def opposites() -> dict[str, str]:
    """Statement -> the reason why it says the opposite of its claim."""
    return _reasons("opposite")


def parts_explained() -> dict[str, str]:
    """Statement -> the part of its claim that it says, where its words alone do not tell."""
    return _reasons("part")


def asides() -> dict[str, str]:
    """Statement -> the reason why its claim may hold or fail whichever way it comes out."""
    return _reasons("aside")


def _reasons(kind: str) -> dict[str, str]:
    entries = tomllib.loads(SIDES.read_text(encoding="utf-8"))[kind]
    return {id: entry["why"] for entry in entries for id in entry["ids"]}


def bearing(judgement: Judgement) -> str:
    """The side of its claim that a statement speaks for: `for`, `against`, `mixed` or `open`; `aside` for none."""
    if judgement.verdict == OPEN:
        return OPEN
    if judgement.aside:
        return ASIDE
    if judgement.verdict not in (SUPPORTED, CONTRADICTED):
        return judgement.verdict
    return FOR if (judgement.verdict == SUPPORTED) != bool(judgement.opposes) else AGAINST


def bearings(parts: Iterable[Judgement]) -> Counter[str]:
    """The number of statements on each side: the claims' tallies are counted here wherever they are shown."""
    return Counter(map(bearing, parts))


def deciding(parts: Sequence[Judgement]) -> Judgement:
    """The statement of a claim that decides it, of those that take a side. Open ones with a value come first."""

    def place(part: Judgement) -> tuple[int, bool, str]:
        return RANKS.index(bearing(part)), part.verdict == OPEN and part.effect is None, part.id

    return min((part for part in parts if not part.aside), key=place)


def typical(parts: Sequence[Judgement], quoted: Collection[str]) -> Judgement:
    """The statement that stands for its claim in a row: of the side that has more statements, not the exception.

    quoted: the statements that the first page quotes.
    """
    count = bearings(parts)
    if count[FOR] == count[AGAINST]:
        return next(part for part in parts if part.decides)
    side = FOR if count[FOR] > count[AGAINST] else AGAINST
    rivals = (part for part in parts if bearing(part) == side)
    return min(rivals, key=lambda part: (bool(part.part), part.id not in quoted, part.id))


def with_deciding(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """The judgements with how their words stand to those of their claims, and marked where one decides its claim."""
    against, none, parts_said = opposites(), asides(), parts_explained()
    marked = [
        replace(
            judgement,
            opposes=against.get(judgement.id, ""),
            aside=none.get(judgement.id, ""),
            part=parts_said.get(judgement.id, ""),
        )
        for judgement in judgements
    ]
    claims: dict[str, list[Judgement]] = {}
    for judgement in marked:
        claims.setdefault(judgement.parent, []).append(judgement)
    ids = {deciding(parts).id for parts in claims.values()}
    return tuple(replace(judgement, decides=judgement.id in ids) for judgement in marked)
