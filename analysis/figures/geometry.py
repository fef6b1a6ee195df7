"""What the figures of geometry share: their rows from the store, what they trace to, and panels of lines and dots."""

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.errors import NoResults
from analysis.figures.base import Figure, Params
from analysis.provenance import model_options
from analysis.published import Frame
from analysis.store import read

MAKE = "python -m analysis measure-geometry"
BAND = "Grey: mean and 95 % range of {draws} random draws, {of}."
COLUMNS = ["measure", "subject", "layer", "head", "along", "value", "low", "high"]
BASELINE = ["baseline", "baseline_low", "baseline_high"]


def model_of(params: Params) -> str:
    """The model that a link names."""
    return str(params["model"])


def rows_of(model: str, *measures: str) -> Frame:
    """The newest rows of some measures. Raises NoResults, with what the run said the model lacks."""
    marks = ", ".join("?" for _ in measures)
    found = read.query(
        f"SELECT * FROM newest_geometry WHERE model = ? AND measure IN ({marks}) "
        "ORDER BY measure, subject, layer, head, along",
        [model, *measures],
    )
    if found.empty:
        raise NoResults(_why(model, measures))
    return found


def _why(model: str, measures: Sequence[str]) -> str:
    run = read.query("SELECT any_value(config) AS config FROM newest_geometry WHERE model = ?", [model])
    if run.empty or run.config.isna().all():
        return f"No geometry is stored yet for {model}. Run: {MAKE} {model_options(model)}"
    missing = dict.fromkeys(json.loads(run.config.iloc[0])["missing"].values())
    return f"{model} has no {', '.join(m.replace('_', ' ') for m in measures)}: {'; '.join(missing)}."


def about(found: Frame) -> dict[str, Any]:
    """The run's settings."""
    return json.loads(found.config.iloc[-1])


def provenance(found: Frame) -> dict[str, str]:
    """What the numbers trace to."""
    rows = found.drop_duplicates("run_id")
    return {
        "model": "; ".join(dict.fromkeys(f"{r.model} ({r.revision})" for r in rows.itertuples() if pd.notna(r.model))),
        "runs": "; ".join(f"{r.run_id}, {r.created}, code {r.git_sha}" for r in rows.itertuples()),
        "device": "; ".join(dict.fromkeys(f"{r.device}, {r.dtype}" for r in rows.itertuples())),
        "seed": str(about(found)["seed"]),
        "versions": str(rows.versions.iloc[-1]),
    }


def made(name: str, title: str, found: Frame, *, caption: str, alt: str, **more: Any) -> Figure:
    """A figure of stored rows, as they are in the store."""
    table = found[[*COLUMNS, *BASELINE, "samples"]].dropna(axis=1, how="all").reset_index(drop=True)
    return Figure(
        name=name,
        title=title,
        frame=lambda: table,
        caption=caption,
        alt=alt,
        command="\n".join(dict.fromkeys(found.command)),
        provenance=provenance(found),
        **more,
    )


def one(found: Frame, measure: str, subject: str, along: float | None = None) -> Any:
    """One row of those found; the first where there is none so far along; None where there is none at all."""
    rows = found[(found.measure == measure) & (found.subject == subject)]
    near = rows[rows.along == along] if along is not None else rows
    return None if near.empty else next(near.itertuples())
