"""C11: words learn to stay out of the dimensions that position uses."""

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
    unmeasured,
)
from analysis.claims.spaces import ABOVE, BELOW, CORRECTED, LIKE, MAKE, evidence, geometry, models_of, standings
from analysis.core.formatting import percent, plural, significant

RANK = 20
SIDES = {BELOW: FOR, LIKE: AGAINST, ABOVE: AGAINST}
QUERIES = {
    "energy_inside": geometry(
        f"g.measure = 'word_energy_in_position' AND g.along = {RANK} AND g.subject IN ('raw', 'centred') "
        "AND g.layer IS NULL"
    ),
    "by_dimension": geometry("g.measure = 'dimension_correlation' AND g.subject IN ('raw', 'centred')"),
}


def judge(results: QueryResults) -> Verdict:
    """Words' energy where positions live, against random subspaces."""
    every = [*results["energy_inside"], *results["by_dimension"]]
    among = {id(row): one for row, one in zip(every, standings(every), strict=True)}
    rows = [
        evidence(
            row,
            "energy_inside",
            f"Share of the words' energy inside the position subspace of rank {RANK}, {row['subject']}",
            SIDES,
            unit="fraction",
            result=among[id(row)],
        )
        for row in results["energy_inside"]
    ]
    rows += [
        evidence(
            row,
            "by_dimension",
            f"Rank correlation, over dimensions, of the energies of words and of positions, {row['subject']}",
            SIDES,
            unit="correlation",
            result=among[id(row)],
        )
        for row in results["by_dimension"]
    ]
    judged = [row for row in results["energy_inside"] if among[id(row)]]
    if not judged:
        return unmeasured("words' energy inside the position subspace", MAKE, rows)
    models = models_of(judged)
    inside = [among[id(row)] for row in judged]
    sentences = [*inside, *(one for row in results["by_dimension"] if (one := among[id(row)]))]
    if set(sentences) == {BELOW}:
        word = SUPPORTED if len(models) > 1 else INCONCLUSIVE
    elif BELOW not in sentences:
        word = CONTRADICTED
    else:
        word = MIXED
    worst = max(judged, key=lambda row: row["value"] / max(row["baseline"], 1e-12))
    return Verdict(
        word=word,
        sentence=f"In {plural(len(models), 'model')}, words have less energy inside the position subspace than in a "
        f"random one in {inside.count(BELOW)} of {len(inside)} cases, as much in {inside.count(LIKE)}, more in "
        f"{inside.count(ABOVE)}; most against chance in {worst['model']} ({worst['subject']}): "
        f"{percent(worst['value'], 1)}, random {percent(worst['baseline'], 1)}. Dimension by dimension, the energies "
        f"are opposed in {sum(among[id(row)] == BELOW for row in results['by_dimension'])} of "
        f"{len(results['by_dimension'])} cases.",
        effect=worst["value"] / max(worst["baseline"], 1e-12),
        low=None if worst["low"] is None else worst["low"] / max(worst["baseline"], 1e-12),
        high=None if worst["high"] is None else worst["high"] / max(worst["baseline"], 1e-12),
        unit="times chance",
        measured=f"words' energy inside the position subspace of rank {RANK}, where it is most against chance "
        f"({significant(worst['value'])} against {significant(worst['baseline'])})",
        threshold=1.0,
        models=models,
        samples=len(judged),
        sample_unit="pair of tables",
        evidence=tuple(rows),
    )


register(
    Claim(
        id="C11",
        title="Words stay out of position's dimensions",
        question="apart",
        statement="Words learn to keep out of the dimensions that positions use, so that the sum is conceptually a "
        "concatenation.",
        documents=("000", "003"),
        asks="The share of the words' energy inside the position subspace, and the correlation of both energies over "
        "dimensions, against random subspaces and permuted dimensions, in models that add.",
        rule="Staying out is less than chance: a value below what random draws give, after Holm's correction over all "
        "values (one-sided, 2.5 %). Supported if, in at least two models, words have less energy in the position "
        f"subspace of rank {RANK} than in a random one, raw and centred, and the energies over dimensions are "
        "opposed; contradicted if none of these is below chance in any model; mixed otherwise; inconclusive with one "
        "model that agrees.",
        queries=QUERIES,
        judge=judge,
        views=(views.geometry("subspaces"), views.geometry("ranks")),
        changed=CORRECTED,
    )
)
