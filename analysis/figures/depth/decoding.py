"""Position, order and words as decoders read them from the hidden states of each layer."""

import json

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.colours import TERMS
from analysis.core.formatting import percent
from analysis.figures import marks
from analysis.figures.depth.models import (
    DEPTH,
    HEIGHT,
    LAYERS,
    TIPS,
    ModelsParameters,
    colour,
    join_models,
    run_descriptions,
    stored_models,
    titled,
    windows,
)
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.states import best_at_each_layer
from analysis.figures.terms.term_marks import line_names

READINGS = {
    ("position", "ridge", "r2"): "Position, ridge: R²",
    ("position", "nearest", "exact"): "Position, nearest mean: exact",
    ("position", "discriminant", "exact"): "Position, discriminants: exact",
    ("position", "whitened", "exact"): "Position, nearest whitened mean: exact",
    ("position", "nearest", "within_3"): "Position, nearest mean: within 3",
    ("order", "logistic", "accuracy"): "Which of two is first: accuracy",
    ("word", "nearest", "top1"): "Word, nearest mean: top-1",
    ("word", "ridge", "top1"): "Word, ridge to embedding: top-1",
}
"""The panels, by target, decoder and measure; the mean absolute error of position is in the table alone."""
POSITION, BY_DECODER, WORD = "Where a word stands", "Its exact place, by decoder", "Which word it is"
TOGETHER = {
    POSITION: {
        ("position", "", "exact"): "exact place",
        ("position", "", "within_3"): "within 3 places",
        ("order", "logistic", "accuracy"): "which of two is first",
    },
    BY_DECODER: {
        ("position", "discriminant", "exact"): "discriminants",
        ("position", "nearest", "exact"): "nearest mean",
        ("position", "whitened", "exact"): "whitened mean",
    },
    WORD: {("word", "ridge", "top1"): "ridge", ("word", "nearest", "top1"): "nearest mean"},
}
"""The panels of a single model: their lines, by target, decoder and measure. No decoder: the best at each layer."""
TALL = 320


@figure("depth_decoding", ModelsParameters)
def decoding(params: ModelsParameters) -> Figure:
    """Decoders' scores on held-out windows, by depth."""
    rows, models = stored_models(params.models, "newest_decoding", "measure decoding --texts FILE")
    keys = list(zip(rows.target, rows.decoder, rows.measure, strict=True))
    rows = rows.assign(panel=[READINGS.get(key, "") for key in keys])
    columns = ["model", "layer", "depth", "target", "decoder", "measure", "value", "low", "high", "chance"]
    table = rows[[*columns, "windows", "tokens"]]
    shown = rows[rows.panel != ""][[*columns, "panel"]]
    first = rows.iloc[0]
    config = json.loads(first.config)
    own = rows[rows.model == models[0]]
    error = own[own.measure == "mean_absolute_error"].set_index("layer").value
    r2 = own[own.measure == "r2"].set_index("layer").value
    last = int(error.index.max())
    text = (
        f"{readable(models[0])}: ridge regression reads the position to within {error[0]:.1f} tokens on average "
        f"before the first layer (R² {r2[0]:.2f}) and {error[last]:.1f} after the last (R² {r2[last]:.2f}), because it "
        "fits all positions along one direction of the states, where the other decoders compare a state with each "
        "position's own mean."
    )
    return Figure(
        title="What can be read from the hidden states",
        finding=_finding(own),
        frame=lambda: table,
        caption=(
            "How often decoders are right on held-out text, from the hidden states that enter each layer and leave the "
            "last; with no decoder named, of the best at each layer. Dotted: chance, a guess that ignores the state. "
            f"{text} Hidden states of "
            f"{windows(rows)}; decoders trained on two thirds of the articles and tested on "
            f"{config['held_out_windows']} windows of the others; special tokens are left out. Words: those that the "
            f"training windows hold at least {config['candidate_words_occur']} times. Bars: 95 % bootstrap intervals "
            "over held-out windows, which say nothing about other trainings of model or decoder. What a linear "
            "decoder reads is there; whether the model uses it is another question."
        ),
        alt=f"{len(READINGS)} panels of scores against depth for {join_models(models)}. {text}",
        command="\n".join(dict.fromkeys(rows.command)),
        provenance=run_descriptions(rows),
        citation_keys=("wang2020what",),
        draw=lambda theme: (
            _draw(titled(shown), [readable(model) for model in models], theme)
            if len(models) > 1
            else [_draw_one(table, title, theme) for title in TOGETHER]
        ),
        columns=3,
    )


def _finding(own: pd.DataFrame) -> str:
    """A sentence on what is read of one model's positions and words after its last layer."""
    words = own[(own.target == "word") & (own.measure == "top1") & own.value.notna()]
    exact = own[(own.target == "position") & (own.measure == "exact") & own.value.notna()]
    if exact.empty or words.empty:
        return ""
    places, named = (best_at_each_layer(part).set_index("layer").value for part in (exact, words))
    last = int(places.index.max())
    return (
        f"After the last layer, a word's exact place can be read in {percent(places[last])} of cases and the word "
        f"itself in {percent(named[last])}"
    )


def _draw_one(shown: pd.DataFrame, title: str, theme: Theme) -> Chart:
    """Lines of one model in one panel, named at their ends, by layer; chance dotted in the same hue."""
    names = TOGETHER[title]
    if title == POSITION:
        kinds = [
            best_at_each_layer(rows).assign(decoder="")
            for _, rows in shown[(shown.target == "position") & shown.value.notna()].groupby("measure")
        ]
        shown = pd.concat([shown[shown.target != "position"], *kinds])
    keys = zip(shown.target, shown.decoder, shown.measure, strict=True)
    rows = shown.assign(series=[names.get(key, "") for key in keys])
    rows = rows[rows.series != ""]
    order = [name for name in names.values() if (rows.series == name).any()]
    own = theme.colour(TERMS["word" if title == WORD else "position"])
    # Three measures of one source differ by their dash, decoders of one measure by their hue.
    hues = dict.fromkeys(order, own) if title == POSITION else dict(zip(order, [own, theme.ink, GREY], strict=False))
    styles = [[1, 0], [7, 3], [3, 3]] if title == POSITION else [[1, 0]] * len(order)
    color, dash = marks.hues("series", hues), marks.dashes("series", dict(zip(order, styles, strict=False)))
    y = marks.number(alt.Y, "value", None, domain=(min(0.0, float(rows.low.min())), 1), padding=6, form="%", ticks=5)
    dotted = alt.Chart(rows).mark_line(strokeDash=[1, 4], strokeWidth=marks.LINE, strokeCap="round", opacity=0.7)
    lines = marks.line_plot(
        rows, x=LAYERS, y=y, theme=theme, color=color, dash=dash, ends=("low", "high"), dots=marks.SEED,
        tooltip=("layer", ("series", "what"), ("value", "", ".1%"), *marks.interval_tips(".1%"), ("chance", "", ".1%")),
    )  # fmt: skip
    chance = dotted.encode(x=LAYERS, y=marks.same_axis(y, "chance"), color=color, detail="series:N")
    ends = line_names(rows, order, y, theme, height=TALL, color=color)
    return marks.panel(
        chance, *lines, *ends, theme=theme, width=marks.THIRD, height=TALL, title=title, below=["dotted: chance"]
    )


def _draw(shown: pd.DataFrame, models: list[str], theme: Theme) -> list[Chart]:
    """Scores of the decoders with intervals, and chance as a dashed line."""
    panels = list(READINGS.values())
    charts = []
    for index, title in enumerate(panels):
        rows = shown[shown.panel == title]
        named = len(models) if index >= len(panels) - 3 and len(models) > 1 else 0
        hue = colour(models, theme, named=named)
        y = marks.number(alt.Y, "value", None, domain=(min(0.0, float(rows.low.min())), 1), padding=6)
        dashed = alt.Chart(rows).mark_line(strokeDash=marks.DASH, opacity=0.8)
        chance = dashed.encode(x=DEPTH, y=marks.same_axis(y, "chance"), color=hue)
        lines = marks.line_plot(
            rows,
            x=DEPTH,
            y=y,
            theme=theme,
            color=hue,
            ends=("low", "high"),
            dots=marks.SEED,
            tooltip=(*TIPS, ("value", "", ".4~g"), *marks.interval_tips(".4~g"), ("chance", "", ".3~g")),
        )
        panel = marks.panel(
            chance,
            *lines,
            theme=theme,
            width=marks.THIRD,
            height=HEIGHT,
            title=title,
            below=["dashed: chance"],
        )
        charts.append(panel)
    return charts
