"""Proves that each answer of the hosted server carries its security headers, and what it holds back of what Streamlit
would take of browsers: messages that reach into other sessions, and more uploads than there is memory for."""

import asyncio
import time
import tomllib
from contextlib import ExitStack, suppress
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from anyio.from_thread import start_blocking_portal
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

import dashboard.server
from dashboard.hosting import guards
from dashboard.hosting.addresses import client_network
from dashboard.model_server import foreign_models
from dashboard.server import POLICY, Guarded, prepared
from dashboard.session import live, query_quota
from dashboard.widgets import opening


async def page(_):
    return PlainTextResponse("here", headers={"X-Frame-Options": "ALLOWALL", "X-Own": "1"})


async def socket(connection):
    await connection.accept()
    await connection.send_text("open")
    with suppress(WebSocketDisconnect):
        while True:
            await connection.send_bytes(await connection.receive_bytes())


@pytest.fixture
def client():
    routes = [Route("/", page), Route("/_stcore/metrics", page), WebSocketRoute("/stream", socket)]
    with TestClient(Starlette(routes=routes, middleware=[Middleware(Guarded)])) as client:
        yield client


def test_every_answer_carries_them_and_ours_win(client):
    for path in ("/", "/none"):
        given = client.get(path).headers
        assert given["x-content-type-options"] == "nosniff"
        assert given["x-frame-options"] == "DENY"
        assert given["referrer-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in given["content-security-policy"]
    assert client.get("/").headers["x-own"] == "1"


def test_nothing_is_fetched_from_elsewhere():
    assert not any("http" in value or "*" in value for value in POLICY.values())
    assert POLICY["default-src"] == "'self'"
    assert POLICY["connect-src"] == "'self'", "a text that got itself shown as HTML could tell nobody of it"


def test_the_public_address_is_the_one_host_that_is_named(monkeypatch):
    monkeypatch.setenv("ADDEND_PUBLIC_URL", "https://addend.example.org/lab")
    with TestClient(Starlette(routes=[Route("/", page)], middleware=[Middleware(Guarded)])) as client:
        policy = client.get("/").headers["content-security-policy"]
    assert "connect-src 'self' wss://addend.example.org;" in policy
    assert "ws:" not in policy.replace("wss://", "")


def test_the_sites_that_a_setting_names_may_frame_it(monkeypatch):
    monkeypatch.setenv("ADDEND_FRAMED_BY", "https://a.org, https://*.b.org")
    with TestClient(Starlette(routes=[Route("/", page)], middleware=[Middleware(Guarded)])) as client:
        given = client.get("/").headers
    assert "frame-ancestors https://a.org https://*.b.org" in given["content-security-policy"]
    assert "x-frame-options" not in {name for name, value in given.items() if value == "DENY"}


def test_counts_are_nobodys_business_and_websockets_pass(client):
    assert client.get("/_stcore/metrics").status_code == 404
    with client.websocket_connect("/stream") as open_one:
        assert open_one.receive_text() == "open"


def back(**said) -> bytes:
    message = BackMsg(**said)
    assert message.WhichOneof("type")
    return message.SerializeToString()


REFUSED = [
    back(clear_cache=True),
    back(load_git_info=True),
    back(set_run_on_save=True),
    back(debug_shutdown_runtime=True),
    back(backend_operation_request={"session_id": "s", "install_skills": {}}),
    back(backend_operation_request={"session_id": "s"}),
]
TAKEN = [
    back(rerun_script={"query_string": "layer=1"}),
    back(stop_script=True),
    back(app_heartbeat=True),
    back(file_urls_request={"request_id": "1"}),
    back(backend_operation_request={"session_id": "s", "deferred_file": {"file_id": "f"}}),
    b"\xff no message",
]


def test_messages_that_reach_beyond_a_session_never_arrive(client):
    with client.websocket_connect("/stream") as one:
        assert one.receive_text() == "open"
        for message in REFUSED:
            one.send_bytes(message)
        for message in TAKEN:
            one.send_bytes(message)
            assert one.receive_bytes() == message


def test_a_cleared_cache_leaves_the_service_and_the_rates_as_they_are():
    before = live.shared(), query_quota.shared()
    st.cache_resource.clear()
    st.cache_data.clear()
    assert live.shared() is before[0]
    assert query_quota.shared() is before[1]


def test_uploads_have_room_for_so_much_of_a_session_and_of_all():
    kept: dict[str, dict] = {"a": {}}
    uploads = guards.Uploads(lambda: kept, lambda: 10 * guards.MB)

    def fits(session: str) -> bool:
        with uploads.room(session) as there_is:
            return there_is

    kept["a"] = {str(k): SimpleNamespace(data=bytes(10 * guards.MB)) for k in range(5)}
    assert fits("a")
    with uploads.room("a") as first, uploads.room("a") as second:
        assert first
        assert not second
    assert fits("a")
    kept["a"]["more"] = kept["a"]["0"]
    assert not fits("a")
    assert fits("b")
    kept |= {str(k): dict(kept["a"]) for k in range(4)}
    assert not fits("b")
    kept.clear()
    kept["a"] = {str(k): SimpleNamespace(data=b"") for k in range(guards.SESSION_FILES)}
    assert not fits("a")
    assert fits("b")


def test_an_upload_beyond_the_room_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr(guards, "SESSION_MB", 0)

    async def taken(_):
        return PlainTextResponse("stored")

    routes = [Route("/_stcore/upload_file/{session}/{file}", taken, methods=["PUT", "DELETE"])]
    with TestClient(Starlette(routes=routes, middleware=[Middleware(Guarded)])) as client:
        given = client.put("/_stcore/upload_file/s/f", content=b"0")
        assert (given.status_code, given.headers["x-frame-options"]) == (413, "DENY")
        assert client.delete("/_stcore/upload_file/s/f").status_code == 200
        monkeypatch.undo()
        assert client.put("/_stcore/upload_file/s/f", content=b"0").text == "stored"


def stored(megabytes: int) -> dict[str, SimpleNamespace]:
    return {"file": SimpleNamespace(data=bytes(megabytes * guards.MB))}


def test_one_address_has_a_share_of_the_uploads():
    """28 slow uploads of one address, or six sessions of it with 50 MB each, left no room for anybody else."""
    kept: dict[str, dict] = {}
    uploads = guards.Uploads(lambda: kept, lambda: 10 * guards.MB)
    with ExitStack() as slow:
        taken = [slow.enter_context(uploads.room(f"s{number}", "203.0.113.7")) for number in range(28)]
        assert sum(taken) == guards.ADDRESS_UPLOADS, "so many are on their way, and the others are refused"
        with uploads.room("other", "203.0.113.8") as fits:
            assert fits
    file = stored(10)["file"]
    for number, part in product(range(6), range(5)):
        with uploads.room(f"s{number}", "203.0.113.7") as fits:
            if fits:
                kept.setdefault(f"s{number}", {})[str(part)] = file
    assert 10 * sum(map(len, kept.values())) == guards.ADDRESS_MB < guards.TOTAL_MB / 2
    with uploads.room("s0", "203.0.113.7") as own, uploads.room("other", "203.0.113.8") as fits:
        assert fits
        assert not own
    kept.clear()
    with uploads.room("s9", "203.0.113.7") as fits:
        assert fits, "what has gone is not counted"


def test_an_upload_takes_the_room_that_it_states():
    """A browser sends several small files at once."""
    uploads = guards.Uploads(dict, lambda: 10 * guards.MB)
    with ExitStack() as open_ones:
        small = [open_ones.enter_context(uploads.room("s", "a", 1_000)) for _ in range(guards.ADDRESS_UPLOADS)]
        assert all(small)
    with ExitStack() as open_ones:
        large = [open_ones.enter_context(uploads.room("s", "a", 10**12)) for _ in range(guards.ADDRESS_UPLOADS)]
        assert sum(large) == guards.SESSION_MB // 10, "nobody states more than one file may have"


def put(path: str, receive) -> list[int]:
    """The status of a PUT whose body arrives as `receive` says."""
    statuses: list[int] = []

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def taken(request):
        await request.body()
        return PlainTextResponse("stored")

    async def ask() -> None:
        guarded = Guarded(Starlette(routes=[Route("/_stcore/upload_file/{session}/{file}", taken, methods=["PUT"])]))
        scope = {"type": "http", "method": "PUT", "path": path, "headers": [], "query_string": b"", "client": ("a", 1)}
        await guarded(scope, receive, send)
        assert guarded.uploads._uploading == []

    with start_blocking_portal() as portal:  # a thread of its own: Playwright keeps an event loop running in this one
        portal.call(ask)
    return statuses


def test_an_upload_that_stands_still_is_ended(monkeypatch):
    monkeypatch.setattr(guards, "PUT_SECONDS", 0.1)

    async def stalled():
        return await asyncio.Event().wait()

    async def whole():
        return {"type": "http.request", "body": b"0", "more_body": False}

    assert put("/_stcore/upload_file/s/f", stalled) == [408]
    assert put("/_stcore/upload_file/s/f", whole) == [200]


def test_files_of_a_reader_who_left_are_dropped_soon(monkeypatch):
    kept = {"stays": stored(1), "leaves": stored(1), "returns": stored(1)}
    connected = {"stays", "returns"}
    now = [0.0]
    monkeypatch.setattr(guards, "time", SimpleNamespace(monotonic=lambda: now[0]))
    uploads = guards.Uploads(lambda: kept, lambda: 1, connected.__contains__, lambda session: kept.pop(session))
    uploads.free_absent()
    now[0] = guards.ABSENT_SECONDS - 1
    connected.remove("returns")
    uploads.free_absent()
    assert set(kept) == {"stays", "leaves", "returns"}
    now[0] += 2
    connected.add("returns")
    uploads.free_absent()
    assert set(kept) == {"stays", "returns"}
    connected.remove("returns")
    uploads.free_absent()
    now[0] += guards.ABSENT_SECONDS + 1
    with uploads.room("new"):
        assert set(kept) == {"stays"}, "room is made for an upload, too"
    assert guards.ABSENT_SECONDS <= 60


def test_the_end_of_a_connection_has_its_files_dropped(monkeypatch):
    dropped: list[str] = []
    monkeypatch.setattr(guards, "ABSENT_SECONDS", -1.0)
    monkeypatch.setattr(guards, "streamlit_uploads", lambda: {"gone": stored(0)})
    routes = [WebSocketRoute("/stream", socket)]
    monkeypatch.setattr(guards, "remove_uploads", dropped.append)
    with TestClient(Starlette(routes=routes, middleware=[Middleware(Guarded)])) as own:
        with own.websocket_connect("/stream") as open_one:
            assert open_one.receive_text() == "open"
            assert not dropped
        until_dropped = time.monotonic() + 10
        while not dropped:
            assert time.monotonic() < until_dropped
            time.sleep(0.01)
    assert set(dropped) == {"gone"}


@pytest.mark.parametrize(("hosted", "models", "started"), [("1", "*", True), ("1", "", False), ("0", "*", False)])
def test_nobody_is_answered_before_everything_is_prepared(monkeypatch, hosted, models, started):
    """30 readers of a new server waited for its imports: 5 in 100 for more than 6 s."""
    done: list[str] = []
    monkeypatch.setenv("ADDEND_HOSTED", hosted)
    monkeypatch.setenv("ADDEND_MODELS", models)
    monkeypatch.setattr(opening, "prepare", lambda: done.append("prepared"))
    monkeypatch.setattr(foreign_models.TEMPLATE, "start", lambda: done.append("template"))

    async def first_answer(request):
        return PlainTextResponse(",".join(done))

    with TestClient(Starlette(routes=[Route("/", first_answer)], lifespan=prepared)) as client:
        assert client.get("/").text == ("template,prepared" if started else "prepared")
    assert dashboard.server.app._user_lifespan is prepared


# Whose a connection is ---------------------------------------------------------------------------------------


async def who(request):
    return PlainTextResponse(str(request.client.host))


def test_nobody_on_this_machine_names_an_address_of_their_own():
    """uvicorn's own middleware, as it stands before the app, believes X-Forwarded-For of loopback."""
    app = Starlette(routes=[Route("/who", who)])
    forwarded = {"X-Forwarded-For": "198.51.100.7"}
    with TestClient(ProxyHeadersMiddleware(app), client=("127.0.0.1", 5000)) as believing:
        assert believing.get("/who", headers=forwarded).text == "198.51.100.7", "what uvicorn does by itself"
    guarded = ProxyHeadersMiddleware(Guarded(app))
    with TestClient(guarded, client=("127.0.0.1", 5000)) as client:
        assert client.get("/who", headers=forwarded).text == "127.0.0.1"
    with TestClient(guarded, client=("203.0.113.9", 5000)) as client:
        assert client.get("/who", headers=forwarded).text == "203.0.113.9"


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "expected"),
    [
        ("203.0.113.9", "198.51.100.7", 0, "203.0.113.9"),
        ("203.0.113.9", "198.51.100.7", 1, "198.51.100.7"),
        ("203.0.113.9", "1.2.3.4, 198.51.100.7", 1, "198.51.100.7"),
        ("203.0.113.9", "198.51.100.7", 2, "unknown"),
        ("2001:db8::1:2:3:4", "", 0, "2001:db8::/64"),
        ("::ffff:203.0.113.7", "", 0, "203.0.113.7"),
        ("", "", 0, "unknown"),
    ],
)
def test_the_address_is_what_can_be_trusted(peer, forwarded, proxies, expected):
    assert client_network(peer, forwarded, proxies) == expected


def test_one_address_opens_so_many_connections(monkeypatch):
    monkeypatch.setenv("ADDEND_CONNECTIONS_ADDRESS", "2")
    guarded = Guarded(Starlette(routes=[WebSocketRoute("/stream", socket)]))
    with TestClient(guarded, client=("203.0.113.9", 1)) as one, TestClient(guarded, client=("203.0.113.8", 1)) as other:
        with one.websocket_connect("/stream") as first, one.websocket_connect("/stream") as second:
            assert first.receive_text() == second.receive_text() == "open"
            with pytest.raises(WebSocketDisconnect) as refused, one.websocket_connect("/stream"):
                pass
            assert refused.value.code == 1013
            with other.websocket_connect("/stream") as elsewhere:
                assert elsewhere.receive_text() == "open"
        with one.websocket_connect("/stream") as again:
            assert again.receive_text() == "open"


def test_messages_are_bounded_before_they_are_held():
    config = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["maxMessageSize"] <= 30
    assert config["server"]["maxWidgetStateSize"] <= config["server"]["maxMessageSize"]
