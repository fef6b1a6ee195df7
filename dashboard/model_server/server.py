"""The one owner of models and results, shared by every session.

A request runs in a thread of its own: it finds the model's files (a hub may be slow, and nobody else waits for that),
queues for the device, loads the model where it is not cached, and runs. Whoever asks meanwhile for the very same waits
for the same run. A run that nobody waits for any more leaves the queue or, where it has begun, stops at the next module
of the model; so does one that takes too long. Failures are raised to those who waited and are not cached.

Models of strangers have a queue of their own, so that nobody else waits for what they take; `load` gives them processes
of their own, which can be ended at any moment.
"""

import gc
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

from analysis.core.errors import AddendError, Busy, NotEnoughMemory, ProbeTimeout
from dashboard.model_server.fair_queue import Cancelled, FairQueue, Ticket
from dashboard.model_server.results_cache import ResultsCache
from dashboard.model_server.sizes import bytes_of, model_bytes

BEAT_SECONDS = 0.2
"""Seconds between two reports of progress to a reader who waits; the reader may leave at each."""
MAX_SOURCES = 256
MB = 1_000_000

ProgressCallback = Callable[[str], None]


class LiveRequest(Hashable, Protocol):
    """A request of a reader to a model: it can be compared, and run on a loaded model."""

    head: ClassVar[bool]
    """True if the model is needed with its head."""

    def place(self) -> Hashable:
        """The model as the reader named it."""
        ...

    def find(self, progress: ProgressCallback, *, fetch: bool = True) -> Any:
        """The source of the model's files, with a name, a revision and `bytes`. fetch: true if it may be downloaded."""
        ...

    def load(self, progress: ProgressCallback, result: Any = None) -> Any:
        """The model of these files."""
        ...

    def run(self, loaded: Any) -> Any:
        """The result, computed with the loaded model."""
        ...


@dataclass(frozen=True)
class TimedResult:
    """A cached result, and how many seconds its run took."""

    result: Any
    seconds: float


class RunningRequest:
    """One running request, and how many wait for it."""

    def __init__(self, request: LiveRequest, fetch: bool, client: str, queue: FairQueue) -> None:
        self.request, self.fetch, self.client, self.queue = request, fetch, client, queue
        self.ticket, self.done = Ticket(), threading.Event()
        self.waiters = 0
        self.downloading = False
        self.cleanups: list[Callable[[], None]] = []
        """Called when the work ends, and not when whoever asked for it leaves."""
        self.message = "Starting" if "torch" in sys.modules else "Starting PyTorch"
        self.result: Any = None
        self.error: BaseException | None = None
        self.deadline: float | None = None
        self.limit = 0
        self.created = time.monotonic()

    def start(self, seconds: int) -> None:
        """Begins its turn and sets its deadline."""
        self.limit, self.deadline = seconds, time.monotonic() + seconds

    def check(self) -> None:
        """Raises Cancelled where nobody waits any more, ProbeTimeout where its time is over."""
        if self.ticket.left:
            raise Cancelled
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise ProbeTimeout(
                f"This took more than {self.limit} s, which is this server's limit (ADDEND_SECONDS). "
                "Shorten the text or choose a smaller model."
            )

    def report(self, message: str) -> None:
        """Stores the run's progress; a moment to stop, too."""
        self.message = message
        self.check()


class ModelServer:
    """Runs the requests of all sessions. Limits are functions, so that changed settings take effect.

    load: given a request, where its model's files are and a function that raises when the work is to stop, the model.
    run: given a request, the model and that function, the result. finish: applied to a result before others see it,
    still in turn. is_foreign: whether a model, by where its files are, is a stranger's. on_turn: called with a request
    and its seconds in the queue when its turn begins. client_downloads: the downloads that one client may have among
    `max_downloads`.
    """

    def __init__(
        self,
        *,
        models_mb: Callable[[], int],
        results_mb: Callable[[], int],
        seconds: Callable[[], int],
        max_jobs: Callable[[], int],
        max_downloads: Callable[[], int] = lambda: 20,
        client_downloads: Callable[[], int] = lambda: 20,
        load: Callable[[LiveRequest, Any, Callable[[], None]], Any] = lambda request, source, _: request.load(
            lambda _: None, source
        ),
        run: Callable[[LiveRequest, Any, Callable[[], None]], Any] = lambda request, loaded, _: request.run(loaded),
        finish: Callable[[Any], None] = lambda _: None,
        is_foreign: Callable[[Any], bool] = lambda _: False,
        on_turn: Callable[[LiveRequest, float], None] = lambda *_: None,
        size: Callable[[Any], int] = bytes_of,
        model_size: Callable[[Any], int] = model_bytes,
    ) -> None:
        self._seconds, self._max_jobs, self._on_turn, self._is_foreign = seconds, max_jobs, on_turn, is_foreign
        self._max_downloads, self._client_downloads = max_downloads, client_downloads
        self._load, self._run, self._finish = load, run, finish
        self.models: ResultsCache[Any] = ResultsCache(
            lambda: models_mb() * MB, model_size, on_evict=_free_memory, keep_newest=True
        )
        self.results: ResultsCache[TimedResult] = ResultsCache(
            lambda: results_mb() * MB, lambda result: size(result.result)
        )
        self.queue, self.foreign_queue = FairQueue(), FairQueue()
        self._lock = threading.Lock()
        self._jobs: dict[LiveRequest, RunningRequest] = {}
        self._running = 0
        self._downloads: Counter[str] = Counter()
        """The number of downloads of each client that are running."""
        self._sources: OrderedDict[Hashable, tuple[threading.Lock, list[Any]]] = OrderedDict()

    def ask(
        self,
        request: LiveRequest,
        progress: ProgressCallback = lambda _: None,
        *,
        fetch: bool = True,
        slot: AbstractContextManager[Any] | None = None,
        client: str = "",
    ) -> Any:
        """The result of a request: cached, or run now. `progress` is called while it waits, and may raise to leave.

        slot: entered first, and left when the work ends, even where whoever asked has left before. client: who asks,
        whose downloads are counted.
        Raises Busy where too many requests are running, ProbeTimeout, and what the run itself raises.
        """
        if (cached := self.results.get(request)) is not None:
            return cached.result
        with ExitStack() as stack:
            stack.enter_context(slot or nullcontext())
            job = self._join(request, fetch, client, stack)
        try:
            while not job.done.wait(BEAT_SECONDS):
                progress(self._status(job))
                if job.deadline is not None:
                    job.check()
        finally:
            self._leave(job)
        if job.error is not None:
            raise job.error
        return job.result

    def _join(self, request: LiveRequest, fetch: bool, client: str, stack: ExitStack) -> RunningRequest:
        with self._lock:
            job = self._jobs.get(request)
            if job is None or job.fetch != fetch:
                if self._running >= self._max_jobs():
                    raise Busy(
                        f"{self._running} probes are on their way, as many as this server takes at once. "
                        "Try again in a moment."
                    )
                job = self._jobs[request] = RunningRequest(request, fetch, client, self.queue)
                self._running += 1
                threading.Thread(target=self._work, args=(job,), daemon=True, name="probe").start()
            job.waiters += 1
            job.cleanups.append(stack.pop_all().close)
            return job

    def _leave(self, job: RunningRequest) -> None:
        with self._lock:
            job.waiters -= 1
            if job.waiters:
                return
            if self._jobs.get(job.request) is job:
                del self._jobs[job.request]
        job.queue.leave(job.ticket)

    def _status(self, job: RunningRequest) -> str:
        ahead = job.queue.ahead(job.ticket)
        return f"Waiting: {ahead} ahead of you" if ahead else job.message

    def _work(self, job: RunningRequest) -> None:
        try:
            try:
                result = self._find(job)
                if self._is_foreign(result):
                    job.queue = self.foreign_queue
                with job.queue.turn(job.ticket):
                    self._on_turn(job.request, time.monotonic() - job.created)
                    self._run_in_turn(job, result)
            except Cancelled as cancelled:
                job.error = cancelled
            except BaseException as error:  # noqa: BLE001 handed to those who wait; a panic of Rust is no Exception
                job.error = self._reader_error(error)
        finally:
            with self._lock:
                self._running -= 1
                if self._jobs.get(job.request) is job:
                    del self._jobs[job.request]
                cleanups, job.cleanups = job.cleanups, []
            for cleanup in cleanups:
                cleanup()
            job.done.set()

    def _run_in_turn(self, job: RunningRequest, result: Any) -> None:
        if (cached := self.results.get(job.request)) is not None:  # the same, asked with and without `fetch`
            job.result = cached.result
            return
        job.start(self._seconds())
        loaded = self._load_model(job, result)
        job.report("Taking the attention apart")
        started = time.monotonic()
        job.result = self._run(job.request, loaded, job.check)
        self._finish(job.result)
        if self._is_foreign(result):
            self.models.put((result.name, result.revision), loaded)  # whose process may have grown
        outcome = TimedResult(job.result, time.monotonic() - started)
        self.results.put(job.request, outcome, bytes_of(job.request))  # an uploaded image is part of what was asked

    def _find(self, job: RunningRequest) -> Any:
        key = job.request.place()
        with self._lock:
            lock, sources = self._sources.setdefault(key, (threading.Lock(), []))
            self._sources.move_to_end(key)
            while len(self._sources) > MAX_SOURCES:
                self._sources.popitem(last=False)
        while not lock.acquire(timeout=BEAT_SECONDS):  # of those who want one model, the first one fetches it
            job.check()
        try:
            job.check()
            # Files may change under their name: what was found holds for as long as the model is kept.
            if not sources or self.models.get((sources[0].name, sources[0].revision)) is None:
                try:
                    result = job.request.find(partial(self._report_download, job), fetch=job.fetch)
                except NotEnoughMemory:
                    self.models.clear()
                    result = job.request.find(partial(self._report_download, job), fetch=job.fetch)
                sources[:] = [result]
            return sources[0]
        finally:
            lock.release()
            self._end_download(job)

    def _report_download(self, job: RunningRequest, message: str) -> None:
        """Progress of a download: from the first report on, the job counts as a download and not as a probe."""
        with self._lock:
            if not job.downloading:
                if (running := self._downloads.total()) >= self._max_downloads():
                    raise Busy(
                        f"{running} downloads are on their way, as many as this server takes at once. "
                        "Try again in a few minutes."
                    )
                if (own := self._downloads[job.client]) >= self._client_downloads():
                    raise Busy(
                        f"{own} downloads of your network address are on their way, as many as this server takes of "
                        "one. Try again when one of them has ended."
                    )
                self._downloads[job.client] += 1
                job.downloading, self._running = True, self._running - 1
        job.report(message)

    def downloading(self) -> int:
        """The number of downloads that are running."""
        with self._lock:
            return self._downloads.total()

    def queue_lengths(self) -> tuple[int, int]:
        """The numbers of requests that wait and that run."""
        lengths = self.queue.length(), self.foreign_queue.length()
        return sum(waiting for waiting, _ in lengths), sum(running for _, running in lengths)

    def _end_download(self, job: RunningRequest) -> None:
        with self._lock:
            if job.downloading:
                job.downloading, self._running = False, self._running + 1
                self._downloads[job.client] -= 1
                self._downloads += Counter()  # drops clients without any

    def _load_model(self, job: RunningRequest, result: Any) -> Any:
        key, head = (result.name, result.revision), job.request.head
        cached = self.models.get(key)
        if cached is not None and cached.serves(head):
            return cached.with_head(head)
        self.models.drop(key)  # with its head it is the same model and more; both at once would be twice the memory
        self.models.make_room(result.bytes)
        job.report(f"Loading {result.name}")
        loaded = self._load(job.request, result, job.check)
        self.models.put(key, loaded)
        return loaded.with_head(head)

    def _reader_error(self, error: BaseException) -> Exception:
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
            self.models.clear()
            return AddendError("The device ran out of memory. Shorten the text or choose a smaller model.")
        if not isinstance(error, Exception):
            return AddendError(
                "A library that the model needs failed on this input. Change the text or choose another model."
            )
        return error


def _free_memory() -> None:
    """Frees memory, a GPU's too."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
