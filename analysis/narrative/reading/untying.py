"""Step 8: asking fewer questions."""

from analysis.core.formatting import signed
from analysis.literature import tables as published
from analysis.narrative.reading.base import Control, Destination, Step, Values, register

TABLE, VARIANT, BASELINE = "ke2021tupe|Table 1", "TUPE-A", "BERT-A"


def tasks() -> list[str]:
    """The GLUE tasks that can be left out of the average; the empty name leaves out none."""
    return ["", *(task for task, _ in published.load(TABLE).glue_columns)]


def _title(task: str) -> str:
    return dict(published.load(TABLE).glue_columns).get(task, "nothing") if task else "nothing"


def params(values: Values) -> dict:
    """TUPE's own table, with a column left out of the average."""
    task = str(values["leave"])
    return {"table": TABLE, "baseline": BASELINE, "without": (task,) if task else (), "view": "average"}


def says(values: Values) -> str:
    """The published gain that is left without the chosen task, and the gain over all tasks."""
    table = published.load(TABLE)
    task = str(values["leave"])
    rows = published.average(table, (task,) if task else ()).set_index("variant")
    without_task, all_columns = (rows[name][VARIANT] - rows[name][BASELINE] for name in ("ticked", "all_columns"))
    suffix = f" with {_title(task)} left out" if task else ""
    return (
        f"As published, {VARIANT} differs from {BASELINE} by {signed(without_task)} points on the GLUE average{suffix} "
        f"({signed(all_columns)} over all columns; above zero is better). The paper reports no spread, so neither "
        "difference can be tested."
    )


register(
    Step(
        place=8,
        name="untying",
        title="Asking fewer questions",
        text=(
            "If the cross terms do little, why keep them? Ke et al. (2021), whom the article from Baobao Algorithm "
            "Notes follows, take them out: in **TUPE**, words are compared with words and positions with positions, "
            "each through separate matrices, and [CLS] is treated separately. They report faster pre-training and "
            "higher GLUE scores. An average over a few tasks may depend on one of them: leave out a column and see "
            "what remains. TUPE also changes more than the cross terms, and other work keeps cross terms on purpose "
            "(He et al. 2021, DeBERTa)."
        ),
        documents=("004",),
        claims=("C18", "C19", "C21"),
        citations=("ke2021tupe", "he2021deberta"),
        figure="published_average",
        page="published",
        params=params,
        controls=(Control(field="leave", label="Leave out of the average", options=tasks, slides=False, show=_title),),
        says=says,
        more=Destination(
            page="training",
            says="What each of its changes does, in our own trainings",
            values=lambda values: {"part": "parts"},
        ),
    )
)
