"""The pictures of Home: ways of telling positions compared, and the cards of the certain, the measured and the open."""

from collections.abc import Mapping
from dataclasses import replace

from analysis.ablation.variants import title
from analysis.claims.statements import stored as statements
from analysis.claims.statements.judgement import CONTRADICTED, OPEN, SUPPORTED
from analysis.core import default_model, frames
from analysis.core.errors import AddendError
from analysis.core.formatting import power_of_ten
from analysis.figures.experiments.board_rows import VariantRow, board
from analysis.figures.reading.cut import OWN, RANDOM, REFERENCES
from analysis.figures.reading.told import COMPARED, JudgedChange, changed_from, decided_again, depth, judged_changes
from analysis.measurements.surgery.arms import RANK
from analysis.narrative.answer.sentences import told_once
from analysis.narrative.answer.stored_answer import answer
from analysis.narrative.front_page import (
    Bar,
    Card,
    FrontPage,
    LastChange,
    Separated,
    SimilarityCurve,
    WayOfTelling,
)
from analysis.narrative.reading.length import minutes
from analysis.store import read
from analysis.store.paths import cached_until_store_changes

PRESET = "width128"


@cached_until_store_changes()
def front_page() -> FrontPage:
    """The content of Home, computed from the store."""
    ways = ways_of_telling()
    every = (*ways, *_whole_method()) if ways else ()
    return FrontPage(steps=answer(), ways=every, cards=cards(), apart=separated(), minutes=minutes())


def ways_of_telling() -> tuple[WayOfTelling, ...]:
    """The ways of one recipe whose trainings are all stored; none where they cannot be compared with adding."""
    rows, quoted, remarks = _rows(PRESET), told_once.variants(), _remarks()
    ways = {
        variant: way
        for variant in COMPARED
        if (way := _way(variant, rows.get(variant), remarks.get(variant, ()), quoted=variant in quoted)) is not None
    }
    first = next(iter(ways.values()), None)
    return tuple(ways.values()) if len(ways) > 1 and first and not first.changes else ()


def _whole_method() -> tuple[WayOfTelling, ...]:
    """Rotary positions, where a sentence quotes them."""
    variant = told_once.rotary_variant()
    remarks = _remarks().get(variant, ())
    way = _way(variant, _rows(PRESET).get(variant), remarks, quoted=True) if remarks else None
    return () if way is None else (replace(way, method=True),)


def _rows(preset: str) -> Mapping[str, VariantRow]:
    """Variant -> its row on the board of a preset; empty where nothing is stored."""
    try:
        return {row.variant: row for row in board(preset).rows}
    except AddendError:
        return {}


def _remarks() -> Mapping[str, tuple[str, ...]]:
    """Variant -> the sentences that stand in its row."""
    remarks = told_once.remarks(statements.by_id())
    return {one.variant: tuple(other.sentence for other in remarks if other.variant == one.variant) for one in remarks}


def _way(variant: str, row: VariantRow | None, remarks: tuple[str, ...], *, quoted: bool) -> WayOfTelling | None:
    """One way; None while its seeds are fewer than a verdict needs, or one of them never leaves the plateau."""
    if row is None or row.steps is None or not row.steps.always:
        return None
    if row.outcome == "baseline":
        difference, low, high, seeds = 0.0, 0.0, 0.0, len(row.losses)
    elif row.gap is None or not row.gap.judged:
        return None
    else:
        difference, low, high, seeds = row.gap.value, float(row.gap.low), float(row.gap.high), row.gap.seeds
    judged = judged_changes([variant]).get(variant)
    return WayOfTelling(
        name=title(variant), changes=depth(variant, 1), quoted=quoted, difference=difference, low=low, high=high,
        seeds=seeds, steps=round(row.steps.value), last_change=_last_change(variant, row, judged),
        undecided=row.outcome == "unresolved" and not decided_again(variant, judged), remarks=remarks,
        margin=board(PRESET).margin,
    )  # fmt: skip


def _last_change(variant: str, row: VariantRow, judged: JudgedChange | None) -> LastChange | None:
    """A variant's last change alone: by the newest statement about it, else by its board where it changes adding."""
    if judged is not None:
        return LastChange(difference=judged.difference, standing=judged.standing, seeds=judged.seeds)
    if changed_from(variant) == "bert_a" and row.gap is not None:
        decided = row.outcome if row.outcome in ("lower", "higher", "same") else OPEN
        return LastChange(difference=row.gap.value, standing=decided, seeds=row.gap.seeds)
    return None


def separated() -> Separated | None:
    """The surgery of the default model at 14 directions; None where it is not stored."""
    curve = _curve()
    width = read.query("SELECT hidden_size FROM models WHERE model = ?", [default_model.NAME])
    if curve is None or width.empty:
        return None
    return Separated(
        rank=RANK,
        width=int(width.hidden_size.iloc[0]),
        intact=curve.trained,
        separated=curve.values[curve.kept.index(RANK)],
    )


def _curve() -> SimilarityCurve | None:
    """The surgery of the default model by the number of directions; None where it is not stored."""
    rows = read.query(
        "SELECT operation, rank, avg(value) AS value FROM newest_surgery WHERE model = ? GROUP BY ALL ORDER BY rank",
        [default_model.NAME],
    )
    single = {row.operation: float(row.value) for row in frames.rows(rows[rows["rank"].isna()])}
    own, random = (rows[rows.operation == operation] for operation in (OWN, RANDOM))
    kept = tuple(int(rank) for rank in own["rank"])
    if RANK not in kept or not REFERENCES.keys() <= single.keys():
        return None
    trained, without = (single[name] for name in REFERENCES)
    return SimilarityCurve(
        kept=kept,
        values=tuple(float(value) for value in own.value),
        marked=RANK,
        random=tuple((int(row.rank), float(row.value)) for row in frames.rows(random)),
        trained=trained,
        without=without,
    )


def cards() -> tuple[Card, ...]:
    """The three cards in order; a card whose numbers are not stored is left out."""
    return tuple(card for card in (_certain(), _measured(), _open()) if card is not None)


def _certain() -> Card | None:
    step = next((step for step in answer() if step.name == "algebra"), None)
    if step is None or step.value is None:
        return None
    return Card(
        kind="certain",
        sentence="Adding is concatenating with the two blocks of the matrix tied together. Checked to an error below "
        f"{power_of_ten(step.value)}.",
        link=step.link,
        page=step.page,
        values=step.values,
    )


def _measured() -> Card | None:
    curve = _curve()
    if curve is None:
        return None
    separated = statements.by_id().get("C10d")
    verdict = separated.verdict if separated else OPEN
    made = "when its sum is made a concatenation"
    claims = {
        SUPPORTED: f"{default_model.NAME} judges sentence similarity as well as before {made}",
        CONTRADICTED: f"{default_model.NAME} judges sentence similarity less well {made}",
    }
    claim = claims.get(verdict, "Sentence similarity of a real model when its sum is made a concatenation")
    return Card(
        kind="measured",
        sentence=f"{claim}, with {curve.marked} directions for positions (agreement with people's ratings).",
        link="Choose the directions yourself",
        page="read",
        values={"step": "cut"},
        curve=curve,
    )


def _open() -> Card | None:
    counts = statements.counts()
    total = sum(counts.values())
    if not total:
        return None
    waiting = sum(one.verdict == OPEN and one.missing + one.planned > 0 for one in statements.statements())
    to_come = f"; {waiting} {'waits' if waiting == 1 else 'wait'} for planned runs" if waiting else ""
    return Card(
        kind="open",
        sentence=f"{counts[OPEN]} of {total} statements are not decided yet{to_come}. Each names the experiment that "
        "would decide it.",
        link="What would decide them",
        page="claims",
        values={"verdict": OPEN, "by": "verdict"},
        bars=tuple(
            Bar(name=word, value=count / total, text=str(count), strong=word == OPEN) for word, count in counts.items()
        ),
    )
