"""The measurements of many models, as tasks that run in parallel: each task is one kind of measurement of one model."""

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from analysis.core.errors import AddendError, UnknownName
from analysis.engine import Report
from analysis.store.kinds import KINDS
from analysis.store.paths import data_folder

Options = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class MeasurementOptions:
    """Options that apply to all models; None leaves an option to each command's own default.

    texts: a UTF-8 text, with empty lines between articles. tokens: of a text, a window or a position table.
    """

    texts: Path | None = None
    corpus: str | None = None
    tokens: int | None = None
    windows: int | None = None


def _windows(options: MeasurementOptions) -> Options:
    if options.texts is None:
        raise AddendError(
            "Means, decoding, order and pieces are measured over a text, and none was given; name one with --texts."
        )
    sizes = {"length": options.tokens, "windows": options.windows}
    return {"texts": options.texts, "corpus": options.corpus} | {k: v for k, v in sizes.items() if v is not None}


@dataclass(frozen=True, kw_only=True)
class MeasurementKind:
    """One kind of measurement: what its command gives and is given, and the kind that it builds on."""

    result_kinds: tuple[str, ...]
    """Kinds of results files that it always writes, one of each."""
    options: Callable[[MeasurementOptions], Options]
    needs: str | None = None


MEASUREMENTS: Mapping[str, MeasurementKind] = {
    "terms": MeasurementKind(result_kinds=("terms",), options=lambda options: {"tokens": options.tokens}),
    "means": MeasurementKind(result_kinds=("means",), options=_windows),
    "decoding": MeasurementKind(result_kinds=("decoding",), options=_windows),
    "order": MeasurementKind(result_kinds=("locality", "equivariance"), options=_windows),
    "pieces": MeasurementKind(result_kinds=("pieces",), options=_windows),
    "positions": MeasurementKind(result_kinds=("positions",), options=lambda options: {}),
    "geometry": MeasurementKind(
        result_kinds=("geometry",), options=lambda options: {"positions": options.tokens}, needs="means"
    ),
}
"""The kinds of measurement, by name."""


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
        prerequisite = MEASUREMENTS[self.kind].needs
        return None if prerequisite is None else f"{prerequisite}/{self.name}"

    @property
    def finished(self) -> bool:
        """All its results files exist and need not be made again."""
        return not self.again and all(
            (data_folder() / KINDS[result_kind].folder / f"{self.name}.parquet").is_file()
            for result_kind in MEASUREMENTS[self.kind].result_kinds
        )

    def run(self, report: Report) -> None:
        """Runs its command, whose own bars are not shown."""
        report(self.kind, 0.0)
        with redirect_stdout(io.StringIO()):
            getattr(import_module(f"analysis.commands.measure.{self.kind}"), self.kind)(
                model=self.model, called=self.name, name=self.name, **self.options
            )


def plan_measurements(
    models: Sequence[str], kinds: Sequence[str], options: MeasurementOptions, *, device: str, again: bool = False
) -> list[Measurement]:
    """The measurements of models, each a folder, an id or NAME=FOLDER. Raises AddendError for unknown ones."""
    if unknown := [kind for kind in kinds if kind not in MEASUREMENTS]:
        raise UnknownName(f"Nothing is measured under the name {unknown[0]!r}; known: {', '.join(MEASUREMENTS)}.")
    named_models = [_name_and_model(model) for model in models]
    names = [name for name, _ in named_models]
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise AddendError(f"Two models would be called {duplicates[0]!r}; tell them apart as NAME=FOLDER.")
    return [
        Measurement(
            kind=kind, model=model, name=name, device=device, again=again, options=MEASUREMENTS[kind].options(options)
        )
        for name, model in named_models
        for kind in kinds
    ]


def _name_and_model(model: str) -> tuple[str, str]:
    """The name that the results have, and the model."""
    name, separator, folder = model.partition("=")
    if separator:
        return name, folder
    return Path(model).name, model
