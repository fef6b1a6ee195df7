"""The loss that each single change of how positions are told adds, in two figures: paths of changes, and other changes.

A row is one statement of the rules, whose two encoders differ as its words say. Every row is drawn from zero: the
encoder before its change.
"""

from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import pandas as pd

from analysis.claims.statements import stored
from analysis.claims.statements.contests import SAME
from analysis.claims.statements.judgement import COMPARED_WITH, CORRECTED, REFUSED, SUPPORTED, UNEVEN
from analysis.core import frames
from analysis.core.colours import SOFT
from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised, join_names, plural, sentences, signed_or_zero
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.training.final_loss import seeds_needed
from analysis.rules import all_encoder_rules, encoder_contests, encoder_rules, training_rules
from analysis.statistics.margins import SLIGHTLY_BETTER, SLIGHTLY_WORSE
from analysis.store import read

PARENTS = ("C34", "C36")
"""The claims whose statements are about where positions are told, and how narrow words are."""
NATS = "nats per predicted token"
OPEN = "open"
NOT_LOWER, NOT_HIGHER = "not lower", "not higher"
"""The words of a loss of which the rules have decided one side alone."""
SLIGHTLY = {SLIGHTLY_BETTER: "slightly lower", SLIGHTLY_WORSE: "slightly higher"}
"""The words of supported statements that say that a difference is real and small."""
AFTER_CORRECTION, TOO_UNEVEN, TOO_LATE = "corrected", "uneven", "late"
HELD_BACK = {CORRECTED: AFTER_CORRECTION, UNEVEN: TOO_UNEVEN, REFUSED: TOO_LATE}
"""Beside the seeds of a contrast that is open although its interval is clear of the margin: why it is so."""
LETTERS = 26
"""Letters in a line of a label: longer ones would leave the plot little room."""
ROW = 30
"""Pixels of a row: two lines of text."""
TICKS = tuple(tenth / 10 for tenth in range(-20, 21))
"""The numbers of the axis, in nats."""
COLUMN = "nats, by the rules"
"""The heading over the differences and their words."""
THEN = "then "
"""The beginning of the words of a change that goes on from the row above it."""


@dataclass(frozen=True)
class SingleChange:
    """One contrast. statement: its id. words: what is changed, less the encoder that the group or "then" names.

    turned: the statement compares the encoder before the change with the one after it, instead of the reverse.
    """

    statement: str
    words: str
    turned: bool = False


@dataclass(frozen=True)
class Group:
    """Changes of one encoder, which the title names, or of each other.

    preset: of the trainings. chart: the title of the chart that holds it, where a figure has several.
    """

    title: str
    preset: str
    changes: tuple[SingleChange, ...]
    chart: str = ""


TO_ATTENTION, TO_CONCATENATION = "To the attention of every layer", "To concatenating"
"""The titles of the two charts of paths."""
GROUPS = (
    Group(
        "From adding once, one change after another",
        "width128",
        (
            SingleChange("C34z", "words and positions normalised separately"),
            SingleChange("C34t", "then queries and keys of the first layer alone"),
            SingleChange("C34s", "then queries and keys of every layer"),
            SingleChange("C34b", "all three at once"),
        ),
        TO_ATTENTION,
    ),
    Group(
        "From queries and keys of every layer",
        "width128",
        (
            SingleChange("C34a", "matrices of their own", turned=True),
            SingleChange("C34h", "no cross terms"),
        ),
        TO_ATTENTION,
    ),
    Group(
        "From adding once, normalised, to every layer",
        "width128",
        (
            SingleChange("C34e", "told to its whole input"),
            SingleChange("C34g", "then to queries, keys, values"),
            SingleChange("C34f", "then to queries and keys"),
        ),
        TO_ATTENTION,
    ),
    Group(
        "From adding once to concatenating, wider",
        "width128",
        (
            SingleChange("C36h", "a wider, flatter shape, words of 80 %"),
            SingleChange("C36g", "then concatenated"),
            SingleChange("C36d", "both: Concatenated, wider, same size"),
            SingleChange("C36m", "then added instead of concatenated", turned=True),
        ),
        TO_CONCATENATION,
    ),
    Group(
        "From adding once to concatenating, same width",
        "width128",
        (
            SingleChange("C36c", "words of 80 % of the width"),
            SingleChange("C36a", "then concatenated"),
        ),
        TO_CONCATENATION,
    ),
    Group("From adding, words of 50 %", "width128", (SingleChange("C36b", "concatenated"),), TO_CONCATENATION),
    Group(
        "From adding once, words of the whole width",
        "width128",
        (
            SingleChange("C36w", "one projection after the sum"),
            SingleChange("C36v", "then a block for each: concatenated"),
            SingleChange("C36o", "both at once"),
        ),
        TO_CONCATENATION,
    ),
    Group(
        "From adding once, projections from the identity",
        "width128",
        (
            SingleChange("C36ab", "one projection after the sum"),
            SingleChange("C36z", "then a block for each: concatenated"),
            SingleChange("C36aa", "both at once"),
        ),
        TO_CONCATENATION,
    ),
)
"""Paths of single changes."""
OTHER_GROUPS = (
    Group(
        "From adding sinusoids to concatenating 16",
        "width128",
        (
            SingleChange("C36j", "16 added ones: beside narrower words"),
            SingleChange("C36e", "all added: 16 beside narrower words"),
        ),
    ),
    Group(
        "From adding once to TUPE-A (recipe cpu2)",
        training_rules().preset,
        (
            SingleChange("C34q", "attention of every layer, no cross terms"),
            SingleChange("C34r", "then matrices of their own"),
        ),
    ),
)
"""Changes beside the paths; the last are of earlier trainings, which were compared after they were stored."""
OTHERS = Group(
    "Other contrasts: what is changed, and how",
    "width128",
    (
        SingleChange("C34m", "first layer: a matrix of their own"),
        SingleChange("C34k", "every layer, own matrix: scaled"),
        SingleChange("C34l", "apart: own matrix, [CLS] tied"),
        SingleChange("C34j", "every layer: without the norm"),
        SingleChange("C36ac", "projected sum: from the identity"),
    ),
)
TOTAL, MATRIX = "C34b", "C34a"
"""The contrasts that the heading tells: of telling in every layer, and of a matrix of their own."""


@figure("experiments_contrasts", Parameters)
def contrasts(_: Parameters) -> Figure:
    """The difference in final loss of each contrast on a path that some seed has been trained for.

    Raises NoResults where none has.
    """
    found = _stored()
    groups = _measured(GROUPS, found)
    named = {change.statement for group in groups for change in group.changes}
    here = found[found.id.isin(named)]
    return _figure("Single changes of how positions are told", _finding(found), groups, here, found)


@figure("experiments_contrasts_others", Parameters)
def other_contrasts(_: Parameters) -> Figure:
    """The same of every contrast that is on no path. Raises NoResults where none is measured."""
    found = _stored()
    on_paths = {change.statement for group in _measured(GROUPS, found) for change in group.changes}
    here = found[~found.id.isin(on_paths)]
    measured, margin = here[here.effect.notna()], _margin(found)
    decided = sum(standing(row.verdict, row.low, row.high, margin, row.expect) != OPEN for row in frames.rows(measured))
    finding = f"{capitalised(str(decided or 'none'))} of {plural(len(measured), 'other contrast')} decided"
    return _figure("Other single changes", finding, _other_groups(here), here, found)


def _margin(found: pd.DataFrame) -> float:
    """The margin of most contrasts, in nats, by which all are drawn and put in words."""
    return float(found.line.mode().iloc[0])


def _figure(title: str, finding: str, groups: list[Group], here: pd.DataFrame, found: pd.DataFrame) -> Figure:
    """A figure of these groups. here: the contrasts of the figure, measured or not. found: those of both figures.

    Raises NoResults where none is measured.
    """
    frame = here[here.effect.notna()].reset_index(drop=True)
    if frame.empty:
        raise NoResults(
            "No contrast of these rules has been trained yet. Train both sides, for example: python -m analysis ablate "
            "--preset width128 --variants bert_a,every_layer_attention"
        )
    margin = _margin(found)
    table = pd.concat([_rows(group, here, margin) for group in groups], ignore_index=True)
    waiting = here[here.effect.isna() & ~here.id.isin(table.id)]
    undecided = sum(standing(row.verdict, row.low, row.high, margin, row.expect) == OPEN for row in frames.rows(frame))
    held_back = sum(_held_back(row) == AFTER_CORRECTION for row in frames.rows(frame))
    not_run = len(here) - len(frame)
    judged = training_rules().preset
    needed = sorted({_needed(row.id, row.preset) for row in frames.rows(table)})
    return Figure(
        title=title,
        finding=finding,
        frame=lambda: frame,
        summary=lambda: frame[["pair", "effect", "low", "high", "seeds"]],
        quantity="Final loss, first \N{MINUS SIGN} second (nats)",
        caption=sentences(
            f"What one change adds to the final loss in recipe {join_names(dict.fromkeys(table.preset))}, in {NATS}, "
            f"with its 95 % interval; {undecided} of "
            f"{plural(len(frame), 'contrast')} {'is' if undecided == 1 else 'are'} open (hollow)"
            + (f", {held_back} of them only since many are tested at once (“{AFTER_CORRECTION}”)" if held_back else "")
            + (f", and {not_run} more {'is' if not_run == 1 else 'are'} not run." if not_run else "."),
            "A row that begins with “then”, and is indented, changes the encoder of the row above it; every other row "
            "changes the encoder that the title of its group, or the words before its colon, name. Zero is always the "
            "loss before the change."
            if table.words.str.startswith(THEN).any()
            else "A row changes the encoder that the title of its group, or the words before its colon, name.",
            "Differences are paired by seed (Student's t). The loss is lower or higher where the whole interval lies "
            "outside the grey band, and the same where it lies within. "
            + (
                "“Not lower” (or higher): the interval crosses an end of the band, and the rule asked only whether the "
                "loss is lower (or higher), which is ruled out. "
                if table.text.str.contains(f"{NOT_LOWER}|{NOT_HIGHER}").any()
                else ""
            )
            + (
                "“Slightly lower” (or higher): the rule asks whether the whole interval lies on that side of zero and "
                "within twice the band, and it does. "
                if table.word.isin(SLIGHTLY.values()).any()
                else ""
            )
            + "Filled: decided, with as many seeds as "
            f"the rules ask for ({join_names(map(str, needed))}). Hollow: "
            "open; its interval is of the seeds trained so far, so that single changes need not add up to what is "
            "measured at once. The rules of recipe width128 were frozen before its trainings"
            + (
                f"; those of {judged} were compared after its runs were stored." if judged in set(table.preset) else "."
            ),
            _corrected(here, found),
            _new_seeds(table),
            " ".join(
                f"The rule of {row.id} asks with a margin of {row.line:g} nats; its word here is that of the band, as "
                "of all others."
                for row in frames.rows(frame[(frame.line != margin) & ~frame.expect.isin(SLIGHTLY)])
            ),
            f"“{TOO_UNEVEN}”: clear of the band, and open because the differences of paired seeds spread by more "
            f"than {encoder_rules().paired_spread:g} nats, which the rules do not allow."
            if table.text.str.endswith(TOO_UNEVEN).any()
            else "",
            f"“{TOO_LATE}”: clear of the band, and open because a side was still on the plateau after half of the "
            "steps in some seed, or diverged."
            if table.text.str.endswith(TOO_LATE).any()
            else "",
            f"Not run yet, and on no path: {plural(len(waiting), 'contrast')}" if len(waiting) else "",
        ),
        alt="Differences of final loss, one row each: "
        + "; ".join(
            f"{row.after}{COMPARED_WITH}{row.before} {row.text}".replace("\n", ", ") for row in frames.rows(table)
        )
        + ".",
        command="\n".join(dict.fromkeys(frame.command)),
        provenance={
            "rules": "; ".join(f"version {rules.version}, SHA-256 {rules.sha256}" for rules in all_encoder_rules())
            + "; corrections.toml"
        },
        citation_keys=("ke2021tupe",),
        sentences=tuple(f"{pair}." for pair in waiting.pair),
        draw=lambda theme: _draw(table, theme),
        columns=table.chart.nunique(),
    )


def _families() -> dict[str, str]:
    """Statement -> the family over which its test is corrected."""
    return {name: contest.family for name, (contest, _) in encoder_contests().items()}


def _needed(statement: str, preset: str) -> int:
    """The seeds that the rules of a statement ask for. preset: of statements that no file for encoders has."""
    contests = encoder_contests()
    return len(contests[statement][1].seeds) if statement in contests else seeds_needed(preset)


def _held_back(row: Any) -> str:
    """The words for what holds back a contrast whose interval is clear of the band; empty for any other."""
    clear = row.low > row.line or row.high < -row.line
    return HELD_BACK.get(row.open_by, "") if clear else ""


def _corrected(here: pd.DataFrame, found: pd.DataFrame) -> str:
    """A sentence on the contrasts of a figure that only the correction leaves open; empty where there are none."""
    clear = [str(row.id) for row in frames.rows(here) if _held_back(row) == AFTER_CORRECTION]
    if not clear:
        return ""
    families = _families()
    seeds = dict(zip(found.id, found.seeds.fillna(0), strict=True))
    lacking = {families[id] for id in seeds if id in families and seeds[id] < _needed(id, "")}
    failed = ", in which contrasts that are not trained yet count as failed"
    which = "interval has all seeds and lies" if len(clear) == 1 else "intervals have all seeds and lie"
    return (
        f"{len(clear)} hollow {which} clear of the band ({AFTER_CORRECTION}): the rules test all contrasts of a "
        f"family together, and after Holm's correction{failed if lacking & {families[id] for id in clear} else ''} "
        f"{'it is' if len(clear) == 1 else 'these are'} still open."
    )


def _new_seeds(table: pd.DataFrame) -> str:
    """A sentence on the contrasts that have more seeds than the others; empty where all have as many."""
    usual = int(table.seeds.mode().iloc[0])
    more = table[table.seeds > usual]
    if more.empty:
        return ""
    return (
        f"{plural(len(more), 'contrast')} of {join_names(sorted(map(str, set(more.seeds))))} seeds "
        f"{'rests' if len(more) == 1 else 'rest'} on other seeds than the board, whose differences of {usual} seeds "
        "therefore differ a little."
    )


def standing(verdict: str, low: float, high: float, margin: float, expect: str = "") -> str:
    """The loss of the first encoder against the second's, as the rules have decided it; `open` where they have not.

    expect: what the rule expects. `same` where the whole interval lies within the margin, `lower` or `higher` where it
    lies beyond, a word of `SLIGHTLY` where a statement that says so is supported. Where it crosses one end of it, a
    supported `the same` is so, since its rule asks the 90 % interval; a statement on that side may be contradicted,
    which says `NOT_LOWER` or `NOT_HIGHER`.
    """
    if verdict == OPEN:
        return OPEN
    if expect in SLIGHTLY and verdict == SUPPORTED:
        return SLIGHTLY[expect]
    if low >= -margin and high <= margin:
        return "same"
    if high < -margin:
        return "lower"
    if low > margin:
        return "higher"
    if expect == SAME and verdict == SUPPORTED:
        return "same"
    return NOT_LOWER if low >= -margin else NOT_HIGHER


def turned(word: str) -> str:
    """The word of the reverse comparison."""
    return word.replace("lower", "-").replace("higher", "lower").replace("-", "higher")


def _stored() -> pd.DataFrame:
    """Every contrast: of the rules for encoders, and those of earlier trainings that a group names."""
    files = [rules.sha256 for rules in all_encoder_rules()]
    earlier = [change.statement for group in OTHER_GROUPS if group.preset != OTHERS.preset for change in group.changes]
    return read.query(
        "SELECT id, statement, pair, effect, low, high, seeds, verdict, open_by, expect, line, command FROM statements "
        f"WHERE parent IN {PARENTS} AND kind = 'final_loss' "
        f"AND (rules_sha IN ({read.placeholders(files)}) OR id IN ({read.placeholders(earlier)})) ORDER BY effect",
        (*files, *earlier),
    )


def _measured(groups: tuple[Group, ...], found: pd.DataFrame) -> list[Group]:
    """The groups of which a contrast is measured, with the statements that are judged now."""
    measured = set(found.id[found.effect.notna()])
    current = [replace(group, changes=tuple(_current(change) for change in group.changes)) for group in groups]
    return [group for group in current if {change.statement for change in group.changes} & measured]


def _current(change: SingleChange) -> SingleChange:
    """The contrast by the statement that took the place of its own, where one did."""
    return replace(change, statement=stored.by_id().current_id(change.statement))


def _other_groups(found: pd.DataFrame) -> list[Group]:
    """The groups beside the paths, and one of the measured contrasts that are in none of these."""
    measured = found[found.effect.notna()]
    groups = _measured(OTHER_GROUPS, found)
    grouped = {change.statement for group in groups for change in group.changes}
    words = {change.statement: change for change in map(_current, OTHERS.changes)}
    changes = tuple(
        words.get(row.id, SingleChange(row.id, row.pair.replace(COMPARED_WITH, " less ")))
        for row in frames.rows(measured[~measured.id.isin(grouped)])
    )
    return [*groups, replace(OTHERS, changes=changes)] if changes else groups


def _rows(group: Group, found: pd.DataFrame, margin: float) -> pd.DataFrame:
    """A row a change, with its effect in the direction of the change. One that is not measured has none.

    margin: that of most contrasts, by which all are drawn and put in words.
    """
    by_id = {row.id: row for row in frames.rows(found)}
    records: list[dict[str, object]] = []
    for change in group.changes:
        row = by_id.get(change.statement)
        if row is None:
            continue
        after, _, before = row.pair.partition(COMPARED_WITH)
        effect, low, high = row.effect, row.low, row.high
        word = standing(row.verdict, row.low, row.high, margin, row.expect)
        if change.turned:
            after, before, word = before, after, turned(word)
            effect, low, high = -effect, -high, -low
        seeds = int(row.seeds) if row.seeds == row.seeds else 0
        records.append(
            {
                "chart": group.chart, "group": group.title, "preset": group.preset, "id": row.id,
                "statement": row.statement, "pair": row.pair, "words": change.words, "after": after, "before": before,
                "effect": effect, "low": low, "high": high, "margin": margin, "seeds": seeds,
                "verdict": row.verdict, "word": word, "measured": bool(effect == effect),
                "text": _text(effect, word, seeds, _needed(row.id, group.preset), _held_back(row)),
            }
        )  # fmt: skip
    return pd.DataFrame(records)


def _text(effect: float, word: str, seeds: int, needed: int, note: str) -> str:
    """The size of a difference and its word; below, its seeds and the note."""
    if effect != effect:
        return f"not run\n{seeds} of {needed} seeds"
    below = f"{seeds} of {needed} seeds" if seeds < needed else plural(seeds, "seed")
    return f"{signed_or_zero(effect)} {word}\n{below}" + (f", {note}" if note else "")


def _finding(found: pd.DataFrame) -> str:
    """The decided effects of telling in every layer and of a matrix of its own; else the number that is decided."""
    by_id = {row.id: row for row in frames.rows(found)}
    measured, margin = frames.rows(found[found.effect.notna()]), _margin(found)
    words = {row.id: standing(row.verdict, row.low, row.high, margin, row.expect) for row in measured}
    total_id, matrix_id = map(stored.by_id().current_id, (TOTAL, MATRIX))
    total, matrix = words.get(total_id, OPEN), turned(words.get(matrix_id, OPEN))
    parts = []
    if total != OPEN:
        told = "telling positions to every layer's attention instead of adding them to the input"
        parts.append(f"{told} {_changes(total, by_id[total_id])}")
    if matrix != OPEN:
        changes = _changes(matrix, by_id[matrix_id])
        parts.append(f"a matrix of their own {changes.replace('the loss', 'it') if parts else changes}")
    if not parts:
        decided = sum(word != OPEN for word in words.values())
        return f"{decided or 'None'} of {plural(len(found), 'contrast')} {'are' if decided > 1 else 'is'} decided"
    return capitalised("; ".join(parts))


def _changes(word: str, row: Any) -> str:
    """The standing of a loss after a change, as a verb: lowers the loss by 0.25 nats."""
    if word in ("lower", "higher"):
        return f"{'lowers' if word == 'lower' else 'raises'} the loss by {abs(row.effect):.2f} nats"
    if word == "same":
        return f"changes the loss by less than {row.line:g}"
    if word in SLIGHTLY.values():
        return f"{'lowers' if 'lower' in word else 'raises'} the loss by {abs(row.effect):.2f} nats, a little"
    return f"does not {'lower' if word == NOT_LOWER else 'raise'} the loss"


def _draw(table: pd.DataFrame, theme: Theme) -> list[Chart]:
    """The charts side by side on one scale, each with a line of the key, so that both begin at one height."""
    ends = pd.concat([-table.margin, table.margin, table.effect, table.low, table.high])
    room = 0.03 * float(ends.max() - ends.min())
    domain = float(ends.min()) - room, float(ends.max()) + room
    key = [
        "hollow: open, not decided by the rules; lines: 95 % intervals",
        f"grey: within ±{table.margin.iloc[0]:g} nats, the same",
    ]
    first = "What one change adds to the loss"
    # So that the texts beside the plots take as much room in both, and an effect is as long in both.
    longest = max("\n".join(table.text).split("\n"), key=len)
    letters = max(
        len(marks.INDENT * depth + line)
        for _, rows in table.groupby("chart")
        for words, depth in zip(rows.words, _depths(rows.words), strict=True)
        for line in marks.wrap_lines(words, LETTERS)
    )
    charts = list(table.groupby("chart", sort=False))
    keys = [key] if len(charts) == 1 else [key[:1], key[1:]]
    return [
        _chart(rows, domain, theme, str(name) or first, lines, longest, letters)
        for (name, rows), lines in zip(charts, keys, strict=True)
    ]


def _depths(words: pd.Series) -> list[int]:
    """The number of changes that each row goes on from."""
    depths: list[int] = []
    for one in words:
        depths.append(depths[-1] + 1 if one.startswith(THEN) and depths else 0)
    return depths


def _chart(
    table: pd.DataFrame,
    domain: tuple[float, float],
    theme: Theme,
    title: str,
    below: list[str],
    longest: str,
    letters: int,
) -> Chart:
    """A row a contrast on one axis, with the band of what the rules call the same, under the titles of the groups.

    longest: the line for which room is left at the right. letters: of the longest line of a label of all charts.
    """
    labels, y, titles, height = marks.grouped_rows(
        table.words.tolist(), table.group.tolist(), theme, LETTERS, ROW, _depths(table.words), letters=letters
    )
    shown = table.assign(label=labels, written=table.text, band_low=-table.margin, band_high=table.margin)
    x = marks.number(
        alt.X, "effect", ["final loss after the change,", "minus that before it (nats; left is lower)"],
        domain=domain, nice=False, values=[tick for tick in TICKS if domain[0] <= tick <= domain[1]], form=".1f",
    )  # fmt: skip
    tips: list[marks.Tip] = [
        "pair", ("effect", "change, nats", "+.3f"), *marks.interval_tips("+.3f"), "seeds", "verdict", "statement", "id",
    ]  # fmt: skip
    known = shown[shown.measured]
    band = alt.Chart(known).mark_rect(color=theme.grid)
    layers: list[Chart] = [
        band.encode(x=marks.same_axis(x, "band_low"), x2=alt.X2("band_high:Q"), y=y),
        marks.rule(theme, x=0),
        titles,
    ]
    for decided, part in ((True, known[known.word != OPEN]), (False, known[known.word == OPEN])):
        if len(part):
            layers += marks.row_plot(
                part, x=x, y=y, theme=theme, tooltip=tips, filled=decided, size=marks.LARGE_DOT,
                color=theme.ink if decided else theme.colour(SOFT),
            )  # fmt: skip
    head = pd.DataFrame({"label": [y["sort"][0]], "written": [COLUMN]})
    layers += [marks.texts_beside(head, y, theme, shown=f"!({marks.ON_PHONE})"), marks.texts_beside(shown, y, theme)]
    layers.append(marks.texts_beside(shown.head(1).assign(written=longest), y, theme).encode(opacity=alt.value(0)))
    return marks.panel(*layers, theme=theme, width=marks.HALF, height=height, title=title, below=below)
