"""Facts that follow from a variant's settings alone: its requirements and its limit of length. Nothing is measured."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from analysis.ablation.variants import VARIANTS
from analysis.narrative.choosing.methods import Method

Settings = Mapping[str, Any]


def learned_table(settings: Settings) -> bool:
    """True if every position has a learned row, which only training that reached the position can fill."""
    added = settings.get("position") == "learned" and settings.get("combine", "none") != "none"
    return added or settings.get("untied", "none") != "none"


def changes_attention(settings: Settings) -> bool:
    """True if attention takes anything other than one vector per token, so that its code must be changed."""
    names = ("relative_buckets", "alibi", "rotary", "polar", "disentangled", "window", "blocked")
    return settings.get("untied", "none") != "none" or any(settings.get(name) for name in names)


def causal(settings: Settings) -> bool:
    """True if a causal decoder can use the method: no token sees later ones, and no [CLS] is needed."""
    return not settings.get("recurrent") and not settings.get("untie_cls")


def tells_order(settings: Settings) -> bool:
    """True if an encoder, which has no causal mask, can tell one order of its words from another."""
    names = ("relative_buckets", "alibi", "rotary", "polar", "disentangled", "window", "recurrent")
    table = settings.get("combine", "none") != "none" or settings.get("untied", "none") != "none"
    return table or any(settings.get(name) for name in names)


def tells_direction(settings: Settings) -> bool:
    """True if an encoder can tell a text from its reverse, and not only how far apart words stand."""
    return tells_order({**settings, "alibi": False})


class Need(NamedTuple):
    """A need of an engineer. title: the button's text. means: its meaning. met: true of the methods that meet it.

    partly: true of those that meet it in part alone.
    """

    title: str
    means: str
    met: Callable[[Method], bool]
    partly: Callable[[Method], bool] = lambda method: False


NEEDS: dict[str, Need] = {
    "longer": Need(
        "Defined for texts of any length",
        "No learned table with one row for each position, which ends where training did. How well the model then does "
        "is another question: see the loss at 4 times the length.",
        lambda method: not learned_table(method.setup.settings),
    ),
    "order": Need(
        "Knows word order without a causal mask",
        "An encoder, in which every token sees all, can tell one order from another. In brackets: it tells how far "
        "apart words stand and not which comes first, so that a text and its reverse are one to it.",
        lambda method: tells_order(method.setup.settings),
        lambda method: tells_order(method.setup.settings) and not tells_direction(method.setup.settings),
    ),
    "causal": Need(
        "Works in a causal decoder",
        "No token sees later ones, and no [CLS] token is needed.",
        lambda method: causal(method.setup.settings),
    ),
    "attention": Need(
        "No change to attention code",
        "Attention takes one vector for each token, as in the first transformer.",
        lambda method: not changes_attention(method.setup.settings),
    ),
    "width": Need(
        "Words keep their full width",
        "No dimensions of the words are given to positions.",
        lambda method: not method.setup.position_share,
    ),
}


REQUIREMENTS = {
    "blocked": "projections kept in blocks",
    "untie_cls": "separate scores for [CLS]",
    "relative_buckets": "a learned bias on the scores, {} numbers for each head",
    "alibi": "a fixed bias on the scores",
    "rotary": "a rotation of {part}queries and keys",
    "polar": "queries and keys that have lengths only, rotated by position, with a learned phase for each dimension",
    "disentangled": "relative position vectors, compared with words in the scores",
    "window": "an attention mask of {} neighbours on each side",
    "recurrent": "a bidirectional recurrent network before the first layer",
}
"""The requirement of each setting besides a table, in words; {} stands for the setting's value."""


def requirements(method: Method) -> list[str]:
    """The requirements of a method, one short phrase each."""
    settings, items = method.setup.settings, []
    if settings.get("combine", "none") != "none":
        items.append("a learned table" if settings.get("position") == "learned" else "a computed table")
        items.append(
            {
                "add": "one addition at the input",
                "concat": "concatenation at the input",
                "multiply": "a product at the input",
            }[str(settings["combine"])]
        )
    if (untied := settings.get("untied", "none")) != "none":
        items.append("a learned table")
        items.append(
            "projections of positions, added to queries and keys"
            if untied == "added"
            else "a position-to-position score with separate projections"
        )
    part = "" if settings.get("rotary_share", 1.0) == 1 else "a part of "
    items += [text.format(settings[name], part=part) for name, text in REQUIREMENTS.items() if settings.get(name)]
    if method.setup.inherits == "model":
        items.append(f"a model trained as {VARIANTS[method.setup.needs or ''].title.lower()}, and some further steps")
    return items or ["nothing"]


def limit(method: Method) -> str:
    """The limit on the length of a text, in words."""
    settings = method.setup.settings
    if learned_table(settings):
        return "only the positions that training reached"
    if settings.get("relative_buckets"):
        return "no limit: distances beyond the largest share a bucket"
    if settings.get("disentangled"):
        return f"no limit: distances beyond {settings['disentangled']} share a vector"
    return "no limit: computed for every position" if tells_order(settings) else "no limit: there is nothing to compute"
