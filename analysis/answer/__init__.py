"""The answer to "why add and not concatenate?", sentence by sentence, computed from the store.

One file a sentence under `sentences/`: each turns the verdicts of some statements, and at most one query, into a
sentence with its number. So the answer changes when verdicts do. `tables(ask)` gives the rows of the table `answers`,
which the store holds and the view `answer` shows; `analysis.answer.stored` reads them back.
"""

import json
from typing import Any

from analysis.answer.base import SENTENCES, Said, Sentence
from analysis.registry import import_all
from analysis.statements.base import Ask, Judgement

__all__ = ["SENTENCES", "Said", "Sentence", "tables"]

import_all("analysis.answer.sentences")


def tables(statements: list[Judgement], ask: Ask) -> dict[str, list[dict[str, Any]]]:
    """Rows of the table `answers`. A sentence whose data are not stored is left out."""
    facts = {one.id: one for one in statements}
    told = []
    for sentence in sorted((one for _, one in SENTENCES.items()), key=lambda one: one.order):
        try:
            said = sentence.tell(facts, ask)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            said = None  # Data that it did not foresee: the others are told all the same.
        if said is not None:
            told.append(_row(len(told), sentence, said))
    return {"answers": told}


def _row(place: int, sentence: Sentence, said: Said) -> dict[str, Any]:
    return {
        "place": place,
        "name": sentence.name,
        "sentence": said.sentence,
        "bold": said.bold,
        "against": said.against,
        "claim": sentence.claim,
        "value": said.value,
        "query": said.query,
        "link": sentence.link,
        "page": sentence.page,
        "parameters": json.dumps(dict(sentence.values)),
    }
