"""Stored results of several models against depth, and the axis that they share."""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.errors import NoResults
from analysis.figures import marks
from analysis.figures.drawing import GREY, Theme
from analysis.figures.figure import Parameters
from analysis.store import read

HEIGHT = 190
DEPTH = marks.number(
    alt.X, "depth", "depth (0: first layer begins, 1: last ends)", domain=(0, 1), padding=8, ticks=5, grid=False
)
LAYERS = marks.categories(alt.X, "layer", "layer (after the last: the output)")
TIPS: tuple[marks.Tip, ...] = ("model", ("layer:Q", "hidden states entering layer"))


class ModelsParameters(Parameters):
    """The models that are shown, in this order."""

    models: tuple[str, ...]


def stored_models(models: Sequence[str], view: str, command: str) -> tuple[pd.DataFrame, list[str]]:
    """Rows of a view for some models, in this order; the newest corpus of each.

    Raises NoResults, with the command that measures them, where the store has none.
    """
    requested = list(models)
    marks = read.placeholders(requested)
    result = read.query(f"SELECT * FROM {view} WHERE model IN ({marks}) ORDER BY created, layer", requested)
    if result.empty:
        if not requested:
            raise NoResults("No model is chosen. Choose one or several above.")
        names = ", ".join(requested)
        raise NoResults(f"Nothing of the kind is stored yet for {names}. Run: python -m analysis {command}")
    newest = result.groupby("model").run_id.transform("last")
    result = result[result.run_id == newest]
    result = result.sort_values("model", key=lambda model: model.map(requested.index), kind="stable", ignore_index=True)
    found = list(dict.fromkeys(result.model))
    # Depth from 0, what enters the first layer, to 1, what leaves the last: models of any number of layers compare.
    layers = result.groupby("model").layer.transform("max")
    return result.assign(depth=result.layer / layers.clip(lower=1), layers=layers), found


def along_layers(models: Sequence[str]) -> alt.X:
    """The axis of layers: their numbers for one model; for several, their place between the first and the last."""
    return LAYERS if len(models) == 1 else DEPTH


def run_descriptions(frame: pd.DataFrame) -> dict[str, str]:
    """The runs and corpora that the numbers come from, a line per model."""
    rows = frame.drop_duplicates("model")
    return {
        "models": "; ".join(f"{row.model} ({row.revision})" for row in rows.itertuples()),
        "corpus": "; ".join(
            dict.fromkeys(f"{row.corpus}, {_config(row, 'windows')} windows" for row in rows.itertuples())
        ),
        "runs": "; ".join(f"{row.run_id}, {row.created}, code {row.git_sha}" for row in rows.itertuples()),
        "device": "; ".join(dict.fromkeys(f"{row.device}, {row.dtype}" for row in rows.itertuples())),
        "versions": str(rows.versions.iloc[0]),
    }


def _config(row: Any, name: str) -> Any:
    return json.loads(row.config)[name]


def windows(rows: pd.DataFrame) -> str:
    """The windows and corpus that each model was measured over; told once if they are the same for all."""
    settings = {row.model: (_config(row, "windows"), _config(row, "length"), row.corpus) for row in rows.itertuples()}
    texts = {setting: f"{setting[0]} windows of {setting[1]} tokens ({setting[2]})" for setting in settings.values()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{readable(str(model))}: {texts[setting]}" for model, setting in settings.items())


def titled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows as they are drawn: our own models under their titles."""
    return rows.assign(model=rows.model.map(readable))


def join_models(models: Sequence[str]) -> str:
    """The models' names in a sentence."""
    return ", ".join(map(readable, models))


def colour(models: Sequence[str], theme: Theme, *, named: int, grey: Sequence[str] = ()) -> alt.Color:
    """One hue a model; published ones are grey. named: how many names the panel's legend has."""
    hue = dict(zip(models, theme.many(len(models)), strict=True)) | dict.fromkeys(grey, GREY)
    return marks.hues("model", hue, marks.legend() if named else None)
