"""Live probes: one owner of models and results. Models are loaded once, texts run one at a time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar

import streamlit as st

from analysis import probes
from analysis.figures import FIGURES, Figure
from analysis.image_probes import ImageRequest
from analysis.terms import Decomposition
from analysis.terms.picture import ImageDecomposition

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
        self._order = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under `key`, or what `make` gives; then the least recently asked for makes room."""
        # What is there is given at once: only those who need something made wait for one another.
        if (found := self._asked(key)) is not None:
            return found
        with self._turn:
            if (found := self._asked(key)) is not None:
                return found
            made = make()
            with self._order:
                self._made[key] = made
                while len(self._made) > self.most:
                    self._made.popitem(last=False)
            return made

    def _asked(self, key: Hashable) -> T | None:
        with self._order:
            if key in self._made:
                self._made.move_to_end(key)
            return self._made.get(key)


@st.cache_resource(show_spinner=False)
def _kept() -> tuple[Kept[Any], Kept[Decomposition], Kept[Decomposition]]:
    """Models, live results, and saved probes: reading one of these waits for no model."""
    return Kept(KEPT_MODELS), Kept(KEPT_PROBES), Kept(KEPT_PROBES)


def decomposition(values: Mapping[str, Any], progress: Callable[[str], None] = lambda _: None) -> Decomposition:
    """What a link's text and model give; a saved probe where the link names one (this needs no torch)."""
    read = _kept()[2]
    if probe_id := str(values.get("probe") or ""):
        return read.get(probe_id, lambda: probes.saved(probe_id))
    return _made(probes.Request.of(values), progress)


def of_image(
    values: Mapping[str, Any],
    uploaded: tuple[str, bytes] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ImageDecomposition:
    """What a link's model gives of its image, or of a file (name, bytes) that is in no link."""
    return _made(ImageRequest.of(values, uploaded), progress)


def _made(request: Any, progress: Callable[[str], None]) -> Any:
    models, results, _ = _kept()

    def load() -> Any:
        progress("Starting PyTorch")
        return request.load(progress)

    def run() -> Decomposition:
        loaded = models.get((request.model, request.revision), load)
        progress("Taking the attention apart")
        return request.run(loaded)

    return results.get(request, run)


def figure(name: str, values: Mapping[str, Any], made: Decomposition) -> Figure:
    """A figure of one decomposition."""
    return FIGURES[name].build(values, made)
