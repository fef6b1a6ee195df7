"""The home page: headline numbers, computed from the store, each leading to the view that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis import embedded, published
from analysis.claims import stored
from analysis.claims.said import between, plural
from analysis.claims.trainings import FEWEST, Compared, compared, elsewhere, finals
from analysis.figures.base import Figure, figure
from analysis.figures.terms import spoken, stored_terms, terms_aggregates
from analysis.figures.training import title
from analysis.figures.words import percent, signed, signed_percent, span
from analysis.store import read
from analysis.terms.result import FOUR

CONCATENATION = "hallam2026fusion|Table 1"
DEFAULT = {"model": embedded.NAME, "corpus": "probe_set", "measure": "share"}


@dataclass(frozen=True)
class Headline:
    """A number, what it is, and where it is shown in full."""

    number: str
    label: str
    says: str
    page: str
    values: Mapping[str, Any] = field(default_factory=dict)


def headlines(ablations: Figure) -> list[Headline]:
    """The headline numbers, of which one is read off the figure `home_published`.

    Those of our own trainings are left out where none is stored. Raises StoreError or LinkError where the store lacks
    what the others rest on.
    """
    return [_position(), _cross(), _published(ablations), _concatenated(), *own()]


def stored_share(aggregation: str) -> Any:
    """The default model's terms under one aggregation over heads, by term."""
    return stored_terms(DEFAULT, (aggregation,)).set_index("term")


def _position() -> Headline:
    mean, pooled = (stored_share(key).loc["position_to_position"] for key in ("mean_over_heads", "pooled_over_heads"))
    return Headline(
        number=f"{percent(mean.share)} or {percent(pooled.share)}",
        label=f"of what varies in the scores of {embedded.NAME}, layer 0, is position asking position",
        says=f"The mean over heads (95 % interval {percent(mean.share_low, 1)} to {percent(mean.share_high, 1)}), or "
        f"pooled over heads ({percent(pooled.share_low, 1)} to {percent(pooled.share_high, 1)}). Both are true: one "
        "head with large scores outweighs the others.",
        page="terms",
    )


def _cross() -> Headline:
    mean = stored_share("mean_over_heads")
    parts = [mean.loc[term] for term in ("word_to_position", "position_to_word")]
    spans = [f"{signed_percent(row.share_low, 1)} to {signed_percent(row.share_high, 1)}" for row in parts]
    heads = stored_terms(DEFAULT, ("head",))
    cross = heads[heads.term.isin(("word_to_position", "position_to_word"))]
    largest = cross.loc[cross.share.abs().idxmax()]
    return Headline(
        number=f"{signed_percent(parts[0].share)} and {signed_percent(parts[1].share)}",
        label=f"is {spoken('word_to_position')}, and {spoken('position_to_word')}: the cross terms",
        says=f"Mean over heads, 95 % intervals {spans[0]} and {spans[1]}. Small, but not everywhere: in head "
        f"{int(largest['head'])}, {spoken(str(largest.term))} has {signed_percent(largest.share)}.",
        page="terms",
        values={"head": int(largest["head"])},
    )


def _published(ablations: Figure) -> Headline:
    variant = "TUPE-A^mid"
    content = ablations.content
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
        label="GLUE points for untying position from word, as published, with CoLA or without",
        says=f"{told} {variant} was trained for {percent(steps[variant] / steps[content['baseline']])} of the "
        "baseline's steps, and differs from it in more than the cross terms: its caveats stand beside it.",
        page="published",
    )


def _concatenated() -> Headline:
    found = published.load(CONCATENATION)
    means = found.scores[found.scores.task.notna()].pivot(index="column", columns="variant", values="value")
    difference = means["Concat+projection W[E;P]"] - means["Add"]
    worst, best = difference.idxmin(), difference.idxmax()
    return Headline(
        number=f"{signed(difference.min())} to {signed(difference.max())}",
        label="accuracy points for concatenating instead of adding, as published",
        says=f"{found.title}: {worst} to {best}, {len(difference)} tasks, a small encoder. The concatenated vector is "
        "projected back to the model's width, which makes it a sum again: it does not keep word and position apart.",
        page="published",
        values={"table": CONCATENATION},
    )


def _trained(variant: str, baseline: str) -> Compared | None:
    """Our own trainings of the one less the other, in final loss."""
    made = compared(stored.records(read.query(finals(variant, baseline))), variant, baseline)
    return made if made and made.found.n >= FEWEST else None


def _less(made: Compared) -> str:
    """Who less whom, and how sure that is."""
    found = made.found
    return (
        f"{title(made.variant)} less {title(made.baseline)}{between(found.low, found.high, '+.2f')}, "
        f"{plural(found.n, 'seed')}: {made.standing}"
    )


def _elsewhere(made: Compared) -> str:
    """The same difference at other learning rates, norms and lengths of training; empty where there is none."""
    rows = stored.records(read.query(finals(made.variant, made.baseline)))
    others = [(where, other.found) for where, other in elsewhere(rows, made) if other.found.n]
    said = [
        f"{signed(found.mean)} ({where}, {plural(found.n, 'seed')})" for where, found in others if found.n >= FEWEST
    ]
    few = [found for _, found in others if found.n < FEWEST]
    if few:
        gaps, seeds = sorted(found.mean for found in few), span(found.n for found in few)
        ends = " to ".join(signed(gap) for gap in dict.fromkeys((gaps[0], gaps[-1])))
        each = f"{seeds} seed{'' if seeds == '1' else 's'}{'' if len(few) == 1 else ' each'}"
        said.append(f"{ends} at {len(few)}{' more' if said else ''} ({each})")
    return f" At other settings: {', '.join(said)}." if said else ""


def own() -> list[Headline]:
    """Those of our own trainings, of as many seeds as may decide a claim; of what was not trained there is none."""
    return [one for one in (_own_concatenated(), _own_untied()) if one]


def _own_concatenated() -> Headline | None:
    made = _trained("concat_20", "bert_a")
    return (
        Headline(
            number=signed(made.found.mean),
            label="nats a predicted token for concatenating instead of adding, in our own trainings",
            says=f"Final validation loss of small encoders, below 0 is better: {_less(made)}. The width stays the same "
            "and words give up a fifth of it.",
            page="training",
            values={"preset": made.preset, "part": "gap"},
        )
        if made
        else None
    )


def _own_untied() -> Headline | None:
    whole, cross = _trained("tupe_a", "bert_a"), _trained("tupe_a_tie_cls", "bert_a_d")
    return (
        Headline(
            number=f"{signed(whole.found.mean)} and {signed(cross.found.mean)}",
            label="nats for untying position from word, and for dropping the cross terms alone, in our own trainings",
            says=f"{_less(whole)}.{_elsewhere(whole)} {_less(cross)}; these two differ in the cross terms and in "
            f"nothing else but the scale that their number asks for.{_elsewhere(cross)}",
            page="training",
            values={"preset": whole.preset, "part": "parts"},
        )
        if whole and cross
        else None
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
        alt=f"Dot plot of the four terms of word and position. {whole.content['told']}.",
        command=whole.command,
        provenance=whole.provenance,
        citation_keys=whole.citation_keys,
        content={**whole.content, "order": whole.content["order"][: len(FOUR)]},
    )
