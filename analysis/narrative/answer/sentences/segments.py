"""Segments, the third thing that BERT adds: the loss of encoders that are not told them."""

from analysis.claims.statements.encoders import load_runs
from analysis.claims.statements.judgement import SUPPORTED, Ask
from analysis.core.formatting import plural, signed
from analysis.narrative.answer.computed_sentence import ComputedSentence, Facts, Sentence, Tempering, nats, register
from analysis.rules import encoder_rules

WITHOUT, ALIKE = "C27d", "C27e"
"""An encoder with segments against one without any, and against one whose tokens are all given the same."""
STILL_WAITING = (
    "SELECT variant, count(*) AS runs, count(*) FILTER (final_loss > {plateau}) AS waiting FROM pretrainings "
    "WHERE preset = 'width128' AND variant IN ('no_segment', 'one_segment') GROUP BY variant ORDER BY variant"
)
"""The trainings of each side that were still on the plateau of the rules when they ended."""


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """The worth of segments to a small encoder; None unless both comparisons are decided in their favour."""
    without, alike = facts.get(WITHOUT), facts.get(ALIKE)
    if without is None or alike is None or not without.verdict == alike.verdict == SUPPORTED:
        return None
    if without.effect is None or alike.effect is None or without.low is None or without.high is None:
        return None
    bold = f"{nats(-without.effect)} without them"
    return ComputedSentence(
        sentence="BERT adds a third vector in the same way: which of two texts a word is in. A small encoder ends "
        f"{bold} after the same steps ({plural(without.seeds or 0, 'seed')}; {signed(-without.high)} to "
        f"{signed(-without.low)}), and {nats(-alike.effect)} where every word is given the same segment."
        f"{_waiting(ask)} Segments added and segments concatenated were not compared.",
        bold=bold,
        heading="Segments are added, too",
        value=-without.effect,
        query=without.query,
    )


def _waiting(ask: Ask) -> str:
    """The numbers of these trainings that ended before they used order at all; "" where none did."""
    plateau = load_runs(ask, encoder_rules(), "width128").plateau
    if plateau is None:
        return ""
    rows = {row["variant"]: row for row in ask(STILL_WAITING.format(plateau=plateau))}
    if len(rows) < 2 or not any(row["waiting"] for row in rows.values()):
        return ""
    none, one = (f"{rows[name]['waiting']} of {rows[name]['runs']}" for name in ("no_segment", "one_segment"))
    return (
        f" The numbers measure a delay, too: {none} without segments, and {one} with a single one, did not yet use "
        "order when training ended."
    )


register(
    Sentence(
        name="segments",
        order=58,
        claim="C27",
        link="Segments",
        page="claims",
        values={"claim": "C27", "statement": WITHOUT},
        tell=tell,
        tempered_by=(
            Tempering(
                "C27c",
                SUPPORTED,
                "A real model uses its segments: dropping a segment term moves some head’s pattern in the first layer.",
            ),
        ),
    )
)
