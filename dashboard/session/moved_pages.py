"""Pages that are views of Look inside now: their old links open what they showed."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from analysis.links import VIEWS, Value
from analysis.probes.intervention_probe import STRENGTHS
from dashboard.session import held_texts
from dashboard.session.page_address import query_parameters

PROBLEMS = "moved_pages.problems"
"""The key in a session's state of what an old link asks for and cannot be given."""
Values = Mapping[str, Any]
LOOK_OF_PART = {"decoding": "decoding", "order": "order", "basis": "basis", "terms": "heads"}
"""A part of the old page Depth -> the figure of the tab Layers that shows it."""


def _look_of_positions(values: Values) -> str:
    """The figure of the tab Positions that a link to the old page asks for."""
    if values["unturn"]:
        return "unturned"
    if values["baseline"]:
        return "map"
    if values["band"] != -1:
        return "cell"
    if values["head"]:
        return "distance"
    return "cell" if values["layer"] else "map"


def _look_of_interventions(values: Values) -> str:
    """The figure of the tab Change that a link to the old page asks for."""
    if values["permute"]:
        return "order"
    default = VIEWS["interventions"].defaults()
    maps = any(values[name] != default[name] for name in ("layer", "head", "query", "key"))
    return "heads" if maps else "tokens"


def _tab_of_vision(values: Values) -> dict[str, Value]:
    """The tab, and the figure of it, that shows what a link to the old page asks for; it opened on what is stored."""
    changed = _changed("vision", values)
    if changed & set(VIEWS["interventions"].defaults()) & {*STRENGTHS.values(), "do", "terms", "layers", "heads"}:
        return {"tab": "change"}
    on_one_image = {"model", "revision", "layer", "image", "masked", "head", "patch", "centred", "key"}
    return {"tab": "scores", "look": ""} if changed & on_one_image else {"tab": "layers"}


def _two_sides(values: Values) -> dict[str, Value]:
    """Scores with both sides; what the right one has as the left one follows it."""
    same = {f"{name}2": "" for name in ("method", "freeze") if values[f"{name}2"] == values[name]}
    return {"tab": "scores", "look": "cell", **same}


def _scores_of_terms(values: Values) -> dict[str, Value]:
    """Scores over many texts, on which the old page opened; of one text where a link asks for a part of its maps."""
    on_one_text = {"probe", "head", "group", "words", "specials", "centred", "query", "key"}
    if not _changed("terms", values) & on_one_text:
        return {"tab": "scores", "over": "corpus", "probe": ""}
    # Another model had another saved probe.
    default = VIEWS["terms"].defaults()
    other = values["model"] != default["model"] and values["probe"] == default["probe"]
    return {"tab": "scores", **({"probe": ""} if other else {})}


def _changed(page: str, values: Values) -> set[str]:
    """The fields in which a link differs from the page as it opened."""
    return {name for name, default in VIEWS[page].defaults().items() if values[name] != default}


MOVED: dict[str, Callable[[Values], dict[str, Value]]] = {
    "probe": lambda values: {"tab": "scores"},
    "positions": lambda values: {"tab": "positions", "look": _look_of_positions(values)},
    "interventions": lambda values: {"tab": "change", "look": _look_of_interventions(values)},
    "vision": _tab_of_vision,
    "compare": _two_sides,
    "terms": _scores_of_terms,
    "depth": lambda values: {"tab": "layers", "over": "corpus", "look": LOOK_OF_PART.get(values["part"], "decoding")},
}
"""Old page -> the tab, and the figure of it, that shows what its link showed."""


def moved_values(page: str, values: Values) -> dict[str, Value]:
    """The values of Look inside that show what a link to an old page showed; a pair was read as one input there."""
    fields = VIEWS["inside"].defaults()
    kept = {name: value for name, value in values.items() if name in fields}
    side: dict[str, Value] = {"side": "together"} if values.get("pair") else {}
    return fields | kept | side | MOVED[page](values)


def redirect(page: str) -> None:
    """Opens Look inside with the fields of the old page's link."""
    raw = {name: st.query_params.get_all(name) for name in st.query_params}
    parameters, lost = held_texts.restore(raw)
    values, problems = VIEWS[page].parse(parameters)
    st.session_state[PROBLEMS] = [*problems, *([lost] if lost else [])]
    st.switch_page("views/inside.py", query_params=query_parameters("inside", moved_values(page, values)))


def problems() -> list[str]:
    """Sentences on what the old link that led here asks for and cannot be given; each is said once."""
    return list(st.session_state.pop(PROBLEMS, []))
