"""C12: adding a position can turn one word into another; two sums may collide."""

from analysis.claims import views
from analysis.claims.base import (
    AGAINST,
    FOR,
    INCONCLUSIVE,
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
from analysis.claims.spaces import MAKE, evidence, geometry, models_of
from analysis.core.formatting import percent, plural, significant

COLLIDES = 0.01
CASES = (
    "SELECT model, measure, word, position, other_word, other_position, distance, margin FROM newest_neighbours "
    "WHERE measure = '{}' QUALIFY row_number() OVER (PARTITION BY model ORDER BY {}) <= 20 ORDER BY model, {}"
)
QUERIES = {
    "kept_everywhere": geometry("g.measure = 'word_kept_everywhere' AND g.subject = 'raw'"),
    "kept_by_position": geometry("g.measure = 'word_kept' AND g.subject = 'raw' AND g.value < 1"),
    "collision_ratio": geometry("g.measure = 'collision_ratio'"),
    "changed_words": CASES.format("changed_word", "margin", "margin"),
    "nearest_collisions": CASES.format("collision", "distance", "distance"),
}


def judge(results: QueryResults) -> Verdict:
    """Whether any word is turned into another, and whether any two sums meet."""
    rows = []
    for row in results["kept_everywhere"]:
        one = evidence(
            _turned(row),
            "kept_everywhere",
            f"Share of {plural(int(row['samples'] or 0), 'sampled word')} that some position turns into another",
            {},
            unit="share of words turned",
        )
        rows.append(_sided(one, FOR if row["value"] < 1 else AGAINST))
    for row in results["collision_ratio"]:
        one = evidence(
            row,
            "collision_ratio",
            "Nearest collision of two sums, over the least distance of two words",
            {},
            unit="ratio",
        )
        rows.append(_sided(one, FOR if row["value"] < COLLIDES else AGAINST))
    for row in results["changed_words"][:8]:
        rows.append(
            Evidence(
                side=NEUTRAL,  # The share above counts it already.
                description=f"“{row['word']}” + position {row['position']} is nearest to “{row['other_word']}”",
                value=row["margin"],
                unit="distance gained",
                query="changed_words",
                source=row["model"],
                view=views.geometry("words"),
            )
        )
    for row in results["nearest_collisions"][:8]:
        rows.append(
            Evidence(
                side=NEUTRAL,
                description=f"“{row['word']}” + position {row['position']} comes near “{row['other_word']}” + position "
                f"{row['other_position']}",
                value=row["distance"],
                unit="distance",
                query="nearest_collisions",
                source=row["model"],
                view=views.geometry("collisions"),
            )
        )
    kept, ratios = results["kept_everywhere"], results["collision_ratio"]
    if not kept or not ratios:
        return unmeasured("nearest words and collisions after adding a position", MAKE, rows)
    turned = [row["value"] < 1 for row in kept]
    collide = [row["value"] < COLLIDES for row in ratios]
    word = SUPPORTED if any(turned) and any(collide) else MIXED if any(turned) or any(collide) else INCONCLUSIVE
    least, nearest = min(kept, key=lambda row: row["value"]), min(ratios, key=lambda row: row["value"])
    return Verdict(
        word=word,
        sentence=f"In {sum(turned)} of {plural(len(turned), 'model')} some position turns some word into another; at "
        f"worst {percent(1 - least['value'], 2)} of {plural(int(least['samples'] or 0), 'sampled word')} change "
        f"somewhere ({least['model']}). Of the {int(nearest['samples'] or 0):,} nearest pairs of sampled words, the "
        f"nearest two sums lie {significant(nearest['value'])} times the least distance of two words apart "
        f"({nearest['model']}), which is {'' if any(collide) else 'no '}collision.",
        effect=1 - least["value"],
        low=None if least["high"] is None else 1 - least["high"],
        high=None if least["low"] is None else 1 - least["low"],
        unit="share of words turned",
        measured="sampled words that some position turns into another, in the model where they are most",
        threshold=0.0,
        models=models_of([*kept, *ratios]),
        samples=int(least["samples"] or 0),
        sample_unit="word",
        evidence=tuple(rows),
    )


def _turned(row: Row) -> Row:
    """The share of words kept as the share of words turned: it, its interval and its baseline the other way round."""
    ends = {"value": "value", "low": "high", "high": "low", "baseline": "baseline"}
    ends |= {"baseline_low": "baseline_high", "baseline_high": "baseline_low"}
    return {**row, **{to: None if row[of] is None else 1 - row[of] for to, of in ends.items()}}


def _sided(one: Evidence, side: str) -> Evidence:
    return Evidence(**{**one.__dict__, "side": side})


register(
    Claim(
        id="C12",
        title="A position can turn one word into another",
        question="apart",
        statement="Adding a position may turn one word into another (king becomes slave), and two different words at "
        "different positions may give the same sum.",
        documents=("003",),
        asks="For every word and position the nearest word to the sum; the nearest two sums of different words over "
        "vocabulary and positions, and their margin.",
        rule="Two things are said. A word is turned if its sum with some position lies nearer to another word than to "
        f"itself. Two sums collide if they are nearer than {percent(COLLIDES)} of the least distance of two words: "
        "real numbers never meet exactly. Supported if each happens in some model measured (the claim is that it "
        "may), mixed if only one is found, inconclusive if neither is: words are sampled, and collisions sought among "
        "the nearest pairs of sampled words, so that none found is not none there. How often is the effect.",
        queries=QUERIES,
        judge=judge,
        views=(views.geometry("words"), views.geometry("collisions")),
        changed=(
            "2026-11-21: Finding neither is inconclusive, where it had contradicted. Words are sampled, and none found "
            "in a sample is not none there.",
        ),
    )
)
