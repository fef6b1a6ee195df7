"""The published table next to our own results: the same tasks, the same variants where it has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.core.errors import LinkError
from analysis.literature import tables as published
from analysis.literature.tables import Table
from analysis.store import read


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedComparison:
    """A published GLUE table, in points as printed.

    variants: row of the table -> our name for the variant, where we have one; baseline: the row it is compared with.
    """

    table: Table
    variants: Mapping[str, str]
    baseline: str

    @classmethod
    def load(cls, table: str, baseline: str) -> "PublishedComparison | None":
        """The table with that id; none for "". The baseline is ours if the table has it, else the table's own.

        Raises LinkError for a table without GLUE scores, which cannot be compared with ours.
        """
        if not table:
            return None
        published_table = published.load(table)
        if not published_table.glue_columns:
            glue = published.index().query("kind == 'GLUE'").id
            raise LinkError(f"The table {table!r} has no GLUE scores; expected one of: {', '.join(glue)}.")
        names = read.query(
            "SELECT title AS name, variant FROM variants UNION ALL "
            "SELECT known_as, variant FROM variants WHERE known_as IS NOT NULL AND NOT causal"
        )
        variant_by_title = dict(zip(names.name, names.variant, strict=True))
        variants = {row: variant_by_title[row] for row in published_table.variants if row in variant_by_title}
        matching = [row for row, variant in variants.items() if variant == baseline]
        row = matching[0] if matching else baseline if baseline in published_table.variants else ""
        return cls(table=published_table, variants=variants, baseline=published_table.baseline(row))

    def key(self, row: str) -> str:
        """Our name for a row, or the row itself."""
        return self.variants.get(row, row)

    @property
    def tasks(self) -> dict[str, str]:
        """task -> column, of the GLUE columns that every row has."""
        return dict(self.table.glue_columns)

    def averages(self, averaged: Sequence[str]) -> dict[str, float]:
        """row -> mean over those of the tasks that it prints; empty where it prints none."""
        if not set(self.tasks) & set(averaged) or len(self.tasks) < 2:
            return {}
        means = published.average(self.table, [task for task in self.tasks if task not in averaged])
        return dict(zip(means.variant, means.ticked, strict=True))

    def rows(self, averaged: Sequence[str], average: str) -> pd.DataFrame:
        """A row per figure and one per average: row, variant, task, value, difference to the baseline, source."""
        cells = self.table.scores[self.table.scores.task.isin(self.tasks)]
        means = self.averages(averaged)
        figures = pd.concat(
            [
                pd.DataFrame({"row": list(means), "task": average, "value": list(means.values())}),
                cells[["row", "task", "value"]],
            ],
            ignore_index=True,
        )
        baseline_values = figures[figures.row == self.baseline].set_index("task").value
        return figures.assign(
            variant=[self.key(row) for row in figures.row],
            baseline=self.key(self.baseline),
            difference=figures.value - figures.task.map(baseline_values),
            source=self.table.title,
        )
