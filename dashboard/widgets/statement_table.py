"""Statements in rows: verdict, statement and scope, the measurement as a picture, and a link to its evidence."""

from base64 import b64encode
from collections.abc import Iterable
from html import escape

import streamlit as st

from analysis.claims.statements import comparison
from analysis.claims.statements.base import Judgement
from analysis.claims.statements.stored import Heading
from analysis.core.colours import VERDICTS, css_variables
from analysis.core.formatting import plural, significant
from dashboard.widgets import show
from dashboard.widgets.effect_sparkline import WIDTH, effect_sparkline

SIGNS = {"supported": "✓", "contradicted": "✗", "mixed": "≈", "open": "○"}
"""The sign of every verdict; the word is always next to it."""

SIDES = {"final_loss": ", difference in final loss (below 0 is better)", "steps_to_leave": " (below 1: earlier)"}
"""The meaning of the direction, by the kind of a statement that compares two trainings."""

SEVERAL = ("rows", "published")
"""The kinds of statements that may rest on several readings."""

STYLE = """
<style>
.statements { width: 100%; border-collapse: collapse; font-size: 1rem; }
.statements td { padding: 10px 12px 10px 0; vertical-align: top; border: 0; border-bottom: 1px solid var(--line); }
.statements .verdict { width: 8.5rem; font-weight: 600; white-space: nowrap; }
.statements .soft { color: var(--soft); font-size: 0.9rem; }
.statements .measured { width: 310px; }
.statements .more { width: 7rem; white-space: nowrap; }
.statements a { color: var(--accent); }
.statements img { max-width: 100%; display: block; }
@media (max-width: 760px) {
  .statements tr, .statements td { display: block; width: auto; }
  .statements td { border-bottom: 0; padding: 2px 0; }
  .statements tr { border-bottom: 1px solid var(--line); padding: 10px 0; }
  .statements .verdict, .statements .measured, .statements .more { width: auto; }
}
</style>
"""


def tally(counts: dict[str, int]) -> str:
    """The number of statements with each verdict, in words: `24 supported, 13 contradicted, 3 mixed, 39 open`."""
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def show_statements(statements: Iterable[Judgement], *, linked: bool = True) -> None:
    """The rows on screen. linked: whether each leads to the page of its claim."""
    st.html(table(statements, linked=linked))


def table(statements: Iterable[Judgement], *, linked: bool = True) -> str:
    """The rows as HTML; every text in them is escaped."""
    theme = show.theme()
    rows = "".join(_row(judgement, linked=linked) for judgement in statements)
    style = css_variables(dark=theme.dark)
    return f'{STYLE}<table class="statements" style="{style}"><tbody>{rows}</tbody></table>'


def _row(judgement: Judgement, *, linked: bool) -> str:
    theme = show.theme()
    hue = theme.colour(VERDICTS[judgement.verdict])
    sentence = f"{judgement.id}: {judgement.sentence}"
    supports, others = comparison.region(judgement), _other_readings(judgement)
    picture = effect_sparkline(
        judgement.effect,
        judgement.low,
        judgement.high,
        judgement.line,
        text=sentence,
        ink=theme.ink,
        hue=theme.series,
        region=(supports.lower, supports.upper) if supports else None,
        neutral=supports.neutral if supports else None,
        others=others,
    )
    if picture:
        # As an image: the browser lets no drawing stand in a page's own text.
        coded = b64encode(picture.encode()).decode()
        picture = f'<img src="data:image/svg+xml;base64,{coded}" width="{WIDTH}" alt="{escape(sentence, quote=True)}">'
    # The rules' files are frozen and say "less" for minus.
    unit = judgement.unit.replace(", less ", " minus ").replace(" less ", " minus ")
    size = ""
    if judgement.effect is not None:
        pair = comparison.trained_pair(judgement)
        size = f"{significant(judgement.effect)} {unit}{SIDES.get(judgement.kind, '')}" + (f": {pair}" if pair else "")
    if size and len(judgement.readings) > 1 and judgement.kind in SEVERAL:
        size = f"{comparison.shown_reading(judgement)} of {len(judgement.readings)} readings: {size}"
    side = _soft(f"Supports the statement: {supports.words} (shaded).") if supports and size else ""
    question = judgement.would_decide
    open_question = _soft(f"What would decide it: {question}.") if question else ""
    link = ""
    if linked:
        address = escape(show.address("claims", {"claim": judgement.parent}), quote=True)
        link = f'<a href="{address}" target="_self">{escape(evidence(judgement))}</a>'
    return (
        "<tr>"
        f'<td class="verdict" style="color:{hue}"><span aria-hidden="true">{SIGNS[judgement.verdict]}</span> '
        f"{escape(judgement.verdict)}</td>"
        f"<td>{escape(judgement.statement)}{_soft(f'{judgement.id} · {judgement.scope}')}{open_question}</td>"
        f'<td class="measured">{picture}{_soft(size)}{side}</td>'
        f'<td class="more">{link}</td>'
        "</tr>"
    )


def _soft(text: str) -> str:
    return f'<div class="soft">{escape(text)}</div>'


def _other_readings(judgement: Judgement) -> list[float]:
    """The readings that the rule compares with the same line."""
    if judgement.kind not in SEVERAL:
        return []
    return [
        reading.value for reading in judgement.readings if reading.value is not None and reading.line == judgement.line
    ]


def evidence(judgement: Judgement) -> str:
    """The kind of evidence of a statement, with its number."""
    if judgement.kind in ("final_loss", "steps_to_leave"):
        return plural(judgement.seeds or 0, "seed")
    if judgement.kind == "published":
        return plural(len(judgement.readings), "figure")
    return plural(len(judgement.readings), "measurement") if judgement.readings else "why"


def heading(result: Heading) -> str:
    """A claim's name and the verdicts on its parts."""
    return f"{result.id}. {result.title} ({result.lean})"
