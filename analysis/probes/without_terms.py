"""Tells what a model without terms can still give: each result is computed, so nothing is promised in vain."""

from shlex import quote
from typing import Any

from analysis.core.errors import AddendError, InterventionError
from analysis.probes.intervention_probe import InterventionRequest
from analysis.probes.position_probe import PositionRequest
from analysis.probes.text_probe import PatternsRequest, TextRequest

FIRST = "zero_positions"
"""The intervention that the command `intervene` makes where it is told of none."""


def remaining(request: TextRequest) -> str:
    """A sentence on the other results that the model and the text of a request for terms give, or why they give none.

    The patterns, the intervention and the map are made, by the functions that make them for a reader.
    """
    shared = {name: getattr(request, name) for name in ("model", "revision", "text", "pair", "truncate")}
    try:
        loaded = PatternsRequest(**shared).load()
        PatternsRequest(**shared).run(loaded)
    except AddendError as refused:
        return f"Its attention patterns cannot be shown either: {refused}{_map(request, shared)}"
    try:
        InterventionRequest(**shared, interventions=(FIRST,)).run(loaded)
    except InterventionError as refused:
        return f"Its attention patterns are still available, on the page Look inside. Of interventions: {refused}"
    except AddendError as refused:
        return f"Its attention patterns are still available, on the page Look inside. Interventions are not: {refused}"
    return (
        "Its attention patterns and the effects of interventions on its positions are still available: on the page "
        f"Look inside, or with python -m analysis intervene --model {quote(request.model)} --text ..."
    )


def _map(request: TextRequest, shared: dict[str, Any]) -> str:
    """A sentence where there is a position map of a model whose patterns are refused; empty where there is none."""
    try:
        PositionRequest(**shared).run()
    except AddendError:
        return ""
    return (
        " Where position is in its scores can be seen all the same: on the page Look inside, or with python -m "
        f"analysis positions {quote(request.model)}"
    )
