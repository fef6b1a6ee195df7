"""Proves that a hosted app stands what strangers give it: every input is refused with a sentence or shown as text.

Links, forms and uploads as an attacker with the source in hand would write them; then what the pages may not say
(folders of the server), what the log may not say (texts), and who is let in.
"""

import io
import json
import logging
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image
from streamlit.error_util import handle_uncaught_app_exception
from streamlit.testing.v1 import AppTest

from analysis.core.errors import Busy
from analysis.imports.plan_process import plan_in_child
from analysis.imports.reader import UserMetadata
from analysis.links import VIEWS
from dashboard.hosting import log
from dashboard.session import live, query_quota
from dashboard.session.markdown_escape import escape_markdown
from tests.app.shown import PAGES, opened, shown, uploaded
from tests.app.test_look_at_images import image, png

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def hosted(monkeypatch):
    monkeypatch.setenv("ADDEND_HOSTED", "1")
    monkeypatch.setenv("ADDEND_PROBES_A_MINUTE_ADDRESS", "100000")  # these tests are all of one address
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


def markdown(app: AppTest) -> list[str]:
    """Everything on the page that a browser would read as Markdown."""
    kinds = (app.markdown, app.caption, app.error, app.warning, app.info, app.success, app.title, app.header)
    found = [str(element.value) for kind in (*kinds, app.subheader) for element in kind]
    return [*found, *(str(status.label) for status in app.status), *(str(button.label) for button in app.button)]


def everything(app: AppTest) -> str:
    """Every word on the page."""
    plainly = [str(element.value) for kind in (app.text, app.code, app.json) for element in kind]
    boxes = [str(box.help) for kind in (app.text_input, app.text_area, app.selectbox) for box in kind]
    tables = [str(table.value.to_dict()) for table in app.dataframe]
    return "\n".join([*markdown(app), *plainly, *boxes, *tables])


def stands(app: AppTest, *payloads: str) -> None:
    """The page is there, and nothing of a payload is read as Markdown or HTML."""
    assert not app.exception, [error.value for error in app.exception]
    assert app.title
    for payload in payloads:
        if len(payload) > 2 and escape_markdown(payload) != payload:  # one mark alone is in sentences of ours
            assert not any(payload in text for text in markdown(app)), payload
    assert "broke" not in " ".join(shown(error.value) for error in app.error)


def again(app: AppTest, **parameters: Any) -> AppTest:
    """The same reader opens another link of the same page."""
    for name in list(app.query_params):
        del app.query_params[name]
    for name, value in parameters.items():
        app.query_params[name] = value
    return app.run()


def told(app: AppTest) -> str:
    return shown(" ".join(box.value for box in (*app.error, *app.warning, *app.info)))


# Every page ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_says_nothing_of_folders_and_what_becomes_of_texts(page):
    app = opened(page)
    stands(app)
    assert not app.error
    said = everything(app)
    for folder in (ROOT, Path.home(), Path(sys.prefix)):
        assert f"{folder}/" not in said
    assert "on this machine" not in said
    takes = {"text", "image"} & set(VIEWS[page].defaults())
    assert ("This server is shared" in said) == bool(takes)


# Hostile texts ---------------------------------------------------------------------------------------

TEXTS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "![track](http://evil.example/x.png)",
    "[click](javascript:alert(1))",
    "<http://evil.example>",
    r"$\href{javascript:alert(1)}{x}$",
    ":material/home: :red[x] :streamlit:",
    "# A heading\n---\n| a | b |",
    "`` ` ``` code",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "%s%s%n %x",
    "'; DROP TABLE runs; --",
    "a\x00b\x07c\x1b[31m",
    "\u202egnp.exe \u200b\ufeff",
    "Z" + "\u0301" * 3000,
    "👩\u200d👩\u200d👧\u200d👦" * 20,
    "=cmd|' /C calc'!A0",
    "\\\\host\\share\\x",
    "[CLS] [SEP] [MASK] [PAD]",
    '{"__proto__": {"x": 1}}',
]


def test_a_hostile_text_is_shown_as_text(monkeypatch):
    monkeypatch.setenv("ADDEND_PROBES_A_MINUTE", "1000")
    app = opened("inside", text="a")
    for text in TEXTS:
        again(app, text=text, pair=text)
        stands(app, text)
        assert app.text_area[0].value == text


def test_a_text_of_many_bytes_is_refused_before_it_is_read():
    app = opened("inside", text="word " * 7_000, truncate="1")
    for text in ("word " * 7_001, "é" * 17_000, "x" * 40_000):
        stands(app)
        assert "at most 32 kB are accepted" in told(app)
        again(app, text=text, truncate="1")
    again(app, text="a", text2="word " * 7_001, truncate="1")
    assert "at most 32 kB are accepted" in told(app)


def test_a_text_of_too_many_tokens_is_refused_or_cut():
    app = opened("inside", text="a " * 600)
    stands(app)
    assert "Shorten it, or have it cut to 512" in told(app)


# Hostile models, revisions and ids ---------------------------------------------------------------------

MODELS = [
    "/etc/passwd",
    "../../etc",
    "~/.ssh",
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data",
    "https://evil.example/model",
    "owner/../../etc",
    "owner/name/../../x",
    "C:\\Windows\\system32",
    "\\\\host\\share",
    "<script>alert(1)</script>",
    "![](http://evil.example/x)",
    "owner/name.zip",
    "owner/name\nx",
    "owner/\x00name",
    "data",
    "*",
    "x" * 5000,
    "gpt2",
    "owner--name",
]


def test_a_hostile_model_is_refused_with_a_sentence(monkeypatch):
    monkeypatch.setenv("ADDEND_PROBES_A_MINUTE", "1000")
    app = opened("inside", text="a", model="owner/none")
    for model in MODELS:
        again(app, text="a", model=model)
        stands(app, model)
        assert told(app).endswith("."), model
        assert "This server" in told(app), model
        assert len(told(app)) < 1000


@pytest.mark.parametrize("link", [{"model2": str(ROOT / "data")}, {"model": str(ROOT / "data"), "image": "scene"}])
def test_no_page_opens_a_folder(link):
    app = opened("inside", **link)
    stands(app)
    assert "opens no folders" in told(app)


def test_a_hostile_revision_is_refused_with_a_sentence(monkeypatch):
    monkeypatch.setenv("ADDEND_MODELS", "*")
    app = opened("inside", text="a", model="owner/name")
    for revision in ("../../etc/passwd", "<b>x</b>", "a b", "-", "$(id)"):
        again(app, text="a", model="owner/name", revision=revision)
        stands(app, revision)
        assert "is not a revision" in told(app)


PROBES = ["../../../etc/passwd", "' OR 1=1 --", "example-%", "x" * 5000, "example-agreement.parquet", "<b>x</b>", "%00"]


def test_a_hostile_probe_id_finds_nothing():
    app = opened("inside")
    for probe in PROBES:
        again(app, probe=probe)
        stands(app, probe)
        assert "There is no saved probe" in told(app) or "not offered here" in told(app)


LINKS: dict[str, list[dict[str, str]]] = {
    "inside": [
        {"layer": "-1"},
        {"layer": "999999999"},
        {"layer": "1e9"},
        {"head": "-2"},
        {"also": "<b>x</b>", "tab": "<b>x</b>", "look": "[x](http://evil.example)"},
        {"side": "<b>x</b>", "pair": "b"},
        {"tab": "similarity", "pair": "b", "pooling": "<b>x</b>"},
        {"method": "<b>x</b>"},
        {"measure": "[x](http://evil.example)"},
        {"freeze": "__import__('os')"},
        {"truncate": "maybe"},
        {"tab": "change", "do": "drop_terms", "terms": "<b>x</b>", "layers": "9" * 30},
        {"tab": "change", "do": "drop_terms", "heads": "-1"},
        {"tab": "change", "do": "scale_positions", "scale": "1e999"},
        {"tab": "change", "do": "swap_positions", "encoding": "../../x"},
        {"tab": "change", "do": "shuffle_positions", "seed": "999999999"},
        {"tab": "change", "do": "<b>teleport</b>"},
        {"image": "/etc/passwd"},
        {"image": "scene", "model": "tiny-random-vit", "layer": "999999999"},
        {"tab": "layers", "over": "corpus", "look": "heads", "corpus": "' OR 1=1 --"},
        {"tab": "layers", "over": "corpus", "look": "basis", "models": "<b>x</b>"},
        {"layer2": "999999999"},
        {"model2": "<b>x</b>"},
    ],
    "choose": [
        {"look": "values", "encoding_length": "999999999", "dim": "999999999"},
    ],
    "experiments": [
        {"part": "published", "published_table": "'; DROP TABLE runs; --"},
        {"part": "curves", "variants": "<b>x</b>", "recipe": "../.."},
        {"part": "glue", "glue_preset": "<b>x</b>", "margin": "inf"},
    ],
    "runs": [
        {"run": "<b>x</b>", "kind": "../..", "variant": "' OR ''='"},
    ],
}


@pytest.mark.parametrize("page", LINKS)
def test_a_hostile_link_is_said_and_the_page_stands(page):
    app = opened(page)
    for given in LINKS[page]:
        again(app, **given)
        stands(app, *given.values())
        assert told(app), given


# Uploads -------------------------------------------------------------------------------------------------


def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("../../x", "x")
    return buffer.getvalue()


def wide(width: int, height: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("1", (width, height)).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def bitmap() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64)).save(buffer, "BMP")
    return buffer.getvalue()


def uploads() -> list[tuple[str, bytes, str]]:
    """Files of readers, and what is said of each. Making them takes a second, so nobody does it on import."""
    return [
        ("bomb.png", wide(20_000, 20_000), "million are accepted"),
        ("wide.png", wide(11_000_000, 1), "million are accepted"),
        ("large.png", b"\x89PNG" + b"0" * 5_100_000, "at most 5 MB"),
        ("archive.png", archive(), "no image that can be read"),
        ("page.png", b"<svg onload=alert(1)>", "no image that can be read"),
        ("pickle.png", b"cos\nsystem\n(S'id'\ntR.", "no image that can be read"),
        ("cut.png", png(64, 64)[:200], "no image that can be read"),
        ("other.png", bitmap(), "no image that can be read"),
        ("postscript.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "no image that can be read"),
        ("empty.png", b"", "no image that can be read"),
    ]


def test_a_hostile_upload_is_refused_with_a_sentence():
    app = image()
    for name, data, said in uploads():
        uploaded(app, name, data)
        stands(app)
        assert said in told(app), (name, told(app))


def test_a_hostile_file_name_is_shown_as_text():
    app = image()
    for name in ("<img src=x onerror=alert(1)>.png", "../../x.png", "[x](http://evil.example).png"):
        uploaded(app, name, png(64, 64))
        stands(app, name)
        assert not app.error


# Presses, rates, saving ------------------------------------------------------------------------------------


def test_a_link_downloads_nothing_until_its_reader_presses(monkeypatch):
    monkeypatch.setenv("ADDEND_MODELS", "owner/*")
    app = opened("inside", text="a", model="owner/never-fetched")
    stands(app)
    assert "is not on this server yet" in told(app)
    assert "cannot be reached" not in told(app)
    next(button for button in app.button if button.label == "Download").click()
    app.run()
    stands(app)
    assert "cannot be reached" in told(app)
    other = opened("inside", text="a", model="owner/never-fetched")  # another reader has pressed nothing
    assert "is not on this server yet" in told(other)


def test_a_session_may_probe_so_often_a_minute_and_what_is_kept_is_free(monkeypatch):
    monkeypatch.setenv("ADDEND_PROBES_A_MINUTE", "2")
    app = opened("inside", text="rates one")  # a probe of a layer, and one of every layer
    stands(app)
    app.run()
    assert not app.error
    app.query_params["text"] = "rates two"
    app.run()
    stands(app)
    assert "This server takes 2 probes per minute from one session" in told(app)
    assert not opened("inside", text="rates three").error


def test_a_reader_cannot_tell_by_the_time_that_another_asked_the_same(monkeypatch):
    """Not with a server that is idle: a first answer takes its run's time whether it is kept or not."""
    waited: list[float] = []
    monkeypatch.setattr(live, "time", SimpleNamespace(sleep=waited.append, monotonic=time.monotonic))
    first = opened("inside", text="a secret of one reader")
    assert not waited, "the first reader waits for the run itself"
    runs = [kept.seconds for kept in (live.shared().service.results.get(key) for key, _ in results()) if kept]
    first.run()
    assert not waited, "and not again for what was answered"
    opened("inside", text="a secret of one reader")
    assert len(waited) == 2, "a layer, and every layer"
    assert set(waited) <= set(runs)
    assert min(waited) > 0
    monkeypatch.delenv("ADDEND_HOSTED")
    waited.clear()
    opened("inside", text="a secret of one reader")
    assert not waited, "on a machine of one's own nothing is hidden"


def results():
    return live.shared().service.results.contents()


def test_what_another_asked_counts_as_a_probe_of_ones_own(monkeypatch):
    opened("inside", text="counted one")
    opened("inside", text="counted two")
    monkeypatch.setenv("ADDEND_PROBES_A_MINUTE", "2")
    app = opened("inside", text="counted one")
    app.query_params["text"] = "counted two"
    app.run()
    assert "This server takes 2 probes per minute from one session" in told(app)


def test_nothing_is_saved_unless_the_owner_says_so():
    app = opened("inside", text="a")
    (button,) = [button for button in app.button if button.label == "Save probe"]
    assert button.disabled


def test_an_address_saves_so_many_probes_a_minute(tmp_path, monkeypatch):
    monkeypatch.setenv("ADDEND_SAVE_PROBES", "1")
    monkeypatch.setenv("ADDEND_PROBES", str(tmp_path / "probes"))
    monkeypatch.setenv("ADDEND_SAVES_A_MINUTE", "2")
    for number in range(4):
        app = opened("inside", text=f"saved by a reader {number}")
        next(button for button in app.button if button.label == "Save probe").click()
        app.run()
        stands(app)
        assert ("takes 2 probes to save per minute from one network address" in told(app)) == (number >= 2)
    assert len(list((tmp_path / "probes").glob("*.parquet"))) == 2


def test_one_import_of_an_address_is_read_at_a_time(tmp_path, monkeypatch):
    """Six files of one client held the only place in turn, and a one-row file of somebody else was refused."""
    monkeypatch.setenv("ADDEND_IMPORT", "1")
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    monkeypatch.setattr(query_quota, "IMPORT_WAIT_SECONDS", 0.1)
    monkeypatch.setattr(query_quota.live, "client_address", lambda: "203.0.113.7")
    with query_quota.count_import():
        with pytest.raises(Busy, match="Another import of yours is running"), query_quota.count_import():
            pytest.fail("it was let in")
        monkeypatch.setattr(query_quota.live, "client_address", lambda: "203.0.113.8")
        with query_quota.count_import():
            row = b"variant,task,metric,seed,learning_rate,value\nmine,rte,accuracy,0,1e-4,0.6\n"
            assert plan_in_child({"mine.csv": row}, UserMetadata()).rows == 1


# What is logged, and what breaks -----------------------------------------------------------------------------


def logged(capsys: pytest.CaptureFixture[str]) -> tuple[str, list[dict[str, Any]]]:
    said = capsys.readouterr().err
    return said, [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def test_the_log_says_what_happened_and_no_text(capsys):
    opened("inside", text="unheardof whisper", pair="second whisper")
    opened("inside", text="whisper", model="/secret/whisper")
    said, lines = logged(capsys)
    assert "whisper" not in said
    probed = [line for line in lines if line["event"] == "probe"]
    turns = [line for line in lines if line["event"] == "turn"]
    assert [line["outcome"] for line in probed] == ["ok", "ok", "ModelError"]
    assert probed[0]["tokens"] > 5
    assert [line["request"] for line in turns] == [line["request"] for line in probed[:2]]  # the third found no model
    assert all(line["waited"] >= 0 for line in turns)
    assert len(lines) == len(probed) + len(turns)


def test_what_breaks_is_told_without_its_message(monkeypatch, capsys):
    def fail(*_: Any) -> None:
        raise ValueError("the whisper of a reader")

    monkeypatch.setattr("dashboard.widgets.show.copy_link", fail)
    monkeypatch.setattr("dashboard.views", None, raising=False)
    app = opened("runs")
    assert not app.exception
    reference = told(app).split("reference ")[1].split(",")[0]
    said, lines = logged(capsys)
    assert "whisper" not in said
    assert lines[-1]["reference"] == reference
    assert lines[-1]["kind"] == "ValueError"
    assert "dashboard/views/runs.py:" in lines[-1]["at"]
    assert "whisper" not in everything(app)


def test_no_logger_quotes_an_exception():
    log.hide_exception_messages()
    stream = io.StringIO()
    logger = logging.getLogger("some library")
    logger.addHandler(handler := logging.StreamHandler(stream))
    try:
        raise ValueError("the whisper of a reader")
    except ValueError:
        logger.exception("It failed")
    finally:
        logger.removeHandler(handler)
    assert stream.getvalue().startswith("ValueError at tests/app/test_hosted.py:")
    assert "whisper" not in stream.getvalue()


def test_nor_does_streamlit_itself_where_an_exception_passes_every_page(capsys):
    log.hide_exception_messages()
    handle_uncaught_app_exception(ValueError("the whisper of a reader"))
    assert "whisper" not in "".join(capsys.readouterr())


# Who is let in ------------------------------------------------------------------------------------------------


def test_sign_in_without_its_settings_lets_nobody_in(monkeypatch):
    monkeypatch.setenv("ADDEND_SIGN_IN", "1")
    app = opened("inside")
    assert "has no [auth] section" in told(app)
    assert not app.title


def test_who_has_not_signed_in_sees_a_button_alone(monkeypatch):
    monkeypatch.setenv("ADDEND_SIGN_IN", "1")
    app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=120)
    app.secrets["auth"] = {"redirect_uri": "http://localhost/oauth2callback", "cookie_secret": "x", "client_id": "x"}
    for page in ("", "inside", "runs"):
        app.switch_page(f"views/{page or 'home'}.py")
        app.run()
        assert not app.exception
        assert [button.label for button in app.button] == ["Sign in"]
        assert [title.value for title in app.title] == ["Addend"]
        assert not app.caption


def test_a_wrong_setting_is_said_on_every_page(monkeypatch):
    monkeypatch.setenv("ADDEND_TOKENS", "many")
    app = opened("inside")
    assert "ADDEND_TOKENS is 'many'; expected a whole number" in told(app)
    assert not app.title
