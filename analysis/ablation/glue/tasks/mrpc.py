"""MRPC: do two sentences say the same? Microsoft's own files, of which GLUE made a split, are read too."""

from analysis.ablation.glue.tasks.base import Task, Unsplit, register

register(
    Task(
        name="mrpc",
        title="MRPC",
        summary="Do the two sentences say the same?",
        paper="Dolan and Brockett 2005, Automatically Constructing a Corpus of Sentential Paraphrases, IWP",
        metrics=("accuracy", "f1"),
        texts=("sentence1", "sentence2"),
        labels=("0", "1"),
        folder="MRPC",
        official_label="Quality",
        official_texts=("#1 String", "#2 String"),
        unsplit=Unsplit(file="msr_paraphrase_train.txt", dev_ids="mrpc_dev_ids.tsv", columns=("#1 ID", "#2 ID")),
        hub="mrpc",
        hub_texts=("sentence1", "sentence2"),
        train_rows=(3668,),
        dev_rows=408,
    )
)
