"""The moving pictures, as components: what a reader does to them never goes to the server."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from streamlit.components.v2 import component

from analysis.core.colours import css_variables
from analysis.narrative import hero


@cache
def browser_component(name: str, package: str = "analysis.narrative") -> Callable[..., Any]:
    """A component by the name of its folder in a package, which holds its HTML, CSS and JavaScript."""
    folder = files(package) / name
    html, css, js = ((folder / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    return component(f"addend_{name}", html=html, css=css, js=js)


def show_hero(last: hero.Stage, *, dark: bool) -> None:
    """The picture of Home. last: the fifth stage, which says what was measured."""
    stages = [asdict(stage) for stage in (*hero.STAGES, last)]
    browser_component("hero")(key="home.hero", data={"colours": css_variables(dark=dark), "stages": stages})


def show_shift(picture: Mapping[str, Any], *, dark: bool) -> None:
    """The picture of the tour. picture: as `analysis.narrative.shift.picture` gives it."""
    browser_component("shift")(key="read.shift", data={"colours": css_variables(dark=dark), **picture})
