"""The answer and its three cards as HTML: numbered sentences, each with a link to its evidence."""

from collections.abc import Iterable, Mapping
from html import escape

import streamlit as st

from analysis.core.colours import css_variables
from analysis.links import Value
from analysis.narrative.front_page import Bar, Card, Step
from analysis.narrative.glossary import DEFINITIONS, occurrences
from dashboard.session.page_address import address, is_dark

STYLE = """
<style>
.answer { color: var(--ink); font-size: 1rem; line-height: 1.45; }
.answer a { color: var(--accent); text-decoration: none; white-space: nowrap; font-size: 0.9rem; }
.answer a:hover { text-decoration: underline; }
.answer p { margin: 0; }
.answer abbr { text-decoration: underline dotted var(--soft); text-underline-offset: 3px; cursor: help; }
.answer .lead { font-size: 1.2rem; line-height: 1.4; max-width: 60em; padding-top: 0.3rem; }
.answer ol { list-style: none; margin: 0; padding: 0; counter-reset: step; }
.answer li { counter-increment: step; position: relative; margin: 0; padding: 0 0 3px 32px; }
.answer li::before { content: counter(step); position: absolute; left: 0; top: 2px; width: 21px; height: 21px;
  border-radius: 50%; background: var(--panel); border: 1px solid var(--line); color: var(--soft); font-size: 12px;
  line-height: 19px; text-align: center; }
.answer li.against::before { background: var(--ink); border-color: var(--ink); color: var(--ground); }
.answer .limits summary { color: var(--soft); font-size: 0.9rem; cursor: pointer; width: fit-content; }
.answer .limits ul { margin: 2px 0 6px; padding-left: 18px; list-style: disc; font-size: 0.9rem; }
.answer .limits ul li { counter-increment: none; padding: 0 0 2px; }
.answer .limits ul li::before { content: none; }
.answer .limits ul span { color: var(--soft); }
.answer .cards { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 18px; }
.answer .card { border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; display: flex;
  flex-direction: column; gap: 6px; }
.answer .kind { font-size: 0.8rem; letter-spacing: 0.05em; text-transform: uppercase; color: var(--soft);
  font-weight: 600; }
.answer .card .below { margin-top: auto; }
.answer .card p { font-size: 0.95rem; line-height: 1.4; }
.answer .formula { text-align: center; font-size: 1.05rem; line-height: 1.6; padding: 2px 0; }
.answer .formula .soft { font-size: 0.9rem; color: var(--soft); }
.answer .word { color: var(--word); } .answer .position { color: var(--position); }
.answer .bars { display: grid; grid-template-columns: max-content 1fr; gap: 4px 10px; font-size: 0.85rem;
  align-items: center; line-height: 18px; }
.answer .bars .name { text-align: right; color: var(--soft); }
.answer .bars .row { display: flex; align-items: center; gap: 6px; min-width: 0; }
.answer .bars .bar { height: 14px; border-radius: 2px; background: var(--soft); opacity: 0.65; }
.answer .bars .strong { background: var(--ink); opacity: 1; }
@media (max-width: 760px) {
  .answer .lead { font-size: 1.05rem; }
  .answer .limits summary { color: var(--soft); font-size: 0.9rem; cursor: pointer; width: fit-content; }
.answer .limits ul { margin: 2px 0 6px; padding-left: 18px; list-style: disc; font-size: 0.9rem; }
.answer .limits ul li { counter-increment: none; padding: 0 0 2px; }
.answer .limits ul li::before { content: none; }
.answer .limits ul span { color: var(--soft); }
.answer .cards { grid-template-columns: none; grid-auto-flow: column; grid-auto-columns: 86%; gap: 12px;
    overflow-x: auto; scroll-snap-type: x mandatory; }
  .answer .card { scroll-snap-align: start; }
}
@media print { .answer .limits summary { color: var(--soft); font-size: 0.9rem; cursor: pointer; width: fit-content; }
.answer .limits ul { margin: 2px 0 6px; padding-left: 18px; list-style: disc; font-size: 0.9rem; }
.answer .limits ul li { counter-increment: none; padding: 0 0 2px; }
.answer .limits ul li::before { content: none; }
.answer .limits ul span { color: var(--soft); }
.answer .cards { grid-template-columns: 1fr; grid-auto-flow: row; } }
</style>
"""
QUESTION = "Why do transformers add position to words instead of concatenating them?"
FORMULA = (
    '<div class="formula">W · [ word ; position ]<br>= <span class="word">W₁ · word</span> + '
    '<span class="position">W₂ · position</span><br><span class="soft">adding is the case W₁ = W₂</span></div>'
)


def question() -> None:
    """The question of the product, as the title of the page: smaller than other titles, since it is long."""
    st.html(
        "<style>.st-key-question h1{font-size:1.75rem;padding:0}"
        "@media(min-width:900px){.stMainBlockContainer{padding-top:.7rem}}"
        ".st-key-ways a{border:1px solid #8888;border-radius:8px;padding:6px 14px}"
        "@media(max-width:640px){.st-key-question h1{font-size:1.5rem;line-height:1.25}"
        ".stMainBlockContainer>div{gap:.6rem}.st-key-ways{gap:.5rem}.st-key-ways a{padding:4px 10px}}</style>"
    )
    with st.container(key="question"):
        st.title(QUESTION, anchor=False)


def lead(step: Step) -> None:
    """The answer in short, with its first sentence in bold."""
    st.html(_wrap(f'<p class="lead">{_bold(step, set())}</p>'))


def sentences(steps: Iterable[Step]) -> None:
    """The numbered sentences; those that speak against adding have a dark number."""
    defined: set[str] = set()
    items = "".join(
        f'<li class="{"against" if step.against else ""}">{_bold(step, defined)} '
        f"{_link(step.link, step.page, step.values)}{_limits(step)}</li>"
        for step in steps
    )
    st.html(_wrap(f"<ol>{items}</ol>"))


def cards(result: Iterable[Card]) -> None:
    """The cards, side by side, one under the other on a phone."""
    st.html(_wrap(f'<div class="cards">{"".join(map(_card, result))}</div>'))


def _wrap(content: str) -> str:
    return f'{STYLE}<div class="answer" style="{css_variables(dark=is_dark())}">{content}</div>'


def _bold(step: Step, defined: set[str]) -> str:
    before, bold, after = step.sentence.partition(step.bold) if step.bold else (step.sentence, "", "")
    return _explain(before, defined) + (f"<b>{escape(bold)}</b>" if bold else "") + _explain(after, defined)


def _explain(text: str, defined: set[str]) -> str:
    """The text as HTML; a term of the glossary shows its definition on hover where it first occurs.

    defined: the terms that were explained before; those of this text are added.
    """
    parts, position = [], 0
    for start, end, term in occurrences(text):
        if term not in defined:
            hint = f'<abbr title="{escape(DEFINITIONS[term])}">{escape(text[start:end])}</abbr>'
            parts += [escape(text[position:start]), hint]
            position = end
            defined.add(term)
    return "".join(parts) + escape(text[position:])


def _limits(step: Step) -> str:
    """The statements that temper a sentence, folded, each with its verdict and a link to its claim."""
    if not step.tempered_by:
        return ""
    rows = "".join(
        f"<li><b>{escape(limit.verdict)}</b>: {escape(limit.statement)} <span>{escape(limit.sentence)}</span> "
        f"{_link(limit.id, 'claims', {'claim': limit.claim})}</li>"
        for limit in step.tempered_by
    )
    return f'<details class="limits"><summary>What speaks against or limits this</summary><ul>{rows}</ul></details>'


def _link(name: str, page: str, values: Mapping[str, Value]) -> str:
    if not page:
        return ""
    href = escape(address(page, values), quote=True)
    return f'<a href="{href}" target="_self">{escape(name)}</a>'


def _card(card: Card) -> str:
    picture = FORMULA if card.kind == "certain" else _bars(card.bars)
    return (
        f'<div class="card"><div class="kind">{escape(card.kind)}</div><p>{escape(card.sentence)}</p>{picture}'
        f'<div class="below">{_link(card.link, card.page, card.values)}</div></div>'
    )


def _bars(bars: tuple[Bar, ...]) -> str:
    maximum = max((bar.value for bar in bars), default=1.0) or 1.0
    rows = "".join(
        f'<span class="name">{escape(bar.name)}</span><span class="row">'
        f'<span class="bar{" strong" if bar.strong else ""}" '
        f'style="width:{80 * max(0.0, bar.value) / maximum:.1f}%"></span>'
        f"{escape(bar.text)}</span>"
        for bar in bars
    )
    return f'<div class="bars">{rows}</div>'
