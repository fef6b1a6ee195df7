"""Figures of the tables: how many directions they use, and how words and positions lie to one another."""

import numpy as np
import pandas as pd

from analysis.figures.base import Figure, Params, figure
from analysis.figures.geometry import BAND, about, made, model_of, one, rows_of
from analysis.figures.words import percent, signed

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
KINDS = {"raw": "tables as they are", "centred": "less their mean row"}
RAW = "The tables as they enter the sum, before any normalisation, special and unused tokens left out."


def panel(title: str, x: str, y: str, rows: pd.DataFrame, **more: object) -> dict[str, object]:
    """One panel of lines or dots: `series` tells them apart."""
    return {"title": title, "x": x, "y": y, "rows": rows, **more}


@figure("geometry_spectra")
def spectra(params: Params) -> Figure:
    """Share of the energy in the leading directions, and the singular values, of both tables."""
    model = model_of(params)
    found = rows_of(model, "energy_in_top", "singular_value")
    named = found[found.subject.isin(["word_centred", "position_centred"])]
    named = named.assign(series=named.subject.map({"word_centred": "words", "position_centred": "positions"}))
    shares, values = (named[named.measure == m] for m in ("energy_in_top", "singular_value"))
    largest = values.groupby("series").value.transform("max")
    values = values.assign(**{c: values[c] / largest for c in ("value", "baseline", "baseline_low", "baseline_high")})
    told = " ".join(
        f"The {name}' top 20 directions hold {percent(row.value)} of their energy (a random table's "
        f"{percent(row.baseline)})."
        for name, subject in (("words", "word_centred"), ("positions", "position_centred"))
        if (row := one(found, "energy_in_top", subject, 20)) is not None
    )
    return made(
        "geometry_spectra",
        "How many directions words and positions use",
        found,
        caption=(
            f"{told} {model}, {about(found)['vocabulary']:,} words and {about(found)['positions']} positions, mean "
            f"rows taken out. {RAW} "
            f"{BAND.format(draws=about(found)['draws'], of='Gaussian tables of the same shape and norm')}"
        ),
        alt=told,
        content={
            "panels": [
                panel(
                    "Energy in the leading directions", "directions", "share of energy", shares, log=True, domain=[0, 1]
                ),
                panel("Singular values", "number of the direction", "over the largest", values, log=True),
            ]
        },
    )


@figure("geometry_ranks")
def ranks(params: Params) -> Figure:
    """Four ways of counting the directions, beside random tables."""
    model = model_of(params)
    found = rows_of(model, *RANKS)
    found = found.assign(series=found.subject.map(SUBJECTS), panel=found.measure.map(RANKS))
    word, position = (one(found, "effective_rank", f"{name}_centred") for name in ("word", "position"))
    told = " ".join(
        f"Effective rank of the {name}, centred: {row.value:.0f} (random: {row.baseline:.0f})."
        for name, row in (("words", word), ("positions", position))
        if row is not None
    )
    return made(
        "geometry_ranks",
        "Ranks",
        found,
        caption=(
            f"{told} {model}. Effective rank: exp of the entropy of the squared singular values over their sum. Stable "
            "rank: their sum over the largest. Participation ratio: their sum squared over the sum of their squares; "
            f"dimensions used: the same of the energies of the model's own dimensions. Tables whole, so no interval. "
            f"{BAND.format(draws=about(found)['draws'], of='Gaussian tables of the same shape and norm')}"
        ),
        alt=told,
        content={
            "panels": [
                panel(title, "", "directions", found[found.measure == measure]) for measure, title in RANKS.items()
            ]
        },
    )


@figure("geometry_subspaces")
def subspaces(params: Params) -> Figure:
    """Angles, overlap and energies of the leading subspaces of words and positions."""
    model = model_of(params)
    found = rows_of(model, *SUBSPACES)
    found = found[found.subject.isin(KINDS)]
    if found.empty:
        rows_of(model, "abs_cosine")  # Says why, where words and positions are no summands.
    found = found.assign(series=found.subject.map(KINDS))
    row = one(found, "word_energy_in_position", "centred", 20)
    angle = one(found, "principal_angle", "centred", 1)
    told = (
        ""
        if row is None or angle is None
        else f"The positions' 20 leading directions hold {percent(row.value, 1)} of the words' energy; 20 random "
        f"directions hold {percent(row.baseline, 1)} ({percent(row.baseline_low, 1)} to "
        f"{percent(row.baseline_high, 1)}). The smallest angle between the two is {angle.value:.0f} degrees; of random "
        f"subspaces {angle.baseline:.0f}."
    )
    return made(
        "geometry_subspaces",
        "Do words and positions keep apart?",
        found,
        caption=(
            f"{told} {model}. {RAW} Subspaces: the leading right singular vectors of each table. Energy above grey: "
            "words and positions share directions more than chance has it; below: they keep apart. "
            f"{BAND.format(draws=about(found)['draws'], of='subspaces of the same rank and dimension')}"
        ),
        alt=told,
        content={
            "panels": [panel(title, x, y, found[found.measure == name]) for name, (title, x, y) in SUBSPACES.items()]
        },
    )


@figure("geometry_layers")
def layers(params: Params) -> Figure:
    """The same of the hidden states that enter every layer, at one rank."""
    model = model_of(params)
    found = rows_of(model, *list(SUBSPACES)[1:])
    found = found[found.subject == "states"]
    if found.empty:
        rows_of(model, "states")
    ranks = sorted(set(found.along))
    rank = min(ranks, key=lambda r: abs(r - 20))
    found = found[found.along == rank].assign(series="hidden states")
    found = found.assign(along=found.layer)
    inside = found[found.measure == "word_energy_in_position"].sort_values("layer")
    first, last = inside.iloc[0], inside.iloc[-1]
    told = (
        f"The {rank:.0f} leading directions of the position basis hold {percent(first.value, 1)} of the energy of the "
        f"rest where the first layer begins and {percent(last.value, 1)} where the last ends; random ones "
        f"{percent(first.baseline, 1)}."
    )
    return made(
        "geometry_layers",
        "The same from layer to layer",
        found,
        caption=(
            f"{told} {model}, subspaces of rank {rank:.0f}. Positions: the basis of method mean, over windows of a "
            "reference text; words: what is left of the hidden states of the probe set, put together into windows "
            f"({first.samples:,} tokens), without mean and position: word and context. "
            f"{BAND.format(draws=about(found)['draws'], of='subspaces of the same rank and dimension')}"
        ),
        alt=told,
        content={
            "panels": [
                panel(
                    SUBSPACES[name][0], "hidden states entering layer", SUBSPACES[name][2], found[found.measure == name]
                )
                for name in list(SUBSPACES)[1:]
            ]
        },
    )


@figure("geometry_energies")
def energies(params: Params) -> Figure:
    """Energy of every dimension: words against positions."""
    model = model_of(params)
    found = rows_of(model, "dimension_energy", "dimension_correlation")
    wide = found[found.measure == "dimension_energy"].pivot(index="along", columns="subject", values="value")
    if not {"word_centred", "position_centred"} <= set(wide) or "centred" not in set(found.subject):
        rows_of(model, "abs_cosine")
    row = one(found, "dimension_correlation", "centred")
    dots = pd.DataFrame(
        {"dimension": wide.index.astype(int), "word": wide.word_centred, "position": wide.position_centred}
    ).reset_index(drop=True)
    told = (
        f"Rank correlation over {row.samples} dimensions: {signed(row.value)} ({signed(row.low)} to "
        f"{signed(row.high)}); dimensions permuted: {signed(row.baseline_low)} to {signed(row.baseline_high)}."
    )
    # A Gaussian table's dimensions: nearly the same share each.
    chance = found[(found.measure == "dimension_energy") & found.subject.isin(["word_centred", "position_centred"])]
    return made(
        "geometry_energies",
        "Do words stay out of the dimensions that positions use?",
        found,
        caption=(
            f"{told} {model}: each dot is one dimension of the model, with its share of the variance of all words and "
            "of all positions. If words had learnt to leave positions their dimensions, dots would fall from left to "
            "right. Dashed: the share that every dimension has in a random table. Interval by resampling dimensions; a "
            "share of single dimensions says nothing of other directions."
        ),
        alt=told,
        content={"dots": dots, "chance": float(np.mean(chance.baseline))},
    )
