"""A claim's effect as a picture no taller than a line of text: dot, interval, and what the rule compares it with."""

from collections.abc import Sequence
from html import escape

from analysis.core.formatting import significant

WIDTH, HEIGHT, EDGE = 300, 34, 14


def effect_sparkline(
    effect: float | None,
    low: float | None,
    high: float | None,
    threshold: float | None,
    *,
    text: str,
    ink: str,
    hue: str,
    region: tuple[float | None, float | None] | None = None,
    neutral: float | None = None,
    others: Sequence[float] = (),
) -> str:
    """SVG; "" where there is no effect.

    text: for readers who cannot see it. ink: the colour of text and lines. hue: that of the effect.
    region: the values between which the statement is supported, shaded; its ends replace the threshold.
    neutral: the value of no difference. others: the other readings, as small dots.
    """
    if effect is None:
        return ""
    lines = [value for value in (region or (threshold,)) if value is not None]
    values = [*others, *lines, *(value for value in (effect, low, high, neutral) if value is not None)]
    minimum, maximum = min(values), max(values)
    extent = (maximum - minimum) or abs(maximum) or 1.0

    def to_x(value: float) -> float:
        return round(EDGE + (WIDTH - 2 * EDGE) * (value - minimum) / extent, 1)

    parts = [f'<line x1="0" x2="{WIDTH}" y1="14" y2="14" stroke="{ink}" stroke-opacity=".25"/>']
    if region is not None:
        start, stop = (
            to_x(value) if value is not None else edge for value, edge in zip(region, (0, WIDTH), strict=True)
        )
        parts.append(f'<rect x="{start}" y="4" width="{stop - start}" height="20" fill="{ink}" fill-opacity=".12"/>')
    if neutral is not None:
        x = to_x(neutral)
        parts.append(f'<line x1="{x}" x2="{x}" y1="4" y2="24" stroke="{ink}"/>')
    for value in lines:
        x = to_x(value)
        parts.append(
            f'<line x1="{x}" x2="{x}" y1="4" y2="24" stroke="{ink}" stroke-width="1.5" stroke-dasharray="3 2"/>'
        )
    parts += [f'<circle cx="{to_x(value)}" cy="14" r="3" fill="{hue}" fill-opacity=".45"/>' for value in others]
    if low is not None and high is not None:
        parts.append(f'<line x1="{to_x(low)}" x2="{to_x(high)}" y1="14" y2="14" stroke="{hue}" stroke-width="4"/>')
    parts.append(f'<circle cx="{to_x(effect)}" cy="14" r="5.5" fill="{hue}"/>')
    # The lines are numbered first; a number that would overlap another is left out.
    numbered: list[float] = []
    for value in (*lines, effect, *([] if neutral is None else [neutral])):
        if all(abs(to_x(value) - to_x(other)) > 45 for other in numbered):
            numbered.append(value)
            parts.append(_label(to_x(value), escape(significant(value)), ink))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" '
        f'aria-label="{escape(text, quote=True)}"><title>{escape(text)}</title>{"".join(parts)}</svg>'
    )


def _label(x: float, text: str, ink: str) -> str:
    anchor = "start" if x < 40 else "end" if x > WIDTH - 40 else "middle"
    style = f'font-family="sans-serif" font-size="12" fill="{ink}" text-anchor="{anchor}"'
    return f'<text x="{min(max(x, 2.0), WIDTH - 2.0)}" y="33" {style}>{text}</text>'
