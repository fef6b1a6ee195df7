"""Step 1: what would have to be wrong with adding a meaning and a place."""

import pandas as pd

from analysis.core import default_model
from analysis.core.errors import NoResults
from analysis.core.formatting import percent, sentences
from analysis.narrative.answer.sentences.read_back import RANDOM
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register
from analysis.store import read


def decoded(model: str) -> pd.DataFrame:
    """Scores of decoders on the hidden states of a model: layer, target, decoder, measure, value, low, high, chance.

    A row per layer and measure of the model's newest run. model: a name, or a pattern for SQL's LIKE.
    Raises NoResults where nothing is stored of the model.
    """
    result = read.query("SELECT * FROM newest_decoding WHERE model LIKE ? ORDER BY created, layer", [model])
    if result.empty:
        raise NoResults(f"No decoding of {model} is stored yet. Run: python -m analysis measure decoding --texts TEXT")
    return result[result.run_id == result.run_id.iloc[-1]]


def best_reading(frame: pd.DataFrame, target: str, measure: str) -> pd.Series:
    """The row of `decoded` with the best score on the states that enter the first layer.

    Raises NoResults if there is none.
    """
    rows = frame[(frame.layer == 0) & (frame.target == target) & (frame.measure == measure)]
    if rows.empty:
        raise NoResults(
            f"No {measure} of {target} is stored yet at layer 0. Run: python -m analysis measure decoding --texts TEXT"
        )
    return rows.sort_values("value").iloc[-1]


def says(values: Values) -> str:
    """The words and positions that can be read back from the sum in a real model, by the best of the decoders."""
    rows = decoded(default_model.NAME)
    word, position = best_reading(rows, "word", "top1"), best_reading(rows, "position", "exact")
    scored = rows[(rows.layer == 0) & rows.measure.isin(("top1", "exact")) & rows.target.isin(("word", "position"))]
    decoders = scored.groupby("target").decoder.nunique()
    return sentences(
        f"Both can be read back from the sums that enter the first layer of {default_model.NAME}: simple classifiers "
        f"(the best of {decoders['word']} for words, of {decoders['position']} for positions), trained on other texts, "
        f"name {percent(word.value)} of {int(word.tokens):,} words (those that occur often) and the exact position of "
        f"{percent(position.value)} of {int(position.tokens):,} tokens.",
        at_random(),
    )


def at_random() -> str:
    """The same read from sums of random tables; empty where that is not stored."""
    best = dict(read.query(RANDOM)[["target", "value"]].itertuples(index=False))
    if best.keys() != {"word", "position"}:
        return ""
    return (
        f"Sums of random tables are read back equally well ({percent(best['word'])} and {percent(best['position'])})."
    )


register(
    Step(
        place=1,
        name="objection",
        title="Can a meaning and a place be added?",
        text=(
            "The question that began this project objects as a physicist would: 2 metres and 3 kilograms cannot be "
            "added; they form a pair. So a word and its place should form a pair too: they should be **concatenated**, "
            "not **added**. But a pair is itself a sum once each part has an axis to itself: (2 m, 3 kg) is (2, 0) + "
            "(0, 3). What loses information is not adding but **coinciding sums**. Drag the angle between the two "
            "axes down to 0°: now all steps are alike, and sums coincide. At any other angle every pair has a sum of "
            "its own, though others may lie close. In a real model words and positions share axes: whether sums "
            "coincide there has to be measured."
        ),
        documents=("000",),
        claims=("C13",),
        pictures=(
            Picture(
                figure="reading_plane",
                controls=(
                    Control(
                        field="angle",
                        label="Angle between the two axes",
                        options=lambda: [0, 15, 30, 45, 60, 75, 90],
                        show=lambda angle: f"{angle}°",
                    ),
                ),
            ),
        ),
        says=says,
        more=Destination(page="depth", says="What can be read back at every layer"),
    )
)
