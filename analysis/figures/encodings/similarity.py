"""The similarity of every two positions of an encoding, against their distance and position by position."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.errors import AddendError
from analysis.core.formatting import join_names, percent, plural, sentences
from analysis.encodings import ENCODINGS, measures
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.encodings.measures import MEASURES, in_words
from analysis.figures.encodings.sized import (
    EncodingPairParameters,
    SizedEncoding,
    citation_keys,
    colour_limit,
    empty_panel,
    export_command,
    hues_of,
    origins,
    pair,
    title_colours,
)
from analysis.figures.figure import Figure, figure
from analysis.figures.heatmap import heatmap
from analysis.figures.panels import names_at

COMPARISONS = {"cosine": "Cosine", "dot": "Dot product"}
TALL = 330
"""Pixels of a panel's height, so that a map of a third of the page's width is about square beside its legend."""
NUMBERS = ("translation_invariance", "monotonicity", "symmetry", "first_rise")


class RowSimilarities(NamedTuple):
    """The similarity of every two positions, and the numbers computed from it."""

    values: np.ndarray  # (query, key); NaN where undefined or not attended to
    kind: str  # cosine similarity, dot product, or score
    profile: measures.ByDistance
    numbers: dict[str, float]


def compare_rows(entry: SizedEncoding, compare: str) -> RowSimilarities:
    """The requested comparison; the encoding's own score where it defines one."""
    if compare not in COMPARISONS:
        raise AddendError(f"The comparison {compare!r} is unknown; choose one of: {', '.join(COMPARISONS)}.")
    return _compare_rows(entry.name, entry.length, entry.dim, compare)


def _compare_rows(name: str, length: int, dim: int, compare: str) -> RowSimilarities:
    encoding = ENCODINGS[name]
    if encoding.make_similarity is not None:
        kind, values = "score", encoding.similarity(length, dim)
    elif compare == "cosine":
        kind, values = "cosine similarity", measures.cosine(encoding.table(length, dim))
    else:
        kind, values = "dot product", encoding.similarity(length, dim)
    values.setflags(write=False)
    numbers = {
        "translation_invariance": measures.translation_invariance(values),
        "monotonicity": measures.monotonicity(values),
        "symmetry": measures.symmetry(values),
        "first_rise": measures.first_rise(values),
    }
    return RowSimilarities(values, kind, measures.by_distance(values), numbers)


class RowSimilarityParameters(EncodingPairParameters):
    """The measure that rows are compared by: a key of `COMPARISONS`."""

    compare: str


@figure("encoding_similarity", RowSimilarityParameters)
def similarity(params: RowSimilarityParameters) -> Figure:
    """Similarity against distance, and position by position."""
    shown = pair(params)
    comparisons = [compare_rows(entry, params.compare) for entry in shown]

    def frame() -> pd.DataFrame:
        return pd.concat(
            pd.DataFrame({"encoding": entry.name, "similarity": comparison.kind, **comparison.profile._asdict()})
            for entry, comparison in zip(shown, comparisons, strict=True)
        ).reset_index(drop=True)

    limits = [
        1.0 if comparison.kind.startswith("cosine") else colour_limit(comparison.values)[0]
        for comparison in comparisons
    ]
    return Figure(
        title="Similarity against distance",
        finding=_finding(shown, comparisons, f"{COMPARISONS[params.compare].lower()} of {params.length} positions"),
        frame=frame,
        caption=sentences(
            "How alike two positions are, by how far apart they stand. The view Measures compares another number of "
            "positions, by dot product, and so has other numbers of the same encoding. "
            "Line: mean over all pairs of positions at that distance (key minus query); band: one standard deviation "
            "over those pairs, of which the farthest distance has only one. Maps: every pair.",
            " ".join(f"{MEASURES[name].title}: {MEASURES[name].definition}" for name in NUMBERS),
            *(_comparison_sentence(entry, comparison) for entry, comparison in zip(shown, comparisons, strict=True)),
            "Exact: nothing is sampled.",
        ),
        alt=" ".join(_comparison_alt(entry, comparison) for entry, comparison in zip(shown, comparisons, strict=True)),
        command=export_command("encoding_similarity", params, "compare"),
        provenance=origins(shown),
        citation_keys=citation_keys(shown, "wang2021position"),
        draw=lambda theme: _panels(shown, comparisons, limits, theme),
        columns=3,
    )


def _finding(shown: Sequence[SizedEncoding], comparisons: Sequence[RowSimilarities], condition: str) -> str:
    """The share of the similarity that distance alone accounts for, in each encoding that has one, and how measured."""
    shares = [
        (percent(comparison.numbers["translation_invariance"]), entry.title)
        for entry, comparison in zip(shown, comparisons, strict=True)
        if np.isfinite(comparison.numbers["translation_invariance"])
    ]
    named = [
        f"{share}{' of how alike two positions are' * (index == 0)} in {title}"
        for index, (share, title) in enumerate(shares)
    ]
    return f"Distance alone accounts for {join_names(named)} ({condition})" if named else ""


def _comparison_sentence(entry: SizedEncoding, comparison: RowSimilarities) -> str:
    if entry.encoding.make_similarity is not None:
        score = "the score that position alone adds, of head 0" if "head" in entry.encoding.options else "its own score"
        text = f"{entry.title}: {score}"
    else:
        text = f"{entry.title}: {comparison.kind} of the rows"
    hidden = int(np.isnan(comparison.values).sum())
    if hidden == comparison.values.size:
        return f"{text}, undefined: every row is zero."
    text += f", {int(comparison.profile.pairs.sum()):,} pairs"
    if hidden:
        text += "; blank where a key comes after the query and is not attended to"
    beyond = 0 if comparison.kind.startswith("cosine") else colour_limit(comparison.values)[1]
    if beyond:
        text += f"; the colours end at ±{colour_limit(comparison.values)[0]:.3g}, beyond which lie {beyond:,} pairs"
    return f"{text}."


def _comparison_alt(entry: SizedEncoding, comparison: RowSimilarities) -> str:
    profile = comparison.profile
    if not profile.distance.size:
        return f"{entry.title}: nothing to compare."
    at_zero = profile.mean[profile.distance == 0][0]
    low = int(profile.mean.argmin())
    numbers = ", ".join(
        f"{MEASURES[name].title.lower()} {in_words(name, comparison.numbers[name])}" for name in NUMBERS
    )
    return (
        f"{entry.title}: mean {comparison.kind} {at_zero:.3g} at distance 0, lowest, {profile.mean[low]:.3g}, "
        f"at distance {profile.distance[low]}; {numbers}."
    )


def first_rise(entry: SizedEncoding, comparison: RowSimilarities) -> str:
    """The distance at which similarity first rises again after falling, in a few words."""
    first = comparison.numbers["first_rise"]
    if np.isnan(first):
        return ""
    if np.isinf(first):
        return f"{entry.title}: similarity never rises with distance"
    return f"{entry.title}: similarity first rises again {plural(int(first), 'token')} away"


def _panels(
    shown: Sequence[SizedEncoding], comparisons: Sequence[RowSimilarities], limits: Sequence[float], theme: Theme
) -> list[Chart]:
    """Mean and spread against distance, in one panel where the unit is one; then a map of every pair, an encoding."""
    drawn = [
        (entry, comparison, limit)
        for entry, comparison, limit in zip(shown, comparisons, limits, strict=True)
        if comparison.profile.distance.size
    ]
    kinds = list(dict.fromkeys(comparison.kind for _, comparison, _ in drawn))
    panels: list[Chart] = [
        _profiles([(entry, comparison) for entry, comparison, _ in drawn if comparison.kind == kind], shown, theme)
        for kind in kinds
    ]
    panels += [
        heatmap(
            comparison.values, domain=(-limit, limit), row_title="query position", column_title="key position",
            value_title=comparison.kind, title=entry.title, below=[*entry.lines, *_numbers_below(comparison)],
            side=marks.THIRD, height=TALL, theme=theme,
        )
        for entry, comparison, limit in drawn
    ]  # fmt: skip
    return panels + [
        empty_panel(entry, "Every row is zero:", "there is nothing to compare.", theme=theme, width=marks.THIRD)
        for entry, comparison in zip(shown, comparisons, strict=True)
        if not comparison.profile.distance.size
    ]


def _numbers_below(comparison: RowSimilarities) -> list[str]:
    """Lines under the title of an encoding's map: the numbers on distance and likeness."""
    words = {name: in_words(name, value) for name, value in comparison.numbers.items()}
    return [
        f"by distance alone {words['translation_invariance']}; nearer is more alike {words['monotonicity']}",
        f"symmetric {words['symmetry']}; first rises again: {words['first_rise']}",
    ]


def _profiles(
    compared: Sequence[tuple[SizedEncoding, RowSimilarities]], shown: Sequence[SizedEncoding], theme: Theme
) -> Chart:
    """The mean similarity at every distance with its spread; a dashed line where it first rises again."""
    kind = compared[0][1].kind
    frame = pd.concat(
        pd.DataFrame(comparison.profile._asdict()).assign(title=entry.title) for entry, comparison in compared
    )
    frame = frame.assign(low=frame["mean"] - frame.sd, high=frame["mean"] + frame.sd)
    domain = (min(float(frame.low.min()), 0.0), 1.0) if kind.startswith("cosine") else alt.Undefined
    x = marks.number(alt.X, "distance", "distance, key minus query (tokens)", nice=False, ticks=5)
    y = marks.number(alt.Y, "mean", kind, domain=domain)
    layers = marks.line_plot(
        frame, theme=theme, color=title_colours(shown, theme, key=False), dots=0, ends=("low", "high"), band=True,
        x=x, y=y,
        tooltip=(
            ("title", "encoding"), ("distance:Q", "distance (tokens)"), ("mean", "", ".4~g"),
            ("sd", "standard deviation", ".3~g"), ("pairs", "", ","),
        ),
    )  # fmt: skip
    rises = [comparison.numbers["first_rise"] for _, comparison in compared]
    layers = [*(marks.rule(theme, x=rise, dash=marks.DASH) for rise in rises if np.isfinite(rise)), *layers]
    names = names_at(_line_names(frame, hues_of(shown, theme)), x, y, theme)
    rising = f"dashed: {'the mean' if len(compared) == 1 else 'each mean'} first rises again"
    below = ["band: one standard deviation", rising if np.isfinite(rises).any() else "no mean ever rises again"]
    title = "Mean over all pairs"
    return marks.panel(*layers, *names, theme=theme, width=marks.THIRD, height=TALL, title=title, below=below)


def _line_names(frame: pd.DataFrame, hues: dict[str, str]) -> pd.DataFrame:
    """The lines' names at the far left: the higher line's above it, the lower line's below it."""
    edge = frame.distance.min() * 0.97
    left = frame[frame.distance <= frame.distance.min() * 0.6]
    ends = left.groupby("title", sort=False).agg(high=("mean", "max"), low=("mean", "min")).reset_index()
    upper = ends.index == int(ends.high.argmax())
    return ends.assign(
        name=ends.title, hue=ends.title.map(hues), distance=edge, mean=np.where(upper, ends.high, ends.low),
        align="left", dx=0, dy=np.where(upper, -12, 14),
    )  # fmt: skip
