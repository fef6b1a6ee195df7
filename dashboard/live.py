"""Live probes: one owner of models and results. Models are loaded once, texts run one at a time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

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


class Live(Hashable, Protocol):
    """What a reader asks of a model: it can be compared, and run on a loaded model."""

    head: ClassVar[bool]
    """Whether the model is wanted with its head."""

    @property
    def model(self) -> str:
        """The model's name, as `analysis.models.source.resolve` takes it."""
        ...

    @property
    def revision(self) -> str | None:
        """A branch, tag or commit, on a hub."""
        ...

    def load(self, progress: Callable[[str], None]) -> Any:
        """The model."""
        ...

    def run(self, loaded: Any) -> Any:
        """What is asked, of the loaded model."""
        ...


@st.cache_resource(show_spinner=False)
def _kept() -> tuple[Kept[Any], Kept[Any], Kept[Decomposition]]:
    """Models, live results, and saved probes: reading one of these waits for no model."""
    return Kept(KEPT_MODELS), Kept(KEPT_PROBES), Kept(KEPT_PROBES)


def of_image(
    values: Mapping[str, Any],
    uploaded: tuple[str, bytes] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ImageDecomposition:
    """What a link's model gives of its image, or of a file (name, bytes) that is in no link."""
    return made(ImageRequest.of(values, uploaded), progress)


def made(request: Live, progress: Callable[[str], None] = lambda _: None) -> Any:
    """What a request gives, from memory where it was asked before."""
    models, results, _ = _kept()

    def load() -> Any:
        progress("Starting PyTorch")
        return request.load(progress)

    def run() -> Any:
        loaded = models.get((request.model, request.revision, request.head), load)
        progress("Taking the attention apart")
        return request.run(loaded)

    return results.get(request, run)


def decomposition(values: Mapping[str, Any], progress: Callable[[str], None] = lambda _: None) -> Decomposition:
    """What a link's text and model give; a saved probe where the link names one (this needs no torch)."""
    if probe_id := str(values.get("probe") or ""):
        return _kept()[2].get(probe_id, lambda: probes.saved(probe_id))
    return made(probes.Request.of(values), progress)


def figure(name: str, values: Mapping[str, Any], run: Any) -> Figure:
    """A figure of one run."""
    return FIGURES[name].build(values, run)
