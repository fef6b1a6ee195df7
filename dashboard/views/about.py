"""Method and data: what the numbers mean, what the store holds, how to use it elsewhere, how to cite it."""

import streamlit as st

from analysis.core.formatting import plural
from analysis.figures.citation import bibtex_of
from analysis.narrative import method
from analysis.narrative.glossary import GROUPS, matching_terms
from analysis.sql import contents
from dashboard.session.markdown_escape import escape_markdown, hide_server_paths
from dashboard.widgets import show
from dashboard.widgets.anchor_fold import anchor_fold, open_by_anchor
from dashboard.widgets.run_facts import in_words

# A formula fits in its line; without this, a fraction makes Streamlit give it a scroll bar.
FORMULAS = "<style>.katex-display { overflow: visible !important; }</style>"

show.header("about", "What the numbers mean, where they are stored, and how to get them.")
st.html(FORMULAS)


def draw_part(number: int, part: method.MethodPart) -> None:
    """One idea of the method, folded: its words, formula, a link to what shows it, its numbers in one stored text."""
    with anchor_fold("about", part.anchor, f"{number}. {part.title}"):
        words, numbers = st.columns([5, 3], gap="medium")
    with words:
        st.markdown(part.text)
        if part.formula:
            st.latex(part.formula)
        if part.where:
            st.markdown(part.where)
        if part.see:
            st.markdown(f"[{part.see}]({show.address(part.page, part.values)})")
    if part.example and (example := part.example()):
        with numbers.container(border=True):
            st.caption("In numbers, rounded")
            st.markdown(escape_markdown(example.text))
            if example.formula:
                st.latex(example.formula)
            if example.after:
                st.markdown(escape_markdown(example.after))


st.markdown(
    "[Method](#method) · [Glossary](#glossary) · [What the store holds](#store) · [Use it elsewhere](#elsewhere) · "
    "[Cite](#cite)"
)

st.header("Method", anchor="method")
st.markdown("How a score falls apart into terms of word and position, and what is counted of them, step by step.")
with st.container(gap="xsmall"):
    for number, part in enumerate(method.PARTS, 1):
        draw_part(number, part)
open_by_anchor(dark=show.theme().dark)

st.header("Glossary", anchor="glossary")
st.markdown("Where a page uses one of these words, the question mark next to the text shows the same definition.")
sought = st.text_input("Find a word", key="about.find", width=360).strip()
found = matching_terms(sought)
if not found:
    st.info(f"No word of the glossary has “{escape_markdown(sought)}”, nor has its definition.")
count = plural(sum(map(len, found.values())), "word")
place = st.container() if sought else st.expander(f"All {count}", icon=":material/dictionary:", key="about.all_words")
for group, terms in found.items():
    place.subheader(group, anchor=False)
    definitions = GROUPS[group]
    with place.container(key=f"glossary_terms_{group.split()[0].lower()}"):
        st.markdown("\n".join(f"- **{term}**: {escape_markdown(definitions[term])}" for term in terms))

st.header("What the store holds", anchor="store")
st.markdown("Every stored number belongs to a run, with its settings, device, code and versions, or to a citation.")
st.page_link("views/runs.py", label="All runs and their settings", icon=":material/list_alt:")
meta = contents.meta()
st.text(f"Store schema {meta.schema_version}, built {in_words(meta.built)}. {meta.versions}")
with st.expander("Tables and their rows"):
    st.dataframe(contents.tables(), hide_index=True)
problems = contents.problems()
if len(problems):
    st.warning("Some results files have problems; everything else is shown.")
    st.dataframe(problems.map(hide_server_paths), hide_index=True)

st.header("Use it elsewhere", anchor="elsewhere")
commands, python = st.columns(2, gap="small")
commands.code(
    """\
python -m analysis query "SELECT * FROM term_stats WHERE head = 0" --csv
python -m analysis probe --text "The dog chased the cat." --json
python -m analysis encode sinusoidal --length 128 --dim 512 --csv
python -m analysis export "LINK" --format svg -o figure.svg""",
    language="bash",
    wrap_lines=True,
)
python.code(
    """\
from analysis import decompose, encode
from analysis.core import default_model
from transformers import AutoModel, AutoTokenizer

table = encode("sinusoidal", length=128, dim=512)  # (length, dim)
folder = default_model.folder()
model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
result = decompose(model, tokenizer, "The dog chased the cat.", layer=0)
result.terms["word_to_position"]  # (head, query, key)
result.shares(), result.effects(), result.max_error""",
    language="python",
    wrap_lines=True,
)

st.header("Cite", anchor="cite")
show.cite_this("addend", "Addend", show.address("", {}))
st.caption(
    "Source, under the three dots of every figure, cites that figure and the works it rests on. All works stand below."
)
with st.expander("All works cited"):
    st.code(bibtex_of(), language="latex")
