"""MNLI: does the first sentence entail the second? Scored on genres that were trained on."""

from analysis.ablation.glue.tasks.base import Task, register

register(
    Task(
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
        official_texts=("sentence1", "sentence2"),
        hub="mnli",
        hub_texts=("premise", "hypothesis"),
        hub_dev="validation_matched",
        train_rows=(392702,),
        dev_rows=9815,
    )
)
