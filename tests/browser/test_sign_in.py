"""Proves that where ADDEND_SIGN_IN asks for it nobody passes who has not signed in with an OpenID Connect provider.

The provider is oidc-provider-mock, which signs its tokens as a real one does.
"""

import pytest
from oidc_provider_mock import run_server_in_thread
from playwright.sync_api import expect

from tests.browser.conftest import free_port, running, settled

pytestmark = pytest.mark.browser


def test_readers_sign_in_and_out(page, built, tmp_path):
    port = free_port()
    with run_server_in_thread() as provider:
        secrets = tmp_path / "secrets.toml"
        secrets.write_text(f"""[auth]
redirect_uri = "http://localhost:{port}/oauth2callback"
cookie_secret = "{"0123456789abcdef" * 2}"
client_id = "addend"
client_secret = "known to both"
server_metadata_url = "http://localhost:{provider.server_port}/.well-known/openid-configuration"
""")
        with running(tmp_path, built, port, f"--secrets.files={secrets}", ADDEND_SIGN_IN="1") as address:
            page.goto(f"{address}/status")
            settled(page)
            expect(page.get_by_text("Sign in to use this server.")).to_be_visible()
            expect(page.get_by_text("Settings in force")).to_have_count(0)

            page.get_by_role("button", name="Sign in").click()
            page.locator("input[name=sub]").fill("reader@example.org")
            page.get_by_role("button", name="Deny").click()
            page.get_by_role("button", name="Sign in").wait_for()

            page.get_by_role("button", name="Sign in").click()
            page.locator("input[name=sub]").fill("reader@example.org")
            page.get_by_role("button", name="Authorize").first.click()
            page.get_by_role("button", name="Sign out").wait_for()
            page.goto(f"{address}/status")
            page.get_by_text("Settings in force").wait_for()

            page.get_by_role("button", name="Sign out").click()
            page.get_by_role("button", name="End session").click()
            page.get_by_role("button", name="Sign in").wait_for()
            page.goto(f"{address}/status")
            page.get_by_role("button", name="Sign in").wait_for()
            settled(page)
            expect(page.get_by_text("Settings in force")).to_have_count(0)
