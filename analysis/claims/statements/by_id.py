"""Statements by their ids, also by the id of one that a later statement took the place of."""

from collections.abc import Iterable, Iterator, Mapping

from analysis.claims.statements.judgement import Judgement


class StatementsById(Mapping[str, Judgement]):
    """The statements that are judged now, by id. The id of one that was asked again gives the one in its place.

    So a sentence or a figure may go on naming the statement that it was written for. Iteration and length are of the
    statements that are judged now, each once. successors: id -> id of the statement that took its place.
    """

    def __init__(self, current: Iterable[Judgement], successors: Mapping[str, str]) -> None:
        self._current = {one.id: one for one in current}
        self._successors = dict(successors)

    def __getitem__(self, id: str) -> Judgement:
        """Raises KeyError for an id that has no statement now, such as that of one that was withdrawn."""
        return self._current[self.current_id(id)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._current)

    def __len__(self) -> int:
        return len(self._current)

    def current_id(self, id: str) -> str:
        """The id of the statement in whose words a question is judged now; the same id where none took its place."""
        while id not in self._current and id in self._successors:
            id = self._successors[id]
        return id
