"""The models and corpora whose layers were measured, as pages offer them."""

import pandas as pd

from analysis.core.term_names import ADDED_TERMS, FOUR, TERMS
from analysis.probes.drawn_images import CORPUS as IMAGES
from analysis.store import read

VIEWS = {"decoding": "newest_decoding", "order": "newest_equivariance", "basis": "newest_means"}
"""The measurements of hidden states, with the views that hold them."""


def models_and_corpora() -> pd.DataFrame:
    """The models with stored terms over texts, each with its corpora; images have views of their own."""
    return read.query(
        "SELECT DISTINCT model, corpus FROM newest_terms WHERE corpus IN (SELECT corpus FROM corpora) ORDER BY ALL"
    )


def models_of_images() -> list[str]:
    """The models with stored terms over images, and with positions of patches."""
    rows = read.query(
        "SELECT DISTINCT model FROM newest_terms JOIN newest_patch_positions USING (model) WHERE corpus = ? "
        "ORDER BY model",
        [IMAGES],
    )
    return list(rows.model)


def layers(model: str) -> list[int]:
    """The layers of a model whose terms are stored."""
    rows = read.query("SELECT DISTINCT layer FROM newest_terms WHERE model = ? ORDER BY layer", [model])
    return [int(layer) for layer in rows.layer]


def terms(model: str, corpus: str) -> list[str]:
    """The terms that a model has; those of a source that it lacks are zero everywhere."""
    measured = read.query(
        "SELECT DISTINCT term FROM newest_terms WHERE model = ? AND corpus = ? AND rms > 0", [model, corpus]
    )
    known = [*FOUR, *(term for term in (*TERMS, *ADDED_TERMS) if term not in FOUR)]
    return [term for term in known if term in set(measured.term)]


def models(measurement: str) -> list[str]:
    """The models that one measurement, a key of `VIEWS`, was made of."""
    return list(read.query(f"SELECT DISTINCT model FROM {VIEWS[measurement]} ORDER BY model").model)


def all_models() -> list[str]:
    """The models that any of the measurements was made of."""
    rows = read.query(" UNION ".join(f"SELECT model FROM {view}" for view in VIEWS.values()) + " ORDER BY model")
    return list(rows.model)
