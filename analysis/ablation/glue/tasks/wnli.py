"""WNLI: what does the pronoun stand for? Its dev set contradicts its train set, so most papers leave it out."""

from analysis.ablation.glue.tasks.base import Task, register

register(
    Task(
        name="wnli",
        title="WNLI",
        summary="Does the sentence follow, with its pronoun replaced?",
        paper="Levesque et al. 2012, The Winograd Schema Challenge, KR; recast by Wang et al. 2019, GLUE, ICLR",
        metrics=("accuracy",),
        texts=("sentence1", "sentence2"),
        labels=("0", "1"),
        folder="WNLI",
        official_texts=("sentence1", "sentence2"),
        hub="wnli",
        hub_texts=("sentence1", "sentence2"),
        train_rows=(635,),
        dev_rows=71,
    )
)
