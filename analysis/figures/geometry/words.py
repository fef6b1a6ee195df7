"""Figures of single words: what a position turns them into, which sums nearly meet, and what is read from sums."""

from dataclasses import dataclass

import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, percent
from analysis.core.provenance import model_options
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.data import (
    COMMAND,
    GeometryParameters,
    Panel,
    PanelsContent,
    RunSettings,
    estimate,
    geometry_figure,
    run_settings,
    stored_rows,
)
from analysis.store import read

NAMED = 3
"""Words that are named: those with the smallest margins."""
KINDS = {"raw": "positions as they are", "centred": "positions minus their mean"}
DECODED = {
    "position_nearest_exact": "Position, nearest mean: exact",
    "position_nearest_within_3": "Position, nearest mean: within 3",
    "order_logistic_accuracy": "Which of two is first: accuracy",
    "word_nearest_top1": "Word, nearest mean: top-1",
    "word_ridge_top1": "Word, ridge to embedding: top-1",
    "position_ridge_r2": "Position, ridge: R²",
}


class WordParameters(GeometryParameters):
    """A model, and one of its words; the one that comes nearest to another where none is named."""

    word: str


@dataclass(frozen=True)
class CallsContent:
    """selected: the word that is marked."""

    selected: str


def stored_cases(model: str, measure: str) -> pd.DataFrame:
    """The newest cases of a measure. Raises NoResults."""
    rows = read.query(
        "SELECT * FROM newest_neighbours WHERE model = ? AND measure = ? ORDER BY margin", [model, measure]
    )
    if rows.empty:
        raise NoResults(f"No such words are stored yet for {readable(model)}. Run: {COMMAND} {model_options(model)}")
    return rows


def _searched(config: RunSettings) -> str:
    """The words that were compared with the whole vocabulary, in a phrase."""
    if config["device"] != "cpu" or config["words"] >= config["vocabulary"]:
        return "of the whole vocabulary"
    return f"of {config['words']:,} words drawn at random with any of {config['vocabulary']:,}"


@figure("geometry_kept", GeometryParameters)
def kept_words(params: GeometryParameters) -> Figure[PanelsContent]:
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
        content=PanelsContent([Panel("", "share of words kept", shown, "position added", domain=(lower, 1))]),
    )


@figure("geometry_calls", WordParameters)
def calls(params: WordParameters) -> Figure[CallsContent]:
    """The margin by which every word, at its worst position, stays nearer to itself than to another word.

    Raises NoResults where none is stored of the model, or the word was not searched for.
    """
    model, word = params.model, params.word
    rows = stored_cases(model, "nearest_word").assign(rank=lambda x: range(1, len(x) + 1))
    if word and word not in set(rows.word):
        raise NoResults(f"The word {word!r} was not searched for {readable(model)}; choose one of its {len(rows):,}.")
    selected = rows[rows.word == word].iloc[0] if word else rows.iloc[0]
    lost = rows[rows.margin < 0]
    verb = "turns it into" if selected.margin < 0 else "brings it nearest to"
    text = (
        f"“{selected.word}”: position {selected.position} {verb} “{selected.other_word}”, {selected.distance:.2f} away "
        f"({'nearer' if selected.margin < 0 else 'farther'} by {abs(selected.margin):.2f} than the word itself)."
    )
    return geometry_figure(
        "How near each word comes to another word",
        rows,
        table=rows[["word", "position", "other_word", "distance", "margin", "rank"]],
        finding=f"A position makes {_lost_words(lost)} of {len(rows):,} words look like another word",
        caption=(
            f"{text} {len(rows):,} words of {readable(model)}, each at the one position that brings another word "
            f"nearest, among those that a word can hold. {len(lost) or 'None'} {'falls' if len(lost) < 2 else 'fall'} "
            "below zero, where a word is lost at one position at least. Margin: the distance of word + position to the "
            "nearest other word minus the distance to the word itself, in the units of the table."
        ),
        alt=text,
        content=CallsContent(str(selected.word)),
    )


def _lost_words(lost: pd.DataFrame) -> str:
    """The number of lost words, with their names if they are few."""
    named = f" ({join_names(f'“{name}”' for name in lost.word)})" if 0 < len(lost) <= NAMED else ""
    return f"{len(lost) or 'none'}{named}"


def _exact(rows: pd.DataFrame, pairs: int, model: str, words: str) -> str:
    """A sentence that names the pairs of words over which the nearest sums are exact."""
    if (rows[rows.measure == "collision_complete"].value == 1).any():
        return (
            f"Exact over all pairs of words of {readable(model)} ({words}) and of different positions that a word can "
            f"hold: {pairs:,} pairs of words could come so near, and each was searched."
        )
    return (
        f"Exact over the {pairs:,} nearest pairs of words of {readable(model)} ({words}) and all pairs of different "
        "positions that a word can hold; pairs of words farther apart are not searched."
    )


@figure("geometry_collisions", GeometryParameters)
def collisions(params: GeometryParameters) -> Figure[PanelsContent]:
    """The nearest sums of different words at different positions.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "collision_distance", "collision_ratio", "collision_complete")
    cases = stored_cases(model, "collision").sort_values("distance", ignore_index=True)
    shown = rows[rows.measure == "collision_distance"].assign(series="nearest sums")
    values = shown[["value", "baseline_low", "baseline_high"]]
    domain = (0.97 * float(values.min().min()), 1.03 * float(values.max().max()))
    first, ratio, config = cases.iloc[0], estimate(rows, "collision_ratio", "nearest"), run_settings(rows)
    text = (
        f"The nearest two sums: “{first.word}” at {first.position} and “{first.other_word}” at "
        f"{first.other_position:.0f}, {first.distance:.3f} apart; the next two are {first.margin:.4f} farther apart. "
        f"That is {ratio.value:.2f} times the smallest distance between two words at one position (with the positions "
        f"rotated: {ratio.baseline:.2f})."
    )
    return geometry_figure(
        "Do the sums of different words and positions meet?",
        rows,
        table=cases[["word", "position", "other_word", "other_position", "distance", "margin"]],
        finding=(
            f"{'No two sums meet' if first.distance > 0 else 'Sums meet'}: the nearest two are {first.distance:.3f} "
            f"apart, {ratio.value:.2f} times the smallest distance between two words"
        ),
        caption=(
            f"{text} {_exact(rows, ratio.samples, model, _searched(config))} Grey: the position table rotated at "
            f"random, {config['rotations']} times: mean and 95 % range, which for so few is about the smallest and the "
            "largest. The table (Data) lists the words."
        ),
        alt=text,
        content=PanelsContent([Panel("", "distance of the sums", shown, "pair of sums, nearest first", domain=domain)]),
    )


@figure("geometry_decoded", GeometryParameters)
def decoded(params: GeometryParameters) -> Figure[PanelsContent]:
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
            "bootstrap intervals over texts. Grey: chance, a guess that ignores the sum."
        ),
        alt=text,
        content=PanelsContent([Panel("", "score on held-out texts", shown, domain=(0, 1))]),
    )


@figure("geometry_order", GeometryParameters)
def order(params: GeometryParameters) -> Figure[PanelsContent]:
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
            f"{text} The probes of Wang & Chen 2020, regularised, in 5 folds: ridge regression from a row to its "
            "position, and logistic regression from the difference of two held-out rows to which is first. Bars: 95 % "
            "bootstrap intervals over rows. Grey: the same tables with their rows permuted. Tables have different "
            "numbers of rows, so errors in positions compare between tables of one length only; a fixed encoding is a "
            "formula, of 512 rows."
        ),
        alt=text,
        finding=(
            f"Which of two positions comes first can be read from {row.series}'s table in {percent(row.value, 1)} of "
            "pairs"
        ),
        citation_keys=("wang2020what",),
        content=PanelsContent(
            [
                Panel("Position: mean error", "positions", rows[rows.measure == "absolute_position"]),
                Panel("Which of two is first", "accuracy", rows[rows.measure == "relative_order"], domain=(0, 1)),
            ]
        ),
    )


@figure("geometry_heads", GeometryParameters)
def heads(params: GeometryParameters) -> Figure[PanelsContent]:
    """The overlap of the directions used by word and position in every head, and the loss of one without the other's.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "head_overlap", "head_loss")
    names = {
        "word_position": "Overlap of the directions used",
        "word_without_position": "Word's term lost without position's directions",
        "position_without_word": "Position's term lost without word's directions",
    }
    overlap = rows[rows.measure == "head_overlap"]
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
        content=PanelsContent(
            [
                Panel(title, "overlap" if "Overlap" in title else "share lost", rows[rows.subject == subject])
                for subject, title in names.items()
            ]
        ),
    )
