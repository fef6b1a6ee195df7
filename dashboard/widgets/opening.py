"""The first seconds of a server: the front page is shown from its file while the rest is prepared in the background.

Importing the libraries that draw and query takes seconds, and building the store where there is none takes longer.
Then PyTorch and the default model are loaded, and the default probe is run, before anybody asks for it.

A server for many readers does all of this before it lets the first one in (`prepare`): the imports would hold up every
page that is drawn meanwhile.
"""

import time
from contextlib import nullcontext
from threading import Event, Lock, Thread

import streamlit as st
from streamlit import runtime
from streamlit.runtime import Runtime

BEAT_SECONDS = 0.5
FIRST_SECONDS = 1.5
"""Wait at the start: a browser on the same machine needs the processor to draw the front page."""
PAUSE_SECONDS = 4.0
"""Wait between the store and the model: the reader may be opening another page just then."""

_lock = Lock()
_started: list[float] = []
_prepared, _building_store = Event(), Event()


def is_prepared() -> bool:
    """True if pages can be drawn without waiting; without a server each page prepares itself."""
    return _prepared.is_set() or not _is_served()


def _is_served() -> bool:
    """True if a server runs the page, and not Streamlit's AppTest, which has a stand-in for one."""
    return runtime.exists() and type(runtime.get_instance()) is Runtime


def begin() -> None:
    """Prepares the rest in the background, once in a process."""
    with _lock:
        if _started or not _is_served():
            return
        _started.append(time.monotonic())
    Thread(target=_prepare, name="opening", daemon=True).start()


def prepare() -> None:
    """Prepares everything, and returns when it is done. Called by a server before it answers anybody."""
    with _lock:
        _started.append(time.monotonic())
    _prepare_pages()
    _warm_up()


def _prepare() -> None:
    time.sleep(FIRST_SECONDS)
    _prepare_pages()
    time.sleep(PAUSE_SECONDS)
    _warm_up()


def _prepare_pages() -> None:
    """Imports the libraries that draw, and builds the store where it is not current."""
    from analysis.core.errors import AddendError

    try:
        from analysis import store_build
        from dashboard.widgets import only_figure  # noqa: F401  with it come the libraries that draw

        _building_store.set()
        store_build.refresh()
    except AddendError:
        return  # The page meets the same problem and reports it.
    finally:
        _prepared.set()


def _warm_up() -> None:
    """Loads PyTorch and the default model, and caches the result of the default probe."""
    from analysis.core import optional_dependencies
    from analysis.core.errors import AddendError
    from analysis.links import VIEWS
    from analysis.probes.text_probe import LayersRequest, TermsRequest
    from dashboard.session import live

    values = VIEWS["probe"].defaults()
    try:
        optional_dependencies.models_can_run()
        for kind in (TermsRequest, LayersRequest):
            live.shared().service.ask(kind.of(values), fetch=False, slot=nullcontext())
    except AddendError:
        return  # Whoever asks for it will see why it cannot be run.


@st.fragment(run_every=BEAT_SECONDS)
def progress() -> None:
    """A line that says what is being prepared; the page is redrawn when that is done."""
    if is_prepared():
        st.rerun()
    seconds = time.monotonic() - _started[0] if _started else 0.0
    activity = "the store of results is being built" if _building_store.is_set() else "the other pages are loading"
    st.caption(f"This is the stored answer; {activity} ({seconds:.0f} s).")
