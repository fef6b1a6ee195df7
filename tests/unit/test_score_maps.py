"""Every number that the tab Scores sends to the browser is the one of the figure that papers get."""

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_values import bars as bars_of, colour_limits
from family_specimens import SPECIMENS
from specimens import PAIR, TEXT, embedded_loaded, tiny_tokenizer

from analysis.core.errors import LinkError
from analysis.figures import FIGURES
from analysis.figures.terms.maps import REST, MapParameters, strong_row_note, visible_terms
from analysis.figures.terms.measures import term_label
from analysis.figures.terms.score_maps import MOST_ROWS, TOTALS, opening_cell, score_maps
from analysis.links import VIEWS
from analysis.measurements.terms import FOUR, decompose
from analysis.probes import text_probe

FAMILIES = ["bert", "gpt2", "t5", "mpnet", "deberta-v2", "roformer", "opt", "albert"]
VIEWS_OF_MAPS: list[dict[str, Any]] = [
    {},
    {"group": "all"},
    {"centred": False},
    {"words": True, "specials": False},
    {"from": 2, "to": 5, "group": "all", "centred": False},
]


def sent(values: dict[str, Any], made: Any, layers: Any = None) -> dict[str, Any]:
    """The numbers as the browser reads them."""
    colours = {name: "#000000" for name in (*made.names, REST)}
    params = MapParameters.of(values)
    return json.loads(json.dumps(score_maps(params, made, measure="share", layers=layers, colours=colours)))


def decoded(text: str, maps: int) -> np.ndarray:
    """Maps as the browser reads them, (map, query, key)."""
    numbers = np.frombuffer(base64.b64decode(text), "<f4")
    side = round((numbers.size / maps) ** 0.5)
    return numbers.reshape(maps, side, side)


def map_of(frame: Any, name: str) -> np.ndarray:
    """One map of a figure's rows, (query, key)."""
    return frame[frame["map"] == name].pivot(index="query", columns="key", values="value").to_numpy()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("view", VIEWS_OF_MAPS, ids=str)
def test_every_cell_is_that_of_the_figures(family: str, view: dict[str, Any]) -> None:
    made = decompose(SPECIMENS[family].build(), tiny_tokenizer(), TEXT, layer=1)
    values = {**VIEWS["inside"].defaults(), **view}
    data = sent(values, made)
    assert len(data["maps"]) == made.heads
    names = [part["name"] for part in data["parts"]]
    for head in range(made.heads):
        here = values | {"head": head}
        maps = decoded(data["maps"][str(head)]["maps"], len(names) + len(TOTALS))
        terms, totals = (FIGURES[name].of(here, made) for name in ("probe_maps", "probe_total"))
        own, of_terms, of_totals = data["maps"][str(head)]["own"], terms.frame(), totals.frame()
        assert {names[index] for index in own} == set(of_terms["map"])
        assert max(own) < data["terms"]
        for index in own:
            name = names[index]
            np.testing.assert_array_equal(maps[index], map_of(of_terms, name).astype(np.float32))
        for index, name in enumerate(TOTALS, len(names)):
            np.testing.assert_array_equal(maps[index], map_of(of_totals, name).astype(np.float32))
        assert data["maps"][str(head)]["limit"] == pytest.approx(colour_limits(terms)[0], rel=1e-3)
        cell = FIGURES["probe_cell"].of(here | {"query": data["first"] + 1, "key": data["first"] + 2}, made)
        bars = bars_of(cell)
        # Of a layer that other terms lead in, the figure adds those to its rest.
        parts = {name if name in bars else REST: 0.0 for name in names}
        for index, name in enumerate(names):
            parts[name if name in bars else REST] += float(maps[index, 1, 2])
        assert parts == pytest.approx({name: value for name, value in bars.items() if name != "total"}, abs=1e-5)
        size = np.abs(maps[: len(names)]).sum(0).max()
        assert np.abs(maps[: len(names)].sum(0) - maps[len(names)]).max() <= 1e-5 * size, "the parts add up"


def test_the_table_is_that_of_every_layer_and_the_shares_are_the_figures() -> None:
    loaded = embedded_loaded()
    values = {**VIEWS["inside"].defaults(), "text": TEXT, "layer": 2}
    made, layers = (kind.of(values).run(loaded) for kind in (text_probe.TermsRequest, text_probe.LayersRequest))
    data = sent(values, made, layers)
    table = np.array(data["table"]["values"], dtype=float)
    assert table.shape == (6, data["terms"], 12)
    heads = FIGURES["probe_heads"].of(values, made).frame()
    for index, part in enumerate(data["parts"][: data["terms"]]):
        column = heads[heads.term == part["name"]].sort_values("head").share.to_numpy()
        np.testing.assert_allclose(table[2, index], column, atol=1e-3)
        np.testing.assert_allclose(np.array(data["shares"][index], dtype=float), column, atol=1e-3)
    alone = sent(values, made)
    assert alone["table"]["first"] == 2
    assert np.array(alone["table"]["values"], dtype=float).shape == (1, data["terms"], 12)


def test_beside_one_text_the_same_head_stands_over_many_texts(store: Path) -> None:
    loaded = embedded_loaded()
    values = {**VIEWS["inside"].defaults(), "text": TEXT, "layer": 0}
    made, layers = (kind.of(values).run(loaded) for kind in (text_probe.TermsRequest, text_probe.LayersRequest))
    many = sent(values, made, layers)["many"]
    stored = FIGURES["terms_heads"].make(VIEWS["terms"].defaults() | {"layer": 0}).frame()
    for index, part in enumerate(sent(values, made, layers)["parts"][:4]):
        column = stored[stored.term == part["name"]].sort_values("head")
        np.testing.assert_allclose(many["values"][0][index], column.share, atol=1e-3)
        assert many["texts"] == column.texts.iloc[0]
    unknown = replace(made, provenance=replace(made.provenance, revision="another"))
    assert sent(values, unknown, layers)["many"] is None


def test_without_a_head_the_one_that_goes_most_by_the_term_is_shown() -> None:
    values = {**VIEWS["inside"].defaults(), "text": TEXT}
    made = text_probe.TermsRequest.of(values).run(embedded_loaded())
    for term in visible_terms(made)[:4]:
        data = sent(values | {"term": term}, made)
        assert data["head"] == int(np.nanargmax(made.shares()[term]))
        assert FIGURES["probe_maps"].of(values | {"term": term}, made).title.startswith(f"Head {data['head']},")


@pytest.mark.parametrize("group", ["four", "all"])
def test_maps_open_on_a_cell_that_the_leading_term_of_the_head_decides(group: str) -> None:
    values = {**VIEWS["inside"].defaults(), "text": TEXT, "group": group}
    made = text_probe.TermsRequest.of(values).run(embedded_loaded())
    data = sent(values, made)
    others = len(visible_terms(made)) - data["terms"]
    assert ("segment (" in data["rest"] and f"{others} products" in data["rest"]) == (group == "four")
    names = [part["name"] for part in data["parts"]]
    led = 0
    for head in range(made.heads):
        maps = decoded(data["maps"][str(head)]["maps"], len(names) + len(TOTALS))
        parts, total, pattern = maps[: len(names)], maps[-2], maps[-1]
        leading = int(np.argmax([share[head] for share in data["shares"]]))
        decides = (np.abs(parts).argmax(0) == leading) & (parts[leading] > 0) & (total > 0)
        opening = data["maps"][str(head)]["open"]
        assert (opening is None) == (not decides.any())
        if opening is not None:
            led += 1
            assert decides[tuple(opening)]
            assert pattern[tuple(opening)] == pattern[decides].max()
        cell = opening_cell(MapParameters.of(values | {"head": head}), made)
        assert cell == ((-1, -1) if opening is None else tuple(opening))
    assert led >= made.heads / 2


def test_the_largest_term_of_every_head_has_a_map_and_is_the_large_one() -> None:
    """Also where it is none of the four; other heads of the layer do not draw it."""
    values = {**VIEWS["inside"].defaults(), "text": TEXT}
    made = text_probe.TermsRequest.of(values).run(embedded_loaded())
    data, shares = sent(values, made), made.shares()
    names = [part["name"] for part in data["parts"]]
    beyond = 0
    for head in range(made.heads):
        here = data["maps"][str(head)]
        largest = max(visible_terms(made), key=lambda term, head=head: shares[term][head])
        assert names[here["lead"]] == largest
        assert {names[index] for index in here["own"]} == {*FOUR, largest}
        figure = FIGURES["probe_maps"].of(values | {"head": head}, made)
        assert term_label(largest) in figure.finding
        beyond += largest not in FOUR
    assert beyond, "no head of this text is led by another term"


def test_a_strong_row_of_a_small_share_is_explained_by_parts_that_add_up() -> None:
    """At head 9 position to word is strong for [CLS], and works against the others everywhere else."""
    made = text_probe.TermsRequest.of(VIEWS["inside"].defaults()).run(embedded_loaded())
    note = strong_row_note(made, 9, FOUR)
    assert note.startswith("Position → word is strong in the row of “[CLS]”")
    there, elsewhere, share = (int(one.replace("−", "-")) for one in re.findall(r"([+−]?\d+) %", note))
    assert there > 10
    assert there + elsewhere == pytest.approx(share, abs=1)
    scores = made.scores[9] - made.scores[9].mean(-1, keepdims=True)
    term = made.terms["position_to_word"][9]
    term = term - term.mean(-1, keepdims=True)
    assert there == round(100 * float((term[0] * scores[0]).sum() / (scores**2).sum()))
    assert strong_row_note(made, 2, FOUR) == ""


def test_a_long_text_is_sent_in_parts_that_are_small() -> None:
    values = {**VIEWS["inside"].defaults(), "text": "word " * 400, "head": 3}
    made = text_probe.TermsRequest.of(values).run(embedded_loaded())
    data = sent(values | {"from": 200}, made)
    assert (data["first"], len(data["tokens"]), data["rows"]) == (200, MOST_ROWS, 402)
    assert list(data["maps"]) == ["3"]
    assert len(json.dumps(data)) < 1_000_000
    maps = decoded(data["maps"]["3"]["maps"], len(data["parts"]) + len(TOTALS))
    part = FIGURES["probe_maps"].of(values | {"from": 200, "to": 200 + MOST_ROWS - 1}, made).frame()
    np.testing.assert_array_equal(maps[3], map_of(part, "position_to_position").astype(np.float32))


def test_a_side_of_a_pair_is_read_by_itself() -> None:
    values = {**VIEWS["inside"].defaults(), "text": PAIR[0], "pair": PAIR[1]}
    first, second, together = (
        text_probe.TermsRequest.of(values | {"side": side}) for side in ("first", "second", "together")
    )
    assert (first.text, first.pair) == (PAIR[0], None)
    assert (second.text, second.pair) == (PAIR[1], None)
    assert (together.text, together.pair) == PAIR
    alone = {name: value for name, value in values.items() if name != "side"}
    assert text_probe.TermsRequest.of(alone) == together, "links of other pages give both as one input"
    with pytest.raises(LinkError, match="side='third'"):
        text_probe.TermsRequest.of(values | {"side": "third"})
