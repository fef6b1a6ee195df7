"""Our own GLUE scores next to a published table: averages, differences to a baseline task by task, scores."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import pandas as pd

from analysis import glue_comparison
from analysis.core.errors import LinkError, NoResults
from analysis.core.formatting import join_names, signed, span
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.published.data import query_command, quoted
from analysis.figures.training.data import MASKED, Trained, TrainingParameters, select_trainings
from analysis.glue_comparison import AVERAGE, PublishedComparison, Study
from analysis.glue_comparison.results import MAKE
from analysis.statistics import protocol
from analysis.store.files import IMPORTED
from analysis.store.paths import cached_until_store_changes

TUPE = "ke2021tupe|Table 1"
PUBLISHED = "published"
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


class GlueParameters(Parameters):
    """Our own runs of one preset, how they are compared, and the published table shown with them.

    Empty: no table; the baseline that runs or table have of their own.
    """

    preset: str = glue_comparison.DEFAULT_PRESET
    baseline: str = "bert_a"
    protocol: str = "mean"
    without: tuple[str, ...] = ()
    including: tuple[str, ...] = ()
    margin: str = "1"
    table: str = TUPE


@dataclass(frozen=True)
class GlueContent:
    """order: variants from the best average down. study: our own runs. published: the published table, if any.

    own_source: the name of our own rows. baseline: the title of the variant that others are compared with.
    """

    order: list[str]
    study: Study
    published: PublishedComparison | None
    own_source: str
    baseline: str


@cached_until_store_changes()
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


@lru_cache(maxsize=4)
def rows(study: Study, published: PublishedComparison | None) -> pd.DataFrame:
    """Every own row and every published one, a row per variant and task, and one for each average.

    Cached, since figure and table of a page use the same frame; do not modify it.
    """
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


# ---- What every figure says ----


def _figure(
    name: str, title: str, params: GlueParameters, shows: str, select: Callable[[pd.DataFrame], pd.DataFrame]
) -> Figure[GlueContent]:
    study, published = study_and_table(params)
    table = rows(study, published)
    shown = select(table)
    if shown.empty or (name == "glue_average" and not averaged_tasks(study, published)):
        raise LinkError("No task is in the average; tick one.")
    baseline = study.name if study else published.baseline if published else ""
    text = " ".join(
        part for part in (_own_caption(name, study, shows), _published_caption(study, published, shows)) if part
    )
    return Figure(
        title=title.format(baseline),
        finding=_not_ranked(_finding(shown, study, shows), study),
        frame=lambda: shown.reset_index(drop=True),
        caption=text,
        alt=f"{title.format(study.name)}. {_alt(shown, shows)}",
        command=_command(study, published),
        provenance=_provenance(study, published),
        citation_keys=(published.table.citation,) if published else (),
        content=GlueContent(
            order(study, table), study, published, own_source=source(study) if study else "", baseline=baseline
        ),
    )


def seed_kind(study: Study) -> str:
    """The kind of seed in a study: of a pre-training from scratch, or of a fine-tuning of one model."""
    return "fine-tuning seeds of one model" if study.results.preset == "surgery" else "pre-training seeds"


def _own_caption(name: str, study: Study, shows: str) -> str:
    """The part of a caption that describes the data behind our own results."""
    if not study:
        return f"No results of our own yet: {MAKE}."
    cells = study.cells
    tasks = [study.title(task) for task in study.averaged_tasks]
    excluded = [study.title(task) for task in study.glue if task not in study.averaged_tasks]
    partial = [study.title(task) for task in study.tasks if study.results.tasks.partial[task]]
    parts = [
        {
            "average": f"Mean score over {len(tasks)} GLUE tasks on the dev sets, and its difference to "
            f"{study.name}'s; dots right of the line score higher.",
            "difference": f"Score on each task minus {study.name}'s; dots right of the line score higher.",
            "scores": "Score on each task's dev set; higher is better.",
        }[shows if shows == "scores" else name.removeprefix("glue_")],
        f"{'Our own' if run_owner(study) == 'own' else 'Imported'} runs: preset {study.results.preset}, "
        f"{len(study.results.variants)} variants, {span(cells.seeds)} {seed_kind(study)}, "
        "at the best learning rate of each variant and task"
        + (f" ({protocol.OPTIMISM})." if cells.rates_tried.max() > 1 else "."),
        VALUES[study.protocol].replace("pre-training seeds", seed_kind(study)),
        f"Averages are over {len(tasks)} GLUE tasks ({join_names(tasks)})"
        + (f", without {join_names(excluded)}." if excluded else ".")
        if tasks
        else "No task is in the average.",
        f"Partial data: {join_names(partial)}." if partial else "",
        f"Pre-trainings at other settings, left out: {study.results.left_out}." if study.results.left_out else "",
    ]
    non_glue = [study.title(task) for task in study.tasks if task not in study.glue]
    if shows == "scores":
        parts.append(
            "All panels of GLUE tasks span the same number of points; dashed: the majority class, where it is in range."
        )
    if non_glue:
        parts.append(
            f"{join_names(non_glue)}: a task of our own, outside GLUE; it is in no average and has its own axis."
        )
    if shows == "difference" and len(study.contrasts):
        detectable = study.contrasts.smallest_detectable[study.contrasts.task == AVERAGE].dropna()
        parts += [
            "Differences are paired by seed. Thin bars: 95 % bootstrap intervals over the dev examples, with the "
            "trained models held fixed.",
            "Blue, different: p below 5 % after Holm's correction (for averages, over the variants; for tasks, over "
            f"the tasks of a variant). Green square, equivalent: within {study.margin:g} point"
            f"{'' if study.margin == 1 else 's'}, by two one-sided t tests at 5 %. Grey, not resolved: neither of the "
            "two, which does not show that the scores are the same.",
            f"With these seeds, a difference in averages is detected 80 % of the time if it is at least "
            f"{span(detectable, 1)} points, depending on the variant."
            if len(detectable)
            else "",
        ]
    return " ".join(part for part in parts if part)


def _published_caption(study: Study, published: PublishedComparison | None, shows: str) -> str:
    """The part of a caption that describes the data behind the published results."""
    if published is None:
        return ""
    table, ours = published.table, averaged_tasks(study, published)
    shared = [column for task, column in published.tasks.items() if task in ours]
    missing = [study.title(task) for task in ours if task not in published.tasks]
    spread = "its standard deviations are not drawn" if table.cells.sd.notna().any() else "no spread is printed"
    parts = [
        f"Orange diamonds, published: {table.title} ({table.kinds}), other models on other data"
        + (f", minus {published.baseline}" if shows == "difference" else "")
        + f"; {spread}.",
        f"Published averages are over {len(shared)} columns ({join_names(shared)})"
        if shared
        else "No published average",
    ]
    return " ".join(parts) + (f"; it does not print {join_names(missing)}." if missing else ".")


def _alt(shown: pd.DataFrame, shows: str) -> str:
    column = "difference" if shows == "difference" else "value"
    sentences = []
    for name, rows in shown[shown[column].notna()].groupby(["source", "task_title"], sort=False):
        top, bottom = rows.iloc[rows[column].argmax()], rows.iloc[rows[column].argmin()]
        format_value = signed if shows == "difference" else "{:.2f}".format
        sentences.append(
            f"{name[1]}, {name[0]}: highest {top.title} {format_value(top[column])}, lowest {bottom.title} "
            f"{format_value(bottom[column])} points."
        )
    return " ".join(sentences[:12])


def _command(study: Study, published: PublishedComparison | None) -> str:
    if study or published is None:
        return query_command(
            "SELECT variant, task, metric, seed, finetune_seed, learning_rate, data, 100 * value AS points FROM scores "
            f"WHERE preset = {quoted(study.results.preset)} ORDER BY ALL"
        )
    citation, _, name = published.table.id.partition("|")
    where = " AND ".join(
        f"{column} = {quoted(text)}" for column, text in (("citation", citation), ("table_name", name))
    )
    return query_command(f"SELECT * FROM published_scores WHERE {where}")


def _provenance(study: Study, published: PublishedComparison | None) -> dict[str, str]:
    entries = {}
    if study:
        runs = study.results.runs
        for name, column in {"device": "device", "code": "git_sha", "libraries": "versions"}.items():
            entries[f"own runs, {name}"] = "; ".join(map(str, dict.fromkeys(runs[column])))
        if settings := recipe(study.results.preset):
            entries["own pre-trainings"] = settings.description()
        entries["own runs"] = f"{len(runs)}, made {runs.created.min()} to {runs.created.max()}"
    if published:
        entries["published table"] = published.table.title
        entries["published file"] = "data/published/figures/" + ", ".join(dict.fromkeys(published.table.cells.file))
    return entries


# ---- The figures ----


@figure("glue_average", GlueParameters)
def average(params: GlueParameters) -> Figure[GlueContent]:
    """Averages over the ticked tasks, and their differences to the baseline's.

    Raises NoResults where nothing is stored, LinkError for what there is not and where no task is left.
    """
    return _figure(
        "glue_average",
        "GLUE average compared with {}",
        params,
        "difference",
        lambda table: table[table.task == AVERAGE],
    )


@figure("glue_difference", GlueParameters)
def difference(params: GlueParameters) -> Figure[GlueContent]:
    """Every variant minus the baseline, task by task.

    Raises NoResults where nothing is stored, LinkError for what there is not and where no task is left.
    """
    return _figure(
        "glue_difference",
        "Difference to {}, task by task",
        params,
        "difference",
        lambda table: table[table.difference.notna() & (table.variant != table.baseline)],
    )


@figure("glue_scores", GlueParameters)
def scores(params: GlueParameters) -> Figure[GlueContent]:
    """Every variant's score on every task.

    Raises NoResults where nothing is stored, LinkError for what there is not and where no task is left.
    """
    return _figure("glue_scores", "Scores, task by task", params, "scores", lambda table: table)


def _not_ranked(finding: str, study: Study) -> str:
    """The finding or, where the page's headline says that nothing can be concluded, the same said to be no ranking."""
    from analysis.figures.glue.headline import INCONCLUSIVE, headline  # it says what this module's figures may not

    if not finding or not study or not headline(study)[0].startswith(INCONCLUSIVE):
        return finding
    return f"Not a ranking: {finding[0].lower()}{finding[1:]}"


def _finding(shown: pd.DataFrame, study: Study, shows: str) -> str:
    """The finding in our own rows: how many differ from the baseline, or the variant with the highest average."""
    own_rows = shown[shown.verdict != PUBLISHED]
    if own_rows.empty:
        return ""
    if shows == "difference":
        compared = own_rows[own_rows.difference.notna() & (own_rows.variant != own_rows.baseline)]
        counts = compared.verdict.str.split(" within").str[0].value_counts()
        what, of = ("comparisons", "with") if compared.task.nunique() > 1 else ("variants", "compared with")
        return (
            f"Of {len(compared)} {what} {of} {study.name}, {counts.get('different', 0)} differ, "
            f"{counts.get('equivalent', 0)} are equivalent and "
            f"{len(compared) - counts.get('different', 0) - counts.get('equivalent', 0)} are not resolved"
        )
    means = own_rows[own_rows.task == AVERAGE].sort_values("value")
    if means.empty:
        return ""
    low, high = means.iloc[0], means.iloc[-1]
    return f"Averages range from {low.value:.1f} points ({low.title}) to {high.value:.1f} ({high.title})"
