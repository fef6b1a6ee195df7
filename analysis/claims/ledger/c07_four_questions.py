"""C07: with position added, attention asks four questions at once."""

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
    Verdict,
    register,
    unmeasured,
)
from analysis.claims.trainings import seeds_among
from analysis.core.formatting import percent, plural, significant

EXACT, MOVES = 1e-4, 0.01
FOUR = "('word_to_word', 'word_to_position', 'position_to_word', 'position_to_position')"
QUERIES = {
    "reconstruction": "SELECT t.model, m.images, t.corpus, count(DISTINCT t.layer) AS layers, "
    "max(t.relative_error) AS relative_error, max(t.max_error) AS max_error, max(t.texts) AS texts "
    "FROM newest_terms t JOIN measured_models m USING (model) WHERE m.adds_positions AND t.aggregation = 'head' "
    "GROUP BY ALL ORDER BY m.images, t.model",
    "questions": "SELECT t.model, m.variant, m.images, t.corpus, t.layer, t.head, count(*) AS terms, min(t.effect) AS "
    "least_effect, "
    "arg_min(t.term, t.effect) AS least_asked FROM newest_terms t JOIN measured_models m USING (model) "
    f"WHERE m.adds_positions AND t.aggregation = 'head' AND t.layer = 0 AND t.term IN {FOUR} "
    "GROUP BY ALL ORDER BY m.images, t.model, t.layer, t.head",
}


def judge(results: QueryResults) -> Verdict:
    """The sum must add up, and the four terms must all matter somewhere."""
    whole = [row for row in results["reconstruction"] if row["relative_error"] is not None]
    heads = [row for row in results["questions"] if row["terms"] == 4 and row["least_effect"] is not None]
    evidence = [
        Evidence(
            side=FOR if row["relative_error"] <= EXACT else AGAINST,
            description="Largest difference between the sum of terms and the model's own score, relative to the "
            "largest "
            f"score, {plural(row['layers'], 'layer')}, over {row['corpus']}",
            value=row["relative_error"],
            unit="relative error",
            query="reconstruction",
            source=row["model"],
            view=views.vision() if row["images"] else views.terms(model=row["model"], corpus=row["corpus"]),
        )
        for row in whole
    ]
    shares: dict[str, float] = {}
    for model in dict.fromkeys(row["model"] for row in heads):
        own = [row for row in heads if row["model"] == model]
        shares[model] = sum(row["least_effect"] >= MOVES for row in own) / len(own)
        images = bool(own[0]["images"])
        evidence.append(
            Evidence(
                side=NEUTRAL if images else FOR if shares[model] > 0.5 else AGAINST,
                description=f"Heads of layer 0 in which each of the four terms moves the pattern by {MOVES} nats or "
                "more, of "
                f"{plural(len(own), 'head')}",
                value=shares[model],
                unit="share of heads",
                query="questions",
                source=model,
                view=views.vision() if images else views.terms(model=model, corpus=own[0]["corpus"], measure="effect"),
            )
        )
    texts = [row for row in heads if not row["images"]]
    if not whole or not texts:
        return unmeasured("terms of a model that adds positions", "python -m analysis measure", evidence)
    worst = max(row["relative_error"] for row in whole)
    all_four = [row["least_effect"] >= MOVES for row in texts]
    share = sum(all_four) / len(all_four)
    models = tuple(dict.fromkeys(row["model"] for row in texts))
    most = [shares[model] > 0.5 for model in models]
    if worst > EXACT:
        word = CONTRADICTED
    elif all(most):
        word = SUPPORTED if len(models) > 1 else INCONCLUSIVE
    else:
        word = MIXED
    return Verdict(
        word=word,
        sentence=f"The terms add up to the model's own scores in all {plural(len(whole), 'model')} (largest relative "
        f"error {significant(worst)}). All four questions matter at once in {sum(all_four)} of "
        f"{plural(len(texts), 'head')} "
        f"of layer 0 ({percent(share)}), over {plural(len(models), 'text model')}{seeds_among(texts)}; in {sum(most)} "
        "of them that is most heads."
        if worst <= EXACT
        else f"The terms do not add up to the model's own scores: largest relative error {significant(worst)}.",
        effect=share,
        unit="share of heads",
        measured=f"heads of layer 0 in which all four terms move the pattern by {MOVES} nats or more",
        threshold=0.5,
        models=models,
        samples=len(texts),
        sample_unit="head",
        evidence=tuple(evidence),
    )


register(
    Claim(
        id="C07",
        title="Attention asks four questions at once",
        question="attention",
        statement="Once positions are added, every score holds four questions: word to word, word to position, "
        "position to word, position to position.",
        documents=("002", "003"),
        asks="The sixteen terms of real models with their reconstruction error, and the effect of each of the four on "
        "the attention pattern, head by head.",
        rule="That the score is such a sum is an identity: contradicted if the terms miss a model's own scores by "
        f"more than {EXACT:g} of the largest (single precision leaves 1e-6). That all four are asked at once is not: "
        f"a question counts as asked in a head if taking its term away moves the pattern by {MOVES} nats or more (by "
        "Pinsker's inequality less moves at most 7 % of the attention). Supported if the identity holds and in each "
        "of at least two text models most heads of layer 0 ask all four; mixed if the identity holds and they do not; "
        "inconclusive with one model; seeds of one variant count as models, and are named. Layer 0 alone is exact; "
        "models of images stand beside.",
        queries=QUERIES,
        judge=judge,
        views=(views.terms(measure="effect"), views.depth("terms", measure="effect")),
    )
)
