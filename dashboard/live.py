"""Live probes: one owner of models and results. Models are loaded once, texts run one at a time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar

import streamlit as st

from analysis import probes
from analysis.figures import FIGURES, Figure
from analysis.terms import Decomposition

T = TypeVar("T")
KEPT_MODELS = 2
KEPT_PROBES = 16


class Kept(Generic[T]):
    """The last few things made, by what they were made from. Making happens one at a time.

    Streamlit's own caches cannot be used: they forbid telling the reader, from inside, what is going on.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._made: OrderedDict[Hashable, T] = OrderedDict()
        self._turn = threading.RLock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under `key`, or what `make` gives; the least recently asked for makes room."""
        # What is there is given at once: only those who need something made wait for one another.
        if (found := self._made.get(key)) is not None:
            return found
        with self._turn:
            if key not in self._made:
                while len(self._made) >= self.most:
                    self._made.popitem(last=False)
                self._made[key] = make()
            self._made.move_to_end(key)
            return self._made[key]


@st.cache_resource(show_spinner=False)
def _kept() -> tuple[Kept[Any], Kept[Decomposition], Kept[Decomposition]]:
    """Models, live results, and saved probes: reading one of these waits for no model."""
    return Kept(KEPT_MODELS), Kept(KEPT_PROBES), Kept(KEPT_PROBES)


def decomposition(values: Mapping[str, Any], progress: Callable[[str], None] = lambda _: None) -> Decomposition:
    """What a link's text and model give; a saved probe where the link names one (this needs no torch)."""
    models, results, read = _kept()
    if probe_id := str(values.get("probe") or ""):
        return read.get(probe_id, lambda: probes.saved(probe_id))
    model, revision = str(values["model"]), str(values["revision"]) or None
    text, pair = str(values["text"]), str(values["pair"]) or None
    layer, truncate = int(values["layer"]), bool(values["truncate"])

    def load() -> Any:
        progress("Starting PyTorch")
        from analysis.models.load import load
        from analysis.models.source import resolve

        return load(resolve(model, revision, progress), progress=progress)

    def run() -> Decomposition:
        loaded = models.get((model, revision), load)
        progress("Taking the attention apart")
        return probes.run(model, text, pair, layer, truncate=truncate, loaded=loaded)

    return results.get((model, revision, text, pair, layer, truncate), run)


def figure(name: str, values: Mapping[str, Any], made: Decomposition) -> Figure:
    """A figure of one decomposition."""
    return FIGURES[name].build(values, made)
