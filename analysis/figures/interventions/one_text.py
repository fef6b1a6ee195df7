"""Figures of interventions on one text: a model before and after, and the permutation test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd
from numpy import ndarray
from numpy.typing import ArrayLike, NDArray

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.formatting import plural, signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import STRONGEST, Figure, LiveRun, Parameters, figure
from analysis.figures.heatmap import heatmap, token_axis
from analysis.figures.one_run import checked_head, map_frame, run_facts
from analysis.figures.terms.maps import HeadParameters
from analysis.figures.terms.token_maps import pattern_map, token_map
from analysis.measurements.interventions.kinds import INTERVENTIONS
from analysis.measurements.interventions.result import InterventionResult, PermutationTest
from analysis.probes import intervention_probe
from analysis.probes.intervention_probe import InterventionRequest, PermutationRequest
from analysis.store import read

CITATION_KEYS = ("ke2021tupe", "reimers2019sbert")
STAGES = ("before", "after")
POSITIONS = ("off", "on")
HEIGHT = 240
STILL = 0.5
"""Degrees below which an output did not turn: float32 rounds a cosine so near to 1 that its angle is not known."""
RIGHT_ANGLE = 90.0
"""Degrees by which an output turned that has nothing in common with what it was."""
NUMBERED = 24
"""The most tokens above which each number is written."""
YARDSTICKS = {
    "shuffle_positions:0": "shuffled",
    "scale_positions:0.5": "halved",
    "one_position:0": "all at position 0",
}
"""Changes of positions over a corpus beside which a turn is seen, in a word."""
NOTHING = "Nothing is changed: no intervention is chosen"
"""The finding of a figure where no intervention is chosen."""
APART = 7.0
"""Degrees by which two lines across the plot lie apart where both are named."""


class PermutationParameters(Parameters):
    """The seed of the permutation."""

    seed: int


RUN = LiveRun(
    obtain=InterventionRequest.obtain,
    provenance=run_facts,
    command=intervention_probe.command,
    citation_keys=CITATION_KEYS,
)
PERMUTATION = LiveRun(obtain=PermutationRequest.obtain, provenance=run_facts, citation_keys=CITATION_KEYS)


def _description(outcome: InterventionResult | PermutationTest) -> str:
    provenance = outcome.provenance
    cut = f", cut from {provenance.truncated_from}" if provenance.truncated_from else ""
    return (
        f"{readable(provenance.model)}, one text of {len(outcome.token_info)} tokens{cut} "
        f"({provenance.dtype}, {provenance.device})"
    )


@figure("intervention_tokens", Parameters, live=RUN)
def intervention_tokens(params: Parameters, outcome: InterventionResult) -> Figure:
    """The outcome: losses of predicted tokens where there is a head, else how far each output moved."""
    frame = pd.DataFrame({"place": range(len(outcome.tokens)), "token": outcome.tokens, "cosine": outcome.cosine})
    mean = f"mean cosine of the output hidden states before and after {outcome.cosine.mean():.4f}"
    predictions = outcome.predictions
    if predictions:
        predicted = pd.DataFrame(
            {
                "place": predictions.places,
                "likeliest_before": predictions.likeliest_before,
                "likeliest_after": predictions.likeliest_after,
                "probability_before": np.exp(-predictions.before),
                "probability_after": np.exp(-predictions.after),
                "loss_before": predictions.before,
                "loss_after": predictions.after,
            }
        )
        frame = frame.merge(predicted, on="place", how="inner")
        before, after = predictions.losses
        task, measure = {
            "masked": ("each token masked alone and predicted", "pseudo-perplexity"),
            "next": ("each token predicted from those before it", "perplexity"),
        }[predictions.kind]
        summary = (
            f"Cross-entropy in nats, {task}: mean {before:.3f} before, {after:.3f} after ({measure} "
            f"{np.exp(before):.1f} and {np.exp(after):.1f}); {mean}"
        )
    else:
        summary = (
            "The angle between each token's output hidden state before and after (0°: unchanged, 90°: nothing in "
            f"common), as this checkpoint has no head that predicts tokens; {mean}"
        )
    over_corpus = {} if predictions else _over_corpus(outcome)
    yardsticks = {name: one for name, one in over_corpus.items() if name in YARDSTICKS and [name] != _done(outcome)}
    return Figure(
        title="What the model then predicts" if predictions else "How far the output moves",
        finding=_outcome_finding(outcome),
        frame=lambda: frame,
        caption=(
            f"{_beside(over_corpus, _done(outcome))}{summary}. Intervention: {outcome.words}. {_description(outcome)}."
        ),
        alt=f"A mark for each of {len(frame)} tokens. {summary}.",
        draw=lambda theme: [_tokens(frame, yardsticks, theme, losses=predictions is not None)],
    )


@dataclass(frozen=True)
class Yardstick:
    """The turn of a model's outputs by one intervention over a corpus: the angle of the mean cosine, in degrees."""

    turn: float
    texts: int


def _done(outcome: InterventionResult) -> list[str]:
    """The interventions of an outcome, as a corpus names them."""
    return list(outcome.interventions)


def angle(cosine: ArrayLike) -> NDArray[np.float64]:
    """The angle in degrees of cosines, which rounding may carry a little beyond 1."""
    return np.degrees(np.arccos(np.clip(np.asarray(cosine, dtype=float), -1.0, 1.0)))


def _over_corpus(outcome: InterventionResult) -> dict[str, Yardstick]:
    """Intervention -> its turn over a corpus, of the one shown and of `YARDSTICKS`, where stored of the same model."""
    rows = read.query_if_stored(
        "SELECT intervention, value, texts FROM newest_interventions WHERE model = ? AND revision = ? "
        "AND outcome = 'cosine' AND layer IS NULL ORDER BY texts DESC",
        [outcome.provenance.model, outcome.provenance.revision],
        ("intervention", "value", "texts"),
    ).drop_duplicates("intervention")
    found = rows.set_index("intervention")
    shown = _done(outcome)[:1] if len(_done(outcome)) == 1 else []
    return {
        name: Yardstick(float(angle(found.value[name])), int(found.texts[name]))
        for name in dict.fromkeys([*shown, *YARDSTICKS])
        if name in found.index
    }


def _beside(over_corpus: Mapping[str, Yardstick], done: Sequence[str]) -> str:
    """A sentence on the turns over a corpus, followed by a space; empty where none is stored. done: what is shown."""
    if not over_corpus:
        return ""
    own = [f"this change: {one.turn:.0f}°" for name, one in over_corpus.items() if [name] == list(done)]
    others = [f"{YARDSTICKS[name]}: {one.turn:.0f}°" for name, one in over_corpus.items() if [name] != list(done)]
    texts = max(one.texts for one in over_corpus.values())
    return f"Over {texts} texts, as the angle of the mean cosine: {'; '.join([*own, *others])}. "


@figure("intervention_kl", Parameters, live=RUN)
def intervention_kl(_: Parameters, outcome: InterventionResult) -> Figure:
    """Every head's attention, before against after."""
    return pattern_change(outcome)


def pattern_change(outcome: InterventionResult) -> Figure:
    """The change in the attention of every head, for a text or an image."""
    layer, head = np.unravel_index(int(outcome.kl.argmax()), outcome.kl.shape)
    frame = frames.cells(outcome.kl, "kl", layer=None, head=None)
    return Figure(
        title="Which heads change their attention",
        finding=f"Attention changes most in layer {layer}, head {head}, by {outcome.kl.max():.2f} nats"
        if outcome.interventions
        else NOTHING,
        frame=lambda: frame,
        caption=(
            f"KL(pattern before ‖ after) in nats, mean over queries; mean over all heads {outcome.kl.mean():.3f}, "
            f"largest {outcome.kl.max():.3f} (layer {layer}, head {head}). From layer 1 on a head also changes "
            f"because its input did. Intervention: {outcome.words}. {_description(outcome)}."
        ),
        alt=f"Heat map of {outcome.layers} layers by {outcome.heads} heads; the largest is at layer {layer}, head "
        f"{head}.",
        draw=lambda theme: [_change(outcome.kl, theme)],
    )


@figure("intervention_maps", HeadParameters, live=RUN)
def intervention_maps(params: HeadParameters, outcome: InterventionResult) -> Figure:
    """One head's pattern before and after, and the difference, on one scale."""
    strongest = int(outcome.kl[outcome.layer].argmax())
    head = strongest if params.head == STRONGEST else checked_head(params.head, outcome.heads)
    before, after = outcome.before[head], outcome.after[head]
    maps = {"before": before, "after": after, "after − before": after - before}
    limit = float(max(before.max(), after.max()))
    query, key = np.unravel_index(int(np.abs(after - before).argmax()), before.shape)
    change = f"from “{outcome.tokens[query]}” to “{outcome.tokens[key]}”, {signed(float((after - before)[query, key]))}"
    return Figure(
        title=f"Layer {outcome.layer}, head {head}",
        finding=f"In layer {outcome.layer}, head {head}, attention changes most {change}"
        if outcome.interventions
        else NOTHING,
        frame=lambda: map_frame(maps, outcome.tokens),
        caption=(
            "Attention probabilities, on one scale; rows are queries, columns are keys. The largest change is "
            f"{change}; KL {outcome.kl[outcome.layer, head]:.3f} nats. Intervention: {outcome.words}. "
            f"{_description(outcome)}."
        ),
        alt=f"Three maps, {len(outcome.tokens)} tokens a side; attention changes most {change}.",
        draw=lambda theme: _maps(maps, outcome.tokens, limit, theme),
        columns=3,
    )


@figure("intervention_permutation", PermutationParameters, live=PERMUTATION)
def intervention_permutation(params: PermutationParameters, outcome: PermutationTest) -> Figure:
    """A test of the output's dependence on the order of tokens, with positions switched off and on."""
    off, on = float(outcome.off.max()), float(outcome.on.max())
    tokens = [outcome.token_info[index].text for index in outcome.order]
    frame = pd.DataFrame({"place": range(len(tokens)), "token": tokens, "off": outcome.off, "on": outcome.on})
    if outcome.holds:
        verdict = "Without positions, permuting the tokens permutes the output and does nothing else, up to rounding"
    elif outcome.causal:
        verdict = "Without positions, the order still shows: the causal mask alone tells tokens where they are"
    else:
        verdict = "Without positions, the order still shows"
    return Figure(
        title="The permutation test",
        finding=verdict,
        frame=lambda: frame,
        caption=(
            f"{verdict}: largest difference {off:.1e}. With positions it is {on:.2g}. Both are |output of the "
            f"permuted text − permuted output|, where the largest output is {outcome.reach:.2g}; tokens, segments and "
            f"mask are permuted together (seed {params.seed}). {_description(outcome)}."
        ),
        alt=f"Two marks for each of {len(tokens)} tokens, on a log scale. {verdict}: {off:.1e} against {on:.2g}.",
        command=intervention_probe.permutation_command(outcome, params.seed),
        draw=lambda theme: [_permutation(frame, theme)],
    )


def turns(outcome: InterventionResult) -> ndarray:
    """The angle in degrees by which each token's output turned."""
    return angle(outcome.cosine)


def lead_in(outcome: InterventionResult) -> str:
    """The beginning of a sentence on an outcome: what was done."""
    if outcome.words == INTERVENTIONS["zero_positions"].title.lower():
        return "Without positions"
    return f"After “{outcome.words}”"


def turn_finding(outcome: InterventionResult, noun: str, first: int = 0) -> str:
    """A sentence on the turn of the outputs. noun: what they are of; first: the first token that counts as such."""
    if not outcome.interventions:
        return NOTHING
    angles = turns(outcome)[first:]
    top = int(angles.argmax())
    if angles[top] < STILL:
        return f"{lead_in(outcome)} {noun} stay where they were, up to rounding"
    return (
        f"{lead_in(outcome)} {noun} turn by {angles.mean():.0f}° on average, most at "
        f"“{outcome.tokens[first + top]}”: {angles[top]:.0f}°"
    )


def _outcome_finding(outcome: InterventionResult) -> str:
    """A sentence on the effect on the predictions or, if the model has no head that predicts, on the outputs."""
    if outcome.predictions and outcome.interventions:
        before, after = outcome.predictions.losses
        verb = "rises" if after > before else "falls"
        if f"{before:.2f}" == f"{after:.2f}":
            return f"{lead_in(outcome)} the loss stays at {before:.2f} nats per token"
        return f"{lead_in(outcome)} the loss {verb} from {before:.2f} to {after:.2f} nats per token"
    return turn_finding(outcome, "the outputs of this text")


def _token_axis(labels: list[str]) -> alt.X:
    """Tokens across, by their order: a token may come twice."""
    return alt.X("order:O", axis=token_axis(labels, "token", angle=-60))


def _dots(
    frame: pd.DataFrame, x: alt.X, y: alt.Y, kinds: tuple[str, ...], theme: Theme, *tooltip: marks.Tip, title: str = ""
) -> list[Chart]:
    """Dots over tokens, two a token, whose `kind` has a colour and a shape. title: of the legend."""
    key = marks.legend(title or None, place="top", columns=2)
    color, shape = marks.series("kind", kinds, theme, key), marks.shapes("kind", kinds, key)
    return marks.line_plot(frame, x=x, y=y, theme=theme, color=color, shape=shape, width=0, tooltip=tooltip)


def _lines_across(mean: float, yardsticks: Mapping[str, Yardstick]) -> dict[float, str]:
    """The heights of the lines across a plot of turns, with their names; of yardsticks those that lie apart."""
    lines = {mean: f"mean: {mean:.0f}°", RIGHT_ANGLE: "unrelated"}
    for name, one in yardsticks.items():
        if all(abs(one.turn - other) >= APART for other in lines):
            lines[one.turn] = f"{YARDSTICKS[name]}, {plural(one.texts, 'text')}: {one.turn:.0f}°"
    return lines


def _tokens(frame: pd.DataFrame, yardsticks: Mapping[str, Yardstick], theme: Theme, *, losses: bool) -> Chart:
    """Losses before and after joined by a line; or a turn beside those of other changes over a corpus."""
    x = _token_axis(list(frame.token))
    frame = frame.assign(order=range(len(frame)))
    lines = alt.Chart(frame).mark_rule(strokeWidth=marks.LINE, color=theme.faint)
    if losses:
        both = pd.concat([frame.assign(kind=stage, loss=frame[f"loss_{stage}"]) for stage in STAGES])
        y = marks.number(alt.Y, "loss", "cross-entropy (nats)", zero=True)
        dots = _dots(
            both, x, y, STAGES, theme, "token", ("likeliest_before", "most likely token before"),
            ("likeliest_after", "most likely token after"), ("loss_before", "", ".3f"), ("loss_after", "", ".3f"),
        )  # fmt: skip
        spans = lines.encode(x=x, y=marks.same_axis(y, "loss_before"), y2=alt.Y2("loss_after:Q"))
        layers = [spans, *dots]
    else:
        angles = angle(frame.cosine)
        frame = frame.assign(
            turn=angles,
            written=[f"{angle:.0f}°" for angle in angles],
            most=(angles == angles.max()) & (angles.max() >= STILL),
        )
        ends = (0.0, max(RIGHT_ANGLE, float(angles.max())))
        y = marks.number(alt.Y, "turn", "turn of the output (degrees)", domain=ends, values=range(0, 181, 15))
        dots = marks.line_plot(
            frame, x=x, y=y, theme=theme, width=0,
            tooltip=("token", ("turn", "", ".1f"), ("cosine", "", ".4f")),
        )  # fmt: skip
        spans = alt.Chart(frame.assign(still=0.0)).mark_rule(strokeWidth=marks.LINE, color=theme.faint)
        spans = spans.encode(x=x, y=y, y2=alt.Y2("still:Q"))
        shown = frame if len(frame) <= NUMBERED else frame[frame.most]
        numbers = (
            alt.Chart(shown).mark_text(dy=-12, fontSize=marks.TEXT, color=theme.ink).encode(x=x, y=y, text="written:N")
        )
        top = alt.Chart(frame[frame.most]).mark_point(
            filled=True, opacity=1, size=marks.LARGE_DOT, color=theme.many(2)[1]
        )
        mean = float(angles.mean())
        across = _lines_across(mean, yardsticks)
        average = alt.Chart(pd.DataFrame({"turn": list(across), "written": list(across.values())}))
        beside = average.mark_text(align="left", dx=6, fontSize=marks.TEXT, color=theme.ink).encode(
            x=alt.value("width"), y=y, text="written:N"
        )
        rules = [marks.rule(theme, y=at, dash=marks.DASH) for at in across]
        layers = [spans, *rules, *dots, top.encode(x=x, y=y), numbers, beside]
    return marks.panel(*layers, theme=theme, width=marks.WIDE, height=HEIGHT)


def _change(values: ndarray, theme: Theme) -> Chart:
    """The change of every head, (layer, head): layers down, heads across."""
    return heatmap(
        values, domain=(0, float(values.max()) or 1.0), row_title="layer", column_title="head",
        value_title="KL (nats)", side=600, height=max(120, 26 * len(values)), theme=theme,
    )  # fmt: skip


def _maps(maps: Mapping[str, ndarray], labels: Sequence[str], limit: float, theme: Theme) -> list[Chart]:
    """Maps of the patterns before and after, and of their difference. One scale; the difference's has both signs."""
    return [
        token_map(values, labels, limit, theme, value="difference", title=name)
        if "−" in name
        else pattern_map(values, labels, theme, limit, title=name)
        for name, values in maps.items()
    ]


def _permutation(wide: pd.DataFrame, theme: Theme) -> Chart:
    """Each token's error, positions off and on, on a logarithmic scale."""
    frame = wide.assign(order=range(len(wide))).melt(["order", "token"], list(POSITIONS), "kind", "error")
    # A logarithm has no place for an error of exactly 0: it is drawn at the smallest one that there is.
    smallest = float(frame.error[frame.error > 0].min()) if (frame.error > 0).any() else 1e-17
    y = marks.number(alt.Y, "drawn", "largest difference of the output", log=10, form=".0e", ticks=8)
    dots = _dots(
        frame.assign(drawn=np.maximum(frame.error, smallest)), _token_axis(list(wide.token)), y, POSITIONS, theme,
        "token", ("kind", "positions"), ("error", "difference", ".2e"), title="positions",
    )  # fmt: skip
    return marks.panel(*dots, theme=theme, width=marks.WIDE, height=HEIGHT)
