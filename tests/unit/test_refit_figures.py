"""The figures of refitted encoders, drawn from made-up runs whose numbers can be worked out by hand."""

from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from scipy import stats
from test_findings import holds_what_a_paper_needs

from analysis import store_build
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
            losses = {0: 0.9, 500_000: 0.5, 1_000_000: end_of(arm, seed)}
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
    assert figure.finding.startswith("1,000,000 tokens of training give all-MiniLM-L6-v2 back")
    holds_what_a_paper_needs(figure)


@pytest.mark.parametrize("name", ["refit_recovered", "refit_curves"])
def test_both_are_drawn_light_and_dark(refitted: Path, name: str) -> None:
    figure = FIGURES[name].make({})
    for dark in (False, True):
        assert all(panel.to_dict() for panel in figure.draw(Theme(dark=dark)))
    assert figure.finding
    assert not figure.finding.endswith(".")
    assert "nan" not in f"{figure.finding} {figure.caption} {figure.alt}"
    assert figure.provenance["runs"].startswith(f"{len(ENDS) * len(SEEDS)} runs")
