"""Our own trainings of concatenation against addition."""

from analysis.ablation.presets import PRESETS
from analysis.claims.statements.base import CONTRADICTED, OPEN, SUPPORTED, Ask
from analysis.core.formatting import fixed, plural, signed
from analysis.narrative.answer.base import ComputedSentence, Facts, Sentence, register
from analysis.rules import training_rules

LAYOUTS = ("C17a", "C17b", "C17c")
WIDER = {SUPPORTED: "it ends lower", CONTRADICTED: "it ends no lower"}
EARLIER_QUERY = "SELECT effect FROM first_verdicts WHERE id = 'C17'"
"""The first verdict's contest, in the preset `cpu`: its trainings ended on the plateau."""


def _sizes(effects: list[float]) -> str:
    """The smallest and the largest loss difference: "is 0.11 to 0.16 nats higher (worse) than adding's"."""
    if effects[0] <= 0 <= effects[-1]:
        return f"differs from adding's by {signed(effects[0])} to {signed(effects[-1])} nats (below zero is better)"
    limits = list(dict.fromkeys(f"{size:.2f}" for size in sorted(map(abs, effects))))
    return f"is {' to '.join(limits)} nats {'higher (worse)' if effects[0] > 0 else 'lower (better)'} than adding's"


def _wider(facts: Facts) -> str:
    """How the concatenation at full word width ends, which costs more than adding; empty where it was not trained."""
    statement = facts.get("C17d")
    if statement is None or statement.effect is None or statement.low is None or statement.high is None:
        return ""
    size = f"({signed(statement.effect)} nats, {fixed(statement.low)} to {fixed(statement.high)})"
    return f" At full word width {WIDER.get(statement.verdict, 'the difference is not resolved')} {size}."


def _earlier(ask: Ask) -> str:
    """What the exploratory trainings said, where they pointed the other way."""
    rows = ask(EARLIER_QUERY)
    if not rows or rows[0]["effect"] is None or rows[0]["effect"] >= 0:
        return ""
    return f" In earlier, shorter trainings the 80/20 split was ahead ({signed(rows[0]['effect'])} nats)."


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """Which layouts at the same width end lower than adding, and what speaks against that."""
    trained = {name: facts[name] for name in LAYOUTS if facts[name].effect is not None}
    if not trained:
        return None
    won = [name for name, statement in trained.items() if statement.verdict == SUPPORTED]
    undecided = [name for name, statement in trained.items() if statement.verdict == OPEN]
    if undecided and not won:
        bold = "is open"
        clause = (
            f"whether a real concatenation of the same width learns more {bold} for {len(undecided)} of {len(trained)} "
        )
        clause += "layouts"
    elif won:
        bold = f"learns more with {len(won)} of {len(trained)} layouts"
        clause = f"a real concatenation of the same width {bold}"
    else:
        bold = "does not learn more"
        clause = f"a real concatenation of the same width {bold} with any of {len(trained)} layouts"
    effects = sorted(statement.effect or 0.0 for statement in trained.values())
    best = min(trained.values(), key=lambda statement: statement.effect or 0.0)
    size = PRESETS[training_rules().preset]
    return ComputedSentence(
        sentence=f"In small encoders ({plural(size.layers, 'layer')}, width {size.hidden_size}) {clause}: its final "
        f"loss {_sizes(effects)} ({plural(best.seeds or 0, 'seed')} each).{_wider(facts)}"
        f"{_earlier(ask) if best.verdict == CONTRADICTED else ''}",
        bold=bold,
        value=best.effect,
        query=best.query,
        against=bool(won),
    )


register(
    Sentence(
        name="concatenated",
        order=55,
        claim="C17",
        link="The comparison",
        page="claims",
        values={"claim": "C17"},
        tell=tell,
    )
)
