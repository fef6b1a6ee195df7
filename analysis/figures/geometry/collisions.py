"""The nearest sums of different words at different positions."""

import pandas as pd

from analysis.ablation.variants import readable
from analysis.figures import marks, panels
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import (
    GeometryParameters,
    RunSettings,
    estimate,
    geometry_figure,
    run_settings,
    stored_cases,
    stored_rows,
)
from analysis.figures.geometry.margins import spelled


def _searched(config: RunSettings) -> str:
    """The words that were compared with the whole vocabulary, in a phrase."""
    if config["device"] != "cpu" or config["words"] >= config["vocabulary"]:
        return "of the whole vocabulary"
    return f"of {config['words']:,} words drawn at random with any of {config['vocabulary']:,}"


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
def collisions(params: GeometryParameters) -> Figure:
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
        f"The nearest two sums: {spelled(str(first.word))} at {first.position} and {spelled(str(first.other_word))} at "
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
        draw=lambda theme: [
            panels.curves_over_chance(
                shown,
                theme,
                marks.WIDE,
                value="distance of the sums",
                along="pair of sums, nearest first",
                domain=domain,
            )
        ],
    )
