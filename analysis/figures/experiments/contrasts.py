"""The contrasts of version 3's rules, each of two encoders that differ as its statement says, with their intervals."""

import altair as alt
import pandas as pd

from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, plural, sentences, signed
from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.training.row_marks import row_texts
from analysis.rules import encoder_rules
from analysis.store import read

PARENTS = ("C34", "C36")
"""The claims whose statements are about where positions are told, and how narrow words are."""
NATS = "nats per predicted token"
JOINED = " compared with "
"""The words between the two encoders in the name of a pair."""
MOST_NAMED = 2
"""Decided contrasts that the heading names, at most."""


@figure("experiments_contrasts", Parameters)
def contrasts(_: Parameters) -> Figure:
    """The difference in final loss of each contrast that some seed has been trained for.

    Raises NoResults where none has.
    """
    found = read.query(
        "SELECT id, statement, pair, effect, low, high, seeds, verdict, line, command FROM statements "
        f"WHERE parent IN {PARENTS} AND unit = '{NATS}' AND rules_sha = ? ORDER BY effect",
        (encoder_rules().sha256,),
    )
    frame = found[found.effect.notna()].reset_index(drop=True)
    if frame.empty:
        raise NoResults(
            "No contrast of these rules has been trained yet. Train both sides, for example: python -m analysis ablate "
            "--preset width128 --variants bert_a,every_layer_attention"
        )
    told = frame.assign(word=[standing(row.verdict, row.low, row.high, row.line) for row in frames.rows(frame)])
    waiting = found[found.effect.isna()]
    needed, margin = len(encoder_rules().seeds), float(frame.line.max())
    return Figure(
        title="Contrasts of the frozen rules",
        finding=_finding(told, len(found)),
        frame=lambda: frame,
        summary=lambda: frame[["pair", "effect", "low", "high", "seeds"]],
        quantity="Final loss, first \N{MINUS SIGN} second (nats)",
        caption=sentences(
            "Final loss of the first encoder less that of the second, in nats per predicted token, paired by seed. "
            "The rules call two losses the same where the whole interval lies in the grey band, within "
            f"{margin:g} nats of zero; lower or higher where it lies beyond the band. Lines: 95 % intervals "
            "(Student's t)",
            f"Filled: decided by rules that were frozen before the trainings, with {needed} seeds a side. "
            "Hollow: still open; its interval, if it has one, is of the seeds trained so far",
            f"Not run yet: {plural(len(waiting), 'contrast')}" if len(waiting) else "",
        ),
        alt="Rows of differences in final loss: "
        + "; ".join(f"{row.pair} {signed(row.effect, 2)}, {row.word}" for row in frames.rows(told))
        + ".",
        command="\n".join(dict.fromkeys(frame.command)),
        provenance={"rules": f"encoders.toml, SHA-256 {encoder_rules().sha256}"},
        sentences=tuple(f"{pair}." for pair in waiting.pair),
        draw=lambda theme: [_rows(told, margin, theme)],
    )


def standing(verdict: str, low: float, high: float, margin: float) -> str:
    """The loss of the first encoder against the second's, as the rules have decided it; `open` where they have not.

    `same` where the whole interval lies within the margin, `lower` or `higher` where it lies beyond. Where it crosses
    one end of it, a statement on that side may be contradicted, which says `not lower` or `not higher`.
    """
    if verdict == "open":
        return "open"
    if low >= -margin and high <= margin:
        return "same"
    if high < -margin:
        return "lower"
    if low > margin:
        return "higher"
    return "not lower" if low >= -margin else "not higher"


def _finding(told: pd.DataFrame, count: int) -> str:
    """The number of decided contrasts of `count`, and what they say; of many, the counts and the largest."""
    decided = told[told.word != "open"]
    decided = decided.reindex(decided.effect.abs().sort_values(ascending=False).index)
    finding = f"{len(decided)} of {plural(count, 'contrast')} {'is' if len(decided) == 1 else 'are'} decided"
    if decided.empty:
        return finding
    if len(decided) <= MOST_NAMED:
        return f"{finding}: {'; '.join(_said(row) for row in frames.rows(decided))}"
    words = decided.word.value_counts()
    counts = join_names(f"{number} {word}" for word, number in words.items())
    return f"{finding} ({counts}); the largest: {_said(next(iter(frames.rows(decided))))}"


def _said(row) -> str:
    """A decided contrast in words."""
    first, second = (f"“{name}”" if "," in name else name for name in row.pair.split(JOINED))
    if row.word == "same":
        return f"{first} ends where {second} does"
    if row.word in ("lower", "higher"):
        return f"{first} ends {abs(row.effect):.2f} nats {row.word} than {second}"
    return f"{first} does not end {row.word.removeprefix('not ')} than {second}"


def _rows(told: pd.DataFrame, margin: float, theme: Theme) -> Chart:
    """A row a contrast, the decided ones first, with its number and word; the band is what the rules call the same."""
    told = told.sort_values("word", key=lambda words: words == "open", kind="stable")
    labels = {pair: "\n".join(_lines(pair)) for pair in told.pair}
    shown = told.assign(
        label=told.pair.map(labels),
        written=[f"{signed(effect)} {word}" for effect, word in zip(told.effect, told.word, strict=True)],
    ).drop(columns=["command", "line"])
    x = marks.number(alt.X, "effect", "nats; left is a lower loss", ticks=6)
    y = marks.labelled_rows(list(labels.values()), grid=True)
    tips: list[marks.Tip] = [
        "pair",
        ("effect", "difference, nats", "+.3f"),
        *marks.interval_tips("+.3f"),
        "seeds",
        "verdict",
        "statement",
        "id",
    ]
    band = alt.Chart(pd.DataFrame({"low": [-margin], "high": [margin]}))
    layers: list[Chart] = [
        band.mark_rect(color=theme.grid, opacity=0.9).encode(x=marks.same_axis(x, "low"), x2=alt.X2("high:Q")),
        marks.rule(theme, x=0),
    ]
    for filled, rows in ((True, shown[shown.word != "open"]), (False, shown[shown.word == "open"])):
        if len(rows):
            layers += marks.row_plot(
                rows, x=x, y=y, theme=theme, tooltip=tips, filled=filled, color=theme.many(1)[0] if filled else GREY
            )
    layers.append(row_texts(shown[["label", "written"]], y, theme))
    height = marks.row_height(list(labels.values()), marks.ROW) * len(labels)
    return marks.panel(*layers, theme=theme, width=520, height=height)


def _lines(pair: str) -> tuple[str, str]:
    """A pair as the difference that is drawn, in two lines."""
    first, _, second = pair.partition(JOINED)
    return first, f"minus {second}"
