"""The size of the encoders that we trained, and the statements on wider and narrower ones that are open."""

from analysis.ablation.presets import PRESETS
from analysis.claims.statements.base import OPEN, Ask
from analysis.core.formatting import plural
from analysis.narrative.answer.base import ComputedSentence, Facts, Sentence, register
from analysis.rules import encoder_rules, training_rules

CLAIM = "C37"
"""The claim whose statements compare encoders of several widths."""
QUERY = (
    "SELECT count(*) FILTER (verdict = 'open') AS open, count(*) AS statements FROM statements "
    f"WHERE parent = '{CLAIM}'"
)


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """The size of the encoders behind the losses, and what is open of other widths; None before any is trained."""
    del ask
    seeds = [fact.seeds or 0 for name, fact in facts.items() if name[:3] in ("C17", "C34") and fact.effect is not None]
    if not seeds:
        return None
    size = PRESETS[training_rules().preset]
    bold = f"{plural(size.layers, 'layer')} and width {size.hidden_size}"
    undecided = sum(fact.verdict == OPEN for name, fact in facts.items() if name.startswith(CLAIM))
    widths = sorted(PRESETS[preset].hidden_size for preset in encoder_rules().recipes)
    others = [str(width) for width in widths if width != size.hidden_size]
    waiting = (
        f" Widths {' and '.join(others)} are being trained: {plural(undecided, 'statement')} on what changes with the "
        f"width {'is' if undecided == 1 else 'are'} open."
        if undecided
        else ""
    )
    return ComputedSentence(
        sentence=f"What we trained ourselves are small encoders, of {bold}, with at most {plural(max(seeds), 'seed')}. "
        f"Their losses say which way helps them, not how much it would help a large model.{waiting}",
        bold=bold,
        heading="What was trained is small",
        value=float(undecided),
        query=QUERY,
        against=True,
    )


register(
    Sentence(
        name="small",
        order=70,
        claim=CLAIM,
        link="The widths",
        page="claims",
        values={"claim": CLAIM},
        tell=tell,
        part="but",
    )
)
