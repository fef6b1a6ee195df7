"""The statements that are still open."""

from analysis.claims.statements.judgement import OPEN, Ask
from analysis.narrative.answer.computed_sentence import ComputedSentence, Facts, Sentence, register

QUERY = (
    "SELECT count(*) FILTER (verdict = 'open') AS open, "
    "count(*) FILTER (verdict = 'open' AND missing + planned > 0) AS with_runs_to_come, "
    "count(*) AS statements FROM statements"
)


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """The number of open statements, and how many of them wait for runs that their rules already ask for."""
    del ask
    undecided = [statement for statement in facts.values() if statement.verdict == OPEN]
    if not facts:
        return None
    if not undecided:
        return ComputedSentence(
            sentence=f"All {len(facts)} statements of the ledger are decided.", value=0.0, query=QUERY
        )
    waiting = sum(statement.missing + statement.planned > 0 for statement in undecided)
    why = (
        f"{waiting} {'waits' if waiting == 1 else 'wait'} for planned runs, and nothing found so far decides the others"
        if waiting
        else "all planned runs are stored, and what they found does not decide these"
    )
    return ComputedSentence(
        sentence=f"{len(undecided)} of {len(facts)} statements are open: {why}. Each names what would.",
        bold=f"{len(undecided)} of {len(facts)}",
        value=float(len(undecided)),
        query=QUERY,
        against=True,
    )


register(
    Sentence(
        name="still_open",
        order=90,
        claim="",
        link="Every open statement",
        page="claims",
        values={"verdict": "open", "by": "verdict"},
        part="card",
        tell=tell,
    )
)
