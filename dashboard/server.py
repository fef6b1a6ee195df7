"""The app as a server for strangers: streamlit run dashboard/server.py. The same pages, with security headers."""

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit puts only this file's folder there.
    sys.path.insert(0, str(ROOT))

from analysis import settings  # noqa: E402

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

POLICY = {
    "default-src": "'self'",
    # Streamlit's page starts by inline scripts, and Vega compiles expressions.
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "worker-src": "'self' blob:",
    "connect-src": "'self' ws: wss:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
}
"""Nothing is fetched from elsewhere: a text that got itself shown as HTML could still not tell anybody of it."""


def headers() -> list[tuple[bytes, bytes]]:
    """The headers that every answer carries."""
    framed_by = " ".join(settings.names("ADDEND_FRAMED_BY"))
    policy = POLICY | {"frame-ancestors": framed_by or "'none'"}
    found = {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",  # a link holds the text that was probed
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
        "cross-origin-opener-policy": "same-origin",
    }
    if not framed_by:
        found["x-frame-options"] = "DENY"
    return [(name.encode(), value.encode()) for name, value in found.items()]


CLOSED = "/_stcore/metrics"
"""Counts of sessions and caches, which are nobody's business."""


class SecurityHeaders:
    """Adds `headers` to each answer, and answers nothing at `CLOSED`."""

    def __init__(self, app: Callable[[Message, Receive, Send], Awaitable[None]]) -> None:
        self.app, self.headers = app, headers()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = {name for name, _ in self.headers}
                others = [pair for pair in message.get("headers", []) if pair[0].lower() not in ours]
                message = {**message, "headers": [*others, *self.headers]}
            await send(message)

        if scope["type"] == "http" and scope["path"].rstrip("/").endswith(CLOSED):
            await PlainTextResponse("Not found", 404)(scope, receive, sent)
        else:
            await self.app(scope, receive, sent if scope["type"] == "http" else send)


app = st.App(Path(__file__).parent / "app.py", middleware=[Middleware(SecurityHeaders)])
