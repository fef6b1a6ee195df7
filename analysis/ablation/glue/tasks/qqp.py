"""QQP: do two questions ask the same?"""

from analysis.ablation.glue.tasks.base import Task, register

register(
    Task(
        name="qqp",
        title="QQP",
        summary="Do the two questions ask the same?",
        paper="Iyer et al. 2017, First Quora Dataset Release: Question Pairs",
        metrics=("accuracy", "f1"),
        texts=("question1", "question2"),
        labels=("0", "1"),
        folder="QQP",
        official_label="is_duplicate",
        official_texts=("question1", "question2"),
        torn_rows=3,
        hub="qqp",
        hub_texts=("question1", "question2"),
        train_rows=(363846, 363849),
        dev_rows=40430,
    )
)
