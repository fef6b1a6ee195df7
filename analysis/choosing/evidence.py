"""What the store holds of each method: costs, own losses, longer texts, published comparisons, verdicts."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from analysis import published
from analysis.choosing.methods import Method, Pair
from analysis.claims import stored
from analysis.errors import NoResults
from analysis.figures.training import MASKED, UNIT, Trained, plural, title, trained
from analysis.figures.words import signed, signed_percent
from analysis.statistics import difference
from analysis.store import read

FOR, AGAINST, OPEN = "for", "against", "open"


class Said(NamedTuple):
    """A sentence, where its numbers come from, and the page that shows them."""

    text: str
    source: str
    page: str = ""
    values: dict[str, Any] | None = None
    side: str = ""


def costs(method: Method, preset: str) -> dict[str, Said]:
    """measure -> cost, of the newest measurement; parameters and arithmetic against added positions."""
    rows: Any = read.query("SELECT * FROM newest_costs WHERE preset = ?", [preset])
    found: dict[str, Said] = {}
    for row in rows[rows.variant == method.variant].itertuples():
        base = rows[(rows.variant == "bert_a") & (rows.measure == row.measure)].value
        against = f" ({signed_percent(row.value / base.iloc[0] - 1, 1)})" if len(base) else ""
        text = f"{row.value:.2f}" if row.measure == "step_ratio" else f"{row.value:,.0f}{against}"
        where = f", {row.device}" if row.measure in ("step_ratio", "tokens_per_second", "peak_memory_mib") else ""
        found[row.measure] = Said(text, f"run {row.run_id}{where}", "training", {"part": "costs", "preset": preset})
    return found


def ours(preset: str) -> Trained | None:
    """Our own masked pre-trainings of a preset; None where there are none."""
    try:
        return trained({"preset": preset, "objective": MASKED, "recipe": "", "rate": ""})
    except NoResults:
        return None


def loss(method: Method, found: Trained) -> Said | None:
    """The final loss against added positions, paired by seed; which side it is on only where the interval says so."""
    if method.variant == found.baseline or not {method.variant, found.baseline} <= set(found.variants):
        return None
    gap = difference(found.finals(method.variant), found.finals(found.baseline))
    if not gap.n:
        return None
    told = f"{signed(gap.mean)} {UNIT} against {title(found.baseline)}"
    values = {"part": "gap", "preset": found.preset}
    source = f"own training, preset {found.preset}, {plural(gap.n, 'paired seed')}"
    if gap.low != gap.low:
        return Said(f"{told}; {gap.note}", source, "training", values, OPEN)
    side = FOR if gap.high < 0 else AGAINST if gap.low > 0 else OPEN
    return Said(f"{told} (95 % interval {signed(gap.low)} to {signed(gap.high)})", source, "training", values, side)


def longer(method: Method, found: Trained | None) -> list[Said]:
    """The loss on longer texts: ours, and as published."""
    said = []
    if found and method.variant in found.variants:
        rows = found.curves(*(f"final_loss_{times}x" for times in (1, 2, 4)), variants=[method.variant])
        if len(rows):
            means = rows.groupby("metric").value.mean()
            times = [str(name).removeprefix("final_loss_").removesuffix("x") + "×" for name in means.index]
            text = ", ".join(f"{value:.2f} at {many}" for many, value in sorted(zip(times, means, strict=True)))
            seeds = plural(rows.seed.nunique(), "seed")
            values = {"part": "length", "preset": found.preset, "variants": ("bert_a", method.variant)}
            said.append(
                Said(f"loss in {UNIT}: {text} the training length", f"own training, {seeds}", "training", values)
            )
    for table_id, row in method.longer:
        table = _table(table_id)
        cells = table.scores[table.scores.row == row]
        ends = cells.iloc[[0, -1]] if len(cells) > 1 else cells
        text = " → ".join(f"{cell.printed} ({cell.column})" for cell in ends.itertuples())
        measure = cells.metric_title.iloc[0].lower()
        said.append(Said(f"{measure} {text}", table.title, "published", {"table": table_id}))
    return said


def compared(pair: Pair) -> list[Said]:
    """In how many columns of a published table a row is ahead of added positions, and in how many behind."""
    table = _table(pair.table)
    found: Any = published.differences(table, pair.baseline)
    found = found[(found.row == pair.row) & found.higher_is_better.notna()]
    found = found[(found.task != published.GLUE_AVERAGE) & (found.metric != published.GLUE_AVERAGE)]
    better = found[(found.difference > 0) == found.higher_is_better.astype(bool)]
    better = better[better.difference != 0]
    worse = found[(found.difference != 0) & ~found.index.isin(better.index)]
    said = []
    for rows, side, word in ((better, FOR, "better"), (worse, AGAINST, "worse")):
        if rows.empty:
            continue
        most = rows.loc[rows.difference.abs().idxmax()]
        said.append(
            Said(
                f"{word} than {pair.baseline} in {len(rows)} of {plural(len(found), 'column')}, by up to "
                f"{abs(most.difference):.3g} {most.unit} ({most.column})",
                f"{table.title}, {table.kinds}, {plural(len(table.notes), 'caveat')} there",
                "published",
                {"table": pair.table, "baseline": pair.baseline, "view": "difference"},
                side,
            )
        )
    return said


def verdicts(ids: Iterable[str]) -> list[Said]:
    """What the ledger makes of claims."""
    wanted = set(ids)
    return [
        Said(f"{entry.title}: {entry.verdict}", f"claim {entry.id}", "claims", {"claim": entry.id}, OPEN)
        for entry in stored.ledger()
        if entry.id in wanted
    ]


def _table(table: str) -> published.Table:
    return _tables(table, stored.version())


@lru_cache(maxsize=64)
def _tables(table: str, version: tuple[str, int, int]) -> published.Table:
    del version  # Only tells one store from another.
    return published.load(table)
