"""Queries to begin with, and descriptions of the stable views. Imports nothing: links read the first query."""

VIEWS = {
    "term_stats": "Attention terms of every head of our models over the probe set: the newest measurement of each.",
    "own_scores": "Our own and imported fine-tuning scores, one row per metric and seed, as fractions.",
    "published_scores": "Every published figure with its citation and caveat; GLUE as fractions.",
    "intervention_effects": "What each intervention does to a model over the probe set, with intervals.",
    "claims": "The claims and their verdicts.",
}
"""The views that keep their columns. What else there is may change with the next version."""

EXAMPLES = {
    "Where position meets position": (
        'SELECT layer, term, avg(share) AS "share of the key-centred scores"\nFROM term_stats\n'
        "WHERE model = 'all-MiniLM-L6-v2' AND corpus = 'probe_set'\n"
        "  AND term IN ('word_to_word', 'word_to_position', 'position_to_word', 'position_to_position')\n"
        "GROUP BY ALL\nORDER BY ALL"
    ),
    "Our scores, best first": (
        "SELECT variant, task, metric, avg(value) AS value, count(*) AS fine_tunings\nFROM own_scores\n"
        "GROUP BY ALL\nORDER BY task, metric, value DESC"
    ),
    "Published figures of one task": (
        "SELECT variant, value, paper, table_name, steps, citation\nFROM published_scores\n"
        "WHERE task = 'rte' AND value IS NOT NULL\nORDER BY value DESC"
    ),
    "What shuffling positions does": (
        "SELECT model, intervention, outcome, value, low, high\nFROM intervention_effects\n"
        "WHERE layer IS NULL AND intervention LIKE 'shuffle%'\nORDER BY ALL"
    ),
    "Loss against steps": (
        "SELECT step, variant, avg(value) AS loss\nFROM curves\n"
        "WHERE metric = 'validation_loss' AND preset = 'cpu2' AND seed = 10\n"
        "    AND variant IN ('bert_a', 'no_position', 'rotary', 'tupe_a')\nGROUP BY ALL\nORDER BY ALL"
    ),
    "Heads that attend by position most": (
        "SELECT model, corpus, layer, head, effect, share\nFROM term_stats\nWHERE term = 'position_to_position'\n"
        "ORDER BY effect DESC\nLIMIT 20"
    ),
}
DEFAULT = next(iter(EXAMPLES.values()))
