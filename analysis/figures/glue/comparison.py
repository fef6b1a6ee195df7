"""Figures of our own GLUE scores next to a published table: averages, differences task by task, scores."""

from collections.abc import Callable

import pandas as pd

from analysis.ablation.variants import quote
from analysis.claims.statements import OPEN, stored
from analysis.claims.statements.judgement import Judgement
from analysis.core.errors import LinkError
from analysis.core.formatting import join_names, plural, signed, span, uncapitalised
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import LONGEST_HEADING, Figure, figure
from analysis.figures.glue import heat
from analysis.figures.glue.headline import INCONCLUSIVE, JUDGED_AS, REFITTED, SURGERY, headline
from analysis.figures.glue.panels import OwnAndPublished, majority, variants_panel
from analysis.figures.glue.study_rows import (
    MEANS,
    PUBLISHED,
    VALUES,
    GlueParameters,
    averaged_tasks,
    comparison_rows,
    name_of,
    order,
    recipe,
    run_owner,
    source,
    study_and_table,
)
from analysis.figures.published.table_parts import query_command, quoted
from analysis.glue_comparison import AVERAGE, PublishedComparison, Study
from analysis.glue_comparison.results import MAKE
from analysis.rules import surgery_rules
from analysis.statistics import protocol

INTACT = "minilm_intact"
"""The arm of a changed model that was not changed."""
REPAIRS = {SURGERY: "Fine-tuned", REFITTED: "Trained on and fine-tuned"}
"""Preset of a changed model -> what could have repaired it, as a participle."""
MOST_NAMED = 2
"""The most variants that a heading names."""
SIGNS_IN_WORDS = ("*", "=", "Grey")
COLOURS_IN_WORDS = ("Teal", "Square", "Grey")
"""Words for what is different, equivalent and open, in a map and in panels of dots."""


def _figure(
    name: str,
    title: str,
    params: GlueParameters,
    shows: str,
    select: Callable[[pd.DataFrame], pd.DataFrame],
    draw: Callable[[OwnAndPublished, pd.DataFrame, Theme], list[Chart]],
    columns: int,
) -> Figure:
    study, published = study_and_table(params)
    if study and study.results.preset in JUDGED_AS:
        published = None  # No paper prints the changes of this model.
    table = comparison_rows(study, published)
    shown = select(table)
    if shown.empty or (name == "glue_average" and not averaged_tasks(study, published)):
        raise LinkError("No task is in the average; tick one.")
    baseline = name_of(study) if study else published.baseline if published else ""
    comparison = OwnAndPublished(order(study, table), study, published, source(study) if study else "", baseline)
    text = " ".join(
        part for part in (_own_caption(name, study, shows), _published_caption(name, study, published, shows)) if part
    )
    return Figure(
        title=title.format(baseline),
        finding=_not_ranked(_finding(shown, study, shows), study),
        frame=lambda: shown.reset_index(drop=True),
        caption=text,
        alt=f"{title.format(name_of(study))}. {_alt(shown, shows)}",
        command=_command(study, published),
        provenance=_provenance(study, published),
        citation_keys=(published.table.citation,) if published else (),
        summary=(lambda: _compared(shown)) if shows == "difference" and study else None,
        quantity=f"Score \N{MINUS SIGN} {name_of(study)} (points)" if shows == "difference" and study else "",
        draw=lambda theme: draw(comparison, shown.reset_index(drop=True), theme),
        columns=columns,
    )


def _compared(shown: pd.DataFrame) -> pd.DataFrame:
    """Our own rows with their differences alone, for a table."""
    return shown[shown.verdict != PUBLISHED].drop(columns=["value", "low", "high"])


def seed_kind(study: Study) -> str:
    """The kind of seed in a study: of a pre-training from scratch, or of a fine-tuning of one model."""
    return "fine-tuning seeds of one model" if study.results.preset in JUDGED_AS else "pre-training seeds"


def _own_caption(name: str, study: Study, shows: str) -> str:
    """The part of a caption that describes the data behind our own results."""
    if not study:
        return f"No results of our own yet: {MAKE}."
    cells = study.cells
    tasks = [study.title(task) for task in study.averaged_tasks]
    excluded = [study.title(task) for task in study.glue if task not in study.averaged_tasks]
    partial = [study.title(task) for task in study.tasks if study.results.tasks.partial[task]]
    meaning = (MEANS if name == "glue_difference" else VALUES)[study.protocol]
    parts = [
        {
            "average": f"Mean score over {len(tasks)} GLUE tasks, and its difference from that of "
            f"{quote(name_of(study))}, from {span(cells.seeds)} {seed_kind(study)}; bars: 95 % intervals, thin ones "
            "over dev examples.",
            "difference": f"Score on each task minus that of {quote(name_of(study))}, in points, "
            + ("± half of its 95 % interval, " if len(study.results.variants) <= heat.FEW else "")
            + f"from {span(cells.seeds)} {seed_kind(study)}.",
            "scores": "Score on each task's dev set, in points; higher is better; "
            f"{span(cells.seeds)} {seed_kind(study)}.",
        }[shows if shows == "scores" else name.removeprefix("glue_")],
        _refused_with_reason(study) if shows == "difference" else "",
        f"{'Our own' if run_owner(study) == 'own' else 'Imported'} runs: preset {study.results.preset}, "
        f"{len(study.results.variants)} variants, {span(cells.seeds)} {seed_kind(study)}, "
        "at the best learning rate of each variant and task"
        + (f" ({protocol.OPTIMISM})." if cells.rates_tried.max() > 1 else "."),
        meaning.replace("pre-training seeds", seed_kind(study)),
        f"Averages are over {len(tasks)} GLUE tasks ({join_names(tasks)})"
        + (f", without {join_names(excluded)}." if excluded else ".")
        if tasks
        else "No task is in the average.",
        f"Partial data: {join_names(partial)}." if partial else "",
        "STS-B is Pearson's correlation here; the board shows Spearman's, and so other numbers."
        if study.results.preset == SURGERY and "stsb" in study.tasks
        else "",
        "CoLA is Matthews's correlation here; the statements of C38 judge the area under its ROC curve, and so other "
        "numbers."
        if study.results.preset == REFITTED and "cola" in study.tasks
        else "",
        f"Pre-trainings at other settings, left out: {study.results.left_out}." if study.results.left_out else "",
    ]
    non_glue = [study.title(task) for task in study.tasks if task not in study.glue]
    if shows == "scores":
        parts.append(
            "Variants stand in one order, by their average. Majority class: the score of the most frequent answer. A "
            "pointer on a cell shows its 95 % interval."
        )
    if non_glue:
        parts.append(f"{join_names(non_glue)}: a task of our own, outside GLUE; it is in no average.")
    if shows == "difference" and len(study.contrasts):
        detectable = study.contrasts.smallest_detectable[study.contrasts.task == AVERAGE].dropna()
        mapped = name == "glue_difference"
        different, equivalent, neither = SIGNS_IN_WORDS if mapped else COLOURS_IN_WORDS
        parts += [
            "Differences are paired by seed. "
            + ("A pointer on a cell shows 95 % intervals over seeds, and" if mapped else "Thin bars:")
            + " 95 % bootstrap intervals over the dev examples, with the trained models held fixed.",
            f"{different}, different: p below 5 % after Holm's correction (for averages, over the variants; for tasks, "
            f"over the tasks of a variant). {equivalent}, equivalent: within {study.margin:g} point"
            f"{'' if study.margin == 1 else 's'}, by two one-sided t tests at 5 %. {neither}, open: neither of "
            "the two, which does not show that the scores are the same.",
            f"In all, of {_counts(study.contrasts, study)}." if mapped else "",
            _other_correction(study, different),
            f"With these seeds, a difference in averages is detected 80 % of the time if it is at least "
            f"{span(detectable, 1)} points, depending on the variant."
            if len(detectable)
            else "",
        ]
    return " ".join(part for part in parts if part)


def _refused(study: Study) -> list[Judgement]:
    """The statements on refitted models that the frozen rules leave open with all of their runs there."""
    if study.results.preset != REFITTED:
        return []
    kind, _ = JUDGED_AS[REFITTED]
    return [one for one in stored.statements() if one.kind == kind and one.verdict == OPEN and not one.missing]


def _open_by_rules(study: Study) -> str:
    """The end of a finding that the frozen rules do not share; empty where they refuse nothing."""
    if not (refused := _refused(study)):
        return ""
    asked = sum(one.kind == refused[0].kind for one in stored.statements())
    return f"; on single tasks the frozen rules leave {len(refused)} of {asked} statements open"


def _refused_with_reason(study: Study) -> str:
    """A sentence on the statements that stay open, each with its reason; empty without any."""
    reasons: dict[str, list[str]] = {}
    for one in _refused(study):
        reasons.setdefault(one.reason, []).append(one.id)
    parts = [f"{join_names(ids)} open ({reason})" for reason, ids in reasons.items()]
    return f"The frozen rules leave {join_names(parts)}." if parts else ""


def _other_correction(study: Study, different: str) -> str:
    """A sentence on the frozen rules, which correct over more comparisons; empty where none judge this model.

    different: the word for the sign of what differs.
    """
    if study.results.preset != SURGERY:
        return ""
    tests = int(study.contrasts.tests[study.contrasts.task == AVERAGE].max())
    asked = len(surgery_rules().statements)
    return (
        f"{different} is corrected over this figure's own comparisons ({plural(tests, 'average')}); the frozen rules "
        f"correct over all {asked} statements of their family, so that what differs here can be open on Claims."
    )


def _published_caption(name: str, study: Study, published: PublishedComparison | None, shows: str) -> str:
    """The part of a caption that describes the data behind the published results."""
    if published is None:
        return ""
    table, ours = published.table, averaged_tasks(study, published)
    shared = [column for task, column in published.tasks.items() if task in ours]
    missing = [study.title(task) for task in ours if task not in published.tasks]
    spread = "its standard deviations are not drawn" if table.cells.sd.notna().any() else "no spread is printed"
    marked = "Diamonds" if name == "glue_average" else "Second map"
    parts = [
        f"{marked}, published: {table.title} ({table.kinds}), other models on other data"
        + (f", minus {published.baseline}" if shows == "difference" else "")
        + f"; {spread}"
        + (", and no test, so that every number has its colour." if name == "glue_difference" else "."),
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
def average(params: GlueParameters) -> Figure:
    """Averages over the ticked tasks, and their differences to the baseline's.

    Raises NoResults where nothing is stored, LinkError for what there is not and where no task is left.
    """
    return _figure(
        "glue_average",
        "GLUE average compared with {}",
        params,
        "difference",
        lambda table: table[table.task == AVERAGE],
        _draw_average,
        2,
    )


@figure("glue_difference", GlueParameters)
def difference(params: GlueParameters) -> Figure:
    """Every variant minus the baseline, task by task.

    Raises NoResults where nothing is stored, LinkError for what there is not and where no task is left.
    """
    return _figure(
        "glue_difference",
        "Difference from {}, task by task",
        params,
        "difference",
        lambda table: table[table.difference.notna() & (table.variant != table.baseline)],
        heat.draw_differences,
        1,
    )


@figure("glue_scores", GlueParameters)
def scores(params: GlueParameters) -> Figure:
    """Every variant's score on every task.

    Raises NoResults where nothing is stored, LinkError for what there is not and where no task is left.
    """
    return _figure("glue_scores", "Scores, task by task", params, "scores", lambda table: table, heat.draw_scores, 1)


def _not_ranked(finding: str, study: Study) -> str:
    """The finding or, where the page's headline says that nothing can be concluded, the same said to be no ranking."""
    if not finding or not study or not headline(study)[0].startswith(INCONCLUSIVE):
        return finding
    return f"Not a ranking: {uncapitalised(finding)}"


def _finding(shown: pd.DataFrame, study: Study, shows: str) -> str:
    """The finding in our own rows: how many differ from the baseline, or the variant with the highest average."""
    own_rows = shown[shown.verdict != PUBLISHED]
    if own_rows.empty:
        return ""
    if shows == "difference":
        compared = own_rows[own_rows.difference.notna() & (own_rows.variant != own_rows.baseline)]
        averages = compared[compared.task == AVERAGE]
        if averages.empty:
            return f"Of {_counts(compared, study)}"
        by_rules = _open_by_rules(study)
        return _on_average(averages, study, LONGEST_HEADING - len(by_rules)) + by_rules
    means = own_rows[own_rows.task == AVERAGE].sort_values("value")
    if means.empty:
        return ""
    low, high = means.iloc[0], means.iloc[-1]
    least = f"{low.value:.1f} points ({quote(str(low.title))})"
    return f"Averages range from {least} to {high.value:.1f} ({quote(str(high.title))})"


def _counts(compared: pd.DataFrame, study: Study) -> str:
    """The comparisons by their verdicts."""
    counts = compared.verdict.str.split(" within").str[0].value_counts()
    different, equivalent = int(counts.get("different", 0)), int(counts.get("equivalent", 0))
    return (
        f"{plural(len(compared), 'comparison')} with {name_of(study)}, {different} "
        f"{'differs' if different == 1 else 'differ'}, {equivalent} {'is' if equivalent == 1 else 'are'} equivalent "
        f"and {len(compared) - different - equivalent} open"
    )


def _on_average(averages: pd.DataFrame, study: Study, longest: int) -> str:
    """The variants that differ from the baseline on the average, and how many others do not or are open.

    longest: letters up to which those that are open have their names, and up to which they are counted.
    """
    verdicts = averages.verdict.str.split(" within").str[0]
    different = averages[verdicts == "different"]
    different = different.reindex(different.difference.abs().sort_values(ascending=False).index)
    equivalent = int((verdicts == "equivalent").sum())
    unresolved = len(averages) - len(different) - equivalent
    over = f"the average of {plural(len(study.averaged_tasks), 'task')}"
    rest = [f"{equivalent} {'is' if equivalent == 1 else 'are'} equivalent"] if equivalent else []
    rest += [f"{unresolved} {'is' if unresolved == 1 else 'are'} open"] if unresolved else []
    rest = f"; {join_names(rest)}" if rest else ""
    if different.empty:
        return f"On {over}, none of {plural(len(averages), 'variant')} is shown to differ from {name_of(study)}{rest}"
    points = [signed(value, 1) for value in different.difference]
    if len(different) > MOST_NAMED:
        said = (
            f"On {over}, {len(different)} of {plural(len(averages), 'variant')} differ from {name_of(study)}, "
            f"{quote(different.title.iloc[0])} most ({points[0]} points)"
        )
        return f"{said}{rest}" if len(said) + len(rest) <= longest else said
    if study.results.preset in REPAIRS and study.baseline == INTACT and (different.difference < 0).all():
        model = f"{study.name.partition(', ')[0]}, "
        names = [name.removeprefix(model) for name in different.title]
        named = " or ".join(
            f"{name} ({point}{' points' if place == 0 else ''})"
            for place, (name, point) in enumerate(zip(names, points, strict=True))
        )
        said = f"{REPAIRS[study.results.preset]}, {model.removesuffix(', ')} stays lower with {named}"
        others = averages[verdicts == "open"].sort_values("difference", ascending=False)
        open_ones = [
            f"{str(name).removeprefix(model).partition(' (')[0]} ({signed(value, 1)})"
            for name, value in zip(others.title, others.difference, strict=True)
        ]
        with_open = f"{said}; {' and '.join(open_ones)} {'is' if len(open_ones) == 1 else 'are'} open"
        fits = open_ones and not equivalent and len(with_open) <= longest
        return with_open if fits else f"{said}{rest}"
    named = " and ".join(f"{quote(name)} ({point})" for name, point in zip(different.title, points, strict=True))
    return f"On {over}, {named} {'differs' if len(different) == 1 else 'differ'} from {name_of(study)}, in points{rest}"


def _draw_average(content: OwnAndPublished, rows: pd.DataFrame, theme: Theme) -> list[Chart]:
    """Differences of averages, and the averages: ours, or where there are none of ours the published ones."""
    compared = rows[rows.difference.notna() & (rows.variant != rows.baseline)]
    ours = rows[rows.verdict != PUBLISHED]
    # The averages of another model on other data would press ours together on a shared axis; the table has both.
    shown = ours if len(ours) else rows
    title = "Our average" if len(ours) else "Published average"
    return [
        variants_panel(content, compared, "difference", (f"Difference from {content.baseline}", ""), theme),
        variants_panel(content, shown, "value", (title, majority(shown)), theme),
    ]
