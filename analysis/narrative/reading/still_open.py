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
MOST_HOURS = 24
"""The most hours of one core of an experiment that the step lists: longer ones are no plan."""
RULE = (
    "Among the claims that the first page gives as reasons or objections, one open statement of "
    f"each, in the order of that page. Only statements whose experiment takes at most {MOST_HOURS} hours of one core "
    "are considered. Those that the first page names as limits come first, then those that wait for planned runs, then "
    "those that take a side on their claim."
)
"""The rule by which they are chosen, in words."""


def experiments() -> list[Experiment]:
    """The experiments that would decide open statements of the claims behind the first page, at most `SHOWN`."""
    steps = [step for step in answer() if step.part in ("reason", "but") and step.claim]
    headings = {limit.id: step.heading for step in steps for limit in step.tempered_by}
    of_claims = []
    for claim in dict.fromkeys(step.claim for step in steps):
        parts = [part for part in stored.parts(claim) if part.verdict == OPEN and _within_reach(part.hours)]
        parts.sort(key=lambda part: (part.id not in headings, not part.missing, bool(part.aside), part.id))
        heading = next(step.heading for step in steps if step.claim == claim)
        of_claims.append([Experiment(statement=part, bears_on=headings.get(part.id, heading)) for part in parts])
    turns = chain.from_iterable(zip_longest(*of_claims))
    return [experiment for experiment in turns if experiment is not None][:SHOWN]


def _within_reach(hours: float | None) -> bool:
    return hours is not None and hours <= MOST_HOURS


def says(values: Values) -> str:
    """The answer as the first page begins it, with what speaks against it and what nothing here can decide.

    Raises NoResults where it is not stored.
    """
    lead = next((step for step in answer() if step.name == "lead"), None)
    if lead is None:
        raise NoResults("The store holds no answer. Run: python -m analysis sync --rebuild")
    return lead.sentence


register(
    Step(
        place=10,
        name="open",
        title="What remains open",
        text=(
            "We split the claims, guesses and doubts of five documents into statements that say one thing. For each, a "
            "written rule turns measurements into a verdict: **supported**, **contradicted**, **mixed** where good "
            "evidence conflicts, or **open**. The cards below name open statements that bear on the answer, each with "
            "the experiment that would decide it."
        ),
        documents=("000", "001", "002", "003", "004"),
        pictures=(
            Picture(
                figure="reading_open",
                controls=(
                    Control(
                        field="verdict",
                        label="Verdict",
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
