"""The margin by which every word, at its worst position, stays nearer to itself than to another word."""

import unicodedata

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import colours
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, signed, significant
from analysis.figures import marks, panels
from analysis.figures.drawing import VERMILION, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, geometry_figure, stored_cases

NAMED = 3
"""Words that are named: those with the smallest margins."""
ORDINARY = 3
"""The letters of the alphabet that a word has at least to be called an ordinary one."""
LINE_HEIGHT = 20
AXIS = "margin: distance to another word less distance to itself"


class WordParameters(GeometryParameters):
    """A model, and one of its words; the one that comes nearest to another where none is named."""

    word: str


@figure("geometry_calls", WordParameters)
def calls(params: WordParameters) -> Figure:
    """The margin by which every word, at its worst position, stays nearer to itself than to another word.

    Raises NoResults where none is stored of the model, or the word was not searched for.
    """
    model, word = params.model, params.word
    rows = stored_cases(model, "nearest_word").assign(rank=lambda x: range(1, len(x) + 1))
    if word and word not in set(rows.word):
        raise NoResults(f"The word {word!r} was not searched for {readable(model)}; choose one of its {len(rows):,}.")
    selected = rows[rows.word == word].iloc[0] if word else rows.iloc[0]
    lost = rows[rows.margin < 0]
    side = "nearer" if selected.margin < 0 else "farther"
    verb = "turns it into" if selected.margin < 0 else "brings it nearest to"
    text = (
        f"{_spelled(selected.word)}: position {selected.position} {verb} {_spelled(selected.other_word)}, "
        f"{selected.distance:.2f} away "
        f"({side} by {significant(abs(selected.margin), 2)} than the word itself)."
    )
    below = f"{len(lost) or 'None'} {'falls' if len(lost) < 2 else 'fall'}"
    return geometry_figure(
        "How near each word comes to another word",
        rows,
        table=rows[["word", "position", "other_word", "distance", "margin", "rank"]],
        finding=f"One position or another makes {_lost_words(lost)} of {len(rows):,} words look like another word",
        caption=(
            f"Each of {len(rows):,} words of {readable(model)} stands at the one position that brings another word "
            f"nearest, among those that a word can hold. {text} {below} below zero, where a word "
            "is lost at one position at least. Margin: the distance of word + position to the "
            "nearest other word minus the distance to the word itself, in the units of the table."
        ),
        alt=text,
        draw=lambda theme: [_sorted_margins(rows, str(selected.word), theme)],
    )


def _lost_words(lost: pd.DataFrame) -> str:
    """The number of lost words, with their names if they are few."""
    named = f" ({join_names(map(_spelled, lost.word))})" if 0 < len(lost) <= NAMED else ""
    return f"{len(lost) or 'none'}{named}"


def _sorted_margins(rows: pd.DataFrame, selected: str, theme: Theme) -> Chart:
    """Every word's margin in order; the lowest, the picked one and the middle one named; below the line one is lost."""
    rows = rows.reset_index(drop=True)
    blue, soft = theme.colour(colours.TERMS["word"]), theme.colour(colours.SOFT)
    x = marks.number(
        alt.X, "rank", "words, from the smallest margin to the largest", domain=(1, len(rows)), padding=8, grid=False
    )
    span = float(rows.margin.max()) - min(0.0, float(rows.margin.min()))
    y = marks.number(
        alt.Y, "margin", AXIS, domain=(min(0.0, float(rows.margin.min())) - 0.04 * span, float(rows.margin.max())),
    )  # fmt: skip
    tooltip: tuple[marks.Tip, ...] = ("word", "position:Q", ("other_word", "nearest other"), ("margin", "", ".3~g"))
    area = alt.Chart(rows.assign(zero=0.0)).mark_area(opacity=0.15, color=blue)
    dots = _named(rows, selected).assign(hue=lambda frame: [VERMILION if m < 0 else blue for m in frame.margin])
    points = alt.Chart(dots).mark_point(filled=True, opacity=1, size=marks.LARGE_DOT)
    return marks.panel(
        area.encode(x=x, y=marks.same_axis(y, "zero"), y2=alt.Y2("margin:Q")),
        marks.rule(theme, y=0),
        *marks.line_plot(rows, x=x, y=y, theme=theme, color=blue, dots=0, tooltip=tooltip),
        points.encode(x=x, y=y, color=alt.Color("hue:N", scale=None), tooltip=marks.tips(*tooltip)),
        *panels.names_at(_names(rows, dots, selected, theme.ink, soft), x, y, theme),
        theme=theme,
        width=marks.WIDE,
        height=320,
    )


def _named(rows: pd.DataFrame, selected: str) -> pd.DataFrame:
    """The words with the smallest margins, and the selected one."""
    return pd.concat([rows.head(NAMED), rows[rows.word == selected]]).drop_duplicates("rank")


def _names(rows: pd.DataFrame, dots: pd.DataFrame, selected: str, ink: str, soft: str) -> pd.DataFrame:
    """Names of the dots: the lowest words in a list at the upper left, clear of the curve that rises from there.

    Their dots lie side by side at the left edge, where their names would cover one another.
    """
    top, middle = float(rows.margin.max()), rows.iloc[(len(rows) - 1) // 2]
    lowest = [
        {"rank": 1, "margin": top, "dx": 14, "dy": LINE_HEIGHT * (number + 1.2), "align": "left", "hue": ink,
         "name": f"{number + 1}. {_case(row)}"}
        for number, (_, row) in enumerate(rows.head(NAMED).iterrows())
    ]  # fmt: skip
    ordinary = rows[[word.isascii() and word.isalpha() and len(word) >= ORDINARY for word in rows.word]]
    if len(ordinary) and ordinary.index[0] >= NAMED:
        lowest.append(
            {"rank": 1, "margin": top, "dx": 14, "dy": LINE_HEIGHT * (NAMED + 1.2), "align": "left", "hue": ink,
             "name": _case(ordinary.iloc[0])}
        )  # fmt: skip
    lowest.insert(
        0,
        {"rank": 1, "margin": top, "dx": 14, "dy": 4, "align": "left", "hue": soft,
         "name": f"the {NAMED} smallest margins, and the first of plain letters"},
    )  # fmt: skip
    picked = [
        {"rank": row["rank"], "margin": row.margin, "dx": 12 if row["rank"] < len(rows) / 2 else -12, "dy": 18,
         "align": "left" if row["rank"] < len(rows) / 2 else "right", "hue": ink, "name": _case(row)}
        for _, row in dots[(dots.word == selected) & (dots["rank"] > NAMED)].iterrows()
    ]  # fmt: skip
    half = {
        "rank": len(rows), "margin": middle.margin, "dx": -6, "dy": 22, "align": "right", "hue": soft,
        "name": f"half keep {signed(float(middle.margin))} or more",
    }  # fmt: skip
    return pd.DataFrame([*lowest, *picked, half])


def _spelled(word: str) -> str:
    """A word in quotation marks; letters that are not Latin, which fonts may lack, by their code points."""
    letters = [letter for letter in word if not letter.isascii()]
    if all("LATIN" in unicodedata.name(letter, "") for letter in letters):
        return f"“{word}”"
    return " ".join(f"U+{ord(letter):04X}" for letter in letters)


def _case(row: pd.Series) -> str:
    """A word, the position that brings it nearest to another one, that word, and the margin between the two."""
    words = f"{_spelled(row.word)} at {row.position} → {_spelled(row.other_word)}"
    return f"{words}: {signed(float(row.margin), 3)}"
