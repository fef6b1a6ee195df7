"""Proves that an installation without PyTorch shows what is stored, and says on live pages what is missing.

A process of its own refuses to import what models need, as if it were not installed. It opens every page without the
model's package, then with it those that asked for it; nothing else can differ. Then it draws every stored figure as its
page first shows it; code of figures may not even ask for such a module. `python -m tests.app.test_results_only` does so
by hand, in an environment made by `install.sh results`.
"""

import json
import os
import subprocess
import sys
import traceback
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from analysis.links import GLACIERS
from tests.app.shown import PAGES, shown

ROOT = Path(__file__).parents[2]
REFUSED = ("torch", "transformers", "tokenizers", "huggingface_hub", "httpx2", "sentence_transformers")
OPENINGS: dict[str, tuple[str, dict[str, str]]] = {page: (page, {}) for page in PAGES} | {
    "many texts": ("inside", {"over": "corpus"}),
    "many texts by layer": ("inside", {"tab": "layers", "over": "corpus", "look": "heads"}),
    "layers": ("inside", {"tab": "layers"}),
    "encodings": ("choose", {"look": "values"}),
    "published": ("experiments", {"part": "published"}),
    "positions": ("inside", {"tab": "positions", "look": "map", "text": GLACIERS}),
    "images": ("inside", {"tab": "layers", "image": "scene"}),
    "image": ("inside", {"tab": "scores", "image": "scene"}),
    "heads by distance": ("inside", {"tab": "positions"}),
    "change": ("inside", {"tab": "change"}),
    "without positions": ("inside", {"tab": "change", "look": "order"}),
    "similarity": ("inside", {"tab": "similarity"}),
    "compared": ("inside", {"layer2": "3"}),
    "another change": ("inside", {"tab": "change", "do": "swap_positions"}),
    "compared texts": ("inside", {"text2": "Cats sleep."}),
}
"""Every page, and the views of Look inside: name -> page and link."""
LIVE = ("another change", "compared texts")
FIGURE_CODE = "/analysis/figures/"
SAYS = "holds stored results only"


class Absent(MetaPathFinder):
    """What is refused is not there. What code of figures asked for is remembered, even where it goes on without."""

    def __init__(self) -> None:
        self.asked_by_figures: set[str] = set()

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname.split(".")[0] in REFUSED:
            if any(FIGURE_CODE in frame.filename for frame in traceback.extract_stack()):
                self.asked_by_figures.add(fullname)
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def board(app: Any) -> list[Any]:
    """The maps of scores, which a component draws."""
    return [one for one in app.get("bidi_component") if one.proto.component_name.endswith("score_maps")]


Said = dict[str, dict[str, list[str]]]
"""Page -> kind of element -> what the page says in such elements."""


def said_of(app: Any) -> dict[str, list[str]]:
    """What a page says, by kind of element."""
    kinds = ("exception", "error", "warning", "info", "caption")
    said = {kind: [str(one.value) for one in getattr(app, kind)] for kind in kinds}
    said["charts"] = [str(len(app.get("vega_lite_chart")) + len(board(app)))]
    return said | {"html": [block.value for block in app.get("html")]}


def every_page() -> dict[str, Said]:
    """What the pages say: all of them `without` the model's package, and `with` it those that asked for it."""
    from analysis import store_build
    from analysis.core import default_model
    from tests.app.shown import opened

    installed, asked = default_model.distribution, set[str]()
    told: dict[str, Said] = {"without": {}, "with": {}}
    for page, (path, link) in OPENINGS.items():

        def none(package: str, page: str = page) -> None:
            asked.add(page)
            raise PackageNotFoundError(package)

        default_model.distribution = none  # type: ignore[assignment]
        told["without"][page] = said_of(opened(path, **link))
    default_model.distribution = installed
    store_build.is_current = lambda: True  # The store that the first page built lacks the model alone.
    for page in asked:
        path, link = OPENINGS[page]
        told["with"][page] = said_of(opened(path, **link))
    return told


def stored_figures() -> list[str]:
    """Builds and draws every figure that needs no live model, as its page first shows it; their names."""
    from analysis.core.errors import NoResults
    from analysis.figures import FIGURES, Figure, drawing, stored_figure
    from analysis.links import VIEWS

    names = [(name, view) for view in VIEWS.values() for name in view.figures if not FIGURES[name].live]
    drawn: list[Figure] = []
    for name, view in names:
        try:
            figure = stored_figure(name, view.defaults())
        except NoResults:  # Nothing of the kind is committed; the figure's own tests make some up.
            continue
        if not any(figure is other for other in drawn):  # Some are on several pages in one state.
            assert len(figure.frame()), name
            assert drawing.panels(figure), name
            drawn.append(figure)
    return [name for name, _ in names]


def without_models() -> dict[str, Any]:
    """What the pages say, the stored figures, and what figures asked for of what models need."""
    absent = Absent()
    sys.meta_path.insert(0, absent)
    told = {"pages": every_page(), "figures": stored_figures(), "asked for": sorted(absent.asked_by_figures)}
    assert not set(REFUSED) & {name.split(".")[0] for name in sys.modules}
    return told


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `without_models` gives in a process of its own, which builds a store of its own."""
    command = [sys.executable, "-m", "tests.app.test_results_only"]
    environment = {**os.environ, "ADDEND_STORE": str(tmp_path_factory.mktemp("results-only") / "addend.duckdb")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_stored_figures_ask_for_nothing_that_models_need(told: dict[str, Any]) -> None:
    from analysis.figures import FIGURES
    from analysis.links import VIEWS

    assert told["asked for"] == []
    assert told["figures"] == [name for view in VIEWS.values() for name in view.figures if not FIGURES[name].live]
    assert {"terms_heads", "terms_aggregates", "encoding_heat", "published_scores"} <= set(told["figures"])


@pytest.mark.parametrize("package", ["without", "with"])
def test_every_page_without_what_models_need(told: dict[str, Any], package: str) -> None:
    said = told["pages"]["without"] | told["pages"][package]
    assert set(said) == set(OPENINGS)
    for page, kinds in said.items():
        assert not kinds["exception"], (page, kinds["exception"])
        notes = [text for text in map(shown, kinds["info"]) if SAYS in text]
        assert bool(notes) == (page in LIVE), (page, kinds)
        assert all("pip install" in text and "requirements.txt" in text for text in notes)
        assert not kinds["error"], (page, kinds["error"])
        assert not kinds["warning"], (page, kinds["warning"])
    assert "is already a sum" in " ".join(said[""]["html"]), "Home gives its answer"
    stored = ("encodings", "published", "inside", "many texts", "many texts by layer", "layers", "positions", "images")
    opening = ("heads by distance", "change", "without positions", "similarity", "compared")
    for page in (*stored, *opening):
        assert int(said[page]["charts"][0]) > 0, f"{page!r} draws nothing that is stored"
    about_tables = [text for text in said["encodings"]["info"] if "--no-deps" in text]
    assert bool(about_tables) == (package == "without")


if __name__ == "__main__":
    print(json.dumps(without_models()))
