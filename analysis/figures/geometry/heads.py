"""The directions that word and position use in every head."""

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.figures import marks, panels
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, geometry_figure, run_settings, stored_rows


@figure("geometry_heads", GeometryParameters)
def heads(params: GeometryParameters) -> Figure:
    """The overlap of the directions used by word and position in every head, and the loss of one without the other's.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "head_overlap", "head_loss")
    names = {
        "word_position": ("Overlap", "of the directions used"),
        "word_without_position": ("Lost of word's term", "without position's directions"),
        "position_without_word": ("Lost of position's term", "without word's directions"),
    }
    overlap = rows[rows.measure == "head_overlap"]
    # From zero, and below it: what is removed may have worked against the rest.
    limits = (min(0.0, float(rows.value.min())) - 0.03, 1.03)
    below = int((overlap.value < overlap.baseline_low).sum())
    text = (
        f"In {below} of {len(overlap)} heads, word and position share fewer directions than in random heads with the "
        f"same singular values; median overlap {overlap.value.median():.2f}, random {overlap.baseline.median():.2f}."
    )
    return geometry_figure(
        "How heads divide their directions between word and position",
        rows,
        caption=(
            f"{text} {readable(model)}, dots are heads. A head's scores come from W_Q W_K^T. Each of its singular "
            "directions has a share in word → word and one in position → position, by the mean square of what it "
            "adds (keys centred, over the probe set). Overlap: the sum of the smaller of the two shares, 1 if both "
            "use the same directions. Lost: what a term loses without the smallest set of directions that holds 90 % "
            "of the other term. Layer 0 uses the sources of method frozen; deeper layers use method mean, where the "
            f"rest (word and context) is compared with position. Grey: 95 % range of {run_settings(rows)['draws']} "
            "random heads with the same singular values."
        ),
        alt=text,
        columns=3,
        draw=lambda theme: [
            _heads(rows[rows.subject == subject], title, below, limits, theme)
            for subject, (title, below) in names.items()
        ],
    )


def _heads(rows: pd.DataFrame, title: str, below: str, limits: tuple[float, float], theme: Theme) -> Chart:
    """A dot a head, layer by layer; random heads as grey bars beside them. limits: of an axis that all panels share."""
    y = marks.number(alt.Y, "value", "share", domain=limits, ticks=6)
    base = alt.Chart(panels.chart_rows(rows)).encode(
        x=marks.categories(alt.X, "layer", "layer"), xOffset=alt.XOffset("head:O")
    )
    random = base.mark_rule(strokeWidth=4, opacity=0.45, color=GREY)
    points = base.mark_point(filled=True, size=marks.SEED, opacity=1, color=theme.series)
    return marks.panel(
        random.encode(y=marks.same_axis(y, "baseline_low"), y2=alt.Y2("baseline_high:Q")),
        points.encode(y=y, tooltip=marks.tips("layer:O", "head:O", *panels.RANDOM)),
        theme=theme,
        width=marks.THIRD,
        height=panels.HEIGHT,
        title=title,
        below=[below],
    )
