"""C28: other modalities add positions the same way."""

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
from analysis.claims.said import between, number, percent, plural

EXACT, TAKES_PART = 1e-4, 0.05
WITH_POSITION = "('word_to_position', 'position_to_word', 'position_to_position')"
QUERIES = {
    "reconstruction": "SELECT t.model, t.corpus, count(DISTINCT t.layer) AS layers, max(t.relative_error) AS "
    "relative_error, max(t.texts) AS images FROM newest_terms t JOIN measured_models m USING (model) "
    "WHERE m.images AND t.aggregation = 'head' GROUP BY ALL ORDER BY t.model",
    "position_shares": "SELECT t.model, t.corpus, t.layer, t.term, t.share, t.share_low, t.share_high, t.effect, "
    "t.texts "
    "FROM newest_terms t JOIN measured_models m USING (model) WHERE m.images AND t.aggregation = 'mean_over_heads' "
    f"AND t.term IN {WITH_POSITION} AND t.layer = 0 AND isfinite(t.share) ORDER BY t.model, t.term",
}


def _takes_part(row: Row) -> bool:
    low, high = row["share_low"], row["share_high"]
    return low is not None and high is not None and (low > TAKES_PART or high < -TAKES_PART)


def judge(found: Found) -> Verdict:
    """The same identity, and whether position takes part."""
    rows = [
        Evidence(
            side=BESIDE if row["relative_error"] is None else FOR if row["relative_error"] <= EXACT else AGAINST,
            says="Largest difference between the sum of terms of patch and position and the model's own score, "
            f"{plural(row['layers'], 'layer')}",
            value=row["relative_error"],
            unit="relative error",
            query="reconstruction",
            source=row["model"],
            view=views.vision(),
        )
        for row in found["reconstruction"]
    ]
    parts = [_takes_part(row) for row in found["position_shares"]]
    takes: dict[str, bool] = {}
    for row, part in zip(found["position_shares"], parts, strict=True):
        takes[row["model"]] = takes.get(row["model"], False) or part
    for row, part in zip(found["position_shares"], parts, strict=True):
        rows.append(
            Evidence(
                side=FOR if part else BESIDE if takes[row["model"]] else AGAINST,
                says=f"{row['term'].replace('_', ' ').replace('word', 'patch')}, layer 0, mean over heads",
                value=row["share"],
                low=row["share_low"],
                high=row["share_high"],
                unit="share of the score's variation",
                query="position_shares",
                source=row["model"],
                view=views.vision(),
            )
        )
    errors = {r["model"]: r["relative_error"] for r in found["reconstruction"] if r["relative_error"] is not None}
    whole = {model: part for model, part in takes.items() if model in errors}
    if not whole:
        return unmeasured("terms of a model of images", "python -m analysis measure-images --model MODEL", rows)
    good = [part and errors[model] <= EXACT for model, part in whole.items()]
    if all(good):
        word = SUPPORTED if len(good) > 1 else INCONCLUSIVE
    else:
        word = CONTRADICTED if not any(good) and len(good) > 1 else MIXED if any(good) else INCONCLUSIVE
    most = max(found["position_shares"], key=lambda row: abs(row["share"]))
    alone = len(good) == 1
    return Verdict(
        word=word,
        sentence=f"In {sum(good)} of {plural(len(good), 'model')} of images both hold. The terms of patch and "
        "position add up "
        f"to the models' own scores (largest relative error {number(max(errors.values()))}); the largest term with "
        f"position at layer 0 is {most['term'].replace('_', ' ').replace('word', 'patch')} with "
        f"{percent(most['share'], 1)} of the variation{between(most['share_low'], most['share_high'], '.3f')} in "
        f"{most['model']}."
        + (" One model alone decides nothing, and the documents name another one (ViT-MAE)." if alone else ""),
        effect=most["share"],
        low=most["share_low"],
        high=most["share_high"],
        unit="share of the score's variation",
        measured="largest term with position at layer 0 of a model of images",
        threshold=TAKES_PART if most["share"] >= 0 else -TAKES_PART,
        models=tuple(whole),
        samples=max(int(row["texts"] or 0) for row in found["position_shares"]),
        sample_unit="image",
        missing="terms of a second model of images" if alone else "",
        command="python -m analysis measure-images --model MODEL" if alone else "",
        evidence=tuple(rows),
    )


register(
    Claim(
        id="C28",
        title="Other modalities add positions too",
        question="beyond",
        statement="Models of other modalities, as vision transformers, add positions to their inputs in the same way.",
        documents=("000",),
        asks="The same terms between the patches of images, with their reconstruction error, in vision transformers.",
        rule=f"The same way means: the terms of patch and position add up to the model's own scores (within {EXACT:g} "
        "of "
        f"the largest) and position takes part in what attention asks (some term with position has a share beyond "
        f"±{percent(TAKES_PART)} of the variation at layer 0, mean over heads, 95 % interval included). Supported if "
        "both "
        "hold in every model of images measured, two at least; contradicted if they hold in none of at least two; "
        "mixed if "
        "in some; inconclusive with one model.",
        queries=QUERIES,
        judge=judge,
        views=(views.vision(),),
    )
)
