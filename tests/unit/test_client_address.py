"""Proves whose limits a reader counts against: the address that a trusted proxy saw, whatever the reader's headers."""

from types import SimpleNamespace

import pytest
import streamlit as st
from starlette.datastructures import Headers

from dashboard.session import live


@pytest.fixture
def at(monkeypatch):
    def address(connection: str | None, *forwarded: str, proxies: int = 0) -> str:
        headers = Headers(raw=[(b"x-forwarded-for", one.encode()) for one in forwarded])
        seen = SimpleNamespace(get_all=headers.getlist)
        monkeypatch.setattr(st, "context", SimpleNamespace(ip_address=connection, headers=seen))
        monkeypatch.setenv("ADDEND_PROXIES", str(proxies))
        return live.client_address()

    return address


def test_without_proxies_no_header_counts(at):
    assert at("203.0.113.7", "198.51.100.1") == at("203.0.113.7") == "203.0.113.7"


@pytest.mark.parametrize("forged", [(), ("192.0.2.1",), ("192.0.2.1, 192.0.2.2",), ("192.0.2.1", "192.0.2.2")])
def test_what_a_reader_writes_before_the_proxies_own_words_changes_nothing(at, forged):
    assert at("10.0.0.1", *forged, "203.0.113.7", proxies=1) == "203.0.113.7"
    assert at("10.0.0.1", *forged, "203.0.113.7, 10.0.0.2", proxies=2) == "203.0.113.7"


def test_who_comes_past_the_proxies_is_of_one_address(at):
    assert at("203.0.113.7", proxies=1) == at("203.0.113.8", proxies=1) == "unknown"
    assert at("203.0.113.7", "192.0.2.1", proxies=2) == at("203.0.113.7", "not an address", proxies=1) == "unknown"


def test_one_network_of_ipv6_is_one_address(at):
    assert at("2001:db8::1") == at("2001:db8::ffff:1") == "2001:db8::/64"
    assert at("2001:db8:0:1::1") != at("2001:db8::1")


def test_readers_by_ipv4_of_a_socket_of_both_kinds_are_told_apart(at):
    assert at("::ffff:203.0.113.7") == at("203.0.113.7")
    assert at("::ffff:203.0.113.8") != at("::ffff:203.0.113.7")
