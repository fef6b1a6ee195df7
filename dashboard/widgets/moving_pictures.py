"""Animations as components, which run in the browser alone."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from streamlit.components.v2 import component

from analysis.core.colours import css_variables
from analysis.narrative import hero


@cache
def _component(name: str, package: str) -> Callable[..., Any]:
    """A component by the name of its folder in a package: its HTML, CSS and JavaScript, as far as there are any.

    Before its own script stands `shared.js`, where the package has that.
    """

    def read(*path: str) -> str:
        file = files(package).joinpath(*path)
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    html, css, js = (read(name, f"{name}.{kind}") for kind in ("html", "css", "js"))
    return component(f"addend_{name}", html=html or None, css=css or None, js=read("shared.js") + js)


def show_component(
    name: str, key: str, data: Mapping[str, Any], *, dark: bool, package: str = "analysis.narrative", **callbacks: Any
) -> None:
    """Draws a component with data that JSON can hold; its script reads them from `data.json`, its colours from CSS.

    The data are sent as one text: of a list, Streamlit would check whether it is a table, and import pandas for that,
    which takes a second of the first page.
    """
    payload = {"colours": css_variables(dark=dark), "json": json.dumps(data)}
    _component(name, package)(key=key, data=payload, **callbacks)


def show_hero(last: hero.Stage, *, dark: bool) -> None:
    """The animation of Home. last: the fifth stage, which says what was measured."""
    stages = [asdict(stage) for stage in (*hero.STAGES, last)]
    show_component("hero", "home.hero", {"stages": stages}, dark=dark)
