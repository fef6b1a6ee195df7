"""Differences under other settings: final losses at other peak learning rates, norms and lengths of training.

A setting is one recipe at one peak learning rate. Variants are compared within a setting only, and once more with each
at the best of its rates. Settings that differ in the number of steps alone have a figure of their own, `advantage`.
"""

from urllib.parse import urlencode

import altair as alt
import pandas as pd

from analysis.ablation.presets import ablate
from analysis.ablation.variants import named, quote
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised, plural, sentences, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.training.row_marks import LETTERS, VARIANT, significant_or_hollow, way_hues, ways
from analysis.figures.training.trainings import (
    BASELINES,
    ORDERLESS,
    UNIT,
    SettingsParameters,
    candidates,
    compared_by_rules,
    diverged_sentence,
    newest,
    title,
    training_commands,
    usual_recipe,
)
from analysis.rules import encoder_rules
from analysis.statistics import PLATEAU_MARGIN, difference, mean_interval

BEST = "each at its best rate"
STUCK = "both stuck"
"""The text of a row in which both variants end on the plateau."""
BEYOND = 1.3
"""The axis ends at so many times the largest difference; intervals that go farther are cut there."""
NAN = float("nan")

TIPS: tuple[marks.Tip, ...] = (
    VARIANT,
    "setting",
    ("rate", "peak learning rate"),
    ("mean", "mean loss", ".3f"),
    ("gap", "difference", "+.3f"),
    *marks.interval_tips("+.3f"),
    "seeds",
)


@figure("training_settings", SettingsParameters)
def settings(params: SettingsParameters) -> Figure:
    """Every variant's final loss at every setting that it shares with the baseline, and its difference there.

    Raises what `candidates` raises, and NoResults where no two variants were run at a second setting.
    """
    frame = candidates(params)
    if frame.diverged.all():
        raise NoResults("Every pre-training with this objective diverged: their losses are no longer numbers.")
    newest_runs, sample = newest(frame[~frame.diverged])
    base = params.baseline or BASELINES[params.objective]
    runs = _labelled(newest_runs)
    runs = runs[runs.setting.isin(runs.setting[runs.variant == base])]
    setting_counts = runs.groupby("variant").setting.nunique()
    runs = runs[runs.variant.isin(setting_counts.index[setting_counts > 1])]
    if runs.variant.nunique() < 2:
        raise NoResults(
            f"{capitalised(named(base))} and another variant have not both been run at a second setting. "
            f"Run them with another "
            f"peak rate, norm or number of steps: {ablate(params.preset, [base, 'tupe_a'], learning_rate=5e-4)}"
        )
    best_runs = _at_best_rate(runs)
    shown = pd.concat([_without_pilots(runs, params), best_runs], ignore_index=True)
    orderless = ORDERLESS[params.objective]
    level = _plateau_level(newest_runs, orderless)
    table = _table(shown, base).assign(stuck=lambda rows: (rows["mean"] > level) & (rows.variant != orderless))
    drawn = table.assign(resolved=(table.low > 0) | (table.high < 0))
    shown_settings = _drawn_settings(runs)
    drawn = drawn[drawn.setting.isin([*shown_settings, BEST])]
    drawn = drawn[drawn.variant.isin(drawn.variant[drawn.setting != BEST])]
    texts = _sentences(table, base)
    if len(stuck := table[table.stuck & (table.setting != BEST)]):
        texts.append(_plateau_sentence(stuck, level, orderless))
    diverged = frame[frame.diverged]
    return Figure(
        title="Final loss at other settings",
        finding=_finding(drawn, base),
        frame=lambda: table,
        caption=sentences(
            f"Final validation loss minus {named(base)}'s at the same setting of recipe {params.preset}, in {UNIT}.",
            f"Paired by seed, and measured on {sample}. Below 0 is better. A group of rows is a setting, named by what "
            "differs from the others.",
            "Filled: the 95 % t interval over seeds lies on one side of zero. Hollow: it does not, or there is one "
            "seed, which has no interval. Intervals far wider than all differences are cut at the edge.",
            "Both stuck: neither uses word order at the end, so that their difference says nothing: both end "
            f"above {level:.2f}, {PLATEAU_MARGIN:g} nats below where {named(orderless)} ends."
            if _tied(drawn, base).any()
            else "",
            f"'{capitalised(BEST)}' shows each variant at the learning rate with the lowest mean loss. That rate was "
            "chosen on the loss shown here, so these losses are optimistic, more so for variants tried at more rates."
            if len(best_runs)
            else "",
            diverged_sentence(diverged, "told") if len(diverged) else "",
        ),
        alt=f"Dots, one row per variant, in a group of rows per setting. {' '.join(texts)}",
        command=_commands(params, runs),
        provenance={
            f"{title(str(row.variant))}, {row.setting}, seed {row.seed}": (
                f"run {row.run_id}, {row.device}, {row.created}, code {row.git_sha}"
            )
            for row in runs.itertuples()
        },
        sentences=tuple(texts),
        draw=lambda theme: _draw(drawn, base, theme),
    )


def _labelled(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with their settings in words, those of the usual recipe's rates first.

    A rate is named where its recipe was run at several, and where the recipe is the usual one.
    """
    usual = runs.recipe == usual_recipe(runs)
    names_rate = usual | (runs.groupby("recipe").rate.transform("nunique") > 1)
    parts = zip(
        runs.told.where(~usual, ""),
        ("peak rate " + runs.rate.replace("", "not recorded")).where(names_rate, ""),
        strict=True,
    )
    labelled = runs.assign(setting=[", ".join(filter(None, pair)) for pair in parts], usual=usual)
    labelled = labelled.assign(peak=pd.to_numeric(runs.rate, errors="coerce"))
    return labelled.sort_values(["usual", "told", "peak", "variant", "seed"], ascending=[False, *[True] * 4])


def _without_pilots(runs: pd.DataFrame, params: SettingsParameters) -> pd.DataFrame:
    """The runs without the pilots of a rate at which the variant was trained with the seeds of the rules, too."""
    if params.preset not in encoder_rules().recipes:
        return runs
    kept = compared_by_rules(runs, params.preset, params.objective)
    return runs[kept | ~kept.groupby([runs.setting, runs.variant]).transform("any")]


def _at_best_rate(runs: pd.DataFrame) -> pd.DataFrame:
    """The usual recipe's runs with each variant at the best of its rates, over the seeds that all its rates share."""
    usual = runs[runs.usual]
    selected = []
    for _, rows in usual.groupby("variant", sort=False):
        losses = rows.pivot(index="seed", columns="rate", values="final").dropna()
        if losses.shape[1] > 1 and len(losses):
            best = losses.mean().idxmin()
            selected.append(rows[(rows.rate == best) & rows.seed.isin(losses.index)])
    if len(selected) < 2:
        return usual.iloc[:0]
    return pd.concat(selected).assign(setting=BEST)


def _table(shown: pd.DataFrame, base: str) -> pd.DataFrame:
    """One row per setting and variant: its mean, and its difference to the baseline over the seeds in common."""
    rows: list[dict[str, object]] = []
    for setting, runs in shown.groupby("setting", sort=False):
        losses = {
            name: dict(zip(variant_runs.seed, variant_runs.final, strict=True))
            for name, variant_runs in runs.groupby("variant")
        }
        rates = runs.groupby("variant").rate.first()
        for name, by_seed in losses.items():
            gap = difference(by_seed, losses[base]) if name != base and base in losses else None
            rows.append(
                {
                    "setting": setting,
                    "variant": name,
                    "title": title(str(name)),
                    "rate": rates[name],
                    "seeds": len(by_seed),
                    "mean": mean_interval(by_seed).mean,
                    "n": gap.n if gap else 0,
                    "gap": gap.mean if gap else NAN,
                    "low": gap.low if gap else NAN,
                    "high": gap.high if gap else NAN,
                }
            )
    return pd.DataFrame(rows)


def _sentences(table: pd.DataFrame, base: str) -> list[str]:
    """A variant's differences to the baseline, apart from the settings at which neither leaves the plateau."""
    compared = table[table.setting != BEST]
    tied = set(compared.setting[compared.stuck & (compared.variant == base)])
    sentences = []
    for name, rows in compared[compared.n > 0].groupby("title", sort=False):
        on_plateau = rows[rows.stuck & rows.setting.isin(tied)]
        off_plateau = rows.drop(on_plateau.index)
        parts = []
        if len(off_plateau):
            nearest = off_plateau.iloc[off_plateau.gap.abs().argmin()]
            extremes = dict.fromkeys((signed(off_plateau.gap.min()), signed(off_plateau.gap.max())))
            text = f"{' to '.join(extremes)} at {plural(len(off_plateau), 'setting')}"
            seeds_text = f" ({nearest.n} seeds)" if nearest.n > 1 else ""
            parts.append(text + (f", nearest 0 at {nearest.setting}{seeds_text}" if len(off_plateau) > 1 else ""))
        if len(on_plateau):
            parts.append(f"both on the plateau at {plural(len(on_plateau), 'setting')}")
        sentences.append(f"{quote(str(name))} minus {named(base)}: {'; '.join(parts)}.")
    return sentences


def _drawn_settings(runs: pd.DataFrame) -> list[str]:
    """The settings that are drawn: those of other lengths are not, where enough remain to compare."""
    lengths = pd.Series([set(changes) == {"steps"} for changes in runs.changed], index=runs.index)
    kept = list(dict.fromkeys(runs.setting[~lengths]))
    return kept if len(kept) > 1 else list(dict.fromkeys(runs.setting))


def _tied(table: pd.DataFrame, base: str) -> pd.Series:
    """True for the comparisons in which neither side has left the plateau."""
    settings = set(table.setting[table.stuck & (table.variant == base)])
    return table.stuck & table.setting.isin(settings) & (table.variant != base)


def _finding(table: pd.DataFrame, base: str) -> str:
    """A sentence on the direction of the comparisons in which a side has left the plateau."""
    tied = _tied(table, base)
    compared = table[table.gap.notna() & ~tied]
    if compared.empty:
        return ""
    lower = int((compared.gap < 0).sum())
    learned = " in which either learns word order" if tied.any() else ""
    names = list(dict.fromkeys(compared.title))
    who = quote(names[0]) if len(names) == 1 else "a variant"
    count = plural(len(compared), "comparison")
    where = f"{lower} of {count}" if 0 < lower < len(compared) else f"all {count}" if len(compared) > 1 else count
    direction = "lower" if lower else "higher"
    return f"In {where}{learned}, {who} ends {direction} than {named(base)}; {_chance(compared)}"


def _chance(compared: pd.DataFrame) -> str:
    """The number of comparisons that are beyond chance, and of those that one seed cannot tell from it."""
    resolved, single = int(compared.resolved.sum()), int((compared.n == 1).sum())
    text = f"{resolved or 'none'} {'is' if resolved < 2 else 'are'} beyond chance"
    return f"{text}, and {single} {'has' if single == 1 else 'have'} one seed" if single else text


def _plateau_level(rows: pd.DataFrame, orderless: str) -> float:
    """The loss above which a variant ends no better than a model without position; NaN if no such model was run."""
    usual = rows[(rows.variant == orderless) & (rows.recipe == usual_recipe(rows))]
    return usual.final.mean() - PLATEAU_MARGIN


def _plateau_sentence(stuck: pd.DataFrame, level: float, orderless: str) -> str:
    """A sentence that lists, for each setting, the variants that are still on the plateau at the end."""
    text = "; ".join(f"{setting}: {', '.join(rows.title)}" for setting, rows in stuck.groupby("setting", sort=False))
    return (
        f"Still on the plateau at the end, with a loss above {level:.2f} ({PLATEAU_MARGIN:g} nats below where "
        f"{named(orderless)} ends), so that a tie says nothing: {text}."
    )


def _commands(params: SettingsParameters, runs: pd.DataFrame) -> str:
    """The commands that train these runs, a line per setting, and the one that recomputes the figure from the store."""
    query = urlencode({name: value for name, value in params.values().items() if value})
    export = f"python -m analysis export '/training?part=settings&{query}' --figure training_settings -o settings.csv"
    return "\n".join([*training_commands(params.preset, runs), export])


def _stuck_in_one_row(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, with one in place of several of a setting in which both variants are stuck: they have no difference."""
    tied = rows[rows.tied]
    count = tied.groupby("setting").title.transform("size")
    last = tied[~tied.duplicated("setting", keep="last")]
    named_together = last.title.where(count[last.index] == 1, count[last.index].astype(str) + " others")
    return pd.concat([rows[~rows.tied], last.assign(title=named_together)]).sort_index(kind="stable")


def _draw(table: pd.DataFrame, base: str, theme: Theme) -> list[Chart]:
    """Differences to the baseline, in a group of rows for each setting, whose title has the baseline's loss there."""
    rows = table[table.n > 0].assign(tied=_tied(table, base))
    if rows.empty:
        rows = table[table.variant != base].assign(tied=False)
    rows = _stuck_in_one_row(rows)
    own = {row.setting: row for row in frames.rows(table[table.variant == base])}
    groups = {
        name: f"{capitalised(name)}: {named(base)} ends at {row.mean:.2f} ({plural(int(row.seeds), 'seed')})"
        for name, row in own.items()
    }
    labels, y, titles, height = marks.grouped_rows(
        rows.title.tolist(), rows.setting.map(groups).tolist(), theme, LETTERS, marks.ROW
    )
    gaps = BEYOND * rows.gap[~rows.tied].dropna()
    room = 0.1 * float(gaps.abs().max()) if len(gaps) else 1.0
    ends = (min([-room, *gaps]), max([room, *gaps]))
    rows = rows.assign(
        label=labels,
        way=ways(rows.variant),
        told_apart=rows.resolved,
        written=[
            STUCK if row.tied else f"{signed(row.gap)}, {plural(int(row.n), 'seed')}" for row in frames.rows(rows)
        ],
    )
    x = marks.number(
        alt.X, "gap", f"nats less than {named(base)} (left) or more (right)", domain=ends, nice=False, ticks=5
    )
    drawn = rows[~rows.tied].drop(columns=["stuck", "tied"])
    layers: list[Chart] = [marks.rule(theme, x=0), titles]
    layers += significant_or_hollow(drawn, x, y, theme, TIPS, color=way_hues(rows.way, theme))
    layers.append(marks.texts_beside(rows[["label", "written"]], y, theme))
    return [
        marks.panel(
            *layers, theme=theme, width=520, height=height, title=f"Difference from {title(base)}",
            below=["filled: beyond chance; hollow: not, or of one seed"]
            + (["both stuck: neither uses word order"] if rows.written.eq(STUCK).any() else []),
        )
    ]  # fmt: skip
