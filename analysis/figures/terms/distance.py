"""The scores of one head, and each of its terms, against the distance of the key from the query."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.formatting import fixed, plural, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.terms.maps import (
    NO_SOURCE,
    TERMS_RUN,
    TermHeadParameters,
    description,
    four,
    method_assumption,
    shown_head,
)
from analysis.figures.terms.measures import term_label
from analysis.figures.terms.term_marks import line_names, series_hue, series_hues
from analysis.measurements.terms.result import Decomposition

TOTAL = term_label("total")
HEIGHT = 300
"""Pixels of the plot."""
MOST_DOTS = 60
"""Distances up to which each value has a dot: more of them would hide the lines."""


@figure("probe_distance", TermHeadParameters, live=TERMS_RUN)
def probe_distance(params: TermHeadParameters, decomposition: Decomposition) -> Figure:
    """The scores of one head against how far the key stands from the query."""
    head = shown_head(params, decomposition)
    attended = (
        np.ones(decomposition.scores.shape[1:], dtype=bool)
        if decomposition.attended is None
        else decomposition.attended
    )
    query, key = np.nonzero(attended)
    distance = key - query
    distances, index, pairs = np.unique(distance, return_inverse=True, return_counts=True)
    rows = []
    for name in ("total", *(term for term in four(decomposition) if term in decomposition.present)):
        scores = decomposition.scores[head] if name == "total" else decomposition.terms_of(name, head)
        masked = np.where(attended, scores, 0)
        values = (scores - masked.sum(-1, keepdims=True) / attended.sum(-1, keepdims=True))[query, key]
        mean = np.bincount(index, values) / pairs
        sd = np.sqrt(np.bincount(index, (values - mean[index]) ** 2) / pairs)
        rows.append(pd.DataFrame({"term": name, "distance": distances, "mean": mean, "sd": sd, "pairs": pairs}))
    frame = pd.concat(rows, ignore_index=True)
    total = rows[0]["mean"].to_numpy()
    high, low = (_place(int(distances[i])) for i in (total.argmax(), total.argmin()))
    text = f"The total is highest {high} ({fixed(float(total.max()))}), lowest {low}."
    note = NO_SOURCE.get(decomposition.position_kind, "")
    return Figure(
        title=f"Head {head}, scores against distance",
        finding=(
            f"In this text, head {head} of layer {decomposition.layer} scores a key highest {high}: "
            f"{signed(float(total.max()), 1)} on average"
        ),
        frame=lambda: frame,
        caption=(
            "Key-centred scores, mean over the pairs of tokens at each distance, key minus query (negative: before), "
            f"of the total and of each term. {text} Of {description(decomposition, head)}. Far distances have few "
            "pairs (see the data). "
            f"{method_assumption(decomposition)} {note}"
        ),
        alt=f"Lines against distance from {int(distance.min())} to {int(distance.max())}. {text}",
        draw=lambda theme: [_draw(frame, theme)],
    )


def _place(distance: int) -> str:
    """The place of a key that stands so many tokens after its query."""
    if distance == 0:
        return "at the token itself"
    return f"{plural(abs(distance), 'token')} {'before' if distance < 0 else 'after'}"


def _draw(frame: pd.DataFrame, theme: Theme) -> Chart:
    """Lines against distance: the term that varies most with dots, the total over it, and the others thin."""
    rows = frame.assign(series=frame.term.map(term_label))
    names = list(dict.fromkeys(rows.series))
    low, high = min(0.0, float(rows["mean"].min())), max(0.0, float(rows["mean"].max()))
    y = marks.number(alt.Y, "mean", "key-centred score, mean", domain=(low, high), nice=True, padding=6)
    color = series_hues(names, theme)
    spread = rows[rows.term != "total"].groupby("series")["mean"].agg(lambda values: values.max() - values.min())
    most = spread.idxmax() if len(spread) else TOTAL
    tooltip: tuple[marks.Tip, ...] = (
        ("series", "what"), "distance", ("mean", "", ".4f"), ("sd", "standard deviation", ".4f"),
        ("pairs", "pairs of tokens"),
    )  # fmt: skip
    x = marks.whole_numbers(alt.X, "distance", "distance, key minus query (tokens)")
    dots = marks.SEED if frame.distance.nunique() <= MOST_DOTS else 0
    lines = [
        layer
        for part, width, of_dots in (
            (rows[~rows.series.isin([most, TOTAL])], 1, 0),
            (rows[rows.series == most], 2 * marks.LINE, dots),
            (rows[rows.series == TOTAL], 1, 0),
        )
        for layer in marks.line_plot(
            part, x=x, y=y, theme=theme, color=color, dots=of_dots, width=width, tooltip=tooltip
        )
    ]
    others = [name for name in names if name not in (most, TOTAL)]
    ends = rows[rows.series.isin(others)].rename(columns={"mean": "value", "distance": "layer"})
    named = line_names(ends, others, y, theme, height=HEIGHT) if others else []
    layers = marks.rule(theme, y=0), *lines, *named, *_names_at_peaks(rows, str(most), x, y, theme)
    return marks.panel(*layers, theme=theme, width=marks.WIDE, height=HEIGHT)


def _names_at_peaks(rows: pd.DataFrame, most: str, x: alt.X, y: alt.Y, theme: Theme) -> list[Chart]:
    """The names of the total and of the term that varies most, each at the height of its highest value.

    That of the total stands left of its line and the other one right of it, where the plot leaves room for it.
    """
    texts = []
    for name, left in {most: False, TOTAL: True}.items():
        own = rows[rows.series == name]
        peak = own.loc[[own["mean"].idxmax()]]
        edge = peak.distance.iloc[0] == (own.distance.min() if left else own.distance.max())
        right = left == bool(edge)
        mark = alt.Chart(peak).mark_text(
            align="left" if right else "right", dx=8 if right else -8, dy=-12 if edge else -4, fontSize=marks.TEXT,
            fontWeight="bold", color=series_hue(name, theme),
        )  # fmt: skip
        texts.append(mark.encode(x=x, y=y, text="series:N"))
    return texts
