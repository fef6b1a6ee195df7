"""The methods of Which encoding?: what each can do, how it fared and what it costs; a press on a row opens it."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import streamlit as st

from analysis.ablation.presets import PRESETS
from analysis.core.errors import AddendError
from analysis.core.formatting import capitalised, plural
from analysis.figures import stored_figure
from analysis.figures.encodings.overview import ENCODING_OF, has_pictures
from analysis.figures.experiments.board_rows import judged_presets
from analysis.figures.training.timing import ratio_range
from analysis.figures.training.trainings import CAUSAL, stored_presets, title as trained_name
from analysis.links import Value
from analysis.narrative import choosing
from analysis.narrative.choosing import NEEDS, PARTS
from analysis.narrative.choosing.board import (
    DECODER_ONLY,
    ENCODER_ONLY,
    EQUAL_SIZES,
    PLATEAU,
    UNEVEN,
    VARIANT_NAMES,
    EncodingRow,
    asked_again,
    deciding_needs,
    described,
    form_of,
    given_up,
    headline,
    longer_texts,
    lowest_by_need,
    of_decoders,
    recipes,
    rows as encoding_rows,
    rows_in_words,
    rows_of_methods,
    seeds_of_their_own,
    studied,
    summary,
    times_of_trained_models,
    trained_title,
    usual_recipe,
)
from analysis.narrative.choosing.methods import FORMS_IN_WORDS
from analysis.narrative.choosing.settings import IN_USE, NO_DECODER
from analysis.narrative.choosing.sizes import TEXTS, VOCABULARY, ModelSize, extra, parameters, products
from analysis.rules import training_rules
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import query_parameters
from dashboard.widgets import choosing_table, encoding_board, show
from dashboard.widgets.pickers import Pickers, jump

PAGE = "choose"
JUDGED = training_rules().preset
MARGIN = training_rules().margin
TIMED_WIDTH = PRESETS[EQUAL_SIZES].hidden_size
TITLES = {"needs": "Needs and limits", "cost": "Cost", "length": "Longer texts", "evidence": "Evidence"}
WIDTHS = (64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192)
OPEN_IN_WORDS = (
    f"“Open”, and a ring: the rules of the board on Experiments, which count a difference within ±{MARGIN:g} nats as "
    f"none, do not decide. “Lower, size open”: it is told apart from adding and ends lower, and only whether by more "
    f"than {MARGIN:g} nats is open. “{capitalised(PLATEAU)}”: its runs were on the plateau for so long that the "
    f"rules compare no end of theirs, however far its interval lies from zero. “{capitalised(UNEVEN)}”: its seeds lie "
    "too far apart for the rules."
)
"""The words beside a ring, in sentences."""
LAYERS = (2, 4, 6, 8, 12, 16, 24, 32, 40, 48, 64, 80)
HEADS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 64)
LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 131072)


def draw(pickers: Pickers) -> None:
    """The needs, the board of methods with the opened one, and folded every fact with its source."""
    presets = stored_presets()
    pickers.fixed("preset", presets)
    opened = pickers.fixed("row", ["", *VARIANT_NAMES])
    deciding = deciding_needs()
    needs = pickers.buttons(
        "needs",
        "I need",
        deciding,
        list(NEEDS),
        lambda need: NEEDS[need].title,
        help="Press as many as you like: a method must meet all of them, and what lacks one moves down.\n\n"
        + "\n".join(f"- **{NEEDS[need].title}**: {NEEDS[need].means}" for need in deciding),
        wrap=True,
    )
    answer, right = st.columns([9, 4], vertical_alignment="bottom")
    with right.container(horizontal_alignment="right"):
        size = _draw_size(pickers)
    try:
        rows = encoding_rows(usual_recipe(needs), needs, size)
    except AddendError as problem:
        show.show_problem(problem)
        return
    with answer:
        st.subheader(escape_markdown(headline(rows)), anchor=False)
        if needs:
            st.markdown(escape_markdown(summary(rows, needs)))
            said = {need: f" {end}" for need, end in given_up(rows, needs).items()}
        else:
            decoders = encoding_rows(usual_recipe(("causal",)), ("causal",), size)
            said = {need: f": {found}" for need, found in lowest_by_need(rows, decoders).items()}
        st.markdown("\n".join(f"- **{NEEDS[need].title}**{escape_markdown(end)}." for need, end in said.items()))
    position = next((index for index, row in enumerate(rows) if row.name == opened), len(rows) - 1)
    upper, lower = rows[: position + 1], rows[position + 1 :]
    axis, columns = encoding_board.time_axis(rows), encoding_board.differing_needs(rows)
    dark = show.theme().dark
    usual = usual_recipe(needs)
    recipe = PRESETS[usual]
    show_rows = partial(
        encoding_board.show_rows,
        asked=needs,
        opened=opened,
        on_press=lambda row: pickers.set("row", row),
        columns=columns,
        time=axis,
        size=size,
        timed_width=TIMED_WIDTH,
        trained=f"our {'decoders' if of_decoders(rows) else 'encoders'}, {recipe.hidden_size} wide",
        length=recipe.length,
        decoders=of_decoders(rows),
        dark=dark,
    )
    show_rows(f"{PAGE}.upper", upper, heading=True)
    if opened:
        _draw_row(pickers, upper[-1], size, decoders=of_decoders(rows))
    if lower:
        show_rows(f"{PAGE}.lower", lower, heading=False, lacking_above=any(row.lacks for row in upper))
    st.caption(
        f"{rows_of_methods(rows)}. Some are in no model named here, and stand here to compare. Whiskers: 95\u00a0% "
        "intervals. A ring: the rules leave the difference open, or there are few seeds. A triangle lies beyond the "
        "axis. Untrained: on longer texts its table has rows that no step of training reached. Bar of a time: "
        "from the shortest to the longest measurement."
        + " (✓): how far apart, not which comes first." * any(any(row.partly) for row in rows)
        + " Rows without a loss here stand in the order of their losses as encoders." * of_decoders(rows)
    )
    with st.expander("How losses and times were measured", key=f"{PAGE}.measured"):
        notes = [
            f"{rows_in_words(rows)} Losses are of our {_models(rows)} by {recipes(rows)}, with 95\u00a0% intervals "
            "over seeds paired with learned, added positions of the same recipe. All models of a recipe have about "
            "as many parameters: feed-forward layers are narrower where positions need some. “Another recipe”, "
            f"below a number: against adding of that recipe. {seeds_of_their_own(rows)}",
            f"Where a cell says “{DECODER_ONLY}”, “{ENCODER_ONLY}” or “another recipe” in place of a dot, we trained "
            "the method in that way alone, and its loss has no place on this axis.",
            f"{OPEN_IN_WORDS} “Tied first”: the 95\u00a0% interval of its difference from the lowest, paired by seed, "
            "includes zero (of two recipes: their intervals overlap).",
            f"Our models are small. Recipe {usual}: {plural(recipe.layers, 'layer')}, "
            f"{plural(recipe.heads, 'head')}, width {recipe.hidden_size}, {recipe.vocabulary:,} words, texts of "
            f"{recipe.length} tokens, {recipe.steps:,} steps.",
            f"The loss at 4 times the length is that of the same models on texts of {4 * recipe.length} tokens, minus "
            f"the loss of added positions on texts of {recipe.length}, with the 95\u00a0% interval over paired seeds.",
            f"The time of a step was measured on one core of a CPU; another machine may give other ratios. The dot is "
            f"the newest measurement of small models of recipe {EQUAL_SIZES} ({PRESETS[EQUAL_SIZES].precision}), whose "
            f"feed-forward layers are equally wide. {times_of_trained_models()} Arithmetic is of a text in a batch of "
            f"{TEXTS}.",
            FORMS_IN_WORDS,
            longer_texts(rows, needs),
        ]
        st.markdown("\n".join(f"- {escape_markdown(note)}" for note in notes if note))
    with st.expander(
        f"{len(studied())} other methods, which were only studied",
        key=f"{PAGE}.studied",
    ):
        st.markdown(
            "\n".join(
                f"- **{escape_markdown(trained_title(way))}**: {escape_markdown(way.setup.summary)}"
                for way in studied()
            )
        )
    facts = st.expander(
        "Every fact with its source: needs, costs, longer texts, evidence for and against",
        expanded=pickers.get("part") != "needs",
        key=f"{PAGE}.facts",
        on_change=partial(_begin_with_board, pickers, presets, usual_recipe(needs)),
    )
    if facts.open:
        with facts:
            _draw_facts(pickers, presets, needs)
    values = pickers.done()
    show.copy_link(PAGE, values)


def _begin_with_board(pickers: Pickers, presets: Collection[str], usual: str) -> None:
    """Shows a reader who opens the facts those of the board's recipe, unless a preset was chosen before."""
    if not st.session_state[f"{PAGE}.facts"]:
        return
    default = next(field.default for field in pickers.view.fields if field.name == "preset")
    if pickers.get("preset") == default and usual in presets:
        pickers.set("preset", usual)


def _models(rows: Sequence[EncodingRow]) -> str:
    """The models whose losses the board draws, in words, with what they were trained to do."""
    if of_decoders(rows):
        return "decoders, which were trained to predict the next word"
    return "encoders, which were trained on masked words and are judged by frozen rules,"


def _draw_size(pickers: Pickers) -> ModelSize:
    """The reader's own size, in a popover; a size that a link names is offered besides the usual ones."""

    def chosen(field: str, label: str, options: tuple[int, ...]) -> int:
        named = int(pickers.get(field))
        return pickers.slider(field, label, sorted({*options, named}) if 0 < named < 10**6 else list(options))

    label = f"{pickers.get('width'):,} wide, {pickers.get('layers')} layers, {pickers.get('length'):,} tokens"
    with st.popover(label, icon=":material/straighten:", key=f"{PAGE}.size"):
        size = ModelSize(
            width=chosen("width", "Width", WIDTHS),
            layers=chosen("layers", "Layers", LAYERS),
            heads=chosen("heads", "Heads", HEADS),
            length=chosen("length", "Tokens of a text", LENGTHS),
        )
        st.markdown(f"At this size, against added positions: {_cost_ranges(size)}.")
        st.caption(
            "Parameters and arithmetic follow from formulas, for feed-forward layers of four times the width and "
            f"{VOCABULARY:,} words; arithmetic is of one text in a batch of {TEXTS}. Time was measured in our "
            f"models of width {TIMED_WIDTH}, on a CPU, and does not change with your size."
        )
    return size


def _cost_ranges(size: ModelSize) -> str:
    """The least and the most parameters and arithmetic of the methods, over those of added positions, in words."""
    said = []
    for name, cost in (("parameters", parameters), ("arithmetic", products)):
        ratios = [cost(variant, size) / cost("bert_a", size) for variant in IN_USE]
        said.append(f"{name} × {ratio_range(min(ratios), max(ratios))}")
    return ", ".join(said)


def _draw_row(pickers: Pickers, row: EncodingRow, size: ModelSize, *, decoders: bool) -> None:
    """The content of an opened row: a description, the line of configuration, three pictures and links.

    decoders: whether the losses of the board are of decoders, which the board of Experiments has none of.
    """
    way = IN_USE[row.method]
    form = form_of(row.name)
    # A form that is ours alone is chosen by no configuration of the method.
    usual = way.call(size.length, decoder=decoders) if row.name == row.method else ""
    config = form.config or usual
    with st.container(border=True, key=f"{PAGE}.opened"):
        left, code = st.columns(2, gap="large")
        with left:
            added = extra(row.method).parameters(size)
            formula = extra(row.method).formula + (f" ({plural(added, 'parameter')})" if added else "")
            says = " ".join(filter(None, (described(row.name), way.note, form.note, asked_again(row.name))))
            st.markdown(f"{escape_markdown(says)}  \nAt your size: {formula}.")
            with st.container(horizontal=True, vertical_alignment="center"):
                if has_pictures(row.name):
                    encoding: dict[str, Value] = {"encoding": ENCODING_OF[row.name], "other": ""}
                    jump(PAGE, "All of its pictures", {"look": "values", **encoding}, icon="texture")
                if row.drawn and decoders:
                    link: dict[str, Value] = {"part": "gap", "preset": JUDGED, "objective": CAUSAL}
                    _link("experiments", "Our decoders in Experiments", "show_chart", link)
                elif row.loss and row.loss.statement:
                    _link("claims", f"Statement {row.loss.statement}", "gavel", {"claim": row.loss.statement[:3]})
                elif row.drawn:
                    preset, variant = (row.loss.preset if row.loss else JUDGED), row.name
                    named = trained_name(variant)
                    label = "Its row in Experiments" + (f": {named}" if named != row.title else "")
                    _link("experiments", label, "show_chart", {"preset": preset, "row": variant})
        with code:
            if code := form.code:
                st.caption("No configuration of transformers chooses it; these lines of torch do it.")
                st.code(code, language="python", wrap_lines=True)
            elif config == NO_DECODER:
                st.caption("No decoder of transformers has it.")
            elif config:
                st.caption("The configuration of transformers that chooses it")
                imported = f"from transformers import {config.partition('(')[0]}"
                st.code(f"{imported}\n\nconfig = {config}", language="python", wrap_lines=True)
            else:
                st.caption("No configuration of transformers chooses it; our own model does.")
                st.code(f"python -m analysis ablate --variants {row.name}", language="bash")
        if not has_pictures(row.name):
            return
        with show.reporting_problems():
            show.show(stored_figure("encoding_overview", pickers.values()), PAGE, pickers.values())


def _link(page: str, label: str, icon: str, values: Mapping[str, Value]) -> None:
    st.page_link(
        f"views/{page}.py",
        label=label,
        icon=f":material/{icon}:",
        query_params=query_parameters(page, values),
        width="content",
    )


def _draw_facts(pickers: Pickers, presets: list[str], needs: tuple[str, ...]) -> None:
    """The tables of all ways, part by part, with the source of every fact."""
    part = pickers.segments("part", "Show", list(PARTS), TITLES)
    if presets:
        with st.container(width=360):
            pickers.choice(
                "preset",
                "Our trainings with preset",
                presets,
                lambda name: f"{name} (judged by the frozen rules)" if name in judged_presets() else name,
            )
    preset = str(pickers.get("preset"))
    named = escape_markdown(preset)
    if part in ("length", "evidence") and preset not in judged_presets() and JUDGED in presets:
        st.info(
            f"**Our trainings of preset {named} decide nothing.** They were begun before the rules were frozen, or at "
            "other settings. In a short training the encoder that adds leaves the plateau late, and differences "
            f"from it mostly say that. The rules judge preset {JUDGED}, whose numbers may point the other way.",
            icon=":material/warning:",
        )
        st.button(f"Show preset {JUDGED}", on_click=lambda: pickers.set("preset", JUDGED), type="primary")
    lines = choosing.lines(part, preset, needs)
    st.caption(
        f"{plural(len(lines), 'method')} to encode position, used or only studied. Our models are small encoders and, "
        "where it says causal, decoders, all trained in the same way; the one that adds learned positions once "
        "(BERT-A) is the baseline. A published result counts as better or worse by its printed difference, however "
        "small, since most tables print no spread. The board above takes recipe "
        f"{usual_recipe(needs)} wherever it has it; these tables take one preset at a time, and show the methods that "
        "meet the needs chosen above." + " Where we have decoders, their numbers are shown." * ("causal" in needs)
    )
    measured = choosing.measured_preset(preset)
    if part == "cost" and measured != preset:
        st.caption(
            f"Costs were not measured with preset {named}: these were measured with preset {escape_markdown(measured)}."
        )
    if part == "cost" and measured != EQUAL_SIZES:
        st.caption(
            "Its models have about as many parameters each: where positions need some, feed-forward layers are "
            "narrower, so that parameters and FLOPs differ from those of the board."
        )
    st.html(choosing_table.html(lines, PARTS[part], show.address))
