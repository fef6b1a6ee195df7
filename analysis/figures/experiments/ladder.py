"""Differences of final losses from adding's at several widths of the model: a line a variant."""

import altair as alt
import pandas as pd

from analysis.ablation.presets import PRESETS, ablate
from analysis.ablation.variants import named, way
from analysis.core import colours, frames
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, plural, sentences, signed, span
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import BASELINE, WIDTHS, board, default_preset
from analysis.figures.experiments.row_widths import width_rows
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.training.data import title
from analysis.figures.training.line_marks import names_at_ends, padded_range
from analysis.figures.training.row_marks import VARIANT
from analysis.rules import all_encoder_rules, encoder_rules

TOLD = 3
"""The most variants that the heading tells."""
HEIGHT = 380


@figure("experiments_ladder", Parameters)
def ladder(_: Parameters) -> Figure:
    """The difference of every variant that was trained at two widths or more, against the width.

    Raises NoResults where there is none.
    """
    shown = board(default_preset())
    rows = [row for row in (*shown.rows, *shown.others) if len(row.widths) > 1]
    if not rows:
        raise NoResults(f"No variant is trained at two widths yet. Run: {ablate(WIDTHS[64], [BASELINE, 'concat_20'])}")
    table = pd.concat([width_rows(row) for row in rows], ignore_index=True)
    widths = sorted(set(table.width))
    recipes = join_names(f"{PRESETS[WIDTHS[width]].steps:,} at width {width}" for width in widths)
    return Figure(
        title="The same differences at other widths",
        finding=_finding(table),
        frame=lambda: table,
        summary=lambda: table[["title", "width", "value", "low", "high", "seeds"]],
        quantity=f"Final loss \N{MINUS SIGN} {title(BASELINE)} (nats)",
        caption=sentences(
            f"Final loss less that of {named(BASELINE)} of the same width, in nats per masked word; below 0 is better.",
            "Bars: 95 % t intervals over pairs of one seed. Grey: within the margin of the rules, "
            f"±{shown.margin:g} nats.",
            f"Rings: fewer than {plural(int(table.needed.max()), 'seed')}, which decide nothing."
            if not table.judged.all()
            else "",
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
        draw=lambda theme: [_draw(table, shown.margin, theme)],
        columns=2,
    )


def _trained_at(table: pd.DataFrame, width: int) -> list[str]:
    return [str(name) for name in table.variant[table.width == width]]


def _finding(table: pd.DataFrame) -> str:
    """The differences at the narrowest and at the widest model, of the variants whose difference changes most."""
    judged = table[table.judged]
    judged = judged[judged.groupby("variant").width.transform("size") > 1]
    if judged.empty:
        return f"Of {plural(table.variant.nunique(), 'variant')}, none has enough seeds at two widths yet"
    narrow, wide = int(judged.width.min()), int(judged.width.max())
    both = judged.pivot(index="title", columns="width", values="value")[[narrow, wide]].dropna()
    same_side = (both[wide] * both[narrow] > 0).all()
    changed = (both[wide] - both[narrow]).abs().sort_values(ascending=False).index[:TOLD]
    told = "; ".join(f"{name} {signed(both[narrow][name])} and {signed(both[wide][name])}" for name in changed)
    names = f"Nats from adding at width {narrow} and {wide}: {told}"
    for larger, smaller in ((wide, narrow), (narrow, wide)):
        if len(both) > 1 and same_side and (both[larger].abs() > both[smaller].abs()).all():
            return f"{names}: all {'grow' if larger == wide else 'shrink'}"
    return names


def _planned(table: pd.DataFrame) -> list[str]:
    """Lines on the widths that frozen rules ask for and at which no variant is trained."""
    presets = {preset for rules in all_encoder_rules() for contest in rules.statements for preset in contest.presets}
    waiting = [width for width, preset in WIDTHS.items() if preset in presets and width not in set(table.width)]
    return [f"width {join_names(map(str, waiting))}: planned, not trained yet"] if waiting else []


def _seeds(table: pd.DataFrame) -> str:
    """The seeds at each width: `8 seeds at width 64 and 128`."""
    of_width = {width: span(table.seeds[table.width == width]) for width in sorted(set(table.width))}
    if len(set(of_width.values())) == 1:
        return f"{next(iter(of_width.values()))} seeds at every width"
    return ", ".join(f"{seeds} seeds at width {width}" for width, seeds in of_width.items())


def _draw(table: pd.DataFrame, margin: float, theme: Theme) -> Chart:
    """A line a variant in the colour of its way, a dot a width with its interval; a ring where seeds are missing."""
    widths = sorted(set(table.width))
    hues = marks.hues(
        "variant", {name: theme.colour(colours.of_way(way(name))) for name in dict.fromkeys(table.variant)}
    )
    dashes = marks.dashes("variant", {name: [1, 0] for name in dict.fromkeys(table.variant)})
    domain = padded_range(pd.concat([table.value, table.low, table.high, pd.Series([0.0])]).dropna(), 0.06)
    x = marks.number(
        alt.X, "width", "width of the model", log=2, domain=(widths[0], widths[-1]), values=widths, form="d", padding=44
    )
    y = marks.number(alt.Y, "value", "final loss less adding's (nats; below 0 is better)", domain=domain, ticks=6)
    tooltip: tuple[marks.Tip, ...] = (
        VARIANT, "width:Q", ("value", "difference", "+.3f"), *marks.interval_tips("+.3f"), "seeds:Q",
    )  # fmt: skip
    band = alt.Chart(pd.DataFrame({"from": [-margin], "to": [margin]})).mark_rect(color=theme.grid)
    layers: list[Chart] = [
        band.encode(y=marks.same_axis(y, "from"), y2=alt.Y2("to:Q")),
        marks.rule(theme, y=0),
        *marks.line_plot(table, x=x, y=y, theme=theme, ends=("low", "high"), color=hues, dots=0, tooltip=tooltip),
    ]
    for judged, group in table.groupby("judged"):
        points = alt.Chart(group).mark_point(
            filled=bool(judged), size=marks.LARGE_DOT, opacity=1, strokeWidth=2,
            fill=alt.Undefined if judged else theme.ground,
        )  # fmt: skip
        layers.append(points.encode(x=x, y=y, color=hues))
    ends = table[table.width == table.groupby("variant").width.transform("max")].assign(
        name=lambda rows: [f"{row.title} {signed(row.value)}" for row in frames.rows(rows)]
    )
    starts = table[table.width == widths[0]].assign(name=lambda rows: [signed(value) for value in rows.value])
    numbers = alt.Chart(starts).mark_text(align="right", dx=-9, fontSize=marks.TEXT, color=theme.ink)
    layers.append(numbers.encode(x=x, y=y, text="name:N"))
    labels = names_at_ends(ends, "variant", hues, dashes, theme, domain=domain, height=HEIGHT)
    panel = marks.panel(
        alt.layer(*layers), labels, theme=theme, width=marks.HALF, height=HEIGHT,
        title="Final loss less adding's, by width",
        below=[f"lines: 95 % intervals; {_seeds(table)}", f"grey: within ±{margin:g} nats, the same",
               *_planned(table)],
    )  # fmt: skip
    return panel.resolve_scale(y="independent")
