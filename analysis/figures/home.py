"""The home page: headline numbers, computed from the store, each leading to the view that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.figures.base import FIGURES, Figure, figure
from analysis.figures.published import signed
from analysis.figures.terms import spoken, stored_terms, terms_aggregates
from analysis.models import embedded
from analysis.store import read
from analysis.terms.result import FOUR

DEFAULT = {"model": embedded.NAME, "corpus": "probe_set", "measure": "share"}


@dataclass(frozen=True)
class Headline:
    """A number, what it is, and where it is shown in full."""

    number: str
    label: str
    says: str
    page: str
    values: Mapping[str, Any] = field(default_factory=dict)


def headlines() -> list[Headline]:
    """The headline numbers. Raises StoreError or LinkError where the store lacks what they rest on."""
    return [_position(), _cross(), _published(), _exact()]


def stored_share(aggregation: str) -> Any:
    """The default model's terms under one aggregation over heads, by term."""
    return stored_terms(DEFAULT, (aggregation,)).set_index("term")


def _percent(fraction: float, decimals: int = 0) -> str:
    """A signed percentage with a true minus sign."""
    return f"{signed(100 * fraction, decimals)} %"


def _position() -> Headline:
    mean, pooled = (stored_share(key).loc["position_to_position"] for key in ("mean_over_heads", "pooled_over_heads"))
    return Headline(
        number=f"{mean.share:.0%} or {pooled.share:.0%}",
        label="of what varies in attention's scores is position asking position",
        says=f"At layer 0 of {embedded.NAME}: the mean over heads (95 % interval {mean.share_low:.1%} to "
        f"{mean.share_high:.1%}), or pooled over heads ({pooled.share_low:.1%} to {pooled.share_high:.1%}). "
        "Both are true: one head with large scores outweighs the others.",
        page="terms",
    )


def _cross() -> Headline:
    mean = stored_share("mean_over_heads")
    parts = [mean.loc[term] for term in ("word_to_position", "position_to_word")]
    spans = [f"{_percent(row.share_low, 1)} to {_percent(row.share_high, 1)}" for row in parts]
    heads = stored_terms(DEFAULT, ("head",))
    cross = heads[heads.term.isin(("word_to_position", "position_to_word"))]
    largest = cross.loc[cross.share.abs().idxmax()]
    return Headline(
        number=f"{_percent(parts[0].share)} and {_percent(parts[1].share)}",
        label=f"is {spoken('word_to_position')}, and {spoken('position_to_word')}: the cross terms",
        says=f"Mean over heads, 95 % intervals {spans[0]} and {spans[1]}. Small, but not everywhere: in head "
        f"{int(largest['head'])}, {spoken(str(largest.term))} has {_percent(largest.share)}.",
        page="terms",
        values={"head": int(largest["head"])},
    )


def _published() -> Headline:
    variant = "TUPE-A^mid"
    content = FIGURES["home_published"].build({}).content
    row = content["means"].set_index("variant").loc[variant]
    told = next(sentence for sentence in content["sentences"] if f" {variant} " in sentence)
    steps = (
        read.query(
            "SELECT DISTINCT variant, steps FROM published_scores WHERE citation = 'ke2021tupe' AND variant IN (?, ?)",
            [variant, content["baseline"]],
        )
        .set_index("variant")
        .steps.astype(int)
    )
    return Headline(
        number=f"{signed(row.difference_all)} or {signed(row.difference_ticked)}",
        label=f"GLUE points: a published gain of removing the cross terms, with CoLA or without ({variant})",
        says=f"{told} It was trained for {steps[variant] / steps[content['baseline']]:.0%} of the baseline's steps.",
        page="published",
    )


def _exact() -> Headline:
    row = stored_share("mean_over_heads").iloc[0]
    return Headline(
        number=f"{row.max_error:.1e}",
        label="is the largest error of the split, in score units",
        says=f"The sixteen terms add up to the model's own scores in {row.texts} texts, to {row.relative_error:.0e} "
        "of their range. Nothing is fitted or approximated.",
        page="terms",
        values={"group": "all"},
    )


@figure("home_terms")
def home_terms(params: Mapping[str, Any]) -> Figure:
    """The four terms over all heads."""
    whole = terms_aggregates(DEFAULT)
    frame: Any = whole.frame()
    frame = frame[frame.term.isin(FOUR)]
    return Figure(
        name="home_terms",
        title="What attention asks, at layer 0 of a real model",
        frame=lambda: frame,
        caption=whole.caption,
        alt=whole.alt,
        command=whole.command,
        provenance=whole.provenance,
        citation_keys=whole.citation_keys,
        content={**whole.content, "order": whole.content["order"][: len(FOUR)]},
    )
