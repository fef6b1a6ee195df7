"""Every number that the tab Scores sends to the browser is the one of the figure that papers get."""

import base64
import json
from typing import Any

import numpy as np
import pytest
from drawn_values import bars as bars_of
from drawn_values import colour_limits
from family_specimens import SPECIMENS
from specimens import PAIR, TEXT, embedded_loaded, tiny_tokenizer

from analysis.core.errors import LinkError
from analysis.figures import FIGURES
from analysis.figures.terms.maps import REST, MapParameters, visible_terms
from analysis.figures.terms.score_maps import MOST_ROWS, TOTALS, opening_cell, score_maps
from analysis.links import VIEWS
from analysis.measurements.terms import decompose
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
        assert set(terms.frame()["map"]) == set(names[: data["terms"]])
        for index, name in enumerate(names[: data["terms"]]):
            np.testing.assert_array_equal(maps[index], map_of(terms.frame(), name).astype(np.float32))
        for index, name in enumerate(TOTALS, len(names)):
            np.testing.assert_array_equal(maps[index], map_of(totals.frame(), name).astype(np.float32))
        assert data["maps"][str(head)]["limit"] == pytest.approx(colour_limits(terms)[0], rel=1e-3)
        cell = FIGURES["probe_cell"].of(here | {"query": data["first"] + 1, "key": data["first"] + 2}, made)
        bars = bars_of(cell)
        assert list(bars) == [*sorted(names, key=list(bars).index), "total"]
        for index, name in enumerate(names):
            assert maps[index, 1, 2] == pytest.approx(bars[name], abs=1e-5)
        size = np.abs(maps[: len(names)]).sum(0).max()
        assert np.abs(maps[: len(names)].sum(0) - maps[len(names)]).max() <= 1e-5 * size, "the parts add up"


def test_the_table_is_that_of_every_layer_and_the_shares_are_the_figures() -> None:
    loaded = embedded_loaded()
    values = {**VIEWS["inside"].defaults(), "text": TEXT, "layer": 2}
    made, layers = (kind.of(values).run(loaded) for kind in (text_probe.TermsRequest, text_probe.LayersRequest))
    data = sent(values, made, layers)
    table = np.array(data["table"]["values"], dtype=float)
    assert table.shape == (6, 4, 12)
    heads = FIGURES["probe_heads"].of(values, made).frame()
    for index, part in enumerate(data["parts"][:4]):
        column = heads[heads.term == part["name"]].sort_values("head").share.to_numpy()
        np.testing.assert_allclose(table[2, index], column, atol=1e-3)
        np.testing.assert_allclose(np.array(data["shares"][index], dtype=float), column, atol=1e-3)
    alone = sent(values, made)
    assert alone["table"]["first"] == 2
    assert np.array(alone["table"]["values"], dtype=float).shape == (1, 4, 12)


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
    assert ("segment (" in data["rest"] and "12 products" in data["rest"]) == (group == "four")
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
