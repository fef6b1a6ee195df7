"""Proves that the package holds all that a reader needs: built as a wheel, it runs where there is no checkout."""

import email
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the wheel, as pip would lay them out."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def run(unpacked: Path, home: Path, *arguments: str) -> str:
    """What `addend` says from the wheel's files alone: nothing of this checkout is on the path or in the folder."""
    home.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ADDEND_")}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "dashboard", *arguments],
        cwd=home,
        env={**environment, "PYTHONPATH": str(unpacked), "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wheel_answers_the_question_and_leaves_its_own_files_alone(unpacked: Path, tmp_path: Path) -> None:
    before = sorted(path for path in unpacked.rglob("*") if "__pycache__" not in path.parts)
    assert "A concatenation that a matrix follows is already a sum" in run(unpacked, tmp_path / "home", "answer")
    assert sorted(path for path in unpacked.rglob("*") if "__pycache__" not in path.parts) == before
    (store,) = (tmp_path / "home" / ".local" / "share" / "addend").glob("*/store/addend.duckdb")
    assert store.is_file()
    figure = tmp_path / "heat.svg"
    run(unpacked, tmp_path / "home", "export", "http://localhost:8501/encodings?dim=64", "-o", str(figure))
    assert figure.read_text(encoding="utf-8").lstrip().startswith("<svg")


def test_the_wheel_holds_the_results_and_no_readers_data(unpacked: Path) -> None:
    bundle = unpacked / "analysis" / "bundled_data"
    listed = [line.split("  ")[1] for line in (bundle / "SHA256SUMS").read_text(encoding="utf-8").splitlines()]
    assert all((bundle / name).is_file() for name in listed)
    assert not [name for name in ("store", "unfinished", "imported") if (bundle / name).exists()]
    assert all(path.name.startswith("example-") for path in (bundle / "probes").iterdir())


def test_the_metadata_names_the_pins_and_the_command(unpacked: Path) -> None:
    (about,) = unpacked.glob("*.dist-info")
    metadata = email.message_from_string((about / "METADATA").read_text(encoding="utf-8"))
    asked = metadata.get_all("Requires-Dist") or []
    for name, extra in (("requirements-results.txt", ""), ("requirements-models.txt", "models")):
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                assert [one for one in asked if one.startswith(line) and (extra in one)], f"{line} of {name}"
    assert "addend = dashboard.__main__:main" in (about / "entry_points.txt").read_text(encoding="utf-8")


def test_the_dashboard_has_the_checkouts_settings() -> None:
    """Every one but whether there is a screen, which Streamlit finds out where it is started."""
    from streamlit import config

    from dashboard.__main__ import streamlit_settings

    values = streamlit_settings()
    assert values["client.showErrorDetails"] == "none"
    assert values["server.maxMessageSize"] == 30
    assert "server.headless" not in values
    assert {name for name in values if name not in config._config_options_template} == set()
