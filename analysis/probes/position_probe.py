"""Requests for the position map of a model: the part of position in its attention at every layer. Imports no torch."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Annotated, ClassVar

from analysis.core import default_model
from analysis.core.arguments import one_of
from analysis.core.errors import AddendError, ModelError, NoSuchRevision
from analysis.core.provenance import model_options
from analysis.links import Values
from analysis.measurements.positions.result import PositionMap, Unturned
from analysis.measurements.positions.stored_maps import stored_map, stored_models
from analysis.probes.model_request import silent
from analysis.probes.text_probe import TextRequest

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from analysis.models.load import Loaded
    from analysis.models.source import Source

BASELINES = {"random": "The same architecture, random weights", "shuffled": "The same words in another order"}
"""The baselines that a map can stand beside, with their titles."""
SEED = 0


@dataclass(frozen=True, kw_only=True)
class PositionRequest(TextRequest[PositionMap]):
    """A model and a text, every layer at once. A model of any architecture will do.

    baseline: of `BASELINES`, what is mapped in the model's or in the text's place; empty for neither.
    """

    baseline: Annotated[str, one_of(("", *BASELINES))] = ""
    terms: ClassVar[bool] = False

    def find(self, progress: Callable[[str], None] = silent, *, fetch: bool = True) -> Source:
        """The source of the model's files. Raises ModelError, which mentions a stored map of a model of that name."""
        try:
            return super().find(progress, fetch=fetch)
        except NoSuchRevision:
            raise
        except ModelError as absent:
            try:
                stored = stored_models().get(self.model.strip())
            except AddendError:  # no store holds a map either; the model is what was asked for
                stored = None
            if stored is None:
                raise
            raise ModelError(
                f"{absent} The store holds the map of {self.model} on one text only; other texts, comparisons and "
                "bands without rotation need the model's files. Give the folder that holds them as the model."
            ) from absent

    def stored(self) -> PositionMap | None:
        """The map of this model and text that the store holds; None where it holds none, and for a baseline."""
        if self.pair or self.baseline:
            return None
        return stored_map(self.model.strip() or default_model.NAME, self.text, self.revision)

    def run(self, loaded: Loaded | None = None) -> PositionMap:
        """The position map of the text."""
        from analysis.measurements.positions.measure import position_map

        loaded = loaded or self.load()
        shuffled = self.baseline == "shuffled"
        return position_map(
            replace(loaded, model=_random(loaded.model)) if self.baseline == "random" else loaded,
            _shuffled(self.text) if shuffled else self.text,
            _shuffled(self.pair) if shuffled and self.pair else self.pair,
            truncate=self.truncate,
        )


@dataclass(frozen=True, kw_only=True)
class UnturnRequest(TextRequest[Unturned]):
    """A request for the loss of a model when a band of a layer is not rotated, with a pass for each band and layer."""

    head: ClassVar[bool] = True
    terms: ClassVar[bool] = False

    def find(self, progress: Callable[[str], None] = silent, *, fetch: bool = True) -> Source:
        """The source of the model's files; see `PositionRequest.find`."""
        return PositionRequest(model=self.model, revision=self.revision, text=self.text).find(progress, fetch=fetch)

    def run(self, loaded: Loaded | None = None) -> Unturned:
        """The outcome with each band of each layer left unturned. Raises ModelError and TextError."""
        from analysis.measurements.positions.remove_rotation import remove_rotation

        return remove_rotation(loaded or self.load(), self.text, truncate=self.truncate)


def _shuffled(text: str) -> str:
    words = text.split()
    random.Random(SEED).shuffle(words)
    return " ".join(words)


def _random(model: PreTrainedModel) -> PreTrainedModel:
    """The same architecture as its own code initialises it."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        fresh = type(model)._from_config(copy.deepcopy(model.config), dtype=model.dtype)
    fresh.eval()
    # transformers' own `to` is wrapped so that type checkers take its first argument for the model.
    torch.nn.Module.to(fresh, model.device)
    return fresh


def obtain_with_baseline(values: Values) -> tuple[PositionMap, PositionMap | None]:
    """The map that a link asks for, stored or run now, and the baseline beside it where it asks for one, run now."""
    request = PositionRequest.of(values)
    own = replace(request, baseline="")
    result = own.stored()
    if result is not None and not request.baseline:
        return result, None
    loaded = request.load()
    return result or own.run(loaded), request.run(loaded) if request.baseline else None


def command(result: PositionMap | Unturned) -> str:
    """The command that makes a map again."""
    if isinstance(result, PositionMap) and result.command:
        return result.command
    about = result.provenance
    model = model_options(about.model, about.revision).removeprefix("--model ")
    return f"python -m analysis positions {model} --text {quote(about.text)} --json"
