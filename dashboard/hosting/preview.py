"""Previews of shared links: Open Graph tags in the page that the server sends, and their picture; and its layout."""

import re
from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import FileResponse

from analysis.core import settings
from analysis.links import VIEWS
from dashboard.hosting import layout

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
"""The types of an ASGI application."""

QUESTION = "Why do transformers add position to words instead of concatenating them?"
DESCRIPTION = "Evidence from algebra, trained models and published ablations."
PICTURE = Path(__file__).parents[1] / "assets" / "preview.png"
PICTURE_PATH = "/preview.png"
SIZE = (1200, 630)
"""Pixels of the picture: what most sites show whole."""
CLAIM = re.compile(r"C\d{2}[a-z]{0,2}")


def title(page: str, query: str) -> str:
    """The title of a link's page: a claim's number where it names one, and the question for Home."""
    if not page:
        return QUESTION
    claim = parse_qs(query).get("claim", [""])[0]
    name = claim if page == "claims" and CLAIM.fullmatch(claim) else VIEWS[page].title
    return f"{name} · Addend"


def tags(page: str, query: str, address: str) -> str:
    """The tags of a link. address: where the server's Home is reached, without a slash at its end."""
    properties = {
        "og:type": "website",
        "og:site_name": "Addend",
        "og:title": title(page, query),
        "og:description": f"{QUESTION} {DESCRIPTION}" if page else DESCRIPTION,
        "og:image": f"{address}{PICTURE_PATH}",
        "og:image:width": str(SIZE[0]),
        "og:image:height": str(SIZE[1]),
        "og:image:alt": "Concatenating and then multiplying is a sum; adding uses one matrix for both.",
    }
    lines = [f'<meta property="{name}" content="{escape(value, quote=True)}">' for name, value in properties.items()]
    return "\n".join([*lines, '<meta name="twitter:card" content="summary_large_image">'])


class Preview:
    """Puts tags and style into the page that every address of the app is answered with, and serves their picture."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request."""
        stem, _, page = scope.get("path", "").rstrip("/").rpartition("/")
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
        elif f"/{page}" == PICTURE_PATH:
            await FileResponse(PICTURE)(scope, receive, send)
        elif page not in VIEWS:
            await self.app(scope, receive, send)
        else:
            plain_scope = {
                **scope,
                "headers": [pair for pair in scope["headers"] if pair[0].lower() != b"accept-encoding"],
            }
            query = scope.get("query_string", b"").decode("latin-1")
            content = f"{tags(page, query, _address(scope, stem))}\n{layout.style(query)}"
            await self.app(plain_scope, receive, _TagInserter(send, content.encode()))


class _TagInserter:
    """Sends a response on; HTML gets the content before the end of its head."""

    def __init__(self, send: Send, content: bytes) -> None:
        self.send, self.content = send, content
        self.start: Message | None = None
        self.body = b""

    async def __call__(self, message: Message) -> None:
        """One part of the response."""
        if message["type"] == "http.response.start" and _is_html(message):
            self.start = message
        elif self.start is None or message["type"] != "http.response.body":
            await self.send(message)
        else:
            self.body += message.get("body", b"")
            if not message.get("more_body"):
                body = self.body.replace(b"</head>", self.content + b"\n</head>", 1)
                headers = [pair for pair in self.start["headers"] if pair[0].lower() != b"content-length"]
                headers.append((b"content-length", str(len(body)).encode()))
                await self.send({**self.start, "headers": headers})
                await self.send({**message, "body": body})


def _is_html(start: Message) -> bool:
    content_types = [value for name, value in start.get("headers", []) if name.lower() == b"content-type"]
    return start["status"] == 200 and any(kind.startswith(b"text/html") for kind in content_types)


def _address(scope: Message, stem: str) -> str:
    """The URL of Home: ADDEND_PUBLIC_URL, else as in the request."""
    if public := settings.text("ADDEND_PUBLIC_URL"):
        return public.rstrip("/")
    host = next((value for name, value in scope["headers"] if name.lower() == b"host"), b"localhost")
    return f"{scope.get('scheme', 'http')}://{host.decode('latin-1')}{stem}"
