"""The board of the page Which encoding?: a row a method with its ticks, loss, rise on longer texts and costs.

A method that was trained at several strengths has a row for each: one strength has no verdict for the other.

A number of the chosen preset, or of a judged one of the same size and length of training, is exact by the rules of the
page Experiments; where there is none, words say what else there is, since losses of two recipes have no common axis.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any, NamedTuple

import pandas as pd

from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS, full_title
from analysis.claims.statements.judgement import OPEN as UNDECIDED, Judgement
from analysis.claims.statements.margin_contests import REFUSED, UNEVEN as SEEDS_DIFFER
from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.core.formatting import capitalised, join_names, plural, signed, signed_or_zero, uncapitalised
from analysis.figures.experiments.board_rows import board as experiments_board, default_preset, judged_presets
from analysis.figures.figure import LONGEST_HEADING
from analysis.figures.published.table_parts import spelled
from analysis.figures.training.final_loss import OPEN, compared_losses, seeds_needed
from analysis.figures.training.later_runs import later_runs
from analysis.figures.training.timing import earlier_times, newest_times, percent_range, ratio_range
from analysis.figures.training.trainings import (
    CAUSAL,
    MASKED,
    Trained,
    objective,
    title as variant_title,
    usual_baseline,
)
from analysis.literature import tables as published
from analysis.narrative.choosing import evidence, sizes
from analysis.narrative.choosing.facts import NEEDS
from analysis.narrative.choosing.methods import COUNTERPARTS, METHODS, Form, Method, forms
from analysis.narrative.choosing.settings import HALF, IN_CODE, IN_USE, USED
from analysis.rules import training_rules
from analysis.statistics import Difference, difference
from analysis.store.paths import cached_until_store_changes

NAMES_SHOWN = 4
ABBREVIATED = {"alibi": "ALiBi"}
"""Names under which the field knows a method, for the line of its users."""
SHORT_NEEDS = {
    "longer": "any length",
    "order": "order",
    "causal": "decoder",
    "attention": "same code",
    "width": "width",
}
"""The headings of the ticks."""
LONGER = "final_loss_4x"
ENCODER_ONLY, DECODER_ONLY = "encoders only", "decoders only"
"""The words in place of a loss where models of the other kind alone were trained."""
EQUAL_SIZES = "cpu"
"""The recipe whose models have equally wide layers, so that their times differ by what positions need alone."""
SIZE = ("vocabulary", "hidden_size", "layers", "length", "batch", "steps", "masked_share", "matched")
"""Settings in which presets must agree for their differences from added positions to share an axis."""


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number with its interval. few: "1 seed", where these are fewer than the rules ask for.

    elsewhere: words for the runs that gave it, where they have no place on the axis. note, preset: the recipe.
    undecided: the board on Experiments leaves it open beside that of added positions; why: in a few words, what is
    open. recipe: the preset, where it is not that of the board. causal: whether decoders gave it, which predict the
    next word. statement: of a later file of rules, which asked for its seeds.
    """

    value: float
    low: float | None = None
    high: float | None = None
    few: str = ""
    elsewhere: str = ""
    note: str = ""
    preset: str = ""
    undecided: bool = False
    why: str = ""
    recipe: str = ""
    causal: bool = False
    statement: str = ""

    @property
    def judged(self) -> bool:
        """A recipe of the axis gave it, with as many seeds as the rules ask for."""
        return not (self.few or self.elsewhere)


@dataclass(frozen=True, kw_only=True)
class EncodingRow:
    """One method, or one strength of it. name: the variant. method: its key in `IN_USE`. form: the strength, in words.

    ticks: the needs that it meets; partly: those of them that it meets in part. lacks: those it does not meet. loss:
    minus that of added positions. longer: the loss at 4 times the length of training, minus that of added positions at
    the length of training. parameters, products: against those of added positions at the reader's size. times: of a
    training step, as measured: in our small models with equally wide layers, the newest first, and then in those that
    were trained, whose feed-forward layers are narrower where positions need parameters. tied: whether it shares the
    lowest loss with others, since it is open which of them is lowest.
    """

    name: str
    method: str
    form: str
    title: str
    users: str
    ticks: tuple[bool, ...]
    partly: tuple[bool, ...]
    lacks: tuple[str, ...]
    baseline: bool
    loss: Number | None
    longer: Number | None
    parameters: float
    products: float
    times: tuple[float, ...] = ()
    tied: bool = False

    @property
    def worse(self) -> bool:
        """A recipe of the axis ends higher with it than with added positions, by what the rules decide of all seeds."""
        return self.loss is not None and self.loss.judged and not self.loss.undecided and (self.loss.low or 0.0) > 0

    @property
    def drawn(self) -> bool:
        """True where the axis of losses holds it: of added positions, or of trainings of the board's kind."""
        return self.baseline or (self.loss is not None and not self.loss.elsewhere)

    @property
    def untrained(self) -> bool:
        """True where the longer texts reach rows of its table that no step of training did."""
        return self.longer is not None and not self.longer.elsewhere and not self.ticks[list(NEEDS).index("longer")]

    def json(self) -> dict[str, Any]:
        """The row as JSON can hold it."""
        return asdict(self) | {"worse": self.worse, "untrained": self.untrained}


def in_use() -> list[Method]:
    """The methods of the board, in its order."""
    by_name = {method.variant: method for method in METHODS}
    return [by_name[name] for name in IN_USE]


def studied() -> list[Method]:
    """The methods that no model named here uses."""
    return [method for method in METHODS if method.variant not in IN_USE]


VARIANT_NAMES = tuple(variant for method in IN_USE for variant in forms(method))
"""The rows of the board by name."""


def users(variant: str) -> str:
    """The models that use a method, in one line; the first few of many; of a form that is ours, what makes it."""
    if variant not in IN_USE:
        return form_of(variant).told
    # A quarter and a half are two forms of one method; the row is of a quarter.
    uses = [use for use in USED.get(variant, ()) if use.value != HALF]
    names = [use.models for use in uses] or ([IN_CODE[variant].models] if variant in IN_CODE else [])
    if not names:
        return ABBREVIATED.get(variant, "no model named here")
    names = [name.split(", in ")[0].split(" and ")[0].replace(", a causal decoder", " (a decoder)") for name in names]
    if len(names) > NAMES_SHOWN:
        return f"{', '.join(names[: NAMES_SHOWN - 1])} and {len(names) - NAMES_SHOWN + 1} more"
    abbreviated = f"{ABBREVIATED[variant]}: " if variant in ABBREVIATED else ""
    return abbreviated + ", ".join(names)


def form_of(variant: str) -> Form:
    """The form of a row of the board."""
    return next(forms(method)[variant] for method in IN_USE if variant in forms(method))


def usual_recipe(needs: Collection[str]) -> str:
    """The recipe whose losses the board shows where it has them: that of Experiments; of decoders, the one they had."""
    return training_rules().preset if "causal" in needs else default_preset()


def check_needs(needs: Iterable[str]) -> None:
    """Raises LinkError for a need that there is none of."""
    if unknown := [need for need in needs if need not in NEEDS]:
        raise LinkError(f"The link says needs={unknown[0]!r}; expected one of: {', '.join(NEEDS)}.")


def deciding_needs() -> list[str]:
    """The needs that some method in use does not meet: one that all meet decides nothing."""
    return [name for name, need in NEEDS.items() if not all(need.met(method) for method in in_use())]


class MethodNumbers(NamedTuple):
    """The numbers of a variant that neither a need nor the reader's size changes, as `EncodingRow` has them."""

    loss: Number | None
    longer: Number | None
    times: tuple[float, ...]


def rows(preset: str, needs: tuple[str, ...], size: sizes.ModelSize) -> list[EncodingRow]:
    """The methods of the board, in each of their forms: what meets every need first, in each group by its loss.

    Those without a loss on the board's axis stand last, in the order of the page. Where a decoder is asked for, the
    losses are of decoders.
    """
    check_needs(needs)
    measured = _measured(preset, CAUSAL if "causal" in needs else MASKED)
    base_parameters, base_products = sizes.parameters("bert_a", size), sizes.products("bert_a", size)
    result = []
    for method, variant, form in [(m, *pair) for m in in_use() for pair in forms(m.variant).items()]:
        name = method.variant
        result.append(
            EncodingRow(
                name=variant,
                method=name,
                form=form.name,
                title=", ".join(filter(None, (IN_USE[name].name, form.name))),
                users=users(variant),
                ticks=tuple(need.met(method) for need in NEEDS.values()),
                partly=tuple(need.partly(method) for need in NEEDS.values()),
                lacks=tuple(need for need in needs if not NEEDS[need].met(method)),
                baseline=name == "bert_a",
                **measured[variant]._asdict(),
                parameters=sizes.parameters(name, size) / base_parameters,
                products=sizes.products(name, size) / base_products,
            )
        )
    return _with_ties(sorted(result, key=lambda row: (bool(row.lacks), _loss_on_axis(row), _loss_elsewhere(row))))


@cached_until_store_changes(8)
def _measured(preset: str, kind: str) -> Mapping[str, MethodNumbers]:
    """Variant -> its numbers, of every form of every method in use. kind: MASKED or CAUSAL."""
    recipes = _recipes(preset, kind)
    measured = (*_both_times(EQUAL_SIZES), *_times_of_trained_models())
    found = {}
    for variant in (variant for method in in_use() for variant in forms(method.variant)):
        own = _with_later_runs(variant, recipes)
        loss = _first(_loss(variant, trained, preset, kind) for trained in own)
        # Both numbers of a row come from the same runs where these have both.
        first = [trained for trained in own if loss and trained.preset == loss.preset]
        longer = _first(_longer(variant, trained, preset, kind) for trained in (*first, *own))
        found[variant] = MethodNumbers(loss, longer, _times(variant, measured, kind))
    return found


def _with_ties(board: list[EncodingRow]) -> list[EncodingRow]:
    """The rows, with those marked that share the lowest loss among those that meet every need."""
    best = next((row for row in board if not row.lacks and row.loss and row.loss.judged), None)
    if best is None:
        return board
    able = [row for row in board if not row.lacks and not row.baseline]
    last = max(_loss_on_axis(row) for row in able if row is best or _level(row, best))
    # What stands between two that are tied is tied with them.
    level = {
        row.name for row in able if row is not best and row.loss and row.loss.judged and _loss_on_axis(row) <= last
    }
    return [replace(row, tied=bool(level) and row.name in {best.name, *level}) for row in board]


def _times(variant: str, measured: Sequence[pd.Series], kind: str) -> tuple[float, ...]:
    """The times of a step by all measurements; none where the first, whose models are equally wide, has none."""
    times = [_time(variant, one, kind) for one in measured]
    return tuple(filter(None, times)) if times and times[0] else ()


def _time(variant: str, times: pd.Series, kind: str) -> float | None:
    """The time of a step over that of added positions in a model of the same kind; None where that was not measured.

    times: variant -> the ratio to a step of the encoder that adds. kind: MASKED or CAUSAL.
    """
    timed = COUNTERPARTS.get(variant, variant) if kind == CAUSAL else variant
    baseline = usual_baseline(kind, set(times.index))
    measured = objective(timed) == kind and {timed, baseline} <= set(times.index)
    return float(times[timed] / times[baseline]) if measured else None


def _loss_on_axis(row: EncodingRow) -> float:
    """The loss that the board draws; infinite where it draws none."""
    if row.baseline:
        return 0.0
    return row.loss.value if row.loss and not row.loss.elsewhere else inf


def _loss_elsewhere(row: EncodingRow) -> float:
    """The loss that orders the rows without one on the board's axis: of encoders, where decoders are asked for."""
    return row.loss.value if row.loss else inf


def _first(numbers: Iterable[Number | None]) -> Number | None:
    return next((number for number in numbers if number is not None), None)


def _recipes(preset: str, kind: str) -> list[Trained]:
    """The trainings that a number may come from, the chosen preset's first: those of a kind before those of the other.

    kind: MASKED or CAUSAL.
    """
    presets = dict.fromkeys((preset, training_rules().preset, *judged_presets(), "cpu"))
    found = [
        evidence.own_trainings(name, objective)
        for objective in sorted((MASKED, CAUSAL), key=kind.__ne__)
        for name in presets
    ]
    return [trained for trained in found if trained is not None]


def _with_later_runs(variant: str, recipes: Iterable[Trained]) -> list[Trained]:
    """The trainings that a variant's numbers may come from: those of a later file where a recipe has none of it."""
    found = []
    for trained in recipes:
        later = None if _variant(variant, trained) else later_runs(variant, trained.preset)
        found.append(later.trained if later and later.trained.objective == trained.objective else trained)
    return found


def _both_times(preset: str) -> tuple[pd.Series, ...]:
    """The newest measurement of the times of a preset's models, and that before it."""
    return newest_times(preset), earlier_times(preset).set_index("variant").value


def _times_of_trained_models() -> tuple[pd.Series, ...]:
    """Both measurements of the models that Experiments trains, whose parameters are matched; none without them."""
    preset = evidence.measured_preset(default_preset())
    return () if preset == EQUAL_SIZES else _both_times(preset)


def _variant(name: str, trained: Trained) -> str | None:
    """The variant of some trainings that a method is trained as; None where there is none."""
    name = COUNTERPARTS.get(name, name) if trained.objective == CAUSAL else name
    return name if name in trained.variants else None


def _elsewhere(trained: Trained, preset: str, kind: str) -> str:
    if trained.objective != kind:
        return DECODER_ONLY if trained.objective == CAUSAL else ENCODER_ONLY
    return "" if _share_an_axis(trained.preset, preset) else "another recipe"


def _share_an_axis(one: str, other: str) -> bool:
    """True if two presets train encoders of one size equally long, so that their differences can be compared."""
    known = one in PRESETS and other in PRESETS
    return one == other or (known and all(getattr(PRESETS[one], n) == getattr(PRESETS[other], n) for n in SIZE))


def _recipe(trained: Trained, seeds: int) -> str:
    kind = "causal" if trained.objective == CAUSAL else "masked words"
    return f"preset {trained.preset}, {kind}, {plural(seeds, 'seed')}"


def _few(trained: Trained, seeds: int) -> str:
    return plural(seeds, "seed") if seeds < seeds_needed(trained.preset) else ""


def _loss(name: str, trained: Trained, preset: str, kind: str) -> Number | None:
    variant = _variant(name, trained)
    if variant is None or trained.baseline not in trained.variants or variant == trained.baseline:
        return None
    gap = difference(trained.finals(variant), trained.finals(trained.baseline))
    if not gap.n:
        return None
    known = gap.low == gap.low
    later = _later_judgement(variant, trained)
    few = "" if later else _few(trained, gap.n)
    undecided = later.verdict == UNDECIDED if later else not few and _undecided(trained, variant)
    return Number(
        value=float(gap.mean),
        low=float(gap.low) if known else None,
        high=float(gap.high) if known else None,
        few=few,
        undecided=undecided,
        why=_why_open(trained, variant, later) if undecided else "",
        recipe=trained.preset if trained.preset != preset else "",
        elsewhere=_elsewhere(trained, preset, kind),
        causal=trained.objective == CAUSAL,
        note=f"compared with {variant_title(trained.baseline)}, {_recipe(trained, gap.n)}",
        preset=trained.preset,
        statement=later.id if later else "",
    )


def _later_judgement(variant: str, trained: Trained) -> Judgement | None:
    """The judgement of a later file of rules on these very runs; None where they are not its runs."""
    later = later_runs(variant, trained.preset)
    known = later is not None and set(later.trained.runs.run_id) == set(trained.runs.run_id)
    return later.judgement if later and known else None


def _undecided(trained: Trained, variant: str) -> bool:
    """True if Experiments calls a variant's final loss open beside that of the baseline.

    Its board is of encoders; decoders stand in the figure of final losses alone.
    """
    if trained.objective == CAUSAL:
        table, _ = compared_losses(trained)
        return bool((table[table.variant == variant].outcome == OPEN).any())
    return any(row.variant == variant and row.outcome == OPEN for row in experiments_board(trained.preset).rows)


def _why_open(trained: Trained, variant: str, later: Judgement | None) -> str:
    """The part of a loss that the board's rules leave open, in few words; "lower" or "higher" where a side is told.

    later: the judgement of these runs by a file of rules of their own.
    """
    if later and later.open_by in (REFUSED, SEEDS_DIFFER):
        return PLATEAU if later.open_by == REFUSED else UNEVEN
    table, _ = compared_losses(trained)
    row = next(iter(frames.rows(table[table.variant == variant])))
    if row.on_plateau:
        return PLATEAU
    if row.uneven:
        return UNEVEN
    if not row.told_apart or row.low <= 0 <= row.high:
        return "open"
    return f"{'lower' if row.high < 0 else 'higher'}, size open"


UNEVEN = "open: seeds differ"
"""The words of a loss whose seeds lie too far apart for the rules."""
PLATEAU = "open: plateau"
"""The words of a loss that the rules do not compare, since its runs were on the plateau for too long."""


def _longer(name: str, trained: Trained, preset: str, kind: str) -> Number | None:
    """The loss at 4 times the length of training, minus that of added positions at the length of training."""
    variant = _variant(name, trained)
    if variant is None or trained.baseline not in trained.variants:
        return None
    gap = difference(_losses_at(LONGER, trained, variant), trained.finals(trained.baseline))
    if not gap.n:
        return None
    known = gap.low == gap.low
    later = _later_judgement(variant, trained)
    return Number(
        value=float(gap.mean),
        low=float(gap.low) if known else None,
        high=float(gap.high) if known else None,
        few="" if later else _few(trained, gap.n),
        statement=later.id if later else "",
        elsewhere=_elsewhere(trained, preset, kind),
        causal=trained.objective == CAUSAL,
        note=_recipe(trained, gap.n),
        preset=trained.preset,
    )


def _losses_at(metric: str, trained: Trained, variant: str) -> dict[Hashable, float]:
    curves = trained.curves(metric, variants=[variant])
    return dict(zip(curves.seed, curves.value, strict=True))


def headline(board: Sequence[EncodingRow]) -> str:
    """The finding in a newcomer's words: the method that learns best of those that meet every need, and its price."""
    able = [row for row in board if not row.lacks]
    if not able:
        return f"None of the {count(board)} methods can do it all"
    if able[0].form and count(able) == 1:
        return _forms_of_one_method(able, board)
    losses, rises = _judged(able)
    if len(able) <= FEW and len(losses) < COMPARABLE:
        return _few_can(able)
    if of_decoders(able):
        return _best_decoder(able)
    if not losses:
        return f"{plural(count(able), 'method')} can do it; we trained none of them in the recipe that is judged"
    best = min(losses, key=lambda title: losses[title])
    if len(losses) == 1 and _of_encoders_alone(able):
        return f"Of {count(able)} methods that can do it, we trained {_inside(best)} alone as a decoder"
    if len(losses) == 1:
        return f"Of {count(able)} methods that can do it, {_inside(best)} alone has all its seeds trained"
    row = next(row for row in able if row.title == best)
    level = [other for other in able if other is not row and _level(other, row)]
    of_able = (
        f"Of the {count(able)} that can do it, {_quoted(uncapitalised(best))}"
        if count(able) < count(board)
        else f"In our small encoders, {_quoted(uncapitalised(best))}"
    )
    if _above_on_longer(row, board) and (steadier := _steadiest((one for one in level if not one.baseline), board)):
        of_all = f"Of the {count(able)} that can do it, " if count(able) < count(board) else ""
        better = "has a lower loss on longer texts"
        if steadier.method == row.method:
            name = _inside(IN_USE[row.method].name)
            lowest = f"as “{row.form}” it ends lowest"
            return f"{of_all}{name} learns as well as any; {lowest}, as “{steadier.form}” it {better}"
        return f"{of_all}{_inside(best)} and {_inside(steadier.title)} learn as well as any; the second {better}"
    learns = f"{of_able} learns {'as well as any' if level else 'best'}"
    above = _above_on_longer(row, board)
    if len(rises) < COMPARABLE:
        return f"{learns}{_price(row)}{above}"
    furthest = min(rises, key=lambda title: rises[title])
    # The table may show a lower one, of fewer seeds, of another recipe, or of a method that learns worse.
    shown = [other.longer.value for other in able if other.longer and not other.longer.elsewhere]
    least = min(shown) >= rises[furthest]
    longer = "has the lowest loss on longer texts"
    if furthest == best:
        return f"{learns} and {longer}{_price(row)}" if least else f"{learns}{_price(row)}{above}"
    of_these = "" if least else "of those that learn no worse than added positions, "
    said = f"{_quoted(uncapitalised(furthest))} {'is lowest there' if above else longer}"
    with_price = f"{learns}{_price(row)}{above}; {of_these}{said}"
    return with_price if len(with_price) <= LONGEST_HEADING else f"{learns}{above}; {of_these}{said}"


def _highest_on_longer(row: EncodingRow, board: Iterable[EncodingRow]) -> bool:
    """True if no other loss of several is higher on longer texts."""
    losses = [other.longer.value for other in board if other.longer and not other.longer.elsewhere]
    return row.longer is not None and len(losses) > FEW and row.longer.value == max(losses)


def _steadiest(rows: Iterable[EncodingRow], board: Sequence[EncodingRow]) -> EncodingRow | None:
    """The one whose loss is lowest on longer texts, of those in which it is not above that of added positions."""
    found = [
        (row.longer.value, row) for row in rows if row.longer and row.longer.judged and not _above_on_longer(row, board)
    ]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _forms_of_one_method(able: Sequence[EncodingRow], board: Sequence[EncodingRow]) -> str:
    """The one method that meets every need: which of its forms ends lowest, and which is lowest on longer texts."""
    can = f"{_quoted(IN_USE[able[0].method].name)} alone can do it"
    if not any(row.drawn for row in able):
        trained = [row for row in able if row.loss and row.longer]
        as_encoder = f"; as an encoder, “{trained[0].form}” ends lowest" if trained else ""
        steadier = min(trained, key=lambda row: row.longer.value if row.longer else inf, default=able[0])
        if trained and steadier is not trained[0]:
            as_encoder += f", and “{steadier.form}” on longer texts"
        return f"{can}, none of its {len(able)} forms trained as a decoder{as_encoder}"
    drawn = [row for row in able if row.drawn]
    lowest = f"“{drawn[0].form}” is the form that we trained" if len(drawn) == 1 else f"“{able[0].form}” ends lowest"
    sound = [row for row in able if row.longer and row.longer.judged and not row.worse]
    furthest = min(sound, key=lambda row: row.longer.value if row.longer else inf, default=able[0])
    if furthest is able[0]:
        return f"{can}: {lowest}{_above_on_longer(able[0], board)}"
    return f"{can}: {lowest}, and “{furthest.form}” has the lowest loss on longer texts"


def of_decoders(board: Iterable[EncodingRow]) -> bool:
    """True if the losses of a board are of decoders, which predict the next word."""
    return any(row.loss.causal for row in board if row.loss and not row.loss.elsewhere)


def _of_encoders_alone(rows: Iterable[EncodingRow]) -> bool:
    """True if decoders were asked for and some of these methods were trained as encoders alone."""
    return any(row.loss and row.loss.elsewhere == ENCODER_ONLY for row in rows)


def _best_decoder(able: Sequence[EncodingRow]) -> str:
    """The methods that end lowest in our decoders, with their seeds, and the one that rises least on longer texts.

    What is tied with the lowest is named with it; of too few seeds, what lies within the interval of another one.
    """
    drawn = [row for row in able if row.drawn]
    if len(drawn) == 1:
        name, loss = _inside(drawn[0].title), drawn[0].loss
        ends = f", which ends at {signed(loss.value)} against added positions" if loss else ""
        return f"Of the {count(able)} that can do it, we trained {name} alone as a decoder{ends}"
    lowest = _loss_on_axis(min(drawn, key=_loss_on_axis))
    near = [row for row in drawn if _loss_on_axis(row) == lowest or (row.loss and (row.loss.low or 0.0) <= lowest)]
    level = [row for row in drawn if row.tied] or near
    # Forms of one method are one name here; what lies between two that are tied is named with them.
    last = max(_loss_on_axis(row) for row in level)
    lowest_methods = dict.fromkeys(row.method for row in drawn if _loss_on_axis(row) <= last)
    names = _capped([f"“{uncapitalised(IN_USE[name].name)}”" for name in lowest_methods])
    few = sorted({row.loss.few for row in drawn if row.loss and row.loss.few})
    tied = len(lowest_methods) == count(drawn) > 1
    lowest_of_all = "none ends clearly lowest" if tied else f"{names} end{'s' * (len(lowest_methods) == 1)} lowest"
    said = (
        f"Of the {count(drawn)} that we trained as small decoders{f' ({join_names(few)})' * bool(few)}, {lowest_of_all}"
    )
    rises = [(row.longer.value, row) for row in drawn if row.longer and row.longer.causal]
    if len(rises) < COMPARABLE:
        return said
    furthest = min(rises, key=lambda pair: pair[0])[1]
    if level == [furthest]:
        return f"{said} and has the lowest loss on longer texts"
    return f"{said}; {_inside(furthest.title)} has the lowest loss on longer texts"


def _capped(names: Sequence[str]) -> str:
    """The names, or their number where they are more than a heading holds."""
    if len(names) > NAMED:
        return f"{len(names)} of them"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _above_on_longer(row: EncodingRow, board: Sequence[EncodingRow]) -> str:
    """The end of a sentence on a method whose loss on longer texts is above that of added positions."""
    added = next((other.longer for other in board if other.baseline), None)
    if row.longer is None or added is None or row.longer.value <= added.value:
        return ""
    return ", but on longer texts it is above added positions"


def _level(other: EncodingRow, best: EncodingRow) -> bool:
    """True if it is open which of two learns better: by seed, or of two recipes since their intervals overlap.

    best: the one with the lower loss.
    """
    if (paired := _paired(other, best)) is not None:
        return paired.low <= 0
    if other.baseline:
        return best.loss is not None and (best.loss.high or 0.0) >= 0
    lowest = best.loss.value if best.loss else 0.0
    highest = lowest if best.loss is None or best.loss.high is None else best.loss.high
    return other.loss is not None and other.loss.judged and (other.loss.low or 0.0) <= highest


def _paired(other: EncodingRow, best: EncodingRow) -> Difference | None:
    """The difference of two losses of one recipe, paired by seed; None where they are of two, or of few seeds."""
    number = best.loss
    if number is None or not number.preset or other.loss is None:
        return None
    if (other.loss.preset, other.loss.causal) != (number.preset, number.causal) or not other.loss.judged:
        return None
    trained = evidence.own_trainings(number.preset, CAUSAL if number.causal else MASKED)
    names = [trained and _variant(row.name, trained) for row in (other, best)]
    if trained is None or not all(names):
        return None
    found = difference(*(trained.finals(str(name)) for name in names))
    return found if found.n > 1 else None


COMPARABLE = 2
"""The fewest numbers of which one can be called the best."""
FEW = 2
"""The most methods that a heading names, each with its loss."""
NAMED = 3
"""The most methods that a heading names without their losses."""


def _few_can(able: Sequence[EncodingRow]) -> str:
    """The names of the few that meet every need, and how they learn beside learned, added positions."""
    names = " and ".join(_inside(row.title) for row in able)
    can = f"“{capitalised(names[1:])}{' alone' * (len(able) == 1)} can do it"
    worse = [row.loss for row in able if row.worse and row.loss]
    higher = join_names(f"{signed(loss.value)} nats{f' in {loss.few}' * bool(loss.few)}" for loss in worse)
    if not worse:
        return can
    if len(worse) < len(able):
        return f"{can}; the {'second' if able[1].worse else 'first'} ends higher in our training: {higher}"
    return f"{can}, but {'it ends' if len(able) == 1 else 'both end'} higher than learned, added positions: {higher}"


def _quoted(title: str) -> str:
    """A title that begins a sentence; one with a comma in quotation marks, so that it reads as one name."""
    return f"“{title}”" if "," in title else title


def _price(row: EncodingRow) -> str:
    """The time of a training step against that of added positions, as the end of a sentence; empty if not measured."""
    if not row.times or row.baseline:
        return ""
    if min(abs(time - 1) for time in row.times) < WORTH_SAYING or min(row.times) < 1 < max(row.times):
        return ", in the same time"
    joined, longer = ("but", "longer") if min(row.times) > 1 else ("and", "less")
    percent = percent_range(min(row.times), max(row.times))
    return f", {joined} a training step takes {percent} {longer} on a CPU"


WORTH_SAYING = 0.03
"""The share of the time below which a difference is none: as much changes between two measurements."""


def _judged(able: Sequence[EncodingRow]) -> tuple[dict[str, float], dict[str, float]]:
    """The losses of the judged recipe by title, and the rises on longer texts of those that learn no worse.

    A model that has learned little has little to lose.
    """
    losses = {row.title: row.loss.value for row in able if row.loss and row.loss.judged}
    losses |= {row.title: 0.0 for row in able if row.baseline}
    sound = [row for row in able if row.baseline or (row.loss and row.loss.judged and not row.worse)]
    return losses, {row.title: row.longer.value for row in sound if row.longer and row.longer.judged}


def count(rows: Iterable[EncodingRow]) -> int:
    """The number of methods that some rows are of."""
    return len({row.method for row in rows})


def summary(board: Sequence[EncodingRow], needs: Collection[str]) -> str:
    """The number of methods that meet the chosen needs, and of those among them that we trained."""
    able = [row for row in board if not row.lacks]
    if not able:
        return f"None of the {count(board)} methods can do it all."
    if not needs:
        return ""
    names = f" ({_capped([_inside(IN_USE[name].name) for name in dict.fromkeys(row.method for row in able)])})"
    few = names if count(able) <= NAMED else ""
    said = f"{count(able)} of {count(board)} methods can do it{few or _at_strengths(able)}; {_trained(able)}"
    first = able[0]
    if of_decoders(able) and first.loss and first.longer and _highest_on_longer(first, able):
        said += f" “{first.title}”, which ends lowest, is the worst on longer texts."
    return said


def rows_in_words(board: Sequence[EncodingRow]) -> str:
    """The number of rows, of the methods that they are of, and of those that we trained with all seeds."""
    return f"{rows_of_methods(board)}; {_trained(board)}"


def rows_of_methods(board: Sequence[EncodingRow]) -> str:
    """The number of rows, and of the methods that they are of, without a full stop."""
    return f"The {plural(len(board), 'row')} are {plural(count(board), 'method')}{_at_strengths(board)}"


def _trained(rows: Sequence[EncodingRow]) -> str:
    """A clause on the methods among these that we trained with all seeds."""
    if of_decoders(rows):
        decoders = [row for row in rows if row.drawn]
        few = any(row.loss and row.loss.few for row in decoders)
        models = "a small decoder, whose loss stands" if count(decoders) == 1 else "small decoders, whose losses stand"
        seeds = ", with fewer seeds than the rules ask for" * few
        return f"we trained {count(decoders)} of them as {models} below{seeds}."
    if _of_encoders_alone(rows):
        decoders = count([row for row in rows if row.drawn])
        return f"we trained {decoders or 'none'} of them as {'a small decoder' if decoders == 1 else 'small decoders'}."
    trained = [row for row in rows if row.baseline or (row.loss and row.loss.judged)]
    return f"we trained {count(trained) or 'none'} of them with all seeds, as small encoders."


def _at_strengths(able: Sequence[EncodingRow]) -> str:
    """A clause on the methods that have several rows; empty where none has."""
    rows_of = {row.method: sum(other.method == row.method for other in able) for row in able}
    said = [f"{_inside(IN_USE[name].name)} in {rows} forms" for name, rows in rows_of.items() if rows > 1]
    return f", {join_names(said)}" if said else ""


def lowest_by_need(board: Sequence[EncodingRow], decoders: Sequence[EncodingRow]) -> dict[str, str]:
    """Need -> what has the lowest loss where it has to be met, as a clause; none where nothing can be compared.

    The losses are of encoders; for the need of a decoder, of decoders.
    """
    lowest = {}
    for need in deciding_needs():
        losses, _ = _judged([row for row in board if row.ticks[list(NEEDS).index(need)]])
        if need == "causal" and of_decoders(decoders):
            lowest[need] = uncapitalised(headline(decoders))
        elif losses and need != "causal":
            best = min(losses, key=lambda title: losses[title])
            row = next(row for row in board if row.title == best)
            limits = [
                f"{signed_or_zero(losses[best])} nats",
                row.loss.why if row.loss and row.loss.undecided else "",
                "tied first" * row.tied,
                "above adding on longer texts" * bool(_above_on_longer(row, board)),
            ]
            lowest[need] = f"{_inside(best)} ends lowest ({', '.join(filter(None, limits))})"
    return lowest


def longer_texts(board: Sequence[EncodingRow], needs: Collection[str]) -> str:
    """Sentences on longer texts in causal models and as published, where the needs ask for these; else empty."""
    able = [row for row in board if not row.lacks]
    sentences = _causal(able) if "causal" in needs else []
    return " ".join([*sentences, *(_published(able) if "longer" in needs else [])])


def given_up(board: Sequence[EncodingRow], needs: Iterable[str]) -> dict[str, str]:
    """Need -> what one gives up in loss by meeting it alone, as the end of a sentence that the need begins.

    The losses are those that the board prints, each rounded as there; a difference might be rounded to another number.
    None is told of decoders, of which no loss is judged.
    """
    every, _ = _judged([] if of_decoders(board) else board)
    best = min(every, key=lambda title: every[title], default="")
    said = {}
    for need in needs if every else ():
        losses, _ = _judged([row for row in board if row.ticks[list(NEEDS).index(need)]])
        lowest = min(losses, key=lambda title: losses[title], default="")
        if not losses:
            said[need] = "is met by none that has all its seeds"
        elif losses[lowest] > every[best]:
            said[need] = (
                f"raises the lowest loss from {signed_or_zero(every[best])} nats ({_inside(best)}) to "
                f"{signed_or_zero(losses[lowest])} nats ({_inside(lowest)}{_limits(board, lowest)})"
            )
        else:
            said[need] = "gives up nothing in training: what learns best of all meets it"
    return said


def _limits(board: Sequence[EncodingRow], title: str) -> str:
    """The limits of a loss, after a comma: that it is open, or of another recipe; empty for none."""
    loss = next((row.loss for row in board if row.title == title), None)
    if loss is None:
        return ""
    return f"{', open' * loss.undecided}{', another recipe' * bool(loss.recipe)}"


def _causal(able: Sequence[EncodingRow]) -> list[str]:
    """A sentence on longer texts in our causal models of the judged preset; empty where fewer than two are there."""
    trained = evidence.own_trainings(training_rules().preset, CAUSAL)
    rises = {
        row.title: rise for row in able if trained and (rise := _longer(row.name, trained, trained.preset, CAUSAL))
    }
    if len(rises) < COMPARABLE:
        return []
    ordered = sorted(rises, key=lambda title: rises[title].value)
    values = join_names(f"{signed(rises[title].value)} with {_inside(title)}" for title in ordered)
    return [
        "Of our decoders, the losses at four times the length lie, against added positions at the length of training, "
        f"at {values}; of what meets your needs, the others were not trained as decoders."
    ]


def _published(able: Sequence[EncodingRow]) -> list[str]:
    """A sentence with the published numbers at lengths beyond training, of the table with most of these methods.

    A method stands once, by its own name: papers know nothing of the forms in which we trained it.
    """
    by_name = {method.variant: method for method in METHODS}
    found: dict[str, list[tuple[str, Any, Any]]] = {}
    for method in dict.fromkeys(row.method for row in able):
        for name, line in by_name[method].longer:
            scores = published.load(name).scores
            cells = scores[scores.row == line]
            if len(cells) > 1:
                found.setdefault(name, []).append((by_name[method].setup.title, cells.iloc[0], cells.iloc[-1]))
    if not found:
        return []
    name = max(found, key=lambda table: len(found[table]))
    said = join_names(
        f"with {_inside(title)} from {short.printed} at {_tokens(short.column)} to {long.printed} at "
        f"{_tokens(long.column)}"
        for title, short, long in found[name]
    )
    measure = found[name][0][1].metric_title.lower()
    return [f"As published ({published.load(name).title}), the {measure} goes {said}."]


def _tokens(column: str) -> str:
    """The length that a column of a published table names, in tokens; the column's own words where it names none.

    >>> _tokens("valid L=15512")
    '15,512 tokens'
    """
    number = column.rpartition("=")[2]
    return f"{int(number):,} tokens" if number.isdecimal() else column


def _inside(title: str) -> str:
    """A row's title inside a sentence, as one phrase: lower case, in quotation marks."""
    name = title.split(" (")[0].split(":")[0]
    return f"“{uncapitalised(name)}”"


def described(variant: str) -> str:
    """A description of a method or of one of its forms, in a sentence or two."""
    if summary := form_of(variant).summary:
        return summary
    if variant not in IN_USE:
        return VARIANTS[variant].summary
    method = next(method for method in METHODS if method.variant == variant)
    return method.setup.summary


def recipes(board: Sequence[EncodingRow]) -> str:
    """The recipes of the losses on the axis, in words: `recipe cpu2, and width128 for “fixed sinusoids, added”`."""
    of = {row.title: row.loss.preset for row in board if row.loss and not row.loss.elsewhere}
    usual, *others = sorted(set(of.values()), key=lambda preset: -list(of.values()).count(preset)) or [""]
    named = [f", and {preset} for {join_names(_inside(t) for t in of if of[t] == preset)}" for preset in others]
    return f"recipe {usual}{''.join(named)}"


def seeds_of_their_own(board: Sequence[EncodingRow]) -> str:
    """A sentence on the rows of the axis whose seeds a later file of rules asked for; empty where there are none."""
    asked = [(row.title, row.loss.statement) for row in board if row.drawn and row.loss and row.loss.statement]
    if not asked:
        return ""
    names = join_names(f"{_inside(title)} (statement {statement})" for title, statement in asked)
    return f"Of {names} later rules asked for new seeds, which are compared with adding on the same seeds."


def trained_title(method: Method) -> str:
    """The name of a method that was studied alone."""
    if method.variant not in VARIANTS:
        return method.setup.title
    known = VARIANTS[method.variant].known_as
    return full_title(method.variant).replace(known, spelled(known).replace(" (", ", ").rstrip(")"))


def asked_again(variant: str) -> str:
    """The finding of a later file of rules on a variant's final loss, on seeds of its own; empty for none."""
    later = later_runs(variant)
    if later is None:
        return ""
    preset, seeds = later.trained.preset, plural(later.trained.runs.seed.nunique(), "new seed")
    return f"With recipe {preset} and {seeds} (statement {later.judgement.id}): {later.judgement.sentence}"


def times_of_trained_models() -> str:
    """Sentences on the times of the models of a recipe that were trained, as Experiments has them; empty for none."""
    preset = evidence.measured_preset(default_preset())
    times = [float(times["rotary"]) for times in _times_of_trained_models() if "rotary" in times.index]
    if not times:
        return ""
    said = ratio_range(min(times), max(times))
    return (
        "The bar reaches over the measurement before it, and over both of models as they were trained (recipe "
        f"{preset}, {PRESETS[preset].precision}), whose feed-forward layers are narrower where positions need "
        f"parameters. Experiments shows the latter: × {said} for rotary in encoders."
    )
