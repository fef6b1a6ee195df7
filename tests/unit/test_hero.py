"""The words of the drawing on Home say what its matrices do: each stage against numpy's own algebra."""

import numpy as np

from analysis.narrative.hero import STAGES


def test_tying_costs_nothing_for_one_matrix_and_something_for_several() -> None:
    """W2 p = W p' has a solution p' for the drawing's matrix of six rows and eight columns, for three of them none."""
    rng = np.random.default_rng(0)
    own, shared = rng.standard_normal((3, 6, 4)), rng.standard_normal((3, 6, 8))
    position = rng.standard_normal(4)

    def error(matrices: int) -> float:
        left, right = shared[:matrices].reshape(-1, 8), own[:matrices].reshape(-1, 4) @ position
        other, *_ = np.linalg.lstsq(left, right, rcond=None)
        return float(np.abs(left @ other - right).max())

    assert error(1) < 1e-12, "one query is as free as before"
    assert error(3) > 0.1
    (tie,) = [stage for stage in STAGES if stage.label == "Tie"]
    assert "one position vector must now suit every matrix" in tie.says
