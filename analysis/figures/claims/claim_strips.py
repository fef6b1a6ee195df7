"""The statements of one claim, or those that decide all claims, each on a turned strip."""

import altair as alt
import pandas as pd

from analysis.claims.statements import stored as statements
from analysis.claims.statements.deciding import AGAINST, ASIDE, FOR, RULE, bearing, bearings
from analysis.claims.statements.judgement import CONTRADICTED, MIXED, OPEN, SUPPORTED, Judgement
from analysis.core import colours
from analysis.core.errors import LinkError, NoResults
from analysis.core.formatting import significant
from analysis.figures import marks
from analysis.figures.claims.size import size
from analysis.figures.claims.strip import as_told, strip
from analysis.figures.claims.verdicts import EMPTY, VERDICTS, few_lines, store_facts
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure

BEARINGS = {
    FOR: ("speaks for the claim", SUPPORTED),
    AGAINST: ("speaks against it", CONTRADICTED),
    MIXED: ("mixed", MIXED),
    OPEN: ("open", OPEN),
    ASIDE: ("takes no side", OPEN),
}
"""The side of its claim that a statement speaks for: in words, and the verdict whose colour and shape it has."""


class ClaimParameters(Parameters):
    """The claim whose statements are drawn; empty for the deciding statement of every claim."""

    claim: str = ""


@figure("claim_strips", ClaimParameters)
def claim_strips(params: ClaimParameters) -> Figure:
    """The statements of one claim, or the deciding ones of all, each on a strip with its rule's line in the middle.

    Raises LinkError for an unknown claim, NoResults where the store holds no statements.
    """
    headings = {heading.id: heading for heading in statements.headings()}
    if not any(heading.parts for heading in headings.values()):
        raise NoResults(EMPTY)
    if params.claim and params.claim not in headings:
        raise LinkError(f"There is no claim {params.claim!r}. Known: {', '.join(headings)}.")
    shown = [headings[params.claim]] if params.claim else list(headings.values())
    parts = [part for heading in shown for part in heading.parts if params.claim or part.decides]
    frame = pd.DataFrame(map(_row, parts))
    strips = {part.id: strip(part) for part in parts}
    places = [{"id": id, "other": place} for id, one in strips.items() if one for place in one.others]
    others = pd.DataFrame(places, columns=["id", "other"])
    title = "The statement that decides each claim"
    count = bearings(parts)
    finding = (
        f"Of {len(parts)} claims, {count[AGAINST]} have something that speaks against them, {count[FOR]} hold so far, "
        f"{count[MIXED]} have mixed evidence, and of {count[OPEN]} nothing is decided"
    )
    if params.claim:
        heading = headings[params.claim]
        title, finding = f"{heading.id}. {heading.title}", f"{heading.title}: {heading.lean}"
    return Figure(
        title=title,
        finding=finding,
        frame=lambda: frame,
        caption="Each strip is turned so that its rule's line is in the middle and the right side speaks for the "
        "claim, up to a tick where two bounds support a statement; each has a scale of its own, and its number is "
        "printed. A bar is a 95 % confidence interval; a "
        "number without one is exact. Small dots are the other readings that the same line judges. "
        f"{'' if params.claim else RULE}".strip(),
        alt=f"Strips, one a statement. {finding}.",
        command="python -m analysis query "
        f'"SELECT * FROM statements WHERE {f"parent = {params.claim!r}" if params.claim else "decides"}"',
        provenance=store_facts(),
        draw=lambda theme: [_strips(frame, others, theme)],
    )


def _row(part: Judgement) -> dict[str, object]:
    """A statement with its numbers, what the rule compares them with, and its places on the strip."""
    part = as_told(part)
    places, printed, effect = strip(part), size(part), part.effect
    # The typeface of exports has no small digits for powers of ten.
    number = significant(effect) if effect is not None and 0 < abs(effect) < 1e-3 else printed.number
    return {
        "id": part.id,
        "statement": part.statement,
        "verdict": part.verdict,
        "bearing": BEARINGS[bearing(part)][0],
        "printed": printed.short.replace(printed.number, number) if number else "not measured yet",
        "effect": part.effect,
        "low": part.low,
        "high": part.high,
        "unit": part.unit,
        "supported_from": part.lower,
        "supported_to": part.upper,
        "opposes": bool(part.opposes),
        "place": places.value if places else None,
        "place_low": places.low if places else None,
        "place_high": places.high if places else None,
        "place_far": places.far if places else None,
        "sentence": part.sentence,
    }


def _strips(drawn: pd.DataFrame, others: pd.DataFrame, theme: Theme) -> Chart:
    """One strip a statement: the tinted side speaks for the claim; the number stands at the right."""
    labels = few_lines(drawn.id + " " + drawn.statement)
    shown = drawn.assign(label=labels)
    bearings = {words: verdict for words, verdict in BEARINGS.values() if words in set(shown.bearing)}
    x = marks.number(
        alt.X,
        "place",
        ["← speaks against the claim · speaks for it →", "0: the line of the rule"],
        domain=(-1.1, 1.1),
        values=[0],
        form=" ",
    )
    y = marks.labelled_rows(labels)
    side = alt.Chart(pd.DataFrame({"from": [0.0], "to": [1.1]})).mark_rect(
        color=theme.colour(colours.VERDICTS["supported"]), opacity=0.1
    )
    dots_of_others = others.merge(shown[["id", "label", "bearing"]], on="id")
    dots = alt.Chart(dots_of_others).mark_point(filled=True, size=18, opacity=0.45)
    ticks = alt.Chart(shown).mark_tick(color=theme.ink, thickness=1)
    hues = marks.hues("bearing", {words: theme.colour(VERDICTS[verdict][0]) for words, verdict in bearings.items()})
    shapes = {words: VERDICTS[verdict][1] for words, verdict in bearings.items()}
    layers = [
        side.encode(x=alt.X("from:Q"), x2="to:Q"),
        marks.rule(theme, x=0.0),
        *([ticks.encode(x=alt.X("place_far:Q"), y=y)] if shown.place_far.notna().any() else []),
        *([dots.encode(x=alt.X("other:Q"), y=y, color=hues)] if len(dots_of_others) else []),
        *marks.row_plot(
            shown,
            x=x,
            y=y,
            theme=theme,
            ends=("place_low", "place_high"),
            color=hues,
            shape=marks.shapes("bearing", shapes, marks.legend(place="top")),
            size=marks.LARGE_DOT,
            tooltip=("id", "statement", "verdict", "printed", "sentence"),
        ),
        marks.texts_beside(shown[["label", "printed"]], y, theme, "printed"),
    ]
    return marks.panel(*layers, theme=theme, width=300, height=marks.row_height(labels) * len(labels))
