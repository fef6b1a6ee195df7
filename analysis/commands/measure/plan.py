"""What is measured of many models, as tasks that run side by side: each is one kind of measurement of one model."""

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from analysis.core.errors import AddendError, UnknownName
from analysis.engine import Report
from analysis.store.files import KINDS
from analysis.store.paths import data_folder

Options = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class MeasurementOptions:
    """What holds for all models; None for what each command takes by itself.

    texts: a UTF-8 text, with empty lines between articles. tokens: of a text, a window or a position table.
    """

    texts: Path | None = None
    corpus: str | None = None
    tokens: int | None = None
    windows: int | None = None


def _windows(options: MeasurementOptions) -> Options:
    if options.texts is None:
        raise AddendError(
            "Means, decoding and order are measured over a text, and none was given; name one with --texts."
        )
    wanted = {"length": options.tokens, "windows": options.windows}
    return {"texts": options.texts, "corpus": options.corpus} | {k: v for k, v in wanted.items() if v is not None}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of measurement: what its command gives and is given, and the kind that it builds on."""

    gives: tuple[str, ...]
    """Kinds of results files that it always writes, one of each."""
    options: Callable[[MeasurementOptions], Options]
    needs: str | None = None


MEASUREMENTS: Mapping[str, Kind] = {
    "terms": Kind(gives=("terms",), options=lambda asked: {"tokens": asked.tokens}),
    "means": Kind(gives=("means",), options=_windows),
    "decoding": Kind(gives=("decoding",), options=_windows),
    "order": Kind(gives=("locality", "equivariance"), options=_windows),
    "positions": Kind(gives=("positions",), options=lambda asked: {}),
    "geometry": Kind(gives=("geometry",), options=lambda asked: {"positions": asked.tokens}, needs="means"),
}
"""By name."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One kind of measurement of one model. name: the model's in the results, and its file's."""

    kind: str
    model: str
    name: str
    device: str = "cpu"
    again: bool = False
    options: Options = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Its name among the tasks."""
        return f"{self.kind}/{self.name}"

    @property
    def label(self) -> str:
        """Its name on screen."""
        return f"{self.kind} of {self.name}"

    @property
    def needs(self) -> str | None:
        """The measurement of the same model that this one reads."""
        needed = MEASUREMENTS[self.kind].needs
        return None if needed is None else f"{needed}/{self.name}"

    @property
    def finished(self) -> bool:
        """Whether its results files are there, unless they are to be made again."""
        return not self.again and all(
            (data_folder() / KINDS[given].folder / f"{self.name}.parquet").is_file()
            for given in MEASUREMENTS[self.kind].gives
        )

    def run(self, report: Report) -> None:
        """Runs its command, whose own bars are not shown."""
        report(self.kind, 0.0)
        with redirect_stdout(io.StringIO()):
            getattr(import_module(f"analysis.commands.measure.{self.kind}"), self.kind)(
                model=self.model, called=self.name, name=self.name, **self.options
            )


def plan_measurements(
    models: Sequence[str], kinds: Sequence[str], asked: MeasurementOptions, *, device: str, again: bool = False
) -> list[Measurement]:
    """The measurements of models, each a folder, an id or NAME=FOLDER. Raises AddendError for what is not known."""
    if unknown := [kind for kind in kinds if kind not in MEASUREMENTS]:
        raise UnknownName(f"Nothing is measured under the name {unknown[0]!r}; known: {', '.join(MEASUREMENTS)}.")
    named = [_named(model) for model in models]
    names = [name for name, _ in named]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise AddendError(f"Two models would be called {twice[0]!r}; tell them apart as NAME=FOLDER.")
    return [
        Measurement(
            kind=kind, model=model, name=name, device=device, again=again, options=MEASUREMENTS[kind].options(asked)
        )
        for name, model in named
        for kind in kinds
    ]


def _named(model: str) -> tuple[str, str]:
    """The name that the results have, and the model."""
    name, equals, place = model.partition("=")
    if equals:
        return name, place
    return Path(model).name, model
