"""The scores of every head against distance, a small curve a head."""

from typing import Annotated, Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.colours import of_term
from analysis.core.formatting import join_names, percent, plural
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import STRONGEST, Figure, LiveRun, Parameters, figure, one_of
from analysis.figures.one_run import run_facts
from analysis.figures.terms.corpus import over_texts
from analysis.figures.terms.measures import CITATION_KEYS, FREEZE_LABELS, term_label
from analysis.measurements.terms.result import Curves
from analysis.probes import text_probe

ORDERS = {"layer": "by layer", "share": "strongest first"}
"""The orders of the small curves."""
HALF = 0.5
"""The share of what varies beyond which a head is said to go by position."""
FAINT = 0.03
"""The share of what varies below which a head has a dot in place of its curve."""
MOST_NAMED = 4
"""Heads that a heading names one by one."""
CELL = 46
"""Pixels of a small curve's height; less where there are many layers."""
MOST_PIXELS = 620
"""Pixels of all small curves together, as long as each has the height of two lines of letters."""

CURVES = LiveRun(
    obtain=text_probe.obtain_curves,
    provenance=run_facts,
    command=text_probe.curves_command,
    citation_keys=CITATION_KEYS,
)


class CurvesParameters(Parameters):
    """heads_by: the order of the small curves. layer, head: the head that is outlined; -1 as head: the strongest."""

    heads_by: Annotated[str, one_of(ORDERS)] = "layer"
    layer: int = 0
    head: int = STRONGEST


def strongest(run: Curves) -> tuple[int, int]:
    """The layer and head of which position makes up most."""
    layer, head = np.unravel_index(int(np.nan_to_num(run.shares).argmax()), run.shares.shape)
    return int(layer), int(head)


@figure("probe_curves", CurvesParameters, live=CURVES)
def probe_curves(params: CurvesParameters, run: Curves) -> Figure:
    """The mean score that position alone gives at each distance, in every head."""
    layers, heads = run.shares.shape
    shares = np.nan_to_num(run.shares)
    sums = " + ".join(map(term_label, run.terms)) or "position alone"
    places = [divmod(int(index), heads) for index in np.argsort(-shares, axis=None, kind="stable")]
    above = [(layer, head) for layer, head in places if shares[layer, head] > HALF]
    outlined = strongest(run) if params.head == STRONGEST else (params.layer, params.head)
    frame = pd.DataFrame(
        {
            "layer": np.repeat(np.arange(layers), heads * len(run.distances)),
            "head": np.tile(np.repeat(np.arange(heads), len(run.distances)), layers),
            "distance": np.tile(run.distances, layers * heads),
            "position": run.position.ravel(),
            "total": run.total.ravel(),
            "share": np.repeat(run.shares.ravel(), len(run.distances)),
            "pairs": np.tile(run.pairs, layers * heads),
        }
    )
    count = layers * heads
    gates = f", of gated units the {FREEZE_LABELS[run.freeze]}" if run.freeze else ""
    most_layer, most_head = places[0]
    most = f"layer {most_layer}, head {most_head}: {percent(float(shares[most_layer, most_head]))}"
    return Figure(
        title="Every head against distance",
        finding=_finding(above, count, most),
        frame=lambda: frame,
        caption=(
            f"{_over_texts(run, count, above)}A small curve a head: the mean score that position gives at each "
            "distance; the stronger the ground, the larger the share of position in what varies, and a dot stands for "
            f"a share below {percent(FAINT)}. Mean of {sums} over the pairs of tokens at each distance, each query's "
            f"row less its mean, from {run.distances.max()} before to {run.distances.max()} after; every curve has a "
            f"scale of its own. Most in {most}. {readable(run.provenance.model)}, "
            f"{layers} layers of {heads} heads, one "
            f"text of {run.tokens} tokens. Layer 0 is exact; deeper, patterns and norms{gates} are held at the values "
            f"they have in the model. The terms add up to the model's own scores to {run.errors[:, 0].max():.1e} "
            f"({run.errors[:, 1].max():.1e} of their range)."
        ),
        alt=f"{count} small curves of scores against distance. Position makes up most in {most}.",
        draw=lambda theme: [_draw(run, places if params.heads_by == "share" else None, outlined, theme)],
    )


def _finding(above: list[tuple[int, int]], count: int, most: str) -> str:
    """A sentence on the heads of which position makes up more than half."""
    if not above:
        return f"In this text, position alone makes up half of what varies in none of {count} heads: most in {most}"
    which = _named(above)
    return (
        f"In this text, position alone makes up more than half of what varies in {len(above)} of {count} heads: {which}"
    )


def _named(places: list[tuple[int, int]]) -> str:
    """Heads by their layers, the first few one by one: `heads 2 and 11 of layer 0`."""
    by_layer: dict[int, list[str]] = {}
    for layer, head in sorted(places[:MOST_NAMED]):
        by_layer.setdefault(layer, []).append(str(head))
    named = join_names(
        f"{'heads' if len(heads) > 1 else 'head'} {join_names(heads)} of layer {layer}"
        for layer, heads in by_layer.items()
    )
    return named if len(places) <= MOST_NAMED else f"{named}, and {plural(len(places) - MOST_NAMED, 'other head')}"


def _over_texts(run: Curves, count: int, here: list[tuple[int, int]]) -> str:
    """A sentence on the same heads over our own texts, followed by a space; empty where they were not measured.

    count: of all heads. here: those of this text.
    """
    rows = over_texts(run.provenance.model, run.provenance.revision)
    shares = rows[rows.term.isin(run.terms)].groupby(["layer", "head"]).share.sum()
    if shares.empty:
        return ""
    above = [(int(layer), int(head)) for layer, head in shares[shares > HALF].sort_values(ascending=False).index]
    which = f": {_named(above)}" if above else ""
    other = "" if set(above) == set(here) else f"; one text, here of {run.tokens} tokens, can have other heads"
    return (
        f"Over {rows.texts.max()} texts together, position alone makes up more than half in "
        f"{len(above) or 'none'} of {count} heads{which}{other}. "
    )


def _draw(run: Curves, order: list[tuple[int, int]] | None, outlined: tuple[int, int], theme: Theme) -> Chart:
    """Cells with a ground by share, and a curve or a dot in each. order: of the heads; by layer if there is none."""
    layers, heads = run.shares.shape
    places = order or [(layer, head) for layer in range(layers) for head in range(heads)]
    colour = theme.colour(of_term("position_to_position"))
    cells, points, dots = [], [], []
    for index, (layer, head) in enumerate(places):
        row, column = divmod(index, heads)
        share = float(np.nan_to_num(run.shares[layer, head]))
        cells.append(
            {
                "layer": layer, "head": head, "share": share, "x": column + 0.03, "x2": column + 0.97, "y": row + 0.04,
                "y2": row + 0.96, "name": f"{layer}·{head}", "ground": max(0.0, min(1.0, share)) * 0.45,
                "here": (layer, head) == outlined,
            }
        )  # fmt: skip
        curve = run.position[layer, head]
        known = np.isfinite(curve)
        if share < FAINT or np.ptp(curve[known]) == 0:
            dots.append({"x": column + 0.5, "y": row + 0.55})
            continue
        low, high = curve[known].min(), curve[known].max()
        reach = float(np.abs(run.distances).max()) or 1.0
        x = column + 0.5 + 0.42 * run.distances[known] / reach
        room = 0.62 if order else 0.76
        y = row + 0.88 - room * (curve[known] - low) / (high - low)
        strong = 0.45 + 0.55 * min(1.0, share / HALF)
        points += [{"cell": index, "x": a, "y": b, "strong": strong} for a, b in zip(x, y, strict=True)]
    return _layered(run, pd.DataFrame(cells), pd.DataFrame(points), pd.DataFrame(dots), order, colour, theme)


SHADE = "stronger colour: a larger share of position"
"""The meaning of the colour of the ground of a panel, and of its curve."""


def _layered(
    run: Curves,
    cells: pd.DataFrame,
    points: pd.DataFrame,
    dots: pd.DataFrame,
    order: list[tuple[int, int]] | None,
    colour: str,
    theme: Theme,
) -> Chart:
    """The cells, and what is in them, as one panel."""
    layers, heads = run.shares.shape
    numbers = {"grid": False, "ticks": False, "domain": False, "labelExpr": "datum.value - 0.5", "labelOverlap": True}
    plain = alt.Axis(labels=False, title=None, grid=False, ticks=False, domain=False)

    def axis(count: int, title: str, place: str) -> alt.Axis:
        values = [number + 0.5 for number in range(count)]
        return plain if order else alt.Axis(values=values, title=title, orient=place, **numbers)  # type: ignore[arg-type]

    x = alt.X("x:Q", scale=alt.Scale(domain=[0, heads], nice=False), axis=axis(heads, "head", "top"))
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, layers], nice=False, reverse=True), axis=axis(layers, "layer", "left"))
    base = alt.Chart(cells).encode(x=x, x2=alt.X2("x2"), y=y, y2=alt.Y2("y2"))
    tooltip = marks.tips("layer", "head", ("share", "share of what varies", ".3f"))
    here = alt.datum.here
    charts: list[Any] = [
        base.mark_rect(fill=colour, cornerRadius=4).encode(
            fillOpacity=alt.FillOpacity("ground:Q", scale=None, legend=None),
            stroke=alt.condition(here, alt.value(theme.ink), alt.value(theme.grid)),
            strokeWidth=alt.condition(here, alt.value(3), alt.value(1)),
            tooltip=tooltip,
        )
    ]
    if len(points):
        line = alt.Chart(points).mark_line(color=colour, strokeWidth=1.6, interpolate="linear")
        charts.append(
            line.encode(
                x=x,
                y=y,
                detail="cell:N",
                opacity=alt.Opacity("strong:Q", scale=None, legend=None),
                order=alt.Order("x:Q"),
            )
        )
    if len(dots):
        charts.append(alt.Chart(dots).mark_point(filled=True, size=10, color=theme.faint).encode(x=x, y=y))
    if order:
        names = alt.Chart(cells).mark_text(
            align="left", baseline="top", dx=3, dy=2, fontSize=marks.TEXT, color=theme.ink
        )
        charts.append(names.encode(x=x, y=y, text="name:N"))
    height = max(26 if not order else 34, min(CELL, MOST_PIXELS // layers)) * layers
    reach = int(run.distances.max())
    key = f"left to right: from {reach} tokens before the query to {reach} after"
    return marks.panel(
        *charts, theme=theme, width=marks.WIDE, height=height, title="Mean score that position gives, by distance",
        below=[key, "each curve has a scale of its own; a dot: too little to draw", SHADE],
    )  # fmt: skip
