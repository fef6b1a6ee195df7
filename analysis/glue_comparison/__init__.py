"""Our own fine-tuning results, laid out for comparison with a published table. Scores are in points: x100.

`study` analyses the runs of one preset under one protocol; `published_comparison` gives a published table.
"""

from analysis.glue_comparison.published import PublishedComparison
from analysis.glue_comparison.results import DEFAULT_PRESET, MAKE, Results, load, presets, pretrained, resolve
from analysis.glue_comparison.study import AVERAGE, MARGINS, PROTOCOLS, Study
from analysis.store.paths import cached_until_store_changes

__all__ = [
    "AVERAGE",
    "DEFAULT_PRESET",
    "MAKE",
    "MARGINS",
    "PROTOCOLS",
    "PublishedComparison",
    "Results",
    "Study",
    "presets",
    "pretrained",
    "published_comparison",
    "resolve",
    "study",
]


@cached_until_store_changes(16)
def study(
    preset: str,
    *,
    baseline: str = "bert_a",
    protocol: str = "mean",
    without: tuple[str, ...] = (),
    including: tuple[str, ...] = (),
    margin: str = "1",
    counted: tuple[str, ...] | None = None,
) -> Study:
    """The runs of a preset under a protocol; see `Study`.

    counted: the pre-trainings whose fine-tunings count; all of them where it is None.
    """
    return Study.create(
        load(preset, counted), baseline=baseline, protocol=protocol, without=without, including=including, margin=margin
    )


def published_comparison(table: str, baseline: str = "") -> PublishedComparison | None:
    """The published table with that id, against our baseline where it has that; none for ""."""
    return PublishedComparison.load(table, baseline)
