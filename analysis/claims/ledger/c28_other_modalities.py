"""C28: other modalities add positions the same way."""

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
    Rows,
    Verdict,
    register,
    unmeasured,
)
from analysis.claims.multiple_testing import p_beyond, significant_after_holm
from analysis.core.formatting import interval_text, percent, plural, significant

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


def _takes_part(rows: Rows) -> tuple[bool, ...]:
    """Which terms of one model have a share beyond the threshold, corrected for how many there are."""
    return significant_after_holm([p_beyond(row, TAKES_PART) for row in rows])


def _none_takes_part(rows: Rows) -> bool:
    """Whether the shares of all terms of one model are shown to lie within the threshold."""
    ends = [(row["share_low"], row["share_high"]) for row in rows]
    return all(low is not None and high is not None and max(-low, high) <= TAKES_PART for low, high in ends)


def judge(results: QueryResults) -> Verdict:
    """The same identity, and whether position takes part."""
    rows = [
        Evidence(
            side=NEUTRAL if row["relative_error"] is None else FOR if row["relative_error"] <= EXACT else AGAINST,
            description="Largest difference between the sum of terms of patch and position and the model's own score, "
            f"{plural(row['layers'], 'layer')}",
            value=row["relative_error"],
            unit="relative error",
            query="reconstruction",
            source=row["model"],
            view=views.vision(),
        )
        for row in results["reconstruction"]
    ]
    by_model: dict[str, list[Row]] = {}
    for row in results["position_shares"]:
        by_model.setdefault(row["model"], []).append(row)
    takes: dict[str, bool | None] = {}
    for model, terms in by_model.items():
        parts = _takes_part(terms)
        takes[model] = True if any(parts) else False if _none_takes_part(terms) else None
        rows += [
            Evidence(
                side=FOR if part else AGAINST if takes[model] is False else NEUTRAL,
                description=f"{row['term'].replace('_', ' ').replace('word', 'patch')}, layer 0, mean over heads",
                value=row["share"],
                low=row["share_low"],
                high=row["share_high"],
                unit="share of the score's variation",
                query="position_shares",
                source=model,
                view=views.vision(),
            )
            for row, part in zip(terms, parts, strict=True)
        ]
    errors: dict[str, float] = {}
    for row in results["reconstruction"]:
        if row["relative_error"] is not None:
            errors[row["model"]] = max(row["relative_error"], errors.get(row["model"], 0.0))
    whole = {model: part for model, part in takes.items() if model in errors}
    if not whole:
        return unmeasured("terms of a model of images", "python -m analysis measure-images --model MODEL", rows)
    good = [part if errors[model] <= EXACT else False for model, part in whole.items()]
    if True in good and False in good:
        word = MIXED
    elif len(good) < 2 or None in good:
        word = INCONCLUSIVE
    else:
        word = SUPPORTED if all(good) else CONTRADICTED
    most = max(results["position_shares"], key=lambda row: abs(row["share"]))
    alone = len(good) == 1
    return Verdict(
        word=word,
        sentence=f"In {good.count(True)} of {plural(len(good), 'model')} of images both hold. The terms of patch and "
        f"position add up to the models' own scores (largest relative error {significant(max(errors.values()))}); the "
        f"largest term with position at layer 0 is {most['term'].replace('_', ' ').replace('word', 'patch')} with "
        f"{percent(most['share'], 1)} of the variation{interval_text(most['share_low'], most['share_high'], '.3f')} in "
        f"{most['model']}."
        + (" One model alone decides nothing, and the documents name another one (ViT-MAE)." if alone else ""),
        effect=most["share"],
        low=most["share_low"],
        high=most["share_high"],
        unit="share of the score's variation",
        measured="largest term with position at layer 0 of a model of images",
        threshold=TAKES_PART if most["share"] >= 0 else -TAKES_PART,
        models=tuple(whole),
        samples=max(int(row["texts"] or 0) for row in results["position_shares"]),
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
        "of the largest) and position takes part in what attention asks: of patch to position, position to patch and "
        f"position to position one has a share beyond ±{percent(TAKES_PART)} of the variation at layer 0, mean over "
        "heads, after Holm's correction over the three (one-sided, 2.5 %, read off the 95 % intervals); it takes none "
        "if all three intervals lie within. Supported if both hold in every model of images measured, two at least; "
        "contradicted if one fails in each of at least two; mixed if they hold in some and fail in others; else "
        "inconclusive, as with one model.",
        queries=QUERIES,
        judge=judge,
        views=(views.vision(),),
        changed=(
            "2026-11-22: Shares are corrected for the three terms tried, and a model fails only if all three intervals "
            "lie within the line: not shown to take part is not shown to take none.",
        ),
    )
)
