"""Proves that an installation without PyTorch shows what is stored, and says on live pages what is missing.

A process of its own refuses to import what models need, as if it were not installed, and opens every page without the
model's package, then with it those that asked for it; nothing else can differ. `python -m tests.app.test_results_only`
does so by hand, in an environment made by `install.sh results`.
"""

import json
import subprocess
import sys
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
SAYS = "holds stored results only"


class Absent(MetaPathFinder):
    """What is refused is not there."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname.split(".")[0] in REFUSED:
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
    sys.meta_path.insert(0, Absent())
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
    for page in asked:
        path, link = OPENINGS[page]
        told["with"][page] = said_of(opened(path, **link))
    assert not set(REFUSED) & {name.split(".")[0] for name in sys.modules}
    return told


@pytest.fixture(scope="module")
def told() -> dict[str, Said]:
    """What `every_page` gives in a process of its own."""
    command = [sys.executable, "-m", "tests.app.test_results_only"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("package", ["without", "with"])
def test_every_page_without_what_models_need(told: dict[str, Said], package: str) -> None:
    said = told["without"] | told[package]
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
    print(json.dumps(every_page()))
