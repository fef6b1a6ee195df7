-- Tables of the store. It is rebuilt from the files under data/, so a change here needs no upgrade
-- of stores, only a new numbered file or an edit and a rebuild.

CREATE TABLE meta (schema_version INTEGER, fingerprint VARCHAR, built VARCHAR, git_sha VARCHAR, versions VARCHAR);
CREATE TABLE problems (file VARCHAR, problem VARCHAR);

-- Dimensions: what things are called. Pickers read these.
CREATE TABLE models (
    model VARCHAR, revision VARCHAR, title VARCHAR, family VARCHAR, layers INTEGER, heads INTEGER,
    hidden_size INTEGER, positions INTEGER, parameters BIGINT, citation_keys VARCHAR
);
CREATE TABLE encodings (
    encoding VARCHAR PRIMARY KEY, title VARCHAR, summary VARCHAR, enters VARCHAR, learned BOOLEAN,
    citation_key VARCHAR, note VARCHAR
);
-- known_as: the name by which papers know a variant whose title is our own.
CREATE TABLE variants (
    variant VARCHAR PRIMARY KEY, title VARCHAR, known_as VARCHAR, combines VARCHAR, summary VARCHAR, citation_key VARCHAR, causal BOOLEAN
);
-- `metric` is the main metric of a task that we fine-tune on; tasks that only papers report have none here.
CREATE TABLE tasks (task VARCHAR PRIMARY KEY, title VARCHAR, glue BOOLEAN, metric VARCHAR, summary VARCHAR);
CREATE TABLE corpora (corpus VARCHAR, text_id VARCHAR, category VARCHAR, text VARCHAR, text_pair VARCHAR);

-- One row a run; every result joins to it. architecture: the model_type of its model's config; causal: whether the
-- model's tokens attend to no later one. NULL where there is no model, and in files from before these were recorded.
CREATE TABLE runs (
    run_id VARCHAR PRIMARY KEY, kind VARCHAR, file VARCHAR, command VARCHAR, model VARCHAR, revision VARCHAR,
    device VARCHAR, dtype VARCHAR, architecture VARCHAR, causal BOOLEAN, seed INTEGER, variant VARCHAR, preset VARCHAR,
    config VARCHAR, seconds DOUBLE, created VARCHAR, git_sha VARCHAR, versions VARCHAR
);
-- The tables of results follow from analysis/store/kinds.py, which says what their columns mean.

-- One row a fine-tuning of a model by the main metric of its task; of one of the same pre-training that was made again
-- the newest. Filled from `scores` when these are in: among a million, finding them anew takes half a second.
CREATE TABLE fine_tunings (
    variant VARCHAR, preset VARCHAR, task VARCHAR, metric VARCHAR, seed INTEGER, finetune_seed INTEGER,
    learning_rate DOUBLE, pretraining VARCHAR, data VARCHAR, train_examples INTEGER, dev_examples INTEGER,
    run_id VARCHAR, created VARCHAR, value DOUBLE
);
-- One row a pre-training; losses in nats a predicted token. final_loss: on the larger sample. diverged: some loss is no
-- number; then it has no last one, whatever it was before. rules_sha: the SHA-256 of the rules that the run was begun
-- under, NULL for runs from before there were any. Filled from `curves` when these are in, as several pages ask.
CREATE TABLE pretrainings (
    run_id VARCHAR, variant VARCHAR, preset VARCHAR, seed INTEGER, final_loss DOUBLE, last_loss DOUBLE,
    diverged BOOLEAN, steps BIGINT, created VARCHAR, config VARCHAR, rules_sha VARCHAR, began VARCHAR
);

-- Saved live probes: the sources' queries and keys, from which every map follows.
CREATE TABLE probes (
    probe_id VARCHAR PRIMARY KEY, run_id VARCHAR, title VARCHAR, model VARCHAR, revision VARCHAR, layer INTEGER,
    text VARCHAR, text_pair VARCHAR, tokens VARCHAR, token_count INTEGER, scale DOUBLE, max_error DOUBLE,
    pattern_error DOUBLE, attends VARCHAR, held VARCHAR, method VARCHAR, reference VARCHAR, frozen_gap DOUBLE,
    seconds DOUBLE, truncated_from INTEGER, device VARCHAR, dtype VARCHAR, created VARCHAR, added VARCHAR[]
);
-- score_bias holds a map for each term that the probe's `added` names, one after the other.
CREATE TABLE probe_heads (
    probe_id VARCHAR, head INTEGER, query FLOAT[], key FLOAT[], share FLOAT[], effect FLOAT[], top1 FLOAT[],
    rms FLOAT[], score_bias FLOAT[]
);

-- The literature.
CREATE TABLE citations (citation_key VARCHAR PRIMARY KEY, bibtex VARCHAR);
CREATE TABLE papers (paper VARCHAR PRIMARY KEY, citation_key VARCHAR, short VARCHAR, url VARCHAR);
CREATE TABLE metrics (
    printed_task VARCHAR, printed_metric VARCHAR, citation_key VARCHAR, task VARCHAR, metric VARCHAR, scale DOUBLE,
    glue BOOLEAN, higher_is_better BOOLEAN, task_title VARCHAR, metric_title VARCHAR
);
-- What later work says in words about a claim. side: for, against or neither.
CREATE TABLE findings (
    claim VARCHAR, citation_key VARCHAR, short VARCHAR, url VARCHAR, side VARCHAR, finding VARCHAR, caveat VARCHAR,
    transcribed_from VARCHAR
);
CREATE TABLE caveats (citation_key VARCHAR, table_name VARCHAR, variant VARCHAR, task VARCHAR, caveat VARCHAR);
CREATE TABLE published (
    row_number INTEGER, file VARCHAR, paper VARCHAR, arxiv VARCHAR, year INTEGER, table_name VARCHAR, variant VARCHAR,
    steps VARCHAR, setting VARCHAR, task VARCHAR, metric VARCHAR, value DOUBLE, sd DOUBLE, printed VARCHAR,
    transcribed_from VARCHAR
);
