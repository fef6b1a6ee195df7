"""The ledger at a glance: every statement that the claims make, with its verdict."""

from collections.abc import Mapping
from typing import Annotated

import altair as alt
import pandas as pd

from analysis.claims import QUESTIONS
from analysis.claims.statements import OPEN, SIGNS, WORDS, stored
from analysis.core.colours import VERDICTS
from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised, plural
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, one_of

ALL = "all"
ROW = 46
"""Pixels of a question's row."""
LABEL_CHARACTERS = 24
"""Letters in a line of a question: on a phone longer ones would leave the bars little room."""
BAR = 18
"""Pixels of a bar's height; its numbers stand above it, since narrow segments have no room for theirs."""
OLD_VERDICTS = {"inconclusive": "open", "not yet measured": "open"}
"""Words of the first verdicts, which links of that time say, and what they are called today."""


class VerdictParameters(Parameters):
    """The verdict whose statements stand out, or all."""

    verdict: Annotated[str, one_of((ALL, *WORDS, *OLD_VERDICTS))]


@figure("reading_open", VerdictParameters)
def reading_open(params: VerdictParameters) -> Figure:
    """One line a claim, under the question it belongs to; those with a statement of one verdict stand out."""
    selected = OLD_VERDICTS.get(params.verdict, params.verdict)
    headings = stored.headings()
    rows = [
        {
            "id": statement.id,
            "claim": heading.id,
            "statement": statement.statement,
            "question": QUESTIONS[heading.question],
            "verdict": statement.verdict,
            "sentence": statement.sentence,
        }
        for heading in headings
        for statement in heading.parts
    ]
    if not rows:
        raise NoResults("The store has no statements. Run: python -m analysis sync --rebuild")
    frame = pd.DataFrame(rows)
    frame = frame.assign(shown=[selected in (ALL, verdict) for verdict in frame.verdict])
    counts = stored.counts()
    text = ", ".join(f"{count} {word}" for word, count in counts.items())
    matching = "; ".join(f"{row.id} {row.statement}" for row in frame[frame.shown].itertuples()) or "none"
    return Figure(
        title="Every statement and its verdict" if selected == ALL else f"The statements that are {selected}",
        finding=_finding(frame, OPEN if selected == ALL else selected),
        frame=lambda: frame[["id", "statement", "question", "verdict", "sentence"]],
        caption=(
            f"{plural(len(frame), 'statement')} that {plural(len(headings), 'claim')} make, by the question that they "
            f"help to answer: {text}. Verdicts are computed when the store is built."
            + (f" {capitalised(selected)}: {matching}" if selected != ALL else "")
        ),
        alt=f"A bar a question, with the verdicts on its statements: {text}.",
        command='python -m analysis query "SELECT * FROM statements" --csv',
        provenance={"verdicts": "computed from the store by the rules of analysis/rules"},
        draw=lambda theme: [_draw(frame, theme)],
    )


def _finding(frame: pd.DataFrame, verdict: str) -> str:
    """The number of statements with a verdict, and the question that has most of them."""
    questions = frame[frame.verdict == verdict].question.value_counts()
    most = f", {questions.iloc[0]} of them on “{questions.index[0]}”" if len(questions) else ""
    are = "is" if questions.sum() == 1 else "are"
    return f"{questions.sum()} of {plural(len(frame), 'statement')} {are} {verdict}{most}"


def _draw(frame: pd.DataFrame, theme: Theme) -> Chart:
    """A bar for each question, cut by verdict, with the number of statements of each verdict above it."""
    counts = frame.groupby(["question", "verdict"], sort=False).agg(statements=("id", "size"), shown=("shown", "all"))
    bars = counts.reset_index().assign(place=lambda rows: rows.verdict.map(WORDS.index))
    bars = bars.sort_values("place")
    bars["end"] = bars.groupby("question").statements.cumsum()
    order = [question for question in QUESTIONS.values() if question in set(bars.question)]
    labels = marks.wrapped_labels(order, LABEL_CHARACTERS)
    names = {word: f"{sign} {word}" for word, sign in SIGNS.items()}
    bars = bars.assign(
        label=bars.question.map(labels),
        name=bars.verdict.map(names),
        begin=bars.end - bars.statements,
    )
    written = (bars.verdict.map(SIGNS) + " " + bars.statements.astype(str)).groupby(bars.label).agg(" · ".join)
    above = alt.Chart(written.rename("text").reset_index()).mark_text(
        align="left", yOffset=-BAR / 2 - 3, fontSize=marks.PANEL_TITLE, color=theme.ink
    )
    most = 10 * -(-int(bars.end.max()) // 10)  # the axis ends at a number, beyond the longest bar
    x = marks.number(alt.X, "begin", "statements", domain=(0, most), ticks=6)
    y = marks.labelled_rows(list(labels.values()))
    base = alt.Chart(bars).encode(
        y=y,
        opacity=alt.condition("datum.shown", alt.value(1), alt.value(0.22)),
        tooltip=marks.tips("question", "verdict", ("statements", "", "d")),
    )
    hues = {name: theme.colour(VERDICTS[word]) for word, name in names.items()}
    # As on Claims, what is open is outlined.
    fills = hues | {names[OPEN]: theme.ground}
    key = marks.legend(place="top", columns=alt.expr(f"{marks.ON_PHONE} ? 2 : {len(names)}"))
    segments = base.mark_bar(height=BAR, yOffset=BAR / 2, strokeWidth=1.5).encode(
        x=x,
        x2=alt.X2("end:Q"),
        fill=alt.Fill("name:N", scale=_ordinal(fills), legend=key),
        stroke=alt.Stroke("name:N", scale=_ordinal(hues), legend=key),
    )
    return marks.panel(
        segments,
        above.encode(x=alt.value(0), y=y, text="text:N"),
        theme=theme,
        width=marks.HALF,
        height=ROW * len(order),
    )


def _ordinal(colours: Mapping[str, str]) -> alt.Scale:
    return alt.Scale(domain=list(colours), range=list(colours.values()))
