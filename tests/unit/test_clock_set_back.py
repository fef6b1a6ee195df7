"""The machine's clock is set back, or on: no limit opens, no deadline moves, and what is written is still found."""

import time
from collections.abc import Callable

import pytest

from analysis.core.errors import Busy, ProbeTimeout
from analysis.store import files
from analysis.store.read import query
from analysis.store.sync import sync
from dashboard.model_server.fair_queue import FairQueue
from dashboard.model_server.rate_limits import RateLimit
from dashboard.model_server.server import RunningRequest

DAY = 86_400.0


@pytest.fixture(params=[-DAY, DAY], ids=["back", "on"])
def set_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Sets the clock of the wall when called; the monotonic one goes on, as the system promises."""
    clock = time.time

    def turn() -> None:
        monkeypatch.setattr(time, "time", lambda: clock() + request.param)

    return turn


def test_who_has_used_up_a_minute_gets_no_other(set_clock: Callable[[], None]) -> None:
    rate = RateLimit(lambda: 1, "session")
    rate.count("a reader")
    set_clock()
    with pytest.raises(Busy, match=r"Try again in (59|60) s"):
        rate.check("a reader")


def test_a_deadline_stays_where_it_was(set_clock: Callable[[], None]) -> None:
    job = RunningRequest(object(), False, "a reader", FairQueue())  # type: ignore[arg-type]
    job.start(1)
    set_clock()
    job.check()
    assert job.deadline is not None
    job.deadline -= 2
    with pytest.raises(ProbeTimeout, match="more than 1 s"):
        job.check()


def test_results_written_on_both_sides_of_the_change_are_both_there(data, set_clock: Callable[[], None]) -> None:
    def write(name: str, value: float) -> None:
        columns = {column: [None] for column in files.KINDS["scores"].schema.names}
        columns |= {"variant": ["bert_a"], "preset": ["debug"], "task": ["rte"], "value": [value]}
        files.write("scores", columns, files.Run(kind="scores", command="made up", run_id=name), name=name)

    write("before", 0.25)
    sync({})
    set_clock()
    write("after", 0.5)
    assert sync({}).rebuilt
    assert set(query("SELECT value FROM scores").value) == {0.25, 0.5}
