"""Swapped neighbours: our own task, which only word order can solve. Its data is made by `glue.swapped`."""

from analysis.ablation.glue.tasks.base import Task, register

register(
    Task(
        name="swapped_neighbours",
        title="Swapped neighbours",
        summary="Were two neighbouring words of the sentence swapped (1) or not (0)?",
        paper="Addend",
        metrics=("accuracy",),
        texts=("sentence",),
        labels=("0", "1"),
        glue=False,
    )
)
