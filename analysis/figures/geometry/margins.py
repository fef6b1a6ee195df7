"""The margin by which every word, at its worst position, stays nearer to itself than to another word."""

import math
import unicodedata

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import colours
from analysis.core.errors import NoResults
from analysis.core.formatting import fixed, join_names, signed, significant
from analysis.figures import marks, panels
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, geometry_figure, stored_cases

NAMED = 3
"""Words that are lost, at most, which the finding names."""
FIRST = 2
"""Words that are listed whatever their letters, beside those of plain letters: those with the smallest margins."""
LISTED = 7
"""Words of plain letters that are listed: those of them with the smallest margins."""
ORDINARY = 3
"""The letters of the alphabet that a word has at least to be called an ordinary one."""
ROOM = 0.25
"""The part of the axis below a point that its name needs."""
BESIDE = 0.5
"""The part of all words up to which the name of the chosen one stands at the right of its dot."""
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
        f"{spelled(selected.word)}: position {selected.position} {verb} {spelled(selected.other_word)}, "
        f"{selected.distance:.2f} away "
        f"({side} by {significant(abs(selected.margin), 2)} than the word itself)."
    )
    below = f"{len(lost) or 'None'} {'falls' if len(lost) < 2 else 'fall'}"
    return geometry_figure(
        "How near each word comes to another word",
        rows,
        table=rows[["word", "position", "other_word", "distance", "margin", "rank"]],
        finding=_finding(rows, lost),
        caption=(
            f"Each of {len(rows):,} words of {readable(model)} stands at the one position that brings another word "
            f"nearest, among those that a word can hold. {text} {below} below zero, where a word "
            "is lost at one position at least. Margin: the distance of word + position to the "
            "nearest other word minus the distance to the word itself, in the units of the table."
        ),
        alt=text,
        draw=lambda theme: [part(rows, str(selected.word), theme) for part in (_sorted_margins, _lowest)],
        columns=2,
    )


def _finding(rows: pd.DataFrame, lost: pd.DataFrame) -> str:
    """The number of words that stay nearest to themselves, and the few that do not; else how clearly half do."""
    kept, count = len(rows) - len(lost), len(rows)
    many = f"All {count:,}" if not lost.size else f"{kept or 'None'} of {count:,}"
    stay = f"{many} words {'stays' if kept == 1 else 'stay'} nearest to {'itself' if kept == 1 else 'themselves'}"
    half = float(rows.margin.iloc[(count - 1) // 2])
    clearly = f", half of them by a distance of {fixed(half)} or more" if half > 0 else ""
    few = 0 < len(lost) <= NAMED
    does = f"{len(lost)} {'does' if len(lost) == 1 else 'do'} not"
    single = all(len(word.removeprefix("##")) == 1 for word in lost.word)
    what = "" if not single else ": a single letter" if len(lost) == 1 else ": single letters"
    plain = ", no plain word" if single else ""
    besides = f"; {does}{what} ({join_names(map(in_words, lost.word))}){plain}" if few else ""
    return f"{stay} at every position{besides or clearly}"


def _hues(rows: pd.DataFrame, theme: Theme) -> list[str]:
    """The colour of each word: that of words, or that of what speaks against where the word is lost."""
    own, lost = theme.colour(colours.TERMS["word"]), theme.colour(colours.VERDICTS["contradicted"])
    return [lost if margin < 0 else own for margin in rows.margin]


TIPS: tuple[marks.Tip, ...] = ("word", "position:Q", ("other_word", "nearest other"), ("margin", "", ".3~g"))


def _sorted_margins(rows: pd.DataFrame, selected: str, theme: Theme) -> Chart:
    """Every word's margin in order, with a dot at the selected word; below the line a word is lost."""
    blue, soft = theme.colour(colours.TERMS["word"]), theme.colour(colours.SOFT)
    low, high, count = min(0.0, float(rows.margin.min())), float(rows.margin.max()), len(rows)
    ticks = sorted({1, *(round(count * part / 4) for part in range(1, 5))})
    x = marks.number(alt.X, "rank", "words, by margin", domain=(1, count), grid=False, values=ticks)
    x["axis"]["labelFlush"] = True  # The last label would be cut at the edge of the panel.
    y = marks.number(alt.Y, "margin", AXIS, domain=(low - 0.04 * (high - low), high))
    area = alt.Chart(rows.assign(zero=0.0)).mark_area(opacity=0.15, color=blue)
    picked = rows[rows.word == selected].head(1)
    dot = alt.Chart(picked.assign(hue=_hues(picked, theme))).mark_point(filled=True, opacity=1, size=marks.LARGE_DOT)
    middle = float(rows.margin.iloc[(count - 1) // 2])
    apart = fixed(float(rows.distance.median()))
    # Margins rise to the right: below the curve at its right there is room, above it at its left where it lies low.
    right = middle - low > ROOM * (high - low)
    half = pd.DataFrame(
        [{"rank": (count + 1) // 2, "margin": middle, "dx": 10 if right else -10, "dy": 14 if right else -30,
          "align": "left" if right else "right", "hue": soft,
          "name": f"half keep a margin\nof {fixed(middle)} or more" if middle > 0 else ""}]
    )  # fmt: skip
    left = float(picked["rank"].iloc[0]) < BESIDE * count
    chosen = pd.DataFrame(
        [{"rank": picked["rank"].iloc[0], "margin": picked.margin.iloc[0], "dx": 10 if left else -10, "dy": -8,
          "align": "left" if left else "right", "hue": theme.ink, "name": in_words(selected)}]
    )  # fmt: skip
    halfway = alt.Chart(half[half.name != ""]).mark_point(filled=True, opacity=1, size=marks.DOT, color=soft)
    return marks.panel(
        area.encode(x=x, y=marks.same_axis(y, "zero"), y2=alt.Y2("margin:Q")),
        marks.rule(theme, y=0),
        *marks.line_plot(rows, x=x, y=y, theme=theme, color=blue, dots=0, tooltip=TIPS),
        halfway.encode(x=x, y=y),
        dot.encode(x=x, y=y, color=alt.Color("hue:N", scale=None), tooltip=marks.tips(*TIPS)),
        *panels.names_at(chosen, x, y, theme)[1:],
        # No halo over the shade below the curve.
        *panels.names_at(half, x, y, theme)[1 if right else 0 :],
        theme=theme,
        width=marks.HALF,
        height=320,
        title=f"All {count:,} words",
        below=[f"the nearest other word lies {apart} away (median)"],
    )


def _lowest(rows: pd.DataFrame, selected: str, theme: Theme) -> Chart:
    """The smallest margins of all words, then those of words of plain letters and the chosen word's."""
    ordinary = rows[[word.isascii() and word.isalpha() and len(word) >= ORDINARY for word in rows.word]].head(LISTED)
    others = pd.concat([rows.head(FIRST if len(ordinary) else LISTED), rows[rows.word == selected].head(1)])
    named = pd.concat([ordinary, others]).drop_duplicates("rank").sort_values("rank")
    plain = named["rank"].isin([*ordinary["rank"], *rows["rank"][rows.word == selected]])
    plain &= ~named["rank"].isin(others["rank"].head(FIRST if len(ordinary) else 0))
    named = pd.concat([named[~plain], named[plain]])
    places = set(named.position)
    named = named.assign(
        label=[
            f"{_short(word)}{'' if len(places) == 1 else f' at {position}'} → {_short(other)}"
            for word, position, other in zip(named.word, named.position, named.other_word, strict=True)
        ],
        hue=_hues(named, theme),
        written=[signed(float(margin), 3) for margin in named.margin],
    )
    low, high = min(0.0, float(named.margin.min())), max(0.0, float(named.margin.max()))
    x = marks.number(alt.X, "margin", "margin", domain=(low - 0.1 * (high - low), math.ceil(10 * high) / 10), ticks=4)
    y = marks.rows_down("label", list(named.label), limit=280, grid=False)
    base = alt.Chart(named).encode(y=y)
    own_hue = alt.Color("hue:N", scale=None)
    worst = (
        f"all stand at position {places.pop()}, their worst"
        if len(places) == 1
        else "each stands at its worst position"
    )
    none = "" if float(ordinary.margin.min()) < 0 else ", none lost"
    return marks.panel(
        base.mark_bar(height=marks.BAR, opacity=0.45).encode(x=x, color=own_hue),
        base.mark_point(filled=True, opacity=1, size=marks.DOT).encode(x=x, color=own_hue, tooltip=marks.tips(*TIPS)),
        marks.texts_beside(named, y, theme),
        marks.rule(theme, x=0),
        theme=theme,
        width=marks.HALF,
        height=320,
        title="Smallest margins",
        below=[worst, *([f"above: the {FIRST} smallest; below: plain words{none}"] if len(ordinary) else [])],
    )


def _short(word: str) -> str:
    """A word as a label has it: without what a sentence says of a character."""
    return in_words(word).replace("CJK character", "CJK")


def in_words(word: str) -> str:
    """A word in quotation marks; a single letter that is not Latin, which fonts may lack, by its name in Unicode."""
    letter = word.removeprefix("##")
    name = unicodedata.name(letter, "") if len(letter) == 1 and not letter.isascii() else ""
    if not name or "LATIN" in name:
        return spelled(word)
    if name.startswith("CJK"):
        return f"CJK character U+{ord(letter):04X}"
    return name.replace(" SMALL ", " ").replace(" CAPITAL ", " ").capitalize()


def spelled(word: str) -> str:
    """A word in quotation marks; letters that are not Latin, which fonts may lack, by their script and code points."""
    letters = [letter for letter in word if not letter.isascii()]
    names = [unicodedata.name(letter, "") for letter in letters]
    if all("LATIN" in name for name in names):
        return f"“{word}”"
    script = names[0].split()[0] if names[0] else ""
    written = f"{script} " if script == "CJK" else f"{script.capitalize()} " if script else ""
    return written + " ".join(f"U+{ord(letter):04X}" for letter in letters)
