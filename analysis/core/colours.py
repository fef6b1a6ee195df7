"""Colours by what they mean. A meaning has the same colour on every page; no two meanings share one.

Each colour comes for a light and for a dark ground. Within a family, readers of every kind of colour vision can tell
them apart (a test simulates three kinds); charts give most of them a shape, a dash or a label besides.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    """One colour as `#rrggbb`, on a light and on a dark ground."""

    light: str
    dark: str

    def on(self, *, dark: bool) -> str:
        """The colour for a ground."""
        return self.dark if dark else self.light


GROUND = Colour("#ffffff", "#0e1117")
"""The background of pages and charts."""
INK = Colour("#1f2430", "#eceef2")
SOFT = Colour("#5b6372", "#a9b1bf")
"""Text of the second rank."""
LINE = Colour("#e2e5ea", "#2b313d")
PANEL = Colour("#f7f8fa", "#161a23")
LINK = Colour("#0b5cad", "#7db8f0")

TERMS = {
    "word": Colour("#1763d6", "#4aa9fe"),
    "position": Colour("#b55d0c", "#e8842c"),
    "word_to_position": Colour("#5b1a8c", "#9568cf"),
    "position_to_word": Colour("#1f5a50", "#3a8a6c"),
    "segment": Colour("#c28a04", "#fed144"),
    "bias": Colour("#8f9197", "#a9acb3"),
}
"""Vectors that are added to words, and the terms of scores. A term of one part with itself has that part's colour."""
WAYS = {
    "added": Colour("#191c22", "#e4e7ee"),
    "concatenated": Colour("#0a8fb0", "#35cdf0"),
    "apart": Colour("#cf3283", "#fe6fb0"),
    "layers": Colour("#6d1a80", "#ad57d9"),
    "relative": Colour("#a48b15", "#f5c518"),
    "multiplied": Colour("#7c1b03", "#b83514"),
    "none": Colour("#50545d", "#767b86"),
}
"""Ways to tell positions, by the names of `analysis.ablation.variants.WAYS`; `of_way` has those without a hue."""
SOURCES = {"own": Colour("#0f5f5c", "#7fe3dd"), "published": Colour("#a44fc0", "#b06fd6")}
"""Sources of a number: our own measurement, or a published one."""
VERDICTS = {
    "supported": Colour("#0f8564", "#5deebb"),
    "contradicted": Colour("#9d0726", "#fe5468"),
    "mixed": Colour("#a66006", "#fdcb29"),
    "open": Colour("#545863", "#929cab"),
}
"""Verdicts that evidence gives on a statement."""


def of_term(name: str) -> Colour:
    """The colour of a term such as `word_to_word` or `word_to_position`; grey for one with segment or bias."""
    first, _, second = name.partition("_to_")
    if name in TERMS:
        return TERMS[name]
    return TERMS[first] if first == second and first in TERMS else TERMS["bias"]


def of_way(way: str) -> Colour:
    """The colour of a way of telling positions; grey for one without a hue of its own."""
    return WAYS.get(way, WAYS["none"])


DIVERGING = {
    False: ["#4f1f80", "#9a6fc0", "#dccbea", "#ffffff", "#cfe3b8", "#679637", "#2f6414"],
    True: ["#dfccf5", "#a27fd0", "#46306b", "#0e1117", "#35531a", "#78a541", "#cdeaa5"],
}
"""Violet below zero or worse, the ground at zero, green above or better; by whether the ground is dark.

Blue and orange are left to words and positions.
"""
SEQUENTIAL = {
    False: ["#ffffff", "#cddcda", "#84aca7", "#3b7a74", "#0d423e"],
    True: ["#0e1117", "#143634", "#226b66", "#4fa59e", "#c9ece8"],
}
"""Colours of a scale from the ground, at zero, to the strongest; by whether the ground is dark."""


STRONG = {False: 0.72, True: 0.545}
"""The fraction of a colour scale beyond which a cell's digits change their colour, by whether the ground is dark."""
DIGITS = {False: ("#000000", "#ffffff"), True: ("#ffffff", "#000000")}
"""The colours of digits on pale cells and on strong ones, by whether the ground is dark: as far apart as can be."""


def css_variables(*, dark: bool) -> str:
    """The colours of text, lines and parts as CSS declarations."""
    colours = {"ink": INK, "soft": SOFT, "line": LINE, "panel": PANEL, "accent": LINK, "ground": GROUND}
    colours |= {"word": TERMS["word"], "position": TERMS["position"], "good": VERDICTS["supported"]}
    return " ".join(f"--{name}: {colour.on(dark=dark)};" for name, colour in colours.items())


def verdict_variables(*, dark: bool) -> str:
    """The colours of verdicts as CSS declarations."""
    return " ".join(f"--{verdict}: {colour.on(dark=dark)};" for verdict, colour in VERDICTS.items())
