"""Our own trainings of concatenation against addition."""

from analysis.answer.base import Facts, Said, Sentence, register
from analysis.claims.said import plural
from analysis.statements.base import OPEN, SUPPORTED, Ask

SPLITS = {"C17a": "80/20", "C17b": "half and half", "C17c": "half and half, kept apart in the scores"}


def tell(facts: Facts, ask: Ask) -> Said | None:
    """Which splits at the same width end lower than adding."""
    del ask
    known = {name: facts[name] for name in SPLITS if facts[name].effect is not None}
    if not known:
        return None
    won = [name for name, one in known.items() if one.verdict == SUPPORTED]
    undecided = [name for name, one in known.items() if one.verdict == OPEN]
    sizes = "; ".join(f"{SPLITS[name]}: {one.effect:+.2f} nats" for name, one in known.items()).replace("-", "−")
    if undecided:
        head = "Whether a real concatenation of the same width would learn more is open "
        head += f"in {len(undecided)} of {len(known)} splits"
    elif won:
        head = f"A real concatenation of the same width ends lower in {len(won)} of {len(known)} splits"
    else:
        head = f"A real concatenation of the same width ends no lower in any of {len(known)} splits"
    best = min(known.values(), key=lambda one: one.effect or 0.0)
    return Said(
        sentence=f"{head} (final loss less adding's; {sizes}; {plural(best.seeds or 0, 'seed')}).",
        bold=head,
        value=best.effect,
        query=best.query,
        against=bool(won),
    )


register(
    Sentence(
        name="concatenated",
        order=55,
        claim="C17",
        link="The contest",
        page="claims",
        values={"claim": "C17"},
        tell=tell,
    )
)
