"""Runs: every run in the store, and everything about one of them."""

from contextlib import suppress

import pandas as pd
import streamlit as st

from analysis.core.errors import AddendError
from analysis.figures import stored_figure
from analysis.figures.runs.all_runs import FINISHED, all_runs as stored_runs, kind_title, newest_of_each_first, summary
from analysis.figures.training.trainings import BASELINES, COMMAND, MASKED
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import phone_fold, show
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.run_facts import facts, label, made

PAGE = "runs"
ANY = {"kind": "every kind", "variant": "every variant", "preset": "every recipe"}
# Columns of the table and their titles. One that is empty is not shown, nor the status where every run is finished.
# What a run changed of its preset stands with it: few runs changed anything.
COLUMNS = {
    "subject": "variant or model",
    "seed": "seed",
    "kind": "kind",
    "preset": "recipe",
    "status": "status",
    "created": "made (UTC)",
    "seconds": "seconds",
    "device": "device",
    "run_id": "run",
}


show.header(
    PAGE, "Every stored number belongs to one of these runs, or to a citation. Readers' own probes are not listed."
)
all_runs = stored_runs()
if len(all_runs):
    st.markdown(escape_markdown(summary(all_runs)))
titles = dict(zip(all_runs.variant, all_runs.title, strict=True))
by_id = {run["run_id"]: run for run in all_runs.to_dict("records")}

pickers = Pickers(PAGE)
matching = all_runs


def filtered(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """The runs that have the chosen value of a column, for which a picker is drawn."""
    present = sorted(set(all_runs[name].dropna()))
    display_name = kind_title if name == "kind" else titles.get if name == "variant" else str
    labels = {value: display_name(value) for value in present} | {"": ANY[name]}
    title = ANY[name].removeprefix("every ").capitalize()
    selection = pickers.choice(name, title, ["", *present], labels, on_change=lambda: pickers.set("run", ""), width=210)
    return runs[runs[name] == selection] if selection else runs


with st.container(horizontal=True, vertical_alignment="bottom"):
    matching = filtered(matching, "kind")
    phone_fold.more(PAGE)
    with phone_fold.folded(PAGE, "filters"):
        for column in ("variant", "preset"):
            matching = filtered(matching, column)
if matching.empty:
    show.copy_link(PAGE, pickers.done())
    st.info(
        "No run has this kind, variant and recipe."
        if len(all_runs)
        else f"No run is stored yet. {COMMAND} trains models of our own."
    )
    st.stop()


matching = newest_of_each_first(matching)


def select_clicked() -> None:
    """Selects the run of the clicked row."""
    if rows := st.session_state["runs.table"].selection.rows:
        pickers.set("run", matching.run_id.iloc[rows[0]])


def draw_table() -> None:
    """The runs that match, a row each."""
    table = matching.assign(
        kind=[kind_title(kind) for kind in matching.kind],
        subject=matching.title.where(matching.title.astype(bool), matching.model),
        preset=matching.preset.where(matching.changed == "", matching.preset + ", " + matching.changed),
        created=matching.created.map(made),
        seconds=matching.seconds.round(),
    )[list(COLUMNS)].rename(columns=COLUMNS)  # fmt: skip
    st.dataframe(
        table.loc[:, (table.notna() & (table != "") & (table != FINISHED)).any()],
        hide_index=True,
        height=300 if len(table) > 7 else "auto",
        key="runs.table",
        on_select=select_clicked,
        selection_mode="single-row",
        column_config={
            "seconds": st.column_config.NumberColumn(format="localized"),
            "seed": st.column_config.NumberColumn(format="%d", width=50),
            # Three columns on a phone.
            "kind": st.column_config.Column(width=92),
            "variant or model": st.column_config.Column(width=190),
            "preset": st.column_config.Column(width=110),
        },
    )
    st.caption(
        f"{len(matching):,} of {len(all_runs):,} runs: first the newest of every variant or model, then the others. "
        "Click at the left of a row, or pick one in the list of runs."
    )


curves = matching[matching.kind == "curves"]
strip = None
if len(curves) and not pickers.get("variant"):
    with suppress(AddendError):  # Losses that no file holds.
        strip = stored_figure("runs_strip", pickers.values())
if not pickers.get("run") and len(curves):
    # The newest that has something to draw, of those that the chart shows: of adding, where that is among them.
    shown = curves[curves.run_id.isin(strip.frame().run_id)] if strip else curves
    adding = shown[shown.variant == BASELINES[MASKED]]
    pickers.set("run", (adding if len(adding) else shown).run_id.iloc[0])
    strip = stored_figure("runs_strip", pickers.values()) if strip else None
if strip:
    chart, one = st.columns(2, gap="medium")
else:
    draw_table()
    chart = one = st.container()
if not (all_runs.kind == "curves").any():
    st.caption(f"No training of our own is among them yet; {COMMAND} makes some.")
with one:
    run_id = pickers.choice("run", "Run", matching.run_id.tolist(), lambda selection: label(by_id[selection]))
    values = pickers.done()
    show.copy_link(PAGE, values)
    if by_id[run_id]["kind"] == "curves":
        with show.reporting_problems():
            show.show(stored_figure("runs_curve", values), PAGE, values)
if strip:
    with chart:
        show.show(strip, PAGE, values, on_cell=lambda run: pickers.set("run", run), cell=("run_id",))
facts(by_id[run_id])
if strip:
    with st.expander(f"All {len(matching):,} runs in a table", icon=":material/table_rows:", key="runs.table_fold"):
        draw_table()
