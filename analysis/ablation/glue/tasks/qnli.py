"""QNLI: does the sentence answer the question?"""

from analysis.ablation.glue.tasks.base import Task, register

register(
    Task(
        name="qnli",
        title="QNLI",
        summary="Does the sentence hold the answer to the question?",
        paper="Rajpurkar et al. 2016, SQuAD, EMNLP; recast by Wang et al. 2019, GLUE, ICLR",
        metrics=("accuracy",),
        texts=("question", "sentence"),
        labels=("entailment", "not_entailment"),
        folder="QNLI",
        official_texts=("question", "sentence"),
        hub="qnli",
        hub_texts=("question", "sentence"),
        train_rows=(104743,),
        dev_rows=5463,
    )
)
