"""The contrasts of version 3's rules, each of two encoders that differ as its statement says, with their intervals."""

import altair as alt
import pandas as pd

from analysis.core.errors import NoResults
from analysis.core.formatting import plural, sentences, signed
from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.rules import encoder_rules
from analysis.store import read

PARENTS = ("C34", "C36")
"""The claims whose statements are about where positions are told, and how narrow words are."""
NATS = "nats per predicted token"
LABEL_CHARACTERS = 36


@figure("experiments_contrasts", Parameters)
def contrasts(_: Parameters) -> Figure:
    """The difference in final loss of each contrast that some seed has been trained for.

    Raises NoResults where none has.
    """
    found = read.query(
        "SELECT id, statement, pair, effect, low, high, seeds, verdict, line, command FROM statements "
        f"WHERE parent IN {PARENTS} AND unit = '{NATS}' AND rules_sha = ? ORDER BY effect",
        (encoder_rules().sha256,),
    )
    frame = found[found.effect.notna()].reset_index(drop=True)
    if frame.empty:
        raise NoResults(
            "No contrast of these rules has been trained yet. Train both sides, for example: python -m analysis ablate "
            "--preset width128 --variants bert_a,every_layer_attention"
        )
    decided = frame[frame.verdict != "open"]
    needed = len(encoder_rules().seeds)
    strongest = decided.loc[[decided.effect.abs().idxmax()]] if len(decided) else decided
    finding = f"{len(decided)} of {plural(len(found), 'contrast')} are decided"
    for row in strongest.itertuples():
        finding += f"; the largest is {signed(float(str(row.effect)), 2)} nats ({row.pair})"
    return Figure(
        title="Contrasts of the frozen rules",
        finding=finding,
        frame=lambda: frame,
        caption=sentences(
            "Final loss of the first encoder less that of the second, in nats per predicted token, paired by seed; "
            "left of zero, the first ends lower. The statement of each says what differs between them. Lines: 95 % "
            "intervals (Student's t)",
            f"Filled: decided by rules that were frozen before the trainings, with {needed} seeds a side. "
            "Hollow: still open; its interval, if it has one, is of the seeds trained so far",
        ),
        alt="Rows of differences in final loss: "
        + "; ".join(f"{row.pair} {signed(float(str(row.effect)), 2)}, {row.verdict}" for row in frame.itertuples())
        + ".",
        command="\n".join(dict.fromkeys(frame.command)),
        provenance={"rules": f"encoders.toml, SHA-256 {encoder_rules().sha256}"},
        draw=lambda theme: [_rows(frame, theme)],
    )


def _rows(frame: pd.DataFrame, theme: Theme) -> Chart:
    labels = marks.wrapped_labels(list(frame.pair), LABEL_CHARACTERS)
    shown = frame.assign(label=frame.pair.map(labels))
    x = marks.number(alt.X, "effect", "difference in final loss (nats)", ticks=8)
    y = marks.labelled_rows(list(labels.values()), grid=True)
    tips: list[marks.Tip] = [
        "pair",
        ("effect", "difference, nats", "+.3f"),
        *marks.interval_tips("+.3f"),
        "seeds",
        "verdict",
        "statement",
        "id",
    ]
    layers = [marks.rule(theme, x=0)]
    for filled, rows in ((True, shown[shown.verdict != "open"]), (False, shown[shown.verdict == "open"])):
        if len(rows):
            layers += marks.row_plot(
                rows, x=x, y=y, theme=theme, tooltip=tips, filled=filled, color=theme.many(1)[0] if filled else GREY
            )
    height = marks.row_height(list(labels.values()), marks.ROW) * len(labels)
    return marks.panel(*layers, theme=theme, width=520, height=height)
