"""The answer: every sentence is computed from the store, leads to its evidence, and turns when verdicts do."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from judged import statement

from analysis.ablation.presets import PRESETS
from analysis.claims.statements import stored as statements
from analysis.claims.statements.by_id import StatementsById
from analysis.claims.statements.judgement import CONTRADICTED, FAILS, HOLDS, MIXED, OPEN, SUPPORTED, Reading
from analysis.core.formatting import signed
from analysis.links import link, parse
from analysis.narrative import answer
from analysis.narrative.answer import SENTENCES, stored_answer
from analysis.narrative.answer.cards import cards
from analysis.narrative.answer.computed_sentence import Tempering, limit_in_words
from analysis.narrative.answer.sentences import cost as cost_sentence, inside_heads, told_once
from analysis.narrative.answer.sentences.algebra import error_bound, largest_error
from analysis.narrative.answer.sentences.concatenated import EQUALLY_WIDE
from analysis.narrative.answer.sentences.small import LEADS, ONCE_AT_OTHER_WIDTHS
from analysis.rules import all_encoder_rules, encoder_rules
from analysis.store import read

CONTESTS = {contest.id: contest for rules in all_encoder_rules() for contest in rules.statements}


def with_verdict(one, verdict: str):
    """A statement with another verdict, and with the sentence that its rules fixed for that."""
    answer = one.answer
    if verdict != one.verdict and one.id in CONTESTS:
        fixed = {SUPPORTED: CONTESTS[one.id].supported, CONTRADICTED: CONTESTS[one.id].contradicted}.get(verdict, "")
        answer = fixed.format(size="0.10", ratio="0.50")
    return replace(one, verdict=verdict, answer=answer, would_decide=one.would_decide or "a look at it")


def facts(**changed: str) -> list:
    """The stored statements, some with another verdict."""
    verdicts = {current(id): verdict for id, verdict in changed.items()}
    return [with_verdict(one, verdicts.get(one.id, one.verdict)) for one in statements.statements()]


def current(id: str) -> str:
    """The id of the statement that took the place of one, if any did."""
    return statements.by_id().current_id(id)


def planted(**changed: dict[str, object]) -> list:
    """The stored statements, some with other fields: by the ids that the sentences name."""
    fields = {current(id): values for id, values in changed.items()}
    return [replace(one, **fields.get(one.id, {})) for one in facts()]


def tables(judged: list, ask) -> dict[str, list]:
    """The answer that follows from these statements, found by the ids of those whose place they took, too."""
    replaced = {id: current(id) for id in statements.linked_statements() if current(id) != id}
    return answer.tables(StatementsById(judged, replaced), ask)


def ask(sql: str) -> list[dict]:
    return read.query(sql).to_dict("records")


def told(**changed: str) -> dict[str, str]:
    return {row["name"]: row["sentence"] for row in tables(facts(**changed), ask)["answers"]}


def further(**changed: str) -> dict[str, str]:
    return {row["name"]: row["further"].replace("\u00a0", " ") for row in tables(facts(**changed), ask)["answers"]}


def test_every_sentence_is_told_and_leads_to_its_evidence(store: Path) -> None:
    steps = stored_answer.answer()
    assert {step.name for step in steps} == {name for name, _ in SENTENCES.items()}
    assert [step.place for step in steps] == list(range(len(steps)))
    known = {one.parent for one in statements.statements()}
    for step in steps:
        assert step.bold in step.sentence
        assert step.sentence.endswith(".")
        assert all(line.endswith(".") for line in step.further.splitlines())
        assert step.claim in known | {""}
        assert not step.page or parse(link(step.page, step.values))
        assert not read.query(step.query).empty, "the query behind it gives something"
    view = read.query('SELECT * FROM answer ORDER BY "order"')
    assert list(view.sentence) == [step.sentence for step in steps]
    assert list(view.further) == [step.further for step in steps]
    for card in cards():
        assert parse(link(card.page, card.values))


def test_the_answer_turns_when_verdicts_do(store: Path) -> None:
    better = {f"C17{part}": SUPPORTED for part in "abc"}
    none = dict.fromkeys(better, CONTRADICTED)
    undecided = dict.fromkeys(better, OPEN)
    assert "ends lower with 3 of 3 layouts" in told(**better)["concatenated"]
    assert "ends higher" in told(**none)["concatenated"]
    assert "was ahead (−0.53 nats)" in told(**none)["concatenated"], "contrary evidence stands beside it"
    assert "was ahead" not in told(**better)["concatenated"]
    assert "is open for 3 of 3 layouts" in told(**undecided)["concatenated"]
    assert "keeps its score" in told(C10d=SUPPORTED)["room"]
    assert "loses some of its score" in told(C10d=CONTRADICTED)["room"]
    assert "has room for both" in told(C10d=SUPPORTED)["lead"]
    assert "has room for both" not in told(C10d=CONTRADICTED)["lead"]
    assert "held fixed, 99 %" in further(C35a=SUPPORTED)["room"]
    assert "held fixed, only 99 %" in further(C35a=CONTRADICTED)["room"]
    assert "trained on" not in further(C35a=OPEN)["room"]
    assert "as many random directions, 7 %" in further(C35a=SUPPORTED, C35b=SUPPORTED)["room"]
    assert "random directions, 7 %" not in further(C35a=SUPPORTED, C35b=OPEN)["room"]
    assert "turning these" not in told(C22c=OPEN, C42a=OPEN)["lead"]
    assert "turning these" in told(C22c=SUPPORTED, C42a=OPEN)["lead"]
    assert "Sharing the turned key" in told(C30e=SUPPORTED)["inside_heads"]
    assert "Sharing the turned key" not in told(C30e=CONTRADICTED)["inside_heads"]
    assert "told_once" not in told(C34b=OPEN)
    everything = told(**{one.id: SUPPORTED for one in statements.statements()})
    assert "All" in everything["still_open"]


CAUSES = {
    "adding positions once": ("C34b", "C37g", "C37h"),
    "a matrix of its own": ("C34r", "C34a", "C34w"),
}
"""A cause as the answer names it -> the contrasts in which that alone differs."""


def test_no_causal_sentence_outlives_the_contrast_that_refutes_it(store: Path) -> None:
    """With every contrast of a cause contradicted, the answer does not name that cause any more."""
    refuted = told(**dict.fromkeys((id for ids in CAUSES.values() for id in ids), CONTRADICTED))
    text = " ".join(refuted.values()).lower()
    assert "adding positions once, at the input, ends" not in text
    assert "changed the final loss little" not in text
    assert "ends no lower" not in text
    isolated = told(C34b=SUPPORTED)["told_once"]
    assert "Adding positions once, at the input, ends" in isolated
    assert "costs" not in isolated.partition("\n")[0], "the sides differ in more than how often positions are told"
    as_it_is = " ".join(told().values()).lower()
    for cause, contrasts in CAUSES.items():
        verdicts = {statement(id).verdict for id in contrasts}
        if cause in as_it_is:
            assert SUPPORTED in verdicts, cause
            assert CONTRADICTED not in verdicts, cause


def test_what_concatenating_gains_in_another_shape_is_told_as_such(store: Path) -> None:
    """The sentence on the wider model names its shape as long as the contrast in one shape is open."""

    def sentence(*, high: float, control: str, seeds: int = 4) -> str:
        words = "" if control == OPEN else "The control's own words."
        changed = {
            "C36d": {"verdict": SUPPORTED, "effect": -0.08, "low": -0.1, "high": high, "seeds": 8},
            "C36g": {"verdict": control, "answer": words, "effect": -0.04, "low": -0.07, "high": -0.01, "seeds": seeds},
            "C36m": {"verdict": OPEN, "answer": "", "effect": 0.08, "low": 0.04, "high": 0.12, "seeds": seeds},
        }
        judged = planted(**changed)
        return next(row["sentence"] for row in tables(judged, ask)["answers"] if row["name"] == "told_once")

    assert "parameters, positions end 0.08 nats lower than added.\nA control of that shape is in" in sentence(
        high=-0.06, control=OPEN
    )
    told_apart = sentence(high=-0.06, control=CONTRADICTED)
    assert "The control's own words." in told_apart
    assert "A control of that shape" not in told_apart
    shape, wider = "In this shape, concatenating ends", "0.08 nats higher than adding with wider words"
    both = sentence(high=-0.06, control=OPEN, seeds=8)
    equal = "0.04 nats lower than adding with words as wide"
    assert f"{shape} {equal} (open).\n{shape} {wider} (open)." in both
    one = sentence(high=-0.06, control=CONTRADICTED, seeds=8)
    assert f"The control's own words.\n{shape} {wider} (open)." in one
    assert "words of full width" not in sentence(high=0.01, control=OPEN), "an interval that holds zero tells nothing"


def test_rotations_are_told_by_the_recipe_of_the_table_once_it_has_decided_them(store: Path) -> None:
    def told_with(**changes: dict) -> dict[str, str]:
        every = planted(**changes)
        return {row["name"]: row["sentence"] for row in tables(every, ask)["answers"]}

    turned = {"verdict": SUPPORTED, "effect": -0.33, "low": -0.36, "high": -0.3, "seeds": 8, "missing": 0}
    apart = {"verdict": CONTRADICTED, "effect": -0.08, "low": -0.1, "high": -0.06}
    again = {"effect": -0.01, "low": -0.03, "high": 0.01, "verdict": SUPPORTED}
    undecided = {"verdict": OPEN, "would_decide": "more seeds"}
    begin = "Turned into queries and keys, positions end 0.33 nats lower than added (8 seeds)"
    sentence = told_with(C42a=turned, C42d=apart)["told_once"]
    assert f"{begin}, 0.08 nats lower than told to them in every layer." in sentence
    assert f"{begin}, the same as told to them in every layer." in told_with(C42a=turned, C42d=again)["told_once"]
    assert f"{begin}." in told_with(C42a=turned, C42d=undecided)["told_once"]
    assert "Turned into queries" not in told_with(C42a=undecided)["told_once"]


def test_the_published_masked_encoders_in_which_a_bias_by_distance_did_better_are_named(store: Path) -> None:
    rows = read.query("SELECT variant, citation, table_name, value FROM published_scores WHERE setting LIKE '%MLM%'")
    tables = rows.groupby(["citation", "table_name"])
    biased = {name: table.set_index("variant").value for name, table in tables if "ALiBi" in set(table.variant)}
    assert list(biased) == [("haviv2022nopos", "Table 4")]
    assert all(table["ALiBi"] < table["Learned"] for table in biased.values())
    (step,) = (step for step in stored_answer.answer() if step.name == "told_once")
    assert statement("C42f").verdict == SUPPORTED
    assert any("ALiBi ends a little lower (Haviv" in limit.words for limit in step.tempered_by)


def test_the_steps_say_which_of_them_are_open_and_which_have_more_seeds(store: Path) -> None:
    def sentence(*, seeds: int, verdict: str) -> str:
        judged = planted(
            C34s={"effect": -0.0612, "verdict": OPEN, "seeds": seeds},
            C34t={"effect": -0.1434, "verdict": verdict, "seeds": seeds},
        )
        return next(row["sentence"] for row in tables(judged, ask)["answers"] if row["name"] == "told_once")

    first, every = (
        "Told to the queries and keys of the first layer, positions end 0.14 nats lower than added once, normalised",
        "Told to the queries and keys of every layer, positions end 0.06 nats lower than to those of the first",
    )
    open_step, decided = sentence(seeds=16, verdict=OPEN), sentence(seeds=16, verdict=SUPPORTED)
    assert f"\n{first} (16 new seeds; open).\n{every} alone (16 new seeds; open)." in open_step
    assert f"\n{first} (16 new seeds).\n{every} alone (16 new seeds; open)." in decided


def test_what_training_says_of_the_algebra_stands_beside_it(store: Path) -> None:
    numbers = {"verdict": OPEN, "missing": 0, "seeds": 8}
    effects = {"C36v": -0.08, "C36w": 0.14, "C36o": 0.06}
    waiting = {"C36z": {"missing": 1}}  # Told instead once its runs are there.
    judged = planted(**waiting, **{id: {**numbers, "effect": effect} for id, effect in effects.items()})
    (row,) = [row for row in tables(judged, ask)["answers"] if row["name"] == "algebra"]
    assert "two blocks end 0.08 nats lower than those with one (8 seeds each; open)" in row["sentence"]
    assert "then projecting ends 0.14 nats higher (open), and concatenating and projecting 0.06" in row["further"]
    in_training = planted(**waiting, C36v={"missing": 2})
    (untold,) = [row for row in tables(in_training, ask)["answers"] if row["name"] == "algebra"]
    assert "two blocks" not in untold["sentence"]
    rows = {"algebra": row["further"]}
    published = read.query("SELECT * FROM published_rows WHERE table_name = 'Table 3' AND variant LIKE '%: %'")
    value = published.set_index("variant").printed_value
    for kind in ("Sinusoidal", "Learned Absolute", "RoPE", "Relative"):
        assert signed(value[f"{kind}: Concat+projection"] - value[f"{kind}: Add"], 1) in rows["algebra"]


def test_a_projection_that_starts_as_adding_is_told_once_all_of_its_runs_are_there(store: Path) -> None:
    numbers = {"missing": 0, "seeds": 8, "line": 0.05}
    trained = {
        "C36z": {**numbers, "effect": -0.12, "verdict": SUPPORTED},
        "C36ab": {**numbers, "effect": 0.14, "verdict": CONTRADICTED},
        "C36aa": {**numbers, "effect": -0.03, "verdict": CONTRADICTED},
    }

    def row(**changes: dict[str, object]) -> dict[str, str]:
        judged = planted(**{id: {**fact, **changes.get(id, {})} for id, fact in trained.items()})
        return next(row for row in tables(judged, ask)["answers"] if row["name"] == "algebra")

    complete = row()
    assert (
        "two blocks ends 0.12 nats lower than one with a single block, and 0.03 nats lower (too little to count) than"
        in complete["sentence"]
    )
    assert "without a projection (8 seeds each)" in complete["sentence"]
    assert "starts as the identity ends 0.14 nats higher than adding alone" in complete["further"]
    assert "small random numbers: compared with adding alone" in complete["further"]
    assert "and 0.03 nats higher than one that adds" in row(C36aa={"effect": 0.03})["sentence"]
    assert "0.12 nats lower (open) than one" in row(C36z={"verdict": OPEN})["sentence"]
    waiting = row(C36aa={"missing": 1, "verdict": OPEN})
    assert "starts from adding" not in waiting["sentence"]
    assert "identity" not in waiting["further"]


def numbers(text: str) -> list[str]:
    return re.findall(r"(?<![\w-])\d[\d.,]*\d|(?<![\w-])\d", text)


def test_a_short_sentence_keeps_its_other_numbers_one_press_away(store: Path) -> None:
    """The sentences on cost and on size: each number of the results stands in them, or behind their press."""
    rows = {row["name"]: row for row in tables(facts(), ask)["answers"]}
    small, cost = rows["small"], rows["cost"]
    leads = read.query(LEADS)
    assert len(leads) > 1
    for lead in leads.itertuples():
        seeds = f"{lead.seeds} seed{'' if lead.seeds == 1 else 's'}"
        assert f"{lead.lead:.2f} nats after {lead.steps:,} steps ({seeds})" in small["further"]
    assert "These trainings were exploratory" in small["further"]
    others = [statement(id) for id in ONCE_AT_OTHER_WIDTHS if statement(id).verdict == SUPPORTED]
    assert others
    assert f"adding once ends {abs(others[0].effect):.2f} nats higher" in small["sentence"]
    assert all(f"{abs(other.effect):.2f} nats higher" in small["further"] for other in others[1:])
    undecided = sum(one.verdict == OPEN for one in statements.statements() if one.id.startswith("C37"))
    assert f"{undecided} statements on widths" in small["further"]
    assert len(numbers(small["sentence"])) <= 7, small["sentence"]
    assert f"{100 * statement('C01b').effect:.1f} % more arithmetic" in cost["sentence"].replace("\u00a0", " ")
    assert f"{100 * statement('C01a').effect:.1f} % more parameters" in cost["further"].replace("\u00a0", " ")
    for row in read.query(cost_sentence.MEASURED).itertuples():
        assert f"{100 * row.more:.0f} % more" in cost["further"].replace("\u00a0", " "), row.measure
    assert len(numbers(cost["sentence"])) <= 2, cost["sentence"]


WAITING = r"\d+ statements on widths .* are open\.$"


def test_a_width_of_which_nothing_is_decided_is_said_to_be_open(store: Path) -> None:
    rows = {row["name"]: row for row in tables(facts(), ask)["answers"]}
    assert re.search(WAITING, rows["small"]["further"], re.MULTILINE)
    undecided = planted(**{id: {"verdict": MIXED} for id in ONCE_AT_OTHER_WIDTHS})
    nothing = {row["name"]: row for row in tables(undecided, ask)["answers"]}
    assert re.search(WAITING.removesuffix("$"), nothing["small"]["sentence"])
    assert not re.search(WAITING, nothing["small"]["further"], re.MULTILINE)


def test_the_arrangement_that_the_question_proposes_is_told_once_it_is_trained(store: Path) -> None:
    controls = {"C36k": {"verdict": OPEN}, "C36l": {"verdict": OPEN}}

    def sentence(**proposed: object) -> str:
        judged = planted(C36e=proposed, **controls)
        return next(row["sentence"] for row in tables(judged, ask)["answers"] if row["name"] == "concatenated")

    measured = {"effect": 0.2, "low": 0.1, "high": 0.3, "answer": ""}
    said = "Short words beside the leading sinusoids, as the question proposes, ended 0.20 nats higher than adding all"
    told_now = sentence(verdict=OPEN, seeds=8, **measured)
    assert f"{said} of them (open: +0.10 to +0.30); " in told_now
    finals = read.query("SELECT variant, seed, final_loss FROM pretrainings WHERE preset = 'width128'")
    losses = finals.pivot_table(index="seed", columns="variant", values="final_loss").loc[list(encoder_rules().seeds)]
    assert f"; {(losses.concat_lead - losses.sinusoidal_strong).median():.2f} in the median of 8 seeds." in told_now
    controls["C36k"] = {"verdict": CONTRADICTED, "effect": 0.4}
    assert "as long" not in sentence(verdict=OPEN, seeds=8, **measured), "one control alone explains nothing"
    controls["C36l"] = {"verdict": SUPPORTED, "effect": -2.5}
    assert (
        "On texts 4 times as long they ended 2.10 nats lower than adding all of them, but 0.40 nats higher than adding "
        "the leading ones alone."
    ) in sentence(verdict=OPEN, seeds=8, **measured)
    assert "as the question proposes" not in sentence(verdict=OPEN, seeds=7, **measured)
    decided = sentence(verdict=CONTRADICTED, seeds=8, **measured | {"answer": "It costs 0.20 nats."})
    assert "It costs 0.20 nats." in decided
    assert "as the question proposes" not in decided


def test_a_gain_in_every_layer_names_where_in_the_layer(store: Path) -> None:
    """Positions told to queries and keys gain; those added to the whole input of every layer (C34e) do not."""
    assert statement("C34e").verdict == CONTRADICTED
    sentences = told()
    for text in (sentences["lead"], sentences["told_once"]):
        places = [text[: found.start()] for found in re.finditer("every layer", text)]
        assert places
        known = (
            "attention scores of ",
            "queries and keys of ",
            " and of ",
            "whole input of ",
            "with positions told in ",
            "told to them in ",
            "positions that ",
        )
        assert all(place.endswith(known) for place in places), places
    (step,) = [step for step in stored_answer.answer() if step.name == "told_once"]
    assert "C34e" in [limit.id for limit in step.tempered_by], "that the whole input gains nothing is one press away"


def test_a_decided_contrast_is_told_in_the_words_that_were_fixed_before_its_runs(store: Path) -> None:
    from analysis.rules import encoder_rules

    contest = next(one for one in encoder_rules().statements if one.id == "C34a")
    judged = planted(C34a={"verdict": SUPPORTED, "answer": contest.supported})
    rows = {row["name"]: row["sentence"] for row in tables(judged, ask)["answers"]}
    apart = next(one for one in judged if one.id == "C34a")
    beside = f"({abs(apart.effect):.2f} nats apart; below {apart.line:g} is the same)"
    fixed = contest.supported.removesuffix(".")
    assert f"In final loss, {fixed[:1].lower()}{fixed[1:]} {beside}." in rows["told_once"]


def test_what_tempers_a_sentence_is_a_statement_of_the_ledger(store: Path) -> None:
    known = statements.by_id()
    listed = {step.name: [limit.id for limit in step.tempered_by] for step in stored_answer.answer()}
    assert {"C09c", "C17g", "C22e", "C19a", "C30d"} <= {id for ids in listed.values() for id in ids}
    for sentence in (one for _, one in SENTENCES.items()):
        assert all(one.statement in known for one in sentence.tempered_by)


def test_a_limit_is_told_in_words_for_its_verdict_and_else_by_its_statement(store: Path) -> None:
    """The words are for one verdict: under any other the statement and its finding stand there."""
    known = statements.by_id()
    for one in (one for _, sentence in SENTENCES.items() for one in sentence.tempered_by):
        fact = known[one.statement]
        assert fact.verdict == one.verdict, "today's words are those that were written for today's verdict"
        words = limit_in_words(one, fact)
        assert not set("{}") & set(words)
        assert not words.startswith(fact.verdict.capitalize())
        other = next(verdict for verdict in (SUPPORTED, OPEN) if verdict != one.verdict)
        turned = replace(fact, verdict=other, would_decide="a look at it")
        assert limit_in_words(one, turned).startswith(f"{other.capitalize()}: {fact.statement}")
    tempering = Tempering("C10c", SUPPORTED, "In {holding} of {count}; not {failing}: {effect:.2f}.")
    planted = [Reading(source=name, family=name, standing=standing, value=-0.5, line=0.0, low=None, high=None)
               for name, standing in (("a", HOLDS), ("b", FAILS))]  # fmt: skip
    fact = replace(known["C10c"], verdict=SUPPORTED, effect=-0.5, readings=tuple(planted))
    assert limit_in_words(tempering, fact) == "In 1 of 2; not b: −0.50."


def test_the_identity_is_checked_to_rounding() -> None:
    """Against numpy in long double: the error that is printed is that of float64, not that of a wrong identity."""
    error = largest_error()
    assert 0 < error < error_bound() <= 1e-12
    assert error_bound() < 10 * error
    rng = np.random.default_rng(1)
    w, p = rng.normal(size=(8, 5)).astype(np.longdouble), rng.normal(size=(8, 3)).astype(np.longdouble)
    matrix = rng.normal(size=(8, 4)).astype(np.longdouble)
    assert np.abs(np.concatenate([w, p], -1) @ matrix - (w @ matrix[:5] + p @ matrix[5:])).max() < 1e-17


def test_the_command_prints_it(store: Path, capsys) -> None:
    from analysis.commands.answer import answer

    answer(as_json=False)
    words = " ".join(capsys.readouterr().out.split())
    for step in stored_answer.answer():
        assert " ".join(f"{step.sentence} {step.further}".split()) in words.replace("all- MiniLM", "all-MiniLM")
    answer(as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert [row["sentence"] for row in rows] == [step.sentence for step in stored_answer.answer()]


@pytest.mark.parametrize("kind", ["certain", "measured", "open"])
def test_every_kind_of_card_is_there(store: Path, kind: str) -> None:
    [card] = [card for card in cards() if card.kind == kind]
    assert card.sentence
    assert card.link


def test_a_concatenation_inside_a_head_is_a_sum_of_two_scores() -> None:
    """Against numpy in long double; the dimensions are those that transformers gives DeepSeek's models."""
    from transformers import DeepseekV2Config, DeepseekV3Config

    for config in (DeepseekV2Config(), DeepseekV3Config()):
        assert (config.qk_nope_head_dim, config.qk_rope_head_dim) == (inside_heads.CONTENT, inside_heads.ROTATED)
    assert 0 < inside_heads.largest_error() < inside_heads.error_bound() <= 1e-12
    rng = np.random.default_rng(1)
    a, c = rng.normal(size=(2, 4, 6)).astype(np.longdouble)
    b, d = rng.normal(size=(2, 4, 3)).astype(np.longdouble)
    together = np.concatenate([a, b], -1) @ np.concatenate([c, d], -1).T
    assert np.abs(together - (a @ c.T + b @ d.T)).max() < 1e-17


def test_the_gap_after_twice_as_many_steps_is_that_of_its_trainings(store: Path) -> None:
    """Against pandas: the mean difference of the same seeds' final losses; none is told while they run."""
    finals = read.query("SELECT preset, variant, seed, final_loss FROM pretrainings WHERE preset LIKE 'width128%'")
    losses = finals.pivot_table(index=["preset", "seed"], columns="variant", values="final_loss")
    both = losses.bert_a - losses.every_layer_attention
    gaps = both["width128_twice"].dropna()
    before = both["width128"][gaps.index]
    text = told()["told_once"]
    assert (
        f"Trained twice as long, the gap is {gaps.mean():.2f} ({len(gaps)} seeds, {before.mean():.2f} for the same "
        "seeds before)" in text
    )
    in_training = planted(**{told_once.TWICE: {"missing": 1}})
    rows = {row["name"]: row["sentence"] for row in tables(in_training, ask)["answers"]}
    assert "Trained twice as long" not in rows["told_once"]
    assert statement("C41a").effect == pytest.approx(-gaps.mean())
    assert statement("C41a").line == 0.05


def test_papers_are_counted_beside_their_figures() -> None:
    """A paper agrees where all its figures do."""
    tempering = Tempering("C22e", SUPPORTED, "{agreeing} of {families}, {holding} of {count}")
    standings = (("a", HOLDS), ("b", HOLDS), ("b", FAILS))
    planted = [Reading(source=name, family=name, standing=standing, value=1.0, line=0.0, low=None, high=None)
               for name, standing in standings]  # fmt: skip
    fact = replace(statement("C22e"), verdict=SUPPORTED, effect=1.0, readings=tuple(planted))
    assert limit_in_words(tempering, fact) == "1 of 2, 2 of 3"


def test_segments_are_told_with_their_interval_and_with_the_trainings_that_never_used_order(store: Path) -> None:
    """Against pandas; nothing is told where a comparison goes against them."""
    finals = read.query("SELECT variant, seed, final_loss FROM pretrainings WHERE preset = 'width128'")
    losses = finals.pivot_table(index="seed", columns="variant", values="final_loss")
    plateau = losses.no_position[[50, 51]].mean() - 0.1
    text = told()["segments"]
    for variant in ("no_segment", "one_segment"):
        both = losses[[variant, "bert_a"]].dropna()
        assert f"{(both[variant] - both.bert_a).mean():.2f} nats higher" in text
        assert f"{(both[variant] > plateau).sum()} of {len(both)} with" in text
    assert "segments" not in told(C27d=OPEN)


def test_the_other_side_on_longer_texts_stands_beside_the_gain(store: Path) -> None:
    """Against pandas: the mean difference at four times the length, of the judged seeds."""
    rows = read.query(
        "SELECT variant, seed, value FROM curves WHERE preset = 'width128' AND metric = 'final_loss_4x' "
        f"AND seed IN {encoder_rules().seeds}"
    )
    losses = rows.pivot_table(index="seed", columns="variant", values="value")
    higher = (losses.every_layer_attention - losses.bert_a).mean()
    lower = (losses.rotary - losses.bert_a).mean()
    text = told()["small"]
    assert f"every layer end {higher:.2f} nats higher than added once, and turned ones {-lower:.2f} nats lower" in text
    assert "four times as long" not in told(C34ac=OPEN)["small"]


def test_adding_that_could_imitate_a_concatenation_has_slightly_narrower_feed_forward_layers(store: Path) -> None:
    """The sides have equally many parameters, and so not quite the same layers."""
    assert "could imitate each, but for slightly narrower feed-forward layers" in told()["concatenated"]
    for name in EQUALLY_WIDE:
        contest = CONTESTS[name]
        ours, theirs = (
            replace(PRESETS[contest.preset], variant=side).config()["intermediate_size"]
            for side in (contest.variant, contest.baseline)
        )
        assert 0.94 < theirs / ours < 1, name
