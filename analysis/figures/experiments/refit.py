"""The sentence encoder refitted: what each way of telling positions recovers of their worth, and how fast."""

import math
from collections.abc import Callable, Mapping

import altair as alt
import pandas as pd

from analysis.claims.statements.refitted import MISSED, ORDER_ERROR, ROWS, Runs, load_runs, values
from analysis.core.errors import NoResults
from analysis.core.formatting import join_names, percent, plural, sentences, significant, uncapitalised
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.measurements.surgery.arms import ARMS
from analysis.rules.refit_rules import JUDGED, RefitRules, refit_rules
from analysis.statistics import mean_interval
from analysis.store import read

MODEL = "all-MiniLM-L6-v2"
COMMAND = "python -m analysis refit --texts TEXT --held-out TEXT --stsb TSV"
LABEL_CHARACTERS = 34


def _short(arm: str) -> str:
    """The title of an arm without the model's name."""
    said = ARMS[arm].title.removeprefix("MiniLM, ")
    return said[:1].upper() + said[1:]


def is_stored() -> bool:
    """True if some judged run is in the store."""
    return not read.query(f"SELECT 1 FROM refits WHERE purpose = '{JUDGED}' LIMIT 1").empty


def _stored(rules: RefitRules) -> Runs:
    """The judged runs. Raises NoResults where there are none."""
    rows = read.query(ROWS).to_dict("records")
    runs = load_runs([{str(name): value for name, value in row.items()} for row in rows], rules)
    if not runs:
        raise NoResults(
            "No encoder was refitted yet. The pilots come first, which choose the rate of each arm: "
            f"{COMMAND} --purpose pilot; then: {COMMAND}"
        )
    return runs


def _about() -> dict[str, str]:
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


def recovered_rows(runs: Runs, rules: RefitRules) -> pd.DataFrame:
    """One row an arm, the best first: its recovered share with its interval, and what its vectors tell of order."""
    rows = []
    for arm in (arm for arm in rules.purposes[JUDGED].arms if arm in runs):
        shares = mean_interval({seed: 1 - missed for seed, missed in values(MISSED, arm, runs, rules).items()})
        order = mean_interval({seed: 100 - error for seed, error in values(ORDER_ERROR, arm, runs, rules).items()})
        similarity = mean_interval({seed: run.last["stsb"] for seed, run in runs[arm].items()})
        rows.append(
            {
                "arm": arm,
                "way": _short(arm),
                "seeds": len(runs[arm]),
                "value": shares.mean,
                "low": shares.low,
                "high": shares.high,
                "order": order.mean,
                "order_low": order.low,
                "order_high": order.high,
                "stsb": similarity.mean,
            }
        )
    return pd.DataFrame(rows).sort_values("value", ascending=False, ignore_index=True)


def _listed(numbers: Mapping[str, float], form: Callable[[float], str]) -> str:
    return "; ".join(f"{name} {form(number)}" for name, number in numbers.items() if not math.isnan(number))


@figure("refit_recovered", Parameters)
def refit_recovered(_: Parameters) -> Figure:
    """The worth of positions that each way recovers, from 0 without positions to 1 as in the intact encoder.

    Raises NoResults where no encoder was refitted.
    """
    rules = refit_rules()
    runs = _stored(rules)
    frame = recovered_rows(runs, rules)
    tokens = rules.purposes[JUDGED].tokens
    fewest, asked = int(frame.seeds.min()), len(rules.purposes[JUDGED].seeds)
    return Figure(
        title=f"What {MODEL} recovers when it is told positions in another way",
        finding=_recovery(frame[~frame.arm.isin((rules.control, rules.floor)) & frame.value.notna()], tokens),
        frame=lambda: frame,
        caption=sentences(
            f"{MODEL} after a change of its positions, trained on to give the states that the intact encoder gives: "
            f"{tokens:,} tokens of paragraphs of 16 to 128 tokens, embedding tables not trained. Left: of the loss on "
            "held-out texts, 0 is the encoder without positions and 1 the intact one, both trained on in the same way. "
            f"Right: of {rules.sentences * 3 // 10:,} held-out sentences, the share that a linear decoder of the "
            "pooled vectors tells from their copies with two words exchanged; dashed: guessing",
            "Lines: 95 % intervals of the mean (Student's t) over "
            f"{plural(int(frame.seeds.max()), 'seed')}, which change the order of the texts alone, so that this is one "
            "model",
            f"The rules ask for {asked} seeds of every row; some have {fewest} so far, and decide nothing yet"
            if fewest < asked
            else "",
        ),
        alt=f"Rows of recovered shares: {_listed(dict(zip(frame.way, frame.value, strict=True)), percent)}.",
        command=COMMAND,
        provenance=_about(),
        citation_keys=("wang2020minilm", "raffel2020t5", "su2021roformer", "ke2021tupe"),
        summary=lambda: frame[["way", "value", "low", "high", "order", "stsb", "seeds"]],
        draw=lambda theme: _recovered_panels(frame, theme),
        columns=2,
    )


def _recovery(others: pd.DataFrame, tokens: int) -> str:
    """The shares that are recovered, from the least to the most; empty where there is no row of another way."""
    if others.empty:
        return ""
    most, least = others.iloc[0], others.iloc[-1]
    given = f"{tokens:,} tokens of training give {MODEL} back"
    if len(others) == 1:
        return f"{given} {percent(most.value)} of what positions are worth: {uncapitalised(most.way)}"
    return (
        f"{given} from {percent(least.value)} ({uncapitalised(least.way)}) to {percent(most.value)} "
        f"({uncapitalised(most.way)}) of what positions are worth"
    )


def _recovered_panels(frame: pd.DataFrame, theme: Theme) -> list[Chart]:
    labels = marks.wrapped_labels(list(frame.way), LABEL_CHARACTERS)
    shown = frame.assign(label=frame.way.map(labels))
    y = marks.labelled_rows(list(labels.values()), grid=True)
    height = marks.row_height(list(labels.values()), marks.ROW) * len(labels)
    tips: list[marks.Tip] = [
        ("way", "told"),
        ("value", "recovered", ".2f"),
        *marks.interval_tips(".2f"),
        ("order", "order found, %", ".1f"),
        ("stsb", "similarity (Spearman)", ".3f"),
        "seeds",
    ]
    shares = marks.row_plot(
        shown,
        x=marks.number(alt.X, "value", "recovered of what positions are worth", form=".0%"),
        y=y,
        theme=theme,
        tooltip=tips,
    )
    order = marks.row_plot(
        shown,
        x=marks.number(alt.X, "order", "exchanged words found (%)"),
        y=y,
        theme=theme,
        ends=("order_low", "order_high"),
        tooltip=tips,
    )
    return [
        marks.panel(marks.rule(theme, x=0), marks.rule(theme, x=1), *shares, theme=theme, width=300, height=height),
        marks.panel(marks.rule(theme, x=50, dash=marks.DASH), *order, theme=theme, width=240, height=height),
    ]


@figure("refit_curves", Parameters)
def refit_curves(_: Parameters) -> Figure:
    """The loss on held-out texts against the tokens read, of every way of telling positions.

    Raises NoResults where no encoder was refitted.
    """
    runs = _stored(refit_rules())
    frame = pd.DataFrame(
        {"way": _short(arm), "arm": arm, "seed": seed, "tokens": tokens, "loss": loss, "run_id": run.run_id}
        for arm, of in runs.items()
        for seed, run in of.items()
        for tokens, loss in sorted(run.losses.items())
    )
    lines = frame.groupby(["way", "tokens"], sort=False).loss.mean().reset_index()
    ends = lines.sort_values("tokens").groupby("way").loss.last().sort_values()
    last = {str(way): float(loss) for way, loss in ends.items()}
    return Figure(
        title="The loss of refitted encoders while they are trained on",
        finding=f"{ends.index[0]} ends lowest, at {ends.iloc[0]:.3f}, and {uncapitalised(str(ends.index[-1]))} "
        f"highest, at {ends.iloc[-1]:.3f}",
        frame=lambda: frame,
        caption=sentences(
            "The share of the variance of the intact encoder's last states that the refitted one misses, and one less "
            "the cosine of their pooled vectors, summed; mean over texts that were not trained on, and over "
            f"{plural(int(frame.seed.nunique()), 'seed')}.",
            _control_moves(frame),
            "The rate rises over the first twentieth of the tokens and "
            "then falls to zero. Both axes are logarithmic; the first point, before any training, is left out",
        ),
        alt=f"Lines of loss against tokens, which end so: {_listed(last, '{:.3f}'.format)}.",
        command=COMMAND,
        provenance=_about(),
        draw=lambda theme: [_curves(lines[lines.tokens > 0], list(ends.index), theme)],
    )


def _control_moves(frame: pd.DataFrame) -> str:
    """The highest loss of the intact encoder on its way: training moves it, too, though nothing of it was changed."""
    own = frame[(frame.arm == refit_rules().control) & (frame.tokens > 0)].groupby("tokens").loss.mean()
    if own.empty or own.max() <= own.iloc[-1]:
        return ""
    return (
        f"Training moves the intact encoder, too: its loss rises to {significant(own.max(), 2)} while the rate is "
        f"high, and ends at {significant(own.iloc[-1], 2)}"
    )


def _curves(lines: pd.DataFrame, order: list[str], theme: Theme) -> Chart:
    key = marks.legend(lines=True)
    key["labelLimit"] = marks.WIDE
    drawn = marks.line_plot(
        lines,
        x=marks.number(alt.X, "tokens", "tokens read", log=10, nice=False, form="~s"),
        y=marks.number(alt.Y, "loss", "loss on held-out texts", log=10, nice=False, form="~g"),
        theme=theme,
        color=marks.series("way", order, theme, key),
        tooltip=(("way", "told"), ("tokens", "tokens", ","), ("loss", "loss", ".3f")),
        dots=marks.SEED,
    )
    return marks.panel(*drawn, theme=theme, width=marks.WIDE, height=320)
