"""The loss of trained models on texts longer than in training, and the part of what positions save that is left."""

from collections.abc import Hashable, Mapping
from math import nan

import altair as alt
import pandas as pd

from analysis.ablation.variants import VARIANTS, named, quote, way
from analysis.core import colours, frames
from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised, join_names, percent, plural, sentences, span
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import LONGEST_HEADING, Figure, figure
from analysis.figures.training.final_loss import seeds_needed
from analysis.figures.training.line_marks import LOSS, names_at_ends, padded_range
from analysis.figures.training.row_marks import LETTERS, VARIANT, edge_triangles, stripes, way_hues, ways
from analysis.figures.training.trainings import (
    BASELINES,
    ORDERLESS,
    UNIT,
    TrainingParameters,
    command,
    select_trainings,
    title,
)
from analysis.statistics import mean_interval

LENGTHS = (1, 2, 4)
LEAST_GAIN = 0.15
"""Nats that positions must gain in every seed at the training length; the share of a smaller gain that is kept says
little. It is three times the margin below which two losses count as the same."""
WORSE = " (worse)"
"""Stands beside the share of variants that are significantly worse than with no positions."""
NEAR, MOST_NAMED = 0.05, 2
"""The shares that the heading names together lie no further apart than this, and are no more than so many."""
LARGE = 0.5
"""The share of the gain from which the heading says that a variant keeps it."""
LEAST, MOST = -60.0, 140.0
"""The shares, in per cent, at which the axis ends at the latest."""
ARROW = 12
"""Pixels between names and the plot."""
LOSSES, SHARES = 320, 300
"""Pixels of the two panels."""
SIZES = {2: marks.SEED, 4: marks.LARGE_DOT}
"""Length of the texts -> the area of its dot."""
NAMED_LINES = 2
"""The lines that are named because they keep most of what positions gain."""


def learned_table(variant: str) -> bool:
    """True for a variant with a learned table of one row per position; training reaches only the first rows."""
    settings = VARIANTS[variant].settings if variant in VARIANTS else {}
    return settings.get("position") == "learned" or settings.get("untied", "none") != "none"


@figure("training_length", TrainingParameters)
def longer(params: TrainingParameters) -> Figure:
    """Every trained variant's loss at one, two and four times the length of its training.

    Beside it, the share of what it gains over no positions in training that is left on longer texts.

    Raises NoResults where these runs were not evaluated on longer texts, and what `select_trainings` raises.
    """
    trainings = select_trainings(params)
    runs = trainings.curves(*(f"final_loss_{times}x" for times in LENGTHS))
    if runs.empty:
        raise NoResults("These runs were not evaluated on texts longer than in training; run them again.")
    runs = runs.assign(times=runs.metric.str.extract(r"(\d+)x$")[0].astype(int))
    control = ORDERLESS[trainings.objective]
    table = _table(runs, control)
    variants = list(dict.fromkeys(table.variant))
    untrained = [named(name) for name in trainings.variants if name in variants and learned_table(name)]
    controlled = control in variants
    without = set(table.variant[table.kept.isna()]) - {control}
    gainless = [name for name in variants if controlled and name in without and not table.kept.isna().all()]
    return Figure(
        title="Longer texts than in training",
        finding=_finding(table, control, seeds_needed(trainings.preset)),
        frame=lambda: runs[["variant", "seed", "times", "value", "run_id"]].reset_index(drop=True),
        summary=lambda: table[["title", "times", "value", "low", "high", "seeds"]],
        quantity="Validation loss (nats)",
        caption=sentences(
            f"Validation loss in {UNIT} on texts of 1, 2 and 4 times the training length, {trainings.conditions()}"
            + (
                "; above the dashed line, a model would do better without its positions."
                if controlled
                else ", lowest at the longest texts first."
            ),
            "Measured after the last step. Grey: the other variants. "
            f"{capitalised(named(control))} is the "
            "control: it reads no positions, so that its loss changes by what the texts alone do. Share kept: how far "
            f"a variant ends below {named(control)} on the longer texts, over how far it does in training; 100 % is "
            "all of the loss that positions save there, 0 % nothing of it."
            if controlled
            else "",
            f"Lines through dots of shares: 95 % t intervals over seeds ({span(table.seeds)} a variant; none where "
            "there is one)" + ("; the control's mean is held fixed." if controlled else "."),
            f"Without a share, having no gain of {LEAST_GAIN:g} nats in every seed: {join_names(map(named, gainless))}."
            if gainless
            else "",
            "The windows differ from length to length, so compare variants at one length.",
            "Learned tables have rows for the longer texts that no training step reached, so their loss there "
            f"says what untrained rows do: {'; '.join(untrained)}."
            if untrained
            else "",
            trainings.description(variants),
        ),
        alt=f"Lines of validation loss against three text lengths, one per variant: {_in_words(table)}.",
        command=command("training_length", params, trainings, variants),
        provenance=trainings.provenance(variants),
        draw=lambda theme: _draw(table, control, theme),
        columns=2,
    )


def _table(runs: pd.DataFrame, control: str) -> pd.DataFrame:
    """A row per variant and length: its mean loss, and the share of its gain over the control that is left there.

    The variant with the lowest loss at the longest texts stands first.
    """
    means = runs[runs.variant == control].groupby("times").value.mean()
    levels = {int(str(times)): float(mean) for times, mean in means.items()}
    longest = int(runs.times.max())
    records: list[dict[str, object]] = []
    for (variant, times), rows in runs.groupby(["variant", "times"]):
        losses = dict(zip(rows.seed, rows.value, strict=True))
        at_first = runs[(runs.variant == variant) & (runs.times == min(LENGTHS))]
        trained = dict(zip(at_first.seed, at_first.value, strict=True))
        mean, kept = mean_interval(losses), mean_interval(_shares(losses, trained, levels, int(str(times))))
        records.append(
            {
                "variant": variant, "title": title(str(variant)), "times": times, "seeds": len(losses),
                "value": mean.mean, "low": mean.low, "high": mean.high,
                "kept": kept.mean, "kept_low": kept.low, "kept_high": kept.high,
            }
        )  # fmt: skip
    table = pd.DataFrame(records)
    last = table[table.times == longest].set_index("variant").value
    place = table.variant.map(last).fillna(float("inf"))
    return table.assign(place=place).sort_values(["place", "variant", "times"], ignore_index=True)


def _shares(
    losses: Mapping[Hashable, float], trained: Mapping[Hashable, float], levels: Mapping[int, float], times: int
) -> dict[Hashable, float]:
    """Seed -> the share of its gain over the control in training that is left; empty where there is too little to keep.

    levels: the control's mean loss, by length.
    """
    first = levels.get(min(LENGTHS), nan)
    gains = {seed: first - trained[seed] for seed in losses if seed in trained}
    if times not in levels or not gains or min(gains.values()) <= LEAST_GAIN:
        return {}
    return {seed: (levels[times] - losses[seed]) / gain for seed, gain in gains.items()}


def _finding(table: pd.DataFrame, control: str, needed: int) -> str:
    """The variant that keeps most of what positions gain, and the most that any other keeps.

    needed: the seeds that the rules ask for; where some have as many, those with fewer are not ranked.
    """
    times = int(table.times.max())
    last = table[table.times == times]
    texts = f"On texts {times} times as long as in training,"
    every = last[last.kept.notna() & (last.variant != control)].sort_values("kept", ascending=False)
    complete = every[every.seeds >= needed]
    kept = every if complete.empty else complete
    if kept.empty or times == min(LENGTHS):
        if len(last) < 2:
            return ""
        best, worst = last.iloc[0], last.iloc[-1]
        highest = f"{quote(str(worst.title))} highest, at {worst.value:.2f}"
        return f"{texts} {quote(str(best.title))} ends lowest, at {best.value:.2f} nats, and {highest}"
    first, others = kept.iloc[0], kept.iloc[1:]
    if first.kept >= LARGE:
        # Near ones whose interval reaches as far are not told apart from the first.
        near = others[(others.kept_high >= first.kept) & (others.kept >= first.kept - NEAR)].head(MOST_NAMED - 1)
        names = " and ".join(f"{quote(str(row.title))} ({percent(row.kept)})" for row in (first, *frames.rows(near)))
        large = int((kept.kept >= LARGE).sum())
        one = f"{quote(str(first.title))} keeps {percent(first.kept)} of what positions save"
        several = f"{large} of {plural(len(kept), 'variant')} keep most of what positions save, led by {names}"
        said = f"On texts {times} times as long, {several}" if large > 1 else f"{texts} {one}"
        rest, lowest = others[~others.variant.isin(near.variant)], last.sort_values("value").iloc[0]
        if lowest.variant not in {first.variant, *near.variant}:
            said += f"; {named(str(lowest.variant))} ends lowest"
            loss = f", at {lowest.value:.2f} nats"
            said += loss if len(said) + len(loss) <= LONGEST_HEADING else ""
        elif len(rest):
            said += f"; any other at most {percent(max(rest.kept.iloc[0], 0.0))}"
    elif first.kept > 0:
        best = quote(str(first.title))
        said = f"{texts} no variant keeps more than {percent(first.kept)} of what positions save ({best})"
    else:
        said = f"{texts} no variant keeps anything of what positions save"
    unranked = len(every) - len(kept)
    return f"{said} ({unranked} not ranked, having too few seeds)" if unranked else said


def _in_words(table: pd.DataFrame) -> str:
    parts = []
    for name, rows in table.groupby("title", sort=False):
        losses = ", ".join(f"{row.value:.2f} at {row.times}x" for row in frames.rows(rows))
        kept = rows.kept.iloc[-1]
        parts.append(f"{name} {losses}" + (f", {percent(kept)} of the gain kept" if kept == kept else ""))
    return "; ".join(parts)


def _draw(table: pd.DataFrame, control: str, theme: Theme) -> list[Chart]:
    """Losses against the length; and the shares that are kept, a row a variant, where there is a control."""
    shown = table.assign(way=ways(table.variant))
    last = shown[(shown.times == shown.times.max()) & (shown.variant != control) & shown.kept.notna()]
    height = (marks.ROW + 4) * (len(last) or table.variant.nunique()) + 8
    panels = [_losses(shown, control, theme, height=height)]
    if len(last):
        rows = shown[shown.variant.isin(last.variant)]
        order = last.sort_values("kept", ascending=False, kind="stable").title.tolist()
        labels = marks.wrapped_labels(order, LETTERS)
        rows = rows.assign(label=rows.title.map(labels))
        y = marks.labelled_rows([labels[name] for name in order], gap=0, grid=True, whole=True)
        # An arrow at the edge of the plot reaches beyond it.
        y["axis"]["labelPadding"] = ARROW
        panels.append(_kept(rows, y, theme, height=height))
    return panels


def _emphasised(table: pd.DataFrame, control: str) -> list[str]:
    """The variants whose lines have names: the control, adding, and those that keep most or end lowest or highest."""
    last = table[table.times == table.times.max()]
    kept = last[last.kept.notna() & (last.variant != control)].sort_values("kept", ascending=False)
    best = (kept if len(kept) else last).variant.head(NAMED_LINES)
    chosen = {*best, control, *BASELINES.values(), last.variant.iloc[0], last.variant.iloc[-1]}
    return [str(name) for name in last.variant if name in chosen]


def _losses(table: pd.DataFrame, control: str, theme: Theme, *, height: int) -> Chart:
    """A line against the length of the texts for each variant that the text is about; the others are at the right."""
    chosen = _emphasised(table, control)
    low, high = padded_range(table.value[table.variant.isin(chosen)])
    times = sorted(set(table.times))
    y = marks.number(alt.Y, "value", LOSS, domain=(low, high), nice=False, ticks=6)
    x = marks.number(
        alt.X, "times", "length of the texts (times that of the training)", domain=(times[0], times[-1]), log=2,
        values=times, form="d",
    )  # fmt: skip
    tooltip: tuple[marks.Tip, ...] = (
        VARIANT,
        ("times:Q", "times the training length"),
        ("value", "mean validation loss", ".3f"),
        *marks.interval_tips(".3f"),
        "seeds",
    )
    strong = table[table.variant.isin(chosen)]
    others = table.variant.nunique() - len(chosen)
    hues = marks.hues("variant", {name: theme.colour(colours.of_way(way(name))) for name in chosen})
    dashes = marks.dashes("variant", {name: marks.DASH if name == control else [1, 0] for name in chosen})
    layers = marks.line_plot(strong, x=x, y=y, theme=theme, tooltip=tooltip, color=hues, dash=dashes)
    ends = strong[strong.times == times[-1]].assign(
        name=lambda rows: [f"{name} {value:.2f}" for name, value in zip(rows.title, rows.value, strict=True)]
    )
    labels = names_at_ends(ends, "variant", hues, dashes, theme, domain=(low, high), height=height)
    panel = marks.panel(
        alt.layer(*layers), labels, theme=theme, width=LOSSES, height=height,
        title=f"Loss at {join_names(map(str, times))} times the training length",
        below=[
            "; ".join(
                filter(
                    None,
                    (
                        f"{len(chosen)} of {plural(table.variant.nunique(), 'variant')}" if others else "",
                        f"dashed: {title(control)}" if control in chosen else "",
                    ),
                )
            )
            or " "
        ],
    )  # fmt: skip
    return panel.resolve_scale(y="independent")


def _kept(table: pd.DataFrame, y: alt.Y, theme: Theme, *, height: int) -> Chart:
    """The shares kept at the longest texts, with those at texts between as smaller dots."""
    times = sorted(set(table.times))
    longest = int(times[-1])
    rows = table[table.times > times[0]].assign(
        share=lambda rows: 100 * rows.kept,
        share_low=lambda rows: 100 * rows.kept_low,
        share_high=lambda rows: 100 * rows.kept_high,
    )
    last = rows[rows.times == longest]
    most = int(last.seeds.max())
    texts = last.assign(
        written=[
            percent(row.share / 100)
            + (WORSE if row.kept_high < 0 else " (open)" if row.kept < 0 else "")
            + (f" ({plural(row.seeds, 'seed')})" if row.seeds < most else "")
            for row in frames.rows(last)
        ]
    )  # fmt: skip
    texts["short"] = [text.replace(WORSE, "") for text in texts.written]
    drawn = rows[rows.share.notna()]
    ends = pd.concat([drawn.share, drawn.share_low[drawn.times == longest], drawn.share_high[drawn.times == longest]])
    # An interval of two seeds may be ten times as wide as everything else; it then leaves the plot at its edge.
    domain = (max(min(0.0, float(ends.min())), LEAST) - 4, min(float(ends.max()), MOST) + 4)
    x = marks.number(alt.X, "share", ["% kept of the loss", "that positions save"], domain=domain, nice=False,
                     ticks=5)  # fmt: skip
    hue = way_hues(drawn.way, theme, "top", columns=3)
    tooltip: tuple[marks.Tip, ...] = (
        VARIANT,
        ("times:Q", "times the training length"),
        ("share", "% kept", ".0f"),
        *marks.interval_tips(".0f", "share_low", "share_high"),
        "seeds",
    )
    layers: list[Chart] = [stripes(y, theme), marks.rule(theme, x=0)]
    # The rings last, so that no interval runs through them.
    for number in reversed(times[1:]):
        part = drawn[drawn.times == number]
        if len(part):
            layers += marks.row_plot(
                part, x=x, y=y, theme=theme, ends=("share_low", "share_high") if number == longest else None,
                color=hue, size=SIZES.get(int(number), marks.SEED), tooltip=tooltip, filled=number == longest,
            )  # fmt: skip
    # A small triangle at the edge: the interval goes on beyond it.
    at_end = drawn[drawn.times == longest]
    triangles = edge_triangles(
        at_end, at_end.share_low < domain[0], at_end.share_high > domain[1], domain,
        x=x, y=y, theme=theme, color=hue, size=2 * marks.SEED, tooltip=tooltip,
    )  # fmt: skip
    layers += triangles
    cut = "triangle: the interval goes beyond the axis" if triangles else ""
    layers.append(marks.texts_beside(texts[["label", "written", "short"]], y, theme, on_phone="short"))
    between = f"dots: {longest}×, small rings: {join_names(f'{number}×' for number in times[1:-1])}"
    worse = "worse: than without positions" if (last.kept_high < 0).any() else ""
    return marks.panel(
        *layers,
        theme=theme,
        width=SHARES,
        height=height,
        title=f"Share kept on texts {longest} times as long",
        below=[
            f"{between if len(times) > 2 else 'dots'}; {plural(most, 'seed')}",
            *(list(filter(None, (worse, cut))) or " "),
        ],
    )
