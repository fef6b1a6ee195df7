"""C02: the first dimensions of the sinusoidal code vary much with position, the last hardly; half of 512 move."""

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
    Row,
    Verdict,
    register,
    unmeasured,
)
from analysis.core.formatting import join_names, percent

HALF, AROUND, MOST = 0.5, 0.1, 0.9
SAYS = {
    "moving_dims": "share of the dimensions that range over more than 0.5",
    "first_half_share": "share of the variance that the first half of the dimensions holds",
    "top_half_share": "share of the variance that the more variable half holds, wherever its dimensions lie",
}
MEASURES = "('moving_dims', 'first_half_share', 'top_half_share')"
FORMS = "('sinusoidal', 'tensor2tensor', 'fairseq')"
QUERIES = {
    "sinusoids": "SELECT encoding, title, length, dim, measure, value FROM newest_encoding_measures "
    f"WHERE encoding IN {FORMS} AND length = 128 AND dim = 512 AND measure IN {MEASURES} AND isfinite(value) "
    "ORDER BY encoding, measure",
    "other_codes": "SELECT encoding, title, length, dim, measure, value FROM newest_encoding_measures "
    f"WHERE encoding NOT IN {FORMS} AND enters = 'added' AND measure IN {MEASURES} AND isfinite(value) "
    "ORDER BY encoding, length, measure",
}


def value(row: Row) -> float:
    """Of a measure, all as fractions."""
    return row["value"] / row["dim"] if row["measure"] == "moving_dims" else row["value"]


def holds(row: Row) -> bool:
    """Whether a measure is as the documents say."""
    if row["measure"] == "moving_dims":
        return abs(value(row) - HALF) <= AROUND
    return value(row) >= MOST


def judge(results: QueryResults) -> Verdict:
    """Both halves of the claim, in every form of the sinusoids."""
    evidence = [
        Evidence(
            side=NEUTRAL
            if name == "other_codes" or row["measure"] == "top_half_share"
            else FOR
            if holds(row)
            else AGAINST,
            description=f"{row['title']}, {row['length']} positions, {row['dim']} dimensions: {SAYS[row['measure']]}",
            value=value(row),
            unit="fraction",
            query=name,
            source=row["title"],
            view=views.encodings(row["encoding"], "values", length=row["length"], dim=row["dim"]),
        )
        for name in QUERIES
        for row in results[name]
    ]
    moving = [row for row in results["sinusoids"] if row["measure"] == "moving_dims"]
    first = [row for row in results["sinusoids"] if row["measure"] == "first_half_share"]
    if not moving or not first:
        return unmeasured(
            "movement of the sinusoids' dimensions, by their place", "python -m analysis measure-encodings", evidence
        )
    sentences = [holds(row) for row in (*moving, *first)]
    word = SUPPORTED if all(sentences) else CONTRADICTED if not any(sentences) else MIXED
    ends = [percent(one) for one in sorted(value(row) for row in moving)]
    places = join_names(f"{percent(value(row))} in the {row['title']} form" for row in first)
    return Verdict(
        word=word,
        sentence=f"Within 128 positions {' to '.join(dict.fromkeys((ends[0], ends[-1])))} of 512 dimensions range over "
        f"more than 0.5; the first half of the dimensions holds {places} of the variance.",
        effect=min(value(row) for row in first),
        unit="share of the variance",
        measured="what the first half of the dimensions holds, in the form where that is least",
        threshold=MOST,
        models=tuple(row["title"] for row in moving),
        samples=len(moving),
        sample_unit="form of the sinusoids",
        evidence=tuple(evidence),
    )


register(
    Claim(
        id="C02",
        title="The first dimensions move, the last hardly",
        question="codes",
        statement="In the sinusoidal code the first dimensions vary much with position and the last hardly at all: "
        "within 128 positions about half of 512 dimensions move.",
        documents=("001", "003"),
        asks="Range and variance of every dimension over 128 positions, in each published form of the sinusoids "
        "(interleaved, or all sines before all cosines).",
        rule=f"Two things are said. Half move: between {percent(HALF - AROUND)} and {percent(HALF + AROUND)} of the "
        "dimensions range over more than 0.5, a quarter of a sine's full range. It is the first ones: the first half "
        f"of the dimensions holds at least {percent(MOST)} of the variance, so that the last half has less than a "
        "tenth. Supported if both hold in every form measured, contradicted if neither holds in any, mixed otherwise. "
        "Computed, not sampled: no interval. Other codes stand beside.",
        queries=QUERIES,
        judge=judge,
        views=(
            views.encodings("sinusoidal", "values", length=128, dim=512),
            views.encodings("tensor2tensor", "values", length=128, dim=512),
        ),
    )
)
