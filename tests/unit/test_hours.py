"""Hours of one core that a run takes, against pandas over the stored runs."""

from pathlib import Path

import pytest
from judged import ask, fine_tuned

from analysis.claims.statements.hours import FINE_TUNINGS, REFITS, TRAININGS, hours_by_preset
from analysis.claims.statements.judgement import runs_to_come
from analysis.store import read


@pytest.mark.parametrize("kind", [TRAININGS, REFITS, FINE_TUNINGS])
def test_the_hours_of_a_preset_are_the_median_of_its_stored_runs(store: Path, kind: str) -> None:
    runs = read.query("SELECT preset, seconds, device, config ->> '$.purpose' AS purpose, kind FROM runs")
    runs = runs[(runs.kind == kind) & (runs.device == "cpu") & (runs.purpose != "pilot")]
    medians = runs.groupby("preset").seconds.median() / 3600
    hours = hours_by_preset(ask, kind)
    assert len(medians) > 0
    assert {preset: hours[preset] for preset in medians.index} == pytest.approx(medians.to_dict())


def test_a_width_without_any_run_is_estimated_and_a_store_without_any_tells_none(store: Path) -> None:
    hours = hours_by_preset(ask, TRAININGS)
    assert not read.query("FROM runs WHERE kind = 'curves' AND preset = 'width256'").shape[0], "its estimate can go"
    assert 2 < hours["width256"] / hours["width128"] < 4, "between the ratio of widths and its square"
    assert hours_by_preset(lambda _: [], TRAININGS) == {}
    assert runs_to_come("3 trainings more", 3, None).words == "3 trainings more"
    assert runs_to_come("3 trainings more", 3, None).hours is None


def test_an_open_statement_has_the_hours_of_the_runs_that_it_names(store: Path) -> None:
    """C10f was told with 0.3 hours an arm and seed, where the stored ones took nearly twice as long."""
    one, each = fine_tuned("C10f"), hours_by_preset(ask, FINE_TUNINGS)["surgery"]
    runs = int(one.would_decide.split(": ")[1].split()[0])
    assert one.hours == pytest.approx(runs * each)
    assert f"{runs} fine-tunings, about {one.hours:.0f} hours of one core" in one.would_decide
