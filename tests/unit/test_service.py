"""Proves that the live probe service loads once, runs one at a time and in order, and forgets nobody.

Requests here are made of locks, so that each test says when a run begins and when it ends; nothing depends on how long
anything takes.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from analysis.core.errors import AddendError, Busy, NotEnoughMemory, ProbeTimeout
from dashboard.model_server import ModelServer, server
from dashboard.model_server.fair_queue import Cancelled, FairQueue, Ticket
from dashboard.model_server.rate_limits import MAX_CLIENTS, ConcurrencyLimit, RateLimit
from dashboard.model_server.results_cache import ResultsCache
from dashboard.model_server.server import MB
from dashboard.model_server.sizes import bytes_of, freeze

SECONDS = 10.0
"""How long a test waits for what must happen, before it fails."""


@dataclass(frozen=True)
class Found:
    name: str
    revision: str = "1"
    bytes: int = MB


@dataclass
class Model:
    name: str
    headed: bool
    size: int = MB

    def serves(self, head: bool) -> bool:
        return self.headed or not head

    def with_head(self, head: bool) -> "Model":
        return self if head else replace(self, headed=False)


@dataclass
class World:
    """What the requests of one test did, and when they may go on."""

    loads: list[str] = field(default_factory=list)
    finds: list[tuple[str, bool]] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    gates: dict[str, threading.Event] = field(default_factory=dict)
    begun: dict[str, threading.Event] = field(default_factory=dict)
    fails: dict[str, list[BaseException]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def gate(self, text: str) -> threading.Event:
        """Holds the run of a text until the event is set."""
        self.begun[text] = threading.Event()
        return self.gates.setdefault(text, threading.Event())


WORLD = World()


@dataclass(frozen=True)
class Ask:
    text: str
    model: str = "m"
    head: ClassVar[bool] = False

    def place(self) -> str:
        return self.model

    def find(self, progress: Callable[[str], None], *, fetch: bool = True) -> Found:
        WORLD.finds.append((self.model, fetch))
        if failures := WORLD.fails.get(f"find {self.model}"):
            raise failures.pop(0)
        return Found(self.model.split("@")[0], bytes=WORLD.sizes.get(self.model, MB))

    def load(self, progress: Callable[[str], None], found: Any = None) -> Model:
        WORLD.loads.append(found.name)
        return Model(found.name, self.head, found.bytes)

    def run(self, loaded: Model) -> Any:
        with WORLD.lock:
            WORLD.at_once += 1
            WORLD.most_at_once = max(WORLD.most_at_once, WORLD.at_once)
        try:
            WORLD.runs.append(self.text)
            if self.text in WORLD.gates:
                WORLD.begun[self.text].set()
                while not WORLD.gates[self.text].wait(0.01):
                    CHECK[0]()
            if failures := WORLD.fails.get(self.text):
                raise failures.pop(0)
            return np.full(10, hash((self.text, loaded.name)) % 1000)
        finally:
            with WORLD.lock:
                WORLD.at_once -= 1


class AskHead(Ask):
    head: ClassVar[bool] = True


CHECK: list[Callable[[], None]] = [lambda: None]


def run(request: Ask, loaded: Model, check: Callable[[], None]) -> Any:
    """Runs a request, which looks at the check as torch's hooks do in the product."""
    CHECK[0] = check
    try:
        return request.run(loaded)
    finally:
        CHECK[0] = lambda: None


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Who waits is told every hundredth of a second, and may leave then."""
    monkeypatch.setattr(server, "BEAT_SECONDS", 0.01)
    WORLD.__init__()
    return WORLD


def service(**limits: Any) -> ModelServer:
    given = {"models_mb": 2, "results_mb": 1, "seconds": 60, "max_jobs": 20} | limits
    return ModelServer(
        **{name: lambda value=value: value for name, value in given.items()},
        run=run,
        model_size=lambda model: model.size,
    )


class Reader(threading.Thread):
    """Somebody who asks, in a thread; leaves when told to."""

    def __init__(self, ours: ModelServer, request: Any, **more: Any) -> None:
        super().__init__(daemon=True)
        self.ours, self.request, self.more = ours, request, more
        self.told: list[str] = []
        self.leave = threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self.result = self.ours.ask(self.request, self.tell, **self.more)
        except BaseException as error:  # noqa: BLE001  looked at by the test
            self.error = error

    def tell(self, message: str) -> None:
        self.told.append(message)
        if self.leave.is_set():
            raise KeyboardInterrupt  # as Streamlit's own are, no Exception

    def ends(self) -> "Reader":
        self.join(SECONDS)
        assert not self.is_alive()
        return self


def until(true: Callable[[], Any]) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline, "this did not happen"
        time.sleep(0.005)


def waiting(ours: ModelServer, most: int) -> None:
    until(lambda: ours.queue.length() == (most, 1))


# Order and turns ---------------------------------------------------------------------------------------------


def test_one_runs_at_a_time_in_the_order_in_which_they_came(world):
    ours, gate = service(), world.gate("0")
    readers = [Reader(ours, Ask("0"))]
    world.begun["0"].wait(SECONDS)
    for number in range(1, 6):
        readers.append(Reader(ours, Ask(str(number))))
        waiting(ours, number)
    gate.set()
    for reader in readers:
        assert reader.ends().error is None
    assert world.runs == [str(number) for number in range(6)]
    assert world.most_at_once == 1


def test_each_who_waits_is_told_how_many_are_ahead(world):
    ours, gate = service(), world.gate("first")
    first = Reader(ours, Ask("first"))
    world.begun["first"].wait(SECONDS)
    second = Reader(ours, Ask("second"))
    waiting(ours, 1)
    third = Reader(ours, Ask("third"))
    until(lambda: "Waiting: 1 ahead of you" in second.told and "Waiting: 2 ahead of you" in third.told)
    assert not any("ahead" in message for message in first.told)
    second.leave.set()
    until(lambda: third.told[-1] == "Waiting: 1 ahead of you")
    gate.set()
    first.ends(), third.ends()
    assert world.runs == ["first", "third"]


def test_who_leaves_the_line_is_not_run_and_not_waited_for(world):
    ours, gate = service(), world.gate("first")
    first = Reader(ours, Ask("first"))
    world.begun["first"].wait(SECONDS)
    left = Reader(ours, Ask("left"))
    waiting(ours, 1)
    stays = Reader(ours, Ask("stays"))
    waiting(ours, 2)
    left.leave.set()
    assert isinstance(left.ends().error, KeyboardInterrupt)
    waiting(ours, 1)
    gate.set()
    assert stays.ends().error is None
    first.ends()
    assert world.runs == ["first", "stays"]


def test_a_run_that_nobody_waits_for_stops_on_its_way(world):
    ours = service()
    world.gate("long")
    left = Reader(ours, Ask("long"))
    world.begun["long"].wait(SECONDS)
    left.leave.set()
    left.ends()
    until(lambda: ours.queue.length() == (0, 0))
    assert ours.results.contents() == []
    assert Reader(ours, Ask("next")).ends().error is None


def test_a_run_that_another_still_waits_for_goes_on(world):
    ours, gate = service(), world.gate("same")
    left, stays = Reader(ours, Ask("same")), Reader(ours, Ask("same"))
    world.begun["same"].wait(SECONDS)
    until(lambda: stays.told and left.told)
    left.leave.set()
    left.ends()
    gate.set()
    assert stays.ends().result is not None
    assert world.runs == ["same"]


def test_a_run_over_its_time_is_told_and_stops_and_the_next_is_served(world):
    ours = service(seconds=1)
    world.gate("endless")
    slow = Reader(ours, Ask("endless"))
    world.begun["endless"].wait(SECONDS)
    quick = Reader(ours, Ask("quick"))
    assert isinstance(slow.ends().error, ProbeTimeout)
    assert "more than 1 s" in str(slow.error)
    assert quick.ends().error is None


def test_the_time_limit_does_not_count_waiting(world):
    ours, gate = service(seconds=1), world.gate("a")
    world.gates["b"] = threading.Event()
    world.gates["b"].set()
    world.begun["b"] = threading.Event()
    first = Reader(ours, Ask("a"))
    world.begun["a"].wait(SECONDS)
    second = Reader(ours, Ask("b"))
    first.ends()  # over its time
    assert second.ends().error is None
    gate.set()


def test_more_than_the_line_takes_are_sent_away_with_a_sentence(world):
    ours, gate = service(max_jobs=2), world.gate("a")
    first = Reader(ours, Ask("a"))
    world.begun["a"].wait(SECONDS)
    second = Reader(ours, Ask("b"))  # after the first has begun, or it might come before it
    waiting(ours, 1)
    third = Reader(ours, Ask("c")).ends()
    assert isinstance(third.error, Busy)
    assert "2 probes are on their way" in str(third.error)
    joins = Reader(ours, Ask("b"))  # the same as another's needs no place
    gate.set()
    for reader in (first, second, joins):
        assert reader.ends().error is None
    assert Reader(ours, Ask("c")).ends().error is None


# Downloads -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Download(Ask):
    """A model that a hub sends slowly: every piece is told, and nothing else is listened to."""

    def find(self, progress: Callable[[str], None], *, fetch: bool = True) -> Found:
        while not WORLD.gates[self.model].is_set():
            progress("Downloading")
            time.sleep(0.005)
        return Found(self.model)


def test_downloads_take_no_place_of_a_probe(world):
    ours, gate = service(max_jobs=2, max_downloads=3), world.gate("slow")
    for number in range(4):
        world.gates[f"slow {number}"] = gate
    readers = []
    for number in range(3):
        readers.append(Reader(ours, Download(str(number), model=f"slow {number}")))
        until(lambda: ours.downloading() == len(readers))
    assert Reader(ours, Ask("embedded")).ends().error is None
    late = Reader(ours, Download("3", model="slow 3")).ends()
    assert isinstance(late.error, Busy)
    assert "3 downloads are on their way" in str(late.error)
    gate.set()
    for reader in readers:
        assert reader.ends().error is None
    until(lambda: ours.downloading() == 0)


def test_one_client_has_a_share_of_the_downloads(world):
    """Four tabs of one address on a slow hub held the lane for ten minutes."""
    ours, gate = service(max_downloads=4, client_downloads=2), world.gate("slow")
    for number in range(5):
        world.gates[f"slow {number}"] = gate
    readers = []
    for number in range(2):
        readers.append(Reader(ours, Download(str(number), model=f"slow {number}"), client="203.0.113.7"))
        until(lambda: ours.downloading() == len(readers))
    third = Reader(ours, Download("2", model="slow 2"), client="203.0.113.7").ends()
    assert isinstance(third.error, Busy)
    assert "2 downloads of your network address are on their way" in str(third.error)
    other = Reader(ours, Download("3", model="slow 3"), client="203.0.113.8")
    until(lambda: ours.downloading() == 3)
    gate.set()
    for reader in (*readers, other):
        assert reader.ends().error is None
    assert Reader(ours, Download("4", model="slow 4"), client="203.0.113.7").ends().error is None
    assert not ours._downloads


def test_a_strangers_model_keeps_nobody_waiting_but_those_who_want_one(world):
    ours, gate = service(), world.gate("long")
    ours._is_foreign = lambda source: source.name.startswith("stranger")
    first = Reader(ours, Ask("long", "stranger a"))
    world.begun["long"].wait(SECONDS)
    second = Reader(ours, Ask("next", "stranger b"))
    until(lambda: "Waiting: 1 ahead of you" in second.told)
    assert Reader(ours, Ask("own", "ours")).ends().error is None
    assert ours.queue_lengths() == (1, 1)
    gate.set()
    assert first.ends().error is second.ends().error is None
    assert world.runs == ["long", "own", "next"]


def test_who_presses_download_and_leaves_holds_nothing(world):
    """Twenty sessions of one address did, and every probe of everybody was refused for minutes."""
    ours = service(max_jobs=20, max_downloads=4)
    places = ConcurrencyLimit(lambda: 10, "network address")
    for number in range(20):
        world.gate(f"m{number}")
        reader = Reader(ours, Download(str(number), model=f"m{number}"), slot=places.slot("203.0.113.7"))
        until(lambda reader=reader: reader.told or reader.error)
        reader.leave.set()
        reader.ends()
    assert Reader(ours, Ask("embedded")).ends().error is None, "nobody else is refused"
    until(lambda: ours.downloading() == 0)
    until(lambda: places._active["203.0.113.7"] == 0)


class Stuck(Ask):
    """A model that takes its time to be found, and listens to nobody meanwhile."""

    def find(self, progress: Callable[[str], None], *, fetch: bool = True) -> Found:
        WORLD.begun[self.text].set()
        WORLD.gates[self.text].wait(SECONDS)
        return Found(self.model)


def test_a_place_is_held_until_the_work_ends(world):
    """Who leaves cannot start another of the same cost at once: work that cannot be stopped goes on."""
    ours, gate = service(), world.gate("long")
    places = ConcurrencyLimit(lambda: 1, "network address")
    reader = Reader(ours, Stuck("long", model="slow"), slot=places.slot("a"))
    world.begun["long"].wait(SECONDS)
    reader.leave.set()
    reader.ends()
    assert places._active["a"] == 1
    refused = Reader(ours, Ask("next"), slot=places.slot("a")).ends()
    assert isinstance(refused.error, Busy)
    gate.set()
    until(lambda: places._active["a"] == 0)
    assert Reader(ours, Ask("next"), slot=places.slot("a")).ends().error is None


# Once ----------------------------------------------------------------------------------------------------------


def test_the_same_asked_by_many_at_once_is_run_once_and_then_kept(world):
    ours, gate = service(), world.gate("same")
    readers = [Reader(ours, Ask("same")) for _ in range(8)]
    until(lambda: all(reader.told for reader in readers))
    gate.set()
    results = [reader.ends().result for reader in readers]
    assert all(result is results[0] for result in results)
    assert ours.ask(Ask("same")) is results[0]
    assert world.runs == ["same"]


def test_a_model_that_many_ask_for_at_once_is_loaded_once(world):
    ours = service()
    readers = [Reader(ours, Ask(str(number))) for number in range(10)]
    assert all(reader.ends().error is None for reader in readers)
    assert world.loads == ["m"]


def test_two_names_of_one_model_are_one_model(world):
    ours = service()
    ours.ask(Ask("a", "m@main"))
    ours.ask(Ask("a", "m@v1"))
    assert world.loads == ["m"]


def test_a_model_with_its_head_serves_both_and_takes_the_place_of_the_one_without(world):
    ours = service()
    ours.ask(Ask("a"))
    ours.ask(AskHead("a"))
    assert world.loads == ["m", "m"]
    assert len(ours.models.contents()) == 1
    ours.ask(Ask("b"))
    ours.ask(AskHead("b"))
    assert world.loads == ["m", "m"]


def test_files_are_looked_for_again_when_the_model_has_gone(world):
    ours = service(models_mb=1)
    ours.ask(Ask("a", "one"))
    ours.ask(Ask("b", "one"))
    ours.ask(Ask("a", "two"))
    ours.ask(Ask("c", "one"))
    assert [name for name, _ in world.finds] == ["one", "two", "one"]


# Bytes -----------------------------------------------------------------------------------------------------------


def test_models_are_kept_within_a_bound_of_bytes_the_least_recently_asked_goes(world):
    ours = service(models_mb=2)
    for model in ("a", "b", "a", "c"):
        ours.ask(Ask(f"{model} {len(world.runs)}", model))
    assert [key for key, _ in ours.models.contents()] == [("a", "1"), ("c", "1")]
    assert ours.models.bytes == 2 * MB


def test_room_is_made_before_a_model_is_loaded(world, monkeypatch):
    ours = service(models_mb=2)
    ours.ask(Ask("x", "a")), ours.ask(Ask("x", "b"))
    held: list[int] = []
    load = Ask.load
    monkeypatch.setattr(Ask, "load", lambda self, *given: (held.append(ours.models.bytes), load(self, *given))[1])
    world.sizes["c"] = 2 * MB
    ours.ask(Ask("x", "c"))
    assert held == [0]


def test_a_model_larger_than_the_bound_stays_until_the_next(world):
    ours = service(models_mb=2)
    world.sizes["huge"] = 9 * MB
    ours.ask(Ask("a", "huge")), ours.ask(Ask("b", "huge"))
    assert world.loads == ["huge"]
    ours.ask(Ask("a", "small"))
    assert [key for key, _ in ours.models.contents()] == [("small", "1")]


def test_results_are_kept_within_a_bound_of_bytes():
    kept: ResultsCache[np.ndarray] = ResultsCache(lambda: 300, lambda value: value.nbytes)
    for number in range(4):
        kept.put(number, np.zeros(100, dtype=np.uint8))
        kept.get(0)
    assert [key for key, _ in kept.contents()] == [2, 0, 3] or [key for key, _ in kept.contents()] == [2, 3, 0]
    kept.put("huge", np.zeros(301, dtype=np.uint8))
    assert kept.get("huge") is None
    assert len(kept.contents()) == 3
    kept.put(0, np.zeros(100, dtype=np.uint8))  # once more under a key: counted once
    assert kept.bytes == 300


def test_bytes_of_a_result_are_those_of_its_arrays_each_counted_once():
    array = np.zeros(1000)
    result = {"a": array, "b": [array, Found("x" * 500)], "c": {"d": (np.zeros(10, dtype=np.float32),)}}
    assert 8040 + 500 < bytes_of(result) < 8040 + 800


def test_no_session_can_change_what_another_is_shown(world):
    ours = ModelServer(
        models_mb=lambda: 2, results_mb=lambda: 1, seconds=lambda: 9, max_jobs=lambda: 9, finish=freeze,
        model_size=lambda model: model.size,
    )  # fmt: skip
    with pytest.raises(ValueError, match="read-only"):
        ours.ask(Ask("shared"))[0] = 1


# What fails ----------------------------------------------------------------------------------------------------


def test_a_failure_is_told_to_those_who_asked_leaves_the_others_and_is_not_kept(world):
    ours, gate = service(), world.gate("bad")
    world.fails["bad"] = [AddendError("The text is bad.")]
    bad, same = Reader(ours, Ask("bad")), Reader(ours, Ask("bad"))
    world.begun["bad"].wait(SECONDS)
    good = Reader(ours, Ask("good"))
    until(lambda: bad.told and same.told)
    gate.set()
    assert [str(reader.ends().error) for reader in (bad, same)] == ["The text is bad."] * 2
    assert good.ends().error is None
    assert ours.ask(Ask("bad")) is not None


def test_a_model_that_is_not_found_is_looked_for_again(world):
    ours = service()
    world.fails["find m"] = [AddendError("No network.")]
    with pytest.raises(AddendError, match="No network"):
        ours.ask(Ask("a"))
    assert ours.ask(Ask("a")) is not None


def test_where_memory_is_short_what_is_kept_goes_first(world):
    ours = service()
    ours.ask(Ask("a", "old"))
    world.fails["find new"] = [NotEnoughMemory("No memory.")]
    ours.ask(Ask("a", "new"))
    assert [key for key, _ in ours.models.contents()] == [("new", "1")]


def test_a_device_out_of_memory_is_a_sentence_and_frees_the_models(world):
    ours = service()
    world.fails["a"] = [MemoryError()]
    with pytest.raises(AddendError, match="ran out of memory"):
        ours.ask(Ask("a"))
    assert ours.models.contents() == []


def test_whether_a_download_is_allowed_is_not_shared(world):
    ours = service()
    ours.ask(Ask("a", "x"), fetch=False)
    ours.ask(Ask("a", "y"), fetch=True)
    assert world.finds == [("x", False), ("y", True)]


def test_what_is_no_exception_is_told_all_the_same(world):
    """Rust's panics, which tokenizers raise, derive from BaseException alone."""

    class Panic(BaseException):
        pass

    ours = service()
    world.fails["find m"] = [Panic("quotes a text")]
    with pytest.raises(AddendError, match="A library that the model needs failed on this input"):
        ours.ask(Ask("a"))
    assert ours.ask(Ask("a")) is not None


# The parts -------------------------------------------------------------------------------------------------------


def test_a_turn_that_fails_is_over_and_a_ticket_that_left_gets_none():
    line, left = FairQueue(), Ticket()
    with pytest.raises(RuntimeError), line.turn(Ticket()):
        raise RuntimeError
    line.leave(left)
    with pytest.raises(Cancelled), line.turn(left):
        pytest.fail("it was served")
    with line.turn(Ticket()):
        assert line.length() == (0, 1)


def test_rates_count_a_minute_and_each_asker_for_himself():
    now = [0.0]
    rate = RateLimit(lambda: 2, "session", clock=lambda: now[0])
    for who in ("a", "a", "b"):
        rate.check(who)
        rate.count(who)
    with pytest.raises(Busy, match=r"2 probes per minute from one session\. Try again in 60 s"):
        rate.check("a")
    rate.check("b")
    now[0] = 59.5
    with pytest.raises(Busy, match="in 1 s"):
        rate.check("a")
    now[0] = 60.5
    rate.check("a")


def test_one_address_has_no_more_than_its_share_of_the_line():
    share = ConcurrencyLimit(lambda: 2, "network address")
    with share.slot("a"), share.slot("a"):
        with pytest.raises(Busy, match="2 probes of your network address are on their way"), share.slot("a"):
            pytest.fail("it was let in")
        with share.slot("b"):
            pass
    with pytest.raises(RuntimeError), share.slot("a"):
        raise RuntimeError
    with share.slot("a"), share.slot("a"):
        assert list(share._active) == ["a"]
    assert not share._active


def test_rates_remember_no_more_than_so_many():
    rate = RateLimit(lambda: 1, "address")
    for number in range(MAX_CLIENTS + 50):
        rate.count(str(number))
    assert len(rate._request_times) == MAX_CLIENTS
    rate.check("0")  # forgotten
    with pytest.raises(Busy):
        rate.check(str(MAX_CLIENTS + 49))


def test_what_was_uploaded_counts_towards_the_bound(world):
    ours = service(results_mb=1)
    ours.ask(Ask("x" * 600_000))
    assert ours.results.bytes > 600_000
    ours.ask(Ask("y" * 600_000))
    assert len(ours.results.contents()) == 1


def test_what_a_probe_waited_is_told_when_its_turn_begins(world):
    waited: list[tuple[str, float]] = []
    ours = ModelServer(
        models_mb=lambda: 2,
        results_mb=lambda: 1,
        seconds=lambda: 60,
        max_jobs=lambda: 20,
        run=run,
        model_size=lambda model: model.size,
        on_turn=lambda request, seconds: waited.append((request.text, seconds)),
    )
    gate = world.gate("first")
    first = Reader(ours, Ask("first"))
    until(world.begun["first"].is_set)
    second = Reader(ours, Ask("second"))
    waiting(ours, 1)
    in_line = time.monotonic()
    assert [text for text, _ in waited] == ["first"]
    gate.set()
    at_least = time.monotonic() - in_line
    first.ends()
    second.ends()
    assert [text for text, _ in waited] == ["first", "second"]
    assert waited[1][1] >= at_least
