"""Published results of alternatives to adding positions: each variant against its own paper's baseline.

This module lists the pairs of rows to compare; every number is computed from the published tables.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import altair as alt
import pandas as pd

from analysis.core import frames
from analysis.core.errors import StoreError
from analysis.core.formatting import join_names, plural, signed, uncapitalised
from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.literature import tables as published

TUPE, DIET, DEBERTA = "ke2021tupe|Table 1", "chen2021diet|Table 2", "he2021deberta|Table 4"
FUSION, FUSION_ENCODINGS = "hallam2026fusion|Table 1", "hallam2026fusion|Table 3"
PARSER, DETECTOR = "kitaev2018constituency|sec 3", "meng2021conditional|README model zoo"
CAUSAL, MASKED = "haviv2022nopos|Table 1", "haviv2022nopos|Table 4"
SHAW, CONVOLUTION = "shaw2018relative|Table 3", "gehring2017convs2s|Table 4"

UNTIED, REMOVED, CONCATENATED = "No cross terms (GLUE)", "One cross term removed (DeBERTa)", "Concatenated"
NO_POSITION, NO_POSITION_BLEU = "No positions: language models", "No positions: translation"
FIRST, OTHERS = (CONCATENATED, UNTIED), (REMOVED, NO_POSITION, NO_POSITION_BLEU)
"""Panels of the figure on the question of the product, and of the one on what else papers leave out."""


LABEL_WIDTH = 26
LINE_LETTERS = 60
"""Letters in a line above a panel."""
LEFT_ROOM = 0.09
"""The share of the axis that a number left of its mark needs."""
ROW = 34
"""Pixels of a row: its columns stand above its mean."""
ALL_COLUMNS, WITHOUT_COLA = "mean of the columns", "mean without CoLA"
FAR = 2
"""The points by which CoLA's dot lies above all others of its row where it is named."""
COLUMN_OFFSET, MEAN_OFFSET = -11, 0
"""Pixels from the middle of a row at which columns and means stand."""

MATRICES = "positions have matrices of their own"
MATRICES_AND_CLS = f"{MATRICES}, and [CLS] is untied"
PROJECTED, WEIGHTS, QUERY = "a matrix projects back", "weights are of their own", "a query is learned"
"""Changes that come with a concatenation."""


@dataclass(frozen=True)
class GainOverBaseline:
    """One row of a panel: a variant of a table against a baseline of the same table.

    With no baseline the paper prints the change itself. column: only this one, where the others belong elsewhere.
    shorter: the variant was trained for fewer steps than the baseline; such a row is drawn hollow and counted apart.
    also: what else the variant changes than its panel says, in words; empty where nothing else is known to change.
    """

    panel: str
    label: str
    table: str
    variant: str
    baseline: str = ""
    column: str = ""
    shorter: bool = False
    also: str = ""


COMPARISONS = (
    GainOverBaseline(UNTIED, "TUPE-A − BERT-A", TUPE, "TUPE-A", "BERT-A", also=MATRICES_AND_CLS),
    GainOverBaseline(UNTIED, "TUPE-R − BERT-R", TUPE, "TUPE-R", "BERT-R", also=MATRICES_AND_CLS),
    GainOverBaseline(
        UNTIED,
        "TUPE-A (midway) − BERT-A, 30 % of the steps",
        TUPE,
        "TUPE-A^mid",
        "BERT-A",
        shorter=True,
        also=MATRICES_AND_CLS,
    ),
    GainOverBaseline(UNTIED, "TUPE-A ([CLS] tied) − BERT-A (own matrices)", TUPE, "TUPE-A^tie-cls", "BERT-A^d"),
    GainOverBaseline(
        UNTIED,
        "Replication: TUPE − added positions",
        DIET,
        "Ke 2020 TUPE (per-head, seg input)",
        "Devlin 2018 (pos input, seg input)",
        also=MATRICES,
    ),
    GainOverBaseline(REMOVED, "Without content-to-position", DEBERTA, "-C2P", "DeBERTa-base"),
    GainOverBaseline(REMOVED, "Without position-to-content", DEBERTA, "-P2C", "DeBERTa-base"),
    GainOverBaseline(
        CONCATENATED, "Projected back, sinusoidal positions", FUSION, "Concat+projection W[E;P]", "Add", also=PROJECTED
    ),
    GainOverBaseline(
        CONCATENATED,
        "Projected back, learned positions",
        FUSION_ENCODINGS,
        "Learned Absolute: Concat+projection",
        "Learned Absolute: Add",
        also=PROJECTED,
    ),
    GainOverBaseline(
        CONCATENATED, "Projected back, rotary", FUSION_ENCODINGS, "RoPE: Concat+projection", "RoPE: Add", also=PROJECTED
    ),
    GainOverBaseline(
        CONCATENATED,
        "Projected back, relative",
        FUSION_ENCODINGS,
        "Relative: Concat+projection",
        "Relative: Add",
        also=PROJECTED,
    ),
    GainOverBaseline(
        CONCATENATED,
        "Parser, concatenated only (printed change)",
        PARSER,
        "concatenated z=[w+m; p], full weight matrices: change (note writes 0.007, read as 0.07 F1)",
    ),
    GainOverBaseline(
        CONCATENATED,
        "Parser, weights of their own as well",
        PARSER,
        "factored attention q.k = qc.kc + qp.kp (block-diagonal weights)",
        "additive z=w+m+p",
        also=WEIGHTS,
    ),
    GainOverBaseline(
        CONCATENATED,
        "Detector R50, 50 epochs against 50 of adding",
        DETECTOR,
        "Conditional DETR-R50 (content and spatial CONCATENATED in cross-attention q,k), 50 epochs",
        "DETR-R50 (content+position added in cross-attention), 50 epochs",
        also=QUERY,
    ),
    GainOverBaseline(
        CONCATENATED,
        "Detector R101, 50 epochs against 50 of adding",
        DETECTOR,
        "Conditional DETR-R101 (concatenated), 50 epochs",
        "DETR-R101 (added), 50 epochs",
        also=QUERY,
    ),
    GainOverBaseline(
        CONCATENATED,
        "Detector R50, 50 epochs against 500 of adding",
        DETECTOR,
        "Conditional DETR-R50 (content and spatial CONCATENATED in cross-attention q,k), 50 epochs",
        "DETR-R50 (added), 500 epochs",
        also=QUERY,
        shorter=True,
    ),
    GainOverBaseline(
        CONCATENATED,
        "Detector R101, 50 epochs against 500 of adding",
        DETECTOR,
        "Conditional DETR-R101 (concatenated), 50 epochs",
        "DETR-R101 (added), 500 epochs",
        also=QUERY,
        shorter=True,
    ),
    GainOverBaseline(NO_POSITION, "Causal, WikiText-103", CAUSAL, "NoPos", "Learned", "WikiText-103, 247M, len 512"),
    GainOverBaseline(NO_POSITION, "Causal, Pile", CAUSAL, "NoPos", "Learned", "Pile, 1.3B, len 1024"),
    GainOverBaseline(NO_POSITION, "Masked, Pile", MASKED, "NoPos", "Learned"),
    GainOverBaseline(
        NO_POSITION_BLEU,
        "Attention: no positions − relative",
        SHAW,
        "aV=no, aK=no (no/no = no position information)",
        "aV=yes, aK=yes (no/no = no position information)",
    ),
    GainOverBaseline(
        NO_POSITION_BLEU,
        "Convolutions: no positions − added",
        CONVOLUTION,
        "- source & target position",
        "ConvS2S (source+target learned position, added)",
        "BLEU",
    ),
)


@figure("published_literature", Parameters)
def literature(_: Parameters) -> Figure:
    """Concatenation and attention without cross terms, column by column, with each mean and its mean without CoLA.

    Raises StoreError where a table has no such row any more.
    """
    tables, shared, rows, means = _compared(FIRST)
    glue = means[means.panel == UNTIED].set_index("comparison")
    original, tied, replication = (next(iter(frames.rows(glue.loc[[COMPARISONS[n].label]]))) for n in (0, 3, 4))
    averages = published.average(tables[TUPE]).set_index("variant").all_columns
    on_all = signed(averages["TUPE-A^tie-cls"] - averages["BERT-A^d"])
    columns = [column for _, column in tables[TUPE].glue_columns]
    left_out = [column for column in columns if column not in shared]
    return _figure(
        tables,
        rows,
        means,
        title="What papers report: concatenation, and no cross terms",
        finding=_finding(means),
        notes=(
            " Dots: single columns. Diamonds: their mean, and the mean without CoLA; hollow where the variant was "
            "trained for fewer steps than adding, which the heading does not count. GLUE on "
            f"the {len(shared)} columns that both papers print ({', '.join(shared)}): TUPE's own table says "
            f"{signed(original.gain)} ({signed(original.gain_without_cola)} without CoLA), the replication "
            f"{signed(replication.gain)} ({signed(replication.gain_without_cola)}). On all "
            f"{len(columns)} columns of TUPE's table, which statement C19a takes, TUPE-A − BERT-A is "
            f"{signed(averages['TUPE-A'] - averages['BERT-A'])} and TUPE-A ([CLS] tied) − BERT-A (own matrices) "
            f"{on_all}, where the figure has {signed(tied.gain)} on {len(shared)}. {_what_else()}"
        ),
        said={
            UNTIED: [
                f"left out: {join_names(left_out)}, which the replication lacks",
                f"where nothing else changes: {on_all} on all {len(columns)} columns",
            ]
        }
        if left_out
        else {},
    )


def _finding(means: pd.DataFrame) -> str:
    """The numbers of comparisons that each of the two wins, of those that train both sides equally long.

    Also in how many of each nothing else changes.
    """
    equal = means[~means.shorter]
    concatenated, untied = equal[equal.panel == CONCATENATED], equal[equal.panel == UNTIED]
    gains = untied.gain_without_cola
    alone = [int(rows.comparison.isin(_alone()).sum()) for rows in (concatenated, untied)]
    count = "one" if alone[0] == 1 else alone[0] or "none"
    return (
        f"Trained equally long, concatenating is printed above adding in {int((concatenated.gain > 0).sum())} of "
        f"{len(concatenated)} comparisons, dropping the cross terms above keeping them in "
        f"{int((gains > 0).sum())} of {len(gains)}; "
        + (f"only {count} of each" if alone[0] == alone[1] else f"only {count} and {alone[1] or 'none'}")
        + f" change{'s' if alone == [1, 1] else ''} nothing else"
    )


def _alone() -> list[str]:
    """The comparisons of concatenation, and of no cross terms, in which nothing else is known to change."""
    return [comparison.label for comparison in COMPARISONS if comparison.panel in FIRST and not comparison.also]


def _what_else() -> str:
    """Sentences on what the comparisons change besides, of attention without cross terms and of concatenation."""
    said = []
    for panel, what in (
        (UNTIED, "The cross terms, and their scale, alone change"),
        (CONCATENATED, "Concatenated alone"),
    ):
        others: dict[str, list[str]] = {}
        for comparison in COMPARISONS:
            if comparison.panel == panel and comparison.also:
                others.setdefault(comparison.also, []).append(comparison.label)
        more = "; ".join(f"in {join_names(labels)}, {also}" for also, labels in others.items())
        alone = [one.label for one in COMPARISONS if one.panel == panel and not one.also]
        said.append(f"{what} in {join_names(alone)}. More changes in the others: {more}.")
    return " ".join(said)


@figure("published_literature_others", Parameters)
def other_literature(_: Parameters) -> Figure:
    """Attention without one of its cross terms, and models without positions, each against its own baseline.

    Raises StoreError where a table has no such row any more.
    """
    tables, _shared, rows, means = _compared(OTHERS)
    return _figure(
        tables,
        rows,
        means,
        title="What papers report: one cross term removed, and no positions",
        finding=f"Without a cross term or without positions, {int((means.gain < 0).sum())} of {len(means)} published "
        "results are worse",
        notes=" Dots: single columns. Diamonds: their mean. Perplexities are compared by their logarithm (nats per "
        "token). Scales differ between units.",
    )


def _compared(
    panels: tuple[str, ...],
) -> tuple[dict[str, published.Table], list[str], pd.DataFrame, pd.DataFrame]:
    """The tables of the comparisons in these panels, the columns of GLUE that count, the rows and their means.

    Raises StoreError where a table has no such row any more.
    """
    tables = _compared_tables()
    shared = _shared_columns([tables[TUPE], tables[DIET]])
    chosen = [comparison for comparison in COMPARISONS if comparison.panel in panels]
    rows = pd.concat([_comparison_rows(c, tables[c.table], shared) for c in chosen], ignore_index=True)
    return {comparison.table: tables[comparison.table] for comparison in chosen}, shared, rows, means_of(rows)


def _figure(
    tables: dict[str, published.Table],
    rows: pd.DataFrame,
    means: pd.DataFrame,
    *,
    title: str,
    finding: str,
    notes: str,
    said: Mapping[str, list[str]] = MappingProxyType({}),
) -> Figure:
    """One figure of some panels. notes: what its caption says of its marks and numbers.

    said: panel -> lines below its title.
    """
    papers = {table.citation: str(table.cells.short.iloc[0]) for table in tables.values()}
    sentences = [f"{row.panel}, {row.comparison}: {signed(row.gain)} {row.unit}." for row in frames.rows(means)]
    return Figure(
        title=title,
        finding=finding,
        frame=lambda: rows.drop(columns=["tip", "metric"]),
        caption=(
            f"{len(means)} comparisons from {len(papers)} papers, each with the baseline of its own table; right of "
            f"zero is better; {_spreads(rows)}, so no significance is claimed.{notes}"
        ),
        alt="Gains over each paper's own baseline. " + " ".join(sentences),
        command="python -m analysis query "
        + '"SELECT * FROM published_scores WHERE citation IN ('
        + ", ".join(f"'{key}'" for key in papers)
        + ')" --csv',
        provenance={
            short: ", ".join(dict.fromkeys(t.kinds for t in tables.values() if t.citation == key))
            for key, short in papers.items()
        },
        citation_keys=tuple(papers),
        draw=lambda theme: _draw(rows, means, theme, said),
    )


def _spreads(rows: pd.DataFrame) -> str:
    """The papers that print a spread over seeds, in a phrase."""
    printed = rows[rows.sd.notna()].drop_duplicates("paper").paper.tolist()
    if not printed:
        return "no paper prints a spread over seeds"
    return f"only {join_names(printed)} print{'s' if len(printed) == 1 else ''} a spread over seeds"


def _compared_tables() -> dict[str, published.Table]:
    """The tables of the rows that are compared, by their ids."""
    return published.load_all(list(dict.fromkeys(comparison.table for comparison in COMPARISONS)))


def caveats() -> list[tuple[str, str, str]]:
    """(paper, subject, caveat) of every caveat on a row that is compared; the page prints them."""
    return _notes(_compared_tables())


def _shared_columns(tables: list[published.Table]) -> list[str]:
    """GLUE columns that all of these tables have, as the first names them."""
    tasks = set.intersection(*({task for task, _ in table.glue_columns} for table in tables))
    return [column for task, column in tables[0].glue_columns if task in tasks]


def _comparison_rows(comparison: GainOverBaseline, table: published.Table, shared: list[str]) -> pd.DataFrame:
    """One row per column: how much better than the baseline, in nats for perplexities. Raises StoreError for no row."""
    cells = table.scores if comparison.baseline else table.cells
    frame = cells[cells.row == comparison.variant]
    if comparison.panel == UNTIED:
        frame = frame[frame.column.isin(shared)]
    if comparison.column:
        frame = frame[frame.column == comparison.column]
    baseline_rows = table.scores[table.scores.row == comparison.baseline]
    baselines = {(cell.panel, cell.column): cell for cell in frames.rows(baseline_rows)}
    if comparison.baseline:
        frame = frame[[key in baselines for key in zip(frame.panel, frame.column, strict=True)]]
    if frame.empty:
        raise StoreError(
            f"{table.title} has no figure for {comparison.label!r} any more; the comparisons in "
            "analysis/figures/literature/gains.py name rows of data/published: correct the one that changed."
        )
    rows = []
    for cell in frames.rows(frame):
        base = baselines.get((cell.panel, cell.column))
        logarithmic = cell.unit == "perplexity"
        change = cell.value - (base.value if base else 0)
        if base and logarithmic:
            change = math.log(cell.value / base.value)
        rows.append(
            {
                "panel": comparison.panel,
                "comparison": comparison.label,
                "gain": change if cell.higher_is_better else -change,
                "unit": "nats per token" if logarithmic else cell.unit,
                "shorter": comparison.shorter,
                "paper": cell.short,
                "citation": cell.citation,
                "table_name": cell.table_name,
                "variant": cell.variant,
                "baseline": comparison.baseline or "(the change as printed)",
                "column": cell.column,
                "metric": cell.metric_title.removesuffix(" (%)"),
                "task": cell.task,
                "value": cell.value,
                "value_baseline": base.value if base else math.nan,
                "sd": cell.sd,
                "sd_baseline": base.sd if base else math.nan,
                "read_in": published.read_as(cell.transcribed_from),
                "transcribed_from": cell.transcribed_from,
                "caveat": cell.caveat,
                "tip": f"{cell.printed} against {base.printed}" if base else f"{cell.printed}, a change",
            }
        )
    return pd.DataFrame(rows)


def means_of(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean of every comparison, and the mean without CoLA where CoLA is among its columns."""
    keys = ["panel", "comparison", "unit", "paper", "read_in", "shorter"]
    means = rows.groupby(keys, sort=False).agg(gain=("gain", "mean"), columns_compared=("gain", "size")).reset_index()
    rest = rows[rows.task != "cola"].groupby("comparison").gain.mean()
    has_cola = set(rows.comparison[rows.task == "cola"])
    return means.assign(gain_without_cola=[rest[name] if name in has_cola else math.nan for name in means.comparison])


def _notes(tables: dict[str, published.Table]) -> list[tuple[str, str, str]]:
    """(paper, subject, caveat) of every caveat on a row that is compared here, each once."""
    entries: dict[tuple[str, str, str], None] = {}
    for table in tables.values():
        rows = {c.variant for c in COMPARISONS if c.table == table.id} | {
            c.baseline for c in COMPARISONS if c.table == table.id
        }
        for note in table.notes:
            if (not note.rows and not note.columns) or note.rows & rows:
                subject = ", ".join(sorted(note.rows & rows)) or table.title.rpartition(", ")[2]
                entries[(str(table.cells.short.iloc[0]), subject, note.text)] = None
    return list(entries)


def _draw(rows: pd.DataFrame, means: pd.DataFrame, theme: Theme, said: Mapping[str, list[str]]) -> list[Chart]:
    """Comparisons down; small marks are columns, large ones their mean. Panels of one unit share their axis."""
    extents = {str(unit): _extent(group.gain) for unit, group in rows.groupby("unit")}
    # So that zero stands at one place in all.
    letters = int(means.comparison.str.len().max())
    return [
        _panel(name, rows[rows.panel == name], means[means.panel == name], extents, theme, letters, said.get(name, []))
        for name in (*FIRST, *OTHERS)
        if name in set(means.panel)
    ]


def _extent(gains: pd.Series) -> tuple[float, float]:
    """The ends of an axis with zero; of one of several points they are even numbers, at which it has its ticks."""
    low, high = min(0.0, float(gains.min())), max(0.0, float(gains.max()))
    return (2.0 * math.floor(low / 2), 2.0 * math.ceil(high / 2)) if high - low > 4 else (low, high)


def _panel(
    name: str,
    rows: pd.DataFrame,
    means: pd.DataFrame,
    extents: dict[str, tuple[float, float]],
    theme: Theme,
    letters: int,
    said: list[str],
) -> Chart:
    """The comparisons of one panel. letters: of the longest name of all panels. said: lines below its title."""
    unit = str(means.unit.iloc[0])
    columns = rows.groupby("comparison").column.unique()
    # MNLI has two columns.
    tasks = {
        str(name): group.task.str.removesuffix("_mismatched").nunique() for name, group in rows.groupby("comparison")
    }
    asked = {
        str(name): str(names[0])
        if len(names) == 1
        else f"{len(names)} tasks"
        if tasks[str(name)] == len(names)
        else f"{len(names)} columns of {plural(tasks[str(name)], 'task')}"
        for name, names in columns.items()
    }
    metrics = rows.groupby("comparison").metric.unique()
    measured = {
        name: uncapitalised(found[0]).removeprefix("test ") if len(found) == 1 else f"{len(found)} metrics"
        for name, found in metrics.items()
    }
    sources = [
        f"{row.paper}\n{asked[row.comparison]}; {measured[row.comparison]}; {row.read_in}" for row in frames.rows(means)
    ]
    labels, y, papers, height = marks.grouped_rows(
        means.comparison.tolist(), sources, theme, LABEL_WIDTH, ROW, letters=letters
    )
    names = dict(zip(means.comparison, labels, strict=True))
    several = rows.metric.nunique() > 1 and unit == "points" and (metrics.str.len() == 1).all()
    axis = ["points of the metric", "named at the left;", "compare within a paper"] if several else unit
    x = marks.number(alt.X, "gain", axis, domain=extents[unit], padding=8, ticks=5)
    x["axis"]["titlePadding"] = 2 * marks.LABEL_LINE
    multiple = set(means.comparison[means.columns_compared > 1])
    singles = rows[rows.comparison.isin(multiple)].drop(columns=["caveat", "transcribed_from"])
    singles = singles.assign(label=singles.comparison.map(names), difference=[signed(gain, 3) for gain in singles.gain])
    diamonds = _marks(means, unit).assign(label=lambda result: result.comparison.map(names))
    # Under the zero itself, which is not in the middle of the axis.
    sides = alt.Chart(pd.DataFrame({"gain": [0.0]})).mark_text(
        text="worse ← | → better", dy=2.5 * marks.LABEL_LINE, fontSize=marks.TEXT, color=theme.ink
    )
    layers: list[Chart] = [marks.rule(theme, x=0), papers, sides.encode(x=x, y=alt.value("height"))]
    if len(singles):
        layers += marks.row_plot(
            singles, x=x, y=y, theme=theme, ends=None, color=GREY, size=marks.SEED, opacity=0.65, below=COLUMN_OFFSET,
            tooltip=(
                "paper", ("table_name", "table"), "variant", "baseline", "column", ("difference", f"gain, {unit}"),
                ("tip", "printed"), "read_in",
            ),
        )  # fmt: skip
    # The dots that pull a mean away from the others.
    most = singles[singles.task != "cola"].groupby("comparison").gain.max().to_dict()
    cola = singles[singles.task == "cola"]
    pulling = [row.gain > most.get(row.comparison, math.inf) + FAR for row in frames.rows(cola)]
    if any(pulling):
        names_of_dots = alt.Chart(cola[pulling]).mark_text(
            align="left", dx=7, dy=COLUMN_OFFSET, fontSize=marks.TEXT, color=theme.ink
        )
        layers.append(names_of_dots.encode(x=x, y=y, text="column:N"))
    kinds = list(dict.fromkeys(diamonds.which))
    for shorter, drawn in diamonds.groupby("shorter"):
        layers += marks.row_plot(
            drawn, x=x, y=y, theme=theme, ends=None, shape="diamond", size=marks.LARGE_DOT, below=MEAN_OFFSET,
            color=marks.series("which", kinds, theme), filled=not shorter,
            tooltip=("comparison", ("which", "mean of"), ("written", unit)),
        )  # fmt: skip
    alone = diamonds.comparison.isin(_alone()) & ~diamonds.comparison.duplicated(keep="last")
    diamonds = diamonds.assign(written=diamonds.written.where(~alone, diamonds.written + "\nnothing else changes"))
    written = diamonds.groupby("label", sort=False, as_index=False).agg(
        written=("written", " ".join), gain=("gain", "max"), lowest=("gain", "min")
    )
    # On the side of its mark that is away from zero, where the axis has room for it; a second line needs more.
    low, high = extents[unit]
    left = (written.gain < 0) & ~written.written.str.contains("\n") & (written.lowest - low > LEFT_ROOM * (high - low))
    written = written.assign(left=left, gain=written.gain.where(~left, written.lowest))
    layers += marks.values_beside(alt.Chart(written).encode(y=y), theme, "left", x)
    reading = (
        "diamonds: means; green, in brackets: without CoLA"
        if len(kinds) > 1
        else "diamonds: means; dots: columns"
        if multiple
        else "one column each"
    )
    hollow = "hollow: shorter training" if means.shorter.any() and len(kinds) == 1 else ""
    equal = means[~means.shorter].gain_without_cola.dropna()
    spans = (
        f"trained equally long: {signed(equal.min())} to {signed(equal.max())} points without CoLA"
        if len(equal)
        else ""
    )
    below = [*said, *[spans] * bool(spans), *marks.wrap_lines("; ".join(filter(None, (reading, hollow))), LINE_LETTERS)]
    return marks.panel(*layers, theme=theme, width=520, height=height, title=name, below=below)


def _marks(means: pd.DataFrame, unit: str) -> pd.DataFrame:
    """A row a mark: the mean and, where it is known, the mean without CoLA, each with its text."""
    mean = means[["comparison", "shorter", "gain"]].assign(which=ALL_COLUMNS)
    without_cola = means[["comparison", "shorter", "gain_without_cola"]].set_axis(mean.columns[:3], axis=1)
    dots = pd.concat([mean, without_cola.assign(which=WITHOUT_COLA).dropna(subset="gain")], ignore_index=True)
    texts = [
        f"({_written(row.gain, unit)})" if row.which == WITHOUT_COLA else _written(row.gain, unit)
        for row in frames.rows(dots)
    ]
    return dots.assign(written=texts)


def _written(gain: float, unit: str) -> str:
    return signed(gain, 3 if unit == "nats per token" and abs(gain) < 0.1 else 2)
