"""Proves that the guided reading's steps hang together, and that its charts show what arithmetic gives.

Each chart of its own is held against something that nobody here wrote: transformers' own tables, torch's attention and
linear layer, scipy's integrals, sums of whole numbers. Every sentence has a number from the store in it.
"""

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from judged import statement
from scipy import integrate
from scipy.spatial import distance
from transformers import AutoTokenizer, BertConfig, BertModel

from analysis.ablation.encoder import AddendConfig
from analysis.ablation.variants import VARIANTS
from analysis.claims import CLAIMS, DOCUMENTS
from analysis.claims.statements import SIGNS, stored
from analysis.claims.statements.by_id import StatementsById
from analysis.core import default_model
from analysis.core.errors import LinkError, NoResults
from analysis.core.formatting import signed_or_zero, unbroken
from analysis.figures import FIGURES, marks
from analysis.figures.drawing import Theme, panels
from analysis.figures.outliers import largest_near
from analysis.figures.reading import cut, order, saving, shift, told
from analysis.figures.reading.arithmetic import closest, concatenated, plane
from analysis.figures.reading.orthogonal import BINS, cosine_cdf, mean_abs_cosine
from analysis.figures.reading.sum import scale as sum_scale, summands
from analysis.links import VIEWS
from analysis.narrative.answer.cards import ways_of_telling
from analysis.narrative.answer.stored_answer import answer
from analysis.narrative.reading import STEPS, length, order as order_step, ordered, still_open, told as told_step
from analysis.narrative.reading.moved import MOVED
from analysis.narrative.reading.step import Control, Picture, Step
from analysis.narrative.self_check import checks
from analysis.rules import encoder_contests, encoder_rules
from analysis.store import read

VALUES = VIEWS["read"].defaults()
STEP_NAMES = [step.name for step in ordered()]


PICTURES = [
    pytest.param(step, one, id=f"{step.name}-{one.name or 'first'}") for step in ordered() for one in step.pictures
]


def fields(view: str) -> set[str]:
    return {field.name for field in VIEWS[view].fields}


@pytest.mark.parametrize("name", STEP_NAMES)
def test_a_step_names_what_exists(name: str) -> None:
    step = STEPS[name]
    assert set(step.documents) <= set(DOCUMENTS)
    assert set(step.claims) <= set(CLAIMS)
    assert set(step.more.values(VALUES)) <= fields(step.more.page)
    assert "$" not in step.text, "no formula without a picture beside it"
    assert step.pictures[0].name == "", "the first picture is the one that a link without `part` shows"
    assert len({one.name for one in step.pictures}) == len(step.pictures)
    assert all(one.label for one in step.pictures) or len(step.pictures) == 1
    for one in step.pictures:
        assert one.figure in VIEWS[one.page].figures
        assert one.controls, "every picture has something to touch"
        assert {control.field for control in one.controls} <= fields("read")
        assert set(one.params(VALUES)) <= fields(one.page)


def test_steps_are_numbered_without_a_gap_and_the_first_is_the_default() -> None:
    assert [step.place for step in ordered()] == list(range(1, len(STEPS) + 1))
    assert VALUES["step"] == STEP_NAMES[0]
    assert len(STEPS) == 10


def test_the_answer_of_algebra_comes_second_and_its_step_cites_no_result_that_is_a_sum_again() -> None:
    step = ordered()[1]
    assert step.name == "concatenation"
    assert "hallam2026fusion" not in step.citations


def test_every_document_is_named_by_a_step() -> None:
    assert {number for step in ordered() for number in step.documents} == set(DOCUMENTS)


@pytest.mark.parametrize(("step", "one"), PICTURES)
def test_what_is_picked_at_first_is_among_the_options(store: Path, step: Step, one: Picture) -> None:
    for control in one.controls:
        assert VALUES[control.field] in list(control.options())


def ends_and_middle(control: Control) -> list[Any]:
    """The values at both ends of a control and in its middle; all of a slider."""
    options = list(control.options())
    return options if control.slides else list(dict.fromkeys((options[0], options[len(options) // 2], options[-1])))


def spoken(step: Step, one: Picture) -> list[tuple[str, str]]:
    """The sentences that a picture gives at every value of its slider, and at both ends of other controls."""
    texts = []
    for control in one.controls:
        for option in ends_and_middle(control):
            values = {**VALUES, "part": one.name, control.field: option}
            where = f"{step.name} {control.field}={option}"
            texts.append((where, step.says(values)))
            if not FIGURES[one.figure].live:
                figure = FIGURES[one.figure].make({**VIEWS[one.page].defaults(), **one.params(values)})
                assert len(figure.frame())
                texts += [(where, figure.heading), (where, figure.caption), (where, figure.alt)]
    return texts


COUNTED = "direction|dimension|layer|seed|draw|pair|model|statement"
SLIPS = (
    rf"(?<![\d.,])1 (?:{COUNTED})s\b",
    rf"(?<![\d.,])(?:[02-9]|\d\d+) (?:{COUNTED})\b(?!-)",
    r"(?<![\w⁻])-\d",
    r"−0\.0+(?!\d)",
    r"\b(?:nan|inf|None)\b|\{|  ",
    r"between ([+−]?[\d.]+ %) \([^)]*\) and \1",
)
"""What a sentence must not have: one with a plural, several with a singular, a hyphen for a minus, minus zero, a number
that is none, a range between equal ends."""


@pytest.mark.parametrize(("step", "one"), PICTURES)
def test_every_sentence_holds_at_every_value_of_its_controls(store: Path, step: Step, one: Picture) -> None:
    """Plural, sign and missing numbers; the cosine's classes and the parts of a cut have tests of their own."""
    texts = spoken(step, one)
    assert any(re.search(r"\d", text) for _, text in texts)
    for where, text in texts:
        for slip in SLIPS:
            assert not re.search(slip, text), (where, slip, text)


def test_the_kept_part_is_that_of_the_stored_numbers(store: Path) -> None:
    """At every stored number of directions, against the store's rows by SQL."""
    frame = read.query(
        "SELECT rank, value, "
        "(SELECT value FROM newest_surgery WHERE operation = 'intact' AND model = s.model) AS intact, "
        "(SELECT value FROM newest_surgery WHERE operation = 'mean_position' AND model = s.model) AS without "
        "FROM newest_surgery s WHERE operation = 'separated' AND model = 'all-MiniLM-L6-v2' ORDER BY rank"
    )
    assert frame["rank"].tolist() == STEPS["cut"].pictures[0].controls[0].options()
    assert frame["rank"].min() == 1
    assert frame["rank"].max() == 64
    for row in frame.itertuples():
        figure = FIGURES["reading_cut"].make({"kept": int(row.rank)})
        part = (row.value - row.without) / (row.intact - row.without)
        assert f"keeps {100 * part:.0f} % of what positions give" in figure.finding
        assert f"and {384 - row.rank} for words" in figure.finding
        assert f"Similarity is {row.value:.3f}" in figure.caption


@pytest.mark.parametrize(
    ("part", "words"), [(-0.3, "nothing"), (0.004, "nothing"), (0.5, "50 %"), (1.0, "all"), (1.2, "all")]
)
def test_a_part_below_none_or_above_all_is_said_in_words(part: float, words: str) -> None:
    assert f"keeps {words} of what positions give it" in cut.finding(3, 384, part)


def test_random_directions_fall_below_the_model_without_positions_on_average(store: Path) -> None:
    """As the step's text says of the grey dots."""
    rows = read.query("SELECT operation, rank, value FROM newest_surgery WHERE model = 'all-MiniLM-L6-v2'")
    control = rows[rows.operation == "mean_position"].value.item()
    means = rows[rows.operation == "separated_at_random"].groupby("rank").value.mean()
    assert len(means)
    assert (means < control).all()


def test_a_number_of_directions_that_was_not_measured_is_said(store: Path) -> None:
    with pytest.raises(NoResults, match=r"not cut with 6 directions.*measured: .*64.*Run: "):
        FIGURES["reading_cut"].make({"kept": 6})


@pytest.mark.parametrize("extra", [1, 14, 128])
def test_the_costs_are_those_of_a_bert_that_is_wider(store: Path, extra: int) -> None:
    """Parameters against transformers' own model, built without weights; products against its linear layers."""
    config = BertConfig.from_pretrained(default_model.folder())
    width, layers = config.hidden_size, config.num_hidden_layers

    def size(of: int) -> tuple[int, int]:
        with torch.device("meta"):
            # One head: a width that heads cannot share has the same matrices.
            made = BertModel(
                BertConfig.from_dict({
                    **config.to_dict(), "hidden_size": of, "intermediate_size": 4 * of, "num_attention_heads": 1
                }),
                add_pooling_layer=False,
            ).encoder  # fmt: skip
        matrices = [module for module in made.modules() if isinstance(module, torch.nn.Linear)]
        return sum(p.numel() for p in made.parameters()), sum(one.weight.numel() for one in matrices)

    row = FIGURES["reading_saving"].make({"extra": extra}).frame().set_index("extra").loc[extra]
    (few, products), (many, more_products) = size(width), size(width + extra)
    total = int(read.query("SELECT parameters FROM models WHERE model = 'all-MiniLM-L6-v2'").parameters[0])
    assert row.arithmetic == pytest.approx(more_products / products - 1)
    table = config.max_position_embeddings * (extra - width)
    assert row.parameters == pytest.approx((many - few + table) / total, rel=1e-6), layers


def test_the_costs_at_14_are_those_of_the_ledger(store: Path) -> None:
    frame = FIGURES["reading_saving"].make({"extra": 14}).frame().set_index("extra")
    assert frame.arithmetic[14] == pytest.approx(statement("C01b").effect)
    assert frame.parameters[14] == pytest.approx(statement("C01a").effect)


def test_the_groups_are_what_the_encoders_configs_do() -> None:
    """Each variant of the picture, by the config that it is built with."""
    for name, variant in VARIANTS.items():
        group = told.group_of(variant.settings)
        config = AddendConfig(**variant.fields(hidden_size=32, heads=4))
        if group == told.ONCE:
            assert not config.rotary
            assert not config.causal
            assert config.untied == "none" or config.told_layers == 1, name
        elif group == told.EVERY:
            assert config.untied != "none", name
            assert config.told_layers != 1, name
        elif group == told.ROTATED:
            assert config.rotary


def test_the_differences_are_those_of_the_page_training(store: Path) -> None:
    frame = FIGURES["reading_told"].make({"variant": "tupe_a", "rows": "all"}).frame()
    page = VIEWS["training"].defaults() | {"preset": "cpu2", "part": "gap"}
    gaps = FIGURES["training_gap"].of(page).frame().set_index("variant")
    judged = frame[frame.judged].set_index("variant")
    assert {"tupe_a", "no_cross", "rotary", "concat_20"} <= set(judged.index)
    for name, row in judged.iterrows():
        if row.seeds == 5:
            assert (row.gap, row.low, row.high) == pytest.approx(tuple(gaps.loc[name, ["gap", "low", "high"]]))


def test_the_rows_of_the_first_page_are_those_that_it_shows(store: Path) -> None:
    """The same variants in the same order with the same differences, and each name's parts are explained or plain."""
    frame = FIGURES["reading_told"].make({"variant": "no_cross", "rows": "home"}).frame()
    ways = ways_of_telling()
    assert frame.label.tolist() == [way.name for way in ways]
    assert frame.gap.tolist() == pytest.approx([way.difference for way in ways])
    counts = [way.changes for way in ways if way.quoted]
    assert counts[0] == 0
    assert all(after <= before + 1 for before, after in itertools.pairwise(counts)), "no parent is folded"
    step = FIGURES["reading_told"].make({"variant": "no_cross", "rows": "step"}).frame().label.tolist()
    assert step == [way.name for way in ways if way.name in step], "of these, in the same order"
    text = " ".join(unbroken(name) for name in step)
    assert all(part in text for part in ("whole input", "First layer", "Every layer", "own matrix", "normalised"))
    names = [variant.title for _, variant in VARIANTS.items()]
    for part in told.PARTS_OF_NAMES:
        assert any(part in name for name in names), f"no variant is called {part}"
    assert told.names_explained(["Added once"]) == ""


STATEMENTS = [step.statement for step in told.NUMBERED.values()]


def test_the_questions_of_the_text_are_answered_by_their_contrasts(store: Path) -> None:
    step = STEPS["told"]
    answer, *lines = step.says(VALUES).splitlines()
    whole = statement(told_step.ATTENTION).effect
    assert answer.startswith(
        f"Three steps together lower the loss by {-whole:.2f} nats: words and positions normalised"
    )
    gaps = FIGURES["training_gap"].of(VIEWS["training"].defaults() | {"preset": "width128", "part": "gap"}).frame()
    ends = [0.0, *(dict(zip(gaps.variant, gaps.gap, strict=True))[name] for name in told.NUMBERED)]
    parts = [after - before for before, after in itertools.pairwise(ends)]
    for number, (name, part) in enumerate(zip(STATEMENTS, parts, strict=True), start=1):
        judged = statement(name)
        assert f"(step {number}: {part:.2f})".replace("-", "−") in answer, "the sizes are those of the picture"
        new = re.search(r"with ([\d or]+) new seeds: (.*?)\.(?:\s|$)", answer)
        repeated = f"step {number} {judged.effect:.2f}".replace("-", "−")
        assert new, "a step that was trained again has its new number, too"
        assert repeated in new[2]
        assert str(judged.seeds) in new[1].split(" or ")
        variant = encoder_contests()[name][0].variant
        assert told.change_in_words(variant).startswith(f"step {number}: "), "the picture numbers it as the text does"
    assert ("each alone is open" in answer) == all(statement(id).verdict == "open" for id in STATEMENTS)
    (further,) = step.says_more.values()
    questions = told_step.QUESTIONS | told_step.FURTHER_QUESTIONS
    for question, line in zip(questions, [*lines, *further(VALUES).splitlines()], strict=True):
        assert line.startswith(f"{question} ")
        if question in told_step.QUESTIONS:
            assert question.removesuffix("?").removeprefix("The ").lower() in step.text
        for contrast in questions[question]:
            judged = statement(contrast.statement)
            if judged.effect is None or judged.missing:
                assert contrast.words not in line
                continue
            lower = (judged.effect < 0) != contrast.reverse
            assert f"{abs(judged.effect):.2f} nats {'lower' if lower else 'higher'} {contrast.words}" in line


def test_a_matrix_that_other_layers_pay_for_is_told_at_equally_many_parameters(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sides of the first answer differ in their feed-forward layers, too; beside equal ones it is told if known."""
    widths = read.query(
        "SELECT DISTINCT (config::JSON->'$.model'->>'$.intermediate_size')::INT AS width FROM pretrainings "
        "WHERE preset = 'width128' AND variant IN ('every_layer_attention', 'bert_a_d_unscaled')"
    )
    assert len(widths) == 2
    assert "equally many parameters" in STEPS["told"].says(VALUES).splitlines()[1]
    caption = FIGURES["reading_told"].make({"variant": "no_cross", "rows": "home"}).caption
    assert "feed-forward layers where parameters would differ" in caption
    known = replace(statement("C34w"), effect=-0.07, low=-0.08, high=-0.06, missing=0, verdict="contradicted")
    planted = StatementsById([known if one.id == "C34w" else one for one in stored.statements()], {})
    monkeypatch.setattr(told_step.stored, "by_id", lambda: planted)
    matrices = STEPS["told"].says(VALUES).splitlines()[1]
    assert matrices.endswith(". 0.07 nats lower with these as extra parameters.")


def test_intervals_that_are_counted_are_said_to_be_uncorrected(store: Path) -> None:
    caption = FIGURES["reading_told"].make({"variant": "no_cross", "rows": "all"}).caption
    assert re.search(r"not corrected for the number of encoders\): \d+ of \d+ told once", caption)


def test_the_three_steps_are_told_as_the_rules_have_decided(store: Path) -> None:
    """Without a decision on the whole there is no sentence, and what is decided of a step is not called open."""
    measured = {one.id: one for one in stored.parts("C34") if one.effect is not None}
    undecided = {name: replace(one, verdict="open", would_decide="more runs") for name, one in measured.items()}
    assert told_step.three_steps(undecided) == ""
    assert told_step.three_steps({name: one for name, one in measured.items() if name != "C34t"}) == ""
    whole = measured["C34b"]
    decided = {name: replace(measured[name], verdict=whole.verdict) for name in STATEMENTS}
    assert "open" not in told_step.three_steps(measured | decided)
    assert "step 3 is still open" in told_step.three_steps(measured | decided | {"C34s": undecided["C34s"]})
    # C34e: what is added again to the whole input does not end lower, and its sentence says that nothing is gained.
    assert measured["C34e"].verdict == "contradicted"
    assert "equally normalised (no gain)." in told_step.says(VIEWS["read"].defaults())


def test_what_training_makes_of_a_split_is_told_where_the_rules_have_decided_it(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = statement("C36b")
    assert judged.verdict == "supported"
    assert f"{-judged.effect:.2f} nats higher than concatenating (C36b)" in STEPS["concatenation"].says(VALUES)
    undecided = replace(judged, verdict="open", would_decide="more runs")
    monkeypatch.setattr(stored, "by_id", lambda: StatementsById([undecided], {}))
    assert "C36" not in STEPS["concatenation"].says(VALUES)


def test_models_whose_words_and_positions_are_not_as_random_vectors_are_named(store: Path) -> None:
    """Those that cross the line of each statement, by the store's own rows."""
    says = STEPS["orthogonal"].says(VALUES)
    rows = read.query(
        "FROM newest_geometry SELECT model, value WHERE measure = 'abs_cosine' AND subject = 'word_position' "
        "QUALIFY along = max(along) OVER (PARTITION BY model)"
    )
    failing = set(rows[rows.value >= 0.1].model) & set(read.query("FROM measured_models WHERE adds_positions").model)
    named = says.split("Not in all models")[1].split("(C05b)")[0]
    assert len(re.findall("all-mpnet-base-v2|seed", named)) == len(failing) > 1
    assert "more than random ones in all-mpnet-base-v2 (C06a)" in says


def test_the_widths_that_heads_can_share_enclose_that_of_the_sentence(store: Path) -> None:
    """By transformers' own rule: a width that is no multiple of the heads is refused."""
    config = BertConfig.from_pretrained(default_model.folder())
    found = re.search(r"heads of \S+ can split (\d+) \D+\(([\d.]+) %\), or (\d+) \(([\d.]+) %\), but not (\d+)",
                      STEPS["saving"].says(VALUES))  # fmt: skip
    assert found
    low, high, wider = (int(found[index]) for index in (1, 3, 5))
    assert low < wider < high == low + config.num_attention_heads
    assert not low % config.num_attention_heads
    for width, more in ((low, found[2]), (high, found[4])):
        assert f"{100 * ((width / config.hidden_size) ** 2 - 1):.1f}" == more


def test_numbers_that_were_not_read_in_the_paper_are_said_to_be_second_hand(store: Path) -> None:
    for table in order.TABLES:
        key, name = table.split("|")
        caveats = read.query("SELECT caveat FROM caveats WHERE citation_key = ? AND table_name = ?", [key, name])
        assert any("Read in a t" in one for one in caveats.caveat)
    assert "a transcription or a note of the paper, not in itself" in order_step.shuffled()


def test_rows_say_beside_the_plot_what_they_change(store: Path) -> None:
    """Each in its own words, in short lines beside the plot, indented under the row that it changes, in their order."""
    assert [name for name, change in told.COMPARED.items() if not change.words] == ["bert_a"]
    figure = FIGURES["reading_told"].make({"variant": "no_cross", "rows": "home"})
    datasets = [rows for panel in figure.draw(Theme()) for rows in panel.to_dict()["datasets"].values()]
    written = max((rows for rows in datasets if "written" in rows[0]), key=len)
    frame = figure.frame()
    assert [row["variant"] for row in written] == frame.variant.tolist()
    assert len({row["label"] for row in written}) == len(written), "each has a row of its own"
    (panel,) = figure.draw(Theme())
    (bars,) = [layer for layer in panel.to_dict()["layer"] if layer["mark"]["type"] == "bar"]
    ends = [bars["encoding"][name]["field"] for name in ("x", "x2")]
    assert ends == ["start", "gap"], "a bar goes from the row that is changed to the dot"
    changes = told.judged_changes(frame.variant)
    again = {variant: one.difference for variant, one in changes.items() if one.again}
    assert {"first_layer_attention", "every_layer_attention"} <= again.keys()
    for row, variant in zip(written, frame.variant, strict=True):
        lines = row["label"].strip("\n").split("\n")
        indents = {re.match(f"{marks.INVISIBLE}({told.INDENT})*(?=\\S)", line)[0] for line in lines}
        assert indents == {marks.INVISIBLE + told.INDENT * told.COMPARED[variant].depth}
        words = " ".join(line.removeprefix(*indents) for line in lines)
        assert words.replace("\N{NO-BREAK SPACE}", " ") == told.change_in_words(variant)
        assert marks.LABEL_LETTER * max(map(len, lines)) < 190, "a phone has room for the plot beside them"
        if variant == "bert_a":
            assert row["written"] == "change\n8 seeds"
        else:
            size, *judged = row["written"].split("\n")
            assert f"{abs(row['gap'] - row['start']):.2f}" in size, "the length of the bar"
            if variant in again:
                seeds = changes[variant].seeds
                assert judged.pop(0) == f"{seeds} new: {signed_or_zero(again[variant])}"
                assert seeds >= 10, "new seeds are more than the first ones"
            assert judged == ([changes[variant].standing] if variant in changes else []), "the rules' word, as on Home"


@pytest.mark.parametrize("position", [0, 7, 300])
def test_squares_of_lengths_add_up_where_the_summands_stand_at_right_angles(position: int) -> None:
    figure = FIGURES["reading_sum"].make({"word": "king", "position": position})
    parts = summands("king", position)
    upright, whole = np.sqrt((np.linalg.norm(parts, axis=1) ** 2).sum()), np.linalg.norm(parts.sum(0))
    said = " ".join(figure.draw(Theme())[1].to_dict()["title"]["subtitle"])
    assert f"= {upright:.2f}; the sum is {whole:.2f} long" in said


@pytest.mark.parametrize(("changes", "verb"), [([0.1, 2], "rises"), ([-1, -0.2], "falls"), ([-1, 1], "changes")])
def test_the_direction_of_a_change_is_that_of_its_numbers(changes: list[float], verb: str) -> None:
    assert order_step.direction(pd.Series(changes)) == verb


def test_the_shaded_band_is_the_margin_of_the_rules(store: Path) -> None:
    (panel,) = FIGURES["reading_told"].make({"variant": "no_cross", "rows": "home"}).draw(Theme())
    margin = next(contest.margin for contest in encoder_rules().statements if contest.parent == "C34")
    (band,) = [layer.data for layer in panel.layer if layer.to_dict()["mark"].get("type") == "rect"]
    assert band.iloc[0].tolist() == [-margin, margin]


def test_a_variant_has_one_row_and_one_that_is_far_off_does_not_squeeze_the_others(store: Path) -> None:
    figure = FIGURES["reading_told"].make({"variant": "tupe_a", "rows": "all"})
    frame = figure.frame()
    assert frame.variant.is_unique
    limit = largest_near(frame.gap)
    assert (frame.gap.abs() > limit).any(), "the store has a variant that is far off"
    (panel,) = [panel.to_dict() for panel in figure.draw(Theme())]
    domains = [
        layer["encoding"]["x"]["scale"]["domain"] for layer in panel["layer"] if "scale" in layer["encoding"]["x"]
    ]
    assert all(max(map(abs, domain)) < 2 * limit for domain in domains)
    shapes = [layer["mark"].get("shape") for layer in panel["layer"]]
    assert shapes.count("triangle-right") == (frame.gap > limit).any()


def test_a_ring_is_a_training_that_its_rules_cannot_judge_yet(store: Path) -> None:
    frame = FIGURES["reading_told"].make({"variant": "every_layer_attention", "rows": "all"}).frame()
    needed = len(encoder_rules().seeds)
    judged = set(frame[frame.judged].variant)  # by another recipe: its number is the finding then
    rings = frame[~frame.judged & ~frame.variant.isin(judged)]
    for row in rings.itertuples():
        assert row.seeds < needed
        finding = told.finding(frame, row.variant, "adding")
        assert ("decides nothing" if row.seeds == 1 else "decide nothing") in finding


def test_steps_that_older_links_name_are_found() -> None:
    for name, part in (("models", "layers"), ("shift", "moved"), ("training", "curves")):
        values, problems = VIEWS["read"].parse({"step": [name]})
        assert not problems
        step = STEPS[values["step"]]
        assert step.picture(values).name == values["part"] == part
    values, _ = VIEWS["read"].parse({"step": ["training"], "variant": ["tupe_a"]})
    assert values["variant"] == "tupe_a"
    assert VIEWS["read"].parse({"step": ["told"], "variant": ["tupe_a"]})[0]["rows"] == "all", "it was among all"
    assert VIEWS["read"].parse({"step": ["told"]})[0]["rows"] == "step"
    assert VIEWS["read"].parse({"step": ["training"]})[0]["variant"] == "concat_20", "as it was"
    assert not set(MOVED) & set(STEPS)
    for destination in MOVED.values():
        assert set(destination.values(VALUES)) <= fields(destination.page)


def test_a_sentence_changes_with_what_it_is_about(store: Path) -> None:
    heads = {STEPS["questions"].says({**VALUES, "head": head}) for head in range(12)}
    assert len(heads) == 12
    layers = {STEPS["questions"].says({**VALUES, "part": "layers", "layer": layer}) for layer in range(6)}
    assert len(layers) == 6


def test_a_negative_share_is_explained_and_no_other(store: Path) -> None:
    for head in range(12):
        says = STEPS["questions"].says({**VALUES, "head": head})
        assert ("works against the others" in says) == ("−" in says.split(":")[1])


def test_an_empty_store_is_told_as_such(data: Path) -> None:
    from analysis import store_build

    store_build.refresh()
    for name in ("objection", "sum", "orthogonal", "cut", "told"):
        with pytest.raises(NoResults, match=r"[Rr]un: python -m analysis|with: python -m analysis"):
            STEPS[name].says(VALUES)
    for name, values in (("reading_cut", {"kept": 14}), ("reading_told", {"variant": "tupe_a"})):
        with pytest.raises(NoResults, match="Run: python -m analysis"):
            FIGURES[name].make(values)


def test_a_text_that_tells_of_another_picture_names_its_button(store: Path) -> None:
    """Only one picture is on the page at a time: another one is not there until its button is pressed."""
    for step in ordered():
        assert "second picture" not in step.text
        assert "first picture" not in step.text
    for name in ("questions", "order"):
        others = [picture.label for picture in STEPS[name].pictures if picture.name]
        assert others
        assert all(f"Press **{label}**" in STEPS[name].text for label in others)


def test_the_larger_square_fills_the_drawing_of_the_matrices(store: Path) -> None:
    """At every number of dimensions, the drawing has one shape, both axes one scale, and both squares room."""
    figure = FIGURES["reading_saving"].make({"extra": 14})
    for extra in (1, 14, 128):
        drawn, growth = (panel.to_dict() for panel in FIGURES["reading_saving"].make({"extra": extra}).draw(Theme()))
        (areas,) = [rows for rows in drawn["datasets"].values() if "x2" in rows[0]]
        domains = {axis: drawn["layer"][0]["encoding"][axis]["scale"]["domain"][1] for axis in "xy"}
        assert domains["y"] / domains["x"] == pytest.approx(figure.proportions[0])
        assert max(area["x2"] for area in areas) <= domains["x"] * (1 + 1e-9)
        assert 0.85 * domains["y"] < max(area["y2"] for area in areas) < domains["y"]
        lines = growth["layer"][1]["encoding"]
        assert lines["x"]["scale"]["domain"][0] == 0
        below = lines["y"]["scale"]["domain"][0]
        assert -0.05 < below + saving.ROOM_BELOW <= 0, "below zero are what a few dimensions save, and a number"


def test_the_minutes_are_counted(store: Path) -> None:
    """Against a count of the words that are on the page, by another rule of what a word is."""
    shown = [text for step in ordered() for text in (step.title, step.text, step.says(VALUES))]
    asked = [text for check in checks() for text in (check.question, *check.options, check.because)]
    count = len(re.findall(r"\S+", " ".join(shown + asked)))
    assert length.words() == count
    pictures = sum(len(step.pictures) for step in ordered())
    assert length.minutes() - 1 < count / 200 + pictures / 3 <= length.minutes()


# ---- The charts ----


def test_on_one_axis_sums_of_whole_numbers_collide_and_on_two_none_does() -> None:
    flat = FIGURES["reading_plane"].make({"angle": 0})
    pairs = list(itertools.product(range(1, 9), repeat=2))
    totals = [word + position for word, position in pairs]
    frame = flat.frame()
    assert [totals.count(word + position) for word, position in pairs] == frame.pairs.tolist()
    assert f"{len(set(totals))} different sums" in flat.caption
    assert "no two pairs share one" not in flat.caption
    square = FIGURES["reading_plane"].make({"angle": 90})
    np.testing.assert_allclose(square.frame()[["x", "y"]], pairs, atol=1e-8)
    assert set(square.frame().pairs) == {1}
    assert "no two pairs share one" in square.caption


def test_a_shared_axis_loses_nothing_where_the_steps_differ() -> None:
    """Words 1 to 8 and positions 0.1 to 0.8 on one axis have 64 sums: what loses is that sums coincide."""
    pairs = itertools.product(range(1, 9), repeat=2)
    assert len({10 * word + position for word, position in pairs}) == 64
    blamed = re.findall(r"\*\*(.+?)\*\*", STEPS["objection"].text)[-1]
    assert "sums" in blamed
    assert "axis" not in blamed


@pytest.mark.parametrize("by", [0, 7, 100])
def test_the_moved_sentence_is_what_transformers_own_model_attends_to(by: int) -> None:
    tokens = AutoTokenizer.from_pretrained(default_model.folder())(" ".join(shift.SENTENCE[1:-1]), return_tensors="pt")
    assert tuple(AutoTokenizer.from_pretrained(default_model.folder()).convert_ids_to_tokens(tokens.input_ids[0])) == (
        shift.SENTENCE
    )
    model = BertModel.from_pretrained(default_model.folder(), attn_implementation="eager").double().eval()
    positions = torch.arange(len(shift.SENTENCE))[None] + by
    with torch.no_grad():
        expected = model(**tokens, position_ids=positions, output_attentions=True).attentions[0][0]
        first = model(**tokens, output_attentions=True).attentions[0][0]
    np.testing.assert_allclose(shift.patterns()[by], expected, atol=1e-9)
    variation = (expected - first).abs().sum(-1).mean(-1) / 2
    np.testing.assert_allclose(shift.changes()[by], variation, atol=1e-9)


@pytest.mark.parametrize("split", [1, 4, 7])
def test_a_linear_layer_on_a_concatenation_is_the_sum_of_two(split: int) -> None:
    figure = FIGURES["reading_concatenation"].make({"split": split})
    made, frame = concatenated(split), figure.frame()
    with torch.no_grad():
        layer = torch.nn.Linear(*made.matrix.T.shape, bias=False).double()
        layer.weight.copy_(torch.from_numpy(made.matrix))
        whole = layer(torch.cat([torch.from_numpy(made.word), torch.from_numpy(made.position)]))
    assert len(made.position) == split
    np.testing.assert_allclose(frame.concatenated, whole, atol=1e-12)
    np.testing.assert_allclose(frame.word_part + frame.position_part, whole, atol=1e-12)
    assert np.abs(frame.position_part).max() > 0.1
    bars, dots = _bars_and_dots(figure.draw(Theme())[1].to_dict())
    assert [row["start"] for row in bars[:6]] == [0.0] * 6
    for row, first, second in zip(dots, bars[:6], bars[6:], strict=True):
        assert second["start"] == first["end"], "the position's bar begins where the word's ends"
        assert second["end"] == pytest.approx(row["concatenated"]), "and ends where the dot is"


def _bars_and_dots(panel: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The rows of the two bars of every output, the word's first, and those of the dots."""
    return [next(rows for rows in panel["datasets"].values() if name in rows[0]) for name in ("start", "concatenated")]


@pytest.mark.parametrize(
    ("figure", "field", "ends"),
    [
        ("reading_sum", "position", (0, 511)),
        ("reading_concatenation", "split", (1, 7)),
        ("reading_orthogonal", "dim", (2, 768)),
    ],
)
def test_no_scale_moves_with_its_slider(figure: str, field: str, ends: tuple[int, int]) -> None:
    """So what stays the same is seen to stay."""

    def scales(value: int) -> list[Any]:
        values = {"word": "king", field: value}
        specs = [panel.to_dict() for panel in FIGURES[figure].make(values).draw(Theme())]
        units = [unit for spec in specs for unit in spec.get("layer", [spec])]
        channels = [channel for unit in units for channel in unit["encoding"].values() if isinstance(channel, dict)]
        return [channel["scale"]["domain"] for channel in channels if "domain" in (channel.get("scale") or {})]

    numbers = [[one for one in scales(end) if all(isinstance(number, int | float) for number in one)] for end in ends]
    assert numbers[0] == numbers[1] != []


@pytest.mark.parametrize("degrees", [0, 1, 15, 60, 90])
def test_the_closest_sums_are_as_far_apart_as_scipy_has_them(degrees: int) -> None:
    assert closest(degrees) == pytest.approx(distance.pdist(plane(degrees).reshape(-1, 2)).min(), abs=1e-7)


def test_the_sum_is_what_transformers_adds() -> None:
    folder = default_model.folder()
    model = BertModel.from_pretrained(folder, add_pooling_layer=False).double()
    ids = torch.tensor([AutoTokenizer.from_pretrained(folder).convert_tokens_to_ids(["dog"] * 20)])
    taken = []
    model.embeddings.LayerNorm.register_forward_pre_hook(lambda _, given: taken.append(given[0]))
    with torch.no_grad():
        model(ids)
    figure = FIGURES["reading_sum"].make({"word": "dog", "position": 14})
    frame = figure.frame()
    np.testing.assert_allclose(frame[frame.part == "sum"].value, taken[0][0, 14], atol=1e-7)


@pytest.mark.parametrize("position", [7, 14, 300])
def test_a_scale_of_colours_that_a_number_exceeds_says_where_it_ends(position: int) -> None:
    values = np.vstack([summands("king", position), summands("king", position).sum(0)])
    drawn = str(
        [panel.to_dict() for panel in panels(FIGURES["reading_sum"].make({"word": "king", "position": position}))]
    )
    assert ("colours end at ±" in drawn) == (np.abs(values).max() > sum_scale().value)


def test_the_curve_of_the_cut_is_said_to_fall_where_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = read.query(
        "SELECT rank, value FROM newest_surgery WHERE operation = 'separated' AND model = 'all-MiniLM-L6-v2'"
    )
    best, last = rows.loc[rows.value.idxmax()], rows.loc[rows["rank"].idxmax()]
    said = cut.past_the_best()
    assert f"highest with {best['rank']:.0f} directions ({best.value:.3f})" in said
    assert f"falls to {last.value:.3f} with {last['rank']:.0f}" in said
    rising = cut._rows().assign(value=lambda frame: frame["rank"])
    monkeypatch.setattr(cut, "_rows", lambda: rising)
    assert cut.past_the_best() == ""


def test_every_count_of_the_claims_stands_above_its_bar() -> None:
    rows = read.query(
        "SELECT question, verdict, count(*) AS statements FROM statements JOIN headings h ON h.id = parent GROUP BY ALL"
    )
    figure = FIGURES["reading_open"].of({"verdict": "all"})
    texts = [text for panel in panels(figure) for text in re.findall(r"'text': '([^']*\d)'", str(panel.to_dict()))]
    for _, asked in rows.groupby("question"):
        counts = {f"{SIGNS[row.verdict]} {row.statements}" for row in asked.itertuples()}
        assert counts in [set(text.split(" · ")) for text in texts]


@pytest.mark.parametrize(("verdict", "counted"), [("all", "open"), ("supported", "supported")])
def test_the_heading_of_the_last_step_names_the_question_with_most_of_a_verdict(verdict: str, counted: str) -> None:
    rows = read.query(
        "SELECT question, count(*) AS statements FROM statements JOIN headings h ON h.id = parent WHERE verdict = ? "
        "GROUP BY question ORDER BY statements DESC",
        [counted],
    )
    heading = FIGURES["reading_open"].of({"verdict": verdict}).finding
    total = read.query("SELECT count(*) AS n FROM statements").n.iloc[0]
    assert heading.startswith(f"{rows.statements.sum()} of {total} statements are {counted}, {rows.statements[0]} of ")
    assert stored.questions()[rows.question[0]] in heading


def test_the_hours_of_an_experiment_are_those_that_it_states() -> None:
    statements = stored.statements()
    assert any(one.hours for one in statements)
    for one in statements:
        before, phrase, _ = one.would_decide.partition(" hours of one core")
        assert (
            float(before.rpartition(" ")[2]) == pytest.approx(one.hours, abs=0.51 if one.hours >= 10 else 0.051)
            if one.hours is not None
            else not phrase or one.kind == "open"
        )


def test_the_experiments_of_the_last_step_are_of_the_claims_of_the_first_page_in_turn() -> None:
    points = [one for one in answer() if one.part in ("reason", "but")]
    claims = list(dict.fromkeys(one.claim for one in points))
    waiting = {
        claim: [one for one in stored.parts(claim) if one.verdict == "open" and one.hours is not None]
        for claim in claims
    }
    listed = still_open.experiments()
    assert len(listed) == min(3, sum(map(len, waiting.values())))
    of_claims = [one.statement.parent for one in listed]
    able = [claim for claim in claims if waiting[claim]]
    assert of_claims[: len(able)] == able[: len(listed)], "each claim has a turn before one has two"
    for one in listed:
        assert one.statement in waiting[one.statement.parent]
        assert one.bears_on in {point.heading for point in points if point.claim == one.statement.parent}


def test_a_limit_that_the_first_page_names_is_the_first_of_its_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then one that waits for planned runs, then one that takes a side on its claim; none without hours is listed."""
    limit = next(limit for step in answer() if step.name == "room" for limit in step.tempered_by)
    experiment = "2 trainings, about 0.5 hours of one core"
    common = {"parent": "C10", "verdict": "open", "answer": "", "would_decide": experiment, "hours": 0.5}
    parts = [replace(statement(limit.id), id=name, aside=aside, **common) for name, aside in (
        ("C10a", "an aside"), ("C10b", ""), (limit.id, ""), ("C10z", ""))]  # fmt: skip
    parts[3] = replace(parts[3], id="C10aa", would_decide="more runs", hours=None)
    parts.append(replace(parts[0], id="C10d", missing=2))
    monkeypatch.setattr(still_open.stored, "parts", lambda claim: tuple(parts) if claim == "C10" else ())
    listed = still_open.experiments()
    assert [one.statement.id for one in listed] == [limit.id, "C10d", "C10b"]
    headings = {step.name: step.heading for step in answer()}
    assert [one.bears_on for one in listed] == [headings["room"], headings["algebra"], headings["algebra"]]


@pytest.mark.parametrize("word", ["king", "the", "river"])
def test_where_the_sum_points_is_said_as_its_cosine_has_it(word: str) -> None:
    """At every position of the slider; scipy's cosine of the model's own vectors decides what may be said."""
    phrases = (
        "still points where the word does",
        "is turned away from the word by",
        "is as much position as word",
        "is nearer to the position",
    )
    seen = set()
    for position in range(0, 512, 7):
        parts = summands(word, position)
        cosine, other = (1 - distance.cosine(part, parts.sum(0)) for part in parts[:2])
        expected = phrases[0] if cosine > 0.8 else phrases[1] if cosine >= 0.5 else phrases[2]
        expected = phrases[3] if other > cosine else expected
        figure = FIGURES["reading_sum"].make({"word": word, "position": position})
        if position in (0, 7):
            drawn = figure.draw(Theme())[1].to_dict()
            end = drawn["layer"][0]["encoding"]["x"]["scale"]["domain"][1]
            assert end > np.linalg.norm(np.vstack([parts, parts.sum(0)]), axis=1).max(), "no bar is cut"
        assert [phrase in figure.finding for phrase in phrases] == [phrase == expected for phrase in phrases]
        assert ("only [CLS] stood there" in figure.caption) == (position == 0)
        if expected == phrases[1]:
            assert f"{np.degrees(np.arccos(cosine)):.0f}°" in figure.finding
        seen.add(expected)
    assert len(seen) > 1


def test_one_model_is_not_told_as_several(store: Path) -> None:
    """At the deepest layer a single stored model has cross terms."""
    values = VIEWS["read"].defaults()
    values["part"] = "layers"
    only = STEPS["questions"].says({**values, "layer": 5})
    assert "the only stored model that has cross terms at layer 5" in only
    assert "with attention patterns and norms held as in the model" in only
    several = STEPS["questions"].says({**values, "layer": 0})
    assert "stored models that have cross terms" in several
    assert "held as in the model" not in several


@pytest.mark.parametrize("dim", [2, 3, 16, 384])
def test_the_cosine_is_distributed_as_drawn_vectors_are(dim: int) -> None:
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 40_000, dim))
    cosine = (first * second).sum(1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    figure = FIGURES["reading_orthogonal"].make({"dim": dim})
    drawn, _ = np.histogram(cosine, bins=np.linspace(-1, 1, BINS + 1))
    share = figure.frame().share.to_numpy()
    assert share.sum() == pytest.approx(1)
    assert np.abs(drawn / len(cosine) - share).max() < 5 * np.sqrt(share.max() / len(cosine))
    exact, _ = integrate.quad(lambda c: 1 - (cosine_cdf(np.array([c]), dim) - cosine_cdf(np.array([-c]), dim))[0], 0, 1)
    assert mean_abs_cosine(dim) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("causal", [False, True])
def test_the_network_is_torchs_attention(causal: bool) -> None:
    rng = np.random.default_rng(3)
    words, weights = rng.standard_normal((6, 16)), rng.standard_normal((3, 3, 16, 16)) / 4
    hidden = torch.from_numpy(words)
    for layer in torch.from_numpy(weights):
        query, key, value = (hidden @ matrix for matrix in layer)
        attended = torch.nn.functional.scaled_dot_product_attention(
            query[None], key[None], value[None], is_causal=causal
        )
        hidden = hidden + attended[0]
    np.testing.assert_allclose(order.network(words, weights, causal=causal), hidden, atol=1e-10)


def test_only_a_causal_mask_and_two_layers_tell_the_last_word_the_order() -> None:
    for depth in order.DEPTHS:
        every, before = order.changes(depth)
        assert every.max() < 1e-12, "without positions an encoder is blind to order, however deep"
        assert before[:, 0].min() > 1e-3, "a word that moves sees other words"
        assert (before[:, -1].max() < 1e-12) == (depth == 1)
        figure = FIGURES["reading_order"].make({"depth": depth})
        assert ("whichever words it sees" in figure.finding) == (depth == 1)
        drawn = figure.frame().set_index(["mask", "layers"]).change.unstack()
        np.testing.assert_array_equal(
            drawn[depth][list(order.MASKS)], [np.median(every[:, -1]), np.median(before[:, -1])]
        )


@pytest.mark.parametrize(
    ("figure", "values"),
    [
        ("reading_plane", {"angle": 91}),
        ("reading_concatenation", {"split": 8}),
        ("reading_sum", {"word": "dog", "position": 512}),
        ("reading_sum", {"word": "<b>", "position": 1}),
        ("reading_orthogonal", {"dim": 1}),
        ("reading_order", {"depth": 7}),
        ("reading_shift", {"head": 12}),
        ("reading_cut", {"kept": 0}),
        ("reading_saving", {"extra": 129}),
        ("reading_open", {"verdict": "true"}),
    ],
)
def test_what_no_chart_takes_is_said(figure: str, values: dict) -> None:
    with pytest.raises(LinkError, match=r"The link says .*; expected"):
        FIGURES[figure].make(values)
