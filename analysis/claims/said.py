"""Numbers in sentences."""

from collections import Counter
from collections.abc import Iterable

from analysis.ablation.variants import title
from analysis.claims.base import Rows


def number(value: float, digits: int = 3) -> str:
    """Three significant digits, a true minus sign."""
    if value and (abs(value) < 1e-3 or abs(value) >= 1e5):
        return f"{value:.1e}".replace("-", "−")
    return f"{value:,.{digits}g}".replace("-", "−") if abs(value) < 1000 else f"{value:,.0f}".replace("-", "−")


def signed(value: float, digits: int = 2) -> str:
    """With its sign, at a fixed number of decimals."""
    return f"{value:+.{digits}f}".replace("-", "−")


def percent(fraction: float, digits: int = 0) -> str:
    """A fraction as per cent."""
    return f"{100 * fraction:.{digits}f} %".replace("-", "−")


def between(low: float | None, high: float | None, form: str = ".2f") -> str:
    """(95 % interval a to b), or nothing where there is none."""
    if low is None or high is None or low != low or high != high:
        return ""
    return f" (95 % interval {low:{form}} to {high:{form}})".replace("-", "−")


def listed(names: Iterable[str]) -> str:
    """a, b and c; with semicolons where a name has a comma."""
    names = list(names)
    if any(", " in name for name in names):
        return "; ".join(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "none"


def seeds_among(rows: Rows) -> str:
    """(2 of them seeds of BERT-A): which models are one variant's, or nothing where all differ. Needs `variant`."""
    variants = Counter({row["model"]: row["variant"] for row in rows if row["variant"]}.values())
    told = [f"{count} of them seeds of {title(variant)}" for variant, count in variants.items() if count > 1]
    return f" ({listed(told)})" if told else ""


def plural(count: int, one: str) -> str:
    """1 seed, 2 seeds; 2 pairs of tables."""
    head, of, rest = one.partition(" of ")
    return f"{count:,} {head}{'' if count == 1 else 's'}{of}{rest}"
