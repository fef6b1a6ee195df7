"""The rows that a reader imported, beside the board of ours: ranked among themselves, with the reason in a sentence."""

from dataclasses import dataclass

from analysis.core.formatting import sentences
from analysis.figures.experiments.board_rows import BASELINE, ExperimentsBoard, board
from analysis.figures.training.trainings import MASKED, index
from analysis.store.files import IMPORTED

NOT_RECORDED = "settings not recorded"
"""The words for the settings of a training whose file holds none."""


@dataclass(frozen=True, kw_only=True)
class ImportedBoard:
    """The trainings that were imported under one preset."""

    board: ExperimentsBoard
    sentence: str
    """The reason why they are ranked apart from ours, and the row that their differences are from."""

    def key(self, variant: str) -> str:
        """The name of a row in links, which one of ours never has: `imported/my_concat`."""
        return f"{self.board.preset}/{variant}"


def imported_boards() -> tuple[ImportedBoard, ...]:
    """A board for each preset under which trainings on masked words were imported, by name."""
    known = index()
    mine = known[known.preset.str.startswith(IMPORTED) & (known.objective == MASKED)]
    boards = []
    for preset in sorted(set(mine.preset)):
        shown = board(preset)
        boards.append(ImportedBoard(board=shown, sentence=_sentence(shown)))
    return tuple(boards)


def _sentence(shown: ExperimentsBoard) -> str:
    """The reason why the rows are ranked apart, and their baseline."""
    changes = shown.trainings.changes if shown.trainings else NOT_RECORDED
    reason = (
        "their file does not say with which settings they were trained"
        if changes == NOT_RECORDED
        else f"they were trained with settings of their own ({changes})"
    )
    baseline = next((row for row in shown.rows if row.variant == BASELINE), None)
    return sentences(
        f"They are ranked apart from ours: {reason}, and final losses compare only models that were trained alike on "
        "the same text.",
        f"Differences are from the row that is called {BASELINE} in your file; its final loss is "
        f"{baseline.loss:.2f} nats."
        if baseline and baseline.loss is not None
        else f"No row of your file is called {BASELINE}, so nothing is subtracted: numbers are final losses in nats.",
    )
