"""Final loss against one cost: a point a variant of the board, and those that no other beats in both.

Of these, one that costs more than another counts only if its loss is lower beyond both intervals.
"""

import math
from itertools import pairwise
from typing import Annotated, NamedTuple

import altair as alt
import pandas as pd

from analysis.ablation.variants import named
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import fixed, join_names, percent, plural, sentences, signed, signed_percent
from analysis.figures import beside_points, marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import board
from analysis.figures.figure import Figure, figure, one_of
from analysis.figures.reading.told import ATTENTION
from analysis.figures.training import costs
from analysis.figures.training.costs import CostsParameters
from analysis.figures.training.final_loss import OPEN
from analysis.figures.training.line_marks import padded_range
from analysis.figures.training.row_marks import VARIANT, way_hues, ways
from analysis.figures.training.timing import earlier_times
from analysis.figures.training.trainings import BASELINES, MASKED, title
from analysis.rules import training_rules

BASELINE = BASELINES[MASKED]
TIME = "step_ratio"
NO_COST = 0.001
"""A difference in a cost that counts as none, as a share of adding's: sizes can be matched no closer than that."""


class Axis(NamedTuple):
    """One cost as the horizontal axis. title: on its button; noun: in sentences."""

    title: str
    measure: str
    noun: str


AXES = {
    "arithmetic": Axis("Arithmetic", "flops_per_token", "arithmetic"),
    "time": Axis("Time", TIME, "time a step"),
    "parameters": Axis("Parameters", "parameters", "parameters"),
    "memory": Axis("Memory", "peak_memory_mib", "memory"),
}
"""Value of the link's field `cost` -> the cost that losses are drawn against."""
HEIGHT = 560
"""Pixels of the plot."""
OPACITY = 0.75
"""Of a point, so that those that lie on one another are seen."""
EDGE = 0.08
"""The free room at each end of an axis, as a share of what is drawn."""


class LossAgainstCostParameters(CostsParameters):
    """The preset at whose size the costs were measured, and the cost."""

    cost: Annotated[str, one_of(AXES)] = "arithmetic"


@figure("training_loss_and_cost", LossAgainstCostParameters)
def loss_against_cost(params: LossAgainstCostParameters) -> Figure:
    """Final loss minus adding's against a cost minus adding's. Raises NoResults where no variant has both."""
    if not costs.trained_at_size(params.preset):
        raise NoResults(
            f"The costs of preset {params.preset} are of other sizes than the encoders whose losses recipe "
            f"{costs.board_preset(params.preset)} gives. Choose another preset, such as width128."
        )
    axis, stored = AXES[params.cost], costs.stored(params.preset)
    earlier = earlier_times(params.preset)
    rows = _rows(stored, params.preset, axis.measure, earlier)
    recipe, source = costs.board_preset(params.preset), stored[stored.measure == axis.measure]
    runs = source.drop_duplicates("run_id")
    drawn, missing = rows[rows.gap.notna()], rows[rows.gap.isna()]
    return Figure(
        title=f"Final loss against {axis.noun}",
        finding=_finding(drawn, axis),
        frame=lambda: rows,
        caption=sentences(
            f"Each point is a variant of recipe {recipe}, minus {named(BASELINE)}'s loss and {axis.noun}; lower and "
            "further left is better."
            + (
                " Sizes are matched to adding's by the width of the feed-forward layers."
                if costs.matched(params.preset)
                else ""
            )
            + ("" if recipe == params.preset else f" Costs are measured at the size of preset {params.preset}."),
            "Black line: the variants that no other beats in both, each lower than cheaper ones beyond the intervals."
            if drawn.best.sum() > 1
            else "",
            f"Costs within {percent(NO_COST, 1)} of each other count as the same.",
            "Vertical bars: 95 % intervals of the difference in final loss, paired by seed.",
            costs.how_measured(stored, axis.measure),
            f"Level lines lead to an earlier measurement ({costs.timed(earlier)}). None takes {_most(drawn.cost)} "
            f"{axis.noun} than adding; in the earlier measurement, none takes {_most(drawn.earlier)}."
            if drawn.earlier.notna().any()
            else "",
            f"A triangle is beyond {costs.MOST_LOSS:g} nats." if (drawn.gap > costs.MOST_LOSS).any() else "",
            f"Not drawn, having too few seeds in common with adding: {join_names(map(named, missing.variant))}."
            if len(missing)
            else "",
            _unmeasured(rows, recipe),
        ),
        alt="Points: "
        + "; ".join(f"{row.title} {signed(row.gap)} nats, {signed_percent(row.cost, 1)}" for row in frames.rows(drawn))
        + ".",
        command=runs.command.iloc[0],
        provenance={
            row.run_id: f"{row.device}, {row.created}, code {row.git_sha}: {row.command}" for row in frames.rows(runs)
        },
        draw=lambda theme: [_draw(drawn, axis, theme, matched=costs.matched(params.preset))],
    )


def _unmeasured(rows: pd.DataFrame, recipe: str) -> str:
    """A sentence on the judged variants of the board whose cost was not measured; empty for none."""
    lacking = [row.variant for row in board(recipe).judged if row.variant not in set(rows.variant)]
    return f"Not drawn, since this cost was not measured: {join_names(map(named, lacking))}." if lacking else ""


def _rows(stored: pd.DataFrame, preset: str, measure: str, earlier: pd.DataFrame) -> pd.DataFrame:
    """A row a variant of the board with the cost: variant, title, cost, earlier, gap, low, high, outcome, seeds, best.

    Costs and losses have those of adding subtracted. earlier: an earlier measurement of a time.
    """
    wide = stored.pivot(index="variant", columns="measure", values="value")
    known = costs.on_board(set(wide.index), preset)
    found = {row.variant: row for row in board(costs.board_preset(preset)).rows}
    if measure not in wide or not {BASELINE} <= set(wide.index) & set(found):
        raise NoResults(
            f"No variant has both a final loss and this cost for the preset {preset!r}. Measure costs with: "
            f"python -m analysis measure costs --preset {preset}"
        )
    shares = wide[measure] / wide[measure][BASELINE] - 1
    before = dict(zip(earlier.variant, earlier.value - 1, strict=True)) if measure == TIME else {}
    judged = {row.variant for row in board(costs.board_preset(preset)).judged} | {BASELINE}
    records = []
    for name in shares.dropna().index:
        if name not in known & set(found):
            continue
        gap = found[name].gap if name in judged else None
        base = name == BASELINE
        records.append(
            {
                "variant": name,
                "title": title(name),
                "cost": float(shares[name]),
                "earlier": before.get(name, math.nan),
                "gap": 0.0 if base else gap.value if gap else math.nan,
                "low": gap.low if gap else math.nan,
                "high": gap.high if gap else math.nan,
                "outcome": found[name].outcome,
                "seeds": gap.seeds if gap else math.nan,
            }
        )
    rows = pd.DataFrame(records)
    best = () if measure in costs.MACHINE else _unbeaten(rows[rows.gap.notna()])
    return rows.assign(best=rows.variant.isin(best))


def _unbeaten(rows: pd.DataFrame) -> list[str]:
    """The variants that no other beats in both, of which each ends lower than all cheaper ones beyond the intervals."""
    best: list[str] = []
    lowest = math.inf
    steps = rows.assign(step=(rows.cost / NO_COST).round())
    for row in frames.rows(steps.sort_values(["step", "gap"])):
        low, high = (row.gap if math.isnan(end) else end for end in (row.low, row.high))
        if high < lowest:
            best.append(row.variant)
            lowest = low
    return best


def _finding(drawn: pd.DataFrame, axis: Axis) -> str:
    """A sentence on the variants that end lower than adding without costing more; of times, on how far they differ."""
    others = drawn[drawn.variant != BASELINE]
    count = plural(len(others), "variant")
    ends = f"by {costs.percent_of(others.cost.min())} to {costs.percent_of(others.cost.max())}"
    if axis.measure in costs.MACHINE:
        apart = (others.cost - others.earlier).abs().dropna()
        if not len(apart):
            return f"None of {count} takes {_most(others.cost)} {axis.noun} than adding"
        within = others[(others.outcome == "lower") & (others.cost <= apart.median())]
        return (
            f"{len(within)} of {count} {'ends' if len(within) == 1 else 'end'} lower than adding and "
            f"{'takes' if len(within) == 1 else 'take'} no longer than noise explains: two measurements of one variant "
            f"differ by {_points(apart.median())} in the median"
        )
    free = others[(others.outcome == "lower") & (others.cost < NO_COST)].sort_values("gap")
    if free.empty:
        return f"None of {count} ends lower than adding with no more {axis.noun}: theirs differs from adding's {ends}"
    best = free.iloc[0]
    return (
        f"{len(free)} of {count} {'ends' if len(free) == 1 else 'end'} lower than adding with no more {axis.noun}; "
        f"{f'of these, {named(best.variant)} ends lowest, by' if len(free) > 1 else 'it does so by'} "
        f"{fixed(-best.gap)} nats"
    )


def _most(shares: pd.Series) -> str:
    return f"over {percent(shares.max(), 1)} more" if shares.max() > 0 else "more"


def _points(share: float) -> str:
    return plural(round(100 * share), "point")


def _draw(drawn: pd.DataFrame, axis: Axis, theme: Theme, *, matched: bool) -> Chart:
    far = drawn.gap > costs.MOST_LOSS
    rows = drawn.assign(
        x=100 * drawn.cost,
        y=drawn.gap.where(~far),
        low=drawn.low.where(~far),
        high=drawn.high.where(~far),
        before=100 * drawn.earlier,
        far=far,
        written=[signed(gap) for gap in drawn.gap],
        way=ways(drawn.variant),
    )
    rows = rows.assign(name=rows.title.where(~far, rows.title + " " + rows.written))
    # Names are placed in this order.
    named = rows.best | rows.variant.isin([BASELINE, ATTENTION]) | (rows.gap == rows.gap.min()) | far
    rows = rows.assign(named=named).sort_values(["named", "gap"], ascending=[False, True], ignore_index=True)
    domain = (
        padded_range(pd.Series([0.0, *rows.x, *rows.before]), EDGE),
        padded_range(pd.Series([0.0, *rows.y, *rows.low, *rows.high]), EDGE),
    )
    # What lies beyond stands at the end of the axis, not where a value of that size would.
    rows["y"] = rows.y.fillna(domain[1][1] - 0.02 * (domain[1][1] - domain[1][0]))
    x = marks.number(alt.X, "x", f"{axis.noun}, % more or less than adding", domain=domain[0], ticks=8)
    y = marks.number(alt.Y, "y", ["final loss minus adding's", "(nats; lower is better)"], domain=domain[1], ticks=8)
    key = way_hues(rows.way, theme)
    margin = training_rules().margin
    band = alt.Chart(pd.DataFrame({"y": [-margin], "end": [margin]})).mark_rect(color=theme.grid, opacity=0.6)
    layers: list[Chart] = [
        band.encode(y=y, y2=alt.Y2("end:Q"), x=alt.value(0), x2=alt.value("width")),
        marks.rule(theme, x=0),
        marks.rule(theme, y=0),
    ]
    base = alt.Chart(rows)
    layers.append(
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=1.5, opacity=0.45, clip=True)
        .encode(x=x, y=marks.same_axis(y, "low"), y2=alt.Y2("high:Q"), color=key)
    )
    if rows.before.notna().any():
        earlier = base.transform_filter("isValid(datum.before)").mark_rule(strokeWidth=1.5, opacity=0.3)
        layers.append(earlier.encode(x=x, x2=alt.X2("before:Q"), y=y, color=key))
    frontier = rows[rows.best].sort_values("x")
    points = list(zip(frontier.x, frontier.y, strict=True))
    corners = [corner for one, after in pairwise(points) for corner in (one, (after[0], one[1]))] + points[-1:]
    if len(frontier) > 1:
        steps = pd.DataFrame(corners, columns=["x", "y"]).assign(place=range(len(corners)))
        line = alt.Chart(steps).mark_line(color=theme.ink, strokeWidth=marks.LINE)
        layers.append(line.encode(x=x, y=y, order="place:Q"))
    tooltip = marks.tips(
        VARIANT, ("written", "final loss, nats"), ("low", "95 % interval from", "+.3f"), ("high", "to", "+.3f"),
        ("x", f"{axis.noun}, %", "+.1f"),
    )  # fmt: skip
    undecided = rows.outcome == OPEN
    for (beyond, hollow), group in rows.groupby([rows.far, undecided]):
        style = (
            {"filled": False, "fill": theme.ground, "strokeWidth": 2}
            if hollow
            else {"filled": True, "opacity": OPACITY}
        )
        points = alt.Chart(group).mark_point(size=marks.LARGE_DOT, shape="triangle-up" if beyond else "circle", **style)
        layers.append(points.encode(x=x, y=y, color=key, tooltip=tooltip))
    level, upright = [(domain[0][0], 0.0), (domain[0][1], 0.0)], [(0.0, domain[1][0]), (0.0, domain[1][1])]
    bars = [[(row.x, row.low), (row.x, row.high)] for row in frames.rows(rows.dropna(subset=["low", "high"]))]
    spans = [[(row.before, row.y), (row.x, row.y)] for row in frames.rows(rows.dropna(subset="before"))]
    lines = [corners, level, upright, *bars, *spans]
    layers += beside_points.names(rows, domain, x, y, theme, width=marks.WIDE, height=HEIGHT, lines=lines)
    return marks.panel(
        *layers, theme=theme, width=marks.WIDE, height=HEIGHT, title=f"Final loss and {axis.noun}, minus adding's",
        below=[
            f"grey: within ±{margin:g} nats, the same; bars: 95 % intervals",
            *(("hollow: left open by the rules",) if undecided.any() else ()),
            *(("triangle: beyond the axis",) if rows.far.any() else ()),
            *(
                ("level lines: to an earlier measurement",)
                if rows.before.notna().any()
                else ("black line: joins those that no other beats in both",)
                if len(corners) > 1
                else ()
            ),
            *(() if matched else ("sizes are not matched: some variants have more parameters",)),
            *(("fixed tables, which are not trained, are counted",) if axis.measure == "parameters" else ()),
        ],
    )  # fmt: skip
