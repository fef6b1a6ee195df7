"""One statement of the store, by its id, and those that wait for their runs behind the one that they ask again."""

from analysis.claims.statements import stored
from analysis.claims.statements.judgement import OPEN, Judgement
from analysis.rules import encoder_contests


def statement(id: str) -> Judgement:
    """The statement with its verdict. Raises StopIteration for an id that the store does not have."""
    return next(one for one in stored.statements() if one.id == id)


def behind_another() -> set[str]:
    """Statements of later files that stand nowhere, until they are trained, but in the open one that they ask again."""
    known = stored.statement_parents()
    hidden = set(encoder_contests()) - set(known)
    told = " ".join(one.would_decide for one in stored.statements() if one.verdict == OPEN and one.planned)
    assert all(f"{id} compares the same two" in told for id in hidden), hidden
    return hidden
