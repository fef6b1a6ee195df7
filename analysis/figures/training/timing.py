"""The measured times of a training step: of which preset a page shows them, and the measurement before the newest."""

from collections.abc import Mapping

import pandas as pd

from analysis.core.formatting import percent
from analysis.store import read

WALL_CLOCK_ROUNDS = 15
"""The rounds of measurements that timed by the clock on the wall, before the settings of a run named the clock."""
TIMED = f"""
    CAST(r.config ->> 'rounds' AS INTEGER) AS rounds,
    coalesce(r.config ->> 'clock', if(rounds > {WALL_CLOCK_ROUNDS}, 'process_time', 'perf_counter')) AS clock
"""
"""The rounds and the clock of a run `r` in SQL."""


def measured_preset(preset: str) -> str:
    """The preset itself, where costs were measured with it or with none; else the one with most measurements."""
    rows = read.query(
        "SELECT preset FROM newest_costs GROUP BY preset ORDER BY preset = ? DESC, count(*) DESC, preset LIMIT 1",
        [preset],
    )
    return preset if rows.empty else str(rows.preset[0])


def newest_times(preset: str) -> pd.Series:
    """Variant -> the newest measurement of its time a step over that of the encoder that adds."""
    sql = "SELECT variant, value FROM newest_costs WHERE preset = ? AND measure = 'step_ratio'"
    return read.query(sql, [preset]).set_index("variant").value


def earlier_times(preset: str) -> pd.DataFrame:
    """The measurement of each variant's time a step before the newest: variant, value, rounds and clock."""
    return read.query(
        f"""
        SELECT c.variant, c.value, {TIMED} FROM costs c JOIN runs r USING (run_id)
        WHERE c.preset = ? AND c.measure = 'step_ratio'
        QUALIFY row_number() OVER (PARTITION BY c.variant ORDER BY r.created DESC, c.run_id) = 2
        """,
        [preset],
    )


def earlier_ratios(preset: str, baseline: str) -> Mapping[str, float]:
    """Variant -> its time a step over the baseline's, by the measurement before the newest."""
    values = earlier_times(preset).set_index("variant").value
    return (values / values[baseline]).to_dict() if baseline in values.index else {}


def ratio_range(newest: float, earlier: float | None) -> str:
    """Both measurements of a time over the baseline's, from the shorter to the longer: `1.19\N{EN DASH}1.23`."""
    ends = sorted({f"{ratio:.2f}" for ratio in (newest, earlier) if ratio is not None}, key=float)
    return "\N{EN DASH}".join(ends)


def percent_range(newest: float, earlier: float | None) -> str:
    """The distances of both measurements from the baseline's time, without their sign: `19 % to 23 %`."""
    ends = sorted(abs(ratio - 1) for ratio in (newest, earlier) if ratio is not None)
    return " to ".join(dict.fromkeys(percent(end) for end in ends))
