"""Every setting of Addend: an environment variable, its meaning, and its default here and on a hosted server.

Values are read each time they are asked for. A wrong value raises SettingError, and so does a name that begins as
ours do and is none of them: a misspelt ADDEND_HOSTED must not open a server to strangers.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from analysis.core.errors import SettingError

PREFIX = "ADDEND_"
OTHER_VARIABLES = ("ADDEND_VENV", "ADDEND_KILLS")
"""Variables of our scripts and tests, which the app does not read."""
SITE = re.compile(r"https?://[\w.*-]+(:\d+)?")


@dataclass(frozen=True)
class Setting:
    """One environment variable. A number of 0 means no limit where `unlimited` says so.

    hosted: the default where ADDEND_HOSTED is 1; `default` where it is None.
    """

    name: str
    kind: Literal["switch", "number", "text", "names", "address", "folder"]
    description: str
    default: str = ""
    hosted: str | None = None
    unlimited: bool = False


def _number(name: str, default: int, hosted: int, description: str, *, unlimited: bool = False) -> Setting:
    return Setting(name, "number", description, str(default), str(hosted), unlimited)


SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            "ADDEND_HOSTED",
            "switch",
            "`1`: the server is open to strangers",
            default="0",
        ),
        Setting(
            "ADDEND_PUBLIC_URL",
            "address",
            "the public address that links contain; by default the address that the browser shows",
        ),
        Setting(
            "ADDEND_DATA",
            "folder",
            "the folder of results files; by default `data/`",
        ),
        Setting("ADDEND_STORE", "text", "the DuckDB file; by default `store/addend.duckdb` in the data folder"),
        Setting("ADDEND_SAVE_PROBES", "switch", "`0` switches the saving of probes off", default="1", hosted="0"),
        Setting(
            "ADDEND_PROBES",
            "folder",
            "a folder for saved probes only, outside the store; by default `probes/` in the data folder",
        ),
        _number(
            "ADDEND_PROBES_MB",
            0,
            500,
            "MB that all saved probes together may take",
            unlimited=True,
        ),
        Setting(
            "ADDEND_IMPORT", "switch", "`0` switches off uploads on the page Bring your own", default="1", hosted="0"
        ),
        Setting(
            "ADDEND_MODELS",
            "names",
            "models of the hub that readers may ask for, separated by commas: `owner/name`, `owner/*`, "
            "`owner/name@revision`, or `*`",
            default="*",
            hosted="",
        ),
        _number(
            "ADDEND_MODEL_MB",
            0,
            1000,
            "MB that a model's files may have, checked before they are downloaded",
            unlimited=True,
        ),
        _number("ADDEND_DOWNLOADS", 20, 4, "downloads of models that may wait or run at once, besides the probes"),
        _number("ADDEND_DOWNLOAD_SECONDS", 7200, 600, "seconds that the download of one model may take"),
        _number("ADDEND_TEXT_KB", 1000, 32, "kB that a text and its pair may have together"),
        _number("ADDEND_TOKENS", 4096, 512, "tokens that a text and its pair may have together"),
        _number("ADDEND_IMAGE_MB", 10, 5, "MB that an uploaded image may have"),
        _number("ADDEND_MEGAPIXELS", 25, 10, "million pixels that an uploaded image may have"),
        _number("ADDEND_SECONDS", 600, 60, "seconds that one probe may run once its turn has come"),
        _number("ADDEND_QUEUE", 100, 20, "probes that may wait or run at once"),
        _number("ADDEND_MODELS_MB", 8000, 1000, "MB of models kept in memory; the last one is kept whatever its size"),
        _number("ADDEND_RESULTS_MB", 500, 200, "MB of results kept in memory"),
        _number("ADDEND_PROBES_A_MINUTE", 0, 30, "probes per minute from one session", unlimited=True),
        _number("ADDEND_PROBES_A_MINUTE_ADDRESS", 0, 120, "probes per minute from one network address", unlimited=True),
        _number("ADDEND_SAVES_A_MINUTE", 0, 6, "probes saved per minute from one network address", unlimited=True),
        _number("ADDEND_QUERIES_A_MINUTE", 0, 20, "SQL queries per minute from one session", unlimited=True),
        _number("ADDEND_QUERIES_A_MINUTE_ADDRESS", 0, 60, "SQL queries per minute from one address", unlimited=True),
        _number("ADDEND_IMPORTED_MB", 0, 200, "MB that all imports together may take", unlimited=True),
        _number("ADDEND_IMPORTS_A_MINUTE", 0, 10, "uploads read per minute from one network address", unlimited=True),
        _number(
            "ADDEND_CONNECTIONS_ADDRESS", 0, 40, "open pages (WebSocket connections) from one address", unlimited=True
        ),
        Setting(
            "ADDEND_PROXIES",
            "number",
            "how many trusted proxies stand in front; each adds to `X-Forwarded-For` the address that it was asked "
            "from",
            default="0",
            unlimited=True,
        ),
        Setting(
            "ADDEND_FRAMED_BY",
            "names",
            "sites that may show the app in a frame, separated by commas, such as `https://example.org`; by default "
            "none",
        ),
        Setting(
            "ADDEND_SIGN_IN",
            "switch",
            "`1`: readers must sign in first (see Sign-in in `dashboard/hosting/README.md`)",
            default="0",
        ),
        Setting(
            "ADDEND_LOG",
            "switch",
            "`1`: writes one line of JSON to stderr for each probe, turn at the device and failure, without texts",
            default="0",
            hosted="1",
        ),
    )
}


def hosted() -> bool:
    """True if strangers use this server. An invalid value counts as yes; `check` reports it."""
    return os.environ.get("ADDEND_HOSTED", "").strip() not in ("", "0")


def switch(name: str) -> bool:
    """A setting that is 0 or 1."""
    return _value(name, "switch") == "1"


def number(name: str) -> int:
    """A setting that is a whole number."""
    return int(_value(name, "number"))


def text(name: str) -> str:
    """A setting that is a text, a folder or an address; empty where it is not set."""
    kind = SETTINGS[name].kind
    assert kind in ("text", "address", "folder"), f"{name} is a {kind}"
    return _value(name, kind)


def names(name: str) -> tuple[str, ...]:
    """A setting that is a list."""
    return tuple(part.strip() for part in _value(name, "names").split(",") if part.strip())


def effective_value(name: str) -> str:
    """The value in force, from the environment or the default. Raises SettingError for a wrong value."""
    return _value(name, SETTINGS[name].kind)


def check() -> None:
    """Raises SettingError for the first wrong value, and for a name that begins as ours do and is unknown."""
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in (*SETTINGS, *OTHER_VARIABLES):
            raise SettingError(
                f"{name} is not a setting of Addend; expected one of: {', '.join(SETTINGS)}. Correct it."
            )
    for name in SETTINGS:
        effective_value(name)
    if hosted() and switch("ADDEND_SAVE_PROBES") and not text("ADDEND_PROBES"):
        raise SettingError(
            "ADDEND_SAVE_PROBES is 1 on a hosted server, and strangers' texts do not belong among the results. Name "
            "a place for them with ADDEND_PROBES, or set ADDEND_SAVE_PROBES=0."
        )


def _value(name: str, kind: str) -> str:
    setting = SETTINGS[name]
    assert setting.kind == kind, f"{name} is a {setting.kind}"
    value = os.environ.get(name, "").strip()
    if not value:
        use_hosted = name != "ADDEND_HOSTED" and setting.hosted is not None and hosted()
        return setting.hosted or "" if use_hosted else setting.default
    if expected := _expected(setting, value):
        # An address of storage may hold keys.
        shown = re.sub(r"//.*@|[?#].*", "...", value) if setting.kind == "folder" else value
        raise SettingError(f"{name} is {shown[:100]!r}; expected {expected}. Correct it and start again.")
    return value


def _expected(setting: Setting, value: str) -> str:
    """The expectation that a value fails; empty for a valid value."""
    if setting.kind == "switch" and value not in ("0", "1"):
        return "0 or 1"
    if setting.kind == "number" and not (value.isascii() and value.isdecimal() and len(value) < 10):
        return "a whole number"
    if setting.kind == "number" and not int(value) and not setting.unlimited:
        return "a whole number above 0"
    if setting.name == "ADDEND_FRAMED_BY" and not all(SITE.fullmatch(site.strip()) for site in value.split(",")):
        return "addresses such as https://example.org, separated by commas"
    if setting.kind == "folder" and "://" in value:
        return "a folder (dashboard/hosting/README.md says how one is kept like a bucket on object storage)"
    if setting.kind == "address" and not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", value):
        return "an address such as https://addend.example.org"
    return ""
