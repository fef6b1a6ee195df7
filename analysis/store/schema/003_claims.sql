-- The ledger of claims: what documents say, and what the store decides. Documents, questions and claims lie as data in
-- analysis/rules; verdicts on statements are computed while the store is built, and are written nowhere else.

CREATE TABLE documents (document VARCHAR PRIMARY KEY, title VARCHAR, kind VARCHAR, site VARCHAR, url VARCHAR);
-- statement: of a claim that documents make, in our own words. code: a digest of what judges, so that a changed rule
-- makes a store out of date.
CREATE TABLE headings (
    id VARCHAR PRIMARY KEY, title VARCHAR, question VARCHAR, statement VARCHAR, code VARCHAR
);
CREATE TABLE claim_documents (id VARCHAR, document VARCHAR);
-- The questions by which claims are grouped; place: their order.
CREATE TABLE questions (question VARCHAR PRIMARY KEY, title VARCHAR, place INTEGER);
-- Spans of the documents in which a claim is made: at most 25 words, with the place in the document.
CREATE TABLE quotations (
    claim VARCHAR, number INTEGER, document VARCHAR, place VARCHAR, words VARCHAR, sha256 VARCHAR
);

-- Version 1: verdicts on claims as wholes, closed and kept with all that they rested on; runs.created says when.
-- changed: what was changed in the rule after its verdict was known. effect, low, high: in `unit`; `measured` says what
-- the effect is, `threshold` what the rule held it against. side: for, against, or beside (bears on it, decides
-- nothing). page and parameters (JSON) are the view that shows it.
CREATE TABLE first_verdicts (
    run_id VARCHAR, id VARCHAR PRIMARY KEY, asks VARCHAR, rule VARCHAR, changed VARCHAR[], verdict VARCHAR,
    sentence VARCHAR, effect DOUBLE, low DOUBLE, high DOUBLE, unit VARCHAR, measured VARCHAR, threshold DOUBLE,
    models VARCHAR[], samples INTEGER, sample_unit VARCHAR, missing VARCHAR, command VARCHAR,
    evidence STRUCT(
        side VARCHAR, says VARCHAR, "value" DOUBLE, low DOUBLE, high DOUBLE, unit VARCHAR, source VARCHAR,
        citation VARCHAR, caveat VARCHAR, "query" VARCHAR, page VARCHAR, parameters VARCHAR
    )[],
    queries STRUCT("name" VARCHAR, "sql" VARCHAR)[],
    views STRUCT("label" VARCHAR, page VARCHAR, parameters VARCHAR)[]
);
CREATE VIEW claim_rules AS
SELECT id, title, question, statement, asks, rule, changed, code FROM headings JOIN first_verdicts USING (id);
CREATE VIEW claim_queries AS SELECT id, q.name, q.sql FROM (SELECT id, unnest(queries) AS q FROM first_verdicts);
CREATE VIEW claim_views AS
SELECT id, number - 1 AS number, v.label, v.page, v.parameters
FROM (SELECT id, generate_subscripts(views, 1)::INTEGER AS number, unnest(views) AS v FROM first_verdicts);
CREATE VIEW verdicts AS SELECT * EXCLUDE (run_id, asks, rule, changed, evidence, queries, views) FROM first_verdicts;
CREATE VIEW evidence AS
SELECT
    id, number - 1 AS number, e.side, e.says, e.value, e.low, e.high, e.unit, e.source, e.citation,
    e.citation IS NOT NULL AS published, e.caveat, e.query, e.page, e.parameters
FROM (SELECT id, generate_subscripts(evidence, 1)::INTEGER AS number, unnest(evidence) AS e FROM first_verdicts);

-- What the claims say, one thing at a time. kind: the kind of rule; scope: of which models it is said;
-- reason: of a statement that is judged against a margin, why it is open; open_by: the same in one word (missing,
-- refused, uneven, corrected or unsettled).
-- exploratory: whether the rule was written when its data were known. seeds: of a training, those that are in. hours: of
-- one core that the experiment takes that would decide it. missing: the runs that its rule asks for and that are not
-- stored yet; asked_again_by: the statement of a later file that compares the same two on new seeds, until its
-- runs are stored; planned: the number of these that are not.
-- holds, expect, quantifier: what the rule asks, in its file's own words; lower, upper: the values that support the
-- statement; rule: the rule in words; pair: the variants compared; shown: which reading's number is shown; opposes: why
-- the statement says the opposite of its claim; aside: why it takes no side; part: which part of its claim it says, where
-- its words alone do not tell; decides: whether it decides the claim (analysis/claims/statements/deciding).
CREATE TABLE statements (
    id VARCHAR PRIMARY KEY, parent VARCHAR, statement VARCHAR, scope VARCHAR, kind VARCHAR, verdict VARCHAR,
    sentence VARCHAR, reason VARCHAR, open_by VARCHAR, unit VARCHAR, effect DOUBLE, low DOUBLE, high DOUBLE, line DOUBLE,
    seeds INTEGER, would_decide VARCHAR, hours DOUBLE, missing INTEGER, planned INTEGER, asked_again_by VARCHAR, command VARCHAR, page VARCHAR, query VARCHAR,
    rules_version INTEGER, rules_sha VARCHAR, exploratory BOOLEAN, answer VARCHAR, holds VARCHAR, expect VARCHAR, quantifier VARCHAR, lower DOUBLE, upper DOUBLE,
    rule VARCHAR, pair VARCHAR, shown VARCHAR, opposes VARCHAR, aside VARCHAR, part VARCHAR,
    decides BOOLEAN
);
-- Statements that are not judged as they were, with the last verdict that they had. replaced_by: the statement that took
-- their place, or 'withdrawn'.
CREATE TABLE superseded (
    id VARCHAR, parent VARCHAR, statement VARCHAR, scope VARCHAR, verdict VARCHAR, sentence VARCHAR, effect DOUBLE,
    low DOUBLE, high DOUBLE, line DOUBLE, rules_version INTEGER, replaced_by VARCHAR, changed VARCHAR,
    changed_on VARCHAR
);
-- What changed in a claim, by day. statement: its id; empty for the claim as a whole. kind: verdict, rule or reading.
-- before, after: verdicts, or 'withdrawn'. said: the statement's words before. words: the reason.
CREATE TABLE changes (
    day VARCHAR, claim VARCHAR, statement VARCHAR, kind VARCHAR, "before" VARCHAR, "after" VARCHAR, said VARCHAR,
    words VARCHAR
);
-- How two variants stand in final loss under version 2 of the rules; effect: variant less baseline, in nats.
CREATE TABLE standings (
    variant VARCHAR, baseline VARCHAR, word VARCHAR, reason VARCHAR, on_plateau BOOLEAN, missing INTEGER, effect DOUBLE
);
-- What each statement rests on: a model, a seed of a variant, a printed figure. standing: holds, fails, open or stored.
CREATE TABLE readings (
    id VARCHAR, number INTEGER, source VARCHAR, standing VARCHAR, value DOUBLE, low DOUBLE, high DOUBLE, line DOUBLE,
    family VARCHAR, citation VARCHAR, note VARCHAR
);

-- Every statement with version 2's verdict, and every claim of the documents with version 1's, which was exploratory.
CREATE VIEW claims AS
SELECT id, verdict, effect, low AS lower, high AS upper, parent, statement, rules_version FROM statements
UNION ALL BY NAME
SELECT id, verdict, effect, low AS lower, high AS upper, NULL AS parent, statement, 1 AS rules_version
FROM verdicts JOIN claim_rules USING (id)
ORDER BY id;

-- The answer to the question of the title, a sentence a row, from the verdicts above. part: lead, reason, but, more or
-- card, its place on Home; heading: its point in a few words; bold: the words that carry the number; against: whether it speaks against adding;
-- further: what limits it or says it more exactly, a sentence a line; page and parameters (JSON): the view that shows its evidence;
-- tempered_by (JSON): statements whose evidence points the other way, or limits it.
CREATE TABLE answers (
    place INTEGER PRIMARY KEY, name VARCHAR, part VARCHAR, heading VARCHAR, sentence VARCHAR, bold VARCHAR, against BOOLEAN, further VARCHAR, claim VARCHAR,
    value DOUBLE, query VARCHAR, link VARCHAR, page VARCHAR, parameters VARCHAR, tempered_by VARCHAR
);
CREATE VIEW answer AS
SELECT place AS "order", sentence, claim, value, query, further FROM answers ORDER BY place;

-- ---- What rules ask for ----

-- Every model that a results file is about. Own checkpoints say their variant in their name; bert_a_d adds positions to
-- queries and keys, not to words. causal: as the model's runs recorded it; in older files as its position map or a saved
-- probe shows it, as the settings of its variant say, or false for images; NULL where nothing says it.
-- domain: what its texts are, language, antibodies or reactions, or images; antibodies: the same of one domain alone,
-- as older rules ask.
CREATE VIEW measured_models AS
WITH named AS (
    SELECT DISTINCT
        model, nullif(regexp_extract(model, '^(debug|cpu2?|width[0-9]+|gpu)-([a-z0-9_]+)-[0-9]+(-[0-9a-f]{12})?$', 2), '') AS variant
    FROM runs WHERE model IS NOT NULL
),
positioned AS (
    SELECT model, bool_or(corpus = 'drawn_images') AS images, max(rms) > 0 AS positioned
    FROM newest_terms WHERE layer = 0 AND term = 'position_to_position' AND aggregation = 'head' GROUP BY model
),
masked AS (
    SELECT model, max_by(recorded, created) AS recorded, max_by(shown, created) AS shown
    FROM (
        SELECT
            model, created, causal AS recorded,
            CASE
                WHEN kind = 'positions' AND json_array_length(config, '$.labels') > 1
                    THEN NOT (config ->> '$.looks_ahead')::BOOLEAN
                WHEN kind = 'probe' AND config ->> '$.attends' = 'all' THEN false
                WHEN kind = 'probe' AND config ->> '$.attends' LIKE 'causal%' THEN true
            END AS shown
        FROM runs WHERE model IS NOT NULL
    )
    GROUP BY model
)
SELECT
    n.model, n.variant, v.combines, coalesce(p.images, false) AS images,
    regexp_matches(n.model, '^(AntiBERTy|IgLM|sapiens-)') AS antibodies,
    CASE WHEN p.images THEN 'images' WHEN antibodies THEN 'antibodies' WHEN n.model LIKE 'RXN%' THEN 'reactions'
        ELSE 'language' END AS domain,
    coalesce(m.recorded, m.shown, v.causal, CASE WHEN p.images THEN false END) AS causal,
    CASE WHEN n.variant IS NULL THEN coalesce(p.positioned, false)
        ELSE coalesce(v.combines = 'added' AND n.variant <> 'bert_a_d', false) END AS adds_positions
FROM named n LEFT JOIN variants v USING (variant) LEFT JOIN positioned p USING (model) LEFT JOIN masked m USING (model);

-- What needs no encoder scores on each task, a fraction: the most frequent answer, word overlap, TF-IDF, word vectors.
CREATE VIEW encoder_free_scores AS
SELECT s.preset, s.task, s.variant AS baseline, s.metric, s.value, s.train_examples, s.dev_examples
FROM scores s JOIN runs r USING (run_id) JOIN tasks t ON t.task = s.task AND t.metric = s.metric
WHERE s.variant IN ('majority', 'word_overlap', 'tf_idf', 'bag_of_vectors') AND s.seed IS NULL AND s.value IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY s.preset, s.task, s.variant ORDER BY r.created DESC, r.run_id) = 1;

-- Every two rows of a published table that differ in variant, and where it says so in steps; values as printed.
CREATE VIEW published_pairs AS
SELECT
    a.citation, a.short, a.table_name, a.setting, a.steps, b.steps AS baseline_steps, a.task, a.task_title, a.metric, a.metric_title, a.glue,
    a.higher_is_better, a.variant, b.variant AS baseline, a.printed_value AS value, b.printed_value AS baseline_value,
    a.caveat
FROM published_rows a JOIN published_rows b
    ON b.citation = a.citation AND b.table_name = a.table_name AND b.printed_task = a.printed_task
    AND b.printed_metric = a.printed_metric AND b.setting IS NOT DISTINCT FROM a.setting AND b.variant <> a.variant
WHERE a.printed_value IS NOT NULL AND b.printed_value IS NOT NULL;

-- The newest costs of each variant at each preset.
CREATE VIEW newest_costs AS
SELECT c.*, r.created, r.device, r.git_sha, r.versions
FROM costs c JOIN runs r USING (run_id)
QUALIFY row_number() OVER (PARTITION BY c.preset, c.variant, c.measure ORDER BY r.created DESC, r.run_id) = 1;

CREATE VIEW newest_encoding_measures AS
SELECT m.*, r.created, r.git_sha, r.versions, e.title, e.enters, e.learned
FROM encoding_measures m JOIN runs r USING (run_id) JOIN encodings e USING (encoding)
QUALIFY row_number() OVER (
    PARTITION BY m.encoding, m.length, m.dim, m.measure ORDER BY r.created DESC, r.run_id
) = 1;
