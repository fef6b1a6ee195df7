-- Stable views: readers' SQL and our own pages rest on these, whatever the tables behind them. The views of the newest
-- results of each kind, newest_*, follow from analysis/store/kinds.py.

CREATE VIEW own_scores AS
SELECT
    s.run_id, s.variant, s.preset, s.task, s.metric, s.seed, s.finetune_seed, s.value,
    coalesce(r.config ->> '$.rules.sha256', p.rules_sha) AS rules_sha
FROM scores s LEFT JOIN runs r USING (run_id) LEFT JOIN pretrainings p ON p.run_id = s.pretraining;

-- One row a published figure with all that is known of it: what its task and metric are called here, its unit as
-- printed, its paper and what a reader must be told. Our own pages read it; its columns may grow.
CREATE VIEW published_rows AS
WITH mapped AS (
    SELECT
        p.*, papers.citation_key AS citation, papers.short, papers.url, m.task AS canonical_task,
        m.metric AS canonical_metric, m.task_title, m.metric_title, m.scale, m.glue, m.higher_is_better
    FROM published p
    LEFT JOIN papers USING (paper)
    LEFT JOIN metrics m ON m.printed_task = p.task AND m.printed_metric = p.metric
        AND (m.citation_key IS NULL OR m.citation_key = papers.citation_key)
),
warned AS (
    SELECT mapped.row_number, string_agg(c.caveat, ' ' ORDER BY c.rowid) AS caveat
    FROM mapped
    JOIN caveats c ON c.citation_key = mapped.citation
        AND (c.table_name IS NULL OR c.table_name = mapped.table_name)
        AND (c.variant IS NULL OR c.variant = mapped.variant)
        AND (c.task IS NULL OR c.task = mapped.task)
    GROUP BY mapped.row_number
)
SELECT
    row_number, file, paper, citation, short, url, year, table_name, variant, steps, setting,
    mapped.task AS printed_task, mapped.metric AS printed_metric,
    coalesce(canonical_task, mapped.task) AS task, coalesce(canonical_metric, mapped.metric) AS metric,
    coalesce(task_title, mapped.task) AS task_title, coalesce(metric_title, mapped.metric) AS metric_title,
    coalesce(glue, false) AS glue, higher_is_better,
    mapped.value AS printed_value, mapped.sd AS printed_sd, coalesce(scale, 1) AS scale, printed, transcribed_from,
    caveat
FROM mapped LEFT JOIN warned USING (row_number);

-- One row a published figure. GLUE values are fractions; `printed` is what the paper shows.
CREATE VIEW published_scores AS
SELECT
    paper, year, table_name, variant, steps, setting, task, metric,
    printed_value * scale AS value, printed_sd * scale AS sd, printed, transcribed_from, citation, caveat
FROM published_rows
ORDER BY row_number;

-- A share that is withheld, since the terms cancel, is NULL: NaN would stand above every number.
CREATE VIEW term_stats AS
SELECT model, revision, method, layer, head, term, corpus, nullif(share, 'nan'::DOUBLE) AS share, effect, rms
FROM newest_terms WHERE aggregation = 'head';

CREATE VIEW intervention_effects AS
SELECT model, revision, corpus, intervention, outcome, layer, value, low, high, texts, tokens
FROM newest_interventions;

-- Of sentence encoders (Spearman's correlation, higher is better), and of masked language models (loss, lower is better).
CREATE VIEW newest_surgery AS SELECT * FROM newest_surgery_by_task WHERE task <> 'masked_words';
CREATE VIEW newest_masked_surgery AS SELECT * FROM newest_surgery_by_task WHERE task = 'masked_words';

CREATE VIEW surgery_effects AS
SELECT model, revision, task, operation, rank, draw, value, low, high, difference, difference_low, difference_high, pairs
FROM newest_surgery;

CREATE VIEW masked_surgery_effects AS
SELECT model, revision, operation, rank, draw, value, low, high, difference, difference_low, difference_high,
    pairs AS windows
FROM newest_masked_surgery;

-- Saved probes with what a picker needs of them.
CREATE VIEW saved_probes AS
SELECT p.*, count(h.head) AS heads
FROM probes p JOIN probe_heads h USING (probe_id)
GROUP BY ALL;
