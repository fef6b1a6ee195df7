"""A model's own task under every operation on its positions and terms: sentence similarity, and masked words."""

import json
from dataclasses import dataclass

from analysis.ablation.variants import readable
from analysis.core import default_model, frames
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, signed
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.one_run import stored_facts
from analysis.store import read

CITE = ("reimers2019sbert", "cer2017stsb")
ROWS = {
    "intact": "as trained",
    "separated": "words out of the positions' directions, positions inside",
    "words_kept_out": "words out of the positions' directions",
    "separated_at_random": "both, along random directions",
    "words_kept_out_at_random": "words out of random directions",
    "no_cross_layer_0": "no cross terms at layer 0",
    "no_cross": "no cross terms at any layer",
    "word_only": "word to word alone",
    "position_only": "position to position alone",
    "mean_position": "every position the mean position",
    "no_position": "every position zero",
    "sinusoidal": "sinusoids in place of the table",
    "permuted": "positions in another order",
}
"""Operation -> its description in a few words; in the order of the rows."""
CURVES = {"separated": "their own directions", "separated_at_random": "random directions"}
RANK = 14
"""Directions in all rows of the chart: the effective rank of the default model's table, rounded."""


class SurgeryParameters(Parameters):
    """The sentence encoder that was operated on."""

    model: str


@dataclass(frozen=True)
class SurgeryContent:
    """order: the operations' descriptions, in the order of the rows. curves: operation drawn by rank -> its directions.

    rank: the number of directions in all rows. intact: the correlation of the model as trained.
    """

    order: list[str]
    curves: dict[str, str]
    rank: int
    intact: float


@dataclass(frozen=True)
class MaskedSurgeryContent:
    """order: the operations' descriptions, in the order of the rows."""

    order: list[str]


@figure("surgery", SurgeryParameters)
def surgery(params: SurgeryParameters) -> Figure[SurgeryContent]:
    """Spearman's correlation on STS-B under every operation; and under separation, by the number of directions.

    Raises NoResults if no surgery on the model is stored.
    """
    model = params.model
    result = read.query("SELECT * FROM newest_surgery WHERE model = ? ORDER BY operation, rank, draw", [model])
    if result.empty:
        raise NoResults(
            f"No surgery on the model {model!r} is stored. Surgery works on sentence encoders that add a table of "
            f"positions, such as {default_model.NAME}: python -m analysis measure surgery --help"
        )
    first = result.iloc[0]
    result = result.assign(done=result.operation.map(ROWS))
    columns = ["operation", "done", "rank", "draw", "value", "low", "high", "difference", "difference_low"]
    frame = result[[*columns, "difference_high", "pairs"]]
    mean = result[result["rank"].isna() | (result["rank"] == RANK)].groupby("operation").value.mean()
    text = (
        f"{mean['intact']:.3f} as trained, {mean['separated']:.3f} with words and positions in separate directions "
        f"({RANK} for positions), {mean['separated_at_random']:.3f} with random directions, "
        f"{mean['mean_position']:.3f} with no position"
    )
    config = json.loads(first.config)
    return Figure(
        title="Sentence similarity after every operation",
        finding=(
            f"With words and positions in separate directions the correlation is {mean['separated']:.3f}, compared "
            f"with {mean['intact']:.3f} as trained"
        ),
        frame=lambda: frame,
        caption=(
            f"{readable(first.model)}, sentence similarity on the {first.pairs:,} pairs of STS-B's dev set, no "
            f"training: {text}. Words are kept out of some directions and positions kept inside them, each around its "
            f"mean: up to a rotation, that is a concatenation. Left: the operations, with {RANK} directions where "
            "they have a number of them; dots of one row are random draws. Right: by the number of directions. "
            f"Lines: 95 % bootstrap intervals, {config['resamples']:,} resamples of the pairs."
        ),
        alt=f"Dot plot of Spearman's correlation under {frame.operation.nunique()} operations: {text}.",
        command=(
            f"{first.command}\npython -m analysis query \"SELECT * FROM surgery_effects WHERE model = '{model}'\" --csv"
        ),
        provenance=stored_facts(first, task=f"{first.task}, dev set, {first.pairs:,} pairs"),
        citation_keys=CITE,
        content=SurgeryContent(list(ROWS.values()), CURVES, rank=RANK, intact=float(mean["intact"])),
    )


@figure("masked_surgery", Parameters)
def masked_surgery(_: Parameters) -> Figure[MaskedSurgeryContent]:
    """The loss on masked words of every stored encoder of ours under every operation, minus the intact encoder's.

    Raises NoResults if no surgery on masked words is stored.
    """
    result = read.query("SELECT * FROM newest_masked_surgery ORDER BY model, operation, rank, draw")
    if result.empty:
        raise NoResults(
            "No surgery on a masked language model is stored. Measure it on a text of your own: python -m analysis "
            "measure surgery --help"
        )
    shown = result[result["rank"].isna() | (result["rank"] == RANK)]
    shown = shown.assign(done=shown.operation.map(ROWS), encoder=shown.model.map(readable))
    columns = ["encoder", "operation", "done", "rank", "draw", "value", "difference", "difference_low"]
    frame = shown[[*columns, "difference_high", "pairs"]]
    costs = shown.groupby("operation").difference.mean()
    encoders = sorted(frame.encoder.unique())
    first = shown.iloc[0]
    runs = list(frames.rows(shown.drop_duplicates("run_id")))
    resamples = json.loads(runs[0].config)["resamples"]
    text = (
        f"{signed(costs['separated'])} nats with words and positions in separate directions ({RANK} for positions), "
        f"{signed(costs['separated_at_random'])} with random directions, {signed(costs['no_cross'])} without the "
        f"cross terms, {signed(costs['mean_position'])} with no position"
    )
    return Figure(
        title="Loss on masked words after every operation",
        finding=(
            f"With words and positions in separate directions the loss changes by {signed(costs['separated'])} nats, "
            f"without the cross terms by {signed(costs['no_cross'])}, and with no position by "
            f"{signed(costs['mean_position'])}"
        ),
        frame=lambda: frame,
        caption=(
            f"Difference in loss from the same encoder as trained; right is worse. {join_names(encoders)}; "
            f"{first.pairs:,} windows of held-out text, 15 % of the tokens masked, no training: {text}. Operations as "
            f"above, with {RANK} directions where they have a number of them; dots of one row are encoders and random "
            f"draws. Lines: 95 % bootstrap intervals, paired, {resamples:,} resamples of the windows."
        ),
        alt=f"Dot plot of the change in loss under {frame.operation.nunique()} operations: {text}.",
        command="\n".join(
            [*(run.command for run in runs), 'python -m analysis query "SELECT * FROM masked_surgery_effects" --csv']
        ),
        provenance={
            "models": join_names(f"{run.model} ({run.revision})" for run in runs),
            "runs": join_names(f"{run.run_id}, {run.created}, code {run.git_sha}" for run in runs),
            "device": f"{first.device}, {first['dtype']}",
            "versions": first.versions,
        },
        citation_keys=("devlin2019bert",),
        content=MaskedSurgeryContent([done for name, done in ROWS.items() if name != "intact"]),
    )
