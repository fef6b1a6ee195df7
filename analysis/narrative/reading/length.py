"""The time that the tour takes, from its words and pictures."""

import math

from analysis.core.errors import AddendError
from analysis.links import VIEWS
from analysis.narrative.reading.step import PAGE, ordered
from analysis.narrative.self_check import checks

WORDS_A_MINUTE = 200
"""A usual pace of reading expository prose."""
LOOKING_SECONDS = 20
"""Time to look at a picture and to move its slider."""


def words() -> int:
    """The words of all steps in the state in which they open, and of the self-check."""
    values = VIEWS[PAGE].defaults()
    texts = []
    for step in ordered():
        texts += [step.title, step.text]
        try:
            texts.append(step.says(values))
        except AddendError:
            continue
    for check in checks():
        texts += [check.question, *check.options, check.because]
    return sum(len(text.split()) for text in texts)


def minutes() -> int:
    """The minutes that the tour takes: reading, and looking at each picture; rounded up."""
    pictures = sum(len(step.pictures) for step in ordered())
    return math.ceil(words() / WORDS_A_MINUTE + pictures * LOOKING_SECONDS / 60)
