"""The ladder of one row of the board: its difference to adding at each width of the model."""

from collections.abc import Mapping

import altair as alt
import pandas as pd

from analysis.ablation.presets import ablate
from analysis.ablation.variants import named, quote
from analysis.core import colours, frames
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, plural, sentences, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import BASELINE, WIDTHS, Gap, VariantRow, board
from analysis.figures.experiments.row_curves import RowCurvesParameters
from analysis.figures.figure import Figure, figure


@figure("experiments_widths", RowCurvesParameters)
def row_widths(params: RowCurvesParameters) -> Figure:
    """The difference of final losses from adding's against the width of the model, with intervals.

    Where no row is named, the first that is stored is shown.
    Raises NoResults where no width is stored, and what `board` raises.
    """
    shown = board(params.preset)
    stored = (one for one in (*shown.rows, *shown.others) if one.widths)
    row = shown.row(params.row) if params.row else next(stored, shown.row(""))
    if not row.widths:
        raise NoResults(
            f"{quote(row.title)} is not trained yet with the recipe of three widths "
            f"({join_names(str(width) for width in WIDTHS)})."
        )
    table = width_rows(row).assign(
        written=lambda rows: [f"{signed(one.value)}, {plural(one.seeds, 'seed')}" for one in frames.rows(rows)]
    )
    return Figure(
        title=f"{quote(row.title)} at other widths",
        finding=_finding(quote(row.title), row.widths),
        frame=lambda: table,
        caption=sentences(
            f"Final loss minus that of {named(BASELINE)}, in nats per masked word, by the width of the model; below 0 "
            f"is better ({_recipes(row.widths)}). Bars: 95 % t intervals over pairs of one seed.",
            f"Ring: the rules leave it open, or there are fewer than {table.needed.max()} seeds."
            if not table.decided.all()
            else "",
            "These trainings follow one recipe for all widths, which is not that of preset cpu2.",
        ),
        alt="Dots by width: " + "; ".join(f"width {found.width} {found.written}" for found in table.itertuples()) + ".",
        command="\n".join(ablate(WIDTHS[width], [BASELINE, row.variant]) for width in sorted(row.widths)),
        provenance={f"width {width}": f"preset {WIDTHS[width]}" for width in sorted(row.widths)},
        draw=lambda theme: [_draw(table, row.way, theme)],
        columns=1,
    )


def width_rows(row: VariantRow) -> pd.DataFrame:
    """A row a width of a variant: the difference, its interval and its seeds."""
    return pd.DataFrame(
        {
            "variant": row.variant, "title": row.title, "width": width, "value": gap.value, "low": gap.low,
            "high": gap.high, "seeds": gap.seeds, "needed": gap.needed, "judged": gap.judged,
            "decided": gap.judged and not is_open(row.variant, WIDTHS[width]),
        }
        for width, gap in sorted(row.widths.items())
    )  # fmt: skip


def is_open(variant: str, preset: str) -> bool:
    """True where the board of a preset draws a variant hollow."""
    return any(row.variant == variant and row.undecided for row in board(preset).rows)


def _finding(name: str, widths: Mapping[int, Gap]) -> str:
    """The change of the difference from the narrowest to the widest model that are judged; else what is stored."""
    judged = {width: gap for width, gap in sorted(widths.items()) if gap.judged}
    if len(judged) < 2:
        counts = join_names(
            f"{signed(gap.value)} nats in recipe {WIDTHS[width]} ({gap.seeds} of {plural(gap.needed, 'seed')})"
            for width, gap in sorted(widths.items())
        )
        return f"{'So far one width is judged' if judged else 'No width can be judged yet'}: {counts}"
    (narrow, first), *_, (wide, last) = judged.items()
    return f"{name} minus adding: {_size(first)} at width {narrow}, {_size(last)} at width {wide}"


def _size(gap: Gap) -> str:
    """A difference in nats, and whether its interval tells it from none."""
    return f"{signed(gap.value)} nats{'' if gap.low > 0 or gap.high < 0 else ' (not told apart)'}"


def _recipes(widths: Mapping[int, Gap]) -> str:
    """The recipes of the widths that are stored."""
    names = join_names(WIDTHS[width] for width in sorted(widths))
    return f"{'recipe' if len(widths) == 1 else 'recipes'} {names}"


def _draw(table: pd.DataFrame, way: str, theme: Theme) -> Chart:
    """A dot a width with its interval and its number; a ring where the rules leave it open, or seeds are missing."""
    accent, trained = theme.colour(colours.of_way(way)), sorted(set(table.width))
    x = marks.number(alt.X, "width", "width of the model", log=2, domain=(50, 330), values=trained, form="d")
    ends = [0.0, *table.value, *table.low.dropna(), *table.high.dropna()]
    room = 0.1 * (max(ends) - min(ends) or 1)
    y = marks.number(alt.Y, "value", "nats; below 0 is better", domain=(min(ends) - room, max(ends) + room), ticks=5)
    tooltip = ("width:Q", ("value", "difference", "+.3f"), *marks.interval_tips("+.3f"), "seeds:Q")
    layers: list[Chart] = [marks.rule(theme, y=0)]
    layers += marks.line_plot(table, x=x, y=y, theme=theme, color=accent, ends=("low", "high"), dots=0, tooltip=tooltip)
    for decided, group in table.groupby("decided"):
        mark = alt.Chart(group).mark_point(
            filled=bool(decided), size=marks.LARGE_DOT, opacity=1, strokeWidth=2, color=accent,
            fill=accent if decided else theme.ground,
        )  # fmt: skip
        layers.append(mark.encode(x=x, y=y))
    # Below its dot where the line rises from it, or the line would cross the text.
    placed = table.assign(dy=[14 if rises else -10 for rises in table.value.shift(-1) > table.value])
    text = alt.Chart(placed).mark_text(
        align="left", dx=10, dy=alt.expr("datum.dy"), fontSize=marks.PANEL_TITLE, color=accent
    )
    layers.append(text.encode(x=x, y=y, text="written:N"))
    return marks.panel(*layers, theme=theme, width=340, height=300)
