"""The words and positions that decoders read from the sum of word and position, against chance."""

from analysis.ablation.variants import readable
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, estimate, geometry_figure, run_settings, stored_rows

DECODED = {
    "position_nearest_exact": "Position, nearest mean: exact",
    "position_nearest_within_3": "Position, nearest mean: within 3",
    "order_logistic_accuracy": "Which of two is first: accuracy",
    "word_nearest_top1": "Word, nearest mean: top-1",
    "word_ridge_top1": "Word, ridge to embedding: top-1",
    "position_ridge_r2": "Position, ridge: R²",
}


@figure("geometry_decoded", GeometryParameters)
def decoded(params: GeometryParameters) -> Figure:
    """The words and positions that decoders read from the sum word + position, against chance.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "decoded")
    shown = rows[rows.subject.isin(DECODED)].assign(series=lambda x: x.subject.map(DECODED))
    error = estimate(rows, "decoded", "position_ridge_mean_absolute_error")
    exact, word = (estimate(rows, "decoded", name) for name in ("position_nearest_exact", "word_nearest_top1"))
    text = (
        f"From the sums of {readable(model)}, the nearest mean vector names {percent(exact.value)} of the positions "
        f"and {percent(word.value)} of the words (by chance {percent(exact.baseline, 1)} and "
        f"{percent(word.baseline, 1)}); a linear map reads the position to within {error.value:.1f} places on average "
        f"(by chance {error.baseline:.1f})."
    )
    return geometry_figure(
        "Can word and position be read from their sum?",
        rows,
        caption=(
            f"{text} {run_settings(rows)['texts']} artificial texts of words drawn at random from 300, at 64 "
            "positions spread over those that a word can hold; a third of the texts is held out. Bars: 95 % "
            "bootstrap intervals over texts. Grey: chance, a guess that ignores the sum. The page's headline number is "
            "another: discriminants, on states of real text. The nearest mean takes all directions alike, though words "
            "fill some of them; discriminants weigh each by how much it varies within one place."
        ),
        alt=text,
        draw=lambda theme: [
            panels.dots_over_chance(shown, theme, marks.WIDE, value="score on held-out texts", domain=(0, 1))
        ],
    )
