"""C04: nearby positions have similar codes."""

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    CONTRADICTED,
    FOR,
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
from analysis.core.formatting import join_names, percent, significant

GAP, ORDERED = 0.2, 0.9
APART = ("random_fixed", "sincos_2d")
"""Random codes are no code of order, and rows of a grid are not in a line: both stand beside."""
QUERIES = {
    "similarity": "SELECT encoding, title, length, dim, "
    "max(value) FILTER (measure = 'cosine_next') AS cosine_next, max(value) FILTER (measure = 'cosine_far') AS "
    "cosine_far, max(value) FILTER (measure = 'monotonicity') AS monotonicity, "
    "max(value) FILTER (measure = 'first_rise') AS first_rise "
    "FROM newest_encoding_measures WHERE enters = 'added' GROUP BY ALL "
    "HAVING isfinite(cosine_next) AND isfinite(cosine_far) ORDER BY encoding, length",
}


def judge(results: QueryResults) -> Verdict:
    """Every added code that is one of order, by what is near against far, and by how steadily it falls."""
    evidence, gaps, ordered, sentences = [], [], [], []
    for row in results["similarity"]:
        gap, falls = row["cosine_next"] - row["cosine_far"], row["monotonicity"]
        where = f"{row['title']}, {row['length']} positions, {row['dim']} dimensions"
        view = views.encodings(row["encoding"], "distance", length=row["length"], dim=row["dim"])
        beside = row["encoding"] in APART
        more = f"; first rises again at distance {significant(row['first_rise'])}" if row["first_rise"] else ""
        evidence.append(
            Evidence(
                side=NEUTRAL if beside else FOR if gap >= GAP else AGAINST,
                description=f"{where}: cosine of neighbours less that of positions half the length apart or more",
                value=gap,
                unit="cosine",
                query="similarity",
                source=row["title"],
                view=view,
            )
        )
        if falls is not None:
            evidence.append(
                Evidence(
                    side=NEUTRAL if beside else FOR if falls >= ORDERED else AGAINST,
                    description=f"{where}: probability that the nearer of two positions is the more similar{more}",
                    value=falls,
                    unit="probability",
                    query="similarity",
                    source=row["title"],
                    view=view,
                )
            )
        if not beside:
            gaps.append(gap)
            sentences.append(row["title"])
            ordered.append(falls is not None and falls >= ORDERED)
    if not gaps:
        return unmeasured("similarity of an added code of position", "python -m analysis measure-encodings", evidence)
    near = [gap >= GAP for gap in gaps]
    word = SUPPORTED if all(near) and all(ordered) else CONTRADICTED if not any(near) else MIXED
    names = list(dict.fromkeys(sentences))
    return Verdict(
        word=word,
        sentence=f"Of {len(gaps)} tables of {join_names(names)}, neighbours are more similar than far positions by at "
        f"least {GAP} of cosine in {sum(near)} (least {significant(min(gaps))}), and in {sum(ordered)} the nearer of "
        "two "
        f"is the more similar at least {percent(ORDERED)} of the time.",
        effect=min(gaps),
        unit="cosine",
        measured="neighbours less far positions, in the table where that is least",
        threshold=GAP,
        models=tuple(names),
        samples=len(gaps),
        sample_unit="table",
        evidence=tuple(evidence),
    )


register(
    Claim(
        id="C04",
        title="Near positions have similar codes",
        question="codes",
        statement="Positions that are near each other have similar codes.",
        documents=("002",),
        asks="Cosine of neighbours and of far positions, and how often the nearer of two positions is the more "
        "similar, for every code that is added.",
        rule=f"Supported if in every table of a code of order neighbours are at least {GAP} of cosine more similar "
        "than positions half the length apart or more (a fifth of the way from unrelated to equal), and the nearer of "
        f"two positions is the more similar at least {percent(ORDERED)} of the time (chance: 50 %); contradicted if "
        "in no table neighbours are that much more similar; mixed otherwise. Random codes and grids stand beside. "
        "Computed on whole tables: no interval.",
        queries=QUERIES,
        judge=judge,
        views=(views.encodings("sinusoidal", "distance"), views.encodings("learned", "all")),
    )
)
