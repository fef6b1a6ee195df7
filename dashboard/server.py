"""The app as a server for strangers: streamlit run dashboard/server.py. The same pages, with headers and previews."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from streamlit import config

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit puts only this file's folder there.
    sys.path.insert(0, str(ROOT))

from analysis.core import settings  # noqa: E402
from analysis.core.errors import Busy  # noqa: E402
from dashboard.hosting import guards  # noqa: E402
from dashboard.hosting.addresses import client_network  # noqa: E402
from dashboard.hosting.preview import App, Message, Preview, Receive, Send  # noqa: E402
from dashboard.model_server import foreign_models  # noqa: E402
from dashboard.model_server.rate_limits import ConcurrencyLimit  # noqa: E402
from dashboard.widgets import opening  # noqa: E402

POLICY = {
    "default-src": "'self'",
    # Streamlit's page starts by inline scripts, and Vega compiles expressions.
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "worker-src": "'self' blob:",
    "connect-src": "'self'",  # its WebSocket included; `headers` adds the public address, for older browsers
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
}
"""Nothing is fetched from elsewhere: a text that came to be shown as HTML still could not send anything out."""


def headers() -> list[tuple[bytes, bytes]]:
    """The headers of every response."""
    framed_by = " ".join(settings.names("ADDEND_FRAMED_BY"))
    policy = POLICY | {"frame-ancestors": framed_by or "'none'"}
    if host := urlsplit(settings.text("ADDEND_PUBLIC_URL")).netloc:
        policy["connect-src"] += f" wss://{host}"
    entries = {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",  # a link holds the text that was probed
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
        "cross-origin-opener-policy": "same-origin",
    }
    if not framed_by:
        entries["x-frame-options"] = "DENY"
    return [(name.encode(), value.encode()) for name, value in entries.items()]


TRY_AGAIN_LATER = 1013
"""The code with which a WebSocket is closed where there is no room."""
HIDDEN_PATH = "/_stcore/metrics"
"""Counts of sessions and caches, which are private."""


class Guarded:
    """Adds `headers` to each response, hides `HIDDEN_PATH`, and drops what `guards` does not let pass."""

    def __init__(self, app: App) -> None:
        self.app, self.headers = app, headers()
        self.uploads = guards.Uploads(
            guards.streamlit_uploads,
            lambda: config.get_option("server.maxUploadSize") * (1 << 20),
            guards.is_connected,
            guards.remove_uploads,
        )
        self.connections = ConcurrencyLimit(
            lambda: settings.number("ADDEND_CONNECTIONS_ADDRESS") or sys.maxsize, "network address", "connections"
        )

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                header_names = {name for name, _ in self.headers}
                other_headers = [pair for pair in message.get("headers", []) if pair[0].lower() not in header_names]
                message = {**message, "headers": [*other_headers, *self.headers]}
            await send(message)

        async def receive_accepted() -> Message:
            while True:
                message = await receive()
                if not (data := message.get("bytes")) or guards.is_accepted(data):
                    return message

        scope = _without_forwarded_client(scope)
        if scope["type"] == "websocket":
            try:
                with self.connections.slot(_client_address(scope)):
                    await self.app(scope, receive_accepted, send)
            except Busy:
                await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
            finally:
                self._free_uploads()
        elif scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["path"].rstrip("/").endswith(HIDDEN_PATH):
            await PlainTextResponse("Not found", 404)(scope, receive, send_with_headers)
        elif guards.UPLOAD_PATH in scope["path"] and scope["method"] == "PUT":
            await self._upload(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)

    async def _upload(self, scope: Message, receive: Receive, send: Send) -> None:
        """Takes a file where there is room for it, for as long as it may take."""
        session = scope["path"].partition(guards.UPLOAD_PATH)[2].partition("/")[0]
        with self.uploads.room(session, _client_address(scope), _content_length(scope)) as fits:
            if not fits:
                rejection = PlainTextResponse("This server holds as many uploads as it can take. Try again later.", 413)
                return await rejection(scope, receive, send)
            try:
                async with asyncio.timeout(guards.PUT_SECONDS):
                    return await self.app(scope, receive, send)
            except TimeoutError:
                said = f"The upload took more than {guards.PUT_SECONDS:.0f} s. Send a smaller file."
                return await PlainTextResponse(said, 408, {"connection": "close"})(scope, receive, send)
            finally:
                self._free_uploads()  # of a session that left meanwhile

    def _free_uploads(self) -> None:
        """Notes the sessions without a connection, and looks again when their time is over."""
        self.uploads.free_absent()
        asyncio.get_running_loop().call_later(guards.ABSENT_SECONDS + 1, self.uploads.free_absent)


def _without_forwarded_client(scope: Message) -> Message:
    """The request with the address of its connection.

    uvicorn trusts X-Forwarded-For of any connection from this machine: it replaces the address by the header's and the
    port by 0, which no connection has. Which proxies are trusted is for ADDEND_PROXIES to say.
    """
    client = scope.get("client")
    return {**scope, "client": ("127.0.0.1", 0)} if client and client[1] == 0 else scope


def _content_length(scope: Message) -> int | None:
    """The bytes that a request says its body has; the server reads no more. None where it says none."""
    value = next((value for name, value in scope["headers"] if name.lower() == b"content-length"), b"")
    return int(value) if value.isdigit() else None


def _client_address(scope: Message) -> str:
    forwarded = b",".join(value for name, value in scope["headers"] if name.lower() == b"x-forwarded-for")
    peer = (scope.get("client") or ("",))[0]
    return client_network(peer, forwarded.decode("latin-1"), settings.number("ADDEND_PROXIES"))


@asynccontextmanager
async def prepared(_: st.App) -> AsyncIterator[None]:
    """Prepares what readers need before the first one is let in, while the server is up."""
    if settings.hosted() and settings.names("ADDEND_MODELS"):
        foreign_models.TEMPLATE.start()  # its imports take another core
    await asyncio.to_thread(opening.prepare)
    yield


app = st.App(Path(__file__).parent / "app.py", lifespan=prepared, middleware=[Middleware(Guarded), Middleware(Preview)])
