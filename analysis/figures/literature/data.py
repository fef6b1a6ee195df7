"""Published results of alternatives to adding positions: each variant against its own paper's baseline.

This module lists the pairs of rows to compare; every number is computed from the published tables.
"""

import math
from dataclasses import dataclass

import pandas as pd

from analysis.core import frames
from analysis.core.errors import StoreError
from analysis.core.formatting import signed
from analysis.figures.figure import Figure, Parameters, figure
from analysis.literature import tables as published

TUPE, DIET, DEBERTA = "ke2021tupe|Table 1", "chen2021diet|Table 2", "he2021deberta|Table 4"
FUSION, FUSION_ENCODINGS = "hallam2026fusion|Table 1", "hallam2026fusion|Table 3"
PARSER, DETECTOR = "kitaev2018constituency|sec 3", "meng2021conditional|README model zoo"
CAUSAL, MASKED = "haviv2022nopos|Table 1", "haviv2022nopos|Table 4"
SHAW, CONVOLUTION = "shaw2018relative|Table 3", "gehring2017convs2s|Table 4"

UNTIED, REMOVED, CONCATENATED = "No cross terms (GLUE)", "One cross term removed (DeBERTa)", "Concatenated"
NO_POSITION, NO_POSITION_BLEU = "No positions: language models", "No positions: translation"
PANELS = (UNTIED, CONCATENATED, REMOVED, NO_POSITION, NO_POSITION_BLEU)


@dataclass(frozen=True)
class Comparison:
    """One row of a panel: a variant of a table against a baseline of the same table.

    With no baseline the paper prints the change itself. column: only this one, where the others belong elsewhere.
    """

    panel: str
    label: str
    table: str
    variant: str
    baseline: str = ""
    column: str = ""


COMPARISONS = (
    Comparison(UNTIED, "TUPE-A − BERT-A", TUPE, "TUPE-A", "BERT-A"),
    Comparison(UNTIED, "TUPE-R − BERT-R", TUPE, "TUPE-R", "BERT-R"),
    Comparison(UNTIED, "TUPE-A^mid − BERT-A, 30 % of the steps", TUPE, "TUPE-A^mid", "BERT-A"),
    Comparison(UNTIED, "TUPE-A^tie-cls − BERT-A^d, cross terms and scale", TUPE, "TUPE-A^tie-cls", "BERT-A^d"),
    Comparison(
        UNTIED,
        "Replication: TUPE − added positions",
        DIET,
        "Ke 2020 TUPE (per-head, seg input)",
        "Devlin 2018 (pos input, seg input)",
    ),
    Comparison(REMOVED, "Without content-to-position", DEBERTA, "-C2P", "DeBERTa-base"),
    Comparison(REMOVED, "Without position-to-content", DEBERTA, "-P2C", "DeBERTa-base"),
    Comparison(CONCATENATED, "Concatenated and projected back, sinusoidal", FUSION, "Concat+projection W[E;P]", "Add"),
    Comparison(
        CONCATENATED,
        "The same, learned positions",
        FUSION_ENCODINGS,
        "Learned Absolute: Concat+projection",
        "Learned Absolute: Add",
    ),
    Comparison(CONCATENATED, "The same, rotary", FUSION_ENCODINGS, "RoPE: Concat+projection", "RoPE: Add"),
    Comparison(CONCATENATED, "The same, relative", FUSION_ENCODINGS, "Relative: Concat+projection", "Relative: Add"),
    Comparison(
        CONCATENATED,
        "Parser, concatenated only (printed change)",
        PARSER,
        "concatenated z=[w+m; p], full weight matrices: change (note writes 0.007, read as 0.07 F1)",
    ),
    Comparison(
        CONCATENATED,
        "Parser, separate weights as well",
        PARSER,
        "factored attention q.k = qc.kc + qp.kp (block-diagonal weights)",
        "additive z=w+m+p",
    ),
    Comparison(
        CONCATENATED,
        "Detector R101, 50 epochs each",
        DETECTOR,
        "Conditional DETR-R101 (concatenated), 50 epochs",
        "DETR-R101 (added), 50 epochs",
    ),
    Comparison(
        CONCATENATED,
        "Detector R101, 50 epochs − 500 added",
        DETECTOR,
        "Conditional DETR-R101 (concatenated), 50 epochs",
        "DETR-R101 (added), 500 epochs",
    ),
    Comparison(NO_POSITION, "Causal, WikiText-103", CAUSAL, "NoPos", "Learned", "WikiText-103, 247M, len 512"),
    Comparison(NO_POSITION, "Causal, Pile", CAUSAL, "NoPos", "Learned", "Pile, 1.3B, len 1024"),
    Comparison(NO_POSITION, "Masked, Pile", MASKED, "NoPos", "Learned"),
    Comparison(
        NO_POSITION_BLEU,
        "Attention: no positions − relative",
        SHAW,
        "aV=no, aK=no (no/no = no position information)",
        "aV=yes, aK=yes (no/no = no position information)",
    ),
    Comparison(
        NO_POSITION_BLEU,
        "Convolutions: no positions − added",
        CONVOLUTION,
        "- source & target position",
        "ConvS2S (source+target learned position, added)",
        "BLEU",
    ),
)


@dataclass(frozen=True)
class LiteratureContent:
    """rows: a row per comparison and column. means: a row per comparison. panels: their titles, in their order.

    notes: (paper, subject, caveat) of every caveat on a row that is compared; the page prints them.
    """

    rows: pd.DataFrame
    means: pd.DataFrame
    panels: tuple[str, ...]
    notes: list[tuple[str, str, str]]


@figure("published_literature", Parameters)
def literature(_: Parameters) -> Figure[LiteratureContent]:
    """Every comparison, column by column, with its mean and its mean without CoLA.

    Raises StoreError where a table has no such row any more.
    """
    tables = published.load_all(list(dict.fromkeys(c.table for c in COMPARISONS)))
    shared = _shared_columns([tables[TUPE], tables[DIET]])
    rows = pd.concat([_comparison_rows(c, tables[c.table], shared) for c in COMPARISONS], ignore_index=True)
    means = _means(rows)
    papers = {table.citation: str(table.cells.short.iloc[0]) for table in tables.values()}
    glue = means[means.panel == UNTIED].set_index("comparison")
    original, replication = (next(iter(frames.rows(glue.loc[[COMPARISONS[n].label]]))) for n in (0, 4))
    averages = published.average(tables[TUPE]).set_index("variant").all_columns
    sentences = [f"{row.panel}, {row.comparison}: {signed(row.gain)} {row.unit}." for row in frames.rows(means)]
    return Figure(
        title="What papers report: no cross terms, concatenation, no positions",
        finding=(
            f"Untying gains {signed(original.gain)} points in the paper that proposed it and "
            f"{signed(replication.gain)} in a replication"
        ),
        frame=lambda: rows.drop(columns=["tip"]),
        caption=(
            f"{len(COMPARISONS)} comparisons from {len(papers)} papers, each with the baseline of its own table; "
            "right of zero is better. Dots: single columns. Diamonds: their mean, and the mean without CoLA. GLUE on "
            f"the {len(shared)} columns that both papers print ({', '.join(shared)}): TUPE's own table says "
            f"{signed(original.gain)} ({signed(original.gain_without_cola)} without CoLA), the replication "
            f"{signed(replication.gain)} ({signed(replication.gain_without_cola)}). On all "
            f"{len(tables[TUPE].glue_columns)} columns of TUPE's table TUPE-A − BERT-A is "
            f"{signed(averages['TUPE-A'] - averages['BERT-A'])} and TUPE-A^tie-cls − BERT-A^d "
            f"{signed(averages['TUPE-A^tie-cls'] - averages['BERT-A^d'])}. Perplexities are compared by their "
            "logarithm (nats per token). Scales differ between units. Few of these papers print a spread, so no "
            "significance is claimed."
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
        content=LiteratureContent(rows, means, PANELS, _notes(tables)),
    )


def _shared_columns(tables: list[published.Table]) -> list[str]:
    """GLUE columns that all of these tables have, as the first names them."""
    tasks = set.intersection(*({task for task, _ in table.glue_columns} for table in tables))
    return [column for task, column in tables[0].glue_columns if task in tasks]


def _comparison_rows(comparison: Comparison, table: published.Table, shared: list[str]) -> pd.DataFrame:
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
            "analysis/figures/literature/data.py name rows of data/published: correct the one that changed."
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
                "paper": cell.short,
                "citation": cell.citation,
                "table_name": cell.table_name,
                "variant": cell.variant,
                "baseline": comparison.baseline or "(the change as printed)",
                "column": cell.column,
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


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean of every comparison, and the mean without CoLA where CoLA is among its columns."""
    keys = ["panel", "comparison", "unit", "paper", "read_in"]
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
