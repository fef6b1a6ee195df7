"""The errors a reader can cause.

Each carries one sentence: the value at fault, what was expected, and the remedy. The command line
prints that sentence and exits with 1; the dashboard shows it in place of the chart.
"""

from collections.abc import Iterable


class AddendError(Exception):
    """Anything that a reader, not a programmer, can put right."""


class UnknownName(AddendError):
    """A name that no registry knows."""


class StoreError(AddendError):
    """The DuckDB store, or a results file it is built from, cannot be used as it is."""


class StoreLocked(StoreError):
    """Another process holds the store; it may be fine in a moment."""


class QueryError(AddendError):
    """A reader's SQL that is refused, fails, or takes more than it may."""


class ImportProblem(AddendError):
    """Results of a reader's that cannot be imported as they are."""


class ModelError(AddendError):
    """A model cannot be found, is refused, or is of no supported architecture."""


class ModelNotFound(ModelError):
    """A model that is neither on this machine nor to be had from the hub; another one may be."""


class NoSuchRevision(ModelError):
    """A revision of a model that has only one, since it is on no hub."""


class NoFamily(ModelError):
    """A model of an architecture without terms; its attention patterns may be had all the same."""


class TextError(AddendError):
    """A text that cannot be probed: empty, or too long for the model."""


class TextTooLong(TextError):
    """A text with more tokens than the model has positions; it can be cut."""


class InterventionError(AddendError):
    """An intervention that is not known as it is written, or that does not apply to a model."""


class LinkError(AddendError):
    """A link that names no view, or a value that its view does not take."""


class NoResults(AddendError):
    """Results that a figure needs and that are not stored yet; the sentence names the command that makes them."""


class NotMeasured(NoResults):
    """A model of which a figure has no results, while it may have those of other models.

    sentence: what is missing. measured: the models that have it. command: measures this model; empty where it cannot
    be measured, for the reason in the sentence.
    """

    def __init__(self, sentence: str, measured: Iterable[str], command: str = "") -> None:
        self.sentence, self.measured, self.command = sentence, tuple(measured), command
        super().__init__(f"{sentence} Run: {command}" if command else sentence)


class ImageError(AddendError):
    """An image that cannot be probed: none at all, too large, or too small."""


class SettingError(AddendError):
    """An environment variable whose value is none that it may have."""


class ModelNotDownloaded(ModelError):
    """A model that would have to be downloaded first, which its reader has not confirmed."""

    place: object = None
    """The model as it was asked for."""


class NotEnoughMemory(ModelError):
    """A model for which there is no memory now; there may be when others have gone."""


class NotInstalled(AddendError):
    """Something that needs a package which this installation does without."""


class Busy(AddendError):
    """Too many probes at once, or too many a minute; it may do in a moment."""


class ProbeTimeout(AddendError):
    """A probe that ran longer than this server allows."""


class ProbeStopped(AddendError):
    """A probe that its reader stopped."""

    request: object = None
    """The request that was stopped."""


class StopForward(Exception):
    """Ends a forward pass once the requested layer has run."""
