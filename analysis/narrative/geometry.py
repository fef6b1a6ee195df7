"""The four questions of the page Geometry, with the answers that a model's stored numbers give."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis.claims.statements import stored
from analysis.claims.statements.judgement import CONTRADICTED, Judgement
from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised, percent, plural, ranges, sentences, signed
from analysis.figures.geometry import states
from analysis.figures.geometry.cosines import NEAR, SERIES, axis_limit, beside_chance, mean_cosines, tilt
from analysis.figures.geometry.directions import WORTH, cut_apart, held
from analysis.figures.geometry.estimates import find_estimate, run_settings, stored_cases, stored_rows
from analysis.figures.geometry.margins import in_words
from analysis.measurements.geometry.random import cosine_shares, expected_abs_cosine
from analysis.measurements.surgery.arms import RANK

NAMED = 3
"""Models of one standing, at most, that are named."""
WITHOUT_MEANS = {-1: "Only without their means", 0: "As chance without their means", 1: "No nearer than chance"}
"""The answers where words and positions stand farther from right angles than random vectors, by the standing of both
with their means subtracted: `beside_chance`."""
COMMON = 0.05
"""The share of lost words from which words are said to collide."""


@dataclass(frozen=True)
class CardCurve:
    """A line of a card's small picture. kind: its colour. points: from 0 to 1, the second number upwards."""

    kind: str
    points: list[tuple[float, float]]
    filled: bool = False


@dataclass(frozen=True, kw_only=True)
class CardAnswer:
    """The answer that a model's numbers give. answer: in a few words. numbers: under it. note: how far it goes.

    curves: the small picture; none where nothing is stored.
    """

    answer: str
    numbers: str
    note: str = ""
    curves: tuple[CardCurve, ...] = ()


class FurtherPart(NamedTuple):
    """A part of an answer besides the first: what it means for adding, and the statements that it decides."""

    means: str
    statements: tuple[str, ...]


NOT_ASKED = "Not asked"
"""The answer of a model that lacks what the question is about."""
FURTHER_PARTS = {
    "subspaces": FurtherPart(
        "At 90 degrees, a direction of words and the direction of positions nearest to it share nothing. Angles are "
        "counted without weight: a direction along which little varies counts as much as any other.",
        ("C06a", "C06b"),
    ),
    "ranks": FurtherPart(
        "The fewer directions positions take up, the fewer a concatenation would have to reserve for them. The ways of "
        "counting differ in how much a weak direction counts, so that a rank is a choice as well as a measurement.",
        ("C10c", "C10l"),
    ),
    "heads": FurtherPart(
        "A head sees only some directions of the sum. Where it reads words and positions in different directions, it "
        "takes the sum apart by itself, as if the two had been concatenated. Where the directions are the same, its "
        "score cannot tell one from the other.",
        ("C08c",),
    ),
}
"""The parts of the answers that are not the first, by their names in the page's links."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question that is asked of every model. means: what the answer means for adding. statements: that it decides."""

    question: str
    means: Callable[[str], str]
    statements: tuple[str, ...]
    answer: Callable[[str], CardAnswer]

    def means_of(self, part: str, model: str) -> str:
        """The meaning of a part of the answer for adding; of the first part, that of the whole answer."""
        return FURTHER_PARTS[part].means if part in FURTHER_PARTS else self.means(model)

    def verdicts(self, part: str, source: str) -> dict[str, str]:
        """Statement of a part -> its words and verdict over every model, with those that it holds in.

        source: the model that is shown.
        The verdict may be another than one model's answer: a statement about every model falls with one.
        """
        named = FURTHER_PARTS[part].statements if part in FURTHER_PARTS else self.statements
        decided = (one for name in named if (one := stored.by_id().get(name)))
        return {
            one.id: f"{one.statement} {capitalised(one.verdict)}. {models_in_words(one, source)}" for one in decided
        }

    def of(self, model: str) -> CardAnswer:
        """The answer of one model; that there is none, and why, where nothing is stored."""
        try:
            return self.answer(model)
        except NoResults as missing:
            reason = str(missing).split(" Run:")[0].partition(": ")[2].split("; ")[0].removesuffix(".")
            return CardAnswer(
                answer=NOT_ASKED if reason else "Not measured", numbers=reason or "nothing is stored of it"
            )


HOLDING = {"holds": "holds", "fails": "fails", "open": "is open"}
"""The standings of a reading as a sentence on it says them."""


def models_in_words(statement: Judgement, source: str) -> str:
    """The readings in which a statement holds and fails, the source that is shown first; empty where there are none.

    Few of one standing are named.

    >>> models_in_words(statement, "all-MiniLM-L6-v2")
    'It holds here and in 8 others, fails in 1 (all-mpnet-base-v2). One failure contradicts it.'
    """
    counts = Counter(reading.standing for reading in statement.readings if reading.standing in HOLDING)
    here = next((reading.standing for reading in statement.readings if reading.source == source), "")
    parts = []
    for standing in sorted(counts, key=lambda standing: (standing != here, list(HOLDING).index(standing))):
        others = counts[standing] - (standing == here)
        names = "; ".join(reading.source for reading in statement.readings if reading.standing == standing)
        place = (
            f"in {others}" + f" ({names})" * (others <= NAMED)
            if standing != here
            else "here" + f" and in {plural(others, 'other')}" * bool(others)
        )
        parts.append(f"{HOLDING[standing]} {place}")
    if not parts:
        return ""
    enough = {"some": " One model suffices for it.", "most": " Most models decide it."}.get(statement.quantifier, "")
    if statement.quantifier == "every" and counts["fails"] and statement.verdict == CONTRADICTED:
        enough = " One failure contradicts it."
    return f"It {', '.join(parts)}.{enough}"


def _scaled(points: Sequence[tuple[float, float]], width: tuple[float, float], top: float) -> list[tuple[float, float]]:
    low, high = width
    return [((x - low) / (high - low), y / top) for x, y in points if low <= x <= high]


def _pairs(frame: pd.DataFrame, along: str = "along", value: str = "value") -> list[tuple[float, float]]:
    return list(zip(map(float, frame[along]), map(float, frame[value]), strict=True))


def right_angles(model: str) -> CardAnswer:
    """The mean absolute cosine of words and positions against that of random vectors."""
    means = mean_cosines(model)
    rows = stored_rows(model, "abs_cosine")
    width = rows.along.max()
    own, centred = (means[subject] for subject in SERIES)
    random = expected_abs_cosine(int(width))
    standing, without = beside_chance(own, random), beside_chance(centred, random)
    answer = {-1: "Yes, nearer than chance", 0: "As near as chance"}.get(standing) or WITHOUT_MEANS[without]
    histogram = stored_rows(model, "cosine_histogram")
    shares = {subject: histogram[histogram.subject == subject].sort_values("along") for subject in SERIES}
    count = histogram.along.nunique()
    edges = np.linspace(-1, 1, count + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    chance = pd.DataFrame({"along": centres, "value": cosine_shares(edges, int(width))})
    limit = axis_limit(chance, *shares.values())
    top = max(float(frame.value.max()) for frame in (chance, *shares.values()))
    numbers = f"mean absolute cosine {own:.3f}; random {random:.3f}"
    return CardAnswer(
        answer=answer,
        numbers=numbers if standing < 0 else f"{numbers}; means subtracted {centred:.3f}",
        note=sentences(tilt(histogram), f"A value within {percent(NEAR)} of the random one counts as chance."),
        curves=(
            CardCurve("random", _scaled(_pairs(chance), (-limit, limit), top), filled=True),
            CardCurve("dashed", _scaled(_pairs(shares["word_position_centred"]), (-limit, limit), top)),
            CardCurve("ink", _scaled(_pairs(shares["word_position"]), (-limit, limit), top)),
        ),
    )


def own_directions(model: str) -> CardAnswer:
    """The share of the words in the directions that hold the positions, against that in random directions."""
    found = held(model)
    words = found.words
    few = f"{found.rank} of {found.width}"
    # Told of the rank at which words were measured; the shown one is another only where it says the same.
    standing = beside_chance(words.value, words.baseline)
    if standing < 0 and words.value < words.baseline_low:
        answer = f"Yes: {few}"
    elif standing > 0 and words.value > words.baseline_high:
        answer = f"No: {few}, and shared"
    else:
        answer = f"{few}, shared as by chance"
    counted = (
        "the effective rank of the position table, which counts weak directions less"
        if found.rank == found.effective
        else "the first number at or above the effective rank of the position table at which words were measured"
        if found.measured >= found.effective
        else "the largest number at which words were measured"
    )
    cut = cut_apart(model)
    left = cut.at(found.rank) if cut else None
    joined = f"; {found.measured} hold " if found.rank < found.measured else ", "
    shared = f"{joined}{percent(words.value, 1)} of that in words; random {percent(words.baseline, 1)}"
    top = log(found.width)
    by_name = {name: frame.sort_values("along") for name, frame in found.curves.groupby("series")}
    curves = {name: [(log(x) / top, y) for x, y in _pairs(frame)] for name, frame in by_name.items()}
    curves["positions"].append((1.0, 1.0))
    steps = [found.width ** (index / 24) for index in range(25)]
    return CardAnswer(
        answer=answer,
        numbers=f"hold {percent(found.positions)} of what varies in positions"
        + (f"; with words kept out of them {percent(left)} of what positions give is left" if left else shared),
        note=f"All of this is counted in tables whose means are subtracted. {found.rank} is {counted}. Words "
        f"within the range of random directions, or within {percent(NEAR)} of their mean, share them as by chance.",
        curves=(
            CardCurve("random", [(log(k) / top, k / found.width) for k in steps]),
            CardCurve("word", curves["words"]),
            CardCurve("position", curves["positions"]),
        ),
    )


def read_back(model: str) -> CardAnswer:
    """The word and the place that decoders read from the sum and from the last state."""
    found = states.decoded_states(model)
    word, place = found.at(states.WORD), found.at(states.EXACT)
    last_word, last_place = found.at(states.WORD, last=True), found.at(states.EXACT, last=True)
    if min(word, place) >= states.READABLE:
        answer = f"Yes, from {found.begins}"
    elif max(word, place) < states.READABLE:
        answer = f"Not from every {found.begins.partition(' ')[2]}"
    elif min(word, place) >= states.MOSTLY:
        answer = "The word; the place mostly" if word >= place else "The place; the word mostly"
    else:
        answer = "Only the word" if word >= place else "Only the place"
    count = len(found.decoders)
    by = " (the better of the decoders)" if count > 1 else f" (by {states.DECODERS[found.decoders[0]]})"
    chance = {name: float(frame.chance.iloc[0]) for name, frame in found.curves.groupby("series")}
    last = float(found.curves.layer.max())
    return CardAnswer(
        answer=answer,
        numbers=f"word {percent(word)}, exact place {percent(place)}{by}; after the last layer {percent(last_word)} "
        f"and {percent(last_place)}",
        note=f"By chance the word would be right in {percent(chance[states.WORD])}, the place in "
        f"{percent(chance[states.EXACT], 1)}, and a place within 3 of it in {percent(chance[states.NEAR], 1)}.",
        curves=tuple(
            CardCurve(
                "word" if name == states.WORD else "position",
                [(x / last, y) for x, y in _pairs(found.curves[found.curves.series == name], "layer")],
            )
            for name in (states.WORD, states.EXACT)
        ),
    )


def collisions(model: str) -> CardAnswer:
    """The words that some position turns into another word, and where those positions are."""
    first, end = run_settings(stored_rows(model, "word_kept"))["spoken"]
    cases = stored_cases(model, "nearest_word")
    lost = cases[cases.margin < 0]
    count, total = len(lost), len(cases)
    if not count:
        answer = f"No: none of {plural(total, 'word')}"
    elif count / total < COMMON:
        answer = f"Hardly: {plural(count, 'word')} of {total:,}"
    else:
        answer = f"Yes: {plural(count, 'word')} of {total:,}"
    if count:
        places = ranges(set(map(int, lost.position)))
        at = "position" if lost.position.nunique() == 1 else "positions"
        are = "is" if count == 1 else "are"
        single = ", a single letter," if count == 1 and len(str(lost.word.iloc[0]).removeprefix("##")) == 1 else ""
        numbers = f"{total - count} stay nearest to themselves everywhere; {count}{single} {are} lost, at {at} {places}"
    else:
        weakest = cases.iloc[0]
        numbers = f"the nearest to it, {in_words(str(weakest.word))}, keeps {signed(float(weakest.margin))}"
    rows = stored_rows(model, "collision_ratio")
    ratio = find_estimate(rows, "collision_ratio", "nearest")
    note = f"All {end - first} positions that a word can hold were tried with each of {plural(total, 'word')}."
    if ratio is not None:
        note += (
            f" The two nearest sums of different words at different positions lie {ratio.value:.2f} times as far apart "
            "as the two nearest words."
        )
    if answer.startswith("Hardly"):
        note += " One lost word is enough for the statement below."
    low, high = min(0.0, float(cases.margin.min())), float(cases.margin.max())
    margins = [
        (index / (total - 1), (float(m) - low) / (high - low)) for index, m in enumerate(cases.margin.sort_values())
    ]
    return CardAnswer(answer=answer, numbers=numbers, note=note, curves=(CardCurve("word", margins, filled=True),))


def _angles_mean(model: str) -> str:
    del model
    return (
        "If two vectors stand at right angles, adding one changes nothing along the other. Random vectors come close "
        "to that too, the closer the more dimensions they have: most of it is a gift of the dimension."
    )


def _directions_mean(model: str) -> str:
    text = (
        "A sum with positions in a few directions and words in the others is a concatenation, turned round: one "
        "matrix can treat each part by itself."
    )
    cut = cut_apart(model)
    if cut is None or (apart := cut.rows.correlation[cut.rows.along == RANK]).empty:
        return text
    little = " Positions give it too little for that to show what the cut costs." if cut.worth < WORTH else ""
    return (
        f"{text} With the two cut apart, {RANK} directions for positions, this model's sentence similarity is "
        f"{apart.iloc[0]:.3f}; as trained it is {cut.intact:.3f}, with the mean position everywhere {cut.without:.3f}."
        f"{little}"
    )


def _reading_means(model: str) -> str:
    del model
    return (
        "What a decoder finds again has not been lost by adding. That says nothing of whether the model uses it: what "
        "later layers do not need they may drop."
    )


def _collisions_mean(model: str) -> str:
    del model
    return (
        "If a word at one place lay nearer to another word than to itself, adding could confuse the two. A model that "
        "knows the place can still tell them apart."
    )


QUESTIONS: dict[str, Question] = {
    "angles": Question(question="At right angles?", means=_angles_mean, statements=("C05b",), answer=right_angles),
    "directions": Question(
        question="Directions of their own?", means=_directions_mean, statements=("C10d", "C11a"), answer=own_directions
    ),
    "states": Question(
        question="Can both be read back?", means=_reading_means, statements=("C13a", "C13b"), answer=read_back
    ),
    "words": Question(question="Do sums collide?", means=_collisions_mean, statements=("C12a",), answer=collisions),
}
"""The questions by the part of the page that shows their figure."""


def answer(part: str, model: str) -> CardAnswer:
    """The answer of a model to the question of a part of the page."""
    return QUESTIONS[part].of(model)


def cards(model: str) -> list[dict[str, Any]]:
    """The four cards of a model as JSON can hold them: {"part": "angles", "question": ..., "curves": [...]}."""
    result = []
    for part, question in QUESTIONS.items():
        found = answer(part, model)
        result.append(
            {
                "part": part,
                "question": question.question,
                "answer": found.answer,
                "numbers": found.numbers,
                "curves": [
                    {
                        "kind": curve.kind,
                        "filled": curve.filled,
                        "points": [(round(x, 4), round(y, 4)) for x, y in curve.points],
                    }
                    for curve in found.curves
                ],
            }
        )
    return result
