"""Stored estimates of where words and positions lie, each beside that of random vectors, and figures made of them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import pandas as pd

from analysis.ablation.variants import readable
from analysis.core import default_model, frames
from analysis.core.errors import NoResults, NotMeasured
from analysis.core.formatting import first_sentence, join_names
from analysis.core.provenance import model_options
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters
from analysis.measurements.geometry.measure import NEEDS
from analysis.store import read

COMMAND = "python -m analysis measure geometry"
BAND = "Grey: mean and 95 % range of {draws} random draws, {of}."
COLUMNS = ["measure", "subject", "layer", "head", "along", "value", "low", "high"]
RAW = "The tables as they enter the sum, before any normalisation, special and unused tokens left out."
BASELINE = ["baseline", "baseline_low", "baseline_high"]


class GeometryParameters(Parameters):
    """The model whose words and positions are shown."""

    model: str


class RunSettings(TypedDict):
    """The settings that a measurement was run with, and the numbers of words, texts and positions that it measured."""

    seed: int
    device: str
    draws: int
    words: int
    baseline_words: int
    rotations: int
    texts: int
    vocabulary: int
    positions: int
    spoken: list[int]
    """The first position that a word can hold, and the first after those."""
    missing: dict[str, str]
    """Measures that could not be computed -> the reason."""


@dataclass(frozen=True)
class Estimate:
    """One number with its 95 % interval, and the mean and 95 % range of the same number for random vectors.

    samples: the number of words, pairs or other items that it is computed from.
    """

    value: float
    low: float
    high: float
    baseline: float
    baseline_low: float
    baseline_high: float
    samples: int


def stored_models() -> dict[str, int]:
    """The models whose geometry is stored -> their number of words: the usual one first, then those with most words."""
    rows = read.query(
        "SELECT model, max((config::JSON ->> 'vocabulary')::INTEGER) AS words FROM newest_geometry "
        "WHERE model IS NOT NULL GROUP BY model ORDER BY model <> ?, words DESC, model",
        [default_model.NAME],
    )
    return dict(zip(rows.model, rows.words, strict=True))


TOKENS = {"antibodies": "amino acids", "reactions": "atoms and bonds"}
"""The words of models of other texts than language, by the domain in the view `measured_models`."""


def tokens_of_others() -> dict[str, str]:
    """The models that read other texts than language -> what their words are."""
    rows = read.query("SELECT model, domain FROM measured_models WHERE domain IN (?, ?)", list(TOKENS))
    return {str(row.model): TOKENS[str(row.domain)] for row in frames.rows(rows)}


def stored_rows(model: str, *measures: str) -> pd.DataFrame:
    """The newest rows of some measures. Raises NoResults if there are none, with the reason that the run gives."""
    placeholders = read.placeholders(measures)
    rows = read.query(
        f"SELECT * FROM newest_geometry WHERE model = ? AND measure IN ({placeholders}) "
        "ORDER BY measure, subject, layer, head, along",
        [model, *measures],
    )
    if rows.empty:
        raise _not_measured(model, measures)
    return rows


def stored_cases(model: str, measure: str) -> pd.DataFrame:
    """The newest cases of a measure. Raises NoResults."""
    rows = read.query(
        "SELECT * FROM newest_neighbours WHERE model = ? AND measure = ? ORDER BY margin", [model, measure]
    )
    if rows.empty:
        raise NoResults(f"No such words are stored yet for {readable(model)}. Run: {COMMAND} {model_options(model)}")
    return rows


IN_WORDS = {
    "abs_cosine": "mean absolute cosine",
    "it has no table of positions": NEEDS["position"],
}
"""A measure's name, or a reason as older runs stored it -> the same as readers see it."""


def _not_measured(model: str, measures: Sequence[str]) -> NotMeasured:
    """The reasons why a model has none of these measures, by its newest run, and the models that have them all."""
    names = join_names(IN_WORDS.get(name, name.replace("_", " ")) for name in measures)
    having = read.query(
        f"SELECT model FROM newest_geometry WHERE measure IN ({read.placeholders(measures)}) AND model IS NOT NULL "
        "GROUP BY model HAVING count(DISTINCT measure) = ? ORDER BY model",
        [*measures, len(measures)],
    ).model
    run = read.query("SELECT any_value(config) AS config FROM newest_geometry WHERE model = ?", [model])
    missing = {} if run.empty or run.config.isna().all() else json.loads(run.config.iloc[0]).get("missing", {})
    if not missing:
        return NotMeasured(
            f"The {names} of {readable(model)} {'was' if len(measures) == 1 else 'were'} not measured.",
            having,
            f"{COMMAND} {model_options(model)}",
        )
    # A run names what it left out: "heads" for head_overlap and head_loss.
    own = {why for left_out, why in missing.items() if any(name.startswith(left_out.rstrip("s")) for name in measures)}
    reasons = "; ".join(
        IN_WORDS.get(str(reason), str(reason)) for reason in sorted(own) or [*dict.fromkeys(missing.values())]
    )
    return NotMeasured(f"{readable(model)} has no {names}: {reasons}.", having)


def run_settings(rows: pd.DataFrame) -> RunSettings:
    """The run's settings."""
    return json.loads(rows.config.iloc[-1])


def provenance(frame: pd.DataFrame) -> dict[str, str]:
    """The provenance of the numbers: model, runs and device."""
    rows = frame.drop_duplicates("run_id")
    return {
        "model": "; ".join(dict.fromkeys(f"{r.model} ({r.revision})" for r in frames.rows(rows) if pd.notna(r.model))),
        "runs": "; ".join(f"{r.run_id}, {r.created}, code {r.git_sha}" for r in frames.rows(rows)),
        "device": "; ".join(dict.fromkeys(f"{r.device}, {r.dtype}" for r in frames.rows(rows))),
        "seed": str(run_settings(frame)["seed"]),
        "versions": str(rows.versions.iloc[-1]),
    }


def geometry_figure(
    title: str,
    rows: pd.DataFrame,
    *,
    caption: str,
    alt: str,
    draw: Callable[[Theme], Sequence[Chart]],
    columns: int = 1,
    table: pd.DataFrame | None = None,
    finding: str = "",
    citation_keys: tuple[str, ...] = (),
) -> Figure:
    """A figure of stored rows.

    table: its frame; the rows as they are in the store where none is given. finding: where there is none, the first
    sentence of `alt`.
    """
    if table is None:
        table = rows[[*COLUMNS, *BASELINE, "samples"]].dropna(axis=1, how="all").reset_index(drop=True)
    return Figure(
        title=title,
        finding=finding or first_sentence(alt).split("; ")[0],
        frame=lambda: table,
        caption=caption,
        alt=alt,
        command="\n".join(dict.fromkeys(rows.command)),
        provenance=provenance(rows),
        citation_keys=citation_keys,
        draw=draw,
        columns=columns,
    )


def find_estimate(rows: pd.DataFrame, measure: str, subject: str, along: float | None = None) -> Estimate | None:
    """The first estimate of a measure and subject, at `along` if that is given; None where there is none."""
    matches = rows[(rows.measure == measure) & (rows.subject == subject)]
    matches = matches if along is None else matches[matches.along == along]
    for row in frames.rows(matches):
        return Estimate(
            row.value, row.low, row.high, row.baseline, row.baseline_low, row.baseline_high, samples=row.samples
        )
    return None


def estimate(rows: pd.DataFrame, measure: str, subject: str) -> Estimate:
    """The first estimate of a measure and subject. Raises NoResults where there is none."""
    if (found := find_estimate(rows, measure, subject)) is None:
        model = str(rows.model.iloc[0])
        raise NoResults(
            f"No {measure.replace('_', ' ')} of {subject.replace('_', ' ')} is stored yet for {readable(model)}. "
            f"Run: {COMMAND} {model_options(model)}"
        )
    return found
