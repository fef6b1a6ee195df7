"""Our own fine-tuning results, laid out so that they can stand beside a published table. Scores are in points: x100.

`study` gives what the runs of one preset say under one protocol; `beside` the published table next to them.
"""

from functools import lru_cache

from analysis.glue_comparison.published import PublishedComparison
from analysis.glue_comparison.results import DEFAULT_PRESET, MAKE, Results, load, presets, pretrained, resolve
from analysis.glue_comparison.study import AVERAGE, MARGINS, PROTOCOLS, Study
from analysis.store.paths import version

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
    "version",
]


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
    """The runs of a preset under a protocol; see `Study`. The last few are kept, until the store changes.

    counted: the pre-trainings whose fine-tunings count; all of them where it is None.
    """
    return _study(version(), preset, counted, baseline, protocol, without, including, margin)


def published_comparison(table: str, baseline: str = "") -> PublishedComparison | None:
    """The published table with that id, against our baseline where it has that; none for ""."""
    return _beside(version(), table, baseline)


@lru_cache(maxsize=16)
def _study(
    version: tuple[str, int, int],
    preset: str,
    counted: tuple[str, ...] | None,
    baseline: str,
    protocol: str,
    without: tuple[str, ...],
    including: tuple[str, ...],
    margin: str,
) -> Study:
    return Study.of(
        _results(version, preset, counted),
        baseline=baseline,
        protocol=protocol,
        without=without,
        including=including,
        margin=margin,
    )


@lru_cache(maxsize=4)
def _results(version: tuple[str, int, int], preset: str, counted: tuple[str, ...] | None) -> Results:
    del version  # Only tells one store from another.
    return load(preset, counted)


@lru_cache(maxsize=16)
def _beside(version: tuple[str, int, int], table: str, baseline: str) -> PublishedComparison | None:
    del version
    return PublishedComparison.of(table, baseline)
