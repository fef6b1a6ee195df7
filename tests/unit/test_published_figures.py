"""Proves the published figures against recomputations from the files: averages, differences, layout, comparisons."""

import csv
import math
import shlex
from pathlib import Path
from statistics import fmean

import pandas as pd
import pytest
from drawn_values import valid_panels

from analysis.core import formatting
from analysis.core.errors import LinkError
from analysis.figures import FIGURES, drawing
from analysis.figures.drawing import Theme
from analysis.figures.literature.gains import COMPARISONS, means_of
from analysis.figures.published.table_parts import in_words
from analysis.literature import tables as published
from analysis.store import read

PUBLISHED = Path(__file__).parents[2] / "data" / "published"
TUPE, DIET = "ke2021tupe|Table 1", "chen2021diet|Table 2"
ROUNDING = 0.005 + 1e-9


@pytest.fixture(scope="module", autouse=True)
def committed_store(built):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADDEND_STORE", str(built))
        yield


def from_file(file, table):
    """variant -> {printed task: value}, read from the CSV."""
    found: dict[str, dict[str, float]] = {}
    with (PUBLISHED / "figures" / file).open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["table"] == table and row["value"]:
                found.setdefault(row["variant"], {})[row["task"]] = float(row["value"])
    return found


def every_table():
    with (PUBLISHED / "papers.csv").open(newline="", encoding="utf-8") as lines:
        keys = {row["paper"]: row["citation_key"] for row in csv.DictReader(lines)}
    found = {}
    for path in sorted((PUBLISHED / "figures").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                found[f"{keys[row['paper']]}|{row['table']}"] = None
    return list(found)


# ---- Layout ----


def test_the_index_lists_every_table_once_and_glue_first():
    index = published.index()
    assert sorted(index.id) == sorted(every_table())
    assert index.label.is_unique
    assert index.id[0] == TUPE
    kinds = index.kind.tolist()
    assert "GLUE" not in kinds[kinds.count("GLUE") :]
    assert kinds[-1] == "Hyper-parameters"


@pytest.mark.parametrize("id", every_table())
def test_every_figure_has_a_cell_of_its_own(id):
    table = published.load(id)
    shown, numbers = table.printed()
    assert shown.shape == numbers.shape
    placed = [int(n) for n in numbers.stack() if n is not None and n == n]
    assert sorted(placed) == sorted(table.cells.row_number)
    for number, text in zip(numbers.stack(), shown.stack(), strict=False):
        if number == number and number is not None:
            cell = table.cells[table.cells.row_number == number].iloc[0]
            assert str(text).startswith(cell.printed)


def test_the_table_is_printed_digit_for_digit():
    shown, _ = published.load(TUPE).printed()
    assert shown.loc["BERT-A", "SST-2"] == "92.88"
    assert shown.loc["TUPE-R", "QQP"] == "91.30"
    assert shown.loc["TUPE-A^mid", "steps"] == "300,000"
    shown, _ = published.load("hallam2026fusion|Table 1").printed()
    assert shown.loc["Gate-Scalar", "ArXiv"] == "65.73 ± 0.30"


def test_best_follows_the_direction_of_the_metric():
    table = published.load("haviv2022nopos|Table 1")
    best = table.cells[table.cells.row_number.isin(table.best())]
    assert set(best.row) == {"ALiBi"}
    table = published.load(TUPE)
    best = table.cells[table.cells.row_number.isin(table.best())]
    assert dict(zip(best.column, best.row, strict=True))["STS-B"] == "BERT-A"


def test_notes_are_marked_where_they_belong():
    table = published.load(TUPE)
    marks = {column: table.marks("", column) for column in ("CoLA", "RTE")}
    assert marks["CoLA"]
    assert not marks["RTE"]
    assert table.marks("TUPE-A^mid", "")
    assert not table.marks("BERT-A", "")
    assert sum(not note.mark for note in table.notes) == 1


@pytest.mark.parametrize("id", published.BASELINES)
def test_baselines_are_rows_of_their_tables(id):
    assert published.load(id).variants[0] == published.BASELINES[id]


# ---- Averages ----


@pytest.mark.parametrize(
    ("id", "file", "name", "average"),
    [
        (TUPE, "tupe_glue.csv", "Table 1", "GLUE avg (9 columns)"),
        ("ke2021tupe|Table 3 (App. C)", "tupe_glue.csv", "Table 3 (App. C)", "GLUE avg (9 columns)"),
        (DIET, "diet_glue.csv", "Table 2", "avg"),
    ],
)
def test_averages_with_and_without_cola(id, file, name, average):
    scores = from_file(file, name)
    means = published.average(published.load(id), ("cola",)).set_index("variant")
    assert set(means.index) == set(scores)
    for variant, values in scores.items():
        printed = values.pop(average)
        assert means.printed[variant] == printed
        assert means.all_columns[variant] == pytest.approx(fmean(values.values()))
        assert means.ticked[variant] == pytest.approx(fmean(v for t, v in values.items() if t != "CoLA"))


def test_the_headline_finding():
    figure = FIGURES["published_average"].of({"table": TUPE, "baseline": "BERT-A", "without": ("cola",)})
    means = figure.frame().set_index("variant")
    assert means.difference_all["TUPE-A"] == pytest.approx(84.47 - 82.96, abs=2 * ROUNDING)
    assert means.difference_ticked["TUPE-A"] == pytest.approx(87.15 - 86.43, abs=2 * ROUNDING)
    assert means.difference_all["TUPE-A^mid"] > 0 > means.difference_ticked["TUPE-A^mid"]
    told = " ".join(figure.sentences)
    assert "Without CoLA, TUPE-A^mid minus BERT-A goes from +0.37 to −0.45 points: the sign changes." in told
    assert "TUPE-A minus BERT-A goes from +1.52 to +0.72 points. Leaving" in told
    gains = means[(means.difference_all > 0) & (means.index != "TUPE-R")]
    half = (gains.difference_ticked <= gains.difference_all / 2).sum()
    assert means.difference_ticked["TUPE-R"] > means.difference_all["TUPE-R"] / 2, "what is said is of the others"
    assert figure.finding.endswith(f". CoLA makes up half or more of the gain in {half} of the {len(gains)} other rows")


def test_only_cola_turns_the_sign_of_the_intermediate_checkpoint():
    table = published.load(TUPE)
    for task, column in table.glue_columns:
        ticked = published.average(table, (task,)).set_index("variant").ticked
        assert (ticked["TUPE-A^mid"] < ticked["BERT-A"]) == (column == "CoLA"), column


def test_only_columns_that_every_variant_has_are_averaged():
    assert [task for task, _ in published.load("he2021deberta|Table 4").glue_columns] == ["mnli"]
    with pytest.raises(LinkError, match="1 GLUE column that every variant has"):
        published.average(published.load("he2021deberta|Table 4"))


def test_an_average_of_nothing_is_refused():
    table = published.load(TUPE)
    with pytest.raises(LinkError, match="Every GLUE column"):
        published.average(table, tuple(task for task, _ in table.glue_columns))


def test_an_unknown_table_and_an_unknown_baseline_are_sentences():
    with pytest.raises(LinkError, match=r"no published table 'nobody\|nothing'"):
        FIGURES["published_scores"].of({"table": "nobody|nothing"})
    with pytest.raises(LinkError, match="no variant 'GPT-9'"):
        FIGURES["published_difference"].of({"table": TUPE, "baseline": "GPT-9"})


# ---- Differences ----


@pytest.mark.parametrize("baseline", ["BERT-A", "BERT-A^d"])
def test_differences_column_by_column(baseline):
    scores = from_file("tupe_glue.csv", "Table 1")
    found = FIGURES["published_difference"].of({"table": TUPE, "baseline": baseline}).frame()
    assert len(found) == 7 * 10
    for row in found.itertuples():
        wanted = scores[row.variant][row.printed_task] - scores[baseline][row.printed_task]
        assert row.difference == pytest.approx(wanted)


def test_differences_stay_within_a_setting():
    found = FIGURES["published_difference"].of({"table": "song2023geometry|Table 1 (Relative norm)"}).frame()
    table = published.load("song2023geometry|Table 1 (Relative norm)")
    own = table.cells[table.cells.variant == "BERT"].set_index(["setting", "printed_task"]).value
    for row in found.itertuples():
        assert row.value_baseline == own[row.setting, row.printed_task]


def test_a_printed_change_is_no_score():
    table = published.load("kitaev2018constituency|sec 3")
    assert set(table.scores.value) == {92.67, 93.15}


def test_signs_are_never_those_of_a_zero():
    assert formatting.signed(-0.004) == "+0.00"
    assert formatting.signed(-0.4475) == "−0.45"
    assert (formatting.fixed(-0.004), formatting.fixed(-0.756), formatting.fixed(0.5, 1)) == ("0.00", "−0.76", "0.5")


# ---- What stands behind every figure ----


def figures_of_a_table():
    names = ["published_scores", "published_difference", "published_average"]
    return [(name, id) for id in every_table() for name in names]


@pytest.mark.parametrize(("name", "id"), figures_of_a_table())
def test_every_figure_is_drawn_or_says_why_not(name, id):
    params = {"table": id, "baseline": "", "without": ("cola",)}
    table = published.load(id)
    possible = {
        "published_scores": len(table.scores) > 0,
        "published_difference": table.compares,
        "published_average": len(table.glue_columns) >= 2,
    }
    if not possible[name]:
        with pytest.raises(LinkError, match=r"\.$"):
            FIGURES[name].of(params)
        return
    figure = FIGURES[name].of(params)
    for theme in (Theme(), Theme(dark=True)):
        assert valid_panels(figure, theme)
    assert set(figure.citation_keys) == {id.partition("|")[0]}
    assert len(figure.frame()) > 0
    assert figure.caption
    assert figure.alt


@pytest.mark.parametrize("id", [TUPE, DIET, "haviv2022nopos|Table 1", "song2023geometry|Table 1 (Relative norm)"])
def test_the_command_gives_the_figure_s_numbers(id):
    for name, column in (("published_difference", "difference"), ("published_average", "ticked")):
        if name == "published_average" and len(published.load(id).glue_columns) < 2:
            continue
        figure = FIGURES[name].of({"table": id, "baseline": "", "without": ("cola",)})
        program, *words = shlex.split(figure.command)
        assert [program, *words[:3]] == ["python", "-m", "analysis", "query"]
        answer = read.query(words[3])
        assert sorted(answer[column]) == pytest.approx(sorted(figure.frame()[column]))


# ---- Comparisons across papers ----


@pytest.fixture(scope="module")
def papers():
    """The figures of all papers: on concatenation and no cross terms, and on what else papers leave out."""
    return [FIGURES[name].of({}) for name in ("published_literature", "published_literature_others")]


@pytest.fixture(scope="module")
def literature(papers):
    return pd.concat([figure.frame() for figure in papers], ignore_index=True)


def test_every_comparison_has_its_rows(literature):
    assert set(means_of(literature).comparison) == {c.label for c in COMPARISONS}
    assert len({c.label for c in COMPARISONS}) == len(COMPARISONS)


def test_tupe_and_its_replication_are_compared_on_the_same_seven_columns(literature):
    means = means_of(literature).set_index("comparison")
    shared = ("MNLI-m", "MNLI-mm", "QNLI", "QQP", "SST-2", "CoLA", "STS-B")
    tupe, diet = from_file("tupe_glue.csv", "Table 1"), from_file("diet_glue.csv", "Table 2")
    own = fmean(tupe["TUPE-A"][t] - tupe["BERT-A"][t] for t in shared)
    again = fmean(
        diet["Ke 2020 TUPE (per-head, seg input)"][t] - diet["Devlin 2018 (pos input, seg input)"][t] for t in shared
    )
    assert means.gain["TUPE-A − BERT-A"] == pytest.approx(own)
    assert own == pytest.approx(1.51, abs=ROUNDING)
    assert means.gain["Replication: TUPE − added positions"] == pytest.approx(again)
    rest = fmean(tupe["TUPE-A"][t] - tupe["BERT-A"][t] for t in shared if t != "CoLA")
    assert means.gain_without_cola["TUPE-A − BERT-A"] == pytest.approx(rest)


def test_a_higher_perplexity_is_worse(literature):
    means = means_of(literature).set_index("comparison")
    assert means.gain["Masked, Pile"] == pytest.approx(-math.log(147.18 / 4.06))
    assert means.gain["Causal, WikiText-103"] == pytest.approx(-math.log(20.97 / 20.42))


def test_evidence_for_and_against_stands_side_by_side(literature):
    means = means_of(literature)
    concatenated = means[means.panel == "Concatenated"].gain
    assert (concatenated > 0).any()
    assert (concatenated < 0).any()
    assert (means[means.panel.str.startswith("One cross term")].gain < 0).all()


def test_every_detector_that_was_trained_equally_long_is_counted(literature, papers):
    means = means_of(literature).set_index("comparison")
    gains = [means.gain[f"Detector {size}, 50 epochs against 50 of adding"] for size in ("R50", "R101")]
    assert gains == pytest.approx([41.0 - 34.8, 42.8 - 36.9])
    equal = means[(means.panel == "Concatenated") & ~means.shorter].gain
    assert f"{(equal > 0).sum()} of {len(equal)} comparisons" in papers[0].finding


def test_what_else_changes_than_the_cross_terms_is_said(papers):
    untied = [one for one in COMPARISONS if one.panel.startswith("No cross terms")]
    assert [one.variant for one in untied if not one.also] == ["TUPE-A^tie-cls"]
    beside = [one for one in COMPARISONS if one.panel == "Concatenated"]
    assert [one.label for one in beside if not one.also] == ["Parser, concatenated only (printed change)"]
    assert papers[0].finding.endswith("; only one of each changes nothing else")
    assert "dropping the cross terms above keeping them in" in papers[0].finding, "it is not compared with adding"
    drawn = pd.concat([rows for panel in valid_panels(papers[0]) for rows in panel["datasets"] if "written" in rows])
    marked = set(drawn.label[drawn.written.str.contains("nothing else").fillna(False)])
    assert len(marked) == 2
    assert any("[CLS]" in name for name in marked)
    assert any("concatenated only" in name.replace("\n", " ") for name in marked)
    assert all(one.also in papers[0].caption for one in (*untied, *beside))
    assert "+0.45 on 7" in papers[0].caption


def test_comparisons_carry_their_caveats_and_sources(literature, papers):
    frame = literature
    assert frame.caveat.notna().all() | (frame.caveat.isna().sum() <= len(frame) / 4)
    assert set(frame.read_in) == {"full text", "transcription", "second-hand", "authors' repository"}
    known = set(read.query("SELECT citation_key FROM citations").citation_key)
    for figure in papers:
        assert set(figure.citation_keys) <= known
        assert set(figure.frame().citation) == set(figure.citation_keys)
        assert valid_panels(figure)


def test_green_is_better_in_the_direction_that_the_measure_has():
    """Perplexities: lower is better, so a lower one is a gain; of GLUE's scores, a higher one."""
    for id, better in (("haviv2022nopos|Table 1", -1), (TUPE, 1)):
        table = published.load(id)
        figure = FIGURES["published_difference"].of({"table": id, "baseline": table.variants[0]})
        for panel in drawing.panels(figure, Theme()):
            rows = next(iter(panel.to_dict()["datasets"].values()))
            assert all(row["gain"] == pytest.approx(better * row["difference"]) for row in rows)


@pytest.mark.parametrize("name", ["published_average", "published_difference"])
def test_a_variant_that_was_trained_for_another_length_says_so(name):
    """TUPE's middle rows have 300,000 of the baseline's 1,000,000 steps, as Table 1 prints them."""
    figure = FIGURES[name].of({"table": TUPE, "baseline": "BERT-A"})
    drawn = str([panel.to_dict() for panel in drawing.panels(figure)])
    assert (
        "TUPE-R (midway), 300k steps" if name == "published_difference" else "'group': 'Trained for 300k steps'"
    ) in drawn
    assert "1,000k steps" not in drawn


def test_a_name_of_a_paper_says_what_it_changes_and_how_long_it_was_trained() -> None:
    names = pd.Series(["BERT-A^d", "TUPE-A^mid", "nobody's"])
    assert in_words(names, {"TUPE-A^mid": "300k"}).tolist() == [
        "BERT-A (own matrices): Every layer, own matrix, scaled",
        "TUPE-A (midway), 300k steps",
        "nobody's",
    ]
