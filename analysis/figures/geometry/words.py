"""Figures of single words: what a position turns them into, which sums nearly meet, and what is read from sums."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.core.errors import NoResults
from analysis.core.formatting import percent
from analysis.core.provenance import model_options
from analysis.figures.figure import Figure, Params, figure
from analysis.figures.geometry.data import MAKE, first_row, geometry_figure, model_of, provenance, rows_of, run_settings
from analysis.figures.geometry.tables import panel
from analysis.store import read

KINDS = {"raw": "positions as they are", "centred": "positions minus their mean"}
READ = {
    "position_nearest_exact": "Position, nearest mean: exact",
    "position_nearest_within_3": "Position, nearest mean: within 3",
    "order_logistic_accuracy": "Which of two is first: accuracy",
    "word_nearest_top1": "Word, nearest mean: top-1",
    "word_ridge_top1": "Word, ridge to embedding: top-1",
    "position_ridge_r2": "Position, ridge: R²",
}


def cases_of(model: str, measure: str) -> pd.DataFrame:
    """The newest cases of a measure. Raises NoResults."""
    rows = read.query(
        "SELECT * FROM newest_neighbours WHERE model = ? AND measure = ? ORDER BY margin", [model, measure]
    )
    if rows.empty:
        raise NoResults(f"No such words are stored yet for {model}. Run: {MAKE} {model_options(model)}")
    return rows


def _searched(config: Mapping[str, Any]) -> str:
    """Which words were set against all."""
    if config["device"] != "cpu" or config["words"] >= config["vocabulary"]:
        return "of the whole vocabulary"
    return f"of {config['words']:,} words drawn at random with any of {config['vocabulary']:,}"


@figure("geometry_kept")
def kept_words(params: Params) -> Figure:
    """Share of words that stay the nearest word to themselves, by the position added."""
    model = model_of(params)
    rows = rows_of(model, "word_kept", "word_kept_everywhere")
    shown = rows[rows.measure == "word_kept"].assign(series=lambda x: x.subject.map(KINDS))
    row, config = first_row(rows, "word_kept_everywhere", "raw"), run_settings(rows)
    least = min(0.9, float(shown[["low", "value", "baseline_low"]].min().min()))
    text = (
        f"Of {row.samples:,} words of {model}, {percent(row.value, 1)} are still nearest to themselves whichever "
        f"position is added; with random vectors as long as the positions, {percent(row.baseline, 1)}."
    )
    return geometry_figure(
        "geometry_kept",
        "Does adding a position turn one word into another?",
        rows,
        caption=(
            f"{text} Word + position against all {config['vocabulary']:,} words (Euclidean distance, tables before any "
            f"normalisation). Positions {config['spoken'][0]} to {config['spoken'][1] - 1} can hold words; the others "
            "are special tokens' own. Shaded: 95 % interval for a sample of the vocabulary (Wilson). Grey: random "
            f"directions of the same lengths, {min(config['baseline_words'], row.samples)} words. A word that is lost "
            "here can still be told apart by a model that knows the position."
        ),
        alt=text,
        content={"panels": [panel("", "position added", "share of words kept", shown, wide=True, domain=[least, 1])]},
    )


@figure("geometry_calls")
def calls(params: Params) -> Figure:
    """How near every word comes to being another, and the picked one."""
    model, word = model_of(params), str(params["word"])
    rows = cases_of(model, "nearest_word").assign(rank=lambda x: range(1, len(x) + 1))
    if word and word not in set(rows.word):
        raise NoResults(f"The word {word!r} was not searched for {model}; choose one of its {len(rows):,}.")
    plain = rows[rows.word.str.fullmatch("[A-Za-z]+")]
    picked = rows[rows.word == word].iloc[0] if word else (rows if plain.empty else plain).iloc[0]
    verb = "turns it into" if picked.margin < 0 else "brings it nearest to"
    text = (
        f"“{picked.word}”: position {picked.position} {verb} “{picked.other_word}”, {picked.distance:.2f} away "
        f"({'nearer' if picked.margin < 0 else 'farther'} by {abs(picked.margin):.2f} than the word itself)."
    )
    columns = ["word", "position", "other_word", "distance", "margin", "rank"]
    table = rows[columns]
    return Figure(
        name="geometry_calls",
        title="The closest call of every word",
        finding=f"A position makes {(rows.margin < 0).sum():,} of {len(rows):,} words look like another word",
        frame=lambda: table,
        caption=(
            f"{text} {len(rows):,} words of {model}, each at the position, of those that a word can hold, that brings "
            f"another word nearest; {(rows.margin < 0).sum():,} fall below zero, where the word is lost at one "
            "position at least. Margin: distance of word + position to the nearest other word less that to the word "
            "itself, in the units of the table."
        ),
        alt=text,
        command="\n".join(dict.fromkeys(rows.command)),
        provenance=provenance(rows),
        content={"rows": table, "picked": picked.word},
    )


def _exact(rows: pd.DataFrame, pairs: int, model: str, words: str) -> str:
    """Over what the nearest sums are exact."""
    if (rows[rows.measure == "collision_complete"].value == 1).any():
        return (
            f"Exact over all pairs of words of {model} ({words}) and of different positions that a word can hold: "
            f"{pairs:,} pairs of words could come so near, and each was searched."
        )
    return (
        f"Exact over the {pairs:,} nearest pairs of words of {model} ({words}) and all pairs of different positions "
        "that a word can hold; pairs of words farther apart are not searched."
    )


@figure("geometry_collisions")
def collisions(params: Params) -> Figure:
    """The nearest sums of different words at different positions."""
    model = model_of(params)
    rows = rows_of(model, "collision_distance", "collision_ratio", "collision_complete")
    cases = cases_of(model, "collision").sort_values("distance", ignore_index=True)
    shown = rows[rows.measure == "collision_distance"].assign(series="nearest sums")
    ends = shown[["value", "baseline_low", "baseline_high"]]
    domain = [0.97 * float(ends.min().min()), 1.03 * float(ends.max().max())]
    first, ratio, config = cases.iloc[0], first_row(rows, "collision_ratio", "nearest"), run_settings(rows)
    text = (
        f"The nearest: “{first.word}” at {first.position} and “{first.other_word}” at {first.other_position:.0f}, "
        f"{first.distance:.3f} apart, the next {first.margin:.4f} farther. That is {ratio.value:.2f} times the least "
        f"distance of two words at one position (rotated: {ratio.baseline:.2f})."
    )
    table = cases[["word", "position", "other_word", "other_position", "distance", "margin"]]
    return Figure(
        name="geometry_collisions",
        title="Do word + position and another word + position meet?",
        finding=(
            f"{'No two sums meet' if first.distance > 0 else 'Sums meet'}: the nearest two are {first.distance:.3f} "
            f"apart, {ratio.value:.2f} times the least distance of two words"
        ),
        frame=lambda: table,
        caption=(
            f"{text} {_exact(rows, ratio.samples, model, _searched(config))} Grey: the position table rotated at "
            f"random, {config['rotations']} times: mean and 95 % range, which of so few is about the smallest and the "
            "largest. "
            "The table (Data) lists the words."
        ),
        alt=text,
        command="\n".join(dict.fromkeys(rows.command)),
        provenance=provenance(rows),
        content={
            "panels": [
                panel("", "pair of sums, nearest first", "distance of the sums", shown, wide=True, domain=domain)
            ]
        },
    )


@figure("geometry_decoded")
def decoded(params: Params) -> Figure:
    """What decoders read from word + position."""
    model = model_of(params)
    rows = rows_of(model, "decoded")
    shown = rows[rows.subject.isin(READ)].assign(series=lambda x: x.subject.map(READ))
    error = first_row(rows, "decoded", "position_ridge_mean_absolute_error")
    exact, word = (first_row(rows, "decoded", name) for name in ("position_nearest_exact", "word_nearest_top1"))
    text = (
        f"From the sums of {model}, the nearest mean vector names {percent(exact.value)} of the positions and "
        f"{percent(word.value)} of the words (chance {percent(exact.baseline, 1)} and {percent(word.baseline, 1)}); a "
        f"linear map reads the position to {error.value:.1f} places on average (chance {error.baseline:.1f})."
    )
    return geometry_figure(
        "geometry_decoded",
        "Can word and position be read from their sum?",
        rows,
        caption=(
            f"{text} Sums of made-up texts, {run_settings(rows)['texts']} of them, of words drawn at random from "
            "300, at 64 "
            "positions spread over those that a word can hold, a third of the texts held out. Bars: 95 % bootstrap "
            "intervals over texts. Grey: chance, a guess that ignores the sum."
        ),
        alt=text,
        content={"panels": [panel("", "", "score on held-out texts", shown, domain=[0, 1], wide=True)]},
    )


@figure("geometry_order")
def order(params: Params) -> Figure:
    """Position and order read from tables: the model's and every encoding's."""
    model = model_of(params)
    own = read.query(
        "SELECT * FROM newest_geometry WHERE (model = ? OR model IS NULL) "
        "AND measure IN ('absolute_position', 'relative_order') ORDER BY measure, model NULLS LAST, subject",
        [model],
    )
    if own.empty:
        rows_of(model, "absolute_position")
    titles = read.query("SELECT encoding, title FROM encodings").set_index("encoding").title
    series = own.subject.map(titles).fillna(own.subject).where(own.model.isna(), model)
    own: Any = own.assign(series=series)
    row: Any = own[own.measure == "relative_order"].iloc[0]
    text = (
        f"{row.series}: of two rows of the table, the first is told in {percent(row.value, 1)} of pairs (rows "
        f"permuted: {percent(row.baseline, 1)})."
    )
    return geometry_figure(
        "geometry_order",
        "What position tables say of position and order",
        own,
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
        content={
            "panels": [
                panel(title, "", axis, own[own.measure == measure], **more)
                for measure, title, axis, more in (
                    ("absolute_position", "Position: mean error", "positions", {}),
                    ("relative_order", "Which of two is first", "accuracy", {"domain": [0, 1]}),
                )
            ]
        },
    )


@figure("geometry_heads")
def heads(params: Params) -> Figure:
    """How much of their directions word and position share in every head, and what removing one's costs the other."""
    model = model_of(params)
    rows = rows_of(model, "head_overlap", "head_loss")
    names = {
        "word_position": "Overlap of the directions used",
        "word_without_position": "Word's term lost without position's directions",
        "position_without_word": "Position's term lost without word's directions",
    }
    overlap = rows[rows.measure == "head_overlap"]
    below = int((overlap.value < overlap.baseline_low).sum())
    text = (
        f"In {below} of {len(overlap)} heads word and position share less of the directions than random heads with the "
        f"same singular values do; median overlap {overlap.value.median():.2f}, random {overlap.baseline.median():.2f}."
    )
    return geometry_figure(
        "geometry_heads",
        "How heads divide their directions between word and position",
        rows,
        caption=(
            f"{text} {model}, dots are heads. A head scores by W_Q W_K^T, whose singular directions are shared out by "
            "the mean square of what each gives to word → word and to position → position (keys centred, over the "
            "probe set). Overlap: sum of the smaller share, 1 if both use the same. Lost: what goes with the fewest "
            "directions that hold 90 % of the other's term. Layer 0: the sources of method frozen; deeper: method "
            f"mean, the rest (word and context) against position. Grey: 95 % range of {run_settings(rows)['draws']} "
            "random "
            "heads with the same singular values."
        ),
        alt=text,
        content={
            "panels": [
                panel(title, "layer", "overlap" if "Overlap" in title else "share lost", rows[rows.subject == subject])
                for subject, title in names.items()
            ]
        },
    )
