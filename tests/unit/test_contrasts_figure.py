"""Proves the steps of the contrasts against the statements that the rules decided, and that none is left out."""

import math
import re

import pandas as pd
import pytest
from drawn_values import valid_panels

from analysis.claims.statements.stored import statements
from analysis.core.formatting import signed
from analysis.figures import FIGURES, Figure, stored_figure
from analysis.figures.experiments import contrasts
from analysis.figures.experiments.contrasts import GROUPS, PARENTS, standing, turned
from analysis.rules import all_encoder_rules, encoder_contests
from analysis.store.read import placeholders, query

MARGIN = 0.05
FIGURE_NAMES = ("experiments_contrasts", "experiments_contrasts_others")


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.005, 0.036, "same"),  # clear of zero, and within the margin
        (-0.05, 0.05, "same"),
        (-0.28, -0.23, "lower"),
        (0.06, 0.2, "higher"),
        (-0.02, 0.2, "not lower"),
        (-0.2, 0.02, "not higher"),
    ],
)
def test_a_word_is_where_the_whole_interval_lies(low: float, high: float, word: str) -> None:
    assert standing("supported", low, high, MARGIN) == standing("contradicted", low, high, MARGIN) == word
    assert standing("open", low, high, MARGIN) == "open"


def test_what_the_rules_call_the_same_is_the_same_though_its_wider_interval_reaches_beyond_the_margin() -> None:
    """Two one-sided tests of 5 % ask the 90 % interval; the one that is drawn is that of 95 %."""
    assert standing("supported", -0.052, -0.01, MARGIN, "the same") == "same"
    assert standing("supported", -0.052, -0.01, MARGIN, "not worse") == "not higher"
    assert standing("contradicted", -0.2, -0.06, MARGIN, "the same") == "lower"
    assert standing("open", -0.052, -0.01, MARGIN, "the same") == "open"


def drawn(figure: Figure) -> pd.DataFrame:
    """The rows of the panels, each once."""
    data = [frame for panel in valid_panels(figure) for frame in panel["datasets"] if "effect" in frame]
    return pd.concat(data).drop_duplicates(["id", "label"])


def test_the_charts_of_paths_have_one_scale(store) -> None:
    domains = [
        layer["encoding"]["x"]["scale"]["domain"]
        for panel in valid_panels(stored_figure("experiments_contrasts", {}))
        for layer in panel["layer"]
        if layer.get("encoding", {}).get("x", {}).get("field") == "effect"
    ]
    assert len(domains) > 1
    assert all(domain == domains[0] for domain in domains)


@pytest.mark.parametrize("word", ["same", "lower", "higher", "not lower", "not higher", "open"])
def test_the_word_of_a_turned_contrast_is_that_of_its_reverse(word: str) -> None:
    low, high = {"same": (0.0, 0.04), "lower": (-0.3, -0.2), "higher": (0.2, 0.3), "not lower": (-0.02, 0.2)}.get(
        word, (-0.2, 0.02)
    )
    verdict = "open" if word == "open" else "supported"
    assert standing(verdict, low, high, MARGIN) == word
    assert turned(word) == standing(verdict, -high, -low, MARGIN)


def test_every_contrast_is_drawn_or_said_to_be_waiting(store) -> None:
    """The committed data: every statement of the rules on final losses, and the two of the short way."""
    files = [rules.sha256 for rules in all_encoder_rules()]
    asked = query(
        f"SELECT id, pair FROM statements WHERE parent IN {PARENTS} AND kind = 'final_loss' AND "
        f"(rules_sha IN ({placeholders(files)}) OR id IN ('C34q', 'C34r'))",
        files,
    )
    told: list[str] = []
    for name in FIGURE_NAMES:
        figure = stored_figure(name, {})
        rows, seen = figure.frame(), drawn(figure)
        waiting = [sentence.removesuffix(".") for sentence in figure.sentences]
        told += [*seen.pair, *waiting]
        assert set(rows.id) <= set(seen.id), "whatever is measured is drawn"
        assert set(seen.id[~seen.measured.astype(bool)]).isdisjoint(rows.id), "what is not run has no number"
        open_ = len(rows[rows.verdict == "open"])
        assert re.search(rf"\b{open_} of {len(rows)} contrasts (is|are) open\b", figure.caption)
        assert open_ == (seen.word[seen.measured.astype(bool)] == "open").sum(), "what is counted is what is seen"
        left = len(seen) + len(waiting) - len(rows)
        assert not left or f"{left} more" in figure.caption
    assert sorted(told) == sorted(asked.pair)


@pytest.mark.parametrize("name", FIGURE_NAMES)
def test_a_row_is_its_contrast_on_the_one_axis_of_all(store, name: str) -> None:
    """The effects are those of the statements, turned where a change goes the other way."""
    figure = stored_figure(name, {})
    effects = figure.frame().set_index("id").effect
    lines = figure.frame().set_index("id").line
    expects = figure.frame().set_index("id").expect
    sentences = {one.id: one.sentence for one in statements()}
    table = drawn(figure).set_index("id")
    asked = {id: len(rules.seeds) for id, (_, rules) in encoder_contests().items()}
    turned_changes = {change.statement for group in GROUPS for change in group.changes if change.turned}
    assert set(table.index) & turned_changes or name != FIGURE_NAMES[0]
    for id, row in table[table.measured.astype(bool)].iterrows():
        assert row.effect == pytest.approx(-effects[id] if id in turned_changes else effects[id])
        assert row.low <= row.effect <= row.high or math.isnan(row.low)  # One seed has no interval.
        assert -row.margin <= row.low <= row.high <= row.margin or row.word != "same"
        size = signed(row.effect) if abs(row.effect) >= 0.005 else "0.00"
        assert str(row.text).partition("\n")[0] == f"{size} {row.word}"
        clear = row.low > lines[id] or row.high < -lines[id]
        held = row.word == "open" and clear and row.seeds == asked.get(id)
        reasons = {"spread by": "uneven", "on the plateau": "late"}
        reason = next((word for words, word in reasons.items() if words in sentences[id]), "corrected")
        assert re.search(rf"\n{row.seeds}( of \d+)? seeds?", str(row.text)), "every row says its seeds"
        assert str(row.text).endswith(f" seeds, {reason}") == held, "what is clear and open says why"
        assert row.margin == MARGIN, "one band for all, as on the board"
        own_margin = lines[id] != MARGIN and not expects[id].startswith("slightly")
        assert (f"The rule of {id} asks with a margin of {lines[id]:g} nats" in figure.caption) == own_margin


def test_a_change_goes_on_where_its_words_say(store) -> None:
    """One that begins with "then" changes the encoder of the row above it; the first of a group does not."""
    table = pd.concat([drawn(stored_figure(name, {})) for name in FIGURE_NAMES])
    for _, group in table.groupby("group", sort=False):
        assert not group.words.iloc[0].startswith("then ")
        for above, row in zip(group.itertuples(), group.iloc[1:].itertuples(), strict=False):
            assert row.words.startswith("then ") == (row.before == above.after)


def test_the_numbers_of_the_steps_add_up_to_that_of_all_at_once(store) -> None:
    """The three steps lead to the loss that is measured for all three at once, but for other seeds."""
    effects = drawn(stored_figure("experiments_contrasts", {})).set_index("id").effect
    assert effects[["C34z", "C34t", "C34s"]].sum() == pytest.approx(effects["C34b"], abs=0.01)


def test_what_is_not_trained_counts_as_failed_only_where_something_is_not(store, monkeypatch) -> None:
    found = contrasts._stored()
    assert found.seeds[found.id.isin(["C34b", "C34h", "C34f"])].eq(8).all()
    assert "count as failed" not in FIGURES["experiments_contrasts"].make({}).caption
    fewer = found.assign(seeds=found.seeds.mask(found.id == "C34l", 7))
    monkeypatch.setattr(contrasts, "_stored", lambda: fewer)
    assert "not trained yet count as failed" in FIGURES["experiments_contrasts"].make({}).caption


@pytest.mark.parametrize("missing", [[], ["C34t"], ["C34b", "C34a"], ["C34q", "C34r"], ["C34z", "C34t", "C34s"]])
@pytest.mark.parametrize("size", [0.0, 0.04, -0.08])
def test_the_picture_and_its_heading_hold_whatever_is_stored(store, monkeypatch, missing, size) -> None:
    """Contrasts arrive one by one: without some, with all others decided, of every size; and with all others open."""
    found = contrasts._stored()
    effects = {id: size * (-1) ** place * (place + 1) for place, id in enumerate(sorted(found.id))}
    for decided in ("supported", "open"):
        made = found.assign(
            effect=[math.nan if id in missing else effects[id] for id in found.id],
            low=[effects[id] - 0.01 for id in found.id],
            high=[effects[id] + 0.01 for id in found.id],
            seeds=8,
            verdict=["open" if id in missing else decided for id in found.id],
        )
        monkeypatch.setattr(contrasts, "_stored", lambda made=made: made)
        figure, others = (FIGURES[name].make({}) for name in FIGURE_NAMES)
        seen, finding = pd.concat([drawn(figure), drawn(others)]), figure.finding
        assert len(finding) <= 175
        number = sum((~found.id.isin(missing)) & found.id.isin(drawn(others).id)) if decided == "supported" else "None"
        assert others.finding.startswith(f"{number or 'None'} of ")
        assert {*seen.id, *missing} >= set(found.id)
        assert "nan" not in finding + figure.alt + others.alt + "".join(seen.text)
        told = decided == "supported" and "C34b" not in missing
        subject = "elling positions to every layer's attention instead of adding them to the input "
        assert (subject in finding) == told
        if told and abs(effects["C34b"]) > 0.06:
            verb = "raises" if effects["C34b"] > 0 else "lowers"
            assert f"{subject}{verb} the loss by {abs(effects['C34b']):.2f} nats" in finding
        if told and abs(effects["C34b"]) < 0.04:
            assert f"{subject}changes the loss by less than 0.05" in finding
        # The change goes from the words' matrix to one of their own, the statement the other way.
        matrix = decided == "supported" and "C34a" not in missing and abs(effects["C34a"]) > 0.06
        verb = "lowers" if effects["C34a"] > 0 else "raises"
        told_of_matrix = (
            f"a matrix of their own {verb} {'it' if told else 'the loss'} by {abs(effects['C34a']):.2f} nats"
        )
        assert (told_of_matrix in finding.lower()) == matrix
