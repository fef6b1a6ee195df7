"""Status: versions, device, memory, what is kept, the line, the store, and the limits in force."""

import streamlit as st

from analysis.core.formatting import plural
from analysis.sql import contents
from dashboard.session import live, server_status
from dashboard.widgets import show
from dashboard.widgets.run_facts import in_words

show.header(
    "status", "What this server runs on, what it holds in memory, and its limits. No reader's text is shown here."
)

service = live.shared().service
waiting, running = service.queue_lengths()
used, free, total = server_status.memory()
results, megabytes, most = server_status.results()
for column, (label, value, help_text) in zip(
    st.columns(4),
    (
        ("Running", str(running), "Probes that run now: at most one of the embedded models, and one of a reader's."),
        ("Waiting", str(waiting), "Probes waiting for the device, first come, first served."),
        (
            "Memory of this process",
            f"{used / 1000:,.1f} of {total / 1000:,.1f} GB",
            f"{free / 1000:,.1f} GB of the machine are free.",
        ),
        (
            "Results in memory",
            f"{megabytes:,.1f} of {most:,.0f} MB",
            f"{results} results of probes; the same request is answered from memory.",
        ),
    ),
    strict=True,
):
    column.metric(label, value, help=help_text)
st.button("Refresh", icon=":material/refresh:")

st.header("Models in memory", anchor=False)
models = server_status.models()
if models.empty:
    st.caption("None yet: the first probe loads one.")
else:
    st.dataframe(models, hide_index=True, column_config={"MB": st.column_config.NumberColumn(format="%.1f")})
st.caption("When memory runs short, the models used least recently make room; see ADDEND_MODELS_MB below.")

st.header("Versions and device", anchor=False)
st.text(f"{server_status.versions()}\nDevice: {server_status.device()}")

st.header("Store", anchor=False)
meta = contents.meta()
st.text(
    f"Schema {meta.schema_version}, built {in_words(meta.built)} by code {meta.git_sha}\n"
    f"Fingerprint {meta.fingerprint}\n"
    f"Results files that could not be read: {len(contents.problems())}"
)

st.header("Settings in force", anchor=False)
limits = server_status.limits()
changed = limits["from"] == server_status.SET
# A table wraps long names; a grid cuts them off on a narrow screen.
if changed.any():
    st.table(limits[changed].set_index("setting"))
else:
    st.caption("Every setting has its default.")
with st.expander(f"{plural(int((~changed).sum()), 'setting')} at the default"):
    st.table(limits[~changed].set_index("setting"))
st.caption("How to set them: dashboard/hosting/README.md. /_stcore/health says whether the server is up.")
