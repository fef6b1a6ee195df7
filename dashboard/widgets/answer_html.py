"""The answer and its cards as HTML: reasons, what speaks against adding, and how sure each part is."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from analysis.core.colours import css_variables
from analysis.core.formatting import plural, signed, signed_or_zero, unbroken, uncapitalised
from analysis.links import Value
from analysis.narrative.front_page import AnswerStep, Bar, Card, WayOfTelling
from analysis.narrative.glossary import DEFINITIONS, occurrences
from dashboard.session.page_address import address, is_dark
from dashboard.widgets import dose_curve

STYLE = """
<style>
.answer { color: var(--ink); font-size: 1rem; line-height: 1.45; }
.answer a { color: var(--accent); text-decoration: none; white-space: nowrap; font-size: 0.9rem; }
.answer a:hover { text-decoration: underline; }
.answer p, .answer h2, .answer h3 { margin: 0; padding: 0; }
.answer h3 { font-size: 1.05rem; line-height: 1.35; font-weight: 650; }
.answer .lead { font-size: 1.2rem; line-height: 1.4; max-width: 60em; padding-top: 0.3rem; }
.answer ol { list-style: none; margin: 0; padding: 0; counter-reset: step; display: grid; gap: 10px; }
.answer ol > li { counter-increment: step; position: relative; margin: 0; padding: 0 0 0 34px; }
.answer ol > li::before { content: counter(step); position: absolute; left: 0; top: 0; width: 23px; height: 23px;
  border-radius: 50%; background: var(--panel); border: 1px solid var(--line); color: var(--soft); font-size: 13px;
  line-height: 21px; text-align: center; }
.answer .but { border: 1px solid var(--line); border-left: 4px solid var(--ink); border-radius: 10px;
  padding: 12px 18px 14px; display: grid; grid-template-columns: max-content 1fr; gap: 6px 22px; }
.answer .but h2 { font-size: 1.2rem; line-height: 1.3; font-weight: 650; }
.answer .but .items { display: grid; grid-template-columns: 1fr 1fr; gap: 8px 28px; align-items: start; }
.answer .but .all { grid-column: 2; margin-top: 8px; }
.answer .but table + details { margin-top: 6px; }
.answer .ways { border-collapse: collapse; width: 100%; font-size: 0.88rem; line-height: 1.3; }
.answer .ways caption { text-align: left; color: var(--soft); padding-bottom: 4px; }
.answer .ways th { font-weight: 400; color: var(--soft); text-align: left; vertical-align: bottom; }
.answer .ways td, .answer .ways th { padding: 3px 0 3px 10px; }
.answer .ways :is(td, th):first-child { padding-left: calc(var(--changes, 0) * 0.7em); }
.answer .ways :is(.value, .steps) { text-align: right; white-space: nowrap; }
.answer .ways tbody th { color: var(--ink); }
.answer .ways .change { padding-left: 22px; white-space: nowrap; }
.answer .ways td.change { font-variant-numeric: tabular-nums; }
.answer .ways .change span { color: var(--soft); }
.answer .ways:has(.change) tbody :is(td, th) { border-top: 1px solid var(--line); padding-top: 5px;
  padding-bottom: 5px; }
.answer .ways tr.adding :is(td, th) { font-weight: 600; }
@media (min-width: 1200px) { .answer .ways tbody th { white-space: nowrap; } }
.answer .ways .track { width: 42%; position: relative; padding-left: 0; padding-right: 0; }
.answer .ways:has(.change) .track { width: 36%; }
.answer .ways .track div { position: relative; height: 16px; }
.answer .ways .none { position: absolute; top: 0; bottom: 0; border-left: 1px dashed var(--soft); }
.answer .ways .tick { position: absolute; top: 0; bottom: 0; border-left: 1px solid var(--line); }
.answer .ways .scale td { color: var(--soft); font-size: 0.8rem; padding-top: 0; padding-bottom: 0; }
.answer .ways .scale span { position: absolute; bottom: 4px; transform: translateX(-50%); line-height: 1;
  white-space: nowrap; }
.answer .ways .scale span::after { content: ""; position: absolute; left: 50%; top: calc(100% + 1px); height: 4px;
  border-left: 1px solid var(--soft); }
.answer .ways .interval { position: absolute; top: 5px; height: 6px; border-radius: 2px; background: var(--soft);
  opacity: 0.55; }
.answer .ways .dot { position: absolute; top: 3.5px; width: 9px; height: 9px; margin-left: -4.5px; border-radius: 50%;
  background: var(--ink); }
.answer .ways .undecided .dot { background: var(--ground); border: 2px solid var(--ink); }
.answer .ways tbody tr.method { border-top: 2px solid var(--soft); }
.answer .all:not(:has(details.others[open])) .ways .further { display: none; }
.answer .ways .further > * { background: var(--panel); }
.answer .all details p { color: var(--soft); font-size: 0.9rem; margin: 2px 0 4px; }
.answer .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); margin: 0; }
.answer .more { margin-top: 8px; }
.answer summary { color: var(--soft); font-size: 0.9rem; cursor: pointer; width: fit-content; }
.answer details .inside { display: grid; gap: 18px; padding: 6px 0 2px; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 310px), 1fr)); }
@media (min-width: 1200px) {
  .answer .more .inside { grid-auto-flow: dense; }
  .answer .more .inside > div:has(.points) { grid-column: span 2; grid-row: span 2; }
}
.answer .more .limits ul { font-size: 0.95rem; }
.answer .inside > div { border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; font-size: 0.95rem; }
.answer .limits ul { margin: 2px 0 6px; padding-left: 18px; list-style: disc; font-size: 0.9rem; }
.answer .limits p { color: var(--soft); font-size: 0.9rem; margin-top: 4px; }
.answer .limits ul span { color: var(--soft); }
.answer .term { all: unset; display: inline; font: inherit; color: inherit; cursor: help;
  text-decoration: underline dotted var(--soft); text-underline-offset: 3px; }
.answer .term:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.answer .meaning { max-width: min(24rem, 90vw); padding: 10px 14px; border: 1px solid var(--line); border-radius: 8px;
  background: var(--panel); color: var(--ink); font-size: 0.95rem; line-height: 1.45; margin: 6px;
  box-shadow: 0 2px 12px #0003; inset: auto; position-area: bottom span-right;
  position-try-fallbacks: flip-inline, flip-block; }
@supports not (position-area: bottom) { .answer .meaning { inset: auto 0 1rem; margin: 0 auto; } }
.answer .points { margin: 4px 0 0; padding-left: 1.1em; }
.answer .points li { margin: 2px 0; }
.answer .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 260px), 1fr)); gap: 18px; }
.answer .card { border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; display: flex;
  flex-direction: column; gap: 6px; }
.answer .kind { font-size: 0.8rem; letter-spacing: 0.05em; text-transform: uppercase; color: var(--soft);
  font-weight: 600; }
.answer .card .below { margin-top: auto; }
.answer .card p { font-size: 0.95rem; line-height: 1.4; }
CURVE_STYLE
.answer .formula { text-align: center; font-size: 1.3rem; line-height: 2; padding: 2px 0; margin: auto; }
.answer .formula .soft { font-size: 1.05rem; color: var(--soft); }
.answer .word { color: var(--word); } .answer .position { color: var(--position); }
.answer .bars { display: grid; grid-template-columns: max-content 1fr; gap: 4px 10px; font-size: 0.85rem;
  align-items: center; line-height: 18px; margin: auto 0; }
.answer .bars .name { text-align: right; color: var(--soft); }
.answer .bars .row { display: flex; align-items: center; gap: 6px; min-width: 0; }
.answer .bars .bar { height: 14px; border-radius: 2px; background: var(--soft); opacity: 0.65; }
.answer .bars .strong { background: var(--ink); opacity: 1; }
@media (max-width: 760px) {
  .answer .meaning { position-area: none; inset: auto 1rem 1rem; margin: 0 auto; max-width: none; }
  .answer .lead { font-size: 1.05rem; padding-top: 0.7rem; }
  .answer .but, .answer .but .items { grid-template-columns: minmax(0, 1fr); }
  .answer .but .all { grid-column: 1; }
}
/* Where the columns have no room, a row is its name and numbers in a line, and its picture below at the whole width. */
@media (max-width: 1000px) {
  .answer .ways tr { display: grid; grid-template-columns: minmax(0, 1fr) 44px 80px; align-items: end; }
  .answer .ways :is(.value, .steps) { padding-left: 0; }
  .answer .ways thead th { font-size: 0.82rem; }
  .answer .ways tbody th:first-child { padding-left: calc(var(--changes, 0) * 0.5em); }
  .answer .ways thead th:first-child, .answer .ways td.change:empty, .answer .ways th.change { display: none; }
  .answer .ways thead th[colspan] { grid-column: span 2; text-align: right; }
  .answer .ways tbody :is(th, .value, .steps) { grid-row: 1; }
  .answer .ways .scale td:first-child { display: none; }
  .answer .ways:has(.none) :is(.track, td.change) { grid-column: 1 / -1; width: auto; padding: 0; }
  .answer .ways:has(.none) .track { margin: 0 6px; }
  .answer .ways td.change::before { content: "this change alone: "; color: var(--soft); }
  .answer .ways .interval { top: 4px; height: 8px; }
  .answer .ways:has(.change) tbody :is(td, th) { border-top: 0; padding-top: 2px; padding-bottom: 2px; }
  .answer .ways tbody tr { border-top: 1px solid var(--line); padding: 2px 0 4px; }
}
@media print { .answer .cards, .answer .but .items { grid-template-columns: 1fr; } }
</style>
""".replace("CURVE_STYLE", dose_curve.STYLE)
QUESTION = "Why do transformers add position to words instead of concatenating them?"
FORMULA = (
    '<div class="formula">W · [ word ; position ]<br>= <span class="word">W₁ · word</span> + '
    '<span class="position">W₂ · position</span><br><span class="soft">adding is the case W₁ = W₂</span></div>'
)


class Terms:
    """Words of the glossary on one page: each is a button where it first stands, which opens its meaning."""

    def __init__(self) -> None:
        self.explained: dict[str, str] = {}
        """The identifier of each term that the page has explained so far."""
        self.waiting: list[str] = []
        """The meanings whose buttons are in the block that is being written."""

    def explain(self, text: str) -> str:
        """The text as HTML, with buttons for terms that were not explained before."""
        parts, position = [], 0
        for start, end, term in occurrences(text):
            if term in self.explained:
                continue
            name = self.explained[term] = f"term-{len(self.explained)}"
            parts.append(escape(text[position:start]))
            parts.append(
                f'<button type="button" class="term" popovertarget="{name}">{escape(text[start:end])}</button>'
            )
            meaning = f"<b>{escape(term)}</b>: {escape(DEFINITIONS[term])}"
            self.waiting.append(f'<div class="meaning" popover id="{name}">{meaning}</div>')
            position = end
        return "".join(parts) + escape(text[position:])

    def meanings(self) -> str:
        """The meanings of the block's terms, to be put at its end."""
        result, self.waiting = "".join(self.waiting), []
        return result


def question() -> None:
    """The question of the product, as the title of the page: smaller than other titles, since it is long."""
    st.html(
        "<style>.st-key-question h1{font-size:1.75rem;padding:0}"
        "@media(min-width:900px){.stMain .stMainBlockContainer{padding-top:.7rem}}"
        ".st-key-ways a{border:1px solid #8888;border-radius:8px;padding:6px 14px}"
        "@media(min-width:1001px){[data-testid=stColumn]:has(.st-key-proof)>div{position:sticky;top:1rem;height:auto}}"
        "@media(max-width:1000px){[data-testid=stHorizontalBlock]:has(.st-key-reasons){flex-direction:column}"
        "[data-testid=stColumn]:is(:has(.st-key-reasons),:has(.st-key-proof)){width:100%;flex:none}}"
        "@media(max-width:640px){.st-key-question h1{font-size:1.5rem;line-height:1.25}"
        ".stMainBlockContainer>div{gap:.6rem}.st-key-ways{gap:.5rem}"
        ".st-key-ways a{padding:4px 10px;margin:3px 0}}</style>"
    )
    with st.container(key="question"):
        st.title(QUESTION, anchor=False)


def lead(step: AnswerStep, terms: Terms) -> None:
    """The answer in short, with its first sentence in bold."""
    _show(f'<p class="lead">{_bold(step, terms)}</p>', terms)


def reasons(steps: Iterable[AnswerStep], terms: Terms) -> None:
    """The numbered reasons, each under its point."""
    items = "".join(f"<li>{_point(step, terms)}</li>" for step in steps)
    _show(f"<ol>{items}</ol>", terms)


def against(but: Iterable[AnswerStep], ways: Sequence[WayOfTelling], more: Iterable[AnswerStep], terms: Terms) -> None:
    """The box of what speaks against adding or limits the answer, and the sentences that are one press away.

    ways: ways of telling positions, drawn under what speaks against, with the sentences about them below.
    """
    in_rows = {remark for way in ways for remark in way.remarks}
    points = [_point(step, terms, without=in_rows) for step in but]
    items = f'<div class="items">{"".join(f"<div>{point}</div>" for point in points)}</div>'
    picture = f'<div class="all">{_ways(ways, terms)}</div>' if ways else ""
    box = f'<div class="but"><h2>But</h2>{items}{picture}</div>' if points else ""
    others = list(more)
    names = " · ".join(escape(step.heading) for step in others)
    folded = "".join(f"<div>{_point(step, terms)}</div>" for step in others)
    summary = f"<summary>Also: {names}</summary>"
    below = f'<details class="more">{summary}<div class="inside">{folded}</div></details>' if others else ""
    _show(f"{box}{below}", terms)


def cards(result: Iterable[Card]) -> None:
    """The cards, side by side, one under the other on a phone."""
    _show(f'<div class="cards">{"".join(map(_card, result))}</div>', Terms())


def _show(content: str, terms: Terms) -> None:
    st.html(styled(f"{content}{terms.meanings()}", css_variables(dark=is_dark())))


def styled(content: str, variables: str = "") -> str:
    """Content of Home with its style. variables: the colours, where the page around it has none of its own."""
    return f'{STYLE}<div class="answer" style="{variables}">{content}</div>'


def _point(step: AnswerStep, terms: Terms, *, without: Collection[str] = ()) -> str:
    """A sentence under its heading, with the link to its evidence and what limits it.

    without: lines of it that are left out, because they stand elsewhere on the page.
    """
    heading = f"<h3>{escape(step.heading)}</h3>" if step.heading else ""
    link = _link(step.link, step.page, step.values)
    kept = [line for line in step.sentence.split("\n") if line not in without]
    first, *points = _bold(replace(step, sentence="\n".join(kept)), terms).split("\n")
    if not points:
        return f"{heading}<p>{first} {link}</p>{_limits(step)}"
    items = "".join(f"<li>{point}</li>" for point in points[:-1])
    return f'{heading}<p>{first}</p><ul class="points">{items}<li>{points[-1]} {link}</li></ul>{_limits(step)}'


def _bold(step: AnswerStep, terms: Terms) -> str:
    sentence, emphasis = unbroken(step.sentence), unbroken(step.bold)
    before, bold, after = sentence.partition(emphasis) if emphasis else (sentence, "", "")
    return terms.explain(before) + (f"<b>{escape(bold)}</b>" if bold else "") + terms.explain(after)


def _limits(step: AnswerStep) -> str:
    """The limits of a sentence, folded: further sentences, and statements with their verdicts and links."""
    if not step.tempered_by and not step.further:
        return ""
    more = "".join(f"<li>{escape(unbroken(line))}</li>" for line in step.further.splitlines())
    against = "".join(
        f"<li>{escape(unbroken(limit.words))} "
        f"{_link(limit.id, 'claims', {'claim': limit.claim, 'statement': limit.id})}</li>"
        for limit in step.tempered_by
    )
    lists = {name: rows for name, rows in (("More on this", more), ("What speaks against it", against)) if rows}
    first, *others = lists
    summary = ", and ".join((first, *map(uncapitalised, others)))
    inside = "".join(f"{f'<p>{name}</p>' if others else ''}<ul>{rows}</ul>" for name, rows in lists.items())
    return f'<details class="limits"><summary>{summary}</summary>{inside}</details>'


def _link(name: str, page: str, values: Mapping[str, Value]) -> str:
    if not page:
        return ""
    href = escape(address(page, values), quote=True)
    return f'<a href="{href}" target="_self">{escape(name)}</a>'


def _card(card: Card) -> str:
    return (
        f'<div class="card"><div class="kind">{escape(card.kind)}</div><p>{escape(card.sentence)}</p>{_picture(card)}'
        f'<div class="below">{_link(card.link, card.page, card.values)}</div></div>'
    )


def _picture(card: Card) -> str:
    if card.kind == "certain":
        return FORMULA
    return dose_curve.dose_curve(card.curve, dark=is_dark()) if card.curve else _bars(card.bars)


def _ways(ways: Sequence[WayOfTelling], terms: Terms) -> str:
    """The ways that the sentences quote; a press shows the others in their rows. Who hears the page hears sentences."""
    others = sum(not way.quoted for way in ways)
    further = f"<summary>{plural(others, 'way')} more; every one is under Experiments</summary>"
    inside = "<p>They stand in the table above, tinted, each under the one that it was changed from.</p>"
    more = f'<details class="others">{further}{inside}</details>' if 0 < others < len(ways) else ""
    table = ways_table(ways, terms)
    remarks = "".join(f"<li>{escape(remark)}</li>" for way in ways for remark in way.remarks)
    said = f'<ul class="unseen">{remarks}</ul>' if remarks else ""
    return f"{table}{more}{said}"


def ways_table(ways: Sequence[WayOfTelling], terms: Terms | None = None) -> str:
    """The ways of telling positions as a table whose second column is a picture; "" for none.

    terms: the glossary of the page, with which a column has what each change does alone, and the rows that no sentence
    quotes are shown only while the element below the table is open.
    """
    if not ways:
        return ""
    decimals = 2 if terms else 3  # Beside statements, small differences of the rows are seen in the numbers.
    seeds = min(way.seeds for way in ways)
    ends = min(0.0, *(way.low for way in ways)), max(0.0, *(way.high for way in ways))
    rows = "".join(
        f'<tr class="{_row_class(way, place)}">'
        f'<th scope="row" style="--changes:{way.changes}">'
        f"{terms.explain(unbroken(way.name)) if terms else escape(unbroken(way.name))}</th>{_track(way, *ends)}"
        f'<td class="value">{signed_or_zero(way.difference, decimals) if place else "0"}</td>'
        f'{_change(way, seeds) if terms else ""}<td class="steps">{way.steps:,}</td></tr>'
        for place, way in enumerate(ways)
    )
    counted = plural(seeds, "seed")
    same = f"<br>(nats; the same {counted}, or those named)"
    change = f'<th class="change">This change alone, by the rules{same}</th>' if terms else ""
    again = terms is not None and any(way.last_change and way.last_change.seeds != seeds for way in ways)
    new = " Rows with new seeds were trained again, so that their change is not quite the difference of two rows."
    hollow = (
        " A hollow dot: it is open whether the row differs from adding." if any(way.undecided for way in ways) else ""
    )
    same_within = max(way.margin for way in ways)
    margin = ""
    if terms:
        margin = (
            f" “Open”: the rule does not decide, mostly because the interval crosses ±{same_within:g} nats, within "
            "which losses count as the same."
        )
    if terms and any(way.last_change and "slightly" in way.last_change.standing for way in ways):
        margin += f" “Slightly”: the interval lies on that side of zero, and within {2 * same_within:.2f} nats of it."
    method = " Below the line stands a method as models use it." if any(way.method for way in ways) else ""
    return (
        '<table class="ways"><caption>Encoders of width 128. Each row changes the encoder under which it is indented. '
        f"Bars are 95 % intervals.{hollow}{margin}{method}{new if again else ''}</caption>"
        "<thead><tr><th>How positions are told</th>"
        '<th colspan="2">Final loss minus adding’s<br>'
        f"(nats, {counted}; lower is better)</th>"
        f'{change}<th class="steps">Steps until<br>order is used</th></tr>{_scale(*ends)}</thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _row_class(way: WayOfTelling, place: int) -> str:
    classes = {"adding": not place, "further": not way.quoted, "method": way.method, "undecided": way.undecided}
    return " ".join(name for name, holds in classes.items() if holds)


def scale_ticks(least: float, most: float) -> tuple[float, ...]:
    """The values that a scale which holds zero names: zero, and the roundest ones near its ends.

    >>> scale_ticks(-0.34, 0.33)
    (-0.3, 0.0, 0.3)
    >>> scale_ticks(-0.09, 0.02)
    (-0.05, 0.0)
    """
    largest = max(-least, most)
    if not largest:
        return (0.0,)
    power = math.floor(math.log10(largest))
    step = max(round(digit * 10.0**power, 12) for digit in (1, 2, 3, 5) if digit * 10.0**power <= largest)
    return tuple(value for value in (-step, 0.0, step) if least <= value <= most)


def _place(value: float, least: float, most: float) -> str:
    """The place of a value on a scale, from its left."""
    return f"{100 * (value - least) / ((most - least) or 1.0):.1f}%"


def _scale(least: float, most: float) -> str:
    """The row under the heading that names some values of the pictures below it."""
    ticks = scale_ticks(least, most)
    decimals = max((len(f"{value:.12f}".rstrip("0").partition(".")[2]) for value in ticks), default=0)
    names = "".join(
        f'<span style="left:{_place(value, least, most)}">{signed(value, decimals) if value else "0"}</span>'
        for value in ticks
    )
    return f'<tr class="scale" aria-hidden="true"><td></td><td class="track"><div>{names}</div></td></tr>'


def _change(way: WayOfTelling, seeds: int) -> str:
    """The cell of a way's last change alone. seeds: those of the table; others are named."""
    last = way.last_change
    if last is None:
        return f'<td class="change">{"<span>no rule</span>" if way.difference else ""}</td>'
    own = "" if last.seeds == seeds else f"; {plural(last.seeds, 'new seed')}"
    return f'<td class="change">{signed_or_zero(last.difference, 2)} <span>{escape(last.standing + own)}</span></td>'


def _track(way: WayOfTelling, least: float, most: float) -> str:
    """A dot with its interval between the least and the greatest difference, and a line where there is none."""
    low, high, mean = (_place(value, least, most) for value in (way.low, way.high, way.difference))
    interval = f'<span class="interval" style="left:{low};right:calc(100% - {high})"></span>'
    dot = f'<span class="dot" style="left:{mean}"></span>'
    lines = "".join(
        f'<span class="{"tick" if value else "none"}" style="left:{_place(value, least, most)}"></span>'
        for value in scale_ticks(least, most)
    )
    return f'<td class="track">{lines}<div>{interval}{dot}</div></td>'


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
