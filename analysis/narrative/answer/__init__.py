"""The answer to "why add and not concatenate?", sentence by sentence, computed from the store.

One file per sentence under `sentences/`: each turns the verdicts of some statements, and at most one query, into a
sentence with its number. So the answer changes when verdicts do. `tables(ask)` gives the rows of the table `answers`,
which the store holds and the view `answer` shows; `analysis.narrative.answer.stored_answer` reads them back.
"""

import json

from analysis.claims.statements.judgement import Ask
from analysis.core.registry import import_all
from analysis.narrative.answer.computed_sentence import SENTENCES, ComputedSentence, Facts, Sentence, limit_in_words

__all__ = ["SENTENCES", "ComputedSentence", "Sentence", "tables"]

import_all("analysis.narrative.answer.sentences")


def tables(facts: Facts, ask: Ask) -> dict[str, list[dict[str, object]]]:
    """Rows of the table `answers`. A sentence whose data are not stored is left out."""
    sentences = []
    for sentence in sorted((item for _, item in SENTENCES.items()), key=lambda item: item.order):
        try:
            computed = sentence.tell(facts, ask)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            computed = None  # Data that it did not foresee: the others are told all the same.
        if computed is not None:
            sentences.append(_row(len(sentences), sentence, computed, facts))
    return {"answers": sentences}


def _row(index: int, sentence: Sentence, computed: ComputedSentence, facts: Facts) -> dict[str, object]:
    limits = [(one, facts[one.statement]) for one in sentence.tempered_by if one.statement in facts]
    return {
        "place": index,
        "name": sentence.name,
        "part": sentence.part,
        "heading": computed.heading,
        "sentence": computed.sentence,
        "bold": computed.bold,
        "against": computed.against,
        "further": computed.further,
        "claim": sentence.claim,
        "value": computed.value,
        "query": computed.query,
        "link": sentence.link,
        "page": sentence.page,
        "parameters": json.dumps(dict(sentence.values)),
        "tempered_by": json.dumps(
            [
                {"id": fact.id, "claim": fact.parent, "words": limit_in_words(tempering, fact)}
                for tempering, fact in limits
            ],
            ensure_ascii=False,
        ),
    }
