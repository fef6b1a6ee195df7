"""One statement of the store, by its id."""

from analysis.claims.statements import stored
from analysis.claims.statements.judgement import Judgement


def statement(id: str) -> Judgement:
    """The statement with its verdict. Raises StopIteration for an id that the store does not have."""
    return next(one for one in stored.statements() if one.id == id)
