"""Words that stay the nearest word to themselves, by the position added."""

from analysis.ablation.variants import readable
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, estimate, geometry_figure, run_settings, stored_rows

KINDS = {"raw": "positions as they are", "centred": "positions minus their mean"}


@figure("geometry_kept", GeometryParameters)
def kept_words(params: GeometryParameters) -> Figure:
    """Share of words that stay the nearest word to themselves, by the position added.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "word_kept", "word_kept_everywhere")
    shown = rows[rows.measure == "word_kept"].assign(series=lambda x: x.subject.map(KINDS))
    row, config = estimate(rows, "word_kept_everywhere", "raw"), run_settings(rows)
    lower = min(0.9, float(shown[["low", "value", "baseline_low"]].min().min()))
    text = (
        f"Of {row.samples:,} words of {readable(model)}, {percent(row.value, 1)} are still nearest to themselves "
        f"whichever position is added; with random vectors as long as the positions, {percent(row.baseline, 1)}."
    )
    return geometry_figure(
        "Does adding a position turn one word into another?",
        rows,
        caption=(
            f"{text} Each word + position is compared with all {config['vocabulary']:,} words (Euclidean distance, "
            f"tables before any normalisation). Positions {config['spoken'][0]} to {config['spoken'][1] - 1} can hold "
            "words; the others belong to special tokens. Shaded: 95 % interval for a sample of the vocabulary "
            f"(Wilson). Grey: random directions of the same lengths, {min(config['baseline_words'], row.samples)} "
            "words. A model that knows the position can still recognise a word that is lost here."
        ),
        alt=text,
        draw=lambda theme: [
            panels.curves_over_chance(
                shown, theme, marks.WIDE, value="share of words kept", along="position added", domain=(lower, 1)
            )
        ],
    )
