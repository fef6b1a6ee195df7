"""One statement of the store, by its id, and those that wait for their runs behind the one that they ask again."""

from analysis.claims.statements import stored
from analysis.claims.statements.judgement import OPEN, Judgement
from analysis.core.formatting import plural
from analysis.rules import encoder_contests, repeating_contests


def statement(id: str) -> Judgement:
    """The statement, or the one that took its place, with its verdict. Raises KeyError where there is neither."""
    return stored.by_id()[id]


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
