"""Proves that pins stand once, that tests and image install by one script, and that the image gets what it runs."""

import fnmatch
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from analysis.core import provenance
from analysis.core.default_model import PACKAGE, VERSION
from analysis.core.errors import NotInstalled
from analysis.core.optional_dependencies import FOR_MODELS, missing_packages, models_can_run

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"([A-Za-z0-9_.-]+)==([A-Za-z0-9.]+)")


def lines(name: str) -> list[str]:
    return [one for line in (ROOT / name).read_text().splitlines() if (one := line.partition("#")[0].strip())]


def pins(name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines(name):
        if line.startswith("-r "):
            more = pins(line.removeprefix("-r "))
        else:
            matched = PIN.fullmatch(line)
            assert matched, f"{name} says {line!r}; expected an exact pin"
            more = {matched[1].lower(): matched[2]}
        assert not set(found) & set(more), f"pinned twice: {set(found) & set(more)}"
        found |= more
    return found


def test_pins_stand_once_and_results_are_a_part_of_everything() -> None:
    everything, results = pins("requirements.txt"), pins("requirements-results.txt")
    assert results.items() < everything.items()
    added = {name.replace("-", "_") for name in set(everything) - set(results)}
    assert added == {*FOR_MODELS, PACKAGE.replace("-", "_")}
    assert everything[PACKAGE] == VERSION


LOCKS = {
    "requirements-results.lock": ("requirements-results.txt",),
    "requirements.lock": ("requirements.txt",),
    "tests/requirements.lock": ("requirements.txt", "tests/requirements.txt"),
}


def locked(name: str) -> dict[str, set[str]]:
    """The versions that a lock file gives of each package: more than one where they differ by machine."""
    found: dict[str, set[str]] = {}
    for entry in re.sub(r"\\\n\s*", "", (ROOT / name).read_text()).splitlines():
        if entry.strip() and not entry.lstrip().startswith("#"):
            matched = PIN.match(entry)
            assert matched, f"{name} says {entry[:80]!r}; expected an exact pin"
            assert re.search(r"--hash=sha256:[0-9a-f]{64}(\s|$)", entry), f"{name}: {matched[1]} has no hash"
            found.setdefault(matched[1].lower(), set()).add(matched[2])
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_hold_every_pin_and_no_pytorch(name: str) -> None:
    """A pin that is changed without `.ci/renew-pins` is found here."""
    wanted: dict[str, str] = {}
    for source in LOCKS[name]:
        for line in lines(source):
            if matched := PIN.match(re.sub(r"\[.*?\]", "", line)):
                wanted[matched[1].lower()] = matched[2]
    held = locked(name)
    for package, version in wanted.items():
        if package != "torch":
            assert held.get(package) == {version}, f"{name}: {package} {version}. Run .ci/renew-pins"
    assert not {"torch", "triton"} & set(held)
    assert not any(package.startswith("nvidia") for package in held)


def test_what_is_installed_is_what_is_tested() -> None:
    tested = locked("tests/requirements.lock")
    for name in ("requirements.lock", "requirements-results.lock"):
        for package, versions in locked(name).items():
            assert versions <= tested[package], package


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.M).replace("\\\n", " ")
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in text.splitlines() if line.strip()]


def kept(path: str) -> bool:
    """Whether .dockerignore lets a file through: the last pattern that fits it or a folder above it decides."""
    inside = True
    for line in lines(".dockerignore"):
        pattern = line.removeprefix("!").removeprefix("**/")
        parts = path.split("/")
        above = ["/".join(parts[: n + 1]) for n in range(len(parts))] + (parts if "**/" in line else [])
        if any(fnmatch.fnmatchcase(one, pattern) and one.count("/") == pattern.count("/") for one in above):
            inside = line.startswith("!")
    return inside


def test_the_image_is_given_what_it_runs_and_no_more() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for path in tracked:
        runs = path.startswith(("analysis/", "dashboard/", "data/", "requirements")) or path == "install.sh"
        assert kept(path) or not runs, f"{path} stays outside"
    for secret in (
        ".git/config",
        ".env",
        ".streamlit/secrets.toml",
        "data/store/addend.duckdb",
        "data/probes/a.parquet",
    ):
        assert not kept(secret), f"{secret} would come into the image"
    assert not kept("tests/run")
    assert kept(".streamlit/config.toml")


def test_the_image_installs_as_the_tests_do_and_runs_without_rights() -> None:
    steps = instructions()
    assert 'bash install.sh "$INSTALL"' in [what for step, what in steps if step == "RUN"]
    assert "bash install.sh tests" in lines("tests/run")
    assert "bash tests/run" in " ".join(lines(".ci/run"))
    users = [what for step, what in steps if step == "USER"]
    assert users == ["addend"]
    assert [step for step, _ in steps].index("USER") < steps.index(("RUN", 'bash install.sh "$INSTALL"'))
    command = next(what for step, what in steps if step == "CMD")
    for word in ("dashboard/server.py", "8501"):
        assert word in command
    assert "/_stcore/health" in next(what for step, what in steps if step == "HEALTHCHECK")


def test_an_unknown_kind_of_installation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "bin/python").chmod(0o755)
    command = f"ADDEND_VENV={shlex.quote(str(tmp_path))} bash install.sh everything"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "results, models, tests" in done.stderr


def test_what_is_not_installed_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_packages() == []
    models_can_run()
    monkeypatch.setattr("analysis.core.optional_dependencies.FOR_MODELS", ("numpy", "no_such_module"))
    monkeypatch.setattr(models_can_run.__globals__["missing_packages"], "__defaults__", (("numpy", "no_such_module"),))
    with pytest.raises(NotInstalled, match=r"no_such_module is not installed. Run: pip install -r requirements.txt"):
        models_can_run()


def test_outside_git_the_file_code_says_which_code_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    monkeypatch.setattr(provenance, "CODE", tmp_path / "CODE")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert provenance.git_sha.__wrapped__() == "unknown"
    (tmp_path / "CODE").write_text("abc123\n")
    assert provenance.git_sha.__wrapped__() == "abc123"
