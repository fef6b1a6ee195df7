"""Pages that are a part of another page now: the page and the state that show what a link to them shows."""

from collections.abc import Callable, Mapping
from typing import Any

from analysis.links import INTERVENTION_FIELDS, SECOND_HEAD, VIEWS, Value

Values = Mapping[str, Any]
FieldsOf = Callable[[Values], dict[str, Value]]
"""The values of an old page's link -> the fields of the page of today that they set."""
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
    if changed & INTERVENTION_FIELDS:
        return {"tab": "change"}
    on_one_image = {"model", "revision", "layer", "image", "masked", "head", "patch", "centred", "key"}
    return {"tab": "scores", "look": ""} if changed & on_one_image else {"tab": "layers"}


def _two_sides(values: Values) -> dict[str, Value]:
    """Scores with both sides; what the right one has as the left one follows it.

    A link that says nothing about the sides opens two heads with something to compare: the two of one layer whose
    scores vary most by the term.
    """
    same = {f"{name}2": "" for name in ("method", "freeze") if values[f"{name}2"] == values[name]}
    if not _changed("compare", values) & {"layer", "head", "layer2", "head2", "model2", "text2", "method2"}:
        opening = VIEWS["inside"].defaults()
        same |= {name: opening[name] for name in ("head", "layer2", "truncate")}
        same |= {"head2": SECOND_HEAD, "own_scale": True}
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


def _layers_of_depth(values: Values) -> dict[str, Value]:
    """The figure of the tab Layers, over many texts, that shows a part of the old page."""
    return {"tab": "layers", "over": "corpus", "look": LOOK_OF_PART.get(str(values["part"]), "decoding")}


def _changed(page: str, values: Values) -> set[str]:
    """The fields in which a link differs from the page as it opened."""
    return {name for name, default in VIEWS[page].defaults().items() if values[name] != default}


def _inside(fields_of: FieldsOf) -> tuple[str, FieldsOf]:
    """Look inside, with the fields that say which tab and figure show a page; a pair was read as one input there."""

    def moved(values: Values) -> dict[str, Value]:
        side: dict[str, Value] = {"side": "together"} if values.get("pair") else {}
        return side | fields_of(values)

    return "inside", moved


def _with_topic(part: str, topic: str, **more: Value) -> FieldsOf:
    """The part of Experiments that shows a page, and the fields that have the topic before their names there.

    more: other fields that say so.
    """

    def moved(values: Values) -> dict[str, Value]:
        fields = VIEWS["experiments"].defaults()
        return {"part": part, **more} | {
            f"{topic}_{name}": value for name, value in values.items() if f"{topic}_{name}" in fields
        }

    return moved


MOVED: Mapping[str, tuple[str, FieldsOf]] = {
    # The name of the room, which a reader may type.
    "data": ("runs", lambda values: {}),
    "probe": _inside(lambda values: {"tab": "scores"}),
    "positions": _inside(lambda values: {"tab": "positions", "look": _look_of_positions(values)}),
    "interventions": _inside(lambda values: {"tab": "change", "look": _look_of_interventions(values)}),
    "vision": _inside(_tab_of_vision),
    "compare": _inside(_two_sides),
    "terms": _inside(_scores_of_terms),
    "depth": _inside(_layers_of_depth),
    "training": ("experiments", lambda values: {}),
    "glue": ("experiments", _with_topic("glue", "glue")),
    "published": ("experiments", _with_topic("published", "published", published_look="table")),
    "encodings": (
        "choose",
        lambda values: {"look": values["part"], "part": "needs", "encoding_length": values["length"]},
    ),
}
"""Old page -> the page that shows it now, and what its fields are there besides those of the same name and meaning."""
OTHER_MEANING = {"glue": {"preset", "baseline"}, "published": {"baseline"}, "encodings": {"length"}}
"""Old page -> its fields whose name means another thing on the page that shows it now."""


def moved(page: str, values: Values) -> tuple[str, dict[str, Value]]:
    """The page and its values that show what a link shows: the same ones, where its page is one of today's."""
    if page not in MOVED:
        return page, dict(values)
    today, fields_of = MOVED[page]
    fields, given = VIEWS[today].defaults(), VIEWS[page].defaults() | dict(values)
    kept = {
        name: value for name, value in given.items() if name in fields and name not in OTHER_MEANING.get(page, set())
    }
    return today, fields | kept | fields_of(given)
