"""CoLA: is the sentence acceptable English?"""

from analysis.ablation.glue.tasks.base import Task, register

register(
    Task(
        name="cola",
        title="CoLA",
        summary="Is the sentence acceptable English?",
        paper="Warstadt et al. 2019, Neural Network Acceptability Judgments, TACL",
        metrics=("matthews_correlation",),
        texts=("sentence",),
        labels=("0", "1"),
        folder="CoLA",
        official_texts=("sentence",),
        official_columns=("source", "label", "star", "sentence"),
        hub="cola",
        hub_texts=("sentence",),
        train_rows=(8551,),
        dev_rows=1043,
    )
)
