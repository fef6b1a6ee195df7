"""C10: addition is a super-case of concatenation: training can zero out the dimensions it does not need."""

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
from analysis.core.formatting import plural, significant

RANK = 20
SAYS = {
    "dimension_participation": "Dimensions that positions use, by the participation ratio of their energies",
    "dimension_correlation": "Rank correlation, over dimensions, of the energies of words and of positions",
    "effective_rank": "Effective rank of the position table",
    "word_energy_in_position": f"Share of the words' energy inside the position subspace of rank {RANK}",
}
UNITS = {
    "dimension_participation": "dimensions",
    "dimension_correlation": "correlation",
    "effective_rank": "directions",
    "word_energy_in_position": "fraction",
}
QUERIES = {
    "axes": geometry(
        "((g.measure = 'dimension_participation' AND g.subject = 'position_centred') "
        "OR (g.measure = 'dimension_correlation' AND g.subject = 'centred'))"
    ),
    "subspaces": geometry(
        "((g.measure = 'effective_rank' AND g.subject = 'position_centred') "
        f"OR (g.measure = 'word_energy_in_position' AND g.subject = 'centred' AND g.along = {RANK} "
        "AND g.layer IS NULL))"
    ),
}


def judge(results: QueryResults) -> Verdict:
    """Each model: apart by axes, apart by subspaces, or neither."""
    sides = {BELOW: FOR, LIKE: AGAINST, ABOVE: AGAINST}
    every = [*results["axes"], *results["subspaces"]]
    names = [name for name in QUERIES for _ in results[name]]
    sentences = standings(every)
    rows = [
        evidence(row, name, SAYS[row["measure"]], sides, unit=UNITS[row["measure"]], result=one)
        for row, name, one in zip(every, names, sentences, strict=True)
    ]
    by_model: dict[str, dict[str, str | None]] = {}
    for row, one in zip(every, sentences, strict=True):
        by_model.setdefault(row["model"], {})[row["measure"]] = one
    whole = {model: one for model, one in by_model.items() if UNITS.keys() <= one.keys()}
    if not whole:
        return unmeasured("energy of words and positions by dimension and subspace", MAKE, rows)
    axes = [one["dimension_participation"] == BELOW and one["dimension_correlation"] == BELOW for one in whole.values()]
    spaces = [one["effective_rank"] == BELOW and one["word_energy_in_position"] == BELOW for one in whole.values()]
    if all(axes):
        word = SUPPORTED if len(whole) > 1 else INCONCLUSIVE
    elif not any(axes) and not any(spaces):
        word = CONTRADICTED
    else:
        word = MIXED
    correlated = [row for row in results["axes"] if row["measure"] == "dimension_correlation" and row["model"] in whole]
    most = max(correlated, key=lambda row: row["value"])
    return Verdict(
        word=word,
        sentence=f"Of {plural(len(whole), 'model')}, tables centred, positions keep to few dimensions that words "
        f"avoid in {sum(axes)}, and to few directions that words avoid in {sum(spaces)}. The energies of words and "
        f"positions over dimensions correlate by at most {significant(most['value'], 2)} ({most['model']}).",
        effect=most["value"],
        low=most["low"],
        high=most["high"],
        unit="correlation",
        measured="energies of words and of positions over dimensions, in the model where they agree most",
        threshold=most["baseline_low"],
        models=models_of([row for row in every if row["model"] in whole]),
        samples=len(whole),
        sample_unit="model",
        evidence=tuple(rows),
    )


register(
    Claim(
        id="C10",
        title="Adding can become concatenating",
        question="apart",
        statement="Adding contains concatenating: training is free to give positions some dimensions and words the "
        "others, with zeros elsewhere.",
        documents=("001", "003"),
        asks="How many dimensions and directions the position table uses, and whether words avoid them, in trained "
        "models that add.",
        rule="That it can is algebra; the question is whether training does so. Apart by axes: positions use fewer "
        "dimensions than a random table, and dimensions rich in position are poor in words (rank correlation), both "
        "below what random draws give after Holm's correction over all values (one-sided, 2.5 %), tables centred "
        "(less their means). Apart by subspaces: the same of directions (effective rank; words' energy in the "
        f"position subspace of rank {RANK}). Supported if every model, of two at least, is apart by axes, as zeros in "
        "one another's dimensions would be; contradicted if no model is apart in either way; mixed otherwise; "
        "inconclusive with one model that is.",
        queries=QUERIES,
        judge=judge,
        views=(views.geometry("ranks"), views.geometry("subspaces")),
        changed=CORRECTED,
    )
)
