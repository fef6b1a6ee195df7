"""The home page: headline numbers, computed from the store, each leading to the view that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.figures.base import FIGURES, Figure, figure
from analysis.figures.terms import stored_terms, terms_aggregates
from analysis.models import embedded
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


def _share(aggregation: str) -> Any:
    return stored_terms(DEFAULT, (aggregation,)).set_index("term")


def _position() -> Headline:
    mean, pooled = (_share(key).share["position_to_position"] for key in ("mean_over_heads", "pooled_over_heads"))
    return Headline(
        number=f"{mean:.0%} or {pooled:.0%}",
        label="of attention's scores is position → position",
        says=f"At layer 0 of {embedded.NAME}: the mean over heads, or pooled over them. Both are true; heads differ.",
        page="terms",
    )


def _cross() -> Headline:
    mean = _share("mean_over_heads")
    parts = [mean.loc[term] for term in ("word_to_position", "position_to_word")]
    spans = [f"{row.share:+.0%} ({row.share_low:+.1%} to {row.share_high:+.1%})" for row in parts]
    heads = stored_terms(DEFAULT, ("head",))
    cross = heads[heads.term.isin(("word_to_position", "position_to_word"))]
    largest = cross.loc[cross.share.abs().idxmax()]
    return Headline(
        number=f"{parts[0].share:+.0%} and {parts[1].share:+.0%}",
        label="is word → position, and position → word",
        says=f"Mean over heads, 95 % intervals {spans[0]} and {spans[1]}. Yet in head {int(largest['head'])} "
        f"{str(largest.term).replace('_to_', ' → ')} has {largest.share:+.0%}.",
        page="terms",
        values={"head": int(largest["head"])},
    )


def _published() -> Headline:
    content = FIGURES["home_published"].build({}).content
    means = content["means"].set_index("variant")
    variant = "TUPE-A^mid"
    row = means.loc[variant]
    return Headline(
        number=f"{row.difference_all:+.2f}, {row.difference_ticked:+.2f} without CoLA",
        label=f"GLUE points, {variant} minus {content['baseline']}",
        says="A published gain from removing the cross terms, at 30 % of the steps, rests on one task of nine. "
        "The sign turns when it is left out.",
        page="published",
        values={"without": ("cola",)},
    )


def _exact() -> Headline:
    row = _share("mean_over_heads").iloc[0]
    return Headline(
        number=f"{row.max_error:.0e}",
        label="is the largest error of the split",
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
