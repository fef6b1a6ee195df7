"""The small curve of a card: sentence similarity by the number of directions that positions keep.

The lines are a picture that stretches with the card; dots and words stand over it as HTML, so that letters keep their
size at every width.
"""

import base64
import math

from analysis.core.colours import SOFT, TERMS
from analysis.narrative.front_page import SimilarityCurve

STYLE = """
.answer .dose { font-size: 12.5px; line-height: 15px; margin: 2px 0 6px; }
.answer .curve { position: relative; height: 132px; }
.answer .axis { margin-top: 19px; text-align: center; color: var(--soft); text-wrap: balance; }
.answer .curve img { position: absolute; inset: 0; width: 100%; height: 100%; }
.answer .curve span { position: absolute; white-space: nowrap; color: var(--soft); }
.answer .curve .strong { color: var(--ink); font-weight: 650; }
.answer .curve .dot { width: 7px; height: 7px; margin: -3.5px; border-radius: 50%; background: var(--soft); }
.answer .curve .large { width: 11px; height: 11px; margin: -5.5px; background: var(--position); }
"""
TICKS = (1, 4, 16, 64)
ABOVE, LEFT, RIGHT = "translate(0, -100%)", "translate(0, 0)", "translate(-100%, 0)"
MIDDLE, ABOVE_RIGHT = "translate(-50%, 0)", "translate(-100%, -100%)"
"""Shifts of words against the point at which they stand."""


def dose_curve(curve: SimilarityCurve, *, dark: bool) -> str:
    """The curve over a logarithmic axis, with the model as trained and without positions as dashed lines."""
    everything = (*curve.values, curve.trained, curve.without, *(value for _, value in curve.random))
    low, high = min(everything), max(everything)
    farthest = math.log(max(curve.kept)) or 1.0

    def x(kept: float) -> float:
        return 100 * math.log(kept) / farthest

    def y(value: float) -> float:
        return 85 - 73 * (value - low) / ((high - low) or 1.0)

    def words(kept: float, height: float, text: str, shift: str, name: str = "") -> str:
        return f'<span class="{name}" style="left:{x(kept):.2f}%;top:{height:.2f}%;transform:{shift}">{text}</span>'

    def dot(kept: float, value: float, name: str) -> str:
        return f'<span class="dot {name}" style="left:{x(kept):.2f}%;top:{y(value):.2f}%"></span>'

    soft, colour = SOFT.on(dark=dark), TERMS["position"].on(dark=dark)
    points = " ".join(f"{x(kept):.2f},{y(value):.2f}" for kept, value in zip(curve.kept, curve.values, strict=True))
    rules = "".join(
        f'<path d="M0 {y(value):.2f}H100" stroke="{soft}" stroke-dasharray="4 3" vector-effect="non-scaling-stroke"/>'
        for value in (curve.trained, curve.without)
    )
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" preserveAspectRatio="none">'
        f'{rules}<path d="M0 100H100" stroke="{soft}" vector-effect="non-scaling-stroke"/>'
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5" '
        'vector-effect="non-scaling-stroke"/></svg>'
    )
    picture = base64.b64encode(svg.encode()).decode()
    marked = curve.values[curve.kept.index(curve.marked)]
    last = curve.kept[-1]
    shown = [
        *(dot(kept, value, "") for kept, value in curve.random),
        dot(curve.marked, marked, "large"),
        words(1, y(curve.trained) - 2, f"as trained {curve.trained:.3f}", ABOVE),
        words(last, y(curve.without) - 2, f"every position the mean {curve.without:.3f}", ABOVE_RIGHT),
        words(curve.marked, y(marked) + 8, f"{curve.marked}: {marked:.3f}", LEFT, "strong"),
        *(words(kept, y(value) + 2, "random", MIDDLE) for kept, value in curve.random[1:2]),
        *(
            words(kept, 102, str(kept), LEFT if kept == 1 else RIGHT if kept == last else MIDDLE)
            for kept in TICKS
            if kept <= last
        ),
    ]
    spoken = ", ".join(f"{value:.3f} with {kept}" for kept, value in zip(curve.kept, curve.values, strict=True))
    label = (
        f"Agreement with people by the directions kept for positions: {spoken}; {curve.trained:.3f} as trained, "
        f"{curve.without:.3f} with every position the mean."
    )
    return (
        f'<div class="dose" role="img" aria-label="{label}"><div class="curve">'
        f'<img alt="" src="data:image/svg+xml;base64,{picture}">{"".join(shown)}</div>'
        '<div class="axis">directions kept for positions; height: agreement with people</div></div>'
    )
