"""Method and data: what the numbers mean, what the store holds, how to use it elsewhere, how to cite it."""

import streamlit as st

from analysis.figures.citation import bibtex_of
from analysis.narrative.glossary import GROUPS
from analysis.sql import contents
from dashboard.session.markdown_escape import escape_markdown, hide_server_paths
from dashboard.widgets import show

show.header("about", "What the numbers mean, where they are stored, and how to get them.")
st.markdown(
    "[Method](#method) · [Glossary](#glossary) · [What the store holds](#store) · [Use it elsewhere](#elsewhere) · "
    "[Cite](#cite)"
)

st.header("Method", anchor="method")
st.markdown(
    r"""
A BERT-style encoder adds a word, a position and a segment vector, $u_i = w_i + p_i + s_i$, and passes the sum through a
LayerNorm. With the LayerNorm's statistics held at the values they take on $u_i$, that is a linear map, so each source
can be followed alone: $q_i = \sum_a q_i^a$ and $k_j = \sum_b k_j^b$ over word, position, segment and bias (what no
source owns: the LayerNorm's $\beta$ and the projections' biases). The score before softmax is a sum of sixteen
**terms**:

$$ \text{score}_{ij} = \sum_{a,b} t^{ab}_{ij}, \qquad t^{ab}_{ij} = \frac{q_i^a \cdot k_j^b}{\sqrt{d_\text{head}}} $$

At layer 0 this is exact. Under every map, "How measured" states the largest difference between the sum of the terms and
the score that the model itself computed in its forward pass.

Deeper layers need one of two methods, and a view says which one it shows. **frozen** follows the same four sources
through the layers with attention patterns, LayerNorm statistics and activation gates held at the values they have in
the model; it still adds up, and position is not credited with what it does through the patterns. **mean** is
statistical: over a corpus of full windows $c$ of slots $t$, a hidden state is $h_{c,t} = \mu + \mathrm{pos}_t +
\mathrm{ctx}_c + \mathrm{resid}_{c,t}$ (Song & Zhong 2023). It adds up as well, its residual being a part; its position
is a mean over windows, which also carries the average word at a slot, so the two methods differ even at layer 0, by a
number that is stored with the means.

- **Key-centred.** Softmax ignores whatever is constant along the keys of one query, so terms are compared after their
  mean over keys is subtracted. A term can be large and change nothing: all four *x → bias* terms do so at layer 0.
- **Share.** $\sum_{ij} c^{ab}_{ij} t_{ij} / \sum_{ij} t_{ij}^2$, with $c$ the centred term and $t$ the centred total.
  Shares of a head add up to 1; a share may be negative.
- **Cancellation.** $\sum_{ab} |c^{ab}| / |t|$: how large the terms of a head are together, as a multiple of the
  scores. No share can be larger. Where it is over 30, shares are withheld; where it is over 100, terms are computed in
  float64.
- **Effect.** The mean over queries of $\mathrm{KL}(\mathrm{softmax}(S) \,\|\, \mathrm{softmax}(S - T))$ in nats: what
  removing the term does to the pattern. Effects do not add up, and may rank terms differently from shares.
- **Over heads.** The mean over heads and the value pooled over heads can tell opposite stories, because one head with
  large scores dominates a pooled value. Both are shown, and heads come first.
"""
)

st.header("Glossary", anchor="glossary")
st.markdown("Where a page uses one of these words, the question mark next to the text shows the same definition.")
for group, definitions in GROUPS.items():
    st.subheader(group)
    with st.container(key=f"glossary_terms_{group.split()[0].lower()}"):
        terms = sorted(definitions, key=str.lower)
        st.markdown("\n".join(f"- **{term}**: {escape_markdown(definitions[term])}" for term in terms))

st.header("What the store holds", anchor="store")
st.markdown("Every stored number belongs to a run, with its settings, device, code and versions, or to a citation.")
st.page_link("views/runs.py", label="All runs and their settings", icon=":material/list_alt:")
meta = contents.meta()
st.text(f"Store schema {meta.schema_version}, built {meta.built}. {meta.versions}")
with st.expander("Tables and their rows"):
    st.dataframe(contents.tables(), hide_index=True)
problems = contents.problems()
if len(problems):
    st.warning("Some results files have problems; everything else is shown.")
    st.dataframe(problems.map(hide_server_paths), hide_index=True)

st.header("Use it elsewhere", anchor="elsewhere")
st.code(
    """\
python -m analysis query "SELECT * FROM term_stats WHERE head = 0" --csv
python -m analysis probe --text "The dog chased the cat." --json
python -m analysis encode sinusoidal --length 128 --dim 512 --csv
python -m analysis export "LINK" --format svg -o figure.svg""",
    language="bash",
    wrap_lines=True,
)
st.code(
    """\
from analysis.encodings import encode
from analysis.measurements.terms import decompose

table = encode("sinusoidal", length=128, dim=512)          # (length, dim)
result = decompose(model, tokenizer, "The dog chased the cat.")
result.terms["word_to_position"]                           # (head, query, key)
result.shares(), result.effects(), result.max_error""",
    language="python",
    wrap_lines=True,
)

st.header("Cite", anchor="cite")
show.cite_this("addend", "The whole dashboard", show.address("", {}))
st.caption(
    "Source, under the three dots of every figure, cites that figure and the works it rests on. All works stand below."
)
with st.expander("All works cited"):
    st.code(bibtex_of(), language="latex")
