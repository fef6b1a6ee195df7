"""The runs that the figures of positions share, and bars of the parts of scores."""

import altair as alt
import pandas as pd

from analysis.core.colours import of_term
from analysis.core.wavelengths import BANDS
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import LiveRun
from analysis.figures.one_run import run_facts
from analysis.measurements.positions.result import PositionMap
from analysis.probes import position_probe

DEPENDS = {"content": "content alone", "position": "position or distance alone", "both": "both together"}
TERMS = {"content": "word", "position": "position", "both": "word_to_position"}
"""The part of a score -> the term whose colour it takes."""
DISTANCE = "distance, key minus query (tokens)"
CITATION_KEYS = ("su2021roformer", "barbero2025round")
SENTENCE_NAMES = {"added to scores": "what is added to scores"}

MAP_RUN: LiveRun[tuple[PositionMap, PositionMap | None]] = LiveRun(
    obtain=position_probe.obtain_with_baseline,
    provenance=lambda run: run_facts(run[0]),
    command=lambda run: position_probe.command(run[0]),
    citation_keys=CITATION_KEYS,
)
UNROTATED_RUN = LiveRun(
    obtain=position_probe.UnturnRequest.obtain,
    provenance=run_facts,
    command=position_probe.command,
    citation_keys=CITATION_KEYS,
)


def named_source(source: str) -> str:
    """A source within a sentence."""
    return f"wavelengths {source} tokens" if source in BANDS else SENTENCE_NAMES.get(source, source)


def stacked(frame: pd.DataFrame, x: alt.X, row: str, theme: Theme, *, columns: int) -> Chart:
    """A bar for each layer or head, made of the share of each part, of which the legend has those that are there.

    columns: of the legend.
    """
    frame = frame.assign(depends=frame.part.map(DEPENDS), order=frame.part.map(list(DEPENDS).index))
    there = set(frame.part[frame.share.fillna(0) != 0])
    colours = {name: theme.colour(of_term(TERMS[part])) for part, name in DEPENDS.items() if part in there}
    bars = alt.Chart(frame).mark_bar()
    return bars.encode(
        x=x,
        y=marks.categories(alt.Y, row, row),
        color=marks.hues("depends", colours, marks.legend(columns=columns)),
        order=alt.Order("order:Q"),
        tooltip=marks.tips(row, ("depends", "depends on"), ("share", "", ".1%")),
    )
