"""Sentence similarity of a real model whose sum is cut apart, by the number of directions that positions keep."""

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from analysis.core import default_model
from analysis.core.errors import NoResults
from analysis.core.formatting import percent, plural, ranges
from analysis.figures.figure import Figure, Parameters, figure, whole_number
from analysis.figures.one_run import stored_facts
from analysis.store import read

OWN, RANDOM = "separated", "separated_at_random"
"""The operations: along the positions' own directions, and along directions drawn at random."""
REFERENCES = {"intact": "as trained", "mean_position": "no positions"}
"""Operations that keep no number of directions -> their names. The second gives every token the mean position."""
MOST = 64


def _rows() -> pd.DataFrame:
    return read.query(
        "SELECT * FROM newest_surgery WHERE model = ? AND operation IN (?, ?, ?, ?) ORDER BY operation, rank, draw",
        [default_model.NAME, OWN, RANDOM, *REFERENCES],
    )


def kept_directions() -> list[int]:
    """The numbers of directions, along the positions' own, that were measured; none where no surgery is stored."""
    rows = _rows()
    return [int(rank) for rank in rows[rows.operation == OWN]["rank"]]


class KeptParameters(Parameters):
    """The number of directions that positions keep."""

    kept: Annotated[int, whole_number(1, MOST)]


@dataclass(frozen=True)
class CutContent:
    """frame: operation, rank, draw, value, low, high. kept: the number that stands out.

    value: the similarity at that number; references: the name of a reference -> its similarity.
    """

    frame: pd.DataFrame
    kept: int
    value: float
    references: dict[str, float]


def finding(kept: int, width: int, part: float) -> str:
    """A sentence on the part that is left of what positions give. part: 1 for all of it; at most 0 for none."""
    start = f"With {plural(kept, 'direction')} for positions and {width - kept} for words, the model keeps"
    left = "nothing" if round(100 * part) <= 0 else percent(min(part, 1)) if part < 1 else "all"
    return f"{start} {left} of what positions give it"


@figure("reading_cut", KeptParameters)
def reading_cut(params: KeptParameters) -> Figure[CutContent]:
    """Spearman's correlation on STS-B, separated along the positions' own directions and along random ones.

    Raises NoResults where the surgery is not stored, or not with this number of directions.
    """
    kept = params.kept
    rows = _rows()
    width = read.query("SELECT hidden_size FROM models WHERE model = ?", [default_model.NAME])
    if rows.empty or width.empty:
        raise NoResults(
            f"No surgery on {default_model.NAME} is stored yet. Run: python -m analysis measure surgery --help"
        )
    own, random = rows[rows.operation == OWN], rows[rows.operation == RANDOM]
    here = own[own["rank"] == kept]
    if here.empty:
        raise NoResults(
            f"The model was not cut with {plural(kept, 'direction')} for positions; measured: "
            f"{ranges(own['rank'].astype(int))}. Run: python -m analysis measure surgery --help"
        )
    references = {name: float(rows[rows.operation == key].value.mean()) for key, name in REFERENCES.items()}
    intact, without = references.values()
    row = here.iloc[0]
    value, hidden = float(row.value), int(width.hidden_size.iloc[0])
    at_random = random[random["rank"] == kept]
    beside = (
        f"Along {plural(kept, 'direction')} drawn at random it is {at_random.value.mean():.3f} on average over "
        f"{plural(len(at_random), 'draw')}."
        if len(at_random)
        else f"Random directions were tried in numbers of {ranges(random['rank'].astype(int).unique())}."
    )
    text = (
        f"Similarity is {value:.3f} (95 % interval {row.low:.3f} to {row.high:.3f}); {intact:.3f} as trained, "
        f"{without:.3f} with no positions. {beside}"
    )
    frame = rows[["operation", "rank", "draw", "value", "low", "high"]]
    return Figure(
        title="Sentence similarity when words and positions have directions of their own",
        finding=finding(kept, hidden, (value - without) / (intact - without)),
        frame=lambda: frame,
        caption=(
            f"{text} Rank correlation with people's ratings of {row.pairs:,} pairs of sentences (STS-B's dev set; 1 "
            f"is the best). What positions give is the difference between {default_model.NAME} as trained and the same "
            "model with the mean position at every place. The positions' directions are the leading ones of their "
            "table, strongest first. Band: 95 % interval over the pairs; grey dots: single draws of random directions."
        ),
        alt=(
            "A line of sentence similarity over the number of directions kept for positions, grey dots of random "
            f"directions below it. {text}"
        ),
        command=f"{row.command}\npython -m analysis export '/read?kept={kept}' --figure reading_cut -o reading_cut.csv",
        provenance=stored_facts(row, task=f"{row.task}, dev set, {row.pairs:,} pairs"),
        citation_keys=("reimers2019sbert", "cer2017stsb"),
        content=CutContent(frame=frame, kept=kept, value=value, references=references),
    )
