"""Version 3's rules for encoders: tests against a margin beside scipy's, and planted runs with their verdicts."""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis.ablation.plan import FINETUNING
from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS, named
from analysis.claims.statements import encoders, margin_contests
from analysis.claims.statements.judgement import (
    CONTRADICTED,
    CORRECTED,
    MISSING,
    OPEN,
    REFUSED,
    SUPPORTED,
    UNEVEN,
    UNSETTLED,
)
from analysis.claims.statements.margin_contests import (
    EXITS,
    ComparabilityLimits,
    MarginComparison,
    TrainedRun,
    compare_sides,
    sentence,
)
from analysis.rules import (
    Contest,
    EncoderContest,
    EncoderRules,
    all_encoder_rules,
    encoder_contests,
    encoder_rules,
    manifest_of,
    training_rules,
)
from analysis.statistics import difference
from analysis.statistics.margins import (
    TESTS,
    MarginTest,
    less_between_groups,
    margin_test,
    outcomes,
    seeds_to_decide,
)
from analysis.store import read

RULES = encoder_rules()
SEEDS = RULES.seeds


def paired(values: np.ndarray):
    return difference(dict(enumerate(values)), dict.fromkeys(range(len(values)), 0.0))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("expect", sorted(TESTS))
def test_a_margin_test_is_what_scipys_intervals_say(expect: str, seed: int) -> None:
    """The table of the module's docstring, by the ends of scipy's 95 % and 90 % intervals of the mean."""
    rng = np.random.default_rng(seed)
    values, margin = rng.normal(rng.uniform(-0.15, 0.15), 0.05, 8), 0.05
    sample = stats.ttest_1samp(values, 0)
    wide, narrow = sample.confidence_interval(0.95), sample.confidence_interval(0.90)
    holds, opposite = {
        "better": (wide.high < -margin, narrow.low > -margin),
        "worse": (wide.low > margin, narrow.high < margin),
        "the same": (-margin < narrow.low and narrow.high < margin, wide.low > margin or wide.high < -margin),
        "not worse": (narrow.high < margin, wide.low > margin),
        "not better": (narrow.low > -margin, wide.high < -margin),
        "slightly better": (-margin < wide.low and wide.high < 0, wide.low > 0 or wide.high < -margin),
        "slightly worse": (wide.low > 0 and wide.high < margin, wide.high < 0 or wide.low > margin),
    }[{"earlier": "better", "not earlier": "not better"}.get(expect, expect)]
    test = margin_test(paired(values), expect, margin)
    assert (test.p_for < test.level_for, test.p_against < test.level_against) == (holds, opposite)
    [outcome] = outcomes([test])
    assert outcome == ("supported" if holds else "contradicted" if opposite else "open")


def test_differences_between_widths_are_welchs() -> None:
    rng = np.random.default_rng(3)
    wide, narrow = rng.normal(0.01, 0.04, 8), rng.normal(0.11, 0.03, 8)
    result = difference(dict(enumerate(wide)), dict(enumerate(narrow)), paired=False)
    scipy = stats.ttest_ind(wide, narrow, equal_var=False)
    assert (result.low, result.high) == pytest.approx(tuple(scipy.confidence_interval(0.95)))
    test = less_between_groups(result, 0.05)
    assert test.p_for == pytest.approx(scipy.pvalue / 2)
    assert less_between_groups(result, 0.2).p_for == 1, "a smaller mean than the margin never supports"


def test_a_family_is_corrected_by_holm() -> None:
    one = MarginTest(p_for=0.02, p_against=0.9, level_for=0.025, level_against=0.05)
    assert outcomes([one]) == ["supported"]
    assert outcomes([one, one]) == ["open", "open"]


def test_a_margin_must_be_positive_and_an_expectation_known() -> None:
    with pytest.raises(ValueError, match="margin is 0"):
        margin_test(paired(np.arange(4.0)), "better", 0)
    with pytest.raises(ValueError, match="not 'lower'"):
        margin_test(paired(np.arange(4.0)), "lower", 0.05)


LIMITS = ComparabilityLimits(half=5_000, paired_spread=0.08, earlier=0.9)


def side(losses: np.ndarray, exits: float | list[float | None] = 3_000.0, *, diverged: int = 0):
    steps = exits if isinstance(exits, list) else [exits] * len(losses)
    return {
        seed: TrainedRun(run_id=f"r{seed}", loss=float(loss), diverged=number < diverged, plateau_exit=step)
        for number, (seed, loss, step) in enumerate(zip(SEEDS, losses, steps, strict=False))
    }


def compared(variant: Any, baseline: Any, expect: str = "better", kind: str = "final_loss"):
    return compare_sides(
        ("concat_20", "bert_a"), (variant, baseline), SEEDS, kind=kind, expect=expect, margin=0.05, limits=LIMITS
    )


def test_what_keeps_a_comparison_open_is_said() -> None:
    rng = np.random.default_rng(0)
    base = side(3.3 + rng.normal(0, 0.02, 8))
    lower = side(3.0 + rng.normal(0, 0.02, 8))
    assert outcomes([compared(lower, base).test]) == ["supported"]
    missing = dict(itertools.islice(lower.items(), 7))
    assert compared(missing, base).missing == 1
    assert outcomes([compared(missing, base).test]) == ["open"]
    late = side(np.full(8, 3.0), [3_000.0] * 7 + [6_000.0])
    assert "still on the plateau after half of the steps in 1 of 8 seeds" in compared(late, base).reason
    assert "diverged" in compared(side(np.full(8, 3.0), diverged=1), base).reason
    wild = side(3.0 + np.array([0.3, -0.3] * 4))
    assert "spread by" in compared(wild, base).reason
    assert margin_contests.open_by(compared(wild, base)) == UNEVEN
    never = side(np.full(8, 3.0), [None, *[2_000.0] * 7])
    assert "never left" in compared(never, base, "earlier", "steps_to_leave").reason


def test_steps_are_compared_as_a_ratio() -> None:
    base = side(np.full(8, 3.3), [3_000.0 + 50 * i for i in range(8)])
    half = side(np.full(8, 3.3), [1_500.0 + 25 * i for i in range(8)])
    result = compared(half, base, "earlier", "steps_to_leave")
    assert result.found is not None
    assert math.exp(result.found.mean) == pytest.approx(0.5)


def planted(preset: str, losses: dict[str, float], *, exits: bool = True, elsewhere: str = "") -> Any:
    """A store that holds eight seeds of these variants, the runs without positions, and their curves.

    elsewhere: a variant whose runs read another corpus than all others.
    """
    rng = np.random.default_rng(1)
    runs = [(name, seed, loss + rng.normal(0, 0.01)) for name, loss in losses.items() for seed in SEEDS]
    runs += [(RULES.plateau.variant, seed, 5.8) for seed in RULES.plateau.seeds]
    config = {
        "preset": preset,
        "rules": RULES.manifest(),
        "began": "2026-11-26T00:00:00Z",
        "steps": RULES.recipes[preset].steps,
        "learning_rate": 1e-3,
    }
    rows = [
        {"run_id": f"{name}-{seed}", "variant": name, "seed": seed, "final_loss": loss, "diverged": False,
         "config": json.dumps(config | {"corpus": {"digest": "other" if name == elsewhere else "usual"}})}
        for name, seed, loss in runs
    ]  # fmt: skip

    def ask(sql: str) -> list[dict[str, Any]]:
        if f"'{preset}'" not in sql:
            return []
        if "validation_loss" in sql:
            return [{"run_id": row["run_id"], "left": 2_000.0} for row in rows] if exits else []
        if "final_loss_4x" in sql:
            return [{"run_id": row["run_id"], "value": 2 * row["final_loss"]} for row in rows]
        return rows

    return ask


def test_runs_on_a_corpus_of_another_tokenizer_are_not_paired() -> None:
    losses = {"every_layer_attention": 3.1, "bert_a_d_unscaled": 3.1, "bert_a": 3.3}
    assert verdict(planted("width128", losses), "C34a").missing == 0
    apart = verdict(planted("width128", losses, elsewhere="bert_a_d_unscaled"), "C34a")
    assert (apart.verdict, apart.missing) == (OPEN, 8)


def test_all_stored_runs_of_a_preset_read_one_corpus(store: Path) -> None:
    """The command that trains more of them warns of another corpus by the digest that the results files name."""
    import pyarrow.parquet as pq

    from analysis.commands.ablate import stored_digests
    from analysis.store.files import results_files

    for name in RULES.recipes:
        files = [path for path in results_files() if path.parent.name == "curves" and path.name.startswith(f"{name}-")]
        configs = [json.loads(pq.read_schema(path).metadata[b"addend.run"])["config"] for path in files]
        assert stored_digests(name) == {config["corpus"]["digest"] for config in configs}
        assert len(stored_digests(name)) <= 1
    assert stored_digests("width128")
    assert stored_digests("none of this name") == set()


def verdict(ask: Any, id: str):
    return next(one for one in encoders.judge(ask) if one.id == id)


def test_a_shared_matrix_that_ends_as_low_is_supported_and_tells_its_sentence() -> None:
    same = verdict(planted("width128", {"every_layer_attention": 3.1, "bert_a_d_unscaled": 3.1}), "C34a")
    contest = next(one for one in RULES.statements if one.id == "C34a")
    assert (same.verdict, same.answer) == (SUPPORTED, contest.supported)
    apart = verdict(planted("width128", {"every_layer_attention": 3.3, "bert_a_d_unscaled": 3.1}), "C34a")
    assert apart.verdict == CONTRADICTED
    assert "0.2" in apart.answer
    stuck = verdict(planted("width128", {"every_layer_attention": 3.1, "bert_a_d_unscaled": 3.1}, exits=False), "C34a")
    assert (stuck.verdict, stuck.answer) == (OPEN, "")
    assert "plateau" in stuck.sentence
    assert (same.open_by, stuck.open_by) == ("", REFUSED)


def test_a_test_that_only_the_correction_keeps_open_says_so() -> None:
    """0.066 lower is beyond the margin by itself; with the other statements of the family untested it stays open."""
    alone = verdict(planted("width128", {"every_layer_attention": 3.1, "first_layer_attention": 3.166}), "C34c")
    assert alone.verdict == OPEN
    assert alone.high is not None
    assert alone.high < -0.05
    assert "holds by itself" in alone.sentence
    assert "of its family still lack" in alone.would_decide
    near = verdict(planted("width128", {"every_layer_attention": 3.1, "first_layer_attention": 3.155}), "C34c")
    assert "the interval does not settle it" in near.sentence
    assert (alone.open_by, near.open_by) == (CORRECTED, UNSETTLED)
    assert "new seeds" in near.would_decide


def test_nothing_stored_leaves_every_statement_open_with_its_experiment() -> None:
    for one in encoders.judge(lambda _: []):
        assert one.verdict == OPEN
        assert one.would_decide.endswith("trainings more"), "hours are those of stored runs, and there are none"
        assert one.open_by == MISSING


def test_the_pilots_choose_a_rate_for_each_variant_that_they_try() -> None:
    rows = [
        {"variant": name, "learning_rate": rate, "seed": seed, "final_loss": 3 + abs(math.log(rate / best))}
        for name, best in (("bert_a", 5e-4), ("concat_20", 2e-3))
        for rate in RULES.pilots.rates
        for seed in RULES.pilots.seeds
    ]
    assert encoders.chosen_rates(rows, RULES, "width256") == {"bert_a": 5e-4, "concat_20": 2e-3}
    assert encoders.chosen_rates(rows[1:], RULES, "width256") is None
    assert encoders.chosen_rates([], RULES, "width128") == {"bert_a": 1e-3}
    diverged = [row | {"final_loss": None} if row["learning_rate"] == 5e-4 else row for row in rows]
    assert encoders.chosen_rates(diverged, RULES, "width256") == {"bert_a": 1e-3, "concat_20": 2e-3}


def test_the_exit_is_interpolated_between_two_evaluations() -> None:
    """Against numpy.interp on the two points around the crossing."""
    import duckdb

    steps, losses = [0, 50, 100, 150], [7.0, 5.9, 5.5, 5.4]
    with duckdb.connect() as store:
        store.execute("CREATE TABLE curves (run_id VARCHAR, preset VARCHAR, metric VARCHAR, step INT, value DOUBLE)")
        rows = [("a", "p", "validation_loss", step, loss) for step, loss in zip(steps, losses, strict=True)]
        rows += [("b", "p", "validation_loss", step, 6.0) for step in steps]
        rows += [("c", "p", "validation_loss", step, loss) for step, loss in ((0, 5.0), (50, 7.0), (100, 5.0))]
        store.executemany("INSERT INTO curves VALUES (?, ?, ?, ?, ?)", rows)
        found = dict(store.execute(EXITS.format(preset="p", plateau=5.69)).fetchall())
    assert found == {"a": pytest.approx(np.interp(-5.69, [-5.9, -5.5], [50, 100])), "c": 0}


def test_the_rules_are_about_presets_and_variants_that_there_are() -> None:
    for name, recipe in RULES.recipes.items():
        preset = PRESETS[name]
        assert preset.steps == recipe.steps
        assert recipe.learning_rate in (None, preset.learning_rate)
        assert preset.hidden_size // preset.heads == 32
        assert preset.matched
        assert preset.reached
        assert FINETUNING[name].tasks == ()
        assert manifest_of(name, "bert_a", 20) == RULES.manifest()
    for contest in RULES.statements:
        assert {contest.variant, contest.baseline} <= set(VARIANTS)
        assert set(contest.presets) <= set(RULES.recipes)
        assert contest.expect in {*TESTS, "less"}
        contest.supported.format(size="0.10", ratio="0.50")
        contest.contradicted.format(size="0.10", ratio="0.50")


def differing(contest: EncoderContest) -> set[str]:
    """The fields of the config in which the two sides of a statement differ, widths that match parameters apart."""
    configs = []
    for name in (contest.variant, contest.baseline):
        fields = {
            **vars(VARIANTS[name])["settings"],
            "share": VARIANTS[name].position_share,
            "wider": VARIANTS[name].wider,
        }
        configs.append({"combine": "none", "untied": "none", "scale_terms": 1} | fields)
    keys = configs[0].keys() | configs[1].keys()
    return {key for key in keys if configs[0].get(key) != configs[1].get(key)}


SEVERAL = {"C34b", "C34d", "C34e", "C34p", "C34n", "C36d", "C36e"}
"""Statements whose variants are set by more than one field of the config; what differs is one thing in their words."""


def test_a_factor_is_one_field_of_the_config() -> None:
    for contest in RULES.statements:
        if contest.id.startswith("C34") and contest.id not in SEVERAL:
            assert len(differing(contest)) == 1, (contest.id, differing(contest))


def test_runs_of_other_rules_or_from_before_the_freeze_decide_nothing() -> None:
    config = {
        "preset": "width128", "rules": RULES.manifest(), "began": "2026-11-26T00:00:00Z", "steps": 10_000,
    }  # fmt: skip
    assert RULES.refusal(config) == ""
    assert "before the rules were frozen" in RULES.refusal({**config, "began": "2026-11-25T15:00:00Z"})
    assert "other rules" in RULES.refusal({**config, "rules": {"sha256": "0" * 64}})
    assert "names no rules" in RULES.refusal({**config, "rules": None})
    assert "steps are 500" in RULES.refusal({**config, "steps": 500})
    assert "not one of" in RULES.refusal({**config, "preset": "cpu2"})


def test_every_stored_run_names_the_file_as_it_is() -> None:
    """Changed by a character, the rules would judge none of the runs that were begun under them."""
    import pyarrow.parquet as pq

    from analysis.store.files import results_files

    for path in results_files():
        if path.parent.name == "curves" and path.name.startswith(tuple(f"{name}-" for name in RULES.recipes)):
            config = json.loads(pq.read_schema(path).metadata[b"addend.run"])["config"]
            (file,) = [rules for rules in all_encoder_rules() if rules.sha256 == config["rules"]["sha256"]]
            assert file.manifest() == manifest_of(config["preset"], config["variant"], config["seed"]), path.name
            assert config["began"] >= file.frozen, path.name


@pytest.mark.parametrize("place", [1, 2, 5])
def test_further_rules_judge_their_own_runs_beside_those_that_began_under_the_first(place: int) -> None:
    """Nothing but the variants that the further file adds is judged anew, and its recipe is that of the first."""
    further = all_encoder_rules()[place]
    config = {"preset": "width128", "began": further.frozen, "steps": 10_000}
    for variant in further.planned("width128"):
        begun_before = variant in further.begun_under
        rules, other = (RULES, further) if begun_before else (further, RULES)
        assert manifest_of("width128", variant, further.seeds[0]) == rules.manifest()
        named = {**config, "variant": variant}
        assert further.refusal({**named, "rules": rules.manifest()}) == ""
        assert "other rules" in further.refusal({**named, "rules": other.manifest()})
    added = set(further.planned("width128")) - set(further.begun_under)
    assert not added & set(RULES.planned("width128"))
    assert further.recipes.items() <= {name: RULES.recipes[name] for name in further.recipes}.items()
    for field in ("seeds", "plateau", "by_half", "paired_spread", "earlier"):
        assert getattr(further, field) == getattr(RULES, field)


@pytest.mark.parametrize(("place", "asked_first"), [(3, ("C34c", "C34d", "C36i")), (4, ("C34f", "C34j", "C36h"))])
def test_repeated_comparisons_have_seeds_of_their_own(place: int, asked_first: tuple[str, ...]) -> None:
    """Nothing but the seeds differs from the file that asked first, and no run of another file is counted again."""
    again, before_it = all_encoder_rules()[place], all_encoder_rules()[:place]
    first = {one.id: one for rules in before_it for one in rules.statements}
    assert len(again.seeds) == 2 * len(RULES.seeds)
    taken = {seed for rules in before_it for seed in rules.seeds}
    assert not set(again.seeds) & {*taken, *RULES.plateau.seeds, *RULES.pilots.seeds}
    for contest, before in zip(again.statements, asked_first, strict=True):
        for name in ("variant", "baseline", "kind", "expect", "preset", "margin", "spread"):
            assert getattr(contest, name) == getattr(first[before], name)
        for variant in (contest.variant, contest.baseline):
            assert manifest_of("width128", variant, again.seeds[0]) == again.manifest()
            assert manifest_of("width128", variant, RULES.seeds[0]) != again.manifest()
            config = {"preset": "width128", "variant": variant, "began": again.frozen, "steps": 10_000}
            assert again.refusal({**config, "rules": again.manifest()}) == ""
            assert "other rules" in again.refusal({**config, "rules": RULES.manifest()})
    assert again.recipes == {"width128": RULES.recipes["width128"]}
    for field in ("plateau", "by_half", "paired_spread", "earlier"):
        assert getattr(again, field) == getattr(RULES, field)


def test_the_longer_recipe_differs_in_nothing_but_its_steps() -> None:
    """Runs of twice the steps are begun under their own file, and compared with stored ones of the first."""
    longer = next(rules for rules in all_encoder_rules() if "width128_twice" in rules.recipes)
    usual, twice = PRESETS["width128"], PRESETS["width128_twice"]
    assert replace(twice, preset=usual.preset, steps=usual.steps) == usual
    assert twice.steps == 2 * usual.steps == longer.recipes["width128_twice"].steps
    assert longer.recipes["width128"] == RULES.recipes["width128"]
    for field in ("by_half", "paired_spread", "earlier"):
        assert getattr(longer, field) == getattr(RULES, field)
    for variant in (*longer.planned("width128_twice"), longer.plateau.variant):
        for preset, rules, other in (("width128_twice", longer, RULES), ("width128", RULES, longer)):
            assert manifest_of(preset, variant, longer.seeds[0]) == rules.manifest()
            steps = PRESETS[preset].steps
            config = {"preset": preset, "variant": variant, "began": longer.frozen, "steps": steps}
            assert longer.refusal({**config, "rules": rules.manifest()}) == ""
            assert "other rules" in longer.refusal({**config, "rules": other.manifest()})


def test_methods_in_use_are_trained_by_the_recipe_of_those_they_are_compared_with() -> None:
    """Runs of the three methods are begun under their own file; adding once and the plateau are those stored."""
    methods = next(rules for rules in all_encoder_rules() if "alibi" in rules.planned("width128"))
    assert methods.recipes["width128"] == RULES.recipes["width128"]
    assert (methods.seeds, methods.plateau) == (RULES.seeds, RULES.plateau)
    for field in ("by_half", "paired_spread", "earlier"):
        assert getattr(methods, field) == getattr(RULES, field)
    for variant in methods.planned("width128"):
        new = variant in {"rotary", "alibi", "deberta"}
        assert manifest_of("width128", variant, methods.seeds[0]) == (methods if new else RULES).manifest()


def judges_like_the_first_file(again: EncoderRules) -> None:
    assert again.recipes == {"width128": RULES.recipes["width128"]}
    for field in ("plateau", "by_half", "earlier"):
        assert getattr(again, field) == getattr(RULES, field)


def asks_the_same(contest: EncoderContest, before: Contest | EncoderContest) -> None:
    for name in ("parent", "variant", "baseline", "kind", "expect"):
        assert getattr(contest, name) == getattr(before, name)


def test_a_fixed_bias_is_compared_again_with_new_seeds_and_any_spread() -> None:
    """Nothing but the seeds, the limit on their spread and the side that is asked about differs from the first file."""
    first, again, _ = (rules for rules in all_encoder_rules() if "alibi" in rules.planned("width128"))
    taken = {seed for rules in all_encoder_rules() if rules.version < again.version for seed in rules.seeds}
    assert not set(again.seeds) & {*taken, *RULES.plateau.seeds, *RULES.pilots.seeds}
    judges_like_the_first_file(again)
    asked_first = {one.id: one for one in first.statements}
    for contest, before in zip(again.statements, ("C42b", "C42e"), strict=True):
        for name in ("variant", "baseline", "kind", "preset", "margin"):
            assert getattr(contest, name) == getattr(asked_first[before], name)
        assert (contest.expect, contest.spread) == ("worse", "any")
        for variant in (contest.variant, contest.baseline):
            assert manifest_of("width128", variant, again.seeds[0]) == again.manifest()


def test_open_statements_of_version_2_are_asked_again_by_the_recipe_of_encoders() -> None:
    """The later statements compare the same two on the same end point; their new variants begin under their file."""
    old = {one.id: one for one in training_rules().statements}
    versions = {rules.sha256: rules.version for rules in all_encoder_rules()}
    named = {"methods_2.toml": 17, "trainings_3.toml": 21, "encoders.toml": 3}
    files = {rules.version: rules for rules in all_encoder_rules()}
    for again in (files[18], files[22]):
        judges_like_the_first_file(again)
        for contest in again.statements:
            asks_the_same(contest, old[contest.asks_again])
            assert not contest.plateau
            assert manifest_of("width128", contest.variant, again.seeds[0]) == again.manifest()
        for variant, name in again.begun_under.items():
            plateau = variant == again.plateau.variant  # Whose runs have seeds of their own.
            begun = manifest_of("width128", variant, (again.plateau.seeds if plateau else again.seeds)[0])
            assert begun
            assert versions[str(begun["sha256"])] == named[name]


def test_small_differences_are_asked_again_with_seeds_that_nobody_has_trained() -> None:
    """The same two as before: eight with the test of small differences, and three as they were asked before."""
    again = next(rules for rules in all_encoder_rules() if rules.version == 23)
    judges_like_the_first_file(again)
    older = {
        seed for rules in all_encoder_rules() if rules.version < 23 and rules.version != 12 for seed in rules.seeds
    }
    assert not set(again.seeds) & {*older, *RULES.plateau.seeds, *RULES.pilots.seeds}
    asked = {one.id: one for rules in all_encoder_rules() for one in rules.statements}
    for contest in again.statements:
        assert contest.parent == contest.asks_again[:3]
        if before := asked.get(contest.asks_again):
            assert (contest.variant, contest.baseline) == (before.variant, before.baseline)
            assert (contest.kind, contest.preset) == (before.kind, before.preset)
        small = contest.expect.startswith("slightly")
        assert (contest.margin, contest.spread) == ((0.10, "") if small else (0.05, contest.spread))
        assert ("by less than 0.10 nats" in contest.statement) == small
        for variant in (contest.variant, contest.baseline):
            rules = next(
                one for one in all_encoder_rules() if one.version == (12 if variant in again.begun_under else 23)
            )
            assert manifest_of("width128", variant, again.seeds[0]) == rules.manifest()
            config = {"preset": "width128", "variant": variant, "began": again.frozen, "steps": 10_000}
            assert again.refusal({**config, "rules": rules.manifest()}) == ""
            assert again.refusal({**config, "rules": RULES.manifest()})
    assert sum(contest.expect.startswith("slightly") for contest in again.statements) == 8


def test_final_losses_are_compared_wherever_a_model_is_at_half_of_the_steps() -> None:
    """Nothing but seeds, spread and plateau differs from the first file, and each statement names the steps."""
    again = next(rules for rules in all_encoder_rules() if any(one.plateau for one in rules.statements))
    asked = {one.id: one for rules in (training_rules(), *all_encoder_rules()) for one in rules.statements}
    taken = {seed for rules in all_encoder_rules() if rules.version < again.version for seed in rules.seeds}
    assert not set(again.seeds) & {*taken, *RULES.plateau.seeds, *RULES.pilots.seeds}
    judges_like_the_first_file(again)
    for contest in again.statements:
        asks_the_same(contest, asked[contest.asks_again])
        assert (contest.plateau, contest.spread, contest.margin) == ("any", "any", 0.05)
        assert contest.statement.startswith("After 10,000 steps, ")
        for variant in (contest.variant, contest.baseline):
            assert manifest_of("width128", variant, again.seeds[0]) == again.manifest()


def test_a_side_that_never_leaves_the_plateau_is_compared_only_where_the_file_says_so(store: Path) -> None:
    contest, rules = encoder_contests()["C24e"]
    presets = {"width128": encoders.load_runs(lambda sql: read.query(sql).to_dict("records"), rules, "width128")}
    assert encoders.compare(contest, presets, rules).reason == ""
    assert "plateau" in encoders.compare(replace(contest, plateau=""), presets, rules).reason


def test_trainings_that_are_lacking_are_spoken_of_only_where_there_are_some() -> None:
    """A test that holds by itself and not in its family: the reason names missing trainings only where some are."""
    test = MarginTest(p_for=0.01, p_against=0.9, level_for=0.025, level_against=0.05)
    comparison = MarginComparison(found=None, test=test)
    for waiting in (0, 2):
        said = sentence("the loss is lower", comparison, OPEN, waiting)
        assert "corrected for the other statements of its family" in said
        assert ("count as failed" in said) == bool(waiting)


@pytest.mark.parametrize("expect", sorted(TESTS))
@pytest.mark.parametrize(("mean", "sd"), [(-0.09, 0.045), (0.02, 0.03), (0.085, 0.035)])
def test_the_seeds_to_decide_are_those_that_decide_four_times_in_five(expect: str, mean: float, sd: float) -> None:
    """2,000 tries of `margin_test`, on samples of that mean and spread: standard error 0.009."""
    rng, margin = np.random.default_rng(7), 0.05
    sample = rng.normal(size=8)
    found = paired(mean + sd * (sample - sample.mean()) / sample.std(ddof=1))
    seeds = seeds_to_decide(found, expect, margin)
    assert seeds is not None

    def decided(count: int) -> float:
        tries = rng.normal(mean, sd, (2_000, count))
        return float(np.mean([outcomes([margin_test(paired(one), expect, margin)])[0] != "open" for one in tries]))

    assert decided(seeds) > 0.77
    assert seeds == 2 or decided(seeds - 1) < 0.83


def test_no_number_of_seeds_decides_a_difference_on_the_line_itself() -> None:
    found = paired(-0.05 + 0.03 * np.array([-1.0, 1.0, -0.5, 0.5]))
    assert seeds_to_decide(found, "better", 0.05) is None


def test_a_verdict_that_depends_on_what_is_tested_together_says_so() -> None:
    """Two statements found alone, one of them narrowly; beside eight that found nothing, Holm drops the narrow one."""
    found = {"clear": (1e-6, 1.0), "narrow": (0.02, 1.0)} | {f"nothing {place}": (0.9, 0.9) for place in range(8)}
    comparisons = {
        name: MarginComparison(found=None, test=MarginTest(p_for=p, p_against=q, level_for=0.025, level_against=0.025))
        for name, (p, q) in found.items()
    }
    cautions = encoders.cautions_of(families={name: name for name in found}, comparisons=comparisons)
    assert [name for name, text in cautions.items() if text] == ["narrow"]
    assert cautions["narrow"] == (
        " Its test is corrected for no other; corrected for all 10 statements of its file, it would be open."
    )
    assert not any(encoders.cautions_of(families=dict.fromkeys(found, "one"), comparisons=comparisons).values())


def test_trainings_that_never_used_order_are_counted_beside_their_loss(store: Path) -> None:
    """Against pandas, for every statement that compares such losses: a final loss above the plateau of the recipe."""
    finals = read.query("SELECT variant, seed, final_loss FROM pretrainings WHERE preset = 'width128'")
    losses = finals.pivot_table(index="seed", columns="variant", values="final_loss")
    plateau = losses.no_position[list(RULES.plateau.seeds)].mean() - RULES.plateau.below
    told = {row.id: row.sentence for row in read.query("SELECT id, sentence FROM statements").itertuples()}
    asked = {
        id: (contest, rules)
        for id, (contest, rules) in encoder_contests().items()
        if contest.plateau == "any" and contest.kind == "final_loss" and id in told
    }
    assert "C27e" in asked
    losses = losses.reindex(columns=list(VARIANTS))  # Those that wait for all of their runs are among them.
    for id, (contest, rules) in asked.items():
        for name in (contest.variant, contest.baseline):
            waiting = (losses[name][list(rules.seeds)] > plateau).sum()
            said = f"{waiting} of {len(rules.seeds)} of {named(name)}"
            assert (said in told[id]) == bool(waiting), (id, said)
