"""The moving pictures, as components: what a reader does to them never goes to the server."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from streamlit.components.v2 import component

from analysis.core.colours import css_variables
from analysis.narrative import hero, shift

_hero, _shift = (
    component(f"addend_{name}", **{kind: picture.asset(f"{name}.{kind}") for kind in ("html", "css", "js")})
    for name, picture in (("hero", hero), ("shift", shift))
)


def show_hero(last: hero.Stage, *, dark: bool) -> None:
    """The picture of Home. last: the fifth stage, which says what was measured."""
    stages = [asdict(stage) for stage in (*hero.STAGES, last)]
    _hero(key="home.hero", data={"colours": css_variables(dark=dark), "stages": stages})


def show_shift(picture: Mapping[str, Any], *, dark: bool) -> None:
    """The picture of the tour. picture: as `analysis.narrative.shift.picture` gives it."""
    _shift(key="read.shift", data={"colours": css_variables(dark=dark), **picture})
