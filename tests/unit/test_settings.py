"""Proves that settings mean what dashboard/hosting/README.md says, that wrong ones are said, and hosting is strict."""

import re
from pathlib import Path

import pytest

from analysis.core import settings
from analysis.core.errors import SettingError
from analysis.core.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)


def rows() -> dict[str, tuple[str, str, str]]:
    """The table of that README: name -> what it says, default, default where hosted."""
    text = (ROOT / "dashboard/hosting/README.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| `(ADDEND_\w+)` \| (.*) \| (.*) \| (.*) \|$", text, re.M)
    return {name: (says, default, hosted) for name, says, default, hosted in found}


def shown(setting: settings.Setting, value: str) -> str:
    return "no limit" if setting.unlimited and value == "0" and setting.name != "ADDEND_PROXIES" else value


def test_the_readme_lists_every_setting_with_its_defaults():
    expected = {
        name: (one.description, shown(one, one.default), shown(one, one.default if one.hosted is None else one.hosted))
        for name, one in SETTINGS.items()
    }
    assert rows() == {name: (a, f"`{b}`" if b else "", f"`{c}`" if c else "") for name, (a, b, c) in expected.items()}


def test_every_setting_has_a_good_default(monkeypatch):
    settings.check()
    monkeypatch.setenv("ADDEND_HOSTED", "1")
    settings.check()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ADDEND_HOSTED", "yes", "expected 0 or 1"),
        ("ADDEND_SAVE_PROBES", "off", "expected 0 or 1"),
        ("ADDEND_TOKENS", "many", "expected a whole number"),
        ("ADDEND_TOKENS", "-5", "expected a whole number"),
        ("ADDEND_TOKENS", "0", "expected a whole number above 0"),
        ("ADDEND_SECONDS", "1e3", "expected a whole number"),
        ("ADDEND_QUEUE", "٣", "expected a whole number"),
        ("ADDEND_MODEL_MB", "99999999999", "expected a whole number"),
        ("ADDEND_PUBLIC_URL", "javascript:alert(1)", "expected an address"),
        ("ADDEND_PUBLIC_URL", "example.org", "expected an address"),
        ("ADDEND_FRAMED_BY", "https://a.org; script-src *", "expected addresses"),
        ("ADDEND_HOSTD", "1", "not a setting of Addend"),
        ("ADDEND_DATA", "s3://AKIA:seen@bucket/folder", "expected a folder"),
        ("ADDEND_DATA", "s3://AKIA@bucket/folder", "expected a folder"),
        ("ADDEND_DATA", "abfs://c/folder?sig=seen", "expected a folder"),
        ("ADDEND_PROBES", "s3://AKIA:seen@bucket", "expected a folder"),
        ("ADDEND_DATA", "simplecache::s3://bucket", "expected a folder"),
        ("ADDEND_DATA", "s3://", "expected a folder"),
    ],
)
def test_a_wrong_value_is_a_sentence(monkeypatch, name, value, said):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingError) as caught:
        settings.check()
    assert name in str(caught.value)
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")
    for secret in ("AKIA", "seen"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize("value", ["/a/b", "a/b", "~/results"])
def test_a_place_is_a_folder(monkeypatch, value):
    monkeypatch.setenv("ADDEND_DATA", value)
    settings.check()
    assert settings.text("ADDEND_DATA") == value


def test_a_wrong_value_of_hosted_never_opens_the_server(monkeypatch):
    for value in ("yes", "true", "01", "1"):
        monkeypatch.setenv("ADDEND_HOSTED", value)
        assert settings.hosted()
    for value in ("", "0", " "):
        monkeypatch.setenv("ADDEND_HOSTED", value)
        assert not settings.hosted()


def test_hosting_is_stricter_in_everything_and_what_is_set_counts(monkeypatch):
    local = {name: settings.effective_value(name) for name in SETTINGS}
    monkeypatch.setenv("ADDEND_HOSTED", "1")
    for name, setting in SETTINGS.items():
        if setting.kind == "number" and name != "ADDEND_PROXIES":
            assert settings.number(name) > 0
            assert settings.number(name) < (int(local[name]) or 10**9)
    assert settings.names("ADDEND_MODELS") == ()
    assert not settings.switch("ADDEND_SAVE_PROBES")
    monkeypatch.setenv("ADDEND_TOKENS", "77")
    monkeypatch.setenv("ADDEND_MODELS", "a/b, c/* ,")
    assert settings.number("ADDEND_TOKENS") == 77
    assert settings.names("ADDEND_MODELS") == ("a/b", "c/*")


def test_settings_are_read_nowhere_else():
    for path in [*(ROOT / "analysis").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")]:
        code = path.read_text(encoding="utf-8")
        if path.name not in ("settings.py", "cluster.py", "status.py"):
            assert not re.search(r"(environ|getenv)[^\n]*ADDEND_", code), path
