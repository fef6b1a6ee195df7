"""The state of the server, in names and numbers, without anything that readers entered."""

import os
import sys
from importlib.metadata import version

import pandas as pd
import psutil

from analysis import __version__
from analysis.core import optional_dependencies, settings
from analysis.core.provenance import git_sha, library_versions
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown, hide_server_paths

MB = 1_000_000
PATH_SETTINGS = ("ADDEND_DATA", "ADDEND_STORE", "ADDEND_PROBES")


def versions() -> str:
    """Addend, its code, Streamlit, and what numbers depend on."""
    return f"Addend {__version__}, code {git_sha()}, streamlit {version('streamlit')}, {library_versions()}"


def device() -> str:
    """The device that runs models; PyTorch is not started to find out."""
    if absent := optional_dependencies.missing_packages():
        return f"no models run here: without {', '.join(absent)} (see requirements-results.txt)"
    torch = sys.modules.get("torch")
    if torch is None:
        return "not known yet: no model has been asked for since the start"
    from analysis.models.load import best_device

    name = best_device()
    if name != "cuda":
        return f"{name}, cores: {os.cpu_count()}, threads: {torch.get_num_threads()}"
    free, total = torch.cuda.mem_get_info()
    return f"{torch.cuda.get_device_name()}, {(total - free) / MB:,.0f} of {total / MB:,.0f} MB in use"


def memory() -> tuple[float, float, float]:
    """MB that this process uses, MB free on the machine, and MB it has."""
    machine = psutil.virtual_memory()
    return psutil.Process().memory_info().rss / MB, machine.available / MB, machine.total / MB


def models() -> pd.DataFrame:
    """Models in memory, the most recently used last."""
    cached = live.shared().service.models.contents()
    return pd.DataFrame(
        {"model": [hide_server_paths(str(key[0])) for key, _ in cached], "MB": [size / MB for _, size in cached]}  # type: ignore
    )


def results() -> tuple[int, float, float]:
    """The number of results in memory, their MB, and the most MB that they may take."""
    cached = live.shared().service.results
    return len(cached.contents()), cached.bytes / MB, float(settings.effective_value("ADDEND_RESULTS_MB"))


SET = "environment"
"""The source of a setting that somebody set."""


def limits() -> pd.DataFrame:
    """Every setting, what is in force, whether the environment says so, and what it does; in letters for Markdown."""
    rows = []
    for name, setting in settings.SETTINGS.items():
        is_set = bool(os.environ.get(name, "").strip())
        value = settings.effective_value(name)
        if name in PATH_SETTINGS and settings.hosted():
            value = "set" if is_set else ""
        if setting.unlimited and value == "0" and name != "ADDEND_PROXIES":
            value = "no limit"
        source = SET if is_set else "default"
        rows.append(
            {"setting": name, "in force": value, "from": source, "what it does": setting.description.replace("`", "")}
        )
    return pd.DataFrame(rows).map(escape_markdown)
