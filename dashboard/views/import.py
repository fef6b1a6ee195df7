"""Bring your own: results made elsewhere, shown as they would be stored, then stored with the rest."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from analysis.ablation.glue.tasks import METRICS
from analysis.core import settings
from analysis.core.formatting import plural
from analysis.figures.experiments.board_rows import BASELINE
from analysis.imports.limits import MAX_FILES, MAX_LISTED, MAX_MIB, uploads
from analysis.imports.naming import CURVES
from analysis.imports.plan import Plan, execute, plan
from analysis.imports.plan_process import plan_in_child
from analysis.imports.reader import READERS, UserMetadata
from analysis.imports.rows import REQUIRED
from dashboard.session import current_store, query_quota
from dashboard.session.markdown_escape import escape_markdown as safe
from dashboard.widgets import import_preview, show
from dashboard.widgets.pickers import Pickers
from dashboard.widgets.vega_specs import panel_spec

PAGE = "import"
EXAMPLE = """\
variant,task,metric,seed,learning_rate,value
bert_a,rte,accuracy,0,0.0001,0.621
bert_a,rte,accuracy,1,0.0001,0.608
bert_a,rte,accuracy,2,0.0001,0.615
my_concat,rte,accuracy,0,0.0001,0.612
my_concat,rte,accuracy,1,0.0001,0.604
my_concat,rte,accuracy,2,0.0001,0.601"""
MAX_SHOWN = 100  # problems that the page lists
CURVE = """\
variant,metric,seed,step,value
bert_a,validation_loss,0,1000,6.34
bert_a,validation_loss,0,2000,5.92
bert_a,validation_loss,1,1000,6.31
bert_a,validation_loss,1,2000,5.95
my_concat,validation_loss,0,1000,6.21
my_concat,validation_loss,0,2000,5.87
my_concat,validation_loss,1,1000,6.25
my_concat,validation_loss,1,2000,5.84"""


def show_templates() -> None:
    """The simplest form of results, as files to fill in."""
    with st.container(horizontal=True):
        for name, rows, label in (("scores", EXAMPLE, "Template for scores"), ("curves", CURVE, "Template for curves")):
            st.download_button(
                f"{label} (CSV)",
                f"{rows}\n",
                f"addend-{name}.csv",
                "text/csv",
                icon=":material/download:",
                on_click="ignore",
                key=f"import.template.{name}",
            )


def show_forms() -> None:
    """The forms of results that can be read."""
    for _, reader in READERS.items():
        st.markdown(f"**{reader.title}**: {safe(reader.expects)}.")
    left, right = st.columns(2)
    left.caption(
        f"One score per row: {', '.join(REQUIRED['scores'])}. Metrics: {', '.join(sorted(METRICS))}, as fractions."
    )
    left.code(EXAMPLE, language=None)
    right.caption(f"One point of a curve per row: {', '.join(REQUIRED['curves'])}. Metrics: {', '.join(CURVES)}.")
    right.code(CURVE, language=None)
    st.caption(
        "seed is the pre-training's seed: fine-tunings of one checkpoint share it and differ in finetune_seed. "
        "preset names runs that may be compared with one another. Imported runs are never mixed with ours: their "
        "preset begins with 'imported', their status is 'imported', and their file says where they came from."
    )


def values_for_all_rows() -> UserMetadata:
    """Values that the files need not contain."""
    with st.expander("One value for all rows, where the files do not give it"), st.container(horizontal=True):
        variant = st.text_input("Variant", key="import.variant", width=200)
        task = st.text_input("Task", key="import.task", width=150)
        seed = st.number_input("Pre-training seed", 0, 2**31 - 1, None, key="import.seed", width=170)
        rate = st.number_input("Learning rate", 0.0, 10.0, None, format="%g", key="import.rate", width=150)
        preset = st.text_input("Preset", key="import.preset", width=150)
    return UserMetadata(
        variant=variant or None, task=task or None, seed=seed, learning_rate=rate, preset=preset or None
    )


def landing(plan: Plan) -> dict[str, str]:
    """The parameters of the view of Experiments that shows what was added: its row on the board, or its scores."""
    curves = [run for run in plan.runs if run.kind == "curves"]
    if not curves:
        return {"part": "glue", "glue_preset": plan.runs[0].preset}
    run = next((run for run in curves if run.variant != BASELINE), curves[0])
    return {"row": f"{run.preset}/{run.variant}"}


def _each(rows: Sequence[Mapping[str, Any]], column: str) -> str:
    """The different values of a column, of which curves have no task: `cola, rte`."""
    return ", ".join(dict.fromkeys(str(row[column]) for row in rows if row.get(column)))


def show_preview(plan: Plan) -> None:
    """Shows the runs that would be added, or every bad row."""
    for skipped in plan.left[:MAX_LISTED]:
        st.caption(f"Left out: {safe(skipped)}")
    if remaining := plan.left[MAX_LISTED:]:
        st.caption(f"And {len(remaining):,} more were left out.")
    for note in plan.notes[:MAX_LISTED]:
        st.caption(f"Note: {safe(note)}")
    if plan.bad:
        st.error(f"Nothing can be imported, because of {plural(len(plan.bad), 'problem')}:", icon=":material/error:")
        # Not a grid, whose cells would cut the sentences off.
        bad = [
            {"file": item.file, "line": str(item.line or ""), "problem": item.problem} for item in plan.bad[:MAX_SHOWN]
        ]
        st.table(pd.DataFrame(bad).map(safe), hide_index=True)
        if remaining := plan.bad[MAX_SHOWN:]:
            st.caption(f"And {len(remaining):,} more.")
        return
    if plan.known:
        st.info(f"{plan.known:,} rows are stored already and are not added again.")
    if not plan.runs:
        return
    amount = f"{plural(plan.rows, 'row')} of {plural(len(plan.runs), 'run')}"
    st.markdown(f"This would add {amount}.")
    runs = [
        {"kind": run.kind, "preset": run.preset, "variant": run.variant, "seed": run.seed,
         "task": _each(run.rows, "task"), "metric": _each(run.rows, "metric"), "rows": len(run.rows),
         "last value": str(run.rows[-1]["value"]), "form": run.form, "from": ", ".join(run.sources[:3])}
        for run in plan.runs
    ]  # fmt: skip
    st.dataframe(pd.DataFrame(runs), hide_index=True)
    if (picture := import_preview.of_plan(plan)) is not None:
        with st.container(width=620):
            st.vega_lite_chart(panel_spec(picture, show.theme()), width="stretch")
    if st.button("Add them", type="primary", icon=":material/add:"):
        execute(plan)
        current_store.rebuild()
        st.session_state["import.done"] = f"Added: {amount}."
        st.session_state["import.round"] = st.session_state.get("import.round", 0) + 1
        st.switch_page("views/experiments.py", query_params=landing(plan))


show.header(
    PAGE,
    "Add results made elsewhere. They then appear next to ours, marked as yours, on the board of Experiments and in "
    "its tables and charts.",
)
values = Pickers(PAGE).done()
show.copy_link(PAGE, values)
st.markdown(
    "Fill in a template, or upload what run_glue.py, MLflow, Weights & Biases or Trackio write. Call your baseline "
    f"**{BASELINE}** (positions added once, at the input); your other variants are compared with it."
)
show_templates()
template, result = st.columns(2, gap="large")
with template, st.container(key="import.example"):
    st.caption("What goes in: the template for scores")
    st.table(pd.read_csv(io.StringIO(EXAMPLE), dtype=str), hide_index=True)
with result:
    st.caption("What comes out, here of the template alone: a dot a seed, and the difference from your baseline")
    st.vega_lite_chart(panel_spec(import_preview.of_template(EXAMPLE), show.theme()), width="stretch")
with st.expander("Which files and columns are read"):
    show_forms()
if not uploads():
    st.info("This server accepts no uploads. On your own machine, run: python -m analysis import FILES")
    st.stop()
folder = st.segmented_control("Upload", ["Files", "A folder"], default="Files", required=True) == "A folder"
uploaded = st.file_uploader(
    f"At most {MAX_MIB} MB together",
    type=None if folder else ["csv", "jsonl", "parquet", "json", "db"],
    accept_multiple_files="directory" if folder else True,
    max_upload_size=MAX_MIB,
    key=f"import.files.{folder}.{st.session_state.get('import.round', 0)}",
)
outcome = st.container()  # Right below the files, where it is seen.
defaults = values_for_all_rows()
if uploaded:
    if sum(item.size for item in uploaded) > MAX_MIB << 20 or len(uploaded) > MAX_FILES:
        st.error(f"These are more than {MAX_MIB} MB or {MAX_FILES:,} files; send them in parts.")
        st.stop()
    with outcome, show.reporting_problems():
        planner = plan_in_child if settings.hosted() else plan
        with query_quota.count_import():
            planned = planner({item.name.replace("\\", "/"): item.getvalue() for item in uploaded}, defaults)
        show_preview(planned)
else:
    st.caption("You see what would be added before anything is stored.")
