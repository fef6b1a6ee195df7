"""The comparison that a statement's rule makes: its lines, the side of them that supports the statement, and its words.

All of it is read from the files of rules while the store is built, so that pages draw and describe the rules that were
in fact applied.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from analysis.ablation.glue.tasks import TASKS
from analysis.ablation.variants import full_title, named
from analysis.claims.statements import refitted, refitted_glue
from analysis.claims.statements.contests import ALLOWED
from analysis.claims.statements.corrections import correcting_files, corrections_file
from analysis.claims.statements.judgement import COMPARED_WITH, CONTRADICTED, OPEN, SUPPORTED, Judgement, Region
from analysis.core.formatting import capitalised, join_names, percent, plural, signed, significant
from analysis.measurements.surgery.arms import ARMS
from analysis.rules import (
    EncoderRules,
    TrainingRules,
    all_encoder_rules,
    encoder_rules,
    rule_files,
    surgery_rules,
    version_2_rules,
)
from analysis.rules.refit_rules import refit_rules
from analysis.rules.refitted_glue_rules import refitted_glue_rules
from analysis.statistics.margins import SLIGHTLY_BETTER, SLIGHTLY_WORSE

TRAINED = ("final_loss", "loss_4x", "steps_to_leave", "difference_of_differences")


Rule = Mapping[str, Any]
"""The entry of a statement in a file of rules."""


@dataclass(frozen=True)
class Rulebook:
    """All rules.

    statements: statement -> its entry in the newest file that has one. encoders: SHA-256 -> the rules of that file, of
    every file of rules for encoders.
    """

    statements: Mapping[str, Rule]
    encoders: Mapping[str, EncoderRules]


def rulebook() -> Rulebook:
    """The rules of every file."""
    rules: dict[str, Rule] = {}
    for file in sorted(rule_files(), key=lambda file: file.version):
        for name in ("statement", "contest"):
            rules |= {entry["id"]: entry for entry in file.content.get(name, ())}
    renamed = {entry["id"]: rules[entry["of"]] for entry in corrections_file().content["reworded"] if "of" in entry}
    return Rulebook(rules | renamed, {rules.sha256: rules for rules in all_encoder_rules()})


def described(judgement: Judgement, book: Rulebook) -> Judgement:
    """The judgement with what its rule compares, in numbers and in words."""
    rule, supports = book.statements.get(judgement.id, {}), region(judgement, book)
    return replace(
        judgement,
        sentence=f"{judgement.sentence}{_beyond_the_line(judgement, supports)}",
        holds=rule.get("holds", ""),
        expect=rule.get("expect", ""),
        quantifier=rule.get("quantifier", ""),
        lower=supports.lower if supports else None,
        upper=supports.upper if supports else None,
        rule=rule_in_words(judgement, book),
        pair=trained_pair(judgement, rule),
        shown=shown_reading(judgement, rule),
    )


def _beyond_the_line(judgement: Judgement, supports: Region | None) -> str:
    """The side of an open statement's interval that crosses no line: the rules leave it open for another reason."""
    verb = {SUPPORTED: "supports", CONTRADICTED: "contradicts"}.get(interval_alone(judgement, supports))
    return f" The interval by itself lies wholly on the side that {verb} it." if verb else ""


def interval_alone(judgement: Judgement, supports: Region | None) -> str:
    """The verdict that an open statement's interval by itself would give; empty where it crosses a line, or for none.

    supports: the values that support the statement; None where its rule compares no value with a line.
    """
    low, high = judgement.low, judgement.high
    if judgement.verdict != OPEN or judgement.kind == "rows" or supports is None:
        return ""
    if low is None or high is None or not math.isfinite(low + high):
        return ""
    lower, upper = (-math.inf if supports.lower is None else supports.lower), supports.upper
    upper = math.inf if upper is None else upper
    if low > lower and high < upper:
        return SUPPORTED
    return CONTRADICTED if high < lower or low > upper else ""


def region(judgement: Judgement, book: Rulebook) -> Region | None:
    """The values that support a statement; None if its rule compares no value with a line."""
    rule = book.statements.get(judgement.id)
    if rule is None or judgement.line is None:
        return None
    if judgement.kind == "rows":
        above = rule["holds"] == "above"
        return Region(lower=judgement.line if above else None, upper=None if above else judgement.line)
    if judgement.kind == "steps_to_leave":
        earlier = rule["expect"] == "earlier"
        return Region(lower=None if earlier else judgement.line, upper=judgement.line if earlier else None)
    margin = abs(judgement.line)
    # A lower loss is better, and a higher score; a published line is below zero where less is better.
    lower_is_better = judgement.kind in (*TRAINED, *refitted.UNITS, refitted_glue.KIND) or judgement.line < 0
    expect = rule["expect"]
    if expect == "less":
        return Region(lower=None, upper=-margin)
    if expect == "the same":
        return Region(lower=-margin, upper=margin)
    if expect == SLIGHTLY_BETTER:
        return Region(lower=-margin, upper=0.0)
    if expect == SLIGHTLY_WORSE:
        return Region(lower=0.0, upper=margin)
    downward = lower_is_better == (expect in ("better", "not worse"))
    limit = margin if expect in ("not better", "not worse") else -margin
    return Region(lower=None, upper=limit) if downward else Region(lower=-limit, upper=None)


def shown_reading(judgement: Judgement, rule: Rule) -> str:
    """The reading whose number a statement shows: the hardest, the clearest if one suffices, or the largest."""
    if judgement.kind == "published":
        return "Largest"
    return "Clearest" if rule.get("quantifier") == "some" else "Hardest"


def trained_pair(judgement: Judgement, rule: Rule) -> str:
    """The two variants of a statement about our own trainings: `Rotary (RoPE) compared with Added once (BERT-A)`.

    Empty for a statement about something else.
    """
    if judgement.kind not in TRAINED or not rule:
        return ""
    return f"{full_title(rule['variant'])}{COMPARED_WITH}{full_title(rule['baseline'])}"


def rule_in_words(judgement: Judgement, book: Rulebook) -> str:
    """The rule of a statement in words: the comparison, the number of seeds, the line and the correction."""
    rule = book.statements.get(judgement.id)
    if rule is None:
        return ""
    if judgement.kind in TRAINED and judgement.rules_sha in {*book.encoders, *(f.sha256 for f in correcting_files())}:
        return _margin_rule(rule, judgement, book)
    if judgement.kind in TRAINED:
        rules = next(file for file in version_2_rules() if file.sha256 == judgement.rules_sha)
        return _training_rule(rule, judgement, rules)
    if judgement.kind == "tuned":
        return _tuning_rule(rule)
    if judgement.kind in refitted.UNITS:
        return _refitting_rule(rule, judgement)
    if judgement.kind == refitted_glue.KIND:
        return _refitted_glue_rule(rule, judgement)
    if judgement.kind == OPEN:
        return "No rule is applied: the evidence stored so far cannot decide this statement."
    return _counting_rule(rule, judgement)


def _supports(expect: str) -> str:
    allowed = " or ".join(word for word in ("better", "the same", "worse") if word in ALLOWED[expect])
    return (
        f"The statement is supported if the standing is {allowed}, contradicted if it is another one, and open if "
        "there is none yet."
    )


def _training_rule(rule: Rule, judgement: Judgement, rules: TrainingRules) -> str:
    variant, baseline = named(rule["variant"]), named(rule["baseline"])
    contest = next(contest for contest in rules.statements if contest.id == judgement.id)
    over = f"over {plural(len(contest.seeds), 'seed')} of preset {rules.preset}, seed by seed"
    if judgement.kind == "steps_to_leave":
        expect = rule["expect"]
        return (
            f"For {variant} and {baseline}, the rule takes the first evaluation at which the validation loss is below "
            f"{rules.plateau:g} nats, and compares the numbers of steps {over}, as the mean ratio (on logarithms) with "
            f"its 95 % interval. {capitalised(variant)} counts as earlier if the interval lies below 1 and the ratio "
            f"is at most {rules.earlier:g}, and as not earlier if the interval lies above {rules.earlier:g}; otherwise "
            "it is open. A side that never leaves the plateau is later than one that always does. The "
            f"statement is supported if {variant} is {expect}. There is no correction for several tests."
        )
    where = " on texts four times as long as in training" if judgement.kind == "loss_4x" else ""
    correction = "There is no correction for several tests."
    if contest.family:
        size = sum(statement.family == contest.family for statement in rules.statements)
        correction = f"The test is corrected by Holm's method over the {size} statements on {contest.family}."
    plateau = ""
    if contest.plateau:
        plateau = (
            f"no side may still be on the plateau ({rules.plateau:g} nats) after {100 * rules.by_half:g} % of the "
            "steps, and "
        )
    spread = f"the losses of each side must spread by less than {rules.spread:g} nats over seeds (standard deviation)"
    conditions = plateau + spread if math.isfinite(rules.spread) else plateau.removesuffix(", and ")
    return (
        f"The final validation losses of {variant} and {baseline}{where} are compared {over}. The two are the same if "
        f"two one-sided tests (5 % each) put the mean difference within {rules.margin:g} nats of zero. Otherwise "
        f"{variant} is better if the 95 % interval of the difference lies below zero, and worse if it lies above; if "
        f"the interval contains zero, the comparison is open. {_supports(rule['expect'])} It also stays open "
        f"until every seed is stored{'; ' * bool(conditions)}{conditions}. {correction}"
    )


SUPPORTED_IF = {
    "better": "the whole 95 % interval of the difference lies below {lower}",
    "worse": "the whole 95 % interval of the difference lies above {upper}",
    "the same": "two one-sided tests (5 % each) put the difference between {lower} and {upper}",
    "not worse": "a one-sided test (5 %) puts the difference below {upper}",
    "not better": "a one-sided test (5 %) puts the difference above {lower}",
    SLIGHTLY_BETTER: "the whole 95 % interval of the difference lies between {lower} and zero",
    SLIGHTLY_WORSE: "the whole 95 % interval of the difference lies between zero and {upper}",
    "earlier": "the whole 95 % interval of the ratio of steps lies below {earlier}",
    "not earlier": "a one-sided test (5 %) puts the ratio of steps above {earlier}",
    "less": "the 95 % interval of what differs between the two recipes lies below zero and its mean is at most {lower}",
}
CONTRADICTED_IF = {
    "better": "a one-sided test (5 %) puts it above {lower}",
    "worse": "a one-sided test (5 %) puts it below {upper}",
    "the same": "the whole 95 % interval lies beyond one of these",
    "not worse": "the whole 95 % interval lies above {upper}",
    "not better": "the whole 95 % interval lies below {lower}",
    SLIGHTLY_BETTER: "the whole 95 % interval lies above zero or below {lower}",
    SLIGHTLY_WORSE: "the whole 95 % interval lies below zero or above {upper}",
    "earlier": "a one-sided test (5 %) puts it above {earlier}",
    "not earlier": "the whole 95 % interval lies below {earlier}",
    "less": "the whole 95 % interval lies above {lower}",
}
"""The expectation of a statement -> the conditions that support it and that contradict it, in words."""


def _margin_rule(rule: Rule, judgement: Judgement, book: Rulebook) -> str:
    """The rule of a statement that version 3 tests against a margin."""
    line = abs(judgement.line or 0.0)
    lines = {"lower": f"{signed(-line)} nats", "upper": f"{signed(line)} nats", "earlier": f"{line:g}"}
    expect, frozen = rule["expect"], judgement.rules_sha in book.encoders
    rules = book.encoders[judgement.rules_sha] if frozen else encoder_rules()
    paired = "" if expect == "less" else ", seed by seed"
    family = rule.get("family") or None
    correction = _holm_over(other.get("family", "") == family for other in book.statements.values())
    when = (
        "The rule was frozen before these trainings began." if frozen else "These trainings were known before the rule."
    )
    spread = ""
    if judgement.kind != "steps_to_leave" and rule.get("spread") != "any":
        spread = f" and the paired differences must spread by less than {rules.paired_spread:g} nats"
    wherever = (
        " A side may still be on the plateau, at half of the steps or later." if rule.get("plateau") == "any" else ""
    )
    return (
        f"{capitalised(named(rule['variant']))} and {named(rule['baseline'])} are compared{paired} (Student's t). "
        f"The statement is supported if {SUPPORTED_IF[expect].format(**lines)}, and contradicted if "
        f"{CONTRADICTED_IF[expect].format(**lines)}; otherwise it is open. It stays open until every seed is stored"
        f"{spread}.{wherever}{correction} {when}"
    )


def _arm_titles(rule: Rule) -> tuple[str, str]:
    """The titles of the two arms that a statement compares."""
    arm, baseline = (ARMS[name].title if name in ARMS else name for name in (rule["arm"], rule["baseline"]))
    return arm, baseline


def _tuning_rule(rule: Rule) -> str:
    rules = surgery_rules()
    arm, baseline = _arm_titles(rule)
    minimum_scores = join_names(f"{score:g} on {task}" for task, score in rules.able.items())
    return (
        f"The mean score over {len(rules.tasks)} tasks of the fine-tuned model “{arm}” is compared with that of "
        f"“{baseline}”, seed by seed over {plural(len(rules.seeds), 'seed')}. The two are the same if two one-sided "
        f"tests (5 % each) put the mean difference within {rules.margin:g} point of zero. Otherwise the first is "
        "better or worse if the difference is significant at 5 % after Holm's correction over the "
        f"{len(rules.statements)} statements of this kind. {_supports(rule['expect'])} It also stays open unless the "
        f"intact model reaches {minimum_scores}."
    )


REFITTED_NUMBERS = {
    refitted.MISSED: "the share of what positions are worth that {arm} has not recovered at the end (0 as the intact "
    "encoder that is trained on in the same way, 1 as the one without positions; of the loss on held-out texts)",
    refitted.ORDER_ERROR: "the share of held-out sentences that a decoder of {arm}'s pooled vectors does not tell from "
    "their copies with two words exchanged",
    refitted.HALF_TOKENS: "the tokens that {arm} reads until its loss on held-out texts is half-way between the last "
    "ones of the encoder without positions and of the intact one",
}


def _holm_over(tests: Iterable[bool]) -> str:
    """A sentence on the correction over a family of tests; empty for a family of one. tests: true for its members."""
    size = sum(tests)
    return f" All tests are corrected by Holm's method over {plural(size, 'statement')}." if size > 1 else ""


def _refitting_rule(rule: Rule, judgement: Judgement) -> str:
    """The rule of a statement about an encoder that was trained on after a change."""
    rules = refit_rules()
    arm, baseline = _arm_titles(rule)
    number = f"{judgement.line:g}"
    lines = {"lower": f"\N{MINUS SIGN}{number}", "upper": number}
    correction = _holm_over(one.family == rule["family"] for one in rules.statements)
    seeds = plural(len(rules.purposes["judged"].seeds), "seed")
    level = (
        " One that would find that an encoder has not recovered stays open, too, while that encoder’s loss falls by "
        f"{percent(rules.levelled)} or more of what positions are worth over the last fifth of the tokens; one that "
        "finds that it recovers less than another does not wait for that."
        if judgement.kind == refitted.MISSED
        else ""
    )
    return (
        f"The rule takes {REFITTED_NUMBERS[judgement.kind].format(arm=f'“{arm}”')}, and compares it with that of "
        f"“{baseline}”, seed by seed over {seeds} (Student's t). The statement is supported if "
        f"{SUPPORTED_IF[rule['expect']].format(**lines)}, and contradicted if "
        f"{CONTRADICTED_IF[rule['expect']].format(**lines)}; otherwise it is open. It stays open until every seed is "
        "stored, and unless the same number tells the encoder without positions from the intact one."
        f"{level}{correction} The rule was frozen before these trainings began."
    )


METRIC_NAMES = {"roc_auc": "the area under the ROC curve", "pearson": "Pearson's correlation"}


def _refitted_glue_rule(rule: Rule, judgement: Judgement) -> str:
    """The rule of a statement about an encoder that was trained on after a change, and then fine-tuned."""
    rules = refitted_glue_rules()
    arm, baseline = _arm_titles(rule)
    task, number = rule["task"], f"{judgement.line:g}"
    correction = _holm_over(one.family == rule["family"] for one in rules.statements)
    return (
        f"The rule takes what “{arm}” misses of 100 points on {TASKS[task].title} "
        f"({METRIC_NAMES[rules.metric[task]]}), and compares it with what “{baseline}” misses, seed by seed over "
        f"{plural(len(rules.purposes['judged'].seeds), 'seed')} (Student's t). The statement is supported if "
        f"{SUPPORTED_IF[rule['expect']].format(upper=number)}, and contradicted if "
        f"{CONTRADICTED_IF[rule['expect']].format(upper=number)}; otherwise it is open. It stays open, too, while a "
        f"seed is missing, if a side spreads by more than {rules.spread:g} points, if a fine-tuning collapsed, or if "
        f"the task does not tell the encoder without positions from the one with its own.{correction} The rule was "
        "frozen before these fine-tunings began."
    )


QUANTIFIERS = {
    "every": "The statement is supported if all of them hold and contradicted if one fails; otherwise it is open.",
    "most": "The statement is supported if three quarters of them hold, contradicted if three quarters fail, mixed if "
    "neither and none is open, and otherwise open.",
    "some": "The statement is supported if one of them holds; otherwise it is open.",
    "some of all": "The statement is supported if one of them holds, contradicted if all fail, and otherwise open.",
}


def _counting_rule(rule: Rule, judgement: Judgement) -> str:
    published = judgement.kind == "published"
    exhaustive = rule["quantifier"] == "some" and rule.get("exhaustive")
    quantified = QUANTIFIERS["some of all" if exhaustive else rule["quantifier"]]
    minimum = rule.get("least", 1)
    if minimum > 1:
        quantified += f" With fewer than {minimum} of them it stays open."
    if published:
        compared = "the average over its GLUE columns" if rule.get("average") else "every printed figure"
        allowed = " or ".join(sorted(ALLOWED[rule["expect"]]))
        return (
            f"The rule takes {compared} of two variants in one published table. The first is better or worse if they "
            "differ by more than 1 point, 0.5 BLEU or 5 % of perplexity; otherwise they are the same. Papers print no "
            f"spread, so there is no test. A figure holds if the first is {allowed}. Figures of one paper count as "
            f"one. {quantified}"
        )
    lines = sorted({reading.line for reading in judgement.readings if reading.line is not None})
    line = f"its line at {significant(lines[0])}" if len(lines) == 1 else "its own line"
    return (
        f"Measured: {judgement.unit}. A reading holds if it lies {rule['holds']} {line}, and fails if it lies on "
        "the other side. A reading with an interval must do so by the near end of its 95 % interval, after Holm's "
        "correction over all readings (2.5 % on each side). Readings of one model, or of all seeds of one variant, "
        f"count as one. {quantified}"
    )
