"""The tasks that variants are fine-tuned on: what a task is, with its metrics and labels, and the table of all of them.

`TASKS["cola"]` is a `GlueTask`.
"""

from dataclasses import dataclass
from typing import Any

from analysis.core.registry import Registry

ROC_AUC = "roc_auc"
"""The area under the ROC curve, stored of every task with two classes. It needs the outputs, not only the answers."""
METRICS = ("matthews_correlation", "pearson", "spearmanr", "accuracy", "f1", ROC_AUC)
"""Metrics by which a task may be scored, each stored as a fraction."""


@dataclass(frozen=True, kw_only=True)
class Unsplit:
    """A distribution that holds train and dev in one file, with a list of the rows that are dev."""

    file: str
    dev_ids: str
    """A file of dev rows, one a line: what `columns` hold, separated by a tab."""
    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GlueTask:
    """One task. `labels` are as the files spell them, in the order of the model's outputs; the last is positive for F1.

    A task without labels is a regression within `bounds`. `files` may lie as GLUE distributes them (columns
    `official_label` and `official_texts`, or `official_columns` where the file has no header row), or with a
    header row that names `label` and `texts`. `hub` is the configuration of nyu-mll/glue; "" where there is none.
    """

    name: str
    title: str
    summary: str
    paper: str
    metrics: tuple[str, ...]
    """The first is the main one."""
    texts: tuple[str, ...]
    """The text columns: one, or two for a pair."""
    labels: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    glue: bool = True
    trained_on: str | None = None
    """The task whose training this one shares: it is only another dev set of it."""

    folder: str = ""
    dev_file: str = "dev.tsv"
    official_label: str = "label"
    official_texts: tuple[str, ...] = ()
    official_columns: tuple[str, ...] = ()
    unsplit: Unsplit | None = None
    torn_rows: int = 0
    """Rows of the official train file that lack columns, and are left out."""
    hub: str = ""
    hub_texts: tuple[str, ...] = ()
    hub_dev: str = "validation"
    train_rows: tuple[int, ...] = ()
    """The number of rows of the official train set; two numbers where its distributions differ."""
    dev_rows: int = 0

    @property
    def regression(self) -> bool:
        """True of a task whose label is a number."""
        return not self.labels

    @property
    def num_labels(self) -> int:
        """The number of outputs that a model needs: one for each label, and one for a regression."""
        return len(self.labels) or 1


def _glue_task(**fields: Any) -> GlueTask:
    """A task of GLUE. Unless `fields` say otherwise, its files and the hub use its name and the columns `texts`."""
    return GlueTask(**{"official_texts": fields["texts"], "hub": fields["name"], "hub_texts": fields["texts"]} | fields)


_TABLE = (
    _glue_task(
        name="cola",
        title="CoLA",
        summary="Is the sentence acceptable English?",
        paper="Warstadt et al. 2019, Neural Network Acceptability Judgments, TACL",
        metrics=("matthews_correlation",),
        texts=("sentence",),
        labels=("0", "1"),
        folder="CoLA",
        official_columns=("source", "label", "star", "sentence"),
        train_rows=(8551,),
        dev_rows=1043,
    ),
    _glue_task(
        name="mnli",
        title="MNLI matched",
        summary="Does the premise entail the hypothesis, contradict it, or neither?",
        paper="Williams et al. 2018, A Broad-Coverage Challenge Corpus for Sentence Understanding, NAACL",
        metrics=("accuracy",),
        texts=("sentence1", "sentence2"),
        labels=("entailment", "neutral", "contradiction"),
        folder="MNLI",
        dev_file="dev_matched.tsv",
        official_label="gold_label",
        hub_texts=("premise", "hypothesis"),
        hub_dev="validation_matched",
        train_rows=(392702,),
        dev_rows=9815,
    ),
    _glue_task(
        name="mnli_mismatched",
        title="MNLI mismatched",
        summary="MNLI on genres that were not trained on.",
        paper="Williams et al. 2018, A Broad-Coverage Challenge Corpus for Sentence Understanding, NAACL",
        metrics=("accuracy",),
        texts=("sentence1", "sentence2"),
        labels=("entailment", "neutral", "contradiction"),
        trained_on="mnli",
        folder="MNLI",
        dev_file="dev_mismatched.tsv",
        official_label="gold_label",
        hub="mnli",
        hub_texts=("premise", "hypothesis"),
        hub_dev="validation_mismatched",
        train_rows=(392702,),
        dev_rows=9832,
    ),
    # Microsoft's own files, of which GLUE made a split, are read too.
    _glue_task(
        name="mrpc",
        title="MRPC",
        summary="Do the two sentences say the same?",
        paper="Dolan and Brockett 2005, Automatically Constructing a Corpus of Sentential Paraphrases, IWP",
        metrics=("accuracy", "f1"),
        texts=("sentence1", "sentence2"),
        labels=("0", "1"),
        folder="MRPC",
        official_label="Quality",
        official_texts=("#1 String", "#2 String"),
        unsplit=Unsplit(file="msr_paraphrase_train.txt", dev_ids="mrpc_dev_ids.tsv", columns=("#1 ID", "#2 ID")),
        train_rows=(3668,),
        dev_rows=408,
    ),
    _glue_task(
        name="qnli",
        title="QNLI",
        summary="Does the sentence hold the answer to the question?",
        paper="Rajpurkar et al. 2016, SQuAD, EMNLP; recast by Wang et al. 2019, GLUE, ICLR",
        metrics=("accuracy",),
        texts=("question", "sentence"),
        labels=("entailment", "not_entailment"),
        folder="QNLI",
        train_rows=(104743,),
        dev_rows=5463,
    ),
    _glue_task(
        name="qqp",
        title="QQP",
        summary="Do the two questions ask the same?",
        paper="Iyer et al. 2017, First Quora Dataset Release: Question Pairs",
        metrics=("accuracy", "f1"),
        texts=("question1", "question2"),
        labels=("0", "1"),
        folder="QQP",
        official_label="is_duplicate",
        torn_rows=3,
        train_rows=(363846, 363849),
        dev_rows=40430,
    ),
    _glue_task(
        name="rte",
        title="RTE",
        summary="Does the first text entail the second?",
        paper="Dagan et al. 2006 and the challenges after it; gathered by Wang et al. 2019, GLUE, ICLR",
        metrics=("accuracy",),
        texts=("sentence1", "sentence2"),
        labels=("entailment", "not_entailment"),
        folder="RTE",
        train_rows=(2490,),
        dev_rows=277,
    ),
    _glue_task(
        name="sst2",
        title="SST-2",
        summary="Does the phrase of a film review praise (1) or blame (0)?",
        paper="Socher et al. 2013, Recursive Deep Models for Semantic Compositionality, EMNLP",
        metrics=("accuracy",),
        texts=("sentence",),
        labels=("0", "1"),
        folder="SST-2",
        train_rows=(67349,),
        dev_rows=872,
    ),
    _glue_task(
        name="stsb",
        title="STS-B",
        summary="How similar are the two sentences, from 0 to 5?",
        paper="Cer et al. 2017, SemEval-2017 Task 1: Semantic Textual Similarity, SemEval",
        metrics=("pearson", "spearmanr"),
        texts=("sentence1", "sentence2"),
        bounds=(0.0, 5.0),
        folder="STS-B",
        official_label="score",
        train_rows=(5749,),
        dev_rows=1500,
    ),
    # Our own, which only word order can solve; its data are made by `swapped_neighbours.make`.
    GlueTask(
        name="swapped_neighbours",
        title="Swapped neighbours",
        summary="Were two neighbouring words of the sentence swapped (1) or not (0)?",
        paper="Addend",
        metrics=("accuracy",),
        texts=("sentence",),
        labels=("0", "1"),
        glue=False,
    ),
    # Its dev set contradicts its train set, so most papers leave it out.
    _glue_task(
        name="wnli",
        title="WNLI",
        summary="Does the sentence follow, with its pronoun replaced?",
        paper="Levesque et al. 2012, The Winograd Schema Challenge, KR; recast by Wang et al. 2019, GLUE, ICLR",
        metrics=("accuracy",),
        texts=("sentence1", "sentence2"),
        labels=("0", "1"),
        folder="WNLI",
        train_rows=(635,),
        dev_rows=71,
    ),
)

TASKS: Registry[GlueTask] = Registry("task")
for _task in _TABLE:
    TASKS.add(_task.name, _task)
