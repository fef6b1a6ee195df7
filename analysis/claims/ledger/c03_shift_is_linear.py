"""C03: the code of a shifted position is a linear function of the code of the position."""

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    CONTRADICTED,
    FOR,
    MIXED,
    SUPPORTED,
    Claim,
    Evidence,
    QueryResults,
    Verdict,
    register,
    unmeasured,
)
from analysis.core.formatting import join_names, percent, significant

EXACT = 1e-9
NEARLY = 0.95
MEASURES = {
    "shift_residual": "largest entry of PE(pos + k) − M_k PE(pos)",
    "shift_r2_1": "R² of the best linear map by 1 position",
    "shift_r2_8": "R² of the best linear map by 8 positions",
}

QUERIES = {
    "closed_form": "SELECT encoding, title, length, dim, value FROM newest_encoding_measures "
    "WHERE measure = 'shift_residual' AND NOT learned AND enters = 'added' AND isfinite(value) ORDER BY ALL",
    "learned": "SELECT encoding, title, length, dim, measure, value FROM newest_encoding_measures "
    "WHERE measure IN ('shift_r2_1', 'shift_r2_8') AND learned AND isfinite(value) "
    "AND enters = 'added' ORDER BY ALL",
}


def judge(results: QueryResults) -> Verdict:
    """The sinusoids by their residual; learned tables by held-out rows."""
    evidence = [
        Evidence(
            side=FOR if row["value"] <= EXACT else AGAINST,
            description=f"{row['title']}, {row['length']} positions, {row['dim']} dimensions: "
            f"{MEASURES['shift_residual']}",
            value=row["value"],
            unit="residual",
            query="closed_form",
            source=row["title"],
            view=views.encodings(row["encoding"], "distance", length=row["length"], dim=row["dim"]),
        )
        for row in results["closed_form"]
    ]
    learned = [
        Evidence(
            side=FOR if row["value"] >= NEARLY else AGAINST,
            description=f"{row['title']}, {row['length']} positions, {row['dim']} dimensions, positions held out: "
            f"{MEASURES[row['measure']]}",
            value=row["value"],
            unit="R²",
            query="learned",
            source=row["title"],
            view=views.encodings(row["encoding"], "distance", length=row["length"], dim=row["dim"]),
        )
        for row in results["learned"]
    ]
    if not evidence:
        return unmeasured("residual of a sinusoidal shift", "python -m analysis measure-encodings", learned)
    worst = max(row["value"] for row in results["closed_form"])
    exact = worst <= EXACT
    good = [one for one in learned if one.side == FOR]
    word = CONTRADICTED if not exact else SUPPORTED if len(good) == len(learned) else MIXED
    sentence = (
        f"For fixed encodings the residual of the closed form is at most {significant(worst)}"
        f" ({join_names(dict.fromkeys(row['title'] for row in results['closed_form']))})"
        + (
            f"; of {len(learned)} fits to learned tables {len(good)} explain {percent(NEARLY)} of held-out positions "
            f"or more, the worst has R² {min(one.value or 0.0 for one in learned):.2f}."
            if learned
            else "; no learned table is measured."
        )
    )
    return Verdict(
        word=word,
        sentence=sentence,
        effect=worst,
        unit="residual",
        measured="largest residual of the closed form, over fixed encodings that are added",
        threshold=EXACT,
        models=tuple(dict.fromkeys(one.source for one in (*evidence, *learned))),
        samples=len({(r["encoding"], r["length"], r["dim"]) for r in (*results["closed_form"], *results["learned"])}),
        sample_unit="table",
        evidence=(*evidence, *learned),
    )


register(
    Claim(
        id="C03",
        title="A shift is linear",
        question="codes",
        statement="The code of the position k further on is a linear function of the code of the position itself.",
        documents=("000",),
        asks="The residual of the closed-form shift matrix for fixed encodings; for learned tables, how well the best "
        "linear map predicts positions that were held out.",
        rule="Said of the sinusoids, where it is a theorem: contradicted if any fixed added encoding that claims a "
        f"shift matrix misses it by more than {EXACT:g}, well above rounding at double precision. Supported if all "
        f"keep it and every learned table measured is predicted with R² of at least {NEARLY} at positions held out, "
        "shifted by 1 and by 8 (nineteen twentieths: what is left is no more than a twentieth of the variance); mixed "
        "if the sinusoids keep it and a learned table does not.",
        queries=QUERIES,
        judge=judge,
        views=(views.encodings("sinusoidal", "distance"), views.encodings("learned", "distance")),
    )
)
