"""Geometry: where the word and position vectors of a model lie, beside what random vectors of the same shape do.

Every measure is registered in `MEASURES`, one file per measure or a close pair, a pure function of what a model holds
(`model_vectors.ModelVectors`) and `Options`. `python -m analysis measure geometry` writes its rows; the store
has them in `newest_geometry` (columns measure, subject, layer, head, along, value, low, high, baseline, baseline_low,
baseline_high, samples) and the cases themselves in `newest_neighbours`.

Tables are those that enter the model's sum, before any norm, words without special and unused tokens. `raw` is as it
stands, `centred` less the mean row. `layer` is NULL where a table is measured; where it is a number, the subject is
hidden states that enter that layer (the last number: leave the last layer). `low` and `high` are a 95 % interval where
the value is of a sample, NULL where it is of everything there is. `baseline` is the mean over random draws and
`baseline_low`, `baseline_high` their 2.5th and 97.5th percentile, unless said otherwise. samples: what the value is
over.

- measure [subjects], along what, if anything: value. Baseline.
- singular_value [word, position, word_centred, position_centred], along number of the direction, from 1: singular
  value. Baseline: Gaussian table of the same shape and norm.
- energy_in_top [the same], along number of directions: share of the squared singular values. Baseline: the same.
- effective_rank [the same]: exp of the entropy of the squared singular values over their sum. Baseline: the same.
- stable_rank [the same]: sum of squared singular values over the largest. Baseline: the same.
- participation_ratio [the same]: (sum of squares)^2 / sum of fourth powers of the singular values. Baseline: the
  same.
- dimension_participation [the same]: the same of the energies of the dimensions: how many dimensions are used.
  Baseline: the same.
- dimension_energy [the same], along dimension, from 0: share of the table's energy in it. Baseline: the same.
- dimension_correlation [raw, centred]: Spearman correlation, over dimensions, of the energy of words and of
  positions. Baseline: dimensions permuted.
- principal_angle [raw, centred, states], along number of the angle, from 1 the smallest: degrees, both subspaces of
  rank 20. Baseline: random subspaces.
- smallest_angle [raw, centred, states], along rank of both subspaces: degrees. Baseline: random subspaces.
- subspace_overlap [raw, centred, states], along rank of both subspaces: mean squared cosine of the principal angles.
  Baseline: random subspaces.
- word_energy_in_position [raw, centred, states], along rank of the position subspace: share of the words' energy
  inside it. Baseline: random subspaces.
- position_energy_in_word [raw, centred, states], along rank of the word subspace: share of the positions' energy
  inside it. Baseline: random subspaces.
- abs_cosine_random [random], along dimension: mean abs cosine of random pairs. Baseline: the exact formula (no
  interval).
- abs_cosine [word_word, word_position, position_position, each also _centred], along dimensions kept (the largest:
  all): mean abs cosine of pairs. Baseline: exact, random vectors of so many dimensions.
- cosine_histogram [the same], along middle of a bin of the cosine: share of pairs in the bin. Baseline: exact, random
  vectors of the model's width.
- head_overlap [word_position]: overlap of what word and position use of a head's singular directions, 0 to 1.
  Baseline: random directions, same singular values.
- head_direction [position], along number of the singular direction, from 1: position's part of what the two use of
  it, 0 to 1.
- head_loss [word_without_position, position_without_word]: share of the first one's term lost when the directions
  that hold 90 % of the other's term are removed. Baseline: random directions, same singular values.
- word_kept [raw, centred], along position, from 0: share of words whose nearest word is still themselves. Baseline:
  random directions, same lengths.
- word_kept_everywhere [raw, centred]: share of words kept at every position. Baseline: the same.
- collision_distance [nearest], along number, from 1 the nearest: abs(word a + position i - word b - position j), a
  and b different words, i and j
  different positions, of the nearest pairs of words (samples: how many). Baseline: position table rotated at random.
- collision_complete [nearest]: 1 where no other pair of words can come as near, 0 where others were not searched.
  Samples: pairs of words searched.
- collision_ratio [nearest]: the nearest collision over the least distance of two words. Baseline: the same.
- decoded [position_ridge_r2, position_ridge_mean_absolute_error, position_nearest_exact, position_nearest_within_3,
  order_logistic_accuracy, word_nearest_top1, word_ridge_top1]: read from word + position, words drawn at random, held
  out. Baseline: chance (no interval).
- decoded_random [the same]: the same, read from tables of random directions whose rows are as long as the model's.
  Baseline: the same.
- absolute_position [position, or the name of an encoding (then no model)]: mean absolute error in positions, 5 folds,
  of a regression on the table's rows. Baseline: rows permuted.
- relative_order [the same]: accuracy, 5 folds, of which of two rows comes first. Baseline: rows permuted.
- shift_r2 [position], along the shift in positions: R squared, on positions held out, of one linear map from every row
  of the table to the row so many positions further on. Baseline: rows permuted.

`layer` stands beside `states` (rest: hidden states less mean and position of method `mean`) and beside the
measures of heads (layer 0: the sources of method `frozen`, word against position; deeper: those of method `mean`,
context + residual against position). Subjects of rows without a model are encodings.

Cases (`newest_neighbours`): `changed_word`: word + position is nearer to other_word (distance) than to word; margin is
negative: how much nearer. `nearest_word`: for every word searched, the position and other word at which it comes
closest to change; margin = distance to other_word less distance to itself, negative where it changes. Both of the raw
tables.
`collision`: word + position ~ other_word + other_position; margin: distance of the next collision less this one's.
"""
