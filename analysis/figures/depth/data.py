"""Figures against depth: what position, order and word can be read from the hidden states of each layer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.errors import NoResults
from analysis.figures.figure import Figure, Parameters, figure
from analysis.store import read

READINGS = {
    ("position", "ridge", "r2"): "Position, ridge: R²",
    ("position", "nearest", "exact"): "Position, nearest mean: exact",
    ("position", "discriminant", "exact"): "Position, discriminants: exact",
    ("position", "nearest", "within_3"): "Position, nearest mean: within 3",
    ("order", "logistic", "accuracy"): "Which of two is first: accuracy",
    ("word", "nearest", "top1"): "Word, nearest mean: top-1",
    ("word", "ridge", "top1"): "Word, ridge to embedding: top-1",
}
"""The panels, by target, decoder and measure; the mean absolute error of position is in the table alone."""


class ModelsParameters(Parameters):
    """The models that are shown, in this order."""

    models: tuple[str, ...]


@dataclass(frozen=True)
class DecodingContent:
    """rows: a row per model, layer and panel. panels: the titles of the panels."""

    rows: pd.DataFrame
    models: list[str]
    panels: list[str]


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


@figure("depth_decoding", ModelsParameters)
def decoding(params: ModelsParameters) -> Figure[DecodingContent]:
    """Decoders' scores on held-out windows, by depth."""
    rows, models = stored_models(params.models, "newest_decoding", "measure decoding --texts FILE")
    keys = list(zip(rows.target, rows.decoder, rows.measure, strict=True))
    rows = rows.assign(panel=[READINGS.get(key, "") for key in keys])
    columns = ["model", "layer", "depth", "target", "decoder", "measure", "value", "low", "high", "chance"]
    table = rows[[*columns, "windows", "tokens"]]
    shown = rows[rows.panel != ""][[*columns, "panel"]]
    first = rows.iloc[0]
    config = json.loads(first.config)
    error = rows[(rows.measure == "mean_absolute_error") & (rows.model == models[0])].set_index("layer").value
    r2 = rows[(rows.measure == "r2") & (rows.model == models[0])].set_index("layer").value
    last = int(error.index.max())
    text = (
        f"{readable(models[0])}: ridge regression reads the position to within {error[0]:.1f} tokens on average "
        f"before the first layer (R² {r2[0]:.2f}) and {error[last]:.1f} after the last (R² {r2[last]:.2f})."
    )
    return Figure(
        title="What can be read from the hidden states",
        finding=(
            f"A linear decoder misses a word's position by {error[0]:.1f} places on average before the first layer, "
            f"and by {error[last]:.1f} after the last"
        ),
        frame=lambda: table,
        caption=(
            f"{text} Hidden states entering each layer, and leaving the last, of "
            f"{windows(rows)}; decoders trained on two thirds of the articles and tested on "
            f"{config['held_out_windows']} windows of the others; special tokens are left out. Words: those that the "
            f"training windows hold at least {config['candidate_words_occur']} times. Bars: 95 % bootstrap intervals "
            "over held-out windows, which say nothing about other trainings of model or decoder. Dashed: chance, a "
            "guess that ignores the hidden state. What a linear decoder reads is there; whether the model "
            "uses it is another question."
        ),
        alt=f"{len(READINGS)} panels of scores against depth for {join_models(models)}. {text}",
        command="\n".join(dict.fromkeys(rows.command)),
        provenance=run_descriptions(rows),
        citation_keys=("wang2020what",),
        content=DecodingContent(
            rows=titled(shown), models=[readable(model) for model in models], panels=list(READINGS.values())
        ),
    )
