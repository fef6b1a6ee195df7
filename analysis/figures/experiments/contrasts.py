"""The path from adding positions once to TUPE-A, a change a step: what each contrast of two encoders adds to the loss.

A step is one statement of the rules, whose two encoders differ as its words say. The other contrasts of the same rules
stand below, each by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import full_title, named
from analysis.core import frames
from analysis.core.colours import SOFT
from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised, plural, sentences, signed_or_zero
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import seeds_needed
from analysis.figures.figure import Figure, Parameters, figure
from analysis.rules import encoder_rules, training_rules
from analysis.store import read

PARENTS = ("C34", "C36")
"""The claims whose statements are about where positions are told, and how narrow words are."""
NATS = "nats per predicted token"
JOINED = " compared with "
"""The words between the two encoders in the name of a pair."""
OPEN = "open"
LETTERS = 26
"""Letters in a line of a label: on a phone longer ones would leave the plot little room."""
SAME = "grey: within ±{}, which the rules call the same"
"""The name of the grey boxes."""
LEAST_ROW = 44
"""Pixels of a row, at least."""


@dataclass(frozen=True)
class Rung:
    """One contrast as a step. statement: its id. words: what is changed.

    turned: the statement compares the encoder before the step with the one after it, instead of the reverse.
    whole: it repeats several steps at once, and no step goes on from it.
    """

    statement: str
    words: str
    turned: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Ladder:
    """Steps that follow each other. preset: of its trainings. note: what a reader must know of its statements."""

    title: str
    preset: str
    steps: tuple[Rung, ...]
    note: str = ""


LADDERS = (
    Ladder(
        "Every layer, then own matrices (TUPE-A), in two steps",
        training_rules().preset,
        (
            Rung("C34q", "told to the attention of every layer, without cross terms"),
            Rung("C34r", "given matrices of their own"),
        ),
        "preset cpu2, compared after its runs were stored",
    ),
    Ladder(
        "One change at a time",
        "width128",
        (
            Rung("C34i", "given a normalisation of their own"),
            Rung("C34d", "told to queries and keys alone, in the first layer"),
            Rung("C34c", "told to queries and keys of every layer"),
            Rung("C34b", "the three steps above at once, measured directly", whole=True),
            Rung("C34a", "given matrices of their own", turned=True),
            Rung("C34h", "without the two cross terms"),
        ),
    ),
    Ladder(
        "The other way round: every layer first",
        "width128",
        (
            Rung("C34e", "added again to the hidden state of every layer"),
            Rung("C34g", "kept out of the stream, told to queries, keys and values"),
            Rung("C34f", "kept out of the values, too"),
        ),
    ),
)
"""Two paths of single changes, and the short one of earlier trainings. The first two begin at adding positions once."""
BEGINNING = {full_title("bert_a"): named("bert_a")}
"""The encoder with which a ladder begins, in the words of its axis."""
SIDES = Ladder("Other contrasts, each by itself", "width128", ())
TOTAL, MATRIX = "C34b", "C34a"
"""The contrasts that the heading tells: of telling in every layer, and of a matrix of their own."""


@figure("experiments_contrasts", Parameters)
def contrasts(_: Parameters) -> Figure:
    """The difference in final loss of each contrast that some seed has been trained for.

    Raises NoResults where none has.
    """
    found = _stored()
    frame = found[found.effect.notna()].reset_index(drop=True)
    if frame.empty:
        raise NoResults(
            "No contrast of these rules has been trained yet. Train both sides, for example: python -m analysis ablate "
            "--preset width128 --variants bert_a,every_layer_attention"
        )
    ladders = _ladders(found)
    table = pd.concat([_rows(ladder, found) for ladder in ladders], ignore_index=True)
    waiting = found[found.effect.isna() & ~found.id.isin(table.id)]
    words = {row.id: standing(row.verdict, row.low, row.high, row.line) for row in frames.rows(frame)}
    needed = len(encoder_rules().seeds)
    return Figure(
        title="What untying gains, step by step",
        finding=_finding(found, words),
        frame=lambda: frame,
        summary=lambda: frame[["pair", "effect", "low", "high", "seeds"]],
        quantity="Final loss, first \N{MINUS SIGN} second (nats)",
        caption=sentences(
            "Each row changes one thing more about how positions are told; it begins where the row above it ended, and "
            f"shows what that adds to the final loss, in {NATS}, with its 95 % interval.",
            "Differences are paired by seed (Student's t). A step ends lower or higher where its whole interval lies "
            "outside its grey box, and at the same loss where it lies within. Filled: decided, with as many seeds as "
            f"the rules ask for ({needed}; {seeds_needed(training_rules().preset)} of preset "
            f"{training_rules().preset}). Hollow: open; its interval is of the seeds trained so far, so that steps "
            "need not add up to what is measured directly. Not run: dashed. The rules of preset width128 were frozen "
            "before its trainings.",
            f"Not run yet, and not on a path that is drawn: {plural(len(waiting), 'contrast')}" if len(waiting) else "",
        ),
        alt="Steps of final loss, one row each: "
        + "; ".join(f"{row.after}{JOINED}{row.before} {row.text}".replace("\n", ", ") for row in frames.rows(table))
        + ".",
        command="\n".join(dict.fromkeys(frame.command)),
        provenance={"rules": f"encoders.toml, SHA-256 {encoder_rules().sha256}; corrections.toml"},
        citation_keys=("ke2021tupe",),
        sentences=tuple(f"{pair}." for pair in waiting.pair),
        draw=lambda theme: _draw(table, [ladder.title for ladder in ladders], theme),
    )


def standing(verdict: str, low: float, high: float, margin: float) -> str:
    """The loss of the first encoder against the second's, as the rules have decided it; `open` where they have not.

    `same` where the whole interval lies within the margin, `lower` or `higher` where it lies beyond. Where it crosses
    one end of it, a statement on that side may be contradicted, which says `not lower` or `not higher`.
    """
    if verdict == OPEN:
        return OPEN
    if low >= -margin and high <= margin:
        return "same"
    if high < -margin:
        return "lower"
    if low > margin:
        return "higher"
    return "not lower" if low >= -margin else "not higher"


def turned(word: str) -> str:
    """The word of the reverse comparison."""
    return word.replace("lower", "-").replace("higher", "lower").replace("-", "higher")


def _stored() -> pd.DataFrame:
    """Every contrast: of the newest rules, and those of earlier trainings that a ladder names."""
    earlier = [step.statement for ladder in LADDERS if ladder.preset != "width128" for step in ladder.steps]
    return read.query(
        "SELECT id, statement, pair, effect, low, high, seeds, verdict, line, command FROM statements "
        f"WHERE parent IN {PARENTS} AND unit = '{NATS}' "
        f"AND (rules_sha = ? OR id IN ({read.placeholders(earlier)})) ORDER BY effect",
        (encoder_rules().sha256, *earlier),
    )


def _ladders(found: pd.DataFrame) -> list[Ladder]:
    """The ladders of which a step is measured, and the contrasts on none that are measured."""
    measured = found[found.effect.notna()]
    ladders = [ladder for ladder in LADDERS if {step.statement for step in ladder.steps} & set(measured.id)]
    on_one = {step.statement for ladder in ladders for step in ladder.steps}
    rest = measured[~measured.id.isin(on_one)]
    steps = tuple(Rung(row.id, row.pair.replace(JOINED, " minus "), whole=True) for row in frames.rows(rest))
    return [*ladders, Ladder(SIDES.title, SIDES.preset, steps)] if steps else ladders


def _rows(ladder: Ladder, found: pd.DataFrame) -> pd.DataFrame:
    """A row a step: the loss that it begins at and ends at, less that of the encoder with which the ladder begins.

    A step that is not measured ends where it begins. Those that repeat several begin where the ladder does.
    """
    by_id = {row.id: row for row in frames.rows(found)}
    levels: dict[str, float] = {}
    records: list[dict[str, object]] = []
    previous = ""
    for step in ladder.steps:
        row = by_id.get(step.statement)
        if row is None:
            continue
        after, _, before = row.pair.partition(JOINED)
        effect, low, high = row.effect, row.low, row.high
        word = standing(row.verdict, row.low, row.high, row.line)
        if step.turned:
            after, before, word = before, after, turned(word)
            effect, low, high = -effect, -high, -low
        begin = levels.get(before, 0.0)
        measured = bool(effect == effect)
        level = begin + effect if measured else begin
        if not step.whole:
            levels[after] = level
        seeds = int(row.seeds) if row.seeds == row.seeds else 0
        records.append(
            {
                "ladder": ladder.title, "note": ladder.note, "preset": ladder.preset, "id": row.id,
                "statement": row.statement, "pair": row.pair, "words": step.words, "after": after, "before": before,
                "begin": begin, "level": level, "low": begin + low, "high": begin + high,
                "effect": effect, "effect_low": low, "effect_high": high, "margin": row.line,
                "box_low": begin - row.line, "box_high": begin + row.line, "seeds": seeds, "verdict": row.verdict,
                "word": word, "measured": measured, "follows": before == previous and not step.whole,
                "text": _text(effect, word, seeds, seeds_needed(ladder.preset)),
            }
        )  # fmt: skip
        previous = "" if step.whole else after
    return pd.DataFrame(records)


def _text(effect: float, word: str, seeds: int, needed: int) -> str:
    """The size of a step, its word, and how many seeds it rests on. What rounds to zero has no sign."""
    if effect != effect:
        return f"not run\n{seeds} of {needed} seeds"
    stored = f"{seeds} of {needed} seeds" if word == OPEN and seeds < needed else plural(seeds, "seed")
    return f"{signed_or_zero(effect)} {word}\n{stored}"


def _finding(found: pd.DataFrame, words: Mapping[str, str]) -> str:
    """The decided effects of telling in every layer and of a matrix of its own, and how much is open."""
    effects = {row.id: abs(row.effect) for row in frames.rows(found)}
    total, matrix = words.get(TOTAL, OPEN), turned(words.get(MATRIX, OPEN))
    parts = []
    if total != OPEN:
        once = "with adding once"
        parts.append(f"with positions told to every layer's attention the loss {_does(total, effects[TOTAL], once)}")
    if matrix == "same" and parts:
        parts[-1] += ", with a matrix of their own or not"
    elif matrix != OPEN:
        size = f"{effects[MATRIX]:.2f} nats " if matrix in ("lower", "higher") else ""
        parts.append(f"a matrix of their own: {size}{'the same' if matrix == 'same' else matrix}")
    undecided = len(found) - sum(word != OPEN for word in words.values())
    parts.append(f"{undecided or 'none'} of {plural(len(found), 'contrast')} {'is' if undecided < 2 else 'are'} open")
    return capitalised("; ".join(parts))


def _does(word: str, size: float, other: str) -> str:
    """The standing of one loss against another, as a verb: ends 0.25 nats lower than with adding once."""
    if word in ("lower", "higher"):
        return f"ends {size:.2f} nats {word} than {other}"
    if word == "same":
        return f"ends where it does {other}"
    return f"does not end {word.removeprefix('not ')} than {other}"


def _draw(table: pd.DataFrame, ladders: Sequence[str], theme: Theme) -> list[Chart]:
    """One panel a ladder, all on one scale; the contrasts on none have one of their own."""
    alone = table.ladder == SIDES.title
    domains = {apart: _domain(rows) for apart, rows in ((False, table[~alone]), (True, table[alone])) if len(rows)}
    return [_panel(table[table.ladder == title], title, domains[title == SIDES.title], theme) for title in ladders]


def _domain(rows: pd.DataFrame) -> tuple[float, float]:
    """The range of all that is drawn."""
    ends = rows[["begin", "level", "low", "high", "box_low", "box_high"]].to_numpy(dtype=float)
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    room = 0.03 * (high - low)
    return low - room, high + room


def _panel(rows: pd.DataFrame, title: str, domain: tuple[float, float], theme: Theme) -> Chart:
    """Rows with the box of what the rules call the same, where the step begins, and where it ends."""
    alone = title == SIDES.title
    before = BEGINNING.get(rows.before.iloc[0], rows.before.iloc[0])
    labels = ["\n".join(marks.wrap_lines(row.words, LETTERS)) for row in frames.rows(rows)]
    level = marks.level_labels(labels)
    shown = rows.drop(columns=["note", "ladder"]).assign(label=[level[label] for label in labels], written=rows.text)
    x = marks.number(
        alt.X, "level", ["difference in final loss", "(nats; left is lower)"] if alone
        else [f"final loss less that of {before}", "(nats; left is lower)"],
        domain=domain, nice=False, ticks=6,
    )  # fmt: skip
    y = marks.labelled_rows([level[label] for label in labels], gap=0)
    height = marks.row_height(labels, LEAST_ROW)
    tips: list[marks.Tip] = [
        "pair",
        ("effect", "step, nats", "+.3f"),
        ("effect_low", "95 % interval from", "+.3f"),
        ("effect_high", "to", "+.3f"),
        "seeds",
        "verdict",
        "statement",
        "id",
    ]
    layers: list[Chart] = []
    for measured in (True, False):
        part = shown[shown.measured == measured]
        if len(part):
            dash = alt.Undefined if measured else marks.DASH
            boxes = alt.Chart(part).mark_rect(
                color=theme.grid, height={"band": 0.86}, opacity=1 if measured else 0.5,
                stroke=theme.faint, strokeWidth=0 if measured else 1, strokeDash=dash,
            )  # fmt: skip
            layers.append(boxes.encode(x=marks.same_axis(x, "box_low"), x2=alt.X2("box_high:Q"), y=y))
    # A step that goes on begins in the middle of the row above, where that one's dot stands.
    for follows in (False, True):
        part = shown[shown.follows == follows]
        if len(part):
            begin = alt.Chart(part).mark_tick(
                orient="vertical", thickness=1.5, color=theme.ink, opacity=0.75,
                size=height * (1.43 if follows else 0.86), yOffset=-0.285 * height if follows else 0,
            )  # fmt: skip
            layers.append(begin.encode(x=marks.same_axis(x, "begin"), y=y))
    known = shown[shown.measured]
    moves = alt.Chart(known).mark_rule(strokeWidth=1.5, strokeDash=[2, 3], color=theme.ink)
    layers.append(moves.encode(x=marks.same_axis(x, "begin"), x2=alt.X2("level:Q"), y=y))
    for decided, part in ((True, known[known.word != OPEN]), (False, known[known.word == OPEN])):
        if len(part):
            colour = theme.series if decided else theme.colour(SOFT)
            spans = alt.Chart(part).mark_rule(strokeWidth=3, color=colour, opacity=0.6)
            layers.append(spans.encode(x=marks.same_axis(x, "low"), x2=alt.X2("high:Q"), y=y))
            layers += marks.row_plot(
                part, x=x, y=y, theme=theme, ends=None, tooltip=tips, filled=decided, size=marks.LARGE_DOT,
                color=colour,
            )  # fmt: skip
    text = alt.Chart(shown).mark_text(
        align="left", dx=8, dy=-marks.LABEL_LINE / 2, lineBreak="\n", lineHeight=marks.LABEL_LINE,
        fontSize=marks.TEXT, color=theme.ink,
    )  # fmt: skip
    layers.append(text.encode(x=alt.value("width"), y=y, text=alt.Text("written:N")))
    return marks.panel(
        *layers, theme=theme, width=520, height=height * len(labels), title=title,
        below=[SAME.format(f"{rows.margin.iloc[0]:g} nats" if rows.margin.nunique() == 1 else "the margin"),
               *([rows.note.iloc[0]] if rows.note.iloc[0] else [])],
    )  # fmt: skip
