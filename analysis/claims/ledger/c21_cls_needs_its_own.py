"""C21: [CLS] needs its own position handling, or it becomes too local."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    CONTRADICTED,
    FOR,
    INCONCLUSIVE,
    MIXED,
    NEUTRAL,
    SUPPORTED,
    Claim,
    Evidence,
    QueryResults,
    Rows,
    Verdict,
    register,
)
from analysis.claims.contest import DIVERGED, GLUE_RULE, RULE, contest, decided, queries, training, undecided
from analysis.claims.published_evidence import MARGINS, average, averages, pairs
from analysis.claims.trainings import BETTER, FEWEST, SAME, WORSE
from analysis.core.formatting import interval_text, percent, plural, signed
from analysis.statistics import Difference, difference, equivalence

TUPE = "ke2021tupe"
UNTIED, TIED = "tupe_a", "tupe_a_tie_cls"
SIDES = {BETTER: FOR, SAME: AGAINST, WORSE: AGAINST}
REACH_MARGIN = 0.05
"""Of the distance of even attention: the least change of reach that matters."""
REACH = (
    "SELECT l.model, m.variant, regexp_extract(l.model, '^([a-z]+)-', 1) AS preset, "
    "regexp_extract(l.model, '-([0-9]+)(-[0-9a-f]{12})?$', 1) AS seed, avg(l.value / l.even) AS reach, "
    "regexp_extract(l.model, '-([0-9a-f]{12})$', 1) AS run_id, "
    "count(*) AS heads, max(l.windows) AS windows FROM newest_locality l JOIN measured_models m USING (model) "
    f"WHERE m.variant IN ('{UNTIED}', '{TIED}') AND l.query = 'cls' AND l.measure = 'mean_distance' "
    "AND l.head IS NOT NULL AND isfinite(l.value) GROUP BY l.model, m.variant, l.corpus ORDER BY l.model, windows"
)
MAKE = f"{training(UNTIED, TIED)}, then python -m analysis measure-order on every checkpoint"


@dataclass(frozen=True)
class Reach:
    """How far [CLS] attends when tied less when untied, in the distance of even attention, over shared seeds."""

    found: Difference

    @property
    def nearer(self) -> bool | None:
        """Whether tied [CLS] attends nearer; None where too few seeds, or their spread, leave it open."""
        if self.found.n < FEWEST:
            return None
        shown = equivalence(self.found, REACH_MARGIN)
        if shown.within_margin:
            return False
        return self.found.mean < 0 if shown.verdict == "different" else None

    def told(self) -> str:
        """In a sentence."""
        change = percent(abs(self.found.mean), 1)
        span = interval_text(100 * self.found.low, 100 * self.found.high, "+.1f")
        standing = {True: "nearer", False: "not nearer", None: "open"}[self.nearer]
        return (
            f"Tied, [CLS] attends {change} of the distance of even attention "
            f"{'nearer' if self.found.mean < 0 else 'further'} than untied{span}, "
            f"n = {plural(self.found.n, 'seed')}: {standing}."
        )


def reach(rows: Rows) -> Reach | None:
    """The comparison at the preset with most seeds in common; None where there is none."""
    sides: dict[str, dict[str, dict[Hashable, float]]] = {}
    for row in rows:
        sides.setdefault(row["preset"], {UNTIED: {}, TIED: {}})[row["variant"]][row["seed"]] = row["reach"]
    best = max(sides.values(), key=lambda by: len(by[UNTIED].keys() & by[TIED].keys()), default=None)
    if best is None or not best[UNTIED].keys() & best[TIED].keys():
        return None
    return Reach(difference(best[TIED], best[UNTIED]))


def _reaches(rows: Rows, result: Reach | None) -> list[Evidence]:
    view = views.depth("order", models=tuple(row["model"] for row in rows))
    each = [
        Evidence(
            side=NEUTRAL,
            description=f"Mean distance at which [CLS] attends over words, mean over {plural(row['heads'], 'head')} "
            "of all "
            "layers; 1 is even attention",
            value=row["reach"],
            unit="of the distance of even attention",
            query="reach",
            source=row["model"],
            view=view,
        )
        for row in rows
    ]
    if result is None:
        return each
    whole = Evidence(
        side=NEUTRAL if result.nearer is None else FOR if result.nearer else AGAINST,
        description=f"The same tied less untied, {plural(result.found.n, 'seed')}",
        value=result.found.mean,
        low=result.found.low,
        high=result.found.high,
        unit="of the distance of even attention",
        query="reach",
        source=f"own trainings, {plural(result.found.n, 'seed')}",
        view=view,
    )
    return [whole, *each]


def judge(results: QueryResults) -> Verdict:
    """How far [CLS] attends tied and untied; GLUE of both, own and published."""
    own = contest(results, UNTIED, TIED)
    # Of checkpoints that name their run, those of the contest; the kept ones name none, and are of the preset's own.
    counted = [row for row in results["reach"] if not own.loss or not row["run_id"] or row["run_id"] in own.loss.runs]
    seen = reach(counted)
    rows = [*own.evidence(SIDES), *_reaches(counted, seen)]
    rows += averages(results["tupe_table_1"], "tupe_table_1", SIDES)
    means = [average(results["tupe_table_1"], without) for without in ((), ("cola",))]
    known = [one for one in means if one is not None]
    text = (
        f"TUPE's table has {signed(known[0])} points for untying [CLS], {signed(known[-1])} without CoLA."
        if known
        else ""
    )
    text = f"{text} {seen.told() if seen else 'How far [CLS] attends is not measured.'}".strip()
    if own.glue is None or own.glue_blocking_reason:
        return undecided(own, rows, also=text if own.loss or known or seen else "", why=own.glue_blocking_reason)
    clear = bool(known) and min(known) >= MARGINS["points"]
    nearer = seen.nearer if seen else None
    # Each of the three says yes or no; what is open lets nothing be decided.
    scores = {BETTER: True, SAME: False, WORSE: False}.get(own.glue.standing)
    parts = [nearer, scores, clear]
    word = INCONCLUSIVE if None in parts else SUPPORTED if all(parts) else MIXED if any(parts) else CONTRADICTED
    result = decided(own, word, f"{own.summary()}. {text}", rows, glue=True)
    return result if nearer is not None else lacking(result, seen)


def lacking(result: Verdict, seen: Reach | None) -> Verdict:
    """The verdict with what its measurement of reach lacks."""
    count = seen.found.n if seen else 0
    if count >= FEWEST:
        return result
    return replace(
        result, missing=f"the reach of [CLS] of {FEWEST} seeds, tied and untied; {count} stored", command=MAKE
    )


register(
    Claim(
        id="C21",
        title="[CLS] needs a position of its own",
        question="training",
        statement="[CLS] has to be treated apart from other positions, or its attention becomes too local to stand for "
        "the sentence.",
        documents=("004",),
        asks="How far [CLS] attends with its position untied and tied, over the words of a text; our own GLUE average "
        "of TUPE-A with [CLS] untied against tied, and TUPE's table.",
        rule=f"{RULE} {GLUE_RULE} Fine-tunings must have {FEWEST} seeds too. Three things are asked. Does tied [CLS] "
        "attend nearer? The mean distance at which it attends, over words alone (itself and separators left out, "
        "where attention rests that has nothing to fetch) and over that of even attention, all heads of all layers "
        f"counting alike: yes if it is less tied than untied over {FEWEST} shared seeds or more by a t interval, no if "
        f"it is more, or two one-sided tests put the difference within {percent(REACH_MARGIN)} of even attention's "
        "distance, else open. Is our own GLUE average better untied? Is TUPE's by a point or more, with CoLA and "
        "without? Supported if all three are so, contradicted if none is, mixed otherwise; inconclusive while one of "
        "our own is open.",
        queries={
            **queries(UNTIED, TIED),
            "reach": REACH,
            "tupe_table_1": pairs(TUPE, "Table 1", "TUPE-A", "TUPE-A^tie-cls"),
        },
        judge=judge,
        views=(
            views.depth("order"),
            views.glue("difference"),
            views.training("curves", UNTIED, TIED),
            views.training("parts"),
            views.published(f"{TUPE}|Table 1", "TUPE, Table 1"),
        ),
        changed=DIVERGED,
    )
)
