"""The sentence encoder refitted: what each way of telling positions recovers of their worth."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.claims.statements.refitted import MISSED, ORDER_ERROR, ROWS, Runs, load_runs, values
from analysis.core import colours, frames
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, percent, plural, sentences, uncapitalised
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.measurements.refit.rates import PILOTS, pilot_losses
from analysis.measurements.surgery.arms import ARMS, READ
from analysis.rules.refit_rules import JUDGED, PILOT, RefitRules, refit_rules
from analysis.statistics import mean_interval
from analysis.store import read

MODEL = "all-MiniLM-L6-v2"
COMMAND = "python -m analysis refit --texts TEXT --held-out TEXT --stsb TSV"
LETTERS, ROW = 24, 52
"""Letters in a line of a row's label, and the least pixels of a row of what was trained under the rules."""
BESIDE = 5
"""The percentage points around the ends of the axis of word order in which no other number stands."""
QUARTERS = (0, 0.25, 0.5, 0.75, 1)
CONTROLS = {
    "minilm_permuted": "positions exchanged have the same rows, reordered",
    "minilm_separated_at_random": "random directions are as many as the positions' own",
}
"""Arms that change as much as others do, and in no way that helps."""
CONTROL_WORDS = {
    "minilm_permuted": "with positions exchanged",
    "minilm_separated_at_random": "along random directions",
}
"""Arms that are controls, as the heading names them after another."""
HOLLOW_DIAMOND = "M0,-1.2L1.2,0L0,1.2L-1.2,0ZM0,-0.75L-0.75,0L0,0.75L0.75,0Z"
"""The outline of a diamond as a path whose hole runs against it."""
MOSTLY_THERE = 0.5
"""The share from which on the heading says what was there before more training."""


def way(arm: str) -> str:
    """The title of an arm without the model's name, and without the positions that directions are of: here, one set."""
    said = ARMS[arm].title.removeprefix("MiniLM, ").replace(f" of the first {READ} positions", "")
    return said[:1].upper() + said[1:]


def is_stored() -> bool:
    """True if some judged run is in the store."""
    return not read.query(f"SELECT 1 FROM refits WHERE purpose = '{JUDGED}' LIMIT 1").empty


def stored_runs(rules: RefitRules) -> Runs:
    """The judged runs. Raises NoResults where there are none."""
    rows = read.query(ROWS).to_dict("records")
    runs = load_runs([{str(name): value for name, value in row.items()} for row in rows], rules)
    if not runs:
        raise NoResults(
            "No encoder was refitted yet. The pilots come first, which choose the rate of each arm: "
            f"{COMMAND} --purpose pilot; then: {COMMAND}"
        )
    return runs


def origin(purpose: str = JUDGED) -> dict[str, str]:
    """The origin of the runs of a purpose."""
    found = read.query(
        "SELECT run_id, created, git_sha, device, dtype, versions FROM runs WHERE run_id IN "
        "(SELECT DISTINCT run_id FROM refits WHERE purpose = ?) ORDER BY created",
        [purpose],
    )
    first = found.iloc[0]
    return {
        "runs": f"{plural(len(found), 'run')}, {found.created.min()} to {found.created.max()}, code "
        + join_names(sorted(set(found.git_sha))),
        "device": f"{first.device}, {first['dtype']}",
        "versions": first.versions,
    }


def _pilot_shares(rules: RefitRules) -> dict[str, float]:
    """Arm -> the share that its best pilot recovered of what positions are worth to the pilots."""
    losses = {arm: min(of.values()) for arm, of in pilot_losses(frames.records(read.query(PILOTS))).items()}
    control, floor = losses.get(rules.control), losses.get(rules.floor)
    if control is None or floor is None:
        return {}
    return {arm: (floor - loss) / (floor - control) for arm, loss in losses.items()}


def recovered_rows(runs: Runs, rules: RefitRules, pilots: Mapping[str, float]) -> pd.DataFrame:
    """One row for each arm of the rules: its recovered share with its interval, and what its vectors tell of order.

    pilots: arm -> the share that its pilot recovered. The arm that recovers most stands first; then come those that
    are still to be trained, the one whose pilot recovered most first. missing: an arm's trainings that the rules ask
    for and that are not stored.
    """
    rows = []
    for arm in rules.purposes[JUDGED].arms:
        shares = mean_interval({seed: 1 - missed for seed, missed in values(MISSED, arm, runs, rules).items()})
        order = mean_interval({seed: 100 - error for seed, error in values(ORDER_ERROR, arm, runs, rules).items()})
        trained = runs.get(arm, {})
        rows.append(
            {
                "arm": arm,
                "way": way(arm),
                "seeds": len(trained),
                "missing": len(rules.purposes[JUDGED].seeds) - len(trained),
                "value": shares.mean,
                "before": _share_before(arm, runs, rules),
                "low": shares.low,
                "high": shares.high,
                "order": order.mean,
                "order_low": order.low,
                "order_high": order.high,
                "stsb": mean_interval({seed: run.last["stsb"] for seed, run in trained.items()}).mean,
                "pilot": pilots.get(arm, math.nan),
            }
        )
    return pd.DataFrame(rows).sort_values(["value", "pilot"], ascending=False, ignore_index=True, kind="stable")


def _share_before(arm: str, runs: Runs, rules: RefitRules) -> float:
    """The mean share that a way has before it is trained on, on the scale of the shares after it; NaN where unknown."""
    shares = []
    for seed, run in runs.get(arm, {}).items():
        control, floor = (runs.get(name, {}).get(seed) for name in (rules.control, rules.floor))
        if control and floor and 0 in run.losses:
            shares.append(1 - (run.losses[0] - control.end) / (floor.end - control.end))
    return sum(shares) / len(shares) if shares else math.nan


def listed(numbers: Mapping[str, float], form: Callable[[float], str]) -> str:
    """Names with their numbers; those that are none are left out."""
    return "; ".join(f"{name} {form(number)}" for name, number in numbers.items() if not math.isnan(number))


@figure("refit_recovered", Parameters)
def refit_recovered(_: Parameters) -> Figure:
    """The worth of positions that each way recovers, from 0 without positions to 1 as in the intact encoder.

    Raises NoResults where no encoder was refitted.
    """
    rules = refit_rules()
    runs = stored_runs(rules)
    frame = recovered_rows(runs, rules, _pilot_shares(rules))
    trained = frame[frame.seeds > 0]
    judged = rules.purposes[JUDGED]
    return Figure(
        title=f"What {MODEL} recovers when it is told positions in another way",
        finding=finding(frame, rules),
        frame=lambda: frame,
        caption=sentences(
            f"{MODEL} after a change of its positions, trained on for {judged.tokens:,} tokens to give the states that "
            "the intact encoder gives; its embedding tables are not trained. Of the loss on held-out texts, 0 % "
            "is what the encoder without positions ends with and 100 % what the intact one does, both trained on in "
            f"the same way; shaded: at most {percent(rules.margins[MISSED])} is missed, which the rules count as "
            "recovered.",
            f"Directions are those in which the first {READ} positions vary most: no text here is longer.",
            f"Word order: of {rules.sentences * 3 // 10:,} held-out sentences, those that a linear decoder of the "
            "pooled vectors tells from their copies with two words exchanged; guessing finds 50 %, and "
            f"{_order_at_the_ends(frame, rules)}.",
            _what_controls_show(frame, rules),
            f"Lines: 95 % intervals of the mean (Student's t) over {frame.seeds.max()} seeds."
            if frame.seeds.max() > 1
            else "",
            "A seed changes the order of the texts alone, so that this is one model.",
            _still_to_run(frame, len(judged.seeds)),
            _still_to_be_trained(frame),
        ),
        alt=f"Rows of recovered shares: {listed(dict(zip(frame.way, frame.value, strict=True)), percent)}. "
        f"{plural(int((frame.seeds == 0).sum()), 'way')} without a judged training.",
        command=COMMAND,
        provenance=origin(),
        citation_keys=("wang2020minilm", "raffel2020t5", "su2021roformer", "ke2021tupe"),
        summary=lambda: trained[["way", "value", "low", "high", "order", "stsb", "seeds"]],
        draw=lambda theme: _draw(frame, rules, theme),
        columns=2,
    )


@figure("refit_pilots", Parameters)
def refit_pilots(_: Parameters) -> Figure:
    """The same of the pilots of ways that are not trained under the rules yet. Raises NoResults where there is none."""
    rules = refit_rules()
    frame = _others(recovered_rows(stored_runs(rules), rules, _pilot_shares(rules)), rules)
    frame = frame[(frame.seeds == 0) & frame.pilot.notna()][["arm", "way", "pilot"]]
    if frame.empty:
        raise NoResults(f"No pilot is stored of a way that is still to be trained. Run: {COMMAND} --purpose pilot")
    judged, pilot = rules.purposes[JUDGED], rules.purposes[PILOT]
    return Figure(
        title="What the pilots recovered",
        finding=f"In pilots {judged.tokens // pilot.tokens} times shorter, which decide nothing, the others recovered "
        f"{percent(frame.pilot.min())} to {percent(frame.pilot.max())}",
        frame=lambda: frame,
        caption=sentences(
            f"Each is one training on {pilot.tokens:,} tokens by a seed that the rules do not count, at the best of "
            f"{len(rules.rates)} rates; the pilots choose that rate. 0 % is what the pilot without positions ends "
            "with and 100 % what the intact one does.",
            _controls(frame.arm),
        ),
        alt=f"Pilots: {listed(dict(zip(frame.way, frame.pilot, strict=True)), percent)}.",
        command=f"{COMMAND} --purpose pilot",
        provenance=origin(PILOT),
        citation_keys=("wang2020minilm", "raffel2020t5", "su2021roformer", "ke2021tupe"),
        draw=lambda theme: [_draw_pilots(frame, theme)],
    )


def finding(frame: pd.DataFrame, rules: RefitRules) -> str:
    """The shares that are recovered, from the least to the most; empty where there is no row of another way.

    Of ways with all their seeds, where there are any: the first seeds of another way decide nothing.
    """
    others = _others(frame, rules)
    others = others[others.value.notna()]
    others = complete if len(complete := others[others.missing == 0]) else others
    if others.empty:
        return ""
    most, least = others.iloc[0], others.iloc[-1]
    said = uncapitalised(most.way)
    if len(others) == 1:
        asked = most.seeds + most.missing
        ordinal = "first" if most.seeds == 1 else f"first {most.seeds}"
        so_far = f" in the {ordinal} of {plural(asked, 'seed')}" if most.missing else ""
        share = percent(most.value)
        return f"After more training, {MODEL} with {said} gets back {share} of what positions are worth{so_far}"
    if least.arm in CONTROL_WORDS:
        untrained = f" ({percent(most.before)} before it)" if most.before > MOSTLY_THERE else ""
        return (
            f"After more training, {MODEL} with {said} has {percent(most.value)} of what positions are worth"
            f"{untrained}; {CONTROL_WORDS[least.arm]} {percent(least.value)}"
        )
    shares = f"{percent(least.value)} to {percent(most.value)}"
    return f"After more training, {MODEL} gets back {shares} of what positions are worth, most with {said}"


def _others(frame: pd.DataFrame, rules: RefitRules) -> pd.DataFrame:
    """The rows of ways that were changed: not those of the ends, the encoders that are intact and without positions."""
    return frame[~frame.arm.isin((rules.control, rules.floor))]


def _order_at_the_ends(frame: pd.DataFrame, rules: RefitRules) -> str:
    """The word order that is found in the encoders at the two ends of the axis, in a phrase."""
    order = frame.set_index("arm").order
    return f"without positions {order[rules.floor]:.1f} %, intact {order[rules.control]:.1f} %"


def _controls(arms: Iterable[str]) -> str:
    """A sentence on what those of these arms that are controls have changed."""
    said = [text for arm, text in CONTROLS.items() if arm in set(arms)]
    return f"Controls: {'; '.join(said)}." if said else ""


def _what_controls_show(frame: pd.DataFrame, rules: RefitRules) -> str:
    """Sentences on the controls that are drawn, and on what follows where they recover next to nothing."""
    rows = _drawn(frame)
    rows = rows[rows.arm.isin(list(CONTROLS))]
    judged, pilot = rules.purposes[JUDGED], rules.purposes[PILOT]
    return sentences(
        _controls(rows.arm),
        "They get back next to nothing, so that training on does not repair every change as large."
        if len(rows) and rows.shown.max() <= rules.margins[MISSED]
        else "",
        f"Theirs are pilots, {judged.tokens // pilot.tokens} times shorter and measured between the ends of the pilots."
        if rows.in_pilot.any()
        else "",
    )


def _still_to_run(frame: pd.DataFrame, asked: int) -> str:
    """The trainings that the rules ask for and that are not stored yet; empty where all are."""
    if missing := int(frame.missing.sum()):
        return (
            f"The rules ask for {plural(asked, 'seed')} of every row, and {missing} of {asked * len(frame)} trainings "
            "are still to be run; a row that lacks some decides nothing yet."
        )
    return ""


def _still_to_be_trained(frame: pd.DataFrame) -> str:
    """A sentence that counts and names the ways of which no judged training is stored; empty where each has one."""
    untrained = frame[frame.seeds == 0]
    if untrained.empty:
        return ""
    names = join_names([uncapitalised(way) for way in untrained.way])
    verb = "is" if len(untrained) == 1 else "are"
    return f"{len(untrained)} of {len(frame)} ways {verb} not trained under the rules yet: {names}."


def _names(rows: pd.DataFrame) -> list[str]:
    return [f"Control: {uncapitalised(row.way)}" if row.arm in CONTROLS else row.way for row in frames.rows(rows)]


def _drawn(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the chart: what the rules have trained and, until they are, the pilots of the controls."""
    in_pilot = (frame.seeds == 0) & frame.arm.isin(list(CONTROLS)) & frame.pilot.notna()
    return frame[(frame.seeds > 0) | in_pilot].assign(in_pilot=in_pilot, shown=frame.value.fillna(frame.pilot))


def _draw(frame: pd.DataFrame, rules: RefitRules, theme: Theme) -> list[Chart]:
    """Recovered shares, on the scale from the encoder without positions to the intact one, and the word order found.

    A way that is not trained under the rules has no row, save a control with a pilot.
    """
    asked, margin = len(rules.purposes[JUDGED].seeds), rules.margins[MISSED]
    rows = _drawn(_others(frame, rules))
    if rows.empty:
        return []
    names = marks.wrapped_labels(_names(rows), LETTERS)
    rows = rows.assign(
        label=[names[name] for name in _names(rows)],
        written=[
            f"{percent(row.shown)}\npilot, 1 seed"
            if row.in_pilot
            else f"{percent(row.shown)}{_half(row.low, row.high)}{_fewer(row, asked)}"
            for row in frames.rows(rows)
        ],
    )
    known = rows[["shown", "low", "high"]].to_numpy(dtype=float)
    known = known[~np.isnan(known)]
    x = _share((min(0.0, *known) - 0.03, max(1.0, *known) + 0.03))
    y = marks.labelled_rows(rows.label.tolist(), grid=True)
    enough = pd.DataFrame({"enough": [1 - margin], "whole": [1.0]})
    layers: list[Chart] = [
        alt.Chart(enough).mark_rect(color=theme.grid).encode(x=marks.same_axis(x, "enough"), x2=alt.X2("whole:Q")),
        *(marks.rule(theme, x=end) for end in (0, 1)),
    ]
    tooltip = (
        ("way", "told"),
        ("shown", "recovered", ".1%"),
        ("stsb", "similarity to people's ratings (Spearman)", ".3f"),
        "seeds",
    )
    for (in_pilot, complete), part in rows.groupby([rows.in_pilot, rows.missing == 0]):
        layers += marks.row_plot(
            part, x=x, y=y, theme=theme, tooltip=tooltip[:2] if in_pilot else tooltip, size=marks.LARGE_DOT,
            color=theme.colour(colours.SOFT) if in_pilot else theme.ink, filled=bool(in_pilot or complete),
            shape=HOLLOW_DIAMOND if in_pilot else "circle",
        )  # fmt: skip
    layers.append(marks.texts_beside(rows[["label", "written"]], y, theme))
    started = rows[rows.before.notna() & (rows.before >= x["scale"]["domain"][0])]
    if len(started):
        ring = alt.Chart(started).mark_point(
            filled=False, size=marks.LARGE_DOT, color=theme.colour(colours.SOFT), strokeWidth=1.5
        )
        layers.append(ring.encode(x=marks.same_axis(x, "before"), y=y))
    note = alt.Chart(enough).mark_text(
        align="right", baseline="bottom", dx=-4, fontSize=marks.TEXT, color=theme.colour(colours.SOFT)
    )
    layers.append(
        note.encode(
            x=marks.same_axis(x, "enough"), y=alt.value(12), text=alt.value(f"from {percent(1 - margin)} on: enough")
        )
    )
    key, below = ["in loss"], []
    if rows.high.notna().any():
        key.append("lines and ±: 95 % intervals")
    if (rows.missing == 0).any():
        key.append(plural(asked, "seed"))
    if (rows[~rows.in_pilot].missing > 0).any():
        below.append(f"hollow: fewer than the {asked} seeds asked for")
    if len(started):
        below.append("grey ring: before it, where that is on the axis")
    if rows.in_pilot.any():
        below.append("diamond: a pilot, which decides nothing")
    height = max(ROW, marks.row_height(rows.label.tolist())) * len(rows)
    recovered = marks.panel(
        *layers, theme=theme, width=marks.HALF, height=height, title="Share recovered of what positions save",
        below=["; ".join(key), *below],
    )  # fmt: skip
    found = rows[rows.order.notna()]
    # As many lines above both, so that their rows stand level.
    above = ["guessing finds 50 %", *[" "] * len(below)]
    return [recovered, *([_draw_order(found, frame, rules, height, above, theme)] if len(found) else [])]


def _fewer(row: Any, asked: int) -> str:
    """A second line on the seeds of a row that has not as many as the rules ask for; empty for any other."""
    return f"\n{row.seeds} of {plural(asked, 'seed')}" if row.missing else ""


def _half(low: float, high: float) -> str:
    """Half of an interval of shares, in percentage points; empty for one seed, which has none."""
    return f" ± {50 * (high - low):.1f}" if high == high else ""


def _draw_order(
    found: pd.DataFrame, frame: pd.DataFrame, rules: RefitRules, height: float, above: list[str], theme: Theme
) -> Chart:
    """The word order found in the vectors of the same rows, between those of the encoders at the two ends.

    above: the lines between the title and the plot.
    """
    order = frame.set_index("arm").order
    ends = order[rules.floor], order[rules.control]
    asked = len(rules.purposes[JUDGED].seeds)
    rows = found.assign(written=[f"{row.order:.1f} %{_fewer(row, asked)}" for row in frames.rows(found)])
    known = [*ends, *rows.order, *rows.order_low.dropna(), *rows.order_high.dropna()]
    room = 0.06 * (max(known) - min(known) or 1.0)
    floor, intact = (round(end, 1) for end in ends)
    between = [tens for tens in range(0, 101, 10) if floor + BESIDE < tens < intact - BESIDE]
    x = marks.number(
        alt.X, "order", None, domain=(min(known) - room, max(known) + room), values=[floor, *between, intact]
    )
    x["axis"]["labelExpr"] = (
        f"datum.value === {floor} ? ['{floor} %', 'no position'] : datum.value === {intact} ? ['{intact} %', 'intact']"
        " : datum.label + ' %'"
    )
    y = marks.labelled_rows(rows.label.tolist(), grid=True)
    # The panel beside it names the same rows; on a phone it stands above.
    y["axis"]["labelExpr"] = f"{marks.ON_PHONE} ? {y['axis']['labelExpr']} : ''"
    tooltip = (("way", "told"), ("order", "found, %", ".1f"), *marks.interval_tips(".1f", "order_low", "order_high"))
    layers: list[Chart] = [marks.rule(theme, x=round(end, 1)) for end in ends]
    layers += marks.row_plot(
        rows, x=x, y=y, theme=theme, ends=("order_low", "order_high"), size=marks.LARGE_DOT, color=theme.ink,
        tooltip=tooltip,
    )  # fmt: skip
    layers.append(marks.texts_beside(rows[["label", "written"]], y, theme))
    return marks.panel(
        *layers, theme=theme, width=marks.HALF, height=height * len(rows) / len(_drawn(_others(frame, rules))),
        title="Word order: exchanged words found", below=above,
    )  # fmt: skip


def _draw_pilots(frame: pd.DataFrame, theme: Theme) -> Chart:
    """A thin row a pilot."""
    names = marks.wrapped_labels(_names(frame), LETTERS)
    rows = frame.assign(
        label=[names[name] for name in _names(frame)],
        shown=frame.pilot,
        written=[percent(share) for share in frame.pilot],
    )
    x = _share((min(0.0, rows.shown.min()) - 0.03, max(1.0, rows.shown.max()) + 0.03))
    y = marks.labelled_rows(rows.label.tolist(), grid=True)
    dots = marks.row_plot(
        rows, x=x, y=y, theme=theme, ends=None, color=theme.colour(colours.SOFT), shape=HOLLOW_DIAMOND,
        size=marks.LARGE_DOT, opacity=0.8, tooltip=(("way", "told"), ("pilot", "recovered by its pilot", ".1%")),
    )  # fmt: skip
    return marks.panel(
        marks.rule(theme, x=0), marks.rule(theme, x=1), *dots, marks.texts_beside(rows[["label", "written"]], y, theme),
        theme=theme, width=520, height=marks.row_height(rows.label.tolist(), 20) * len(rows),
    )  # fmt: skip


def _share(domain: tuple[float, float]) -> alt.X:
    """The axis of shares, with the names of its two ends, which are by definition 0 and 1, under their numbers."""
    x = marks.number(alt.X, "shown", None, form=".0%", domain=domain, values=QUARTERS)
    x["axis"]["labelExpr"] = (
        "datum.value === 0 ? [datum.label, 'no position'] : datum.value === 1 ? [datum.label, 'intact'] : datum.label"
    )
    return x
