"""What sites read of a shared link: its title, and a picture that is there and has the size that is said."""

import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from analysis.links import VIEWS
from dashboard.hosting.layout import WIDTH
from dashboard.hosting.preview import PICTURE, QUESTION, SIZE, Preview
from tests.unit.test_report import Read

PAGE = "<!doctype html><html><head><title>Streamlit</title></head><body>é</body></html>"


async def page(_):
    return HTMLResponse(PAGE)


async def other(_):
    return PlainTextResponse("</head>")


@pytest.fixture
def client():
    routes = [Route("/static/app.js", other), Route("/{path:path}", page)]
    with TestClient(Starlette(routes=routes, middleware=[Middleware(Preview)])) as client:
        yield client


def given(text: str) -> dict[str, str]:
    return {
        attrs["property"]: attrs["content"] for tag, attrs in Read(text).tags if tag == "meta" and "property" in attrs
    }


@pytest.mark.parametrize("path", VIEWS)
def test_every_page_has_a_title_of_its_own_and_the_rest_is_as_it_was(client, path):
    answer = client.get(f"/{path}")
    about = given(answer.text)
    assert about["og:title"] == (f"{VIEWS[path].title} · Addend" if path else QUESTION)
    assert about["og:image"] == "http://testserver/preview.png"
    assert answer.text.startswith(PAGE.partition("</head>")[0])
    assert answer.text.endswith(PAGE.partition("</head>")[2])
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_a_claim_is_named_and_nothing_else_of_a_query_is(client):
    assert given(client.get("/claims?claim=C13").text)["og:title"] == "C13 · Addend"
    evil = client.get("/claims", params={"claim": '"><script>alert(1)</script>'}).text
    assert given(evil)["og:title"] == "Claims · Addend"
    assert "alert" not in evil


def test_the_picture_is_there_in_the_size_that_is_said(client, monkeypatch):
    answer = client.get("/preview.png")
    assert answer.headers["content-type"] == "image/png"
    assert Image.open(PICTURE).size == SIZE
    monkeypatch.setenv("ADDEND_PUBLIC_URL", "https://addend.example.org/lab/")
    assert given(client.get("/terms").text)["og:image"] == "https://addend.example.org/lab/preview.png"


def test_other_files_are_left_alone(client):
    assert client.get("/static/app.js").text == "</head>"


def test_the_room_of_the_list_is_sent_with_a_page_but_not_with_one_in_a_frame(client):
    assert f"margin-left: {WIDTH}px" in client.get("/depth").text
    assert ".stMainBlockContainer" in client.get("/depth?embed=true&only=depth_decoding").text
    assert "margin-left" not in client.get("/depth?embed=true&only=depth_decoding").text
