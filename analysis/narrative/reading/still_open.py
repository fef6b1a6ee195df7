"""Step 10: what remains open, and the experiments that would decide what bears on the answer."""

from itertools import chain, zip_longest

from analysis.claims.statements import OPEN, WORDS, stored
from analysis.core.errors import NoResults
from analysis.figures.reading.open_questions import ALL
from analysis.narrative.answer.stored_answer import answer
from analysis.narrative.reading.step import (
    Control,
    Destination,
    Experiment,
    ExperimentList,
    Picture,
    Step,
    Values,
    register,
)

SHOWN = 3
"""The experiments that the step lists."""
RULE = (
    "Among the claims that the first page gives as reasons or objections, one open statement of "
    "each, in the order of that page. Only statements whose experiment has stated hours are considered. Those that the "
    "first page names as limits come first, then those that wait for planned runs, then those that take a side on "
    "their claim."
)
"""The rule by which they are chosen, in words."""


def experiments() -> list[Experiment]:
    """The experiments that would decide open statements of the claims behind the first page, at most `SHOWN`."""
    steps = [step for step in answer() if step.part in ("reason", "but") and step.claim]
    headings = {limit.id: step.heading for step in steps for limit in step.tempered_by}
    of_claims = []
    for claim in dict.fromkeys(step.claim for step in steps):
        parts = [part for part in stored.parts(claim) if part.verdict == OPEN and part.hours is not None]
        parts.sort(key=lambda part: (part.id not in headings, not part.missing, bool(part.aside), part.id))
        heading = next(step.heading for step in steps if step.claim == claim)
        of_claims.append([Experiment(statement=part, bears_on=headings.get(part.id, heading)) for part in parts])
    turns = chain.from_iterable(zip_longest(*of_claims))
    return [experiment for experiment in turns if experiment is not None][:SHOWN]


def says(values: Values) -> str:
    """The answer; the picture counts what is open.

    Raises NoResults where it is not stored.
    """
    lead = next((step.sentence for step in answer() if step.name == "lead"), "")
    if not lead:
        raise NoResults("The store holds no answer. Run: python -m analysis sync --rebuild")
    return lead


register(
    Step(
        place=10,
        name="open",
        title="What remains open",
        text=(
            "Two things needed no measurement: a pair is a sum of two vectors that have separate axes, and a "
            "concatenation becomes a sum as soon as a matrix follows. The rest is a question of how models train and "
            "what they cost.\n\nFor that we split the claims, guesses and doubts of five documents into statements "
            "that say one thing. For each a written rule turns measurements into a verdict: **supported**, "
            "**contradicted**, **mixed** where good evidence conflicts, or **open**, with the experiment that would "
            "decide it. The bars count the verdicts on every statement: choose one to see which questions have most of "
            "it. The cards below name open statements that bear on the answer, each with its experiment. Under "
            "*Claims*, in the menu, each statement stands with its evidence."
        ),
        documents=("000", "001", "002", "003", "004"),
        pictures=(
            Picture(
                figure="reading_open",
                controls=(
                    Control(
                        field="verdict",
                        label="Show the statements that are",
                        options=lambda: [ALL, *WORDS],
                        slides=False,
                    ),
                ),
            ),
        ),
        says=says,
        experiments=ExperimentList(choose=experiments, rule=RULE),
        more=Destination(page="choose", says="Which encoding? What is known about each"),
    )
)
