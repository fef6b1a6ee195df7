"""C01: concatenating raises the dimension, or takes it from the words; adding does not."""

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
from analysis.claims.contest import title
from analysis.core.formatting import join_names, percent, signed

MATTERS = 0.05
DECIDE = {"parameters": "parameters", "flops_per_token": "FLOPs a token", "step_ratio": "time of a step"}
MEASURES = {**DECIDE, "peak_memory_mib": "peak memory"}
WIDE, NARROW = "concat_wide", ("concat_50", "concat_20", "concat_05")
QUERIES = {
    "costs": "SELECT c.variant, c.preset, c.measure, c.value, b.value AS bert_a, c.device, c.created "
    "FROM newest_costs c JOIN newest_costs b ON b.run_id = c.run_id AND b.measure = c.measure AND b.variant = 'bert_a' "
    "WHERE c.variant IN ('concat_wide', 'concat_50', 'concat_20', 'concat_05') AND b.value > 0 "
    "ORDER BY c.preset, c.variant, c.measure",
    "hsiao_abstract": "SELECT short, citation, table_name, variant, task_title, metric, printed, caveat "
    "FROM published_rows WHERE citation = 'hsiao2024reinforced' ORDER BY row_number",
}


def judge(results: QueryResults) -> Verdict:
    """The wider model must cost more, and the models of the same width must not."""
    presets = sorted({str(row["preset"]) for row in results["costs"]}, key=lambda name: (name != "cpu", name))
    rows = [row for row in results["costs"] if presets and row["preset"] == presets[0]]
    more = {(row["variant"], row["measure"]): row["value"] / row["bert_a"] - 1 for row in rows}
    published = [
        Evidence(
            side=NEUTRAL,
            description=f"{row['variant']}: {row['task_title']}, {row['metric']}: {row['printed']}",
            value=None,
            query="hsiao_abstract",
            source=f"{row['short']}, {row['table_name']}",
            citation=row["citation"],
            caveat=row["caveat"] or "",
            view=views.published(f"{row['citation']}|{row['table_name']}", "As published"),
        )
        for row in results["hsiao_abstract"]
    ]
    evidence = [
        Evidence(
            side=NEUTRAL if measure not in DECIDE else FOR if (value >= MATTERS) == (variant == WIDE) else AGAINST,
            description=f"{title(variant)} against BERT-A: {MEASURES[measure]}, preset {presets[0]}",
            value=value,
            unit="more than BERT-A, as a fraction",
            query="costs",
            source=title(variant),
            view=views.training("costs"),
        )
        for (variant, measure), value in more.items()
        if measure in MEASURES
    ] + published
    wide = {name: more[WIDE, name] for name in DECIDE if (WIDE, name) in more}
    narrow = {v: [more[v, name] for name in DECIDE if (v, name) in more] for v in NARROW}
    narrow = {v: values for v, values in narrow.items() if values}
    if not wide or not narrow:
        return unmeasured(
            "costs of concatenation at the same and at a larger width",
            "python -m analysis measure-costs --preset cpu --variants bert_a,concat_50,concat_20,concat_05,concat_wide",
            evidence,
        )
    dearer = [value >= MATTERS for value in wide.values()]
    same = [max(values) < MATTERS for values in narrow.values()]
    word = SUPPORTED if all(dearer) and all(same) else CONTRADICTED if not any(dearer) else MIXED
    text = join_names(f"{signed(100 * value, 1)} % {DECIDE[name]}" for name, value in wide.items())
    dearest = max(narrow, key=lambda v: max(narrow[v]))
    return Verdict(
        word=word,
        sentence=f"Words kept at full width and positions beside them cost {text} against adding; at the same width, "
        f"where words give up dimensions, the dearest ({title(dearest)}) differs by at most "
        f"{signed(100 * max(narrow[dearest]), 1)} %.",
        effect=max(wide.values()),
        unit="more than BERT-A, as a fraction",
        measured="largest extra cost of the wider concatenation",
        threshold=MATTERS,
        models=(title(WIDE), *(title(v) for v in narrow)),
        samples=len(rows),
        sample_unit="measured cost",
        evidence=tuple(evidence),
    )


register(
    Claim(
        id="C01",
        title="Concatenating costs dimensions",
        question="cost",
        statement="Concatenating makes the model wider, or takes dimensions away from words; adding does neither.",
        documents=("000", "001", "003"),
        asks="Parameters, FLOPs and time a step of adding, of concatenating at the same width (words give up "
        "dimensions) and at a larger width (words keep theirs).",
        rule=f"Supported if the wider concatenation costs at least {percent(MATTERS)} more than adding in parameters, "
        "in FLOPs and in time a step, and those of the same width do not (their price is paid by the words, which get "
        f"fewer dimensions by construction); contradicted if the wider one costs less than {percent(MATTERS)} more in "
        f"all three; mixed otherwise. {percent(MATTERS)} is what timings of the same model differ by on a busy "
        "machine. Parameters and FLOPs are counted, not sampled, so they have no interval; the ratio of step times is "
        "a median of steps taken in turns. Whether a given budget spent so is worth it is another claim (C17).",
        queries=QUERIES,
        judge=judge,
        views=(views.training("costs"),),
    )
)
