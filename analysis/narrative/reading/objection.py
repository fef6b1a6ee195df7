"""Step 1: what would have to be wrong with adding a meaning and a place."""

from analysis.core import default_model
from analysis.core.formatting import percent
from analysis.narrative.reading.base import Control, Destination, Picture, Step, Values, register
from analysis.narrative.reading.stored import best_reading, decoded


def says(values: Values) -> str:
    """The words and positions that can be read back from the sum in a real model, by the best of the decoders."""
    rows = decoded(default_model.NAME)
    word, position = best_reading(rows, "word", "top1"), best_reading(rows, "position", "exact")
    scored = rows[(rows.layer == 0) & rows.measure.isin(("top1", "exact")) & rows.target.isin(("word", "position"))]
    decoders = scored.groupby("target").decoder.nunique().max()
    return (
        f"Both can be read back from the sums that enter the first layer of {default_model.NAME}: the best of "
        f"{decoders} simple classifiers, trained on other texts, names the word of {percent(word.value)} of "
        f"{int(word.tokens):,} tokens, and the exact position of {percent(position.value)} of "
        f"{int(position.tokens):,} (only words that occur often)."
    )


register(
    Step(
        place=1,
        name="objection",
        title="Can a meaning and a place be added?",
        text=(
            "The question behind this project makes a physicist's objection: 2 metres and 3 kilograms cannot be added, "
            "they form a pair. So a word and its place should form a pair too: they should be **concatenated**, not "
            "**added**. But a pair is itself a sum once each part has an axis to itself: (2 m, 3 kg) is (2, 0) + "
            "(0, 3). What loses information is not adding but **sharing an axis**. Turn the positions' axis away from "
            "the words' axis: from the first degree on, no two pairs have the same sum, and the angle decides how "
            "close the closest come."
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
