"""STS-B: how similar are two sentences?"""

from analysis.ablation.glue.tasks.base import Task, register

register(
    Task(
        name="stsb",
        title="STS-B",
        summary="How similar are the two sentences, from 0 to 5?",
        paper="Cer et al. 2017, SemEval-2017 Task 1: Semantic Textual Similarity, SemEval",
        metrics=("pearson", "spearmanr"),
        texts=("sentence1", "sentence2"),
        bounds=(0.0, 5.0),
        folder="STS-B",
        official_label="score",
        official_texts=("sentence1", "sentence2"),
        hub="stsb",
        hub_texts=("sentence1", "sentence2"),
        train_rows=(5749,),
        dev_rows=1500,
    )
)
