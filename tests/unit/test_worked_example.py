"""The worked example of the page Method and data: its parts add up to the score that the model itself computes."""

import re

import pytest
import torch
from specimens import embedded_loaded

from analysis.narrative import worked_example
from analysis.probes import saved_probes


def test_the_printed_parts_add_up_to_what_the_models_own_projections_give() -> None:
    text = worked_example.example()
    kept = saved_probes.read("example-agreement")
    query, key = worked_example.strongest_pair(kept)
    total, *parts = (float(number.replace("−", "-")) for number in re.findall(r"(?<= )[+−]?\d+\.\d\d", text))
    assert len(parts) == 5
    assert sum(parts) == pytest.approx(total, abs=0.03)
    assert f"“{kept.tokens[query]}” for “{kept.tokens[key]}”" in text
    loaded = embedded_loaded()
    tokens = loaded.tokenizer(kept.provenance.text, return_tensors="pt")
    with torch.no_grad():
        hidden = loaded.model.embeddings(tokens["input_ids"])[0]
        attention = loaded.model.encoder.layer[0].attention.self
        size = attention.attention_head_size
        heads = slice(worked_example.HEAD * size, (worked_example.HEAD + 1) * size)
        score = attention.query(hidden)[query, heads] @ attention.key(hidden)[key, heads] / size**0.5
    assert total == pytest.approx(float(score), abs=0.006)
