"""Our own GLUE scores and those of a published table as rows: averages, differences to a baseline, scores."""

import pandas as pd

from analysis import glue_comparison
from analysis.ablation.variants import VARIANTS, named
from analysis.core.errors import NoResults
from analysis.figures.figure import Parameters
from analysis.figures.training.trainings import MASKED, Trained, TrainingParameters, select_trainings
from analysis.glue_comparison import AVERAGE, PublishedComparison, Study
from analysis.glue_comparison.results import MAKE
from analysis.store import read
from analysis.store.files import IMPORTED

TUPE = "ke2021tupe|Table 1"
PUBLISHED = "published"
CORRELATIONS = {"pearson": "Pearson", "spearmanr": "Spearman", "matthews_correlation": "Matthews"}
"""Metrics that are correlations, by the names that tell them apart."""
OWN_COLUMNS = (
    "source", "variant", "title", "task", "task_title", "value", "low", "high", "seeds", "runs", "sd_seeds",
    "sd_finetuning", "learning_rate", "rates_tried", "majority", "learnt", "data", "train_examples", "baseline",
    "difference", "difference_low", "difference_high", "p", "p_corrected", "tests", "verdict", "tie",
    "smallest_detectable", "examples_low", "examples_high", "resamples", "probability_better", "note",
)  # fmt: skip
VALUES = {
    "mean": "Dots: means over pre-training seeds, after averaging the fine-tuning seeds of each; bars: 95 % t "
    "intervals.",
    "median": "Dots: medians of all runs, as TUPE reports them; bars: 95 % t intervals of the mean over pre-training "
    "seeds. A median of so few runs has no interval, so a dot may lie off the middle of its bar.",
}
"""The meaning of dots and bars, by protocol."""
MEANS = {
    "mean": "Means over pre-training seeds, after averaging the fine-tuning seeds of each.",
    "median": "Medians of all runs, as TUPE reports them; their intervals are of the mean over pre-training seeds.",
}
"""The meaning of numbers, by protocol."""


class GlueParameters(Parameters):
    """Our own runs of one preset, how they are compared, and the published table shown with them.

    Empty: no table; the baseline that runs or table have of their own.
    """

    topic = "glue"
    preset: str = glue_comparison.DEFAULT_PRESET
    baseline: str = "bert_a"
    protocol: str = "mean"
    without: tuple[str, ...] = ()
    including: tuple[str, ...] = ()
    margin: str = "1"
    table: str = TUPE


def recipe(preset: str) -> Trained | None:
    """The pre-trainings whose fine-tunings are compared: one recipe, and one learning rate a variant.

    None where no curves of them are stored.
    """
    preset = glue_comparison.resolve(preset)
    usual = TrainingParameters(preset=preset, objective=MASKED)
    try:
        return select_trainings(usual, run_ids=glue_comparison.pretrained(preset))
    except NoResults:
        return None


def study_of(params: GlueParameters) -> Study:
    """Our own runs of one recipe. Raises LinkError for a preset, baseline, protocol or margin that there is not."""
    trainings = recipe(params.preset)
    return glue_comparison.study(
        params.preset,
        baseline=params.baseline,
        protocol=params.protocol,
        without=params.without,
        including=params.including,
        margin=params.margin,
        counted=None if trainings is None else tuple(sorted(trainings.runs.run_id)),
    )


def study_and_table(params: GlueParameters) -> tuple[Study, PublishedComparison | None]:
    """Our own runs and the published table that a link asks for.

    Raises NoResults where there is neither, and LinkError for an unknown name.
    """
    study = study_of(params)
    published = glue_comparison.published_comparison(params.table, study.baseline)
    if not study and published is None:
        raise NoResults(f"No results of our own are stored; make them with: {MAKE}. Or choose a published table.")
    return study, published


def task_titles() -> dict[str, str]:
    """Task -> title, of the tasks of GLUE."""
    rows = read.query("SELECT task, title FROM tasks WHERE glue")
    return dict(zip(rows.task, rows.title, strict=True))


def correlations() -> dict[str, str]:
    """Task -> the correlation that its scores are, of tasks whose main metric is one."""
    rows = read.query("SELECT task, metric FROM tasks")
    return {
        task: CORRELATIONS[metric]
        for task, metric in zip(rows.task, rows.metric, strict=True)
        if metric in CORRELATIONS
    }


def name_of(study: Study) -> str:
    """The study's baseline as a part of a sentence: `adding`, or its title."""
    return named(study.baseline) if study.baseline in VARIANTS else study.name


def variant_titles() -> dict[str, str]:
    """Variant -> title."""
    rows = read.query("SELECT variant, title FROM variants")
    return dict(zip(rows.variant, rows.title, strict=True))


def baselines(preset: str, table: str) -> list[str]:
    """Possible baselines: our variants or, where there are none, the rows of the published table."""
    variants = study_of(GlueParameters(preset=preset)).results.variants
    comparison = glue_comparison.published_comparison(table)
    return variants or ([comparison.key(row) for row in comparison.table.variants] if comparison else [])


def columns(preset: str, table: str, protocol: str) -> tuple[list[str], list[str]]:
    """GLUE tasks that can be averaged, and those that none of our variants learnt."""
    study = study_of(GlueParameters(preset=preset, protocol=protocol))
    comparison = glue_comparison.published_comparison(table)
    tasks = study.glue or (list(comparison.tasks) if comparison else [])
    return [task for task in tasks if task not in study.not_learnt], study.not_learnt


def averaged_tasks(study: Study, published: PublishedComparison | None) -> list[str]:
    """Tasks in the averages: ours, or without any of ours the ticked ones of the table."""
    if study or published is None:
        return study.averaged_tasks
    return [task for task in published.tasks if task not in study.without]


def source(study: Study) -> str:
    """The name given to the rows of a preset."""
    return f"{run_owner(study)}, preset {study.results.preset}"


def run_owner(study: Study) -> str:
    """The owner of the runs: ourselves, or a reader who imported them."""
    return IMPORTED if study.results.preset.startswith(IMPORTED) else "own"


def comparison_rows(study: Study, published: PublishedComparison | None) -> pd.DataFrame:
    """Every own row and every published one, a row per variant and task, and one for each average."""
    parts = []
    if study:
        cells = study.cells.assign(source=source(study))
        if len(study.contrasts):
            comparisons = study.comparisons.rename(columns={"low": "difference_low", "high": "difference_high"})
            comparisons = comparisons.drop(columns=["title", "task_title", "seeds", "sd", "within_margin"])
            cells = cells.merge(comparisons, on=["variant", "task"], how="left", suffixes=("", "_compared"))
            notes = [cells.pop("note"), cells.pop("note_compared")]
            cells["note"] = [
                "; ".join(dict.fromkeys(note for note in pair if isinstance(note, str) and note))
                for pair in zip(*notes, strict=True)
            ]
        parts.append(cells)
    if published:
        names = {task: study.title(task) if task in study.tasks else column for task, column in published.tasks.items()}
        frame = published.rows(averaged_tasks(study, published), AVERAGE)
        parts.append(
            frame.assign(
                title=frame.row,
                task_title=[names.get(task, "Average") for task in frame.task],
                verdict=PUBLISHED,
                data="",
                note="",
            ).drop(columns=["row"])
        )
    return pd.concat(parts, ignore_index=True).reindex(columns=list(OWN_COLUMNS))


def order(study: Study, table: pd.DataFrame) -> list[str]:
    """Variants from the best average down, ours first."""
    means = table[(table.task == AVERAGE) & (table.verdict == PUBLISHED)].sort_values("value", ascending=False)
    return list(dict.fromkeys([*(study.order if study else []), *means.variant, *table.variant]))
