"""A model's rotations held against three sources: its config.json, the code that runs, and what it does when moved."""

from dataclasses import dataclass

from analysis.core.errors import ModelError
from analysis.measurements.positions.config_keys import UnreadKey, expected_of_file, unread_keys
from analysis.measurements.positions.conformance import (
    Discrepancy,
    LayerTurns,
    differences,
    expected_turns,
    measured_turns,
)
from analysis.measurements.positions.shift_test import shift_test
from analysis.measurements.terms.run import encode
from analysis.models.load import Loaded


@dataclass(frozen=True)
class PositionCheck:
    """against: what the model was compared with; empty for nothing, and then nothing_because says why. turns: what it
    does. unread: keys of config.json that nobody reads. not_checked: what was not tried, and why, in clauses."""

    turns: list[LayerTurns]
    differences: list[Discrepancy]
    against: str
    unread: list[UnreadKey]
    not_checked: list[str]
    nothing_because: str = ""


def check(loaded: Loaded, text: str, other: Loaded | None = None, *, truncate: bool = False) -> PositionCheck:
    """A model on a text, against its config or against another model.

    Raises ModelError where the model's rotations cannot be seen, TextError as `encode`.
    """
    inputs, tokens, _ = encode(loaded.tokenizer, text, None, loaded.model, truncate)
    turns = measured_turns(loaded.model, inputs)
    if other is not None:
        others, _, _ = encode(other.tokenizer, text, None, other.model, truncate)
        found = differences(turns, measured_turns(other.model, others), loaded.source.name, other.source.name)
        return PositionCheck(turns, found, other.source.name, [], [])
    against, because = "its config", ""
    try:
        expected = expected_turns(loaded.model.config, [turn.width for turn in turns], len(tokens))
    except ModelError as error:
        against, because = "", str(error)
        # Queries against keys, and both against the published code, can be compared all the same.
        expected = [LayerTurns(turn.frequencies, turn.width, turn.size, ordered=turn.ordered) for turn in turns]
    found = differences(turns, expected, "the model", "its config")
    if not found and (of_file := expected_of_file(loaded.source.config, turns, len(tokens))):
        found = differences(turns, of_file, "the model", "its config.json")
    unread = unread_keys(loaded.source.config, turns, len(tokens))
    found += [
        Discrepancy(None, "", key.sentence, cause="a key that is not read") for key in unread if key.contradiction
    ]
    moved, not_tried = shift_test(loaded.model, inputs, turns)
    return PositionCheck(
        turns,
        found + ([] if found else moved),
        against,
        unread,
        [f"what the model does when its tokens are moved, because {not_tried}"] if not_tried else [],
        because,
    )
