"""Every statement with its verdict, as a table of marks."""

import textwrap
from collections.abc import Iterable

import altair as alt
import pandas as pd

from analysis.claims.statements import stored as statements
from analysis.core import colours
from analysis.core.errors import NoResults
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.store import read

VERDICTS = {
    "supported": (colours.VERDICTS["supported"], "circle"),
    "contradicted": (colours.VERDICTS["contradicted"], "cross"),
    "mixed": (colours.VERDICTS["mixed"], "diamond"),
    "open": (colours.VERDICTS["open"], "square"),
}
"""Colour and shape of every verdict."""
LABEL_CHARACTERS, LABEL_LINES = 34, 3
"""The most letters in a line of a name, and the most lines. Longer ones leave the marks no room on a narrow screen."""
EMPTY = "The store holds no statements. Run: python -m analysis sync --rebuild"


def store_facts() -> dict[str, str]:
    """The store that verdicts were computed in."""
    meta = read.query("SELECT built, git_sha, schema_version FROM meta").iloc[0]
    return {"store": f"built {meta.built}, code {meta.git_sha}, schema {meta.schema_version}"}


@figure("claims_statements", Parameters)
def claims_statements(_: Parameters) -> Figure:
    """Every statement with its verdict. Raises NoResults where the store holds none."""
    matches = statements.statements()
    if not matches:
        raise NoResults(EMPTY)
    frame = pd.DataFrame(
        {
            "id": statement.id,
            "claim": f"{statement.id} {statement.statement}",
            "verdict": statement.verdict,
            "sentence": statement.sentence,
            "scope": statement.scope,
            "effect": statement.effect,
            "low": statement.low,
            "high": statement.high,
            "unit": statement.unit,
            "line": statement.line,
            "for": sum(reading.standing == "holds" for reading in statement.readings),
            "against": sum(reading.standing == "fails" for reading in statement.readings),
            "readings": len(statement.readings),
            "would_decide": statement.would_decide,
            "rules_version": statement.rules_version,
            "rules_sha": statement.rules_sha,
        }
        for statement in matches
    )
    counts = ", ".join(f"{count} {word}" for word, count in statements.counts().items())
    return Figure(
        title="Every statement and its verdict",
        finding=f"Of {len(frame)} statements, {counts}",
        frame=lambda: frame,
        caption=f"{len(frame)} statements, each about one scope and judged by one rule: {counts}. The rules for our "
        "own trainings were frozen before those trainings began; the rules for other measurements were written "
        "when most of these were known. The data behind this chart hold effects, intervals and what would decide "
        "an open statement.",
        alt=f"Table of marks, one row per statement, one column per verdict. {counts}.",
        command='python -m analysis query "SELECT * FROM statements"',
        provenance=store_facts(),
        draw=lambda theme: [_table(frame, theme)],
    )


def _table(frame: pd.DataFrame, theme: Theme) -> Chart:
    """One row a statement, one column a verdict; the mark's shape says the verdict again."""
    labels = few_lines(frame.claim)
    shown = frame[["claim", "verdict", "for", "against", "sentence"]].assign(label=labels)
    dots = alt.Chart(shown).mark_point(filled=True, size=marks.LARGE_DOT, opacity=1)
    table = dots.encode(
        x=marks.columns_across("verdict", list(statements.WORDS)),
        y=marks.labelled_rows(labels, grid=True),
        color=marks.hues("verdict", {word: theme.colour(colour) for word, (colour, _) in VERDICTS.items()}),
        shape=marks.shapes("verdict", {word: shape for word, (_, shape) in VERDICTS.items()}),
        tooltip=marks.tips("claim", "verdict", "for:Q", "against:Q", "sentence"),
    )
    return marks.panel(table, theme=theme, width=marks.HALF, height=marks.row_height(labels) * len(labels))


def few_lines(names: Iterable[str]) -> list[str]:
    """Names in few lines, levelled, as labels of rows."""
    lines = [textwrap.wrap(name, LABEL_CHARACTERS, max_lines=LABEL_LINES, placeholder=" …") for name in names]
    return list(marks.level_labels(["\n".join(parts) for parts in lines]).values())
