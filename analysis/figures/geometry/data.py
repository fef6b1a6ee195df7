"""What the figures of geometry share: their rows from the store, what they trace to, and panels of lines and dots."""

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.core import frames
from analysis.core.errors import NoResults
from analysis.core.formatting import first_sentence
from analysis.core.provenance import model_options
from analysis.figures.figure import Figure, Params
from analysis.store import read

MAKE = "python -m analysis measure geometry"
BAND = "Grey: mean and 95 % range of {draws} random draws, {of}."
COLUMNS = ["measure", "subject", "layer", "head", "along", "value", "low", "high"]
BASELINE = ["baseline", "baseline_low", "baseline_high"]


def model_of(params: Params) -> str:
    """The model that a link names."""
    return str(params["model"])


def rows_of(model: str, *measures: str) -> pd.DataFrame:
    """The newest rows of some measures. Raises NoResults, with what the run said the model lacks."""
    marks = ", ".join("?" for _ in measures)
    rows = read.query(
        f"SELECT * FROM newest_geometry WHERE model = ? AND measure IN ({marks}) "
        "ORDER BY measure, subject, layer, head, along",
        [model, *measures],
    )
    if rows.empty:
        raise NoResults(_why(model, measures))
    return rows


def _why(model: str, measures: Sequence[str]) -> str:
    run = read.query("SELECT any_value(config) AS config FROM newest_geometry WHERE model = ?", [model])
    if run.empty or run.config.isna().all():
        return f"No geometry is stored yet for {model}. Run: {MAKE} {model_options(model)}"
    missing = dict.fromkeys(json.loads(run.config.iloc[0])["missing"].values())
    return f"{model} has no {', '.join(m.replace('_', ' ') for m in measures)}: {'; '.join(missing)}."


def run_settings(rows: pd.DataFrame) -> dict[str, Any]:
    """The run's settings."""
    return json.loads(rows.config.iloc[-1])


def provenance(frame: pd.DataFrame) -> dict[str, str]:
    """What the numbers trace to."""
    rows = frame.drop_duplicates("run_id")
    return {
        "model": "; ".join(dict.fromkeys(f"{r.model} ({r.revision})" for r in frames.rows(rows) if pd.notna(r.model))),
        "runs": "; ".join(f"{r.run_id}, {r.created}, code {r.git_sha}" for r in frames.rows(rows)),
        "device": "; ".join(dict.fromkeys(f"{r.device}, {r.dtype}" for r in frames.rows(rows))),
        "seed": str(run_settings(frame)["seed"]),
        "versions": str(rows.versions.iloc[-1]),
    }


def geometry_figure(
    name: str, title: str, rows: pd.DataFrame, *, caption: str, alt: str, finding: str = "", **more: Any
) -> Figure:
    """A figure of stored rows, as they are in the store. finding: where there is none, the first sentence of `alt`."""
    table = rows[[*COLUMNS, *BASELINE, "samples"]].dropna(axis=1, how="all").reset_index(drop=True)
    return Figure(
        name=name,
        title=title,
        finding=finding or first_sentence(alt).split("; ")[0],
        frame=lambda: table,
        caption=caption,
        alt=alt,
        command="\n".join(dict.fromkeys(rows.command)),
        provenance=provenance(rows),
        **more,
    )


def first_row(frame: pd.DataFrame, measure: str, subject: str, along: float | None = None) -> Any:
    """One row of those found; the first where there is none so far along; None where there is none at all."""
    rows = frame[(frame.measure == measure) & (frame.subject == subject)]
    near = rows[rows.along == along] if along is not None else rows
    return None if near.empty else next(iter(frames.rows(near)))
