"""Step 3: the sum as a real model makes it."""

from analysis.core import default_model
from analysis.core.errors import NoResults
from analysis.core.formatting import percent
from analysis.figures.reading.sum import WORDS, input_parts
from analysis.narrative.reading.step import Control, Destination, Picture, Step, Values, register

POSITIONS = (0, 1, 2, 3, 7, 14, 28, 56, 112, 224, 448, 511)


def says(values: Values) -> str:
    """The share of position in the squared length of the first layer's input; the picture draws the other shares.

    Raises NoResults if no position basis is stored.
    """
    rows = input_parts()
    if rows.empty:
        raise NoResults("No position basis is stored yet. Run: python -m analysis measure means --texts TEXT")
    row = rows.iloc[0]
    return (
        f"Position makes up {percent(row.position_share, 1)} of the squared length of the vectors that enter "
        f"{default_model.NAME}'s first layer: the lowest bar has all its parts ({row.windows:,} texts; {row.counted} "
        f"of the {row.length} tokens of each are counted)."
    )


register(
    Step(
        place=3,
        name="sum",
        title="What a real model adds",
        text=(
            "A transformer like BERT keeps three tables: a vector for every word, a vector for every position and a "
            "vector for each of two segments. What enters its first layer is their plain sum, dimension by "
            "dimension, which a LayerNorm then scales. Readers on Stack Exchange worry that the position spoils the "
            "first dimensions of the word; one asks whether a word with a pattern added to it may turn into another "
            "word. Here are the vectors of a real model: pick a word, move it through the text, and see what "
            "changes. (Position 0 is that of the mark [CLS]: in training no word stood there.)"
        ),
        documents=("001", "003"),
        claims=("C02", "C12"),
        pictures=(
            Picture(
                figure="reading_sum",
                controls=(
                    Control(field="word", label="Word", options=lambda: WORDS, slides=False),
                    Control(
                        field="position", label="Position in the text", options=lambda: list(POSITIONS), between=True
                    ),
                ),
            ),
        ),
        says=says,
        more=Destination(
            page="choose",
            says="Position tables of every kind",
            values=lambda values: {"look": "values", "encoding": "learned"},
        ),
    )
)
