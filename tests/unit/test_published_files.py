"""Proves that the published figures are complete: cited, mapped, caveated, and equal to what is said of them.

Every paper string has a citation, every printed metric has exactly one meaning, every caveat stands beside at least one
figure, no figure is there twice, and the statements made about TUPE's and DIET's averages follow from the rows.
"""

import csv
import re
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import fmean

import pytest

from analysis.claims import CLAIMS

PUBLISHED = Path(__file__).resolve().parents[2] / "data" / "published"
COLUMNS = [
    "paper",
    "arxiv",
    "year",
    "table",
    "variant",
    "steps",
    "setting",
    "task",
    "metric",
    "value",
    "sd",
    "text",
    "transcribed_from",
]
GLUE_TASKS = {"cola", "sst2", "mrpc", "stsb", "qqp", "mnli", "mnli_mismatched", "qnli", "rte", "wnli"}
GLUE_METRICS = {"accuracy", "f1", "matthews_correlation", "pearson", "spearmanr"}
WITHOUT_COLA = {
    "BERT-A": 86.43,
    "BERT-R": 87.19,
    "TUPE-A": 87.15,
    "TUPE-R": 87.73,
    "TUPE-A^mid": 85.98,
    "TUPE-R^mid": 86.33,
    "TUPE-A^tie-cls": 86.85,
    "BERT-A^d": 86.63,
}
# A printed average may be off by half of its last digit.
HALF_OF_SECOND_DECIMAL = 0.005 + 1e-9
HALF_OF_FIRST_DECIMAL = 0.05 + 1e-9


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def figures():
    return [row for path in sorted((PUBLISHED / "figures").glob("*.csv")) for row in read(path)]


@cache
def keys():
    return {row["paper"]: row["citation_key"] for row in read(PUBLISHED / "papers.csv")}


@cache
def bibliography():
    """Maps each BibTeX key to its fields; an entry ends at a brace that stands alone at the start of a line."""
    text = (PUBLISHED / "citations.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{([\w-]+),\n(.*?)^\}", text, flags=re.MULTILINE | re.DOTALL)
    assert len(entries) == len(re.findall(r"^@", text, flags=re.MULTILINE)), "an entry does not parse"
    assert len(entries) == len({key for key, _ in entries}), "a key is there twice"
    return {key: dict(re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", body, flags=re.MULTILINE)) for key, body in entries}


def measured():
    return [row for row in figures() if row["metric"] != "hyper-parameter"]


def meanings(row):
    """Returns the entries of metrics.csv that apply to a figure; there must be exactly one."""
    return [
        entry
        for entry in read_metrics()
        if (entry["printed_task"], entry["printed_metric"]) == (row["task"], row["metric"])
        and entry["citation_key"] in ("", keys()[row["paper"]])
    ]


@cache
def read_metrics():
    return read(PUBLISHED / "metrics.csv")


def by_variant(paper_key, table):
    """Maps variant to {printed task: value} for the figures of one table."""
    found = {}
    for row in figures():
        if keys()[row["paper"]] == paper_key and row["table"] == table:
            found.setdefault(row["variant"], {})[row["task"]] = float(row["value"])
    return found


def test_every_file_of_figures_has_the_same_columns():
    for path in (PUBLISHED / "figures").glob("*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            assert next(csv.reader(file)) == COLUMNS, path.name


def test_a_figure_is_a_number_or_a_text():
    for row in figures():
        assert row["value"] or row["text"], row
        if row["value"]:
            float(row["value"])


def test_no_figure_is_there_twice():
    assert [row for row, count in Counter(tuple(row.values()) for row in figures()).items() if count > 1] == []
    identity = ["paper", "table", "variant", "steps", "setting", "task", "metric"]
    counts = Counter(tuple(row[name] for name in identity) for row in figures())
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_paper_is_named_and_cited():
    assert {row["paper"] for row in figures()} == set(keys())
    assert len(set(keys().values())) == len(keys()), "two papers share a key"
    for row in read(PUBLISHED / "papers.csv"):
        assert row["citation_key"] in bibliography(), row["citation_key"]
        assert row["short"]
        assert row["url"].startswith("https://")


def test_citations_agree_with_the_figures():
    for row in figures():
        entry = bibliography()[keys()[row["paper"]]]
        assert entry["year"] == row["year"], row["paper"]
        if row["arxiv"]:
            assert row["arxiv"] in entry["url"], row["paper"]


def test_citations_have_what_a_reader_needs():
    for key, entry in bibliography().items():
        assert {"title", "year", "url"} <= set(entry), key
        assert "author" in entry or "key" in entry, key


@pytest.mark.parametrize(
    "key",
    [
        "vaswani2017attention",
        "vaswani2018tensor2tensor",
        "ott2019fairseq",
        "he2022mae",
        "su2021roformer",
        "raffel2020t5",
        "press2022alibi",
        "shaw2018relative",
        "ke2021tupe",
        "devlin2019bert",
        "reimers2019sbert",
        "wang2020minilm",
        "wang2021position",
        "wang2020what",
    ],
)
def test_the_papers_of_encodings_and_models_are_cited(key):
    assert key in bibliography()


def test_every_caveat_stands_beside_a_figure():
    caveats = read(PUBLISHED / "caveats.csv")
    assert len({tuple(row.values()) for row in caveats}) == len(caveats)
    for caveat in caveats:
        assert caveat["caveat"].endswith(".")
        assert any(
            keys()[row["paper"]] == caveat["citation_key"]
            and caveat["table_name"] in ("", row["table"])
            and caveat["variant"] in ("", row["variant"])
            and caveat["task"] in ("", row["task"])
            for row in figures()
        ), caveat


def test_every_third_party_note_is_flagged():
    """A figure that was read only in a note has a caveat, of its paper or its table, that says so."""
    flagged = {
        (row["citation_key"], row["table_name"])
        for row in read(PUBLISHED / "caveats.csv")
        if row["caveat"].startswith("Read in a third-party note")
    }
    for row in figures():
        if row["transcribed_from"] == "third-party note of the paper":
            key = keys()[row["paper"]]
            assert (key, "") in flagged or (key, row["table"]) in flagged, (key, row["table"])


def test_every_printed_metric_has_exactly_one_meaning():
    for row in measured():
        assert len(meanings(row)) == 1, (row["paper"], row["task"], row["metric"], meanings(row))


def test_no_entry_of_metrics_is_unused():
    used = {tuple(entry.values()) for row in measured() for entry in meanings(row)}
    assert [entry for entry in read_metrics() if tuple(entry.values()) not in used] == []


def test_metrics_use_the_shared_vocabulary():
    for entry in read_metrics():
        assert re.fullmatch(r"[a-z][a-z0-9_]*", entry["task"]), entry
        assert re.fullmatch(r"[a-z][a-z0-9_]*", entry["metric"]), entry
        assert entry["higher_is_better"] in ("true", "false", "")
        assert entry["task_title"], entry
        assert entry["metric_title"], entry
        assert entry["glue"] == ("true" if entry["task"] in GLUE_TASKS else "false"), entry
        if entry["glue"] == "true":
            assert entry["metric"] in GLUE_METRICS, entry
        percent = entry["glue"] == "true" or entry["task"] == "glue_average"
        assert float(entry["scale"]) == (0.01 if percent else 1), entry


def test_scaled_glue_scores_are_fractions():
    for row in measured():
        entry = meanings(row)[0]
        if row["value"] and (entry["glue"] == "true" or entry["task"] == "glue_average"):
            assert 0.5 < float(row["value"]) * float(entry["scale"]) < 1, row


@pytest.mark.parametrize("table", ["Table 1", "Table 3 (App. C)", "Table 4 (App. C)"])
def test_tupe_averages_are_the_mean_of_nine_columns(table):
    variants = by_variant("ke2021tupe", table)
    assert len(variants) >= 3
    for variant, scores in variants.items():
        printed = scores.pop("GLUE avg (9 columns)")
        assert len(scores) == 9
        assert fmean(scores.values()) == pytest.approx(printed, abs=HALF_OF_SECOND_DECIMAL), variant


@pytest.mark.parametrize(("variant", "average"), WITHOUT_COLA.items())
def test_tupe_averages_without_cola(variant, average):
    scores = by_variant("ke2021tupe", "Table 1")[variant]
    rest = [value for task, value in scores.items() if task not in ("CoLA", "GLUE avg (9 columns)")]
    assert len(rest) == 8
    assert fmean(rest) == pytest.approx(average, abs=HALF_OF_SECOND_DECIMAL)


def test_fewer_steps_win_on_cola_alone():
    """What the caveats of the two intermediate checkpoints and of the large one say."""
    table = by_variant("ke2021tupe", "Table 1")
    average = "GLUE avg (9 columns)"
    for mid, base in (("TUPE-A^mid", "BERT-A"), ("TUPE-R^mid", "BERT-R")):
        assert table[mid][average] > table[base][average]
        assert WITHOUT_COLA[mid] < WITHOUT_COLA[base]
    gains = {task for task, value in table["TUPE-A^mid"].items() if value > table["BERT-A"][task]} - {average}
    assert gains == {"CoLA", "RTE"}
    gains = {task for task, value in table["TUPE-R^mid"].items() if value > table["BERT-R"][task]} - {average}
    assert gains == {"CoLA", "QQP"}
    large = by_variant("ke2021tupe", "Table 3 (App. C)")
    assert large["TUPE-Large^mid"][average] < large["BERT-Large"][average]


@pytest.mark.parametrize("table", ["Table 2", "Table 8", "Table 9"])
def test_diet_averages_are_the_mean_of_seven_columns(table):
    for variant, scores in by_variant("chen2021diet", table).items():
        printed = scores.pop("avg")
        assert len(scores) == 7
        assert fmean(scores.values()) == pytest.approx(printed, abs=HALF_OF_FIRST_DECIMAL), variant


# ---- Findings in words ----


def test_every_finding_in_words_is_about_a_claim_is_cited_and_says_what_was_read():
    cited = set(re.findall(r"@\w+\{(\w+),", (PUBLISHED / "citations.bib").read_text(encoding="utf-8")))
    found = read(PUBLISHED / "findings.csv")
    assert len(found) >= 12
    for row in found:
        assert row["claim"] in CLAIMS, row
        assert row["citation_key"] in cited, row
        assert row["url"].startswith("https://"), row
        assert row["side"] in ("for", "against", "neither"), row
        assert row["transcribed_from"] in ("abstract", "post", "issue"), row
        assert all(row[text].endswith(".") for text in ("finding", "caveat")), row
    assert len({(row["claim"], row["citation_key"]) for row in found}) == len(found)
