"""The similarity of every two positions of an encoding against their distance, and in maps position by position."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.core import colours, default_model, frames
from analysis.core.formatting import join_names, percent, plural, sentences
from analysis.encodings import ENCODINGS
from analysis.encodings.measures import by_distance
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.encodings.compared_rows import (
    VISIBLE,
    RowSimilarities,
    RowSimilarityParameters,
    compare_rows,
    kind_of,
    setting,
    similarity_of_rows,
    which_similarity,
)
from analysis.figures.encodings.measures import MEASURES, in_words
from analysis.figures.encodings.sized import (
    SizedEncoding,
    citation_keys,
    colour_limit,
    empty_panel,
    export_command,
    hues_of,
    origins,
    pair,
    sized,
    title_colours,
    untrained,
)
from analysis.figures.figure import Figure, figure
from analysis.figures.heatmap import heatmap
from analysis.figures.panels import names_at

TALL = 330
"""Pixels of a panel's height."""
BELOW = 0.03
"""The free room below the lowest value, as a share of the axis."""
SAME = 1e-9
"""The share of the similarity's variance up to which likeness before and after counts as the same."""
CLOSE = 0.06
"""The share of the height between two ends below which their names would cover one another."""
"""The part of a line's height that it climbs at least where it is marked to rise again: less is hardly seen."""
AT, APART = 0.72, 0.08
"""The part of the axis by which encodings behind the chosen ones are named, and of its height between two names."""
NAME = 0.6
"""The part of the axis that such a name takes at most, on a phone."""
NUMBERS = ("translation_invariance", "monotonicity", "symmetry", "visible_rise")


@figure("encoding_similarity", RowSimilarityParameters)
def similarity(params: RowSimilarityParameters) -> Figure:
    """Similarity against distance."""
    shown = pair(params)
    comparisons = [compare_rows(entry, params.compare) for entry in shown]

    def frame() -> pd.DataFrame:
        return pd.concat(
            pd.DataFrame({"encoding": entry.name, "similarity": comparison.kind, **comparison.profile._asdict()})
            for entry, comparison in zip(shown, comparisons, strict=True)
        ).reset_index(drop=True)

    kinds = {comparison.kind for comparison in comparisons if comparison.profile.distance.size}
    return Figure(
        title="Similarity against distance",
        finding=_finding(shown, comparisons, setting(params, kinds)),
        frame=frame,
        caption=sentences(
            "Line: how alike two positions are on average; band: one standard deviation over the pairs at a distance"
            + "; thin grey: other encodings" * bool(_behind(params, kinds))
            + (
                f"; dashed: where the line first climbs by {percent(VISIBLE)} of its height or more, so that likeness "
                "no longer tells the nearer of two positions"
                if any(np.isfinite(comparison.numbers["visible_rise"]) for comparison in comparisons)
                else ""
            )
            + ".",
            "Every other encoding that is compared in the same way and needs no training is grey, and named under the "
            "pointer."
            if _behind(params, kinds)
            else "",
            "The band is what distance does not account for.",
            "A distance is key minus query, and negative ones are drawn where they differ; the farthest has only one "
            "pair. Measures has the same numbers of every "
            "encoding, at the same setting.",
            " ".join(f"{MEASURES[name].title}: {MEASURES[name].definition}" for name in NUMBERS),
            which_similarity(params),
            *(_comparison_sentence(entry, comparison) for entry, comparison in zip(shown, comparisons, strict=True)),
            "Exact: nothing is sampled.",
        ),
        alt=" ".join(_comparison_alt(entry, comparison) for entry, comparison in zip(shown, comparisons, strict=True)),
        command=export_command("encoding_similarity", params, "compare"),
        provenance=origins(shown),
        citation_keys=citation_keys(shown, "wang2021position"),
        draw=lambda theme: _profile_panels(shown, comparisons, _others(params, kinds), theme),
        columns=max(1, len(kinds)),
    )


@figure("encoding_pairs", RowSimilarityParameters)
def pairs(params: RowSimilarityParameters) -> Figure:
    """The similarity of every pair of positions, in a map for each encoding."""
    shown = pair(params)
    comparisons = [compare_rows(entry, params.compare) for entry in shown]

    kinds = {comparison.kind for comparison in comparisons}

    def frame() -> pd.DataFrame:
        return pd.concat(
            [
                frames.cells(comparison.values, "similarity", query=None, key=None).assign(encoding=entry.name)
                for entry, comparison in zip(shown, comparisons, strict=True)
            ],
            ignore_index=True,
        )[["encoding", "query", "key", "similarity"]]

    return Figure(
        title="Every pair of positions",
        finding=_diagonals(shown, comparisons),
        frame=frame,
        caption=sentences(
            f"How alike two positions are ({setting(params, kinds)}), every query by every key. Where distance alone "
            "decides, every diagonal has one colour.",
            which_similarity(params),
            *(_comparison_sentence(entry, comparison) for entry, comparison in zip(shown, comparisons, strict=True)),
            "Exact: nothing is sampled.",
        ),
        alt=" ".join(_comparison_alt(entry, comparison) for entry, comparison in zip(shown, comparisons, strict=True)),
        command=export_command("encoding_pairs", params, "compare"),
        provenance=origins(shown),
        citation_keys=citation_keys(shown, "wang2021position"),
        draw=lambda theme: _maps(shown, comparisons, theme),
        columns=2,
    )


def _diagonals(shown: Sequence[SizedEncoding], comparisons: Sequence[RowSimilarities]) -> str:
    """A clause on each encoding: how much of its map its diagonals account for."""
    shares = {
        entry.title: comparison.numbers["translation_invariance"]
        for entry, comparison in zip(shown, comparisons, strict=True)
        if np.isfinite(comparison.numbers["translation_invariance"])
    }
    named = [f"{percent(share)} in {title}" for title, share in shares.items()]
    return f"The diagonals account for what varies in the maps: {join_names(named)}" if named else ""


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
        score = (
            "the score that position alone adds, of the first head"
            if "head" in entry.encoding.options
            else "its own score"
        )
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
    """The distance from which similarity first climbs visibly again, in a few words; empty where it is constant."""
    first = comparison.numbers["visible_rise"]
    if np.isnan(first):
        return ""
    if np.isinf(first):
        return f"{entry.title}: similarity nowhere climbs by {percent(VISIBLE)} of its height with distance"
    return (
        f"{entry.title}: similarity first climbs by {percent(VISIBLE)} of its height {plural(int(first), 'token')} away"
    )


def _behind(params: RowSimilarityParameters, kinds: set[str]) -> list[str]:
    """The encodings that stand grey behind the chosen ones: those of their kinds that need no training to be known."""
    left_out = {params.encoding, params.other, *untrained()}
    left_out |= set() if default_model.is_installed() else {"learned"}
    return [name for name in ENCODINGS if name not in left_out and kind_of(name, params.compare) in kinds]


def _others(params: RowSimilarityParameters, kinds: set[str]) -> pd.DataFrame:
    """The mean similarity at every distance of the encodings that are not chosen and are compared in the same way."""
    parts = []
    for name in _behind(params, kinds):
        entry = sized(name, params.length, params.dim)
        kind, values = similarity_of_rows(entry, params.compare)
        profile = by_distance(values)
        parts.append(
            pd.DataFrame({"distance": profile.distance, "mean": profile.mean, "title": entry.title, "kind": kind})
        )
    return pd.concat(parts) if parts else pd.DataFrame(columns=["distance", "mean", "title", "kind"])


def _profile_panels(
    shown: Sequence[SizedEncoding], comparisons: Sequence[RowSimilarities], others: pd.DataFrame, theme: Theme
) -> list[Chart]:
    """Mean and spread against distance, in one panel where the unit is one. others: what stands grey behind them."""
    drawn = [
        (entry, comparison)
        for entry, comparison in zip(shown, comparisons, strict=True)
        if comparison.profile.distance.size
    ]
    kinds = list(dict.fromkeys(comparison.kind for _, comparison in drawn))
    width = marks.WIDE if len(kinds) < 2 else marks.HALF
    profiles = [
        _profiles(
            [(entry, comparison) for entry, comparison in drawn if comparison.kind == kind],
            shown,
            others[others.kind == kind],
            width,
            theme,
        )
        for kind in kinds
    ]
    return profiles or _without_pairs(shown, comparisons, theme)


def _without_pairs(shown: Sequence[SizedEncoding], comparisons: Sequence[RowSimilarities], theme: Theme) -> list[Chart]:
    """A panel in words for each encoding whose rows cannot be compared."""
    return [
        empty_panel(entry, "Every row is zero:", "there is nothing to compare.", theme=theme)
        for entry, comparison in zip(shown, comparisons, strict=True)
        if not comparison.profile.distance.size
    ]


def _maps(shown: Sequence[SizedEncoding], comparisons: Sequence[RowSimilarities], theme: Theme) -> list[Chart]:
    """A map of every pair for each encoding."""
    limits = [1.0 if one.kind.startswith("cosine") else colour_limit(one.values)[0] for one in comparisons]
    return [
        heatmap(
            comparison.values, domain=(-limit, limit), row_title="query position", column_title="key position",
            value_title=comparison.kind, title=entry.title, below=[*entry.lines, *_numbers_below(comparison)],
            side=marks.HALF, height=TALL, theme=theme,
        )
        for entry, comparison, limit in zip(shown, comparisons, limits, strict=True)
        if comparison.profile.distance.size
    ] + _without_pairs(shown, comparisons, theme)  # fmt: skip


def _numbers_below(comparison: RowSimilarities) -> list[str]:
    """Lines under the title of an encoding's map: the numbers on distance and likeness."""
    words = {name: in_words(name, value) for name, value in comparison.numbers.items()}
    return [
        f"{comparison.kind}: by distance alone {words['translation_invariance']}",
        f"nearer is more alike {words['monotonicity']}",
        f"symmetric {words['symmetry']}; rises again: {words['visible_rise']}",
    ]


def _profiles(
    compared: Sequence[tuple[SizedEncoding, RowSimilarities]],
    shown: Sequence[SizedEncoding],
    others: pd.DataFrame,
    width: int,
    theme: Theme,
) -> Chart:
    """The mean similarity at every distance with its spread; a named dashed line where it first visibly rises again.

    others: the encodings that are not chosen, thin and grey behind them. Where the unit is not bounded they are left
    out beyond the chosen ones' range, which they would flatten.
    """
    kind = compared[0][1].kind
    frame = pd.concat(
        pd.DataFrame(comparison.profile._asdict()).assign(title=entry.title) for entry, comparison in compared
    )
    frame = frame.assign(low=frame["mean"] - frame.sd, high=frame["mean"] + frame.sd)
    # The other half would be the same once more.
    mirrored = all(comparison.numbers["symmetry"] > 1 - SAME for _, comparison in compared)
    if mirrored:
        frame, others = frame[frame.distance >= 0], others[others.distance >= 0]
    lowest = min([float(frame.low.min()), 0.0, *others["mean"]])
    domain = (lowest - BELOW * (1 - lowest), 1.0) if kind.startswith("cosine") else alt.Undefined
    if not kind.startswith("cosine"):
        others = others[others["mean"].between(frame.low.min(), frame.high.max())]
    title = "distance in tokens (before and after are alike)" if mirrored else "distance, key minus query (tokens)"
    x = marks.number(alt.X, "distance", title, nice=False, ticks=5)
    y = marks.number(alt.Y, "mean", kind, domain=domain, ticks=7)
    layers = marks.line_plot(
        frame, theme=theme, color=title_colours(shown, theme, key=False), dots=0, ends=("low", "high"), band=True,
        x=x, y=y,
        tooltip=(
            ("title", "encoding"), ("distance:Q", "distance (tokens)"), ("mean", "", ".4~g"),
            ("sd", "standard deviation", ".3~g"), ("pairs", "", ","),
        ),
    )  # fmt: skip
    soft = theme.colour(colours.SOFT)
    behind = marks.line_plot(
        others.assign(series=others.title), x=x, y=y, theme=theme, color=soft, detail="series:N",
        dots=0, width=0.8, tooltip=(("title", "encoding"), ("distance:Q", "distance (tokens)"), ("mean", "", ".4~g")),
    ) if len(others) else []  # fmt: skip
    grey = _apart(others, frame, soft)
    hues = hues_of(shown, theme)
    rises = _rises(compared, hues, float(frame.distance.max()))
    names = [
        *(names_at(grey, x, y, theme) if len(grey) else []),
        *names_at(_line_names(frame, hues, {entry.title: _name_of_line(entry) for entry in shown}), x, y, theme),
    ]
    dashed = alt.Chart(rises).mark_rule(strokeDash=marks.DASH, strokeWidth=1.5)
    return marks.panel(
        *behind,
        *([dashed.encode(x=x, color=alt.Color("hue:N", scale=None))] if len(rises) else []),
        *layers,
        *names,
        *(names_at(rises, x, alt.Y("height:Q", scale=None, axis=None), theme) if len(rises) else []),
        theme=theme,
        width=width,
        height=TALL,
    )


def _apart(others: pd.DataFrame, frame: pd.DataFrame, hue: str) -> pd.DataFrame:
    """The names of the encodings behind the chosen ones, where no other line is near; the pointer names the rest.

    A name ends where the lines do, above all of its line's last part or below it, where fewer points of the chosen
    lines are.
    """
    last = float(frame.distance.max())
    at = round(AT * last)
    taken = list(frame["mean"][frame.distance == at])
    room = APART * float(np.ptp(pd.concat([frame["mean"], others["mean"]])))
    chosen = frame["mean"][frame.distance > (1 - NAME) * last]
    kept = []
    for row in frames.rows(others[others.distance == at]):
        if all(abs(row.mean - height) > room for height in taken):
            line = others["mean"][(others.title == row.title) & (others.distance > (1 - NAME) * last)]
            top, bottom = float(line.max()), float(line.min())
            above = chosen.between(top, top + room).sum() <= chosen.between(bottom - room, bottom).sum()
            place = {"mean": top, "dy": -10} if above else {"mean": bottom, "dy": 10}
            kept.append({"name": row.title, "distance": last} | place)
            taken.append(row.mean)
    return pd.DataFrame(kept).assign(hue=hue, align="right", dx=0)


def _rises(
    compared: Sequence[tuple[SizedEncoding, RowSimilarities]], hues: dict[str, str], last: float
) -> pd.DataFrame:
    """The distances at which the means visibly rise again, with what is written beside each, one above the other.

    At the bottom: near positions are alike, so that no line is there.
    """
    found = [(entry.title, comparison.numbers["visible_rise"]) for entry, comparison in compared]
    rises = sorted([named for named in found if np.isfinite(named[1])], key=lambda named: -named[1])
    return pd.DataFrame(
        [
            {"distance": rise, "height": TALL - 30 - 36 * index, "hue": hues[title], "dy": 0,
             "align": "left" if rise < last / 2 else "right", "dx": 6 if rise < last / 2 else -6,
             "name": f"{title}\nrises again at {rise:.0f}"}
            for index, (title, rise) in enumerate(rises)
        ]
    )  # fmt: skip


def _name_of_line(entry: SizedEncoding) -> str:
    """An encoding's name, and the head whose scores are drawn where each head has its own."""
    return f"{entry.title},\nfirst head" if "head" in entry.encoding.options else entry.title


def _line_names(frame: pd.DataFrame, hues: dict[str, str], names: Mapping[str, str]) -> pd.DataFrame:
    """The lines' names right of their ends; where two ends are near each other, one above and one below them."""
    ends = frame[frame.distance == frame.distance.max()][["title", "distance", "mean"]].reset_index(drop=True)
    close = len(ends) > 1 and float(np.ptp(ends["mean"])) < CLOSE * (float(np.ptp(frame["mean"])) or 1)
    upper = ends.index == int(ends["mean"].argmax())
    return ends.assign(
        name=ends.title.map(names),
        hue=ends.title.map(hues),
        align="left",
        dx=6,
        dy=np.where(upper, -8, 8) if close else 0,
    )
