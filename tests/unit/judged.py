"""Statements of the store: by their ids, those that wait behind others, and those on fine-tuned surgery as judged."""

from typing import Any

from analysis.claims.statements import stored, tuned
from analysis.claims.statements.judgement import OPEN, Judgement
from analysis.core import frames
from analysis.core.formatting import plural
from analysis.measurements.surgery.arms import ARMS
from analysis.rules import encoder_contests, repeating_contests
from analysis.store import read


def statement(id: str) -> Judgement:
    """The statement, or the one that took its place, with its verdict. Raises KeyError where there is neither."""
    return stored.by_id()[id]


def ask(sql: str) -> list[dict[str, Any]]:
    """A SELECT -> its rows, as those who judge statements ask for them."""
    return [dict(row._asdict()) for row in frames.rows(read.query(sql))]


def fine_tuned(id: str) -> Judgement:
    """A statement of `surgeries.toml` by its own rules, also one that was withdrawn since."""
    return next(one for one in tuned.judge(ask, {arm.name: arm.title for arm in ARMS.values()}) if one.id == id)


def behind_another() -> set[str]:
    """Statements of later files that stand nowhere, until they are trained, but in the open one that they ask again."""
    asking = [one for one in stored.statements() if one.asked_again_by]
    for one in asking:
        assert one.verdict == OPEN
        assert f"{one.asked_again_by} compares the same two" in one.would_decide
        assert plural(one.planned, "training") in one.would_decide
        assert stored.linked_statements()[one.asked_again_by] == (one.parent, one.id)
    hidden = {one.asked_again_by for one in asking}
    asked = {*encoder_contests(), *(one.id for one in repeating_contests())}
    assert asked - hidden <= set(stored.linked_statements())
    return hidden
