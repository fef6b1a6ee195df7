"""The file that Home is drawn from at first: what the store says, as long as the results are the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.narrative import front_page
from analysis.narrative.answer import cards

ROOT = Path(__file__).parents[2]


@pytest.mark.usefixtures("store")
def test_the_committed_file_says_what_the_store_says() -> None:
    kept = front_page.load_saved()
    assert kept is not None, "results or rules have changed: run python -m analysis answer --keep"
    assert kept == cards.front_page(), "the answer has changed: run python -m analysis answer --keep"


@pytest.mark.usefixtures("store")
def test_the_change_of_a_row_is_the_difference_from_the_row_that_it_is_indented_under() -> None:
    before: list[front_page.WayOfTelling] = []
    judged = 0
    for way in cards.front_page().ways:
        before = before[: way.changes]
        if way.last_change is not None:
            difference = way.difference - before[-1].difference
            assert way.last_change.difference == pytest.approx(difference, abs=0.05), "its seeds may be others"
            judged += way.last_change.standing != "open"
            size = way.last_change.difference
            held = {"lower": size < -0.05, "higher": size > 0.05, "same": abs(size) < 0.05}
            assert held.get(way.last_change.standing, True)
        before.append(way)
    assert judged > 5


def test_what_was_written_is_read_back_until_the_results_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "SHA256SUMS").write_text("1  results/scores/a.parquet")
    monkeypatch.setenv("ADDEND_DATA", str(data))
    monkeypatch.setattr(front_page, "FILE", tmp_path / "front_page.json")
    assert front_page.load_saved() is None
    page = front_page.FrontPage(
        steps=(),
        ways=(
            front_page.WayOfTelling(
                name="a", changes=1, quoted=True, difference=-0.2, low=-0.3, high=-0.1, seeds=8, steps=900
            ),
        ),
        cards=(
            front_page.Card(
                kind="open", sentence="s", link="l", page="claims", values={"by": "verdict"},
                bars=(front_page.Bar(name="open", value=0.5, text="1", strong=True),),
            ),
            front_page.Card(
                kind="measured", sentence="s", link="l", page="read",
                curve=front_page.SimilarityCurve(
                    kept=(1, 14), values=(0.8, 0.9), marked=14, random=((5, 0.7),), trained=0.9, without=0.8
                ),
            ),
        ),
        apart=front_page.Separated(rank=14, width=384, intact=0.9, separated=0.8),
        minutes=12,
    )  # fmt: skip
    front_page.save(page)
    assert front_page.load_saved() == page
    (data / "probes").mkdir()
    (data / "probes" / "reader.parquet").write_bytes(b"a reader's own")
    assert front_page.load_saved() == page, "what readers save says nothing of the answer"
    written = json.loads(front_page.FILE.read_text())
    front_page.FILE.write_text(json.dumps({"checksums": written["checksums"]}))
    assert front_page.load_saved() is None, "a broken file is as none"
    front_page.save(page)
    (data / "SHA256SUMS").write_text("2  results/scores/a.parquet")
    assert front_page.load_saved() is None
    (data / "SHA256SUMS").unlink()
    assert front_page.load_saved() is None, "a folder of somebody's own has no committed answer"


def test_the_front_page_imports_nothing_that_takes_long() -> None:
    code = (
        "import sys; import dashboard.widgets.home_page, dashboard.widgets.opening, analysis.narrative.front_page; "
        "print({'pandas', 'duckdb', 'altair', 'scipy', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
