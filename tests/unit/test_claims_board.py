"""The page Claims as data: every claim and statement once, with the stored verdict and number, on a turned strip."""

import csv
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from judged import behind_another, statement
from scipy.special import stdtrit

from analysis.ablation.variants import VARIANTS
from analysis.claims.statements import deciding, rows as readings, stored
from analysis.claims.statements.judgement import CONTRADICTED, MIXED, OPEN, SUPPORTED
from analysis.core.formatting import SUPERSCRIPT
from analysis.figures import FIGURES
from analysis.figures.claims.board import board, details
from analysis.figures.claims.size import PRINTED, UNITS, size
from analysis.figures.claims.strip import SEVERAL, TURNED, decided_at, strip
from analysis.narrative.reading import ordered as tour_steps
from analysis.rules import encoder_rules, fact_checks
from analysis.store import read

pytestmark = pytest.mark.usefixtures("store")
AGAINST = deciding.AGAINST
TOLD_AS_OTHERS = ("share of sampled words that no position moves so",)
"""Units whose number counts what does not happen and is printed as what does."""
DIGITS = {after: before for before, after in SUPERSCRIPT.items()}
LONGEST_UNIT = 44
"""Letters that fit beside a strip, in two lines."""
LONGEST_SHORT = 26
LONGEST_IN_ROW = 28
"""Letters of a number in a row, which what it rests on follows."""


@pytest.fixture
def claims() -> list[dict]:
    return [claim for group in board().content["groups"] for claim in group["claims"]]


def test_every_claim_and_every_statement_stands_once(claims) -> None:
    parents = read.query("SELECT DISTINCT parent FROM statements ORDER BY parent").parent.tolist()
    assert sorted(claim["id"] for claim in claims) == parents, "one whose statements were withdrawn is in the log alone"
    assert set(parents) <= set(read.query("SELECT id FROM headings").id)
    ids = [one["id"] for claim in claims for one in claim["statements"]]
    assert sorted(ids) == read.query("SELECT id FROM statements ORDER BY id").id.tolist()
    assert all(one["id"].startswith(claim["id"]) for claim in claims for one in claim["statements"])
    questions = {heading.id: stored.questions()[heading.question] for heading in stored.headings()}
    assert all(questions[one["id"]] == group["title"] for group in board().content["groups"] for one in group["claims"])


def test_the_board_is_json(claims) -> None:
    assert json.loads(json.dumps(board().content, allow_nan=False))["counts"] == stored.counts()
    for claim in claims:
        assert set(json.loads(json.dumps(details(claim["id"]), allow_nan=False))) == {
            one["id"] for one in claim["statements"]
        }


def number_of(text: str) -> float:
    """The number that a printed one says, percents and points as fractions."""
    digits, _, power = re.sub(r" (%|points|×)$", "", text.replace("−", "-").replace(",", "")).partition("·10")
    value = float(digits) * 10 ** int(power.translate(DIGITS) or 0)
    return value / 100 if text.endswith(("%", "points")) else value


def test_number_side_and_verdict_of_every_statement_are_the_stored_ones(claims) -> None:
    rows = read.query("SELECT * FROM statements").astype(object)
    by_id = {row.id: row for row in rows.where(rows.notna(), None).itertuples()}
    for one in (one for claim in claims for one in claim["statements"]):
        row = by_id[one["id"]]
        assert (one["verdict"], one["text"], one["would_decide"]) == (row.verdict, row.statement, row.would_decide)
        if row.effect is None:
            assert (one["number"], one["strip"]) == ("", None), row.id
            continue
        if row.id in TURNED:
            row = row._replace(effect=-row.effect)
        shown = number_of(one["number"])
        if row.unit in TOLD_AS_OTHERS:
            shown = 1 - shown
        rounding = 0.0051 if abs(row.effect) >= 0.095 else 0.00051
        assert shown == pytest.approx(row.effect, rel=0.06, abs=rounding), row.id
        assert math.copysign(1, shown) == math.copysign(1, row.effect) or abs(row.effect) < rounding, row.id
        assert one["strip"] is not None, row.id
        above, below = (row.lower is None or row.effect > row.lower), (row.upper is None or row.effect < row.upper)
        if row.effect not in (row.lower, row.upper):
            # Version 2 contradicts "the same" by an interval beyond zero, though its middle may lie within the margin.
            leaves_zero = (row.rules_version, row.verdict, row.expect) == (2, CONTRADICTED, "the same")
            right = (above and below and not leaves_zero) != bool(row.opposes)
            assert (one["strip"]["value"] > 0) == right, row.id


def test_readings_that_hold_are_counted_where_a_statement_rests_on_several(claims) -> None:
    counted = read.query(
        "SELECT id, kind, quantifier, count(*) FILTER (standing = 'holds') AS holding, count(*) AS readings, "
        "list(source) FILTER (standing = 'fails') AS failing FROM readings "
        "JOIN statements USING (id) WHERE kind IN ('rows', 'published') GROUP BY ALL HAVING count(*) > 1"
    )
    expected = {row.id: f"{row.holding} of {row.readings} hold" for row in counted.itertuples()}
    for row in counted[counted.kind == "rows"].itertuples():
        if row.holding == row.readings - 1 and isinstance(row.failing, np.ndarray):
            expected[row.id] += f", not {row.failing[0]}"
    shown = {one["id"]: one["held"] for claim in claims for one in claim["statements"] if one["held"]}
    assert shown == expected
    assert len(expected) > 20


def test_a_decided_statement_lies_whole_on_its_side_of_the_line() -> None:
    """All stored statements with an interval; `most` may be supported though the hardest of its readings fails."""
    tested = 0
    for one in stored.statements():
        places = strip(one)
        if places is None or one.verdict not in (SUPPORTED, CONTRADICTED) or one.quantifier == "most":
            continue
        right = one.verdict == SUPPORTED if one.aside else deciding.bearing(one) == deciding.FOR
        ends = (places.value, places.value) if places.low is None else (places.low, places.high)
        if right and places.far is not None and places.low is not None and one.seeds and one.rules_version > 2:
            # Two one-sided tests of 5 % decide "the same": their interval is the one of 90 %.
            shrunk = stdtrit(one.seeds - 1, 0.95) / stdtrit(one.seeds - 1, 0.975)
            ends = tuple(places.value + shrunk * (end - places.value) for end in ends)
        assert min(ends) >= 0 if right else max(ends) <= 0, (one.id, places)
        assert not right or places.far is None or max(ends) <= places.far, (one.id, places)
        tested += places.low is not None
    assert tested > 30


def test_places_are_a_linear_image_of_the_numbers() -> None:
    """Within one bound, distances on the strip keep their ratios, and nothing lies beyond its ends."""
    for one in stored.statements():
        places = strip(one)
        if places is None:
            continue
        lines = [end for end in (places.low, places.high, places.far) if end is not None]
        every = [places.value, *places.others, *lines]
        assert max(map(abs, every)) == pytest.approx(float(any(every))), one.id
        assert places.low is None or places.low <= places.value <= places.high, one.id
        if places.low is None or (one.lower is None) == (one.upper is None):
            continue
        region = decided_at(one)
        bound = region.lower if region.upper is None else region.upper
        stored_ratio = (one.high - bound) / (one.low - bound)
        ends = (places.high, places.low) if (one.upper is None) != bool(one.opposes) else (places.low, places.high)
        assert ends[0] / ends[1] == pytest.approx(stored_ratio), one.id


def test_an_interval_between_two_bounds_is_drawn_with_both_of_them() -> None:
    """An interval that holds no difference lies around the middle between the lines, and is not folded there."""
    same = next(one for one in stored.statements() if one.id == "C34r")
    assert (same.low < 0 < same.high, same.lower, same.upper) == (True, -same.upper, same.upper)
    places = strip(same)
    assert places.far == pytest.approx(1.0), "the widest thing on this strip is the distance between the lines"
    width = same.upper - same.lower
    assert places.high - places.low == pytest.approx((same.high - same.low) / width)
    assert places.low < places.far / 2 < places.high
    assert places.value == pytest.approx(min(same.effect - same.lower, same.upper - same.effect) / width)


def test_every_claim_has_one_deciding_statement_by_the_rule_that_the_page_says() -> None:
    content = board().content
    assert deciding.RULE in content["key"]["Statement shown"]
    for heading in stored.headings():
        marked = [part for part in heading.parts if part.decides]
        assert len(marked) == 1, heading.id
        sided = [part for part in heading.parts if not part.aside]
        bearings = [deciding.bearing(part) for part in sided]
        expected = next(word for word in (deciding.AGAINST, MIXED, deciding.FOR, OPEN) if word in bearings)
        assert deciding.bearing(marked[0]) == expected
        rivals = [part for part in sided if deciding.bearing(part) == expected]
        if expected == OPEN:
            rivals = [part for part in rivals if part.effect is not None] or rivals
        assert marked[0] == rivals[0], heading.id


def test_a_row_shows_a_statement_of_the_side_that_has_more(claims) -> None:
    """One statement may refute a claim of which six hold; its row shows one of the six, the quoted one if there is."""
    for claim in claims:
        (shown,) = [one for one in claim["statements"] if one["typical"]]
        sides = Counter(one["bearing"] for one in claim["statements"])
        if sides[deciding.FOR] == sides[deciding.AGAINST]:
            assert shown["decides"], claim["id"]
            continue
        rivals = [one for one in claim["statements"] if one["bearing"] == shown["bearing"]]
        assert sides[shown["bearing"]] == max(sides[deciding.FOR], sides[deciding.AGAINST])
        plain = [one for one in rivals if not one["part"]] or rivals
        assert shown in plain, "a statement whose own words say a part of the claim comes first"
        assert shown["quoted"] == any(one["quoted"] for one in plain), claim["id"]
    typical = {claim["id"]: one for claim in claims for one in claim["statements"] if one["typical"]}
    assert (typical["C34"]["id"], typical["C10"]["id"]) == ("C34a", "C10d")


def test_what_says_the_opposite_is_a_statement_and_says_why() -> None:
    for id, why in deciding.opposites().items():
        if id in behind_another():
            continue
        one = statement(id)
        assert one.opposes == why
        assert why.startswith("The claim says")
        assert (deciding.bearing(one) == deciding.AGAINST) == (one.verdict == SUPPORTED)


def test_what_takes_no_side_decides_nothing_and_is_counted_for_neither() -> None:
    known = {one.id: one for one in stored.statements()}
    assert set(deciding.asides()) - set(known) <= behind_another()
    for id, why in deciding.asides().items():
        if id not in known:
            continue
        one = known[id]
        assert one.aside == why
        assert not one.decides
        assert deciding.bearing(one) == (OPEN if one.verdict == OPEN else deciding.ASIDE)
    assert not set(deciding.asides()) & set(deciding.opposites())
    claims = [claim for group in board().content["groups"] for claim in group["claims"]]
    said = {one["id"]: one["part"] for claim in claims for one in claim["statements"]}
    assert {id: why for id, why in said.items() if why} == deciding.parts_explained()


def test_an_opened_statement_says_which_of_two_encoders_is_taken_from_the_other(claims) -> None:
    """As its rule names them, in that order: whether a number is of one less the other decides what its sign says."""
    shown = {one["id"]: one["sides"] for claim in claims for one in claim["statements"]}
    # One sign has one meaning in these four, whichever of the two their rules name first.
    own_less_shared = [shown[id].partition(", minus ") for id in ("C34a", "C34l", "C34m", "C34r")]
    assert ["own" in first and "own" not in second for first, _, second in own_less_shared] == [True] * 4
    assert shown["C18c"] == "Apart, own matrix, over Added once"
    assert shown["C10d"] == ""
    for contest in (one for one in encoder_rules().statements if one.id in shown):
        first, second = (VARIANTS[name].title for name in (contest.variant, contest.baseline))
        first, second = (second, first) if contest.id in TURNED else (first, second)
        assert shown[contest.id].startswith(first)
        assert shown[contest.id].endswith(second)


def test_a_statement_is_turned_only_where_its_line_is_as_far_on_both_sides() -> None:
    turned = [one for one in stored.statements() if one.id in TURNED]
    assert {one.id for one in turned} == set(TURNED)
    for one in turned:
        assert one.lower is not None
        assert one.lower == -(one.upper or math.nan)
        assert one.expect == "the same"


def test_a_statement_whose_curve_the_tour_shows_links_to_it(claims) -> None:
    steps = {one["id"]: one["tour"] for claim in claims for one in claim["statements"] if one["tour"]}
    assert steps["C10d"] == "cut"
    assert set(steps.values()) <= {step.name for step in tour_steps()}


def test_units_fit_beside_the_strip() -> None:
    for one in stored.statements():
        assert one.unit in UNITS or one.unit in ("", PRINTED), f"{one.id} has a unit without short words: {one.unit}"
        assert len(size(one).unit) <= LONGEST_UNIT
        short = size(one).short
        assert short.startswith(size(one).number)
        assert len(short) <= LONGEST_SHORT, short


def test_numbers_of_one_unit_have_as_many_decimals_in_the_column_of_rows() -> None:
    decimals: dict[str, set[int]] = {}
    for one in (one for one in stored.statements() if one.effect is not None):
        printed = size(one)
        if "10" in printed.rounded and "·" in printed.rounded:
            continue
        decimals.setdefault(printed.short_unit, set()).add(len(printed.rounded.partition(".")[2]))
        scale = 100 if printed.number.endswith(("%", "points")) else 1
        effect = 1 - one.effect if one.unit in TOLD_AS_OTHERS else one.effect
        assert number_of(printed.rounded) == pytest.approx(scale * effect, abs=0.051 if scale == 100 else 0.0501)
        assert len(printed.short_unit) <= LONGEST_IN_ROW, "it has two lines of its row"
    assert {unit: len(found) for unit, found in decimals.items()} == dict.fromkeys(decimals, 1)
    assert {"nats of loss", "% more arithmetic", "× the steps", "points of words' energy"} <= decimals.keys()


def test_no_number_of_a_row_stands_without_what_it_is_a_number_of() -> None:
    for one in (one for one in stored.statements() if one.effect is not None):
        assert len(size(one).short_unit.split()) > 1, f"{one.id}: {size(one).rounded} {size(one).short_unit}"


def test_a_verdict_is_told_first_only_in_a_sentence_that_stands_alone(claims) -> None:
    """A count of readings says nothing without the statement that they hold."""
    found = [one for claim in claims for one in claim["statements"] if one["found"]]
    assert {one["plain"] for one in found} == {True, False}
    assert not [one["id"] for one in found if one["plain"] and "readings hold" in one["found"]]


def test_the_line_beside_the_number_is_the_stored_bound() -> None:
    lines = 0
    for one in (one for one in stored.statements() if one.effect is not None and size(one).line):
        bounds = [bound for bound in (one.lower, one.upper) if bound is not None]
        shown = [number_of(part) for part in size(one).line.replace("±", "−").split(" and ")]
        shown = [1 - value for value in shown] if one.unit in TOLD_AS_OTHERS else shown
        both = [shown[0], -shown[0]] if "±" in size(one).line else shown
        assert both == pytest.approx(bounds, rel=1e-6), (one.id, size(one))
        assert ("lines are" in size(one).line_in_words) == (len(bounds) == 2)
        lines += 1
    assert lines > 60
    assert size(statement("C34i")).line == "−0.1 and 0", "slightly better: two bounds, and one of them is zero"


def test_the_tally_of_a_question_is_the_sum_of_its_claims() -> None:
    for group in board().content["groups"]:
        pairs = [claim["sides"].split(" : ") for claim in group["claims"] if claim["sides"]]
        assert group["sides"] == " : ".join(str(sum(map(int, side))) for side in zip(*pairs, strict=True))


def test_a_claim_that_two_measures_divide_says_which_is_true() -> None:
    """Of C34 the final losses hold and the speed of learning fails; a claim that one measure divides says none."""
    said = {claim["id"]: claim["decided"] for group in board().content["groups"] for claim in group["claims"]}
    assert said["C34"].startswith(
        "Final loss: true. Speed of learning word order: false (C34o), so that the claim holds"
    )
    for heading in stored.headings():
        whole = [one for one in heading.parts if not one.aside and not one.part]
        sides = {side: {one.kind for one in whole if deciding.bearing(one) == side} for side in (deciding.FOR, AGAINST)}
        if sides[deciding.FOR] & sides[AGAINST]:
            assert ": true. " not in said[heading.id], heading.id


def test_only_open_statements_have_hours_that_would_decide_them(claims) -> None:
    shown = {one["id"]: one["hours"] for claim in claims for one in claim["statements"]}
    assert shown == {one.id: one.hours if one.verdict == OPEN else None for one in stored.statements()}
    assert any(hours is not None for hours in shown.values())


def test_an_interval_stands_in_the_form_of_its_number(claims) -> None:
    shown = {one["id"]: one for claim in claims for one in claim["statements"]}
    for one in stored.statements():
        if one.effect is not None and one.low is not None and one.high is not None:
            ends = shown[one.id]["interval"].removeprefix("95 % interval ").split(" to ")
            assert len(ends) == 2, one.id
            signs = (-1 if one.id in TURNED else 1) * one.low, (-1 if one.id in TURNED else 1) * one.high
            rounding = 0.0051 if max(map(abs, signs)) >= 0.095 else 0.00051
            assert sorted(map(number_of, ends)) == pytest.approx(sorted(signs), rel=0.06, abs=rounding), one.id
        else:
            assert not shown[one.id]["interval"], one.id


def test_a_rows_tally_counts_its_statements_for_and_against(claims) -> None:
    for claim in claims:
        sides = Counter(one["bearing"] for one in claim["statements"] if not one["aside"])
        expected = f"{sides[deciding.FOR]} : {sides[deciding.AGAINST]}"
        assert claim["sides"] == ("" if expected == "0 : 0" else expected), claim["id"]
    assert {":" in claim["sides"] for claim in claims} == {True, False}


def test_a_verdict_is_said_in_the_words_that_its_rules_wrote_beforehand() -> None:
    shown = {
        one["id"]: one["found"]
        for group in board().content["groups"]
        for claim in group["claims"]
        for one in claim["statements"]
    }
    for one in stored.statements():
        if one.verdict != OPEN and not one.answer and one.kind in SEVERAL and len(one.readings) > 1:
            assert shown[one.id].startswith(f"{readings.tally(one.readings)}. "), one.id
            said = shown[one.id].removesuffix(".").rpartition(": ")[2]
            source, _, others = said.removesuffix(" alike").partition(" and ")
            assert one.effect in [reading.value for reading in one.readings if source in reading.source], one.id
            alike = len([reading for reading in one.readings if reading.value == one.effect])
            assert (int(others.split()[0]) if others else 0) <= alike - 1, one.id
            assert bool(others) == (alike > 1) or one.kind == "published", one.id
        else:
            assert shown[one.id] == ("" if one.verdict == OPEN else one.answer or one.sentence)
    assert "makes order be learned after 0.76 times as many steps" in shown["C34o"]


def test_what_later_work_says_stands_at_its_claim(claims) -> None:
    with (Path(__file__).parents[2] / "data" / "published" / "findings.csv").open(newline="", encoding="utf-8") as file:
        written = {(row["claim"], row["short"], row["side"], row["finding"]) for row in csv.DictReader(file)}
    shown = {(claim["id"], one["short"], one["side"], one["finding"]) for claim in claims for one in claim["findings"]}
    assert shown == written


# ---- The log ----


def test_the_log_has_every_correction_once_with_both_verdicts() -> None:
    log = [one for one in stored.changes() if one.said]
    rows = read.query(
        "SELECT s.id, s.verdict, s.replaced_by, s.changed_on, s.statement, coalesce(n.verdict, w.verdict) AS now "
        "FROM superseded s LEFT JOIN statements n ON n.id = s.replaced_by "
        "LEFT JOIN superseded w ON w.id = s.replaced_by AND w.replaced_by <> w.id ORDER BY s.id"
    )
    assert sorted(one.statement for one in log) == rows.id.tolist()
    by_change = {(one.statement, one.day): one for one in log}
    for row in rows.itertuples():
        one = by_change[row.id, row.changed_on]
        after = "withdrawn" if row.replaced_by == "withdrawn" else row.now
        assert (one.before, one.after, one.day, one.said) == (row.verdict, after, row.changed_on, row.statement)
        assert (one.kind == "verdict") == (after not in (row.verdict, "withdrawn"))


def test_the_log_has_what_a_fact_checker_corrected_without_a_verdict_being_moved() -> None:
    log = {(one.statement, one.words): one for one in stored.changes() if one.kind == "reading"}
    files = fact_checks()
    assert len(files) >= 2
    newest = {entry["id"]: entry["scope"] for file in files for entry in file.content.get("scope", ())}
    for file in files:
        for entry in file.content.get("scope", ()):
            one, now = log[entry["id"], entry["changed"]], statement(entry["id"])
            assert (one.before, one.after, one.day) == (now.verdict, now.verdict, file.content["frozen"][:10])
            if now.rules_version <= file.version:
                assert now.scope == newest[entry["id"]]
    told = [entry for file in files for entry in file.content.get("told", ())]
    newest_told = {entry["id"]: entry for entry in told}
    for entry in told:
        now = statement(entry["id"])
        assert ((entry["id"], entry["changed"]) in log) == (now.verdict in entry)
        if now.verdict in entry and entry is newest_told[entry["id"]]:
            assert now.answer.startswith(entry[now.verdict].partition("{")[0])


def test_the_log_is_dated_and_newest_first() -> None:
    days = [one.day for one in stored.changes()]
    assert days == sorted(days, reverse=True)
    assert all(re.fullmatch(r"2026-\d\d-\d\d", day) for day in days)
    assert {one.kind for one in stored.changes()} == {"verdict", "rule", "reading"}
    logged = {one.claim for one in stored.changes()}
    assert logged == {*(heading.id for heading in stored.headings()), "C33"}, "one has no statement any more"


def test_a_training_decides_on_the_day_on_which_its_last_run_was_stored() -> None:
    created = read.query("SELECT run_id, created FROM runs").set_index("run_id").created
    decided = [one for one in stored.changes() if one.words.startswith("The last of")]
    assert len(decided) > 10
    for one in decided:
        judgement = statement(one.statement)
        assert (one.before, one.after) == (OPEN, judgement.verdict)
        assert one.day == max(created[reading.note] for reading in judgement.readings)[:10]


def test_the_pages_log_says_all_of_it(claims) -> None:
    everywhere = board().content["log"]["entries"]
    assert sum(len(one["ids"]) or 1 for one in everywhere) == len(stored.changes())
    for claim in claims:
        own = [one for one in everywhere if one["claim"] == claim["id"]]
        assert {one["words"] for one in claim["changes"]} == {one["words"] for one in own}


# ---- The figure of one claim ----


@pytest.mark.parametrize("claim", ["", "C09", "C16", "C34"])
def test_the_figure_of_a_claim_has_the_stored_numbers(claim: str) -> None:
    frame = FIGURES["claim_strips"].of({"claim": claim}).frame()
    where = f"parent = '{claim}'" if claim else "decides"
    rows = read.query(f"SELECT id, verdict, effect, low, high FROM statements WHERE {where} ORDER BY id")
    assert sorted(frame.id) == rows.id.tolist()
    merged = frame.merge(rows, on="id", suffixes=("", "_stored"))
    for name in ("effect", "low", "high"):
        other = {"low": "high", "high": "low"}.get(name, name)
        stored_numbers = merged[f"{name}_stored"].mask(merged.id.isin(TURNED), -merged[f"{other}_stored"])
        assert merged[name].astype(float).equals(stored_numbers)
    assert (merged.verdict == merged.verdict_stored).all()


def test_an_open_statement_says_where_its_interval_crosses_no_line(store: Path) -> None:
    """Then the rules leave it open for another reason: seeds that spread, a plateau, or the correction."""
    said = 0
    for one in stored.statements():
        told = "by itself lies wholly" in one.sentence
        if one.verdict != OPEN or one.low is None or one.kind == "rows":
            assert not told
            continue
        lower, upper = (-np.inf if one.lower is None else one.lower), (np.inf if one.upper is None else one.upper)
        crosses = one.low <= lower <= one.high or one.low <= upper <= one.high
        assert told != crosses, one.id
        said += told
    assert said > 3


def test_a_claim_that_open_measurements_lie_against_says_so() -> None:
    """Against the intervals themselves: each is wholly beyond the line of its rule, on the wrong side of the claim."""
    told = {claim["id"]: claim["note"] for group in board().content["groups"] for claim in group["claims"]}
    leaning = {id: re.findall(r"C\d\d[a-z]{1,2}", note) for id, note in told.items() if note.startswith("open, but")}
    assert leaning
    by_id = {one.id: one for one in stored.statements()}
    for ids in leaning.values():
        for part in (by_id[id] for id in ids):
            lower, upper = (-math.inf if part.lower is None else part.lower), part.upper
            beyond = part.low > (math.inf if upper is None else upper) or part.high < lower
            assert part.verdict == "open"
            assert beyond != bool(part.opposes)
