"""The stored evidence on each method: costs, own losses, longer texts, published comparisons, verdicts."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from analysis.ablation.variants import named
from analysis.claims.statements.judgement import OPEN as UNDECIDED
from analysis.claims.statements.stored import parts
from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import capitalised, plural, signed, signed_percent
from analysis.figures.training.timing import measured_preset
from analysis.figures.training.trainings import (
    CAUSAL,
    MASKED,
    UNIT,
    Trained,
    TrainingParameters,
    objective,
    select_trainings,
    usual_baseline,
)
from analysis.literature import tables as published
from analysis.narrative.choosing.methods import Method, Pair
from analysis.narrative.choosing.settings import IN_CODE, USED
from analysis.statistics import difference
from analysis.store import read

FOR, AGAINST, OPEN = "for", "against", "open"


class Finding(NamedTuple):
    """A sentence, where its numbers come from, and the page that shows them."""

    text: str
    source: str
    page: str = ""
    values: dict[str, Any] | None = None
    side: str = ""


def costs(variant: str, preset: str) -> dict[str, Finding]:
    """measure -> cost, of the newest measurement; against added positions in a model of the same kind, causal or not.

    Where nothing was measured with the preset, of the preset with most measurements, which the sources name.
    """
    measured = measured_preset(preset)
    rows = read.query("SELECT * FROM newest_costs WHERE preset = ?", [measured])
    baseline = usual_baseline(objective(variant), set(rows.variant))
    entries: dict[str, Finding] = {}
    for row in frames.rows(rows[rows.variant == variant]):
        base = rows[(rows.variant == baseline) & (rows.measure == row.measure)].value
        against = f" ({signed_percent(row.value / base.iloc[0] - 1, 1)})" if len(base) else ""
        ratio = row.value / base.iloc[0] if len(base) else row.value
        text = f"{ratio:.2f}" if row.measure == "step_ratio" else f"{row.value:,.0f}{against}"
        where = f", {row.device}" if row.measure in ("step_ratio", "tokens_per_second", "peak_memory_mib") else ""
        entries[row.measure] = Finding(
            text, f"preset {measured}, run {row.run_id}{where}", "experiments", {"part": "costs", "preset": measured}
        )
    return entries


def own_trainings(preset: str, objective: str = MASKED) -> Trained | None:
    """Our own pre-trainings of a preset, masked or causal; None where there are none."""
    try:
        return select_trainings(TrainingParameters(preset=preset, objective=objective))
    except NoResults:
        return None


def loss(method: Method, trainings: Trained, variant: str = "") -> Finding | None:
    """The final loss against added positions, paired by seed; which side it is on only where the interval says so.

    variant: the method's own where none is given.
    """
    variant = variant or method.variant
    if variant == trainings.baseline or not {variant, trainings.baseline} <= set(trainings.variants):
        return None
    gap = difference(trainings.finals(variant), trainings.finals(trainings.baseline))
    if not gap.n:
        return None
    text = f"final loss {signed(gap.mean)} {UNIT} compared with {named(trainings.baseline)}"
    values = {"part": "gap", "preset": trainings.preset, "objective": trainings.objective}
    source = f"our own training, preset {trainings.preset}, {plural(gap.n, 'paired seed')}"
    if gap.low != gap.low:
        return Finding(f"{text}; {gap.note}", source, "experiments", values, OPEN)
    side = FOR if gap.high < 0 else AGAINST if gap.low > 0 else OPEN
    return Finding(
        f"{text} (95 % interval {signed(gap.low)} to {signed(gap.high)})", source, "experiments", values, side
    )


def longer(trainings: Trained | None, variant: str) -> list[Finding]:
    """The loss of our trainings on longer texts, of decoders where the variant is one; empty where there is none."""
    if trainings is None or variant not in trainings.variants:
        return []
    rows = trainings.curves(*(f"final_loss_{times}x" for times in (1, 2, 4)), variants=[variant])
    if rows.empty:
        return []
    means = rows.groupby("metric").value.mean()
    times = [str(name).removeprefix("final_loss_").removesuffix("x") + "×" for name in means.index]
    text = ", ".join(f"{value:.2f} at {factor}" for factor, value in sorted(zip(times, means, strict=True)))
    kind = "decoders" if trainings.objective == CAUSAL else "encoders"
    return [
        Finding(
            f"loss of our {kind} in {UNIT}: {text} the training length",
            f"our own training, preset {trainings.preset}, {plural(rows.seed.nunique(), 'seed')}",
            "experiments",
            {"part": "length", "preset": trainings.preset, "variants": (trainings.baseline, variant)},
        )
    ]


def longer_as_published(method: Method) -> list[Finding]:
    """The published numbers on texts longer than those of training."""
    sentences = []
    for table_id, row in method.longer:
        table = published.load(table_id)
        cells = table.scores[table.scores.row == row]
        ends = cells.iloc[[0, -1]] if len(cells) > 1 else cells
        text = " → ".join(f"{cell.printed} ({cell.column})" for cell in ends.itertuples())
        measure = cells.metric_title.iloc[0].lower()
        sentences.append(
            Finding(
                f"{measure} {text}",
                table.title,
                "experiments",
                {"part": "published", "published_look": "table", "published_table": table_id},
            )
        )
    return sentences


def compared(pair: Pair) -> list[Finding]:
    """The numbers of columns of a published table in which a row is ahead of added positions, and behind them."""
    table = published.load(pair.table)
    result: Any = published.differences(table, pair.baseline)
    result = result[(result.row == pair.row) & result.higher_is_better.notna()]
    result = result[(result.task != published.GLUE_AVERAGE) & (result.metric != published.GLUE_AVERAGE)]
    better = result[(result.difference > 0) == result.higher_is_better.astype(bool)]
    better = better[better.difference != 0]
    worse = result[(result.difference != 0) & ~result.index.isin(better.index)]
    sentences = []
    for rows, side, comparison in ((better, FOR, "better"), (worse, AGAINST, "worse")):
        if rows.empty:
            continue
        largest = rows.loc[rows.difference.abs().idxmax()]
        sentences.append(
            Finding(
                f"{comparison} than {pair.baseline} in {len(rows)} of {plural(len(result), 'column')}, by up to "
                f"{abs(largest.difference):.3g} {largest.unit} ({largest.column})",
                f"{table.title}, {table.kinds}, with {plural(len(table.notes), 'caveat')}",
                "experiments",
                {
                    "part": "published",
                    "published_look": "table",
                    "published_table": pair.table,
                    "published_baseline": pair.baseline,
                    "published_view": "difference",
                },
                side,
            )
        )
    return sentences


def users(method: Method) -> list[Finding]:
    """Current models that use the method, and the config of transformers, or the part of its code, that shows it."""
    found = [
        Finding(use.models, f"{use.config} of transformers: {use.says} is {use.value}")
        for use in USED.get(method.variant, ())
    ]
    if not found and (use := IN_CODE.get(method.variant)):
        return [Finding(use.models, use.defined)]
    return found


def verdicts(ids: Iterable[str]) -> list[Finding]:
    """The verdicts on claims, statement by statement; open ones are left out, since they say nothing for or against."""
    return [
        Finding(
            f"{part.statement} {capitalised(part.verdict)}.", f"statement {part.id}", "claims", {"claim": claim}, OPEN
        )
        for claim in sorted(set(ids))
        for part in parts(claim)
        if part.verdict != UNDECIDED
    ]
