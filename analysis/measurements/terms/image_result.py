"""A decomposition of an image: the same as of a text, and where its tokens stand. Needs no torch."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt8
from numpy import ndarray

from analysis.measurements.terms.result import Decomposition


@dataclass(frozen=True, kw_only=True)
class ImageDecomposition(Decomposition):
    """The scores of one layer between the patches of an image, and the special tokens before them."""

    grid: tuple[int, int]
    """Rows and columns of patches."""
    kept: Int[ndarray, " patch"]
    """The patches that the model was given, by number, row by row; all but in a masked autoencoder."""
    pixels: UInt8[ndarray, "height width 3"]
    """The image as the model sees it."""
    positions: Float[ndarray, "patch width"] | None
    """The position vector added to each patch of the grid; None in a stored result, which leaves them out."""
    trained: tuple[int, int]
    """Rows and columns of the grid that the model's table of positions is for."""
    specials: int
    """The number of special tokens before the patches."""
    masked: bool = False

    @property
    def interpolated(self) -> bool:
        """True if the positions are interpolated from the table's."""
        return self.grid != self.trained

    def on_grid(self, values: Float[ndarray, " token"]) -> Float[ndarray, "row column"]:
        """One number a token, laid out as the image is; NaN where the model was shown no patch."""
        laid = np.full(self.grid[0] * self.grid[1], np.nan)
        laid[self.kept] = values[self.specials :]
        return laid.reshape(self.grid)


def similarity(positions: Float[ndarray, "patch width"]) -> Float[ndarray, "patch patch"]:
    """Cosine of every patch's position with every other's, in [-1, 1]; NaN for a position of zeros."""
    table = np.asarray(positions, dtype=np.float64)
    norm = np.linalg.norm(table, axis=1)
    with np.errstate(invalid="ignore"):
        return (table @ table.T) / np.outer(norm, norm)
