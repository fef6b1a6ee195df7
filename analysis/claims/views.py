"""The views that claims lead to, named once: a page that is renamed is renamed here."""

from typing import Any

from analysis.claims.base import View

USUAL = "bert_a"
"""The variant that the pages hold others against unless told."""


def training(part: str, *variants: str, against: str = USUAL) -> View:
    """Our own pre-trainings: curves, gap, parts, settings, convergence, scores or costs; held against a variant."""
    labels = {
        "curves": "Learning curves",
        "gap": "Final loss of every variant",
        "parts": "What each change of untying gives",
        "settings": "The same at other settings",
        "convergence": "Steps to the baseline's loss",
        "scores": "Score variance through training",
        "costs": "Costs of every variant",
    }
    values: dict[str, Any] = {"part": part}
    if variants:
        values["variants"] = variants
    if against != USUAL:
        values["baseline"] = against
    return View(label=labels[part], page="training", values=values)


def glue(view: str = "difference", against: str = USUAL) -> View:
    """Our own GLUE scores beside published ones; differences to a variant."""
    values = {"view": view} if against == USUAL else {"view": view, "baseline": against}
    return View(label="GLUE, own and published", page="glue", values=values)


def published(table: str, label: str) -> View:
    """A published table; table: citation key|table name."""
    return View(label=label, page="published", values={"table": table})


def encodings(encoding: str, part: str, **more: Any) -> View:
    """One encoding: values, distance, or all of them."""
    labels = {"values": f"The values of {encoding}", "distance": f"Distance in {encoding}", "all": "All encodings"}
    return View(label=labels[part], page="encodings", values={"encoding": encoding, "part": part, **more})


def terms(**more: Any) -> View:
    """The terms of a model over a corpus at layer 0."""
    return View(label="Terms of every head", page="terms", values=more)


def depth(part: str, **more: Any) -> View:
    """Through the layers: decoding, order, basis or terms."""
    labels = {"decoding": "Decoded layer by layer", "basis": "Position basis", "terms": "Terms layer by layer"}
    labels |= {"order": "Order and distance, layer by layer"}
    return View(label=labels[part], page="depth", values={"part": part, **more})


def interventions(*do: str, **more: Any) -> View:
    """An intervention on a model."""
    return View(label="Try the intervention", page="interventions", values={"do": do, **more})


def vision() -> View:
    """The terms between the patches of images."""
    return View(label="Terms between patches", page="vision")


def geometry(part: str, **more: Any) -> View:
    """Where the word and position vectors of a model lie."""
    labels = {
        "angles": "Near-orthogonality",
        "subspaces": "Subspaces of word and position",
        "ranks": "Ranks and dimensions",
        "heads": "What heads divide",
        "words": "Words that positions change",
        "collisions": "Sums that nearly meet",
    }
    return View(label=labels[part], page="geometry", values={"part": part, **more})
