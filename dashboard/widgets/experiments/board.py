"""The tab Board of Experiments: a row per way of telling positions; a press on a row opens what is known of it."""

from collections.abc import Mapping
from difflib import SequenceMatcher

import streamlit as st

from analysis.ablation.presets import PRESETS
from analysis.ablation.variants import named, quote
from analysis.core import settings
from analysis.core.errors import AddendError
from analysis.core.formatting import capitalised, fixed, join_names, plural, signed
from analysis.figures import stored_figure
from analysis.figures.experiments.board import ORDERS, columns_note, ordered
from analysis.figures.experiments.board_rows import (
    ExperimentsBoard,
    VariantRow,
    board as experiments_board,
    default_preset,
    judged_presets,
)
from analysis.figures.experiments.imported_rows import ImportedBoard, imported_boards
from analysis.figures.glue.headline import SURGERY
from analysis.figures.training.final_loss import is_imported, seeds_needed
from analysis.figures.training.later_runs import LaterRuns, later_runs
from analysis.figures.training.trainings import stored_presets
from analysis.links import Value
from analysis.measurements.surgery.arms import ARMS
from analysis.narrative.answer.stored_answer import answer
from analysis.rules import encoder_rules, judged_encoder_presets, training_rules
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import is_dark, query_parameters
from dashboard.widgets import show
from dashboard.widgets.experiments.row_panel import TABS, link, show_panel
from dashboard.widgets.experiments_board import show_board
from dashboard.widgets.pickers import Pickers

PAGE = "experiments"
NEAREST = 2
"""The rows that are named where a link names one that is not there."""


def recipe(preset: str) -> str:
    """A preset in the words of the chip, short enough for a phone: size, steps, and the seeds of its frozen rules."""
    if preset not in PRESETS:
        return f"imported results ({preset})" if is_imported(preset) else preset
    settings = PRESETS[preset]
    seeds = f"{seeds_needed(preset)} seeds" if preset in judged_presets() else "exploratory"
    contrast = "one change each, " if preset in judged_encoder_presets() else ""
    width = f"width{settings.hidden_size}"
    size = "" if preset == width else f"{width.replace('width', 'width ')}, "
    return f"{preset}: {size}{settings.steps:,} steps, {contrast}{seeds}"


def draw(pickers: Pickers) -> None:
    """The board with its pickers, and under it the variants that were not trained by the recipe."""
    presets = stored_presets()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if presets:
            pickers.choice("preset", "Recipe", presets, recipe, width=430)
        order = pickers.segments("order", "Order", list(ORDERS), ORDERS, width="content")
    opened, imported = str(pickers.get("row")), imported_boards()
    of_a_reader = any(opened == one.key(row.variant) for one in imported for row in one.board.rows)
    pickers.fixed("tab", list(TABS))  # The panel draws its picker.
    values = pickers.done()
    show.copy_link(PAGE, values)
    for one in imported:
        if one.board.preset != values["preset"]:
            _draw_imported(one, pickers, values)
    try:
        figure = stored_figure("experiments_board", values)
        board = experiments_board(str(values["preset"]))
        rows = ordered(board, order)
    except AddendError as problem:
        show.show_problem(problem)
        return
    if opened in ARMS:
        link(
            f"{ARMS[opened].title}: a trained model that was changed, which stands in the tab GLUE",
            "arrow_forward",
            {"part": "glue", "glue_preset": SURGERY},
        )
    elif opened and not of_a_reader and opened not in [row.variant for row in rows]:
        _say_where(opened, board, values)

    def press(variant: str) -> None:
        """Opens the row that was pressed; closes the open one where there is no name."""
        pickers.set("row", variant)

    def draw_panel(row: VariantRow) -> None:
        show_panel(row, board, pickers, PAGE, values)

    def draw_rows() -> None:
        show_board(
            board,
            rows,
            f"{PAGE}.board",
            opened=opened,
            on_press=press,
            panel=draw_panel,
            dark=is_dark(),
            grouped=order == "way" and not board.imported,
        )
        with st.expander("What the columns show", key=f"{PAGE}.columns"):
            st.markdown(escape_markdown(columns_note(board)))

    def draw_links() -> None:
        with st.container(horizontal=True, key=f"{PAGE}.links", gap="small"):
            _link_to_quoted_row(values)
            _link_to_other_recipe(board, values)

    show.show(figure, PAGE, values, board=draw_rows, under_heading=draw_links)
    _draw_others(board)


def _say_where(variant: str, board: ExperimentsBoard, values: Mapping[str, Value]) -> None:
    """Links to the board that has the row which the link names, since this one has none; else the nearest rows."""
    later = later_runs(variant, board.preset)
    if later:
        text = f"{capitalised(named(variant))} is not ranked here, since {_by_later_rules(later)}"
        query = query_parameters("claims", {"claim": later.judgement.parent})
        st.page_link("views/claims.py", label=text, icon=":material/gavel:", query_params=query)
    for preset in judged_presets():
        try:
            rows = experiments_board(preset).rows
        except AddendError:
            continue
        if variant in [row.variant for row in rows]:
            stands = "stands" if later else "was not trained by this recipe; it stands"
            link(
                f"{capitalised(named(variant))} {stands} on the board “{recipe(preset)}”",
                "arrow_forward",
                {**values, "preset": preset},
            )
            return
    titles = {row.title: row.variant for row in board.rows}
    words = variant.replace("_", " ").casefold()

    def likeness(one: str) -> float:
        texts = (one.replace(",", "").casefold(), titles[one].replace("_", " "))
        return max(SequenceMatcher(None, words, text).ratio() for text in texts)

    nearest = join_names(map(quote, sorted(titles, key=likeness, reverse=True)[:NEAREST]))
    st.warning(
        escape_markdown(f"This board has no row “{variant}”. The rows with the nearest names: {nearest}."),
        icon=":material/link_off:",
    )


def _by_later_rules(later: LaterRuns) -> str:
    """A clause on the seeds that later rules asked for, and on what they found."""
    seeds = plural(later.trained.runs.seed.nunique(), "seed")
    return f"later rules compared it with adding on {seeds} of its own: {_judged(later)}"


def _judged(later: LaterRuns) -> str:
    """The difference that later rules found, with their statement and its verdict."""
    one = later.judgement
    return f"{signed(one.effect or 0.0)} nats ({one.id}, {one.verdict})"


def _link_to_quoted_row(values: Mapping[str, Value]) -> None:
    """A link to the row whose difference the answer quotes; nothing where that row is open."""
    step = next((step for step in answer() if step.name == "told_once"), None)
    statement = str(step.values.get("statement", "")) if step else ""
    contest = next((contest for contest in encoder_rules().statements if contest.id == statement), None)
    if step is None or step.value is None or contest is None:
        return
    quoted = {"preset": contest.preset, "row": contest.variant}
    if all(values[name] == value for name, value in quoted.items()):
        return
    where = (
        "on this board" if values["preset"] == contest.preset else f"on the board of another recipe ({contest.preset})"
    )
    link(
        f"The {fixed(abs(step.value))} nats that the answer quotes are those of {named(contest.variant)}, {where}",
        "arrow_forward",
        quoted,
    )


def _link_to_other_recipe(board: ExperimentsBoard, values: Mapping[str, Value]) -> None:
    """A link to the other board that readers arrive at, where its recipe finds something else of concatenating."""
    opened, linked = default_preset(), training_rules().preset
    try:
        other = experiments_board(linked if board.preset == opened else opened)
    except AddendError:
        return
    if sentence := board.concatenating_differs(other):
        link(sentence, "arrow_forward", {**values, "preset": other.preset})


def _draw_imported(one: ImportedBoard, pickers: Pickers, values: Mapping[str, Value]) -> None:
    """The rows that a reader imported under one preset, marked, with the sentence that says why they stand apart."""
    preset, opened = one.board.preset, str(values["row"])

    def press(variant: str) -> None:
        pickers.set("row", one.key(variant) if variant else "")

    def draw_panel(row: VariantRow) -> None:
        show_panel(row, one.board, pickers, PAGE, {**values, "preset": preset})

    with st.container(key=f"{PAGE}.{preset}.rows"):
        whose = "Imported on this server" if settings.hosted() else "Your results"
        st.header(f"{whose} ({escape_markdown(preset)})", anchor=False)
        st.caption(escape_markdown(one.sentence))
        show_board(
            one.board,
            one.board.rows,
            f"{PAGE}.{preset}.board",
            opened=next((row.variant for row in one.board.rows if one.key(row.variant) == opened), ""),
            on_press=press,
            panel=draw_panel,
            dark=is_dark(),
            grouped=False,
        )


def _draw_others(board: ExperimentsBoard) -> None:
    """The variants that were trained with other seeds, in a line; those that this recipe did not train, folded."""
    later = {row.variant: found for row in board.others if (found := later_runs(row.variant, board.preset))}
    if later:
        said = join_names(f"{named(name)} {_judged(found)}" for name, found in later.items())
        st.caption(
            escape_markdown(f"Trained by this recipe on seeds that later rules asked for, and not ranked: {said}.")
        )
    others = [row for row in board.others if row.variant not in later]
    if not others:
        return
    with st.expander(f"{plural(len(others), 'variant')} more, not trained to predict masked words by this recipe"):
        columns = {
            "Variant": "title",
            "Positions are": "way",
            "Parameters (×)": "parameters",
            "Time a step (×)": "time",
        }
        table = [{name: getattr(row, field) for name, field in columns.items()} for row in others]
        st.dataframe(table, hide_index=True, height="content", width="content")
