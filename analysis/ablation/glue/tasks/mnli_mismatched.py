"""MNLI on genres that were not trained on: another dev set of the training of `mnli`."""

from analysis.ablation.glue.tasks.base import Task, register

register(
    Task(
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
        official_texts=("sentence1", "sentence2"),
        hub="mnli",
        hub_texts=("premise", "hypothesis"),
        hub_dev="validation_mismatched",
        train_rows=(392702,),
        dev_rows=9832,
    )
)
