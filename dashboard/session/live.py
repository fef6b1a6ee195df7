"""Live probes: a session's requests to the server of models and results, within its limits."""

import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from analysis.core import optional_dependencies, settings
from analysis.core.errors import ModelNotDownloaded, ProbeStopped
from analysis.figures import FIGURES, Figure
from analysis.measurements.terms import Decomposition
from analysis.measurements.terms.image_result import ImageDecomposition
from analysis.probes import opening_results, saved_probes, text_probe
from analysis.probes.image_probe import ImageRequest
from analysis.probes.model_request import ModelRequest
from dashboard.hosting import log
from dashboard.hosting.addresses import client_network
from dashboard.model_server import LiveRequest, ModelServer, loading
from dashboard.model_server.rate_limits import ConcurrencyLimit, RateLimit
from dashboard.model_server.results_cache import ResultsCache
from dashboard.model_server.server import MB
from dashboard.model_server.sizes import bytes_of, freeze
from dashboard.session.markdown_escape import escape_markdown

PRESSED = "live.pressed"
"""The key in a session's state of the models whose download its reader requested."""
STOPPED = "live.stopped"
"""The key in a session's state of the requests that its reader stopped."""
ANSWERED = "live.asked"
"""The key in a session's state of the hashes of the requests that were answered."""
STOP_SECONDS = 1.0
"""Seconds after which a button to stop is offered."""


@dataclass(frozen=True)
class SharedServer:
    """The model server, limits and caches that all sessions share."""

    service: ModelServer
    sessions: RateLimit
    addresses: RateLimit
    slots: ConcurrencyLimit
    """The limit on the places in the queue of one address: at most half of them."""
    saved: ResultsCache[Decomposition]
    """Saved probes, which need no model."""


def _finish(result: Any) -> None:
    """Computes what every page shows while the device is ours, and makes the result read-only."""
    text_probe.compute_measures(result)
    freeze(result)


_number = settings.number


def _half(name: str) -> int:
    """The share of a setting that one network address may have."""
    return max(1, _number(name) // 2)


_SHARED = SharedServer(
    service=ModelServer(
        models_mb=partial(_number, "ADDEND_MODELS_MB"),
        results_mb=partial(_number, "ADDEND_RESULTS_MB"),
        seconds=partial(_number, "ADDEND_SECONDS"),
        max_jobs=partial(_number, "ADDEND_QUEUE"),
        max_downloads=partial(_number, "ADDEND_DOWNLOADS"),
        client_downloads=lambda: _number("ADDEND_DOWNLOADS") if not settings.hosted() else _half("ADDEND_DOWNLOADS"),
        load=loading.load,
        run=loading.run,
        finish=_finish,
        is_foreign=loading.is_foreign,
        model_size=loading.size,
        on_turn=lambda request, seconds: log.log_event(
            "turn", request=type(request).__name__, waited=round(seconds, 3)
        ),
    ),
    sessions=RateLimit(partial(_number, "ADDEND_PROBES_A_MINUTE"), "session"),
    addresses=RateLimit(partial(_number, "ADDEND_PROBES_A_MINUTE_ADDRESS"), "network address"),
    slots=ConcurrencyLimit(lambda: _half("ADDEND_QUEUE"), "network address"),
    saved=ResultsCache(lambda: _number("ADDEND_RESULTS_MB") * MB, bytes_of),
)


def shared() -> SharedServer:
    """The one of this process. It is not in Streamlit's cache, which any browser may ask to clear."""
    return _SHARED


def image_decomposition(
    values: Mapping[str, Any], uploaded: tuple[str, bytes] | None = None, progress: Callable[[str], None] | None = None
) -> ImageDecomposition:
    """A link's model run on its image, or on an uploaded file (name, bytes); the stored result where there is one."""
    request = ImageRequest.of(values, uploaded)
    if (stored := request.stored()) is not None:
        freeze(stored)
        return stored
    return run_request(request, progress)


def run_request(request: LiveRequest, progress: Callable[[str], None] | None = None) -> Any:
    """The result of a request, from memory where it was requested before.

    progress: called with what is waited for. Raises what the service raises, NotInstalled without PyTorch, and Busy
    where this session or its address asks too often.

    On a hosted server, what another reader requested before takes as long as its run took and counts as one probe of
    the session: else whoever guesses a text could tell by the time, or by the count, that somebody requested it.
    """
    if (cached := opening_result(request)) is not None:
        return cached
    optional_dependencies.models_can_run()
    service = shared().service
    requested: set[int] = st.session_state.setdefault(ANSWERED, set())
    if (cached := service.results.get(request)) is not None:
        if settings.hosted() and hash(request) not in requested:
            shared().sessions.check(session_id())
            shared().sessions.count(session_id())
            time.sleep(cached.seconds)
            requested.add(hash(request))
        return cached.result
    if request in st.session_state.get(STOPPED, ()):
        stopped = ProbeStopped("You stopped this, so there is nothing to show yet.")
        stopped.request = request
        raise stopped
    _count_probe()
    note = st.empty()
    slot = shared().slots.slot(client_address()) if settings.hosted() else nullcontext()
    with log.timed("probe", request=type(request).__name__) as facts:
        download_requested = request.place() in st.session_state.get(PRESSED, ())
        try:
            fetch = download_requested or not settings.hosted()
            result = service.ask(
                request,
                _progress_callback(request, note, progress),
                fetch=fetch,
                slot=slot,
                client=client_address(),
            )
        except ModelNotDownloaded as error:
            error.place = request.place()
            raise
        finally:
            note.empty()
        requested.add(hash(request))
        facts["tokens"] = len(getattr(result, "token_info", ())) or None
    return result


def opening_result(request: LiveRequest) -> Any:
    """The stored result of a request that a tab of Look inside opens with; None for every other request."""
    stored = opening_results.stored_result(request) if isinstance(request, ModelRequest) else None
    freeze(stored)
    return stored


def _progress_callback(
    request: LiveRequest, note: Any, progress: Callable[[str], None] | None
) -> Callable[[str], None]:
    """Shows the progress, and offers to stop once that has taken a while.

    It is called again and again though nothing changes: these are the moments at which Streamlit ends a page that its
    reader left or stopped, which then leaves the queue.
    """
    started = time.monotonic()
    captions: list[Any] = []

    def stop() -> None:
        st.session_state.setdefault(STOPPED, set()).add(request)

    def report(message: str) -> None:
        if progress:
            progress(message)
        if not captions and time.monotonic() - started > STOP_SECONDS:
            row = note.container(horizontal=True, vertical_alignment="center")
            row.button("Stop", icon=":material/stop_circle:", on_click=stop, key=f"live.stop.{hash(request)}")
            captions.append(row.empty())
        if not progress:
            (captions[0] if captions else note).caption(escape_markdown(message))

    return report


def progress_reporter(status: Any) -> Callable[[str], None]:
    """Shows progress in a status box, which opens once there is something to press in it."""
    started = time.monotonic()

    def report(message: str) -> None:
        status.update(label=escape_markdown(message), expanded=time.monotonic() - started > STOP_SECONDS)

    return report


def resume_button(stopped: ProbeStopped) -> None:
    """The button that runs a stopped request after all."""

    def press() -> None:
        st.session_state[STOPPED].discard(stopped.request)

    st.button("Go on", icon=":material/play_arrow:", on_click=press, key=f"live.on.{hash(stopped.request)}")


def folder_hint() -> str:
    """The part of a form's help on models in folders, where this server opens them."""
    return "" if settings.hosted() else "a folder on this machine, "


def download_button(error: ModelNotDownloaded) -> None:
    """The button that fetches a model: opening a link does not."""

    def press() -> None:
        st.session_state.setdefault(PRESSED, set()).add(error.place)

    st.button("Download", icon=":material/download:", on_click=press, key=f"live.download.{hash(error.place)}")


def session_id() -> str:
    """A random name of this session."""
    return st.session_state.setdefault("live.session", uuid.uuid4().hex)


def _count_probe() -> None:
    """Counts a probe of this session and of its address. Raises Busy where either has too many."""
    limits, session_name, client = shared(), session_id(), client_address()
    limits.sessions.check(session_name)
    limits.addresses.check(client)
    limits.sessions.count(session_name)
    limits.addresses.count(client)


def client_address() -> str:
    """The reader's network address: the connection's, or what the trusted proxies say. Of IPv6, the network."""
    forwarded = ",".join(st.context.headers.get_all("X-Forwarded-For"))
    return client_network(st.context.ip_address or "", forwarded, settings.number("ADDEND_PROXIES"))


def decomposition(values: Mapping[str, Any], progress: Callable[[str], None] | None = None) -> Decomposition:
    """A link's model run on its text; a saved probe where the link names one, which needs no torch."""
    probe_id = str(values.get("probe") or "")
    if not probe_id:
        return run_request(text_probe.TermsRequest.of(values), progress)
    if (result := shared().saved.get(probe_id)) is None:
        result = saved_probes.read(probe_id)
        model = result.provenance.model
        if settings.hosted() and model.startswith(("/", "~")):  # a folder of its owner's
            result = replace(result, provenance=replace(result.provenance, model=Path(model).name))
        freeze(result)
        shared().saved.put(probe_id, result)
    return result


def figure(name: str, values: Mapping[str, Any], run: Any) -> Figure:
    """A figure of one run."""
    return FIGURES[name].of(values, run)
