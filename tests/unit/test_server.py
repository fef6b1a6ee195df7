"""Proves that each answer of the hosted server carries its security headers, and that websockets pass untouched."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient

from dashboard.server import POLICY, SecurityHeaders


async def page(_):
    return PlainTextResponse("here", headers={"X-Frame-Options": "ALLOWALL", "X-Own": "1"})


async def socket(connection):
    await connection.accept()
    await connection.send_text("open")
    await connection.close()


@pytest.fixture
def client():
    routes = [Route("/", page), Route("/_stcore/metrics", page), WebSocketRoute("/stream", socket)]
    with TestClient(Starlette(routes=routes, middleware=[Middleware(SecurityHeaders)])) as client:
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


def test_the_sites_that_a_setting_names_may_frame_it(monkeypatch):
    monkeypatch.setenv("ADDEND_FRAMED_BY", "https://a.org, https://*.b.org")
    with TestClient(Starlette(routes=[Route("/", page)], middleware=[Middleware(SecurityHeaders)])) as client:
        given = client.get("/").headers
    assert "frame-ancestors https://a.org https://*.b.org" in given["content-security-policy"]
    assert "x-frame-options" not in {name for name, value in given.items() if value == "DENY"}


def test_counts_are_nobodys_business_and_websockets_pass(client):
    assert client.get("/_stcore/metrics").status_code == 404
    with client.websocket_connect("/stream") as open_one:
        assert open_one.receive_text() == "open"
