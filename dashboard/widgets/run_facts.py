"""One run in full: where it comes from, and every setting."""

from datetime import datetime
from typing import Any

import pandas as pd
import streamlit as st

from analysis.figures.runs.all_runs import MOST_ROWS, UNREADABLE, kind_title, settings, stored_rows
from dashboard.session.markdown_escape import escape_markdown, hide_server_paths

FEW = 12
"""Settings up to so many are shown at once."""


def label(run: Any) -> str:
    """A run in a line."""
    parts = [kind_title(run["kind"]), run["title"] or run["model"]]
    seed = f"seed {run['seed']:.0f}" if run["variant"] and pd.notna(run["seed"]) else ""
    return " · ".join(part for part in (*parts, seed, run["preset"], run["changed"], run["run_id"]) if part)


def made(created: str) -> str:
    """The minute at which a run was made, in universal time: 2026-11-26 03:24."""
    return created[:16].replace("T", " ")


def in_words(created: str) -> str:
    """The same for a sentence: `29 November 2026, 02:30 UTC`."""
    moment = datetime.fromisoformat(created)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def facts(run: Any) -> None:
    """Its command, its code and versions, and every setting."""
    left, right = st.columns(2)
    with left:
        st.markdown("**Where it comes from**")
        if run["kind"] == UNREADABLE:
            st.text(hide_server_paths(run["command"]))
            return
        st.code(hide_server_paths(run["command"]), language="bash", wrap_lines=True)
        details = {
            "status": run["status"],
            "made": made(run["created"]),
            "took": f"{run['seconds']:,.0f} s" if pd.notna(run["seconds"]) else "",
            "device": ", ".join(part for part in (run["device"], run["dtype"]) if part),
            "model": " ".join(part for part in (run["model"], run["revision"]) if part),
            "code": run["git_sha"],
            "versions": run["versions"],
            "file": run["file"],
        }
        known = pd.Series({name: value for name, value in details.items() if value}).map(hide_server_paths)
        with st.container(key="run-facts"):
            st.table(known.map(escape_markdown), border="horizontal", hide_header=True)
    with right:
        st.markdown("**Settings**")
        rows = settings(run["config"])
        if rows.empty:
            st.caption("No setting is stored with this run.")
            return
        if run["preset"]:
            differs = f"Differs from recipe {run['preset']} in: {run['changed']}"
            st.text(differs if run["changed"] else f"All as recipe {run['preset']} says.")
        with st.expander(f"Every setting ({len(rows)})", expanded=len(rows) <= FEW):
            st.dataframe(rows, hide_index=True, height="content")
    rows = stored_rows(run["kind"], run["run_id"])
    if len(rows):
        count = f"the first {MOST_ROWS:,}" if len(rows) == MOST_ROWS else f"{len(rows):,}"
        with st.expander(f"The numbers that it stored ({count})", expanded=len(rows) <= FEW):
            st.dataframe(
                rows.dropna(axis="columns", how="all"), hide_index=True, height="content" if len(rows) <= FEW else 300
            )
