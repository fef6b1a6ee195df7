"""RTE: does the first text entail the second?"""

from analysis.ablation.glue.tasks.base import Task, register

register(
    Task(
        name="rte",
        title="RTE",
        summary="Does the first text entail the second?",
        paper="Dagan et al. 2006 and the challenges after it; gathered by Wang et al. 2019, GLUE, ICLR",
        metrics=("accuracy",),
        texts=("sentence1", "sentence2"),
        labels=("entailment", "not_entailment"),
        folder="RTE",
        official_texts=("sentence1", "sentence2"),
        hub="rte",
        hub_texts=("sentence1", "sentence2"),
        train_rows=(2490,),
        dev_rows=277,
    )
)
