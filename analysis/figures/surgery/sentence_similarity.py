"""Sentence similarity of a model under every operation on its positions and terms."""

import json
from collections.abc import Mapping

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import default_model
from analysis.core.errors import NoResults
from analysis.figures import marks, panels
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.one_run import stored_facts
from analysis.measurements.surgery.arms import RANK
from analysis.store import read

CITE = ("reimers2019sbert", "cer2017stsb")
ROWS = {
    "intact": "as trained",
    "separated": "words out of the positions' directions, positions inside",
    "separated_along_read": "the same, along the positions that texts read",
    "words_kept_out": "words out of the positions' directions",
    "separated_at_random": "both, along random directions",
    "words_kept_out_at_random": "words out of random directions",
    "no_cross_layer_0": "no cross terms at layer 0",
    "no_cross": "no cross terms at any layer",
    "word_only": "word to word alone",
    "position_only": "position to position alone",
    "mean_position": "every position the mean",
    "no_position": "every position zero",
    "sinusoidal": "sinusoids in place of the table",
    "permuted": "positions in another order",
}
"""Operation -> its description in a few words; in the order of the rows."""
CURVES = {"separated": "their own directions", "separated_at_random": "random directions"}
LABEL = "Spearman's correlation"
LABEL_CHARACTERS = 30
"""The most letters in one line of a label; two such lines leave room for the dots on a phone."""
AXIS_PADDING = 0.01
"""The length by which an axis extends beyond the longest interval, in units of the axis."""
TIPS: tuple[marks.Tip, ...] = (
    ("value", LABEL, ".4f"),
    *marks.interval_tips(".4f"),
    ("difference", "change from the intact model", "+.4f"),
)


class SurgeryParameters(Parameters):
    """The sentence encoder that was operated on."""

    model: str


@figure("surgery", SurgeryParameters)
def surgery(params: SurgeryParameters) -> Figure:
    """Spearman's correlation on STS-B under every operation; and under separation, by the number of directions.

    Raises NoResults if no surgery on the model is stored.
    """
    model = params.model
    result = read.query("SELECT * FROM newest_surgery WHERE model = ? ORDER BY operation, rank, draw", [model])
    if result.empty:
        raise NoResults(
            f"No surgery on the model {model!r} is stored. Surgery works on sentence encoders that add a table of "
            f"positions, such as {default_model.NAME}: python -m analysis measure surgery --help"
        )
    first = result.iloc[0]
    result = result.assign(done=result.operation.map(ROWS))
    columns = ["operation", "done", "rank", "draw", "value", "low", "high", "difference", "difference_low"]
    frame = result[[*columns, "difference_high", "pairs"]]
    mean = result[result["rank"].isna() | (result["rank"] == RANK)].groupby("operation").value.mean()
    text = (
        f"{mean['intact']:.3f} as trained, {mean['separated']:.3f} with words and positions in separate directions "
        f"({RANK} for positions), {mean['separated_at_random']:.3f} with random directions, "
        f"{mean['mean_position']:.3f} with every position the mean"
    )
    config = json.loads(first.config)
    return Figure(
        title="Sentence similarity after every operation",
        finding=(
            f"With words and positions in separate directions the correlation is {mean['separated']:.3f}, compared "
            f"with {mean['intact']:.3f} as trained"
        ),
        frame=lambda: frame,
        caption=(
            f"{readable(first.model)}, sentence similarity on the {first.pairs:,} pairs of STS-B's dev set, no "
            f"training: {text}. Words are kept out of some directions and positions kept inside them, each around its "
            f"mean: up to a rotation, that is a concatenation. Rows: the operations, with {RANK} directions where "
            f"they have a number of them, the effective rank of {default_model.NAME}'s centred position table; dots of "
            "one row are random draws. Curves: by the number of directions. "
            f"Lines: 95 % bootstrap intervals, {config['resamples']:,} resamples of the pairs."
        ),
        alt=f"Dot plot of Spearman's correlation under {frame.operation.nunique()} operations: {text}.",
        command=(
            f"{first.command}\npython -m analysis query \"SELECT * FROM surgery_effects WHERE model = '{model}'\" --csv"
        ),
        provenance=stored_facts(first, task=f"{first.task}, dev set, {first.pairs:,} pairs"),
        citation_keys=CITE,
        draw=lambda theme: [_operations(frame, mean["intact"], theme), _by_rank(frame, mean["intact"], theme)],
        columns=2,
    )


def _axis_range(shown: pd.DataFrame) -> tuple[float, float]:
    return float(shown.low.min()) - AXIS_PADDING, float(shown.high.max()) + AXIS_PADDING


def _operations(frame: pd.DataFrame, intact: float, theme: Theme) -> Chart:
    """A row for each operation, in the order of ROWS."""
    shown = frame[frame["rank"].isna() | (frame["rank"] == RANK)]
    order = [name for name in ROWS.values() if name in set(shown.done)]
    # Several random draws share a row: their intervals would cover one another.
    shown = shown.assign(low=shown.low.where(shown.draw.isna()), high=shown.high.where(shown.draw.isna()))
    labels = marks.wrapped_labels(order, LABEL_CHARACTERS)
    dots = marks.row_plot(
        shown.assign(label=shown.done.map(labels)),
        x=marks.number(alt.X, "value", LABEL, domain=_axis_range(frame), ticks=6),
        y=marks.labelled_rows(list(labels.values()), grid=True),
        theme=theme,
        size=marks.SEED,
        tooltip=(("done", "operation"), "draw", *TIPS),
    )
    means = shown.groupby("done", as_index=False).value.mean()
    means = means.assign(label=means.done.map(labels), written=[f"{value:.3f}" for value in means.value])
    rows = marks.labelled_rows(list(labels.values()), grid=True)
    height = marks.row_height(list(labels.values()), marks.ROW) * len(order)
    return marks.panel(
        marks.rule(theme, x=intact), *dots, marks.texts_beside(means, rows, theme), theme=theme, width=marks.HALF,
        height=height, title=LABEL, below=["line: as trained; of random draws the mean is printed"],
    )  # fmt: skip


def _by_rank(frame: pd.DataFrame, intact: float, theme: Theme) -> Chart:
    """Separation by the number of directions that positions keep, along their own directions and random ones."""
    shown = frame[frame.operation.isin(list(CURVES))]
    shown = shown.assign(along=shown.operation.map(CURVES))
    actual, random = CURVES.values()
    x = marks.number(alt.X, "rank", "directions of the positions", log=2)
    y = marks.number(alt.Y, "value", LABEL, domain=_axis_range(shown))
    hues = dict(zip((actual, random), theme.many(2), strict=True))
    color = marks.hues("along", hues)
    lines = marks.line_plot(
        shown[shown.along == actual], x=x, y=y, theme=theme, color=color, ends=("low", "high"), dots=marks.SEED,
        tooltip=("along", ("rank:Q", "directions"), *TIPS),
    )  # fmt: skip
    draws = alt.Chart(shown[shown.along == random]).mark_point(filled=True, size=marks.SEED, opacity=0.75)
    names = panels.names_at(_curve_names(shown, hues), x, y, theme)
    layers = marks.rule(theme, y=intact, dash=marks.DASH), *lines, draws.encode(x=x, y=y, color=color), *names
    return marks.panel(
        *layers, theme=theme, width=marks.HALF, height=300, title="By the number of directions", below=[DASHED]
    )


DASHED = "dashed: as trained"


def _curve_names(shown: pd.DataFrame, hues: Mapping[str, str]) -> pd.DataFrame:
    """The names of the two curves: well above the second point of the model's own, below the lowest random draw."""
    own, random = (shown[shown.along == name] for name in CURVES.values())
    named = []
    if len(own):
        named.append(own.sort_values("rank").iloc[min(1, len(own) - 1)].to_dict() | {"align": "left", "dy": -46})
    if len(random):
        named.append(random.sort_values("value").iloc[0].to_dict() | {"align": "right", "dy": 14})
    columns = ["rank", "value", "along", "align", "dy"]
    return pd.DataFrame(named, columns=columns).assign(name=lambda x: x.along, hue=lambda x: x.along.map(hues), dx=4)
