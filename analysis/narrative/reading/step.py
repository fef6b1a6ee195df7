"""A step of the guided reading: our text, a picture or two with something to touch, one computed sentence."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.claims.statements import Judgement
from analysis.core.registry import Registry

Values = Mapping[str, Any]
"""The values in the reading's link, by field."""

PAGE = "read"


@dataclass(frozen=True, kw_only=True)
class Control:
    """A control that changes a picture by setting one field of the reading's link.

    options: the values to choose from, computed when the step is shown. slides: a slider, else a drop-down.
    between: whether a link may name a value between two options. show: writes an option as text.
    label: names the quantity that the control changes. when: whether it has a part in the picture of a link's values.
    """

    field: str
    label: str
    options: Callable[[], Sequence[Any]]
    slides: bool = True
    between: bool = False
    show: Callable[[Any], str] = str
    when: Callable[[Values], bool] = lambda values: True


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure of a step with its controls.

    name: the value of the link's field `part` that shows it; empty for the first. label: the text on its button, if the
    step has several. figure: the figure's name; page: the page that it belongs to, whose fields `params` gives from the
    reading's; figures made for the reading belong to the reading itself and take its fields as they are.
    """

    figure: str
    controls: tuple[Control, ...] = ()
    name: str = ""
    label: str = ""
    page: str = PAGE
    params: Callable[[Values], dict[str, Any]] = dict


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An open statement with the experiment that would decide it. bears_on: the heading on the first page."""

    statement: Judgement
    bears_on: str


@dataclass(frozen=True, kw_only=True)
class ExperimentList:
    """Experiments to come, listed below a step. rule: how they are chosen, in words."""

    choose: Callable[[], Sequence[Experiment]]
    rule: str


@dataclass(frozen=True, kw_only=True)
class Destination:
    """The page that a step leads on to. says: what the reader finds there. values: the state that it opens in."""

    page: str
    says: str
    values: Callable[[Values], dict[str, Any]] = lambda values: {}


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of the reading.

    place: its number, from 1. text: a paragraph of Markdown, or two with a list between them, ours, which names the
    author of every claim in it. documents: its sources, keys of `analysis.claims.DOCUMENTS`; claims: those of the
    ledger that it is about; citations: BibTeX keys of the papers it names.
    says: one sentence or a few, computed from the store. Raises NoResults if its results are not stored yet.
    says_more: what the reader may unfold below that: a heading, and as many sentences.
    experiments: the list below it, where it has one.
    """

    place: int
    name: str
    title: str
    text: str
    pictures: tuple[Picture, ...]
    says: Callable[[Values], str]
    more: Destination
    documents: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    experiments: ExperimentList | None = None
    says_more: Mapping[str, Callable[[Values], str]] = field(default_factory=dict)

    def picture(self, values: Values) -> Picture:
        """The picture that the link's field `part` names; the first where it names none of this step."""
        return next((one for one in self.pictures if one.name == values["part"]), self.pictures[0])


STEPS: Registry[Step] = Registry("step")


def register(step: Step) -> Step:
    """Adds a step under its own name."""
    return STEPS.add(step.name, step)


def ordered() -> list[Step]:
    """The steps as they are read."""
    return sorted((step for _, step in STEPS.items()), key=lambda step: step.place)
