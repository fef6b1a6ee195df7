"""The sentence encoder refitted: what each way of telling positions recovers of their worth."""

import math
from collections.abc import Callable, Iterable, Mapping

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
LABEL_CHARACTERS = 34
"""Letters in a line of a row's label."""
ROW = 30
"""Pixels of a row, at least."""
RINGED_DOT = (
    "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0"
    "M-1.75,0A1.75,1.75,0,1,1,1.75,0A1.75,1.75,0,1,1,-1.75,0"
    "M-1.4,0A1.4,1.4,0,1,0,1.4,0A1.4,1.4,0,1,0,-1.4,0"
)
HOLLOW_DIAMOND = "M0,-1.2L1.2,0L0,1.2L-1.2,0ZM0,-0.75L-0.75,0L0,0.75L0.75,0Z"
"""Symbols as paths whose holes run against their outlines: a dot within a ring, and the outline of a diamond."""


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


def origin() -> dict[str, str]:
    """The origin of the runs."""
    found = read.query(
        "SELECT run_id, created, git_sha, device, dtype, versions FROM runs WHERE run_id IN "
        f"(SELECT DISTINCT run_id FROM refits WHERE purpose = '{JUDGED}') ORDER BY created"
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
    judged, pilot = rules.purposes[JUDGED], rules.purposes[PILOT]
    return Figure(
        title=f"What {MODEL} recovers when it is told positions in another way",
        finding=finding(frame, rules),
        frame=lambda: frame,
        caption=sentences(
            f"{MODEL} after a change of its positions, trained on for {judged.tokens:,} tokens to give the states that "
            "the intact encoder gives; its embedding tables are not trained. Above: of the loss on held-out texts, 0 % "
            "is what the encoder without positions ends with and 100 % what the intact one does, both trained on in "
            f"the same way; shaded: at most {percent(rules.margins[MISSED])} is missed, which the rules count as "
            "recovered",
            f"Diamonds: pilots of {pilot.tokens:,} tokens and one other seed, each at the best of "
            f"{len(rules.rates)} rates; they choose that rate and decide nothing"
            if frame.pilot.notna().any()
            else "",
            f"Directions are those in which the first {READ} positions vary most: no text here is longer",
            f"Below: of {rules.sentences * 3 // 10:,} held-out sentences, those that a linear decoder of the pooled "
            "vectors tells from their copies with two words exchanged; dashed: guessing; pilots were not asked",
            f"Lines: 95 % intervals of the mean (Student's t) over {plural(int(frame.seeds.max()), 'seed')}, which "
            "change the order of the texts alone, so that this is one model",
            _still_to_run(frame, len(judged.seeds)),
            still_to_be_trained(frame, rules),
        ),
        alt=f"Rows of recovered shares: {listed(dict(zip(frame.way, frame.value, strict=True)), percent)}. "
        f"Pilots: {listed(dict(zip(frame.way, frame.pilot, strict=True)), percent) or 'none'}. "
        f"{plural(int((frame.seeds == 0).sum()), 'way')} without a judged training.",
        command=COMMAND,
        provenance=origin(),
        citation_keys=("wang2020minilm", "raffel2020t5", "su2021roformer", "ke2021tupe"),
        summary=lambda: trained[["way", "value", "low", "high", "order", "stsb", "seeds"]],
        draw=lambda theme: _recovered_panels(frame, rules, theme),
    )


def finding(frame: pd.DataFrame, rules: RefitRules) -> str:
    """The shares that are recovered, from the least to the most; empty where there is no row of another way."""
    others = frame[~frame.arm.isin((rules.control, rules.floor)) & frame.value.notna()]
    if others.empty:
        return ""
    most, least = others.iloc[0], others.iloc[-1]
    untrained = frame[frame.seeds == 0]
    remain = ""
    if len(untrained):
        one = len(untrained) == 1
        remain = f"; {plural(len(untrained), 'way')} {'is' if one else 'are'} still to be trained"
        if untrained.pilot.notna().all():
            ends = " to ".join(
                dict.fromkeys(percent(share) for share in (untrained.pilot.min(), untrained.pilot.max()))
            )
            remain = f"; {plural(len(untrained), 'way')} {'has' if one else 'have'} only pilots ({ends})"
    if len(others) == 1:
        so_far = f", in {most.seeds} of {most.seeds + most.missing} seeds" if most.missing else ""
        return (
            f"Training on brings back {percent(most.value)} of what positions are worth: "
            f"{uncapitalised(most.way)}{so_far}{remain}"
        )
    return (
        f"Training on brings back {percent(least.value)} to {percent(most.value)} of what positions are worth, most "
        f"with {uncapitalised(most.way)}{remain}"
    )


def _still_to_run(frame: pd.DataFrame, asked: int) -> str:
    """The trainings that the rules ask for and that are not stored yet; empty where all are."""
    if missing := int(frame.missing.sum()):
        return (
            f"The rules ask for {plural(asked, 'seed')} of every row, and {missing} of {asked * len(frame)} trainings "
            "are still to be run; a row that lacks some decides nothing yet"
        )
    return ""


def still_to_be_trained(frame: pd.DataFrame, rules: RefitRules) -> str:
    """A sentence that counts and names the ways of which no judged training is stored; empty where each has one."""
    untrained = frame[frame.seeds == 0]
    if untrained.empty:
        return ""
    names = join_names([uncapitalised(way) for way in untrained.way])
    verb = "is" if len(untrained) == 1 else "are"
    pilots = f"; diamonds show their pilots of {rules.purposes[PILOT].tokens:,} tokens"
    return (
        f"{len(untrained)} of {len(frame)} ways {verb} not trained under the rules yet: {names}"
        f"{pilots if untrained.pilot.notna().all() else ''}"
    )


def untrained_line() -> str:
    """The sentence of `still_to_be_trained` on what is stored. Raises NoResults where no encoder was refitted."""
    rules = refit_rules()
    return still_to_be_trained(recovered_rows(stored_runs(rules), rules, _pilot_shares(rules)), rules)


def _recovered_panels(frame: pd.DataFrame, rules: RefitRules, theme: Theme) -> list[Chart]:
    """Recovered shares and exchanged words of what the rules have trained; shares of pilots in a panel of their own.

    A way of which nothing is stored has no row: the line under the figure names it.
    """
    asked, pilot = len(rules.purposes[JUDGED].seeds), rules.purposes[PILOT]
    so_far = set(frame.seeds[(frame.seeds > 0) & (frame.missing > 0)])
    whole, part = plural(asked, "seed"), f"{min(so_far, default=0)} of {asked} seeds so far"
    if len(so_far) > 1:
        part = f"fewer than {asked} seeds so far"
    frame = frame[(frame.seeds > 0) | frame.pilot.notna()]
    labels = marks.wrapped_labels(list(frame.way), LABEL_CHARACTERS)
    frame = frame.assign(
        label=frame.way.map(labels),
        progress=[f"{seeds} of {whole}" for seeds in frame.seeds],
        state=[part if missing else whole for missing in frame.missing],
        written=[percent(judged if seeds else share) for seeds, judged, share in zip(
            frame.seeds, frame.value, frame.pilot, strict=True)],
        found=["" if math.isnan(order) else f"{order:.1f} %" for order in frame.order],
    )  # fmt: skip
    trained = frame[frame.seeds > 0]
    pilots = frame[(frame.seeds == 0) & frame.pilot.notna()]
    symbols = {whole: "circle", part: RINGED_DOT}
    key = {state: symbols[state] for state in symbols if state in set(trained.state)}
    known = frame[["value", "low", "high", "pilot"]].to_numpy(dtype=float)
    ends = (min(0.0, float(np.nanmin(known))) - 0.03, max(1.0, float(np.nanmax(known))) + 0.03)
    x = marks.number(
        alt.X,
        "value",
        ["share of what positions", "are worth, recovered", "(shaded: enough by the rules)"],
        form=".0%",
        domain=ends,
        ticks=5,
    )
    order_x = marks.number(
        alt.X, "order", ["exchanged words found (%)", "(dashed: guessing)"], domain=(46, 102), ticks=5
    )
    tips: list[marks.Tip] = [
        ("way", "told"),
        ("value", "recovered", ".1%"),
        *marks.interval_tips(".1%"),
        ("order", "exchanged words found, %", ".1f"),
        ("stsb", "similarity to people's ratings (Spearman)", ".3f"),
        "progress",
    ]
    band = alt.Chart(pd.DataFrame({"from": [1 - rules.margins[MISSED]], "to": [1.0]})).mark_rect(
        color=theme.series, opacity=0.13
    )
    shape = marks.shapes("state", key, marks.legend(place="top"))
    ground = [band.encode(x=alt.X("from:Q"), x2=alt.X2("to:Q")), marks.rule(theme, x=0), marks.rule(theme, x=1)]

    def panel(rows: pd.DataFrame, layers: Iterable[Chart], title: str) -> Chart:
        names = [labels[way] for way in rows.way]
        height = marks.row_height(names, ROW) * len(names)
        return marks.panel(*layers, theme=theme, width=marks.WIDE, height=height, title=title)

    def rows_of(rows: pd.DataFrame) -> alt.Y:
        return marks.labelled_rows([labels[way] for way in rows.way], grid=True)

    panels: list[Chart] = []
    if len(trained):
        y = rows_of(trained)
        shares = _dots(trained, x, y, ("low", "high"), rules, theme, tips, shape)
        found = _dots(trained, order_x, y, ("order_low", "order_high"), rules, theme, tips, shape)
        panels += [
            panel(
                trained,
                [*ground, *shares, *_numbers_beside(trained, y, "written", theme)],
                f"Share recovered after {rules.purposes[JUDGED].tokens:,} tokens",
            ),
            panel(
                trained,
                [marks.rule(theme, x=50, dash=marks.DASH), *found, *_numbers_beside(trained, y, "found", theme)],
                "Word order that the vectors still tell",
            ),
        ]
    if len(pilots):
        y = rows_of(pilots)
        shares = marks.row_plot(
            pilots, x=marks.same_axis(x, "pilot"), y=y, theme=theme, ends=None, color=theme.colour(colours.SOFT),
            shape=HOLLOW_DIAMOND, size=marks.LARGE_DOT,
            tooltip=(("way", "told"), ("pilot", "recovered by its pilot", ".1%")),
        )  # fmt: skip
        panels.append(
            panel(
                pilots,
                [*ground, *shares, *_numbers_beside(pilots, y, "written", theme)],
                f"Only pilots of {pilot.tokens:,} tokens so far",
            )
        )
    return panels


def _dots(
    trained: pd.DataFrame,
    x: alt.X,
    y: alt.Y,
    ends: tuple[str, str],
    rules: RefitRules,
    theme: Theme,
    tooltip: list[marks.Tip],
    shape: alt.Shape,
) -> list[Chart]:
    """A dot for each trained row, black for the two that the others are measured by; ringed where seeds are missing."""
    layers: list[Chart] = []
    measured_by = trained.arm.isin((rules.control, rules.floor))
    for rows, color in ((trained[measured_by], theme.ink), (trained[~measured_by], theme.series)):
        if len(rows):
            layers += marks.row_plot(
                rows, x=x, y=y, theme=theme, ends=ends, color=color, shape=shape, size=marks.LARGE_DOT, tooltip=tooltip
            )
    return layers


def _numbers_beside(frame: pd.DataFrame, y: alt.Y, written: str, theme: Theme) -> list[Chart]:
    """The number of each row at the right: in ink that of a judged training, softly that of a pilot."""
    layers: list[Chart] = []
    for rows, color in ((frame[frame.seeds > 0], theme.ink), (frame[frame.seeds == 0], theme.colour(colours.SOFT))):
        if len(rows):
            texts = alt.Chart(rows[["label", written]]).encode(y=y, x=alt.value("width"), text=alt.Text(f"{written}:N"))
            layers.append(texts.mark_text(align="left", dx=14, fontSize=marks.TEXT, color=color))
    return layers
