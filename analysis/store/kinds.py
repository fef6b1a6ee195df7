"""Kinds of results files, each declared once: its columns, its title, what makes a row the newest, who measures it.

The table of a kind, its view `newest_*`, the names on the page Runs and the files that `measure models` looks for
follow from what is written here.

>>> KINDS["costs"].schema.names
['variant', 'preset', 'measure', 'value']
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

Upgrade = Callable[[pa.Table], pa.Table]
PROVENANCE = ("model", "revision", "device", "dtype", "created", "git_sha", "versions", "command", "config")
"""Columns of a run that every view of newest results has."""


@dataclass(frozen=True, kw_only=True)
class Newest:
    """The view of a kind's newest results: of all runs that agree in some columns, the rows of the newest.

    by: those columns, as expressions of SQL in which `r` is the run and `x` the results. name: of the view. without:
    columns that the view leaves out. also: more columns of the run.
    """

    by: str
    name: str = ""
    without: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of results file: its folder under data/, its version and its columns.

    title: what readers call it. newest: how its newest rows are found; None where no view shows them. table: whether it
    has a table of just these columns.
    """

    name: str
    title: str
    folder: str
    version: int = 1
    schema: pa.Schema
    upgrades: Mapping[int, Upgrade] = field(default_factory=dict)
    """Upgrades of files from a version to the next one."""
    newest: Newest | None = None
    table: bool = True


_TYPES = {
    "text": (pa.string(), "VARCHAR"),
    "int": (pa.int32(), "INTEGER"),
    "bigint": (pa.int64(), "BIGINT"),
    "double": (pa.float64(), "DOUBLE"),
    "text[]": (pa.list_(pa.string()), "VARCHAR[]"),
    "int[]": (pa.list_(pa.int32()), "INTEGER[]"),
    "float[]": (pa.list_(pa.float32()), "FLOAT[]"),
}
"""The types of columns: name -> type in Arrow and in SQL."""
_SQL_TYPES = {str(arrow): sql for arrow, sql in _TYPES.values()}


def _schema(columns: str, **rows: str) -> pa.Schema:
    """Columns as SQL writes them: "corpus text, layer int". rows: after these, columns that hold lists of such rows."""
    return pa.schema(
        [*_fields(columns), *((name, pa.list_(pa.struct(_fields(fields)))) for name, fields in rows.items())]
    )


def _fields(columns: str) -> list[tuple[str, pa.DataType]]:
    return [(name, _TYPES[kind][0]) for name, kind in (column.split() for column in columns.split(", "))]


_FINETUNING = (
    "pretraining text, variant text, preset text, task text, metric text, seed int, finetune_seed int, "
    "learning_rate double"
)
"""The columns that identify a fine-tuning."""


def _without_score_bias(table: pa.Table) -> pa.Table:
    """Probes of version 1 had no models that add to their scores."""
    return table.append_column("score_bias", pa.array([[] for _ in range(len(table))], type=_TYPES["float[]"][0]))


def _results(
    name: str,
    columns: str,
    *,
    title: str,
    folder: str | None = None,
    newest: Newest | None = None,
    table: bool = True,
    **rows: str,
) -> Kind:
    """A kind whose files lie under results/."""
    return Kind(
        name=name,
        title=title,
        folder=f"results/{folder or name}",
        schema=_schema(columns, **rows),
        newest=newest,
        table=table,
    )


_BY_CORPUS = Newest(by="r.model, r.revision, x.corpus")

# What the columns mean stands above each kind. low and high are the ends of a 95 % interval of the value.
KINDS = {
    kind.name: kind
    for kind in (
        # The terms of attention scores over a corpus: of each head, or as a mean over heads (head is empty).
        _results(
            "terms",
            "method text, corpus text, layer int, aggregation text, head int, term text, share double, "
            "share_low double, share_high double, effect double, effect_low double, effect_high double, "
            "top1_agreement double, rms double, texts int, queries int, max_error double, relative_error double, "
            "pattern_error double",
            title="attention terms",
            newest=Newest(by="r.model, r.revision, x.method, x.corpus, x.layer"),
        ),
        # Of a model of images: the cosine of each patch's position with every patch's, row by row of the grid that
        # the run's config gives.
        _results(
            "patch_positions",
            "patch int, similarity float[]",
            title="positions of patches",
            newest=Newest(by="r.model"),
        ),
        # One layer's scores between the patches of one drawn image: the query and the key that each source gives in
        # each head, token after token, with the numbers that a decomposition needs besides in the run's config.
        # Sources that the model has not are left out.
        _results(
            "image_scores",
            "image text, layer int, source text, head int, query float[], key float[]",
            title="scores on an image",
            newest=Newest(by="r.model, x.image, x.layer", also=("seconds",)),
        ),
        # Method `mean`: one row a layer, hidden states entering it (the last row: leaving the last layer). `mean` and
        # `position` (slot after slot) are the basis itself, in the units of the hidden states.
        _results(
            "means",
            "corpus text, layer int, windows int, length int, counted int, rank int, stable_rank double, "
            "effective_rank double, relative_norm double, position_share double, context_share double, "
            "residual_share double, mean_share double, noise_share double, left_out_share double, "
            "cosine_to_next double, frozen_gap double, mean float[], position float[]",
            title="means of hidden states",
            newest=Newest(by="r.model, r.revision, x.corpus, x.length", without="mean, position"),
        ),
        # What can be read from the hidden states that enter each layer: position, word, and which of two tokens is
        # first. chance: what guessing would give.
        _results(
            "decoding",
            "corpus text, layer int, target text, decoder text, measure text, value double, low double, "
            "high double, chance double, windows int, tokens int",
            title="decoding",
            newest=_BY_CORPUS,
        ),
        # How far a query attends, in tokens, over the words of a window alone: itself and separators are left out, and
        # what is left sums to 1. query: 'cls' or 'word'; head is empty for the mean over heads. measure: mean_distance,
        # or attention at a distance; to_itself is the share of all attention. even: what attention that is the same
        # for every word would give.
        _results(
            "locality",
            "corpus text, layer int, head int, query text, measure text, distance int, value double, low double, "
            "high double, even double, windows int",
            title="reach of attention",
            newest=_BY_CORPUS,
        ),
        # How far the states of a window with its words permuted are from the permuted states, as they enter each layer
        # and leave the last: root mean square, over that of the difference of two words of one window. positions: 'as
        # trained' or 'off'; tokens: 'moved', or the 'last' one, which stands where it stood. largest: of one number,
        # in units of states.
        _results(
            "equivariance",
            "corpus text, layer int, positions text, tokens text, value double, low double, high double, "
            "largest double, windows int",
            title="permuted words",
            newest=_BY_CORPUS,
        ),
        # What tokens lose when every position becomes the mean: pieces of words, whole words, and whole words weighted
        # to be as frequent as the pieces. measure: `loss` in nats a masked token, or `state` in units of the variation
        # of the last states. difference: the pieces' less this row's. count: tokens.
        _results(
            "pieces",
            "corpus text, measure text, tokens text, value double, low double, high double, difference double, "
            "difference_low double, difference_high double, count int, windows int",
            title="pieces of words",
            newest=Newest(by="r.model, r.revision, x.corpus, x.measure"),
        ),
        # Geometry of the tables and hidden states of a model. subject: what was measured (word, position, an
        # encoding's name ...); along: where on the measure's own axis (a rank, a dimension, a position ...), if it has
        # one. baseline: what random vectors of the same shape give, with its own interval.
        _results(
            "geometry",
            "measure text, subject text, layer int, head int, along double, value double, low double, high double, "
            "baseline double, baseline_low double, baseline_high double, samples int",
            title="geometry",
            newest=Newest(by="r.model, r.revision, x.measure, x.subject"),
        ),
        # Words that a position turns into others, and sums of a word and a position that nearly meet: the cases.
        _results(
            "neighbours",
            "measure text, word text, position int, other_word text, other_position int, distance double, "
            "margin double",
            title="nearest words and sums",
            newest=Newest(by="r.model, r.revision, x.measure"),
        ),
        _results(
            "encoding_measures",
            "encoding text, length int, dim int, measure text, value double",
            title="encodings",
            folder="encodings",
        ),
        # Fine-tuning: one row a metric of one fine-tuning. pretraining: the run that made the checkpoint; data: which
        # rows of the task were used ('official', or what is partial about them). Values are fractions.
        _results(
            "scores",
            f"{_FINETUNING}, data text, train_examples int, dev_examples int, seconds double, value double",
            title="fine-tuning",
        ),
        # What each fine-tuning answered for every dev example, in the order of the file; and its main metric on
        # resamples of those examples that are the same for every run, so that differences of runs can be resampled
        # without the labels.
        _results(
            "predictions",
            f"{_FINETUNING}, prediction float[], replicates float[]",
            title="predictions of a fine-tuning",
        ),
        # Pre-training: losses in nats a predicted token against steps, tokens and seconds of training.
        _results(
            "curves",
            "variant text, preset text, seed int, metric text, step bigint, tokens bigint, seconds double, "
            "value double",
            title="pre-training",
        ),
        _results("costs", "variant text, preset text, measure text, value double", title="costs"),
        # What interventions do over a corpus, tokens of all texts pooled. outcome: cosine (of the output before and
        # after), attention_kl (nats; of all layers, or of one), loss and loss_change (nats a token, with a head).
        _results(
            "interventions",
            "corpus text, intervention text, outcome text, layer int, value double, low double, high double, "
            "texts int, tokens int",
            title="interventions",
            newest=_BY_CORPUS,
        ),
        # Where position is in a model, on one text (in the run's config, with its tokens): of each source of the
        # scores, the numerators of what depends on content, position and both; a share is one of them over power, both
        # summed over heads. source: a band of wavelengths in tokens, what is not turned, or what is added. kernel: the
        # mean score at distances from -(tokens - 1) to tokens - 1, empty where nothing turns. joined_*: the pairs of
        # tokens that it joins most.
        _results(
            "positions",
            "layer int, source text, head int, content double, position double, both double, power double, "
            "kernel float[], joined_query int[], joined_key int[], joined_score float[]",
            title="position map",
            newest=Newest(by="r.model, r.revision, r.config ->> 'text'", also=("seconds",)),
        ),
        # A model's own task under every operation on its positions and terms, with no training. rank: directions that
        # the operation takes; draw: which random draw; difference: from the intact model, paired over the same
        # resamples; pairs: how many pairs of sentences, or where the task is masked_words how many windows of text.
        _results(
            "surgery",
            "task text, operation text, said text, rank int, draw int, value double, low double, high double, "
            "difference double, difference_low double, difference_high double, pairs int",
            title="surgery",
            newest=Newest(by="r.model, r.revision, x.task, x.operation, x.rank", name="newest_surgery_by_task"),
        ),
        # An arm of surgery trained on to give the states of the intact encoder. measure: loss, unexplained, pooled (of
        # held-out texts), stsb (Spearman), order, order_near, order_far (the share of exchanged words that are found);
        # tokens: how many had been read then. purpose: judged, pilot (chooses a rate) or dose (more tokens).
        _results(
            "refits",
            "arm text, purpose text, seed int, learning_rate double, measure text, tokens bigint, value double",
            title="refitting",
        ),
        _results(
            "first_verdicts",
            "id text, asks text, rule text, changed text[], verdict text, sentence text, effect double, "
            "low double, high double, unit text, measured text, threshold double, models text[], samples int, "
            "sample_unit text, missing text, command text",
            title="first verdicts",
            table=False,
            evidence=(
                "side text, says text, value double, low double, high double, unit text, source text, "
                "citation text, caveat text, query text, page text, parameters text"
            ),
            queries="name text, sql text",
            views="label text, page text, parameters text",
        ),
        Kind(
            name="probe",
            title="probe",
            folder="probes",
            version=2,
            schema=_schema(
                "head int, query float[], key float[], share float[], effect float[], top1 float[], rms float[], "
                "score_bias float[]"
            ),
            upgrades={1: _without_score_bias},
            table=False,
        ),
    )
}


def kind_title(name: str) -> str:
    """The title of a kind for readers; an unknown name is its own title."""
    return KINDS[name].title if name in KINDS else name


def table_statements() -> Iterator[str]:
    """The SQL that makes the table of every kind, and the view of its newest rows."""
    for kind in KINDS.values():
        if kind.table:
            columns = ", ".join(f'"{column.name}" {_SQL_TYPES[str(column.type)]}' for column in kind.schema)
            yield f"CREATE TABLE {kind.name} (run_id VARCHAR, {columns})"
        if kind.newest is not None:
            yield _newest_view(kind.name, kind.newest)


def _newest_view(table: str, newest: Newest) -> str:
    """The view of the newest rows. Of two runs made in the same second, one is taken all the same."""
    run = ", ".join(f"r.{column}" for column in (*PROVENANCE, *newest.also))
    without = f" EXCLUDE ({newest.without})" if newest.without else ""
    return (
        f"CREATE VIEW {newest.name or f'newest_{table}'} AS SELECT {run}, x.*{without} FROM {table} x "
        "JOIN runs r USING (run_id) QUALIFY (r.created, r.run_id) = max((r.created, r.run_id)) "
        f"OVER (PARTITION BY {newest.by})"
    )
