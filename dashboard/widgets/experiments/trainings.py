"""The tabs Curves to Costs of Experiments: several variants at once, with all settings that a link may name."""

from contextlib import suppress
from functools import partial

import pandas as pd
import streamlit as st

from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import VARIANTS, named
from analysis.core import frames
from analysis.core.errors import AddendError, NoResults
from analysis.core.formatting import percent, signed_or_zero
from analysis.figures import Figure, stored_figure
from analysis.figures.experiments.board_rows import default_preset, judged_presets
from analysis.figures.training.advantage import EXPLORATORY
from analysis.figures.training.costs import (
    BEFORE_MATCHING,
    UNMATCHED,
    cost_table,
    less_with_own_matrices,
    more_of_other_causes,
    more_with_narrower_words,
    more_without_positions,
    percent_of,
    stored,
)
from analysis.figures.training.learning_curves import AXES
from analysis.figures.training.loss_against_cost import AXES as AXES_OF_COSTS
from analysis.figures.training.trainings import (
    BASELINES,
    COMMAND,
    MASKED,
    OBJECTIVES,
    index as stored_trainings,
    stored_presets,
    title,
    usual_baseline,
    usual_recipe,
)
from analysis.figures.training.verdict import verdict_of
from analysis.links import VIEWS, Value
from analysis.narrative.choosing import sizes
from analysis.rules import training_rules
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import query_parameters
from dashboard.widgets import show
from dashboard.widgets.experiments.board import recipe
from dashboard.widgets.glossary_hint import glossary_hint
from dashboard.widgets.pickers import Pickers, jump

PAGE = "experiments"
PATH_OF_CHANGES = "One path of changes"
WIDTHS_CLAIM, BY_RULES = "C37", "What the rules say of other widths"
"""The claim on other widths, and the label of the link that leads to it."""
PARTS = {
    "curves": ("Learning curves", ("training_curves",)),
    "gap": ("Final loss", ("training_gap",)),
    "convergence": ("Convergence", ("training_plateau", "training_convergence")),
    "contrasts": ("Step by step", ("experiments_contrasts", "experiments_contrasts_others")),
    "parts": (PATH_OF_CHANGES, ("training_parts",)),
    "scores": ("Spread of the scores", ("training_scores",)),
    "length": ("Longer texts", ("training_length",)),
    "widths": ("Other widths", ("experiments_ladder",)),
    "settings": ("Longer training", ("training_advantage", "training_settings")),
    "costs": ("Costs", ("training_loss_and_cost", "training_costs", "training_costs_others")),
}
"""Value of the link's field `part` -> its title, and its figures."""
TABS = (
    ("curves", "gap", "convergence"),
    ("contrasts", "scores", "parts"),
    ("length", "widths", "settings"),
    ("costs",),
)
OWN_MATRICES = "tupe_a"
"""The variant whose cost at two sizes the tab Costs tells."""
STAND_INS = {"tupe_a": "bert_a_d_unscaled", "rotary": "every_layer_attention"}
"""Variant of the usual curves -> the one that is shown in its place where a recipe did not train it."""
UNLISTED = ("parts",)
"""Parts that are listed only while a link shows them: exploratory ones, which judged trainings have replaced."""
OF_RULES = ("contrasts", "widths")
"""Parts whose rules say which trainings they compare."""
SECOND = {
    "training_costs": "Every cost of each variant, in bars and as a table",
    "training_settings": "Other learning rates, and norms first: how each ends there",
    "training_convergence": "How soon the baseline's final loss is reached, in steps and in seconds",
    "experiments_contrasts_others": "Other contrasts: fixed sinusoids, an earlier recipe, and details",
    "training_costs_others": "Costs of the variants that are not on the board",
}
"""Figure -> the title of the fold in which it stands under another one that answers first."""
ONLY_WHERE_STORED = ("training_loss_and_cost", "training_costs_others")
"""Figures that are left out where nothing of them is stored; where the first is, the second stands in its place."""
FOLDED = {
    "experiments_contrasts_others": "Contrasts that are not run yet",
}
"""Figure -> the title of its folded sentences, where they are no numbers."""
ELSEWHERE = ("settings", "costs", "parts", "scores")
"""Parts that few presets have; where the chosen one has nothing, they show another, which their captions name."""
COMPARED = ("curves", "gap", "settings", "convergence")
"""Parts whose figures compare with a baseline that can be chosen."""
UNJUDGED = (*OF_RULES, "settings", "costs")
"""Parts that are not about one recipe, which could be judged."""
USUAL_SETTINGS = {"recipe": "", "rate": "", "baseline": ""}


def draw(pickers: Pickers) -> None:
    """The figures of the part that the link names, and their pickers."""
    trainings = stored_trainings()
    if trainings.empty:
        show.copy_link(PAGE, pickers.done())
        _say_that_nothing_is_stored()
        return
    part = str(pickers.get("part"))
    siblings = [name for name in next(parts for parts in TABS if part in parts) if name not in UNLISTED or name == part]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(siblings) > 1:
            part = pickers.segments(
                "part",
                "Part of this tab",
                siblings,
                lambda name: PARTS[name][0],
                label_visibility="collapsed",
                width="content",
            )
        preset = "" if part in OF_RULES else _pick_preset(pickers, trainings, part)
        runs = trainings if part in (*OF_RULES, "costs") else _pick_runs(pickers, trainings, part, preset)
        if part == "costs":
            pickers.segments("cost", "Cost", list(AXES_OF_COSTS), lambda name: AXES_OF_COSTS[name].title)
    if part == "curves" and set(runs.objective) == {MASKED}:
        _pick_variants(pickers, runs, set(trainings.variant))
    values = pickers.done()
    show.copy_link(PAGE, values)
    if preset not in ("", values["preset"]):
        values |= {"preset": preset}
    above = st.container()
    drawn = []
    for name in PARTS[part][1]:
        if name in ONLY_WHERE_STORED and not _is_stored(name, values):
            continue
        if name not in SECOND or not drawn:
            judged = part not in UNJUDGED and not any(drawn)
            drawn.append(_show_figure(name, values, set(trainings.preset), judged=judged))
            continue
        fold = st.expander(SECOND[name], key=f"{PAGE}.{name}.fold", on_change="rerun")
        if fold.open:
            with fold:
                _show_figure(name, values, set(trainings.preset))
    if part not in UNJUDGED and not any(drawn):
        with above:
            _say_whether_comparable(values)
    shown = next((found["preset"] for found in drawn if found), values["preset"])
    if shown != values["preset"]:
        above.info(
            f"Not measured with recipe {escape_markdown(str(values['preset']))}; these numbers are of recipe "
            f"{escape_markdown(str(shown))}.",
            icon=":material/swap_horiz:",
        )
    if part == "contrasts":
        jump(PAGE, PATH_OF_CHANGES, {"part": "parts"}, icon="timeline")
    if part == "widths":
        query = query_parameters("claims", {"claim": WIDTHS_CLAIM})
        st.page_link("views/claims.py", label=BY_RULES, icon=":material/gavel:", query_params=query)


def _say_that_nothing_is_stored() -> None:
    st.info(
        "No pre-training of our own is stored yet. The command below makes some, in about ten minutes of one core "
        "each; this page shows them as soon as their results files are in the data folder.",
        icon=":material/hourglass_empty:",
    )
    st.code(COMMAND, language="bash")
    st.caption(
        "The first time, name the texts with --corpus and --valid; --variants and --seeds choose what is trained."
    )


def _pick_preset(pickers: Pickers, trainings: pd.DataFrame, part: str) -> str:
    """The preset whose results are shown.

    Of a part that few presets have, those that have it are offered, where there are several. The chosen preset stays
    in the link where it is none of them.
    """
    chosen = str(pickers.get("preset"))
    if part not in ELSEWHERE:
        presets = sorted(trainings.preset.unique())
        usual = default_preset()
        return str(
            pickers.choice(
                "preset",
                "Recipe",
                presets,
                recipe,
                instead_of_others=usual if usual in presets else None,
                width=430,
                help=glossary_hint("preset"),
                on_change=_clear,
                args=(pickers, "recipe", "rate", "baseline"),
            )
        )
    name = next(name for name in PARTS[part][1] if name not in ONLY_WHERE_STORED)
    offered = [preset for preset in stored_presets() if _is_stored(name, pickers.values() | {"preset": preset})]
    first = (EXPLORATORY,) if part == "parts" else judged_presets()
    offered.sort(key=lambda preset: preset not in first)
    if chosen not in {*PRESETS, *trainings.preset}:
        chosen = str(pickers.fixed("preset", offered))
    shown = chosen if chosen in offered or not offered else offered[0]
    if shown != chosen:
        st.caption(f"Not measured with recipe {escape_markdown(chosen)}.", width="content")
    if len(offered) > 1:
        key = f"{PAGE}.preset_of_{part}"
        st.session_state[key] = shown
        st.selectbox(
            "Recipe",
            offered,
            format_func=recipe,
            key=key,
            on_change=lambda: pickers.set("preset", st.session_state[key]),
            width=430,
            help=glossary_hint("preset"),
        )
    return shown


def _is_stored(name: str, values: dict[str, Value]) -> bool:
    """True where there are results for a figure."""
    try:
        stored_figure(name, {**values, **USUAL_SETTINGS})
    except AddendError:
        return False
    return True


def _clear(pickers: Pickers, *names: str) -> None:
    """Empties fields whose options have changed."""
    for name in names:
        pickers.set(name, "")


def _pick_runs(pickers: Pickers, trainings: pd.DataFrame, part: str, preset: str) -> pd.DataFrame:
    """In a popover what few readers need. Returns the chosen runs of a preset."""
    reset = {"on_change": _clear, "args": (pickers, "recipe", "rate", "baseline")}
    rows = trainings[trainings.preset == preset]
    offered = [name for name in OBJECTIVES if name in set(rows.objective)]
    with st.popover("More", icon=":material/tune:", key=f"{PAGE}.more"):
        objective = pickers.choice("objective", "Trained to predict", offered, OBJECTIVES, **reset)
        rows = rows[rows.objective == objective]
        if part != "settings":
            rows = _pick_setting(pickers, rows)
        if part in COMPARED:
            usual = usual_baseline(rows.objective.iloc[0], set(rows.variant))
            others = [name for name in VARIANTS if name in set(rows.variant) - {usual}]
            pickers.choice("baseline", "Baseline", ["", *others], lambda name: title(name or usual))
        if part == "curves":
            pickers.segments("axis", "Horizontal axis", list(AXES), AXES)
    return rows


def _pick_setting(pickers: Pickers, rows: pd.DataFrame) -> pd.DataFrame:
    """Settings and learning rate, where there are several. Returns the runs of the chosen ones."""
    recipes = dict(zip(rows.recipe, rows.told, strict=True))
    usual = usual_recipe(rows)
    if len(recipes) > 1:
        options = ["", *(recipe for recipe in recipes if recipe != usual)]
        labels = {"": recipes[usual], **recipes}
        recipe = pickers.choice("recipe", "Settings", options, labels, on_change=_clear, args=(pickers, "rate"))
    else:
        recipe = pickers.fixed("recipe", ["", usual])
    rows = rows[rows.recipe == (recipe or usual)]
    rates = sorted(set(rows.rate), key=lambda rate: float(rate or 0))
    if len(rates) > 1:
        labels = {rate: rate for rate in rates} | {"": "each variant's own"}
        pickers.choice("rate", "Peak learning rate", ["", *rates], labels)
    else:
        pickers.fixed("rate", ["", *rates])
    return rows


def _pick_variants(pickers: Pickers, runs: pd.DataFrame, named: set[str]) -> None:
    """The variants to show, of those that were run. named: those of all trainings.

    A reader's own variants have names that no default holds: they are shown unless some of them are chosen.
    """
    stored = set(runs.variant)
    own, chosen = sorted(stored - set(VARIANTS)), list(pickers.get("variants"))
    if tuple(chosen) == VIEWS[PAGE].defaults()["variants"]:
        chosen += [other for name, other in STAND_INS.items() if name not in stored and other in stored]
        pickers.set("variants", tuple(chosen))
    if own and not set(own) & set(chosen):
        pickers.set("variants", (*chosen, *own))
    known = [*VARIANTS, *sorted(named - set(VARIANTS))]
    pickers.several(
        "variants",
        "Variants",
        [name for name in known if name in stored],
        known,
        title,
        help=glossary_hint(*map(title, stored)),
    )


def _say_whether_comparable(values: dict[str, Value]) -> None:
    """The verdict on the recipe that a figure shows, with its reasons behind a press; nothing where there is none."""
    if result := verdict_of(values):
        colour, icon = ("green", "check_circle") if result.holds else ("orange", "warning")
        label = f":{colour}[{result.word}]"
        with st.popover(label, icon=f":material/{icon}:", type="tertiary", wrap=True, key=f"{PAGE}.verdict"):
            st.markdown(escape_markdown(result.sentence))


def _show_numbers_on_a_phone(rows: pd.DataFrame, noun: str) -> None:
    """Every point of the figure in a table, which only a phone shows: it has no room for their names."""
    drawn = rows[rows.gap.notna()].sort_values("gap")
    lines = [
        f"| {escape_markdown(row.title)} | {signed_or_zero(row.gap)} | {percent_of(row.cost)} |"
        for row in frames.rows(drawn)
    ]
    with st.container(key=f"phone_only.{PAGE}.costs"):
        st.markdown("\n".join([f"| variant | loss, nats | {noun} |", "|:--|--:|--:|", *lines]))


def _say_how_costs_change_with_size(costs: pd.DataFrame) -> None:
    """A line with the cost of one variant at this size and at a usual one, and the link to any other size."""
    parameters = costs[costs.measure == "parameters"].set_index("variant").value
    if not {OWN_MATRICES, BASELINES[MASKED]} <= set(parameters.index):
        return
    here = parameters[OWN_MATRICES] / parameters[BASELINES[MASKED]] - 1
    size = sizes.ModelSize()
    usual = sizes.parameters(OWN_MATRICES, size) / sizes.parameters(BASELINES[MASKED], size) - 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            escape_markdown(
                f"Parameters and arithmetic depend on the size of a model: {named(OWN_MATRICES)} has "
                f"{percent(here, 1)} more parameters than adding here, and {percent(usual, 1)} more at width "
                f"{size.width} with {size.layers} layers."
            )
        )
        st.page_link("views/choose.py", label="Costs at your size", icon=":material/straighten:", width="content")


def _figure(name: str, values: dict[str, Value], presets: set[str]) -> tuple[Figure, dict[str, Value]]:
    """A figure with its values; of another preset, the judged one first, where the chosen one lacks what it shows.

    Raises NoResults where no preset has it.
    """
    try:
        return stored_figure(name, values), values
    except NoResults as missing:
        for preset in sorted(presets - {values["preset"]}, key=lambda name: (name != training_rules().preset, name)):
            others = {**values, "preset": preset, **USUAL_SETTINGS}
            with suppress(AddendError):
                return stored_figure(name, others), others
        raise missing


def _show_figure(
    name: str, values: dict[str, Value], presets: set[str], *, judged: bool = False
) -> dict[str, Value] | None:
    """One figure, its sentences folded under it, or a sentence that says why there is none. Returns its values.

    judged: whether the verdict on its recipe stands beside its caption.
    """
    with show.reporting_problems():
        try:
            figure, figure_values = _figure(name, values, presets)
        except NoResults as missing:
            st.info("Nothing of this kind is stored yet.", icon=":material/hourglass_empty:")
            with st.expander("How to measure it"):
                st.markdown(escape_markdown(str(missing)))
            return None
        verdict = partial(_say_whether_comparable, figure_values) if judged else None
        show.show(figure, PAGE, figure_values, beside_caption=verdict)
        show.sentences(figure, PAGE, FOLDED.get(name, show.IN_SENTENCES))
        preset = str(figure_values["preset"])
        if name == "training_loss_and_cost" and figure_values["cost"] == "arithmetic":
            # The page tells no variant's arithmetic that the figure does not show.
            rows = stored(preset)
            rows = rows[rows.variant.isin(figure.frame().dropna(subset="gap").variant)]
            said = (less_with_own_matrices(rows, preset), more_with_narrower_words(rows, preset))
            if any(said):
                st.markdown(escape_markdown(" ".join(filter(None, said))))
            if others := more_of_other_causes(rows, preset):
                with st.expander("Other causes of more arithmetic"):
                    st.markdown(escape_markdown(others))
        if name == "training_loss_and_cost":
            _show_numbers_on_a_phone(figure.frame(), AXES_OF_COSTS[str(figure_values["cost"])].noun)
        if name == "training_costs":
            if sentence := more_without_positions(figure.frame(), preset):
                st.markdown(escape_markdown(sentence))
            _say_how_costs_change_with_size(figure.frame())
            columns = {
                "Variant": st.column_config.Column(pinned=True, width=160),
                **dict.fromkeys((UNMATCHED, BEFORE_MATCHING), st.column_config.Column(width=510)),
            }
            st.dataframe(cost_table(figure.frame(), preset), hide_index=True, height="content", column_config=columns)
        return figure_values
    return None
