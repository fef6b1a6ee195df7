"""The figures of refitted encoders, drawn from made-up runs whose numbers can be worked out by hand."""

import re
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from drawn_values import valid_panels
from scipy import stats
from test_findings import LONGEST, holds_what_a_paper_needs

from analysis import store_build
from analysis.claims.statements.refitted import RefitRun
from analysis.figures import FIGURES
from analysis.figures.drawing import Theme
from analysis.figures.experiments import refit
from analysis.rules.refit_rules import refit_rules
from analysis.store.files import Run, write_rows

ENDS = {"minilm_intact": 0.02, "minilm_no_position": 0.28, "minilm_rotary": 0.08, "minilm_permuted": 0.12}
RULES = refit_rules()
SEEDS = RULES.purposes["judged"].seeds


def end_of(arm: str, seed: int) -> float:
    return ENDS[arm] + 0.001 * (crc32(f"{arm} {seed}".encode()) % 5)


@pytest.fixture
def refitted(data: Path) -> Path:
    """Every seed of four arms."""
    for arm in ENDS:
        for seed in SEEDS:
            shared = {"arm": arm, "purpose": "judged", "seed": seed, "learning_rate": 3e-4}
            # Seeds read texts in another order, and so another number of tokens before each evaluation.
            losses = {0: 0.9, 500_000 + seed: 0.5, 1_000_000: end_of(arm, seed)}
            rows = [{**shared, "measure": "loss", "tokens": tokens, "value": loss} for tokens, loss in losses.items()]
            for measure, value in (("order", 0.5 if "no_position" in arm else 0.9), ("stsb", 0.86)):
                rows.append({**shared, "measure": measure, "tokens": 1_000_000, "value": value + 0.001 * seed})
            config = {"began": "2999-01-01T00:00:00Z", "rules": RULES.manifest()}
            about = {"command": "made up", "model": "all-MiniLM-L6-v2", "revision": "r", "variant": arm, "seed": seed}
            write_rows(rows, Run(kind="refits", config=config, **about))
    assert store_build.refresh().problems == []
    return data


def test_what_is_recovered_lies_between_no_position_and_the_intact_encoder(refitted: Path) -> None:
    assert refit.is_stored()
    figure = FIGURES["refit_recovered"].make({})
    frame = figure.frame().set_index("arm")
    assert frame.value["minilm_intact"] == 1
    assert frame.value["minilm_no_position"] == 0
    shares = [
        (end_of("minilm_no_position", seed) - end_of("minilm_rotary", seed))
        / (end_of("minilm_no_position", seed) - end_of("minilm_intact", seed))
        for seed in SEEDS
    ]
    assert frame.value["minilm_rotary"] == pytest.approx(np.mean(shares))
    expected = stats.t.interval(0.95, len(SEEDS) - 1, np.mean(shares), stats.sem(shares))
    assert (frame.low["minilm_rotary"], frame.high["minilm_rotary"]) == pytest.approx(expected)
    assert frame.index[0] == "minilm_intact"
    assert figure.finding.startswith("After more training, all-MiniLM-L6-v2")
    holds_what_a_paper_needs(figure)


def add_pilots(losses: dict[str, float]) -> None:
    """Pilots of arms at every rate, of which the least loss is the one given."""
    for arm, least in losses.items():
        for rate in RULES.rates:
            shared = {"arm": arm, "purpose": "pilot", "seed": 100, "learning_rate": rate}
            row = {**shared, "measure": "loss", "tokens": 125_000, "value": least + (rate != RULES.rates[1])}
            about = {"command": "made up", "model": "all-MiniLM-L6-v2", "revision": "r", "variant": arm, "seed": 100}
            config = {"began": "2999-01-01T00:00:00Z", "rules": RULES.manifest()}
            write_rows([row], Run(kind="refits", config=config, **about))
    assert store_build.refresh().problems == []


def test_a_pilot_stands_between_those_of_no_position_and_of_the_intact_encoder(refitted: Path) -> None:
    """Each at the best of its rates; an arm that is trained under the rules keeps its own number before its pilot's."""
    losses = {"minilm_intact": 0.0, "minilm_no_position": 0.4, "minilm_untied": 0.1, "minilm_rotary": 0.3}
    add_pilots(losses)
    figure = FIGURES["refit_recovered"].make({})
    pilots = figure.frame().set_index("arm").pilot.dropna().to_dict()
    assert pilots == pytest.approx({arm: 1 - loss / 0.4 for arm, loss in losses.items()})
    shown = FIGURES["refit_pilots"].make({})
    assert shown.frame().set_index("arm").pilot.to_dict() == pytest.approx({"minilm_untied": 0.75}), (
        "an arm that is trained under the rules keeps its own number before its pilot's"
    )
    (panel,) = valid_panels(shown)
    assert "75 %" in {text for frame in panel["datasets"] if "written" in frame for text in frame.written}
    assert not any(refit.way("minilm_untied") in str(panel) for panel in valid_panels(figure))


def test_controls_are_drawn_by_their_pilots_until_they_are_trained_and_said_to_recover_nothing_only_where_they_do(
    refitted: Path,
) -> None:
    add_pilots({"minilm_intact": 0.0, "minilm_no_position": 0.4, "minilm_separated_at_random": 0.41})
    figure = FIGURES["refit_recovered"].make({})
    panel, order = valid_panels(figure)
    written = [text for frame in panel["datasets"] if "written" in frame for text in frame.written]
    assert "\N{MINUS SIGN}2 %\npilot, 1 seed" in written
    assert not any("pilot" in str(text) for frame in order["datasets"] if "written" in frame for text in frame.written)
    assert "next to nothing" not in figure.caption, "positions exchanged recover more than half here"
    frame = refit.recovered_rows(refit.stored_runs(RULES), RULES, refit._pilot_shares(RULES))
    assert frame.set_index("arm").value["minilm_permuted"] > 0.5
    assert "next to nothing" in refit._what_controls_show(frame[frame.arm != "minilm_permuted"], RULES)


def test_what_lacks_seeds_is_hollow_and_rows_count_them(refitted: Path) -> None:
    """With every seed stored nothing is hollow."""
    rules, runs = RULES, refit.stored_runs(RULES)
    for kept, count in ((SEEDS, len(SEEDS)), (SEEDS[:1], 1)):
        frame = refit.recovered_rows({arm: {seed: of[seed] for seed in kept} for arm, of in runs.items()}, rules, {})
        drawn = str([panel.to_dict() for panel in refit._draw(frame, rules, Theme())])
        assert ("hollow: fewer than" in drawn) == ("'filled': False" in drawn) == (count < len(SEEDS))
        rows = re.search(rf" %\\n{count} of {len(SEEDS)} seeds", drawn)
        once = drawn.count(f"{len(SEEDS)} seeds") == 1 and f"; {len(SEEDS)} seeds" in drawn
        assert rows if count < len(SEEDS) else once, "the usual number stands once, above the rows"
        assert ("±" in drawn) == (count > 1)


def test_an_arm_that_is_still_to_be_trained_is_named_in_the_caption_and_has_no_row(refitted: Path) -> None:
    figure = FIGURES["refit_recovered"].make({})
    frame = figure.frame().set_index("arm")
    assert set(frame.index) == set(RULES.purposes["judged"].arms)
    untrained = frame[~frame.index.isin(list(ENDS))]
    assert set(untrained.missing) == {len(SEEDS)}
    assert untrained[["value", "order"]].isna().all(axis=None)
    assert list(frame.index[: len(ENDS)]) == sorted(ENDS, key=ENDS.__getitem__), "trained arms first, the best on top"
    assert f"{len(SEEDS) * len(untrained)} of {len(SEEDS) * len(frame)} trainings are still to be run" in figure.caption
    assert f"{len(untrained)} of {len(frame)} ways are not trained under the rules yet: " in figure.caption
    assert all(way[1:] in figure.caption for way in untrained.way)
    drawn = str([panel.to_dict() for panel in figure.draw(Theme())])
    assert not any(way in drawn for way in untrained.way)


@pytest.mark.parametrize("best", RULES.purposes["judged"].arms)
def test_the_finding_is_short_enough_whichever_arm_recovers_most(best: str) -> None:
    """Also while one arm is trained alone, and while all others but one are."""
    arms = RULES.purposes["judged"].arms
    run = RefitRun("r", losses={1_000_000: 0.1}, last={"order": 0.9, "stsb": 0.8})
    ends = {RULES.control: 0.02, RULES.floor: 0.28, best: 0.05}
    for others in ((), [arm for arm in arms if arm not in ends][1:]):
        runs = {arm: {0: replace(run, losses={1_000_000: ends.get(arm, 0.2)})} for arm in (*ends, *others)}
        for pilots in ({}, {arm: -0.05 * number for number, arm in enumerate(arms)}):
            assert len(refit.finding(refit.recovered_rows(runs, RULES, pilots), RULES)) <= LONGEST


def test_the_curve_of_an_arm_has_one_point_for_each_evaluation(refitted: Path) -> None:
    panel = str([panel.to_dict() for panel in FIGURES["refit_curves"].make({}).draw(Theme())])
    assert panel.count(f"'tokens': {500_000 + np.mean(SEEDS)}") == len(ENDS)


@pytest.mark.parametrize("name", ["refit_recovered", "refit_curves"])
def test_both_are_drawn_light_and_dark(refitted: Path, name: str) -> None:
    figure = FIGURES[name].make({})
    for dark in (False, True):
        assert valid_panels(figure, Theme(dark=dark))
    assert figure.finding
    assert not figure.finding.endswith(".")
    assert "nan" not in f"{figure.finding} {figure.caption} {figure.alt}"
    assert figure.provenance["runs"].startswith(f"{len(ENDS) * len(SEEDS)} runs")
