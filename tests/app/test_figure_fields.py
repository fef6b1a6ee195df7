"""Proves that a page hands a figure all of its values, and that a figure is made anew only for those it declares."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from analysis.core.errors import AddendError
from analysis.figures import FIGURES, stored_figure
from analysis.figures.training import trainings
from analysis.links import VIEWS, Value
from analysis.store.read import query
from tests.app.shown import PAGES, opened

STORED = [
    (page, name)
    for page in PAGES
    for name in VIEWS[page].figures
    if not FIGURES[name].live and FIGURES[name].parameters.model_fields
]
"""Figures of stored results whose content depends on the link."""
EARLIER = (
    "training_parts", "training_settings", "training_advantage", "training_costs", "training_costs_others",
)  # fmt: skip
"""Figures that the preset of the page has no results for; the one before has."""
OTHER: dict[type, Any] = {str: "made up", int: 3, bool: True, tuple: ("made up",)}


def changed(values: dict[str, Value], names: set[str]) -> dict[str, Value]:
    return values | {name: OTHER[type(values[name])] for name in names}


def first_run() -> str:
    return str(query("SELECT min(run_id) AS run FROM curves").run[0])


@pytest.mark.parametrize(("page", "name"), STORED)
def test_a_figure_is_made_anew_only_for_the_fields_it_declares(page: str, name: str) -> None:
    values = VIEWS[page].defaults()
    usual = {"runs_curve": {"run": first_run()}, "training_loss_and_cost": {"preset": "width128"}}
    values |= {**usual, **{key: {"preset": "cpu"} for key in EARLIER}}.get(name, {})
    declared = set(FIGURES[name].parameters.fields(values).values())
    assert declared <= set(values), "a parameter of a figure is a field of its page's link"
    figure = stored_figure(name, values)
    assert stored_figure(name, changed(values, set(values) - declared)) is figure
    for field in declared:
        try:
            other = stored_figure(name, changed(values, {field}))
        except AddendError:
            continue  # Made anew, and refused.
        assert other is not figure, f"{field} is not a part of what the figure is kept by"


@pytest.mark.parametrize("part", ["scores", "parts", "length", "convergence"])
def test_a_baseline_of_another_part_does_not_change_these_runs_verdict(part: str) -> None:
    """A link keeps the baseline of the parts that compare; the verdict is by the usual one on all of them."""

    def verdict(app: AppTest) -> list[str]:
        return [text.value for text in app.markdown if "Final validation loss in nats" in text.value]

    usual = opened("experiments", part=part)
    assert verdict(usual) == verdict(opened("experiments", part=part, baseline="tupe_a")) != []


@pytest.mark.parametrize(
    ("page", "parts", "link"),
    [
        ("experiments", ("curves", "gap"), {"baseline": "tupe_a", "axis": "tokens"}),
        ("geometry", ("subspaces", "ranks"), {"dim": "64", "word": "word"}),
    ],
)
def test_an_address_keeps_the_fields_of_parts_that_are_not_shown(
    page: str, parts: tuple[str, str], link: dict[str, str]
) -> None:
    app, default = opened(page, part=parts[0], **link), VIEWS[page].defaults()["part"]
    for part in (parts[1], parts[0], parts[1]):
        app.segmented_control(key=f"{page}.part").set_value(part)
        app.run()
        assert not app.exception
        address = {name: "".join(app.query_params.get(name, "")) for name in ("part", *link)}
        assert address == {"part": "" if part == default else part, **link}


def test_trainings_are_read_once_for_an_opening(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, built: Path) -> None:
    store = tmp_path / "addend.duckdb"
    shutil.copyfile(built, store)
    monkeypatch.setenv("ADDEND_STORE", str(store))
    recipes: list[dict[str, Any]] = []
    recipe_of = trainings.recipe_of
    monkeypatch.setattr(trainings, "recipe_of", lambda config: recipes.append(config) or recipe_of(config))
    opened("experiments", part="convergence")
    assert len(recipes) == len(trainings.index()) > 100
