"""A claim's effect as a picture no taller than a line of text: dot, interval, and the rule's threshold."""

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
) -> str:
    """SVG; "" where there is no effect.

    text: what a reader is told who cannot see it. ink: the colour of text and lines. hue: that of the effect.
    """
    if effect is None:
        return ""
    ends = [value for value in (effect, low, high, threshold) if value is not None]
    least, most = min(ends), max(ends)
    room = (most - least) or abs(most) or 1.0

    def at(value: float) -> float:
        return round(EDGE + (WIDTH - 2 * EDGE) * (value - least) / room, 1)

    parts = [f'<line x1="0" x2="{WIDTH}" y1="14" y2="14" stroke="{ink}" stroke-opacity=".25"/>']
    if threshold is not None:
        x = at(threshold)
        parts.append(
            f'<line x1="{x}" x2="{x}" y1="4" y2="24" stroke="{ink}" stroke-width="1.5" stroke-dasharray="3 2"/>'
            f'<text x="{_within(x)}" y="33" {_style(x, ink)}>{escape(significant(threshold))}</text>'
        )
    if low is not None and high is not None:
        parts.append(f'<line x1="{at(low)}" x2="{at(high)}" y1="14" y2="14" stroke="{hue}" stroke-width="4"/>')
    x = at(effect)
    parts.append(f'<circle cx="{x}" cy="14" r="5.5" fill="{hue}"/>')
    if threshold is None or abs(at(threshold) - x) > 60:
        parts.append(f'<text x="{_within(x)}" y="33" {_style(x, ink)}>{escape(significant(effect))}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" '
        f'aria-label="{escape(text, quote=True)}"><title>{escape(text)}</title>{"".join(parts)}</svg>'
    )


def _within(x: float) -> float:
    return min(max(x, 2.0), WIDTH - 2.0)


def _style(x: float, ink: str) -> str:
    anchor = "start" if x < 40 else "end" if x > WIDTH - 40 else "middle"
    return f'font-family="sans-serif" font-size="12" fill="{ink}" text-anchor="{anchor}"'
