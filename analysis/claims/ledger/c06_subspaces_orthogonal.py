"""C06: the word and position subspaces of a trained model are nearly orthogonal."""

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
    Row,
    Verdict,
    register,
    unmeasured,
)
from analysis.claims.spaces import ABOVE, BELOW, CORRECTED, LIKE, MAKE, evidence, geometry, models_of, standings
from analysis.core.formatting import percent, plural, significant

RANK = 20
SIDES = {ABOVE: AGAINST, LIKE: FOR, BELOW: FOR}
SUBJECTS = {"raw": "tables as they stand", "centred": "tables less their mean", "states": "hidden states"}
SAYS = {
    "subspace_overlap": f"Mean squared cosine of the principal angles of both subspaces of rank {RANK}",
    "smallest_angle": f"Smallest angle between both subspaces of rank {RANK}",
    "word_energy_in_position": f"Share of the words' energy inside the position subspace of rank {RANK}",
    "position_energy_in_word": f"Share of the positions' energy inside the word subspace of rank {RANK}",
}
UNITS = {"smallest_angle": "degrees"}
QUERIES = {
    "overlap": geometry(
        f"g.measure = 'subspace_overlap' AND g.along = {RANK} AND g.subject IN ('raw', 'centred') AND g.layer IS NULL"
    ),
    "angles_and_energy": geometry(
        "g.measure IN ('smallest_angle', 'word_energy_in_position', 'position_energy_in_word') "
        f"AND g.along = {RANK} AND g.subject IN ('raw', 'centred') AND g.layer IS NULL"
    ),
    "deeper": geometry(f"g.measure = 'subspace_overlap' AND g.along = {RANK} AND g.subject = 'states'"),
}


def judge(results: QueryResults) -> Verdict:
    """Overlap of the tables' subspaces against random subspaces, raw and centred."""
    counted = [
        row for name in QUERIES if name != "deeper" for row in results[name] if row["measure"] != "smallest_angle"
    ]
    among = {id(row): one for row, one in zip(counted, standings(counted), strict=True)}
    rows = []
    for name in QUERIES:
        for row in results[name]:
            # A smaller angle is more in common, so its sides are the other way round.
            sides = {BELOW: AGAINST, LIKE: FOR, ABOVE: FOR} if row["measure"] == "smallest_angle" else SIDES
            says = f"{SAYS[row['measure']]}, {SUBJECTS[row['subject']]}"
            rows.append(
                evidence(
                    row,
                    name,
                    says,
                    {} if name == "deeper" else sides,
                    unit=UNITS.get(row["measure"], "fraction"),
                    result=among.get(id(row)),
                )
            )
    judged = [row for row in results["overlap"] if among[id(row)]]
    models = models_of(judged)
    if not judged:
        return unmeasured("overlap of word and position subspaces", MAKE, rows)
    sentences = [among[id(row)] for row in judged]
    energies = [row for row in counted if row["measure"] != "subspace_overlap" and among[id(row)]]
    inside = [row for row in energies if among[id(row)] == ABOVE]
    if ABOVE not in sentences and not inside:
        word = SUPPORTED if len(models) > 1 else INCONCLUSIVE
    elif set(sentences) == {ABOVE}:
        word = CONTRADICTED if all(row["value"] > 2 * row["baseline_high"] for row in judged) else MIXED
    else:
        word = MIXED
    worst = max(judged, key=lambda row: row["value"] / max(row["baseline_high"], 1e-12))
    return Verdict(
        word=word,
        sentence=f"In {plural(len(models), 'model')}, raw and centred, {sum(one == ABOVE for one in sentences)} of "
        f"{len(sentences)} overlaps of the rank-{RANK} subspaces of words and positions exceed what random subspaces "
        "have; "
        f"the largest is {significant(worst['value'])} in {worst['model']} ({worst['subject']}), random "
        f"{significant(worst['baseline'])}, 95 % of draws up to {significant(worst['baseline_high'])}."
        + _told(inside, len(energies)),
        effect=worst["value"],
        low=worst["low"],
        high=worst["high"],
        unit="mean squared cosine",
        measured=f"overlap of the rank-{RANK} subspaces, where it exceeds chance most",
        threshold=worst["baseline_high"],
        models=models,
        samples=len(judged),
        sample_unit="pair of tables",
        evidence=tuple(rows),
    )


def _told(inside: list[Row], count: int) -> str:
    """A sentence on the energies of the one in the other's subspace, with a space before it."""
    if not count:
        return ""
    text = f" Of {count} energies of the one inside the other's subspace {len(inside)} exceed it too"
    if not inside:
        return f"{text}."
    most = max(inside, key=lambda row: row["value"] / max(row["baseline_high"], 1e-12))
    whose = "words" if most["measure"] == "word_energy_in_position" else "positions"
    return (
        f"{text}, most that of the {whose} in {most['model']} ({most['subject']}): {percent(most['value'])}, random "
        f"{percent(most['baseline'])}."
    )


register(
    Claim(
        id="C06",
        title="Word and position subspaces are nearly orthogonal",
        question="apart",
        statement="In a trained model the subspace of words and that of positions are nearly orthogonal.",
        documents=("002", "003"),
        asks="Overlap and principal angles of the leading subspaces of the word and position tables, raw and less "
        "their means, and how much energy of the one lies in the other, against random subspaces of the same rank.",
        rule="Nearly orthogonal means no more overlap than random subspaces have, which is what the documents argue "
        f"from. Judged at rank {RANK}, enough for the position tables measured and far below the width. Supported if "
        "in at least two models no overlap and no energy of the one in the other's subspace, raw or centred, lies "
        "above what random draws give, after Holm's correction over all of them (one-sided, 2.5 %); contradicted if "
        "all overlaps lie above it, by more than twice the end of 95 % of draws; mixed otherwise; inconclusive with "
        "one model within chance. Angles stand on their side; hidden states of deeper layers beside.",
        queries=QUERIES,
        judge=judge,
        views=(views.geometry("subspaces"),),
        changed=(
            "2026-11-21: The energies of the one in the other's subspace decide too, since the measurements named "
            "beforehand include them.",
            *CORRECTED,
        ),
    )
)
