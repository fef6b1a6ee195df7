"""The learning rate of each arm: that of its pilot with the lowest held-out loss, as the rules say."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analysis.core import frames
from analysis.core.errors import AddendError
from analysis.rules.refit_rules import PILOT, refit_rules

PILOTS = """
SELECT arm, learning_rate, arg_max(value, tokens) AS loss, any_value(r.config) AS config
FROM refits x JOIN runs r USING (run_id) WHERE purpose = 'pilot' AND measure = 'loss'
GROUP BY arm, learning_rate, run_id ORDER BY arm, learning_rate
"""


def rates_of(
    purpose: str, arms: Sequence[str], tried: tuple[float, ...], chosen: Callable[[], Mapping[str, float]]
) -> dict[str, tuple[float, ...]]:
    """Arm -> its rates: in a pilot all that are tried, else the one that its pilots chose.

    Raises AddendError where the pilots of an arm are missing.
    """
    if purpose == PILOT:
        return dict.fromkeys(arms, tried)
    found = chosen()
    if missing := [arm for arm in arms if arm not in found]:
        raise AddendError(
            f"The pilots that choose the rate of {missing[0]} are still to be run; run them first with "
            f"--purpose pilot --arms {','.join(missing)}."
        )
    return {arm: (found[arm],) for arm in arms}


def chosen_rates() -> dict[str, float]:
    """Arm -> its rate, of the pilots in the store; arms of which some are missing are left out."""
    from analysis.store.read import query

    return best_rates(frames.records(query(PILOTS)))


def best_rates(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Arm -> its rate. rows: of `PILOTS`."""
    return {arm: min(of, key=lambda rate: of[rate]) for arm, of in pilot_losses(rows).items()}


def pilot_losses(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[float, float]]:
    """Arm -> rate -> the held-out loss of its pilot, for arms whose pilots tried every rate. rows: of `PILOTS`."""
    rules = refit_rules()
    losses: dict[str, dict[float, float]] = {}
    for row in rows:
        if not rules.refusal(json.loads(row["config"] or "{}")):
            losses.setdefault(row["arm"], {})[row["learning_rate"]] = row["loss"]
    return {arm: of for arm, of in losses.items() if set(of) >= set(rules.rates)}
