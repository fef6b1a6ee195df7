"""C09: word-to-position and position-to-word contribute little."""

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
    Row,
    Verdict,
    register,
    unmeasured,
)
from analysis.claims.multiple_testing import p_beyond, significant_after_holm
from analysis.claims.trainings import seeds_among
from analysis.core.formatting import percent, plural

LITTLE, A_HEAD = 0.10, 0.25
SPOKEN = {"word_to_position": "word → position", "position_to_word": "position → word"}
CROSS = "('word_to_position', 'position_to_word')"
QUERIES = {
    "over_heads": "SELECT t.model, m.variant, t.corpus, m.images, t.layer, t.term, t.share, t.share_low, t.share_high, "
    "t.effect, t.texts, t.queries FROM newest_terms t JOIN measured_models m USING (model) "
    f"WHERE m.adds_positions AND t.aggregation = 'mean_over_heads' AND t.term IN {CROSS} "
    "ORDER BY m.images, t.model, t.layer, t.term",
    "heads": "SELECT t.model, t.corpus, m.images, t.layer, t.head, t.term, t.share, t.share_low, t.share_high, "
    "t.effect "
    "FROM newest_terms t JOIN measured_models m USING (model) "
    f"WHERE m.adds_positions AND t.aggregation = 'head' AND t.term IN {CROSS} "
    "ORDER BY abs(t.share) DESC, t.model, t.layer, t.head",
}


def little(row: Row) -> bool | None:
    """Whether the share's interval lies within ± LITTLE; None where it straddles an end."""
    low, high = row["share_low"], row["share_high"]
    if low is None or high is None:
        return None
    if max(abs(low), abs(high)) <= LITTLE:
        return True
    return False if low > LITTLE or high < -LITTLE else None


def judge(results: QueryResults) -> Verdict:
    """Layer by layer of every text model that adds positions; models of images stand beside."""
    texts = [row for row in results["over_heads"] if not row["images"] and row["share"] is not None]
    images = [row for row in results["over_heads"] if row["images"] and row["share"] is not None]
    evidence = [_evidence(row, decides=True) for row in texts] + [_evidence(row, decides=False) for row in images]
    if not texts:
        return unmeasured("terms of a model that adds positions", "python -m analysis measure", evidence)
    heads = [row for row in results["heads"] if not row["images"] and row["share"] is not None]
    past = [row for row in heads if abs(row["share"]) > A_HEAD]
    sure = significant_after_holm([p_beyond(row, A_HEAD) if row in past else 1.0 for row in heads])
    loud = [row for row, held in zip(heads, sure, strict=True) if held]
    evidence += [_evidence(row, decides=row in loud) for row in past[:6]]
    sentences = [little(row) for row in texts]
    models = tuple(dict.fromkeys(row["model"] for row in texts))
    if sum(one is False for one in sentences) > len(sentences) / 2:
        word = CONTRADICTED
    elif loud or False in sentences:
        word = MIXED
    else:
        word = SUPPORTED if len(models) > 1 and not past and None not in sentences else INCONCLUSIVE
    largest = max(texts, key=lambda row: abs(row["share"]))
    sentence = (
        f"Over {plural(len(models), 'model')}{seeds_among(texts)}, "
        f"{sum(one is True for one in sentences)} of {len(sentences)} shares (a layer and "
        f"cross term each, mean over heads) lie within {percent(LITTLE)}; the largest is {SPOKEN[largest['term']]} in "
        f"layer {largest['layer']} of {largest['model']} with {percent(largest['share'])}. "
        f"{len(loud)} of {len(heads)} single heads exceed {percent(A_HEAD)}, corrected for so many"
        + (
            f", up to {percent(loud[0]['share'])} ({SPOKEN[loud[0]['term']]}, layer {loud[0]['layer']}, head "
            f"{loud[0]['head']} of {loud[0]['model']})."
            if loud
            else "."
        )
    )
    if word == INCONCLUSIVE and len(models) == 1:
        sentence += " One model alone decides nothing."
    return Verdict(
        word=word,
        sentence=sentence,
        effect=largest["share"],
        low=largest["share_low"],
        high=largest["share_high"],
        unit="share of the score's variation",
        measured="largest cross term, mean over heads, of any layer and model",
        threshold=LITTLE if largest["share"] >= 0 else -LITTLE,
        models=models,
        samples=max(int(row["texts"] or 0) for row in texts),
        sample_unit="text",
        evidence=tuple(evidence),
    )


def _evidence(row: Row, *, decides: bool) -> Evidence:
    single = "head" in row
    small = abs(row["share"]) <= A_HEAD if single else little(row)
    where = f"head {row['head']}" if single else "mean over heads"
    shown = views.terms(model=row["model"], corpus=row["corpus"])
    if row["images"]:
        shown = views.vision()
    elif row["layer"]:
        shown = views.depth("terms", model=row["model"], corpus=row["corpus"], term=row["term"])
    return Evidence(
        side=(FOR if small else AGAINST if small is False else NEUTRAL) if decides else NEUTRAL,
        description=f"{SPOKEN[row['term']]}, layer {row['layer']}, {where}",
        value=row["share"],
        low=row["share_low"],
        high=row["share_high"],
        unit="share of the score's variation",
        query="heads" if single else "over_heads",
        source=row["model"],
        view=shown,
    )


register(
    Claim(
        id="C09",
        title="The cross terms contribute little",
        question="attention",
        statement="The two terms that compare a word with a position contribute little to attention.",
        documents=("004",),
        asks="The shares of word → position and position → word, per layer and head, over a corpus, in several models "
        "that add positions to words.",
        rule=f"A cross term is little in a layer if the 95 % interval of its share, mean over heads, lies within ±"
        f"{percent(LITTLE)}: sixteen equal terms would have about 6 % each, so little means hardly more than its turn. "
        f"Supported if both are little in every layer of at least two text models and no single head's share lies "
        f"beyond ±{percent(A_HEAD)} (a quarter of what varies in its scores); contradicted if most shares lie beyond "
        f"{percent(LITTLE)}; mixed if some do, or some head's by Holm's correction over all heads (one-sided, 2.5 %); "
        "inconclusive otherwise, where intervals straddle, and with one model. Seeds of one variant count as "
        "models, and are named. Models of images stand beside.",
        queries=QUERIES,
        judge=judge,
        views=(
            views.terms(),
            views.depth("terms", term="word_to_position"),
            views.training("parts"),
            views.vision(),
        ),
        changed=(
            "2026-11-22: Where no share is shown to be large and some interval straddles the line, the verdict is "
            "inconclusive, where it had been mixed: nothing then speaks against. A single head counts against if its "
            "interval lies beyond the line after Holm's correction over the heads, where its share alone had counted.",
        ),
    )
)
