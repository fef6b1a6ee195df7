"""Claims on screen: a badge for a verdict, a card for a claim, and its effect in words and as a picture."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from analysis.ablation.variants import readable
from analysis.claims.stored import Entry
from analysis.core.formatting import interval_text, plural, significant
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import query_parameters
from dashboard.widgets import show
from dashboard.widgets.effect_sparkline import effect_sparkline

BADGES: dict[str, tuple[str, Any]] = {
    "supported": (":material/check_circle:", "blue"),
    "contradicted": (":material/cancel:", "red"),
    "mixed": (":material/balance:", "orange"),
    "open": (":material/radio_button_unchecked:", "gray"),
    "inconclusive": (":material/help:", "gray"),
    "not yet measured": (":material/hourglass_empty:", "gray"),
}
"""Icon and colour of every verdict; the word is always beside them."""


def show_badge(verdict: str) -> None:
    """A verdict, by icon, word and colour."""
    icon, colour = BADGES[verdict]
    st.badge(verdict, icon=icon, color=colour)


def show_counts(counts: Mapping[str, int]) -> None:
    """The number of claims with each verdict."""
    with st.container(horizontal=True, gap="small"):
        for word, count in counts.items():
            icon, colour = BADGES[word]
            st.badge(f"{count} {word}", icon=icon, color=colour)


def effect_in_words(entry: Entry) -> str:
    """The effect with its interval, what it is, of how many models and samples."""
    if entry.effect is None:
        return ""
    size = f"{significant(entry.effect)}{interval_text(entry.low, entry.high, '.3g')} {entry.unit}".strip()
    threshold = f"; the rule's threshold is {significant(entry.threshold)}" if entry.threshold is not None else ""
    models = f"; {plural(len(entry.models), 'model or variant')}" if entry.models else ""
    if len(entry.models) != 1:
        models = models.replace("model or variants", "models or variants")
    samples = f"; n = {plural(entry.samples, entry.sample_unit)}" if entry.samples and entry.sample_unit else ""
    return f"{entry.measured}: {size}{threshold}{models}{samples}"


def show_effect(entry: Entry) -> None:
    """The effect with its interval and the rule's threshold, as a small picture."""
    text, ink = effect_in_words(entry), show.theme().ink
    st.image(
        effect_sparkline(
            entry.effect, entry.low, entry.high, entry.threshold, text=text, ink=ink, hue=show.theme().series
        ),
        alt=text,
    )


def show_card(entry: Entry) -> None:
    """One claim: verdict, statement, sentence, effect, and the way to its evidence."""
    with st.container(border=True, height="stretch"):
        show_badge(entry.verdict)
        st.markdown(f"**{entry.id}. {escape_markdown(entry.title)}**")
        st.caption(escape_markdown(readable(entry.sentence)))
        if entry.effect is not None:
            show_effect(entry)
            st.caption(escape_markdown(f"{entry.measured}, {entry.unit}"))
        st.page_link(
            "views/claims.py",
            label=f"Evidence on {entry.id}",
            icon=":material/arrow_forward:",
            query_params=query_parameters("claims", {"claim": entry.id}),
        )
