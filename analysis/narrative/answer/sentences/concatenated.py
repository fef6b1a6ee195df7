"""Our own trainings of concatenation against addition."""

from analysis.claims.statements.base import OPEN, SUPPORTED, Ask
from analysis.core.formatting import plural, signed
from analysis.narrative.answer.base import ComputedSentence, Facts, Sentence, register

SPLITS = ("C17a", "C17b", "C17c")


def _sizes(effects: list[float]) -> str:
    """The smallest and the largest loss difference: "is 0.11 to 0.16 nats higher (worse) than adding's"."""
    if effects[0] <= 0 <= effects[-1]:
        return f"differs from adding's by {signed(effects[0])} to {signed(effects[-1])} nats (below zero is better)"
    ends = list(dict.fromkeys(f"{size:.2f}" for size in sorted(map(abs, effects))))
    return f"is {' to '.join(ends)} nats {'higher (worse)' if effects[0] > 0 else 'lower (better)'} than adding's"


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """Which splits at the same width end lower than adding."""
    del ask
    known = {name: facts[name] for name in SPLITS if facts[name].effect is not None}
    if not known:
        return None
    won = [name for name, one in known.items() if one.verdict == SUPPORTED]
    undecided = [name for name, one in known.items() if one.verdict == OPEN]
    if undecided and not won:
        bold = "is open"
        head = f"Whether a real concatenation of the same width learns more {bold} in {len(undecided)} of {len(known)} "
        head += "splits between word and position"
    elif won:
        bold = f"learns more in {len(won)} of {len(known)} splits"
        head = f"A real concatenation of the same width {bold} between word and position"
    else:
        bold = "does not learn more"
        head = (
            f"A real concatenation of the same width {bold} with any of {len(known)} splits between word and position"
        )
    effects = sorted(one.effect or 0.0 for one in known.values())
    best = min(known.values(), key=lambda one: one.effect or 0.0)
    return ComputedSentence(
        sentence=f"{head}: its final loss {_sizes(effects)} ({plural(best.seeds or 0, 'seed')} each).",
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
