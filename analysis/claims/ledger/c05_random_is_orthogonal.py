"""C05: random vectors in high dimension are nearly orthogonal."""

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
from analysis.claims.spaces import MAKE, evidence
from analysis.core.formatting import interval_text, percent, significant

HIGH, NEARLY, AGREES = 128, 0.1, 0.05
REAL = {
    "word_word": "pairs of words",
    "word_position": "a word and a position",
    "position_position": "pairs of positions",
}
QUERIES = {
    "random_vectors": "SELECT measure, subject, along AS dimension, value, low, high, baseline, samples, created "
    "FROM newest_geometry WHERE measure = 'abs_cosine_random' AND isfinite(value) ORDER BY along",
    "real_vectors": "SELECT model, measure, subject, layer, head, along, value, low, high, baseline, baseline_low, "
    "baseline_high, samples FROM newest_geometry WHERE measure = 'abs_cosine' "
    "AND subject IN ('word_word', 'word_position', 'position_position') AND isfinite(value) "
    "QUALIFY along = max(along) OVER (PARTITION BY model, subject) ORDER BY model, subject",
}


def judge(results: QueryResults) -> Verdict:
    """Measured on random vectors, with the exact mean beside it."""
    rows = [
        Evidence(
            side=NEUTRAL if row["dimension"] < HIGH else FOR if row["value"] < NEARLY else AGAINST,
            description=f"Mean |cosine| of random vectors in {int(row['dimension'])} dimensions; by the formula "
            f"{significant(row['baseline'] or 0.0, 4)}",
            value=row["value"],
            low=row["low"],
            high=row["high"],
            unit="|cosine|",
            query="random_vectors",
            source="random vectors",
            view=views.geometry("angles"),
        )
        for row in results["random_vectors"]
    ]
    rows += [
        evidence(row, "real_vectors", f"Mean |cosine| of {REAL[row['subject']]}", {}, unit="|cosine|")
        for row in results["real_vectors"]
    ]
    high = [row for row in results["random_vectors"] if row["dimension"] >= HIGH]
    if not high:
        return unmeasured(f"cosines of random vectors in {HIGH} dimensions or more", MAKE, rows)
    least = min(high, key=lambda row: row["dimension"])
    agree = all(
        row["baseline"] is None or abs(row["value"] - row["baseline"]) <= AGREES * row["baseline"] for row in high
    )
    near = [row["value"] < NEARLY for row in high]
    word = MIXED if not agree else SUPPORTED if all(near) else MIXED if any(near) else CONTRADICTED
    far = [row for row in results["real_vectors"] if row["value"] >= NEARLY]
    real = (
        f" Of {len(results['real_vectors'])} means over real vectors, {len(far)} are not below {NEARLY}: real vectors "
        "are not random ones."
        if results["real_vectors"]
        else ""
    )
    return Verdict(
        word=word,
        sentence=f"Random vectors in {int(least['dimension'])} dimensions have a mean |cosine| of "
        f"{significant(least['value'])}{interval_text(least['low'], least['high'], '.4f')}, "
        f"{'as' if agree else 'not as'} the exact formula has it ({significant(least['baseline'] or 0.0)}).{real}",
        effect=least["value"],
        low=least["low"],
        high=least["high"],
        unit="|cosine|",
        measured=f"mean |cosine| of random vectors in {int(least['dimension'])} dimensions",
        threshold=NEARLY,
        models=("random vectors",),
        samples=int(least["samples"] or 0),
        sample_unit="pair",
        evidence=tuple(rows),
    )


register(
    Claim(
        id="C05",
        title="Random vectors are nearly orthogonal",
        question="apart",
        statement="Vectors drawn at random in a space of many dimensions are almost at right angles to each other.",
        documents=("002", "003"),
        asks="Mean |cosine| of random vectors against dimension, measured and by the exact formula; of real word and "
        "position vectors beside.",
        rule=f"Supported if in every dimension measured from {HIGH} up the mean |cosine| of random vectors is below "
        f"{NEARLY} (an angle of 84 degrees or more) and within {percent(AGREES)} of the exact formula; contradicted "
        "if it is below in none; mixed otherwise. It is a theorem: what it says of words and positions that were "
        "trained, and not drawn at random, is C06; their cosines stand beside.",
        queries=QUERIES,
        judge=judge,
        views=(views.geometry("angles"),),
    )
)
