"""The number of a statement as it is printed beside its strip, with a few words for its unit."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from analysis.claims.statements.judgement import Judgement
from analysis.core.formatting import SUPERSCRIPT, fixed, signed, signed_or_zero, significant

Form = Callable[[float], str]
BOTH = " and "
"""Between two bounds that are not as far from zero."""


def _plain(value: float) -> str:
    """Three significant digits, small ones with a power of ten: 5.4·10⁻¹⁴."""
    if value and abs(value) < 1e-3:
        digits, power = f"{value:.1e}".split("e")
        return f"{digits}·10{str(int(power)).translate(SUPERSCRIPT)}".replace("-", "−")
    return significant(value)


def _percent(value: float) -> str:
    digits = 0 if 100 * value == round(100 * value) else 1
    return f"{fixed(100 * value, digits)} %"


def _points(value: float) -> str:
    return f"{signed(100 * value, 1)} points"


def _signed(value: float) -> str:
    return signed(value, 2 if abs(value) >= 0.095 else 3 if abs(value) >= 0.0095 else 4)


def _nats(value: float) -> str:
    """Three decimals, as the sentence of a finding has them."""
    return signed(value, 3)


def _percent_of_others(value: float) -> str:
    """A share that counts what does not happen, told as the share of what does: 1.0 % moved for 99.0 % not moved."""
    return _percent(1 - value)


def _times(value: float) -> str:
    return f"{significant(value)} ×"


def _ratio(value: float) -> str:
    """Two decimals, as the sentence of a finding has them."""
    return f"{fixed(value, 2)} ×"


@dataclass(frozen=True)
class PrintedSize:
    """A number as it is printed, and what it is a number of; both empty where nothing is measured.

    line: the bound of the values that support the statement, in the number's own form; empty where there is none.
    rounded: the number without its unit, for a column in which all numbers of one unit have as many decimals.
    row_unit: the few words for what it is a number of that a row has room for. interval: `−0.28 to −0.23`, in the
    number's own form; empty where it has none.
    """

    number: str
    unit: str
    line: str = ""
    rounded: str = ""
    row_unit: str = ""
    interval: str = ""

    @property
    def line_in_words(self) -> str:
        """The place of the rule's bound: `the rule’s line is at −0.01`; empty where there is none."""
        lines = "lines are" if self.line.startswith("±") or BOTH in self.line else "line is"
        return f"the rule’s {lines} at {self.line}" if self.line else ""

    @property
    def short(self) -> str:
        """The number with the first words of its unit, for a row of few letters: `+0.11 nats`, `94.1 %`."""
        return f"{self.number} {self._unit_in_words}".strip()

    @property
    def short_unit(self) -> str:
        """The unit that stands behind `rounded`, and what is counted in it: `nats of loss`, `% more arithmetic`."""
        sign = self.number.rpartition(" ")[2]
        return f"{sign} {self.row_unit}".strip() if sign in ("%", "points", "×") else self.row_unit

    @property
    def _unit_in_words(self) -> str:
        return "" if self.unit.startswith("of ") else FURTHER.split(self.unit)[0]


@dataclass(frozen=True)
class Unit:
    """The form of a number, short words for its unit, and those of a row of the ledger, where they are others."""

    form: Form
    words: str
    of_row: str = ""


UNITS: dict[str, Unit] = {
    "nats per predicted token": Unit(_nats, "nats of final loss", "nats of loss"),
    "times the baseline's steps": Unit(_ratio, "the steps of the baseline", "the steps"),
    "points of the average": Unit(_signed, "points of the average"),
    "share of what positions are worth": Unit(_percent, "of positions' worth missed"),
    "points of exchanged words": Unit(_signed, "points of exchanged words"),
    "points of CoLA": Unit(_signed, "points of CoLA (ROC AUC) missed", "CoLA points (AUC) missed"),
    "points of STS-B": Unit(_signed, "points of STS-B missed"),
    "times the baseline's tokens": Unit(_ratio, "the tokens of the baseline", "the tokens"),
    "times the tokens of the exchanged table, at most": Unit(_ratio, "the tokens of the other, at most", "the tokens"),
    "times BERT-A": Unit(_times, "the arithmetic of adding", "the arithmetic"),
    "share of the parameters": Unit(_percent, "of the parameters", "more parameters"),
    "share of a layer's products with its matrices": Unit(_percent, "of a layer's arithmetic", "more arithmetic"),
    "share of the variance": Unit(_percent, "of the variance"),
    "largest residual": Unit(_plain, "residual, the largest", "largest residual"),
    "R2 on held-out positions": Unit(_plain, "R² of the weakest table", "R², weakest table"),
    "cosine, neighbours less far positions": Unit(_signed, "cosine, near positions minus far ones", "of cosine"),
    "share of comparisons": Unit(_percent, "of comparisons"),
    "mean absolute cosine": Unit(_plain, "cosine, mean absolute", "mean absolute cosine"),
    "overlap less that of random subspaces": Unit(
        _signed, "overlap, minus that of random directions", "overlap above random"
    ),
    "share of the words' energy, less that in random subspaces": Unit(
        _points, "of energy, minus that in random directions", "of words' energy"
    ),
    "relative error": Unit(_plain, "error, relative", "relative error"),
    "share of heads": Unit(_percent, "of heads"),
    "share of heads and terms": Unit(_percent, "of heads and terms"),
    "share of the scores' variation": Unit(_percent, "of the scores' variation", "of scores' variation"),
    "Spearman's correlation, less the intact model's": Unit(
        _signed, "correlation, after the cut minus before", "of correlation"
    ),
    "Spearman's correlation, less that along the positions' own directions": Unit(
        _signed, "correlation, cut at random minus along own", "of correlation"
    ),
    "difference in Spearman's correlation": Unit(
        _signed, "correlation, changed model minus intact one", "of correlation"
    ),
    "rank correlation, less that of random tables": Unit(
        _signed, "correlation, minus that of random tables", "of correlation"
    ),
    "effective rank, as a share of a random table's": Unit(_percent, "of a random table's rank", "of a random rank"),
    "nats a masked word, more than the intact model's": Unit(_signed, "nats a masked word"),
    "nats a masked word, separated less words kept out of random directions (95 %, mean of 20 draws)": Unit(
        _signed, "nats, cut apart minus words cut at random", "nats a masked word"
    ),
    "nats a masked word, more than along the positions' own directions": Unit(
        _signed, "nats, cut apart at random minus along own", "nats a masked word"
    ),
    "nats a masked token, more than whole words lose": Unit(
        _signed, "nats, more than whole words lose", "nats a masked token"
    ),
    "of the states' variation, more than whole words change": Unit(
        _points, "of states, more than whole words", "of states' variation"
    ),
    "share of sampled words that no position moves so": Unit(
        _percent_of_others, "of words are moved", "of words moved"
    ),
    "accuracy": Unit(_percent, "read correctly"),
    "accuracy gained at the best deeper layer": Unit(_points, "of accuracy"),
    "error, of the distance of two words": Unit(_plain, "of two words' distance"),
    "change of attention by a shift, over that by a shuffle": Unit(_percent, "of a shuffle's change"),
    "largest share of a term with position": Unit(_percent, "the largest share", "in one term"),
    "nats": Unit(_plain, "nats", "nats of change"),
}
"""Unit of a statement -> its form and words. One that is not here is printed whole."""
KINDS = {
    "loss_4x": ("nats at 4 × the length", "nats at 4 × length"),
    "difference_of_differences": ("nats between recipes", "nats between recipes"),
}
"""Kinds of statements whose numbers are of something else than their unit: short words for it, and those of a row."""
FURTHER = re.compile(r",| (?:of|at|between|less|missed)\b")
"""The beginning of those words of a unit that only narrow it."""
PRINTED = "as printed: points, BLEU or nats"
ZEROS = re.compile(r"(\.\d*?[1-9])0+(?!\d)|\.0+(?!\d)")
"""Zeros that end the decimals of a number."""
NOTE = re.compile(r"(?P<number>[+−]\d[\d.,]*) (?P<unit>\w+), ")
"""The head of the note of a published reading: `+1.82 points, better`."""


def size(judgement: Judgement) -> PrintedSize:
    """The number of a statement in few words."""
    if judgement.effect is None:
        return PrintedSize("", "")
    if judgement.unit == PRINTED:
        notes = [reading.note for reading in judgement.readings if reading.value == judgement.effect]
        found = NOTE.match(notes[0]) if notes else None
        unit = found["unit"] if found else ""
        return PrintedSize(
            signed(judgement.effect),
            f"{unit}, as printed".removeprefix(", "),
            _line(judgement, signed),
            signed(judgement.effect, 1),
            f"{unit} in a paper".strip(),
        )
    known = UNITS.get(judgement.unit, Unit(_plain, judgement.unit))
    form, unit, row_unit = known.form, known.words, known.of_row or known.words
    rounded = _rounded(judgement.effect, form, unit)
    unit, row_unit = KINDS.get(judgement.kind, (unit, row_unit))
    low, high = judgement.low, judgement.high
    interval = "" if low is None or high is None else f"{form(low)} to {form(high)}"
    return PrintedSize(form(judgement.effect), unit, _line(judgement, form), rounded, row_unit, interval)


def _rounded(value: float, form: Form, unit: str) -> str:
    """A number with one decimal of percent and points, three of a correlation, whose line is small, else two.

    A tiny one has its power of ten.
    """
    if form in (_percent, _percent_of_others):
        return fixed(100 * (value if form is _percent else 1 - value), 1)
    if form is _points or unit.startswith("points"):
        return signed_or_zero(100 * value if form is _points else value, 1)
    if form in (_signed, _nats):
        return signed_or_zero(value, 3 if unit.startswith("correlation") else 2)
    return _plain(value) if form is _plain and abs(value) < 1e-3 else fixed(value)


def _line(judgement: Judgement, form: Form) -> str:
    """The bounds in the form of the number: `−0.05`, `±0.05` where both are as far from zero, else `−0.1 and 0`."""
    bounds = [bound for bound in (judgement.lower, judgement.upper) if bound is not None]
    if len(bounds) == 2 and bounds[0] == -bounds[1]:
        return "±" + _bound(bounds[1], form).lstrip("+")
    return BOTH.join(_bound(bound, form) for bound in bounds)


def _bound(value: float, form: Form) -> str:
    """One bound, without zeros at its end."""
    return ZEROS.sub(r"\1", form(value)) if value or form is _percent_of_others else "0"
