"""Statements: rows against lines, contests by the frozen rules, and what the store says of both."""

import json
import math
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged import fine_tuned
from scipy import stats

from analysis.ablation.plan import training
from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS
from analysis.claims import CLAIMS
from analysis.claims.statements import comparison, contests, rows
from analysis.claims.statements.corrections import corrections_file
from analysis.claims.statements.judge import judge
from analysis.claims.statements.judgement import CONTRADICTED, FAILS, HOLDS, MIXED, OPEN, SUPPORTED, Reading, Region
from analysis.claims.statements.stored import statements
from analysis.rules import (
    MEASUREMENTS,
    TRAININGS,
    Contest,
    all_encoder_rules,
    decoder_rules,
    encoder_rules,
    manifest_of,
    repeating_contests,
    rule_files,
    rules_for,
    surgery_rules,
    training_rules,
    version_2_rules,
)
from analysis.rules.refit_rules import refit_rules
from analysis.rules.refitted_glue_rules import refitted_glue_rules
from analysis.store import read

RULES = training_rules()


def row(value: float, low: float | None = None, high: float | None = None, *, line: float = 0.0, family: str = "a"):
    return {"source": family, "family": family, "value": value, "low": low, "high": high, "line": line}


def test_rows_hold_fail_or_stay_open_by_their_intervals() -> None:
    read = rows.readings([row(1, 0.5, 1.5), row(-1, -1.5, -0.5), row(0.1, -0.4, 0.6)], "above")
    assert [one.standing for one in read] == [HOLDS, FAILS, OPEN]
    assert [one.standing for one in rows.readings([row(1, 0.5, 1.5)], "below")] == [FAILS]
    exact = rows.readings([row(0.2, line=0.1), row(0.1, line=0.1), row(0.0, line=0.1)], "above")
    assert [one.standing for one in exact] == [HOLDS, FAILS, FAILS]


def test_many_rows_are_corrected_for() -> None:
    """A value 2.2 standard errors beyond its line holds alone, and not among ten that were tried."""
    beyond = row(2.2, 2.2 - 1.96, 2.2 + 1.96)
    assert rows.readings([beyond], "above")[0].standing == HOLDS
    among = rows.readings([beyond, *(row(0, -1.96, 1.96) for _ in range(9))], "above")
    assert among[0].standing == OPEN
    # Holm multiplies the smallest of ten p-values by ten; scipy says what p-value that needs.
    least = stats.norm.isf(0.025 / 10)
    kept = row(least + 0.01, least + 0.01 - 1.96, least + 0.01 + 1.96)
    assert rows.readings([kept, *(row(0, -1.96, 1.96) for _ in range(9))], "above")[0].standing == HOLDS


@pytest.mark.parametrize(
    ("standings", "quantifier", "least", "exhaustive", "word"),
    [
        ("hhh", "every", 3, False, SUPPORTED),
        ("hh", "every", 3, False, OPEN),
        ("hf", "every", 3, False, OPEN),
        ("hhf", "every", 3, False, CONTRADICTED),
        ("hho", "every", 3, False, OPEN),
        ("hhhf", "most", 2, False, SUPPORTED),
        ("fffh", "most", 2, False, CONTRADICTED),
        ("hhff", "most", 2, False, MIXED),
        ("hfoo", "most", 2, False, OPEN),
        ("h", "most", 2, False, OPEN),
        ("ffh", "some", 1, False, SUPPORTED),
        ("ff", "some", 1, False, OPEN),
        ("ff", "some", 1, True, CONTRADICTED),
        ("fo", "some", 1, True, OPEN),
        ("", "some", 1, True, OPEN),
        ("", "every", 0, False, OPEN),
    ],
)
def test_verdicts_follow_from_families(
    standings: str, quantifier: str, least: int, exhaustive: bool, word: str
) -> None:
    values = {"h": (1, 0.9, 1.1), "f": (-1, -1.1, -0.9), "o": (0, -1, 1)}
    read = rows.readings([row(*values[one], family=str(at)) for at, one in enumerate(standings)], "above")
    assert rows.decide(read, quantifier, least, exhaustive=exhaustive) == word


@pytest.mark.parametrize("standings", ["oo", "hfoo", "hffffooo", "ho"])
def test_as_many_further_models_as_an_open_statement_asks_for_decide_it(standings: str) -> None:
    values = {"h": (1, 0.9, 1.1), "f": (-1, -1.1, -0.9), "o": (0, -1, 1)}
    read = rows.readings([row(*values[one], family=str(at)) for at, one in enumerate(standings)], "above")
    asked = [int(number) for number in re.findall(r"or (\d+)(?= further| that)", rows.sharper(read, "most"))]
    assert len(asked) == 2
    for more, reading, word in zip(asked, (HOLDS, FAILS), (SUPPORTED, CONTRADICTED), strict=True):
        for number, verdict in ((more, word), (more - 1, OPEN)):
            known = [
                *read,
                *(Reading(source=f"m{at}", standing=reading, value=1, family=f"m{at}") for at in range(number)),
            ]
            assert rows.decide(known, "most", 1) == verdict


def test_what_decides_tells_an_interval_around_the_line_from_one_that_only_the_correction_holds_back() -> None:
    around, clear = row(0, -1, 1, family="around"), row(2.0, 0.04, 3.96, family="clear")
    read = rows.readings([around, clear], "above")
    assert [one.standing for one in read] == [OPEN, OPEN]
    before, after = rows.sharper(read, "some").split(": ")
    assert all(name in before for name in ("around", "clear"))
    assert [word in after for word in ("1 of their intervals contains", "and 1 excludes it", "Holm")] == [
        True,
        True,
        True,
    ]
    around_alone = rows.sharper(rows.readings([around], "above"), "some")
    assert ["contains the line" in around_alone, "Holm" in around_alone] == [True, False]
    # Without the one that contains it, nothing is said to contain it.
    alone = rows.sharper(rows.readings([clear, row(1.98, 0.02, 3.94, family="other")], "above"), "some")
    assert "contain" not in alone


def test_seeds_of_one_variant_count_once() -> None:
    read = rows.readings([row(1, family="x"), row(1, family="x"), row(-1, family="y")], "above")
    assert rows.families(read) == {"x": HOLDS, "y": FAILS}
    assert rows.decide(read[:2], "every", 2) == OPEN


def contest(**changes: Any) -> Contest:
    usual = {
        "id": "C99a",
        "statement": "",
        "kind": "final_loss",
        "variant": "tupe_a",
        "baseline": "bert_a",
        "expect": "better",
        "seeds": (10, 11, 12, 13, 14),
    }
    return Contest(**usual | changes)


def runs(
    variant: str, losses: list[float], left: int | list[int | None] | None = 2_000
) -> dict[int, contests.CandidateTraining]:
    when = left if isinstance(left, list) else [left] * len(losses)
    return {
        10 + at: contests.CandidateTraining(
            run_id=f"{variant}{at}",
            variant=variant,
            seed=10 + at,
            final_loss=None if math.isnan(loss) else loss,
            diverged=math.isnan(loss),
            plateau_exit=when[at],
            steps=10_000,
            every=200,
        )
        for at, loss in enumerate(losses)
    }


def held(
    variant: dict[int, contests.CandidateTraining], baseline: dict[int, contests.CandidateTraining], **changes: Any
) -> contests.Standing:
    names = [
        next(iter(side.values())).variant if side else name
        for side, name in ((variant, "tupe_a"), (baseline, "bert_a"))
    ]
    found = contests.JudgedRuns(runs=dict(zip(names, (variant, baseline), strict=True)))
    return contests.standing(contest(variant=names[0], baseline=names[1], **changes), found, RULES)


BASE = [3.40, 3.41, 3.42, 3.39, 3.40]


def test_a_contest_is_a_paired_t_test_against_the_margin() -> None:
    shifted = [value - 0.2 + noise for value, noise in zip(BASE, (0.01, -0.01, 0, 0.005, -0.005), strict=True)]
    made = held(runs("tupe_a", shifted), runs("bert_a", BASE))
    assert made.word == contests.BETTER
    theirs = stats.ttest_rel(shifted, BASE)
    interval = theirs.confidence_interval(0.95)
    assert made.found is not None
    assert made.found.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert (made.found.low, made.found.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert held(runs("bert_a", BASE), runs("tupe_a", shifted)).word == contests.WORSE
    near = [value + noise for value, noise in zip(BASE, (0.01, -0.01, 0, 0.005, -0.005), strict=True)]
    assert held(runs("tupe_a", near), runs("bert_a", BASE)).word == contests.SAME
    wide = [value + noise for value, noise in zip(BASE, (0.08, 0.0, 0.07, 0.01, 0.04), strict=True)]
    open_ = held(runs("tupe_a", wide), runs("bert_a", BASE))
    assert open_.word == contests.NOT_RESOLVED
    assert open_.needed is not None
    assert open_.needed > 5


def test_a_contest_waits_for_every_seed() -> None:
    made = held(runs("tupe_a", [2.0, 2.0]), runs("bert_a", BASE))
    assert (made.word, made.missing) == (contests.NOT_RESOLVED, 3)
    assert "3 of 10 trainings are still to be run" in made.reason


def test_a_side_on_the_plateau_at_half_time_leaves_it_open() -> None:
    far = [value - 1 + noise for value, noise in zip(BASE, (0.01, -0.01, 0, 0.005, -0.005), strict=True)]
    late = held(runs("tupe_a", far), runs("bert_a", BASE, [2_000, 2_000, 5_200, 2_000, 2_000]))
    assert late.word == contests.NOT_RESOLVED
    assert "1 of 5 seeds (it left by step 5,200)" in late.reason
    assert held(runs("tupe_a", far), runs("bert_a", BASE, 5_000)).word == contests.BETTER
    never = held(runs("tupe_a", far), runs("bert_a", BASE, [None, *[2_000] * 4]))
    assert "it never left" in never.reason
    # A model without positions cannot leave it, and its contest is not open for that.
    orderless = held(runs("no_position", [5.7 + 0.001 * at for at in range(5)], None), runs("bert_a", BASE))
    assert orderless.word == contests.WORSE
    causal = held(runs("tupe_a", far, None), runs("bert_a", BASE, None), plateau=False)
    assert causal.word == contests.BETTER


def test_a_side_whose_seeds_spread_leaves_it_open() -> None:
    made = held(runs("tupe_a", [2.0, 2.2, 2.1, 2.0, 2.3]), runs("bert_a", BASE))
    assert made.word == contests.NOT_RESOLVED
    assert re.search(r"the final losses of tupe_a spread by 0\.130 nats", made.reason)


def test_a_diverged_run_is_worse_than_any() -> None:
    lost = [math.nan] * 5
    assert held(runs("tupe_a", lost), runs("bert_a", BASE)).word == contests.WORSE
    assert held(runs("tupe_a", BASE), runs("bert_a", lost)).word == contests.BETTER
    assert held(runs("tupe_a", [*BASE[:4], math.nan]), runs("bert_a", BASE)).word == contests.NOT_RESOLVED


def test_steps_to_leave_are_a_ratio_on_logarithms() -> None:
    base, fast = [3_200, 3_000, 3_400, 3_200, 2_800], [1_000, 1_000, 1_200, 800, 1_000]
    made = held(runs("tupe_a", BASE, list(fast)), runs("bert_a", BASE, list(base)), kind="steps_to_leave")
    logs = np.log(fast) - np.log(base)
    low, high = stats.t.interval(0.95, 4, logs.mean(), stats.sem(logs))
    assert made.word == contests.EARLIER
    assert made.found is not None
    assert (made.found.mean, made.found.low, made.found.high) == pytest.approx((logs.mean(), low, high))
    later = held(runs("tupe_a", BASE, list(base)), runs("bert_a", BASE, list(fast)), kind="steps_to_leave")
    assert later.word == contests.NOT_EARLIER
    same = held(runs("tupe_a", BASE, list(base)), runs("bert_a", BASE, list(base)), kind="steps_to_leave")
    assert same.word == contests.NOT_EARLIER
    never = held(runs("tupe_a", BASE, None), runs("bert_a", BASE, list(base)), kind="steps_to_leave")
    assert never.word == contests.NOT_EARLIER
    only = held(runs("tupe_a", BASE, list(base)), runs("bert_a", BASE, None), kind="steps_to_leave")
    assert only.word == contests.EARLIER


def test_a_family_is_corrected_for_its_size_before_all_of_it_is_there() -> None:
    few = [value - 0.2 + noise for value, noise in zip(BASE, (0.12, -0.12, 0.1, -0.1, 0.02), strict=True)]
    members = [
        contest(id=f"C99{letter}", family="f", variant=name)
        for letter, name in zip("abcd", ("concat_20", "concat_50", "concat_wide", "concat_blocked"), strict=True)
    ]
    found = contests.JudgedRuns(runs={"concat_20": runs("concat_20", few), "bert_a": runs("bert_a", BASE)})
    adjusted = contests.corrected_p_values(members, found, RULES)
    assert adjusted["C99a"] == pytest.approx(min(1, 4 * stats.ttest_rel(few, BASE).pvalue))
    assert adjusted["C99b"] == 1.0


def manifest(**changes: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {
        **PRESETS[RULES.preset].recorded_settings(),
        "rules": RULES.manifest(),
        "began": "2099-01-01T00:00:00Z",
    }
    return usual | changes


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"preset": "cpu"}, "its preset is cpu, not cpu2"),
        ({"rules": None}, "its manifest names no rules"),
        ({"began": None}, "its manifest names no rules"),
        ({"rules": {"version": 2, "sha256": "0" * 64}}, "it was begun under other rules (000000000000, not"),
        ({"began": "2026-11-23T06:09:59Z"}, "before the rules were frozen"),
        ({"steps": 20_000}, "its steps is 20000, not 10000"),
        ({"learning_rate": 2e-3}, "its learning rate is 0.002, not 0.001"),
    ],
)
def test_runs_that_the_rules_may_not_judge_are_left_out_by_name(changes: dict[str, Any], reason: str) -> None:
    config = manifest(**changes)
    assert reason in RULES.refusal(config)
    record = {"run_id": "r", "variant": "bert_a", "seed": 10, "final_loss": 3.0, "diverged": False}
    found = contests.judged_runs([record | {"config": json.dumps(config), "rules_sha": None}], [], RULES)
    assert not found.runs
    assert reason in found.refused["bert_a, seed 10 (r)"]


def test_a_run_under_the_rules_is_taken_in() -> None:
    assert RULES.refusal(manifest()) == ""


def test_the_rules_judge_the_preset_as_it_is() -> None:
    for rules in version_2_rules():
        preset = PRESETS[rules.preset]
        assert (preset.steps, preset.learning_rate) == (rules.steps, rules.learning_rate)
        assert all(one.variant in VARIANTS and one.baseline in VARIANTS for one in rules.statements)
        assert {one.kind for one in rules.statements} <= {"final_loss", "loss_4x", "steps_to_leave"}
        assert all(one.expect in contests.ALLOWED for one in rules.statements)
        assert all(VARIANTS[name].needs in (None, *rules.planned) for name in rules.planned)
        assert all(training(preset, name).steps == rules.steps_of.get(name, rules.steps) for name in rules.planned)
        assert all((rules_for(name) == rules) != (name in rules.begun_under) for name in rules.planned)


def test_runs_of_another_file_of_rules_count_where_a_file_names_it() -> None:
    """The baseline's runs were begun under decoders.toml; the variant's must be begun under the new file itself."""
    rules = next(one for one in version_2_rules() if "causal_one_turned_key" in one.planned)
    ((baseline, name),) = rules.begun_under.items()
    assert name == "decoders.toml"
    (contest,) = rules.statements
    began = max(rules.frozen, decoder_rules().frozen)
    rows = [
        {"run_id": f"{variant}{place}", "variant": variant, "seed": seed, "final_loss": 4.0, "diverged": False,
         "config": json.dumps({
             "preset": rules.preset, "variant": variant, "steps": rules.steps, "learning_rate": rules.learning_rate,
             "began": began, "rules": under.manifest(),
         })}
        for variant in (contest.variant, baseline)
        for place, (seed, under) in enumerate([(10, rules), (11, decoder_rules()), (12, RULES)])
    ]  # fmt: skip
    found = contests.judged_runs(rows, [], rules)
    assert {variant: set(runs) for variant, runs in found.runs.items()} == {contest.variant: {10}, baseline: {11}}
    assert len(found.refused) == 4


def test_statements_on_decoders_are_asked_again_with_seeds_that_nobody_has_trained() -> None:
    """The same two on the same end point, by the same recipe, with runs that begin under the first file of each."""
    again = next(rules for rules in version_2_rules() if rules.version == 24)
    names = ("preset", "steps", "learning_rate", "margin", "plateau", "by_half", "earlier", "steps_of")
    for name in names:
        assert getattr(again, name) == getattr(decoder_rules(), name)
    assert again.spread == math.inf
    asked = {one["id"]: one for file in rule_files() for kind in ("statement", "contest")
             for one in file.content.get(kind, ())}  # fmt: skip
    taken = {seed for rules in version_2_rules() if rules != again for one in rules.statements for seed in one.seeds}
    for contest in again.statements:
        before = asked[contest.asks_again]
        for name in ("variant", "baseline", "kind", "expect"):
            assert getattr(contest, name) == before[name]
        assert len(contest.seeds) == 8
        assert not set(contest.seeds) & taken
        assert not contest.plateau
    for variant, name in again.begun_under.items():
        begun = {"trainings.toml": RULES, "decoders.toml": decoder_rules()}[name]
        assert manifest_of(again.preset, variant, 20) == begun.manifest()


def test_no_run_of_seeds_that_are_asked_again_began_before_its_rules_were_frozen(store: Path) -> None:
    frozen = {one.id: rules.frozen for rules in version_2_rules() for one in rules.statements if one.asks_again}
    contests_of = [one for one in repeating_contests() if one.id in frozen]
    assert {one.preset for one in contests_of} == {"cpu2"}
    for row in read.query("SELECT variant, seed, began FROM pretrainings WHERE preset = 'cpu2'").itertuples():
        asking = [one for one in contests_of if row.variant in (one.variant, one.baseline) and row.seed in one.seeds]
        assert all(row.began > frozen[one.id] for one in asking), row


def test_a_loss_at_four_times_the_length_is_judged_by_itself() -> None:
    """Worse at the training length and better beyond it: each statement reads its own end point."""
    rules = decoder_rules()
    statements = {one.id: one for one in rules.statements}
    runs = {
        name: {
            seed: contests.CandidateTraining(
                run_id=f"{name}{seed}", variant=name, seed=seed, final_loss=near + wobble * (seed % 3), diverged=False,
                plateau_exit=None, steps=rules.steps_of.get(name, rules.steps), every=200,
                loss_4x=far + wobble * (seed % 2),
            )
            for seed in statements["C31a"].seeds
        }
        for name, near, far, wobble in (("causal_rotary", 3.0, 5.0, 0.001), ("causal_drope", 3.2, 4.0, 0.002))
    }  # fmt: skip
    judged = contests.JudgedRuns(runs=runs)
    trained_on = contests.standing(statements["C31a"], judged, rules)
    assert (trained_on.word, trained_on.reason) == (contests.WORSE, "")
    assert contests.standing(statements["C31c"], judged, rules).word == contests.BETTER
    del runs["causal_drope"][10]
    assert contests.standing(statements["C31c"], judged, rules).missing == 1


def test_every_statement_has_one_id_one_parent_and_names_its_scope() -> None:
    written = [one for file in rule_files() if file.measured for one in file.content["statement"]]
    trained = (
        *(one for rules in version_2_rules() for one in rules.statements),
        *surgery_rules().statements,
        *encoder_rules().statements,
    )
    corrected = corrections_file()
    names = [(2 if one.id[:3] not in ("C34", "C36", "C37") else 3, one.id) for one in trained]
    for rules in (refit_rules(), refitted_glue_rules(), *all_encoder_rules()[1:]):
        names += [(rules.version, one.id) for one in rules.statements]
    names += [(file.version, one["id"]) for file in rule_files() if file.measured for one in file.content["statement"]]
    names += [(corrected.version, one["id"]) for one in corrected.content["contest"]]
    assert len(names) == len(set(names)), "two statements of one version with one id"
    ids = [id for _, id in names]
    assert all(re.fullmatch(r"C\d\d[a-z]{1,2}", id) for id in ids)
    kept = set(ids) - {one["id"] for one in corrected.content["withdrawn"]}
    assert {id[:3] for id in kept} == set(CLAIMS), "a claim without a statement, or a statement without a claim"
    for one in written:
        assert one["scope"]
        assert one["kind"] in ("rows", "published", "open")
        assert one["kind"] != "rows" or (one["holds"] in ("above", "below") and one["unit"])


def test_the_frozen_file_is_the_one_that_the_runs_name() -> None:
    """Changed by a character, the rules would judge none of the runs that were begun under them."""
    from analysis.store.files import results_files
    from analysis.store.kinds import KINDS

    text = tomllib.loads(TRAININGS.read_text(encoding="utf-8"))
    assert text["version"] == RULES.version
    assert MEASUREMENTS.is_file()
    import pyarrow.parquet as pq

    for path in results_files():
        if path.parent.name == "curves" and path.name.startswith(f"{RULES.preset}-"):
            run = json.loads(pq.read_schema(path).metadata[b"addend.run"])
            assert run["config"]["rules"]["sha256"] == rules_for(run["config"]["variant"]).sha256, path.name
    assert KINDS["curves"].folder.endswith("curves")


def test_readings_do_not_depend_on_the_order_in_which_the_store_gives_rows(store: Path) -> None:
    """DuckDB gives rows of a query without an order in another one each time; sentences and numbers stay."""

    def asking(turned: bool) -> Any:
        def ask(sql: str) -> list[dict[str, Any]]:
            rows = read.query(sql).astype(object).where(lambda frame: frame.notna(), None).to_dict("records")
            return rows[::-1] if turned else rows

        return ask

    one, other = (
        [(each.id, each.sentence, each.readings) for each in judge(asking(turned)).current if each.id.startswith("C0")]
        for turned in (False, True)
    )
    assert one == other


def test_the_picture_shades_what_the_rule_supports(store: Path) -> None:
    """For every standing that `standing` gives, the middle of the shaded part is where the statement is supported."""
    stored, book = {one.id: one for one in statements()}, comparison.rulebook()
    better, same = stored["C18b"], stored["C15e"]
    assert comparison.region(better, book) == Region(lower=None, upper=-RULES.margin)
    assert comparison.region(same, book) == Region(lower=-RULES.margin, upper=RULES.margin)
    assert comparison.region(stored["C08a"], book) == Region(lower=-RULES.margin, upper=None)
    assert comparison.region(stored["C20b"], book) == Region(lower=RULES.margin, upper=None)
    assert comparison.region(stored["C30b"], book) == Region(lower=None, upper=RULES.margin)
    assert comparison.region(fine_tuned("C09d"), book) == Region(lower=-1.0, upper=1.0)
    assert comparison.region(stored["C18a"], book) == Region(lower=None, upper=RULES.earlier)
    assert comparison.region(stored["C12a"], book) == Region(lower=None, upper=1.0)
    for one in stored.values():
        region = comparison.region(one, book)
        assert one.region == region, "what is stored is what the rule says"
        # A single exact reading decides alone, so its side must agree with the verdict.
        exact = one.kind == "rows" and len(one.readings) == 1 and one.low is None and one.verdict != OPEN
        if region and exact and one.effect is not None:
            inside = region.lower is None or one.effect > region.lower
            assert (inside and (region.upper is None or one.effect < region.upper)) == (one.verdict == SUPPORTED), (
                one.id
            )


def test_every_rule_is_said_in_words(store: Path) -> None:
    book = comparison.rulebook()
    for one in statements():
        assert one.rule == comparison.rule_in_words(one, book) != "", one.id
    words = next(one.rule for one in statements() if one.id == "C17a")
    assert "5 seeds" in words
    assert "0.05 nats" in words
    assert "Holm's method over the 4 statements" in words
