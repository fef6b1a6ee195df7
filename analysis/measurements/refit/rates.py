"""The learning rate of each arm: that of its pilot with the lowest held-out loss, as the rules say."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.core import frames
from analysis.rules.refit_rules import refit_rules

PILOTS = """
SELECT arm, learning_rate, arg_max(value, tokens) AS loss, any_value(r.config) AS config
FROM refits x JOIN runs r USING (run_id) WHERE purpose = 'pilot' AND measure = 'loss'
GROUP BY arm, learning_rate, run_id ORDER BY arm, learning_rate
"""


def chosen_rates() -> dict[str, float]:
    """Arm -> its rate, of the pilots in the store; arms of which some are missing are left out."""
    from analysis.store.read import query

    return best_rates(frames.records(query(PILOTS)))


def best_rates(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Arm -> its rate. rows: of `PILOTS`."""
    rules = refit_rules()
    losses: dict[str, dict[float, float]] = {}
    for row in rows:
        if not rules.refusal(json.loads(row["config"] or "{}")):
            losses.setdefault(row["arm"], {})[row["learning_rate"]] = row["loss"]
    complete = {arm: of for arm, of in losses.items() if set(of) >= set(rules.rates)}
    return {arm: min(of, key=lambda rate: of[rate]) for arm, of in complete.items()}
