"""The running app and a real browser. A missing browser is a failure, never a skip."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

ROOT = Path(__file__).parents[2]
WAIT_SECONDS = 60
DESK: ViewportSize = {"width": 1360, "height": 1000}
PHONE: ViewportSize = {"width": 390, "height": 844}
expect.set_options(timeout=WAIT_SECONDS * 1000)  # else 5 s, whatever a page is given


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def running(
    folder: Path, store: Path, port: int, *options: str, script: str = "dashboard/app.py", **settings: str
) -> Iterator[str]:
    """The app on a port, with copies of the data and of their store, until the block ends; gives its address."""
    shutil.copytree(ROOT / "data", folder / "data", ignore=shutil.ignore_patterns("store"))
    (folder / "data" / "store").mkdir()
    shutil.copyfile(store, folder / "data" / "store" / "addend.duckdb")
    environment = {**os.environ, "ADDEND_DATA": str(folder / "data"), **settings}
    environment.pop("ADDEND_STORE", None)
    environment.pop("ADDEND_PUBLIC_URL", None)
    log = (folder / "log").open("w")
    app = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script, f"--server.port={port}", *options],
        cwd=ROOT,
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=2)
                break
            except OSError:
                if app.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"the app did not start: {(folder / 'log').read_text()}")
                time.sleep(0.2)
        yield f"http://localhost:{port}"
    finally:
        app.terminate()
        app.wait(10)
        log.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory, built):
    """The app that most tests share."""
    with running(tmp_path_factory.mktemp("app"), built, free_port()) as found:
        yield found


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        found = shutil.which("chromium") or playwright.chromium.executable_path
        if not Path(found).exists():
            pytest.fail("no Chromium: install it (Debian: apt-get install chromium) and run the tests again")
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        opened = playwright.chromium.launch(executable_path=found, args=arguments)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """A profile that fetches Streamlit's own files once for all tests."""
    context = browser.new_context(viewport=DESK)
    context.set_default_timeout(WAIT_SECONDS * 1000)
    yield context
    context.close()


@pytest.fixture(scope="session")
def tab(profile: BrowserContext) -> Page:
    """The tab that tests use after one another: a new one would compile Streamlit's scripts again, for two seconds."""
    return profile.new_page()


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """A tab that knows nothing of the tests before."""
    yield tab
    empty(tab)
    tab.set_viewport_size(DESK)


@pytest.fixture(scope="session")
def second_tab(browser: Browser) -> Iterator[Page]:
    """A tab of another profile, with a touch screen."""
    context = browser.new_context(viewport=PHONE, has_touch=True)
    context.set_default_timeout(WAIT_SECONDS * 1000)
    yield context.new_page()
    context.close()


@pytest.fixture
def other(second_tab: Page) -> Iterator[Page]:
    """The tab of another reader, on a phone; it knows nothing of the first reader, nor of the tests before."""
    yield second_tab
    empty(second_tab)
    second_tab.emulate_media(color_scheme="null", reduced_motion="null")
    second_tab.set_viewport_size(PHONE)


def empty(tab: Page) -> None:
    """Leaves the app, as a closed tab would, and forgets what it stored."""
    if tab.url.startswith("http"):
        tab.evaluate("localStorage.clear(); sessionStorage.clear()")
    tab.goto("about:blank")
    tab.context.clear_cookies()


def settled(page: Page) -> Page:
    """Waits until the page has stopped running and shows a title."""
    page.wait_for_selector("[data-testid=stMain] h1")
    page.wait_for_function("!document.querySelector('[data-testid=stApp][data-test-script-state=running]')")
    return page
