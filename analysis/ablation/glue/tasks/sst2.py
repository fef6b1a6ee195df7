"""SST-2: does a phrase of a film review praise or blame?"""

from analysis.ablation.glue.tasks.base import Task, register

register(
    Task(
        name="sst2",
        title="SST-2",
        summary="Does the phrase of a film review praise (1) or blame (0)?",
        paper="Socher et al. 2013, Recursive Deep Models for Semantic Compositionality, EMNLP",
        metrics=("accuracy",),
        texts=("sentence",),
        labels=("0", "1"),
        folder="SST-2",
        official_texts=("sentence",),
        hub="sst2",
        hub_texts=("sentence",),
        train_rows=(67349,),
        dev_rows=872,
    )
)
