"""Encodings: what each one looks like, and what it tells about order."""

import streamlit as st

from dashboard import queries, show
from dashboard.pickers import Pickers

show.header("encodings", "How a position is written down, before any word is added to it.")
known = queries.rows("SELECT encoding, title FROM encodings")
titles = dict(zip(known.encoding, known.title, strict=True))

picked = Pickers("encodings")
first, second, third, fourth = st.columns([3, 3, 2, 2])
with first:
    picked.choice("encoding", "Encoding", list(titles), titles)
with second:
    picked.choice("other", "Beside it", ["", *titles], lambda name: titles.get(name, "nothing"))
with third:
    picked.slider("length", "Positions", [16, 32, 64, 128, 256, 512])
with fourth:
    picked.slider("dim", "Dimensions", [16, 32, 64, 128, 256, 384, 512])
values = picked.done()

show.copy_link("encodings", values)
show.show(queries.figure("encoding_heat", values), "encodings", values)
