"""The self-check at the end of the tour: six questions on what was read, with answers computed where they are numbers.

It runs in the browser alone, in the dashboard and in the static site.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.ablation.variants import named
from analysis.claims.statements import stored
from analysis.claims.statements.judgement import CONTRADICTED, SUPPORTED
from analysis.core import default_model
from analysis.core.errors import AddendError
from analysis.core.formatting import fixed, percent, plural
from analysis.figures import FIGURES
from analysis.figures.reading import order
from analysis.figures.reading.arithmetic import concatenated
from analysis.figures.reading.cut import OWN, RANDOM
from analysis.measurements.surgery.arms import RANK
from analysis.store import read

HERE = Path(__file__).parent
SHARED, GAINED = "C34a", "C34b"
"""The statements on one matrix against two, and on telling in every layer against once."""
WIDER, WIDER_VARIANT = "C36d", "concat_wide_matched"
"""The statement on a concatenation that is wider, with as many parameters, against adding; and its variant."""
CUT = "C10d"
"""The statement on giving positions directions of their own. Its line is the fall that it calls no cost."""
ALONG_READ = "separated_along_read"
"""The same cut along directions of those positions alone that the sentences read."""
EXTRA = "C34w"
"""The statement on one matrix against two, where the second is paid for by nothing else."""
SAME_SHAPE, NARROW = "C36m", "C36c"
"""The controls of concatenations: adding in the wider shape, and adding to narrower words."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """A question on a step. right: the index of the true option. because: one sentence that says why it is true."""

    step: str
    question: str
    options: tuple[str, ...]
    right: int
    because: str


def checks() -> tuple[Check, ...]:
    """The questions in the order of the steps; without those whose results are not stored."""
    made = []
    for make in (_sum, _room, _cost, _order, _told, _why):
        try:
            check = make()
        except (AddendError, LookupError):
            continue
        if check is not None:
            made.append(check)
    return tuple(made)


def _sum() -> Check:
    example = concatenated(2)
    same = bool(np.allclose(example.mapped, sum(example.parts)))
    return Check(
        step="concatenation",
        question="A word and a position are concatenated and then multiplied by a matrix. What comes out?",
        options=(
            "A pair, with the word and the position in dimensions of their own",
            "A sum: the mapped word plus the mapped position",
            "A product of the word and the position",
        ),
        right=1 if same else 0,
        because="One part of the matrix meets only the word and the other only the position, and the two results are "
        "added: it is a sum with two matrices, where adding uses one.",
    )


def _width() -> int:
    return int(read.query("SELECT hidden_size FROM models WHERE model = ?", [default_model.NAME]).hidden_size.iloc[0])


def _room() -> Check | None:
    rows = read.query(
        "SELECT operation, rank, value, difference_low FROM newest_surgery WHERE model = ? AND operation IN (?, ?) "
        "ORDER BY rank",
        [default_model.NAME, OWN, RANDOM],
    )
    line = stored.by_id()[CUT].line
    own = rows[rows.operation == OWN]
    if line is None or not (own.difference_low > line).any():
        return None
    enough = own[own.difference_low > line]
    least = int(enough["rank"].iloc[0])
    ranks = own["rank"].astype(int).tolist()
    offered = sorted({ranks[1], least, ranks[-1], *ranks[ranks.index(least) - 1 : ranks.index(least)]})
    at_random = rows[(rows.operation == RANDOM) & (rows["rank"] == least)].value
    random = (
        f", while {least} random directions leave it at {at_random.mean():.3f} on average" if len(at_random) else ""
    )
    value = float(enough.value.iloc[0])
    return Check(
        step="cut",
        question=f"{default_model.NAME} has {_width()} directions. Positions keep the strongest of their whole table, "
        "words the others. Which is the smallest of these numbers with which it judges sentences as well as before, "
        f"within {abs(line):g}?",
        options=tuple(map(str, offered)),
        right=offered.index(least),
        because=f"With {plural(least, 'direction')} of their own the agreement with people is {value:.3f} and falls by "
        f"less than {abs(line):g}, as does its whole interval; with fewer of those tried that is not so{random}."
        f"{_of_few(line)}",
    )


def _of_few(line: float) -> str:
    """The fewest directions that are enough if they are those of the positions that the sentences read."""
    found = read.query(
        "SELECT min(rank) AS least FROM newest_surgery WHERE model = ? AND operation = ? AND difference_low > ?",
        [default_model.NAME, ALONG_READ, line],
    ).least[0]
    if pd.isna(found):
        return ""
    return (
        f" Of the positions that these sentences read, {int(found)} are enough: these are short, and the question asks "
        "for the whole table."
    )


def _cost() -> Check:
    extra = 14
    figure = FIGURES["reading_saving"].make({"extra": extra})
    frame = figure.frame()
    truth = float(frame[frame.extra == extra].arithmetic.iloc[0])
    width = _width()
    offered = sorted({extra / width, truth, extra / 100})
    return Check(
        step="saving",
        question=f"Words keep their {width} dimensions, and positions get {extra} more beside them. How much more "
        "arithmetic would the layers do?",
        options=tuple(percent(value) for value in offered),
        right=offered.index(truth),
        because=f"A layer's matrices grow in height and in width, so the arithmetic grows by (1 + {extra}/{width})² − "
        f"1, which is {percent(truth, 1)}.",
    )


def _order() -> Check:
    deepest = order.DEPTHS[-1]
    blind = bool(order.changes(deepest)[0, :, -1].max() < order.ROUNDING * 100)
    return Check(
        step="order",
        question=f"Attention without positions reads a text in {deepest} layers; every word sees all others. All words "
        "but the last are shuffled. What happens to the last word's result?",
        options=(
            "It changes, because there are several layers",
            "It stays the same",
            "It changes only if the text is long",
        ),
        right=1 if blind else 0,
        because="Attention adds up what it sees, in any order; without positions, the last word needs a causal mask "
        "and two layers to notice a shuffle.",
    )


def _told() -> Check | None:
    """A question on the matrix of positions, answered as the rules decided it; None while they have not."""
    by_id = stored.by_id()
    shared, gained = by_id.get(SHARED), by_id.get(GAINED)
    if shared is None or shared.effect is None or shared.verdict not in (SUPPORTED, CONTRADICTED):
        return None
    right = 1 if shared.verdict == SUPPORTED else 0 if shared.effect > 0 else 2
    because = (
        f"They end {fixed(abs(shared.effect))} nats apart, and less than {shared.line:g} counts as the same."
        if right == 1
        else f"It ends {fixed(abs(shared.effect))} nats {'lower' if right == 0 else 'higher'}."
    )
    if gained is not None and gained.effect is not None and gained.verdict == SUPPORTED:
        nats = fixed(abs(gained.effect))
        because += f" Told to every layer's attention, both gain some {nats} nats over adding once."
    extra = by_id.get(EXTRA)
    if extra is not None and extra.verdict in (SUPPORTED, CONTRADICTED):
        because += f" {extra.answer}"
    return Check(
        step="told",
        question="Two encoders with equally many parameters tell positions to the queries and keys of every layer: "
        "one through the words' own matrices, one through further matrices for positions. How does the second end, in "
        "loss?",
        options=(
            f"Lower by more than {shared.line:g} nats",
            f"Within {shared.line:g} nats of the first",
            f"Higher by more than {shared.line:g} nats",
        ),
        right=right,
        because=because,
    )


def _why() -> Check | None:
    """The question of the whole; None while no concatenation is stored that ends lower than adding by its interval."""
    wider = stored.by_id().get(WIDER)
    if wider is None or wider.effect is None or wider.high is None or not wider.high < 0:
        return None
    return Check(
        step="open",
        question="So why can transformers add positions to words, where one would expect to concatenate them?",
        options=(
            "Models that concatenate them end with a higher loss",
            f"In {default_model.NAME} the sum keeps what the pair would keep, at the width of words alone",
            "A sum lets attention compare words with positions, which a pair does not",
        ),
        right=1,
        because=f"Both can be read back from the sum, {RANK} directions are enough for positions there, and the matrix "
        "after a concatenation makes a sum of it, with all comparisons of words and positions; dimensions beside the "
        f"words cost arithmetic. The losses do not forbid concatenating: {named(WIDER_VARIANT)} ends "
        f"{fixed(-wider.effect)} nats lower than adding{_controls()}.",
    )


def _controls() -> str:
    """The gain of adding in that shape and the cost of narrower words, by the rules; empty where both are undecided."""
    by_id = stored.by_id()
    shape, narrow = by_id.get(SAME_SHAPE), by_id.get(NARROW)
    told = []
    if shape is not None and shape.verdict == CONTRADICTED and shape.effect is not None:
        told.append(f"adding in that shape ends {fixed(shape.effect)} lower still")
    if narrow is not None and narrow.verdict == SUPPORTED and narrow.effect is not None:
        told.append(f"words narrower by a fifth cost {fixed(narrow.effect)}")
    return f"; but {', and '.join(told)}" if told else ""


def picture(address: dict[str, str]) -> dict[str, object]:
    """The data of the component. address: the address of each step, by its name."""
    return {"checks": [{**asdict(check), "address": address[check.step]} for check in checks()]}


def asset(name: str) -> str:
    """The text of `self_check.html`, `self_check.css` or `self_check.js`."""
    return (HERE / name).read_text(encoding="utf-8")
