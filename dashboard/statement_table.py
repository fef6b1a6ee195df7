"""Statements in rows: verdict, what is said and of what, the measurement as a picture, and the way to its evidence."""

from base64 import b64encode
from collections.abc import Iterable
from html import escape

import streamlit as st

from analysis.claims.said import number, plural
from analysis.statements.base import Judgement
from analysis.statements.stored import Heading
from dashboard import show
from dashboard.effect import WIDTH, picture

SIGNS = {"supported": "✓", "contradicted": "✗", "mixed": "≈", "open": "○"}
"""The sign of every verdict; the word always stands beside it."""
HUES = {
    "supported": ("#0f7b5f", "#4cc9a4"),
    "contradicted": ("#b3203e", "#ff7a93"),
    "mixed": ("#8a5a00", "#f0b54a"),
    "open": ("#5b6372", "#a9b1bf"),
}
"""Light and dark: each at least 4.5 to 1 against its ground."""

STYLE = """
<style>
.statements { width: 100%; border-collapse: collapse; font-size: 1rem; }
.statements td { padding: 10px 12px 10px 0; vertical-align: top; border: 0; border-bottom: 1px solid LINE; }
.statements .verdict { width: 8.5rem; font-weight: 600; white-space: nowrap; }
.statements .soft { color: SOFT; font-size: 0.9rem; }
.statements .measured { width: 310px; }
.statements .more { width: 7rem; white-space: nowrap; }
.statements a { color: ACCENT; }
.statements img { max-width: 100%; display: block; }
@media (max-width: 760px) {
  .statements tr, .statements td { display: block; width: auto; }
  .statements td { border-bottom: 0; padding: 2px 0; }
  .statements tr { border-bottom: 1px solid LINE; padding: 10px 0; }
  .statements .verdict, .statements .measured, .statements .more { width: auto; }
}
</style>
"""


def tally(counts: dict[str, int]) -> str:
    """How many statements have which verdict, in words: `24 supported, 13 contradicted, 3 mixed, 39 open`."""
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def shown(statements: Iterable[Judgement], *, linked: bool = True) -> None:
    """The rows on screen. linked: whether each leads to the page of its claim."""
    st.html(table(statements, linked=linked))


def table(statements: Iterable[Judgement], *, linked: bool = True) -> str:
    """The rows as HTML; every text in them is escaped."""
    look = show.look()
    style = STYLE.replace("LINE", "#2b313d" if look.dark else "#e2e5ea")
    style = style.replace("SOFT", "#a9b1bf" if look.dark else "#5b6372")
    style = style.replace("ACCENT", "#7db8f0" if look.dark else "#0b5cad")
    rows = "".join(_row(one, linked=linked) for one in statements)
    return f'{style}<table class="statements"><tbody>{rows}</tbody></table>'


def _row(one: Judgement, *, linked: bool) -> str:
    look = show.look()
    hue = HUES[one.verdict][look.dark]
    said = f"{one.id}: {one.sentence}"
    drawn = picture(one.effect, one.low, one.high, one.line, said=said, ink=look.ink)
    if drawn:
        # As an image: the browser lets no drawing stand in a page's own text.
        coded = b64encode(drawn.encode()).decode()
        drawn = f'<img src="data:image/svg+xml;base64,{coded}" width="{WIDTH}" alt="{escape(said, quote=True)}">'
    size = f"{number(one.effect)} {one.unit}" if one.effect is not None else ""
    would = f'<div class="soft">Would decide it: {escape(one.would_decide)}.</div>' if one.would_decide else ""
    link = ""
    if linked:
        address = escape(show.address("claims", {"claim": one.parent}), quote=True)
        link = f'<a href="{address}" target="_self">{escape(evidence(one))}</a>'
    return (
        "<tr>"
        f'<td class="verdict" style="color:{hue}"><span aria-hidden="true">{SIGNS[one.verdict]}</span> '
        f"{escape(one.verdict)}</td>"
        f'<td>{escape(one.statement)}<div class="soft">{escape(one.id)} · {escape(one.scope)}</div>{would}</td>'
        f'<td class="measured">{drawn}<div class="soft">{escape(size)}</div></td>'
        f'<td class="more">{link}</td>'
        "</tr>"
    )


def evidence(one: Judgement) -> str:
    """What stands behind a statement, by its number."""
    if one.kind in ("final_loss", "steps_to_leave"):
        return plural(one.seeds or 0, "seed")
    if one.kind == "published":
        return plural(len(one.readings), "figure")
    return plural(len(one.readings), "reading") if one.readings else "why"


def heading(found: Heading) -> str:
    """A claim's name and how its parts stand."""
    return f"{found.id}. {found.title} ({found.lean})"
