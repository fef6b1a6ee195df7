"""Proves that the store's stable views keep their columns and neither lose, double nor restate a figure.

Published figures are compared with their CSV files as pandas reads them; the committed term statistics must
satisfy what holds of any decomposition: the shares of a head sum to 1 and the terms to the model's own scores.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.store import files, read
from analysis.store.sync import sync

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {
    "own_scores": "run_id variant preset task metric seed finetune_seed value rules_sha",
    "published_scores": "paper year table_name variant steps setting task metric value sd printed transcribed_from "
    "citation caveat",
    "term_stats": "model revision method layer head term corpus share effect rms",
    "intervention_effects": "model revision corpus intervention outcome layer value low high texts tokens",
    "claims": "id verdict effect lower upper parent statement rules_version",
    "answer": "order sentence claim value query further",
}


def published() -> pd.DataFrame:
    """The figures as they are committed."""
    paths = sorted((ROOT / "data/published/figures").glob("*.csv"))
    return pd.concat([pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths], ignore_index=True)


def terms(created: str, share: float, run_id: str, *, corpus: str = "made_up", method: str = "exact") -> None:
    """Writes a results file of one head with one term."""
    text = {"method": method, "corpus": corpus, "aggregation": "head", "term": "word_to_word"}
    whole = {"layer": 0, "head": 0, "texts": 1, "queries": 1}
    real = dict.fromkeys(set(files.KINDS["terms"].schema.names) - {*text, *whole}, 0.0)
    run = files.Run(kind="terms", command="made up", model="m", revision="r", created=created, run_id=run_id)
    files.write("terms", {name: [value] for name, value in {**text, **whole, **real, "share": share}.items()}, run)


@pytest.mark.parametrize("view", COLUMNS)
def test_the_columns_are_the_promised_ones(store: Path, view: str) -> None:
    assert " ".join(read.query(f"SELECT * FROM {view}").columns) == COLUMNS[view]


@pytest.mark.parametrize("view", COLUMNS)
def test_with_no_results_a_view_is_empty_not_missing(data: Path, view: str) -> None:
    sync({})
    found = read.query(f"SELECT * FROM {view}")
    assert found.empty
    assert " ".join(found.columns) == COLUMNS[view]


def test_no_published_figure_is_lost_or_doubled(store: Path) -> None:
    """The figure's own columns pass through the joins unchanged and in order."""
    expected, found = published(), read.query("SELECT * FROM published_scores")
    assert len(found) == len(expected) > 1_000
    names = {"paper": "paper", "table": "table_name", "variant": "variant", "steps": "steps", "setting": "setting"}
    for column, view in {**names, "transcribed_from": "transcribed_from"}.items():
        assert found[view].fillna("").tolist() == expected[column].tolist(), view
    assert found.year.fillna(0).astype(int).tolist() == [int(year or 0) for year in expected.year]
    printed = expected.text.where(expected.text != "", expected.value)
    assert found.printed.fillna("").tolist() == printed.tolist()


def test_a_value_is_the_printed_one_on_its_metrics_scale(store: Path) -> None:
    """By the CSV files alone: a figure's metric has one row, of its paper or of all."""
    metrics = pd.read_csv(ROOT / "data/published/metrics.csv", dtype=str, keep_default_na=False)
    keys = dict(pd.read_csv(ROOT / "data/published/papers.csv", dtype=str)[["paper", "citation_key"]].to_numpy())
    meanings = {(m["printed_task"], m["printed_metric"], m["citation_key"]): m for m in metrics.to_dict("records")}
    found = read.query("SELECT * FROM published_scores").to_dict("records")
    for expected, row in zip(published().to_dict("records"), found, strict=True):
        printed, key = (expected["task"], expected["metric"]), keys[expected["paper"]]
        if expected["metric"] == "hyper-parameter":  # A setting, not a score: as it is printed.
            scale, meant = 1.0, printed
        else:
            meaning = meanings.get((*printed, key)) or meanings[(*printed, "")]
            scale, meant = float(meaning["scale"]), (meaning["task"], meaning["metric"])
        assert (row["citation"], row["task"], row["metric"]) == (key, *meant)
        for name in ("value", "sd"):
            if expected[name]:
                assert row[name] == pytest.approx(float(expected[name]) * scale, rel=1e-12)
            else:
                assert pd.isna(row[name])


def test_a_spread_is_on_the_scale_of_its_value(data: Path) -> None:
    """And a figure whose paper or metric nobody has described is shown as it is printed."""
    folder = data / "published"
    (folder / "figures").mkdir(parents=True)
    (folder / "papers.csv").write_text("paper,citation_key,short,url\nKnown,known2020,Known,\n")
    (folder / "metrics.csv").write_text(
        "printed_task,printed_metric,citation_key,task,metric,scale,glue\nRTE,Acc,,rte,accuracy,0.01,true\n"
    )
    header = "paper,arxiv,year,table,variant,steps,setting,task,metric,value,sd,text,transcribed_from\n"
    rows = "Known,,2020,T1,a,,,RTE,Acc,70.5,1.5,70.5±1.5,x\nOther,,,T1,a,,,Odd,Metric,3,2,,x\n"
    (folder / "figures/made_up.csv").write_text(header + rows)
    sync({})
    found = read.query("SELECT citation, task, metric, value, sd, printed FROM published_scores")
    known, other = found.astype(object).where(found.notna(), None).to_numpy().tolist()
    assert known == ["known2020", "rte", "accuracy", pytest.approx(0.705), pytest.approx(0.015), "70.5±1.5"]
    assert other == [None, "Odd", "Metric", 3.0, 2.0, "3"]


def test_glue_values_are_fractions(store: Path) -> None:
    found = read.query(
        "SELECT p.* FROM published_scores p JOIN metrics m ON m.task = p.task AND m.metric = p.metric WHERE m.glue"
    )
    assert len(found) > 100
    assert found.value.dropna().between(-1, 1).all()
    assert found.value.median() > 0.3, "fractions, not hundredths of them"
    known = read.query(
        "SELECT value, printed FROM published_scores WHERE citation = 'ke2021tupe' AND table_name = 'Table 1' "
        "AND variant = 'TUPE-R' AND task = 'rte'"
    )
    assert known.value.tolist() == pytest.approx([float(printed) / 100 for printed in known.printed])
    assert len(known) == 1


def test_every_published_figure_has_a_citation_that_is_there(store: Path) -> None:
    missing = read.query(
        "SELECT count(*) AS n FROM published_scores p LEFT JOIN citations c ON c.citation_key = p.citation "
        "WHERE c.citation_key IS NULL"
    )
    assert missing.n[0] == 0


def test_term_stats_takes_the_newest_run_of_a_corpus(data: Path) -> None:
    terms("2026-01-01T00:00:00Z", 0.1, "z")
    terms("2026-03-01T00:00:00Z", 0.3, "a")
    terms("2026-02-01T00:00:00Z", 0.2, "m")
    terms("2026-01-01T00:00:00Z", 0.4, "other", corpus="other")
    sync({})
    found = read.query("SELECT corpus, share FROM term_stats ORDER BY corpus")
    assert found.to_numpy().tolist() == [["made_up", 0.3], ["other", 0.4]]
    assert read.query("SELECT count(*) AS n FROM terms").n[0] == 4, "older runs stay in the store"


def test_of_two_runs_in_the_same_second_term_stats_takes_one(data: Path) -> None:
    terms("2026-01-01T00:00:00Z", 0.1, "a")
    terms("2026-01-01T00:00:00Z", 0.2, "b")
    sync({})
    assert read.query("SELECT share FROM term_stats").share.tolist() == [0.2]


def test_of_two_methods_term_stats_keeps_both(data: Path) -> None:
    terms("2026-01-01T00:00:00Z", 0.1, "a")
    terms("2026-02-01T00:00:00Z", 0.2, "b", method="another")
    sync({})
    assert sorted(read.query("SELECT share FROM term_stats").share) == [0.1, 0.2]


def test_the_shares_of_every_head_sum_to_one(store: Path) -> None:
    found = read.query("SELECT * FROM term_stats")
    sums = found.groupby(["model", "revision", "method", "corpus", "layer", "head"]).share.agg(["sum", "size", "count"])
    assert len(sums) >= 12
    assert (sums["count"].isin([0]) | (sums["count"] == sums["size"])).all(), "a head's shares are withheld together"
    sums = sums[sums["count"] > 0]
    assert sums["size"].isin([16, 17]).all()  # the seventeenth is a score bias
    np.testing.assert_allclose(sums["sum"], 1, atol=1e-5)


def test_the_shares_over_all_heads_sum_to_one(store: Path) -> None:
    found = read.query("SELECT * FROM newest_terms WHERE aggregation != 'head'")
    sums = found.groupby(["run_id", "aggregation", "layer"]).share.agg(["sum", "size", "count"])
    assert (sums["count"].isin([0]) | (sums["count"] == sums["size"])).all(), "a layer's shares are withheld together"
    sums = sums[sums["count"] > 0]
    assert len(sums) >= 2
    assert sums["size"].isin([16, 17]).all()  # the seventeenth is a score bias
    np.testing.assert_allclose(sums["sum"], 1, atol=1e-5)


def test_effects_and_sizes_cannot_be_negative(store: Path) -> None:
    found = read.query("SELECT effect, rms FROM term_stats")
    assert (found.effect > -1e-9).all()
    assert (found.rms >= 0).all()


def test_the_stored_terms_add_up_to_the_models_own_scores(store: Path) -> None:
    everything = read.query("SELECT run_id, layer, share, pattern_error, relative_error, max_error FROM terms")
    # In a layer where terms cancel so far that a share is withheld, as in all-mpnet-base-v2 from layer 3 on, their sum
    # is less exact; the figure says how exact.
    assert (everything.relative_error < 0.01).all()
    whole = everything.groupby(["run_id", "layer"]).share.transform(lambda shares: shares.notna().all())
    found = everything[whole.astype(bool)]
    assert len(found) > 0.75 * len(everything)
    # An error in the scores can move a probability by half of it: DINOv2's scores span hundreds.
    assert (found.pattern_error < 1e-5 + found.max_error / 2).all()
    assert (found.relative_error < 1e-5).all()
    probes = read.query("SELECT pattern_error FROM probes")
    assert len(probes) >= 5
    assert (probes.pattern_error < 1e-5).all()


def test_the_committed_intervals_hold_their_values(store: Path) -> None:
    found = read.query("SELECT * FROM terms")
    withheld = found.share.isna()
    assert (withheld | ((found.share_low <= found.share) & (found.share <= found.share_high))).all()
    assert ((found.effect_low <= found.effect) & (found.effect <= found.effect_high)).all()


def test_saved_probes_say_how_many_heads_they_have(store: Path) -> None:
    found = read.query(
        "SELECT s.probe_id, s.heads, count(*) AS n FROM saved_probes s JOIN probe_heads USING (probe_id) GROUP BY ALL"
    )
    assert len(found) >= 5
    assert (found.heads == found.n).all()
