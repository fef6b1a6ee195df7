"""A variant's advantage over the baseline against the length of training, in loss and in steps."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.ablation.presets import ablate
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import plural, sentences, signed
from analysis.figures.figure import Figure, figure
from analysis.figures.training.curves import curve
from analysis.figures.training.data import (
    BASELINES,
    SettingsParameters,
    candidates,
    newest,
    title,
    training_commands,
)
from analysis.statistics import difference, steps_ratio
from analysis.statistics.advantage import PowerLaw, power_law
from analysis.store import read

EXTRAPOLATION = 4
"""The fitted line is extrapolated to this many times the longest training."""
POINTS = 40


@dataclass(frozen=True)
class AdvantageContent:
    """pairs: variant, title, steps, seed, gap (nats), run_id; one row per pair of runs.

    lines: title, steps, size (nats), low, high, beyond (what was trained); points of the fitted lines. baseline: its
    title.
    """

    pairs: pd.DataFrame
    lines: pd.DataFrame
    baseline: str


@figure("training_advantage", SettingsParameters)
def advantage(params: SettingsParameters) -> Figure[AdvantageContent]:
    """The difference in final loss, and the share of the baseline's steps, at every length that both have.

    Raises what `candidates` raises, and NoResults where no variant was trained for a second length.
    """
    frame = candidates(params)
    newest_runs, sample = newest(frame[~frame.diverged])
    base = params.baseline or BASELINES[params.objective]
    comparable = newest_runs[[set(changes) <= {"steps"} for changes in newest_runs.changed]]
    pairs = _pairs(comparable, base)
    if pairs.empty:
        raise NoResults(
            f"No variant and {title(base)} have both been trained for a second length with the same seeds. Train them "
            f"for longer: {ablate(params.preset, [base, 'tupe_a'], steps=20_000)}"
        )
    table = _table(pairs, comparable)
    by_variant = {str(name): rows for name, rows in pairs.groupby("variant", sort=False)}
    fits = {name: _fit(rows) for name, rows in by_variant.items()}
    lines = pd.concat([_line(name, rows, fits[name]) for name, rows in by_variant.items()])
    texts = [_summary(str(name), base, rows, fits[str(name)]) for name, rows in table.groupby("variant", sort=False)]
    runs = comparable[comparable.run_id.isin([*pairs.run_id, *pairs.base_id])]
    return Figure(
        title=f"How the advantage over {title(base)} changes with training",
        finding=_doubling(table, fits, base),
        frame=lambda: table,
        caption=sentences(
            "Each length is a separate training with its own learning-rate decay, paired by seed; losses are "
            f"measured on {sample}. Left: the difference in final loss. Dots are seeds; the line is a power law "
            "fitted to their logarithms, with the 95 % confidence interval of its mean, and is dotted beyond the "
            f"longest training, up to {EXTRAPOLATION} times its length. Right: the steps to the baseline's final loss "
            "as a share of the baseline's own steps; diamonds are geometric means with their 95 % confidence interval.",
            "A length with one seed has no interval: it is a single draw. The line describes these lengths and "
            "forecasts nothing: where the baseline has only just left its plateau, most of the difference is its "
            "late start.",
        ),
        alt=f"Two panels against steps of training, on log scales. {' '.join(texts)}",
        command="\n".join(training_commands(params.preset, runs)),
        provenance={
            f"{title(str(row.variant))}, {row.steps:,} steps, seed {row.seed}": f"run {row.run_id}, {row.device}, "
            f"{row.created}, code {row.git_sha}"
            for row in frames.rows(runs)
        },
        content=AdvantageContent(pairs, lines=lines, baseline=title(base)),
        sentences=tuple(texts),
    )


def _pairs(runs: pd.DataFrame, base: str) -> pd.DataFrame:
    """A row per variant, rate, length and seed that the baseline has too, of variants with two lengths or more."""
    keys = ["rate", "steps", "seed"]
    base_runs = runs[runs.variant == base][[*keys, "final", "run_id"]]
    others = runs[runs.variant != base][["variant", *keys, "final", "run_id"]]
    paired = others.merge(base_runs.rename(columns={"final": "base_final", "run_id": "base_id"}), on=keys)
    paired = paired.assign(gap=paired.final - paired.base_final, title=paired.variant.map(title))
    lengths = paired.groupby(["variant", "rate"]).steps.transform("nunique")
    return paired[lengths > 1].sort_values(["variant", "steps", "seed"]).reset_index(drop=True)


def _table(pairs: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """A row per variant and length: the mean difference and the ratio of steps, with their intervals."""
    ids = [*pairs.run_id, *pairs.base_id]
    rows = read.query(
        "SELECT run_id, step, value FROM curves WHERE metric = 'validation_loss' AND run_id IN (SELECT unnest(?)) "
        "ORDER BY run_id, step",
        [ids],
    )
    curves = {run: result for run, group in rows.groupby("run_id") if (result := curve(group)) is not None}
    records: list[dict[str, object]] = []
    for (variant, _), group_pairs in pairs.groupby(["variant", "steps"], sort=False):
        gap = difference(
            dict(zip(group_pairs.seed, group_pairs.final, strict=True)),
            dict(zip(group_pairs.seed, group_pairs.base_final, strict=True)),
        )
        sides = [
            {row.seed: curves[getattr(row, side)] for row in frames.rows(group_pairs)} for side in ("run_id", "base_id")
        ]
        ratio = steps_ratio(*sides)
        records.append(
            {
                "variant": variant,
                "title": title(str(variant)),
                "steps": int(group_pairs.steps.iloc[0]),
                "seeds": gap.n,
                "gap": gap.mean,
                "gap_low": gap.low,
                "gap_high": gap.high,
                "ratio": ratio.ratio,
                "ratio_low": ratio.low,
                "ratio_high": ratio.high,
                "at_least": ratio.is_lower_bound,
            }
        )
    return pd.DataFrame(records)


def _fit(pairs: pd.DataFrame) -> PowerLaw | None:
    """The power law through the size of a variant's differences; None where they are not all on one side."""
    sign = np.sign(pairs.gap.iloc[0])
    if sign == 0 or (np.sign(pairs.gap) != sign).any():
        return None
    return power_law(pairs.steps.tolist(), (sign * pairs.gap).tolist())


def _line(variant: str, pairs: pd.DataFrame, fit: PowerLaw | None) -> pd.DataFrame:
    """Points of the fitted line, within what was trained and beyond."""
    if fit is None:
        return pd.DataFrame(columns=["title", "steps", "size", "low", "high", "beyond"])
    sign, longest = np.sign(pairs.gap.iloc[0]), pairs.steps.max()
    parts = []
    for beyond, limits in ((False, (pairs.steps.min(), longest)), (True, (longest, EXTRAPOLATION * longest))):
        steps = np.geomspace(*limits, POINTS)
        size, low, high = fit.predict(steps)
        bounds = sorted([sign * low, sign * high], key=lambda values: float(values[0]))
        parts.append(
            pd.DataFrame({"steps": steps, "size": sign * size, "low": bounds[0], "high": bounds[1], "beyond": beyond})
        )
    return pd.concat(parts).assign(title=title(variant))


def _doubling(table: pd.DataFrame, fits: dict[str, PowerLaw | None], base: str) -> str:
    """The effect of doubled training on the first variant's difference or, without a fit, its first and last values."""
    variant, fit = next(iter(fits.items()))
    if fit is not None:
        return (
            f"Each doubling of the training multiplies the loss difference of {title(variant)} to {title(base)} by "
            f"{2**fit.exponent:.2f}"
        )
    rows = table[table.variant == variant]
    first, last = rows.iloc[0], rows.iloc[-1]
    return (
        f"The final loss of {title(variant)} differs from that of {title(base)} by {signed(first.gap)} nats after "
        f"{first.steps:,} steps and by {signed(last.gap)} after {last.steps:,}"
    )


def _summary(variant: str, base: str, rows: pd.DataFrame, fit: PowerLaw | None) -> str:
    """The advantage at each length in both units, and how fast it changes."""
    gaps = ", ".join(f"{signed(row.gap)}" for row in frames.rows(rows))
    ratios = ", ".join(f"{'at least ' if row.at_least else ''}{row.ratio:.2f}" for row in frames.rows(rows))
    lengths = ", ".join(f"{row.steps:,}" for row in frames.rows(rows))
    seeds = ", ".join(plural(row.seeds, "seed") for row in frames.rows(rows))
    text = (
        f"{title(variant)} after {lengths} steps ({seeds}): its final loss differs from that of {title(base)} by "
        f"{gaps} nats, and it reaches that loss in {ratios} of the steps."
    )
    if fit is None:
        return f"{text} The sign changes, so no power law is fitted."
    interval = "" if np.isnan(fit.low) else f" (95 % interval {2**fit.low:.2f} to {2**fit.high:.2f})"
    return f"{text} Each doubling of the training multiplies the loss difference by {2**fit.exponent:.2f}{interval}."
