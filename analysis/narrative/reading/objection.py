"""Step 1: what would have to be wrong with adding a meaning and a place."""

from analysis.core import default_model
from analysis.core.formatting import percent
from analysis.narrative.reading.base import Control, Destination, Step, Values, register
from analysis.narrative.reading.stored import decoded, reading


def says(values: Values) -> str:
    """The words and positions that can be read back from the sum in a real model."""
    rows = decoded(default_model.NAME)
    word = reading(rows, 0, "word", "nearest", "top1")
    position = reading(rows, 0, "position", "nearest", "exact")
    return (
        f"From the sums that enter the first layer of {default_model.NAME}, a simple decoder (the nearest mean) names "
        f"the word of {percent(word.value, 1)} of {int(word.tokens):,} held-out tokens (only words that occur often), "
        f"and the exact position of {percent(position.value, 1)} of {int(position.tokens):,} (95 % confidence interval "
        f"{percent(position.low, 1)} to {percent(position.high, 1)})."
    )


register(
    Step(
        place=1,
        name="objection",
        title="Can a meaning and a place be added?",
        text=(
            "The question that started all this objects as a physicist would: 2 metres and 3 kilograms cannot be "
            "added, they form a pair. So a word and its place should form a pair too: they should be "
            "**concatenated**, not **added**. But a pair is itself a sum once each part has an axis to itself: (2 m, "
            "3 kg) is (2, 0) + (0, 3). What loses information is not adding but **sharing an axis**. Turn the "
            "positions' axis away from the words' axis, and watch for the angle at which every sum can come from one "
            "pair only."
        ),
        documents=("000",),
        claims=("C13",),
        figure="reading_plane",
        controls=(
            Control(
                field="angle",
                label="Angle between the words' axis and the positions' axis",
                options=lambda: [0, 15, 30, 45, 60, 75, 90],
                show=lambda angle: f"{angle}°",
            ),
        ),
        says=says,
        more=Destination(page="depth", says="What can be read back at every layer"),
    )
)
