"""Differences of final losses from adding's at several widths of the model: a line a variant."""

import math

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.presets import PRESETS, ablate
from analysis.ablation.variants import named, quote, way
from analysis.core import colours, frames
from analysis.core.errors import NoResults
from analysis.core.formatting import fixed, join_names, plural, sentences, signed, span
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import BASELINE, WIDTHS, VariantRow, board, default_preset
from analysis.figures.experiments.row_widths import width_rows
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.training.line_marks import name_heights, padded_range, pixels_down, spread_names
from analysis.figures.training.row_marks import VARIANT
from analysis.figures.training.trainings import title
from analysis.rules import all_encoder_rules, encoder_rules
from analysis.statistics import difference

HEIGHT, CHANGE_HEIGHT = 360, 300
"""Pixels of the plot of the widths, and of that of the changes."""
BESIDE = 1.03
"""The ratio of the places of two variants of one width."""
LETTERS, NUMBER_HEIGHT = 20, 13.0
"""Letters of a name on one line, and the pixels that a number takes from top to bottom."""
CHANGES = ["variant", "title", "change", "change_low", "change_high"]


@figure("experiments_ladder", Parameters)
def ladder(_: Parameters) -> Figure:
    """The difference of every variant that was trained at two widths or more, against the width.

    Raises NoResults where there is none.
    """
    shown = board(default_preset())
    rows = [row for row in (*shown.rows, *shown.others) if len(row.widths) > 1]
    if not rows:
        raise NoResults(f"No variant is trained at two widths yet. Run: {ablate(WIDTHS[64], [BASELINE, 'concat_20'])}")
    table = pd.concat([width_rows(row).assign(**_change(row)) for row in rows], ignore_index=True)
    widths = sorted(set(table.width))
    recipes = join_names(f"{PRESETS[WIDTHS[width]].steps:,} at width {width}" for width in widths)
    return Figure(
        title="The same differences at other widths",
        finding=_finding(table),
        frame=lambda: table,
        summary=lambda: table[["title", "width", "value", "low", "high", "seeds"]],
        quantity=f"Final loss \N{MINUS SIGN} {title(BASELINE)} (nats)",
        caption=sentences(
            f"Final loss minus that of {named(BASELINE)} of the same width, in nats per masked word; below 0 is "
            "better.",
            "Bars: 95 % t intervals over pairs of one seed. Grey: within the margin of the rules, "
            f"±{shown.margin:g} nats.",
            "Rings: the rules leave the difference open"
            + (
                "."
                if table.judged.all()
                else f", or there are fewer than {plural(int(table.needed.max()), 'seed')}, which decide nothing."
            )
            if not table.decided.all()
            else "",
            "Change: the difference at the widest model minus that at the narrowest, with Welch's 95 % interval, since "
            "seeds of two widths are no pairs."
            if table.change.notna().any()
            else "",
            _unsure(table),
            f"Narrow models learn order late, so that each width has a recipe of its own ({recipes} steps, with the "
            "learning rate that its pilots chose): a difference between widths is one between recipes, too.",
        ),
        alt="Dots by width: "
        + "; ".join(f"{row.title} {signed(row.value)} at width {row.width}" for row in frames.rows(table))
        + ".",
        command="\n".join(ablate(WIDTHS[width], [BASELINE, *_trained_at(table, width)]) for width in widths),
        provenance={
            "trainings": f"presets {join_names(WIDTHS[width] for width in widths)}",
            "rules": f"version {encoder_rules().version}, SHA-256 {encoder_rules().sha256}",
        },
        draw=lambda theme: _draw(table, shown.margin, theme),
        columns=2,
    )


def _change(row: VariantRow) -> dict[str, float]:
    """The change of a variant's difference from the narrowest to the widest model that are judged, with its interval.

    NaN where fewer than two are judged.
    """
    judged = [gap for _, gap in sorted(row.widths.items()) if gap.judged]
    if len(judged) < 2:
        return dict.fromkeys(CHANGES[2:], math.nan)
    found = difference(judged[-1].differences, judged[0].differences, paired=False)
    return dict(zip(CHANGES[2:], (found.mean, found.low, found.high), strict=True))


def _trained_at(table: pd.DataFrame, width: int) -> list[str]:
    return [str(name) for name in table.variant[table.width == width]]


def _ends(table: pd.DataFrame) -> tuple[pd.DataFrame, int, int]:
    """The judged differences at the narrowest and at the widest model, a row a variant, and these two widths."""
    judged = table[table.judged]
    judged = judged[judged.groupby("variant").width.transform("size") > 1]
    if judged.empty:
        return judged, 0, 0
    narrow, wide = int(judged.width.min()), int(judged.width.max())
    return judged.pivot(index="title", columns="width", values="value")[[narrow, wide]].dropna(), narrow, wide


def _size(table: pd.DataFrame, name: str, width: int) -> str:
    """The size of a variant's difference at a width, with a word where the rules leave it open."""
    row = table[(table.title == name) & (table.width == width)].iloc[0]
    return f"{fixed(abs(row.value))}{'' if row.decided else ' (open)'}"


def _sizes(changes: pd.Series) -> str:
    """The smallest and the largest of these changes, without their signs."""
    return " to ".join(dict.fromkeys(fixed(size) for size in (changes.abs().min(), changes.abs().max())))


def _finding(table: pd.DataFrame) -> str:
    """The change of all differences from the narrowest to the widest model; of those that surely grow; or the largest.

    The second where they disagree, the third where fewer than two are sure.
    """
    both, narrow, wide = _ends(table)
    if both.empty:
        return f"Of {plural(table.variant.nunique(), 'variant')}, none has enough seeds at two widths yet"
    changes = both[wide] - both[narrow]
    same_side = (both[wide] * both[narrow] > 0).all()
    for larger, smaller, verb in ((wide, narrow, "grow"), (narrow, wide, "shrink")):
        if len(both) > 1 and same_side and (both[larger].abs() > both[smaller].abs()).all():
            sides = {
                (True, True): "Gains and losses against adding both",
                (True, False): "Gains over adding",
                (False, True): "Losses against adding",
            }[bool((both[wide] < 0).any()), bool((both[wide] > 0).any())]
            which = "both" if len(both) == 2 else f"all {len(both)}"
            return (
                f"{sides} {verb} with the width: in {which} comparisons by {_sizes(changes)} nats from {narrow} to "
                f"{wide}"
            )
    sure = _sure(table, both)
    grown = both[sure & (both[wide].abs() > both[narrow].abs())]
    if 1 < len(grown) < len(both) and (grown[wide] * grown[narrow] > 0).all():
        said = [
            f"{what}{verb} from {_size(table, which, narrow)} to {_size(table, which, wide)}{unit}"
            for (what, which), (verb, unit) in zip(
                _examples(grown[wide], table), ((" grows", " nats"), ("", "")), strict=False
            )
        ]
        return f"From width {narrow} to {wide} {', and '.join(said)}"
    most = str(changes.abs().idxmax())
    return (
        f"From width {narrow} to {wide} the difference from adding changes most for {quote(most)}: "
        f"from {signed(both[narrow][most])} to {signed(both[wide][most])} nats"
    )


def _sure(table: pd.DataFrame, both: pd.DataFrame) -> "pd.Series[bool]":
    """Title -> whether the interval of the change excludes zero. both: what `_ends` gives."""
    ends = table[table.judged].drop_duplicates("title").set_index("title").reindex(both.index)
    return ends.change_low * ends.change_high > 0


def _unsure(table: pd.DataFrame) -> str:
    """A sentence on the number of differences whose change is not told from none; empty where all are."""
    both, *_ = _ends(table)
    rest = 0 if both.empty else int((~_sure(table, both)).sum())
    return f"{rest} of {len(both)} differences {'is' if rest == 1 else 'are'} not told from no change." if rest else ""


def _examples(grown: pd.Series, table: pd.DataFrame) -> list[tuple[str, str]]:
    """The largest gain over adding and the largest loss, of concatenations first: it in words, and its variant.

    grown: title -> the difference at the widest model.
    """
    beside = set(table.title[[way(name) == "concatenated" for name in table.variant]])
    losses = grown[grown > 0]
    concatenated = losses[losses.index.isin(beside)]
    losses = concatenated if len(concatenated) else losses
    gains = grown[grown < 0]
    found = [(f"the gain of {quote(gain)} over adding", gain) for gain in map(str, gains.nsmallest(1).index)]
    return found + [(f"what {quote(loss)} costs", loss) for loss in map(str, losses.nlargest(1).index)]


def _planned(table: pd.DataFrame) -> list[int]:
    """The widths that frozen rules ask for and at which no variant is trained."""
    presets = {preset for rules in all_encoder_rules() for contest in rules.statements for preset in contest.presets}
    return [width for width, preset in WIDTHS.items() if preset in presets and width not in set(table.width)]


def _seeds(table: pd.DataFrame) -> str:
    """The seeds at each width: `8 seeds at every width`."""
    of_width = {width: span(table.seeds[table.width == width]) for width in sorted(set(table.width))}
    if len(set(of_width.values())) == 1:
        return f"{next(iter(of_width.values()))} seeds at every width"
    return ", ".join(f"{seeds} seeds at width {width}" for width, seeds in of_width.items())


def _draw(table: pd.DataFrame, margin: float, theme: Theme) -> list[Chart]:
    """The differences by width and, where two widths are judged, by how much each changes between them."""
    hues = marks.hues(
        "variant", {name: theme.colour(colours.of_way(way(name))) for name in dict.fromkeys(table.variant)}
    )
    # From top to bottom as their lines end.
    changes = table[table.change.notna()].sort_values(["width", "value"], ascending=False).drop_duplicates("variant")
    return [
        _draw_widths(table, margin, hues, theme),
        *([_draw_changes(changes, table, hues, theme)] if len(changes) else []),
    ]


def _draw_widths(table: pd.DataFrame, margin: float, hues: alt.Color, theme: Theme) -> Chart:
    """A line a variant in the colour of its way, a dot a width with its interval; a ring where the rules leave it open.

    A width that is planned has no place; words above the plot name it.
    """
    planned = _planned(table)
    places = sorted(set(table.width))
    # The names need room at the right of the last dots.
    end = 1.6 * places[-1]
    # Side by side, so that each interval is seen where several would stand on one another.
    orders = table.sort_values("value").drop_duplicates("variant", keep="last").reset_index(drop=True)
    aside = {name: BESIDE ** (place % 3 - 1) for place, name in enumerate(orders.variant)}
    table = table.assign(place=table.width * table.variant.map(aside))
    domain = padded_range(pd.concat([table.value, table.low, table.high, pd.Series([0.0])]).dropna(), 0.06)
    x = marks.number(
        alt.X, "place", "width of the model", log=2, domain=(places[0], end), values=places, form="d", padding=54
    )
    y = marks.number(alt.Y, "value", "final loss minus adding's (nats)", domain=domain, ticks=6)
    tooltip: tuple[marks.Tip, ...] = (
        VARIANT, "width:Q", ("value", "difference", "+.3f"), *marks.interval_tips("+.3f"), "seeds:Q",
    )  # fmt: skip
    # The band spares the numbers left of the first dots and the names right of the last.
    ends = pd.DataFrame({"from": [-margin], "to": [margin], "first": [places[0]], "last": [places[-1]]})
    band = alt.Chart(ends).mark_rect(color=theme.grid)
    layers: list[Chart] = [
        band.encode(
            x=marks.same_axis(x, "first"), x2=alt.X2("last:Q"), y=marks.same_axis(y, "from"), y2=alt.Y2("to:Q")
        ),
        marks.rule(theme, y=0),
        *marks.line_plot(table, x=x, y=y, theme=theme, ends=("low", "high"), color=hues, dots=0, tooltip=tooltip),
    ]
    for decided, group in table.groupby("decided"):
        points = alt.Chart(group).mark_point(
            filled=bool(decided), size=marks.LARGE_DOT, opacity=1, strokeWidth=2,
            fill=alt.Undefined if decided else theme.ground,
        )  # fmt: skip
        layers.append(points.encode(x=x, y=y, color=hues))
    last = table.width == table.groupby("variant").width.transform("max")
    waiting = f"width {join_names(map(str, planned))} is planned" if planned else ""
    panel = marks.panel(
        alt.layer(*layers), *(_numbers(group, x, domain, theme) for _, group in table[~last].groupby("width")),
        _names_beside(table[last], x, domain, theme), theme=theme, width=marks.HALF, height=HEIGHT,
        title="Final loss minus adding's: below 0 is better",
        below=[
            f"bars: 95 % intervals; {_seeds(table)}",
            f"grey: within ±{margin:g} nats, the same; hollow: open",
            *([waiting] if waiting else []),
        ],
    )  # fmt: skip
    return panel.resolve_scale(y="independent")


def _numbers(rows: pd.DataFrame, x: alt.X, domain: tuple[float, float], theme: Theme) -> Chart:
    """The numbers of one width left of their dots, moved up or down where two would touch."""
    frame = rows[["width"]].assign(
        name=[signed(value) for value in rows.value],
        place=spread_names(rows.value.to_numpy(dtype=float), np.full(len(rows), NUMBER_HEIGHT), domain, HEIGHT),
    )
    text = alt.Chart(frame).mark_text(align="right", baseline="middle", dx=-18, fontSize=marks.TEXT, color=theme.ink)
    return text.encode(x=marks.same_axis(x, "width"), y=pixels_down(HEIGHT), text="name:N")


def _names_beside(ends: pd.DataFrame, x: alt.X, domain: tuple[float, float], theme: Theme) -> Chart:
    """The name and the number of each line right of its last dot, moved up or down where two would touch."""
    names = [f"{row.title} {signed(row.value)}" for row in frames.rows(ends)]
    wrapped = [marks.wrap_label(name, LETTERS) for name in names]
    frame = ends[["width"]].assign(
        name=wrapped,
        place=spread_names(ends.value.to_numpy(dtype=float), name_heights(names, LETTERS), domain, HEIGHT),
        up=[-marks.LABEL_LINE / 2 * name.count("\n") for name in wrapped],
    )
    text = alt.Chart(frame).mark_text(
        align="left", baseline="middle", dx=20, dy=alt.expr("datum.up"), lineBreak="\n",
        lineHeight=marks.LABEL_LINE, fontSize=marks.TEXT, color=theme.ink,
    )  # fmt: skip
    return text.encode(x=marks.same_axis(x, "width"), y=pixels_down(HEIGHT), text="name:N")


def _draw_changes(changes: pd.DataFrame, table: pd.DataFrame, hues: alt.Color, theme: Theme) -> Chart:
    """A row a variant: by how much its difference moves, with the interval."""
    _, narrow, wide = _ends(table)
    names = marks.wrapped_labels(changes.title.tolist(), 20)
    rows = changes.assign(
        label=[names[name] for name in changes.title],
        written=[
            f"{signed(row.change)}\n{signed(row.change_low)} to {signed(row.change_high)}"
            for row in frames.rows(changes)
        ],
    )
    known = pd.concat([rows.change, rows.change_low, rows.change_high, pd.Series([0.0])]).dropna()
    x = marks.number(alt.X, "change", "change of the difference (nats)", domain=padded_range(known, 0.06), ticks=5)
    y = marks.labelled_rows(rows.label.tolist(), grid=True)
    tooltip = (VARIANT, ("change", "", "+.3f"), *marks.interval_tips("+.3f", "change_low", "change_high"))
    layers: list[Chart] = [
        marks.rule(theme, x=0),
        *marks.row_plot(
            rows,
            x=x,
            y=y,
            theme=theme,
            ends=("change_low", "change_high"),
            color=hues,
            size=marks.LARGE_DOT,
            tooltip=tooltip,
        ),
        marks.texts_beside(rows[["label", "written"]], y, theme),
    ]
    return marks.panel(
        *layers, theme=theme, width=marks.HALF, height=min(CHANGE_HEIGHT, 80 * len(rows)),
        title=f"Its change from width {narrow} to {wide}",
        below=["bars: 95 % intervals (Welch's t)", "no rule was frozen for this change"],
    )  # fmt: skip
