"""C09: word-to-position and position-to-word contribute little."""

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    BESIDE,
    CONTRADICTED,
    FOR,
    INCONCLUSIVE,
    MIXED,
    SUPPORTED,
    Claim,
    Evidence,
    Found,
    Row,
    Verdict,
    register,
    unmeasured,
)
from analysis.claims.said import percent, plural, seeds_among

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


def judge(found: Found) -> Verdict:
    """Layer by layer of every text model that adds positions; models of images stand beside."""
    texts = [row for row in found["over_heads"] if not row["images"] and row["share"] is not None]
    images = [row for row in found["over_heads"] if row["images"] and row["share"] is not None]
    evidence = [_evidence(row, decides=True) for row in texts] + [_evidence(row, decides=False) for row in images]
    if not texts:
        return unmeasured("terms of a model that adds positions", "python -m analysis measure", evidence)
    heads = [row for row in found["heads"] if not row["images"] and row["share"] is not None]
    loud = [row for row in heads if abs(row["share"]) > A_HEAD]
    evidence += [_evidence(row, decides=True) for row in loud[:6]]
    said = [little(row) for row in texts]
    models = tuple(dict.fromkeys(row["model"] for row in texts))
    small = all(one is True for one in said)
    if small and not loud and len(models) > 1:
        word = SUPPORTED
    elif small and not loud:
        word = INCONCLUSIVE
    elif sum(one is False for one in said) > len(said) / 2:
        word = CONTRADICTED
    else:
        word = MIXED
    largest = max(texts, key=lambda row: abs(row["share"]))
    sentence = (
        f"Over {plural(len(models), 'model')}{seeds_among(texts)}, "
        f"{sum(one is True for one in said)} of {len(said)} shares (a layer and "
        f"cross term each, mean over heads) lie within {percent(LITTLE)}; the largest is {SPOKEN[largest['term']]} in "
        f"layer {largest['layer']} of {largest['model']} with {percent(largest['share'])}. "
        f"{len(loud)} of {len(heads)} single heads exceed {percent(A_HEAD)}"
        + (
            f", up to {percent(loud[0]['share'])} ({SPOKEN[loud[0]['term']]}, layer {loud[0]['layer']}, head "
            f"{loud[0]['head']} of {loud[0]['model']})."
            if loud
            else "."
        )
    )
    if word == INCONCLUSIVE:
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
        side=(FOR if small else AGAINST if small is False else BESIDE) if decides else BESIDE,
        says=f"{SPOKEN[row['term']]}, layer {row['layer']}, {where}",
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
        f"Supported if both are little in every layer of at least two text models and no single head has a share "
        "beyond "
        f"±{percent(A_HEAD)} (a quarter of what varies in its scores); contradicted if most shares lie beyond "
        f"{percent(LITTLE)}; mixed otherwise. With one model: inconclusive. Seeds of one variant count as "
        "models, and are named. Models of images stand beside.",
        queries=QUERIES,
        judge=judge,
        views=(
            views.terms(),
            views.depth("terms", term="word_to_position"),
            views.training("parts"),
            views.vision(),
        ),
    )
)
