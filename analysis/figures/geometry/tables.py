"""Figures of the tables: how many directions they use, and how words and positions lie to one another."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.formatting import percent, signed
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.data import (
    BAND,
    GeometryParameters,
    Panel,
    PanelsContent,
    estimate,
    find_estimate,
    geometry_figure,
    run_settings,
    stored_rows,
)

SUBJECTS = {
    "word": "words",
    "position": "positions",
    "word_centred": "words, centred",
    "position_centred": "positions, centred",
}
RANKS = {
    "effective_rank": "Effective rank",
    "stable_rank": "Stable rank",
    "participation_ratio": "Participation ratio",
    "dimension_participation": "Dimensions used",
}
SUBSPACES = {
    "principal_angle": ("Principal angles", "number of the angle, both of rank 20", "degrees"),
    "subspace_overlap": ("Overlap", "rank of both subspaces", "mean squared cosine"),
    "word_energy_in_position": ("Words' energy among positions", "rank of the positions' subspace", "share"),
    "position_energy_in_word": ("Positions' energy among words", "rank of the words' subspace", "share"),
}
KINDS = {"raw": "tables as they are", "centred": "minus their mean row"}
RAW = "The tables as they enter the sum, before any normalisation, special and unused tokens left out."


@dataclass(frozen=True)
class EnergiesContent:
    """dots: a row per dimension, its shares of the variance of words and of positions. chance: a random one's."""

    dots: pd.DataFrame
    chance: float


@figure("geometry_spectra", GeometryParameters)
def spectra(params: GeometryParameters) -> Figure[PanelsContent]:
    """Share of the energy in the leading directions, and the singular values, of both tables.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "energy_in_top", "singular_value")
    selected = rows[rows.subject.isin(["word_centred", "position_centred"])]
    selected = selected.assign(series=selected.subject.map({"word_centred": "words", "position_centred": "positions"}))
    shares, values = (selected[selected.measure == measure] for measure in ("energy_in_top", "singular_value"))
    largest = values.groupby("series").value.transform("max")
    values = values.assign(
        **{column: values[column] / largest for column in ("value", "baseline", "baseline_low", "baseline_high")}
    )
    text = " ".join(
        f"The {name}' top 20 directions hold {percent(row.value)} of their energy (in a random table, "
        f"{percent(row.baseline)})."
        for name, subject in (("words", "word_centred"), ("positions", "position_centred"))
        if (row := find_estimate(rows, "energy_in_top", subject, 20)) is not None
    )
    return geometry_figure(
        "How many directions words and positions use",
        rows,
        caption=(
            f"{text} {readable(model)}, {run_settings(rows)['vocabulary']:,} words and "
            f"{run_settings(rows)['positions']} positions, with each table's mean row subtracted. {RAW} "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='Gaussian tables of the same shape and norm')}"
        ),
        alt=text,
        content=PanelsContent(
            [
                Panel(
                    "Energy in the leading directions", "share of energy", shares, "directions", domain=(0, 1), log=True
                ),
                Panel("Singular values", "over the largest", values, "number of the direction", log=True),
            ]
        ),
    )


@figure("geometry_ranks", GeometryParameters)
def ranks(params: GeometryParameters) -> Figure[PanelsContent]:
    """Four ways of counting the directions, compared with random tables.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, *RANKS)
    rows = rows.assign(series=rows.subject.map(SUBJECTS), panel=rows.measure.map(RANKS))
    word, position = (find_estimate(rows, "effective_rank", f"{name}_centred") for name in ("word", "position"))
    text = " ".join(
        f"Effective rank of the {name}, centred: {row.value:.0f} (random: {row.baseline:.0f})."
        for name, row in (("words", word), ("positions", position))
        if row is not None
    )
    return geometry_figure(
        "Ranks",
        rows,
        caption=(
            f"{text} {readable(model)}. Effective rank: the exponential of the entropy of the squared singular "
            "values, divided by their sum. Stable rank: their sum divided by the largest. Participation ratio: their "
            "sum squared, divided by the sum of their squares. Dimensions used: the same ratio for the energies of "
            "the model's own dimensions. Every row of the tables is used, so there is no interval. "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='Gaussian tables of the same shape and norm')}"
        ),
        alt=text,
        finding=f"Words spread over about {word.value:.0f} directions, positions over about {position.value:.0f}"
        if word is not None and position is not None
        else "",
        content=PanelsContent(
            [Panel(title, "directions", rows[rows.measure == measure]) for measure, title in RANKS.items()]
        ),
    )


@figure("geometry_subspaces", GeometryParameters)
def subspaces(params: GeometryParameters) -> Figure[PanelsContent]:
    """Angles, overlap and energies of the leading subspaces of words and positions.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, *SUBSPACES)
    rows = rows[rows.subject.isin(KINDS)]
    if rows.empty:
        stored_rows(model, "abs_cosine")  # Says why, where words and positions are no summands.
    rows = rows.assign(series=rows.subject.map(KINDS))
    row = find_estimate(rows, "word_energy_in_position", "centred", 20)
    angle = find_estimate(rows, "principal_angle", "centred", 1)
    text = (
        ""
        if row is None or angle is None
        else f"The positions' 20 leading directions hold {percent(row.value, 1)} of the words' energy; 20 random "
        f"directions hold {percent(row.baseline, 1)} ({percent(row.baseline_low, 1)} to "
        f"{percent(row.baseline_high, 1)}). The smallest angle between the two subspaces is {angle.value:.0f} "
        f"degrees; between random subspaces it is {angle.baseline:.0f} degrees."
    )
    return geometry_figure(
        "Do words and positions use separate directions?",
        rows,
        caption=(
            f"{text} {readable(model)}. {RAW} Subspaces: the leading right singular vectors of each table. Energy "
            "above grey: words and positions share more directions than by chance; below: they share fewer. "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='subspaces of the same rank and dimension')}"
        ),
        alt=text,
        content=PanelsContent(
            [Panel(title, value, rows[rows.measure == name], x) for name, (title, x, value) in SUBSPACES.items()]
        ),
    )


@figure("geometry_layers", GeometryParameters)
def layers(params: GeometryParameters) -> Figure[PanelsContent]:
    """The same of the hidden states that enter every layer, at one rank.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, *list(SUBSPACES)[1:])
    rows = rows[rows.subject == "states"]
    if rows.empty:
        stored_rows(model, "states")
    ranks = sorted(set(rows.along))
    rank = min(ranks, key=lambda r: abs(r - 20))
    rows = rows[rows.along == rank].assign(series="hidden states")
    rows = rows.assign(along=rows.layer)
    overlap = rows[rows.measure == "word_energy_in_position"].sort_values("layer")
    first, last = overlap.iloc[0], overlap.iloc[-1]
    text = (
        f"The {rank:.0f} leading directions of the position basis hold {percent(first.value, 1)} of the words' energy "
        f"before the first layer and {percent(last.value, 1)} after the last; random directions hold "
        f"{percent(first.baseline, 1)}."
    )
    return geometry_figure(
        "Shared directions from layer to layer",
        rows,
        caption=(
            f"{text} {readable(model)}, subspaces of rank {rank:.0f}. Positions: the basis of method mean, over "
            "windows of a reference text; words: the hidden states of the probe set, put together into windows "
            f"({first.samples:,} tokens), with mean and position subtracted, which leaves word and context. "
            f"{BAND.format(draws=run_settings(rows)['draws'], of='subspaces of the same rank and dimension')}"
        ),
        alt=text,
        content=PanelsContent(
            [
                Panel(title, value, rows[rows.measure == name], "hidden states entering layer")
                for name, (title, _, value) in list(SUBSPACES.items())[1:]
            ]
        ),
    )


def _avoid(low: float, high: float) -> str:
    """The verb that describes an interval of a rank correlation: one each for below zero, above zero, and across it."""
    return "keep out of" if high < 0 else "use most" if low > 0 else "neither avoid nor prefer"


@figure("geometry_energies", GeometryParameters)
def energies(params: GeometryParameters) -> Figure[EnergiesContent]:
    """Energy of every dimension: words against positions.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "dimension_energy", "dimension_correlation")
    wide = rows[rows.measure == "dimension_energy"].pivot(index="along", columns="subject", values="value")
    if not {"word_centred", "position_centred"} <= set(wide) or "centred" not in set(rows.subject):
        stored_rows(model, "abs_cosine")
    row = estimate(rows, "dimension_correlation", "centred")
    dots = pd.DataFrame(
        {"dimension": wide.index.astype(int), "word": wide.word_centred, "position": wide.position_centred}
    ).reset_index(drop=True)
    text = (
        f"Rank correlation over {row.samples} dimensions: {signed(row.value)} ({signed(row.low)} to "
        f"{signed(row.high)}); with the dimensions permuted: {signed(row.baseline_low)} to "
        f"{signed(row.baseline_high)}."
    )
    # A Gaussian table's dimensions: nearly the same share each.
    chance = rows[(rows.measure == "dimension_energy") & rows.subject.isin(["word_centred", "position_centred"])]
    return geometry_figure(
        "Do words stay out of the dimensions that positions use?",
        rows,
        caption=(
            f"{text} {readable(model)}: each dot is one dimension of the model, with its share of the variance of all "
            "words and of all positions. If words had learnt to leave some dimensions to positions, the dots would "
            "fall from left to right. Dashed: the share that every dimension has in a random table. Interval by "
            "resampling dimensions; a share of single dimensions says nothing about other directions."
        ),
        alt=text,
        finding=(
            f"Words {_avoid(row.low, row.high)} the dimensions that positions use: rank correlation {signed(row.value)}"
        ),
        content=EnergiesContent(dots, chance=float(np.mean(chance.baseline))),
    )
