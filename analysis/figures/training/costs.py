"""The costs of each variant: what a step takes, which is measured, and arithmetic and parameters, which are counted.

One figure has the variants of the board of experiments, the other the rest.
"""

import math
from collections.abc import Mapping
from shlex import quote
from typing import NamedTuple

import altair as alt
import pandas as pd

from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS, Variant, named
from analysis.core import colours, frames
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import capitalised, join_names, percent, plural, sentences, signed_or_zero, signed_percent
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.experiments.board_rows import board, judged_presets
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.training.row_marks import VARIANT
from analysis.figures.training.timing import TIMED
from analysis.figures.training.trainings import BASELINES, CAUSAL, MASKED, ORDERLESS, objective, title, usual_baseline
from analysis.rules import training_rules
from analysis.store import read

UNMATCHED, BEFORE_MATCHING = "Why its size differs", "Before sizes are matched"
"""The column that says why, and its name where a preset matches sizes afterwards."""


class Cost(NamedTuple):
    """One measure of cost. format: of its numbers in a table. column: the heading of its column there."""

    title: str
    unit: str
    format: str
    column: str


COSTS = {
    "parameters": Cost("Parameters", "parameters", ",.0f", "Parameters"),
    "trained_parameters": Cost("Trained parameters", "parameters", ",.0f", "Trained parameters"),
    "flops_per_token": Cost("Arithmetic", "FLOPs per token of training", ",.0f", "FLOPs per token"),
    "tokens_per_second": Cost("Speed", "tokens per second", ",.0f", "Tokens per second"),
    "step_ratio": Cost("Step time", "times the baseline's", ".2f", "Step time (× baseline)"),
    "peak_memory_mib": Cost("Peak memory", "MiB", ",.0f", "Peak memory (MiB)"),
}
DRAWN = ("step_ratio", "flops_per_token", "parameters")
"""The measures that differ between variants enough to be drawn; the others stand in the table."""
LOSS = "loss"
"""The column of the final loss, beside those of what it costs."""
MOST_LOSS = 0.35
"""The largest difference of loss, in nats, whose bar is drawn to scale; a longer one fills its room."""
UNJUDGED = "\N{EN DASH}"
"""The final loss of a variant with fewer seeds than the rules ask for."""
CLOCKS = {"process_time": "the processor's time of the process alone", "perf_counter": "by the clock on the wall"}
"""The function of Python's `time` that measured -> the same in words."""
LETTERS, ROW = 19, 26
"""Letters in a line of a label on a phone, and pixels of a row."""
MARGIN, BARS, NUMBERS = 0.05, 0.33, 0.97
"""The left end and the room of bars, and the right end of numbers, as shares of a column."""
OWN_MATRICES = ("own", "added")
"""Values of a variant's setting `untied` that give positions two projections of their own, once for all layers."""
MACHINE = ("tokens_per_second", "step_ratio", "peak_memory_mib")
"""Costs that are measured and depend on the machine; the others are counted, and depend on the model alone."""
HEADINGS = {
    LOSS: "Final loss\nnats",
    "step_ratio": "Step time\nmeasured",
    "flops_per_token": "Arithmetic\ncounted",
    "parameters": "Size\ncounted",
}
"""The headings of the columns."""
NOTABLE = 0.1
"""The share of time beyond which the heading names a variant."""
NAMED = 2
"""The most variants that it names."""


class CostsParameters(Parameters):
    """The preset at whose size the costs were measured."""

    preset: str


@figure("training_costs", CostsParameters)
def costs(params: CostsParameters) -> Figure:
    """Every measure of cost of the variants on the board; the newest measurement of each.

    Raises NoResults where none was measured at the preset.
    """
    rows = stored(params.preset)
    known, recipe = on_board(set(rows.variant), params.preset), board_preset(params.preset)
    where = f"on the board of recipe {recipe}"
    return _figure("What each variant costs", params.preset, rows, known, where, _unmeasured(known, params.preset))


@figure("training_costs_others", CostsParameters)
def others(params: CostsParameters) -> Figure:
    """The same of the variants that are not on the board. Raises NoResults where none was measured."""
    rows = stored(params.preset)
    rest = set(rows.variant) - on_board(set(rows.variant), params.preset)
    if not rest:
        raise NoResults(
            "Every variant whose costs are stored is on the board. Measure others with: python -m analysis measure "
            f"costs --preset {quote(params.preset)}"
        )
    return _figure("What the other variants cost", params.preset, rows, rest, "not on the board")


def board_preset(preset: str) -> str:
    """The recipe whose final losses stand beside the costs of a preset: its own where rules judge it."""
    return preset if preset in judged_presets() else training_rules().preset


def trained_at_size(preset: str) -> bool:
    """True if the recipe whose losses stand beside the costs of a preset was trained at the sizes of that preset.

    Where the one matches sizes by the feed-forward layers and the other does not, a variant's costs are of another
    encoder than its loss.
    """
    recipe = board_preset(preset)
    return recipe == preset or matched(recipe) == matched(preset)


def on_board(measured: set[str], preset: str) -> set[str]:
    """The measured variants on the board whose losses stand beside the costs of a preset; all where it has none."""
    try:
        compared = {row.variant for row in board(board_preset(preset)).rows if row.trained}
    except AddendError:
        return measured
    return measured & compared or measured


def _unmeasured(measured: set[str], preset: str) -> str:
    """A sentence on the variants of the board whose costs are not stored; empty where there are none."""
    try:
        lacking = [
            row.variant for row in board(board_preset(preset)).rows if row.trained and row.variant not in measured
        ]
    except AddendError:
        return ""
    if not lacking:
        return ""
    return f"{plural(len(lacking), 'variant')} of the board without measured costs: {join_names(map(named, lacking))}."


def stored(preset: str) -> pd.DataFrame:
    """The newest measurement of each cost of each variant, with its rounds and its clock; adding first.

    Raises NoResults where there is none.
    """
    rows = read.query(
        f"""
        SELECT c.variant, c.measure, c.value, c.run_id, r.device, r.created, r.git_sha, r.command,
            {TIMED}
        FROM costs c JOIN runs r USING (run_id) WHERE c.preset = ?
        QUALIFY row_number() OVER (PARTITION BY c.variant, c.measure ORDER BY r.created DESC, c.run_id) = 1
        """,
        [preset],
    )
    rows = rows[rows.measure.isin(list(COSTS))]
    if rows.empty:
        raise NoResults(
            f"No costs are stored yet for the preset {preset!r}. Measure them with: "
            f"python -m analysis measure costs --preset {quote(preset)}"
        )
    measured = set(rows.variant)
    order = [name for name in VARIANTS if name in measured] + sorted(measured - set(VARIANTS))
    order.sort(key=lambda name: name != BASELINES[MASKED])
    rows = rows.assign(title=[title(name) for name in rows.variant], place=rows.variant.map(order.index))
    return rows.sort_values(["place", "measure"], ignore_index=True)


def _figure(
    heading: str, preset: str, rows: pd.DataFrame, variants: set[str], where: str, unmeasured: str = ""
) -> Figure:
    """One figure of some variants. rows: of all variants, among which are their baselines.

    unmeasured: a sentence on variants that belong to the figure and have no costs.
    """
    runs = rows.drop_duplicates("run_id")
    wide = rows.pivot(index="variant", columns="measure", values="value").reindex(list(dict.fromkeys(rows.variant)))
    shares = compared(wide)
    shares = shares[shares.index.isin(variants)]
    shown = rows[rows.variant.isin(variants)]
    own = wide[wide.index.isin(variants)]
    losses = _losses(set(own.index), preset)
    causal = any(objective(name) == CAUSAL for name in variants)
    return Figure(
        title=heading,
        finding=_finding(shares, where),
        frame=lambda: shown[["variant", "title", "measure", "value", "run_id", "device", "created"]],
        caption=sentences(
            f"Cost of training at the size of preset {preset}, minus {named(BASELINES[MASKED])}'s, as a share of it; "
            + ("the lowest final loss stands first." if losses else "the longest step stands first."),
            unmeasured,
            "The feed-forward layers are as wide as makes all variants equally large, so that what saves parameters "
            "elsewhere does more arithmetic there."
            if matched(preset)
            else "",
            "Matched are the parameters that training reaches: neither rows of positions beyond its windows nor fixed "
            "tables."
            if matched(preset) and PRESETS[preset].reached
            else "",
            f"Final loss: minus {named(BASELINES[MASKED])}'s, where recipe {board_preset(preset)} has all its seeds; "
            f"a longer bar than {MOST_LOSS:g} nats is cut, with a triangle; {UNJUDGED} for fewer seeds than asked."
            if losses
            else "",
            "Bars of costs share one scale; those of losses have their own." if losses else "",
            how_measured(rows, "step_ratio"),
            how_measured(rows, "flops_per_token"),
            "Parameters are counted.",
            "Causal models, which predict every token, are compared with the causal one." if causal else "",
            _memory(own),
        ),
        alt=_alt(own),
        command=runs.command.iloc[0],
        provenance={
            row.run_id: f"{row.device}, {row.created}, code {row.git_sha}: {row.command}" for row in frames.rows(runs)
        },
        draw=lambda theme: [_draw(shares, losses, theme)],
    )


def how_measured(rows: pd.DataFrame, measure: str) -> str:
    """A sentence on how a cost was counted or timed, by what `stored` gives."""
    found = rows[rows.measure == measure]
    if found.empty:
        return ""
    if measure == "step_ratio":
        machine = f"device: {join_names(sorted(set(found.device.dropna())) or ['not recorded'])}"
        return (
            f"Time is measured ({machine}; {timed(found)}), in turns with that of {named(BASELINES[MASKED])}: the "
            "median, of which no interval is stored."
        )
    return {
        "flops_per_token": "Arithmetic is counted, that of one forward and one backward pass.",
        "parameters": "Parameters are counted, those of positions longer than any training text too.",
        "peak_memory_mib": "Memory is the peak of a process that does nothing else, its libraries included.",
    }[measure]


def timed(rows: pd.DataFrame) -> str:
    """The clock and the number of steps of measurements, in words; the steps where they are stored."""
    clocks = [CLOCKS[str(clock)] for clock in dict.fromkeys(rows.clock)]
    counts = [f"{int(count)} steps" for count in dict.fromkeys(rows.rounds.dropna())]
    return ", ".join([*clocks, *counts])


def matched(preset: str) -> bool:
    """True of a preset that makes all variants equally large."""
    return preset in PRESETS and PRESETS[preset].matched


def _more_arithmetic(rows: pd.DataFrame, preset: str) -> pd.Series:
    """The arithmetic of each matched variant, by name, as a share above adding's; empty where no sizes are matched."""
    counted = rows[rows.measure == "flops_per_token"].set_index("variant").value
    adding = BASELINES[MASKED]
    if not matched(preset) or adding not in counted.index:
        return pd.Series(dtype=float)
    return counted[counted.index.isin([name for name in VARIANTS if VARIANTS[name].match])] / counted[adding] - 1


def _shares(shares: pd.Series) -> str:
    """The least and the most of some shares: `2.4 % to 3.1 %`."""
    return " to ".join(dict.fromkeys(percent(share, 1) for share in (shares.min(), shares.max())))


def less_with_own_matrices(rows: pd.DataFrame, preset: str) -> str:
    """A sentence on the arithmetic of variants with matrices for positions, where matching sizes makes it less."""
    more = _more_arithmetic(rows, preset)
    less = -more[[VARIANTS[name].settings.get("untied") in OWN_MATRICES for name in more.index]]
    if less.empty or less.min() <= 0:
        return ""
    return (
        f"Where positions have matrices of their own, there is {_shares(less)} less arithmetic, since the "
        "feed-forward layers are made smaller by the same number of parameters."
    )


def more_with_narrower_words(rows: pd.DataFrame, preset: str) -> str:
    """A sentence on the arithmetic of variants whose words are narrower, where matching sizes makes it more."""
    more = _more_arithmetic(rows, preset)
    more = more[[_has_narrower_words(VARIANTS[name]) for name in more.index]]
    if more.empty or more.min() <= 0:
        return ""
    return (
        f"Narrower words mean {_shares(more)} more, since the feed-forward layers are made larger by what the table "
        "of words saves."
    )


def more_of_other_causes(rows: pd.DataFrame, preset: str) -> str:
    """Sentences on variants that do more arithmetic than adding at the same size, for causes of their own."""
    more = _more_arithmetic(rows, preset)
    causes = pd.Series({name: _own_cause(VARIANTS[str(name)]) for name in more.index[more > 0]}, dtype=object)
    said = []
    for cause, names in causes[causes != ""].groupby(causes, sort=False).groups.items():
        does = "does" if len(names) == 1 else "do"
        variants = capitalised(" and ".join(named(str(name)) for name in names))
        said.append(f"{variants} {does} {_shares(more[names])} more: {cause}.")
    return " ".join(said)


def _own_cause(variant: Variant) -> str:
    """The cause why a variant does more arithmetic than another of its size, in words; empty if it has none."""
    if variant.settings.get("combine") == "project":
        return (
            "its projection multiplies every token, while a part of the feed-forward width that pays for it, that of "
            "the last layer, would multiply only the tokens to predict"
        )
    if variant.settings.get("untied") == "word":
        return (
            "every layer multiplies the table of positions by the words' matrices, once a step, which takes no "
            "parameters that others would have to match"
        )
    return ""


def _has_narrower_words(variant: Variant) -> bool:
    """True of a variant whose words leave a part of the width to positions, or empty."""
    return not variant.wider and bool(variant.position_share or variant.settings.get("combine") == "concat")


def more_without_positions(rows: pd.DataFrame, preset: str) -> str:
    """A sentence on the arithmetic of a model without positions, where matching sizes makes it more than adding's."""
    without = ORDERLESS[MASKED]
    share = _more_arithmetic(rows, preset).get(without, 0.0)
    if share <= 0:
        return ""
    return (
        f"{named(without)} does {percent(share, 1)} more arithmetic than adding, because sizes are matched: the "
        "parameters that others have in a table of positions go into its feed-forward layers. Rows of a table are "
        "looked up, which takes no arithmetic; a feed-forward layer multiplies."
    )


def _losses(variants: set[str], preset: str) -> dict[str, float]:
    """Variant -> its final loss minus adding's, of those that the rules judge."""
    if not trained_at_size(preset):
        return {}
    try:
        rows = board(board_preset(preset)).judged
    except AddendError:
        return {}
    return {row.variant: row.gap.value for row in rows if row.gap and row.variant in variants}


def cost_table(rows: pd.DataFrame, preset: str) -> pd.DataFrame:
    """The figure's rows as readers see them: a line a variant, with the reason if its size differs from BERT-A's.

    Where the preset matches sizes, the reason is that of the size before, and its column says so.
    """
    wide = rows.pivot(index="variant", columns="measure", values="value").reindex(list(dict.fromkeys(rows.variant)))
    names = [str(name) for name in wide.index]
    written = {
        name: ["" if pd.isna(value) else format(value, cost.format) for value in wide[name]]
        for name, cost in COSTS.items()
        if name in wide
    }
    table = {"Variant": [title(name) for name in names]}
    if "parameters" in wide:
        table["Parameters"] = written.pop("parameters")
        if "bert_a" in wide.index:
            shares = wide.parameters / wide.parameters["bert_a"] - 1
            table["Against adding"] = ["" if pd.isna(share) else percent_of(share) for share in shares]
    table[BEFORE_MATCHING if matched(preset) else UNMATCHED] = [
        VARIANTS[name].size if name in VARIANTS else "" for name in names
    ]
    table |= {COSTS[name].column: values for name, values in written.items()}
    return pd.DataFrame(table)


def percent_of(share: float) -> str:
    """A difference in size, to about two digits; a small one is not printed as none."""
    return "0 %" if share == 0 else signed_percent(share, 0 if abs(share) >= 0.1 else 1 if abs(share) >= 0.0005 else 2)


def _alt(wide: pd.DataFrame) -> str:
    parts = []
    for name, cost in COSTS.items():
        if name in wide and wide[name].notna().any():
            values = wide[name].dropna()
            extremes = (
                f"{format(values.iloc[index], cost.format)} ({named(str(values.index.tolist()[index]))})"
                for index in (values.argmin(), values.argmax())
            )
            parts.append(f"{cost.title}: from {' to '.join(extremes)} {cost.unit}.")
    return f"Bars, one row per variant, one column per measure. {' '.join(parts)}"


def _finding(shares: pd.DataFrame, where: str) -> str:
    """A sentence on the variants whose steps take notably longer than adding's, and on the range of the others."""
    if "step_ratio" not in shares:
        return ""
    times = shares.step_ratio[~shares.index.isin(list(BASELINES.values()))].dropna()
    if times.empty:
        return ""
    base, slow = named(BASELINES[MASKED]), times[times > NOTABLE].sort_values(ascending=False)
    rest = times.drop(slow.index)
    extremes = list(dict.fromkeys(signed_percent(share) for share in (rest.min(), rest.max()))) if len(rest) else []
    between = f"between {' and '.join(extremes)}" if len(extremes) > 1 else f"at {''.join(extremes)}"
    longer = f"over {percent(NOTABLE)} longer a step than {base} (newest timing)"
    count = plural(len(times), "variant")
    if slow.empty:
        return f"None of {count} {where} takes {longer}: they lie {between}"
    if len(slow) <= NAMED:
        which = join_names(f"{named(str(name))} ({signed_percent(share)})" for name, share in slow.items())
        takes = "takes" if len(slow) == 1 else "take"
        said = f"Of {count} {where}, {'only ' if len(rest) else ''}{which} {takes}"
    else:
        which = f"{named(str(slow.index[0]))} most, {signed_percent(slow.iloc[0])}"
        said = f"Of {count} {where}, {len(slow)} ({which}) take"
    said += f" {longer}"
    return f"{said}; {'the other lies' if len(rest) == 1 else 'the others lie'} {between}" if len(rest) else said


def compared(wide: pd.DataFrame) -> pd.DataFrame:
    """Each variant's costs less those of adding, as shares of these; a causal model is compared with a causal one.

    wide: variant by measure. The rows stand in the order of what a step takes, the longest first.
    """
    parts = []
    for task in (CAUSAL, MASKED):
        part = wide[wide.index.str.startswith("causal") == (task == CAUSAL)]
        baseline = usual_baseline(task, set(part.index))
        if baseline in part.index:
            parts.append(part / part.loc[baseline] - 1)
    if not parts:
        return wide.iloc[:0]
    return pd.concat(parts).sort_values(
        [name for name in ("step_ratio", "parameters") if name in wide], ascending=False
    )


def _memory(wide: pd.DataFrame) -> str:
    """A sentence on the peak memory of all variants; empty if none was measured."""
    if "peak_memory_mib" not in wide or wide.peak_memory_mib.isna().all():
        return ""
    low, high = wide.peak_memory_mib.min(), wide.peak_memory_mib.max()
    return f"Peak memory is from {low:,.0f} to {high:,.0f} MiB; the table has it, and the trained parameters."


def _draw(shares: pd.DataFrame, losses: Mapping[str, float], theme: Theme) -> Chart:
    """A table in bars: each variant once, with a column for its loss and one for each cost, the numbers beside them."""
    drawn = [name for name in DRAWN if name in shares and shares[name].notna().any()]
    apart = (shares[drawn].abs() > NOTABLE).any(axis=1)
    known_losses = {**losses, BASELINES[MASKED]: 0.0} if losses else {}
    order = sorted(shares.index, key=lambda name: (not apart[name], known_losses.get(name, math.inf)))
    groups = ["how positions are told"] * len(order)
    if apart.any():
        groups = [f"costs {'beyond' if apart[name] else 'within'} ±{percent(NOTABLE)}" for name in order]
    names = [title(str(name)) for name in order]
    labels, y, titles, height = marks.grouped_rows(names, groups, theme, LETTERS, ROW)
    columns: dict[str, dict[str, float]] = {LOSS: {name: known_losses[name] for name in order if name in known_losses}}
    columns |= {name: {str(key): float(value) for key, value in shares[name].dropna().items()} for name in drawn}
    columns = {name: values for name, values in columns.items() if values}
    costs = [value for name in drawn for value in columns[name].values()]
    records: list[dict[str, object]] = []
    for place, (column, values) in enumerate(columns.items()):
        known = [value for value in values.values() if abs(value) <= MOST_LOSS] if column == LOSS else costs
        low, high = min(0.0, *known), max(0.0, *known)
        for name, label in zip(order, labels, strict=True):
            if name not in values and column != LOSS:
                continue
            value_here = values.get(name, 0.0)
            zero, end = (
                place + MARGIN + BARS * (min(high, max(low, value)) - low) / ((high - low) or 1)
                for value in (0.0, value_here)
            )
            written = signed_or_zero(value_here) if column == LOSS else percent_of(value_here)
            records.append(
                {
                    "label": label, "title": title(name), "column": column, "zero": zero, "end": end,
                    "number": place + NUMBERS, "written": written if name in values else UNJUDGED,
                    "cut": column == LOSS and abs(value_here) > MOST_LOSS,
                }
            )  # fmt: skip
    frame = pd.DataFrame(records)
    x = alt.X("zero:Q", axis=None, scale=alt.Scale(domain=(0, len(columns)), nice=False))
    base = alt.Chart(frame).encode(y=y, tooltip=marks.tips(VARIANT, ("column", ""), ("written", "against adding")))
    hues = {
        name: theme.ink if name == LOSS else theme.series if name in MACHINE else theme.colour(colours.SOFT)
        for name in columns
    }
    bars = base.mark_bar(height=marks.BAR).encode(x=x, x2="end:Q", color=marks.hues("column", hues))
    cut = alt.Chart(frame[frame.cut]).mark_point(shape="triangle-right", filled=True, size=marks.LARGE_DOT, opacity=1)
    cuts = cut.encode(x=marks.same_axis(x, "end"), y=y, color=alt.value(theme.ink))
    axes = base.mark_tick(color=theme.colour(colours.SOFT), orient="vertical", size=ROW, thickness=1).encode(x=x)
    written = base.mark_text(align="right", fontSize=marks.TEXT, color=theme.ink)
    heads = pd.DataFrame(
        {"number": place + NUMBERS, "label": marks.TITLE_ROW, "head": HEADINGS[name]}
        for place, name in enumerate(columns)
    )
    head = alt.Chart(heads).mark_text(
        align="right", lineBreak="\n", lineHeight=marks.LABEL_LINE, dy=-marks.LABEL_LINE, fontSize=marks.TEXT,
        fontWeight=600, color=theme.ink,
    )  # fmt: skip
    at_number = marks.same_axis(x, "number")
    return marks.panel(
        bars, cuts, axes, written.encode(x=at_number, text="written:N"), head.encode(x=at_number, y=y, text="head:N"),
        titles,
        theme=theme, width=marks.WIDE, height=height,
    )  # fmt: skip
