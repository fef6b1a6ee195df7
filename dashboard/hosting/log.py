"""The server's log: lines of JSON on stderr, without anything that a reader wrote.

An exception's message may quote a text, so only its type is logged, and where in the code it arose.
"""

import json
import logging
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamlit import config

from analysis.core import settings
from analysis.core.errors import AddendError
from analysis.core.provenance import ROOT, now


def log_event(event: str, **facts: Any) -> None:
    """Logs an event, where ADDEND_LOG asks for it."""
    if settings.switch("ADDEND_LOG"):
        fields = {name: value for name, value in facts.items() if value is not None}
        # One write: print makes two, and another thread's line would come between a line and its end.
        sys.stderr.write(json.dumps({"time": now(), "event": event, **fields}) + "\n")
        sys.stderr.flush()


@contextmanager
def timed(event: str, **facts: Any) -> Iterator[dict[str, Any]]:
    """Logs how long a block took and how it ended; the block may add to the facts that it is given."""
    started = time.monotonic()
    outcome = "left"
    try:
        yield facts
        outcome = "ok"
    except Exception as error:
        outcome = type(error).__name__
        if not isinstance(error, AddendError):
            facts["at"] = code_locations(error)
        raise
    finally:
        log_event(event, **facts, outcome=outcome, seconds=round(time.monotonic() - started, 3))


def code_locations(error: BaseException) -> str:
    """The last six frames of an exception's traceback, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    return " > ".join(f"{_relative_path(step.filename)}:{step.lineno}" for step in frames[-6:])


def _relative_path(path: str) -> str:
    file = Path(path)
    return str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else file.name


def hide_exception_messages() -> None:
    """Makes every logger of the process log exceptions by type and location alone. Does so once."""
    make_record = logging.getLogRecordFactory()
    if getattr(make_record, "keeps_texts_out", False):
        return

    def record(*positional: Any, **keywords: Any) -> logging.LogRecord:
        result = make_record(*positional, **keywords)
        if result.exc_info and result.exc_info[1] is not None:
            error = result.exc_info[1]
            result.msg, result.args = f"{type(error).__name__} at {code_locations(error)}", ()
            result.exc_info = result.exc_text = None
        return result

    record.keeps_texts_out = True  # pyright: ignore[reportFunctionMemberAccess]
    logging.setLogRecordFactory(record)
    config.set_option("logger.enableRich", False)  # Streamlit would write exceptions in colour, past every logger
