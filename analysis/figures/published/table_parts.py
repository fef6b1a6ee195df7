"""Parts that the figures of published tables share: their parameters, words, panels and labels."""

import shlex
from collections.abc import Mapping

import altair as alt
import pandas as pd

from analysis.ablation.variants import VARIANTS
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Parameters
from analysis.literature.tables import Table

USED = (
    "row", "column", "unit", "value", "sd", "printed", "setting", "transcribed_from", "higher_is_better", "baseline",
    "difference", "printed_baseline", "sd_baseline", "sd_text", "sd_text_baseline",
)  # fmt: skip
"""The columns of a cell that a chart needs; with all of them, its specification would repeat every caveat."""
SUPERSCRIPTS = {"^tie-cls": " ([CLS] tied)", "^mid": " (midway)", "^d": " (own matrices)"}
"""The superscript of a variant's name in a paper -> the same in words."""
VARIANT: tuple[marks.Tip, ...] = (("row", "variant"), "column", "printed")
BASELINE: marks.Tip = ("printed_baseline", "baseline, printed")
SOURCE: tuple[marks.Tip, ...] = ("setting", ("transcribed_from", "read in"))
SD_TIP: marks.Tip = ("sd:Q", "standard deviation, printed")


class TableParameters(Parameters):
    """A published table, by its id."""

    topic = "published"
    table: str


class BaselineParameters(TableParameters):
    """A published table, and the variant that the others are compared with; the table's own where none is named."""

    baseline: str = ""


class AverageParameters(BaselineParameters):
    """A published table, a baseline, and the GLUE tasks that are left out of the average."""

    without: tuple[str, ...] = ()


def quoted(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def query_command(sql: str) -> str:
    """The command that answers this, quoted for a shell."""
    plain = not set(sql) & set('"$`\\!')
    return "python -m analysis query " + (f'"{sql}"' if plain else shlex.quote(sql)) + " --csv"


def where(table: Table, alias: str = "") -> str:
    """The SQL condition that selects the table's rows."""
    citation, _, name = table.id.partition("|")
    return f"{alias}citation = {quoted(citation)} AND {alias}table_name = {quoted(name)}"


def spread(cells: pd.DataFrame) -> str:
    """A sentence on the uncertainty that is printed with a table's scores."""
    if cells.sd.notna().any():
        return "Standard deviations are as printed; they are no confidence intervals."
    return "No spread is printed, so no difference here can be called significant."


def other_steps(table: Table, baseline: str) -> dict[str, str]:
    """Variant -> the steps of its training, where the table prints them and they are not the baseline's."""
    printed = table.scores.drop_duplicates("row").set_index("row").steps.dropna()
    return {
        str(name): f"{int(steps) / 1000:,g}k" if steps.isdigit() else steps
        for name, steps in printed.items()
        if baseline in printed.index and steps != printed[baseline]
    }


def spelled(name: str) -> str:
    """A variant's name with its superscript in words.

    >>> spelled("TUPE-A^mid")
    'TUPE-A (midway)'
    """
    base, caret, script = name.partition("^")
    return base + SUPERSCRIPTS.get(caret + script, caret + script)


def in_words(names: pd.Series, steps: Mapping[str, str]) -> pd.Series:
    """Names of variants with what each does, where it is one of ours, and with the steps of those in `steps`."""
    ours = [variant for _, variant in VARIANTS.items() if variant.known_as and not variant.settings.get("causal")]
    titles = {variant.known_as: f": {variant.title}" for variant in ours}
    after = {name: f", {count} steps" for name, count in steps.items()}
    words = [f"{spelled(name)}{titles.get(name, '')}{after.get(name, '')}" for name in names]
    return pd.Series(words, index=names.index)


def provenance(table: Table) -> dict[str, str]:
    """The origin of the table's numbers, by name."""
    return {
        "table": table.title,
        "file": "data/published/figures/" + ", ".join(dict.fromkeys(table.cells.file)),
        "read in": "; ".join(table.sources),
        "address": str(table.cells.url.iloc[0]),
    }


def caveats(table: Table) -> str:
    """The number of caveats on the table, as a sentence for captions; the page shows their text."""
    count = len(table.notes)
    return "" if not count else f" {count} caveat{' is' if count == 1 else 's are'} listed with the table."


def panels(cells: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """(setting, unit, cells): what may share an axis."""
    used = [column for column in USED if column in cells]
    return [(str(name), str(unit), rows[used]) for (name, unit), rows in cells.groupby(["panel", "unit"], sort=False)]


def wrapped_title(setting: str) -> list[str]:
    """A panel's title, broken into lines; none where there is no setting."""
    return marks.wrap_lines(setting, 60) if setting else []


def labelled(frame: pd.DataFrame, names: pd.Series) -> tuple[pd.DataFrame, list[str]]:
    """Rows with the label of each, which is its name broken into lines; and the labels, in their order."""
    labels = marks.wrapped_labels(names.tolist())
    return frame.assign(label=names.map(labels)), list(labels.values())


def direction(cells: pd.DataFrame) -> str:
    """The direction that is better, for the title of an axis; empty where columns differ or do not say."""
    known = set(cells.higher_is_better.dropna())
    return {(True,): ", higher is better", (False,): ", lower is better"}.get(tuple(known), "")


def spans(frame: pd.DataFrame, x: alt.X, y: alt.Y, theme: Theme) -> Chart:
    """A faint line from the least to the largest value of each row."""
    lines = alt.Chart(frame).mark_rule(color=theme.faint, strokeWidth=marks.LINE)
    return lines.encode(x=marks.same_axis(x, "min(value)"), x2=alt.X2("max(value):Q"), y=y)
