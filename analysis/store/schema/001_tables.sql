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
CREATE TABLE variants (
    variant VARCHAR PRIMARY KEY, title VARCHAR, combines VARCHAR, summary VARCHAR, citation_key VARCHAR, causal BOOLEAN
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
CREATE TABLE terms (
    run_id VARCHAR, method VARCHAR, corpus VARCHAR, layer INTEGER, aggregation VARCHAR, head INTEGER, term VARCHAR,
    share DOUBLE, share_low DOUBLE, share_high DOUBLE, effect DOUBLE, effect_low DOUBLE, effect_high DOUBLE,
    top1_agreement DOUBLE, rms DOUBLE, texts INTEGER, queries INTEGER,
    max_error DOUBLE, relative_error DOUBLE, pattern_error DOUBLE
);
-- Of a model of images: the cosine of each patch's position with every patch's, row by row of the grid that the
-- run's config gives.
CREATE TABLE patch_positions (run_id VARCHAR, patch INTEGER, similarity FLOAT[]);
-- Method `mean`: one row a layer, hidden states entering it (the last row: leaving the last layer). `mean` and
-- `position` (slot after slot) are the basis itself, in the units of the hidden states.
CREATE TABLE means (
    run_id VARCHAR, corpus VARCHAR, layer INTEGER, windows INTEGER, length INTEGER, counted INTEGER, rank INTEGER,
    stable_rank DOUBLE, effective_rank DOUBLE, relative_norm DOUBLE, position_share DOUBLE, context_share DOUBLE,
    residual_share DOUBLE, mean_share DOUBLE, noise_share DOUBLE, left_out_share DOUBLE, cosine_to_next DOUBLE,
    frozen_gap DOUBLE, mean FLOAT[], position FLOAT[]
);
-- What can be read from the hidden states that enter each layer: position, word, and which of two tokens is first.
CREATE TABLE decoding (
    run_id VARCHAR, corpus VARCHAR, layer INTEGER, target VARCHAR, decoder VARCHAR, measure VARCHAR, value DOUBLE,
    low DOUBLE, high DOUBLE, chance DOUBLE, windows INTEGER, tokens INTEGER
);
-- How far a query attends, in tokens, over the words of a window alone: itself and separators are left out, and what is
-- left sums to 1. query: 'cls' or 'word'; head NULL: mean over heads. measure: mean_distance, or attention at a distance;
-- to_itself is the share of all attention. even: what attention that is the same for every word would give.
CREATE TABLE locality (
    run_id VARCHAR, corpus VARCHAR, layer INTEGER, head INTEGER, query VARCHAR, measure VARCHAR, distance INTEGER,
    value DOUBLE, low DOUBLE, high DOUBLE, even DOUBLE, windows INTEGER
);
-- How far the states of a window with its words permuted are from the permuted states, as they enter each layer and
-- leave the last: root mean square, over that of the difference of two words of one window. positions: 'as trained' or
-- 'off'; tokens: 'moved', or the 'last' one, which stands where it stood. largest: of one number, in units of states.
CREATE TABLE equivariance (
    run_id VARCHAR, corpus VARCHAR, layer INTEGER, positions VARCHAR, tokens VARCHAR, value DOUBLE, low DOUBLE,
    high DOUBLE, largest DOUBLE, windows INTEGER
);
-- Where position is in a model, on one text (in the run's config, with its tokens): of each source of the scores, the
-- numerators of what depends on content, position and both; a share is one of them over power, both summed over heads.
-- source: a band of wavelengths in tokens, what is not turned, or what is added. kernel: the mean score at distances
-- from -(tokens - 1) to tokens - 1, empty where nothing turns. joined_*: the pairs of tokens that it joins most.
CREATE TABLE positions (
    run_id VARCHAR, layer INTEGER, source VARCHAR, head INTEGER, content DOUBLE, position DOUBLE, "both" DOUBLE,
    power DOUBLE, kernel FLOAT[], joined_query INTEGER[], joined_key INTEGER[], joined_score FLOAT[]
);
-- Geometry of the tables and hidden states of a model. subject: what was measured (word, position, an encoding's
-- name ...); along: where on the measure's own axis (a rank, a dimension, a position ...), if it has one. low and high:
-- interval of the value; baseline: what random vectors of the same shape give, with its own interval.
CREATE TABLE geometry (
    run_id VARCHAR, measure VARCHAR, subject VARCHAR, layer INTEGER, head INTEGER, along DOUBLE, value DOUBLE, low DOUBLE,
    high DOUBLE, baseline DOUBLE, baseline_low DOUBLE, baseline_high DOUBLE, samples INTEGER
);
-- Words that a position turns into others, and sums of a word and a position that nearly meet: the cases themselves.
CREATE TABLE neighbours (
    run_id VARCHAR, measure VARCHAR, word VARCHAR, position INTEGER, other_word VARCHAR, other_position INTEGER,
    distance DOUBLE, margin DOUBLE
);
CREATE TABLE encoding_measures (
    run_id VARCHAR, encoding VARCHAR, length INTEGER, dim INTEGER, measure VARCHAR, value DOUBLE
);
-- Fine-tuning: one row a metric of one fine-tuning. `pretraining` is the run that made the checkpoint; `data` says
-- which rows of the task were used ('official', or what is partial about them). Values are fractions.
CREATE TABLE scores (
    run_id VARCHAR, pretraining VARCHAR, variant VARCHAR, preset VARCHAR, task VARCHAR, metric VARCHAR, seed INTEGER,
    finetune_seed INTEGER, learning_rate DOUBLE, data VARCHAR, train_examples INTEGER, dev_examples INTEGER,
    seconds DOUBLE, value DOUBLE
);
-- One row a fine-tuning of a model by the main metric of its task; of one of the same pre-training that was made again
-- the newest. Filled from `scores` when these are in: among a million, finding them anew takes half a second.
CREATE TABLE fine_tunings (
    variant VARCHAR, preset VARCHAR, task VARCHAR, metric VARCHAR, seed INTEGER, finetune_seed INTEGER,
    learning_rate DOUBLE, pretraining VARCHAR, data VARCHAR, train_examples INTEGER, dev_examples INTEGER,
    run_id VARCHAR, created VARCHAR, value DOUBLE
);
-- What each fine-tuning answered for every dev example, in the order of the file; and its main metric on resamples
-- of those examples that are the same for every run, so that differences of runs can be resampled without the labels.
CREATE TABLE predictions (
    run_id VARCHAR, pretraining VARCHAR, variant VARCHAR, preset VARCHAR, task VARCHAR, metric VARCHAR, seed INTEGER,
    finetune_seed INTEGER, learning_rate DOUBLE, prediction FLOAT[], replicates FLOAT[]
);
-- Pre-training: losses in nats a masked token against steps, tokens and seconds of training.
CREATE TABLE curves (
    run_id VARCHAR, variant VARCHAR, preset VARCHAR, seed INTEGER, metric VARCHAR, step BIGINT, tokens BIGINT,
    seconds DOUBLE, value DOUBLE
);
-- One row a pre-training; losses in nats a predicted token. final_loss: on the larger sample. diverged: some loss is no
-- number; then it has no last one, whatever it was before. rules_sha: the SHA-256 of the rules that the run was begun
-- under, NULL for runs from before there were any. Filled from `curves` when these are in, as several pages ask.
CREATE TABLE pretrainings (
    run_id VARCHAR, variant VARCHAR, preset VARCHAR, seed INTEGER, final_loss DOUBLE, last_loss DOUBLE,
    diverged BOOLEAN, steps BIGINT, created VARCHAR, config VARCHAR, rules_sha VARCHAR, began VARCHAR
);
CREATE TABLE costs (run_id VARCHAR, variant VARCHAR, preset VARCHAR, measure VARCHAR, value DOUBLE);
-- What interventions do over a corpus, tokens of all texts pooled. outcome: cosine (of the output before and after),
-- attention_kl (nats; of all layers, or of one), loss and loss_change (nats a token, where there is a head).
CREATE TABLE interventions (
    run_id VARCHAR, corpus VARCHAR, intervention VARCHAR, outcome VARCHAR, layer INTEGER,
    value DOUBLE, low DOUBLE, high DOUBLE, texts INTEGER, tokens INTEGER
);

-- A model's own task under every operation on its positions and terms, with no training. rank: directions that the
-- operation takes; draw: which random draw; difference: from the intact model, paired over the same resamples; pairs:
-- how many pairs of sentences, or where the task is masked_words how many windows of text.
CREATE TABLE surgery (
    run_id VARCHAR, task VARCHAR, operation VARCHAR, said VARCHAR, rank INTEGER, draw INTEGER, value DOUBLE, low DOUBLE,
    high DOUBLE, difference DOUBLE, difference_low DOUBLE, difference_high DOUBLE, pairs INTEGER
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
CREATE TABLE caveats (citation_key VARCHAR, table_name VARCHAR, variant VARCHAR, task VARCHAR, caveat VARCHAR);
CREATE TABLE published (
    row_number INTEGER, file VARCHAR, paper VARCHAR, arxiv VARCHAR, year INTEGER, table_name VARCHAR, variant VARCHAR,
    steps VARCHAR, setting VARCHAR, task VARCHAR, metric VARCHAR, value DOUBLE, sd DOUBLE, printed VARCHAR,
    transcribed_from VARCHAR
);
