"""Drawings of the guided reading's other figures: the sum of a real model, and order without positions."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import TERMS
from analysis.figures import Figure, marks
from analysis.figures.drawing import GREY, VERMILION, Chart, Theme, drawing
from analysis.figures.reading.cut import OWN, RANDOM, CutContent
from analysis.figures.reading.order import ROUNDING, SEEDS, OrderContent
from analysis.figures.reading.orthogonal import CosinesContent
from analysis.figures.reading.saving import MEASURES, SavingContent
from analysis.figures.reading.shift import ShiftContent
from analysis.figures.reading.sum import SumContent
from analysis.figures.reading.told import GROUPS, ToldContent


@drawing("reading_sum")
def strips(figure: Figure[SumContent], theme: Theme) -> list[Chart]:
    """A strip a summand, one for the sum, on one scale."""
    values, names, limit = figure.content.values, figure.content.names, figure.content.limit
    row, column = (index.ravel() for index in np.indices(values.shape))
    frame = pd.DataFrame(
        {"part": np.array(names)[row], "dimension": column, "end": column + 1, "value": values.ravel()}
    )
    key = marks.legend("value (colours end at the 99.5th percentile)")
    cells = alt.Chart(frame).mark_rect()
    cells = cells.encode(
        x=marks.number(alt.X, "dimension", "dimension", domain=(0, values.shape[1]), ticks=6, grid=False),
        x2=alt.X2("end:Q"),
        y=marks.categories(alt.Y, "part", None, names),
        color=alt.Color("value:Q", scale=theme.around_zero(limit), legend=key),
        tooltip=marks.tips("part", "dimension", ("value", "", ".4f")),
    )
    lengths = pd.DataFrame({"part": names, "length": np.linalg.norm(values, axis=1)})
    y = marks.categories(alt.Y, "part", None, names)
    bars = alt.Chart(lengths).encode(
        x=marks.number(alt.X, "length", "length of the vector", zero=True, ticks=5),
        y=y,
        tooltip=marks.tips("part", ("length", "", ".3f")),
    )
    numbers = bars.mark_text(align="left", dx=5, color=theme.ink, fontSize=marks.TEXT)
    return [
        marks.panel(cells, theme=theme, width=marks.WIDE, height=150),
        marks.panel(
            bars.mark_bar(color=theme.series),
            numbers.encode(text=alt.Text("length:Q", format=".2f")),
            theme=theme,
            width=marks.WIDE,
            height=110,
        ),
    ]


@drawing("reading_order", columns=2)
def order(figure: Figure[OrderContent], theme: Theme) -> list[Chart]:
    """A bar a word; a panel with every word in sight, and one with those before alone."""
    content, results = figure.content, []
    y = marks.number(alt.Y, "change", "change of the output (share of its length)", domain=(0, 1.05 * content.top))
    for mask, colour in zip(content.masks, theme.many(2), strict=True):
        base = alt.Chart(content.frame[content.frame["mask"] == mask]).encode(
            x=marks.categories(alt.X, "word", "word, in the first order", content.words),
            y=y,
            tooltip=marks.tips(
                "word", ("change", "mean change", ".3g"), ("low", "smallest", ".3g"), ("high", "largest", ".3g")
            ),
        )
        spans = base.mark_rule(color=theme.ink).encode(y=marks.same_axis(y, "low"), y2=alt.Y2("high:Q"))
        # Beside the line, at the bar's top, where no number can be taken for the end of a line.
        numbers = base.mark_text(dx=-11, dy=-6, color=theme.ink, fontSize=marks.TEXT)
        # A change that is rounding is printed as none.
        printed = f"datum.change < {ROUNDING} ? '0' : format(datum.change, '.1f')"
        numbers = numbers.transform_calculate(printed=printed).encode(text=alt.Text("printed:N"))
        bars = base.mark_bar(color=colour)
        results.append(
            marks.panel(
                bars,
                spans,
                numbers,
                marks.rule(theme, y=0),
                theme=theme,
                width=marks.HALF,
                height=240,
                title=mask,
                below=[f"bar: mean of {SEEDS} networks; line: smallest to largest"],
            )
        )
    return results


@drawing("reading_shift")
def shift(figure: Figure[ShiftContent], theme: Theme) -> list[Chart]:
    """A line a head; the chosen one stands out and is named at its end."""
    frame, head = figure.content.frame, figure.content.head
    x = marks.number(alt.X, "shift", "positions that the sentence is moved by", nice=False)
    y = marks.number(alt.Y, "change", "attention that goes elsewhere", form="%")
    tooltip: tuple[marks.Tip, ...] = ("head", ("shift", "moved by"), ("change", "attention that goes elsewhere", ".1%"))
    chosen = frame[frame["head"] == head]
    layers = [
        *marks.line_plot(
            frame[frame["head"] != head], x=x, y=y, theme=theme, color=theme.faint, detail="head:N", width=1, dots=0,
            tooltip=tooltip,
        ),
        *marks.line_plot(
            chosen, x=x, y=y, theme=theme, color=theme.colour(TERMS["position"]), width=3, dots=0, tooltip=tooltip
        ),
    ]  # fmt: skip
    end = alt.Chart(chosen.nlargest(1, "shift")).mark_text(align="left", dx=5, color=theme.ink, fontSize=marks.TEXT)
    label = end.encode(x=x, y=y, text=alt.value(f"head {head}"))
    return [marks.panel(*layers, label, theme=theme, width=marks.WIDE, height=260)]


@drawing("reading_orthogonal")
def orthogonal(figure: Figure[CosinesContent], theme: Theme) -> list[Chart]:
    """Bars of the cosine's distribution, and the mean of its size on both sides."""
    frame, mean, top = figure.content.frame, figure.content.mean, figure.content.top
    bars = alt.Chart(frame).mark_bar(color=theme.series, binSpacing=0)
    bars = bars.encode(
        x=marks.number(alt.X, "low", "cosine of the two vectors", domain=(-1, 1)),
        x2=alt.X2("high:Q"),
        y=marks.number(alt.Y, "share", "share of pairs", domain=(0, 1.05 * top), form=".1%"),
        y2=alt.datum(0),
        tooltip=marks.tips(("low", "cosine from", ".2f"), ("high", "to", ".2f"), ("share", "share of pairs", ".2%")),
    )
    lines = alt.Chart(pd.DataFrame({"at": [-mean, mean]}))
    means = lines.mark_rule(color=VERMILION, strokeWidth=marks.LINE, strokeDash=marks.DASH).encode(x=alt.X("at:Q"))
    title = f"mean size of the cosine {mean:.3f} (dashed)"
    return [marks.panel(bars, means, theme=theme, width=marks.WIDE, height=260, title=title)]


@drawing("reading_cut")
def cut(figure: Figure[CutContent], theme: Theme) -> list[Chart]:
    """The curve of the positions' own directions, dots of random ones, and the model with all and with none."""
    content = figure.content
    rows = content.frame[content.frame["rank"].notna()]
    own, random = rows[rows.operation == OWN], rows[rows.operation == RANDOM]
    x = marks.number(alt.X, "rank", "directions kept for positions", log=2, values=(1, 2, 4, 8, 16, 32, 64))
    lowest, highest = float(rows.low.min()), float(rows.high.max())
    y = marks.number(alt.Y, "value", "agreement with people (rank correlation)", domain=(lowest, highest), ticks=6)
    tooltip: tuple[marks.Tip, ...] = (
        ("rank:Q", "directions"), ("value", "correlation", ".4f"), *marks.interval_tips(".4f"),
    )  # fmt: skip
    colour = theme.colour(TERMS["position"])
    line = marks.line_plot(
        own, x=x, y=y, theme=theme, color=colour, ends=("low", "high"), band=True, width=3, tooltip=tooltip
    )
    draws = alt.Chart(random).mark_point(filled=True, size=marks.SEED, opacity=0.55, color=GREY)
    draws = draws.encode(x=x, y=y, tooltip=marks.tips(("rank:Q", "random directions"), ("value", "", ".4f")))
    here = pd.DataFrame({"rank": [content.kept], "value": [content.value], "text": [f"{content.value:.3f}"]})
    chosen = alt.Chart(here).encode(x=x, y=y)
    dot = chosen.mark_point(filled=True, size=2.5 * marks.LARGE_DOT, color=colour, opacity=1)
    last = content.kept**2 > rows["rank"].max() * 16
    number = chosen.mark_text(
        align="right" if last else "center", dx=8 if last else 0, dy=-18, fontSize=marks.PANEL_TITLE,
        fontWeight="bold", color=theme.ink,
    )  # fmt: skip
    names = pd.DataFrame(
        [{"value": value, "text": f"{name}: {value:.3f}", "rank": 1} for name, value in content.references.items()]
    )
    words = alt.Chart(names).mark_text(align="left", dx=4, dy=12, fontSize=marks.TEXT, color=theme.ink)
    grey = random[random["rank"] == random["rank"].median()].nsmallest(1, "value").assign(text="random directions")
    label = alt.Chart(grey).mark_text(align="center", dy=16, fontSize=marks.TEXT, color=theme.ink)
    layers = [
        *(marks.rule(theme, y=value, dash=marks.DASH) for value in content.references.values()),
        draws,
        *line,
        dot,
        number.encode(text=alt.Text("text:N")),
        words.encode(x=x, y=y, text=alt.Text("text:N")),
        label.encode(x=x, y=y, text=alt.Text("text:N")),
    ]
    return [marks.panel(*layers, theme=theme, width=marks.WIDE, height=330)]


@drawing("reading_saving")
def saving(figure: Figure[SavingContent], theme: Theme) -> list[Chart]:
    """Two lines, each named at its end, with dots at the chosen number of dimensions."""
    frame, extra = figure.content.frame, figure.content.extra
    long = frame.melt("extra", list(MEASURES), var_name="measure", value_name="more")
    long = long.assign(name=long.measure.map(MEASURES))
    x = marks.number(alt.X, "extra", "dimensions for positions, beside the words'", nice=False)
    y = marks.number(
        alt.Y,
        "more",
        "more than adding needs",
        form="%",
        domain=(float(long.more.min()), 1.06 * float(long.more.max())),
    )
    color = marks.hues("name", dict(zip(MEASURES.values(), theme.many(2), strict=True)))
    tooltip: tuple[marks.Tip, ...] = ("name", ("extra:Q", "dimensions"), ("more", "more", ".1%"))
    lines = marks.line_plot(long, x=x, y=y, theme=theme, color=color, width=3, dots=0, tooltip=tooltip)
    chosen = alt.Chart(long[long.extra == extra].assign(text=lambda rows: [f"{v:+.1%}" for v in rows.more]))
    chosen = chosen.encode(x=x, y=y, color=color)
    left = extra > frame.extra.max() / 2
    numbers = chosen.mark_text(
        align="right" if left else "left", dx=-10 if left else 10, dy=-12, fontSize=marks.PANEL_TITLE,
        fontWeight="bold",
    )  # fmt: skip
    ends = alt.Chart(long[long.extra == frame.extra.iloc[len(frame) * 3 // 4]])
    names = ends.mark_text(align="right", dx=-10, dy=-8, fontSize=marks.TEXT)
    layers = [
        marks.rule(theme, y=0),
        *lines,
        chosen.mark_point(filled=True, size=2 * marks.LARGE_DOT, opacity=1),
        numbers.encode(text=alt.Text("text:N")),
        names.encode(x=x, y=y, color=color, text=alt.Text("name:N")),
    ]
    return [marks.panel(*layers, theme=theme, width=marks.WIDE, height=320)]


HEADING = "told "
"""The beginning of the rows that name a group."""


@drawing("reading_told")
def told(figure: Figure[ToldContent], theme: Theme) -> list[Chart]:
    """A row a variant under the name of its group: the difference with its interval, and its number at the right."""
    frame = figure.content.frame
    order: list[str] = []
    for group in GROUPS:
        labels = frame[frame.group == group].label.tolist()
        order += [f"{HEADING}{group}", *labels] if labels else []
    y = marks.rows_down("label", order, limit=300)
    y["axis"]["labelFontWeight"] = {
        "condition": {"test": f"indexof(datum.label, '{HEADING}') === 0", "value": "bold"},
        "value": "normal",
    }
    ends = [frame.gap.min(), frame.gap.max(), frame.low.min(), frame.high.max(), 0.0]
    domain = (float(np.nanmin(ends)) - 0.03, float(np.nanmax(ends)) + 0.03)
    x = marks.number(alt.X, "gap", "final loss less BERT-A's (nats; left is better)", domain=domain, ticks=5)
    rows = frame.assign(written=[f"{gap:+.2f}".replace("-", "−") for gap in frame.gap])
    layers: list[Chart] = [marks.rule(theme, x=0)]
    for chosen in (False, True):
        for judged in (True, False):
            selected = rows[((rows.variant == figure.content.variant) == chosen) & (rows.judged == judged)]
            if len(selected):
                layers += marks.row_plot(
                    selected,
                    x=x,
                    y=y,
                    theme=theme,
                    color=theme.ink if chosen else GREY,
                    size=2 * marks.LARGE_DOT if chosen else marks.LARGE_DOT,
                    filled=judged,
                    tooltip=("label", ("gap", "difference, nats", "+.3f"), *marks.interval_tips("+.3f"), "seeds"),
                )
    text = alt.Chart(rows).mark_text(align="left", dx=6, fontSize=marks.TEXT, color=theme.ink)
    numbers = text.encode(x=alt.value("width"), y=y, text=alt.Text("written:N"))
    return [marks.panel(*layers, numbers, theme=theme, width=marks.HALF, height=marks.ROW * len(order))]
