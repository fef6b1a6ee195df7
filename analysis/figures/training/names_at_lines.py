"""The heights of names at the ends of lines."""

import numpy as np


def spread_names(
    values: np.ndarray, sizes: np.ndarray, domain: tuple[float, float], height: int, *, log: bool = False
) -> np.ndarray:
    """The heights of names (pixels from the top) at which none covers another, each as near to its line as possible.

    values: of the lines, which order and place their names. sizes: the pixels that each name takes.
    """
    low, high = np.log(domain) if log else domain
    preferred = (high - (np.log(values) if log else values)) / ((high - low) or 1) * height
    order = np.argsort(preferred, kind="stable")
    preferred, sizes = preferred[order], sizes[order]
    # Offset of each name from the top of a stack in which all names touch.
    offsets = np.cumsum(sizes) - sizes / 2
    starts = preferred - offsets
    # Overlapping names form one block, centred on their preferred positions.
    blocks: list[list[float]] = []
    for start in starts:
        blocks.append([float(start)])
        while len(blocks) > 1 and np.mean(blocks[-1]) < np.mean(blocks[-2]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    positions = np.array([np.mean(block) for block in blocks for _ in block])
    # Names beyond the plot are pushed in.
    positions = np.clip(positions, 0, max(height + sizes[-1] / 2 - 4 - sizes.sum(), 0))
    result = np.empty_like(positions)
    result[order] = positions + offsets
    return result
