"""Ids inside SVG pictures, of which several stand in one page."""

import re

IDS = re.compile(r'(?P<before>\bid="|url\(#|href="#)')


def prefix_ids(svg: str, prefix: str) -> str:
    """The SVG with a prefix on its ids: several in one page would otherwise use each other's clips and gradients."""
    return IDS.sub(lambda result: f"{result['before']}{prefix}-", svg)
