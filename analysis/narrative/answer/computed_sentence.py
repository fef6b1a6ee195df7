"""The parts of the answer: sentences, each computed from the store and tied to a claim and a query."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.claims.statements.judgement import FAILS, HOLDS, OPEN, Ask, Judgement
from analysis.claims.statements.rows import families
from analysis.core.formatting import join_names, percent, signed
from analysis.core.registry import Registry
from analysis.rules import encoder_rules


@dataclass(frozen=True, kw_only=True)
class ComputedSentence:
    """One sentence as the store has it now; further lines of it are the points of a list.

    value: its number, in the unit that the sentence says; None for none.
    bold: the words of the sentence that carry its number or its point; "" for none. heading: its point in a few words,
    as far as the verdicts have it; "" for none. against: whether it speaks against adding, or qualifies it.
    further: what limits the sentence or says it more exactly, one press away: a sentence a line; "" for nothing.
    """

    sentence: str
    value: float | None
    query: str
    bold: str = ""
    heading: str = ""
    against: bool = False
    further: str = ""


Part = Literal["lead", "reason", "but", "more", "card"]
"""The places of sentences on Home."""
Facts = Mapping[str, Judgement]
"""Every statement of the ledger, by its id and by those of statements whose place it took."""


def fixed_sentences(facts: Facts, names: Iterable[str]) -> str:
    """The sentences that the rules fixed before the runs, of those of these statements that are decided."""
    return " ".join(facts[name].answer for name in names if name in facts and facts[name].answer)


def nats(difference: float) -> str:
    """A difference of two losses in words: its size, and whether the first is lower or higher.

    >>> nats(-0.074)
    '0.07 nats lower'
    """
    return f"{abs(difference):.2f} nats {'lower' if difference < 0 else 'higher'}"


def paired_difference(
    ask: Ask, statistic: str, variant: str, baseline: str, judged: Sequence[int] = ()
) -> float | None:
    """The final loss of a variant less its baseline's, in nats, over some seeds of width 128; None for none.

    statistic: DuckDB's name of what is taken over the seeds, `avg` or `median`. judged: the seeds; by default those of
    `encoders.toml`.
    """
    seeds = ", ".join(map(str, judged or encoder_rules().seeds))
    (row,) = ask(
        f"SELECT {statistic}(v.final_loss - b.final_loss) AS difference FROM pretrainings v JOIN pretrainings b "
        f"USING (preset, steps, seed) WHERE preset = 'width128' AND v.variant = '{variant}' "
        f"AND b.variant = '{baseline}' AND seed IN ({seeds})"
    )
    return row["difference"]


def undecided(fact: Judgement | None, than: str = "") -> str:
    """The size and the interval of a statement that is open though all its seeds are trained; else empty.

    Its words end a sentence whose subject is the first side: "ended 0.06 nats lower (open: −0.09 to −0.03)". than: the
    second side after its conjunction, " than adding".
    """
    if fact is None or fact.verdict != OPEN or fact.effect is None or fact.low is None or fact.high is None:
        return ""
    if (fact.seeds or 0) < len(encoder_rules().seeds):
        return ""
    return f"ended {nats(fact.effect)}{than} (open: {signed(fact.low)} to {signed(fact.high)})"


Tell = Callable[[Facts, Ask], ComputedSentence | None]
"""Function that computes a sentence from the ledger and the store; it returns None until its results are stored."""


@dataclass(frozen=True)
class Tempering:
    """The limit that a statement sets to a sentence of the answer, in words that hold for one verdict.

    words: with the fields of `str.format` that `limit_in_words` fills.
    """

    statement: str
    verdict: str
    words: str


def limit_in_words(tempering: Tempering, fact: Judgement) -> str:
    """The words of a limit; under another verdict than was foreseen, the statement and its finding.

    Fields: effect; size, without its sign; share, the same in per cent; nats, with the side; low, high, line; holding
    and count of its readings; agreeing and families, the same of models or papers with all their readings; failing, the
    sources of those that fail; hardest, that of the one that decides; found, its sentence.
    """
    if fact.verdict != tempering.verdict or (fact.effect is None and "{effect" in tempering.words):
        return f"{fact.verdict.capitalize()}: {fact.statement} {fact.sentence}"
    failing = [one.source for one in fact.readings if one.standing == FAILS]
    hardest = [one.source for one in fact.readings if one.value == fact.effect]
    standings = list(families(fact.readings).values())
    text = tempering.words.format(
        effect=fact.effect, size=abs(fact.effect or 0.0), share=percent(abs(fact.effect or 0.0)),
        nats=nats(fact.effect or 0.0), low=fact.low, high=fact.high, line=fact.line,
        holding=sum(one.standing == HOLDS for one in fact.readings), count=len(fact.readings),
        agreeing=standings.count(HOLDS), families=len(standings),
        failing=join_names(failing), hardest=join_names(hardest[:1]), found=fact.sentence.removeprefix("Open: "),
    )  # fmt: skip
    return text.replace("-0", "−0").replace("-1", "−1")


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One step of the answer. claim: the statement or claim that it rests on. page: where its evidence is shown.

    part: its place on Home. A reason for adding, or what speaks against it, stands in full; `more` is one press away;
    what a card says is not repeated.
    tempered_by: statements whose evidence points the other way or limits it, shown one press away.
    """

    name: str
    order: int
    claim: str
    link: str
    page: str
    values: Mapping[str, str]
    tell: Tell
    part: Part = "more"
    tempered_by: tuple[Tempering, ...] = ()


SENTENCES: Registry[Sentence] = Registry("sentence of the answer")


def register(sentence: Sentence) -> Sentence:
    """Adds a sentence under its name."""
    return SENTENCES.add(sentence.name, sentence)
