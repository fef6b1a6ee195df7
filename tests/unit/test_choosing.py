"""The page Which encoding? states facts: needs as the encoder's own forward pass shows them, sources that exist.

The encoder is built for every way, with random weights, and asked: is a token told of later ones under a causal mask;
does shuffling the words do more than shuffle the output; does a longer text need rows that are not there.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from position_families import TURNING
from specimens import TEXT, tiny_tokenizer

from analysis.ablation.encoder import AddendConfig, AddendModel, draw_weights
from analysis.ablation.variants import full_title
from analysis.claims import CLAIMS
from analysis.core.errors import LinkError
from analysis.encodings import ENCODINGS
from analysis.literature import tables as published
from analysis.measurements.positions.measure import position_map
from analysis.models.load import Loaded
from analysis.narrative.choosing import METHODS, NEEDS, PARTS, Method, lines, measured_preset
from analysis.narrative.choosing.evidence import compared
from analysis.narrative.choosing.methods import FORMS
from analysis.narrative.choosing.settings import IN_USE, USED
from analysis.narrative.choosing.table import NO_USERS, NONE_COMPARED, NOT_MEASURED, THE_BASELINE
from analysis.store import read
from dashboard.widgets.choosing_table import html

LENGTH = 9
WAYS = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.variant)


def built(method: Method, **more: Any) -> AddendModel:
    """A way's encoder, small, in float64, random. A window of one neighbour, so that it hides something."""
    fields = method.setup.fields(hidden_size=32, heads=4)
    fields |= {"window": 1} if fields.get("window") else {}
    fields |= {"vocab_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    fields.setdefault("hidden_size", 32)
    model = AddendModel(AddendConfig(**{**fields, "max_position_embeddings": LENGTH, "initializer_range": 0.4, **more}))
    draw_weights(model, 0)
    return model.double().eval()


def output(model: AddendModel, ids: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return model(ids[None]).last_hidden_state[0]


IDS = torch.arange(2, 2 + LENGTH)


@WAYS
def test_what_tells_order_is_moved_by_shuffling(method: Method) -> None:
    model = built(method, causal=False)
    shuffle = torch.tensor([0, 3, 1, 2, 6, 4, 5, 8, 7])  # [CLS] stays first, as it always stands.
    moved = (output(model, IDS)[shuffle] - output(model, IDS[shuffle])).abs().max().item()
    assert (moved > 1e-6) == NEEDS["order"].met(method), moved


@WAYS
def test_what_tells_order_in_part_reads_a_text_and_its_reverse_alike(method: Method) -> None:
    model, need = built(method, causal=False), NEEDS["order"]
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("phase"):  # Learned from zero, at which polar positions are alike on both sides.
                weight.copy_(-torch.rand(weight.shape, generator=torch.Generator().manual_seed(0)))
    moved = (output(model, IDS).flip(0) - output(model, IDS.flip(0))).abs().max().item()
    assert (moved > 1e-6) == (need.met(method) and not need.partly(method)), moved


def test_the_board_brackets_what_is_met_in_part() -> None:
    assert [method.variant for method in METHODS if NEEDS["order"].partly(method)] == ["alibi"]


@WAYS
def test_what_works_causally_tells_no_token_of_later_ones(method: Method) -> None:
    model = built(method, causal=True)
    other = IDS.clone()
    other[-1] = 30
    leaks = (output(model, IDS)[:-1] - output(model, other)[:-1]).abs().max().item() > 1e-9
    needs_cls = bool(method.setup.settings.get("untie_cls"))
    assert NEEDS["causal"].met(method) == (not leaks and not needs_cls)


@WAYS
def test_a_table_that_ends_is_learned(method: Method) -> None:
    trained = [
        name
        for name, weight in built(method).named_parameters()
        if weight.requires_grad and weight.shape[0] in (LENGTH, LENGTH + 1) and weight.shape[-1] != 4
    ]
    assert bool(trained) == (not NEEDS["longer"].met(method)), trained


@WAYS
def test_the_words_width_is_the_word_tables(method: Method) -> None:
    model = built(method)
    assert (model.embeddings.word_embeddings.weight.shape[1] == 32) == NEEDS["width"].met(method)


@WAYS
def test_published_rows_and_claims_exist(store: Path, method: Method) -> None:
    for pair in method.pairs:
        rows = published.load(pair.table).variants
        assert {pair.row, pair.baseline} <= set(rows)
    for table, row in method.longer:
        assert row in published.load(table).variants
    assert set(method.claims) <= set(CLAIMS)


def test_a_comparison_counts_columns_as_the_table_prints_them(store: Path) -> None:
    pair = next(m for m in METHODS if m.variant == "tupe_a").pairs[0]
    printed = published.load(pair.table).scores
    printed = printed[printed.glue].pivot(index="column", columns="row", values="value")
    gaps = (printed[pair.row] - printed[pair.baseline]).dropna()
    better, worse = compared(pair)
    assert f"better than BERT-A in {(gaps > 0).sum()} of {len(gaps)} columns" in better.text
    assert f"worse than BERT-A in {(gaps < 0).sum()} of {len(gaps)} columns" in worse.text
    assert f"{gaps.max():.3g} points" in better.text


@pytest.mark.parametrize("part", PARTS)
def test_every_cell_says_something_and_where_from(store: Path, part: str) -> None:
    found = lines(part, "cpu")
    assert [line.name for line in found] == [method.variant for method in METHODS]
    for line in found:
        assert set(line.cells) == set(PARTS[part])
        for cell in line.cells.values():
            assert cell.findings
            for said in cell.findings:
                assert said.source or said in (NOT_MEASURED, NONE_COMPARED, NO_USERS, THE_BASELINE)


def test_what_the_ledger_says_leads_to_its_claim(store: Path) -> None:
    said = [one for line in lines("evidence", "cpu") for cell in line.cells.values() for one in cell.findings]
    of_claims = [one for one in said if one.source.startswith("statement ")]
    assert of_claims
    assert all(one.page == "claims" and one.values == {"claim": one.source[10:13]} for one in of_claims)
    assert not any(one.text.endswith("Open.") for one in of_claims)


def test_needs_filter_and_rank_nothing(store: Path) -> None:
    every = [line.name for line in lines("needs", "cpu")]
    for need, meant in NEEDS.items():
        kept = [line.name for line in lines("needs", "cpu", (need,))]
        assert kept == [name for name in every if meant.met(next(m for m in METHODS if m.variant == name))]
        assert 0 < len(kept) < len(every), "a need that filters nothing is none"
    both = {line.name for line in lines("needs", "cpu", ("longer", "order"))}
    assert "rotary" in both
    assert "no_position" not in both
    assert "bert_a" not in both


def test_an_unknown_need_or_part_is_said(store: Path) -> None:
    with pytest.raises(LinkError, match=r"needs='speed'; expected one of: longer"):
        lines("needs", "cpu", ("speed",))
    with pytest.raises(LinkError, match=r"part='all'; expected one of: needs"):
        lines("all", "cpu")


def test_the_table_escapes_what_it_is_given(store: Path) -> None:
    made = html(lines("evidence", "cpu"), PARTS["evidence"], lambda page, values: f"/{page}?a=1&b='><script>")
    assert "<script" not in made
    assert "Every layer, own matrix, scaled" in made
    assert "additive z=w+m+p" in made


@pytest.mark.parametrize("name", USED)
def test_the_models_of_today_do_as_transformers_configs_say(name: str) -> None:
    """Read off the defaults of the config classes themselves."""
    assert name in {method.variant for method in METHODS}
    for one in USED[name]:
        found: Any = getattr(transformers, one.config)()
        for step in one.says.split("."):
            if step.isdecimal():
                found = found[int(step)]
            else:
                found = found[step] if isinstance(found, dict) else getattr(found, step)
        assert found == one.value, one


def test_layers_without_positions_are_seen_in_the_models_that_are_said_to_have_them() -> None:
    """In Cohere 2 the code says it: layers without a window turn nothing."""
    said = {one.config for one in USED["hybrid"]}
    assert said == {"SmolLM3Config", "Llama4TextConfig", "Cohere2Config"}
    for name in ("smollm 3, a layer without", "cohere 2", "llama 4, a layer without"):
        turned = [one.turned for one in position_map(Loaded.of(TURNING[name](), tiny_tokenizer()), TEXT).rotations]
        assert 0 in turned, name
        assert max(turned) > 0, name


def test_costs_are_those_of_the_preset_that_has_them(store: Path) -> None:
    """Nothing was measured with the preset that the page opens with."""
    assert read.query("SELECT * FROM newest_costs WHERE preset = 'cpu2'").empty
    counts = read.query("SELECT preset, count(*) AS rows FROM newest_costs GROUP BY preset ORDER BY rows DESC")
    most = counts.preset[0]
    assert counts.rows[0] > counts.rows[1]
    assert (measured_preset("cpu2"), measured_preset("cpu")) == (most, "cpu")
    for chosen, shown in (("cpu2", most), ("cpu", "cpu")):
        row = next(line for line in lines("cost", chosen) if line.name == "concat_wide")
        parameters = read.query(
            "SELECT value FROM newest_costs WHERE preset = ? AND variant = 'concat_wide' AND measure = 'parameters'",
            [shown],
        ).value[0]
        finding = row.cells["parameters"].findings[0]
        assert finding.text.startswith(f"{parameters:,.0f} (")
        assert finding.source.startswith(f"preset {shown}, run ")
        assert finding.values == {"part": "costs", "preset": shown}


def test_one_way_has_one_name_and_each_of_its_strengths_a_fact(store: Path) -> None:
    assert ENCODINGS["tupe_untied"].title == IN_USE["tupe_a"].name == full_title("tupe_a")
    facts = next(line for line in lines("evidence", "cpu2") if line.name == "sinusoidal").cells.values()
    losses = [one.text for cell in facts for one in cell.findings if ": final loss" in one.text]
    assert {text.partition(":")[0] for text in losses} == {form.name for form in FORMS["sinusoidal"].values()}
