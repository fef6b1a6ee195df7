"""Position and order read from tables: the model's and every encoding's."""

from analysis.core import frames
from analysis.core.formatting import percent
from analysis.figures import marks, panels
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, geometry_figure, stored_rows
from analysis.store import read


@figure("geometry_order", GeometryParameters)
def order(params: GeometryParameters) -> Figure:
    """Position and order read from tables: the model's and every encoding's.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = read.query(
        "SELECT * FROM newest_geometry WHERE (model = ? OR model IS NULL) "
        "AND measure IN ('absolute_position', 'relative_order') ORDER BY measure, model NULLS LAST, subject",
        [model],
    )
    if rows.empty:
        stored_rows(model, "absolute_position")
    titles = read.query("SELECT encoding, title FROM encodings").set_index("encoding").title
    series = rows.subject.map(titles).fillna(rows.subject).where(rows.model.isna(), model)
    rows = rows.assign(series=series)
    row = next(iter(frames.rows(rows[rows.measure == "relative_order"])))
    text = (
        f"{row.series}: which of two rows of the table comes first is decoded correctly in {percent(row.value, 1)} of "
        f"pairs (with the rows permuted, {percent(row.baseline, 1)})."
    )
    return geometry_figure(
        "What position tables say about position and order",
        rows,
        caption=(
            f"With the rows of the table permuted it is {percent(row.baseline, 1)}. The probes of Wang & Chen 2020, "
            "regularised, in 5 folds: ridge regression from a row to its position, and logistic regression from the "
            "difference of two held-out rows to which is first. Bars: 95 % bootstrap intervals over rows. Grey: the "
            "same tables with their rows permuted. Tables have different numbers of rows, so errors in positions "
            "compare between tables of one length only; a fixed encoding is a formula, of 512 rows."
        ),
        alt=text,
        finding=(
            f"Which of two positions comes first can be read from {row.series}'s table in {percent(row.value, 1)} of "
            "pairs"
        ),
        citation_keys=("wang2020what",),
        columns=2,
        draw=lambda theme: [
            panels.dots_over_chance(
                rows[rows.measure == "absolute_position"],
                theme,
                marks.HALF,
                title="Position: mean error",
                value="positions",
            ),
            panels.dots_over_chance(
                rows[rows.measure == "relative_order"],
                theme,
                marks.HALF,
                title="Which of two is first",
                value="accuracy",
                domain=(0, 1),
            ),
        ],
    )
