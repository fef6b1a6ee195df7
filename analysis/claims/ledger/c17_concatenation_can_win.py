"""C17: concatenation can beat addition at little extra cost; the best split is not half and half."""

from collections.abc import Iterable

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    CONTRADICTED,
    FOR,
    INCONCLUSIVE,
    MIXED,
    SUPPORTED,
    Claim,
    QueryResults,
    Verdict,
    register,
)
from analysis.claims.contest import (
    DIVERGED,
    LOSS_RULE,
    RULE,
    Contest,
    contest,
    costs,
    decided,
    queries,
    step_times,
    undecided,
)
from analysis.claims.published_evidence import MARGINS_SAID, evidence, gains, pairs, without_repeats
from analysis.claims.trainings import BETTER, FEW, OPEN, SAME, WORSE
from analysis.core.formatting import plural
from analysis.statistics import holm

ALPHA = 0.05
SPLITS = ("concat_20", "concat_05", "concat_50")
HALLAM, MENG, KITAEV = "hallam2026fusion", "meng2021conditional", "kitaev2018constituency"
KINDS = ("Learned Absolute", "Sinusoidal", "Relative", "RoPE")
SIDES = {BETTER: FOR, SAME: AGAINST, WORSE: AGAINST}
R50 = "Conditional DETR-R50 (content and spatial CONCATENATED in cross-attention q,k)"
CONFOUNDED = {
    "detr_r50": pairs(MENG, "README model zoo", R50, "DETR-R50 (content+position added in cross-attention)"),
    "detr_r50_longer": pairs(MENG, "README model zoo", R50, "DETR-R50 (added)", same_steps=False),
    "detr_r101": pairs(
        MENG, "README model zoo", "Conditional DETR-R101 (concatenated)", "DETR-R101 (added)", same_steps=False
    ),
}
"""They concatenate and learn a spatial query besides, some after a tenth of the steps: shown, not counted."""
PRINTED = {
    "hallam_table_1": pairs(HALLAM, "Table 1", "Concat+projection W[E;P]", "Add"),
    **{
        f"hallam_{kind.split()[0].lower()}": pairs(HALLAM, "Table 3", f"{kind}: Concat+projection", f"{kind}: Add")
        for kind in KINDS
    },
    "kitaev_factored": pairs(
        KITAEV,
        "sec 3",
        "factored attention q.k = qc.kc + qp.kp (block-diagonal weights)",
        "additive z=w+m+p",
    ),
    # Printed as a change from adding, not as a score.
    "kitaev_concatenated": "SELECT short, citation, table_name, setting, task, task_title, metric, glue, "
    "'concatenated z=[w+m; p], full weights' AS variant, 'additive z=w+m+p' AS baseline, printed_value AS value, "
    "0.0::DOUBLE AS baseline_value, steps, steps AS baseline_steps, higher_is_better, caveat FROM published_rows "
    f"WHERE citation = '{KITAEV}' AND table_name = 'sec 3' AND variant LIKE 'concatenated z=%: change%' "
    "AND printed_value IS NOT NULL",
}


def judge(results: QueryResults) -> Verdict:
    """Whether any split beats adding, and whether an uneven one beats the even one."""
    against_adding = {name: contest(results, name) for name in SPLITS}
    against_even = {name: contest(results, name, "concat_50") for name in ("concat_20", "concat_05")}
    printed = without_repeats(results, PRINTED)
    published = [one for name in PRINTED for one in gains(printed[name])]
    better = sum(one.standing == BETTER for one in published)
    worse = sum(one.standing == WORSE for one in published)
    rows = [one for outcome in (*against_adding.values(), *against_even.values()) for one in outcome.evidence(SIDES)]
    rows += [one for name in PRINTED for one in evidence(printed[name], name, SIDES)]
    rows += [one for name in CONFOUNDED for one in evidence(results[name], name, {})]
    rows += costs(results)
    text = (
        f"Of {plural(len(published), 'published figure')} {better} are better concatenated by more than "
        f"{MARGINS_SAID}, {worse} worse, {len(published) - better - worse} neither."
        if published
        else ""
    )
    ready = [result for result in against_adding.values() if not result.blocking_reason]
    if len(ready) < len(SPLITS):
        shown = max(against_adding.values(), key=lambda made: made.seeds)
        waiting = next(made for made in against_adding.values() if made.blocking_reason)
        return undecided(_named(shown, waiting), rows, also=text)
    wins, uneven = _better(ready), _better(against_even.values())
    apart = [*wins, *uneven]
    opened = any(
        made.loss is None or made.loss.standing in (OPEN, FEW) or (made.loss.standing == BETTER and made not in apart)
        for made in (*ready, *against_even.values())
    )
    best = min(ready, key=lambda made: made.loss.found.mean if made.loss else 0.0)
    if wins and uneven:
        word = SUPPORTED if not worse else MIXED
    elif wins or uneven:
        word = MIXED
    elif opened:
        word = INCONCLUSIVE
    else:
        word = MIXED if better else CONTRADICTED
    sentence = (
        f"{len(wins)} of {len(ready)} splits end better than adding and {len(uneven)} of {len(against_even)} uneven "
        f"splits better than half and half; the best: {best.summary()}. {text}"
    )
    return decided(best, word, sentence.strip(), rows)


def _better(contests: Iterable[Contest]) -> list[Contest]:
    """Those whose variant ends better, also after Holm's correction: of several splits one may do so by chance."""
    tried = [(outcome, outcome.loss) for outcome in contests if outcome.loss is not None]
    held = holm([loss.found.p for _, loss in tried], ALPHA).rejected
    return [result for (result, loss), apart in zip(tried, held, strict=True) if apart and loss.standing == BETTER]


def _named(shown: Contest, waiting: Contest) -> Contest:
    """The contest with most seeds, unless it is the others that are waited for."""
    return shown if shown.blocking_reason else waiting


register(
    Claim(
        id="C17",
        title="Concatenation can win, split unevenly",
        question="cost",
        statement="Concatenating can do better than adding at little extra cost, and the best split gives positions "
        "far less than half (80/20, 95/5).",
        documents=("003",),
        asks="Our own trainings at three splits of the same width against adding and against each other, the time of "
        "their steps, and published attempts.",
        rule=f"{RULE} {LOSS_RULE} Two things are said: a split of the same width (hence of no extra cost but the "
        "words' dimensions) ends better than adding, and 80/20 or 95/5 ends better than 50/50, each after Holm's "
        "correction over the splits tried. Supported if both hold and no published pair is worse concatenated by more "
        f"than {MARGINS_SAID}; contradicted if neither holds, nothing is left open, and no published pair is better "
        "by more than that; mixed if one holds or the papers disagree; else inconclusive. All three splits must have "
        "their seeds. Published attempts project the concatenation back to the width, which makes it a sum again, or "
        "change more than that: their caveats stand beside them. A figure that a paper prints twice counts once; "
        "detectors that also change the query, or train for other lengths, stand beside uncounted.",
        queries={**queries(*SPLITS, "bert_a"), **PRINTED, **CONFOUNDED, "costs": step_times(*SPLITS)},
        judge=judge,
        views=(
            views.training("curves", "bert_a", *SPLITS),
            views.training("gap"),
            views.published(f"{HALLAM}|Table 1", "Concatenating as published"),
        ),
        changed=(
            *DIVERGED,
            "2026-11-22: Each split must win after Holm's correction over the splits tried. Of several tries the best "
            "wins by chance more often than one.",
        ),
    )
)
